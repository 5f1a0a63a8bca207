/* Normalisations over rows: Batch, Instance, Layer, Group and RMSNormalization. They follow ONNX's function bodies step
 * by step, but for the variance, which is the mean of squared deviations in two passes: the bodies' E[x^2] - E[x]^2
 * loses everything where the mean is large, and can be negative. 16-bit floats are computed as float; where the
 * body casts back before scaling, so is it here. */
#include <string.h>

#include "ops/elementwise.h"
#include "ops/infer_help.h"
#include "tensor/floatfmt.h"

enum { ROW_GRAIN_ELEMENTS = 8192 };

/* Rows of `length` neighbours, each normalised by itself. */
struct row_walk {
  const struct op_run *run;
  enum number_kind kind;
  const assay_tensor *x;
  assay_tensor *y;
  int64_t rows, length;
  double epsilon;
  bool centred; /* subtract the mean; RMSNormalization does not */
  /* Scale and bias as dense numbers of `kind`, or NULL. Element i of row r takes number
   * (r mod period) * row_step + i * step. */
  const char *scale, *bias;
  int64_t period, row_step, step;
  assay_tensor *means, *inverses; /* further outputs of LayerNormalization, or NULL */
  char *buffers;                  /* for each worker one row of `kind` */
  bool rounds_between;            /* the storage type is narrower, and the body rounds to it before scaling */
};

static void store_one(assay_tensor *tensor, int64_t i, double value) {
  if (tensor != NULL) {
    numbers_store(tensor->dtype, tensor->data, i, 1, NUMBER_F64, &value);
  }
}

/* One row at x as float; y may be x. */
static void normalize_f32(const struct row_walk *walk, int64_t r, const float *x, float *y) {
  const struct kernels *k = walk->run->kernels;
  int64_t n = walk->length;
  float lanes[16], mean = 0, variance, count = (float)n;
  if (walk->centred) {
    k->f32_sum_begin(lanes, 1);
    k->f32_sum_lanes(x, 1, n, 0, NULL, lanes);
    k->f32_sum_fold(lanes, 1, &mean);
    mean = mean / count;
  }
  k->f32_deviation_sum_begin(lanes, 1);
  k->f32_deviation_sum_lanes(x, 1, n, 0, &mean, lanes);
  k->f32_deviation_sum_fold(lanes, 1, &variance);
  variance = variance / count;
  float sum = variance + (float)walk->epsilon, deviation;
  k->f32_sqrt(&sum, &deviation, 1, NULL);
  store_one(walk->means, r, (double)mean);
  store_one(walk->inverses, r, (double)(1.0F / deviation));
  int64_t at = r % walk->period * walk->row_step;
  const float *scale = walk->scale != NULL ? (const float *)(const void *)walk->scale + at : NULL;
  const float *bias = walk->bias != NULL ? (const float *)(const void *)walk->bias + at : NULL;
  if (!walk->rounds_between) {
    k->f32_normalize(x, n, mean, deviation, scale, walk->step, bias, walk->step, y);
    return;
  }
  k->f32_normalize(x, n, mean, deviation, NULL, 0, NULL, 0, y);
  for (int64_t i = 0; i < n; i++) {
    y[i] = float_round_to(walk->y->dtype, y[i]);
    y[i] = scale != NULL ? float_round_to(walk->y->dtype, y[i] * scale[i * walk->step]) : y[i];
    y[i] = bias != NULL ? y[i] + bias[i * walk->step] : y[i];
  }
}

