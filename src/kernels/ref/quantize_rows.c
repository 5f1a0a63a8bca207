/* Rounding of QuantizeLinear: y = x rounded half to even, as an integer clamped to +-2^22; NaN gives 0. The clamp lies
 * far outside every quantized type, so that saturating afterwards gives what saturating before would. */
#include "kernels/ref/level.h"

/* Adding and taking away 1.5 * 2^23 (2^52) rounds to an integer, half to even, where |x| <= 2^22. */
#define ROUND_BODY(type, shift)                                 \
  for (int64_t i = 0; i < n; i++) {                             \
    type low = x[i] < (type)-0x1p22 ? (type)-0x1p22 : x[i];     \
    type bounded = low > (type)0x1p22 ? (type)0x1p22 : low;     \
    type number = bounded == bounded ? bounded : (type)0;       \
    y[i] = (int32_t)((number + (type)(shift)) - (type)(shift)); \
  }

void KERNEL(f32_round_integer)(const float *x, int32_t *y, int64_t n) { ROUND_BODY(float, 0x1.8p23) }
void KERNEL(f64_round_integer)(const double *x, int32_t *y, int64_t n) { ROUND_BODY(double, 0x1.8p52) }
