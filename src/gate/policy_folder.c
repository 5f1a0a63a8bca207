/* A policy folder's gate: reads gate.yaml, the contract and the corpus, binds the models by name, and hands
 * all of it to gate_measure. It judges nothing itself. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contract/model_signature.h"
#include "contract/sealed_path.h"
#include "core/clock.h"
#include "core/file.h"
#include "core/memory.h"
#include "core/text.h"
#include "gate/gate.h"
#include "gate/ledger_keep.h"
#include "gate/seeds.h"
#include "gate/stage_files.h"
#include "kernels/kernels.h"

assay_status gate_result_new(struct gate_result **out) {
  struct gate_result *result = memory_alloc(1, sizeof *result);
  char host[256] = "";
  *out = NULL;
  if (result == NULL) {
    return status_no_memory(sizeof *result);
  }
  result->version = ASSAY_VERSION;
  result->kernels = kernel_level_name(kernels_best()->level);
  clock_date(result->date);
  if (gethostname(host, sizeof host - 1) != 0) {
    host[0] = '\0';
  }
  result->host = arena_string(&result->arena, host);
  if (result->host == NULL) {
    gate_result_free(result);
    return status_no_memory(sizeof host);
  }
  *out = result;
  return status_ok();
}

static assay_status add_digest(struct gate_result *result, const char *role, const char *shown, const char *digest) {
  for (int32_t i = 0; i < result->n_files; i++) {
    if (strcmp(result->files[i].path, shown) == 0) {
      return status_ok();
    }
  }
  struct file_digest *files;
  ARENA_NEW(&result->arena, files, result->n_files + 1);
  if (result->n_files > 0) {
    memcpy(files, result->files, (size_t)result->n_files * sizeof *files);
  }
  files[result->n_files] =
      (struct file_digest){role, arena_string(&result->arena, shown), arena_string(&result->arena, digest)};
  if (files[result->n_files].path == NULL || files[result->n_files].digest == NULL) {
    return status_no_memory(strlen(shown));
  }
  result->files = files;
  result->n_files++;
  return status_ok();
}

assay_status gate_result_file(struct gate_result *result, const char *role, const char *path, const char *shown) {
  char digest[HASH_TEXT_SIZE];
  TRY(hash_file(path, digest));
  return add_digest(result, role, shown, digest);
}

const char *gate_shown_path(const char *folder, const char *path) {
  size_t length = strlen(folder);
  while (length > 1 && folder[length - 1] == '/') {
    length--;
  }
  if (strncmp(path, folder, length) == 0 && path[length] == '/') {
    return path + length + 1;
  }
  return path;
}

/* --- models ------------------------------------------------------------------------------ */

/* Outputs that differ from the contract's are a finding about the rung, made from what it
 * really answers; so the binding here is of inputs, state and metadata. */
static assay_status bind_inputs(const struct contract *contract, const struct model *model, struct arena *arena) {
  struct signature signature;
  struct signature_tensor *outputs;
  TRY(model_signature(model, arena, &signature));
  TRY(contract_bind_states(contract, &signature, model->path));
  ARENA_NEW(arena, outputs, contract->n_outputs + 1);
  for (int32_t i = 0; i < contract->n_outputs; i++) {
    const struct contract_output *output = &contract->outputs[i];
    outputs[i] = (struct signature_tensor){.name = output->name, .dtype = output->dtype, .rank = RANK_UNKNOWN};
  }
  signature.outputs = outputs;
  signature.n_outputs = contract->n_outputs;
  return contract_bind(contract, &signature, model->path);
}

static assay_status note_external(struct gate_result *result, const struct model *model, const char *folder,
                                  struct arena *arena) {
  const char *model_folder = path_folder(arena, model->path);
  for (int32_t i = 0; model_folder != NULL && i < model->graph->n_initializers; i++) {
    const char *location = model->graph->initializers[i].external_location;
    char *path;
    if (location == NULL) {
      continue;
    }
    TRY(path_join_inside(arena, model_folder, location, ASSAY_MODEL_INVALID, &path));
    TRY(gate_result_file(result, "model data", path, gate_shown_path(folder, path)));
  }
  return model_folder != NULL ? status_ok() : status_no_memory(strlen(model->path));
}

