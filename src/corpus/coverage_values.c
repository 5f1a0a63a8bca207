/* Ranges, constants and pairs that agree, for inputs and for the components of outputs. A value that is not
 * finite is counted, and tells nothing apart. */
#include <math.h>
#include <string.h>

#include "contract/apply.h"
#include "corpus/coverage_watch.h"

static struct coverage_range range_empty(void) { return (struct coverage_range){0, 0, 0, (double)NAN, (double)NAN}; }

static void range_see(struct coverage_range *range, double value) {
  range->n++;
  if (isnan(value)) {
    range->nan++;
  } else if (isinf(value)) {
    range->inf++;
  } else {
    range->min = value < range->min || isnan(range->min) ? value : range->min;
    range->max = value > range->max || isnan(range->max) ? value : range->max;
  }
}

static assay_status pair_watch_begin(struct pair_watch *watch, struct arena *arena, int64_t n) {
  *watch = (struct pair_watch){0, NULL};
  if (n < 2 || n > COVERAGE_ELEMENTS_MAX) {
    return status_ok();
  }
  watch->n = (int32_t)n;
  ARENA_NEW(arena, watch->largest, n * n);
  return status_ok();
}

/* One look at all of them, `stride` apart. */
static void pair_watch_see(struct pair_watch *watch, const double *values, int64_t stride) {
  for (int32_t a = 0; a < watch->n; a++) {
    double *row = watch->largest + (size_t)a * (size_t)watch->n;
    for (int32_t b = a + 1; b < watch->n; b++) {
      double difference = fabs(values[a * stride] - values[b * stride]);
      if (!(difference <= row[b])) { /* NaN: no difference that anyone may rely on to be small */
        row[b] = isnan(difference) ? (double)INFINITY : difference;
      }
    }
  }
}

static bool has_values(assay_dtype dtype) {
  return dtype != ASSAY_STRING && dtype != ASSAY_COMPLEX64 && dtype != ASSAY_COMPLEX128;
}

/* --- inputs ------------------------------------------------------------ */

static assay_status input_watch_begin(struct input_watch *watch, struct arena *arena, const assay_tensor *sample) {
  int64_t n = tensor_count(sample);
  watch->rank = sample->rank;
  memcpy(watch->dims, sample->dims, sizeof watch->dims);
  watch->input.n_elements = n;
  watch->input.seen = range_empty();
  if (!has_values(sample->dtype)) {
    watch->input.n_elements = -1;
    return status_ok();
  }
  ARENA_NEW(arena, watch->first, n);
  ARENA_NEW(arena, watch->values, n);
  ARENA_NEW(arena, watch->varies, n);
  tensor_to_double(sample, watch->first);
  return pair_watch_begin(&watch->pairs, arena, watch->image ? 0 : n);
}

static bool same_shape(const struct input_watch *watch, const assay_tensor *sample) {
  return watch->rank == sample->rank &&
         memcmp(watch->dims, sample->dims, (size_t)sample->rank * sizeof watch->dims[0]) == 0;
}

/* Shapes vary: elements can no longer be followed, values still can. */
static void see_alone(struct input_watch *watch, const assay_tensor *sample) {
  watch->input.n_elements = -1;
  watch->pairs.n = 0;
  int64_t n = has_values(sample->dtype) ? tensor_count(sample) : 0;
  for (int64_t i = 0; i < n; i++) {
    range_see(&watch->input.seen, tensor_get(sample, i));
  }
}

static void count_outside(struct input_watch *watch, double value) {
  struct coverage_input *input = &watch->input;
  input->outside_legal += input->has_legal && !(value >= input->legal_min && value <= input->legal_max);
  input->outside_typical += input->has_typical && !(value >= input->typical_min && value <= input->typical_max);
}

