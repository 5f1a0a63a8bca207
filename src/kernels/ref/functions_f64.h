/* Elementary functions of fp64, for the oracle: evaluated in double-double to about 2^-65 and rounded once, so they
 * err by less than 0.51 ULP (0.75 among subnormal results). Slower than those of fp32 and not made for vectors. Nothing
 * here may call libm. */
#ifndef KERNELS_REF_FUNCTIONS_F64_H
#define KERNELS_REF_FUNCTIONS_F64_H

#include "kernels/ref/double_double.h"
#include "kernels/ref/functions_f32.h"

#define DD(name) ((struct dd){name##_HI, name##_LO})
/* Below this magnitude x and the cubic term that follows it differ by less than 2^-60 of x. */
#define F64_TINY 0x1p-30

/* c + r * (c2 + ...): one step of Horner's rule in double-double. */
static inline struct dd dd_horner(struct dd p, struct dd r, struct dd c) { return dd_add(dd_multiply(p, r), c); }

/* --- exponential ------------------------------------------------------- */

/* exp(x) = (1 + m) * 2^k. */
struct exponential {
  struct dd m;
  int32_t k;
};

/* x within [-800, 800]. */
static inline struct exponential exp_dd(struct dd x) {
  double n = (x.hi * INV_LN2 + F64_ROUNDER) - F64_ROUNDER;
  struct dd r = dd_sum(x.hi - n * LN2_PART_1, -(n * LN2_PART_2));
  r = dd_sum_ordered(r.hi, r.lo + (x.lo - n * LN2_PART_3));
  double t = r.hi, q = 1.0 / 355687428096000;
  q = q * t + 1.0 / 20922789888000;
  q = q * t + 1.0 / 1307674368000;
  q = q * t + 1.0 / 87178291200;
  q = q * t + 1.0 / 6227020800;
  q = q * t + 1.0 / 479001600;
  q = q * t + 1.0 / 39916800;
  q = q * t + 1.0 / 3628800;
  q = q * t + 1.0 / 362880;
  q = q * t + 1.0 / 40320;
  q = q * t + 1.0 / 5040;
  struct dd p = dd_add_double(DD(ONE_OVER_FACTORIAL_6), q * t);
  p = dd_horner(p, r, DD(ONE_OVER_FACTORIAL_5));
  p = dd_horner(p, r, DD(ONE_OVER_FACTORIAL_4));
  p = dd_horner(p, r, DD(ONE_OVER_FACTORIAL_3));
  p = dd_horner(p, r, (struct dd){0.5, 0.0});
  p = dd_horner(p, r, (struct dd){1.0, 0.0});
  return (struct exponential){dd_multiply(p, r), (int32_t)n};
}

/* 2^k for a normal result. */
static inline double f64_power_of_two(int32_t k) { return f64_from_bits((uint64_t)(k + 1023) << 52); }

/* x * 2^k, -1100 <= k <= 1100: the last of two multiplications rounds, if any. */
static inline double f64_scale(double x, int32_t k) {
  int32_t half = k / 2;
  return x * f64_power_of_two(half) * f64_power_of_two(k - half);
}

/* (1 + m) 2^k as a double-double; k within [-500, 500]. */
static inline struct dd exponential_dd(struct exponential e) {
  return dd_scale(dd_add_double(e.m, 1.0), f64_power_of_two(e.k));
}

/* exp(x) - 1, x within [-300, 300]. */
static inline struct dd expm1_dd(struct dd x) {
  struct exponential e = exp_dd(x);
  return e.k == 0 ? e.m : dd_add_double(exponential_dd(e), -1.0);
}

static inline double exp_f64_of(struct dd x) {
  struct exponential e = exp_dd(x);
  return f64_scale(dd_add_double(e.m, 1.0).hi, e.k);
}

static inline double exp_f64(double x) {
  if (!(x >= -746.0 && x <= 710.0)) {
    return x < 0.0 ? 0.0 : (x > 0.0 ? F64_INFINITY : F64_NAN);
  }
  return exp_f64_of((struct dd){x, 0.0});
}

static inline double expm1_f64(double x) {
  if (f64_magnitude(x) < 0x1p-60) {
    return x;
  }
  if (!(x >= -50.0 && x <= 50.0)) {
    return x < 0.0 ? -1.0 : exp_f64(x);
  }
  return expm1_dd((struct dd){x, 0.0}).hi;
}

