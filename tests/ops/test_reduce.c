/* Reductions: the 16 lanes and their order, axes as attribute and as input, the empty set, NaN, integers. */
#include <stdlib.h>

#include "op_fixture.h"

#define INF INFINITY

/* What the definition says, in plain loops: lane i mod 16 from +0, folded 8, 4, 2, 1. */
static float lanes_sum(const float *x, int64_t n) {
  float lanes[16] = {0};
  for (int64_t i = 0; i < n; i++) {
    lanes[i % 16] += x[i];
  }
  for (int half = 8; half > 0; half /= 2) {
    for (int i = 0; i < half; i++) {
      lanes[i] += lanes[i + half];
    }
  }
  return lanes[0];
}

/* Sums over the marked axes of a tensor of rank 4, element by element in linear order. */
static void lanes_of(const int64_t dims[4], const bool reduced[4]) {
  int64_t n = dims[0] * dims[1] * dims[2] * dims[3], outputs = 1, count = 1, axes[4], out_dims[4];
  int n_axes = 0;
  for (int d = 0; d < 4; d++) {
    *(reduced[d] ? &count : &outputs) *= dims[d];
    out_dims[d] = reduced[d] ? 1 : dims[d];
    if (reduced[d]) {
      axes[n_axes++] = d - (d % 2 ? 4 : 0); /* negative ones too */
    }
  }
  float *x = malloc((size_t)n * sizeof *x), *row = malloc((size_t)count * sizeof *row),
        *y = malloc((size_t)outputs * sizeof *y);
  assert_true(x != NULL && row != NULL && y != NULL);
  op_fill_f32(x, n, 7);
  for (int64_t o = 0; o < outputs; o++) {
    int64_t filled = 0;
    for (int64_t i = 0; i < n; i++) {
      int64_t rest = i, index = 0, step = 1;
      for (int d = 3; d >= 0; d--) {
        if (!reduced[d]) {
          index += rest % dims[d] * step;
          step *= dims[d];
        }
        rest /= dims[d];
      }
      if (index == o) {
        row[filled++] = x[i];
      }
    }
    y[o] = lanes_sum(row, count);
  }
  struct op_case *c = op_case_new("ReduceSum", "", 13);
  op_case_input(c, ASSAY_FLOAT32, dims, 4, x, (size_t)n * sizeof *x);
  op_case_input(c, ASSAY_INT64, DIMS(n_axes), axes, (size_t)n_axes * sizeof *axes);
  op_case_expect(c, 0, ASSAY_FLOAT32, out_dims, 4, y, (size_t)outputs * sizeof *y);
  op_case_free(c);
  free(x);
  free(row);
  free(y);
}

/* [2,2,2] reduced over its middle, as attribute until `until`, as input after. */
static struct op_case *middle(const char *op, int64_t opset, bool attribute, const void *values, size_t bytes) {
  struct op_case *c = op_case_new(op, "", opset);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 2, 2), values, bytes);
  if (attribute) {
    op_case_ints(c, "axes", DIMS(1));
  } else {
    op_case_input(c, ASSAY_INT64, DIMS(1), I64(-2));
  }
  return c;
}

static void reduces(const char *op, int64_t opset, bool attribute, const void *out, size_t out_bytes, double relative) {
  struct op_case *c = middle(op, opset, attribute, F32(1, 2, 3, 4, -5, 6, 7, 8));
  op_case_expect_near(c, 0, ASSAY_FLOAT32, DIMS(2, 1, 2), out, out_bytes, 0, relative);
  op_case_int(c, "keepdims", 0);
  op_case_expect_near(c, 0, ASSAY_FLOAT32, DIMS(2, 2), out, out_bytes, 0, relative);
  op_case_free(c);
}

/* Over everything, without axes. */
static void reduces_all(const char *op, int n, const void *in, size_t bytes, const void *out, size_t out_bytes) {
  struct op_case *c = op_case_new(op, "", 18);
  op_case_input(c, ASSAY_FLOAT32, DIMS(n), in, bytes);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1), out, out_bytes);
  op_case_free(c);
}

