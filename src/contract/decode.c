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

/* The element of the input that a step adds; NAN when it was not fed, or is too short. */
static double added(const struct decode_step *step, const struct fed_inputs *inputs) {
  for (size_t i = 0; inputs != NULL && i < inputs->count; i++) {
    const assay_tensor *tensor = inputs->items[i].tensor;
    if (text_equal(inputs->items[i].name, step->input) && step->element < tensor_count(tensor)) {
      return tensor_get(tensor, step->element);
    }
  }
  return (double)NAN;
}

double decode_value(const struct contract_component *component, double value, const struct fed_inputs *inputs) {
  for (int32_t i = 0; i < component->n_decode; i++) {
    const struct decode_step *step = &component->decode[i];
    switch (step->kind) {
      case DECODE_CLIP: /* NaN passes through: both comparisons are false for it */
        value = value < step->a ? step->a : value > step->b ? step->b : value;
        break;
      case DECODE_SCALE:
        value = value * step->a;
        break;
      case DECODE_OFFSET:
        value = value + step->a;
        break;
      case DECODE_ADD:
        value = value + added(step, inputs);
        break;
    }
  }
  return value;
}

void contract_decode(const struct contract_output *output, const assay_tensor *raw, const struct fed_inputs *inputs,
                     double *out) {
  struct fpenv saved = fpenv_enter();
  int64_t count = tensor_count(raw);
  for (int64_t i = 0; i < count; i++) {
    int64_t step;
    const struct contract_component *component = &output->components[contract_component_of(output, raw, i, &step)];
    out[i] = decode_value(component, tensor_get(raw, i), inputs);
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
