/* The observer: see observe.h. Memory is laid out once, at opening; a step computes each term, keeps it in the term's
 * history, and writes the observation. It compares nothing and knows no case. */
#include "contract/observe.h"

#include <math.h>
#include <string.h>

#include "core/fpenv.h"
#include "core/memory.h"
#include "kernels/kernels.h"

/* What a value is, and how far another program's may lie from it before the last rounding. */
struct known {
  double value, error;
  bool missing; /* nothing says what it is */
  bool turning; /* a phase so near the end of its turn that another program's may stand at the start */
};

/* The most of a value's magnitude, or of 1 where it is smaller, that rounding may excuse. A sum that cancels, scaled
 * up, could otherwise be anything. */
static const double rounding_share = 1e-3;

/* What one term remembers. */
struct term_memory {
  struct known *now;     /* [n_elements] */
  struct known *history; /* [history][n_elements], a ring; newest at `step % history` */
  struct known *answers; /* [lag][n_elements], a ring of what was answered at step s at s % lag */
};

struct observer {
  struct arena arena;
  const struct contract *contract;
  const struct contract_input *input;
  const struct contract_terms *terms;
  struct observer_options options;
  const struct kernels *kernels;
  double unit; /* half the distance of 1 to the next number of the tensor's dtype */
  int64_t step;
  int64_t answered; /* answers taken so far */
  struct term_memory *memory;
  assay_tensor tensor;
  double *allowed;
};

/* Half an ULP of 1. Observations of narrow floats are computed in wider ones by everybody; float16 and bfloat16 are the
 * narrowest that are used as they are. */
static double unit_of(assay_dtype dtype) {
  switch (dtype) {
    case ASSAY_FLOAT64:
      return 0x1p-53;
    case ASSAY_FLOAT32:
      return 0x1p-24;
    case ASSAY_FLOAT16:
      return 0x1p-11;
    case ASSAY_BFLOAT16:
      return 0x1p-8;
    default:
      return 0x1p-3;
  }
}

/* --- one term ------------------------------------------------------------------------------ */

static struct known unknown(void) { return (struct known){.missing = true}; }

/* NaN passes a clip: both comparisons are false for it. */
static double clip(double value, double low, double high) { return value < low ? low : value > high ? high : value; }

/* Carries the interval that is allowed, twice the error on both sides, through a clip: what lies beyond has none. */
static struct known clip_known(struct known x, double low, double high) {
  double value = clip(x.value, low, high);
  double below = value - clip(x.value - 2 * x.error, low, high), above = clip(x.value + 2 * x.error, low, high) - value;
  x.value = value;
  x.error = fmax(below, above) / 2;
  return x;
}

/* The steps of a term, with the error that one rounding to the dtype at each would leave. */
static struct known apply_steps(const struct contract_term *term, int32_t element, struct known x, double unit) {
  for (int32_t s = 0; s < term->n_steps; s++) {
    const struct term_step *step = &term->steps[s];
    double a = step->a[step->n == 1 ? 0 : element];
    switch (step->kind) {
      case TERM_OFFSET:
        x.value = x.value + a;
        x.error += unit * (fabs(a) + fabs(x.value));
        break;
      case TERM_SCALE:
        x.value = x.value * a;
        x.error = x.error * fabs(a) + 2 * unit * fabs(x.value);
        break;
      case TERM_DIVIDE:
        x.value = x.value / a;
        x.error = x.error / fabs(a) + 2 * unit * fabs(x.value);
        break;
      case TERM_CLIP:
        x = clip_known(x, a, step->b[step->n == 1 ? 0 : element]);
        break;
    }
  }
  return x;
}

