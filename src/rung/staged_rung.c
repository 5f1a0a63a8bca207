/* A policy of several files as one rung: one rung of the same runtime for each stage, what one gives handed to the
 * next, loops turned here. It must never feed a tensor to a name that the contract did not wire it to, and computes
 * nothing itself. */
#include "rung/staged_rung.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "contract/observe.h"
#include "contract/stages.h"
#include "core/memory.h"
#include "rung/held.h"

struct stage {
  struct rung *rung;
  const struct bound_stage *bound;
  struct held *parts;  /* [n_gifts][n_items] of what is to be joined; NULL otherwise */
  struct held *turns;  /* [n_gifts][repeat - 1] of a loop: what was carried */
  const char **labels; /* the same: NAME@1, ... */
  struct held *times;  /* [repeat] */
  struct held *filled; /* [n_feeds] inputs that an earlier stage's answer was put into */
  struct rung_tensor *inputs;
};

struct staged_rung {
  struct rung base;
  struct rung_kind kind;
  struct arena arena, scratch; /* scratch: of one call */
  const struct bound_stages *plan;
  const char *name;
  int threads;
  struct stage *stages;
  struct held *values; /* what stages gave */
  struct rung_tensor *outputs, *inner;
  int32_t n_extra; /* outputs of the files that nothing wires */
  struct rung_tensor *extra;
};

/* --- one stage ------------------------------------------------------------------------ */

static const assay_tensor *find_tensor(const struct rung_tensor *tensors, int32_t count, const char *name) {
  for (int32_t i = 0; i < count; i++) {
    if (strcmp(tensors[i].name, name) == 0) {
      return &tensors[i].tensor;
    }
  }
  return NULL;
}

static assay_status from_input(const struct staged_rung *self, const struct rung_call *call, int32_t index,
                               const assay_tensor **out) {
  const char *name = self->plan->contract->inputs[index].name;
  *out = find_tensor(call->inputs, call->n_inputs, name);
  return *out != NULL ? status_ok() : status_make(ASSAY_INPUT_MISSING, name, "the input '%s' is not fed", name);
}

static assay_status from_value(const struct staged_rung *self, const struct rung_call *call, int32_t s, int32_t index,
                               const assay_tensor **out) {
  const struct stage_value *value = &self->plan->values[index];
  *out = find_tensor(call->given, call->n_given, value->name);
  if (*out == NULL && self->values[index].there) {
    *out = &self->values[index].tensor;
  }
  return *out != NULL
             ? status_ok()
             : status_make(ASSAY_OUTPUT_MISSING, self->name, "stage '%s' gives no '%s', which stage '%s' takes",
                           self->plan->stages[value->stage].stage->name, value->name,
                           self->plan->stages[s].stage->name);
}

static assay_status fill_one(struct staged_rung *self, const struct rung_call *call, int32_t s,
                             const struct stage_late *late, struct held *held, const assay_tensor **tensor) {
  const struct contract *contract = self->plan->contract;
  const struct contract_input *input = &contract->inputs[late->input];
  const assay_tensor *answer;
  struct fed_input *measured;
  TRY(from_value(self, call, s, late->value, &answer));
  ARENA_NEW(&self->scratch, measured, call->n_inputs + 1);
  for (int32_t i = 0; i < call->n_inputs; i++) {
    measured[i] = (struct fed_input){call->inputs[i].name, &call->inputs[i].tensor, (double)NAN};
  }
  struct fed_inputs fed = {measured, (size_t)call->n_inputs};
  bool widen = answer->dtype == ASSAY_FLOAT64 && (*tensor)->dtype == ASSAY_FLOAT32; /* a stage that computed in fp64 */
  if (*tensor != &held->tensor) {
    TRY(widen ? held_widen(held, *tensor) : held_copy(held, *tensor, input->name));
    *tensor = &held->tensor;
  }
  return observe_fill(contract, input, self->plan->values[late->value].name, answer, &fed, &held->tensor);
}

