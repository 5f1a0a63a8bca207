/* Operators of one number. The functions' own exactness is tests/kernels/test_functions.c; here are the meaning, the
 * edges and the attributes. */
#include "op_fixture.h"

#define INF INFINITY

/* float32 in and out, exactly, with no attributes. */
static void exact(const char *op, int64_t opset, int n, const void *in, size_t in_bytes, const void *out,
                  size_t out_bytes) {
  struct op_case *c = op_case_new(op, "", opset);
  op_case_input(c, ASSAY_FLOAT32, DIMS(n), in, in_bytes);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(n), out, out_bytes);
  op_case_free(c);
}

/* float64 against values of 12 digits and more, and the same numbers as float32 and float16. */
static void near_values(const char *op, int64_t opset, int n, const double *in, const double *out) {
  struct op_case *c = op_case_new(op, "", opset);
  size_t bytes = (size_t)n * sizeof(double);
  op_case_input(c, ASSAY_FLOAT64, DIMS(n), in, bytes);
  op_case_expect_near(c, 0, ASSAY_FLOAT64, DIMS(n), out, bytes, 1e-300, 2e-12);
  float in32[16], out32[16];
  for (int i = 0; i < n; i++) {
    in32[i] = (float)in[i];
    out32[i] = (float)out[i];
  }
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(n), in32, (size_t)n * sizeof(float));
  op_case_expect_near(c, 0, ASSAY_FLOAT32, DIMS(n), out32, (size_t)n * sizeof(float), 1e-8, 4e-7);
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(0, 3), EMPTY);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(0, 3), EMPTY);
  op_case_free(c);
}
#define NEAR(op, opset, n, in, out) near_values(op, opset, n, (const double[])in, (const double[])out)
#define LIST(...) \
  { __VA_ARGS__ }

void test_op_Abs_1(void **state) {
  (void)state;
  exact("Abs", 13, 5, F32(-1.5F, 0, -0.0F, -INF, NAN), F32(1.5F, 0, 0, INF, NAN));
  struct op_case *c = op_case_new("Abs", "", 13);
  op_case_input(c, ASSAY_INT8, DIMS(3), I8(-128, -5, 5));
  op_case_expect(c, 0, ASSAY_INT8, DIMS(3), I8(-128, 5, 5)); /* 128 wraps */
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_UINT64, DIMS(1), U64(UINT64_MAX));
  op_case_expect(c, 0, ASSAY_UINT64, DIMS(1), U64(UINT64_MAX));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT16, DIMS(2), U16(0xBC00, 0x8000));
  op_case_expect(c, 0, ASSAY_FLOAT16, DIMS(2), U16(0x3C00, 0));
  op_case_free(c);
}

void test_op_Neg_1(void **state) {
  (void)state;
  exact("Neg", 13, 4, F32(-1.5F, 0, -0.0F, INF), F32(1.5F, -0.0F, 0, -INF));
  struct op_case *c = op_case_new("Neg", "", 13);
  op_case_input(c, ASSAY_INT32, DIMS(3), I32(INT32_MIN, -5, 5));
  op_case_expect(c, 0, ASSAY_INT32, DIMS(3), I32(INT32_MIN, 5, -5));
  op_case_free(c);
}

void test_op_Sign_9(void **state) {
  (void)state;
  exact("Sign", 13, 5, F32(-3, 0, -0.0F, 1e-45F, NAN), F32(-1, 0, -0.0F, 1, NAN));
  struct op_case *c = op_case_new("Sign", "", 13);
  op_case_input(c, ASSAY_INT64, DIMS(3), I64(-7, 0, 7));
  op_case_expect(c, 0, ASSAY_INT64, DIMS(3), I64(-1, 0, 1));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_UINT64, DIMS(2), U64(UINT64_MAX, 0));
  op_case_expect(c, 0, ASSAY_UINT64, DIMS(2), U64(1, 0));
  op_case_free(c);
}

