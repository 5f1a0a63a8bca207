/* Making, sizing and reading tensors inside assay. Nothing here knows ONNX
 * operators or files. Functions on distinct tensors are thread-safe. */
#ifndef TENSOR_TENSOR_H
#define TENSOR_TENSOR_H

#include <stdbool.h>

#include "assay/tensor.h"
#include "core/arena.h"
#include "core/status.h"
#include "core/text.h"

/* Number of elements of a shape: false on a negative dimension or overflow. */
bool shape_count(const int64_t *dims, int rank, int64_t *count);
/* Bytes that `count` elements take, packed types rounded up; false on overflow. */
bool dtype_bytes(assay_dtype dtype, int64_t count, size_t *bytes);
bool shape_equal(const assay_tensor *a, const assay_tensor *b);
/* Appends "float32[1,3,96,96]" / "[1,3,96,96]". */
void tensor_describe(const assay_tensor *tensor, struct text *out);
void shape_describe(const int64_t *dims, int rank, struct text *out);

/* Elements of a valid tensor (its dims were checked when it was made). */
int64_t tensor_count(const assay_tensor *tensor);
/* A cleared tensor whose data the caller frees with tensor_free. */
ASSAY_MUST_CHECK assay_status tensor_new(assay_dtype dtype, const int64_t *dims, int rank, assay_tensor *out);
/* The same with data in an arena; never tensor_free it. */
ASSAY_MUST_CHECK assay_status tensor_new_in(struct arena *arena, assay_dtype dtype, const int64_t *dims, int rank,
                                            assay_tensor *out);
/* An owned copy (string elements are copied into one block with the array). */
ASSAY_MUST_CHECK assay_status tensor_copy(const assay_tensor *from, assay_tensor *out);
void tensor_free(assay_tensor *tensor); /* zeroes it; harmless twice */

bool dtype_is_float(assay_dtype dtype);   /* fp64 down to fp4, bf16 */
bool dtype_is_integer(assay_dtype dtype); /* signed and unsigned, also 4 and 2 bits; not bool */
bool dtype_is_signed(assay_dtype dtype);

/* Element i as a double (exact but for 64-bit integers beyond 2^53); bool is 0
 * or 1. Not for strings and complex. Slow: for reports, statistics, small
 * tensors. */
double tensor_get(const assay_tensor *tensor, int64_t i);
/* Rounds half to even into floats; integers saturate after rounding half to
 * even; NaN into an integer is 0. */
void tensor_set(assay_tensor *tensor, int64_t i, double value);
/* Element i of an integer or bool tensor. */
int64_t tensor_get_int(const assay_tensor *tensor, int64_t i);
/* The whole tensor as doubles, as tensor_get. out has tensor_count elements. */
void tensor_to_double(const assay_tensor *tensor, double *out);

#endif
