/* Whether an action may be sent to the robot: age, shape, finiteness, limits and rates of every step that will be
 * executed, before the first of them is. Pure; nothing is ever clamped into range here, and a NaN refuses the whole.
 * Every comparison is written so that a NaN is on the refused side. */
#include <math.h>

#include "contract/action_walk.h"
#include "contract/finite.h"

bool walk_fits(const struct walk *walk) {
  const struct contract_output *output = walk->output;
  bool fits =
      walk->raw != NULL && walk->raw->rank == output->rank && walk->raw->dtype == output->dtype && walk->count > 0;
  for (int32_t i = 0; fits && i < output->rank; i++) {
    fits = walk->raw->dims[i] >= output->dims[i].min && walk->raw->dims[i] <= output->dims[i].max;
  }
  return fits;
}

static double decoded(const struct walk *walk, int64_t i) {
  return contract_decode_at(walk->output, walk->raw, i, walk->context->inputs);
}

/* The value one step earlier, decoded: of this chunk, or the last one sent. */
static double value_before(const struct walk *walk, int64_t i, const struct walked *at) {
  if (at->step == 0) {
    return walk->context->last != NULL ? walk->context->last[at->component] : (double)NAN;
  }
  int64_t stride = 1;
  for (int32_t d = walk->output->horizon_axis + 1; d < walk->raw->rank; d++) {
    stride *= walk->raw->dims[d];
  }
  return decoded(walk, i - stride);
}

bool walk_element(const struct walk *walk, int64_t i, struct walked *out) {
  out->component = contract_component_of(walk->output, walk->raw, i, &out->step);
  if (walk->output->execute_steps > 0 && out->step >= walk->output->execute_steps) {
    return false; /* the rest of a chunk is thrown away */
  }
  out->value = decoded(walk, i);
  out->before = value_before(walk, i, out);
  return true;
}

static void say_place(const struct walk *walk, const struct walked *at, struct text *where, struct text *sentence) {
  text_format(where, "output '%s'", walk->output->name);
  text_format(sentence, "'%s' at step %lld ", walk->output->components[at->component].name, (long long)at->step);
}

static assay_status refuse(assay_code code, struct text *where, struct text *sentence) {
  assay_status status = status_make(code, text_string(where), "%s", text_string(sentence));
  text_free(where);
  text_free(sentence);
  return status;
}

static assay_status check_age(const struct walk *walk) {
  const struct contract_output *output = walk->output;
  double age = walk->context->age_ms;
  if (output->max_age_ms == 0 || value_is_nan(age) || age <= output->max_age_ms) {
    return status_ok();
  }
  struct text where = {0}, sentence = {0};
  text_format(&where, "output '%s'", output->name);
  text_format(&sentence, "the action '%s' is %.9g ms old since its observation, but the contract allows %.9g ms",
              output->name, age, output->max_age_ms);
  return refuse(ASSAY_ACTION_STALE, &where, &sentence);
}

static assay_status check_shape(const struct walk *walk) {
  const struct contract_output *output = walk->output;
  if (walk_fits(walk)) {
    return status_ok();
  }
  struct text found = {0}, expected = {0}, where = {0}, sentence = {0};
  if (walk->raw != NULL) {
    tensor_describe(walk->raw, &found);
  } else {
    text_add(&found, "not given");
  }
  contract_describe_dims(output->dims, output->rank, &expected);
  text_format(&where, "output '%s'", output->name);
  text_format(&sentence, "the action '%s' is %s, but the contract says %s%s", output->name, text_string(&found),
              assay_dtype_name(output->dtype), text_string(&expected));
  text_free(&found);
  text_free(&expected);
  return refuse(ASSAY_ACTION_SHAPE, &where, &sentence);
}

static bool may_not_be(const struct contract_component *component, double value) {
  return value_is_nan(value) || (value_is_inf(value) && !component->allow_inf);
}

/* The model's number and the decoded one, before any other check: one NaN makes the rest worthless. */
static assay_status check_finite(const struct walk *walk) {
  for (int64_t i = 0; i < walk->count; i++) {
    struct walked at;
    if (!walk_element(walk, i, &at)) {
      continue;
    }
    const struct contract_component *component = &walk->output->components[at.component];
    double raw = tensor_get(walk->raw, i);
    bool bad = may_not_be(component, raw);
    if (bad || may_not_be(component, at.value)) {
      struct text where = {0}, sentence = {0};
      say_place(walk, &at, &where, &sentence);
      text_format(&sentence, "%s%s", bad ? "is " : "decodes to ",
                  value_is_nan(bad ? raw : at.value) ? "NaN"
                  : bad                              ? "infinite"
                                                     : "infinity");
      return refuse(ASSAY_ACTION_NONFINITE, &where, &sentence);
    }
  }
  return status_ok();
}

/* A limit that is not given is NAN. */
static bool is_outside(const struct contract_component *component, double value) {
  return (!value_is_nan(component->limit_min) && !(value >= component->limit_min)) ||
         (!value_is_nan(component->limit_max) && !(value <= component->limit_max));
}

static bool has_rate(const struct contract_component *component, const struct walked *at) {
  return !value_is_nan(component->limit_rate) && !value_is_nan(at->before);
}

static double rate_of(const struct walk *walk, const struct walked *at) {
  return fabs(at->value - at->before) / (walk->contract->period_ms / 1000);
}

