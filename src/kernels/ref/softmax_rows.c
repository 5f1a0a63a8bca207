/* Softmax and its family over one row, by the steps of their function bodies: the maximum is subtracted, exponentials
 * are added in 16 lanes, and each is divided by the sum. Nothing is rescaled on the way. */
#include "kernels/ref/lanes.h"
#include "kernels/ref/level.h"

#define SOFTMAX(prefix, type, infinity)                                     \
  static inline type row_max_##prefix(const type *x, int64_t n) {           \
    type lanes[LANES];                                                      \
    for (int32_t i = 0; i < LANES; i++) {                                   \
      lanes[i] = -(infinity);                                               \
    }                                                                       \
    LANES_FEED(type, max_##prefix, LANES_SAME, x, 1, n, (int64_t)0, lanes); \
    LANES_FOLD(max_##prefix, lanes, 1);                                     \
    return lanes[0];                                                        \
  }                                                                         \
  void KERNEL(prefix##_softmax)(const type *x, int64_t n, type *y) {        \
    type largest = row_max_##prefix(x, n);                                  \
    for (int64_t i = 0; i < n; i++) {                                       \
      y[i] = exp_##prefix(x[i] - largest);                                  \
    }                                                                       \
    type sum = lanes_sum_##prefix(y, n);                                    \
    for (int64_t i = 0; i < n; i++) {                                       \
      y[i] = y[i] / sum;                                                    \
    }                                                                       \
  }                                                                         \
  void KERNEL(prefix##_log_softmax)(const type *x, int64_t n, type *y) {    \
    type largest = row_max_##prefix(x, n);                                  \
    type lanes[LANES] = {0};                                                \
    for (int64_t begin = 0; begin < n; begin += LANES) {                    \
      type e[LANES];                                                        \
      int64_t m = n - begin < LANES ? n - begin : LANES;                    \
      for (int64_t i = 0; i < m; i++) {                                     \
        e[i] = exp_##prefix(x[begin + i] - largest);                        \
      }                                                                     \
      for (int64_t i = 0; i < m; i++) {                                     \
        lanes[i] = lanes[i] + e[i];                                         \
      }                                                                     \
    }                                                                       \
    LANES_FOLD(LANES_ADD, lanes, 1);                                        \
    type log_sum = log_##prefix(lanes[0]);                                  \
    for (int64_t i = 0; i < n; i++) {                                       \
      y[i] = (x[i] - largest) - log_sum;                                    \
    }                                                                       \
  }                                                                         \
  void KERNEL(prefix##_hardmax)(const type *x, int64_t n, type *y) {        \
    int64_t best = 0;                                                       \
    for (int64_t i = 1; i < n; i++) {                                       \
      int better = x[i] > x[best] || (x[i] != x[i] && x[best] == x[best]);  \
      best = better ? i : best;                                             \
    }                                                                       \
    for (int64_t i = 0; i < n; i++) {                                       \
      y[i] = i == best ? 1 : 0;                                             \
    }                                                                       \
  }

SOFTMAX(f32, float, __builtin_inff())
SOFTMAX(f64, double, __builtin_inf())