/* The true formula 1 / (1 + exp(-x)). */
static inline double sigmoid_f64(double x) {
  if (x < -50.0) {
    return exp_f64(x);
  }
  if (!(x <= 50.0)) {
    return x > 0.0 ? 1.0 : F64_NAN;
  }
  struct dd e = exponential_dd(exp_dd((struct dd){-x, 0.0}));
  return dd_divide((struct dd){1.0, 0.0}, dd_add_double(e, 1.0)).hi;
}

static inline double tanh_f64(double x) {
  double a = f64_magnitude(x);
  if (a < F64_TINY) {
    return x;
  }
  if (!(a <= 22.0)) {
    return a > 0.0 ? f64_sign_of(1.0, x) : F64_NAN;
  }
  struct dd e = expm1_dd((struct dd){2.0 * a, 0.0});
  return f64_sign_of(dd_divide(e, dd_add_double(e, 2.0)).hi, x);
}

/* exp(a) / 2 for a > 40, whose result may be finite where exp overflows. */
static inline double exp_half_f64(double a) {
  if (!(a <= 711.0)) {
    return a > 0.0 ? F64_INFINITY : F64_NAN;
  }
  struct exponential e = exp_dd((struct dd){a, 0.0});
  return f64_scale(dd_add_double(e.m, 1.0).hi, e.k - 1);
}

static inline double sinh_f64(double x) {
  double a = f64_magnitude(x);
  if (a < F64_TINY) {
    return x;
  }
  if (!(a <= 40.0)) {
    return f64_sign_of(exp_half_f64(a), x);
  }
  struct dd e = expm1_dd((struct dd){a, 0.0});
  return f64_sign_of(0.5 * dd_add(e, dd_divide(e, dd_add_double(e, 1.0))).hi, x);
}

static inline double cosh_f64(double x) {
  double a = f64_magnitude(x);
  if (!(a <= 40.0)) {
    return exp_half_f64(a);
  }
  struct dd e = exponential_dd(exp_dd((struct dd){a, 0.0}));
  return 0.5 * dd_add(e, dd_divide((struct dd){1.0, 0.0}, e)).hi;
}

/* --- logarithm --------------------------------------------------------- */

/* k ln 2 + log(1 + f), |f| < 0.42. */
static inline struct dd log_series(struct dd f, double k) {
  struct dd s = dd_divide(f, dd_add_double(f, 2.0)), z = dd_multiply(s, s);
  double t = z.hi, q = 1.0 / 31;
  q = q * t + 1.0 / 29;
  q = q * t + 1.0 / 27;
  q = q * t + 1.0 / 25;
  q = q * t + 1.0 / 23;
  q = q * t + 1.0 / 21;
  q = q * t + 1.0 / 19;
  q = q * t + 1.0 / 17;
  q = q * t + 1.0 / 15;
  q = q * t + 1.0 / 13;
  q = q * t + 1.0 / 11;
  q = q * t + 1.0 / 9;
  struct dd p = dd_add_double(DD(ONE_OVER_7), q * t);
  p = dd_horner(p, z, DD(ONE_OVER_5));
  p = dd_horner(p, z, DD(ONE_OVER_3));
  p = dd_horner(p, z, (struct dd){1.0, 0.0});
  struct dd y = dd_scale(dd_multiply(p, s), 2.0);
  return dd_add(dd_multiply_double(DD(LN2), k), y);
}

/* log of a positive, finite x. */
static inline struct dd log_dd(struct dd x) {
  double extra = 0.0;
  if (x.hi < 0x1p-900) {
    x = dd_scale(x, 0x1p200);
    extra = -200.0;
  }
  const uint64_t half_root = UINT64_C(0x3FE6A09E667F3BCD), bias = UINT64_C(1024) << 52;
  uint64_t shifted = f64_bits(x.hi) - half_root + bias;
  int32_t k = (int32_t)(shifted >> 52) - 1024;
  double scale = f64_power_of_two(k > 1000 ? 1000 - k : -k);
  struct dd m = dd_scale(x, scale);
  m = k > 1000 ? dd_scale(m, 0x1p-1000) : m;
  struct dd f = dd_sum_ordered(m.hi - 1.0, m.lo);
  return log_series(f, (double)k + extra);
}

