/* One line of the ledger, to and from bytes, and the chain of digests through them: see ledger.h. Whatever the bytes
 * are, reading ends with lines or with one sentence; work is linear in them. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "gate/ledger.h"

static const char *const kind_names[LEDGER_KIND_COUNT] = {"declared", "verdict", "look", "look verdict"};
static const char *const statement_names[STATEMENT_KIND_COUNT] = {"fact", "ceiling", "floor", "order"};
static const char note[] = "note"; /* a fact that judges nothing: a reason */
static const char self_key[] = ",\"self\":\"";
enum { SELF_SIZE = sizeof self_key - 1 + HASH_TEXT_SIZE - 1 + 2 }; /* ,"self":"sha256:..."} */

/* --- reading ------------------------------------------------------------------------ */

struct reading {
  const char *path;
  struct arena *arena;
  struct ledger_lines *lines;
  int64_t number; /* of the line being read */
};

static assay_status broken(const struct reading *reading, const char *what) {
  return status_make(
      ASSAY_LEDGER_BROKEN, reading->path,
      "line %lld %s; restore the ledger from version control, or move it away: a new one then begins and "
      "says so",
      (long long)reading->number, what);
}

static const char *keep(const struct reading *reading, const json_t *value, bool *lost) {
  const char *text = json_string_value(value);
  char *copy = text != NULL ? arena_copy(reading->arena, text, json_string_length(value)) : NULL;
  *lost |= text != NULL && copy == NULL;
  return copy;
}

/* A member that must be a string without a zero byte. */
static assay_status text_member(const struct reading *reading, const json_t *object, const char *key,
                                const char **out) {
  const json_t *value = json_object_get(object, key);
  bool lost = false;
  *out = keep(reading, value, &lost);
  if (lost) {
    return status_no_memory(json_string_length(value));
  }
  bool whole = *out != NULL && strlen(*out) == json_string_length(value);
  return whole ? status_ok() : broken(reading, "lacks a text that every such line has");
}

static double number_of(const char *value) {
  if (text_equal(value, "all")) {
    return (double)INFINITY;
  }
  return text_equal(value, "yes") ? 1 : text_equal(value, "no") ? 0 : strtod(value, NULL);
}

/* [root, part or null, what, value, unit or null, kind]; of what was taken out, the first three. */
static assay_status read_statement(const struct reading *reading, const json_t *array, bool whole,
                                   struct statement *out) {
  bool lost = false;
  size_t size = whole ? 6 : 3;
  if (!json_is_array(array) || json_array_size(array) != size) {
    return broken(reading, "holds a statement that is none");
  }
  const char *field[6] = {NULL};
  for (size_t i = 0; i < size; i++) {
    const json_t *value = json_array_get(array, i);
    field[i] = keep(reading, value, &lost);
    bool optional = i == 1 || i == 4;
    if (!lost && field[i] == NULL && !(optional && json_is_null(value))) {
      return broken(reading, "holds a statement that is none");
    }
  }
  if (lost) {
    return status_no_memory(256);
  }
  *out = (struct statement){.root = field[0], .part = field[1], .what = field[2], .value = field[3], .unit = field[4]};
  if (!whole) {
    return status_ok();
  }
  out->judges = !text_equal(field[5], note);
  int kind = out->judges ? 0 : STATEMENT_FACT;
  while (out->judges && kind < STATEMENT_KIND_COUNT && !text_equal(statement_names[kind], field[5])) {
    kind++;
  }
  out->kind = (enum statement_kind)kind;
  out->number = number_of(out->value);
  return kind < STATEMENT_KIND_COUNT ? status_ok() : broken(reading, "holds a statement of a kind that is none");
}

static assay_status read_statements(const struct reading *reading, const json_t *array, bool whole, int32_t *count,
                                    const struct statement **out) {
  if (array == NULL) {
    return status_ok();
  }
  struct statement *items;
  if (!json_is_array(array) || json_array_size(array) > INT32_MAX) {
    return broken(reading, "holds something else where statements belong");
  }
  ARENA_NEW(reading->arena, items, json_array_size(array) + 1);
  for (size_t i = 0; i < json_array_size(array); i++) {
    TRY(read_statement(reading, json_array_get(array, i), whole, &items[i]));
  }
  *out = items;
  *count = (int32_t)json_array_size(array);
  return status_ok();
}

