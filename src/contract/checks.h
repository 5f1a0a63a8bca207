/* Everything that a guard asks before an action goes to the robot, as pure functions: validity and age of the inputs
 * (apply.h, freshness.h), external monitors (monitors.h), and the action itself. The gate asks them of every rung, and
 * what runs beside the policy asks the same. Nothing is ever clamped into range. Allocates only to make the sentence of
 * a refusal. Thread-safe. */
#ifndef CONTRACT_CHECKS_H
#define CONTRACT_CHECKS_H

#include "contract/freshness.h"
#include "contract/monitors.h"

/* What is known beside the action. */
struct action_context {
  const struct fed_inputs *inputs; /* what it answers, for decoding; NULL where nothing was fed */
  double age_ms;                   /* since its observation, when it would be sent; NAN: not known, and not checked */
  const double *last;              /* the decoded components of the action sent before; NULL at the start */
};

/* Whether an action may be sent: ACTION_STALE (older than the output's max_age_ms), ACTION_SHAPE (not given, empty,
 * short, retyped), ACTION_NONFINITE (in the model's number or the decoded one), ACTION_LIMIT, ACTION_RATE, or ASSAY_OK;
 * each kind over the whole action before the next. Looks at the steps that `execute` names, all of them before the
 * first is sent. `raw` NULL: there is none. */
ASSAY_MUST_CHECK assay_status contract_check_action(const struct contract *contract,
                                                    const struct contract_output *output, const assay_tensor *raw,
                                                    const struct action_context *context);

/* The guard's answers: ASSAY_OK, which is `accept`, then its refusals in the order in which they are checked:
 * MONITOR_MISSING, MONITOR_STALE, MONITOR_TRIPPED, ACTION_STALE, ACTION_SHAPE, ACTION_NONFINITE, ACTION_LIMIT,
 * ACTION_RATE. */
enum { GUARD_ANSWER_COUNT = 9 };
extern const assay_code guard_answers[GUARD_ANSWER_COUNT];
const char *guard_answer_name(assay_code answer); /* "accept", or the code's name */
/* The answer of that name; false when it is none. */
bool guard_answer_find(const char *name, assay_code *out);

/* How often each answer was given, in the order of guard_answers. */
struct guard_counters {
  int64_t of[GUARD_ANSWER_COUNT];
};
void guard_count(struct guard_counters *counters, assay_code answer);

/* One output that would be sent, with the memory of what was sent before. */
struct guard_action {
  const struct contract_output *output;
  const assay_tensor *raw; /* NULL: the policy gave none */
  double *last;            /* n_components: the decoded values of the last step that was sent */
  bool has_last;           /* false at the start of an episode */
};

/* One tick: may these actions be sent, all of them? */
struct guard_question {
  bool asks_monitors; /* false: nothing is known of monitors, and they are not asked */
  const struct monitor_reading *monitors;
  size_t n_monitors;
  const struct fed_inputs *inputs;
  double age_ms;
  struct guard_action *actions;
  size_t n_actions;
};
/* The guard's answer, as the status' code. When it is ASSAY_OK the actions count as sent and their memory is moved on;
 * a refusal moves nothing, since the robot keeps its last safe action. */
ASSAY_MUST_CHECK assay_status contract_guard(const struct contract *contract, struct guard_question *question);

/* Does the contract give the guard anything to look at in this output beside its shape and finiteness? */
bool output_is_limited(const struct contract_output *output);

/* How far one component of an action is from another answer, in its unit. */
struct action_margin {
  double inside;  /* how much it may move before it is refused; INFINITY where nothing can */
  double outside; /* how much it must move before it is accepted; 0 where it is not what is refused */
};
/* Margins of an action that got `answer`, one for each component. Where two values make a rate, half of the way is each
 * one's. A limit that the component's own decoding never reaches is infinitely far. */
void contract_action_margins(const struct contract *contract, const struct contract_output *output,
                             const assay_tensor *raw, const struct action_context *context, assay_code answer,
                             struct action_margin *out);

#endif
