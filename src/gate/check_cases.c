/* Every case before anything runs: is it fit to be compared with, and do invalid ones get their refusal? Findings are
 * reasons of the gate as a whole; nothing is compared here. */
#include "gate/check_cases.h"

#include <stdlib.h>
#include <string.h>

#include "contract/stages.h"
#include "gate/golden.h"
#include "gate/guard_check.h"
#include "gate/held_check.h"
#include "gate/noise_check.h"

struct case_check {
  const struct gate_work *work;
  struct plan *plan;
  struct gate_result *result;
  struct noise_check *noise;
  struct held_check held;
};

/* The answer that the case itself stores. */
static assay_status check_recorded(struct case_check *check, const struct fed_case *fed) {
  struct gate_result *result = check->result;
  const char *who = check->work->outputs_only ? check->work->reference : "the source";
  struct answer answer = {0};
  assay_status status = answer_recorded(fed, -1, &answer);
  if (assay_status_ok(status)) {
    status = golden_check_answer(check->plan, fed, &answer, who, false, &result->arena, &result->reasons);
  }
  if (assay_status_ok(status)) {
    status = guard_check_golden(check->plan, fed, &answer, false, who, &result->arena, &result->reasons);
  }
  answer_free(&answer);
  return status;
}

/* Is "x" or "x@3" a value that a stage gives, or a turn of a loop that carries it? */
static bool is_inner_value(const struct bound_stages *stages, const char *tap) {
  const char *at = strchr(tap, '@');
  size_t length = at != NULL ? (size_t)(at - tap) : strlen(tap);
  for (int32_t v = 0; stages != NULL && v < stages->n_values; v++) {
    const struct stage_value *value = &stages->values[v];
    int32_t turns = stages->stages[value->stage].stage->repeat;
    char *end = NULL;
    long turn = at != NULL ? strtol(at + 1, &end, 10) : 0;
    bool has_turn = at == NULL || (end != at + 1 && *end == '\0' && turn >= 1 && turn < turns);
    if (strlen(value->name) == length && strncmp(value->name, tap, length) == 0 && has_turn) {
      return true;
    }
  }
  return false;
}

/* What stood between the stages is compared too, so a name that is none of them is not let pass. Of a policy without
 * stages nothing inside is compared, and what else a case keeps is its own. */
static assay_status check_taps(struct case_check *check, const struct fed_case *fed) {
  if (check->work->stages == NULL) {
    return status_ok();
  }
  for (int32_t t = 0; t < fed->data->n_taps; t++) {
    const struct case_array *tap = &fed->data->taps[t];
    if (is_inner_value(check->work->stages, tap->name)) {
      continue;
    }
    TRY(golden_say(&check->result->arena, &check->result->reasons, gate_reason_of(ASSAY_INVALID_GOLDEN), fed, -1,
                   "case '%s' records taps/%s, which is no value that stands between the stages of the contract",
                   fed->entry->id, tap->name));
  }
  return status_ok();
}

static assay_status check_case(struct case_check *check, int32_t index) {
  struct gate_result *result = check->result;
  struct fed_case fed = {0};
  assay_status status = fed_case_make(check->plan, index, &fed);
  if (assay_status_ok(status)) {
    held_check_see(&check->held, fed.data);
  }
  if (assay_status_ok(status) && !check->plan->outputs_only) {
    status = noise_check_case(check->noise, &fed, &result->arena, &result->reasons);
  }
  if (status.code == ASSAY_INVALID_GOLDEN) {
    assay_status said = golden_say(&result->arena, &result->reasons, gate_reason_of(ASSAY_INVALID_GOLDEN), &fed, -1,
                                   "%s", assay_status_sentence(status));
    assay_status_clear(&status);
    status = said;
  } else if (assay_status_ok(status)) {
    if (!check->plan->outputs_only) {
      status = golden_check_inputs(check->plan, &fed, &result->arena, &result->reasons);
    }
    if (assay_status_ok(status) && !check->plan->outputs_only) {
      status = check_taps(check, &fed);
    }
    if (assay_status_ok(status) && check->work->reference_rung < 0) {
      status = check_recorded(check, &fed);
    }
  }
  fed_case_free(check->plan, &fed);
  return status;
}

static assay_status check_invalid_case(struct case_check *check, int32_t index) {
  struct gate_result *result = check->result;
  struct invalid_case_result *invalid = &result->invalid[result->n_invalid++];
  TRY(invalid_case_check(check->plan, index, &result->arena, invalid));
  if (invalid->verdict == VERDICT_PASS) {
    return status_ok();
  }
  struct gate_reason reason = gate_reason_of(ASSAY_INVALID_ACCEPTED);
  reason.case_id = invalid->case_id;
  reason.sentence = invalid->sentence;
  return gate_reason_add(&result->arena, &result->reasons, &reason);
}

static assay_status name_cases(struct case_check *check) {
  const char **ids;
  ARENA_NEW(&check->result->arena, ids, check->plan->cases.n + 1);
  for (int32_t i = 0; i < check->plan->cases.n; i++) {
    ids[i] = check->plan->cases.entries[i].id;
  }
  check->result->case_ids = ids;
  check->result->n_cases = check->plan->n_valid;
  return status_ok();
}

static assay_status check_all(struct case_check *check) {
  struct plan *plan = check->plan;
  struct gate_result *result = check->result;
  TRY(name_cases(check));
  TRY(noise_check_open(plan, &check->noise));
  TRY(held_check_open(plan->contract, &plan->arena, &check->held));
  ARENA_NEW(&result->arena, result->invalid, plan->cases.n + 1);
  for (int32_t i = 0; i < plan->cases.n; i++) {
    progress_step(check->work->progress, "checking cases", (size_t)i, (size_t)plan->cases.n);
    TRY(plan->cases.entries[i].refuse ? check_invalid_case(check, i) : check_case(check, i));
  }
  progress_step(check->work->progress, "checking cases", (size_t)plan->cases.n, (size_t)plan->cases.n);
  TRY(noise_check_end(check->noise, &result->arena, &result->reasons));
  if (plan->n_valid > 0 && !plan->outputs_only && !check->work->no_verdict) {
    TRY(held_check_note(&check->held, result));
  }
  return plan->n_valid > 0 ? status_ok()
                           : gate_reason_say(&result->arena, &result->reasons, ASSAY_NOTHING_COMPARED,
                                             "the corpus has no case with an answer, so nothing can be compared");
}

assay_status check_cases(const struct gate_work *work, struct plan *plan, struct gate_result *result) {
  struct case_check check = {.work = work, .plan = plan, .result = result};
  assay_status status = check_all(&check);
  noise_check_close(check.noise);
  return status;
}
