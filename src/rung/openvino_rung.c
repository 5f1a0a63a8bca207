/* OpenVINO as a rung, through its C library, which is loaded at run time. On some processors it computes an fp32 model
 * in bf16 unless it is told otherwise; so the precision is set where it is asked for, read back always, and never
 * assumed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/memory.h"
#include "model/model.h"
#include "model/typed_precision.h"
#include "rung/openvino_api.h"
#include "rung/rung_kinds.h"

enum { CONFIG_MAX = 16 };

/* One tensor of the model: assay knows its dtype from the file, OpenVINO its type from the port. */
struct ov_slot {
  const char *name;
  assay_dtype dtype;
  ov_port *port;
  int type;
};

struct openvino_rung {
  struct rung base;
  struct arena arena;
  struct ov_library library;
  const char *model_path, *device, *hint; /* hint: "f32", "bf16", "f16"; NULL: not asked */
  int threads;
  size_t n_config;
  const char *config[2 * CONFIG_MAX];
  const char *typed; /* precision of the graph by its types */
  ov_core *core;
  ov_compiled *compiled;
  ov_infer *request;
  int32_t n_inputs, n_outputs;
  struct ov_slot *inputs, *outputs;
  ov_tensor **answers; /* [n_outputs] */
  struct rung_tensor *views;
  const char *effective, *actual_threads; /* as OpenVINO says */
  bool placed;
  const struct rung_placement *placement;
  int32_t n_placement;
  struct rung_setting facts[4];
};

/* --- closing -------------------------------------------------------------------------------- */

static void drop_answers(struct openvino_rung *self) {
  for (int32_t i = 0; self->answers != NULL && i < self->n_outputs; i++) {
    if (self->answers[i] != NULL) {
      self->library.tensor_free(self->answers[i]);
      self->answers[i] = NULL;
    }
  }
}

static void drop_slots(struct openvino_rung *self, struct ov_slot *slots, int32_t count) {
  for (int32_t i = 0; slots != NULL && i < count; i++) {
    if (slots[i].port != NULL) {
      self->library.output_const_port_free(slots[i].port);
      slots[i].port = NULL;
    }
  }
}

static void drop_compiled(struct openvino_rung *self) {
  drop_answers(self);
  if (self->request != NULL) {
    self->library.infer_request_free(self->request);
  }
  drop_slots(self, self->inputs, self->n_inputs);
  drop_slots(self, self->outputs, self->n_outputs);
  if (self->compiled != NULL) {
    self->library.compiled_model_free(self->compiled);
  }
  self->request = NULL;
  self->compiled = NULL;
}

static void openvino_close(struct rung *rung) {
  struct openvino_rung *self = (struct openvino_rung *)rung;
  drop_compiled(self);
  if (self->core != NULL) {
    self->library.core_free(self->core);
  }
  arena_free(&self->arena);
  memory_free(self);
}

/* --- what is asked for ------------------------------------------------------------------------ */

static const struct {
  const char *precision, *hint;
} hints[] = {{"fp32", "f32"}, {"bf16", "bf16"}, {"fp16", "f16"}, {"int8", "f32"}};

static assay_status read_precision(struct openvino_rung *self, const struct rung_request *request) {
  for (size_t i = 0; request->precision != NULL && i < sizeof hints / sizeof *hints; i++) {
    if (strcmp(hints[i].precision, request->precision) == 0) {
      self->hint = hints[i].hint;
    }
  }
  if (request->precision == NULL || self->hint != NULL) {
    return status_ok(); /* int8 lies in the model itself: the rest of it is to be fp32 */
  }
  return status_make(
      ASSAY_RUNG_SETTING, request->name,
      "rung '%s' asks for precision '%s'; the engine openvino has fp32, bf16, fp16, and int8 where the model "
      "is quantized",
      request->name, request->precision);
}

static const char config_prefix[] = "config.";

static assay_status read_setting(struct openvino_rung *self, const struct rung_request *request,
                                 const struct rung_setting *setting) {
  if (text_starts_with(setting->key, config_prefix) && self->n_config < CONFIG_MAX) {
    self->config[2 * self->n_config] = arena_string(&self->arena, setting->key + sizeof config_prefix - 1);
    self->config[2 * self->n_config + 1] = arena_string(&self->arena, setting->value);
    bool copied = self->config[2 * self->n_config] != NULL && self->config[2 * self->n_config + 1] != NULL;
    self->n_config++;
    return copied ? status_ok() : status_no_memory(0);
  }
  if (strcmp(setting->key, "library") == 0 || rung_setting_is_expectation(setting->key)) {
    return status_ok();
  }
  return status_make(
      ASSAY_RUNG_SETTING, request->name,
      "rung '%s' sets '%s', which the engine openvino does not have; it has library and config (at most %d "
      "entries)",
      request->name, setting->key, (int)CONFIG_MAX);
}

