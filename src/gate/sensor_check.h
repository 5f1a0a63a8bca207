/* The sensors of a case, raw/<sensor>, by themselves: what a clip would hide from the check of the observation, and
 * what nobody would look at. */
#ifndef GATE_SENSOR_CHECK_H
#define GATE_SENSOR_CHECK_H

#include "gate/plan.h"
#include "gate/result.h"

/* The sensors of terms at one step must be finite: INPUT_NAN, INPUT_INF in *refusal, with sensor, element and step. */
ASSAY_MUST_CHECK assay_status sensor_check_step(const struct contract *contract, const struct corpus_case *entry,
                                                const struct case_data *data, int64_t step, assay_status *refusal);
/* Arrays raw/<sensor> that no input and no term of the contract is made from: INVALID_GOLDEN, with the nearest name. */
ASSAY_MUST_CHECK assay_status sensor_check_names(const struct plan *plan, const struct fed_case *fed,
                                                 struct arena *arena, struct gate_reasons *reasons);

#endif
