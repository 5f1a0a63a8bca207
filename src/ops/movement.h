/* Moving elements as they are: strided views copied into dense tensors. Bits are kept; must never look
 * at what an element means. */
#ifndef OPS_MOVEMENT_H
#define OPS_MOVEMENT_H

#include "ops/operators.h"

enum { VIEW_RANK_MAX = 2 * ASSAY_RANK_MAX };

/* A window on a tensor: element (i0, i1, ...) lies at offset + i0*strides[0] + ..., in elements. Strides may be zero
 * (repeated) or negative (reversed). */
struct view {
  int rank;
  int64_t dims[VIEW_RANK_MAX], strides[VIEW_RANK_MAX], offset;
};

/* The dense view of a shape. */
void view_dense(const int64_t *dims, int rank, struct view *out);
/* Copies what the view shows of `source` densely to `target`; threads share the outer rows. */
void view_copy(struct op_run *run, const struct view *view, const void *source, void *target, size_t element);
/* Bytes of one element of a dtype of whole bytes (assay_text for strings). */
size_t element_size(assay_dtype dtype);

/* Integers at run time: out of the input where the node has it (int32 or int64), otherwise of the attribute. *values
 * lives in the run's scratch. *count is -1 when neither is there. */
ASSAY_MUST_CHECK assay_status run_ints(struct op_run *run, int32_t input, const char *attribute, int64_t **values,
                                       int32_t *count);
/* Gives output i this shape and dtype unless it has them. */
ASSAY_MUST_CHECK assay_status output_become(struct op_run *run, int32_t output, assay_dtype dtype, const int64_t *dims,
                                            int rank);
static inline const assay_tensor *run_input(const struct op_run *run, int32_t i) {
  return i < run->node->n_inputs ? run->inputs[i] : NULL;
}

#endif
