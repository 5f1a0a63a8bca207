/* The weights of resizing and their application, one axis at a time. Everything is computed in double
 * in the order written, so that the answer is the same everywhere; nothing is rounded here unless
 * Pillow's 8-bit arithmetic is asked for. */
#include "contract/resize_image.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"

void resize_axis_free(struct resize_axis *axis) {
  memory_free(axis->first);
  memory_free(axis->weight);
  *axis = (struct resize_axis){0};
}

static assay_status axis_alloc(int64_t in, int64_t out, int64_t taps, struct resize_axis *axis) {
  size_t weights;
  *axis = (struct resize_axis){.in = in, .out = out, .taps = (int32_t)taps};
  if (taps > INT32_MAX || !size_mul((size_t)out, (size_t)taps, &weights)) {
    return status_make(ASSAY_LIMIT_EXCEEDED, NULL, "a resize from %lld to %lld elements is too large", (long long)in,
                       (long long)out);
  }
  axis->first = memory_alloc((size_t)out, sizeof *axis->first);
  axis->weight = memory_alloc(weights, sizeof *axis->weight);
  if (axis->first == NULL || axis->weight == NULL) {
    resize_axis_free(axis);
    return status_no_memory(weights * sizeof *axis->weight);
  }
  return status_ok();
}

static int64_t nearest_index(const struct resize_axis *axis, enum resize_coordinates coordinates, int64_t i) {
  switch (coordinates) {
    case RESIZE_ASYMMETRIC:
      return i * axis->in / axis->out;
    case RESIZE_ALIGN_CORNERS:
      return axis->out == 1 ? 0 : (2 * i * (axis->in - 1) + axis->out - 1) / (2 * (axis->out - 1));
    case RESIZE_HALF_PIXEL:
      break;
  }
  return (2 * i + 1) * axis->in / (2 * axis->out);
}

static double source_position(const struct resize_axis *axis, enum resize_coordinates coordinates, int64_t i) {
  double in = (double)axis->in, out = (double)axis->out, at = (double)i;
  switch (coordinates) {
    case RESIZE_ASYMMETRIC:
      return at * (in / out);
    case RESIZE_ALIGN_CORNERS:
      return axis->out == 1 ? 0 : at * ((in - 1) / (out - 1));
    case RESIZE_HALF_PIXEL:
      break;
  }
  return (at + 0.5) * (in / out) - 0.5;
}