static void say_rate(const struct walk *walk, const struct walked *at, struct text *sentence) {
  const struct contract_component *component = &walk->output->components[at->component];
  if (walk->contract->period_ms == 0) {
    text_add(sentence, "has a rate limit, but the contract gives no timing.period_ms to hold it against");
    return;
  }
  text_format(sentence, "moves from %.9g to %.9g %s, %.9g per second; the limit is %.9g", at->before, at->value,
              component->unit, rate_of(walk, at), component->limit_rate);
}

static bool is_too_fast(const struct walk *walk, const struct walked *at) {
  const struct contract_component *component = &walk->output->components[at->component];
  return has_rate(component, at) && (walk->contract->period_ms == 0 || !(rate_of(walk, at) <= component->limit_rate));
}

static assay_status check_limits(const struct walk *walk) {
  for (int64_t i = 0; i < walk->count; i++) {
    struct walked at;
    if (!walk_element(walk, i, &at)) {
      continue;
    }
    const struct contract_component *component = &walk->output->components[at.component];
    if (component->has_limits && is_outside(component, at.value)) {
      struct text where = {0}, sentence = {0};
      say_place(walk, &at, &where, &sentence);
      text_format(&sentence, "is %.9g %s, outside the limits [%.9g, %.9g]", at.value, component->unit,
                  component->limit_min, component->limit_max);
      if (is_too_fast(walk, &at)) {
        text_add(&sentence, "; it also ");
        say_rate(walk, &at, &sentence);
      }
      return refuse(ASSAY_ACTION_LIMIT, &where, &sentence);
    }
  }
  return status_ok();
}

static assay_status check_rates(const struct walk *walk) {
  for (int64_t i = 0; i < walk->count; i++) {
    struct walked at;
    if (walk_element(walk, i, &at) && is_too_fast(walk, &at)) {
      struct text where = {0}, sentence = {0};
      say_place(walk, &at, &where, &sentence);
      say_rate(walk, &at, &sentence);
      return refuse(ASSAY_ACTION_RATE, &where, &sentence);
    }
  }
  return status_ok();
}

/* In the order of guard_answers. */
typedef assay_status action_check(const struct walk *walk);
static action_check *const checks[] = {check_age, check_shape, check_finite, check_limits, check_rates};
enum { CHECK_COUNT = sizeof checks / sizeof checks[0] };

static struct walk walk_of(const struct contract *contract, const struct contract_output *output,
                           const assay_tensor *raw, const struct action_context *context) {
  return (struct walk){contract, output, raw, context, raw != NULL ? tensor_count(raw) : 0};
}

assay_status contract_check_action(const struct contract *contract, const struct contract_output *output,
                                   const assay_tensor *raw, const struct action_context *context) {
  struct walk walk = walk_of(contract, output, raw, context);
  for (int c = 0; c < CHECK_COUNT; c++) {
    TRY(checks[c](&walk));
  }
  return status_ok();
}

/* --- the guard ----------------------------------------------------------------- */

const assay_code guard_answers[GUARD_ANSWER_COUNT] = {
    ASSAY_OK,           ASSAY_MONITOR_MISSING,  ASSAY_MONITOR_STALE, ASSAY_MONITOR_TRIPPED, ASSAY_ACTION_STALE,
    ASSAY_ACTION_SHAPE, ASSAY_ACTION_NONFINITE, ASSAY_ACTION_LIMIT,  ASSAY_ACTION_RATE,
};

const char *guard_answer_name(assay_code answer) { return answer == ASSAY_OK ? "accept" : assay_code_name(answer); }

bool guard_answer_find(const char *name, assay_code *out) {
  for (int i = 0; i < GUARD_ANSWER_COUNT; i++) {
    if (text_equal(guard_answer_name(guard_answers[i]), name)) {
      *out = guard_answers[i];
      return true;
    }
  }
  return false;
}

void guard_count(struct guard_counters *counters, assay_code answer) {
  for (int i = 0; i < GUARD_ANSWER_COUNT; i++) {
    counters->of[i] += guard_answers[i] == answer;
  }
}

bool output_is_limited(const struct contract_output *output) {
  bool limited = output->max_age_ms > 0;
  for (int32_t c = 0; c < output->n_components; c++) {
    limited |= output->components[c].has_limits;
  }
  return limited;
}

static struct action_context context_of(const struct guard_question *question, const struct guard_action *action) {
  return (struct action_context){question->inputs, question->age_ms, action->has_last ? action->last : NULL};
}

/* The components of the last step that is executed. */
static void mark_sent(const struct contract *contract, const struct guard_question *question,
                      struct guard_action *action) {
  struct action_context context = {question->inputs, question->age_ms, NULL};
  struct walk walk = walk_of(contract, action->output, action->raw, &context);
  for (int64_t i = 0; i < walk.count; i++) {
    struct walked at;
    if (walk_element(&walk, i, &at)) {
      action->last[at.component] = at.value;
    }
  }
  action->has_last = true;
}

assay_status contract_guard(const struct contract *contract, struct guard_question *question) {
  if (question->asks_monitors) {
    TRY(contract_check_monitors(contract, question->monitors, question->n_monitors));
  }
  for (int c = 0; c < CHECK_COUNT; c++) {
    for (size_t a = 0; a < question->n_actions; a++) {
      const struct guard_action *action = &question->actions[a];
      struct action_context context = context_of(question, action);
      struct walk walk = walk_of(contract, action->output, action->raw, &context);
      TRY(checks[c](&walk));
    }
  }
  for (size_t a = 0; a < question->n_actions; a++) {
    mark_sent(contract, question, &question->actions[a]);
  }
  return status_ok();
}
