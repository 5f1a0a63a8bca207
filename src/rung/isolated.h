/* Any rung in a child process of its own: nothing that earlier runs left can reach
 * it, a crash or a hang of its runtime ends the child alone. */
#ifndef RUNG_ISOLATED_H
#define RUNG_ISOLATED_H

#include "rung/rung.h"

/* Opens `kind` in a fresh child. Each open, run and renewal may take the request's time limit, and
 * 10 minutes where it has none. RUNG_TIMEOUT and RUNG_CRASHED say what became of the child. */
ASSAY_MUST_CHECK assay_status isolated_open(const struct rung_kind *kind, const struct rung_request *request,
                                            struct rung **out);

#endif
