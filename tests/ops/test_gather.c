/* Operators that pick or place elements by an index tensor. */
#include "op_fixture.h"

void test_op_Gather_1(void **state) {
  (void)state;
  struct op_case *c = op_case_new("Gather", "", 13);
  op_case_int(c, "axis", 1);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 3), F32(1, 2, 3, 4, 5, -0.0F));
  op_case_input(c, ASSAY_INT64, DIMS(1, 2), I64(-1, 0));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, 1, 2), F32(3, 1, -0.0F, 4));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 3), F32(1, 2, 3, 4, 5, 6));
  op_case_input(c, ASSAY_INT32, SCALAR, I32(1)); /* a scalar index takes the axis away */
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2), F32(2, 5));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 3), F32(1, 2, 3, 4, 5, 6));
  op_case_input(c, ASSAY_INT64, DIMS(1), I64(3));
  op_case_fails(c, ASSAY_INDEX_RANGE, "an index is 3, but the axis has 3 elements");
  op_case_free(c);
}

void test_op_GatherElements_11(void **state) {
  (void)state;
  struct op_case *c = op_case_new("GatherElements", "", 13);
  op_case_int(c, "axis", 1);
  op_case_input(c, ASSAY_INT32, DIMS(2, 2), I32(1, 2, 3, 4));
  op_case_input(c, ASSAY_INT64, DIMS(2, 2), I64(0, 0, -1, 0));
  op_case_expect(c, 0, ASSAY_INT32, DIMS(2, 2), I32(1, 1, 4, 3));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_INT32, DIMS(2, 2), I32(1, 2, 3, 4));
  op_case_input(c, ASSAY_INT64, DIMS(2), I64(0, 0));
  op_case_fails(c, ASSAY_SHAPE_CONFLICT, "rank");
  op_case_free(c);
}

void test_op_GatherND_11(void **state) {
  (void)state;
  struct op_case *c = op_case_new("GatherND", "", 13);
  op_case_input(c, ASSAY_INT32, DIMS(2, 2), I32(0, 1, 2, 3));
  op_case_input(c, ASSAY_INT64, DIMS(2, 2), I64(0, 0, 1, -1));
  op_case_expect(c, 0, ASSAY_INT32, DIMS(2), I32(0, 3));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_INT32, DIMS(2, 2), I32(0, 1, 2, 3));
  op_case_input(c, ASSAY_INT64, DIMS(2, 1), I64(1, 0));
  op_case_expect(c, 0, ASSAY_INT32, DIMS(2, 2), I32(2, 3, 0, 1));
  op_case_clear_inputs(c);
  op_case_int(c, "batch_dims", 1);
  op_case_input(c, ASSAY_INT32, DIMS(2, 2, 2), I32(0, 1, 2, 3, 4, 5, 6, 7));
  op_case_input(c, ASSAY_INT64, DIMS(2, 1), I64(1, 0));
  op_case_expect(c, 0, ASSAY_INT32, DIMS(2, 2), I32(2, 3, 4, 5));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_INT32, DIMS(2, 2, 2), I32(0, 1, 2, 3, 4, 5, 6, 7));
  op_case_input(c, ASSAY_INT64, DIMS(2, 1), I64(1, 2));
  op_case_fails(c, ASSAY_INDEX_RANGE, "an index is 2");
  op_case_free(c);
}

static void scatter_cases(const char *op, int64_t opset) {
  struct op_case *c = op_case_new(op, "", opset);
  op_case_int(c, "axis", 1);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 5), F32(1, 2, 3, 4, 5));
  op_case_input(c, ASSAY_INT64, DIMS(1, 2), I64(1, -2));
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 2), F32(1.5F, NAN));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 5), F32(1, 1.5F, 3, NAN, 5));
  op_case_free(c);
}

void test_op_Scatter_9(void **state) {
  (void)state;
  scatter_cases("Scatter", 9);
}

