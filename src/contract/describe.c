/* The statements of a contract: see describe.h. It reads the parsed structs alone, never the text; what a contract
 * leaves out and what it spells out as the default give the same statements. */
#include "contract/describe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/compare.h"
#include "core/hash.h"
#include "core/text.h"
#include "tensor/tensor.h"

/* --- adding ----------------------------------------------------------------------- */

static const char *keep_format(struct statements *out, const char *format, va_list arguments) {
  const char *text = arena_format_va(out->arena, format, arguments);
  out->failed |= text == NULL;
  return text;
}

void describe_root(struct statements *out, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  out->root = keep_format(out, format, arguments);
  out->part = NULL;
  va_end(arguments);
}

void describe_part(struct statements *out, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  out->part = format == NULL ? NULL : keep_format(out, format, arguments);
  va_end(arguments);
}

void describe_add(struct statements *out, const struct statement *statement) {
  if (out->count == out->capacity && !out->failed) {
    int32_t capacity = out->capacity == 0 ? 64 : out->capacity <= INT32_MAX / 2 ? out->capacity * 2 : 0;
    struct statement *items = capacity > 0 ? arena_alloc(out->arena, (size_t)capacity, sizeof *items) : NULL;
    out->failed = items == NULL;
    if (items != NULL && out->count > 0) {
      memcpy(items, out->items, (size_t)out->count * sizeof *items);
    }
    out->items = items != NULL ? items : out->items;
    out->capacity = items != NULL ? capacity : out->capacity;
  }
  if (!out->failed) {
    out->items[out->count++] = *statement;
  }
}

static void add(struct statements *out, const char *what, const char *value, const char *unit, enum statement_kind kind,
                bool judges, double number) {
  const struct statement statement = {.root = out->root,
                                      .part = out->part,
                                      .what = arena_string(out->arena, what),
                                      .value = arena_string(out->arena, value),
                                      .unit = unit != NULL ? arena_string(out->arena, unit) : NULL,
                                      .kind = kind,
                                      .judges = judges,
                                      .number = number};
  out->failed |= statement.what == NULL || statement.value == NULL || (unit != NULL && statement.unit == NULL);
  describe_add(out, &statement);
}

void describe_fact(struct statements *out, bool judges, const char *what, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const char *value = keep_format(out, format, arguments);
  va_end(arguments);
  if (value != NULL) {
    add(out, what, value, NULL, STATEMENT_FACT, judges, NAN);
  }
}

void describe_text(struct statements *out, bool judges, const char *what, const char *value) {
  if (value != NULL) {
    add(out, what, value, NULL, STATEMENT_FACT, judges, NAN);
  }
}

void number_text(char out[NUMBER_SIZE], double value) {
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(out, NUMBER_SIZE, "%.*g", digits, value);
    if (strtod(out, NULL) == value) {
      return;
    }
  }
}

void describe_fact_number(struct statements *out, bool judges, const char *what, double value, const char *unit) {
  char text[NUMBER_SIZE];
  number_text(text, value);
  add(out, what, text, unit, STATEMENT_FACT, judges, NAN);
}

void describe_bound(struct statements *out, enum statement_kind kind, const char *what, double value,
                    const char *unit) {
  char text[NUMBER_SIZE];
  if (isnan(value)) {
    return;
  }
  number_text(text, value);
  add(out, what, isinf(value) ? "all" : text, isinf(value) ? NULL : unit, kind, true, value);
}

assay_status describe_status(const struct statements *out) {
  return out->failed ? status_no_memory((size_t)out->count * sizeof *out->items) : status_ok();
}

/* A ceiling of yes: no is tighter. */
static void describe_permission(struct statements *out, const char *what, bool given) {
  add(out, what, given ? "yes" : "no", NULL, STATEMENT_CEILING, true, given);
}

/* Zero: not given. */
static double given(double value) { return value > 0 ? value : (double)NAN; }

/* --- tensors ---------------------------------------------------------------------- */

