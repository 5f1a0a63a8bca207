/* Conv and what its relatives share with it. No image is ever unrolled whole: the kernels gather patches a few
 * positions at a time. Definition: ONNX Conv 1 to 22. */
#include "ops/conv.h"

#include <string.h>

#include "core/memory.h"

/* --- shared -------------------------------------------------------------- */

static int64_t conv_taps(const struct conv *conv) { return window_area(conv->window.kernel); }

assay_status conv_map_bytes(const struct window *window, size_t *out) {
  size_t total = 0, bytes = 0;
  for (int axis = 0; axis < WINDOW_AXES; axis++) {
    TRY(dot_bytes(window->kernel[axis], window->out[axis], sizeof(int32_t), &bytes));
    if (!size_add(total, bytes, &total) || total > SIZE_MAX / 2) {
      return status_make(ASSAY_LIMIT_EXCEEDED, NULL, "the kernel and the output are too large");
    }
  }
  *out = total;
  return status_ok();
}

void conv_map(struct conv *conv, void *memory) {
  const struct window *w = &conv->window;
  int32_t *map = memory;
  for (int axis = 0; axis < WINDOW_AXES; axis++) {
    conv->map[axis] = map;
    for (int64_t tap = 0; tap < w->kernel[axis]; tap++) {
      for (int64_t o = 0; o < w->out[axis]; o++) {
        *map++ = (int32_t)(conv->transposed ? window_input_transposed(w, axis, tap, o) : window_input(w, axis, tap, o));
      }
    }
  }
}

void conv_flatten(struct conv *conv) {
  struct window *w = &conv->window;
  for (int axis = 0; axis < WINDOW_AXES; axis++) {
    if (w->kernel[axis] != 1 || w->stride[axis] != 1 || w->in[axis] != w->out[axis] || w->pad_begin[axis] != 0) {
      return;
    }
  }
  int64_t area = window_area(w->in);
  if (area <= INT32_MAX) {
    w->in[0] = w->in[1] = w->out[0] = w->out[1] = 1;
    w->in[2] = w->out[2] = area;
  }
}

assay_status conv_packed_bytes(const struct dot_kernels *kernels, const struct conv *conv, size_t *out) {
  size_t group = 0;
  TRY(dot_packed_a_bytes(kernels, conv->filters, conv->channels * conv_taps(conv), &group));
  return dot_bytes((int64_t)group, conv->groups, 1, out);
}

/* Elements from one packed group to the next. */
static int64_t packed_group(const struct conv *conv) {
  return (conv->filters / GEMM_ROW_UNIT + 1) * GEMM_ROW_UNIT * conv->channels * conv_taps(conv);
}

void conv_pack(const struct dot_kernels *kernels, const struct conv *conv, const void *weights, void *packed) {
  int64_t k = conv->channels * conv_taps(conv);
  for (int64_t g = 0; g < conv->groups; g++) {
    const char *from = (const char *)weights + (size_t)(g * conv->filters * k) * kernels->size;
    char *to = (char *)packed + (size_t)(g * packed_group(conv)) * kernels->size;
    kernels->pack_a(from, k, 1, conv->filters, k, to);
  }
}

bool values_finite(assay_dtype dtype, const void *data, int64_t count) {
  const char *bytes = data;
  bool finite = true;
  for (int64_t i = 0; dtype == ASSAY_FLOAT32 && i < count; i++) {
    uint32_t x;
    memcpy(&x, bytes + i * 4, sizeof x);
    finite &= (x >> 23 & 0xFF) != 0xFF;
  }
  for (int64_t i = 0; dtype == ASSAY_FLOAT64 && i < count; i++) {
    uint64_t x;
    memcpy(&x, bytes + i * 8, sizeof x);
    finite &= (x >> 52 & 0x7FF) != 0x7FF;
  }
  return finite;
}

struct conv_job {
  const struct dot_kernels *kernels;
  const struct conv *conv;
  struct conv_arguments arguments;    /* of the first image and group */
  int64_t x_group, y_group;           /* elements of a group of an image */
  int64_t row_blocks, rows;           /* filters of a block; a multiple of GEMM_ROW_UNIT */
  int64_t chunks, units, chunk_units; /* units of output positions that a task takes */
  char *scratch;
};

