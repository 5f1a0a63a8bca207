/* One dot product as one chain of fused multiply-adds over two strided rows. Must never be split. */
#include "kernels/ref/fma.h"
#include "kernels/ref/level.h"

#define CHAIN(prefix, type, fma)                                                                                \
  void KERNEL(prefix##_fma_chain)(const type *a, int64_t sa, const type *b, int64_t sb, int64_t n, type *acc) { \
    type sum = *acc;                                                                                            \
    for (int64_t i = 0; i < n; i++) {                                                                           \
      sum = fma(a[i * sa], b[i * sb], sum);                                                                     \
    }                                                                                                           \
    *acc = sum;                                                                                                 \
  }

CHAIN(f32, float, fma_f32)
CHAIN(f64, double, fma_f64)
