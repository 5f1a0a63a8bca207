/* Drift between stages: see stage_drift.h. It must never call a stage the cause that was not fed the reference's
 * values. */
#include "gate/stage_drift.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "contract/stages.h"
#include "core/memory.h"
#include "gate/judge.h"
#include "gate/measure.h"

/* The largest difference so far. */
struct largest {
  int64_t n;
  double max;
  int32_t case_index;
  int64_t step, element;
};
/* One value that a stage gives, or what a loop carries after one turn. */
struct item {
  const char *label; /* as in rung_answer.inner */
  int32_t value, gift, turn;
  struct largest ran, alone;
  double reach;
};
struct stage_drift {
  struct arena arena;
  const struct plan *plan;
  int32_t n_items;
  struct item *items;
};

static const struct bound_stage *stage_of(const struct stage_drift *drift, const struct item *item) {
  const struct bound_stages *stages = drift->plan->stages;
  return &stages->stages[stages->values[item->value].stage];
}

/* --- what there is -------------------------------------------------------------------- */

static assay_status add_item(struct stage_drift *drift, int32_t value, int32_t gift, int32_t turn, int32_t turns) {
  const char *name = drift->plan->stages->values[value].name;
  struct item *item = &drift->items[drift->n_items++];
  *item = (struct item){.label = name, .value = value, .gift = gift, .turn = turn, .reach = 0};
  item->ran.max = item->alone.max = NAN;
  if (turn > 0 && turn < turns) {
    item->label = arena_format(&drift->arena, "%s@%d", name, (int)turn);
  }
  return item->label != NULL ? status_ok() : status_no_memory(strlen(name));
}

static assay_status list_items(struct stage_drift *drift) {
  const struct bound_stages *stages = drift->plan->stages;
  size_t most = (size_t)stages->n_values;
  for (int32_t s = 0; s < stages->n_stages; s++) {
    most += (size_t)stages->stages[s].n_gifts * (size_t)stages->stages[s].stage->repeat;
  }
  ARENA_NEW(&drift->arena, drift->items, most + 1);
  for (int32_t s = 0; s < stages->n_stages; s++) {
    const struct bound_stage *bound = &stages->stages[s];
    int32_t turns = bound->stage->repeat;
    for (int32_t g = 0; g < bound->n_gifts; g++) {
      const struct stage_gift *gift = &bound->gifts[g];
      for (int32_t t = 1; t <= turns && gift->carried; t++) {
        TRY(add_item(drift, gift->value, g, t, turns));
      }
      bool apart = bound->stage->n_each > 0 && bound->stage->join == STAGE_APART;
      for (int32_t i = 0; i < (apart ? bound->n_items : 1) && !(turns > 0 && gift->carried); i++) {
        TRY(add_item(drift, gift->value + i, g, 0, 0));
      }
    }
  }
  return status_ok();
}

assay_status stage_drift_open(const struct plan *plan, struct stage_drift **out) {
  struct stage_drift *drift = memory_alloc(1, sizeof *drift);
  *out = NULL;
  if (drift == NULL) {
    return status_no_memory(sizeof *drift);
  }
  drift->plan = plan;
  assay_status status = list_items(drift);
  if (!assay_status_ok(status)) {
    stage_drift_close(drift);
    return status;
  }
  *out = drift;
  return status;
}

void stage_drift_close(struct stage_drift *drift) {
  if (drift != NULL) {
    arena_free(&drift->arena);
    memory_free(drift);
  }
}

/* --- comparing ---------------------------------------------------------------------------- */

