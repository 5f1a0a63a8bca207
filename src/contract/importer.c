/* Finds the importer of a file from its content and lets it read. Also what importers share. A file is data:
 * nothing in it is run, and no file that it names is opened from here. */
#include "contract/importer.h"

#include <string.h>

#include "core/file.h"
#include "core/memory.h"

const struct importer importers[] = {
#define IMPORTER(name, recognise, read, about) {name, about, recognise, read, NULL},
#define IMPORTER_TOGETHER(name, recognise, finish, about) {name, about, recognise, NULL, finish},
#include "contract/importers.inc"
#undef IMPORTER
#undef IMPORTER_TOGETHER
};
const int32_t n_importers = (int32_t)(sizeof importers / sizeof *importers);

static void add_formats(struct text *out) {
  for (int32_t i = 0; i < n_importers; i++) {
    text_format(out, "%s%s", i == 0 ? "" : ", ", importers[i].name);
  }
}

static assay_status find_named(const char *path, const char *format, const struct importer **out) {
  for (int32_t i = 0; i < n_importers; i++) {
    if (text_equal(importers[i].name, format)) {
      *out = &importers[i];
      return status_ok();
    }
  }
  struct text list = {0};
  add_formats(&list);
  assay_status status = status_make(ASSAY_IMPORT_FORMAT, path, "'%.60s' is no format that is imported; these are: %s",
                                    format, text_string(&list));
  text_free(&list);
  return status;
}

/* The surest importer. `parsed` says why a text could not be read, for when nothing takes the file. */
static assay_status recognise(const struct import_file *file, const assay_status *parsed, const struct importer **out) {
  int best = IMPORT_NO;
  const struct importer *rival = NULL;
  *out = NULL;
  for (int32_t i = 0; i < n_importers; i++) {
    int sure = importers[i].recognise(file);
    if (sure > best) {
      best = sure;
      *out = &importers[i];
      rival = NULL;
    } else if (sure == best && sure > IMPORT_NO) {
      rival = &importers[i];
    }
  }
  if (rival != NULL) {
    return status_make(ASSAY_IMPORT_FORMAT, file->path,
                       "the file could be of the format '%s' or '%s'; name one with "
                       "--format",
                       (*out)->name, rival->name);
  }
  if (*out != NULL) {
    return status_ok();
  }
  struct text list = {0};
  add_formats(&list);
  bool unread = !assay_status_ok(*parsed);
  assay_status status = status_make(ASSAY_IMPORT_FORMAT, unread ? assay_status_where(*parsed) : file->path,
                                    "the content is of no format that is imported (%s)%s%s", text_string(&list),
                                    unread ? "; read as YAML: " : "", unread ? assay_status_sentence(*parsed) : "");
  text_free(&list);
  return status;
}

/* Keeps a file until all are there. */
static assay_status keep(struct facts *facts, const struct import_file *file, const struct importer *importer) {
  enum { HEAD = 16 };
  if (facts->n_kept == FACT_TENSORS_MAX) {
    return status_make(ASSAY_LIMIT_EXCEEDED, file->path, "more than %d files are read together", (int)FACT_TENSORS_MAX);
  }
  struct import_file *copy;
  char *head;
  ARENA_NEW(facts->arena, copy, 1);
  ARENA_NEW(facts->arena, head, HEAD + 1);
  memcpy(head, file->data, file->size < HEAD ? file->size : HEAD);
  *copy = *file;
  copy->data = head;
  copy->importer = importer;
  copy->path = arena_string(facts->arena, file->path);
  if (copy->path == NULL) {
    return status_no_memory(strlen(file->path));
  }
  copy->name = path_name(copy->path);
  facts->kept[facts->n_kept++] = copy;
  return status_ok();
}

/* Every format is one document; what a second one says must not be lost. */
static assay_status check_one_document(const struct import *import) {
  const struct foreign_file *yaml = &import->file->yaml;
  for (int32_t i = 1; import->file->is_text && i < yaml->n_documents; i++) {
    if (yaml->documents[i].kind != FOREIGN_NULL) {
      return import_error(import, &yaml->documents[i],
                          "the file holds a further document, of which nothing would be read; give one file each");
    }
  }
  return status_ok();
}

