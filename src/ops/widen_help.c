/* Operands of 8 bits with zero points, made into integers of 32 bits. */
#include "ops/widen_help.h"

struct matrices matrices_of(const int64_t *dims, int rank, bool column) {
  if (rank == 1) {
    return column ? (struct matrices){1, dims[0], 1} : (struct matrices){1, 1, dims[0]};
  }
  struct matrices of = {1, dims[rank - 2], dims[rank - 1]};
  for (int i = 0; i < rank - 2; i++) {
    of.count *= dims[i];
  }
  return of;
}

static int64_t quanta(const struct matrices *of, enum quantum_axis axis) {
  return axis == QUANTUM_ROWS ? of->rows : of->columns;
}

/* Which of `n` numbers belongs to a row or column of a matrix: the only one, the one of that row (column), or the one
 * of that row of that matrix. */
static int64_t quantum_index(int64_t n, const struct matrices *of, enum quantum_axis axis, int64_t matrix, int64_t at) {
  return n == 1 ? 0 : n == quanta(of, axis) ? at : matrix * quanta(of, axis) + at;
}

assay_status quantum_check(const char *what, int64_t n, const struct matrices *of, enum quantum_axis axis) {
  int64_t one = quanta(of, axis);
  if (n == 1 || n == one || n == one * of->count) {
    return status_ok();
  }
  return status_make(ASSAY_SHAPE_CONFLICT, NULL, "%s has %lld elements, expected 1 or one for each of %lld %s", what,
                     (long long)n, (long long)one, axis == QUANTUM_ROWS ? "rows" : "columns");
}

static int32_t byte_at(const assay_tensor *tensor, int64_t i) {
  return tensor->dtype == ASSAY_INT8 ? ((const int8_t *)tensor->data)[i] : ((const uint8_t *)tensor->data)[i];
}

static void widen_run(const struct kernels *kernels, const assay_tensor *values, int64_t from, int64_t n, int32_t zero,
                      uint32_t *y) {
  if (values->dtype == ASSAY_INT8) {
    kernels->i8_widen((const int8_t *)values->data + from, zero, y, n);
  } else {
    kernels->u8_widen((const uint8_t *)values->data + from, zero, y, n);
  }
}

void widen(const struct kernels *kernels, const assay_tensor *values, const struct matrices *of,
           const assay_tensor *zero, enum quantum_axis axis, uint32_t *y) {
  int64_t n = zero == NULL ? 1 : tensor_count(zero), all = of->count * of->rows * of->columns;
  if (n == 1) {
    widen_run(kernels, values, 0, all, zero == NULL ? 0 : byte_at(zero, 0), y);
    return;
  }
  for (int64_t row = 0; row < of->count * of->rows; row++) {
    int64_t matrix = row / of->rows, from = row * of->columns;
    if (axis == QUANTUM_ROWS) {
      int32_t z = byte_at(zero, quantum_index(n, of, axis, matrix, row % of->rows));
      widen_run(kernels, values, from, of->columns, z, y + from);
      continue;
    }
    for (int64_t column = 0; column < of->columns; column++) {
      int32_t z = byte_at(zero, quantum_index(n, of, axis, matrix, column));
      y[from + column] = (uint32_t)(byte_at(values, from + column) - z);
    }
  }
}

static bool is_byte(assay_dtype dtype) {
  return dtype == ASSAY_INT8 || dtype == ASSAY_UINT8 || dtype == ASSAY_UNDEFINED;
}

assay_status infer_want_bytes(const struct infer *infer, int32_t i, int32_t zero) {
  const struct infer_value *value = infer_input(infer, i);
  if (value != NULL && !is_byte(value->type.dtype)) {
    return status_make(ASSAY_TYPE_CONFLICT, NULL, "input %d is %s, expected int8 or uint8", (int)i,
                       assay_dtype_name(value->type.dtype));
  }
  return infer_want_same_dtype(infer, i, zero);
}
