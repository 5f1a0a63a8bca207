/* Reading gate.yaml. An unknown key, a key of a later assay, an emulation that is required and a gate
 * that requires nothing are errors with line and column; nothing is skipped. */
#include "gate/gate_file.h"

#include <math.h>
#include <string.h>

#include "contract/stages.h"
#include "contract/yaml.h"
#include "core/file.h"
#include "core/memory.h"
#include "gate/gate_reader.h"
#include "gate/judge.h"

enum { REPEATS_MAX = 1000, THREADS_MAX = 1024, VERSION = 1 };

static assay_status optional_string(struct gate_reader *reader, const struct yaml *mapping, const char *key,
                                    const char **out) {
  const struct yaml *node = yaml_get(mapping, key);
  return node == NULL ? status_ok() : yaml_string(&reader->file, node, key, out);
}

static assay_status optional_count(struct gate_reader *reader, const struct yaml *mapping, const char *key, int64_t min,
                                   int64_t max, int32_t *out) {
  const struct yaml *node = yaml_get(mapping, key);
  int64_t value = *out;
  if (node != NULL) {
    TRY(yaml_int(&reader->file, node, key, min, max, &value));
  }
  *out = (int32_t)value;
  return status_ok();
}

static assay_status optional_bound(struct gate_reader *reader, const struct yaml *mapping, const char *key,
                                   double *out) {
  const struct yaml *node = yaml_get(mapping, key);
  *out = NAN;
  if (node == NULL) {
    return status_ok();
  }
  TRY(yaml_double(&reader->file, node, key, true, out));
  return *out >= 0
             ? status_ok()
             : yaml_error(&reader->file, node->mark, "the tolerance's %s is %.9g; it must be 0 or more", key, *out);
}

/* --- noise ------------------------------------------------------------------ */

static assay_status parse_threads(struct gate_reader *reader, const struct yaml *node, struct gate_noise *noise) {
  if (node == NULL) {
    return status_ok();
  }
  TRY(gate_expect_kind(reader, node, YAML_SEQUENCE, "threads"));
  int32_t *threads;
  ARENA_NEW(&reader->gate->arena, threads, node->count + 1);
  for (int32_t i = 0; i < node->count; i++) {
    int64_t value;
    TRY(yaml_int(&reader->file, &node->items[i], "a number of threads", 1, THREADS_MAX, &value));
    threads[i] = (int32_t)value;
  }
  noise->threads = threads;
  noise->n_threads = node->count;
  return status_ok();
}

static assay_status parse_noise(struct gate_reader *reader, const struct yaml *node) {
  static const char *const keys[] = {"cases", "repeats", "processes", "threads", "rebuild"};
  struct gate_noise *noise = &reader->gate->noise;
  *noise = (struct gate_noise){.repeats = 1, .rebuild = 1};
  if (node == NULL) {
    return status_ok();
  }
  TRY(yaml_keys(&reader->file, node, keys, sizeof keys / sizeof keys[0], "noise"));
  noise->given = true;
  TRY(optional_count(reader, node, "cases", 1, INT32_MAX, &noise->cases));
  TRY(optional_count(reader, node, "repeats", 1, REPEATS_MAX, &noise->repeats));
  TRY(optional_count(reader, node, "processes", 0, REPEATS_MAX, &noise->processes));
  TRY(optional_count(reader, node, "rebuild", 0, REPEATS_MAX, &noise->rebuild));
  return parse_threads(reader, yaml_get(node, "threads"), noise);
}

/* --- tolerances -------------------------------------------------------------- */

static const char *const tolerance_keys[] = {"max",        "mean",       "p99",   "rms",
                                             "sign_flips", "saturation", "space", "reason"};
enum { TOLERANCE_KEYS = sizeof tolerance_keys / sizeof tolerance_keys[0] };

