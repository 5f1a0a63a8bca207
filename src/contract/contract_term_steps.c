/* What a term does to its values: offset, scale, clip, or a list of such steps. The order is the one that is written,
 * or the one that the keys have; it is never changed, since (x + a) * b is not x * b + a. */
#include <math.h>

#include "contract/contract_terms.h"

enum { STEPS_MAX = 64 };

/* Steps as they are put together. */
struct steps {
  struct term_step *list;
  int32_t n, room;
};

static void add(struct steps *steps, enum term_step_kind kind, const double *a, const double *b, int32_t n) {
  steps->list[steps->n++] = (struct term_step){.kind = kind, .n = n, .a = a, .b = b};
}

/* One number, or one for each element. */
static assay_status read_column(struct reader *reader, const struct yaml *node, const char *what, int32_t n_elements,
                                const double **values, int32_t *n) {
  TRY(read_numbers(reader, node, what, values, n));
  if (node->kind == YAML_SEQUENCE && *n != n_elements) {
    return yaml_error(&reader->file, node->mark, "%s has %d numbers for %d elements", what, (int)*n, (int)n_elements);
  }
  return status_ok();
}

/* A scale of 0 takes an element out, as wheels' positions are; one that takes out all of them is a mistake. */
static assay_status check_factors(struct reader *reader, const struct yaml *node, const char *what,
                                  enum term_step_kind kind, const double *values, int32_t n) {
  int32_t zeros = 0;
  for (int32_t i = 0; i < n; i++) {
    zeros += values[i] == 0;
  }
  if (kind == TERM_DIVIDE && zeros > 0) {
    return yaml_error(&reader->file, node->mark, "%s is 0; nothing is divided by 0", what);
  }
  return kind == TERM_SCALE && zeros == n
             ? yaml_error(&reader->file, node->mark, "%s is 0; nothing that is measured shows behind it", what)
             : status_ok();
}

static assay_status read_factor(struct reader *reader, const struct yaml *node, const char *what,
                                enum term_step_kind kind, int32_t n_elements, struct steps *steps) {
  const double *values = NULL;
  int32_t n = 0;
  TRY(read_column(reader, node, what, n_elements, &values, &n));
  TRY(check_factors(reader, node, what, kind, values, n));
  add(steps, kind, values, NULL, n);
  return status_ok();
}

/* [min, max], or one such pair for each element. */
static assay_status read_clip(struct reader *reader, const struct yaml *node, const char *what, int32_t n_elements,
                              struct steps *steps) {
  TRY(yaml_expect(&reader->file, node, YAML_SEQUENCE, what));
  bool each = node->count > 0 && node->items[0].kind == YAML_SEQUENCE;
  int32_t n = each ? node->count : 1;
  if (each && n != n_elements) {
    return yaml_error(&reader->file, node->mark, "%s has %d pairs for %d elements", what, (int)n, (int)n_elements);
  }
  double *low, *high;
  ARENA_NEW(reader->arena, low, n);
  ARENA_NEW(reader->arena, high, n);
  for (int32_t i = 0; i < n; i++) {
    TRY(read_range(reader, each ? &node->items[i] : node, what, &low[i], &high[i]));
  }
  add(steps, TERM_CLIP, low, high, n);
  return status_ok();
}

/* mean and std: (x - mean) / std. min and max: (x - min) * ((high - low) / (max - min)) + low. */
static assay_status read_normaliser(struct reader *reader, const struct yaml *node, const char *what,
                                    int32_t n_elements, struct steps *steps) {
  struct statistics s = {0};
  TRY(read_statistics(reader, node, what, 0, 0, &s));
  if (s.count != 1 && s.count != n_elements) {
    return yaml_error(&reader->file, node->mark, "%s has %d numbers for %d elements", what, (int)s.count,
                      (int)n_elements);
  }
  double *negative, *factor, *low;
  ARENA_NEW(reader->arena, negative, s.count);
  ARENA_NEW(reader->arena, factor, s.count);
  ARENA_NEW(reader->arena, low, 1);
  for (int32_t i = 0; i < s.count; i++) {
    negative[i] = -s.a[i];
    factor[i] = s.min_max ? (s.high - s.low) / (s.b[i] - s.a[i]) : s.b[i];
    if (!isfinite(factor[i]) || factor[i] == 0) {
      return yaml_error(&reader->file, node->mark, "%s: the range over max - min of element %d is no usable factor",
                        what, (int)i);
    }
  }
  add(steps, TERM_OFFSET, negative, NULL, s.count);
  if (!s.min_max) {
    add(steps, TERM_DIVIDE, s.b, NULL, s.count);
    return status_ok();
  }
  *low = s.low;
  add(steps, TERM_SCALE, factor, NULL, s.count);
  add(steps, TERM_OFFSET, low, NULL, 1);
  return status_ok();
}

