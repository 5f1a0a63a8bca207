/* Broadcasting, blocks and threads for all operators that work element by element. Must give each output element from
 * its own inputs alone, so that no thread count shows. */
#include "ops/elementwise.h"

#include <string.h>

#include "ops/infer_help.h"

enum {
  BLOCK = 512,  /* elements converted at a time */
  GRAIN = 4096, /* least elements a thread gets; a multiple of 8, so that packed elements are never shared */
};

/* --- shapes ------------------------------------------------------------- */

/* Output dims and, for each input, strides in elements (0 where it is broadcast); neighbouring dimensions that
 * can be walked as one are one. rank is at least 1. */
struct broadcast {
  int rank;
  int64_t dims[ASSAY_RANK_MAX];
  int64_t strides[ELEMENTWISE_INPUTS][ASSAY_RANK_MAX];
};

static void broadcast_plan(const assay_tensor *output, const assay_tensor *const *inputs, int n_inputs,
                           struct broadcast *out) {
  int64_t dims[ASSAY_RANK_MAX], strides[ELEMENTWISE_INPUTS][ASSAY_RANK_MAX];
  int rank = output->rank;
  for (int i = 0; i < n_inputs; i++) {
    int64_t stride = 1;
    for (int d = rank - 1; d >= 0; d--) {
      int own = d - (rank - inputs[i]->rank);
      int64_t dim = own >= 0 ? inputs[i]->dims[own] : 1;
      strides[i][d] = dim == 1 ? 0 : stride;
      stride *= dim;
    }
  }
  /* Merge from the last dimension on: outer dimension d and the one built so far are one walk when each
   * input's stride continues. Dimensions of 1 vanish. */
  *out = (struct broadcast){.rank = 0};
  int n = 0;
  for (int d = rank - 1; d >= 0; d--) {
    if (output->dims[d] == 1) {
      continue;
    }
    bool merges = n > 0;
    for (int i = 0; i < n_inputs && merges; i++) {
      merges = strides[i][d] == out->strides[i][n - 1] * dims[n - 1];
    }
    if (merges) {
      dims[n - 1] *= output->dims[d];
      continue;
    }
    dims[n] = output->dims[d];
    for (int i = 0; i < n_inputs; i++) {
      out->strides[i][n] = strides[i][d];
    }
    n++;
  }
  if (n == 0) {
    dims[n++] = 1;
  }
  /* They were gathered last first. */
  out->rank = n;
  for (int d = 0; d < n; d++) {
    out->dims[d] = dims[n - 1 - d];
  }
  for (int i = 0; i < n_inputs; i++) {
    for (int d = 0; d < n / 2; d++) {
      int64_t swap = out->strides[i][d];
      out->strides[i][d] = out->strides[i][n - 1 - d];
      out->strides[i][n - 1 - d] = swap;
    }
  }
}

static bool has_shape(const assay_tensor *tensor, const int64_t *dims, int rank) {
  return tensor->rank == rank && (rank == 0 || memcmp(tensor->dims, dims, (size_t)rank * sizeof *dims) == 0);
}

assay_status output_shape(struct op_run *run, int32_t output, const int64_t *dims, int rank) {
  assay_tensor *tensor = run->outputs[output];
  int64_t count;
  if (!shape_count(dims, rank, &count)) {
    return status_make(ASSAY_LIMIT_EXCEEDED, NULL, "output %d of %s would have too many elements", (int)output,
                       run->node->op_type);
  }
  if (has_shape(tensor, dims, rank) && (tensor->data != NULL || count == 0)) {
    return status_ok();
  }
  return run->resize(run, output, tensor->dtype, dims, rank);
}

assay_status output_like(struct op_run *run, int32_t output, const assay_tensor *input) {
  return output_shape(run, output, input->dims, input->rank);
}

