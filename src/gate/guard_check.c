/* The guard asked of both sides: see guard_check.h. After a refusal the last safe action stands, as on the robot: the
 * next step's rates are held against it. */
#include "gate/guard_check.h"

#include <math.h>

#include "core/list.h"
#include "core/memory.h"
#include "corpus/case_times.h"
#include "gate/golden.h"

/* What is only state, or an inner value that the source did not store, goes to no motor. */
static bool is_guarded(const struct plan_output *planned) {
  const struct contract_output *output = planned->output;
  return output->rank >= 0 && (planned->decides || output_is_limited(output));
}

static int32_t count_limited(const struct plan *plan, int32_t *out) {
  int32_t n = 0;
  for (int32_t c = 0; c < plan->n_components; c++) {
    const struct plan_output *planned;
    if (plan_component(plan, c, &planned)->has_limits && is_guarded(planned)) {
      if (out != NULL) {
        out[n] = c;
      }
      n++;
    }
  }
  return n;
}

assay_status guard_list_open(const struct plan *plan, struct arena *arena, struct guard_list *out) {
  int32_t *limited;
  *out = (struct guard_list){.plan = plan, .arena = arena, .guards = plan->contract->n_monitors > 0};
  ARENA_NEW(arena, out->outputs, plan->n_outputs + 1);
  for (int32_t o = 0; o < plan->n_outputs; o++) {
    if (is_guarded(&plan->outputs[o])) {
      out->outputs[out->n_outputs++] = plan->outputs[o].output;
      out->guards |= output_is_limited(plan->outputs[o].output);
    }
  }
  ARENA_NEW(arena, limited, count_limited(plan, NULL) + 1);
  out->n_limited = count_limited(plan, limited);
  out->limited = limited;
  return status_ok();
}

void guard_list_close(struct guard_list *list) {
  memory_free(list->items);
  list->items = NULL;
  list->count = list->capacity = 0;
}

/* --- one side ------------------------------------------------------------------- */

/* One side of a case, from step to step. */
struct side {
  const struct answer *answer;
  bool wide;
  struct guard_action *actions;
  assay_tensor *sent;
  struct monitor_reading *readings;
};

static assay_status side_open(const struct guard_list *list, const struct fed_case *fed, const struct answer *answer,
                              bool wide, struct arena *scratch, struct side *out) {
  *out = (struct side){.answer = answer, .wide = wide};
  ARENA_NEW(scratch, out->actions, list->n_outputs + 1);
  ARENA_NEW(scratch, out->sent, list->n_outputs + 1);
  ARENA_NEW(scratch, out->readings, fed->entry->n_monitors + 1);
  for (int32_t o = 0; o < list->n_outputs; o++) {
    out->actions[o].output = list->outputs[o];
    ARENA_NEW(scratch, out->actions[o].last, list->outputs[o]->n_components + 1);
  }
  return status_ok();
}

/* A float64 answer of a side that computes in fp64, as the contract's type, which is what would be sent. */
static assay_status as_sent(const struct side *side, const struct contract_output *output, const assay_tensor *raw,
                            struct arena *scratch, assay_tensor *out) {
  *out = *raw;
  if (!side->wide || raw->dtype != ASSAY_FLOAT64 || output->dtype != ASSAY_FLOAT32) {
    return status_ok();
  }
  TRY(tensor_new_in(scratch, output->dtype, raw->dims, raw->rank, out));
  for (int64_t i = 0; i < tensor_count(raw); i++) {
    tensor_set(out, i, tensor_get(raw, i));
  }
  return status_ok();
}

/* The larger of what the case states and the age of the oldest input; NAN when neither is known. */
static double oldest_of(const struct fed_inputs *measured, double stated) {
  double inputs = measured != NULL ? fed_oldest_ms(measured->items, measured->count) : (double)NAN;
  return isnan(stated) || inputs > stated ? inputs : stated;
}

