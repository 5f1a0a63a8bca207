/* Tensors kept between calls: see held.h. It moves bytes and computes nothing. */
#include "rung/held.h"

#include <string.h>

#include "core/memory.h"

static assay_status hold_shape(struct held *held, const assay_tensor *like, const int64_t *dims, int32_t rank,
                               size_t bytes) {
  if (bytes > held->capacity || held->bytes == NULL) {
    void *larger = memory_alloc_aligned(bytes > 0 ? bytes : 1);
    if (larger == NULL) {
      return status_no_memory(bytes);
    }
    memory_free(held->bytes);
    held->bytes = larger;
    held->capacity = bytes;
  }
  held->tensor = *like;
  memset(held->tensor.dims, 0, sizeof held->tensor.dims);
  for (int32_t d = 0; d < rank; d++) {
    held->tensor.dims[d] = dims[d];
  }
  held->tensor.rank = rank;
  held->tensor.bytes = bytes;
  held->tensor.data = held->bytes;
  held->there = true;
  return status_ok();
}

assay_status held_copy(struct held *held, const assay_tensor *tensor, const char *name) {
  if (tensor->dtype == ASSAY_STRING) {
    return status_make(ASSAY_RUNG_FAILED, name, "'%s' holds strings, which are not handed from stage to stage", name);
  }
  TRY(hold_shape(held, tensor, tensor->dims, tensor->rank, tensor->bytes));
  if (tensor->bytes > 0) {
    memcpy(held->bytes, tensor->data, tensor->bytes);
  }
  return status_ok();
}

assay_status held_widen(struct held *held, const assay_tensor *tensor) {
  int64_t count = tensor_count(tensor);
  size_t bytes;
  if (!size_mul((size_t)count, sizeof(double), &bytes)) {
    return status_no_memory((size_t)count);
  }
  TRY(hold_shape(held, tensor, tensor->dims, tensor->rank, bytes));
  held->tensor.dtype = ASSAY_FLOAT64;
  for (int64_t i = 0; i < count; i++) {
    tensor_set(&held->tensor, i, tensor_get(tensor, i));
  }
  return status_ok();
}

assay_status held_join(const struct contract_stage *stage, const struct held *parts, int32_t count, const char *name,
                       struct held *out) {
  const assay_tensor *first = &parts[0].tensor;
  int32_t axis = stage->join_axis, rank = first->rank + (stage->join == STAGE_STACK ? 1 : 0);
  int64_t dims[ASSAY_RANK_MAX], along = 0;
  size_t outer = 1, inner = assay_dtype_bits(first->dtype) / 8, total = 0;
  if (inner == 0 || axis >= rank || rank > ASSAY_RANK_MAX) {
    return status_make(ASSAY_RUNG_FAILED, name, "'%s' cannot be joined: %s along axis %d", name,
                       assay_dtype_name(first->dtype), (int)axis);
  }
  for (int32_t p = 0; p < count; p++) {
    const assay_tensor *part = &parts[p].tensor;
    bool fits = parts[p].there && part->dtype == first->dtype && part->rank == first->rank;
    for (int32_t d = 0; fits && d < first->rank; d++) {
      fits = part->dims[d] == first->dims[d] || (stage->join == STAGE_CONCAT && d == axis);
    }
    if (!fits) {
      return status_make(ASSAY_RUNG_FAILED, name, "what for_each gives for '%s' differs in shape and cannot be joined",
                         name);
    }
    along += stage->join == STAGE_STACK ? 1 : part->dims[axis];
    total += part->bytes;
  }
  for (int32_t d = 0, from = 0; d < rank; d++) {
    dims[d] = stage->join == STAGE_STACK && d == axis ? 1 : first->dims[from++];
    outer *= d < axis ? (size_t)dims[d] : 1;
  }
  dims[axis] = along;
  TRY(hold_shape(out, first, dims, rank, total));
  char *to = out->bytes;
  for (size_t o = 0; o < outer; o++) {
    for (int32_t p = 0; p < count; p++) {
      size_t row = parts[p].tensor.bytes / outer;
      if (row > 0) {
        memcpy(to, (const char *)parts[p].tensor.data + o * row, row);
        to += row;
      }
    }
  }
  return status_ok();
}

void held_free(struct held *held, int32_t count) {
  for (int32_t i = 0; held != NULL && i < count; i++) {
    memory_free(held[i].bytes);
  }
}
