/* A contract made here: see made_contract.h. It must never invent a unit or a tolerance above 0. */
#include "gate/made_contract.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"

static assay_status fill(struct contract *contract, const char *policy, int32_t inputs, int32_t outputs) {
  contract->path = "";
  contract->model = "";
  contract->deadline_misses = -1;
  contract->policy = arena_string(&contract->arena, policy);
  contract->inputs = arena_alloc(&contract->arena, (size_t)inputs + 1, sizeof *contract->inputs);
  contract->outputs = arena_alloc(&contract->arena, (size_t)outputs + 1, sizeof *contract->outputs);
  bool whole = contract->policy != NULL && contract->inputs != NULL && contract->outputs != NULL;
  return whole ? status_ok() : status_no_memory(strlen(policy));
}

assay_status made_contract_new(const char *policy, int32_t inputs, int32_t outputs, struct contract **out) {
  struct contract *contract = memory_alloc(1, sizeof *contract);
  *out = NULL;
  if (contract == NULL) {
    return status_no_memory(sizeof *contract);
  }
  assay_status status = fill(contract, policy, inputs, outputs);
  if (!assay_status_ok(status)) {
    contract_free(contract);
    return status;
  }
  *out = contract;
  return status;
}

assay_status made_contract_input(struct contract *contract, const char *name, assay_dtype dtype, int32_t rank,
                                 const int64_t *dims) {
  struct contract_input *input = (struct contract_input *)&contract->inputs[contract->n_inputs];
  input->name = input->raw = arena_string(&contract->arena, name);
  input->dtype = dtype;
  input->rank = rank;
  for (int32_t d = 0; d < rank; d++) {
    input->dims[d] = (struct dim_range){dims[d], dims[d], dims[d]};
  }
  contract->n_inputs++;
  return input->name != NULL ? status_ok() : status_no_memory(strlen(name));
}

assay_status made_contract_output(struct contract *contract, const char *name, assay_dtype dtype, bool exact) {
  struct contract_output *output = (struct contract_output *)&contract->outputs[contract->n_outputs];
  struct contract_component *component;
  ARENA_NEW(&contract->arena, component, 1);
  output->name = component->name = arena_string(&contract->arena, name);
  component->limit_min = component->limit_max = component->limit_rate = NAN;
  component->tolerance =
      (struct tolerance){.given = exact, .raw = true, .max = exact ? 0.0 : NAN, .mean = NAN, .p99 = NAN, .rms = NAN};
  output->dtype = dtype;
  output->rank = -1;
  output->component_axis = output->horizon_axis = -1;
  output->n_components = 1;
  output->components = component;
  output->is_state = !exact; /* what is not to be judged is shown */
  contract->n_outputs++;
  return output->name != NULL ? status_ok() : status_no_memory(strlen(name));
}
