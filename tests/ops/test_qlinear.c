/* QLinearMatMul and QLinearConv. */
#include "op_fixture.h"

void test_op_QLinearMatMul_10(void **state) {
  (void)state;
  /* Sums 6, 10 and 18 at 0.25: ties go to the even number before the zero point is added; 255 is the most. */
  struct op_case *c = op_case_new("QLinearMatMul", "", 10);
  op_case_input(c, ASSAY_UINT8, DIMS(1, 2), U8(3, 5));
  op_case_input(c, ASSAY_FLOAT32, SCALAR, F32(0.5f));
  op_case_input(c, ASSAY_UINT8, SCALAR, U8(1));
  op_case_input(c, ASSAY_UINT8, DIMS(2, 4), U8(7, 9, 13, 255, 4, 4, 4, 255));
  op_case_input(c, ASSAY_FLOAT32, SCALAR, F32(0.5f));
  op_case_input(c, ASSAY_UINT8, SCALAR, U8(4));
  op_case_input(c, ASSAY_FLOAT32, SCALAR, F32(1));
  op_case_input(c, ASSAY_UINT8, SCALAR, U8(10));
  op_case_expect(c, 0, ASSAY_UINT8, DIMS(1, 4), U8(12, 12, 14, 255));
  op_case_clear_inputs(c);

  /* A scale for each row of a, for each column of b, for each row of y; types differ. */
  op_case_input(c, ASSAY_INT8, DIMS(2, 1), I8(-100, 50));
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(1, 2));
  op_case_input(c, ASSAY_INT8, DIMS(2), I8(0, 0));
  op_case_input(c, ASSAY_UINT8, DIMS(1, 2), U8(2, 3));
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(1, 0.5f));
  op_case_input(c, ASSAY_UINT8, DIMS(2), U8(1, 0));
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(1, 5));
  op_case_input(c, ASSAY_INT8, DIMS(2), I8(-1, 1));
  op_case_expect(c, 0, ASSAY_INT8, DIMS(2, 2), I8(-101, -128, 21, 31));
  op_case_clear_inputs(c);

  op_case_input(c, ASSAY_INT8, DIMS(1, 1), I8(1));
  op_case_input(c, ASSAY_INT8, SCALAR, I8(1));
  op_case_input(c, ASSAY_INT8, SCALAR, I8(0));
  op_case_input(c, ASSAY_INT8, DIMS(1, 1), I8(1));
  op_case_input(c, ASSAY_FLOAT32, SCALAR, F32(1));
  op_case_input(c, ASSAY_INT8, SCALAR, I8(0));
  op_case_input(c, ASSAY_FLOAT32, SCALAR, F32(1));
  op_case_input(c, ASSAY_INT8, SCALAR, I8(0));
  op_case_fails(c, ASSAY_TYPE_CONFLICT, "input 1 is int8, expected a float type");
  op_case_free(c);
}

void test_op_QLinearConv_10(void **state) {
  (void)state;
  struct op_case *c = op_case_new("QLinearConv", "", 10);
  op_case_ints(c, "pads", (const int64_t[]){1, 0}, 2);
  op_case_input(c, ASSAY_UINT8, DIMS(1, 1, 3), U8(11, 12, 14));
  op_case_input(c, ASSAY_FLOAT32, SCALAR, F32(0.5f));
  op_case_input(c, ASSAY_UINT8, SCALAR, U8(10));
  op_case_input(c, ASSAY_INT8, DIMS(2, 1, 2), I8(1, 3, -100, 100));
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(0.5f, 1));
  op_case_input(c, ASSAY_INT8, DIMS(2), I8(0, 0));
  op_case_input(c, ASSAY_FLOAT32, SCALAR, F32(0.5f));
  op_case_input(c, ASSAY_UINT8, SCALAR, U8(100));
  op_case_input(c, ASSAY_INT32, DIMS(2), I32(1, -150));
  /* Sums with bias: 4, 8, 15 at 0.25/0.5; -50, -50, 50 at 0.5/0.5. */
  op_case_expect(c, 0, ASSAY_UINT8, DIMS(1, 2, 3), U8(102, 104, 108, 50, 50, 150));
  op_case_free(c);

  c = op_case_new("QLinearConv", "", 10);
  op_case_input(c, ASSAY_UINT8, DIMS(1, 1, 2), U8(1, 2));
  op_case_input(c, ASSAY_FLOAT32, SCALAR, F32(1));
  op_case_input(c, ASSAY_UINT8, SCALAR, U8(0));
  op_case_input(c, ASSAY_UINT8, DIMS(1, 1, 1), U8(1));
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(1, 1));
  op_case_input(c, ASSAY_UINT8, SCALAR, U8(0));
  op_case_input(c, ASSAY_FLOAT32, SCALAR, F32(1));
  op_case_input(c, ASSAY_UINT8, SCALAR, U8(0));
  op_case_fails(c, ASSAY_SHAPE_CONFLICT, "input 4 has 2 elements");
  op_case_free(c);
}
