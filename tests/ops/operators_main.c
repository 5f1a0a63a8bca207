/* Runs the test of every row of the table of operators. A row without a test does not link. */
#include "op_fixture.h"

/* The search in the table relies on its order; versions of one operator may not overlap. */
static void test_table_is_sorted(void **state) {
  (void)state;
  for (int32_t i = 0; i < op_count(); i++) {
    const struct op *row = op_at(i), *before = op_at(i - 1);
    assert_true(row->since >= 1 && row->since <= row->until);
    assert_non_null(row->schema.infer);
    assert_non_null(row->prepare);
    assert_non_null(row->run);
    if (before == NULL) {
      continue;
    }
    int order = strcmp(before->name, row->name);
    bool apart = strcmp(before->domain, row->domain) != 0 || before->until < row->since;
    if (order > 0 || (order == 0 && !apart)) {
      print_error("row %s %d stands before %s %d\n", before->name, (int)before->since, row->name, (int)row->since);
      fail();
    }
  }
  assert_null(op_at(op_count()));
}

static void test_unknown_operator(void **state) {
  (void)state;
  const struct op *op;
  struct node node = {.label = "Frobnicate_7", .op_type = "Frobnicate", .domain = "", .opset = 17};
  ASSERT_FAILS(op_find(&node, &op), ASSAY_OPERATOR_UNKNOWN,
               "node 'Frobnicate_7' uses operator 'Frobnicate' of domain 'ai.onnx' at opset 17");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_table_is_sorted),
      cmocka_unit_test(test_unknown_operator),
#define OPERATOR(name, domain, since, until, arithmetic, dtypes, dot_operands, infer, prepare, run) \
  cmocka_unit_test(test_op_##name##_##since),
#include "ops/operators.inc"
#undef OPERATOR
  };
  return cmocka_run_group_tests_name("operators", tests, NULL, NULL);
}
