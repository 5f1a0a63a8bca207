/* Observations made of what a case recorded: its sensors, raw/<sensor>, and its answers, outputs/<tensor>, step by
 * step. Nothing here runs a policy; whoever closes the loop through a runtime's own answers does that. */
#ifndef CORPUS_CASE_OBSERVATION_H
#define CORPUS_CASE_OBSERVATION_H

#include "contract/observe.h"
#include "corpus/corpus.h"

/* Most sensors that the terms of a contract name, counting those that several terms share once each. */
size_t contract_sensor_count(const struct contract *contract);
/* The sensors of the contract's terms that the case has, at a step, each once. Room for contract_sensor_count in
 * `items` and in `tensors`, which the items point to; returns how many there are. */
size_t case_sensors_at(const struct contract *contract, const struct corpus_case *entry, const struct case_data *data,
                       int64_t step, struct fed_input *items, assay_tensor *tensors);

/* The answers of a case at a step, by name. */
struct case_answers {
  struct arena arena;
  struct fed_inputs inputs;
  assay_tensor *tensors;
};
ASSAY_MUST_CHECK assay_status case_answers_open(const struct case_data *data, struct case_answers *out);
const struct fed_inputs *case_answers_at(struct case_answers *answers, const struct corpus_case *entry,
                                         const struct case_data *data, int64_t step);
void case_answers_close(struct case_answers *answers);

/* Whether the case begins somewhere within an episode, as its origin says: what an observation remembers is not known.
 */
bool case_from_middle(const struct corpus_case *entry);

/* The input's observation at each of `steps` steps, into *out[step], data in the arena. `measured`: what was measured
 * at each step, sensors last; NULL where decoding adds from nothing but them. Fails as observer_step does. */
ASSAY_MUST_CHECK assay_status case_observe(const struct contract *contract, const struct contract_input *input,
                                           const struct corpus_case *entry, const struct case_data *data, int64_t steps,
                                           const struct fed_inputs *measured, struct observer_options options,
                                           struct arena *arena, assay_tensor *const *out);

/* All observations that the case does not store, as far as its recorded answers go. */
struct case_built {
  struct arena arena;
  assay_tensor **inputs; /* [contract's inputs] of [steps]; NULL: stored, or not made of terms */
};
/* Fails as observer_step does, with what is wrong with the sensors. The caller ends it with arena_free, also then. */
ASSAY_MUST_CHECK assay_status case_build(const struct contract *contract, const struct corpus_case *entry,
                                         const struct case_data *data, int64_t steps, struct case_built *out);

#endif
