/* BatchNormalization: y = (x - mean) / sqrt(variance + epsilon) * scale + bias, in this order. From opset 14 on
 * training_mode takes mean and variance from the input itself, and gives the running ones; the training of older
 * versions, which no deployed model has, is an error. */
#include <string.h>

#include "ops/elementwise.h"
#include "ops/infer_help.h"
#include "ops/reduction.h"

static bool is_training(const struct node *node) {
  return node->opset >= 14 && node_attribute_int(node, "training_mode", 0) != 0;
}

/* Until opset 8 spatial=0 means one number for each place in a channel; until 6 is_test tells the mode. Further
 * outputs exist in training alone. */
assay_status infer_batch_normalization(struct infer *infer) {
  const struct node *node = infer->node;
  TRY(infer_want_counts(infer, 5, 5, 1, 5));
  TRY(infer_want(infer, 0, 1, ASSAY_RANK_MAX));
  for (int32_t i = 1; i < 5; i++) {
    TRY(infer_want(infer, i, 1, node->opset < 9 ? ASSAY_RANK_MAX : 1));
  }
  bool unsupported = node->opset < 7 && node_attribute_int(node, "is_test", 0) == 0;
  for (int32_t i = 1; i < node->n_outputs; i++) {
    unsupported = unsupported || (node->outputs[i] >= 0 && (!is_training(node) || i > 2));
  }
  if (unsupported) {
    return status_make(ASSAY_NODE_INVALID, NULL,
                       "BatchNormalization is in training mode; export the model in evaluation mode");
  }
  for (int32_t i = 1; i < node->n_outputs && i < 3; i++) {
    infer_set_like(infer, i, i + 2, ASSAY_UNDEFINED);
  }
  return infer_same(infer);
}

struct batch_walk {
  const struct kernels *kernels;
  enum number_kind kind;
  const assay_tensor *x;
  assay_tensor *y;
  int64_t channels, plane;
  /* One number a channel, all of `kind`; deviations are roots already. */
  const void *scales, *biases, *means, *deviations;
};

enum { BLOCK = 512 };

/* n elements of one channel from `start` on. */
static void channel_part(const struct batch_walk *walk, int64_t channel, int64_t start, int64_t n) {
  size_t size = number_size(walk->kind);
  bool direct = number_is_native(walk->x->dtype, walk->kind);
  _Alignas(64) char buffer[BLOCK * 8];
  int64_t step = direct ? n : BLOCK;
  for (int64_t i = 0; i < n; i += step) {
    int64_t m = n - i < step ? n - i : step;
    const void *in = buffer;
    void *out = buffer;
    if (direct) {
      in = (const char *)walk->x->data + (size_t)(start + i) * size;
      out = (char *)walk->y->data + (size_t)(start + i) * size;
    } else {
      numbers_load(walk->x->dtype, walk->x->data, start + i, 1, m, walk->kind, buffer);
    }
    if (walk->kind == NUMBER_F64) {
      walk->kernels->f64_normalize(in, m, ((const double *)walk->means)[channel],
                                   ((const double *)walk->deviations)[channel], (const double *)walk->scales + channel,
                                   0, (const double *)walk->biases + channel, 0, out);
    } else {
      walk->kernels->f32_normalize(in, m, ((const float *)walk->means)[channel],
                                   ((const float *)walk->deviations)[channel], (const float *)walk->scales + channel, 0,
                                   (const float *)walk->biases + channel, 0, out);
    }
    if (!direct) {
      numbers_store(walk->y->dtype, walk->y->data, start + i, m, walk->kind, buffer);
    }
  }
}

static void batch_range(void *argument, int64_t begin, int64_t end, int worker) {
  (void)worker;
  const struct batch_walk *walk = argument;
  while (begin < end) {
    int64_t row = begin / walk->plane, n = (row + 1) * walk->plane - begin;
    n = n < end - begin ? n : end - begin;
    channel_part(walk, row % walk->channels, begin, n);
    begin += n;
  }
}

/* A vector of `n` numbers in scratch, so that all have one type. */
static assay_status vector_of(struct op_run *run, int32_t input, int64_t n, enum number_kind kind, void **out) {
  const assay_tensor *vector = run->inputs[input];
  if (tensor_count(vector) != n) {
    return status_make(ASSAY_SHAPE_CONFLICT, NULL, "input %d of BatchNormalization has %lld elements, expected %lld",
                       (int)input, (long long)tensor_count(vector), (long long)n);
  }
  TRY(run->scratch(run, (size_t)n * number_size(kind) + 1, out));
  numbers_load(vector->dtype, vector->data, 0, 1, n, kind, *out);
  return status_ok();
}

