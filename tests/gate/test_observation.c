/* Observations of terms through the whole gate: loops that are closed through a rung's own answers, and stored
 * observations held against what their terms make, where the first difference is named and its cause is tested. */
#include <math.h>
#include <string.h>

#include "model_builder.h"
#include "observed_policy.h"
#include "support.h"

static struct gate_result *verify(enum source_fault fault, enum case_form form, float factor, bool forced) {
  char *folder = observed_folder(fault, form, 50, factor, forced);
  struct gate_result *result = policy_verify(folder);
  temp_free(folder);
  return result;
}

static const struct gate_reason *drift_of(const struct gate_result *result) {
  for (int32_t i = 0; i < result->reasons.count; i++) {
    if (result->reasons.items[i].code == ASSAY_OBSERVATION_DRIFT) {
      return &result->reasons.items[i];
    }
  }
  return NULL;
}

/* However the case is stored, the right policy passes and the loop is the same one. */
static void the_right_observation_passes(void **state) {
  (void)state;
  for (int form = CASE_STORES_BOTH; form <= CASE_STORES_OBSERVATION; form++) {
    for (int forced = 0; forced < 2; forced++) {
      struct gate_result *result = verify(SOURCE_RIGHT, (enum case_form)form, 1, forced);
      expect_verdict(result, VERDICT_PASS, 0);
      assert_int_equal(result->rungs[0].steps_run, 50);
      gate_result_free(result);
    }
  }
}

struct expected {
  enum source_fault fault;
  const char *component; /* input/term */
  int step;
  const char *place, *hint; /* hint NULL: none */
};

static void every_fault_is_named(void **state) {
  (void)state;
  static const struct expected all[] = {
      {SOURCE_SCALE_LOST, "obs/joint_pos", 0,
       "first at step 0, term 'joint_pos', element 'hip', 1 step back in the history",
       "the scale of the term 'joint_pos' is missing"},
      {SOURCE_SCALE_TWICE, "obs/joint_pos", 0, "element 'hip'", "the scale of the term 'joint_pos' was applied twice"},
      {SOURCE_OFFSET_LOST, "obs/joint_pos", 0, "element 'hip'", "the offset of the term 'joint_pos' is missing"},
      {SOURCE_OFFSET_SIGN, "obs/joint_pos", 0, "element 'hip'", "with the other sign"},
      {SOURCE_CLIP_LOST, "obs/joint_pos", 0, "first at step 0, term 'joint_pos', element 'ankle', 1 step back",
       "the clip of the term 'joint_pos' is missing"},
      {SOURCE_DEGREES, "obs/joint_pos", 0, "element 'hip'", "was made of degrees"},
      {SOURCE_ORDER_REVERSED, "obs/joint_pos", 1, "first at step 1, term 'joint_pos', element 'hip', 1 step back",
       "the history order is reversed: the recorded observation has newest_first"},
      {SOURCE_TIME_MAJOR, "obs/joint_pos", 0, "term 'joint_pos', element 'hip', 0 steps back", "is time_major"},
      {SOURCE_TERMS_EXCHANGED, "obs/joint_pos", 0, "term 'joint_pos', element 'hip'",
       "the terms 'joint_pos' and 'last_action' stand in each other's place"},
      {SOURCE_DECODED_ACTION, "obs/last_action", 1,
       "first at step 1, term 'last_action', element 'hip', 0 steps back in the history, made from outputs/action",
       "is the decoded output in the recorded observation, not the raw one"},
      {SOURCE_LAG_TWO, "obs/last_action", 1, "first at step 1, term 'last_action', element 'hip'",
       "the lag of the term 'last_action' is 2 in the recorded observation, not 1"},
      {SOURCE_CLOCK_AHEAD, "obs/phase", 0, "first at step 0, term 'phase', element 'sin'",
       "the clock of the term 'phase' is 3 steps ahead"},
      {SOURCE_SIN_COS, "obs/phase", 0, "term 'phase', element 'sin'", "sin and cos of the term 'phase' are exchanged"},
      {SOURCE_ZERO_HISTORY, "obs/joint_pos", 0, "term 'joint_pos', element 'hip', 1 step back",
       "is filled otherwise: the recorded observation has zeros"},
      {SOURCE_PERMUTED, "obs/joint_pos", 0, "term 'joint_pos', element 'hip'",
       "the elements of the term 'joint_pos' are permuted before offset and scale in the recorded observation: "
       "(1,2,0)"},
      {SOURCE_ONE_WRONG, "obs/joint_pos", 7, "first at step 7, term 'joint_pos', element 'knee', 0 steps back", NULL},
  };
  int wrong = 0;
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    struct gate_result *result = verify(all[i].fault, CASE_STORES_BOTH, 1, false);
    const struct gate_reason *reason = drift_of(result);
    bool right = reason != NULL && result->verdict == VERDICT_REJECT && result->exit_code == 1 &&
                 strcmp(reason->component, all[i].component) == 0 && reason->step == all[i].step &&
                 strcmp(reason->case_id, "walk") == 0 && strstr(reason->sentence, all[i].place) != NULL &&
                 (all[i].hint != NULL ? strstr(reason->sentence, all[i].hint) != NULL
                                      : strstr(reason->sentence, "explained") == NULL) &&
                 reason->measured > reason->tolerance;
    if (!right) {
      print_error("fault %d: expected %s, step %d, \"%s\", \"%s\"\ngot %s, step %d: %s\n", (int)all[i].fault,
                  all[i].component, all[i].step, all[i].place, all[i].hint != NULL ? all[i].hint : "no hint",
                  reason != NULL ? reason->component : "nothing", reason != NULL ? (int)reason->step : -1,
                  reason != NULL ? reason->sentence : "");
      wrong++;
    }
    gate_result_free(result);
  }
  assert_int_equal(wrong, 0);
}