static assay_status read_request(struct openvino_rung *self, const struct rung_request *request) {
  if (request->model_path == NULL) {
    return status_make(ASSAY_RUNG_SETTING, request->name, "rung '%s' has no model to run", request->name);
  }
  if (request->n_keep > 0) {
    return status_make(ASSAY_RUNG_SETTING, request->name,
                       "rung '%s' keeps nodes in fp32, which OpenVINO's C library cannot be asked for", request->name);
  }
  if (request->provider != NULL && strcmp(request->provider, "cpu") != 0) {
    return status_make(ASSAY_RUNG_SETTING, request->name,
                       "rung '%s' asks for provider '%s'; the engine openvino runs on cpu alone", request->name,
                       request->provider);
  }
  self->model_path = arena_string(&self->arena, request->model_path);
  self->device = "CPU";
  self->threads = request->threads > 0 ? request->threads : 1;
  TRY(read_precision(self, request));
  for (int32_t i = 0; i < request->n_settings; i++) {
    TRY(read_setting(self, request, &request->settings[i]));
  }
  return self->model_path != NULL ? status_ok() : status_no_memory(strlen(request->model_path));
}

/* --- opening ------------------------------------------------------------------------------------ */

static assay_status list_tensors(struct openvino_rung *self, const struct graph *graph) {
  ARENA_NEW(&self->arena, self->inputs, graph->n_inputs + 1);
  ARENA_NEW(&self->arena, self->outputs, graph->n_outputs + 1);
  ARENA_NEW(&self->arena, self->answers, graph->n_outputs + 1);
  ARENA_NEW(&self->arena, self->views, graph->n_outputs + 1);
  for (int32_t i = 0; i < graph->n_inputs; i++) {
    const struct value *value = &graph->values[graph->inputs[i]];
    if (value->initializer < 0) {
      self->inputs[self->n_inputs++] =
          (struct ov_slot){.name = arena_string(&self->arena, value->name), .dtype = value->declared.dtype};
    }
  }
  for (int32_t i = 0; i < graph->n_outputs; i++) {
    const struct value *value = &graph->values[graph->outputs[i]];
    self->outputs[self->n_outputs++] =
        (struct ov_slot){.name = arena_string(&self->arena, value->name), .dtype = value->declared.dtype};
  }
  bool whole = true;
  for (int32_t i = 0; i < self->n_inputs + self->n_outputs; i++) {
    whole = whole && (i < self->n_inputs ? self->inputs[i] : self->outputs[i - self->n_inputs]).name != NULL;
  }
  return whole ? status_ok() : status_no_memory(0);
}

static assay_status read_file(struct openvino_rung *self) {
  struct model *model = NULL;
  TRY(model_open(self->model_path, NULL, &model));
  self->typed = model_typed_precision(model);
  assay_status status = list_tensors(self, model->graph);
  model_close(model);
  return status;
}

/* The two dozen arguments that the function takes at most are named in pairs; those that are not there are not counted.
 */
static ov_status compile_with(const struct openvino_rung *self, const ov_model *model, const char *const *p, size_t n,
                              ov_compiled **out) {
  return self->library.core_compile_model(
      self->core, model, self->device, n, out, p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11],
      p[12], p[13], p[14], p[15], p[16], p[17], p[18], p[19], p[20], p[21], p[22], p[23], p[24], p[25], p[26], p[27],
      p[28], p[29], p[30], p[31], p[32], p[33], p[34], p[35], p[36], p[37], p[38], p[39]);
}

static assay_status compile(struct openvino_rung *self, bool profile, ov_compiled **out) {
  enum { PAIRS = 40 };
  const char *pairs[PAIRS] = {0};
  char threads[16];
  size_t n = 0;
  ov_model *model = NULL;
  snprintf(threads, sizeof threads, "%d", self->threads);
  const char *const own[][2] = {{"INFERENCE_NUM_THREADS", threads},
                                {"NUM_STREAMS", "1"},
                                {"PERF_COUNT", profile ? "YES" : NULL},
                                {"INFERENCE_PRECISION_HINT", self->hint}};
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
    if (own[i][1] != NULL) {
      pairs[n++] = own[i][0];
      pairs[n++] = own[i][1];
    }
  }
  for (size_t i = 0; i < 2 * self->n_config; i++) {
    pairs[n++] = self->config[i];
  }
  TRY(ov_check(&self->library, self->library.core_read_model(self->core, self->model_path, NULL, &model),
               ASSAY_RUNG_FAILED, "reading the model"));
  assay_status status =
      ov_check(&self->library, compile_with(self, model, pairs, n, out), ASSAY_RUNG_FAILED, "compiling the model");
  self->library.model_free(model);
  return status;
}

