/* The editor of a corpus: files of cases first, then corpus.yaml at once. It must never leave a
 * corpus.yaml that names a file which is not there, nor overwrite a file that it did not write. */
#include "corpus/corpus_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contract/sealed_path.h"
#include "contract/yaml.h"
#include "core/file.h"
#include "core/list.h"
#include "core/memory.h"
#include "corpus/case_arrays.h"
#include "corpus/case_seeds.h"
#include "corpus/case_times.h"
#include "corpus/sealed_register.h"

enum { FORMAT_VERSION = 1, FILE_NAME_LONGEST = 255 };
static const char corpus_file[] = "corpus.yaml";

struct corpus_editor {
  struct arena arena;
  struct corpus *corpus;
  struct corpus_case *cases; /* those of the corpus, then those added */
  int32_t n_cases, cases_capacity;
  struct corpus_dtype *dtypes;
  int32_t n_dtypes, dtypes_capacity;
  char index_digest[HASH_TEXT_SIZE]; /* of corpus.yaml as it stood when it was opened */
  char **written;                    /* paths of files that abandoning takes back */
  int32_t n_written, written_capacity;
  struct sealed_register *sealed; /* of the policy folder; NULL: there is none, or this corpus is sealed itself */
};

/* --- corpus.yaml ------------------------------------------------------- */

static void write_pair(struct text *out, const char *indent, const char *key, const char *value) {
  if (value != NULL) {
    text_format(out, "%s%s: ", indent, key);
    yaml_write_scalar(out, value);
    text_add(out, "\n");
  }
}

static void write_digest(struct text *out, const char *indent, const char *key, const char *digest) {
  if (digest != NULL) {
    text_format(out, "%s%s: \"%s\"\n", indent, key, digest);
  }
}

static void write_head(struct text *out, const struct corpus_head *head) {
  text_format(out, "assay: %d\nrole: %s\n", FORMAT_VERSION, corpus_role_name(head->role));
  write_pair(out, "", "policy", head->policy);
  if (head->framework != NULL || head->framework_version != NULL || head->weights_digest != NULL) {
    text_add(out, "source:\n");
    write_pair(out, "  ", "framework", head->framework);
    write_pair(out, "  ", "version", head->framework_version);
    write_digest(out, "  ", "weights", head->weights_digest);
  }
}

static void write_ages(struct text *out, const struct corpus_case *entry) {
  text_add(out, "    ages_ms: {");
  for (int32_t i = 0; i < entry->n_ages; i++) {
    char ms[32];
    snprintf(ms, sizeof ms, "%.15g", entry->ages[i].ms);
    if (strtod(ms, NULL) != entry->ages[i].ms) {
      snprintf(ms, sizeof ms, "%.17g", entry->ages[i].ms);
    }
    text_add(out, i == 0 ? "" : ", ");
    yaml_write_scalar(out, entry->ages[i].input);
    text_format(out, ": %s", ms);
  }
  text_add(out, "}\n");
}

static void write_tags(struct text *out, const struct corpus_case *entry) {
  text_add(out, "    tags: {");
  for (int32_t i = 0; i < entry->n_tags; i++) {
    text_add(out, i == 0 ? "" : ", ");
    yaml_write_scalar(out, entry->tags[i].key);
    text_add(out, ": ");
    yaml_write_scalar(out, entry->tags[i].value);
  }
  text_add(out, "}\n");
}

static void write_number(struct text *out, const char *key, int64_t value, const char **separator) {
  if (value >= 0) {
    text_format(out, "%s%s: %lld", *separator, key, (long long)value);
    *separator = ", ";
  }
}

