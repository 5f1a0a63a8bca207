/* The files of a policy of stages: see stage_files.h. It never lets one rung's file stand for another's. */
#include "gate/stage_files.h"

#include <string.h>

#include "contract/model_signature.h"
#include "core/file.h"
#include "gate/gate.h"

static bool computes(const struct gate_rung *rung) { return strcmp(rung->request.engine, "recorded") != 0; }

static const struct gate_stage_model *own_model(const struct gate_rung *rung, const char *stage) {
  for (int32_t i = 0; i < rung->n_models; i++) {
    if (strcmp(rung->models[i].stage, stage) == 0) {
      return &rung->models[i];
    }
  }
  return NULL;
}

/* Each rung's own file where it names one, else the contract's. */
static assay_status give_models(const struct contract_stages *stages, const char *const *paths, struct gate_rung *rung,
                                struct arena *arena) {
  const char **models;
  ARENA_NEW(arena, models, stages->count);
  for (int32_t s = 0; s < stages->count; s++) {
    const struct gate_stage_model *own = own_model(rung, stages->items[s].name);
    models[s] = own != NULL ? own->path : paths[s];
  }
  rung->request.stage_models = models;
  return status_ok();
}

/* The files that the wiring is learned from: the contract's, or where one is not there, that of a rung which
 * brings its own. */
static assay_status choose_files(const struct contract_stages *stages, const char *const *paths,
                                 const struct gate_rung *rungs, int32_t n_rungs, struct arena *arena,
                                 const char *const **out, bool *whole) {
  const char **chosen;
  ARENA_NEW(arena, chosen, stages->count);
  *whole = true;
  for (int32_t s = 0; s < stages->count; s++) {
    chosen[s] = paths[s];
    if (file_exists(paths[s])) {
      continue;
    }
    *whole = false;
    bool all = true;
    const char *other = NULL;
    for (int32_t r = 0; r < n_rungs; r++) {
      const struct gate_stage_model *own = computes(&rungs[r]) ? own_model(&rungs[r], stages->items[s].name) : NULL;
      all = all && (!computes(&rungs[r]) || own != NULL);
      other = own != NULL && other == NULL ? own->path : other;
    }
    chosen[s] = all && other != NULL ? other : paths[s];
  }
  *out = chosen;
  return status_ok();
}

static assay_status note_model(const char *path, const char *folder, struct gate_result *result) {
  struct model *model;
  TRY(model_open(path, NULL, &model));
  assay_status status = gate_result_model(result, model, folder);
  model_close(model);
  return status;
}

static assay_status check_own(const struct bound_stages *bound, const struct gate_rung *rung, int32_t s,
                              const char *path, const char *folder, struct gate_result *result) {
  struct model *model;
  struct arena scratch = {0};
  struct signature signature;
  TRY(model_open(path, NULL, &model));
  assay_status status = model_signature(model, &scratch, &signature);
  if (assay_status_ok(status)) {
    status = status_prefix(stages_bind_other(bound, s, &signature, path), "rung '%s'", rung->request.name);
  }
  if (assay_status_ok(status)) {
    status = gate_result_model(result, model, folder);
  }
  arena_free(&scratch);
  model_close(model);
  return status;
}

static assay_status check_own_models(const struct bound_stages *bound, const struct gate_rung *rung, const char *folder,
                                     struct gate_result *result) {
  for (int32_t s = 0; s < bound->n_stages && strcmp(rung->request.engine, "assay") == 0; s++) {
    const struct gate_stage_model *own = own_model(rung, bound->stages[s].stage->name);
    assay_status status = own != NULL ? check_own(bound, rung, s, own->path, folder, result) : status_ok();
    if (rung->required || assay_code_kind_of(status.code) != ASSAY_KIND_INPUT) {
      TRY(status);
    }
    assay_status_clear(&status); /* an optional rung says so itself when it opens */
  }
  return status_ok();
}

assay_status stage_files_bind(const struct contract *contract, struct gate_rung *rungs, int32_t n_rungs,
                              const char *folder, struct gate_result *result, struct stage_files *out) {
  const struct contract_stages *stages = contract->stages;
  const char *const *paths = NULL, *const *chosen = NULL;
  struct bound_stages *bound;
  bool whole = false, any = false;
  *out = (struct stage_files){0};
  TRY(stages_paths(contract, &result->arena, &paths));
  TRY(choose_files(stages, paths, rungs, n_rungs, &result->arena, &chosen, &whole));
  for (int32_t r = 0; r < n_rungs; r++) {
    any = any || computes(&rungs[r]);
  }
  if (!any && !whole) {
    return status_ok();
  }
  TRY(stages_bind_files(contract, chosen, &result->arena, &bound));
  for (int32_t s = 0; s < stages->count; s++) {
    TRY(note_model(chosen[s], folder, result));
  }
  for (int32_t r = 0; r < n_rungs; r++) {
    if (computes(&rungs[r])) {
      rungs[r].request.stages = bound;
      TRY(give_models(stages, paths, &rungs[r], &result->arena));
      TRY(check_own_models(bound, &rungs[r], folder, result));
    }
  }
  *out = (struct stage_files){bound, whole ? paths : NULL};
  return status_ok();
}

assay_status stage_files_name(const struct rung_request *request, const char *folder, struct arena *arena,
                              const char **out) {
  struct text names = {0};
  for (int32_t s = 0; s < request->stages->n_stages; s++) {
    text_format(&names, "%s%s", s > 0 ? ", " : "", gate_shown_path(folder, request->stage_models[s]));
  }
  *out = names.failed ? NULL : arena_string(arena, text_string(&names));
  text_free(&names);
  return *out != NULL ? status_ok() : status_no_memory(0);
}
