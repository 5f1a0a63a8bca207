/* What would explain all of a rung's drift is said, and nothing is where one value stays unexplained. */
#include <math.h>
#include <string.h>

#include "corpus/run_folder.h"
#include "policy_builder.h"
#include "support.h"

enum { SAMPLES = 20, COMPONENTS = 3 };

static struct gate_result *judge(const float *expected, const float *actual) {
  char *folder = temp_folder(), id[16];
  struct run_writer *writer;
  temp_write(
      folder, "contract.yaml",
      "assay: 1\npolicy: toy\nmodel: policy.onnx\ninputs:\n  - {name: x, dtype: float32, shape: [1]}\noutputs: [{name: "
      "y, dtype: float32, shape: [3], components: [{names: [hip, knee, ankle], unit: deg, tolerance: {max: "
      "0.01}}]}]\n");
  temp_write(folder, "gate.yaml", policy_recorded_gate);
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  ASSERT_OK(run_writer_open(temp_path(folder, "candidate"), &writer));
  for (int i = 0; i < SAMPLES; i++) {
    snprintf(id, sizeof id, "s%d", i);
    build_f32(builder, "inputs/x", "1", (const float[]){1});
    build_f32(builder, "outputs/y", "3", expected + i * COMPONENTS);
    build_case(builder, &(struct corpus_case){.id = id});
    assay_tensor answer = test_tensor(ASSAY_FLOAT32, "3", actual + i * COMPONENTS);
    ASSERT_OK(run_writer_case(writer, id, &(struct npz_entry){"outputs/y", &answer}, 1));
    tensor_free(&answer);
  }
  build_done(builder);
  ASSERT_OK(run_writer_commit(writer));
  struct gate_result *result = policy_verify(folder);
  temp_free(folder);
  return result;
}

static void says(const float *expected, const float *actual, const char *part) {
  struct gate_result *result = judge(expected, actual);
  const char *said = NULL;
  expect_verdict(result, VERDICT_REJECT, 1);
  for (int32_t i = 0; i < result->rungs[0].reasons.count && said == NULL; i++) {
    const struct gate_reason *reason = &result->rungs[0].reasons.items[i];
    said = reason->code == ASSAY_LOOKS_LIKE ? reason->sentence : NULL;
  }
  if (part == NULL ? said != NULL : said == NULL || strstr(said, part) == NULL) {
    fail_msg("expected %s, got %s", part != NULL ? part : "nothing", said != NULL ? said : "nothing");
  }
  gate_result_free(result);
}

static float golden[SAMPLES * COMPONENTS];

static void fill(float *out, int a, int b, int c, float scale, float offset) {
  for (int i = 0; i < SAMPLES; i++) {
    const int from[COMPONENTS] = {a, b, c};
    for (int k = 0; k < COMPONENTS; k++) {
      out[i * COMPONENTS + k] = (golden[i * COMPONENTS + from[k]] - offset) / scale;
    }
  }
}

static void simple_faults_are_named(void **state) {
  (void)state;
  float rung[SAMPLES * COMPONENTS];
  for (int i = 0; i < SAMPLES * COMPONENTS; i++) {
    golden[i] = 5 + 26.4F * (float)sin(1.7 * i + (i % COMPONENTS));
  }
  fill(rung, 1, 0, 2, 1, 0);
  says(golden, rung, "permutation (1,0,2) explains all samples with error 0");
  fill(rung, 1, 2, 0, 1, 0);
  says(golden, rung, "permutation (1,2,0)");
  fill(rung, 0, 1, 2, 57.29578F, 0);
  says(golden, rung, "'hip': degrees against radians: every value of the reference is 57.29578 times");
  fill(rung, 0, 1, 2, 26.4F, 5);
  says(golden, rung, "'hip': output looks normalised: its spread is 0.688");
  fill(rung, 0, 1, 2, 0.25F, 0);
  says(golden, rung, "a scale or an offset is lost, or applied twice");
}

static void one_value_that_stays_unexplained_is_no_explanation(void **state) {
  (void)state;
  float rung[SAMPLES * COMPONENTS];
  fill(rung, 1, 0, 2, 1, 0);
  rung[30] += 0.5F;
  says(golden, rung, NULL);
  fill(rung, 0, 1, 2, 57.29578F, 0);
  for (int c = 0; c < COMPONENTS; c++) {
    rung[30 + c] += 0.5F;
  }
  says(golden, rung, NULL);
  fill(rung, 0, 1, 2, 1, 0);
  rung[30] = NAN;
  says(golden, rung, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(simple_faults_are_named),
      cmocka_unit_test(one_value_that_stays_unexplained_is_no_explanation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
