/* One rung over all cases: see pass.h. It judges nothing; it must never let a rung's failure end the gate,
 * nor count repeats as answers. */
#include "gate/pass.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/clock.h"
#include "core/memory.h"
#include "gate/measure.h"
#include "gate/random_rung.h"

/* Cases that are answered again, the first of the corpus, unless the gate says how many. */
enum { NOISE_CASES_DEFAULT = 4 };

assay_status noise_arrays_make(const struct plan *plan, struct arena *arena, struct noise_arrays *out) {
  ARENA_NEW(arena, out->raw, plan->n_components + 1);
  ARENA_NEW(arena, out->physical, plan->n_components + 1);
  for (int32_t c = 0; c < plan->n_components; c++) {
    out->raw[c] = out->physical[c] = NAN;
  }
  return status_ok();
}

static int32_t noise_cases(const struct pass *pass) {
  int32_t wanted = pass->noise->cases > 0 ? pass->noise->cases : NOISE_CASES_DEFAULT;
  return wanted < pass->plan->n_valid ? wanted : pass->plan->n_valid;
}

/* Does this failure end the whole gate? A recorded run that is damaged is wrong input; a runtime that
 * fails is the rung's own affair. */
static bool ends_the_gate(assay_status status, bool replays) {
  assay_code_kind kind = assay_code_kind_of(status.code);
  return kind == ASSAY_KIND_INTERNAL || (kind == ASSAY_KIND_INPUT && replays);
}

/* Turns a rung's failure into a reason, or hands it on when it ends the gate. */
static assay_status absorb(struct pass *pass, assay_status status, const char *case_id, bool replays) {
  if (assay_status_ok(status) || ends_the_gate(status, replays)) {
    return status;
  }
  assay_code code = assay_code_kind_of(status.code) == ASSAY_KIND_INPUT ? ASSAY_RUNG_FAILED : status.code;
  struct gate_reason reason = gate_reason_of(code);
  const char *where = assay_status_where(status);
  reason.case_id = case_id;
  reason.sentence =
      arena_format(pass->arena, "%s%s%s", where, *where != '\0' ? ": " : "", assay_status_sentence(status));
  assay_status_clear(&status);
  return reason.sentence != NULL ? gate_reason_add(pass->arena, pass->reasons, &reason) : status_no_memory(0);
}

/* --- the first answers ----------------------------------------------------------- */

static assay_status first_answer(struct pass *pass, struct rung *rung, int32_t v) {
  struct plan *plan = pass->plan;
  struct fed_case fed = {0};
  struct answer answer = {0};
  assay_status status = fed_case_make(plan, plan->valid[v], &fed);
  if (assay_status_ok(status)) {
    int64_t begin = clock_now_ns();
    status = absorb(pass, answer_run(plan, &fed, rung, &answer), fed.entry->id, rung_replays(rung));
    pass->time_ns += clock_now_ns() - begin;
    pass->cases_run++;
    pass->steps_run += answer.steps;
  }
  if (assay_status_ok(status) && answer.steps == fed.steps && pass->sink != NULL) {
    status = pass->sink(pass->sink_user, &fed, v, &answer);
  }
  bool whole = assay_status_ok(status) && answer.steps == fed.steps;
  fed_case_free(plan, &fed);
  if (whole && (pass->keep_answers || v < noise_cases(pass))) {
    pass->answers[v] = answer;
  } else {
    answer_free(&answer);
  }
  return status;
}

/* Every case once, in the corpus' order. A rung that fails is asked no more. */
static assay_status first_answers(struct pass *pass, struct rung *rung) {
  for (int32_t v = 0; v < pass->plan->n_valid; v++) {
    int32_t before = pass->reasons->count;
    progress_step(pass->progress, pass->request->name, (size_t)v, (size_t)pass->plan->n_valid);
    TRY(first_answer(pass, rung, v));
    bool failed = pass->reasons->count > before &&
                  assay_code_kind_of(pass->reasons->items[before].code) == ASSAY_KIND_BLOCKED &&
                  pass->reasons->items[before].output == NULL;
    if (failed) {
      break;
    }
  }
  progress_step(pass->progress, pass->request->name, (size_t)pass->plan->n_valid, (size_t)pass->plan->n_valid);
  return status_ok();
}

