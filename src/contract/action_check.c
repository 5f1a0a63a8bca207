/* Whether an action may be sent to the robot: shape, finiteness, limits and rates of every step that will
 * be executed, before the first of them is. Pure; nothing is ever clamped into range here, and a NaN
 * refuses the whole. */
#include <math.h>

#include "contract/apply.h"

/* Elements of an output, walked in the order of the tensor. */
struct walk {
  const struct contract *contract;
  const struct contract_output *output;
  const assay_tensor *raw;
  const struct fed_inputs *inputs;
  int64_t count;
};

/* Steps that are executed; the rest of a chunk is thrown away. */
static bool is_executed(const struct walk *walk, int64_t step) {
  return walk->output->execute_steps == 0 || step < walk->output->execute_steps;
}

static assay_status refuse(const struct walk *walk, assay_code code, int64_t i, const char *format, ...)
    PRINTF_LIKE(4, 5);
static assay_status refuse(const struct walk *walk, assay_code code, int64_t i, const char *format, ...) {
  int64_t step;
  int32_t component = contract_component_of(walk->output, walk->raw, i, &step);
  struct text where = {0}, sentence = {0};
  text_format(&where, "output '%s'", walk->output->name);
  text_format(&sentence, "'%s' at step %lld ", walk->output->components[component].name, (long long)step);
  va_list arguments;
  va_start(arguments, format);
  text_format_va(&sentence, format, arguments);
  va_end(arguments);
  assay_status status = status_make(code, text_string(&where), "%s", text_string(&sentence));
  text_free(&where);
  text_free(&sentence);
  return status;
}

static assay_status check_shape(const struct walk *walk) {
  const struct contract_output *output = walk->output;
  bool fits = walk->raw->rank == output->rank && walk->raw->dtype == output->dtype && walk->count > 0;
  for (int32_t i = 0; fits && i < output->rank; i++) {
    fits = walk->raw->dims[i] >= output->dims[i].min && walk->raw->dims[i] <= output->dims[i].max;
  }
  if (fits) {
    return status_ok();
  }
  struct text found = {0}, expected = {0}, where = {0};
  tensor_describe(walk->raw, &found);
  contract_describe_dims(output->dims, output->rank, &expected);
  text_format(&where, "output '%s'", output->name);
  assay_status status =
      status_make(ASSAY_ACTION_SHAPE, text_string(&where), "the action is %s, but the contract says %s%s",
                  text_string(&found), assay_dtype_name(output->dtype), text_string(&expected));
  text_free(&found);
  text_free(&expected);
  text_free(&where);
  return status;
}

/* Every executed element, before any other check: one NaN makes the rest worthless. */
static assay_status check_finite(const struct walk *walk) {
  for (int64_t i = 0; i < walk->count; i++) {
    int64_t step;
    int32_t component = contract_component_of(walk->output, walk->raw, i, &step);
    double value = tensor_get(walk->raw, i);
    bool bad = isnan(value) || (isinf(value) && !walk->output->components[component].allow_inf);
    if (bad && is_executed(walk, step)) {
      return refuse(walk, ASSAY_ACTION_NONFINITE, i, "is %s", isnan(value) ? "NaN" : "infinite");
    }
  }
  return status_ok();
}

/* The value one step earlier, decoded: of this chunk, or the last one sent. NAN when there is none. */
static double before(const struct walk *walk, int64_t i, int32_t component, int64_t step, const double *last) {
  if (step == 0) {
    return last != NULL ? last[component] : (double)NAN;
  }
  int64_t stride = 1;
  for (int32_t d = walk->output->horizon_axis + 1; d < walk->raw->rank; d++) {
    stride *= walk->raw->dims[d];
  }
  return decode_value(&walk->output->components[component], tensor_get(walk->raw, i - stride), walk->inputs);
}

static assay_status check_rate(const struct walk *walk, int64_t i, const struct contract_component *component,
                               double value, double earlier) {
  if (isnan(component->limit_rate) || isnan(earlier)) {
    return status_ok();
  }
  if (walk->contract->period_ms == 0) {
    return refuse(walk, ASSAY_ACTION_RATE, i,
                  "has a rate limit, but the contract gives no timing.period_ms to hold it against");
  }
  double rate = fabs(value - earlier) / (walk->contract->period_ms / 1000);
  if (rate <= component->limit_rate) {
    return status_ok();
  }
  return refuse(walk, ASSAY_ACTION_RATE, i, "moves from %.9g to %.9g %s, %.9g per second; the limit is %.9g", earlier,
                value, component->unit, rate, component->limit_rate);
}

static assay_status check_element(const struct walk *walk, int64_t i, const double *last) {
  int64_t step;
  int32_t c = contract_component_of(walk->output, walk->raw, i, &step);
  const struct contract_component *component = &walk->output->components[c];
  if (!component->has_limits || !is_executed(walk, step)) {
    return status_ok();
  }
  double value = decode_value(component, tensor_get(walk->raw, i), walk->inputs);
  if (value < component->limit_min || value > component->limit_max) { /* a limit that is not given is NAN */
    return refuse(walk, ASSAY_ACTION_LIMIT, i, "is %.9g %s, outside the limits [%.9g, %.9g]", value, component->unit,
                  component->limit_min, component->limit_max);
  }
  return check_rate(walk, i, component, value, before(walk, i, c, step, last));
}

assay_status contract_check_action(const struct contract *contract, const struct contract_output *output,
                                   const assay_tensor *raw, const struct fed_inputs *inputs, const double *last) {
  struct walk walk = {.contract = contract, .output = output, .raw = raw, .inputs = inputs, .count = tensor_count(raw)};
  TRY(check_shape(&walk));
  TRY(check_finite(&walk));
  for (int64_t i = 0; i < walk.count; i++) {
    TRY(check_element(&walk, i, last));
  }
  return status_ok();
}
