/* A coverage as JSON. What is not known is null; the shape is documented in docs/corpus.md. */
#include <math.h>

#include "report/coverage_report.h"
#include "report/json_parts.h"

static void write_range(struct json *json, const struct coverage_range *range) {
  json_int(json, "n", range->n);
  json_int(json, "nan", range->nan);
  json_int(json, "inf", range->inf);
  json_number_or_null(json, "min", range->min, false);
  json_number_or_null(json, "max", range->max, false);
}

static void write_bounds(struct json *json, const char *key, bool given, double low, double high) {
  if (!given) {
    json_none(json, key);
    return;
  }
  json_open(json, key, '[', true);
  json_number_or_null(json, NULL, low, false);
  json_number_or_null(json, NULL, high, false);
  json_close(json, ']');
}

/* A count that is -1 where there is none. */
static void write_head(struct json *json, const struct coverage *coverage) {
  const struct corpus *corpus = coverage->corpus;
  json_text(json, "schema", "assay.coverage.1");
  json_text(json, "folder", corpus->folder);
  json_text(json, "role", corpus_role_name(corpus->role));
  json_text(json, "policy", corpus->policy);
  json_text(json, "digest", corpus->digest);
  json_text(json, "contract", coverage->contract == NULL ? NULL : coverage->contract->path);
  json_open(json, "source", '{', true);
  json_text(json, "framework", corpus->framework);
  json_text(json, "version", corpus->framework_version);
  json_text(json, "weights", corpus->weights_digest);
  json_close(json, '}');
}

static void write_counts(struct json *json, const struct coverage *coverage) {
  json_open(json, "cases", '{', false);
  json_int(json, "total", coverage->corpus->n_cases);
  json_int(json, "answered", coverage->n_answered);
  json_int(json, "refused", coverage->n_refused);
  json_int(json, "sequences", coverage->n_sequences);
  json_int(json, "forced", coverage->n_forced);
  json_int(json, "samples", coverage->n_samples);
  json_index(json, "steps_min", coverage->steps_min);
  json_index(json, "steps_max", coverage->steps_max);
  json_int(json, "with_origin", coverage->n_with_origin);
  json_int(json, "origins", coverage->n_origins);
  json_int(json, "with_repeats", coverage->n_with_repeats);
  json_int(json, "with_seeds", coverage->n_with_seeds);
  json_int(json, "with_guard", coverage->n_with_guard);
  json_int(json, "duplicates", coverage->n_duplicates);
  json_close(json, '}');
}

static void write_tags(struct json *json, const struct coverage *coverage) {
  json_open(json, "tags", '[', false);
  for (int32_t i = 0; i < coverage->n_tags; i++) {
    json_open(json, NULL, '{', true);
    json_text(json, "key", coverage->tags[i].key);
    json_text(json, "value", coverage->tags[i].value);
    json_int(json, "cases", coverage->tags[i].n_cases);
    json_close(json, '}');
  }
  json_close(json, ']');
}

static void write_refusals(struct json *json, const struct coverage *coverage) {
  json_open(json, "refusals", '[', false);
  for (int32_t i = 0; i < coverage->n_refusals; i++) {
    json_open(json, NULL, '{', true);
    json_text(json, "code", assay_code_name(coverage->refusals[i].code));
    json_int(json, "cases", coverage->refusals[i].n_cases);
    json_bool(json, "applies", coverage->refusals[i].applies);
    json_close(json, '}');
  }
  json_close(json, ']');
}

