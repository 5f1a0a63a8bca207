/* Softmax and its family: which elements make a row before and after opset 13, the steps, ties, NaN and Inf. */
#include "op_fixture.h"

#define INF INFINITY

/* Fault 2: the default changed from "all from axis 1 on" to "the last axis". */
static void zeros(int64_t opset, float expected) {
  struct op_case *c = op_case_new("Softmax", "", opset);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 2, 2), F32(0, 0, 0, 0));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 2, 2), F32(expected, expected, expected, expected));
  op_case_free(c);
}

void test_op_Softmax_1(void **state) {
  (void)state;
  zeros(11, 0.25F);
  zeros(12, 0.25F);
  struct op_case *c = op_case_new("Softmax", "", 9);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 2, 2), F32(0, 0, 0, 0));
  op_case_int(c, "axis", 2);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 2, 2), F32(0.5F, 0.5F, 0.5F, 0.5F));
  op_case_free(c);
}

void test_op_Softmax_13(void **state) {
  (void)state;
  zeros(13, 0.5F);
  struct op_case *c = op_case_new("Softmax", "", 13);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 3), F32(-1, 0, 1, 10000, 10001, 10002));
  op_case_expect_near(c, 0, ASSAY_FLOAT32, DIMS(2, 3),
                      F32(0.0900305732F, 0.244728471F, 0.665240956F, 0.0900305732F, 0.244728471F, 0.665240956F), 0,
                      1e-6);
  op_case_int(c, "axis", 0);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, 3), F32(0, 0, 0, 1, 1, 1));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT64, DIMS(3, 2), F64(0, NAN, (double)-INF, 1, 0, 2));
  op_case_expect(c, 0, ASSAY_FLOAT64, DIMS(3, 2), F64(0.5, (double)NAN, 0, (double)NAN, 0.5, (double)NAN));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT16, DIMS(2), U16(0, 0));
  op_case_expect(c, 0, ASSAY_FLOAT16, DIMS(2), U16(0x3800, 0x3800));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(0, 2), EMPTY);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(0, 2), EMPTY);
  op_case_free(c);
}

/* Many rows, so that threads share them; each row's sum is near 1 and its elements are in the order of the input's. */
void test_op_LogSoftmax_13(void **state) {
  (void)state;
  struct op_case *c = op_case_new("LogSoftmax", "", 13);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 3), F32(-1, 0, 1, 10000, 10001, 10002));
  op_case_expect_near(c, 0, ASSAY_FLOAT32, DIMS(2, 3),
                      F32(-2.40760596F, -1.40760596F, -0.407605964F, -2.40760596F, -1.40760596F, -0.407605964F), 0,
                      1e-6);
  static float x[500 * 67];
  op_fill_f32(x, 500 * 67, 3);
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(500, 67), x, sizeof x);
  const float *y = op_case_output(c, 0)->data;
  for (int r = 0; r < 500; r++) {
    double sum = 0;
    for (int i = 0; i < 67; i++) {
      sum += exp((double)y[r * 67 + i]);
    }
    assert_true(fabs(sum - 1) < 1e-5);
  }
  op_case_free(c);
}

void test_op_LogSoftmax_1(void **state) {
  (void)state;
  struct op_case *c = op_case_new("LogSoftmax", "", 11);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 2, 2), F32(0, 0, 0, 0));
  op_case_expect_near(c, 0, ASSAY_FLOAT32, DIMS(1, 2, 2), F32(-1.38629436F, -1.38629436F, -1.38629436F, -1.38629436F),
                      0, 1e-7);
  op_case_free(c);
}

/* Fault 27: the first of equals. */
void test_op_Hardmax_13(void **state) {
  (void)state;
  struct op_case *c = op_case_new("Hardmax", "", 13);
  op_case_input(c, ASSAY_FLOAT32, DIMS(3, 3), F32(1, 3, 3, -INF, -INF, -INF, 1, NAN, 5));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(3, 3), F32(0, 1, 0, 1, 0, 0, 0, 1, 0));
  op_case_int(c, "axis", 0);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(3, 3), F32(1, 0, 0, 0, 0, 0, 0, 1, 1));
  op_case_free(c);
}

void test_op_Hardmax_1(void **state) {
  (void)state;
  struct op_case *c = op_case_new("Hardmax", "", 11);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 2, 2), F32(0, 0, 0, 1));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 2, 2), F32(0, 0, 0, 1));
  op_case_free(c);
}
