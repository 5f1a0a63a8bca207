/* Rungs that turn out to be one and the same runtime count as one: agreement between them says nothing. */
#ifndef GATE_SAME_BACKEND_H
#define GATE_SAME_BACKEND_H

#include "gate/result.h"

/* Adds SAME_BACKEND to every rung that ran what an earlier one ran: engine, version, provider, device, precision,
 * accumulator, TF32, model, facts (but where the library lies) and the placement of every node. Threads make no
 * difference. */
ASSAY_MUST_CHECK assay_status same_backend_note(struct gate_result *result);

#endif