static assay_status read_sensor(const struct observer *observer, const struct contract_term *term,
                                const struct fed_inputs *sensors, struct known *out) {
  const assay_tensor *tensor = NULL;
  for (size_t i = 0; sensors != NULL && i < sensors->count; i++) {
    tensor = text_equal(sensors->items[i].name, term->raw) ? sensors->items[i].tensor : tensor;
  }
  if (tensor == NULL && observer->options.sensors_may_lack) {
    for (int32_t e = 0; e < term->n_elements; e++) {
      out[e] = unknown();
    }
    return status_ok();
  }
  if (tensor == NULL) {
    return status_make(ASSAY_INPUT_MISSING, term->raw, "the term '%s' of input '%s' needs the sensor raw/%s, step %lld",
                       term->name, observer->input->name, term->raw, (long long)observer->step);
  }
  bool is_number = tensor->dtype == ASSAY_BOOL || dtype_is_float(tensor->dtype) || dtype_is_integer(tensor->dtype);
  if (!is_number || tensor_count(tensor) != term->n_elements) {
    return status_make(ASSAY_INPUT_SHAPE, term->raw,
                       "the sensor raw/%s holds %lld %s values a step, but the term '%s' of input '%s' has %d elements",
                       term->raw, (long long)tensor_count(tensor), assay_dtype_name(tensor->dtype), term->name,
                       observer->input->name, (int)term->n_elements);
  }
  for (int32_t e = 0; e < term->n_elements; e++) {
    double value = tensor_get(tensor, term->picks != NULL ? term->picks[e] : e);
    out[e] = (struct known){.value = value, .error = observer->unit * fabs(value)};
  }
  return status_ok();
}

/* The most that rounding may excuse of a value. Of float16 and bfloat16 a few roundings are more than the share. */
static double most_of(const struct observer *observer, double value) {
  return fmax(rounding_share, 64 * observer->unit) * fmax(fabs(value), 1);
}

static double clock_value(const struct kernels *kernels, enum clock_form form, double phase) {
  static const double turn = 6.283185307179586477;
  double angle = turn * phase, value = phase;
  if (form == CLOCK_SIN) {
    kernels->f64_sin(&angle, &value, 1, NULL);
  } else if (form == CLOCK_COS) {
    kernels->f64_cos(&angle, &value, 1, NULL);
  }
  return value;
}

static void read_clock(const struct observer *observer, const struct contract_term *term, struct known *out) {
  double turns = term->start + (double)observer->step / term->period_steps, phase = turns - floor(turns);
  /* of the phase, where time is kept in the dtype */
  double error = fmin(8 * observer->unit * (1 + turns), most_of(observer, 1) / 2);
  for (int32_t e = 0; e < term->n_elements; e++) {
    bool wraps = term->forms[e] == CLOCK_PHASE && (phase < error || phase > 1 - error);
    double share = term->forms[e] == CLOCK_PHASE ? error : 8 * error;
    out[e] = (struct known){
        .value = clock_value(observer->kernels, term->forms[e], phase), .error = wraps ? 1.0 : share, .turning = wraps};
    out[e] = observer->options.from_middle ? unknown() : out[e];
  }
}

/* What was answered `lag` steps ago. */
static assay_status read_answer(const struct observer *observer, const struct contract_term *term,
                                const struct term_memory *memory, struct known *out) {
  int64_t from = observer->step - term->lag;
  if (term->lag > 0 && from >= 0 && from >= observer->answered) {
    return status_make(ASSAY_OUTPUT_MISSING, term->output,
                       "the output '%s' of step %lld was not given to the term '%s'", term->output, (long long)from,
                       term->name);
  }
  for (int32_t e = 0; e < term->n_elements; e++) {
    if (term->lag == 0 || (from < 0 && observer->options.from_middle)) {
      out[e] = unknown();
    } else {
      out[e] = from < 0 ? (struct known){.value = term->initial[e], .error = observer->unit * fabs(term->initial[e])}
                        : memory->answers[(from % term->lag) * term->n_elements + e];
    }
  }
  return status_ok();
}

