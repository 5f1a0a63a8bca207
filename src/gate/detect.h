/* Boxes read from outputs, and matched: pure functions over arrays of doubles. Deterministic: ties go to the lower
 * index. A box or score that is not a number matches nothing. */
#ifndef GATE_DETECT_H
#define GATE_DETECT_H

#include "contract/detections.h"

struct detection {
  double x, y, w, h; /* centre and size */
  double score, distance;
  int32_t class_number; /* index into class_names, or the number in the class component */
  int64_t object;       /* place along the axis of objects */
};

/* One side: decoded values in their tensors' order, with their shapes. */
struct detect_view {
  const double *boxes, *scores, *count; /* count NULL: all rows; else one an image */
  int32_t boxes_rank, scores_rank;
  const int64_t *boxes_dims, *scores_dims;
  int64_t n_count;
};

struct detection_set {
  struct detection *items; /* best score first; ended with memory_free */
  size_t n;
  int64_t
      nonfinite; /* rows that count with a NaN or infinity in score or box, at or above the threshold or not a number */
  double margin; /* how far the score nearest to the threshold is from it, among what no better box covers; INFINITY */
};

/* How many images the tensors hold: the product of what is neither the objects' nor the components' axis. */
int64_t detect_images(const struct detections_source *source, const int64_t *dims, int32_t rank);
/* The detections of one image: the best candidates above the threshold, thinned out by overlap. */
ASSAY_MUST_CHECK assay_status detect(const struct contract_detections *spec, const struct detect_view *view,
                                     int64_t image, struct detection_set *out);
/* The box of an object, whatever its score. */
struct detection detect_at(const struct contract_detections *spec, const struct detect_view *view, int64_t image,
                           int64_t object);

/* Intersection over union; NAN where a number is NAN, 0 where both are empty. */
double detection_iou(const struct detection *a, const struct detection *b);
/* Each of `expected`, best first, takes the free one of `actual` of its class that overlaps it most, by
 * `least` at least. partner[i] is its index in `actual`, -1: missed. taken[j] says that actual j was taken. */
void detections_match(const struct detection *expected, size_t n_expected, const struct detection *actual,
                      size_t n_actual, double least, int64_t *partner, bool *taken);
/* The one chosen; -1 where there is none. */
int64_t detections_target(enum detection_target target, const struct detection *items, size_t n);

#endif
