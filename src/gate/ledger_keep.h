/* The ledger around one run of the gate: the declaration is on disk before any rung runs, the verdict after. See
 * ledger.h. */
#ifndef GATE_LEDGER_KEEP_H
#define GATE_LEDGER_KEEP_H

#include "corpus/corpus.h"
#include "gate/gate_file.h"
#include "gate/result.h"

struct ledger_run {
  enum ledger_use use;
  const char *folder;          /* of the ledger */
  const char *usual;           /* where it lies unless gate.yaml names another folder */
  const char *why_unkept;      /* of LEDGER_READ: one sentence */
  const char *gate, *contract; /* names of the files, as they read from the policy folder */
  int64_t line;                /* of the declaration; 0: it does not stand in the ledger */
};

/* Declares, and puts what the ledger remembers into result->ledger. A ledger that is broken is a reason of the gate
 * (LEDGER_BROKEN), one that cannot be written a note (LEDGER_ABSENT). Fails for want of memory alone. `corpus` NULL:
 * its cases are not declared. */
ASSAY_MUST_CHECK assay_status ledger_begin(struct ledger_run *run, const struct gate_file *gate,
                                           const struct contract *contract, const struct corpus *corpus,
                                           struct gate_result *result);
/* Adds the verdict to what was declared; nothing when that does not stand there. */
ASSAY_MUST_CHECK assay_status ledger_end(const struct ledger_run *run, struct gate_result *result);

/* The parts of a line that a look at the sealed set has too. */
ASSAY_MUST_CHECK assay_status ledger_line_files(const struct gate_result *result, struct arena *arena,
                                                struct ledger_line *line);
ASSAY_MUST_CHECK assay_status ledger_line_verdict(const struct gate_result *result, struct arena *arena,
                                                  struct ledger_line *line);

#endif
