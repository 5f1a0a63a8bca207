/* ONNX Runtime as a rung, through its C library, which is loaded at run time. It states what truly ran: which provider
 * took which node, and that the CPU computes fp16 graphs in fp32. It never takes another provider than the one asked
 * for. */
#include "rung/onnxruntime_rung.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "core/memory.h"
#include "model/model.h"
#include "model/typed_precision.h"
#include "rung/rung_kinds.h"

struct onnxruntime_rung {
  struct rung base;
  struct arena arena;
  struct ort_library library;
  struct ort_request request;
  ort_env *env;
  ort_session *session;
  ort_memory *memory;
  const char *typed; /* precision of the graph by its types */
  size_t n_outputs;
  const char **output_names;
  ort_value **values; /* [n_outputs] the last answer */
  struct rung_tensor *outputs;
  bool placed; /* placement was read, or cannot be */
  const struct rung_placement *placement;
  int32_t n_placement;
  const char *placement_unknown; /* why, or NULL */
  struct rung_setting facts[6];
};

/* --- opening and closing ------------------------------------------------------------------ */

static void drop_answer(struct onnxruntime_rung *self) {
  for (size_t i = 0; self->values != NULL && i < self->n_outputs; i++) {
    if (self->values[i] != NULL) {
      self->library.release_value(self->values[i]);
      self->values[i] = NULL;
    }
  }
}

static void onnxruntime_close(struct rung *rung) {
  struct onnxruntime_rung *self = (struct onnxruntime_rung *)rung;
  drop_answer(self);
  if (self->session != NULL) {
    self->library.release_session(self->session);
  }
  if (self->memory != NULL) {
    self->library.release_memory(self->memory);
  }
  if (self->env != NULL) {
    self->library.release_env(self->env);
  }
  arena_free(&self->arena);
  memory_free(self);
}

static assay_status name_outputs(struct onnxruntime_rung *self) {
  const struct ort_library *library = &self->library;
  ort_allocator *allocator = NULL;
  TRY(ort_check(library, library->output_count(self->session, &self->n_outputs), ASSAY_RUNG_FAILED,
                "counting outputs"));
  TRY(ort_check(library, library->default_allocator(&allocator), ASSAY_RUNG_FAILED, "naming outputs"));
  ARENA_NEW(&self->arena, self->output_names, self->n_outputs + 1);
  ARENA_NEW(&self->arena, self->values, self->n_outputs + 1);
  ARENA_NEW(&self->arena, self->outputs, self->n_outputs + 1);
  for (size_t i = 0; i < self->n_outputs; i++) {
    char *name = NULL;
    TRY(ort_check(library, library->output_name(self->session, i, allocator, &name), ASSAY_RUNG_FAILED,
                  "naming outputs"));
    self->output_names[i] = arena_string(&self->arena, name);
    TRY(ort_check(library, library->allocator_free(allocator, name), ASSAY_RUNG_FAILED, "naming outputs"));
    if (self->output_names[i] == NULL) {
      return status_no_memory(0);
    }
  }
  return status_ok();
}

static assay_status read_types(struct onnxruntime_rung *self) {
  struct model *model = NULL;
  TRY(model_open(self->request.model_path, NULL, &model));
  self->typed = model_typed_precision(model);
  model_close(model);
  return status_ok();
}

/* A rung may outlive what asked for it. */
static assay_status copy_strings(struct onnxruntime_rung *self, struct rung_request *request) {
  struct rung_setting *settings;
  ARENA_NEW(&self->arena, settings, request->n_settings + 1);
  for (int32_t i = 0; i < request->n_settings; i++) {
    settings[i].key = arena_string(&self->arena, request->settings[i].key);
    settings[i].value = arena_string(&self->arena, request->settings[i].value);
    if (settings[i].key == NULL || settings[i].value == NULL) {
      return status_no_memory(0);
    }
  }
  request->settings = settings;
  const char **const strings[] = {&request->model_path, &request->provider};
  for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
    if (*strings[i] != NULL && (*strings[i] = arena_string(&self->arena, *strings[i])) == NULL) {
      return status_no_memory(0);
    }
  }
  return status_ok();
}

