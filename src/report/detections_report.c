/* The section of detections: found, missed and false ones, how far boxes lie off, targets and abstentions. It computes
 * nothing: every figure is the gate's. */
#include <inttypes.h>
#include <math.h>

#include "contract/detections.h"
#include "report/json_parts.h"
#include "report/page.h"
#include "report/sections.h"

/* --- text ------------------------------------------------------------------------------- */

static void put_figures(struct page *page, const char *by, const char *value, const struct detection_figures *figures) {
  text_add(page->out, "          ");
  page_cut(page, by, 9, true);
  page_cut(page, value, 15, true);
  text_format(page->out, "%7" PRId64 "%7" PRId64 "%7" PRId64 "%7" PRId64, figures->expected, figures->found,
              figures->missed, figures->extra);
  page_number(page, figures->recall, 9, "-");
  page_number(page, figures->center_max, 11, "-");
  page_number(page, figures->size_max, 11, "-");
  page_number(page, figures->iou_min, 11, "-");
  text_add_char(page->out, '\n');
}

static void put_cases(struct page *page, const struct detection_result *result) {
  int32_t shown = page->options->verbose ? result->n_cases : PAGE_LISTED;
  for (int32_t i = 0; i < result->n_cases && i < shown; i++) {
    const struct detection_case *one = &result->cases[i];
    text_add(page->out, "            ");
    page_cut(page, one->case_id, 20, true);
    if (one->step >= 0) {
      text_format(page->out, " #%" PRId64, one->step);
    }
    text_format(page->out, " %s", one->what);
    if (one->expected_object >= 0) {
      text_format(page->out, ", object %" PRId64, one->expected_object);
    }
    if (!isnan(one->expected_score)) {
      text_format(page->out, " (score %.4g)", one->expected_score);
    }
    if (one->actual_object >= 0) {
      text_format(page->out, ", got object %" PRId64, one->actual_object);
    }
    if (!isnan(one->actual_score)) {
      text_format(page->out, " (score %.4g)", one->actual_score);
    }
    text_add_char(page->out, '\n');
  }
  if (result->n_cases > shown) {
    text_format(page->out, "            and %d more; verdict.json lists them all\n", (int)(result->n_cases - shown));
  }
}

static void put_images(struct page *page, const struct detection_result *result) {
  text_format(page->out,
              "          %" PRId64 " images: the reference abstains in %" PRId64 ", one side alone in %" PRId64,
              result->images, result->abstained, result->abstentions);
  if (result->declared->target != TARGET_NONE) {
    text_format(page->out, "; another target in %" PRId64 " of %" PRId64, result->target_changes, result->targets);
  }
  text_add_char(page->out, '\n');
  text_format(page->out,
              "          %" PRId64
              " with a score nearer to the threshold than the drift of %.3g; the nearest is %.3g off\n",
              result->low_margin, result->drift, result->smallest_margin);
  if (result->aged > 0) {
    text_format(page->out, "          age of the result: up to %.6g ms in %" PRId64 " images", result->age_max,
                result->aged);
    if (result->declared->max_age_ms > 0) {
      text_format(page->out, ", %" PRId64 " above %.6g ms", result->late, result->declared->max_age_ms);
    }
    text_add_char(page->out, '\n');
  }
}

void detections_report_text(struct page *page, const struct rung_result *rung) {
  for (int32_t d = 0; d < rung->n_detections; d++) {
    const struct detection_result *result = &rung->detections[d];
    text_add(page->out, d == 0 ? "  detections\n  " : "  ");
    page_verdict(page, (enum verdict)result->verdict, 8);
    page_cut(page, result->output, 24, true);
    text_format(page->out, "%7s%7s%7s%7s%9s%11s%11s%11s\n", "there", "found", "missed", "false", "recall", "centre off",
                "size off", "least IoU");
    put_figures(page, "all", result->unit != NULL ? result->unit : "", &result->figures);
    for (int32_t g = 0; g < result->n_groups; g++) {
      put_figures(page, result->groups[g].by, result->groups[g].value, &result->groups[g].figures);
    }
    put_images(page, result);
    put_cases(page, result);
  }
}

/* --- JSON --------------------------------------------------------------------------------- */

