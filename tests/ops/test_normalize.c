/* Normalisations. Values are worked out by hand from small whole numbers; the variance is that of two passes. */
#include "op_fixture.h"

static struct op_case *with_input(const char *op, int64_t opset, const int64_t *dims, int rank, const void *values,
                                  size_t bytes) {
  struct op_case *c = op_case_new(op, "", opset);
  op_case_input(c, ASSAY_FLOAT32, dims, rank, values, bytes);
  return c;
}

/* [2,2,2]: channel 0 holds 1, 2, 5, 6 and channel 1 holds 3, 4, 7, 8. Means 1 and 2, variances 3 and 8, epsilon 1. */
static void batch_norm(int64_t opset) {
  struct op_case *c = with_input("BatchNormalization", opset, DIMS(2, 2, 2), F32(1, 2, 3, 4, 5, 6, 7, 8));
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(2, 3));
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(10, -1));
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(1, 2));
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(3, 8));
  op_case_float(c, "epsilon", 1.0F);
  if (opset < 7) {
    op_case_fails(c, ASSAY_NODE_INVALID, "training mode"); /* the default until 6 */
    op_case_int(c, "is_test", 1);
  }
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, 2, 2), F32(10, 11, 0, 1, 14, 15, 4, 5));
  op_case_free(c);
}

void test_op_BatchNormalization_1(void **state) {
  (void)state;
  batch_norm(6);
  batch_norm(7);
  /* spatial=0: one number for each place in a channel. */
  struct op_case *c = with_input("BatchNormalization", 8, DIMS(2, 1, 2), F32(1, 2, 3, 4));
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 2), F32(2, 4));
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 2), F32(0, 1));
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 2), F32(1, 2));
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 2), F32(3, 15));
  op_case_float(c, "epsilon", 1.0F);
  op_case_int(c, "spatial", 0);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, 1, 2), F32(0, 1, 2, 3));
  op_case_free(c);
}

void test_op_BatchNormalization_9(void **state) {
  (void)state;
  batch_norm(9);
  batch_norm(15);
  /* In training the statistics are the input's own: means 2 and 6, variances 1 and 4. */
  struct op_case *c = with_input("BatchNormalization", 15, DIMS(2, 2), F32(1, 4, 3, 8));
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(1, 1));
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(0, 1));
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(4, 2));
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(3, 8));
  op_case_float(c, "epsilon", 0.0F);
  op_case_float(c, "momentum", 0.5F);
  op_case_int(c, "training_mode", 1);
  op_case_outputs(c, 3);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, 2), F32(-1, 0, 1, 2));
  op_case_expect(c, 1, ASSAY_FLOAT32, DIMS(2), F32(3, 4));
  op_case_expect(c, 2, ASSAY_FLOAT32, DIMS(2), F32(2, 6));
  op_case_int(c, "training_mode", 0);
  op_case_fails(c, ASSAY_NODE_INVALID, "training mode"); /* outputs that only training has */
  op_case_free(c);
  /* float16 with float statistics, rounded once: (1 - 0) / 2 * 1 + 2^-12 is 0.5 in float16. */
  c = op_case_new("BatchNormalization", "", 15);
  op_case_input(c, ASSAY_FLOAT16, DIMS(1, 1, 1), U16(0x3C00));
  op_case_input(c, ASSAY_FLOAT32, DIMS(1), F32(1));
  op_case_input(c, ASSAY_FLOAT32, DIMS(1), F32(0x1p-13F));
  op_case_input(c, ASSAY_FLOAT32, DIMS(1), F32(0));
  op_case_input(c, ASSAY_FLOAT32, DIMS(1), F32(3));
  op_case_float(c, "epsilon", 1.0F);
  op_case_expect(c, 0, ASSAY_FLOAT16, DIMS(1, 1, 1), U16(0x3800));
  op_case_free(c);
}

void test_op_InstanceNormalization_1(void **state) {
  (void)state;
  /* Means 2 and 0, variances 1 and 4. */
  struct op_case *c = with_input("InstanceNormalization", 6, DIMS(1, 2, 2), F32(1, 3, -2, 2));
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(1, 10));
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(0, 5));
  op_case_float(c, "epsilon", 0.0F);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 2, 2), F32(-1, 1, -5, 15));
  op_case_free(c);
}

