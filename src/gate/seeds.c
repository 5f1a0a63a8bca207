/* Seeds of a golden case: see seeds.h. It must never leave a stored seed out. */
#include "gate/seeds.h"

#include <math.h>
#include <string.h>

#include "contract/compare.h"
#include "core/memory.h"

/* --- each seed a case ------------------------------------------------------------------- */

static assay_status check_ids(const struct corpus *corpus, const struct case_store *store) {
  for (int32_t i = 0; i < store->n; i++) {
    if (store->places[i].n == 0) {
      continue;
    }
    for (int32_t c = 0; c < corpus->n_cases; c++) {
      if (strcmp(corpus->cases[c].id, store->entries[i].id) == 0) {
        return status_make(ASSAY_CORPUS_INVALID, corpus->folder,
                           "there is a case '%s', which is also what a seed of case '%s' is called; rename it",
                           store->entries[i].id, corpus->cases[store->places[i].corpus_index].id);
      }
    }
  }
  return status_ok();
}

assay_status seeds_expand(const struct corpus *corpus, struct arena *arena, struct case_store *out) {
  int32_t *counts, total = 0;
  ARENA_NEW(arena, counts, corpus->n_cases + 1);
  for (int32_t c = 0; c < corpus->n_cases; c++) {
    if (!corpus->cases[c].refuse) {
      TRY(corpus_case_seeds(corpus, c, &counts[c]));
    }
    total += counts[c] > 0 ? counts[c] : 1;
  }
  struct corpus_case *entries;
  struct seed_place *places;
  ARENA_NEW(arena, entries, total + 1);
  ARENA_NEW(arena, places, total + 1);
  *out = (struct case_store){.corpus = corpus, .entries = entries, .places = places};
  for (int32_t c = 0; c < corpus->n_cases; c++) {
    for (int32_t k = 0, first = out->n; k < (counts[c] > 0 ? counts[c] : 1); k++) {
      struct corpus_case *entry = &entries[out->n];
      *entry = corpus->cases[c];
      places[out->n++] = (struct seed_place){c, k, first, counts[c]};
      if (counts[c] > 0) {
        entry->id = arena_format(arena, "%s#%d", corpus->cases[c].id, (int)k);
      }
      if (entry->id == NULL) {
        return status_no_memory(strlen(corpus->cases[c].id));
      }
    }
  }
  return check_ids(corpus, out);
}

/* --- worst and spread ------------------------------------------------------------------------ */

/* The pairs of one draw: those of one case, which follow one another. */
struct draw {
  const struct drift_pair *pairs;
  size_t n;
  double worst; /* largest difference; NAN where one is not a number */
};

struct draws {
  struct draw *items; /* [cases of the plan] */
  double *sorted;     /* worst differences */
  int32_t n_sorted;
};

static void gather(const struct pair_list *list, bool allow_inf, struct draws *draws, int32_t n_cases) {
  memset(draws->items, 0, (size_t)n_cases * sizeof *draws->items);
  for (size_t i = 0; i < list->count; i++) {
    const struct drift_pair *pair = &list->items[i];
    struct draw *draw = &draws->items[pair->case_index];
    double difference = drift_difference(pair->expected, pair->actual, allow_inf);
    draw->pairs = draw->n == 0 ? pair : draw->pairs;
    draw->worst = isnan(difference) || difference > draw->worst ? difference : draw->worst;
    draw->n++;
  }
}

/* Elements of one case over its seeds: how far the reference's answers lie apart. */
struct apart {
  double range, squares; /* largest range; sum of variances */
  int64_t elements;
};

static void see_case(const struct draw *draws, int32_t n, struct apart *out) {
  for (int32_t k = 1; k < n; k++) {
    if (draws[k].n != draws[0].n) {
      return; /* shapes differ from seed to seed: elements cannot be paired */
    }
  }
  for (size_t i = 0; i < draws[0].n; i++) {
    double low = INFINITY, high = -INFINITY, mean = 0, squares = 0;
    for (int32_t k = 0; k < n; k++) {
      double value = draws[k].pairs[i].expected;
      low = fmin(low, value);
      high = fmax(high, value);
      mean += value / n;
    }
    for (int32_t k = 0; k < n; k++) {
      double off = draws[k].pairs[i].expected - mean;
      squares += off * off / (n - 1);
    }
    out->range = high - low > out->range ? high - low : out->range;
    out->squares += squares;
    out->elements++;
  }
}