/* log(1 + f), f > -1 and finite. */
static inline struct dd log1p_dd(struct dd f) {
  if (f.hi > -0.25 && f.hi < 0.25) {
    return log_series(f, 0.0);
  }
  return log_dd(dd_add((struct dd){1.0, 0.0}, f));
}

static inline double log_f64(double x) {
  if (!(x > 0.0 && x < F64_INFINITY)) {
    return log_edges(x, x);
  }
  return log_dd((struct dd){x, 0.0}).hi;
}

static inline double log1p_f64(double x) {
  if (f64_magnitude(x) < 0x1p-60) {
    return x;
  }
  if (!(x > -1.0 && x < F64_INFINITY)) {
    return log_edges(1.0 + x, x);
  }
  return log1p_dd((struct dd){x, 0.0}).hi;
}

/* log(1 + exp(x)), without the overflow of the formula as it stands. */
static inline double softplus_f64(double x) {
  if (!(x >= -40.0 && x <= 40.0)) {
    return x < 0.0 ? exp_f64(x) : x;
  }
  struct dd y = log1p_dd(exponential_dd(exp_dd((struct dd){-f64_magnitude(x), 0.0})));
  return dd_add_double(y, x > 0.0 ? x : 0.0).hi;
}

static inline double asinh_f64(double x) {
  double a = f64_magnitude(x);
  if (a < F64_TINY || !(a < F64_INFINITY)) {
    return x;
  }
  struct dd y;
  if (a > 0x1p30) {
    y = dd_add(log_dd((struct dd){a, 0.0}), DD(LN2));
  } else {
    struct dd square = dd_product(a, a);
    struct dd below = dd_add_double(dd_root(dd_add_double(square, 1.0)), 1.0);
    y = log1p_dd(dd_add_double(dd_divide(square, below), a));
  }
  return f64_sign_of(y.hi, x);
}

static inline double acosh_f64(double x) {
  if (!(x >= 1.0 && x < F64_INFINITY)) {
    return x == F64_INFINITY ? x : F64_NAN;
  }
  if (x > 0x1p30) {
    return dd_add(log_dd((struct dd){x, 0.0}), DD(LN2)).hi;
  }
  double t = x - 1.0; /* exact where it matters: x in [1, 2] */
  struct dd exact = dd_sum(x, -1.0);
  struct dd root = dd_root(dd_multiply(exact, dd_add_double(exact, 2.0)));
  return t == 0.0 ? 0.0 : log1p_dd(dd_add(root, exact)).hi;
}

static inline double atanh_f64(double x) {
  double a = f64_magnitude(x);
  if (a < F64_TINY) {
    return x;
  }
  if (!(a < 1.0)) {
    return a == 1.0 ? f64_sign_of(F64_INFINITY, x) : F64_NAN;
  }
  struct dd f = dd_divide((struct dd){2.0 * a, 0.0}, dd_sum(1.0, -a));
  return f64_sign_of(0.5 * log1p_dd(f).hi, x);
}

/* x to the power y where no edge is: x > 0 and finite, x not 1, y finite and not 0. */
static inline double pow_magnitude(double x, double y) {
  struct dd l = log_dd((struct dd){x, 0.0});
  double rough = l.hi * y;
  if (rough > 750.0 || rough < -750.0) {
    return rough > 0.0 ? F64_INFINITY : 0.0;
  }
  if (f64_magnitude(rough) < 0x1p-60) {
    return 1.0;
  }
  /* The product is split safely however large y is, since one factor is then tiny. */
  double down = f64_magnitude(y) > 0x1p500 ? 0x1p-500 : 1.0;
  struct dd e = dd_multiply_double(dd_scale(l, 1.0 / down), y * down);
  return exp_f64_of(e);
}