static assay_status parse_tolerance(struct gate_reader *reader, const struct yaml *node, const char *component,
                                    struct gate_tolerance *out) {
  static const char *const spaces[] = {"physical", "raw"};
  *out = (struct gate_tolerance){.component = component, .mark = node->mark, .space = -1};
  TRY(yaml_keys(&reader->file, node, tolerance_keys, TOLERANCE_KEYS, "a tolerance"));
  if (node->count == 0) {
    return yaml_error(&reader->file, node->mark, "this tolerance says nothing; give max, p99, mean or rms");
  }
  TRY(optional_bound(reader, node, "max", &out->max));
  TRY(optional_bound(reader, node, "mean", &out->mean));
  TRY(optional_bound(reader, node, "p99", &out->p99));
  TRY(optional_bound(reader, node, "rms", &out->rms));
  int32_t sign_flips = -1, saturation = -1;
  TRY(optional_count(reader, node, "sign_flips", 0, INT32_MAX, &sign_flips));
  TRY(optional_count(reader, node, "saturation", 0, INT32_MAX, &saturation));
  out->sign_flips = sign_flips;
  out->saturation = saturation;
  const struct yaml *space = yaml_get(node, "space");
  if (space != NULL) {
    TRY(yaml_choice(&reader->file, space, "space", spaces, 2, &out->space));
  }
  return optional_string(reader, node, "reason", &out->reason);
}

static bool is_tolerance_key(const char *key) {
  for (size_t i = 0; i < TOLERANCE_KEYS; i++) {
    if (strcmp(key, tolerance_keys[i]) == 0) {
      return true;
    }
  }
  return false;
}

/* Either {max: …} for every component, or {wrist: {max: …}, …}. */
static assay_status parse_tolerances(struct gate_reader *reader, const struct yaml *node, struct gate_rung *rung) {
  if (node == NULL) {
    return status_ok();
  }
  TRY(gate_expect_kind(reader, node, YAML_MAPPING, "tolerance"));
  bool whole = node->count > 0 && is_tolerance_key(node->keys[0]) && node->items[0].kind != YAML_MAPPING;
  int32_t count = whole ? 1 : node->count;
  struct gate_tolerance *tolerances;
  ARENA_NEW(&reader->gate->arena, tolerances, count + 1);
  for (int32_t i = 0; i < count; i++) {
    const struct yaml *item = whole ? node : &node->items[i];
    TRY(gate_expect_kind(reader, item, YAML_MAPPING, "a component's tolerance"));
    TRY(parse_tolerance(reader, item, whole ? NULL : node->keys[i], &tolerances[i]));
  }
  rung->tolerances = tolerances;
  rung->n_tolerances = count;
  return status_ok();
}

/* --- rungs ------------------------------------------------------------------- */

static assay_status parse_keep(struct gate_reader *reader, const struct yaml *node, struct rung_request *request) {
  if (node == NULL) {
    return status_ok();
  }
  TRY(gate_expect_kind(reader, node, YAML_SEQUENCE, "keep"));
  const char **keep;
  ARENA_NEW(&reader->gate->arena, keep, node->count + 1);
  for (int32_t i = 0; i < node->count; i++) {
    TRY(yaml_string(&reader->file, &node->items[i], "a node to keep", &keep[i]));
  }
  request->keep = keep;
  request->n_keep = node->count;
  return status_ok();
}

/* {encoder: encoder.int8.onnx}: files of single stages. */
static assay_status parse_models(struct gate_reader *reader, const struct yaml *node, struct gate_rung *rung) {
  struct gate_stage_model *models;
  if (node == NULL) {
    return status_ok();
  }
  TRY(gate_expect_kind(reader, node, YAML_MAPPING, "models"));
  ARENA_NEW(&reader->gate->arena, models, node->count + 1);
  for (int32_t i = 0; i < node->count; i++) {
    const char *path;
    models[i].stage = node->keys[i];
    models[i].mark = node->key_marks[i];
    TRY(yaml_string(&reader->file, &node->items[i], "the model of a stage", &path));
    TRY(gate_joined(reader, path, &models[i].path));
  }
  rung->models = models;
  rung->n_models = node->count;
  return status_ok();
}

