/* The exact operations on single numbers that C leaves to libm or does not have: sign, floor, ceil, round half to even,
 * remainder, and the minimum and maximum of IEEE 754-2019 (NaN comes through, -0 is below +0). */
#ifndef KERNELS_REF_ELEMENTARY_H
#define KERNELS_REF_ELEMENTARY_H

#include "kernels/ref/functions_f32.h"
#include "kernels/ref/functions_f64.h"

static inline float abs_f32(float x) { return f32_from_bits(f32_bits(x) & 0x7FFFFFFFU); }
static inline double abs_f64(double x) { return f64_magnitude(x); }
static inline float f32_sign_of(float magnitude, float sign) {
  return f32_from_bits((f32_bits(magnitude) & 0x7FFFFFFFU) | (f32_bits(sign) & 0x80000000U));
}

/* 1, -1, or x itself where it is a zero or NaN. */
static inline float sign_f32(float x) { return x > 0.0F ? 1.0F : (x < 0.0F ? -1.0F : x); }
static inline double sign_f64(double x) { return x > 0.0 ? 1.0 : (x < 0.0 ? -1.0 : x); }

/* Adding 2^23 or 2^52 leaves no fraction, rounded half to even; larger numbers have none. */
static inline float round_f32(float x) {
  float a = abs_f32(x), r = (a + 0x1p23F) - 0x1p23F;
  return a < 0x1p23F ? f32_sign_of(r, x) : x;
}
static inline double round_f64(double x) {
  double a = abs_f64(x), r = (a + 0x1p52) - 0x1p52;
  return a < 0x1p52 ? f64_sign_of(r, x) : x;
}
static inline float floor_f32(float x) {
  float r = round_f32(x);
  return f32_sign_of(r - (r > x ? 1.0F : 0.0F), x);
}
static inline double floor_f64(double x) {
  double r = round_f64(x);
  return f64_sign_of(r - (r > x ? 1.0 : 0.0), x);
}
static inline float ceil_f32(float x) {
  float r = round_f32(x);
  return f32_sign_of(r + (r < x ? 1.0F : 0.0F), x);
}
static inline double ceil_f64(double x) {
  double r = round_f64(x);
  return f64_sign_of(r + (r < x ? 1.0 : 0.0), x);
}

/* Of equal numbers only the zeros differ in their bits. */
static inline float max_f32(float a, float b) {
  float equal = a == b ? f32_from_bits(f32_bits(a) & f32_bits(b)) : a + b;
  return a > b ? a : (b > a ? b : equal);
}
static inline double max_f64(double a, double b) {
  double equal = a == b ? f64_from_bits(f64_bits(a) & f64_bits(b)) : a + b;
  return a > b ? a : (b > a ? b : equal);
}
static inline float min_f32(float a, float b) {
  float equal = a == b ? f32_from_bits(f32_bits(a) | f32_bits(b)) : a + b;
  return a < b ? a : (b < a ? b : equal);
}
static inline double min_f64(double a, double b) {
  double equal = a == b ? f64_from_bits(f64_bits(a) | f64_bits(b)) : a + b;
  return a < b ? a : (b < a ? b : equal);
}

/* a - trunc(a / b) * b exactly, with the sign of a, as C's fmod: long division bit by bit. */
static inline double fmod_f64(double a, double b) {
  double x = abs_f64(a), y = abs_f64(b);
  if (!(x < F64_INFINITY) || !(y > 0.0)) {
    return F64_NAN;
  }
  if (y == F64_INFINITY || x < y) {
    return a;
  }
  int32_t ex, ey;
  uint64_t fx = f64_fraction(x, &ex), fy = f64_fraction(y, &ey);
  for (; (fy & UINT64_C(1) << 52) == 0; ey--) {
    fy <<= 1;
  }
  for (; (fx & UINT64_C(1) << 52) == 0; ex--) {
    fx <<= 1;
  }
  for (; ex > ey; ex--) {
    fx -= fx >= fy ? fy : 0;
    fx <<= 1;
  }
  fx -= fx >= fy ? fy : 0;
  double r = words3_round((struct words3){{fx, 0, 0}}, ey);
  return f64_sign_of(r, a);
}
/* Exact in double, and what is left of a float by a float is one. */
static inline float fmod_f32(float a, float b) { return (float)fmod_f64((double)a, (double)b); }

/* The sign of the remainder, a zero's too, follows the divisor, as Python has it. */
static inline double mod_f64(double a, double b) {
  double r = fmod_f64(a, b);
  if (r == 0.0) {
    return f64_sign_of(0.0, b);
  }
  return r == r && (r < 0.0) != (b < 0.0) ? r + b : r;
}
static inline float mod_f32(float a, float b) {
  float r = fmod_f32(a, b);
  if (r == 0.0F) {
    return f32_sign_of(0.0F, b);
  }
  return r == r && (r < 0.0F) != (b < 0.0F) ? r + b : r;
}

#endif