static void write_origin(struct text *out, const struct case_origin *origin) {
  const char *separator = "";
  struct text inner = {0};
  if (origin->file != NULL) {
    text_add(&inner, "file: ");
    yaml_write_scalar(&inner, origin->file);
    separator = ", ";
  }
  if (origin->digest != NULL) {
    text_format(&inner, "%sdigest: \"%s\"", separator, origin->digest);
    separator = ", ";
  }
  if (origin->decoder != NULL) {
    text_format(&inner, "%sdecoder: ", separator);
    yaml_write_scalar(&inner, origin->decoder);
    separator = ", ";
  }
  write_number(&inner, "episode", origin->episode, &separator);
  write_number(&inner, "frame", origin->frame, &separator);
  write_number(&inner, "frames", origin->frames, &separator);
  write_number(&inner, "stride", origin->stride, &separator);
  if (inner.length > 0) {
    text_format(out, "    origin: {%s}\n", text_string(&inner));
  }
  out->failed = out->failed || inner.failed;
  text_free(&inner);
}

static void write_case(struct text *out, const struct corpus_case *entry) {
  write_pair(out, "  - ", "id", entry->id);
  write_pair(out, "    ", "file", entry->file);
  write_digest(out, "    ", "digest", entry->digest);
  if (entry->refuse) {
    text_format(out, "    expect: {refuse: %s}\n", assay_code_name(entry->refusal));
  } else {
    text_add(out, "    expect: answer\n");
  }
  text_add(out, entry->sequence ? "    sequence: true\n" : "");
  text_add(out, entry->forced ? "    forced: true\n" : "");
  if (entry->n_tags > 0) {
    write_tags(out, entry);
  }
  if (entry->n_ages > 0) {
    write_ages(out, entry);
  }
  write_origin(out, &entry->origin);
  case_times_write(out, entry);
}

/* What YAML cannot carry (a name that is not UTF-8) must not make a corpus that nobody can open. */
static assay_status check_readable(const struct text *text) {
  struct arena arena = {0};
  struct yaml_file file;
  assay_status status = text_status(text);
  if (assay_status_ok(status)) {
    status = yaml_parse(text->data, text->length, "corpus.yaml, as it would be", ASSAY_CORPUS_INVALID, &arena, &file);
  }
  arena_free(&arena);
  return status_prefix(status, "a name or tag cannot be written to corpus.yaml");
}

/* Puts the text in place of corpus.yaml in the folder. */
static assay_status replace_index(const char *folder, const struct text *text) {
  struct arena arena = {0};
  char *path = path_join(&arena, folder, corpus_file);
  assay_status status = check_readable(text);
  if (assay_status_ok(status)) {
    status = path == NULL ? status_no_memory(strlen(folder)) : file_replace(path, text->data, text->length);
  }
  arena_free(&arena);
  return status;
}

/* --- a new corpus ------------------------------------------------------ */

static assay_status check_free(const char *folder) {
  struct arena arena = {0};
  char *path = path_join(&arena, folder, corpus_file);
  bool taken = path != NULL && file_exists(path);
  arena_free(&arena);
  if (path == NULL) {
    return status_no_memory(strlen(folder));
  }
  return taken
             ? status_make(ASSAY_USAGE, folder,
                           "there is a corpus here already; add to it with `assay corpus add`, or name another folder")
             : status_ok();
}

assay_status corpus_new(const char *folder, const struct corpus_head *head) {
  TRY(check_free(folder));
  struct text text = {0};
  write_head(&text, head);
  text_add(&text, "cases: []\n");
  assay_status status = check_readable(&text);
  if (assay_status_ok(status)) {
    status = folder_make(folder);
  }
  if (assay_status_ok(status)) {
    status = replace_index(folder, &text);
  }
  text_free(&text);
  return status;
}

/* --- editing ----------------------------------------------------------- */

static void editor_free(struct corpus_editor *editor) {
  corpus_close(editor->corpus);
  sealed_register_free(editor->sealed);
  memory_free(editor->cases);
  memory_free(editor->dtypes);
  memory_free(editor->written);
  arena_free(&editor->arena);
  memory_free(editor);
}

static assay_status hash_index(const char *folder, char digest[HASH_TEXT_SIZE]) {
  struct arena arena = {0};
  char *path = path_join(&arena, folder, corpus_file);
  assay_status status = path == NULL ? status_no_memory(strlen(folder)) : hash_file(path, digest);
  arena_free(&arena);
  return status;
}