/* The members of figures, into the object that is open. */
static void json_figures(struct json *json, const struct detection_figures *figures) {
  json_int(json, "expected", figures->expected);
  json_int(json, "actual", figures->actual);
  json_int(json, "found", figures->found);
  json_int(json, "missed", figures->missed);
  json_int(json, "false", figures->extra);
  json_number_or_null(json, "recall", figures->recall, false);
  json_number_or_null(json, "center_max", figures->center_max, false);
  json_number_or_null(json, "center_mean", figures->center_mean, false);
  json_number_or_null(json, "size_max", figures->size_max, false);
  json_number_or_null(json, "iou_min", figures->iou_min, false);
  json_number_or_null(json, "score_max", figures->score_max, false);
  json_number_or_null(json, "distance_max", figures->distance_max, false);
}

static void json_tolerance(struct json *json, const struct detections_tolerance *tolerance) {
  if (!tolerance->given) {
    json_none(json, "tolerance");
    return;
  }
  json_open(json, "tolerance", '{', true);
  json_number(json, "recall", tolerance->recall, false);
  json_int(json, "false", tolerance->extra);
  json_number_or_null(json, "center", tolerance->center, false);
  json_number_or_null(json, "size", tolerance->size, false);
  json_number_or_null(json, "iou", tolerance->iou, false);
  json_number_or_null(json, "score", tolerance->score, false);
  json_number_or_null(json, "distance", tolerance->distance, false);
  json_int(json, "target_changes", tolerance->target_changes);
  json_int(json, "abstentions", tolerance->abstentions);
  json_close(json, '}');
}

static void json_cases(struct json *json, const struct detection_result *result) {
  json_open(json, "cases", '[', false);
  for (int32_t i = 0; i < result->n_cases; i++) {
    const struct detection_case *one = &result->cases[i];
    json_open(json, NULL, '{', true);
    json_text(json, "case", one->case_id);
    json_text(json, "what", one->what);
    json_index(json, "step", one->step);
    json_int(json, "image", one->image);
    json_index(json, "expected_object", one->expected_object);
    json_index(json, "actual_object", one->actual_object);
    json_number_or_null(json, "expected_score", one->expected_score, false);
    json_number_or_null(json, "actual_score", one->actual_score, false);
    json_number_or_null(json, "center", one->center, false);
    json_number_or_null(json, "iou", one->iou, false);
    json_close(json, '}');
  }
  json_close(json, ']');
}

static void json_result(struct json *json, const struct detection_result *result) {
  json_open(json, NULL, '{', false);
  json_text(json, "output", result->output);
  json_text(json, "unit", result->unit);
  json_text(json, "verdict", verdict_name((enum verdict)result->verdict));
  json_tolerance(json, &result->declared->tolerance);
  json_figures(json, &result->figures);
  json_open(json, "groups", '[', false);
  for (int32_t g = 0; g < result->n_groups; g++) {
    json_open(json, NULL, '{', true);
    json_text(json, "by", result->groups[g].by);
    json_text(json, "value", result->groups[g].value);
    json_figures(json, &result->groups[g].figures);
    json_close(json, '}');
  }
  json_close(json, ']');
  json_int(json, "images", result->images);
  json_int(json, "nonfinite", result->nonfinite);
  json_int(json, "targets", result->targets);
  json_int(json, "target_changes", result->target_changes);
  json_int(json, "abstained", result->abstained);
  json_int(json, "abstentions", result->abstentions);
  json_number(json, "smallest_margin", result->smallest_margin, false);
  json_number_or_null(json, "drift", result->drift, false);
  json_int(json, "margin_below_drift", result->low_margin);
  json_int(json, "aged", result->aged);
  json_number_or_null(json, "age_max_ms", result->age_max, false);
  json_int(json, "late", result->late);
  json_cases(json, result);
  json_close(json, '}');
}

void detections_report_json(struct json *json, const struct gate_result *result, const struct rung_result *rung) {
  (void)result;
  json_open(json, "detections", '[', false);
  for (int32_t d = 0; d < rung->n_detections; d++) {
    json_result(json, &rung->detections[d]);
  }
  json_close(json, ']');
}
