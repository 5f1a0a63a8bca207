/* What of the contract nothing was held against: see held_check.h. It decides nothing. */
#include "gate/held_check.h"

#include "contract/terms.h"

assay_status held_check_open(const struct contract *contract, struct arena *arena, struct held_check *out) {
  *out = (struct held_check){.contract = contract};
  ARENA_NEW(arena, out->terms, contract->n_inputs + 1);
  ARENA_NEW(arena, out->decoding, contract->n_outputs + 1);
  return status_ok();
}

/* Sensors beside a stored observation are compared with it; without one the observation is built from them, and a wrong
 * term shows in the answers. */
static bool has_sensors(const struct contract_terms *terms, const struct case_data *data) {
  for (int32_t t = 0; t < terms->n_terms; t++) {
    if (terms->terms[t].raw != NULL && case_raw(data, terms->terms[t].raw) != NULL) {
      return true;
    }
  }
  return false;
}

static bool has_decoded(const struct contract_output *output, const struct case_data *data) {
  bool found = case_decoded(data, output->name) != NULL;
  for (int32_t c = 0; c < output->n_components && !found; c++) {
    found = case_decoded(data, output->components[c].name) != NULL;
  }
  return found;
}

void held_check_see(struct held_check *check, const struct case_data *data) {
  for (int32_t i = 0; i < check->contract->n_inputs; i++) {
    const struct contract_input *input = &check->contract->inputs[i];
    bool held = input->terms != NULL && (has_sensors(input->terms, data) || case_input(data, input->name) == NULL);
    check->terms[i] = check->terms[i] || held;
  }
  for (int32_t o = 0; o < check->contract->n_outputs; o++) {
    check->decoding[o] = check->decoding[o] || has_decoded(&check->contract->outputs[o], data);
  }
}

static bool has_sensor_terms(const struct contract_input *input) {
  for (int32_t t = 0; input->terms != NULL && t < input->terms->n_terms; t++) {
    if (input->terms->terms[t].raw != NULL) {
      return true;
    }
  }
  return false;
}

static bool decodes(const struct contract_output *output) {
  for (int32_t c = 0; c < output->n_components; c++) {
    if (output->components[c].n_decode > 0) {
      return true;
    }
  }
  return false;
}

assay_status held_check_note(const struct held_check *check, struct gate_result *result) {
  for (int32_t i = 0; i < check->contract->n_inputs; i++) {
    const struct contract_input *input = &check->contract->inputs[i];
    if (has_sensor_terms(input) && !check->terms[i]) {
      TRY(gate_result_note(
          result,
          "the terms of '%s' were held against nothing: no case stores what their sensors gave (raw/%s, "
          "...), so a wrong scale, order or history would not show",
          input->name, input->terms->terms[0].raw != NULL ? input->terms->terms[0].raw : "<sensor>"));
    }
  }
  for (int32_t o = 0; o < check->contract->n_outputs; o++) {
    const struct contract_output *output = &check->contract->outputs[o];
    if (decodes(output) && !check->decoding[o]) {
      TRY(gate_result_note(
          result,
          "the decoding of '%s' was held against nothing: no case stores decoded/ of it, so its figures in "
          "physical units are as right as the contract",
          output->name));
    }
  }
  return status_ok();
}
