/* Inner values for a reference that stores none: see stage_reference.h. What does not give the reference's answers
 * never stands in for it. */
#include "gate/stage_reference.h"

#include <math.h>
#include <string.h>

#include "contract/stages.h"
#include "core/memory.h"
#include "gate/drift.h"
#include "gate/judge.h"
#include "gate/measure.h"

void stage_reference_free(struct stage_reference *reference, const struct plan *plan) {
  for (int32_t v = 0; reference->answers != NULL && v < plan->n_valid; v++) {
    answer_free(&reference->answers[v]);
  }
  memory_free(reference->answers);
  *reference = (struct stage_reference){0};
}

void stage_reference_complete(const struct stage_reference *reference, int32_t valid, struct answer *recorded) {
  const struct answer *from = reference->answers != NULL ? &reference->answers[valid] : NULL;
  for (int64_t step = 0; from != NULL && step < recorded->steps && step < from->steps; step++) {
    if (recorded->step[step].n_inner == 0) {
      recorded->step[step].inner = from->step[step].inner;
      recorded->step[step].n_inner = from->step[step].n_inner;
    }
  }
}

/* Does the case itself store everything that stages hand on? */
static bool is_complete(const struct plan *plan, const struct answer *recorded) {
  const struct bound_stages *stages = plan->stages;
  for (int32_t v = 0; v < stages->n_values; v++) {
    if (stages->values[v].taken && answer_find_inner(recorded, 0, stages->values[v].name) == NULL) {
      return false;
    }
  }
  for (int32_t s = 0; s < stages->n_stages; s++) {
    if (stages->stages[s].stage->repeat > 1 && recorded->steps > 0 && recorded->step[0].n_inner == 0) {
      return false; /* its turns */
    }
  }
  return true;
}

static double raw_limit(const struct contract_component *component) {
  double limit = tolerance_limit(&component->tolerance), factor = component_factor(component);
  return component->tolerance.raw || !(factor > 0) ? limit : limit / factor;
}

/* Every output that is to be judged is within its tolerance of what was recorded. */
static bool agrees(const struct plan *plan, const struct answer *recorded, const struct answer *own) {
  for (int64_t step = 0; step < recorded->steps; step++) {
    for (int32_t o = 0; o < plan->n_outputs; o++) {
      const struct contract_output *output = plan->outputs[o].output;
      const assay_tensor *from = answer_find(recorded, step, output->name), *to = answer_find(own, step, output->name);
      if (from == NULL) {
        continue;
      }
      if (to == NULL || !shape_equal(from, to) || to->dtype != from->dtype) {
        return false;
      }
      for (int64_t i = 0; i < tensor_count(from) && from->dtype != ASSAY_STRING; i++) {
        int64_t horizon_step = 0;
        double limit = raw_limit(&output->components[contract_component_of(output, from, i, &horizon_step)]);
        double difference = drift_difference(tensor_get(from, i), tensor_get(to, i), true);
        if (!isnan(limit) && !(difference <= limit)) {
          return false;
        }
      }
    }
  }
  return true;
}

/* One case; *needed where it lacks inner values, *fit where the run gives what was recorded. */
static assay_status make_case(struct plan *plan, int32_t v, struct rung *rung, struct answer *out, bool *needed,
                              bool *fit) {
  struct fed_case fed = {0};
  struct answer recorded = {0};
  assay_status status = fed_case_make(plan, plan->valid[v], &fed);
  if (assay_status_ok(status)) {
    status = answer_recorded(&fed, -1, &recorded);
  }
  bool lacks = assay_status_ok(status) && !is_complete(plan, &recorded);
  if (lacks) {
    status = answer_run(plan, &fed, rung, out);
    *needed = true;
    *fit = assay_status_ok(status) && agrees(plan, &recorded, out);
  }
  fed_case_free(plan, &fed);
  answer_free(&recorded);
  return status;
}

static assay_status make_all(struct plan *plan, struct rung *rung, const struct progress *progress,
                             struct stage_reference *out, bool *needed, bool *fit) {
  for (int32_t v = 0; v < plan->n_valid && *fit; v++) {
    progress_step(progress, "between the stages", (size_t)v, (size_t)plan->n_valid);
    TRY(make_case(plan, v, rung, &out->answers[v], needed, fit));
  }
  progress_step(progress, "between the stages", (size_t)plan->n_valid, (size_t)plan->n_valid);
  return status_ok();
}

assay_status stage_reference_make(struct plan *plan, const char *const *models, int threads,
                                  const struct progress *progress, struct arena *arena, struct stage_reference *out) {
  struct rung_request request = {.name = "between the stages",
                                 .engine = "assay",
                                 .precision = "fp32",
                                 .threads = threads,
                                 .stages = plan->stages,
                                 .stage_models = models};
  struct rung *rung = NULL;
  bool needed = false, fit = true;
  *out = (struct stage_reference){0};
  if (models == NULL) {
    return status_ok();
  }
  out->answers = memory_alloc((size_t)plan->n_valid + 1, sizeof *out->answers);
  if (out->answers == NULL) {
    return status_no_memory((size_t)plan->n_valid * sizeof *out->answers);
  }
  assay_status status = rung_open(&request, &rung);
  if (assay_status_ok(status)) {
    status = make_all(plan, rung, progress, out, &needed, &fit);
  }
  rung_close(rung);
  if (assay_code_kind_of(status.code) == ASSAY_KIND_INTERNAL) {
    stage_reference_free(out, plan);
    return status;
  }
  const char *how = NULL;
  if (!assay_status_ok(status)) {
    how = arena_format(arena,
                       "not measured: the corpus stores nothing of what stands between the stages, and assay's own "
                       "run of the contract's files cannot stand in for it: %s",
                       assay_status_sentence(status));
  } else if (!fit) {
    how =
        "not measured: the corpus stores nothing of what stands between the stages, and assay's own fp32 run of the "
        "contract's files does not give the recorded answers, so it cannot stand in for them; store taps/<value>";
  } else if (needed) {
    how =
        "each stage, and each turn of a loop, was fed what assay's own fp32 run of the contract's files gave before "
        "it, "
        "over all cases again: it gives the recorded answers, and the corpus stores nothing of what stands between";
  }
  bool failed = !assay_status_ok(status);
  assay_status_clear(&status);
  if (failed || !fit || !needed) {
    stage_reference_free(out, plan);
  }
  out->how = how;
  return failed && how == NULL ? status_no_memory(0) : status_ok();
}