static void normalize_f64(const struct row_walk *walk, int64_t r, const double *x, double *y) {
  const struct kernels *k = walk->run->kernels;
  int64_t n = walk->length;
  double lanes[16], mean = 0, variance, count = (double)n;
  if (walk->centred) {
    k->f64_sum_begin(lanes, 1);
    k->f64_sum_lanes(x, 1, n, 0, NULL, lanes);
    k->f64_sum_fold(lanes, 1, &mean);
    mean = mean / count;
  }
  k->f64_deviation_sum_begin(lanes, 1);
  k->f64_deviation_sum_lanes(x, 1, n, 0, &mean, lanes);
  k->f64_deviation_sum_fold(lanes, 1, &variance);
  variance = variance / count;
  double sum = variance + walk->epsilon, deviation;
  k->f64_sqrt(&sum, &deviation, 1, NULL);
  store_one(walk->means, r, mean);
  store_one(walk->inverses, r, 1.0 / deviation);
  int64_t at = r % walk->period * walk->row_step;
  const double *scale = walk->scale != NULL ? (const double *)(const void *)walk->scale + at : NULL;
  const double *bias = walk->bias != NULL ? (const double *)(const void *)walk->bias + at : NULL;
  k->f64_normalize(x, n, mean, deviation, scale, walk->step, bias, walk->step, y);
}

static void row_range(void *argument, int64_t begin, int64_t end, int worker) {
  const struct row_walk *walk = argument;
  size_t size = number_size(walk->kind);
  bool direct = number_is_native(walk->x->dtype, walk->kind);
  char *buffer = walk->buffers + (size_t)worker * (size_t)walk->length * size;
  for (int64_t r = begin; r < end; r++) {
    int64_t start = r * walk->length;
    const void *in = buffer;
    void *out = buffer;
    if (direct) {
      in = (const char *)walk->x->data + (size_t)start * size;
      out = (char *)walk->y->data + (size_t)start * size;
    } else {
      numbers_load(walk->x->dtype, walk->x->data, start, 1, walk->length, walk->kind, buffer);
    }
    walk->kind == NUMBER_F64 ? normalize_f64(walk, r, in, out) : normalize_f32(walk, r, in, out);
    if (!direct) {
      numbers_store(walk->y->dtype, walk->y->data, start, walk->length, walk->kind, buffer);
    }
  }
}

static assay_status run_rows(struct op_run *run, struct row_walk *walk) {
  if (walk->rows * walk->length == 0) {
    return status_ok();
  }
  void *buffers;
  TRY(run->scratch(run, (size_t)pool_threads(run->pool) * (size_t)walk->length * number_size(walk->kind), &buffers));
  walk->buffers = buffers;
  pool_for(run->pool, walk->rows, 1 + ROW_GRAIN_ELEMENTS / walk->length, row_range, walk);
  return status_ok();
}

/* A vector as dense numbers of `kind`: in place, or converted into scratch. *out is NULL when the tensor is. */
static assay_status vector_as(struct op_run *run, const assay_tensor *tensor, enum number_kind kind, const char **out) {
  *out = tensor != NULL ? tensor->data : NULL;
  if (tensor == NULL || number_is_native(tensor->dtype, kind)) {
    return status_ok();
  }
  int64_t n = tensor_count(tensor);
  void *converted;
  TRY(run->scratch(run, (size_t)n * number_size(kind) + 1, &converted));
  numbers_load(tensor->dtype, tensor->data, 0, 1, n, kind, converted);
  *out = converted;
  return status_ok();
}

static assay_status want_count(const struct op_run *run, int32_t input, int64_t count) {
  const assay_tensor *tensor = run->inputs[input];
  if (tensor != NULL && tensor_count(tensor) != count) {
    return status_make(ASSAY_SHAPE_CONFLICT, NULL, "input %d of %s has %lld elements, expected %lld", (int)input,
                       run->node->op_type, (long long)tensor_count(tensor), (long long)count);
  }
  return status_ok();
}

static int64_t product(const assay_tensor *tensor, int begin, int end) {
  int64_t n = 1;
  for (int d = begin; d < end; d++) {
    n *= tensor->dims[d];
  }
  return n;
}

static double epsilon_of(const struct node *node) { return (double)node_attribute_float(node, "epsilon", 1e-5F); }

/* --- LayerNormalization, RMSNormalization -------------------------------------- */

static assay_status layer_axis(const struct node *node, int rank, int *axis) {
  return axis_normalise("axis", node_attribute_int(node, "axis", -1), rank, axis);
}

