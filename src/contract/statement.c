/* How two statements of one thing differ: see describe.h. Pure. */
#include <string.h>

#include "contract/describe.h"

const char *change_mark_name(enum change_mark mark) {
  static const char *const names[] = {"same", "looser", "tighter", "changed", "added", "removed"};
  return names[mark];
}

static int compare_optional(const char *a, const char *b) { return strcmp(a != NULL ? a : "", b != NULL ? b : ""); }

int statement_order(const struct statement *a, const struct statement *b) {
  int order = strcmp(a->root, b->root);
  order = order != 0 ? order : compare_optional(a->part, b->part);
  return order != 0 ? order : strcmp(a->what, b->what);
}

static bool is_bound(const struct statement *statement) {
  return statement->kind == STATEMENT_CEILING || statement->kind == STATEMENT_FLOOR;
}

/* What was asked and is not any more, or the other way round. */
static enum change_mark compare_absent(const struct statement *from, const struct statement *to) {
  const struct statement *there = from != NULL ? from : to;
  if (is_bound(there)) {
    return from != NULL ? CHANGE_LOOSER : CHANGE_TIGHTER;
  }
  return from != NULL ? CHANGE_REMOVED : CHANGE_ADDED;
}

enum change_mark statement_compare(const struct statement *from, const struct statement *to) {
  if (from == NULL || to == NULL) {
    return from == to ? CHANGE_NONE : compare_absent(from, to);
  }
  if (from->kind != to->kind) {
    return CHANGE_OTHER;
  }
  if (!is_bound(from)) {
    return strcmp(from->value, to->value) == 0 ? CHANGE_NONE : CHANGE_OTHER;
  }
  bool more = to->number > from->number, less = to->number < from->number;
  if (!more && !less) {
    return from->number == to->number ? CHANGE_NONE : CHANGE_OTHER; /* a NaN is equal to nothing */
  }
  return more == (from->kind == STATEMENT_CEILING) ? CHANGE_LOOSER : CHANGE_TIGHTER;
}
