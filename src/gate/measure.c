/* Answers turned into figures: see measure.h. It must never pair values by position across outputs, and
 * never leave out an element that both sides have. */
#include "gate/measure.h"

#include <math.h>
#include <string.h>

#include "contract/apply.h"
#include "contract/compare.h"
#include "contract/executed.h"
#include "core/list.h"
#include "core/memory.h"
#include "gate/detection_list.h"
#include "gate/executed_pairs.h"

static assay_status count_decisions(struct measure *measure) {
  const struct plan *plan = measure->plan;
  int32_t count = 0;
  for (int32_t o = 0; o < plan->n_outputs; o++) {
    count += plan->outputs[o].output->n_decisions + plan->outputs[o].output->n_components;
  }
  ARENA_NEW(&measure->arena, measure->decisions, count + 1);
  for (int32_t o = 0; o < plan->n_outputs; o++) {
    const struct contract_output *output = plan->outputs[o].output;
    for (int32_t c = 0; c < output->n_components; c++) {
      if (output->components[c].has_decision) {
        measure->decisions[measure->n_decisions++] = (struct decision_list){
            .output = &plan->outputs[o], .component = c, .decision = &output->components[c].decision};
      }
    }
    for (int32_t d = 0; d < output->n_decisions; d++) {
      measure->decisions[measure->n_decisions++] =
          (struct decision_list){.output = &plan->outputs[o], .component = -1, .decision = &output->decisions[d]};
    }
  }
  return status_ok();
}

assay_status measure_open(const struct plan *plan, struct measure **out) {
  *out = NULL;
  struct measure *measure = memory_alloc(1, sizeof *measure);
  if (measure == NULL) {
    return status_no_memory(sizeof *measure);
  }
  measure->plan = plan;
  measure->components = arena_alloc(&measure->arena, (size_t)plan->n_components + 1, sizeof *measure->components);
  measure->types = arena_alloc(&measure->arena, (size_t)plan->n_outputs + 1, sizeof *measure->types);
  assay_status status =
      measure->components == NULL || measure->types == NULL ? status_no_memory(0) : count_decisions(measure);
  status = assay_status_ok(status) ? guard_list_open(plan, &measure->arena, &measure->guard) : status;
  if (assay_status_ok(status)) {
    status = detections_open(plan, &measure->arena, &measure->detections, &measure->n_detections);
  }
  if (!assay_status_ok(status)) {
    measure_close(measure);
    return status;
  }
  *out = measure;
  return status;
}

void measure_close(struct measure *measure) {
  if (measure == NULL) {
    return;
  }
  for (int32_t c = 0; measure->components != NULL && c < measure->plan->n_components; c++) {
    struct component_pairs *component = &measure->components[c];
    memory_free(component->raw.items);
    memory_free(component->physical.items);
    memory_free(component->rest_raw.items);
    memory_free(component->rest_physical.items);
  }
  for (int32_t d = 0; d < measure->n_decisions; d++) {
    memory_free(measure->decisions[d].items);
  }
  guard_list_close(&measure->guard);
  detections_close(measure->detections, measure->n_detections);
  arena_free(&measure->arena);
  memory_free(measure);
}

static assay_status push_pair(struct pair_list *list, const struct drift_pair *pair) {
  LIST_ROOM(list->items, list->count, list->capacity);
  list->items[list->count++] = *pair;
  return status_ok();
}

static assay_status push_decision(struct decision_list *list, const struct decision_taken *taken) {
  LIST_ROOM(list->items, list->count, list->capacity);
  list->items[list->count++] = *taken;
  return status_ok();
}

/* --- structure ---------------------------------------------------------------- */

static bool has_reason(const struct gate_reasons *reasons, assay_code code, const char *output) {
  for (int32_t i = 0; i < reasons->count; i++) {
    const struct gate_reason *reason = &reasons->items[i];
    if (reason->code == code && reason->output != NULL && strcmp(reason->output, output) == 0) {
      return true;
    }
  }
  return false;
}

