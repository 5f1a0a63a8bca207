/* Windows that slide over spatial axes. Every number of the file is bounded here before it is multiplied. */
#include "ops/window.h"

enum { SIZE_MOST = 1 << 30 }; /* of a kernel, stride, dilation or padding */

/* `count` integers of an attribute within bounds, into the last axes; `otherwise` where the attribute is absent. */
static assay_status read_ints(const struct node *node, const char *name, int rank, int64_t low, int64_t otherwise,
                              int64_t *first, int64_t *second) {
  int32_t count;
  const int64_t *values = node_attribute_ints(node, name, &count);
  int expected = second == NULL ? rank : 2 * rank;
  if (values != NULL && count != expected) {
    return status_make(ASSAY_NODE_INVALID, NULL, "attribute %s has %d values, expected %d for %d spatial axes", name,
                       (int)count, expected, rank);
  }
  for (int i = 0; i < expected; i++) {
    int64_t value = values == NULL ? otherwise : values[i];
    if (value < low || value > SIZE_MOST) {
      return status_make(ASSAY_NODE_INVALID, NULL, "attribute %s holds %lld, expected %lld to %d", name,
                         (long long)value, (long long)low, SIZE_MOST);
    }
    int64_t *to = i < rank ? first : second;
    to[WINDOW_AXES - rank + i % rank] = value;
  }
  return status_ok();
}

static void set_all(int64_t *values, int64_t value) {
  for (int i = 0; i < WINDOW_AXES; i++) {
    values[i] = value;
  }
}

enum padding { PADDING_GIVEN, PADDING_NONE, PADDING_SAME_UPPER, PADDING_SAME_LOWER };

static assay_status read_padding(const struct node *node, enum padding *out) {
  *out = PADDING_GIVEN;
  const struct attribute *a = node_attribute(node, "auto_pad");
  if (a == NULL || node_attribute_is(node, "auto_pad", "NOTSET", true) ||
      node_attribute_is(node, "auto_pad", "", true)) {
    return status_ok();
  }
  if (node_attribute_is(node, "auto_pad", "VALID", false)) {
    *out = PADDING_NONE;
  } else if (node_attribute_is(node, "auto_pad", "SAME_UPPER", false)) {
    *out = PADDING_SAME_UPPER;
  } else if (node_attribute_is(node, "auto_pad", "SAME_LOWER", false)) {
    *out = PADDING_SAME_LOWER;
  } else {
    return status_make(ASSAY_NODE_INVALID, NULL,
                       "attribute auto_pad is '%.*s', expected NOTSET, VALID, SAME_UPPER or SAME_LOWER",
                       (int)(a->s.length < 40 ? a->s.length : 40), a->s.data);
  }
  return status_ok();
}

/* Everything but in, out and automatic padding. */
static assay_status read_attributes(const struct node *node, int rank, const int64_t *kernel, struct window *w) {
  if (rank < 1 || rank > WINDOW_AXES) {
    return status_make(ASSAY_NODE_INVALID, NULL, "%s over %d spatial axes is not supported, expected 1 to %d",
                       node->op_type, rank, WINDOW_AXES);
  }
  *w = (struct window){.rank = rank};
  set_all(w->in, 1);
  set_all(w->out, 1);
  set_all(w->kernel, 1);
  set_all(w->stride, 1);
  set_all(w->dilation, 1);
  TRY(read_ints(node, "kernel_shape", rank, 1, 1, w->kernel, NULL));
  TRY(read_ints(node, "strides", rank, 1, 1, w->stride, NULL));
  TRY(read_ints(node, "dilations", rank, 1, 1, w->dilation, NULL));
  TRY(read_ints(node, "pads", rank, 0, 0, w->pad_begin, w->pad_end));
  bool given = node_attribute(node, "kernel_shape") != NULL;
  if (!given && kernel == NULL) {
    return status_make(ASSAY_NODE_INVALID, NULL, "%s has no attribute kernel_shape", node->op_type);
  }
  for (int i = 0; kernel != NULL && i < rank; i++) {
    int64_t *size = &w->kernel[WINDOW_AXES - rank + i];
    if (kernel[i] < 1 || kernel[i] > SIZE_MOST || (given && *size != kernel[i])) {
      return status_make(ASSAY_SHAPE_CONFLICT, NULL,
                         "the weights have %lld elements along spatial axis %d, expected %lld as kernel_shape says",
                         (long long)kernel[i], i, (long long)*size);
    }
    *size = kernel[i];
  }
  return status_ok();
}

/* What the kernel spans with its dilation. */
static int64_t window_span(const struct window *w, int axis) { return (w->kernel[axis] - 1) * w->dilation[axis] + 1; }