assay_status gate_result_model(struct gate_result *result, const struct model *model, const char *folder) {
  struct arena scratch = {0};
  assay_status status = gate_result_file(result, "model", model->path, gate_shown_path(folder, model->path));
  if (assay_status_ok(status)) {
    status = note_external(result, model, folder, &scratch);
  }
  arena_free(&scratch);
  return status;
}

static assay_status bind_model(const struct contract *contract, const char *path, const char *folder,
                               struct gate_result *result) {
  struct model *model;
  struct arena scratch = {0};
  TRY(model_open(path, NULL, &model));
  assay_status status = bind_inputs(contract, model, &scratch);
  if (assay_status_ok(status)) {
    status = gate_result_model(result, model, folder);
  }
  arena_free(&scratch);
  model_close(model);
  return status;
}

/* --- the folder ---------------------------------------------------------------------------- */

struct folder {
  const struct gate_options *options;
  struct gate_file *gate;
  struct contract *contract;
  struct corpus *corpus;
  struct gate_rung *rungs; /* of the gate, with their models */
  struct gate_work work;
  const char *model_path; /* NULL: there is none, or the policy has stages */
  struct stage_files stages;
  struct ledger_run ledger;
  struct corpus *sealed; /* of the final evaluation; else NULL */
  struct sealed_look look;
};

/* The sealed set, which must have nothing in common with what the policy was judged by before. */
static assay_status open_sealed(struct folder *folder) {
  const struct gate_file *gate = folder->gate;
  if (gate->sealed_path == NULL) {
    return status_make(ASSAY_GATE_INVALID, gate->path,
                       "the gate names no sealed set; add `sealed: DIR`, a corpus whose role is sealed");
  }
  TRY(corpus_open_sealed(gate->sealed_path, &folder->sealed));
  return sealed_overlap_direct(folder->sealed, folder->corpus);
}

/* Says where a path was written when nothing lies there. */
static assay_status check_named(const char *file, struct mark mark, const char *key, const char *path) {
  if (file_exists(path) || file_is_folder(path)) {
    return status_ok();
  }
  struct text where = {0};
  text_format(&where, "%s:%d:%d", file, (int)mark.line, (int)mark.column);
  assay_status status =
      status_make(ASSAY_FILE_MISSING, text_string(&where),
                  "'%s' names %.300s, which does not exist; correct the path or create it", key, path);
  text_free(&where);
  return status;
}

static assay_status open_all(struct folder *folder, struct gate_result *result) {
  const struct gate_options *options = folder->options;
  const char *gate_path = options->gate_path;
  if (gate_path == NULL) {
    gate_path = path_join(&result->arena, options->folder, "gate.yaml");
    if (gate_path == NULL) {
      return status_no_memory(strlen(options->folder));
    }
  }
  if (!file_is_folder(options->folder)) {
    return status_make(ASSAY_FILE_MISSING, options->folder,
                       "there is no such folder; a policy folder holds contract.yaml, gate.yaml, a model and a corpus");
  }
  TRY(gate_file_read(gate_path, &folder->gate));
  const struct gate_file *gate = folder->gate;
  TRY(check_named(gate->path, gate->contract_mark, "contract", gate->contract_path));
  TRY(contract_read(gate->contract_path, &folder->contract));
  TRY(gate_file_bind(folder->gate, folder->contract));
  TRY(check_named(gate->path, gate->corpus_mark, "corpus", gate->corpus_path));
  TRY(corpus_open(gate->corpus_path, &folder->corpus));
  if (folder->corpus->role != CORPUS_GOLDEN) {
    return status_make(ASSAY_CORPUS_ROLE, folder->corpus->folder,
                       "the corpus has the role %s; a gate compares on a golden one",
                       corpus_role_name(folder->corpus->role));
  }
  TRY(options->final != NULL ? open_sealed(folder) : sealed_overlap_check(options->folder, folder->corpus));
  if (folder->contract->stages != NULL) {
    return status_ok();
  }
  const char *contract_folder = path_folder(&result->arena, folder->gate->contract_path);
  folder->model_path =
      contract_folder != NULL ? path_join(&result->arena, contract_folder, folder->contract->model) : NULL;
  return folder->model_path != NULL ? status_ok() : status_no_memory(strlen(folder->contract->model));
}