/* One reason per output and code is enough: the first case and step that show it. */
static assay_status add_structure(struct arena *arena, struct gate_reasons *reasons, assay_code code,
                                  const char *output, const struct fed_case *fed, int64_t step, const char *format, ...)
    PRINTF_LIKE(7, 8);
static assay_status add_structure(struct arena *arena, struct gate_reasons *reasons, assay_code code,
                                  const char *output, const struct fed_case *fed, int64_t step, const char *format,
                                  ...) {
  if (has_reason(reasons, code, output)) {
    return status_ok();
  }
  struct gate_reason reason = gate_reason_of(code);
  va_list arguments;
  va_start(arguments, format);
  reason.sentence = arena_format_va(arena, format, arguments);
  va_end(arguments);
  reason.output = arena_string(arena, output);
  reason.case_id = fed->entry->id;
  reason.step = fed->entry->sequence ? step : -1;
  if (reason.sentence == NULL || reason.output == NULL) {
    return status_no_memory(0);
  }
  return gate_reason_add(arena, reasons, &reason);
}

static bool is_comparable(assay_dtype dtype) {
  return dtype != ASSAY_STRING && dtype != ASSAY_COMPLEX64 && dtype != ASSAY_COMPLEX128 && dtype != ASSAY_UNDEFINED;
}

/* Finds what a rung gives beyond the plan, and what it gives twice. */
static assay_status find_extra(struct measure *measure, const struct fed_case *fed, const struct answer *actual,
                               int64_t step, struct arena *arena, struct gate_reasons *reasons) {
  const struct answer_step *given = &actual->step[step];
  for (int32_t i = 0; i < given->n_outputs; i++) {
    const char *name = given->outputs[i].name;
    if (plan_output_find(measure->plan, name) == NULL) {
      TRY(add_structure(arena, reasons, ASSAY_OUTPUT_EXTRA, name, fed, step,
                        "the rung gives an output '%s' that the contract does not name", name));
    }
    for (int32_t j = 0; j < i; j++) {
      if (strcmp(given->outputs[j].name, name) == 0) {
        TRY(add_structure(arena, reasons, ASSAY_OUTPUT_EXTRA, name, fed, step, "the rung gives the output '%s' twice",
                          name));
      }
    }
  }
  return status_ok();
}

/* Does `actual` stand where `expected` does? What differs becomes a reason. */
static assay_status match(const struct fed_case *fed, const char *name, const assay_tensor *expected,
                          const assay_tensor *actual, int64_t step, bool wide, struct arena *arena,
                          struct gate_reasons *reasons, bool *matches) {
  *matches = false;
  if (actual == NULL) {
    return add_structure(arena, reasons, ASSAY_OUTPUT_MISSING, name, fed, step,
                         "the rung gives no output '%s'; outputs are matched by name, never by position", name);
  }
  bool widened = wide && (expected->dtype == ASSAY_FLOAT32 || expected->dtype == ASSAY_FLOAT64) &&
                 (actual->dtype == ASSAY_FLOAT32 || actual->dtype == ASSAY_FLOAT64);
  if (actual->dtype != expected->dtype && !widened) {
    return add_structure(arena, reasons, ASSAY_OUTPUT_DTYPE, name, fed, step,
                         "output '%s' is %s, but the reference's is %s", name, assay_dtype_name(actual->dtype),
                         assay_dtype_name(expected->dtype));
  }
  if (!shape_equal(expected, actual)) {
    struct text shapes = {0};
    shape_describe(actual->dims, actual->rank, &shapes);
    text_add(&shapes, ", but the reference's has ");
    shape_describe(expected->dims, expected->rank, &shapes);
    assay_status status = add_structure(arena, reasons, ASSAY_OUTPUT_SHAPE, name, fed, step, "output '%s' has shape %s",
                                        name, text_string(&shapes));
    text_free(&shapes);
    return status;
  }
  if (!is_comparable(expected->dtype)) {
    return add_structure(arena, reasons, ASSAY_DTYPE_SKIPPED, name, fed, step,
                         "output '%s' is %s, whose values assay does not compare", name,
                         assay_dtype_name(expected->dtype));
  }
  *matches = true;
  return status_ok();
}

