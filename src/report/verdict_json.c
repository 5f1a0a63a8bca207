/* verdict.json: see report.h and docs/verdict.md. What differs from run to run stands under `environment`
 * alone. */
#include <math.h>
#include <string.h>

#include "report/json_parts.h"
#include "report/report.h"
#include "report/sections.h"

static const char schema[] = "assay-verdict-1";

static void put_space(struct json *json, const struct gate_result *result, const char *key, const struct drift *drift,
                      const char *unit, const struct noise_figures *noise, bool distinguishable, bool single) {
  json_open(json, key, '{', false);
  json_text(json, "unit", unit);
  json_drift(json, result, drift, single);
  if (noise != NULL) {
    json_open(json, "noise", '{', true);
    json_number_or_null(json, "self", noise->self, false);
    json_number_or_null(json, "rounding", noise->rounding, false);
    json_number_or_null(json, "floor", noise->floor, false);
    json_close(json, '}');
    json_bool(json, "distinguishable", distinguishable);
  }
  json_close(json, '}');
}

static void put_tolerance(struct json *json, const struct component_result *component) {
  const struct tolerance *tolerance = &component->tolerance;
  if (!tolerance->given) {
    json_none(json, "tolerance");
    return;
  }
  json_open(json, "tolerance", '{', true);
  json_text(json, "space", tolerance->raw ? "raw" : "physical");
  json_number_or_null(json, "max", tolerance->max, false);
  json_number_or_null(json, "mean", tolerance->mean, false);
  json_number_or_null(json, "p99", tolerance->p99, false);
  json_number_or_null(json, "rms", tolerance->rms, false);
  json_int(json, "sign_flips", tolerance->sign_flips);
  json_int(json, "saturation", tolerance->saturation);
  json_text(json, "reason", component->tolerance_reason);
  json_close(json, '}');
}

static void put_groups(struct json *json, const struct gate_result *result, const struct component_result *component) {
  json_open(json, "groups", '[', false);
  for (int32_t g = 0; g < component->n_groups; g++) {
    const struct drift_group *group = &component->groups[g];
    json_open(json, NULL, '{', true);
    json_text(json, "by", group->by);
    json_text(json, "value", group->value);
    json_open(json, "raw", '{', true);
    json_drift(json, result, &group->drift.raw, component->single);
    json_close(json, '}');
    json_open(json, "physical", '{', true);
    json_drift(json, result, &group->drift.physical, component->single);
    json_close(json, '}');
    json_close(json, '}');
  }
  json_close(json, ']');
}

static void put_torque(struct json *json, const struct torque_result *torque) {
  if (torque->gain == NULL) {
    json_none(json, "torque");
    return;
  }
  json_open(json, "torque", '{', true);
  json_text(json, "gain", torque->gain);
  json_text(json, "unit", torque->unit);
  json_number_or_null(json, "max", torque->max, false);
  json_number_or_null(json, "p99", torque->p99, false);
  json_number_or_null(json, "mean", torque->mean, false);
  json_close(json, '}');
}

static void put_compared(struct json *json, const struct component_result *component) {
  static const char *const kinds[] = {"difference", "angle", "quaternion", "rot6d", "pose"};
  static const char *const parts[] = {"alone", "angle", "distance", "within"};
  json_open(json, "compare", '{', true);
  json_text(json, "kind", kinds[component->compare]);
  json_text(json, "as", parts[component->compared]);
  json_number(json, "deviation_expected", component->deviation_expected, false);
  json_number(json, "deviation_actual", component->deviation_actual, false);
  json_close(json, '}');
}

