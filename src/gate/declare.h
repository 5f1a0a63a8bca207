/* What a policy folder declares before a run, as statements: the contract's, and of the gate the rungs with their own
 * tolerances, the noise settings and the cases. The ledger keeps them. */
#ifndef GATE_DECLARE_H
#define GATE_DECLARE_H

#include "corpus/corpus.h"
#include "gate/gate_file.h"
#include "gate/ledger.h"

/* Statements of the arena. `corpus` NULL: the cases are not said. Names of files as given in `out`. */
ASSAY_MUST_CHECK assay_status declare(const struct gate_file *gate, const struct contract *contract,
                                      const struct corpus *corpus, struct arena *arena, struct declaration *out);

#endif
