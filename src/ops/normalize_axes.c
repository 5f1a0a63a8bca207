/* Normalisations that are sums over chosen axes and arithmetic: LpNormalization, MeanVarianceNormalization and LRN. */
#include "ops/elementwise.h"
#include "ops/infer_help.h"
#include "ops/reduction.h"

/* The input as dense float or double: where it is, or in scratch. */
static assay_status dense_input(struct op_run *run, assay_tensor *out) {
  const assay_tensor *x = run->inputs[0];
  enum number_kind kind = number_kind_of(x->dtype);
  *out = *x;
  if (number_is_native(x->dtype, kind)) {
    return status_ok();
  }
  int64_t n = tensor_count(x);
  out->dtype = ASSAY_FLOAT32;
  TRY(run->scratch(run, (size_t)n * sizeof(float) + 1, &out->data));
  numbers_load(x->dtype, x->data, 0, 1, n, kind, out->data);
  return status_ok();
}

/* A tensor in scratch, like `like` but with 1 where reduced (reduced may be NULL). */
static assay_status scratch_like(struct op_run *run, const assay_tensor *like, const bool *reduced, assay_tensor *out) {
  *out = *like;
  for (int d = 0; d < like->rank && reduced != NULL; d++) {
    out->dims[d] = reduced[d] ? 1 : like->dims[d];
  }
  return run->scratch(run, (size_t)tensor_count(out) * (assay_dtype_bits(like->dtype) / 8) + 1, &out->data);
}

/* Divides by a number, adds one, takes roots: small vectors of `kind`. */
static void divide_by(const struct op_run *run, enum number_kind kind, void *y, int64_t n, int64_t count) {
  float count32 = (float)count;
  double count64 = (double)count;
  kind == NUMBER_F64 ? run->kernels->f64_div(y, 1, &count64, 0, y, n) : run->kernels->f32_div(y, 1, &count32, 0, y, n);
}
static void add_to(const struct op_run *run, enum number_kind kind, void *y, int64_t n, double value) {
  float value32 = (float)value;
  kind == NUMBER_F64 ? run->kernels->f64_add(y, 1, &value, 0, y, n) : run->kernels->f32_add(y, 1, &value32, 0, y, n);
}
static void root_of(const struct op_run *run, enum number_kind kind, void *y, int64_t n) {
  kind == NUMBER_F64 ? run->kernels->f64_sqrt(y, y, n, NULL) : run->kernels->f32_sqrt(y, y, n, NULL);
}

/* --- LpNormalization: x over its norm along an axis; where that is 0, so is the answer -- */

static assay_status lp_attributes(const struct node *node, int rank, int *axis, int64_t *p) {
  *p = node_attribute_int(node, "p", 2);
  if (*p != 1 && *p != 2) {
    return status_make(ASSAY_NODE_INVALID, NULL, "p of LpNormalization is %lld, expected 1 or 2", (long long)*p);
  }
  return axis_normalise("axis", node_attribute_int(node, "axis", -1), rank, axis);
}

static void quotient_rows_f32(const void *user, const void *const *in, const int64_t *strides, void *out, int64_t n) {
  (void)user;
  const float *x = in[0], *norm = in[1];
  for (int64_t i = 0; i < n; i++) {
    float d = norm[i * strides[1]];
    ((float *)out)[i] = d == 0 ? 0 : x[i * strides[0]] / d;
  }
}
static void quotient_rows_f64(const void *user, const void *const *in, const int64_t *strides, void *out, int64_t n) {
  (void)user;
  const double *x = in[0], *norm = in[1];
  for (int64_t i = 0; i < n; i++) {
    double d = norm[i * strides[1]];
    ((double *)out)[i] = d == 0 ? 0 : x[i * strides[0]] / d;
  }
}