assay_status infer_layer_normalization(struct infer *infer) {
  bool rms = strcmp(infer->node->op_type, "RMSNormalization") == 0;
  TRY(infer_want_counts(infer, 2, rms ? 2 : 3, 1, rms ? 1 : 3));
  TRY(infer_want(infer, 0, 1, ASSAY_RANK_MAX));
  TRY(infer_want(infer, 1, 0, ASSAY_RANK_MAX));
  infer_set_like(infer, 0, 0, ASSAY_UNDEFINED);
  const struct value_type *x = &infer->inputs[0]->type;
  /* Mean and inverse deviation are of the type that the statistics are computed in. */
  assay_dtype stash =
      x->dtype == ASSAY_FLOAT64 ? ASSAY_FLOAT64 : (assay_dtype)node_attribute_int(infer->node, "stash_type", 1);
  if (stash != ASSAY_FLOAT32 && stash != ASSAY_FLOAT64 && stash != ASSAY_BFLOAT16) {
    return status_make(ASSAY_NODE_INVALID, NULL, "stash_type %d of %s is no float type that it may be", (int)stash,
                       infer->node->op_type);
  }
  struct dim dims[ASSAY_RANK_MAX];
  int axis = 0;
  if (x->rank > 0) {
    TRY(layer_axis(infer->node, x->rank, &axis));
  }
  for (int d = 0; d < x->rank; d++) {
    dims[d] = d < axis ? x->dims[d] : dim_of(1);
  }
  for (int32_t i = 1; i < infer->node->n_outputs; i++) {
    infer_set(infer, i, stash, x->rank, dims);
  }
  return status_ok();
}

/* Scale or bias, whose shape may be broadcast to that of the normalised dimensions, as `length` numbers. */
static assay_status expanded(struct op_run *run, const assay_tensor *tensor, int axis, enum number_kind kind,
                             const char **out) {
  const assay_tensor *x = run->inputs[0];
  *out = NULL;
  if (tensor == NULL) {
    return status_ok();
  }
  assay_tensor target = {.dtype = kind == NUMBER_F64 ? ASSAY_FLOAT64 : ASSAY_FLOAT32, .rank = x->rank - axis};
  memcpy(target.dims, x->dims + axis, (size_t)target.rank * sizeof *target.dims);
  bool fits = tensor->rank <= target.rank;
  for (int d = 0; fits && d < tensor->rank; d++) {
    fits = tensor->dims[d] == 1 || tensor->dims[d] == target.dims[target.rank - tensor->rank + d];
  }
  if (!fits) {
    return status_make(ASSAY_SHAPE_CONFLICT, NULL,
                       "scale or bias of %s cannot be broadcast to the dimensions that are normalised",
                       run->node->op_type);
  }
  int64_t length = tensor_count(&target);
  if (tensor_count(tensor) == length) {
    return vector_as(run, tensor, kind, out);
  }
  TRY(run->scratch(run, (size_t)length * number_size(kind) + 1, &target.data));
  struct binary_kernels same = {.f32 = run->kernels->f32_min, .f64 = run->kernels->f64_min};
  TRY(binary_of(run, &same, tensor, tensor, kind, &target)); /* the minimum of a number and itself */
  *out = target.data;
  return status_ok();
}

static assay_status layer_run(struct op_run *run, bool centred, const assay_tensor *bias) {
  const assay_tensor *x = run->inputs[0];
  int axis;
  TRY(layer_axis(run->node, x->rank, &axis));
  int64_t dims[ASSAY_RANK_MAX];
  for (int d = 0; d < x->rank; d++) {
    dims[d] = d < axis ? x->dims[d] : 1;
  }
  TRY(output_like(run, 0, x));
  assay_tensor *further[2] = {NULL, NULL};
  for (int32_t i = 1; i < run->node->n_outputs; i++) {
    if (run->outputs[i] != NULL) {
      TRY(output_shape(run, i, dims, x->rank));
      further[i - 1] = run->outputs[i];
    }
  }
  struct row_walk walk = {.run = run,
                          .kind = number_kind_of(x->dtype),
                          .x = x,
                          .y = run->outputs[0],
                          .rows = product(x, 0, axis),
                          .length = product(x, axis, x->rank),
                          .epsilon = epsilon_of(run->node),
                          .centred = centred,
                          .period = 1,
                          .step = 1,
                          .means = further[0],
                          .inverses = further[1],
                          .rounds_between = assay_dtype_bits(x->dtype) < 32};
  TRY(expanded(run, run->inputs[1], axis, walk.kind, &walk.scale));
  TRY(expanded(run, bias, axis, walk.kind, &walk.bias));
  return run_rows(run, &walk);
}

