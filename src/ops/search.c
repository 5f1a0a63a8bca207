/* ArgMax, ArgMin and TopK. Of equal elements the one with the lowest index comes first unless the operator says
 * otherwise; -0 equals +0. NaN is what a maximum or minimum would answer, so it is found first; for TopK it is above
 * all numbers. */
#include "core/memory.h"
#include "ops/axis_rows.h"
#include "ops/elementwise.h"
#include "ops/infer_help.h"

/* Elements of a row as numbers of one kind. */
struct row_values {
  enum number_kind kind;
  const void *values;
};

/* a is above b; NaN is above every number. */
static bool is_above(const struct row_values *row, int64_t a, int64_t b) {
  switch (row->kind) {
    case NUMBER_F32: {
      float x = ((const float *)row->values)[a], y = ((const float *)row->values)[b];
      return x > y || (x != x && y == y);
    }
    case NUMBER_F64: {
      double x = ((const double *)row->values)[a], y = ((const double *)row->values)[b];
      return x > y || (x != x && y == y);
    }
    case NUMBER_I64:
      return ((const int64_t *)row->values)[a] > ((const int64_t *)row->values)[b];
    default:
      return ((const uint64_t *)row->values)[a] > ((const uint64_t *)row->values)[b];
  }
}

static bool is_nan(const struct row_values *row, int64_t i) {
  return (row->kind == NUMBER_F32 && ((const float *)row->values)[i] != ((const float *)row->values)[i]) ||
         (row->kind == NUMBER_F64 && ((const double *)row->values)[i] != ((const double *)row->values)[i]);
}

/* --- ArgMax, ArgMin --------------------------------------------------------- */

assay_status infer_arg(struct infer *infer) {
  TRY(infer_want_counts(infer, 1, 1, 1, 1));
  TRY(infer_want(infer, 0, 0, ASSAY_RANK_MAX));
  const struct value_type *x = &infer->inputs[0]->type;
  if (x->kind != TYPE_TENSOR || x->rank < 0) {
    infer_set(infer, 0, ASSAY_INT64, RANK_UNKNOWN, NULL);
    return status_ok();
  }
  int axis = 0;
  if (x->rank > 0) {
    TRY(axis_normalise("axis", node_attribute_int(infer->node, "axis", 0), x->rank, &axis));
  }
  bool keep = node_attribute_int(infer->node, "keepdims", 1) != 0;
  struct dim dims[ASSAY_RANK_MAX];
  int32_t rank = 0;
  for (int d = 0; d < x->rank; d++) {
    if (d != axis) {
      dims[rank++] = x->dims[d];
    } else if (keep) {
      dims[rank++] = dim_of(1);
    }
  }
  infer_set(infer, 0, ASSAY_INT64, rank, dims);
  return status_ok();
}

struct search_walk {
  const assay_tensor *x;
  assay_tensor *values, *indices;
  struct axis_rows rows;
  enum number_kind kind;
  bool largest, last;
  int64_t k;
  char *buffers; /* for each worker a row of numbers, and for TopK k indices */
  size_t buffer_size;
};

/* Row r as numbers: where it lies, or in the worker's buffer. */
static struct row_values row_values_of(const struct search_walk *walk, int64_t r, char *buffer) {
  int64_t start = axis_row_start(&walk->rows, r);
  struct row_values row = {walk->kind, buffer};
  if (walk->rows.inner == 1 && number_is_native(walk->x->dtype, walk->kind)) {
    row.values = (const char *)walk->x->data + (size_t)start * number_size(walk->kind);
  } else {
    numbers_load(walk->x->dtype, walk->x->data, start, walk->rows.inner, walk->rows.length, walk->kind, buffer);
  }
  return row;
}

static int64_t find_extreme(const struct search_walk *walk, const struct row_values *row) {
  int64_t best = 0;
  for (int64_t i = 1; i < walk->rows.length; i++) {
    bool nan = is_nan(row, i), best_nan = is_nan(row, best);
    bool better =
        nan || best_nan ? nan && !best_nan : (walk->largest ? is_above(row, i, best) : is_above(row, best, i));
    bool equal = nan || best_nan ? nan && best_nan : !better && !is_above(row, best, i) && !is_above(row, i, best);
    best = better || (equal && walk->last) ? i : best;
  }
  return best;
}

