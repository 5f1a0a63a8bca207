/* Reading corpus.yaml, strictly, and giving the corpus its version. A key that is not known, an id that
 * stands twice or a file that is not inside the folder is an error; nothing is skipped or guessed. */
#include "corpus/corpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/checks.h"
#include "contract/yaml.h"
#include "core/file.h"
#include "core/memory.h"
#include "corpus/case_arrays.h"
#include "corpus/case_times.h"

enum { FORMAT_VERSION = 1, ID_LONGEST = 255 };

static const char *const role_names[CORPUS_ROLE_COUNT] = {"golden", "calibration", "sealed"};

const char *corpus_role_name(enum corpus_role role) { return role_names[role]; }

enum corpus_role corpus_role_find(const char *name) {
  int role = 0;
  while (role < CORPUS_ROLE_COUNT && strcmp(role_names[role], name) != 0) {
    role++;
  }
  return (enum corpus_role)role;
}

/* "sha256:" and 64 lower-case hexadecimal digits. */
static assay_status parse_digest(const struct yaml_file *file, const struct yaml *node, const char *what,
                                 const char **out) {
  TRY(yaml_string(file, node, what, out));
  if (text_starts_with(*out, "sha256:") && strlen(*out) == HASH_TEXT_SIZE - 1 &&
      strspn(*out + 7, "0123456789abcdef") == 64) {
    return status_ok();
  }
  return yaml_error(file, node->mark, "%s is '%s'; it must be \"sha256:\" and the 64 digits that sha256sum prints",
                    what, *out);
}

static assay_status optional_string(const struct yaml_file *file, const struct yaml *mapping, const char *key,
                                    const char **out) {
  const struct yaml *node = yaml_get(mapping, key);
  return node == NULL ? status_ok() : yaml_string(file, node, key, out);
}

static assay_status optional_bool(const struct yaml_file *file, const struct yaml *mapping, const char *key,
                                  bool *out) {
  const struct yaml *node = yaml_get(mapping, key);
  return node == NULL ? status_ok() : yaml_bool(file, node, key, out);
}

static assay_status optional_int(const struct yaml_file *file, const struct yaml *mapping, const char *key,
                                 int64_t least, int64_t *out) {
  *out = -1;
  const struct yaml *node = yaml_get(mapping, key);
  return node == NULL ? status_ok() : yaml_int(file, node, key, least, INT64_MAX, out);
}

static assay_status parse_refusal(const struct yaml_file *file, const struct yaml *node, struct corpus_case *entry) {
  static const char *const keys[] = {"refuse"};
  const struct yaml *refuse;
  const char *name;
  TRY(yaml_keys(file, node, keys, 1, "expect"));
  TRY(yaml_require(file, node, "refuse", "expect", &refuse));
  TRY(yaml_string(file, refuse, "refuse", &name));
  entry->refuse = true;
  entry->refusal = assay_code_find(name);
  if (!contract_is_refusal(entry->refusal)) {
    return yaml_error(
        file, refuse->mark,
        "'%s' is not a code that an invalid input can get, such as INPUT_SHAPE; docs/corpus.md lists them", name);
  }
  return status_ok();
}

static assay_status parse_expect(const struct yaml_file *file, const struct yaml *node, struct corpus_case *entry) {
  if (node->kind == YAML_MAPPING) {
    return parse_refusal(file, node, entry);
  }
  const char *word;
  TRY(yaml_string(file, node, "expect", &word));
  if (strcmp(word, "answer") != 0) {
    return yaml_error(file, node->mark, "expect is '%s'; it must be answer or {refuse: CODE}", word);
  }
  return status_ok();
}

static int compare_tags(const void *a, const void *b) {
  return strcmp(((const struct case_tag *)a)->key, ((const struct case_tag *)b)->key);
}

static assay_status parse_tags(const struct yaml_file *file, const struct yaml *node, struct arena *arena,
                               struct corpus_case *entry) {
  if (node == NULL) {
    return status_ok();
  }
  if (node->kind != YAML_MAPPING) {
    return yaml_error(file, node->mark, "tags must be a mapping such as {light: dark}");
  }
  struct case_tag *tags;
  ARENA_NEW(arena, tags, node->count);
  for (int32_t i = 0; i < node->count; i++) {
    tags[i].key = node->keys[i];
    TRY(yaml_string(file, &node->items[i], "a tag", &tags[i].value));
  }
  qsort(tags, (size_t)node->count, sizeof *tags, compare_tags);
  entry->tags = tags;
  entry->n_tags = node->count;
  return status_ok();
}

static int compare_ages(const void *a, const void *b) {
  return strcmp(((const struct case_age *)a)->input, ((const struct case_age *)b)->input);
}

