/* See contract_diff.h. Both lists are sorted by what they speak of and walked side by side. A root or a part that one
 * side lacks is one difference, not as many as it has statements; one that went while another with the same statements
 * came was renamed. */
#include "contract/contract_diff.h"

#include <stdlib.h>
#include <string.h>

#include "core/text.h"

enum { RENAMES_TRIED = 64 }; /* more that went or came are told one by one, not matched */

struct list {
  const struct statement *const *items; /* sorted */
  int32_t count;
  const struct statement *first; /* of the contract's own order */
};

/* A run of statements about one root or part. */
struct span {
  const struct statement *const *items;
  int32_t count;
};

struct work {
  struct arena *arena;
  struct contract_changes *out;
  const struct list *a, *b;
  struct statements renamed; /* .root: of the part's root; .what: the old name; .value: the new one */
};

static int by_order(const void *a, const void *b) {
  return statement_order(*(const struct statement *const *)a, *(const struct statement *const *)b);
}

static assay_status sorted(const struct statements *statements, struct arena *arena, struct list *out) {
  const struct statement **items;
  ARENA_NEW(arena, items, statements->count + 1);
  for (int32_t i = 0; i < statements->count; i++) {
    items[i] = &statements->items[i];
  }
  qsort(items, (size_t)statements->count, sizeof *items, by_order);
  out->items = items;
  out->count = statements->count;
  out->first = statements->items;
  return status_ok();
}

/* --- sentences --------------------------------------------------------------------- */

static void add_value(struct text *out, const struct statement *statement) {
  text_add(out, statement->value);
  if (statement->unit != NULL) {
    text_format(out, " %s", statement->unit);
  }
}

static const char *finish(struct arena *arena, struct text *text) {
  char *kept = text->failed ? NULL : arena_string(arena, text_string(text));
  text_free(text);
  return kept;
}

static assay_status push(struct work *work, const struct contract_change *change) {
  struct contract_changes *out = work->out;
  if (out->count == out->capacity) {
    int32_t capacity = out->capacity == 0 ? 32 : out->capacity * 2;
    struct contract_change *items;
    ARENA_NEW(work->arena, items, capacity);
    if (out->count > 0) {
      memcpy(items, out->items, (size_t)out->count * sizeof *items);
    }
    out->items = items;
    out->capacity = capacity;
  }
  out->items[out->count++] = *change;
  return change->sentence != NULL ? status_ok() : status_no_memory(64);
}

static int32_t place_of(const struct work *work, const struct statement *from, const struct statement *to) {
  return from != NULL ? (int32_t)(from - work->a->first) : work->a->count + (int32_t)(to - work->b->first);
}

static assay_status say_change(struct work *work, const struct statement *from, const struct statement *to,
                               enum change_mark mark) {
  const struct statement *there = from != NULL ? from : to;
  struct text text = {0};
  text_format(&text, "%s%s%s: %s ", there->root, there->part != NULL ? ", " : "",
              there->part != NULL ? there->part : "", there->what);
  add_value(&text, there);
  if (from != NULL && to != NULL) {
    text_add(&text, " -> ");
    add_value(&text, to);
    text_format(&text, " (%s)", change_mark_name(mark));
  } else {
    text_add(&text, from != NULL ? " removed" : " added");
    if (mark == CHANGE_LOOSER || mark == CHANGE_TIGHTER) {
      text_format(&text, " (%s)", change_mark_name(mark));
    }
  }
  const struct contract_change change = {.root = there->root,
                                         .part = there->part,
                                         .what = there->what,
                                         .from = from,
                                         .to = to,
                                         .mark = mark,
                                         .sentence = finish(work->arena, &text),
                                         .place = place_of(work, from, to)};
  return push(work, &change);
}

/* A root or a part as a whole: it went, it came, or it has another name. */
static assay_status say_whole(struct work *work, const struct statement *from, const struct statement *to, bool part) {
  const struct statement *there = from != NULL ? from : to;
  struct text text = {0};
  text_format(&text, "%s%s%s", there->root, part ? ", " : "", part ? there->part : "");
  if (from != NULL && to != NULL) {
    text_format(&text, ": renamed to %s", part ? to->part : to->root);
  } else {
    text_add(&text, from != NULL ? ": removed" : ": added");
  }
  enum change_mark mark = from == NULL ? CHANGE_ADDED : to == NULL ? CHANGE_REMOVED : CHANGE_OTHER;
  const struct contract_change change = {.root = there->root,
                                         .part = part ? there->part : NULL,
                                         .mark = mark,
                                         .sentence = finish(work->arena, &text),
                                         .place = place_of(work, from, to)};
  return push(work, &change);
}

/* --- orders ------------------------------------------------------------------------- */

