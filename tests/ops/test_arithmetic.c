/* Operators of two numbers and of many: values, broadcasting of today and of before opset 7, edges. */
#include <stdlib.h>

#include "op_fixture.h"

#define INF INFINITY

/* Both float32 of one length, exactly. */
static void exact(const char *op, int64_t opset, int n, const void *a, size_t a_bytes, const void *b, size_t b_bytes,
                  const void *out, size_t out_bytes) {
  struct op_case *c = op_case_new(op, "", opset);
  op_case_input(c, ASSAY_FLOAT32, DIMS(n), a, a_bytes);
  op_case_input(c, ASSAY_FLOAT32, DIMS(n), b, b_bytes);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(n), out, out_bytes);
  op_case_free(c);
}

/* Before opset 7: b's shape stands at `axis` of a's, and only when broadcast=1. */
static void legacy(const char *op, assay_dtype dtype, const void *a, size_t a_bytes, const void *b, size_t b_bytes,
                   assay_dtype out_dtype, const void *out, size_t out_bytes) {
  struct op_case *c = op_case_new(op, "", 6);
  op_case_input(c, dtype, DIMS(2, 2, 1), a, a_bytes);
  op_case_input(c, dtype, DIMS(2), b, b_bytes);
  op_case_fails(c, ASSAY_SHAPE_CONFLICT, "broadcast=1");
  op_case_int(c, "broadcast", 1);
  op_case_int(c, "axis", 0);
  op_case_expect(c, 0, out_dtype, DIMS(2, 2, 1), out, out_bytes);
  op_case_free(c);
}

void test_op_Add_1(void **state) {
  (void)state;
  legacy("Add", ASSAY_FLOAT32, F32(1, 2, 3, 4), F32(10, 20), ASSAY_FLOAT32, F32(11, 12, 23, 24));
  /* Without an axis, the last dimensions are meant. */
  struct op_case *c = op_case_new("Add", "", 6);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 2), F32(1, 2, 3, 4));
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(10, 20));
  op_case_int(c, "broadcast", 1);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, 2), F32(11, 22, 13, 24));
  op_case_free(c);
}

/* All ways of broadcasting, on tensors long enough for several threads, against plain loops. */
static void broadcast_of(const int64_t *a_dims, int a_rank, const int64_t *b_dims, int b_rank, const int64_t *dims,
                         int rank) {
  int64_t na = 1, nb = 1, n = 1;
  for (int d = 0; d < a_rank; d++) {
    na *= a_dims[d];
  }
  for (int d = 0; d < b_rank; d++) {
    nb *= b_dims[d];
  }
  for (int d = 0; d < rank; d++) {
    n *= dims[d];
  }
  float *a = malloc((size_t)na * sizeof *a), *b = malloc((size_t)nb * sizeof *b), *y = malloc((size_t)n * sizeof *y);
  assert_true(a != NULL && b != NULL && y != NULL);
  op_fill_f32(a, na, 1);
  op_fill_f32(b, nb, 2);
  for (int64_t i = 0; i < n; i++) {
    int64_t rest = i, ia = 0, ib = 0, sa = 1, sb = 1;
    for (int d = rank - 1; d >= 0; d--) {
      int64_t index = rest % dims[d];
      rest /= dims[d];
      int da = d - (rank - a_rank), db = d - (rank - b_rank);
      if (da >= 0) {
        ia += a_dims[da] == 1 ? 0 : index * sa;
        sa *= a_dims[da];
      }
      if (db >= 0) {
        ib += b_dims[db] == 1 ? 0 : index * sb;
        sb *= b_dims[db];
      }
    }
    y[i] = a[ia] - b[ib];
  }
  struct op_case *c = op_case_new("Sub", "", 14);
  op_case_input(c, ASSAY_FLOAT32, a_dims, a_rank, a, (size_t)na * sizeof *a);
  op_case_input(c, ASSAY_FLOAT32, b_dims, b_rank, b, (size_t)nb * sizeof *b);
  op_case_expect(c, 0, ASSAY_FLOAT32, dims, rank, y, (size_t)n * sizeof *y);
  op_case_free(c);
  free(a);
  free(b);
  free(y);
}

