/* Seeds of a golden case: each becomes a case of its own, `edge_0#3`, that shares everything but the noise and the
 * answer. So every rung runs every seed, and floor, decisions, guard and sequences see each. Afterwards: the worst and
 * the spread over seeds. */
#ifndef GATE_SEEDS_H
#define GATE_SEEDS_H

#include "gate/assemble.h"

/* The cases of a corpus, each seed one entry; in `arena`. INVALID cases and those without seeds stay one entry. */
ASSAY_MUST_CHECK assay_status seeds_expand(const struct corpus *corpus, struct arena *arena, struct case_store *out);

/* Per component, over the draws of all cases that store several; nothing where none does. */
ASSAY_MUST_CHECK assay_status seeds_spread(const struct rung_measured *measured, struct arena *arena,
                                           struct rung_result *out);

#endif
