/* The rules of a verdict: see judge.h. It must never let something pass that
 * was not measured: every comparison is written so that a NaN fails it. */
#include "gate/judge.h"

#include <math.h>

/* True when the tolerance can decide: given, with max or p99. */
static bool tolerance_decides(const struct tolerance *tolerance) {
  return tolerance->given && (!isnan(tolerance->max) || !isnan(tolerance->p99));
}

double tolerance_limit(const struct tolerance *tolerance) {
  if (!tolerance->given) {
    return NAN;
  }
  return isnan(tolerance->max) ? tolerance->p99 : tolerance->max;
}

/* A bound that is not declared allows everything. */
static bool allows_more(double declared, double changed) {
  return !isnan(declared) && (isnan(changed) || changed > declared);
}

bool tolerance_is_looser(const struct tolerance *declared, const struct tolerance *changed) {
  if (!declared->given) {
    return false;
  }
  return !changed->given || declared->raw != changed->raw || allows_more(declared->max, changed->max) ||
         allows_more(declared->mean, changed->mean) || allows_more(declared->p99, changed->p99) ||
         allows_more(declared->rms, changed->rms) || changed->sign_flips > declared->sign_flips ||
         changed->saturation > declared->saturation;
}

static void add(struct judgement *out, int32_t *count, assay_code code, double measured, double allowed) {
  out[(*count)++] = (struct judgement){code, measured, allowed};
}

static void judge_figure(struct judgement *out, int32_t *count, assay_code code, double measured, double allowed) {
  if (!isnan(allowed) && !(measured <= allowed)) {
    add(out, count, code, measured, allowed);
  }
}

int32_t judge_component(const struct tolerance *tolerance, bool has_decision, bool allow_inf, const struct drift *drift,
                        struct judgement out[JUDGEMENT_MAX]) {
  int32_t count = 0;
  if (drift->n == 0) {
    add(out, &count, ASSAY_NOTHING_COMPARED, 0, NAN);
    return count;
  }
  bool finite = drift->nan == 0 && isfinite(drift->max) && (allow_inf || drift->inf == 0);
  if (!finite) {
    add(out, &count, ASSAY_NONFINITE, drift->max, NAN);
  }
  if (!tolerance_decides(tolerance) && !has_decision) {
    add(out, &count, ASSAY_TOLERANCE_MISSING, NAN, NAN);
  }
  if (!tolerance->given) {
    return count;
  }
  if (finite) { /* otherwise one reason is enough: NaN is above every bound */
    judge_figure(out, &count, ASSAY_DRIFT_MAX, drift->max, tolerance->max);
    judge_figure(out, &count, ASSAY_DRIFT_P99, drift->p99, tolerance->p99);
    judge_figure(out, &count, ASSAY_DRIFT_MEAN, drift->mean, tolerance->mean);
    judge_figure(out, &count, ASSAY_DRIFT_RMS, drift->rms, tolerance->rms);
  }
  if (drift->sign_flips > tolerance->sign_flips) {
    add(out, &count, ASSAY_SIGN_FLIPS, (double)drift->sign_flips, (double)tolerance->sign_flips);
  }
  if (drift->saturated > tolerance->saturation) {
    add(out, &count, ASSAY_SATURATION, (double)drift->saturated, (double)tolerance->saturation);
  }
  return count;
}

enum verdict verdict_of_code(assay_code code) {
  switch (assay_code_kind_of(code)) {
    case ASSAY_KIND_OK:
    case ASSAY_KIND_NOTE:
      return VERDICT_PASS;
    case ASSAY_KIND_REJECT:
      return VERDICT_REJECT;
    case ASSAY_KIND_INPUT:
    case ASSAY_KIND_BLOCKED:
    case ASSAY_KIND_INTERNAL:
      break;
  }
  return VERDICT_BLOCKED;
}

static bool voids_the_numbers(assay_code code) {
  return code == ASSAY_RUNG_INVALID || code == ASSAY_UNSTABLE_RUNG || code == ASSAY_UNSTABLE_REFERENCE ||
         code == ASSAY_RUNG_IS_TF32 || code == ASSAY_RUNG_IS_BF16 || code == ASSAY_RUNG_IS_FP16;
}

enum verdict verdict_of_reasons(const struct gate_reasons *reasons) {
  enum verdict worst = VERDICT_PASS;
  for (int32_t i = 0; i < reasons->count; i++) {
    assay_code code = reasons->items[i].code;
    enum verdict verdict = verdict_of_code(code);
    if (voids_the_numbers(code)) {
      return VERDICT_BLOCKED;
    }
    if (verdict == VERDICT_REJECT || (verdict == VERDICT_BLOCKED && worst == VERDICT_PASS)) {
      worst = verdict;
    }
  }
  return worst;
}

bool has_input_fault(const struct gate_reasons *reasons) {
  for (int32_t i = 0; i < reasons->count; i++) {
    if (assay_code_kind_of(reasons->items[i].code) == ASSAY_KIND_INPUT) {
      return true;
    }
  }
  return false;
}

void judge_gate(struct gate_result *result) {
  bool input = has_input_fault(&result->reasons), rejected = false, blocked = false, judged = false;
  enum verdict own = verdict_of_reasons(&result->reasons);
  rejected |= own == VERDICT_REJECT;
  blocked |= own == VERDICT_BLOCKED;
  for (int32_t i = 0; i < result->n_rungs; i++) {
    const struct rung_result *rung = &result->rungs[i];
    if (!rung->required) {
      continue;
    }
    judged |= !rung->is_reference && !rung->is_same_as_reference;
    input |= has_input_fault(&rung->reasons);
    rejected |= rung->verdict == VERDICT_REJECT;
    blocked |= rung->verdict == VERDICT_BLOCKED;
  }
  /* An input fault voids the reference, so no rung can be rejected by it. */
  result->verdict = input                ? VERDICT_BLOCKED
                    : rejected           ? VERDICT_REJECT
                    : blocked || !judged ? VERDICT_BLOCKED
                                         : VERDICT_PASS;
  result->exit_code = input ? 2 : result->verdict == VERDICT_REJECT ? 1 : result->verdict == VERDICT_BLOCKED ? 3 : 0;
}
