/* ConvTranspose, gathered: each output is one chain over the inputs that reach it, in Conv's order (input channel of
 * the group, then the taps of the kernel in ascending order). Definition: ONNX ConvTranspose 1 to 22. */
#include <string.h>

#include "core/memory.h"
#include "ops/conv.h"

assay_status infer_conv_transpose(struct infer *infer) {
  TRY(infer_want_counts(infer, 2, 3, 1, 1));
  TRY(infer_want_same_dtype(infer, 0, 1));
  TRY(infer_want(infer, 0, 3, 2 + WINDOW_AXES));
  TRY(infer_want(infer, 1, 3, 2 + WINDOW_AXES));
  const struct value_type *x = &infer->inputs[0]->type, *w = &infer->inputs[1]->type;
  if (x->kind != TYPE_TENSOR || x->rank < 0) {
    infer_set(infer, 0, x->dtype, RANK_UNKNOWN, NULL);
    return status_ok();
  }
  if (w->kind == TYPE_TENSOR && w->rank >= 0 && w->rank != x->rank) {
    return status_make(ASSAY_SHAPE_CONFLICT, NULL,
                       "the input has rank %d and the weights have rank %d; they must be equal", (int)x->rank,
                       (int)w->rank);
  }
  TRY(conv_check_groups(infer->node, x, w, true));
  struct dim dims[ASSAY_RANK_MAX];
  for (int32_t i = 0; i < x->rank; i++) {
    dims[i] = dim_unknown();
  }
  dims[0] = x->dims[0];
  int64_t groups = node_attribute_int(infer->node, "group", 1), kernel[WINDOW_AXES];
  if (w->kind == TYPE_TENSOR && w->rank > 0 && dim_known(w->dims[1]) &&
      __builtin_mul_overflow(w->dims[1].value, groups, &dims[1].value)) {
    return status_make(ASSAY_SHAPE_CONFLICT, NULL, "%lld groups of %lld filters are too many", (long long)groups,
                       (long long)w->dims[1].value);
  }
  if (conv_kernel_dims(w, kernel)) {
    struct window window;
    TRY(window_read_transposed(infer->node, x->dims + 2, x->rank - 2, kernel, &window));
    for (int32_t i = 2; i < x->rank; i++) {
      dims[i].value = window.out[WINDOW_AXES - x->rank + i];
    }
  }
  infer_set(infer, 0, x->dtype, x->rank, dims);
  return conv_check_bias(infer, 2, dims[1]);
}

static assay_status transpose_sizes(const struct node *node, const int64_t *x, const int64_t *w, int rank,
                                    struct conv *out) {
  struct dim spatial[WINDOW_AXES] = {0};
  for (int i = 2; i < rank; i++) {
    spatial[i - 2] = dim_of(x[i]);
  }
  TRY(window_read_transposed(node, spatial, rank - 2, w + 2, &out->window));
  TRY(window_check_area(&out->window));
  out->transposed = true;
  out->groups = node_attribute_int(node, "group", 1);
  out->images = x[0];
  out->channels = w[0] / out->groups;
  out->filters = w[1];
  return status_ok();
}

/* [channel of all groups][filter][tap], perhaps unaligned, as [group][filter][channel][tap]. */
static void reorder(const struct conv *conv, size_t size, const void *weights, char *out) {
  int64_t taps = window_area(conv->window.kernel);
  size_t run = (size_t)taps * size;
  const char *from = weights;
  for (int64_t g = 0; g < conv->groups; g++) {
    for (int64_t c = 0; c < conv->channels; c++) {
      for (int64_t m = 0; m < conv->filters; m++, from += run) {
        memcpy(out + (size_t)((g * conv->filters + m) * conv->channels + c) * run, from, run);
      }
    }
  }
}

static int64_t weight_count(const struct conv *conv) {
  return conv->groups * conv->filters * conv->channels * window_area(conv->window.kernel);
}

static assay_status pack_constant_weights(struct op_prepare *prepare, const struct dot_kernels *kernels,
                                          const assay_tensor *w, struct conv *conv) {
  size_t bytes = 0;
  void *block = NULL;
  TRY(conv_packed_bytes(kernels, conv, &bytes));
  TRY(plan_alloc(prepare, bytes, &block));
  TRY(dot_bytes(weight_count(conv), 1, kernels->size, &bytes));
  char *ordered = memory_alloc_aligned(bytes);
  if (ordered == NULL) {
    return status_no_memory(bytes);
  }
  reorder(conv, kernels->size, w->data, ordered);
  conv_pack(kernels, conv, ordered, block);
  memory_free(ordered);
  conv->packed = block;
  conv->weights_finite = values_finite(w->dtype, w->data, weight_count(conv));
  return status_ok();
}

/* The workspace of a convolution, and behind it the reordered weights where they are not constant. */
static assay_status transpose_layout(const struct dot_kernels *kernels, const struct conv *conv, int threads,
                                     struct conv_workspace *out, size_t *bytes) {
  size_t ordered = 0;
  TRY(conv_layout(kernels, conv, threads, out));
  if (conv->packed == NULL) {
    TRY(dot_bytes(weight_count(conv), 1, kernels->size, &ordered));
  }
  *bytes = out->bytes + ordered;
  return status_ok();
}

assay_status prepare_conv_transpose(struct op_prepare *prepare) {
  struct conv_state *state;
  struct dot_kernels kernels;
  TRY(conv_prepare(prepare, transpose_sizes, &kernels, &state));
  if (!state->sized) {
    return status_ok();
  }
  struct conv *conv = &state->conv;
  if (prepare->inputs[1]->constant != NULL) {
    TRY(pack_constant_weights(prepare, &kernels, prepare->inputs[1]->constant, conv));
    prepare->packed = 2;
  }
  struct conv_workspace layout = {0};
  TRY(transpose_layout(&kernels, conv, prepare->threads, &layout, &prepare->workspace));
  return status_ok();
}

assay_status run_conv_transpose(struct op_run *run) {
  const struct conv_state *state = run->state;
  const assay_tensor *x = run->inputs[0], *w = run->inputs[1];
  const assay_tensor *bias = run->node->n_inputs > 2 ? run->inputs[2] : NULL;
  struct dot_kernels kernels;
  if (!dot_kernels_find(run->kernels, x->dtype, &kernels)) {
    return status_make(ASSAY_INTERNAL, run->node->label, "ConvTranspose was given %s", assay_dtype_name(x->dtype));
  }
  struct conv conv = state->conv;
  if (!state->sized) {
    TRY(transpose_sizes(run->node, x->dims, w->dims, x->rank, &conv));
  }
  struct conv_workspace layout = {0};
  size_t bytes = 0;
  void *block = NULL;
  TRY(transpose_layout(&kernels, &conv, pool_threads(run->pool), &layout, &bytes));
  TRY(run_workspace(run, bytes, &block));
  char *base = block;
  if (conv.map[0] == NULL) {
    conv_map(&conv, base + layout.maps);
  }
  if (conv.packed == NULL) {
    reorder(&conv, kernels.size, w->data, base + layout.bytes);
    conv_pack(&kernels, &conv, base + layout.bytes, base + layout.packed);
    conv.packed = base + layout.packed;
    conv.weights_finite = values_finite(w->dtype, w->data, weight_count(&conv));
  }
  conv_run(&kernels, run->pool, &conv, x->data, bias != NULL ? bias->data : NULL, run->outputs[0]->data, base);
  return status_ok();
}