/* The name at `*at`, up to the next ", "; moves on. NULL at the end. */
static const char *next_name(struct arena *arena, const char **at) {
  if (**at == '\0') {
    return NULL;
  }
  const char *end = strstr(*at, ", ");
  size_t length = end != NULL ? (size_t)(end - *at) : strlen(*at);
  const char *name = arena_copy(arena, *at, length);
  *at += length + (end != NULL ? 2 : 0);
  return name;
}

static const char *new_name(const struct work *work, const char *root, const char *name) {
  for (int32_t i = 0; i < work->renamed.count; i++) {
    const struct statement *renamed = &work->renamed.items[i];
    if (text_equal(renamed->root, root) && text_equal(renamed->what, name)) {
      return renamed->value;
    }
  }
  return name;
}

static bool holds(const char *list, const char *name) {
  size_t length = strlen(name);
  for (const char *at = list; at != NULL; at = strstr(at, ", "), at = at != NULL ? at + 2 : NULL) {
    if (strncmp(at, name, length) == 0 && (at[length] == '\0' || strncmp(at + length, ", ", 2) == 0)) {
      return true;
    }
  }
  return false;
}

/* Names that both sides have (under their new names) stand in another order. Those that came or went are told as that.
 */
static bool order_differs(const struct work *work, const struct statement *from, const struct statement *to) {
  struct arena scratch = {0};
  const char *a = from->value, *b = to->value, *left, *right;
  struct text kept = {0};
  for (const char *at = from->value; (left = next_name(&scratch, &at)) != NULL;) {
    text_format(&kept, "%s%s", kept.length > 0 ? ", " : "", new_name(work, from->root, left));
  }
  a = text_string(&kept);
  bool differs = false;
  for (left = right = ""; !differs && (left != NULL || right != NULL);) {
    do {
      left = next_name(&scratch, &a);
    } while (left != NULL && !holds(to->value, left));
    do {
      right = next_name(&scratch, &b);
    } while (right != NULL && !holds(text_string(&kept), right));
    differs = (left == NULL) != (right == NULL) || (left != NULL && !text_equal(left, right));
  }
  text_free(&kept);
  arena_free(&scratch);
  return differs;
}

/* --- spans -------------------------------------------------------------------------- */

static bool same_text(const char *a, const char *b) { return strcmp(a != NULL ? a : "", b != NULL ? b : "") == 0; }

/* The statements from `at` on with one root, and one part too where `part` is asked for. */
static struct span span_at(const struct list *list, int32_t at, bool part) {
  struct span span = {list->items + at, 0};
  while (at + span.count < list->count && text_equal(span.items[span.count]->root, span.items[0]->root) &&
         (!part || same_text(span.items[span.count]->part, span.items[0]->part))) {
    span.count++;
  }
  return span;
}

/* The same said of both, whatever they are called. */
static bool alike(const struct span *a, const struct span *b, bool part) {
  bool same = a->count == b->count;
  for (int32_t i = 0; same && i < a->count; i++) {
    const struct statement *x = a->items[i], *y = b->items[i];
    same =
        text_equal(x->what, y->what) && (part || same_text(x->part, y->part)) && statement_compare(x, y) == CHANGE_NONE;
  }
  return same;
}

static size_t kind_length(const struct statement *statement, bool part) {
  return strcspn(part ? statement->part : statement->root, " ");
}

/* An input is never renamed to an output. */
static bool same_kind(const struct statement *a, const struct statement *b, bool part) {
  size_t length = kind_length(a, part);
  return length == kind_length(b, part) && strncmp(part ? a->part : a->root, part ? b->part : b->root, length) == 0 &&
         (part ? a->part : a->root)[length] != '\0';
}

struct spans {
  struct span items[RENAMES_TRIED];
  int32_t count;
};

static const char *name_of(const char *subject) { return subject + strcspn(subject, " ") + 1; }

static assay_status take_pair(struct work *work, const struct span *from, const struct span *to, bool part) {
  const struct statement *a = from->items[0], *b = to->items[0];
  if (part) {
    const struct statement renamed = {.root = a->root, .what = name_of(a->part), .value = name_of(b->part)};
    describe_add(&work->renamed, &renamed);
    TRY(describe_status(&work->renamed));
  }
  return say_whole(work, a, b, part);
}

