/* The memory plan: steps are walked in time; a new block takes the smallest hole that holds it, and
 * the bytes of dead ones become holes, merged with their neighbours. Must never let two living
 * blocks touch. */
#include "engine/memory_plan.h"

#include <string.h>

#include "core/memory.h"

struct hole {
  size_t offset, bytes;
};

/* Holes sorted by offset; there are never more than blocks + 1. */
struct planner {
  struct memory_block *blocks;
  struct hole *holes;
  int32_t n_holes;
  int32_t *first_ending; /* per step: a block that ends there, or -1 */
  int32_t *next_ending;  /* per block */
  size_t top;
};

static void remove_hole(struct planner *planner, int32_t at) {
  planner->n_holes--;
  memmove(planner->holes + at, planner->holes + at + 1, (size_t)(planner->n_holes - at) * sizeof *planner->holes);
}

static void free_bytes(struct planner *planner, size_t offset, size_t bytes) {
  int32_t at = 0;
  while (at < planner->n_holes && planner->holes[at].offset < offset) {
    at++;
  }
  struct hole *holes = planner->holes;
  bool joins_before = at > 0 && holes[at - 1].offset + holes[at - 1].bytes == offset;
  bool joins_after = at < planner->n_holes && offset + bytes == holes[at].offset;
  if (joins_before && joins_after) {
    holes[at - 1].bytes += bytes + holes[at].bytes;
    remove_hole(planner, at);
  } else if (joins_before) {
    holes[at - 1].bytes += bytes;
  } else if (joins_after) {
    holes[at].offset = offset;
    holes[at].bytes += bytes;
  } else {
    memmove(holes + at + 1, holes + at, (size_t)(planner->n_holes - at) * sizeof *holes);
    holes[at] = (struct hole){offset, bytes};
    planner->n_holes++;
  }
}

/* The smallest hole that holds `bytes`, or -1. */
static int32_t best_hole(const struct planner *planner, size_t bytes) {
  int32_t best = -1;
  for (int32_t i = 0; i < planner->n_holes; i++) {
    size_t size = planner->holes[i].bytes;
    if (size >= bytes && (best < 0 || size < planner->holes[best].bytes)) {
      best = i;
    }
  }
  return best;
}

/* False when the arena would overflow size_t. */
static bool place(struct planner *planner, struct memory_block *block, size_t bytes) {
  int32_t at = best_hole(planner, bytes);
  if (at >= 0) {
    struct hole *hole = &planner->holes[at];
    block->offset = hole->offset;
    hole->offset += bytes;
    hole->bytes -= bytes;
    if (hole->bytes == 0) {
      remove_hole(planner, at);
    }
    return true;
  }
  int32_t last = planner->n_holes - 1;
  if (last >= 0 && planner->holes[last].offset + planner->holes[last].bytes == planner->top) {
    planner->top = planner->holes[last].offset; /* the hole at the end grows */
    planner->n_holes--;
  }
  block->offset = planner->top;
  return size_add(planner->top, bytes, &planner->top);
}

/* At least one unit, so that two empty blocks still differ; false on overflow. */
static bool rounded_bytes(size_t bytes, size_t *out) {
  if (!size_add(bytes == 0 ? 1 : bytes, MEMORY_ALIGNMENT - 1, out)) {
    return false;
  }
  *out &= ~(size_t)(MEMORY_ALIGNMENT - 1);
  return true;
}

static void end_step(struct planner *planner, int32_t step) {
  for (int32_t i = planner->first_ending[step]; i >= 0; i = planner->next_ending[i]) {
    size_t bytes = 0;
    if (rounded_bytes(planner->blocks[i].bytes, &bytes)) {
      free_bytes(planner, planner->blocks[i].offset, bytes);
    }
  }
}

static assay_status run_planner(struct planner *planner, int32_t n, int32_t n_steps, bool reuse) {
  int32_t next = 0;
  size_t peak = 0;
  for (int32_t step = 0; step < n_steps; step++) {
    planner->first_ending[step] = -1;
  }
  for (int32_t step = 0; step < n_steps; step++) {
    for (; next < n && planner->blocks[next].begin <= step; next++) {
      struct memory_block *block = &planner->blocks[next];
      size_t bytes;
      if (!rounded_bytes(block->bytes, &bytes) || !place(planner, block, bytes)) {
        return status_make(ASSAY_LIMIT_EXCEEDED, NULL, "the values of the graph take more bytes than can be counted");
      }
      planner->next_ending[next] = planner->first_ending[block->end];
      planner->first_ending[block->end] = next;
      peak = planner->top > peak ? planner->top : peak;
    }
    if (reuse) {
      end_step(planner, step);
    }
  }
  planner->top = peak;
  return status_ok();
}

assay_status memory_plan(struct memory_block *blocks, int32_t n, int32_t n_steps, bool reuse, size_t *total) {
  struct planner planner = {.blocks = blocks};
  planner.holes = memory_alloc((size_t)n + 2, sizeof *planner.holes);
  planner.first_ending = memory_alloc((size_t)n_steps + 1, sizeof *planner.first_ending);
  planner.next_ending = memory_alloc((size_t)n + 1, sizeof *planner.next_ending);
  assay_status status;
  if (planner.holes == NULL || planner.first_ending == NULL || planner.next_ending == NULL) {
    status = status_no_memory((size_t)n * sizeof *planner.holes);
  } else {
    status = run_planner(&planner, n, n_steps, reuse);
  }
  *total = planner.top;
  memory_free(planner.holes);
  memory_free(planner.first_ending);
  memory_free(planner.next_ending);
  return status;
}
