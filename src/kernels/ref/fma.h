/* Fused multiply-add: a * b + c with one rounding, on every processor. Where the instruction is missing (x86-64
 * before FMA3) the same bits come from exact arithmetic; it must never be two roundings. */
#ifndef KERNELS_REF_FMA_H
#define KERNELS_REF_FMA_H

#include <stdint.h>

#if defined(__FMA__) || defined(__aarch64__)
#define FMA_IN_HARDWARE 1
#else
#define FMA_IN_HARDWARE 0
#endif

static inline uint64_t f64_bits(double x) {
  uint64_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline double f64_from_bits(uint64_t bits) {
  double x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

static inline uint32_t f32_bits(float x) {
  uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline float f32_from_bits(uint32_t bits) {
  float x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

/* The product of two floats is exact in double. Its sum with c is rounded to odd, which the second rounding, to
 * float, cannot spoil (Boldo and Melquiond, 2008). Free of branches, so that loops over it vectorise. */
static inline float f32_fma_exact(float a, float b, float c) {
  double p = (double)a * (double)b, z = (double)c;
  double s = p + z;
  double z_part = s - p;
  double error = (p - (s - z_part)) + (z - z_part); /* s + error is exact; NaN when s is not finite */
  uint64_t bits = f64_bits(s);
  uint64_t inexact = (uint64_t)(error > 0.0) | (uint64_t)(error < 0.0);
  uint64_t toward_zero = (uint64_t)(error < 0.0) ^ (bits >> 63);
  /* An even last bit becomes odd: one up when the true sum is larger in magnitude, otherwise one down. */
  uint64_t change = (inexact & ~bits) * (1 - 2 * toward_zero);
  return (float)f64_from_bits(bits + change);
}

/* An unsigned integer of 192 bits, lowest word first. */
struct words3 {
  uint64_t w[3];
};

static inline struct words3 words3_left(struct words3 x, int32_t n) {
  for (; n >= 64; n -= 64) {
    x = (struct words3){{0, x.w[0], x.w[1]}};
  }
  if (n > 0) {
    x = (struct words3){{x.w[0] << n, x.w[1] << n | x.w[0] >> (64 - n), x.w[2] << n | x.w[1] >> (64 - n)}};
  }
  return x;
}

/* Bits that fall out are remembered: the lowest bit of the result is set when any of them was. */
static inline struct words3 words3_right_sticky(struct words3 x, int32_t n) {
  uint64_t lost = 0;
  for (; n >= 64; n -= 64) {
    lost |= x.w[0];
    x = (struct words3){{x.w[1], x.w[2], 0}};
  }
  if (n > 0) {
    lost |= x.w[0] << (64 - n);
    x = (struct words3){{x.w[0] >> n | x.w[1] << (64 - n), x.w[1] >> n | x.w[2] << (64 - n), x.w[2] >> n}};
  }
  x.w[0] |= (uint64_t)(lost != 0);
  return x;
}

static inline int32_t words3_length(struct words3 x) {
  for (int32_t i = 2; i >= 0; i--) {
    if (x.w[i] != 0) {
      return 64 * i + 64 - __builtin_clzll(x.w[i]);
    }
  }
  return 0;
}

static inline int words3_less(struct words3 x, struct words3 y) {
  for (int32_t i = 2; i >= 0; i--) {
    if (x.w[i] != y.w[i]) {
      return x.w[i] < y.w[i];
    }
  }
  return 0;
}

static inline struct words3 words3_add(struct words3 x, struct words3 y, uint64_t carry) {
  for (int32_t i = 0; i < 3; i++) {
    uint64_t sum = x.w[i] + carry;
    carry = (uint64_t)(sum < carry);
    x.w[i] = sum + y.w[i];
    carry += (uint64_t)(x.w[i] < sum);
  }
  return x;
}

static inline struct words3 words3_subtract(struct words3 x, struct words3 y) {
  return words3_add(x, (struct words3){{~y.w[0], ~y.w[1], ~y.w[2]}}, 1);
}

/* The whole product of two integers of 64 bits. */
static inline struct words3 words3_product(uint64_t a, uint64_t b) {
  uint64_t a0 = a & 0xFFFFFFFF, a1 = a >> 32, b0 = b & 0xFFFFFFFF, b1 = b >> 32;
  uint64_t low = a0 * b0;
  uint64_t middle = a0 * b1 + (low >> 32);
  uint64_t other = a1 * b0 + (middle & 0xFFFFFFFF);
  return (struct words3){{other << 32 | (low & 0xFFFFFFFF), a1 * b1 + (middle >> 32) + (other >> 32), 0}};
}

/* x * 2^exponent, rounded once to nearest even. The lowest bit of x may be a sticky one when x is long. */
static inline double words3_round(struct words3 x, int32_t exponent) {
  int32_t drop = words3_length(x) - 53;
  if (drop < -1074 - exponent) {
    drop = -1074 - exponent;
  }
  if (drop > 192 || words3_length(x) == 0) {
    return 0.0; /* below half of the smallest subnormal, or nothing */
  }
  /* Two bits stay below the fraction: the half, and whether anything lies below it. */
  x = drop >= 2 ? words3_right_sticky(x, drop - 2) : words3_left(x, 2 - drop);
  uint64_t fraction = x.w[0] >> 2, rest = x.w[0] & 3;
  fraction += (uint64_t)(rest == 3 || (rest == 2 && (fraction & 1) != 0));
  exponent += drop;
  if (exponent > 971) {
    return f64_from_bits(UINT64_C(0x7FF) << 52);
  }
  /* A fraction of 2^53 carries into the exponent, one below 2^52 is subnormal: both come out of the sum. */
  return f64_from_bits(((uint64_t)(exponent + 1074) << 52) + fraction);
}

static inline uint64_t f64_fraction(double x, int32_t *exponent) {
  uint64_t bits = f64_bits(x);
  int32_t biased = (int32_t)(bits >> 52 & 0x7FF);
  *exponent = (biased != 0 ? biased : 1) - 1075;
  return (bits & UINT64_C(0xFFFFFFFFFFFFF)) | (biased != 0 ? UINT64_C(1) << 52 : 0);
}

static inline double f64_fma_exact(double a, double b, double c) {
  if (!(a - a == 0.0 && b - b == 0.0)) {
    return a * b + c;
  }
  if (c - c != 0.0) {
    return c + 0.0; /* Inf or NaN, even where the product alone would overflow */
  }
  double product = a * b;
  if (a == 0.0 || b == 0.0) {
    return product + c;
  }
  if (c == 0.0) {
    return product;
  }
  int32_t ea, eb, ec;
  uint64_t fa = f64_fraction(a, &ea), fb = f64_fraction(b, &eb), fc = f64_fraction(c, &ec);
  struct words3 p = words3_product(fa, fb), z = {{fc, 0, 0}};
  int32_t exponent, ahead = ec - (ea + eb);
  if (ahead >= 0) { /* the lowest bit of c lies above that of the product */
    int32_t left = ahead < 130 ? ahead : 130;
    z = words3_left(z, left);
    p = words3_right_sticky(p, ahead - left);
    exponent = ec - left;
  } else {
    int32_t left = -ahead < 80 ? -ahead : 80;
    p = words3_left(p, left);
    z = words3_right_sticky(z, -ahead - left);
    exponent = ea + eb - left;
  }
  uint64_t p_sign = (f64_bits(a) ^ f64_bits(b)) >> 63, z_sign = f64_bits(c) >> 63, sign = p_sign;
  struct words3 sum;
  if (p_sign == z_sign) {
    sum = words3_add(p, z, 0);
  } else if (words3_less(p, z)) {
    sum = words3_subtract(z, p);
    sign = z_sign;
  } else {
    sum = words3_subtract(p, z);
    if (words3_length(sum) == 0) {
      return 0.0;
    }
  }
  return f64_from_bits(f64_bits(words3_round(sum, exponent)) | sign << 63);
}

static inline float fma_f32(float a, float b, float c) {
#if FMA_IN_HARDWARE
  return __builtin_fmaf(a, b, c);
#else
  return f32_fma_exact(a, b, c);
#endif
}

static inline double fma_f64(double a, double b, double c) {
#if FMA_IN_HARDWARE
  return __builtin_fma(a, b, c);
#else
  return f64_fma_exact(a, b, c);
#endif
}

#endif
