/* Tables of keys, and the readers of single values that they name. Nothing here knows what a
 * contract says; nothing is defaulted or corrected. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "contract/contract_reader.h"

void what_format(char out[WHAT_SIZE], const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(out, WHAT_SIZE, format, arguments);
  va_end(arguments);
}

assay_status not_read_yet(const struct reader *reader, struct mark mark, const char *thing) {
  struct yaml_file file = reader->file;
  file.code = ASSAY_CONTRACT_UNSUPPORTED;
  return yaml_error(&file, mark,
                    "%s is part of the contract, but this version of assay doesn't read it yet; "
                    "take it out if the policy does not need it",
                    thing);
}

enum { FIELDS_MAX = 40 };

/* Unknown keys first, since a misspelt key is often the reason why another is missing. */
static assay_status check_keys(struct reader *reader, const struct yaml *node, const struct field *fields, size_t count,
                               const char *what) {
  const char *keys[FIELDS_MAX] = {0};
  for (size_t i = 0; i < count; i++) {
    keys[i] = fields[i].key;
  }
  return yaml_keys(&reader->file, node, keys, count, what);
}

assay_status fields_read(struct reader *reader, const struct yaml *node, const struct field *fields, size_t count,
                         const char *what, void *object) {
  TRY(check_keys(reader, node, fields, count, what));
  for (size_t i = 0; i < count; i++) {
    const struct yaml *value = yaml_get(node, fields[i].key);
    if (value == NULL && fields[i].presence == FIELD_REQUIRED) {
      return yaml_error(&reader->file, node->mark, "%s needs the key '%s'", what, fields[i].key);
    }
    if (value == NULL || fields[i].read == NULL) {
      continue;
    }
    char member[WHAT_SIZE];
    what_format(member, "'%s' of %s", fields[i].key, what);
    TRY(fields[i].read(reader, value, member, (char *)object + fields[i].offset));
  }
  return status_ok();
}

assay_status keep_node(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  (void)reader, (void)what;
  *(const struct yaml **)member = node;
  return status_ok();
}

void what_item(char out[WHAT_SIZE], const struct yaml *item, const char *noun, int32_t i) {
  const struct yaml *name = yaml_get(item, "name");
  if (name != NULL && name->kind == YAML_SCALAR && strlen(name->text) < 80) {
    what_format(out, "%s '%s'", noun, name->text);
  } else {
    what_format(out, "%s %d", noun, (int)i + 1);
  }
}

assay_status read_step_key(struct reader *reader, const struct yaml *node, const char *what, const char *const *keys,
                           size_t count, int32_t *which, const struct yaml **value) {
  TRY(yaml_keys(&reader->file, node, keys, count, what));
  if (node->count != 1) {
    return yaml_error(&reader->file, node->mark, "%s has %d keys; a step is one key, such as {%s: ...}", what,
                      (int)node->count, keys[0]);
  }
  *which = 0;
  while (!text_equal(keys[*which], node->keys[0])) {
    ++*which;
  }
  *value = &node->items[0];
  return status_ok();
}

assay_status read_text(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  return yaml_string(&reader->file, node, what, (const char **)member);
}

assay_status read_number(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  return yaml_double(&reader->file, node, what, true, (double *)member);
}

assay_status read_positive(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  double value = 0;
  TRY(yaml_double(&reader->file, node, what, true, &value));
  if (!(value > 0)) {
    return yaml_error(&reader->file, node->mark, "%s is %.9g; it must be above 0", what, value);
  }
  *(double *)member = value;
  return status_ok();
}

assay_status read_not_negative(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  double value = 0;
  TRY(yaml_double(&reader->file, node, what, true, &value));
  if (!(value >= 0) || signbit(value)) {
    return yaml_error(&reader->file, node->mark, "%s is %.9g; it must be 0 or more", what, value);
  }
  *(double *)member = value;
  return status_ok();
}

assay_status read_whole(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  return yaml_int(&reader->file, node, what, 0, INT32_MAX, (int64_t *)member);
}

assay_status read_size(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  return yaml_int(&reader->file, node, what, 1, 65536, (int64_t *)member);
}

assay_status read_steps(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  int64_t value = 0;
  TRY(read_size(reader, node, what, &value));
  *(int32_t *)member = (int32_t)value;
  return status_ok();
}

assay_status read_flag(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  return yaml_bool(&reader->file, node, what, (bool *)member);
}