static assay_status read_said(const struct reading *reading, const json_t *object, const char *set, const char *unset,
                              struct ledger_said *out) {
  TRY(read_statements(reading, json_object_get(object, set), true, &out->n_set, &out->set));
  return read_statements(reading, json_object_get(object, unset), false, &out->n_unset, &out->unset);
}

static assay_status read_files(const struct reading *reading, const json_t *array, struct ledger_line *line) {
  struct ledger_file *files;
  size_t count = json_array_size(array);
  if (!json_is_array(array) || count > INT32_MAX) {
    return broken(reading, "lacks the files that it is about");
  }
  ARENA_NEW(reading->arena, files, count + 1);
  for (size_t i = 0; i < count; i++) {
    const json_t *file = json_array_get(array, i);
    TRY(text_member(reading, file, "role", &files[i].role));
    TRY(text_member(reading, file, "path", &files[i].path));
    TRY(text_member(reading, file, "digest", &files[i].digest));
  }
  line->files = files;
  line->n_files = (int32_t)count;
  return status_ok();
}

static assay_status read_rungs(const struct reading *reading, const json_t *array, struct ledger_line *line) {
  struct ledger_rung *rungs;
  size_t count = json_array_size(array);
  if (!json_is_array(array) || count > INT32_MAX) {
    return broken(reading, "lacks the verdicts of the rungs");
  }
  ARENA_NEW(reading->arena, rungs, count + 1);
  for (size_t i = 0; i < count; i++) {
    const json_t *rung = json_array_get(array, i);
    TRY(text_member(reading, rung, "name", &rungs[i].name));
    TRY(text_member(reading, rung, "verdict", &rungs[i].verdict));
    rungs[i].required = json_is_true(json_object_get(rung, "required"));
  }
  line->rungs = rungs;
  line->n_rungs = (int32_t)count;
  return status_ok();
}

static assay_status read_declared(const struct reading *reading, const json_t *object, struct ledger_line *line) {
  TRY(text_member(reading, object, "assay", &line->version));
  TRY(text_member(reading, object, "gate", &line->gate));
  TRY(text_member(reading, object, "contract", &line->contract));
  TRY(read_said(reading, object, "contract_set", "contract_unset", &line->contract_says));
  TRY(read_said(reading, object, "gate_set", "gate_unset", &line->gate_says));
  return read_files(reading, json_object_get(object, "files"), line);
}

static assay_status read_verdict(const struct reading *reading, const json_t *object, struct ledger_line *line) {
  enum ledger_kind about = line->kind == LEDGER_VERDICT ? LEDGER_DECLARED : LEDGER_LOOK;
  line->of = json_integer_value(json_object_get(object, "of"));
  line->exit_code = json_integer_value(json_object_get(object, "exit_code"));
  if (line->of < 1 || line->of > reading->lines->count || reading->lines->items[line->of - 1].kind != about) {
    return broken(reading, "is the verdict of a line that is not there");
  }
  TRY(text_member(reading, object, "verdict", &line->verdict));
  return read_rungs(reading, json_object_get(object, "rungs"), line);
}

static assay_status read_look(const struct reading *reading, const json_t *object, struct ledger_line *line) {
  TRY(text_member(reading, object, "assay", &line->version));
  TRY(text_member(reading, object, "digest", &line->digest));
  const json_t *reason = json_object_get(object, "reason");
  if (reason != NULL && !json_is_null(reason)) {
    TRY(text_member(reading, object, "reason", &line->reason));
  }
  return read_files(reading, json_object_get(object, "files"), line);
}

static assay_status read_object(const struct reading *reading, const json_t *object, struct ledger_line *line) {
  const char *kind = NULL, *before = NULL;
  int32_t count = reading->lines->count;
  TRY(text_member(reading, object, "kind", &kind));
  TRY(text_member(reading, object, "date", &line->date));
  TRY(text_member(reading, object, "before", &before));
  if (json_integer_value(json_object_get(object, "line")) != reading->number ||
      !text_equal(before, count > 0 ? reading->lines->items[count - 1].self : "")) {
    return broken(reading, "does not follow the line before it: a line was cut out, added or changed");
  }
  int which = 0;
  while (which < LEDGER_KIND_COUNT && !text_equal(kind_names[which], kind)) {
    which++;
  }
  line->kind = (enum ledger_kind)which;
  switch (line->kind) {
    case LEDGER_DECLARED:
      return read_declared(reading, object, line);
    case LEDGER_VERDICT:
    case LEDGER_LOOK_VERDICT:
      return read_verdict(reading, object, line);
    case LEDGER_LOOK:
      return read_look(reading, object, line);
    case LEDGER_KIND_COUNT:
      break;
  }
  return broken(reading, "is of a kind that this assay does not know");
}

