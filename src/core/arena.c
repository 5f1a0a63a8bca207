/* Arenas. Blocks grow with use, so that small objects stay small and large
 * ones need few blocks; nothing is ever moved. */
#include "core/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"

enum { ALIGNMENT = 16, FIRST_BLOCK = 1024, LARGEST_BLOCK = 1 << 20 };

struct arena_block {
  struct arena_block *next;
  size_t size, used;
  _Alignas(ALIGNMENT) unsigned char data[];
};

void arena_free(struct arena *arena) {
  struct arena_block *block = arena->blocks;
  while (block != NULL) {
    struct arena_block *next = block->next;
    memory_free(block);
    block = next;
  }
  arena->blocks = NULL;
  arena->used = 0;
}

static struct arena_block *add_block(struct arena *arena, size_t at_least) {
  size_t size = arena->blocks == NULL ? FIRST_BLOCK : arena->blocks->size * 2;
  size = size > LARGEST_BLOCK ? LARGEST_BLOCK : size;
  size = size < at_least ? at_least : size;
  size_t bytes;
  if (!size_add(size, sizeof(struct arena_block), &bytes)) {
    return NULL;
  }
  struct arena_block *block = memory_alloc(1, bytes);
  if (block != NULL) {
    block->size = size;
    block->next = arena->blocks;
    arena->blocks = block;
  }
  return block;
}

void *arena_alloc(struct arena *arena, size_t count, size_t size) {
  size_t bytes, total;
  if (!size_mul(count, size, &bytes) || !size_add(bytes, ALIGNMENT, &bytes)) {
    return NULL;
  }
  bytes &= ~(size_t)(ALIGNMENT - 1); /* at least one byte, so that no two answers are equal */
  if (!size_add(arena->used, bytes, &total) || (arena->limit != 0 && total > arena->limit)) {
    return NULL;
  }
  struct arena_block *block = arena->blocks;
  if (block == NULL || block->size - block->used < bytes) {
    block = add_block(arena, bytes);
    if (block == NULL) {
      return NULL;
    }
  }
  void *result = block->data + block->used;
  block->used += bytes;
  arena->used = total;
  return result;
}

char *arena_copy(struct arena *arena, const char *text, size_t length) {
  char *copy = length == SIZE_MAX ? NULL : arena_alloc(arena, length + 1, 1);
  if (copy != NULL && length > 0) {
    memcpy(copy, text, length);
  }
  return copy;
}

char *arena_string(struct arena *arena, const char *text) { return arena_copy(arena, text, strlen(text)); }

char *arena_format_va(struct arena *arena, const char *format, va_list arguments) {
  va_list measured;
  va_copy(measured, arguments);
  int length = vsnprintf(NULL, 0, format, measured);
  va_end(measured);
  char *result = length < 0 ? NULL : arena_alloc(arena, (size_t)length + 1, 1);
  if (result != NULL) {
    vsnprintf(result, (size_t)length + 1, format, arguments);
  }
  return result;
}

char *arena_format(struct arena *arena, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *result = arena_format_va(arena, format, arguments);
  va_end(arguments);
  return result;
}
