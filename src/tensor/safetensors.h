/* Safetensors files, as huggingface/safetensors documents the format: the length of a JSON header (8 bytes, little
 * endian), the header, then the values of all tensors without a gap. The header's size and depth, every
 * offset and every shape is checked before it is believed; values are read when they are asked for. */
#ifndef TENSOR_SAFETENSORS_H
#define TENSOR_SAFETENSORS_H

#include <stddef.h>

#include "tensor/tensor.h"

struct safetensors; /* an open file; one thread at a time */

ASSAY_MUST_CHECK assay_status safetensors_open(const char *path, struct safetensors **out);
void safetensors_close(struct safetensors *file); /* NULL is harmless */

struct safetensors_entry {
  const char *name;
  assay_dtype dtype;
  int32_t rank;
  int64_t dims[ASSAY_RANK_MAX];
  uint64_t offset; /* from the start of the file */
  size_t bytes;
};
/* Entries sorted by the bytes of their names; valid until close. */
size_t safetensors_count(const struct safetensors *file);
const struct safetensors_entry *safetensors_entry_at(const struct safetensors *file, size_t i);
/* Index of that name, or safetensors_count when there is none. */
size_t safetensors_find(const struct safetensors *file, const char *name);
/* Reads entry i; the caller ends it with tensor_free. */
ASSAY_MUST_CHECK assay_status safetensors_read(struct safetensors *file, size_t i, assay_tensor *out);
/* A text of `__metadata__`; NULL when there is none of that key. Valid until close. */
const char *safetensors_metadata(const struct safetensors *file, const char *key);

#endif