static assay_status parse_paths(struct gate_reader *reader, const struct yaml *node, struct gate_rung *rung) {
  const char *model = NULL, *outputs = NULL;
  TRY(optional_string(reader, node, "model", &model));
  TRY(optional_string(reader, node, "outputs", &outputs));
  TRY(parse_models(reader, yaml_get(node, "models"), rung));
  rung->own_model = model != NULL;
  if (model != NULL) {
    TRY(gate_joined(reader, model, &rung->request.model_path));
  }
  bool recorded = strcmp(rung->request.engine, "recorded") == 0;
  if (recorded != (outputs != NULL)) {
    return yaml_error(&reader->file, node->mark,
                      recorded ? "rung '%s' is recorded, so it must name its run folder: add `outputs: DIR`"
                               : "rung '%s' names outputs, which belong to `engine: recorded` alone",
                      rung->request.name);
  }
  if (recorded && rung->n_models > 0) {
    return yaml_error(&reader->file, node->mark, "rung '%s' is recorded and runs no models; take `models` out",
                      rung->request.name);
  }
  return outputs != NULL ? gate_joined(reader, outputs, &rung->request.outputs_folder) : status_ok();
}

static assay_status parse_engine(struct gate_reader *reader, const struct yaml *node, struct rung_request *request) {
  const struct yaml *engine;
  TRY(yaml_require(&reader->file, node, "engine", "a rung", &engine));
  TRY(yaml_string(&reader->file, engine, "engine", &request->engine));
  if (rung_engine_is_known(request->engine)) {
    return status_ok();
  }
  struct text engines = {0};
  rung_engines_list(&engines);
  assay_status status = yaml_error(&reader->file, engine->mark,
                                   "rung '%s' asks for the engine '%s', which assay does not know; engines are %s",
                                   request->name, request->engine, text_string(&engines));
  text_free(&engines);
  return status;
}

static bool is_emulated(const struct rung_request *request) {
  const char *precision = request->precision;
  return strcmp(request->engine, "assay") == 0 && precision != NULL && strcmp(precision, "fp32") != 0 &&
         strcmp(precision, "fp64") != 0;
}

static assay_status parse_rung(struct gate_reader *reader, const struct yaml *node, struct gate_rung *rung) {
  static const char *const keys[] = {"name",         "engine",           "precision",  "provider",     "model",
                                     "outputs",      "required",         "tolerance",  "keep",         "threads",
                                     "time_limit_s", "settings",         "device",     "version",      "tf32",
                                     "accumulator",  "allow_fallback",   "library",    "optimization", "execution",
                                     "plugin",       "provider_options", "config",     "models",       "command",
                                     "runtime",      "module",           "checkpoint", "python",       "arguments",
                                     "results",      "deterministic"};
  struct rung_request *request = &rung->request;
  const struct yaml *name, *required = yaml_get(node, "required"), *limit = yaml_get(node, "time_limit_s");
  rung->mark = node->mark;
  rung->required = true;
  TRY(yaml_keys(&reader->file, node, keys, sizeof keys / sizeof keys[0], "a rung"));
  TRY(yaml_require(&reader->file, node, "name", "a rung", &name));
  TRY(yaml_string(&reader->file, name, "name", &request->name));
  if (*request->name == '\0' || strcmp(request->name, "recorded") == 0) {
    return yaml_error(&reader->file, name->mark, "a rung cannot be named '%s'; `recorded` is what the corpus stores",
                      request->name);
  }
  TRY(parse_engine(reader, node, request));
  TRY(optional_string(reader, node, "precision", &request->precision));
  TRY(optional_string(reader, node, "provider", &request->provider));
  TRY(parse_paths(reader, node, rung));
  TRY(gate_command_parse(reader, yaml_get(node, "command"), request));
  TRY(optional_count(reader, node, "threads", 1, THREADS_MAX, &request->threads));
  if (required != NULL) {
    TRY(yaml_bool(&reader->file, required, "required", &rung->required));
  }
  if (limit != NULL) {
    TRY(yaml_double(&reader->file, limit, "time_limit_s", true, &request->time_limit_s));
    if (!(request->time_limit_s > 0)) {
      return yaml_error(&reader->file, limit->mark, "time_limit_s must be above 0");
    }
  }
  TRY(parse_keep(reader, yaml_get(node, "keep"), request));
  TRY(gate_settings_parse(reader, node, request));
  TRY(parse_tolerances(reader, yaml_get(node, "tolerance"), rung));
  if (rung->required && is_emulated(request)) {
    return yaml_error(&reader->file, node->mark,
                      "rung '%s' emulates %s, and an emulation can never be required: add `required: false`, or use a "
                      "runtime that computes in %s",
                      request->name, request->precision, request->precision);
  }
  return status_ok();
}

