/* What the guard answers to an action: see guard_check.h. The checks themselves are the contract's, the same
 * that run beside the policy on the robot. */
#include "gate/guard_check.h"

#include <string.h>

#include "contract/apply.h"
#include "gate/golden.h"

static bool is_guarded(const struct contract_output *output) {
  for (int32_t c = 0; c < output->n_components; c++) {
    if (output->components[c].has_limits) {
      return true;
    }
  }
  return false;
}

/* A float64 answer as the contract's type, which is what would be sent. */
static assay_status as_sent(const struct contract_output *output, const assay_tensor *raw, struct arena *arena,
                            assay_tensor *out) {
  *out = *raw;
  if (raw->dtype != ASSAY_FLOAT64 || output->dtype == ASSAY_FLOAT64) {
    return status_ok();
  }
  TRY(tensor_new_in(arena, output->dtype, raw->dims, raw->rank, out));
  for (int64_t i = 0; i < tensor_count(raw); i++) {
    tensor_set(out, i, tensor_get(raw, i));
  }
  return status_ok();
}

/* The components of the last step that is executed. */
static void keep_last(const struct contract_output *output, const assay_tensor *raw, const struct fed_inputs *measured,
                      double *last) {
  for (int64_t i = 0; i < tensor_count(raw); i++) {
    int64_t step;
    int32_t c = contract_component_of(output, raw, i, &step);
    if (output->execute_steps == 0 || step < output->execute_steps) {
      last[c] = decode_value(&output->components[c], tensor_get(raw, i), measured);
    }
  }
}

/* The guard's first refusal over all steps, or success. */
static assay_status guard_output(const struct plan *plan, const struct contract_output *output,
                                 const struct fed_case *fed, const struct answer *answer, struct arena *scratch,
                                 int64_t *step, assay_status *refusal) {
  double *last;
  ARENA_NEW(scratch, last, output->n_components);
  for (*step = 0; *step < answer->steps; ++*step) {
    const assay_tensor *raw = answer_find(answer, *step, output->name);
    assay_tensor sent;
    if (raw == NULL) {
      return status_ok(); /* that it is missing is said elsewhere */
    }
    TRY(as_sent(output, raw, scratch, &sent));
    const struct fed_inputs *measured = fed_case_measured(fed, *step);
    *refusal = contract_check_action(plan->contract, output, &sent, measured, *step > 0 ? last : NULL);
    if (!assay_status_ok(*refusal)) {
      return status_ok();
    }
    keep_last(output, &sent, measured, last);
  }
  return status_ok();
}

static assay_status guard_answer(const struct plan *plan, const struct fed_case *fed, const struct answer *answer,
                                 int64_t *step, assay_status *refusal) {
  struct arena scratch = {0};
  assay_status status = status_ok();
  for (int32_t o = 0; o < plan->n_outputs && assay_status_ok(status) && assay_status_ok(*refusal); o++) {
    if (is_guarded(plan->outputs[o].output)) {
      status = guard_output(plan, plan->outputs[o].output, fed, answer, &scratch, step, refusal);
    }
  }
  arena_free(&scratch);
  return status;
}

/* The code that a case states; ASSAY_CODE_COUNT when it is none that the guard gives. */
static assay_code stated_code(const char *stated) {
  if (strcmp(stated, "accept") == 0) {
    return ASSAY_OK;
  }
  return text_starts_with(stated, "ACTION_") ? assay_code_find(stated) : ASSAY_CODE_COUNT;
}

static const char *answer_name(assay_code code) { return code == ASSAY_OK ? "accept" : assay_code_name(code); }

static assay_status check(const struct plan *plan, const struct fed_case *fed, const struct answer *answer,
                          assay_code expected, assay_code finding, const char *whose, struct arena *arena,
                          struct gate_reasons *reasons) {
  assay_status refusal = status_ok();
  int64_t step = 0;
  assay_status status = guard_answer(plan, fed, answer, &step, &refusal);
  if (assay_status_ok(status) && refusal.code != expected) {
    status = golden_say(arena, reasons, gate_reason_of(finding), fed, step,
                        "case '%s' states that the guard answers %s, but to %s it answers %s%s%s", fed->entry->id,
                        answer_name(expected), whose, answer_name(refusal.code), assay_status_ok(refusal) ? "" : ": ",
                        assay_status_ok(refusal) ? "" : assay_status_sentence(refusal));
  }
  assay_status_clear(&refusal);
  return status;
}

assay_status guard_check_golden(const struct plan *plan, const struct fed_case *fed, const struct answer *answer,
                                struct arena *arena, struct gate_reasons *reasons) {
  if (fed->entry->guard == NULL) {
    return status_ok();
  }
  assay_code expected = stated_code(fed->entry->guard);
  if (expected == ASSAY_CODE_COUNT) {
    return golden_say(
        arena, reasons, gate_reason_of(ASSAY_INVALID_GOLDEN), fed, -1,
        "case '%s' states '%s' for the guard, which is neither `accept` nor a code beginning with ACTION_",
        fed->entry->id, fed->entry->guard);
  }
  return check(plan, fed, answer, expected, ASSAY_INVALID_GOLDEN, "the recorded answer", arena, reasons);
}

assay_status guard_check_rung(const struct plan *plan, const struct fed_case *fed, const struct answer *answer,
                              struct arena *arena, struct gate_reasons *reasons) {
  if (fed->entry->guard == NULL || stated_code(fed->entry->guard) == ASSAY_CODE_COUNT) {
    return status_ok();
  }
  return check(plan, fed, answer, stated_code(fed->entry->guard), ASSAY_GUARD_FLIP, "this rung's", arena, reasons);
}
