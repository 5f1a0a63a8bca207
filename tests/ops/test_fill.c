/* Operators that make tensors out of little. */
#include "op_fixture.h"

void test_op_Constant_1(void **state) {
  (void)state;
  struct op_case *c = op_case_new("Constant", "", 13);
  float values[] = {1, -0.0F};
  op_case_tensor(c, "value", &(assay_tensor){ASSAY_FLOAT32, 1, {2}, values, sizeof values});
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2), F32(1, -0.0F));
  op_case_int(c, "value_int", 3);
  op_case_fails(c, ASSAY_NODE_INVALID, "both value and value_int");
  op_case_free(c);
  c = op_case_new("Constant", "", 13);
  op_case_ints(c, "value_ints", (const int64_t[]){3, -4}, 2);
  op_case_expect(c, 0, ASSAY_INT64, DIMS(2), I64(3, -4));
  op_case_free(c);
  c = op_case_new("Constant", "", 13);
  op_case_float(c, "value_float", 0.1F);
  op_case_expect(c, 0, ASSAY_FLOAT32, SCALAR, F32(0.1F));
  op_case_free(c);
  c = op_case_new("Constant", "", 13);
  op_case_fails(c, ASSAY_NODE_INVALID, "no value");
  op_case_free(c);
}

void test_op_ConstantOfShape_9(void **state) {
  (void)state;
  struct op_case *c = op_case_new("ConstantOfShape", "", 9);
  op_case_input(c, ASSAY_INT64, DIMS(2), I64(1, 2));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 2), F32(0, 0));
  int8_t one = 1;
  op_case_tensor(c, "value", &(assay_tensor){ASSAY_INT8, 1, {1}, &one, 1});
  op_case_expect(c, 0, ASSAY_INT8, DIMS(1, 2), I8(1, 1));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_INT64, DIMS(0), EMPTY); /* no dimensions: a scalar */
  op_case_expect(c, 0, ASSAY_INT8, SCALAR, I8(1));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_INT64, DIMS(1), I64(-2));
  op_case_fails(c, ASSAY_SHAPE_CONFLICT, "is -2");
  op_case_free(c);
}

void test_op_EyeLike_9(void **state) {
  (void)state;
  struct op_case *c = op_case_new("EyeLike", "", 9);
  op_case_input(c, ASSAY_INT32, DIMS(2, 3), I32(9, 9, 9, 9, 9, 9));
  op_case_expect(c, 0, ASSAY_INT32, DIMS(2, 3), I32(1, 0, 0, 0, 1, 0));
  op_case_int(c, "k", -1);
  op_case_int(c, "dtype", ASSAY_FLOAT64);
  op_case_expect(c, 0, ASSAY_FLOAT64, DIMS(2, 3), F64(0, 0, 0, 1, 0, 0));
  op_case_free(c);
}

void test_op_Range_11(void **state) {
  (void)state;
  struct op_case *c = op_case_new("Range", "", 11);
  op_case_input(c, ASSAY_INT32, SCALAR, I32(10));
  op_case_input(c, ASSAY_INT32, SCALAR, I32(4));
  op_case_input(c, ASSAY_INT32, SCALAR, I32(-2));
  op_case_expect(c, 0, ASSAY_INT32, DIMS(3), I32(10, 8, 6));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, SCALAR, F32(0.5F));
  op_case_input(c, ASSAY_FLOAT32, SCALAR, F32(2));
  op_case_input(c, ASSAY_FLOAT32, SCALAR, F32(0.5F));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(3), F32(0.5F, 1, 1.5F));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_INT64, SCALAR, I64(1));
  op_case_input(c, ASSAY_INT64, SCALAR, I64(1));
  op_case_input(c, ASSAY_INT64, SCALAR, I64(1));
  op_case_expect(c, 0, ASSAY_INT64, DIMS(0), EMPTY);
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_INT64, SCALAR, I64(1));
  op_case_input(c, ASSAY_INT64, SCALAR, I64(5));
  op_case_input(c, ASSAY_INT64, SCALAR, I64(0));
  op_case_fails(c, ASSAY_NODE_INVALID, "has no end");
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, SCALAR, F32(0));
  op_case_input(c, ASSAY_FLOAT32, SCALAR, F32(NAN));
  op_case_input(c, ASSAY_FLOAT32, SCALAR, F32(1));
  op_case_fails(c, ASSAY_NODE_INVALID, "has no end");
  op_case_free(c);
}

void test_op_Trilu_14(void **state) {
  (void)state;
  struct op_case *c = op_case_new("Trilu", "", 14);
  op_case_input(c, ASSAY_INT8, DIMS(2, 3), I8(1, 2, 3, 4, 5, 6));
  op_case_expect(c, 0, ASSAY_INT8, DIMS(2, 3), I8(1, 2, 3, 0, 5, 6));
  op_case_input(c, ASSAY_INT64, SCALAR, I64(1));
  op_case_expect(c, 0, ASSAY_INT8, DIMS(2, 3), I8(0, 2, 3, 0, 0, 6));
  op_case_int(c, "upper", 0);
  op_case_expect(c, 0, ASSAY_INT8, DIMS(2, 3), I8(1, 2, 0, 4, 5, 6));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_INT8, DIMS(2, 3), I8(1, 2, 3, 4, 5, 6));
  op_case_input(c, ASSAY_INT64, SCALAR, I64(INT64_MIN));
  op_case_expect(c, 0, ASSAY_INT8, DIMS(2, 3), I8(0, 0, 0, 0, 0, 0));
  op_case_free(c);
}

void test_op_NonZero_9(void **state) {
  (void)state;
  struct op_case *c = op_case_new("NonZero", "", 13);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 2), F32(NAN, -0.0F, 0, 2)); /* NaN is not zero, -0 is */
  op_case_expect(c, 0, ASSAY_INT64, DIMS(2, 2), I64(0, 1, 0, 1));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_BOOL, DIMS(2), BOOL(0, 0));
  op_case_expect(c, 0, ASSAY_INT64, DIMS(1, 0), EMPTY);
  op_case_free(c);
}
