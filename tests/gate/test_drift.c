/* The arithmetic of drift: NaN, Inf and nothing first, then the figures. */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "gate/drift.h"
#include "support.h"

static const struct drift_rule plain = {
    .sign_tolerance = NAN, .limit_min = NAN, .limit_max = NAN, .limit_slack = NAN, .relative_floor = NAN};

static struct drift measure(const double *expected, const double *actual, size_t n, const struct drift_rule *rule) {
  struct drift_pair pairs[512];
  assert_true(n <= 512);
  for (size_t i = 0; i < n; i++) {
    pairs[i] = (struct drift_pair){expected[i], actual[i], (int32_t)i, 0, 0};
  }
  struct drift drift;
  ASSERT_OK(drift_measure(pairs, n, rule, &drift));
  return drift;
}

static void assert_number(double actual, double expected) {
  if (isnan(expected) ? !isnan(actual) : actual != expected) {
    print_error("expected %.17g, got %.17g\n", expected, actual);
    fail();
  }
}

static void nothing_gives_no_figure(void **state) {
  (void)state;
  struct drift drift;
  ASSERT_OK(drift_measure(NULL, 0, &plain, &drift));
  assert_int_equal(drift.n, 0);
  assert_false(drift.has_worst);
  assert_number(drift.max, NAN);
  assert_number(drift.mean, NAN);
  assert_number(drift.rms, NAN);
  assert_number(drift.p99, NAN);
}

static void nan_is_never_equal_and_never_skipped(void **state) {
  (void)state;
  const double clean[5] = {1, 2, 3, 4, 5};
  for (int side = 0; side < 3; side++) {
    for (size_t place = 0; place < 5; place++) {
      double expected[5], actual[5];
      memcpy(expected, clean, sizeof clean);
      memcpy(actual, clean, sizeof clean);
      if (side != 1) {
        expected[place] = NAN;
      }
      if (side != 0) {
        actual[place] = NAN;
      }
      struct drift drift = measure(expected, actual, 5, &plain);
      assert_number(drift.max, NAN);
      assert_number(drift.mean, NAN);
      assert_number(drift.rms, NAN);
      assert_number(drift.p99, NAN);
      assert_int_equal(drift.nan, 1);
      assert_int_equal(drift.worst.case_index, place);
    }
  }
}

static void infinities_are_faults_unless_allowed(void **state) {
  (void)state;
  const double up[1] = {INFINITY}, down[1] = {-INFINITY}, one[1] = {1};
  struct drift_rule allow = plain;
  allow.allow_inf = true;
  assert_number(measure(up, up, 1, &plain).max, INFINITY);
  assert_number(measure(up, down, 1, &plain).max, INFINITY);
  assert_number(measure(one, up, 1, &plain).max, INFINITY);
  assert_number(measure(up, up, 1, &allow).max, 0);
  assert_number(measure(up, down, 1, &allow).max, INFINITY);
  assert_number(measure(one, up, 1, &allow).max, INFINITY);
  assert_number(measure(up, up, 1, &allow).rms, 0);
  assert_int_equal(measure(up, up, 1, &allow).inf, 1);
  assert_int_equal(measure(one, down, 1, &plain).inf, 1);
}

static void the_worked_example(void **state) {
  (void)state;
  const double expected[3] = {0.120, -0.040, 0.501}, actual[3] = {0.121, -0.043, 0.498};
  struct drift drift = measure(expected, actual, 3, &plain);
  assert_true(fabs(drift.max - 0.003) < 1e-12);
  assert_true(fabs(drift.mean - 0.007 / 3) < 1e-12);
  assert_true(fabs(drift.rms - sqrt(19e-6 / 3)) < 1e-12);
}

static void percentiles_are_nearest_rank(void **state) {
  (void)state;
  double values[200];
  for (size_t i = 0; i < 200; i++) {
    values[i] = (double)(i + 1);
  }
  assert_number(drift_percentile(values, 100, 99), 99);
  assert_number(drift_percentile(values, 100, 50), 50);
  assert_number(drift_percentile(values, 101, 99), 100); /* ceil(99.99) */
  assert_number(drift_percentile(values, 200, 99), 198);
  assert_number(drift_percentile(values, 1, 50), 1);
  assert_number(drift_percentile(values, 3, 50), 2);
  assert_number(drift_percentile(values, 199, 95), 190); /* ceil(189.05) */
  assert_number(drift_percentile(values, 0, 99), NAN);
  double mixed[4] = {NAN, -1, INFINITY, -INFINITY};
  drift_sort(mixed, 4);
  assert_number(mixed[0], -INFINITY);
  assert_number(mixed[2], INFINITY);
  assert_number(mixed[3], NAN);
}

