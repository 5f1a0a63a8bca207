/* The gate from folder to verdict: the nine rules that make verdicts fail closed, each by what happens when it
 * is needed, and what the result must tell. */
#include <math.h>
#include <string.h>

#include "core/text.h"
#include "corpus/run_folder.h"
#include "model_builder.h"
#include "policy_builder.h"
#include "support.h"

static const float rows[4][3] = {{0.12F, -0.04F, 0.7F}, {0.5F, 0.25F, 0.1F}, {-0.3F, 0.9F, 0.9F}, {1, -1, 0.2F}};

static void the_same_model_passes(void **state) {
  (void)state;
  char *folder = policy_folder();
  policy_golden(folder, rows, 4);
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_PASS, 0);
  const struct rung_result *rung = result_rung(result, "fp32");
  assert_int_equal(rung->cases_run, 4);
  assert_int_equal(rung->elements, 12);
  const struct component_result *wrist = rung_component(rung, "wrist");
  assert_int_equal(wrist->drift.physical.n, 4);
  assert_true(wrist->drift.physical.max == 0);
  assert_false(wrist->physical_distinguishable);
  assert_true(result->reference_noise.rounding_measured);
  assert_false(result->reference_noise.self_measured);
  assert_non_null(strstr(result->reference_noise.self_how, "not measured"));
  assert_non_null(strstr(result->claim, "task"));
  gate_result_free(result);
  temp_free(folder);
}

/* Rule 1. */
static void nan_from_a_rung_is_rejected(void **state) {
  (void)state;
  char *folder = policy_folder();
  policy_golden(folder, rows, 4);
  policy_model(folder, "policy.onnx", (const float[]){1, NAN, 1}, (const float[]){0, 0, 0});
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_REJECT, 1);
  const struct rung_result *rung = result_rung(result, "fp32");
  assert_int_equal(rung_reasons(rung, ASSAY_NONFINITE), 1);
  assert_true(isnan(rung_component(rung, "wrist")->drift.physical.max));
  assert_true(isnan(rung_component(rung, "wrist")->drift.physical.mean));
  assert_string_equal(rung->components[0].name, "wrist"); /* the worst first */
  gate_result_free(result);
  temp_free(folder);
}

/* Rule 1. */
static void a_golden_answer_that_is_not_finite_is_wrong_input(void **state) {
  (void)state;
  const float bad[2][3] = {{1, 2, 0.7F}, {1, NAN, 0.7F}};
  char *folder = policy_folder();
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  build_f32(builder, "inputs/obs", "1,3", bad[0]);
  build_f32(builder, "outputs/action", "1,3", bad[1]);
  build_case(builder, &(struct corpus_case){.id = "nan"});
  build_done(builder);
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_BLOCKED, 2);
  assert_int_equal(gate_reasons(result, ASSAY_INVALID_GOLDEN), 1);
  assert_string_equal(result->reasons.items[0].case_id, "nan");
  gate_result_free(result);
  temp_free(folder);
}

/* A recorded run of one case with one or two outputs. */
static void other_outputs(const char *folder, const char *first, const char *second, assay_dtype dtype,
                          const char *shape) {
  static const double zeros[3] = {0};
  struct run_writer *writer;
  assay_tensor tensors[2] = {test_tensor(dtype, shape, zeros), test_tensor(ASSAY_FLOAT32, "1,3", zeros)};
  struct npz_entry entries[2] = {{first, &tensors[0]}, {second, &tensors[1]}};
  ASSERT_OK(run_writer_open(temp_path(folder, "candidate"), &writer));
  ASSERT_OK(run_writer_case(writer, "c0", entries, second != NULL ? 2 : 1));
  ASSERT_OK(run_writer_commit(writer));
  tensor_free(&tensors[0]);
  tensor_free(&tensors[1]);
}

