/* Drafts of contract.yaml and gate.yaml from a model. What the model cannot tell (units, names, layout,
 * tolerances, what is fed back) is drafted as TODO, with what is known beside it; nothing is guessed. */
#ifndef CONTRACT_DRAFT_H
#define CONTRACT_DRAFT_H

#include "contract/contract.h"
#include "core/text.h"

/* `policy` names the policy, `model_path` is the model's path as the contract gives it. */
ASSAY_MUST_CHECK assay_status draft_contract(const struct signature *signature, const char *policy,
                                             const char *model_path, struct text *out);
ASSAY_MUST_CHECK assay_status draft_gate(const char *policy, struct text *out);

#endif
