/* Inputs and the clock: see time_check.h. The checks are the contract's, the same that run beside the policy. */
#include "gate/time_check.h"

#include "corpus/case_times.h"
#include "gate/golden.h"

assay_status time_check_step(const struct contract *contract, const struct corpus_case *entry, int64_t step,
                             const struct fed_inputs *inputs, struct input_watch *watches, struct arena *scratch,
                             assay_status *refusal) {
  double *times;
  *refusal = contract_validate(contract, inputs->items, inputs->count);
  if (!assay_status_ok(*refusal)) {
    return status_ok();
  }
  ARENA_NEW(scratch, times, contract->n_inputs + 1);
  for (int32_t i = 0; i < contract->n_inputs; i++) {
    times[i] = case_time_at(entry, contract->inputs[i].name, step);
  }
  const struct fed_times when = {case_series_at(&entry->now_ms, step), times};
  *refusal = contract_watch(contract, inputs->items, inputs->count, &when, watches);
  return status_ok();
}

static assay_status say_unknown(const struct fed_case *fed, const char *what, const char *name, const char *noun,
                                const char *key, struct arena *arena, struct gate_reasons *reasons) {
  return golden_say(arena, reasons, gate_reason_of(ASSAY_INVALID_GOLDEN), fed, -1,
                    "case '%s' gives the %s of '%s', which is no %s of the contract; correct %s in corpus.yaml",
                    fed->entry->id, what, name, noun, key);
}

static bool is_monitor(const struct contract *contract, const char *name) {
  for (int32_t m = 0; m < contract->n_monitors; m++) {
    if (text_equal(contract->monitors[m].name, name)) {
      return true;
    }
  }
  return false;
}

assay_status time_check_names(const struct plan *plan, const struct fed_case *fed, struct arena *arena,
                              struct gate_reasons *reasons) {
  const struct corpus_case *entry = fed->entry;
  for (int32_t i = 0; i < entry->n_ages; i++) {
    if (contract_find_input(plan->contract, entry->ages[i].input) == NULL) {
      TRY(say_unknown(fed, "age", entry->ages[i].input, "input", "ages_ms", arena, reasons));
    }
  }
  for (int32_t i = 0; i < entry->n_times; i++) {
    if (contract_find_input(plan->contract, entry->times[i].input) == NULL) {
      TRY(say_unknown(fed, "time", entry->times[i].input, "input", "times_ms", arena, reasons));
    }
  }
  for (int32_t i = 0; i < entry->n_monitors; i++) {
    if (!is_monitor(plan->contract, entry->monitors[i].name)) {
      TRY(say_unknown(fed, "answer", entry->monitors[i].name, "monitor", "monitors", arena, reasons));
    }
  }
  return status_ok();
}
