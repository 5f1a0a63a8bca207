/* Lists of names, and the named groups of them that stand at the top of a contract, so that twelve joints are
 * written once. No list is empty, holds an empty name, or holds a name twice. */
#include <stdlib.h>
#include <string.h>

#include "contract/contract_reader.h"

struct placed_name {
  const char *name;
  struct mark mark;
};

static int compare_names(const void *a, const void *b) {
  const struct placed_name *x = a, *y = b;
  int order = strcmp(x->name, y->name);
  if (order != 0) {
    return order;
  }
  return x->mark.line != y->mark.line ? (x->mark.line > y->mark.line) - (x->mark.line < y->mark.line)
                                      : (x->mark.column > y->mark.column) - (x->mark.column < y->mark.column);
}

static assay_status check_twice(struct reader *reader, const struct yaml *node, const char *what) {
  struct placed_name *sorted;
  ARENA_NEW(reader->arena, sorted, node->count);
  for (int32_t i = 0; i < node->count; i++) {
    sorted[i] = (struct placed_name){node->items[i].text, node->items[i].mark};
  }
  qsort(sorted, (size_t)node->count, sizeof *sorted, compare_names);
  for (int32_t i = 1; i < node->count; i++) {
    if (text_equal(sorted[i - 1].name, sorted[i].name)) {
      return yaml_error(&reader->file, sorted[i].mark, "%s has '%.80s' twice; it was given at line %d", what,
                        sorted[i].name, (int)sorted[i - 1].mark.line);
    }
  }
  return status_ok();
}

static assay_status read_list(struct reader *reader, const struct yaml *node, const char *what,
                              const char *const **names, int32_t *count) {
  TRY(yaml_expect(&reader->file, node, YAML_SEQUENCE, what));
  if (node->count == 0) {
    return yaml_error(&reader->file, node->mark, "%s is empty; it lists at least one name", what);
  }
  const char **list;
  ARENA_NEW(reader->arena, list, node->count);
  for (int32_t i = 0; i < node->count; i++) {
    char item[WHAT_SIZE];
    what_format(item, "name %d of %s", (int)i + 1, what);
    TRY(yaml_string(&reader->file, &node->items[i], item, &list[i]));
    if (list[i][0] == '\0') {
      return yaml_error(&reader->file, node->items[i].mark, "%s is empty; a name has at least one character", item);
    }
  }
  TRY(check_twice(reader, node, what));
  *names = list;
  *count = node->count;
  return status_ok();
}

static assay_status unknown_group(struct reader *reader, const struct yaml *node, const char *what, const char *name) {
  const struct contract *contract = reader->contract;
  if (contract->n_groups == 0) {
    return yaml_error(
        &reader->file, node->mark,
        "%s is '%.80s', but the contract has no 'groups'; write a list of names, or the group at the top: "
        "groups: {%.80s: [...]}",
        what, name, name);
  }
  const char **known;
  ARENA_NEW(reader->arena, known, contract->n_groups);
  struct text all = {0};
  for (int32_t i = 0; i < contract->n_groups; i++) {
    known[i] = contract->groups[i].name;
    if (i <= 12) {
      text_format(&all, "%s%.60s", i == 0 ? "" : ", ", i < 12 ? known[i] : "...");
    }
  }
  const char *near = text_nearest(name, known, (size_t)contract->n_groups);
  assay_status status = yaml_error(
      &reader->file, node->mark, "%s is '%.80s', which is no group%s%s%s; the contract's groups are %s", what, name,
      near != NULL ? "; did you mean '" : "", near != NULL ? near : "", near != NULL ? "'" : "", text_string(&all));
  text_free(&all);
  return status;
}

assay_status read_names(struct reader *reader, const struct yaml *node, const char *what, const char *const **names,
                        int32_t *count) {
  if (node->kind == YAML_MAPPING) {
    return yaml_error(&reader->file, node->mark,
                      "%s must be a list of names, or the name of a group; a mapping stands here", what);
  }
  if (node->kind != YAML_SCALAR) {
    return read_list(reader, node, what, names, count);
  }
  const char *name = NULL;
  TRY(yaml_string(&reader->file, node, what, &name));
  for (int32_t i = 0; i < reader->contract->n_groups; i++) {
    const struct name_group *group = &reader->contract->groups[i];
    if (text_equal(group->name, name)) {
      *names = group->names;
      *count = group->count;
      return status_ok();
    }
  }
  return unknown_group(reader, node, what, name);
}

assay_status read_groups(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  (void)member;
  enum { GROUPS_MAX = 4096 };
  TRY(yaml_expect(&reader->file, node, YAML_MAPPING, what));
  if (node->count == 0 || node->count > GROUPS_MAX) {
    return yaml_error(&reader->file, node->mark, "%s names %d groups; it may name 1 to %d", what, (int)node->count,
                      (int)GROUPS_MAX);
  }
  struct name_group *groups;
  ARENA_NEW(reader->arena, groups, node->count);
  for (int32_t i = 0; i < node->count; i++) {
    char group[WHAT_SIZE];
    what_format(group, "group '%.80s'", node->keys[i]);
    groups[i].name = node->keys[i];
    groups[i].mark = node->key_marks[i];
    TRY(read_list(reader, &node->items[i], group, &groups[i].names, &groups[i].count));
  }
  reader->contract->groups = groups;
  reader->contract->n_groups = node->count;
  return status_ok();
}
