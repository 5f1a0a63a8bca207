/* Drift between the stages of a policy, and over the turns of its loops: as a rung ran, and with every stage and every
 * turn fed what the reference gave before it, so that the stage which causes a difference is named. It shows; the
 * outputs' own tolerances decide. */
#ifndef GATE_STAGE_DRIFT_H
#define GATE_STAGE_DRIFT_H

#include "gate/gate_file.h"
#include "gate/plan.h"
#include "gate/result.h"

struct stage_drift;
/* For one rung; `plan` has stages and outlives it. */
ASSAY_MUST_CHECK assay_status stage_drift_open(const struct plan *plan, struct stage_drift **out);
void stage_drift_close(struct stage_drift *drift); /* NULL is harmless */
/* Compares what stands between the stages in one case. What the reference does not have is not compared. */
void stage_drift_case(struct stage_drift *drift, const struct fed_case *fed, const struct answer *reference,
                      const struct answer *actual, bool alone);
/* Fills the rung's stages and loops in, and adds a note for each output that drifts too far: which stage, or which
 * loop, it comes from. After the components are judged. */
ASSAY_MUST_CHECK assay_status stage_drift_assemble(const struct stage_drift *drift, const struct gate_rung *rung,
                                                   struct arena *arena, struct rung_result *out);

#endif
