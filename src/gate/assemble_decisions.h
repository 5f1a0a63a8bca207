/* Decisions of a rung: flips, margins, and what lies too near the edge to tell. */
#ifndef GATE_ASSEMBLE_DECISIONS_H
#define GATE_ASSEMBLE_DECISIONS_H

#include "gate/measure.h"

/* The drift of the component, or of all components of the output, is looked up in `rung`; flips become
 * its reasons. */
ASSAY_MUST_CHECK assay_status assemble_decision(const struct plan *plan, const struct decision_list *list,
                                                struct rung_result *rung, struct arena *arena,
                                                struct decision_result *out);

#endif
