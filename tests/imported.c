/* What imported.h declares: it makes drafts and contracts for tests, and judges nothing but open questions. */
#include "imported.h"

#include <string.h>

#include "core/memory.h"

void imported_begin(struct imported *it, const char *name, const struct signature *signature) {
  memset(it, 0, sizeof *it);
  ASSERT_OK(facts_new(&it->arena, &it->facts));
  it->names[0] = name;
  it->signatures[0] = signature;
  it->n_models = 1;
  it->models = (struct import_models){1, it->names, it->signatures};
}

void imported_model(struct imported *it, const char *name, const struct signature *signature) {
  it->names[it->n_models] = name;
  it->signatures[it->n_models++] = signature;
  it->models.count = it->n_models;
}

void imported_end(struct imported *it) { arena_free(&it->arena); }

assay_status imported_text(struct imported *it, const char *name, const char *text) {
  return import_bytes(text, strlen(text), name, NULL, &it->models, it->facts);
}

assay_status imported_finish(struct imported *it) { return import_finish(&it->models, it->facts); }

char *replaced(const char *whole, const char *from, const char *to) {
  const char *at = strstr(whole, from);
  assert_non_null(at);
  struct text out = {0};
  text_add_bytes(&out, whole, (size_t)(at - whole));
  text_add(&out, to);
  text_add(&out, at + strlen(from));
  return out.data;
}

struct text imported_draft(const struct imported *it) {
  struct draft_model models[IMPORTED_MODELS_MAX];
  for (int32_t i = 0; i < it->n_models; i++) {
    models[i] = (struct draft_model){it->names[i], it->signatures[i]};
  }
  const struct draft draft = {.policy = "policy", .n_models = it->n_models, .models = models, .facts = it->facts};
  struct text out = {0};
  ASSERT_OK(draft_contract(&draft, &out));
  return out;
}

void assert_says(const struct text *text, const char *part) {
  if (strstr(text_string(text), part) == NULL) {
    print_error("nothing reads \"%s\" in\n%s", part, text_string(text));
    fail();
  }
}

void assert_open(const struct text *text, const char *expected) {
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

struct contract *imported_contract(const struct text *draft, const char *const *answers, int32_t n,
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

char *fixture(const char *name) {
  char path[2048];
  snprintf(path, sizeof path, ASSAY_SOURCE_DIR "/tests/importers/%s", name);
  char *text = NULL;
  size_t size = 0;
  ASSERT_OK(file_read(path, 1 << 20, &text, &size));
  return text;
}
