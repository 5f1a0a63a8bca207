/* gate.yaml: what a whole one means, and the place of every fault. */
#include <math.h>
#include <string.h>

#include "failing_memory.h"
#include "gate/gate_file.h"
#include "support.h"

static const char whole[] =
    "assay: 1\n"
    "contract: contract.yaml\n"
    "corpus: ../golden\n"
    "reference: {rung: exact}\n"
    "noise: {cases: 7, repeats: 5, processes: 3, threads: [1, 2], rebuild: 4}\n"
    "rungs:\n"
    "  - {name: exact, engine: assay, precision: fp64}\n"
    "  - {name: fp32, engine: assay, threads: 2, model: sub/other.onnx, time_limit_s: 2.5,\n"
    "     tolerance: {wrist: {max: 0.001, space: raw}, action/shoulder: {p99: 0.5, reason: the arm is slow}}}\n"
    "  - {name: ort, engine: onnxruntime, provider: cpu, device: cpu, required: false, settings: {arena: \"off\"},\n"
    "     tolerance: {max: 0.1, reason: later}}\n"
    "  - {name: half, engine: assay, precision: fp16, required: false, keep: [MatMul_3, head]}\n"
    "  - {name: old, engine: recorded, outputs: runs/old, required: false}\n";

static assay_status parse(const char *text, struct gate_file **out) {
  return gate_file_parse(text, strlen(text), "gate.yaml", "/policy", out);
}

static void reads_every_part(void **state) {
  (void)state;
  struct gate_file *gate;
  ASSERT_OK(parse(whole, &gate));
  assert_string_equal(gate->contract_path, "/policy/contract.yaml");
  assert_string_equal(gate->corpus_path, "/policy/../golden");
  assert_string_equal(gate->reference, "exact");
  assert_int_equal(gate->reference_rung, 0);
  assert_int_equal(gate->noise.cases, 7);
  assert_int_equal(gate->noise.repeats, 5);
  assert_int_equal(gate->noise.processes, 3);
  assert_int_equal(gate->noise.rebuild, 4);
  assert_int_equal(gate->noise.threads[1], 2);
  assert_int_equal(gate->n_rungs, 5);
  const struct gate_rung *fp32 = &gate->rungs[1], *ort = &gate->rungs[2];
  assert_true(fp32->required && fp32->own_model && fp32->request.time_limit_s == 2.5);
  assert_string_equal(fp32->request.model_path, "/policy/sub/other.onnx");
  assert_int_equal(fp32->request.threads, 2);
  assert_int_equal(fp32->n_tolerances, 2);
  assert_true(fp32->tolerances[0].max == 0.001 && isnan(fp32->tolerances[0].p99) && fp32->tolerances[0].space == 1);
  assert_string_equal(fp32->tolerances[1].component, "action/shoulder");
  assert_string_equal(fp32->tolerances[1].reason, "the arm is slow");
  assert_false(ort->required);
  assert_null(ort->tolerances[0].component);
  assert_string_equal(rung_setting_find(&ort->request, "device"), "cpu");
  assert_string_equal(rung_setting_find(&ort->request, "arena"), "off");
  assert_int_equal(gate->rungs[3].request.n_keep, 2);
  assert_string_equal(gate->rungs[4].request.outputs_folder, "/policy/runs/old");
  gate_file_free(gate);
}

/* The file with `from` replaced by `to`. */
static char *changed(const char *from, const char *to) {
  static char text[4096];
  const char *at = strstr(whole, from);
  assert_non_null(at);
  snprintf(text, sizeof text, "%.*s%s%s", (int)(at - whole), whole, to, at + strlen(from));
  return text;
}

