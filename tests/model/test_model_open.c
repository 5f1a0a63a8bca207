/* Opening models: what is in the graph, and that wrong ones are refused with their own code. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "model/model.h"
#include "model_builder.h"
#include "support.h"

/* --- helpers --------------------------------------------------------------- */

/* x -> Relu -> u -> Neg -> y, ready to be made wrong. */
static struct proto *chain(void) {
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "x", ASSAY_FLOAT32, "1,3");
  onnx_node(graph, "Relu", "x", "u");
  onnx_node(graph, "Neg", "u", "y");
  onnx_output(graph, "y", ASSAY_FLOAT32, "1,3");
  return model;
}

/* Parses and frees the model; expects the failure. */
static void expect(struct proto *model, assay_code code, const char *part) {
  size_t size;
  uint8_t *bytes = onnx_bytes(model, &size);
  struct model *opened = NULL;
  assay_status status = model_parse(bytes, size, NULL, NULL, &opened);
  free(bytes);
  proto_free(model);
  if (assay_status_ok(status)) {
    print_error("expected %s, but the model opened\n", assay_code_name(code));
    model_close(opened);
    fail();
  }
  assert_null(opened);
  ASSERT_FAILS(status, code, part);
}

/* Parses and frees the model; expects it to open with one note. */
static void expect_note(struct proto *model, assay_code code, const char *part) {
  struct model *opened = onnx_open(model);
  assert_int_equal(model_warning_count(opened), 1);
  const struct model_warning *warning = model_warning_at(opened, 0);
  assert_string_equal(assay_code_name(warning->code), assay_code_name(code));
  assert_non_null(strstr(warning->sentence, part));
  assert_int_equal(assay_code_kind_of(warning->code), ASSAY_KIND_NOTE);
  model_close(opened);
  proto_free(model);
}

/* --- what opens -------------------------------------------------------------- */

static void a_graph_is_found_as_written(void **state) {
  (void)state;
  struct proto *model = onnx_model(10, 21), *graph = onnx_graph(model);
  onnx_metadata(model, "joint_names", "hip,knee");
  onnx_opset(model, "ai.onnx.ml", 3);
  onnx_input(graph, "x", ASSAY_FLOAT32, "batch,3");
  onnx_f32(graph, "w", "3", (const float[]){1, 2, 3});
  onnx_node_of(graph, "ai.onnx", "Mul", "scale", "x,w", "s");
  onnx_int(onnx_float(onnx_string(onnx_node(graph, "Fancy", "s,,x", "y"), "mode", "linear"), "alpha", 0.5f), "axis",
           -1);
  onnx_output(graph, "y", ASSAY_FLOAT32, "batch,?");
  struct model *opened = onnx_open(model);
  const struct graph *main = opened->graph;
  assert_int_equal(opened->ir_version, 10);
  assert_int_equal(model_opset(opened, "ai.onnx"), 21);
  assert_int_equal(model_opset(opened, "ai.onnx.ml"), 3);
  assert_int_equal(model_opset(opened, "elsewhere"), 0);
  assert_string_equal(model_metadata(opened, "joint_names"), "hip,knee");
  assert_null(model_metadata(opened, "other"));
  assert_int_equal(main->n_nodes, 2);
  const struct node *mul = &main->nodes[0], *fancy = &main->nodes[1];
  assert_string_equal(mul->label, "scale");
  assert_string_equal(mul->domain, "");
  assert_int_equal(mul->opset, 21);
  assert_string_equal(fancy->label, "Fancy_1");
  assert_int_equal(fancy->n_inputs, 3);
  assert_int_equal(fancy->inputs[1], -1);
  assert_int_equal(fancy->inputs[0], graph_find_value(main, "s"));
  assert_int_equal(node_attribute_int(fancy, "axis", 7), -1);
  assert_int_equal(node_attribute_int(fancy, "none", 7), 7);
  assert_true(node_attribute_float(fancy, "alpha", 0) == 0.5f);
  assert_true(node_attribute_is(fancy, "mode", "linear", false));
  const struct value *x = &main->values[main->inputs[0]];
  assert_string_equal(x->declared.dims[0].symbol, "batch");
  assert_int_equal(x->declared.dims[1].value, 3);
  const struct initializer *w = graph_initializer(main, graph_find_value(main, "w"));
  assert_int_equal(w->tensor.bytes, 12);
  assert_true(((const float *)w->tensor.data)[2] == 3);
  assert_false(graph_is_overridable(main, w->value));
  assert_true(main->values[graph_find_value(main, "y")].is_output);
  model_close(opened);
  proto_free(model);
}

