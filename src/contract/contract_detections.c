/* Reading `detections`. It names components and other outputs, so that it is read once all outputs have been; every
 * number that decides is said by the contract, none is defaulted but the count of candidates and of changes. */
#include <math.h>

#include "contract/contract_detections.h"

enum { CANDIDATES_DEFAULT = 4096, CANDIDATES_MAX = 16384 };

/* As it stands in the file. */
struct detections_member {
  const char *layout, *class, *distance, *count;
  double above, at_or_above, nms, match, max_age_ms;
  int64_t candidates;
  int32_t target;
  const struct yaml *box, *objects, *scores, *size_bins, *distance_bins, *tolerance;
};

static assay_status read_share(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  double value = 0;
  TRY(yaml_double(&reader->file, node, what, true, &value));
  if (!(value > 0 && value <= 1)) {
    return yaml_error(&reader->file, node->mark, "%s is %.9g; it is a share, above 0 and at most 1", what, value);
  }
  *(double *)member = value;
  return status_ok();
}

static assay_status read_target(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  static const char *const words[] = {"highest_score", "largest", "nearest"};
  int32_t which = 0;
  TRY(yaml_choice(&reader->file, node, what, words, 3, &which));
  *(int32_t *)member = which + 1;
  return status_ok();
}

static assay_status read_candidates(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  return yaml_int(&reader->file, node, what, 1, CANDIDATES_MAX, (int64_t *)member);
}

static const struct field detection_fields[] = {
    {"layout", read_text, offsetof(struct detections_member, layout), FIELD_REQUIRED},
    {"box", keep_node, offsetof(struct detections_member, box), FIELD_OPTIONAL},
    {"objects", keep_node, offsetof(struct detections_member, objects), FIELD_OPTIONAL},
    {"scores", keep_node, offsetof(struct detections_member, scores), FIELD_REQUIRED},
    {"class", read_text, offsetof(struct detections_member, class), FIELD_OPTIONAL},
    {"distance", read_text, offsetof(struct detections_member, distance), FIELD_OPTIONAL},
    {"count", read_text, offsetof(struct detections_member, count), FIELD_OPTIONAL},
    {"above", read_number, offsetof(struct detections_member, above), FIELD_OPTIONAL},
    {"at_or_above", read_number, offsetof(struct detections_member, at_or_above), FIELD_OPTIONAL},
    {"nms", read_share, offsetof(struct detections_member, nms), FIELD_OPTIONAL},
    {"candidates", read_candidates, offsetof(struct detections_member, candidates), FIELD_OPTIONAL},
    {"match", read_share, offsetof(struct detections_member, match), FIELD_REQUIRED},
    {"target", read_target, offsetof(struct detections_member, target), FIELD_OPTIONAL},
    {"size_bins", keep_node, offsetof(struct detections_member, size_bins), FIELD_OPTIONAL},
    {"distance_bins", keep_node, offsetof(struct detections_member, distance_bins), FIELD_OPTIONAL},
    {"max_age_ms", read_positive, offsetof(struct detections_member, max_age_ms), FIELD_OPTIONAL},
    {"tolerance", keep_node, offsetof(struct detections_member, tolerance), FIELD_OPTIONAL},
};

/* --- components and axes ---------------------------------------------------------------- */

static assay_status find_component(struct reader *reader, struct mark mark, const char *what,
                                   const struct contract_output *output, const char *name, int32_t *out) {
  for (int32_t c = 0; c < output->n_components; c++) {
    if (text_equal(output->components[c].name, name)) {
      *out = c;
      return status_ok();
    }
  }
  const char *first = output->n_components > 0 ? output->components[0].name : "";
  return yaml_error(&reader->file, mark, "%s names '%.80s', but output '%s' has no such component; its first is '%s'",
                    what, name, output->name, first);
}

/* The axis along which objects lie: as said, or the last that is not the components' and holds more than one. */
static assay_status find_objects(struct reader *reader, struct mark mark, const struct yaml *node, const char *what,
                                 struct detections_source *source) {
  const struct contract_output *output = source->output;
  source->component_axis = output->component_axis;
  source->object_axis = -1;
  if (node != NULL) {
    TRY(read_axis(reader, node, what, output, &source->object_axis));
  }
  for (int32_t d = output->rank - 1; d >= 0 && source->object_axis < 0; d--) {
    if (d != output->component_axis && (output->dims[d].max > 1 || output->dims[d].min != output->dims[d].max)) {
      source->object_axis = d;
    }
  }
  if (source->object_axis < 0 || source->object_axis == output->component_axis) {
    return yaml_error(&reader->file, mark,
                      "%s: output '%s' has no axis of objects beside that of its components; name it in `objects`",
                      what, output->name);
  }
  return status_ok();
}