/* Was everything that this stage, at this turn, takes from stages the reference's? */
static bool fed_by_reference(const struct stage_drift *drift, const struct item *item, const struct answer *reference,
                             int64_t step) {
  const struct bound_stages *stages = drift->plan->stages;
  const struct bound_stage *bound = stage_of(drift, item);
  for (int32_t f = 0; f < bound->n_feeds; f++) {
    const struct stage_feed *feed = &bound->feeds[f];
    const char *name = feed->source == STAGE_FROM_VALUE ? stages->values[feed->index].name : NULL;
    if (name != NULL && (feed->carry < 0 || item->turn <= 1) && answer_find_inner(reference, step, name) == NULL) {
      return false;
    }
    if (feed->carry >= 0 && item->turn > 1) {
      char label[512];
      int length = snprintf(label, sizeof label, "%s@%d", stages->values[bound->gifts[feed->carry].value].name,
                            (int)item->turn - 1);
      if (length < 0 || length >= (int)sizeof label || answer_find_inner(reference, step, label) == NULL) {
        return false;
      }
    }
  }
  for (int32_t i = 0; i < bound->n_late; i++) {
    if (answer_find_inner(reference, step, stages->values[bound->late[i].value].name) == NULL) {
      return false;
    }
  }
  for (int32_t i = 0; i < bound->n_items; i++) {
    const struct stage_item *each = &bound->items[i];
    if (!each->is_input && answer_find_inner(reference, step, stages->values[each->index].name) == NULL) {
      return false;
    }
  }
  return true;
}

/* A NaN is worse than any number. */
static bool is_worse(double difference, double than) { return isnan(difference) ? !isnan(than) : difference > than; }

static bool comparable(const assay_tensor *a, const assay_tensor *b) {
  bool numbers = a->dtype != ASSAY_STRING && a->dtype != ASSAY_COMPLEX64 && a->dtype != ASSAY_COMPLEX128;
  return numbers && b->dtype != ASSAY_STRING && b->dtype != ASSAY_COMPLEX64 && b->dtype != ASSAY_COMPLEX128 &&
         shape_equal(a, b);
}

/* Elements beyond what the robot executes of a chunk say nothing. */
static bool counts(const struct contract_output *output, const assay_tensor *tensor, int64_t element) {
  int64_t horizon_step = 0;
  if (output == NULL || output->execute_steps == 0 || output->rank != tensor->rank) {
    return true;
  }
  (void)contract_component_of(output, tensor, element, &horizon_step);
  return horizon_step < output->execute_steps;
}

static void compare(const struct stage_drift *drift, struct item *item, const struct fed_case *fed, int64_t step,
                    const assay_tensor *from, const assay_tensor *to, bool alone) {
  struct largest *largest = alone ? &item->alone : &item->ran;
  int32_t o = drift->plan->stages->values[item->value].output;
  const struct contract_output *output = o >= 0 ? &drift->plan->contract->outputs[o] : NULL;
  int64_t count = comparable(from, to) ? tensor_count(from) : 0;
  for (int64_t i = 0; i < count; i++) {
    if (!counts(output, from, i)) {
      continue;
    }
    double expected = tensor_get(from, i);
    double difference = drift_difference(expected, tensor_get(to, i), false);
    item->reach = fabs(expected) > item->reach ? fabs(expected) : item->reach;
    if (largest->n++ == 0 || is_worse(difference, largest->max)) {
      *largest = (struct largest){largest->n, difference, fed->index, step, i};
    }
  }
}

void stage_drift_case(struct stage_drift *drift, const struct fed_case *fed, const struct answer *reference,
                      const struct answer *actual, bool alone) {
  for (int64_t step = 0; step < actual->steps && step < reference->steps; step++) {
    for (int32_t i = 0; i < drift->n_items; i++) {
      struct item *item = &drift->items[i];
      const assay_tensor *from = answer_find_inner(reference, step, item->label),
                         *to = answer_find_inner(actual, step, item->label);
      if (from != NULL && to != NULL && (!alone || fed_by_reference(drift, item, reference, step))) {
        compare(drift, item, fed, step, from, to, alone);
      }
    }
  }
}

/* --- results -------------------------------------------------------------------------------- */