/* means and variances become those of the input, reduced over all but the channels; the running ones go to the
 * outputs: running * momentum + current * (1 - momentum). */
static assay_status take_statistics(struct op_run *run, enum number_kind kind, int64_t channels, void *means,
                                    void *variances) {
  const assay_tensor *x = run->inputs[0];
  const struct kernels *k = run->kernels;
  const void *data = x->data;
  if (!number_is_native(x->dtype, kind)) {
    void *converted;
    TRY(run->scratch(run, (size_t)tensor_count(x) * number_size(kind) + 1, &converted));
    numbers_load(x->dtype, x->data, 0, 1, tensor_count(x), kind, converted);
    data = converted;
  }
  void *current;
  TRY(run->scratch(run, 2 * (size_t)channels * number_size(kind) + 1, &current));
  void *spread = (char *)current + (size_t)channels * number_size(kind);
  bool reduced[ASSAY_RANK_MAX];
  for (int d = 0; d < x->rank; d++) {
    reduced[d] = d != 1;
  }
  struct reduce_plan plan;
  reduce_plan_make(x->dims, x->rank, reduced, &plan);
  double momentum = (double)node_attribute_float(run->node, "momentum", 0.9F), count = (double)plan.count;
  for (int32_t i = 0; i < 2; i++) {
    void *now = i == 0 ? current : spread, *running = i == 0 ? means : variances;
    reduce_run(&plan, i == 0 ? REDUCTION_sum : REDUCTION_deviation_sum, kind, data, i == 0 ? NULL : current, now, k,
               run->pool);
    double rest = 1.0 - momentum;
    if (kind == NUMBER_F64) {
      k->f64_div(now, 1, &count, 0, now, channels);
    } else {
      float count32 = (float)count;
      k->f32_div(now, 1, &count32, 0, now, channels);
    }
    if (i + 1 < run->node->n_outputs && run->outputs[i + 1] != NULL) {
      assay_tensor *output = run->outputs[i + 1];
      TRY(output_shape(run, i + 1, &channels, 1));
      for (int64_t c = 0; c < channels; c++) {
        double old = kind == NUMBER_F64 ? ((double *)running)[c] : (double)((float *)running)[c];
        double new = kind == NUMBER_F64 ? ((double *)now)[c] : (double)((float *)now)[c];
        double mixed = old * momentum + new *rest;
        numbers_store(output->dtype, output->data, c, 1, NUMBER_F64, &mixed);
      }
    }
    memcpy(running, now, (size_t)channels * number_size(kind));
  }
  return status_ok();
}

assay_status run_batch_normalization(struct op_run *run) {
  const assay_tensor *x = run->inputs[0];
  const struct kernels *k = run->kernels;
  TRY(output_like(run, 0, x));
  int64_t channels = x->rank > 1 ? x->dims[1] : 1, plane = 1;
  bool spatial = run->node->opset >= 9 || node_attribute_int(run->node, "spatial", 1) != 0;
  for (int d = 2; d < x->rank; d++) {
    plane *= x->dims[d];
  }
  if (!spatial) {
    channels *= plane;
    plane = 1;
  }
  enum number_kind kind = number_kind_of(x->dtype);
  void *vectors[4];
  for (int32_t i = 0; i < 4; i++) {
    TRY(vector_of(run, i + 1, channels, kind, &vectors[i]));
  }
  if (is_training(run->node)) {
    TRY(take_statistics(run, kind, channels, vectors[2], vectors[3]));
  }
  double epsilon = (double)node_attribute_float(run->node, "epsilon", 1e-5F);
  float epsilon32 = (float)epsilon;
  if (kind == NUMBER_F64) {
    k->f64_add(vectors[3], 1, &epsilon, 0, vectors[3], channels);
    k->f64_sqrt(vectors[3], vectors[3], channels, NULL);
  } else {
    k->f32_add(vectors[3], 1, &epsilon32, 0, vectors[3], channels);
    k->f32_sqrt(vectors[3], vectors[3], channels, NULL);
  }
  struct batch_walk walk = {.kernels = k,
                            .kind = kind,
                            .x = x,
                            .y = run->outputs[0],
                            .channels = channels,
                            .plane = plane,
                            .scales = vectors[0],
                            .biases = vectors[1],
                            .means = vectors[2],
                            .deviations = vectors[3]};
  pool_for(run->pool, tensor_count(x), 4096, batch_range, &walk);
  return status_ok();
}
