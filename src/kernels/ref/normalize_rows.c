/* The last steps of every normalisation, element by element, each rounded: subtract the mean, divide by the deviation,
 * multiply by the scale, add the bias. */
#include <stddef.h>

#include "kernels/ref/level.h"

#define NORMALIZE(prefix, type)                                                                           \
  void KERNEL(prefix##_normalize)(const type *x, int64_t n, type mean, type deviation, const type *scale, \
                                  int64_t scale_stride, const type *bias, int64_t bias_stride, type *y) { \
    if (scale == NULL && bias == NULL) {                                                                  \
      for (int64_t i = 0; i < n; i++) {                                                                   \
        y[i] = (x[i] - mean) / deviation;                                                                 \
      }                                                                                                   \
    } else if (bias == NULL) {                                                                            \
      for (int64_t i = 0; i < n; i++) {                                                                   \
        y[i] = (x[i] - mean) / deviation * scale[i * scale_stride];                                       \
      }                                                                                                   \
    } else if (scale == NULL) {                                                                           \
      for (int64_t i = 0; i < n; i++) {                                                                   \
        y[i] = (x[i] - mean) / deviation + bias[i * bias_stride];                                         \
      }                                                                                                   \
    } else if (scale_stride == 0 && bias_stride == 0) {                                                   \
      type s = scale[0], b = bias[0];                                                                     \
      for (int64_t i = 0; i < n; i++) {                                                                   \
        y[i] = (x[i] - mean) / deviation * s + b;                                                         \
      }                                                                                                   \
    } else if (scale_stride == 1 && bias_stride == 1) {                                                   \
      for (int64_t i = 0; i < n; i++) {                                                                   \
        y[i] = (x[i] - mean) / deviation * scale[i] + bias[i];                                            \
      }                                                                                                   \
    } else {                                                                                              \
      for (int64_t i = 0; i < n; i++) {                                                                   \
        y[i] = (x[i] - mean) / deviation * scale[i * scale_stride] + bias[i * bias_stride];               \
      }                                                                                                   \
    }                                                                                                     \
  }

NORMALIZE(f32, float)
NORMALIZE(f64, double)