/* The tolerance of a value, raw: the smallest among the components of its output; NAN without one. */
static double raw_tolerance(const struct stage_drift *drift, const struct gate_rung *rung, int32_t value) {
  int32_t o = drift->plan->stages->values[value].output;
  double smallest = NAN;
  if (o < 0) {
    return smallest;
  }
  const struct contract_output *output = &drift->plan->contract->outputs[o];
  for (int32_t c = 0; c < output->n_components; c++) {
    const char *reason;
    struct tolerance tolerance = gate_tolerance_of(rung, output, &output->components[c], &reason);
    double limit = tolerance_limit(&tolerance), factor = component_factor(&output->components[c]);
    limit = tolerance.raw || !(factor > 0) ? limit : limit / factor;
    smallest = !isnan(limit) && !(limit >= smallest) ? limit : smallest;
  }
  return smallest;
}

static struct loop_result loop_of(const struct stage_drift *drift, const struct gate_rung *rung, int32_t first) {
  const struct item *items = &drift->items[first];
  const struct bound_stage *bound = stage_of(drift, items);
  struct loop_result loop = {.stage = bound->stage->name,
                             .value = drift->plan->stages->values[items->value].name,
                             .input = "",
                             .turns = bound->stage->repeat,
                             .tolerance = raw_tolerance(drift, rung, items->value),
                             .first = items[0].ran.max,
                             .last = items[bound->stage->repeat - 1].ran.max,
                             .alone = items[0].alone.max};
  for (int32_t f = 0; f < bound->n_feeds; f++) {
    loop.input = bound->feeds[f].carry == items->gift ? bound->feeds[f].tensor : loop.input;
  }
  for (int32_t t = 0; t < loop.turns; t++) {
    bool beyond = items[t].ran.n > 0 && !(items[t].ran.max <= loop.tolerance);
    if (loop.first_beyond == 0 && !isnan(loop.tolerance) && beyond) {
      loop.first_beyond = t + 1;
    }
    /* One turn that was not measured leaves the largest unknown. */
    loop.alone = items[t].alone.n == 0 || isnan(loop.alone) ? (double)NAN : fmax(loop.alone, items[t].alone.max);
  }
  return loop;
}

static assay_status fill(const struct stage_drift *drift, const struct gate_rung *rung, struct arena *arena,
                         struct rung_result *out) {
  struct stage_result *stages;
  struct loop_result *loops;
  ARENA_NEW(arena, stages, drift->n_items + 1);
  ARENA_NEW(arena, loops, drift->n_items + 1);
  for (int32_t i = 0; i < drift->n_items; i++) {
    const struct item *item = &drift->items[i];
    const struct stage_value *value = &drift->plan->stages->values[item->value];
    const struct largest *ran = &item->ran;
    stages[out->n_stages++] = (struct stage_result){
        .stage = stage_of(drift, item)->stage->name,
        .value = arena_string(arena, value->name),
        .turn = item->turn,
        .is_output = value->output >= 0,
        .n = ran->n,
        .ran = ran->max,
        .alone = item->alone.max,
        .reach = item->reach,
        .case_id = ran->n > 0 ? drift->plan->cases.entries[ran->case_index].id : NULL,
        .step = ran->n > 0 && drift->plan->cases.entries[ran->case_index].sequence ? ran->step : -1,
        .element = ran->n > 0 ? ran->element : -1,
        .single = value->dtype != ASSAY_FLOAT64};
    if (stages[out->n_stages - 1].value == NULL) {
      return status_no_memory(strlen(value->name));
    }
    if (item->turn == 1) {
      loops[out->n_loops++] = loop_of(drift, rung, i);
    }
  }
  out->stages = stages;
  out->loops = loops;
  return status_ok();
}

/* --- which stage it comes from --------------------------------------------------------------- */

static const struct item *last_item(const struct stage_drift *drift, int32_t value) {
  const struct item *found = NULL;
  for (int32_t i = 0; i < drift->n_items; i++) {
    found = drift->items[i].value == value ? &drift->items[i] : found;
  }
  return found;
}

static const struct loop_result *loop_in(const struct rung_result *rung, const char *stage) {
  for (int32_t i = 0; i < rung->n_loops; i++) {
    if (strcmp(rung->loops[i].stage, stage) == 0) {
      return &rung->loops[i];
    }
  }
  return NULL;
}