void test_op_Sub_7(void **state) {
  (void)state;
  exact("Sub", 14, 3, F32(1, -0.0F, INF), F32(3, 0, INF), F32(-2, -0.0F, NAN));
  broadcast_of(DIMS(40, 300), DIMS(40, 300), DIMS(40, 300));
  broadcast_of(DIMS(40, 300), DIMS(300), DIMS(40, 300));
  broadcast_of(DIMS(40, 300), DIMS(40, 1), DIMS(40, 300));
  broadcast_of(DIMS(1), DIMS(40, 300), DIMS(40, 300));
  broadcast_of(DIMS(40, 1), DIMS(1, 300), DIMS(40, 300));
  broadcast_of(DIMS(3, 1, 50, 20), DIMS(7, 1, 20), DIMS(3, 7, 50, 20));
  broadcast_of(DIMS(5, 1, 1, 1, 3000), DIMS(4, 1, 2, 1), DIMS(5, 4, 1, 2, 3000));
  struct op_case *c = op_case_new("Sub", "", 14);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 3), F32(1, 2, 3, 4, 5, 6));
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(1, 2));
  op_case_fails(c, ASSAY_SHAPE_CONFLICT, "broadcast");
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_UINT8, DIMS(2), U8(1, 200));
  op_case_input(c, ASSAY_UINT8, SCALAR, U8(2));
  op_case_expect(c, 0, ASSAY_UINT8, DIMS(2), U8(255, 198));
  op_case_free(c);
}

void test_op_Sub_1(void **state) {
  (void)state;
  legacy("Sub", ASSAY_FLOAT32, F32(1, 2, 3, 4), F32(10, 20), ASSAY_FLOAT32, F32(-9, -8, -17, -16));
}

/* Fault 4: adding zeros broadcasts, and turns -0 into +0. */
void test_op_Add_7(void **state) {
  (void)state;
  struct op_case *c = op_case_new("Add", "", 14);
  op_case_input(c, ASSAY_FLOAT32, DIMS(3), F32(1, -0.0F, NAN));
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 3), F32(0, 0, 0, 0, 0, 0));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, 3), F32(1, 0, NAN, 1, 0, NAN));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_INT32, DIMS(2), I32(INT32_MAX, -5));
  op_case_input(c, ASSAY_INT32, SCALAR, I32(1));
  op_case_expect(c, 0, ASSAY_INT32, DIMS(2), I32(INT32_MIN, -4)); /* integers wrap */
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_INT64, DIMS(2), I64(INT64_MAX, INT64_C(9007199254740993)));
  op_case_input(c, ASSAY_INT64, SCALAR, I64(2));
  op_case_expect(c, 0, ASSAY_INT64, DIMS(2), I64(INT64_MIN + 1, INT64_C(9007199254740995)));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT16, DIMS(2), U16(0x6800, 0x7BFF)); /* 2048, 65504 */
  op_case_input(c, ASSAY_FLOAT16, DIMS(2), U16(0x3C00, 0x5000)); /* 1, 32 */
  op_case_expect(c, 0, ASSAY_FLOAT16, DIMS(2), U16(0x6800, 0x7C00));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_BFLOAT16, DIMS(1), U16(0x3F80));
  op_case_input(c, ASSAY_BFLOAT16, DIMS(1), U16(0x3B80)); /* 1 + 2^-8, half of the last place: to even */
  op_case_expect(c, 0, ASSAY_BFLOAT16, DIMS(1), U16(0x3F80));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 0), EMPTY);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1), F32(1));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, 0), EMPTY);
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1), F32(1));
  op_case_input(c, ASSAY_FLOAT64, DIMS(1), F64(1));
  op_case_fails(c, ASSAY_TYPE_CONFLICT, "float32 and float64");
  op_case_free(c);
}

void test_op_Mul_1(void **state) {
  (void)state;
  legacy("Mul", ASSAY_FLOAT32, F32(1, 2, 3, 4), F32(10, 20), ASSAY_FLOAT32, F32(10, 20, 60, 80));
}

