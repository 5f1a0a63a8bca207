/* Reads other people's YAML into a tree. What it meets is data, whatever it looks like: a tag is text, an alias is a
 * second place of the same node, and nothing in the file decides how much is allocated or walked beyond the bounds. */
#include "contract/foreign_yaml.h"

#include <string.h>
#include <yaml.h>

#include "core/memory.h"
#include "core/text.h"

enum { MERGE_STEPS_MAX = 10000000 };

/* A node with a name, for later aliases; sorted by name. */
struct anchor {
  const char *name;
  struct foreign node;
};

/* One parse in progress. */
struct foreign_parse {
  yaml_parser_t parser;
  const char *path;
  struct arena *arena;
  size_t size;
  int64_t nodes; /* of all documents, aliases written out */
  int64_t merge_steps;
  int32_t n_anchors, anchor_capacity;
  struct anchor *anchors;
};

static struct mark mark_of(yaml_mark_t mark) { return (struct mark){(int32_t)mark.line + 1, (int32_t)mark.column + 1}; }

static assay_status fail_at(const char *path, assay_code code, struct mark mark, const char *sentence) {
  struct text where = {0};
  text_format(&where, "%s:%d:%d", path, (int)mark.line, (int)mark.column);
  assay_status status = status_make(code, text_string(&where), "%s", sentence);
  text_free(&where);
  return status;
}

assay_status foreign_error(const char *path, struct mark mark, const char *format, ...) {
  struct text where = {0};
  text_format(&where, "%s:%d:%d", path, (int)mark.line, (int)mark.column);
  va_list arguments;
  va_start(arguments, format);
  assay_status status = status_make_va(ASSAY_IMPORT_INVALID, text_string(&where), format, arguments);
  va_end(arguments);
  text_free(&where);
  return status;
}

static assay_status next_event(struct foreign_parse *parse, yaml_event_t *event) {
  yaml_parser_t *p = &parse->parser;
  if (yaml_parser_parse(p, event)) {
    return status_ok();
  }
  if (p->error == YAML_MEMORY_ERROR) {
    return status_no_memory(parse->size);
  }
  return foreign_error(parse->path, mark_of(p->problem_mark), "this is neither YAML nor JSON: %s",
                       p->problem != NULL ? p->problem : "the parser stopped");
}

/* Counts a node and all that it holds. */
static assay_status weigh(struct foreign_parse *parse, const struct foreign *node) {
  parse->nodes += node->weight;
  return parse->nodes <= FOREIGN_NODES_MAX
             ? status_ok()
             : fail_at(parse->path, ASSAY_LIMIT_EXCEEDED, node->mark,
                       "the file holds more than 400000 values, counting what its aliases stand for");
}

/* Where an anchor stands among the sorted ones, or would stand. */
static int32_t anchor_place(const struct foreign_parse *parse, const char *name, bool *found) {
  int32_t low = 0, high = parse->n_anchors;
  *found = false;
  while (low < high && !*found) {
    int32_t middle = low + (high - low) / 2;
    int order = strcmp(parse->anchors[middle].name, name);
    *found = order == 0;
    low = order < 0 ? middle + 1 : *found ? middle : low;
    high = order > 0 ? middle : high;
  }
  return low;
}

/* A later anchor of the same name takes the place of the earlier one, as YAML says. */
static assay_status keep_anchor(struct foreign_parse *parse, const char *name, const struct foreign *node) {
  bool found;
  int32_t at = anchor_place(parse, name, &found);
  if (found) {
    parse->anchors[at].node = *node;
    return status_ok();
  }
  if (parse->n_anchors == FOREIGN_ANCHORS_MAX) {
    return fail_at(parse->path, ASSAY_LIMIT_EXCEEDED, node->mark, "the file has more than 4096 anchors");
  }
  if (parse->n_anchors == parse->anchor_capacity) {
    int32_t capacity = parse->anchor_capacity == 0 ? 16 : parse->anchor_capacity * 2;
    struct anchor *anchors = memory_resize(parse->anchors, (size_t)capacity, sizeof *anchors);
    if (anchors == NULL) {
      return status_no_memory((size_t)capacity * sizeof *anchors);
    }
    parse->anchors = anchors;
    parse->anchor_capacity = capacity;
  }
  memmove(&parse->anchors[at + 1], &parse->anchors[at], (size_t)(parse->n_anchors - at) * sizeof *parse->anchors);
  parse->anchors[at] = (struct anchor){name, *node};
  parse->n_anchors++;
  return status_ok();
}

