/* The components of an output: their units, tolerances, limits, gains, decisions and decoding. An
 * entry describes one component (`name`), several alike (`names`), or a numbered row (`name` and
 * `count`); the output may give defaults. No component is without a unit. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contract/contract_compare.h"
#include "contract/contract_reader.h"

enum { COMPONENTS_MAX = 1 << 18 };

/* What may stand at an entry and, as a default, at the output. */
struct entry {
  const struct yaml *names, *limits, *pd, *decode;
  const char *const *listed; /* what `names` says */
  const char *name, *unit, *raw_unit;
  int64_t count;
  struct tolerance tolerance;
  bool has_decision, allow_inf;
  struct decision decision;
  struct compared_entry compared;
};

/* Of a pose there are two, which its reader looks at. */
static assay_status entry_unit(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  struct entry *entry = member;
  entry->compared.unit = node->kind == YAML_MAPPING ? node : NULL;
  entry->unit = "";
  return node->kind == YAML_MAPPING ? status_ok() : read_text(reader, node, what, &entry->unit);
}

static assay_status entry_tolerance(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  struct entry *entry = member;
  bool two = yaml_get(node, "distance") != NULL || yaml_get(node, "angle") != NULL;
  entry->compared.tolerance = two ? node : NULL;
  return two ? status_ok() : read_tolerance(reader, node, what, &entry->tolerance);
}

static assay_status entry_decision(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  struct entry *entry = member;
  entry->has_decision = true;
  return read_threshold(reader, node, what, &entry->decision);
}

static const struct field entry_fields[] = {
    {"name", read_text, offsetof(struct entry, name), FIELD_OPTIONAL},
    {"names", keep_node, offsetof(struct entry, names), FIELD_OPTIONAL},
    {"count", read_size, offsetof(struct entry, count), FIELD_OPTIONAL},
    {"unit", entry_unit, 0, FIELD_OPTIONAL},
    {"raw_unit", read_text, offsetof(struct entry, raw_unit), FIELD_OPTIONAL},
    {"compare", read_compare, offsetof(struct entry, compared), FIELD_OPTIONAL},
    {"rotation", read_compare_rotation, offsetof(struct entry, compared), FIELD_OPTIONAL},
    {"order", read_compare_order, offsetof(struct entry, compared), FIELD_OPTIONAL},
    {"convention", read_compare_convention, offsetof(struct entry, compared), FIELD_OPTIONAL},
    {"decode", keep_node, offsetof(struct entry, decode), FIELD_OPTIONAL},
    {"tolerance", entry_tolerance, 0, FIELD_OPTIONAL},
    {"limits", keep_node, offsetof(struct entry, limits), FIELD_OPTIONAL},
    {"pd", keep_node, offsetof(struct entry, pd), FIELD_OPTIONAL},
    {"decision", entry_decision, 0, FIELD_OPTIONAL},
    {"allow_inf", read_flag, offsetof(struct entry, allow_inf), FIELD_OPTIONAL},
};

/* The same number for all, or one for each. */
static assay_status read_each(struct reader *reader, const struct yaml *node, const char *what, int32_t count,
                              double *out) {
  const double *values = NULL;
  int32_t n = 0;
  TRY(read_numbers(reader, node, what, &values, &n));
  if (node->kind == YAML_SEQUENCE && n != count) {
    return yaml_error(&reader->file, node->mark, "%s has %d numbers for %d components", what, (int)n, (int)count);
  }
  for (int32_t i = 0; i < count; i++) {
    out[i] = values[n == 1 ? 0 : i];
  }
  return status_ok();
}

/* One member of limits or pd, for every component it covers. */
static assay_status read_column(struct reader *reader, const struct yaml *mapping, const char *key, const char *what,
                                int32_t count, double **out) {
  const struct yaml *node = yaml_get(mapping, key);
  *out = NULL;
  if (node == NULL) {
    return status_ok();
  }
  char member[WHAT_SIZE];
  what_format(member, "'%s' of %s", key, what);
  ARENA_NEW(reader->arena, *out, count);
  return read_each(reader, node, member, count, *out);
}

