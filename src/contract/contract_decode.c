/* The decoding of an output as the contract describes it: clip, scale, offset, and what statistics
 * come down to; `add` is in contract_add.c. What the steps do to values is in decode.c. */
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

/* Numbers of one step of decoding: [rows][n], a row for all steps of the horizon or one for each; n is 1 for all
 * components alike. */
struct numbers {
  int32_t rows, n;
  const double *values;
};

static assay_status set_column(struct reader *reader, struct decode_rows *out, int32_t at, enum decode_kind kind,
                               const struct numbers *numbers, const struct decode_origin *origin) {
  for (int32_t c = 0; c < out->count; c++) {
    const double *first = numbers->values + (numbers->n == 1 ? 0 : c);
    struct decode_step step = {.kind = kind, .a = *first, .origin = origin};
    if (numbers->rows > 1) {
      double *each;
      ARENA_NEW(reader->arena, each, numbers->rows);
      for (int32_t h = 0; h < numbers->rows; h++) {
        each[h] = first[(size_t)h * (size_t)numbers->n];
      }
      step.each = each;
      step.n_each = numbers->rows;
    }
    out->steps[c][at] = step;
  }
  return status_ok();
}

/* Steps of a chunk, where there is a horizon of one length; otherwise 0. */
static int64_t horizon_of(const struct contract_output *output) {
  const struct dim_range *dim = output->horizon_axis >= 0 ? &output->dims[output->horizon_axis] : NULL;
  return dim != NULL && dim->min == dim->max ? dim->max : 0;
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

/* {per_step: [[...], ...]}: for each step of the horizon a number, or one for each component. */
static assay_status read_per_step(struct reader *reader, const struct yaml *node, const char *what,
                                  const struct contract_output *output, int32_t count, struct numbers *out) {
  static const char *const keys[] = {"per_step"};
  const struct yaml *list = NULL;
  TRY(yaml_keys(&reader->file, node, keys, 1, what));
  TRY(yaml_require(&reader->file, node, "per_step", what, &list));
  TRY(yaml_expect(&reader->file, list, YAML_SEQUENCE, what));
  int64_t horizon = horizon_of(output);
  if (horizon == 0 || list->count != horizon) {
    return yaml_error(&reader->file, list->mark,
                      horizon == 0 ? "%s has %d rows, but the output has no axis 'horizon' of one length"
                                   : "%s has %d rows; it must have one for each of the %lld steps of the horizon",
                      what, (int)list->count, (long long)horizon);
  }
  double *values;
  ARENA_NEW(reader->arena, values, horizon * count);
  for (int32_t h = 0; h < list->count; h++) {
    const double *row = NULL;
    int32_t n = 0;
    char item[WHAT_SIZE];
    what_format(item, "row %d of %s", (int)h + 1, what);
    TRY(read_numbers(reader, &list->items[h], item, &row, &n));
    if (list->items[h].kind == YAML_SEQUENCE && n != count) {
      return yaml_error(&reader->file, list->items[h].mark, "%s has %d numbers for %d components", item, (int)n,
                        (int)count);
    }
    for (int32_t c = 0; c < count; c++) {
      values[h * count + c] = row[n == 1 ? 0 : c];
    }
  }
  *out = (struct numbers){list->count, count, values};
  return status_ok();
}

static assay_status read_factors(struct reader *reader, const struct yaml *node, const char *what,
                                 enum decode_kind kind, const struct contract_output *output, struct decode_rows *rows,
                                 int32_t at) {
  struct numbers numbers = {1, 0, NULL};
  if (node->kind == YAML_MAPPING) {
    TRY(read_per_step(reader, node, what, output, rows->count, &numbers));
  } else {
    TRY(read_numbers(reader, node, what, &numbers.values, &numbers.n));
    if (node->kind == YAML_SEQUENCE && numbers.n != rows->count) {
      return yaml_error(&reader->file, node->mark, "%s has %d numbers for %d components", what, (int)numbers.n,
                        (int)rows->count);
    }
  }
  for (int32_t i = 0; i < numbers.n * numbers.rows && kind == DECODE_SCALE; i++) {
    if (numbers.values[i] == 0) {
      return yaml_error(&reader->file, node->mark, "%s is 0, behind which no difference shows", what);
    }
  }
  return set_column(reader, rows, at, kind, &numbers, NULL);
}

/* y * std + mean. */
static assay_status mean_std_steps(struct reader *reader, const struct statistics *s, struct decode_rows *rows,
                                   int32_t at) {
  const struct numbers std = {s->rows, s->count, s->b}, mean = {s->rows, s->count, s->a};
  TRY(set_column(reader, rows, at, DECODE_SCALE, &std, s->origin));
  return set_column(reader, rows, at + 1, DECODE_OFFSET, &mean, s->origin);
}

/* (y - low) * ((max - min) / (high - low)) + min. */
static assay_status min_max_steps(struct reader *reader, const struct yaml *node, const char *what,
                                  const struct statistics *s, struct decode_rows *rows, int32_t at) {
  double *factors;
  const double low = -s->low;
  ARENA_NEW(reader->arena, factors, s->rows * s->count);
  for (int32_t i = 0; i < s->rows * s->count; i++) {
    factors[i] = (s->b[i] - s->a[i]) / (s->high - s->low);
    if (!isfinite(factors[i]) || factors[i] == 0) {
      return yaml_error(&reader->file, node->mark, "%s: max - min over the range of element %d is no usable factor",
                        what, (int)i);
    }
  }
  const struct numbers lows = {1, 1, &low}, scales = {s->rows, s->count, factors}, mins = {s->rows, s->count, s->a};
  TRY(set_column(reader, rows, at, DECODE_OFFSET, &lows, s->origin));
  TRY(set_column(reader, rows, at + 1, DECODE_SCALE, &scales, s->origin));
  return set_column(reader, rows, at + 2, DECODE_OFFSET, &mins, s->origin);
}

static assay_status statistics_steps(struct reader *reader, const struct yaml *node, const char *what,
                                     const struct statistics *s, struct decode_rows *rows, int32_t at) {
  if (s->count != 1 && s->count != rows->count) {
    return yaml_error(&reader->file, node->mark, "%s has %d numbers for %d components", what, (int)s->count,
                      (int)rows->count);
  }
  return s->min_max ? min_max_steps(reader, node, what, s, rows, at) : mean_std_steps(reader, s, rows, at);
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

static assay_status read_item(struct reader *reader, const struct yaml *node, const char *what,
                              const struct contract_output *output, int32_t count, struct item *item) {
  TRY(read_step_key(reader, node, what, step_keys, STEP_KEYS, &item->which, &item->value));
  item->n_steps = 1;
  char member[WHAT_SIZE];
  what_format(member, "'%s' in %s", step_keys[item->which], what);
  if (item->which == STEP_STATISTICS) {
    TRY(read_statistics(reader, item->value, member, horizon_of(output), count, &item->statistics));
    item->n_steps = item->statistics.min_max ? 3 : 2;
  }
  return status_ok();
}

static assay_status place_item(struct reader *reader, const char *what, const struct item *item,
                               const struct contract_output *output, struct decode_rows *rows, int32_t at) {
  char member[WHAT_SIZE];
  what_format(member, "'%s' in %s", step_keys[item->which], what);
  switch (item->which) {
    case STEP_CLIP:
      return read_clip(reader, item->value, member, rows, at);
    case STEP_SCALE:
      return read_factors(reader, item->value, member, DECODE_SCALE, output, rows, at);
    case STEP_OFFSET:
      return read_factors(reader, item->value, member, DECODE_OFFSET, output, rows, at);
    case STEP_ADD:
      return read_add(reader, item->value, member, output, rows, at);
    default:
      return statistics_steps(reader, item->value, member, &item->statistics, rows, at);
  }
}

assay_status read_decode(struct reader *reader, const struct yaml *node, const char *what,
                         const struct contract_output *output, int32_t count, struct decode_rows *out) {
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
    TRY(read_item(reader, &list[i], what, output, count, &items[i]));
    total += items[i].n_steps;
  }
  TRY(new_rows(reader, count, total, out));
  int32_t at = 0;
  for (int32_t i = 0; i < n; i++) {
    TRY(place_item(reader, what, &items[i], output, out, at));
    at += items[i].n_steps;
  }
  return status_ok();
}