/* Fault 4: times one broadcasts, times zero keeps NaN and the sign. */
void test_op_Mul_7(void **state) {
  (void)state;
  struct op_case *c = op_case_new("Mul", "", 14);
  op_case_input(c, ASSAY_FLOAT32, DIMS(3), F32(1, 2, 3));
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 1, 1), F32(1));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 1, 3), F32(1, 2, 3));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(3), F32(INF, NAN, -2));
  op_case_input(c, ASSAY_FLOAT32, SCALAR, F32(0));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(3), F32(NAN, NAN, -0.0F));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_INT8, DIMS(2), I8(100, -3));
  op_case_input(c, ASSAY_INT8, DIMS(2), I8(3, 5));
  op_case_expect(c, 0, ASSAY_INT8, DIMS(2), I8(44, -15));
  op_case_free(c);
}

void test_op_Div_1(void **state) {
  (void)state;
  legacy("Div", ASSAY_FLOAT32, F32(1, 2, 3, 4), F32(2, 4), ASSAY_FLOAT32, F32(0.5F, 1, 0.75F, 1));
}

void test_op_Div_7(void **state) {
  (void)state;
  exact("Div", 14, 5, F32(1, 1, -1, 0, 10), F32(3, 0, 0, 0, -4), F32(0.333333343F, INF, -INF, NAN, -2.5F));
  struct op_case *c = op_case_new("Div", "", 14);
  op_case_input(c, ASSAY_INT32, DIMS(3), I32(7, -7, INT32_MIN));
  op_case_input(c, ASSAY_INT32, DIMS(3), I32(2, 2, -1));
  op_case_expect(c, 0, ASSAY_INT32, DIMS(3), I32(3, -3, INT32_MIN)); /* truncates; the overflow wraps */
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_UINT64, DIMS(1), U64(UINT64_MAX));
  op_case_input(c, ASSAY_UINT64, DIMS(1), U64(2));
  op_case_expect(c, 0, ASSAY_UINT64, DIMS(1), U64(UINT64_MAX / 2));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_INT32, DIMS(1), I32(7));
  op_case_input(c, ASSAY_INT32, DIMS(2), I32(1, 0));
  op_case_fails(c, ASSAY_NODE_VALUE, "divides an integer by zero (element 1");
  op_case_free(c);
}

void test_op_Mod_10(void **state) {
  (void)state;
  struct op_case *c = op_case_new("Mod", "", 13);
  op_case_input(c, ASSAY_INT32, DIMS(6), I32(-4, 7, 5, 4, -7, 8));
  op_case_input(c, ASSAY_INT32, DIMS(6), I32(2, -3, 8, -2, 3, 5));
  op_case_expect(c, 0, ASSAY_INT32, DIMS(6), I32(0, -2, 5, 0, 2, 3)); /* the sign of the divisor */
  op_case_int(c, "fmod", 1);
  op_case_expect(c, 0, ASSAY_INT32, DIMS(6), I32(0, 1, 5, 0, -1, 3)); /* the sign of the dividend */
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(7), F32(-4.3F, 7.2F, 5, INF, 5, 1, -0.0F));
  op_case_input(c, ASSAY_FLOAT32, DIMS(7), F32(2.1F, -3.4F, 8, 2, INF, 0, 3));
  op_case_expect_near(c, 0, ASSAY_FLOAT32, DIMS(7), F32(-0.1F, 0.4F, 5, NAN, 5, NAN, -0.0F), 1e-6, 0);
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT64, DIMS(3), F64(1e300, 0x1p-1074, -17.5));
  op_case_input(c, ASSAY_FLOAT64, DIMS(3), F64(3, 0x1.8p-1073, 4));
  op_case_expect(c, 0, ASSAY_FLOAT64, DIMS(3), F64(0, 0x1p-1074, -1.5));
  op_case_int(c, "fmod", 0);
  op_case_fails(c, ASSAY_NODE_INVALID, "fmod=1");
  op_case_free(c);
  c = op_case_new("Mod", "", 28);
  op_case_input(c, ASSAY_FLOAT32, DIMS(6), F32(-4, 7, -4, 4, 1, 5));
  op_case_input(c, ASSAY_FLOAT32, DIMS(6), F32(3, -3, 2, -2, 0, -INF));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(6), F32(2, -2, 0, -0.0F, NAN, -INF));
  op_case_free(c);
}

