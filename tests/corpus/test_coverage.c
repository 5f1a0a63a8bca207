/* Coverage: a corpus that cannot tell things apart must say so, and one that can must not be blamed. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "corpus_builder.h"
#include "report/coverage_report.h"
#include "support.h"

static const char contract_text[] =
    "assay: 1\n"
    "policy: test\n"
    "model: m.onnx\n"
    "inputs:\n"
    "  - {name: q, dtype: float32, shape: [1, 3], unit: rad, legal: [-1, 3], typical: [0, 1], max_age_ms: 50}\n"
    "  - {name: img, dtype: float32, shape: [1, 2, 2, 3], layout: NHWC, color: RGB, legal: [0, 1], raw: cam,\n"
    "     preprocess: [{scale: 0.5}]}\n"
    "outputs:\n"
    "  - name: action\n"
    "    dtype: float32\n"
    "    shape: [1, 2, 4]\n"
    "    axes: [batch, horizon, component]\n"
    "    execute: {steps: 1}\n"
    "    components:\n"
    "      - {name: hip, unit: rad, decode: [{scale: 2}], tolerance: {max: 0.01}, limits: {min: -4, max: 4}}\n"
    "      - {name: knee, unit: rad, decode: [{scale: 2}], tolerance: {max: 0.01}}\n"
    "      - {name: ankle, unit: rad, tolerance: {max: 0.01}}\n"
    "      - {name: grip, unit: score, decision: {threshold: 0.5, at_or_above: close, below: open}}\n"
    "  - {name: scores, dtype: float32, shape: [1, 3], axes: [batch, component],\n"
    "     components: [{name: a, unit: score, tolerance: {max: 0.1}}, {name: b, unit: score, tolerance: {max: 0.1}},\n"
    "                  {name: c, unit: score, tolerance: {max: 0.1}}],\n"
    "     decision: {argmax: {axis: 1}}}\n";

struct sample {
  float q[3], action[8], scores[3];
};

static struct contract *make_contract(void) {
  struct contract *contract;
  ASSERT_OK(contract_parse(contract_text, sizeof contract_text - 1, "contract.yaml", ".", &contract));
  return contract;
}

static void add_sample(struct corpus_builder *builder, const char *id, const struct sample *sample) {
  const float image[12] = {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2};
  build_f32(builder, "inputs/q", "1,3", sample->q);
  build_f32(builder, "raw/cam", "1,2,2,3", image);
  build_f32(builder, "outputs/action", "1,2,4", sample->action);
  build_f32(builder, "outputs/scores", "1,3", sample->scores);
  const struct case_tag tag = {"light", sample->q[0] > 0 ? "day" : "dark"};
  const struct case_age age = {"q", 10 + (double)sample->q[0]};
  build_case(builder, &(struct corpus_case){.id = id, .n_tags = 1, .tags = &tag, .n_ages = 1, .ages = &age});
}

static const struct coverage_component *component(const struct coverage *coverage, const char *name) {
  for (int32_t i = 0; i < coverage->n_components; i++) {
    if (strcmp(coverage->components[i].name, name) == 0) {
      return &coverage->components[i];
    }
  }
  fail_msg("there is no component %s", name);
  return NULL;
}

static const struct coverage_input *input(const struct coverage *coverage, const char *name) {
  for (int32_t i = 0; i < coverage->n_inputs; i++) {
    if (strcmp(coverage->inputs[i].name, name) == 0) {
      return &coverage->inputs[i];
    }
  }
  fail_msg("there is no input %s", name);
  return NULL;
}

static bool has_pair(const struct coverage *coverage, const char *a, const char *b) {
  for (int32_t i = 0; i < coverage->n_pairs; i++) {
    if (strcmp(coverage->pairs[i].a, a) == 0 && strcmp(coverage->pairs[i].b, b) == 0) {
      return true;
    }
  }
  return false;
}

/* hip and knee agree to within their tolerance in what is executed, and ankle never moves; the gripper stays open;
 * the second step of the horizon, which is not executed, would tell all of them apart. */
