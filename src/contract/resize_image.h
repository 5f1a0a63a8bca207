/* Resizing of images: the arithmetic alone, on planes of doubles. Private to contract/. */
#ifndef CONTRACT_RESIZE_IMAGE_H
#define CONTRACT_RESIZE_IMAGE_H

#include "contract/contract.h"

/* One axis: output i is the sum of weight[k] * in[clamp(first + k)], k ascending. */
struct resize_axis {
  int64_t in, out;
  int32_t taps;   /* per output, the same for all (weights of 0 pad) */
  int64_t *first; /* [out]; may lie outside, indices are clamped to [0, in - 1] */
  double *weight; /* [out][taps] */
};

/* The weights of one axis, by the conventions that docs/contract.md lists:
 * - nearest: half_pixel takes floor((i + 0.5) in / out), asymmetric floor(i in / out), align_corners the
 *   nearest of i (in - 1) / (out - 1), upwards on ties; exact in integers.
 * - bilinear, bicubic: source position (i + 0.5) in / out - 0.5, i in / out, or i (in - 1) / (out - 1),
 *   edges replicated; bicubic with A = -0.75.
 * - with antialias: the triangle or the cubic with A = -0.5, widened by in / out when that is above 1,
 *   cut at the edges and normalised: Pillow's weights.
 * - area: the overlap of source and target cells, exact in integers; it never enlarges.
 * With step->rounding opencv the weights are OpenCV's whole numbers of 1/2048; its columns treat the
 * edges another way than its rows, so `rows` says which axis this is. */
ASSAY_MUST_CHECK assay_status resize_axis_make(int64_t in, int64_t out, const struct preprocess_step *step, bool rows,
                                               struct resize_axis *axis);
void resize_axis_free(struct resize_axis *axis);

/* How the products are summed. */
enum resize_sum {
  RESIZE_SUM_DOUBLE,     /* in double, in the order of the taps, no rounding after */
  RESIZE_SUM_PILLOW,     /* weights of 22 fractional bits, half up, clipped to 0..255 */
  RESIZE_SUM_OPENCV_ROWS /* of what the columns left (1/2048 each), as OpenCV's vertical pass rounds */
};
/* in has [outer][axis->in][inner] doubles, out [outer][axis->out][inner]. */
void resize_along(const struct resize_axis *axis, int64_t outer, int64_t inner, enum resize_sum sum, const double *in,
                  double *out);

#endif