void test_op_Floor_1(void **state) {
  (void)state;
  exact("Floor", 13, 8, F32(-1.5F, 1.2F, -0.5F, -0.0F, 8388609, -1e30F, -INF, NAN),
        F32(-2, 1, -1, -0.0F, 8388609, -1e30F, -INF, NAN));
}

void test_op_Ceil_1(void **state) {
  (void)state;
  exact("Ceil", 13, 7, F32(-1.5F, 1.2F, -0.5F, -0.0F, 8388609, INF, NAN), F32(-1, 2, -0.0F, -0.0F, 8388609, INF, NAN));
}

/* Halves go to the even neighbour. */
void test_op_Round_11(void **state) {
  (void)state;
  exact("Round", 11, 8, F32(0.5F, 1.5F, 2.5F, -0.5F, -1.5F, -2.5F, 0.9F, 8388609),
        F32(0, 2, 2, -0.0F, -2, -2, 1, 8388609));
  struct op_case *c = op_case_new("Round", "", 22);
  op_case_input(c, ASSAY_FLOAT64, DIMS(3), F64(0.5, -4503599627370495.5, 2.5000000000000004));
  op_case_expect(c, 0, ASSAY_FLOAT64, DIMS(3), F64(0, -4503599627370496.0, 3));
  op_case_free(c);
}

void test_op_Sqrt_1(void **state) {
  (void)state;
  exact("Sqrt", 13, 6, F32(4, 2, -0.0F, -1, INF, 1e-45F), F32(2, 1.41421354F, -0.0F, NAN, INF, 3.74339207e-23F));
}

void test_op_Reciprocal_1(void **state) {
  (void)state;
  exact("Reciprocal", 13, 5, F32(4, 3, -0.0F, INF, NAN), F32(0.25F, 0.333333343F, -INF, 0, NAN));
}

void test_op_Exp_1(void **state) {
  (void)state;
  exact("Exp", 13, 6, F32(0, 89, -104, -INF, INF, NAN), F32(1, INF, 0, 0, INF, NAN));
  NEAR("Exp", 13, 3, LIST(-1, 1, 10), LIST(0.367879441171442322, 2.718281828459045235, 22026.46579480671652));
}

void test_op_Log_1(void **state) {
  (void)state;
  exact("Log", 13, 6, F32(1, 0, -0.0F, -1, INF, NAN), F32(0, -INF, -INF, NAN, INF, NAN));
  NEAR("Log", 13, 3, LIST(0.5, 2, 10), LIST(-0.693147180559945309, 0.693147180559945309, 2.302585092994045684));
}

void test_op_Sin_7(void **state) {
  (void)state;
  exact("Sin", 7, 4, F32(0, -0.0F, INF, NAN), F32(0, -0.0F, NAN, NAN));
  NEAR("Sin", 22, 4, LIST(1, -2, 1e6, 0x1p100),
       LIST(0.841470984807896507, -0.909297426825681695, -0.349993502171292962, -0.872183605418267310));
}

void test_op_Cos_7(void **state) {
  (void)state;
  exact("Cos", 7, 4, F32(0, -0.0F, INF, NAN), F32(1, 1, NAN, NAN));
  NEAR("Cos", 22, 3, LIST(1, -2, 1e6), LIST(0.540302305868139717, -0.416146836547142387, 0.936752127533144788));
}

void test_op_Tan_7(void **state) {
  (void)state;
  exact("Tan", 7, 3, F32(0, -0.0F, INF), F32(0, -0.0F, NAN));
  NEAR("Tan", 22, 2, LIST(1, -2), LIST(1.557407724654902231, 2.185039863261518992));
}

void test_op_Asin_7(void **state) {
  (void)state;
  exact("Asin", 7, 4, F32(-0.0F, 1, 1.5F, NAN), F32(-0.0F, 1.57079637F, NAN, NAN));
  NEAR("Asin", 22, 2, LIST(0.5, -1), LIST(0.523598775598298873, -1.570796326794896619));
}

void test_op_Acos_7(void **state) {
  (void)state;
  exact("Acos", 7, 4, F32(1, -1, 1.5F, NAN), F32(0, 3.14159274F, NAN, NAN));
  NEAR("Acos", 22, 2, LIST(0.5, 0), LIST(1.047197551196597746, 1.570796326794896619));
}