/* What is on the way to an output: the stages that reach it, and the value farthest off alone. */
struct way {
  const struct stage_drift *drift;
  bool reached[STAGES_MAX];
  const struct item *worst;
};

/* Does a loop drift by itself? `alone` is the largest drift of a turn that is fed what the reference gave before it.
 * The first turn carries nothing yet: what it drifts beyond that was handed to the loop. */
static bool drifts_itself(double first, double alone) { return alone > 0 && first <= 2 * alone; }

/* What a loop adds from its first turn to its last. */
static double added_up(const struct item *item) {
  double alone = 0;
  for (int32_t t = 1; t <= item->turn; t++) {
    alone = fmax(alone, item[t - item->turn].alone.max);
  }
  const struct item *first = item->turn > 1 ? &item[1 - item->turn] : item;
  return drifts_itself(first->ran.max, alone) ? item->ran.max - first->ran.max : 0;
}

static double share_of(const struct item *item) {
  if (item == NULL || item->alone.n == 0) {
    return 0;
  }
  double own = fmax(item->alone.max, added_up(item));
  return own > 0 ? own / fmax(item->reach, 1e-300) : 0;
}

static void come_by(struct way *way, int32_t value) {
  const struct item *item = last_item(way->drift, value);
  way->worst = share_of(item) > share_of(way->worst) ? item : way->worst;
  way->reached[way->drift->plan->stages->values[value].stage] = true;
}

/* Among the values that reach stage `s`, directly or through others, the one whose own stage is farthest off alone. */
static const struct item *upstream(const struct stage_drift *drift, int32_t s) {
  struct way way = {.drift = drift};
  way.reached[s] = true;
  for (; s >= 0; s--) { /* stages run in order: what reaches one stands before it */
    const struct bound_stage *bound = &drift->plan->stages->stages[s];
    for (int32_t f = 0; f < bound->n_feeds && way.reached[s]; f++) {
      if (bound->feeds[f].source == STAGE_FROM_VALUE) {
        come_by(&way, bound->feeds[f].index);
      }
    }
    for (int32_t i = 0; i < bound->n_items && way.reached[s]; i++) {
      if (!bound->items[i].is_input) {
        come_by(&way, bound->items[i].index);
      }
    }
    for (int32_t i = 0; i < bound->n_late && way.reached[s]; i++) {
      come_by(&way, bound->late[i].value);
    }
  }
  return way.worst;
}

static assay_status say_loop(const struct loop_result *loop, struct arena *arena, struct gate_reason *reason) {
  reason->code = ASSAY_LOOP_DRIFT;
  reason->measured = loop->last;
  reason->tolerance = loop->tolerance;
  reason->sentence = arena_format(
      arena,
      "the loop of stage '%s' adds it up: each of its %d turns alone stays within %.6g of the reference, but what is "
      "carried ('%s', fed back to '%s') is off by %.6g after turn 1 and %.6g after turn %d, beyond the tolerance of "
      "%.6g "
      "from turn %d on; keep the carried tensor, the accumulator, in a wider type: the network of one turn agrees",
      loop->stage, (int)loop->turns, loop->alone, loop->value, loop->input, loop->first, loop->last, (int)loop->turns,
      loop->tolerance, (int)loop->first_beyond);
  return reason->sentence != NULL ? status_ok() : status_no_memory(0);
}

