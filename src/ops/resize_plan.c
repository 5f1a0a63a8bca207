/* Attributes, sizes, coordinates and weights of Resize and Upsample. Must give every runtime's decisions: coordinates
 * are computed in float, where 1 / 0.33333334 is 3. */
#include "ops/resize_plan.h"

#include <string.h>

#include "ops/infer_help.h"
#include "ops/numbers.h"

/* --- attributes -------------------------------------------------------------- */

struct word {
  const char *name;
  int value;
  int64_t since, until;
};

static assay_status choose_word(const struct node *node, const char *attribute, const struct word *words, size_t n,
                                int otherwise, int *out) {
  const struct attribute *given = node_attribute(node, attribute);
  *out = otherwise;
  if (given == NULL) {
    return status_ok();
  }
  for (size_t i = 0; i < n; i++) {
    if (node_attribute_is(node, attribute, words[i].name, false) && node->opset >= words[i].since &&
        node->opset <= words[i].until) {
      *out = words[i].value;
      return status_ok();
    }
  }
  return status_make(ASSAY_NODE_INVALID, NULL, "%s of %s is '%.*s', which opset %lld does not have", attribute,
                     node->op_type, (int)(given->kind == ATTRIBUTE_STRING ? given->s.length : 0),
                     given->kind == ATTRIBUTE_STRING ? given->s.data : "", (long long)node->opset);
}

assay_status resize_settings_of(const struct node *node, struct resize_settings *out) {
  static const struct word modes[] = {{"nearest", RESIZE_NEAREST, 1, 28},
                                      {"linear", RESIZE_LINEAR, 1, 28},
                                      {"bilinear", RESIZE_LINEAR, 1, 6},
                                      {"cubic", RESIZE_CUBIC, 11, 28}};
  static const struct word coordinates[] = {{"half_pixel", COORDINATE_HALF_PIXEL, 11, 28},
                                            {"half_pixel_symmetric", COORDINATE_HALF_PIXEL_SYMMETRIC, 19, 28},
                                            {"pytorch_half_pixel", COORDINATE_PYTORCH_HALF_PIXEL, 11, 28},
                                            {"align_corners", COORDINATE_ALIGN_CORNERS, 11, 28},
                                            {"asymmetric", COORDINATE_ASYMMETRIC, 11, 28},
                                            {"tf_half_pixel_for_nn", COORDINATE_TF_HALF_PIXEL_FOR_NN, 11, 12},
                                            {"tf_crop_and_resize", COORDINATE_TF_CROP_AND_RESIZE, 11, 28}};
  static const struct word nearest[] = {{"round_prefer_floor", NEAREST_PREFER_FLOOR, 11, 28},
                                        {"round_prefer_ceil", NEAREST_PREFER_CEIL, 11, 28},
                                        {"floor", NEAREST_FLOOR, 11, 28},
                                        {"ceil", NEAREST_CEIL, 11, 28}};
  /* Until opset 10 coordinates are asymmetric and nearest rounds down (fault 2). */
  bool old = node->opset < 11;
  int mode, coordinate, rounding;
  TRY(choose_word(node, "mode", modes, sizeof modes / sizeof *modes, RESIZE_NEAREST, &mode));
  TRY(choose_word(node, "coordinate_transformation_mode", coordinates, sizeof coordinates / sizeof *coordinates,
                  old ? COORDINATE_ASYMMETRIC : COORDINATE_HALF_PIXEL, &coordinate));
  TRY(choose_word(node, "nearest_mode", nearest, sizeof nearest / sizeof *nearest,
                  old ? NEAREST_FLOOR : NEAREST_PREFER_FLOOR, &rounding));
  *out = (struct resize_settings){.mode = (enum resize_mode)mode,
                                  .coordinate = (enum resize_coordinate)coordinate,
                                  .nearest = (enum resize_nearest)rounding,
                                  .cubic_a = (double)node_attribute_float(node, "cubic_coeff_a", -0.75F),
                                  .exclude_outside = node_attribute_int(node, "exclude_outside", 0) != 0,
                                  .antialias = node_attribute_int(node, "antialias", 0) != 0,
                                  .extrapolation = node_attribute_float(node, "extrapolation_value", 0.0F)};
  return status_ok();
}

/* --- sizes --------------------------------------------------------------------- */

/* The axes that scales, sizes and roi speak of, all of them unless `axes` says which. */
static assay_status chosen_axes(const struct node *node, int rank, int *chosen, int *count) {
  int32_t n;
  const int64_t *axes = node_attribute_ints(node, "axes", &n);
  *count = axes == NULL ? rank : (int)n;
  bool seen[ASSAY_RANK_MAX] = {false};
  if (*count > rank) {
    return status_make(ASSAY_NODE_INVALID, NULL, "Resize names %d axes of a tensor of rank %d", *count, rank);
  }
  for (int i = 0; i < *count; i++) {
    chosen[i] = i;
    if (axes != NULL) {
      TRY(axis_normalise("an element of axes", axes[i], rank, &chosen[i]));
    }
    if (seen[chosen[i]]) {
      return status_make(ASSAY_NODE_INVALID, NULL, "axis %d stands twice in axes of Resize", chosen[i]);
    }
    seen[chosen[i]] = true;
  }
  return status_ok();
}

