/* Other statistics in the file that a decoding drew on, to tell whether the contract names the wrong ones.
 * They explain a difference and are never decoded with. */
#ifndef CONTRACT_STATISTICS_KEYS_H
#define CONTRACT_STATISTICS_KEYS_H

#include "contract/contract.h"

/* The numbers for one component under another key. */
struct statistics_key {
  const char *a; /* name of the first array: "state.mean" */
  double first, second;
};
/* Every pair of arrays named like the origin's but for what stands before the last dot, with as many numbers as there
 * are components. A file that can't be read any more has none. */
ASSAY_MUST_CHECK assay_status statistics_other_keys(const struct contract *contract, const struct decode_origin *origin,
                                                    int32_t component, int32_t n_components, struct arena *arena,
                                                    struct statistics_key **out, size_t *count);
/* Puts the numbers in place of the origin's among `steps`; false when these differ from step to step of a chunk. */
bool statistics_replace(const struct decode_origin *origin, const struct statistics_key *key, struct decode_step *steps,
                        int32_t n);

#endif
