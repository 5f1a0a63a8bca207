/* Room in a list that grows by doubling: one element more. For lists in a block of their own, not in an arena. */
#ifndef CORE_LIST_H
#define CORE_LIST_H

#include <stdint.h>

#include "core/memory.h"
#include "core/status.h"

/* On failure *list and *capacity stay as they are. What is new is not cleared; end with memory_free. `most`: the
 * capacity beyond which doubling would not fit the type that the list counts in. */
ASSAY_MUST_CHECK static inline assay_status list_grow(void **list, size_t count, size_t *capacity, size_t size,
                                                      size_t most) {
  if (count < *capacity) {
    return status_ok();
  }
  if (*capacity > most) {
    return status_make(ASSAY_LIMIT_EXCEEDED, NULL, "a list of more than %zu elements", most);
  }
  size_t more = *capacity == 0 ? 16 : *capacity * 2;
  void *bigger = memory_resize(*list, more, size);
  if (bigger == NULL) {
    return status_no_memory(more * size);
  }
  *list = bigger;
  *capacity = more;
  return status_ok();
}

/* Makes room for list[count], or returns the failure from the caller. `count` and `capacity` are int32_t or size_t. */
#define LIST_ROOM(list, count, capacity)                                               \
  do {                                                                                 \
    void *grown_ = (list);                                                             \
    size_t capacity_ = (size_t)(capacity);                                             \
    size_t most_ = sizeof(capacity) == sizeof(int32_t) ? INT32_MAX / 2 : SIZE_MAX / 2; \
    TRY(list_grow(&grown_, (size_t)(count), &capacity_, sizeof *(list), most_));       \
    (list) = grown_;                                                                   \
    (capacity) = (__typeof__(capacity))capacity_;                                      \
  } while (0)

#endif
