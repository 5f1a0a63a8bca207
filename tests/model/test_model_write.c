/* Writing models and their canonical digest. */
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/memory.h"
#include "model/model.h"
#include "model_builder.h"
#include "shared_files.h"
#include "support.h"

static char folder[64];

static const char *in_folder(const char *name) {
  static char path[2][128];
  static int turn;
  turn = !turn;
  snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
  return path[turn];
}

static int make_folder(void **state) {
  (void)state;
  strcpy(folder, "/tmp/assay-model-XXXXXX");
  return mkdtemp(folder) == NULL ? -1 : 0;
}

static int drop_folder(void **state) {
  (void)state;
  ASSERT_OK(folder_remove(folder));
  return 0;
}

/* A bit of everything that a file can hold. */
static struct proto *everything(void) {
  struct proto *model = onnx_model(10, 21), *graph = onnx_graph(model);
  static const float big[2048] = {1.5f};
  onnx_opset(model, "mine", 2);
  onnx_metadata(model, "joints", "hip,knee");
  proto_string(model, 2, "builder");
  struct proto *function = onnx_function(model, "mine", "F", "a", "b");
  onnx_function_opset(function, "", 20);
  onnx_function_default(function, "axis", 1);
  onnx_value(function, "a", ASSAY_FLOAT32, "n");
  onnx_reference(onnx_node(function, "Softmax", "a", "b"), "axis", "axis", ATTRIBUTE_INT);
  onnx_input(graph, "x", ASSAY_FLOAT32, "batch,?,3");
  onnx_input(graph, "cond", ASSAY_BOOL, "");
  onnx_raw(graph, "w", ASSAY_FLOAT32, "2048", big, sizeof big);
  onnx_i64(graph, "shape", "2", (const int64_t[]){-1, 3});
  proto_string(onnx_tensor(graph, "words", ASSAY_STRING, "1"), 6, "grip");
  onnx_node_of(graph, "mine", "F", "call", "x", "u");
  struct proto *branch = onnx_node(graph, "If", "cond", "v");
  for (int i = 0; i < 2; i++) {
    struct proto *inner = onnx_graph_attribute(branch, i == 0 ? "then_branch" : "else_branch");
    onnx_node(inner, i == 0 ? "Neg" : "Abs", "u", i == 0 ? "t" : "e");
    onnx_output(inner, i == 0 ? "t" : "e", ASSAY_FLOAT32, "batch,?,3");
  }
  struct proto *node = onnx_node(graph, "Odd", "v,,w", "y,,z");
  onnx_strings(onnx_floats(node, "fs", (const float[]){1, 2}, 2), "ss", (const char *const[]){"a", ""}, 2);
  onnx_tensor_attribute(onnx_ints(node, "is", (const int64_t[]){-1, 5}, 2), "t", ASSAY_INT8, "3", "\1\2\3");
  onnx_output(graph, "y", ASSAY_FLOAT32, "batch,?,3");
  onnx_value(graph, "v", ASSAY_FLOAT32, "batch,?,3");
  return model;
}

static void assert_same_files(const char *a, const char *b) {
  char *left, *right;
  size_t n_left, n_right;
  ASSERT_OK(file_read(a, 1 << 24, &left, &n_left));
  ASSERT_OK(file_read(b, 1 << 24, &right, &n_right));
  assert_int_equal(n_left, n_right);
  assert_memory_equal(left, right, n_left);
  memory_free(left);
  memory_free(right);
}

/* Writes, opens, compares digests, writes again, compares bytes. */
static void assert_round_trip(const struct model *model, size_t threshold) {
  char before[GRAPH_DIGEST_SIZE], after[GRAPH_DIGEST_SIZE];
  struct model *again;
  ASSERT_OK(model_write(model, in_folder("a.onnx"), threshold));
  ASSERT_OK(model_open(in_folder("a.onnx"), NULL, &again));
  ASSERT_OK(model_digest(model, before));
  ASSERT_OK(model_digest(again, after));
  assert_string_equal(before, after);
  assert_int_equal(model->n_metadata, again->n_metadata);
  assert_int_equal(model->n_functions, again->n_functions);
  ASSERT_OK(model_write(again, in_folder("b.onnx"), threshold));
  model_close(again);
  if (threshold == 0) {
    assert_same_files(in_folder("a.onnx"), in_folder("b.onnx"));
  } else {
    assert_same_files(in_folder("a.onnx.data"), in_folder("b.onnx.data"));
  }
}

static void what_was_written_opens_as_it_was(void **state) {
  (void)state;
  struct proto *proto = everything();
  struct model *model = onnx_open(proto);
  assert_round_trip(model, 0);
  assert_round_trip(model, 1024);
  struct model *again;
  ASSERT_OK(model_open(in_folder("a.onnx"), NULL, &again));
  const struct initializer *w = graph_initializer(again->graph, graph_find_value(again->graph, "w"));
  assert_string_equal(w->external_location, "a.onnx.data");
  assert_true(((const float *)w->tensor.data)[0] == 1.5f);
  const struct initializer *shape = graph_initializer(again->graph, graph_find_value(again->graph, "shape"));
  assert_null(shape->external_location);
  model_close(again);
  model_close(model);
  proto_free(proto);
}