static void convolve_some(void *argument, int64_t begin, int64_t end, int worker) {
  const struct conv_job *job = argument;
  const struct conv *conv = job->conv;
  size_t size = job->kernels->size;
  void *scratch = job->scratch + (size_t)worker * dot_scratch_bytes(job->kernels);
  for (int64_t i = begin; i < end; i++) {
    int64_t chunk = i % job->chunks, block = i / job->chunks % job->row_blocks, at = i / job->chunks / job->row_blocks;
    int64_t group = at % conv->groups, row = block * job->rows, unit = chunk * job->chunk_units;
    struct conv_arguments v = job->arguments;
    v.x = (const char *)v.x + (size_t)(at * job->x_group) * size;
    v.y = (char *)v.y + (size_t)(at * job->y_group) * size;
    v.packed_w = (const char *)v.packed_w + (size_t)(group * packed_group(conv)) * size;
    if (v.bias != NULL) {
      v.bias = (const char *)v.bias + (size_t)(group * conv->filters) * size;
    }
    job->kernels->conv(&v, row, v.filters - row < job->rows ? v.filters : row + job->rows, unit,
                       job->units - unit < job->chunk_units ? job->units : unit + job->chunk_units, scratch);
  }
}

/* Does some tap of some output lie outside the input? */
static bool window_skips(const struct conv *conv) {
  for (int axis = 0; axis < WINDOW_AXES; axis++) {
    int64_t n = conv->window.kernel[axis] * conv->window.out[axis];
    for (int64_t i = 0; i < n; i++) {
      if (conv->map[axis][i] < 0) {
        return true;
      }
    }
  }
  return false;
}

void conv_run(const struct dot_kernels *kernels, struct pool *pool, const struct conv *conv, const void *x,
              const void *bias, void *y, void *scratch) {
  const struct window *w = &conv->window;
  int64_t area = window_area(w->out), products = conv->images * conv->groups, taps = conv_taps(conv);
  if (area == 0 || products == 0 || conv->filters == 0) {
    return;
  }
  struct conv_job job = {.kernels = kernels, .conv = conv, .scratch = scratch, .units = gemm_units(area)};
  job.arguments = (struct conv_arguments){.filters = conv->filters,
                                          .channels = conv->channels,
                                          .step = conv->transposed ? 0 : w->stride[2],
                                          .skips = !conv->integer && window_skips(conv),
                                          .weights_finite = conv->weights_finite,
                                          .x = x,
                                          .packed_w = conv->packed,
                                          .bias = bias,
                                          .y = y};
  for (int axis = 0; axis < WINDOW_AXES; axis++) {
    job.arguments.in[axis] = w->in[axis];
    job.arguments.out[axis] = w->out[axis];
    job.arguments.kernel[axis] = w->kernel[axis];
    job.arguments.map[axis] = conv->map[axis];
  }
  job.x_group = conv->channels * window_area(w->in);
  job.y_group = conv->filters * area;
  job.chunk_units = conv->filters <= CONV_DIRECT_FILTERS ? CONV_DIRECT_UNITS : CONV_CHUNK_UNITS;
  job.chunks = (job.units + job.chunk_units - 1) / job.chunk_units;
  /* Filters are split only where there are not enough positions for all threads: each part gathers anew. */
  int64_t threads = pool_threads(pool), row_units = (conv->filters + GEMM_ROW_UNIT - 1) / GEMM_ROW_UNIT;
  int64_t wanted = threads == 1 ? 1 : 2 * threads / (products * job.chunks) + 1;
  int64_t blocks = wanted < row_units ? wanted : row_units;
  job.rows = (row_units + blocks - 1) / blocks * GEMM_ROW_UNIT;
  job.row_blocks = (conv->filters + job.rows - 1) / job.rows;
  int64_t rows = job.rows < conv->filters ? job.rows : conv->filters;
  int64_t columns = area < job.chunk_units * GEMM_UNIT ? area : job.chunk_units * GEMM_UNIT;
  dot_share(pool, products * job.row_blocks * job.chunks, (rows + 4) * columns * (conv->channels * taps + 1),
            convolve_some, &job);
}

assay_status conv_layout(const struct dot_kernels *kernels, const struct conv *conv, int threads,
                         struct conv_workspace *out) {
  size_t maps = 0, packed = 0;
  TRY(dot_bytes(threads, 1, dot_scratch_bytes(kernels), &out->maps));
  if (conv->map[0] == NULL) {
    TRY(conv_map_bytes(&conv->window, &maps));
  }
  if (conv->packed == NULL) {
    TRY(conv_packed_bytes(kernels, conv, &packed));
  }
  if (!size_add(out->maps, maps, &out->packed) || !size_add(out->packed, packed, &out->bytes)) {
    return status_make(ASSAY_LIMIT_EXCEEDED, NULL, "the weights are more than memory can hold");
  }
  return status_ok();
}