static void a_symmetric_corpus_is_told_apart_by_nothing(void **state) {
  (void)state;
  char *folder = temp_folder();
  struct contract *contract = make_contract();
  struct corpus_builder *builder = build_corpus(folder, CORPUS_GOLDEN);
  add_sample(builder, "one", &(struct sample){{1, 2, 2}, {0.1F, 0.102F, 0.5F, 0.1F, 9, 8, 7, 0.9F}, {1, 2, 3}});
  add_sample(builder, "two", &(struct sample){{0, 4, 4}, {0.4F, 0.404F, 0.5F, 0.4F, 1, 2, 3, 0.1F}, {4, 5, 6}});
  build_i64(builder, "inputs/q", "", (const int64_t[]){1});
  build_case(builder, &(struct corpus_case){.id = "bad", .refuse = true, .refusal = ASSAY_INPUT_DTYPE});
  build_done(builder);
  struct corpus *corpus;
  struct coverage *coverage;
  ASSERT_OK(corpus_open(folder, &corpus));
  ASSERT_OK(coverage_make(corpus, contract, NULL, &coverage));
  assert_int_equal(coverage->n_answered, 2);
  assert_int_equal(coverage->n_refused, 1);
  assert_int_equal(coverage->n_samples, 2);

  const struct coverage_component *hip = component(coverage, "hip");
  assert_int_equal(hip->seen.n, 2); /* one executed step a case */
  assert_float_equal(hip->seen.min, 0.2, 1e-6);
  assert_float_equal(hip->seen.max, 0.8, 1e-6);
  assert_false(hip->constant);
  assert_true(component(coverage, "ankle")->constant);
  assert_true(has_pair(coverage, "hip", "knee"));
  assert_false(has_pair(coverage, "hip", "ankle"));
  assert_false(has_pair(coverage, "hip", "grip"));
  assert_true(has_pair(coverage, "[0,1]", "[0,2]")); /* of q */
  assert_false(has_pair(coverage, "[0,0]", "[0,1]"));

  const struct coverage_input *q = input(coverage, "q"), *img = input(coverage, "img");
  assert_true(q->seen.min == 0 && q->seen.max == 4);
  assert_int_equal(q->outside_legal, 2);
  assert_int_equal(q->outside_typical, 4);
  assert_float_equal(q->share, 1.0, 1e-9);
  assert_int_equal(q->n_constant, 0);
  assert_int_equal(q->n_ages, 2);
  assert_true(q->age_min == 10 && q->age_max == 11);
  assert_true(img->seen.max == 1); /* 2 * 0.5: seen after preprocessing */
  assert_int_equal(img->n_constant, 12);

  assert_int_equal(coverage->n_decisions, 2);
  assert_int_equal(coverage->decisions[0].n, 2);
  assert_int_equal(coverage->decisions[0].n_positive, 0);
  assert_int_equal(coverage->decisions[0].n_answers, 1);
  assert_float_equal(coverage->decisions[0].nearest, 0.1, 1e-6);
  assert_int_equal(coverage->decisions[1].n_answers, 1); /* argmax is always the last */
  assert_int_equal(coverage->n_tags, 2);
  assert_string_equal(coverage->tags[0].value, "dark");

  struct text text = {0};
  ASSERT_OK(coverage_report_text(coverage, &text));
  static const char *const said[] = {"! ankle: no case distinguishes it",
                                     "hip and knee agree in every case",
                                     "no case exercises the other side",
                                     "no case changes the decision",
                                     "never exercised: INPUT_",
                                     "values of answered cases lie outside",
                                     "[0,1] and [0,2] are equal in every sample",
                                     "! img: is the same in every sample"};
  for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
    if (strstr(text_string(&text), said[i]) == NULL) {
      fail_msg("expected \"%s\" in\n%s", said[i], text_string(&text));
    }
  }
  text_free(&text);
  coverage_free(coverage);
  corpus_close(corpus);
  contract_free(contract);
  temp_free(folder);
}

