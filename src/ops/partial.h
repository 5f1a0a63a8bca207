/* Shape arithmetic while inferring: vectors of int64 of which some elements are numbers, some symbols, some unknown, as
 * they come out of Shape and go into Reshape, Expand and the like. */
#ifndef OPS_PARTIAL_H
#define OPS_PARTIAL_H

#include "ops/operators.h"

/* Elements of a vector (or scalar) of at most ASSAY_RANK_MAX integers; false when nothing is known of it. A
 * negative element is given as unknown, since a dimension cannot carry it. */
bool partial_of(const struct infer_value *value, struct dim out[ASSAY_RANK_MAX], int32_t *count);
/* Says what is known of output i. */
ASSAY_MUST_CHECK assay_status partial_set(struct infer *infer, int32_t output, const struct dim *values, int32_t count);
/* For operators that keep the elements of input 0 as they are: output 0 knows what it knew. */
ASSAY_MUST_CHECK assay_status partial_keep(struct infer *infer);

#endif
