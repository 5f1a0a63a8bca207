/* MaxPool, AveragePool, LpPool and their global forms. Taps in the padding are skipped; an average counts them only
 * where count_include_pad says so, and never those that ceil_mode adds beyond the padding. Definitions: ONNX MaxPool 1
 * to 22, AveragePool 1 to 22, LpPool 1 to 22, Global*Pool 1 to 22. */
#include "ops/dot.h"
#include "ops/window.h"

/* --- inference ----------------------------------------------------------- */

static assay_status infer_window(struct infer *infer, int32_t outputs) {
  TRY(infer_want_counts(infer, 1, 1, 1, outputs));
  TRY(infer_want(infer, 0, 3, 2 + WINDOW_AXES));
  const struct value_type *x = &infer->inputs[0]->type;
  if (x->kind != TYPE_TENSOR || x->rank < 0) {
    infer_set(infer, 0, x->dtype, RANK_UNKNOWN, NULL);
    infer_set(infer, 1, ASSAY_INT64, RANK_UNKNOWN, NULL);
    return status_ok();
  }
  struct window window;
  TRY(window_read(infer->node, x->dims + 2, x->rank - 2, NULL, true, &window));
  struct dim dims[2 + WINDOW_AXES] = {x->dims[0], x->dims[1]};
  for (int32_t i = 2; i < x->rank; i++) {
    dims[i] = (struct dim){window.out[WINDOW_AXES - x->rank + i], NULL};
  }
  infer_set(infer, 0, x->dtype, x->rank, dims);
  infer_set(infer, 1, ASSAY_INT64, x->rank, dims);
  return status_ok();
}

assay_status infer_max_pool(struct infer *infer) { return infer_window(infer, infer->node->opset >= 8 ? 2 : 1); }
assay_status infer_sum_pool(struct infer *infer) { return infer_window(infer, 1); }

assay_status infer_global_pool(struct infer *infer) {
  TRY(infer_want_counts(infer, 1, 1, 1, 1));
  TRY(infer_want(infer, 0, 3, ASSAY_RANK_MAX));
  infer_set_like(infer, 0, 0, ASSAY_UNDEFINED);
  struct value_type *y = &infer->outputs[0].type;
  for (int32_t i = 2; y->kind == TYPE_TENSOR && i < y->rank; i++) {
    y->dims[i] = dim_of(1);
  }
  return status_ok();
}

/* --- run ----------------------------------------------------------------- */

typedef void pooling_kernel(const struct pooling_arguments *p, int64_t begin, int64_t end);

struct pooling_job {
  pooling_kernel *kernel;
  const struct pooling_arguments *arguments;
};

static void pool_planes(void *argument, int64_t begin, int64_t end, int worker) {
  (void)worker;
  const struct pooling_job *job = argument;
  job->kernel(job->arguments, begin, end);
}

static void run_planes(const struct op_run *run, pooling_kernel *kernel, const struct pooling_arguments *p) {
  const assay_tensor *x = run->inputs[0];
  struct pooling_job job = {kernel, p};
  int64_t steps = window_area(p->out); /* of which each looks at no more taps than there are inputs */
  for (int axis = 0; axis < WINDOW_AXES && steps < INT32_MAX; axis++) {
    steps *= p->kernel[axis] < p->in[axis] ? p->kernel[axis] : p->in[axis];
  }
  if (window_area(p->out) > 0) {
    dot_share(run->pool, x->dims[0] * x->dims[1], steps, pool_planes, &job);
  }
}

static pooling_kernel *max_kernel(const struct op_run *run) {
  switch (run->inputs[0]->dtype) {
    case ASSAY_FLOAT64:
      return run->kernels->f64_max_pool;
    case ASSAY_INT8:
      return run->kernels->i8_max_pool;
    case ASSAY_UINT8:
      return run->kernels->u8_max_pool;
    default:
      return run->kernels->f32_max_pool;
  }
}

static pooling_kernel *sum_kernel(const struct op_run *run) {
  return run->inputs[0]->dtype == ASSAY_FLOAT64 ? run->kernels->f64_sum_pool : run->kernels->f32_sum_pool;
}

