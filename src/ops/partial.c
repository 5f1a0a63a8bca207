/* What is known of the elements of small integer vectors while inferring. Must never know more than is certain. */
#include "ops/partial.h"

#include "ops/infer_help.h"

bool partial_of(const struct infer_value *value, struct dim out[ASSAY_RANK_MAX], int32_t *count) {
  if (value == NULL) {
    return false;
  }
  if (value->partial != NULL && value->partial_count <= ASSAY_RANK_MAX) {
    *count = value->partial_count;
    for (int32_t i = 0; i < *count; i++) {
      out[i] = value->partial[i];
    }
    return true;
  }
  const assay_tensor *constant = value->constant;
  if (constant == NULL || constant->rank > 1 || !dtype_is_integer(constant->dtype) ||
      tensor_count(constant) > ASSAY_RANK_MAX) {
    return false;
  }
  *count = (int32_t)tensor_count(constant);
  for (int32_t i = 0; i < *count; i++) {
    int64_t x = tensor_get_int(constant, i);
    out[i] = x >= 0 ? dim_of(x) : dim_unknown();
  }
  return true;
}

assay_status partial_set(struct infer *infer, int32_t output, const struct dim *values, int32_t count) {
  struct dim *partial;
  ARENA_NEW(infer->arena, partial, count + 1);
  for (int32_t i = 0; i < count; i++) {
    partial[i] = values[i];
  }
  infer->outputs[output].partial = partial;
  infer->outputs[output].partial_count = count;
  return status_ok();
}

assay_status partial_keep(struct infer *infer) {
  struct dim values[ASSAY_RANK_MAX];
  int32_t count;
  return partial_of(infer->inputs[0], values, &count) ? partial_set(infer, 0, values, count) : status_ok();
}
