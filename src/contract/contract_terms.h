/* Private to contract/: how the terms of an input are read. Nothing outside the readers of contract.yaml includes it.
 */
#ifndef CONTRACT_CONTRACT_TERMS_H
#define CONTRACT_CONTRACT_TERMS_H

#include "contract/contract_reader.h"
#include "contract/terms.h"

enum { OBSERVATION_MAX = 1 << 20 }; /* elements */

/* "<name>[0]", "<name>[1]", ... */
ASSAY_MUST_CHECK assay_status number_elements(struct reader *reader, const char *name, int32_t count,
                                              const char *const **out);
/* `from` of `owner`; `elements` stand beside it, or are NULL. Fills in where the term comes from and its elements. */
ASSAY_MUST_CHECK assay_status read_from(struct reader *reader, const struct yaml *node, const char *owner,
                                        const struct yaml *elements, struct contract_term *term);

/* The nodes of what a term does to its values. */
enum { TERM_NODE_OFFSET, TERM_NODE_SCALE, TERM_NODE_STATISTICS, TERM_NODE_CLIP, TERM_NODE_APPLY, TERM_STEP_NODES };
/* Turns them into steps: (x + offset) * scale, then clip; or what `apply` lists, in its order. `nodes` are NULL where a
 * key is not given; the term's elements are known. */
ASSAY_MUST_CHECK assay_status read_term_steps(struct reader *reader, const struct yaml *const *nodes, const char *what,
                                              struct contract_term *term);

#endif
