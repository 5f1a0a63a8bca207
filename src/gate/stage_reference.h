/* What stands between the stages on the reference's side, where the reference tells nothing of it (a corpus that stores
 * outputs alone, a runtime that answers for the whole): assay's own fp32 run of the contract's files stands in, as long
 * as it gives the reference's answers. */
#ifndef GATE_STAGE_REFERENCE_H
#define GATE_STAGE_REFERENCE_H

#include "core/progress.h"
#include "gate/plan.h"

struct stage_reference {
  struct answer *answers; /* plan->n_valid; NULL: nothing stands in */
  const char *how;        /* what stages are fed to answer alone, or why they are not; NULL: nothing was tried */
};
/* Runs the cases that lack inner values. `live`: the answers of a reference that ran, plan->n_valid; NULL: the recorded
 * ones. `models`: the files of the contract; NULL where they are not all there. Fails only on what nothing else would
 * survive. */
ASSAY_MUST_CHECK assay_status stage_reference_make(struct plan *plan, const struct answer *live,
                                                   const char *const *models, int threads,
                                                   const struct progress *progress, struct arena *arena,
                                                   struct stage_reference *out);
/* Gives an answer of the reference the inner values that it lacks; views. */
void stage_reference_complete(const struct stage_reference *reference, int32_t valid, struct answer *answer);
void stage_reference_free(struct stage_reference *reference, const struct plan *plan);

#endif
