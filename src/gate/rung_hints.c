/* Simple explanations of a rung's drift: see rung_hints.h. It must never name one that leaves a value unexplained. */
#include "gate/rung_hints.h"

#include <math.h>
#include <string.h>

enum { COMPONENTS_MOST = 64 };
static const double explained = 1e-5, degrees_per_radian = 57.29577951308232;

static bool was_rejected(const struct rung_result *rung, const char *output) {
  for (int32_t c = 0; c < rung->n_components; c++) {
    const struct component_result *component = &rung->components[c];
    bool drifts = component->verdict == VERDICT_REJECT && strcmp(component->output, output) == 0;
    if (drifts && component->drift.raw.nan == 0 && component->drift.raw.inf == 0) {
      return true;
    }
  }
  return false;
}

static double reach(const struct pair_list *pairs) {
  double largest = 0;
  for (size_t i = 0; i < pairs->count; i++) {
    largest = fmax(largest, fabs(pairs->items[i].expected));
  }
  return largest;
}

/* The largest distance between what the rung answered for `of` and the reference for `as`; infinite when it can't be
 * told. */
static double distance_as(const struct pair_list *of, const struct pair_list *as) {
  double worst = of->count == as->count && of->count > 0 ? 0 : INFINITY;
  for (size_t i = 0; i < of->count && isfinite(worst); i++) {
    double distance = fabs(of->items[i].actual - as->items[i].expected);
    worst = distance <= worst ? worst : isnan(distance) ? INFINITY : distance;
  }
  return worst;
}

static assay_status add_note(struct arena *arena, struct rung_result *rung, const char *output, const char *component,
                             const char *sentence) {
  struct gate_reason reason = gate_reason_of(ASSAY_LOOKS_LIKE);
  reason.output = output;
  reason.component = component;
  reason.sentence = sentence;
  return sentence != NULL ? gate_reason_add(arena, &rung->reasons, &reason) : status_no_memory(0);
}

/* Every component is another one's, and only that one's. */
static assay_status hint_order(const struct rung_measured *measured, const struct plan_output *planned,
                               struct arena *arena, struct rung_result *rung, bool *found) {
  const struct component_pairs *pairs = &measured->measure->components[planned->first_component];
  int32_t n = planned->output->n_components, moved = 0;
  double error = 0;
  struct text order = {0};
  for (int32_t c = 0; c < n && n <= COMPONENTS_MOST; c++) {
    int32_t source = -1, matches = 0;
    for (int32_t from = 0; from < n; from++) {
      double distance = distance_as(&pairs[c].raw, &pairs[from].raw);
      if (distance <= explained * reach(&pairs[from].raw)) {
        source = from;
        error = fmax(error, distance);
        matches++;
      }
    }
    if (matches != 1) {
      text_free(&order);
      return status_ok();
    }
    moved += source != c;
    text_format(&order, "%s%d", c > 0 ? "," : "", (int)source);
  }
  *found = moved > 0 && !order.failed;
  assay_status status = status_ok();
  if (*found) {
    status =
        add_note(arena, rung, planned->output->name, NULL,
                 arena_format(arena,
                              "'%s': permutation (%s) explains all samples with error %.3g: element i of the rung's "
                              "answer is the reference's element of that number; look at the order of the components",
                              planned->output->name, text_string(&order), error));
  }
  text_free(&order);
  return status;
}

/* expected = slope * actual + offset for every pair; false when fewer than three values could tell. */
static bool fit_line(const struct pair_list *pairs, double *slope, double *offset) {
  size_t low = 0, high = 0, apart = 0;
  for (size_t i = 0; i < pairs->count; i++) {
    low = pairs->items[i].actual < pairs->items[low].actual ? i : low;
    high = pairs->items[i].actual > pairs->items[high].actual ? i : high;
  }
  if (pairs->count < 3) {
    return false;
  }
  double width = pairs->items[high].actual - pairs->items[low].actual;
  *slope = (pairs->items[high].expected - pairs->items[low].expected) / width;
  *offset = pairs->items[low].expected - *slope * pairs->items[low].actual;
  bool fits = width > 0 && isfinite(*slope) && *slope != 0;
  for (size_t i = 0; i < pairs->count && fits; i++) {
    double actual = pairs->items[i].actual, made = *slope * actual + *offset;
    apart += actual != pairs->items[low].actual && actual != pairs->items[high].actual;
    fits = fabs(made - pairs->items[i].expected) <= explained * reach(pairs);
  }
  return fits && apart > 0;
}

static bool is_near(double a, double b) { return fabs(a - b) <= 1e-4 * fabs(b); }

/* Deviation of the rung's values from their mean. */
static double spread(const struct pair_list *pairs) {
  double mean = 0, squares = 0, n = (double)pairs->count;
  for (size_t i = 0; i < pairs->count; i++) {
    mean += pairs->items[i].actual / n;
  }
  for (size_t i = 0; i < pairs->count; i++) {
    squares += (pairs->items[i].actual - mean) * (pairs->items[i].actual - mean) / n;
  }
  return sqrt(squares);
}

static assay_status hint_line(const struct pair_list *pairs, const struct component_result *component,
                              struct arena *arena, struct rung_result *rung) {
  double slope, offset;
  if (!fit_line(pairs, &slope, &offset)) {
    return status_ok();
  }
  bool centred = fabs(offset) <= explained * reach(pairs), own = spread(pairs) > 0.2 && spread(pairs) < 5;
  const char *sentence = NULL;
  if (centred && (is_near(slope, degrees_per_radian) || is_near(slope, 1 / degrees_per_radian))) {
    sentence =
        arena_format(arena, "'%s': degrees against radians: every value of the reference is %.7g times the rung's",
                     component->name, slope);
  } else if (!is_near(slope, 1) && fabs(slope) > 2 && own) {
    sentence =
        arena_format(arena,
                     "'%s': output looks normalised: its spread is %.3g, and every value of the reference is %.7g "
                     "times the rung's plus %.7g",
                     component->name, spread(pairs), slope, offset);
  } else {
    sentence =
        arena_format(arena,
                     "'%s': every value of the reference is %.7g times the rung's plus %.7g: a scale or an offset is "
                     "lost, or applied twice",
                     component->name, slope, offset);
  }
  return add_note(arena, rung, component->output, component->name, sentence);
}

assay_status rung_hints(const struct rung_measured *measured, struct arena *arena, struct rung_result *out) {
  const struct plan *plan = measured->plan;
  for (int32_t o = 0; o < plan->n_outputs; o++) {
    const struct plan_output *planned = &plan->outputs[o];
    bool found = false;
    if (!was_rejected(out, planned->output->name)) {
      continue;
    }
    TRY(hint_order(measured, planned, arena, out, &found));
    for (int32_t c = 0; c < planned->output->n_components && !found; c++) {
      const struct component_result *component = &out->components[planned->first_component + c];
      const struct component_pairs *pairs = &measured->measure->components[planned->first_component + c];
      if (component->verdict == VERDICT_REJECT && component->drift.raw.nan == 0 && component->drift.raw.inf == 0) {
        TRY(hint_line(&pairs->raw, component, arena, out));
      }
    }
  }
  return status_ok();
}