/* Without its sensors a stored observation is still held against the answers that it repeats, and its clock. */
static void what_needs_no_sensor_is_checked_without_them(void **state) {
  (void)state;
  static const enum source_fault faults[] = {SOURCE_DECODED_ACTION, SOURCE_LAG_TWO, SOURCE_CLOCK_AHEAD};
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
    struct gate_result *result = verify(faults[i], CASE_STORES_OBSERVATION, 1, false);
    assert_int_equal(gate_reasons(result, ASSAY_OBSERVATION_DRIFT), 1);
    gate_result_free(result);
  }
  struct gate_result *result = verify(SOURCE_SCALE_LOST, CASE_STORES_OBSERVATION, 1, false);
  assert_int_equal(gate_reasons(result, ASSAY_OBSERVATION_DRIFT), 0); /* nothing says what it was made of */
  gate_result_free(result);
}

static double worst_of(const struct gate_result *result, const char *joint) {
  return rung_component(&result->rungs[0], joint)->drift.raw.max;
}

/* A small error of the model: fed the recorded answers it stays small, fed back it grows. */
static void an_error_that_is_fed_back_grows(void **state) {
  (void)state;
  struct gate_result *open = verify(SOURCE_RIGHT, CASE_STORES_SENSORS, 1.0005F, true);
  struct gate_result *closed = verify(SOURCE_RIGHT, CASE_STORES_SENSORS, 1.0005F, false);
  assert_int_equal(closed->rungs[0].verdict, VERDICT_REJECT);
  bool grows = worst_of(closed, "hip") > 1.1 * worst_of(open, "hip") ||
               worst_of(closed, "knee") > 1.1 * worst_of(open, "knee") ||
               worst_of(closed, "ankle") > 1.1 * worst_of(open, "ankle");
  if (!grows) {
    print_error("open %g %g %g, closed %g %g %g\n", worst_of(open, "hip"), worst_of(open, "knee"),
                worst_of(open, "ankle"), worst_of(closed, "hip"), worst_of(closed, "knee"), worst_of(closed, "ankle"));
  }
  assert_true(grows);
  gate_result_free(open);
  gate_result_free(closed);
}

