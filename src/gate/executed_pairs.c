/* Blending chunks of both sides: see executed_pairs.h. It must never blend the answers of one side with the other's. */
#include "gate/executed_pairs.h"

#include "contract/compare.h"
#include "contract/executed.h"
#include "core/memory.h"

enum { RAW_EXPECTED, RAW_ACTUAL, EXPECTED, ACTUAL, READINGS };

/* All answers of a case: [READINGS][steps][per_step], and the blend of one moment: [READINGS][per_step]. */
struct chunks {
  const struct contract_output *output;
  assay_tensor shape; /* of one answer */
  int64_t steps, per_step, stride;
  double *values, *moment;
};

static bool fits(const struct chunks *chunks, const assay_tensor *tensor) {
  return tensor != NULL && shape_equal(tensor, &chunks->shape) && dtype_is_float(tensor->dtype);
}

static double *reading(const struct chunks *chunks, int which, int64_t step) {
  return chunks->values + ((int64_t)which * chunks->steps + step) * chunks->per_step;
}

/* Reads until the two sides no longer have what can be blended. */
static void read_answers(struct chunks *chunks, const struct fed_case *fed, const struct answer *expected,
                         const struct answer *actual) {
  const char *name = chunks->output->name;
  int64_t there = 0;
  for (; there < chunks->steps; there++) {
    const assay_tensor *from = answer_find(expected, there, name), *to = answer_find(actual, there, name);
    if (!fits(chunks, from) || !fits(chunks, to)) {
      break;
    }
    tensor_to_double(from, reading(chunks, RAW_EXPECTED, there));
    tensor_to_double(to, reading(chunks, RAW_ACTUAL, there));
    contract_decode(chunks->output, from, fed_case_measured(fed, there), reading(chunks, EXPECTED, there));
    contract_decode(chunks->output, to, fed_case_measured(fed, there), reading(chunks, ACTUAL, there));
  }
  for (int which = 0; which < READINGS && there < chunks->steps; which++) { /* close up what was laid out for more */
    for (int64_t i = 0; i < there * chunks->per_step; i++) {
      chunks->values[(int64_t)which * there * chunks->per_step + i] = reading(chunks, which, 0)[i];
    }
  }
  chunks->steps = there;
}

static bool is_first(const struct chunks *chunks, int64_t i, int32_t *component) {
  int64_t horizon;
  *component = contract_component_of(chunks->output, &chunks->shape, i, &horizon);
  return horizon == 0;
}

static assay_status give_moment(const struct chunks *chunks, int64_t t, executed_sink *sink, void *user) {
  int32_t component;
  double *at[READINGS];
  for (int which = 0; which < READINGS; which++) {
    at[which] = chunks->moment + (int64_t)which * chunks->per_step;
    for (int64_t i = 0; i < chunks->per_step; i++) {
      const struct chunk_lane lane = {reading(chunks, which, 0) + i, chunks->per_step, chunks->stride};
      at[which][i] = is_first(chunks, i, &component)
                         ? executed_ensemble(&lane, chunks->output->ensemble_m, chunks->output->execute_steps, t)
                         : 0;
    }
  }
  for (int64_t i = 0; i < chunks->per_step; i++) {
    struct executed_pair pair = {.step = t, .element = i, .raw = {at[RAW_EXPECTED][i], at[RAW_ACTUAL][i]}};
    if (is_first(chunks, i, &pair.component)) {
      pair.compared = compare_pair(chunks->output, &chunks->shape, at[EXPECTED], at[ACTUAL], i, pair.physical, NULL);
      TRY(sink(user, &pair));
    }
  }
  return status_ok();
}

assay_status executed_pairs(const struct contract_output *output, const struct fed_case *fed,
                            const struct answer *expected, const struct answer *actual, executed_sink *sink,
                            void *user) {
  const assay_tensor *first = answer_find(expected, 0, output->name);
  if (first == NULL || output->horizon_axis >= first->rank ||
      first->dims[output->horizon_axis] < output->execute_steps) {
    return status_ok();
  }
  int64_t steps = expected->steps < actual->steps ? expected->steps : actual->steps;
  struct chunks chunks = {
      .output = output, .shape = *first, .steps = steps, .per_step = tensor_count(first), .stride = 1};
  for (int32_t d = output->horizon_axis + 1; d < first->rank; d++) {
    chunks.stride *= first->dims[d];
  }
  size_t block = 0;
  bool sized = size_mul((size_t)steps + 1, (size_t)chunks.per_step * READINGS, &block);
  chunks.values = sized ? memory_alloc(block + 1, sizeof *chunks.values) : NULL;
  if (chunks.values == NULL) {
    return status_no_memory(block);
  }
  chunks.moment = chunks.values + (size_t)steps * (size_t)chunks.per_step * READINGS;
  assay_status status = status_ok();
  read_answers(&chunks, fed, expected, actual);
  for (int64_t t = 0; t < chunks.steps && assay_status_ok(status); t++) {
    status = give_moment(&chunks, t, sink, user);
  }
  memory_free(chunks.values);
  return status;
}
