/* The one door to malloc, with a switch for tests that makes any single
 * allocation fail. It must never hand out less than was asked for. */
#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

static int64_t fail_countdown = -1;
static int64_t asked;
static bool counting;

int64_t memory_fail_at(int64_t n) {
  int64_t before = asked;
  asked = 0;
  fail_countdown = n;
  counting = true;
  return before;
}

/* True when the test wants this allocation to fail. Costs one branch when no
 * test ever called memory_fail_at. */
static bool must_fail(void) {
  if (!counting) {
    return false;
  }
  asked++;
  return fail_countdown >= 0 && fail_countdown-- == 0;
}

void *memory_alloc(size_t count, size_t size) {
  size_t bytes;
  if (!size_mul(count, size, &bytes) || must_fail()) {
    return NULL;
  }
  return calloc(bytes == 0 ? 1 : bytes, 1);
}

void *memory_resize(void *block, size_t count, size_t size) {
  size_t bytes;
  if (!size_mul(count, size, &bytes) || must_fail()) {
    return NULL;
  }
  return realloc(block, bytes == 0 ? 1 : bytes);
}

void memory_free(void *block) { free(block); }

void *memory_alloc_aligned(size_t size) {
  size_t rounded;
  if (!size_add(size == 0 ? 1 : size, 63, &rounded) || must_fail()) {
    return NULL;
  }
  rounded &= ~(size_t)63;
  void *block = aligned_alloc(64, rounded);
  if (block != NULL) {
    memset(block, 0, rounded);
  }
  return block;
}
