/* Through the whole gate: decoding that differs from what the source decoded, with what explains it; rotations;
 * ensembles. Every fault is one number or one word away from what is right. */
#include <math.h>
#include <string.h>

#include "corpus/run_folder.h"
#include "policy_builder.h"
#include "support.h"

/* A sequence of 3 steps: y [1, 2] each, qpos with 2 frames of 2, decoded by `decode`, with the arrays below. */
struct setup {
  const char *decode, *array, *shape, *extra;
  const float *decoded;
};
static const float y[6] = {0.1F, 0.2F, -0.3F, 0.4F, 0.5F, -0.6F};
static const float qpos[12] = {1, 2, 3, 4, 11, 12, 13, 14, 21, 22, 23, 24}; /* per step: first frame, last frame */

static struct gate_result *judge(const struct setup *setup) {
  char *folder = temp_folder(), contract[2000];
  struct run_writer *writer;
  snprintf(
      contract, sizeof contract,
      "assay: 1\npolicy: toy\nmodel: policy.onnx\ninputs:\n  - {name: qpos, dtype: float32, shape: [1, 2, 2], history: "
      "{axis: 1, max: 2}}\noutputs:\n  - name: y\n    dtype: float32\n    shape: [1, 2]\n    decode: %s\n%s"
      "    components: [{names: [hip, knee], unit: rad, tolerance: {max: 0.001}}]\n",
      setup->decode, setup->extra != NULL ? setup->extra : "");
  temp_write(folder, "contract.yaml", contract);
  temp_write(folder, "stats.json",
             "{\"action\": {\"mean\": [5, 6], \"std\": [26.4, 10]}, \"state\": {\"mean\": [1, 2], \"std\": [3, 4]}}");
  temp_write(folder, "gate.yaml", policy_recorded_gate);
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  build_f32(builder, "inputs/qpos", "3,1,2,2", qpos);
  build_f32(builder, "outputs/y", "3,1,2", y);
  build_f32(builder, setup->array, setup->shape, setup->decoded);
  build_case(builder, &(struct corpus_case){.id = "walk", .sequence = true});
  build_done(builder);
  assay_tensor answer = test_tensor(ASSAY_FLOAT32, "3,1,2", y);
  ASSERT_OK(run_writer_open(temp_path(folder, "candidate"), &writer));
  ASSERT_OK(run_writer_case(writer, "walk", &(struct npz_entry){"outputs/y", &answer}, 1));
  ASSERT_OK(run_writer_commit(writer));
  tensor_free(&answer);
  struct gate_result *result = policy_verify(folder);
  temp_free(folder);
  return result;
}

static void passes(const struct setup *setup) {
  struct gate_result *result = judge(setup);
  assert_int_equal(gate_reasons(result, ASSAY_DECODE_DRIFT), 0);
  expect_verdict(result, VERDICT_PASS, 0);
  gate_result_free(result);
}

/* Step -1: any, where several are equally far but for rounding. */
static void drifts(const struct setup *setup, const char *component, int64_t step, int64_t element, const char *hint) {
  struct gate_result *result = judge(setup);
  const struct gate_reason *found = NULL;
  for (int32_t i = 0; i < result->reasons.count && found == NULL; i++) {
    found = result->reasons.items[i].code == ASSAY_DECODE_DRIFT ? &result->reasons.items[i] : NULL;
  }
  assert_non_null(found);
  if (strcmp(found->component, component) != 0 || (step >= 0 && found->step != step) || found->element != element ||
      strstr(found->sentence, hint) == NULL) {
    fail_msg("expected '%s', step %d, element %d, \"%s\"; got '%s', step %d, element %d: %s", component, (int)step,
             (int)element, hint, found->component, (int)found->step, (int)found->element, found->sentence);
  }
  expect_verdict(result, VERDICT_REJECT, 1);
  gate_result_free(result);
}

#define LAST "[{add: {input: qpos, frame: last}}]"
#define STATISTICS "[{statistics: {file: stats.json, key: action}}]"