static assay_status parse_ages(const struct yaml_file *file, const struct yaml *node, struct arena *arena,
                               struct corpus_case *entry) {
  if (node == NULL) {
    return status_ok();
  }
  if (node->kind != YAML_MAPPING) {
    return yaml_error(file, node->mark, "ages_ms must be a mapping of inputs to milliseconds, such as {front: 20}");
  }
  struct case_age *ages;
  ARENA_NEW(arena, ages, node->count);
  for (int32_t i = 0; i < node->count; i++) {
    ages[i].input = node->keys[i];
    TRY(yaml_double(file, &node->items[i], "an age", true, &ages[i].ms));
  }
  qsort(ages, (size_t)node->count, sizeof *ages, compare_ages);
  entry->ages = ages;
  entry->n_ages = node->count;
  return status_ok();
}

static assay_status parse_origin(const struct yaml_file *file, const struct yaml *node, struct case_origin *origin) {
  static const char *const keys[] = {"file", "digest", "decoder", "episode", "frame", "frames", "stride"};
  *origin = (struct case_origin)CASE_ORIGIN_NONE;
  if (node == NULL) {
    return status_ok();
  }
  TRY(yaml_keys(file, node, keys, sizeof keys / sizeof *keys, "origin"));
  TRY(optional_string(file, node, "file", &origin->file));
  TRY(optional_string(file, node, "decoder", &origin->decoder));
  const struct yaml *digest = yaml_get(node, "digest");
  if (digest != NULL) {
    TRY(parse_digest(file, digest, "the origin's digest", &origin->digest));
  }
  TRY(optional_int(file, node, "episode", 0, &origin->episode));
  TRY(optional_int(file, node, "frame", 0, &origin->frame));
  TRY(optional_int(file, node, "frames", 0, &origin->frames));
  return optional_int(file, node, "stride", 1, &origin->stride);
}

static assay_status parse_case_file(const struct yaml_file *file, const struct yaml *node, struct corpus *corpus,
                                    struct corpus_case *entry) {
  TRY(yaml_string(file, node, "file", &entry->file));
  char *path;
  assay_status status = path_join_inside(&corpus->arena, corpus->folder, entry->file, ASSAY_CORPUS_INVALID, &path);
  if (!assay_status_ok(status)) {
    assay_status error = yaml_error(file, node->mark, "%s", assay_status_sentence(status));
    assay_status_clear(&status);
    return error;
  }
  if (!file_exists(path) || file_is_folder(path)) {
    return yaml_error(file, node->mark, "the file '%s' of case '%s' is not there; restore it, or take the case out",
                      entry->file, entry->id);
  }
  return status_ok();
}

static assay_status parse_case(const struct yaml_file *file, const struct yaml *node, struct corpus *corpus,
                               struct corpus_case *entry) {
  static const char *const keys[] = {"id",       "file",   "digest",        "expect",  "sequence",
                                     "forced",   "tags",   "ages_ms",       "origin",  "guard",
                                     "times_ms", "now_ms", "result_age_ms", "monitors"};
  const struct yaml *id, *path, *digest, *expect;
  TRY(yaml_keys(file, node, keys, sizeof keys / sizeof *keys, "a case"));
  TRY(yaml_require(file, node, "id", "a case", &id));
  TRY(yaml_require(file, node, "file", "a case", &path));
  TRY(yaml_require(file, node, "digest", "a case", &digest));
  TRY(yaml_require(file, node, "expect", "a case", &expect));
  TRY(yaml_string(file, id, "id", &entry->id));
  size_t length = strlen(entry->id);
  if (length == 0 || length > ID_LONGEST) {
    return yaml_error(file, id->mark, "the id has %zu bytes; it must have 1 to %d", length, ID_LONGEST);
  }
  TRY(parse_case_file(file, path, corpus, entry));
  TRY(parse_digest(file, digest, "the digest", &entry->digest));
  TRY(parse_expect(file, expect, entry));
  TRY(optional_bool(file, node, "sequence", &entry->sequence));
  TRY(optional_bool(file, node, "forced", &entry->forced));
  if (entry->forced && !entry->sequence) {
    return yaml_error(file, node->mark, "case '%s' is forced but no sequence; only a sequence carries state",
                      entry->id);
  }
  TRY(parse_tags(file, yaml_get(node, "tags"), &corpus->arena, entry));
  TRY(parse_ages(file, yaml_get(node, "ages_ms"), &corpus->arena, entry));
  TRY(parse_origin(file, yaml_get(node, "origin"), &entry->origin));
  return case_times_parse(file, node, &corpus->arena, entry);
}

/* An id and where it stands, for finding one that stands twice. */
struct id_mark {
  const char *id;
  struct mark mark;
};