static assay_status open_into(struct onnxruntime_rung *self, const struct rung_request *asked) {
  struct rung_request request = *asked;
  TRY(copy_strings(self, &request));
  TRY(ort_request_read(&request, &self->arena, &self->request));
  TRY(ort_library_load(rung_setting_find(&request, "library"), &self->arena, &self->library));
  TRY(read_types(self));
  const struct ort_library *library = &self->library;
  TRY(ort_check(library, library->create_env(4, "assay", &self->env), ASSAY_RUNG_FAILED, "starting"));
  TRY(ort_check(library, library->create_cpu_memory(0, 0, &self->memory), ASSAY_RUNG_FAILED, "starting"));
  TRY(ort_session_open(library, self->env, &self->request, NULL, &self->session));
  return name_outputs(self);
}

static assay_status onnxruntime_open(const struct rung_request *request, struct rung **out) {
  struct onnxruntime_rung *self = memory_alloc(1, sizeof *self);
  if (self == NULL) {
    return status_no_memory(sizeof *self);
  }
  self->base.kind = &rung_kind_onnxruntime;
  assay_status status = open_into(self, request);
  if (!assay_status_ok(status)) {
    onnxruntime_close(&self->base);
    return status;
  }
  *out = &self->base;
  return status;
}

static assay_status onnxruntime_renew(struct rung *rung) {
  struct onnxruntime_rung *self = (struct onnxruntime_rung *)rung;
  drop_answer(self);
  if (self->session != NULL) {
    self->library.release_session(self->session);
    self->session = NULL;
  }
  return ort_session_open(&self->library, self->env, &self->request, NULL, &self->session);
}

/* --- running ------------------------------------------------------------------------------- */

/* Types whose elements lie in memory as assay holds them. */
static bool passes_through(assay_dtype dtype) {
  size_t bits = assay_dtype_bits(dtype);
  return dtype != ASSAY_STRING && bits >= 8 && dtype <= ASSAY_FLOAT8E5M2FNUZ;
}

static assay_status make_input(struct onnxruntime_rung *self, const struct rung_tensor *from, ort_value **out) {
  const assay_tensor *tensor = &from->tensor;
  static char nothing;
  if (!passes_through(tensor->dtype)) {
    return status_make(ASSAY_RUNG_FAILED, from->name, "input '%s' is %s, which cannot be handed to ONNX Runtime",
                       from->name, assay_dtype_name(tensor->dtype));
  }
  void *data = tensor->data != NULL ? tensor->data : &nothing;
  return ort_check(&self->library,
                   self->library.create_tensor(self->memory, data, tensor->bytes, tensor->dims, (size_t)tensor->rank,
                                               (int)tensor->dtype, out),
                   ASSAY_RUNG_FAILED, "taking an input");
}

static assay_status read_shape_of(struct onnxruntime_rung *self, ort_value *value, assay_tensor *out) {
  const struct ort_library *library = &self->library;
  ort_shape *shape = NULL;
  int type = 0;
  size_t rank = 0;
  TRY(ort_check(library, library->tensor_shape(value, &shape), ASSAY_RUNG_FAILED, "giving an output"));
  assay_status status = ort_check(library, library->element_type(shape, &type), ASSAY_RUNG_FAILED, "giving an output");
  if (assay_status_ok(status)) {
    status = ort_check(library, library->dimension_count(shape, &rank), ASSAY_RUNG_FAILED, "giving an output");
  }
  if (assay_status_ok(status) && rank > ASSAY_RANK_MAX) {
    status = status_make(ASSAY_RUNG_FAILED, library->path, "an output has %zu dimensions; at most %d are read", rank,
                         (int)ASSAY_RANK_MAX);
  }
  if (assay_status_ok(status)) {
    status = ort_check(library, library->dimensions(shape, out->dims, rank), ASSAY_RUNG_FAILED, "giving an output");
  }
  library->release_shape(shape);
  out->dtype = type > 0 && type < ASSAY_DTYPE_COUNT ? (assay_dtype)type : ASSAY_UNDEFINED;
  out->rank = (int32_t)rank;
  return status;
}