static void an_action_anchored_on_another_frame_is_named(void **state) {
  (void)state;
  const float last[3] = {3.1F, 12.7F, 23.5F}, first[3] = {1.1F, 10.7F, 21.5F}, alone[3] = {0.1F, -0.3F, 0.5F};
  const float other[3] = {4.1F, 13.7F, 24.5F};
  passes(&(struct setup){LAST, "decoded/hip", "3,1", NULL, last});
  drifts(&(struct setup){LAST, "decoded/hip", "3,1", NULL, first}, "hip", -1, 0,
         "anchored on frame 0 (the first) of 'qpos', the contract on frame 1 (the last)");
  drifts(&(struct setup){"[{add: {input: qpos, frame: first}}]", "decoded/hip", "3,1", NULL, last}, "hip", -1, 0,
         "anchored on frame 1 (the last) of 'qpos', the contract on frame 0 (the first)");
  drifts(&(struct setup){LAST, "decoded/hip", "3,1", NULL, alone}, "hip", 2, 0, "the source did not decode it");
  drifts(&(struct setup){LAST, "decoded/hip", "3,1", NULL, other}, "hip", -1, 0,
         "the source added element 1 of 'qpos'");
}

/* The next step's pose; what comes after the last step is not recorded, so that two steps must tell. */
static void an_action_anchored_on_another_step_is_named(void **state) {
  (void)state;
  const float next[3] = {13.1F, 22.7F, 0};
  struct gate_result *result = judge(&(struct setup){LAST, "decoded/hip", "3,1", NULL, next});
  assert_int_equal(gate_reasons(result, ASSAY_DECODE_DRIFT), 1);
  assert_non_null(strstr(result->reasons.items[0].sentence, "of the step after"));
  gate_result_free(result);
}

static void a_normaliser_that_is_inert_doubled_or_another_is_named(void **state) {
  (void)state;
  const float right[3] = {7.64F, -2.92F, 18.2F}, inert[3] = {0.1F, -0.3F, 0.5F};
  const float twice[3] = {206.696F, -72.088F, 485.48F}, stale[3] = {1.3F, 0.1F, 2.5F};
  const float backwards[3] = {-0.18560606F, -0.20075758F, -0.17045455F};
  const float degrees[3] = {437.73976F, -167.30368F, 1042.7832F};
  passes(&(struct setup){STATISTICS, "decoded/hip", "3,1", NULL, right});
  drifts(&(struct setup){STATISTICS, "decoded/hip", "3,1", NULL, inert}, "hip", 2, 0, "output looks normalised");
  drifts(&(struct setup){STATISTICS, "decoded/hip", "3,1", NULL, twice}, "hip", 2, 0,
         "applying 'statistics' (step 1 of its decoding) twice explains all of it");
  drifts(&(struct setup){STATISTICS, "decoded/hip", "3,1", NULL, stale}, "hip", 2, 0,
         "the statistics 'state.mean' of stats.json explain all of it; the contract names 'action.mean'");
  drifts(&(struct setup){STATISTICS, "decoded/hip", "3,1", NULL, backwards}, "hip", 2, 0, "normalised where");
  drifts(&(struct setup){STATISTICS, "decoded/hip", "3,1", NULL, degrees}, "hip", 2, 0, "degrees against radians");
}