assay_status read_dtype(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  const char *name = NULL;
  TRY(yaml_string(&reader->file, node, what, &name));
  assay_dtype dtype = assay_dtype_find(name);
  if (dtype == ASSAY_BOOL || dtype_is_integer(dtype) || dtype_is_float(dtype)) {
    *(assay_dtype *)member = dtype;
    return status_ok();
  }
  const char *names[ASSAY_DTYPE_COUNT];
  size_t count = 0;
  for (int i = 1; i < ASSAY_DTYPE_COUNT; i++) {
    names[count++] = assay_dtype_name((assay_dtype)i);
  }
  if (dtype != ASSAY_UNDEFINED) {
    return yaml_error(&reader->file, node->mark, "%s is %s, which a policy's tensor may not be", what, name);
  }
  const char *near = text_nearest(name, names, count);
  return yaml_error(&reader->file, node->mark, "%s is '%.60s', which is no dtype; write %s", what, name,
                    near != NULL ? near : "float32, float16, int64, uint8, bool, ...");
}

assay_status read_numbers(struct reader *reader, const struct yaml *node, const char *what, const double **out,
                          int32_t *count) {
  const struct yaml *items = node->kind == YAML_SEQUENCE ? node->items : node;
  int32_t n = node->kind == YAML_SEQUENCE ? node->count : 1;
  if (n == 0) {
    return yaml_error(&reader->file, node->mark, "%s is an empty list; write a number, or one for each", what);
  }
  double *values;
  ARENA_NEW(reader->arena, values, n);
  for (int32_t i = 0; i < n; i++) {
    TRY(yaml_double(&reader->file, &items[i], what, true, &values[i]));
  }
  *out = values;
  *count = n;
  return status_ok();
}

assay_status read_range(struct reader *reader, const struct yaml *node, const char *what, double *low, double *high) {
  TRY(yaml_expect(&reader->file, node, YAML_SEQUENCE, what));
  if (node->count != 2) {
    return yaml_error(&reader->file, node->mark, "%s has %d numbers; it must have two, [lowest, highest]", what,
                      (int)node->count);
  }
  TRY(yaml_double(&reader->file, &node->items[0], what, true, low));
  TRY(yaml_double(&reader->file, &node->items[1], what, true, high));
  if (!(*low < *high)) {
    return yaml_error(&reader->file, node->mark, "%s is [%.9g, %.9g]; the first must be below the second", what, *low,
                      *high);
  }
  return status_ok();
}

/* Largest size of one dimension. */
static const int64_t dim_max = INT64_C(1) << 40;

static assay_status read_dim(struct reader *reader, const struct yaml *node, const char *what, struct dim_range *out) {
  if (node->kind != YAML_MAPPING) {
    TRY(yaml_int(&reader->file, node, what, 1, dim_max, &out->min));
    out->opt = out->max = out->min;
    return status_ok();
  }
  static const char *const keys[] = {"min", "opt", "max"};
  TRY(yaml_keys(&reader->file, node, keys, 3, what));
  int64_t *const members[] = {&out->min, &out->opt, &out->max};
  for (int i = 0; i < 3; i++) {
    const struct yaml *value;
    char member[WHAT_SIZE];
    what_format(member, "'%s' of %s", keys[i], what);
    TRY(yaml_require(&reader->file, node, keys[i], what, &value));
    TRY(yaml_int(&reader->file, value, member, i == 0 ? 0 : 1, dim_max, members[i]));
  }
  if (out->min > out->opt || out->opt > out->max) {
    return yaml_error(&reader->file, node->mark,
                      "%s has min %lld, opt %lld, max %lld; min must not be above opt, nor opt above max", what,
                      (long long)out->min, (long long)out->opt, (long long)out->max);
  }
  return status_ok();
}

assay_status read_shape(struct reader *reader, const struct yaml *node, const char *what, int32_t *rank,
                        struct dim_range *dims) {
  TRY(yaml_expect(&reader->file, node, YAML_SEQUENCE, what));
  if (node->count > ASSAY_RANK_MAX) {
    return yaml_error(&reader->file, node->mark, "%s has %d dimensions; at most %d are read", what, (int)node->count,
                      (int)ASSAY_RANK_MAX);
  }
  int64_t largest[ASSAY_RANK_MAX], elements;
  for (int32_t i = 0; i < node->count; i++) {
    char dim[WHAT_SIZE];
    what_format(dim, "dimension %d of %s", (int)i, what);
    TRY(read_dim(reader, &node->items[i], dim, &dims[i]));
    largest[i] = dims[i].max;
  }
  if (!shape_count(largest, node->count, &elements) || elements > dim_max) {
    return yaml_error(&reader->file, node->mark, "%s has more elements than assay can hold (2^40)", what);
  }
  *rank = node->count;
  return status_ok();
}
