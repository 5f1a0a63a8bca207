/* The rules of a verdict as pure functions: figures and tolerances in, reasons
 * out. What was not measured never passes; averages never decide alone. */
#ifndef GATE_JUDGE_H
#define GATE_JUDGE_H

#include "gate/result.h"

/* One finding about a component: the figure that decided and what it may be (NAN when there is none). */
struct judgement {
  assay_code code;
  double measured, allowed;
};
enum { JUDGEMENT_MAX = 8 };

/* Judges one component by its tolerance. `has_decision`: a decision of the
 * component or of its output stands in for a tolerance. Answers how many
 * judgements were written; 0 is a pass. */
int32_t judge_component(const struct tolerance *tolerance, bool has_decision, bool allow_inf, const struct drift *drift,
                        struct judgement out[JUDGEMENT_MAX]);

/* True when `changed` allows anything that `declared` does not. */
bool tolerance_is_looser(const struct tolerance *declared, const struct tolerance *changed);
/* The figure that self-noise is held against: max, or p99 where max is not declared; NAN without either. */
double tolerance_limit(const struct tolerance *tolerance);

/* Whether something that was handed in is wrong. */
bool has_input_fault(const struct gate_reasons *reasons);
/* The verdict that one reason of this code alone would give. */
enum verdict verdict_of_code(assay_code code);
/* REJECT before BLOCKED before PASS; but RUNG_INVALID and UNSTABLE_… void whatever the numbers say. */
enum verdict verdict_of_reasons(const struct gate_reasons *reasons);

/* Verdict and exit code of the whole gate, from its own reasons and its rungs'. */
void judge_gate(struct gate_result *result);

#endif
