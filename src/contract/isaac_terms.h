/* The vocabulary of Isaac Lab's observation functions, which mjlab and Unitree's deployment share: what each holds
 * and in which unit, as those projects document their functions. A name that is not here stays open. */
#ifndef CONTRACT_ISAAC_TERMS_H
#define CONTRACT_ISAAC_TERMS_H

#include "contract/importer.h"

/* Fills a term from the function of that name; *known is false when the vocabulary has no such function. */
ASSAY_MUST_CHECK assay_status isaac_term(struct import *import, const char *function, struct place place,
                                         struct fact_term *term, bool *known);

#endif
