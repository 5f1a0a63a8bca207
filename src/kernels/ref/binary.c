/* Functions of two numbers, element by element, each with its stride: 1 for a row, 0 for a number held against a row,
 * and any other. The target may be one of the sources where that has stride 1. */
#include "kernels/ref/elementary.h"
#include "kernels/ref/level.h"

/* The frequent strides as loops of their own, so that they vectorise. */
#define BINARY_LOOP(type, result, prefix, name, expression)                                                  \
  void KERNEL(prefix##_##name)(const type *a, int64_t sa, const type *b, int64_t sb, result *y, int64_t n) { \
    if (sa == 1 && sb == 1) {                                                                                \
      for (int64_t i = 0; i < n; i++) {                                                                      \
        type u = a[i], v = b[i];                                                                             \
        y[i] = (expression);                                                                                 \
      }                                                                                                      \
    } else if (sa == 1 && sb == 0) {                                                                         \
      type v = b[0];                                                                                         \
      for (int64_t i = 0; i < n; i++) {                                                                      \
        type u = a[i];                                                                                       \
        y[i] = (expression);                                                                                 \
      }                                                                                                      \
    } else if (sa == 0 && sb == 1) {                                                                         \
      type u = a[0];                                                                                         \
      for (int64_t i = 0; i < n; i++) {                                                                      \
        type v = b[i];                                                                                       \
        y[i] = (expression);                                                                                 \
      }                                                                                                      \
    } else {                                                                                                 \
      for (int64_t i = 0; i < n; i++) {                                                                      \
        type u = a[i * sa], v = b[i * sb];                                                                   \
        y[i] = (expression);                                                                                 \
      }                                                                                                      \
    }                                                                                                        \
  }
#define BOTH(name, expression32, expression64)       \
  BINARY_LOOP(float, float, f32, name, expression32) \
  BINARY_LOOP(double, double, f64, name, expression64)
#define BOTH_CALL(name) BOTH(name, name##_f32(u, v), name##_f64(u, v))
#define COMPARISON(name, expression)                   \
  BINARY_LOOP(float, uint8_t, f32, name, expression)   \
  BINARY_LOOP(double, uint8_t, f64, name, expression)  \
  BINARY_LOOP(int64_t, uint8_t, i64, name, expression) \
  BINARY_LOOP(uint64_t, uint8_t, u64, name, expression)
/* Integers wrap, as two's complement does: signed ones compute as unsigned. */
#define BOTH_INTEGERS(name, expression_i, expression_u)  \
  BINARY_LOOP(int64_t, int64_t, i64, name, expression_i) \
  BINARY_LOOP(uint64_t, uint64_t, u64, name, expression_u)

BOTH(add, u + v, u + v)
BOTH(sub, u - v, u - v)
BOTH(mul, u *v, u *v)
BOTH(div, u / v, u / v)
BOTH_CALL(pow)
BOTH_CALL(min)
BOTH_CALL(max)
BOTH_CALL(fmod)
BOTH_CALL(mod)
BOTH(prelu, u < 0.0F ? v * u : u, u < 0.0 ? v * u : u)

COMPARISON(equal, u == v)
COMPARISON(less, u < v)
COMPARISON(less_equal, u <= v)

/* Division truncates. By zero there is no answer: 0 is given, on every processor. */
static inline int64_t div_i64(int64_t a, int64_t b) {
  if (b == 0) {
    return 0;
  }
  return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}
static inline int64_t fmod_i64(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }
/* The sign of the remainder follows the divisor. */
static inline int64_t mod_i64(int64_t a, int64_t b) {
  int64_t r = fmod_i64(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
static inline uint64_t pow_u64(uint64_t base, uint64_t exponent) {
  uint64_t y = 1;
  for (; exponent != 0; exponent >>= 1) {
    y = (exponent & 1) != 0 ? y * base : y;
    base *= base;
  }
  return y;
}
/* Below one for negative exponents, which truncates to 0; 1 and -1 stay. A power of zero to them is 0. */
static inline int64_t pow_i64(int64_t base, int64_t exponent) {
  if (exponent >= 0) {
    return (int64_t)pow_u64((uint64_t)base, (uint64_t)exponent);
  }
  return base == 1 ? 1 : (base == -1 ? ((exponent & 1) != 0 ? -1 : 1) : 0);
}

BOTH_INTEGERS(add, (int64_t)((uint64_t)u + (uint64_t)v), u + v)
BOTH_INTEGERS(sub, (int64_t)((uint64_t)u - (uint64_t)v), u - v)
BOTH_INTEGERS(mul, (int64_t)((uint64_t)u *(uint64_t)v), u *v)
BOTH_INTEGERS(div, div_i64(u, v), v == 0 ? 0 : u / v)
BOTH_INTEGERS(mod, mod_i64(u, v), v == 0 ? 0 : u % v)
BOTH_INTEGERS(fmod, fmod_i64(u, v), v == 0 ? 0 : u % v)
BOTH_INTEGERS(pow, pow_i64(u, v), pow_u64(u, v))
BOTH_INTEGERS(min, u < v ? u : v, u < v ? u : v)
BOTH_INTEGERS(max, u > v ? u : v, u > v ? u : v)
BOTH_INTEGERS(and, u &v, u &v)
BOTH_INTEGERS(or, u | v, u | v)
BOTH_INTEGERS(xor, u ^ v, u ^ v)
/* A shift by the width or more leaves nothing; callers store into the narrower type. */
BOTH_INTEGERS(shift_left, (int64_t)((uint64_t)v > 63 ? 0 : (uint64_t)u << v), v > 63 ? 0 : u << v)
BOTH_INTEGERS(shift_right, (uint64_t)v > 63 ? (u < 0 ? -1 : 0) : u >> v, v > 63 ? 0 : u >> v)