static assay_status size_from_scale(struct resize_axis *axis, float scale, bool crops) {
  float extent = crops ? axis->roi_end - axis->roi_start : 1.0F;
  float size = (float)axis->in * extent * scale;
  if (!(scale > 0.0F) || !(size >= 0.0F && size < 0x1p40F)) {
    return status_make(ASSAY_NODE_VALUE, NULL, "scale %g of a dimension of %lld is out of range", (double)scale,
                       (long long)axis->in);
  }
  axis->scale = scale;
  axis->out = (int64_t)size; /* rounded down */
  return status_ok();
}

/* One scale for all: the least or greatest of what the sizes ask. */
static void keep_aspect(struct resize_axis *axes, const int *chosen, int n, bool least) {
  float scale = axes[chosen[0]].scale;
  for (int i = 1; i < n; i++) {
    float other = axes[chosen[i]].scale;
    scale = least ? (other < scale ? other : scale) : (other > scale ? other : scale);
  }
  for (int i = 0; i < n; i++) {
    struct resize_axis *axis = &axes[chosen[i]];
    axis->scale = scale;
    axis->out = (int64_t)((double)scale * (double)axis->in + 0.5);
  }
}

static assay_status sizes_given(const struct node *node, const assay_tensor *sizes, const int *chosen, int n,
                                struct resize_axis *axes) {
  for (int i = 0; i < n; i++) {
    struct resize_axis *axis = &axes[chosen[i]];
    axis->out = number_get_i64(sizes, i);
    if (axis->out < 0 || axis->out > INT64_C(1) << 40 || (axis->in == 0 && axis->out != 0)) {
      return status_make(ASSAY_NODE_VALUE, NULL, "size %lld asked of a dimension of %lld is out of range",
                         (long long)axis->out, (long long)axis->in);
    }
    axis->scale = axis->in > 0 ? (float)axis->out / (float)axis->in : 1.0F;
  }
  bool least = node_attribute_is(node, "keep_aspect_ratio_policy", "not_larger", false);
  bool most = node_attribute_is(node, "keep_aspect_ratio_policy", "not_smaller", false);
  if (n > 0 && (least || most)) {
    keep_aspect(axes, chosen, n, least);
  }
  return status_ok();
}

static assay_status want_count(const char *what, int64_t found, int64_t expected) {
  return found == expected ? status_ok()
                           : status_make(ASSAY_SHAPE_CONFLICT, NULL, "%s of Resize has %lld elements, expected %lld",
                                         what, (long long)found, (long long)expected);
}

assay_status resize_axes(const struct node *node, const int64_t *dims, int rank, const assay_tensor *roi,
                         const assay_tensor *scales, const assay_tensor *sizes, struct resize_axis *axes) {
  int chosen[ASSAY_RANK_MAX], n;
  TRY(chosen_axes(node, rank, chosen, &n));
  bool crops = node_attribute_is(node, "coordinate_transformation_mode", "tf_crop_and_resize", false);
  for (int d = 0; d < rank; d++) {
    axes[d] = (struct resize_axis){.in = dims[d], .out = dims[d], .scale = 1.0F, .roi_end = 1.0F};
  }
  if (crops) {
    TRY(want_count("roi", roi != NULL ? tensor_count(roi) : 0, 2 * (int64_t)n));
    for (int i = 0; i < n; i++) {
      axes[chosen[i]].roi_start = number_get_f32(roi, i);
      axes[chosen[i]].roi_end = number_get_f32(roi, n + i);
    }
  }
  if (sizes != NULL) {
    TRY(want_count("sizes", tensor_count(sizes), n));
    return sizes_given(node, sizes, chosen, n, axes);
  }
  int32_t n_attribute = 0;
  const float *attribute = scales == NULL ? node_attribute_floats(node, "scales", &n_attribute) : NULL;
  TRY(want_count("scales", scales != NULL ? tensor_count(scales) : n_attribute, n));
  for (int i = 0; i < n; i++) {
    TRY(size_from_scale(&axes[chosen[i]], scales != NULL ? number_get_f32(scales, i) : attribute[i], crops));
  }
  return status_ok();
}

/* --- coordinates ------------------------------------------------------------------ */

static float floor_of(float x) {
  float whole = x < 0x1p23F && x > -0x1p23F ? (float)(int32_t)x : x;
  return whole > x ? whole - 1.0F : whole;
}

