/* Resize and Upsample. Nearest moves elements; linear and cubic go axis by axis, the first axis first: each result is
 * the sum of weight times element over the taps, left to right, each product and sum rounded. Taps of weight 0 are left
 * out. */
#include <string.h>

#include "core/memory.h"
#include "ops/elementwise.h"
#include "ops/infer_help.h"
#include "ops/resize_plan.h"

/* Which input holds what. */
struct resize_inputs {
  int32_t roi, scales, sizes;
};

static struct resize_inputs inputs_of(const struct node *node) {
  bool upsample = strcmp(node->op_type, "Upsample") == 0;
  if (upsample || node->opset < 11) {
    return (struct resize_inputs){-1, upsample && node->opset < 9 ? -1 : 1, -1};
  }
  return (struct resize_inputs){1, 2, 3};
}

/* --- inferring ------------------------------------------------------------------ */

/* A given input that is not empty; *known is false when its content is not. */
static const assay_tensor *constant_of(const struct infer *infer, int32_t i, bool *known, bool *given) {
  const struct infer_value *value = infer_input(infer, i);
  *given = value != NULL && !(value->type.rank == 1 && value->type.dims[0].value == 0);
  if (!*given) {
    return NULL;
  }
  *known = *known && value->constant != NULL;
  return value->constant;
}

assay_status infer_resize(struct infer *infer) {
  const struct node *node = infer->node;
  struct resize_inputs at = inputs_of(node);
  TRY(infer_want_counts(infer, at.scales < 0 ? 1 : 2 - (at.sizes > 0), 4, 1, 1));
  TRY(infer_want(infer, 0, 1, ASSAY_RANK_MAX));
  struct resize_settings settings;
  TRY(resize_settings_of(node, &settings));
  struct value_type type = infer->inputs[0]->type;
  bool known = true, has_roi, has_scales, has_sizes;
  const assay_tensor *roi = constant_of(infer, at.roi, &known, &has_roi);
  const assay_tensor *scales = constant_of(infer, at.scales, &known, &has_scales);
  const assay_tensor *sizes = constant_of(infer, at.sizes, &known, &has_sizes);
  if (at.sizes > 0 && has_scales == has_sizes && known) {
    return status_make(ASSAY_NODE_INVALID, NULL, "Resize needs either scales or sizes, found %s",
                       has_scales ? "both" : "neither");
  }
  int64_t dims[ASSAY_RANK_MAX];
  struct resize_axis axes[ASSAY_RANK_MAX];
  if (known && type_dims(&type, dims)) {
    TRY(resize_axes(node, dims, type.rank, roi, scales, sizes, axes));
  } else {
    known = false;
  }
  for (int d = 0; d < type.rank; d++) {
    type.dims[d] = known ? dim_of(axes[d].out) : dim_unknown();
  }
  infer_set(infer, 0, type.dtype, type.rank, type.dims);
  return status_ok();
}

/* --- nearest ---------------------------------------------------------------------- */

struct nearest_walk {
  const assay_tensor *x;
  assay_tensor *y;
  const int64_t *offsets[ASSAY_RANK_MAX]; /* for each output coordinate of an axis: elements to skip, -1 outside */
  const void *extrapolation;              /* one element */
  size_t size;
};

static void nearest_range(void *argument, int64_t begin, int64_t end, int worker) {
  (void)worker;
  const struct nearest_walk *walk = argument;
  const assay_tensor *y = walk->y;
  int64_t index[ASSAY_RANK_MAX], rest = begin;
  for (int d = y->rank - 1; d >= 0; d--) {
    index[d] = rest % y->dims[d];
    rest /= y->dims[d];
  }
  for (int64_t i = begin; i < end; i++) {
    int64_t offset = 0;
    bool outside = false;
    for (int d = 0; d < y->rank; d++) {
      int64_t skip = walk->offsets[d][index[d]];
      outside = outside || skip < 0;
      offset += skip;
    }
    const char *from = outside ? walk->extrapolation : (const char *)walk->x->data + (size_t)offset * walk->size;
    memcpy((char *)y->data + (size_t)i * walk->size, from, walk->size);
    for (int d = y->rank - 1; d >= 0 && ++index[d] == y->dims[d]; d--) {
      index[d] = 0;
    }
  }
}

