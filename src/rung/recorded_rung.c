/* A rung whose answers were recorded: reads a run folder. It computes nothing and states only what
 * the run itself states of how it was made. */
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "corpus/run_folder.h"
#include "rung/rung_kinds.h"

struct recorded_rung {
  struct rung base;
  struct run_folder *run;
  struct case_data *data; /* of the case answered last */
  int32_t loaded;         /* its index; -1 for none */
  struct rung_tensor *outputs, *inner;
  struct rung_setting *facts; /* all that the run states */
};

static void recorded_close(struct rung *rung) {
  struct recorded_rung *self = (struct recorded_rung *)rung;
  case_data_free(self->data);
  run_folder_close(self->run);
  memory_free(self->outputs);
  memory_free(self->inner);
  memory_free(self->facts);
  memory_free(self);
}

static assay_status open_into(struct recorded_rung *self, const struct rung_request *request) {
  self->loaded = -1;
  TRY(rung_settings_check(request, NULL, 0));
  if (request->outputs_folder == NULL) {
    return status_make(ASSAY_RUNG_SETTING, request->name,
                       "rung '%s' is recorded, but names no run folder; add `outputs: DIR`", request->name);
  }
  TRY(run_folder_open(request->outputs_folder, &self->run));
  self->facts = memory_alloc((size_t)self->run->n_facts + 1, sizeof *self->facts);
  if (self->facts == NULL) {
    return status_no_memory((size_t)self->run->n_facts * sizeof *self->facts);
  }
  for (int32_t i = 0; i < self->run->n_facts; i++) {
    self->facts[i] = (struct rung_setting){self->run->facts[i].key, self->run->facts[i].value};
  }
  return status_ok();
}

static assay_status recorded_open(const struct rung_request *request, struct rung **out) {
  struct recorded_rung *self = memory_alloc(1, sizeof *self);
  if (self == NULL) {
    return status_no_memory(sizeof *self);
  }
  self->base.kind = &rung_kind_recorded;
  assay_status status = open_into(self, request);
  if (!assay_status_ok(status)) {
    recorded_close(&self->base);
    return status;
  }
  *out = &self->base;
  return status;
}

static assay_status load(struct recorded_rung *self, int32_t index) {
  if (self->loaded == index) {
    return status_ok();
  }
  case_data_free(self->data);
  self->data = NULL;
  self->loaded = -1;
  TRY(run_folder_load(self->run, index, &self->data));
  memory_free(self->outputs);
  self->outputs = memory_alloc((size_t)self->data->n_outputs + 1, sizeof *self->outputs);
  if (self->outputs == NULL) {
    return status_no_memory((size_t)self->data->n_outputs * sizeof *self->outputs);
  }
  memory_free(self->inner);
  self->inner = memory_alloc((size_t)self->data->n_taps + 1, sizeof *self->inner);
  if (self->inner == NULL) {
    return status_no_memory((size_t)self->data->n_taps * sizeof *self->inner);
  }
  self->loaded = index;
  return status_ok();
}

static assay_status check_steps(const struct recorded_rung *self, const struct rung_call *call,
                                const struct case_array *array) {
  const assay_tensor *tensor = &array->tensor;
  if (tensor->rank > 0 && tensor->dims[0] == call->steps) {
    return status_ok();
  }
  return status_make(ASSAY_OUTPUT_SHAPE, self->run->folder,
                     "case '%s' is a sequence of %lld steps, but the recorded output '%s' has %lld along its leading "
                     "axis; record the run again",
                     call->case_id, (long long)call->steps, array->name,
                     tensor->rank > 0 ? (long long)tensor->dims[0] : 0);
}

static assay_status recorded_run(struct rung *rung, const struct rung_call *call, struct rung_answer *out) {
  struct recorded_rung *self = (struct recorded_rung *)rung;
  int32_t index = run_folder_find(self->run, call->case_id);
  if (index < 0) {
    return status_make(ASSAY_RUN_CASE_MISSING, self->run->folder, "the run has no answer for case '%s'", call->case_id);
  }
  if (call->n_taps > 0) {
    return status_make(ASSAY_RUNG_FAILED, self->run->folder, "a recorded run cannot hand over inner values");
  }
  TRY(load(self, index));
  struct corpus_case entry = {.sequence = call->steps > 0};
  int32_t n_inner = 0;
  for (int32_t i = 0; i < self->data->n_outputs; i++) {
    const struct case_array *array = &self->data->outputs[i];
    if (entry.sequence) {
      TRY(check_steps(self, call, array));
    }
    self->outputs[i] = (struct rung_tensor){array->name, case_step(self->data, &entry, &array->tensor, call->step)};
  }
  for (int32_t i = 0; i < self->data->n_taps; i++) {
    const struct case_array *array = &self->data->taps[i];
    bool whole = !entry.sequence || (array->tensor.rank > 0 && array->tensor.dims[0] == call->steps);
    if (whole) { /* what lacks a step is not told */
      self->inner[n_inner++] =
          (struct rung_tensor){array->name, case_step(self->data, &entry, &array->tensor, call->step)};
    }
  }
  *out = (struct rung_answer){
      .outputs = self->outputs, .n_outputs = self->data->n_outputs, .inner = self->inner, .n_inner = n_inner};
  return status_ok();
}

static void recorded_describe(struct rung *rung, struct rung_actual *out) {
  const struct recorded_rung *self = (const struct recorded_rung *)rung;
  const struct run_folder *run = self->run;
  out->engine = run_folder_fact(run, "engine");
  out->version = run_folder_fact(run, "version");
  out->provider = run_folder_fact(run, "provider");
  out->precision = run_folder_fact(run, "precision");
  out->accumulator = run_folder_fact(run, "accumulator");
  out->device = run_folder_fact(run, "device");
  out->tf32 = run_folder_fact(run, "tf32");
  const char *threads = run_folder_fact(run, "threads"), *emulated = run_folder_fact(run, "emulated");
  out->threads = threads != NULL ? (int)strtol(threads, NULL, 10) : 0;
  out->emulated = emulated != NULL && strcmp(emulated, "true") == 0;
  out->facts = self->facts;
  out->n_facts = run->n_facts;
  out->note = "recorded: the answers were read, not computed here";
}

const struct rung_kind rung_kind_recorded = {.engine = "recorded",
                                             .replays = true,
                                             .open = recorded_open,
                                             .run = recorded_run,
                                             .describe = recorded_describe,
                                             .close = recorded_close};
