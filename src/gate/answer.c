/* One case through one rung: inputs made ready, state carried from step to step, outputs copied. It
 * compares nothing. */
#include <string.h>

#include "contract/apply.h"
#include "corpus/case_observation.h"
#include "corpus/case_times.h"
#include "gate/closed_loop.h"
#include "gate/plan.h"

/* --- inputs ------------------------------------------------------------------ */

/* A copy of `tensor` in the arena. */
static assay_status copy_in(struct arena *arena, const assay_tensor *tensor, assay_tensor *out) {
  TRY(tensor_new_in(arena, tensor->dtype, tensor->dims, tensor->rank, out));
  if (tensor->bytes > 0) {
    memcpy(out->data, tensor->data, tensor->bytes);
  }
  return status_ok();
}

static assay_status feed_raw(const struct contract_input *input, const char *id, const assay_tensor *raw,
                             struct arena *arena, assay_tensor *out) {
  assay_tensor made;
  assay_status refused = contract_preprocess(input, raw, &made);
  if (assay_code_kind_of(refused.code) == ASSAY_KIND_INPUT) {
    assay_status unfit = status_make(ASSAY_INVALID_GOLDEN, id, "case '%s': raw/%s cannot be preprocessed: %s", id,
                                     input->raw, assay_status_sentence(refused));
    assay_status_clear(&refused);
    return unfit;
  }
  TRY(refused);
  assay_status status = copy_in(arena, &made, out);
  tensor_free(&made);
  return status;
}

/* Input `input` at `step`: as recorded, or preprocessed from what the sensor gave. */
static assay_status feed_one(const struct contract_input *input, struct fed_case *fed, int64_t step,
                             struct rung_tensor *out) {
  const assay_tensor *recorded = case_input(fed->data, input->name), *raw = case_raw(fed->data, input->raw);
  out->name = input->name;
  if (recorded != NULL) {
    out->tensor = case_step(fed->data, fed->entry, recorded, step);
    return status_ok();
  }
  if (input->terms != NULL) {
    out->tensor = (assay_tensor){.dtype = input->dtype, .rank = 1}; /* empty until fed_case_observe */
    return status_ok();
  }
  if (raw == NULL) {
    return status_make(ASSAY_INVALID_GOLDEN, fed->entry->id,
                       "case '%s' has neither inputs/%s nor raw/%s; capture it again", fed->entry->id, input->name,
                       input->raw);
  }
  assay_tensor view = case_step(fed->data, fed->entry, raw, step);
  return feed_raw(input, fed->entry->id, &view, &fed->arena, &out->tensor);
}

static assay_status feed_all(const struct contract *contract, struct fed_case *fed) {
  ARENA_NEW(&fed->arena, fed->inputs, (size_t)fed->steps * (size_t)(contract->n_inputs + 1));
  for (int32_t i = 0; i < contract->n_inputs; i++) {
    fed->n_inputs += !contract->inputs[i].is_state;
  }
  for (int64_t step = 0; step < fed->steps; step++) {
    struct rung_tensor *out = fed->inputs + step * fed->n_inputs;
    for (int32_t i = 0; i < contract->n_inputs; i++) {
      if (!contract->inputs[i].is_state) {
        TRY(feed_one(&contract->inputs[i], fed, step, out++));
      }
    }
  }
  return status_ok();
}

/* The inputs of each step, then the sensors of terms. */
static assay_status list_measured(const struct contract *contract, struct fed_case *fed) {
  struct fed_input *items;
  assay_tensor *sensors;
  size_t n = (size_t)fed->n_inputs, most = contract_sensor_count(contract), wide = n + most;
  ARENA_NEW(&fed->arena, fed->measured, fed->steps + 1);
  ARENA_NEW(&fed->arena, items, (size_t)fed->steps * wide + 1);
  ARENA_NEW(&fed->arena, sensors, (size_t)fed->steps * most + 1);
  for (int64_t step = 0; step < fed->steps; step++) {
    const struct rung_tensor *inputs = fed->inputs + (size_t)step * n;
    struct fed_input *row = items + (size_t)step * wide;
    for (size_t i = 0; i < n; i++) {
      row[i] = (struct fed_input){inputs[i].name, &inputs[i].tensor, case_age_at(fed->entry, inputs[i].name, step)};
    }
    size_t found = case_sensors_at(contract, fed->entry, fed->data, step, row + n, sensors + (size_t)step * most);
    fed->measured[step] = (struct fed_inputs){row, n + found};
  }
  return status_ok();
}

const struct fed_inputs *fed_case_measured(const struct fed_case *fed, int64_t step) {
  return fed->measured != NULL && step >= 0 && step < fed->steps ? &fed->measured[step] : NULL;
}

assay_status fed_case_make(struct plan *plan, int32_t index, struct fed_case *out) {
  *out = (struct fed_case){.entry = &plan->cases.entries[index], .index = index};
  TRY(case_store_get(&plan->cases, index, &out->data));
  out->steps = out->entry->sequence ? out->data->steps : 1;
  if (plan->outputs_only) {
    return status_ok();
  }
  TRY(feed_all(plan->contract, out));
  TRY(list_measured(plan->contract, out));
  return fed_case_observe(plan->contract, out);
}

