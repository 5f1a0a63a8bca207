/* MatMulInteger and ConvInteger: sums of products of 8-bit integers less their zero points, exact in 32 bits as the
 * operators define them (modulo 2^32 beyond). Definitions: ONNX MatMulInteger 10, ConvInteger 10. */
#include "core/memory.h"
#include "ops/conv.h"
#include "ops/widen_help.h"

enum { INPUT_A, INPUT_B, INPUT_A_ZERO, INPUT_B_ZERO };

static const assay_tensor *input_at(const struct op_run *run, int32_t i) {
  return i < run->node->n_inputs ? run->inputs[i] : NULL;
}

/* A zero point as far as its shape is known. */
static assay_status check_zero(const struct infer *infer, int32_t zero, int32_t values, const char *what, bool column,
                               enum quantum_axis axis) {
  const struct infer_value *z = infer_input(infer, zero), *v = infer_input(infer, values);
  int64_t z_dims[ASSAY_RANK_MAX], v_dims[ASSAY_RANK_MAX], n;
  if (z == NULL || v == NULL || !type_dims(&z->type, z_dims) || !type_dims(&v->type, v_dims)) {
    return status_ok();
  }
  struct matrices of = matrices_of(v_dims, v->type.rank, column);
  if (!shape_count(z_dims, z->type.rank, &n)) {
    return status_make(ASSAY_SHAPE_CONFLICT, NULL, "%s has an impossible shape", what);
  }
  return quantum_check(what, n, &of, axis);
}

/* --- MatMulInteger ------------------------------------------------------- */

assay_status infer_matmul_integer(struct infer *infer) {
  TRY(infer_want_counts(infer, 2, 4, 1, 1));
  TRY(infer_want(infer, INPUT_A, 1, ASSAY_RANK_MAX));
  TRY(infer_want(infer, INPUT_B, 1, ASSAY_RANK_MAX));
  TRY(infer_want_bytes(infer, INPUT_A, INPUT_A_ZERO));
  TRY(infer_want_bytes(infer, INPUT_B, INPUT_B_ZERO));
  TRY(check_zero(infer, INPUT_A_ZERO, INPUT_A, "a_zero_point", false, QUANTUM_ROWS));
  TRY(check_zero(infer, INPUT_B_ZERO, INPUT_B, "b_zero_point", true, QUANTUM_COLUMNS));
  return dot_infer_matmul(infer, INPUT_A, INPUT_B, ASSAY_INT32);
}

/* Elements of packed b of all its matrices, and the bytes of what a run needs besides. */
struct integer_layout {
  size_t a, b, packed, bytes; /* where they begin: widened a, widened b, packed b; scratch comes first */
};

static assay_status matmul_layout(const struct dot_kernels *dot, int threads, int64_t a_elements,
                                  const struct matrices *b, bool packed, struct integer_layout *out) {
  size_t a_bytes = 0, b_bytes = 0, packed_bytes = 0;
  TRY(dot_bytes(threads, 1, dot_scratch_bytes(dot), &out->a));
  TRY(dot_bytes(a_elements, 1, sizeof(uint32_t), &a_bytes));
  if (!packed) {
    TRY(dot_bytes(b->count * b->rows, b->columns, sizeof(uint32_t), &b_bytes));
    TRY(dot_packed_b_bytes(dot, b->rows, b->columns, &packed_bytes));
    TRY(dot_bytes((int64_t)packed_bytes, b->count, 1, &packed_bytes));
  }
  out->b = out->a + a_bytes;
  out->packed = out->b + b_bytes;
  out->bytes = out->packed + packed_bytes;
  return status_ok();
}

/* Widens a constant b into memory that ends here, and packs it into the plan. */
static assay_status pack_matmul_b(struct op_prepare *prepare, const struct dot_kernels *dot, const struct matrices *of,
                                  const assay_tensor *b, const assay_tensor *zero, const void **packed) {
  size_t bytes = 0;
  TRY(dot_bytes(of->count * of->rows, of->columns, sizeof(uint32_t), &bytes));
  uint32_t *wide = memory_alloc_aligned(bytes);
  if (wide == NULL) {
    return status_no_memory(bytes);
  }
  widen(prepare->kernels, b, of, zero, QUANTUM_COLUMNS, wide);
  assay_status status = dot_pack_constant(prepare, dot, wide, of->columns, 1, of->rows, of->columns, of->count, packed);
  memory_free(wide);
  return status;
}

