/* Figures and verdict of a rung's detections: see detection_list.h. Every comparison is written so that NaN fails it.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "gate/detection_list.h"

/* --- figures --------------------------------------------------------------------------------- */

static bool is_worse(double a, double than) { return isnan(a) ? !isnan(than) : a > than; }

/* A figure that has not been told yet, as against one that is NaN, is what `first` says. */
static void raise_to(double *figure, double value, bool first) {
  if (first || is_worse(value, *figure)) {
    *figure = value;
  }
}

static void add_deviation(struct detection_figures *out, const struct detection_record *record, int64_t *n,
                          double *center_sum) {
  bool first = *n == 0;
  raise_to(&out->center_max, record->center, first);
  raise_to(&out->size_max, record->size, first);
  raise_to(&out->score_max, record->score, first);
  raise_to(&out->distance_max, record->distance, first);
  if (first || isnan(record->iou) || record->iou < out->iou_min) {
    out->iou_min = record->iou;
  }
  *center_sum += record->center;
  ++*n;
}

/* Which records belong: all, or those of one group. */
struct group_key {
  const char *by;   /* NULL: all */
  double low, high; /* of size or distance: low <= value < high */
  int32_t class_number;
};

static double size_of(const struct detection *one) { return one->w > 0 && one->h > 0 ? sqrt(one->w * one->h) : 0.0; }

static bool belongs(const struct group_key *key, const struct detection_record *record) {
  const struct detection *one = record->fate == DETECTION_FALSE ? &record->actual : &record->expected;
  if (key->by == NULL) {
    return true;
  }
  if (strcmp(key->by, "class") == 0) {
    return one->class_number == key->class_number;
  }
  double value = strcmp(key->by, "size") == 0 ? size_of(one) : one->distance;
  return value >= key->low && value < key->high;
}

static struct detection_figures figures_of(const struct detection_list *list, const struct group_key *key) {
  struct detection_figures figures = {.recall = NAN,
                                      .center_max = NAN,
                                      .center_mean = NAN,
                                      .size_max = NAN,
                                      .iou_min = NAN,
                                      .score_max = NAN,
                                      .distance_max = NAN};
  int64_t n = 0;
  double center_sum = 0;
  for (size_t i = 0; i < list->n_records; i++) {
    const struct detection_record *record = &list->records[i];
    if (!belongs(key, record)) {
      continue;
    }
    figures.expected += record->fate != DETECTION_FALSE;
    figures.actual += record->fate != DETECTION_MISSED;
    figures.found += record->fate == DETECTION_FOUND;
    figures.missed += record->fate == DETECTION_MISSED;
    figures.extra += record->fate == DETECTION_FALSE;
    if (record->has_actual) {
      add_deviation(&figures, record, &n, &center_sum);
    }
  }
  figures.recall = figures.expected > 0 ? (double)figures.found / (double)figures.expected : NAN;
  figures.center_mean = n > 0 ? center_sum / (double)n : NAN;
  return figures;
}

/* --- groups ------------------------------------------------------------------------------------- */

static const char *edge_name(const double *edges, int32_t n, int32_t i, struct arena *arena) {
  return i == 0   ? arena_format(arena, "below %.6g", edges[0])
         : i == n ? arena_format(arena, "%.6g and above", edges[n - 1])
                  : arena_format(arena, "%.6g to %.6g", edges[i - 1], edges[i]);
}

static assay_status add_group(const struct detection_list *list, const struct group_key *key, const char *value,
                              struct detection_group *groups, int32_t *count) {
  struct detection_group group = {key->by, value, figures_of(list, key)};
  if (value == NULL) {
    return status_no_memory(0);
  }
  if (group.figures.expected + group.figures.extra > 0) {
    groups[(*count)++] = group;
  }
  return status_ok();
}

static assay_status add_bins(const struct detection_list *list, const char *by, const double *edges, int32_t n,
                             struct arena *arena, struct detection_group *groups, int32_t *count) {
  for (int32_t i = 0; n > 0 && i <= n; i++) {
    struct group_key key = {by, i == 0 ? -INFINITY : edges[i - 1], i == n ? INFINITY : edges[i], 0};
    TRY(add_group(list, &key, edge_name(edges, n, i, arena), groups, count));
  }
  return status_ok();
}