static int compare_ids(const void *a, const void *b) {
  const struct id_mark *left = a, *right = b;
  int order = strcmp(left->id, right->id);
  return order != 0 ? order : (left->mark.line > right->mark.line) - (left->mark.line < right->mark.line);
}

static assay_status check_ids(const struct yaml_file *file, const struct yaml *cases, struct corpus *corpus) {
  struct id_mark *ids;
  ARENA_NEW(&corpus->arena, ids, corpus->n_cases);
  for (int32_t i = 0; i < corpus->n_cases; i++) {
    ids[i] = (struct id_mark){corpus->cases[i].id, yaml_get(&cases->items[i], "id")->mark};
  }
  qsort(ids, (size_t)corpus->n_cases, sizeof *ids, compare_ids);
  for (int32_t i = 1; i < corpus->n_cases; i++) {
    if (strcmp(ids[i].id, ids[i - 1].id) == 0) {
      return yaml_error(file, ids[i].mark, "the id '%s' stands already in line %d; every case has its own", ids[i].id,
                        ids[i - 1].mark.line);
    }
  }
  return status_ok();
}

static assay_status parse_cases(const struct yaml_file *file, const struct yaml *node, struct corpus *corpus) {
  if (node->kind == YAML_NULL || (node->kind == YAML_SEQUENCE && node->count == 0)) {
    return status_ok();
  }
  if (node->kind != YAML_SEQUENCE) {
    return yaml_error(file, node->mark, "cases must be a list");
  }
  struct corpus_case *cases;
  ARENA_NEW(&corpus->arena, cases, node->count);
  corpus->cases = cases;
  for (int32_t i = 0; i < node->count; i++) {
    TRY(parse_case(file, &node->items[i], corpus, &cases[i]));
  }
  corpus->n_cases = node->count;
  return check_ids(file, node, corpus);
}

static assay_status parse_source(const struct yaml_file *file, const struct yaml *node, struct corpus *corpus) {
  static const char *const keys[] = {"framework", "version", "weights"};
  if (node == NULL) {
    return status_ok();
  }
  TRY(yaml_keys(file, node, keys, sizeof keys / sizeof *keys, "source"));
  TRY(optional_string(file, node, "framework", &corpus->framework));
  TRY(optional_string(file, node, "version", &corpus->framework_version));
  const struct yaml *weights = yaml_get(node, "weights");
  return weights == NULL ? status_ok() : parse_digest(file, weights, "weights", &corpus->weights_digest);
}

static assay_status parse_corpus(const struct yaml_file *file, struct corpus *corpus) {
  static const char *const keys[] = {"assay", "role", "policy", "source", "dtypes", "cases"};
  const struct yaml *version, *role, *cases;
  int64_t number;
  int32_t choice;
  TRY(yaml_keys(file, file->root, keys, sizeof keys / sizeof *keys, "a corpus"));
  TRY(yaml_require(file, file->root, "assay", "a corpus", &version));
  TRY(yaml_int(file, version, "assay (the version of the format)", FORMAT_VERSION, FORMAT_VERSION, &number));
  TRY(yaml_require(file, file->root, "role", "a corpus", &role));
  TRY(yaml_choice(file, role, "role", role_names, CORPUS_ROLE_COUNT, &choice));
  corpus->role = (enum corpus_role)choice;
  TRY(optional_string(file, file->root, "policy", &corpus->policy));
  TRY(parse_source(file, yaml_get(file->root, "source"), corpus));
  TRY(dtypes_parse(file, yaml_get(file->root, "dtypes"), &corpus->arena, &corpus->dtypes, &corpus->n_dtypes));
  TRY(yaml_require(file, file->root, "cases", "a corpus", &cases));
  return parse_cases(file, cases, corpus);
}

/* Every field goes in with its length, so that no two corpora say the same bytes. */
static void add_string(struct hash *hash, const char *text) {
  char length[24];
  int n = snprintf(length, sizeof length, "%zu:", text == NULL ? 0 : strlen(text));
  hash_add(hash, text == NULL ? "-" : "+", 1);
  hash_add(hash, length, (size_t)n);
  hash_add(hash, text == NULL ? "" : text, text == NULL ? 0 : strlen(text));
}

static void add_int(struct hash *hash, int64_t value) {
  char text[24];
  snprintf(text, sizeof text, "%lld", (long long)value);
  add_string(hash, text);
}

