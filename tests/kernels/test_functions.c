/* The elementary functions: against the C library in long double, at the edges, and one answer at every level of
 * the processor, pinned by tests/golden/functions.txt.
 *
 * ASSAY_EXHAUSTIVE=1 tries every float (hours on one core); ASSAY_STEP=n every n-th.
 * ASSAY_WRITE_GOLDEN=1 writes the hashes anew; look at why they changed before committing that. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"
#include "kernels/ref/fma.h"
#include "support.h"

typedef long double reference_function(long double x);
static long double sigmoid_reference(long double x) { return 1 / (1 + expl(-x)); }
static long double softplus_reference(long double x) { return x > 0 ? x + log1pl(expl(-x)) : log1pl(expl(x)); }

struct function {
  const char *name;
  reference_function *reference;
  void (*f32[KERNEL_LEVEL_COUNT])(const float *, float *, int64_t, const float *);
  void (*f64[KERNEL_LEVEL_COUNT])(const double *, double *, int64_t, const double *);
};

/* Filled in for the levels that the processor has. */
#define FUNCTION(function, reference) {.name = #function, reference},
#define FUNCTIONS                      \
  FUNCTION(exp, expl)                  \
  FUNCTION(log, logl)                  \
  FUNCTION(sin, sinl)                  \
  FUNCTION(cos, cosl)                  \
  FUNCTION(tan, tanl)                  \
  FUNCTION(asin, asinl)                \
  FUNCTION(acos, acosl)                \
  FUNCTION(atan, atanl)                \
  FUNCTION(sinh, sinhl)                \
  FUNCTION(cosh, coshl)                \
  FUNCTION(tanh, tanhl)                \
  FUNCTION(asinh, asinhl)              \
  FUNCTION(acosh, acoshl)              \
  FUNCTION(atanh, atanhl)              \
  FUNCTION(erf, erfl)                  \
  FUNCTION(sigmoid, sigmoid_reference) \
  FUNCTION(softplus, softplus_reference)
static struct function functions[] = {FUNCTIONS};
#undef FUNCTION
enum { FUNCTION_COUNT = sizeof functions / sizeof *functions, BLOCK = 1024 };

static void find_kernels(void) {
  for (int level = 0; level < KERNEL_LEVEL_COUNT; level++) {
    const struct kernels *kernels = kernels_at((enum kernel_level)level);
    int i = 0;
    if (kernels == NULL) {
      continue;
    }
#define FUNCTION(function, reference)                \
  functions[i].f32[level] = kernels->f32_##function; \
  functions[i++].f64[level] = kernels->f64_##function;
    FUNCTIONS
#undef FUNCTION
  }
}

static uint64_t next_random(uint64_t *seed) {
  *seed ^= *seed << 13;
  *seed ^= *seed >> 7;
  *seed ^= *seed << 17;
  return *seed * UINT64_C(0x9E3779B97F4A7C15);
}

/* Distance in units of the last place of the type at `expected`; 0 when both are the same NaN, Inf or zero. */
static double ulps(double actual, long double expected, int fraction_bits, int least_exponent, double largest) {
  if (isnan(expected) || isnan(actual)) {
    return isnan(expected) && isnan(actual) ? 0 : (double)INFINITY;
  }
  if (actual == (double)expected && (isinf(expected) || expected == 0)) {
    return !signbit(actual) == !signbit(expected) ? 0 : (double)INFINITY;
  }
  int exponent;
  (void)frexpl(expected, &exponent);
  exponent = exponent - 1 < least_exponent ? least_exponent : exponent - 1;
  long double unit = ldexpl(1, exponent - fraction_bits);
  if (isinf(actual) || isinf(expected)) {
    bool beyond = fabsl(expected) >= (long double)largest + unit / 2;
    return beyond && isinf(actual) && !signbit(actual) == !signbit(expected) ? 0 : (double)INFINITY;
  }
  return (double)(fabsl((long double)actual - expected) / unit);
}

