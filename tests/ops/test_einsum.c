/* Einsum: products, diagonals, implied outputs, the ellipsis, several inputs, what contradicts. */
#include "op_fixture.h"

static struct op_case *with_equation(const char *equation) {
  struct op_case *c = op_case_new("Einsum", "", 12);
  op_case_string(c, "equation", equation);
  return c;
}

void test_op_Einsum_12(void **state) {
  (void)state;
  struct op_case *c = with_equation("ij, jk -> ik");
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 3), F32(1, 2, 3, 4, 5, 6));
  op_case_input(c, ASSAY_FLOAT32, DIMS(3, 2), F32(7, 8, 9, 10, 11, 12));
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, 2), F32(58, 64, 139, 154));
  op_case_string(c, "equation", "ij,jk"); /* labels that stand once, in alphabetical order */
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, 2), F32(58, 64, 139, 154));
  op_case_string(c, "equation", "ij,ki->jk"); /* 2 against 2: i; j 3, k 3 */
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(3, 3), F32(39, 49, 59, 54, 68, 82, 69, 87, 105));
  op_case_string(c, "equation", "ij,kj->ik");
  op_case_fails(c, ASSAY_SHAPE_CONFLICT, "3 long in one place and 2");
  op_case_string(c, "equation", "ij->i");
  op_case_fails(c, ASSAY_NODE_INVALID, "number of inputs");
  op_case_string(c, "equation", "ij,jk->iz");
  op_case_fails(c, ASSAY_NODE_INVALID, "in no input");
  op_case_string(c, "equation", "ij,jk->ii");
  op_case_fails(c, ASSAY_NODE_INVALID, "twice");
  op_case_string(c, "equation", "i1,jk");
  op_case_fails(c, ASSAY_NODE_INVALID, "not a letter");
  op_case_string(c, "equation", "i,jk");
  op_case_fails(c, ASSAY_SHAPE_CONFLICT, "rank 2");
  op_case_free(c);
  /* Batches by ellipsis, one of them broadcast. */
  c = with_equation("...ij,...jk->...ik");
  op_case_input(c, ASSAY_FLOAT64, DIMS(2, 1, 2), F64(1, 2, 3, 4));
  op_case_input(c, ASSAY_FLOAT64, DIMS(2, 1), F64(10, 1));
  op_case_expect(c, 0, ASSAY_FLOAT64, DIMS(2, 1, 1), F64(12, 34));
  op_case_free(c);
  /* One input: sum, transpose, diagonal. */
  c = with_equation("ij->");
  op_case_input(c, ASSAY_FLOAT32, DIMS(2, 2), F32(1, 2, 3, 4));
  op_case_expect(c, 0, ASSAY_FLOAT32, SCALAR, F32(10));
  op_case_string(c, "equation", "ij->ji");
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2, 2), F32(1, 3, 2, 4));
  op_case_string(c, "equation", "ii->i");
  op_case_expect(c, 0, ASSAY_FLOAT32, DIMS(2), F32(1, 4));
  op_case_free(c);
  /* Three inputs; integers wrap. */
  c = with_equation("i,i,i->");
  op_case_input(c, ASSAY_INT32, DIMS(2), I32(2, 3));
  op_case_input(c, ASSAY_INT32, DIMS(2), I32(5, 7));
  op_case_input(c, ASSAY_INT32, DIMS(2), I32(11, 13));
  op_case_expect(c, 0, ASSAY_INT32, SCALAR, I32(383));
  op_case_free(c);
  /* Nothing to add up is 0; a chain is fused: the rounding error of the first product survives. */
  c = with_equation("i,i->");
  op_case_input(c, ASSAY_FLOAT32, DIMS(0), EMPTY);
  op_case_input(c, ASSAY_FLOAT32, DIMS(0), EMPTY);
  op_case_expect(c, 0, ASSAY_FLOAT32, SCALAR, F32(0));
  op_case_clear_inputs(c);
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(-1, 1 + 0x1p-12F));
  op_case_input(c, ASSAY_FLOAT32, DIMS(2), F32(1, 1 - 0x1p-12F));
  op_case_expect(c, 0, ASSAY_FLOAT32, SCALAR, F32(-0x1p-24F));
  op_case_free(c);
}
