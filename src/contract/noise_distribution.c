/* What a declared distribution says about its draws: see noise.h. Nothing is drawn here. */
#include "contract/noise.h"

#include <math.h>

double noise_mean(const struct contract_noise *noise) {
  return noise->distribution == NOISE_NORMAL ? noise->a : (noise->a + noise->b) / 2;
}

double noise_deviation(const struct contract_noise *noise) {
  return noise->distribution == NOISE_NORMAL ? noise->b : (noise->b - noise->a) / sqrt(12.0);
}

double noise_share_below(const struct contract_noise *noise, double value) {
  if (noise->distribution == NOISE_NORMAL) {
    return 0.5 * erfc((noise->a - value) / (noise->b * sqrt(2.0)));
  }
  double share = (value - noise->a) / (noise->b - noise->a);
  return share < 0 ? 0.0 : share > 1 ? 1.0 : share;
}
