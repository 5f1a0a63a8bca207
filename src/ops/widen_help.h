/* Operands of 8 bits with zero points, made into integers of 32 bits for the exact products of MatMulInteger,
 * ConvInteger and their relatives. */
#ifndef OPS_WIDEN_HELP_H
#define OPS_WIDEN_HELP_H

#include "ops/dot.h"

/* What the numbers of a zero point or a scale belong to. */
enum quantum_axis { QUANTUM_ROWS, QUANTUM_COLUMNS };

/* `matrices` matrices of rows x columns, one after the other. */
struct matrices {
  int64_t count, rows, columns;
};
/* The last two axes of a shape are the matrix; a vector is a row, or a column where `column` says so. */
struct matrices matrices_of(const int64_t *dims, int rank, bool column);

/* Whether n numbers fit the rows (columns): one for all, one for each, or one for each of every matrix; an error that
 * calls them `what` otherwise. */
ASSAY_MUST_CHECK assay_status quantum_check(const char *what, int64_t n, const struct matrices *of,
                                            enum quantum_axis axis);

/* y = values - zero; zero may be NULL. Both are int8 or uint8. */
void widen(const struct kernels *kernels, const assay_tensor *values, const struct matrices *of,
           const assay_tensor *zero, enum quantum_axis axis, uint32_t *y);

/* Inputs i and (where it is there) zero are int8 or uint8, of one type. */
ASSAY_MUST_CHECK assay_status infer_want_bytes(const struct infer *infer, int32_t i, int32_t zero);

#endif
