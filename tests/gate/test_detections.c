/* Detections: what is no number and what is not there first, then ties, layouts, overlap, matching, and what the gate
 * makes of them. */
#include <math.h>
#include <string.h>

#include "contract/detections.h"
#include "core/memory.h"
#include "corpus/run_folder.h"
#include "gate/detect.h"
#include "policy_builder.h"
#include "support.h"

/* --- boxes ------------------------------------------------------------------------------- */

static struct detection box(double x, double y, double w, double h) {
  return (struct detection){.x = x, .y = y, .w = w, .h = h, .score = 1};
}

static void what_is_not_a_number_overlaps_nothing(void **state) {
  (void)state;
  struct detection good = box(0, 0, 2, 2), bad = box(NAN, 0, 2, 2), empty = box(0, 0, 0, 2),
                   wide = box(0, 0, INFINITY, 2), turned = box(0, 0, -2, 2);
  assert_true(isnan(detection_iou(&good, &bad)) && isnan(detection_iou(&bad, &good)) &&
              isnan(detection_iou(&bad, &bad)));
  assert_true(detection_iou(&good, &empty) == 0 && detection_iou(&empty, &empty) == 0);
  assert_true(detection_iou(&good, &turned) == 0);
  assert_false(detection_iou(&good, &wide) > 0.5);
  assert_false(detection_iou(&wide, &wide) > 0.5);
  int64_t partner = 7;
  bool taken = true;
  detections_match(&bad, 1, &bad, 1, 0.1, &partner, &taken);
  assert_int_equal(partner, -1);
  assert_false(taken);
}

static void overlap_is_intersection_over_union(void **state) {
  (void)state;
  struct detection a = box(1, 1, 2, 2), b = box(2, 1, 2, 2), far = box(9, 9, 2, 2), inside = box(1, 1, 1, 1);
  assert_true(detection_iou(&a, &a) == 1);
  assert_true(fabs(detection_iou(&a, &b) - 1.0 / 3) < 1e-15);
  assert_true(detection_iou(&a, &far) == 0);
  assert_true(detection_iou(&a, &inside) == 0.25);
}

static void nothing_matches_nothing(void **state) {
  (void)state;
  struct detection one = box(0, 0, 2, 2);
  int64_t partner = 7;
  bool taken = true;
  detections_match(&one, 1, NULL, 0, 0.5, &partner, &taken);
  assert_int_equal(partner, -1);
  detections_match(NULL, 0, &one, 1, 0.5, &partner, &taken);
  assert_false(taken);
  assert_int_equal(detections_target(TARGET_LARGEST, NULL, 0), -1);
}

static void ties_take_the_lower_index(void **state) {
  (void)state;
  const struct detection expected[2] = {box(0, 0, 2, 2), box(0, 0, 2, 2)},
                         actual[2] = {box(0, 0, 2, 2), box(0, 0, 2, 2)};
  int64_t partner[2];
  bool taken[2];
  detections_match(expected, 2, actual, 2, 0.5, partner, taken);
  assert_int_equal(partner[0], 0);
  assert_int_equal(partner[1], 1);
  struct detection same[2] = {box(0, 0, 2, 2), box(5, 5, 2, 2)};
  same[0].object = 9, same[1].object = 4;
  assert_int_equal(detections_target(TARGET_LARGEST, same, 2), 1); /* the lower object */
  same[0].distance = NAN, same[1].distance = 3;
  assert_int_equal(detections_target(TARGET_NEAREST, same, 2), 1);
  same[1].distance = NAN;
  assert_int_equal(detections_target(TARGET_NEAREST, same, 2), 0);
}

static void only_the_same_class_matches_and_the_best_overlap_first(void **state) {
  (void)state;
  struct detection expected[1] = {box(0, 0, 10, 10)},
                   actual[3] = {box(0, 0, 10, 10), box(2, 0, 10, 10), box(1, 0, 10, 10)};
  actual[0].class_number = 1;
  int64_t partner[1];
  bool taken[3];
  detections_match(expected, 1, actual, 3, 0.5, partner, taken);
  assert_int_equal(partner[0], 2);
  assert_true(!taken[0] && !taken[1] && taken[2]);
}