/* The line's own digest must be that of the bytes before it. */
static bool own_digest(const struct reading *reading, const char *line, size_t length, const char **self) {
  char digest[HASH_TEXT_SIZE];
  struct hash hash;
  *self = NULL;
  if (length <= SELF_SIZE || memcmp(line + length - SELF_SIZE, self_key, sizeof self_key - 1) != 0) {
    return false;
  }
  const char *written = line + length - SELF_SIZE + sizeof self_key - 1;
  hash_begin(&hash);
  hash_add(&hash, line, length - SELF_SIZE);
  hash_end(&hash, digest);
  *self = arena_string(reading->arena, digest);
  return memcmp(written, digest, HASH_TEXT_SIZE - 1) == 0 && written[HASH_TEXT_SIZE - 1] == '"';
}

static assay_status grow(struct ledger_lines *lines, struct arena *arena) {
  if (lines->count < lines->capacity) {
    return status_ok();
  }
  int32_t capacity = lines->capacity == 0 ? 64 : lines->capacity * 2;
  struct ledger_line *items;
  ARENA_NEW(arena, items, capacity);
  if (lines->count > 0) {
    memcpy(items, lines->items, (size_t)lines->count * sizeof *items);
  }
  lines->items = items;
  lines->capacity = capacity;
  return status_ok();
}

static assay_status read_line(struct reading *reading, const char *bytes, size_t length) {
  struct ledger_line line = {.number = reading->number};
  if (!own_digest(reading, bytes, length, &line.self)) {
    return broken(reading, "was changed after it was written, or is no line of a ledger");
  }
  if (line.self == NULL) {
    return status_no_memory(HASH_TEXT_SIZE);
  }
  json_error_t error;
  json_t *object = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &error);
  assay_status status =
      json_is_object(object) ? read_object(reading, object, &line) : broken(reading, "is no JSON object");
  json_decref(object);
  if (assay_status_ok(status)) {
    status = grow(reading->lines, reading->arena);
  }
  if (assay_status_ok(status)) {
    reading->lines->items[reading->lines->count++] = line;
  }
  return status;
}

assay_status ledger_parse(const char *text, size_t size, const char *path, struct arena *arena,
                          struct ledger_lines *out) {
  struct reading reading = {.path = path, .arena = arena, .lines = out};
  *out = (struct ledger_lines){0};
  const char *end = text + size;
  for (const char *at = text; at < end;) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    if (stop == NULL) {
      break;
    }
    reading.number++;
    TRY(read_line(&reading, at, (size_t)(stop - at)));
    at = stop + 1;
    out->size = (size_t)(at - text);
  }
  return status_ok();
}

/* --- writing ------------------------------------------------------------------------ */

/* A line that lacks a member for want of memory must never be written. */
struct writing {
  bool failed;
};

static void set(struct writing *writing, json_t *object, const char *key, json_t *value) {
  writing->failed |= json_object_set_new(object, key, value) != 0;
}

static void append(struct writing *writing, json_t *array, json_t *value) {
  writing->failed |= json_array_append_new(array, value) != 0;
}

/* jansson takes UTF-8 alone; file names may be anything. */
static json_t *text_json(const char *text) {
  if (text == NULL) {
    return json_null();
  }
  if (text_is_utf8(text, strlen(text))) {
    return json_string(text);
  }
  struct text shown = {0};
  text_add_shown(&shown, text);
  json_t *value = shown.failed ? NULL : json_string(text_string(&shown));
  text_free(&shown);
  return value;
}

static json_t *statement_json(struct writing *writing, const struct statement *statement, bool whole) {
  json_t *array = json_array();
  append(writing, array, text_json(statement->root));
  append(writing, array, text_json(statement->part));
  append(writing, array, text_json(statement->what));
  if (whole) {
    append(writing, array, text_json(statement->value));
    append(writing, array, text_json(statement->unit));
    append(writing, array, json_string(statement->judges ? statement_names[statement->kind] : note));
  }
  return array;
}

