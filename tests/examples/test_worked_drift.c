/* The example with hand-worked numbers, and its fix: the whole verdict of each. */
#include <math.h>
#include <string.h>

#include "expected_verdict.h"
#include "policy_builder.h"
#include "support.h"

static const char drifted[] = ASSAY_SOURCE_DIR "/examples/worked_drift";
static const char repaired[] = ASSAY_SOURCE_DIR "/examples/worked_drift_fixed";

static void drift_is_rejected_for_the_right_reasons(void **state) {
  (void)state;
  struct gate_result *result = policy_verify(drifted);
  expect_verdict(result, VERDICT_REJECT, 1);
  const struct rung_result *rung = result_rung(result, "candidate");
  const struct drift *action = &rung->outputs[0].raw;
  assert_int_equal(action->n, 3);
  assert_true(fabs(action->max - 0.003) < 1e-8);
  assert_true(fabs(action->mean - 0.007 / 3) < 1e-8);
  assert_int_equal(rung->reasons.count, 2);
  assert_int_equal(rung->reasons.items[0].code, ASSAY_DRIFT_MAX);
  assert_string_equal(rung->reasons.items[0].component, "wrist");
  assert_int_equal(rung->reasons.items[1].code, ASSAY_DECISION_FLIP);
  assert_string_equal(rung->reasons.items[1].component, "gripper");
  expect_whole_verdict(result, "worked_drift");
  gate_result_free(result);
}

static void the_fix_passes(void **state) {
  (void)state;
  struct gate_result *result = policy_verify(repaired);
  expect_verdict(result, VERDICT_PASS, 0);
  expect_whole_verdict(result, "worked_drift_fixed");
  gate_result_free(result);
}

static void the_fix_changes_neither_corpus_nor_tolerances(void **state) {
  (void)state;
  static const char *const same[] = {"contract.yaml", "gate.yaml", "policy.onnx", "golden/corpus.yaml",
                                     "golden/observation.npz"};
  for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
    char a[HASH_TEXT_SIZE], b[HASH_TEXT_SIZE];
    ASSERT_OK(hash_file(temp_path(drifted, same[i]), a));
    ASSERT_OK(hash_file(temp_path(repaired, same[i]), b));
    assert_string_equal(a, b);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(drift_is_rejected_for_the_right_reasons),
      cmocka_unit_test(the_fix_passes),
      cmocka_unit_test(the_fix_changes_neither_corpus_nor_tolerances),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