/* Keys' cubic of a distance. */
static double cubic(double x, double a) {
  x = x < 0 ? -x : x;
  if (x < 1) {
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  }
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

static double triangle(double x) {
  x = x < 0 ? -x : x;
  return x < 1 ? 1 - x : 0;
}

static void make_nearest(struct resize_axis *axis, enum resize_coordinates coordinates) {
  for (int64_t i = 0; i < axis->out; i++) {
    axis->first[i] = nearest_index(axis, coordinates, i);
    axis->weight[i] = 1;
  }
}

static void make_bilinear(struct resize_axis *axis, enum resize_coordinates coordinates) {
  for (int64_t i = 0; i < axis->out; i++) {
    double position = source_position(axis, coordinates, i);
    position = position < 0 ? 0 : position;
    double whole = floor(position);
    axis->first[i] = (int64_t)whole;
    axis->weight[2 * i] = 1 - (position - whole);
    axis->weight[2 * i + 1] = position - whole;
  }
}

static void make_bicubic(struct resize_axis *axis, enum resize_coordinates coordinates) {
  for (int64_t i = 0; i < axis->out; i++) {
    double position = source_position(axis, coordinates, i), whole = floor(position);
    axis->first[i] = (int64_t)whole - 1;
    for (int64_t k = 0; k < 4; k++) {
      axis->weight[4 * i + k] = cubic(position - whole + 1 - (double)k, -0.75);
    }
  }
}

/* Overlaps in units of 1 / out, which makes them whole numbers. */
static void make_area(struct resize_axis *axis) {
  for (int64_t i = 0; i < axis->out; i++) {
    int64_t begin = i * axis->in, end = begin + axis->in;
    axis->first[i] = begin / axis->out;
    for (int64_t k = 0; k < axis->taps; k++) {
      int64_t left = (axis->first[i] + k) * axis->out, right = left + axis->out;
      int64_t overlap = (right < end ? right : end) - (left > begin ? left : begin);
      axis->weight[i * axis->taps + k] = overlap > 0 ? (double)overlap / (double)axis->in : 0;
    }
  }
}

/* Half the width of the filter on the source. */
static double antialias_support(int64_t in, int64_t out, enum resize_filter filter, double *filter_scale) {
  double scale = (double)in / (double)out;
  *filter_scale = scale < 1 ? 1 : scale;
  return (filter == RESIZE_BICUBIC ? 2.0 : 1.0) * *filter_scale;
}

static void make_antialias(struct resize_axis *axis, enum resize_filter filter) {
  double filter_scale;
  double support = antialias_support(axis->in, axis->out, filter, &filter_scale);
  double scale = (double)axis->in / (double)axis->out, inverse = 1.0 / filter_scale;
  for (int64_t i = 0; i < axis->out; i++) {
    double center = ((double)i + 0.5) * scale, sum = 0;
    int64_t begin = (int64_t)(center - support + 0.5), end = (int64_t)(center + support + 0.5);
    begin = begin < 0 ? 0 : begin;
    end = end > axis->in ? axis->in : end;
    double *weight = axis->weight + i * axis->taps;
    axis->first[i] = begin;
    for (int64_t k = 0; k < end - begin; k++) {
      double x = ((double)(k + begin) - center + 0.5) * inverse;
      weight[k] = filter == RESIZE_BICUBIC ? cubic(x, -0.5) : triangle(x);
      sum += weight[k];
    }
    for (int64_t k = 0; k < end - begin && sum != 0; k++) {
      weight[k] /= sum;
    }
  }
}

/* Pillow adds up the step from pixel to pixel, and with it the step's own rounding error. */
static void make_pillow_nearest(struct resize_axis *axis) {
  double step = (double)axis->in / (double)axis->out, position = step * 0.5;
  for (int64_t i = 0; i < axis->out; i++) {
    axis->first[i] = (int64_t)position;
    axis->weight[i] = 1;
    position += step;
  }
}

/* Positions in float, weights in 1/2048; beyond an edge a column takes the edge pixel whole, while a row
 * keeps its two weights and meets the edge row twice. */
static void make_opencv(struct resize_axis *axis, bool rows) {
  double scale = 1.0 / ((double)axis->out / (double)axis->in);
  for (int64_t i = 0; i < axis->out; i++) {
    float position = (float)(((double)i + 0.5) * scale - 0.5);
    int64_t first = (int64_t)floor((double)position);
    float fraction = position - (float)first;
    if (!rows && (first < 0 || first >= axis->in - 1)) {
      first = first < 0 ? 0 : axis->in - 1;
      fraction = 0;
    }
    axis->first[i] = first;
    axis->weight[2 * i] = nearbyint((double)((1.0F - fraction) * 2048.0F));
    axis->weight[2 * i + 1] = nearbyint((double)(fraction * 2048.0F));
  }
}

assay_status resize_axis_make(int64_t in, int64_t out, const struct preprocess_step *step, bool rows,
                              struct resize_axis *axis) {
  if (step->rounding == RESIZE_ROUND_OPENCV) {
    TRY(axis_alloc(in, out, 2, axis));
    make_opencv(axis, rows);
    return status_ok();
  }
  if (step->filter == RESIZE_NEAREST && step->rounding == RESIZE_ROUND_PILLOW) {
    TRY(axis_alloc(in, out, 1, axis));
    make_pillow_nearest(axis);
    return status_ok();
  }
  if (step->antialias) {
    double filter_scale;
    double support = antialias_support(in, out, step->filter, &filter_scale);
    TRY(axis_alloc(in, out, (int64_t)ceil(support) * 2 + 1, axis));
    make_antialias(axis, step->filter);
    return status_ok();
  }
  switch (step->filter) {
    case RESIZE_NEAREST:
      TRY(axis_alloc(in, out, 1, axis));
      make_nearest(axis, step->coordinates);
      return status_ok();
    case RESIZE_BILINEAR:
      TRY(axis_alloc(in, out, 2, axis));
      make_bilinear(axis, step->coordinates);
      return status_ok();
    case RESIZE_BICUBIC:
      TRY(axis_alloc(in, out, 4, axis));
      make_bicubic(axis, step->coordinates);
      return status_ok();
    case RESIZE_AREA:
      break;
  }
  TRY(axis_alloc(in, out, in / out + 2, axis));
  make_area(axis);
  return status_ok();
}

static int64_t clamp_index(int64_t i, int64_t count) { return i < 0 ? 0 : i >= count ? count - 1 : i; }

static double weighted_sum(const struct resize_axis *axis, int64_t i, int64_t inner, const double *in) {
  const double *weight = axis->weight + i * axis->taps;
  double sum = 0;
  for (int64_t k = 0; k < axis->taps; k++) {
    if (weight[k] != 0) { /* a tap without weight must not bring in a NaN */
      sum += weight[k] * in[clamp_index(axis->first[i] + k, axis->in) * inner];
    }
  }
  return sum;
}

/* Pillow's 8-bit arithmetic: weights of 22 fractional bits, one rounding. */
static double fixed_point_sum(const struct resize_axis *axis, int64_t i, int64_t inner, const double *in) {
  enum { BITS = 22 };
  const double *weight = axis->weight + i * axis->taps;
  int64_t sum = INT64_C(1) << (BITS - 1);
  for (int64_t k = 0; k < axis->taps; k++) {
    double scaled = weight[k] * (double)(1 << BITS);
    int64_t fixed = (int64_t)(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
    sum += fixed * (int64_t)in[clamp_index(axis->first[i] + k, axis->in) * inner];
  }
  int64_t value = sum < 0 ? 0 : sum >> BITS;
  return (double)(value > 255 ? 255 : value);
}

/* Each product loses its low bits before the two are added: 4 bits before, 16 after, 2 at the end. */
static double opencv_rows_sum(const struct resize_axis *axis, int64_t i, int64_t inner, const double *in) {
  int64_t sum = 2;
  for (int64_t k = 0; k < 2; k++) {
    int64_t value = (int64_t)in[clamp_index(axis->first[i] + k, axis->in) * inner];
    sum += ((int64_t)axis->weight[2 * i + k] * (value >> 4)) >> 16;
  }
  int64_t value = sum >> 2;
  return (double)(value < 0 ? 0 : value > 255 ? 255 : value);
}

void resize_along(const struct resize_axis *axis, int64_t outer, int64_t inner, enum resize_sum sum, const double *in,
                  double *out) {
  typedef double summing(const struct resize_axis *axis, int64_t i, int64_t inner, const double *in);
  static summing *const sums[] = {weighted_sum, fixed_point_sum, opencv_rows_sum};
  for (int64_t o = 0; o < outer; o++) {
    const double *from = in + o * axis->in * inner;
    double *to = out + o * axis->out * inner;
    for (int64_t i = 0; i < axis->out; i++) {
      for (int64_t j = 0; j < inner; j++) {
        to[i * inner + j] = sums[sum](axis, i, inner, from + j);
      }
    }
  }
}