static assay_status import_file(const char *data, size_t size, const char *path, const char *format,
                                const struct import_models *models, struct facts *facts) {
  struct import_file file = {.path = path, .name = path_name(path), .data = data, .size = size};
  assay_status parsed = size > FOREIGN_BYTES_MAX || memchr(data, '\0', size) != NULL
                            ? status_make(ASSAY_IMPORT_INVALID, path, "the file is no text")
                            : foreign_parse(data, size, file.name, facts->arena, &file.yaml);
  if (parsed.code == ASSAY_OUT_OF_MEMORY) {
    return parsed;
  }
  static const struct foreign nothing = {.kind = FOREIGN_NULL, .text = "", .weight = 1};
  file.is_text = assay_status_ok(parsed) && file.yaml.n_documents > 0;
  if (!file.is_text) { /* a format may be forced upon anything */
    file.yaml.documents = &nothing;
  }
  if (parsed.code == ASSAY_LIMIT_EXCEEDED) {
    return parsed;
  }
  const struct importer *importer = NULL;
  assay_status status = format != NULL ? find_named(path, format, &importer) : recognise(&file, &parsed, &importer);
  struct import import = {.file = &file, .models = models, .facts = facts, .arena = facts->arena};
  if (assay_status_ok(status)) {
    status = check_one_document(&import);
  }
  if (assay_status_ok(status)) {
    status = importer->finish != NULL ? keep(facts, &file, importer) : importer->read(&import);
  }
  assay_status_clear(&parsed);
  return status;
}

assay_status import_bytes(const char *data, size_t size, const char *path, const char *format,
                          const struct import_models *models, struct facts *facts) {
  return import_file(data, size, path, format, models, facts);
}

assay_status import_read(const char *path, const char *format, const struct import_models *models,
                         struct facts *facts) {
  enum { FILE_BYTES_MAX = 256 << 20 };
  char *data = NULL;
  size_t size = 0;
  TRY(file_read(path, FILE_BYTES_MAX, &data, &size));
  assay_status status = import_file(data, size, path, format, models, facts);
  memory_free(data);
  return status;
}

/* --- when all files are there ------------------------------------------------------- */

static assay_status finish_format(const struct importer *importer, const struct import_models *models,
                                  struct facts *facts) {
  const struct import_file *files[FACT_TENSORS_MAX];
  int32_t count = 0;
  for (int32_t i = 0; i < facts->n_kept; i++) {
    if (facts->kept[i]->importer == importer) {
      files[count++] = facts->kept[i];
    }
  }
  if (count == 0) {
    return status_ok();
  }
  struct import import = {.file = files[0], .models = models, .facts = facts, .arena = facts->arena};
  return importer->finish(&import, files, count);
}

assay_status import_finish(const struct import_models *models, struct facts *facts) {
  for (int32_t i = 0; i < n_importers; i++) {
    TRY(finish_format(&importers[i], models, facts));
  }
  return status_ok();
}

/* Everything once. */
static assay_status read_all(const struct import_models *models, const char *const *paths, int32_t n_paths,
                             const char *format, struct facts *facts) {
  TRY(import_metadata(models, facts));
  for (int32_t i = 0; i < n_paths; i++) {
    TRY(import_read(paths[i], format, models, facts));
  }
  TRY(import_finish(models, facts));
  return facts_finish(facts);
}

/* Twice where some file names the joints, so that patterns of names in the others find them whatever the order. */
assay_status import_all(const struct import_models *models, const char *const *paths, int32_t n_paths,
                        const char *format, struct arena *arena, struct facts **out) {
  TRY(facts_new(arena, out));
  TRY(read_all(models, paths, n_paths, format, *out));
  if ((*out)->joints.count == 0 || n_paths == 0) {
    return status_ok();
  }
  const struct fact_words joints = (*out)->joints;
  TRY(facts_new(arena, out));
  (*out)->joints = joints;
  return read_all(models, paths, n_paths, format, *out);
}

/* --- what importers share ---------------------------------------------------------- */

struct place import_place_at(const struct import *import, struct mark mark) {
  return (struct place){.file = import->file->name, .line = mark.line};
}

struct place import_place(const struct import *import, const struct foreign *node) {
  return import_place_at(import, node != NULL ? node->mark : (struct mark){0});
}

struct place import_key_place(const struct import *import, const struct foreign *map, const char *key) {
  for (int32_t i = 0; map != NULL && map->kind == FOREIGN_MAP && i < map->count; i++) {
    if (text_equal(map->keys[i], key)) {
      return import_place_at(import, map->key_marks[i]);
    }
  }
  return import_place(import, map);
}

assay_status import_error(const struct import *import, const struct foreign *node, const char *format, ...) {
  struct text where = {0};
  text_add(&where, import->file->path);
  if (node != NULL) {
    text_format(&where, ":%d:%d", (int)node->mark.line, (int)node->mark.column);
  }
  va_list arguments;
  va_start(arguments, format);
  assay_status status = status_make_va(ASSAY_IMPORT_INVALID, text_string(&where), format, arguments);
  va_end(arguments);
  text_free(&where);
  return status;
}

assay_status import_get(const struct import *import, const struct foreign *map, const char *key,
                        const struct foreign **out) {
  TRY(foreign_take(import->file->path, map, key, out));
  *out = *out != NULL && (*out)->kind == FOREIGN_NULL ? NULL : *out;
  return status_ok();
}

/* What stands at a node, for a message. */
static const char *shown(const struct foreign *node) {
  switch (node->kind) {
    case FOREIGN_LIST:
      return "a list";
    case FOREIGN_MAP:
      return "a map";
    case FOREIGN_NULL:
      return "nothing";
    case FOREIGN_SCALAR:
      break;
  }
  return node->text;
}

