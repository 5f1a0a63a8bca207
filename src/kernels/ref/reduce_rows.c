/* Reductions by 16 lanes, along rows or over columns side by side; see kernels/reduce.inc. */
#include <stddef.h>

#include "kernels/ref/lanes.h"
#include "kernels/ref/level.h"

#define SQUARE(x) ((x) * (x))
#define DEVIATION(x) SQUARE((x)-mean)
#define MULTIPLY(a, b) ((a) * (b))
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define SMALLER(a, b) ((a) < (b) ? (a) : (b))
/* Signed integers wrap, which C leaves to unsigned ones. */
static inline int64_t add_i64(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
static inline int64_t multiply_i64(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }
static inline int64_t abs_i64(int64_t a) { return a < 0 ? (int64_t)(0 - (uint64_t)a) : a; }
static inline int64_t square_i64(int64_t a) { return multiply_i64(a, a); }

#define REDUCE(prefix, name, type, start, combine, map)                                                          \
  void KERNEL(prefix##_##name##_begin)(type * lanes, int64_t width) {                                            \
    for (int64_t i = 0; i < LANES * width; i++) {                                                                \
      lanes[i] = (start);                                                                                        \
    }                                                                                                            \
  }                                                                                                              \
  void KERNEL(prefix##_##name##_lanes)(const type *x, int64_t stride, int64_t n, int64_t first, const type *m,   \
                                       type *lanes) {                                                            \
    type mean = m != NULL ? m[0] : (type)0;                                                                      \
    (void)mean;                                                                                                  \
    LANES_FEED(type, combine, map, x, stride, n, first, lanes);                                                  \
  }                                                                                                              \
  void KERNEL(prefix##_##name##_columns)(const type *x, int64_t stride, int64_t n, int64_t first, int64_t width, \
                                         const type *m, type *lanes) {                                           \
    for (int64_t i = 0; i < n; i++) {                                                                            \
      type *lane = lanes + (first + i) % LANES * width;                                                          \
      const type *row = x + i * stride;                                                                          \
      for (int64_t c = 0; c < width; c++) {                                                                      \
        type mean = m != NULL ? m[c] : (type)0;                                                                  \
        (void)mean;                                                                                              \
        lane[c] = combine(lane[c], map(row[c]));                                                                 \
      }                                                                                                          \
    }                                                                                                            \
  }                                                                                                              \
  void KERNEL(prefix##_##name##_fold)(type * lanes, int64_t width, type * y) {                                   \
    LANES_FOLD(combine, lanes, width);                                                                           \
    for (int64_t c = 0; c < width; c++) {                                                                        \
      y[c] = lanes[c];                                                                                           \
    }                                                                                                            \
  }

REDUCE(f32, sum, float, 0, LANES_ADD, LANES_SAME)
REDUCE(f64, sum, double, 0, LANES_ADD, LANES_SAME)
REDUCE(i64, sum, int64_t, 0, add_i64, LANES_SAME)
REDUCE(u64, sum, uint64_t, 0, LANES_ADD, LANES_SAME)
REDUCE(f32, abs_sum, float, 0, LANES_ADD, abs_f32)
REDUCE(f64, abs_sum, double, 0, LANES_ADD, abs_f64)
REDUCE(i64, abs_sum, int64_t, 0, add_i64, abs_i64)
REDUCE(u64, abs_sum, uint64_t, 0, LANES_ADD, LANES_SAME)
REDUCE(f32, square_sum, float, 0, LANES_ADD, SQUARE)
REDUCE(f64, square_sum, double, 0, LANES_ADD, SQUARE)
REDUCE(i64, square_sum, int64_t, 0, add_i64, square_i64)
REDUCE(u64, square_sum, uint64_t, 0, LANES_ADD, SQUARE)
REDUCE(f32, deviation_sum, float, 0, LANES_ADD, DEVIATION)
REDUCE(f64, deviation_sum, double, 0, LANES_ADD, DEVIATION)
REDUCE(f32, prod, float, 1, MULTIPLY, LANES_SAME)
REDUCE(f64, prod, double, 1, MULTIPLY, LANES_SAME)
REDUCE(i64, prod, int64_t, 1, multiply_i64, LANES_SAME)
REDUCE(u64, prod, uint64_t, 1, MULTIPLY, LANES_SAME)
/* Of nothing, the largest is -Inf or the least integer: what no element can be below. */
REDUCE(f32, max, float, -__builtin_inff(), max_f32, LANES_SAME)
REDUCE(f64, max, double, -__builtin_inf(), max_f64, LANES_SAME)
REDUCE(i64, max, int64_t, INT64_MIN, LARGER, LANES_SAME)
REDUCE(u64, max, uint64_t, 0, LARGER, LANES_SAME)
REDUCE(f32, min, float, __builtin_inff(), min_f32, LANES_SAME)
REDUCE(f64, min, double, __builtin_inf(), min_f64, LANES_SAME)
REDUCE(i64, min, int64_t, INT64_MAX, SMALLER, LANES_SAME)
REDUCE(u64, min, uint64_t, UINT64_MAX, SMALLER, LANES_SAME)