static assay_status broadcast_dims(const struct op_run *run, const assay_tensor *a, int64_t *dims, int *rank) {
  int merged = a->rank > *rank ? a->rank : *rank;
  int64_t out[ASSAY_RANK_MAX];
  for (int d = 0; d < merged; d++) {
    int da = d - (merged - a->rank), db = d - (merged - *rank);
    int64_t x = da >= 0 ? a->dims[da] : 1, y = db >= 0 ? dims[db] : 1;
    if (x != y && x != 1 && y != 1) {
      return status_make(ASSAY_SHAPE_CONFLICT, NULL,
                         "inputs of %s cannot be broadcast: dimension %d of the result is %lld on one side and %lld on "
                         "the other",
                         run->node->op_type, d, (long long)y, (long long)x);
    }
    out[d] = x == 1 ? y : x;
  }
  memcpy(dims, out, sizeof out);
  *rank = merged;
  return status_ok();
}

assay_status broadcast_output(struct op_run *run, int n_inputs) {
  int64_t dims[ASSAY_RANK_MAX];
  int rank = 0;
  for (int i = 0; i < n_inputs; i++) {
    if (run->inputs[i] != NULL) {
      TRY(broadcast_dims(run, run->inputs[i], dims, &rank));
    }
  }
  return output_shape(run, 0, dims, rank);
}

/* Before opset 7: input 1 is put against input 0 where `axis` says, when `broadcast` is 1; *out is a view
 * of input 1 with ones appended so that today's rule fits. */
static assay_status broadcast_legacy(const struct node *node, const assay_tensor *a, const assay_tensor *b,
                                     assay_tensor *out) {
  *out = *b;
  if (node_attribute_int(node, "broadcast", 0) == 0) {
    if (!shape_equal(a, b)) {
      return status_make(ASSAY_SHAPE_CONFLICT, NULL,
                         "inputs of %s differ in shape, and before opset 7 they may do so only with broadcast=1",
                         node->op_type);
    }
    return status_ok();
  }
  int64_t axis = node_attribute_int(node, "axis", a->rank - b->rank);
  axis = axis < 0 ? axis + a->rank : axis;
  if (axis < 0 || axis + b->rank > a->rank) {
    return status_make(ASSAY_SHAPE_CONFLICT, NULL,
                       "input 1 of %s has rank %d and cannot be put at axis %lld of rank %d", node->op_type,
                       (int)b->rank, (long long)axis, (int)a->rank);
  }
  for (int d = b->rank; d < a->rank - axis; d++) {
    out->dims[d] = 1;
  }
  out->rank = a->rank - (int32_t)axis;
  return status_ok();
}

/* --- the walk ----------------------------------------------------------- */

struct walk {
  const struct elementwise *work;
  struct broadcast plan;
};

/* Elements [start, start + n) of a row of input i as its kind, `stride` on; straight from memory where they lie as
 * the kind has them. */
static const void *row_of(const struct elementwise *work, int i, int64_t start, int64_t *stride, int64_t n,
                          void *buffer) {
  const assay_tensor *input = work->inputs[i];
  enum number_kind kind = work->kinds[i];
  if (kind == NUMBER_NONE) {
    return (const char *)input->data + (size_t)start * (assay_dtype_bits(input->dtype) / 8);
  }
  if (number_is_native(input->dtype, kind)) {
    return (const char *)input->data + (size_t)start * number_size(kind);
  }
  numbers_load(input->dtype, input->data, start, *stride, *stride == 0 ? 1 : n, kind, buffer);
  *stride = *stride == 0 ? 0 : 1;
  return buffer;
}

