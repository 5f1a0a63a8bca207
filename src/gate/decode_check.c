/* Decoding as the contract says against what the source decoded: every difference is named with component, step and
 * element, and with what explains all of it where something does. A difference is the contract's, not a rung's. */
#include "gate/decode_check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "contract/compare.h"
#include "core/memory.h"
#include "gate/golden.h"

/* Recorded and recomputed values may differ by this share of the largest: some roundings of fp32, since the source may
 * have computed in another order. */
static const double decode_share = 1e-5;

int64_t decoded_index(const struct decoded_array *array, const assay_tensor *view, int32_t c, int64_t step, int64_t i,
                      int64_t seen) {
  const struct contract_output *output = array->output;
  int64_t stride = 1, place = 0;
  if (array->component >= 0) {
    return seen;
  }
  for (int32_t d = output->component_axis + 1; d < view->rank; d++) {
    stride *= view->dims[d];
  }
  while (output->hardware_order != NULL && output->hardware_order[place] != c) {
    place++;
  }
  int64_t moved = output->hardware_order != NULL ? i + (place - c) * stride : i;
  return step * tensor_count(view) + moved;
}

assay_status decode_look(const struct decoded_array *array, const struct contract_output *as, int32_t c,
                         int32_t made_of, int64_t shift, struct decode_look *out) {
  const struct fed_case *fed = array->fed;
  const struct contract_component *component = &array->output->components[c];
  int64_t seen = 0, count = tensor_count(array->recorded);
  *out = (struct decode_look){.worst = -1};
  for (int64_t step = 0; step < fed->steps; step++) {
    assay_tensor view = case_step(fed->data, fed->entry, array->raw, step);
    const struct fed_inputs *inputs = fed_case_measured(fed, step + shift);
    for (int64_t i = 0; i < tensor_count(&view); i++) {
      int64_t horizon;
      if (contract_component_of(as, &view, i, &horizon) != made_of) {
        continue;
      }
      /* the element of component c that stands where this one of `made_of` does */
      int64_t stride = 1;
      for (int32_t d = as->component_axis + 1; d < view.rank; d++) {
        stride *= view.dims[d];
      }
      int64_t at = decoded_index(array, &view, c, step, i + (c - made_of) * stride, seen);
      seen++;
      if ((shift != 0 && inputs == NULL) || at >= count) {
        continue;
      }
      double expected = tensor_get(array->recorded, at), actual = contract_decode_at(as, &view, i, inputs);
      double distance = component->compare == COMPARE_ANGLE && isfinite(expected)
                            ? fabs(angle_difference(expected, actual, component->degrees))
                            : drift_difference(expected, actual, true);
      out->n++;
      out->scale = isfinite(expected) ? fmax(out->scale, fabs(expected)) : out->scale;
      if (!isnan(out->worst) && (isnan(distance) || distance > out->worst)) {
        out->worst = distance; /* the first NaN is the worst there is */
        out->expected = expected;
        out->actual = actual;
        out->step = step;
        out->horizon = horizon;
        out->element = i;
      }
    }
  }
  out->seen = seen;
  return status_ok();
}

bool decode_agrees(const struct decode_look *look) { return look->n > 0 && look->worst <= look->scale * decode_share; }

static assay_status say_count(const struct decoded_array *array, const char *name, int64_t made, struct arena *arena,
                              struct gate_reasons *reasons) {
  return golden_say(arena, reasons, gate_reason_of(ASSAY_DECODE_DRIFT), array->fed, 0,
                    "case '%s' records %lld decoded values of '%s', but its outputs hold %lld", array->fed->entry->id,
                    (long long)tensor_count(array->recorded), name, (long long)made);
}

static assay_status check_component(const struct plan *plan, const struct decoded_array *array, int32_t c,
                                    struct arena *arena, struct gate_reasons *reasons) {
  const struct contract_component *component = &array->output->components[c];
  struct decode_look look;
  TRY(decode_look(array, array->output, c, c, 0, &look));
  if (array->component >= 0 && look.seen != tensor_count(array->recorded)) {
    return say_count(array, component->name, look.seen, arena, reasons);
  }
  if (look.n == 0 || decode_agrees(&look)) {
    return status_ok();
  }
  struct text hint = {0};
  char chunk[64] = "";
  if (array->output->horizon_axis >= 0) {
    snprintf(chunk, sizeof chunk, ", step %lld of its chunk", (long long)look.horizon);
  }
  assay_status status = decode_explain(plan, array, c, &hint);
  if (assay_status_ok(status)) {
    struct gate_reason reason = gate_reason_of(ASSAY_DECODE_DRIFT);
    reason.output = array->output->name;
    reason.component = component->name;
    reason.element = look.element;
    reason.expected = (struct gate_value){look.expected, false};
    reason.actual = (struct gate_value){look.actual, false};
    reason.measured = look.worst;
    reason.tolerance = look.scale * decode_share;
    reason.unit = component->unit;
    status = golden_say(arena, reasons, reason, array->fed, look.step,
                        "case '%s': decoding '%s' as the contract says differs from what the source decoded by up to "
                        "%.6g (step %lld%s, element %lld: recorded %.9g, made %.9g)%s%s",
                        array->fed->entry->id, component->name, look.worst, (long long)look.step, chunk,
                        (long long)look.element, look.expected, look.actual, hint.length > 0 ? "; " : "",
                        text_string(&hint));
  }
  text_free(&hint);
  return status;
}

/* decoded/<output>: all components of it, in the order in which the motors receive them. */
static assay_status check_output(const struct plan *plan, struct decoded_array *array, struct arena *arena,
                                 struct gate_reasons *reasons) {
  if (tensor_count(array->recorded) != tensor_count(array->raw)) {
    return say_count(array, array->output->name, tensor_count(array->raw), arena, reasons);
  }
  for (int32_t c = 0; c < array->output->n_components; c++) {
    TRY(check_component(plan, array, c, arena, reasons));
  }
  return status_ok();
}

static assay_status check_array(const struct plan *plan, const struct fed_case *fed, const struct case_array *decoded,
                                struct arena *arena, struct gate_reasons *reasons) {
  bool found = false;
  for (int32_t o = 0; o < plan->n_outputs; o++) {
    const struct contract_output *output = plan->outputs[o].output;
    struct decoded_array array = {
        .fed = fed, .output = output, .recorded = &decoded->tensor, .raw = case_output(fed->data, output->name)};
    bool usable = array.raw != NULL && decoded->tensor.dtype != ASSAY_STRING;
    bool own = false;
    for (int32_t c = 0; c < output->n_components; c++) {
      if (strcmp(output->components[c].name, decoded->name) == 0) {
        own = found = true;
        array.component = c;
        TRY(usable ? check_component(plan, &array, c, arena, reasons) : status_ok());
      }
    }
    if (!own && strcmp(output->name, decoded->name) == 0) {
      found = true;
      array.component = -1;
      TRY(usable ? check_output(plan, &array, arena, reasons) : status_ok());
    }
  }
  return found ? status_ok()
               : golden_say(arena, reasons, gate_reason_of(ASSAY_INVALID_GOLDEN), fed, 0,
                            "case '%s' records decoded/%s, which is neither a component nor an output of the contract",
                            fed->entry->id, decoded->name);
}

assay_status decode_check(const struct plan *plan, const struct fed_case *fed, struct arena *arena,
                          struct gate_reasons *reasons) {
  for (int32_t d = 0; d < fed->data->n_decoded; d++) {
    TRY(check_array(plan, fed, &fed->data->decoded[d], arena, reasons));
  }
  return status_ok();
}
