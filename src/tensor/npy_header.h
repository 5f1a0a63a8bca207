/* The header of a .npy file, parsed. Shared by npy.c alone. */
#ifndef TENSOR_NPY_HEADER_H
#define TENSOR_NPY_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensor/tensor.h"

struct npy_header {
  assay_dtype dtype; /* STRING for both kinds of fixed-length strings */
  size_t item;       /* bytes of one element in the file */
  size_t swap;       /* width of what has to be byte-swapped; 0 for nothing */
  bool wide;         /* a string of UTF-32 code points rather than bytes */
  bool fortran;
  int rank;
  int64_t dims[ASSAY_RANK_MAX];
  size_t data_offset; /* where the elements begin */
};

/* Parses magic, version and dictionary. On failure *why is a phrase, such as
 * "it is cut short", that completes "the array is refused because". */
bool npy_header_parse(const uint8_t *bytes, size_t size, struct npy_header *out, const char **why);

#endif
