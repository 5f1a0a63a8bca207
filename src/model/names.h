/* An index from names to numbers, in an arena. Hashing is keyed anew for each
 * index, so that no file can be made whose names all collide. */
#ifndef MODEL_NAMES_H
#define MODEL_NAMES_H

#include <stdint.h>

#include "core/arena.h"
#include "core/status.h"

struct name_slot {
  const char *name; /* NULL: free */
  uint32_t hash;
  int32_t number;
};

struct name_index {
  struct arena *arena;
  struct name_slot *slots;
  uint32_t capacity; /* a power of two, or 0 */
  uint32_t count;
  uint8_t key[16];
};

void names_begin(struct name_index *index, struct arena *arena);
/* The number of that name, or -1. */
int32_t names_find(const struct name_index *index, const char *name);
/* The slot's number of that name for changing, or NULL; valid until the next names_add. */
int32_t *names_at(struct name_index *index, const char *name);
/* Adds a name that is not there yet; `name` must live as long as the index. */
ASSAY_MUST_CHECK assay_status names_add(struct name_index *index, const char *name, int32_t number);

#endif