assay_status import_number(const struct import *import, const struct foreign *node, const char *what, double *out) {
  if (foreign_number(node, out)) {
    return status_ok();
  }
  return import_error(import, node, "'%.60s' must be a finite number; '%.60s' stands here", what, shown(node));
}

assay_status import_whole(const struct import *import, const struct foreign *node, const char *what, int64_t min,
                          int64_t max, int64_t *out) {
  if (foreign_whole(node, out) && *out >= min && *out <= max) {
    return status_ok();
  }
  return import_error(import, node, "'%.60s' must be a whole number from %lld to %lld; '%.60s' stands here", what,
                      (long long)min, (long long)max, shown(node));
}

static assay_status check_count(const struct import *import, const struct foreign *node, const char *what) {
  if (node->kind == FOREIGN_LIST && node->count > FACT_ITEMS_MAX) {
    return import_error(import, node, "'%.60s' has %d entries; up to %d are read", what, (int)node->count,
                        (int)FACT_ITEMS_MAX);
  }
  return status_ok();
}

assay_status import_numbers(const struct import *import, const struct foreign *node, const char *what,
                            const double **out, int32_t *count) {
  TRY(check_count(import, node, what));
  bool list = node->kind == FOREIGN_LIST;
  *count = list ? node->count : 1;
  double *values;
  ARENA_NEW(import->arena, values, *count + 1);
  for (int32_t i = 0; i < *count; i++) {
    TRY(import_number(import, list ? &node->items[i] : node, what, &values[i]));
  }
  *out = values;
  return status_ok();
}

assay_status import_words(const struct import *import, const struct foreign *node, const char *what,
                          const char *const **out, int32_t *count) {
  TRY(check_count(import, node, what));
  bool list = node->kind == FOREIGN_LIST;
  *count = list ? node->count : 1;
  const char **words;
  ARENA_NEW(import->arena, words, *count + 1);
  for (int32_t i = 0; i < *count; i++) {
    const struct foreign *item = list ? &node->items[i] : node;
    words[i] = foreign_text(item);
    if (words[i] == NULL || words[i][0] == '\0') {
      return import_error(import, item, "'%.60s' must be a list of names; '%.60s' stands here", what, shown(item));
    }
  }
  *out = words;
  return status_ok();
}

assay_status import_matching(const struct import *import, const struct foreign *map, double otherwise, double *values,
                             bool *given) {
  const struct fact_words *joints = &import->facts->joints;
  for (int32_t j = 0; j < joints->count; j++) {
    values[j] = otherwise;
    given[j] = false;
    for (int32_t i = 0; i < map->count; i++) {
      if (!import_matches(map->keys[i], joints->values[j])) {
        continue;
      }
      if (given[j]) {
        return import_error(import, &map->items[i], "'%.60s' matches '%.60s' a second time; each joint has one value",
                            map->keys[i], joints->values[j]);
      }
      TRY(import_number(import, &map->items[i], map->keys[i], &values[j]));
      given[j] = true;
    }
  }
  return status_ok();
}

/* Splits "x y z" into words in the arena. */
static assay_status split(struct arena *arena, const char *text, const char *const **out, int32_t *count) {
  const char **words;
  size_t most = strlen(text) / 2 + 1;
  ARENA_NEW(arena, words, most);
  *count = 0;
  while (*text != '\0') {
    size_t length = strcspn(text, " ");
    if (length > 0) {
      char *word = arena_copy(arena, text, length);
      if (word == NULL) {
        return status_no_memory(length);
      }
      words[(*count)++] = word;
    }
    text += length + (text[length] == ' ');
  }
  *out = words;
  return status_ok();
}

assay_status import_known_term(struct import *import, const struct known_term *rows, size_t n_rows, const char *name,
                               struct place place, struct fact_term *term, bool *known) {
  *known = false;
  for (size_t i = 0; i < n_rows; i++) {
    const struct known_term *row = &rows[i];
    if (!text_equal(row->name, name)) {
      continue;
    }
    *known = true;
    term->origin = row->origin;
    term->lag = row->origin == FACT_OUTPUT ? 1 : 0;
    term->unitless = row->unit == NULL;
    term->of_joints = text_equal(row->elements, "*");
    if (row->unit != NULL && term->unit.value == NULL) {
      TRY(facts_text(import->facts, &term->unit, "the unit of a term", place, row->unit));
    }
    if (row->elements[0] != '\0' && !term->of_joints && term->elements.count == 0) {
      const char *const *words = NULL;
      int32_t count = 0;
      TRY(split(import->arena, row->elements, &words, &count));
      TRY(facts_words(import->facts, &term->elements, "the elements of a term", place, words, count));
    }
    return status_ok();
  }
  return status_ok();
}
