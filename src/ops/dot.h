/* What the operators of class ARITHMETIC_DOT share: the kernels of a dtype, packing of constant operands into the
 * plan, and products of matrices shared out over threads. */
#ifndef OPS_DOT_H
#define OPS_DOT_H

#include "ops/infer_help.h"

struct dot_kernels {
  size_t size; /* of an element */
  void (*pack_a)(const void *a, int64_t row, int64_t column, int64_t m, int64_t k, void *out);
  void (*pack_b)(const void *b, int64_t row, int64_t column, int64_t k, int64_t n, int64_t unit_begin, int64_t unit_end,
                 void *out);
  void (*gemm)(const struct gemm_arguments *g, int64_t m_begin, int64_t m_end, int64_t unit_begin, int64_t unit_end,
               void *scratch);
  void (*conv)(const struct conv_arguments *v, int64_t m_begin, int64_t m_end, int64_t unit_begin, int64_t unit_end,
               void *scratch);
};

/* The kernels for float32, float64 and integers of 32 bits; false for another dtype. */
bool dot_kernels_find(const struct kernels *kernels, assay_dtype dtype, struct dot_kernels *out);

/* Bytes of the scratch of one thread, a multiple of 64. */
size_t dot_scratch_bytes(const struct dot_kernels *kernels);

/* Memory that starts at a multiple of 64 and lives as long as the plan. */
ASSAY_MUST_CHECK assay_status plan_alloc(struct op_prepare *prepare, size_t bytes, void **out);
/* The workspace when it is large enough, otherwise scratch of this run. */
ASSAY_MUST_CHECK assay_status run_workspace(struct op_run *run, size_t bytes, void **out);
/* *out = a * b * c bytes rounded up to a multiple of 64; LIMIT_EXCEEDED on overflow. Factors are not negative. */
ASSAY_MUST_CHECK assay_status dot_bytes(int64_t a, int64_t b, size_t c, size_t *out);
/* Bytes of packed b, k x n, and of packed a, m x k. */
ASSAY_MUST_CHECK assay_status dot_packed_b_bytes(const struct dot_kernels *kernels, int64_t k, int64_t n, size_t *out);
ASSAY_MUST_CHECK assay_status dot_packed_a_bytes(const struct dot_kernels *kernels, int64_t m, int64_t k, size_t *out);

/* `count` products of equal shape. g describes the first; product i has its matrices a_at(i), b_at(i), c_at(i) elements
 * further on. A batch is counted row-major over `dims`; a and b advance by their strides, which are 0 where they
 * are broadcast, c by m * n a product. */
struct dot_products {
  struct gemm_arguments g;
  int64_t count;
  int rank;
  int64_t dims[ASSAY_RANK_MAX];
  int64_t a_stride[ASSAY_RANK_MAX], b_stride[ASSAY_RANK_MAX]; /* elements of a, matrices of packed b */
  int64_t b_elements;                                         /* from one packed b to the next */
};

/* Computes all products. `scratch` holds dot_scratch_bytes for each thread of the pool. */
void dot_products_run(const struct dot_kernels *kernels, struct pool *pool, const struct dot_products *products,
                      void *scratch);

/* Packs `count` matrices of k x n that lie k * n elements apart at strides row, column. */
void dot_pack_b_all(const struct dot_kernels *kernels, struct pool *pool, const void *b, int64_t row, int64_t column,
                    int64_t k, int64_t n, int64_t count, void *packed);

/* What prepare leaves for run where one operand is packed. */
struct dot_state {
  const void *packed; /* b, all its matrices; NULL when it is not constant */
};
/* Packs a constant b (count matrices of k x n) into the plan, on this thread. b may lie unaligned. */
ASSAY_MUST_CHECK assay_status dot_pack_constant(struct op_prepare *prepare, const struct dot_kernels *kernels,
                                                const void *b, int64_t row, int64_t column, int64_t k, int64_t n,
                                                int64_t count, const void **out);
/* *scratch: bytes of scratch for each thread. *bytes: these, and count packed matrices unless b is packed already. */
ASSAY_MUST_CHECK assay_status dot_workspace(const struct dot_kernels *kernels, int threads, bool packed, int64_t k,
                                            int64_t n, int64_t count, size_t *scratch, size_t *bytes);
/* Output 0 is the product of inputs left and right as MatMul defines it. */
ASSAY_MUST_CHECK assay_status dot_infer_matmul(struct infer *infer, int32_t left, int32_t right, assay_dtype dtype);

/* The sizes of MatMul's products, out of the shapes of a and b: vectors become matrices, and where b is one matrix the
 * batch of a becomes rows. Leaves the pointers alone. */
void dot_matmul_sizes(const int64_t *a, int a_rank, const int64_t *b, int b_rank, struct dot_products *p);

/* Shares `count` tasks out over the pool unless all of them together are not worth it; `steps` is the number of
 * multiply-adds (or of operations as long) of one task. */
void dot_share(struct pool *pool, int64_t count, int64_t steps, pool_work *work, void *argument);

#endif