static assay_status make_groups(const struct detection_list *list, struct arena *arena, struct detection_result *out) {
  const struct contract_detections *spec = out->declared;
  struct detection_group *groups;
  ARENA_NEW(arena, groups, spec->n_size_edges + spec->n_distance_edges + spec->n_classes + 3);
  TRY(add_bins(list, "size", spec->size_edges, spec->n_size_edges, arena, groups, &out->n_groups));
  TRY(add_bins(list, "distance", spec->distance_edges, spec->n_distance_edges, arena, groups, &out->n_groups));
  for (int32_t c = 0; spec->n_classes > 1 && c < spec->n_classes; c++) {
    struct group_key key = {.by = "class", .class_number = c};
    TRY(add_group(list, &key, spec->class_names[c], groups, &out->n_groups));
  }
  out->groups = groups;
  return status_ok();
}

/* --- cases ------------------------------------------------------------------------------------------ */

static bool is_late(const struct contract_detections *spec, const struct detection_image *image) {
  return spec->max_age_ms > 0 && image->age_ms > spec->max_age_ms; /* an age that is not stated is not judged */
}

static struct detection_case case_of_record(const struct plan *plan, const struct detection_record *record) {
  bool missed = record->fate == DETECTION_MISSED;
  return (struct detection_case){.case_id = plan->cases.entries[record->case_index].id,
                                 .what = missed ? "missed" : "false",
                                 .step = record->step,
                                 .image = record->image,
                                 .expected_object = missed ? record->expected.object : -1,
                                 .actual_object = missed && !record->has_actual ? -1 : record->actual.object,
                                 .expected_score = missed ? record->expected.score : NAN,
                                 .actual_score = missed && !record->has_actual ? NAN : record->actual.score,
                                 .center = record->center,
                                 .iou = record->iou};
}

static struct detection_case case_of_image(const struct plan *plan, const struct detection_image *image,
                                           const char *what) {
  return (struct detection_case){.case_id = plan->cases.entries[image->case_index].id,
                                 .what = what,
                                 .step = image->step,
                                 .image = image->image,
                                 .expected_object = image->target_expected,
                                 .actual_object = image->target_actual,
                                 .expected_score = NAN,
                                 .actual_score = NAN,
                                 .center = NAN,
                                 .iou = NAN};
}

static assay_status list_cases(const struct plan *plan, const struct detection_list *list, struct arena *arena,
                               struct detection_result *out) {
  struct detection_case *cases;
  ARENA_NEW(arena, cases, list->n_records + 3 * list->n_images + 1);
  size_t r = 0;
  for (size_t i = 0; i < list->n_images; i++) { /* records come in the images' order */
    const struct detection_image *image = &list->images[i];
    for (; r < list->n_records && list->records[r].case_index == image->case_index &&
           list->records[r].step == image->step && list->records[r].image == image->image;
         r++) {
      if (list->records[r].fate != DETECTION_FOUND) {
        cases[out->n_cases++] = case_of_record(plan, &list->records[r]);
      }
    }
    if (image->abstention_changed) {
      cases[out->n_cases++] = case_of_image(plan, image, "abstention");
    }
    if (image->target_changed) {
      cases[out->n_cases++] = case_of_image(plan, image, "target");
    }
    if (is_late(out->declared, image)) {
      cases[out->n_cases++] = case_of_image(plan, image, "late");
    }
  }
  out->cases = cases;
  return status_ok();
}

/* --- reasons -------------------------------------------------------------------------------------------- */

struct judged {
  const struct plan *plan;
  const struct detection_list *list;
  struct arena *arena;
  struct gate_reasons *reasons;
  struct detection_result *result;
};

static assay_status say(struct judged *judged, struct gate_reason reason, const char *format, ...) PRINTF_LIKE(3, 4);
static assay_status say(struct judged *judged, struct gate_reason reason, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  reason.sentence = arena_format_va(judged->arena, format, arguments);
  va_end(arguments);
  reason.output = judged->result->output;
  if (judged->result->verdict != VERDICT_REJECT) {
    judged->result->verdict = assay_code_kind_of(reason.code) == ASSAY_KIND_REJECT ? VERDICT_REJECT : VERDICT_BLOCKED;
  }
  return reason.sentence != NULL ? gate_reason_add(judged->arena, judged->reasons, &reason) : status_no_memory(0);
}

