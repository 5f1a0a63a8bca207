/* Several draws of a policy's noise in one case: arrays `seeds/N/<array>` beside those that all seeds share. A case
 * is read one seed at a time; what belongs to that seed then goes by its own name. Nothing is drawn here. */
#ifndef CORPUS_CASE_SEEDS_H
#define CORPUS_CASE_SEEDS_H

#include "core/status.h"
#include "tensor/npz.h"

/* "seeds/3/inputs/z": 3, and "inputs/z" is returned. Any other name is returned whole, with -1. */
const char *array_unseeded(const char *name, int32_t *seed);

/* How many seeds an archive holds; 0: none, and everything is shared. Fails unless they are numbered from 0 without
 * a gap, hold the same arrays each, and none of these is shared as well; where there are seeds, every output belongs
 * to one. */
ASSAY_MUST_CHECK assay_status case_seeds_count(const struct npz *npz, const char *path, assay_code code, int32_t *out);

#endif