static double ulps32(float actual, long double expected) {
  return ulps((double)actual, expected, 23, -126, 0x1.fffffep127);
}
static double ulps64(double actual, long double expected) {
  return ulps(actual, expected, 52, -1022, 0x1.fffffffffffffp1023);
}

static const double edges[] = {0.0,
                               -0.0,
                               (double)INFINITY,
                               -(double)INFINITY,
                               (double)NAN,
                               1,
                               -1,
                               0.5,
                               -0.5,
                               0x1p-149,
                               -0x1p-149,
                               0x1p-126,
                               0x1.fffffep127,
                               -0x1.fffffep127,
                               88.72283,
                               88.72284,
                               -87.4,
                               -103.97,
                               -103.98,
                               89.415985,
                               89.416,
                               0x1.921fb6p+0,
                               0x1.921fb6p+1,
                               0x1.6ac5b2p+24,
                               0x1.1b0p19,
                               0x1p19,
                               524289,
                               1e22,
                               3.92,
                               6.0,
                               709.78,
                               709.79,
                               -745.1,
                               -745.2,
                               710.47,
                               710.48,
                               0x1.6ac5b262ca1ffp849,
                               0x1p-1074,
                               0x1p-1022,
                               0x1.fffffffffffffp1023,
                               1 - 0x1p-53,
                               1 + 0x1p-52};
enum { EDGES = sizeof edges / sizeof *edges };

static void check_f32(const struct function *f, const float *x, int64_t n, double *worst) {
  float y[BLOCK], other[BLOCK];
  f->f32[KERNEL_LEVEL_BASE](x, y, n, NULL);
  for (int level = 1; level < KERNEL_LEVEL_COUNT; level++) {
    if (f->f32[level] != NULL) {
      f->f32[level](x, other, n, NULL);
      for (int64_t i = 0; i < n; i++) {
        if (f32_bits(y[i]) != f32_bits(other[i]) && !(isnan(y[i]) && isnan(other[i]))) {
          print_error("f32_%s(%a): base gives %a, %s gives %a\n", f->name, (double)x[i], (double)y[i],
                      kernel_level_name((enum kernel_level)level), (double)other[i]);
          fail();
        }
      }
    }
  }
  for (int64_t i = 0; i < n; i++) {
    double error = ulps32(y[i], f->reference((long double)x[i]));
    *worst = error > *worst ? error : *worst;
    if (!(error <= 0.51)) {
      print_error("f32_%s(%a) = %a, expected %La: %g ULP\n", f->name, (double)x[i], (double)y[i],
                  f->reference((long double)x[i]), error);
      fail();
    }
  }
}

static void check_f64(const struct function *f, const double *x, int64_t n, double *worst) {
  double y[BLOCK], other[BLOCK];
  f->f64[KERNEL_LEVEL_BASE](x, y, n, NULL);
  for (int level = 1; level < KERNEL_LEVEL_COUNT; level++) {
    if (f->f64[level] != NULL) {
      f->f64[level](x, other, n, NULL);
      for (int64_t i = 0; i < n; i++) {
        if (f64_bits(y[i]) != f64_bits(other[i]) && !(isnan(y[i]) && isnan(other[i]))) {
          print_error("f64_%s(%a): base gives %a, %s gives %a\n", f->name, x[i], y[i],
                      kernel_level_name((enum kernel_level)level), other[i]);
          fail();
        }
      }
    }
  }
  for (int64_t i = 0; i < n; i++) {
    long double expected = f->reference((long double)x[i]);
    double error = ulps64(y[i], expected);
    *worst = error > *worst ? error : *worst;
    if (!(error <= (fabsl(expected) < 0x1p-1022L ? 0.76 : 0.51))) {
      print_error("f64_%s(%a) = %a, expected %La: %g ULP\n", f->name, x[i], y[i], expected, error);
      fail();
    }
  }
}