/* Rule 2. */
static void outputs_are_matched_by_name_type_and_shape(void **state) {
  (void)state;
  const float zeros[1][3] = {{0, 0, 0}};
  const struct {
    const char *first, *second;
    assay_dtype dtype;
    const char *shape;
    assay_code code;
  } faults[] = {
      {"outputs/other", NULL, ASSAY_FLOAT32, "1,3", ASSAY_OUTPUT_MISSING},
      {"outputs/other", NULL, ASSAY_FLOAT32, "1,3", ASSAY_OUTPUT_EXTRA},
      {"outputs/action", "outputs/more", ASSAY_FLOAT32, "1,3", ASSAY_OUTPUT_EXTRA},
      {"outputs/action", NULL, ASSAY_FLOAT64, "1,3", ASSAY_OUTPUT_DTYPE},
      {"outputs/action", NULL, ASSAY_INT32, "1,3", ASSAY_OUTPUT_DTYPE},
      {"outputs/action", NULL, ASSAY_FLOAT32, "3,1", ASSAY_OUTPUT_SHAPE},
      {"outputs/action", NULL, ASSAY_FLOAT32, "1,2", ASSAY_OUTPUT_SHAPE},
      {"outputs/action", NULL, ASSAY_FLOAT32, "3", ASSAY_OUTPUT_SHAPE},
  };
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
    char *folder = policy_folder();
    policy_golden(folder, zeros, 1);
    temp_write(folder, "gate.yaml", policy_recorded_gate);
    other_outputs(folder, faults[i].first, faults[i].second, faults[i].dtype, faults[i].shape);
    struct gate_result *result = policy_verify(folder);
    expect_verdict(result, VERDICT_REJECT, 1);
    assert_int_equal(rung_reasons(result_rung(result, "candidate"), faults[i].code), 1);
    gate_result_free(result);
    temp_free(folder);
  }
}

/* Rule 2: their order in the file is irrelevant. */
static void the_order_of_outputs_is_irrelevant(void **state) {
  (void)state;
  const char *contract =
      "assay: 1\npolicy: two\nmodel: policy.onnx\n"
      "inputs: [{name: obs, dtype: float32, shape: [1, 3]}]\n"
      "outputs:\n"
      "  - {name: a, dtype: float32, shape: [1, 3], axes: [batch, component], components: [{names: [x, y, z], unit: m, "
      "tolerance: {max: 0}}]}\n"
      "  - {name: b, dtype: float32, shape: [1, 3], axes: [batch, component], components: [{names: [u, v, w], unit: m, "
      "tolerance: {max: 0}}]}\n";
  char *folder = policy_folder();
  temp_write(folder, "contract.yaml", contract);
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "obs", ASSAY_FLOAT32, "1,3");
  onnx_node(graph, "Neg", "obs", "b");
  onnx_node(graph, "Identity", "obs", "a");
  onnx_output(graph, "b", ASSAY_FLOAT32, "1,3");
  onnx_output(graph, "a", ASSAY_FLOAT32, "1,3");
  onnx_write(model, temp_path(folder, "policy.onnx"));
  proto_free(model);
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  build_f32(builder, "inputs/obs", "1,3", (const float[]){1, 2, 3});
  build_f32(builder, "outputs/a", "1,3", (const float[]){1, 2, 3});
  build_f32(builder, "outputs/b", "1,3", (const float[]){-1, -2, -3});
  build_case(builder, &(struct corpus_case){.id = "c0"});
  build_done(builder);
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_PASS, 0);
  gate_result_free(result);
  temp_free(folder);
}

/* Rule 3. */
static void nothing_to_compare_is_blocked(void **state) {
  (void)state;
  char *folder = policy_folder();
  policy_golden(folder, rows, 0);
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_BLOCKED, 3);
  assert_int_equal(gate_reasons(result, ASSAY_NOTHING_COMPARED), 1);
  gate_result_free(result);
  temp_free(folder);
}

/* Rule 3. */
static void a_component_that_nothing_judges_is_blocked(void **state) {
  (void)state;
  char *folder = policy_folder();
  temp_write(folder, "contract.yaml",
             "assay: 1\npolicy: toy\nmodel: policy.onnx\ninputs: [{name: obs, dtype: float32, shape: [1, 3]}]\n"
             "outputs:\n  - {name: action, dtype: float32, shape: [1, 3], axes: [batch, component], components: "
             "[{names: [a, b], unit: rad, tolerance: {max: 1}}, {name: c, unit: rad}]}\n");
  policy_golden(folder, rows, 4);
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_BLOCKED, 3);
  assert_int_equal(rung_reasons(result_rung(result, "fp32"), ASSAY_TOLERANCE_MISSING), 1);
  assert_int_equal(rung_component(result_rung(result, "fp32"), "c")->verdict, VERDICT_BLOCKED);
  gate_result_free(result);
  temp_free(folder);
}

