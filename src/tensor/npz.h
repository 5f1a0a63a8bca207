/* NumPy's .npz: a zip archive of .npy files, through libzip. The number of
 * entries, each entry's size and the whole decoded size are bounded, and an
 * entry's name never becomes a path. */
#ifndef TENSOR_NPZ_H
#define TENSOR_NPZ_H

#include <stddef.h>

#include "tensor/tensor.h"

struct npz; /* an open archive; one thread at a time */

ASSAY_MUST_CHECK assay_status npz_open(const char *path, struct npz **out);
void npz_close(struct npz *npz);
size_t npz_count(const struct npz *npz);
/* Name of entry i without ".npy" ("inputs/obs"); sorted by bytes; valid until
 * close. Two entries of one name are an error at open. */
const char *npz_name(const struct npz *npz, size_t i);
/* Index of that name, or npz_count when there is none. */
size_t npz_find(const struct npz *npz, const char *name);
/* Reads entry i; the caller ends it with tensor_free. */
ASSAY_MUST_CHECK assay_status npz_read(struct npz *npz, size_t i, assay_tensor *out);

struct npz_entry {
  const char *name;
  const assay_tensor *tensor;
};
/* Writes entries in the order given, uncompressed, with fixed dates: same
 * arrays, same bytes. Replaces `path` atomically. */
ASSAY_MUST_CHECK assay_status npz_write(const char *path, const struct npz_entry *entries, size_t count);

#endif
