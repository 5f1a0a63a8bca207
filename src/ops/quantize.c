/* QuantizeLinear and DequantizeLinear (10 to 28) and DynamicQuantizeLinear (11 to 28). Quantisation divides, rounds
 * half to even, adds the zero point, saturates; NaN, whose result ONNX leaves open, gives the zero point. The division
 * happens in the scale's type; a 16-bit float is divided in float and rounded once to 16 bits, which is the same. */
#include <string.h>

#include "ops/infer_help.h"
#include "ops/movement.h"
#include "ops/numbers.h"
#include "tensor/floatfmt.h"

enum { CHUNK = 256 }; /* elements worked on at a time; even, so that packed elements are never shared */

/* How the scales lie along the data: row (o, a) of `inner` elements uses the scales from scale_at on, scale_stride
 * apart. */
struct scale_layout {
  int64_t outer, size, inner, block;
  bool one, blocked;
};

static assay_status scale_layout_of(const struct node *node, const assay_tensor *x, const assay_tensor *scale,
                                    const assay_tensor *zero, struct scale_layout *out) {
  *out = (struct scale_layout){.outer = 1, .size = 1, .inner = tensor_count(x), .block = 1, .one = true};
  if (zero != NULL && tensor_count(zero) != tensor_count(scale)) {
    return status_make(ASSAY_SHAPE_CONFLICT, node->label, "%s has %lld scales and %lld zero points", node->op_type,
                       (long long)tensor_count(scale), (long long)tensor_count(zero));
  }
  int64_t block = node_attribute_int(node, "block_size", 0);
  if (tensor_count(scale) == 1 && block == 0) {
    return status_ok();
  }
  int axis;
  TRY(axis_normalise("axis", node_attribute_int(node, "axis", 1), x->rank, &axis));
  out->one = false;
  out->blocked = block > 0;
  out->block = block > 0 ? block : 1;
  out->inner = 1;
  out->size = x->dims[axis];
  bool fits = out->blocked ? scale->rank == x->rank : scale->rank == 1 && scale->dims[0] == out->size;
  for (int i = 0; i < x->rank; i++) {
    int64_t wanted = i == axis ? (out->size + out->block - 1) / out->block : x->dims[i];
    fits &= !out->blocked || scale->dims[i] == wanted;
    out->outer *= i < axis ? x->dims[i] : 1;
    out->inner *= i > axis ? x->dims[i] : 1;
  }
  return fits ? status_ok()
              : status_make(ASSAY_SHAPE_CONFLICT, node->label, "the scales of %s do not fit axis %d of its input",
                            node->op_type, axis);
}

/* First scale of row `row` = o * size + a, and the distance to the next element's. */
static int64_t scale_of_row(const struct scale_layout *layout, int64_t row, int64_t *stride) {
  *stride = 0;
  if (layout->one) {
    return 0;
  }
  int64_t o = row / layout->size, a = row % layout->size;
  if (!layout->blocked) {
    return a;
  }
  *stride = 1;
  int64_t blocks = (layout->size + layout->block - 1) / layout->block;
  return (o * blocks + a / layout->block) * layout->inner;
}

/* What an integer dtype can hold. */
static void integer_range(assay_dtype dtype, int64_t *low, int64_t *high) {
  int bits = (int)assay_dtype_bits(dtype);
  bool is_signed = dtype_is_signed(dtype);
  *low = is_signed ? -(INT64_C(1) << (bits - 1)) : 0;
  *high = is_signed ? (INT64_C(1) << (bits - 1)) - 1 : (INT64_C(1) << bits) - 1;
}

static assay_status infer_scales(struct infer *infer) {
  TRY(infer_want_counts(infer, 2, 3, 1, 1));
  TRY(infer_want(infer, 0, 0, ASSAY_RANK_MAX));
  TRY(infer_want(infer, 1, 0, ASSAY_RANK_MAX));
  return infer_input(infer, 2) != NULL ? infer_want(infer, 2, 0, ASSAY_RANK_MAX) : status_ok();
}

/* --- QuantizeLinear ---------------------------------------------------------- */

static bool is_quantized(assay_dtype dtype) {
  switch (dtype) {
    case ASSAY_INT8:
    case ASSAY_UINT8:
    case ASSAY_INT16:
    case ASSAY_UINT16:
    case ASSAY_INT4:
    case ASSAY_UINT4:
    case ASSAY_INT2:
    case ASSAY_UINT2:
      return true;
    default:
      return dtype_is_float(dtype) && assay_dtype_bits(dtype) <= 8 && dtype != ASSAY_FLOAT8E8M0;
  }
}

