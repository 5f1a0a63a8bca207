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

void stage_reference_complete(const struct stage_reference *reference, int32_t valid, struct answer *answer) {
  const struct answer *from = reference->answers != NULL ? &reference->answers[valid] : NULL;
  for (int64_t step = 0; from != NULL && step < answer->steps && step < from->steps; step++) {
    if (answer->step[step].n_inner == 0) {
      answer->step[step].inner = from->step[step].inner;
      answer->step[step].n_inner = from->step[step].n_inner;
    }
  }
}

/* Does the answer hold everything that stages hand on? */
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

/* The run that is to stand in, in progress. */
struct stand_in {
  struct plan *plan;
  const struct answer *live;
  const struct rung_request *request;
  struct rung *rung; /* opened when it is needed */
  bool unfit;        /* it does not give the reference's answers */
};

static assay_status make_case(struct stand_in *stand_in, int32_t v, struct answer *out) {
  struct plan *plan = stand_in->plan;
  struct fed_case fed = {0};
  struct answer recorded = {0};
  const struct answer *reference = stand_in->live != NULL ? &stand_in->live[v] : &recorded;
  assay_status status = fed_case_make(plan, plan->valid[v], &fed);
  if (assay_status_ok(status) && stand_in->live == NULL) {
    status = answer_recorded(&fed, -1, &recorded);
  }
  bool lacks = assay_status_ok(status) && !is_complete(plan, reference);
  if (lacks && stand_in->rung == NULL) {
    status = rung_open(stand_in->request, &stand_in->rung);
  }
  if (lacks && assay_status_ok(status)) {
    status = answer_run(plan, &fed, stand_in->rung, out);
    stand_in->unfit = assay_status_ok(status) && !agrees(plan, reference, out);
  }
  fed_case_free(plan, &fed);
  answer_free(&recorded);
  return status;
}

static assay_status make_all(struct stand_in *stand_in, const struct progress *progress, struct stage_reference *out) {
  int32_t n = stand_in->plan->n_valid;
  for (int32_t v = 0; v < n && !stand_in->unfit; v++) {
    progress_step(progress, "between the stages", (size_t)v, (size_t)n);
    TRY(make_case(stand_in, v, &out->answers[v]));
  }
  progress_step(progress, "between the stages", (size_t)n, (size_t)n);
  return status_ok();
}

/* One sentence on what the stages will be fed; NULL where the reference tells everything itself. */
static const char *say_how(const struct stand_in *stand_in, assay_status status, struct arena *arena) {
  if (!assay_status_ok(status)) {
    return arena_format(arena,
                        "not measured: the reference tells nothing of what stands between the stages, and assay's own "
                        "run of the contract's files cannot stand in for it: %s",
                        assay_status_sentence(status));
  }
  if (stand_in->unfit) {
    return "not measured: the reference tells nothing of what stands between the stages, and assay's own fp32 run of "
           "the contract's files does not give its answers, so it cannot stand in; store taps/<value> in the cases";
  }
  return stand_in->rung != NULL
             ? "each stage, and each turn of a loop, was fed what assay's own fp32 run of the contract's files gave "
               "before it, over all cases again: it gives the reference's answers, which tells nothing of what stands "
               "between"
             : NULL;
}

assay_status stage_reference_make(struct plan *plan, const struct answer *live, const char *const *models, int threads,
                                  const struct progress *progress, struct arena *arena, struct stage_reference *out) {
  const struct rung_request request = {.name = "between the stages",
                                       .engine = "assay",
                                       .precision = "fp32",
                                       .threads = threads,
                                       .stages = plan->stages,
                                       .stage_models = models};
  struct stand_in stand_in = {.plan = plan, .live = live, .request = &request};
  *out = (struct stage_reference){0};
  if (models == NULL) {
    return status_ok();
  }
  out->answers = memory_alloc((size_t)plan->n_valid + 1, sizeof *out->answers);
  if (out->answers == NULL) {
    return status_no_memory((size_t)plan->n_valid * sizeof *out->answers);
  }
  assay_status status = make_all(&stand_in, progress, out);
  bool stands = assay_status_ok(status) && !stand_in.unfit && stand_in.rung != NULL;
  rung_close(stand_in.rung);
  if (assay_code_kind_of(status.code) == ASSAY_KIND_INTERNAL) {
    stage_reference_free(out, plan);
    return status;
  }
  const char *how = say_how(&stand_in, status, arena);
  bool failed = !assay_status_ok(status);
  assay_status_clear(&status);
  if (!stands) {
    stage_reference_free(out, plan);
  }
  out->how = how;
  return failed && how == NULL ? status_no_memory(0) : status_ok();
}