static assay_status find_output(struct reader *reader, struct mark mark, const char *what, const char *name,
                                const struct contract_output **out) {
  *out = contract_find_output(reader->contract, name);
  return *out != NULL ? status_ok()
                      : yaml_error(&reader->file, mark, "%s names the output '%.80s', which the contract does not list",
                                   what, name);
}

/* --- parts --------------------------------------------------------------------------------- */

static assay_status read_layout(struct reader *reader, const char *layout, const char *what,
                                struct contract_detections *out) {
  static const char *const words[] = {"xyxy", "xywh", "cxcywh"};
  for (int32_t w = 0; w < 3; w++) {
    if (text_equal(layout, words[w])) {
      out->layout = (enum box_layout)w;
      return status_ok();
    }
  }
  return yaml_error(&reader->file, out->mark, "'layout' of %s is '%.40s'; it must be xyxy, xywh or cxcywh", what,
                    layout);
}

static assay_status read_box(struct reader *reader, const struct yaml *node, const char *what,
                             struct contract_detections *out) {
  const struct contract_output *output = out->boxes.output;
  const char *const *names = NULL;
  int32_t count = 0;
  char member[WHAT_SIZE];
  what_format(member, "'box' of %s", what);
  if (output->component_axis < 0 || output->n_components < 4 || (node == NULL && output->n_components != 4)) {
    return yaml_error(&reader->file, out->mark,
                      "%s needs 'box', the four components that make a box; output '%s' has %d components", what,
                      output->name, (int)output->n_components);
  }
  if (node == NULL) {
    for (int32_t c = 0; c < 4; c++) {
      out->box[c] = c;
    }
    return status_ok();
  }
  TRY(read_names(reader, node, member, &names, &count));
  if (count != 4) {
    return yaml_error(&reader->file, node->mark, "%s names %d components; a box has four", member, (int)count);
  }
  for (int32_t c = 0; c < 4; c++) {
    TRY(find_component(reader, node->mark, member, output, names[c], &out->box[c]));
  }
  return status_ok();
}

/* Classes by name; without names every component of another output is one. */
static assay_status take_classes(struct reader *reader, const struct yaml *node, const char *what,
                                 struct contract_detections *out) {
  const struct contract_output *output = out->scores.output;
  const char *const *names = NULL;
  int32_t count = output->n_components, *components;
  if (node != NULL) {
    TRY(read_names(reader, node, what, &names, &count));
  } else if (output == out->boxes.output) {
    return yaml_error(&reader->file, out->mark, "%s needs 'classes', the components that are scores", what);
  }
  const char **kept;
  ARENA_NEW(reader->arena, components, count + 1);
  ARENA_NEW(reader->arena, kept, count + 1);
  for (int32_t c = 0; c < count; c++) {
    components[c] = c;
    if (names != NULL) {
      TRY(find_component(reader, node->mark, what, output, names[c], &components[c]));
    }
    kept[c] = output->components[components[c]].name;
  }
  out->n_classes = count;
  out->class_components = components;
  out->class_names = kept;
  return status_ok();
}

struct scores_member {
  const char *output;
  const struct yaml *classes, *objects;
};

static assay_status read_scores(struct reader *reader, const struct yaml *node, const char *what,
                                struct contract_detections *out) {
  static const struct field fields[] = {
      {"output", read_text, offsetof(struct scores_member, output), FIELD_OPTIONAL},
      {"classes", keep_node, offsetof(struct scores_member, classes), FIELD_OPTIONAL},
      {"objects", keep_node, offsetof(struct scores_member, objects), FIELD_OPTIONAL},
  };
  struct scores_member member = {0};
  char name[WHAT_SIZE];
  what_format(name, "'scores' of %s", what);
  out->scores = out->boxes;
  if (node->kind == YAML_SCALAR) { /* one component of the same output */
    const char *component = NULL;
    int32_t *components;
    const char **names;
    ARENA_NEW(reader->arena, components, 1);
    ARENA_NEW(reader->arena, names, 1);
    TRY(yaml_string(&reader->file, node, name, &component));
    TRY(find_component(reader, node->mark, name, out->boxes.output, component, components));
    names[0] = component;
    out->n_classes = 1;
    out->class_components = components;
    out->class_names = names;
    return status_ok();
  }
  TRY(FIELDS_READ(reader, node, fields, name, &member));
  if (member.output != NULL) {
    TRY(find_output(reader, node->mark, name, member.output, &out->scores.output));
  }
  if (out->scores.output != out->boxes.output) {
    TRY(find_objects(reader, node->mark, member.objects, name, &out->scores));
  }
  return take_classes(reader, member.classes, name, out);
}