/* --- from a tensor ---------------------------------------------------------------------------- */

/* Boxes [1, 4, 4] with scores [1, 4, 2] of the classes car and person. */
static const char contract_text[] =
    "assay: 1\npolicy: eyes\nmodel: policy.onnx\n"
    "inputs: [{name: obs, dtype: float32, shape: [1]}]\n"
    "outputs:\n"
    "  - {name: boxes, dtype: float32, shape: [1, 4, 4], axes: [batch, object, component],\n"
    "     components: [{names: [a, b, c, d], unit: px}],\n"
    "     decision: {detections: {layout: %s, scores: {output: scores}, at_or_above: 0.5, nms: 0.4, match: 0.5,\n"
    "       target: highest_score, size_bins: [5, 50], max_age_ms: 100%s}}}\n"
    "  - {name: scores, dtype: float32, shape: [1, 4, 2], axes: [batch, object, component],\n"
    "     components: [{names: [car, person], unit: score}]}\n"
    "timing: {period_ms: 50, p99_ms: 20}\n";
#define TOLERANCE ", tolerance: {recall: 1, false: 0, center: 0.5, iou: 0.8}"

static struct contract *parse(const char *layout) {
  struct contract *contract;
  char text[2048];
  snprintf(text, sizeof text, contract_text, layout, TOLERANCE);
  ASSERT_OK(contract_parse(text, strlen(text), "c.yaml", ".", &contract));
  return contract;
}

static struct detection_set find(const struct contract *contract, const double *boxes, const double *scores) {
  static const int64_t boxes_dims[] = {1, 4, 4}, scores_dims[] = {1, 4, 2};
  const struct detect_view view = {.boxes = boxes,
                                   .scores = scores,
                                   .boxes_rank = 3,
                                   .scores_rank = 3,
                                   .boxes_dims = boxes_dims,
                                   .scores_dims = scores_dims};
  struct detection_set set;
  ASSERT_OK(detect(contract->outputs[0].detections, &view, 0, &set));
  return set;
}

static const double layouts[3][16] = {
    {0, 0, 10, 10, 1, 0, 11, 10, 20, 20, 30, 40, 0, 0, 10, 10},
    {0, 0, 10, 10, 1, 0, 10, 10, 20, 20, 10, 20, 0, 0, 10, 10},
    {5, 5, 10, 10, 6, 5, 10, 10, 25, 30, 10, 20, 5, 5, 10, 10},
};

static void every_layout_is_the_same_boxes(void **state) {
  (void)state;
  static const char *const names[] = {"xyxy", "xywh", "cxcywh"};
  static const double scores[8] = {0.8, 0.1, 0.9, 0.2, 0.1, 0.6, 0.1, 0.7};
  for (int l = 0; l < 3; l++) {
    struct contract *contract = parse(names[l]);
    struct detection_set set = find(contract, layouts[l], scores);
    assert_int_equal(set.n, 3); /* the first is covered by the second; the last is another class */
    assert_int_equal(set.items[0].object, 1);
    assert_int_equal(set.items[1].object, 3);
    assert_int_equal(set.items[1].class_number, 1);
    assert_int_equal(set.items[2].object, 2);
    assert_true(set.items[2].x == 25 && set.items[2].y == 30 && set.items[2].w == 10 && set.items[2].h == 20);
    assert_true(fabs(set.margin - 0.1) < 1e-12);
    memory_free(set.items);
    contract_free(contract);
  }
}