/* The output's dtype: the zero point's, or output_dtype, or uint8. */
static assay_status quantized_dtype(const struct node *node, assay_dtype zero, assay_dtype *out) {
  int64_t told = node_attribute_int(node, "output_dtype", ASSAY_UNDEFINED);
  *out = zero != ASSAY_UNDEFINED ? zero : told != ASSAY_UNDEFINED ? (assay_dtype)told : ASSAY_UINT8;
  if (told != ASSAY_UNDEFINED && told != (int64_t)*out) {
    return status_make(ASSAY_TYPE_CONFLICT, NULL, "output_dtype of %s is %s, but the zero point is %s", node->op_type,
                       assay_dtype_name((assay_dtype)told), assay_dtype_name(zero));
  }
  return is_quantized(*out) ? status_ok()
                            : status_make(ASSAY_TYPE_CONFLICT, NULL, "%s cannot quantise to %s", node->op_type,
                                          assay_dtype_name(*out));
}

assay_status infer_quantize_linear(struct infer *infer) {
  TRY(infer_scales(infer));
  const struct infer_value *zero = infer_input(infer, 2);
  assay_dtype dtype;
  if (zero != NULL && zero->type.dtype == ASSAY_UNDEFINED) {
    infer_set_like(infer, 0, 0, ASSAY_UNDEFINED);
    infer->outputs[0].type.dtype = ASSAY_UNDEFINED;
    return status_ok();
  }
  TRY(quantized_dtype(infer->node, zero != NULL ? zero->type.dtype : ASSAY_UNDEFINED, &dtype));
  infer_set_like(infer, 0, 0, dtype);
  return status_ok();
}

struct quantize_job {
  const struct kernels *kernels;
  const assay_tensor *x, *scale, *zero;
  assay_tensor *y;
  struct scale_layout layout;
  enum number_kind kind; /* of the division: NUMBER_F64 or NUMBER_F32 */
  assay_dtype rounded;   /* 16-bit float that the quotient is rounded to; otherwise FLOAT32 */
  int64_t low, high;
  bool saturate;
};

/* A chunk of numbers of either kind. */
union chunk {
  double f64[CHUNK];
  float f32[CHUNK];
};

/* Quotients of up to CHUNK elements from flat place `at` on. */
static void quotients(const struct quantize_job *job, int64_t at, int64_t n, int64_t scale_at, int64_t stride,
                      union chunk *out) {
  union chunk scale;
  numbers_load(job->x->dtype, job->x->data, at, 1, n, job->kind, out);
  numbers_load(job->scale->dtype, job->scale->data, scale_at, 1, stride == 0 ? 1 : n, job->kind, &scale);
  for (int64_t i = 0; i < n; i++) {
    if (job->kind == NUMBER_F64) {
      out->f64[i] = out->f64[i] / scale.f64[i * stride];
    } else {
      out->f32[i] = float_round_to(job->rounded, out->f32[i] / scale.f32[i * stride]);
    }
  }
}

/* Integers: rounded quotient plus zero point, saturated. */
static void quantize_integers(const struct quantize_job *job, int64_t at, int64_t n, int64_t scale_at, int64_t stride) {
  union chunk quotient;
  int32_t rounded[CHUNK];
  int64_t result[CHUNK];
  quotients(job, at, n, scale_at, stride, &quotient);
  if (job->kind == NUMBER_F64) {
    job->kernels->f64_round_integer(quotient.f64, rounded, n);
  } else {
    job->kernels->f32_round_integer(quotient.f32, rounded, n);
  }
  for (int64_t i = 0; i < n; i++) {
    int64_t zero = job->zero != NULL ? tensor_get_int(job->zero, scale_at + i * stride) : 0;
    int64_t value = rounded[i] + zero;
    result[i] = value < job->low ? job->low : value > job->high ? job->high : value;
  }
  numbers_store(job->y->dtype, job->y->data, at, n, NUMBER_I64, result);
}

