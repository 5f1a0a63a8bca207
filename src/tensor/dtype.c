/* The table of element types. The numbers are ONNX's; nothing else may number
 * them differently. */
#include <string.h>

#include "core/memory.h"
#include "tensor/tensor.h"

enum dtype_class { CLASS_OTHER, CLASS_FLOAT, CLASS_SIGNED, CLASS_UNSIGNED };

static const struct dtype_row {
  const char *name;
  size_t bits;
  enum dtype_class class;
} rows[ASSAY_DTYPE_COUNT] = {
    [ASSAY_UNDEFINED] = {"undefined", 0, CLASS_OTHER},
    [ASSAY_FLOAT32] = {"float32", 32, CLASS_FLOAT},
    [ASSAY_UINT8] = {"uint8", 8, CLASS_UNSIGNED},
    [ASSAY_INT8] = {"int8", 8, CLASS_SIGNED},
    [ASSAY_UINT16] = {"uint16", 16, CLASS_UNSIGNED},
    [ASSAY_INT16] = {"int16", 16, CLASS_SIGNED},
    [ASSAY_INT32] = {"int32", 32, CLASS_SIGNED},
    [ASSAY_INT64] = {"int64", 64, CLASS_SIGNED},
    [ASSAY_STRING] = {"string", 8 * sizeof(assay_text), CLASS_OTHER},
    [ASSAY_BOOL] = {"bool", 8, CLASS_OTHER},
    [ASSAY_FLOAT16] = {"float16", 16, CLASS_FLOAT},
    [ASSAY_FLOAT64] = {"float64", 64, CLASS_FLOAT},
    [ASSAY_UINT32] = {"uint32", 32, CLASS_UNSIGNED},
    [ASSAY_UINT64] = {"uint64", 64, CLASS_UNSIGNED},
    [ASSAY_COMPLEX64] = {"complex64", 64, CLASS_OTHER},
    [ASSAY_COMPLEX128] = {"complex128", 128, CLASS_OTHER},
    [ASSAY_BFLOAT16] = {"bfloat16", 16, CLASS_FLOAT},
    [ASSAY_FLOAT8E4M3FN] = {"float8e4m3fn", 8, CLASS_FLOAT},
    [ASSAY_FLOAT8E4M3FNUZ] = {"float8e4m3fnuz", 8, CLASS_FLOAT},
    [ASSAY_FLOAT8E5M2] = {"float8e5m2", 8, CLASS_FLOAT},
    [ASSAY_FLOAT8E5M2FNUZ] = {"float8e5m2fnuz", 8, CLASS_FLOAT},
    [ASSAY_UINT4] = {"uint4", 4, CLASS_UNSIGNED},
    [ASSAY_INT4] = {"int4", 4, CLASS_SIGNED},
    [ASSAY_FLOAT4E2M1] = {"float4e2m1", 4, CLASS_FLOAT},
    [ASSAY_FLOAT8E8M0] = {"float8e8m0", 8, CLASS_FLOAT},
    [ASSAY_UINT2] = {"uint2", 2, CLASS_UNSIGNED},
    [ASSAY_INT2] = {"int2", 2, CLASS_SIGNED},
};

static const struct dtype_row *row_of(assay_dtype dtype) {
  return (unsigned)dtype < ASSAY_DTYPE_COUNT ? &rows[dtype] : &rows[ASSAY_UNDEFINED];
}

const char *assay_dtype_name(assay_dtype dtype) { return row_of(dtype)->name; }
size_t assay_dtype_bits(assay_dtype dtype) { return row_of(dtype)->bits; }

assay_dtype assay_dtype_find(const char *name) {
  for (int i = ASSAY_UNDEFINED + 1; i < ASSAY_DTYPE_COUNT; i++) {
    if (strcmp(rows[i].name, name) == 0) {
      return (assay_dtype)i;
    }
  }
  return ASSAY_UNDEFINED;
}

bool dtype_is_float(assay_dtype dtype) { return row_of(dtype)->class == CLASS_FLOAT; }

bool dtype_is_integer(assay_dtype dtype) {
  return row_of(dtype)->class == CLASS_SIGNED || row_of(dtype)->class == CLASS_UNSIGNED;
}

bool dtype_is_signed(assay_dtype dtype) {
  return row_of(dtype)->class == CLASS_SIGNED || row_of(dtype)->class == CLASS_FLOAT;
}

bool dtype_bytes(assay_dtype dtype, int64_t count, size_t *bytes) {
  size_t bits = assay_dtype_bits(dtype);
  if (bits == 0 || count < 0 || (uint64_t)count > SIZE_MAX) {
    return false;
  }
  if (bits >= 8) {
    return size_mul((size_t)count, bits / 8, bytes);
  }
  size_t per_byte = 8 / bits;
  *bytes = (size_t)count / per_byte + ((size_t)count % per_byte != 0);
  return true;
}
