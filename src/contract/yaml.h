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

/* Bounds of a file. Beyond them reading fails with LIMIT_EXCEEDED. */
enum { YAML_BYTES_MAX = 16 << 20, YAML_DEPTH_MAX = 64, YAML_NODES_MAX = 2000000 };

/* Fails unless the node is of that kind; says what stands there. `what` names the thing
 * ("'outputs'", "the clip of component 'hip'"). A plain TODO is refused with OPEN_QUESTION. */
ASSAY_MUST_CHECK assay_status yaml_expect(const struct yaml_file *file, const struct yaml *node, enum yaml_kind kind,
                                          const char *what);
/* Every plain TODO of the file, in the order of its lines. */
struct open_question {
  struct mark mark;
  const char *path;   /* "outputs[action].components[hip].unit" */
  const char *hint;   /* what an answer looks like; NULL when the key is none that is known */
  const char *reason; /* what stands behind the TODO, without its brackets: why it is open; NULL */
};
ASSAY_MUST_CHECK assay_status yaml_open_questions(const struct yaml_file *file, struct arena *arena,
                                                  struct open_question **out, int32_t *count);
/* Fails with OPEN_QUESTION at the first plain TODO of the file, in the order of its lines; the
 * sentence names the key, what has to be answered, and the lines of the other open questions. */
ASSAY_MUST_CHECK assay_status yaml_no_open_questions(const struct yaml_file *file);

/* Member of a mapping; NULL when absent. */
const struct yaml *yaml_get(const struct yaml *mapping, const char *key);
/* Fails unless `node` is a mapping whose keys are all among `allowed`; the message names the
 * nearest allowed key. */
ASSAY_MUST_CHECK assay_status yaml_keys(const struct yaml_file *file, const struct yaml *node,
                                        const char *const *allowed, size_t count, const char *what);
ASSAY_MUST_CHECK assay_status yaml_require(const struct yaml_file *file, const struct yaml *mapping, const char *key,
                                           const char *what, const struct yaml **out);
/* Scalars. `what` names the thing in the message. Numbers are written as in JSON (0.5, -3, 1e-4):
 * no '+', no leading zero, no '_', no hexadecimal, no ':'; finite unless .inf/-.inf/.nan is written
 * and `finite` is false. A bool is true or false. A quoted scalar is a string, never a number or
 * bool; a plain scalar that other readers of YAML take for a number, a bool or nothing is no string
 * until it is quoted. TODO as a plain scalar is refused by each of these with OPEN_QUESTION. */
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