static assay_status view_output(struct onnxruntime_rung *self, size_t i) {
  const struct ort_library *library = &self->library;
  struct rung_tensor *out = &self->outputs[i];
  int is_tensor = 0;
  int64_t count = 0;
  *out = (struct rung_tensor){.name = self->output_names[i]};
  TRY(ort_check(library, library->is_tensor(self->values[i], &is_tensor), ASSAY_RUNG_FAILED, "giving an output"));
  if (is_tensor == 0) {
    return status_make(ASSAY_RUNG_FAILED, out->name, "output '%s' is no tensor, which assay does not compare",
                       out->name);
  }
  TRY(read_shape_of(self, self->values[i], &out->tensor));
  if (!passes_through(out->tensor.dtype)) {
    return status_make(ASSAY_RUNG_FAILED, out->name, "output '%s' is %s, which cannot be taken from ONNX Runtime",
                       out->name, assay_dtype_name(out->tensor.dtype));
  }
  if (!shape_count(out->tensor.dims, out->tensor.rank, &count) ||
      !dtype_bytes(out->tensor.dtype, count, &out->tensor.bytes)) {
    return status_make(ASSAY_RUNG_FAILED, out->name, "output '%s' has an impossible shape", out->name);
  }
  return ort_check(library, library->tensor_data(self->values[i], &out->tensor.data), ASSAY_RUNG_FAILED,
                   "giving an output");
}

/* One run of `session`, into self->values. */
static assay_status run_session(struct onnxruntime_rung *self, ort_session *session, const struct rung_call *call) {
  size_t n = (size_t)call->n_inputs;
  const char **names = memory_alloc(n + 1, sizeof *names);
  ort_value **inputs = memory_alloc(n + 1, sizeof *inputs);
  assay_status status = names == NULL || inputs == NULL ? status_no_memory(n * sizeof *inputs) : status_ok();
  for (size_t i = 0; i < n && assay_status_ok(status); i++) {
    names[i] = call->inputs[i].name;
    status = make_input(self, &call->inputs[i], &inputs[i]);
  }
  if (assay_status_ok(status)) {
    drop_answer(self);
    status = ort_check(&self->library,
                       self->library.run(session, NULL, names, (const ort_value *const *)inputs, n, self->output_names,
                                         self->n_outputs, self->values),
                       ASSAY_RUNG_FAILED, "running the model");
  }
  for (size_t i = 0; inputs != NULL && i < n; i++) {
    if (inputs[i] != NULL) {
      self->library.release_value(inputs[i]);
    }
  }
  memory_free(inputs);
  memory_free(names);
  return status;
}

/* --- placement ------------------------------------------------------------------------------ */

/* A session of its own with a profile, run once, so that the session that answers is not slowed. */
static assay_status profile_once(struct onnxruntime_rung *self, const struct rung_call *call, const char *prefix) {
  const struct ort_library *library = &self->library;
  ort_session *session = NULL;
  ort_allocator *allocator = NULL;
  char *file = NULL, *text = NULL;
  size_t size = 0;
  TRY(ort_session_open(library, self->env, &self->request, prefix, &session));
  assay_status status = run_session(self, session, call);
  if (assay_status_ok(status)) {
    status = ort_check(library, library->default_allocator(&allocator), ASSAY_RUNG_FAILED, "ending a profile");
  }
  if (assay_status_ok(status)) {
    status =
        ort_check(library, library->end_profiling(session, allocator, &file), ASSAY_RUNG_FAILED, "ending a profile");
  }
  library->release_session(session);
  if (assay_status_ok(status)) {
    status = file_read(file, (size_t)1 << 28, &text, &size);
  }
  if (assay_status_ok(status)) {
    status = ort_placement_parse(text, size, &self->arena, &self->placement, &self->n_placement);
  }
  memory_free(text);
  if (file != NULL) {
    unlink(file);
    assay_status freed =
        ort_check(library, library->allocator_free(allocator, file), ASSAY_RUNG_FAILED, "ending a profile");
    assay_status_clear(&freed);
  }
  return status;
}

