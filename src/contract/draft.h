/* Drafts of contract.yaml and gate.yaml from models and what configuration files say. What neither tells (units,
 * names, layout, tolerances, what is fed back) is drafted as TODO, with the reason; nothing is guessed. */
#ifndef CONTRACT_DRAFT_H
#define CONTRACT_DRAFT_H

#include "contract/contract.h"
#include "contract/facts.h"
#include "core/text.h"

/* A model of the policy. */
struct draft_model {
  const char *path; /* as the contract gives it */
  const struct signature *signature;
};

struct draft {
  const char *policy; /* its name, unless the facts have one */
  int32_t n_models;   /* more than one: stages, in this order */
  const struct draft_model *models;
  const struct facts *facts; /* NULL: none */
};

/* Facts that don't fit the model (sizes that don't add up, names that it does not have) are IMPORT_INVALID with
 * their places. */
ASSAY_MUST_CHECK assay_status draft_contract(const struct draft *draft, struct text *out);
ASSAY_MUST_CHECK assay_status draft_gate(const char *policy, struct text *out);

#endif
