/* Tensors: a dtype, a shape and a pointer to densely packed row-major values.
 *
 * Copyright the assay authors. SPDX-License-Identifier: Apache-2.0
 */
#ifndef ASSAY_TENSOR_H
#define ASSAY_TENSOR_H

#include <stddef.h>
#include <stdint.h>

#include "assay/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers are those of ONNX's TensorProto.DataType (IR version 14). */
typedef enum assay_dtype {
  ASSAY_UNDEFINED = 0,
  ASSAY_FLOAT32 = 1,
  ASSAY_UINT8 = 2,
  ASSAY_INT8 = 3,
  ASSAY_UINT16 = 4,
  ASSAY_INT16 = 5,
  ASSAY_INT32 = 6,
  ASSAY_INT64 = 7,
  ASSAY_STRING = 8,
  ASSAY_BOOL = 9,
  ASSAY_FLOAT16 = 10,
  ASSAY_FLOAT64 = 11,
  ASSAY_UINT32 = 12,
  ASSAY_UINT64 = 13,
  ASSAY_COMPLEX64 = 14,
  ASSAY_COMPLEX128 = 15,
  ASSAY_BFLOAT16 = 16,
  ASSAY_FLOAT8E4M3FN = 17,
  ASSAY_FLOAT8E4M3FNUZ = 18,
  ASSAY_FLOAT8E5M2 = 19,
  ASSAY_FLOAT8E5M2FNUZ = 20,
  ASSAY_UINT4 = 21,
  ASSAY_INT4 = 22,
  ASSAY_FLOAT4E2M1 = 23,
  ASSAY_FLOAT8E8M0 = 24,
  ASSAY_UINT2 = 25,
  ASSAY_INT2 = 26,
  ASSAY_DTYPE_COUNT
} assay_dtype;

enum { ASSAY_RANK_MAX = 16 };

/* A view or an owner; which of the two, whoever hands it out says. Values are
 * dense and row-major; 4-bit and 2-bit types are packed, low bits first, as
 * ONNX packs them. A string tensor's data are assay_text elements. A scalar
 * has rank 0. `bytes` is the size of data. data may be NULL when bytes is 0. */
typedef struct assay_tensor {
  assay_dtype dtype;
  int32_t rank;
  int64_t dims[ASSAY_RANK_MAX];
  void *data;
  size_t bytes;
} assay_tensor;

/* One element of a string tensor: bytes, not zero-terminated. */
typedef struct assay_text {
  const char *data;
  size_t length;
} assay_text;

/* "float32", "bfloat16", ...; "undefined" for anything else. */
ASSAY_API const char *assay_dtype_name(assay_dtype dtype);
/* The dtype of that name; ASSAY_UNDEFINED when there is none. */
ASSAY_API assay_dtype assay_dtype_find(const char *name);
/* Bits of one element: 32 for float32, 4 for int4; 0 for undefined. A string's
 * are those of the assay_text that stands for it. */
ASSAY_API size_t assay_dtype_bits(assay_dtype dtype);

#ifdef __cplusplus
}
#endif
#endif