static void group_norm(int64_t opset, int n, const void *scale, size_t scale_bytes, const void *bias,
                       size_t bias_bytes) {
  struct op_case *c = with_input("GroupNormalization", opset, DIMS(1, 4, 1), F32(1, 3, -2, 2));
  op_case_input(c, ASSAY_FLOAT32, DIMS(n), scale, scale_bytes);
  op_case_input(c, ASSAY_FLOAT32, DIMS(n), bias, bias_bytes);
  op_case_float(c, "epsilon", 0.0F);
  op_case_fails(c, ASSAY_NODE_INVALID, "num_groups is 0");
  op_case_int(c, "num_groups", 2);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 4, 1), F32(-1, 1, -5, 15));
  op_case_free(c);
}
void test_op_GroupNormalization_18(void **state) {
  (void)state;
  group_norm(18, 2, F32(1, 10), F32(0, 5));
}
void test_op_GroupNormalization_21(void **state) {
  (void)state;
  group_norm(21, 4, F32(1, 1, 10, 10), F32(0, 0, 5, 5));
}

void test_op_LayerNormalization_17(void **state) {
  (void)state;
  /* Fault 5: the epsilon of the node, not the library's own. */
  struct op_case *c = with_input("LayerNormalization", 17, DIMS(2), F32(1e-3F, -1e-3F));
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(1, 1));
  op_case_float(c, "epsilon", 1e-2F);
  op_case_expect_near(c, 0, ASSAY_FLOAT32, DIMS(2), F32(0.0099995F, -0.0099995F), 1e-8, 0);
  op_case_free(c);
  /* A large mean costs nothing: mean 10001.5, variance 1.25 exactly. */
  c = with_input("LayerNormalization", 17, DIMS(1, 4), F32(10000, 10001, 10002, 10003));
  op_case_input(c, ASSAY_FLOAT32, DIMS(4), F32(1, 1, 1, 2));
  op_case_input(c, ASSAY_FLOAT32, DIMS(4), F32(0, 0, 0, 1));
  op_case_float(c, "epsilon", 1.0F);
  op_case_outputs(c, 3);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 4), F32(-1, -0.333333343F, 0.333333343F, 3));
  op_case_expect(c, 1, ASSAY_FLOAT32, DIMS(1, 1), F32(10001.5F));
  op_case_expect(c, 2, ASSAY_FLOAT32, DIMS(1, 1), F32(0.666666687F));
  op_case_free(c);
  /* From axis 1 on; a scale that is broadcast. */
  c = with_input("LayerNormalization", 17, DIMS(2, 2, 2), F32(1, 1, 3, 3, -2, -2, 2, 2));
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 1), F32(1, 3));
  op_case_int(c, "axis", 1);
  op_case_float(c, "epsilon", 0.0F);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, 2, 2), F32(-1, -1, 3, 3, -1, -1, 3, 3));
  op_case_free(c);
  c = with_input("LayerNormalization", 17, DIMS(1, 2), F32(1, 2));
  op_case_input(c, ASSAY_FLOAT32, DIMS(3), F32(1, 1, 1));
  op_case_fails(c, ASSAY_SHAPE_CONFLICT, "cannot be broadcast");
  op_case_free(c);
  /* float16: 300 squared would overflow in float16, and does not in the float that the statistics are in. */
  c = op_case_new("LayerNormalization", "", 17);
  op_case_input(c, ASSAY_FLOAT16, DIMS(1, 2), U16(0x5CB0, 0xDCB0));
  op_case_input(c, ASSAY_FLOAT16, DIMS(2), U16(0x3C00, 0x3C00));
  op_case_float(c, "epsilon", 1e-3F);
  op_case_expect(c, 0, ASSAY_FLOAT16, DIMS(1, 2), U16(0x3C00, 0xBC00));
  op_case_free(c);
  c = op_case_new("LayerNormalization", "", 17);
  op_case_input(c, ASSAY_FLOAT64, DIMS(1, 2), F64(1, 3));
  op_case_input(c, ASSAY_FLOAT64, DIMS(2), F64(1, 1));
  op_case_float(c, "epsilon", 3.0F);
  op_case_expect(c, 0, ASSAY_FLOAT64, DIMS(1, 2), F64(-0.5, 0.5));
  op_case_free(c);
}

