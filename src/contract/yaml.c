/* Reads YAML into a tree, strictly. What other readers resolve or repair
 * (aliases, tags, merge keys, repeated keys) is refused here; nothing in the
 * text decides how much is allocated beyond the bounds of yaml.h. */
#include "contract/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "core/file.h"
#include "core/memory.h"

/* One parse in progress. */
struct parse {
  yaml_parser_t parser;
  struct yaml_file *file;
  struct arena *arena;
  const char *text;
  size_t size;
  int32_t nodes;
};

static struct mark mark_of(yaml_mark_t mark) { return (struct mark){(int32_t)mark.line + 1, (int32_t)mark.column + 1}; }

static void place(const struct yaml_file *file, struct mark mark, struct text *out) {
  text_format(out, "%s:%d:%d", file->path, (int)mark.line, (int)mark.column);
}

/* A failure with any code at a mark. */
static assay_status fail_at(const struct yaml_file *file, assay_code code, struct mark mark, const char *sentence) {
  struct text where = {0};
  place(file, mark, &where);
  assay_status status = status_make(code, text_string(&where), "%s", sentence);
  text_free(&where);
  return status;
}

assay_status yaml_error(const struct yaml_file *file, struct mark mark, const char *format, ...) {
  struct text where = {0};
  place(file, mark, &where);
  va_list arguments;
  va_start(arguments, format);
  assay_status status = status_make_va(file->code, text_string(&where), format, arguments);
  va_end(arguments);
  text_free(&where);
  return status;
}

/* Line and column of a byte, counted in characters as libyaml counts. */
static struct mark mark_of_byte(const char *text, size_t size, size_t offset) {
  struct mark mark = {1, 1};
  for (size_t i = 0; i < offset && i < size; i++) {
    if (text[i] == '\n') {
      mark.line++;
      mark.column = 1;
    } else if (((unsigned char)text[i] & 0xC0) != 0x80) {
      mark.column++;
    }
  }
  return mark;
}

/* What libyaml has to say, as one sentence with its place. */
static assay_status syntax_error(const struct parse *parse) {
  const yaml_parser_t *p = &parse->parser;
  if (p->error == YAML_MEMORY_ERROR) {
    return status_no_memory(parse->size);
  }
  if (p->error == YAML_READER_ERROR) {
    struct text sentence = {0};
    text_format(&sentence, "%s; write the file as plain UTF-8 text", p->problem != NULL ? p->problem : "not text");
    assay_status status = fail_at(parse->file, ASSAY_YAML_SYNTAX,
                                  mark_of_byte(parse->text, parse->size, p->problem_offset), text_string(&sentence));
    text_free(&sentence);
    return status;
  }
  struct text sentence = {0};
  text_format(&sentence, "not well-formed YAML: %s", p->problem != NULL ? p->problem : "the parser stopped");
  if (p->context != NULL) {
    text_format(&sentence, " (%s that starts at line %d)", p->context, (int)p->context_mark.line + 1);
  }
  text_add(&sentence, "; correct the indentation or the quotes here");
  assay_status status = fail_at(parse->file, ASSAY_YAML_SYNTAX, mark_of(p->problem_mark), text_string(&sentence));
  text_free(&sentence);
  return status;
}

static assay_status next_event(struct parse *parse, yaml_event_t *event) {
  if (!yaml_parser_parse(&parse->parser, event)) {
    return syntax_error(parse);
  }
  return status_ok();
}

/* The refusals that hold for every node. */
static assay_status check_node(struct parse *parse, struct mark mark, const yaml_char_t *anchor,
                               const yaml_char_t *tag) {
  if (anchor != NULL) {
    return fail_at(parse->file, ASSAY_YAML_SYNTAX, mark, "anchors (&name) are not read; write the value out");
  }
  if (tag != NULL) {
    return fail_at(parse->file, ASSAY_YAML_SYNTAX, mark, "tags (!name) are not read; write a plain value");
  }
  if (++parse->nodes > YAML_NODES_MAX) {
    return fail_at(parse->file, ASSAY_LIMIT_EXCEEDED, mark, "the file holds more than 2000000 values");
  }
  return status_ok();
}

static bool is_null_word(const char *text) {
  static const char *const words[] = {"", "~", "null", "Null", "NULL"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (text_equal(text, words[i])) {
      return true;
    }
  }
  return false;
}

/* A scalar event as a node. */
static assay_status take_scalar(struct parse *parse, const yaml_event_t *event, struct yaml *out) {
  const char *value = (const char *)event->data.scalar.value;
  size_t length = event->data.scalar.length;
  out->mark = mark_of(event->start_mark);
  TRY(check_node(parse, out->mark, event->data.scalar.anchor, event->data.scalar.tag));
  if (memchr(value, '\0', length) != NULL) {
    return fail_at(parse->file, ASSAY_YAML_SYNTAX, out->mark, "a value holds a zero byte; take the \\0 out");
  }
  char *text = arena_copy(parse->arena, value, length);
  if (text == NULL) {
    return status_no_memory(length);
  }
  out->text = text;
  out->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
  out->kind = !out->quoted && is_null_word(text) ? YAML_NULL : YAML_SCALAR;
  return status_ok();
}

