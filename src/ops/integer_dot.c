/* MatMulInteger, ConvInteger and what the QLinear operators share with them: sums of products of 8-bit integers less
 * their zero points, exact in 32 bits as the operators define them (modulo 2^32 beyond).
 * Definitions: ONNX MatMulInteger 10, ConvInteger 10. */
#include "ops/integer_dot.h"

#include "core/memory.h"

static const struct integer_operands plain_operands = {.a = 0, .b = 1, .a_zero = 2, .b_zero = 3};

static const assay_tensor *input_at(const struct op_run *run, int32_t i) {
  return i < run->node->n_inputs ? run->inputs[i] : NULL;
}

static const struct infer_value *planned_input(const struct op_prepare *prepare, int32_t i) {
  return i < prepare->node->n_inputs ? prepare->inputs[i] : NULL;
}

/* b and its zero point are both constant. */
static bool is_constant(const struct op_prepare *prepare, const struct integer_operands *at) {
  const struct infer_value *zero = planned_input(prepare, at->b_zero);
  return prepare->inputs[at->b]->constant != NULL && (zero == NULL || zero->constant != NULL);
}

static const assay_tensor *constant_of(const struct infer_value *value) {
  return value == NULL ? NULL : value->constant;
}

/* Bits of struct op_prepare.packed once b is packed. */
static uint32_t packed_bits(const struct op_prepare *prepare, const struct integer_operands *at) {
  return 1u << at->b | (planned_input(prepare, at->b_zero) == NULL ? 0 : 1u << at->b_zero);
}

/* Scratch of all threads comes first; then these. */
struct integer_layout {
  struct conv_workspace conv; /* of convolutions, scratch included */
  size_t a, b, packed, sums, bytes;
};

/* --- MatMulInteger ------------------------------------------------------- */

/* A zero point as far as its shape is known. */
static assay_status check_zero(const struct infer *infer, int32_t zero, int32_t values, const char *what, bool column,
                               enum quantum_axis axis) {
  const struct infer_value *z = infer_input(infer, zero), *v = infer_input(infer, values);
  int64_t z_dims[ASSAY_RANK_MAX], v_dims[ASSAY_RANK_MAX], n;
  if (z == NULL || v == NULL || !type_dims(&z->type, z_dims) || !type_dims(&v->type, v_dims)) {
    return status_ok();
  }
  int64_t elements;
  if (!shape_count(z_dims, z->type.rank, &n) || !shape_count(v_dims, v->type.rank, &elements)) {
    return status_make(ASSAY_SHAPE_CONFLICT, NULL, "%s has an impossible shape", what);
  }
  struct matrices of = matrices_of(v_dims, v->type.rank, column);
  return quantum_check(what, n, &of, axis);
}

assay_status matmul_integer_check(const struct infer *infer, const struct integer_operands *at) {
  TRY(infer_want(infer, at->a, 1, ASSAY_RANK_MAX));
  TRY(infer_want(infer, at->b, 1, ASSAY_RANK_MAX));
  TRY(infer_want_bytes(infer, at->a, at->a_zero));
  TRY(infer_want_bytes(infer, at->b, at->b_zero));
  TRY(check_zero(infer, at->a_zero, at->a, "a_zero_point", false, QUANTUM_ROWS));
  return check_zero(infer, at->b_zero, at->b, "b_zero_point", true, QUANTUM_COLUMNS);
}

assay_status infer_matmul_integer(struct infer *infer) {
  TRY(infer_want_counts(infer, 2, 4, 1, 1));
  TRY(matmul_integer_check(infer, &plain_operands));
  return dot_infer_matmul(infer, plain_operands.a, plain_operands.b, ASSAY_INT32);
}

