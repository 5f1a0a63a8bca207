/* Binds a contract to a model, by name and never by position: the same tensors, dtypes and shapes
 * on both sides, and the same order of joints. The first fault is the answer. */
#include <stdio.h>
#include <string.h>

#include "contract/apply.h"
#include "contract/contract_metadata.h"
#include "contract/contract_side.h"
#include "core/memory.h"

struct side side_of_input(const struct contract_input *input) {
  return (struct side){"input", input->name, input->mark, input->dtype, input->rank, input->dims};
}

struct side side_of_output(const struct contract_output *output) {
  return (struct side){"output", output->name, output->mark, output->dtype, output->rank, output->dims};
}

const struct signature_tensor *signature_find(const struct signature_tensor *tensors, int32_t count, const char *name) {
  for (int32_t i = 0; i < count; i++) {
    if (text_equal(tensors[i].name, name)) {
      return &tensors[i];
    }
  }
  return NULL;
}

void signature_suggest(const struct signature_tensor *tensors, int32_t count, const char *name, struct text *out) {
  const char **names = memory_alloc((size_t)count, sizeof *names);
  for (int32_t i = 0; names != NULL && i < count; i++) {
    names[i] = tensors[i].name;
  }
  const char *near = names != NULL ? text_nearest(name, names, (size_t)count) : NULL;
  memory_free(names);
  if (near != NULL) {
    text_format(out, "; did you mean '%s'", near);
    return;
  }
  text_add(out, count == 0 ? "; it has none" : "; it has ");
  for (int32_t i = 0; i < count && i < 12; i++) {
    text_format(out, "%s'%.60s'", i == 0 ? "" : ", ", tensors[i].name);
  }
  text_add(out, count > 12 ? ", ..." : "");
}

/* A dynamic size of the model takes any; a fixed one must be the contract's only one. */
static bool shape_fits(const struct side *side, const struct signature_tensor *tensor) {
  bool fits = tensor->rank < 0 || tensor->rank == side->rank;
  for (int32_t i = 0; fits && tensor->rank >= 0 && i < side->rank; i++) {
    int64_t size = tensor->dims[i];
    fits = size < 0 || (side->dims[i].min == size && side->dims[i].max == size);
  }
  return fits;
}

void signature_describe_dims(const int64_t *dims, int32_t rank, struct text *out) {
  text_add_char(out, '[');
  for (int32_t i = 0; i < rank; i++) {
    text_add(out, i == 0 ? "" : ",");
    if (dims[i] < 0) {
      text_add(out, "?");
    } else {
      text_format(out, "%lld", (long long)dims[i]);
    }
  }
  text_add_char(out, ']');
}

assay_status side_fit(const struct contract *contract, const struct side *side, const struct signature_tensor *tensor,
                      const char *model_path) {
  if (tensor->dtype != side->dtype) {
    return contract_fault(contract, side->mark, ASSAY_CONTRACT_MISMATCH, "%s '%s' is %s here, but %s in %s", side->noun,
                          side->name, assay_dtype_name(side->dtype), assay_dtype_name(tensor->dtype), model_path);
  }
  if (!shape_fits(side, tensor)) {
    struct text own = {0}, other = {0};
    contract_describe_dims(side->dims, side->rank, &own);
    signature_describe_dims(tensor->dims, tensor->rank, &other);
    assay_status status =
        contract_fault(contract, side->mark, ASSAY_CONTRACT_MISMATCH, "%s '%s' has shape %s here, but %s in %s",
                       side->noun, side->name, text_string(&own), text_string(&other), model_path);
    text_free(&own);
    text_free(&other);
    return status;
  }
  return status_ok();
}

static assay_status bind_one(const struct contract *contract, const struct side *side,
                             const struct signature_tensor *tensors, int32_t count, const char *model_path) {
  const struct signature_tensor *tensor = signature_find(tensors, count, side->name);
  if (tensor == NULL) {
    struct text more = {0};
    signature_suggest(tensors, count, side->name, &more);
    assay_status status = contract_fault(contract, side->mark, ASSAY_CONTRACT_MISMATCH, "%s has no %s '%s'%s",
                                         model_path, side->noun, side->name, text_string(&more));
    text_free(&more);
    return status;
  }
  return side_fit(contract, side, tensor, model_path);
}

/* A tensor of the model that the contract leaves out; the place is the first entry of the list that lacks it. */
static assay_status missing(const struct contract *contract, struct mark list, const char *verb, const char *section,
                            const char *name, const char *model_path) {
  return contract_fault(contract, list, ASSAY_CONTRACT_MISMATCH,
                        "%s %s '%s', which the contract does not describe; list it under '%s' or pair it under 'state'",
                        model_path, verb, name, section);
}

static assay_status bind_inputs(const struct contract *contract, const struct signature *signature,
                                const char *model_path) {
  for (int32_t i = 0; i < contract->n_inputs; i++) {
    const struct contract_input *input = &contract->inputs[i];
    struct side side = side_of_input(input);
    TRY(bind_one(contract, &side, signature->inputs, signature->n_inputs, model_path));
  }
  for (int32_t i = 0; i < signature->n_inputs; i++) {
    const struct signature_tensor *tensor = &signature->inputs[i];
    if (!tensor->has_default && contract_find_input(contract, tensor->name) == NULL) {
      return missing(contract, contract->inputs[0].mark, "takes an input", "inputs", tensor->name, model_path);
    }
  }
  return status_ok();
}

static assay_status bind_outputs(const struct contract *contract, const struct signature *signature,
                                 const char *model_path) {
  for (int32_t i = 0; i < contract->n_outputs; i++) {
    const struct contract_output *output = &contract->outputs[i];
    struct side side = side_of_output(output);
    TRY(bind_one(contract, &side, signature->outputs, signature->n_outputs, model_path));
  }
  for (int32_t i = 0; i < signature->n_outputs; i++) {
    const struct signature_tensor *tensor = &signature->outputs[i];
    if (contract_find_output(contract, tensor->name) == NULL) {
      return missing(contract, contract->outputs[0].mark, "gives an output", "outputs", tensor->name, model_path);
    }
  }
  return status_ok();
}

assay_status contract_bind_states(const struct contract *contract, const struct signature *signature,
                                  const char *model_path) {
  for (int32_t i = 0; i < contract->n_states; i++) {
    const struct contract_state *state = &contract->states[i];
    if (signature_find(signature->outputs, signature->n_outputs, state->output) == NULL) {
      struct text more = {0};
      signature_suggest(signature->outputs, signature->n_outputs, state->output, &more);
      assay_status status = contract_fault(contract, state->mark, ASSAY_CONTRACT_MISMATCH,
                                           "the state '%s' comes from the output '%s', which %s does not have%s",
                                           state->input, state->output, model_path, text_string(&more));
      text_free(&more);
      return status;
    }
  }
  return status_ok();
}

assay_status contract_bind(const struct contract *contract, const struct signature *signature, const char *model_path) {
  TRY(bind_inputs(contract, signature, model_path));
  TRY(bind_outputs(contract, signature, model_path));
  return metadata_check(contract, signature, model_path);
}
