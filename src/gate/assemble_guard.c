/* The guard's answers of a rung: see assemble_guard.h. Every sentence about them is made here; no answer is. */
#include "gate/assemble_guard.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- margins -------------------------------------------------------------------- */

/* Which component's margin is shown, and how large it is. */
struct nearest {
  int32_t component; /* of the plan; -1: no value decides */
  double margin;
  bool near; /* what moves by as much as `reach` may change the answer */
};

/* An accepted action is refused as soon as one component leaves; a refused one is accepted when all that are outside
 * have come back, or gets another refusal when one leaves. `reach`: how far each component of the plan may move. */
static struct nearest nearest_of(const struct guard_list *list, const struct guard_step *item, const double *reach) {
  struct nearest in = {-1, INFINITY, false}, out = {-1, 0.0, false};
  bool all_near = true;
  for (int32_t i = 0; i < list->n_limited; i++) {
    const struct action_margin *margin = &item->margins[i];
    double far = reach[list->limited[i]];
    if (margin->inside < in.margin) {
      in.margin = margin->inside;
      in.component = list->limited[i];
    }
    in.near |= margin->inside < far;
    if (margin->outside > 0) {
      all_near = all_near && margin->outside < far;
      out.component = margin->outside > out.margin ? list->limited[i] : out.component;
      out.margin = margin->outside > out.margin ? margin->outside : out.margin;
    }
  }
  if (out.component < 0) {
    return in;
  }
  out.near = all_near || in.near;
  return out;
}

/* --- a rung's ------------------------------------------------------------------- */

static bool is_flip(const struct guard_step *item) { return item->expected != item->actual; }

/* The sentence is copied: the list ends with the measuring, and what is shown lives on. */
static assay_status fill_case(const struct guard_list *list, const struct guard_step *item,
                              const struct nearest *nearest, struct arena *arena, struct guard_case *out) {
  const char *sentence = item->actual_sentence != NULL ? item->actual_sentence : item->expected_sentence;
  const struct plan_output *planned = NULL;
  const struct contract_component *component =
      nearest->component >= 0 ? plan_component(list->plan, nearest->component, &planned) : NULL;
  *out = (struct guard_case){.case_id = list->plan->cases.entries[item->case_index].id,
                             .step = item->step,
                             .flipped = is_flip(item),
                             .stated = item->stated,
                             .expected = guard_answer_name(item->expected),
                             .actual = guard_answer_name(item->actual),
                             .output = planned != NULL ? planned->output->name : NULL,
                             .component = component != NULL ? component->name : NULL,
                             .unit = component != NULL ? component->unit : NULL,
                             .margin = nearest->component >= 0 ? nearest->margin : NAN,
                             .sentence = sentence != NULL ? arena_string(arena, sentence) : NULL};
  return sentence == NULL || out->sentence != NULL ? status_ok() : status_no_memory(strlen(sentence));
}

/* Flips first, then margins below the drift; each in the corpus' order. */
static assay_status list_cases(const struct guard_list *list, const double *drift, struct arena *arena,
                               struct guard_result *out) {
  struct guard_case *cases;
  ARENA_NEW(arena, cases, out->flips + out->low_margin + 1);
  for (int flipped = 1; flipped >= 0; flipped--) {
    for (size_t i = 0; i < list->count; i++) {
      struct nearest nearest = nearest_of(list, &list->items[i], drift);
      if (is_flip(&list->items[i]) == (flipped == 1) && (flipped == 1 || nearest.near)) {
        TRY(fill_case(list, &list->items[i], &nearest, arena, &cases[out->n_cases++]));
      }
    }
  }
  out->cases = cases;
  return status_ok();
}