static void describe_shape(struct statements *out, assay_dtype dtype, int32_t rank, const struct dim_range *dims) {
  struct text shape = {0};
  text_add_char(&shape, '[');
  for (int32_t i = 0; i < rank; i++) {
    text_format(&shape, "%s%lld", i > 0 ? ", " : "", (long long)dims[i].min);
    if (dims[i].max != dims[i].min) {
      text_format(&shape, " to %lld, mostly %lld", (long long)dims[i].max, (long long)dims[i].opt);
    }
  }
  text_add_char(&shape, ']');
  out->failed |= shape.failed;
  describe_text(out, false, "dtype", assay_dtype_name(dtype));
  describe_text(out, false, "shape", text_string(&shape));
  text_free(&shape);
}

static void describe_input(struct statements *out, const struct contract_input *input) {
  describe_root(out, "input %s", input->name);
  describe_shape(out, input->dtype, input->rank, input->dims);
  describe_text(out, false, "layout", input->layout);
  describe_text(out, false, "color", input->color);
  describe_text(out, false, "unit", input->unit);
  describe_text(out, false, "sensor", strcmp(input->raw, input->name) != 0 ? input->raw : NULL);
  describe_bound(out, STATEMENT_FLOOR, "legal min", input->has_legal ? input->legal_min : (double)NAN, input->unit);
  describe_bound(out, STATEMENT_CEILING, "legal max", input->has_legal ? input->legal_max : (double)NAN, input->unit);
  if (input->has_typical) {
    describe_fact_number(out, false, "typical min", input->typical_min, input->unit);
    describe_fact_number(out, false, "typical max", input->typical_max, input->unit);
  }
  describe_bound(out, STATEMENT_CEILING, "max age", given(input->max_age_ms), "ms");
  describe_bound(out, STATEMENT_CEILING, "frozen after", given(input->frozen_after), "steps");
  if (input->history_max > 0) {
    describe_fact(out, false, "history axis", "%d", (int)input->history_axis);
    describe_bound(out, STATEMENT_CEILING, "history max", input->history_max, NULL);
  }
  if (!input->refuse) {
    describe_fact(out, true, "on invalid", "accept");
  }
  describe_role(out, input);
  describe_preprocess(out, input);
  describe_terms(out, input->terms);
}

static void describe_state(struct statements *out, const struct contract_state *state) {
  describe_root(out, "state %s", state->input);
  describe_text(out, false, "fed from output", state->output);
  describe_text(out, false, "reset", state->reset_episode ? "episode" : "never");
  bool zeros = true;
  for (int64_t i = 0; state->initial != NULL && i < tensor_count(state->initial) && zeros; i++) {
    zeros = tensor_get(state->initial, i) == 0;
  }
  if (zeros) {
    describe_text(out, false, "initial", "zeros");
    return;
  }
  struct hash hash;
  char digest[HASH_TEXT_SIZE];
  hash_begin(&hash);
  hash_add(&hash, state->initial->data, state->initial->bytes);
  hash_end(&hash, digest);
  char first[NUMBER_SIZE];
  number_text(first, tensor_get(state->initial, 0));
  describe_fact(out, false, "initial", "%s at first, %.19s in all", first, digest);
}

/* --- outputs ----------------------------------------------------------------------- */

void describe_tolerance(struct statements *out, const struct tolerance *tolerance, const char *unit,
                        const char *raw_unit) {
  const char *shown = tolerance->raw ? raw_unit : unit;
  if (!tolerance->given) {
    return;
  }
  describe_text(out, true, "tolerance space", tolerance->raw ? "raw" : "physical");
  describe_bound(out, STATEMENT_CEILING, "tolerance max", tolerance->max, shown);
  describe_bound(out, STATEMENT_CEILING, "tolerance mean", tolerance->mean, shown);
  describe_bound(out, STATEMENT_CEILING, "tolerance p99", tolerance->p99, shown);
  describe_bound(out, STATEMENT_CEILING, "tolerance rms", tolerance->rms, shown);
  describe_bound(out, STATEMENT_CEILING, "tolerance sign_flips", (double)tolerance->sign_flips, NULL);
  describe_bound(out, STATEMENT_CEILING, "tolerance saturation", (double)tolerance->saturation, NULL);
}