static void put_statements(struct writing *writing, json_t *object, const char *key, const struct statement *items,
                           int32_t count, bool whole) {
  if (count == 0) {
    return;
  }
  json_t *array = json_array();
  for (int32_t i = 0; i < count; i++) {
    append(writing, array, statement_json(writing, &items[i], whole));
  }
  set(writing, object, key, array);
}

static void put_files(struct writing *writing, json_t *object, const struct ledger_line *line) {
  json_t *array = json_array();
  for (int32_t i = 0; i < line->n_files; i++) {
    json_t *file = json_object();
    set(writing, file, "role", text_json(line->files[i].role));
    set(writing, file, "path", text_json(line->files[i].path));
    set(writing, file, "digest", text_json(line->files[i].digest));
    append(writing, array, file);
  }
  set(writing, object, "files", array);
}

static void put_declared(struct writing *writing, json_t *object, const struct ledger_line *line) {
  set(writing, object, "assay", text_json(line->version));
  set(writing, object, "gate", text_json(line->gate));
  set(writing, object, "contract", text_json(line->contract));
  put_files(writing, object, line);
  put_statements(writing, object, "contract_set", line->contract_says.set, line->contract_says.n_set, true);
  put_statements(writing, object, "contract_unset", line->contract_says.unset, line->contract_says.n_unset, false);
  put_statements(writing, object, "gate_set", line->gate_says.set, line->gate_says.n_set, true);
  put_statements(writing, object, "gate_unset", line->gate_says.unset, line->gate_says.n_unset, false);
}

static void put_verdict(struct writing *writing, json_t *object, const struct ledger_line *line) {
  json_t *rungs = json_array();
  for (int32_t r = 0; r < line->n_rungs; r++) {
    json_t *rung = json_object();
    set(writing, rung, "name", text_json(line->rungs[r].name));
    set(writing, rung, "verdict", text_json(line->rungs[r].verdict));
    set(writing, rung, "required", json_boolean(line->rungs[r].required));
    append(writing, rungs, rung);
  }
  set(writing, object, "of", json_integer((json_int_t)line->of));
  set(writing, object, "verdict", text_json(line->verdict));
  set(writing, object, "exit_code", json_integer((json_int_t)line->exit_code));
  set(writing, object, "rungs", rungs);
}

static json_t *line_json(struct writing *writing, const struct ledger_line *line, const char *before) {
  json_t *object = json_object();
  set(writing, object, "line", json_integer((json_int_t)line->number));
  set(writing, object, "before", json_string(before != NULL ? before : ""));
  set(writing, object, "kind", json_string(kind_names[line->kind]));
  set(writing, object, "date", text_json(line->date));
  if (line->kind == LEDGER_DECLARED) {
    put_declared(writing, object, line);
  } else if (line->kind == LEDGER_LOOK) {
    set(writing, object, "assay", text_json(line->version));
    set(writing, object, "digest", text_json(line->digest));
    set(writing, object, "reason", text_json(line->reason));
    put_files(writing, object, line);
  } else {
    put_verdict(writing, object, line);
  }
  return object;
}

static int add_bytes(const char *bytes, size_t size, void *user) {
  text_add_bytes(user, bytes, size);
  return 0;
}

assay_status ledger_write_line(struct ledger_line *line, const char *before, struct arena *arena, const char **bytes) {
  struct writing writing = {false};
  struct text text = {0};
  char digest[HASH_TEXT_SIZE];
  struct hash hash;
  json_t *object = line_json(&writing, line, before);
  bool written = object != NULL && !writing.failed && json_dump_callback(object, add_bytes, &text, JSON_COMPACT) == 0;
  json_decref(object);
  *bytes = NULL;
  if (written && !text.failed) {
    text.data[text.length - 1] = '\0'; /* without the closing brace */
    hash_begin(&hash);
    hash_add(&hash, text.data, text.length - 1);
    hash_end(&hash, digest);
    line->self = arena_string(arena, digest);
    *bytes = arena_format(arena, "%s%s%s\"}\n", text.data, self_key, digest);
  }
  size_t length = text.length;
  text_free(&text);
  return *bytes != NULL && line->self != NULL ? status_ok() : status_no_memory(length);
}
