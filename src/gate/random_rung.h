/* A rung whose model draws random numbers is unstable whatever it answers: it is not run, and the node is named. */
#ifndef GATE_RANDOM_RUNG_H
#define GATE_RANDOM_RUNG_H

#include "gate/result.h"

/* UNSTABLE_RUNG for every random node of the files that the rung runs; *random: there is one. A file that cannot be
 * opened has none: opening the rung says so. */
ASSAY_MUST_CHECK assay_status random_rung_say(const struct rung_request *request, struct arena *arena,
                                              struct gate_reasons *reasons, bool *random);

#endif