static void put_component(struct json *json, const struct gate_result *result,
                          const struct component_result *component) {
  bool raw = component->raw_decides;
  json_open(json, NULL, '{', false);
  json_text(json, "output", component->output);
  json_text(json, "name", component->name);
  json_text(json, "verdict", verdict_name(component->verdict));
  json_bool(json, "decides", component->decides);
  json_index(json, "motor", component->motor);
  json_text(json, "space", raw ? "raw" : "physical");
  json_text(json, "unit", raw ? component->raw_unit : component->unit);
  put_tolerance(json, component);
  json_drift(json, result, raw ? &component->drift.raw : &component->drift.physical, component->single);
  json_number_or_null(json, "rung_self_noise", component->rung_self_noise, false);
  put_torque(json, &component->torque);
  put_compared(json, component);
  put_space(json, result, "raw", &component->drift.raw, component->raw_unit, &component->raw_noise,
            component->raw_distinguishable, component->single);
  put_space(json, result, "physical", &component->drift.physical, component->unit, &component->physical_noise,
            component->physical_distinguishable, component->single);
  if (component->rest.raw.n > 0) {
    json_open(json, "not_executed", '{', false);
    put_space(json, result, "raw", &component->rest.raw, component->raw_unit, NULL, false, component->single);
    put_space(json, result, "physical", &component->rest.physical, component->unit, NULL, false, component->single);
    json_close(json, '}');
  } else {
    json_none(json, "not_executed");
  }
  put_groups(json, result, component);
  json_close(json, '}');
}

static void put_outputs(struct json *json, const struct gate_result *result, const struct rung_result *rung) {
  json_open(json, "outputs", '[', false);
  for (int32_t o = 0; o < rung->n_outputs; o++) {
    const struct output_result *output = &rung->outputs[o];
    json_open(json, NULL, '{', false);
    json_text(json, "name", output->name);
    json_text(json, "type", output->type);
    json_open(json, "raw", '{', false);
    json_drift(json, result, &output->raw, output->single);
    json_close(json, '}');
    json_close(json, '}');
  }
  json_close(json, ']');
}

static void put_noise(struct json *json, const struct noise_result *noise, bool with_rounding) {
  json_open(json, "noise", '{', false);
  json_bool(json, "self_measured", noise->self_measured);
  json_text(json, "self", noise->self_how);
  if (with_rounding) {
    json_bool(json, "rounding_measured", noise->rounding_measured);
    json_text(json, "rounding", noise->rounding_how);
  }
  json_int(json, "repeats", noise->repeats);
  json_int(json, "sessions", noise->sessions);
  json_int(json, "processes", noise->processes);
  json_int(json, "thread_counts", noise->threads);
  json_bool(json, "history_checked", noise->history_checked);
  json_number_or_null(json, "history_max", noise->history_max, false);
  json_close(json, '}');
}

static void put_settings(struct json *json, const char *key, const struct rung_setting *settings, int32_t count) {
  json_open(json, key, '{', false);
  for (int32_t i = 0; i < count; i++) {
    json_text(json, settings[i].key, settings[i].value);
  }
  json_close(json, '}');
}

static void put_asked(struct json *json, const struct rung_result *rung) {
  const struct rung_request *request = &rung->request;
  json_open(json, "asked", '{', false);
  json_text(json, "engine", request->engine);
  json_text(json, "precision", request->precision);
  json_text(json, "provider", request->provider);
  json_text(json, "model", rung->model);
  json_index(json, "threads", request->threads > 0 ? request->threads : -1);
  json_open(json, "keep", '[', true);
  for (int32_t i = 0; i < request->n_keep; i++) {
    json_text(json, NULL, request->keep[i]);
  }
  json_close(json, ']');
  put_settings(json, "settings", request->settings, request->n_settings);
  json_close(json, '}');
}

static void put_actual(struct json *json, const struct rung_result *rung) {
  const struct rung_actual *actual = &rung->actual;
  json_open(json, "actual", '{', false);
  if (rung->has_actual) {
    json_text(json, "engine", actual->engine);
    json_text(json, "version", actual->version);
    json_text(json, "provider", actual->provider);
    json_text(json, "precision", actual->precision);
    json_text(json, "accumulator", actual->accumulator);
    json_text(json, "device", actual->device);
    json_text(json, "tf32", actual->tf32);
    json_index(json, "threads", actual->threads > 0 ? actual->threads : -1);
    json_bool(json, "emulated", actual->emulated);
    json_text(json, "note", actual->note);
    put_settings(json, "facts", actual->facts, actual->n_facts);
    json_open(json, "placement", '[', false);
    for (int32_t i = 0; i < actual->n_placement; i++) {
      json_open(json, NULL, '{', true);
      json_text(json, "node", actual->placement[i].node);
      json_text(json, "provider", actual->placement[i].provider);
      json_text(json, "precision", actual->placement[i].precision);
      json_close(json, '}');
    }
    json_close(json, ']');
  }
  json_close(json, '}');
}