/* An input some of whose terms earlier stages answer: a copy with their answers put in. */
static assay_status fill_late(struct staged_rung *self, const struct rung_call *call, int32_t s, int32_t input,
                              struct held *held, const assay_tensor **tensor) {
  const struct bound_stage *bound = self->stages[s].bound;
  for (int32_t i = 0; i < bound->n_late; i++) {
    if (bound->late[i].input == input) {
      TRY(fill_one(self, call, s, &bound->late[i], held, tensor));
    }
  }
  return status_ok();
}

/* Where a carried tensor of this turn is kept; turns count from 0 and the last has no place. */
static struct held *turn_of(const struct stage *stage, int32_t gift, int32_t turn) {
  return &stage->turns[gift * (stage->bound->stage->repeat - 1) + turn];
}
static const char *label_of(const struct stage *stage, int32_t gift, int32_t turn) {
  return stage->labels[gift * (stage->bound->stage->repeat - 1) + turn];
}

static assay_status from_turn(const struct staged_rung *self, const struct rung_call *call, const struct stage *stage,
                              int32_t gift, int32_t turn, const assay_tensor **out) {
  const struct held *held = turn_of(stage, gift, turn);
  *out = find_tensor(call->given, call->n_given, label_of(stage, gift, turn));
  if (*out == NULL && held->there) {
    *out = &held->tensor;
  }
  return *out != NULL ? status_ok()
                      : status_make(ASSAY_OUTPUT_MISSING, self->name, "stage '%s' gives no '%s' to carry on",
                                    stage->bound->stage->name, stage->bound->gifts[gift].tensor);
}

/* What every input of the stage's file is fed at this item of for_each and this turn of a loop. */
static assay_status gather(struct staged_rung *self, const struct rung_call *call, int32_t s, int32_t item,
                           int32_t turn) {
  struct stage *stage = &self->stages[s];
  for (int32_t f = 0; f < stage->bound->n_feeds; f++) {
    const struct stage_feed *feed = &stage->bound->feeds[f];
    const assay_tensor *from = NULL;
    bool is_input = feed->source == STAGE_FROM_INPUT;
    int32_t index = feed->index;
    if (feed->source == STAGE_FROM_EACH) {
      is_input = stage->bound->items[item].is_input;
      index = stage->bound->items[item].index;
    }
    if (feed->source == STAGE_FROM_TIME) {
      from = &stage->times[turn].tensor;
    } else if (turn > 0 && feed->carry >= 0) {
      TRY(from_turn(self, call, stage, feed->carry, turn - 1, &from));
    } else if (is_input) {
      TRY(from_input(self, call, index, &from));
      TRY(fill_late(self, call, s, index, &stage->filled[f], &from));
    } else {
      TRY(from_value(self, call, s, index, &from));
    }
    stage->inputs[f] = (struct rung_tensor){feed->tensor, *from};
  }
  return status_ok();
}

/* Hands tapped values on under the stage's name. */
struct tap_bridge {
  rung_tap *tap;
  void *user;
  const char *stage;
  char mark[80]; /* "@2": the turn or item; "" */
};

static void pass_tap(void *user, const char *value, const assay_tensor *tensor) {
  const struct tap_bridge *bridge = user;
  struct text name = {0};
  text_format(&name, "%s/%s%s", bridge->stage, value, bridge->mark);
  if (!name.failed) {
    bridge->tap(bridge->user, text_string(&name), tensor);
  }
  text_free(&name);
}

/* The taps that are asked of this stage. */
static assay_status stage_taps(struct staged_rung *self, const struct rung_call *call, const char *stage,
                               const char ***out, int32_t *count) {
  size_t length = strlen(stage);
  ARENA_NEW(&self->scratch, *out, call->n_taps + 1);
  for (int32_t i = 0; i < call->n_taps; i++) {
    bool all = strcmp(call->taps[i], "*") == 0;
    if (all || (strncmp(call->taps[i], stage, length) == 0 && call->taps[i][length] == '/')) {
      (*out)[(*count)++] = all ? call->taps[i] : call->taps[i] + length + 1;
    }
  }
  return status_ok();
}

