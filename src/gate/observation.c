/* Stored observations against rebuilt ones: see observation.h. What the case does not store is not compared, and
 * nothing is put in its place. */
#include "gate/observation.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "corpus/case_observation.h"

static void compare_step(const struct observation_case *the, const struct observer *observer, int64_t step,
                         struct observation_difference *out) {
  const assay_tensor recorded = case_step(the->fed->data, the->fed->entry, the->recorded, step);
  const assay_tensor *made = observer_tensor(observer);
  const double *allowed = observer_allowed(observer);
  int64_t count = tensor_count(made);
  for (int64_t i = 0; i < count; i++) {
    double expected = tensor_get(&recorded, i), actual = tensor_get(made, i);
    if (isinf(allowed[i])) {
      continue; /* not known */
    }
    out->n_known++;
    bool equal = expected == actual || fabs(expected - actual) <= allowed[i];
    if (equal) {
      continue;
    }
    if (out->n == 0) {
      out->step = step;
      out->at = i;
      out->expected = expected;
      out->made = actual;
      out->allowed = allowed[i];
    }
    out->n++;
    if (out->differs != NULL) {
      out->differs[i] = true;
    }
  }
}

static assay_status compare_steps(const struct observation_case *the, struct observer *observer,
                                  struct case_answers *answers, bool to_the_end, struct observation_difference *out) {
  const struct fed_case *fed = the->fed;
  for (int64_t step = 0; step < fed->steps && (to_the_end || out->n == 0); step++) {
    const struct fed_inputs *measured = fed_case_measured(fed, step);
    const struct fed_inputs *answered = case_answers_at(answers, fed->entry, fed->data, step);
    TRY(observer_step(observer, measured));
    TRY(observer_fill(observer, answered, measured));
    compare_step(the, observer, step, out);
    TRY(observer_answer(observer, answered, measured));
  }
  return status_ok();
}

assay_status observation_compare(const struct observation_case *the, const struct contract_terms *terms,
                                 bool to_the_end, struct observation_difference *out) {
  /* A single step says nothing of what was before it, nor does a sequence that begins within its episode. */
  const struct observer_options options = {
      .sensors_may_lack = true,
      .answers_may_lack = true,
      .from_middle = !the->fed->entry->sequence || case_from_middle(the->fed->entry)};
  struct observer *observer = NULL;
  struct case_answers answers = {0};
  *out = (struct observation_difference){.differs = out->differs};
  assay_status status = observer_open(the->plan->contract, the->input, terms, options, &observer);
  if (assay_status_ok(status)) {
    status = case_answers_open(the->fed->data, &answers);
  }
  if (assay_status_ok(status)) {
    status = compare_steps(the, observer, &answers, to_the_end, out);
  }
  observer_close(observer);
  case_answers_close(&answers);
  return status;
}

/* --- what is said of it -------------------------------------------------------------------- */

static const char *source_of(const struct contract_term *term) {
  return term->source == TERM_SENSOR ? "raw/" : term->source == TERM_OUTPUT ? "outputs/" : "its clock";
}

/* "element 'knee', 2 steps back in the history". */
static void describe_place(const struct contract_terms *terms, int64_t at, struct text *out) {
  struct observed_element place = observed_at(terms, at);
  const struct contract_term *term = &terms->terms[place.term];
  if (!terms->whole) {
    text_format(out, "term '%s', ", term->name);
  }
  text_format(out, "element '%s'", term->elements[place.element]);
  if (term->history > 1) {
    text_format(out, ", %d step%s back in the history", (int)place.age, place.age == 1 ? "" : "s");
  }
  text_format(out, ", made from %s%s", source_of(term),
              term->source == TERM_SENSOR   ? term->raw
              : term->source == TERM_OUTPUT ? term->output
                                            : "");
}