/* --- again ------------------------------------------------------------------------ */

/* Answers case v again and raises `into` by what differs from its first answer. */
static assay_status again(struct pass *pass, struct rung *rung, int32_t v, struct noise_arrays *into, bool *failed) {
  struct plan *plan = pass->plan;
  struct fed_case fed = {0};
  struct answer answer = {0};
  assay_status status = fed_case_make(plan, plan->valid[v], &fed);
  if (assay_status_ok(status)) {
    int32_t before = pass->reasons->count;
    status = absorb(pass, answer_run(plan, &fed, rung, &answer), fed.entry->id, false);
    *failed = pass->reasons->count > before;
  }
  if (assay_status_ok(status) && !*failed) {
    status = measure_noise(plan, &fed, &pass->answers[v], &answer, into->raw, into->physical);
  }
  fed_case_free(plan, &fed);
  answer_free(&answer);
  return status;
}

/* In the same session: the noise cases in reverse order, then the first one at once again. */
static assay_status in_other_orders(struct pass *pass, struct rung *rung) {
  int32_t n = noise_cases(pass);
  bool failed = false;
  for (int32_t v = n - 1; v >= 0 && !failed; v--) {
    TRY(again(pass, rung, v, &pass->history, &failed));
  }
  for (int32_t r = 0; r < pass->noise->repeats && n > 0 && !failed; r++) {
    TRY(again(pass, rung, 0, &pass->history, &failed));
    pass->done.repeats++;
  }
  pass->done.history_checked = n > 0 && !failed;
  return status_ok();
}

/* In a fresh session, in the order of the first answers: the same history. */
static assay_status in_fresh_session(struct pass *pass, int threads, bool isolated, bool *failed) {
  struct rung_request request = *pass->request;
  struct rung *rung = NULL;
  request.threads = threads;
  *failed = false;
  int32_t before = pass->reasons->count;
  TRY(absorb(pass, isolated ? rung_open_isolated(&request, &rung) : rung_open(&request, &rung), NULL, false));
  *failed = pass->reasons->count > before;
  assay_status status = status_ok();
  for (int32_t v = 0; v < noise_cases(pass) && !*failed && assay_status_ok(status); v++) {
    status = again(pass, rung, v, &pass->self, failed);
  }
  rung_close(rung);
  return status;
}

static assay_status in_fresh_sessions(struct pass *pass) {
  const struct gate_noise *noise = pass->noise;
  bool failed = false;
  for (int32_t i = 0; i < noise->rebuild && !failed; i++) {
    TRY(in_fresh_session(pass, pass->request->threads, false, &failed));
    pass->done.sessions += !failed;
  }
  for (int32_t i = 0; i < noise->processes && !failed; i++) {
    TRY(in_fresh_session(pass, pass->request->threads, true, &failed));
    pass->done.processes += !failed;
  }
  for (int32_t i = 0; i < noise->n_threads && !failed; i++) {
    TRY(in_fresh_session(pass, noise->threads[i], false, &failed));
    pass->done.threads += !failed;
  }
  pass->done.self_measured = pass->done.sessions + pass->done.processes + pass->done.threads > 0;
  return status_ok();
}

/* One sentence on what was repeated. */
static assay_status say_how(struct pass *pass, bool replays) {
  struct noise_result *done = &pass->done;
  int32_t n = noise_cases(pass), all = pass->plan->n_valid;
  if (replays) {
    done->self_how = "not measured: the answers were recorded";
  } else if (!done->self_measured) {
    done->self_how = "not measured: no fresh session answered";
  } else {
    done->self_how =
        arena_format(pass->arena,
                     "the first %d of %d cases again, in order, in %" PRId64 " fresh sessions, %" PRId64
                     " fresh processes and with %" PRId64
                     " thread counts; in one session in reverse order, and the first case %" PRId64 " times more",
                     (int)n, (int)all, done->sessions, done->processes, done->threads, done->repeats);
  }
  return done->self_how != NULL ? status_ok() : status_no_memory(0);
}

/* --- the whole ---------------------------------------------------------------------- */

