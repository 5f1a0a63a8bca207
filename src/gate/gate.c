/* Rungs over cases, judged: the way of a case through the gate, from the check of the golden cases to the
 * verdict. The reader who wants to know what happens when reads gate_measure. It computes no figure. */
#include "gate/gate.h"

#include <math.h>
#include <string.h>

#include "contract/stages.h"
#include "gate/assemble.h"
#include "gate/assemble_guard.h"
#include "gate/check_cases.h"
#include "gate/detection_list.h"
#include "gate/golden.h"
#include "gate/guard_check.h"
#include "gate/judge.h"
#include "gate/measure.h"
#include "gate/pass.h"
#include "gate/precision_fit.h"
#include "gate/same_backend.h"
#include "gate/stage_drift.h"
#include "gate/stage_reference.h"
#include "gate/swapped_inputs.h"

static const char claim[] =
    "PASS says: parity with the reference on this corpus. It claims nothing about success at the task; rollouts do "
    "that.";

/* One rung while it is measured. */
struct rung_state {
  const struct gate_rung *gate_rung;
  struct rung_request request;
  struct pass pass;
  struct measure *measure;    /* NULL for the reference */
  struct stage_drift *stages; /* NULL for the reference, and for a policy of one file */
};

struct gate_state {
  struct gate_work *work;
  struct gate_result *result;
  struct plan plan;
  struct rung_state *rungs;
  struct noise_arrays self, rounding;
  struct noise_floors floors;
  struct stage_reference stage_reference; /* of a recorded reference */
};

/* --- running ------------------------------------------------------------------------------ */

/* What the sinks need to know. */
struct sink {
  struct gate_state *state;
  struct rung_state *rung;
};

/* The reference's own answers must be fit to compare with. */
static assay_status take_reference(void *user, const struct fed_case *fed, int32_t valid, const struct answer *answer) {
  const struct sink *sink = user;
  struct gate_state *state = sink->state;
  (void)valid;
  if (state->work->no_verdict) {
    return status_ok();
  }
  const char *who = sink->rung->request.name;
  struct gate_result *result = state->result;
  bool wide = sink->rung->pass.wide;
  TRY(golden_check_answer(&state->plan, fed, answer, who, wide, &result->arena, &result->reasons));
  return guard_check_golden(&state->plan, fed, answer, wide, who, &result->arena, &result->reasons);
}

static assay_status take_candidate(void *user, const struct fed_case *fed, int32_t valid, const struct answer *answer) {
  const struct sink *sink = user;
  struct gate_state *state = sink->state;
  struct rung_state *rung = sink->rung;
  int32_t reference = state->work->reference_rung;
  if (reference >= 0) {
    const struct pass *from = &state->rungs[reference].pass;
    if (rung->stages != NULL) {
      stage_drift_case(rung->stages, fed, &from->answers[valid], answer, false);
    }
    return measure_case(rung->measure, fed, &from->answers[valid], answer, rung->pass.wide || from->wide,
                        &state->result->arena, rung->pass.reasons);
  }
  struct answer recorded = {0};
  assay_status status = answer_recorded(fed, -1, &recorded);
  if (assay_status_ok(status)) {
    if (rung->stages != NULL) {
      stage_reference_complete(&state->stage_reference, valid, &recorded);
      stage_drift_case(rung->stages, fed, &recorded, answer, false);
    }
    status =
        measure_case(rung->measure, fed, &recorded, answer, rung->pass.wide, &state->result->arena, rung->pass.reasons);
  }
  answer_free(&recorded);
  return status;
}