static assay_status read_edges(struct reader *reader, const struct yaml *node, const char *what, const double **out,
                               int32_t *count) {
  if (node == NULL) {
    return status_ok();
  }
  TRY(read_numbers(reader, node, what, out, count));
  for (int32_t i = 0; i < *count; i++) {
    if (!((*out)[i] > (i == 0 ? 0 : (*out)[i - 1]))) {
      return yaml_error(&reader->file, node->mark, "%s must be above 0 and ascend, but has %.9g at place %d", what,
                        (*out)[i], (int)i + 1);
    }
  }
  return *count <= 16
             ? status_ok()
             : yaml_error(&reader->file, node->mark, "%s has %d edges; at most 16 are told apart", what, (int)*count);
}

static assay_status read_detection_tolerance(struct reader *reader, const struct yaml *node, const char *what,
                                             struct contract_detections *out) {
  static const struct field fields[] = {
      {"recall", read_share, offsetof(struct detections_tolerance, recall), FIELD_REQUIRED},
      {"false", read_whole, offsetof(struct detections_tolerance, extra), FIELD_REQUIRED},
      {"center", read_not_negative, offsetof(struct detections_tolerance, center), FIELD_OPTIONAL},
      {"size", read_not_negative, offsetof(struct detections_tolerance, size), FIELD_OPTIONAL},
      {"iou", read_share, offsetof(struct detections_tolerance, iou), FIELD_OPTIONAL},
      {"score", read_not_negative, offsetof(struct detections_tolerance, score), FIELD_OPTIONAL},
      {"distance", read_not_negative, offsetof(struct detections_tolerance, distance), FIELD_OPTIONAL},
      {"target_changes", read_whole, offsetof(struct detections_tolerance, target_changes), FIELD_OPTIONAL},
      {"abstentions", read_whole, offsetof(struct detections_tolerance, abstentions), FIELD_OPTIONAL},
  };
  struct detections_tolerance *tolerance = &out->tolerance;
  const double none = (double)NAN;
  *tolerance = (struct detections_tolerance){
      .recall = none, .center = none, .size = none, .iou = none, .score = none, .distance = none};
  if (node == NULL) {
    return status_ok(); /* the gate says that nothing decides */
  }
  char member[WHAT_SIZE];
  what_format(member, "'tolerance' of %s", what);
  TRY(FIELDS_READ(reader, node, fields, member, tolerance));
  tolerance->given = true;
  if (isnan(tolerance->center) && isnan(tolerance->iou)) {
    return yaml_error(&reader->file, node->mark,
                      "%s needs 'center' or 'iou': nothing else says how far a box may lie off", member);
  }
  if (!isnan(tolerance->distance) && out->distance_component < 0) {
    return yaml_error(&reader->file, node->mark, "%s limits the distance, but no component is the 'distance'", member);
  }
  return status_ok();
}

/* --- the whole ---------------------------------------------------------------------------------- */

static assay_status check_threshold(struct reader *reader, const char *what, const struct detections_member *member,
                                    struct contract_detections *out) {
  if (isnan(member->above) == isnan(member->at_or_above)) {
    return yaml_error(&reader->file, out->mark,
                      "%s needs 'above' or 'at_or_above', one of them: the score from which a box is a detection",
                      what);
  }
  out->at_or_above = isnan(member->above);
  out->threshold = out->at_or_above ? member->at_or_above : member->above;
  return status_ok();
}

