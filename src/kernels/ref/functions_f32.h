/* Elementary functions of fp32: one polynomial each, evaluated in double with separate multiplications and additions,
 * rounded to float once. So the answer has the same bits with and without FMA, in a vector or alone, and errs by
 * less than 0.501 ULP. Nothing here may call libm, or branch where a loop over it should vectorise. */
#ifndef KERNELS_REF_FUNCTIONS_F32_H
#define KERNELS_REF_FUNCTIONS_F32_H

#include "kernels/ref/fma.h"
#include "kernels/ref/function_constants.h"
#include "kernels/ref/trig_reduction.h"

#define F64_INFINITY __builtin_inf()
#define F64_NAN __builtin_nan("")
/* Added to a number below 2^51 it leaves the nearest integer in the low bits; subtracted again, as a double. */
#define F64_ROUNDER 0x1.8p52

static inline double f64_magnitude(double x) { return f64_from_bits(f64_bits(x) & ~(UINT64_C(1) << 63)); }
static inline double f64_sign_of(double magnitude, double sign) {
  return f64_from_bits((f64_bits(magnitude) & ~(UINT64_C(1) << 63)) | (f64_bits(sign) & UINT64_C(1) << 63));
}
/* x within [low, high]; NaN stays NaN. */
static inline double f64_within(double x, double low, double high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}

/* --- exponential ------------------------------------------------------- */

/* (exp(r) - 1) / r for |r| <= ln 2 / 2. */
static inline double exp_series(double r) {
  double p = 1.0 / 39916800;
  p = p * r + 1.0 / 3628800;
  p = p * r + 1.0 / 362880;
  p = p * r + 1.0 / 40320;
  p = p * r + 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r + 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r + 1.0 / 6;
  p = p * r + 0.5;
  return p * r + 1.0;
}

/* x = k ln 2 + r: answers r; the low bits of *k hold k. */
static inline double exp_reduce(double x, uint64_t *k) {
  double rounded = x * INV_LN2 + F64_ROUNDER;
  double n = rounded - F64_ROUNDER;
  *k = f64_bits(rounded);
  return (x - n * LN2_PART_1) - n * LN2_PART_2;
}

/* exp of x, |x| < 700, in double to about 2^-46. */
static inline double exp_double(double x) {
  uint64_t k;
  double r = exp_reduce(x, &k);
  return f64_from_bits(f64_bits(1.0 + r * exp_series(r)) + (k << 52));
}

/* exp of what came from a float: beyond these limits the float result is 0 or Inf. */
static inline double exp_of_float(double x) { return exp_double(f64_within(x, -104.0, 89.0)); }

static inline double expm1_double(double x) {
  uint64_t k;
  double r = exp_reduce(x, &k);
  double scale = f64_from_bits(f64_bits(1.0) + (k << 52));
  return (scale - 1.0) + scale * (r * exp_series(r));
}

static inline float exp_f32(float x) { return (float)exp_of_float((double)x); }
static inline float expm1_f32(float x) {
  return (float)f64_sign_of(expm1_double(f64_within((double)x, -104.0, 89.0)), (double)x);
}

/* The true formula 1 / (1 + exp(-x)). */
static inline float sigmoid_f32(float x) {
  return (float)(1.0 / (1.0 + exp_double(f64_within(-(double)x, -104.0, 105.0))));
}

static inline float tanh_f32(float x) {
  double a = f64_magnitude((double)x);
  double e = expm1_double(f64_within(2.0 * a, 0.0, 40.0));
  return (float)f64_sign_of(e / (e + 2.0), (double)x);
}

static inline float sinh_f32(float x) {
  double a = f64_magnitude((double)x);
  double e = expm1_double(f64_within(a, 0.0, 100.0));
  return (float)f64_sign_of(0.5 * (e + e / (e + 1.0)), (double)x);
}

static inline float cosh_f32(float x) {
  double e = exp_double(f64_within(f64_magnitude((double)x), 0.0, 100.0));
  return (float)(0.5 * (e + 1.0 / e));
}

/* --- logarithm --------------------------------------------------------- */

