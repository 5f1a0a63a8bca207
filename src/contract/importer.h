/* Importers: what other projects' deployment files say about a policy, as facts. One file
 * src/contract/import_<format>.c and one row in importers.inc each. An importer reads what its format
 * documents, executes nothing, and says nothing that the file does not. */
#ifndef CONTRACT_IMPORTER_H
#define CONTRACT_IMPORTER_H

#include "contract/contract.h"
#include "contract/facts.h"
#include "contract/foreign_yaml.h"

/* One file of `--from`. */
struct import_file {
  const char *path;
  const char *name; /* its last part, as places name it */
  const char *data; /* a zero byte follows; of a file that is kept for `finish`, the first 16 bytes alone */
  size_t size;
  bool is_text;                    /* it was read as YAML or JSON: `yaml` holds */
  struct foreign_file yaml;        /* its first document is the usual one */
  const struct importer *importer; /* of a file that is kept; else NULL */
};

/* The models that the facts are for, in the order of the command line. */
struct import_models {
  int32_t count;            /* at least 1 */
  const char *const *names; /* their files' names, for messages */
  const struct signature *const *signatures;
};

/* What an importer works with. */
struct import {
  const struct import_file *file;
  const struct import_models *models;
  struct facts *facts;
  struct arena *arena; /* as long as the facts */
};

/* How sure an importer is that a file is of its format, from the content alone. The surest one reads it;
 * two that are equally sure, or none above 0, are a failure that asks for --format. */
enum { IMPORT_NO = 0, IMPORT_MAYBE = 1, IMPORT_LIKELY = 2, IMPORT_SURE = 3 };

struct importer {
  const char *name;  /* of the format, as --format takes it */
  const char *about; /* one line for the help and the documentation */
  int (*recognise)(const struct import_file *file);
  assay_status (*read)(struct import *import);
  /* Instead of `read`, for formats whose files complete one another: all of them, once the last is there.
   * `import->file` is the finisher's to set, for the places that it gives. */
  assay_status (*finish)(struct import *import, const struct import_file *const *files, int32_t count);
};
extern const struct importer importers[];
extern const int32_t n_importers;

/* Reads a file of `--from` into the arena. `format` may be NULL. */
ASSAY_MUST_CHECK assay_status import_read(const char *path, const char *format, const struct import_models *models,
                                          struct facts *facts);
/* The same from memory. */
ASSAY_MUST_CHECK assay_status import_bytes(const char *data, size_t size, const char *path, const char *format,
                                           const struct import_models *models, struct facts *facts);
/* After the last file: lets formats whose files belong together read them. */
ASSAY_MUST_CHECK assay_status import_finish(const struct import_models *models, struct facts *facts);
/* What exporters left in the models' metadata (Isaac Lab's, mjlab's and K-Scale's keys). */
ASSAY_MUST_CHECK assay_status import_metadata(const struct import_models *models, struct facts *facts);

/* All that models and files say together. Files may come in any order. */
ASSAY_MUST_CHECK assay_status import_all(const struct import_models *models, const char *const *paths, int32_t n_paths,
                                         const char *format, struct arena *arena, struct facts **out);

/* --- what importers share ---------------------------------------------------------- */

/* Where a node of the file stands. */
struct place import_place(const struct import *import, const struct foreign *node);
/* Where a key of a map stands; the map itself when it has no such key. */
struct place import_key_place(const struct import *import, const struct foreign *map, const char *key);
struct place import_place_at(const struct import *import, struct mark mark);
/* A failure with IMPORT_INVALID at a node. */
ASSAY_MUST_CHECK assay_status import_error(const struct import *import, const struct foreign *node, const char *format,
                                           ...) PRINTF_LIKE(3, 4);
/* A member of a map; a key that stands twice is a failure. *out is NULL when it is absent or null. */
ASSAY_MUST_CHECK assay_status import_get(const struct import *import, const struct foreign *map, const char *key,
                                         const struct foreign **out);
/* Values of nodes, or a failure that says what stands there. `what` is the key, or what the message shall say. */
ASSAY_MUST_CHECK assay_status import_number(const struct import *import, const struct foreign *node, const char *what,
                                            double *out);
ASSAY_MUST_CHECK assay_status import_whole(const struct import *import, const struct foreign *node, const char *what,
                                           int64_t min, int64_t max, int64_t *out);
/* A list of numbers, or a single one (count 1); in the arena. */
ASSAY_MUST_CHECK assay_status import_numbers(const struct import *import, const struct foreign *node, const char *what,
                                             const double **out, int32_t *count);
/* A list of words, or a single one; in the arena. */
ASSAY_MUST_CHECK assay_status import_words(const struct import *import, const struct foreign *node, const char *what,
                                           const char *const **out, int32_t *count);

/* True when `pattern`, a regular expression as robot configurations use them to name joints (literals, . * + ?
 * [] () |), matches all of `name`. Bounded; a pattern that is not understood matches nothing. */
bool import_matches(const char *pattern, const char *name);

/* Values of a map from patterns to numbers for each of the facts' joints: values[j] is `otherwise` and given[j] false
 * where no pattern matches joint j. Both have room for all joints. */
ASSAY_MUST_CHECK assay_status import_matching(const struct import *import, const struct foreign *map, double otherwise,
                                              double *values, bool *given);

/* What a term of a known name holds. Formats that share a vocabulary (Isaac Lab's functions, for one) share
 * its rows; a name that no row has leaves its elements and unit open. */
struct known_term {
  const char *name;
  const char *unit;     /* NULL: none, or mixed */
  const char *elements; /* "x y z"; "*" for the joints; "" where the file says how many */
  enum fact_origin origin;
};
/* Fills what the row of that name says into a term; *known is false when no row has it. */
ASSAY_MUST_CHECK assay_status import_known_term(struct import *import, const struct known_term *rows, size_t n_rows,
                                                const char *name, struct place place, struct fact_term *term,
                                                bool *known);

#define IMPORTER(name, recognise, read, about)   \
  int recognise(const struct import_file *file); \
  ASSAY_MUST_CHECK assay_status read(struct import *import);
#define IMPORTER_TOGETHER(name, recognise, finish, about) \
  int recognise(const struct import_file *file);          \
  ASSAY_MUST_CHECK assay_status finish(struct import *import, const struct import_file *const *files, int32_t count);
#include "contract/importers.inc"
#undef IMPORTER
#undef IMPORTER_TOGETHER

#endif