void test_op_Pow_1(void **state) {
  (void)state;
  legacy("Pow", ASSAY_FLOAT32, F32(1, 2, 3, 4), F32(3, 2), ASSAY_FLOAT32, F32(1, 8, 9, 16));
}

void test_op_Pow_7(void **state) {
  (void)state;
  exact("Pow", 13, 6, F32(1.1F, 2, -2, 0, NAN, -8), F32(2, 0.5F, 3, 0, 0, 0.5F),
        F32(1.1F * 1.1F, 1.41421354F, -8, 1, 1, NAN));
  /* The exponent's type is its own; the result has the type of the base. */
  struct op_case *c = op_case_new("Pow", "", 15);
  op_case_input(c, ASSAY_FLOAT32, DIMS(3), F32(1, 2, 3));
  op_case_input(c, ASSAY_INT64, DIMS(3), I64(4, 5, 6));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(3), F32(1, 32, 729));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_INT64, DIMS(5), I64(3, -2, 2, -1, 7));
  op_case_input(c, ASSAY_INT32, DIMS(5), I32(39, 3, -1, -3, 0));
  op_case_expect(c, 0, ASSAY_INT64, DIMS(5), I64(INT64_C(4052555153018976267), -8, 0, -1, 1));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_INT32, DIMS(2), I32(2, 9));
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(3, 0.5F));
  op_case_expect(c, 0, ASSAY_INT32, DIMS(2), I32(8, 3));
  op_case_free(c);
}

void test_op_PRelu_1(void **state) {
  (void)state;
  struct op_case *c = op_case_new("PRelu", "", 6);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 2, 2), F32(-1, 2, -3, -4));
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(0.5F, 2)); /* one a channel */
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 2, 2), F32(-0.5F, 2, -6, -8));
  op_case_free(c);
}

void test_op_PRelu_7(void **state) {
  (void)state;
  struct op_case *c = op_case_new("PRelu", "", 16);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 2), F32(-1, 2, -3, NAN));
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(0.5F, 2)); /* the last dimension */
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, 2), F32(-0.5F, 2, -1.5F, NAN));
  op_case_free(c);
}

/* Fault 7, and -0 < +0. */
void test_op_Min_1(void **state) {
  (void)state;
  exact("Min", 13, 6, F32(NAN, 2, -3, 0, -0.0F, 1), F32(1, 1, 1, -0.0F, 0, NAN), F32(NAN, 1, -3, -0.0F, -0.0F, NAN));
  struct op_case *c = op_case_new("Min", "", 13);
  op_case_input(c, ASSAY_INT64, DIMS(3), I64(3, -2, 1));
  op_case_input(c, ASSAY_INT64, DIMS(1), I64(1));
  op_case_input(c, ASSAY_INT64, DIMS(2, 1), I64(0, -5));
  op_case_expect(c, 0, ASSAY_INT64, DIMS(2, 3), I64(0, -2, 0, -5, -5, -5));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(3), F32(3, NAN, -0.0F));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(3), F32(3, NAN, -0.0F));
  op_case_free(c);
}

void test_op_Max_1(void **state) {
  (void)state;
  exact("Max", 13, 6, F32(NAN, 2, -3, 0, -0.0F, 1), F32(-1, -1, -1, -0.0F, 0, NAN), F32(NAN, 2, -1, 0, 0, NAN));
  struct op_case *c = op_case_new("Max", "", 13);
  op_case_input(c, ASSAY_UINT64, DIMS(2), U64(UINT64_MAX, 1));
  op_case_input(c, ASSAY_UINT64, DIMS(2), U64(5, 5));
  op_case_expect(c, 0, ASSAY_UINT64, DIMS(2), U64(UINT64_MAX, 5));
  op_case_free(c);
}

void test_op_Sum_1(void **state) {
  (void)state;
  struct op_case *c = op_case_new("Sum", "", 13);
  op_case_input(c, ASSAY_FLOAT32, DIMS(3), F32(3, 0, 2));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(3), F32(3, 0, 2));
  op_case_input(c, ASSAY_FLOAT32, DIMS(3), F32(1, 3, 4));
  op_case_input(c, ASSAY_FLOAT32, DIMS(1), F32(10));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(3), F32(14, 13, 16));
  op_case_free(c);
}