/* A source that did something else than the contract says is found without its observations too: its answers drift. */
static void a_source_with_another_observation_drifts(void **state) {
  (void)state;
  struct gate_result *result = verify(SOURCE_DECODED_ACTION, CASE_STORES_SENSORS, 1, false);
  expect_verdict(result, VERDICT_REJECT, 1);
  gate_result_free(result);
}

static void write_stage(const char *path, const char *from, const char *shape, const char *to, float factor) {
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, from, ASSAY_FLOAT32, shape);
  onnx_f32(graph, "factor", "1", &factor);
  char inputs[64];
  snprintf(inputs, sizeof inputs, "%s,factor", from);
  onnx_node(graph, "Mul", inputs, to);
  onnx_output(graph, to, ASSAY_FLOAT32, shape);
  onnx_write(model, path);
  proto_free(model);
}

/* A term of lag 0 is what the encoder of this rung answers, not what the source's answered. */
static void an_earlier_stage_feeds_its_term(void **state) {
  (void)state;
  for (int wrong = 0; wrong < 2; wrong++) {
    char *folder = temp_folder();
    temp_write(
        folder, "contract.yaml",
        "assay: 1\npolicy: p\nstages:\n  - {name: encoder, model: e.onnx}\n  - {name: actor, model: a.onnx}\n"
        "inputs:\n  - {name: h, dtype: float32, shape: [1, 2]}\n  - name: obs\n    dtype: float32\n"
        "    shape: [1, 3]\n    terms: [{name: q, count: 1}, {name: z, scale: 3, from: {output: latent, lag: 0}}]\n"
        "outputs:\n  - {name: latent, dtype: float32, shape: [1, 2]}\n"
        "  - {name: y, dtype: float32, shape: [1, 3], unit: m, tolerance: {max: 0.001}, components: [{names: [a, b, "
        "c]}]}\n");
    temp_write(folder, "gate.yaml", policy_gate);
    write_stage(temp_path(folder, "e.onnx"), "h", "1,2", "latent", wrong ? 2.5F : 2);
    write_stage(temp_path(folder, "a.onnx"), "obs", "1,3", "y", 1);
    struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
    build_f32(builder, "inputs/h", "2,1,2", (const float[]){1, 2, 3, 4});
    build_f32(builder, "raw/q", "2,1", (const float[]){7, 8});
    build_f32(builder, "outputs/latent", "2,1,2", (const float[]){2, 4, 6, 8});
    build_f32(builder, "outputs/y", "2,1,3", (const float[]){7, 6, 12, 8, 18, 24});
    build_case(builder, &(struct corpus_case){.id = "one", .sequence = true});
    build_done(builder);
    struct gate_result *result = policy_verify(folder);
    expect_verdict(result, wrong ? VERDICT_REJECT : VERDICT_PASS, wrong);
    gate_result_free(result);
    temp_free(folder);
  }
}

