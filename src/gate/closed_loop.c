/* Observations of a case that stores only what was measured: see closed_loop.h. */
#include "gate/closed_loop.h"

#include <string.h>

#include "corpus/case_observation.h"

/* A case that begins within an episode has a past that it does not store. */
static assay_status check_begins(const struct contract_input *input, const struct fed_case *fed) {
  if (!case_from_middle(fed->entry) || !terms_have_past(input->terms)) {
    return status_ok();
  }
  return status_make(ASSAY_INVALID_GOLDEN, fed->entry->id,
                     "case '%s' begins at frame %lld of its episode, so the history of '%s' before it is not known; "
                     "store inputs/%s, or begin where the episode begins",
                     fed->entry->id, (long long)fed->entry->origin.frame, input->name, input->name);
}

static assay_status observe_input(const struct contract *contract, const struct contract_input *input, int32_t slot,
                                  struct fed_case *fed) {
  assay_tensor **made;
  TRY(check_begins(input, fed));
  ARENA_NEW(&fed->arena, made, fed->steps + 1);
  for (int64_t step = 0; step < fed->steps; step++) {
    made[step] = &fed->inputs[step * fed->n_inputs + slot].tensor; /* at once: decoding may add from it */
  }
  assay_status failed = case_observe(contract, input, fed->entry, fed->data, fed->steps, fed->measured,
                                     (struct observer_options){0}, &fed->arena, made);
  bool is_case = assay_code_kind_of(failed.code) == ASSAY_KIND_INPUT || failed.code == ASSAY_OUTPUT_MISSING ||
                 failed.code == ASSAY_OUTPUT_SHAPE;
  if (is_case) {
    assay_status unfit = status_make(ASSAY_INVALID_GOLDEN, fed->entry->id,
                                     "case '%s' has no inputs/%s, and it cannot be made from what is stored: %s",
                                     fed->entry->id, input->name, assay_status_sentence(failed));
    assay_status_clear(&failed);
    return unfit;
  }
  return failed;
}

assay_status fed_case_observe(const struct contract *contract, struct fed_case *fed) {
  int32_t slot = 0;
  for (int32_t i = 0; i < contract->n_inputs; i++) {
    const struct contract_input *input = &contract->inputs[i];
    if (input->is_state) {
      continue;
    }
    if (input->terms != NULL && case_input(fed->data, input->name) == NULL) {
      TRY(observe_input(contract, input, slot, fed));
    }
    slot++;
  }
  return status_ok();
}

/* --- through a rung -------------------------------------------------------------------- */

static assay_status open_items(const struct plan *plan, struct closed_loop *loop) {
  const struct contract *contract = plan->contract;
  int32_t slot = 0;
  ARENA_NEW(&loop->arena, loop->items, contract->n_inputs + 1);
  for (int32_t i = 0; i < contract->n_inputs; i++) {
    const struct contract_input *input = &contract->inputs[i];
    if (input->is_state) {
      continue;
    }
    if (input->terms != NULL && terms_close_loop(input->terms) && case_input(loop->fed->data, input->name) == NULL) {
      struct loop_item *item = &loop->items[loop->n_items];
      TRY(observer_open(contract, input, input->terms, (struct observer_options){0}, &item->observer));
      item->slot = slot;
      loop->n_items++;
    }
    slot++;
  }
  return status_ok();
}

assay_status closed_loop_open(const struct plan *plan, const struct fed_case *fed, struct closed_loop *out) {
  *out = (struct closed_loop){.fed = fed};
  if (plan->outputs_only || fed->entry->forced) {
    return status_ok(); /* what the source saw is fed */
  }
  assay_status status = open_items(plan, out);
  if (!assay_status_ok(status)) {
    closed_loop_close(out);
  }
  return status;
}

assay_status closed_loop_feed(struct closed_loop *loop, int64_t step, struct rung_tensor *inputs) {
  for (int32_t i = 0; i < loop->n_items; i++) {
    TRY(observer_step(loop->items[i].observer, fed_case_measured(loop->fed, step)));
    inputs[loop->items[i].slot].tensor = *observer_tensor(loop->items[i].observer);
  }
  return status_ok();
}

assay_status closed_loop_answer(struct closed_loop *loop, int64_t step, const struct answer_step *answer) {
  if (loop->n_items == 0) {
    return status_ok();
  }
  int32_t count = answer->n_outputs + answer->n_inner;
  if (count > loop->room || loop->answers == NULL) {
    ARENA_NEW(&loop->arena, loop->answers, count + 1);
    loop->room = count;
  }
  for (int32_t o = 0; o < count; o++) {
    const struct rung_tensor *from =
        o < answer->n_outputs ? &answer->outputs[o] : &answer->inner[o - answer->n_outputs];
    loop->answers[o] = (struct fed_input){.name = from->name, .tensor = &from->tensor};
  }
  const struct fed_inputs outputs = {loop->answers, (size_t)count};
  for (int32_t i = 0; i < loop->n_items; i++) {
    TRY(observer_answer(loop->items[i].observer, &outputs, fed_case_measured(loop->fed, step)));
  }
  return status_ok();
}

void closed_loop_close(struct closed_loop *loop) {
  for (int32_t i = 0; i < loop->n_items; i++) {
    observer_close(loop->items[i].observer);
  }
  arena_free(&loop->arena);
  *loop = (struct closed_loop){0};
}
