/* Cast, CastLike, BitCast and Clip. Between floats a cast rounds once, half to even, and makes every NaN the same; a
 * float becomes an integer truncated, and, where ONNX leaves it open, saturated (NaN is 0); integers keep their low
 * bits; bool is "not zero". No cast is ever left out. */
#include <string.h>

#include "ops/elementwise.h"
#include "ops/infer_help.h"
#include "ops/partial.h"

/* --- Cast ------------------------------------------------------------------ */

/* Until opset 5 `to` is the name of the type. */
static assay_status cast_target(const struct node *node, assay_dtype *out) {
  static const char *const names[ASSAY_DTYPE_COUNT] = {
      "UNDEFINED", "FLOAT", "UINT8",   "INT8",   "UINT16", "INT16",  "INT32",     "INT64",
      "STRING",    "BOOL",  "FLOAT16", "DOUBLE", "UINT32", "UINT64", "COMPLEX64", "COMPLEX128"};
  const struct attribute *to = node_attribute(node, "to");
  *out = ASSAY_UNDEFINED;
  if (to != NULL && to->kind == ATTRIBUTE_INT && to->i > 0 && to->i < ASSAY_DTYPE_COUNT) {
    *out = (assay_dtype)to->i;
  } else if (to != NULL && to->kind == ATTRIBUTE_STRING) {
    for (int i = 1; i < ASSAY_DTYPE_COUNT; i++) {
      if (names[i] != NULL && strlen(names[i]) == to->s.length && memcmp(names[i], to->s.data, to->s.length) == 0) {
        *out = (assay_dtype)i;
      }
    }
  }
  if (*out == ASSAY_UNDEFINED) {
    return status_make(ASSAY_NODE_INVALID, NULL, "%s needs an attribute 'to' that names a type", node->op_type);
  }
  return status_ok();
}

static bool can_cast(assay_dtype dtype) {
  return dtype == ASSAY_BOOL || dtype_is_float(dtype) || dtype_is_integer(dtype);
}

static assay_status infer_cast_to(struct infer *infer, assay_dtype target) {
  TRY(infer_want(infer, 0, 0, ASSAY_RANK_MAX));
  assay_dtype source = infer->inputs[0]->type.dtype;
  if ((target != ASSAY_UNDEFINED && !can_cast(target)) || (source != ASSAY_UNDEFINED && !can_cast(source))) {
    return status_make(ASSAY_OPERATOR_UNKNOWN, NULL, "%s from %s to %s is not supported", infer->node->op_type,
                       assay_dtype_name(source), assay_dtype_name(target));
  }
  infer_set_like(infer, 0, 0, ASSAY_UNDEFINED);
  infer->outputs[0].type.kind = TYPE_TENSOR;
  infer->outputs[0].type.dtype = target;
  bool widens = (source == ASSAY_INT64 || source == ASSAY_INT32) && target == ASSAY_INT64;
  return widens ? partial_keep(infer) : status_ok();
}

assay_status infer_cast(struct infer *infer) {
  TRY(infer_want_counts(infer, 1, 1, 1, 1));
  assay_dtype target;
  TRY(cast_target(infer->node, &target));
  return infer_cast_to(infer, target);
}

assay_status infer_cast_like(struct infer *infer) {
  TRY(infer_want_counts(infer, 2, 2, 1, 1));
  TRY(infer_want(infer, 1, 0, ASSAY_RANK_MAX));
  return infer_cast_to(infer, infer->inputs[1]->type.dtype);
}

static void cast_rows(const void *user, const void *const *in, const int64_t *strides, void *out, int64_t n) {
  (void)strides;
  const enum number_kind *kind = user;
  if (*kind == NUMBER_F32) {
    for (int64_t i = 0; i < n; i++) {
      float x = ((const float *)in[0])[i];
      ((float *)out)[i] = x == x ? x : __builtin_nanf("");
    }
  } else if (*kind == NUMBER_F64) {
    for (int64_t i = 0; i < n; i++) {
      double x = ((const double *)in[0])[i];
      ((double *)out)[i] = x == x ? x : __builtin_nan("");
    }
  } else {
    memcpy(out, in[0], (size_t)n * sizeof(int64_t));
  }
}

assay_status run_cast(struct op_run *run) {
  const assay_tensor *x = run->inputs[0];
  TRY(output_like(run, 0, x));
  enum number_kind kind = number_kind_of(x->dtype);
  struct elementwise work = {.n_inputs = 1,
                             .inputs = {x},
                             .kinds = {kind},
                             .output = run->outputs[0],
                             .output_kind = kind,
                             .unsaturated = node_attribute_int(run->node, "saturate", 1) == 0,
                             .rows = cast_rows,
                             .user = &kind};
  elementwise_run(&work, run->pool);
  return status_ok();
}

/* --- BitCast ---------------------------------------------------------------- */

