/* The cases of a gate, looked at one by one before any rung runs. What is unfit is a reason, never left out in silence.
 */
#ifndef GATE_CHECK_CASES_H
#define GATE_CHECK_CASES_H

#include "gate/gate.h"

/* Fills the result's cases and invalid cases, and adds what makes a case unfit to its reasons. */
ASSAY_MUST_CHECK assay_status check_cases(const struct gate_work *work, struct plan *plan, struct gate_result *result);

#endif