static assay_status keep_extra(struct staged_rung *self, const struct bound_stage *bound,
                               const struct rung_answer *given) {
  for (int32_t i = 0; i < given->n_outputs; i++) {
    const struct rung_tensor *output = &given->outputs[i];
    bool wired = false;
    for (int32_t g = 0; g < bound->n_gifts && !wired; g++) {
      wired = strcmp(bound->gifts[g].tensor, output->name) == 0;
    }
    if (wired) {
      continue;
    }
    struct rung_tensor *extra;
    ARENA_NEW(&self->scratch, extra, self->n_extra + 1);
    if (self->n_extra > 0) {
      memcpy(extra, self->extra, (size_t)self->n_extra * sizeof *extra);
    }
    extra[self->n_extra].name = arena_format(&self->scratch, "%s/%s", bound->stage->name, output->name);
    if (extra[self->n_extra].name == NULL) {
      return status_no_memory(strlen(output->name));
    }
    TRY(tensor_new_in(&self->scratch, output->tensor.dtype, output->tensor.dims, output->tensor.rank,
                      &extra[self->n_extra].tensor));
    self->extra = extra;
    self->n_extra++;
  }
  return status_ok();
}

static assay_status run_once(struct staged_rung *self, const struct rung_call *call, int32_t s, int32_t item,
                             int32_t turn, struct rung_answer *given) {
  struct stage *stage = &self->stages[s];
  const struct contract_stage *says = stage->bound->stage;
  struct tap_bridge bridge = {call->tap, call->tap_user, says->name, ""};
  struct rung_call inner = {.case_id = call->case_id,
                            .step = call->step,
                            .steps = call->steps,
                            .inputs = stage->inputs,
                            .n_inputs = stage->bound->n_feeds};
  TRY(gather(self, call, s, item, turn));
  if (call->n_taps > 0 && call->tap != NULL) {
    const char **taps;
    TRY(stage_taps(self, call, says->name, &taps, &inner.n_taps));
    if (says->repeat > 0) {
      snprintf(bridge.mark, sizeof bridge.mark, "@%d", (int)turn + 1);
    } else if (says->n_each > 0) {
      snprintf(bridge.mark, sizeof bridge.mark, "@%.70s", says->each[item].value);
    }
    inner.taps = taps;
    inner.tap = inner.n_taps > 0 ? pass_tap : NULL;
    inner.tap_user = &bridge;
  }
  return status_prefix(rung_run(stage->rung, &inner, given), "stage '%s'", says->name);
}

/* Keeps what one call of the stage's file gave: as values, as parts of a joined value, or for the next turn. */
static assay_status take(struct staged_rung *self, int32_t s, int32_t item, int32_t turn,
                         const struct rung_answer *given) {
  struct stage *stage = &self->stages[s];
  const struct contract_stage *says = stage->bound->stage;
  bool more = says->repeat > 0 && turn + 1 < says->repeat;
  for (int32_t g = 0; g < stage->bound->n_gifts; g++) {
    const struct stage_gift *gift = &stage->bound->gifts[g];
    const assay_tensor *tensor = find_tensor(given->outputs, given->n_outputs, gift->tensor);
    struct held *held = more                        ? gift->carried ? turn_of(stage, g, turn) : NULL
                        : says->join != STAGE_APART ? &stage->parts[g * stage->bound->n_items + item]
                                                    : &self->values[gift->value + (says->n_each > 0 ? item : 0)];
    if (held != NULL) {
      held->there = false;
      TRY(tensor != NULL ? held_copy(held, tensor, gift->tensor) : status_ok());
    }
  }
  return more ? status_ok() : keep_extra(self, stage->bound, given);
}

