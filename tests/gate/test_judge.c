/* The rules of a verdict, one by one, over figures: each test fails when its rule is taken out. */
#include <math.h>
#include <string.h>

#include "gate/judge.h"
#include "support.h"

static const struct tolerance none = {.max = NAN, .mean = NAN, .p99 = NAN, .rms = NAN};

static struct tolerance of_max(double max) {
  struct tolerance tolerance = none;
  tolerance.given = true;
  tolerance.max = max;
  return tolerance;
}

static struct drift figures(double value) {
  return (struct drift){
      .n = 10, .max = value, .mean = value, .rms = value, .p50 = value, .p95 = value, .p99 = value, .has_worst = true};
}

static bool has(const struct judgement *list, int32_t count, assay_code code) {
  for (int32_t i = 0; i < count; i++) {
    if (list[i].code == code) {
      return true;
    }
  }
  return false;
}

/* `wanted` ends with ASSAY_CODE_COUNT; ASSAY_OK in it stands for nothing. */
static void assert_judged(const struct tolerance *tolerance, bool decision, bool allow_inf, const struct drift *drift,
                          const assay_code *wanted) {
  struct judgement got[JUDGEMENT_MAX];
  int32_t n = judge_component(tolerance, decision, allow_inf, drift, got), n_wanted = 0;
  for (; *wanted != ASSAY_CODE_COUNT; wanted++) {
    if (*wanted != ASSAY_OK && !has(got, n, *wanted)) {
      print_error("expected %s, got %s\n", assay_code_name(*wanted), n > 0 ? assay_code_name(got[0].code) : "nothing");
      fail();
    }
    n_wanted += *wanted != ASSAY_OK;
  }
  assert_int_equal(n, n_wanted);
}

#define ASSERT_JUDGED(given_tolerance, decision, infinite, given_drift, ...)                                          \
  do {                                                                                                                \
    struct drift drift_ = (given_drift);                                                                              \
    struct tolerance tolerance_ = (given_tolerance);                                                                  \
    assert_judged(&tolerance_, (decision), (infinite), &drift_, (const assay_code[]){__VA_ARGS__, ASSAY_CODE_COUNT}); \
  } while (0)

static void nan_and_inf_never_pass(void **state) {
  (void)state;
  struct drift drift = figures(NAN);
  drift.nan = 1;
  ASSERT_JUDGED(of_max(1e9), false, false, drift, ASSAY_NONFINITE);
  ASSERT_JUDGED(of_max(INFINITY), false, true, drift, ASSAY_NONFINITE);
  drift = figures(INFINITY);
  drift.inf = 1;
  ASSERT_JUDGED(of_max(1e9), false, false, drift, ASSAY_NONFINITE);
  ASSERT_JUDGED(of_max(1e9), false, true, drift, ASSAY_NONFINITE); /* unequal infinities */
  drift = figures(0);
  drift.inf = 1;
  ASSERT_JUDGED(of_max(1e9), false, false, drift, ASSAY_NONFINITE);
  ASSERT_JUDGED(of_max(1e9), false, true, drift, ASSAY_OK); /* equal ones, allowed */
}

static void nothing_compared_never_passes(void **state) {
  (void)state;
  struct drift drift = figures(NAN);
  drift.n = 0;
  ASSERT_JUDGED(of_max(1), false, false, drift, ASSAY_NOTHING_COMPARED);
  ASSERT_JUDGED(none, true, false, drift, ASSAY_NOTHING_COMPARED);
}

static void without_tolerance_and_decision_it_is_blocked(void **state) {
  (void)state;
  ASSERT_JUDGED(none, false, false, figures(0), ASSAY_TOLERANCE_MISSING);
  ASSERT_JUDGED(none, true, false, figures(100), ASSAY_OK);
}

static void averages_never_decide_alone(void **state) {
  (void)state;
  struct tolerance tolerance = none;
  tolerance.given = true;
  tolerance.mean = 1;
  tolerance.rms = 1;
  ASSERT_JUDGED(tolerance, false, false, figures(0.5), ASSAY_TOLERANCE_MISSING);
  tolerance.p99 = 1;
  ASSERT_JUDGED(tolerance, false, false, figures(0.5), ASSAY_OK);
  struct drift drift = figures(0.5); /* a good mean saves no bad worst case */
  drift.max = 3;
  tolerance.max = 2;
  ASSERT_JUDGED(tolerance, false, false, drift, ASSAY_DRIFT_MAX);
}

static void every_declared_figure_decides(void **state) {
  (void)state;
  struct tolerance tolerance = of_max(1);
  ASSERT_JUDGED(tolerance, false, false, figures(1), ASSAY_OK);
  ASSERT_JUDGED(tolerance, false, false, figures(1.0000001), ASSAY_DRIFT_MAX);
  tolerance.mean = tolerance.p99 = tolerance.rms = 1;
  ASSERT_JUDGED(tolerance, false, false, figures(2), ASSAY_DRIFT_MAX, ASSAY_DRIFT_MEAN, ASSAY_DRIFT_P99,
                ASSAY_DRIFT_RMS);
}

