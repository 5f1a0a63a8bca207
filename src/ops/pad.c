/* Pad: a border of a constant, of the edge, of the mirror image, or of the other side. Definition: ONNX Pad 1 to 28.
 * Negative pads cut. Bits are kept. */
#include <string.h>

#include "ops/infer_help.h"
#include "ops/movement.h"

enum pad_mode { PAD_CONSTANT, PAD_EDGE, PAD_REFLECT, PAD_WRAP };

static assay_status pad_mode(const struct node *node, enum pad_mode *out) {
  static const char *const names[] = {"constant", "edge", "reflect", "wrap"};
  const struct attribute *given = node_attribute(node, "mode");
  int count = node->opset >= 19 ? 4 : 3;
  *out = PAD_CONSTANT;
  for (int i = 0; given != NULL && i < count; i++) {
    if (node_attribute_is(node, "mode", names[i], false)) {
      *out = (enum pad_mode)i;
      return status_ok();
    }
  }
  return given == NULL
             ? status_ok()
             : status_make(ASSAY_NODE_INVALID, NULL,
                           "mode of Pad is '%.*s'; opset %lld knows constant, edge, "
                           "reflect%s",
                           (int)given->s.length, given->s.data, (long long)node->opset, count == 4 ? ", wrap" : "");
}

struct pads {
  int64_t begin[ASSAY_RANK_MAX], end[ASSAY_RANK_MAX];
};

/* Spreads the list over the axes: all of them, or those of input 3 (from opset 18 on). */
static assay_status pads_of(const int64_t *list, int32_t n, const int64_t *axes, int32_t n_axes, int rank,
                            struct pads *out) {
  int32_t count = axes != NULL ? n_axes : rank;
  *out = (struct pads){{0}, {0}};
  if (n != 2 * count) {
    return status_make(ASSAY_NODE_INVALID, NULL, "Pad has %d numbers for %d axes; expected %d", (int)n, (int)count,
                       (int)(2 * count));
  }
  for (int32_t i = 0; i < count; i++) {
    int axis;
    TRY(axis_normalise("an axis of Pad", axes != NULL ? axes[i] : i, rank, &axis));
    out->begin[axis] = list[i];
    out->end[axis] = list[count + i];
  }
  return status_ok();
}

static assay_status padded(int64_t size, int64_t begin, int64_t end, int64_t *out) {
  if (__builtin_add_overflow(size, begin, out) || __builtin_add_overflow(*out, end, out) || *out < 0) {
    return status_make(ASSAY_SHAPE_CONFLICT, NULL, "%lld elements with pads %lld and %lld leave no valid size",
                       (long long)size, (long long)begin, (long long)end);
  }
  return status_ok();
}

static const char *pads_attribute(const struct node *node) {
  return node->opset < 2 ? "paddings" : node->opset < 11 ? "pads" : NULL;
}

assay_status infer_pad(struct infer *infer) {
  bool old = infer->node->opset < 11;
  TRY(infer_want_counts(infer, old ? 1 : 2, old ? 1 : infer->node->opset < 18 ? 3 : 4, 1, 1));
  TRY(infer_want(infer, 0, 0, ASSAY_RANK_MAX));
  TRY(infer_want_same_dtype(infer, 0, 2));
  enum pad_mode mode;
  TRY(pad_mode(infer->node, &mode));
  const struct value_type *in = &infer->inputs[0]->type;
  const int64_t *list, *axes;
  int32_t n, n_axes;
  bool known, axes_known;
  TRY(infer_ints(infer, old ? -1 : 1, pads_attribute(infer->node), &list, &n, &known));
  TRY(infer_ints(infer, old ? -1 : 3, NULL, &axes, &n_axes, &axes_known));
  struct dim dims[ASSAY_RANK_MAX];
  struct pads pads;
  for (int i = 0; i < in->rank; i++) {
    dims[i] = dim_unknown();
  }
  if (known && axes_known && in->rank >= 0) {
    TRY(pads_of(list, n, axes, n_axes, in->rank, &pads));
    for (int i = 0; i < in->rank; i++) {
      if (dim_known(in->dims[i])) {
        TRY(padded(in->dims[i].value, pads.begin[i], pads.end[i], &dims[i].value));
      } else if (pads.begin[i] == 0 && pads.end[i] == 0) {
        dims[i] = in->dims[i];
      }
    }
  }
  infer_set(infer, 0, in->dtype, in->rank, dims);
  return status_ok();
}

