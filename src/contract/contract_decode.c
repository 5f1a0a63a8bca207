/* The decoding of an output as the contract describes it: clip, scale, offset, and what statistics
 * come down to. What the steps do to values is in decode.c. */
#include <math.h>

#include "contract/contract_reader.h"

enum { STEPS_MAX = 64 };

static assay_status new_rows(struct reader *reader, int32_t count, int32_t n_steps, struct decode_rows *out) {
  out->count = count;
  out->n_steps = n_steps;
  ARENA_NEW(reader->arena, out->steps, count);
  for (int32_t i = 0; i < count && n_steps > 0; i++) {
    ARENA_NEW(reader->arena, out->steps[i], n_steps);
  }
  return status_ok();
}

static void set_column(struct decode_rows *rows, int32_t at, enum decode_kind kind, const double *values, int32_t n) {
  for (int32_t c = 0; c < rows->count; c++) {
    rows->steps[c][at] = (struct decode_step){.kind = kind, .a = values[n == 1 ? 0 : c]};
  }
}

/* [min, max], or one such pair for each component. */
static assay_status read_clip(struct reader *reader, const struct yaml *node, const char *what,
                              struct decode_rows *rows, int32_t at) {
  TRY(yaml_expect(&reader->file, node, YAML_SEQUENCE, what));
  bool each = node->count > 0 && node->items[0].kind == YAML_SEQUENCE;
  if (each && node->count != rows->count) {
    return yaml_error(&reader->file, node->mark, "%s has %d pairs for %d components", what, (int)node->count,
                      (int)rows->count);
  }
  for (int32_t c = 0; c < rows->count; c++) {
    struct decode_step *step = &rows->steps[c][at];
    step->kind = DECODE_CLIP;
    TRY(read_range(reader, each ? &node->items[c] : node, what, &step->a, &step->b));
  }
  return status_ok();
}

static assay_status read_factors(struct reader *reader, const struct yaml *node, const char *what,
                                 enum decode_kind kind, struct decode_rows *rows, int32_t at) {
  const double *values = NULL;
  int32_t n = 0;
  TRY(read_numbers(reader, node, what, &values, &n));
  if (node->kind == YAML_SEQUENCE && n != rows->count) {
    return yaml_error(&reader->file, node->mark, "%s has %d numbers for %d components", what, (int)n, (int)rows->count);
  }
  for (int32_t i = 0; i < n && kind == DECODE_SCALE; i++) {
    if (values[i] == 0) {
      return yaml_error(&reader->file, node->mark, "%s is 0, behind which no difference shows", what);
    }
  }
  set_column(rows, at, kind, values, n);
  return status_ok();
}

/* mean and std: y * std + mean. min and max: (y - low) * ((max - min) / (high - low)) + min. */
static assay_status statistics_steps(struct reader *reader, const struct yaml *node, const char *what,
                                     const struct statistics *s, struct decode_rows *rows, int32_t at) {
  if (s->count != 1 && s->count != rows->count) {
    return yaml_error(&reader->file, node->mark, "%s has %d numbers for %d components", what, (int)s->count,
                      (int)rows->count);
  }
  if (!s->min_max) {
    set_column(rows, at, DECODE_SCALE, s->b, s->count);
    set_column(rows, at + 1, DECODE_OFFSET, s->a, s->count);
    return status_ok();
  }
  for (int32_t c = 0; c < rows->count; c++) {
    int32_t i = s->count == 1 ? 0 : c;
    double factor = (s->b[i] - s->a[i]) / (s->high - s->low);
    if (!isfinite(factor) || factor == 0) {
      return yaml_error(&reader->file, node->mark, "%s: max - min over the range of element %d is no usable factor",
                        what, (int)i);
    }
    rows->steps[c][at] = (struct decode_step){.kind = DECODE_OFFSET, .a = -s->low};
    rows->steps[c][at + 1] = (struct decode_step){.kind = DECODE_SCALE, .a = factor};
    rows->steps[c][at + 2] = (struct decode_step){.kind = DECODE_OFFSET, .a = s->a[i]};
  }
  return status_ok();
}

static const char *const step_keys[] = {"clip", "scale", "offset", "statistics", "add"};
enum { STEP_CLIP, STEP_SCALE, STEP_OFFSET, STEP_STATISTICS, STEP_ADD, STEP_KEYS };

/* One item of the list, which makes one to three steps. */
struct item {
  int32_t which;
  const struct yaml *value;
  struct statistics statistics;
  int32_t n_steps;
};

static assay_status read_item(struct reader *reader, const struct yaml *node, const char *what, struct item *item) {
  TRY(read_step_key(reader, node, what, step_keys, STEP_KEYS, &item->which, &item->value));
  item->n_steps = 1;
  char member[WHAT_SIZE];
  what_format(member, "'%s' in %s", step_keys[item->which], what);
  if (item->which == STEP_ADD) {
    return not_read_yet(reader, node->mark, member);
  }
  if (item->which == STEP_STATISTICS) {
    TRY(read_statistics(reader, item->value, member, &item->statistics));
    item->n_steps = item->statistics.min_max ? 3 : 2;
  }
  return status_ok();
}

static assay_status place_item(struct reader *reader, const char *what, const struct item *item,
                               struct decode_rows *rows, int32_t at) {
  char member[WHAT_SIZE];
  what_format(member, "'%s' in %s", step_keys[item->which], what);
  switch (item->which) {
    case STEP_CLIP:
      return read_clip(reader, item->value, member, rows, at);
    case STEP_SCALE:
      return read_factors(reader, item->value, member, DECODE_SCALE, rows, at);
    case STEP_OFFSET:
      return read_factors(reader, item->value, member, DECODE_OFFSET, rows, at);
    default:
      return statistics_steps(reader, item->value, member, &item->statistics, rows, at);
  }
}

assay_status read_decode(struct reader *reader, const struct yaml *node, const char *what, int32_t count,
                         struct decode_rows *out) {
  if (node == NULL) {
    return new_rows(reader, count, 0, out);
  }
  /* a single mapping is a list of one step */
  const struct yaml *list = node->kind == YAML_MAPPING ? node : node->items;
  int32_t n = node->kind == YAML_MAPPING ? 1 : node->count;
  if (node->kind != YAML_MAPPING) {
    TRY(yaml_expect(&reader->file, node, YAML_SEQUENCE, what));
  }
  if (n == 0 || n > STEPS_MAX) {
    return yaml_error(&reader->file, node->mark, "%s has %d steps; it may have 1 to %d", what, (int)n, (int)STEPS_MAX);
  }
  struct item *items;
  int32_t total = 0;
  ARENA_NEW(reader->arena, items, n);
  for (int32_t i = 0; i < n; i++) {
    TRY(read_item(reader, &list[i], what, &items[i]));
    total += items[i].n_steps;
  }
  TRY(new_rows(reader, count, total, out));
  int32_t at = 0;
  for (int32_t i = 0; i < n; i++) {
    TRY(place_item(reader, what, &items[i], out, at));
    at += items[i].n_steps;
  }
  return status_ok();
}
