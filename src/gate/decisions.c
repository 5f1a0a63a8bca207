/* Decisions: see decisions.h. It must never call a decision that hangs on a NaN
 * equal to another. */
#include "gate/decisions.h"

#include <math.h>

#include "contract/apply.h"

double decided_reach(const struct decision *decision, const struct decided *decided) {
  return decision->kind == DECISION_THRESHOLD ? decided->margin : decided->margin / 2;
}

/* The side that `value` asks for with the threshold moved by `shift`. */
static bool is_beyond(const struct decision *decision, double value, double shift, assay_dtype dtype) {
  struct decision moved = *decision;
  moved.threshold = decision->threshold + shift;
  return decision_is_positive(&moved, value, dtype);
}

void decide_threshold(const struct decision *decision, const double *values, size_t n, assay_dtype dtype,
                      struct decided *out) {
  bool positive = false, started = false;
  int32_t asking = 0, needed = decision->consecutive > 1 ? decision->consecutive : 1;
  for (size_t i = 0; i < n; i++) {
    out[i] = (struct decided){.answer = -1, .value = values[i], .margin = 0.0};
    if (isnan(values[i])) {
      asking = 0;
      continue;
    }
    double shift = started ? (positive ? -decision->hysteresis : decision->hysteresis) : 0.0;
    bool side = is_beyond(decision, values[i], shift, dtype);
    if (!started) {
      positive = side;
      started = true;
    } else if (side != positive) {
      asking++;
    } else {
      asking = 0;
    }
    if (asking >= needed) {
      positive = side;
      asking = 0;
    }
    out[i].answer = positive ? 1 : 0;
    out[i].margin = fabs(values[i] - (decision->threshold + shift));
  }
}

/* Does index a stand before index b? Larger first, or smaller when ascending;
 * the lower index of equals. */
static bool stands_before(const double *values, bool ascending, int32_t a, int32_t b) {
  if (values[a] != values[b]) {
    return ascending ? values[a] < values[b] : values[a] > values[b];
  }
  return a < b;
}

/* Insertion sort: n is small, and equal values keep the order of their indices. */
static void sort_indices(const double *values, bool ascending, size_t n, int32_t *order) {
  for (size_t i = 0; i < n; i++) {
    size_t place = i;
    while (place > 0 && stands_before(values, ascending, (int32_t)i, order[place - 1])) {
      order[place] = order[place - 1];
      place--;
    }
    order[place] = (int32_t)i;
  }
}

static void sort_ascending(int32_t *indices, size_t n) {
  for (size_t i = 1; i < n; i++) {
    int32_t moving = indices[i];
    size_t place = i;
    while (place > 0 && indices[place - 1] > moving) {
      indices[place] = indices[place - 1];
      place--;
    }
    indices[place] = moving;
  }
}

assay_status decide_among(const struct decision *decision, const double *values, size_t n, int32_t *chosen,
                          size_t *n_chosen, struct decided *out) {
  *n_chosen = 0;
  *out = (struct decided){.answer = -1, .value = NAN, .margin = 0.0};
  if (n > DECISION_ITEMS_MAX) {
    return status_make(ASSAY_LIMIT_EXCEEDED, NULL, "a decision among %zu values; at most %d are supported", n,
                       DECISION_ITEMS_MAX);
  }
  for (size_t i = 0; i < n; i++) {
    if (isnan(values[i])) {
      return status_ok();
    }
  }
  if (n == 0) {
    return status_ok();
  }
  int32_t order[DECISION_ITEMS_MAX];
  bool ascending = decision->kind == DECISION_ORDER && decision->ascending;
  sort_indices(values, ascending, n, order);
  size_t kept = decision->kind == DECISION_ARGMAX ? 1 : decision->kind == DECISION_TOPK ? (size_t)decision->k : n;
  kept = kept > n ? n : kept;
  /* argmax and topk hang on the gap behind the last one kept, an order on every gap. */
  size_t first = decision->kind == DECISION_ORDER ? 0 : kept - 1,
         last = decision->kind == DECISION_ORDER ? n - 1 : kept;
  out->margin = INFINITY;
  out->value = values[order[0]];
  for (size_t i = first; i < last && i + 1 < n; i++) {
    double above = values[order[i]], below = values[order[i + 1]];
    double gap = above == below ? 0.0 : fabs(above - below);
    if (gap < out->margin) {
      out->margin = gap;
      out->value = above;
    }
  }
  for (size_t i = 0; i < kept; i++) {
    chosen[i] = order[i];
  }
  if (decision->kind == DECISION_TOPK) {
    sort_ascending(chosen, kept);
  }
  *n_chosen = kept;
  out->answer = chosen[0];
  return status_ok();
}

const char *decision_describe(const struct decision *decision, struct arena *arena) {
  switch (decision->kind) {
    case DECISION_THRESHOLD:
      return arena_format(arena, "%s %s %.9g", decision->label_positive != NULL ? decision->label_positive : "positive",
                          decision->at_or_above ? "at or above" : "above", decision->threshold);
    case DECISION_ARGMAX:
      return arena_format(arena, "argmax over axis %d", (int)decision->axis);
    case DECISION_TOPK:
      return arena_format(arena, "top %d over axis %d", (int)decision->k, (int)decision->axis);
    case DECISION_ORDER:
      return arena_format(arena, "%s order over axis %d", decision->ascending ? "ascending" : "descending",
                          (int)decision->axis);
  }
  return NULL;
}