static assay_status read_step(struct reader *reader, const struct yaml *node, const char *what, int32_t which,
                              int32_t n_elements, struct steps *steps) {
  enum { KEY_OFFSET, KEY_SCALE, KEY_DIVIDE, KEY_CLIP };
  switch (which) {
    case KEY_OFFSET:
      return read_factor(reader, node, what, TERM_OFFSET, n_elements, steps);
    case KEY_SCALE:
      return read_factor(reader, node, what, TERM_SCALE, n_elements, steps);
    case KEY_DIVIDE:
      return read_factor(reader, node, what, TERM_DIVIDE, n_elements, steps);
    case KEY_CLIP:
      return read_clip(reader, node, what, n_elements, steps);
    default:
      return read_normaliser(reader, node, what, n_elements, steps);
  }
}

static assay_status read_apply(struct reader *reader, const struct yaml *node, const char *what, int32_t n_elements,
                               struct steps *steps) {
  static const char *const keys[] = {"offset", "scale", "divide", "clip", "statistics"};
  TRY(yaml_expect(&reader->file, node, YAML_SEQUENCE, what));
  if (node->count == 0 || node->count > STEPS_MAX) {
    return yaml_error(&reader->file, node->mark, "%s has %d steps; it may have 1 to %d", what, (int)node->count,
                      (int)STEPS_MAX);
  }
  ARENA_NEW(reader->arena, steps->list, 3 * node->count);
  for (int32_t i = 0; i < node->count; i++) {
    const struct yaml *value;
    char item[WHAT_SIZE];
    int32_t which = 0;
    what_format(item, "step %d of %s", (int)i + 1, what);
    TRY(read_step_key(reader, &node->items[i], item, keys, sizeof keys / sizeof keys[0], &which, &value));
    what_format(item, "'%s' in %s", keys[which], what);
    TRY(read_step(reader, value, item, which, n_elements, steps));
  }
  return status_ok();
}

/* `apply` says the order itself, and statistics are an offset and a scale. */
static assay_status check_mixed(struct reader *reader, const struct yaml *const *nodes, const char *what) {
  const struct yaml *apply = nodes[TERM_NODE_APPLY], *statistics = nodes[TERM_NODE_STATISTICS];
  const struct yaml *other = nodes[TERM_NODE_OFFSET] != NULL ? nodes[TERM_NODE_OFFSET] : nodes[TERM_NODE_SCALE];
  if (statistics != NULL && other != NULL) {
    return yaml_error(&reader->file, other->mark,
                      "%s has 'statistics' beside 'offset' or 'scale'; write the order of both in 'apply'", what);
  }
  other = other != NULL ? other : statistics != NULL ? statistics : nodes[TERM_NODE_CLIP];
  if (apply != NULL && other != NULL) {
    return yaml_error(&reader->file, apply->mark,
                      "%s has 'apply' beside other keys that change its values; write all of them in 'apply'", what);
  }
  return status_ok();
}

assay_status read_term_steps(struct reader *reader, const struct yaml *const *nodes, const char *what,
                             struct contract_term *term) {
  struct steps steps = {0};
  char member[WHAT_SIZE];
  TRY(check_mixed(reader, nodes, what));
  if (nodes[TERM_NODE_APPLY] != NULL) {
    what_format(member, "'apply' of %s", what);
    TRY(read_apply(reader, nodes[TERM_NODE_APPLY], member, term->n_elements, &steps));
  } else {
    static const struct {
      const char *key;
      int32_t node, which;
    } keys[] = {{"statistics", TERM_NODE_STATISTICS, 4},
                {"offset", TERM_NODE_OFFSET, 0},
                {"scale", TERM_NODE_SCALE, 1},
                {"clip", TERM_NODE_CLIP, 3}};
    ARENA_NEW(reader->arena, steps.list, 8);
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
      if (nodes[keys[k].node] != NULL) {
        what_format(member, "'%s' of %s", keys[k].key, what);
        TRY(read_step(reader, nodes[keys[k].node], member, keys[k].which, term->n_elements, &steps));
      }
    }
  }
  term->steps = steps.list;
  term->n_steps = steps.n;
  return status_ok();
}
