/* Detections of a rung against those of the reference, which are the truth here: found, missed and false ones, how far
 * boxes lie off, by size, distance and class, the target chosen, abstentions, and the age of the result. */
#ifndef GATE_DETECTION_LIST_H
#define GATE_DETECTION_LIST_H

#include "gate/detect.h"
#include "gate/plan.h"
#include "gate/result.h"

enum detection_fate { DETECTION_FOUND, DETECTION_MISSED, DETECTION_FALSE };

/* One detection of the reference, or a false one of the rung. */
struct detection_record {
  int32_t case_index, step;
  int64_t image;
  enum detection_fate fate;
  struct detection expected,
      actual; /* expected of a false one is empty; actual of a missed one is the box at its place */
  bool has_actual;
  double center, size, iou, score, distance; /* differences; NAN without an actual */
};

/* One image. */
struct detection_image {
  int32_t case_index, step;
  int64_t image, nonfinite;
  bool target_changed, abstention_changed, abstained; /* abstained: the reference */
  int64_t target_expected, target_actual;             /* objects; -1: none */
  double margin, age_ms;
};

struct detection_list {
  const struct plan_output *output;
  struct detection_record *records;
  struct detection_image *images;
  size_t n_records, n_images, records_capacity, images_capacity;
};

/* One list for every output with detections; in `arena`. */
ASSAY_MUST_CHECK assay_status detections_open(const struct plan *plan, struct arena *arena, struct detection_list **out,
                                              int32_t *count);
void detections_close(struct detection_list *lists, int32_t count);
/* What one step of a case adds. Outputs that do not fit are left out; that they do not is said elsewhere. */
ASSAY_MUST_CHECK assay_status detections_take(struct detection_list *lists, int32_t count, const struct plan *plan,
                                              const struct fed_case *fed, const struct answer *expected,
                                              const struct answer *actual, int64_t step);
/* Was an image compared? */
bool detections_seen(const struct detection_list *lists, int32_t count);
/* May the two have another number of rows each, and fit otherwise? */
bool detections_rows_fit(const struct contract_output *output, const assay_tensor *expected, const assay_tensor *actual,
                         bool wide);

/* Figures, verdict and reasons of a rung's detections. `drift` is the largest difference of scores. */
ASSAY_MUST_CHECK assay_status detections_assemble(const struct plan *plan, const struct detection_list *lists,
                                                  int32_t count, struct arena *arena, struct rung_result *out);
/* GOLDEN_UNDECIDABLE: images of the reference whose margin lies below the noise floor of scores; `floor` has a
 * figure for every component of the plan. */
ASSAY_MUST_CHECK assay_status detections_undecidable(const struct plan *plan, const struct detection_list *lists,
                                                     int32_t count, const double *floor, struct arena *arena,
                                                     struct gate_reasons *reasons);

#endif
