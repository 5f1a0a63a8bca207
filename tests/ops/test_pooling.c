/* The pools. */
#include "op_fixture.h"

void test_op_MaxPool_1(void **state) {
  (void)state;
  struct op_case *c = op_case_new("MaxPool", "", 12);
  op_case_outputs(c, 2);
  op_case_ints(c, "kernel_shape", (const int64_t[]){2, 2}, 2);
  op_case_ints(c, "strides", (const int64_t[]){2, 2}, 2);
  /* NaN comes through, +0 is above -0, and the first of equals is the index. */
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 1, 4, 4),
                F32(1, 2, -0.0f, 0.0f, 2, 0, -0.0f, -1, NAN, 9, -5, -INFINITY, 1, 2, -7, -6));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 1, 2, 2), F32(2, 0.0f, NAN, -5));
  op_case_expect(c, 1, ASSAY_INT64, DIMS(1, 1, 2, 2), I64(1, 2, 8, 10));
  op_case_int(c, "storage_order", 1);
  op_case_expect(c, 1, ASSAY_INT64, DIMS(1, 1, 2, 2), I64(4, 8, 2, 10));
  op_case_free(c);

  /* Indices count through the whole tensor; padding is never the largest. */
  c = op_case_new("MaxPool", "", 8);
  op_case_outputs(c, 2);
  op_case_ints(c, "kernel_shape", (const int64_t[]){3}, 1);
  op_case_ints(c, "pads", (const int64_t[]){1, 1}, 2);
  op_case_input(c, ASSAY_FLOAT64, DIMS(1, 2, 3), F64(-3, -2, -5, 1, 1, 0));
  op_case_expect(c, 0, ASSAY_FLOAT64, DIMS(1, 2, 3), F64(-2, -2, -2, 1, 1, 1));
  op_case_expect(c, 1, ASSAY_INT64, DIMS(1, 2, 3), I64(1, 1, 1, 3, 3, 4));
  op_case_free(c);

  /* ceil_mode adds a window that begins inside, and none that begins in the padding. */
  c = op_case_new("MaxPool", "", 12);
  op_case_ints(c, "kernel_shape", (const int64_t[]){2}, 1);
  op_case_ints(c, "strides", (const int64_t[]){2}, 1);
  op_case_int(c, "ceil_mode", 1);
  op_case_input(c, ASSAY_UINT8, DIMS(1, 1, 5), U8(1, 2, 3, 4, 0));
  op_case_expect(c, 0, ASSAY_UINT8, DIMS(1, 1, 3), U8(2, 4, 0));
  op_case_ints(c, "pads", (const int64_t[]){0, 1}, 2);
  op_case_ints(c, "strides", (const int64_t[]){5}, 1);
  op_case_expect(c, 0, ASSAY_UINT8, DIMS(1, 1, 1), U8(2));
  op_case_free(c);

  c = op_case_new("MaxPool", "", 12);
  op_case_ints(c, "kernel_shape", (const int64_t[]){2, 2, 2}, 3);
  op_case_ints(c, "dilations", (const int64_t[]){1, 1, 2}, 3);
  op_case_input(c, ASSAY_INT8, DIMS(1, 1, 2, 2, 4), I8(1, 2, -3, 4, 5, 6, 7, 8, 9, 10, 11, -12, -13, -14, -15, -16));
  op_case_expect(c, 0, ASSAY_INT8, DIMS(1, 1, 1, 1, 2), I8(11, 10));
  op_case_string(c, "auto_pad", "SAME_UPPER");
  op_case_expect(c, 0, ASSAY_INT8, DIMS(1, 1, 2, 2, 4),
                 I8(10, 11, 10, 11, 6, 7, 8, 7, 10, 11, 10, 11, -14, -13, -14, -15));
  op_case_free(c);

  /* A window much larger than the input, half of it in the padding, costs no more than the input. */
  c = op_case_new("MaxPool", "", 12);
  op_case_outputs(c, 2);
  op_case_ints(c, "kernel_shape", (const int64_t[]){1 << 30, 1 << 29}, 2);
  op_case_ints(c, "pads", (const int64_t[]){1 << 29, 1 << 29, (1 << 29) - 2, 2}, 4);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 1, 2, 2), F32(1, 4, 3, 2));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 1, 1, 5), F32(-INFINITY, 3, 4, 4, 4));
  op_case_expect(c, 1, ASSAY_INT64, DIMS(1, 1, 1, 5), I64(-1, 2, 1, 1, 1));
  op_case_free(c);

  c = op_case_new("MaxPool", "", 12);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 1, 2), F32(1, 2));
  op_case_fails(c, ASSAY_NODE_INVALID, "no attribute kernel_shape");
  op_case_ints(c, "kernel_shape", (const int64_t[]){3, 3}, 2);
  op_case_fails(c, ASSAY_NODE_INVALID, "2 values, expected 1");
  op_case_free(c);
}

