/* What the inference functions of the operators share: reading inputs, attributes and axes,
 * merging and broadcasting dimensions. What is not known stays unknown; what contradicts is an error
 * that names what was found (the caller adds the node). */
#ifndef OPS_INFER_HELP_H
#define OPS_INFER_HELP_H

#include "ops/operators.h"

/* --- dimensions -------------------------------------------------------- */
static inline struct dim dim_of(int64_t value) { return (struct dim){value, NULL}; }
static inline struct dim dim_unknown(void) { return (struct dim){DIM_UNKNOWN, NULL}; }
static inline bool dim_known(struct dim dim) { return dim.value >= 0; }
/* Certainly the same: equal numbers, or the same symbol. */
bool dim_equal(struct dim a, struct dim b);
/* *out: what two dimensions that must be equal are; false when they contradict. */
bool dim_merge(struct dim a, struct dim b, struct dim *out);
/* All dims known? Copies them. rank <= ASSAY_RANK_MAX. */
bool type_dims(const struct value_type *type, int64_t *dims);

/* --- inputs and outputs ------------------------------------------------ */
/* Input i, or NULL when it is absent. */
const struct infer_value *infer_input(const struct infer *infer, int32_t i);
/* Input i is there and, as far as known, a tensor of rank_min..rank_max. */
ASSAY_MUST_CHECK assay_status infer_want(const struct infer *infer, int32_t i, int rank_min, int rank_max);
/* Inputs i and j have, as far as known, one dtype. Absent ones agree with everything. */
ASSAY_MUST_CHECK assay_status infer_want_same_dtype(const struct infer *infer, int32_t i, int32_t j);
/* The number of inputs and outputs of the node lies within these bounds. */
ASSAY_MUST_CHECK assay_status infer_want_counts(const struct infer *infer, int32_t inputs_min, int32_t inputs_max,
                                                int32_t outputs_min, int32_t outputs_max);
/* Output i becomes a tensor; does nothing when the node does not have it. dims may be NULL for rank 0 or
 * RANK_UNKNOWN. */
void infer_set(struct infer *infer, int32_t output, assay_dtype dtype, int32_t rank, const struct dim *dims);
/* Output i becomes what input j is (shape and dtype), with another dtype unless ASSAY_UNDEFINED. */
void infer_set_like(struct infer *infer, int32_t output, int32_t input, assay_dtype dtype);

/* --- attributes -------------------------------------------------------- */
/* An axis -rank..rank-1 as 0..rank-1; `what` names it in the error. */
ASSAY_MUST_CHECK assay_status axis_normalise(const char *what, int64_t axis, int rank, int *out);
/* Integers that older versions hold in an attribute and newer ones in an input. *known is false when the
 * input is there but not constant; *values is NULL and *count 0 when neither is there. input or attribute may be
 * -1 or NULL. Values live in infer->arena or in the model. */
ASSAY_MUST_CHECK assay_status infer_ints(struct infer *infer, int32_t input, const char *attribute,
                                         const int64_t **values, int32_t *count, bool *known);

/* --- shapes ------------------------------------------------------------ */
/* Multidirectional broadcasting of two shapes (ONNX Broadcasting.md). */
ASSAY_MUST_CHECK assay_status type_broadcast(const struct value_type *a, const struct value_type *b,
                                             struct value_type *out);
/* Ready-made inference functions. */
infer_function infer_same;           /* output 0 is like input 0 */
infer_function infer_broadcast;      /* all inputs broadcast, of one dtype */
infer_function infer_broadcast_bool; /* the same, with a bool result */
infer_function infer_reduce;         /* Reduce*: axes (attribute or input 1), keepdims, noop_with_empty_axes */

#endif
