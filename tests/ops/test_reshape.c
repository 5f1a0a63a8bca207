/* Operators that give the same elements another shape, and those that tell a shape. */
#include "op_fixture.h"

void test_op_Identity_1(void **state) {
  (void)state;
  struct op_case *c = op_case_new("Identity", "", 13);
  /* Bits are kept, those of a signalling NaN too. */
  op_case_input(c, ASSAY_INT32, DIMS(2), I32(INT32_MIN, 7));
  op_case_expect(c, 0, ASSAY_INT32, DIMS(2), I32(INT32_MIN, 7));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT64, DIMS(0, 3), EMPTY);
  op_case_expect(c, 0, ASSAY_FLOAT64, DIMS(0, 3), EMPTY);
  op_case_free(c);
}

void test_op_Dropout_1(void **state) {
  (void)state;
  /* Fault 4(e): in inference nothing is dropped and the mask is all ones. */
  struct op_case *c = op_case_new("Dropout", "", 13);
  op_case_outputs(c, 2);
  op_case_input(c, ASSAY_FLOAT32, DIMS(3), F32(5, 0, -3));
  op_case_input(c, ASSAY_FLOAT32, SCALAR, F32(0.5F));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(3), F32(5, 0, -3));
  op_case_expect(c, 1, ASSAY_BOOL, DIMS(3), BOOL(1, 1, 1));
  op_case_input(c, ASSAY_BOOL, SCALAR, BOOL(1));
  op_case_fails(c, ASSAY_OPERATOR_UNKNOWN, "training mode");
  op_case_free(c);
  c = op_case_new("Dropout", "", 7);
  op_case_outputs(c, 2);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(5, -0.0F));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2), F32(5, -0.0F));
  op_case_expect(c, 1, ASSAY_FLOAT32, DIMS(2), F32(1, 1)); /* before opset 10 the mask is of the input's type */
  op_case_free(c);
}

/* Reshape of 6 elements [2,3] by `shape`. */
static struct op_case *reshape_case(const int64_t *shape, int n) {
  struct op_case *c = op_case_new("Reshape", "", 14);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 3), F32(1, 2, 3, 4, 5, 6));
  op_case_input(c, ASSAY_INT64, DIMS(n), shape, (size_t)n * sizeof *shape);
  return c;
}

void test_op_Reshape_1(void **state) {
  (void)state;
  struct op_case *c = reshape_case((const int64_t[]){0, -1, 1}, 3);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, 3, 1), F32(1, 2, 3, 4, 5, 6));
  op_case_free(c);
  c = reshape_case((const int64_t[]){-1}, 1);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(6), F32(1, 2, 3, 4, 5, 6));
  op_case_free(c);
  c = reshape_case((const int64_t[]){4, -1}, 2);
  op_case_fails(c, ASSAY_SHAPE_CONFLICT, "cannot be spread");
  op_case_free(c);
  c = reshape_case((const int64_t[]){-1, -1}, 2);
  op_case_fails(c, ASSAY_SHAPE_CONFLICT, "one -1 is allowed");
  op_case_free(c);
  c = reshape_case((const int64_t[]){7}, 1);
  op_case_fails(c, ASSAY_SHAPE_CONFLICT, "do not fit");
  op_case_free(c);
  c = reshape_case((const int64_t[]){INT64_MAX, 4}, 2);
  op_case_fails(c, ASSAY_SHAPE_CONFLICT, "more elements than can be counted");
  op_case_free(c);

  /* A shape of no entries makes a scalar; allowzero makes 0 a size. */
  c = op_case_new("Reshape", "", 14);
  op_case_input(c, ASSAY_INT8, DIMS(1, 1), I8(9));
  op_case_input(c, ASSAY_INT64, DIMS(0), EMPTY);
  op_case_expect(c, 0, ASSAY_INT8, SCALAR, I8(9));
  op_case_free(c);
  c = op_case_new("Reshape", "", 14);
  op_case_int(c, "allowzero", 1);
  op_case_input(c, ASSAY_FLOAT32, DIMS(3, 0), EMPTY);
  op_case_input(c, ASSAY_INT64, DIMS(2), I64(0, 5));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(0, 5), EMPTY);
  op_case_free(c);

  c = op_case_new("Reshape", "", 1); /* the shape was an attribute once */
  op_case_ints(c, "shape", (const int64_t[]){3, -1}, 2);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 3), F32(1, 2, 3, 4, 5, 6));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(3, 2), F32(1, 2, 3, 4, 5, 6));
  op_case_free(c);
}

