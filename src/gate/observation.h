/* The observation that a case stores against the one that its terms make of the sensors and answers it stores too. A
 * difference is the contract's or the capture's, never a rung's. */
#ifndef GATE_OBSERVATION_H
#define GATE_OBSERVATION_H

#include "contract/observe.h"
#include "gate/golden.h"

/* One input of one case, with everything that its observation is made of. */
struct observation_case {
  const struct plan *plan;
  const struct fed_case *fed;
  const struct contract_input *input;
  const assay_tensor *recorded; /* inputs/<input> of the case */
};

/* Where the two differ. */
struct observation_difference {
  int64_t n;        /* elements of all steps that differ */
  int64_t step, at; /* the first one: step of the case, element of the observation */
  double expected, made, allowed;
  int64_t n_known; /* elements that could be compared */
  bool *differs;   /* [size of the observation], in any step; NULL when the caller does not ask */
};
/* Compares with the observation as `terms` say it. `to_the_end` false: stops at the first step that differs. */
ASSAY_MUST_CHECK assay_status observation_compare(const struct observation_case *the,
                                                  const struct contract_terms *terms, bool to_the_end,
                                                  struct observation_difference *out);

/* Every input of the case that has terms and is stored: OBSERVATION_DRIFT, with the first difference. */
ASSAY_MUST_CHECK assay_status golden_check_observations(const struct plan *plan, const struct fed_case *fed,
                                                        struct arena *arena, struct gate_reasons *reasons);

/* Adds "; ..." for every hypothesis that explains the whole difference: with it, no element differs. Adds nothing when
 * none does. */
ASSAY_MUST_CHECK assay_status observation_explain(const struct observation_case *the,
                                                  const struct observation_difference *difference, struct text *out);

#endif
