/* What a term is made from, where no sensor measures it: an output of the policy, or a clock. Which element of the
 * output is which element of the term is settled here, by name; a dynamic shape, or a chunk without a step, is refused.
 */
#include <math.h>
#include <string.h>

#include "contract/apply.h"
#include "contract/contract_terms.h"

enum { LAG_MAX = 4096 };

/* "<name>[0]", "<name>[1]", ... */
assay_status number_elements(struct reader *reader, const char *name, int32_t count, const char *const **out) {
  const char **names;
  ARENA_NEW(reader->arena, names, count);
  for (int32_t i = 0; i < count; i++) {
    names[i] = arena_format(reader->arena, "%s[%d]", name, (int)i);
    if (names[i] == NULL) {
      return status_no_memory(strlen(name));
    }
  }
  *out = names;
  return status_ok();
}

/* --- from: output ---------------------------------------------------------------------- */

struct from_member {
  const char *output;
  const struct yaml *clock, *initial, *elements, *step_node;
  int64_t lag, step;
  bool has_lag, decoded;
};

static assay_status from_space(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  static const char *const words[] = {"raw", "decoded"};
  int32_t which = 0;
  TRY(yaml_choice(&reader->file, node, what, words, 2, &which));
  ((struct from_member *)member)->decoded = which == 1;
  return status_ok();
}

static assay_status from_lag(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  ((struct from_member *)member)->has_lag = true;
  return yaml_int(&reader->file, node, what, 0, LAG_MAX, &((struct from_member *)member)->lag);
}

static assay_status from_step(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  ((struct from_member *)member)->step_node = node;
  return read_whole(reader, node, what, &((struct from_member *)member)->step);
}

static const struct field from_fields[] = {
    {"output", read_text, offsetof(struct from_member, output), FIELD_OPTIONAL},
    {"clock", keep_node, offsetof(struct from_member, clock), FIELD_OPTIONAL},
    {"space", from_space, 0, FIELD_OPTIONAL},
    {"lag", from_lag, 0, FIELD_OPTIONAL},
    {"step", from_step, 0, FIELD_OPTIONAL},
    {"initial", keep_node, offsetof(struct from_member, initial), FIELD_OPTIONAL},
    {"elements", keep_node, offsetof(struct from_member, elements), FIELD_OPTIONAL},
};

/* The elements of an output that a term can be: all of them, or those of one step of a chunk. */
struct reachable {
  const struct contract_output *output;
  int32_t count;
  int64_t *at;              /* flat index of each */
  const char *const *names; /* components' names; NULL where elements are no components */
};

static assay_status output_shape(struct reader *reader, const struct yaml *node, const char *what,
                                 const struct contract_output *output, int64_t *dims, int64_t *total) {
  for (int32_t i = 0; i < output->rank; i++) {
    if (output->dims[i].min != output->dims[i].max) {
      return yaml_error(&reader->file, node->mark, "%s: output '%s' has a dynamic dimension, which no term can have",
                        what, output->name);
    }
    dims[i] = output->dims[i].min;
  }
  if (!shape_count(dims, output->rank, total) || *total < 1 || *total > OBSERVATION_MAX) {
    return yaml_error(&reader->file, node->mark, "%s: output '%s' has more elements than a term may have (%d)", what,
                      output->name, (int)OBSERVATION_MAX);
  }
  return status_ok();
}

/* Which step of a chunk is fed back; -1 where the output is no chunk. */
static assay_status chunk_step(struct reader *reader, const struct yaml *node, const char *what,
                               const struct from_member *from, const struct contract_output *output, int64_t *step) {
  int64_t horizon = output->horizon_axis >= 0 ? output->dims[output->horizon_axis].max : 1;
  *step = output->horizon_axis >= 0 ? from->step : -1;
  if (from->step_node == NULL && horizon > 1) {
    return yaml_error(&reader->file, node->mark,
                      "%s: output '%s' is a chunk of %lld steps; say which one is fed back, such as step: 0", what,
                      output->name, (long long)horizon);
  }
  if (from->step_node != NULL && from->step >= horizon) {
    return yaml_error(&reader->file, from->step_node->mark, "%s: 'step' is %lld, but output '%s' has %lld step%s", what,
                      (long long)from->step, output->name, (long long)horizon, horizon == 1 ? "" : "s, from 0");
  }
  return status_ok();
}

