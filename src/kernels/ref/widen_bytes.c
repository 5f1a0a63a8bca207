/* Integers of 8 bits as integers of 32 bits, less their zero point: exact, whatever the numbers. */
#include "kernels/ref/level.h"

void KERNEL(i8_widen)(const int8_t *x, int32_t zero, uint32_t *y, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    y[i] = (uint32_t)(x[i] - zero);
  }
}

void KERNEL(u8_widen)(const uint8_t *x, int32_t zero, uint32_t *y, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    y[i] = (uint32_t)(x[i] - zero);
  }
}