static assay_status find_port(struct openvino_rung *self, struct ov_slot *slot, bool is_input) {
  const struct ov_library *library = &self->library;
  ov_status found = is_input ? library->compiled_model_input_by_name(self->compiled, slot->name, &slot->port)
                             : library->compiled_model_output_by_name(self->compiled, slot->name, &slot->port);
  TRY(ov_check(library, found, ASSAY_RUNG_FAILED, "finding a tensor by its name"));
  return ov_check(library, library->port_get_element_type(slot->port, &slot->type), ASSAY_RUNG_FAILED,
                  "saying the type of a tensor");
}

static assay_status start(struct openvino_rung *self) {
  TRY(compile(self, false, &self->compiled));
  for (int32_t i = 0; i < self->n_inputs; i++) {
    TRY(find_port(self, &self->inputs[i], true));
  }
  for (int32_t i = 0; i < self->n_outputs; i++) {
    TRY(find_port(self, &self->outputs[i], false));
  }
  return ov_check(&self->library, self->library.compiled_model_create_infer_request(self->compiled, &self->request),
                  ASSAY_RUNG_FAILED, "starting");
}

/* A property of the compiled model in the arena; NULL where it has none. */
static assay_status read_property(struct openvino_rung *self, const char *key, const char **out) {
  char *value = NULL;
  *out = NULL;
  if (self->library.compiled_model_get_property(self->compiled, key, &value) != 0 || value == NULL) {
    return status_ok();
  }
  *out = arena_string(&self->arena, value);
  self->library.free(value);
  return *out != NULL ? status_ok() : status_no_memory(0);
}

static assay_status open_into(struct openvino_rung *self, const struct rung_request *request) {
  TRY(read_request(self, request));
  TRY(ov_library_load(rung_setting_find(request, "library"), &self->arena, &self->library));
  TRY(read_file(self));
  TRY(ov_check(&self->library, self->library.core_create(&self->core), ASSAY_RUNTIME_MISSING, "starting"));
  TRY(start(self));
  TRY(read_property(self, "INFERENCE_PRECISION_HINT", &self->effective));
  return read_property(self, "INFERENCE_NUM_THREADS", &self->actual_threads);
}

static assay_status openvino_open(const struct rung_request *request, struct rung **out) {
  struct openvino_rung *self = memory_alloc(1, sizeof *self);
  if (self == NULL) {
    return status_no_memory(sizeof *self);
  }
  self->base.kind = &rung_kind_openvino;
  assay_status status = open_into(self, request);
  if (!assay_status_ok(status)) {
    openvino_close(&self->base);
    return status;
  }
  *out = &self->base;
  return status;
}

static assay_status openvino_renew(struct rung *rung) {
  struct openvino_rung *self = (struct openvino_rung *)rung;
  drop_compiled(self);
  return start(self);
}

/* --- running ------------------------------------------------------------------------------------- */

static assay_status feed(struct openvino_rung *self, ov_infer *request, const struct rung_tensor *input) {
  const struct ov_library *library = &self->library;
  const struct ov_slot *slot = NULL;
  for (int32_t i = 0; i < self->n_inputs; i++) {
    slot = strcmp(self->inputs[i].name, input->name) == 0 ? &self->inputs[i] : slot;
  }
  const assay_tensor *from = &input->tensor;
  if (slot == NULL || slot->dtype != from->dtype || assay_dtype_bits(from->dtype) < 8 || from->dtype == ASSAY_STRING) {
    return status_make(ASSAY_RUNG_FAILED, input->name,
                       slot == NULL ? "the model has no input '%s'" : "input '%s' has a type that cannot be handed on",
                       input->name);
  }
  static char nothing[64];
  int64_t dims[ASSAY_RANK_MAX];
  memcpy(dims, from->dims, sizeof dims);
  struct ov_shape shape = {from->rank, dims};
  ov_tensor *tensor = NULL;
  TRY(ov_check(
      library,
      library->tensor_create_from_host_ptr(slot->type, shape, from->data != NULL ? from->data : nothing, &tensor),
      ASSAY_RUNG_FAILED, "taking an input"));
  assay_status status = ov_check(library, library->infer_request_set_tensor(request, input->name, tensor),
                                 ASSAY_RUNG_FAILED, "taking an input");
  library->tensor_free(tensor);
  return status;
}