static void unsorted_nodes_are_sorted_with_a_note(void **state) {
  (void)state;
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "x", ASSAY_FLOAT32, "3");
  onnx_node(graph, "Neg", "u", "y");
  onnx_node(graph, "Relu", "x", "u");
  onnx_output(graph, "y", ASSAY_FLOAT32, "3");
  struct model *opened = onnx_open(model);
  assert_string_equal(opened->graph->nodes[0].op_type, "Relu");
  assert_int_equal(opened->graph->values[graph_find_value(opened->graph, "u")].producer, 0);
  assert_int_equal(opened->graph->values[graph_find_value(opened->graph, "y")].producer, 1);
  model_close(opened);
  expect_note(model, ASSAY_GRAPH_UNSORTED, "sorted");
}

static void a_branch_captures_a_value_around_it(void **state) {
  (void)state;
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "cond", ASSAY_BOOL, "");
  onnx_input(graph, "x", ASSAY_FLOAT32, "1");
  struct proto *branch = onnx_node(graph, "If", "cond", "y");
  onnx_node(graph, "Identity", "x", "outer");
  struct proto *then_branch = onnx_graph_attribute(branch, "then_branch");
  onnx_node(then_branch, "Neg", "outer", "a");
  onnx_output(then_branch, "a", ASSAY_FLOAT32, NULL);
  struct proto *else_branch = onnx_graph_attribute(branch, "else_branch");
  onnx_f32(else_branch, "seven", "1", (const float[]){7});
  onnx_output(else_branch, "seven", ASSAY_FLOAT32, NULL);
  onnx_output(graph, "y", ASSAY_FLOAT32, "1");
  struct model *opened = onnx_open(model);
  /* The If was written first, but waits for what its branch captures. */
  assert_string_equal(opened->graph->nodes[0].op_type, "Identity");
  const struct graph *inner = node_attribute(&opened->graph->nodes[1], "then_branch")->graphs[0];
  const struct value *captured = &inner->values[graph_find_value(inner, "outer")];
  assert_int_equal(captured->outer, graph_find_value(opened->graph, "outer"));
  assert_ptr_equal(inner->parent, opened->graph);
  model_close(opened);
  proto_free(model);
}

static void initializers_that_are_inputs_are_defaults_from_ir_4_on(void **state) {
  (void)state;
  for (int64_t ir = 3; ir <= 8; ir += 5) {
    struct proto *model = onnx_model(ir, 9), *graph = onnx_graph(model);
    onnx_input(graph, "x", ASSAY_FLOAT32, "1");
    onnx_input(graph, "w", ASSAY_FLOAT32, "n");
    onnx_f32(graph, "w", "1", (const float[]){2});
    onnx_node(graph, "Mul", "x,w", "y");
    onnx_output(graph, "y", ASSAY_FLOAT32, "?");
    struct model *opened = onnx_open(model);
    int32_t w = graph_find_value(opened->graph, "w");
    assert_int_equal(graph_is_overridable(opened->graph, w), ir >= 4);
    /* What may be fed may have another size than its default. */
    assert_int_equal(opened->graph->values[w].declared.dims[0].value, ir >= 4 ? DIM_UNKNOWN : 1);
    model_close(opened);
    proto_free(model);
  }
}

/* --- names and order ------------------------------------------------------------ */

