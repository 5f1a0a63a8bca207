/* A tensor seen along one axis: rows of `length` elements that lie `inner` apart, `outer` * `inner` of them. */
#ifndef OPS_AXIS_ROWS_H
#define OPS_AXIS_ROWS_H

#include "tensor/tensor.h"

struct axis_rows {
  int64_t outer, length, inner;
};

static inline struct axis_rows axis_rows_of(const assay_tensor *x, int axis) {
  struct axis_rows rows = {1, 1, 1};
  for (int d = 0; d < x->rank; d++) {
    *(d < axis ? &rows.outer : (d == axis ? &rows.length : &rows.inner)) *= x->dims[d];
  }
  return rows;
}

/* Where row r starts; its elements follow at multiples of inner. */
static inline int64_t axis_row_start(const struct axis_rows *rows, int64_t r) {
  return r / rows->inner * rows->length * rows->inner + r % rows->inner;
}

#endif