/* y = 1 * obs; obs is the sensor `imu`, clipped to [-1, 1]. */
static struct gate_result *verify_imu(const char *sensor, const float imu[4], bool stored, assay_code refusal) {
  char *folder = temp_folder();
  temp_write(folder, "contract.yaml",
             "assay: 1\npolicy: p\nmodel: m.onnx\ninputs:\n  - {name: obs, dtype: float32, shape: [1, 2], clip: [-1, "
             "1], terms: [{name: imu, elements: [roll, pitch]}]}\n"
             "outputs:\n  - {name: y, dtype: float32, shape: [1, 2], unit: m, tolerance: {max: 0.001}, components: "
             "[{names: [a, b]}]}\n");
  temp_write(folder, "gate.yaml", policy_gate);
  write_stage(temp_path(folder, "m.onnx"), "obs", "1,2", "y", 1);
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  const float right[4] = {0.5F, 0.25F, 1, -0.5F};
  build_f32(builder, "inputs/obs", "2,1,2", right);
  build_f32(builder, "outputs/y", "2,1,2", right);
  build_case(builder, &(struct corpus_case){.id = "right", .sequence = true});
  if (stored) {
    build_f32(builder, "inputs/obs", "2,1,2", right);
  }
  build_f32(builder, sensor, "2,2", imu);
  if (refusal == ASSAY_OK) {
    build_f32(builder, "outputs/y", "2,1,2", right);
  }
  build_case(builder,
             &(struct corpus_case){.id = "imu", .sequence = true, .refuse = refusal != ASSAY_OK, .refusal = refusal});
  build_done(builder);
  struct gate_result *result = policy_verify(folder);
  temp_free(folder);
  return result;
}

/* What a clip makes finite is no number of a sensor, however the case is stored. */
static void a_sensor_must_be_finite(void **state) {
  (void)state;
  static const struct {
    float value;
    assay_code code;
  } bad[] = {{INFINITY, ASSAY_INPUT_INF}, {-INFINITY, ASSAY_INPUT_INF}, {NAN, ASSAY_INPUT_NAN}};
  for (int stored = 0; stored < 2; stored++) {
    struct gate_result *result = verify_imu("raw/imu", (const float[]){0.5F, 0.25F, 7, -0.5F}, stored, ASSAY_OK);
    expect_verdict(result, VERDICT_PASS, 0);
    gate_result_free(result);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
      const float imu[] = {0.5F, 0.25F, 7, bad[i].value};
      struct gate_result *golden = verify_imu("raw/imu", imu, stored, ASSAY_OK);
      expect_verdict(golden, VERDICT_BLOCKED, 2);
      assert_true(gate_reasons(golden, ASSAY_INVALID_GOLDEN) >= 1);
      const char *sentence = golden->reasons.items[0].sentence;
      if (strstr(sentence, assay_code_name(bad[i].code)) == NULL || strstr(sentence, "raw/imu holds") == NULL ||
          strstr(sentence, "at step 1, element 'pitch'") == NULL) {
        fail_msg("expected %s of raw/imu at step 1, 'pitch', got: %s", assay_code_name(bad[i].code), sentence);
      }
      gate_result_free(golden);
      struct gate_result *refused = verify_imu("raw/imu", imu, stored, bad[i].code);
      expect_verdict(refused, VERDICT_PASS, 0);
      gate_result_free(refused);
    }
  }
}

/* A sensor under another name would be compared with nothing. */
static void a_sensor_of_another_name_is_found(void **state) {
  (void)state;
  static const char *const names[] = {"raw/imv", "raw/obs", "raw/temperature"};
  static const char *const parts[] = {"did you mean 'imu'", "raw/obs", "take the array out"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    struct gate_result *result = verify_imu(names[i], (const float[]){9, 9, 9, 9}, true, ASSAY_OK);
    expect_verdict(result, VERDICT_BLOCKED, 2);
    assert_int_equal(gate_reasons(result, ASSAY_INVALID_GOLDEN), 1);
    assert_non_null(strstr(result->reasons.items[0].sentence, parts[i]));
    gate_result_free(result);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_right_observation_passes),
      cmocka_unit_test(every_fault_is_named),
      cmocka_unit_test(what_needs_no_sensor_is_checked_without_them),
      cmocka_unit_test(an_error_that_is_fed_back_grows),
      cmocka_unit_test(a_source_with_another_observation_drifts),
      cmocka_unit_test(an_earlier_stage_feeds_its_term),
      cmocka_unit_test(a_sensor_must_be_finite),
      cmocka_unit_test(a_sensor_of_another_name_is_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