static assay_status read_limits(struct reader *reader, const struct yaml *node, const char *what, int32_t count,
                                struct contract_component *components) {
  static const char *const keys[] = {"min", "max", "rate"};
  double *column[3];
  TRY(yaml_keys(&reader->file, node, keys, 3, what));
  if (node->count == 0) {
    return yaml_error(&reader->file, node->mark, "%s says nothing; give 'min', 'max' or 'rate'", what);
  }
  for (int i = 0; i < 3; i++) {
    TRY(read_column(reader, node, keys[i], what, count, &column[i]));
  }
  for (int32_t i = 0; i < count; i++) {
    struct contract_component *component = &components[i];
    component->has_limits = true;
    component->limit_min = column[0] != NULL ? column[0][i] : (double)NAN;
    component->limit_max = column[1] != NULL ? column[1][i] : (double)NAN;
    component->limit_rate = column[2] != NULL ? column[2][i] : (double)NAN;
    if (component->limit_min >= component->limit_max) {
      return yaml_error(&reader->file, node->mark, "%s has min %.9g and max %.9g for '%s'; min must be below max", what,
                        component->limit_min, component->limit_max, component->name);
    }
    if (component->limit_rate <= 0) {
      return yaml_error(&reader->file, node->mark, "%s has rate %.9g for '%s'; it must be above 0", what,
                        component->limit_rate, component->name);
    }
  }
  return status_ok();
}

static assay_status read_pd(struct reader *reader, const struct yaml *node, const char *what, int32_t count,
                            struct contract_component *components) {
  static const char *const keys[] = {"kp", "kd"};
  TRY(yaml_keys(&reader->file, node, keys, 2, what));
  double *column[2];
  for (int k = 0; k < 2; k++) {
    const struct yaml *value;
    TRY(yaml_require(&reader->file, node, keys[k], what, &value));
    TRY(read_column(reader, node, keys[k], what, count, &column[k]));
    for (int32_t i = 0; i < count; i++) {
      bool fine = column[k][i] > 0 || (k == 0 && column[k][i] == 0 && !signbit(column[k][i]));
      if (!fine) {
        return yaml_error(&reader->file, value->mark, "'%s' of %s is %.9g for '%s'; %s", keys[k], what, column[k][i],
                          components[i].name,
                          k == 0 ? "a stiffness is 0 (a wheel's) or more" : "a damping must be above 0");
      }
    }
  }
  for (int32_t i = 0; i < count; i++) {
    components[i].has_pd = true;
    components[i].kp = column[0][i];
    components[i].kd = column[1][i];
  }
  return status_ok();
}

/* How many components an entry stands for: exactly one of the three forms. */
static assay_status entry_count(struct reader *reader, const struct yaml *node, const char *what, struct entry *entry,
                                int32_t *count) {
  bool together = entry->compared.kind >= COMPARE_QUATERNION && entry->names != NULL && entry->count == 0;
  if (!together && ((entry->name != NULL) == (entry->names != NULL) || (entry->count > 0 && entry->name == NULL))) {
    return yaml_error(&reader->file, node->mark, "%s needs either 'name' (with 'count' for a numbered row) or 'names'",
                      what);
  }
  *count = entry->count > 0 ? (int32_t)entry->count : 1;
  if (entry->names == NULL) {
    return status_ok();
  }
  char names[WHAT_SIZE];
  what_format(names, "'names' of %s", what);
  return read_names(reader, entry->names, names, &entry->listed, count);
}

static assay_status name_components(struct reader *reader, const struct entry *entry, int32_t count, struct mark mark,
                                    struct contract_component *components) {
  for (int32_t i = 0; i < count; i++) {
    components[i].mark = mark;
    if (entry->names != NULL) {
      bool is_list = entry->names->kind == YAML_SEQUENCE; /* otherwise the name of a group */
      components[i].mark = is_list ? entry->names->items[i].mark : entry->names->mark;
      components[i].name = entry->listed[i];
    } else if (entry->count > 0) {
      components[i].name = arena_format(reader->arena, "%s[%d]", entry->name, (int)i);
      if (components[i].name == NULL) {
        return status_no_memory(strlen(entry->name));
      }
    } else {
      components[i].name = entry->name;
    }
  }
  return status_ok();
}

/* Where a whole list of components is put together. */
struct listing {
  const struct yaml *node, *output; /* the list, and the output's mapping */
  const char *output_what;
  struct contract_output *target;
  struct entry defaults;
  struct contract_component *components;
  struct decode_rows *decode; /* [entries], what each entry adds */
  int32_t *first;             /* [entries + 1] index of each entry's first component */
  int32_t count;
};

