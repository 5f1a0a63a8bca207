/* The guard in the gate: its answer to every step on both sides, flips by an error within every tolerance, invalid
 * cases with times, monitors, margins, and errors grouped by answer. */
#include <math.h>
#include <string.h>

#include "contract/checks.h"
#include "corpus/run_folder.h"
#include "gate/time_check.h"
#include "policy_builder.h"
#include "support.h"

/* One joint and a second that is free; 2 rad/s are 0.04 rad a step. */
static const char contract[] =
    "assay: 1\npolicy: test\nmodel: policy.onnx\n"
    "inputs: [{name: obs, dtype: float32, shape: [1, 3], max_age_ms: 100, frozen_after: 2}]\n"
    "outputs:\n  - {name: action, dtype: float32, shape: [1, 2], axes: [batch, component], max_age_ms: 60,\n"
    "     tolerance: {max: 0.01, saturation: 9},\n"
    "     components: [{name: arm, unit: rad, limits: {min: -1.6, max: 1.6, rate: 2}}, {name: free, unit: rad}]}\n"
    "timing: {period_ms: 20}\n"
    "freshness: {max_skew_ms: 30}\n"
    "external: {bumper: {max_age_ms: 20}}\n";

static const float still[8] = {0};

/* A case of `steps` values of the arm, or one that is no sequence when `steps` is 0. */
static void add_case(struct corpus_builder *builder, const char *id, const float *arm, int steps,
                     struct corpus_case entry) {
  float obs[24], action[16] = {0};
  char shape[2][16];
  int n = steps == 0 ? 1 : steps;
  for (int i = 0; i < 3 * n; i++) {
    obs[i] = (float)i; /* never frozen */
  }
  for (int i = 0; i < n; i++) {
    action[2 * i] = arm[i];
  }
  snprintf(shape[0], sizeof shape[0], steps == 0 ? "1,3" : "%d,1,3", steps);
  snprintf(shape[1], sizeof shape[1], steps == 0 ? "1,2" : "%d,1,2", steps);
  build_f32(builder, "inputs/obs", shape[0], obs);
  if (!entry.refuse) {
    build_f32(builder, "outputs/action", shape[1], action);
  }
  entry.id = id;
  entry.sequence = steps > 0;
  build_case(builder, &entry);
}

static void add_answer(struct run_writer *writer, const char *id, const float *arm, int steps) {
  float action[16] = {0};
  char shape[16];
  int n = steps == 0 ? 1 : steps;
  for (int i = 0; i < n; i++) {
    action[2 * i] = arm[i];
  }
  snprintf(shape, sizeof shape, steps == 0 ? "1,2" : "%d,1,2", steps);
  assay_tensor tensor = test_tensor(ASSAY_FLOAT32, shape, action);
  ASSERT_OK(run_writer_case(writer, id, &(struct npz_entry){"outputs/action", &tensor}, 1));
  tensor_free(&tensor);
}

struct pair {
  const float *golden, *rung; /* of the arm */
  int steps;
  struct corpus_case entry;
};

/* Verifies a folder whose cases are "c0", "c1", ... */
static struct gate_result *verify(const struct pair *pairs, int n) {
  char *folder = policy_folder();
  temp_write(folder, "contract.yaml", contract);
  temp_write(folder, "gate.yaml", policy_recorded_gate);
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  struct run_writer *writer;
  ASSERT_OK(run_writer_open(temp_path(folder, "candidate"), &writer));
  ASSERT_OK(run_writer_fact(writer, "engine", "test"));
  for (int i = 0; i < n; i++) {
    char id[16];
    snprintf(id, sizeof id, "c%d", i);
    add_case(builder, id, pairs[i].golden, pairs[i].steps, pairs[i].entry);
    if (!pairs[i].entry.refuse) {
      add_answer(writer, id, pairs[i].rung, pairs[i].steps);
    }
  }
  build_done(builder);
  ASSERT_OK(run_writer_commit(writer));
  struct gate_result *result = policy_verify(folder);
  temp_free(folder);
  return result;
}