/* Rule 5. */
static void a_flip_is_rejected_however_small_the_error(void **state) {
  (void)state;
  const float golden[2][3] = {{0, 0, 0.5001F}, {0, 0, 0.9F}};
  char *folder = policy_folder();
  policy_golden(folder, golden, 2);
  policy_model(folder, "policy.onnx", (const float[]){1, 1, 1}, (const float[]){0, 0, -0.0002F});
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_REJECT, 1);
  const struct rung_result *rung = result_rung(result, "fp32");
  assert_int_equal(rung_reasons(rung, ASSAY_DECISION_FLIP), 1);
  assert_int_equal(rung->decisions[0].flips, 1);
  assert_int_equal(rung->decisions[0].n, 2);
  assert_true(fabs(rung->decisions[0].smallest_margin - 1e-4) < 1e-7);
  assert_string_equal(rung->decisions[0].cases[0].case_id, "c0");
  assert_string_equal(rung->decisions[0].cases[0].expected_label, "close");
  assert_string_equal(rung->decisions[0].cases[0].actual_label, "open");
  gate_result_free(result);
  temp_free(folder);
}

/* Rule 5. */
static void margins_below_the_drift_are_listed(void **state) {
  (void)state;
  const float golden[3][3] = {{0, 0, 0.4999F}, {0, 0, 0.9F}, {0, 0, 0.51F}};
  char *folder = policy_folder();
  policy_golden(folder, golden, 3);
  policy_model(folder, "policy.onnx", (const float[]){1, 1, 1}, (const float[]){0, 0, -0.001F});
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_PASS, 0);
  const struct decision_result *decision = &result_rung(result, "fp32")->decisions[0];
  assert_int_equal(decision->flips, 0);
  assert_int_equal(decision->low_margin, 1);
  assert_int_equal(decision->n_cases, 1);
  assert_string_equal(decision->cases[0].case_id, "c0");
  gate_result_free(result);
  temp_free(folder);
}

/* Rule 5: two recorded repeats that lie on both sides. */
static void a_case_within_the_noise_cannot_decide(void **state) {
  (void)state;
  char *folder = policy_folder();
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  build_f32(builder, "inputs/obs", "1,3", (const float[]){0, 0, 0.5001F});
  build_f32(builder, "outputs/action", "1,3", (const float[]){0, 0, 0.5001F});
  build_f32(builder, "repeats/0/action", "1,3", (const float[]){0, 0, 0.4998F});
  build_case(builder, &(struct corpus_case){.id = "edge"});
  build_done(builder);
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_BLOCKED, 3);
  assert_int_equal(gate_reasons(result, ASSAY_GOLDEN_UNDECIDABLE), 1);
  assert_true(result->reference_noise.self_measured);
  gate_result_free(result);
  temp_free(folder);
}

/* Rule 6. */
static void a_good_average_hides_no_bad_case(void **state) {
  (void)state;
  float many[100][3] = {{0}};
  char *folder = policy_folder();
  policy_golden(folder, (const float(*)[3])many, 100);
  many[57][1] = 0.003F;
  policy_run(folder, "candidate", (const float(*)[3])many, 100);
  temp_write(folder, "gate.yaml", policy_recorded_gate);
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_REJECT, 1);
  const struct component_result *wrist = rung_component(result_rung(result, "candidate"), "wrist");
  assert_true(wrist->drift.physical.mean < 0.0001 && wrist->drift.physical.p99 == 0);
  assert_int_equal(rung_reasons(result_rung(result, "candidate"), ASSAY_DRIFT_MAX), 1);
  assert_string_equal(result->case_ids[wrist->drift.physical.worst.case_index], "c57");
  gate_result_free(result);
  temp_free(folder);
}