static assay_status compute_term(struct observer *observer, int32_t t, const struct fed_inputs *sensors) {
  const struct contract_term *term = &observer->terms->terms[t];
  struct term_memory *memory = &observer->memory[t];
  switch (term->source) {
    case TERM_SENSOR:
      TRY(read_sensor(observer, term, sensors, memory->now));
      break;
    case TERM_OUTPUT:
      TRY(read_answer(observer, term, memory, memory->now));
      break;
    case TERM_CLOCK:
      read_clock(observer, term, memory->now);
      break;
  }
  bool pending = term->source == TERM_OUTPUT && term->lag == 0;
  for (int32_t e = 0; e < term->n_elements && !pending; e++) {
    memory->now[e] = apply_steps(term, e, memory->now[e], observer->unit);
  }
  return status_ok();
}

/* --- history and the observation -------------------------------------------------------------- */

static void remember(struct observer *observer, int32_t t) {
  const struct contract_term *term = &observer->terms->terms[t];
  struct term_memory *memory = &observer->memory[t];
  size_t row = (size_t)term->n_elements;
  int32_t first = (int32_t)(observer->step % term->history), n = 1;
  if (observer->step == 0) {
    n = term->history; /* the steps before the first */
  }
  for (int32_t h = 0; h < n; h++) {
    struct known *to = memory->history + (size_t)((first + h) % term->history) * row;
    memcpy(to, memory->now, row * sizeof *to);
    for (int32_t e = 0; e < term->n_elements && h > 0; e++) {
      if (observer->options.from_middle) {
        to[e] = unknown();
      } else if (observer->terms->initial == HISTORY_ZEROS) {
        to[e] = (struct known){0};
      }
    }
  }
}

/* Puts a value in, clipped and rounded, with what another program's may differ by. */
static void put(struct observer *observer, int64_t at, struct known x) {
  const struct contract_terms *terms = observer->terms;
  x = terms->has_clip ? clip_known(x, terms->clip_min, terms->clip_max) : x;
  double allowed = 2 * x.error + 4 * observer->unit * fabs(x.value) + 0x1p-149;
  allowed = x.turning ? allowed : fmin(allowed, most_of(observer, x.value));
  tensor_set(&observer->tensor, at, x.value);
  /* Of a value that is not finite nothing is near. */
  observer->allowed[at] = x.missing ? (double)INFINITY : isfinite(x.value) ? allowed : 0.0;
}

static void write_term(struct observer *observer, int32_t t) {
  const struct contract_term *term = &observer->terms->terms[t];
  for (int32_t age = 0; age < term->history; age++) {
    int64_t at = terms_position(observer->terms, t, age);
    int64_t slot = (observer->step + term->history - age) % term->history;
    const struct known *from = observer->memory[t].history + slot * term->n_elements;
    for (int32_t e = 0; e < term->n_elements; e++) {
      put(observer, at + e, from[e]);
    }
  }
}

assay_status observer_step(struct observer *observer, const struct fed_inputs *sensors) {
  struct fpenv saved = fpenv_enter();
  assay_status status = status_ok();
  observer->step++;
  for (int32_t t = 0; t < observer->terms->n_terms && assay_status_ok(status); t++) {
    status = compute_term(observer, t, sensors);
    if (assay_status_ok(status)) {
      remember(observer, t);
      write_term(observer, t);
    }
  }
  fpenv_leave(saved);
  return status;
}

/* --- answers ---------------------------------------------------------------------------------- */

static const assay_tensor *find_output(const struct fed_inputs *outputs, const char *name) {
  for (size_t i = 0; outputs != NULL && i < outputs->count; i++) {
    if (text_equal(outputs->items[i].name, name)) {
      return outputs->items[i].tensor;
    }
  }
  return NULL;
}