assay_status run_layer_normalization(struct op_run *run) {
  return layer_run(run, true, run->node->n_inputs > 2 ? run->inputs[2] : NULL);
}

assay_status run_rms_normalization(struct op_run *run) { return layer_run(run, false, NULL); }

/* --- InstanceNormalization, GroupNormalization ---------------------------------- */

assay_status infer_instance_normalization(struct infer *infer) {
  TRY(infer_want_counts(infer, 3, 3, 1, 1));
  TRY(infer_want(infer, 0, 2, ASSAY_RANK_MAX));
  TRY(infer_want(infer, 1, 1, 1));
  TRY(infer_want(infer, 2, 1, 1));
  return infer_same(infer);
}

assay_status run_instance_normalization(struct op_run *run) {
  const assay_tensor *x = run->inputs[0];
  TRY(output_like(run, 0, x));
  TRY(want_count(run, 1, x->dims[1]));
  TRY(want_count(run, 2, x->dims[1]));
  struct row_walk walk = {.run = run,
                          .kind = number_kind_of(x->dtype),
                          .x = x,
                          .y = run->outputs[0],
                          .rows = x->dims[0] * x->dims[1],
                          .length = product(x, 2, x->rank),
                          .epsilon = epsilon_of(run->node),
                          .centred = true,
                          .period = x->dims[1],
                          .row_step = 1};
  TRY(vector_as(run, run->inputs[1], walk.kind, &walk.scale));
  TRY(vector_as(run, run->inputs[2], walk.kind, &walk.bias));
  return run_rows(run, &walk);
}

/* One number a channel (opset 21) or a group (18 to 20) as one number for each element of a group's row. */
static assay_status group_vector(struct op_run *run, int32_t input, int64_t groups, enum number_kind kind,
                                 const char **out) {
  const assay_tensor *x = run->inputs[0], *vector = run->inputs[input];
  int64_t channels = x->dims[1], plane = product(x, 2, x->rank);
  bool per_group = run->node->opset < 21;
  TRY(want_count(run, input, per_group ? groups : channels));
  size_t size = number_size(kind);
  void *memory;
  TRY(run->scratch(run, (size_t)channels * (size_t)plane * size + 1, &memory));
  for (int64_t c = 0; c < channels; c++) {
    char *row = (char *)memory + (size_t)(c * plane) * size;
    int64_t from = per_group ? c / (channels / groups) : c;
    numbers_load(vector->dtype, vector->data, from, 0, plane, kind, row);
  }
  *out = memory;
  return status_ok();
}

assay_status run_group_normalization(struct op_run *run) {
  const assay_tensor *x = run->inputs[0];
  int64_t groups = node_attribute_int(run->node, "num_groups", 0);
  if (groups < 1 || x->dims[1] % groups != 0) {
    return status_make(ASSAY_NODE_INVALID, NULL, "num_groups is %lld, which does not divide the %lld channels",
                       (long long)groups, (long long)x->dims[1]);
  }
  TRY(output_like(run, 0, x));
  int64_t length = product(x, 1, x->rank) / groups;
  struct row_walk walk = {.run = run,
                          .kind = number_kind_of(x->dtype),
                          .x = x,
                          .y = run->outputs[0],
                          .rows = x->dims[0] * groups,
                          .length = length,
                          .epsilon = epsilon_of(run->node),
                          .centred = true,
                          .period = groups,
                          .row_step = length,
                          .step = 1,
                          .rounds_between = assay_dtype_bits(x->dtype) < 32};
  if (tensor_count(x) == 0) {
    return status_ok();
  }
  TRY(group_vector(run, 1, groups, walk.kind, &walk.scale));
  TRY(group_vector(run, 2, groups, walk.kind, &walk.bias));
  return run_rows(run, &walk);
}