static assay_status editor_begin(struct corpus_editor *editor, const char *folder) {
  /* Digest first: a change between the two is then found at the end. */
  assay_status hashed = hash_index(folder, editor->index_digest);
  if (hashed.code == ASSAY_OUT_OF_MEMORY) {
    return hashed;
  }
  assay_status_clear(&hashed); /* opening says better what is wrong */
  TRY(corpus_open_to_write(folder, &editor->corpus));
  const struct corpus *corpus = editor->corpus;
  if (corpus->role != CORPUS_SEALED) {
    TRY(sealed_register_beside(folder, &editor->sealed));
  }
  for (int32_t i = 0; i < corpus->n_cases; i++) {
    LIST_ROOM(editor->cases, editor->n_cases, editor->cases_capacity);
    editor->cases[editor->n_cases++] = corpus->cases[i];
  }
  for (int32_t i = 0; i < corpus->n_dtypes; i++) {
    LIST_ROOM(editor->dtypes, editor->n_dtypes, editor->dtypes_capacity);
    editor->dtypes[editor->n_dtypes++] = corpus->dtypes[i];
  }
  return status_ok();
}

assay_status corpus_edit(const char *folder, struct corpus_editor **out) {
  *out = NULL;
  struct corpus_editor *editor = memory_alloc(1, sizeof *editor);
  if (editor == NULL) {
    return status_no_memory(sizeof *editor);
  }
  assay_status status = editor_begin(editor, folder);
  if (!assay_status_ok(status)) {
    editor_free(editor);
    return status;
  }
  *out = editor;
  return status;
}

const struct corpus *corpus_edited(const struct corpus_editor *editor) { return editor->corpus; }

int32_t corpus_edit_count(const struct corpus_editor *editor) { return editor->n_cases - editor->corpus->n_cases; }

void corpus_edit_abandon(struct corpus_editor *editor) {
  if (editor == NULL) {
    return;
  }
  for (int32_t i = 0; i < editor->n_written; i++) {
    (void)unlink(editor->written[i]);
  }
  editor_free(editor);
}

/* The editor's cases as a corpus, for loading one of them. */
static struct corpus as_corpus(const struct corpus_editor *editor) {
  struct corpus view = *editor->corpus;
  view.arena = (struct arena){0};
  view.cases = editor->cases;
  view.n_cases = editor->n_cases;
  view.dtypes = editor->dtypes;
  view.n_dtypes = editor->n_dtypes;
  return view;
}

static assay_status copy_string(struct corpus_editor *editor, const char **string) {
  if (*string == NULL) {
    return status_ok();
  }
  char *copy = arena_string(&editor->arena, *string);
  if (copy == NULL) {
    return status_no_memory(strlen(*string));
  }
  *string = copy;
  return status_ok();
}

static assay_status copy_tags(struct corpus_editor *editor, struct corpus_case *entry) {
  struct case_tag *tags;
  ARENA_NEW(&editor->arena, tags, entry->n_tags);
  for (int32_t i = 0; i < entry->n_tags; i++) {
    tags[i] = entry->tags[i];
    for (int32_t before = 0; before < i; before++) {
      if (strcmp(tags[before].key, tags[i].key) == 0) {
        return status_make(ASSAY_USAGE, NULL, "case '%s' has the tag '%s' twice", entry->id, tags[i].key);
      }
    }
    TRY(copy_string(editor, &tags[i].key));
    TRY(copy_string(editor, &tags[i].value));
  }
  entry->tags = tags;
  return status_ok();
}

static assay_status copy_ages(struct corpus_editor *editor, struct corpus_case *entry) {
  struct case_age *ages;
  ARENA_NEW(&editor->arena, ages, entry->n_ages);
  for (int32_t i = 0; i < entry->n_ages; i++) {
    ages[i] = entry->ages[i];
    for (int32_t before = 0; before < i; before++) {
      if (strcmp(ages[before].input, ages[i].input) == 0) {
        return status_make(ASSAY_USAGE, NULL, "case '%s' has two ages of '%s'", entry->id, ages[i].input);
      }
    }
    TRY(copy_string(editor, &ages[i].input));
  }
  entry->ages = ages;
  return status_ok();
}