/* n outputs from `begin` on, all within one row. */
static void one_block(const struct walk *walk, const int64_t *offsets, int64_t begin, int64_t n) {
  const struct elementwise *work = walk->work;
  _Alignas(64) char buffers[ELEMENTWISE_INPUTS + 1][BLOCK * 8];
  const void *rows[ELEMENTWISE_INPUTS];
  int64_t strides[ELEMENTWISE_INPUTS];
  for (int i = 0; i < work->n_inputs; i++) {
    strides[i] = walk->plan.strides[i][walk->plan.rank - 1];
    rows[i] = row_of(work, i, offsets[i], &strides[i], n, buffers[i]);
  }
  assay_tensor *output = work->output;
  enum number_kind kind = work->output_kind;
  if (kind == NUMBER_NONE || number_is_native(output->dtype, kind)) {
    size_t size = kind == NUMBER_NONE ? assay_dtype_bits(output->dtype) / 8 : number_size(kind);
    work->rows(work->user, rows, strides, (char *)output->data + (size_t)begin * size, n);
    return;
  }
  work->rows(work->user, rows, strides, buffers[ELEMENTWISE_INPUTS], n);
  numbers_store_saturating(output->dtype, output->data, begin, n, kind, buffers[ELEMENTWISE_INPUTS],
                           !work->unsaturated);
}

/* All in place as the kernels want it: rows may be of any length. */
static bool needs_no_buffer(const struct elementwise *work) {
  bool all = work->output_kind == NUMBER_NONE || number_is_native(work->output->dtype, work->output_kind);
  for (int i = 0; i < work->n_inputs; i++) {
    all = all && (work->kinds[i] == NUMBER_NONE || number_is_native(work->inputs[i]->dtype, work->kinds[i]));
  }
  return all;
}

static void walk_range(void *argument, int64_t begin, int64_t end, int worker) {
  (void)worker;
  const struct walk *walk = argument;
  const struct broadcast *plan = &walk->plan;
  int n_inputs = walk->work->n_inputs, last = plan->rank - 1;
  int64_t longest = needs_no_buffer(walk->work) ? INT64_MAX : BLOCK;
  int64_t index[ASSAY_RANK_MAX], rest = begin;
  int64_t offsets[ELEMENTWISE_INPUTS] = {0};
  for (int d = last; d >= 0; d--) {
    index[d] = rest % plan->dims[d];
    rest /= plan->dims[d];
    for (int i = 0; i < n_inputs; i++) {
      offsets[i] += index[d] * plan->strides[i][d];
    }
  }
  while (begin < end) {
    int64_t n = plan->dims[last] - index[last];
    n = n < end - begin ? n : end - begin;
    n = n < longest ? n : longest;
    one_block(walk, offsets, begin, n);
    begin += n;
    index[last] += n;
    for (int i = 0; i < n_inputs; i++) {
      offsets[i] += n * plan->strides[i][last];
    }
    for (int d = last; d > 0 && index[d] == plan->dims[d]; d--) {
      index[d] = 0;
      index[d - 1]++;
      for (int i = 0; i < n_inputs; i++) {
        offsets[i] += plan->strides[i][d - 1] - plan->dims[d] * plan->strides[i][d];
      }
    }
  }
}

void elementwise_run(const struct elementwise *work, struct pool *pool) {
  int64_t count = tensor_count(work->output);
  if (count == 0) {
    return;
  }
  struct walk walk = {.work = work};
  broadcast_plan(work->output, work->inputs, work->n_inputs, &walk.plan);
  pool_for(pool, count, GRAIN, walk_range, &walk);
}

/* --- one input ---------------------------------------------------------- */

struct unary_user {
  f32_unary *f32;
  f64_unary *f64;
  float p32[2];
  double p64[2];
};

static void unary_rows_f32(const void *user, const void *const *in, const int64_t *strides, void *out, int64_t n) {
  (void)strides;
  const struct unary_user *unary = user;
  unary->f32(in[0], out, n, unary->p32);
}

static void unary_rows_f64(const void *user, const void *const *in, const int64_t *strides, void *out, int64_t n) {
  (void)strides;
  const struct unary_user *unary = user;
  unary->f64(in[0], out, n, unary->p64);
}