static assay_status matmul_layout(const struct dot_kernels *dot, int threads, int64_t a_elements,
                                  const struct matrices *b, bool packed, int64_t sums, struct integer_layout *out) {
  size_t a_bytes = 0, b_bytes = 0, packed_bytes = 0, sum_bytes = 0;
  TRY(dot_bytes(threads, 1, dot_scratch_bytes(dot), &out->a));
  TRY(dot_bytes(a_elements, 1, sizeof(uint32_t), &a_bytes));
  TRY(dot_bytes(sums, 1, sizeof(uint32_t), &sum_bytes));
  if (!packed) {
    TRY(dot_bytes(b->count * b->rows, b->columns, sizeof(uint32_t), &b_bytes));
    TRY(dot_packed_b_bytes(dot, b->rows, b->columns, &packed_bytes));
    TRY(dot_bytes((int64_t)packed_bytes, b->count, 1, &packed_bytes));
  }
  out->b = out->a + a_bytes;
  out->packed = out->b + b_bytes;
  out->sums = out->packed + packed_bytes;
  out->bytes = out->sums + sum_bytes;
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

/* Elements of output 0, which the plan knows when it knows the inputs. */
static int64_t output_count(const struct op_prepare *prepare) {
  int64_t dims[ASSAY_RANK_MAX], count;
  const struct value_type *type = &prepare->outputs[0].type;
  return type_dims(type, dims) && shape_count(dims, type->rank, &count) ? count : 0;
}

assay_status matmul_integer_prepare(struct op_prepare *prepare, const struct integer_operands *at, bool sums) {
  struct integer_state *state;
  ARENA_NEW(prepare->arena, state, 1);
  prepare->state = state;
  const struct infer_value *a = prepare->inputs[at->a], *b = prepare->inputs[at->b];
  int64_t a_dims[ASSAY_RANK_MAX], b_dims[ASSAY_RANK_MAX], a_elements, b_elements;
  struct dot_kernels dot;
  if (!type_dims(&a->type, a_dims) || !type_dims(&b->type, b_dims) || !shape_count(a_dims, a->type.rank, &a_elements) ||
      !shape_count(b_dims, b->type.rank, &b_elements) || !dot_kernels_find(prepare->kernels, ASSAY_INT32, &dot)) {
    return status_ok();
  }
  struct matrices of = matrices_of(b_dims, b->type.rank, true);
  if (is_constant(prepare, at)) {
    const assay_tensor *zero = constant_of(planned_input(prepare, at->b_zero));
    TRY(pack_matmul_b(prepare, &dot, &of, b->constant, zero, &state->packed));
    prepare->packed = packed_bits(prepare, at);
  }
  struct integer_layout layout = {0};
  TRY(matmul_layout(&dot, prepare->threads, a_elements, &of, state->packed != NULL, sums ? output_count(prepare) : 0,
                    &layout));
  prepare->workspace = layout.bytes;
  return status_ok();
}

assay_status matmul_integer_run(struct op_run *run, const struct integer_operands *at, int32_t **sums) {
  const struct integer_state *state = run->state;
  const assay_tensor *a = run->inputs[at->a], *b = run->inputs[at->b];
  struct matrices a_of = matrices_of(a->dims, a->rank, false), b_of = matrices_of(b->dims, b->rank, true);
  struct dot_kernels dot;
  struct integer_layout layout = {0};
  void *block = NULL;
  if (!dot_kernels_find(run->kernels, ASSAY_INT32, &dot)) {
    return status_make(ASSAY_INTERNAL, run->node->label, "there are no integer kernels");
  }
  TRY(matmul_layout(&dot, pool_threads(run->pool), tensor_count(a), &b_of, state->packed != NULL,
                    *sums == NULL ? tensor_count(run->outputs[0]) : 0, &layout));
  TRY(run_workspace(run, layout.bytes, &block));
  char *base = block;
  *sums = *sums != NULL ? *sums : (int32_t *)(void *)(base + layout.sums);
  uint32_t *a_wide = (uint32_t *)(void *)(base + layout.a), *b_wide = (uint32_t *)(void *)(base + layout.b);
  widen(run->kernels, a, &a_of, input_at(run, at->a_zero), QUANTUM_ROWS, a_wide);
  struct dot_products p = {.g = {.a = a_wide, .packed_b = state->packed, .c = *sums}};
  dot_matmul_sizes(a->dims, a->rank, b->dims, b->rank, &p);
  if (p.g.packed_b == NULL) {
    widen(run->kernels, b, &b_of, input_at(run, at->b_zero), QUANTUM_COLUMNS, b_wide);
    dot_pack_b_all(&dot, run->pool, b_wide, b_of.columns, 1, b_of.rows, b_of.columns, b_of.count, base + layout.packed);
    p.g.packed_b = base + layout.packed;
  }
  dot_products_run(&dot, run->pool, &p, base);
  return status_ok();
}

assay_status prepare_matmul_integer(struct op_prepare *prepare) {
  return matmul_integer_prepare(prepare, &plain_operands, false);
}

assay_status run_matmul_integer(struct op_run *run) {
  int32_t *sums = run->outputs[0]->data;
  return matmul_integer_run(run, &plain_operands, &sums);
}

/* --- ConvInteger --------------------------------------------------------- */

assay_status conv_integer_check(const struct infer *infer, const struct integer_operands *at) {
  TRY(infer_want_bytes(infer, at->a, at->a_zero));
  TRY(infer_want_bytes(infer, at->b, at->b_zero));
  const struct infer_value *zero = infer_input(infer, at->a_zero), *w_zero = infer_input(infer, at->b_zero);
  const struct infer_value *w = infer_input(infer, at->b);
  int64_t dims[ASSAY_RANK_MAX], n, w_dims[ASSAY_RANK_MAX];
  if (zero != NULL && type_dims(&zero->type, dims) && (!shape_count(dims, zero->type.rank, &n) || n != 1)) {
    return status_make(ASSAY_SHAPE_CONFLICT, NULL, "x_zero_point has more than one element");
  }
  if (w_zero == NULL || w == NULL || !type_dims(&w_zero->type, dims) || !type_dims(&w->type, w_dims) ||
      w->type.rank < 1) {
    return status_ok();
  }
  struct matrices of = {1, w_dims[0], 1};
  if (!shape_count(dims, w_zero->type.rank, &n)) {
    return status_make(ASSAY_SHAPE_CONFLICT, NULL, "w_zero_point has an impossible shape");
  }
  return quantum_check("w_zero_point", n, &of, QUANTUM_ROWS);
}

assay_status infer_conv_integer(struct infer *infer) {
  TRY(infer_want_counts(infer, 2, 4, 1, 1));
  TRY(conv_integer_check(infer, &plain_operands));
  return conv_infer_shape(infer, plain_operands.b, ASSAY_INT32);
}

/* Weights as one matrix with a filter in each row. */
static struct matrices filters_of(const int64_t *dims, int rank) {
  struct matrices of = {1, dims[0], 1};
  for (int i = 1; i < rank; i++) {
    of.columns *= dims[i];
  }
  return of;
}

static assay_status layout_conv(const struct dot_kernels *dot, const struct conv *conv, int threads, int64_t x_elements,
                                const struct matrices *w, int64_t sums, struct integer_layout *out) {
  size_t x_bytes = 0, w_bytes = 0, sum_bytes = 0;
  TRY(conv_layout(dot, conv, threads, &out->conv));
  TRY(dot_bytes(x_elements, 1, sizeof(uint32_t), &x_bytes));
  TRY(dot_bytes(sums, 1, sizeof(uint32_t), &sum_bytes));
  if (conv->packed == NULL) {
    TRY(dot_bytes(w->rows, w->columns, sizeof(uint32_t), &w_bytes));
  }
  out->a = out->conv.bytes;
  out->b = out->a + x_bytes;
  out->sums = out->b + w_bytes;
  out->bytes = out->sums + sum_bytes;
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

assay_status conv_integer_prepare(struct op_prepare *prepare, const struct integer_operands *at, bool sums) {
  struct integer_state *state;
  ARENA_NEW(prepare->arena, state, 1);
  prepare->state = state;
  const struct infer_value *x = prepare->inputs[at->a], *w = prepare->inputs[at->b];
  int64_t x_dims[ASSAY_RANK_MAX], w_dims[ASSAY_RANK_MAX], x_elements, w_elements;
  struct dot_kernels dot;
  if (!type_dims(&x->type, x_dims) || !type_dims(&w->type, w_dims) || !shape_count(x_dims, x->type.rank, &x_elements) ||
      !shape_count(w_dims, w->type.rank, &w_elements) || !dot_kernels_find(prepare->kernels, ASSAY_INT32, &dot)) {
    return status_ok();
  }
  struct conv conv = {0};
  TRY(conv_sizes(prepare->node, x_dims, w_dims, x->type.rank, &conv));
  if (is_constant(prepare, at)) {
    const assay_tensor *zero = constant_of(planned_input(prepare, at->b_zero));
    TRY(pack_filters(prepare, &dot, &conv, w->constant, zero, &state->packed));
    conv.packed = state->packed;
    prepare->packed = packed_bits(prepare, at);
  }
  struct matrices of = filters_of(w_dims, w->type.rank);
  struct integer_layout layout = {0};
  TRY(layout_conv(&dot, &conv, prepare->threads, x_elements, &of, sums ? output_count(prepare) : 0, &layout));
  prepare->workspace = layout.bytes;
  return status_ok();
}

assay_status conv_integer_run(struct op_run *run, const struct integer_operands *at, int32_t **sums) {
  const struct integer_state *state = run->state;
  const assay_tensor *x = run->inputs[at->a], *w = run->inputs[at->b];
  struct matrices w_of = filters_of(w->dims, w->rank), x_of = {1, 1, tensor_count(x)};
  struct dot_kernels dot;
  struct integer_layout layout = {0};
  void *block = NULL;
  if (!dot_kernels_find(run->kernels, ASSAY_INT32, &dot)) {
    return status_make(ASSAY_INTERNAL, run->node->label, "there are no integer kernels");
  }
  struct conv conv = {.packed = state->packed, .integer = true};
  TRY(conv_sizes(run->node, x->dims, w->dims, x->rank, &conv));
  TRY(layout_conv(&dot, &conv, pool_threads(run->pool), x_of.columns, &w_of,
                  *sums == NULL ? tensor_count(run->outputs[0]) : 0, &layout));
  TRY(run_workspace(run, layout.bytes, &block));
  char *base = block;
  *sums = *sums != NULL ? *sums : (int32_t *)(void *)(base + layout.sums);
  uint32_t *x_wide = (uint32_t *)(void *)(base + layout.a), *w_wide = (uint32_t *)(void *)(base + layout.b);
  widen(run->kernels, x, &x_of, input_at(run, at->a_zero), QUANTUM_ROWS, x_wide);
  conv_map(&conv, base + layout.conv.maps);
  if (conv.packed == NULL) {
    widen(run->kernels, w, &w_of, input_at(run, at->b_zero), QUANTUM_ROWS, w_wide);
    conv_pack(&dot, &conv, w_wide, base + layout.conv.packed);
    conv.packed = base + layout.conv.packed;
  }
  conv_run(&dot, run->pool, &conv, x_wide, NULL, *sums, base);
  return status_ok();
}

assay_status prepare_conv_integer(struct op_prepare *prepare) {
  return conv_integer_prepare(prepare, &plain_operands, false);
}

assay_status run_conv_integer(struct op_run *run) {
  int32_t *sums = run->outputs[0]->data;
  return conv_integer_run(run, &plain_operands, &sums);
}