/* x to the power y; a power of 2 is x * x. */
static inline double pow_f64(double x, double y) {
  if (y == 2.0) {
    return x * x;
  }
  if (y == 0.0 || x == 1.0) {
    return 1.0;
  }
  if (x != x || y != y) {
    return F64_NAN;
  }
  double a = f64_magnitude(x), b = f64_magnitude(y);
  if (b == F64_INFINITY) {
    return a == 1.0 ? 1.0 : ((a > 1.0) == (y > 0.0) ? F64_INFINITY : 0.0);
  }
  /* From 2^53 on every double is an even integer. */
  int whole = b >= 0x1p53, odd = 0;
  if (!whole) {
    int64_t n = (int64_t)b;
    whole = (double)n == b;
    odd = whole && (n & 1) != 0;
  }
  double r;
  if (a == 0.0 || a == F64_INFINITY) {
    r = (a == 0.0) == (y > 0.0) ? 0.0 : F64_INFINITY;
  } else if (f64_bits(x) >> 63 != 0 && !whole) {
    return F64_NAN;
  } else {
    r = a == 1.0 ? 1.0 : pow_magnitude(a, y);
  }
  return odd ? f64_sign_of(r, x) : r;
}

/* --- trigonometry ------------------------------------------------------ */

static inline struct dd sin_series_dd(struct dd r, struct dd z) {
  double t = z.hi, q = -1.0 / 25852016738884976640000.0;
  q = q * t + 1.0 / 51090942171709440000.0;
  q = q * t - 1.0 / 121645100408832000.0;
  q = q * t + 1.0 / 355687428096000;
  q = q * t - 1.0 / 1307674368000;
  q = q * t + 1.0 / 6227020800;
  q = q * t - 1.0 / 39916800;
  q = q * t + 1.0 / 362880;
  struct dd p = dd_add_double(dd_negate(DD(ONE_OVER_FACTORIAL_7)), q * t);
  p = dd_horner(p, z, DD(ONE_OVER_FACTORIAL_5));
  p = dd_horner(p, z, dd_negate(DD(ONE_OVER_FACTORIAL_3)));
  p = dd_horner(p, z, (struct dd){1.0, 0.0});
  return dd_multiply(p, r);
}

static inline struct dd cos_series_dd(struct dd z) {
  double t = z.hi, q = 1.0 / 620448401733239439360000.0;
  q = q * t - 1.0 / 1124000727777607680000.0;
  q = q * t + 1.0 / 2432902008176640000.0;
  q = q * t - 1.0 / 6402373705728000;
  q = q * t + 1.0 / 20922789888000;
  q = q * t - 1.0 / 87178291200;
  q = q * t + 1.0 / 479001600;
  q = q * t - 1.0 / 3628800;
  struct dd p = dd_add_double(DD(ONE_OVER_FACTORIAL_8), q * t);
  p = dd_horner(p, z, dd_negate(DD(ONE_OVER_FACTORIAL_6)));
  p = dd_horner(p, z, DD(ONE_OVER_FACTORIAL_4));
  p = dd_horner(p, z, (struct dd){-0.5, 0.0});
  return dd_horner(p, z, (struct dd){1.0, 0.0});
}

static inline struct dd sin_dd(struct trig_angle angle, uint64_t quadrant) {
  struct dd r = {angle.hi, angle.lo}, z = dd_multiply(r, r);
  struct dd y = quadrant & 1 ? cos_series_dd(z) : sin_series_dd(r, z);
  return quadrant & 2 ? dd_negate(y) : y;
}

static inline double sin_f64(double x) {
  if (f64_magnitude(x) < F64_TINY) {
    return x;
  }
  struct trig_angle angle = trig_reduce(x);
  return sin_dd(angle, angle.quadrant).hi;
}

static inline double cos_f64(double x) {
  if (f64_magnitude(x) < F64_TINY) {
    return 1.0;
  }
  struct trig_angle angle = trig_reduce(x);
  return sin_dd(angle, angle.quadrant + 1).hi;
}

static inline double tan_f64(double x) {
  if (f64_magnitude(x) < F64_TINY) {
    return x;
  }
  struct trig_angle angle = trig_reduce(x);
  return dd_divide(sin_dd(angle, angle.quadrant), sin_dd(angle, angle.quadrant + 1)).hi;
}

