/* Rounding by the precision policy, NaN at the border of the engine, and the way between narrow
 * tensors and float32. Nothing here changes an integer. */
#include "engine/precision.h"

#include <string.h>

#include "core/text.h"
#include "tensor/floatfmt.h"

static const char *const precision_names[] = {"fp32", "fp64", "tf32", "bf16", "fp16"};
enum { PRECISION_COUNT = sizeof precision_names / sizeof *precision_names };

const char *precision_name(enum precision_kind kind) {
  return (unsigned)kind < PRECISION_COUNT ? precision_names[kind] : "unknown";
}

bool precision_find(const char *name, enum precision_kind *out) {
  for (int i = 0; i < PRECISION_COUNT; i++) {
    if (text_equal(name, precision_names[i])) {
      *out = (enum precision_kind)i;
      return true;
    }
  }
  return false;
}

const char *precision_rounding(enum precision_kind kind) {
  switch (kind) {
    case PRECISION_FP32:
      return "nothing beyond fp32 itself";
    case PRECISION_FP64:
      return "nothing beyond fp64 itself";
    case PRECISION_TF32:
      return "operands of dot products to tf32";
    case PRECISION_BF16:
      return "inputs, weights and outputs of every node to bf16";
    case PRECISION_FP16:
      return "inputs, weights and outputs of every node to fp16, beyond 65504 to infinity";
  }
  return "unknown";
}

struct policy policy_of(const struct session_options *options) {
  struct policy policy = {.precision = options->precision, .keep = options->keep, .n_keep = options->n_keep};
  policy.tf32_operands = options->precision == PRECISION_TF32;
  if (options->precision == PRECISION_FP16) {
    policy.storage = ASSAY_FLOAT16;
  } else if (options->precision == PRECISION_BF16) {
    policy.storage = ASSAY_BFLOAT16;
  }
  return policy;
}

bool policy_keeps(const struct policy *policy, const struct node *node) {
  for (int32_t i = 0; i < policy->n_keep; i++) {
    if (text_equal(policy->keep[i], node->label)) {
      return true;
    }
  }
  return false;
}

/* Inputs whose values decide the shape of the output. */
static bool decides_shape(const struct node *node, int32_t input) {
  return input > 0 && node->domain[0] == '\0' &&
         (text_equal(node->op_type, "Resize") || text_equal(node->op_type, "Upsample"));
}

bool policy_rounds_input(const struct policy *policy, const struct node *node, uint32_t dot_operands, int32_t input) {
  if (policy->storage != ASSAY_UNDEFINED) {
    return !decides_shape(node, input);
  }
  return policy->tf32_operands && input < 32 && (dot_operands >> input & 1u) != 0;
}

void policy_round(const struct policy *policy, const float *from, float *to, int64_t count) {
  if (policy->tf32_operands) {
    for (int64_t i = 0; i < count; i++) {
      to[i] = tf32_round(from[i]);
    }
  } else if (policy->storage == ASSAY_FLOAT16) {
    for (int64_t i = 0; i < count; i++) {
      to[i] = fp16_to_float(fp16_from_float(from[i]));
    }
  } else if (policy->storage == ASSAY_BFLOAT16) {
    for (int64_t i = 0; i < count; i++) {
      to[i] = bf16_to_float(bf16_from_float(from[i]));
    }
  } else if (from != to) {
    memcpy(to, from, (size_t)count * sizeof *to);
  }
}

static const uint32_t nan_32 = 0x7FC00000u;
static const uint64_t nan_64 = 0x7FF8000000000000u;

static bool foreign_32(uint32_t bits) { return (bits & 0x7FFFFFFFu) > 0x7F800000u && bits != nan_32; }
static bool foreign_64(uint64_t bits) { return (bits & 0x7FFFFFFFFFFFFFFFu) > 0x7FF0000000000000u && bits != nan_64; }
static bool foreign_fp16(uint16_t bits) { return (bits & 0x7FFFu) > 0x7C00u && bits != 0x7E00u; }
static bool foreign_bf16(uint16_t bits) { return (bits & 0x7FFFu) > 0x7F80u && bits != 0x7FC0u; }

bool nan_is_foreign(const assay_tensor *tensor) {
  int64_t count = tensor_count(tensor);
  bool foreign = false;
  if (tensor->dtype == ASSAY_FLOAT32) {
    const uint32_t *bits = tensor->data;
    for (int64_t i = 0; i < count; i++) {
      foreign |= foreign_32(bits[i]);
    }
  } else if (tensor->dtype == ASSAY_FLOAT64) {
    const uint64_t *bits = tensor->data;
    for (int64_t i = 0; i < count; i++) {
      foreign |= foreign_64(bits[i]);
    }
  } else if (tensor->dtype == ASSAY_FLOAT16 || tensor->dtype == ASSAY_BFLOAT16) {
    const uint16_t *bits = tensor->data;
    for (int64_t i = 0; i < count; i++) {
      foreign |= tensor->dtype == ASSAY_FLOAT16 ? foreign_fp16(bits[i]) : foreign_bf16(bits[i]);
    }
  }
  return foreign;
}

void nan_canonicalise(assay_tensor *tensor) {
  int64_t count = tensor_count(tensor);
  if (tensor->dtype == ASSAY_FLOAT32) {
    uint32_t *bits = tensor->data;
    for (int64_t i = 0; i < count; i++) {
      bits[i] = foreign_32(bits[i]) ? nan_32 : bits[i];
    }
  } else if (tensor->dtype == ASSAY_FLOAT64) {
    uint64_t *bits = tensor->data;
    for (int64_t i = 0; i < count; i++) {
      bits[i] = foreign_64(bits[i]) ? nan_64 : bits[i];
    }
  } else if (tensor->dtype == ASSAY_FLOAT16 || tensor->dtype == ASSAY_BFLOAT16) {
    uint16_t *bits = tensor->data;
    bool half = tensor->dtype == ASSAY_FLOAT16;
    for (int64_t i = 0; i < count; i++) {
      bool foreign = half ? foreign_fp16(bits[i]) : foreign_bf16(bits[i]);
      bits[i] = foreign ? (half ? (uint16_t)0x7E00u : (uint16_t)0x7FC0u) : bits[i];
    }
  }
}

bool dtype_is_narrow(assay_dtype dtype) { return dtype == ASSAY_FLOAT16 || dtype == ASSAY_BFLOAT16; }

void narrow_to_float(const assay_tensor *from, assay_tensor *to) {
  int64_t count = tensor_count(from);
  const uint16_t *bits = from->data;
  float *values = to->data;
  for (int64_t i = 0; i < count; i++) {
    values[i] = from->dtype == ASSAY_FLOAT16 ? fp16_to_float(bits[i]) : bf16_to_float(bits[i]);
  }
}

void narrow_from_float(const assay_tensor *from, assay_tensor *to) {
  int64_t count = tensor_count(from);
  const float *values = from->data;
  uint16_t *bits = to->data;
  for (int64_t i = 0; i < count; i++) {
    bits[i] = to->dtype == ASSAY_FLOAT16 ? fp16_from_float(values[i]) : bf16_from_float(values[i]);
  }
}