static assay_status take_components(struct reader *reader, const char *what, const struct detections_member *member,
                                    struct contract_detections *out) {
  out->class_component = out->distance_component = -1;
  if (member->class != NULL) {
    TRY(find_component(reader, out->mark, what, out->boxes.output, member->class, &out->class_component));
  }
  if (member->distance != NULL) {
    TRY(find_component(reader, out->mark, what, out->boxes.output, member->distance, &out->distance_component));
  }
  if (out->class_component >= 0 && out->n_classes > 1) {
    return yaml_error(&reader->file, out->mark,
                      "%s has both a 'class' and %d score components; the class is one or the "
                      "other",
                      what, (int)out->n_classes);
  }
  if ((out->target == TARGET_NEAREST || out->n_distance_edges > 0) && out->distance_component < 0) {
    return yaml_error(&reader->file, out->mark, "%s asks about distances, but no component is the 'distance'", what);
  }
  return member->count == NULL ? status_ok() : find_output(reader, out->mark, what, member->count, &out->count);
}

static bool varies(const struct detections_source *source) {
  const struct dim_range *dim = &source->output->dims[source->object_axis];
  return dim->min != dim->max;
}

/* What is read from here decides, or, where the number of rows is the policy's to choose, decides alone. */
static assay_status mark_source(struct reader *reader, const struct detections_source *source) {
  struct contract_output *output = (struct contract_output *)source->output;
  output->detected = true;
  output->rows_vary = output->rows_vary || varies(source);
  output->object_axis = source->object_axis;
  for (int32_t c = 0; output->rows_vary && c < output->n_components; c++) {
    if (output->components[c].tolerance.given || output->components[c].has_decision) {
      return yaml_error(
          &reader->file, output->components[c].mark,
          "component '%s' has a tolerance or a decision, but how many rows output '%s' has may differ, so "
          "that no row stands for another; declare the tolerance of its detections",
          output->components[c].name, output->name);
    }
  }
  return status_ok();
}

static assay_status read_all(struct reader *reader, const struct contract_output *output,
                             struct contract_detections *out) {
  const double none = (double)NAN;
  struct detections_member member = {.above = none, .at_or_above = none, .nms = none, .candidates = CANDIDATES_DEFAULT};
  char what[WHAT_SIZE], part[WHAT_SIZE];
  what_format(what, "'detections' of output '%s'", output->name);
  TRY(FIELDS_READ(reader, out->node, detection_fields, what, &member));
  out->boxes.output = output;
  out->nms = member.nms;
  out->candidates = member.candidates;
  out->match = member.match;
  out->target = (enum detection_target)member.target;
  out->max_age_ms = member.max_age_ms;
  TRY(read_layout(reader, member.layout, what, out));
  TRY(check_threshold(reader, what, &member, out));
  TRY(read_box(reader, member.box, what, out));
  what_format(part, "'objects' of %s", what);
  TRY(find_objects(reader, out->mark, member.objects, part, &out->boxes));
  TRY(read_scores(reader, member.scores, what, out));
  what_format(part, "'size_bins' of %s", what);
  TRY(read_edges(reader, member.size_bins, part, &out->size_edges, &out->n_size_edges));
  what_format(part, "'distance_bins' of %s", what);
  TRY(read_edges(reader, member.distance_bins, part, &out->distance_edges, &out->n_distance_edges));
  TRY(take_components(reader, what, &member, out));
  TRY(read_detection_tolerance(reader, member.tolerance, what, out));
  TRY(mark_source(reader, &out->boxes));
  TRY(mark_source(reader, &out->scores));
  if (out->count != NULL) {
    ((struct contract_output *)out->count)->detected = true;
  }
  return status_ok();
}

assay_status read_detections(struct reader *reader, const struct yaml *node, const char *what,
                             struct contract_output *output, bool *taken) {
  struct contract_detections *detections;
  *taken = node->kind == YAML_MAPPING && yaml_get(node, "detections") != NULL;
  if (!*taken) {
    return status_ok();
  }
  if (node->count != 1 || output->detections != NULL) {
    return yaml_error(&reader->file, node->mark, "%s: 'detections' stands alone, and once", what);
  }
  TRY(yaml_expect(&reader->file, &node->items[0], YAML_MAPPING, "'detections'"));
  ARENA_NEW(reader->arena, detections, 1);
  detections->mark = node->items[0].mark;
  detections->node = &node->items[0];
  output->detections = detections;
  return status_ok();
}

assay_status resolve_detections(struct reader *reader) {
  for (int32_t i = 0; i < reader->contract->n_outputs; i++) {
    const struct contract_output *output = &reader->contract->outputs[i];
    if (output->detections != NULL) {
      TRY(read_all(reader, output, (struct contract_detections *)output->detections));
    }
  }
  return status_ok();
}
