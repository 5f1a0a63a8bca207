/* The decision `detections` in a contract: what it means when it is whole, and every refusal. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "contract/contract_diff.h"
#include "contract/detections.h"
#include "failing_memory.h"
#include "support.h"

static assay_status parse(const char *boxes, const char *scores, const char *detections, struct contract **out) {
  char text[4096];
  snprintf(text, sizeof text,
           "assay: 1\npolicy: p\nmodel: m.onnx\ninputs: [{name: x, dtype: float32, shape: [1]}]\n"
           "groups: {cars: [car, truck]}\n"
           "outputs:\n"
           "  - {name: boxes, dtype: float32, %s,\n     decision: {detections: {%s}}}\n"
           "  - {name: scores, dtype: float32, %s}\n",
           boxes, detections, scores);
  return contract_parse(text, strlen(text), "c.yaml", ".", out);
}

#define BOXES "shape: [1, 9, 5], axes: [batch, object, component], components: [{names: [l, t, r, b, far], unit: px}]"
#define SCORES \
  "shape: [1, 3, 9], axes: [batch, component, object], components: [{names: [none, car, truck], unit: score}]"
#define WHOLE \
  "layout: xyxy, box: [l, t, r, b], scores: {output: scores, classes: cars}, above: 0.5, match: 0.5, distance: far"

static void a_whole_one_says_where_everything_stands(void **state) {
  (void)state;
  struct contract *contract;
  ASSERT_OK(parse(BOXES, SCORES,
                  WHOLE ", nms: 0.3, candidates: 100, target: nearest, size_bins: [10, 20], distance_bins: [5], "
                        "max_age_ms: 80, tolerance: {recall: 0.9, false: 2, iou: 0.8, target_changes: 1}",
                  &contract));
  const struct contract_detections *d = contract->outputs[0].detections;
  assert_int_equal(d->layout, BOX_XYXY);
  assert_ptr_equal(d->scores.output, &contract->outputs[1]);
  assert_int_equal(d->boxes.object_axis, 1);
  assert_int_equal(d->boxes.component_axis, 2);
  assert_int_equal(d->scores.object_axis, 2);
  assert_int_equal(d->scores.component_axis, 1);
  assert_int_equal(d->n_classes, 2);
  assert_int_equal(d->class_components[0], 1);
  assert_string_equal(d->class_names[1], "truck");
  assert_int_equal(d->distance_component, 4);
  assert_int_equal(d->class_component, -1);
  assert_true(d->threshold == 0.5 && !d->at_or_above && d->nms == 0.3 && d->match == 0.5);
  assert_int_equal(d->candidates, 100);
  assert_int_equal(d->target, TARGET_NEAREST);
  assert_int_equal(d->n_size_edges, 2);
  assert_true(d->max_age_ms == 80 && d->tolerance.recall == 0.9 && isnan(d->tolerance.center));
  assert_int_equal(d->tolerance.extra, 2);
  assert_int_equal(d->tolerance.target_changes, 1);
  assert_true(contract->outputs[0].detected && contract->outputs[1].detected);
  assert_false(contract->outputs[0].rows_vary);
  contract_free(contract);
}

static void refused(const char *boxes, const char *detections, const char *part) {
  struct contract *contract = NULL;
  ASSERT_FAILS(parse(boxes, SCORES, detections, &contract), ASSAY_CONTRACT_INVALID, part);
}

static void every_fault_is_named(void **state) {
  (void)state;
  refused(BOXES, "scores: {output: scores}, above: 0.5, match: 0.5", "needs the key 'layout'");
  refused(BOXES, "layout: yxyx, scores: {output: scores}, above: 0.5, match: 0.5", "xyxy, xywh or cxcywh");
  refused(BOXES, "layout: xyxy, scores: {output: scores}, above: 0.5, match: 0.5", "the four components");
  refused(BOXES, "layout: xyxy, box: [l, t, r], scores: {output: scores}, above: 0.5, match: 0.5", "a box has four");
  refused(BOXES, "layout: xyxy, box: [l, t, r, q], scores: {output: scores}, above: 0.5, match: 0.5",
          "names 'q', but output 'boxes' has no such component");
  refused(BOXES, "layout: xyxy, box: [l, t, r, b], above: 0.5, match: 0.5", "needs the key 'scores'");
  refused(BOXES, "layout: xyxy, box: [l, t, r, b], scores: {output: sores}, above: 0.5, match: 0.5", "'sores'");
  refused(BOXES, "layout: xyxy, box: [l, t, r, b], scores: {output: scores, classes: [dog]}, above: 0.5, match: 0.5",
          "'dog'");
  refused(BOXES, "layout: xyxy, box: [l, t, r, b], scores: {}, above: 0.5, match: 0.5", "needs 'classes'");
  refused(BOXES, "layout: xyxy, box: [l, t, r, b], scores: {output: scores}, match: 0.5", "'above' or 'at_or_above'");
  refused(BOXES, "layout: xyxy, box: [l, t, r, b], scores: {output: scores}, above: 0.5, at_or_above: 0.5, match: 0.5",
          "one of them");
  refused(BOXES, "layout: xyxy, box: [l, t, r, b], scores: {output: scores}, above: 0.5", "needs the key 'match'");
  refused(BOXES, WHOLE ", nms: 0", "above 0 and at most 1");
  refused(BOXES, WHOLE ", candidates: 0", "'candidates'");
  refused(BOXES, WHOLE ", target: best", "highest_score");
  refused(BOXES, WHOLE ", size_bins: [3, 3]", "ascend");
  refused(BOXES, WHOLE ", clas: x", "clas");
  refused(BOXES, WHOLE ", class: far", "both a 'class' and 2 score components");
  refused(BOXES, WHOLE ", objects: component", "no axis of objects");
  refused(BOXES, WHOLE ", count: boxen", "'boxen'");
  refused(BOXES, WHOLE ", tolerance: {false: 0, iou: 0.5}", "needs the key 'recall'");
  refused(BOXES, WHOLE ", tolerance: {recall: 1, iou: 0.5}", "needs the key 'false'");
  refused(BOXES, WHOLE ", tolerance: {recall: 1, false: 0}", "needs 'center' or 'iou'");
  refused(BOXES, WHOLE ", tolerance: {recall: 1.5, false: 0, iou: 0.5}", "a share");
  refused(BOXES, "layout: xyxy, box: [l, t, r, b], scores: {output: scores}, above: 0.5, match: 0.5, target: nearest",
          "asks about distances");
  refused(
      "shape: [1, {min: 0, opt: 4, max: 9}, 5], axes: [batch, object, component], tolerance: {max: 1}, "
      "components: [{names: [l, t, r, b, far], unit: px}]",
      WHOLE, "how many rows output 'boxes' has may differ");
}

/* Every key that is changed shows in what changed, and a tolerance that asks less is looser. */
static void changes_are_told(void **state) {
  (void)state;
  static const char whole[] =
      WHOLE ", nms: 0.3, target: nearest, max_age_ms: 80, tolerance: {recall: 0.9, false: 2, iou: 0.8}";
  static const struct {
    const char *from, *to, *sentence;
  } changes[] = {
      {"recall: 0.9", "recall: 0.8", "detections recall 0.9 -> 0.8 (looser)"},
      {"false: 2", "false: 1", "detections false 2 -> 1 (tighter)"},
      {"iou: 0.8", "iou: 0.7", "detections iou 0.8 -> 0.7 (looser)"},
      {"nms: 0.3", "nms: 0.4", "detections nms"},
      {"target: nearest", "target: largest", "detections target"},
      {"above: 0.5", "above: 0.6", "detections above"},
      {"max_age_ms: 80", "max_age_ms: 90", "(looser)"},
      {"classes: cars", "classes: [car]", "detections scores"},
      {"layout: xyxy", "layout: xywh", "detections layout"},
  };
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    struct contract *a, *b;
    struct arena arena = {0};
    struct statements from = {.arena = &arena}, to = {.arena = &arena};
    struct contract_changes found = {0};
    const char *at = strstr(whole, changes[i].from);
    char other[1024];
    snprintf(other, sizeof other, "%.*s%s%s", (int)(at - whole), whole, changes[i].to, at + strlen(changes[i].from));
    ASSERT_OK(parse(BOXES, SCORES, whole, &a));
    ASSERT_OK(parse(BOXES, SCORES, other, &b));
    ASSERT_OK(contract_describe(a, &from));
    ASSERT_OK(contract_describe(b, &to));
    ASSERT_OK(contract_diff(&from, &to, &arena, &found));
    assert_int_equal(found.count, 1);
    if (strstr(found.items[0].sentence, changes[i].sentence) == NULL) {
      print_error("expected \"%s\", got \"%s\"\n", changes[i].sentence, found.items[0].sentence);
      fail();
    }
    contract_free(a);
    contract_free(b);
    arena_free(&arena);
  }
}

static assay_status read_whole_contract(void *argument) {
  (void)argument;
  struct contract *contract = NULL;
  assay_status status =
      parse(BOXES, SCORES, WHOLE ", size_bins: [3], tolerance: {recall: 1, false: 0, iou: 1}", &contract);
  contract_free(contract);
  return status;
}

static void reading_survives_every_failed_allocation(void **state) {
  (void)state;
  fail_every_allocation(read_whole_contract, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_whole_one_says_where_everything_stands),
      cmocka_unit_test(every_fault_is_named),
      cmocka_unit_test(changes_are_told),
      cmocka_unit_test(reading_survives_every_failed_allocation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