/* The shape is the contract's, so that an element means the same. A wider float does as well. */
static assay_status check_answer(const struct contract_output *output, const char *term, const assay_tensor *answer) {
  bool fits = answer->rank == output->rank && (dtype_is_float(answer->dtype) || answer->dtype == output->dtype);
  for (int32_t i = 0; i < output->rank && fits; i++) {
    fits = answer->dims[i] == output->dims[i].min;
  }
  if (fits) {
    return status_ok();
  }
  struct text found = {0}, expected = {0};
  tensor_describe(answer, &found);
  contract_describe_dims(output->dims, output->rank, &expected);
  assay_status status =
      status_make(ASSAY_OUTPUT_SHAPE, output->name,
                  "the output '%s' is %s, so the term '%s' cannot be made from it; the contract says %s%s",
                  output->name, text_string(&found), term, assay_dtype_name(output->dtype), text_string(&expected));
  text_free(&found);
  text_free(&expected);
  return status;
}

/* Element `at` of an answer in the term's space. */
static struct known answered(const struct contract_output *output, const struct contract_term *term, int64_t at,
                             const assay_tensor *answer, const struct fed_inputs *measured, double unit) {
  double raw = tensor_get(answer, at), error = unit * fabs(raw);
  if (!term->decoded) {
    return (struct known){.value = raw, .error = error};
  }
  int64_t step;
  const struct contract_component *component = &output->components[contract_component_of(output, answer, at, &step)];
  double value = contract_decode_at(output, answer, at, measured);
  for (int32_t s = 0; s < component->n_decode; s++) {
    const struct decode_step *decode = &component->decode[s];
    double a = fabs(decode->n_each > 0 && step < decode->n_each ? decode->each[step] : decode->a);
    error = decode->kind == DECODE_SCALE ? error * a : error;
    error += unit * (decode->kind == DECODE_OFFSET ? a : 0.0);
  }
  return (struct known){.value = value, .error = 2 * error + 4 * unit * fabs(value)};
}

static assay_status take_answer(struct observer *observer, int32_t t, const struct fed_inputs *outputs,
                                const struct fed_inputs *measured, struct known *into) {
  const struct contract_term *term = &observer->terms->terms[t];
  const assay_tensor *answer = find_output(outputs, term->output);
  const struct contract_output *output = contract_find_output(observer->contract, term->output);
  if (answer == NULL && !observer->options.answers_may_lack && term->lag > 0) {
    return status_make(ASSAY_OUTPUT_MISSING, term->output,
                       "the term '%s' of input '%s' feeds the output '%s' back, but it was not answered", term->name,
                       observer->input->name, term->output);
  }
  if (answer != NULL) {
    TRY(check_answer(output, term->name, answer));
  }
  for (int32_t e = 0; e < term->n_elements; e++) {
    into[e] = answer == NULL ? unknown() : answered(output, term, term->picks[e], answer, measured, observer->unit);
  }
  return status_ok();
}

assay_status observer_answer(struct observer *observer, const struct fed_inputs *outputs,
                             const struct fed_inputs *measured) {
  struct fpenv saved = fpenv_enter();
  assay_status status = status_ok();
  for (int32_t t = 0; t < observer->terms->n_terms && assay_status_ok(status); t++) {
    const struct contract_term *term = &observer->terms->terms[t];
    if (term->source == TERM_OUTPUT && term->lag > 0) {
      int64_t slot = observer->step % term->lag;
      status = take_answer(observer, t, outputs, measured, observer->memory[t].answers + slot * term->n_elements);
    }
  }
  observer->answered = assay_status_ok(status) ? observer->step + 1 : observer->answered;
  fpenv_leave(saved);
  return status;
}

assay_status observer_fill(struct observer *observer, const struct fed_inputs *outputs,
                           const struct fed_inputs *measured) {
  struct fpenv saved = fpenv_enter();
  assay_status status = status_ok();
  for (int32_t t = 0; t < observer->terms->n_terms && assay_status_ok(status); t++) {
    const struct contract_term *term = &observer->terms->terms[t];
    struct known *now = observer->memory[t].now;
    if (term->source != TERM_OUTPUT || term->lag > 0) {
      continue;
    }
    status = take_answer(observer, t, outputs, measured, now);
    for (int32_t e = 0; e < term->n_elements && assay_status_ok(status); e++) {
      now[e] = apply_steps(term, e, now[e], observer->unit);
    }
    if (assay_status_ok(status)) {
      remember(observer, t);
      write_term(observer, t);
    }
  }
  fpenv_leave(saved);
  return status;
}