/* Every step-th pattern of bits of a float, and the edges. */
static void floats_are_within_an_ulp(void **state) {
  (void)state;
  const char *step_text = getenv("ASSAY_STEP");
  uint64_t step = getenv("ASSAY_EXHAUSTIVE") != NULL ? 1 : (step_text != NULL ? strtoull(step_text, NULL, 10) : 200003);
  assert_true(step > 0);
  for (int i = 0; i < FUNCTION_COUNT; i++) {
    float x[BLOCK];
    double worst = 0;
    for (int k = 0; k < EDGES; k++) {
      x[k] = (float)edges[k];
    }
    check_f32(&functions[i], x, EDGES, &worst);
    uint64_t bits = 0;
    while (bits < UINT64_C(1) << 32) {
      int64_t n = 0;
      for (; n < BLOCK && bits < UINT64_C(1) << 32; bits += step) {
        x[n++] = f32_from_bits((uint32_t)bits);
      }
      check_f32(&functions[i], x, n, &worst);
    }
    print_message("f32_%s: %.4f ULP at most\n", functions[i].name, worst);
  }
}

static double sample_f64(uint64_t *seed, int kind) {
  uint64_t bits = next_random(seed);
  double unit = (double)(bits >> 11) * 0x1p-52 - 1;
  switch (kind) {
    case 0:
      return f64_from_bits(bits);
    case 1: {
      uint64_t exponent = 1023 - 30 + (next_random(seed) >> 32) % 41;
      return f64_from_bits((bits & UINT64_C(0x800FFFFFFFFFFFFF)) | exponent << 52);
    }
    case 2:
      return unit * 1.05;
    default:
      return unit * 50;
  }
}

/* x87's long double has 11 bits more than double, which is enough to judge by. */
static void doubles_are_within_an_ulp(void **state) {
  (void)state;
  if (sizeof(long double) == sizeof(double)) {
    print_message("long double is double here; nothing to judge by\n");
    skip();
  }
  for (int i = 0; i < FUNCTION_COUNT; i++) {
    double x[BLOCK], worst = 0;
    check_f64(&functions[i], edges, EDGES, &worst);
    uint64_t seed = 88172645463325252u;
    for (int block = 0; block < 4; block++) {
      for (int k = 0; k < BLOCK; k++) {
        x[k] = sample_f64(&seed, k % 4);
      }
      check_f64(&functions[i], x, BLOCK, &worst);
    }
    print_message("f64_%s: %.4f ULP at most\n", functions[i].name, worst);
  }
}

/* Powers: random ones by error, special ones by IEEE 754-2019 9.2.1, which the C library follows. */
static void powers(void **state) {
  (void)state;
  static const double special[] = {0.0,
                                   -0.0,
                                   1,
                                   -1,
                                   2,
                                   -2,
                                   3,
                                   -3,
                                   0.5,
                                   -0.5,
                                   (double)INFINITY,
                                   -(double)INFINITY,
                                   (double)NAN,
                                   0x1p53,
                                   0x1p24,
                                   -0x1p24,
                                   16777215,
                                   -16777215,
                                   1e30,
                                   -1e30,
                                   0x1p-126,
                                   -0x1p-126,
                                   1 + 0x1p-23,
                                   1 - 0x1p-24};
  for (int level = 0; level < KERNEL_LEVEL_COUNT; level++) {
    const struct kernels *kernels = kernels_at((enum kernel_level)level);
    if (kernels == NULL) {
      continue;
    }
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
      for (size_t j = 0; j < sizeof special / sizeof *special; j++) {
        double x = special[i], y = special[j], z;
        float xf = (float)x, yf = (float)y, zf;
        kernels->f64_pow(&x, 1, &y, 1, &z, 1);
        kernels->f32_pow(&xf, 1, &yf, 1, &zf, 1);
        if (!(ulps64(z, powl(x, y)) <= 0.51) || !(ulps32(zf, powl(xf, yf)) <= 0.51)) {
          print_error("pow(%g, %g): expected %Lg, got %g and %g\n", x, y, powl(x, y), z, (double)zf);
          fail();
        }
      }
    }
    uint64_t seed = 362436069362436069u;
    for (int i = 0; i < 4000; i++) {
      double x = i % 2 ? (double)(next_random(&seed) >> 11) * 0x1p-52 : fabs(sample_f64(&seed, 0));
      double y = i % 2 ? sample_f64(&seed, 3) * 6 : sample_f64(&seed, 2), z;
      float xf = (float)x, yf = (float)y, zf;
      kernels->f64_pow(&x, 1, &y, 1, &z, 1);
      kernels->f32_pow(&xf, 1, &yf, 1, &zf, 1);
      if (!(ulps64(z, powl(x, y)) <= 0.51) || !(ulps32(zf, powl(xf, yf)) <= 0.51)) {
        print_error("pow(%a, %a): expected %La, got %a and %a\n", x, y, powl(x, y), z, (double)zf);
        fail();
      }
    }
  }
}

