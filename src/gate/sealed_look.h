/* A look at the sealed set: everything that decides is frozen by digest, and that there is a look is on record, before
 * the sealed corpus is run; the verdict after. See ledger.h and docs/corpus.md. */
#ifndef GATE_SEALED_LOOK_H
#define GATE_SEALED_LOOK_H

#include "corpus/corpus.h"
#include "gate/gate_file.h"
#include "gate/result.h"

/* What `assay final` asks for. */
struct gate_final {
  bool again;         /* a look after the first is meant */
  const char *reason; /* of such a look */
};

struct sealed_look {
  const char *folder; /* of the ledger */
  int64_t line;
};

/* Puts the look on record, and what the ledger remembers into the result. Fails when it cannot be put on record, with
 * SEALED_LOOKED when there was a look before and none is asked for again, and then says what has changed since the
 * first. result->files must be whole. `golden` is what verify declares; it is not run. */
ASSAY_MUST_CHECK assay_status sealed_look_begin(struct sealed_look *look, const struct gate_final *final,
                                                const struct gate_file *gate, const struct contract *contract,
                                                const struct corpus *golden, struct gate_result *result);
ASSAY_MUST_CHECK assay_status sealed_look_end(const struct sealed_look *look, struct gate_result *result);

/* SEALED_OVERLAP when a case of `corpus` is sealed, by the register that lies in `folder` or beside the corpus. */
ASSAY_MUST_CHECK assay_status sealed_overlap_check(const char *folder, const struct corpus *corpus);
/* The same, by the sealed corpus itself. */
ASSAY_MUST_CHECK assay_status sealed_overlap_direct(const struct corpus *sealed, const struct corpus *corpus);

#endif