static assay_status read_entry(struct reader *reader, struct listing *listing, int32_t index, int32_t *count) {
  const struct yaml *node = &listing->node->items[index];
  struct entry entry = {0};
  char what[WHAT_SIZE], item[WHAT_SIZE];
  what_item(item, node, "component", index);
  what_format(what, "%s of %s", item, listing->output_what);
  TRY(FIELDS_READ(reader, node, entry_fields, what, &entry));
  TRY(entry_count(reader, node, what, &entry, count));
  if (listing->components == NULL) {
    return status_ok(); /* only counting */
  }
  struct contract_component *components = listing->components + listing->first[index];
  TRY(name_components(reader, &entry, *count, node->mark, components));
  const char *unit = entry.unit != NULL ? entry.unit : listing->defaults.unit;
  if (unit == NULL) {
    return yaml_error(&reader->file, node->mark, "%s needs the key 'unit' (after decoding), such as rad or score",
                      what);
  }
  for (int32_t i = 0; i < *count; i++) {
    components[i].unit = unit;
    components[i].raw_unit = entry.raw_unit != NULL ? entry.raw_unit : listing->defaults.raw_unit;
    components[i].tolerance = entry.tolerance.given ? entry.tolerance : listing->defaults.tolerance;
    components[i].has_decision = entry.has_decision;
    components[i].decision = entry.decision;
    components[i].allow_inf = entry.allow_inf;
  }
  what_format(item, "'limits' of %s", what);
  if (entry.limits != NULL) {
    TRY(read_limits(reader, entry.limits, item, *count, components));
  }
  what_format(item, "'pd' of %s", what);
  if (entry.pd != NULL) {
    TRY(read_pd(reader, entry.pd, item, *count, components));
  }
  TRY(place_compared(reader, what, &entry.compared, entry.name, listing->first[index], *count, components,
                     listing->target));
  what_format(item, "'decode' of %s", what);
  return read_decode(reader, entry.decode, item, listing->target, *count, &listing->decode[index]);
}

/* One pass over the entries: counting when there are no components yet, reading otherwise. */
static assay_status read_entries(struct reader *reader, struct listing *listing) {
  int32_t total = 0;
  for (int32_t i = 0; i < listing->node->count; i++) {
    int32_t count = 0;
    listing->first[i] = total;
    TRY(read_entry(reader, listing, i, &count));
    total += count;
    if (total > COMPONENTS_MAX) {
      return yaml_error(&reader->file, listing->node->items[i].mark, "%s has more than %d components",
                        listing->output_what, (int)COMPONENTS_MAX);
    }
  }
  listing->count = total;
  return status_ok();
}

static int compare_components(const void *a, const void *b) {
  const struct contract_component *const *x = a, *const *y = b;
  int order = strcmp((*x)->name, (*y)->name);
  return order != 0 ? order : (*x > *y) - (*x < *y);
}

static assay_status check_unique(struct reader *reader, const struct listing *listing) {
  const struct contract_component **sorted;
  ARENA_NEW(reader->arena, sorted, listing->count);
  for (int32_t i = 0; i < listing->count; i++) {
    sorted[i] = &listing->components[i];
  }
  qsort(sorted, (size_t)listing->count, sizeof *sorted, compare_components);
  for (int32_t i = 1; i < listing->count; i++) {
    if (text_equal(sorted[i - 1]->name, sorted[i]->name)) {
      return yaml_error(&reader->file, sorted[i]->mark,
                        "component '%s' of %s stands here again; it was given at line %d", sorted[i]->name,
                        listing->output_what, (int)sorted[i - 1]->mark.line);
    }
  }
  return status_ok();
}

/* Which axis the components lie along. */
static assay_status find_axis(struct reader *reader, const struct listing *listing, struct contract_output *output) {
  bool axes_given = yaml_get(listing->output, "axes") != NULL;
  const struct dim_range *last = output->rank > 0 ? &output->dims[output->rank - 1] : NULL;
  if (output->component_axis < 0 && !axes_given && listing->count > 1 && last != NULL && last->max == listing->count) {
    output->component_axis = output->rank - 1;
  }
  if (output->component_axis < 0) {
    if (listing->count == 1) {
      return status_ok();
    }
    if (axes_given || last == NULL || last->min != last->max) {
      return yaml_error(&reader->file, listing->node->mark,
                        "%s has %d components, but %s; name the axis 'component' in 'axes'", listing->output_what,
                        (int)listing->count,
                        axes_given     ? "'axes' names none of the axes 'component'"
                        : last == NULL ? "it is a single number"
                                       : "its last dimension varies");
    }
    return yaml_error(&reader->file, listing->node->mark,
                      "%s has %d components, but its last dimension has %lld elements; name each of them, or say in "
                      "'axes' which axis is the 'component'",
                      listing->output_what, (int)listing->count, (long long)last->max);
  }
  const struct dim_range *dim = &output->dims[output->component_axis];
  if (dim->min != dim->max || dim->max != listing->count) {
    return yaml_error(&reader->file, listing->node->mark,
                      "%s has %d components, but dimension %d of its shape, the component axis, has %lld",
                      listing->output_what, (int)listing->count, (int)output->component_axis, (long long)dim->max);
  }
  return status_ok();
}

