/* Operators that move elements about by regular patterns. Bits are kept: -0 and NaN pass. */
#include "op_fixture.h"

void test_op_Transpose_1(void **state) {
  (void)state;
  struct op_case *c = op_case_new("Transpose", "", 13);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 3), F32(1, 2, 3, 4, -0.0F, NAN));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(3, 2), F32(1, 4, 2, -0.0F, 3, NAN));
  op_case_ints(c, "perm", (const int64_t[]){0, 2, 1}, 3);
  op_case_fails(c, ASSAY_NODE_INVALID, "perm of Transpose has 3 entries");
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_INT16, DIMS(2, 2, 2), I16(1, 2, 3, 4, 5, 6, 7, 8));
  op_case_expect(c, 0, ASSAY_INT16, DIMS(2, 2, 2), I16(1, 3, 2, 4, 5, 7, 6, 8));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_INT64, DIMS(2, 0, 3), EMPTY);
  op_case_expect(c, 0, ASSAY_INT64, DIMS(2, 3, 0), EMPTY);
  op_case_free(c);
  c = op_case_new("Transpose", "", 13);
  op_case_ints(c, "perm", (const int64_t[]){1, 1}, 2);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 1), F32(1));
  op_case_fails(c, ASSAY_NODE_INVALID, "names an axis twice");
  op_case_free(c);
}

void test_op_Expand_8(void **state) {
  (void)state;
  struct op_case *c = op_case_new("Expand", "", 13);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 1), F32(1, 2));
  op_case_input(c, ASSAY_INT64, DIMS(3), I64(2, 1, 2));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, 2, 2), F32(1, 1, 2, 2, 1, 1, 2, 2));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 1), F32(1, 2)); /* a 1 in the shape keeps what is there */
  op_case_input(c, ASSAY_INT64, DIMS(2), I64(1, 1));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, 1), F32(1, 2));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(1, 2));
  op_case_input(c, ASSAY_INT64, DIMS(1), I64(3));
  op_case_fails(c, ASSAY_SHAPE_CONFLICT, "");
  op_case_free(c);
}

void test_op_Tile_1(void **state) {
  (void)state;
  struct op_case *c = op_case_new("Tile", "", 13);
  op_case_input(c, ASSAY_UINT8, DIMS(1, 2), U8(1, 2));
  op_case_input(c, ASSAY_INT64, DIMS(2), I64(2, 2));
  op_case_expect(c, 0, ASSAY_UINT8, DIMS(2, 4), U8(1, 2, 1, 2, 1, 2, 1, 2));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_UINT8, DIMS(1, 2), U8(1, 2));
  op_case_input(c, ASSAY_INT64, DIMS(2), I64(0, 2));
  op_case_expect(c, 0, ASSAY_UINT8, DIMS(0, 4), EMPTY);
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_UINT8, DIMS(1, 2), U8(1, 2));
  op_case_input(c, ASSAY_INT64, DIMS(2), I64(-1, 2));
  op_case_fails(c, ASSAY_NODE_INVALID, "repeated -1 times");
  op_case_free(c);
  c = op_case_new("Tile", "", 1); /* one count along one axis */
  op_case_input(c, ASSAY_UINT8, DIMS(1, 2), U8(1, 2));
  op_case_input(c, ASSAY_INT64, SCALAR, I64(2));
  op_case_input(c, ASSAY_INT64, SCALAR, I64(1));
  op_case_expect(c, 0, ASSAY_UINT8, DIMS(1, 4), U8(1, 2, 1, 2));
  op_case_free(c);
}

void test_op_Concat_1(void **state) {
  (void)state;
  struct op_case *c = op_case_new("Concat", "", 13);
  op_case_int(c, "axis", -1);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 1), F32(1, 2));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, 1), F32(1, 2)); /* a single operand is fine */
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 2), F32(3, 4, 5, NAN));
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 0), EMPTY);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, 3), F32(1, 3, 4, 2, 5, NAN));
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 1), F32(0));
  op_case_fails(c, ASSAY_SHAPE_CONFLICT, "Concat");
  op_case_free(c);
  c = op_case_new("Concat", "", 3); /* axis was 1 unless said */
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 1), F32(1));
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 1), F32(2));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(1, 2), F32(1, 2));
  op_case_free(c);
  c = op_case_new("Concat", "", 4);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1, 1), F32(1));
  op_case_fails(c, ASSAY_NODE_INVALID, "has no axis");
  op_case_free(c);
}