/* Of a chunk the step within it is named too: the element alone leaves it to the reader to divide. */
static void the_step_of_a_chunk_is_named(void **state) {
  (void)state;
  char *folder = temp_folder();
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  static const float decoded[3] = {0.1F, -0.3F, 0.9F}; /* of the hip; the last should be 0.5 */
  temp_write(folder, "contract.yaml",
             "assay: 1\npolicy: toy\nmodel: policy.onnx\ninputs: [{name: x, dtype: float32, shape: [1]}]\n"
             "outputs:\n  - {name: y, dtype: float32, shape: [1, 3, 2], axes: [batch, horizon, component], unit: rad,\n"
             "     tolerance: {max: 0.001}, execute: {steps: 3}, components: [{names: [hip, knee]}]}\n");
  temp_write(folder, "gate.yaml", policy_recorded_gate);
  build_f32(builder, "inputs/x", "1", y);
  build_f32(builder, "outputs/y", "1,3,2", y);
  build_f32(builder, "decoded/hip", "1,3", decoded);
  build_case(builder, &(struct corpus_case){.id = "one"});
  build_done(builder);
  assay_tensor answer = test_tensor(ASSAY_FLOAT32, "1,3,2", y);
  struct run_writer *writer;
  ASSERT_OK(run_writer_open(temp_path(folder, "candidate"), &writer));
  ASSERT_OK(run_writer_case(writer, "one", &(struct npz_entry){"outputs/y", &answer}, 1));
  ASSERT_OK(run_writer_commit(writer));
  tensor_free(&answer);
  struct gate_result *result = policy_verify(folder);
  assert_int_equal(gate_reasons(result, ASSAY_DECODE_DRIFT), 1);
  assert_string_equal(result->reasons.items[0].component, "hip");
  assert_non_null(strstr(result->reasons.items[0].sentence,
                         "(step 0, step 2 of its chunk, element 4: recorded 0.899999976, made 0.5)"));
  gate_result_free(result);
  temp_free(folder);
}

static void a_step_that_was_lost_is_named(void **state) {
  (void)state;
  const float unclipped[3] = {0.2F, -0.6F, 1};
  drifts(&(struct setup){"[{scale: 2}, {clip: [-0.5, 0.5]}]", "decoded/hip", "3,1", NULL, unclipped}, "hip", 2, 0,
         "leaving out 'clip' (step 2 of its decoding) explains all of it");
}

static void motors_in_another_order_are_named(void **state) {
  (void)state;
  const float tensor_order[6] = {0.1F, 0.2F, -0.3F, 0.4F, 0.5F, -0.6F};
  const float hardware[6] = {0.2F, 0.1F, 0.4F, -0.3F, -0.6F, 0.5F};
  static const char order[] = "    hardware_order: [knee, hip]\n";
  passes(&(struct setup){"[{scale: 1}]", "decoded/y", "3,1,2", NULL, tensor_order});
  passes(&(struct setup){"[{scale: 1}]", "decoded/y", "3,1,2", order, hardware});
  drifts(&(struct setup){"[{scale: 1}]", "decoded/y", "3,1,2", NULL, hardware}, "hip", 2, 0,
         "permutation (1,0) explains all");
  drifts(&(struct setup){"[{scale: 1}]", "decoded/y", "3,1,2", order, tensor_order}, "hip", 2, 0,
         "permutation (0,1) explains all");
}

/* --- what is compared ------------------------------------------------------------------- */

/* One output of a sequence, answered twice. */
static struct gate_result *compare(const char *output, const char *shape, const float *expected, const float *actual) {
  char *folder = temp_folder(), contract[2000];
  struct run_writer *writer;
  snprintf(
      contract, sizeof contract,
      "assay: 1\npolicy: toy\nmodel: policy.onnx\ninputs:\n  - {name: x, dtype: float32, shape: [1]}\noutputs: [{name: "
      "y, dtype: float32, %s}]\n",
      output);
  temp_write(folder, "contract.yaml", contract);
  temp_write(folder, "gate.yaml", policy_recorded_gate);
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  build_f32(builder, "inputs/x", "3,1", (const float[]){1, 2, 3});
  build_f32(builder, "outputs/y", shape, expected);
  build_case(builder, &(struct corpus_case){.id = "only", .sequence = true});
  build_done(builder);
  assay_tensor answer = test_tensor(ASSAY_FLOAT32, shape, actual);
  ASSERT_OK(run_writer_open(temp_path(folder, "candidate"), &writer));
  ASSERT_OK(run_writer_case(writer, "only", &(struct npz_entry){"outputs/y", &answer}, 1));
  ASSERT_OK(run_writer_commit(writer));
  tensor_free(&answer);
  struct gate_result *result = policy_verify(folder);
  temp_free(folder);
  return result;
}

