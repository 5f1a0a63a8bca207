/* Private to contract/: one tensor of the contract against one of a model. What is compared is said here
 * once, for policies of one file and of several. */
#ifndef CONTRACT_CONTRACT_SIDE_H
#define CONTRACT_CONTRACT_SIDE_H

#include "contract/contract.h"
#include "core/text.h"

/* One side of a comparison: an input or output of the contract. */
struct side {
  const char *noun; /* "input" or "output" */
  const char *name;
  struct mark mark;
  assay_dtype dtype;
  int32_t rank;
  const struct dim_range *dims;
};
struct side side_of_input(const struct contract_input *input);
struct side side_of_output(const struct contract_output *output);

/* NULL when absent. */
const struct signature_tensor *signature_find(const struct signature_tensor *tensors, int32_t count, const char *name);
/* "; did you mean 'x'" or the names there are. */
void signature_suggest(const struct signature_tensor *tensors, int32_t count, const char *name, struct text *out);
/* "[1,?,3]". */
void signature_describe_dims(const int64_t *dims, int32_t rank, struct text *out);
/* Dtype and shape agree; CONTRACT_MISMATCH otherwise. */
ASSAY_MUST_CHECK assay_status side_fit(const struct contract *contract, const struct side *side,
                                       const struct signature_tensor *tensor, const char *model_path);

#endif