static assay_status run_stage(struct staged_rung *self, const struct rung_call *call, int32_t s) {
  struct stage *stage = &self->stages[s];
  const struct contract_stage *says = stage->bound->stage;
  int32_t items = says->n_each > 0 ? says->n_each : 1, turns = says->repeat > 0 ? says->repeat : 1;
  for (int32_t item = 0; item < items; item++) {
    for (int32_t turn = 0; turn < turns; turn++) {
      struct rung_answer given;
      TRY(run_once(self, call, s, item, turn, &given));
      TRY(take(self, s, item, turn, &given));
    }
  }
  for (int32_t g = 0; g < stage->bound->n_gifts && says->join != STAGE_APART; g++) {
    int32_t value = stage->bound->gifts[g].value;
    const struct held *parts = &stage->parts[g * items];
    self->values[value].there = false;
    if (parts[0].there) {
      TRY(held_join(says, parts, items, self->plan->values[value].name, &self->values[value]));
    }
  }
  return status_ok();
}

/* --- the whole -------------------------------------------------------------------------- */

static void list_inner(struct staged_rung *self, int32_t s, int32_t *count) {
  const struct stage *stage = &self->stages[s];
  for (int32_t g = 0; g < stage->bound->n_gifts; g++) {
    for (int32_t t = 0; stage->bound->gifts[g].carried && t + 1 < stage->bound->stage->repeat; t++) {
      if (turn_of(stage, g, t)->there) {
        self->inner[(*count)++] = (struct rung_tensor){label_of(stage, g, t), turn_of(stage, g, t)->tensor};
      }
    }
  }
}

static assay_status answer(struct staged_rung *self, struct rung_answer *out) {
  int32_t n = 0, n_inner = 0;
  for (int32_t v = 0, s = 0; v < self->plan->n_values; v++) {
    const struct stage_value *value = &self->plan->values[v];
    for (; s <= value->stage; s++) {
      list_inner(self, s, &n_inner); /* turns before the values that they end in */
    }
    if (!self->values[v].there) {
      continue;
    }
    struct rung_tensor given = {value->name, self->values[v].tensor};
    self->inner[n_inner++] = given;
    if (value->output >= 0) {
      self->outputs[n++] = given;
    }
  }
  *out = (struct rung_answer){self->outputs, n, self->inner, n_inner};
  if (self->n_extra == 0) {
    return status_ok();
  }
  struct rung_tensor *all; /* what nothing wires is an output too many: the comparison says so */
  ARENA_NEW(&self->scratch, all, n + self->n_extra);
  if (n > 0) {
    memcpy(all, self->outputs, (size_t)n * sizeof *all);
  }
  memcpy(all + n, self->extra, (size_t)self->n_extra * sizeof *all);
  out->outputs = all;
  out->n_outputs = n + self->n_extra;
  return status_ok();
}

/* A tap that belongs to no stage would be handed over by none. */
static assay_status check_taps(const struct staged_rung *self, const struct rung_call *call) {
  for (int32_t i = 0; i < call->n_taps; i++) {
    bool known = strcmp(call->taps[i], "*") == 0;
    for (int32_t s = 0; s < self->plan->n_stages && !known; s++) {
      const char *stage = self->plan->stages[s].stage->name;
      size_t length = strlen(stage);
      known = strncmp(call->taps[i], stage, length) == 0 && call->taps[i][length] == '/';
    }
    if (!known) {
      return status_make(ASSAY_RUNG_SETTING, self->name,
                         "the inner value '%s' is of no stage; in a policy of stages write STAGE/VALUE, such as %s/%s",
                         call->taps[i], self->plan->stages[0].stage->name, call->taps[i]);
    }
  }
  return status_ok();
}

