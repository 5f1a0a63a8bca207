/* Faults of deployment that people have met again and again, rebuilt as a few nodes with the right answer worked
 * out by hand: inputs swapped, joints in another order, a normaliser missing, doubled or inert, units mixed up,
 * state not carried. Each must be rejected, and the right thing beside it must pass. */
#include <math.h>
#include <string.h>

#include "corpus/run_folder.h"
#include "model_builder.h"
#include "policy_builder.h"
#include "support.h"

static const char gate_text[] =
    "assay: 1\ncontract: contract.yaml\ncorpus: golden\nrungs:\n  - {name: fp32, engine: assay}\n";

/* Finds the reason of a code for a component (or of any: NULL) on any rung or of the gate itself. */
static const struct gate_reason *reason_of(const struct gate_result *result, assay_code code, const char *component) {
  for (int32_t r = -1; r < result->n_rungs; r++) {
    const struct gate_reasons *reasons = r < 0 ? &result->reasons : &result->rungs[r].reasons;
    for (int32_t i = 0; i < reasons->count; i++) {
      const struct gate_reason *reason = &reasons->items[i];
      bool named = component == NULL || (reason->component != NULL && strcmp(reason->component, component) == 0);
      if (reason->code == code && named) {
        return reason;
      }
    }
  }
  return NULL;
}

static void assert_rejected(const char *folder, assay_code code, const char *component, double expected,
                            double actual) {
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_REJECT, 1);
  const struct gate_reason *reason = reason_of(result, code, component);
  assert_non_null(reason);
  if (!isnan(expected)) {
    assert_true(fabs(reason->expected.value - expected) < 1e-5);
    assert_true(fabs(reason->actual.value - actual) < 1e-5);
  }
  gate_result_free(result);
}

static void assert_passes(const char *folder) {
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_PASS, 0);
  gate_result_free(result);
}

static void write_model(struct proto *model, const char *folder) {
  onnx_write(model, temp_path(folder, "policy.onnx"));
  proto_free(model);
}

/* --- inputs swapped ----------------------------------------------------------------- */

/* y = a - 2 b. */
static void inputs_are_bound_by_name(void **state) {
  (void)state;
  char *folder = temp_folder();
  struct proto *model = onnx_model(8, 17);
  onnx_input(onnx_graph(model), "b", ASSAY_FLOAT32, "1"); /* the order in the file is not that of the contract */
  onnx_input(onnx_graph(model), "a", ASSAY_FLOAT32, "1");
  onnx_f32(onnx_graph(model), "two", "1", (const float[]){2});
  onnx_node(onnx_graph(model), "Mul", "two,b", "d");
  onnx_node(onnx_graph(model), "Sub", "a,d", "y");
  onnx_output(onnx_graph(model), "y", ASSAY_FLOAT32, "1");
  write_model(model, folder);
  temp_write(folder, "gate.yaml", gate_text);
  temp_write(folder, "contract.yaml",
             "assay: 1\npolicy: p\nmodel: policy.onnx\ninputs:\n  - {name: a, dtype: float32, shape: [1]}\n"
             "  - {name: b, dtype: float32, shape: [1]}\noutputs:\n  - {name: y, dtype: float32, shape: [1],\n"
             "     components: [{name: y, unit: m, tolerance: {max: 0.001}}]}\n");
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  build_f32(builder, "inputs/a", "1", (const float[]){1});
  build_f32(builder, "inputs/b", "1", (const float[]){10});
  build_f32(builder, "outputs/y", "1", (const float[]){-19});
  build_case(builder, &(struct corpus_case){.id = "one"});
  build_done(builder);
  assert_passes(folder);
  model = onnx_model(8, 17); /* the export that swapped the names */
  onnx_input(onnx_graph(model), "a", ASSAY_FLOAT32, "1");
  onnx_input(onnx_graph(model), "b", ASSAY_FLOAT32, "1");
  onnx_f32(onnx_graph(model), "two", "1", (const float[]){2});
  onnx_node(onnx_graph(model), "Mul", "two,a", "d");
  onnx_node(onnx_graph(model), "Sub", "b,d", "y");
  onnx_output(onnx_graph(model), "y", ASSAY_FLOAT32, "1");
  write_model(model, folder);
  assert_rejected(folder, ASSAY_DRIFT_MAX, "y", -19, 8);
  temp_free(folder);
}