static const struct gate_reason *reason_of(const struct gate_reasons *reasons, assay_code code) {
  for (int32_t i = 0; i < reasons->count; i++) {
    if (reasons->items[i].code == code) {
      return &reasons->items[i];
    }
  }
  fail_msg("there is no reason %s", assay_code_name(code));
  return NULL;
}

static int64_t tally_of(const struct guard_result *guard, const char *answer, bool expected) {
  for (int32_t t = 0; t < guard->n_tally; t++) {
    if (strcmp(guard->tally[t].answer, answer) == 0) {
      return expected ? guard->tally[t].expected : guard->tally[t].actual;
    }
  }
  return -1;
}

#define HOLDS(text, part)                                    \
  do {                                                       \
    if (strstr((text), (part)) == NULL) {                    \
      fail_msg("expected \"%s\" in \"%s\"", (part), (text)); \
    }                                                        \
  } while (0)

/* No case states anything: the reference's own answer is the expectation. */
static void a_flip_names_case_step_and_both_answers(void **state) {
  (void)state;
  static const float calm[] = {0, 0.01F, 0.02F, 0.03F}, golden[] = {1.58F, 1.59F, 1.5999F, 1.59F},
                     rung[] = {1.58F, 1.59F, 1.6001F, 1.59F};
  struct gate_result *result = verify((const struct pair[]){{calm, calm, 4, {0}}, {golden, rung, 4, {0}}}, 2);
  expect_verdict(result, VERDICT_REJECT, 1);
  const struct rung_result *candidate = result_rung(result, "candidate");
  assert_int_equal(candidate->reasons.count, 1); /* the error lies within the tolerance */
  const struct gate_reason *reason = reason_of(&candidate->reasons, ASSAY_GUARD_FLIP);
  assert_string_equal(reason->case_id, "c1");
  assert_int_equal(reason->step, 2);
  HOLDS(reason->sentence, "case 'c1', step 2: the guard answers accept to the reference and ACTION_LIMIT to this rung");
  HOLDS(reason->sentence, "'arm' at step 0 is 1.6001");
  const struct guard_result *guard = &candidate->guard;
  assert_int_equal(guard->n, 8);
  assert_int_equal(guard->flips, 1);
  assert_int_equal(guard->verdict, VERDICT_REJECT);
  assert_int_equal(tally_of(guard, "accept", true), 8);
  assert_int_equal(tally_of(guard, "accept", false), 7);
  assert_int_equal(tally_of(guard, "ACTION_LIMIT", false), 1);
  assert_string_equal(guard->cases[0].case_id, "c1");
  assert_int_equal(guard->cases[0].step, 2);
  assert_true(guard->cases[0].flipped && !guard->cases[0].stated);
  assert_string_equal(guard->cases[0].component, "arm");
  assert_true(fabs(guard->cases[0].margin - 1e-4) < 1e-6);
  gate_result_free(result);
}

/* A refusal that is lost is a flip too, and so is a rate. */
static void both_directions_and_rates_flip(void **state) {
  (void)state;
  static const float out[] = {1.6005F}, in[] = {1.5995F}, slow[] = {0, 0.0399F}, fast[] = {0, 0.0401F};
  struct gate_result *result = verify((const struct pair[]){{out, in, 0, {0}}}, 1);
  expect_verdict(result, VERDICT_REJECT, 1);
  HOLDS(reason_of(&result_rung(result, "candidate")->reasons, ASSAY_GUARD_FLIP)->sentence,
        "case 'c0': the guard answers ACTION_LIMIT to the reference and accept to this rung");
  gate_result_free(result);
  result = verify((const struct pair[]){{slow, fast, 2, {0}}}, 1);
  expect_verdict(result, VERDICT_REJECT, 1);
  const struct gate_reason *reason = reason_of(&result_rung(result, "candidate")->reasons, ASSAY_GUARD_FLIP);
  assert_int_equal(reason->step, 1);
  HOLDS(reason->sentence, "ACTION_RATE to this rung");
  gate_result_free(result);
}