assay_status observe_fill(const struct contract *contract, const struct contract_input *input, const char *output,
                          const assay_tensor *answer, const struct fed_inputs *measured, assay_tensor *observation) {
  const struct contract_terms *terms = input->terms;
  if (terms != NULL && (tensor_count(observation) != terms->size || !dtype_is_float(observation->dtype))) {
    return status_make(ASSAY_INPUT_SHAPE, input->name, "the input '%s' has %lld elements, but its terms have %lld",
                       input->name, (long long)tensor_count(observation), (long long)terms->size);
  }
  struct fpenv saved = fpenv_enter();
  assay_status status = status_ok();
  for (int32_t t = 0; terms != NULL && t < terms->n_terms && assay_status_ok(status); t++) {
    const struct contract_term *term = &terms->terms[t];
    const struct contract_output *from = contract_find_output(contract, output);
    if (term->source != TERM_OUTPUT || term->lag > 0 || !text_equal(term->output, output)) {
      continue;
    }
    status = check_answer(from, term->name, answer);
    for (int32_t e = 0; e < term->n_elements && assay_status_ok(status); e++) {
      struct known x = apply_steps(term, e, answered(from, term, term->picks[e], answer, measured, 0), 0);
      double value = terms->has_clip ? clip(x.value, terms->clip_min, terms->clip_max) : x.value;
      tensor_set(observation, terms_position(terms, t, 0) + e, value);
    }
  }
  fpenv_leave(saved);
  return status;
}

/* --- opening ------------------------------------------------------------------------------------ */

static assay_status lay_out(struct observer *observer) {
  const struct contract_input *input = observer->input;
  const struct contract_terms *terms = observer->terms;
  int64_t dims[ASSAY_RANK_MAX];
  ARENA_NEW(&observer->arena, observer->memory, terms->n_terms);
  for (int32_t t = 0; t < terms->n_terms; t++) {
    const struct contract_term *term = &terms->terms[t];
    struct term_memory *memory = &observer->memory[t];
    ARENA_NEW(&observer->arena, memory->now, term->n_elements);
    ARENA_NEW(&observer->arena, memory->history, (size_t)term->n_elements * (size_t)term->history);
    if (term->lag > 0) {
      ARENA_NEW(&observer->arena, memory->answers, (size_t)term->n_elements * (size_t)term->lag);
    }
  }
  for (int32_t i = 0; i < input->rank; i++) {
    dims[i] = input->dims[i].min;
  }
  ARENA_NEW(&observer->arena, observer->allowed, terms->size);
  return tensor_new_in(&observer->arena, input->dtype, dims, input->rank, &observer->tensor);
}

assay_status observer_open(const struct contract *contract, const struct contract_input *input,
                           const struct contract_terms *terms, struct observer_options options, struct observer **out) {
  struct observer *observer = memory_alloc(1, sizeof *observer);
  if (observer == NULL) {
    return status_no_memory(sizeof *observer);
  }
  *observer = (struct observer){.contract = contract,
                                .input = input,
                                .terms = terms,
                                .options = options,
                                .kernels = kernels_best(),
                                .unit = unit_of(input->dtype),
                                .step = -1};
  assay_status status = lay_out(observer);
  if (!assay_status_ok(status)) {
    observer_close(observer);
    return status;
  }
  *out = observer;
  return status_ok();
}

void observer_close(struct observer *observer) {
  if (observer != NULL) {
    arena_free(&observer->arena);
    memory_free(observer);
  }
}

void observer_reset(struct observer *observer) {
  observer->step = -1;
  observer->answered = 0;
}

const assay_tensor *observer_tensor(const struct observer *observer) { return &observer->tensor; }
const double *observer_allowed(const struct observer *observer) { return observer->allowed; }