static assay_status parse_rungs(struct gate_reader *reader, const struct yaml *node) {
  struct gate_file *gate = reader->gate;
  struct gate_rung *rungs;
  TRY(gate_expect_kind(reader, node, YAML_SEQUENCE, "rungs"));
  ARENA_NEW(&gate->arena, rungs, node->count + 1);
  for (int32_t i = 0; i < node->count; i++) {
    TRY(parse_rung(reader, &node->items[i], &rungs[i]));
    for (int32_t j = 0; j < i; j++) {
      if (strcmp(rungs[i].request.name, rungs[j].request.name) == 0) {
        return yaml_error(&reader->file, rungs[i].mark, "the rung '%s' stands already in line %d",
                          rungs[i].request.name, (int)rungs[j].mark.line);
      }
    }
  }
  gate->rungs = rungs;
  gate->n_rungs = node->count;
  return status_ok();
}

/* --- the whole file ------------------------------------------------------------ */

static assay_status parse_reference(struct gate_reader *reader, const struct yaml *node) {
  static const char *const keys[] = {"rung"};
  struct gate_file *gate = reader->gate;
  const struct yaml *rung;
  gate->reference = "recorded";
  gate->reference_rung = -1;
  if (node == NULL) {
    return status_ok();
  }
  TRY(yaml_keys(&reader->file, node, keys, 1, "reference"));
  TRY(yaml_require(&reader->file, node, "rung", "reference", &rung));
  TRY(yaml_string(&reader->file, rung, "rung", &gate->reference));
  if (strcmp(gate->reference, "recorded") == 0) {
    return status_ok();
  }
  for (int32_t i = 0; i < gate->n_rungs; i++) {
    if (strcmp(gate->rungs[i].request.name, gate->reference) == 0) {
      gate->reference_rung = i;
      if (is_emulated(&gate->rungs[i].request)) {
        return yaml_error(&reader->file, rung->mark,
                          "the reference '%s' is an emulation; a reference must compute in its own precision",
                          gate->reference);
      }
      return status_ok();
    }
  }
  return yaml_error(&reader->file, rung->mark, "the reference '%s' is neither `recorded` nor the name of a rung",
                    gate->reference);
}

static assay_status require_a_rung(struct gate_reader *reader, const struct yaml *rungs) {
  const struct gate_file *gate = reader->gate;
  for (int32_t i = 0; i < gate->n_rungs; i++) {
    if (gate->rungs[i].required && i != gate->reference_rung) {
      return status_ok();
    }
  }
  return yaml_error(&reader->file, rungs->mark,
                    "no rung is required%s, so that this gate could never reject; let at least one rung be "
                    "`required: true`",
                    gate->reference_rung >= 0 ? " beside the reference" : "");
}

static assay_status refuse_later_keys(struct gate_reader *reader, const struct yaml *root) {
  static const char *const later[] = {"budget", "timing", "bench", "task", "stages", "explain"};
  for (int32_t i = 0; i < root->count; i++) {
    for (size_t k = 0; k < sizeof later / sizeof later[0]; k++) {
      if (strcmp(root->keys[i], later[k]) == 0) {
        return yaml_error(&reader->file, root->key_marks[i],
                          "'%s' is a key of a later assay; this one cannot judge by it, so take it out", later[k]);
      }
    }
  }
  return status_ok();
}

/* A folder that may be named; NULL where it is not. */
static assay_status parse_folder(struct gate_reader *reader, const struct yaml *root, const char *key, const char **out,
                                 const char **name) {
  const struct yaml *node = yaml_get(root, key);
  *name = NULL;
  if (node == NULL) {
    return status_ok();
  }
  TRY(yaml_string(&reader->file, node, key, name));
  if (**name == '\0') {
    return yaml_error(&reader->file, node->mark, "'%s' is empty; it must name a folder", key);
  }
  return gate_joined(reader, *name, out);
}

