/* MatMulInteger and ConvInteger. */
#include "op_fixture.h"

void test_op_MatMulInteger_10(void **state) {
  (void)state;
  /* The specification's example. */
  struct op_case *c = op_case_new("MatMulInteger", "", 10);
  op_case_input(c, ASSAY_UINT8, DIMS(4, 3), U8(11, 7, 3, 10, 6, 2, 9, 5, 1, 8, 4, 0));
  op_case_input(c, ASSAY_UINT8, DIMS(3, 2), U8(1, 4, 2, 5, 3, 6));
  op_case_input(c, ASSAY_UINT8, DIMS(1), U8(12));
  op_case_input(c, ASSAY_UINT8, DIMS(1), U8(0));
  op_case_expect(c, 0, ASSAY_INT32, DIMS(4, 2), I32(-38, -83, -44, -98, -50, -113, -56, -128));

  /* A zero point for each row of a, for each column of b; the types may differ. */
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_INT8, DIMS(2, 2), I8(-128, 127, 3, 4));
  op_case_input(c, ASSAY_UINT8, DIMS(2, 2), U8(255, 0, 1, 2));
  op_case_input(c, ASSAY_INT8, DIMS(2), I8(127, -1));
  op_case_input(c, ASSAY_UINT8, DIMS(2), U8(0, 255));
  op_case_expect(c, 0, ASSAY_INT32, DIMS(2, 2), I32(-65025, 65025, 1025, -2285));

  /* Batches with their own zero points; absent ones are 0; a vector on the right. */
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_UINT8, DIMS(2, 1, 2), U8(1, 2, 3, 4));
  op_case_input(c, ASSAY_INT8, DIMS(2), I8(10, -1));
  op_case_input(c, ASSAY_UINT8, DIMS(2, 1, 1), U8(1, 2));
  op_case_expect(c, 0, ASSAY_INT32, DIMS(2, 1), I32(-1, 8));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_UINT8, DIMS(1, 2), U8(1, 2));
  op_case_input(c, ASSAY_INT8, DIMS(2, 1), I8(10, -1));
  op_case_absent(c);
  op_case_input(c, ASSAY_INT8, DIMS(1), I8(-2));
  op_case_expect(c, 0, ASSAY_INT32, DIMS(1, 1), I32(14));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_UINT8, DIMS(1, 2), U8(1, 2));
  op_case_input(c, ASSAY_INT8, DIMS(2, 1), I8(10, -1));
  op_case_input(c, ASSAY_UINT8, DIMS(3), U8(1, 2, 3));
  op_case_fails(c, ASSAY_SHAPE_CONFLICT, "a_zero_point has 3 elements");
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 1), F32(1));
  op_case_input(c, ASSAY_INT8, DIMS(1, 1), I8(1));
  op_case_fails(c, ASSAY_TYPE_CONFLICT, "expected int8 or uint8");
  op_case_free(c);
}

void test_op_ConvInteger_10(void **state) {
  (void)state;
  struct op_case *c = op_case_new("ConvInteger", "", 10);
  op_case_input(c, ASSAY_UINT8, DIMS(1, 1, 3, 3), U8(2, 3, 4, 5, 6, 7, 8, 9, 10));
  op_case_input(c, ASSAY_UINT8, DIMS(1, 1, 2, 2), U8(1, 1, 1, 1));
  op_case_input(c, ASSAY_UINT8, SCALAR, U8(1));
  op_case_expect(c, 0, ASSAY_INT32, DIMS(1, 1, 2, 2), I32(12, 16, 24, 28));
  /* Padding is the zero point, so it adds nothing. */
  op_case_ints(c, "pads", (const int64_t[]){1, 1, 1, 1}, 4);
  op_case_expect(c, 0, ASSAY_INT32, DIMS(1, 1, 4, 4), I32(1, 3, 5, 3, 5, 12, 16, 9, 11, 24, 28, 15, 7, 15, 17, 9));
  op_case_free(c);

  /* A zero point for each filter, two groups. */
  c = op_case_new("ConvInteger", "", 10);
  op_case_int(c, "group", 2);
  op_case_input(c, ASSAY_INT8, DIMS(1, 2, 3), I8(1, 2, 3, -1, -2, -128));
  op_case_input(c, ASSAY_INT8, DIMS(2, 1, 2), I8(1, 2, -128, 127));
  op_case_input(c, ASSAY_INT8, SCALAR, I8(0));
  op_case_input(c, ASSAY_INT8, DIMS(2), I8(1, -128));
  op_case_expect(c, 0, ASSAY_INT32, DIMS(1, 2, 2), I32(2, 3, -510, -32640));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_INT8, DIMS(1, 2, 3), I8(1, 2, 3, -1, -2, -128));
  op_case_input(c, ASSAY_INT8, DIMS(2, 1, 2), I8(1, 2, -128, 127));
  op_case_input(c, ASSAY_INT8, DIMS(2), I8(0, 1));
  op_case_fails(c, ASSAY_SHAPE_CONFLICT, "x_zero_point");
  op_case_free(c);
}