/* One case with every stage fed what the reference gave before it; *whole where the runtime has no stages to feed. */
static assay_status answer_alone(struct gate_state *state, struct rung_state *rung, struct rung *runtime, int32_t v,
                                 bool *whole) {
  int32_t reference = state->work->reference_rung;
  struct fed_case fed = {0};
  struct answer recorded = {0}, answer = {0};
  assay_status status = fed_case_make(&state->plan, state->plan.valid[v], &fed);
  if (assay_status_ok(status) && reference < 0) {
    status = answer_recorded(&fed, -1, &recorded);
    stage_reference_complete(&state->stage_reference, v, &recorded);
  }
  const struct answer *from = reference < 0 ? &recorded : &state->rungs[reference].pass.answers[v];
  if (assay_status_ok(status)) {
    status = answer_run_alone(&state->plan, &fed, from, runtime, &answer);
  }
  *whole = assay_status_ok(status) && answer.steps > 0 && answer.step[0].n_inner == 0;
  if (assay_status_ok(status) && !*whole) {
    stage_drift_case(rung->stages, &fed, from, &answer, true);
  }
  fed_case_free(&state->plan, &fed);
  answer_free(&recorded);
  answer_free(&answer);
  return status;
}

/* All cases again in a session of their own, so that the rung's history is not touched. */
static assay_status run_alone(struct gate_state *state, struct rung_state *rung, const char **how) {
  struct rung *runtime = NULL;
  bool whole = false;
  *how = state->stage_reference.how;
  if (*how != NULL && state->stage_reference.answers == NULL) {
    return status_ok(); /* nothing that the stages could be fed */
  }
  *how = *how != NULL
             ? *how
             : "each stage, and each turn of a loop, was fed what the reference gave before it, over all cases again";
  if (rung->pass.reasons->count > 0 && rung->pass.steps_run == 0) {
    *how = "not measured: the rung did not answer";
    return status_ok();
  }
  assay_status status = rung_open(&rung->request, &runtime);
  if (assay_status_ok(status) && rung_replays(runtime)) {
    *how = "not measured: the answers were recorded";
  } else {
    for (int32_t v = 0; v < state->plan.n_valid && assay_status_ok(status) && !whole; v++) {
      progress_step(state->work->progress, "stages alone", (size_t)v, (size_t)state->plan.n_valid);
      status = answer_alone(state, rung, runtime, v, &whole);
    }
    *how = whole ? "not measured: the runtime answers for the policy as a whole" : *how;
    progress_step(state->work->progress, "stages alone", (size_t)state->plan.n_valid, (size_t)state->plan.n_valid);
  }
  rung_close(runtime);
  if (assay_status_ok(status) || assay_code_kind_of(status.code) == ASSAY_KIND_INTERNAL) {
    return status;
  }
  *how = arena_format(&state->result->arena, "not measured: %s", assay_status_sentence(status));
  assay_status_clear(&status);
  return *how != NULL ? status_ok() : status_no_memory(0);
}

/* An fp32 pass of assay's engine over the contract's own model also serves the rounding floor. */
static bool serves_rounding(const struct gate_state *state, const struct rung_state *rung) {
  const struct gate_work *work = state->work;
  const struct rung_request *request = &rung->request;
  bool fp32 = request->precision == NULL || strcmp(request->precision, "fp32") == 0;
  if (!fp32 || strcmp(request->engine, "assay") != 0) {
    return false;
  }
  if (work->stages != NULL) {
    bool same = work->stage_models != NULL && request->stages == work->stages;
    for (int32_t s = 0; same && s < work->stages->n_stages; s++) {
      same = strcmp(request->stage_models[s], work->stage_models[s]) == 0;
    }
    return same;
  }
  return work->model_path != NULL && request->model_path != NULL && strcmp(request->model_path, work->model_path) == 0;
}

