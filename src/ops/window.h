/* Windows that slide over spatial axes: what Conv, ConvTranspose and the pools share. Reads and bounds the
 * attributes, and says how many outputs there are. Definitions: ONNX Conv and pooling operators. */
#ifndef OPS_WINDOW_H
#define OPS_WINDOW_H

#include "ops/infer_help.h"

enum { WINDOW_AXES = 3 };

/* Always three axes, the missing ones first, with size and kernel 1. */
struct window {
  int rank; /* axes that the tensor really has */
  int64_t in[WINDOW_AXES], out[WINDOW_AXES];
  int64_t kernel[WINDOW_AXES], stride[WINDOW_AXES], dilation[WINDOW_AXES];
  int64_t pad_begin[WINDOW_AXES], pad_end[WINDOW_AXES];
};

/* Attributes kernel_shape (or `kernel`, where the weights say it), strides, dilations, pads, auto_pad and, when
 * `may_ceil`, ceil_mode. dims are the spatial dims of the input; where one is not known, in and out are DIM_UNKNOWN. */
ASSAY_MUST_CHECK assay_status window_read(const struct node *node, const struct dim *dims, int rank,
                                          const int64_t *kernel, bool may_ceil, struct window *out);
/* The same for ConvTranspose: output_padding and output_shape, and out counts the other way. */
ASSAY_MUST_CHECK assay_status window_read_transposed(const struct node *node, const struct dim *dims, int rank,
                                                     const int64_t *kernel, struct window *out);

/* The input that tap `tap` of output `position` sees along an axis, or -1. */
static inline int64_t window_input(const struct window *w, int axis, int64_t tap, int64_t position) {
  int64_t i = position * w->stride[axis] - w->pad_begin[axis] + tap * w->dilation[axis];
  return i >= 0 && i < w->in[axis] ? i : -1;
}
/* The input that reaches output `position` through tap `tap` of a transposed convolution, or -1. */
static inline int64_t window_input_transposed(const struct window *w, int axis, int64_t tap, int64_t position) {
  int64_t i = position + w->pad_begin[axis] - tap * w->dilation[axis];
  return i >= 0 && i % w->stride[axis] == 0 && i / w->stride[axis] < w->in[axis] ? i / w->stride[axis] : -1;
}

/* The sizes of in and out can be multiplied: LIMIT_EXCEEDED otherwise. */
ASSAY_MUST_CHECK assay_status window_check_area(const struct window *w);
/* Elements of the three axes, once they were checked. */
static inline int64_t window_area(const int64_t *sizes) { return sizes[0] * sizes[1] * sizes[2]; }

#endif
