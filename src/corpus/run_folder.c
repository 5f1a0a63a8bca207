/* Writing and reading run folders. A folder appears whole or not at all; a case's file is only believed
 * when its digest is the one in run.yaml. */
#include "corpus/run_folder.h"

#include <stdlib.h>
#include <string.h>

#include "contract/yaml.h"
#include "core/file.h"
#include "core/list.h"
#include "core/memory.h"
#include "core/text.h"
#include "corpus/case_arrays.h"

enum { FORMAT_VERSION = 1, FILE_NAME_LONGEST = 255 };
static const char run_file[] = "run.yaml";

struct run_writer {
  struct arena arena;
  char *folder, *staging;
  struct text facts, cases;
  struct corpus_dtype *dtypes;
  int32_t n_dtypes, dtypes_capacity;
  char **ids;
  int32_t n_ids, ids_capacity;
};

static void writer_free(struct run_writer *writer) {
  text_free(&writer->facts);
  text_free(&writer->cases);
  memory_free(writer->dtypes);
  memory_free(writer->ids);
  arena_free(&writer->arena);
  memory_free(writer);
}

static assay_status writer_begin(struct run_writer *writer, const char *folder) {
  writer->folder = arena_string(&writer->arena, folder);
  if (writer->folder == NULL) {
    return status_no_memory(strlen(folder));
  }
  return folder_stage(folder, run_file, &writer->arena, &writer->staging);
}

assay_status run_writer_open(const char *folder, struct run_writer **out) {
  *out = NULL;
  struct run_writer *writer = memory_alloc(1, sizeof *writer);
  if (writer == NULL) {
    return status_no_memory(sizeof *writer);
  }
  assay_status status = writer_begin(writer, folder);
  if (!assay_status_ok(status)) {
    writer_free(writer);
    return status;
  }
  *out = writer;
  return status;
}

void run_writer_abandon(struct run_writer *writer) {
  if (writer != NULL) {
    folder_abandon(writer->staging);
    writer_free(writer);
  }
}

assay_status run_writer_fact(struct run_writer *writer, const char *key, const char *value) {
  text_add(&writer->facts, "  ");
  yaml_write_scalar(&writer->facts, key);
  text_add(&writer->facts, ": ");
  yaml_write_scalar(&writer->facts, value);
  text_add(&writer->facts, "\n");
  return text_status(&writer->facts);
}

/* Remembers every array's type, since the archive names some of them only as bits: for those, one
 * array has one type in all cases of a run. */
static assay_status note_dtype(struct run_writer *writer, const char *id, const struct npz_entry *entry) {
  assay_dtype now = entry->tensor->dtype;
  for (int32_t i = 0; i < writer->n_dtypes; i++) {
    assay_dtype before = writer->dtypes[i].dtype;
    if (strcmp(writer->dtypes[i].array, entry->name) == 0) {
      if (before != now && (dtype_is_stored_as_bits(before) || dtype_is_stored_as_bits(now))) {
        return status_make(ASSAY_RUN_INVALID, writer->folder,
                           "'%s' is %s in case '%s' and %s before; a run keeps one type for an array", entry->name,
                           assay_dtype_name(now), id, assay_dtype_name(before));
      }
      return status_ok();
    }
  }
  LIST_ROOM(writer->dtypes, writer->n_dtypes, writer->dtypes_capacity);
  const char *name = arena_string(&writer->arena, entry->name);
  if (name == NULL) {
    return status_no_memory(strlen(entry->name));
  }
  writer->dtypes[writer->n_dtypes++] = (struct corpus_dtype){name, now};
  return status_ok();
}

static assay_status check_entry(const struct run_writer *writer, const struct npz_entry *entry) {
  const char *rest;
  enum array_group group = array_group_of(entry->name, &rest);
  if ((group != GROUP_OUTPUTS && group != GROUP_TAPS) || *rest == '\0') {
    return status_make(ASSAY_INTERNAL, writer->folder, "a run cannot hold an array named '%s'", entry->name);
  }
  return status_ok();
}

static assay_status note_id(struct run_writer *writer, const char *id) {
  for (int32_t i = 0; i < writer->n_ids; i++) {
    if (strcmp(writer->ids[i], id) == 0) {
      return status_make(ASSAY_RUN_INVALID, writer->folder, "case '%s' was written to this run already", id);
    }
  }
  LIST_ROOM(writer->ids, writer->n_ids, writer->ids_capacity);
  char *copy = arena_string(&writer->arena, id);
  if (copy == NULL) {
    return status_no_memory(strlen(id));
  }
  writer->ids[writer->n_ids++] = copy;
  return status_ok();
}