static assay_status copy_case(struct corpus_editor *editor, struct corpus_case *entry) {
  TRY(copy_string(editor, &entry->id));
  TRY(copy_string(editor, &entry->file));
  TRY(case_times_valid(entry));
  TRY(case_times_copy(&editor->arena, entry));
  TRY(copy_string(editor, &entry->origin.file));
  TRY(copy_string(editor, &entry->origin.digest));
  TRY(copy_string(editor, &entry->origin.decoder));
  TRY(copy_tags(editor, entry));
  return copy_ages(editor, entry);
}

static assay_status check_id(const struct corpus_editor *editor, const char *id) {
  size_t length = strlen(id);
  if (length == 0) {
    return status_make(ASSAY_USAGE, editor->corpus->folder, "a case needs an id that is not empty");
  }
  for (size_t i = 0; i < length; i++) {
    if ((unsigned char)id[i] < ' ' || id[i] == 0x7F) {
      return status_make(ASSAY_USAGE, editor->corpus->folder,
                         "the id of a case holds the control character %d; "
                         "use printable characters",
                         id[i]);
    }
  }
  for (int32_t i = 0; i < editor->n_cases; i++) {
    if (strcmp(editor->cases[i].id, id) == 0) {
      return status_make(ASSAY_CORPUS_INVALID, editor->corpus->folder,
                         "there is a case '%s' already; every case has its own id", id);
    }
  }
  return status_ok();
}

/* Takes the case up at the end of the list, and reads it as whoever opens the corpus will. */
static assay_status append_checked(struct corpus_editor *editor, struct corpus_case *entry, const char *path) {
  char digest[HASH_TEXT_SIZE];
  TRY(hash_file(path, digest));
  entry->digest = digest;
  TRY(copy_string(editor, &entry->digest));
  LIST_ROOM(editor->cases, editor->n_cases, editor->cases_capacity);
  editor->cases[editor->n_cases++] = *entry;
  struct corpus view = as_corpus(editor);
  assay_status status = status_ok();
  int32_t n_seeds = 1;
  for (int32_t seed = 0; seed < n_seeds && assay_status_ok(status); seed++) {
    struct case_data *data = NULL;
    status = case_load_seed(&view, editor->n_cases - 1, seed, &data);
    if (assay_status_ok(status)) {
      status = sealed_register_check(editor->sealed, path, entry, data);
    }
    n_seeds = data != NULL && data->n_seeds > 0 ? data->n_seeds : 1;
    case_data_free(data);
  }
  if (!assay_status_ok(status)) {
    editor->n_cases--;
  }
  return status;
}

/* Fails when a case that is there already keeps the array as plain bits: it would change its meaning. */
static assay_status check_unused(const struct corpus_editor *editor, const char *array, assay_dtype dtype) {
  const char *rest;
  enum array_group group = array_group_of(array, &rest);
  struct corpus view = as_corpus(editor);
  for (int32_t i = 0; i < view.n_cases; i++) {
    struct case_data *data;
    TRY(case_load(&view, i, &data));
    const assay_tensor *there = group == GROUP_INPUTS    ? case_input(data, rest)
                                : group == GROUP_OUTPUTS ? case_output(data, rest)
                                : group == GROUP_RAW     ? case_raw(data, rest)
                                                         : case_decoded(data, rest);
    bool used = there != NULL && !view.cases[i].refuse;
    case_data_free(data);
    if (used) {
      return status_make(
          ASSAY_CORPUS_INVALID, view.folder,
          "'%s' is to be %s, but case '%s' holds it with another type; a corpus has one type for an array", array,
          assay_dtype_name(dtype), view.cases[i].id);
    }
  }
  return status_ok();
}