assay_status input_watch_see(struct input_watch *watch, struct arena *arena, const assay_tensor *sample) {
  if (watch->input.n_samples++ == 0) {
    TRY(input_watch_begin(watch, arena, sample));
  }
  if (watch->input.n_elements < 0 || !same_shape(watch, sample) || !has_values(sample->dtype)) {
    see_alone(watch, sample);
    return status_ok();
  }
  tensor_to_double(sample, watch->values);
  for (int64_t i = 0; i < watch->input.n_elements; i++) {
    double value = watch->values[i];
    range_see(&watch->input.seen, value);
    count_outside(watch, value);
    watch->varies[i] = watch->varies[i] || !(value == watch->first[i] || (isnan(value) && isnan(watch->first[i])));
  }
  pair_watch_see(&watch->pairs, watch->values, 1);
  return status_ok();
}

void input_watch_end(struct input_watch *watch) {
  struct coverage_input *input = &watch->input;
  if (input->n_samples == 0) {
    input->seen = range_empty();
  }
  input->n_constant = input->n_elements < 0 ? -1 : 0;
  for (int64_t i = 0; i < input->n_elements; i++) {
    input->n_constant += !watch->varies[i];
  }
  double low = input->has_legal ? input->legal_min : input->typical_min;
  double high = input->has_legal ? input->legal_max : input->typical_max;
  input->share =
      input->has_legal || input->has_typical ? (input->seen.max - input->seen.min) / (high - low) : (double)NAN;
}

/* --- outputs ----------------------------------------------------------- */

static bool fits_contract(const struct contract_output *contract, const assay_tensor *sample) {
  if (contract == NULL) {
    return true;
  }
  if (sample->rank != contract->rank || sample->dtype != contract->dtype) {
    return false;
  }
  for (int32_t d = 0; d < contract->rank; d++) {
    if (sample->dims[d] < contract->dims[d].min || sample->dims[d] > contract->dims[d].max) {
      return false;
    }
  }
  return true;
}

static assay_status name_components(struct output_watch *watch, struct arena *arena) {
  ARENA_NEW(arena, watch->components, watch->n);
  for (int32_t c = 0; c < watch->n; c++) {
    struct coverage_component *component = &watch->components[c];
    *component = (struct coverage_component){
        .output = watch->name, .seen = range_empty(), .limit_min = (double)NAN, .limit_max = (double)NAN};
    if (watch->contract == NULL) {
      component->name = watch->n == 1 ? watch->name : arena_format(arena, "%s[%d]", watch->name, c);
      if (component->name == NULL) {
        return status_no_memory(strlen(watch->name));
      }
      continue;
    }
    const struct contract_component *from = &watch->contract->components[c];
    component->name = from->name;
    component->unit = from->unit;
    component->has_limits = from->has_limits;
    component->limit_min = from->limit_min;
    component->limit_max = from->limit_max;
    bool declared = from->tolerance.given && !from->tolerance.raw && from->tolerance.max >= 0;
    component->tolerance = declared ? from->tolerance.max : 0;
  }
  return status_ok();
}

static assay_status output_watch_begin(struct output_watch *watch, struct arena *arena, const assay_tensor *sample) {
  if (watch->contract != NULL) {
    watch->axis = watch->contract->component_axis;
    watch->n = watch->contract->n_components;
  } else {
    int64_t last = sample->rank > 0 ? sample->dims[sample->rank - 1] : 0;
    bool named = last > 1 && last <= COVERAGE_ELEMENTS_MAX;
    watch->axis = named ? sample->rank - 1 : -1;
    watch->n = named ? (int32_t)last : 1;
  }
  TRY(name_components(watch, arena));
  for (int32_t d = 0; d < watch->n_decisions; d++) {
    TRY(decision_watch_begin(&watch->decisions[d], arena));
  }
  return pair_watch_begin(&watch->pairs, arena, watch->n);
}

/* How a tensor falls into slices along an axis: outer blocks of n * inner elements. */
struct slices {
  int64_t outer, n, inner;
};
static struct slices slices_along(const assay_tensor *tensor, int32_t axis) {
  struct slices slices = {1, axis < 0 ? 1 : tensor->dims[axis], 1};
  for (int32_t d = 0; d < tensor->rank; d++) {
    if (d < axis) {
      slices.outer *= tensor->dims[d];
    } else if (d > axis) {
      slices.inner *= tensor->dims[d];
    }
  }
  return slices;
}