/* --- values -------------------------------------------------------------------- */

/* The four readings of one output at one step. */
struct values {
  int64_t n;
  double *raw_expected, *raw_actual, *expected, *actual;
};

/* Integers of 64 bits that differ, but by less than a double can tell, must not become equal. */
static void keep_apart(const assay_tensor *expected, const assay_tensor *actual, struct values *out) {
  bool wide = expected->dtype == ASSAY_INT64 || expected->dtype == ASSAY_UINT64;
  if (!wide || actual->dtype != expected->dtype) {
    return;
  }
  const int64_t *from = expected->data, *to = actual->data;
  for (int64_t i = 0; i < out->n; i++) {
    if (from[i] != to[i] && out->raw_expected[i] == out->raw_actual[i]) {
      out->raw_actual[i] = nextafter(out->raw_actual[i], INFINITY);
      out->actual[i] = nextafter(out->actual[i], INFINITY);
    }
  }
}

static assay_status values_read(const struct contract_output *output, const assay_tensor *expected,
                                const assay_tensor *actual, const struct fed_inputs *measured, struct values *out) {
  out->n = tensor_count(expected);
  double *block = memory_alloc((size_t)out->n + 1, 4 * sizeof *block);
  if (block == NULL) {
    return status_no_memory((size_t)out->n * 4 * sizeof *block);
  }
  out->raw_expected = block;
  out->raw_actual = block + out->n;
  out->expected = block + 2 * out->n;
  out->actual = block + 3 * out->n;
  tensor_to_double(expected, out->raw_expected);
  tensor_to_double(actual, out->raw_actual);
  contract_decode(output, expected, measured, out->expected);
  contract_decode(output, actual, measured, out->actual);
  keep_apart(expected, actual, out);
  return status_ok();
}

static void values_free(struct values *values) { memory_free(values->raw_expected); }

static assay_status push_values(struct measure *measure, const struct plan_output *planned, const assay_tensor *tensor,
                                const struct values *values, int32_t case_index, int32_t step) {
  for (int64_t i = 0; i < values->n; i++) {
    int64_t horizon_step = 0;
    int32_t c = planned->first_component + contract_component_of(planned->output, tensor, i, &horizon_step);
    struct component_pairs *component = &measure->components[c];
    bool executed = executed_as_is(planned->output, step, horizon_step);
    struct drift_pair raw = {values->raw_expected[i], values->raw_actual[i], case_index, step, i};
    double pair[2];
    TRY(push_pair(executed ? &component->raw : &component->rest_raw, &raw));
    if (compare_pair(planned->output, tensor, values->expected, values->actual, i, pair, component->deviation)) {
      struct drift_pair physical = {pair[0], pair[1], case_index, step, i};
      TRY(push_pair(executed ? &component->physical : &component->rest_physical, &physical));
    }
  }
  return status_ok();
}

/* --- decisions ------------------------------------------------------------------ */

static bool same_choice(const int32_t *a, size_t n_a, const int32_t *b, size_t n_b) {
  return n_a == n_b && n_a > 0 && memcmp(a, b, n_a * sizeof *a) == 0;
}

/* One row along the decision's axis: element `first`, then every `stride`. */
static assay_status decide_row(struct decision_list *list, const struct values *values, int64_t first, int64_t stride,
                               size_t n, struct decision_taken taken) {
  double expected[DECISION_ITEMS_MAX], actual[DECISION_ITEMS_MAX];
  int32_t chosen_expected[DECISION_ITEMS_MAX], chosen_actual[DECISION_ITEMS_MAX];
  size_t n_expected = 0, n_actual = 0;
  bool raw = list->decision->raw;
  for (size_t i = 0; i < n && i < DECISION_ITEMS_MAX; i++) {
    expected[i] = (raw ? values->raw_expected : values->expected)[first + (int64_t)i * stride];
    actual[i] = (raw ? values->raw_actual : values->actual)[first + (int64_t)i * stride];
  }
  TRY(decide_among(list->decision, expected, n, chosen_expected, &n_expected, &taken.expected));
  TRY(decide_among(list->decision, actual, n, chosen_actual, &n_actual, &taken.actual));
  taken.element = first;
  taken.flipped = !same_choice(chosen_expected, n_expected, chosen_actual, n_actual);
  return push_decision(list, &taken);
}