void test_op_ReduceSum_1(void **state) {
  (void)state;
  reduces("ReduceSum", 11, true, F32(4, 6, 2, 14), 0);
}

void test_op_ReduceSum_13(void **state) {
  (void)state;
  reduces("ReduceSum", 13, false, F32(4, 6, 2, 14), 0);
  for (int mask = 0; mask < 16; mask++) {
    const bool reduced[4] = {(mask & 1) != 0, (mask & 2) != 0, (mask & 4) != 0, (mask & 8) != 0};
    if (mask != 0) {
      lanes_of((const int64_t[]){3, 7, 5, 37}, reduced);
      lanes_of((const int64_t[]){19, 1, 6, 2}, reduced);
    }
  }
  /* Nothing adds up to 0; a lane starts at +0. */
  struct op_case *c = op_case_new("ReduceSum", "", 13);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 0), EMPTY);
  op_case_input(c, ASSAY_INT64, DIMS(1), I64(1));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, 1), F32(0, 0));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(-0.0F, NAN));
  op_case_input(c, ASSAY_INT64, DIMS(0), EMPTY);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1), F32(NAN)); /* no axes are all axes */
  op_case_int(c, "noop_with_empty_axes", 1);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2), F32(-0.0F, NAN)); /* or none: as it came */
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_INT32, DIMS(2), I32(INT32_MAX, 1));
  op_case_input(c, ASSAY_INT64, DIMS(1), I64(0));
  op_case_int(c, "keepdims", 0);
  op_case_expect(c, 0, ASSAY_INT32, SCALAR, I32(INT32_MIN));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT16, DIMS(3), U16(0x6800, 0x3C00, 0x3C00)); /* 2048 + 1 + 1, rounded once */
  op_case_input(c, ASSAY_INT64, DIMS(1), I64(0));
  op_case_expect(c, 0, ASSAY_FLOAT16, SCALAR, U16(0x6801));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(1, 2));
  op_case_input(c, ASSAY_INT64, DIMS(1), I64(1));
  op_case_fails(c, ASSAY_NODE_INVALID, "rank 1");
  op_case_free(c);
}

