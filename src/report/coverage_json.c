/* A coverage as JSON. Numbers that are not finite are strings; what is not known is null. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "report/coverage_report.h"

/* Sets a member; a failed allocation anywhere leaves the object without it, which `failed` remembers. */
struct writing {
  bool failed;
};

static void put(struct writing *writing, json_t *object, const char *key, json_t *value) {
  if (value == NULL || json_object_set_new(object, key, value) != 0) {
    writing->failed = true;
  }
}
static void append(struct writing *writing, json_t *array, json_t *value) {
  if (value == NULL || json_array_append_new(array, value) != 0) {
    writing->failed = true;
  }
}
static json_t *string_or_null(const char *text) { return text == NULL ? json_null() : json_string(text); }
static json_t *number(double value) {
  if (isnan(value)) {
    return json_null();
  }
  return isinf(value) ? json_string(value > 0 ? "Infinity" : "-Infinity") : json_real(value);
}
static json_t *bounds(double low, double high) { return json_pack("[o,o]", number(low), number(high)); }

static void put_range(struct writing *writing, json_t *object, const struct coverage_range *range) {
  put(writing, object, "n", json_integer(range->n));
  put(writing, object, "nan", json_integer(range->nan));
  put(writing, object, "inf", json_integer(range->inf));
  put(writing, object, "min", number(range->min));
  put(writing, object, "max", number(range->max));
}

static json_t *source_json(struct writing *writing, const struct corpus *corpus) {
  json_t *object = json_object();
  put(writing, object, "framework", string_or_null(corpus->framework));
  put(writing, object, "version", string_or_null(corpus->framework_version));
  put(writing, object, "weights", string_or_null(corpus->weights_digest));
  return object;
}

static json_t *counts_json(struct writing *writing, const struct coverage *coverage) {
  json_t *object = json_object();
  put(writing, object, "total", json_integer(coverage->corpus->n_cases));
  put(writing, object, "answered", json_integer(coverage->n_answered));
  put(writing, object, "refused", json_integer(coverage->n_refused));
  put(writing, object, "sequences", json_integer(coverage->n_sequences));
  put(writing, object, "forced", json_integer(coverage->n_forced));
  put(writing, object, "samples", json_integer(coverage->n_samples));
  put(writing, object, "steps_min", coverage->steps_min < 0 ? json_null() : json_integer(coverage->steps_min));
  put(writing, object, "steps_max", coverage->steps_max < 0 ? json_null() : json_integer(coverage->steps_max));
  put(writing, object, "with_origin", json_integer(coverage->n_with_origin));
  put(writing, object, "origins", json_integer(coverage->n_origins));
  put(writing, object, "with_repeats", json_integer(coverage->n_with_repeats));
  put(writing, object, "with_guard", json_integer(coverage->n_with_guard));
  put(writing, object, "duplicates", json_integer(coverage->n_duplicates));
  return object;
}

static json_t *tags_json(struct writing *writing, const struct coverage *coverage) {
  json_t *array = json_array();
  for (int32_t i = 0; i < coverage->n_tags; i++) {
    json_t *object = json_object();
    put(writing, object, "key", json_string(coverage->tags[i].key));
    put(writing, object, "value", json_string(coverage->tags[i].value));
    put(writing, object, "cases", json_integer(coverage->tags[i].n_cases));
    append(writing, array, object);
  }
  return array;
}

static json_t *refusals_json(struct writing *writing, const struct coverage *coverage) {
  json_t *array = json_array();
  for (int32_t i = 0; i < coverage->n_refusals; i++) {
    json_t *object = json_object();
    put(writing, object, "code", json_string(assay_code_name(coverage->refusals[i].code)));
    put(writing, object, "cases", json_integer(coverage->refusals[i].n_cases));
    put(writing, object, "applies", json_boolean(coverage->refusals[i].applies));
    append(writing, array, object);
  }
  return array;
}

static json_t *input_json(struct writing *writing, const struct coverage_input *input) {
  json_t *object = json_object();
  put(writing, object, "name", json_string(input->name));
  put(writing, object, "unit", string_or_null(input->unit));
  put(writing, object, "samples", json_integer(input->n_samples));
  put_range(writing, object, &input->seen);
  put(writing, object, "legal", input->has_legal ? bounds(input->legal_min, input->legal_max) : json_null());
  put(writing, object, "typical", input->has_typical ? bounds(input->typical_min, input->typical_max) : json_null());
  put(writing, object, "outside_legal", json_integer(input->outside_legal));
  put(writing, object, "outside_typical", json_integer(input->outside_typical));
  put(writing, object, "share", number(input->share));
  put(writing, object, "elements", input->n_elements < 0 ? json_null() : json_integer(input->n_elements));
  put(writing, object, "constant_elements", input->n_constant < 0 ? json_null() : json_integer(input->n_constant));
  put(writing, object, "ages", json_integer(input->n_ages));
  put(writing, object, "age_min_ms", number(input->age_min));
  put(writing, object, "age_max_ms", number(input->age_max));
  put(writing, object, "max_age_ms", input->max_age_ms > 0 ? number(input->max_age_ms) : json_null());
  return object;
}

