/* Errors held against those of emulated precisions: see precision_fit.h. It never clears a rung: what fits nothing is
 * left to the tolerances. */
#include "gate/precision_fit.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"

/* Cases that are answered by the emulations; enough for root mean squares, few enough not to be felt. */
enum { CASES = 8 };
/* An error this far above the floor is none of rounding. */
static const double far_above = 20;
/* In powers of two: how far the mean over components may be from an emulation's, and a single one. Which values a
 * runtime stores in the narrow type differs from runtime to runtime, so that bf16 by one is twice bf16 by another. */
static const double mean_allowed = 1.5, single_allowed = 3;

static const struct {
  const char *precision;
  assay_code code;
} kinds[] = {{"tf32", ASSAY_RUNG_IS_TF32}, {"bf16", ASSAY_RUNG_IS_BF16}, {"fp16", ASSAY_RUNG_IS_FP16}};
enum { KINDS = sizeof kinds / sizeof *kinds };

int precision_fit_choose(const double *rung, const double *const *emulated, int n_emulated, int32_t n_components) {
  int best = -1;
  double nearest = mean_allowed;
  for (int k = 0; k < n_emulated; k++) {
    double sum = 0, worst = 0;
    int32_t count = 0;
    for (int32_t c = 0; c < n_components; c++) {
      if (!(rung[c] > 0) || !(emulated[k][c] > 0)) { /* NaN too */
        worst = rung[c] > 0 || emulated[k][c] > 0 || isnan(rung[c]) ? INFINITY : worst;
        continue;
      }
      double ratio = log2(rung[c] / emulated[k][c]);
      sum += ratio;
      worst = fmax(worst, fabs(ratio));
      count++;
    }
    double mean = count > 0 ? fabs(sum / count) : (double)INFINITY;
    if (mean <= nearest && worst <= single_allowed) {
      nearest = mean;
      best = k;
    }
  }
  return best;
}

/* Root mean square of a component's error over the cases that are looked at. */
static double rms_of(const struct pair_list *pairs, const struct plan *plan, int32_t n_cases) {
  double sum = 0;
  size_t count = 0;
  for (size_t i = 0; i < pairs->count; i++) {
    bool looked_at = false;
    for (int32_t v = 0; v < n_cases && !looked_at; v++) {
      looked_at = plan->valid[v] == pairs->items[i].case_index;
    }
    if (looked_at) {
      double error = pairs->items[i].actual - pairs->items[i].expected;
      sum += error * error;
      count++;
    }
  }
  return count > 0 ? sqrt(sum / (double)count) : 0;
}

static void rms_all(const struct measure *measure, const struct plan *plan, int32_t n_cases, double *out) {
  for (int32_t c = 0; c < plan->n_components; c++) {
    out[c] = rms_of(&measure->components[c].raw, plan, n_cases);
  }
}

static assay_status measure_emulated(const struct precision_fit *fit, struct rung *rung, int32_t v,
                                     struct measure *into) {
  struct fed_case fed = {0};
  struct answer answer = {0}, recorded = {0};
  struct arena scratch = {0};
  struct gate_reasons ignored = {0};
  assay_status status = fed_case_make(fit->plan, fit->plan->valid[v], &fed);
  if (assay_status_ok(status)) {
    status = answer_run(fit->plan, &fed, rung, &answer);
  }
  if (assay_status_ok(status) && fit->reference == NULL) {
    status = answer_recorded(&fed, -1, &recorded);
  }
  if (assay_status_ok(status)) {
    const struct answer *expected = fit->reference != NULL ? &fit->reference[v] : &recorded;
    status = measure_case(into, &fed, expected, &answer, false, &scratch, &ignored);
  }
  fed_case_free(fit->plan, &fed);
  answer_free(&answer);
  answer_free(&recorded);
  arena_free(&scratch);
  return status;
}

/* What one emulation errs by. An emulation that fails fits nothing. */
static assay_status emulate(const struct precision_fit *fit, const char *precision, int32_t n_cases, double *out) {
  struct rung_request request = *fit->graph;
  struct measure *measure = NULL;
  struct rung *rung = NULL;
  request.name = request.engine = "assay";
  request.precision = precision;
  request.threads = fit->threads;
  TRY(measure_open(fit->plan, &measure));
  assay_status status = rung_open(&request, &rung);
  for (int32_t v = 0; v < n_cases && assay_status_ok(status); v++) {
    status = measure_emulated(fit, rung, v, measure);
  }
  if (assay_status_ok(status)) {
    rms_all(measure, fit->plan, n_cases, out);
  }
  rung_close(rung);
  measure_close(measure);
  if (assay_code_kind_of(status.code) != ASSAY_KIND_INTERNAL) {
    assay_status_clear(&status);
  }
  return status;
}

static bool says_fp32(const struct precision_fit *fit) {
  const char *precision = fit->actual->precision != NULL ? fit->actual->precision : fit->rung->precision;
  return (precision == NULL || strcmp(precision, "fp32") == 0) && strcmp(fit->rung->engine, "assay") != 0;
}

/* Is the error of most components far above what rounding can do? */
static bool is_far(const struct precision_fit *fit, const double *rms) {
  int32_t far = 0;
  for (int32_t c = 0; c < fit->plan->n_components; c++) {
    far += fit->floor[c] > 0 && rms[c] > far_above * fit->floor[c];
  }
  return 2 * far > fit->plan->n_components;
}

/* The root mean square over all components, for the sentence. */
static double overall(const double *rms, int32_t count) {
  double sum = 0;
  for (int32_t c = 0; c < count; c++) {
    sum += rms[c] * rms[c];
  }
  return count > 0 ? sqrt(sum / count) : 0;
}

assay_status precision_fit_check(const struct precision_fit *fit, struct arena *arena, struct gate_reasons *reasons) {
  int32_t n = fit->plan->n_components, n_cases = fit->plan->n_valid < CASES ? fit->plan->n_valid : CASES;
  struct arena scratch = {0};
  double *rung, *emulated[KINDS];
  if (n_cases == 0 || !says_fp32(fit)) {
    return status_ok();
  }
  ARENA_NEW(&scratch, rung, n + 1);
  rms_all(fit->measure, fit->plan, n_cases, rung);
  assay_status status = status_ok();
  bool far = is_far(fit, rung);
  for (int k = 0; far && k < KINDS && assay_status_ok(status); k++) {
    emulated[k] = arena_alloc(&scratch, (size_t)n + 1, sizeof *emulated[k]);
    status = emulated[k] != NULL ? emulate(fit, kinds[k].precision, n_cases, emulated[k]) : status_no_memory(0);
  }
  int best = -1;
  if (far && assay_status_ok(status)) {
    best = precision_fit_choose(rung, (const double *const *)emulated, KINDS, n);
  }
  if (best >= 0) {
    status = gate_reason_say(arena, reasons, kinds[best].code,
                             "rung '%s' says fp32, but errs as %s does: its raw error has a root mean square of %.3g, "
                             "where the engine's emulation of tf32 has %.3g, of bf16 %.3g and of fp16 %.3g",
                             fit->rung->name, kinds[best].precision, overall(rung, n), overall(emulated[0], n),
                             overall(emulated[1], n), overall(emulated[2], n));
  }
  arena_free(&scratch);
  return status;
}