static assay_status profile_placement(struct onnxruntime_rung *self, const struct rung_call *call) {
  char folder[] = "/tmp/assay-profile-XXXXXX";
  if (mkdtemp(folder) == NULL) {
    return status_make(ASSAY_FILE_UNWRITABLE, folder, "no folder could be made for a profile");
  }
  const char *prefix = path_join(&self->arena, folder, "ort");
  assay_status status = prefix != NULL ? profile_once(self, call, prefix) : status_no_memory(0);
  assay_status removed = folder_remove(folder);
  assay_status_clear(&removed);
  return status;
}

/* Once, before the first answer. That it cannot be had is a fact of the rung, not a failure to answer. */
static assay_status find_placement(struct onnxruntime_rung *self, const struct rung_call *call) {
  bool known = false;
  self->placed = true;
  assay_status status =
      ort_placement_ask(&self->library, self->session, &self->arena, &self->placement, &self->n_placement, &known);
  if (assay_status_ok(status) && !known) {
    status = profile_placement(self, call);
  }
  if (!assay_status_ok(status)) {
    self->placement_unknown = arena_string(&self->arena, assay_status_sentence(status));
    assay_status_clear(&status);
  }
  return status_ok();
}

static assay_status onnxruntime_run(struct rung *rung, const struct rung_call *call, struct rung_answer *out) {
  struct onnxruntime_rung *self = (struct onnxruntime_rung *)rung;
  if (self->session == NULL) {
    return status_make(ASSAY_RUNG_FAILED, NULL, "the session could not be renewed");
  }
  if (call->n_taps > 0) {
    return status_make(ASSAY_RUNG_FAILED, call->taps[0], "ONNX Runtime hands out no inner values");
  }
  if (!self->placed) {
    TRY(find_placement(self, call));
  }
  TRY(run_session(self, self->session, call));
  for (size_t i = 0; i < self->n_outputs; i++) {
    TRY(view_output(self, i));
  }
  *out = (struct rung_answer){.outputs = self->outputs, .n_outputs = (int32_t)self->n_outputs};
  return status_ok();
}

/* --- what ran ------------------------------------------------------------------------------- */

static bool is_half(const char *precision) { return strcmp(precision, "fp16") == 0 || strcmp(precision, "bf16") == 0; }

static void add_fact(struct onnxruntime_rung *self, struct rung_actual *out, const char *key, const char *value) {
  self->facts[out->n_facts++] = (struct rung_setting){key, value};
}

static void onnxruntime_describe(struct rung *rung, struct rung_actual *out) {
  struct onnxruntime_rung *self = (struct onnxruntime_rung *)rung;
  bool cpu = strcmp(self->request.provider, "cpu") == 0;
  out->engine = "onnxruntime";
  out->version = self->library.version;
  out->provider = self->request.provider;
  out->device = cpu ? "cpu" : NULL;
  out->threads = self->request.threads;
  out->model_precision = self->typed;
  out->precision = cpu && is_half(self->typed) ? "fp32" : self->typed;
  out->note = cpu && is_half(self->typed)
                  ? "computed in fp32: the CPU provider has no arithmetic of its own for narrow "
                    "floats, so this says nothing about them"
                  : NULL;
  out->placement = self->placement;
  out->n_placement = self->n_placement;
  out->facts = self->facts;
  add_fact(self, out, "library", self->library.path);
  add_fact(self, out, "optimization", self->request.optimization);
  add_fact(self, out, "execution", self->request.parallel ? "parallel" : "sequential");
  if (self->placement_unknown != NULL) {
    add_fact(self, out, "placement", self->placement_unknown);
  }
}

const struct rung_kind rung_kind_onnxruntime = {.engine = "onnxruntime",
                                                .foreign = true,
                                                .open = onnxruntime_open,
                                                .run = onnxruntime_run,
                                                .renew = onnxruntime_renew,
                                                .describe = onnxruntime_describe,
                                                .close = onnxruntime_close};
