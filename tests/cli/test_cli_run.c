/* The command run, as a program: a run folder that says what ran, and sentences for what is wrong. */
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "corpus/run_folder.h"
#include "model_builder.h"
#include "scratch_folder.h"
#include "tensor/npy.h"

/* y = sqrt(x x), with names that are no file names. */
static void write_model(const char *path) {
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "obs/x", ASSAY_FLOAT32, "batch,2");
  onnx_node_of(graph, "", "Mul", "square", "obs/x,obs/x", "xx");
  onnx_node_of(graph, "", "Sqrt", "root", "xx", "y/0");
  onnx_output(graph, "y/0", ASSAY_FLOAT32, NULL);
  onnx_write(model, path);
  proto_free(model);
}

static void write_input(const char *path, const float *values) {
  assay_tensor tensor = {.dtype = ASSAY_FLOAT32, .rank = 2, .dims = {1, 2}, .bytes = 2 * sizeof *values};
  tensor.data = (void *)(uintptr_t)values;
  ASSERT_OK(npy_write(path, &tensor));
}

/* Runs `assay run ARGUMENTS` in the folder; the exit code, and what was said on both streams. */
static int run(const char *folder, const char *arguments, char **said) {
  char command[4096];
  size_t size;
  snprintf(command, sizeof command, "cd '%s' && '%s/assay' run %s >said 2>&1", folder, ASSAY_BINARY_DIR, arguments);
  int code = system(command);
  ASSERT_OK(file_read(in_folder(folder, "said"), 1 << 20, said, &size));
  return code / 256;
}

static void expect_said(const char *folder, const char *arguments, int code, const char *part) {
  char *said;
  int found = run(folder, arguments, &said);
  if (found != code || strstr(said, part) == NULL) {
    print_error("run %s: exit %d, \"%s\"; expected exit %d and \"%s\"\n", arguments, found, said, code, part);
    fail();
  }
  memory_free(said);
}

static const char *fact(const struct run_folder *run, const char *key) {
  for (int32_t i = 0; i < run->n_facts; i++) {
    if (strcmp(run->facts[i].key, key) == 0) {
      return run->facts[i].value;
    }
  }
  return "";
}

static void test_writes_a_run_folder(void **state) {
  (void)state;
  const char *folder = scratch_folder("cli_run");
  write_model(in_folder(folder, "m.onnx"));
  write_input(in_folder(folder, "x.npy"), (const float[]){3, -4});
  expect_said(folder, "m.onnx --input obs/x=x.npy -o out --tap xx --threads 2", 0, "outputs/y/0  float32[1,2]  3 to 4");
  struct run_folder *out;
  struct case_data *data;
  ASSERT_OK(run_folder_open(in_folder(folder, "out"), &out));
  assert_string_equal(fact(out, "engine"), "assay");
  assert_string_equal(fact(out, "precision"), "fp32");
  assert_string_equal(fact(out, "accumulator"), "fp32");
  assert_string_equal(fact(out, "threads"), "2");
  assert_int_equal(strlen(fact(out, "model_digest")), 7 + 64);
  assert_int_equal(strlen(fact(out, "input/obs/x")), 7 + 64);
  assert_int_equal(out->n_cases, 1);
  ASSERT_OK(run_folder_load(out, 0, &data));
  const float expected[] = {3, 4};
  const assay_tensor *y = case_output(data, "y/0");
  assert_non_null(y);
  assert_memory_equal(y->data, expected, sizeof expected);
  case_data_free(data);
  run_folder_close(out);
}

static void test_precision_and_keep(void **state) {
  (void)state;
  const char *folder = scratch_folder("cli_run_precision");
  write_model(in_folder(folder, "m.onnx"));
  write_input(in_folder(folder, "x.npy"), (const float[]){300, 1});
  expect_said(folder, "m.onnx -i obs/x=x.npy -o out -p fp16", 0, "1 to inf");
  expect_said(folder, "m.onnx -i obs/x=x.npy -o out -p fp16 --keep square --keep root", 0, "1 to 300");
  expect_said(folder, "m.onnx -i obs/x=x.npy -o out -p fp64", 0, "float64[1,2]  1 to 300");
  expect_said(folder, "m.onnx -i obs/x=x.npy -o out -p int8", 2, "it must be fp32, fp64, tf32, bf16 or fp16");
  expect_said(folder, "m.onnx -i obs/x=x.npy -o out --keep nothing -p fp16", 2, "keep names node 'nothing'");
}

