/* Two recorded runs against each other, and a model without a contract. */
#include <math.h>
#include <string.h>

#include "corpus/run_folder.h"
#include "policy_builder.h"
#include "support.h"

static const float rows[2][3] = {{0.12F, -0.04F, 0.7F}, {0.5F, 0.25F, 0.1F}};

static struct gate_result *compare(const char *folder, const char *contract) {
  struct gate_result *result = NULL;
  ASSERT_OK(gate_compare(temp_path(folder, "a"), temp_path(folder, "b"), contract, &result));
  return result;
}

/* How many threads a run had is no difference between answers. */
static void runs_of_other_thread_counts_are_compared(void **state) {
  (void)state;
  char *folder = temp_folder();
  struct run_writer *writer;
  assay_tensor y = test_tensor(ASSAY_FLOAT32, "1", (const float[]){2});
  const char *const threads[] = {"1", "7"};
  for (int i = 0; i < 2; i++) {
    ASSERT_OK(run_writer_open(temp_path(folder, i == 0 ? "a" : "b"), &writer));
    ASSERT_OK(run_writer_fact(writer, "threads", threads[i]));
    ASSERT_OK(run_writer_case(writer, "only", &(struct npz_entry){"outputs/y", &y}, 1));
    ASSERT_OK(run_writer_commit(writer));
  }
  tensor_free(&y);
  struct gate_result *result = compare(folder, NULL);
  expect_verdict(result, VERDICT_PASS, 0);
  assert_int_equal(result->rungs[0].actual.threads, 7);
  gate_result_free(result);
  temp_free(folder);
}

static void the_same_values_pass(void **state) {
  (void)state;
  char *folder = temp_folder();
  policy_run(folder, "a", rows, 2);
  policy_run(folder, "b", rows, 2);
  struct gate_result *result = compare(folder, NULL);
  expect_verdict(result, VERDICT_PASS, 0);
  assert_non_null(strstr(result->heading, "no contract"));
  assert_int_equal(result->rungs[0].elements, 6);
  gate_result_free(result);
  temp_free(folder);
}

static void any_difference_is_shown_and_rejected(void **state) {
  (void)state;
  float moved[2][3];
  char *folder = temp_folder();
  memcpy(moved, rows, sizeof rows);
  moved[1][2] = 0.1000001F;
  policy_run(folder, "a", rows, 2);
  policy_run(folder, "b", (const float(*)[3])moved, 2);
  struct gate_result *result = compare(folder, NULL);
  expect_verdict(result, VERDICT_REJECT, 1);
  const struct drift *action = &rung_component(&result->rungs[0], "action")->drift.raw;
  assert_int_equal(action->worst.element, 2);
  assert_string_equal(result->case_ids[action->worst.case_index], "c1");
  gate_result_free(result);
  temp_free(folder);
}

static void a_contract_brings_tolerances_and_decisions(void **state) {
  (void)state;
  float moved[2][3];
  char *folder = policy_folder();
  memcpy(moved, rows, sizeof rows);
  moved[1][1] += 0.001F;
  policy_run(folder, "a", rows, 2);
  policy_run(folder, "b", (const float(*)[3])moved, 2);
  struct gate_result *result = compare(folder, temp_path(folder, "contract.yaml"));
  expect_verdict(result, VERDICT_PASS, 0);
  assert_string_equal(rung_component(&result->rungs[0], "wrist")->unit, "rad");
  assert_int_equal(result->rungs[0].decisions[0].n, 2);
  gate_result_free(result);
  moved[1][2] = 0.6F;
  policy_run(folder, "b", (const float(*)[3])moved, 2);
  result = compare(folder, temp_path(folder, "contract.yaml"));
  expect_verdict(result, VERDICT_REJECT, 1);
  assert_int_equal(rung_reasons(&result->rungs[0], ASSAY_DECISION_FLIP), 1);
  gate_result_free(result);
  temp_free(folder);
}

static void cases_of_one_side_only_are_rejected(void **state) {
  (void)state;
  for (int longer = 0; longer < 2; longer++) {
    char *folder = temp_folder();
    policy_run(folder, "a", rows, longer ? 1 : 2);
    policy_run(folder, "b", rows, longer ? 2 : 1);
    struct gate_result *result = compare(folder, NULL);
    expect_verdict(result, VERDICT_REJECT, 1);
    assert_int_equal(rung_reasons(&result->rungs[0], longer ? ASSAY_RUN_CASE_EXTRA : ASSAY_RUN_CASE_MISSING), 1);
    gate_result_free(result);
    temp_free(folder);
  }
}

