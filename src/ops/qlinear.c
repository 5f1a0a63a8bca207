/* QLinearMatMul and QLinearConv: exact integer sums, then a real number and quantised again: round(sum * (scale_a *
 * scale_b) / scale_y) half to even, plus the zero point, saturated. The factor is rounded once, and so are product and
 * quotient. Definitions: ONNX QLinearMatMul 10 and 21, QLinearConv 10. */
#include "ops/integer_dot.h"

enum { A, A_SCALE, A_ZERO, B, B_SCALE, B_ZERO, Y_SCALE, Y_ZERO, BIAS, CHUNK = 256 };

static const struct integer_operands operands = {.a = A, .b = B, .a_zero = A_ZERO, .b_zero = B_ZERO};

/* Whether input i, as far as known, is a float that scales may be. */
static assay_status check_scale(const struct infer *infer, int32_t i) {
  TRY(infer_want(infer, i, 0, ASSAY_RANK_MAX));
  assay_dtype dtype = infer->inputs[i]->type.dtype;
  if (dtype != ASSAY_UNDEFINED && (!dtype_is_float(dtype) || assay_dtype_bits(dtype) < 16)) {
    return status_make(ASSAY_TYPE_CONFLICT, NULL, "input %d is %s, expected a float type", (int)i,
                       assay_dtype_name(dtype));
  }
  return status_ok();
}

/* Input i has, as far as known, one element, or one for each of `many`. */
static assay_status check_count(const struct infer *infer, int32_t i, struct dim many) {
  int64_t dims[ASSAY_RANK_MAX], n;
  const struct infer_value *value = infer_input(infer, i);
  if (value == NULL || !type_dims(&value->type, dims) || !dim_known(many)) {
    return status_ok();
  }
  if (!shape_count(dims, value->type.rank, &n) || (n != 1 && n != many.value)) {
    return status_make(ASSAY_SHAPE_CONFLICT, NULL, "input %d has %lld elements, expected 1 or %lld", (int)i,
                       (long long)n, (long long)many.value);
  }
  return status_ok();
}

static assay_status check_types(const struct infer *infer) {
  const int32_t scales[] = {A_SCALE, B_SCALE, Y_SCALE};
  for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
    TRY(check_scale(infer, scales[i]));
  }
  TRY(infer_want(infer, Y_ZERO, 0, ASSAY_RANK_MAX));
  return infer_want_bytes(infer, Y_ZERO, Y_ZERO);
}

assay_status infer_qlinear_matmul(struct infer *infer) {
  TRY(infer_want_counts(infer, 8, 8, 1, 1));
  TRY(check_types(infer));
  TRY(matmul_integer_check(infer, &operands));
  const struct value_type *a = &infer->inputs[A]->type, *b = &infer->inputs[B]->type;
  struct dim rows = dim_unknown(), columns = dim_unknown();
  if (a->kind == TYPE_TENSOR && a->rank > 0) {
    rows = a->rank == 1 ? dim_of(1) : a->dims[a->rank - 2];
  }
  if (b->kind == TYPE_TENSOR && b->rank > 0) {
    columns = b->rank == 1 ? dim_of(1) : b->dims[b->rank - 1];
  }
  TRY(check_count(infer, A_SCALE, rows));
  TRY(check_count(infer, B_SCALE, columns));
  TRY(check_count(infer, Y_SCALE, rows));
  TRY(check_count(infer, Y_ZERO, rows));
  return dot_infer_matmul(infer, A, B, infer->inputs[Y_ZERO]->type.dtype);
}

assay_status infer_qlinear_conv(struct infer *infer) {
  TRY(infer_want_counts(infer, 8, 9, 1, 1));
  TRY(check_types(infer));
  TRY(conv_integer_check(infer, &operands));
  TRY(conv_infer_shape(infer, B, infer->inputs[Y_ZERO]->type.dtype));
  const struct value_type *w = &infer->inputs[B]->type;
  struct dim filters = w->kind == TYPE_TENSOR && w->rank > 0 ? w->dims[0] : dim_unknown();
  TRY(check_count(infer, A_SCALE, dim_of(1)));
  TRY(check_count(infer, B_SCALE, filters));
  TRY(check_count(infer, Y_SCALE, dim_of(1)));
  TRY(check_count(infer, Y_ZERO, dim_of(1)));
  const struct infer_value *bias = infer_input(infer, BIAS);
  struct dim both;
  if (bias == NULL) {
    return status_ok();
  }
  TRY(infer_want(infer, BIAS, 1, 1));
  if (bias->type.dtype != ASSAY_INT32 && bias->type.dtype != ASSAY_UNDEFINED) {
    return status_make(ASSAY_TYPE_CONFLICT, NULL, "the bias is %s, expected int32", assay_dtype_name(bias->type.dtype));
  }
  if (bias->type.kind == TYPE_TENSOR && bias->type.rank == 1 && !dim_merge(bias->type.dims[0], filters, &both)) {
    return status_make(ASSAY_SHAPE_CONFLICT, NULL, "the bias has %lld elements, expected %lld",
                       (long long)bias->type.dims[0].value, (long long)filters.value);
  }
  return status_ok();
}

