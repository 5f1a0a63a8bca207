/* Between the readers of components and of `compare`: what an entry of a contract says about how its
 * components are compared. */
#ifndef CONTRACT_CONTRACT_COMPARE_H
#define CONTRACT_CONTRACT_COMPARE_H

#include "contract/compare.h"
#include "contract/contract_reader.h"

struct compared_entry {
  struct mark mark, form_mark, rotation_mark;
  enum compare_kind kind;
  enum rotation_form form;             /* by `order` or `convention` */
  int32_t rotation;                    /* by `rotation`: from 1 on; 0: not said */
  const struct yaml *unit, *tolerance; /* mappings of a distance and an angle; NULL: they are not */
};
/* The member of each is the compared_entry. */
field_read read_compare, read_compare_order, read_compare_convention, read_compare_rotation;

/* Writes down how components `first` on are compared, whose units, tolerances and decisions are read. `name` is the
 * entry's. output->groups has room for one more. */
ASSAY_MUST_CHECK assay_status place_compared(struct reader *reader, const char *what, struct compared_entry *entry,
                                             const char *name, int32_t first, int32_t count,
                                             struct contract_component *components, struct contract_output *output);

#endif
