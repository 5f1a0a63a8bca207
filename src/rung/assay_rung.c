/* assay's own engine as a rung. The narrow precisions are emulations and say so. */
#include <string.h>

#include "core/memory.h"
#include "engine/engine.h"
#include "rung/rung_kinds.h"

struct assay_rung {
  struct rung base;
  struct arena arena;
  struct model *model;
  struct session_options options;
  struct session *session;
  struct rung_setting facts[4];
  struct rung_tensor *outputs; /* views of the last answer */
  size_t outputs_capacity;
};

static void assay_close(struct rung *rung) {
  struct assay_rung *self = (struct assay_rung *)rung;
  session_close(self->session);
  model_close(self->model);
  memory_free(self->outputs);
  arena_free(&self->arena);
  memory_free(self);
}

static assay_status check_request(const struct rung_request *request, enum precision_kind *precision) {
  const char *name = request->precision != NULL ? request->precision : "fp32";
  TRY(rung_settings_check(request, NULL, 0));
  if (!precision_find(name, precision)) {
    return status_make(ASSAY_RUNG_SETTING, request->name,
                       "rung '%s' asks for precision '%s'; the engine assay has fp32, fp64, tf32, bf16 and fp16",
                       request->name, name);
  }
  if (request->provider != NULL && strcmp(request->provider, "cpu") != 0) {
    return status_make(ASSAY_RUNG_SETTING, request->name,
                       "rung '%s' asks for provider '%s'; the engine assay runs on cpu alone", request->name,
                       request->provider);
  }
  if (request->n_keep > 0 && (*precision == PRECISION_FP32 || *precision == PRECISION_FP64)) {
    return status_make(ASSAY_RUNG_SETTING, request->name,
                       "rung '%s' keeps nodes in fp32, but its precision is %s; keep belongs to tf32, bf16 and fp16",
                       request->name, name);
  }
  if (request->model_path == NULL) {
    return status_make(ASSAY_RUNG_SETTING, request->name, "rung '%s' has no model to run", request->name);
  }
  return status_ok();
}

/* The request may end before the rung does. */
static assay_status copy_keep(struct assay_rung *self, const struct rung_request *request) {
  if (request->n_keep == 0) {
    return status_ok();
  }
  const char **keep;
  ARENA_NEW(&self->arena, keep, request->n_keep);
  for (int32_t i = 0; i < request->n_keep; i++) {
    keep[i] = arena_string(&self->arena, request->keep[i]);
    if (keep[i] == NULL) {
      return status_no_memory(strlen(request->keep[i]));
    }
  }
  self->options.keep = keep;
  self->options.n_keep = request->n_keep;
  return status_ok();
}

static assay_status open_into(struct assay_rung *self, const struct rung_request *request) {
  TRY(check_request(request, &self->options.precision));
  self->options.threads = request->threads > 0 ? request->threads : 1;
  self->options.kernel_level = -1;
  TRY(copy_keep(self, request));
  TRY(model_open(request->model_path, NULL, &self->model));
  return session_open(self->model, &self->options, &self->session);
}

static assay_status assay_open(const struct rung_request *request, struct rung **out) {
  struct assay_rung *self = memory_alloc(1, sizeof *self);
  if (self == NULL) {
    return status_no_memory(sizeof *self);
  }
  self->base.kind = &rung_kind_assay;
  assay_status status = open_into(self, request);
  if (!assay_status_ok(status)) {
    assay_close(&self->base);
    return status;
  }
  *out = &self->base;
  return status;
}

static assay_status assay_renew(struct rung *rung) {
  struct assay_rung *self = (struct assay_rung *)rung;
  session_close(self->session);
  self->session = NULL;
  return session_open(self->model, &self->options, &self->session);
}

struct tap_bridge {
  rung_tap *tap;
  void *user;
};

static void pass_tap(void *user, const struct node *node, const char *value, const assay_tensor *tensor) {
  const struct tap_bridge *bridge = user;
  (void)node;
  bridge->tap(bridge->user, value, tensor);
}

static assay_status keep_outputs(struct assay_rung *self, const struct named_tensor *outputs, size_t count) {
  if (count > self->outputs_capacity) {
    struct rung_tensor *larger = memory_resize(self->outputs, count, sizeof *larger);
    if (larger == NULL) {
      return status_no_memory(count * sizeof *larger);
    }
    self->outputs = larger;
    self->outputs_capacity = count;
  }
  for (size_t i = 0; i < count; i++) {
    self->outputs[i] = (struct rung_tensor){outputs[i].name, *outputs[i].tensor};
  }
  return status_ok();
}

static assay_status assay_run(struct rung *rung, const struct rung_call *call, struct rung_answer *out) {
  struct assay_rung *self = (struct assay_rung *)rung;
  enum { FEW = 32 };
  struct named_tensor few[FEW], *inputs = few;
  struct tap_bridge bridge = {call->tap, call->tap_user};
  if (self->session == NULL) {
    return status_make(ASSAY_RUNG_FAILED, NULL, "the session could not be renewed");
  }
  if (call->n_inputs > FEW) {
    inputs = memory_alloc((size_t)call->n_inputs, sizeof *inputs);
    if (inputs == NULL) {
      return status_no_memory((size_t)call->n_inputs * sizeof *inputs);
    }
  }
  for (int32_t i = 0; i < call->n_inputs; i++) {
    inputs[i] = (struct named_tensor){call->inputs[i].name, &call->inputs[i].tensor};
  }
  struct session_run run = {.inputs = inputs,
                            .n_inputs = (size_t)call->n_inputs,
                            .taps = call->taps,
                            .n_taps = (size_t)call->n_taps,
                            .tap = call->tap != NULL ? pass_tap : NULL,
                            .tap_user = &bridge};
  const struct named_tensor *outputs;
  size_t count = 0;
  assay_status status = session_run(self->session, &run, &outputs, &count);
  if (inputs != few) {
    memory_free(inputs);
  }
  TRY(status);
  TRY(keep_outputs(self, outputs, count));
  *out = (struct rung_answer){.outputs = self->outputs, .n_outputs = (int32_t)count};
  return status_ok();
}

static void assay_describe(struct rung *rung, struct rung_actual *out) {
  struct assay_rung *self = (struct assay_rung *)rung;
  struct session_info info = {0};
  if (self->session != NULL) {
    session_describe(self->session, &info);
  }
  bool emulated = info.precision != PRECISION_FP32 && info.precision != PRECISION_FP64;
  out->engine = "assay";
  out->version = ASSAY_VERSION;
  out->provider = "cpu";
  out->device = "cpu";
  out->precision = precision_name(info.precision);
  out->accumulator = info.precision == PRECISION_FP64 ? "fp64" : "fp32";
  out->threads = info.threads;
  out->emulated = emulated;
  out->note = emulated ? "emulated: values and operands are rounded, sums are fp32" : NULL;
  self->facts[0] = (struct rung_setting){"nodes", arena_format(&self->arena, "%d", (int)info.n_nodes)};
  self->facts[1] = (struct rung_setting){"folded", arena_format(&self->arena, "%d", (int)info.n_folded)};
  out->facts = self->facts;
  out->n_facts = self->facts[0].value != NULL && self->facts[1].value != NULL ? 2 : 0;
}

const struct rung_kind rung_kind_assay = {.engine = "assay",
                                          .open = assay_open,
                                          .run = assay_run,
                                          .renew = assay_renew,
                                          .describe = assay_describe,
                                          .close = assay_close};
