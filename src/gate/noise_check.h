/* Are the stored draws of a policy's noise what the contract says? Enough different seeds in every case, nothing else
 * that differs between seeds, and values that the declared distribution could have given. */
#ifndef GATE_NOISE_CHECK_H
#define GATE_NOISE_CHECK_H

#include "gate/plan.h"
#include "gate/result.h"

struct noise_check;
/* NULL in *out where the contract has no noise and no case stores seeds. */
ASSAY_MUST_CHECK assay_status noise_check_open(const struct plan *plan, struct noise_check **out);
/* One golden case, or one seed of it; each once, in the store's order. Too few seeds are INVALID_GOLDEN. */
ASSAY_MUST_CHECK assay_status noise_check_case(struct noise_check *check, const struct fed_case *fed,
                                               struct arena *arena, struct gate_reasons *reasons);
/* All draws together: NOISE_UNLIKELY where they are constant, out of bounds, or farther from the declared distribution
 * than chance takes anything. */
ASSAY_MUST_CHECK assay_status noise_check_end(struct noise_check *check, struct arena *arena,
                                              struct gate_reasons *reasons);
void noise_check_close(struct noise_check *check); /* NULL is harmless */

/* What tells of one sample of draws, in order; for tests. NULL in *sentence: nothing does. `values` are sorted. */
struct contract_noise;
ASSAY_MUST_CHECK assay_status noise_judge(const struct contract_noise *noise, double *values, size_t n,
                                          struct arena *arena, const char **sentence);

#endif
