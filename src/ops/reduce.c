/* The Reduce operators. Axes are an attribute in older versions and an input in newer ones. 16-bit floats are summed as
 * float and rounded once; integers are summed exactly in 64 bits and wrap. */
#include <string.h>

#include "ops/elementwise.h"
#include "ops/infer_help.h"
#include "ops/reduction.h"

/* What stands around the reduction itself. */
enum finish { FINISH_NONE, FINISH_DIVIDE, FINISH_ROOT, FINISH_LOG };

struct reduce_axes {
  bool reduced[ASSAY_RANK_MAX];
  bool keep, noop;
  int64_t dims[ASSAY_RANK_MAX]; /* of the output */
  int rank;
};

/* Marks one axis. */
static assay_status mark_axis(const struct op_run *run, int64_t axis, struct reduce_axes *axes) {
  int at;
  TRY(axis_normalise("an axis", axis, run->inputs[0]->rank, &at));
  axes->reduced[at] = true;
  return status_ok();
}

static assay_status read_axes(const struct op_run *run, struct reduce_axes *axes) {
  const struct node *node = run->node;
  const assay_tensor *x = run->inputs[0], *input = node->n_inputs > 1 ? run->inputs[1] : NULL;
  *axes = (struct reduce_axes){.keep = node_attribute_int(node, "keepdims", 1) != 0};
  int64_t given = 0;
  if (input != NULL) {
    given = tensor_count(input);
    for (int64_t i = 0; i < given; i++) {
      TRY(mark_axis(run, number_get_i64(input, i), axes));
    }
  } else {
    int32_t count;
    const int64_t *values = node_attribute_ints(node, "axes", &count);
    for (int32_t i = 0; i < count; i++) {
      TRY(mark_axis(run, values[i], axes));
    }
    given = count;
  }
  axes->noop = given == 0 && node_attribute_int(node, "noop_with_empty_axes", 0) != 0;
  for (int d = 0; d < x->rank; d++) {
    axes->reduced[d] = axes->reduced[d] || (given == 0 && !axes->noop);
    if (!axes->reduced[d] || axes->keep) {
      axes->dims[axes->rank++] = axes->reduced[d] ? 1 : x->dims[d];
    }
  }
  return status_ok();
}

/* The input as dense numbers of `kind`, where it is that already or in scratch. */
static assay_status input_as(struct op_run *run, enum number_kind kind, const void **out) {
  const assay_tensor *x = run->inputs[0];
  if (number_is_native(x->dtype, kind)) {
    *out = x->data;
    return status_ok();
  }
  int64_t n = tensor_count(x);
  void *converted;
  TRY(run->scratch(run, (size_t)n * number_size(kind) + 1, &converted));
  numbers_load(x->dtype, x->data, 0, 1, n, kind, converted);
  *out = converted;
  return status_ok();
}

/* Where results of `kind` go: the output itself, or scratch. */
static assay_status result_of(struct op_run *run, enum number_kind kind, int64_t n, void **out) {
  assay_tensor *output = run->outputs[0];
  if (number_is_native(output->dtype, kind)) {
    *out = output->data;
    return status_ok();
  }
  return run->scratch(run, (size_t)n * number_size(kind) + 1, out);
}

static void store_result(const struct op_run *run, enum number_kind kind, int64_t n, const void *result) {
  assay_tensor *output = run->outputs[0];
  if (result != output->data) {
    numbers_store(output->dtype, output->data, 0, n, kind, result);
  }
}

static void finish_floats(const struct op_run *run, enum finish finish, enum number_kind kind, int64_t count, int64_t n,
                          void *y) {
  const struct kernels *k = run->kernels;
  float count32 = (float)count;
  double count64 = (double)count;
  bool is_f32 = kind == NUMBER_F32;
  switch (finish) {
    case FINISH_DIVIDE:
      is_f32 ? k->f32_div(y, 1, &count32, 0, y, n) : k->f64_div(y, 1, &count64, 0, y, n);
      break;
    case FINISH_ROOT:
      is_f32 ? k->f32_sqrt(y, y, n, NULL) : k->f64_sqrt(y, y, n, NULL);
      break;
    case FINISH_LOG:
      is_f32 ? k->f32_log(y, y, n, NULL) : k->f64_log(y, y, n, NULL);
      break;
    case FINISH_NONE:
      break;
  }
}

/* Of no integers at all: the least or largest of their type. */
static void fill_extreme(assay_tensor *output, bool largest, int64_t n) {
  unsigned bits = output->dtype == ASSAY_BOOL ? 1 : (unsigned)assay_dtype_bits(output->dtype);
  bool is_signed = dtype_is_signed(output->dtype);
  uint64_t all = UINT64_MAX >> (64 - bits);
  uint64_t value = is_signed ? (largest ? all >> 1 : ~(all >> 1)) : (largest ? all : 0);
  for (int64_t i = 0; i < n; i++) {
    numbers_store(output->dtype, output->data, i, 1, NUMBER_U64, &value);
  }
}