/* log of a positive, normal, finite x, to about 2^-50 of the result. */
static inline double log_double(double x) {
  /* x = 2^k m with m between sqrt(1/2) and sqrt(2). */
  const uint64_t half_root = UINT64_C(0x3FE6A09E667F3BCD), bias = UINT64_C(1024) << 52;
  uint64_t bits = f64_bits(x), shifted = bits - half_root + bias;
  double m = f64_from_bits(bits - (shifted & (UINT64_C(0xFFF) << 52)) + bias);
  double k = f64_from_bits(shifted >> 52 | UINT64_C(0x433) << 52) - (0x1p52 + 1024.0);
  double f = m - 1.0, s = f / (2.0 + f), z = s * s;
  double p = 1.0 / 17;
  p = p * z + 1.0 / 15;
  p = p * z + 1.0 / 13;
  p = p * z + 1.0 / 11;
  p = p * z + 1.0 / 9;
  p = p * z + 1.0 / 7;
  p = p * z + 1.0 / 5;
  p = p * z + 1.0 / 3;
  return k * LN2_HI + (2.0 * s + 2.0 * s * (z * p));
}

/* What log is outside of the positive finite numbers. */
static inline double log_edges(double x, double y) {
  y = x > 0.0 ? y : (x == 0.0 ? -F64_INFINITY : F64_NAN);
  return x == F64_INFINITY ? x : y;
}

/* log(1 + x) for x > -1, finite and no more than 2^1000. */
static inline double log1p_double(double x) {
  double u = 1.0 + x;
  double y = log_double(u) + (x - (u - 1.0)) / u;
  return u == 1.0 ? x : y;
}

static inline float log_f32(float x) { return (float)log_edges((double)x, log_double((double)x)); }

static inline float log1p_f32(float x) {
  double y = log_edges(1.0 + (double)x, log1p_double((double)x));
  return (float)f64_sign_of(y, (double)x);
}

/* log(1 + exp(x)), without the overflow of the formula as it stands. */
static inline float softplus_f32(float x) {
  double e = exp_of_float(-f64_magnitude((double)x));
  return (float)(((double)x > 0.0 ? (double)x : 0.0) + log1p_double(e));
}

static inline float asinh_f32(float x) {
  double a = f64_magnitude((double)x), square = a * a;
  double y = log1p_double(a + square / (1.0 + __builtin_sqrt(1.0 + square)));
  return (float)f64_sign_of(a <= 0x1p128 ? y : a, (double)x);
}

static inline float acosh_f32(float x) {
  double t = (double)x - 1.0;
  double y = log1p_double(t + __builtin_sqrt(t * (t + 2.0)));
  y = t >= 0.0 ? y : F64_NAN;
  return (float)(t <= 0x1p128 ? y : t);
}

static inline float atanh_f32(float x) {
  double a = f64_magnitude((double)x);
  double y = 0.5 * log1p_double(2.0 * a / (1.0 - a));
  y = a < 1.0 ? y : (a == 1.0 ? F64_INFINITY : F64_NAN);
  return (float)f64_sign_of(y, (double)x);
}

/* x to the power y; a power of 2 is x * x. */
static inline float pow_f32(float x, float y) {
  double a = f64_magnitude((double)x), b = (double)y;
  double l = log_edges(a, log_double(a));
  double e = a == 1.0 ? 0.0 : b * l;
  double r = exp_of_float(e);
  /* Whole exponents, and odd ones among them; from 2^24 on every float is even. */
  double near = f64_within(b, -0x1p25, 0x1p25) + F64_ROUNDER;
  int whole = near - F64_ROUNDER == f64_within(b, -0x1p25, 0x1p25);
  int odd = whole & (int)(f64_bits(near) & 1);
  int negative = (int)(f32_bits(x) >> 31);
  r = (negative & odd) != 0 ? -r : r;
  r = (negative & !whole & (a > 0.0) & (a < F64_INFINITY)) != 0 ? F64_NAN : r;
  r = x != x || y != y ? F64_NAN : r;
  r = x == 1.0F || y == 0.0F ? 1.0 : r;
  return y == 2.0F ? x * x : (float)r;
}

/* --- trigonometry ------------------------------------------------------ */

static inline double sin_series(double r, double z) {
  double p = -1.0 / 1307674368000;
  p = p * z + 1.0 / 6227020800;
  p = p * z - 1.0 / 39916800;
  p = p * z + 1.0 / 362880;
  p = p * z - 1.0 / 5040;
  p = p * z + 1.0 / 120;
  p = p * z - 1.0 / 6;
  return r * (1.0 + z * p);
}

static inline double cos_series(double z) {
  double p = 1.0 / 20922789888000;
  p = p * z - 1.0 / 87178291200;
  p = p * z + 1.0 / 479001600;
  p = p * z - 1.0 / 3628800;
  p = p * z + 1.0 / 40320;
  p = p * z - 1.0 / 720;
  p = p * z + 1.0 / 24;
  p = p * z - 0.5;
  return 1.0 + z * p;
}