/* argmax, topk or order over one axis of the output, row by row. */
static assay_status decide_rows(struct decision_list *list, const assay_tensor *tensor, const struct values *values,
                                int32_t case_index, int32_t step) {
  const struct contract_output *output = list->output->output;
  int32_t axis = list->decision->axis;
  struct decision_taken taken = {.case_index = case_index, .step = step};
  if (axis < 0 || axis >= tensor->rank) {
    return status_make(ASSAY_CONTRACT_INVALID, output->name, "a decision of output '%s' is over axis %d of %d",
                       output->name, (int)list->decision->axis, (int)tensor->rank);
  }
  int64_t stride = 1, n = tensor->dims[axis];
  for (int32_t d = axis + 1; d < tensor->rank; d++) {
    stride *= tensor->dims[d];
  }
  if (axis == output->horizon_axis && output->execute_steps > 0 && n > output->execute_steps) {
    n = output->execute_steps;
  }
  for (int64_t first = 0; first < values->n; first++) {
    int64_t horizon_step = 0;
    bool begins_row = first / stride % tensor->dims[axis] == 0;
    (void)contract_component_of(output, tensor, first, &horizon_step);
    if (begins_row && executed_as_is(output, step, horizon_step)) {
      TRY(decide_row(list, values, first, stride, (size_t)n, taken));
    }
  }
  return status_ok();
}

/* The executed pairs that a threshold looks at. */
static const struct pair_list *threshold_pairs(const struct measure *measure, const struct decision_list *list) {
  const struct component_pairs *component = &measure->components[list->output->first_component + list->component];
  return list->decision->raw ? &component->raw : &component->physical;
}

/* A threshold over all executed values of one case, in time order: pairs from `begin` on. */
static assay_status decide_case(struct decision_list *list, const struct pair_list *pairs, size_t begin) {
  size_t n = pairs->count - begin;
  assay_dtype dtype = list->output->output->dtype;
  if (n == 0) {
    return status_ok();
  }
  double *values = memory_alloc(n, sizeof *values);
  struct decided *expected = memory_alloc(n, sizeof *expected), *actual = memory_alloc(n, sizeof *actual);
  assay_status status =
      values == NULL || expected == NULL || actual == NULL ? status_no_memory(n * sizeof *expected) : status_ok();
  if (assay_status_ok(status)) {
    for (size_t i = 0; i < n; i++) {
      values[i] = pairs->items[begin + i].expected;
    }
    decide_threshold(list->decision, values, n, dtype, expected);
    for (size_t i = 0; i < n; i++) {
      values[i] = pairs->items[begin + i].actual;
    }
    decide_threshold(list->decision, values, n, dtype, actual);
  }
  for (size_t i = 0; i < n && assay_status_ok(status); i++) {
    const struct drift_pair *pair = &pairs->items[begin + i];
    struct decision_taken taken = {pair->case_index, pair->step, pair->element, expected[i], actual[i], false};
    taken.flipped = expected[i].answer < 0 || expected[i].answer != actual[i].answer;
    status = push_decision(list, &taken);
  }
  memory_free(values);
  memory_free(expected);
  memory_free(actual);
  return status;
}

/* --- ensembles --------------------------------------------------------------------- */

static void raise_to(double *figure, double difference) {
  if (isnan(*figure) || difference > *figure) {
    *figure = difference;
  }
}