static const struct detection_case *first_case(const struct detection_result *result, const char *what) {
  for (int32_t i = 0; i < result->n_cases; i++) {
    if (strcmp(result->cases[i].what, what) == 0) {
      return &result->cases[i];
    }
  }
  return NULL;
}

static struct gate_reason reason_at(assay_code code, const struct detection_case *one, double measured,
                                    double allowed) {
  struct gate_reason reason = gate_reason_of(code);
  reason.case_id = one != NULL ? one->case_id : NULL;
  reason.step = one != NULL ? one->step : -1;
  reason.measured = measured;
  reason.tolerance = allowed;
  return reason;
}

static assay_status judge_counts(struct judged *judged) {
  const struct detection_result *result = judged->result;
  const struct detections_tolerance *tolerance = &result->declared->tolerance;
  const struct detection_figures *figures = &result->figures;
  const struct detection_case *missed = first_case(result, "missed"), *extra = first_case(result, "false");
  if (figures->expected > 0 && !(figures->recall >= tolerance->recall)) {
    TRY(say(judged, reason_at(ASSAY_DETECTION_MISSED, missed, figures->recall, tolerance->recall),
            "'%s': %" PRId64 " of %" PRId64
            " detections are missed, a recall of %.6g where %.6g is asked for; first object %" PRId64
            " (score %.6g) in case '%s'",
            result->output, figures->missed, figures->expected, figures->recall, tolerance->recall,
            missed != NULL ? missed->expected_object : -1, missed != NULL ? missed->expected_score : NAN,
            missed != NULL ? missed->case_id : ""));
  }
  if (figures->extra > tolerance->extra) {
    TRY(say(judged, reason_at(ASSAY_DETECTION_FALSE, extra, (double)figures->extra, (double)tolerance->extra),
            "'%s': %" PRId64 " detections are false, where %" PRId64 " may be; first object %" PRId64
            " (score %.6g) in case '%s'",
            result->output, figures->extra, tolerance->extra, extra != NULL ? extra->actual_object : -1,
            extra != NULL ? extra->actual_score : NAN, extra != NULL ? extra->case_id : ""));
  }
  return status_ok();
}

/* The record that has this figure. */
static const struct detection_record *record_with(const struct detection_list *list, size_t member, double value) {
  for (size_t i = 0; i < list->n_records; i++) {
    double found;
    memcpy(&found, (const char *)&list->records[i] + member, sizeof found);
    if (list->records[i].has_actual && (found == value || (isnan(found) && isnan(value)))) {
      return &list->records[i];
    }
  }
  return NULL;
}

static assay_status judge_box(struct judged *judged, const char *what, size_t member, double measured, double allowed,
                              bool least, const char *unit) {
  const struct detection_record *record = record_with(judged->list, member, measured);
  if (isnan(allowed) || record == NULL || (least ? measured >= allowed : measured <= allowed)) {
    return status_ok(); /* without a pair there is nothing to tell: recall says so */
  }
  struct gate_reason reason = gate_reason_of(ASSAY_DETECTION_BOX);
  const char *id = judged->plan->cases.entries[record->case_index].id;
  reason.case_id = id;
  reason.step = record->step;
  reason.unit = unit;
  reason.measured = measured;
  reason.tolerance = allowed;
  return say(judged, reason,
             "'%s': box deviation: %s %.6g%s%s, where %.6g is allowed; object %" PRId64
             " in case '%s' has centre (%.6g, %.6g) and size (%.6g, %.6g), but the reference's has (%.6g, %.6g) and "
             "(%.6g, %.6g)%s",
             judged->result->output, what, measured, unit != NULL ? " " : "", unit != NULL ? unit : "", allowed,
             record->expected.object, id, record->actual.x, record->actual.y, record->actual.w, record->actual.h,
             record->expected.x, record->expected.y, record->expected.w, record->expected.h,
             record->fate == DETECTION_MISSED ? " (it is missed; this box stands in its place)" : "");
}