static assay_status reach_output(struct reader *reader, const struct yaml *node, const char *what,
                                 const struct from_member *from, const struct contract_output *output,
                                 struct reachable *out) {
  int64_t dims[ASSAY_RANK_MAX], total = 0, step = -1;
  TRY(output_shape(reader, node, what, output, dims, &total));
  TRY(chunk_step(reader, node, what, from, output, &step));
  assay_tensor shape = {.dtype = output->dtype, .rank = output->rank};
  memcpy(shape.dims, dims, sizeof shape.dims);
  ARENA_NEW(reader->arena, out->at, total);
  out->output = output;
  bool are_components = true;
  for (int64_t i = 0; i < total; i++) {
    int64_t along;
    int32_t component = contract_component_of(output, &shape, i, &along);
    if (step < 0 || along == step) {
      are_components = are_components && component == out->count;
      out->at[out->count++] = i;
    }
  }
  if (are_components && out->count == output->n_components) {
    const char **names;
    ARENA_NEW(reader->arena, names, out->count);
    for (int32_t i = 0; i < out->count; i++) {
      names[i] = output->components[i].name;
    }
    out->names = names;
  }
  return status_ok();
}

/* The output's own elements, or those that the term names, in its order. */
static assay_status pick_elements(struct reader *reader, const struct yaml *elements, const char *what,
                                  const struct reachable *from, struct contract_term *term) {
  if (elements == NULL) {
    term->picks = from->at;
    term->n_elements = from->count;
    term->elements = from->names;
    return from->names != NULL ? status_ok()
                               : number_elements(reader, from->output->name, from->count, &term->elements);
  }
  char member[WHAT_SIZE];
  what_format(member, "'elements' of %s", what);
  TRY(read_names(reader, elements, member, &term->elements, &term->n_elements));
  if (from->names == NULL) {
    return yaml_error(&reader->file, elements->mark,
                      "%s: output '%s' has %d elements for %d components, so none can be named; leave 'elements' out",
                      what, from->output->name, (int)from->count, (int)from->output->n_components);
  }
  int64_t *picks;
  ARENA_NEW(reader->arena, picks, term->n_elements);
  for (int32_t i = 0; i < term->n_elements; i++) {
    int32_t found = 0;
    while (found < from->count && !text_equal(from->names[found], term->elements[i])) {
      found++;
    }
    if (found == from->count) {
      const char *near = text_nearest(term->elements[i], from->names, (size_t)from->count);
      return yaml_error(&reader->file, elements->mark, "%s names '%.80s', which is no component of output '%s'%s%s%s",
                        member, term->elements[i], from->output->name, near != NULL ? "; did you mean '" : "",
                        near != NULL ? near : "", near != NULL ? "'" : "");
    }
    picks[i] = from->at[found];
  }
  term->picks = picks;
  return status_ok();
}

static assay_status read_initial(struct reader *reader, const struct yaml *node, const char *what,
                                 struct contract_term *term) {
  double *values;
  ARENA_NEW(reader->arena, values, term->n_elements); /* cleared: zeros */
  term->initial = values;
  if (node == NULL || (node->kind == YAML_SCALAR && text_equal(node->text, "zeros"))) {
    return status_ok();
  }
  const double *given = NULL;
  int32_t n = 0;
  TRY(read_numbers(reader, node, what, &given, &n));
  if (node->kind == YAML_SEQUENCE && n != term->n_elements) {
    return yaml_error(&reader->file, node->mark, "%s has %d numbers for %d elements", what, (int)n,
                      (int)term->n_elements);
  }
  for (int32_t i = 0; i < term->n_elements; i++) {
    values[i] = given[node->kind == YAML_SEQUENCE ? i : 0];
  }
  return status_ok();
}