static void add_case(struct hash *hash, const struct corpus_case *entry) {
  add_string(hash, entry->id);
  add_string(hash, entry->file);
  add_string(hash, entry->digest);
  add_string(hash, entry->refuse ? assay_code_name(entry->refusal) : NULL);
  add_int(hash, entry->sequence);
  add_int(hash, entry->forced);
  add_int(hash, entry->n_tags);
  for (int32_t i = 0; i < entry->n_tags; i++) {
    add_string(hash, entry->tags[i].key);
    add_string(hash, entry->tags[i].value);
  }
  add_int(hash, entry->n_ages);
  for (int32_t i = 0; i < entry->n_ages; i++) {
    char ms[32];
    snprintf(ms, sizeof ms, "%.17g", entry->ages[i].ms);
    add_string(hash, entry->ages[i].input);
    add_string(hash, ms);
  }
  add_string(hash, entry->origin.file);
  add_string(hash, entry->origin.digest);
  add_int(hash, entry->origin.episode);
  add_int(hash, entry->origin.frame);
  add_int(hash, entry->origin.frames);
  add_int(hash, entry->origin.stride);
  if (entry->origin.decoder != NULL) { /* corpora without one keep the digest they had */
    add_string(hash, "decoder");
    add_string(hash, entry->origin.decoder);
  }
  bool whole = entry->n_guard > 0 && entry->guard[0].step < 0;
  add_string(hash, whole ? guard_answer_name(entry->guard[0].answer) : NULL);
}

/* What corpora could not always say comes last, and only where it is said: the version of others stays what it was. */
static void add_times(struct hash *hash, const struct corpus *corpus) {
  bool given = false;
  for (int32_t i = 0; i < corpus->n_cases; i++) {
    given |= case_times_given(&corpus->cases[i]);
  }
  for (int32_t i = 0; i < corpus->n_cases && given; i++) {
    case_times_hash(hash, &corpus->cases[i], add_string);
  }
}

static void make_digest(struct corpus *corpus) {
  struct hash hash;
  hash_begin(&hash);
  add_string(&hash, "assay corpus 1");
  add_string(&hash, role_names[corpus->role]);
  add_string(&hash, corpus->policy);
  add_string(&hash, corpus->framework);
  add_string(&hash, corpus->framework_version);
  add_string(&hash, corpus->weights_digest);
  add_int(&hash, corpus->n_dtypes);
  for (int32_t i = 0; i < corpus->n_dtypes; i++) {
    add_string(&hash, corpus->dtypes[i].array);
    add_string(&hash, assay_dtype_name(corpus->dtypes[i].dtype));
  }
  add_int(&hash, corpus->n_cases);
  for (int32_t i = 0; i < corpus->n_cases; i++) {
    add_case(&hash, &corpus->cases[i]);
  }
  add_times(&hash, corpus);
  hash_end(&hash, corpus->digest);
}

static assay_status open_into(const char *folder, struct corpus *corpus) {
  corpus->folder = arena_string(&corpus->arena, folder);
  char *path = path_join(&corpus->arena, folder, "corpus.yaml");
  if (corpus->folder == NULL || path == NULL) {
    return status_no_memory(strlen(folder));
  }
  if (!file_is_folder(folder)) {
    return status_make(
        ASSAY_FILE_MISSING, folder,
        "there is no such folder; a corpus is a folder with corpus.yaml and its cases (`assay corpus new` "
        "makes one)");
  }
  struct yaml_file file;
  TRY(yaml_read(path, ASSAY_CORPUS_INVALID, &corpus->arena, &file));
  TRY(parse_corpus(&file, corpus));
  make_digest(corpus);
  return status_ok();
}

assay_status corpus_open_to_write(const char *folder, struct corpus **out) {
  *out = NULL;
  struct corpus *corpus = memory_alloc(1, sizeof *corpus);
  if (corpus == NULL) {
    return status_no_memory(sizeof *corpus);
  }
  assay_status status = open_into(folder, corpus);
  if (!assay_status_ok(status)) {
    corpus_close(corpus);
    return status;
  }
  *out = corpus;
  return status;
}

assay_status corpus_open(const char *folder, struct corpus **out) {
  TRY(corpus_open_to_write(folder, out));
  if ((*out)->role != CORPUS_SEALED) {
    return status_ok();
  }
  corpus_close(*out);
  *out = NULL;
  return status_make(
      ASSAY_CORPUS_SEALED, folder,
      "this corpus is sealed: only the final evaluation may look at it; use a golden or calibration corpus");
}

assay_status corpus_open_sealed(const char *folder, struct corpus **out) {
  TRY(corpus_open_to_write(folder, out));
  enum corpus_role role = (*out)->role;
  if (role == CORPUS_SEALED) {
    return status_ok();
  }
  corpus_close(*out);
  *out = NULL;
  return status_make(ASSAY_CORPUS_ROLE, folder,
                     "the corpus has the role %s; a sealed set is made with `assay corpus new --role sealed`",
                     corpus_role_name(role));
}

void corpus_close(struct corpus *corpus) {
  if (corpus != NULL) {
    arena_free(&corpus->arena);
    memory_free(corpus);
  }
}