static void the_threshold_is_exact_and_nan_is_below_it(void **state) {
  (void)state;
  static const double scores[8] = {0.5, 0, 0.49999, 0, NAN, NAN, INFINITY, 0};
  struct contract *contract = parse("xywh");
  struct detection_set set = find(contract, layouts[1], scores);
  assert_int_equal(set.n, 1); /* the first is covered by what is infinite */
  assert_int_equal(set.items[0].object, 3);
  assert_int_equal(set.nonfinite, 2);
  memory_free(set.items);
  static const double edge[8] = {0.5, 0, 0, 0, 0, 0, 0, 0};
  set = find(contract, layouts[1], edge);
  assert_int_equal(set.n, 1);
  assert_true(set.margin == 0);
  memory_free(set.items);
  static const double none[8] = {0.1, 0, 0, 0.2, 0, 0, 0, 0};
  set = find(contract, layouts[1], none);
  assert_int_equal(set.n, 0);
  assert_true(fabs(set.margin - 0.3) < 1e-12);
  memory_free(set.items);
  contract_free(contract);
}

/* --- in the gate ------------------------------------------------------------------------------------ */

struct seen {
  float boxes[16], scores[8];
};
static const struct seen street = {{0, 0, 10, 10, 100, 0, 10, 10, 200, 0, 100, 100, 300, 0, 4, 4},
                                   {0.9F, 0.1F, 0.8F, 0.1F, 0.2F, 0.7F, 0.1F, 0.1F}};
static const struct seen nobody = {{0, 0, 10, 10, 100, 0, 10, 10, 200, 0, 10, 10, 300, 0, 10, 10}, {0}};

static char *folder_of(const struct seen *cases, int n, const char *tolerance, double age) {
  char *folder = temp_folder(), text[2048];
  snprintf(text, sizeof text, contract_text, "xywh", tolerance);
  temp_write(folder, "contract.yaml", text);
  temp_write(folder, "gate.yaml", policy_recorded_gate);
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  for (int i = 0; i < n; i++) {
    const struct case_age ages[] = {{"obs", age}};
    char id[8];
    snprintf(id, sizeof id, "c%d", i);
    build_f32(builder, "inputs/obs", "1", (const float[]){1});
    build_f32(builder, "outputs/boxes", "1,4,4", cases[i].boxes);
    build_f32(builder, "outputs/scores", "1,4,2", cases[i].scores);
    build_case(builder, &(struct corpus_case){.id = id, .n_ages = age > 0 ? 1 : 0, .ages = ages});
  }
  build_done(builder);
  return folder;
}

static struct gate_result *verify(const char *folder, const struct seen *cases, int n) {
  struct run_writer *writer;
  ASSERT_OK(run_writer_open(temp_path(folder, "candidate"), &writer));
  for (int i = 0; i < n; i++) {
    char id[8];
    snprintf(id, sizeof id, "c%d", i);
    assay_tensor boxes = test_tensor(ASSAY_FLOAT32, "1,4,4", cases[i].boxes),
                 scores = test_tensor(ASSAY_FLOAT32, "1,4,2", cases[i].scores);
    const struct npz_entry entries[] = {{"outputs/boxes", &boxes}, {"outputs/scores", &scores}};
    ASSERT_OK(run_writer_case(writer, id, entries, 2));
    tensor_free(&boxes);
    tensor_free(&scores);
  }
  ASSERT_OK(run_writer_commit(writer));
  return policy_verify(folder);
}

/* Golden cases, what a rung answered, and the verdict with one reason of this code. */
static void expect(const struct seen *golden, const struct seen *actual, int n, enum verdict verdict, int exit_code,
                   assay_code code, const char *part) {
  char *folder = folder_of(golden, n, TOLERANCE, 0);
  struct gate_result *result = verify(folder, actual, n);
  expect_verdict(result, verdict, exit_code);
  const struct rung_result *rung = result_rung(result, "candidate");
  bool said = code == ASSAY_OK;
  for (int32_t i = 0; i < rung->reasons.count; i++) {
    said = said || (rung->reasons.items[i].code == code && strstr(rung->reasons.items[i].sentence, part) != NULL);
  }
  if (!said) {
    print_error("no %s says \"%s\"\n", assay_code_name(code), part);
  }
  assert_true(said);
  gate_result_free(result);
  temp_free(folder);
}

