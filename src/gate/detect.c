/* Boxes: see detect.h. */
#include "gate/detect.h"

#include <math.h>
#include <stdlib.h>

#include "core/memory.h"

/* --- where a number stands ------------------------------------------------------------------ */

int64_t detect_images(const struct detections_source *source, const int64_t *dims, int32_t rank) {
  int64_t images = 1;
  for (int32_t d = 0; d < rank; d++) {
    images *= d == source->object_axis || d == source->component_axis ? 1 : dims[d];
  }
  return images;
}

/* Flat index of component c of an object of an image. */
static int64_t place(const struct detections_source *source, const int64_t *dims, int32_t rank, int64_t image,
                     int64_t object, int32_t component) {
  int64_t at = 0, stride = 1;
  for (int32_t d = rank - 1; d >= 0; d--) {
    int64_t index;
    if (d == source->object_axis) {
      index = object;
    } else if (d == source->component_axis) {
      index = component;
    } else {
      index = image % dims[d];
      image /= dims[d];
    }
    at += index * stride;
    stride *= dims[d];
  }
  return at;
}

static double box_number(const struct contract_detections *spec, const struct detect_view *view, int64_t image,
                         int64_t object, int32_t component) {
  return view->boxes[place(&spec->boxes, view->boxes_dims, view->boxes_rank, image, object, component)];
}

static double score_number(const struct contract_detections *spec, const struct detect_view *view, int64_t image,
                           int64_t object, int32_t class_index) {
  return view->scores[place(&spec->scores, view->scores_dims, view->scores_rank, image, object,
                            spec->class_components[class_index])];
}

struct detection detect_at(const struct contract_detections *spec, const struct detect_view *view, int64_t image,
                           int64_t object) {
  struct detection one = {.object = object, .distance = NAN};
  double b[4];
  for (int i = 0; i < 4; i++) {
    b[i] = box_number(spec, view, image, object, spec->box[i]);
  }
  switch (spec->layout) {
    case BOX_XYXY:
      one.x = (b[0] + b[2]) / 2, one.y = (b[1] + b[3]) / 2, one.w = b[2] - b[0], one.h = b[3] - b[1];
      break;
    case BOX_XYWH:
      one.x = b[0] + b[2] / 2, one.y = b[1] + b[3] / 2, one.w = b[2], one.h = b[3];
      break;
    case BOX_CXCYWH:
      one.x = b[0], one.y = b[1], one.w = b[2], one.h = b[3];
      break;
  }
  one.score = score_number(spec, view, image, object, 0);
  for (int32_t c = 1; c < spec->n_classes; c++) {
    double score = score_number(spec, view, image, object, c);
    if (isnan(score) || score > one.score) { /* NaN stays: nothing is above it */
      one.score = isnan(one.score) ? one.score : score;
      one.class_number = isnan(score) ? one.class_number : c;
    }
  }
  if (spec->class_component >= 0) {
    double number = box_number(spec, view, image, object, spec->class_component);
    one.class_number = number >= 0 && number <= INT32_MAX ? (int32_t)lround(number) : -1;
  }
  if (spec->distance_component >= 0) {
    one.distance = box_number(spec, view, image, object, spec->distance_component);
  }
  return one;
}

/* --- overlap ---------------------------------------------------------------------------------------- */

static double overlap(double a, double a_size, double b, double b_size) {
  double low = fmax(a - a_size / 2, b - b_size / 2), high = fmin(a + a_size / 2, b + b_size / 2);
  return high > low ? high - low : 0.0;
}

static double area(const struct detection *one) { return one->w > 0 && one->h > 0 ? one->w * one->h : 0.0; }

static bool has_nan(const struct detection *one) {
  return isnan(one->x) || isnan(one->y) || isnan(one->w) || isnan(one->h);
}

double detection_iou(const struct detection *a, const struct detection *b) {
  if (has_nan(a) || has_nan(b)) {
    return NAN;
  }
  double both = area(a) > 0 && area(b) > 0 ? overlap(a->x, a->w, b->x, b->w) * overlap(a->y, a->h, b->y, b->h) : 0.0;
  double either = area(a) + area(b) - both;
  return either > 0 ? both / either : 0.0;
}

/* --- one image ----------------------------------------------------------------------------------------- */

/* Best first; the lower index of equals. */
static int compare_scores(const void *left, const void *right) {
  const struct detection *a = left, *b = right;
  if (a->score != b->score) {
    return a->score > b->score ? -1 : 1;
  }
  return (a->object > b->object) - (a->object < b->object);
}

static bool is_covered(const struct contract_detections *spec, const struct detection *kept, size_t n,
                       const struct detection *one) {
  for (size_t i = 0; i < n && !isnan(spec->nms); i++) {
    if (kept[i].class_number == one->class_number && detection_iou(&kept[i], one) > spec->nms) {
      return true;
    }
  }
  return false;
}

