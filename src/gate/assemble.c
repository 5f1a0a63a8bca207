/* Components and outputs of a rung: see assemble.h. Every sentence that a person reads about a component
 * is made here; no figure is. */
#include "gate/assemble.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contract/compare.h"
#include "core/memory.h"
#include "gate/assemble_decisions.h"
#include "gate/assemble_guard.h"
#include "gate/detection_list.h"
#include "gate/judge.h"
#include "gate/rung_hints.h"
#include "gate/seeds.h"

static double larger(double a, double b) { return isnan(a) ? b : isnan(b) || a > b ? a : b; }

assay_status noise_floors_make(const struct plan *plan, struct arena *arena, const struct noise_arrays *self,
                               const struct noise_arrays *rounding, struct noise_floors *out) {
  *out = (struct noise_floors){*self, *rounding, {0}};
  TRY(noise_arrays_make(plan, arena, &out->floor));
  for (int32_t c = 0; c < plan->n_components; c++) {
    out->floor.raw[c] = larger(self->raw[c], rounding->raw[c]);
    out->floor.physical[c] = larger(self->physical[c], rounding->physical[c]);
  }
  return status_ok();
}

/* --- groups ----------------------------------------------------------------------- */

/* Which pairs belong to a group: those of a tag's value, of a guard's answer, or of a magnitude of the reference. */
struct group_key {
  const char *key, *value; /* of a tag, or "guard" with its answer; NULL for a magnitude */
  bool guard;
  assay_code answer;
  int magnitude;
};

/* What the pairs of a component are sorted into groups by. */
struct grouping {
  const struct plan *plan;
  const struct guard_answers *answers;
};

static bool case_has_tag(const struct corpus_case *entry, const char *key, const char *value) {
  for (int32_t t = 0; t < entry->n_tags; t++) {
    if (strcmp(entry->tags[t].key, key) == 0 && strcmp(entry->tags[t].value, value) == 0) {
      return true;
    }
  }
  return false;
}

static bool belongs(const struct grouping *grouping, const struct group_key *key, const struct drift_pair *physical) {
  assay_code answer;
  if (key->guard) {
    return guard_answer_at(grouping->answers, physical->case_index, physical->step, &answer) && answer == key->answer;
  }
  return key->key != NULL ? case_has_tag(&grouping->plan->cases.entries[physical->case_index], key->key, key->value)
                          : drift_magnitude(physical->expected) == key->magnitude;
}

/* Both lists in step: element i of one is element i of the other. */
static void pick(const struct grouping *grouping, const struct group_key *key, const struct component_pairs *pairs,
                 struct pair_list *raw, struct pair_list *physical) {
  raw->count = physical->count = 0;
  for (size_t i = 0; i < pairs->physical.count; i++) {
    if (belongs(grouping, key, &pairs->physical.items[i])) {
      raw->items[raw->count++] = pairs->raw.items[i];
      physical->items[physical->count++] = pairs->physical.items[i];
    }
  }
}

/* All tags of all cases, each once, sorted by key and value. */
static int compare_keys(const void *left, const void *right) {
  const struct group_key *a = left, *b = right;
  int order = strcmp(a->key, b->key);
  return order != 0 ? order : strcmp(a->value, b->value);
}

static bool was_given(const struct guard_answers *answers, assay_code answer) {
  for (size_t i = 0; i < answers->n; i++) {
    if (answers->steps[i]->expected == answer) {
      return true;
    }
  }
  return false;
}