static void policies_of_others_round_trip(void **state) {
  (void)state;
  const char *shared = shared_path("policies");
  if (shared == NULL) {
    skip();
  }
  struct arena arena = {0};
  const char *base = arena_string(&arena, shared);
  char **names;
  size_t count, policies = 0;
  ASSERT_OK(folder_list(base, &arena, &names, &count));
  for (size_t i = 0; i < count; i++) {
    size_t length = strlen(names[i]);
    if (length < 5 || strcmp(names[i] + length - 5, ".onnx") != 0) {
      continue;
    }
    struct model *model;
    ASSERT_OK(model_open(path_join(&arena, base, names[i]), NULL, &model));
    assert_round_trip(model, 0);
    model_close(model);
    policies++;
  }
  assert_true(policies >= 22);
  arena_free(&arena);
}

static void a_failed_write_leaves_the_old_file(void **state) {
  (void)state;
  struct proto *proto = everything();
  struct model *model = onnx_open(proto);
  ASSERT_OK(file_replace(in_folder("old.onnx"), "old", 3));
  memory_fail_at(-1);
  for (int64_t n = 0; n < 1000; n++) {
    memory_fail_at(n);
    assay_status status = model_write(model, in_folder("old.onnx"), 1024);
    memory_fail_at(-1);
    if (assay_status_ok(status)) {
      assert_true(n > 3);
      break;
    }
    assay_status_clear(&status);
    char *text;
    size_t size;
    ASSERT_OK(file_read(in_folder("old.onnx"), 100, &text, &size));
    assert_string_equal(text, "old");
    memory_free(text);
  }
  struct model *again;
  ASSERT_OK(model_open(in_folder("old.onnx"), NULL, &again));
  model_close(again);
  model_close(model);
  proto_free(proto);
}

/* --- the digest ---------------------------------------------------------------- */

struct recipe {
  const char *inner, *weight, *input, *output, *op_type;
  float value;
  int64_t attribute;
  bool reversed, spare;
};

static void digest_of(const struct recipe *recipe, char out[GRAPH_DIGEST_SIZE]) {
  struct proto *proto = onnx_model(8, 17), *graph = onnx_graph(proto);
  char ends[2][64];
  onnx_input(graph, recipe->input, ASSAY_FLOAT32, "batch,3");
  onnx_f32(graph, recipe->weight, "1", &recipe->value);
  snprintf(ends[0], sizeof ends[0], "%s,%s", recipe->input, recipe->weight);
  snprintf(ends[1], sizeof ends[1], "%s,%s2", recipe->inner, recipe->inner);
  for (int i = 0; i < 3; i++) {
    int step = recipe->reversed ? 2 - i : i;
    if (step == 0) {
      onnx_node(graph, "Mul", ends[0], recipe->inner);
    } else if (step == 1) {
      char second[64];
      snprintf(second, sizeof second, "%s2", recipe->inner);
      onnx_int(onnx_node(graph, recipe->op_type, recipe->input, second), "axis", recipe->attribute);
    } else {
      onnx_node(graph, "Sub", ends[1], recipe->output);
    }
  }
  if (recipe->spare) {
    onnx_node(graph, "Abs", recipe->input, "spare");
  }
  onnx_output(graph, recipe->output, ASSAY_FLOAT32, "batch,3");
  struct model *model = onnx_open(proto);
  ASSERT_OK(model_digest(model, out));
  model_close(model);
  proto_free(proto);
}

static void the_digest_sees_what_matters_and_nothing_else(void **state) {
  (void)state;
  const struct recipe base = {"u", "w", "x", "y", "Softmax", 2, 1, false, false};
  struct recipe other;
  char expected[GRAPH_DIGEST_SIZE], actual[GRAPH_DIGEST_SIZE];
  digest_of(&base, expected);
  assert_int_equal(strlen(expected), 70);
  assert_memory_equal(expected, "graph:", 6);

  other = base;
  other.reversed = true;
  digest_of(&other, actual);
  assert_string_equal(actual, expected);
  other = base;
  other.inner = "renamed";
  other.weight = "kernel";
  digest_of(&other, actual);
  assert_string_equal(actual, expected);

  for (int i = 0; i < 6; i++) {
    other = base;
    other.value = i == 0 ? 2.0000002f : base.value;
    other.attribute = i == 1 ? 0 : base.attribute;
    other.op_type = i == 2 ? "Hardmax" : base.op_type;
    other.input = i == 3 ? "z" : base.input;
    other.output = i == 4 ? "z" : base.output;
    other.spare = i == 5;
    digest_of(&other, actual);
    assert_string_not_equal(actual, expected);
  }
}

static void swapped_operands_differ(void **state) {
  (void)state;
  char digests[2][GRAPH_DIGEST_SIZE];
  for (int i = 0; i < 2; i++) {
    struct proto *proto = onnx_model(8, 17), *graph = onnx_graph(proto);
    onnx_input(graph, "a", ASSAY_FLOAT32, "1");
    onnx_input(graph, "b", ASSAY_FLOAT32, "1");
    onnx_node(graph, "Sub", i == 0 ? "a,b" : "b,a", "y");
    onnx_output(graph, "y", ASSAY_FLOAT32, "1");
    struct model *model = onnx_open(proto);
    ASSERT_OK(model_digest(model, digests[i]));
    model_close(model);
    proto_free(proto);
  }
  assert_string_not_equal(digests[0], digests[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_was_written_opens_as_it_was),
      cmocka_unit_test(policies_of_others_round_trip),
      cmocka_unit_test(a_failed_write_leaves_the_old_file),
      cmocka_unit_test(the_digest_sees_what_matters_and_nothing_else),
      cmocka_unit_test(swapped_operands_differ),
  };
  return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
