/* Time and monitors: frozen, stale, skewed, future and backward inputs, and monitors that are silent, old or tripped;
 * each good and bad, with its own code. */
#include <math.h>
#include <string.h>

#include "contract/checks.h"
#include "contract/finite.h"
#include "support.h"

static const char text[] =
    "assay: 1\npolicy: p\nmodel: m.onnx\n"
    "inputs:\n"
    "  - {name: front, dtype: float32, shape: [3], max_age_ms: 100, frozen_after: 2}\n"
    "  - {name: qpos, dtype: float32, shape: [3]}\n"
    "outputs: [{name: y, dtype: float32, shape: [1], components: [{name: a, unit: rad}]}]\n"
    "freshness: {max_skew_ms: 30, future_ms: 2}\n"
    "external: {bumper: {max_age_ms: 20, on_missing: refuse}, laser: {max_age_ms: 50}}\n";

static struct contract *contract;
static struct input_watch watches[2];
static float front[3], qpos[3];

static int setup(void **state) {
  (void)state;
  ASSERT_OK(contract_parse(text, sizeof text - 1, "c.yaml", ".", &contract));
  memset(watches, 0, sizeof watches);
  memset(front, 0, sizeof front);
  memset(qpos, 0, sizeof qpos);
  return 0;
}
static int teardown(void **state) {
  (void)state;
  contract_free(contract);
  return 0;
}

/* One step: what is fed now, measured then. NAN: not known. */
static assay_status step(double now, double front_time, double qpos_time) {
  assay_tensor tensors[2] = {
      {.dtype = ASSAY_FLOAT32, .rank = 1, .dims = {3}, .data = front, .bytes = sizeof front},
      {.dtype = ASSAY_FLOAT32, .rank = 1, .dims = {3}, .data = qpos, .bytes = sizeof qpos},
  };
  const struct fed_input inputs[2] = {{"front", &tensors[0], now - front_time}, {"qpos", &tensors[1], now - qpos_time}};
  const double times[2] = {front_time, qpos_time};
  const struct fed_times when = {now, times};
  TRY(contract_validate(contract, inputs, 2));
  return contract_watch(contract, inputs, 2, &when, watches);
}

static const double unknown = (double)NAN;

static void not_a_number_is_known_by_its_bits(void **state) {
  (void)state;
  assert_true(value_is_nan((double)NAN) && value_is_nan(-(double)NAN) && !value_is_nan((double)INFINITY));
  assert_true(value_is_inf((double)INFINITY) && value_is_inf(-(double)INFINITY) && !value_is_inf((double)NAN));
  assert_true(value_is_finite(0) && value_is_finite(-1e308) && !value_is_finite((double)NAN));
}

static void times_in_step_are_taken(void **state) {
  (void)state;
  for (int i = 0; i < 5; i++) {
    front[0] = (float)i;
    ASSERT_OK(step(1000 + 20 * i, 990 + 20 * i, 1000 + 20 * i));
  }
  front[0] = 7;
  ASSERT_OK(step(1100, 1102, 1100)); /* 2 ms ahead are allowed */
  front[0] = 8;
  ASSERT_OK(step(1210, 1180, 1210)); /* 30 ms apart are allowed */
}

static void what_is_not_known_is_not_checked(void **state) {
  (void)state;
  front[0] = 1;
  ASSERT_OK(step(unknown, unknown, unknown));
  front[0] = 2;
  ASSERT_OK(step(unknown, unknown, unknown));
  front[0] = 3;
  ASSERT_OK(step(1000, unknown, 0));
}

static void old_inputs_are_stale(void **state) {
  (void)state;
  ASSERT_OK(step(1000, 980, 990));
  front[0] = 1;
  ASSERT_FAILS(step(1200, 1099, 1100), ASSAY_INPUT_STALE, "input 'front' is 101 ms old, but the contract allows 100");
}

static void stamps_of_the_future_are_refused(void **state) {
  (void)state;
  ASSERT_FAILS(step(1000, 1003, 1000), ASSAY_INPUT_FUTURE,
               "input 'front' lies 3 ms in the future; the contract allows 2");
  ASSERT_FAILS(step(1000, 1000, 1010), ASSAY_INPUT_FUTURE, "'qpos'"); /* without a limit of age, too */
}

static void inputs_apart_are_skewed(void **state) {
  (void)state;
  ASSERT_FAILS(step(1000, 960, 991), ASSAY_INPUT_SKEW,
               "input 'front' was measured 31 ms before input 'qpos'; the contract allows 30");
  contract->max_skew_ms = 0;
  ASSERT_OK(step(1000, 960, 991));
}