static assay_status find_keys(const struct plan *plan, const struct guard_answers *answers, struct arena *arena,
                              struct group_key **out, size_t *count) {
  size_t most = DRIFT_MAGNITUDES + GUARD_ANSWER_COUNT, n = 0, unique = 0;
  for (int32_t v = 0; v < plan->n_valid; v++) {
    most += (size_t)plan->cases.entries[plan->valid[v]].n_tags;
  }
  struct group_key *keys;
  ARENA_NEW(arena, keys, most);
  for (int32_t v = 0; v < plan->n_valid; v++) {
    const struct corpus_case *entry = &plan->cases.entries[plan->valid[v]];
    for (int32_t t = 0; t < entry->n_tags; t++) {
      keys[n++] = (struct group_key){.key = entry->tags[t].key, .value = entry->tags[t].value};
    }
  }
  if (n > 1) {
    qsort(keys, n, sizeof *keys, compare_keys);
  }
  for (size_t i = 0; i < n; i++) {
    if (i == 0 || compare_keys(&keys[i], &keys[i - 1]) != 0) {
      keys[unique++] = keys[i];
    }
  }
  for (int a = 0; a < GUARD_ANSWER_COUNT; a++) {
    if (was_given(answers, guard_answers[a])) {
      keys[unique++] = (struct group_key){
          .key = "guard", .value = guard_answer_name(guard_answers[a]), .guard = true, .answer = guard_answers[a]};
    }
  }
  for (int m = 0; m < DRIFT_MAGNITUDES; m++) {
    keys[unique++] = (struct group_key){.magnitude = m};
  }
  *out = keys;
  *count = unique;
  return status_ok();
}

static assay_status make_groups(const struct rung_measured *measured, const struct contract_output *output,
                                const struct contract_component *component, const struct component_pairs *pairs,
                                const struct guard_answers *answers, struct arena *arena,
                                struct component_result *out) {
  const struct grouping grouping = {.plan = measured->plan, .answers = answers};
  struct group_key *keys = NULL;
  size_t n_keys = 0, n = pairs->physical.count;
  struct drift_group *groups;
  TRY(find_keys(measured->plan, answers, arena, &keys, &n_keys));
  ARENA_NEW(arena, groups, n_keys);
  struct pair_list raw = {.items = memory_alloc(n + 1, sizeof *raw.items)};
  struct pair_list physical = {.items = memory_alloc(n + 1, sizeof *physical.items)};
  assay_status status =
      raw.items == NULL || physical.items == NULL ? status_no_memory(n * sizeof *raw.items) : status_ok();
  for (size_t k = 0; k < n_keys && assay_status_ok(status); k++) {
    pick(&grouping, &keys[k], pairs, &raw, &physical);
    if (physical.count > 0) {
      struct drift_group *group = &groups[out->n_groups++];
      group->by = keys[k].key != NULL ? keys[k].key : "magnitude";
      group->value = keys[k].key != NULL ? keys[k].value : drift_magnitude_name(keys[k].magnitude);
      status = measure_both(output, component, &out->tolerance, &raw, &physical, &group->drift);
    }
  }
  memory_free(raw.items);
  memory_free(physical.items);
  out->groups = groups;
  return status;
}

/* --- sentences ------------------------------------------------------------------------ */

static const struct drift *component_deciding(const struct component_result *component) {
  return component->raw_decides ? &component->drift.raw : &component->drift.physical;
}

static const char *component_deciding_unit(const struct component_result *component) {
  return component->raw_decides ? component->raw_unit : component->unit;
}

static const char *figure_word(assay_code code) {
  switch (code) {
    case ASSAY_DRIFT_MAX:
      return "largest difference";
    case ASSAY_DRIFT_P99:
      return "99th percentile of differences";
    case ASSAY_DRIFT_MEAN:
      return "mean difference";
    default:
      return "root mean square difference";
  }
}

static void say_place(struct text *out, const struct plan *plan, const struct drift *drift) {
  const struct drift_pair *worst = &drift->worst;
  if (!drift->has_worst) {
    return;
  }
  text_format(out, "; worst in case '%s'", plan->cases.entries[worst->case_index].id);
  if (worst->step >= 0) {
    text_format(out, ", step %d", (int)worst->step);
  }
  text_format(out, ", element %" PRId64 ": expected %.9g, got %.9g", worst->element, worst->expected, worst->actual);
}

