/* A rung whose model draws random numbers is BLOCKED with the node named, whatever its answers would be. */
#include <string.h>

#include "model_builder.h"
#include "policy_builder.h"
#include "support.h"

static const float rows[1][3] = {{0.12F, -0.04F, 0.7F}};

/* action = obs + noise that is 0, so that even the answer agrees. */
static void draw_in_graph(const char *folder, const char *file) {
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "obs", ASSAY_FLOAT32, "1,3");
  struct proto *node = onnx_node_of(graph, "", "RandomNormalLike", "jitter", "obs", "z");
  onnx_float(node, "scale", 0);
  onnx_float(node, "seed", 7);
  onnx_node(graph, "Add", "obs,z", "action");
  onnx_output(graph, "action", ASSAY_FLOAT32, "1,3");
  onnx_write(model, temp_path(folder, file));
  proto_free(model);
}

static bool says(const struct gate_reasons *reasons, assay_code code, const char *part) {
  for (int32_t i = 0; i < reasons->count; i++) {
    if (reasons->items[i].code == code && strstr(reasons->items[i].sentence, part) != NULL) {
      return true;
    }
  }
  return false;
}

static void the_rung_is_blocked_and_the_node_named(void **state) {
  (void)state;
  char *folder = policy_folder();
  policy_golden(folder, rows, 1);
  draw_in_graph(folder, "policy.onnx");
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_BLOCKED, 3);
  const struct rung_result *rung = result_rung(result, "fp32");
  assert_int_equal(rung->verdict, VERDICT_BLOCKED);
  assert_true(says(&rung->reasons, ASSAY_UNSTABLE_RUNG, "'jitter' (RandomNormalLike)"));
  assert_true(says(&rung->reasons, ASSAY_UNSTABLE_RUNG, "role: noise"));
  gate_result_free(result);
  temp_free(folder);
}

/* Also an engine that this build may lack; a rung of another model stands by itself. */
static void any_engine_and_only_the_rung_that_has_it(void **state) {
  (void)state;
  char *folder = policy_folder();
  policy_golden(folder, rows, 1);
  draw_in_graph(folder, "random.onnx");
  temp_write(folder, "gate.yaml",
             "assay: 1\ncontract: contract.yaml\ncorpus: golden\nreference: {rung: recorded}\nrungs:\n"
             "  - {name: fp32, engine: assay}\n"
             "  - {name: trt, engine: tensorrt, model: random.onnx, required: false}\n");
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_PASS, 0);
  const struct rung_result *rung = result_rung(result, "trt");
  assert_int_equal(rung->verdict, VERDICT_BLOCKED);
  assert_true(says(&rung->reasons, ASSAY_UNSTABLE_RUNG, "'jitter'"));
  gate_result_free(result);
  temp_free(folder);
}

static void a_reference_that_draws_is_none(void **state) {
  (void)state;
  char *folder = policy_folder();
  policy_golden(folder, rows, 1);
  draw_in_graph(folder, "random.onnx");
  temp_write(folder, "gate.yaml",
             "assay: 1\ncontract: contract.yaml\ncorpus: golden\nreference: {rung: source}\nrungs:\n"
             "  - {name: source, engine: assay, model: random.onnx}\n"
             "  - {name: fp32, engine: assay}\n");
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_BLOCKED, 3);
  assert_true(says(&result->reasons, ASSAY_UNSTABLE_REFERENCE, "'jitter'"));
  assert_true(says(&result_rung(result, "fp32")->reasons, ASSAY_UNSTABLE_REFERENCE, "nothing is said"));
  gate_result_free(result);
  temp_free(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_rung_is_blocked_and_the_node_named),
      cmocka_unit_test(any_engine_and_only_the_rung_that_has_it),
      cmocka_unit_test(a_reference_that_draws_is_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
