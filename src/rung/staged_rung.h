/* Several rungs that answer as one policy, stage by stage. Private to rung/. */
#ifndef RUNG_STAGED_RUNG_H
#define RUNG_STAGED_RUNG_H

#include "rung/rung.h"

/* One rung of `kind` for each stage of request->stages. */
ASSAY_MUST_CHECK assay_status staged_open(const struct rung_kind *kind, const struct rung_request *request,
                                          struct rung **out);
/* Opens in this process, staged or not. */
ASSAY_MUST_CHECK assay_status rung_open_here(const struct rung_kind *kind, const struct rung_request *request,
                                             struct rung **out);

#endif
