/* Facts about files: the stages of a policy that is several of them, and those that a contract will name. Like facts.c
 * it supplies nothing and prefers no file. */
#include <string.h>

#include "contract/facts.h"

static assay_status copy(struct facts *facts, const char *text, const char **out) {
  *out = arena_string(facts->arena, text);
  return *out != NULL ? status_ok() : status_no_memory(strlen(text));
}

static assay_status conflict(struct place first, struct place second, const char *what, const char *name) {
  struct text where = {0}, other = {0};
  place_add(&where, second);
  place_add(&other, first);
  assay_status status = status_make(ASSAY_IMPORT_CONFLICT, text_string(&where), "%s '%.80s' is another one in %s", what,
                                    name, text_string(&other));
  text_free(&where);
  text_free(&other);
  return status;
}

static assay_status too_many(struct place place, const char *what) {
  struct text where = {0};
  place_add(&where, place);
  assay_status status =
      status_make(ASSAY_LIMIT_EXCEEDED, text_string(&where), "there are more than %d %s", (int)FACT_TENSORS_MAX, what);
  text_free(&where);
  return status;
}

assay_status facts_stage(struct facts *facts, struct place place, const char *name, const char *model,
                         struct fact_stage **out) {
  for (int32_t i = 0; i < facts->n_stages; i++) {
    struct fact_stage *stage = &facts->stages[i];
    if (text_equal(stage->name, name)) {
      *out = stage;
      return text_equal(stage->model, model) ? status_ok() : conflict(stage->place, place, "the model of stage", name);
    }
  }
  if (facts->n_stages == FACT_TENSORS_MAX) {
    return too_many(place, "stages");
  }
  struct fact_stage stage = {.place = place};
  TRY(copy(facts, place.file, &stage.place.file));
  TRY(copy(facts, name, &stage.name));
  TRY(copy(facts, model, &stage.model));
  ARENA_NEW(facts->arena, stage.links[FACT_LINK_INPUT], FACT_TENSORS_MAX);
  ARENA_NEW(facts->arena, stage.links[FACT_LINK_OUTPUT], FACT_TENSORS_MAX);
  *out = &facts->stages[facts->n_stages++];
  **out = stage;
  return status_ok();
}

static bool same(const char *a, const char *b) { return a == NULL || b == NULL ? a == b : text_equal(a, b); }

assay_status facts_link(struct facts *facts, struct fact_stage *stage, enum fact_link_side side, const char *tensor,
                        const char *value) {
  int32_t *count = &stage->n_links[side];
  for (int32_t i = 0; i < *count; i++) {
    const struct fact_link *link = &stage->links[side][i];
    if (same(link->tensor, tensor)) {
      return text_equal(link->value, value) ? status_ok()
                                            : conflict(stage->place, stage->place, "a tensor of stage", stage->name);
    }
  }
  if (*count == FACT_TENSORS_MAX) {
    return too_many(stage->place, "tensors of a stage");
  }
  struct fact_link link = {0};
  if (tensor != NULL) {
    TRY(copy(facts, tensor, &link.tensor));
  }
  TRY(copy(facts, value, &link.value));
  stage->links[side][(*count)++] = link;
  return status_ok();
}

assay_status facts_file(struct facts *facts, struct place place, const char *path, const char *name) {
  for (int32_t i = 0; i < facts->n_files; i++) {
    if (text_equal(facts->files[i].name, name)) {
      return text_equal(facts->files[i].path, path) ? status_ok()
                                                    : conflict(facts->files[i].place, place, "the file", name);
    }
  }
  if (facts->n_files == FACT_TENSORS_MAX) {
    return too_many(place, "files");
  }
  struct fact_file file = {.place = place};
  TRY(copy(facts, place.file, &file.place.file));
  TRY(copy(facts, path, &file.path));
  TRY(copy(facts, name, &file.name));
  facts->files[facts->n_files++] = file;
  return status_ok();
}