/* After a refusal the last safe action stands; a step that follows it may be refused for its rate. */
static void a_refused_step_does_not_move_the_robot(void **state) {
  (void)state;
  static const float jump[] = {0, 1.7F, 0.01F, 0.02F};
  struct gate_result *result = verify((const struct pair[]){{jump, jump, 4, {0}}}, 1);
  expect_verdict(result, VERDICT_PASS, 0);
  const struct guard_result *guard = &result_rung(result, "candidate")->guard;
  assert_int_equal(tally_of(guard, "accept", true), 3);
  assert_int_equal(tally_of(guard, "ACTION_LIMIT", true), 1);
  assert_int_equal(tally_of(guard, "ACTION_RATE", true), 0);
  gate_result_free(result);
}

static void margins_below_the_drift_are_listed(void **state) {
  (void)state;
  static const float golden[] = {1.596F}, rung[] = {1.594F}, far[] = {0.5F};
  struct gate_result *result = verify((const struct pair[]){{golden, rung, 0, {0}}, {far, far, 0, {0}}}, 2);
  expect_verdict(result, VERDICT_PASS, 0);
  const struct guard_result *guard = &result_rung(result, "candidate")->guard;
  assert_int_equal(guard->flips, 0);
  assert_int_equal(guard->low_margin, 0); /* 0.004 of margin, 0.002 of drift */
  gate_result_free(result);
  static const float nearer[] = {1.598F}; /* 0.002 of margin, 0.004 of drift */
  result = verify((const struct pair[]){{nearer, rung, 0, {0}}, {far, far, 0, {0}}}, 2);
  guard = &result_rung(result, "candidate")->guard;
  assert_int_equal(guard->low_margin, 1);
  assert_int_equal(guard->n_cases, 1);
  assert_false(guard->cases[0].flipped);
  assert_string_equal(guard->cases[0].case_id, "c0");
  assert_true(fabs(guard->smallest_margin - 0.002) < 1e-6);
  gate_result_free(result);
}

static void errors_are_grouped_by_the_guards_answer(void **state) {
  (void)state;
  static const float out[] = {1.7F}, out2[] = {1.703F}, in[] = {0}, in2[] = {0.001F};
  struct gate_result *result = verify((const struct pair[]){{in, in2, 0, {0}}, {out, out2, 0, {0}}}, 2);
  const struct component_result *arm = rung_component(result_rung(result, "candidate"), "arm");
  double accepted = NAN, refused = NAN;
  for (int32_t g = 0; g < arm->n_groups; g++) {
    if (strcmp(arm->groups[g].by, "guard") == 0) {
      double *figure = strcmp(arm->groups[g].value, "accept") == 0 ? &accepted : &refused;
      *figure = arm->groups[g].drift.physical.max;
      assert_int_equal(arm->groups[g].drift.physical.n, 1);
    }
  }
  assert_true(fabs(accepted - 0.001) < 1e-6);
  assert_true(fabs(refused - 0.003) < 1e-6);
  gate_result_free(result);
}

/* --- what cases state ------------------------------------------------------------- */