static void arg_range(void *argument, int64_t begin, int64_t end, int worker) {
  const struct search_walk *walk = argument;
  char *buffer = walk->buffers + (size_t)worker * walk->buffer_size;
  for (int64_t r = begin; r < end; r++) {
    struct row_values row = row_values_of(walk, r, buffer);
    ((int64_t *)walk->indices->data)[r] = find_extreme(walk, &row);
  }
}

/* Makes buffers and walks over all rows. */
static assay_status search_rows(struct op_run *run, struct search_walk *walk, int64_t extra, pool_work *work) {
  int64_t rows = walk->rows.outer * walk->rows.inner;
  if (rows == 0) {
    return status_ok();
  }
  size_t workers = (size_t)pool_threads(run->pool), row = (size_t)(walk->rows.length + extra) * sizeof(int64_t), all;
  void *buffers;
  if (!size_mul(workers, row, &all)) {
    return status_no_memory(row);
  }
  TRY(run->scratch(run, all + 1, &buffers));
  walk->buffers = buffers;
  walk->buffer_size = row;
  pool_for(run->pool, rows, 1 + 4096 / (walk->rows.length + 1), work, walk);
  return status_ok();
}

static assay_status arg_run(struct op_run *run, bool largest) {
  const assay_tensor *x = run->inputs[0];
  bool keep = node_attribute_int(run->node, "keepdims", 1) != 0;
  int axis = 0;
  if (x->rank > 0) {
    TRY(axis_normalise("axis", node_attribute_int(run->node, "axis", 0), x->rank, &axis));
  }
  int64_t dims[ASSAY_RANK_MAX];
  int rank = 0;
  for (int d = 0; d < x->rank; d++) {
    if (d != axis || keep) {
      dims[rank++] = d == axis ? 1 : x->dims[d];
    }
  }
  TRY(output_shape(run, 0, dims, rank));
  struct search_walk walk = {.x = x,
                             .indices = run->outputs[0],
                             .rows = axis_rows_of(x, axis),
                             .kind = number_kind_of(x->dtype),
                             .largest = largest,
                             .last = node_attribute_int(run->node, "select_last_index", 0) != 0};
  if (walk.rows.length == 0 && walk.rows.outer * walk.rows.inner > 0) {
    return status_make(ASSAY_NODE_VALUE, NULL, "%s over no elements has no answer", run->node->op_type);
  }
  return search_rows(run, &walk, 0, arg_range);
}

assay_status run_arg_max(struct op_run *run) { return arg_run(run, true); }
assay_status run_arg_min(struct op_run *run) { return arg_run(run, false); }

/* --- TopK --------------------------------------------------------------------- */

/* k: an attribute until opset 9, then an input; *known is false where that is not constant. */
static assay_status topk_count(const struct node *node, const assay_tensor *input, int64_t *k, bool *known) {
  *known = true;
  if (node->opset < 10) {
    *k = node_attribute_int(node, "k", -1);
  } else if (input == NULL) {
    *known = false;
    *k = 0;
  } else if (tensor_count(input) != 1 || (input->dtype != ASSAY_INT64 && input->dtype != ASSAY_INT32)) {
    return status_make(ASSAY_NODE_INVALID, NULL, "k of TopK is not one integer");
  } else {
    *k = number_get_i64(input, 0);
  }
  if (*k < 0) {
    return status_make(ASSAY_NODE_VALUE, NULL, "k of TopK is %lld, expected a number from 0 on", (long long)*k);
  }
  return status_ok();
}

static assay_status topk_fits(int64_t k, int64_t length) {
  return k <= length ? status_ok()
                     : status_make(ASSAY_NODE_VALUE, NULL, "TopK asks for %lld of %lld elements", (long long)k,
                                   (long long)length);
}

assay_status infer_topk(struct infer *infer) {
  const struct node *node = infer->node;
  int32_t n_inputs = node->opset < 10 ? 1 : 2;
  TRY(infer_want_counts(infer, n_inputs, n_inputs, 2, 2));
  TRY(infer_want(infer, 0, 1, ASSAY_RANK_MAX));
  int64_t k;
  bool known;
  TRY(topk_count(node, n_inputs > 1 && infer->inputs[1] != NULL ? infer->inputs[1]->constant : NULL, &k, &known));
  struct value_type type = infer->inputs[0]->type;
  if (type.kind == TYPE_TENSOR && type.rank > 0) {
    int axis;
    TRY(axis_normalise("axis", node_attribute_int(node, "axis", -1), type.rank, &axis));
    if (known && dim_known(type.dims[axis])) {
      TRY(topk_fits(k, type.dims[axis].value));
    }
    type.dims[axis] = known ? dim_of(k) : dim_unknown();
  }
  infer_set(infer, 0, type.dtype, type.rank, type.dims);
  infer_set(infer, 1, ASSAY_INT64, type.rank, type.dims);
  return status_ok();
}

