/* What a Resize or Upsample node asks of each axis, and which input elements with which weights make each output
 * coordinate. Shared by inferring and computing. */
#ifndef OPS_RESIZE_PLAN_H
#define OPS_RESIZE_PLAN_H

#include "ops/operators.h"

struct resize_axis {
  int64_t in, out;
  float scale;
  float roi_start, roi_end; /* tf_crop_and_resize alone */
};

/* Fills in `axes` for dims of the given rank from scales (a tensor, or the attribute before opset 9) or sizes,
 * whichever is not NULL; roi may be NULL. */
ASSAY_MUST_CHECK assay_status resize_axes(const struct node *node, const int64_t *dims, int rank,
                                          const assay_tensor *roi, const assay_tensor *scales,
                                          const assay_tensor *sizes, struct resize_axis *axes);

enum resize_mode { RESIZE_NEAREST, RESIZE_LINEAR, RESIZE_CUBIC };
enum resize_coordinate {
  COORDINATE_HALF_PIXEL,
  COORDINATE_HALF_PIXEL_SYMMETRIC,
  COORDINATE_PYTORCH_HALF_PIXEL,
  COORDINATE_ALIGN_CORNERS,
  COORDINATE_ASYMMETRIC,
  COORDINATE_TF_HALF_PIXEL_FOR_NN,
  COORDINATE_TF_CROP_AND_RESIZE
};
enum resize_nearest { NEAREST_PREFER_FLOOR, NEAREST_PREFER_CEIL, NEAREST_FLOOR, NEAREST_CEIL };

/* The attributes, with the defaults of the node's version. */
struct resize_settings {
  enum resize_mode mode;
  enum resize_coordinate coordinate;
  enum resize_nearest nearest;
  double cubic_a;
  bool exclude_outside, antialias;
  float extrapolation;
};
ASSAY_MUST_CHECK assay_status resize_settings_of(const struct node *node, struct resize_settings *out);

/* Where output coordinate i lies in the input, in float as the runtimes compute it. */
float resize_coordinate_of(const struct resize_settings *settings, const struct resize_axis *axis, int64_t i);
/* True when tf_crop_and_resize looks outside of the input there. */
bool resize_is_outside(const struct resize_settings *settings, const struct resize_axis *axis, float x);
/* The input index that nearest takes at x. */
int64_t resize_nearest_of(const struct resize_settings *settings, const struct resize_axis *axis, float x);

/* Taps of linear and cubic: how many there are for an axis, and for x their first index (edges are repeated, so it may
 * lie outside) and weights, which add up to 1. */
int64_t resize_tap_count(const struct resize_settings *settings, const struct resize_axis *axis);
int64_t resize_taps(const struct resize_settings *settings, const struct resize_axis *axis, float x, double *weights);

#endif
