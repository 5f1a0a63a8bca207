/* Softmax, LogSoftmax, Hardmax. Until opset 12 the tensor is taken as a matrix, all dimensions from `axis` (1 unless
 * given) on being one row; from 13 on a row is one axis, the last unless given. */
#include "ops/axis_rows.h"
#include "ops/elementwise.h"
#include "ops/infer_help.h"

static assay_status softmax_axis(const struct node *node, int rank, int *axis) {
  int64_t given = node_attribute_int(node, "axis", node->opset < 13 ? 1 : -1);
  if (node->opset < 13 && (given == rank || rank == 0)) { /* rows of one element */
    *axis = rank;
    return status_ok();
  }
  if (rank == 0) {
    *axis = 0;
    return status_ok();
  }
  return axis_normalise("axis", given, rank, axis);
}

assay_status infer_softmax(struct infer *infer) {
  TRY(infer_want_counts(infer, 1, 1, 1, 1));
  TRY(infer_want(infer, 0, 0, ASSAY_RANK_MAX));
  const struct value_type *type = &infer->inputs[0]->type;
  if (type->kind == TYPE_TENSOR && type->rank >= 0) {
    int axis;
    TRY(softmax_axis(infer->node, type->rank, &axis));
  }
  return infer_same(infer);
}

static struct axis_rows rows_of(const assay_tensor *x, int axis, bool flatten) {
  struct axis_rows rows = axis_rows_of(x, axis);
  if (flatten && axis < x->rank) {
    rows.length *= rows.inner;
    rows.inner = 1;
  }
  return rows;
}

typedef void softmax_f32(const float *x, int64_t n, float *y);
typedef void softmax_f64(const double *x, int64_t n, double *y);

struct softmax_walk {
  struct axis_rows rows;
  softmax_f32 *f32;
  softmax_f64 *f64;
  enum number_kind kind;
  const assay_tensor *x;
  assay_tensor *y;
  char *buffers; /* one row for each worker */
};

static void softmax_range(void *argument, int64_t begin, int64_t end, int worker) {
  const struct softmax_walk *walk = argument;
  const struct axis_rows *rows = &walk->rows;
  size_t size = number_size(walk->kind);
  bool direct = rows->inner == 1 && number_is_native(walk->x->dtype, walk->kind);
  char *buffer = walk->buffers + (size_t)worker * (size_t)rows->length * size;
  for (int64_t r = begin; r < end; r++) {
    int64_t start = axis_row_start(rows, r);
    const void *in = buffer;
    void *out = buffer;
    if (direct) {
      in = (const char *)walk->x->data + (size_t)start * size;
      out = (char *)walk->y->data + (size_t)start * size;
    } else {
      numbers_load(walk->x->dtype, walk->x->data, start, rows->inner, rows->length, walk->kind, buffer);
    }
    walk->kind == NUMBER_F64 ? walk->f64(in, rows->length, out) : walk->f32(in, rows->length, out);
    for (int64_t i = 0; i < rows->length && !direct; i++) {
      numbers_store(walk->y->dtype, walk->y->data, start + i * rows->inner, 1, walk->kind, buffer + (size_t)i * size);
    }
  }
}

static assay_status softmax_run(struct op_run *run, softmax_f32 *f32, softmax_f64 *f64) {
  const assay_tensor *x = run->inputs[0];
  TRY(output_like(run, 0, x));
  int axis;
  TRY(softmax_axis(run->node, x->rank, &axis));
  struct softmax_walk walk = {.rows = rows_of(x, axis, run->node->opset < 13),
                              .f32 = f32,
                              .f64 = f64,
                              .kind = number_kind_of(x->dtype),
                              .x = x,
                              .y = run->outputs[0]};
  if (tensor_count(x) == 0) {
    return status_ok();
  }
  void *buffers;
  TRY(run->scratch(run, (size_t)pool_threads(run->pool) * (size_t)walk.rows.length * number_size(walk.kind), &buffers));
  walk.buffers = buffers;
  int64_t grain = 1 + 4096 / walk.rows.length;
  pool_for(run->pool, walk.rows.outer * walk.rows.inner, grain, softmax_range, &walk);
  return status_ok();
}

assay_status run_softmax(struct op_run *run) {
  return softmax_run(run, run->kernels->f32_softmax, run->kernels->f64_softmax);
}
assay_status run_log_softmax(struct op_run *run) {
  return softmax_run(run, run->kernels->f32_log_softmax, run->kernels->f64_log_softmax);
}
assay_status run_hardmax(struct op_run *run) {
  return softmax_run(run, run->kernels->f32_hardmax, run->kernels->f64_hardmax);
}
