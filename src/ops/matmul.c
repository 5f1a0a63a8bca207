/* MatMul: products of matrices in batches. Definition: ONNX MatMul 1 to 13, after numpy.matmul. */
#include "ops/dot.h"

assay_status dot_infer_matmul(struct infer *infer, int32_t left, int32_t right, assay_dtype dtype) {
  struct value_type a = infer->inputs[left]->type, b = infer->inputs[right]->type, batch;
  if (a.kind != TYPE_TENSOR || b.kind != TYPE_TENSOR || a.rank < 0 || b.rank < 0) {
    infer_set(infer, 0, dtype, RANK_UNKNOWN, NULL);
    return status_ok();
  }
  struct dim inner_a = a.dims[a.rank - 1], inner_b = b.dims[b.rank == 1 ? 0 : b.rank - 2], inner;
  if (!dim_merge(inner_a, inner_b, &inner)) {
    return status_make(
        ASSAY_SHAPE_CONFLICT, NULL,
        "the last dimension of input %d is %lld and the matching one of input %d is %lld; they must be equal",
        (int)left, (long long)inner_a.value, (int)right, (long long)inner_b.value);
  }
  struct dim m = a.rank > 1 ? a.dims[a.rank - 2] : dim_unknown(), n = b.dims[b.rank - 1];
  bool has_m = a.rank > 1, has_n = b.rank > 1;
  a.rank = a.rank > 2 ? a.rank - 2 : 0;
  b.rank = b.rank > 2 ? b.rank - 2 : 0;
  TRY(type_broadcast(&a, &b, &batch));
  if (has_m) {
    batch.dims[batch.rank++] = m;
  }
  if (has_n) {
    batch.dims[batch.rank++] = n;
  }
  infer_set(infer, 0, dtype, batch.rank, batch.dims);
  return status_ok();
}

assay_status infer_matmul(struct infer *infer) {
  TRY(infer_want_counts(infer, 2, 2, 1, 1));
  TRY(infer_want(infer, 0, 1, ASSAY_RANK_MAX));
  TRY(infer_want(infer, 1, 1, ASSAY_RANK_MAX));
  TRY(infer_want_same_dtype(infer, 0, 1));
  return dot_infer_matmul(infer, 0, 1, infer->inputs[0]->type.dtype);
}

/* The sizes of a product, out of the shapes of a and b: vectors become matrices, and where b is one matrix the batch
 * of a becomes rows. Leaves the pointers alone. */
static void matmul_sizes(const int64_t *a, int a_rank, const int64_t *b, int b_rank, struct dot_products *p) {
  struct gemm_arguments *g = &p->g;
  g->k = a[a_rank - 1];
  g->m = a_rank > 1 ? a[a_rank - 2] : 1;
  g->n = b_rank > 1 ? b[b_rank - 1] : 1;
  g->a_row = g->k, g->a_column = 1, g->c_row = g->n;
  p->b_elements = gemm_packed_b(g->k, g->n);
  int a_batch = a_rank > 2 ? a_rank - 2 : 0, b_batch = b_rank > 2 ? b_rank - 2 : 0;
  p->rank = a_batch > b_batch ? a_batch : b_batch;
  p->count = 1;
  int64_t a_at = g->m * g->k, b_at = 1;
  for (int i = 0; i < p->rank; i++) { /* from the last axis of the batch on */
    int axis = p->rank - 1 - i;
    int64_t da = i < a_batch ? a[a_batch - 1 - i] : 1, db = i < b_batch ? b[b_batch - 1 - i] : 1;
    p->dims[axis] = da == 1 ? db : da;
    p->a_stride[axis] = da == 1 ? 0 : a_at;
    p->b_stride[axis] = db == 1 ? 0 : b_at;
    a_at *= da;
    b_at *= db;
    p->count *= p->dims[axis];
  }
  if (b_at == 1 && a_at == p->count * g->m * g->k) {
    g->m *= p->count;
    p->count = 1;
    p->rank = 0;
  }
}

/* How many matrices b has. */
static int64_t matrix_count(const int64_t *dims, int rank) {
  int64_t count = 1;
  for (int i = 0; i < rank - 2; i++) {
    count *= dims[i];
  }
  return count;
}

assay_status prepare_matmul(struct op_prepare *prepare) {
  struct dot_state *state;
  ARENA_NEW(prepare->arena, state, 1);
  prepare->state = state;
  const struct value_type *b = &prepare->inputs[1]->type;
  int64_t dims[ASSAY_RANK_MAX];
  struct dot_kernels kernels;
  if (!type_dims(b, dims) || !dot_kernels_find(prepare->kernels, b->dtype, &kernels)) {
    return status_ok();
  }
  int64_t k = dims[b->rank == 1 ? 0 : b->rank - 2], n = b->rank > 1 ? dims[b->rank - 1] : 1;
  int64_t count = matrix_count(dims, b->rank);
  const assay_tensor *constant = prepare->inputs[1]->constant;
  if (constant != NULL) {
    TRY(dot_pack_constant(prepare, &kernels, constant->data, n, 1, k, n, count, &state->packed));
    prepare->packed = 2;
  }
  size_t scratch = 0;
  return dot_workspace(&kernels, prepare->threads, state->packed != NULL, k, n, count, &scratch, &prepare->workspace);
}

assay_status run_matmul(struct op_run *run) {
  const struct dot_state *state = run->state;
  const assay_tensor *a = run->inputs[0], *b = run->inputs[1];
  struct dot_kernels kernels;
  if (!dot_kernels_find(run->kernels, a->dtype, &kernels)) {
    return status_make(ASSAY_INTERNAL, run->node->label, "MatMul was given %s", assay_dtype_name(a->dtype));
  }
  struct dot_products p = {.g = {.a = a->data, .packed_b = state->packed}};
  matmul_sizes(a->dims, a->rank, b->dims, b->rank, &p);
  p.g.c = run->outputs[0]->data;
  int64_t count = matrix_count(b->dims, b->rank);
  size_t scratch = 0, bytes = 0;
  void *workspace = NULL;
  TRY(dot_workspace(&kernels, pool_threads(run->pool), p.g.packed_b != NULL, p.g.k, p.g.n, count, &scratch, &bytes));
  TRY(run_workspace(run, bytes, &workspace));
  if (p.g.packed_b == NULL) {
    dot_pack_b_all(&kernels, run->pool, b->data, p.g.n, 1, p.g.k, p.g.n, count, (char *)workspace + scratch);
    p.g.packed_b = (char *)workspace + scratch;
  }
  dot_products_run(&kernels, run->pool, &p, workspace);
  return status_ok();
}