/* Rule 8. */
static void an_unstable_reference_gives_no_verdict_on_anything_else(void **state) {
  (void)state;
  char *folder = policy_folder();
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  build_f32(builder, "inputs/obs", "1,3", (const float[]){0, 0, 0.9F});
  build_f32(builder, "outputs/action", "1,3", (const float[]){0, 0, 0.9F});
  build_f32(builder, "repeats/0/action", "1,3", (const float[]){0, 0.01F, 0.9F});
  build_case(builder, &(struct corpus_case){.id = "c0"});
  build_done(builder);
  /* The candidate is far off, too: nothing is said about it. */
  policy_model(folder, "policy.onnx", (const float[]){1, 1, 1}, (const float[]){7, 7, 7});
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_BLOCKED, 3);
  assert_int_equal(gate_reasons(result, ASSAY_UNSTABLE_REFERENCE), 1);
  assert_int_equal(result_rung(result, "fp32")->verdict, VERDICT_BLOCKED);
  gate_result_free(result);
  temp_free(folder);
}

/* Rule 9, and what is not asked for is not answered. */
static void parity_is_not_package_nor_task(void **state) {
  (void)state;
  char *folder = policy_folder();
  policy_golden(folder, rows, 4);
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_PASS, 0);
  assert_int_equal(result->n_others, 2);
  for (int32_t i = 0; i < result->n_others; i++) {
    assert_int_equal(result->others[i].verdict, VERDICT_BLOCKED);
  }
  assert_non_null(strstr(result->claim, "nothing about success at the task"));
  gate_result_free(result);
  temp_free(folder);
}

static void a_live_reference_is_run_against_itself(void **state) {
  (void)state;
  char *folder = policy_folder();
  policy_golden(folder, rows, 4);
  policy_model(folder, "other.onnx", (const float[]){1, 1, 1}, (const float[]){0, 0.5F, 0});
  temp_write(folder, "gate.yaml",
             "assay: 1\ncontract: contract.yaml\ncorpus: golden\nreference: {rung: exact}\n"
             "noise: {repeats: 3, processes: 2, threads: [1, 2], rebuild: 2}\n"
             "rungs:\n  - {name: exact, engine: assay, precision: fp64}\n  - {name: other, engine: assay, model: "
             "other.onnx}\n");
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_REJECT, 1);
  const struct noise_result *noise = &result->reference_noise;
  assert_true(noise->self_measured && noise->history_checked);
  assert_int_equal(noise->repeats, 3);
  assert_int_equal(noise->processes, 2);
  assert_int_equal(noise->threads, 2);
  assert_int_equal(noise->sessions, 2);
  const struct component_result *wrist = rung_component(result_rung(result, "other"), "wrist");
  assert_true(fabs(wrist->drift.physical.max - 0.5) < 1e-6);
  assert_true(wrist->raw_noise.self == 0);
  assert_true(result_rung(result, "exact")->is_reference);
  gate_result_free(result);
  temp_free(folder);
}

static void optional_rungs_are_shown_and_do_not_decide(void **state) {
  (void)state;
  char *folder = policy_folder();
  policy_golden(folder, rows, 4);
  policy_model(folder, "bad.onnx", (const float[]){1, 1, 1}, (const float[]){1, 1, 0});
  temp_write(folder, "gate.yaml",
             "assay: 1\ncontract: contract.yaml\ncorpus: golden\nrungs:\n"
             "  - {name: fp32, engine: assay}\n"
             "  - {name: bad, engine: assay, model: bad.onnx, required: false}\n"
             "  - {name: missing, engine: assay, model: none.onnx, required: false}\n"
             "  - {name: trt, engine: tensorrt, required: false}\n"
             "  - {name: lost, engine: recorded, outputs: nowhere, required: false}\n"
             "  - {name: fp16, engine: assay, precision: fp16, required: false}\n");
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_PASS, 0);
  assert_int_equal(result_rung(result, "bad")->verdict, VERDICT_REJECT);
  assert_int_equal(result_rung(result, "missing")->verdict, VERDICT_BLOCKED);
  assert_int_equal(rung_reasons(result_rung(result, "missing"), ASSAY_FILE_MISSING), 1);
  assert_int_equal(rung_reasons(result_rung(result, "trt"), ASSAY_RUNTIME_MISSING), 1);
  assert_int_equal(rung_reasons(result_rung(result, "lost"), ASSAY_FILE_MISSING), 1);
  assert_true(result_rung(result, "fp16")->actual.emulated);
  gate_result_free(result);
  temp_free(folder);
}

