/* Chunks of actions: the steps that the robot executes decide, the rest is shown. And decisions over time:
 * hysteresis, and values that must ask more than once. */
#include <math.h>
#include <string.h>

#include "core/text.h"
#include "corpus/run_folder.h"
#include "policy_builder.h"
#include "report/report.h"
#include "support.h"

static const char contract[] =
    "assay: 1\npolicy: toy\nmodel: policy.onnx\ninputs: [{name: x, dtype: float32, shape: [1]}]\noutputs:\n"
    "  - name: action\n    dtype: float32\n    shape: [1, 4, 2]\n    axes: [batch, horizon, component]\n"
    "    execute: {steps: 2}\n"
    "    decisions: [{argmax: {axis: component}}]\n"
    "    components:\n"
    "      - {name: wrist, unit: deg, raw_unit: rad, decode: [{scale: 100}], tolerance: {max: 0.01, space: raw}}\n"
    "      - {name: gripper, unit: score, decision: {threshold: 0.5, at_or_above: close, below: open}}\n";

static struct gate_result *judge(const float *golden, const float *answered) {
  char *folder = temp_folder();
  struct run_writer *writer;
  temp_write(folder, "contract.yaml", contract);
  temp_write(folder, "gate.yaml", policy_recorded_gate);
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  build_f32(builder, "inputs/x", "1", (const float[]){0});
  build_f32(builder, "outputs/action", "1,4,2", golden);
  build_case(builder, &(struct corpus_case){.id = "chunk"});
  build_done(builder);
  assay_tensor action = test_tensor(ASSAY_FLOAT32, "1,4,2", answered);
  ASSERT_OK(run_writer_open(temp_path(folder, "candidate"), &writer));
  ASSERT_OK(run_writer_case(writer, "chunk", &(struct npz_entry){"outputs/action", &action}, 1));
  ASSERT_OK(run_writer_commit(writer));
  tensor_free(&action);
  struct gate_result *result = policy_verify(folder);
  temp_free(folder);
  return result;
}

static const float golden[8] = {0.1F, 0.9F, 0.2F, 0.9F, 0.3F, 0.9F, 0.4F, 0.9F};

static void what_is_not_executed_is_shown_and_does_not_decide(void **state) {
  (void)state;
  const float late[8] = {0.1F, 0.9F, 0.2F, 0.9F, 7, 0.1F, NAN, 0.1F};
  struct gate_result *result = judge(golden, late);
  expect_verdict(result, VERDICT_PASS, 0);
  const struct component_result *wrist = rung_component(&result->rungs[0], "wrist");
  assert_int_equal(wrist->drift.raw.n, 2);
  assert_int_equal(wrist->rest.raw.n, 2);
  assert_true(isnan(wrist->rest.raw.max));
  assert_int_equal(wrist->rest.raw.nan, 1);
  assert_int_equal(result->rungs[0].decisions[0].n, 2);
  assert_int_equal(result->rungs[0].decisions[1].n, 2);
  gate_result_free(result);
}

/* In the table that everybody sees, too. */
static void what_is_not_executed_stands_in_the_table(void **state) {
  (void)state;
  const float late[8] = {0.1F, 0.9F, 0.2F, 0.9F, 0.8F, 0.9F, 0.4F, 0.9F};
  struct gate_result *result = judge(golden, late);
  struct text out = {0};
  ASSERT_OK(report_terminal(result, &(struct terminal_options){0}, &out));
  assert_non_null(strstr(text_string(&out),
                         "\n  not executed, of wrist: at most 0.5 rad, mean 0.25 in 2 numbers; it "
                         "decides nothing\n"));
  assert_null(strstr(text_string(&out), "not executed, of gripper")); /* it does not differ */
  text_free(&out);
  gate_result_free(result);
}

static void what_is_executed_decides(void **state) {
  (void)state;
  const float early[8] = {0.1F, 0.9F, 0.22F, 0.9F, 0.3F, 0.9F, 0.4F, 0.9F};
  const float flipped[8] = {0.1F, 0.9F, 0.2F, 0.4F, 0.3F, 0.9F, 0.4F, 0.9F};
  struct gate_result *result = judge(golden, early);
  expect_verdict(result, VERDICT_REJECT, 1);
  const struct component_result *wrist = rung_component(&result->rungs[0], "wrist");
  assert_int_equal(wrist->drift.raw.worst.element, 2);
  assert_true(wrist->raw_decides);
  assert_true(fabs(wrist->drift.physical.max - 2) < 1e-5); /* a hundred times the raw one */
  assert_string_equal(result->rungs[0].reasons.items[0].unit, "rad");
  gate_result_free(result);
  result = judge(golden, flipped);
  expect_verdict(result, VERDICT_REJECT, 1);
  assert_int_equal(rung_reasons(&result->rungs[0], ASSAY_DECISION_FLIP), 1);
  assert_int_equal(result->rungs[0].decisions[0].cases[0].element, 3);
  gate_result_free(result);
}

/* In raw space: what would be 1 degree is 0.01 rad. */
static void the_tolerance_holds_in_its_own_space(void **state) {
  (void)state;
  const float within[8] = {0.109F, 0.9F, 0.2F, 0.9F, 0.3F, 0.9F, 0.4F, 0.9F};
  struct gate_result *result = judge(golden, within);
  expect_verdict(result, VERDICT_PASS, 0);
  gate_result_free(result);
}

static void expect_sides(const struct decision *decision, const double *values, const int64_t *sides, size_t n) {
  struct decided decided[16];
  assert_true(n <= 16);
  decide_threshold(decision, values, n, ASSAY_FLOAT32, decided);
  for (size_t i = 0; i < n; i++) {
    if (decided[i].answer != sides[i]) {
      fail_msg("value %zu (%g): expected side %d, got %d", i, values[i], (int)sides[i], (int)decided[i].answer);
    }
  }
}

static void hysteresis_keeps_a_side_until_it_is_left_clearly(void **state) {
  (void)state;
  struct decision plain = {.kind = DECISION_THRESHOLD, .threshold = 0.5, .at_or_above = true};
  struct decision slow = plain;
  slow.hysteresis = 0.1;
  const double values[7] = {0.4, 0.55, 0.61, 0.45, 0.41, 0.39, 0.55};
  expect_sides(&plain, values, (const int64_t[]){0, 1, 1, 0, 0, 0, 1}, 7);
  expect_sides(&slow, values, (const int64_t[]){0, 0, 1, 1, 1, 0, 0}, 7);
}

static void a_change_may_have_to_be_asked_for_more_than_once(void **state) {
  (void)state;
  struct decision decision = {.kind = DECISION_THRESHOLD, .threshold = 0.5, .at_or_above = true, .consecutive = 2};
  const double values[8] = {0.1, 0.9, 0.1, 0.9, 0.9, 0.1, 0.1, 0.1};
  expect_sides(&decision, values, (const int64_t[]){0, 0, 0, 0, 1, 1, 0, 0}, 8);
  const double broken[4] = {0.1, 0.9, NAN, 0.9};
  expect_sides(&decision, broken, (const int64_t[]){0, 0, -1, 0}, 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_not_executed_is_shown_and_does_not_decide),
      cmocka_unit_test(what_is_not_executed_stands_in_the_table),
      cmocka_unit_test(what_is_executed_decides),
      cmocka_unit_test(the_tolerance_holds_in_its_own_space),
      cmocka_unit_test(hysteresis_keeps_a_side_until_it_is_left_clearly),
      cmocka_unit_test(a_change_may_have_to_be_asked_for_more_than_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