/* Children while their number is not known yet. */
struct children {
  struct yaml *items;
  const char **keys;
  struct mark *key_marks;
  int32_t count, capacity;
};

static void children_free(struct children *children) {
  memory_free(children->items);
  memory_free(children->keys);
  memory_free(children->key_marks);
}

/* Room for one more; the new item is cleared. */
static assay_status children_grow(struct children *children) {
  if (children->count < children->capacity) {
    children->items[children->count] = (struct yaml){0};
    return status_ok();
  }
  int32_t capacity = children->capacity == 0 ? 8 : children->capacity * 2; /* bounded by YAML_NODES_MAX */
  struct yaml *items = memory_resize(children->items, (size_t)capacity, sizeof *items);
  children->items = items != NULL ? items : children->items;
  const char **keys = memory_resize(children->keys, (size_t)capacity, sizeof *keys);
  children->keys = keys != NULL ? keys : children->keys;
  struct mark *marks = memory_resize(children->key_marks, (size_t)capacity, sizeof *marks);
  children->key_marks = marks != NULL ? marks : children->key_marks;
  if (items == NULL || keys == NULL || marks == NULL) {
    return status_no_memory((size_t)capacity * sizeof *items);
  }
  children->capacity = capacity;
  items[children->count] = (struct yaml){0};
  return status_ok();
}

/* Copies the children into the arena and hands them to their node. */
static assay_status children_keep(struct parse *parse, const struct children *children, bool mapping,
                                  struct yaml *node) {
  size_t count = (size_t)children->count;
  node->count = children->count;
  if (count == 0) {
    return status_ok();
  }
  ARENA_NEW(parse->arena, node->items, count);
  memcpy(node->items, children->items, count * sizeof *node->items);
  if (mapping) {
    ARENA_NEW(parse->arena, node->keys, count);
    ARENA_NEW(parse->arena, node->key_marks, count);
    memcpy(node->keys, children->keys, count * sizeof *node->keys);
    memcpy(node->key_marks, children->key_marks, count * sizeof *node->key_marks);
  }
  return status_ok();
}

struct key_place {
  const char *key;
  int32_t index;
};