static double self_difference(double a, double b) {
  if ((isnan(a) && isnan(b)) || a == b) {
    return 0.0;
  }
  double difference = drift_difference(a, b, true);
  return isnan(difference) ? INFINITY : difference;
}

/* What an ensemble executes, element by element. */
struct blended {
  struct measure *measure; /* where pairs go, or NULL: to the figures of noise */
  const struct plan_output *planned;
  const struct fed_case *fed;
  double *raw, *physical;
};

static assay_status noise_blended(void *user, const struct executed_pair *pair) {
  const struct blended *blended = user;
  int32_t c = blended->planned->first_component + pair->component;
  raise_to(&blended->raw[c], self_difference(pair->raw[0], pair->raw[1]));
  if (pair->compared) {
    raise_to(&blended->physical[c], self_difference(pair->physical[0], pair->physical[1]));
  }
  return status_ok();
}

static assay_status push_blended(void *user, const struct executed_pair *pair) {
  const struct blended *blended = user;
  struct component_pairs *to = &blended->measure->components[blended->planned->first_component + pair->component];
  int32_t step = blended->fed->entry->sequence ? (int32_t)pair->step : -1;
  struct drift_pair raw = {pair->raw[0], pair->raw[1], blended->fed->index, step, pair->element};
  struct drift_pair physical = {pair->physical[0], pair->physical[1], blended->fed->index, step, pair->element};
  TRY(push_pair(&to->raw, &raw));
  return pair->compared ? push_pair(&to->physical, &physical) : status_ok();
}

/* --- a case ---------------------------------------------------------------------- */

static assay_status measure_output(struct measure *measure, const struct plan_output *planned,
                                   const struct fed_case *fed, const assay_tensor *expected, const assay_tensor *actual,
                                   int64_t at) {
  struct values values = {0};
  int32_t case_index = fed->index, step = fed->entry->sequence ? (int32_t)at : -1;
  TRY(values_read(planned->output, expected, actual, fed_case_measured(fed, at), &values));
  assay_status status = push_values(measure, planned, expected, &values, case_index, step);
  for (int32_t d = 0; d < measure->n_decisions && assay_status_ok(status); d++) {
    struct decision_list *list = &measure->decisions[d];
    if (list->output == planned && list->component < 0) {
      status = decide_rows(list, expected, &values, case_index, step);
    }
  }
  values_free(&values);
  return status;
}

static assay_status note_type(struct measure *measure, int32_t o, const assay_tensor *tensor) {
  if (measure->types[o] != NULL) {
    return status_ok();
  }
  struct text type = {0};
  tensor_describe(tensor, &type);
  measure->types[o] = type.failed ? NULL : arena_string(&measure->arena, text_string(&type));
  text_free(&type);
  return measure->types[o] != NULL ? status_ok() : status_no_memory(0);
}

static assay_status measure_step(struct measure *measure, const struct fed_case *fed, const struct answer *expected,
                                 const struct answer *actual, int64_t step, bool wide, struct arena *arena,
                                 struct gate_reasons *reasons) {
  const struct plan *plan = measure->plan;
  TRY(find_extra(measure, fed, actual, step, arena, reasons));
  for (int32_t o = 0; o < plan->n_outputs; o++) {
    const char *name = plan->outputs[o].output->name;
    const assay_tensor *from = answer_find(expected, step, name), *to = answer_find(actual, step, name);
    bool matches;
    if (from == NULL) {
      continue; /* a state that the source did not record; whatever else must be there, the golden check asks for */
    }
    if (to != NULL && detections_rows_fit(plan->outputs[o].output, from, to, wide)) {
      TRY(note_type(measure, o, from)); /* no row stands for another: detections are matched, not elements */
      continue;
    }
    TRY(match(fed, name, from, to, step, wide, arena, reasons, &matches));
    if (matches) {
      TRY(note_type(measure, o, from));
      TRY(measure_output(measure, &plan->outputs[o], fed, from, to, step));
    }
  }
  return detections_take(measure->detections, measure->n_detections, plan, fed, expected, actual, step);
}