static assay_status say_difference(const struct observation_case *the, const struct observation_difference *found,
                                   const char *hint, struct arena *arena, struct gate_reasons *reasons) {
  const struct contract_input *input = the->input;
  struct observed_element place = observed_at(input->terms, found->at);
  const struct contract_term *term = &input->terms->terms[place.term];
  bool single = input->dtype != ASSAY_FLOAT64;
  struct gate_reason reason = gate_reason_of(ASSAY_OBSERVATION_DRIFT);
  struct text where = {0};
  describe_place(input->terms, found->at, &where);
  reason.component = arena_format(arena, "%s/%s", input->name, term->name);
  reason.element = found->at;
  reason.expected = (struct gate_value){found->expected, single};
  reason.actual = (struct gate_value){found->made, single};
  reason.measured = fabs(found->expected - found->made);
  reason.tolerance = found->allowed;
  reason.unit = term->unit;
  assay_status status = reason.component == NULL ? status_no_memory(0) : text_status(&where);
  if (assay_status_ok(status)) {
    status = golden_say(arena, reasons, reason, the->fed, found->step,
                        "case '%s': the observation '%s' that the terms make is not the recorded inputs/%s, first at "
                        "step %lld, %s: recorded %.9g, made %.9g (%lld of %lld values differ)%s",
                        the->fed->entry->id, input->name, input->name, (long long)found->step, text_string(&where),
                        found->expected, found->made, (long long)found->n, (long long)found->n_known, hint);
  }
  text_free(&where);
  return status;
}

/* A sensor that does not fit its term, or an answer: the same finding, without a value. */
static assay_status say_unfit(const struct observation_case *the, assay_status *failed, struct arena *arena,
                              struct gate_reasons *reasons) {
  struct gate_reason reason = gate_reason_of(ASSAY_OBSERVATION_DRIFT);
  reason.component = the->input->name;
  assay_status status = golden_say(arena, reasons, reason, the->fed, -1,
                                   "case '%s': the observation '%s' cannot be made of what is stored: %s",
                                   the->fed->entry->id, the->input->name, assay_status_sentence(*failed));
  assay_status_clear(failed);
  return status;
}

static assay_status check_observation(const struct observation_case *the, struct arena *arena,
                                      struct gate_reasons *reasons) {
  struct observation_difference found = {0};
  size_t size = (size_t)the->input->terms->size;
  found.differs = memory_alloc(size, sizeof *found.differs);
  if (found.differs == NULL) {
    return status_no_memory(size);
  }
  memset(found.differs, 0, size);
  assay_status status = observation_compare(the, the->input->terms, true, &found);
  if (!assay_status_ok(status) && assay_code_kind_of(status.code) != ASSAY_KIND_INTERNAL) {
    status = say_unfit(the, &status, arena, reasons);
  } else if (assay_status_ok(status) && found.n > 0) {
    struct text hint = {0};
    status = observation_explain(the, &found, &hint);
    if (assay_status_ok(status)) {
      status = say_difference(the, &found, text_string(&hint), arena, reasons);
    }
    text_free(&hint);
  }
  memory_free(found.differs);
  return status;
}

/* What validation found unfit already is not looked at again. */
static bool fits(const struct contract_input *input, const struct fed_case *fed, const assay_tensor *recorded) {
  if (fed->steps < 1 || recorded->dtype != input->dtype) {
    return false;
  }
  assay_tensor first = case_step(fed->data, fed->entry, recorded, 0);
  return tensor_count(&first) == input->terms->size;
}

assay_status golden_check_observations(const struct plan *plan, const struct fed_case *fed, struct arena *arena,
                                       struct gate_reasons *reasons) {
  for (int32_t i = 0; i < plan->contract->n_inputs; i++) {
    const struct contract_input *input = &plan->contract->inputs[i];
    const assay_tensor *recorded = input->terms != NULL ? case_input(fed->data, input->name) : NULL;
    if (recorded != NULL && fits(input, fed, recorded)) {
      const struct observation_case the = {plan, fed, input, recorded};
      TRY(check_observation(&the, arena, reasons));
    }
  }
  return status_ok();
}
