/* Queues and temporal ensembles: see executed.h. */
#include "contract/executed.h"

#include <math.h>

bool executed_as_is(const struct contract_output *output, int64_t step, int64_t horizon) {
  if (output->ensemble) {
    return false; /* what is executed is a blend */
  }
  bool asked = output->queue == 0 || step <= 0 || step % output->queue == 0;
  return asked && (output->execute_steps == 0 || horizon < output->execute_steps);
}

double executed_ensemble(const struct chunk_lane *lane, double m, int64_t steps, int64_t t) {
  double sum = 0, weights = 0;
  int64_t oldest = t >= steps ? t - steps + 1 : 0;
  for (int64_t s = oldest; s <= t; s++) {
    double weight = exp(-m * (double)(s - oldest));
    sum += weight * lane->values[s * lane->per_step + (t - s) * lane->stride];
    weights += weight;
  }
  return sum / weights;
}