float resize_coordinate_of(const struct resize_settings *settings, const struct resize_axis *axis, int64_t i) {
  float x = (float)i, in = (float)axis->in, out = (float)axis->out;
  switch (settings->coordinate) {
    case COORDINATE_PYTORCH_HALF_PIXEL:
      return axis->out > 1 ? (x + 0.5F) / axis->scale - 0.5F : 0.0F;
    case COORDINATE_ALIGN_CORNERS:
      return axis->out > 1 ? x * (in - 1.0F) / (out - 1.0F) : 0.0F;
    case COORDINATE_ASYMMETRIC:
      return x / axis->scale;
    case COORDINATE_TF_HALF_PIXEL_FOR_NN:
      return (x + 0.5F) / axis->scale;
    case COORDINATE_TF_CROP_AND_RESIZE:
      return axis->out > 1
                 ? axis->roi_start * (in - 1.0F) + x * (axis->roi_end - axis->roi_start) * (in - 1.0F) / (out - 1.0F)
                 : 0.5F * (axis->roi_start + axis->roi_end) * (in - 1.0F);
    case COORDINATE_HALF_PIXEL_SYMMETRIC: {
      float adjustment = out / (axis->scale * in);
      return in / 2.0F * (1.0F - adjustment) + (x + 0.5F) / axis->scale - 0.5F;
    }
    case COORDINATE_HALF_PIXEL:
      break;
  }
  return (x + 0.5F) / axis->scale - 0.5F;
}

bool resize_is_outside(const struct resize_settings *settings, const struct resize_axis *axis, float x) {
  return settings->coordinate == COORDINATE_TF_CROP_AND_RESIZE && !(x >= 0.0F && x <= (float)(axis->in - 1));
}

static int64_t clamped(int64_t i, int64_t n) { return i < 0 ? 0 : (i >= n ? n - 1 : i); }

int64_t resize_nearest_of(const struct resize_settings *settings, const struct resize_axis *axis, float x) {
  float whole = floor_of(x), part = x - whole;
  bool up = false;
  switch (settings->nearest) {
    case NEAREST_PREFER_FLOOR:
      up = part > 0.5F;
      break;
    case NEAREST_PREFER_CEIL:
      up = part >= 0.5F;
      break;
    case NEAREST_CEIL:
      up = part > 0.0F;
      break;
    case NEAREST_FLOOR:
      break;
  }
  return clamped((int64_t)whole + (up ? 1 : 0), axis->in);
}

/* --- weights ------------------------------------------------------------------------ */

static double cubic_weight(double distance, double a) {
  double x = distance < 0 ? -distance : distance;
  if (x <= 1) {
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  }
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

static double linear_weight(double distance) {
  double x = distance < 0 ? -distance : distance;
  return x < 1 ? 1 - x : 0;
}

/* Antialiasing stretches the filter when the result is smaller. */
static double filter_scale(const struct resize_settings *settings, const struct resize_axis *axis) {
  return settings->antialias && axis->scale < 1.0F ? (double)axis->scale : 1.0;
}

/* Taps reach from `first_tap` below the floor of x on. */
static int64_t first_tap(const struct resize_settings *settings, const struct resize_axis *axis) {
  double reach = (settings->mode == RESIZE_CUBIC ? -2.0 : -1.0) / filter_scale(settings, axis);
  int64_t whole = (int64_t)reach;
  return (double)whole > reach ? whole : whole + 1; /* floor, plus 1 */
}

int64_t resize_tap_count(const struct resize_settings *settings, const struct resize_axis *axis) {
  return 2 - 2 * first_tap(settings, axis);
}

int64_t resize_taps(const struct resize_settings *settings, const struct resize_axis *axis, float x, double *weights) {
  float whole = floor_of(x);
  double ratio = (double)x - (double)whole, scale = filter_scale(settings, axis), sum = 0;
  if (ratio == 0) { /* the left neighbour is preferred: the tap at x comes second */
    ratio = 1;
    whole -= 1.0F;
  }
  int64_t start = first_tap(settings, axis), first = (int64_t)whole + start, n = resize_tap_count(settings, axis);
  for (int64_t i = 0; i < n; i++) {
    double distance = ((double)(start + i) - ratio) * scale;
    weights[i] = settings->mode == RESIZE_CUBIC ? cubic_weight(distance, settings->cubic_a) : linear_weight(distance);
    bool outside = first + i < 0 || first + i >= axis->in;
    weights[i] = settings->exclude_outside && outside ? 0 : weights[i];
    sum += weights[i];
  }
  if (settings->exclude_outside || scale < 1) {
    for (int64_t i = 0; i < n; i++) {
      weights[i] = weights[i] / sum;
    }
  }
  return first;
}