void test_op_Atan_7(void **state) {
  (void)state;
  exact("Atan", 7, 4, F32(-0.0F, INF, -INF, NAN), F32(-0.0F, 1.57079637F, -1.57079637F, NAN));
  NEAR("Atan", 22, 2, LIST(1, -0.5), LIST(0.785398163397448310, -0.463647609000806116));
}

void test_op_Sinh_9(void **state) {
  (void)state;
  exact("Sinh", 9, 4, F32(-0.0F, 90, -INF, NAN), F32(-0.0F, INF, -INF, NAN));
  NEAR("Sinh", 22, 2, LIST(1, -0.001), LIST(1.175201193643801457, -0.001000000166666675));
}

void test_op_Cosh_9(void **state) {
  (void)state;
  exact("Cosh", 9, 4, F32(0, 90, -INF, NAN), F32(1, INF, INF, NAN));
  NEAR("Cosh", 22, 2, LIST(1, -2), LIST(1.543080634815243778, 3.762195691083631460));
}

void test_op_Tanh_1(void **state) {
  (void)state;
  exact("Tanh", 13, 5, F32(-0.0F, 20, -INF, NAN, 1e-40F), F32(-0.0F, 1, -1, NAN, 1e-40F));
  NEAR("Tanh", 13, 2, LIST(1, -0.001), LIST(0.761594155955764888, -0.000999999666666800));
}

void test_op_Asinh_9(void **state) {
  (void)state;
  exact("Asinh", 9, 3, F32(-0.0F, INF, NAN), F32(-0.0F, INF, NAN));
  NEAR("Asinh", 22, 2, LIST(1, -0.001), LIST(0.881373587019543025, -0.000999999833333408));
}

void test_op_Acosh_9(void **state) {
  (void)state;
  exact("Acosh", 9, 4, F32(1, 0.5F, INF, NAN), F32(0, NAN, INF, NAN));
  NEAR("Acosh", 22, 2, LIST(2, 10), LIST(1.316957896924816709, 2.993222846126380899));
}

void test_op_Atanh_9(void **state) {
  (void)state;
  exact("Atanh", 9, 5, F32(-0.0F, 1, -1, 1.5F, NAN), F32(-0.0F, INF, -INF, NAN, NAN));
  NEAR("Atanh", 22, 2, LIST(0.5, -0.25), LIST(0.549306144334054846, -0.255412811882995342));
}

void test_op_Erf_9(void **state) {
  (void)state;
  exact("Erf", 13, 5, F32(-0.0F, 5, -INF, NAN, 3.9F), F32(-0.0F, 1, -1, NAN, 0.99999994F));
  NEAR("Erf", 13, 3, LIST(1, -0.5, 2), LIST(0.842700792949714869, -0.520499877813046538, 0.995322265018952734));
}

/* 1 / (1 + exp(-x)). */
void test_op_Sigmoid_1(void **state) {
  (void)state;
  exact("Sigmoid", 13, 5, F32(0, INF, -INF, NAN, 100), F32(0.5F, 1, 0, NAN, 1));
  NEAR("Sigmoid", 13, 3, LIST(1, -1, -20), LIST(0.731058578630004879, 0.268941421369995121, 2.061153618190203e-09));
}

/* ln(1 + exp(x)), finite wherever the answer is. */
void test_op_Softplus_1(void **state) {
  (void)state;
  exact("Softplus", 1, 4, F32(200, INF, -INF, NAN), F32(200, INF, 0, NAN));
  NEAR("Softplus", 22, 3, LIST(0, 1, -5), LIST(0.693147180559945309, 1.313261687518222834, 0.006715348489118068));
}

void test_op_Softsign_1(void **state) {
  (void)state;
  exact("Softsign", 1, 4, F32(1, -3, -0.0F, NAN), F32(0.5F, -0.75F, -0.0F, NAN));
}