static assay_status parse_root(struct gate_reader *reader) {
  static const char *const keys[] = {"assay", "contract",  "corpus", "reference", "noise",
                                     "rungs", "constrain", "ledger", "sealed"};
  struct gate_file *gate = reader->gate;
  const struct yaml *root = reader->file.root, *version, *contract, *corpus, *rungs;
  int64_t number;
  TRY(gate_expect_kind(reader, root, YAML_MAPPING, "a gate"));
  TRY(refuse_later_keys(reader, root));
  TRY(yaml_keys(&reader->file, root, keys, sizeof keys / sizeof keys[0], "a gate"));
  TRY(yaml_require(&reader->file, root, "assay", "a gate", &version));
  TRY(yaml_int(&reader->file, version, "assay (the version of the format)", VERSION, VERSION, &number));
  TRY(yaml_require(&reader->file, root, "contract", "a gate", &contract));
  TRY(yaml_string(&reader->file, contract, "contract", &gate->contract_name));
  gate->contract_mark = contract->mark;
  TRY(gate_joined(reader, gate->contract_name, &gate->contract_path));
  TRY(yaml_require(&reader->file, root, "corpus", "a gate", &corpus));
  TRY(yaml_string(&reader->file, corpus, "corpus", &gate->corpus_name));
  gate->corpus_mark = corpus->mark;
  TRY(gate_joined(reader, gate->corpus_name, &gate->corpus_path));
  TRY(yaml_require(&reader->file, root, "rungs", "a gate", &rungs));
  TRY(parse_rungs(reader, rungs));
  TRY(parse_reference(reader, yaml_get(root, "reference")));
  TRY(parse_noise(reader, yaml_get(root, "noise")));
  gate->constrain = yaml_get(root, "constrain") != NULL;
  const char *ledger;
  TRY(parse_folder(reader, root, "ledger", &gate->ledger_path, &ledger));
  TRY(parse_folder(reader, root, "sealed", &gate->sealed_path, &gate->sealed_name));
  return require_a_rung(reader, rungs);
}

static assay_status begin(const char *path, const char *folder, struct gate_file *gate) {
  gate->path = arena_string(&gate->arena, path);
  gate->folder = folder != NULL ? arena_string(&gate->arena, folder) : path_folder(&gate->arena, path);
  return gate->path != NULL && gate->folder != NULL ? status_ok() : status_no_memory(strlen(path));
}

/* text NULL: reads the file. */
static assay_status parse_into(const char *text, size_t size, const char *path, const char *folder,
                               struct gate_file *gate) {
  struct gate_reader reader = {.gate = gate};
  TRY(begin(path, folder, gate));
  if (text != NULL) {
    TRY(yaml_parse(text, size, gate->path, ASSAY_GATE_INVALID, &gate->arena, &reader.file));
  } else {
    TRY(yaml_read(gate->path, ASSAY_GATE_INVALID, &gate->arena, &reader.file));
  }
  return parse_root(&reader);
}

static assay_status make(const char *text, size_t size, const char *path, const char *folder, struct gate_file **out) {
  *out = NULL;
  struct gate_file *gate = memory_alloc(1, sizeof *gate);
  if (gate == NULL) {
    return status_no_memory(sizeof *gate);
  }
  assay_status status = parse_into(text, size, path, folder, gate);
  if (!assay_status_ok(status)) {
    gate_file_free(gate);
    return status;
  }
  *out = gate;
  return status;
}

assay_status gate_file_read(const char *path, struct gate_file **out) { return make(NULL, 0, path, NULL, out); }

assay_status gate_file_parse(const char *text, size_t size, const char *path, const char *folder,
                             struct gate_file **out) {
  return make(text, size, path, folder, out);
}

void gate_file_free(struct gate_file *gate) {
  if (gate != NULL) {
    arena_free(&gate->arena);
    memory_free(gate);
  }
}