/* Element a stands before b in the answer. */
static bool stands_before(const struct search_walk *walk, const struct row_values *row, int64_t a, int64_t b) {
  bool above = is_above(row, a, b), below = is_above(row, b, a);
  if (above == below) {
    return a < b;
  }
  return above == walk->largest;
}

/* A heap whose top is the element that would stand last: pushes heap[i] down to its place among n. */
static void heap_sink(const struct search_walk *walk, const struct row_values *row, int64_t *heap, int64_t n,
                      int64_t i) {
  for (;;) {
    int64_t child = 2 * i + 1;
    if (child >= n) {
      return;
    }
    if (child + 1 < n && stands_before(walk, row, heap[child], heap[child + 1])) {
      child++;
    }
    if (!stands_before(walk, row, heap[i], heap[child])) {
      return;
    }
    int64_t swap = heap[i];
    heap[i] = heap[child];
    heap[child] = swap;
    i = child;
  }
}

/* The first k of the row, in order. */
static void choose(const struct search_walk *walk, const struct row_values *row, int64_t *heap) {
  int64_t k = walk->k;
  for (int64_t i = 0; i < k; i++) {
    heap[i] = i;
  }
  for (int64_t i = k / 2 - 1; i >= 0; i--) {
    heap_sink(walk, row, heap, k, i);
  }
  for (int64_t i = k; i < walk->rows.length; i++) {
    if (stands_before(walk, row, i, heap[0])) {
      heap[0] = i;
      heap_sink(walk, row, heap, k, 0);
    }
  }
  for (int64_t n = k - 1; n > 0; n--) {
    int64_t last = heap[0];
    heap[0] = heap[n];
    heap[n] = last;
    heap_sink(walk, row, heap, n, 0);
  }
}

static void topk_range(void *argument, int64_t begin, int64_t end, int worker) {
  const struct search_walk *walk = argument;
  char *buffer = walk->buffers + (size_t)worker * walk->buffer_size;
  int64_t *heap = (int64_t *)(void *)buffer;
  size_t size = assay_dtype_bits(walk->x->dtype) / 8;
  struct axis_rows out = {walk->rows.outer, walk->k, walk->rows.inner};
  for (int64_t r = begin; r < end && walk->k > 0; r++) {
    struct row_values row = row_values_of(walk, r, buffer + (size_t)walk->k * sizeof *heap);
    choose(walk, &row, heap);
    int64_t from = axis_row_start(&walk->rows, r), to = axis_row_start(&out, r);
    for (int64_t i = 0; i < walk->k; i++) {
      int64_t target = to + i * out.inner;
      if (walk->values != NULL) { /* bits are kept */
        __builtin_memcpy((char *)walk->values->data + (size_t)target * size,
                         (const char *)walk->x->data + (size_t)(from + heap[i] * walk->rows.inner) * size, size);
      }
      if (walk->indices != NULL) {
        ((int64_t *)walk->indices->data)[target] = heap[i];
      }
    }
  }
}

assay_status run_topk(struct op_run *run) {
  const assay_tensor *x = run->inputs[0];
  int64_t k;
  bool known;
  TRY(topk_count(run->node, run->node->opset < 10 ? NULL : run->inputs[1], &k, &known));
  int axis;
  TRY(axis_normalise("axis", node_attribute_int(run->node, "axis", -1), x->rank, &axis));
  TRY(topk_fits(k, x->dims[axis]));
  int64_t dims[ASSAY_RANK_MAX];
  for (int d = 0; d < x->rank; d++) {
    dims[d] = d == axis ? k : x->dims[d];
  }
  for (int32_t i = 0; i < 2; i++) {
    if (run->outputs[i] != NULL) {
      TRY(output_shape(run, i, dims, x->rank));
    }
  }
  struct search_walk walk = {.x = x,
                             .values = run->outputs[0],
                             .indices = run->outputs[1],
                             .rows = axis_rows_of(x, axis),
                             .kind = number_kind_of(x->dtype),
                             .largest = node_attribute_int(run->node, "largest", 1) != 0,
                             .k = k};
  return search_rows(run, &walk, k, topk_range);
}