static void a_good_corpus_is_not_blamed(void **state) {
  (void)state;
  char *folder = temp_folder();
  struct contract *contract = make_contract();
  struct corpus_builder *builder = build_corpus(folder, CORPUS_GOLDEN);
  add_sample(builder, "one", &(struct sample){{1, 2, 0.5F}, {0.1F, 0.2F, 0.5F, 0.5F, 0, 0, 0, 0}, {1, 2, 3}});
  add_sample(builder, "two", &(struct sample){{0, 1, 0.7F}, {0.4F, 0.1F, 0.3F, 0.49F, 0, 0, 0, 0}, {7, 5, 6}});
  build_done(builder);
  struct corpus *corpus;
  struct coverage *coverage;
  ASSERT_OK(corpus_open(folder, &corpus));
  ASSERT_OK(coverage_make(corpus, contract, NULL, &coverage));
  assert_int_equal(coverage->n_pairs, 0);
  assert_int_equal(coverage->n_notes, 0);
  for (int32_t i = 0; i < coverage->n_components; i++) {
    assert_false(coverage->components[i].constant);
  }
  assert_int_equal(coverage->decisions[0].n_positive, 1); /* exactly 0.5 is at or above */
  assert_int_equal(coverage->decisions[0].n_answers, 2);
  assert_int_equal(coverage->decisions[1].n_answers, 2);
  coverage_free(coverage);
  corpus_close(corpus);
  contract_free(contract);
  temp_free(folder);
}

static void it_works_without_a_contract(void **state) {
  (void)state;
  char *folder = temp_folder();
  struct corpus_builder *builder = build_corpus(folder, CORPUS_GOLDEN);
  build_f32(builder, "inputs/front", "2,1,3", (const float[]){1, 2, 3, 4, 5, 6});
  build_f32(builder, "inputs/wrist", "2,1,3", (const float[]){1, 2, 3, 4, 5, 6});
  build_f32(builder, "outputs/y", "2,2", (const float[]){1, NAN, 2, INFINITY});
  build_case(builder, &(struct corpus_case){.id = "sequence", .sequence = true});
  build_f32(builder, "inputs/front", "1,3", (const float[]){0, 0, 0});
  build_f32(builder, "outputs/y", "2", (const float[]){3, 3});
  build_case(builder, &(struct corpus_case){.id = "front alone"});
  build_done(builder);
  struct corpus *corpus;
  struct coverage *coverage;
  ASSERT_OK(corpus_open(folder, &corpus));
  ASSERT_OK(coverage_make(corpus, NULL, NULL, &coverage));
  assert_int_equal(coverage->n_samples, 3);
  assert_int_equal(coverage->n_sequences, 1);
  assert_int_equal(coverage->steps_min, 2);
  assert_true(has_pair(coverage, "front", "wrist")); /* equal wherever both are fed */
  const struct coverage_component *second = component(coverage, "y[1]");
  assert_int_equal(second->seen.nan, 1);
  assert_int_equal(second->seen.inf, 1);
  assert_true(second->seen.min == 3 && second->seen.max == 3);
  assert_false(has_pair(coverage, "y[0]", "y[1]"));
  struct text text = {0};
  ASSERT_OK(coverage_report_json(coverage, &text));
  json_error_t error;
  json_t *json = json_loads(text_string(&text), 0, &error);
  assert_non_null(json);
  assert_string_equal(json_string_value(json_object_get(json, "schema")), "assay.coverage.1");
  assert_int_equal(json_integer_value(json_object_get(json_object_get(json, "cases"), "samples")), 3);
  json_decref(json);
  text_free(&text);
  coverage_free(coverage);
  corpus_close(corpus);
  temp_free(folder);
}

