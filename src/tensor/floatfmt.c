/* Conversions of the narrow float formats, on the bits alone, so that no rounding
 * mode, flush to zero or compiler can change a result. Each conversion rounds
 * once, half to even. */
#include "tensor/floatfmt.h"

#include <string.h>

static uint32_t float_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint64_t double_bits(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static const uint32_t float_infinity = 0x7F800000, float_nan = 0x7FC00000;

/* --- fp32 to 16 bits, quickly ------------------------------------------- */

float fp16_to_float(uint16_t bits) {
  uint32_t sign = (uint32_t)(bits & 0x8000) << 16;
  uint32_t exponent = (bits >> 10) & 31, fraction = bits & 0x3FF;
  if (exponent == 31) {
    return float_of(fraction != 0 ? float_nan : sign | float_infinity);
  }
  if (exponent != 0) {
    return float_of(sign | ((exponent + 112) << 23) | (fraction << 13));
  }
  if (fraction == 0) {
    return float_of(sign);
  }
  uint32_t up = (uint32_t)__builtin_clz(fraction) - 21; /* brings the leading 1 to bit 10 */
  return float_of(sign | ((113 - up) << 23) | ((fraction << (up + 13)) & 0x7FFFFF));
}

/* m / 2^shift, half to even; 1 <= shift <= 31. */
static uint32_t shift_round(uint32_t m, uint32_t shift) {
  uint32_t kept = m >> shift, rest = m & ((1U << shift) - 1), half = 1U << (shift - 1);
  return kept + (rest > half || (rest == half && (kept & 1) != 0));
}

uint16_t fp16_from_float(float value) {
  uint32_t bits = float_bits(value), sign = (bits >> 16) & 0x8000, magnitude = bits & 0x7FFFFFFF;
  if (magnitude > float_infinity) {
    return 0x7E00;
  }
  if (magnitude >= 0x477FF000) { /* 65520 */
    return (uint16_t)(sign | 0x7C00);
  }
  if (magnitude >= 0x38800000) { /* 2^-14, the smallest normal */
    return (uint16_t)(sign | (shift_round(magnitude, 13) - (112U << 10)));
  }
  uint32_t exponent = magnitude >> 23;
  if (exponent < 102) { /* below half of the smallest subnormal */
    return (uint16_t)sign;
  }
  return (uint16_t)(sign | shift_round((magnitude & 0x7FFFFF) | 0x800000, 126 - exponent));
}

float bf16_to_float(uint16_t bits) { return float_of((bits & 0x7FFF) > 0x7F80 ? float_nan : (uint32_t)bits << 16); }

uint16_t bf16_from_float(float value) {
  uint32_t bits = float_bits(value);
  if ((bits & 0x7FFFFFFF) > float_infinity) {
    return 0x7FC0;
  }
  return (uint16_t)((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

float tf32_round(float value) {
  uint32_t bits = float_bits(value);
  if ((bits & 0x7FFFFFFF) >= float_infinity) {
    return value;
  }
  return float_of((bits + 0xFFF + ((bits >> 13) & 1)) & ~0x1FFFU);
}

/* --- any format, from fp64, with one rounding --------------------------- */

struct format {
  int fraction_bits, bias;
  unsigned largest; /* magnitude of the largest finite number */
  unsigned infinity, nan;
  bool has_infinity, has_nan;
  bool unsigned_zero; /* no -0: its bits are the NaN */
};

static const struct format fp16_format = {10, 15, 0x7BFF, 0x7C00, 0x7E00, true, true, false};
static const struct format bf16_format = {7, 127, 0x7F7F, 0x7F80, 0x7FC0, true, true, false};

static const struct format *small_format(assay_dtype dtype) {
  static const struct format e4m3fn = {3, 7, 0x7E, 0, 0x7F, false, true, false};
  static const struct format e4m3fnuz = {3, 8, 0x7F, 0, 0x80, false, true, true};
  static const struct format e5m2 = {2, 15, 0x7B, 0x7C, 0x7F, true, true, false};
  static const struct format e5m2fnuz = {2, 16, 0x7F, 0, 0x80, false, true, true};
  static const struct format e2m1 = {1, 1, 0x7, 0, 0, false, false, false};
  switch (dtype) {
    case ASSAY_FLOAT8E4M3FN:
      return &e4m3fn;
    case ASSAY_FLOAT8E4M3FNUZ:
      return &e4m3fnuz;
    case ASSAY_FLOAT8E5M2:
      return &e5m2;
    case ASSAY_FLOAT8E5M2FNUZ:
      return &e5m2fnuz;
    case ASSAY_FLOAT4E2M1:
      return &e2m1;
    default:
      return NULL;
  }
}

/* The magnitude of a finite double in the format's bits, as if its exponent had
 * no upper end: anything above `largest` is an overflow. */
static uint64_t round_magnitude(const struct format *format, uint64_t bits) {
  int exponent = (int)(bits >> 52 & 0x7FF);
  if (exponent == 0) {
    return 0; /* zero, or a double's subnormal: below all of these formats */
  }
  uint64_t m = (bits & 0xFFFFFFFFFFFFF) | 0x10000000000000;
  int biased = exponent - 1023 + format->bias;
  int shift = 52 - format->fraction_bits + (biased < 1 ? 1 - biased : 0);
  if (shift > 53) {
    return 0;
  }
  uint64_t kept = m >> shift, rest = m & ((UINT64_C(1) << shift) - 1), half = UINT64_C(1) << (shift - 1);
  kept += rest > half || (rest == half && (kept & 1) != 0);
  /* kept holds the leading 1 of a normal number, which the exponent field counts. */
  return biased < 1 ? kept : ((uint64_t)(biased - 1) << format->fraction_bits) + kept;
}

static unsigned overflowed(const struct format *format, unsigned sign, bool saturate) {
  if (saturate || !format->has_nan) {
    return sign | format->largest;
  }
  if (format->has_infinity) {
    return sign | format->infinity;
  }
  return format->unsigned_zero ? format->nan : sign | format->nan;
}

static unsigned from_double(const struct format *format, unsigned sign_bit, double value, bool saturate) {
  uint64_t bits = double_bits(value);
  unsigned sign = bits >> 63 != 0 ? sign_bit : 0;
  bits &= UINT64_MAX >> 1;
  if (bits > UINT64_C(0x7FF0000000000000)) {
    return format->has_nan ? format->nan : format->largest;
  }
  if (bits == UINT64_C(0x7FF0000000000000)) {
    return overflowed(format, sign, saturate);
  }
  uint64_t magnitude = round_magnitude(format, bits);
  if (magnitude > format->largest) {
    return overflowed(format, sign, saturate);
  }
  return format->unsigned_zero && magnitude == 0 ? 0 : sign | (unsigned)magnitude;
}

uint16_t fp16_from_double(double value) { return (uint16_t)from_double(&fp16_format, 0x8000, value, false); }
uint16_t bf16_from_double(double value) { return (uint16_t)from_double(&bf16_format, 0x8000, value, false); }

/* E8M0 is a power of two: 2^(bits - 127), 0xFF is NaN. Rounds up in magnitude,
 * ONNX's default; the sign is dropped. */
static uint8_t e8m0_from_double(double value, bool saturate) {
  uint64_t bits = double_bits(value) & (UINT64_MAX >> 1);
  if (bits > UINT64_C(0x7FF0000000000000)) {
    return 0xFF;
  }
  int exponent = (int)(bits >> 52) - 1023 + ((bits & 0xFFFFFFFFFFFFF) != 0) + 127;
  if (exponent > 254) {
    return saturate ? 254 : 0xFF;
  }
  return exponent < 0 ? 0 : (uint8_t)exponent;
}

uint8_t small_float_from_double(assay_dtype dtype, double value, bool saturate) {
  if (dtype == ASSAY_FLOAT8E8M0) {
    return e8m0_from_double(value, saturate);
  }
  const struct format *format = small_format(dtype);
  return format == NULL ? 0 : (uint8_t)from_double(format, dtype == ASSAY_FLOAT4E2M1 ? 0x8 : 0x80, value, saturate);
}

uint8_t small_float_from_float(assay_dtype dtype, float value, bool saturate) {
  return small_float_from_double(dtype, (double)value, saturate);
}

/* 2^exponent for -149 <= exponent <= 127. */
static float power_of_two(int exponent) {
  return float_of(exponent >= -126 ? (uint32_t)(exponent + 127) << 23 : 1U << (exponent + 149));
}

float small_float_to_float(assay_dtype dtype, uint8_t bits) {
  if (dtype == ASSAY_FLOAT8E8M0) {
    return bits == 0xFF ? float_of(float_nan) : power_of_two(bits - 127);
  }
  const struct format *format = small_format(dtype);
  if (format == NULL) {
    return float_of(float_nan);
  }
  unsigned sign_bit = dtype == ASSAY_FLOAT4E2M1 ? 0x8 : 0x80;
  unsigned magnitude = bits & (sign_bit - 1);
  float sign = (bits & sign_bit) != 0 ? -1.0F : 1.0F;
  if (format->unsigned_zero && bits == format->nan) {
    return float_of(float_nan);
  }
  if (format->has_infinity && magnitude == format->infinity) {
    return sign * float_of(float_infinity);
  }
  if (magnitude > format->largest) {
    return float_of(float_nan);
  }
  int exponent = (int)(magnitude >> format->fraction_bits);
  unsigned fraction = magnitude & ((1U << format->fraction_bits) - 1);
  unsigned m = exponent == 0 ? fraction : fraction | 1U << format->fraction_bits;
  int scale = (exponent == 0 ? 1 : exponent) - format->bias - format->fraction_bits;
  return sign * (float)m * power_of_two(scale);
}

float float_round_to(assay_dtype dtype, float value) {
  switch (dtype) {
    case ASSAY_FLOAT16:
      return fp16_to_float(fp16_from_float(value));
    case ASSAY_BFLOAT16:
      return bf16_to_float(bf16_from_float(value));
    case ASSAY_FLOAT8E4M3FN:
    case ASSAY_FLOAT8E4M3FNUZ:
    case ASSAY_FLOAT8E5M2:
    case ASSAY_FLOAT8E5M2FNUZ:
    case ASSAY_FLOAT8E8M0:
    case ASSAY_FLOAT4E2M1:
      return small_float_to_float(dtype, small_float_from_float(dtype, value, true));
    default:
      return value;
  }
}