void fed_case_free(struct plan *plan, struct fed_case *fed) {
  arena_free(&fed->arena);
  if (fed->data != NULL) {
    case_store_release(&plan->cases, fed->index);
  }
  *fed = (struct fed_case){0};
}

/* --- answers ------------------------------------------------------------------ */

void answer_free(struct answer *answer) {
  arena_free(&answer->arena);
  *answer = (struct answer){0};
}

const assay_tensor *answer_find(const struct answer *answer, int64_t step, const char *name) {
  if (step < 0 || step >= answer->steps) {
    return NULL;
  }
  for (int32_t i = 0; i < answer->step[step].n_outputs; i++) {
    if (strcmp(answer->step[step].outputs[i].name, name) == 0) {
      return &answer->step[step].outputs[i].tensor;
    }
  }
  return NULL;
}

const assay_tensor *answer_find_inner(const struct answer *answer, int64_t step, const char *name) {
  if (step < 0 || step >= answer->steps) {
    return NULL;
  }
  const assay_tensor *output = answer_find(answer, step, name);
  for (int32_t i = 0; output == NULL && i < answer->step[step].n_inner; i++) {
    if (strcmp(answer->step[step].inner[i].name, name) == 0) {
      return &answer->step[step].inner[i].tensor;
    }
  }
  return output;
}

/* What the source stored of its own inner values. */
static assay_status recorded_inner(const struct fed_case *fed, int64_t step, struct arena *arena,
                                   struct answer_step *out) {
  struct rung_tensor *inner;
  ARENA_NEW(arena, inner, fed->data->n_taps + 1);
  for (int32_t i = 0; i < fed->data->n_taps; i++) {
    inner[i].name = fed->data->taps[i].name;
    inner[i].tensor = case_step(fed->data, fed->entry, &fed->data->taps[i].tensor, step);
  }
  out->inner = inner;
  out->n_inner = fed->data->n_taps;
  return status_ok();
}

assay_status answer_recorded(const struct fed_case *fed, int32_t repeat, struct answer *out) {
  const struct case_array *arrays = repeat < 0 ? fed->data->outputs : fed->data->repeats[repeat];
  *out = (struct answer){0};
  ARENA_NEW(&out->arena, out->step, fed->steps + 1);
  for (int64_t step = 0; step < fed->steps; step++) {
    struct rung_tensor *outputs;
    int32_t count = 0;
    ARENA_NEW(&out->arena, outputs, fed->data->n_outputs + 1);
    for (int32_t i = 0; i < fed->data->n_outputs; i++) {
      /* An empty repeat is one that the case lacks. */
      if (arrays[i].tensor.dtype != ASSAY_UNDEFINED) {
        outputs[count].name = fed->data->outputs[i].name;
        outputs[count++].tensor = case_step(fed->data, fed->entry, &arrays[i].tensor, step);
      }
    }
    out->step[step] = (struct answer_step){.n_outputs = count, .outputs = outputs};
    if (repeat < 0) {
      TRY(recorded_inner(fed, step, &out->arena, &out->step[step]));
    }
  }
  out->steps = fed->steps;
  return status_ok();
}

static assay_status copy_tensors(struct arena *arena, const struct rung_tensor *from, int32_t count,
                                 const struct rung_tensor **out) {
  struct rung_tensor *outputs;
  ARENA_NEW(arena, outputs, count + 1);
  for (int32_t i = 0; i < count; i++) {
    outputs[i].name = arena_string(arena, from[i].name);
    if (outputs[i].name == NULL) {
      return status_no_memory(strlen(from[i].name));
    }
    const assay_tensor *tensor = &from[i].tensor;
    if (tensor->dtype == ASSAY_STRING) {
      outputs[i].tensor = *tensor; /* dtype and shape are all that is looked at */
      outputs[i].tensor.data = NULL;
      outputs[i].tensor.bytes = 0;
    } else {
      TRY(copy_in(arena, tensor, &outputs[i].tensor));
    }
  }
  *out = outputs;
  return status_ok();
}

/* `inner`: with what stands between stages. */
static assay_status copy_answer(struct arena *arena, const struct rung_answer *from, bool inner,
                                struct answer_step *out) {
  *out = (struct answer_step){.n_outputs = from->n_outputs, .n_inner = inner ? from->n_inner : 0};
  TRY(copy_tensors(arena, from->outputs, from->n_outputs, &out->outputs));
  return copy_tensors(arena, from->inner, out->n_inner, &out->inner);
}

/* What a state input is fed at `step`: as recorded where the case is forced or begins with it, the
 * output of the step before in `so_far`, or the start value. A view; what is made lives in `arena`. */