static void every_fault_has_its_place_and_sentence(void **state) {
  (void)state;
  const struct {
    const char *from, *to, *where, *part;
  } faults[] = {
      {"assay: 1", "assay: 2", "gate.yaml:1:8", "version"},
      {"contract: contract.yaml\n", "", "gate.yaml:1:1", "contract"},
      {"corpus: ../golden\n", "", "gate.yaml:1:1", "corpus"},
      {"corpus:", "corpsu:", "gate.yaml:3:1", "corpus"},
      {"reference: {rung: exact}", "reference: {rung: nobody}", "gate.yaml:4:19", "nobody"},
      {"reference: {rung: exact}", "reference: {rung: half}", "gate.yaml:4:19", "emulation"},
      {"reference: {rung: exact}", "reference: exact", "gate.yaml:4:12", "reference"},
      {"repeats: 5", "repeats: 0", "gate.yaml:5:28", "repeats"},
      {"repeats: 5", "repeat: 5", "gate.yaml:5:19", "repeats"},
      {"threads: [1, 2]", "threads: [0]", "gate.yaml:5:55", "threads"},
      {"threads: [1, 2]", "threads: 2", "gate.yaml:5:54", "list"},
      {"name: exact", "name: fp32", "gate.yaml:8:5", "line 7"},
      {"name: exact", "name: recorded", "gate.yaml:7:12", "recorded"},
      {"engine: onnxruntime", "engine: onnxruntim", "gate.yaml:10:25", "onnxruntime"},
      {"engine: recorded, outputs: runs/old", "engine: recorded", "gate.yaml:13:5", "outputs: DIR"},
      {"precision: fp64}", "outputs: x}", "gate.yaml:7:5", "engine: recorded"},
      {"fp16, required: false", "fp16", "gate.yaml:12:5", "never be required"},
      {"time_limit_s: 2.5", "time_limit_s: 0", "gate.yaml:8:82", "above 0"},
      {"max: 0.001", "max: -1", "gate.yaml:9:31", "0 or more"},
      {"max: 0.001", "maximum: 1", "gate.yaml:9:26", "max"},
      {"space: raw", "space: real", "gate.yaml:9:45", "physical"},
      {"settings: {arena: \"off\"}", "settings: {device: x}", "gate.yaml:10:53", "say it once"},
      {"keep: [MatMul_3, head]", "keep: head", "gate.yaml:12:73", "list"},
      {"required: false, keep", "required: maybe, keep", "gate.yaml:12:60", "required"},
      {"corpus: ../golden", "corpus: ../golden\nbudget: {ram_mb: 5}", "gate.yaml:4:1", "later assay"},
      {"contract: contract.yaml", "contract: TODO", "gate.yaml:2:11", "TODO"},
  };
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
    struct gate_file *gate = NULL;
    assay_status status = parse(changed(faults[i].from, faults[i].to), &gate);
    bool right = (status.code == ASSAY_GATE_INVALID || status.code == ASSAY_OPEN_QUESTION) &&
                 strcmp(assay_status_where(status), faults[i].where) == 0 &&
                 strstr(assay_status_sentence(status), faults[i].part) != NULL;
    if (!right) {
      print_error("%s -> %s: expected %s \"%s\", got %s: %s: %s\n", faults[i].from, faults[i].to, faults[i].where,
                  faults[i].part, assay_code_name(status.code), assay_status_where(status),
                  assay_status_sentence(status));
      gate_file_free(gate);
    }
    assert_true(right);
    assay_status_clear(&status);
  }
}

static void a_gate_must_require_something(void **state) {
  (void)state;
  struct gate_file *gate;
  ASSERT_FAILS(parse("assay: 1\ncontract: c\ncorpus: g\nrungs: []\n", &gate), ASSAY_GATE_INVALID,
               "no rung is required");
  ASSERT_FAILS(parse("assay: 1\ncontract: c\ncorpus: g\nrungs: [{name: a, engine: assay, required: false}]\n", &gate),
               ASSAY_GATE_INVALID, "no rung is required");
  ASSERT_FAILS(
      parse("assay: 1\ncontract: c\ncorpus: g\nreference: {rung: a}\nrungs: [{name: a, engine: assay}]\n", &gate),
      ASSAY_GATE_INVALID, "beside the reference");
}