static assay_status copy_string(struct arena *arena, const char **string) {
  if (*string != NULL) {
    *string = arena_string(arena, *string);
    return *string != NULL ? status_ok() : status_no_memory(0);
  }
  return status_ok();
}

/* What really ran outlives the rung. */
static assay_status keep_actual(struct pass *pass, struct rung *rung) {
  struct rung_actual *actual = &pass->actual;
  rung_describe(rung, actual);
  const char **const strings[] = {&actual->engine,    &actual->version,     &actual->provider,
                                  &actual->precision, &actual->accumulator, &actual->device,
                                  &actual->tf32,      &actual->note,        &actual->model_precision};
  for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++) {
    TRY(copy_string(pass->arena, strings[i]));
  }
  struct rung_placement *placement;
  struct rung_setting *facts;
  ARENA_NEW(pass->arena, placement, actual->n_placement + 1);
  ARENA_NEW(pass->arena, facts, actual->n_facts + 1);
  for (int32_t i = 0; i < actual->n_placement; i++) {
    placement[i] = actual->placement[i];
    TRY(copy_string(pass->arena, &placement[i].node));
    TRY(copy_string(pass->arena, &placement[i].provider));
    TRY(copy_string(pass->arena, &placement[i].precision));
  }
  for (int32_t i = 0; i < actual->n_facts; i++) {
    facts[i] = actual->facts[i];
    TRY(copy_string(pass->arena, &facts[i].key));
    TRY(copy_string(pass->arena, &facts[i].value));
  }
  actual->placement = placement;
  actual->facts = facts;
  pass->has_actual = true;
  return status_ok();
}

/* fp64 sessions answer float64 where the graph says float32. Asked for is enough: what ran is checked. */
static bool asks_for_fp64(const struct rung_request *request) {
  return request->precision != NULL && strcmp(request->precision, "fp64") == 0;
}

static assay_status run_open_rung(struct pass *pass, struct rung *rung) {
  TRY(first_answers(pass, rung));
  bool answered = pass->plan->n_valid > 0 && pass->answers[noise_cases(pass) - 1].steps > 0;
  for (int32_t v = 0; v < noise_cases(pass); v++) {
    answered = answered && pass->answers[v].steps > 0;
  }
  if (answered && !rung_replays(rung)) {
    TRY(in_other_orders(pass, rung));
  }
  TRY(keep_actual(pass, rung));
  TRY(absorb(pass, rung_check_actual(pass->request, &pass->actual), NULL, false));
  if (answered && !rung_replays(rung)) {
    TRY(in_fresh_sessions(pass));
  }
  return say_how(pass, rung_replays(rung));
}

assay_status pass_run(struct pass *pass) {
  struct rung *rung = NULL;
  pass->answers = memory_alloc((size_t)pass->plan->n_valid + 1, sizeof *pass->answers);
  if (pass->answers == NULL) {
    return status_no_memory((size_t)pass->plan->n_valid * sizeof *pass->answers);
  }
  pass->wide = asks_for_fp64(pass->request);
  pass->done.history_max = NAN;
  pass->done.self_how = "not measured: the rung did not open";
  TRY(noise_arrays_make(pass->plan, pass->arena, &pass->self));
  TRY(noise_arrays_make(pass->plan, pass->arena, &pass->history));
  bool random = false;
  TRY(random_rung_say(pass->request, pass->arena, pass->reasons, &random));
  if (random) {
    pass->done.self_how = "not measured: the model draws random numbers";
    return status_ok();
  }
  assay_status opened = rung_open(pass->request, &rung);
  if (assay_code_kind_of(opened.code) == ASSAY_KIND_INPUT) {
    return opened; /* a model or run folder that cannot be read is wrong input */
  }
  TRY(absorb(pass, opened, NULL, false));
  if (rung == NULL) {
    return status_ok();
  }
  assay_status status = run_open_rung(pass, rung);
  rung_close(rung);
  return status;
}

void pass_free(struct pass *pass) {
  for (int32_t v = 0; pass->answers != NULL && v < pass->plan->n_valid; v++) {
    answer_free(&pass->answers[v]);
  }
  memory_free(pass->answers);
  pass->answers = NULL;
}