static assay_status note_run(struct folder *folder, const struct gate_rung *rung, struct gate_result *result) {
  const char *index = path_join(&result->arena, rung->request.outputs_folder, "run.yaml");
  if (index == NULL) {
    return status_no_memory(strlen(rung->request.outputs_folder));
  }
  TRY(sealed_path_check(rung->request.outputs_folder));
  bool noted = rung->required || file_exists(index); /* an optional rung says itself that it is missing */
  return noted ? gate_result_file(result, "run", index, gate_shown_path(folder->options->folder, index)) : status_ok();
}

/* The model of a rung that computes; an optional rung whose own file is unfit says so itself when it opens. */
static assay_status bind_rung(struct folder *folder, struct gate_rung *rung, struct gate_result *result, bool *needed) {
  struct rung_request *request = &rung->request;
  if (request->model_path == NULL) {
    request->model_path = folder->model_path;
    *needed = true;
    return status_ok();
  }
  if (strcmp(request->engine, "assay") != 0) {
    return status_ok();
  }
  assay_status bound = bind_model(folder->contract, request->model_path, folder->options->folder, result);
  if (rung->required || assay_code_kind_of(bound.code) != ASSAY_KIND_INPUT) {
    return bound;
  }
  assay_status_clear(&bound);
  return status_ok();
}

/* Gives each rung that computes its model, and binds every model there is. */
static assay_status bind_models(struct folder *folder, struct gate_result *result) {
  const struct gate_file *gate = folder->gate;
  bool needed = false, staged = folder->contract->stages != NULL;
  ARENA_NEW(&result->arena, folder->rungs, gate->n_rungs + 1);
  for (int32_t r = 0; r < gate->n_rungs; r++) {
    folder->rungs[r] = gate->rungs[r];
    if (strcmp(gate->rungs[r].request.engine, "recorded") == 0) {
      TRY(note_run(folder, &folder->rungs[r], result));
    } else if (!staged) {
      TRY(bind_rung(folder, &folder->rungs[r], result, &needed));
    }
  }
  if (staged) {
    return stage_files_bind(folder->contract, folder->rungs, gate->n_rungs, folder->options->folder, result,
                            &folder->stages);
  }
  if (needed || file_exists(folder->model_path)) {
    const struct contract *contract = folder->contract;
    TRY(check_named(contract->path, contract->model_mark, "model", folder->model_path));
    return bind_model(folder->contract, folder->model_path, folder->options->folder, result);
  }
  folder->model_path = NULL;
  return status_ok();
}

/* Names are labels: whether the answers are this policy's is for the drift to say. But nobody should have to guess why
 * it is large. */
static assay_status note_policy(const struct folder *folder, struct gate_result *result) {
  const char *recorded = folder->corpus->policy, *described = folder->contract->policy;
  if (recorded == NULL || strcmp(recorded, described) == 0) {
    return status_ok();
  }
  return gate_result_note(
      result,
      "the corpus was recorded for the policy '%s', but the contract describes '%s'; if they are not "
      "the same policy, record a corpus of this one",
      recorded, described);
}

static assay_status note_files(struct folder *folder, struct gate_result *result) {
  const char *base = folder->options->folder;
  result->folder = arena_string(&result->arena, base);
  result->policy = arena_string(&result->arena, folder->contract->policy);
  const struct corpus *run = folder->sealed != NULL ? folder->sealed : folder->corpus;
  result->corpus_digest = arena_string(&result->arena, run->digest);
  if (result->folder == NULL || result->policy == NULL || result->corpus_digest == NULL) {
    return status_no_memory(strlen(base));
  }
  TRY(note_policy(folder, result));
  TRY(gate_result_file(result, "gate", folder->gate->path, gate_shown_path(base, folder->gate->path)));
  TRY(gate_result_file(result, "contract", folder->gate->contract_path,
                       gate_shown_path(base, folder->gate->contract_path)));
  for (int32_t i = 0; i < folder->contract->n_files; i++) {
    const struct contract_file *file = &folder->contract->files[i];
    TRY(add_digest(result, file->role, gate_shown_path(base, file->path), file->digest));
  }
  TRY(add_digest(result, "corpus", folder->gate->corpus_name, folder->corpus->digest));
  return folder->sealed != NULL ? add_digest(result, "sealed", folder->gate->sealed_name, folder->sealed->digest)
                                : status_ok();
}