assay_status infer_bit_cast(struct infer *infer) {
  TRY(infer_want_counts(infer, 1, 1, 1, 1));
  TRY(infer_want(infer, 0, 0, ASSAY_RANK_MAX));
  assay_dtype target, source = infer->inputs[0]->type.dtype;
  TRY(cast_target(infer->node, &target));
  if (source != ASSAY_UNDEFINED && assay_dtype_bits(source) != assay_dtype_bits(target)) {
    return status_make(ASSAY_TYPE_CONFLICT, NULL, "BitCast from %s to %s: the types differ in size",
                       assay_dtype_name(source), assay_dtype_name(target));
  }
  infer_set_like(infer, 0, 0, target);
  return status_ok();
}

assay_status run_bit_cast(struct op_run *run) {
  const assay_tensor *x = run->inputs[0];
  TRY(output_like(run, 0, x));
  assay_tensor *y = run->outputs[0];
  if (y->bytes == 0) {
    return status_ok();
  }
  memcpy(y->data, x->data, y->bytes);
  if (y->dtype == ASSAY_FLOAT32 || y->dtype == ASSAY_FLOAT64) { /* every NaN the same */
    enum number_kind kind = number_kind_of(y->dtype);
    const void *in = y->data;
    cast_rows(&kind, &in, NULL, y->data, tensor_count(y));
  }
  return status_ok();
}

/* --- Clip -------------------------------------------------------------------- */

assay_status infer_clip(struct infer *infer) {
  TRY(infer_want_counts(infer, 1, infer->node->opset < 11 ? 1 : 3, 1, 1));
  for (int32_t i = 1; i < infer->node->n_inputs; i++) {
    if (infer->inputs[i] != NULL) {
      TRY(infer_want(infer, i, 0, 1));
      TRY(infer_want_same_dtype(infer, 0, i));
    }
  }
  return infer_same(infer);
}

struct clip_range {
  int64_t low, high;
};

static void clip_rows_i64(const void *user, const void *const *in, const int64_t *strides, void *out, int64_t n) {
  (void)strides;
  const struct clip_range *range = user;
  for (int64_t i = 0; i < n; i++) {
    int64_t x = ((const int64_t *)in[0])[i];
    x = x < range->low ? range->low : x;
    ((int64_t *)out)[i] = x > range->high ? range->high : x;
  }
}

static void clip_rows_u64(const void *user, const void *const *in, const int64_t *strides, void *out, int64_t n) {
  (void)strides;
  const struct clip_range *range = user;
  uint64_t low = (uint64_t)range->low, high = (uint64_t)range->high;
  for (int64_t i = 0; i < n; i++) {
    uint64_t x = ((const uint64_t *)in[0])[i];
    x = x < low ? low : x;
    ((uint64_t *)out)[i] = x > high ? high : x;
  }
}

static const assay_tensor *bound(const struct op_run *run, int32_t i) {
  return i < run->node->n_inputs ? run->inputs[i] : NULL;
}

static assay_status want_one(const assay_tensor *tensor) {
  return tensor == NULL || tensor_count(tensor) == 1
             ? status_ok()
             : status_make(ASSAY_SHAPE_CONFLICT, NULL, "a bound of Clip has %lld elements, expected one",
                           (long long)tensor_count(tensor));
}

static assay_status clip_integers(struct op_run *run, const assay_tensor *low, const assay_tensor *high) {
  const assay_tensor *x = run->inputs[0];
  enum number_kind kind = number_kind_of(x->dtype);
  bool is_unsigned = kind == NUMBER_U64;
  struct clip_range range = {.low = low != NULL ? number_get_i64(low, 0) : (is_unsigned ? 0 : INT64_MIN),
                             .high = high != NULL ? number_get_i64(high, 0) : (is_unsigned ? -1 : INT64_MAX)};
  TRY(output_like(run, 0, x));
  struct elementwise work = {.n_inputs = 1,
                             .inputs = {x},
                             .kinds = {kind},
                             .output = run->outputs[0],
                             .output_kind = kind,
                             .rows = is_unsigned ? clip_rows_u64 : clip_rows_i64,
                             .user = &range};
  elementwise_run(&work, run->pool);
  return status_ok();
}

/* min(max(x, low), high). Until opset 10 the bounds are attributes, the largest floats unless given; later, a bound
 * that is not given does not bound. */
assay_status run_clip(struct op_run *run) {
  double low = -__builtin_inf(), high = __builtin_inf();
  if (run->node->opset < 11) {
    low = (double)node_attribute_float(run->node, "min", -0x1.fffffep127F);
    high = (double)node_attribute_float(run->node, "max", 0x1.fffffep127F);
    return unary_run(run, run->kernels->f32_clip, run->kernels->f64_clip, low, high);
  }
  const assay_tensor *least = bound(run, 1), *most = bound(run, 2);
  TRY(want_one(least));
  TRY(want_one(most));
  if (!dtype_is_float(run->inputs[0]->dtype)) {
    return clip_integers(run, least, most);
  }
  low = least != NULL ? number_get_f64(least, 0) : low;
  high = most != NULL ? number_get_f64(most, 0) : high;
  return unary_run(run, run->kernels->f32_clip, run->kernels->f64_clip, low, high);
}
