/* Gemm: one product of matrices, scaled, with a bias. Definition: ONNX Gemm 1 to 13; before opset 7 C broadcasts only
 * where the attribute says so. */
#include "ops/dot.h"

/* C broadcasts to the result in one direction. */
static assay_status check_c(const struct infer *infer, const struct dim dims[2]) {
  const struct infer_value *c = infer_input(infer, 2);
  if (c == NULL && infer->node->opset >= 11) {
    return status_ok();
  }
  TRY(infer_want(infer, 2, 0, 2));
  TRY(infer_want_same_dtype(infer, 0, 2));
  if (c->type.kind != TYPE_TENSOR || c->type.rank < 0) {
    return status_ok();
  }
  bool exact = infer->node->opset < 7 && node_attribute_int(infer->node, "broadcast", 0) == 0;
  if (exact && c->type.rank != 2) {
    return status_make(ASSAY_SHAPE_CONFLICT, NULL,
                       "C has rank %d; without broadcast=1 it must have the shape of the result", (int)c->type.rank);
  }
  for (int32_t i = 0; i < c->type.rank; i++) {
    struct dim from = c->type.dims[i], to = dims[2 - c->type.rank + i];
    if (dim_known(from) && dim_known(to) && from.value != to.value && (exact || from.value != 1)) {
      return status_make(ASSAY_SHAPE_CONFLICT, NULL,
                         "C has %lld elements along an axis where the result has %lld and cannot be broadcast",
                         (long long)from.value, (long long)to.value);
    }
  }
  return status_ok();
}

assay_status infer_gemm(struct infer *infer) {
  TRY(infer_want_counts(infer, 2, 3, 1, 1));
  TRY(infer_want(infer, 0, 2, 2));
  TRY(infer_want(infer, 1, 2, 2));
  TRY(infer_want_same_dtype(infer, 0, 1));
  const struct value_type *a = &infer->inputs[0]->type, *b = &infer->inputs[1]->type;
  int a_turned = node_attribute_int(infer->node, "transA", 0) != 0;
  int b_turned = node_attribute_int(infer->node, "transB", 0) != 0;
  struct dim dims[2] = {dim_unknown(), dim_unknown()}, a_inner = dim_unknown(), b_inner = dim_unknown(), inner;
  if (a->kind == TYPE_TENSOR && a->rank == 2) {
    dims[0] = a->dims[a_turned];
    a_inner = a->dims[1 - a_turned];
  }
  if (b->kind == TYPE_TENSOR && b->rank == 2) {
    dims[1] = b->dims[1 - b_turned];
    b_inner = b->dims[b_turned];
  }
  if (!dim_merge(a_inner, b_inner, &inner)) {
    return status_make(ASSAY_SHAPE_CONFLICT, NULL,
                       "A has %lld columns and B has %lld rows (after transA and transB); they must be equal",
                       (long long)a_inner.value, (long long)b_inner.value);
  }
  infer_set(infer, 0, a->dtype, 2, dims);
  return check_c(infer, dims);
}

/* b as k x n, and its strides. */
static void b_sizes(const struct node *node, const int64_t *dims, int64_t *k, int64_t *n, int64_t *row,
                    int64_t *column) {
  bool turned = node_attribute_int(node, "transB", 0) != 0;
  *k = dims[turned ? 1 : 0];
  *n = dims[turned ? 0 : 1];
  *row = turned ? 1 : *n;
  *column = turned ? *k : 1;
}

assay_status prepare_gemm(struct op_prepare *prepare) {
  struct dot_state *state;
  ARENA_NEW(prepare->arena, state, 1);
  prepare->state = state;
  const struct value_type *b = &prepare->inputs[1]->type;
  int64_t dims[ASSAY_RANK_MAX], k, n, row, column;
  struct dot_kernels kernels;
  if (!type_dims(b, dims) || !dot_kernels_find(prepare->kernels, b->dtype, &kernels)) {
    return status_ok();
  }
  b_sizes(prepare->node, dims, &k, &n, &row, &column);
  const assay_tensor *constant = prepare->inputs[1]->constant;
  if (constant != NULL) {
    TRY(dot_pack_constant(prepare, &kernels, constant->data, row, column, k, n, 1, &state->packed));
    prepare->packed = 2;
  }
  size_t scratch = 0;
  return dot_workspace(&kernels, prepare->threads, state->packed != NULL, k, n, 1, &scratch, &prepare->workspace);
}

/* Where element (i, j) of the result finds its C. */
static void set_bias(const struct op_run *run, struct gemm_arguments *g) {
  const assay_tensor *c = run->node->n_inputs > 2 ? run->inputs[2] : NULL;
  if (c == NULL) {
    return;
  }
  g->bias = c->data;
  g->bias_column = c->rank > 0 && c->dims[c->rank - 1] != 1;
  g->bias_row = c->rank > 1 && c->dims[0] != 1 ? c->dims[1] : 0;
}

assay_status run_gemm(struct op_run *run) {
  const struct dot_state *state = run->state;
  const assay_tensor *a = run->inputs[0], *b = run->inputs[1];
  struct dot_kernels kernels;
  if (!dot_kernels_find(run->kernels, a->dtype, &kernels)) {
    return status_make(ASSAY_INTERNAL, run->node->label, "Gemm was given %s", assay_dtype_name(a->dtype));
  }
  bool turned = node_attribute_int(run->node, "transA", 0) != 0;
  int64_t b_row, b_column;
  struct dot_products p = {.count = 1};
  struct gemm_arguments *g = &p.g;
  b_sizes(run->node, b->dims, &g->k, &g->n, &b_row, &b_column);
  g->m = a->dims[turned ? 1 : 0];
  g->a = a->data;
  g->a_row = turned ? 1 : g->k;
  g->a_column = turned ? g->m : 1;
  g->packed_b = state->packed;
  g->c = run->outputs[0]->data;
  g->c_row = g->n;
  g->alpha = (double)node_attribute_float(run->node, "alpha", 1.0f);
  g->beta = (double)node_attribute_float(run->node, "beta", 1.0f);
  g->scaled = g->alpha != 1.0;
  g->bias_scaled = g->beta != 1.0;
  set_bias(run, g);
  size_t scratch = 0, bytes = 0;
  void *workspace = NULL;
  TRY(dot_workspace(&kernels, pool_threads(run->pool), g->packed_b != NULL, g->k, g->n, 1, &scratch, &bytes));
  TRY(run_workspace(run, bytes, &workspace));
  if (g->packed_b == NULL) {
    dot_pack_b_all(&kernels, run->pool, b->data, b_row, b_column, g->k, g->n, 1, (char *)workspace + scratch);
    g->packed_b = (char *)workspace + scratch;
  }
  dot_products_run(&kernels, run->pool, &p, workspace);
  return status_ok();
}
