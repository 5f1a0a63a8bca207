/* What a report shows of a rung's detections. The reference's are the truth here. */
#ifndef GATE_DETECTION_RESULT_H
#define GATE_DETECTION_RESULT_H

#include <stdbool.h>
#include <stdint.h>

struct contract_detections;

/* Of all detections, or of those of one size, distance or class. NAN: there is none to tell it of. */
struct detection_figures {
  int64_t expected, actual, found, missed, extra; /* extra: false ones */
  double recall;
  double center_max, center_mean, size_max, iou_min, score_max, distance_max;
};

struct detection_group {
  const char *by, *value; /* "size": "16 to 32"; "distance"; "class": "face" */
  struct detection_figures figures;
};

/* One detection, or one image, that differs. */
struct detection_case {
  const char *case_id, *what; /* "missed", "false", "target", "abstention", "late" */
  int64_t step, image;
  int64_t expected_object, actual_object;           /* -1: none */
  double expected_score, actual_score, center, iou; /* NAN: none */
};

struct detection_result {
  const char *output, *unit; /* unit of centre and size; NULL: none */
  const struct contract_detections *declared;
  int verdict; /* enum verdict */
  struct detection_figures figures;
  int32_t n_groups, n_cases;
  const struct detection_group *groups;
  const struct detection_case *cases; /* in the order of the corpus */
  int64_t images, nonfinite;
  int64_t target_changes, targets; /* targets: images where both sides have one */
  int64_t abstentions, abstained;  /* images where one side alone abstains; where the reference does */
  double smallest_margin, drift;   /* of scores from the threshold, beside their largest difference */
  int64_t low_margin;              /* images whose margin is below it */
  int64_t aged, late;              /* images whose case states an age; older than may be */
  double age_max;
};

#endif
