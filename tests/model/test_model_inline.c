/* Writing out model-local functions. */
#include <string.h>

#include "model/model.h"
#include "model_builder.h"
#include "support.h"

/* Opens, inlines, and hands both out. */
struct pair {
  struct proto *proto;
  struct model *model, *flat;
};

static struct pair open_flat(struct proto *proto) {
  struct pair pair = {.proto = proto, .model = onnx_open(proto)};
  ASSERT_OK(model_inline(pair.model, &pair.flat));
  return pair;
}

static void close_pair(struct pair *pair) {
  model_close(pair->flat);
  model_close(pair->model);
  proto_free(pair->proto);
}

/* Input k of node i, by name. */
static const char *input_name(const struct graph *graph, int32_t i, int32_t k) {
  return graph->values[graph->nodes[i].inputs[k]].name;
}

static const char *output_name(const struct graph *graph, int32_t i, int32_t k) {
  return graph->values[graph->nodes[i].outputs[k]].name;
}

/* y = scaled(x): t = x * alpha (a reference); y = t + x. Called twice. */
static void a_call_becomes_the_nodes_of_the_body(void **state) {
  (void)state;
  struct proto *model = onnx_model(10, 21), *graph = onnx_graph(model);
  onnx_opset(model, "mine", 1);
  struct proto *function = onnx_function(model, "mine", "Scaled", "a", "b");
  onnx_function_opset(function, "", 18);
  onnx_function_attribute(function, "alpha");
  onnx_function_default(function, "axis", 3);
  struct proto *softmax = onnx_node(function, "Softmax", "a", "t");
  onnx_reference(softmax, "axis", "axis", ATTRIBUTE_INT);
  struct proto *elu = onnx_node(function, "Elu", "t", "b");
  onnx_reference(elu, "alpha", "alpha", ATTRIBUTE_FLOAT);
  onnx_input(graph, "x", ASSAY_FLOAT32, "3");
  onnx_float(onnx_node_of(graph, "mine", "Scaled", "first", "x", "t"), "alpha", 0.5f);
  onnx_int(onnx_float(onnx_node_of(graph, "mine", "Scaled", "second", "t", "y"), "alpha", 2), "axis", 0);
  onnx_output(graph, "y", ASSAY_FLOAT32, "3");
  struct pair pair = open_flat(model);
  const struct graph *flat = pair.flat->graph;
  assert_int_equal(flat->n_nodes, 4);
  assert_int_equal(pair.flat->n_functions, 0);
  assert_string_equal(flat->nodes[0].op_type, "Softmax");
  assert_int_equal(flat->nodes[0].opset, 18);
  assert_string_equal(flat->nodes[0].label, "first/Softmax_0");
  assert_string_equal(input_name(flat, 0, 0), "x");
  assert_string_equal(output_name(flat, 0, 0), "first/t");
  assert_string_equal(output_name(flat, 1, 0), "t");
  assert_string_equal(output_name(flat, 2, 0), "second/t");
  assert_string_equal(output_name(flat, 3, 0), "y");
  assert_int_equal(node_attribute_int(&flat->nodes[0], "axis", -1), 3);
  assert_int_equal(node_attribute_int(&flat->nodes[2], "axis", -1), 0);
  assert_true(node_attribute_float(&flat->nodes[1], "alpha", 0) == 0.5f);
  assert_true(node_attribute_float(&flat->nodes[3], "alpha", 0) == 2.0f);
  assert_int_equal(flat->values[graph_find_value(flat, "y")].producer, 3);
  assert_true(flat->values[graph_find_value(flat, "y")].is_output);
  close_pair(&pair);
}

static void functions_call_functions_and_hand_inputs_on(void **state) {
  (void)state;
  struct proto *model = onnx_model(10, 21), *graph = onnx_graph(model);
  onnx_opset(model, "mine", 1);
  struct proto *outer = onnx_function(model, "mine", "Outer", "a,b", "c,a,c2");
  onnx_function_opset(outer, "mine", 1);
  onnx_node_of(outer, "mine", "Inner", "call", "a,b", "c");
  onnx_node_of(outer, "mine", "Inner", "again", "c", "c2");
  struct proto *inner = onnx_function(model, "mine", "Inner", "p,q", "r");
  onnx_function_opset(inner, "", 21);
  onnx_node(inner, "Clip", "p,q", "r");
  onnx_input(graph, "x", ASSAY_FLOAT32, "3");
  onnx_node_of(graph, "mine", "Outer", "top", "x", "y,z");
  onnx_output(graph, "y", ASSAY_FLOAT32, "3");
  onnx_output(graph, "z", ASSAY_FLOAT32, "3");
  struct pair pair = open_flat(model);
  const struct graph *flat = pair.flat->graph;
  assert_int_equal(flat->n_nodes, 3);
  assert_string_equal(flat->nodes[0].label, "top/call/Clip_0");
  assert_int_equal(flat->nodes[0].n_inputs, 2);
  assert_int_equal(flat->nodes[0].inputs[1], -1); /* absent in the call, absent in the body */
  assert_string_equal(output_name(flat, 0, 0), "y");
  assert_string_equal(flat->nodes[2].op_type, "Identity");
  assert_string_equal(input_name(flat, 2, 0), "x");
  assert_string_equal(output_name(flat, 2, 0), "z");
  close_pair(&pair);
}

