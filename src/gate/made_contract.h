/* A contract made here, for work without a contract.yaml: whole outputs, no units. */
#ifndef GATE_MADE_CONTRACT_H
#define GATE_MADE_CONTRACT_H

#include "contract/contract.h"

/* An empty contract with room for so many inputs and outputs; ended with contract_free. The arrays are
 * filled in by made_contract_input and _output. */
ASSAY_MUST_CHECK assay_status made_contract_new(const char *policy, int32_t inputs, int32_t outputs,
                                                struct contract **out);
ASSAY_MUST_CHECK assay_status made_contract_input(struct contract *contract, const char *name, assay_dtype dtype,
                                                  int32_t rank, const int64_t *dims);
/* One component over the whole output, of any shape. `exact`: its tolerance is 0; otherwise it is only shown. */
ASSAY_MUST_CHECK assay_status made_contract_output(struct contract *contract, const char *name, assay_dtype dtype,
                                                   bool exact);

#endif