static void say_judgement(struct text *out, const struct plan *plan, const struct component_result *component,
                          const struct judgement *judgement) {
  const char *unit = component_deciding_unit(component), *space = unit != NULL ? " " : "";
  unit = unit != NULL ? unit : "";
  const struct drift *drift = component_deciding(component);
  text_format(out, "'%s': ", component->name);
  switch (judgement->code) {
    case ASSAY_NOTHING_COMPARED:
      text_add(out, "no element was compared");
      return;
    case ASSAY_TOLERANCE_MISSING:
      text_add(out, component->tolerance.given
                        ? "its tolerance has neither max nor p99, and averages never decide alone; declare one of them"
                        : "it has neither a tolerance nor a decision, so nothing says how much drift is too much");
      return;
    case ASSAY_NONFINITE:
      text_format(out, "%" PRId64 " elements are NaN and %" PRId64 " infinite on either side", drift->nan, drift->inf);
      break;
    case ASSAY_SIGN_FLIPS:
      text_format(out, "%" PRId64 " elements change their sign beyond the tolerance; %.0f may", drift->sign_flips,
                  judgement->allowed);
      break;
    case ASSAY_SATURATION:
      text_format(out, "%" PRId64 " elements sit at a limit on one side only; %.0f may", drift->saturated,
                  judgement->allowed);
      break;
    default:
      text_format(out, "the %s is %.6g%s%s, above the tolerance of %.6g%s%s", figure_word(judgement->code),
                  judgement->measured, space, unit, judgement->allowed, space, unit);
      break;
  }
  say_place(out, plan, drift);
}

static assay_status add_judgement(const struct plan *plan, const struct component_result *component,
                                  const struct judgement *judgement, struct arena *arena,
                                  struct gate_reasons *reasons) {
  const struct drift *drift = component_deciding(component);
  struct gate_reason reason = gate_reason_of(judgement->code);
  struct text sentence = {0};
  say_judgement(&sentence, plan, component, judgement);
  reason.sentence = sentence.failed ? NULL : arena_string(arena, text_string(&sentence));
  text_free(&sentence);
  reason.output = component->output;
  reason.component = component->name;
  reason.unit = component_deciding_unit(component);
  reason.measured = judgement->measured;
  reason.tolerance = judgement->allowed;
  if (drift->has_worst) {
    reason.case_id = plan->cases.entries[drift->worst.case_index].id;
    reason.step = drift->worst.step;
    reason.element = drift->worst.element;
    reason.expected = (struct gate_value){drift->worst.expected, component->single};
    reason.actual = (struct gate_value){drift->worst.actual, component->single};
  }
  return reason.sentence != NULL ? gate_reason_add(arena, reasons, &reason) : status_no_memory(0);
}

/* --- a component ------------------------------------------------------------------------ */

/* What decoding could hide, the raw side still counts: a clip turns infinity into a legal number. */
static struct drift with_hidden_faults(const struct component_result *component) {
  struct drift drift = *component_deciding(component);
  const struct drift *raw = &component->drift.raw;
  drift.nan = raw->nan > drift.nan ? raw->nan : drift.nan;
  drift.inf = raw->inf > drift.inf ? raw->inf : drift.inf;
  return drift;
}

static enum verdict worse(enum verdict a, enum verdict b) {
  return a == VERDICT_REJECT || b == VERDICT_REJECT     ? VERDICT_REJECT
         : a == VERDICT_BLOCKED || b == VERDICT_BLOCKED ? VERDICT_BLOCKED
                                                        : VERDICT_PASS;
}

static bool is_single(assay_dtype dtype) { return dtype != ASSAY_FLOAT64; }

static struct noise_figures noise_of(double self, double rounding, double floor) {
  return (struct noise_figures){self, rounding, floor};
}