/* atan(n / d), n and d >= 0, not both 0, both within [2^-400, 2^400] or 0. */
static inline struct dd atan_quotient_dd(struct dd n, struct dd d) {
  int swap = n.hi > d.hi;
  struct dd small = swap ? d : n, large = swap ? n : d;
  /* Subtract the arc whose tangent is the nearest sixteenth. */
  int32_t i = (int32_t)(16.0 * (small.hi / large.hi) + 0.5);
  double c = (double)i * 0.0625;
  struct dd above = dd_add(small, dd_negate(dd_multiply_double(large, c)));
  struct dd u = dd_divide(above, dd_add(large, dd_multiply_double(small, c)));
  struct dd z = dd_multiply(u, u);
  double t = z.hi, q = -1.0 / 15;
  q = q * t + 1.0 / 13;
  q = q * t - 1.0 / 11;
  q = q * t + 1.0 / 9;
  q = q * t - 1.0 / 7;
  q = q * t + 1.0 / 5;
  struct dd p = dd_add_double(dd_negate(DD(ONE_OVER_3)), q * t);
  p = dd_horner(p, z, (struct dd){1.0, 0.0});
  struct dd base = {atan_sixteenths[i][0], atan_sixteenths[i][1]};
  struct dd y = dd_add(base, dd_multiply(p, u));
  return swap ? dd_add(DD(HALF_PI), dd_negate(y)) : y;
}

static inline double atan_f64(double x) {
  double a = f64_magnitude(x);
  if (a < F64_TINY) {
    return x;
  }
  if (!(a <= 0x1p60)) {
    return a > 0.0 ? f64_sign_of(HALF_PI_HI, x) : F64_NAN;
  }
  return f64_sign_of(atan_quotient_dd((struct dd){a, 0.0}, (struct dd){1.0, 0.0}).hi, x);
}

/* The other leg of the triangle: sqrt((1 - a)(1 + a)). */
static inline struct dd leg_dd(double a) { return dd_root(dd_multiply(dd_sum(1.0, -a), dd_sum(1.0, a))); }

static inline double asin_f64(double x) {
  double a = f64_magnitude(x);
  if (a < F64_TINY) {
    return x;
  }
  return a <= 1.0 ? f64_sign_of(atan_quotient_dd((struct dd){a, 0.0}, leg_dd(a)).hi, x) : F64_NAN;
}

static inline double acos_f64(double x) {
  double a = f64_magnitude(x);
  if (a < 0x1p-60) {
    return HALF_PI_HI;
  }
  if (!(a <= 1.0)) {
    return F64_NAN;
  }
  struct dd y = atan_quotient_dd(leg_dd(a), (struct dd){a, 0.0});
  return x < 0.0 ? dd_add(DD(PI), dd_negate(y)).hi : y.hi;
}

/* --- error function ---------------------------------------------------- */

/* Taylor's series about the nearest eighth c: the n-th derivative of erf is (-1)^(n-1) 2/sqrt(pi) exp(-c^2)
 * H_(n-1)(c), with Hermite's polynomials. */
static inline struct dd erf_series(double a) {
  int32_t i = (int32_t)(8.0 * a + 0.5);
  double c = (double)i * 0.125, h = a - c; /* both exact */
  double terms[20], before = 2.0 * c, hermite = 4.0 * c * c - 2.0, factorial = 6.0;
  for (int32_t n = 2; n < 20; n++) { /* (-1)^n H_n(c) / (n + 1)! */
    terms[n] = (n & 1 ? -hermite : hermite) / factorial;
    double next = 2.0 * c * hermite - 2.0 * (double)n * before;
    before = hermite;
    hermite = next;
    factorial *= (double)(n + 2);
  }
  double q = 0.0;
  for (int32_t n = 19; n > 2; n--) {
    q = q * h + terms[n];
  }
  struct dd p = dd_multiply_double(DD(ONE_OVER_FACTORIAL_3), 4.0 * c * c - 2.0);
  p = dd_add_double(p, q * h);
  p = dd_add_double(dd_multiply_double(p, h), -c);
  p = dd_add_double(dd_multiply_double(p, h), 1.0);
  p = dd_multiply(dd_multiply_double(p, h), (struct dd){erf_eighths[i][2], erf_eighths[i][3]});
  return dd_add((struct dd){erf_eighths[i][0], erf_eighths[i][1]}, p);
}

static inline double erf_f64(double x) {
  double a = f64_magnitude(x);
  if (!(a < 6.0)) {
    return a > 0.0 ? f64_sign_of(1.0, x) : F64_NAN;
  }
  if (a < F64_TINY) {
    return dd_multiply_double(DD(TWO_OVER_SQRT_PI), a * 0x1p300).hi * f64_sign_of(0x1p-300, x);
  }
  return f64_sign_of(erf_series(a).hi, x);
}

#endif
