/* The contract as a whole: its sections, and what holds between them. Reading stops at the first
 * fault; a contract that was read is complete and consistent in itself. */
#include "contract/contract.h"

#include <string.h>

#include "contract/contract_detections.h"
#include "contract/contract_reader.h"
#include "contract/contract_role.h"
#include "core/file.h"
#include "core/memory.h"

/* Largest contract in memory; statistics files have bounds of their own. */
static const size_t contract_bytes_max = (size_t)1 << 30;

struct timing {
  double period_ms, p99_ms;
  int64_t deadline_misses;
};

static assay_status read_version(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  (void)member;
  int64_t version;
  return yaml_int(&reader->file, node, what, 1, 1, &version);
}

static assay_status read_timing(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  static const struct field fields[] = {
      {"period_ms", read_positive, offsetof(struct contract, period_ms), FIELD_OPTIONAL},
      {"p99_ms", read_positive, offsetof(struct contract, p99_ms), FIELD_OPTIONAL},
      {"deadline_misses", read_whole, offsetof(struct contract, deadline_misses), FIELD_OPTIONAL},
  };
  return FIELDS_READ(reader, node, fields, what, member);
}

static assay_status read_budget(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  static const struct field fields[] = {
      {"ram_mb", read_positive, offsetof(struct contract, budget_ram_mb), FIELD_OPTIONAL},
      {"engine_mb", read_positive, offsetof(struct contract, budget_engine_mb), FIELD_OPTIONAL},
  };
  return FIELDS_READ(reader, node, fields, what, member);
}

static assay_status read_freshness(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  static const struct field fields[] = {
      {"max_skew_ms", read_positive, offsetof(struct contract, max_skew_ms), FIELD_OPTIONAL},
      {"future_ms", read_not_negative, offsetof(struct contract, future_ms), FIELD_OPTIONAL},
  };
  return FIELDS_READ(reader, node, fields, what, member);
}

static assay_status section_external(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  (void)what, (void)member;
  return read_external(reader, node);
}

static assay_status section_inputs(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  (void)what, (void)member;
  return read_inputs(reader, node);
}

static assay_status section_outputs(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  (void)what, (void)member;
  return read_outputs(reader, node);
}

static assay_status section_state(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  (void)what, (void)member;
  return read_states(reader, node);
}

static assay_status section_stages(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  (void)what, (void)member;
  return read_stages(reader, node);
}

static const struct field sections[] = {
    {"assay", read_version, 0, FIELD_REQUIRED},
    {"policy", read_text, offsetof(struct contract, policy), FIELD_REQUIRED},
    {"groups", read_groups, 0, FIELD_OPTIONAL}, /* before the sections that name one */
    {"model", read_text, offsetof(struct contract, model), FIELD_OPTIONAL},
    {"inputs", section_inputs, 0, FIELD_REQUIRED},
    {"outputs", section_outputs, 0, FIELD_REQUIRED},
    {"state", section_state, 0, FIELD_OPTIONAL},
    {"stages", section_stages, 0, FIELD_OPTIONAL},
    {"timing", read_timing, 0, FIELD_OPTIONAL},
    {"freshness", read_freshness, 0, FIELD_OPTIONAL},
    {"external", section_external, 0, FIELD_OPTIONAL},
    {"budget", read_budget, 0, FIELD_OPTIONAL},
};

/* One file, or several. */
static assay_status check_files(const struct reader *reader) {
  struct contract *contract = reader->contract;
  const struct yaml *root = reader->file.root, *stages = yaml_get(root, "stages"), *model = yaml_get(root, "model");
  if (model != NULL) {
    contract->model_mark = model->mark;
  }
  if (contract->model != NULL && stages != NULL) {
    return yaml_error(&reader->file, stages->mark,
                      "'stages' stands beside 'model'; a policy is one file or has stages, never both");
  }
  return contract->model != NULL || stages != NULL
             ? status_ok()
             : yaml_error(&reader->file, root->mark,
                          "the contract needs the key 'model', or 'stages' for several files");
}

/* Every output is described, by components or as a state or inner value. */
static assay_status check_described(const struct reader *reader) {
  for (int32_t i = 0; i < reader->contract->n_outputs; i++) {
    const struct contract_output *output = &reader->contract->outputs[i];
    if (output->n_components == 0) {
      return yaml_error(&reader->file, output->mark,
                        "output '%s' needs the key 'components'; only the output of a state pair, and what a later "
                        "stage takes, may do without",
                        output->name);
    }
  }
  return status_ok();
}

static assay_status read_contract(struct reader *reader) {
  TRY(take_sources(reader));
  TRY(yaml_no_open_questions(&reader->file));
  TRY(FIELDS_READ(reader, reader->file.root, sections, "the contract", reader->contract));
  TRY(check_files(reader));
  TRY(check_described(reader));
  TRY(check_added(reader));
  TRY(check_input_roles(reader));
  TRY(read_terms(reader));
  stages_meet_terms(reader);
  TRY(resolve_detections(reader));
  if (reader->contract->p99_ms > reader->contract->period_ms && reader->contract->period_ms > 0) {
    const struct yaml *p99 = yaml_get(yaml_get(reader->file.root, "timing"), "p99_ms");
    return yaml_error(&reader->file, p99->mark, "'p99_ms' of 'timing' is %.9g, longer than the period of %.9g",
                      reader->contract->p99_ms, reader->contract->period_ms);
  }
  return status_ok();
}

assay_status contract_parse(const char *text, size_t size, const char *path, const char *folder,
                            struct contract **out) {
  struct contract *contract = memory_alloc(1, sizeof *contract);
  if (contract == NULL) {
    return status_no_memory(sizeof *contract);
  }
  contract->arena.limit = contract_bytes_max;
  contract->deadline_misses = -1;
  contract->path = arena_string(&contract->arena, path);
  struct reader reader = {.contract = contract, .folder = folder, .arena = &contract->arena};
  assay_status status = contract->path == NULL ? status_no_memory(strlen(path))
                                               : yaml_parse(text, size, contract->path, ASSAY_CONTRACT_INVALID,
                                                            &contract->arena, &reader.file);
  if (assay_status_ok(status)) {
    status = read_contract(&reader);
  }
  if (!assay_status_ok(status)) {
    contract_free(contract);
    return status;
  }
  *out = contract;
  return status_ok();
}

assay_status contract_read(const char *path, struct contract **out) {
  char *text = NULL;
  size_t size = 0;
  TRY(file_read(path, YAML_BYTES_MAX, &text, &size));
  struct arena arena = {0};
  char *folder = path_folder(&arena, path);
  assay_status status = folder == NULL ? status_no_memory(strlen(path)) : contract_parse(text, size, path, folder, out);
  arena_free(&arena);
  memory_free(text);
  return status;
}

void contract_free(struct contract *contract) {
  if (contract != NULL) {
    arena_free(&contract->arena);
    memory_free(contract);
  }
}

const struct contract_input *contract_find_input(const struct contract *contract, const char *name) {
  for (int32_t i = 0; i < contract->n_inputs; i++) {
    if (text_equal(contract->inputs[i].name, name)) {
      return &contract->inputs[i];
    }
  }
  return NULL;
}

const struct contract_output *contract_find_output(const struct contract *contract, const char *name) {
  for (int32_t i = 0; i < contract->n_outputs; i++) {
    if (text_equal(contract->outputs[i].name, name)) {
      return &contract->outputs[i];
    }
  }
  return NULL;
}