static assay_status take_text(struct foreign_parse *parse, const yaml_char_t *text, size_t length, const char **out) {
  *out = arena_copy(parse->arena, (const char *)text, length);
  return *out != NULL ? status_ok() : status_no_memory(length);
}

/* The tag, and the anchor's name, of a node that begins; each may be NULL. */
static assay_status take_head(struct foreign_parse *parse, const yaml_char_t *anchor, const yaml_char_t *tag,
                              const char **name, struct foreign *node) {
  *name = NULL;
  if (tag != NULL) {
    TRY(take_text(parse, tag, strlen((const char *)tag), &node->tag));
  }
  return anchor != NULL ? take_text(parse, anchor, strlen((const char *)anchor), name) : status_ok();
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

static assay_status take_scalar(struct foreign_parse *parse, const yaml_event_t *event, struct foreign *out) {
  const yaml_char_t *value = event->data.scalar.value;
  size_t length = event->data.scalar.length;
  if (memchr(value, '\0', length) != NULL) {
    return foreign_error(parse->path, out->mark, "a value holds a zero byte, which no configuration needs");
  }
  TRY(take_text(parse, value, length, &out->text));
  out->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
  out->kind = !out->quoted && is_null_word(out->text) ? FOREIGN_NULL : FOREIGN_SCALAR;
  return status_ok();
}

/* Children while their number is not known yet. */
struct foreign_children {
  struct foreign *items;
  const char **keys;
  struct mark *key_marks;
  int32_t count, capacity;
  bool merges; /* some key is << */
};

static void children_free(struct foreign_children *children) {
  memory_free(children->items);
  memory_free(children->keys);
  memory_free(children->key_marks);
}

/* Room for one more, which is cleared. */
static assay_status children_grow(struct foreign_children *children) {
  if (children->count == children->capacity) {
    int32_t capacity = children->capacity == 0 ? 8 : children->capacity * 2; /* bounded by FOREIGN_NODES_MAX */
    struct foreign *items = memory_resize(children->items, (size_t)capacity, sizeof *items);
    children->items = items != NULL ? items : children->items;
    const char **keys = memory_resize(children->keys, (size_t)capacity, sizeof *keys);
    children->keys = keys != NULL ? keys : children->keys;
    struct mark *marks = memory_resize(children->key_marks, (size_t)capacity, sizeof *marks);
    children->key_marks = marks != NULL ? marks : children->key_marks;
    if (items == NULL || keys == NULL || marks == NULL) {
      return status_no_memory((size_t)capacity * sizeof *items);
    }
    children->capacity = capacity;
  }
  children->items[children->count] = (struct foreign){0};
  children->keys[children->count] = "";
  children->key_marks[children->count] = (struct mark){0};
  return status_ok();
}

static assay_status add_child(struct foreign_children *children, const char *key, struct mark mark,
                              const struct foreign *item) {
  TRY(children_grow(children));
  children->items[children->count] = *item;
  children->keys[children->count] = key;
  children->key_marks[children->count++] = mark;
  return status_ok();
}

/* Pairs of a map that `into` does not have yet. `into` ends with what it got, so that a key of the first of
 * several merged maps goes before those of later ones. */
static assay_status merge_map(struct foreign_parse *parse, const struct foreign *map, struct foreign_children *into) {
  if (map->kind != FOREIGN_MAP) {
    return foreign_error(parse->path, map->mark, "a merge key (<<) takes a map, or a list of maps");
  }
  parse->merge_steps += ((int64_t)into->count + map->count) * map->count;
  if (parse->merge_steps > MERGE_STEPS_MAX) {
    return fail_at(parse->path, ASSAY_LIMIT_EXCEEDED, map->mark,
                   "the merge keys (<<) of the file join maps of too many keys");
  }
  for (int32_t i = 0; i < map->count; i++) {
    bool known = false;
    for (int32_t k = 0; k < into->count && !known; k++) {
      known = text_equal(into->keys[k], map->keys[i]);
    }
    if (!known) {
      TRY(add_child(into, map->keys[i], map->key_marks[i], &map->items[i]));
      TRY(weigh(parse, &map->items[i]));
    }
  }
  return status_ok();
}

/* Puts the pairs that merge keys stand for in their place. */
static assay_status merge(struct foreign_parse *parse, struct foreign_children *children) {
  struct foreign_children merged = {0};
  assay_status status = status_ok();
  for (int32_t i = 0; i < children->count && assay_status_ok(status); i++) {
    if (!text_equal(children->keys[i], "<<")) {
      status = add_child(&merged, children->keys[i], children->key_marks[i], &children->items[i]);
    }
  }
  for (int32_t i = 0; i < children->count && assay_status_ok(status); i++) {
    const struct foreign *value = &children->items[i];
    if (!text_equal(children->keys[i], "<<")) {
      continue;
    }
    bool list = value->kind == FOREIGN_LIST;
    for (int32_t m = 0; m < (list ? value->count : 1) && assay_status_ok(status); m++) {
      status = merge_map(parse, list ? &value->items[m] : value, &merged);
    }
  }
  children_free(children);
  *children = merged;
  return status;
}

/* Copies the children into the arena and hands them to their node, whose weight they add to. */
static assay_status children_keep(struct foreign_parse *parse, const struct foreign_children *children,
                                  struct foreign *node) {
  size_t count = (size_t)children->count;
  struct foreign *items;
  ARENA_NEW(parse->arena, items, count + 1);
  int64_t weight = 1;
  for (size_t i = 0; i < count; i++) {
    items[i] = children->items[i];
    weight += items[i].weight;
  }
  node->items = items;
  node->count = children->count;
  node->weight = weight > FOREIGN_NODES_MAX ? FOREIGN_NODES_MAX : (int32_t)weight;
  if (node->kind == FOREIGN_MAP) {
    const char **keys;
    struct mark *marks;
    ARENA_NEW(parse->arena, keys, count + 1);
    ARENA_NEW(parse->arena, marks, count + 1);
    for (size_t i = 0; i < count; i++) {
      keys[i] = children->keys[i];
      marks[i] = children->key_marks[i];
    }
    node->keys = keys;
    node->key_marks = marks;
  }
  return status_ok();
}

static assay_status take_node(struct foreign_parse *parse, const yaml_event_t *event, int depth, struct foreign *out);

/* A key that is a list or a map is read, counted, and left without a name: nobody asks for it. */
static assay_status take_key(struct foreign_parse *parse, const yaml_event_t *event, int depth,
                             struct foreign_children *children) {
  struct foreign key = {0};
  TRY(take_node(parse, event, depth, &key));
  children->keys[children->count] = key.text != NULL ? key.text : "";
  children->key_marks[children->count] = mark_of(event->start_mark);
  children->merges = children->merges || (key.text != NULL && !key.quoted && text_equal(key.text, "<<"));
  return status_ok();
}

/* Items, or keys and values, up to the end event. */
static assay_status take_children(struct foreign_parse *parse, bool map, int depth, struct foreign_children *children) {
  for (;;) {
    yaml_event_t event;
    TRY(next_event(parse, &event));
    bool end = event.type == (map ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT);
    assay_status status = end ? status_ok() : children_grow(children);
    if (!end && map && assay_status_ok(status)) {
      status = take_key(parse, &event, depth, children);
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

static assay_status take_collection(struct foreign_parse *parse, bool map, int depth, struct foreign *out) {
  if (depth > FOREIGN_DEPTH_MAX) {
    return fail_at(parse->path, ASSAY_LIMIT_EXCEEDED, out->mark, "lists and maps are nested deeper than 64");
  }
  out->kind = map ? FOREIGN_MAP : FOREIGN_LIST;
  struct foreign_children children = {0};
  assay_status status = take_children(parse, map, depth + 1, &children);
  if (assay_status_ok(status) && children.merges) {
    status = merge(parse, &children);
  }
  if (assay_status_ok(status)) {
    status = children_keep(parse, &children, out);
  }
  children_free(&children);
  return status;
}

/* The node that an alias stands for; its anchor must be complete, so that no node holds itself. */
static assay_status take_alias(struct foreign_parse *parse, const char *name, int depth, struct foreign *out) {
  bool found;
  int32_t at = anchor_place(parse, name, &found);
  if (!found) {
    return foreign_error(parse->path, out->mark, "the alias *%.60s stands for nothing that is complete before it",
                         name);
  }
  *out = parse->anchors[at].node;
  if (depth > FOREIGN_DEPTH_MAX) {
    return fail_at(parse->path, ASSAY_LIMIT_EXCEEDED, out->mark, "lists and maps are nested deeper than 64");
  }
  return weigh(parse, out);
}

static assay_status take_node(struct foreign_parse *parse, const yaml_event_t *event, int depth, struct foreign *out) {
  const char *anchor = NULL;
  out->mark = mark_of(event->start_mark);
  out->weight = 1;
  if (event->type == YAML_ALIAS_EVENT) {
    return take_alias(parse, (const char *)event->data.alias.anchor, depth, out);
  }
  TRY(weigh(parse, out));
  switch (event->type) {
    case YAML_SCALAR_EVENT:
      TRY(take_head(parse, event->data.scalar.anchor, event->data.scalar.tag, &anchor, out));
      TRY(take_scalar(parse, event, out));
      break;
    case YAML_SEQUENCE_START_EVENT:
      TRY(take_head(parse, event->data.sequence_start.anchor, event->data.sequence_start.tag, &anchor, out));
      TRY(take_collection(parse, false, depth, out));
      break;
    case YAML_MAPPING_START_EVENT:
      TRY(take_head(parse, event->data.mapping_start.anchor, event->data.mapping_start.tag, &anchor, out));
      TRY(take_collection(parse, true, depth, out));
      break;
    default:
      return foreign_error(parse->path, out->mark, "a value is missing here");
  }
  return anchor != NULL ? keep_anchor(parse, anchor, out) : status_ok();
}

/* One document after its start event; anchors end with it. */
static assay_status take_document(struct foreign_parse *parse, struct foreign *out) {
  yaml_event_t event;
  TRY(next_event(parse, &event));
  assay_status status = take_node(parse, &event, 1, out);
  yaml_event_delete(&event);
  TRY(status);
  TRY(next_event(parse, &event));
  yaml_event_delete(&event);
  parse->n_anchors = 0;
  return status_ok();
}

static assay_status take_documents(struct foreign_parse *parse, struct foreign_children *documents) {
  for (;;) {
    yaml_event_t event;
    TRY(next_event(parse, &event));
    yaml_event_type_t type = event.type;
    yaml_event_delete(&event);
    if (type == YAML_STREAM_END_EVENT) {
      return status_ok();
    }
    if (type == YAML_DOCUMENT_START_EVENT) {
      TRY(children_grow(documents));
      TRY(take_document(parse, &documents->items[documents->count]));
      documents->count++;
    }
  }
}

static assay_status keep_documents(struct foreign_parse *parse, const struct foreign_children *documents,
                                   struct foreign_file *out) {
  struct foreign *items;
  ARENA_NEW(parse->arena, items, documents->count + 1);
  for (int32_t i = 0; i < documents->count; i++) {
    items[i] = documents->items[i];
  }
  out->documents = items;
  out->n_documents = documents->count;
  return status_ok();
}

assay_status foreign_parse(const char *text, size_t size, const char *path, struct arena *arena,
                           struct foreign_file *out) {
  *out = (struct foreign_file){.path = path};
  if (size > FOREIGN_BYTES_MAX) {
    return status_make(ASSAY_LIMIT_EXCEEDED, path, "the file has %zu bytes; a configuration is read up to 16 MiB",
                       size);
  }
  struct foreign_parse parse = {.path = path, .arena = arena, .size = size};
  if (!yaml_parser_initialize(&parse.parser)) {
    return status_no_memory(size);
  }
  yaml_parser_set_encoding(&parse.parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&parse.parser, (const unsigned char *)text, size);
  struct foreign_children documents = {0};
  assay_status status = take_documents(&parse, &documents);
  if (assay_status_ok(status)) {
    status = keep_documents(&parse, &documents, out);
  }
  children_free(&documents);
  memory_free(parse.anchors);
  yaml_parser_delete(&parse.parser);
  return status;
}