/* Fault 7: NaN comes through. */
void test_op_Relu_1(void **state) {
  (void)state;
  exact("Relu", 14, 5, F32(NAN, 2, -3, -0.0F, INF), F32(NAN, 2, 0, 0, INF));
  struct op_case *c = op_case_new("Relu", "", 14);
  op_case_input(c, ASSAY_INT8, DIMS(3), I8(-128, 0, 5));
  op_case_expect(c, 0, ASSAY_INT8, DIMS(3), I8(0, 0, 5));
  op_case_free(c);
}

static struct op_case *case_f32(const char *op, int64_t opset, int n, const void *values, size_t bytes) {
  struct op_case *c = op_case_new(op, "", opset);
  op_case_input(c, ASSAY_FLOAT32, DIMS(n), values, bytes);
  return c;
}

void test_op_LeakyRelu_1(void **state) {
  (void)state;
  exact("LeakyRelu", 16, 4, F32(-1, 0, 3, NAN), F32(-0.01F, 0, 3, NAN));
  struct op_case *c = case_f32("LeakyRelu", 6, 3, F32(-1, -0.0F, 1));
  op_case_float(c, "alpha", 0.5F);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(3), F32(-0.5F, -0.0F, 1));
  op_case_free(c);
}

void test_op_ThresholdedRelu_10(void **state) {
  (void)state;
  exact("ThresholdedRelu", 10, 5, F32(-1, 1, 1.5F, 2.2F, NAN), F32(0, 0, 1.5F, 2.2F, 0));
  struct op_case *c = case_f32("ThresholdedRelu", 22, 3, F32(-1, 2, 2.5F));
  op_case_float(c, "alpha", 2.0F);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(3), F32(0, 0, 2.5F));
  op_case_free(c);
}

void test_op_Elu_1(void **state) {
  (void)state;
  struct op_case *c = case_f32("Elu", 6, 4, F32(-1, 0, 1, NAN));
  op_case_float(c, "alpha", 2.0F);
  op_case_expect_near(c, 0, ASSAY_FLOAT32, DIMS(4), F32(-1.26424112F, 0, 1, NAN), 0, 1e-6);
  op_case_free(c);
  exact("Elu", 22, 2, F32(-INF, -0.0F), F32(-1, -0.0F));
}

void test_op_Celu_12(void **state) {
  (void)state;
  struct op_case *c = case_f32("Celu", 12, 3, F32(-2, 0, 3));
  op_case_float(c, "alpha", 2.0F);
  op_case_expect_near(c, 0, ASSAY_FLOAT32, DIMS(3), F32(-1.26424112F, 0, 3), 0, 1e-6);
  op_case_free(c);
}

void test_op_Selu_1(void **state) {
  (void)state;
  struct op_case *c = case_f32("Selu", 1, 2, F32(-1, 1));
  op_case_expect_near(c, 0, ASSAY_FLOAT32, DIMS(2), F32(1.0507F * 1.6732F * -0.632120559F, 1.0507F), 0, 1e-6);
  op_case_free(c);
}

void test_op_Selu_6(void **state) {
  (void)state;
  struct op_case *c = case_f32("Selu", 6, 3, F32(-1, 0, 1));
  op_case_expect_near(c, 0, ASSAY_FLOAT32, DIMS(3), F32(-1.11133075F, 0, 1.05070102F), 0, 1e-6);
  op_case_float(c, "alpha", 2.0F);
  op_case_float(c, "gamma", 3.0F);
  op_case_expect_near(c, 0, ASSAY_FLOAT32, DIMS(3), F32(-3.79272318F, 0, 3), 0, 1e-6);
  op_case_free(c);
}

/* Fault 5: the two formulas differ by more than rounding. */
void test_op_Gelu_20(void **state) {
  (void)state;
  struct op_case *c = case_f32("Gelu", 20, 3, F32(1, -2, -0.75F));
  op_case_expect_near(c, 0, ASSAY_FLOAT32, DIMS(3), F32(0.8413447F, -0.0455003F, -0.1699705F), 1e-7, 0);
  op_case_string(c, "approximate", "tanh");
  op_case_expect_near(c, 0, ASSAY_FLOAT32, DIMS(3), F32(0.8411920F, -0.0454023F, -0.1700394F), 1e-7, 0);
  op_case_free(c);
}