void test_op_ReduceMean_1(void **state) {
  (void)state;
  reduces("ReduceMean", 13, true, F32(2, 3, 1, 7), 0);
}
void test_op_ReduceMean_18(void **state) {
  (void)state;
  reduces("ReduceMean", 18, false, F32(2, 3, 1, 7), 0);
  reduces_all("ReduceMean", 3, F32(1, 0, 0), F32(0.333333343F)); /* divided by n, not multiplied by 1/n */
  struct op_case *c = op_case_new("ReduceMean", "", 18);
  op_case_input(c, ASSAY_INT64, DIMS(3), I64(-4, -2, -2));
  op_case_expect(c, 0, ASSAY_INT64, DIMS(1), I64(-2));
  op_case_free(c);
}
void test_op_ReduceProd_1(void **state) {
  (void)state;
  reduces("ReduceProd", 13, true, F32(3, 8, -35, 48), 0);
}
void test_op_ReduceProd_18(void **state) {
  (void)state;
  reduces("ReduceProd", 18, false, F32(3, 8, -35, 48), 0);
  struct op_case *c = op_case_new("ReduceProd", "", 18);
  op_case_input(c, ASSAY_FLOAT32, DIMS(0), EMPTY);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1), F32(1));
  op_case_free(c);
}
void test_op_ReduceMax_1(void **state) {
  (void)state;
  reduces("ReduceMax", 13, true, F32(3, 4, 7, 8), 0);
}
/* Fault 7: NaN wherever it stands. */
void test_op_ReduceMax_18(void **state) {
  (void)state;
  reduces("ReduceMax", 18, false, F32(3, 4, 7, 8), 0);
  struct op_case *c = op_case_new("ReduceMax", "", 18);
  op_case_input(c, ASSAY_FLOAT32, DIMS(3, 2), F32(NAN, 1, 2, NAN, -0.0F, 0));
  op_case_input(c, ASSAY_INT64, DIMS(1), I64(1));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(3, 1), F32(NAN, NAN, 0));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(0), EMPTY);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1), F32(-INF));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_INT32, DIMS(0), EMPTY);
  op_case_expect(c, 0, ASSAY_INT32, DIMS(1), I32(INT32_MIN));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_BOOL, DIMS(2), BOOL(0, 1));
  op_case_expect(c, 0, ASSAY_BOOL, DIMS(1), BOOL(1));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_UINT64, DIMS(2), U64(UINT64_MAX, 1));
  op_case_expect(c, 0, ASSAY_UINT64, DIMS(1), U64(UINT64_MAX));
  op_case_free(c);
}
void test_op_ReduceMin_1(void **state) {
  (void)state;
  reduces("ReduceMin", 13, true, F32(1, 2, -5, 6), 0);
}
void test_op_ReduceMin_18(void **state) {
  (void)state;
  reduces("ReduceMin", 18, false, F32(1, 2, -5, 6), 0);
  reduces_all("ReduceMin", 3, F32(0, -0.0F, 1), F32(-0.0F));
  struct op_case *c = op_case_new("ReduceMin", "", 18);
  op_case_input(c, ASSAY_UINT8, DIMS(0), EMPTY);
  op_case_expect(c, 0, ASSAY_UINT8, DIMS(1), U8(255));
  op_case_free(c);
}
void test_op_ReduceL1_1(void **state) {
  (void)state;
  reduces("ReduceL1", 13, true, F32(4, 6, 12, 14), 0);
}
void test_op_ReduceL1_18(void **state) {
  (void)state;
  reduces("ReduceL1", 18, false, F32(4, 6, 12, 14), 0);
}
void test_op_ReduceL2_1(void **state) {
  (void)state;
  reduces("ReduceL2", 13, true, F32(3.16227766F, 4.47213595F, 8.60232527F, 10), 1e-7);
}
void test_op_ReduceL2_18(void **state) {
  (void)state;
  reduces("ReduceL2", 18, false, F32(3.16227766F, 4.47213595F, 8.60232527F, 10), 1e-7);
}
void test_op_ReduceSumSquare_1(void **state) {
  (void)state;
  reduces("ReduceSumSquare", 13, true, F32(10, 20, 74, 100), 0);
}
void test_op_ReduceSumSquare_18(void **state) {
  (void)state;
  reduces("ReduceSumSquare", 18, false, F32(10, 20, 74, 100), 0);
  struct op_case *c = op_case_new("ReduceSumSquare", "", 18);
  op_case_input(c, ASSAY_INT32, DIMS(2), I32(-3, 4));
  op_case_expect(c, 0, ASSAY_INT32, DIMS(1), I32(25));
  op_case_int(c, "noop_with_empty_axes", 1);
  op_case_expect(c, 0, ASSAY_INT32, DIMS(2), I32(9, 16)); /* no axis: the square alone */
  op_case_free(c);
}
void test_op_ReduceLogSum_1(void **state) {
  (void)state;
  reduces("ReduceLogSum", 13, true, F32(1.38629436F, 1.79175947F, 0.693147181F, 2.63905733F), 1e-7);
}
void test_op_ReduceLogSum_18(void **state) {
  (void)state;
  reduces("ReduceLogSum", 18, false, F32(1.38629436F, 1.79175947F, 0.693147181F, 2.63905733F), 1e-7);
}
void test_op_ReduceLogSumExp_1(void **state) {
  (void)state;
  reduces("ReduceLogSumExp", 13, true, F32(3.12692801F, 4.12692801F, 7.00000614F, 8.12692801F), 1e-7);
}
void test_op_ReduceLogSumExp_18(void **state) {
  (void)state;
  reduces("ReduceLogSumExp", 18, false, F32(3.12692801F, 4.12692801F, 7.00000614F, 8.12692801F), 1e-7);
  struct op_case *c = op_case_new("ReduceLogSumExp", "", 18);
  op_case_input(c, ASSAY_FLOAT32, DIMS(4, 2), F32(2000, 2000, -INF, -INF, INF, 1, NAN, 1));
  op_case_input(c, ASSAY_INT64, DIMS(1), I64(1));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(4, 1), F32(2000.69312F, -INF, INF, NAN));
  op_case_free(c);
}
