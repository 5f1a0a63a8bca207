/* How near an action is to another answer of the guard: see contract_action_margins. It answers nothing itself; what
 * was refused or accepted is said by whoever asked. */
#include <math.h>
#include <string.h>

#include "contract/action_walk.h"
#include "contract/finite.h"

/* The values that a component's decoding can give, in the arithmetic of decoding itself. */
struct reach {
  double low, high;
};

static double clip(double value, const struct decode_step *step) {
  return value < step->a ? step->a : value > step->b ? step->b : value;
}

static struct reach reach_of(const struct contract_component *component) {
  struct reach reach = {-INFINITY, INFINITY};
  for (int32_t i = 0; i < component->n_decode; i++) {
    const struct decode_step *step = &component->decode[i];
    double low = reach.low, high = reach.high;
    switch (step->n_each > 0 ? DECODE_ADD : step->kind) { /* what differs along the horizon is not followed */
      case DECODE_CLIP:
        reach = (struct reach){clip(low, step), clip(high, step)};
        break;
      case DECODE_SCALE:
        reach =
            step->a < 0 ? (struct reach){high * step->a, low * step->a} : (struct reach){low * step->a, high * step->a};
        break;
      case DECODE_OFFSET:
        reach = (struct reach){low + step->a, high + step->a};
        break;
      default: /* what is added differs from step to step */
        reach = (struct reach){-INFINITY, INFINITY};
        break;
    }
  }
  return reach;
}

/* How far the value may move until a limit refuses it; below 0 when one does. */
static double limit_margin(const struct contract_component *component, double value) {
  struct reach reach = reach_of(component);
  double margin = INFINITY;
  if (!value_is_nan(component->limit_min) && !(reach.low >= component->limit_min)) {
    margin = value - component->limit_min;
  }
  if (!value_is_nan(component->limit_max) && !(reach.high <= component->limit_max)) {
    margin = component->limit_max - value < margin ? component->limit_max - value : margin;
  }
  return margin;
}

static double rate_margin(const struct walk *walk, const struct walked *at) {
  double before = value_is_nan(at->component->limit_rate) ? (double)NAN : walk_before(walk, at);
  if (value_is_nan(before) || walk->contract->period_ms == 0) {
    return INFINITY;
  }
  return (at->component->limit_rate * walk->contract->period_ms / 1000 -
          walk_distance(at, before, walk_value(walk, at))) /
         2;
}

static void lower(double *figure, double to) { *figure = to < *figure ? to : *figure; }
static void raise(double *figure, double to) { *figure = to > *figure ? to : *figure; }

static void take(const struct walk *walk, const struct walked *at, assay_code answer, struct action_margin *margin) {
  double limit = limit_margin(at->component, walk_value(walk, at)), rate = rate_margin(walk, at);
  if (answer == ASSAY_ACTION_LIMIT) {
    raise(&margin->outside, -limit);
    return;
  }
  lower(&margin->inside, limit);
  if (answer == ASSAY_ACTION_RATE) {
    raise(&margin->outside, -rate);
    return;
  }
  lower(&margin->inside, rate);
}

void contract_action_margins(const struct contract *contract, const struct contract_output *output,
                             const assay_tensor *raw, const struct action_context *context, assay_code answer,
                             struct action_margin *out) {
  struct walk walk = {contract, output, raw, context, raw != NULL ? tensor_count(raw) : 0};
  for (int32_t c = 0; c < output->n_components; c++) {
    out[c] = (struct action_margin){INFINITY, 0};
  }
  bool valued = answer == ASSAY_OK || answer == ASSAY_ACTION_LIMIT || answer == ASSAY_ACTION_RATE;
  for (int64_t i = 0; valued && walk_fits(&walk) && i < walk.count; i++) {
    struct walked at;
    if (walk_element(&walk, i, &at) && at.component->has_limits) {
      take(&walk, &at, answer, &out[at.index]);
    }
  }
}