/* Where place i of the result comes from along an axis of `size` elements; -1 for the constant. */
static int64_t pad_source(enum pad_mode mode, int64_t i, int64_t size) {
  if (i >= 0 && i < size) {
    return i;
  }
  switch (mode) {
    case PAD_CONSTANT:
      return -1;
    case PAD_EDGE:
      return i < 0 ? 0 : size - 1;
    case PAD_WRAP:
      return ((i % size) + size) % size;
    case PAD_REFLECT:
      break;
  }
  if (size == 1) {
    return 0;
  }
  int64_t period = 2 * (size - 1), place = ((i % period) + period) % period;
  return place < size ? place : period - place;
}

struct pad_job {
  const assay_tensor *in;
  assay_tensor *out;
  const int64_t *maps[ASSAY_RANK_MAX]; /* per axis, source index of each place, or -1 */
  int64_t strides[ASSAY_RANK_MAX];
  size_t element;
  const void *value;
};

static void pad_rows(void *argument, int64_t begin, int64_t end, int worker) {
  (void)worker;
  const struct pad_job *job = argument;
  int last = job->out->rank - 1;
  int64_t n = job->out->dims[last];
  for (int64_t row = begin; row < end; row++) {
    int64_t rest = row, at = 0;
    bool outside = false;
    for (int d = last - 1; d >= 0; d--) {
      int64_t from = job->maps[d][rest % job->out->dims[d]];
      rest /= job->out->dims[d];
      outside |= from < 0;
      at += from * job->strides[d];
    }
    char *target = (char *)job->out->data + (size_t)(row * n) * job->element;
    for (int64_t i = 0; i < n; i++, target += job->element) {
      int64_t from = outside ? -1 : job->maps[last][i];
      memcpy(target, from < 0 ? job->value : (const char *)job->in->data + (size_t)(at + from) * job->element,
             job->element);
    }
  }
}

/* The constant of the border: attribute `value` (a float), input 2, or zero. */
static assay_status pad_value(struct op_run *run, void *out) {
  const assay_tensor *in = run->inputs[0], *value = run->node->opset >= 11 ? run_input(run, 2) : NULL;
  assay_tensor scalar = {.dtype = in->dtype, .data = out, .bytes = element_size(in->dtype)};
  memset(out, 0, scalar.bytes);
  if (in->dtype == ASSAY_STRING) {
    *(assay_text *)out = (assay_text){"", 0};
  }
  if (value != NULL && tensor_count(value) != 1) {
    return status_make(ASSAY_SHAPE_CONFLICT, run->node->label, "the constant of Pad must be one element");
  }
  if (value != NULL) {
    memcpy(out, value->data, scalar.bytes);
  } else if (run->node->opset < 11 && dtype_is_float(in->dtype)) {
    tensor_set(&scalar, 0, (double)node_attribute_float(run->node, "value", 0));
  }
  return status_ok();
}

assay_status run_pad(struct op_run *run) {
  const assay_tensor *in = run->inputs[0];
  bool old = run->node->opset < 11;
  enum pad_mode mode;
  int64_t *list, *axes, dims[ASSAY_RANK_MAX];
  int32_t n, n_axes;
  struct pads pads;
  _Alignas(16) char value[sizeof(assay_text)];
  TRY(pad_mode(run->node, &mode));
  TRY(run_ints(run, old ? -1 : 1, pads_attribute(run->node), &list, &n));
  TRY(run_ints(run, old ? -1 : 3, NULL, &axes, &n_axes));
  TRY(pads_of(list, n, n_axes >= 0 ? axes : NULL, n_axes, in->rank, &pads));
  TRY(pad_value(run, value));
  struct pad_job job = {.in = in, .out = run->outputs[0], .element = element_size(in->dtype), .value = value};
  for (int d = 0; d < in->rank; d++) {
    TRY(padded(in->dims[d], pads.begin[d], pads.end[d], &dims[d]));
    if (in->dims[d] == 0 && dims[d] > 0 && mode != PAD_CONSTANT) {
      return status_make(ASSAY_SHAPE_CONFLICT, run->node->label, "axis %d is empty, so there is nothing to pad it with",
                         d);
    }
  }
  TRY(output_become(run, 0, in->dtype, dims, in->rank));
  int64_t stride = 1, rows = 1;
  for (int d = in->rank - 1; d >= 0; d--) {
    void *room;
    TRY(run->scratch(run, (size_t)(dims[d] + 1) * sizeof(int64_t), &room));
    int64_t *map = room;
    for (int64_t i = 0; i < dims[d]; i++) {
      map[i] = pad_source(mode, i - pads.begin[d], in->dims[d]);
    }
    job.maps[d] = map;
    job.strides[d] = stride;
    stride *= in->dims[d];
    rows *= d < in->rank - 1 ? dims[d] : 1;
  }
  if (in->rank == 0) {
    memcpy(run->outputs[0]->data, in->data, job.element);
    return status_ok();
  }
  pool_for(run->pool, dims[in->rank - 1] == 0 ? 0 : rows, 256, pad_rows, &job);
  return status_ok();
}
