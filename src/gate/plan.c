/* The plan of a gate: which outputs and components there are, and the store of cases. It judges nothing. */
#include "gate/plan.h"

#include <string.h>

#include "contract/stages.h"
#include "core/memory.h"

static const size_t store_limit = (size_t)256 << 20; /* bytes of cases that are kept between rungs */

/* A state's output, or an inner value, is judged only where something says how. */
static bool output_decides(const struct contract_output *output, bool inner) {
  bool declared = !(output->is_state || inner) || output->n_decisions > 0;
  for (int32_t c = 0; c < output->n_components && !declared; c++) {
    declared = output->components[c].tolerance.given || output->components[c].has_decision;
  }
  return (declared || output->detected) && !output->rows_vary;
}

static assay_status make_outputs(struct plan *plan) {
  const struct contract *contract = plan->contract;
  struct plan_output *outputs;
  ARENA_NEW(&plan->arena, outputs, contract->n_outputs + 1);
  for (int32_t i = 0; i < contract->n_outputs; i++) {
    outputs[i] = (struct plan_output){.output = &contract->outputs[i],
                                      .decides = output_decides(&contract->outputs[i], contract->outputs[i].is_inner),
                                      .first_component = plan->n_components};
    plan->n_components += contract->outputs[i].n_components;
  }
  plan->n_outputs = contract->n_outputs;
  plan->outputs = outputs;
  return status_ok();
}

static assay_status find_valid(struct plan *plan) {
  int32_t *valid;
  ARENA_NEW(&plan->arena, valid, plan->cases.n + 1);
  for (int32_t i = 0; i < plan->cases.n; i++) {
    if (!plan->cases.entries[i].refuse) {
      valid[plan->n_valid++] = i;
    }
  }
  plan->valid = valid;
  return status_ok();
}

assay_status plan_make(const struct contract *contract, struct case_store *cases, struct plan *out) {
  *out = (struct plan){.contract = contract, .cases = *cases};
  *cases = (struct case_store){0};
  TRY(make_outputs(out));
  if (out->cases.data == NULL) {
    out->cases.data = memory_alloc((size_t)out->cases.n + 1, sizeof *out->cases.data);
    if (out->cases.data == NULL) {
      return status_no_memory((size_t)out->cases.n * sizeof *out->cases.data);
    }
  }
  return find_valid(out);
}

void plan_take_stages(struct plan *plan, const struct bound_stages *stages) {
  struct plan_output *outputs = (struct plan_output *)plan->outputs; /* the plan's own */
  plan->stages = stages;
  for (int32_t i = 0; i < plan->n_outputs; i++) {
    outputs[i].decides = output_decides(outputs[i].output, stages->inner[i] || outputs[i].output->is_inner);
  }
}

void plan_free(struct plan *plan) {
  for (int32_t i = 0; plan->cases.data != NULL && i < plan->cases.n; i++) {
    case_data_free(plan->cases.data[i]);
  }
  memory_free(plan->cases.data);
  arena_free(&plan->arena);
  *plan = (struct plan){0};
}

const struct contract_component *plan_component(const struct plan *plan, int32_t index,
                                                const struct plan_output **output) {
  int32_t o = plan->n_outputs - 1;
  while (o > 0 && plan->outputs[o].first_component > index) {
    o--;
  }
  *output = &plan->outputs[o];
  return &plan->outputs[o].output->components[index - plan->outputs[o].first_component];
}

const struct plan_output *plan_output_find(const struct plan *plan, const char *name) {
  for (int32_t i = 0; i < plan->n_outputs; i++) {
    if (strcmp(plan->outputs[i].output->name, name) == 0) {
      return &plan->outputs[i];
    }
  }
  return NULL;
}

static size_t arrays_bytes(const struct case_array *arrays, int32_t count) {
  size_t bytes = 0;
  for (int32_t i = 0; i < count; i++) {
    bytes += arrays[i].tensor.bytes;
  }
  return bytes;
}

static size_t data_bytes(const struct case_data *data) {
  size_t bytes = arrays_bytes(data->inputs, data->n_inputs) + arrays_bytes(data->outputs, data->n_outputs) +
                 arrays_bytes(data->raw, data->n_raw) + arrays_bytes(data->decoded, data->n_decoded) +
                 arrays_bytes(data->taps, data->n_taps);
  for (int32_t r = 0; r < data->n_repeats; r++) {
    bytes += arrays_bytes(data->repeats[r], data->n_outputs);
  }
  return bytes;
}

assay_status case_store_get(struct case_store *store, int32_t i, const struct case_data **out) {
  if (store->data[i] == NULL) {
    TRY(store->places == NULL
            ? case_load(store->corpus, i, &store->data[i])
            : case_load_seed(store->corpus, store->places[i].corpus_index, store->places[i].seed, &store->data[i]));
    store->kept_bytes += data_bytes(store->data[i]);
  }
  *out = store->data[i];
  return status_ok();
}

void case_store_release(struct case_store *store, int32_t i) {
  if (store->corpus != NULL && store->data[i] != NULL && store->kept_bytes > store_limit) {
    store->kept_bytes -= data_bytes(store->data[i]);
    case_data_free(store->data[i]);
    store->data[i] = NULL;
  }
}
