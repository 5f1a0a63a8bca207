/* An arena: many small allocations that end together with their object.
 * Not thread-safe. Memory is cleared and aligned to 16 bytes. */
#ifndef CORE_ARENA_H
#define CORE_ARENA_H

#include <stddef.h>

#include "core/status.h"

struct arena_block;
struct arena {
  struct arena_block *blocks; /* newest first */
  size_t used;                /* bytes handed out */
  size_t limit;               /* bytes that may be handed out; 0 for no limit */
};

/* A zeroed struct arena is a valid, empty arena without a limit. */
void arena_free(struct arena *arena);

/* NULL when memory is not to be had, the size overflows, or the limit is
 * reached; callers turn that into status_no_memory. */
void *arena_alloc(struct arena *arena, size_t count, size_t size);
/* Copies; the result ends with a zero byte. NULL as above. */
char *arena_copy(struct arena *arena, const char *text, size_t length);
char *arena_string(struct arena *arena, const char *text);
char *arena_format(struct arena *arena, const char *format, ...) PRINTF_LIKE(2, 3);
char *arena_format_va(struct arena *arena, const char *format, va_list arguments);

/* A new array of `count` elements in the arena, or return from the caller
 * with OUT_OF_MEMORY. */
#define ARENA_NEW(arena, pointer, count)                                  \
  do {                                                                    \
    (pointer) = arena_alloc((arena), (size_t)(count), sizeof *(pointer)); \
    if ((pointer) == NULL) {                                              \
      return status_no_memory((size_t)(count) * sizeof *(pointer));       \
    }                                                                     \
  } while (0)

#endif