assay_status unary_rows_run(struct op_run *run, element_rows *rows, const void *user) {
  const assay_tensor *input = run->inputs[0];
  TRY(output_like(run, 0, input));
  enum number_kind kind = number_kind_of(input->dtype);
  struct elementwise work = {.n_inputs = 1,
                             .inputs = {input},
                             .kinds = {kind},
                             .output = run->outputs[0],
                             .output_kind = kind,
                             .rows = rows,
                             .user = user};
  elementwise_run(&work, run->pool);
  return status_ok();
}

assay_status unary_run(struct op_run *run, f32_unary *f32, f64_unary *f64, double p0, double p1) {
  struct unary_user user = {.f32 = f32, .f64 = f64, .p32 = {(float)p0, (float)p1}, .p64 = {p0, p1}};
  bool wide = number_kind_of(run->inputs[0]->dtype) == NUMBER_F64;
  return unary_rows_run(run, wide ? unary_rows_f64 : unary_rows_f32, &user);
}

/* --- two inputs --------------------------------------------------------- */

#define ROWS(name, struct_name, member)                                                                     \
  static void name(const void *user, const void *const *in, const int64_t *strides, void *out, int64_t n) { \
    ((const struct struct_name *)user)->member(in[0], strides[0], in[1], strides[1], out, n);               \
  }
ROWS(binary_rows_f32, binary_kernels, f32)
ROWS(binary_rows_f64, binary_kernels, f64)
ROWS(binary_rows_i64, binary_kernels, i64)
ROWS(binary_rows_u64, binary_kernels, u64)
ROWS(compare_rows_f32, compare_kernels, f32)
ROWS(compare_rows_f64, compare_kernels, f64)
ROWS(compare_rows_i64, compare_kernels, i64)
ROWS(compare_rows_u64, compare_kernels, u64)

assay_status binary_of(struct op_run *run, const struct binary_kernels *kernels, const assay_tensor *a,
                       const assay_tensor *b, enum number_kind kind, assay_tensor *output) {
  static element_rows *const rows[] = {NULL, binary_rows_f32, binary_rows_f64, binary_rows_i64, binary_rows_u64};
  struct elementwise work = {.n_inputs = 2,
                             .inputs = {a, b},
                             .kinds = {kind, kind},
                             .output = output,
                             .output_kind = kind,
                             .rows = rows[kind],
                             .user = kernels};
  elementwise_run(&work, run->pool);
  return status_ok();
}

/* Input 1 as today's broadcasting wants it. */
static assay_status second_input(struct op_run *run, assay_tensor *view) {
  *view = *run->inputs[1];
  if (run->node->opset < 7 && run->node->domain[0] == '\0') {
    TRY(broadcast_legacy(run->node, run->inputs[0], run->inputs[1], view));
    return output_like(run, 0, run->inputs[0]);
  }
  return broadcast_output(run, 2);
}

assay_status binary_run(struct op_run *run, const struct binary_kernels *kernels) {
  assay_tensor b;
  TRY(second_input(run, &b));
  return binary_of(run, kernels, run->inputs[0], &b, number_kind_of(run->inputs[0]->dtype), run->outputs[0]);
}

assay_status compare_run(struct op_run *run, const struct compare_kernels *kernels) {
  static element_rows *const rows[] = {NULL, compare_rows_f32, compare_rows_f64, compare_rows_i64, compare_rows_u64};
  assay_tensor b;
  TRY(second_input(run, &b));
  const assay_tensor *first = kernels->swap ? &b : run->inputs[0], *second = kernels->swap ? run->inputs[0] : &b;
  enum number_kind kind = number_kind_of(first->dtype);
  struct elementwise work = {.n_inputs = 2,
                             .inputs = {first, second},
                             .kinds = {kind, kind},
                             .output = run->outputs[0],
                             .output_kind = NUMBER_NONE,
                             .rows = rows[kind],
                             .user = kernels};
  elementwise_run(&work, run->pool);
  return status_ok();
}