static size_t thin_out(const struct contract_detections *spec, struct detection *items, size_t n) {
  size_t kept = 0;
  for (size_t i = 0; i < n; i++) {
    if (!is_covered(spec, items, kept, &items[i])) {
      items[kept++] = items[i];
    }
  }
  return kept;
}

static bool is_above(const struct contract_detections *spec, double score) {
  const struct decision decision = {
      .kind = DECISION_THRESHOLD, .threshold = spec->threshold, .at_or_above = spec->at_or_above};
  return decision_is_positive(&decision, score, spec->scores.output->dtype);
}

/* A box that is not finite would be found everywhere or nowhere. */
static bool is_finite(const struct detection *one) {
  return isfinite(one->x) && isfinite(one->y) && isfinite(one->w) && isfinite(one->h) && isfinite(one->score);
}

static int64_t rows_of(const struct contract_detections *spec, const struct detect_view *view, int64_t image) {
  int64_t rows = view->boxes_dims[spec->boxes.object_axis], scored = view->scores_dims[spec->scores.object_axis];
  rows = scored < rows ? scored : rows;
  if (view->count == NULL) {
    return rows;
  }
  double count = image < view->n_count ? view->count[image] : 0.0;
  return count >= (double)rows ? rows : count > 0 ? (int64_t)count : 0;
}

/* The distance to the threshold of what nearly is a detection, and of what nearly is none. */
static double margin_of(const struct contract_detections *spec, const struct detect_view *view, int64_t image,
                        int64_t rows, const struct detection_set *set) {
  double margin = INFINITY, best = -INFINITY;
  for (size_t i = 0; i < set->n; i++) {
    margin = fmin(margin, fabs(set->items[i].score - spec->threshold));
  }
  for (int64_t object = 0; object < rows; object++) {
    struct detection one = detect_at(spec, view, image, object);
    bool near = one.score > best && !is_above(spec, one.score);
    if (near && !is_covered(spec, set->items, set->n, &one)) {
      best = one.score;
    }
  }
  return fmin(margin, fabs(spec->threshold - best));
}

assay_status detect(const struct contract_detections *spec, const struct detect_view *view, int64_t image,
                    struct detection_set *out) {
  int64_t rows = rows_of(spec, view, image);
  *out = (struct detection_set){.items = memory_alloc((size_t)rows + 1, sizeof *out->items), .margin = INFINITY};
  if (out->items == NULL) {
    return status_no_memory((size_t)rows * sizeof *out->items);
  }
  for (int64_t object = 0; object < rows; object++) {
    struct detection one = detect_at(spec, view, image, object);
    bool above = is_above(spec, one.score);
    out->nonfinite += isnan(one.score) || (above && !is_finite(&one));
    if (above) {
      out->items[out->n++] = one;
    }
  }
  if (out->n > 1) {
    qsort(out->items, out->n, sizeof *out->items, compare_scores);
  }
  out->n = out->n > (size_t)spec->candidates ? (size_t)spec->candidates : out->n;
  out->n = thin_out(spec, out->items, out->n);
  out->margin = margin_of(spec, view, image, rows, out);
  return status_ok();
}

/* --- two sides ----------------------------------------------------------------------------------------------- */

void detections_match(const struct detection *expected, size_t n_expected, const struct detection *actual,
                      size_t n_actual, double least, int64_t *partner, bool *taken) {
  for (size_t j = 0; j < n_actual; j++) {
    taken[j] = false;
  }
  for (size_t i = 0; i < n_expected; i++) {
    double best = -1.0;
    partner[i] = -1;
    for (size_t j = 0; j < n_actual; j++) {
      double iou = taken[j] || actual[j].class_number != expected[i].class_number
                       ? NAN
                       : detection_iou(&expected[i], &actual[j]);
      if (iou >= least && iou > best) { /* NaN is neither */
        best = iou;
        partner[i] = (int64_t)j;
      }
    }
    if (partner[i] >= 0) {
      taken[partner[i]] = true;
    }
  }
}

static double worth(enum detection_target target, const struct detection *one) {
  switch (target) {
    case TARGET_LARGEST:
      return area(one);
    case TARGET_NEAREST:
      return -one->distance;
    default:
      return one->score;
  }
}

int64_t detections_target(enum detection_target target, const struct detection *items, size_t n) {
  int64_t chosen = -1;
  double best = NAN;
  for (size_t i = 0; i < n; i++) {
    double now = worth(target, &items[i]);
    bool better = !isnan(now) && (isnan(best) || now > best || (now == best && items[i].object < items[chosen].object));
    if (better) {
      best = now;
      chosen = (int64_t)i;
    }
  }
  return chosen >= 0 || n == 0 ? chosen : 0; /* nothing can be told apart: the first */
}
