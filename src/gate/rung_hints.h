/* What would explain all of a rung's difference at once: components in another order, degrees against radians, values
 * that were never un-normalised. A note beside the reasons; it decides nothing. */
#ifndef GATE_RUNG_HINTS_H
#define GATE_RUNG_HINTS_H

#include "gate/assemble.h"

/* Adds LOOKS_LIKE notes for outputs that were rejected. */
ASSAY_MUST_CHECK assay_status rung_hints(const struct rung_measured *measured, struct arena *arena,
                                         struct rung_result *out);

#endif