/* What the step asks the guard: its actions, and all that stands beside them. */
static assay_status make_question(const struct guard_list *list, const struct fed_case *fed, int64_t step,
                                  struct side *side, struct arena *scratch, struct guard_question *out) {
  const struct corpus_case *entry = fed->entry;
  const struct fed_inputs *measured = fed_case_measured(fed, step);
  double stated = case_series_at(&entry->result_age_ms, step);
  for (int32_t o = 0; o < list->n_outputs; o++) {
    const assay_tensor *raw = answer_find(side->answer, step, list->outputs[o]->name);
    side->actions[o].raw = raw != NULL ? &side->sent[o] : NULL;
    if (raw != NULL) {
      TRY(as_sent(side, list->outputs[o], raw, scratch, &side->sent[o]));
    }
  }
  case_monitors_at(entry, step, side->readings);
  *out = (struct guard_question){.asks_monitors = entry->has_monitors,
                                 .monitors = side->readings,
                                 .n_monitors = (size_t)entry->n_monitors,
                                 .inputs = measured,
                                 /* A result is at least as old as the oldest input that it answers. */
                                 .age_ms = oldest_of(measured, stated),
                                 .actions = side->actions,
                                 .n_actions = (size_t)list->n_outputs};
  return status_ok();
}

/* --- both sides ----------------------------------------------------------------- */

/* Margins of the reference before its memory moves on. */
static assay_status take_margins(const struct guard_list *list, const struct guard_question *question,
                                 const struct side *before, assay_code answer, struct arena *scratch,
                                 const struct action_margin **out) {
  struct action_margin *kept;
  int32_t n = 0;
  ARENA_NEW(list->arena, kept, list->n_limited + 1);
  for (int32_t o = 0; o < list->n_outputs && list->n_limited > 0; o++) {
    const struct guard_action *action = &before->actions[o];
    const struct action_context context = {question->inputs, question->age_ms, action->has_last ? action->last : NULL};
    struct action_margin *margins;
    ARENA_NEW(scratch, margins, action->output->n_components + 1);
    contract_action_margins(list->plan->contract, action->output, question->actions[o].raw, &context, answer, margins);
    for (int32_t c = 0; c < action->output->n_components; c++) {
      if (action->output->components[c].has_limits) {
        kept[n++] = margins[c];
      }
    }
  }
  *out = kept;
  return status_ok();
}

static void remember(const struct guard_list *list, const struct side *side, struct side *out) {
  for (int32_t o = 0; o < list->n_outputs; o++) {
    const struct guard_action *from = &side->actions[o];
    out->actions[o].has_last = from->has_last;
    for (int32_t c = 0; c < from->output->n_components; c++) {
      out->actions[o].last[c] = from->last[c];
    }
  }
}

static bool is_stated(const struct corpus_case *entry, int64_t step) {
  for (int32_t g = 0; g < entry->n_guard; g++) {
    if (entry->guard[g].step < 0 || entry->guard[g].step == step) {
      return true;
    }
  }
  return false;
}

static assay_status keep_sentence(struct arena *arena, const assay_status *refusal, const char **out) {
  *out = assay_status_ok(*refusal) ? NULL : arena_string(arena, assay_status_sentence(*refusal));
  return assay_status_ok(*refusal) || *out != NULL ? status_ok() : status_no_memory(0);
}

/* Three sides: the reference, what it was before the step, and the rung. */
struct sides {
  struct side expected, before, actual;
};

static assay_status take_step(struct guard_list *list, const struct fed_case *fed, int64_t step, struct sides *sides,
                              struct arena *scratch) {
  struct guard_question expected, actual;
  LIST_ROOM(list->items, list->count, list->capacity);
  struct guard_step *item = &list->items[list->count];
  *item = (struct guard_step){.case_index = fed->index,
                              .step = fed->entry->sequence ? (int32_t)step : -1,
                              .stated = is_stated(fed->entry, step)};
  TRY(make_question(list, fed, step, &sides->expected, scratch, &expected));
  TRY(make_question(list, fed, step, &sides->actual, scratch, &actual));
  remember(list, &sides->expected, &sides->before);
  assay_status from = contract_guard(list->plan->contract, &expected);
  assay_status to = contract_guard(list->plan->contract, &actual);
  item->expected = from.code;
  item->actual = to.code;
  assay_status status = take_margins(list, &expected, &sides->before, from.code, scratch, &item->margins);
  if (assay_status_ok(status) && from.code != to.code) {
    status = keep_sentence(list->arena, &from, &item->expected_sentence);
  }
  if (assay_status_ok(status) && from.code != to.code) {
    status = keep_sentence(list->arena, &to, &item->actual_sentence);
  }
  assay_status_clear(&from);
  assay_status_clear(&to);
  list->count += assay_status_ok(status);
  return status;
}