void test_op_Mean_1(void **state) {
  (void)state;
  struct op_case *c = op_case_new("Mean", "", 13);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(3, 1));
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(1, 0));
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(2, 0));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2), F32(2, 0.333333343F));
  op_case_free(c);
}

static void bits(const char *op, const void *out, size_t out_bytes) {
  struct op_case *c = op_case_new(op, "", 18);
  op_case_input(c, ASSAY_UINT8, DIMS(2), U8(0xF0, 0x0F));
  op_case_input(c, ASSAY_UINT8, SCALAR, U8(0x3C));
  op_case_expect(c, 0, ASSAY_UINT8, DIMS(2), out, out_bytes);
  op_case_free(c);
}
void test_op_BitwiseAnd_18(void **state) {
  (void)state;
  bits("BitwiseAnd", U8(0x30, 0x0C));
}
void test_op_BitwiseOr_18(void **state) {
  (void)state;
  bits("BitwiseOr", U8(0xFC, 0x3F));
}
void test_op_BitwiseXor_18(void **state) {
  (void)state;
  bits("BitwiseXor", U8(0xCC, 0x33));
}
void test_op_BitwiseNot_18(void **state) {
  (void)state;
  struct op_case *c = op_case_new("BitwiseNot", "", 18);
  op_case_input(c, ASSAY_UINT16, DIMS(2), U16(0, 0x00FF));
  op_case_expect(c, 0, ASSAY_UINT16, DIMS(2), U16(0xFFFF, 0xFF00));
  op_case_free(c);
}
void test_op_BitShift_11(void **state) {
  (void)state;
  struct op_case *c = op_case_new("BitShift", "", 11);
  op_case_input(c, ASSAY_UINT8, DIMS(3), U8(16, 4, 255));
  op_case_input(c, ASSAY_UINT8, DIMS(3), U8(1, 2, 4));
  op_case_fails(c, ASSAY_NODE_INVALID, "LEFT or RIGHT");
  op_case_string(c, "direction", "RIGHT");
  op_case_expect(c, 0, ASSAY_UINT8, DIMS(3), U8(8, 1, 15));
  op_case_string(c, "direction", "LEFT");
  op_case_expect(c, 0, ASSAY_UINT8, DIMS(3), U8(32, 16, 240));
  op_case_free(c);
}

static void logic(const char *op, const void *out, size_t out_bytes) {
  struct op_case *c = op_case_new(op, "", 7);
  op_case_input(c, ASSAY_BOOL, DIMS(2), BOOL(0, 1));
  op_case_input(c, ASSAY_BOOL, DIMS(2, 1), BOOL(0, 1));
  op_case_expect(c, 0, ASSAY_BOOL, DIMS(2, 2), out, out_bytes);
  op_case_free(c);
}
void test_op_And_7(void **state) {
  (void)state;
  logic("And", BOOL(0, 0, 0, 1));
}
void test_op_Or_7(void **state) {
  (void)state;
  logic("Or", BOOL(0, 1, 1, 1));
}
void test_op_Xor_7(void **state) {
  (void)state;
  logic("Xor", BOOL(0, 1, 1, 0));
}
void test_op_And_1(void **state) {
  (void)state;
  legacy("And", ASSAY_BOOL, BOOL(0, 1, 0, 1), BOOL(0, 1), ASSAY_BOOL, BOOL(0, 0, 0, 1));
}
void test_op_Or_1(void **state) {
  (void)state;
  legacy("Or", ASSAY_BOOL, BOOL(0, 1, 0, 1), BOOL(0, 1), ASSAY_BOOL, BOOL(0, 1, 1, 1));
}
void test_op_Xor_1(void **state) {
  (void)state;
  legacy("Xor", ASSAY_BOOL, BOOL(0, 1, 0, 1), BOOL(0, 1), ASSAY_BOOL, BOOL(0, 1, 1, 0));
}

