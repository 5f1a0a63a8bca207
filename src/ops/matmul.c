/* MatMul: products of matrices in batches. Definition: ONNX MatMul 1 to 13, after numpy.matmul. */
#include "ops/dot.h"

assay_status infer_matmul(struct infer *infer) {
  TRY(infer_want_counts(infer, 2, 2, 1, 1));
  TRY(infer_want(infer, 0, 1, ASSAY_RANK_MAX));
  TRY(infer_want(infer, 1, 1, ASSAY_RANK_MAX));
  TRY(infer_want_same_dtype(infer, 0, 1));
  return dot_infer_matmul(infer, 0, 1, infer->inputs[0]->type.dtype);
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
  int64_t elements;
  if (!type_dims(b, dims) || !shape_count(dims, b->rank, &elements) ||
      !dot_kernels_find(prepare->kernels, b->dtype, &kernels)) {
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
  dot_matmul_sizes(a->dims, a->rank, b->dims, b->rank, &p);
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
