/* Other people's YAML and JSON as a tree whose every node knows its line: lenient where strict YAML refuses
 * (anchors, aliases, merge keys, tags, several documents), and as bounded. Tags are kept as text and never acted
 * upon. contract.yaml and its kin are never read by this, see yaml.h. */
#ifndef CONTRACT_FOREIGN_YAML_H
#define CONTRACT_FOREIGN_YAML_H

#include <stdbool.h>
#include <stdint.h>

#include "contract/contract.h"
#include "core/arena.h"

enum foreign_kind { FOREIGN_NULL, FOREIGN_SCALAR, FOREIGN_LIST, FOREIGN_MAP };

/* A value. What an alias stands for is shared with its anchor, so that the tree is no larger than the
 * file; walking it takes at most FOREIGN_NODES_MAX steps, since that is checked while reading. */
struct foreign {
  enum foreign_kind kind;
  bool quoted;
  struct mark mark;
  const char *tag;  /* "tag:yaml.org,2002:python/tuple", "!mine"; NULL when there is none */
  const char *text; /* scalar and null, zero-terminated */
  int32_t count;    /* list: items; map: pairs */
  int32_t weight;   /* nodes in it, aliases written out */
  const struct foreign *items;
  const char *const *keys; /* map only; a key that is no scalar is "" */
  const struct mark *key_marks;
};

struct foreign_file {
  const char *path;
  int32_t n_documents;
  const struct foreign *documents;
};

enum { FOREIGN_DEPTH_MAX = 64, FOREIGN_NODES_MAX = 400000, FOREIGN_ANCHORS_MAX = 4096, FOREIGN_BYTES_MAX = 16 << 20 };

/* Parses text (JSON is read as the YAML that it is); the tree lives in the arena. Text that is neither is
 * IMPORT_INVALID, and what is larger, deeper or, with its aliases written out, longer than the bounds is
 * LIMIT_EXCEEDED. */
ASSAY_MUST_CHECK assay_status foreign_parse(const char *text, size_t size, const char *path, struct arena *arena,
                                            struct foreign_file *out);

/* A failure with IMPORT_INVALID at a mark: "path:line:column: sentence". */
ASSAY_MUST_CHECK assay_status foreign_error(const char *path, struct mark mark, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* Member of a map, the first where a key stands twice; NULL when absent or `map` is none (or NULL). */
const struct foreign *foreign_get(const struct foreign *map, const char *key);
/* The same along a path of keys: foreign_at(root, "scene/robot/init_state"). */
const struct foreign *foreign_at(const struct foreign *map, const char *path);
/* The same as foreign_get, but a key that stands twice is a failure that names both lines: readers of YAML
 * disagree about which of the two holds. *out is NULL when the key is absent. */
ASSAY_MUST_CHECK assay_status foreign_take(const char *path, const struct foreign *map, const char *key,
                                           const struct foreign **out);

/* True when a plain scalar is such a value. Numbers are those of JSON and what Python and YAML 1.1 write
 * besides (1., .5, +1, 1e3, .inf); the number is finite. Independent of the locale. */
bool foreign_number(const struct foreign *node, double *out);
bool foreign_whole(const struct foreign *node, int64_t *out);
bool foreign_flag(const struct foreign *node, bool *out);
/* The text of a scalar that is not null; NULL otherwise. */
const char *foreign_text(const struct foreign *node);
/* True when the node has this tag, given without "!!" or its long form: "python/tuple". */
bool foreign_has_tag(const struct foreign *node, const char *tag);

#endif
