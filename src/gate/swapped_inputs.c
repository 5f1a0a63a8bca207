/* Two inputs under each other's names: a rejected rung is run again with each pair of like inputs exchanged, and told
 * only when every case then comes out as the reference's. */
#include "gate/swapped_inputs.h"

#include <math.h>
#include <string.h>
#include "gate/measure.h"

enum { PAIRS_MAX = 6 };
/* What the exchanged answer may differ by, as a share of the tolerance-free scale: some roundings of fp32. */
static const double miss_share = 1e-5;

static bool are_alike(const struct contract_input *a, const struct contract_input *b) {
  bool alike = !a->is_state && !b->is_state && a->dtype == b->dtype && a->rank == b->rank;
  for (int32_t d = 0; d < a->rank && alike; d++) {
    alike = a->dims[d].min == b->dims[d].min && a->dims[d].max == b->dims[d].max;
  }
  return alike;
}

static int32_t slot_of(const struct fed_case *fed, const char *name) {
  for (int32_t i = 0; i < fed->n_inputs; i++) {
    if (strcmp(fed->inputs[i].name, name) == 0) {
      return i;
    }
  }
  return -1;
}

static void exchange(struct fed_case *fed, const char *a, const char *b) {
  int32_t x = fed->steps > 0 ? slot_of(fed, a) : -1, y = fed->steps > 0 ? slot_of(fed, b) : -1;
  for (int64_t step = 0; step < fed->steps && x >= 0 && y >= 0; step++) {
    struct rung_tensor *inputs = fed->inputs + step * fed->n_inputs;
    assay_tensor kept = inputs[x].tensor;
    inputs[x].tensor = inputs[y].tensor;
    inputs[y].tensor = kept;
  }
}

static double largest_of(const struct plan *plan, const struct answer *answer) {
  double largest = 0;
  for (int64_t step = 0; step < answer->steps; step++) {
    for (int32_t o = 0; o < plan->n_outputs; o++) {
      const assay_tensor *tensor = answer_find(answer, step, plan->outputs[o].output->name);
      for (int64_t i = 0; tensor != NULL && tensor->dtype != ASSAY_STRING && i < tensor_count(tensor); i++) {
        largest = fmax(largest, fabs(tensor_get(tensor, i)));
      }
    }
  }
  return largest;
}

/* One case with the two exchanged: does it come out as the reference's? */
static assay_status comes_out(struct plan *plan, int32_t v, const struct answer *reference, struct rung *rung,
                              const char *a, const char *b, struct arena *scratch, bool *same) {
  struct fed_case fed = {0};
  struct answer answer = {0}, recorded = {0};
  double *raw, *physical;
  *same = false;
  ARENA_NEW(scratch, raw, plan->n_components + 1);
  ARENA_NEW(scratch, physical, plan->n_components + 1);
  assay_status status = fed_case_make(plan, plan->valid[v], &fed);
  if (assay_status_ok(status) && reference == NULL) {
    status = answer_recorded(&fed, -1, &recorded);
  }
  const struct answer *expected = reference != NULL ? &reference[v] : &recorded;
  if (assay_status_ok(status)) {
    exchange(&fed, a, b);
    status = answer_run(plan, &fed, rung, &answer);
  }
  if (assay_status_ok(status)) {
    status = measure_noise(plan, &fed, expected, &answer, raw, physical);
  }
  if (assay_status_ok(status)) {
    double allowed = miss_share * largest_of(plan, expected);
    *same = answer.steps == fed.steps && fed.steps > 0;
    for (int32_t c = 0; c < plan->n_components; c++) {
      *same = *same && raw[c] <= allowed;
    }
  }
  fed_case_free(plan, &fed);
  answer_free(&answer);
  answer_free(&recorded);
  return status;
}

static assay_status test_pair(struct plan *plan, const struct answer *reference, struct rung *rung, const char *a,
                              const char *b, bool *explains) {
  struct arena scratch = {0};
  assay_status status = status_ok();
  *explains = plan->n_valid > 0;
  for (int32_t v = 0; v < plan->n_valid && *explains && assay_status_ok(status); v++) {
    status = comes_out(plan, v, reference, rung, a, b, &scratch, explains);
  }
  arena_free(&scratch);
  if (!assay_status_ok(status) && assay_code_kind_of(status.code) != ASSAY_KIND_INTERNAL) {
    *explains = false; /* what cannot be run explains nothing */
    assay_status_clear(&status);
  }
  return status;
}

static assay_status test_pairs(struct plan *plan, struct rung *rung, const struct answer *reference,
                               struct arena *arena, struct gate_reasons *reasons) {
  const struct contract *contract = plan->contract;
  int pairs = 0;
  for (int32_t i = 0; i < contract->n_inputs; i++) {
    for (int32_t j = i + 1; j < contract->n_inputs && pairs < PAIRS_MAX; j++) {
      const struct contract_input *a = &contract->inputs[i], *b = &contract->inputs[j];
      bool explains = false;
      if (!are_alike(a, b)) {
        continue;
      }
      pairs++;
      TRY(test_pair(plan, reference, rung, a->name, b->name, &explains));
      if (explains) {
        TRY(gate_reason_say(
            arena, reasons, ASSAY_LOOKS_LIKE,
            "inputs '%s' and '%s' look swapped: fed under each other's name, they reproduce all %d cases", a->name,
            b->name, (int)plan->n_valid));
        return status_ok();
      }
    }
  }
  return status_ok();
}

assay_status hints_of_inputs(struct plan *plan, const struct rung_request *request, const struct answer *reference,
                             struct arena *arena, struct gate_reasons *reasons) {
  struct rung *rung = NULL;
  assay_status status = rung_open(request, &rung);
  if (assay_status_ok(status) && !rung_replays(rung)) {
    status = test_pairs(plan, rung, reference, arena, reasons);
  }
  rung_close(rung);
  if (!assay_status_ok(status) && assay_code_kind_of(status.code) != ASSAY_KIND_INTERNAL) {
    assay_status_clear(&status); /* no hint; the verdict stands without it */
  }
  return status;
}
