/* The guard's answers of a rung: counts, flips, and answers that hang on a margin below the drift. A flip is a REJECT
 * however small the error. */
#ifndef GATE_ASSEMBLE_GUARD_H
#define GATE_ASSEMBLE_GUARD_H

#include "gate/assemble.h"
#include "gate/guard_check.h"

/* Fills in rung->guard and adds a GUARD_FLIP for each case in which an answer changed. `rung->components` are still in
 * the order of the plan. */
ASSAY_MUST_CHECK assay_status assemble_guard(const struct guard_list *list, struct rung_result *rung,
                                             struct arena *arena);
/* Golden cases whose answer lies within the reference's noise floor of another: GOLDEN_UNDECIDABLE. */
ASSAY_MUST_CHECK assay_status guard_judge_reference(const struct guard_list *list, const struct noise_floors *floors,
                                                    struct arena *arena, struct gate_reasons *reasons);

/* The reference's answer to each step, for grouping errors by it. */
struct guard_answers {
  size_t n;
  const struct guard_step **steps; /* by case and step */
};
ASSAY_MUST_CHECK assay_status guard_answers_make(const struct guard_list *list, struct arena *arena,
                                                 struct guard_answers *out);
/* False where the guard was not asked. `step` -1: the case is no sequence. */
bool guard_answer_at(const struct guard_answers *answers, int32_t case_index, int32_t step, assay_code *out);

#endif
