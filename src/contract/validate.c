/* Whether what is fed may be fed: the refusals that invalid inputs must get. Pure: the verdict
 * depends on the contract and the inputs alone, and nothing is allocated unless something is
 * refused. NaN is never clamped, an unknown input never ignored. */
#include <stdio.h>
#include <string.h>

#include "contract/finite.h"
#include "contract/freshness.h"
#include "contract/tokens.h"

const assay_code contract_refusals[REFUSAL_COUNT] = {
    ASSAY_INPUT_MISSING, ASSAY_INPUT_EXTRA,  ASSAY_INPUT_DTYPE, ASSAY_INPUT_SHAPE,     ASSAY_INPUT_HISTORY,
    ASSAY_INPUT_NAN,     ASSAY_INPUT_INF,    ASSAY_INPUT_RANGE, ASSAY_INPUT_COLOR,     ASSAY_INPUT_STALE,
    ASSAY_INPUT_TOKENS,  ASSAY_INPUT_FUTURE, ASSAY_INPUT_SKEW,  ASSAY_INPUT_BACKWARDS, ASSAY_INPUT_FROZEN,
};

bool contract_is_refusal(assay_code code) {
  for (int i = 0; i < REFUSAL_COUNT; i++) {
    if (contract_refusals[i] == code) {
      return true;
    }
  }
  return false;
}

/* "input 'front'", the place of a refusal. */
enum { PLACE_SIZE = 160 };
static void place_of(char out[PLACE_SIZE], const char *name) { snprintf(out, PLACE_SIZE, "input '%.120s'", name); }

/* Element i as "[0,2,5]". */
static void add_index(struct text *out, const assay_tensor *tensor, int64_t i) {
  int64_t index[ASSAY_RANK_MAX];
  for (int32_t d = tensor->rank - 1; d >= 0; d--) {
    index[d] = i % tensor->dims[d];
    i /= tensor->dims[d];
  }
  shape_describe(index, tensor->rank, out);
}

void contract_describe_dims(const struct dim_range *dims, int32_t rank, struct text *out) {
  text_add_char(out, '[');
  for (int32_t i = 0; i < rank; i++) {
    text_format(out, "%s%lld", i == 0 ? "" : ",", (long long)dims[i].min);
    if (dims[i].max != dims[i].min) {
      text_format(out, "..%lld", (long long)dims[i].max);
    }
  }
  text_add_char(out, ']');
}

static assay_status check_missing(const struct contract *contract, const struct fed_input *inputs, size_t count) {
  for (int32_t i = 0; i < contract->n_inputs; i++) {
    const struct contract_input *input = &contract->inputs[i];
    if (!input->is_state && find_fed(inputs, count, input->name) == NULL) {
      char place[PLACE_SIZE];
      place_of(place, input->name);
      return status_make(ASSAY_INPUT_MISSING, place, "input '%s' was not given; the contract lists it at line %d",
                         input->name, (int)input->mark.line);
    }
  }
  return status_ok();
}

static assay_status check_extra(const struct contract *contract, const struct fed_input *inputs, size_t count) {
  for (size_t i = 0; i < count; i++) {
    char place[PLACE_SIZE];
    place_of(place, inputs[i].name);
    if (contract_find_input(contract, inputs[i].name) == NULL) {
      return status_make(ASSAY_INPUT_EXTRA, place, "input '%s' was given, but the contract does not list it",
                         inputs[i].name);
    }
    if (find_fed(inputs, i, inputs[i].name) != NULL) {
      return status_make(ASSAY_INPUT_EXTRA, place, "input '%s' was given twice", inputs[i].name);
    }
  }
  return status_ok();
}

static assay_status check_dtype(const struct contract_input *input, const struct fed_input *fed, const char *place) {
  if (fed->tensor->dtype == input->dtype) {
    return status_ok();
  }
  return status_make(ASSAY_INPUT_DTYPE, place, "input '%s' is %s, but the contract says %s", input->name,
                     assay_dtype_name(fed->tensor->dtype), assay_dtype_name(input->dtype));
}

static bool carries_history(const struct contract_input *input, int32_t axis) {
  return input->history_max > 0 && axis == input->history_axis;
}

static assay_status check_shape(const struct contract_input *input, const struct fed_input *fed, const char *place) {
  bool fits = fed->tensor->rank == input->rank;
  for (int32_t i = 0; fits && i < input->rank; i++) {
    int64_t size = fed->tensor->dims[i];
    fits = size >= input->dims[i].min && (size <= input->dims[i].max || carries_history(input, i));
  }
  if (fits) {
    return status_ok();
  }
  struct text found = {0}, expected = {0};
  shape_describe(fed->tensor->dims, fed->tensor->rank, &found);
  contract_describe_dims(input->dims, input->rank, &expected);
  assay_status status = status_make(ASSAY_INPUT_SHAPE, place, "input '%s' has shape %s, but the contract says %s",
                                    input->name, text_string(&found), text_string(&expected));
  text_free(&found);
  text_free(&expected);
  return status;
}