/* Many long rows on several threads agree with a plain computation. */
static void long_rows(void) {
  enum { ROWS = 64, LENGTH = 515 };
  static float x[ROWS * LENGTH], scale[LENGTH];
  op_fill_f32(x, ROWS * LENGTH, 11);
  op_fill_f32(scale, LENGTH, 12);
  struct op_case *c = with_input("RMSNormalization", 23, DIMS(ROWS, LENGTH), x, sizeof x);
  op_case_input(c, ASSAY_FLOAT32, DIMS(LENGTH), scale, sizeof scale);
  const float *y = op_case_output(c, 0)->data;
  for (int r = 0; r < ROWS; r++) {
    double sum = 0;
    for (int i = 0; i < LENGTH; i++) {
      sum += (double)x[r * LENGTH + i] * (double)x[r * LENGTH + i];
    }
    double root = sqrt(sum / LENGTH + (double)1e-5F);
    for (int i = 0; i < LENGTH; i++) {
      assert_true(fabs((double)y[r * LENGTH + i] - (double)x[r * LENGTH + i] / root * (double)scale[i]) < 1e-6);
    }
  }
  op_case_free(c);
}

void test_op_RMSNormalization_23(void **state) {
  (void)state;
  struct op_case *c = with_input("RMSNormalization", 23, DIMS(2, 2), F32(1, 7, -3, 3));
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(1, 2));
  op_case_float(c, "epsilon", 0.0F);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, 2), F32(0.2F, 2.8F, -1, 2));
  op_case_free(c);
  long_rows();
}

void test_op_LpNormalization_1(void **state) {
  (void)state;
  struct op_case *c = with_input("LpNormalization", 22, DIMS(2, 2), F32(3, 4, 0, 0));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, 2), F32(0.6F, 0.8F, 0, 0));
  op_case_int(c, "p", 1);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, 2), F32(0.428571433F, 0.571428597F, 0, 0));
  op_case_int(c, "axis", 0);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, 2), F32(1, 1, 0, 0));
  op_case_int(c, "p", 3);
  op_case_fails(c, ASSAY_NODE_INVALID, "expected 1 or 2");
  op_case_free(c);
}

void test_op_MeanVarianceNormalization_9(void **state) {
  (void)state;
  struct op_case *c = with_input("MeanVarianceNormalization", 13, DIMS(2, 2, 1, 1), F32(1, -2, 3, 2));
  op_case_expect_near(c, 0, ASSAY_FLOAT32, DIMS(2, 2, 1, 1), F32(-1, -1, 1, 1), 1e-7, 0);
  op_case_ints(c, "axes", DIMS(1));
  op_case_expect_near(c, 0, ASSAY_FLOAT32, DIMS(2, 2, 1, 1), F32(1, -1, 1, -1), 1e-6, 0);
  op_case_free(c);
}

void test_op_LRN_1(void **state) {
  (void)state;
  /* Windows of 3 channels: squares 1+4, 1+4+9, 4+9; alpha / size is 1, beta 1. */
  struct op_case *c = with_input("LRN", 13, DIMS(1, 3, 1, 1), F32(1, 2, 3));
  op_case_fails(c, ASSAY_NODE_INVALID, "positive size");
  op_case_int(c, "size", 3);
  op_case_float(c, "alpha", 3.0F);
  op_case_float(c, "beta", 1.0F);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 3, 1, 1), F32(0.166666672F, 0.13333334F, 0.214285716F));
  /* An even window reaches further ahead. */
  op_case_int(c, "size", 2);
  op_case_float(c, "alpha", 2.0F);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 3, 1, 1), F32(0.166666672F, 0.142857149F, 0.3F));
  op_case_free(c);
}
