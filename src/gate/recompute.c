/* Preprocessing and decoding as the contract says, against what the source recorded. A difference is the
 * contract's, not a rung's: it must never be counted as a rung's drift. */
#include <math.h>
#include <string.h>

#include "contract/apply.h"
#include "core/memory.h"
#include "gate/golden.h"
#include "gate/observation.h"

/* Recorded and recomputed floats may differ by this share of the tensor's largest magnitude: some
 * roundings of fp32, since the source may have computed in another order. Integers must be equal. */
static const double recompute_share = 1e-5;

struct difference {
  double worst, expected, actual, scale;
  int64_t element; /* -1: none */
};

static void differ(struct difference *difference, double expected, double actual, int64_t element) {
  double magnitude = fabs(expected), distance = drift_difference(expected, actual, true);
  if (isfinite(magnitude) && magnitude > difference->scale) {
    difference->scale = magnitude;
  }
  if (difference->element < 0 || isnan(distance) || distance > difference->worst) {
    if (!isnan(difference->worst)) { /* the first NaN is the worst there is */
      difference->worst = distance;
      difference->expected = expected;
      difference->actual = actual;
      difference->element = element;
    }
  }
}

static bool differs(const struct difference *difference, bool exact) {
  double allowed = exact ? 0.0 : difference->scale * recompute_share;
  return difference->element >= 0 && !(difference->worst <= allowed);
}

static assay_status check_preprocess_step(const struct contract_input *input, const struct fed_case *fed,
                                          const assay_tensor *recorded, const assay_tensor *raw, int64_t step,
                                          struct arena *arena, struct gate_reasons *reasons) {
  assay_tensor made = {0}, from = case_step(fed->data, fed->entry, raw, step);
  assay_tensor to = case_step(fed->data, fed->entry, recorded, step);
  assay_status failed = contract_preprocess(input, &from, &made);
  if (!assay_status_ok(failed)) {
    assay_status status = golden_say(arena, reasons, gate_reason_of(ASSAY_PREPROCESS_DRIFT), fed, step,
                                     "case '%s': raw/%s cannot be preprocessed as the contract says: %s",
                                     fed->entry->id, input->raw, assay_status_sentence(failed));
    assay_status_clear(&failed);
    return status;
  }
  if (made.dtype != to.dtype || !shape_equal(&made, &to)) {
    struct text types = {0};
    tensor_describe(&made, &types);
    text_add(&types, ", but inputs/ holds ");
    tensor_describe(&to, &types);
    assay_status status = golden_say(arena, reasons, gate_reason_of(ASSAY_PREPROCESS_DRIFT), fed, step,
                                     "case '%s': preprocessing raw/%s gives %s for '%s'", fed->entry->id, input->raw,
                                     text_string(&types), input->name);
    text_free(&types);
    tensor_free(&made);
    return status;
  }
  struct difference difference = {.element = -1};
  for (int64_t i = 0; i < tensor_count(&to); i++) {
    differ(&difference, tensor_get(&to, i), tensor_get(&made, i), i);
  }
  tensor_free(&made);
  if (!differs(&difference, !dtype_is_float(to.dtype))) {
    return status_ok();
  }
  struct gate_reason reason = gate_reason_of(ASSAY_PREPROCESS_DRIFT);
  reason.component = input->name;
  reason.element = difference.element;
  reason.expected = (struct gate_value){difference.expected, to.dtype == ASSAY_FLOAT32};
  reason.actual = (struct gate_value){difference.actual, to.dtype == ASSAY_FLOAT32};
  reason.measured = difference.worst;
  reason.tolerance = dtype_is_float(to.dtype) ? difference.scale * recompute_share : 0.0;
  reason.unit = input->unit;
  return golden_say(arena, reasons, reason, fed, step,
                    "case '%s': preprocessing raw/%s as the contract says differs from the recorded inputs/%s by up to "
                    "%.6g (element %lld: recorded %.9g, made %.9g)",
                    fed->entry->id, input->raw, input->name, difference.worst, (long long)difference.element,
                    difference.expected, difference.actual);
}