static void the_same_detections_pass(void **state) {
  (void)state;
  char *folder = folder_of((const struct seen[]){street, nobody}, 2, TOLERANCE, 0);
  struct gate_result *result = verify(folder, (const struct seen[]){street, nobody}, 2);
  expect_verdict(result, VERDICT_PASS, 0);
  const struct detection_result *seen = &result_rung(result, "candidate")->detections[0];
  assert_int_equal(seen->figures.expected, 3);
  assert_int_equal(seen->figures.found, 3);
  assert_int_equal(seen->abstained, 1);
  assert_int_equal(seen->images, 2);
  assert_int_equal(seen->targets, 1);
  assert_int_equal(seen->n_groups, 4); /* 5 to 50, 50 and above, car, person */
  assert_string_equal(seen->groups[0].value, "5 to 50");
  assert_int_equal(seen->groups[0].figures.expected, 2);
  gate_result_free(result);
  temp_free(folder);
}

static void missed_and_false_ones_are_named(void **state) {
  (void)state;
  struct seen other = street;
  other.scores[2] = 0.4F; /* object 1 */
  other.scores[6] = 0.6F; /* object 3 */
  expect(&street, &other, 1, VERDICT_REJECT, 1, ASSAY_DETECTION_MISSED, "1 of 3 detections are missed");
  expect(&street, &other, 1, VERDICT_REJECT, 1, ASSAY_DETECTION_MISSED, "object 1 (score 0.8) in case 'c0'");
  expect(&street, &other, 1, VERDICT_REJECT, 1, ASSAY_DETECTION_FALSE, "first object 3 (score 0.6");
  other = street;
  other.scores[4] = 0.75F, other.scores[5] = 0.1F; /* a person taken for a car */
  expect(&street, &other, 1, VERDICT_REJECT, 1, ASSAY_DETECTION_MISSED, "object 2");
}

static void boxes_that_lie_off_are_named(void **state) {
  (void)state;
  struct seen other = street;
  other.boxes[4] += 0.75F;
  expect(&street, &other, 1, VERDICT_REJECT, 1, ASSAY_DETECTION_BOX, "the centre is off by 0.75 px");
  other = street;
  other.boxes[4] += 50; /* no overlap is left: the place tells how far */
  expect(&street, &other, 1, VERDICT_REJECT, 1, ASSAY_DETECTION_BOX, "the centre is off by 50 px");
  other = street;
  other.boxes[6] += 0.9F;
  other.boxes[4] -= 0.45F;
  expect(&street, &other, 1, VERDICT_PASS, 0, ASSAY_OK, "");
  other.boxes[6] = NAN;
  expect(&street, &other, 1, VERDICT_REJECT, 1, ASSAY_NONFINITE, "");
  expect(&street, &other, 1, VERDICT_REJECT, 1, ASSAY_DETECTION_MISSED, "object 1");
}

static void another_target_and_abstentions_are_rejected(void **state) {
  (void)state;
  struct seen other = street;
  other.scores[2] = 0.95F;
  expect(&street, &other, 1, VERDICT_REJECT, 1, ASSAY_TARGET_CHANGED, "object 1 for object 0");
  struct seen blind = street;
  memset(blind.scores, 0, sizeof blind.scores);
  expect((const struct seen[]){street, street}, (const struct seen[]){street, blind}, 2, VERDICT_REJECT, 1,
         ASSAY_ABSTENTION_CHANGED, "first in case 'c1'");
  expect((const struct seen[]){street, blind}, (const struct seen[]){street, street}, 2, VERDICT_REJECT, 1,
         ASSAY_ABSTENTION_CHANGED, "1 of 2 images");
}

static void nothing_to_find_is_nothing_known(void **state) {
  (void)state;
  expect(&nobody, &nobody, 1, VERDICT_BLOCKED, 3, ASSAY_NOTHING_COMPARED, "detects nothing in 1 images");
}

