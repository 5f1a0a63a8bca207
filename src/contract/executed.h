/* What a robot executes of the chunks that a policy answers in a sequence: a queue, which uses every N-th answer only,
 * or a temporal ensemble, which blends all answers that speak of the same moment. Pure functions over arrays. */
#ifndef CONTRACT_EXECUTED_H
#define CONTRACT_EXECUTED_H

#include "contract/contract.h"

/* Whether step `horizon` of the chunk that was answered at step `step` of a case is executed as it is. */
bool executed_as_is(const struct contract_output *output, int64_t step, int64_t horizon);

/* One element of the chunks of a sequence: chunk `step` begins at values[step * per_step], its steps `stride` apart. */
struct chunk_lane {
  const double *values;
  int64_t per_step, stride;
};
/* The blend for moment t: sum of w_i * a_i over sum of w_i, w_i = exp(-m * i), a_0 from the oldest chunk that reaches
 * t, which is at most `steps` - 1 steps old. Oldest first, in double. NaN in any of them is NaN. */
double executed_ensemble(const struct chunk_lane *lane, double m, int64_t steps, int64_t t);

#endif
