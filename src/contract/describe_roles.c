/* Statements on what an input is for, noise or tokens, and on what a perception policy sees. Nothing that changes what
 * is fed or judged may be missing here. */
#include <math.h>

#include "contract/describe.h"
#include "contract/detections.h"
#include "contract/noise.h"
#include "contract/tokens.h"

static void describe_noise(struct statements *out, const struct contract_noise *noise) {
  describe_text(out, true, "role", "noise");
  describe_text(out, true, "distribution", noise->distribution == NOISE_NORMAL ? "normal" : "uniform");
  describe_fact_number(out, true, noise->distribution == NOISE_NORMAL ? "mean" : "lowest", noise->a, NULL);
  describe_fact_number(out, true, noise->distribution == NOISE_NORMAL ? "standard deviation" : "highest", noise->b,
                       NULL);
  describe_bound(out, STATEMENT_FLOOR, "seeds", (double)noise->seeds, NULL);
}

static void describe_tokens(struct statements *out, const struct contract_tokens *tokens) {
  static const char *const sides[] = {"right", "left", "none"};
  describe_text(out, false, "role", "tokens");
  describe_text(out, false, "tokenizer", describe_path(tokens->tokenizer));
  describe_text(out, false, "tokenizer digest", tokens->digest);
  describe_fact(out, false, "max length", "%lld", (long long)tokens->max_length);
  describe_text(out, false, "padding", sides[tokens->padding]);
  if (tokens->pad_id >= 0) {
    describe_fact(out, false, "pad id", "%lld", (long long)tokens->pad_id);
  }
  describe_bound(out, STATEMENT_CEILING, "vocabulary",
                 tokens->vocab_size > 0 ? (double)tokens->vocab_size : (double)NAN, "ids");
  describe_text(out, false, "mask", tokens->mask);
}

void describe_role(struct statements *out, const struct contract_input *input) {
  if (input->noise != NULL) {
    describe_noise(out, input->noise);
  }
  if (input->tokens != NULL) {
    describe_tokens(out, input->tokens);
  }
}

/* --- detections ------------------------------------------------------------------------- */

static const char *component_name(const struct detections_source *source, int32_t c) {
  return source->output->components[c].name;
}

static void describe_edges(struct statements *out, const char *what, const double *edges, int32_t n) {
  struct text list = {0};
  for (int32_t i = 0; i < n; i++) {
    char number[NUMBER_SIZE];
    number_text(number, edges[i]);
    text_format(&list, "%s%s", i > 0 ? ", " : "", number);
  }
  out->failed = out->failed || list.failed;
  describe_text(out, false, what, n > 0 ? text_string(&list) : NULL);
  text_free(&list);
}

static void describe_sources(struct statements *out, const struct contract_detections *spec) {
  static const char *const layouts[] = {"xyxy", "xywh", "cxcywh"};
  describe_text(out, true, "detections layout", layouts[spec->layout]);
  describe_fact(out, true, "detections box", "%s, %s, %s, %s", component_name(&spec->boxes, spec->box[0]),
                component_name(&spec->boxes, spec->box[1]), component_name(&spec->boxes, spec->box[2]),
                component_name(&spec->boxes, spec->box[3]));
  describe_fact(out, true, "detections objects", "axis %d, scores axis %d", (int)spec->boxes.object_axis,
                (int)spec->scores.object_axis);
  struct text classes = {0};
  for (int32_t c = 0; c < spec->n_classes; c++) {
    text_format(&classes, "%s%s", c > 0 ? ", " : "", spec->class_names[c]);
  }
  out->failed = out->failed || classes.failed;
  describe_fact(out, true, "detections scores", "%s: %s", spec->scores.output->name, text_string(&classes));
  text_free(&classes);
  describe_text(out, true, "detections class",
                spec->class_component >= 0 ? component_name(&spec->boxes, spec->class_component) : NULL);
  describe_text(out, true, "detections distance",
                spec->distance_component >= 0 ? component_name(&spec->boxes, spec->distance_component) : NULL);
  describe_text(out, true, "detections count", spec->count != NULL ? spec->count->name : NULL);
}

void describe_detections(struct statements *out, const struct contract_output *output) {
  static const char *const targets[] = {NULL, "highest_score", "largest", "nearest"};
  const struct contract_detections *spec = output->detections;
  if (spec == NULL) {
    return;
  }
  const struct detections_tolerance *tolerance = &spec->tolerance;
  const char *unit = output->components[spec->box[0]].unit;
  describe_sources(out, spec);
  describe_fact_number(out, true, spec->at_or_above ? "detections at or above" : "detections above", spec->threshold,
                       NULL);
  if (!isnan(spec->nms)) {
    describe_fact_number(out, true, "detections nms", spec->nms, NULL);
  }
  describe_fact(out, true, "detections candidates", "%lld", (long long)spec->candidates);
  describe_text(out, true, "detections target", targets[spec->target]);
  describe_edges(out, "detections size bins", spec->size_edges, spec->n_size_edges);
  describe_edges(out, "detections distance bins", spec->distance_edges, spec->n_distance_edges);
  describe_bound(out, STATEMENT_FLOOR, "detections match", spec->match, NULL);
  describe_bound(out, STATEMENT_CEILING, "detections max age", spec->max_age_ms > 0 ? spec->max_age_ms : (double)NAN,
                 "ms");
  if (tolerance->given) {
    describe_bound(out, STATEMENT_FLOOR, "detections recall", tolerance->recall, NULL);
    describe_bound(out, STATEMENT_CEILING, "detections false", (double)tolerance->extra, NULL);
    describe_bound(out, STATEMENT_CEILING, "detections center", tolerance->center, unit);
    describe_bound(out, STATEMENT_CEILING, "detections size", tolerance->size, unit);
    describe_bound(out, STATEMENT_FLOOR, "detections iou", tolerance->iou, NULL);
    describe_bound(out, STATEMENT_CEILING, "detections score", tolerance->score, NULL);
    describe_bound(out, STATEMENT_CEILING, "detections distance off", tolerance->distance, NULL);
    describe_bound(out, STATEMENT_CEILING, "detections target changes", (double)tolerance->target_changes, NULL);
    describe_bound(out, STATEMENT_CEILING, "detections abstentions", (double)tolerance->abstentions, NULL);
  }
}
