/* Parameters by module, dead weights, operators and multiply-adds, against figures worked out by hand. */
#include <string.h>

#include "model/model.h"
#include "model/summary.h"
#include "model_builder.h"
#include "ops/ops.h"
#include "support.h"

static const float zeros[4096];

static void weights_are_counted_by_module(void **state) {
  (void)state;
  struct proto *proto = onnx_model(8, 17), *graph = onnx_graph(proto);
  onnx_input(graph, "x", ASSAY_FLOAT32, "1,4");
  onnx_f32(graph, "encoder.layers.0.weight", "4,4", zeros);
  onnx_f32(graph, "encoder.layers.1.weight", "4,4", zeros);
  onnx_f32(graph, "onnx::MatMul_7", "4,2", zeros); /* nameless: its reader tells the module */
  onnx_f32(graph, "posterior.encoder.weight", "4,8", zeros);
  onnx_node_of(graph, "", "MatMul", "/encoder/layers.0/MatMul", "x,encoder.layers.0.weight", "a");
  onnx_node_of(graph, "", "MatMul", "/encoder/layers.1/MatMul", "a,encoder.layers.1.weight", "b");
  onnx_node_of(graph, "", "MatMul", "/head/linear/MatMul", "b,onnx::MatMul_7", "y");
  onnx_node_of(graph, "", "MatMul", "/posterior/MatMul", "a,posterior.encoder.weight", "unused");
  struct proto *constant = onnx_node_of(graph, "", "Constant", "/head/Constant", "", "c");
  onnx_tensor_attribute(constant, "value", ASSAY_FLOAT32, "2", zeros);
  onnx_node(graph, "Add", "y,c", "z");
  onnx_output(graph, "z", ASSAY_FLOAT32, "1,2");
  struct model *model = onnx_open(proto);
  struct arena arena = {0};
  struct model_summary summary;
  ASSERT_OK(model_summarize(model, 1, &arena, &summary));
  assert_int_equal(summary.parameters, 16 + 16 + 8 + 32 + 2);
  assert_int_equal(summary.bytes, 4 * (16 + 16 + 8 + 32 + 2));
  assert_int_equal(summary.dead, 32);
  assert_int_equal(summary.n_dead, 1);
  assert_string_equal(summary.dead_weights[0].name, "posterior.encoder.weight");
  assert_int_equal(summary.n_modules, 3);
  assert_string_equal(summary.modules[0].name, "encoder");
  assert_int_equal(summary.modules[0].parameters, 32);
  assert_string_equal(summary.modules[1].name, "head");
  assert_int_equal(summary.modules[1].parameters, 10);
  assert_string_equal(summary.modules[2].name, "posterior");
  assert_int_equal(summary.modules[2].dead, 32);
  assert_string_equal(summary.operators[0].op_type, "MatMul");
  assert_int_equal(summary.operators[0].count, 4);
  ASSERT_OK(model_summarize(model, 3, &arena, &summary));
  assert_string_equal(summary.modules[0].name, "encoder.layers.0");
  arena_free(&arena);
  model_close(model);
  proto_free(proto);
}

static void what_a_branch_captures_is_alive(void **state) {
  (void)state;
  struct proto *proto = onnx_model(8, 17), *graph = onnx_graph(proto);
  onnx_input(graph, "cond", ASSAY_BOOL, "");
  onnx_f32(graph, "captured", "2", zeros);
  struct proto *branch = onnx_node(graph, "If", "cond", "y");
  for (int i = 0; i < 2; i++) {
    struct proto *inner = onnx_graph_attribute(branch, i == 0 ? "then_branch" : "else_branch");
    onnx_f32(inner, i == 0 ? "own" : "spare", "3", zeros);
    onnx_node(inner, "Neg", i == 0 ? "captured" : "captured", i == 0 ? "t" : "e");
    onnx_output(inner, i == 0 ? "t" : "e", ASSAY_FLOAT32, NULL);
  }
  onnx_output(graph, "y", ASSAY_FLOAT32, NULL);
  struct model *model = onnx_open(proto);
  struct arena arena = {0};
  struct model_summary summary;
  ASSERT_OK(model_summarize(model, 2, &arena, &summary));
  assert_int_equal(summary.parameters, 2 + 3 + 3);
  assert_int_equal(summary.dead, 3 + 3); /* the branches' own weights, which nothing reads */
  assert_int_equal(summary.n_nodes, 3);
  arena_free(&arena);
  model_close(model);
  proto_free(proto);
}