static const struct contract_output *known_output(struct reader *reader, const char *name, const char **near) {
  const struct contract *contract = reader->contract;
  const struct contract_output *found = contract_find_output(contract, name);
  const char **names = found == NULL ? arena_alloc(reader->arena, (size_t)contract->n_outputs, sizeof *names) : NULL;
  for (int32_t i = 0; names != NULL && i < contract->n_outputs; i++) {
    names[i] = contract->outputs[i].name;
  }
  *near = names != NULL ? text_nearest(name, names, (size_t)contract->n_outputs) : NULL;
  return found;
}

static assay_status from_output(struct reader *reader, const struct yaml *node, const char *what,
                                const struct from_member *from, const struct yaml *elements,
                                struct contract_term *term) {
  const char *near = NULL;
  const struct contract_output *output = known_output(reader, from->output, &near);
  if (output == NULL) {
    return yaml_error(&reader->file, node->mark, "%s names the output '%.80s', which 'outputs' does not list%s%s%s",
                      what, from->output, near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
                      near != NULL ? "'" : "");
  }
  if (!from->has_lag) {
    return yaml_error(&reader->file, node->mark,
                      "%s needs the key 'lag': 1 is the answer of the step before, 0 that of an earlier stage", what);
  }
  if (from->lag == 0 && reader->contract->stages == NULL) {
    return yaml_error(&reader->file, node->mark,
                      "%s has lag 0, the answer of an earlier stage in the same step, but the contract has no "
                      "'stages'; the answer of the step before is lag: 1",
                      what);
  }
  struct reachable reachable = {0};
  char initial[WHAT_SIZE];
  TRY(reach_output(reader, node, what, from, output, &reachable));
  term->source = TERM_OUTPUT;
  term->output = output->name;
  term->decoded = from->decoded;
  term->lag = (int32_t)from->lag;
  TRY(pick_elements(reader, elements, what, &reachable, term));
  what_format(initial, "'initial' of %s", what);
  return read_initial(reader, from->initial, initial, term);
}

/* --- from: clock ------------------------------------------------------------------------ */

struct clock_member {
  double period_s, period_steps, start;
  const struct yaml *forms;
};

static assay_status clock_start(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  struct clock_member *clock = member;
  TRY(yaml_double(&reader->file, node, what, true, &clock->start));
  if (!(clock->start >= 0 && clock->start < 1)) {
    return yaml_error(&reader->file, node->mark,
                      "%s is %.9g; it is the share of a turn at the first step, 0 to below 1", what, clock->start);
  }
  return status_ok();
}

static const struct field clock_fields[] = {
    {"period_s", read_positive, offsetof(struct clock_member, period_s), FIELD_OPTIONAL},
    {"period_steps", read_positive, offsetof(struct clock_member, period_steps), FIELD_OPTIONAL},
    {"start", clock_start, 0, FIELD_OPTIONAL},
    {"as", keep_node, offsetof(struct clock_member, forms), FIELD_REQUIRED},
};

static assay_status clock_forms(struct reader *reader, const struct yaml *node, const char *what,
                                const struct yaml *elements, struct contract_term *term) {
  static const char *const words[] = {"sin", "cos", "phase"};
  const struct yaml *items = node->kind == YAML_SEQUENCE ? node->items : node;
  int32_t n = node->kind == YAML_SEQUENCE ? node->count : 1;
  if (n < 1 || n > CLOCK_FORMS_MAX) {
    return yaml_error(&reader->file, node->mark, "%s lists %d forms; it may list 1 to %d of sin, cos and phase", what,
                      (int)n, (int)CLOCK_FORMS_MAX);
  }
  const char **names;
  ARENA_NEW(reader->arena, names, n);
  for (int32_t i = 0; i < n; i++) {
    int32_t which = 0;
    TRY(yaml_choice(&reader->file, &items[i], what, words, 3, &which));
    term->forms[i] = (enum clock_form)which;
    names[i] = words[which];
    for (int32_t before = 0; before < i; before++) {
      if (term->forms[before] == term->forms[i]) {
        return yaml_error(&reader->file, items[i].mark, "%s has '%s' twice", what, words[which]);
      }
    }
  }
  term->n_forms = term->n_elements = n;
  term->elements = names;
  if (elements == NULL) {
    return status_ok();
  }
  char member[WHAT_SIZE];
  int32_t named = 0;
  what_format(member, "'elements' beside %s", what);
  TRY(read_names(reader, elements, member, &term->elements, &named));
  return named == n
             ? status_ok()
             : yaml_error(&reader->file, elements->mark, "%s has %d names for %d forms", member, (int)named, (int)n);
}