static assay_status answer_state(const struct plan *plan, const struct fed_case *fed,
                                 const struct contract_state *state, const struct answer *so_far, int64_t step,
                                 struct arena *arena, assay_tensor *out) {
  const assay_tensor *recorded = case_input(fed->data, state->input);
  if (recorded != NULL && (step == 0 || fed->entry->forced)) {
    *out = case_step(fed->data, fed->entry, recorded, step);
    return status_ok();
  }
  if (fed->entry->forced) {
    return status_make(ASSAY_INVALID_GOLDEN, fed->entry->id,
                       "case '%s' is forced, but has no inputs/%s to feed at step %lld", fed->entry->id, state->input,
                       (long long)step);
  }
  if (step > 0) {
    const assay_tensor *carried = answer_find(so_far, step - 1, state->output);
    if (carried == NULL) {
      return status_make(ASSAY_OUTPUT_MISSING, fed->entry->id,
                         "the state '%s' cannot be carried to step %lld: the rung gives no output '%s'", state->input,
                         (long long)step, state->output);
    }
    *out = *carried;
    return status_ok();
  }
  if (state->initial != NULL) {
    *out = *state->initial;
    return status_ok();
  }
  const struct contract_input *input = contract_find_input(plan->contract, state->input);
  int64_t dims[ASSAY_RANK_MAX];
  if (input == NULL) {
    return status_make(ASSAY_CONTRACT_INVALID, plan->contract->path, "the state '%s' is no input", state->input);
  }
  for (int32_t d = 0; d < input->rank; d++) {
    dims[d] = input->dims[d].opt;
  }
  return tensor_new_in(arena, input->dtype, dims, input->rank, out); /* cleared */
}

/* What stages and turns are fed in place of the rung's own: every inner value that the reference has. */
static assay_status give_inner(const struct answer *reference, int64_t step, struct arena *arena,
                               struct rung_call *call) {
  const struct answer_step *from = &reference->step[step];
  struct rung_tensor *given;
  ARENA_NEW(arena, given, from->n_inner + from->n_outputs + 1);
  for (int32_t i = 0; i < from->n_outputs; i++) {
    given[call->n_given++] = from->outputs[i]; /* those that are inner too; the rest is asked for by no stage */
  }
  for (int32_t i = 0; i < from->n_inner; i++) {
    given[call->n_given++] = from->inner[i]; /* of two of one name the first is taken */
  }
  call->given = given;
  return status_ok();
}

/* `reference` NULL: everything is carried from the rung's own answers. */
static assay_status run_loop(const struct plan *plan, const struct fed_case *fed, const struct answer *reference,
                             struct rung *rung, struct closed_loop *loop, struct answer *out) {
  const struct answer *before = reference != NULL ? reference : out;
  const struct contract *contract = plan->contract;
  struct rung_tensor *inputs;
  *out = (struct answer){0};
  ARENA_NEW(&out->arena, out->step, fed->steps + 1);
  int32_t n_states = plan->outputs_only ? 0 : contract->n_states;
  ARENA_NEW(&out->arena, inputs, fed->n_inputs + n_states + 1);
  for (int64_t step = 0; step < fed->steps; step++) {
    struct rung_answer given;
    if (fed->n_inputs > 0) {
      memcpy(inputs, fed->inputs + step * fed->n_inputs, (size_t)fed->n_inputs * sizeof *inputs);
    }
    TRY(closed_loop_feed(loop, step, inputs));
    for (int32_t s = 0; s < n_states; s++) {
      struct rung_tensor *state = &inputs[fed->n_inputs + s];
      state->name = contract->states[s].input;
      TRY(answer_state(plan, fed, &contract->states[s], before, step, &out->arena, &state->tensor));
    }
    struct rung_call call = {.case_id = fed->entry->id,
                             .step = step,
                             .steps = fed->entry->sequence ? fed->steps : 0,
                             .inputs = inputs,
                             .n_inputs = fed->n_inputs + n_states};
    if (reference != NULL) {
      TRY(give_inner(reference, step, &out->arena, &call));
    }
    TRY(rung_run(rung, &call, &given));
    TRY(copy_answer(&out->arena, &given, contract->stages != NULL, &out->step[step]));
    out->steps = step + 1;
    TRY(closed_loop_answer(loop, step, &before->step[step]));
  }
  return status_ok();
}

static assay_status run_steps(const struct plan *plan, const struct fed_case *fed, const struct answer *reference,
                              struct rung *rung, struct answer *out) {
  struct closed_loop loop = {0};
  *out = (struct answer){0};
  TRY(closed_loop_open(plan, fed, &loop));
  assay_status status = run_loop(plan, fed, reference, rung, &loop, out);
  closed_loop_close(&loop);
  return status;
}

assay_status answer_run(const struct plan *plan, const struct fed_case *fed, struct rung *rung, struct answer *out) {
  return run_steps(plan, fed, NULL, rung, out);
}

assay_status answer_run_alone(const struct plan *plan, const struct fed_case *fed, const struct answer *reference,
                              struct rung *rung, struct answer *out) {
  *out = (struct answer){0};
  if (reference->steps < fed->steps) {
    return status_make(ASSAY_INVALID_GOLDEN, fed->entry->id, "the reference has no answer to case '%s'",
                       fed->entry->id);
  }
  return run_steps(plan, fed, reference, rung, out);
}