/* An input that the contract does not have would be fed to nothing. */
static assay_status check_inputs(const struct staged_rung *self, const struct rung_call *call) {
  for (int32_t i = 0; i < call->n_inputs; i++) {
    if (contract_find_input(self->plan->contract, call->inputs[i].name) == NULL) {
      return status_make(ASSAY_INPUT_EXTRA, self->name, "'%s' is fed, which is no input of the contract",
                         call->inputs[i].name);
    }
  }
  return status_ok();
}

static assay_status staged_run(struct rung *rung, const struct rung_call *call, struct rung_answer *out) {
  struct staged_rung *self = (struct staged_rung *)rung;
  arena_free(&self->scratch);
  self->scratch = (struct arena){0};
  self->n_extra = 0;
  self->extra = NULL;
  TRY(check_inputs(self, call));
  TRY(check_taps(self, call));
  for (int32_t s = 0; s < self->plan->n_stages; s++) {
    TRY(run_stage(self, call, s));
  }
  return answer(self, out);
}

static assay_status staged_renew(struct rung *rung) {
  struct staged_rung *self = (struct staged_rung *)rung;
  for (int32_t s = 0; s < self->plan->n_stages; s++) {
    TRY(rung_renew(self->stages[s].rung));
  }
  return status_ok();
}

/* --- what ran ------------------------------------------------------------------------------ */

/* One word for all stages: theirs where they agree, each with its stage where they do not. */
static const char *merged(struct staged_rung *self, const struct rung_actual *actual, size_t offset) {
  bool same = true;
  const char *first = *(const char *const *)((const char *)&actual[0] + offset);
  struct text all = {0};
  for (int32_t s = 0; s < self->plan->n_stages; s++) {
    const char *word = *(const char *const *)((const char *)&actual[s] + offset);
    same = same && (word == first || (word != NULL && first != NULL && text_equal(word, first)));
    text_format(&all, "%s%s: %s", s > 0 ? ", " : "", self->plan->stages[s].stage->name,
                word != NULL ? word : "not said");
  }
  const char *kept = same && first == NULL ? NULL : arena_string(&self->arena, same ? first : text_string(&all));
  text_free(&all);
  return kept;
}

static void merge_lists(struct staged_rung *self, const struct rung_actual *actual, struct rung_actual *out) {
  int32_t n_placement = 0, n_facts = 0;
  for (int32_t s = 0; s < self->plan->n_stages; s++) {
    n_placement += actual[s].n_placement;
    n_facts += actual[s].n_facts;
  }
  struct rung_placement *placement = arena_alloc(&self->arena, (size_t)n_placement + 1, sizeof *placement);
  struct rung_setting *facts = arena_alloc(&self->arena, (size_t)n_facts + 1, sizeof *facts);
  if (placement == NULL || facts == NULL) {
    return;
  }
  for (int32_t s = 0; s < self->plan->n_stages; s++) {
    const char *stage = self->plan->stages[s].stage->name;
    for (int32_t i = 0; i < actual[s].n_placement; i++) {
      struct rung_placement *to = &placement[out->n_placement++];
      *to = actual[s].placement[i];
      to->node = arena_format(&self->arena, "%s/%s", stage, to->node);
      out->n_placement -= to->node == NULL;
    }
    for (int32_t i = 0; i < actual[s].n_facts; i++) {
      struct rung_setting *to = &facts[out->n_facts++];
      *to = actual[s].facts[i];
      to->key = arena_format(&self->arena, "%s/%s", stage, to->key);
      out->n_facts -= to->key == NULL;
    }
  }
  out->placement = placement;
  out->facts = facts;
}