static void faults_of_names_and_order_have_their_own_codes(void **state) {
  (void)state;
  struct proto *model = chain();
  onnx_node(onnx_graph(model), "Abs", "x", "u");
  expect(model, ASSAY_VALUE_REDEFINED, "'u'");

  model = chain();
  onnx_f32(onnx_graph(model), "w", "1", (const float[]){2});
  onnx_f32(onnx_graph(model), "w", "1", (const float[]){3});
  expect(model, ASSAY_INITIALIZER_DUPLICATE, "'w'");

  model = chain();
  onnx_f32(onnx_graph(model), "u", "1,3", (const float[]){2, 3, 4});
  expect(model, ASSAY_VALUE_REDEFINED, "'u'");

  model = chain();
  onnx_input(onnx_graph(model), "x", ASSAY_FLOAT32, "1,3");
  expect(model, ASSAY_INPUT_DUPLICATE, "'x'");

  model = chain();
  onnx_output(onnx_graph(model), "y", ASSAY_FLOAT32, "1,3");
  expect(model, ASSAY_OUTPUT_DUPLICATE, "'y'");

  model = chain();
  onnx_output(onnx_graph(model), "z", ASSAY_FLOAT32, "1,3");
  expect(model, ASSAY_OUTPUT_UNDEFINED, "'z'");

  model = chain();
  onnx_node(onnx_graph(model), "Abs", "nowhere", "z");
  expect(model, ASSAY_VALUE_UNDEFINED, "'nowhere'");

  model = chain();
  onnx_node(onnx_graph(model), "Add", "x,q", "p");
  onnx_node(onnx_graph(model), "Abs", "p", "q");
  expect(model, ASSAY_GRAPH_CYCLE, "depends on its own result");

  model = chain();
  onnx_node(onnx_graph(model), "", "x", "z");
  expect(model, ASSAY_NODE_NO_OPERATOR, "no op_type");

  model = chain();
  onnx_int(onnx_int(onnx_node(onnx_graph(model), "Abs", "x", "z"), "a", 1), "a", 2);
  expect(model, ASSAY_ATTRIBUTE_DUPLICATE, "'a'");

  model = chain();
  onnx_node_of(onnx_graph(model), "com.example", "Abs", "", "x", "z");
  expect(model, ASSAY_OPSET_MISSING, "com.example");

  model = chain();
  onnx_opset(model, "ai.onnx", 17);
  expect(model, ASSAY_OPSET_DUPLICATE, "ai.onnx");
}

static void a_result_inside_may_not_hide_a_name_around_it(void **state) {
  (void)state;
  struct proto *model = chain(), *graph = onnx_graph(model);
  onnx_input(graph, "cond", ASSAY_BOOL, "");
  struct proto *branch = onnx_node(graph, "If", "cond", "z");
  for (int i = 0; i < 2; i++) {
    struct proto *inner = onnx_graph_attribute(branch, i == 0 ? "then_branch" : "else_branch");
    onnx_node(inner, "Neg", "x", i == 0 ? "u" : "v");
    onnx_output(inner, i == 0 ? "u" : "v", ASSAY_FLOAT32, NULL);
  }
  expect(model, ASSAY_VALUE_REDEFINED, "'u'");
}

static void two_nodes_of_one_name_are_a_note(void **state) {
  (void)state;
  struct proto *model = chain(), *graph = onnx_graph(model);
  onnx_node_of(graph, "", "Abs", "twin", "x", "p");
  onnx_node_of(graph, "", "Abs", "twin", "x", "q");
  struct model *opened = onnx_open(model);
  assert_string_equal(opened->graph->nodes[2].label, "twin");
  assert_string_equal(opened->graph->nodes[3].label, "twin#2");
  model_close(opened);
  expect_note(model, ASSAY_NODE_NAME_DUPLICATE, "'twin'");
}

/* --- large models ------------------------------------------------------------------- */

static void put_varint(FILE *file, uint64_t value) {
  for (; value > 0x7f; value >>= 7) {
    fputc((int)(value & 0x7f) | 0x80, file);
  }
  fputc((int)value, file);
}

static size_t varint_size(uint64_t value) { return value > 0x7f ? 1 + varint_size(value >> 7) : 1; }

/* A message field whose last `hole` bytes are a hole in the file. */
static void put_field(FILE *file, int field, const uint8_t *bytes, size_t size, size_t hole) {
  fputc(field << 3 | 2, file);
  put_varint(file, size + hole);
  fwrite(bytes, 1, size, file);
  fseek(file, (long)hole, SEEK_CUR);
}