/* Up to here the reduction by parts of pi / 2 is exact enough; beyond, trig_reduce is asked. */
#define TRIG_LIMIT 0x1p19F

static inline double trig_reduce_by_parts(double x, uint64_t *quadrant) {
  double rounded = x * TWO_OVER_PI + F64_ROUNDER;
  double k = rounded - F64_ROUNDER;
  *quadrant = f64_bits(rounded);
  return ((x - k * HALF_PI_PART_1) - k * HALF_PI_PART_2) - k * HALF_PI_PART_3;
}

/* sin of the angle that lies `quadrant` quarter turns after r. */
static inline double sin_of_reduced(double r, uint64_t quadrant) {
  double z = r * r, s = sin_series(r, z), c = cos_series(z);
  double y = quadrant & 1 ? c : s;
  return f64_from_bits(f64_bits(y) ^ (quadrant & 2) << 62);
}

static inline double tan_of_reduced(double r, uint64_t quadrant) {
  double z = r * r, s = sin_series(r, z), c = cos_series(z);
  double above = quadrant & 1 ? -c : s, below = quadrant & 1 ? s : c;
  return above / below;
}

/* For |x| <= TRIG_LIMIT. */
static inline float sin_f32_near(float x) {
  uint64_t quadrant;
  double r = trig_reduce_by_parts((double)x, &quadrant);
  return (float)sin_of_reduced(r, quadrant);
}
static inline float cos_f32_near(float x) {
  uint64_t quadrant;
  double r = trig_reduce_by_parts((double)x, &quadrant);
  return (float)sin_of_reduced(r, quadrant + 1);
}
static inline float tan_f32_near(float x) {
  uint64_t quadrant;
  double r = trig_reduce_by_parts((double)x, &quadrant);
  return (float)tan_of_reduced(r, quadrant);
}

/* For every x beyond, Inf and NaN too. */
static inline float sin_f32_far(float x) {
  struct trig_angle angle = trig_reduce((double)x);
  return (float)sin_of_reduced(angle.hi, angle.quadrant);
}
static inline float cos_f32_far(float x) {
  struct trig_angle angle = trig_reduce((double)x);
  return (float)sin_of_reduced(angle.hi, angle.quadrant + 1);
}
static inline float tan_f32_far(float x) {
  struct trig_angle angle = trig_reduce((double)x);
  return (float)tan_of_reduced(angle.hi, angle.quadrant);
}

/* atan(n / d) of n, d >= 0, not both 0 and neither beyond 2^500, to about 2^-48. */
static inline double atan_quotient(double n, double d) {
  int swap = n > d;
  double small = swap ? d : n, large = swap ? n : d;
  /* Subtract the nearest of 0, pi/8 and pi/4, so that the series has |u| < 0.2. */
  int first = small > large * TAN_SIXTEENTH_PI, second = small > large * TAN_3_SIXTEENTHS_PI;
  double c = second ? 1.0 : (first ? TAN_EIGHTH_PI : 0.0);
  double base = second ? QUARTER_PI_HI : (first ? EIGHTH_PI : 0.0);
  double u = (small - c * large) / (large + c * small), z = u * u;
  double p = 1.0 / 17;
  p = p * z - 1.0 / 15;
  p = p * z + 1.0 / 13;
  p = p * z - 1.0 / 11;
  p = p * z + 1.0 / 9;
  p = p * z - 1.0 / 7;
  p = p * z + 1.0 / 5;
  p = p * z - 1.0 / 3;
  double y = base + (u + u * (z * p));
  return swap ? HALF_PI_HI - y : y;
}

static inline float atan_f32(float x) {
  double a = f64_magnitude((double)x);
  return (float)f64_sign_of(atan_quotient(a > 0x1p200 ? 0x1p200 : a, 1.0), (double)x);
}

static inline float asin_f32(float x) {
  double a = f64_magnitude((double)x);
  return (float)f64_sign_of(atan_quotient(a, __builtin_sqrt((1.0 - a) * (1.0 + a))), (double)x);
}

static inline float acos_f32(float x) {
  double a = f64_magnitude((double)x);
  double y = atan_quotient(__builtin_sqrt((1.0 - a) * (1.0 + a)), a);
  return (float)((double)x < 0.0 ? PI_HI - y : y);
}

/* --- error function ---------------------------------------------------- */

static inline float erf_f32(float x) {
  double d = f64_within((double)x, -4.0, 4.0);
  double t = d * d * 0.125 - 1.0;
  return (float)(d * ERF_POLYNOMIAL(t));
}

#endif
