/* Where a case has raw data too, what assay makes of it is held against what the source recorded; and ages belong to
 * inputs that there are. */
#include <string.h>

#include "policy_builder.h"
#include "support.h"

static const float raw[3] = {0.06F, -0.02F, 0.35F};

/* The toy policy with an input that is made from raw/obs by a factor of 2. */
static char *scaled_folder(void) {
  char *folder = policy_folder();
  temp_write(folder, "contract.yaml",
             "assay: 1\npolicy: toy\nmodel: policy.onnx\n"
             "inputs: [{name: obs, dtype: float32, shape: [1, 3], preprocess: [{scale: 2}], max_age_ms: 50}]\n"
             "outputs:\n  - {name: action, dtype: float32, shape: [1, 3], axes: [batch, component], components: "
             "[{names: [a, b, c], unit: rad, tolerance: {max: 0.001}}]}\n");
  return folder;
}

/* One case with raw data and inputs of raw * factor; the age is of `aged`. */
static struct gate_result *verify_with(char *folder, float factor, const char *aged) {
  const float made[3] = {raw[0] * factor, raw[1] * factor, raw[2] * factor};
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  build_f32(builder, "raw/obs", "1,3", raw);
  build_f32(builder, "inputs/obs", "1,3", made);
  build_f32(builder, "outputs/action", "1,3", made);
  const struct case_age age = {aged, 20};
  build_case(builder, &(struct corpus_case){.id = "one", .n_ages = 1, .ages = &age});
  build_done(builder);
  return policy_verify(folder);
}

static void the_same_preprocessing_passes(void **state) {
  (void)state;
  char *folder = scaled_folder();
  struct gate_result *result = verify_with(folder, 2, "obs");
  expect_verdict(result, VERDICT_PASS, 0);
  gate_result_free(result);
  temp_free(folder);
}

/* Every rung agrees with the source, and yet the robot would feed something else. */
static void another_preprocessing_is_rejected(void **state) {
  (void)state;
  char *folder = scaled_folder();
  struct gate_result *result = verify_with(folder, 2.01F, "obs");
  expect_verdict(result, VERDICT_REJECT, 1);
  assert_int_equal(gate_reasons(result, ASSAY_PREPROCESS_DRIFT), 1);
  gate_result_free(result);
  temp_free(folder);
}

static void an_age_of_no_input_is_an_input_error(void **state) {
  (void)state;
  char *folder = scaled_folder();
  struct gate_result *result = verify_with(folder, 2, "obss");
  expect_verdict(result, VERDICT_BLOCKED, 2);
  assert_int_equal(gate_reasons(result, ASSAY_INVALID_GOLDEN), 1);
  assert_non_null(strstr(result->reasons.items[0].sentence, "'obss'"));
  gate_result_free(result);
  temp_free(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_same_preprocessing_passes),
      cmocka_unit_test(another_preprocessing_is_rejected),
      cmocka_unit_test(an_age_of_no_input_is_an_input_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