static assay_status judge_boxes(struct judged *judged) {
  const struct detection_figures *figures = &judged->result->figures;
  const struct detections_tolerance *tolerance = &judged->result->declared->tolerance;
  const char *unit = judged->result->unit;
  TRY(judge_box(judged, "the centre is off by", offsetof(struct detection_record, center), figures->center_max,
                tolerance->center, false, unit));
  TRY(judge_box(judged, "the size is off by", offsetof(struct detection_record, size), figures->size_max,
                tolerance->size, false, unit));
  TRY(judge_box(judged, "the overlap (IoU) is", offsetof(struct detection_record, iou), figures->iou_min,
                tolerance->iou, true, NULL));
  TRY(judge_box(judged, "the score is off by", offsetof(struct detection_record, score), figures->score_max,
                tolerance->score, false, NULL));
  return judge_box(judged, "the distance is off by", offsetof(struct detection_record, distance), figures->distance_max,
                   tolerance->distance, false, NULL);
}

static assay_status judge_images(struct judged *judged) {
  const struct detection_result *result = judged->result;
  const struct detections_tolerance *tolerance = &result->declared->tolerance;
  const struct detection_case *target = first_case(result, "target"), *abstention = first_case(result, "abstention");
  const struct detection_case *late = first_case(result, "late");
  if (result->target_changes > tolerance->target_changes && target != NULL) {
    TRY(say(judged,
            reason_at(ASSAY_TARGET_CHANGED, target, (double)result->target_changes, (double)tolerance->target_changes),
            "'%s': another target is chosen in %" PRId64 " of %" PRId64 " images, where %" PRId64
            " may; first in case '%s': object %" PRId64 " for object %" PRId64,
            result->output, result->target_changes, result->targets, tolerance->target_changes, target->case_id,
            target->actual_object, target->expected_object));
  }
  if (result->abstentions > tolerance->abstentions && abstention != NULL) {
    TRY(say(
        judged,
        reason_at(ASSAY_ABSTENTION_CHANGED, abstention, (double)result->abstentions, (double)tolerance->abstentions),
        "'%s': in %" PRId64 " of %" PRId64 " images one side sees nothing and the other something, where %" PRId64
        " may; first in case '%s'",
        result->output, result->abstentions, result->images, tolerance->abstentions, abstention->case_id));
  }
  if (late != NULL) {
    TRY(say(judged, reason_at(ASSAY_RESULT_LATE, late, result->age_max, result->declared->max_age_ms),
            "'%s': %" PRId64 " results are older than the %.6g ms that they may be, up to %.6g ms; first in case '%s'",
            result->output, result->late, result->declared->max_age_ms, result->age_max, late->case_id));
  }
  return status_ok();
}

static assay_status judge(struct judged *judged) {
  const struct detection_result *result = judged->result;
  if (result->figures.expected == 0) {
    TRY(say(judged, gate_reason_of(ASSAY_NOTHING_COMPARED),
            "'%s': the reference detects nothing in %" PRId64 " images, so that nothing is known of what a rung misses",
            result->output, result->images));
  }
  if (result->nonfinite > 0) {
    TRY(say(judged, gate_reason_of(ASSAY_NONFINITE), "'%s': %" PRId64 " boxes or scores are NaN or infinite",
            result->output, result->nonfinite));
  }
  if (!result->declared->tolerance.given) {
    return say(judged, gate_reason_of(ASSAY_TOLERANCE_MISSING),
               "'%s': its detections have no tolerance, so nothing says how many may be missed or how far they may lie "
               "off",
               result->output);
  }
  TRY(judge_counts(judged));
  TRY(judge_boxes(judged));
  return judge_images(judged);
}

/* --- the whole ---------------------------------------------------------------------------------------------- */

static void sum_images(const struct detection_list *list, struct detection_result *out) {
  for (size_t i = 0; i < list->n_images; i++) {
    const struct detection_image *image = &list->images[i];
    out->nonfinite += image->nonfinite;
    out->target_changes += image->target_changed;
    out->targets += image->target_expected >= 0 && image->target_actual >= 0;
    out->abstentions += image->abstention_changed;
    out->abstained += image->abstained;
    out->low_margin += image->margin < out->drift;
    out->smallest_margin = image->margin < out->smallest_margin ? image->margin : out->smallest_margin;
    out->aged += !isnan(image->age_ms);
    out->late += is_late(out->declared, image);
    out->age_max = isnan(out->age_max) || image->age_ms > out->age_max ? image->age_ms : out->age_max;
  }
  out->images = (int64_t)list->n_images;
}