static assay_status check_size(int64_t in, int axis) {
  if (in > INT32_MAX) {
    return status_make(ASSAY_LIMIT_EXCEEDED, NULL, "spatial axis %d has %lld elements, and at most %d are supported",
                       axis, (long long)in, INT32_MAX);
  }
  return status_ok();
}

assay_status window_read(const struct node *node, const struct dim *dims, int rank, const int64_t *kernel,
                         bool may_ceil, struct window *out) {
  enum padding padding;
  TRY(read_attributes(node, rank, kernel, out));
  TRY(read_padding(node, &padding));
  bool ceil = may_ceil && node_attribute_int(node, "ceil_mode", 0) != 0;
  for (int i = 0; i < rank; i++) {
    int axis = WINDOW_AXES - rank + i;
    int64_t in = dims[i].value, stride = out->stride[axis], span = window_span(out, axis);
    if (padding == PADDING_NONE) {
      out->pad_begin[axis] = out->pad_end[axis] = 0;
    }
    out->in[axis] = in;
    if (in < 0) {
      out->in[axis] = out->out[axis] = DIM_UNKNOWN;
      continue;
    }
    TRY(check_size(in, i));
    if (padding == PADDING_SAME_UPPER || padding == PADDING_SAME_LOWER) {
      out->out[axis] = (in + stride - 1) / stride;
      int64_t total = (out->out[axis] - 1) * stride + span - in, half = total > 0 ? total / 2 : 0;
      int64_t rest = total > 0 ? total - half : 0;
      out->pad_begin[axis] = padding == PADDING_SAME_UPPER ? half : rest;
      out->pad_end[axis] = padding == PADDING_SAME_UPPER ? rest : half;
      continue;
    }
    int64_t room = in + out->pad_begin[axis] + out->pad_end[axis] - span;
    if (room < 0) {
      return status_make(ASSAY_SHAPE_CONFLICT, NULL,
                         "the window spans %lld elements along spatial axis %d, and the padded input has only %lld",
                         (long long)span, i, (long long)(room + span));
    }
    out->out[axis] = (ceil ? (room + stride - 1) / stride : room / stride) + 1;
    /* A window that would begin in the padding at the end is left out. */
    if (ceil && (out->out[axis] - 1) * stride >= in + out->pad_begin[axis]) {
      out->out[axis]--;
    }
    TRY(check_size(out->out[axis], i));
  }
  return status_ok();
}

assay_status window_read_transposed(const struct node *node, const struct dim *dims, int rank, const int64_t *kernel,
                                    struct window *out) {
  enum padding padding;
  TRY(read_attributes(node, rank, kernel, out));
  TRY(read_padding(node, &padding));
  int64_t extra[WINDOW_AXES] = {0}, shape[WINDOW_AXES] = {0};
  TRY(read_ints(node, "output_padding", rank, 0, 0, extra, NULL));
  bool given = node_attribute(node, "output_shape") != NULL;
  if (given) {
    TRY(read_ints(node, "output_shape", rank, 1, 1, shape, NULL));
  }
  for (int i = 0; i < rank; i++) {
    int axis = WINDOW_AXES - rank + i;
    int64_t in = dims[i].value, stride = out->stride[axis], *begin = &out->pad_begin[axis], *end = &out->pad_end[axis];
    if (padding == PADDING_NONE) {
      *begin = *end = 0;
    }
    out->in[axis] = in;
    out->out[axis] = given ? shape[axis] : DIM_UNKNOWN;
    if (in < 0) {
      continue;
    }
    TRY(check_size(in, i));
    int64_t whole = stride * (in - 1) + extra[axis] + window_span(out, axis), total = 0;
    bool same = padding == PADDING_SAME_UPPER || padding == PADDING_SAME_LOWER;
    if (given || same) {
      out->out[axis] = given ? shape[axis] : in * stride;
      total = whole - out->out[axis];
      total = total < 0 ? 0 : total;
      *begin = padding == PADDING_SAME_UPPER ? total / 2 : total - total / 2;
      *end = total - *begin;
    } else {
      out->out[axis] = whole - *begin - *end;
    }
    if (out->out[axis] < 1) {
      return status_make(ASSAY_SHAPE_CONFLICT, NULL, "spatial axis %d of the output would have %lld elements", i,
                         (long long)out->out[axis]);
    }
    TRY(check_size(out->out[axis], i));
  }
  return status_ok();
}

assay_status window_check_area(const struct window *w) {
  int64_t in, out, kernel;
  if (!shape_count(w->in, WINDOW_AXES, &in) || !shape_count(w->out, WINDOW_AXES, &out) ||
      !shape_count(w->kernel, WINDOW_AXES, &kernel)) {
    return status_make(ASSAY_LIMIT_EXCEEDED, NULL, "the spatial axes are more than memory can hold");
  }
  return status_ok();
}