static void describe_threshold(struct statements *out, const struct decision *decision, const char *unit) {
  describe_fact_number(out, true, "decision threshold", decision->threshold, unit);
  describe_fact(out, true, "decision sides",
                decision->at_or_above ? "at or above: %s; below: %s" : "above: %s; at or below: %s",
                decision->label_positive, decision->label_negative);
  describe_text(out, true, "decision space", decision->raw ? "raw" : "physical");
  if (decision->hysteresis > 0) {
    describe_fact_number(out, true, "decision hysteresis", decision->hysteresis, unit);
  }
  if (decision->consecutive > 1) {
    describe_fact(out, true, "decision consecutive", "%d", (int)decision->consecutive);
  }
}

/* How many decisions of that kind over that axis stand before this one. */
static int32_t alike_before(const struct contract_output *output, int32_t index) {
  int32_t count = 0;
  for (int32_t i = 0; i < index; i++) {
    count += output->decisions[i].kind == output->decisions[index].kind &&
             output->decisions[i].axis == output->decisions[index].axis;
  }
  return count;
}

/* A decision over the whole output is known by its kind and axis: a list of them has no order. */
static void describe_decision(struct statements *out, const struct contract_output *output, int32_t index) {
  const struct decision *decision = &output->decisions[index];
  static const char *const kinds[] = {"threshold", "argmax", "topk", "order"};
  struct text what = {0};
  text_format(&what, "decision %s over axis %d", kinds[decision->kind], (int)decision->axis);
  if (alike_before(output, index) > 0) {
    text_format(&what, " (%d)", (int)alike_before(output, index) + 1);
  }
  out->failed |= what.failed;
  if (decision->kind == DECISION_TOPK) {
    describe_fact(out, true, text_string(&what), "%d", (int)decision->k);
  } else {
    describe_text(out, true, text_string(&what),
                  decision->kind == DECISION_ORDER && decision->ascending ? "ascending"
                  : decision->kind == DECISION_ORDER                      ? "descending"
                                                                          : "yes");
  }
  text_free(&what);
}

static void describe_compare(struct statements *out, const struct contract_component *component) {
  static const char *const kinds[] = {"difference", "angle", "quaternion", "rot6d", "pose"};
  static const char *const forms[] = {"",         " of a quaternion xyzw", " of a quaternion wxyz", " of columns",
                                      " of rows", " of roll, pitch, yaw",  " of axis times angle"};
  const struct contract_group *group = component->group;
  if (group != NULL) {
    describe_fact(out, true, "compare", "%s '%s', number %d%s", kinds[group->kind], group->name,
                  (int)component->in_group, forms[group->form]);
  } else if (component->compare != COMPARE_DIFFERENCE) {
    describe_fact(out, true, "compare", "%s", kinds[component->compare]);
  }
}

static void describe_component(struct statements *out, const struct contract_component *component) {
  const char *unit = component->unit, *raw_unit = component->raw_unit;
  describe_part(out, "component %s", component->name);
  describe_compare(out, component);
  describe_text(out, true, "unit", unit);
  describe_text(out, true, "raw unit", raw_unit);
  describe_decode(out, component);
  describe_tolerance(out, &component->tolerance, unit, raw_unit);
  describe_bound(out, STATEMENT_FLOOR, "limit min", component->limit_min, unit);
  describe_bound(out, STATEMENT_CEILING, "limit max", component->limit_max, unit);
  describe_bound(out, STATEMENT_CEILING, "limit rate", component->limit_rate, unit);
  if (component->has_pd) {
    describe_fact_number(out, false, "pd kp", component->kp, NULL);
    describe_fact_number(out, false, "pd kd", component->kd, NULL);
  }
  if (component->has_decision) {
    describe_threshold(out, &component->decision, component->decision.raw ? raw_unit : unit);
  }
  describe_permission(out, "allow_inf", component->allow_inf);
}

static void describe_names(struct statements *out, const struct contract_output *output) {
  struct text names = {0};
  for (int32_t i = 0; i < output->n_components; i++) {
    text_format(&names, "%s%s", i > 0 ? ", " : "", output->components[i].name);
  }
  out->failed |= names.failed;
  add(out, "order of components", text_string(&names), NULL, STATEMENT_ORDER, true, NAN);
  text_free(&names);
}