static assay_status nearest_run(struct op_run *run, const struct resize_settings *settings,
                                const struct resize_axis *axes) {
  const assay_tensor *x = run->inputs[0];
  assay_tensor *y = run->outputs[0];
  _Alignas(16) char value[16] = {0};
  if (dtype_is_float(x->dtype)) {
    numbers_store(x->dtype, value, 0, 1, NUMBER_F32, &settings->extrapolation);
  }
  struct nearest_walk walk = {.x = x, .y = y, .extrapolation = value, .size = assay_dtype_bits(x->dtype) / 8};
  int64_t stride = 1;
  for (int d = x->rank - 1; d >= 0; d--) {
    void *memory;
    TRY(run->scratch(run, (size_t)axes[d].out * sizeof(int64_t) + 1, &memory));
    int64_t *offsets = memory;
    for (int64_t i = 0; i < axes[d].out; i++) {
      float at = resize_coordinate_of(settings, &axes[d], i);
      bool same =
          axes[d].in == axes[d].out && axes[d].scale == 1.0F && settings->coordinate != COORDINATE_TF_CROP_AND_RESIZE;
      offsets[i] = resize_is_outside(settings, &axes[d], at)
                       ? INT64_MIN / (4 * ASSAY_RANK_MAX)
                       : (same ? i : resize_nearest_of(settings, &axes[d], at)) * stride;
    }
    walk.offsets[d] = offsets;
    stride *= x->dims[d];
  }
  pool_for(run->pool, tensor_count(y), 2048, nearest_range, &walk);
  return status_ok();
}

/* --- linear and cubic ---------------------------------------------------------------- */

/* One axis: [outer, in, inner] to [outer, out, inner]. */
struct axis_pass {
  enum number_kind kind;
  const void *from;
  void *to;
  int64_t outer, inner;
  const struct resize_axis *axis;
  int64_t n_taps;
  const int64_t *firsts; /* for each output coordinate; INT64_MIN where it is outside */
  const double *weights; /* n_taps for each */
  float extrapolation;
};

#define PASS_ROW(type)                                                                                     \
  do {                                                                                                     \
    type *y = (type *)pass->to + r * pass->inner;                                                          \
    bool started = false;                                                                                  \
    for (int64_t t = 0; t < pass->n_taps && first != INT64_MIN; t++) {                                     \
      type w = (type)weights[t];                                                                           \
      if (w == 0) {                                                                                        \
        continue;                                                                                          \
      }                                                                                                    \
      int64_t i = first + t < 0 ? 0 : (first + t >= pass->axis->in ? pass->axis->in - 1 : first + t);      \
      const type *x = (const type *)pass->from + (r / pass->axis->out * pass->axis->in + i) * pass->inner; \
      for (int64_t k = 0; k < pass->inner; k++) {                                                          \
        type product = w * x[k];                                                                           \
        y[k] = started ? y[k] + product : product;                                                         \
      }                                                                                                    \
      started = true;                                                                                      \
    }                                                                                                      \
    for (int64_t k = 0; k < pass->inner && !started; k++) {                                                \
      y[k] = (type)pass->extrapolation;                                                                    \
    }                                                                                                      \
  } while (0)

static void pass_range(void *argument, int64_t begin, int64_t end, int worker) {
  (void)worker;
  const struct axis_pass *pass = argument;
  for (int64_t r = begin; r < end; r++) { /* row (outer, output coordinate) */
    int64_t o = r % pass->axis->out, first = pass->firsts[o];
    const double *weights = pass->weights + o * pass->n_taps;
    if (pass->kind == NUMBER_F64) {
      PASS_ROW(double);
    } else {
      PASS_ROW(float);
    }
  }
}

static assay_status make_taps(struct op_run *run, const struct resize_settings *settings, struct axis_pass *pass) {
  const struct resize_axis *axis = pass->axis;
  pass->n_taps = resize_tap_count(settings, axis);
  size_t bytes;
  void *firsts, *weights;
  if (!size_mul((size_t)axis->out, (size_t)pass->n_taps * sizeof(double), &bytes)) {
    return status_no_memory((size_t)axis->out);
  }
  TRY(run->scratch(run, (size_t)axis->out * sizeof(int64_t) + 1, &firsts));
  TRY(run->scratch(run, bytes + 1, &weights));
  for (int64_t o = 0; o < axis->out; o++) {
    float x = resize_coordinate_of(settings, axis, o);
    double *row = (double *)weights + o * pass->n_taps;
    ((int64_t *)firsts)[o] = resize_is_outside(settings, axis, x) ? INT64_MIN : resize_taps(settings, axis, x, row);
  }
  pass->firsts = firsts;
  pass->weights = weights;
  return status_ok();
}

