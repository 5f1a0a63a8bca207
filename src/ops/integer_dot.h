/* Exact sums of products of 8-bit integers, for MatMulInteger, ConvInteger, QLinearMatMul and QLinearConv. */
#ifndef OPS_INTEGER_DOT_H
#define OPS_INTEGER_DOT_H

#include "ops/conv.h"
#include "ops/widen_help.h"

/* Which inputs of the node are the operands and their zero points (which may be absent). */
struct integer_operands {
  int32_t a, b, a_zero, b_zero;
};

/* What prepare leaves for run. */
struct integer_state {
  const void *packed; /* b, or the filters; NULL when they are not constant */
};

/* Types and zero points of the operands fit together. */
ASSAY_MUST_CHECK assay_status matmul_integer_check(const struct infer *infer, const struct integer_operands *at);
ASSAY_MUST_CHECK assay_status conv_integer_check(const struct infer *infer, const struct integer_operands *at);

/* Plan: `sums` bytes of the workspace are set aside for run's caller. */
ASSAY_MUST_CHECK assay_status matmul_integer_prepare(struct op_prepare *prepare, const struct integer_operands *at,
                                                     bool sums);
ASSAY_MUST_CHECK assay_status conv_integer_prepare(struct op_prepare *prepare, const struct integer_operands *at,
                                                   bool sums);
/* Writes the sums to *sums; when that is NULL, to a part of the workspace that *sums then tells. */
ASSAY_MUST_CHECK assay_status matmul_integer_run(struct op_run *run, const struct integer_operands *at, int32_t **sums);
ASSAY_MUST_CHECK assay_status conv_integer_run(struct op_run *run, const struct integer_operands *at, int32_t **sums);

#endif