assay_status corpus_edit_dtype(struct corpus_editor *editor, const char *array, assay_dtype dtype) {
  for (int32_t i = 0; i < editor->n_dtypes; i++) {
    if (strcmp(editor->dtypes[i].array, array) == 0) {
      return editor->dtypes[i].dtype == dtype
                 ? status_ok()
                 : status_make(ASSAY_CORPUS_INVALID, editor->corpus->folder,
                               "'%s' is %s, but the corpus holds it as %s; a corpus has one type for an array", array,
                               assay_dtype_name(dtype), assay_dtype_name(editor->dtypes[i].dtype));
    }
  }
  if (!dtype_is_stored_as_bits(dtype)) {
    return status_ok();
  }
  const char *rest;
  enum array_group group = array_group_of(array, &rest);
  if ((group != GROUP_INPUTS && group != GROUP_OUTPUTS && group != GROUP_RAW && group != GROUP_DECODED) ||
      *rest == '\0') {
    return status_make(ASSAY_CORPUS_INVALID, editor->corpus->folder, "the array '%s' cannot be of type %s", array,
                       assay_dtype_name(dtype));
  }
  TRY(check_unused(editor, array, dtype));
  LIST_ROOM(editor->dtypes, editor->n_dtypes, editor->dtypes_capacity);
  struct corpus_dtype added = {array, dtype};
  TRY(copy_string(editor, &added.array));
  editor->dtypes[editor->n_dtypes++] = added;
  return status_ok();
}

/* A repeat has the type of its output, which stands under the output's name. */
static assay_status note_dtypes(struct corpus_editor *editor, const struct corpus_case *entry,
                                const struct npz_entry *arrays, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const char *rest;
    int32_t seed;
    const char *name = array_unseeded(arrays[i].name, &seed); /* a type holds for all seeds */
    enum array_group group = array_group_of(name, &rest);
    bool named = group != GROUP_REPEATS && group != GROUP_OUTPUTS64;
    /* An invalid input may have any type, as long as it is not read back as another. */
    assay_dtype dtype = arrays[i].tensor->dtype;
    bool bits = dtype == ASSAY_UINT8 || dtype == ASSAY_UINT16 || dtype_is_stored_as_bits(dtype);
    if (named && (!entry->refuse || bits)) {
      TRY(corpus_edit_dtype(editor, name, dtype));
    }
  }
  return status_ok();
}

/* The path for a new case's file; nothing may stand there. */
static assay_status choose_file(struct corpus_editor *editor, struct corpus_case *entry, char **path) {
  char *encoded = path_encode(&editor->arena, entry->id);
  char *name = encoded == NULL ? NULL : arena_format(&editor->arena, "%s.npz", encoded);
  *path = name == NULL ? NULL : path_join(&editor->arena, editor->corpus->folder, name);
  if (*path == NULL) {
    return status_no_memory(strlen(entry->id) * 3);
  }
  if (strlen(name) > FILE_NAME_LONGEST) {
    return status_make(ASSAY_USAGE, editor->corpus->folder, "the id '%s' is too long to be a file's name", entry->id);
  }
  if (file_exists(*path)) {
    return status_make(
        ASSAY_CORPUS_INVALID, *path,
        "there is a file where case '%s' would be written, and it is not ours to replace; move it away, or "
        "choose another id",
        entry->id);
  }
  entry->file = name;
  return status_ok();
}

/* The same for a file that the editor wrote, and takes back when the case is no good. There is room in the
 * list. */
static assay_status append_written(struct corpus_editor *editor, struct corpus_case *entry, char *path) {
  assay_status status = append_checked(editor, entry, path);
  if (assay_status_ok(status)) {
    editor->written[editor->n_written++] = path;
  } else {
    (void)unlink(path);
  }
  return status;
}

assay_status corpus_edit_add(struct corpus_editor *editor, const struct corpus_case *entry,
                             const struct npz_entry *arrays, size_t count) {
  struct corpus_case added = *entry;
  char *path;
  TRY(check_id(editor, entry->id));
  TRY(copy_case(editor, &added));
  TRY(choose_file(editor, &added, &path));
  TRY(note_dtypes(editor, entry, arrays, count));
  LIST_ROOM(editor->written, editor->n_written, editor->written_capacity);
  TRY(npz_write(path, arrays, count));
  return append_written(editor, &added, path);
}

