/* For tests of importers: configuration files as text, models as signatures, and what becomes of them: facts, a draft,
 * and a contract once the draft's questions are answered. */
#ifndef TESTS_IMPORTED_H
#define TESTS_IMPORTED_H

#include "contract/draft.h"
#include "contract/importer.h"
#include "contract/yaml.h"
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
void imported_begin(struct imported *it, const char *name, const struct signature *signature);

void imported_model(struct imported *it, const char *name, const struct signature *signature);

void imported_end(struct imported *it);

assay_status imported_text(struct imported *it, const char *name, const char *text);

assay_status imported_finish(struct imported *it);

/* `whole` with the first `from` written as `to`. The caller frees it with memory_free. */
char *replaced(const char *whole, const char *from, const char *to);

/* The draft as text; the caller ends it with text_free. */
struct text imported_draft(const struct imported *it);

void assert_says(const struct text *text, const char *part);

/* The open questions, by their paths, one a line. */
void assert_open(const struct text *text, const char *expected);

/* The contract once each TODO, with the reason behind it, has its answer. */
struct contract *imported_contract(const struct text *draft, const char *const *answers, int32_t n, const char *folder);

/* A file of tests/importers as text; the caller frees it with memory_free. */
char *fixture(const char *name);

#endif
