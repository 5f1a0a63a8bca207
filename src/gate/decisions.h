/* Decisions: the discrete meaning of an output, evaluated on both sides and
 * compared. Pure functions over arrays. A decision taken from a NaN is never
 * the same as another; a flip is a flip however small the error. */
#ifndef GATE_DECISIONS_H
#define GATE_DECISIONS_H

#include "contract/contract.h"

/* One decision: which answer, and how far its values are from another answer.
 * For a threshold the answer is 1 (positive side) or 0 and the margin is the
 * distance to the threshold; for the others the answer numbers the choice and
 * the margin is the smallest gap that keeps it, which two values can close. */
struct decided {
  int64_t answer; /* -1: a NaN decides nothing */
  double value;   /* the value that came nearest to the edge */
  double margin;  /* 0 for a NaN */
};

/* How much one value must move for the answer to change: the margin, or half
 * of it where two values move towards each other. */
double decided_reach(const struct decision *decision, const struct decided *decided);

/* A threshold over `n` values in time order, with hysteresis and consecutive
 * where the contract has them; out has n elements. The side at the start is that
 * of the plain threshold. */
void decide_threshold(const struct decision *decision, const double *values, size_t n, assay_dtype dtype,
                      struct decided *out);

enum { DECISION_ITEMS_MAX = 4096 };
/* argmax, topk or order over `n` values along the decision's axis. `chosen`
 * receives the indices that the answer consists of (1 for argmax, k for topk,
 * ascending; n for order, in order); *n_chosen of them. Ties take the lowest index. */
ASSAY_MUST_CHECK assay_status decide_among(const struct decision *decision, const double *values, size_t n,
                                           int32_t *chosen, size_t *n_chosen, struct decided *out);

/* "argmax", "close at or above 0.5", ... for reports; in the arena, NULL without memory. */
const char *decision_describe(const struct decision *decision, struct arena *arena);

#endif