assay_status prepare_matmul_integer(struct op_prepare *prepare) {
  struct dot_state *state;
  ARENA_NEW(prepare->arena, state, 1);
  prepare->state = state;
  const struct infer_value *a = prepare->inputs[INPUT_A], *b = prepare->inputs[INPUT_B];
  const struct infer_value *zero = prepare->node->n_inputs > INPUT_B_ZERO ? prepare->inputs[INPUT_B_ZERO] : NULL;
  int64_t a_dims[ASSAY_RANK_MAX], b_dims[ASSAY_RANK_MAX], a_elements;
  struct dot_kernels dot;
  if (!type_dims(&a->type, a_dims) || !type_dims(&b->type, b_dims) || !shape_count(a_dims, a->type.rank, &a_elements) ||
      !dot_kernels_find(prepare->kernels, ASSAY_INT32, &dot)) {
    return status_ok();
  }
  struct matrices of = matrices_of(b_dims, b->type.rank, true);
  if (b->constant != NULL && (zero == NULL || zero->constant != NULL)) {
    TRY(pack_matmul_b(prepare, &dot, &of, b->constant, zero == NULL ? NULL : zero->constant, &state->packed));
    prepare->packed = 1u << INPUT_B | (zero == NULL ? 0 : 1u << INPUT_B_ZERO);
  }
  struct integer_layout layout = {0};
  TRY(matmul_layout(&dot, prepare->threads, a_elements, &of, state->packed != NULL, &layout));
  prepare->workspace = layout.bytes;
  return status_ok();
}

assay_status run_matmul_integer(struct op_run *run) {
  const struct dot_state *state = run->state;
  const assay_tensor *a = run->inputs[INPUT_A], *b = run->inputs[INPUT_B];
  struct matrices a_of = matrices_of(a->dims, a->rank, false), b_of = matrices_of(b->dims, b->rank, true);
  struct dot_kernels dot;
  struct integer_layout layout = {0};
  void *block = NULL;
  if (!dot_kernels_find(run->kernels, ASSAY_INT32, &dot)) {
    return status_make(ASSAY_INTERNAL, run->node->label, "there are no integer kernels");
  }
  TRY(matmul_layout(&dot, pool_threads(run->pool), tensor_count(a), &b_of, state->packed != NULL, &layout));
  TRY(run_workspace(run, layout.bytes, &block));
  char *base = block;
  uint32_t *a_wide = (uint32_t *)(void *)(base + layout.a), *b_wide = (uint32_t *)(void *)(base + layout.b);
  widen(run->kernels, a, &a_of, input_at(run, INPUT_A_ZERO), QUANTUM_ROWS, a_wide);
  struct dot_products p = {.g = {.a = a_wide, .packed_b = state->packed, .c = run->outputs[0]->data}};
  dot_matmul_sizes(a->dims, a->rank, b->dims, b->rank, &p);
  if (p.g.packed_b == NULL) {
    widen(run->kernels, b, &b_of, input_at(run, INPUT_B_ZERO), QUANTUM_COLUMNS, b_wide);
    dot_pack_b_all(&dot, run->pool, b_wide, b_of.columns, 1, b_of.rows, b_of.columns, b_of.count, base + layout.packed);
    p.g.packed_b = base + layout.packed;
  }
  dot_products_run(&dot, run->pool, &p, base);
  return status_ok();
}

/* --- ConvInteger --------------------------------------------------------- */

struct conv_integer_state {
  const void *packed;
};

assay_status infer_conv_integer(struct infer *infer) {
  TRY(infer_want_counts(infer, 2, 4, 1, 1));
  TRY(infer_want_bytes(infer, INPUT_A, INPUT_A_ZERO));
  TRY(infer_want_bytes(infer, INPUT_B, INPUT_B_ZERO));
  const struct infer_value *zero = infer_input(infer, INPUT_A_ZERO), *w_zero = infer_input(infer, INPUT_B_ZERO);
  int64_t dims[ASSAY_RANK_MAX], n, w_dims[ASSAY_RANK_MAX];
  if (zero != NULL && type_dims(&zero->type, dims) && (!shape_count(dims, zero->type.rank, &n) || n != 1)) {
    return status_make(ASSAY_SHAPE_CONFLICT, NULL, "x_zero_point has more than one element");
  }
  TRY(conv_infer_shape(infer, INPUT_B, ASSAY_INT32));
  if (w_zero == NULL || !type_dims(&w_zero->type, dims) || !type_dims(&infer->inputs[INPUT_B]->type, w_dims)) {
    return status_ok();
  }
  struct matrices of = {1, w_dims[0], 1};
  if (!shape_count(dims, w_zero->type.rank, &n)) {
    return status_make(ASSAY_SHAPE_CONFLICT, NULL, "w_zero_point has an impossible shape");
  }
  return quantum_check("w_zero_point", n, &of, QUANTUM_ROWS);
}

/* Weights as one matrix with a filter in each row. */
static struct matrices filters_of(const int64_t *dims, int rank) {
  struct matrices of = {1, dims[0], 1};
  for (int i = 1; i < rank; i++) {
    of.columns *= dims[i];
  }
  return of;
}

/* Where the parts of a run's workspace begin; those of struct conv_workspace come first. */
struct conv_integer_layout {
  struct conv_workspace conv;
  size_t x, w, bytes;
};