static double median_of(const double *sorted, int32_t n) {
  return n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

static double deviation_of(const double *values, int32_t n) {
  double mean = 0, squares = 0;
  for (int32_t i = 0; i < n; i++) {
    mean += values[i] / n;
  }
  for (int32_t i = 0; i < n; i++) {
    squares += (values[i] - mean) * (values[i] - mean);
  }
  return n > 1 ? sqrt(squares / (n - 1)) : NAN;
}

static bool is_worse(double a, double than) { return isnan(a) ? !isnan(than) : a > than; }

static void spread_component(const struct plan *plan, struct draws *draws, struct seed_spread *out) {
  struct apart apart = {0};
  draws->n_sorted = 0;
  for (int32_t i = 0; i < plan->cases.n; i++) {
    const struct seed_place *place = &plan->cases.places[i];
    const struct draw *draw = &draws->items[i];
    if (place->n < 2 || draw->n == 0) {
      continue;
    }
    if (out->n_draws == 0 || is_worse(draw->worst, out->max)) {
      out->max = draw->worst;
      out->worst = plan->cases.entries[i].id;
    }
    draws->sorted[draws->n_sorted++] = draw->worst;
    out->n_draws++;
    if (place->seed == 0) {
      out->n_cases++;
      see_case(draw, place->n, &apart);
    }
  }
  if (out->n_draws > 0) {
    drift_sort(draws->sorted, (size_t)draws->n_sorted);
    out->min = draws->sorted[0];
    out->median = median_of(draws->sorted, draws->n_sorted);
    out->deviation = deviation_of(draws->sorted, draws->n_sorted);
  }
  if (apart.elements > 0) {
    out->reference_range = apart.range;
    out->reference_deviation = sqrt(apart.squares / (double)apart.elements);
  }
}

static assay_status spread_all(const struct rung_measured *measured, struct draws *draws, struct rung_result *out,
                               struct seed_spread *spreads) {
  const struct plan *plan = measured->plan;
  for (int32_t c = 0; c < out->n_components; c++) {
    const struct component_result *component = &out->components[c];
    int32_t index = 0;
    const struct plan_output *planned;
    const struct contract_component *of;
    do { /* components of a result are sorted; those of the plan are the contract's */
      of = plan_component(plan, index++, &planned);
    } while (component_title(of) != component->name || planned->output->name != component->output);
    const struct component_pairs *pairs = &measured->measure->components[index - 1];
    struct seed_spread *spread = &spreads[out->n_seed_spreads];
    *spread = (struct seed_spread){.component = component,
                                   .max = NAN,
                                   .min = NAN,
                                   .median = NAN,
                                   .deviation = NAN,
                                   .reference_range = NAN,
                                   .reference_deviation = NAN};
    gather(component->raw_decides ? &pairs->raw : &pairs->physical, of->allow_inf, draws, plan->cases.n);
    spread_component(plan, draws, spread);
    out->n_seed_spreads += spread->n_draws > 0;
  }
  return status_ok();
}

static bool stores_several(const struct plan *plan) {
  for (int32_t i = 0; plan->cases.places != NULL && i < plan->cases.n; i++) {
    if (plan->cases.places[i].n > 1) {
      return true;
    }
  }
  return false;
}

assay_status seeds_spread(const struct rung_measured *measured, struct arena *arena, struct rung_result *out) {
  const struct plan *plan = measured->plan;
  struct seed_spread *spreads;
  if (!stores_several(plan)) {
    return status_ok();
  }
  ARENA_NEW(arena, spreads, out->n_components + 1);
  size_t n = (size_t)plan->cases.n + 1;
  struct draws draws = {.items = memory_alloc(n, sizeof *draws.items), .sorted = memory_alloc(n, sizeof(double))};
  assay_status status = draws.items == NULL || draws.sorted == NULL ? status_no_memory(n * sizeof *draws.items)
                                                                    : spread_all(measured, &draws, out, spreads);
  out->seed_spreads = spreads;
  memory_free(draws.items);
  memory_free(draws.sorted);
  return status;
}