static assay_status interpolate_run(struct op_run *run, const struct resize_settings *settings,
                                    const struct resize_axis *axes) {
  const assay_tensor *x = run->inputs[0];
  assay_tensor *y = run->outputs[0];
  enum number_kind kind = number_kind_of(x->dtype);
  if (kind == NUMBER_I64 || kind == NUMBER_U64) {
    kind = NUMBER_F64; /* interpolated, then truncated into the integer */
  }
  size_t size = number_size(kind);
  int64_t dims[ASSAY_RANK_MAX], n = tensor_count(x);
  memcpy(dims, x->dims, sizeof dims);
  void *now;
  TRY(run->scratch(run, (size_t)n * size + 1, &now));
  numbers_load(x->dtype, x->data, 0, 1, n, kind, now);
  for (int d = 0; d < x->rank; d++) {
    bool same = axes[d].in == axes[d].out && axes[d].scale == 1.0F;
    if (same && (settings->coordinate != COORDINATE_TF_CROP_AND_RESIZE ||
                 (axes[d].roi_start == 0.0F && axes[d].roi_end == 1.0F))) {
      continue;
    }
    struct axis_pass pass = {
        .kind = kind, .from = now, .outer = 1, .inner = 1, .axis = &axes[d], .extrapolation = settings->extrapolation};
    for (int i = 0; i < x->rank; i++) {
      *(i < d ? &pass.outer : &pass.inner) *= i == d ? 1 : dims[i];
    }
    dims[d] = axes[d].out;
    int64_t count;
    if (!shape_count(dims, x->rank, &count)) {
      return status_make(ASSAY_LIMIT_EXCEEDED, NULL, "Resize would make too many elements on the way");
    }
    TRY(run->scratch(run, (size_t)count * size + 1, &pass.to));
    TRY(make_taps(run, settings, &pass));
    pool_for(run->pool, pass.outer * axes[d].out, 1 + 2048 / (pass.inner + 1), pass_range, &pass);
    now = pass.to;
  }
  numbers_store(y->dtype, y->data, 0, tensor_count(y), kind, now);
  return status_ok();
}

/* --- running --------------------------------------------------------------------------- */

static const assay_tensor *given(const struct op_run *run, int32_t i) {
  const assay_tensor *tensor = i > 0 && i < run->node->n_inputs ? run->inputs[i] : NULL;
  return tensor != NULL && tensor_count(tensor) > 0 ? tensor : NULL;
}

assay_status run_resize(struct op_run *run) {
  const assay_tensor *x = run->inputs[0];
  struct resize_inputs at = inputs_of(run->node);
  struct resize_settings settings;
  TRY(resize_settings_of(run->node, &settings));
  const assay_tensor *scales = given(run, at.scales), *sizes = given(run, at.sizes);
  if (at.sizes > 0 && (scales == NULL) == (sizes == NULL)) {
    return status_make(ASSAY_NODE_INVALID, NULL, "Resize needs either scales or sizes, found %s",
                       scales != NULL ? "both" : "neither");
  }
  struct resize_axis axes[ASSAY_RANK_MAX];
  TRY(resize_axes(run->node, x->dims, x->rank, given(run, at.roi), scales, sizes, axes));
  int64_t dims[ASSAY_RANK_MAX];
  for (int d = 0; d < x->rank; d++) {
    dims[d] = axes[d].out;
  }
  TRY(output_shape(run, 0, dims, x->rank));
  int64_t count = tensor_count(run->outputs[0]);
  if (count == 0) {
    return status_ok();
  }
  if (tensor_count(x) == 0) {
    return status_make(ASSAY_NODE_VALUE, NULL, "Resize cannot make elements out of none");
  }
  return settings.mode == RESIZE_NEAREST ? nearest_run(run, &settings, axes) : interpolate_run(run, &settings, axes);
}