static void a_square_is_a_product(void **state) {
  (void)state;
  float x = 1.1F, two = 2, y;
  kernels_best()->f32_pow(&x, 1, &two, 1, &y, 1);
  assert_true(f32_bits(y) == f32_bits(x * x));
}

/* FNV-1a over the bits, a NaN as one pattern. */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n) {
  for (size_t i = 0; i < n; i++) {
    hash = (hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001B3);
  }
  return hash;
}

enum { HASHED = 8192 };
static uint64_t hash_f32(const struct function *f, int level) {
  static float x[HASHED], y[HASHED];
  uint64_t seed = 123456789;
  for (int i = 0; i < HASHED; i++) {
    x[i] = i % 2 ? (float)sample_f64(&seed, 1 + i % 3) : f32_from_bits((uint32_t)(next_random(&seed) >> 32));
  }
  f->f32[level](x, y, HASHED, NULL);
  uint64_t hash = UINT64_C(0xCBF29CE484222325);
  for (int i = 0; i < HASHED; i++) {
    uint32_t bits = isnan(y[i]) ? 0x7FC00000 : f32_bits(y[i]);
    hash = hash_bytes(hash, &bits, sizeof bits);
  }
  return hash;
}
static uint64_t hash_f64(const struct function *f, int level) {
  static double x[HASHED], y[HASHED];
  uint64_t seed = 987654321;
  for (int i = 0; i < HASHED; i++) {
    x[i] = sample_f64(&seed, i % 4);
  }
  f->f64[level](x, y, HASHED, NULL);
  uint64_t hash = UINT64_C(0xCBF29CE484222325);
  for (int i = 0; i < HASHED; i++) {
    uint64_t bits = isnan(y[i]) ? UINT64_C(0x7FF8000000000000) : f64_bits(y[i]);
    hash = hash_bytes(hash, &bits, sizeof bits);
  }
  return hash;
}

static void hashes_are_the_committed_ones(void **state) {
  (void)state;
  const char *path = ASSAY_SOURCE_DIR "/tests/golden/functions.txt";
  char actual[8192] = "", expected[8192] = "";
  for (int level = 0; level < KERNEL_LEVEL_COUNT; level++) {
    if (kernels_at((enum kernel_level)level) == NULL) {
      continue;
    }
    size_t length = 0;
    for (int i = 0; i < FUNCTION_COUNT; i++) {
      length += (size_t)snprintf(actual + length, sizeof actual - length, "%s f32 %016llx f64 %016llx\n",
                                 functions[i].name, (unsigned long long)hash_f32(&functions[i], level),
                                 (unsigned long long)hash_f64(&functions[i], level));
    }
    if (level == KERNEL_LEVEL_BASE && getenv("ASSAY_WRITE_GOLDEN") != NULL) {
      FILE *out = fopen(path, "w");
      assert_non_null(out);
      assert_true(fputs(actual, out) >= 0);
      assert_int_equal(fclose(out), 0);
    }
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    expected[fread(expected, 1, sizeof expected - 1, in)] = '\0';
    assert_int_equal(fclose(in), 0);
    assert_string_equal(actual, expected);
  }
}

int main(void) {
  find_kernels();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(floats_are_within_an_ulp),
      cmocka_unit_test(doubles_are_within_an_ulp),
      cmocka_unit_test(powers),
      cmocka_unit_test(a_square_is_a_product),
      cmocka_unit_test(hashes_are_the_committed_ones),
  };
  return cmocka_run_group_tests_name("functions", tests, NULL, NULL);
}