static void test_says_what_is_wrong(void **state) {
  (void)state;
  const char *folder = scratch_folder("cli_run_wrong");
  write_model(in_folder(folder, "m.onnx"));
  write_input(in_folder(folder, "x.npy"), (const float[]){1, 2});
  expect_said(folder, "m.onnx -o out", 2, "missing: 'obs/x' (float32[batch,2]); give each as --input NAME=FILE.npy");
  expect_said(folder, "m.onnx -i x.npy -o out", 2, "it must be NAME=FILE.npy");
  expect_said(folder, "m.onnx -i obs/x=gone.npy -o out", 2, "gone.npy");
  expect_said(folder, "m.onnx -i obs/x=x.npy -i z=x.npy -o out", 2, "the model has no such input; it has 'obs/x'");
  expect_said(folder, "m.onnx -i obs/x=x.npy", 2, "run takes one MODEL, or --contract F instead, and -o DIR");
  expect_said(folder, "m.onnx -i obs/x=x.npy -o out --tap nothing", 2, "the model has no value 'nothing' to tap");
  assert_false(file_exists(in_folder(folder, "out")));
}

/* Two files as one policy: z = sqrt(x x), y = z - x. */
static void test_runs_the_stages_of_a_contract(void **state) {
  (void)state;
  static const char contract[] =
      "assay: 1\npolicy: two\ninputs: [{name: x, dtype: float32, shape: [1, 2]}]\noutputs:\n"
      "  - {name: y, dtype: float32, shape: [1, 2], components: [{name: a, count: 2, unit: rad}]}\nstages:\n"
      "  - {name: first, model: m.onnx, inputs: {obs/x: x}, outputs: {y/0: z}}\n"
      "  - {name: second, model: s.onnx}\n";
  const char *folder = scratch_folder("cli_run_stages");
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "z", ASSAY_FLOAT32, "1,2");
  onnx_input(graph, "x", ASSAY_FLOAT32, "1,2");
  onnx_node(graph, "Sub", "z,x", "y");
  onnx_output(graph, "y", ASSAY_FLOAT32, "1,2");
  onnx_write(model, in_folder(folder, "s.onnx"));
  proto_free(model);
  model = onnx_model(8, 17), graph = onnx_graph(model);
  onnx_input(graph, "obs/x", ASSAY_FLOAT32, "1,2");
  onnx_node_of(graph, "", "Mul", "square", "obs/x,obs/x", "xx");
  onnx_node_of(graph, "", "Sqrt", "root", "xx", "y/0");
  onnx_output(graph, "y/0", ASSAY_FLOAT32, "1,2");
  onnx_write(model, in_folder(folder, "m.onnx"));
  proto_free(model);
  ASSERT_OK(file_replace(in_folder(folder, "contract.yaml"), contract, sizeof contract - 1));
  write_input(in_folder(folder, "x.npy"), (const float[]){3, -4});
  expect_said(folder, "--contract . -i x=x.npy -o out --tap first/xx", 0, "outputs/y  float32[1,2]  0 to 8");
  expect_said(folder, "--contract contract.yaml -i x=x.npy -o out --tap first/xx", 0, "taps/z  float32[1,2]  3 to 4");
  expect_said(folder, "--contract . -i x=x.npy -o out --tap first/xx", 0, "taps/first/xx  float32[1,2]  9 to 16");
  struct run_folder *out;
  ASSERT_OK(run_folder_open(in_folder(folder, "out"), &out));
  assert_string_equal(fact(out, "first/model"), "m.onnx");
  assert_int_equal(strlen(fact(out, "second/model_digest")), 7 + 64);
  assert_string_equal(fact(out, "precision"), "fp32");
  run_folder_close(out);
  expect_said(folder, "--contract . -i y=x.npy -o out", 2,
              "'y' is given, and the policy has no such input; it has 'x'");
  expect_said(folder, "--contract . -o out", 2, "missing: 'x' (float32[1,2])");
  expect_said(folder, "--contract . -i x=x.npy -o out --tap xx", 2, "write STAGE/VALUE");
  expect_said(folder, "m.onnx --contract . -i x=x.npy -o out", 2, "or --contract F instead");
  char command[4096], *said;
  size_t size;
  snprintf(
      command, sizeof command,
      "cd '%s' && '%s/assay' check s.onnx --contract contract.yaml >said 2>&1 && ! '%s/assay' check out/run.npz "
      "--contract contract.yaml >/dev/null 2>&1 && cp m.onnx other.onnx && ! '%s/assay' check other.onnx --contract "
      "contract.yaml >>said 2>&1",
      folder, ASSAY_BINARY_DIR, ASSAY_BINARY_DIR, ASSAY_BINARY_DIR);
  assert_int_equal(system(command), 0);
  ASSERT_OK(file_read(in_folder(folder, "said"), 1 << 20, &said, &size));
  assert_non_null(strstr(said, "contract binds"));
  assert_non_null(strstr(said, "is the file of none of its stages"));
  memory_free(said);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_runs_the_stages_of_a_contract),
      cmocka_unit_test(test_writes_a_run_folder),
      cmocka_unit_test(test_precision_and_keep),
      cmocka_unit_test(test_says_what_is_wrong),
  };
  return cmocka_run_group_tests_name("cli_run", tests, NULL, NULL);
}