/* Self-noise above the tolerance voids the numbers; an answer that depends on history is a fault of its own. */
static assay_status judge_self(const struct rung_measured *measured, int32_t c, struct component_result *component,
                               struct arena *arena, struct gate_reasons *reasons) {
  const struct noise_arrays *self = &measured->pass->self, *history = &measured->pass->history;
  double limit = tolerance_limit(&component->tolerance);
  double own = component->raw_decides ? self->raw[c] : self->physical[c];
  const char *unit = component_deciding_unit(component);
  component->rung_self_noise = own;
  if (!isnan(own) && !isnan(limit) && own > limit) {
    struct gate_reason reason = gate_reason_of(ASSAY_UNSTABLE_RUNG);
    reason.output = component->output;
    reason.component = component->name;
    reason.measured = own;
    reason.tolerance = limit;
    reason.unit = unit;
    reason.sentence = arena_format(
        arena, "'%s': in fresh sessions the rung differs from itself by up to %.6g%s%s, above the tolerance of %.6g",
        component->name, own, unit != NULL ? " " : "", unit != NULL ? unit : "", limit);
    return reason.sentence != NULL ? gate_reason_add(arena, reasons, &reason) : status_no_memory(0);
  }
  double floor = larger(self->raw[c], measured->floors->rounding.raw[c]);
  if (!isnan(history->raw[c]) && history->raw[c] > (isnan(floor) ? 0.0 : floor)) {
    struct gate_reason reason = gate_reason_of(ASSAY_HISTORY_DEPENDENT);
    reason.output = component->output;
    reason.component = component->name;
    reason.measured = history->raw[c];
    reason.tolerance = isnan(floor) ? 0.0 : floor;
    reason.unit = component->raw_unit;
    reason.sentence = arena_format(arena,
                                   "'%s': the same case gets another answer after other calls; it moves by up to %.6g "
                                   "(raw), above the rung's noise floor of %.6g",
                                   component->name, history->raw[c], reason.tolerance);
    return reason.sentence != NULL ? gate_reason_add(arena, reasons, &reason) : status_no_memory(0);
  }
  return status_ok();
}

static int32_t motor_of(const struct contract_output *output, int32_t component) {
  int32_t motor = output->hardware_order != NULL ? output->n_components - 1 : -1;
  while (motor >= 0 && output->hardware_order[motor] != component) {
    motor--;
  }
  return motor;
}

static bool unit_is(const struct contract_component *component, const char *a, const char *b) {
  return strcmp(component->unit, a) == 0 || strcmp(component->unit, b) == 0;
}

/* What the joint's controller makes of the drift: kp times that of a position, kd times that of a velocity. */
static struct torque_result torque_of(const struct contract_component *component, const struct drift *drift) {
  if (!component->has_pd) {
    return (struct torque_result){.gain = NULL, .max = NAN, .p99 = NAN, .mean = NAN};
  }
  bool velocity = unit_is(component, "rad/s", "m/s") || strcmp(component->unit, "deg/s") == 0;
  bool linear = unit_is(component, "m", "m/s"), degrees = unit_is(component, "deg", "deg/s");
  double gain = (velocity ? component->kd : component->kp) * (degrees ? 3.14159265358979323846 / 180 : 1.0);
  return (struct torque_result){.gain = velocity ? "kd" : "kp",
                                .unit = linear ? "N" : "N·m",
                                .max = gain * drift->max,
                                .p99 = gain * drift->p99,
                                .mean = gain * drift->mean};
}

static bool output_has_decision(const struct contract_output *output, const struct contract_component *component) {
  return component->has_decision || output->n_decisions > 0 || output->detected;
}