/* A sum over 16 lanes as the arithmetic defines it. */
static float lanes_sum(const float *x, int n) {
  float lanes[16] = {0};
  for (int i = 0; i < n; i++) {
    lanes[i % 16] += x[i];
  }
  for (int width = 8; width > 0; width /= 2) {
    for (int i = 0; i < width; i++) {
      lanes[i] += lanes[i + width];
    }
  }
  return lanes[0];
}

void test_op_AveragePool_1(void **state) {
  (void)state;
  struct op_case *c = op_case_new("AveragePool", "", 19);
  op_case_ints(c, "kernel_shape", (const int64_t[]){3}, 1);
  op_case_ints(c, "pads", (const int64_t[]){1, 1}, 2);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 1, 4), F32(1, 2, 6, 8));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 1, 4), F32(1.5f, 3, 16.0f / 3, 7));
  op_case_int(c, "count_include_pad", 1);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 1, 4), F32(1, 3, 16.0f / 3, 14.0f / 3));
  /* What ceil_mode adds beyond the padding is not counted. */
  op_case_int(c, "ceil_mode", 1);
  op_case_ints(c, "strides", (const int64_t[]){2}, 1);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 1, 3), F32(1, 16.0f / 3, 4));
  op_case_free(c);

  float x[7 * 9], window[5 * 7];
  op_fill_f32(x, 63, 9);
  c = op_case_new("AveragePool", "", 7);
  op_case_ints(c, "kernel_shape", (const int64_t[]){5, 7}, 2);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 1, 7, 9), x, sizeof x);
  float y[9];
  for (int i = 0; i < 9; i++) {
    for (int j = 0; j < 35; j++) {
      window[j] = x[(i / 3 + j / 7) * 9 + i % 3 + j % 7];
    }
    y[i] = lanes_sum(window, 35) / 35.0f;
  }
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 1, 3, 3), y, sizeof y);
  op_case_free(c);

  c = op_case_new("AveragePool", "", 19);
  op_case_ints(c, "kernel_shape", (const int64_t[]){2}, 1);
  op_case_ints(c, "dilations", (const int64_t[]){2}, 1);
  op_case_input(c, ASSAY_FLOAT64, DIMS(1, 1, 4), F64(1, 2, 6, 9));
  op_case_expect(c, 0, ASSAY_FLOAT64, DIMS(1, 1, 2), F64(3.5, 5.5));
  op_case_free(c);
}

void test_op_LpPool_1(void **state) {
  (void)state;
  struct op_case *c = op_case_new("LpPool", "", 18);
  op_case_ints(c, "kernel_shape", (const int64_t[]){2}, 1);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 1, 3), F32(3, -4, 12));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 1, 2), F32(5, sqrtf(160)));
  op_case_int(c, "p", 1);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 1, 2), F32(7, 16));
  op_case_int(c, "p", 3);
  op_case_expect_near(c, 0, ASSAY_FLOAT32, DIMS(1, 1, 2), F32(cbrtf(91), cbrtf(1792)), 0, 3e-7);
  op_case_int(c, "p", 0);
  op_case_fails(c, ASSAY_NODE_INVALID, "attribute p");
  op_case_free(c);
}

void test_op_GlobalAveragePool_1(void **state) {
  (void)state;
  float x[2 * 3 * 50];
  op_fill_f32(x, 300, 4);
  struct op_case *c = op_case_new("GlobalAveragePool", "", 1);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 3, 5, 10), x, sizeof x);
  float y[6];
  for (int i = 0; i < 6; i++) {
    y[i] = lanes_sum(x + 50 * i, 50) / 50.0f;
  }
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, 3, 1, 1), y, sizeof y);
  op_case_free(c);
}

void test_op_GlobalMaxPool_1(void **state) {
  (void)state;
  struct op_case *c = op_case_new("GlobalMaxPool", "", 1);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 3, 2, 2), F32(1, 4, 2, -1, NAN, 1, 2, 3, -3, -0.0f, -1, -0.0f));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 3, 1, 1), F32(4, NAN, -0.0f));
  op_case_free(c);
}

void test_op_GlobalLpPool_1(void **state) {
  (void)state;
  struct op_case *c = op_case_new("GlobalLpPool", "", 2);
  op_case_input(c, ASSAY_FLOAT64, DIMS(1, 2, 2), F64(3, -4, -5, 12));
  op_case_expect(c, 0, ASSAY_FLOAT64, DIMS(1, 2, 1), F64(5, 13));
  op_case_int(c, "p", 1);
  op_case_expect(c, 0, ASSAY_FLOAT64, DIMS(1, 2, 1), F64(7, 17));
  op_case_free(c);
}
