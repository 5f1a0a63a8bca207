/* What of the contract no case can tell about: terms whose sensors no case stores, decoding that no case has the
 * source's own result of. A PASS says nothing of them, so it is said beside every verdict. */
#ifndef GATE_HELD_CHECK_H
#define GATE_HELD_CHECK_H

#include "gate/plan.h"
#include "gate/result.h"

/* Whether some case holds an input's terms, or an output's decoding, against what the source recorded. */
struct held_check {
  const struct contract *contract;
  bool *terms, *decoding; /* [n_inputs], [n_outputs] */
};
ASSAY_MUST_CHECK assay_status held_check_open(const struct contract *contract, struct arena *arena,
                                              struct held_check *out);
void held_check_see(struct held_check *check, const struct case_data *data);
/* Adds one note an input and an output that no case held against anything. */
ASSAY_MUST_CHECK assay_status held_check_note(const struct held_check *check, struct gate_result *result);

#endif