static const char contract_text[] =
    "assay: 1\npolicy: p\nmodel: m.onnx\ninputs: [{name: x, dtype: float32, shape: [2]}]\n"
    "outputs: [{name: action, dtype: float32, shape: [2], axes: [component], components: ["
    "{name: shoulder, unit: rad, tolerance: {max: 0.002, p99: 0.001}}, {name: wrist, unit: rad, tolerance: {max: "
    "0.002}}]}]\n";

static void tolerances_may_only_be_tighter_without_a_reason(void **state) {
  (void)state;
  const struct {
    const char *tolerance, *part; /* part NULL: accepted */
  } ways[] = {
      {"{wrist: {max: 0.001}}", NULL},
      {"{wrist: {max: 0.002, mean: 1}}", NULL},
      {"{action/wrist: {max: 0.001}}", NULL},
      {"{max: 0.001}", NULL},
      {"{wrist: {max: 0.003}}", "reason"},
      {"{wrist: {max: 0.003, reason: it is stiff}}", NULL},
      {"{max: 0.003}", "reason"},
      {"{wrist: {sign_flips: 1}}", "reason"},
      {"{wrist: {space: raw}}", "reason"},
      {"{elbow: {max: 0.001}}", "no component"},
      {"{other/wrist: {max: 0.001}}", "no component"},
  };
  struct contract *contract;
  ASSERT_OK(contract_parse(contract_text, strlen(contract_text), "contract.yaml", ".", &contract));
  for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
    char text[512];
    struct gate_file *gate;
    snprintf(text, sizeof text, "assay: 1\ncontract: c\ncorpus: g\nrungs: [{name: a, engine: assay, tolerance: %s}]\n",
             ways[i].tolerance);
    ASSERT_OK(parse(text, &gate));
    if (ways[i].part != NULL) {
      ASSERT_FAILS(gate_file_bind(gate, contract), ASSAY_GATE_INVALID, ways[i].part);
    } else {
      ASSERT_OK(gate_file_bind(gate, contract));
    }
    gate_file_free(gate);
  }
  contract_free(contract);
}

static void what_a_rung_does_not_say_stands_in_the_contract(void **state) {
  (void)state;
  struct contract *contract;
  struct gate_file *gate;
  const char *reason;
  const char *text =
      "assay: 1\ncontract: c\ncorpus: g\nrungs: [{name: a, engine: assay, tolerance: {shoulder: {max: 0.004, "
      "reason: it is slow}}}]\n";
  ASSERT_OK(contract_parse(contract_text, strlen(contract_text), "contract.yaml", ".", &contract));
  ASSERT_OK(parse(text, &gate));
  const struct contract_output *output = &contract->outputs[0];
  struct tolerance shoulder = gate_tolerance_of(&gate->rungs[0], output, &output->components[0], &reason);
  assert_true(shoulder.max == 0.004 && shoulder.p99 == 0.001);
  assert_string_equal(reason, "it is slow");
  struct tolerance wrist = gate_tolerance_of(&gate->rungs[0], output, &output->components[1], &reason);
  assert_true(wrist.max == 0.002);
  assert_null(reason);
  gate_file_free(gate);
  contract_free(contract);
}

static assay_status read_text(void *text) {
  struct gate_file *gate = NULL;
  assay_status status = parse(text, &gate);
  gate_file_free(gate);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  /* A choice makes its words ready before it knows whether it needs them, and forgives when it cannot. */
  fail_every_allocation(read_text, changed(", space: raw", ""));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_every_part),
      cmocka_unit_test(every_fault_has_its_place_and_sentence),
      cmocka_unit_test(a_gate_must_require_something),
      cmocka_unit_test(tolerances_may_only_be_tighter_without_a_reason),
      cmocka_unit_test(what_a_rung_does_not_say_stands_in_the_contract),
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