static assay_status run_rung(struct gate_state *state, int32_t r) {
  struct gate_work *work = state->work;
  struct rung_state *rung = &state->rungs[r];
  struct rung_result *result = &state->result->rungs[r];
  struct sink sink = {state, rung};
  bool is_reference = r == work->reference_rung;
  if (!is_reference) {
    TRY(measure_open(&state->plan, &rung->measure));
  }
  if (!is_reference && state->plan.stages != NULL) {
    TRY(stage_drift_open(&state->plan, &rung->stages));
  }
  rung->pass = (struct pass){.plan = &state->plan,
                             .request = &rung->request,
                             .noise = work->noise,
                             .progress = work->progress,
                             .arena = &state->result->arena,
                             .reasons = &result->reasons,
                             .keep_answers = is_reference || serves_rounding(state, rung),
                             .sink = is_reference ? take_reference : take_candidate,
                             .sink_user = &sink};
  assay_status status = pass_run(&rung->pass);
  rung->pass.sink_user = NULL;
  if (assay_code_kind_of(status.code) == ASSAY_KIND_INPUT && !rung->gate_rung->required) {
    /* An optional rung that cannot be read does not void the others. */
    TRY(gate_reason_say(&state->result->arena, &result->reasons, status.code, "%s: %s", assay_status_where(status),
                        assay_status_sentence(status)));
    assay_status_clear(&status);
  }
  TRY(status);
  if (rung->stages != NULL) {
    TRY(run_alone(state, rung, &result->alone_how));
  }
  result->has_actual = rung->pass.has_actual;
  result->actual = rung->pass.actual;
  result->cases_run = rung->pass.cases_run;
  result->steps_run = rung->pass.steps_run;
  result->time_ns = rung->pass.time_ns;
  result->noise = rung->pass.done;
  if (rung->gate_rung->required && result->has_actual && result->actual.emulated) {
    TRY(gate_reason_say(&state->result->arena, &result->reasons, ASSAY_RUNG_INVALID,
                        "rung '%s' is required, but what ran was an emulation, which is never enough",
                        rung->request.name));
  }
  return status_ok();
}

/* What stands between the stages, where the reference does not tell. */
static assay_status stand_in_for_reference(struct gate_state *state) {
  const struct gate_work *work = state->work;
  struct answer *live = work->reference_rung >= 0 ? state->rungs[work->reference_rung].pass.answers : NULL;
  bool answered = work->reference_rung < 0 || live != NULL;
  for (int32_t v = 0; v < state->plan.n_valid && live != NULL; v++) {
    answered = answered && live[v].steps > 0;
  }
  if (!answered) {
    return status_ok();
  }
  TRY(stage_reference_make(&state->plan, live, work->stage_models, work->threads, work->progress, &state->result->arena,
                           &state->stage_reference));
  for (int32_t v = 0; v < state->plan.n_valid && live != NULL; v++) {
    stage_reference_complete(&state->stage_reference, v, &live[v]);
  }
  return status_ok();
}

/* The reference first: the others are compared with what it answered. */
static assay_status run_rungs(struct gate_state *state) {
  struct gate_work *work = state->work;
  if (work->reference_rung >= 0) {
    TRY(run_rung(state, work->reference_rung));
  }
  if (state->plan.stages != NULL) {
    TRY(stand_in_for_reference(state));
  }
  for (int32_t r = 0; r < work->n_rungs && !has_input_fault(&state->result->reasons); r++) {
    if (r != work->reference_rung) {
      TRY(run_rung(state, r));
    }
  }
  return status_ok();
}

/* --- noise ---------------------------------------------------------------------------------- */

static assay_status measure_rounding(struct gate_state *state, struct noise_result *noise) {
  struct gate_work *work = state->work;
  const struct answer *answers = NULL;
  const struct rung_request graph = {
      .model_path = work->model_path, .stages = work->stages, .stage_models = work->stage_models};
  if (work->model_path == NULL && work->stage_models == NULL) {
    noise->rounding_how = work->no_model;
    return status_ok();
  }
  for (int32_t r = 0; r < work->n_rungs && answers == NULL; r++) {
    const struct pass *pass = &state->rungs[r].pass;
    bool whole = serves_rounding(state, &state->rungs[r]) && pass->answers != NULL;
    for (int32_t v = 0; v < state->plan.n_valid && whole; v++) {
      whole = pass->answers[v].steps > 0;
    }
    answers = whole ? pass->answers : NULL;
  }
  return noise_rounding(&state->plan, &graph, work->threads, answers, work->progress, &state->result->arena,
                        &state->rounding, noise);
}

