/* The example whose observation is made of terms, in a closed loop of 50 steps: the whole verdict. */
#include "expected_verdict.h"
#include "policy_builder.h"
#include "support.h"

static void the_loop_is_closed_and_passes(void **state) {
  (void)state;
  struct gate_result *result = policy_verify(ASSAY_SOURCE_DIR "/examples/closed_observation");
  expect_verdict(result, VERDICT_PASS, 0);
  assert_int_equal(result->rungs[0].steps_run, 50);
  expect_whole_verdict(result, "closed_observation");
  gate_result_free(result);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_loop_is_closed_and_passes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
