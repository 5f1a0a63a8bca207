/* Offsets in one arena for blocks with known lifetimes: a block's bytes are used again once it is
 * dead. Pure arithmetic; nothing is allocated for the blocks themselves. */
#ifndef ENGINE_MEMORY_PLAN_H
#define ENGINE_MEMORY_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

enum { MEMORY_ALIGNMENT = 64 };

/* One block, alive from step `begin` to step `end`, both inclusive. */
struct memory_block {
  size_t bytes;
  int32_t begin, end;
  size_t offset; /* out: a multiple of MEMORY_ALIGNMENT */
};

/* Gives every block an offset; blocks come sorted by `begin`, steps are 0..n_steps-1. Two blocks
 * whose lives overlap never share a byte. *total is the size of the arena. Without `reuse` every block has its own
 * bytes. */
ASSAY_MUST_CHECK assay_status memory_plan(struct memory_block *blocks, int32_t n, int32_t n_steps, bool reuse,
                                          size_t *total);

#endif
