/* Takes multiples of a quarter turn from an angle of any size, exactly: x * 2 / pi is formed as an integer of 320
 * bits from the bits of 2 / pi that matter (Payne and Hanek, 1983). It must never lose the angles that lie nearest
 * to a multiple. */
#ifndef KERNELS_REF_TRIG_REDUCTION_H
#define KERNELS_REF_TRIG_REDUCTION_H

#include "kernels/ref/double_double.h"
#include "kernels/ref/function_constants.h"

/* x = quadrant * pi / 2 + hi + lo with |hi| <= pi / 4; of the quadrant the last two bits count. */
struct trig_angle {
  double hi, lo;
  uint64_t quadrant;
};

/* Words of a fraction, highest first; w[0] is the integer part. */
struct trig_fraction {
  uint64_t w[5];
};

/* fraction * (four words of 2 / pi after its first `skip` bits). */
static inline struct trig_fraction trig_product(uint64_t fraction, int32_t skip) {
  struct trig_fraction product = {{0}};
  uint64_t carry = 0;
  for (int32_t i = 3; i >= 0; i--) {
    int32_t word = skip / 64 + i, bit = skip % 64;
    uint64_t bits = two_over_pi[word] << bit | (bit > 0 ? two_over_pi[word + 1] >> (64 - bit) : 0);
    struct words3 part = words3_product(fraction, bits);
    product.w[i + 1] = part.w[0] + carry;
    carry = part.w[1] + (uint64_t)(product.w[i + 1] < carry);
  }
  product.w[0] = carry;
  return product;
}

static inline struct trig_fraction trig_shift(struct trig_fraction x, int32_t left) {
  for (int32_t i = 0; i < 5 && left > 0; i++) {
    x.w[i] = x.w[i] << left | (i < 4 ? x.w[i + 1] >> (64 - left) : 0);
  }
  for (int32_t i = 4; i >= 0 && left < 0; i--) {
    x.w[i] = x.w[i] >> -left | (i > 0 ? x.w[i - 1] << (64 + left) : 0);
  }
  return x;
}

/* Words 1 to 4 as a fraction below one half, of quarter turns, into radians. */
static inline struct dd trig_radians(struct trig_fraction x) {
  int32_t exponent = 0;
  for (int32_t i = 0; i < 3 && x.w[1] == 0; i++) {
    x = (struct trig_fraction){{0, x.w[2], x.w[3], x.w[4], 0}};
    exponent -= 64;
  }
  if (x.w[1] == 0) {
    return (struct dd){0.0, 0.0};
  }
  int32_t zeros = __builtin_clzll(x.w[1]);
  x.w[0] = 0;
  x = zeros > 0 ? trig_shift(x, zeros) : x;
  exponent -= zeros;
  double scale = f64_from_bits((uint64_t)(exponent + 1023) << 52);
  double hi = (double)(x.w[1] >> 11) * 0x1p-53;
  double lo = (double)((x.w[1] & 0x7FF) << 42 | x.w[2] >> 22) * 0x1p-106;
  struct dd quarter_turns = {hi * scale, lo * scale};
  return dd_multiply(quarter_turns, (struct dd){HALF_PI_HI, HALF_PI_LO});
}

static inline struct trig_angle trig_reduce(double x) {
  if (!(x - x == 0.0)) {
    return (struct trig_angle){x - x, 0.0, 0}; /* NaN */
  }
  if (x <= QUARTER_PI_HI && x >= -QUARTER_PI_HI) {
    return (struct trig_angle){x, 0.0, 0};
  }
  int32_t exponent;
  uint64_t fraction = f64_fraction(x, &exponent);
  /* Bits of 2 / pi that stand for multiples of four quarter turns are skipped; then the product is that many
   * times 4, or less for a small exponent. */
  int32_t skip = exponent > 2 ? exponent - 2 : 0;
  struct trig_fraction turns = trig_product(fraction, skip);
  if (exponent < 2) {
    turns = trig_shift(turns, exponent - 2);
  }
  uint64_t quadrant = turns.w[1] >> 62;
  turns.w[0] = 0;
  turns = trig_shift(turns, 2);
  int negative = f64_bits(x) >> 63 != 0;
  if (turns.w[1] >> 63 != 0) { /* nearer to the next quarter turn */
    quadrant++;
    negative = !negative;
    for (int32_t i = 1; i < 5; i++) {
      turns.w[i] = ~turns.w[i];
    }
  }
  struct dd r = trig_radians(turns);
  quadrant = f64_bits(x) >> 63 != 0 ? 0 - quadrant : quadrant;
  return (struct trig_angle){negative ? -r.hi : r.hi, negative ? -r.lo : r.lo, quadrant};
}

#endif
