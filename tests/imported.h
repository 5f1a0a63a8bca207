/* For tests of importers: configuration files as text, models as signatures, and what becomes of them: facts, a draft, and
 * a contract once the draft's questions are answered. */
#ifndef TESTS_IMPORTED_H
#define TESTS_IMPORTED_H

#include <string.h>

#include "contract/draft.h"
#include "contract/importer.h"
#include "contract/yaml.h"
#include "core/memory.h"
#include "scratch_folder.h"
#include "support.h"

enum { IMPORTED_MODELS_MAX = 4 };
struct imported {
  struct arena arena;
  struct facts *facts;
  int32_t n_models;
  const char *names[IMPORTED_MODELS_MAX];
  const struct signature *signatures[IMPORTED_MODELS_MAX];
  struct import_models models;
};

/* Begins with one model; more are added by imported_model. */
static inline void imported_begin(struct imported *it, const char *name, const struct signature *signature) {
  memset(it, 0, sizeof *it);
  ASSERT_OK(facts_new(&it->arena, &it->facts));
  it->names[0] = name;
  it->signatures[0] = signature;
  it->n_models = 1;
  it->models = (struct import_models){1, it->names, it->signatures};
}

static inline void imported_model(struct imported *it, const char *name, const struct signature *signature) {
  it->names[it->n_models] = name;
  it->signatures[it->n_models++] = signature;
  it->models.count = it->n_models;
}

static inline void imported_end(struct imported *it) { arena_free(&it->arena); }

static inline assay_status imported_text(struct imported *it, const char *name, const char *text) {
  return import_bytes(text, strlen(text), name, NULL, &it->models, it->facts);
}

static inline assay_status imported_finish(struct imported *it) { return import_finish(&it->models, it->facts); }

/* `text` with the first `from` written as `to`. The caller frees it with memory_free. */
static inline char *replaced(const char *text, const char *from, const char *to) {
  const char *at = strstr(text, from);
  assert_non_null(at);
  struct text out = {0};
  text_add_bytes(&out, text, (size_t)(at - text));
  text_add(&out, to);
  text_add(&out, at + strlen(from));
  return out.data;
}

/* The draft as text; the caller ends it with text_free. */
static inline struct text imported_draft(const struct imported *it) {
  struct draft_model models[IMPORTED_MODELS_MAX];
  for (int32_t i = 0; i < it->n_models; i++) {
    models[i] = (struct draft_model){it->names[i], it->signatures[i]};
  }
  const struct draft draft = {.policy = "policy", .n_models = it->n_models, .models = models, .facts = it->facts};
  struct text out = {0};
  ASSERT_OK(draft_contract(&draft, &out));
  return out;
}

static inline void assert_says(const struct text *text, const char *part) {
  if (strstr(text_string(text), part) == NULL) {
    print_error("nothing reads \"%s\" in\n%s", part, text_string(text));
    fail();
  }
}

/* The open questions, by their paths, one a line. */
static inline void assert_open(const struct text *text, const char *expected) {
  struct arena arena = {0};
  struct yaml_file file;
  struct open_question *questions;
  int32_t count;
  ASSERT_OK(yaml_parse(text->data, text->length, "contract.yaml", ASSAY_CONTRACT_INVALID, &arena, &file));
  ASSERT_OK(yaml_open_questions(&file, &arena, &questions, &count));
  struct text found = {0};
  for (int32_t i = 0; i < count; i++) {
    text_format(&found, "%s\n", questions[i].path);
  }
  assert_string_equal(text_string(&found), expected);
  text_free(&found);
  arena_free(&arena);
}

/* The contract once each TODO, with the reason behind it, has its answer. */
static inline struct contract *imported_contract(const struct text *draft, const char *const *answers, int32_t n,
                                                 const char *folder) {
  struct text answered = {0};
  const char *rest = strstr(text_string(draft), "assay: 1"); /* behind the comments */
  assert_non_null(rest);
  for (int32_t i = 0; i < n; i++) {
    const char *todo = strstr(rest, "TODO");
    assert_non_null(todo);
    text_add_bytes(&answered, rest, (size_t)(todo - rest));
    text_add(&answered, answers[i]);
    rest = todo + 4;
    if (strncmp(rest, " (", 2) == 0) {
      rest = strchr(rest, ')') + 1;
    }
  }
  text_add(&answered, rest);
  struct contract *contract = NULL;
  assay_status status = contract_parse(answered.data, answered.length, "contract.yaml", folder, &contract);
  if (!assay_status_ok(status)) {
    print_error("%s", text_string(&answered));
  }
  ASSERT_OK(status);
  text_free(&answered);
  return contract;
}

/* A file of tests/importers as text; the caller frees it with memory_free. */
static inline char *fixture(const char *name) {
  char path[2048];
  snprintf(path, sizeof path, ASSAY_SOURCE_DIR "/tests/importers/%s", name);
  char *text = NULL;
  size_t size = 0;
  ASSERT_OK(file_read(path, 1 << 20, &text, &size));
  return text;
}

#endif
