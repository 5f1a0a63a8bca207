/* See policy_builder.h. */
#include "policy_builder.h"

#include <string.h>

#include "corpus/run_folder.h"
#include "model_builder.h"
#include "support.h"

const char policy_contract[] =
    "assay: 1\n"
    "policy: toy\n"
    "model: policy.onnx\n"
    "inputs:\n"
    "  - {name: obs, dtype: float32, shape: [1, 3], legal: [-100, 100]}\n"
    "outputs:\n"
    "  - name: action\n"
    "    dtype: float32\n"
    "    shape: [1, 3]\n"
    "    axes: [batch, component]\n"
    "    components:\n"
    "      - {name: shoulder, unit: rad, tolerance: {max: 0.002}}\n"
    "      - {name: wrist, unit: rad, tolerance: {max: 0.002}}\n"
    "      - {name: gripper, unit: score, decision: {threshold: 0.5, at_or_above: close, below: open}}\n";

const char policy_gate[] =
    "assay: 1\n"
    "contract: contract.yaml\n"
    "corpus: golden\n"
    "reference: {rung: recorded}\n"
    "rungs:\n"
    "  - {name: fp32, engine: assay}\n";

const char policy_recorded_gate[] =
    "assay: 1\n"
    "contract: contract.yaml\n"
    "corpus: golden\n"
    "reference: {rung: recorded}\n"
    "rungs:\n"
    "  - {name: candidate, engine: recorded, outputs: candidate}\n";

void policy_model(const char *folder, const char *file, const float scale[3], const float offset[3]) {
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "obs", ASSAY_FLOAT32, "1,3");
  onnx_f32(graph, "scale", "1,3", scale);
  onnx_f32(graph, "offset", "1,3", offset);
  onnx_node(graph, "Mul", "obs,scale", "scaled");
  onnx_node(graph, "Add", "scaled,offset", "action");
  onnx_output(graph, "action", ASSAY_FLOAT32, "1,3");
  onnx_write(model, temp_path(folder, file));
  proto_free(model);
}

char *policy_folder(void) {
  char *folder = temp_folder();
  policy_model(folder, "policy.onnx", (const float[]){1, 1, 1}, (const float[]){0, 0, 0});
  temp_write(folder, "contract.yaml", policy_contract);
  temp_write(folder, "gate.yaml", policy_gate);
  return folder;
}

void policy_golden(const char *folder, const float (*rows)[3], int n) {
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  for (int i = 0; i < n; i++) {
    char id[16];
    snprintf(id, sizeof id, "c%d", i);
    build_f32(builder, "inputs/obs", "1,3", rows[i]);
    build_f32(builder, "outputs/action", "1,3", rows[i]);
    build_case(builder, &(struct corpus_case){.id = id});
  }
  build_done(builder);
}

void policy_run(const char *folder, const char *name, const float (*rows)[3], int n) {
  struct run_writer *writer;
  ASSERT_OK(run_writer_open(temp_path(folder, name), &writer));
  ASSERT_OK(run_writer_fact(writer, "engine", "test"));
  for (int i = 0; i < n; i++) {
    char id[16];
    snprintf(id, sizeof id, "c%d", i);
    assay_tensor action = test_tensor(ASSAY_FLOAT32, "1,3", rows[i]);
    ASSERT_OK(run_writer_case(writer, id, &(struct npz_entry){"outputs/action", &action}, 1));
    tensor_free(&action);
  }
  ASSERT_OK(run_writer_commit(writer));
}

struct gate_result *policy_verify(const char *folder) {
  struct gate_result *result = NULL;
  ASSERT_OK(gate_run(&(struct gate_options){.folder = folder}, &result));
  return result;
}

const struct rung_result *result_rung(const struct gate_result *result, const char *name) {
  for (int32_t r = 0; r < result->n_rungs; r++) {
    if (strcmp(result->rungs[r].name, name) == 0) {
      return &result->rungs[r];
    }
  }
  fail_msg("there is no rung '%s'", name);
  return NULL;
}

const struct component_result *rung_component(const struct rung_result *rung, const char *name) {
  for (int32_t c = 0; c < rung->n_components; c++) {
    if (strcmp(rung->components[c].name, name) == 0) {
      return &rung->components[c];
    }
  }
  fail_msg("rung '%s' has no component '%s'", rung->name, name);
  return NULL;
}

static int count_reasons(const struct gate_reasons *reasons, assay_code code) {
  int count = 0;
  for (int32_t i = 0; i < reasons->count; i++) {
    count += reasons->items[i].code == code;
  }
  return count;
}

int rung_reasons(const struct rung_result *rung, assay_code code) { return count_reasons(&rung->reasons, code); }
int gate_reasons(const struct gate_result *result, assay_code code) { return count_reasons(&result->reasons, code); }

static void print_reasons(const char *of, const struct gate_reasons *reasons) {
  for (int32_t i = 0; i < reasons->count; i++) {
    print_error("%s: %s: %s\n", of, assay_code_name(reasons->items[i].code), reasons->items[i].sentence);
  }
}

void expect_verdict(const struct gate_result *result, enum verdict verdict, int exit_code) {
  if (result->verdict != verdict || result->exit_code != exit_code) {
    print_reasons("gate", &result->reasons);
    for (int32_t r = 0; r < result->n_rungs; r++) {
      print_reasons(result->rungs[r].name, &result->rungs[r].reasons);
    }
    print_error("expected %s (exit %d), got %s (exit %d)\n", verdict_name(verdict), exit_code,
                verdict_name(result->verdict), result->exit_code);
  }
  assert_int_equal(result->verdict, verdict);
  assert_int_equal(result->exit_code, exit_code);
}
