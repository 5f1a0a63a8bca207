/* Decisions of a rung: see assemble_decisions.h. A flip is a REJECT however small the error. */
#include "gate/assemble_decisions.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Largest drift of what the decision looks at, in its space. NaN is larger than anything. */
static double drift_of(const struct decision_list *list, const struct rung_result *rung) {
  const struct contract_output *output = list->output->output;
  double largest = 0.0;
  for (int32_t c = 0; c < rung->n_components; c++) {
    const struct component_result *component = &rung->components[c];
    bool concerned = strcmp(component->output, output->name) == 0 &&
                     (list->component < 0 || strcmp(component->name, output->components[list->component].name) == 0);
    const struct drift *drift = list->decision->raw ? &component->drift.raw : &component->drift.physical;
    if (concerned && drift->n > 0 && !(drift->max <= largest)) {
      largest = isnan(drift->max) ? INFINITY : drift->max;
    }
  }
  return largest;
}

static const char *label(const struct decision *decision, const struct decided *decided, struct arena *arena) {
  if (decided->answer < 0) {
    return "undecided";
  }
  if (decision->kind == DECISION_THRESHOLD) {
    const char *named = decided->answer == 1 ? decision->label_positive : decision->label_negative;
    return named != NULL ? named : decided->answer == 1 ? "positive" : "negative";
  }
  const char *what = decision->kind == DECISION_ARGMAX ? "" : decision->kind == DECISION_TOPK ? "set with " : "first ";
  return arena_format(arena, "%sindex %" PRId64, what, decided->answer);
}

static bool is_listed(const struct decision_list *list, const struct decision_taken *taken, double drift) {
  return taken->flipped || decided_reach(list->decision, &taken->expected) < drift;
}

static assay_status list_case(const struct plan *plan, const struct decision_list *list,
                              const struct decision_taken *taken, struct arena *arena, struct decision_case *out) {
  bool single = list->output->output->dtype != ASSAY_FLOAT64;
  *out = (struct decision_case){.case_id = plan->cases.entries[taken->case_index].id,
                                .step = taken->step,
                                .element = taken->element,
                                .flipped = taken->flipped,
                                .expected_label = label(list->decision, &taken->expected, arena),
                                .actual_label = label(list->decision, &taken->actual, arena),
                                .expected = {taken->expected.value, single},
                                .actual = {taken->actual.value, single},
                                .margin = taken->expected.margin};
  return out->expected_label != NULL && out->actual_label != NULL ? status_ok() : status_no_memory(0);
}

static assay_status add_flip(const struct decision_list *list, const struct decision_result *decision,
                             struct arena *arena, struct gate_reasons *reasons) {
  const struct contract_output *output = list->output->output;
  const struct decision_case *first = &decision->cases[0];
  struct gate_reason reason = gate_reason_of(ASSAY_DECISION_FLIP);
  reason.output = decision->output;
  reason.component = decision->component;
  reason.case_id = first->case_id;
  reason.step = first->step;
  reason.element = first->element;
  reason.expected = first->expected;
  reason.actual = first->actual;
  reason.measured = (double)decision->flips;
  if (list->component >= 0) {
    const struct contract_component *component = &output->components[list->component];
    reason.unit = list->decision->raw ? component->raw_unit : component->unit;
  }
  reason.tolerance = 0.0;
  reason.sentence = arena_format(arena,
                                 "'%s': %" PRId64 " of %" PRId64
                                 " decisions (%s) flip; first in case '%s': expected %s (%.9g), got %s (%.9g), "
                                 "margin %.6g",
                                 decision->component != NULL ? decision->component : decision->output, decision->flips,
                                 decision->n, decision->what, first->case_id, first->expected_label,
                                 first->expected.value, first->actual_label, first->actual.value, first->margin);
  return reason.sentence != NULL ? gate_reason_add(arena, reasons, &reason) : status_no_memory(0);
}

/* Flips first, then margins below the drift; each in the corpus' order. */
static assay_status list_cases(const struct plan *plan, const struct decision_list *list, struct arena *arena,
                               struct decision_result *out) {
  struct decision_case *cases;
  size_t listed = 0;
  for (size_t i = 0; i < list->count; i++) {
    listed += is_listed(list, &list->items[i], out->drift);
  }
  ARENA_NEW(arena, cases, listed + 1);
  for (int flipped = 1; flipped >= 0; flipped--) {
    for (size_t i = 0; i < list->count; i++) {
      const struct decision_taken *taken = &list->items[i];
      if (is_listed(list, taken, out->drift) && taken->flipped == (flipped == 1)) {
        TRY(list_case(plan, list, taken, arena, &cases[out->n_cases++]));
      }
    }
  }
  out->cases = cases;
  return status_ok();
}

assay_status assemble_decision(const struct plan *plan, const struct decision_list *list, struct rung_result *rung,
                               struct arena *arena, struct decision_result *out) {
  const struct contract_output *output = list->output->output;
  *out = (struct decision_result){.output = output->name,
                                  .component = list->component < 0 ? NULL : output->components[list->component].name,
                                  .what = decision_describe(list->decision, arena),
                                  .n = (int64_t)list->count,
                                  .smallest_margin = NAN,
                                  .drift = drift_of(list, rung)};
  if (out->what == NULL) {
    return status_no_memory(0);
  }
  for (size_t i = 0; i < list->count; i++) {
    const struct decision_taken *taken = &list->items[i];
    out->flips += taken->flipped;
    out->low_margin += decided_reach(list->decision, &taken->expected) < out->drift;
    if (!(taken->expected.margin >= out->smallest_margin)) {
      out->smallest_margin = taken->expected.margin;
    }
  }
  TRY(list_cases(plan, list, arena, out));
  out->verdict = out->flips > 0 ? VERDICT_REJECT : out->n > 0 ? VERDICT_PASS : VERDICT_BLOCKED;
  return out->flips > 0 ? add_flip(list, out, arena, &rung->reasons) : status_ok();
}
