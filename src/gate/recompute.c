/* Preprocessing and decoding as the contract says, against what the source recorded. A difference is the
 * contract's, not a rung's: it must never be counted as a rung's drift. */
#include <math.h>
#include <string.h>

#include "contract/apply.h"
#include "core/memory.h"
#include "gate/decode_check.h"
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

assay_status golden_check_recomputed(const struct plan *plan, const struct fed_case *fed, struct arena *arena,
                                     struct gate_reasons *reasons) {
  TRY(check_preprocess(plan, fed, arena, reasons));
  TRY(golden_check_observations(plan, fed, arena, reasons));
  return decode_check(plan, fed, arena, reasons);
}