assay_status run_writer_case(struct run_writer *writer, const char *id, const struct npz_entry *entries, size_t count) {
  for (size_t i = 0; i < count; i++) {
    TRY(check_entry(writer, &entries[i]));
    TRY(note_dtype(writer, id, &entries[i]));
  }
  TRY(note_id(writer, id));
  char *encoded = path_encode(&writer->arena, id);
  char *name = encoded == NULL ? NULL : arena_format(&writer->arena, "%s.npz", encoded);
  char *path = name == NULL ? NULL : path_join(&writer->arena, writer->staging, name);
  if (path == NULL) {
    return status_no_memory(strlen(id) * 3);
  }
  if (strlen(name) > FILE_NAME_LONGEST) {
    return status_make(ASSAY_RUN_INVALID, writer->folder, "the id '%s' is too long for a file name", id);
  }
  char digest[HASH_TEXT_SIZE];
  TRY(npz_write(path, entries, count));
  TRY(hash_file(path, digest));
  text_add(&writer->cases, "  - {id: ");
  yaml_write_scalar(&writer->cases, id);
  text_add(&writer->cases, ", file: ");
  yaml_write_scalar(&writer->cases, name);
  text_format(&writer->cases, ", digest: \"%s\"}\n", digest);
  return text_status(&writer->cases);
}

static assay_status write_index(struct run_writer *writer, struct text *text) {
  text_format(text, "assay: %d\n", FORMAT_VERSION);
  if (writer->facts.length > 0) {
    text_add(text, "run:\n");
    text_add(text, text_string(&writer->facts));
  }
  dtypes_write(text, writer->dtypes, writer->n_dtypes);
  text_add(text, writer->cases.length > 0 ? "cases:\n" : "cases: []\n");
  text_add(text, text_string(&writer->cases));
  TRY(text_status(text));
  /* A name that is not UTF-8 must not make a run that nobody can open. */
  struct yaml_file file;
  TRY(status_prefix(
      yaml_parse(text->data, text->length, "run.yaml, as it would be", ASSAY_RUN_INVALID, &writer->arena, &file),
      "a name cannot be written to run.yaml"));
  char *path = path_join(&writer->arena, writer->staging, run_file);
  return path == NULL ? status_no_memory(strlen(writer->staging)) : file_replace(path, text->data, text->length);
}

assay_status run_writer_commit(struct run_writer *writer) {
  struct text text = {0};
  assay_status status = write_index(writer, &text);
  text_free(&text);
  if (assay_status_ok(status)) {
    status = folder_commit(writer->staging, writer->folder);
  }
  if (!assay_status_ok(status)) {
    run_writer_abandon(writer);
    return status;
  }
  writer_free(writer);
  return status;
}

/* --- reading ----------------------------------------------------------- */

struct run_case {
  const char *id, *file, *digest;
};

static int compare_cases(const void *a, const void *b) {
  return strcmp(((const struct run_case *)a)->id, ((const struct run_case *)b)->id);
}

static assay_status parse_case(const struct yaml_file *file, const struct yaml *node, struct run_folder *run,
                               struct run_case *out) {
  static const char *const keys[] = {"id", "file", "digest"};
  const struct yaml *id, *name, *digest;
  char *path;
  TRY(yaml_keys(file, node, keys, 3, "a case of a run"));
  TRY(yaml_require(file, node, "id", "a case", &id));
  TRY(yaml_require(file, node, "file", "a case", &name));
  TRY(yaml_require(file, node, "digest", "a case", &digest));
  TRY(yaml_string(file, id, "id", &out->id));
  TRY(yaml_string(file, name, "file", &out->file));
  TRY(yaml_string(file, digest, "digest", &out->digest));
  assay_status status = path_join_inside(&run->arena, run->folder, out->file, ASSAY_RUN_INVALID, &path);
  if (!assay_status_ok(status)) {
    assay_status error = yaml_error(file, name->mark, "%s", assay_status_sentence(status));
    assay_status_clear(&status);
    return error;
  }
  return status_ok();
}

static assay_status parse_cases(const struct yaml_file *file, const struct yaml *node, struct run_folder *run) {
  if (node->kind == YAML_NULL) {
    return status_ok();
  }
  if (node->kind != YAML_SEQUENCE) {
    return yaml_error(file, node->mark, "cases must be a list");
  }
  struct run_case *cases;
  ARENA_NEW(&run->arena, cases, node->count);
  ARENA_NEW(&run->arena, run->ids, node->count);
  ARENA_NEW(&run->arena, run->files, node->count);
  ARENA_NEW(&run->arena, run->digests, node->count);
  for (int32_t i = 0; i < node->count; i++) {
    TRY(parse_case(file, &node->items[i], run, &cases[i]));
  }
  qsort(cases, (size_t)node->count, sizeof *cases, compare_cases);
  for (int32_t i = 0; i < node->count; i++) {
    if (i > 0 && strcmp(cases[i].id, cases[i - 1].id) == 0) {
      return yaml_error(file, node->mark, "the case '%s' stands twice; every case has its own id", cases[i].id);
    }
    run->ids[i] = cases[i].id;
    run->files[i] = cases[i].file;
    run->digests[i] = cases[i].digest;
  }
  run->n_cases = node->count;
  return status_ok();
}

