/* The dot products against their definition: one chain of fused multiply-adds an output, in ascending order, begun at
 * +0, taps without an input skipped. Every level must give the definition's bits. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "kernels/kernels.h"
#include "support.h"

static uint32_t seed = 1;

static uint32_t random_bits(void) {
  seed = seed * 1664525u + 1013904223u;
  return (seed >> 16 ^ seed) * 0x7feb352du >> 3;
}

static float random_f32(void) { return (float)((int32_t)(random_bits() % 2001) - 1000) / 937.0f; }

static void *block(int64_t n, size_t size) {
  void *p = memory_alloc_aligned((size_t)n * size + 64);
  assert_non_null(p);
  return p;
}

static float *random_block(int64_t n) {
  float *p = block(n, sizeof *p);
  for (int64_t i = 0; i < n; i++) {
    p[i] = random_f32();
  }
  return p;
}

static double *widened(const float *from, int64_t n) {
  double *p = block(n, sizeof *p);
  for (int64_t i = 0; i < n; i++) {
    p[i] = (double)from[i];
  }
  return p;
}

static bool same_f32(float a, float b) { return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b)); }
static bool same_f64(double a, double b) { return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b)); }

static const char *level_now;

static void expect_f32(float expected, float actual, int64_t i, int64_t j) {
  if (!same_f32(expected, actual)) {
    print_error("level %s, element (%lld, %lld): expected %.9g, got %.9g\n", level_now, (long long)i, (long long)j,
                (double)expected, (double)actual);
    fail();
  }
}

static void expect_f64(double expected, double actual, int64_t i, int64_t j) {
  if (!same_f64(expected, actual)) {
    print_error("level %s, element (%lld, %lld): expected %.17g, got %.17g\n", level_now, (long long)i, (long long)j,
                expected, actual);
    fail();
  }
}

/* --- gemm ---------------------------------------------------------------- */

struct sizes {
  int64_t m, n, k;
};

static void gemm_once(const struct kernels *kernels, struct sizes s, bool transposed, double alpha, double beta,
                      float *a, float *b, float *bias) {
  int64_t m = s.m, n = s.n, k = s.k;
  double *a64 = widened(a, m * k), *b64 = widened(b, k * n), *bias64 = widened(bias, n);
  float *c = block(m * n, sizeof *c), *packed = block(gemm_packed_b(k, n), sizeof *packed);
  double *c64 = block(m * n, sizeof *c64), *packed64 = block(gemm_packed_b(k, n), sizeof *packed64);
  void *scratch = block(gemm_scratch(), sizeof(double));
  int64_t row = transposed ? 1 : n, column = transposed ? k : 1;
  int64_t a_row = transposed ? 1 : k, a_column = transposed ? m : 1;
  kernels->f32_pack_b(b, row, column, k, n, 0, gemm_units(n), packed);
  kernels->f64_pack_b(b64, row, column, k, n, 0, gemm_units(n), packed64);
  struct gemm_arguments g = {.m = m,
                             .n = n,
                             .k = k,
                             .a = a,
                             .a_row = a_row,
                             .a_column = a_column,
                             .packed_b = packed,
                             .c = c,
                             .c_row = n,
                             .scaled = alpha != 1.0,
                             .alpha = alpha,
                             .bias = bias,
                             .bias_scaled = beta != 1.0,
                             .beta = beta,
                             .bias_column = 1};
  /* In two halves each way, as threads would. */
  int64_t half = gemm_units(n) / 2;
  kernels->f32_gemm(&g, 0, m / 3, 0, half, scratch);
  kernels->f32_gemm(&g, m / 3, m, 0, half, scratch);
  kernels->f32_gemm(&g, 0, m, half, gemm_units(n), scratch);
  g.a = a64, g.packed_b = packed64, g.c = c64, g.bias = bias64;
  kernels->f64_gemm(&g, 0, m, 0, gemm_units(n), scratch);
  for (int64_t i = 0; i < m; i++) {
    for (int64_t j = 0; j < n; j++) {
      float sum = 0;
      double sum64 = 0;
      for (int64_t p = 0; p < k; p++) {
        sum = fmaf(a[i * a_row + p * a_column], b[p * row + j * column], sum);
        sum64 = fma(a64[i * a_row + p * a_column], b64[p * row + j * column], sum64);
      }
      sum = alpha == 1.0 ? sum : (float)alpha * sum;
      sum64 = alpha == 1.0 ? sum64 : alpha * sum64;
      float term = beta == 1.0 ? bias[j] : (float)beta * bias[j];
      double term64 = beta == 1.0 ? bias64[j] : beta * bias64[j];
      expect_f32(sum + term, c[i * n + j], i, j);
      expect_f64(sum64 + term64, c64[i * n + j], i, j);
    }
  }
  void *all[] = {a64, b64, bias64, c, packed, c64, packed64, scratch};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    memory_free(all[i]);
  }
}