/* The output's steps first, then the entry's own. */
static assay_status join_decode(struct reader *reader, struct listing *listing, const struct decode_rows *whole) {
  for (int32_t e = 0; e < listing->node->count; e++) {
    const struct decode_rows *own = &listing->decode[e];
    for (int32_t i = 0; i < own->count; i++) {
      struct contract_component *component = &listing->components[listing->first[e] + i];
      component->n_decode = whole->n_steps + own->n_steps;
      if (component->n_decode == 0) {
        continue;
      }
      struct decode_step *steps;
      ARENA_NEW(reader->arena, steps, component->n_decode);
      for (int32_t s = 0; s < whole->n_steps; s++) {
        steps[s] = whole->steps[listing->first[e] + i][s];
      }
      for (int32_t s = 0; s < own->n_steps; s++) {
        steps[whole->n_steps + s] = own->steps[i][s];
      }
      component->decode = steps;
      int32_t cumulative = 0;
      for (int32_t s = 0; s < component->n_decode; s++) {
        cumulative += steps[s].cumulative;
      }
      if (cumulative > 1) {
        return yaml_error(&reader->file, component->mark,
                          "the decoding of '%s' adds cumulatively %d times; it may once", component->name,
                          (int)cumulative);
      }
    }
  }
  return status_ok();
}

/* unit, raw_unit and tolerance that stand at the output. */
static assay_status read_defaults(struct reader *reader, struct listing *listing) {
  const struct yaml *node;
  char what[WHAT_SIZE];
  if ((node = yaml_get(listing->output, "unit")) != NULL) {
    what_format(what, "'unit' of %s", listing->output_what);
    TRY(read_text(reader, node, what, &listing->defaults.unit));
  }
  if ((node = yaml_get(listing->output, "raw_unit")) != NULL) {
    what_format(what, "'raw_unit' of %s", listing->output_what);
    TRY(read_text(reader, node, what, &listing->defaults.raw_unit));
  }
  if ((node = yaml_get(listing->output, "tolerance")) != NULL) {
    what_format(what, "'tolerance' of %s", listing->output_what);
    TRY(read_tolerance(reader, node, what, &listing->defaults.tolerance));
  }
  return status_ok();
}

assay_status read_components(struct reader *reader, const struct yaml *node, const struct yaml *output,
                             struct contract_output *out) {
  char output_what[WHAT_SIZE], what[WHAT_SIZE];
  what_format(output_what, "output '%.80s'", out->name);
  what_format(what, "'components' of %s", output_what);
  TRY(yaml_expect(&reader->file, node, YAML_SEQUENCE, what));
  if (node->count == 0) {
    return yaml_error(&reader->file, node->mark, "%s is empty", what);
  }
  struct listing listing = {.node = node, .output = output, .output_what = output_what, .target = out};
  ARENA_NEW(reader->arena, listing.first, node->count + 1);
  ARENA_NEW(reader->arena, listing.decode, node->count);
  TRY(read_defaults(reader, &listing));
  TRY(read_entries(reader, &listing));
  TRY(find_axis(reader, &listing, out));
  ARENA_NEW(reader->arena, listing.components, listing.count);
  for (int32_t i = 0; i < listing.count; i++) {
    listing.components[i].limit_min = listing.components[i].limit_max = listing.components[i].limit_rate = (double)NAN;
  }
  const struct yaml *limits = yaml_get(output, "limits");
  ARENA_NEW(reader->arena, out->groups, node->count);
  TRY(read_entries(reader, &listing));
  TRY(check_unique(reader, &listing));
  if (limits != NULL) {
    what_format(what, "'limits' of %s", output_what);
    struct contract_component *defaults;
    ARENA_NEW(reader->arena, defaults, listing.count);
    memcpy(defaults, listing.components, (size_t)listing.count * sizeof *defaults);
    TRY(read_limits(reader, limits, what, listing.count, defaults));
    for (int32_t i = 0; i < listing.count; i++) {
      listing.components[i] = listing.components[i].has_limits ? listing.components[i] : defaults[i];
    }
  }
  struct decode_rows whole = {0};
  what_format(what, "'decode' of %s", output_what);
  TRY(read_decode(reader, yaml_get(output, "decode"), what, out, listing.count, &whole));
  TRY(join_decode(reader, &listing, &whole));
  out->components = listing.components;
  out->n_components = listing.count;
  return status_ok();
}
