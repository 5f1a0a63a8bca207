/* The reference's noise floor: what it differs from itself by, and what fp32 costs this graph. Both are
 * measured or said not to be; neither is ever guessed. */
#include <math.h>

#include "gate/measure.h"
#include "gate/pass.h"

/* --- fp32 against fp64 ---------------------------------------------------------------- */

struct rounding {
  struct plan *plan;
  struct rung *fp32, *fp64; /* fp32 NULL: its answers are there already */
  const struct answer *answers;
  const struct progress *progress;
};

static assay_status rounding_case(struct rounding *rounding, int32_t v, struct noise_arrays *out) {
  struct plan *plan = rounding->plan;
  struct fed_case fed = {0};
  struct answer narrow = {0}, wide = {0};
  const struct answer *from = &narrow;
  assay_status status = fed_case_make(plan, plan->valid[v], &fed);
  if (assay_status_ok(status)) {
    status = answer_run(plan, &fed, rounding->fp64, &wide);
  }
  if (assay_status_ok(status) && rounding->fp32 != NULL) {
    status = answer_run(plan, &fed, rounding->fp32, &narrow);
  } else if (rounding->fp32 == NULL) {
    from = &rounding->answers[v];
  }
  if (assay_status_ok(status)) {
    status = measure_noise(plan, &fed, from, &wide, out->raw, out->physical);
  }
  fed_case_free(plan, &fed);
  answer_free(&narrow);
  answer_free(&wide);
  return status;
}

static assay_status rounding_cases(struct rounding *rounding, const struct rung_request *request,
                                   struct noise_arrays *out) {
  struct rung_request wide = *request;
  wide.precision = "fp64";
  TRY(rung_open(&wide, &rounding->fp64));
  if (rounding->answers == NULL) {
    TRY(rung_open(request, &rounding->fp32));
  }
  for (int32_t v = 0; v < rounding->plan->n_valid; v++) {
    progress_step(rounding->progress, "fp64", (size_t)v, (size_t)rounding->plan->n_valid);
    TRY(rounding_case(rounding, v, out));
  }
  progress_step(rounding->progress, "fp64", (size_t)rounding->plan->n_valid, (size_t)rounding->plan->n_valid);
  return status_ok();
}

assay_status noise_rounding(struct plan *plan, const struct rung_request *graph, int threads,
                            const struct answer *answers, const struct progress *progress, struct arena *arena,
                            struct noise_arrays *out, struct noise_result *noise) {
  struct rounding rounding = {.plan = plan, .answers = answers, .progress = progress};
  struct rung_request request = {.name = "rounding floor",
                                 .engine = "assay",
                                 .precision = "fp32",
                                 .model_path = graph->model_path,
                                 .stages = graph->stages,
                                 .stage_models = graph->stage_models,
                                 .threads = threads};
  assay_status status = rounding_cases(&rounding, &request, out);
  rung_close(rounding.fp32);
  rung_close(rounding.fp64);
  if (assay_code_kind_of(status.code) == ASSAY_KIND_INTERNAL) {
    return status;
  }
  noise->rounding_measured = assay_status_ok(status) && plan->n_valid > 0;
  if (!noise->rounding_measured) {
    for (int32_t c = 0; c < plan->n_components; c++) { /* half a measurement is none */
      out->raw[c] = out->physical[c] = NAN;
    }
  }
  noise->rounding_how =
      noise->rounding_measured
          ? arena_format(arena, "this graph by assay's engine in fp32 against fp64, over %d case%s", (int)plan->n_valid,
                         plan->n_valid == 1 ? "" : "s")
          : arena_format(arena, "not measured: %s",
                         assay_status_ok(status) ? "there is no case" : assay_status_sentence(status));
  assay_status_clear(&status);
  return noise->rounding_how != NULL ? status_ok() : status_no_memory(0);
}

/* --- stored repeats -------------------------------------------------------------------- */

static assay_status recorded_case(struct plan *plan, int32_t v, struct noise_arrays *out, struct noise_result *noise) {
  struct fed_case fed = {0};
  struct answer answer = {0};
  assay_status status = fed_case_make(plan, plan->valid[v], &fed);
  if (assay_status_ok(status)) {
    status = answer_recorded(&fed, -1, &answer);
  }
  for (int32_t r = 0; assay_status_ok(status) && r < fed.data->n_repeats; r++) {
    struct answer repeat = {0};
    status = answer_recorded(&fed, r, &repeat);
    if (assay_status_ok(status)) { /* in this order: what a repeat lacks says nothing */
      status = measure_noise(plan, &fed, &repeat, &answer, out->raw, out->physical);
      noise->repeats++;
    }
    answer_free(&repeat);
  }
  fed_case_free(plan, &fed);
  answer_free(&answer);
  return status;
}

assay_status noise_recorded(struct plan *plan, struct arena *arena, struct noise_arrays *out,
                            struct noise_result *noise) {
  for (int32_t v = 0; v < plan->n_valid; v++) {
    TRY(recorded_case(plan, v, out, noise));
  }
  noise->self_measured = noise->repeats > 0;
  noise->self_how = noise->self_measured
                        ? arena_format(arena, "%lld repeats that the corpus stores", (long long)noise->repeats)
                        : arena_string(arena, "not measured: the corpus stores no repeats of the source's answers");
  noise->history_max = NAN;
  return noise->self_how != NULL ? status_ok() : status_no_memory(0);
}
