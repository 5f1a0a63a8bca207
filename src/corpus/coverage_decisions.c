/* Which answers a corpus makes its decisions give. A threshold that only ever falls on one side, an argmax
 * that never changes, tests nothing. */
#include <math.h>
#include <stdlib.h>

#include "contract/apply.h"
#include "core/memory.h"
#include "corpus/coverage_watch.h"

assay_status decision_watch_begin(struct decision_watch *watch, struct arena *arena) {
  watch->seen.nearest = (double)NAN;
  ARENA_NEW(arena, watch->answers, COVERAGE_ANSWERS_MAX);
  return status_ok();
}

static void note_answer(struct decision_watch *watch, uint64_t answer) {
  watch->seen.n++;
  for (int64_t i = 0; i < watch->seen.n_answers; i++) {
    if (watch->answers[i] == answer) {
      return;
    }
  }
  if (watch->seen.n_answers < COVERAGE_ANSWERS_MAX) {
    watch->answers[watch->seen.n_answers++] = answer;
  }
}

void decision_watch_threshold(struct decision_watch *watch, double value, assay_dtype dtype) {
  if (isnan(value)) {
    return; /* decides nothing; the gate refuses such a golden answer */
  }
  bool positive = decision_is_positive(watch->seen.decision, value, dtype);
  double distance = fabs(value - watch->seen.decision->threshold);
  watch->seen.n_positive += positive;
  watch->seen.nearest = distance < watch->seen.nearest || isnan(watch->seen.nearest) ? distance : watch->seen.nearest;
  note_answer(watch, positive);
}

struct ranked {
  double value;
  int64_t index;
};

static int compare_ascending(const void *a, const void *b) {
  const struct ranked *x = a, *y = b;
  if (x->value != y->value) {
    return x->value < y->value ? -1 : 1;
  }
  return (x->index > y->index) - (x->index < y->index); /* ties take the lowest index */
}

static int compare_descending(const void *a, const void *b) {
  const struct ranked *x = a, *y = b;
  if (x->value != y->value) {
    return x->value > y->value ? -1 : 1;
  }
  return (x->index > y->index) - (x->index < y->index);
}

static int compare_indices(const void *a, const void *b) {
  const struct ranked *x = a, *y = b;
  return (x->index > y->index) - (x->index < y->index);
}

/* FNV-1a over the chosen indices. */
static uint64_t key_of(const struct ranked *chosen, int64_t n) {
  uint64_t key = UINT64_C(0xcbf29ce484222325);
  for (int64_t i = 0; i < n; i++) {
    uint64_t index = (uint64_t)chosen[i].index;
    for (int byte = 0; byte < 8; byte++) {
      key = (key ^ (index >> (8 * byte) & 0xFF)) * UINT64_C(0x100000001b3);
    }
  }
  return key;
}

assay_status decision_watch_slice(struct decision_watch *watch, const double *values, int64_t n, int64_t stride) {
  const struct decision *decision = watch->seen.decision;
  if (n == 0) {
    return status_ok();
  }
  struct ranked *ranked = memory_alloc((size_t)n, sizeof *ranked);
  if (ranked == NULL) {
    return status_no_memory((size_t)n * sizeof *ranked);
  }
  for (int64_t i = 0; i < n; i++) {
    ranked[i] = (struct ranked){values[i * stride], i};
    if (isnan(ranked[i].value)) {
      memory_free(ranked);
      return status_ok();
    }
  }
  bool ascending = decision->kind == DECISION_ORDER && decision->ascending;
  qsort(ranked, (size_t)n, sizeof *ranked, ascending ? compare_ascending : compare_descending);
  int64_t chosen = decision->kind == DECISION_ARGMAX ? 1 : decision->kind == DECISION_TOPK ? decision->k : n;
  chosen = chosen > n ? n : chosen;
  if (decision->kind == DECISION_TOPK) {
    qsort(ranked, (size_t)chosen, sizeof *ranked, compare_indices);
  }
  note_answer(watch, key_of(ranked, chosen));
  memory_free(ranked);
  return status_ok();
}