static void a_missing_runtime_that_is_required_blocks(void **state) {
  (void)state;
  char *folder = policy_folder();
  policy_golden(folder, rows, 4);
  temp_write(
      folder, "gate.yaml",
      "assay: 1\ncontract: contract.yaml\ncorpus: golden\nrungs:\n  - {name: ort, engine: onnxruntime, provider: "
      "cpu, library: /nowhere/libonnxruntime.so}\n");
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_BLOCKED, 3);
  const struct rung_result *rung = result_rung(result, "ort");
  assert_int_equal(rung_reasons(rung, ASSAY_RUNTIME_MISSING), 1);
  assert_int_equal(rung->n_decisions, 1);
  assert_int_equal(rung->decisions[0].verdict, VERDICT_BLOCKED); /* none was taken, so none is kept */
  gate_result_free(result);
  temp_free(folder);
}

static void invalid_cases_must_get_exactly_their_code(void **state) {
  (void)state;
  char *folder = policy_folder();
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  build_f32(builder, "inputs/obs", "1,3", rows[0]);
  build_f32(builder, "outputs/action", "1,3", rows[0]);
  build_case(builder, &(struct corpus_case){.id = "good"});
  build_f32(builder, "inputs/obs", "1,3", (const float[]){1, NAN, 1});
  build_case(builder, &(struct corpus_case){.id = "nan", .refuse = true, .refusal = ASSAY_INPUT_NAN});
  build_f32(builder, "inputs/obs", "1,3", (const float[]){1, 1, 1});
  build_case(builder, &(struct corpus_case){.id = "accepted", .refuse = true, .refusal = ASSAY_INPUT_RANGE});
  build_f32(builder, "inputs/obs", "1,3", (const float[]){1, INFINITY, 1});
  build_case(builder, &(struct corpus_case){.id = "other code", .refuse = true, .refusal = ASSAY_INPUT_NAN});
  build_f32(builder, "inputs/obs", "3", (const float[]){1, 1, 1});
  build_case(builder, &(struct corpus_case){.id = "shape", .refuse = true, .refusal = ASSAY_INPUT_SHAPE});
  build_done(builder);
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_REJECT, 1);
  assert_int_equal(result->n_invalid, 4);
  assert_int_equal(gate_reasons(result, ASSAY_INVALID_ACCEPTED), 2);
  assert_int_equal(result->invalid[0].verdict, VERDICT_PASS);
  assert_null(result->invalid[1].actual);
  assert_string_equal(result->invalid[2].actual, "INPUT_INF");
  assert_int_equal(result->invalid[3].verdict, VERDICT_PASS);
  assert_int_equal(result_rung(result, "fp32")->verdict, VERDICT_PASS);
  gate_result_free(result);
  temp_free(folder);
}

static void a_golden_case_with_refused_inputs_is_wrong_input(void **state) {
  (void)state;
  const float outside[1][3] = {{1, 1000, 0.7F}};
  char *folder = policy_folder();
  policy_golden(folder, outside, 1);
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_BLOCKED, 2);
  assert_int_equal(gate_reasons(result, ASSAY_INVALID_GOLDEN), 1);
  gate_result_free(result);
  temp_free(folder);
}

static void a_corpus_of_another_role_is_refused(void **state) {
  (void)state;
  char *folder = policy_folder();
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_CALIBRATION);
  build_f32(builder, "inputs/obs", "1,3", rows[0]);
  build_case(builder, &(struct corpus_case){.id = "c0"});
  build_done(builder);
  struct gate_result *result = NULL;
  ASSERT_FAILS(gate_run(&(struct gate_options){.folder = folder}, &result), ASSAY_CORPUS_ROLE, "calibration");
  temp_free(folder);
}

/* The names of policies are labels: they decide nothing, and a difference is said. */
static void a_corpus_of_another_policy_is_noted(void **state) {
  (void)state;
  char *folder = policy_folder();
  policy_golden(folder, rows, 4); /* recorded for 'test' */
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_PASS, 0);
  assert_int_equal(result->n_notes, 1);
  assert_non_null(strstr(result->notes[0], "recorded for the policy 'test', but the contract describes 'toy'"));
  gate_result_free(result);
  struct text contract = {0};
  text_format(&contract, "assay: 1\npolicy: test\n%s", strstr(policy_contract, "model:"));
  temp_write(folder, "contract.yaml", text_string(&contract));
  text_free(&contract);
  result = policy_verify(folder);
  expect_verdict(result, VERDICT_PASS, 0);
  assert_int_equal(result->n_notes, 0);
  gate_result_free(result);
  temp_free(folder);
}