/* The largest difference of a score, element by element; of detections alone where rows are not paired. */
static double score_drift(const struct contract_detections *spec, const struct rung_result *rung,
                          const struct detection_figures *figures) {
  double largest = 0.0;
  bool any = false;
  for (int32_t c = 0; c < rung->n_components; c++) {
    const struct component_result *component = &rung->components[c];
    bool score = false;
    for (int32_t k = 0; k < spec->n_classes; k++) {
      score = score || (strcmp(component->output, spec->scores.output->name) == 0 &&
                        strcmp(component->name, spec->class_names[k]) == 0);
    }
    if (score && component->drift.physical.n > 0) {
      any = true;
      largest = !(component->drift.physical.max <= largest) ? component->drift.physical.max : largest;
    }
  }
  return any ? largest : figures->score_max;
}

assay_status detections_assemble(const struct plan *plan, const struct detection_list *lists, int32_t count,
                                 struct arena *arena, struct rung_result *out) {
  static const struct group_key all = {.by = NULL};
  struct detection_result *results;
  ARENA_NEW(arena, results, count + 1);
  for (int32_t d = 0; d < count; d++) {
    const struct contract_output *output = lists[d].output->output;
    const struct contract_detections *spec = output->detections;
    struct detection_result *result = &results[out->n_detections++];
    *result = (struct detection_result){.output = output->name,
                                        .unit = output->components[spec->box[0]].unit,
                                        .declared = spec,
                                        .verdict = VERDICT_PASS,
                                        .figures = figures_of(&lists[d], &all),
                                        .smallest_margin = INFINITY,
                                        .age_max = NAN};
    result->drift = score_drift(spec, out, &result->figures);
    sum_images(&lists[d], result);
    TRY(make_groups(&lists[d], arena, result));
    TRY(list_cases(plan, &lists[d], arena, result));
    struct judged judged = {plan, &lists[d], arena, &out->reasons, result};
    TRY(judge(&judged));
  }
  out->detections = results;
  return status_ok();
}

/* The noise floor of the scores; NAN: not measured. */
static double score_floor(const struct plan *plan, const struct contract_detections *spec, const double *floor) {
  const struct plan_output *scores = plan_output_find(plan, spec->scores.output->name);
  double largest = NAN;
  for (int32_t k = 0; scores != NULL && !scores->output->rows_vary && k < spec->n_classes; k++) {
    double now = floor[scores->first_component + spec->class_components[k]];
    largest = isnan(largest) || now > largest ? now : largest;
  }
  return largest;
}

assay_status detections_undecidable(const struct plan *plan, const struct detection_list *lists, int32_t count,
                                    const double *floor, struct arena *arena, struct gate_reasons *reasons) {
  for (int32_t d = 0; d < count; d++) {
    const struct contract_output *output = lists[d].output->output;
    double limit = score_floor(plan, output->detections, floor);
    for (size_t i = 0; i < lists[d].n_images; i++) {
      const struct detection_image *image = &lists[d].images[i];
      if (isnan(limit) || !(image->margin < limit)) {
        continue;
      }
      struct gate_reason reason = gate_reason_of(ASSAY_GOLDEN_UNDECIDABLE);
      reason.output = output->name;
      reason.case_id = plan->cases.entries[image->case_index].id;
      reason.step = image->step;
      reason.measured = image->margin;
      reason.tolerance = limit;
      reason.sentence = arena_format(arena,
                                     "'%s': case '%s' has a score %.6g from the threshold, below the reference's noise "
                                     "floor of %.6g, so it cannot tell a detection from none",
                                     output->name, reason.case_id, image->margin, limit);
      if (reason.sentence == NULL) {
        return status_no_memory(0);
      }
      TRY(gate_reason_add(arena, reasons, &reason));
    }
  }
  return status_ok();
}
