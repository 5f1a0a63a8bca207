/* What the guard answers to an action: a decision like any other. A case may state it; then the
 * reference must get it, and a rung that changes it is rejected. */
#ifndef GATE_GUARD_CHECK_H
#define GATE_GUARD_CHECK_H

#include "gate/plan.h"
#include "gate/result.h"

/* The recorded answer of a case that states the guard's: another one is INVALID_GOLDEN, and so is a statement
 * that is neither `accept` nor one of the guard's codes. */
ASSAY_MUST_CHECK assay_status guard_check_golden(const struct plan *plan, const struct fed_case *fed,
                                                 const struct answer *answer, struct arena *arena,
                                                 struct gate_reasons *reasons);
/* A rung's answer to such a case: GUARD_FLIP when the guard would answer it otherwise than stated. */
ASSAY_MUST_CHECK assay_status guard_check_rung(const struct plan *plan, const struct fed_case *fed,
                                               const struct answer *answer, struct arena *arena,
                                               struct gate_reasons *reasons);

#endif