static void stated_answers_bind_the_reference(void **state) {
  (void)state;
  static const float jump[] = {0, 1.7F, 0.01F, 0.02F};
  static const struct case_guard whole = {-1, ASSAY_ACTION_LIMIT}, wrong = {-1, ASSAY_OK}, at = {1, ASSAY_ACTION_LIMIT},
                                 off = {2, ASSAY_ACTION_LIMIT};
  static const struct case_guard each[] = {{0, ASSAY_OK}, {1, ASSAY_ACTION_LIMIT}, {2, ASSAY_OK}, {3, ASSAY_OK}};
  static const struct {
    struct corpus_case entry;
    bool right;
  } ways[] = {
      {{.n_guard = 1, .guard = &whole}, true},
      {{.n_guard = 1, .guard = &at}, true},
      {{.n_guard = 4, .guard = each, .guard_each = true}, true},
      {{.n_guard = 1, .guard = &wrong}, false},
      {{.n_guard = 1, .guard = &off}, false},
  };
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    struct gate_result *result = verify((const struct pair[]){{jump, jump, 4, ways[i].entry}}, 1);
    expect_verdict(result, ways[i].right ? VERDICT_PASS : VERDICT_BLOCKED, ways[i].right ? 0 : 2);
    assert_int_equal(gate_reasons(result, ASSAY_INVALID_GOLDEN), ways[i].right ? 0 : 1);
    gate_result_free(result);
  }
  static const struct case_guard never = {-1, ASSAY_ACTION_RATE};
  struct gate_result *result = verify((const struct pair[]){{still, still, 4, {.n_guard = 1, .guard = &never}}}, 1);
  expect_verdict(result, VERDICT_BLOCKED, 2);
  HOLDS(reason_of(&result->reasons, ASSAY_INVALID_GOLDEN)->sentence, "it answers accept");
  gate_result_free(result);
}

static void monitors_and_age_are_asked_where_the_case_says(void **state) {
  (void)state;
  static const struct monitor_reading clear = {"bumper", MONITOR_CLEAR, 5}, tripped = {"bumper", MONITOR_TRIPPED, 5},
                                      old = {"bumper", MONITOR_CLEAR, 21}, silent = {"bumper", MONITOR_SILENT, 0};
  static const double late = 61, fresh = 60;
  const struct {
    const struct monitor_reading *reading; /* NULL: the case says nothing of monitors */
    const double *age;
    assay_code answer;
  } ways[] = {
      {NULL, NULL, ASSAY_OK},
      {&clear, NULL, ASSAY_OK},
      {&tripped, NULL, ASSAY_MONITOR_TRIPPED},
      {&old, NULL, ASSAY_MONITOR_STALE},
      {&silent, NULL, ASSAY_MONITOR_MISSING},
      {NULL, &late, ASSAY_ACTION_STALE},
      {&clear, &fresh, ASSAY_OK},
  };
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    const struct case_monitor monitor = {.name = "bumper", .n = 1, .readings = ways[i].reading};
    const struct case_guard guard = {-1, ways[i].answer};
    struct corpus_case entry = {.has_monitors = ways[i].reading != NULL,
                                .n_monitors = ways[i].reading != NULL,
                                .monitors = &monitor,
                                .n_guard = 1,
                                .guard = &guard};
    if (ways[i].age != NULL) {
      entry.result_age_ms = (struct case_series){.n = 1, .values = ways[i].age};
    }
    struct gate_result *result = verify((const struct pair[]){{still, still, 0, entry}}, 1);
    expect_verdict(result, VERDICT_PASS, 0);
    const struct guard_result *given = &result_rung(result, "candidate")->guard;
    assert_int_equal(tally_of(given, guard_answer_name(ways[i].answer), true), 1);
    assert_int_equal(given->without_monitors, ways[i].reading == NULL);
    gate_result_free(result);
  }
}

/* A result is at least as old as the oldest input that it answers. */
static void a_result_is_as_old_as_its_oldest_input(void **state) {
  (void)state;
  static const double now = 1000, then = 930;
  static const struct case_time time = {.input = "obs", .ms = {.n = 1, .values = &then}};
  struct gate_result *result = verify(
      (const struct pair[]){{still, still, 0, {.now_ms = {.n = 1, .values = &now}, .n_times = 1, .times = &time}}}, 1);
  expect_verdict(result, VERDICT_PASS, 0);
  assert_int_equal(tally_of(&result_rung(result, "candidate")->guard, "ACTION_STALE", true), 1);
  gate_result_free(result);
}

