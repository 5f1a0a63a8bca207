/* One runtime under two names counts as one: it is said, and agreement with itself passes no gate. */
#include <string.h>

#include "gate/same_backend.h"
#include "policy_builder.h"
#include "support.h"

static const float rows[3][3] = {{0.12F, -0.04F, 0.7F}, {0.5F, 0.25F, 0.1F}, {-0.3F, 0.9F, 0.9F}};

static struct gate_result *verify(const char *rungs) {
  char *folder = policy_folder(), gate[1024];
  policy_golden(folder, rows, 3);
  snprintf(gate, sizeof gate, "assay: 1\ncontract: contract.yaml\ncorpus: golden\n%s", rungs);
  temp_write(folder, "gate.yaml", gate);
  struct gate_result *result = policy_verify(folder);
  temp_free(folder);
  return result;
}

static void two_names_for_one_runtime_are_said(void **state) {
  (void)state;
  struct gate_result *result = verify(
      "rungs:\n  - {name: a, engine: assay}\n  - {name: b, engine: assay, threads: 2}\n"
      "  - {name: c, engine: assay, precision: fp64}\n");
  assert_int_equal(rung_reasons(result_rung(result, "a"), ASSAY_SAME_BACKEND), 0);
  assert_int_equal(rung_reasons(result_rung(result, "b"), ASSAY_SAME_BACKEND), 1);
  assert_int_equal(rung_reasons(result_rung(result, "c"), ASSAY_SAME_BACKEND), 0);
  expect_verdict(result, VERDICT_PASS, 0); /* the recorded answers are another */
  gate_result_free(result);
}

static void agreement_with_itself_passes_no_gate(void **state) {
  (void)state;
  struct gate_result *result = verify(
      "reference: {rung: a}\nrungs:\n  - {name: a, engine: assay, required: false}\n"
      "  - {name: b, engine: assay}\n");
  assert_int_equal(rung_reasons(result_rung(result, "b"), ASSAY_SAME_BACKEND), 1);
  assert_true(result_rung(result, "b")->is_same_as_reference);
  expect_verdict(result, VERDICT_BLOCKED, 3);
  gate_result_free(result);
}

/* What a runtime does not say makes nothing equal. */
static void silence_is_no_sameness(void **state) {
  (void)state;
  struct rung_result rungs[2] = {{.name = "a", .engine = "process", .has_actual = true},
                                 {.name = "b", .engine = "process", .has_actual = true}};
  struct gate_result result = {.rungs = rungs, .n_rungs = 2};
  for (int i = 0; i < 2; i++) {
    rungs[i].actual = (struct rung_actual){.engine = "process"};
  }
  ASSERT_OK(same_backend_note(&result));
  assert_int_equal(rungs[1].reasons.count, 0);
  for (int i = 0; i < 2; i++) {
    rungs[i].actual.version = "1";
    rungs[i].actual.precision = "fp32";
  }
  ASSERT_OK(same_backend_note(&result));
  assert_int_equal(rungs[1].reasons.count, 1);
  const struct rung_placement here = {"Conv_0", "cuda", NULL}, there = {"Conv_0", "cpu", NULL};
  rungs[0].actual.placement = &here;
  rungs[1].actual.placement = &there;
  rungs[0].actual.n_placement = rungs[1].actual.n_placement = 1;
  ASSERT_OK(same_backend_note(&result));
  assert_int_equal(rungs[1].reasons.count, 1); /* none more */
  arena_free(&result.arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_names_for_one_runtime_are_said),
      cmocka_unit_test(agreement_with_itself_passes_no_gate),
      cmocka_unit_test(silence_is_no_sameness),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
