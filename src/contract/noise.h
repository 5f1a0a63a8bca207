/* An input of role `noise`: what the policy draws at random and its source drew with a seed. The values are stored in
 * the cases, several seeds a case; nothing is ever drawn here. */
#ifndef CONTRACT_NOISE_H
#define CONTRACT_NOISE_H

#include <stdint.h>

enum noise_distribution { NOISE_NORMAL, NOISE_UNIFORM };

struct contract_noise {
  enum noise_distribution distribution;
  double a, b;   /* normal: mean and standard deviation; uniform: the bounds */
  int64_t seeds; /* how many draws every golden case stores at least, 1 or more */
};

/* What is expected of values drawn so. */
double noise_mean(const struct contract_noise *noise);
double noise_deviation(const struct contract_noise *noise);
/* The share of draws at or below `value`. */
double noise_share_below(const struct contract_noise *noise, double value);

#endif