static assay_status infer(struct openvino_rung *self, ov_infer *request, const struct rung_call *call) {
  for (int32_t i = 0; i < call->n_inputs; i++) {
    TRY(feed(self, request, &call->inputs[i]));
  }
  return ov_check(&self->library, self->library.infer_request_infer(request), ASSAY_RUNG_FAILED, "running the model");
}

static assay_status copy_shape(struct openvino_rung *self, const ov_tensor *tensor, assay_tensor *out) {
  struct ov_shape shape = {0};
  TRY(ov_check(&self->library, self->library.tensor_get_shape(tensor, &shape), ASSAY_RUNG_FAILED, "giving an output"));
  bool fits = shape.rank >= 0 && shape.rank <= ASSAY_RANK_MAX;
  for (int64_t d = 0; fits && d < shape.rank; d++) {
    out->dims[d] = shape.dims[d];
  }
  out->rank = fits ? (int32_t)shape.rank : 0;
  (void)self->library.shape_free(&shape);
  return fits ? status_ok()
              : status_make(ASSAY_RUNG_FAILED, self->library.path, "an output has more than %d dimensions",
                            (int)ASSAY_RANK_MAX);
}

/* The answer must have the type that the port had, and as many bytes as its shape takes. */
static assay_status view_output(struct openvino_rung *self, int32_t i) {
  const struct ov_library *library = &self->library;
  const struct ov_slot *slot = &self->outputs[i];
  struct rung_tensor *view = &self->views[i];
  size_t bytes = 0, expected = 0;
  int64_t count = 0;
  int type = 0;
  *view = (struct rung_tensor){.name = slot->name, .tensor = {.dtype = slot->dtype}};
  TRY(ov_check(library, library->infer_request_get_tensor_by_const_port(self->request, slot->port, &self->answers[i]),
               ASSAY_RUNG_FAILED, "giving an output"));
  TRY(copy_shape(self, self->answers[i], &view->tensor));
  TRY(ov_check(library, library->tensor_get_element_type(self->answers[i], &type), ASSAY_RUNG_FAILED,
               "giving an output"));
  TRY(ov_check(library, library->tensor_get_byte_size(self->answers[i], &bytes), ASSAY_RUNG_FAILED,
               "giving an output"));
  bool fits = type == slot->type && shape_count(view->tensor.dims, view->tensor.rank, &count) &&
              dtype_bytes(slot->dtype, count, &expected) && bytes == expected;
  if (!fits) {
    return status_make(ASSAY_RUNG_FAILED, slot->name,
                       "output '%s' is not %s with the bytes of its shape (%zu found, %zu expected)", slot->name,
                       assay_dtype_name(slot->dtype), bytes, expected);
  }
  view->tensor.bytes = bytes;
  return ov_check(library, library->tensor_data(self->answers[i], &view->tensor.data), ASSAY_RUNG_FAILED,
                  "giving an output");
}

/* --- placement -------------------------------------------------------------------------------------- */

/* "brgemm_avx512_bf16" says what a node computed in; NULL for whole numbers and what moves data alone. */
static const char *precision_of(const char *exec_type) {
  static const struct {
    const char *ending, *precision;
  } words[] = {{"bf16", "bf16"}, {"f16", "fp16"}, {"f32", "fp32"}, {"fp32", "fp32"}, {"fp16", "fp16"}};
  const char *last = exec_type != NULL ? strrchr(exec_type, '_') : NULL;
  for (size_t i = 0; last != NULL && i < sizeof words / sizeof *words; i++) {
    if (strcasecmp(last + 1, words[i].ending) == 0) {
      return words[i].precision;
    }
  }
  return NULL;
}