static void test_gemm(void **state) {
  (void)state;
  static const struct sizes shapes[] = {{1, 1, 1},    {1, 130, 3},  {2, 65, 17},  {3, 31, 5},
                                        {5, 33, 300}, {7, 40, 257}, {12, 32, 64}, {13, 16, 512},
                                        {25, 70, 20}, {200, 3, 9},  {4, 9, 0}};
  for (int level = 0; level < KERNEL_LEVEL_COUNT; level++) {
    const struct kernels *kernels = kernels_at((enum kernel_level)level);
    if (kernels == NULL) {
      continue;
    }
    level_now = kernel_level_name((enum kernel_level)level);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
      struct sizes s = shapes[i];
      float *a = random_block(s.m * s.k), *b = random_block(s.k * s.n), *bias = random_block(s.n);
      gemm_once(kernels, s, false, 1.0, 1.0, a, b, bias);
      gemm_once(kernels, s, true, 0.25, (double)0.3f, a, b, bias);
      memory_free(a);
      memory_free(b);
      memory_free(bias);
    }
  }
}

/* Infinities and NaN go where the definition sends them and nowhere else; subnormals are kept. */
static void test_gemm_strange_values(void **state) {
  (void)state;
  struct sizes s = {3, 37, 6};
  float *a = random_block(s.m * s.k), *b = random_block(s.k * s.n), *bias = random_block(s.n);
  a[0] = INFINITY, b[5] = 0.0f, a[7] = NAN, b[40] = -INFINITY, a[13] = 1e-38f, b[s.n + 3] = 1e-7f, a[14] = -0.0f;
  for (int64_t j = 0; j < s.n; j++) {
    bias[j] = -0.0f;
  }
  for (int level = 0; level < KERNEL_LEVEL_COUNT; level++) {
    const struct kernels *kernels = kernels_at((enum kernel_level)level);
    if (kernels != NULL) {
      level_now = kernel_level_name((enum kernel_level)level);
      gemm_once(kernels, s, false, 1.0, 1.0, a, b, bias);
    }
  }
  memory_free(a);
  memory_free(b);
  memory_free(bias);
}

static void test_gemm_integers(void **state) {
  (void)state;
  int64_t m = 5, n = 35, k = 270;
  uint32_t *a = block(m * k, 4), *b = block(k * n, 4), *c = block(m * n, 4), *packed = block(gemm_packed_b(k, n), 4);
  void *scratch = block(gemm_scratch(), 4);
  for (int64_t i = 0; i < m * k; i++) {
    a[i] = (uint32_t)((int32_t)(random_bits() % 511) - 255);
  }
  for (int64_t i = 0; i < k * n; i++) {
    b[i] = (uint32_t)((int32_t)(random_bits() % 511) - 255);
  }
  for (int level = 0; level < KERNEL_LEVEL_COUNT; level++) {
    const struct kernels *kernels = kernels_at((enum kernel_level)level);
    if (kernels == NULL) {
      continue;
    }
    kernels->u32_pack_b(b, n, 1, k, n, 0, gemm_units(n), packed);
    struct gemm_arguments g = {
        .m = m, .n = n, .k = k, .a = a, .a_row = k, .a_column = 1, .packed_b = packed, .c = c, .c_row = n};
    kernels->u32_gemm(&g, 0, m, 0, gemm_units(n), scratch);
    for (int64_t i = 0; i < m; i++) {
      for (int64_t j = 0; j < n; j++) {
        uint32_t sum = 0;
        for (int64_t p = 0; p < k; p++) {
          sum += a[i * k + p] * b[p * n + j];
        }
        assert_int_equal(sum, c[i * n + j]);
      }
    }
  }
  memory_free(a);
  memory_free(b);
  memory_free(c);
  memory_free(packed);
  memory_free(scratch);
}

