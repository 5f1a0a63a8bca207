/* What a model's metadata says of its joints, held against the contract. Private to contract/ but for
 * reading lists, which drafting a contract uses too. */
#ifndef CONTRACT_CONTRACT_METADATA_H
#define CONTRACT_CONTRACT_METADATA_H

#include "contract/contract.h"

/* A failure placed in the contract: "contract.yaml:12:5". */
ASSAY_MUST_CHECK assay_status contract_fault(const struct contract *contract, struct mark mark, assay_code code,
                                             const char *format, ...) PRINTF_LIKE(4, 5);

/* A metadata value as a list: a JSON array, or words parted by commas. Blanks around words are left
 * out. The words lie in the arena; a value that is no list has one word. */
struct metadata_list {
  int32_t count;
  const char **words;
};
ASSAY_MUST_CHECK assay_status metadata_list(struct arena *arena, const char *value, struct metadata_list *out);
/* A word that is a number, as JSON writes it. */
bool metadata_number(const char *word, double *out);
const char *metadata_find(const struct signature *signature, const char *key); /* NULL when absent */

/* METADATA_MISMATCH when joint_names holds the components of an output in another order, or
 * joint_stiffness, joint_damping, action_scale or default_joint_pos give a joint another value than
 * its component has. Keys that the model lacks, and names of other joints, are no fault. */
ASSAY_MUST_CHECK assay_status metadata_check(const struct contract *contract, const struct signature *signature,
                                             const char *model_path);

#endif
