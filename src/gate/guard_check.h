/* What the guard answers to every step of every case, on both sides: a decision like any other. A case may state it;
 * then the reference must get it. A rung that changes it is rejected (assemble_guard.h). The checks are the contract's.
 */
#ifndef GATE_GUARD_CHECK_H
#define GATE_GUARD_CHECK_H

#include "contract/checks.h"
#include "gate/plan.h"
#include "gate/result.h"

/* One step answered on both sides. */
struct guard_step {
  int32_t case_index, step; /* step -1: the case is no sequence */
  bool stated;              /* the case states it */
  assay_code expected, actual;
  const char *expected_sentence, *actual_sentence; /* of refusals, where the two differ; else NULL */
  const struct action_margin *margins;             /* of the reference, of each limited component */
};

struct guard_list {
  const struct plan *plan;
  struct arena *arena;
  int32_t n_outputs, n_limited; /* outputs that the guard looks at, and components with limits */
  const struct contract_output **outputs;
  const int32_t *limited; /* indices of the plan's components */
  bool guards;            /* the contract gives the guard something: limits, ages or monitors */
  struct guard_step *items;
  size_t count, capacity;
};
/* Lists what the guard looks at. Items grow in memory of their own. */
ASSAY_MUST_CHECK assay_status guard_list_open(const struct plan *plan, struct arena *arena, struct guard_list *out);
void guard_list_close(struct guard_list *list);
/* Takes one case up, both sides whole. `wide`: a side computes in fp64, so that its float64 stands for float32. */
ASSAY_MUST_CHECK assay_status guard_list_case(struct guard_list *list, const struct fed_case *fed,
                                              const struct answer *expected, const struct answer *actual, bool wide);

/* The reference's answer to a case that states the guard's: another one is INVALID_GOLDEN. `who` answered. */
ASSAY_MUST_CHECK assay_status guard_check_golden(const struct plan *plan, const struct fed_case *fed,
                                                 const struct answer *answer, bool wide, const char *who,
                                                 struct arena *arena, struct gate_reasons *reasons);

#endif