static void an_empty_corpus_and_a_broken_one(void **state) {
  (void)state;
  char *folder = temp_folder();
  struct contract *contract = make_contract();
  build_done(build_corpus(folder, CORPUS_GOLDEN));
  struct corpus *corpus;
  struct coverage *coverage;
  struct text text = {0};
  ASSERT_OK(corpus_open(folder, &corpus));
  ASSERT_OK(coverage_make(corpus, contract, NULL, &coverage));
  assert_int_equal(coverage->n_samples, 0);
  ASSERT_OK(coverage_report_text(coverage, &text));
  assert_non_null(strstr(text_string(&text), "NOTHING_COMPARED"));
  assert_non_null(strstr(text_string(&text), "no case feeds input 'q'"));
  ASSERT_OK(coverage_report_json(coverage, &text));
  text_free(&text);
  coverage_free(coverage);
  corpus_close(corpus);
  struct corpus_editor *editor;
  ASSERT_OK(corpus_edit(folder, &editor));
  assay_tensor one = test_tensor(ASSAY_FLOAT32, "1", (const float[]){1});
  const struct npz_entry arrays[] = {{"inputs/q", &one}, {"outputs/action", &one}};
  ASSERT_OK(corpus_edit_add(editor, &(struct corpus_case){.id = "odd", .origin = CASE_ORIGIN_NONE}, arrays, 2));
  ASSERT_OK(corpus_edit_commit(editor));
  ASSERT_OK(corpus_open(folder, &corpus));
  ASSERT_OK(coverage_make(corpus, contract, NULL, &coverage));
  assert_true(coverage->n_notes > 0);
  assert_non_null(strstr(coverage->notes[0], "output 'action'"));
  coverage_free(coverage);
  temp_write(folder, "odd.npz", "changed");
  ASSERT_FAILS(coverage_make(corpus, contract, NULL, &coverage), ASSAY_CORPUS_DIGEST, "'odd'");
  corpus_close(corpus);
  tensor_free(&one);
  contract_free(contract);
  temp_free(folder);
}

static void every_failed_allocation_is_an_answer(void **state) {
  (void)state;
  char *folder = temp_folder();
  struct contract *contract = make_contract();
  struct corpus_builder *builder = build_corpus(folder, CORPUS_GOLDEN);
  add_sample(builder, "one", &(struct sample){{1, 2, 2}, {0.1F, 0.1F, 0.5F, 0.5F, 0, 0, 0, 0}, {1, 2, 3}});
  add_sample(builder, "two", &(struct sample){{2, 3, 3}, {0.2F, 0.2F, 0.5F, 0.5F, 0, 0, 0, 0}, {1, 2, 3}});
  build_done(builder);
  struct corpus *corpus;
  ASSERT_OK(corpus_open(folder, &corpus));
  for (int64_t n = 0;; n++) {
    struct coverage *coverage;
    struct text text = {0};
    (void)memory_fail_at(n);
    assay_status status = coverage_make(corpus, contract, NULL, &coverage);
    if (assay_status_ok(status)) {
      status = coverage_report_text(coverage, &text);
    }
    bool reached = memory_fail_at(-1) > n;
    text_free(&text);
    coverage_free(coverage);
    if (!reached) {
      ASSERT_OK(status);
      break;
    }
    assert_true(status.code == ASSAY_OUT_OF_MEMORY || assay_status_ok(status));
    assay_status_clear(&status);
  }
  corpus_close(corpus);
  contract_free(contract);
  temp_free(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_symmetric_corpus_is_told_apart_by_nothing),
      cmocka_unit_test(a_good_corpus_is_not_blamed),
      cmocka_unit_test(it_works_without_a_contract),
      cmocka_unit_test(an_empty_corpus_and_a_broken_one),
      cmocka_unit_test(every_failed_allocation_is_an_answer),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