static assay_status assemble_component(const struct rung_measured *measured, int32_t c,
                                       const struct guard_answers *answers, struct arena *arena,
                                       struct gate_reasons *reasons, struct component_result *out) {
  const struct plan_output *planned;
  const struct contract_component *component = plan_component(measured->plan, c, &planned);
  const struct contract_output *output = planned->output;
  const struct component_pairs *pairs = &measured->measure->components[c];
  const struct noise_floors *floors = measured->floors;
  *out = (struct component_result){
      .output = output->name,
      .name = component_title(component),
      .unit = component->unit,
      .raw_unit = component->raw_unit != NULL || component->n_decode > 0 ? component->raw_unit : component->unit,
      .single = is_single(output->dtype),
      .decides = planned->decides && component_compared(component) != COMPARED_WITHIN,
      .compare = component->compare,
      .compared = component_compared(component),
      .deviation_expected = pairs->deviation[0],
      .deviation_actual = pairs->deviation[1]};
  out->tolerance = gate_tolerance_of(measured->gate_rung, output, component, &out->tolerance_reason);
  out->raw_decides = out->tolerance.given && out->tolerance.raw;
  TRY(measure_both(output, component, &out->tolerance, &pairs->raw, &pairs->physical, &out->drift));
  TRY(measure_both(output, component, &out->tolerance, &pairs->rest_raw, &pairs->rest_physical, &out->rest));
  TRY(make_groups(measured, output, component, pairs, answers, arena, out));
  out->raw_noise = noise_of(floors->self.raw[c], floors->rounding.raw[c], floors->floor.raw[c]);
  out->physical_noise = noise_of(floors->self.physical[c], floors->rounding.physical[c], floors->floor.physical[c]);
  out->raw_distinguishable = !(out->drift.raw.max <= out->raw_noise.floor);
  out->physical_distinguishable = !(out->drift.physical.max <= out->physical_noise.floor);
  out->torque = torque_of(component, &out->drift.physical);
  out->motor = motor_of(output, c - planned->first_component);
  out->verdict = VERDICT_PASS;
  out->rung_self_noise = NAN;
  if (!out->decides) {
    return status_ok();
  }
  struct judgement judgements[JUDGEMENT_MAX];
  struct drift judged = with_hidden_faults(out);
  int32_t n = judge_component(&out->tolerance, output_has_decision(output, component), component->allow_inf, &judged,
                              judgements);
  for (int32_t i = 0; i < n; i++) {
    out->verdict = worse(out->verdict, verdict_of_code(judgements[i].code));
    TRY(add_judgement(measured->plan, out, &judgements[i], arena, reasons));
  }
  return judge_self(measured, c, out, arena, reasons);
}

/* --- order: worst first -------------------------------------------------------------------- */

/* How far a component is beyond what it may be: above 1 is too far. NaN is farthest. */
static double badness(const struct component_result *component) {
  double limit = tolerance_limit(&component->tolerance), max = component_deciding(component)->max;
  if (!component->decides || isnan(limit)) {
    return -1.0;
  }
  return isnan(max) || limit == 0.0 ? (max == 0.0 ? 0.0 : INFINITY) : max / limit;
}

static int rank(enum verdict verdict) { return verdict == VERDICT_REJECT ? 0 : verdict == VERDICT_BLOCKED ? 1 : 2; }

/* Insertion sort: few components, and equals keep the order of the contract. */
static void sort_worst_first(struct component_result *components, int32_t n) {
  for (int32_t i = 1; i < n; i++) {
    struct component_result moving = components[i];
    int32_t place = i;
    while (place > 0) {
      const struct component_result *before = &components[place - 1];
      bool behind = rank(moving.verdict) < rank(before->verdict) ||
                    (rank(moving.verdict) == rank(before->verdict) && badness(&moving) > badness(before));
      if (!behind) {
        break;
      }
      components[place] = *before;
      place--;
    }
    components[place] = moving;
  }
}

/* --- outputs --------------------------------------------------------------------------------- */

static int compare_pairs(const void *left, const void *right) {
  const struct drift_pair *a = left, *b = right;
  if (a->case_index != b->case_index) {
    return a->case_index < b->case_index ? -1 : 1;
  }
  if (a->step != b->step) {
    return a->step < b->step ? -1 : 1;
  }
  return (a->element > b->element) - (a->element < b->element);
}

