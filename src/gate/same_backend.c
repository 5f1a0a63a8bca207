/* One runtime under two names: see same_backend.h. It judges no number, and what a runtime does not say makes nothing
 * equal. */
#include "gate/same_backend.h"

#include <string.h>

static bool same_word(const char *a, const char *b) { return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0); }

static bool same_placement(const struct rung_actual *a, const struct rung_actual *b) {
  bool same = a->n_placement == b->n_placement;
  for (int32_t i = 0; i < a->n_placement && same; i++) {
    same = same_word(a->placement[i].node, b->placement[i].node) &&
           same_word(a->placement[i].provider, b->placement[i].provider) &&
           same_word(a->placement[i].precision, b->placement[i].precision);
  }
  return same;
}

/* Where a library lies on the disk is no property of the runtime; everything else that it states is. */
static bool same_facts(const struct rung_actual *a, const struct rung_actual *b) {
  bool same = a->n_facts == b->n_facts;
  for (int32_t i = 0; i < a->n_facts && same; i++) {
    same = same_word(a->facts[i].key, b->facts[i].key) &&
           (strcmp(a->facts[i].key, "library") == 0 || same_word(a->facts[i].value, b->facts[i].value));
  }
  return same;
}

static bool same_kept_nodes(const struct rung_request *a, const struct rung_request *b) {
  bool same = a->n_keep == b->n_keep;
  for (int32_t i = 0; i < a->n_keep && same; i++) {
    same = strcmp(a->keep[i], b->keep[i]) == 0;
  }
  return same;
}

static bool same_models(const struct rung_result *a, const struct rung_result *b) {
  const struct rung_request *x = &a->request, *y = &b->request;
  return x->stages == y->stages && x->stage_models == y->stage_models && same_word(x->model_path, y->model_path) &&
         same_kept_nodes(x, y);
}

static bool same_backend(const struct rung_result *a, const struct rung_result *b) {
  const struct rung_actual *x = &a->actual, *y = &b->actual;
  bool computed = strcmp(a->engine, "recorded") != 0 && strcmp(b->engine, "recorded") != 0;
  return computed && a->has_actual && b->has_actual && x->precision != NULL && x->version != NULL &&
         same_word(x->engine, y->engine) && same_word(x->version, y->version) && same_word(x->provider, y->provider) &&
         same_word(x->device, y->device) && same_word(x->precision, y->precision) &&
         same_word(x->accumulator, y->accumulator) && same_word(x->tf32, y->tf32) && same_models(a, b) &&
         same_facts(x, y) && same_placement(x, y);
}

/* The rung that `r` is the same as: the reference if it is that one, else an earlier one; -1 when there is none. */
static int32_t find_same(const struct gate_result *result, int32_t r) {
  int32_t found = -1;
  for (int32_t other = 0; other < result->n_rungs; other++) {
    bool comes_first = other < r || result->rungs[other].is_reference;
    bool better = found < 0 || result->rungs[other].is_reference;
    if (other != r && comes_first && better && same_backend(&result->rungs[other], &result->rungs[r])) {
      found = other;
    }
  }
  return found;
}

assay_status same_backend_note(struct gate_result *result) {
  for (int32_t r = 0; r < result->n_rungs; r++) {
    struct rung_result *rung = &result->rungs[r];
    int32_t same = rung->is_reference ? -1 : find_same(result, r);
    if (same < 0) {
      continue;
    }
    rung->is_same_as_reference = result->rungs[same].is_reference;
    TRY(gate_reason_say(&result->arena, &rung->reasons, ASSAY_SAME_BACKEND,
                        "rungs '%s' and '%s' ran the same: %s %s in %s; they count as one, and that they agree says "
                        "nothing",
                        result->rungs[same].name, rung->name, rung->actual.engine, rung->actual.version,
                        rung->actual.precision));
  }
  return status_ok();
}