static assay_status say_stage(const struct stage_drift *drift, const struct item *item, double tolerance,
                              struct arena *arena, struct gate_reason *reason) {
  const struct bound_stages *stages = drift->plan->stages;
  const struct stage_value *value = &stages->values[item->value];
  const char *stage = stages->stages[value->stage].stage->name;
  reason->code = ASSAY_STAGE_DRIFT;
  reason->measured = item->alone.max;
  reason->tolerance = tolerance;
  if (!(item->alone.max <= tolerance)) {
    reason->sentence = arena_format(arena,
                                    "it is stage '%s' itself: fed what the reference gave before it, its '%s' still "
                                    "differs by %.6g (%.6g as the rung ran)",
                                    stage, value->name, item->alone.max, item->ran.max);
    return reason->sentence != NULL ? status_ok() : status_no_memory(0);
  }
  const struct item *cause = upstream(drift, value->stage);
  if (cause == NULL) {
    return status_ok();
  }
  const struct stage_value *from = &stages->values[cause->value];
  if (added_up(cause) > cause->alone.max) {
    reason->code = ASSAY_LOOP_DRIFT;
    reason->sentence = arena_format(
        arena,
        "it comes from the loop of stage '%s', which adds it up: '%s' differs by %.6g as the rung ran, but by %.6g "
        "when "
        "stage '%s' is fed what the reference gave before it; what the loop carries ('%s') is off by %.6g after turn 1 "
        "and %.6g after turn %d, and by %.6g where one turn runs alone",
        stages->stages[from->stage].stage->name, value->name, item->ran.max, item->alone.max, stage, from->name,
        cause[1 - cause->turn].ran.max, cause->ran.max, (int)cause->turn, cause->alone.max);
    return reason->sentence != NULL ? status_ok() : status_no_memory(0);
  }
  reason->sentence = arena_format(
      arena,
      "it comes from stage '%s': '%s' differs by %.6g as the rung ran, but by %.6g when stage '%s' is fed what the "
      "reference gave before it; '%s', which stage '%s' gives, is off by %.6g there",
      stages->stages[from->stage].stage->name, value->name, item->ran.max, item->alone.max, stage, from->name,
      stages->stages[from->stage].stage->name, cause->alone.max);
  return reason->sentence != NULL ? status_ok() : status_no_memory(0);
}

/* The output drifts too far: whence? Nothing is said where the stages could not answer alone. */
static assay_status name_cause(const struct stage_drift *drift, const struct gate_rung *rung, int32_t o,
                               struct arena *arena, struct rung_result *out) {
  const struct bound_stages *stages = drift->plan->stages;
  struct gate_reason reason = gate_reason_of(ASSAY_STAGE_DRIFT);
  int32_t v = 0;
  while (v < stages->n_values && stages->values[v].output != o) {
    v++;
  }
  const struct item *item = v < stages->n_values ? last_item(drift, v) : NULL;
  double tolerance = item != NULL ? raw_tolerance(drift, rung, v) : (double)NAN;
  if (item == NULL || item->alone.n == 0 || isnan(tolerance)) {
    return status_ok();
  }
  const struct loop_result *loop = loop_in(out, stages->stages[stages->values[v].stage].stage->name);
  bool adds_up = loop != NULL && strcmp(loop->value, stages->values[v].name) == 0 && loop->first_beyond > 0 &&
                 loop->alone <= tolerance && drifts_itself(loop->first, loop->alone);
  TRY(adds_up ? say_loop(loop, arena, &reason) : say_stage(drift, item, tolerance, arena, &reason));
  reason.output = drift->plan->contract->outputs[o].name;
  return reason.sentence != NULL ? gate_reason_add(arena, &out->reasons, &reason) : status_ok();
}

static bool drifts(const struct rung_result *rung, const char *output) {
  for (int32_t c = 0; c < rung->n_components; c++) {
    if (strcmp(rung->components[c].output, output) == 0 && rung->components[c].verdict == VERDICT_REJECT) {
      return true;
    }
  }
  return false;
}

assay_status stage_drift_assemble(const struct stage_drift *drift, const struct gate_rung *rung, struct arena *arena,
                                  struct rung_result *out) {
  TRY(fill(drift, rung, arena, out));
  for (int32_t o = 0; o < drift->plan->contract->n_outputs; o++) {
    if (drifts(out, drift->plan->contract->outputs[o].name)) {
      TRY(name_cause(drift, rung, o, arena, out));
    }
  }
  return status_ok();
}