/* A phase can be told of a clock that is read twice a turn at least. */
static assay_status check_period(const struct reader *reader, const struct yaml *node, const char *what,
                                 const struct clock_member *clock, double steps) {
  double given = clock->period_s > 0 ? clock->period_s : clock->period_steps;
  if (isnormal(given) && isfinite(steps) && steps >= 2) {
    return status_ok();
  }
  return clock->period_s > 0
             ? yaml_error(
                   &reader->file, node->mark,
                   "%s turns once in %.9g s, which is %.9g steps of %.9g ms (timing.period_ms); a turn must take "
                   "2 steps at least, so that its phase can be told: see which of the two periods is wrong",
                   what, clock->period_s, steps, reader->contract->period_ms)
             : yaml_error(
                   &reader->file, node->mark,
                   "%s turns once in %.9g steps; a turn must take 2 steps at least, so that its phase can be told",
                   what, clock->period_steps);
}

static assay_status from_clock(struct reader *reader, const struct yaml *node, const char *what,
                               const struct yaml *elements, struct contract_term *term) {
  struct clock_member clock = {0};
  char member[WHAT_SIZE];
  TRY(FIELDS_READ(reader, node, clock_fields, what, &clock));
  if ((clock.period_s > 0) == (clock.period_steps > 0)) {
    return yaml_error(&reader->file, node->mark,
                      "%s needs either 'period_s', seconds of one turn, or 'period_steps', steps of the policy", what);
  }
  if (clock.period_s > 0 && !(reader->contract->period_ms > 0)) {
    return yaml_error(
        &reader->file, node->mark,
        "%s gives its period in seconds, but the contract does not say how long a step takes; add timing: "
        "{period_ms: ...}, or give 'period_steps'",
        what);
  }
  term->source = TERM_CLOCK;
  term->period_s = clock.period_s;
  term->period_steps = clock.period_s > 0 ? clock.period_s * 1000.0 / reader->contract->period_ms : clock.period_steps;
  TRY(check_period(reader, node, what, &clock, term->period_steps));
  term->start = clock.start;
  what_format(member, "'as' of %s", what);
  return clock_forms(reader, clock.forms, member, elements, term);
}

assay_status read_from(struct reader *reader, const struct yaml *node, const char *owner, const struct yaml *elements,
                       struct contract_term *term) {
  struct from_member from = {0};
  char what[WHAT_SIZE];
  what_format(what, "'from' of %s", owner);
  TRY(FIELDS_READ(reader, node, from_fields, what, &from));
  if ((from.output != NULL) == (from.clock != NULL)) {
    return yaml_error(&reader->file, node->mark, "%s needs either 'output' or 'clock'", what);
  }
  if (elements != NULL && from.elements != NULL) {
    return yaml_error(&reader->file, from.elements->mark, "%s has 'elements', and %s has them too; say it once", what,
                      owner);
  }
  elements = elements != NULL ? elements : from.elements;
  if (from.output != NULL) {
    return from_output(reader, node, what, &from, elements, term);
  }
  for (int32_t i = 0; i < node->count; i++) {
    if (!text_equal(node->keys[i], "clock") && !text_equal(node->keys[i], "elements")) {
      return yaml_error(&reader->file, node->key_marks[i], "%s has '%s', which goes with 'output', not with 'clock'",
                        what, node->keys[i]);
    }
  }
  what_format(what, "'clock' of %s", owner);
  return from_clock(reader, from.clock, what, elements, term);
}