assay_status guard_list_case(struct guard_list *list, const struct fed_case *fed, const struct answer *expected,
                             const struct answer *actual, bool wide) {
  struct arena scratch = {0};
  struct sides sides;
  if (list->n_outputs == 0) {
    return status_ok();
  }
  assay_status status = side_open(list, fed, expected, wide, &scratch, &sides.expected);
  if (assay_status_ok(status)) {
    status = side_open(list, fed, expected, wide, &scratch, &sides.before);
  }
  if (assay_status_ok(status)) {
    status = side_open(list, fed, actual, wide, &scratch, &sides.actual);
  }
  for (int64_t step = 0; step < fed->steps && assay_status_ok(status); step++) {
    status = take_step(list, fed, step, &sides, &scratch);
  }
  arena_free(&scratch);
  return status;
}

/* --- the reference against what its case states ---------------------------------- */

/* The answer that the case states for this step; false when it states none. `first`: the first refusal of the case. */
static bool stated_at(const struct corpus_case *entry, int64_t step, bool first, assay_code *out) {
  for (int32_t g = 0; g < entry->n_guard; g++) {
    const struct case_guard *guard = &entry->guard[g];
    if (guard->step == step || (guard->step < 0 && (first || guard->answer == ASSAY_OK))) {
      *out = guard->answer;
      return true;
    }
  }
  return false;
}

static assay_status say_other(const struct fed_case *fed, int64_t step, assay_code stated, const assay_status *got,
                              const char *who, struct arena *arena, struct gate_reasons *reasons) {
  bool accepted = assay_status_ok(*got);
  return golden_say(arena, reasons, gate_reason_of(ASSAY_INVALID_GOLDEN), fed, step,
                    "case '%s' states that the guard answers %s, but to the answer of %s it answers %s%s%s",
                    fed->entry->id, guard_answer_name(stated), who, guard_answer_name(got->code), accepted ? "" : ": ",
                    accepted ? "" : assay_status_sentence(*got));
}

/* Asks step by step until one answer is not as stated. */
static assay_status check_steps(const struct guard_list *list, const struct fed_case *fed, struct side *side,
                                const char *who, struct arena *scratch, struct arena *arena,
                                struct gate_reasons *reasons) {
  bool refused = false, wrong = false;
  for (int64_t step = 0; step < fed->steps && !wrong; step++) {
    struct guard_question question;
    assay_code stated = ASSAY_OK;
    TRY(make_question(list, fed, step, side, scratch, &question));
    assay_status got = contract_guard(list->plan->contract, &question);
    bool first = !refused && !assay_status_ok(got);
    refused |= first;
    wrong = stated_at(fed->entry, step, first, &stated) && stated != got.code;
    assay_status status = wrong ? say_other(fed, step, stated, &got, who, arena, reasons) : status_ok();
    assay_status_clear(&got);
    TRY(status);
  }
  const struct case_guard *whole = &fed->entry->guard[0];
  const assay_status accepted = {0};
  return !wrong && !refused && whole->step < 0 && whole->answer != ASSAY_OK
             ? say_other(fed, -1, whole->answer, &accepted, who, arena, reasons)
             : status_ok();
}

assay_status guard_check_golden(const struct plan *plan, const struct fed_case *fed, const struct answer *answer,
                                bool wide, const char *who, struct arena *arena, struct gate_reasons *reasons) {
  struct arena scratch = {0};
  struct guard_list list;
  struct side side;
  if (fed->entry->n_guard == 0) {
    return status_ok();
  }
  assay_status status = guard_list_open(plan, &scratch, &list);
  if (assay_status_ok(status)) {
    status = side_open(&list, fed, answer, wide, &scratch, &side);
  }
  if (assay_status_ok(status)) {
    status = check_steps(&list, fed, &side, who, &scratch, arena, reasons);
  }
  arena_free(&scratch);
  return status;
}