static assay_status take_profile(struct openvino_rung *self, const struct ov_profile *profile) {
  struct rung_placement *placement;
  bool asks_fp32 = self->effective != NULL && strcmp(self->effective, "f32") == 0 && strcmp(self->typed, "int8") != 0;
  ARENA_NEW(&self->arena, placement, profile->count + 1);
  for (size_t i = 0; i < profile->count; i++) {
    const struct ov_profile_entry *entry = &profile->entries[i];
    if (entry->status != 2 || entry->node == NULL) {
      continue; /* not run, or folded into another */
    }
    const char *precision = precision_of(entry->exec_type);
    /* A node in fp32 inside a run in bf16 is not what has to be said; the other way round is. */
    bool wider = precision != NULL && strcmp(precision, "fp32") == 0 && !asks_fp32;
    struct rung_placement *item = &placement[self->n_placement++];
    *item = (struct rung_placement){
        .node = arena_string(&self->arena, entry->node), .provider = "cpu", .precision = wider ? NULL : precision};
    if (item->node == NULL) {
      return status_no_memory(0);
    }
  }
  self->placement = placement;
  return status_ok();
}

/* A model compiled with counters, run once, so that the one that answers is not slowed. */
static assay_status find_placement(struct openvino_rung *self, const struct rung_call *call) {
  const struct ov_library *library = &self->library;
  ov_compiled *compiled = NULL;
  ov_infer *request = NULL;
  struct ov_profile profile = {0};
  self->placed = true;
  assay_status status = compile(self, true, &compiled);
  if (assay_status_ok(status)) {
    status = ov_check(library, library->compiled_model_create_infer_request(compiled, &request), ASSAY_RUNG_FAILED,
                      "starting a profile");
  }
  if (assay_status_ok(status)) {
    status = infer(self, request, call);
  }
  if (assay_status_ok(status)) {
    status = ov_check(library, library->infer_request_get_profiling_info(request, &profile), ASSAY_RUNG_FAILED,
                      "ending a profile");
  }
  if (assay_status_ok(status)) {
    status = take_profile(self, &profile);
    library->profiling_info_list_free(&profile);
  }
  if (request != NULL) {
    library->infer_request_free(request);
  }
  if (compiled != NULL) {
    library->compiled_model_free(compiled);
  }
  return status;
}

static assay_status openvino_run(struct rung *rung, const struct rung_call *call, struct rung_answer *out) {
  struct openvino_rung *self = (struct openvino_rung *)rung;
  if (self->request == NULL) {
    return status_make(ASSAY_RUNG_FAILED, NULL, "the model could not be compiled again");
  }
  if (call->n_taps > 0) {
    return status_make(ASSAY_RUNG_FAILED, call->taps[0], "OpenVINO hands out no inner values");
  }
  if (!self->placed) {
    TRY(find_placement(self, call));
  }
  drop_answers(self);
  TRY(infer(self, self->request, call));
  for (int32_t i = 0; i < self->n_outputs; i++) {
    TRY(view_output(self, i));
  }
  *out = (struct rung_answer){.outputs = self->views, .n_outputs = self->n_outputs};
  return status_ok();
}

/* --- what ran ----------------------------------------------------------------------------------------- */

/* OpenVINO's word for the precision of floats in assay's; a quantized model is int8 where its floats stay fp32. */
static const char *effective_precision(const struct openvino_rung *self) {
  for (size_t i = 0; self->effective != NULL && i < sizeof hints / sizeof *hints; i++) {
    if (strcmp(hints[i].hint, self->effective) == 0) {
      bool whole = strcmp(self->typed, "int8") == 0 && strcmp(hints[i].precision, "fp32") == 0;
      return whole ? "int8" : hints[i].precision;
    }
  }
  return NULL;
}

static void openvino_describe(struct rung *rung, struct rung_actual *out) {
  struct openvino_rung *self = (struct openvino_rung *)rung;
  out->engine = "openvino";
  out->version = self->library.version;
  out->provider = "cpu";
  out->device = "cpu";
  out->precision = effective_precision(self);
  out->model_precision = strcmp(self->typed, "fp16") == 0 || strcmp(self->typed, "bf16") == 0 ? NULL : self->typed;
  out->threads = self->actual_threads != NULL ? (int)strtol(self->actual_threads, NULL, 10) : 0;
  out->placement = self->placement;
  out->n_placement = self->n_placement;
  self->facts[0] = (struct rung_setting){"library", self->library.path};
  self->facts[1] =
      (struct rung_setting){"INFERENCE_PRECISION_HINT", self->effective != NULL ? self->effective : "unknown"};
  out->facts = self->facts;
  out->n_facts = 2;
}

const struct rung_kind rung_kind_openvino = {.engine = "openvino",
                                             .foreign = true,
                                             .open = openvino_open,
                                             .run = openvino_run,
                                             .renew = openvino_renew,
                                             .describe = openvino_describe,
                                             .close = openvino_close};