static assay_status copy_file(const char *from, const char *to) {
  struct file_map map;
  TRY(file_map_open(from, &map));
  assay_status status = file_replace(to, map.data, map.size);
  file_map_close(&map);
  return status;
}

assay_status corpus_edit_source(const struct corpus_editor *editor, const char *path) {
  return editor->corpus->role == CORPUS_SEALED ? status_ok() : sealed_path_check(path);
}

assay_status corpus_edit_copy(struct corpus_editor *editor, const struct corpus_case *entry, const char *from) {
  struct corpus_case added = *entry;
  char *path;
  TRY(corpus_edit_source(editor, from));
  TRY(check_id(editor, entry->id));
  TRY(copy_case(editor, &added));
  TRY(choose_file(editor, &added, &path));
  LIST_ROOM(editor->written, editor->n_written, editor->written_capacity);
  TRY(copy_file(from, path));
  return append_written(editor, &added, path);
}

assay_status corpus_edit_retype(const struct corpus_editor *editor, const char *path, const char *array,
                                assay_tensor *tensor) {
  struct array_rules rules = {ASSAY_CORPUS_INVALID, 0, editor->n_dtypes, editor->dtypes, true, true, 0};
  return case_arrays_retype(path, array, &rules, tensor);
}

assay_status corpus_edit_adopt(struct corpus_editor *editor, const struct corpus_case *entry) {
  struct corpus_case added = *entry;
  char *path;
  TRY(check_id(editor, entry->id));
  TRY(copy_case(editor, &added));
  TRY(path_join_inside(&editor->arena, editor->corpus->folder, entry->file, ASSAY_CORPUS_INVALID, &path));
  for (int32_t i = 0; i < editor->n_cases; i++) {
    if (strcmp(editor->cases[i].file, entry->file) == 0) {
      return status_make(ASSAY_CORPUS_INVALID, path, "this file is case '%s' already", editor->cases[i].id);
    }
  }
  return append_checked(editor, &added, path);
}

static void write_index(struct text *out, const struct corpus_editor *editor) {
  const struct corpus *corpus = editor->corpus;
  struct corpus_head head = {corpus->role, corpus->policy, corpus->framework, corpus->framework_version,
                             corpus->weights_digest};
  write_head(out, &head);
  dtypes_write(out, editor->dtypes, editor->n_dtypes);
  text_add(out, editor->n_cases > 0 ? "cases:\n" : "cases: []\n");
  for (int32_t i = 0; i < editor->n_cases; i++) {
    write_case(out, &editor->cases[i]);
  }
}

/* Whoever else changed the corpus meanwhile must not lose what they added. */
static assay_status check_unchanged(const struct corpus_editor *editor) {
  char now[HASH_TEXT_SIZE];
  TRY(hash_index(editor->corpus->folder, now));
  return strcmp(now, editor->index_digest) == 0
             ? status_ok()
             : status_make(
                   ASSAY_CORPUS_INVALID, editor->corpus->folder,
                   "corpus.yaml was changed by somebody else while cases were being added; nothing was added, so "
                   "run it again");
}

static assay_status commit(const struct corpus_editor *editor, struct text *text) {
  TRY(check_unchanged(editor));
  write_index(text, editor);
  if (text->length > YAML_BYTES_MAX) {
    return status_make(
        ASSAY_LIMIT_EXCEEDED, editor->corpus->folder,
        "%d cases would make corpus.yaml larger than the %d bytes that are read; make several corpora of "
        "them",
        editor->n_cases, YAML_BYTES_MAX);
  }
  return replace_index(editor->corpus->folder, text);
}

assay_status corpus_edit_commit(struct corpus_editor *editor) {
  struct text text = {0};
  assay_status status = commit(editor, &text);
  text_free(&text);
  if (!assay_status_ok(status)) {
    corpus_edit_abandon(editor);
    return status;
  }
  editor_free(editor);
  return status;
}
