/* Pad in all modes and all ways of saying it. */
#include "op_fixture.h"

static void pad_mode_gives(const char *mode, int64_t begin, int64_t end, int n, const void *values, size_t bytes) {
  struct op_case *c = op_case_new("Pad", "", 19);
  op_case_string(c, "mode", mode);
  op_case_input(c, ASSAY_FLOAT32, DIMS(3), F32(1, 2, 3));
  op_case_input(c, ASSAY_INT64, DIMS(2), I64(begin, end));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(n), values, bytes);
  op_case_free(c);
}

void test_op_Pad_1(void **state) {
  (void)state;
  pad_mode_gives("constant", 1, 2, 6, F32(0, 1, 2, 3, 0, 0));
  pad_mode_gives("edge", 1, 2, 6, F32(1, 1, 2, 3, 3, 3));
  pad_mode_gives("reflect", 2, 1, 6, F32(3, 2, 1, 2, 3, 2));
  pad_mode_gives("wrap", 1, 2, 6, F32(3, 1, 2, 3, 1, 2));
  pad_mode_gives("constant", -1, 1, 3, F32(2, 3, 0)); /* negative pads cut */
  pad_mode_gives("constant", -3, 0, 0, EMPTY);

  struct op_case *c = op_case_new("Pad", "", 18); /* some axes, and a value */
  op_case_input(c, ASSAY_INT32, DIMS(2, 1), I32(1, 2));
  op_case_input(c, ASSAY_INT64, DIMS(2), I64(0, 1));
  op_case_input(c, ASSAY_INT32, SCALAR, I32(7));
  op_case_input(c, ASSAY_INT64, DIMS(1), I64(-1));
  op_case_expect(c, 0, ASSAY_INT32, DIMS(2, 2), I32(1, 7, 2, 7));
  op_case_free(c);

  c = op_case_new("Pad", "", 2);
  op_case_ints(c, "pads", (const int64_t[]){1, 0}, 2);
  op_case_float(c, "value", 0.5F);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1), F32(2));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2), F32(0.5F, 2));
  op_case_free(c);

  c = op_case_new("Pad", "", 18); /* wrap came with 19 */
  op_case_string(c, "mode", "wrap");
  op_case_input(c, ASSAY_FLOAT32, DIMS(1), F32(2));
  op_case_input(c, ASSAY_INT64, DIMS(2), I64(1, 0));
  op_case_fails(c, ASSAY_NODE_INVALID, "mode of Pad is 'wrap'");
  op_case_free(c);
  c = op_case_new("Pad", "", 18);
  op_case_input(c, ASSAY_FLOAT32, DIMS(1), F32(2));
  op_case_input(c, ASSAY_INT64, DIMS(2), I64(-2, 0));
  op_case_fails(c, ASSAY_SHAPE_CONFLICT, "no valid size");
  op_case_free(c);
}