static void describe_hardware(struct statements *out, const struct contract_output *output) {
  struct text names = {0};
  for (int32_t k = 0; output->hardware_order != NULL && k < output->n_components; k++) {
    text_format(&names, "%s%s", k > 0 ? ", " : "", output->components[output->hardware_order[k]].name);
  }
  out->failed |= names.failed;
  describe_text(out, true, "hardware order", output->hardware_order != NULL ? text_string(&names) : NULL);
  text_free(&names);
}

/* Only these two axes mean something; the names of the others are for readers. */
static void describe_axes(struct statements *out, const struct contract_output *output) {
  if (output->component_axis >= 0 && output->n_components > 1) {
    describe_fact(out, false, "axis of the components", "%d", (int)output->component_axis);
  }
  if (output->horizon_axis >= 0) {
    describe_fact(out, false, "axis of the horizon", "%d", (int)output->horizon_axis);
  }
}

static void describe_output(struct statements *out, const struct contract_output *output) {
  describe_root(out, "output %s", output->name);
  describe_shape(out, output->dtype, output->rank, output->dims);
  describe_axes(out, output);
  describe_bound(out, STATEMENT_CEILING, "max age", given(output->max_age_ms), "ms");
  if (output->horizon_axis >= 0) {
    describe_bound(out, STATEMENT_FLOOR, "executed steps",
                   output->execute_steps > 0 ? (double)output->execute_steps : (double)INFINITY, NULL);
  }
  if (output->queue > 0) {
    describe_fact(out, true, "executed as", "a queue of %lld", (long long)output->queue);
  } else if (output->ensemble) {
    describe_fact(out, true, "executed as", "an ensemble with m = %.17g", output->ensemble_m);
  }
  for (int32_t i = 0; i < output->n_decisions; i++) {
    describe_decision(out, output, i);
  }
  describe_detections(out, output);
  describe_names(out, output);
  describe_hardware(out, output);
  for (int32_t i = 0; i < output->n_components; i++) {
    describe_component(out, &output->components[i]);
  }
}

/* --- the whole ------------------------------------------------------------------------ */

const char *describe_path(const char *path) {
  while (path[0] == '.' && path[1] == '/') {
    path += 2 + strspn(path + 2, "/");
  }
  return path;
}

static void describe_files(struct statements *out, const struct contract *contract) {
  for (int32_t i = 0; i < contract->n_files; i++) {
    if (contract->files[i].provenance != NULL) {
      describe_root(out, "statistics file %s", describe_path(contract->files[i].path));
      describe_text(out, false, "provenance", contract->files[i].provenance);
    }
  }
}

assay_status contract_describe(const struct contract *contract, struct statements *out) {
  describe_root(out, "policy");
  describe_text(out, false, "name", contract->policy);
  describe_text(out, false, "model", contract->model != NULL ? describe_path(contract->model) : NULL);
  if (contract->stages != NULL) {
    describe_stages(out, contract->stages);
  }
  for (int32_t i = 0; i < contract->n_inputs; i++) {
    describe_input(out, &contract->inputs[i]);
  }
  for (int32_t i = 0; i < contract->n_states; i++) {
    describe_state(out, &contract->states[i]);
  }
  for (int32_t i = 0; i < contract->n_outputs; i++) {
    describe_output(out, &contract->outputs[i]);
  }
  describe_root(out, "timing");
  if (contract->period_ms > 0) {
    describe_fact_number(out, true, "period", contract->period_ms, "ms");
  }
  describe_bound(out, STATEMENT_CEILING, "p99", given(contract->p99_ms), "ms");
  describe_bound(out, STATEMENT_CEILING, "deadline misses",
                 contract->deadline_misses >= 0 ? (double)contract->deadline_misses : (double)NAN, NULL);
  describe_checks(out, contract);
  describe_root(out, "budget");
  describe_bound(out, STATEMENT_CEILING, "ram", given(contract->budget_ram_mb), "MB");
  describe_bound(out, STATEMENT_CEILING, "engine", given(contract->budget_engine_mb), "MB");
  describe_files(out, contract);
  return describe_status(out);
}