static void names_that_nobody_checks_are_wrong_input(void **state) {
  (void)state;
  static const double now = 1000;
  static const struct case_time time = {.input = "obx", .ms = {.n = 1, .values = &now}};
  static const struct monitor_reading clear = {"bumpr", MONITOR_CLEAR, 5};
  static const struct case_monitor monitor = {.name = "bumpr", .n = 1, .readings = &clear};
  struct gate_result *result = verify(
      (const struct pair[]){{still, still, 0, {.now_ms = {.n = 1, .values = &now}, .n_times = 1, .times = &time}},
                            {still, still, 0, {.has_monitors = true, .n_monitors = 1, .monitors = &monitor}}},
      2);
  expect_verdict(result, VERDICT_BLOCKED, 2);
  assert_int_equal(gate_reasons(result, ASSAY_INVALID_GOLDEN), 2);
  HOLDS(result->reasons.items[0].sentence, "'obx', which is no input");
  HOLDS(result->reasons.items[1].sentence, "'bumpr', which is no monitor");
  gate_result_free(result);
}

/* --- invalid cases with times -------------------------------------------------------- */

static void invalid_cases_of_time_get_their_code(void **state) {
  (void)state;
  static const double now[] = {1000, 1020, 1040, 1060}, frozen[] = {1000, 1000, 1000, 1000},
                      back[] = {1000, 1015, 1010, 1060}, ahead[] = {1000, 1020, 1041, 1060},
                      old[] = {1000, 1020, 939, 1060}, good[] = {1000, 1020, 1040, 1060};
  static const struct {
    const double *times;
    assay_code refusal; /* ASSAY_OK: accepted, so the gate rejects */
  } ways[] = {
      {frozen, ASSAY_INPUT_FROZEN},
      {back, ASSAY_INPUT_BACKWARDS},
      {ahead, ASSAY_INPUT_FUTURE},
      {old, ASSAY_INPUT_STALE},
      {good, ASSAY_OK},
  };
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    const struct case_time time = {.input = "obs", .ms = {.n = 4, .values = ways[i].times}};
    bool accepted = ways[i].refusal == ASSAY_OK;
    struct corpus_case entry = {.refuse = true,
                                .refusal = accepted ? ASSAY_INPUT_FROZEN : ways[i].refusal,
                                .now_ms = {.n = 4, .values = now},
                                .n_times = 1,
                                .times = &time};
    struct gate_result *result = verify((const struct pair[]){{still, still, 0, {0}}, {still, NULL, 4, entry}}, 2);
    expect_verdict(result, accepted ? VERDICT_REJECT : VERDICT_PASS, accepted ? 1 : 0);
    assert_int_equal(result->n_invalid, 1);
    assert_int_equal(gate_reasons(result, ASSAY_INVALID_ACCEPTED), accepted);
    gate_result_free(result);
  }
}

