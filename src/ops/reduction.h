/* Reducing some dimensions of a dense tensor by the kernels' 16 lanes. For Reduce*, the normalisations and whatever
 * else needs a sum over axes. What is reduced is taken in linear order of the input. */
#ifndef OPS_REDUCTION_H
#define OPS_REDUCTION_H

#include "ops/numbers.h"

enum reduction {
#define FLOAT_REDUCTION(name) REDUCTION_##name,
#define REDUCTION(name) REDUCTION_##name,
#include "kernels/reduce.inc"
#undef FLOAT_REDUCTION
#undef REDUCTION
  REDUCTION_COUNT
};

/* Dimensions to keep and to reduce, neighbours of one kind merged, in the order of memory. */
struct reduce_plan {
  int kept_rank, reduced_rank;
  int64_t kept_dims[ASSAY_RANK_MAX], kept_strides[ASSAY_RANK_MAX];
  int64_t reduced_dims[ASSAY_RANK_MAX], reduced_strides[ASSAY_RANK_MAX];
  int64_t outputs; /* product of the kept */
  int64_t count;   /* product of the reduced: elements in one output */
};
void reduce_plan_make(const int64_t *dims, int rank, const bool *reduced, struct reduce_plan *out);

/* y[o] for each output, in the order of the kept dimensions. x is dense and of `kind`, as are y and m; m has one
 * element an output and is NULL but for REDUCTION_deviation_sum, which is for floats alone. */
void reduce_run(const struct reduce_plan *plan, enum reduction reduction, enum number_kind kind, const void *x,
                const void *m, void *y, const struct kernels *kernels, struct pool *pool);

#endif
