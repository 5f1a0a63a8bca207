/* Private to contract/: the elements of an action, walked in the order of the tensor. */
#ifndef CONTRACT_ACTION_WALK_H
#define CONTRACT_ACTION_WALK_H

#include "contract/checks.h"

struct walk {
  const struct contract *contract;
  const struct contract_output *output;
  const assay_tensor *raw;
  const struct action_context *context;
  int64_t count;
};

/* Element i: which component, at which step, and its decoded value. */
struct walked {
  int32_t component;
  int64_t step;
  double value;
  double before; /* the value one step earlier, of this chunk or of the last action sent; NAN: there is none */
};
/* False for an element that is not executed: it is never sent. */
bool walk_element(const struct walk *walk, int64_t i, struct walked *out);
bool walk_fits(const struct walk *walk); /* dtype, shape, not empty */

#endif