static void staged_describe(struct rung *rung, struct rung_actual *out) {
  struct staged_rung *self = (struct staged_rung *)rung;
  struct rung_actual *actual = arena_alloc(&self->arena, (size_t)self->plan->n_stages, sizeof *actual);
  if (actual == NULL) {
    return; /* nothing is known of what ran: the check will say so */
  }
  for (int32_t s = 0; s < self->plan->n_stages; s++) {
    rung_describe(self->stages[s].rung, &actual[s]);
    out->emulated = out->emulated || actual[s].emulated;
    /* A number that is not what was asked for stands for all. */
    out->threads = s == 0 || out->threads == self->threads ? actual[s].threads : out->threads;
  }
  out->engine = merged(self, actual, offsetof(struct rung_actual, engine));
  out->version = merged(self, actual, offsetof(struct rung_actual, version));
  out->provider = merged(self, actual, offsetof(struct rung_actual, provider));
  out->precision = merged(self, actual, offsetof(struct rung_actual, precision));
  out->accumulator = merged(self, actual, offsetof(struct rung_actual, accumulator));
  out->device = merged(self, actual, offsetof(struct rung_actual, device));
  out->tf32 = merged(self, actual, offsetof(struct rung_actual, tf32));
  out->note = merged(self, actual, offsetof(struct rung_actual, note));
  merge_lists(self, actual, out);
}

/* --- opening --------------------------------------------------------------------------------- */

static void staged_close(struct rung *rung) {
  struct staged_rung *self = (struct staged_rung *)rung;
  held_free(self->values, self->plan->n_values);
  for (int32_t s = 0; self->stages != NULL && s < self->plan->n_stages; s++) {
    const struct bound_stage *bound = &self->plan->stages[s];
    int32_t repeat = bound->stage->repeat;
    held_free(self->stages[s].parts, bound->n_gifts * bound->n_items);
    held_free(self->stages[s].turns, repeat > 0 ? bound->n_gifts * (repeat - 1) : 0);
    held_free(self->stages[s].times, repeat);
    held_free(self->stages[s].filled, bound->n_feeds);
    rung_close(self->stages[s].rung);
  }
  arena_free(&self->scratch);
  arena_free(&self->arena);
  memory_free(self);
}

static assay_status make_times(struct stage *stage, const struct stage_feed *feed) {
  const struct stage_time *time = &stage->bound->stage->time;
  int64_t dims[ASSAY_RANK_MAX] = {0}, count = 0;
  int32_t rank = time->rank >= 0 ? time->rank : feed->rank;
  for (int32_t d = 0; d < rank; d++) {
    dims[d] = time->rank >= 0 ? time->dims[d].min : feed->dims[d];
  }
  if (!shape_count(dims, rank, &count)) {
    return status_make(ASSAY_LIMIT_EXCEEDED, feed->tensor, "the time input '%s' is too large", feed->tensor);
  }
  for (int32_t t = 0; t < stage->bound->stage->repeat; t++) {
    assay_tensor made;
    TRY(tensor_new(feed->dtype, dims, rank, &made));
    for (int64_t i = 0; i < count; i++) {
      tensor_set(&made, i, stage_time_at(time, t));
    }
    assay_status status = held_copy(&stage->times[t], &made, feed->tensor);
    tensor_free(&made);
    TRY(status);
  }
  return status_ok();
}

static assay_status make_stage(struct staged_rung *self, int32_t s) {
  struct stage *stage = &self->stages[s];
  const struct bound_stage *bound = stage->bound = &self->plan->stages[s];
  int32_t repeat = bound->stage->repeat, turns = repeat > 0 ? repeat - 1 : 0;
  ARENA_NEW(&self->arena, stage->inputs, bound->n_feeds + 1);
  ARENA_NEW(&self->arena, stage->filled, bound->n_feeds + 1);
  ARENA_NEW(&self->arena, stage->parts, bound->n_gifts * bound->n_items + 1);
  ARENA_NEW(&self->arena, stage->turns, bound->n_gifts * turns + 1);
  ARENA_NEW(&self->arena, stage->labels, bound->n_gifts * turns + 1);
  ARENA_NEW(&self->arena, stage->times, repeat + 1);
  for (int32_t g = 0; g < bound->n_gifts; g++) {
    for (int32_t t = 0; bound->gifts[g].carried && t < turns; t++) {
      const char *label =
          arena_format(&self->arena, "%s@%d", self->plan->values[bound->gifts[g].value].name, (int)t + 1);
      if (label == NULL) {
        return status_no_memory(0);
      }
      stage->labels[g * turns + t] = label;
    }
  }
  for (int32_t f = 0; f < bound->n_feeds; f++) {
    if (bound->feeds[f].source == STAGE_FROM_TIME) {
      TRY(make_times(stage, &bound->feeds[f]));
    }
  }
  return status_ok();
}