static int compare_keys(const void *a, const void *b) {
  const struct key_place *x = a, *y = b;
  int order = strcmp(x->key, y->key);
  return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

/* Sorted, so that a mapping of a million keys is checked in reasonable time. */
static assay_status check_repeated_keys(struct parse *parse, const struct children *children) {
  if (children->count < 2) {
    return status_ok();
  }
  struct key_place *places = memory_alloc((size_t)children->count, sizeof *places);
  if (places == NULL) {
    return status_no_memory((size_t)children->count * sizeof *places);
  }
  for (int32_t i = 0; i < children->count; i++) {
    places[i] = (struct key_place){children->keys[i], i};
  }
  qsort(places, (size_t)children->count, sizeof *places, compare_keys);
  assay_status status = status_ok();
  for (int32_t i = 1; i < children->count && assay_status_ok(status); i++) {
    if (text_equal(places[i - 1].key, places[i].key)) {
      struct text sentence = {0};
      text_format(&sentence, "the key '%s' stands here again; it was given at line %d", places[i].key,
                  (int)children->key_marks[places[i - 1].index].line);
      status = fail_at(parse->file, ASSAY_YAML_SYNTAX, children->key_marks[places[i].index], text_string(&sentence));
      text_free(&sentence);
    }
  }
  memory_free(places);
  return status;
}

static assay_status take_key(struct parse *parse, const yaml_event_t *event, struct children *children) {
  struct mark mark = mark_of(event->start_mark);
  if (event->type != YAML_SCALAR_EVENT) {
    return fail_at(parse->file, ASSAY_YAML_SYNTAX, mark, "a key must be a word, not a list or a mapping");
  }
  struct yaml key = {0};
  TRY(take_scalar(parse, event, &key));
  if (key.kind == YAML_NULL) {
    return fail_at(parse->file, ASSAY_YAML_SYNTAX, mark, "a key is missing before ':'");
  }
  if (!key.quoted && text_equal(key.text, "<<")) {
    return fail_at(parse->file, ASSAY_YAML_SYNTAX, mark, "merge keys (<<) are not read; write the keys out");
  }
  children->keys[children->count] = key.text;
  children->key_marks[children->count] = mark;
  return status_ok();
}

static assay_status take_node(struct parse *parse, const yaml_event_t *event, int depth, struct yaml *out);

/* Items, or keys and values, up to the end event. */
static assay_status take_children(struct parse *parse, bool mapping, int depth, struct children *children) {
  for (;;) {
    yaml_event_t event;
    TRY(next_event(parse, &event));
    bool end = event.type == (mapping ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT);
    assay_status status = end ? status_ok() : children_grow(children);
    if (!end && mapping && assay_status_ok(status)) {
      status = take_key(parse, &event, children);
      if (assay_status_ok(status)) {
        yaml_event_delete(&event);
        TRY(next_event(parse, &event));
      }
    }
    if (!end && assay_status_ok(status)) {
      status = take_node(parse, &event, depth, &children->items[children->count]);
    }
    yaml_event_delete(&event);
    if (end || !assay_status_ok(status)) {
      return status;
    }
    children->count++;
  }
}

static assay_status take_collection(struct parse *parse, bool mapping, int depth, struct yaml *out) {
  if (depth > YAML_DEPTH_MAX) {
    return fail_at(parse->file, ASSAY_LIMIT_EXCEEDED, out->mark, "lists and mappings are nested deeper than 64");
  }
  out->kind = mapping ? YAML_MAPPING : YAML_SEQUENCE;
  struct children children = {0};
  assay_status status = take_children(parse, mapping, depth + 1, &children);
  if (assay_status_ok(status) && mapping) {
    status = check_repeated_keys(parse, &children);
  }
  if (assay_status_ok(status)) {
    status = children_keep(parse, &children, mapping, out);
  }
  children_free(&children);
  return status;
}

static assay_status take_node(struct parse *parse, const yaml_event_t *event, int depth, struct yaml *out) {
  out->mark = mark_of(event->start_mark);
  switch (event->type) {
    case YAML_SCALAR_EVENT:
      return take_scalar(parse, event, out);
    case YAML_SEQUENCE_START_EVENT:
      TRY(check_node(parse, out->mark, event->data.sequence_start.anchor, event->data.sequence_start.tag));
      return take_collection(parse, false, depth, out);
    case YAML_MAPPING_START_EVENT:
      TRY(check_node(parse, out->mark, event->data.mapping_start.anchor, event->data.mapping_start.tag));
      return take_collection(parse, true, depth, out);
    case YAML_ALIAS_EVENT:
      return fail_at(parse->file, ASSAY_YAML_SYNTAX, out->mark, "aliases (*name) are not read; write the value out");
    default:
      return fail_at(parse->file, ASSAY_YAML_SYNTAX, out->mark, "a value is missing here");
  }
}

/* Expects one event of a type that carries nothing to free but itself. */
static assay_status expect_event(struct parse *parse, yaml_event_type_t type, const char *otherwise) {
  yaml_event_t event;
  TRY(next_event(parse, &event));
  struct mark mark = mark_of(event.start_mark);
  bool right = event.type == type;
  yaml_event_delete(&event);
  return right ? status_ok() : fail_at(parse->file, ASSAY_YAML_SYNTAX, mark, otherwise);
}

static assay_status take_document(struct parse *parse) {
  TRY(expect_event(parse, YAML_STREAM_START_EVENT, "the file does not start as YAML"));
  TRY(expect_event(parse, YAML_DOCUMENT_START_EVENT, "the file holds nothing but white space and comments"));
  ARENA_NEW(parse->arena, parse->file->root, 1);
  yaml_event_t event;
  TRY(next_event(parse, &event));
  assay_status status = take_node(parse, &event, 1, parse->file->root);
  yaml_event_delete(&event);
  TRY(status);
  TRY(expect_event(parse, YAML_DOCUMENT_END_EVENT, "the document does not end here"));
  return expect_event(parse, YAML_STREAM_END_EVENT, "a second document starts here; a file holds one");
}

assay_status yaml_parse(const char *text, size_t size, const char *path, assay_code code, struct arena *arena,
                        struct yaml_file *out) {
  *out = (struct yaml_file){.path = path, .code = code};
  if (size > YAML_BYTES_MAX) {
    return status_make(ASSAY_LIMIT_EXCEEDED, path, "the file has %zu bytes; YAML is read up to 16 MiB", size);
  }
  const char *zero = size == 0 ? NULL : memchr(text, '\0', size);
  if (zero != NULL) {
    return fail_at(out, ASSAY_YAML_SYNTAX, mark_of_byte(text, size, (size_t)(zero - text)),
                   "a zero byte stands here; the file must be plain UTF-8 text");
  }
  struct parse parse = {.file = out, .arena = arena, .text = text, .size = size};
  if (!yaml_parser_initialize(&parse.parser)) {
    return status_no_memory(size);
  }
  yaml_parser_set_encoding(&parse.parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&parse.parser, (const unsigned char *)text, size);
  assay_status status = take_document(&parse);
  yaml_parser_delete(&parse.parser);
  if (!assay_status_ok(status)) {
    out->root = NULL;
  }
  return status;
}

assay_status yaml_read(const char *path, assay_code code, struct arena *arena, struct yaml_file *out) {
  char *text = NULL;
  size_t size = 0;
  TRY(file_read(path, YAML_BYTES_MAX, &text, &size));
  assay_status status = yaml_parse(text, size, path, code, arena, out);
  memory_free(text);
  return status;
}
