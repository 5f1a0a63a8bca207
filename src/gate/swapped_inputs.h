/* Whether two inputs of a rejected rung look swapped. A hint never changes a verdict. */
#ifndef GATE_SWAPPED_INPUTS_H
#define GATE_SWAPPED_INPUTS_H

#include "gate/pass.h"

/* Runs all cases again with each pair of like inputs exchanged, and adds LOOKS_LIKE when one pair reproduces every
 * case. `reference` has the answers to compare with, one a valid case; NULL: those that the corpus recorded. */
ASSAY_MUST_CHECK assay_status hints_of_inputs(struct plan *plan, const struct rung_request *request,
                                              const struct answer *reference, struct arena *arena,
                                              struct gate_reasons *reasons);

#endif
