/* Room in the growing lists of corpus/: one element more, by doubling. */
#ifndef CORPUS_CORPUS_LIST_H
#define CORPUS_CORPUS_LIST_H

#include <stdint.h>

#include "core/memory.h"
#include "core/status.h"

ASSAY_MUST_CHECK static inline assay_status list_grow(void **list, int32_t count, int32_t *capacity, size_t size) {
  if (count < *capacity) {
    return status_ok();
  }
  if (*capacity > INT32_MAX / 2) {
    return status_make(ASSAY_LIMIT_EXCEEDED, NULL, "a list of more than %d elements", INT32_MAX / 2);
  }
  int32_t more = *capacity == 0 ? 16 : *capacity * 2;
  void *bigger = memory_resize(*list, (size_t)more, size);
  if (bigger == NULL) {
    return status_no_memory((size_t)more * size);
  }
  *list = bigger;
  *capacity = more;
  return status_ok();
}

/* Makes room for list[count], or returns the failure from the caller. */
#define LIST_ROOM(list, count, capacity)                           \
  do {                                                             \
    void *grown_ = (list);                                         \
    TRY(list_grow(&grown_, (count), &(capacity), sizeof *(list))); \
    (list) = grown_;                                               \
  } while (0)

#endif