void test_op_Mish_18(void **state) {
  (void)state;
  NEAR("Mish", 18, 3, LIST(1, -1, 0), LIST(0.865098388267310344, -0.303401461374108918, 0));
}

void test_op_Swish_24(void **state) {
  (void)state;
  NEAR("Swish", 24, 2, LIST(1, -2), LIST(0.731058578630004879, -0.238405844044235112));
  struct op_case *c = case_f32("Swish", 28, 1, F32(1));
  op_case_float(c, "alpha", 2.0F);
  op_case_expect_near(c, 0, ASSAY_FLOAT32, DIMS(1), F32(0.880797078F), 0, 1e-6);
  op_case_free(c);
}

void test_op_SwiGLU_28(void **state) {
  (void)state;
  struct op_case *c = case_f32("SwiGLU", 28, 2, F32(1, -2));
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(2, 10));
  op_case_expect_near(c, 0, ASSAY_FLOAT32, DIMS(2), F32(1.46211716F, -2.38405844F), 0, 1e-6);
  op_case_free(c);
}

void test_op_HardSigmoid_1(void **state) {
  (void)state;
  exact("HardSigmoid", 6, 5, F32(-5, 0, 1, 5, NAN), F32(0, 0.5F, 0.7F, 1, NAN));
  struct op_case *c = case_f32("HardSigmoid", 22, 2, F32(-1, 0.5F));
  op_case_float(c, "alpha", 0.5F);
  op_case_float(c, "beta", 0.75F);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2), F32(0.25F, 1));
  op_case_free(c);
}

void test_op_HardSwish_14(void **state) {
  (void)state;
  exact("HardSwish", 14, 4, F32(-4, 0, 3, 6), F32(-0.0F, 0, 3, 6));
}

void test_op_Shrink_9(void **state) {
  (void)state;
  exact("Shrink", 9, 4, F32(-2, -0.5F, 0.5F, 2), F32(-2, 0, 0, 2));
  struct op_case *c = case_f32("Shrink", 9, 4, F32(-2, -1, 1, 2));
  op_case_float(c, "lambd", 1.5F);
  op_case_float(c, "bias", 1.5F);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(4), F32(-0.5F, 0, 0, 0.5F));
  op_case_free(c);
}

void test_op_Not_1(void **state) {
  (void)state;
  struct op_case *c = op_case_new("Not", "", 1);
  op_case_input(c, ASSAY_BOOL, DIMS(2), BOOL(1, 0));
  op_case_expect(c, 0, ASSAY_BOOL, DIMS(2), BOOL(0, 1));
  op_case_free(c);
}

void test_op_IsNaN_9(void **state) {
  (void)state;
  struct op_case *c = case_f32("IsNaN", 13, 3, F32(NAN, INF, 1));
  op_case_expect(c, 0, ASSAY_BOOL, DIMS(3), BOOL(1, 0, 0));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT16, DIMS(2), U16(0x7E00, 0x7C00));
  op_case_expect(c, 0, ASSAY_BOOL, DIMS(2), BOOL(1, 0));
  op_case_free(c);
}

void test_op_IsInf_10(void **state) {
  (void)state;
  struct op_case *c = case_f32("IsInf", 20, 4, F32(NAN, INF, -INF, 1));
  op_case_expect(c, 0, ASSAY_BOOL, DIMS(4), BOOL(0, 1, 1, 0));
  op_case_int(c, "detect_negative", 0);
  op_case_expect(c, 0, ASSAY_BOOL, DIMS(4), BOOL(0, 1, 0, 0));
  op_case_int(c, "detect_negative", 1);
  op_case_int(c, "detect_positive", 0);
  op_case_expect(c, 0, ASSAY_BOOL, DIMS(4), BOOL(0, 0, 1, 0));
  op_case_free(c);
}