static void names_inside_stay_apart(void **state) {
  (void)state;
  struct proto *model = onnx_model(10, 21), *graph = onnx_graph(model);
  onnx_opset(model, "mine", 1);
  struct proto *function = onnx_function(model, "mine", "F", "a", "b");
  onnx_function_opset(function, "", 21);
  onnx_node(function, "Relu", "a", "t");
  onnx_node(function, "Neg", "t", "b");
  onnx_input(graph, "x", ASSAY_FLOAT32, "3");
  onnx_node_of(graph, "", "Abs", "", "x", "f/t"); /* the name that the body's value would get */
  onnx_node_of(graph, "mine", "F", "f", "f/t", "y");
  onnx_output(graph, "y", ASSAY_FLOAT32, "3");
  struct pair pair = open_flat(model);
  assert_string_equal(output_name(pair.flat->graph, 1, 0), "f/t#2");
  assert_string_equal(input_name(pair.flat->graph, 1, 0), "f/t");
  close_pair(&pair);
}

/* A branch inside a body captures the body's values; f(x, x) makes two of them one. */
static void subgraphs_of_a_body_capture_the_caller_s_values(void **state) {
  (void)state;
  struct proto *model = onnx_model(10, 21), *graph = onnx_graph(model);
  onnx_opset(model, "mine", 1);
  struct proto *function = onnx_function(model, "mine", "Pick", "cond,a,b", "r");
  onnx_function_opset(function, "", 21);
  onnx_node(function, "Neg", "a", "inner");
  struct proto *branch = onnx_node(function, "If", "cond", "r");
  struct proto *then_branch = onnx_graph_attribute(branch, "then_branch");
  onnx_node(then_branch, "Sum", "a,b,inner", "t");
  onnx_output(then_branch, "t", ASSAY_FLOAT32, NULL);
  struct proto *else_branch = onnx_graph_attribute(branch, "else_branch");
  onnx_node(else_branch, "Identity", "inner", "e");
  onnx_output(else_branch, "e", ASSAY_FLOAT32, NULL);
  onnx_input(graph, "c", ASSAY_BOOL, "");
  onnx_input(graph, "x", ASSAY_FLOAT32, "3");
  onnx_node_of(graph, "mine", "Pick", "pick", "c,x,x", "y");
  onnx_output(graph, "y", ASSAY_FLOAT32, "3");
  struct pair pair = open_flat(model);
  const struct graph *flat = pair.flat->graph;
  const struct graph *inner = node_attribute(&flat->nodes[1], "then_branch")->graphs[0];
  assert_ptr_equal(inner->parent, flat);
  const struct node *sum = &inner->nodes[0];
  assert_int_equal(sum->inputs[0], sum->inputs[1]);
  assert_int_equal(inner->values[sum->inputs[0]].outer, graph_find_value(flat, "x"));
  assert_int_equal(inner->values[sum->inputs[2]].outer, graph_find_value(flat, "pick/inner"));
  assert_string_equal(inner->values[sum->outputs[0]].name, "pick/t");
  close_pair(&pair);
}

static void a_model_without_functions_is_shared(void **state) {
  (void)state;
  struct proto *model = onnx_model(10, 21), *graph = onnx_graph(model);
  onnx_input(graph, "x", ASSAY_FLOAT32, "3");
  onnx_node(graph, "Relu", "x", "y");
  onnx_output(graph, "y", ASSAY_FLOAT32, "3");
  struct pair pair = open_flat(model);
  assert_ptr_equal(pair.flat->graph, pair.model->graph);
  close_pair(&pair);
}

/* Twenty functions, each calling the one below it twice: a million nodes from two kilobytes. */
static void growth_is_bounded(void **state) {
  (void)state;
  struct proto *model = onnx_model(10, 21), *graph = onnx_graph(model);
  onnx_opset(model, "mine", 1);
  for (int i = 0; i < 30; i++) {
    char name[16], below[16];
    snprintf(name, sizeof name, "F%d", i);
    snprintf(below, sizeof below, "F%d", i - 1);
    struct proto *function = onnx_function(model, "mine", name, "a", "b");
    onnx_function_opset(function, "", 21);
    onnx_function_opset(function, "mine", 1);
    onnx_node_of(function, i == 0 ? "" : "mine", i == 0 ? "Relu" : below, "", "a", "t");
    onnx_node_of(function, i == 0 ? "" : "mine", i == 0 ? "Relu" : below, "", "t", "b");
  }
  onnx_input(graph, "x", ASSAY_FLOAT32, "3");
  onnx_node_of(graph, "mine", "F29", "", "x", "y");
  onnx_output(graph, "y", ASSAY_FLOAT32, "3");
  struct model *opened = onnx_open(model), *flat = NULL;
  ASSERT_FAILS(model_inline(opened, &flat), ASSAY_LIMIT_EXCEEDED, "written out");
  assert_null(flat);
  model_close(opened);
  proto_free(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_call_becomes_the_nodes_of_the_body),
      cmocka_unit_test(functions_call_functions_and_hand_inputs_on),
      cmocka_unit_test(names_inside_stay_apart),
      cmocka_unit_test(subgraphs_of_a_body_capture_the_caller_s_values),
      cmocka_unit_test(a_model_without_functions_is_shared),
      cmocka_unit_test(growth_is_bounded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