static void put_rung(struct json *json, const struct gate_result *result, const struct rung_result *rung) {
  json_open(json, NULL, '{', false);
  json_text(json, "name", rung->name);
  json_bool(json, "required", rung->required);
  json_bool(json, "reference", rung->is_reference);
  json_text(json, "verdict", verdict_name(rung->verdict));
  put_asked(json, rung);
  put_actual(json, rung);
  json_int(json, "cases", rung->cases_run);
  json_int(json, "steps", rung->steps_run);
  json_int(json, "elements", rung->elements);
  json_reasons(json, &rung->reasons);
  json_open(json, "components", '[', false);
  for (int32_t c = 0; c < rung->n_components; c++) {
    put_component(json, result, &rung->components[c]);
  }
  json_close(json, ']');
  put_outputs(json, result, rung);
  sections_rung_json(json, result, rung);
  put_noise(json, &rung->noise, false);
  json_close(json, '}');
}

static void put_answers(struct json *json, const struct gate_result *result) {
  json_open(json, "answers", '{', false);
  json_open(json, "parity", '{', true);
  json_text(json, "verdict", verdict_name(result->verdict));
  json_text(json, "sentence", result->claim);
  json_close(json, '}');
  for (int32_t i = 0; i < result->n_others; i++) {
    json_open(json, result->others[i].name, '{', true);
    json_text(json, "verdict", verdict_name(result->others[i].verdict));
    json_text(json, "sentence", result->others[i].sentence);
    json_close(json, '}');
  }
  json_close(json, '}');
}

static void put_files(struct json *json, const struct gate_result *result) {
  json_open(json, "files", '[', false);
  for (int32_t i = 0; i < result->n_files; i++) {
    json_open(json, NULL, '{', true);
    json_text(json, "role", result->files[i].role);
    json_text(json, "path", result->files[i].path);
    json_text(json, "digest", result->files[i].digest);
    json_close(json, '}');
  }
  json_close(json, ']');
}

/* Everything that another run, or another machine, may answer otherwise. */
static void put_environment(struct json *json, const struct gate_result *result) {
  json_open(json, "environment", '{', false);
  json_text(json, "date", result->date);
  json_text(json, "host", result->host);
  json_text(json, "kernels", result->kernels);
  json_text(json, "folder", result->folder);
  json_number(json, "time_s", (double)result->time_ns * 1e-9, false);
  if (result->ledger.asked) {
    json_open(json, "ledger", '{', true);
    json_int(json, "runs", result->ledger.runs);
    json_int(json, "rejects", result->ledger.rejects);
    json_int(json, "unfinished", result->ledger.unfinished);
    json_text(json, "digest", result->ledger.digest);
    json_close(json, '}');
  } else {
    json_none(json, "ledger");
  }
  json_open(json, "rungs", '[', false);
  for (int32_t r = 0; r < result->n_rungs; r++) {
    json_open(json, NULL, '{', true);
    json_text(json, "name", result->rungs[r].name);
    json_number(json, "time_s", (double)result->rungs[r].time_ns * 1e-9, false);
    json_close(json, '}');
  }
  json_close(json, ']');
  json_close(json, '}');
}

assay_status report_json(const struct gate_result *result, struct text *out) {
  struct json json = {.out = out};
  json_open(&json, NULL, '{', false);
  json_text(&json, "schema", schema);
  json_text(&json, "assay", result->version);
  json_text(&json, "heading", result->heading);
  json_text(&json, "verdict", verdict_name(result->verdict));
  json_int(&json, "exit_code", result->exit_code);
  json_text(&json, "policy", result->policy);
  json_text(&json, "reference", result->reference);
  put_answers(&json, result);
  json_open(&json, "corpus", '{', true);
  json_text(&json, "digest", result->corpus_digest);
  json_int(&json, "cases", result->n_cases);
  json_close(&json, '}');
  put_files(&json, result);
  json_reasons(&json, &result->reasons);
  sections_head_json(&json, result);
  put_noise(&json, &result->reference_noise, true);
  json_open(&json, "rungs", '[', false);
  for (int32_t r = 0; r < result->n_rungs; r++) {
    put_rung(&json, result, &result->rungs[r]);
  }
  json_close(&json, ']');
  sections_gate_json(&json, result);
  put_environment(&json, result);
  json_close(&json, '}');
  text_add_char(out, '\n');
  return text_status(out);
}
