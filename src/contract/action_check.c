/* Whether an action may be sent to the robot: age, shape, finiteness, limits and rates of every step that will be
 * executed, before the first of them is. Pure; nothing is ever clamped into range here, and a NaN refuses the whole.
 * Every comparison is written so that a NaN is on the refused side. */
#include <math.h>

#include "contract/action_walk.h"
#include "contract/compare.h"
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

double walk_value(const struct walk *walk, const struct walked *at) {
  return contract_decode_at(walk->output, walk->raw, at->i, walk->context->inputs);
}

double walk_before(const struct walk *walk, const struct walked *at) {
  if (at->step == 0) {
    return walk->context->last != NULL ? walk->context->last[at->index] : (double)NAN;
  }
  int64_t stride = 1;
  for (int32_t d = walk->output->horizon_axis + 1; d < walk->raw->rank; d++) {
    stride *= walk->raw->dims[d];
  }
  return contract_decode_at(walk->output, walk->raw, at->i - stride, walk->context->inputs);
}

double walk_distance(const struct walked *at, double before, double value) {
  bool turns = at->component->compare == COMPARE_ANGLE && at->component->group == NULL;
  return fabs(turns ? angle_difference(before, value, at->component->degrees) : value - before);
}

bool walk_element(const struct walk *walk, int64_t i, struct walked *out) {
  out->i = i;
  out->index = contract_component_of(walk->output, walk->raw, i, &out->step);
  out->component = &walk->output->components[out->index];
  return walk->output->execute_steps == 0 || out->step < walk->output->execute_steps; /* the rest is thrown away */
}

static void say_place(const struct walk *walk, const struct walked *at, struct text *where, struct text *sentence) {
  text_format(where, "output '%s'", walk->output->name);
  text_format(sentence, "'%s' at step %lld ", at->component->name, (long long)at->step);
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
    double raw = tensor_get(walk->raw, i), value = at.component->n_decode > 0 ? walk_value(walk, &at) : raw;
    bool bad = may_not_be(at.component, raw);
    if (bad || may_not_be(at.component, value)) {
      struct text where = {0}, sentence = {0};
      say_place(walk, &at, &where, &sentence);
      text_format(&sentence, "%s%s", bad ? "is " : "decodes to ",
                  value_is_nan(bad ? raw : value) ? "NaN"
                  : bad                           ? "infinite"
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

static double rate_between(const struct walk *walk, const struct walked *at, double before, double value) {
  return walk_distance(at, before, value) / (walk->contract->period_ms / 1000);
}

static void say_rate(const struct walk *walk, const struct walked *at, struct text *sentence) {
  double before = walk_before(walk, at), value = walk_value(walk, at);
  if (walk->contract->period_ms == 0) {
    text_add(sentence, "has a rate limit, but the contract gives no timing.period_ms to hold it against");
    return;
  }
  text_format(sentence, "moves from %.9g to %.9g %s, %.9g per second; the limit is %.9g", before, value,
              at->component->unit, rate_between(walk, at, before, value), at->component->limit_rate);
}

static bool is_too_fast(const struct walk *walk, const struct walked *at) {
  double limit = at->component->limit_rate, before = value_is_nan(limit) ? limit : walk_before(walk, at);
  return !value_is_nan(before) &&
         (walk->contract->period_ms == 0 || !(rate_between(walk, at, before, walk_value(walk, at)) <= limit));
}

static assay_status check_limits(const struct walk *walk) {
  for (int64_t i = 0; i < walk->count; i++) {
    struct walked at;
    if (!walk_element(walk, i, &at) || !at.component->has_limits) {
      continue;
    }
    double value = walk_value(walk, &at);
    if (is_outside(at.component, value)) {
      struct text where = {0}, sentence = {0};
      say_place(walk, &at, &where, &sentence);
      text_format(&sentence, "is %.9g %s, outside the limits [%.9g, %.9g]", value, at.component->unit,
                  at.component->limit_min, at.component->limit_max);
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
    if (walk_element(walk, i, &at) && at.component->has_limits && is_too_fast(walk, &at)) {
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
      action->last[at.index] = walk_value(&walk, &at);
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