/* The nodes to keep that belong to this stage, without its name. */
static assay_status stage_keep(struct staged_rung *self, const struct rung_request *request, const char *stage,
                               struct rung_request *out) {
  const char **keep;
  size_t length = strlen(stage);
  out->n_keep = 0;
  ARENA_NEW(&self->arena, keep, request->n_keep + 1);
  for (int32_t i = 0; i < request->n_keep; i++) {
    if (strncmp(request->keep[i], stage, length) == 0 && request->keep[i][length] == '/') {
      keep[out->n_keep++] = request->keep[i] + length + 1;
    }
  }
  out->keep = keep;
  return status_ok();
}

static assay_status check_keep(const struct bound_stages *plan, const struct rung_request *request) {
  for (int32_t i = 0; i < request->n_keep; i++) {
    bool known = false;
    for (int32_t s = 0; s < plan->n_stages && !known; s++) {
      size_t length = strlen(plan->stages[s].stage->name);
      known = strncmp(request->keep[i], plan->stages[s].stage->name, length) == 0 && request->keep[i][length] == '/';
    }
    if (!known) {
      return status_make(ASSAY_RUNG_SETTING, request->name,
                         "rung '%s' keeps '%s', which names no stage; in a policy of stages write STAGE/NODE, such as "
                         "%s/%s",
                         request->name, request->keep[i], plan->stages[0].stage->name, request->keep[i]);
    }
  }
  return status_ok();
}

static assay_status open_into(struct staged_rung *self, const struct rung_kind *kind,
                              const struct rung_request *request) {
  const struct bound_stages *plan = self->plan;
  int32_t inner = plan->n_values;
  self->threads = request->threads;
  self->name = arena_string(&self->arena, request->name);
  if (self->name == NULL) {
    return status_no_memory(strlen(request->name));
  }
  TRY(check_keep(plan, request));
  ARENA_NEW(&self->arena, self->stages, plan->n_stages);
  ARENA_NEW(&self->arena, self->values, plan->n_values + 1);
  ARENA_NEW(&self->arena, self->outputs, plan->n_values + 1);
  for (int32_t s = 0; s < plan->n_stages; s++) {
    struct rung_request own = *request;
    own.stages = NULL;
    own.stage_models = NULL;
    own.model_path = request->stage_models[s];
    inner += plan->stages[s].n_gifts * plan->stages[s].stage->repeat;
    TRY(make_stage(self, s));
    TRY(stage_keep(self, request, plan->stages[s].stage->name, &own));
    TRY(status_prefix(kind->open(&own, &self->stages[s].rung), "stage '%s'", plan->stages[s].stage->name));
  }
  ARENA_NEW(&self->arena, self->inner, inner + 1);
  return status_ok();
}

assay_status staged_open(const struct rung_kind *kind, const struct rung_request *request, struct rung **out) {
  struct staged_rung *self = memory_alloc(1, sizeof *self);
  if (self == NULL) {
    return status_no_memory(sizeof *self);
  }
  self->kind = (struct rung_kind){.engine = kind->engine,
                                  .replays = kind->replays,
                                  .run = staged_run,
                                  .renew = staged_renew,
                                  .describe = staged_describe,
                                  .close = staged_close};
  self->base.kind = &self->kind;
  self->plan = request->stages;
  assay_status status = open_into(self, kind, request);
  if (!assay_status_ok(status)) {
    staged_close(&self->base);
    return status;
  }
  *out = &self->base;
  return status;
}