static void sign_flips_and_saturation_decide(void **state) {
  (void)state;
  struct drift drift = figures(0);
  drift.sign_flips = 1;
  drift.saturated = 2;
  struct tolerance tolerance = of_max(1);
  ASSERT_JUDGED(tolerance, false, false, drift, ASSAY_SIGN_FLIPS, ASSAY_SATURATION);
  tolerance.sign_flips = 1;
  tolerance.saturation = 2;
  ASSERT_JUDGED(tolerance, false, false, drift, ASSAY_OK);
}

static void looser_is_looser_in_any_figure(void **state) {
  (void)state;
  struct tolerance declared = of_max(0.002), changed = of_max(0.002);
  assert_false(tolerance_is_looser(&declared, &changed));
  changed.max = 0.001;
  assert_false(tolerance_is_looser(&declared, &changed));
  changed.mean = 5;
  assert_false(tolerance_is_looser(&declared, &changed)); /* a bound more is tighter */
  declared.mean = 4;
  assert_true(tolerance_is_looser(&declared, &changed));
  changed = of_max(0.001);
  assert_true(tolerance_is_looser(&declared, &changed)); /* a bound less is looser */
  changed.mean = 4;
  changed.sign_flips = 1;
  assert_true(tolerance_is_looser(&declared, &changed));
  assert_false(tolerance_is_looser(&none, &changed));
}

/* A gate of rungs with one reason each; ASSAY_OK for none. */
static int exit_of(const assay_code *codes, const bool *required, int32_t n, assay_code own) {
  struct gate_result result = {0};
  struct rung_result rungs[4] = {0};
  struct gate_reason reasons[5];
  for (int32_t i = 0; i < n; i++) {
    reasons[i] = gate_reason_of(codes[i]);
    rungs[i].required = required[i];
    rungs[i].reasons = (struct gate_reasons){&reasons[i], codes[i] == ASSAY_OK ? 0 : 1, 1};
    rungs[i].verdict = verdict_of_reasons(&rungs[i].reasons);
  }
  reasons[4] = gate_reason_of(own);
  result.reasons = (struct gate_reasons){&reasons[4], own == ASSAY_OK ? 0 : 1, 1};
  result.rungs = rungs;
  result.n_rungs = n;
  judge_gate(&result);
  assert_int_equal(result.verdict == VERDICT_PASS, result.exit_code == 0);
  return result.exit_code;
}

static void the_first_exit_code_that_holds_wins(void **state) {
  (void)state;
  const assay_code pass = ASSAY_OK, reject = ASSAY_DRIFT_MAX, blocked = ASSAY_RUNTIME_MISSING,
                   input = ASSAY_INVALID_GOLDEN;
  const bool both[2] = {true, true}, second_optional[2] = {true, false}, neither[2] = {false, false};
  assert_int_equal(exit_of((assay_code[]){pass, pass}, both, 2, pass), 0);
  assert_int_equal(exit_of((assay_code[]){reject, blocked}, both, 2, pass), 1);
  assert_int_equal(exit_of((assay_code[]){pass, blocked}, both, 2, pass), 3);
  assert_int_equal(exit_of((assay_code[]){reject, blocked}, both, 2, input), 2);
  assert_int_equal(exit_of((assay_code[]){pass, reject}, second_optional, 2, pass), 0);
  assert_int_equal(exit_of((assay_code[]){pass, blocked}, second_optional, 2, pass), 0);
  assert_int_equal(exit_of((assay_code[]){pass, pass}, both, 2, ASSAY_INVALID_ACCEPTED), 1);
  assert_int_equal(exit_of((assay_code[]){pass, pass}, both, 2, ASSAY_GOLDEN_UNDECIDABLE), 3);
  assert_int_equal(exit_of((assay_code[]){pass, reject}, both, 2, ASSAY_GOLDEN_UNDECIDABLE), 1);
  assert_int_equal(exit_of((assay_code[]){pass, pass}, neither, 2, pass), 3); /* nothing was required: nothing passed */
}

static void an_invalid_rung_is_blocked_whatever_its_numbers(void **state) {
  (void)state;
  const assay_code voiding[] = {ASSAY_RUNG_INVALID, ASSAY_UNSTABLE_RUNG, ASSAY_UNSTABLE_REFERENCE};
  for (size_t i = 0; i < sizeof voiding / sizeof voiding[0]; i++) {
    struct gate_reason items[2] = {gate_reason_of(ASSAY_DRIFT_MAX), gate_reason_of(voiding[i])};
    struct gate_reasons reasons = {items, 2, 2};
    assert_int_equal(verdict_of_reasons(&reasons), VERDICT_BLOCKED);
    reasons.count = 1;
    assert_int_equal(verdict_of_reasons(&reasons), VERDICT_REJECT);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nan_and_inf_never_pass),
      cmocka_unit_test(nothing_compared_never_passes),
      cmocka_unit_test(without_tolerance_and_decision_it_is_blocked),
      cmocka_unit_test(averages_never_decide_alone),
      cmocka_unit_test(every_declared_figure_decides),
      cmocka_unit_test(sign_flips_and_saturation_decide),
      cmocka_unit_test(looser_is_looser_in_any_figure),
      cmocka_unit_test(the_first_exit_code_that_holds_wins),
      cmocka_unit_test(an_invalid_rung_is_blocked_whatever_its_numbers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
