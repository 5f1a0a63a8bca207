/* Scratch memory of a run, and the budget that bounds a session. */
#include "engine/scratch.h"

#include <stdint.h>

#include "core/memory.h"

enum { ALIGNMENT = 64, SMALLEST_BLOCK = 1 << 16 };

struct scratch_block {
  struct scratch_block *next;
  size_t size, used;
  unsigned char *data; /* aligned, behind this header */
};

assay_status budget_take(struct budget *budget, size_t bytes, const char *what) {
  size_t total;
  if (!size_add(budget->used, bytes, &total) || total > budget->limit) {
    return status_make(ASSAY_LIMIT_EXCEEDED, NULL,
                       "%s needs %zu bytes more, and the session already holds %zu of the %zu that it may; raise its "
                       "limit of memory or use smaller inputs",
                       what, bytes, budget->used, budget->limit);
  }
  budget->used = total;
  return status_ok();
}

void budget_give(struct budget *budget, size_t bytes) { budget->used -= bytes; }

static assay_status add_block(struct scratch *scratch, size_t at_least) {
  size_t size = at_least < SMALLEST_BLOCK ? SMALLEST_BLOCK : at_least;
  size_t bytes;
  if (!size_add(size, sizeof(struct scratch_block) + ALIGNMENT, &bytes)) {
    return status_no_memory(SIZE_MAX);
  }
  TRY(budget_take(scratch->budget, size, "a value whose shape depends on data"));
  struct scratch_block *block = memory_alloc(1, bytes);
  if (block == NULL) {
    budget_give(scratch->budget, size);
    return status_no_memory(bytes);
  }
  uintptr_t start = (uintptr_t)(block + 1);
  block->data = (unsigned char *)(block + 1) + ((ALIGNMENT - start % ALIGNMENT) % ALIGNMENT);
  block->size = size;
  block->next = scratch->blocks;
  scratch->blocks = block;
  return status_ok();
}

assay_status scratch_take(struct scratch *scratch, size_t bytes, void **out) {
  size_t rounded;
  if (!size_add(bytes == 0 ? 1 : bytes, ALIGNMENT - 1, &rounded)) {
    return status_no_memory(SIZE_MAX);
  }
  rounded &= ~(size_t)(ALIGNMENT - 1);
  struct scratch_block *block = scratch->blocks;
  if (block == NULL || block->size - block->used < rounded) {
    TRY(add_block(scratch, rounded));
    block = scratch->blocks;
  }
  *out = block->data + block->used;
  block->used += rounded;
  return status_ok();
}

void scratch_free(struct scratch *scratch) {
  while (scratch->blocks != NULL) {
    struct scratch_block *next = scratch->blocks->next;
    budget_give(scratch->budget, scratch->blocks->size);
    memory_free(scratch->blocks);
    scratch->blocks = next;
  }
}

assay_status scratch_reset(struct scratch *scratch) {
  struct scratch_block *block = scratch->blocks;
  if (block == NULL) {
    return status_ok();
  }
  if (block->next == NULL) {
    block->used = 0;
    return status_ok();
  }
  size_t total = 0;
  for (; block != NULL; block = block->next) {
    total += block->size;
  }
  scratch_free(scratch);
  return add_block(scratch, total);
}