static assay_status window_arguments(const struct op_run *run, struct pooling_arguments *p) {
  const assay_tensor *x = run->inputs[0];
  struct dim dims[WINDOW_AXES] = {0};
  for (int32_t i = 2; i < x->rank; i++) {
    dims[i - 2] = dim_of(x->dims[i]);
  }
  struct window w;
  TRY(window_read(run->node, dims, x->rank - 2, NULL, true, &w));
  *p = (struct pooling_arguments){.x = x->data, .y = run->outputs[0]->data};
  for (int axis = 0; axis < WINDOW_AXES; axis++) {
    p->in[axis] = w.in[axis];
    p->out[axis] = w.out[axis];
    p->kernel[axis] = w.kernel[axis];
    p->stride[axis] = w.stride[axis];
    p->dilation[axis] = w.dilation[axis];
    p->pad[axis] = w.pad_begin[axis];
    p->pad_end[axis] = w.pad_end[axis];
  }
  return status_ok();
}

/* One window that is the whole plane, as a single row of it: all axes count as one. */
static void global_arguments(const struct op_run *run, struct pooling_arguments *p) {
  const assay_tensor *x = run->inputs[0];
  int64_t area = 1;
  for (int32_t i = 2; i < x->rank; i++) {
    area *= x->dims[i];
  }
  *p = (struct pooling_arguments){.in = {1, 1, area},
                                  .out = {1, 1, 1},
                                  .kernel = {1, 1, area},
                                  .stride = {1, 1, 1},
                                  .dilation = {1, 1, 1},
                                  .x = x->data,
                                  .y = run->outputs[0]->data};
}

assay_status run_max_pool(struct op_run *run) {
  struct pooling_arguments p;
  TRY(window_arguments(run, &p));
  if (run->node->n_outputs > 1 && run->outputs[1] != NULL) {
    p.indices = run->outputs[1]->data;
  }
  p.column_major = node_attribute_int(run->node, "storage_order", 0) != 0;
  run_planes(run, max_kernel(run), &p);
  return status_ok();
}

assay_status run_average_pool(struct op_run *run) {
  struct pooling_arguments p;
  TRY(window_arguments(run, &p));
  p.count_padding = node_attribute_int(run->node, "count_include_pad", 0) != 0;
  run_planes(run, sum_kernel(run), &p);
  return status_ok();
}

/* The power of LpPool; opset 1 spells it as a float. */
static assay_status read_power(const struct op_run *run, int64_t *power) {
  const struct attribute *a = node_attribute(run->node, "p");
  *power = a == NULL ? 2 : a->kind == ATTRIBUTE_FLOAT && a->f >= 1 && a->f <= 1024 ? (int64_t)a->f : a->i;
  if (*power < 1 || (a != NULL && a->kind == ATTRIBUTE_FLOAT && (float)*power != a->f)) {
    return status_make(ASSAY_NODE_INVALID, run->node->label, "node '%s': attribute p is not a whole number from 1 on",
                       run->node->label);
  }
  return status_ok();
}

assay_status run_lp_pool(struct op_run *run) {
  struct pooling_arguments p;
  TRY(window_arguments(run, &p));
  TRY(read_power(run, &p.power));
  run_planes(run, sum_kernel(run), &p);
  return status_ok();
}

assay_status run_global_max_pool(struct op_run *run) {
  struct pooling_arguments p;
  global_arguments(run, &p);
  run_planes(run, max_kernel(run), &p);
  return status_ok();
}

assay_status run_global_average_pool(struct op_run *run) {
  struct pooling_arguments p;
  global_arguments(run, &p);
  run_planes(run, sum_kernel(run), &p);
  return status_ok();
}

assay_status run_global_lp_pool(struct op_run *run) {
  struct pooling_arguments p;
  global_arguments(run, &p);
  TRY(read_power(run, &p.power));
  run_planes(run, sum_kernel(run), &p);
  return status_ok();
}