/* Nothing could be carried, whatever the rung: that is the contract's fault, at its line. */
static void a_state_without_its_output_is_a_fault_of_the_contract(void **state) {
  (void)state;
  char *folder = policy_folder();
  policy_golden(folder, rows, 4);
  temp_write(folder, "contract.yaml",
             "assay: 1\npolicy: test\nmodel: policy.onnx\n"
             "outputs:\n  - {name: action, dtype: float32, shape: [1, 3], axes: [batch, component], components: "
             "[{names: [a, b, c], unit: rad, tolerance: {max: 1}}]}\n"
             "inputs: [{name: obs, dtype: float32, shape: [1, 3]}]\n"
             "state:\n  - {input: obs, output: next_obs, initial: zeros}\n");
  struct gate_result *result = NULL;
  assay_status status = gate_run(&(struct gate_options){.folder = folder}, &result);
  assert_int_equal(status.code, ASSAY_CONTRACT_INVALID); /* the output is described nowhere */
  assay_status_clear(&status);
  temp_write(folder, "contract.yaml",
             "assay: 1\npolicy: test\nmodel: policy.onnx\n"
             "outputs:\n  - {name: action, dtype: float32, shape: [1, 3], axes: [batch, component], components: "
             "[{names: [a, b, c], unit: rad, tolerance: {max: 1}}]}\n"
             "  - {name: next_obs, dtype: float32, shape: [1, 3]}\n"
             "inputs: [{name: obs, dtype: float32, shape: [1, 3]}]\n"
             "state:\n  - {input: obs, output: next_obs, initial: zeros}\n");
  status = gate_run(&(struct gate_options){.folder = folder}, &result);
  assert_int_equal(status.code, ASSAY_CONTRACT_MISMATCH);
  assert_non_null(strstr(assay_status_where(status), "contract.yaml:9:5"));
  assert_non_null(strstr(assay_status_sentence(status), "the state 'obs' comes from the output 'next_obs'"));
  assay_status_clear(&status);
  temp_free(folder);
}

static void a_control_group_that_is_asked_for_is_not_passed_over(void **state) {
  (void)state;
  char *folder = policy_folder();
  policy_golden(folder, rows, 4);
  char gate[1024];
  snprintf(gate, sizeof gate, "%sconstrain: {cpus: 1, ram_mb: 512}\n", policy_gate);
  temp_write(folder, "gate.yaml", gate);
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_BLOCKED, 3);
  assert_int_equal(gate_reasons(result, ASSAY_CONSTRAIN_UNSUPPORTED), 1);
  gate_result_free(result);
  temp_free(folder);
}

static void groups_are_by_tag_and_magnitude(void **state) {
  (void)state;
  char *folder = policy_folder();
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  for (int i = 0; i < 4; i++) {
    struct case_tag tag = {"light", i % 2 == 0 ? "dark" : "bright"};
    char id[16];
    snprintf(id, sizeof id, "c%d", i);
    build_f32(builder, "inputs/obs", "1,3", rows[i]);
    build_f32(builder, "outputs/action", "1,3", rows[i]);
    build_case(builder, &(struct corpus_case){.id = id, .n_tags = 1, .tags = &tag});
  }
  build_done(builder);
  float moved[4][3];
  memcpy(moved, rows, sizeof rows);
  moved[2][0] += 0.001F;
  policy_run(folder, "candidate", (const float(*)[3])moved, 4);
  temp_write(folder, "gate.yaml", policy_recorded_gate);
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_PASS, 0);
  const struct component_result *shoulder = rung_component(result_rung(result, "candidate"), "shoulder");
  int seen = 0;
  int64_t by_magnitude = 0;
  for (int32_t g = 0; g < shoulder->n_groups; g++) {
    const struct drift_group *group = &shoulder->groups[g];
    if (strcmp(group->by, "light") == 0) {
      assert_int_equal(group->drift.physical.n, 2);
      assert_int_equal(group->drift.physical.max > 0, strcmp(group->value, "dark") == 0);
      seen++;
    } else {
      by_magnitude += group->drift.physical.n;
    }
  }
  assert_int_equal(seen, 2);
  assert_int_equal(by_magnitude, 4);
  gate_result_free(result);
  temp_free(folder);
}