/* --- conv ---------------------------------------------------------------- */

struct conv_case {
  int64_t filters, channels, in[3], kernel[3], stride[3], pad[3], dilation[3];
};

/* The map of one axis and the number of its outputs, with the same padding at both ends. */
static int32_t *axis_map(const struct conv_case *c, int axis, int64_t *out) {
  *out = (c->in[axis] + 2 * c->pad[axis] - c->dilation[axis] * (c->kernel[axis] - 1) - 1) / c->stride[axis] + 1;
  int32_t *map = block(c->kernel[axis] * *out, sizeof *map);
  for (int64_t tap = 0; tap < c->kernel[axis]; tap++) {
    for (int64_t o = 0; o < *out; o++) {
      int64_t i = o * c->stride[axis] - c->pad[axis] + tap * c->dilation[axis];
      map[tap * *out + o] = i < 0 || i >= c->in[axis] ? -1 : (int32_t)i;
    }
  }
  return map;
}

/* By the definition. */
static float conv_one(const struct conv_arguments *v, const float *w, const float *x, int64_t m, int64_t z, int64_t y,
                      int64_t u) {
  float sum = 0;
  for (int64_t c = 0; c < v->channels; c++) {
    for (int64_t i = 0; i < v->kernel[0]; i++) {
      for (int64_t j = 0; j < v->kernel[1]; j++) {
        for (int64_t l = 0; l < v->kernel[2]; l++) {
          int64_t iz = v->map[0][i * v->out[0] + z], iy = v->map[1][j * v->out[1] + y],
                  ix = v->map[2][l * v->out[2] + u];
          if (iz >= 0 && iy >= 0 && ix >= 0) {
            int64_t k = ((c * v->kernel[0] + i) * v->kernel[1] + j) * v->kernel[2] + l;
            sum = fmaf(w[m * v->channels * v->kernel[0] * v->kernel[1] * v->kernel[2] + k],
                       x[((c * v->in[0] + iz) * v->in[1] + iy) * v->in[2] + ix], sum);
          }
        }
      }
    }
  }
  return sum;
}

static void conv_once(const struct conv_case *c, float *w, float *x, float *bias, bool weights_finite, bool irregular) {
  struct conv_arguments v = {.filters = c->filters,
                             .channels = c->channels,
                             .step = irregular ? 0 : c->stride[2],
                             .skips = true,
                             .weights_finite = weights_finite,
                             .x = x};
  int32_t *maps[3];
  for (int axis = 0; axis < 3; axis++) {
    v.in[axis] = c->in[axis];
    v.kernel[axis] = c->kernel[axis];
    maps[axis] = axis_map(c, axis, &v.out[axis]);
    v.map[axis] = maps[axis];
  }
  int64_t k = v.channels * v.kernel[0] * v.kernel[1] * v.kernel[2], area = v.out[0] * v.out[1] * v.out[2];
  float *packed = block(gemm_packed_a(v.filters, k), sizeof *packed), *y = block(v.filters * area, sizeof *y);
  void *scratch = block(gemm_scratch(), sizeof(float));
  v.bias = bias, v.packed_w = packed, v.y = y;
  for (int level = 0; level < KERNEL_LEVEL_COUNT; level++) {
    const struct kernels *kernels = kernels_at((enum kernel_level)level);
    if (kernels == NULL) {
      continue;
    }
    level_now = kernel_level_name((enum kernel_level)level);
    kernels->f32_pack_a(w, k, 1, v.filters, k, packed);
    memset(scratch, 0xFF, (size_t)gemm_scratch() * sizeof(float));
    int64_t units = gemm_units(area), rows = v.filters < GEMM_ROW_UNIT ? v.filters : GEMM_ROW_UNIT;
    kernels->f32_conv(&v, 0, rows, 0, units / 2, scratch);
    kernels->f32_conv(&v, 0, rows, units / 2, units, scratch);
    kernels->f32_conv(&v, rows, v.filters, 0, units, scratch);
    for (int64_t m = 0; m < v.filters; m++) {
      for (int64_t p = 0; p < area; p++) {
        float sum = conv_one(&v, w, x, m, p / v.out[2] / v.out[1], p / v.out[2] % v.out[1], p % v.out[2]);
        expect_f32(sum + bias[m], y[m * area + p], m, p);
      }
    }
  }
  void *all[] = {packed, y, scratch, maps[0], maps[1], maps[2]};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    memory_free(all[i]);
  }
}