static void compare(const char *op, const void *out, size_t out_bytes) {
  struct op_case *c = op_case_new(op, "", 13);
  op_case_input(c, ASSAY_FLOAT32, DIMS(5), F32(1, 2, 3, NAN, -0.0F));
  op_case_input(c, ASSAY_FLOAT32, DIMS(5), F32(2, 2, 2, NAN, 0));
  op_case_expect(c, 0, ASSAY_BOOL, DIMS(5), out, out_bytes);
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_UINT64, DIMS(5), U64(1, 2, 3, 0, 0)); /* unsigned: the largest is not -1 */
  op_case_input(c, ASSAY_UINT64, DIMS(5), U64(UINT64_MAX, 2, 2, 0, 0));
  const uint8_t *b = out;
  uint8_t same = b[1];
  op_case_expect(c, 0, ASSAY_BOOL, DIMS(5), BOOL(b[0], same, b[2], same, same));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_INT64, DIMS(1), I64(INT64_C(9007199254740992))); /* beyond what a double holds */
  op_case_input(c, ASSAY_INT64, DIMS(2), I64(INT64_C(9007199254740993), INT64_C(9007199254740992)));
  op_case_expect(c, 0, ASSAY_BOOL, DIMS(2), BOOL(b[0], same));
  op_case_free(c);
}
void test_op_Equal_7(void **state) {
  (void)state;
  compare("Equal", BOOL(0, 1, 0, 0, 1));
  struct op_case *c = op_case_new("Equal", "", 19);
  const assay_text a[] = {{"left", 4}, {"", 0}}, b[] = {{"leaf", 4}, {NULL, 0}};
  op_case_input(c, ASSAY_STRING, DIMS(2), a, sizeof a);
  op_case_input(c, ASSAY_STRING, DIMS(2), b, sizeof b);
  op_case_expect(c, 0, ASSAY_BOOL, DIMS(2), BOOL(0, 1));
  op_case_free(c);
}
void test_op_Less_7(void **state) {
  (void)state;
  compare("Less", BOOL(1, 0, 0, 0, 0));
}
void test_op_LessOrEqual_12(void **state) {
  (void)state;
  compare("LessOrEqual", BOOL(1, 1, 0, 0, 1));
}
void test_op_Greater_7(void **state) {
  (void)state;
  compare("Greater", BOOL(0, 0, 1, 0, 0));
}
void test_op_GreaterOrEqual_12(void **state) {
  (void)state;
  compare("GreaterOrEqual", BOOL(0, 1, 1, 0, 1));
}
void test_op_Equal_1(void **state) {
  (void)state;
  legacy("Equal", ASSAY_INT32, I32(1, 2, 3, 4), I32(1, 4), ASSAY_BOOL, BOOL(1, 0, 0, 1));
}
void test_op_Less_1(void **state) {
  (void)state;
  legacy("Less", ASSAY_FLOAT32, F32(1, 2, 3, 4), F32(2, 4), ASSAY_BOOL, BOOL(1, 0, 1, 0));
}
void test_op_Greater_1(void **state) {
  (void)state;
  legacy("Greater", ASSAY_FLOAT32, F32(1, 3, 3, 5), F32(2, 4), ASSAY_BOOL, BOOL(0, 1, 0, 1));
}

void test_op_Where_9(void **state) {
  (void)state;
  struct op_case *c = op_case_new("Where", "", 16);
  op_case_input(c, ASSAY_BOOL, DIMS(2, 1), BOOL(1, 0));
  op_case_input(c, ASSAY_FLOAT32, DIMS(3), F32(NAN, -0.0F, 3));
  op_case_input(c, ASSAY_FLOAT32, SCALAR, F32(7));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, 3), F32(NAN, -0.0F, 3, 7, 7, 7));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_BOOL, DIMS(2), BOOL(1, 0));
  op_case_input(c, ASSAY_INT64, DIMS(2), I64(1, 2));
  op_case_input(c, ASSAY_INT64, DIMS(2), I64(3, 4));
  op_case_expect(c, 0, ASSAY_INT64, DIMS(2), I64(1, 4));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_BOOL, DIMS(2), BOOL(1, 0));
  op_case_input(c, ASSAY_FLOAT16, DIMS(1), U16(0x7E01)); /* bits are kept */
  op_case_input(c, ASSAY_FLOAT16, DIMS(2), U16(1, 2));
  op_case_expect(c, 0, ASSAY_FLOAT16, DIMS(2), U16(0x7E01, 2));
  op_case_free(c);
}
