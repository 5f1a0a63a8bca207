/* What a model declares, as contract_bind takes it. */
#ifndef CONTRACT_MODEL_SIGNATURE_H
#define CONTRACT_MODEL_SIGNATURE_H

#include "contract/contract.h"
#include "model/model.h"

/* Inputs (without initializers that cannot be fed), outputs and metadata; in the arena, with views of the
 * model's strings. */
ASSAY_MUST_CHECK assay_status model_signature(const struct model *model, struct arena *arena, struct signature *out);

#endif
