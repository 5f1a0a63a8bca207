/* From the pairs of a component to its drift: where its values lie, what its limits are, and the rule that drift is
 * measured by. The figures themselves are drift.c's. */
#include <math.h>

#include "gate/measure.h"

double component_factor(const struct contract_component *component) {
  double factor = 1.0;
  for (int32_t i = 0; i < component->n_decode; i++) {
    const struct decode_step *step = &component->decode[i];
    double largest = fabs(step->a);
    for (int32_t h = 0; h < step->n_each; h++) {
      largest = fmax(largest, fabs(step->each[h]));
    }
    factor *= step->kind == DECODE_SCALE ? largest : 1.0;
  }
  return factor;
}

/* One rounding of the tensor's type, relative. */
static double type_epsilon(assay_dtype dtype) {
  switch (dtype) {
    case ASSAY_FLOAT64:
      return 0x1p-52;
    case ASSAY_FLOAT16:
      return 0x1p-10;
    case ASSAY_BFLOAT16:
      return 0x1p-7;
    default:
      return 0x1p-23;
  }
}

static double largest_magnitude(const struct pair_list *pairs) {
  double largest = 0.0;
  for (size_t i = 0; i < pairs->count; i++) {
    double magnitude = fabs(pairs->items[i].expected);
    largest = isfinite(magnitude) && magnitude > largest ? magnitude : largest;
  }
  return largest;
}

/* The values between which a decoded component must lie: its limits, else what its decoding clips to. */
static void saturation_limits(const struct contract_component *component, struct drift_rule *rule) {
  for (int32_t i = 0; i < component->n_decode; i++) {
    const struct decode_step *step = &component->decode[i];
    double low = rule->limit_min, high = rule->limit_max;
    if (step->kind == DECODE_ADD || step->n_each > 0) { /* what is added differs from step to step */
      rule->limit_min = rule->limit_max = NAN;
    } else if (step->kind == DECODE_CLIP) {
      rule->limit_min = step->a;
      rule->limit_max = step->b;
    } else if (step->kind == DECODE_OFFSET) {
      rule->limit_min = low + step->a;
      rule->limit_max = high + step->a;
    } else {
      rule->limit_min = step->a < 0 ? high * step->a : low * step->a;
      rule->limit_max = step->a < 0 ? low * step->a : high * step->a;
    }
  }
  if (component->has_limits) {
    rule->limit_min = isnan(component->limit_min) ? rule->limit_min : component->limit_min;
    rule->limit_max = isnan(component->limit_max) ? rule->limit_max : component->limit_max;
  }
}

/* Relative error is shown where the reference is above a hundredth of its largest magnitude. */
static const double relative_floor_share = 0.01;

/* Rule of a component for drift_measure, in physical or raw space. */
static struct drift_rule measure_rule(const struct contract_output *output, const struct contract_component *component,
                                      const struct tolerance *tolerance, bool raw, const struct pair_list *pairs) {
  double largest = largest_magnitude(pairs), factor = component_factor(component);
  struct drift_rule rule = {.allow_inf = component->allow_inf,
                            .sign_tolerance = tolerance->given ? tolerance->max : NAN,
                            .limit_min = NAN,
                            .limit_max = NAN,
                            .relative_floor = largest > 0 ? largest * relative_floor_share : NAN};
  if (tolerance->given && raw != tolerance->raw && factor > 0) {
    rule.sign_tolerance = raw ? rule.sign_tolerance / factor : rule.sign_tolerance * factor;
  }
  if (!raw && component->compare != COMPARE_DIFFERENCE) { /* neither sign nor limit, and nothing to be relative to */
    rule.sign_tolerance = INFINITY;
    rule.relative_floor = NAN;
  } else if (!raw) {
    saturation_limits(component, &rule);
    double reach =
        fmax(isnan(rule.limit_min) ? 0 : fabs(rule.limit_min), isnan(rule.limit_max) ? 0 : fabs(rule.limit_max));
    rule.limit_slack = reach * type_epsilon(output->dtype);
  }
  return rule;
}

assay_status measure_both(const struct contract_output *output, const struct contract_component *component,
                          const struct tolerance *tolerance, const struct pair_list *raw,
                          const struct pair_list *physical, struct space_drift *out) {
  struct drift_rule raw_rule = measure_rule(output, component, tolerance, true, raw);
  struct drift_rule physical_rule = measure_rule(output, component, tolerance, false, physical);
  TRY(drift_measure(raw->items, raw->count, &raw_rule, &out->raw));
  TRY(drift_measure(physical->items, physical->count, &physical_rule, &out->physical));
  out->raw.saturated = out->physical.saturated;
  return status_ok();
}