static void huge_and_tiny_differences_have_a_root_mean_square(void **state) {
  (void)state;
  const double zero[2] = {0, 0}, huge[2] = {3e200, 4e200}, tiny[2] = {3e-200, 4e-200};
  assert_true(fabs(measure(zero, huge, 2, &plain).rms / (5e200 / sqrt(2)) - 1) < 1e-12);
  assert_true(fabs(measure(zero, tiny, 2, &plain).rms / (5e-200 / sqrt(2)) - 1) < 1e-12);
}

static void a_sign_flip_has_both_sides_beyond_the_tolerance(void **state) {
  (void)state;
  const double expected[5] = {0.1, 0.1, -0.3, 0.001, 0.0}, actual[5] = {-0.1, -0.001, 0.2, -0.001, -1};
  struct drift_rule rule = plain;
  rule.sign_tolerance = 0.01;
  assert_int_equal(measure(expected, actual, 5, &rule).sign_flips, 2);
  assert_int_equal(measure(expected, actual, 5, &plain).sign_flips, 4);
}

static void saturation_is_one_side_at_a_limit(void **state) {
  (void)state;
  const double expected[5] = {1.6, 1.6, -1.7, 0, 1.5999999}, actual[5] = {1.59, 1.61, -1.5, 0.1, 1.0};
  struct drift_rule rule = plain;
  rule.limit_min = -1.6;
  rule.limit_max = 1.6;
  assert_int_equal(measure(expected, actual, 5, &rule).saturated, 2);
  rule.limit_slack = 1e-6;
  assert_int_equal(measure(expected, actual, 5, &rule).saturated, 3);
  assert_int_equal(measure(expected, actual, 5, &plain).saturated, 0);
}

static void relative_error_only_above_the_floor(void **state) {
  (void)state;
  const double expected[4] = {0.0, 1e-9, 2.0, -4.0}, actual[4] = {1.0, 1.0, 2.2, -4.1};
  struct drift drift = measure(expected, actual, 4, &plain);
  assert_int_equal(drift.n_relative, 0);
  assert_number(drift.relative_max, NAN);
  struct drift_rule rule = plain;
  rule.relative_floor = 0.5;
  drift = measure(expected, actual, 4, &rule);
  assert_int_equal(drift.n_relative, 2);
  assert_true(fabs(drift.relative_max - 0.1) < 1e-12);
}

static void the_earliest_of_equal_worst_cases_is_named(void **state) {
  (void)state;
  const double expected[4] = {0, 0, 0, 0}, actual[4] = {1, 3, -3, 2};
  assert_int_equal(measure(expected, actual, 4, &plain).worst.case_index, 1);
}

static void every_magnitude_has_one_group(void **state) {
  (void)state;
  assert_string_equal(drift_magnitude_name(drift_magnitude(0.0)), "0");
  assert_string_equal(drift_magnitude_name(drift_magnitude(-0.0)), "0");
  assert_string_equal(drift_magnitude_name(drift_magnitude(1e-300)), "below 1e-6");
  assert_string_equal(drift_magnitude_name(drift_magnitude(0.1)), "0.1 to 1");
  assert_string_equal(drift_magnitude_name(drift_magnitude(-0.99)), "0.1 to 1");
  assert_string_equal(drift_magnitude_name(drift_magnitude(1.0)), "1 to 10");
  assert_string_equal(drift_magnitude_name(drift_magnitude(1e300)), "1e6 and above");
  assert_string_equal(drift_magnitude_name(drift_magnitude(999999.0)), "1e5 to 1e6");
  assert_string_equal(drift_magnitude_name(drift_magnitude(NAN)), "not finite");
}

static void without_memory_it_fails(void **state) {
  (void)state;
  const struct drift_pair pair = {1, 2, 0, 0, 0};
  struct drift drift;
  memory_fail_at(0);
  assay_status status = drift_measure(&pair, 1, &plain, &drift);
  memory_fail_at(-1);
  assert_int_equal(status.code, ASSAY_OUT_OF_MEMORY);
  assay_status_clear(&status);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_gives_no_figure),
      cmocka_unit_test(nan_is_never_equal_and_never_skipped),
      cmocka_unit_test(infinities_are_faults_unless_allowed),
      cmocka_unit_test(the_worked_example),
      cmocka_unit_test(percentiles_are_nearest_rank),
      cmocka_unit_test(huge_and_tiny_differences_have_a_root_mean_square),
      cmocka_unit_test(a_sign_flip_has_both_sides_beyond_the_tolerance),
      cmocka_unit_test(saturation_is_one_side_at_a_limit),
      cmocka_unit_test(relative_error_only_above_the_floor),
      cmocka_unit_test(the_earliest_of_equal_worst_cases_is_named),
      cmocka_unit_test(every_magnitude_has_one_group),
      cmocka_unit_test(without_memory_it_fails),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