static assay_status parse_facts(const struct yaml_file *file, const struct yaml *node, struct run_folder *run) {
  if (node == NULL || node->kind == YAML_NULL) {
    return status_ok();
  }
  if (node->kind != YAML_MAPPING) {
    return yaml_error(file, node->mark, "run must be a mapping of facts, such as {engine: assay}");
  }
  struct run_fact *facts;
  ARENA_NEW(&run->arena, facts, node->count);
  for (int32_t i = 0; i < node->count; i++) {
    facts[i].key = node->keys[i];
    TRY(yaml_string(file, &node->items[i], "a fact", &facts[i].value));
  }
  run->facts = facts;
  run->n_facts = node->count;
  return status_ok();
}

static assay_status open_into(const char *folder, struct run_folder *run) {
  static const char *const keys[] = {"assay", "run", "dtypes", "cases"};
  run->folder = arena_string(&run->arena, folder);
  char *path = path_join(&run->arena, folder, run_file);
  if (run->folder == NULL || path == NULL) {
    return status_no_memory(strlen(folder));
  }
  if (!file_is_folder(folder)) {
    return status_make(
        ASSAY_FILE_MISSING, folder,
        "there is no such folder; a run folder holds run.yaml and one .npz per case (`assay run -o` writes "
        "one)");
  }
  struct yaml_file file;
  const struct yaml *version, *cases;
  int64_t number;
  TRY(yaml_read(path, ASSAY_RUN_INVALID, &run->arena, &file));
  TRY(yaml_keys(&file, file.root, keys, sizeof keys / sizeof *keys, "a run"));
  TRY(yaml_require(&file, file.root, "assay", "a run", &version));
  TRY(yaml_int(&file, version, "assay (the version of the format)", FORMAT_VERSION, FORMAT_VERSION, &number));
  TRY(parse_facts(&file, yaml_get(file.root, "run"), run));
  TRY(dtypes_parse(&file, yaml_get(file.root, "dtypes"), &run->arena, &run->dtypes, &run->n_dtypes));
  TRY(yaml_require(&file, file.root, "cases", "a run", &cases));
  return parse_cases(&file, cases, run);
}

assay_status run_folder_open(const char *folder, struct run_folder **out) {
  *out = NULL;
  struct run_folder *run = memory_alloc(1, sizeof *run);
  if (run == NULL) {
    return status_no_memory(sizeof *run);
  }
  assay_status status = open_into(folder, run);
  if (!assay_status_ok(status)) {
    run_folder_close(run);
    return status;
  }
  *out = run;
  return status;
}

void run_folder_close(struct run_folder *run) {
  if (run != NULL) {
    arena_free(&run->arena);
    memory_free(run);
  }
}

int32_t run_folder_find(const struct run_folder *run, const char *id) {
  int32_t low = 0, high = run->n_cases - 1;
  while (low <= high) {
    int32_t middle = low + (high - low) / 2;
    int order = strcmp(run->ids[middle], id);
    if (order == 0) {
      return middle;
    }
    if (order < 0) {
      low = middle + 1;
    } else {
      high = middle - 1;
    }
  }
  return -1;
}

const char *run_folder_fact(const struct run_folder *run, const char *key) {
  for (int32_t i = 0; i < run->n_facts; i++) {
    if (strcmp(run->facts[i].key, key) == 0) {
      return run->facts[i].value;
    }
  }
  return NULL;
}

static assay_status load(const struct run_folder *run, int32_t i, struct case_data *data) {
  char *path, found[HASH_TEXT_SIZE];
  TRY(path_join_inside(&data->arena, run->folder, run->files[i], ASSAY_RUN_INVALID, &path));
  TRY(hash_file(path, found));
  if (strcmp(found, run->digests[i]) != 0) {
    return status_make(
        ASSAY_RUN_INVALID, path,
        "case '%s' is not the file that run.yaml vouches for: its digest is %s, but %s is written there; run "
        "again",
        run->ids[i], found, run->digests[i]);
  }
  struct array_rules rules = {
      ASSAY_RUN_INVALID, 1U << GROUP_OUTPUTS | 1U << GROUP_TAPS, run->n_dtypes, run->dtypes, false, false, 0};
  return case_arrays_read(path, &rules, data);
}

assay_status run_folder_load(const struct run_folder *run, int32_t i, struct case_data **out) {
  *out = NULL;
  struct case_data *data = memory_alloc(1, sizeof *data);
  if (data == NULL) {
    return status_no_memory(sizeof *data);
  }
  assay_status status = load(run, i, data);
  if (!assay_status_ok(status)) {
    case_data_free(data);
    return status;
  }
  *out = data;
  return status;
}