/* Largest drift of each component, in physical units. NaN is larger than anything. */
static assay_status drift_of(const struct guard_list *list, const struct rung_result *rung, struct arena *arena,
                             double **out) {
  ARENA_NEW(arena, *out, list->plan->n_components + 1);
  for (int32_t c = 0; c < rung->n_components; c++) {
    const struct drift *drift = &rung->components[c].drift.physical;
    (*out)[c] = drift->n == 0 ? 0.0 : isnan(drift->max) ? INFINITY : drift->max;
  }
  return status_ok();
}

/* How many steps of the case of item i flip, from it on. */
static int64_t flips_of_case(const struct guard_list *list, size_t i) {
  int64_t flips = 0;
  for (size_t j = i; j < list->count && list->items[j].case_index == list->items[i].case_index; j++) {
    flips += is_flip(&list->items[j]);
  }
  return flips;
}

static bool is_first_flip(const struct guard_list *list, size_t i) {
  if (!is_flip(&list->items[i])) {
    return false;
  }
  for (size_t j = i; j > 0 && list->items[j - 1].case_index == list->items[i].case_index; j--) {
    if (is_flip(&list->items[j - 1])) {
      return false;
    }
  }
  return true;
}

static assay_status add_flip(const struct guard_list *list, size_t i, struct arena *arena,
                             struct gate_reasons *reasons) {
  const struct guard_step *item = &list->items[i];
  struct gate_reason reason = gate_reason_of(ASSAY_GUARD_FLIP);
  struct text sentence = {0};
  int64_t flips = flips_of_case(list, i);
  reason.case_id = list->plan->cases.entries[item->case_index].id;
  reason.step = item->step;
  text_format(&sentence, "case '%s'", reason.case_id);
  if (item->step >= 0) {
    text_format(&sentence, ", step %d", (int)item->step);
  }
  text_format(&sentence, ": the guard answers %s to the reference%s and %s to this rung",
              guard_answer_name(item->expected), item->stated ? ", as the case states," : "",
              guard_answer_name(item->actual));
  if (item->expected_sentence != NULL) {
    text_format(&sentence, "; the reference: %s", item->expected_sentence);
  }
  if (item->actual_sentence != NULL) {
    text_format(&sentence, "; the rung: %s", item->actual_sentence);
  }
  if (flips > 1) {
    text_format(&sentence, "; %" PRId64 " steps of the case change their answer", flips);
  }
  reason.sentence = sentence.failed ? NULL : arena_string(arena, text_string(&sentence));
  text_free(&sentence);
  reason.measured = (double)flips;
  reason.tolerance = 0.0;
  return reason.sentence != NULL ? gate_reason_add(arena, reasons, &reason) : status_no_memory(0);
}

static assay_status count_answers(const struct guard_list *list, const double *drift, struct arena *arena,
                                  struct guard_result *out) {
  struct guard_counters expected = {0}, actual = {0};
  struct guard_tally *tally;
  ARENA_NEW(arena, tally, GUARD_ANSWER_COUNT);
  for (size_t i = 0; i < list->count; i++) {
    const struct guard_step *item = &list->items[i];
    struct nearest nearest = nearest_of(list, item, drift);
    guard_count(&expected, item->expected);
    guard_count(&actual, item->actual);
    out->flips += is_flip(item);
    out->low_margin += !is_flip(item) && nearest.near;
    out->stated += item->stated;
    out->without_monitors += !list->plan->cases.entries[item->case_index].has_monitors;
    if (nearest.component >= 0 && !(nearest.margin >= out->smallest_margin)) {
      out->smallest_margin = nearest.margin;
    }
  }
  for (int a = 0; a < GUARD_ANSWER_COUNT; a++) {
    tally[a] = (struct guard_tally){guard_answer_name(guard_answers[a]), expected.of[a], actual.of[a]};
  }
  out->tally = tally;
  out->n_tally = GUARD_ANSWER_COUNT;
  return status_ok();
}

