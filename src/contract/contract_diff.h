/* What changed in meaning between two contracts: by their statements (describe.h), never by their text. */
#ifndef CONTRACT_CONTRACT_DIFF_H
#define CONTRACT_CONTRACT_DIFF_H

#include "contract/describe.h"

/* One difference. Strings live in the arena of the difference, or of the statements. */
struct contract_change {
  const char *root, *part;           /* part NULL: of the root, or all of it */
  const char *what;                  /* NULL: the root or part itself came, went or was renamed */
  const struct statement *from, *to; /* NULL: not said on that side, or the whole is meant */
  enum change_mark mark;
  const char *sentence; /* "output action, component wrist: tolerance max 0.002 rad -> 0.004 rad (looser)" */
  int32_t place;        /* of its statement in the first contract, or in the second; sorts */
};
struct contract_changes {
  struct contract_change *items;
  int32_t count, capacity;
};

/* In the order of the first contract, then of the second. */
ASSAY_MUST_CHECK assay_status contract_diff(const struct statements *a, const struct statements *b, struct arena *arena,
                                            struct contract_changes *out);

#endif