static void quantize_rows(void *argument, int64_t begin, int64_t end, int worker) {
  (void)worker;
  const struct quantize_job *job = argument;
  int64_t inner = job->layout.inner;
  for (int64_t at = begin; at < end;) {
    int64_t stride, row = job->layout.one ? 0 : at / inner, in_row = job->layout.one ? 0 : at % inner;
    int64_t n = job->layout.one ? end - at : inner - in_row;
    n = n > end - at ? end - at : n;
    n = n > CHUNK ? CHUNK : n;
    int64_t scale_at = scale_of_row(&job->layout, row, &stride) + in_row * stride;
    if (dtype_is_float(job->y->dtype)) {
      union chunk quotient;
      quotients(job, at, n, scale_at, stride, &quotient);
      numbers_store_saturating(job->y->dtype, job->y->data, at, n, job->kind, &quotient, job->saturate);
    } else {
      quantize_integers(job, at, n, scale_at, stride);
    }
    at += n;
  }
}

assay_status run_quantize_linear(struct op_run *run) {
  struct quantize_job job = {.kernels = run->kernels,
                             .x = run->inputs[0],
                             .scale = run->inputs[1],
                             .zero = run_input(run, 2),
                             .y = run->outputs[0]};
  assay_dtype dtype;
  TRY(quantized_dtype(run->node, job.zero != NULL ? job.zero->dtype : ASSAY_UNDEFINED, &dtype));
  TRY(scale_layout_of(run->node, job.x, job.scale, job.zero, &job.layout));
  TRY(output_become(run, 0, dtype, job.x->dims, job.x->rank));
  int64_t precision = node_attribute_int(run->node, "precision", 0);
  assay_dtype in = precision != 0 ? (assay_dtype)precision : job.scale->dtype;
  job.kind = in == ASSAY_FLOAT64 || job.x->dtype == ASSAY_FLOAT64 ? NUMBER_F64 : NUMBER_F32;
  job.rounded = in == ASSAY_FLOAT16 || in == ASSAY_BFLOAT16 ? in : ASSAY_FLOAT32;
  job.saturate = node_attribute_int(run->node, "saturate", 1) != 0;
  if (!dtype_is_float(dtype)) {
    integer_range(dtype, &job.low, &job.high);
  }
  /* Ranges of a multiple of CHUNK elements: elements that share a byte stay with one thread. */
  pool_for(run->pool, tensor_count(job.x), 64 * CHUNK, quantize_rows, &job);
  return status_ok();
}

/* --- DequantizeLinear ---------------------------------------------------------- */

static assay_dtype dequantized_dtype(const struct node *node, assay_dtype scale) {
  int64_t told = node_attribute_int(node, "output_dtype", ASSAY_UNDEFINED);
  return told != ASSAY_UNDEFINED ? (assay_dtype)told : scale;
}

assay_status infer_dequantize_linear(struct infer *infer) {
  TRY(infer_scales(infer));
  TRY(infer_want_same_dtype(infer, 0, 2));
  infer_set_like(infer, 0, 0, dequantized_dtype(infer->node, infer->inputs[1]->type.dtype));
  return status_ok();
}

/* (x - zero) in the output's type, times the scale: each rounded. Flat elements begin..end. */
static void dequantize_rows(void *argument, int64_t begin, int64_t end, int worker) {
  (void)worker;
  const struct quantize_job *job = argument;
  int64_t inner = job->layout.inner;
  for (int64_t at = begin; at < end; at++) {
    int64_t stride, row = job->layout.one ? 0 : at / inner;
    int64_t scale_at = scale_of_row(&job->layout, row, &stride) + (job->layout.one ? 0 : at % inner * stride);
    double number;
    if (dtype_is_float(job->x->dtype)) {
      number = tensor_get(job->x, at);
    } else {
      int64_t zero = job->zero != NULL ? tensor_get_int(job->zero, scale_at) : 0;
      number = (double)(tensor_get_int(job->x, at) - zero);
    }
    double scale = tensor_get(job->scale, scale_at);
    if (job->kind == NUMBER_F64) {
      double y = number * scale;
      numbers_store(job->y->dtype, job->y->data, at, 1, NUMBER_F64, &y);
    } else {
      float y = float_round_to(job->rounded, (float)number) * (float)scale;
      numbers_store(job->y->dtype, job->y->data, at, 1, NUMBER_F32, &y);
    }
  }
}

