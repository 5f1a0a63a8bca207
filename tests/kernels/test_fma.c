/* The fused multiply-add without the instruction gives the bits of the one with it. */
#include <math.h>
#include <string.h>

#include "kernels/ref/fma.h"
#include "support.h"

static uint64_t next_random(uint64_t *seed) {
  *seed ^= *seed << 13;
  *seed ^= *seed >> 7;
  *seed ^= *seed << 17;
  return *seed * UINT64_C(0x9E3779B97F4A7C15);
}

/* Values worked out by hand; the C library's fma is correctly rounded and serves for the rest. */
static void by_hand(void **state) {
  (void)state;
  assert_true(f64_fma_exact(1 + 0x1p-30, 1 - 0x1p-30, -1) == -0x1p-60);
  assert_true(f32_fma_exact(1 + 0x1p-12f, 1 - 0x1p-12f, -1) == -0x1p-24f);
  assert_true(f64_fma_exact(0x1p1000, 0x1p1000, 1) == (double)INFINITY);
  assert_true(f64_fma_exact(0x1p1000, 0x1p100, -(double)INFINITY) == -(double)INFINITY);
  /* The product alone would overflow; the sum does not. */
  assert_true(f64_fma_exact(0x1p512, 0x1p512, -0x1.fffffffffffffp1023) == 0x1p971);
  assert_true(f64_fma_exact(0x1p-600, -0x1p-600, 0.0) == 0 && signbit(f64_fma_exact(0x1p-600, -0x1p-600, 0.0)));
  assert_true(!signbit(f64_fma_exact(3, -2, 6)));
  assert_true(signbit(f64_fma_exact(-0.0, 2, -0.0)));
  assert_true(isnan(f64_fma_exact((double)INFINITY, 0, 1)) && isnan(f32_fma_exact(INFINITY, 0, 1)));
  /* Half of the smallest subnormal rounds to even, a hair more does not. */
  assert_true(f64_fma_exact(0x1p-1074, 0.5, 0x1p-1074) == 0x1p-1073);
  assert_true(f64_fma_exact(0x1p-537, 0x1p-538, 0x0p0) == 0);
}

static void random_doubles(void **state) {
  (void)state;
  uint64_t seed = 88172645463325252u;
  for (int i = 0; i < 400000; i++) {
    double v[3];
    for (int k = 0; k < 3; k++) {
      uint64_t bits = next_random(&seed);
      if (i % 4 != 0) { /* near exponents, so that sums cancel */
        uint64_t exponent = 1023 - 40 + (next_random(&seed) >> 57) % 80;
        bits = (bits & UINT64_C(0x800FFFFFFFFFFFFF)) | (i % 4 == 1 && k < 2 ? (exponent >> 1) + 100 : exponent) << 52;
      }
      if (i % 3 == 0) {
        bits &= ~(UINT64_C(0xFFFFFFFF));
      }
      v[k] = f64_from_bits(bits);
    }
    if (i % 5 == 0) {
      v[2] = -(v[0] * v[1]); /* the rounding error of a product */
    }
    double expected = fma(v[0], v[1], v[2]), actual = f64_fma_exact(v[0], v[1], v[2]);
    if (f64_bits(expected) != f64_bits(actual) && !(isnan(expected) && isnan(actual))) {
      print_error("fma(%a, %a, %a): expected %a, got %a\n", v[0], v[1], v[2], expected, actual);
      fail();
    }
  }
}

static void random_floats(void **state) {
  (void)state;
  uint64_t seed = 362436069362436069u;
  for (int i = 0; i < 400000; i++) {
    float v[3];
    for (int k = 0; k < 3; k++) {
      uint32_t bits = (uint32_t)(next_random(&seed) >> 32);
      if (i % 4 != 0) {
        bits = (bits & 0x807FFFFF) | (uint32_t)(127 - 20 + (bits >> 23) % 40) << 23;
      }
      v[k] = f32_from_bits(bits);
    }
    if (i % 5 == 0) {
      v[2] = -(v[0] * v[1]);
    }
    float expected = fmaf(v[0], v[1], v[2]), actual = f32_fma_exact(v[0], v[1], v[2]);
    if (f32_bits(expected) != f32_bits(actual) && !(isnan(expected) && isnan(actual))) {
      print_error("fmaf(%a, %a, %a): expected %a, got %a\n", (double)v[0], (double)v[1], (double)v[2], (double)expected,
                  (double)actual);
      fail();
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(by_hand),
      cmocka_unit_test(random_doubles),
      cmocka_unit_test(random_floats),
  };
  return cmocka_run_group_tests_name("fma", tests, NULL, NULL);
}