static void write_input(struct json *json, const struct coverage_input *input) {
  json_open(json, NULL, '{', false);
  json_text(json, "name", input->name);
  json_text(json, "unit", input->unit);
  json_bool(json, "state", input->is_state);
  json_int(json, "samples", input->n_samples);
  write_range(json, &input->seen);
  write_bounds(json, "legal", input->has_legal, input->legal_min, input->legal_max);
  write_bounds(json, "typical", input->has_typical, input->typical_min, input->typical_max);
  json_int(json, "outside_legal", input->outside_legal);
  json_int(json, "outside_typical", input->outside_typical);
  json_number_or_null(json, "share", input->share, false);
  json_index(json, "elements", input->n_elements);
  json_index(json, "constant_elements", input->n_constant);
  json_int(json, "ages", input->n_ages);
  json_number_or_null(json, "age_min_ms", input->age_min, false);
  json_number_or_null(json, "age_max_ms", input->age_max, false);
  json_number_or_null(json, "max_age_ms", input->max_age_ms > 0 ? input->max_age_ms : (double)NAN, false);
  json_close(json, '}');
}

static void write_component(struct json *json, const struct coverage_component *component) {
  json_open(json, NULL, '{', false);
  json_text(json, "output", component->output);
  json_text(json, "name", component->name);
  json_text(json, "unit", component->unit);
  write_range(json, &component->seen);
  write_bounds(json, "limits", component->has_limits, component->limit_min, component->limit_max);
  json_number(json, "tolerance", component->tolerance, false);
  json_bool(json, "constant", component->constant);
  json_close(json, '}');
}

static void write_pair(struct json *json, const struct coverage_pair *pair) {
  static const char *const kinds[] = {"inputs", "input elements", "components"};
  json_open(json, NULL, '{', true);
  json_text(json, "kind", kinds[pair->kind]);
  json_text(json, "tensor", pair->tensor);
  json_text(json, "a", pair->a);
  json_text(json, "b", pair->b);
  json_number(json, "difference", pair->difference, false);
  json_close(json, '}');
}

static void write_decision(struct json *json, const struct coverage_decision *seen) {
  static const char *const kinds[] = {"threshold", "argmax", "topk", "order"};
  bool threshold = seen->decision->kind == DECISION_THRESHOLD;
  json_open(json, NULL, '{', false);
  json_text(json, "output", seen->output);
  json_text(json, "component", seen->component);
  json_text(json, "kind", kinds[seen->decision->kind]);
  json_int(json, "n", seen->n);
  json_index(json, "positive", threshold ? seen->n_positive : -1);
  json_index(json, "negative", threshold ? seen->n - seen->n_positive : -1);
  json_int(json, "answers", seen->n_answers);
  json_bool(json, "exercised", seen->n_answers > 1);
  json_number_or_null(json, "nearest", seen->nearest, false);
  json_close(json, '}');
}

static void write_findings(struct json *json, const struct coverage *coverage) {
  json_open(json, "inputs", '[', false);
  for (int32_t i = 0; i < coverage->n_inputs; i++) {
    write_input(json, &coverage->inputs[i]);
  }
  json_close(json, ']');
  json_open(json, "components", '[', false);
  for (int32_t i = 0; i < coverage->n_components; i++) {
    write_component(json, &coverage->components[i]);
  }
  json_close(json, ']');
  json_open(json, "indistinguishable", '[', false);
  for (int32_t i = 0; i < coverage->n_pairs; i++) {
    write_pair(json, &coverage->pairs[i]);
  }
  json_close(json, ']');
  json_open(json, "decisions", '[', false);
  for (int32_t i = 0; i < coverage->n_decisions; i++) {
    write_decision(json, &coverage->decisions[i]);
  }
  json_close(json, ']');
  json_open(json, "notes", '[', false);
  for (int32_t i = 0; i < coverage->n_notes; i++) {
    json_text(json, NULL, coverage->notes[i]);
  }
  json_close(json, ']');
}

assay_status coverage_report_json(const struct coverage *coverage, struct text *out) {
  struct json json = {.out = out};
  json_open(&json, NULL, '{', false);
  write_head(&json, coverage);
  write_counts(&json, coverage);
  write_tags(&json, coverage);
  write_refusals(&json, coverage);
  write_findings(&json, coverage);
  json_close(&json, '}');
  text_add(out, "\n");
  return text_status(out);
}