void test_op_Split_1(void **state) {
  (void)state;
  struct op_case *c = op_case_new("Split", "", 13);
  op_case_outputs(c, 2);
  op_case_int(c, "axis", 1);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 4), F32(1, 2, 3, 4, 5, 6, 7, 8));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, 2), F32(1, 2, 5, 6));
  op_case_expect(c, 1, ASSAY_FLOAT32, DIMS(2, 2), F32(3, 4, 7, 8));
  op_case_input(c, ASSAY_INT64, DIMS(2), I64(1, 3));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, 1), F32(1, 5));
  op_case_expect(c, 1, ASSAY_FLOAT32, DIMS(2, 3), F32(2, 3, 4, 6, 7, 8));
  op_case_free(c);
  c = op_case_new("Split", "", 13);
  op_case_outputs(c, 2);
  op_case_input(c, ASSAY_FLOAT32, DIMS(4), F32(1, 2, 3, 4));
  op_case_input(c, ASSAY_INT64, DIMS(2), I64(1, 2));
  op_case_fails(c, ASSAY_SHAPE_CONFLICT, "sum to 3");
  op_case_free(c);
  c = op_case_new("Split", "", 17); /* an exporter's slip: the attribute came with 18 */
  op_case_outputs(c, 2);
  op_case_int(c, "num_outputs", 2);
  op_case_input(c, ASSAY_FLOAT32, DIMS(4), F32(1, 2, 3, 4));
  op_case_fails(c, ASSAY_NODE_INVALID, "num_outputs");
  op_case_free(c);
  c = op_case_new("Split", "", 18); /* the last part may be smaller */
  op_case_outputs(c, 2);
  op_case_int(c, "num_outputs", 2);
  op_case_input(c, ASSAY_FLOAT32, DIMS(5), F32(1, 2, 3, 4, 5));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(3), F32(1, 2, 3));
  op_case_expect(c, 1, ASSAY_FLOAT32, DIMS(2), F32(4, 5));
  op_case_free(c);
}

/* Slice of 0..4 along one axis. */
static struct op_case *slice_case(int64_t start, int64_t end, int64_t step) {
  struct op_case *c = op_case_new("Slice", "", 13);
  op_case_input(c, ASSAY_FLOAT32, DIMS(5), F32(0, 1, 2, 3, 4));
  op_case_input(c, ASSAY_INT64, DIMS(1), I64(start));
  op_case_input(c, ASSAY_INT64, DIMS(1), I64(end));
  op_case_input(c, ASSAY_INT64, DIMS(1), I64(0));
  op_case_input(c, ASSAY_INT64, DIMS(1), I64(step));
  return c;
}

static void slice_gives(int64_t start, int64_t end, int64_t step, int n, const void *values, size_t bytes) {
  struct op_case *c = slice_case(start, end, step);
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(n), values, bytes);
  op_case_free(c);
}

void test_op_Slice_1(void **state) {
  (void)state;
  slice_gives(1, 3, 1, 2, F32(1, 2));
  slice_gives(-2, INT64_MAX, 1, 2, F32(3, 4));
  slice_gives(-100, 100, 2, 3, F32(0, 2, 4));
  slice_gives(4, -100, -1, 5, F32(4, 3, 2, 1, 0));
  slice_gives(100, 0, -2, 2, F32(4, 2)); /* the end is not taken */
  slice_gives(INT64_MAX, INT64_MIN, -1, 5, F32(4, 3, 2, 1, 0));
  slice_gives(3, 3, 1, 0, EMPTY);
  slice_gives(3, 1, 1, 0, EMPTY);
  struct op_case *c = slice_case(0, 1, 0);
  op_case_fails(c, ASSAY_NODE_INVALID, "a step of Slice is 0");
  op_case_free(c);
  c = op_case_new("Slice", "", 1);
  op_case_ints(c, "starts", (const int64_t[]){0, -1}, 2);
  op_case_ints(c, "ends", (const int64_t[]){1, 9}, 2);
  op_case_input(c, ASSAY_INT8, DIMS(2, 2), I8(1, 2, 3, 4));
  op_case_expect(c, 0, ASSAY_INT8, DIMS(1, 1), I8(2));
  op_case_free(c);
}

void test_op_DepthToSpace_1(void **state) {
  (void)state;
  struct op_case *c = op_case_new("DepthToSpace", "", 13);
  op_case_int(c, "blocksize", 2);
  op_case_input(c, ASSAY_UINT8, DIMS(1, 8, 1, 1), U8(0, 1, 2, 3, 4, 5, 6, 7));
  op_case_expect(c, 0, ASSAY_UINT8, DIMS(1, 2, 2, 2), U8(0, 2, 4, 6, 1, 3, 5, 7));
  op_case_string(c, "mode", "CRD");
  op_case_expect(c, 0, ASSAY_UINT8, DIMS(1, 2, 2, 2), U8(0, 1, 2, 3, 4, 5, 6, 7));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_UINT8, DIMS(1, 3, 1, 1), U8(0, 1, 2));
  op_case_fails(c, ASSAY_SHAPE_CONFLICT, "not a multiple of 4");
  op_case_free(c);
}

void test_op_SpaceToDepth_1(void **state) {
  (void)state;
  struct op_case *c = op_case_new("SpaceToDepth", "", 13);
  op_case_int(c, "blocksize", 2);
  op_case_input(c, ASSAY_UINT8, DIMS(1, 2, 2, 2), U8(0, 2, 4, 6, 1, 3, 5, 7));
  op_case_expect(c, 0, ASSAY_UINT8, DIMS(1, 8, 1, 1), U8(0, 1, 2, 3, 4, 5, 6, 7));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_UINT8, DIMS(1, 1, 2, 4), U8(0, 1, 2, 3, 4, 5, 6, 7));
  op_case_expect(c, 0, ASSAY_UINT8, DIMS(1, 4, 1, 2), U8(0, 2, 1, 3, 4, 6, 5, 7));
  op_case_free(c);
}