assay_status run_dequantize_linear(struct op_run *run) {
  struct quantize_job job = {
      .x = run->inputs[0], .scale = run->inputs[1], .zero = run_input(run, 2), .y = run->outputs[0]};
  TRY(scale_layout_of(run->node, job.x, job.scale, job.zero, &job.layout));
  assay_dtype told = dequantized_dtype(run->node, job.scale->dtype);
  assay_dtype dtype = told == ASSAY_FLOAT32 && job.y->dtype == ASSAY_FLOAT64 ? ASSAY_FLOAT64 : told;
  TRY(output_become(run, 0, dtype, job.x->dims, job.x->rank));
  job.kind = job.scale->dtype == ASSAY_FLOAT64 ? NUMBER_F64 : NUMBER_F32;
  bool narrow = job.scale->dtype == ASSAY_FLOAT16 || job.scale->dtype == ASSAY_BFLOAT16;
  job.rounded = narrow ? job.scale->dtype : ASSAY_FLOAT32;
  pool_for(run->pool, tensor_count(job.x), 16384, dequantize_rows, &job);
  return status_ok();
}

/* --- DynamicQuantizeLinear -------------------------------------------------------- */

assay_status infer_dynamic_quantize(struct infer *infer) {
  TRY(infer_want_counts(infer, 1, 1, 3, 3));
  TRY(infer_want(infer, 0, 0, ASSAY_RANK_MAX));
  infer_set_like(infer, 0, 0, ASSAY_UINT8);
  infer_set(infer, 1, infer->inputs[0]->type.dtype, 0, NULL);
  infer_set(infer, 2, ASSAY_UINT8, 0, NULL);
  return status_ok();
}

/* Step by step as ONNX's function body: range widened to hold 0, scale by division, zero point rounded half to even. A
 * range of nothing but 0 gets the scale 1, which the body leaves undefined. */
#define DYNAMIC_RANGE(type, name, one)                                                        \
  static int32_t name(const struct kernels *kernels, const type *x, int64_t n, type *scale) { \
    type low = 0, high = 0;                                                                   \
    int32_t zero;                                                                             \
    for (int64_t i = 0; i < n; i++) {                                                         \
      low = x[i] < low ? x[i] : low;                                                          \
      high = x[i] > high ? x[i] : high;                                                       \
    }                                                                                         \
    *scale = high == low ? (type)1 : (high - low) / (type)255;                                \
    type place = (type)0 - low / *scale;                                                      \
    kernels->one(&place, &zero, 1);                                                           \
    return zero < 0 ? 0 : zero > 255 ? 255 : zero;                                            \
  }
DYNAMIC_RANGE(float, f32_dynamic_range, f32_round_integer)
DYNAMIC_RANGE(double, f64_dynamic_range, f64_round_integer)

assay_status run_dynamic_quantize(struct op_run *run) {
  const assay_tensor *x = run->inputs[0];
  int64_t n = tensor_count(x);
  bool wide = x->dtype == ASSAY_FLOAT64;
  float scale32;
  double scale64;
  int32_t zero = wide ? f64_dynamic_range(run->kernels, x->data, n, &scale64)
                      : f32_dynamic_range(run->kernels, x->data, n, &scale32);
  uint8_t zero_byte = (uint8_t)zero;
  assay_tensor scale = {.dtype = x->dtype, .data = wide ? (void *)&scale64 : &scale32, .bytes = wide ? 8 : 4};
  assay_tensor zero_point = {.dtype = ASSAY_UINT8, .data = &zero_byte, .bytes = 1};
  TRY(output_become(run, 0, ASSAY_UINT8, x->dims, x->rank));
  struct quantize_job job = {.kernels = run->kernels,
                             .x = x,
                             .scale = &scale,
                             .zero = &zero_point,
                             .y = run->outputs[0],
                             .layout = {.outer = 1, .size = 1, .inner = n, .block = 1, .one = true},
                             .kind = wide ? NUMBER_F64 : NUMBER_F32,
                             .rounded = ASSAY_FLOAT32,
                             .high = 255};
  pool_for(run->pool, n, 64 * CHUNK, quantize_rows, &job);
  if (run->outputs[1] != NULL) {
    TRY(output_become(run, 1, x->dtype, NULL, 0));
    memcpy(run->outputs[1]->data, scale.data, scale.bytes);
  }
  if (run->outputs[2] != NULL) {
    TRY(output_become(run, 2, ASSAY_UINT8, NULL, 0));
    *(uint8_t *)run->outputs[2]->data = zero_byte;
  }
  return status_ok();
}