/* Costs of one node with inputs and output of given shapes; weights are graph inputs, which is the same to a count. */
static double cost_of(struct proto *proto) {
  struct model *model = onnx_open(proto);
  struct arena arena = {0};
  struct shapes shapes;
  struct cost_summary cost = {0};
  const struct shapes_options options = {.lenient = true, .visitor = cost_visit, .user = &cost};
  ASSERT_OK(shapes_infer(model->graph, op_schemas(), &options, &arena, &shapes));
  assert_int_equal(cost.n_counted + cost.n_unknown, 1);
  double result = cost.n_unknown == 1 ? -1 : cost.multiply_adds;
  arena_free(&arena);
  model_close(model);
  proto_free(proto);
  return result;
}

static struct proto *two_inputs(const char *a, const char *b, const char *op_type, struct proto **node) {
  struct proto *proto = onnx_model(8, 17), *graph = onnx_graph(proto);
  onnx_input(graph, "a", ASSAY_FLOAT32, a);
  onnx_input(graph, "b", ASSAY_FLOAT32, b);
  *node = onnx_node(graph, op_type, "a,b", "y");
  onnx_output(graph, "y", ASSAY_FLOAT32, NULL);
  return proto;
}

static void multiply_adds_are_those_of_the_definition(void **state) {
  (void)state;
  struct proto *node;
  assert_true(cost_of(two_inputs("2,3", "3,5", "MatMul", &node)) == 2 * 3 * 5);
  assert_true(cost_of(two_inputs("7,2,3", "3,5", "MatMul", &node)) == 7 * 2 * 3 * 5);
  assert_true(cost_of(two_inputs("n,3", "3,5", "MatMul", &node)) == -1);
  struct proto *proto = two_inputs("3,2", "5,3", "Gemm", &node);
  onnx_int(onnx_int(node, "transA", 1), "transB", 1);
  assert_true(cost_of(proto) == 2 * 3 * 5);
  /* 8x8 image of 4 channels, 6 filters of 3x3 in 2 groups, no padding: 6x6 outputs of 6 channels, 2x9 each. */
  proto = two_inputs("1,4,8,8", "6,2,3,3", "Conv", &node);
  onnx_int(node, "group", 2);
  assert_true(cost_of(proto) == 6 * 6 * 6 * 2 * 9);
}

static void a_recurrent_layer_counts_all_its_steps(void **state) {
  (void)state;
  struct proto *proto = onnx_model(8, 14), *graph = onnx_graph(proto);
  onnx_input(graph, "x", ASSAY_FLOAT32, "10,1,3"); /* steps, batch, inputs */
  onnx_f32(graph, "w", "1,16,3", zeros);
  onnx_f32(graph, "r", "1,16,4", zeros);
  onnx_int(onnx_node(graph, "LSTM", "x,w,r", "y"), "hidden_size", 4);
  onnx_output(graph, "y", ASSAY_FLOAT32, NULL);
  assert_true(cost_of(proto) == 10 * (16 * 3 + 16 * 4));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(weights_are_counted_by_module),
      cmocka_unit_test(what_a_branch_captures_is_alive),
      cmocka_unit_test(multiply_adds_are_those_of_the_definition),
      cmocka_unit_test(a_recurrent_layer_counts_all_its_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