static void without_a_tolerance_the_gate_is_blocked(void **state) {
  (void)state;
  char *folder = folder_of(&street, 1, "", 0);
  struct gate_result *result = verify(folder, &street, 1);
  expect_verdict(result, VERDICT_BLOCKED, 3);
  assert_int_equal(rung_reasons(result_rung(result, "candidate"), ASSAY_TOLERANCE_MISSING), 1);
  gate_result_free(result);
  temp_free(folder);
}

/* The age of the input and the 20 ms that a call may take, against 100 ms. */
static void old_results_are_rejected(void **state) {
  (void)state;
  for (int late = 0; late < 2; late++) {
    char *folder = folder_of(&street, 1, TOLERANCE, late ? 81 : 80);
    struct gate_result *result = verify(folder, &street, 1);
    expect_verdict(result, late ? VERDICT_REJECT : VERDICT_PASS, late ? 1 : 0);
    const struct rung_result *rung = result_rung(result, "candidate");
    assert_int_equal(rung_reasons(rung, ASSAY_RESULT_LATE), late);
    assert_true(rung->detections[0].age_max == (late ? 101 : 100));
    gate_result_free(result);
    temp_free(folder);
  }
}

/* --- rows: as many as there are detections ------------------------------------------------------------- */

static const char rows_contract[] =
    "assay: 1\npolicy: rows\nmodel: policy.onnx\n"
    "inputs: [{name: obs, dtype: float32, shape: [1]}]\n"
    "outputs:\n"
    "  - {name: rows, dtype: float32, shape: [{min: 0, opt: 2, max: 8}, 7], axes: [object, component],\n"
    "     components: [{names: [x, y, w, h], unit: m}, {name: score, unit: score}, {names: [kind, far], unit: m}],\n"
    "     decision: {detections: {layout: cxcywh, box: [x, y, w, h], scores: score, class: kind, distance: far,\n"
    "       above: 0.1, match: 0.5, target: nearest, distance_bins: [3],\n"
    "       tolerance: {recall: 0.5, false: 1, iou: 0.9, distance: 0.1, target_changes: 0}}}}\n";

static struct gate_result *verify_rows(char **folder, const float *golden, int n_golden, const float *actual,
                                       int n_actual) {
  char shape[16];
  *folder = temp_folder();
  temp_write(*folder, "contract.yaml", rows_contract);
  temp_write(*folder, "gate.yaml", policy_recorded_gate);
  struct corpus_builder *builder = build_corpus(temp_path(*folder, "golden"), CORPUS_GOLDEN);
  snprintf(shape, sizeof shape, "%d,7", n_golden);
  build_f32(builder, "inputs/obs", "1", (const float[]){1});
  build_f32(builder, "outputs/rows", shape, golden);
  build_case(builder, &(struct corpus_case){.id = "c0"});
  build_done(builder);
  struct run_writer *writer;
  snprintf(shape, sizeof shape, "%d,7", n_actual);
  ASSERT_OK(run_writer_open(temp_path(*folder, "candidate"), &writer));
  assay_tensor tensor = test_tensor(ASSAY_FLOAT32, shape, actual);
  ASSERT_OK(run_writer_case(writer, "c0", &(struct npz_entry){"outputs/rows", &tensor}, 1));
  tensor_free(&tensor);
  ASSERT_OK(run_writer_commit(writer));
  return policy_verify(*folder);
}

static const float two_rows[14] = {0, 0, 2, 2, 0.9F, 1, 2, 5, 5, 2, 2, 0.8F, 3, 4};

