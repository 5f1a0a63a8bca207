/* Parts of verdict.json that more than one section writes: see json_parts.h. */
#include "report/json_parts.h"

void json_index(struct json *json, const char *key, int64_t index) {
  if (index < 0) {
    json_none(json, key);
  } else {
    json_int(json, key, index);
  }
}

static void put_reason(struct json *json, const struct gate_reason *reason) {
  json_open(json, NULL, '{', false);
  json_text(json, "code", assay_code_name(reason->code));
  json_text(json, "sentence", reason->sentence);
  json_text(json, "output", reason->output);
  json_text(json, "component", reason->component);
  json_text(json, "case", reason->case_id);
  json_index(json, "step", reason->step);
  json_index(json, "element", reason->element);
  bool placed = reason->element >= 0;
  if (placed) {
    json_number(json, "expected", reason->expected.value, reason->expected.single);
    json_number(json, "actual", reason->actual.value, reason->actual.single);
  } else {
    json_none(json, "expected");
    json_none(json, "actual");
  }
  json_number_or_null(json, "measured", reason->measured, false);
  json_text(json, "unit", reason->unit);
  json_number_or_null(json, "tolerance", reason->tolerance, false);
  json_close(json, '}');
}

void json_reasons(struct json *json, const struct gate_reasons *reasons) {
  json_open(json, "reasons", '[', false);
  for (int32_t i = 0; i < reasons->count; i++) {
    put_reason(json, &reasons->items[i]);
  }
  json_close(json, ']');
}

void json_figure(struct json *json, const char *key, int64_t n, double value) {
  if (n == 0) {
    json_none(json, key);
  } else {
    json_number(json, key, value, false);
  }
}

static void put_worst(struct json *json, const struct gate_result *result, const struct drift *drift, bool single) {
  if (!drift->has_worst) {
    json_none(json, "worst");
    return;
  }
  json_open(json, "worst", '{', true);
  json_text(json, "case", result->case_ids[drift->worst.case_index]);
  json_index(json, "step", drift->worst.step);
  json_int(json, "element", drift->worst.element);
  json_number(json, "expected", drift->worst.expected, single);
  json_number(json, "actual", drift->worst.actual, single);
  json_close(json, '}');
}

void json_drift(struct json *json, const struct gate_result *result, const struct drift *drift, bool single) {
  json_int(json, "n", drift->n);
  json_figure(json, "max", drift->n, drift->max);
  json_figure(json, "mean", drift->n, drift->mean);
  json_figure(json, "rms", drift->n, drift->rms);
  json_figure(json, "p50", drift->n, drift->p50);
  json_figure(json, "p95", drift->n, drift->p95);
  json_figure(json, "p99", drift->n, drift->p99);
  json_int(json, "sign_flips", drift->sign_flips);
  json_int(json, "saturated", drift->saturated);
  json_int(json, "nan", drift->nan);
  json_int(json, "inf", drift->inf);
  json_open(json, "relative", '{', true);
  json_number_or_null(json, "floor", drift->relative_floor, false);
  json_int(json, "n", drift->n_relative);
  json_figure(json, "max", drift->n_relative, drift->relative_max);
  json_close(json, '}');
  put_worst(json, result, drift, single);
}