assay_status run_lp_normalization(struct op_run *run) {
  const assay_tensor *input = run->inputs[0];
  enum number_kind kind = number_kind_of(input->dtype);
  int axis;
  int64_t p;
  TRY(lp_attributes(run->node, input->rank, &axis, &p));
  TRY(output_like(run, 0, input));
  bool reduced[ASSAY_RANK_MAX] = {false};
  reduced[axis] = true;
  assay_tensor x, norms;
  TRY(dense_input(run, &x));
  TRY(scratch_like(run, &x, reduced, &norms));
  struct reduce_plan plan;
  reduce_plan_make(x.dims, x.rank, reduced, &plan);
  reduce_run(&plan, p == 1 ? REDUCTION_abs_sum : REDUCTION_square_sum, kind, x.data, NULL, norms.data, run->kernels,
             run->pool);
  if (p == 2) {
    root_of(run, kind, norms.data, plan.outputs);
  }
  struct elementwise work = {.n_inputs = 2,
                             .inputs = {&x, &norms},
                             .kinds = {kind, kind},
                             .output = run->outputs[0],
                             .output_kind = kind,
                             .rows = kind == NUMBER_F64 ? quotient_rows_f64 : quotient_rows_f32};
  elementwise_run(&work, run->pool);
  return status_ok();
}

/* --- MeanVarianceNormalization: (x - mean) / (sqrt(variance) + 1e-9) ------------- */

static assay_status mvn_axes(const struct node *node, int rank, bool *reduced) {
  static const int64_t usual[] = {0, 2, 3};
  int32_t count;
  const int64_t *axes = node_attribute_ints(node, "axes", &count);
  if (node_attribute(node, "axes") == NULL) {
    axes = usual;
    count = 3;
  }
  for (int32_t i = 0; i < count; i++) {
    int axis;
    TRY(axis_normalise("an element of axes", axes[i], rank, &axis));
    reduced[axis] = true;
  }
  return status_ok();
}

assay_status run_mean_variance_normalization(struct op_run *run) {
  const assay_tensor *input = run->inputs[0];
  enum number_kind kind = number_kind_of(input->dtype);
  const struct kernels *k = run->kernels;
  bool reduced[ASSAY_RANK_MAX] = {false};
  TRY(mvn_axes(run->node, input->rank, reduced));
  TRY(output_like(run, 0, input));
  assay_tensor x, means, deviations, centred;
  TRY(dense_input(run, &x));
  TRY(scratch_like(run, &x, reduced, &means));
  TRY(scratch_like(run, &x, reduced, &deviations));
  TRY(scratch_like(run, &x, NULL, &centred));
  struct reduce_plan plan;
  reduce_plan_make(x.dims, x.rank, reduced, &plan);
  reduce_run(&plan, REDUCTION_sum, kind, x.data, NULL, means.data, k, run->pool);
  divide_by(run, kind, means.data, plan.outputs, plan.count);
  reduce_run(&plan, REDUCTION_deviation_sum, kind, x.data, means.data, deviations.data, k, run->pool);
  divide_by(run, kind, deviations.data, plan.outputs, plan.count);
  root_of(run, kind, deviations.data, plan.outputs);
  add_to(run, kind, deviations.data, plan.outputs, (double)1e-9F);
  struct binary_kernels subtract = {.f32 = k->f32_sub, .f64 = k->f64_sub};
  struct binary_kernels divide = {.f32 = k->f32_div, .f64 = k->f64_div};
  TRY(binary_of(run, &subtract, &x, &means, kind, &centred));
  return binary_of(run, &divide, &centred, &deviations, kind, run->outputs[0]);
}

/* --- LRN: x / (bias + alpha / size * squares of the neighbouring channels)^beta ---- */

assay_status infer_lrn(struct infer *infer) {
  TRY(infer_want_counts(infer, 1, 1, 1, 1));
  TRY(infer_want(infer, 0, 2, ASSAY_RANK_MAX));
  if (node_attribute_int(infer->node, "size", 0) < 1) {
    return status_make(ASSAY_NODE_INVALID, NULL, "LRN needs a positive size");
  }
  return infer_same(infer);
}