/* The sensors of an observation that is made of terms have times of their own. */
static void sensors_of_terms_have_times(void **state) {
  (void)state;
  static const char text[] =
      "assay: 1\npolicy: p\nmodel: m.onnx\n"
      "inputs:\n  - name: obs\n    dtype: float32\n    shape: [1, 2]\n    max_age_ms: 50\n    frozen_after: 2\n    "
      "terms:\n"
      "      - {name: gyro, elements: [x], unit: rad/s}\n      - {name: joint, elements: [q], unit: rad}\n"
      "outputs: [{name: y, dtype: float32, shape: [1], components: [{name: a, unit: rad}]}]\n"
      "freshness: {max_skew_ms: 30}\n";
  struct contract *terms;
  ASSERT_OK(contract_parse(text, sizeof text - 1, "c.yaml", ".", &terms));
  static const double now[] = {1000, 1020, 1040}, live[] = {1000, 1020, 1040};
  static const struct {
    double gyro[3];
    assay_code refusal;
    int64_t step; /* of the refusal */
  } ways[] = {
      {{1000, 1020, 1040}, ASSAY_OK, -1},
      {{960, 1020, 1040}, ASSAY_INPUT_SKEW, 0},
      {{940, 1020, 1040}, ASSAY_INPUT_STALE, 0},
      {{1000, 1021, 1040}, ASSAY_INPUT_FUTURE, 1},
      {{1000, 999, 1040}, ASSAY_INPUT_BACKWARDS, 1},
      {{1000, 1000, 1000}, ASSAY_INPUT_FROZEN, 2},
  };
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    /* A frozen sensor lags behind at once; only then is skew allowed. */
    terms->max_skew_ms = ways[i].refusal == ASSAY_INPUT_FROZEN ? 0 : 30;
    const struct case_time times[] = {{.input = "gyro", .ms = {.n = 3, .values = ways[i].gyro}},
                                      {.input = "joint", .ms = {.n = 3, .values = live}}};
    const struct corpus_case entry = {
        .id = "c", .sequence = true, .now_ms = {.n = 3, .values = now}, .n_times = 2, .times = times};
    struct arena scratch = {0};
    struct input_watch watches[1] = {{0}};
    for (int64_t step = 0; step < 3; step++) {
      float values[2] = {(float)step, 0};
      assay_tensor obs = {.dtype = ASSAY_FLOAT32, .rank = 2, .dims = {1, 2}, .data = values, .bytes = sizeof values};
      const struct fed_input input = {"obs", &obs, (double)NAN};
      assay_status refusal;
      ASSERT_OK(time_check_step(terms, &entry, step, &(struct fed_inputs){&input, 1}, watches, &scratch, &refusal));
      if (refusal.code != (step == ways[i].step ? ways[i].refusal : ASSAY_OK)) {
        print_error("way %zu, step %lld: %s\n", i, (long long)step, assay_status_sentence(refusal));
      }
      assert_int_equal(refusal.code, step == ways[i].step ? ways[i].refusal : ASSAY_OK);
      assay_status_clear(&refusal);
      if (step == ways[i].step) {
        break;
      }
    }
    arena_free(&scratch);
  }
  contract_free(terms);
}

/* The same times in a case that expects an answer make it no reference. */
static void a_golden_case_may_not_be_frozen(void **state) {
  (void)state;
  static const double now[] = {1000, 1020, 1040}, then[] = {1000, 1000, 1000};
  static const struct case_time time = {.input = "obs", .ms = {.n = 3, .values = then}};
  struct gate_result *result = verify(
      (const struct pair[]){{still, still, 3, {.now_ms = {.n = 3, .values = now}, .n_times = 1, .times = &time}}}, 1);
  expect_verdict(result, VERDICT_BLOCKED, 2);
  HOLDS(reason_of(&result->reasons, ASSAY_INVALID_GOLDEN)->sentence, "INPUT_FROZEN");
  gate_result_free(result);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_flip_names_case_step_and_both_answers),
      cmocka_unit_test(both_directions_and_rates_flip),
      cmocka_unit_test(a_refused_step_does_not_move_the_robot),
      cmocka_unit_test(margins_below_the_drift_are_listed),
      cmocka_unit_test(errors_are_grouped_by_the_guards_answer),
      cmocka_unit_test(stated_answers_bind_the_reference),
      cmocka_unit_test(monitors_and_age_are_asked_where_the_case_says),
      cmocka_unit_test(a_result_is_as_old_as_its_oldest_input),
      cmocka_unit_test(names_that_nobody_checks_are_wrong_input),
      cmocka_unit_test(invalid_cases_of_time_get_their_code),
      cmocka_unit_test(sensors_of_terms_have_times),
      cmocka_unit_test(a_golden_case_may_not_be_frozen),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
