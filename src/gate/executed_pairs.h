/* The sequence that a robot executes of an ensemble of chunks, built from the answers of both sides. */
#ifndef GATE_EXECUTED_PAIRS_H
#define GATE_EXECUTED_PAIRS_H

#include "gate/plan.h"

/* One element of what is executed at one moment: expected and actual. */
struct executed_pair {
  int64_t step, element; /* of the case; within the output, at the first step of its horizon */
  int32_t component;     /* within the output */
  bool compared;         /* false: a part of something whose first number stands for the whole */
  double raw[2], physical[2];
};
typedef assay_status executed_sink(void *user, const struct executed_pair *pair);

/* In order of time, then of elements. Ends early where
 * an answer is not there or has another shape, of which others speak. */
ASSAY_MUST_CHECK assay_status executed_pairs(const struct contract_output *output, const struct fed_case *fed,
                                             const struct answer *expected, const struct answer *actual,
                                             executed_sink *sink, void *user);

#endif