static void time_that_runs_back_is_refused(void **state) {
  (void)state;
  ASSERT_OK(step(1000, 990, 995));
  front[0] = 1;
  ASSERT_FAILS(step(1001, 989, 995), ASSAY_INPUT_BACKWARDS, "stamp of input 'front' is 989 ms, before the 990 ms");
  front[0] = 2;
  ASSERT_OK(step(1002, 995, 996));
  front[0] = 3;
  ASSERT_FAILS(step(1001, 995, 996), ASSAY_INPUT_BACKWARDS, "the clock reads 1001 ms");
}

static void an_input_that_stands_still_is_frozen(void **state) {
  (void)state;
  ASSERT_OK(step(1000, 1000, 1000));
  ASSERT_OK(step(1020, 1020, 1020)); /* the same bytes once more */
  ASSERT_FAILS(step(1040, 1040, 1040), ASSAY_INPUT_FROZEN,
               "the bytes of input 'front' have not changed for 2 steps; the contract takes it for frozen after 2");
  front[2] = 1e-30F; /* any byte counts */
  ASSERT_OK(step(1060, 1060, 1060));
  front[2] = 1;
  ASSERT_OK(step(1080, 1060, 1080));
  front[2] = 2;
  ASSERT_FAILS(step(1081, 1060, 1081), ASSAY_INPUT_FROZEN, "the stamp of input 'front' has not changed for 2 steps");
  front[2] = 3;
  ASSERT_OK(step(1100, 1090, 1100)); /* it lives again; qpos may stand still for ever */
}

/* Several faults at once: the order that the contract's refusals stand in. */
static void faults_of_time_come_in_order(void **state) {
  (void)state;
  front[0] = NAN;
  ASSERT_FAILS(step(1000, 700, 1010), ASSAY_INPUT_NAN, "NaN");
  front[0] = 0;
  ASSERT_FAILS(step(1000, 700, 1010), ASSAY_INPUT_STALE, "300");
  ASSERT_FAILS(step(1000, 910, 1010), ASSAY_INPUT_FUTURE, "10 ms");
  assert_int_equal(contract_refusals[REFUSAL_COUNT - 1], ASSAY_INPUT_FROZEN);
  for (int i = 0; i < REFUSAL_COUNT; i++) {
    assert_true(contract_is_refusal(contract_refusals[i]));
  }
}

static assay_status ask(enum monitor_answer bumper, double bumper_age, enum monitor_answer laser, double laser_age) {
  const struct monitor_reading readings[] = {
      {"laser", laser, laser_age}, {"bumper", bumper, bumper_age}, {"radio", MONITOR_TRIPPED, 0}};
  return contract_check_monitors(contract, readings, 3);
}

static void monitors_must_be_clear_and_fresh(void **state) {
  (void)state;
  ASSERT_OK(ask(MONITOR_CLEAR, 20, MONITOR_CLEAR, 0)); /* the limit is allowed; 'radio' is none of the contract's */
  ASSERT_FAILS(ask(MONITOR_CLEAR, 20.5, MONITOR_CLEAR, 0), ASSAY_MONITOR_STALE, "'bumper' is 20.5 ms old");
  ASSERT_FAILS(ask(MONITOR_CLEAR, -1, MONITOR_CLEAR, 0), ASSAY_MONITOR_STALE, "future");
  ASSERT_FAILS(ask(MONITOR_CLEAR, unknown, MONITOR_CLEAR, 0), ASSAY_MONITOR_STALE, "not known");
  ASSERT_FAILS(ask(MONITOR_CLEAR, (double)INFINITY, MONITOR_CLEAR, 0), ASSAY_MONITOR_STALE, "bumper");
  ASSERT_FAILS(ask(MONITOR_TRIPPED, 5, MONITOR_CLEAR, 0), ASSAY_MONITOR_TRIPPED, "'bumper' forbids to act");
  ASSERT_FAILS(ask(MONITOR_SILENT, 5, MONITOR_CLEAR, 0), ASSAY_MONITOR_MISSING, "'bumper' gave no answer");
  ASSERT_FAILS(contract_check_monitors(contract, NULL, 0), ASSAY_MONITOR_MISSING, "line 9");
  /* silence before age before what was answered */
  ASSERT_FAILS(ask(MONITOR_TRIPPED, 99, MONITOR_SILENT, 0), ASSAY_MONITOR_MISSING, "'laser'");
  ASSERT_FAILS(ask(MONITOR_TRIPPED, 5, MONITOR_CLEAR, 99), ASSAY_MONITOR_STALE, "'laser'");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(not_a_number_is_known_by_its_bits), TEST(times_in_step_are_taken),
      TEST(what_is_not_known_is_not_checked),  TEST(old_inputs_are_stale),
      TEST(stamps_of_the_future_are_refused),  TEST(inputs_apart_are_skewed),
      TEST(time_that_runs_back_is_refused),    TEST(an_input_that_stands_still_is_frozen),
      TEST(faults_of_time_come_in_order),      TEST(monitors_must_be_clear_and_fresh),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