/* --- joints in another order ----------------------------------------------------------- */

static const char joints_contract[] =
    "assay: 1\npolicy: p\nmodel: policy.onnx\ninputs:\n  - {name: x, dtype: float32, shape: [1, 3]}\noutputs:\n"
    "  - {name: y, dtype: float32, shape: [1, 3], unit: rad, tolerance: {max: 0.001},\n"
    "     components: [{names: [hip, knee, ankle], pd: {kp: [15, 40, 80], kd: 1}}]}\n";

static void write_identity(const char *folder, const char *stiffness) {
  struct proto *model = onnx_model(8, 17);
  onnx_input(onnx_graph(model), "x", ASSAY_FLOAT32, "1,3");
  onnx_node(onnx_graph(model), "Identity", "x", "y");
  onnx_output(onnx_graph(model), "y", ASSAY_FLOAT32, "1,3");
  onnx_metadata(model, "joint_names", "hip,knee,ankle");
  onnx_metadata(model, "joint_stiffness", stiffness);
  write_model(model, folder);
}

static void joints_keep_their_order(void **state) {
  (void)state;
  char *folder = temp_folder();
  write_identity(folder, "15.000,40.000,80.000");
  temp_write(folder, "contract.yaml", joints_contract);
  temp_write(folder, "gate.yaml",
             "assay: 1\ncontract: contract.yaml\ncorpus: golden\nrungs:\n"
             "  - {name: robot, engine: recorded, outputs: robot}\n");
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  struct run_writer *writer;
  ASSERT_OK(run_writer_open(temp_path(folder, "robot"), &writer));
  for (int i = 0; i < 20; i++) {
    float shift = (float)i / 64.0F;
    const float golden[] = {0.1F + shift, -0.4F + shift, 0.9F + shift};
    const float robot[] = {golden[1], golden[0], golden[2]};
    char id[20];
    snprintf(id, sizeof id, "case_%02d", i);
    build_f32(builder, "inputs/x", "1,3", golden);
    build_f32(builder, "outputs/y", "1,3", golden);
    build_case(builder, &(struct corpus_case){.id = id});
    assay_tensor tensor = test_tensor(ASSAY_FLOAT32, "1,3", robot);
    ASSERT_OK(run_writer_case(writer, id, &(struct npz_entry){"outputs/y", &tensor}, 1));
    tensor_free(&tensor);
  }
  ASSERT_OK(run_writer_commit(writer));
  build_done(builder);
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_REJECT, 1);
  assert_non_null(reason_of(result, ASSAY_DRIFT_MAX, "hip"));
  assert_non_null(reason_of(result, ASSAY_DRIFT_MAX, "knee"));
  assert_null(reason_of(result, ASSAY_DRIFT_MAX, "ankle"));
  gate_result_free(result);
  /* the same joints' gains in the motors' order, beside names in another */
  temp_write(folder, "gate.yaml", gate_text);
  assert_passes(folder);
  write_identity(folder, "80.000,40.000,15.000");
  struct gate_options options = {.folder = folder};
  ASSERT_FAILS(gate_run(&options, &result), ASSAY_METADATA_MISMATCH, "'kp' of 'hip' is 15 here");
  temp_free(folder);
}

/* --- normalisers ---------------------------------------------------------------------- */

static const char normal_contract[] =
    "assay: 1\npolicy: p\nmodel: policy.onnx\ninputs:\n  - {name: x, dtype: float32, shape: [1]}\noutputs:\n"
    "  - {name: y, dtype: float32, shape: [1], components: [{name: joint, unit: deg, raw_unit: sd,\n"
    "     decode: [{scale: 26.4}, {offset: 5}], tolerance: {max: 0.5}}]}\n";

