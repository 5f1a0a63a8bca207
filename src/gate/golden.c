/* Golden cases before anything is compared with them: see golden.h. It must never let a case be compared
 * with that could not be told right from wrong. */
#include "gate/golden.h"

#include <math.h>
#include <string.h>

#include "contract/compare.h"
#include "core/memory.h"
#include "corpus/case_times.h"
#include "gate/sensor_check.h"
#include "gate/time_check.h"

assay_status golden_say(struct arena *arena, struct gate_reasons *reasons, struct gate_reason reason,
                        const struct fed_case *fed, int64_t step, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  reason.sentence = arena_format_va(arena, format, arguments);
  va_end(arguments);
  reason.case_id = fed->entry->id;
  reason.step = fed->entry->sequence ? step : -1;
  return reason.sentence != NULL ? gate_reason_add(arena, reasons, &reason) : status_no_memory(0);
}

/* --- inputs by the contract ---------------------------------------------------- */

/* Everything that the case would feed at `step`, also what the contract does not know. */
static assay_status validate_step(const struct plan *plan, const struct fed_case *fed, int64_t step,
                                  struct input_watch *watches, struct arena *scratch, assay_status *refusal) {
  const struct contract *contract = plan->contract;
  struct fed_input *inputs;
  assay_tensor *tensors;
  size_t count = 0, most = (size_t)fed->n_inputs + (size_t)fed->data->n_inputs;
  ARENA_NEW(scratch, inputs, most + 1);
  ARENA_NEW(scratch, tensors, most + 1);
  for (int32_t i = 0; i < fed->n_inputs; i++) {
    const struct rung_tensor *input = &fed->inputs[step * fed->n_inputs + i];
    inputs[count++] = (struct fed_input){input->name, &input->tensor, case_age_at(fed->entry, input->name, step)};
  }
  for (int32_t i = 0; i < fed->data->n_inputs; i++) {
    const struct case_array *array = &fed->data->inputs[i];
    const struct contract_input *input = contract_find_input(contract, array->name);
    if (input == NULL || input->is_state) {
      tensors[count] = case_step(fed->data, fed->entry, &array->tensor, step);
      inputs[count] = (struct fed_input){array->name, &tensors[count], case_age_at(fed->entry, array->name, step)};
      count++;
    }
  }
  return time_check_step(contract, fed->entry, step, &(struct fed_inputs){inputs, count}, watches, scratch, refusal);
}

static assay_status check_validity(const struct plan *plan, const struct fed_case *fed, struct arena *arena,
                                   struct gate_reasons *reasons) {
  struct arena scratch = {0};
  struct input_watch *watches = arena_alloc(&scratch, (size_t)plan->contract->n_inputs + 1, sizeof *watches);
  assay_status status = watches != NULL ? status_ok() : status_no_memory(sizeof *watches);
  for (int64_t step = 0; step < fed->steps && assay_status_ok(status); step++) {
    assay_status refusal = status_ok();
    status = sensor_check_step(plan->contract, fed->entry, fed->data, step, &refusal);
    if (assay_status_ok(status) && assay_status_ok(refusal)) {
      status = validate_step(plan, fed, step, watches, &scratch, &refusal);
    }
    bool refused = !assay_status_ok(refusal);
    if (refused && assay_status_ok(status)) {
      status = golden_say(arena, reasons, gate_reason_of(ASSAY_INVALID_GOLDEN), fed, step,
                          "case '%s' expects an answer, but the contract refuses its inputs with %s: %s",
                          fed->entry->id, assay_code_name(refusal.code), assay_status_sentence(refusal));
    }
    assay_status_clear(&refusal);
    if (refused) {
      break;
    }
  }
  arena_free(&scratch);
  return status;
}

assay_status golden_check_inputs(const struct plan *plan, const struct fed_case *fed, struct arena *arena,
                                 struct gate_reasons *reasons) {
  TRY(time_check_names(plan, fed, arena, reasons));
  TRY(sensor_check_names(plan, fed, arena, reasons));
  TRY(check_validity(plan, fed, arena, reasons));
  return golden_check_recomputed(plan, fed, arena, reasons);
}

/* --- answers ----------------------------------------------------------------------- */

static bool shape_fits(const struct contract_output *output, const assay_tensor *tensor) {
  if (output->rank < 0) {
    return true; /* nothing is declared: a comparison without a contract */
  }
  if (tensor->rank != output->rank) {
    return false;
  }
  for (int32_t d = 0; d < tensor->rank; d++) {
    if (tensor->dims[d] < output->dims[d].min || tensor->dims[d] > output->dims[d].max) {
      return false;
    }
  }
  return true;
}

static assay_status check_finite(const struct plan_output *planned, const struct fed_case *fed,
                                 const assay_tensor *tensor, const char *who, int64_t step, struct arena *arena,
                                 struct gate_reasons *reasons) {
  const struct contract_output *output = planned->output;
  if (!dtype_is_float(tensor->dtype)) {
    return status_ok();
  }
  for (int64_t i = 0; i < tensor_count(tensor); i++) {
    double value = tensor_get(tensor, i);
    int64_t horizon_step;
    if (isfinite(value)) {
      continue;
    }
    const struct contract_component *component =
        &output->components[contract_component_of(output, tensor, i, &horizon_step)];
    if (isinf(value) && component->allow_inf) {
      continue;
    }
    return golden_say(arena, reasons, gate_reason_of(ASSAY_INVALID_GOLDEN), fed, step,
                      "case '%s': %s answers %s for '%s' (output '%s', element %lld); a reference must be finite%s",
                      fed->entry->id, who, isnan(value) ? "NaN" : "infinity", component->name, output->name,
                      (long long)i, isinf(value) ? ", unless the component says `allow_inf: true`" : "");
  }
  return status_ok();
}