static assay_status measure_floors(struct gate_state *state) {
  struct gate_result *result = state->result;
  struct noise_result *noise = &result->reference_noise;
  int32_t reference = state->work->reference_rung;
  TRY(noise_arrays_make(&state->plan, &result->arena, &state->self));
  TRY(noise_arrays_make(&state->plan, &result->arena, &state->rounding));
  if (reference >= 0) {
    *noise = state->rungs[reference].pass.done;
    state->self = state->rungs[reference].pass.self;
  } else {
    TRY(noise_recorded(&state->plan, &result->arena, &state->self, noise));
  }
  TRY(measure_rounding(state, noise));
  return noise_floors_make(&state->plan, &result->arena, &state->self, &state->rounding, &state->floors);
}

/* --- judging ---------------------------------------------------------------------------------- */

/* A reference that did not do what it should voids every comparison with it. */
static assay_status judge_reference_rung(struct gate_state *state) {
  struct gate_result *result = state->result;
  int32_t reference = state->work->reference_rung;
  if (reference < 0) {
    return status_ok();
  }
  struct rung_result *rung = &result->rungs[reference];
  rung->verdict = verdict_of_reasons(&rung->reasons);
  for (int32_t i = 0; i < rung->reasons.count && rung->verdict != VERDICT_PASS; i++) {
    struct gate_reason reason = rung->reasons.items[i];
    reason.sentence =
        arena_format(&result->arena, "the reference '%s' cannot be compared with: %s", rung->name, reason.sentence);
    bool unstable = assay_code_kind_of(reason.code) == ASSAY_KIND_REJECT || reason.code == ASSAY_UNSTABLE_RUNG;
    reason.code = unstable ? ASSAY_UNSTABLE_REFERENCE : reason.code;
    if (reason.sentence == NULL) {
      return status_no_memory(0);
    }
    TRY(gate_reason_add(&result->arena, &result->reasons, &reason));
  }
  return status_ok();
}

static const struct measure *any_measure(const struct gate_state *state) {
  for (int32_t r = 0; r < state->work->n_rungs; r++) {
    const struct rung_state *rung = &state->rungs[r];
    for (int32_t d = 0; rung->measure != NULL && d < rung->measure->n_decisions; d++) {
      if (rung->measure->decisions[d].count > 0) {
        return rung->measure;
      }
    }
    if (rung->measure != NULL && detections_seen(rung->measure->detections, rung->measure->n_detections)) {
      return rung->measure;
    }
  }
  return NULL;
}

/* A case whose guard's answer hangs on the reference's own noise. Every rung was held against the same reference. */
static assay_status judge_guard_reference(struct gate_state *state) {
  struct gate_result *result = state->result;
  for (int32_t r = 0; r < state->work->n_rungs; r++) {
    const struct measure *measure = state->rungs[r].measure;
    if (measure != NULL && measure->guard.count > 0) {
      return guard_judge_reference(&measure->guard, &state->floors, &result->arena, &result->reasons);
    }
  }
  return status_ok();
}

static bool is_unstable(const struct gate_reasons *reasons) {
  for (int32_t i = 0; i < reasons->count; i++) {
    if (reasons->items[i].code == ASSAY_UNSTABLE_REFERENCE) {
      return true;
    }
  }
  return false;
}

