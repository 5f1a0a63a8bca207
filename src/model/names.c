/* Names to numbers, by open addressing. Must never depend on the hash for anything that
 * shows: the key differs from run to run. */
#include "model/names.h"

#include <sodium.h>
#include <string.h>

_Static_assert(sizeof((struct name_index *)0)->key == crypto_shorthash_KEYBYTES, "SipHash's key");

void names_begin(struct name_index *index, struct arena *arena) {
  *index = (struct name_index){.arena = arena};
  randombytes_buf(index->key, sizeof index->key);
}

static uint32_t hash_of(const struct name_index *index, const char *name) {
  uint8_t hash[crypto_shorthash_BYTES];
  crypto_shorthash(hash, (const uint8_t *)name, strlen(name), index->key);
  uint32_t result;
  memcpy(&result, hash, sizeof result);
  return result;
}

/* The slot that holds the name, or the free one where it belongs. */
static struct name_slot *slot_of(const struct name_index *index, const char *name, uint32_t hash) {
  uint32_t mask = index->capacity - 1, i = hash & mask;
  while (index->slots[i].name != NULL && (index->slots[i].hash != hash || strcmp(index->slots[i].name, name) != 0)) {
    i = (i + 1) & mask;
  }
  return &index->slots[i];
}

int32_t *names_at(struct name_index *index, const char *name) {
  if (index->capacity == 0) {
    return NULL;
  }
  struct name_slot *slot = slot_of(index, name, hash_of(index, name));
  return slot->name != NULL ? &slot->number : NULL;
}

int32_t names_find(const struct name_index *index, const char *name) {
  if (index->capacity == 0) {
    return -1;
  }
  const struct name_slot *slot = slot_of(index, name, hash_of(index, name));
  return slot->name != NULL ? slot->number : -1;
}

static assay_status grow(struct name_index *index) {
  struct name_index larger = *index;
  larger.capacity = index->capacity == 0 ? 16 : index->capacity * 2;
  ARENA_NEW(index->arena, larger.slots, larger.capacity);
  for (uint32_t i = 0; i < index->capacity; i++) {
    const struct name_slot *slot = &index->slots[i];
    if (slot->name != NULL) {
      *slot_of(&larger, slot->name, slot->hash) = *slot;
    }
  }
  *index = larger;
  return status_ok();
}

assay_status names_add(struct name_index *index, const char *name, int32_t number) {
  if (index->count + index->count / 2 >= index->capacity) {
    TRY(grow(index));
  }
  uint32_t hash = hash_of(index, name);
  *slot_of(index, name, hash) = (struct name_slot){name, hash, number};
  index->count++;
  return status_ok();
}
