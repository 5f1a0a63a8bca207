/* Observations of a case: see case_observation.h. Recorded answers stand for those of the policy. */
#include "corpus/case_observation.h"

#include <string.h>

#include "corpus/case_times.h"

size_t contract_sensor_count(const struct contract *contract) {
  size_t count = 0;
  for (int32_t i = 0; i < contract->n_inputs; i++) {
    count += contract->inputs[i].terms != NULL ? (size_t)contract->inputs[i].terms->n_terms : 0;
  }
  return count;
}

static bool is_listed(const struct fed_input *items, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++) {
    if (strcmp(items[i].name, name) == 0) {
      return true;
    }
  }
  return false;
}

size_t case_sensors_at(const struct contract *contract, const struct corpus_case *entry, const struct case_data *data,
                       int64_t step, struct fed_input *items, assay_tensor *tensors) {
  size_t count = 0;
  for (int32_t i = 0; i < contract->n_inputs; i++) {
    const struct contract_terms *terms = contract->inputs[i].terms;
    for (int32_t t = 0; terms != NULL && t < terms->n_terms; t++) {
      const char *name = terms->terms[t].raw;
      const assay_tensor *recorded = name != NULL ? case_raw(data, name) : NULL;
      if (recorded != NULL && !is_listed(items, count, name)) {
        tensors[count] = case_step(data, entry, recorded, step);
        items[count] = (struct fed_input){name, &tensors[count], case_age_at(entry, name, step)};
        count++;
      }
    }
  }
  return count;
}

assay_status case_answers_open(const struct case_data *data, struct case_answers *out) {
  struct fed_input *items;
  *out = (struct case_answers){0};
  ARENA_NEW(&out->arena, items, data->n_outputs + 1);
  ARENA_NEW(&out->arena, out->tensors, data->n_outputs + 1);
  out->inputs.items = items;
  return status_ok();
}

const struct fed_inputs *case_answers_at(struct case_answers *answers, const struct corpus_case *entry,
                                         const struct case_data *data, int64_t step) {
  struct fed_input *items = (struct fed_input *)answers->inputs.items;
  for (int32_t o = 0; o < data->n_outputs; o++) {
    answers->tensors[o] = case_step(data, entry, &data->outputs[o].tensor, step);
    items[o] = (struct fed_input){.name = data->outputs[o].name, .tensor = &answers->tensors[o]};
  }
  answers->inputs.count = (size_t)data->n_outputs;
  return &answers->inputs;
}

void case_answers_close(struct case_answers *answers) {
  arena_free(&answers->arena);
  *answers = (struct case_answers){0};
}

bool case_from_middle(const struct corpus_case *entry) { return entry->origin.frame > 0; }

/* The sensors alone, where the caller knows of nothing else that was measured. */
struct sensor_list {
  struct arena arena;
  struct fed_input *items;
  assay_tensor *tensors;
  struct fed_inputs inputs;
};

static assay_status sensor_list_open(const struct contract *contract, struct sensor_list *list) {
  size_t most = contract_sensor_count(contract);
  ARENA_NEW(&list->arena, list->items, most + 1);
  ARENA_NEW(&list->arena, list->tensors, most + 1);
  return status_ok();
}

static assay_status copy_out(const assay_tensor *from, struct arena *arena, assay_tensor *out) {
  TRY(tensor_new_in(arena, from->dtype, from->dims, from->rank, out));
  memcpy(out->data, from->data, from->bytes);
  return status_ok();
}

/* One step of the walk. */
static assay_status observe_one(struct observer *observer, const struct fed_inputs *measured,
                                const struct fed_inputs *answers, struct arena *arena, assay_tensor *out) {
  TRY(observer_step(observer, measured));
  TRY(observer_fill(observer, answers, measured));
  TRY(copy_out(observer_tensor(observer), arena, out));
  return observer_answer(observer, answers, measured);
}

assay_status case_observe(const struct contract *contract, const struct contract_input *input,
                          const struct corpus_case *entry, const struct case_data *data, int64_t steps,
                          const struct fed_inputs *measured, struct observer_options options, struct arena *arena,
                          assay_tensor *const *out) {
  struct observer *observer = NULL;
  struct case_answers answers = {0};
  struct sensor_list list = {0};
  assay_status status = observer_open(contract, input, input->terms, options, &observer);
  if (assay_status_ok(status)) {
    status = case_answers_open(data, &answers);
  }
  if (assay_status_ok(status) && measured == NULL) {
    status = sensor_list_open(contract, &list);
  }
  for (int64_t step = 0; step < steps && assay_status_ok(status); step++) {
    const struct fed_inputs *now = measured != NULL ? &measured[step] : &list.inputs;
    if (measured == NULL) {
      list.inputs =
          (struct fed_inputs){list.items, case_sensors_at(contract, entry, data, step, list.items, list.tensors)};
    }
    status = observe_one(observer, now, case_answers_at(&answers, entry, data, step), arena, out[step]);
  }
  observer_close(observer);
  case_answers_close(&answers);
  arena_free(&list.arena);
  return status;
}

assay_status case_build(const struct contract *contract, const struct corpus_case *entry, const struct case_data *data,
                        int64_t steps, struct case_built *out) {
  *out = (struct case_built){0};
  ARENA_NEW(&out->arena, out->inputs, contract->n_inputs + 1);
  for (int32_t i = 0; i < contract->n_inputs; i++) {
    const struct contract_input *input = &contract->inputs[i];
    if (input->terms == NULL || case_input(data, input->name) != NULL) {
      continue;
    }
    assay_tensor *made, **places;
    ARENA_NEW(&out->arena, made, steps + 1);
    ARENA_NEW(&out->arena, places, steps + 1);
    for (int64_t step = 0; step < steps; step++) {
      places[step] = &made[step];
    }
    TRY(case_observe(contract, input, entry, data, steps, NULL, (struct observer_options){.answers_may_lack = true},
                     &out->arena, places));
    out->inputs[i] = made;
  }
  return status_ok();
}