/* A rung that says fp32 may err as something else. */
static assay_status check_precision(struct gate_state *state, int32_t r) {
  struct gate_work *work = state->work;
  struct rung_result *rung = &state->result->rungs[r];
  struct rung_request graph = {.model_path = state->rungs[r].request.model_path,
                               .stages = state->rungs[r].request.stages,
                               .stage_models = state->rungs[r].request.stage_models};
  if (graph.model_path == NULL && graph.stages == NULL) { /* a recorded rung: the contract's own */
    graph = (struct rung_request){
        .model_path = work->model_path, .stages = work->stages, .stage_models = work->stage_models};
  }
  int32_t reference = work->reference_rung;
  const struct precision_fit fit = {.plan = &state->plan,
                                    .measure = state->rungs[r].measure,
                                    .floor = state->floors.floor.raw,
                                    .reference = reference >= 0 ? state->rungs[reference].pass.answers : NULL,
                                    .graph = &graph,
                                    .rung = &state->rungs[r].request,
                                    .actual = &rung->actual,
                                    .threads = work->threads};
  bool can = !work->no_verdict && !work->outputs_only && rung->has_actual && rung->cases_run == state->plan.n_valid &&
             (graph.model_path != NULL || graph.stages != NULL) &&
             verdict_of_reasons(&rung->reasons) != VERDICT_BLOCKED;
  return can ? precision_fit_check(&fit, &state->result->arena, &rung->reasons) : status_ok();
}

/* Of a rung that was rejected and whose outputs alone do not say why. */
static assay_status look_at_inputs(struct gate_state *state, int32_t r) {
  struct gate_result *result = state->result;
  struct rung_state *rung = &state->rungs[r];
  struct gate_reasons *reasons = &result->rungs[r].reasons;
  int32_t reference = state->work->reference_rung;
  bool explained = state->work->outputs_only || rung->pass.cases_run < state->plan.n_valid;
  for (int32_t i = 0; i < reasons->count; i++) {
    explained = explained || reasons->items[i].code == ASSAY_LOOKS_LIKE;
  }
  return explained
             ? status_ok()
             : hints_of_inputs(&state->plan, &rung->request,
                               reference >= 0 ? state->rungs[reference].pass.answers : NULL, &result->arena, reasons);
}

static assay_status judge_rung(struct gate_state *state, int32_t r, bool unstable) {
  struct gate_result *result = state->result;
  struct rung_result *rung = &result->rungs[r];
  const struct rung_measured measured = {.plan = &state->plan,
                                         .gate_rung = state->rungs[r].gate_rung,
                                         .measure = state->rungs[r].measure,
                                         .pass = &state->rungs[r].pass,
                                         .floors = &state->floors};
  if (unstable) {
    TRY(gate_reason_say(&result->arena, &rung->reasons, ASSAY_UNSTABLE_REFERENCE,
                        "the reference differs from itself, so nothing is said about rung '%s'", rung->name));
  }
  TRY(check_precision(state, r));
  TRY(assemble_rung(&measured, &result->arena, rung));
  if (state->rungs[r].stages != NULL) {
    TRY(stage_drift_assemble(state->rungs[r].stages, measured.gate_rung, &result->arena, rung));
  }
  rung->verdict = verdict_of_reasons(&rung->reasons);
  return rung->verdict == VERDICT_REJECT && rung->n_components > 0 ? look_at_inputs(state, r) : status_ok();
}

static assay_status judge(struct gate_state *state) {
  struct gate_result *result = state->result;
  int32_t reference = state->work->reference_rung;
  const struct noise_arrays *history = reference >= 0 ? &state->rungs[reference].pass.history : NULL;
  TRY(judge_reference_rung(state));
  TRY(assemble_reference(&state->plan, any_measure(state), &state->floors, history, result->reference, &result->arena,
                         &result->reasons));
  TRY(judge_guard_reference(state));
  bool unstable = is_unstable(&result->reasons);
  for (int32_t r = 0; r < state->work->n_rungs; r++) {
    if (r != reference) {
      TRY(judge_rung(state, r, unstable));
    }
  }
  return same_backend_note(result);
}

