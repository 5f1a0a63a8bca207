/* Shapes, and tensors as owners of memory. A size is never computed unchecked. */
#include "tensor/tensor.h"

#include <inttypes.h>
#include <string.h>

#include "core/memory.h"

bool shape_count(const int64_t *dims, int rank, int64_t *count) {
  int64_t product = 1;
  bool empty = false;
  for (int i = 0; i < rank; i++) {
    if (dims[i] < 0) {
      return false;
    }
    if (dims[i] == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(product, dims[i], &product)) {
      return false;
    }
  }
  *count = empty ? 0 : product;
  return true;
}

bool shape_equal(const assay_tensor *a, const assay_tensor *b) {
  if (a->rank != b->rank) {
    return false;
  }
  for (int i = 0; i < a->rank; i++) {
    if (a->dims[i] != b->dims[i]) {
      return false;
    }
  }
  return true;
}

void shape_describe(const int64_t *dims, int rank, struct text *out) {
  text_add_char(out, '[');
  for (int i = 0; i < rank; i++) {
    text_format(out, "%s%" PRId64, i > 0 ? "," : "", dims[i]);
  }
  text_add_char(out, ']');
}

void tensor_describe(const assay_tensor *tensor, struct text *out) {
  text_add(out, assay_dtype_name(tensor->dtype));
  shape_describe(tensor->dims, tensor->rank, out);
}

int64_t tensor_count(const assay_tensor *tensor) {
  int64_t count = 1;
  for (int i = 0; i < tensor->rank; i++) {
    count *= tensor->dims[i];
  }
  return count;
}

/* Everything but the data. */
static assay_status set_shape(assay_dtype dtype, const int64_t *dims, int rank, assay_tensor *out) {
  *out = (assay_tensor){.dtype = dtype, .rank = rank};
  int64_t count;
  if (rank < 0 || rank > ASSAY_RANK_MAX || !shape_count(dims, rank, &count) ||
      !dtype_bytes(dtype, count, &out->bytes)) {
    *out = (assay_tensor){0};
    return status_make(ASSAY_LIMIT_EXCEEDED, NULL,
                       "a tensor of type %s with %d dimensions has a negative or unrepresentable size; "
                       "at most %d dimensions and sizes below 2^63 are possible",
                       assay_dtype_name(dtype), rank, ASSAY_RANK_MAX);
  }
  if (rank > 0) {
    memcpy(out->dims, dims, (size_t)rank * sizeof *dims);
  }
  return status_ok();
}

assay_status tensor_new(assay_dtype dtype, const int64_t *dims, int rank, assay_tensor *out) {
  TRY(set_shape(dtype, dims, rank, out));
  out->data = memory_alloc_aligned(out->bytes);
  if (out->data == NULL) {
    size_t bytes = out->bytes;
    *out = (assay_tensor){0};
    return status_no_memory(bytes);
  }
  return status_ok();
}

assay_status tensor_new_in(struct arena *arena, assay_dtype dtype, const int64_t *dims, int rank, assay_tensor *out) {
  TRY(set_shape(dtype, dims, rank, out));
  out->data = arena_alloc(arena, out->bytes, 1);
  if (out->data == NULL) {
    size_t bytes = out->bytes;
    *out = (assay_tensor){0};
    return status_no_memory(bytes);
  }
  return status_ok();
}

/* One block: the array of elements, then all their bytes. */
static assay_status copy_strings(const assay_tensor *from, assay_tensor *out) {
  const assay_text *source = from->data;
  size_t count = (size_t)tensor_count(from), total = from->bytes;
  for (size_t i = 0; i < count; i++) {
    if (!size_add(total, source[i].length, &total)) {
      return status_no_memory(SIZE_MAX);
    }
  }
  assay_text *elements = memory_alloc_aligned(total);
  if (elements == NULL) {
    return status_no_memory(total);
  }
  char *bytes = (char *)(elements + count);
  for (size_t i = 0; i < count; i++) {
    elements[i] = (assay_text){bytes, source[i].length};
    if (source[i].length > 0) {
      memcpy(bytes, source[i].data, source[i].length);
    }
    bytes += source[i].length;
  }
  *out = *from;
  out->data = elements;
  return status_ok();
}

assay_status tensor_copy(const assay_tensor *from, assay_tensor *out) {
  if (from->dtype == ASSAY_STRING) {
    *out = (assay_tensor){0};
    return copy_strings(from, out);
  }
  TRY(tensor_new(from->dtype, from->dims, from->rank, out));
  if (out->bytes > 0) {
    memcpy(out->data, from->data, out->bytes);
  }
  return status_ok();
}

void tensor_free(assay_tensor *tensor) {
  memory_free(tensor->data);
  *tensor = (assay_tensor){0};
}