static assay_status check_history(const struct contract_input *input, const struct fed_input *fed, const char *place) {
  if (input->history_max == 0 || fed->tensor->dims[input->history_axis] <= input->history_max) {
    return status_ok();
  }
  return status_make(ASSAY_INPUT_HISTORY, place,
                     "input '%s' carries %lld steps of history, but the contract says at most %d", input->name,
                     (long long)fed->tensor->dims[input->history_axis], (int)input->history_max);
}

/* Element i without the detour over the dtype where that is worth it; data may be unaligned. */
static double value_at(const assay_tensor *tensor, int64_t i) {
  if (tensor->dtype == ASSAY_FLOAT32) {
    float value;
    memcpy(&value, (const char *)tensor->data + (size_t)i * sizeof value, sizeof value);
    return (double)value;
  }
  return tensor_get(tensor, i);
}

static assay_status check_finite(const struct contract_input *input, const struct fed_input *fed, const char *place,
                                 bool (*is_bad)(double), assay_code code, const char *word) {
  if (!dtype_is_float(input->dtype)) {
    return status_ok();
  }
  int64_t count = tensor_count(fed->tensor);
  for (int64_t i = 0; i < count; i++) {
    if (is_bad(value_at(fed->tensor, i))) {
      struct text index = {0};
      add_index(&index, fed->tensor, i);
      assay_status status =
          status_make(code, place, "input '%s' holds %s at %s", input->name, word, text_string(&index));
      text_free(&index);
      return status;
    }
  }
  return status_ok();
}

static assay_status check_nan(const struct contract_input *input, const struct fed_input *fed, const char *place) {
  return check_finite(input, fed, place, value_is_nan, ASSAY_INPUT_NAN, "NaN");
}

static assay_status check_inf(const struct contract_input *input, const struct fed_input *fed, const char *place) {
  return check_finite(input, fed, place, value_is_inf, ASSAY_INPUT_INF, "an infinity");
}

/* How far outside the legal range; 0 inside. */
static double excess(const struct contract_input *input, double value) {
  return value < input->legal_min ? input->legal_min - value : value > input->legal_max ? value - input->legal_max : 0;
}

/* The element that lies farthest outside, -1 when none does. */
static int64_t worst_outside(const struct contract_input *input, const assay_tensor *tensor) {
  int64_t worst = -1, count = tensor_count(tensor);
  double most = 0;
  for (int64_t i = 0; i < count; i++) {
    double now = excess(input, value_at(tensor, i));
    if (now > most) {
      most = now;
      worst = i;
    }
  }
  return worst;
}

/* An image that lies outside by more than the whole width of its legal range is on another scale,
 * such as 0 to 255 for 0 to 1; anything less is a value out of range. */
static bool on_another_scale(const struct contract_input *input, double value) {
  return input->color != NULL && excess(input, value) > input->legal_max - input->legal_min;
}

static assay_status outside(const struct contract_input *input, const struct fed_input *fed, const char *place,
                            bool color) {
  int64_t worst = input->has_legal ? worst_outside(input, fed->tensor) : -1;
  if (worst < 0) {
    return status_ok();
  }
  double value = value_at(fed->tensor, worst);
  if (on_another_scale(input, value) != color) {
    return status_ok();
  }
  struct text index = {0};
  add_index(&index, fed->tensor, worst);
  assay_status status =
      status_make(color ? ASSAY_INPUT_COLOR : ASSAY_INPUT_RANGE, place,
                  "input '%s' is %.9g at %s, outside the legal [%.9g, %.9g]%s", input->name, value, text_string(&index),
                  input->legal_min, input->legal_max, color ? "; the image looks as if it were on another scale" : "");
  text_free(&index);
  return status;
}

static assay_status check_range(const struct contract_input *input, const struct fed_input *fed, const char *place) {
  return outside(input, fed, place, false);
}

static assay_status check_color(const struct contract_input *input, const struct fed_input *fed, const char *place) {
  return outside(input, fed, place, true);
}

static assay_status check_age(const struct contract_input *input, const struct fed_input *fed, const char *place) {
  if (input->max_age_ms == 0 || value_is_nan(fed->age_ms) || fed->age_ms <= input->max_age_ms) {
    return status_ok();
  }
  return status_make(ASSAY_INPUT_STALE, place, "input '%s' is %.9g ms old, but the contract allows %.9g ms",
                     input->name, fed->age_ms, input->max_age_ms);
}

assay_status contract_validate(const struct contract *contract, const struct fed_input *inputs, size_t n_inputs) {
  typedef assay_status check(const struct contract_input *input, const struct fed_input *fed, const char *place);
  static check *const checks[] = {check_dtype, check_shape, check_history, check_nan,
                                  check_inf,   check_range, check_color,   check_age};
  TRY(check_missing(contract, inputs, n_inputs));
  TRY(check_extra(contract, inputs, n_inputs));
  for (size_t c = 0; c < sizeof checks / sizeof *checks; c++) {
    for (int32_t i = 0; i < contract->n_inputs; i++) {
      const struct fed_input *fed = find_fed(inputs, n_inputs, contract->inputs[i].name);
      if (fed != NULL) {
        char place[PLACE_SIZE];
        place_of(place, contract->inputs[i].name);
        TRY(checks[c](&contract->inputs[i], fed, place));
      }
    }
  }
  TRY(tokens_validate(contract, inputs, n_inputs));
  return contract_check_ages(contract, inputs, n_inputs);
}