static const char turn[] =
    "shape: [4], components: [{name: turn, names: [a, b, c, d], compare: quaternion, order: wxyz, unit: rad, "
    "tolerance: "
    "{max: 0.01}}]";

static void q_and_minus_q_are_one_rotation(void **state) {
  (void)state;
  const float golden[12] = {1, 0, 0, 0, 0.6F, 0.8F, 0, 0, 0, 0, 0, 1};
  float negative[12], turned[12], none[12];
  for (int i = 0; i < 12; i++) {
    negative[i] = -golden[i];
    turned[i] = none[i] = golden[i];
  }
  struct gate_result *result = compare(turn, "3,4", golden, negative);
  expect_verdict(result, VERDICT_PASS, 0);
  assert_true(rung_component(&result->rungs[0], "turn")->drift.physical.max < 1e-7);
  assert_true(rung_component(&result->rungs[0], "turn")->drift.raw.max > 1.9); /* raw numbers stay numbers */
  gate_result_free(result);
  turned[4] = 0.8F;
  turned[5] = 0.6F;
  result = compare(turn, "3,4", golden, turned);
  expect_verdict(result, VERDICT_REJECT, 1);
  assert_true(fabs(rung_component(&result->rungs[0], "turn")->drift.physical.max - 0.5675882) < 1e-6);
  assert_int_equal(rung_reasons(&result->rungs[0], ASSAY_DRIFT_MAX), 1);
  gate_result_free(result);
  none[8] = none[9] = none[10] = none[11] = 0;
  result = compare(turn, "3,4", golden, none);
  expect_verdict(result, VERDICT_REJECT, 1);
  assert_int_equal(rung_reasons(&result->rungs[0], ASSAY_NONFINITE), 1);
  gate_result_free(result);
  result = compare(turn, "3,4", none, none);
  expect_verdict(result, VERDICT_BLOCKED, 2);
  assert_int_equal(gate_reasons(result, ASSAY_INVALID_GOLDEN), 1);
  gate_result_free(result);
}

static void pi_and_minus_pi_are_one_angle(void **state) {
  (void)state;
  static const char angle[] =
      "shape: [1], components: [{name: yaw, compare: angle, unit: rad, tolerance: {max: 0.01}}]";
  static const char plain[] = "shape: [1], components: [{name: yaw, unit: rad, tolerance: {max: 0.01}}]";
  const float golden[3] = {3.1415927F, -3.14F, 0}, rung[3] = {-3.1415927F, 3.14F, 6.2831855F};
  struct gate_result *result = compare(angle, "3,1", golden, rung);
  expect_verdict(result, VERDICT_PASS, 0);
  assert_int_equal(rung_component(&result->rungs[0], "yaw")->drift.physical.sign_flips, 0);
  gate_result_free(result);
  result = compare(plain, "3,1", golden, rung);
  expect_verdict(result, VERDICT_REJECT, 1);
  gate_result_free(result);
}