static assay_status reduce_op(struct op_run *run, enum reduction reduction, enum finish finish) {
  const assay_tensor *x = run->inputs[0];
  struct reduce_axes axes;
  TRY(read_axes(run, &axes));
  TRY(output_shape(run, 0, axes.dims, axes.rank));
  bool plain = reduction != REDUCTION_abs_sum && reduction != REDUCTION_square_sum && finish != FINISH_LOG;
  assay_tensor *output = run->outputs[0];
  if (axes.noop && plain) {
    if (output->bytes > 0) {
      memcpy(output->data, x->data, output->bytes);
    }
    return status_ok();
  }
  struct reduce_plan plan;
  reduce_plan_make(x->dims, x->rank, axes.reduced, &plan);
  enum number_kind kind = number_kind_of(x->dtype);
  bool integers = kind == NUMBER_I64 || kind == NUMBER_U64;
  bool extreme = reduction == REDUCTION_max || reduction == REDUCTION_min;
  if (integers && extreme && plan.count == 0) {
    fill_extreme(output, reduction == REDUCTION_min, plan.outputs);
    return status_ok();
  }
  if (integers && (finish == FINISH_ROOT || finish == FINISH_LOG)) {
    kind = NUMBER_F64; /* what they answer is no integer before it is truncated */
    integers = false;
  }
  const void *data;
  void *result;
  TRY(input_as(run, kind, &data));
  TRY(result_of(run, kind, plan.outputs, &result));
  reduce_run(&plan, reduction, kind, data, NULL, result, run->kernels, run->pool);
  if (integers && finish == FINISH_DIVIDE) {
    if (plan.count == 0 && plan.outputs > 0) {
      return status_make(ASSAY_NODE_VALUE, NULL, "%s of no integers has no answer", run->node->op_type);
    }
    kind == NUMBER_I64 ? run->kernels->i64_div(result, 1, &plan.count, 0, result, plan.outputs)
                       : run->kernels->u64_div(result, 1, (const uint64_t *)&plan.count, 0, result, plan.outputs);
  } else {
    finish_floats(run, finish, kind, plan.count, plan.outputs, result);
  }
  store_result(run, kind, plan.outputs, result);
  return status_ok();
}

assay_status run_reduce_sum(struct op_run *run) { return reduce_op(run, REDUCTION_sum, FINISH_NONE); }
assay_status run_reduce_mean(struct op_run *run) { return reduce_op(run, REDUCTION_sum, FINISH_DIVIDE); }
assay_status run_reduce_prod(struct op_run *run) { return reduce_op(run, REDUCTION_prod, FINISH_NONE); }
assay_status run_reduce_max(struct op_run *run) { return reduce_op(run, REDUCTION_max, FINISH_NONE); }
assay_status run_reduce_min(struct op_run *run) { return reduce_op(run, REDUCTION_min, FINISH_NONE); }
assay_status run_reduce_l1(struct op_run *run) { return reduce_op(run, REDUCTION_abs_sum, FINISH_NONE); }
assay_status run_reduce_l2(struct op_run *run) { return reduce_op(run, REDUCTION_square_sum, FINISH_ROOT); }
assay_status run_reduce_sum_square(struct op_run *run) { return reduce_op(run, REDUCTION_square_sum, FINISH_NONE); }
assay_status run_reduce_log_sum(struct op_run *run) { return reduce_op(run, REDUCTION_sum, FINISH_LOG); }

/* --- ReduceLogSumExp ---------------------------------------------------------- */

/* As the body does, in double; but the largest element is taken out first and added at the end, so that the sum is
 * finite wherever the answer is. */
assay_status run_reduce_log_sum_exp(struct op_run *run) {
  const assay_tensor *x = run->inputs[0];
  struct reduce_axes axes;
  TRY(read_axes(run, &axes));
  TRY(output_shape(run, 0, axes.dims, axes.rank));
  struct reduce_plan plan;
  reduce_plan_make(x->dims, x->rank, axes.reduced, &plan);
  const void *data;
  TRY(input_as(run, NUMBER_F64, &data));
  int64_t n = tensor_count(x);
  void *memory;
  TRY(run->scratch(run, ((size_t)n + 2 * (size_t)plan.outputs) * sizeof(double) + 1, &memory));
  double *shifted = memory, *largest = shifted + n, *sums = largest + plan.outputs;
  reduce_run(&plan, REDUCTION_max, NUMBER_F64, data, NULL, largest, run->kernels, run->pool);
  for (int64_t i = 0; i < plan.outputs; i++) {
    bool finite = largest[i] - largest[i] == 0.0;
    largest[i] = finite ? largest[i] : 0.0;
  }
  assay_tensor all = *x, tops = *x, target = *x;
  all.dtype = tops.dtype = target.dtype = ASSAY_FLOAT64;
  all.data = (void *)(uintptr_t)data;
  tops.data = largest;
  target.data = shifted;
  for (int d = 0; d < x->rank; d++) {
    tops.dims[d] = axes.reduced[d] ? 1 : x->dims[d];
  }
  struct binary_kernels subtract = {.f64 = run->kernels->f64_sub};
  TRY(binary_of(run, &subtract, &all, &tops, NUMBER_F64, &target));
  run->kernels->f64_exp(shifted, shifted, n, NULL);
  reduce_run(&plan, REDUCTION_sum, NUMBER_F64, shifted, NULL, sums, run->kernels, run->pool);
  run->kernels->f64_log(sums, sums, plan.outputs, NULL);
  run->kernels->f64_add(sums, 1, largest, 1, sums, plan.outputs);
  numbers_store(run->outputs[0]->dtype, run->outputs[0]->data, 0, plan.outputs, NUMBER_F64, sums);
  return status_ok();
}