void test_op_Flatten_1(void **state) {
  (void)state;
  struct op_case *c = op_case_new("Flatten", "", 13);
  op_case_input(c, ASSAY_UINT8, DIMS(2, 1, 3), U8(1, 2, 3, 4, 5, 6));
  op_case_expect(c, 0, ASSAY_UINT8, DIMS(2, 3), U8(1, 2, 3, 4, 5, 6));
  op_case_int(c, "axis", 0);
  op_case_expect(c, 0, ASSAY_UINT8, DIMS(1, 6), U8(1, 2, 3, 4, 5, 6));
  op_case_free(c);
  c = op_case_new("Flatten", "", 13);
  op_case_int(c, "axis", -1);
  op_case_input(c, ASSAY_UINT8, DIMS(2, 1, 3), U8(1, 2, 3, 4, 5, 6));
  op_case_expect(c, 0, ASSAY_UINT8, DIMS(2, 3), U8(1, 2, 3, 4, 5, 6));
  op_case_free(c);
  c = op_case_new("Flatten", "", 13);
  op_case_int(c, "axis", 4);
  op_case_input(c, ASSAY_UINT8, DIMS(2, 1, 3), U8(1, 2, 3, 4, 5, 6));
  op_case_fails(c, ASSAY_NODE_INVALID, "axis of Flatten is 4");
  op_case_free(c);
}

void test_op_Squeeze_1(void **state) {
  (void)state;
  struct op_case *c = op_case_new("Squeeze", "", 13);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 2, 1), F32(1, 2));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2), F32(1, 2)); /* no axes: every 1 goes */
  op_case_input(c, ASSAY_INT64, DIMS(1), I64(-1));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 2), F32(1, 2));
  op_case_free(c);
  c = op_case_new("Squeeze", "", 11);
  op_case_ints(c, "axes", (const int64_t[]){1}, 1);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 2, 1), F32(1, 2));
  op_case_fails(c, ASSAY_SHAPE_CONFLICT, "not 1");
  op_case_free(c);
}

void test_op_Unsqueeze_1(void **state) {
  (void)state;
  struct op_case *c = op_case_new("Unsqueeze", "", 13);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(1, 2));
  op_case_input(c, ASSAY_INT64, DIMS(2), I64(-1, 0));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 2, 1), F32(1, 2));
  op_case_free(c);
  c = op_case_new("Unsqueeze", "", 1);
  op_case_ints(c, "axes", (const int64_t[]){1, 1}, 2);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(1, 2));
  op_case_fails(c, ASSAY_NODE_INVALID, "given twice");
  op_case_free(c);
}

void test_op_Shape_1(void **state) {
  (void)state;
  struct op_case *c = op_case_new("Shape", "", 15);
  op_case_input(c, ASSAY_BOOL, DIMS(2, 0, 3), EMPTY);
  op_case_expect(c, 0, ASSAY_INT64, DIMS(3), I64(2, 0, 3));
  op_case_int(c, "start", -2);
  op_case_int(c, "end", 2);
  op_case_expect(c, 0, ASSAY_INT64, DIMS(1), I64(0));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_BOOL, DIMS(1), BOOL(1)); /* clamped at both ends */
  op_case_expect(c, 0, ASSAY_INT64, DIMS(1), I64(1));
  op_case_free(c);
}

void test_op_Size_1(void **state) {
  (void)state;
  struct op_case *c = op_case_new("Size", "", 13);
  op_case_input(c, ASSAY_BOOL, DIMS(2, 3), BOOL(0, 0, 0, 0, 0, 0));
  op_case_expect(c, 0, ASSAY_INT64, SCALAR, I64(6));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 0), EMPTY);
  op_case_expect(c, 0, ASSAY_INT64, SCALAR, I64(0));
  op_case_free(c);
}
