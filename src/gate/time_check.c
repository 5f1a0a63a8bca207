/* Inputs and the clock: see time_check.h. The checks are the contract's, the same that run beside the policy. */
#include "gate/time_check.h"

#include <math.h>

#include "contract/terms.h"
#include "corpus/case_times.h"
#include "gate/golden.h"

/* Where an observation is made of terms, its sensors may have the times: it is as old as the oldest of them. */
typedef double moment(const struct corpus_case *entry, const char *name, int64_t step);
static double over_sensors(const struct contract_input *input, const struct corpus_case *entry, int64_t step,
                           moment *read, bool largest) {
  double found = read(entry, input->name, step);
  for (int32_t t = 0; input->terms != NULL && isnan(found) && t < input->terms->n_terms; t++) {
    found = input->terms->terms[t].raw != NULL ? read(entry, input->terms->terms[t].raw, step) : found;
  }
  for (int32_t t = 0; input->terms != NULL && t < input->terms->n_terms; t++) {
    const char *sensor = input->terms->terms[t].raw;
    double now = sensor != NULL ? read(entry, sensor, step) : (double)NAN;
    found = (largest ? now > found : now < found) ? now : found;
  }
  return found;
}

/* The step's inputs, with the ages of their sensors. */
static assay_status with_ages(const struct contract *contract, const struct corpus_case *entry, int64_t step,
                              const struct fed_inputs *inputs, struct arena *scratch, struct fed_inputs *out) {
  struct fed_input *items;
  ARENA_NEW(scratch, items, inputs->count + 1);
  for (size_t i = 0; i < inputs->count; i++) {
    const struct contract_input *input = contract_find_input(contract, inputs->items[i].name);
    items[i] = inputs->items[i];
    if (input != NULL && input->terms != NULL) {
      items[i].age_ms = over_sensors(input, entry, step, case_age_at, true);
    }
  }
  *out = (struct fed_inputs){items, inputs->count};
  return status_ok();
}

/* Skew and future between the sensors of observations and the other inputs. */
static assay_status check_sensors(const struct contract *contract, const struct corpus_case *entry, int64_t step,
                                  const struct fed_inputs *inputs, struct arena *scratch, assay_status *refusal) {
  struct fed_input *items;
  size_t count = 0, most = inputs->count;
  for (int32_t i = 0; i < contract->n_inputs; i++) {
    most += contract->inputs[i].terms != NULL ? (size_t)contract->inputs[i].terms->n_terms : 0;
  }
  ARENA_NEW(scratch, items, most + 1);
  for (size_t i = 0; i < inputs->count; i++) {
    items[count++] = inputs->items[i];
  }
  for (int32_t i = 0; i < contract->n_inputs; i++) {
    const struct contract_terms *terms = contract->inputs[i].terms;
    for (int32_t t = 0; terms != NULL && t < terms->n_terms; t++) {
      const char *sensor = terms->terms[t].raw;
      if (sensor != NULL) {
        items[count++] = (struct fed_input){sensor, NULL, case_age_at(entry, sensor, step)};
      }
    }
  }
  *refusal = contract_check_ages(contract, items, count);
  return status_ok();
}

assay_status time_check_step(const struct contract *contract, const struct corpus_case *entry, int64_t step,
                             const struct fed_inputs *inputs, struct input_watch *watches, struct arena *scratch,
                             assay_status *refusal) {
  struct fed_inputs aged = {0};
  double *times;
  TRY(with_ages(contract, entry, step, inputs, scratch, &aged));
  *refusal = contract_validate(contract, aged.items, aged.count);
  if (assay_status_ok(*refusal)) {
    TRY(check_sensors(contract, entry, step, &aged, scratch, refusal));
  }
  if (!assay_status_ok(*refusal)) {
    return status_ok();
  }
  ARENA_NEW(scratch, times, contract->n_inputs + 1);
  for (int32_t i = 0; i < contract->n_inputs; i++) {
    times[i] = over_sensors(&contract->inputs[i], entry, step, case_time_at, false);
  }
  const struct fed_times when = {case_series_at(&entry->now_ms, step), times};
  *refusal = contract_watch(contract, aged.items, aged.count, &when, watches);
  return status_ok();
}

/* An input, or the sensor of a term. */
static bool is_measured(const struct contract *contract, const char *name) {
  const struct contract_term *term;
  return contract_find_input(contract, name) != NULL || terms_find_sensor(contract, name, &term) != NULL;
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
    if (!is_measured(plan->contract, entry->ages[i].input)) {
      TRY(say_unknown(fed, "age", entry->ages[i].input, "input", "ages_ms", arena, reasons));
    }
  }
  for (int32_t i = 0; i < entry->n_times; i++) {
    if (!is_measured(plan->contract, entry->times[i].input)) {
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