static json_t *component_json(struct writing *writing, const struct coverage_component *component) {
  json_t *object = json_object();
  put(writing, object, "output", json_string(component->output));
  put(writing, object, "name", json_string(component->name));
  put(writing, object, "unit", string_or_null(component->unit));
  put_range(writing, object, &component->seen);
  put(writing, object, "limits",
      component->has_limits ? bounds(component->limit_min, component->limit_max) : json_null());
  put(writing, object, "tolerance", number(component->tolerance));
  put(writing, object, "constant", json_boolean(component->constant));
  return object;
}

static json_t *pair_json(struct writing *writing, const struct coverage_pair *pair) {
  static const char *const kinds[] = {"inputs", "input elements", "components"};
  json_t *object = json_object();
  put(writing, object, "kind", json_string(kinds[pair->kind]));
  put(writing, object, "tensor", string_or_null(pair->tensor));
  put(writing, object, "a", json_string(pair->a));
  put(writing, object, "b", json_string(pair->b));
  put(writing, object, "difference", number(pair->difference));
  return object;
}

static json_t *decision_json(struct writing *writing, const struct coverage_decision *seen) {
  static const char *const kinds[] = {"threshold", "argmax", "topk", "order"};
  json_t *object = json_object();
  bool threshold = seen->decision->kind == DECISION_THRESHOLD;
  put(writing, object, "output", json_string(seen->output));
  put(writing, object, "component", string_or_null(seen->component));
  put(writing, object, "kind", json_string(kinds[seen->decision->kind]));
  put(writing, object, "n", json_integer(seen->n));
  put(writing, object, "positive", threshold ? json_integer(seen->n_positive) : json_null());
  put(writing, object, "negative", threshold ? json_integer(seen->n - seen->n_positive) : json_null());
  put(writing, object, "answers", json_integer(seen->n_answers));
  put(writing, object, "exercised", json_boolean(seen->n_answers > 1));
  put(writing, object, "nearest", number(seen->nearest));
  return object;
}

static json_t *coverage_object(struct writing *writing, const struct coverage *coverage) {
  const struct corpus *corpus = coverage->corpus;
  json_t *object = json_object(), *inputs = json_array(), *components = json_array(), *pairs = json_array(),
         *decisions = json_array(), *notes = json_array();
  put(writing, object, "schema", json_string("assay.coverage.1"));
  put(writing, object, "folder", json_string(corpus->folder));
  put(writing, object, "role", json_string(corpus_role_name(corpus->role)));
  put(writing, object, "policy", string_or_null(corpus->policy));
  put(writing, object, "digest", json_string(corpus->digest));
  put(writing, object, "contract", coverage->contract == NULL ? json_null() : json_string(coverage->contract->path));
  put(writing, object, "source", source_json(writing, corpus));
  put(writing, object, "cases", counts_json(writing, coverage));
  put(writing, object, "tags", tags_json(writing, coverage));
  put(writing, object, "refusals", refusals_json(writing, coverage));
  for (int32_t i = 0; i < coverage->n_inputs; i++) {
    append(writing, inputs, input_json(writing, &coverage->inputs[i]));
  }
  for (int32_t i = 0; i < coverage->n_components; i++) {
    append(writing, components, component_json(writing, &coverage->components[i]));
  }
  for (int32_t i = 0; i < coverage->n_pairs; i++) {
    append(writing, pairs, pair_json(writing, &coverage->pairs[i]));
  }
  for (int32_t i = 0; i < coverage->n_decisions; i++) {
    append(writing, decisions, decision_json(writing, &coverage->decisions[i]));
  }
  for (int32_t i = 0; i < coverage->n_notes; i++) {
    append(writing, notes, json_string(coverage->notes[i]));
  }
  put(writing, object, "inputs", inputs);
  put(writing, object, "components", components);
  put(writing, object, "indistinguishable", pairs);
  put(writing, object, "decisions", decisions);
  put(writing, object, "notes", notes);
  return object;
}

assay_status coverage_report_json(const struct coverage *coverage, struct text *out) {
  struct writing writing = {false};
  json_t *object = coverage_object(&writing, coverage);
  char *dump = writing.failed ? NULL : json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
  json_decref(object);
  if (dump == NULL) {
    return status_make(ASSAY_OUT_OF_MEMORY, coverage->corpus->folder,
                       "the coverage cannot be written as JSON: there is no memory, or a name is not UTF-8");
  }
  text_add(out, dump);
  text_add(out, "\n");
  free(dump);
  return text_status(out);
}
