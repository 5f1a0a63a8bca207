/* Strict YAML: libyaml's events turned into a tree whose every node knows line
 * and column. Aliases, tags, merge keys, duplicate keys, more than one document, and nesting or size
 * beyond a bound are errors. Used for contract.yaml, gate.yaml, corpus.yaml and
 * run.yaml; the meaning of keys is up to those who read them. */
#ifndef CONTRACT_YAML_H
#define CONTRACT_YAML_H

#include <stdbool.h>
#include <stdint.h>

#include "contract/contract.h"
#include "core/arena.h"
#include "core/text.h"

enum yaml_kind { YAML_NULL, YAML_SCALAR, YAML_SEQUENCE, YAML_MAPPING };

struct yaml {
  enum yaml_kind kind;
  struct mark mark;
  const char *text; /* scalar, zero-terminated; a scalar with an inner zero byte is an error */
  bool quoted;
  int32_t count; /* sequence: items; mapping: pairs */
  struct yaml *items;
  const char **keys; /* mapping only */
  struct mark *key_marks;
};

/* One file's tree, for messages: "path:line:column". */
struct yaml_file {
  const char *path;
  assay_code code; /* what content errors fail with: CONTRACT_INVALID, ... */
  struct yaml *root;
};

/* Parses text; the tree lives in the arena. Syntax errors are YAML_SYNTAX. */
ASSAY_MUST_CHECK assay_status yaml_parse(const char *text, size_t size, const char *path, assay_code code,
                                         struct arena *arena, struct yaml_file *out);
ASSAY_MUST_CHECK assay_status yaml_read(const char *path, assay_code code, struct arena *arena, struct yaml_file *out);

/* A failure at a node: "path:line:column: sentence". */
ASSAY_MUST_CHECK assay_status yaml_error(const struct yaml_file *file, struct mark mark, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* Member of a mapping; NULL when absent. */
const struct yaml *yaml_get(const struct yaml *mapping, const char *key);
/* Fails unless `node` is a mapping whose keys are all among `allowed`; the message names the
 * nearest allowed key. */
ASSAY_MUST_CHECK assay_status yaml_keys(const struct yaml_file *file, const struct yaml *node,
                                        const char *const *allowed, size_t count, const char *what);
ASSAY_MUST_CHECK assay_status yaml_require(const struct yaml_file *file, const struct yaml *mapping, const char *key,
                                           const char *what, const struct yaml **out);
/* Scalars. `what` names the thing in the message. Numbers are decimal, finite unless .inf/.nan is
 * written and `finite` is false. A quoted scalar is a string, never a number or bool. TODO as a
 * plain scalar is refused by each of these with OPEN_QUESTION. */
ASSAY_MUST_CHECK assay_status yaml_string(const struct yaml_file *file, const struct yaml *node, const char *what,
                                          const char **out);
ASSAY_MUST_CHECK assay_status yaml_int(const struct yaml_file *file, const struct yaml *node, const char *what,
                                       int64_t min, int64_t max, int64_t *out);
ASSAY_MUST_CHECK assay_status yaml_double(const struct yaml_file *file, const struct yaml *node, const char *what,
                                          bool finite, double *out);
ASSAY_MUST_CHECK assay_status yaml_bool(const struct yaml_file *file, const struct yaml *node, const char *what,
                                        bool *out);
/* One of the words; its index. */
ASSAY_MUST_CHECK assay_status yaml_choice(const struct yaml_file *file, const struct yaml *node, const char *what,
                                          const char *const *words, size_t count, int32_t *out);

/* Writing: a scalar quoted where YAML would otherwise read it as something else. */
void yaml_write_scalar(struct text *out, const char *text);

#endif
