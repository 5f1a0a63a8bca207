/* The commands check and inspect, as a program: findings with their codes, exit codes, JSON. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "model_builder.h"
#include "scratch_folder.h"

static const char *folder;

/* Runs `assay ARGUMENTS` in the folder; the exit code, and what was said on both streams. */
static int run(const char *arguments, char **said) {
  char command[4096];
  size_t size;
  snprintf(command, sizeof command, "cd '%s' && '%s/assay' %s >said 2>&1", folder, ASSAY_BINARY_DIR, arguments);
  int code = system(command);
  ASSERT_OK(file_read(in_folder(folder, "said"), 1 << 20, said, &size));
  return code / 256;
}

static void expect_said(const char *arguments, int code, const char *part) {
  char *said;
  int found = run(arguments, &said);
  if (found != code || strstr(said, part) == NULL) {
    print_error("%s: exit %d, \"%s\"; expected exit %d and \"%s\"\n", arguments, found, said, code, part);
    fail();
  }
  memory_free(said);
}

static json_t *run_json(const char *arguments, int code) {
  char *said;
  assert_int_equal(run(arguments, &said), code);
  json_error_t error;
  json_t *json = json_loads(said, 0, &error);
  if (json == NULL) {
    print_error("%s: line %d: %s\n%s\n", arguments, error.line, error.text, said);
    fail();
  }
  memory_free(said);
  return json;
}

static void write_and_free(struct proto *model, const char *name) {
  onnx_write(model, in_folder(folder, name));
  proto_free(model);
}

static const float zeros[12];

static int make_models(void **state) {
  (void)state;
  folder = scratch_folder("cli_model");
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_metadata(model, "robot", "arm");
  onnx_input(graph, "x", ASSAY_FLOAT32, "batch,4");
  onnx_f32(graph, "head.weight", "4,3", zeros);
  onnx_f32(graph, "spare.weight", "2", zeros);
  onnx_node(graph, "Relu", "u", "y");
  onnx_node(graph, "MatMul", "x,head.weight", "u");
  onnx_output(graph, "y", ASSAY_FLOAT32, "batch,3");
  write_and_free(model, "good.onnx");

  model = onnx_model(8, 17);
  graph = onnx_graph(model);
  onnx_input(graph, "x", ASSAY_FLOAT32, "4");
  onnx_node(graph, "Nonsense", "x", "u");
  onnx_node(graph, "Bogus", "u", "y");
  onnx_output(graph, "y", ASSAY_FLOAT32, "4");
  write_and_free(model, "unknown.onnx");

  model = onnx_model(8, 17);
  graph = onnx_graph(model);
  onnx_input(graph, "x", ASSAY_FLOAT32, "4");
  onnx_node_of(graph, "", "RandomNormalLike", "jitter", "x", "z");
  onnx_node(graph, "Add", "x,z", "y");
  onnx_output(graph, "y", ASSAY_FLOAT32, "4");
  write_and_free(model, "random.onnx");

  model = onnx_model(8, 17);
  graph = onnx_graph(model);
  onnx_input(graph, "x", ASSAY_FLOAT32, "4");
  onnx_node(graph, "Relu", "x", "y");
  onnx_output(graph, "y", ASSAY_FLOAT32, "5");
  write_and_free(model, "shape.onnx");
  return 0;
}

static void check_tells_notes_and_faults(void **state) {
  (void)state;
  expect_said("check good.onnx", 0, "[GRAPH_UNSORTED]");
  expect_said("check good.onnx", 0, "no fault found (target assay)");
  expect_said("check good.onnx --target assay", 0, "float32[batch,3]");
  expect_said("check good.onnx --target toaster", 2, "'toaster'");
  expect_said("check shape.onnx", 2, "[SHAPE_CONFLICT]");
  expect_said("check unknown.onnx", 2, "'Nonsense'");
  expect_said("check unknown.onnx", 2, "'Bogus'"); /* all of them, not only the first */
  expect_said("check random.onnx", 2, "[OPERATOR_RANDOM]");
  expect_said("check random.onnx", 2, "'jitter'");
  expect_said("check random.onnx", 2, "{name: z, role: noise, distribution: normal");
  expect_said("check nowhere.onnx", 2, "[FILE_MISSING]");
  expect_said("check good.onnx --contract nowhere.yaml", 2, "nowhere.yaml");
}

static void check_in_json_holds_every_finding(void **state) {
  (void)state;
  json_t *json = run_json("check --json unknown.onnx", 2);
  assert_true(json_is_false(json_object_get(json, "ok")));
  json_t *findings = json_object_get(json, "findings");
  assert_int_equal(json_array_size(findings), 2);
  for (size_t i = 0; i < 2; i++) {
    assert_string_equal(json_string_value(json_object_get(json_array_get(findings, i), "code")), "OPERATOR_UNKNOWN");
    assert_string_equal(json_string_value(json_object_get(json_array_get(findings, i), "kind")), "error");
  }
  json_decref(json);
  json = run_json("check --json good.onnx", 0);
  assert_true(json_is_true(json_object_get(json, "ok")));
  json_t *note = json_array_get(json_object_get(json, "findings"), 0);
  assert_string_equal(json_string_value(json_object_get(note, "kind")), "note");
  json_t *shape = json_object_get(json_array_get(json_object_get(json, "outputs"), 0), "shape");
  assert_string_equal(json_string_value(json_array_get(shape, 0)), "batch");
  assert_int_equal(json_integer_value(json_array_get(shape, 1)), 3);
  json_decref(json);
  json = run_json("check --json nowhere.onnx", 2);
  assert_true(json_is_false(json_object_get(json, "ok")));
  json_decref(json);
}

static void inspect_shows_what_the_model_is(void **state) {
  (void)state;
  expect_said("inspect good.onnx", 0, "parameters: 14 in 56 B, 2 weights");
  expect_said("inspect good.onnx", 0, "spare.weight: 2");
  expect_said("inspect good.onnx", 0, "multiply-adds: 12 (MatMul 12)");
  expect_said("inspect good.onnx", 0, "x[0] = 1");
  expect_said("inspect good.onnx --shape x=10,4", 0, "multiply-adds: 120 (MatMul 120)");
  expect_said("inspect good.onnx --shape x=10,5", 2, "[SHAPE_CONFLICT]");
  expect_said("inspect good.onnx --shape x=ten", 2, "[USAGE]");
  expect_said("inspect good.onnx --depth 0", 2, "[USAGE]");
  expect_said("inspect", 2, "[USAGE]");
  expect_said("inspect unknown.onnx", 0, "Nonsense 1");
  json_t *json = run_json("inspect --json good.onnx", 0);
  assert_int_equal(json_integer_value(json_object_get(json, "parameters")), 14);
  assert_int_equal(json_integer_value(json_object_get(json, "dead_parameters")), 2);
  assert_string_equal(json_string_value(json_object_get(json_array_get(json_object_get(json, "metadata"), 0), "value")),
                      "arm");
  json_decref(json);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(check_tells_notes_and_faults),
      cmocka_unit_test(check_in_json_holds_every_finding),
      cmocka_unit_test(inspect_shows_what_the_model_is),
  };
  return cmocka_run_group_tests(tests, make_models, NULL);
}