/* What went and what came: pairs that say the same were renamed. */
static assay_status say_spans(struct work *work, struct spans *gone, struct spans *come, bool part) {
  for (int32_t i = 0; i < gone->count; i++) {
    int32_t match = -1;
    for (int32_t j = 0; j < come->count && match < 0; j++) {
      bool fits = come->items[j].count > 0 && same_kind(gone->items[i].items[0], come->items[j].items[0], part) &&
                  alike(&gone->items[i], &come->items[j], part);
      match = fits ? j : -1;
    }
    if (match >= 0) {
      TRY(take_pair(work, &gone->items[i], &come->items[match], part));
      come->items[match].count = 0;
    } else {
      TRY(say_whole(work, gone->items[i].items[0], NULL, part));
    }
  }
  for (int32_t j = 0; j < come->count; j++) {
    if (come->items[j].count > 0) {
      TRY(say_whole(work, NULL, come->items[j].items[0], part));
    }
  }
  gone->count = come->count = 0;
  return status_ok();
}

/* Keeps a span until it is known whether another takes its place; one too many is told at once. */
static assay_status put_aside(struct work *work, struct spans *spans, const struct span *span, bool gone, bool part) {
  if (spans->count == RENAMES_TRIED) {
    return say_whole(work, gone ? span->items[0] : NULL, gone ? NULL : span->items[0], part);
  }
  spans->items[spans->count++] = *span;
  return status_ok();
}

/* --- the walk ------------------------------------------------------------------------ */

/* The statements of one root or part that both sides have. */
static assay_status diff_span(struct work *work, const struct span *a, const struct span *b) {
  int32_t i = 0, j = 0;
  while (i < a->count || j < b->count) {
    int order = i == a->count ? 1 : j == b->count ? -1 : strcmp(a->items[i]->what, b->items[j]->what);
    const struct statement *from = order <= 0 ? a->items[i++] : NULL, *to = order >= 0 ? b->items[j++] : NULL;
    enum change_mark mark = statement_compare(from, to);
    bool ordered = from != NULL && to != NULL && from->kind == STATEMENT_ORDER && to->kind == STATEMENT_ORDER;
    if (mark != CHANGE_NONE && (!ordered || order_differs(work, from, to))) {
      TRY(say_change(work, from, to, mark));
    }
  }
  return status_ok();
}

static assay_status diff_roots(struct work *work, const struct list *a, const struct list *b, bool part);

/* A root that both have: its parts first, so that renamed parts are known when orders are compared. */
static assay_status diff_parts(struct work *work, const struct span *a, const struct span *b) {
  const struct list left = {a->items, a->count, work->a->first};
  const struct list right = {b->items, b->count, work->b->first};
  return diff_roots(work, &left, &right, true);
}

static int span_order(const struct span *a, const struct span *b, bool part) {
  const struct statement *x = a->items[0], *y = b->items[0];
  if (!part) {
    return strcmp(x->root, y->root);
  }
  return strcmp(x->part != NULL ? x->part : "", y->part != NULL ? y->part : "");
}

/* Walks two lists by root, or within one root by part. The root's own statements (no part) come first in the order and
 * are compared last. */
static assay_status diff_roots(struct work *work, const struct list *a, const struct list *b, bool part) {
  struct spans gone = {.count = 0}, come = {.count = 0};
  struct span own_a = {0}, own_b = {0};
  int32_t i = 0, j = 0;
  while (i < a->count || j < b->count) {
    struct span left = i < a->count ? span_at(a, i, part) : (struct span){0};
    struct span right = j < b->count ? span_at(b, j, part) : (struct span){0};
    int order = left.count == 0 ? 1 : right.count == 0 ? -1 : span_order(&left, &right, part);
    i += order <= 0 ? left.count : 0;
    j += order >= 0 ? right.count : 0;
    bool own = part && (order <= 0 ? left.items[0]->part : right.items[0]->part) == NULL;
    if (own) {
      own_a = order <= 0 ? left : (struct span){0};
      own_b = order >= 0 ? right : (struct span){0};
    } else if (order == 0) {
      TRY(part ? diff_span(work, &left, &right) : diff_parts(work, &left, &right));
    } else {
      TRY(put_aside(work, order < 0 ? &gone : &come, order < 0 ? &left : &right, order < 0, part));
    }
  }
  TRY(say_spans(work, &gone, &come, part));
  return diff_span(work, &own_a, &own_b);
}

static int by_place(const void *a, const void *b) {
  const struct contract_change *x = a, *y = b;
  return (x->place > y->place) - (x->place < y->place);
}

assay_status contract_diff(const struct statements *a, const struct statements *b, struct arena *arena,
                           struct contract_changes *out) {
  struct list left = {0}, right = {0};
  struct work work = {.arena = arena, .out = out, .a = &left, .b = &right, .renamed = {.arena = arena}};
  *out = (struct contract_changes){0};
  TRY(sorted(a, arena, &left));
  TRY(sorted(b, arena, &right));
  TRY(diff_roots(&work, &left, &right, false));
  if (out->count > 1) {
    qsort(out->items, (size_t)out->count, sizeof *out->items, by_place);
  }
  return status_ok();
}
