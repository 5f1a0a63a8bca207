/* Allocation with checked sizes, and a switch by which tests make any one
 * allocation fail. All of assay allocates through these functions, so that
 * every failure of memory can be tested. */
#ifndef CORE_MEMORY_H
#define CORE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Like calloc/realloc/free. NULL when memory is not to be had or when
 * count * size overflows. memory_resize does not clear what is new. */
void *memory_alloc(size_t count, size_t size);
void *memory_resize(void *block, size_t count, size_t size);
void memory_free(void *block);
/* 64-byte aligned and cleared, for tensors; end with memory_free. */
void *memory_alloc_aligned(size_t size);

/* Test only: let the n-th allocation from now on fail (0-based); -1 for never.
 * Answers how many allocations have been asked for since the last call. Not
 * thread-safe. */
int64_t memory_fail_at(int64_t n);

/* *out = a * b or a + b; false on overflow. */
static inline bool size_mul(size_t a, size_t b, size_t *out) { return !__builtin_mul_overflow(a, b, out); }
static inline bool size_add(size_t a, size_t b, size_t *out) { return !__builtin_add_overflow(a, b, out); }

#endif