/* Numbers that are no rotation, such as a quaternion of length 0, are equal to nothing. */
static assay_status check_rotations(const struct contract_output *output, const struct fed_case *fed,
                                    const assay_tensor *tensor, const char *who, int64_t step, struct arena *arena,
                                    struct gate_reasons *reasons) {
  int64_t count = tensor_count(tensor), horizon, at = -1;
  double *values = memory_alloc((size_t)count + 1, sizeof *values), pair[2] = {0};
  if (values == NULL) {
    return status_no_memory((size_t)count * sizeof *values);
  }
  contract_decode(output, tensor, fed_case_measured(fed, step), values);
  for (int64_t i = 0; i < count && at < 0; i++) {
    int32_t c = contract_component_of(output, tensor, i, &horizon);
    bool executed = output->execute_steps == 0 || horizon < output->execute_steps;
    bool angle = component_compared(&output->components[c]) == COMPARED_ANGLE;
    if (executed && angle && compare_pair(output, tensor, values, values, i, pair, NULL) && isnan(pair[1])) {
      at = i;
    }
  }
  memory_free(values);
  return at < 0
             ? status_ok()
             : golden_say(arena, reasons, gate_reason_of(ASSAY_INVALID_GOLDEN), fed, step,
                          "case '%s': the numbers of '%s' that %s answers (output '%s', from element %lld on) are no "
                          "rotation: they are not finite, have no length, or lie on one line",
                          fed->entry->id,
                          output->components[contract_component_of(output, tensor, at, &horizon)].group->name, who,
                          output->name, (long long)at);
}

static assay_status check_output(const struct plan_output *planned, const struct fed_case *fed,
                                 const assay_tensor *tensor, const char *who, bool wide, int64_t step,
                                 struct arena *arena, struct gate_reasons *reasons) {
  const struct contract_output *output = planned->output;
  if (tensor == NULL) {
    return !planned->decides ? status_ok() /* a state or inner value that the source did not store */
                             : golden_say(arena, reasons, gate_reason_of(ASSAY_INVALID_GOLDEN), fed, step,
                                          "case '%s': %s has no answer for the output '%s' of the contract",
                                          fed->entry->id, who, output->name);
  }
  bool widened = wide && output->dtype == ASSAY_FLOAT32 && tensor->dtype == ASSAY_FLOAT64;
  if (tensor->dtype != output->dtype && !widened) {
    return golden_say(arena, reasons, gate_reason_of(ASSAY_INVALID_GOLDEN), fed, step,
                      "case '%s': %s answers '%s' as %s, but the contract says %s", fed->entry->id, who, output->name,
                      assay_dtype_name(tensor->dtype), assay_dtype_name(output->dtype));
  }
  if (!shape_fits(output, tensor)) {
    struct text shape = {0};
    shape_describe(tensor->dims, tensor->rank, &shape);
    assay_status status = golden_say(arena, reasons, gate_reason_of(ASSAY_INVALID_GOLDEN), fed, step,
                                     "case '%s': %s answers '%s' with shape %s, which is not the contract's",
                                     fed->entry->id, who, output->name, text_string(&shape));
    text_free(&shape);
    return status;
  }
  int32_t before = reasons->count;
  TRY(check_finite(planned, fed, tensor, who, step, arena, reasons));
  return reasons->count == before && output->n_groups > 0
             ? check_rotations(output, fed, tensor, who, step, arena, reasons)
             : status_ok();
}

assay_status golden_check_answer(const struct plan *plan, const struct fed_case *fed, const struct answer *answer,
                                 const char *who, bool wide, struct arena *arena, struct gate_reasons *reasons) {
  int32_t before = reasons->count;
  int64_t elements = 0;
  /* One step is enough to find the case unfit; every output of it is named. */
  for (int64_t step = 0; step < answer->steps && reasons->count == before; step++) {
    for (int32_t o = 0; o < plan->n_outputs; o++) {
      const struct plan_output *planned = &plan->outputs[o];
      const assay_tensor *tensor = answer_find(answer, step, planned->output->name);
      TRY(check_output(planned, fed, tensor, who, wide, step, arena, reasons));
      elements += tensor != NULL && planned->decides ? tensor_count(tensor) : 0;
      elements += tensor != NULL && planned->output->rows_vary; /* no detection is an answer too */
    }
    for (int32_t i = 0; i < answer->step[step].n_outputs; i++) {
      const char *name = answer->step[step].outputs[i].name;
      if (plan_output_find(plan, name) == NULL) {
        TRY(golden_say(arena, reasons, gate_reason_of(ASSAY_INVALID_GOLDEN), fed, step,
                       "case '%s': %s answers an output '%s' that the contract does not name", fed->entry->id, who,
                       name));
      }
    }
  }
  if (elements > 0 || reasons->count > before) {
    return status_ok();
  }
  /* Such a case would vanish among others that agree. */
  return golden_say(arena, reasons, gate_reason_of(ASSAY_NOTHING_COMPARED), fed, -1,
                    "case '%s': %s answers with nothing that could be compared: %s; take the case out, or store what "
                    "was answered",
                    fed->entry->id, who, answer->steps == 0 ? "a sequence of no steps" : "no element of any output");
}