/* --- the whole ----------------------------------------------------------------------------------- */

static assay_status prepare_rungs(struct gate_state *state) {
  struct gate_work *work = state->work;
  struct gate_result *result = state->result;
  ARENA_NEW(&result->arena, result->rungs, work->n_rungs + 1);
  ARENA_NEW(&result->arena, state->rungs, work->n_rungs + 1);
  result->n_rungs = work->n_rungs;
  for (int32_t r = 0; r < work->n_rungs; r++) {
    struct rung_state *rung = &state->rungs[r];
    rung->gate_rung = &work->rungs[r];
    rung->request = work->rungs[r].request;
    /* How many threads a recorded run had is a fact of that run, unless the gate file asks for a number. */
    bool recorded = strcmp(rung->request.engine, "recorded") == 0;
    if (rung->request.threads == 0 && !recorded) {
      rung->request.threads = work->threads;
    }
    result->rungs[r] = (struct rung_result){.name = rung->request.name,
                                            .engine = rung->request.engine,
                                            .required = work->rungs[r].required,
                                            .is_reference = r == work->reference_rung,
                                            .verdict = VERDICT_BLOCKED,
                                            .noise = {.self_how = "not measured: the rung was not run",
                                                      .rounding_how = "not measured: the rung was not run",
                                                      .history_max = NAN},
                                            .request = work->rungs[r].request};
  }
  return status_ok();
}

static assay_status not_judged(struct gate_state *state) {
  struct gate_result *result = state->result;
  for (int32_t r = 0; r < result->n_rungs; r++) {
    TRY(gate_reason_say(&result->arena, &result->rungs[r].reasons, ASSAY_NOT_RUN,
                        "not judged: the golden cases are not fit to be compared with"));
    result->rungs[r].verdict = VERDICT_BLOCKED;
  }
  return status_ok();
}

static assay_status say_others(struct gate_result *result) {
  ARENA_NEW(&result->arena, result->others, 2);
  result->others[0] = (struct other_answer){"package", "not run: no release was packed from this", VERDICT_BLOCKED};
  result->others[1] = (struct other_answer){"task", "not run: no rollouts were made", VERDICT_BLOCKED};
  result->n_others = 2;
  return status_ok();
}

/* The way of a case: checked, run by every rung, compared, and the whole judged. */
static assay_status measure_all(struct gate_state *state) {
  TRY(prepare_rungs(state));
  TRY(say_others(state->result));
  TRY(check_cases(state->work, &state->plan, state->result));
  if (!has_input_fault(&state->result->reasons)) {
    TRY(run_rungs(state));
  }
  if (has_input_fault(&state->result->reasons)) {
    return not_judged(state);
  }
  TRY(measure_floors(state));
  return judge(state);
}

assay_status gate_measure(struct gate_work *work, struct gate_result *result) {
  struct gate_state state = {.work = work, .result = result};
  result->reference = work->reference;
  result->claim = claim;
  result->reference_noise =
      (struct noise_result){.self_how = "not measured", .rounding_how = "not measured", .history_max = NAN};
  assay_status status = plan_make(work->contract, &work->cases, &state.plan);
  state.plan.outputs_only = work->outputs_only;
  if (assay_status_ok(status) && work->stages != NULL) {
    plan_take_stages(&state.plan, work->stages);
  }
  if (assay_status_ok(status)) {
    status = measure_all(&state);
  }
  for (int32_t r = 0; state.rungs != NULL && r < work->n_rungs; r++) {
    if (state.rungs[r].pass.plan != NULL) {
      pass_free(&state.rungs[r].pass);
    }
    measure_close(state.rungs[r].measure);
    stage_drift_close(state.rungs[r].stages);
  }
  stage_reference_free(&state.stage_reference, &state.plan);
  plan_free(&state.plan);
  if (assay_status_ok(status)) {
    judge_gate(result);
  }
  return status;
}