assay_status prepare_qlinear_matmul(struct op_prepare *prepare) {
  return matmul_integer_prepare(prepare, &operands, true);
}

assay_status prepare_qlinear_conv(struct op_prepare *prepare) { return conv_integer_prepare(prepare, &operands, true); }

/* The i-th of a scale, or its only one. */
static float scale_at(const assay_tensor *scale, int64_t i) {
  return (float)tensor_get(scale, tensor_count(scale) == 1 ? 0 : i);
}
static int32_t zero_at(const assay_tensor *zero, int64_t i) {
  return (int32_t)tensor_get_int(zero, tensor_count(zero) == 1 ? 0 : i);
}

/* Row of the result: n sums, each with the factor left * right[j] (or right[0] when it has one element). */
struct quantised_row {
  const struct kernels *kernels;
  const int32_t *sums;
  int64_t n;
  uint32_t bias; /* added to each sum, modulo 2^32 */
  float left;
  const assay_tensor *right;
  int64_t right_begin, right_step;
  float scale;
  int32_t zero;
  assay_dtype dtype;
  uint8_t *y; /* int8 likewise */
};

static void quantise(const struct quantised_row *row) {
  float values[CHUNK];
  int32_t rounded[CHUNK], low = row->dtype == ASSAY_INT8 ? INT8_MIN : 0,
                          high = row->dtype == ASSAY_INT8 ? INT8_MAX : UINT8_MAX;
  for (int64_t begin = 0; begin < row->n; begin += CHUNK) {
    int64_t n = row->n - begin < CHUNK ? row->n - begin : CHUNK;
    for (int64_t j = 0; j < n; j++) {
      int32_t sum = (int32_t)((uint32_t)row->sums[begin + j] + row->bias);
      float factor = row->left * scale_at(row->right, row->right_begin + (begin + j) * row->right_step);
      values[j] = (float)sum * factor / row->scale;
    }
    row->kernels->f32_round_integer(values, rounded, n);
    for (int64_t j = 0; j < n; j++) {
      int32_t q = rounded[j] + row->zero;
      q = q < low ? low : q > high ? high : q;
      row->y[begin + j] = (uint8_t)q;
    }
  }
}

assay_status run_qlinear_matmul(struct op_run *run) {
  int32_t *sums = NULL;
  TRY(matmul_integer_run(run, &operands, &sums));
  const assay_tensor *a = run->inputs[A], *b = run->inputs[B], *y = run->outputs[0];
  int64_t rows = a->rank == 1 ? 1 : a->dims[a->rank - 2], columns = b->rank == 1 ? 1 : b->dims[b->rank - 1];
  int64_t all = columns == 0 ? 0 : tensor_count(y) / columns;
  for (int64_t row = 0; row < all; row++) {
    int64_t i = row % rows;
    struct quantised_row q = {.kernels = run->kernels,
                              .sums = sums + row * columns,
                              .n = columns,
                              .left = scale_at(run->inputs[A_SCALE], i),
                              .right = run->inputs[B_SCALE],
                              .right_step = 1,
                              .scale = scale_at(run->inputs[Y_SCALE], i),
                              .zero = zero_at(run->inputs[Y_ZERO], i),
                              .dtype = y->dtype,
                              .y = (uint8_t *)y->data + row * columns};
    quantise(&q);
  }
  return status_ok();
}

assay_status run_qlinear_conv(struct op_run *run) {
  int32_t *sums = NULL;
  TRY(conv_integer_run(run, &operands, &sums));
  const assay_tensor *y = run->outputs[0], *bias = run->node->n_inputs > BIAS ? run->inputs[BIAS] : NULL;
  int64_t filters = y->dims[1], planes = y->dims[0] * filters, area = planes == 0 ? 0 : tensor_count(y) / planes;
  for (int64_t plane = 0; plane < planes; plane++) {
    int64_t filter = plane % filters;
    struct quantised_row q = {.kernels = run->kernels,
                              .sums = sums + plane * area,
                              .n = area,
                              .bias = bias == NULL ? 0 : (uint32_t)((const int32_t *)bias->data)[filter],
                              .left = scale_at(run->inputs[A_SCALE], 0),
                              .right = run->inputs[B_SCALE],
                              .right_begin = filter,
                              .scale = scale_at(run->inputs[Y_SCALE], 0),
                              .zero = zero_at(run->inputs[Y_ZERO], 0),
                              .dtype = y->dtype,
                              .y = (uint8_t *)y->data + plane * area};
    quantise(&q);
  }
  return status_ok();
}