bool conv_kernel_dims(const struct value_type *w, int64_t *kernel) {
  if (w->kind != TYPE_TENSOR || w->rank < 3) {
    return false;
  }
  for (int32_t i = 2; i < w->rank; i++) {
    if (!dim_known(w->dims[i])) {
      return false;
    }
    kernel[i - 2] = w->dims[i].value;
  }
  return true;
}

assay_status conv_check_groups(const struct node *node, const struct value_type *x, const struct value_type *w,
                               bool transposed) {
  int64_t groups = node_attribute_int(node, "group", 1);
  if (groups < 1 || groups > INT32_MAX) {
    return status_make(ASSAY_NODE_INVALID, NULL, "attribute group is %lld, expected at least 1", (long long)groups);
  }
  if (w->kind != TYPE_TENSOR || w->rank < 0) {
    return status_ok();
  }
  /* The first axis of the weights is divided into groups; the other one is of a group. */
  struct dim divided = w->dims[0], channels = w->dims[transposed ? 0 : 1];
  struct dim given = x->kind == TYPE_TENSOR && x->rank > 1 ? x->dims[1] : dim_unknown();
  if (dim_known(divided) && divided.value % groups != 0) {
    return status_make(ASSAY_SHAPE_CONFLICT, NULL, "%lld %s cannot be divided into %lld groups",
                       (long long)divided.value, transposed ? "channels" : "filters", (long long)groups);
  }
  int64_t of_a_group = transposed ? 1 : groups, expected;
  if (dim_known(channels) && dim_known(given) &&
      (__builtin_mul_overflow(channels.value, of_a_group, &expected) || expected != given.value)) {
    return status_make(ASSAY_SHAPE_CONFLICT, NULL, "the input has %lld channels; the weights have %lld, in %lld groups",
                       (long long)given.value, (long long)channels.value, (long long)of_a_group);
  }
  return status_ok();
}

assay_status conv_check_bias(const struct infer *infer, int32_t input, struct dim filters) {
  const struct infer_value *bias = infer_input(infer, input);
  struct dim both;
  if (bias == NULL) {
    return status_ok();
  }
  TRY(infer_want(infer, input, 1, 1));
  TRY(infer_want_same_dtype(infer, 0, input));
  if (bias->type.kind == TYPE_TENSOR && bias->type.rank == 1 && !dim_merge(bias->type.dims[0], filters, &both)) {
    return status_make(ASSAY_SHAPE_CONFLICT, NULL, "the bias has %lld elements, expected one for each of %lld filters",
                       (long long)bias->type.dims[0].value, (long long)filters.value);
  }
  return status_ok();
}

assay_status conv_infer_shape(struct infer *infer, int32_t weights, assay_dtype dtype) {
  TRY(infer_want(infer, 0, 3, 2 + WINDOW_AXES));
  TRY(infer_want(infer, weights, 3, 2 + WINDOW_AXES));
  const struct value_type *x = &infer->inputs[0]->type, *w = &infer->inputs[weights]->type;
  if (x->kind != TYPE_TENSOR || x->rank < 0) {
    infer_set(infer, 0, dtype, RANK_UNKNOWN, NULL);
    return status_ok();
  }
  if (w->kind == TYPE_TENSOR && w->rank >= 0 && w->rank != x->rank) {
    return status_make(ASSAY_SHAPE_CONFLICT, NULL,
                       "the input has rank %d and the weights have rank %d; they must be equal", (int)x->rank,
                       (int)w->rank);
  }
  TRY(conv_check_groups(infer->node, x, w, false));
  struct dim dims[ASSAY_RANK_MAX];
  for (int32_t i = 0; i < x->rank; i++) {
    dims[i] = dim_unknown();
  }
  dims[0] = x->dims[0];
  dims[1] = w->kind == TYPE_TENSOR && w->rank > 0 ? w->dims[0] : dim_unknown();
  int64_t kernel[WINDOW_AXES];
  if (conv_kernel_dims(w, kernel)) {
    struct window window;
    TRY(window_read(infer->node, x->dims + 2, x->rank - 2, kernel, false, &window));
    for (int32_t i = 2; i < x->rank; i++) {
      dims[i].value = window.out[WINDOW_AXES - x->rank + i];
    }
  }
  infer_set(infer, 0, dtype, x->rank, dims);
  return status_ok();
}

