/* Sensors of a case: see sensor_check.h. It judges what was stored as it stands, and never repairs it. */
#include "gate/sensor_check.h"

#include "contract/finite.h"
#include "contract/terms.h"
#include "gate/golden.h"

/* --- finite ---------------------------------------------------------------------------------- */

static assay_status refuse_value(const char *sensor, const struct contract_term *term, int64_t i, int64_t step,
                                 double value) {
  bool nan = value_is_nan(value), named = i < term->n_elements;
  int64_t element = i;
  for (int32_t e = 0; term->picks != NULL && e < term->n_elements; e++) {
    element = term->picks[e] == i ? e : element;
  }
  return status_make(nan ? ASSAY_INPUT_NAN : ASSAY_INPUT_INF, sensor, "the sensor raw/%s holds %s at step %lld, %s%s%s",
                     sensor, nan ? "NaN" : "an infinity", (long long)step, named ? "element '" : "outside of its term",
                     named ? term->elements[element] : "", named ? "'" : "");
}

assay_status sensor_check_step(const struct contract *contract, const struct corpus_case *entry,
                               const struct case_data *data, int64_t step, assay_status *refusal) {
  for (int32_t r = 0; r < data->n_raw; r++) {
    const struct case_array *array = &data->raw[r];
    const struct contract_term *term;
    if (!dtype_is_float(array->tensor.dtype) || terms_find_sensor(contract, array->name, &term) == NULL) {
      continue;
    }
    assay_tensor view = case_step(data, entry, &array->tensor, step);
    for (int64_t i = 0; i < tensor_count(&view); i++) {
      double value = tensor_get(&view, i);
      if (!value_is_finite(value)) {
        *refusal = refuse_value(array->name, term, i, step, value);
        return status_ok();
      }
    }
  }
  return status_ok();
}

/* --- names ----------------------------------------------------------------------------------- */

/* Every sensor that something of the contract is made from; several times where several are. */
static assay_status sensor_names(const struct contract *contract, struct arena *scratch, const char *const **names,
                                 size_t *count) {
  const char **list;
  size_t most = 0;
  for (int32_t i = 0; i < contract->n_inputs; i++) {
    most += contract->inputs[i].terms != NULL ? (size_t)contract->inputs[i].terms->n_terms : 1;
  }
  ARENA_NEW(scratch, list, most + 1);
  *count = 0;
  for (int32_t i = 0; i < contract->n_inputs; i++) {
    const struct contract_terms *terms = contract->inputs[i].terms;
    if (terms == NULL && contract->inputs[i].raw != NULL) {
      list[(*count)++] = contract->inputs[i].raw;
    }
    for (int32_t t = 0; terms != NULL && t < terms->n_terms; t++) {
      if (terms->terms[t].source == TERM_SENSOR) {
        list[(*count)++] = terms->terms[t].raw;
      }
    }
  }
  *names = list;
  return status_ok();
}

static bool is_among(const char *name, const char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (text_equal(names[i], name)) {
      return true;
    }
  }
  return false;
}

assay_status sensor_check_names(const struct plan *plan, const struct fed_case *fed, struct arena *arena,
                                struct gate_reasons *reasons) {
  struct arena scratch = {0};
  const char *const *names = NULL;
  size_t count = 0;
  assay_status status = sensor_names(plan->contract, &scratch, &names, &count);
  for (int32_t r = 0; r < fed->data->n_raw && assay_status_ok(status); r++) {
    const char *name = fed->data->raw[r].name;
    if (is_among(name, names, count)) {
      continue;
    }
    const char *nearest = text_nearest(name, names, count);
    status = golden_say(arena, reasons, gate_reason_of(ASSAY_INVALID_GOLDEN), fed, -1,
                        "case '%s' records raw/%s, from which no input and no term of the contract is made%s%s%s; "
                        "correct the name, or take the array out",
                        fed->entry->id, name, nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
                        nearest != NULL ? "'" : "");
  }
  arena_free(&scratch);
  return status;
}
