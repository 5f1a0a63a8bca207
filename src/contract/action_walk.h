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

/* Element i: of which component, at which step of the chunk. */
struct walked {
  int64_t i, step;
  int32_t index; /* of the component */
  const struct contract_component *component;
};
/* False for an element that is not executed: it is never sent. */
bool walk_element(const struct walk *walk, int64_t i, struct walked *out);
double walk_value(const struct walk *walk, const struct walked *at); /* decoded */
/* The decoded value one step earlier, of this chunk or of the last action sent; NAN: there is none. */
double walk_before(const struct walk *walk, const struct walked *at);
/* How far from one to the other: along the circle for an angle, for which π and -π are one. */
double walk_distance(const struct walked *at, double before, double value);
bool walk_fits(const struct walk *walk); /* dtype, shape, not empty */

#endif