static void the_guards_answer_is_a_decision(void **state) {
  (void)state;
  static const struct {
    assay_code guard;
    float golden, rung;
    enum verdict verdict;
    int exit_code;
  } ways[] = {
      {ASSAY_OK, 1.0F, 1.0F, VERDICT_PASS, 0},
      {ASSAY_ACTION_LIMIT, 1.7F, 1.7F, VERDICT_PASS, 0},
      {ASSAY_OK, 1.5995F, 1.6005F, VERDICT_REJECT, 1}, /* well within the tolerance */
      {ASSAY_ACTION_LIMIT, 1.6005F, 1.5995F, VERDICT_REJECT, 1},
      {ASSAY_OK, 1.7F, 1.7F, VERDICT_BLOCKED, 2}, /* the source itself would be refused */
  };
  for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
    char *folder = policy_folder();
    const float golden[3] = {ways[i].golden, 0, 0.9F}, answered[1][3] = {{ways[i].rung, 0, 0.9F}};
    temp_write(
        folder, "contract.yaml",
        "assay: 1\npolicy: toy\nmodel: policy.onnx\ninputs: [{name: obs, dtype: float32, shape: [1, 3]}]\n"
        "outputs:\n  - {name: action, dtype: float32, shape: [1, 3], axes: [batch, component], components: "
        "[{names: [a, b, c], unit: rad, tolerance: {max: 0.01, saturation: 3}, limits: {min: -1.6, max: 1.6}}]}\n");
    temp_write(folder, "gate.yaml", policy_recorded_gate);
    struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
    build_f32(builder, "inputs/obs", "1,3", golden);
    build_f32(builder, "outputs/action", "1,3", golden);
    build_case(builder,
               &(struct corpus_case){.id = "c0", .n_guard = 1, .guard = &(struct case_guard){-1, ways[i].guard}});
    build_done(builder);
    policy_run(folder, "candidate", answered, 1);
    struct gate_result *result = policy_verify(folder);
    expect_verdict(result, ways[i].verdict, ways[i].exit_code);
    assert_int_equal(rung_reasons(result_rung(result, "candidate"), ASSAY_GUARD_FLIP),
                     ways[i].verdict == VERDICT_REJECT);
    gate_result_free(result);
    temp_free(folder);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_same_model_passes),
      cmocka_unit_test(nan_from_a_rung_is_rejected),
      cmocka_unit_test(a_golden_answer_that_is_not_finite_is_wrong_input),
      cmocka_unit_test(outputs_are_matched_by_name_type_and_shape),
      cmocka_unit_test(the_order_of_outputs_is_irrelevant),
      cmocka_unit_test(nothing_to_compare_is_blocked),
      cmocka_unit_test(a_component_that_nothing_judges_is_blocked),
      cmocka_unit_test(a_flip_is_rejected_however_small_the_error),
      cmocka_unit_test(margins_below_the_drift_are_listed),
      cmocka_unit_test(a_case_within_the_noise_cannot_decide),
      cmocka_unit_test(a_good_average_hides_no_bad_case),
      cmocka_unit_test(an_unstable_reference_gives_no_verdict_on_anything_else),
      cmocka_unit_test(parity_is_not_package_nor_task),
      cmocka_unit_test(a_live_reference_is_run_against_itself),
      cmocka_unit_test(optional_rungs_are_shown_and_do_not_decide),
      cmocka_unit_test(a_missing_runtime_that_is_required_blocks),
      cmocka_unit_test(invalid_cases_must_get_exactly_their_code),
      cmocka_unit_test(a_golden_case_with_refused_inputs_is_wrong_input),
      cmocka_unit_test(a_corpus_of_another_role_is_refused),
      cmocka_unit_test(a_corpus_of_another_policy_is_noted),
      cmocka_unit_test(a_state_without_its_output_is_a_fault_of_the_contract),
      cmocka_unit_test(a_control_group_that_is_asked_for_is_not_passed_over),
      cmocka_unit_test(groups_are_by_tag_and_magnitude),
      cmocka_unit_test(the_guards_answer_is_a_decision),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
