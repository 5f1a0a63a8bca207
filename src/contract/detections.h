/* The decision `detections`: what a perception policy says it sees. Boxes with scores are read from one output or from
 * several, cut at a score, and thinned out by overlap; a rung must find what the reference finds, where it finds it. */
#ifndef CONTRACT_DETECTIONS_H
#define CONTRACT_DETECTIONS_H

#include "contract/apply.h"

enum box_layout { BOX_XYXY, BOX_XYWH, BOX_CXCYWH }; /* corners; corner and size; centre and size */
enum detection_target { TARGET_NONE, TARGET_HIGHEST_SCORE, TARGET_LARGEST, TARGET_NEAREST };

/* How far detections may differ; NAN: not declared. */
struct detections_tolerance {
  bool given;
  double recall; /* smallest share of the reference's detections that are found */
  int64_t extra; /* `false`: most detections that the reference does not have */
  double center, size, iou, score, distance;
  int64_t target_changes, abstentions;
};

/* Where a number stands: an output, with its axes of objects and of components (-1: one component). */
struct detections_source {
  const struct contract_output *output;
  int32_t object_axis, component_axis;
};

struct yaml;
struct contract_detections {
  struct mark mark;
  const struct yaml *node; /* while the contract is read */
  enum box_layout layout;
  struct detections_source boxes, scores;
  int32_t box[4];    /* components of `boxes`, in the layout's order */
  int32_t n_classes; /* score components; an object has the class of the highest one */
  const int32_t *class_components;
  const char *const *class_names;
  int32_t class_component, distance_component; /* of `boxes`; -1: none */
  const struct contract_output *count;         /* how many rows count, one number an image; NULL: all */
  double threshold;
  bool at_or_above;   /* scores at the threshold are detections; otherwise strictly above */
  double nms;         /* a box that overlaps a better one of its class by more is left out; NAN: none is */
  int64_t candidates; /* most boxes of an image, the best, that are looked at */
  double match;       /* smallest overlap (intersection over union) of what counts as the same object */
  enum detection_target target;
  int32_t n_size_edges, n_distance_edges;
  const double *size_edges, *distance_edges; /* ascending */
  double max_age_ms;                         /* 0: not limited */
  struct detections_tolerance tolerance;
};

#endif