static assay_status check_preprocess(const struct plan *plan, const struct fed_case *fed, struct arena *arena,
                                     struct gate_reasons *reasons) {
  for (int32_t i = 0; i < plan->contract->n_inputs; i++) {
    const struct contract_input *input = &plan->contract->inputs[i];
    const assay_tensor *recorded = case_input(fed->data, input->name), *raw = case_raw(fed->data, input->raw);
    int32_t before = reasons->count;
    raw = input->terms != NULL ? NULL : raw; /* golden_check_observations looks at those */
    for (int64_t step = 0; recorded != NULL && raw != NULL && step < fed->steps && reasons->count == before; step++) {
      TRY(check_preprocess_step(input, fed, recorded, raw, step, arena, reasons));
    }
  }
  return status_ok();
}

/* decoded/<component> of a case against assay's decoding of its recorded outputs. */
static assay_status check_component(const struct plan *plan, const struct fed_case *fed, int32_t c, struct arena *arena,
                                    struct gate_reasons *reasons) {
  const struct plan_output *planned;
  const struct contract_component *component = plan_component(plan, c, &planned);
  const assay_tensor *decoded = case_decoded(fed->data, component->name);
  const assay_tensor *output = case_output(fed->data, planned->output->name);
  if (decoded == NULL || output == NULL || decoded->dtype == ASSAY_STRING) {
    return status_ok();
  }
  struct difference difference = {.element = -1};
  int64_t seen = 0, recorded = tensor_count(decoded);
  for (int64_t step = 0; step < fed->steps; step++) {
    assay_tensor view = case_step(fed->data, fed->entry, output, step);
    int64_t n = tensor_count(&view);
    double *values = memory_alloc((size_t)n + 1, sizeof *values);
    if (values == NULL) {
      return status_no_memory((size_t)n * sizeof *values);
    }
    contract_decode(planned->output, &view, fed_case_measured(fed, step), values);
    for (int64_t i = 0; i < n; i++) {
      int64_t horizon_step;
      if (contract_component_of(planned->output, &view, i, &horizon_step) == c - planned->first_component) {
        if (seen < recorded) {
          differ(&difference, tensor_get(decoded, seen), values[i], seen);
        }
        seen++;
      }
    }
    memory_free(values);
  }
  if (seen != recorded) {
    return golden_say(arena, reasons, gate_reason_of(ASSAY_DECODE_DRIFT), fed, 0,
                      "case '%s' records %lld decoded values of '%s', but its outputs hold %lld", fed->entry->id,
                      (long long)recorded, component->name, (long long)seen);
  }
  if (!differs(&difference, false)) {
    return status_ok();
  }
  return golden_say(arena, reasons, gate_reason_of(ASSAY_DECODE_DRIFT), fed, 0,
                    "case '%s': decoding '%s' as the contract says differs from what the source decoded by up to %.6g "
                    "(element %lld: recorded %.9g, made %.9g)",
                    fed->entry->id, component->name, difference.worst, (long long)difference.element,
                    difference.expected, difference.actual);
}

/* An array decoded/X whose X is no component is not compared with anything, so it is not let pass. */
static assay_status check_decode(const struct plan *plan, const struct fed_case *fed, struct arena *arena,
                                 struct gate_reasons *reasons) {
  for (int32_t d = 0; d < fed->data->n_decoded; d++) {
    bool found = false;
    for (int32_t c = 0; c < plan->n_components && !found; c++) {
      const struct plan_output *planned;
      found = strcmp(plan_component(plan, c, &planned)->name, fed->data->decoded[d].name) == 0;
    }
    if (!found) {
      TRY(golden_say(arena, reasons, gate_reason_of(ASSAY_INVALID_GOLDEN), fed, 0,
                     "case '%s' records decoded/%s, which is no component of the contract", fed->entry->id,
                     fed->data->decoded[d].name));
    }
  }
  for (int32_t c = 0; c < plan->n_components && fed->data->n_decoded > 0; c++) {
    TRY(check_component(plan, fed, c, arena, reasons));
  }
  return status_ok();
}

assay_status golden_check_recomputed(const struct plan *plan, const struct fed_case *fed, struct arena *arena,
                                     struct gate_reasons *reasons) {
  TRY(check_preprocess(plan, fed, arena, reasons));
  TRY(golden_check_observations(plan, fed, arena, reasons));
  return check_decode(plan, fed, arena, reasons);
}
