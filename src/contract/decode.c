/* From a model's own numbers to physical units, and the exact comparison of thresholds. Pure
 * functions; nothing is allocated and nothing is refused here. */
#include <math.h>

#include "contract/apply.h"
#include "core/fpenv.h"
#include "tensor/floatfmt.h"

/* Elements of the tensor behind axis `axis` for one step along it. */
static int64_t stride_of(const assay_tensor *tensor, int32_t axis) {
  int64_t stride = 1;
  for (int32_t i = axis + 1; i < tensor->rank; i++) {
    stride *= tensor->dims[i];
  }
  return stride;
}

static int64_t index_along(const assay_tensor *tensor, int32_t axis, int64_t i) {
  bool present = axis >= 0 && axis < tensor->rank && tensor->dims[axis] > 0;
  return present ? i / stride_of(tensor, axis) % tensor->dims[axis] : 0;
}

int32_t contract_component_of(const struct contract_output *output, const assay_tensor *tensor, int64_t i,
                              int64_t *step) {
  *step = index_along(tensor, output->horizon_axis, i);
  int64_t component = index_along(tensor, output->component_axis, i);
  return component < output->n_components ? (int32_t)component : output->n_components - 1;
}

/* The measured element that a step adds; NAN when it was not fed, or has no such element. */
static double added(const struct decode_step *step, const struct fed_inputs *inputs) {
  const assay_tensor *tensor = NULL;
  for (size_t i = 0; inputs != NULL && tensor == NULL && i < inputs->count; i++) {
    tensor = text_equal(inputs->items[i].name, step->input) ? inputs->items[i].tensor : NULL;
  }
  bool numbers = tensor != NULL &&
                 (dtype_is_float(tensor->dtype) || dtype_is_integer(tensor->dtype) || tensor->dtype == ASSAY_BOOL);
  int64_t count = numbers ? tensor_count(tensor) : 0, size = step->frame_size > 0 ? step->frame_size : count;
  int64_t frames = size > 0 ? count / size : 0, frame = step->frame < 0 ? frames - 1 : step->frame;
  bool there = frame >= 0 && frame < frames && step->element < size;
  return there ? tensor_get(tensor, frame * size + step->element) : (double)NAN;
}

/* The number of a scale or an offset at step `horizon` of a chunk. */
static double number_at(const struct decode_step *step, int64_t horizon) {
  if (step->n_each == 0) {
    return step->a;
  }
  return horizon < step->n_each ? step->each[horizon] : (double)NAN;
}

/* Decode steps `from` to `to` of a component. */
static double apply(const struct contract_component *component, int32_t from, int32_t to, double value, int64_t horizon,
                    const struct fed_inputs *inputs) {
  for (int32_t i = from; i < to; i++) {
    const struct decode_step *step = &component->decode[i];
    switch (step->kind) {
      case DECODE_CLIP: /* NaN passes through: both comparisons are false for it */
        value = value < step->a ? step->a : value > step->b ? step->b : value;
        break;
      case DECODE_SCALE:
        value = value * number_at(step, horizon);
        break;
      case DECODE_OFFSET:
        value = value + number_at(step, horizon);
        break;
      case DECODE_ADD:
        value = value + added(step, inputs);
        break;
    }
  }
  return value;
}

/* The step that makes each step of a chunk relative to the one before; n_decode when there is none. */
static int32_t cumulative_at(const struct contract_component *component) {
  int32_t i = 0;
  while (i < component->n_decode && !component->decode[i].cumulative) {
    i++;
  }
  return i;
}

double contract_decode_at(const struct contract_output *output, const assay_tensor *raw, int64_t i,
                          const struct fed_inputs *inputs) {
  int64_t horizon;
  const struct contract_component *component = &output->components[contract_component_of(output, raw, i, &horizon)];
  int32_t cumulative = cumulative_at(component), end = component->n_decode;
  if (cumulative == end) {
    return apply(component, 0, end, tensor_get(raw, i), horizon, inputs);
  }
  double sum = added(&component->decode[cumulative], inputs);
  int64_t stride = stride_of(raw, output->horizon_axis);
  for (int64_t h = 0; h <= horizon; h++) {
    sum = apply(component, 0, cumulative, tensor_get(raw, i - (horizon - h) * stride), h, inputs) + sum;
  }
  return apply(component, cumulative + 1, end, sum, horizon, inputs);
}

/* Up to and with the cumulative step, which finds its value of the step before in `out`; then the rest. */
static void decode_running(const struct contract_output *output, const assay_tensor *raw,
                           const struct fed_inputs *inputs, double *out) {
  int64_t count = tensor_count(raw), horizon, stride = stride_of(raw, output->horizon_axis);
  for (int64_t i = 0; i < count; i++) {
    const struct contract_component *component = &output->components[contract_component_of(output, raw, i, &horizon)];
    int32_t cumulative = cumulative_at(component);
    out[i] = apply(component, 0, cumulative, tensor_get(raw, i), horizon, inputs);
    if (cumulative < component->n_decode) {
      out[i] += horizon > 0 ? out[i - stride] : added(&component->decode[cumulative], inputs);
    }
  }
  for (int64_t i = 0; i < count; i++) {
    const struct contract_component *component = &output->components[contract_component_of(output, raw, i, &horizon)];
    out[i] = apply(component, cumulative_at(component) + 1, component->n_decode, out[i], horizon, inputs);
  }
}

void contract_decode(const struct contract_output *output, const assay_tensor *raw, const struct fed_inputs *inputs,
                     double *out) {
  struct fpenv saved = fpenv_enter();
  int64_t count = tensor_count(raw), horizon;
  bool running = false;
  for (int32_t c = 0; c < output->n_components && !running; c++) {
    running = cumulative_at(&output->components[c]) < output->components[c].n_decode;
  }
  if (running) {
    decode_running(output, raw, inputs, out);
  }
  for (int64_t i = 0; i < count && !running; i++) {
    const struct contract_component *component = &output->components[contract_component_of(output, raw, i, &horizon)];
    out[i] = apply(component, 0, component->n_decode, tensor_get(raw, i), horizon, inputs);
  }
  fpenv_leave(saved);
}

/* What a tensor of that type would hold; integers and doubles stay what they are. */
static double round_to(assay_dtype dtype, double value) {
  if (isnan(value)) {
    return value;
  }
  switch (dtype) {
    case ASSAY_FLOAT16:
      return (double)fp16_to_float(fp16_from_double(value));
    case ASSAY_BFLOAT16:
      return (double)bf16_to_float(bf16_from_double(value));
    case ASSAY_FLOAT32:
      return (double)(float)value;
    case ASSAY_FLOAT64:
      return value;
    default:
      return dtype_is_float(dtype) ? (double)float_round_to(dtype, (float)value) : value;
  }
}

bool decision_is_positive(const struct decision *decision, double value, assay_dtype dtype) {
  double rounded = round_to(dtype, value), threshold = round_to(dtype, decision->threshold);
  return decision->at_or_above ? rounded >= threshold : rounded > threshold;
}