static void test_conv(void **state) {
  (void)state;
  static const struct conv_case cases[] = {
      {1, 1, {1, 1, 9}, {1, 1, 3}, {1, 1, 1}, {0, 0, 1}, {1, 1, 1}},
      {3, 2, {1, 7, 9}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}},
      {30, 5, {1, 13, 11}, {1, 3, 3}, {1, 2, 2}, {0, 1, 1}, {1, 1, 1}},
      {2, 3, {1, 20, 70}, {1, 7, 7}, {1, 2, 2}, {0, 3, 3}, {1, 1, 1}},
      {14, 40, {1, 5, 33}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}},
      {2, 2, {1, 9, 40}, {1, 3, 2}, {1, 1, 3}, {0, 4, 5}, {1, 2, 2}},
      {5, 2, {4, 5, 6}, {2, 3, 2}, {1, 2, 1}, {1, 1, 1}, {2, 1, 1}},
      {26, 300, {1, 1, 150}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const struct conv_case *c = &cases[i];
    float *w = random_block(c->filters * c->channels * c->kernel[0] * c->kernel[1] * c->kernel[2]);
    float *x = random_block(c->channels * c->in[0] * c->in[1] * c->in[2]);
    float *bias = random_block(c->filters);
    conv_once(c, w, x, bias, true, false);
    conv_once(c, w, x, bias, true, true);
    memory_free(bias);
    memory_free(w);
    memory_free(x);
  }
}

/* A weight that is not finite does not reach an output whose tap lies in the padding, and a sum that underflowed to -0
 * stays -0 over a tap without an input. */
static void test_conv_skips(void **state) {
  (void)state;
  float x[40], bias[6];
  for (int i = 0; i < 40; i++) {
    x[i] = 1e-30f;
  }
  for (int i = 0; i < 6; i++) {
    bias[i] = -0.0f;
  }
  float w[18] = {INFINITY, 1.0f, NAN}, finite[18];
  for (int i = 0; i < 18; i++) {
    finite[i] = i % 3 == 1 ? -1e-30f : 1e-30f;
    w[i] = i < 3 ? w[i] : finite[i];
  }
  /* With few filters, and with enough of them to be gathered for. */
  for (int64_t filters = 2; filters <= 6; filters += 4) {
    struct conv_case c = {filters, 1, {1, 1, 40}, {1, 1, 3}, {1, 1, 1}, {0, 0, 1}, {1, 1, 1}};
    conv_once(&c, w, x, bias, false, false);
    conv_once(&c, finite, x, bias, true, false);
    conv_once(&c, finite, x, bias, true, true);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_gemm), cmocka_unit_test(test_gemm_strange_values),
                                     cmocka_unit_test(test_gemm_integers), cmocka_unit_test(test_conv),
                                     cmocka_unit_test(test_conv_skips)};
  return cmocka_run_group_tests_name("dot products", tests, NULL, NULL);
}
