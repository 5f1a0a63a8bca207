/* Drift: see drift.h. It must never skip an element, and never call a NaN or an
 * infinity equal. */
#include "gate/drift.h"

#include <math.h>
#include <stdlib.h>

#include "core/memory.h"

double drift_difference(double expected, double actual, bool allow_inf) {
  if (isnan(expected) || isnan(actual)) {
    return NAN;
  }
  if (isinf(expected) || isinf(actual)) {
    return allow_inf && expected == actual ? 0.0 : INFINITY;
  }
  return fabs(actual - expected);
}

static int compare_doubles(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  if (isnan(a) || isnan(b)) {
    return (isnan(a) ? 1 : 0) - (isnan(b) ? 1 : 0);
  }
  return (a > b) - (a < b);
}

void drift_sort(double *values, size_t n) {
  if (n > 1) {
    qsort(values, n, sizeof *values, compare_doubles);
  }
}

double drift_percentile(const double *sorted, size_t n, int percent) {
  if (n == 0) {
    return NAN;
  }
  /* n / 100 first, so that no product overflows. */
  size_t p = (size_t)percent, rank = n / 100 * p + (n % 100 * p + 99) / 100;
  return sorted[rank == 0 ? 0 : rank - 1];
}

static bool at_limit(const struct drift_rule *rule, double value) {
  double slack = isnan(rule->limit_slack) ? 0.0 : rule->limit_slack;
  return value >= rule->limit_max - slack || value <= rule->limit_min + slack;
}

static bool signs_flip(double expected, double actual, double tolerance) {
  return (expected > tolerance && actual < -tolerance) || (expected < -tolerance && actual > tolerance);
}

/* A NaN is worse than any number; of equals the earlier stays. */
static bool is_worse(double difference, double than) { return isnan(difference) ? !isnan(than) : difference > than; }

static void count_pair(const struct drift_pair *pair, const struct drift_rule *rule, struct drift *out) {
  double tolerance = isnan(rule->sign_tolerance) ? 0.0 : rule->sign_tolerance;
  if (isnan(pair->expected) || isnan(pair->actual)) {
    out->nan++;
    return;
  }
  if (isinf(pair->expected) || isinf(pair->actual)) {
    out->inf++;
  }
  if (signs_flip(pair->expected, pair->actual, tolerance)) {
    out->sign_flips++;
  }
  if (at_limit(rule, pair->expected) != at_limit(rule, pair->actual)) {
    out->saturated++;
  }
}

/* sqrt(mean of squares). Scaled by a power of two, so that neither huge nor
 * tiny differences overflow or vanish when squared. */
static double root_mean_square(const double *differences, size_t n, double max) {
  if (!isfinite(max) || max == 0.0) {
    return max;
  }
  int exponent;
  (void)frexp(max, &exponent);
  double sum = 0.0;
  for (size_t i = 0; i < n; i++) {
    double scaled = ldexp(differences[i], -exponent);
    sum += scaled * scaled;
  }
  return ldexp(sqrt(sum / (double)n), exponent);
}

static void measure_relative(const struct drift_pair *pair, double difference, const struct drift_rule *rule,
                             struct drift *out) {
  if (!(fabs(pair->expected) > rule->relative_floor) || isinf(pair->expected)) {
    return; /* also when no floor is given: a comparison with NAN */
  }
  double relative = difference / fabs(pair->expected);
  if (out->n_relative == 0 || is_worse(relative, out->relative_max)) {
    out->relative_max = relative;
  }
  out->n_relative++;
}

assay_status drift_measure(const struct drift_pair *pairs, size_t n, const struct drift_rule *rule, struct drift *out) {
  *out = (struct drift){.n = (int64_t)n,
                        .max = NAN,
                        .mean = NAN,
                        .rms = NAN,
                        .p50 = NAN,
                        .p95 = NAN,
                        .p99 = NAN,
                        .relative_floor = rule->relative_floor,
                        .relative_max = NAN};
  if (n == 0) {
    return status_ok();
  }
  double *differences = memory_alloc(n, sizeof *differences);
  if (differences == NULL) {
    return status_no_memory(n * sizeof *differences);
  }
  double sum = 0.0;
  size_t worst = 0;
  for (size_t i = 0; i < n; i++) {
    differences[i] = drift_difference(pairs[i].expected, pairs[i].actual, rule->allow_inf);
    sum += differences[i];
    if (is_worse(differences[i], differences[worst])) {
      worst = i;
    }
    count_pair(&pairs[i], rule, out);
    measure_relative(&pairs[i], differences[i], rule, out);
  }
  out->max = differences[worst];
  out->mean = sum / (double)n;
  out->rms = root_mean_square(differences, n, out->max);
  out->has_worst = true;
  out->worst = pairs[worst];
  drift_sort(differences, n);
  out->p50 = drift_percentile(differences, n, 50);
  out->p95 = drift_percentile(differences, n, 95);
  out->p99 = drift_percentile(differences, n, 99);
  memory_free(differences);
  return status_ok();
}

static const double magnitude_edges[] = {1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
enum { EDGES = sizeof magnitude_edges / sizeof magnitude_edges[0] };

int drift_magnitude(double expected) {
  if (!isfinite(expected)) {
    return DRIFT_MAGNITUDES - 1;
  }
  if (expected == 0.0) {
    return 0;
  }
  int group = 1;
  while (group <= EDGES && fabs(expected) >= magnitude_edges[group - 1]) {
    group++;
  }
  return group;
}

const char *drift_magnitude_name(int group) {
  static const char *const names[DRIFT_MAGNITUDES] = {
      "0",           "below 1e-6", "1e-6 to 1e-5",  "1e-5 to 1e-4", "1e-4 to 1e-3", "1e-3 to 1e-2",
      "0.01 to 0.1", "0.1 to 1",   "1 to 10",       "10 to 100",    "100 to 1e3",   "1e3 to 1e4",
      "1e4 to 1e5",  "1e5 to 1e6", "1e6 and above", "not finite"};
  return group >= 0 && group < DRIFT_MAGNITUDES ? names[group] : "";
}