static assay_status conv_integer_layout(const struct dot_kernels *dot, const struct conv *conv, int threads,
                                        int64_t x_elements, const struct matrices *w, struct conv_integer_layout *out) {
  size_t x_bytes = 0, w_bytes = 0;
  TRY(conv_layout(dot, conv, threads, &out->conv));
  TRY(dot_bytes(x_elements, 1, sizeof(uint32_t), &x_bytes));
  if (conv->packed == NULL) {
    TRY(dot_bytes(w->rows, w->columns, sizeof(uint32_t), &w_bytes));
  }
  out->x = out->conv.bytes;
  out->w = out->x + x_bytes;
  out->bytes = out->w + w_bytes;
  return status_ok();
}

static assay_status pack_filters(struct op_prepare *prepare, const struct dot_kernels *dot, const struct conv *conv,
                                 const assay_tensor *w, const assay_tensor *zero, const void **packed) {
  struct matrices of = filters_of(w->dims, w->rank);
  size_t bytes = 0;
  void *block = NULL;
  TRY(conv_packed_bytes(dot, conv, &bytes));
  TRY(plan_alloc(prepare, bytes, &block));
  TRY(dot_bytes(of.rows, of.columns, sizeof(uint32_t), &bytes));
  uint32_t *wide = memory_alloc_aligned(bytes);
  if (wide == NULL) {
    return status_no_memory(bytes);
  }
  widen(prepare->kernels, w, &of, zero, QUANTUM_ROWS, wide);
  conv_pack(dot, conv, wide, block);
  memory_free(wide);
  *packed = block;
  return status_ok();
}

assay_status prepare_conv_integer(struct op_prepare *prepare) {
  struct conv_integer_state *state;
  ARENA_NEW(prepare->arena, state, 1);
  prepare->state = state;
  const struct infer_value *x = prepare->inputs[INPUT_A], *w = prepare->inputs[INPUT_B];
  const struct infer_value *zero = prepare->node->n_inputs > INPUT_B_ZERO ? prepare->inputs[INPUT_B_ZERO] : NULL;
  int64_t x_dims[ASSAY_RANK_MAX], w_dims[ASSAY_RANK_MAX], x_elements;
  struct dot_kernels dot;
  if (!type_dims(&x->type, x_dims) || !type_dims(&w->type, w_dims) || !shape_count(x_dims, x->type.rank, &x_elements) ||
      !dot_kernels_find(prepare->kernels, ASSAY_INT32, &dot)) {
    return status_ok();
  }
  struct conv conv = {0};
  TRY(conv_sizes(prepare->node, x_dims, w_dims, x->type.rank, &conv));
  if (w->constant != NULL && (zero == NULL || zero->constant != NULL)) {
    TRY(pack_filters(prepare, &dot, &conv, w->constant, zero == NULL ? NULL : zero->constant, &state->packed));
    conv.packed = state->packed;
    prepare->packed = 1u << INPUT_B | (zero == NULL ? 0 : 1u << INPUT_B_ZERO);
  }
  struct matrices of = filters_of(w_dims, w->type.rank);
  struct conv_integer_layout layout = {0};
  TRY(conv_integer_layout(&dot, &conv, prepare->threads, x_elements, &of, &layout));
  prepare->workspace = layout.bytes;
  return status_ok();
}

assay_status run_conv_integer(struct op_run *run) {
  const struct conv_integer_state *state = run->state;
  const assay_tensor *x = run->inputs[INPUT_A], *w = run->inputs[INPUT_B];
  struct matrices w_of = filters_of(w->dims, w->rank), x_of = {1, 1, tensor_count(x)};
  struct dot_kernels dot;
  struct conv_integer_layout layout = {0};
  void *block = NULL;
  if (!dot_kernels_find(run->kernels, ASSAY_INT32, &dot)) {
    return status_make(ASSAY_INTERNAL, run->node->label, "there are no integer kernels");
  }
  struct conv conv = {.packed = state->packed, .integer = true};
  TRY(conv_sizes(run->node, x->dims, w->dims, x->rank, &conv));
  TRY(conv_integer_layout(&dot, &conv, pool_threads(run->pool), x_of.columns, &w_of, &layout));
  TRY(run_workspace(run, layout.bytes, &block));
  char *base = block;
  uint32_t *x_wide = (uint32_t *)(void *)(base + layout.x), *w_wide = (uint32_t *)(void *)(base + layout.w);
  widen(run->kernels, x, &x_of, input_at(run, INPUT_A_ZERO), QUANTUM_ROWS, x_wide);
  conv_map(&conv, base + layout.conv.maps);
  if (conv.packed == NULL) {
    widen(run->kernels, w, &w_of, input_at(run, INPUT_B_ZERO), QUANTUM_ROWS, w_wide);
    conv_pack(&dot, &conv, w_wide, base + layout.conv.packed);
    conv.packed = base + layout.conv.packed;
  }
  conv_run(&dot, run->pool, &conv, x_wide, NULL, run->outputs[0]->data, base);
  return status_ok();
}
