/* Private to contract/: how the roles of inputs (noise, tokens) are read and checked. An input of a role never has the
 * keys of a sensor. */
#ifndef CONTRACT_CONTRACT_ROLE_H
#define CONTRACT_CONTRACT_ROLE_H

#include "contract/contract_reader.h"

/* Most seeds that a contract may ask of a case. */
enum { CASE_SEEDS_MAX = 10000 };

/* `role` of an input and its keys; name, dtype and shape have been read. */
ASSAY_MUST_CHECK assay_status read_input_role(struct reader *reader, const struct yaml *node, const char *what,
                                              struct contract_input *input);
ASSAY_MUST_CHECK assay_status read_tokens(struct reader *reader, const struct yaml *node, const char *what,
                                          struct contract_input *input);
/* What holds between inputs: masks are there, and no state has a role. After all sections have been read. */
ASSAY_MUST_CHECK assay_status check_input_roles(const struct reader *reader);

#endif
