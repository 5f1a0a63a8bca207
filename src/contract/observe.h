/* Builds observations from what was measured, step by step, as the terms of an input say, and takes them apart again.
 *
 * Arithmetic: every value is computed in double, one rounding an operation, and rounded once to the tensor's dtype when
 * it is put into the observation. sin and cos are those of kernels/. History holds what a term was, not what it is made
 * of, so a value has the same bits in every observation that it stands in. */
#ifndef CONTRACT_OBSERVE_H
#define CONTRACT_OBSERVE_H

#include "contract/apply.h"
#include "contract/terms.h"

struct observer_options {
  /* A sensor, or an answer, that is not there makes its elements unknown (and 0), instead of failing. */
  bool sensors_may_lack, answers_may_lack;
  /* The first step is not the first of an episode: what lies before it, and the clock, are unknown. */
  bool from_middle;
};

/* One input of one episode. Not thread-safe; several may share a contract. */
struct observer;
/* `terms` are those of the input, or others that fit its shape. Contract and terms must outlive the observer. Nothing
 * is allocated after this. */
ASSAY_MUST_CHECK assay_status observer_open(const struct contract *contract, const struct contract_input *input,
                                            const struct contract_terms *terms, struct observer_options options,
                                            struct observer **out);
void observer_close(struct observer *observer); /* NULL is harmless */
void observer_reset(struct observer *observer); /* the next step is the first of an episode */

/* The observation of the next step, from its sensors by name (terms' `raw`). What an earlier stage answers (lag 0) is
 * left at 0: observer_fill. INPUT_MISSING and INPUT_SHAPE name the sensor; OUTPUT_MISSING, where the step before was
 * not answered. */
ASSAY_MUST_CHECK assay_status observer_step(struct observer *observer, const struct fed_inputs *sensors);
/* The answers of this step, for lag 0. Those that are not there stay unknown. */
ASSAY_MUST_CHECK assay_status observer_fill(struct observer *observer, const struct fed_inputs *outputs,
                                            const struct fed_inputs *measured);
/* The answers to the observation, for the steps that come. `measured`: what decoding may add; NULL where nothing was.
 * OUTPUT_MISSING and OUTPUT_SHAPE name the output. */
ASSAY_MUST_CHECK assay_status observer_answer(struct observer *observer, const struct fed_inputs *outputs,
                                              const struct fed_inputs *measured);
/* The observation of this step: a view, valid until the next. */
const assay_tensor *observer_tensor(const struct observer *observer);
/* Element by element, how far another program's correct answer may lie from it that rounds every operation to the
 * tensor's dtype; INFINITY where the element is unknown. */
const double *observer_allowed(const struct observer *observer);

/* Where element i of an observation comes from. */
struct observed_element {
  int32_t term, element;
  int32_t age; /* steps back in the history */
};
struct observed_element observed_at(const struct contract_terms *terms, int64_t i);

/* Puts the answer of an earlier stage into an observation (terms with lag 0 that are made from this output): for
 * whoever runs the stages. Pure. OUTPUT_SHAPE when the answer has not the contract's shape. */
ASSAY_MUST_CHECK assay_status observe_fill(const struct contract *contract, const struct contract_input *input,
                                           const char *output, const assay_tensor *answer,
                                           const struct fed_inputs *measured, assay_tensor *observation);

#endif