/* What the robot does not execute decides nothing. */
static bool is_executed(const struct output_watch *watch, const assay_tensor *sample, int64_t i) {
  int64_t step = 0;
  if (watch->contract == NULL || watch->contract->execute_steps == 0) {
    return true;
  }
  (void)contract_component_of(watch->contract, sample, i, &step);
  return step < watch->contract->execute_steps;
}

/* Raw values to what the contract makes of them. */
static void fill_values(const struct output_watch *watch, const assay_tensor *sample, const struct fed_inputs *inputs,
                        bool raw, double *values) {
  if (watch->contract == NULL || raw) {
    tensor_to_double(sample, values);
  } else {
    contract_decode(watch->contract, sample, inputs, values);
  }
}

static void see_components(struct output_watch *watch, const assay_tensor *sample) {
  struct slices slices = slices_along(sample, watch->axis);
  for (int64_t o = 0; o < slices.outer; o++) {
    for (int64_t k = 0; k < slices.inner; k++) {
      int64_t at = o * slices.n * slices.inner + k;
      if (!is_executed(watch, sample, at)) {
        continue;
      }
      for (int64_t c = 0; c < slices.n; c++) {
        range_see(&watch->components[c].seen, watch->values[at + c * slices.inner]);
      }
      pair_watch_see(&watch->pairs, watch->values + at, slices.inner);
    }
  }
}

static void see_threshold(struct output_watch *watch, struct decision_watch *decision, const assay_tensor *sample) {
  struct slices slices = slices_along(sample, watch->axis);
  for (int64_t o = 0; o < slices.outer; o++) {
    for (int64_t k = 0; k < slices.inner; k++) {
      int64_t at = (o * slices.n + decision->component) * slices.inner + k;
      if (is_executed(watch, sample, at)) {
        decision_watch_threshold(decision, watch->values[at], sample->dtype);
      }
    }
  }
}

static assay_status see_among(struct output_watch *watch, struct decision_watch *decision, const assay_tensor *sample) {
  struct slices slices = slices_along(sample, decision->seen.decision->axis);
  for (int64_t o = 0; o < slices.outer; o++) {
    for (int64_t k = 0; k < slices.inner; k++) {
      int64_t at = o * slices.n * slices.inner + k;
      if (is_executed(watch, sample, at)) {
        TRY(decision_watch_slice(decision, watch->values + at, slices.n, slices.inner));
      }
    }
  }
  return status_ok();
}

assay_status output_watch_see(struct output_watch *watch, struct arena *arena, const assay_tensor *sample,
                              const struct fed_inputs *inputs, bool *fits) {
  *fits = fits_contract(watch->contract, sample) && has_values(sample->dtype);
  if (!*fits) {
    return status_ok();
  }
  if (watch->components == NULL) {
    TRY(output_watch_begin(watch, arena, sample));
  }
  struct slices slices = slices_along(sample, watch->axis);
  *fits = slices.n == watch->n;
  int64_t count = tensor_count(sample);
  if (!*fits || count == 0) {
    return status_ok();
  }
  if (count > watch->n_values) {
    ARENA_NEW(arena, watch->values, count);
    watch->n_values = count;
  }
  fill_values(watch, sample, inputs, false, watch->values);
  see_components(watch, sample);
  for (int32_t d = 0; d < watch->n_decisions; d++) {
    struct decision_watch *decision = &watch->decisions[d];
    fill_values(watch, sample, inputs, decision->seen.decision->raw, watch->values);
    if (decision->component >= 0) {
      see_threshold(watch, decision, sample);
    } else {
      TRY(see_among(watch, decision, sample));
    }
  }
  return status_ok();
}

void output_watch_end(struct output_watch *watch) {
  for (int32_t c = 0; watch->components != NULL && c < watch->n; c++) {
    struct coverage_component *component = &watch->components[c];
    component->constant = component->seen.max - component->seen.min <= component->tolerance;
  }
}
