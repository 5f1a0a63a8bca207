/* Drift: the arithmetic of differences between a reference and a rung, as pure
 * functions over arrays. NaN and Inf are never skipped and never equal to
 * anything; sums are fp64 in the order given, so that the same pairs give the
 * same bits. Nothing here knows tolerances' verdicts, files or runtimes. */
#ifndef GATE_DRIFT_H
#define GATE_DRIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

/* One element on both sides, and where it stands. */
struct drift_pair {
  double expected, actual;
  int32_t case_index, step;
  int64_t element; /* flat index in the output tensor */
};

/* What counts as what. NAN means: not given. */
struct drift_rule {
  bool allow_inf;              /* equal infinities differ by 0; otherwise any Inf is a fault */
  double sign_tolerance;       /* a sign flip has both sides beyond it; NAN counts as 0 */
  double limit_min, limit_max; /* saturation: one side at or beyond, the other not */
  double limit_slack;          /* how near counts as "at": one rounding of the tensor's type */
  double relative_floor;       /* relative error only where |expected| exceeds it; NAN: none */
};

/* Figures of |actual - expected|. With n == 0 every figure is NAN. */
struct drift {
  int64_t n, sign_flips, saturated, nan, inf, n_relative;
  double max, mean, rms, p50, p95, p99;
  double relative_floor, relative_max; /* NAN without an element above the floor */
  bool has_worst;
  struct drift_pair worst; /* a NaN first, then the largest difference; the earliest of equals */
};

/* |actual - expected|; NAN when either side is NaN; Infinity when either side is
 * infinite, unless allow_inf and both are the same infinity. */
double drift_difference(double expected, double actual, bool allow_inf);

ASSAY_MUST_CHECK assay_status drift_measure(const struct drift_pair *pairs, size_t n, const struct drift_rule *rule,
                                            struct drift *out);

/* Nearest-rank percentile of ascending values (NaN sorted last): element
 * ceil(percent * n / 100), counted from 1. NAN when n is 0. */
double drift_percentile(const double *sorted, size_t n, int percent);
/* Ascending, NaN last, -0 and +0 equal. */
void drift_sort(double *values, size_t n);

/* Groups by magnitude of the reference: 0 is exactly zero, then one group per
 * decade from below 1e-6 to 1e6 and above; the last one holds what is not finite. */
enum { DRIFT_MAGNITUDES = 16 };
int drift_magnitude(double expected);
const char *drift_magnitude_name(int group);

#endif