/* y = 3 z + 1 with z = (x - 10) / 2 done `times` over, then times `factor`. */
static void write_normaliser(const char *folder, int times, float factor) {
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "x", ASSAY_FLOAT32, "1");
  onnx_f32(graph, "mean", "1", (const float[]){10});
  onnx_f32(graph, "std", "1", (const float[]){2});
  onnx_f32(graph, "weight", "1", (const float[]){3});
  onnx_f32(graph, "bias", "1", (const float[]){1});
  onnx_f32(graph, "factor", "1", &factor);
  const char *z = "x";
  if (times > 0) {
    onnx_node(graph, "Sub", "x,mean", "c1");
    onnx_node(graph, "Div", "c1,std", "z1");
    z = "z1";
  }
  if (times > 1) {
    onnx_node(graph, "Sub", "z1,mean", "c2");
    onnx_node(graph, "Div", "c2,std", "z2");
    z = "z2";
  }
  char inputs[20];
  snprintf(inputs, sizeof inputs, "%s,weight", z);
  onnx_node(graph, "Mul", inputs, "w");
  onnx_node(graph, "Add", "w,bias", "b");
  onnx_node(graph, "Mul", "b,factor", "y");
  onnx_output(graph, "y", ASSAY_FLOAT32, "1");
  write_model(model, folder);
}

static void normalisers_stand_where_they_should(void **state) {
  (void)state;
  char *folder = temp_folder();
  temp_write(folder, "gate.yaml", gate_text);
  temp_write(folder, "contract.yaml", normal_contract);
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  static const float x[] = {10, 12}, y[] = {1, 4};
  static const double decoded[] = {31.4, 110.6};
  for (int i = 0; i < 2; i++) {
    char id[8];
    snprintf(id, sizeof id, "x%d", (int)x[i]);
    build_f32(builder, "inputs/x", "1", &x[i]);
    build_f32(builder, "outputs/y", "1", &y[i]);
    build_f64(builder, "decoded/joint", "1", &decoded[i]);
    build_case(builder, &(struct corpus_case){.id = id});
  }
  build_done(builder);
  write_normaliser(folder, 1, 1);
  assert_passes(folder);
  /* missing: 31 and 37, the second farther from 4 (33) than the first from 1 (30) */
  write_normaliser(folder, 0, 1);
  assert_rejected(folder, ASSAY_DRIFT_MAX, "joint", 5 + 26.4 * 4, 5 + 26.4 * 37);
  /* doubled: -14 and -12.5; 12's answer is farther from its golden 4 */
  write_normaliser(folder, 2, 1);
  assert_rejected(folder, ASSAY_DRIFT_MAX, "joint", 5 + 26.4 * 4, 5 + 26.4 * -12.5);
  /* degrees answered where radians were */
  write_normaliser(folder, 1, 57.29578F);
  assert_rejected(folder, ASSAY_DRIFT_MAX, "joint", 110.6, 5 + 26.4 * (double)(4 * 57.29578F));
  /* the un-normaliser of the contract is inert: 1.0 where the source decoded 31.4 */
  write_normaliser(folder, 1, 1);
  temp_write(
      folder, "contract.yaml",
      "assay: 1\npolicy: p\nmodel: policy.onnx\ninputs:\n  - {name: x, dtype: float32, shape: [1]}\noutputs:\n"
      "  - {name: y, dtype: float32, shape: [1], components: [{name: joint, unit: deg, tolerance: {max: 0.5}}]}\n");
  assert_rejected(folder, ASSAY_DECODE_DRIFT, NULL, (double)NAN, (double)NAN);
  /* statistics that are not there are an error, never identity */
  temp_write(folder, "stats.json", "{\"observation\": {\"mean\": [5], \"std\": [26.4]}}");
  temp_write(folder, "contract.yaml",
             "assay: 1\npolicy: p\nmodel: policy.onnx\ninputs:\n  - {name: x, dtype: float32, shape: [1]}\noutputs:\n"
             "  - {name: y, dtype: float32, shape: [1], components: [{name: joint, unit: deg, tolerance: {max: 0.5},\n"
             "     decode: [{statistics: {file: stats.json, key: action}}]}]}\n");
  struct gate_result *result = NULL;
  struct gate_options options = {.folder = folder};
  ASSERT_FAILS(gate_run(&options, &result), ASSAY_STATISTICS_INVALID, "no key 'action.mean'; it has observation");
  temp_free(folder);
}

