/* Invalid cases: each must be refused, and with exactly the code that the corpus says. It must never count
 * a case as refused for another reason. */
#include <string.h>

#include "corpus/case_observation.h"
#include "corpus/case_times.h"
#include "gate/golden.h"
#include "gate/sensor_check.h"
#include "gate/time_check.h"

/* The refusal that one step of an invalid case gets: preprocessing may refuse raw data itself. */
static assay_status refuse_step(const struct plan *plan, const struct corpus_case *entry, const struct case_data *data,
                                int64_t step, struct input_watch *watches, const struct case_built *built,
                                struct arena *scratch, assay_status *refusal) {
  const struct contract *contract = plan->contract;
  size_t most = (size_t)data->n_inputs + (size_t)contract->n_inputs;
  struct fed_input *inputs;
  assay_tensor *tensors;
  size_t count = 0;
  ARENA_NEW(scratch, inputs, most + 1);
  ARENA_NEW(scratch, tensors, most + 1);
  for (int32_t i = 0; i < data->n_inputs; i++) {
    tensors[count] = case_step(data, entry, &data->inputs[i].tensor, step);
    inputs[count] =
        (struct fed_input){data->inputs[i].name, &tensors[count], case_age_at(entry, data->inputs[i].name, step)};
    count++;
  }
  for (int32_t i = 0; i < contract->n_inputs; i++) {
    const struct contract_input *input = &contract->inputs[i];
    const assay_tensor *raw = case_raw(data, input->raw);
    if (case_input(data, input->name) != NULL) {
      continue;
    }
    if (built->inputs[i] != NULL) {
      inputs[count++] = (struct fed_input){input->name, &built->inputs[i][step], case_age_at(entry, input->name, step)};
    } else if (raw != NULL && input->terms == NULL) {
      assay_tensor view = case_step(data, entry, raw, step), made = {0};
      *refusal = contract_preprocess(input, &view, &made);
      if (!assay_status_ok(*refusal)) {
        return status_ok();
      }
      assay_status copied = tensor_new_in(scratch, made.dtype, made.dims, made.rank, &tensors[count]);
      if (assay_status_ok(copied) && made.bytes > 0) {
        memcpy(tensors[count].data, made.data, made.bytes);
      }
      tensor_free(&made);
      TRY(copied);
      inputs[count] = (struct fed_input){input->name, &tensors[count], case_age_at(entry, input->name, step)};
      count++;
    }
  }
  return time_check_step(contract, entry, step, &(struct fed_inputs){inputs, count}, watches, scratch, refusal);
}

static assay_status find_refusal(const struct plan *plan, const struct corpus_case *entry, const struct case_data *data,
                                 assay_status *refusal) {
  struct arena scratch = {0};
  struct case_built built;
  int64_t steps = entry->sequence ? data->steps : 1;
  struct input_watch *watches = arena_alloc(&scratch, (size_t)plan->contract->n_inputs + 1, sizeof *watches);
  if (watches == NULL) {
    return status_no_memory(sizeof *watches);
  }
  assay_status status = case_build(plan->contract, entry, data, steps, &built);
  if (contract_is_refusal(status.code)) { /* of a sensor */
    *refusal = status;
    status = status_ok();
  }
  for (int64_t step = 0; step < steps && assay_status_ok(status) && assay_status_ok(*refusal); step++) {
    status = sensor_check_step(plan->contract, entry, data, step, refusal);
    if (!assay_status_ok(status) || !assay_status_ok(*refusal)) {
      break;
    }
    status = refuse_step(plan, entry, data, step, watches, &built, &scratch, refusal);
  }
  arena_free(&scratch);
  arena_free(&built.arena);
  return status;
}

assay_status invalid_case_check(struct plan *plan, int32_t index, struct arena *arena,
                                struct invalid_case_result *out) {
  const struct corpus_case *entry = &plan->cases.entries[index];
  const struct case_data *data;
  assay_status refusal = status_ok();
  TRY(case_store_get(&plan->cases, index, &data));
  assay_status status = find_refusal(plan, entry, data, &refusal);
  case_store_release(&plan->cases, index);
  *out = (struct invalid_case_result){.case_id = entry->id, .expected = assay_code_name(entry->refusal)};
  if (assay_status_ok(status)) {
    bool right = refusal.code == entry->refusal;
    out->verdict = right ? VERDICT_PASS : VERDICT_REJECT;
    out->actual = assay_status_ok(refusal) ? NULL : assay_code_name(refusal.code);
    out->sentence =
        assay_status_ok(refusal)
            ? arena_format(arena, "case '%s' must be refused with %s, but was accepted", entry->id, out->expected)
        : right ? arena_string(arena, assay_status_sentence(refusal))
                : arena_format(arena, "case '%s' must be refused with %s, but was refused with %s: %s", entry->id,
                               out->expected, out->actual, assay_status_sentence(refusal));
    status = out->sentence != NULL ? status_ok() : status_no_memory(0);
  }
  assay_status_clear(&refusal);
  return status;
}