/* kp times a position, kd times a velocity; degrees as radians. */
static void drift_is_a_torque_by_the_gain_of_its_unit(void **state) {
  (void)state;
  static const char gains[] =
      "shape: [4], hardware_order: [slide, arm, wheel, lift], components: [{name: wheel, unit: rad/s, pd: {kp: 0, kd: "
      "2}, "
      "tolerance: {max: 9}}, {name: arm, unit: rad, pd: {kp: 40, kd: 1}, tolerance: {max: 9}}, {name: lift, unit: deg, "
      "pd: "
      "{kp: 180, kd: 1}, tolerance: {max: 9}}, {name: slide, unit: m, pd: {kp: 100, kd: 1}, tolerance: {max: 9}}]";
  const float golden[12] = {0}, rung[12] = {0.5F, 0.25F, 1, 0.5F};
  struct gate_result *result = compare(gains, "3,4", golden, rung);
  static const struct {
    const char *name, *gain, *unit;
    double max, mean;
    int32_t motor;
  } expected[] = {{"wheel", "kd", "N·m", 1, 1.0 / 3, 2},
                  {"arm", "kp", "N·m", 10, 10.0 / 3, 1},
                  {"lift", "kp", "N·m", 3.14159265358979, 3.14159265358979 / 3, 3},
                  {"slide", "kp", "N", 50, 50.0 / 3, 0}};
  expect_verdict(result, VERDICT_PASS, 0);
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    const struct component_result *component = rung_component(&result->rungs[0], expected[i].name);
    assert_string_equal(component->torque.gain, expected[i].gain);
    assert_string_equal(component->torque.unit, expected[i].unit);
    assert_true(fabs(component->torque.max - expected[i].max) < 1e-12);
    assert_true(fabs(component->torque.mean - expected[i].mean) < 1e-12);
    assert_int_equal(component->motor, expected[i].motor);
  }
  gate_result_free(result);
}

/* --- what is executed -------------------------------------------------------------------- */

#define CHUNK "shape: [2, 1], axes: [horizon, component], components: [{name: a, unit: rad, tolerance: {max: 0.01}}]"

static void a_queue_decides_by_the_answers_that_it_uses(void **state) {
  (void)state;
  const float golden[6] = {0, 0, 0, 0, 0, 0}, unused[6] = {0, 0, 9, 9, 0, 0}, used[6] = {0, 0, 0, 0, 0, 9};
  struct gate_result *result = compare(CHUNK ", execute: {queue: 2}", "3,2,1", golden, unused);
  expect_verdict(result, VERDICT_PASS, 0);
  const struct component_result *a = rung_component(&result->rungs[0], "a");
  assert_int_equal(a->drift.physical.n, 4);
  assert_int_equal(a->rest.physical.n, 2);
  assert_true(a->rest.physical.max == 9);
  gate_result_free(result);
  result = compare(CHUNK ", execute: {queue: 2}", "3,2,1", golden, used);
  expect_verdict(result, VERDICT_REJECT, 1);
  gate_result_free(result);
}

static void an_ensemble_decides_by_its_blend(void **state) {
  (void)state;
  const float golden[6] = {0, 0, 0, 0, 0, 0}, off[6] = {0, 1, 0, 0, 0, 0};
  struct gate_result *result = compare(CHUNK ", execute: {ensemble: {m: 0, steps: 2}}", "3,2,1", golden, off);
  expect_verdict(result, VERDICT_REJECT, 1);
  const struct component_result *a = rung_component(&result->rungs[0], "a");
  assert_int_equal(a->drift.physical.n, 3);
  assert_true(a->drift.physical.max == 0.5); /* half of what one of two answers is off by */
  assert_int_equal(a->drift.physical.worst.step, 1);
  assert_true(a->rest.physical.max == 1);
  gate_result_free(result);
  result = compare(CHUNK ", execute: {ensemble: {m: 0, steps: 1}}", "3,2,1", golden, off);
  expect_verdict(result, VERDICT_PASS, 0);
  gate_result_free(result);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_action_anchored_on_another_frame_is_named),
      cmocka_unit_test(an_action_anchored_on_another_step_is_named),
      cmocka_unit_test(a_normaliser_that_is_inert_doubled_or_another_is_named),
      cmocka_unit_test(the_step_of_a_chunk_is_named),
      cmocka_unit_test(a_step_that_was_lost_is_named),
      cmocka_unit_test(motors_in_another_order_are_named),
      cmocka_unit_test(q_and_minus_q_are_one_rotation),
      cmocka_unit_test(pi_and_minus_pi_are_one_angle),
      cmocka_unit_test(drift_is_a_torque_by_the_gain_of_its_unit),
      cmocka_unit_test(a_queue_decides_by_the_answers_that_it_uses),
      cmocka_unit_test(an_ensemble_decides_by_its_blend),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