/* --- state ------------------------------------------------------------------------------ */

static const char state_head[] =
    "assay: 1\npolicy: p\nmodel: policy.onnx\ninputs:\n  - {name: x, dtype: float32, shape: [1]}\n";
static const char state_pair[] =
    "state: [{input: h_in, output: h_out, initial: zeros, reset: episode, dtype: float32, shape: [1]}]\n";
static const char state_tail[] =
    "outputs:\n  - {name: y, dtype: float32, shape: [1], components: [{name: y, unit: m, tolerance: {max: 0.001}}]}\n";

/* h' = weight h + x, y = h'. */
static void write_recurrence(const char *folder, float weight) {
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "x", ASSAY_FLOAT32, "1");
  onnx_input(graph, "h_in", ASSAY_FLOAT32, "1");
  onnx_f32(graph, "weight", "1", &weight);
  onnx_node(graph, "Mul", "h_in,weight", "w");
  onnx_node(graph, "Add", "w,x", "h_out");
  onnx_node(graph, "Identity", "h_out", "y");
  onnx_output(graph, "y", ASSAY_FLOAT32, "1");
  onnx_output(graph, "h_out", ASSAY_FLOAT32, "1");
  write_model(model, folder);
}

static void write_state_contract(const char *folder, const char *pair) {
  struct text text = {0};
  text_add(&text, state_head);
  text_add(&text, pair);
  text_add(&text, state_tail);
  temp_write(folder, "contract.yaml", text_string(&text));
  text_free(&text);
}

static void state_is_carried_and_starts_anew(void **state) {
  (void)state;
  char *folder = temp_folder();
  temp_write(folder, "gate.yaml", gate_text);
  write_state_contract(folder, state_pair);
  write_recurrence(folder, 0.5F);
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  for (int i = 0; i < 2; i++) { /* after the reset 1 again */
    build_f32(builder, "inputs/x", "3,1", (const float[]){1, 1, 1});
    build_f32(builder, "outputs/y", "3,1", (const float[]){1, 1.5F, 1.75F});
    build_f32(builder, "outputs/h_out", "3,1", (const float[]){1, 1.5F, 1.75F});
    build_case(builder, &(struct corpus_case){.id = i == 0 ? "first" : "second", .sequence = true});
  }
  build_done(builder);
  assert_passes(folder);
  write_recurrence(folder, 0); /* state that never arrives: 1, 1, 1, right at the first step */
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_REJECT, 1);
  const struct gate_reason *reason = reason_of(result, ASSAY_DRIFT_MAX, "y");
  assert_non_null(reason);
  assert_int_equal(reason->step, 2); /* 0.75 off, the worst */
  assert_true(reason->expected.value == 1.75 && reason->actual.value == 1);
  gate_result_free(result);
  write_recurrence(folder, 0.5F);
  write_state_contract(folder, ""); /* nobody said what is fed back */
  struct gate_options options = {.folder = folder};
  ASSERT_FAILS(gate_run(&options, &result), ASSAY_CONTRACT_MISMATCH, "takes an input 'h_in'");
  temp_free(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(inputs_are_bound_by_name),
      cmocka_unit_test(joints_keep_their_order),
      cmocka_unit_test(normalisers_stand_where_they_should),
      cmocka_unit_test(state_is_carried_and_starts_anew),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
