/* NumPy's .npy, format versions 1.0 to 3.0 as numpy.lib.format documents it.
 * Reads C and Fortran order, either byte order, bool, integers, floats,
 * complex, and fixed-length byte and unicode strings; refuses objects
 * and structured types. Everything read is checked against its size. */
#ifndef TENSOR_NPY_H
#define TENSOR_NPY_H

#include <stddef.h>

#include "core/text.h"
#include "tensor/tensor.h"

/* `where` names the source in messages. The tensor is owned by the caller
 * (tensor_free). */
ASSAY_MUST_CHECK assay_status npy_parse(const void *bytes, size_t size, const char *where, assay_tensor *out);
ASSAY_MUST_CHECK assay_status npy_read(const char *path, assay_tensor *out);
/* Version 1.0, little-endian, C order. Types that NumPy lacks are written as
 * unsigned bits (bfloat16 as uint16, float8 as uint8, packed int4 unpacked to
 * one uint8 an element). Same tensor, same bytes. */
ASSAY_MUST_CHECK assay_status npy_format(const assay_tensor *tensor, struct text *out);
ASSAY_MUST_CHECK assay_status npy_write(const char *path, const assay_tensor *tensor);

#endif
