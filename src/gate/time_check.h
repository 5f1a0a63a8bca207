/* Inputs and the clock: what a case feeds at one step, held against the contract and against the steps before. */
#ifndef GATE_TIME_CHECK_H
#define GATE_TIME_CHECK_H

#include "contract/freshness.h"
#include "gate/plan.h"
#include "gate/result.h"

/* The refusal that one step's inputs get, those that take the steps before among them: INPUT_BACKWARDS, INPUT_FROZEN.
 * `watches`: one for each input of the contract, zeroed before the first step. */
ASSAY_MUST_CHECK assay_status time_check_step(const struct contract *contract, const struct corpus_case *entry,
                                              int64_t step, const struct fed_inputs *inputs,
                                              struct input_watch *watches, struct arena *scratch,
                                              assay_status *refusal);
/* Ages, times and monitors of names that the contract does not have, which nobody would check: INVALID_GOLDEN. */
ASSAY_MUST_CHECK assay_status time_check_names(const struct plan *plan, const struct fed_case *fed, struct arena *arena,
                                               struct gate_reasons *reasons);

#endif