static assay_status say_unsupported(const struct folder *folder, struct gate_result *result) {
  if (!folder->gate->constrain) {
    return status_ok();
  }
  return gate_reason_say(&result->arena, &result->reasons, ASSAY_CONSTRAIN_UNSUPPORTED,
                         "%s asks for measurement inside a control group (constrain), which this assay cannot do yet",
                         folder->gate->path);
}

/* What is declared stands in the ledger before anything runs. */
static assay_status declare_run(struct folder *folder, struct gate_result *result) {
  const struct gate_options *options = folder->options;
  const char *usual = path_join(&result->arena, options->folder, "ledger");
  const char *path = folder->gate->ledger_path != NULL ? folder->gate->ledger_path : usual;
  if (usual == NULL) {
    return status_no_memory(strlen(options->folder));
  }
  if (folder->sealed != NULL) {
    folder->look.folder = path;
    return sealed_look_begin(&folder->look, options->final, folder->gate, folder->contract, folder->corpus, result);
  }
  folder->ledger = (struct ledger_run){.use = options->ledger,
                                       .folder = path,
                                       .usual = usual,
                                       .why_unkept = options->no_ledger,
                                       .gate = gate_shown_path(options->folder, folder->gate->path),
                                       .contract = gate_shown_path(options->folder, folder->gate->contract_path)};
  return ledger_begin(&folder->ledger, folder->gate, folder->contract, folder->corpus, result);
}

static assay_status run_folder_gate(struct folder *folder, struct gate_result *result) {
  TRY(open_all(folder, result));
  TRY(note_files(folder, result));
  TRY(bind_models(folder, result));
  TRY(say_unsupported(folder, result));
  TRY(declare_run(folder, result));
  struct case_store cases;
  TRY(seeds_expand(folder->sealed != NULL ? folder->sealed : folder->corpus, &result->arena, &cases));
  folder->work = (struct gate_work){.contract = folder->contract,
                                    .cases = cases,
                                    .rungs = folder->rungs,
                                    .n_rungs = folder->gate->n_rungs,
                                    .reference_rung = folder->gate->reference_rung,
                                    .reference = folder->gate->reference,
                                    .noise = &folder->gate->noise,
                                    .model_path = folder->model_path,
                                    .stages = folder->stages.bound,
                                    .stage_models = folder->stages.models,
                                    .no_model = "not measured: the contract's model is not there, and no rung needs it",
                                    .threads = folder->options->threads > 0 ? folder->options->threads : 1,
                                    .progress = folder->options->progress};
  TRY(gate_measure(&folder->work, result));
  for (int32_t r = 0; r < result->n_rungs; r++) {
    const struct rung_request *request = &result->rungs[r].request;
    const char *model = request->model_path;
    if (request->stages != NULL) {
      TRY(stage_files_name(request, folder->options->folder, &result->arena, &result->rungs[r].model));
      continue;
    }
    result->rungs[r].model = model != NULL ? gate_shown_path(folder->options->folder, model) : NULL;
  }
  return folder->sealed != NULL ? sealed_look_end(&folder->look, result) : ledger_end(&folder->ledger, result);
}

assay_status gate_run(const struct gate_options *options, struct gate_result **out) {
  int64_t begin = clock_now_ns();
  struct folder folder = {.options = options};
  struct gate_result *result = NULL;
  *out = NULL;
  TRY(gate_result_new(&result));
  assay_status status = run_folder_gate(&folder, result);
  result->gate = folder.gate;
  result->contract = folder.contract;
  /* The result shows the corpus that was run. */
  result->corpus = folder.sealed != NULL ? folder.sealed : folder.corpus;
  if (folder.sealed != NULL) {
    corpus_close(folder.corpus);
  }
  if (!assay_status_ok(status)) {
    gate_result_free(result);
    return status;
  }
  result->time_ns = clock_now_ns() - begin;
  *out = result;
  return status;
}
