/* A case that compares nothing must not hide among cases that do: a sequence without steps, an answer without
 * elements. Each is NOTHING_COMPARED, with its name, however well the others agree. */
#include <string.h>

#include "model_builder.h"
#include "policy_builder.h"
#include "support.h"

static const float rows[2][3] = {{0.12F, -0.04F, 0.7F}, {0.5F, 0.25F, 0.1F}};

static const struct gate_reason *nothing_compared(const struct gate_result *result) {
  for (int32_t r = -1; r < result->n_rungs; r++) {
    const struct gate_reasons *reasons = r < 0 ? &result->reasons : &result->rungs[r].reasons;
    for (int32_t i = 0; i < reasons->count; i++) {
      if (reasons->items[i].code == ASSAY_NOTHING_COMPARED) {
        return &reasons->items[i];
      }
    }
  }
  return NULL;
}

/* The corpus holds `good` good cases and a sequence of no steps. */
static void verify_with_empty_sequence(int good) {
  char *folder = policy_folder();
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  for (int i = 0; i < good; i++) {
    build_f32(builder, "inputs/obs", "1,3", rows[i]);
    build_f32(builder, "outputs/action", "1,3", rows[i]);
    build_case(builder, &(struct corpus_case){.id = i == 0 ? "first" : "second"});
  }
  build_f32(builder, "inputs/obs", "0,1,3", NULL);
  build_f32(builder, "outputs/action", "0,1,3", NULL);
  build_case(builder, &(struct corpus_case){.id = "still", .sequence = true});
  build_done(builder);
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_BLOCKED, 3);
  const struct gate_reason *reason = nothing_compared(result);
  assert_non_null(reason);
  if (good > 0) {
    assert_string_equal(reason->case_id, "still");
  }
  gate_result_free(result);
  temp_free(folder);
}

static void a_sequence_without_steps_alone(void **state) {
  (void)state;
  verify_with_empty_sequence(0);
}

static void a_sequence_without_steps_among_others(void **state) {
  (void)state;
  verify_with_empty_sequence(2);
}

/* y = x, of any length; one case has none. */
static void an_answer_without_elements(void **state) {
  (void)state;
  char *folder = policy_folder();
  temp_write(folder, "contract.yaml",
             "assay: 1\npolicy: toy\nmodel: policy.onnx\n"
             "inputs: [{name: obs, dtype: float32, shape: [{min: 0, opt: 2, max: 4}, 3]}]\n"
             "outputs:\n  - {name: action, dtype: float32, shape: [{min: 0, opt: 2, max: 4}, 3], axes: [batch, "
             "component], components: [{names: [a, b, c], unit: rad, tolerance: {max: 1}}]}\n");
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "obs", ASSAY_FLOAT32, "n,3");
  onnx_node(graph, "Identity", "obs", "action");
  onnx_output(graph, "action", ASSAY_FLOAT32, "n,3");
  onnx_write(model, temp_path(folder, "policy.onnx"));
  proto_free(model);
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  build_f32(builder, "inputs/obs", "1,3", rows[0]);
  build_f32(builder, "outputs/action", "1,3", rows[0]);
  build_case(builder, &(struct corpus_case){.id = "full"});
  build_f32(builder, "inputs/obs", "0,3", NULL);
  build_f32(builder, "outputs/action", "0,3", NULL);
  build_case(builder, &(struct corpus_case){.id = "empty"});
  build_done(builder);
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_BLOCKED, 3);
  const struct gate_reason *reason = nothing_compared(result);
  assert_non_null(reason);
  assert_string_equal(reason->case_id, "empty");
  gate_result_free(result);
  temp_free(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_sequence_without_steps_alone),
      cmocka_unit_test(a_sequence_without_steps_among_others),
      cmocka_unit_test(an_answer_without_elements),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