/* 267 MB of weights that take no place on the disk: 300 tensors, each added to x. */
static void write_large_model(const char *path) {
  enum { COUNT = 300, ELEMENTS = 222500, BYTES = 4 * ELEMENTS };
  struct proto *model = onnx_model(8, 17), *nodes = proto_new();
  size_t size, head_size, total;
  onnx_input(nodes, "x", ASSAY_FLOAT32, "222500");
  onnx_output(nodes, "y299", ASSAY_FLOAT32, "222500");
  for (int i = 0; i < COUNT; i++) {
    char inputs[32], output[16];
    snprintf(inputs, sizeof inputs, i == 0 ? "x,w%d" : "y%d,w%d", i == 0 ? i : i - 1, i);
    snprintf(output, sizeof output, "y%d", i);
    onnx_node(nodes, "Add", inputs, output);
  }
  uint8_t *head = onnx_bytes(model, &head_size), *bytes = proto_serialize(nodes, &size);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  total = size;
  for (int pass = 0; pass < 2; pass++) {
    if (pass == 1) {
      fwrite(head, 1, head_size, file);
      fputc(7 << 3 | 2, file);
      put_varint(file, total);
      fwrite(bytes, 1, size, file);
    }
    for (int i = 0; i < COUNT; i++) {
      char name[16];
      struct proto *tensor = proto_new();
      snprintf(name, sizeof name, "w%d", i);
      proto_int(tensor, 1, ELEMENTS);
      proto_int(tensor, 2, ASSAY_FLOAT32);
      proto_string(tensor, 8, name);
      proto_wire(tensor, "\x4a\x90\xa9\x36", 4); /* raw_data, 890000 bytes */
      size_t tensor_size;
      uint8_t *tensor_bytes = proto_serialize(tensor, &tensor_size);
      if (pass == 0) {
        total += 1 + varint_size(tensor_size + BYTES) + tensor_size + BYTES;
      } else {
        put_field(file, 5, tensor_bytes, tensor_size, BYTES);
      }
      free(tensor_bytes);
      proto_free(tensor);
    }
  }
  assert_int_equal(ftruncate(fileno(file), ftell(file)), 0);
  assert_int_equal(fclose(file), 0);
  free(head);
  free(bytes);
  proto_free(nodes);
  proto_free(model);
}

static long resident_kb(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

static void opening_a_large_model_touches_no_weights(void **state) {
  (void)state;
  char path[] = "/tmp/assay-large-XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  close(fd);
  write_large_model(path);
  struct timespec begin, end;
  long before = resident_kb();
  struct model *model;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  ASSERT_OK(model_open(path, NULL, &model));
  clock_gettime(CLOCK_MONOTONIC, &end);
  double seconds = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
  assert_int_equal(model->graph->n_initializers, 300);
  assert_true(model->file.size > 267000000);
  assert_in_range(resident_kb() - before, 0, 40000);
  assert_true(seconds < 0.5);
  model_close(model);
  unlink(path);
}

static void a_message_of_over_2_gib_is_refused(void **state) {
  (void)state;
  char path[] = "/tmp/assay-huge-XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  assert_int_equal(ftruncate(fd, (off_t)1 << 31), 0);
  close(fd);
  struct model *model;
  ASSERT_FAILS(model_open(path, NULL, &model), ASSAY_MODEL_TOO_LARGE, "external data");
  unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(opening_a_large_model_touches_no_weights),
      cmocka_unit_test(a_message_of_over_2_gib_is_refused),
      cmocka_unit_test(a_graph_is_found_as_written),
      cmocka_unit_test(unsorted_nodes_are_sorted_with_a_note),
      cmocka_unit_test(a_branch_captures_a_value_around_it),
      cmocka_unit_test(initializers_that_are_inputs_are_defaults_from_ir_4_on),
      cmocka_unit_test(faults_of_names_and_order_have_their_own_codes),
      cmocka_unit_test(a_result_inside_may_not_hide_a_name_around_it),
      cmocka_unit_test(two_nodes_of_one_name_are_a_note),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