/* All components of an output together, in the tensor's order, before decoding. */
static assay_status assemble_output(const struct rung_measured *measured, int32_t o, struct arena *arena,
                                    struct output_result *out) {
  const struct plan_output *planned = &measured->plan->outputs[o];
  const struct contract_output *output = planned->output;
  size_t total = 0, count = 0;
  for (int32_t c = 0; c < output->n_components; c++) {
    total += measured->measure->components[planned->first_component + c].raw.count;
  }
  struct drift_pair *pairs = memory_alloc(total + 1, sizeof *pairs);
  if (pairs == NULL) {
    return status_no_memory(total * sizeof *pairs);
  }
  bool allow_inf = true;
  for (int32_t c = 0; c < output->n_components; c++) {
    const struct pair_list *list = &measured->measure->components[planned->first_component + c].raw;
    if (list->count > 0) {
      memcpy(pairs + count, list->items, list->count * sizeof *pairs);
    }
    count += list->count;
    allow_inf = allow_inf && output->components[c].allow_inf;
  }
  if (count > 1) {
    qsort(pairs, count, sizeof *pairs, compare_pairs);
  }
  struct drift_rule rule = {.allow_inf = allow_inf,
                            .sign_tolerance = NAN,
                            .limit_min = NAN,
                            .limit_max = NAN,
                            .limit_slack = NAN,
                            .relative_floor = NAN};
  const char *type = measured->measure->types[o];
  *out = (struct output_result){.name = output->name, .single = is_single(output->dtype)};
  assay_status status = drift_measure(pairs, count, &rule, &out->raw);
  memory_free(pairs);
  TRY(status);
  out->type = type != NULL ? arena_string(arena, type) : NULL;
  return type == NULL || out->type != NULL ? status_ok() : status_no_memory(0);
}

/* --- the rung ---------------------------------------------------------------------------------- */

/* A flip is the component's own. */
static void mark_flipped(struct rung_result *rung, const struct decision_result *decision) {
  for (int32_t c = 0; c < rung->n_components; c++) {
    struct component_result *component = &rung->components[c];
    bool same = strcmp(component->output, decision->output) == 0 && decision->component != NULL &&
                strcmp(component->name, decision->component) == 0;
    if (same) {
      component->verdict = worse(component->verdict, decision->verdict);
    }
  }
}

assay_status assemble_rung(const struct rung_measured *measured, struct arena *arena, struct rung_result *out) {
  const struct plan *plan = measured->plan;
  const struct measure *measure = measured->measure;
  ARENA_NEW(arena, out->components, plan->n_components + 1);
  ARENA_NEW(arena, out->outputs, plan->n_outputs + 1);
  ARENA_NEW(arena, out->decisions, measure->n_decisions + 1);
  struct guard_answers answers;
  TRY(guard_answers_make(&measure->guard, arena, &answers));
  out->noise = measured->pass->done;
  for (int32_t c = 0; c < plan->n_components; c++) {
    struct component_result *component = &out->components[out->n_components++];
    TRY(assemble_component(measured, c, &answers, arena, &out->reasons, component));
    out->elements += component->decides ? component->drift.raw.n : 0;
    out->noise.history_max = larger(out->noise.history_max, measured->pass->history.raw[c]);
  }
  for (int32_t o = 0; o < plan->n_outputs; o++) {
    TRY(assemble_output(measured, o, arena, &out->outputs[out->n_outputs++]));
  }
  for (int32_t d = 0; d < measure->n_decisions; d++) {
    TRY(assemble_decision(plan, &measure->decisions[d], out, arena, &out->decisions[d]));
    out->n_decisions++;
    mark_flipped(out, &out->decisions[d]);
  }
  TRY(assemble_guard(&measure->guard, out, arena));
  TRY(detections_assemble(plan, measure->detections, measure->n_detections, arena, out));
  TRY(rung_hints(measured, arena, out));
  sort_worst_first(out->components, out->n_components);
  return seeds_spread(measured, arena, out);
}