assay_status assemble_guard(const struct guard_list *list, struct rung_result *rung, struct arena *arena) {
  struct guard_result *out = &rung->guard;
  double *drift;
  *out = (struct guard_result){.asked = list->n_outputs > 0 && list->count > 0,
                               .guards = list->guards,
                               .n_monitors = list->plan->contract->n_monitors,
                               .n = (int64_t)list->count,
                               .smallest_margin = NAN};
  TRY(drift_of(list, rung, arena, &drift));
  TRY(count_answers(list, drift, arena, out));
  TRY(list_cases(list, drift, arena, out));
  for (size_t i = 0; i < list->count; i++) {
    if (is_first_flip(list, i)) {
      TRY(add_flip(list, i, arena, &rung->reasons));
    }
  }
  out->verdict = out->flips > 0 ? VERDICT_REJECT : out->asked ? VERDICT_PASS : VERDICT_BLOCKED;
  return status_ok();
}

/* --- the reference ---------------------------------------------------------------- */

static assay_status add_undecidable(const struct guard_list *list, const struct guard_step *item,
                                    const struct nearest *nearest, double floor, struct arena *arena,
                                    struct gate_reasons *reasons) {
  const struct plan_output *planned;
  const struct contract_component *component = plan_component(list->plan, nearest->component, &planned);
  struct gate_reason reason = gate_reason_of(ASSAY_GOLDEN_UNDECIDABLE);
  reason.output = planned->output->name;
  reason.component = component->name;
  reason.unit = component->unit;
  reason.case_id = list->plan->cases.entries[item->case_index].id;
  reason.step = item->step;
  reason.measured = nearest->margin;
  reason.tolerance = floor;
  reason.sentence = arena_format(arena,
                                 "'%s': the guard's answer %s to case '%s' hangs on a margin of %.6g %s, below the "
                                 "reference's noise floor of %.6g, so it cannot decide",
                                 component->name, guard_answer_name(item->expected), reason.case_id, nearest->margin,
                                 component->unit, floor);
  return reason.sentence != NULL ? gate_reason_add(arena, reasons, &reason) : status_no_memory(0);
}

assay_status guard_judge_reference(const struct guard_list *list, const struct noise_floors *floors,
                                   struct arena *arena, struct gate_reasons *reasons) {
  double *reach;
  ARENA_NEW(arena, reach, list->plan->n_components + 1);
  for (int32_t c = 0; c < list->plan->n_components; c++) {
    reach[c] = isnan(floors->floor.physical[c]) ? 0.0 : floors->floor.physical[c];
  }
  for (size_t i = 0; i < list->count; i++) {
    struct nearest nearest = nearest_of(list, &list->items[i], reach);
    if (nearest.near) {
      TRY(add_undecidable(list, &list->items[i], &nearest, reach[nearest.component], arena, reasons));
    }
  }
  return status_ok();
}

/* --- groups ------------------------------------------------------------------------ */

static int compare_steps(const void *left, const void *right) {
  const struct guard_step *a = *(const struct guard_step *const *)left, *b = *(const struct guard_step *const *)right;
  if (a->case_index != b->case_index) {
    return a->case_index < b->case_index ? -1 : 1;
  }
  return (a->step > b->step) - (a->step < b->step);
}

assay_status guard_answers_make(const struct guard_list *list, struct arena *arena, struct guard_answers *out) {
  ARENA_NEW(arena, out->steps, list->count + 1);
  out->n = list->guards ? list->count : 0;
  for (size_t i = 0; i < out->n; i++) {
    out->steps[i] = &list->items[i];
  }
  if (out->n > 1) {
    qsort(out->steps, out->n, sizeof *out->steps, compare_steps);
  }
  return status_ok();
}

bool guard_answer_at(const struct guard_answers *answers, int32_t case_index, int32_t step, assay_code *out) {
  const struct guard_step key = {.case_index = case_index, .step = step}, *wanted = &key;
  const struct guard_step **found =
      answers->n > 0 ? bsearch(&wanted, answers->steps, answers->n, sizeof *answers->steps, compare_steps) : NULL;
  if (found != NULL) {
    *out = (*found)->expected;
  }
  return found != NULL;
}