assay_status measure_case(struct measure *measure, const struct fed_case *fed, const struct answer *expected,
                          const struct answer *actual, bool wide, struct arena *arena, struct gate_reasons *reasons) {
  size_t *begins = memory_alloc((size_t)measure->n_decisions + 1, sizeof *begins);
  if (begins == NULL) {
    return status_no_memory((size_t)measure->n_decisions * sizeof *begins);
  }
  assay_status status = status_ok();
  for (int32_t d = 0; d < measure->n_decisions; d++) {
    const struct decision_list *list = &measure->decisions[d];
    if (list->component >= 0) {
      begins[d] = threshold_pairs(measure, list)->count;
    }
  }
  for (int64_t step = 0; step < fed->steps && step < actual->steps && assay_status_ok(status); step++) {
    status = measure_step(measure, fed, expected, actual, step, wide, arena, reasons);
  }
  for (int32_t o = 0; o < measure->plan->n_outputs && assay_status_ok(status); o++) {
    const struct plan_output *planned = &measure->plan->outputs[o];
    struct blended blended = {.measure = measure, .planned = planned, .fed = fed};
    status = planned->output->ensemble ? executed_pairs(planned->output, fed, expected, actual, push_blended, &blended)
                                       : status;
  }
  for (int32_t d = 0; d < measure->n_decisions && assay_status_ok(status); d++) {
    struct decision_list *list = &measure->decisions[d];
    if (list->component >= 0) {
      status = decide_case(list, threshold_pairs(measure, list), begins[d]);
    }
  }
  memory_free(begins);
  return assay_status_ok(status) ? guard_list_case(&measure->guard, fed, expected, actual, wide) : status;
}

/* --- noise ------------------------------------------------------------------------ */

static assay_status noise_output(const struct plan_output *planned, const assay_tensor *a, const assay_tensor *b,
                                 const struct fed_inputs *measured, int64_t step, double *raw, double *physical) {
  struct values values = {0};
  TRY(values_read(planned->output, a, b, measured, &values));
  for (int64_t i = 0; i < values.n; i++) {
    int64_t horizon_step = 0;
    int32_t c = planned->first_component + contract_component_of(planned->output, a, i, &horizon_step);
    if (executed_as_is(planned->output, step, horizon_step)) {
      double pair[2];
      raise_to(&raw[c], self_difference(values.raw_expected[i], values.raw_actual[i]));
      if (compare_pair(planned->output, a, values.expected, values.actual, i, pair, NULL)) {
        raise_to(&physical[c], self_difference(pair[0], pair[1]));
      }
    }
  }
  values_free(&values);
  return status_ok();
}

assay_status measure_noise(const struct plan *plan, const struct fed_case *fed, const struct answer *a,
                           const struct answer *b, double *raw, double *physical) {
  for (int64_t step = 0; step < a->steps; step++) {
    for (int32_t o = 0; o < plan->n_outputs; o++) {
      const struct plan_output *planned = &plan->outputs[o];
      const assay_tensor *from = answer_find(a, step, planned->output->name);
      const assay_tensor *to = answer_find(b, step, planned->output->name);
      if (from == NULL) {
        continue;
      }
      if (to != NULL && shape_equal(from, to) && is_comparable(from->dtype) && is_comparable(to->dtype)) {
        TRY(noise_output(planned, from, to, fed_case_measured(fed, step), step, raw, physical));
        continue;
      }
      for (int32_t c = 0; c < planned->output->n_components; c++) {
        raise_to(&raw[planned->first_component + c], INFINITY);
        raise_to(&physical[planned->first_component + c], INFINITY);
      }
    }
  }
  for (int32_t o = 0; o < plan->n_outputs; o++) {
    struct blended blended = {.planned = &plan->outputs[o], .fed = fed, .raw = raw, .physical = physical};
    if (plan->outputs[o].output->ensemble) {
      TRY(executed_pairs(plan->outputs[o].output, fed, a, b, noise_blended, &blended));
    }
  }
  return status_ok();
}
