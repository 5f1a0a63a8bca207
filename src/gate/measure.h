/* Answers turned into figures: outputs matched by name, decoded, compared element
 * by element, decisions taken on both sides. Verdicts are judge.c's. */
#ifndef GATE_MEASURE_H
#define GATE_MEASURE_H

#include "gate/guard_check.h"
#include "gate/plan.h"
#include "gate/result.h"

/* Pairs of one component so far. */
struct pair_list {
  struct drift_pair *items;
  size_t count, capacity;
};
struct component_pairs {
  struct pair_list raw, physical;           /* of what the robot executes */
  struct pair_list rest_raw, rest_physical; /* of the steps it does not */
  double deviation[2];                      /* how far the two sides are from a rotation, where one is compared */
};

/* One decision taken on both sides. */
struct decision_taken {
  int32_t case_index, step;
  int64_t element;
  struct decided expected, actual;
  bool flipped;
};
struct decision_list {
  const struct plan_output *output;
  int32_t component; /* index within the output; -1: over the output */
  const struct decision *decision;
  struct decision_taken *items;
  size_t count, capacity;
};

struct detection_list;
struct measure {
  const struct plan *plan;
  struct component_pairs *components; /* plan->n_components */
  struct decision_list *decisions;
  int32_t n_decisions;
  struct guard_list guard;
  struct detection_list *detections; /* gate/detection_list.h */
  int32_t n_detections;
  const char **types; /* per output: "float32[1,3]" of the first answer; in the arena */
  struct arena arena;
};

ASSAY_MUST_CHECK assay_status measure_open(const struct plan *plan, struct measure **out);
void measure_close(struct measure *measure); /* NULL is harmless */

/* Compares one case. What does not match structurally becomes a reason; what matches is measured.
 * `wide`: either side computes in fp64, so that its float64 stands for the contract's float32. */
ASSAY_MUST_CHECK assay_status measure_case(struct measure *measure, const struct fed_case *fed,
                                           const struct answer *expected, const struct answer *actual, bool wide,
                                           struct arena *arena, struct gate_reasons *reasons);

/* The largest difference per component between two answers to the same case, raw and physical;
 * each array has n_components. What NaN or infinity both sides share is no difference; another structure is
 * an infinite one; an output that `a` lacks is left out. Figures are raised, never lowered. */
ASSAY_MUST_CHECK assay_status measure_noise(const struct plan *plan, const struct fed_case *fed, const struct answer *a,
                                            const struct answer *b, double *raw, double *physical);

/* What a raw difference of the component is multiplied by on its way to physical units. */
double component_factor(const struct contract_component *component);
/* Drift of a list of pairs; saturation is that of the physical list. */
ASSAY_MUST_CHECK assay_status measure_both(const struct contract_output *output,
                                           const struct contract_component *component,
                                           const struct tolerance *tolerance, const struct pair_list *raw,
                                           const struct pair_list *physical, struct space_drift *out);

#endif