struct lrn_walk {
  const struct kernels *kernels;
  enum number_kind kind;
  const char *x;
  char *sums;
  int64_t channels, plane, before, after;
};

/* Sums of squares over the window of channels, for each row (image and channel). */
static void lrn_range(void *argument, int64_t begin, int64_t end, int worker) {
  (void)worker;
  const struct lrn_walk *walk = argument;
  enum { WIDTH = 32 };
  _Alignas(64) char lanes[16 * WIDTH * 8];
  size_t size = number_size(walk->kind);
  for (int64_t row = begin; row < end; row++) {
    int64_t c = row % walk->channels;
    int64_t first = c > walk->before ? c - walk->before : 0;
    int64_t last = c + walk->after < walk->channels ? c + walk->after : walk->channels - 1;
    for (int64_t i = 0; i < walk->plane; i += WIDTH) {
      int64_t width = walk->plane - i < WIDTH ? walk->plane - i : WIDTH, n = last - first + 1;
      const void *x = walk->x + (size_t)((row - c + first) * walk->plane + i) * size;
      void *y = walk->sums + (size_t)(row * walk->plane + i) * size;
      if (walk->kind == NUMBER_F64) {
        walk->kernels->f64_square_sum_begin((double *)(void *)lanes, width);
        walk->kernels->f64_square_sum_columns(x, walk->plane, n, 0, width, NULL, (double *)(void *)lanes);
        walk->kernels->f64_square_sum_fold((double *)(void *)lanes, width, y);
      } else {
        walk->kernels->f32_square_sum_begin((float *)(void *)lanes, width);
        walk->kernels->f32_square_sum_columns(x, walk->plane, n, 0, width, NULL, (float *)(void *)lanes);
        walk->kernels->f32_square_sum_fold((float *)(void *)lanes, width, y);
      }
    }
  }
}

assay_status run_lrn(struct op_run *run) {
  const assay_tensor *input = run->inputs[0];
  const struct kernels *k = run->kernels;
  const struct node *node = run->node;
  enum number_kind kind = number_kind_of(input->dtype);
  TRY(output_like(run, 0, input));
  if (tensor_count(input) == 0) {
    return status_ok();
  }
  int64_t size = node_attribute_int(node, "size", 1), n = tensor_count(input);
  assay_tensor x, sums;
  TRY(dense_input(run, &x));
  TRY(scratch_like(run, &x, NULL, &sums));
  struct lrn_walk walk = {.kernels = k,
                          .kind = kind,
                          .x = x.data,
                          .sums = sums.data,
                          .channels = x.dims[1],
                          .plane = n / x.dims[0] / x.dims[1],
                          .before = (size - 1) / 2,
                          .after = size / 2};
  pool_for(run->pool, x.dims[0] * x.dims[1], 1 + 4096 / walk.plane, lrn_range, &walk);
  double alpha = (double)node_attribute_float(node, "alpha", 0.0001F),
         beta = (double)node_attribute_float(node, "beta", 0.75F);
  double bias = (double)node_attribute_float(node, "bias", 1.0F), factor64 = alpha / (double)size;
  if (kind == NUMBER_F64) {
    k->f64_mul(sums.data, 1, &factor64, 0, sums.data, n);
    k->f64_add(sums.data, 1, &bias, 0, sums.data, n);
    k->f64_pow(sums.data, 1, &beta, 0, sums.data, n);
  } else {
    float factor = (float)alpha / (float)size, bias32 = (float)bias, beta32 = (float)beta;
    k->f32_mul(sums.data, 1, &factor, 0, sums.data, n);
    k->f32_add(sums.data, 1, &bias32, 0, sums.data, n);
    k->f32_pow(sums.data, 1, &beta32, 0, sums.data, n);
  }
  struct binary_kernels divide = {.f32 = k->f32_div, .f64 = k->f64_div};
  return binary_of(run, &divide, &x, &sums, kind, run->outputs[0]);
}
