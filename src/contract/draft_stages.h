/* Private to the drafts: a policy of several files. Its tensors under the names that the contract has for them, as
 * one signature, and the text of `stages`. Where no file says how the models are wired, tensors keep their names,
 * and those that two models share are open questions. */
#ifndef CONTRACT_DRAFT_STAGES_H
#define CONTRACT_DRAFT_STAGES_H

#include "contract/draft.h"

/* One model of the draft as a stage: values[i] is the contract's name of its input or output i; NULL where it is open.
 */
struct staged {
  const char *name, *path;
  const struct signature *signature;
  const char **inputs, **outputs;
  struct place place; /* file NULL: no file says it */
};
struct staging {
  int32_t count;
  struct staged *stages;
  struct signature signature; /* inputs of the contract and everything that a stage gives */
};
ASSAY_MUST_CHECK assay_status staging_plan(const struct draft *draft, const struct facts *facts, struct arena *arena,
                                           struct staging *out);
/* Whether a later stage takes the value of that name. */
bool staging_is_inner(const struct staging *staging, const char *value);
void staging_write(const struct staging *staging, struct text *out);

#endif