static void nan_is_equal_to_nothing(void **state) {
  (void)state;
  const float nan[2][3] = {{0.12F, NAN, 0.7F}, {0.5F, 0.25F, 0.1F}};
  char *folder = temp_folder();
  policy_run(folder, "a", rows, 2);
  policy_run(folder, "b", nan, 2);
  struct gate_result *result = compare(folder, NULL);
  expect_verdict(result, VERDICT_REJECT, 1);
  assert_int_equal(rung_reasons(&result->rungs[0], ASSAY_NONFINITE), 1);
  gate_result_free(result);
  policy_run(folder, "a", nan, 2);
  result = compare(folder, NULL);
  expect_verdict(result, VERDICT_BLOCKED, 2);
  gate_result_free(result);
  temp_free(folder);
}

static void nothing_against_nothing_is_blocked(void **state) {
  (void)state;
  char *folder = temp_folder();
  policy_run(folder, "a", rows, 0);
  policy_run(folder, "b", rows, 0);
  struct gate_result *result = compare(folder, NULL);
  expect_verdict(result, VERDICT_BLOCKED, 3);
  gate_result_free(result);
  temp_free(folder);
}

static void a_damaged_run_is_wrong_input(void **state) {
  (void)state;
  char *folder = temp_folder();
  struct gate_result *result = NULL;
  policy_run(folder, "a", rows, 2);
  policy_run(folder, "b", rows, 2);
  temp_write(folder, "b/c1.npz", "not an archive");
  ASSERT_FAILS(gate_compare(temp_path(folder, "a"), temp_path(folder, "b"), NULL, &result), ASSAY_RUN_INVALID, "c1");
  ASSERT_FAILS(gate_compare(temp_path(folder, "a"), temp_path(folder, "none"), NULL, &result), ASSAY_FILE_MISSING, "");
  temp_free(folder);
}

/* Steps along a leading axis, as a run over sequences stores them. */
static void sequences_are_compared_step_by_step(void **state) {
  (void)state;
  char *folder = policy_folder();
  const float steps[4][3] = {{0, 0, 0.9F}, {0, 0.5F, 0.9F}, {0, 0, 0.9F}, {0, 0.6F, 0.9F}};
  for (int side = 0; side < 2; side++) {
    struct run_writer *writer;
    assay_tensor action = test_tensor(ASSAY_FLOAT32, "2,1,3", steps[2 * side]);
    ASSERT_OK(run_writer_open(temp_path(folder, side == 0 ? "a" : "b"), &writer));
    ASSERT_OK(run_writer_case(writer, "episode", &(struct npz_entry){"outputs/action", &action}, 1));
    ASSERT_OK(run_writer_commit(writer));
    tensor_free(&action);
  }
  struct gate_result *result = compare(folder, temp_path(folder, "contract.yaml"));
  expect_verdict(result, VERDICT_REJECT, 1);
  assert_int_equal(rung_component(&result->rungs[0], "wrist")->drift.physical.worst.step, 1);
  gate_result_free(result);
  temp_free(folder);
}

static void a_bare_model_gets_drift_and_no_verdict(void **state) {
  (void)state;
  char *folder = policy_folder();
  struct gate_result *result = NULL;
  policy_model(folder, "third.onnx", (const float[]){1.0F / 3, 0.1F, 7}, (const float[]){0.3F, 0, 1});
  ASSERT_OK(gate_run_bare(temp_path(folder, "third.onnx"), 1, NULL, &result));
  expect_verdict(result, VERDICT_BLOCKED, 3);
  assert_string_equal(result->heading, "no contract, no verdict");
  assert_int_equal(gate_reasons(result, ASSAY_NO_CONTRACT), 1);
  assert_int_equal(result->n_rungs, 5);
  double fp32 = rung_component(result_rung(result, "fp32"), "action")->drift.raw.max;
  double bf16 = rung_component(result_rung(result, "bf16"), "action")->drift.raw.max;
  assert_true(fp32 > 0 && fp32 < 1e-5 && bf16 > 100 * fp32);
  for (int32_t r = 0; r < result->n_rungs; r++) {
    assert_int_equal(result->rungs[r].verdict, VERDICT_BLOCKED);
  }
  gate_result_free(result);
  ASSERT_FAILS(gate_run_bare(temp_path(folder, "contract.yaml"), 1, NULL, &result), ASSAY_MODEL_INVALID, "");
  temp_free(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_same_values_pass),
      cmocka_unit_test(runs_of_other_thread_counts_are_compared),
      cmocka_unit_test(any_difference_is_shown_and_rejected),
      cmocka_unit_test(a_contract_brings_tolerances_and_decisions),
      cmocka_unit_test(cases_of_one_side_only_are_rejected),
      cmocka_unit_test(nan_is_equal_to_nothing),
      cmocka_unit_test(nothing_against_nothing_is_blocked),
      cmocka_unit_test(a_damaged_run_is_wrong_input),
      cmocka_unit_test(sequences_are_compared_step_by_step),
      cmocka_unit_test(a_bare_model_gets_drift_and_no_verdict),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