static void rows_may_come_in_any_number_and_order(void **state) {
  (void)state;
  static const float three[21] = {5, 5, 2, 2, 0.8F, 3, 4, 9, 9, 1, 1, 0.3F, 1, 9, 0, 0, 2, 2, 0.9F, 1, 2};
  char *folder;
  struct gate_result *result = verify_rows(&folder, two_rows, 2, three, 3);
  expect_verdict(result, VERDICT_PASS, 0); /* one false one is allowed */
  const struct detection_result *seen = &result_rung(result, "candidate")->detections[0];
  assert_int_equal(seen->figures.found, 2);
  assert_int_equal(seen->figures.extra, 1);
  assert_int_equal(seen->n_groups, 2);
  assert_string_equal(seen->groups[0].value, "below 3");
  gate_result_free(result);
  temp_free(folder);
}

static void rows_are_held_to_distance_and_target(void **state) {
  (void)state;
  static const float other[14] = {0, 0, 2, 2, 0.9F, 1, 4.5F, 5, 5, 2, 2, 0.8F, 3, 4};
  char *folder;
  struct gate_result *result = verify_rows(&folder, two_rows, 2, other, 2);
  expect_verdict(result, VERDICT_REJECT, 1);
  const struct rung_result *rung = result_rung(result, "candidate");
  assert_int_equal(rung_reasons(rung, ASSAY_TARGET_CHANGED), 1);
  assert_int_equal(rung_reasons(rung, ASSAY_DETECTION_BOX), 1);
  assert_true(rung->detections[0].figures.distance_max == 2.5);
  gate_result_free(result);
  temp_free(folder);
}

static void no_rows_are_an_abstention(void **state) {
  (void)state;
  char *folder;
  struct gate_result *result = verify_rows(&folder, two_rows, 2, two_rows, 0);
  expect_verdict(result, VERDICT_REJECT, 1);
  assert_int_equal(rung_reasons(result_rung(result, "candidate"), ASSAY_ABSTENTION_CHANGED), 1);
  gate_result_free(result);
  temp_free(folder);
  result = verify_rows(&folder, two_rows, 0, two_rows, 0);
  expect_verdict(result, VERDICT_BLOCKED, 3);
  gate_result_free(result);
  temp_free(folder);
}

static void no_allocation_that_fails_gives_a_pass(void **state) {
  (void)state;
  char *folder = folder_of(&street, 1, TOLERANCE, 0);
  struct seen other = street;
  other.boxes[4] += 50;
  gate_result_free(verify(folder, &other, 1));
  for (int64_t n = 0;; n++) {
    struct gate_result *result = NULL;
    memory_fail_at(n);
    assay_status status = gate_run(&(struct gate_options){.folder = folder}, &result);
    int64_t asked = memory_fail_at(-1);
    assert_true(!assay_status_ok(status) || result->verdict != VERDICT_PASS);
    gate_result_free(result);
    if (asked <= n) {
      ASSERT_OK(status);
      break;
    }
    assay_status_clear(&status);
  }
  temp_free(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_not_a_number_overlaps_nothing),
      cmocka_unit_test(overlap_is_intersection_over_union),
      cmocka_unit_test(nothing_matches_nothing),
      cmocka_unit_test(ties_take_the_lower_index),
      cmocka_unit_test(only_the_same_class_matches_and_the_best_overlap_first),
      cmocka_unit_test(every_layout_is_the_same_boxes),
      cmocka_unit_test(the_threshold_is_exact_and_nan_is_below_it),
      cmocka_unit_test(the_same_detections_pass),
      cmocka_unit_test(missed_and_false_ones_are_named),
      cmocka_unit_test(boxes_that_lie_off_are_named),
      cmocka_unit_test(another_target_and_abstentions_are_rejected),
      cmocka_unit_test(nothing_to_find_is_nothing_known),
      cmocka_unit_test(without_a_tolerance_the_gate_is_blocked),
      cmocka_unit_test(old_results_are_rejected),
      cmocka_unit_test(rows_may_come_in_any_number_and_order),
      cmocka_unit_test(rows_are_held_to_distance_and_target),
      cmocka_unit_test(no_rows_are_an_abstention),
      cmocka_unit_test(no_allocation_that_fails_gives_a_pass),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