assay_status conv_sizes(const struct node *node, const int64_t *x, const int64_t *w, int rank, struct conv *out) {
  struct dim spatial[WINDOW_AXES] = {0};
  for (int i = 2; i < rank; i++) {
    spatial[i - 2] = dim_of(x[i]);
  }
  TRY(window_read(node, spatial, rank - 2, w + 2, false, &out->window));
  TRY(window_check_area(&out->window));
  out->groups = node_attribute_int(node, "group", 1);
  out->images = x[0];
  out->filters = w[0] / out->groups;
  out->channels = w[1];
  conv_flatten(out);
  return status_ok();
}

/* --- Conv ---------------------------------------------------------------- */

assay_status conv_prepare(struct op_prepare *prepare, conv_sizes_function *sizes, struct dot_kernels *kernels,
                          struct conv_state **out) {
  struct conv_state *state;
  ARENA_NEW(prepare->arena, state, 1);
  prepare->state = *out = state;
  const struct value_type *x = &prepare->inputs[0]->type, *w = &prepare->inputs[1]->type;
  int64_t x_dims[ASSAY_RANK_MAX], w_dims[ASSAY_RANK_MAX], n;
  if (!type_dims(x, x_dims) || !type_dims(w, w_dims) || !shape_count(x_dims, x->rank, &n) ||
      !shape_count(w_dims, w->rank, &n) || !dot_kernels_find(prepare->kernels, w->dtype, kernels)) {
    return status_ok();
  }
  TRY(sizes(prepare->node, x_dims, w_dims, x->rank, &state->conv));
  size_t bytes = 0;
  void *block = NULL;
  TRY(conv_map_bytes(&state->conv.window, &bytes));
  TRY(plan_alloc(prepare, bytes, &block));
  conv_map(&state->conv, block);
  state->sized = true;
  return status_ok();
}

assay_status infer_conv(struct infer *infer) {
  TRY(infer_want_counts(infer, 2, 3, 1, 1));
  TRY(infer_want_same_dtype(infer, 0, 1));
  TRY(infer_want(infer, 0, 3, 2 + WINDOW_AXES));
  TRY(conv_infer_shape(infer, 1, infer->inputs[0]->type.dtype));
  const struct value_type *w = &infer->inputs[1]->type;
  return conv_check_bias(infer, 2, w->kind == TYPE_TENSOR && w->rank > 0 ? w->dims[0] : dim_unknown());
}

assay_status prepare_conv(struct op_prepare *prepare) {
  struct conv_state *state;
  struct dot_kernels kernels;
  TRY(conv_prepare(prepare, conv_sizes, &kernels, &state));
  if (!state->sized) {
    return status_ok();
  }
  struct conv *conv = &state->conv;
  const assay_tensor *constant = prepare->inputs[1]->constant;
  if (constant != NULL) {
    size_t bytes = 0;
    void *block = NULL;
    TRY(conv_packed_bytes(&kernels, conv, &bytes));
    TRY(plan_alloc(prepare, bytes, &block));
    conv_pack(&kernels, conv, constant->data, block);
    conv->packed = block;
    conv->weights_finite = values_finite(constant->dtype, constant->data, tensor_count(constant));
    prepare->packed = 2;
  }
  struct conv_workspace layout = {0};
  TRY(conv_layout(&kernels, conv, prepare->threads, &layout));
  prepare->workspace = layout.bytes;
  return status_ok();
}

assay_status run_conv(struct op_run *run) {
  const struct conv_state *state = run->state;
  const assay_tensor *x = run->inputs[0], *w = run->inputs[1];
  const assay_tensor *bias = run->node->n_inputs > 2 ? run->inputs[2] : NULL;
  struct dot_kernels kernels;
  if (!dot_kernels_find(run->kernels, x->dtype, &kernels)) {
    return status_make(ASSAY_INTERNAL, run->node->label, "Conv was given %s", assay_dtype_name(x->dtype));
  }
  struct conv conv = state->conv;
  if (!state->sized) {
    TRY(conv_sizes(run->node, x->dims, w->dims, x->rank, &conv));
  }
  struct conv_workspace layout = {0};
  void *workspace = NULL;
  TRY(conv_layout(&kernels, &conv, pool_threads(run->pool), &layout));
  TRY(run_workspace(run, layout.bytes, &workspace));
  if (conv.map[0] == NULL) {
    conv_map(&conv, (char *)workspace + layout.maps);
  }
  if (conv.packed == NULL) {
    conv_pack(&kernels, &conv, w->data, (char *)workspace + layout.packed);
    conv.packed = (char *)workspace + layout.packed;
    conv.weights_finite = values_finite(w->dtype, w->data, tensor_count(w));
  }
  conv_run(&kernels, run->pool, &conv, x->data, bias != NULL ? bias->data : NULL, run->outputs[0]->data, workspace);
  return status_ok();
}
