/* What follows from the reference alone, whatever the rungs do: it is not stable, or a golden case lies
 * too near the edge of a decision. */
#include <inttypes.h>
#include <math.h>

#include "contract/compare.h"
#include "gate/assemble.h"
#include "gate/detection_list.h"
#include "gate/judge.h"

static assay_status add_unstable(const struct plan *plan, int32_t c, const char *what, const char *bound,
                                 const char *reference, double measured, double limit, struct arena *arena,
                                 struct gate_reasons *reasons) {
  const struct plan_output *planned;
  const struct contract_component *component = plan_component(plan, c, &planned);
  bool raw = component->tolerance.raw;
  struct gate_reason reason = gate_reason_of(ASSAY_UNSTABLE_REFERENCE);
  reason.output = planned->output->name;
  reason.component = component_title(component);
  reason.unit = raw ? component->raw_unit : component->unit;
  reason.measured = measured;
  reason.tolerance = limit;
  reason.sentence =
      arena_format(arena,
                   "'%s': the reference '%s' differs from itself %s by up to %.6g, above the %s of %.6g; there is "
                   "no verdict on anything else",
                   component_title(component), reference, what, measured, bound, limit);
  return reason.sentence != NULL ? gate_reason_add(arena, reasons, &reason) : status_no_memory(0);
}

static assay_status judge_stability(const struct plan *plan, int32_t c, const struct noise_floors *floors,
                                    const struct noise_arrays *history, const char *reference, struct arena *arena,
                                    struct gate_reasons *reasons) {
  const struct plan_output *planned;
  const struct contract_component *component = plan_component(plan, c, &planned);
  double limit = tolerance_limit(&component->tolerance);
  double self = component->tolerance.raw ? floors->self.raw[c] : floors->self.physical[c];
  if (!planned->decides) {
    return status_ok();
  }
  if (!isnan(self) && (isnan(limit) ? isinf(self) : self > limit)) {
    return add_unstable(plan, c, "when it is run again", "tolerance", reference, self, isnan(limit) ? 0.0 : limit,
                        arena, reasons);
  }
  double floor = isnan(floors->floor.raw[c]) ? 0.0 : floors->floor.raw[c];
  if (history != NULL && !isnan(history->raw[c]) && history->raw[c] > floor) {
    return add_unstable(plan, c, "after other calls (raw)", "noise floor", reference, history->raw[c], floor, arena,
                        reasons);
  }
  return status_ok();
}

/* The floor of what a decision looks at: of its component, or the largest of its output. */
static double floor_of(const struct decision_list *list, const struct noise_floors *floors) {
  const double *floor = list->decision->raw ? floors->floor.raw : floors->floor.physical;
  int32_t first = list->output->first_component;
  if (list->component >= 0) {
    return floor[first + list->component];
  }
  double largest = NAN;
  for (int32_t c = 0; c < list->output->output->n_components; c++) {
    if (isnan(largest) || floor[first + c] > largest) {
      largest = floor[first + c];
    }
  }
  return largest;
}

static assay_status judge_decision(const struct plan *plan, const struct decision_list *list,
                                   const struct noise_floors *floors, struct arena *arena,
                                   struct gate_reasons *reasons) {
  const struct contract_output *output = list->output->output;
  double floor = floor_of(list, floors);
  for (size_t i = 0; i < list->count; i++) {
    const struct decision_taken *taken = &list->items[i];
    if (isnan(floor) || !(decided_reach(list->decision, &taken->expected) < floor)) {
      continue;
    }
    struct gate_reason reason = gate_reason_of(ASSAY_GOLDEN_UNDECIDABLE);
    reason.output = output->name;
    reason.component = list->component < 0 ? NULL : output->components[list->component].name;
    reason.case_id = plan->cases.entries[taken->case_index].id;
    reason.step = taken->step;
    reason.element = taken->element;
    reason.expected = (struct gate_value){taken->expected.value, output->dtype != ASSAY_FLOAT64};
    reason.measured = taken->expected.margin;
    reason.tolerance = floor;
    reason.sentence = arena_format(
        arena,
        "'%s': case '%s' decides by a margin of %.6g, below the reference's noise floor of %.6g, so it cannot decide",
        reason.component != NULL ? reason.component : reason.output, reason.case_id, taken->expected.margin, floor);
    if (reason.sentence == NULL) {
      return status_no_memory(0);
    }
    TRY(gate_reason_add(arena, reasons, &reason));
  }
  return status_ok();
}

assay_status assemble_reference(const struct plan *plan, const struct measure *measure,
                                const struct noise_floors *floors, const struct noise_arrays *history,
                                const char *reference, struct arena *arena, struct gate_reasons *reasons) {
  for (int32_t c = 0; c < plan->n_components; c++) {
    TRY(judge_stability(plan, c, floors, history, reference, arena, reasons));
  }
  for (int32_t d = 0; measure != NULL && d < measure->n_decisions; d++) {
    TRY(judge_decision(plan, &measure->decisions[d], floors, arena, reasons));
  }
  return measure == NULL ? status_ok()
                         : detections_undecidable(plan, measure->detections, measure->n_detections,
                                                  floors->floor.physical, arena, reasons);
}