void test_op_ScatterElements_11(void **state) {
  (void)state;
  scatter_cases("ScatterElements", 18);
  struct op_case *c = op_case_new("ScatterElements", "", 18);
  op_case_string(c, "reduction", "add"); /* one after the other: 2 + 2^24 is exact, + 1 is a tie to even */
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(2, 1));
  op_case_input(c, ASSAY_INT64, DIMS(2), I64(0, 0));
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(0x1p24F, 1));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2), F32(0x1p24F + 4, 1));
  op_case_free(c);
  c = op_case_new("ScatterElements", "", 18);
  op_case_string(c, "reduction", "max"); /* NaN wins, -0 is below +0 */
  op_case_input(c, ASSAY_FLOAT32, DIMS(3), F32(1, -0.0F, NAN));
  op_case_input(c, ASSAY_INT64, DIMS(3), I64(0, 1, 2));
  op_case_input(c, ASSAY_FLOAT32, DIMS(3), F32(NAN, 0, 5));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(3), F32(NAN, 0, NAN));
  op_case_free(c);
  c = op_case_new("ScatterElements", "", 18);
  op_case_string(c, "reduction", "average");
  op_case_input(c, ASSAY_FLOAT32, DIMS(1), F32(1));
  op_case_input(c, ASSAY_INT64, DIMS(1), I64(0));
  op_case_input(c, ASSAY_FLOAT32, DIMS(1), F32(1));
  op_case_fails(c, ASSAY_NODE_INVALID, "expected none, add, mul, max or min");
  op_case_free(c);
}

void test_op_ScatterND_11(void **state) {
  (void)state;
  struct op_case *c = op_case_new("ScatterND", "", 18);
  op_case_input(c, ASSAY_INT32, DIMS(2, 2), I32(1, 2, 3, 4));
  op_case_input(c, ASSAY_INT64, DIMS(1, 1), I64(-1));
  op_case_input(c, ASSAY_INT32, DIMS(1, 2), I32(9, 8));
  op_case_expect(c, 0, ASSAY_INT32, DIMS(2, 2), I32(1, 2, 9, 8));
  op_case_free(c);
  c = op_case_new("ScatterND", "", 18);
  op_case_string(c, "reduction", "mul");
  op_case_input(c, ASSAY_INT8, DIMS(2), I8(100, 3));
  op_case_input(c, ASSAY_INT64, DIMS(2, 1), I64(0, 1));
  op_case_input(c, ASSAY_INT8, DIMS(2), I8(2, 2));
  op_case_expect(c, 0, ASSAY_INT8, DIMS(2), I8(-56, 6)); /* 200 wraps */
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_INT8, DIMS(2), I8(1, 3));
  op_case_input(c, ASSAY_INT64, DIMS(1, 1), I64(2));
  op_case_input(c, ASSAY_INT8, DIMS(1), I8(2));
  op_case_fails(c, ASSAY_INDEX_RANGE, "an index is 2");
  op_case_free(c);
}

void test_op_Compress_9(void **state) {
  (void)state;
  struct op_case *c = op_case_new("Compress", "", 11);
  op_case_input(c, ASSAY_FLOAT32, DIMS(3, 2), F32(1, 2, 3, 4, 5, 6));
  op_case_input(c, ASSAY_BOOL, DIMS(5), BOOL(0, 1, 0, 0, 1));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2), F32(2, 5)); /* no axis: flat */
  op_case_int(c, "axis", 0);
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(3, 2), F32(1, 2, 3, 4, 5, 6));
  op_case_input(c, ASSAY_BOOL, DIMS(2), BOOL(0, 1)); /* a shorter condition leaves the rest out */
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 2), F32(3, 4));
  op_case_free(c);
}

void test_op_OneHot_9(void **state) {
  (void)state;
  struct op_case *c = op_case_new("OneHot", "", 11);
  op_case_input(c, ASSAY_INT64, DIMS(3), I64(0, -1, 7));
  op_case_input(c, ASSAY_INT64, SCALAR, I64(2));
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(-1, 5));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(3, 2), F32(5, -1, -1, 5, -1, -1)); /* out of range marks nothing */
  op_case_int(c, "axis", 0);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, 3), F32(5, -1, -1, -1, 5, -1));
  op_case_free(c);
}
