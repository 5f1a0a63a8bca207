/* Single elements of any type as double or integer and back. For reports and
 * small tensors; the kernels have their own loops. */
#include <math.h>
#include <string.h>

#include "tensor/floatfmt.h"
#include "tensor/tensor.h"

/* Field i of a packed array, low bits first. */
static unsigned packed_get(const assay_tensor *tensor, int64_t i, unsigned bits) {
  unsigned per_byte = 8 / bits;
  unsigned byte = ((const uint8_t *)tensor->data)[(uint64_t)i / per_byte];
  unsigned shift = (unsigned)((uint64_t)i % per_byte) * bits;
  return (byte >> shift) & ((1U << bits) - 1);
}

static void packed_set(assay_tensor *tensor, int64_t i, unsigned bits, unsigned value) {
  unsigned per_byte = 8 / bits;
  uint8_t *byte = (uint8_t *)tensor->data + (uint64_t)i / per_byte;
  unsigned shift = (unsigned)((uint64_t)i % per_byte) * bits;
  unsigned mask = ((1U << bits) - 1) << shift;
  *byte = (uint8_t)((*byte & ~mask) | ((value << shift) & mask));
}

static int sign_extend(unsigned value, unsigned bits) {
  return (int)value - (value >> (bits - 1) != 0 ? 1 << bits : 0);
}

int64_t tensor_get_int(const assay_tensor *tensor, int64_t i) {
  const void *data = tensor->data;
  switch (tensor->dtype) {
    case ASSAY_BOOL:
      return ((const uint8_t *)data)[i] != 0;
    case ASSAY_UINT8:
      return ((const uint8_t *)data)[i];
    case ASSAY_INT8:
      return ((const int8_t *)data)[i];
    case ASSAY_UINT16:
      return ((const uint16_t *)data)[i];
    case ASSAY_INT16:
      return ((const int16_t *)data)[i];
    case ASSAY_UINT32:
      return ((const uint32_t *)data)[i];
    case ASSAY_INT32:
      return ((const int32_t *)data)[i];
    case ASSAY_UINT64:
      return (int64_t)((const uint64_t *)data)[i];
    case ASSAY_INT64:
      return ((const int64_t *)data)[i];
    case ASSAY_UINT4:
    case ASSAY_UINT2:
      return packed_get(tensor, i, (unsigned)assay_dtype_bits(tensor->dtype));
    case ASSAY_INT4:
    case ASSAY_INT2: {
      unsigned bits = (unsigned)assay_dtype_bits(tensor->dtype);
      return sign_extend(packed_get(tensor, i, bits), bits);
    }
    default:
      return 0;
  }
}

double tensor_get(const assay_tensor *tensor, int64_t i) {
  const void *data = tensor->data;
  switch (tensor->dtype) {
    case ASSAY_FLOAT32:
      return (double)((const float *)data)[i];
    case ASSAY_FLOAT64:
      return ((const double *)data)[i];
    case ASSAY_FLOAT16:
      return (double)fp16_to_float(((const uint16_t *)data)[i]);
    case ASSAY_BFLOAT16:
      return (double)bf16_to_float(((const uint16_t *)data)[i]);
    case ASSAY_FLOAT8E4M3FN:
    case ASSAY_FLOAT8E4M3FNUZ:
    case ASSAY_FLOAT8E5M2:
    case ASSAY_FLOAT8E5M2FNUZ:
    case ASSAY_FLOAT8E8M0:
      return (double)small_float_to_float(tensor->dtype, ((const uint8_t *)data)[i]);
    case ASSAY_FLOAT4E2M1:
      return (double)small_float_to_float(tensor->dtype, (uint8_t)packed_get(tensor, i, 4));
    case ASSAY_UINT64:
      return (double)((const uint64_t *)data)[i];
    default:
      return dtype_is_integer(tensor->dtype) || tensor->dtype == ASSAY_BOOL ? (double)tensor_get_int(tensor, i)
                                                                            : (double)NAN;
  }
}

/* Half to even without touching the rounding mode: adding and taking away 2^52
 * leaves no fraction; larger numbers have none. */
static double round_half_even(double value) {
  const double large = 4503599627370496.0; /* 2^52 */
  double magnitude = fabs(value);
  if (!(magnitude < large)) {
    return value;
  }
  return copysign((magnitude + large) - large, value);
}

static uint64_t to_unsigned(double value, unsigned bits) {
  double rounded = round_half_even(value);
  double limit = ldexp(1.0, (int)bits);
  if (!(rounded > 0)) { /* NaN too */
    return 0;
  }
  return rounded >= limit ? UINT64_MAX >> (64 - bits) : (uint64_t)rounded;
}

static int64_t to_signed(double value, unsigned bits) {
  double rounded = round_half_even(value);
  double limit = ldexp(1.0, (int)bits - 1);
  if (isnan(rounded)) {
    return 0;
  }
  int64_t largest = (int64_t)(UINT64_MAX >> (65 - bits));
  if (rounded >= limit) {
    return largest;
  }
  return rounded < -limit ? -largest - 1 : (int64_t)rounded;
}

static void set_integer(assay_tensor *tensor, int64_t i, double value) {
  unsigned bits = (unsigned)assay_dtype_bits(tensor->dtype);
  uint64_t raw = dtype_is_signed(tensor->dtype) ? (uint64_t)to_signed(value, bits) : to_unsigned(value, bits);
  switch (bits) {
    case 64:
      ((uint64_t *)tensor->data)[i] = raw;
      break;
    case 32:
      ((uint32_t *)tensor->data)[i] = (uint32_t)raw;
      break;
    case 16:
      ((uint16_t *)tensor->data)[i] = (uint16_t)raw;
      break;
    case 8:
      ((uint8_t *)tensor->data)[i] = (uint8_t)raw;
      break;
    default:
      packed_set(tensor, i, bits, (unsigned)(raw & 15));
      break;
  }
}

void tensor_set(assay_tensor *tensor, int64_t i, double value) {
  void *data = tensor->data;
  switch (tensor->dtype) {
    case ASSAY_FLOAT32:
      ((float *)data)[i] = (float)value;
      break;
    case ASSAY_FLOAT64:
      ((double *)data)[i] = value;
      break;
    case ASSAY_FLOAT16:
      ((uint16_t *)data)[i] = fp16_from_double(value);
      break;
    case ASSAY_BFLOAT16:
      ((uint16_t *)data)[i] = bf16_from_double(value);
      break;
    case ASSAY_FLOAT8E4M3FN:
    case ASSAY_FLOAT8E4M3FNUZ:
    case ASSAY_FLOAT8E5M2:
    case ASSAY_FLOAT8E5M2FNUZ:
    case ASSAY_FLOAT8E8M0:
      ((uint8_t *)data)[i] = small_float_from_double(tensor->dtype, value, true);
      break;
    case ASSAY_FLOAT4E2M1:
      packed_set(tensor, i, 4, small_float_from_double(tensor->dtype, value, true));
      break;
    case ASSAY_BOOL:
      ((uint8_t *)data)[i] = value != 0;
      break;
    default:
      if (dtype_is_integer(tensor->dtype)) {
        set_integer(tensor, i, value);
      }
      break;
  }
}

void tensor_to_double(const assay_tensor *tensor, double *out) {
  int64_t count = tensor_count(tensor);
  if (tensor->dtype == ASSAY_FLOAT64 && count > 0) {
    memcpy(out, tensor->data, tensor->bytes);
    return;
  }
  for (int64_t i = 0; i < count; i++) {
    out[i] = tensor_get(tensor, i);
  }
}
