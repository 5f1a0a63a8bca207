/* Faults of nodes' attributes and of model-local functions, each with its own code; and names of values
 * that are hidden. */
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "model_builder.h"
#include "support.h"

static struct proto *relu_model(void) {
  struct proto *model = onnx_model(10, 21), *graph = onnx_graph(model);
  onnx_opset(model, "mine", 1);
  onnx_input(graph, "x", ASSAY_FLOAT32, "3");
  onnx_node(graph, "Relu", "x", "y");
  onnx_output(graph, "y", ASSAY_FLOAT32, "3");
  return model;
}

static void expect(struct proto *model, assay_code code, const char *part) {
  size_t size;
  uint8_t *bytes = onnx_bytes(model, &size);
  struct model *opened = NULL;
  ASSERT_FAILS(model_parse(bytes, size, NULL, NULL, &opened), code, part);
  assert_null(opened);
  free(bytes);
  proto_free(model);
}

/* An attribute of a new node, to be filled by hand. */
static struct proto *raw_attribute(struct proto *model, const char *name, int kind) {
  struct proto *attribute = proto_child(onnx_node(onnx_graph(model), "Abs", "x", "z"), 5);
  proto_string(attribute, 1, name);
  if (kind != ATTRIBUTE_UNDEFINED) {
    proto_int(attribute, 20, kind);
  }
  return attribute;
}

/* --- attributes ------------------------------------------------------------------- */

static void kind_and_value_must_agree(void **state) {
  (void)state;
  struct proto *model = relu_model();
  proto_int(raw_attribute(model, "a", ATTRIBUTE_FLOAT), 3, 1);
  expect(model, ASSAY_ATTRIBUTE_INVALID, "'a'");

  model = relu_model();
  struct proto *attribute = raw_attribute(model, "a", ATTRIBUTE_INT);
  proto_int(attribute, 3, 1);
  proto_float(attribute, 2, 1);
  expect(model, ASSAY_ATTRIBUTE_INVALID, "FLOAT");

  model = relu_model();
  raw_attribute(model, "a", ATTRIBUTE_TENSOR);
  expect(model, ASSAY_ATTRIBUTE_INVALID, "no value");

  model = relu_model();
  raw_attribute(model, "a", 99);
  expect(model, ASSAY_ATTRIBUTE_INVALID, "kind");

  model = relu_model();
  raw_attribute(model, "a", ATTRIBUTE_UNDEFINED);
  expect(model, ASSAY_ATTRIBUTE_INVALID, "kind");

  model = relu_model();
  proto_int(raw_attribute(model, "", ATTRIBUTE_INT), 3, 1);
  expect(model, ASSAY_NAME_INVALID, "no name");
}

static void a_zero_may_be_left_out_and_an_old_file_has_no_kind(void **state) {
  (void)state;
  struct proto *model = relu_model();
  raw_attribute(model, "a", ATTRIBUTE_INT);
  struct model *opened = onnx_open(model);
  assert_int_equal(node_attribute_int(&opened->graph->nodes[1], "a", 7), 0);
  model_close(opened);
  proto_free(model);
  model = relu_model();
  proto_int(raw_attribute(model, "a", ATTRIBUTE_UNDEFINED), 3, 5);
  opened = onnx_open(model);
  assert_int_equal(node_attribute_int(&opened->graph->nodes[1], "a", 7), 5);
  model_close(opened);
  proto_free(model);
}

static void many_attributes_are_still_compared(void **state) {
  (void)state;
  struct proto *model = relu_model(), *node = onnx_node(onnx_graph(model), "Abs", "x", "z");
  for (int i = 0; i < 200; i++) {
    char name[16];
    snprintf(name, sizeof name, "a%d", i % 199);
    onnx_int(node, name, i);
  }
  expect(model, ASSAY_ATTRIBUTE_DUPLICATE, "'a0'");
}

/* --- functions ------------------------------------------------------------------------ */

static struct proto *add_function(struct proto *model, const char *name) {
  struct proto *function = onnx_function(model, "mine", name, "a", "b");
  onnx_function_opset(function, "", 21);
  onnx_function_opset(function, "mine", 1);
  return function;
}

static void functions_are_checked_where_they_stand(void **state) {
  (void)state;
  struct proto *model = relu_model();
  onnx_node(add_function(model, "F"), "Relu", "a", "b");
  onnx_node(add_function(model, "F"), "Relu", "a", "b");
  expect(model, ASSAY_FUNCTION_DUPLICATE, "'F'");

  model = relu_model();
  onnx_node_of(add_function(model, "F"), "mine", "G", "", "a", "b");
  onnx_node_of(add_function(model, "G"), "mine", "F", "", "a", "b");
  expect(model, ASSAY_FUNCTION_RECURSIVE, "calls itself");

  model = relu_model();
  onnx_node(add_function(model, "F"), "Relu", "nowhere", "b");
  expect(model, ASSAY_VALUE_UNDEFINED, "in function 'F'");

  model = relu_model();
  onnx_node(add_function(model, "F"), "Relu", "a", "c");
  expect(model, ASSAY_OUTPUT_UNDEFINED, "'b'");

  model = relu_model();
  onnx_node(add_function(model, "F"), "Relu", "x", "b"); /* the caller's x is not visible inside */
  expect(model, ASSAY_VALUE_UNDEFINED, "'x'");

  model = relu_model();
  onnx_node_of(add_function(model, "F"), "elsewhere", "Relu", "", "a", "b");
  expect(model, ASSAY_OPSET_MISSING, "elsewhere");

  model = relu_model();
  struct proto *function = add_function(model, "F");
  onnx_function_attribute(function, "alpha");
  onnx_function_default(function, "alpha", 1);
  onnx_node(function, "Relu", "a", "b");
  expect(model, ASSAY_ATTRIBUTE_DUPLICATE, "'alpha'");

  model = relu_model();
  onnx_node(add_function(model, ""), "Relu", "a", "b");
  expect(model, ASSAY_NAME_INVALID, "no name");
}

static void references_need_something_to_refer_to(void **state) {
  (void)state;
  struct proto *model = relu_model();
  onnx_reference(onnx_node(onnx_graph(model), "Elu", "x", "z"), "alpha", "alpha", ATTRIBUTE_FLOAT);
  expect(model, ASSAY_ATTRIBUTE_REFERENCE, "no function");

  model = relu_model();
  onnx_reference(onnx_node(add_function(model, "F"), "Elu", "a", "b"), "alpha", "beta", ATTRIBUTE_FLOAT);
  expect(model, ASSAY_ATTRIBUTE_REFERENCE, "'beta'");
}

static void calls_must_fit_the_function(void **state) {
  (void)state;
  struct proto *model = relu_model();
  onnx_node(add_function(model, "F"), "Relu", "a", "b");
  onnx_node_of(onnx_graph(model), "mine", "F", "call", "x,x", "z");
  expect(model, ASSAY_FUNCTION_CALL_INVALID, "'call'");

  model = relu_model();
  struct proto *function = add_function(model, "F");
  onnx_function_attribute(function, "alpha");
  onnx_node(function, "Relu", "a", "b");
  onnx_node_of(onnx_graph(model), "mine", "F", "call", "x", "z");
  expect(model, ASSAY_FUNCTION_ATTRIBUTE_MISSING, "'alpha'");

  model = relu_model();
  onnx_node(add_function(model, "F"), "Relu", "a", "b");
  onnx_int(onnx_node_of(onnx_graph(model), "mine", "F", "call", "x", "z"), "beta", 1);
  expect(model, ASSAY_FUNCTION_CALL_INVALID, "'beta'");
}

static void overloads_are_functions_of_their_own(void **state) {
  (void)state;
  struct proto *model = relu_model();
  onnx_node(add_function(model, "F"), "Relu", "a", "b");
  struct proto *second = add_function(model, "F");
  proto_string(second, 13, "wide");
  onnx_node(second, "Neg", "a", "b");
  proto_string(onnx_node_of(onnx_graph(model), "mine", "F", "call", "x", "z"), 8, "wide");
  struct model *opened = onnx_open(model);
  const struct function *called = node_function(opened, &opened->graph->nodes[1]);
  assert_string_equal(called->body->nodes[0].op_type, "Neg");
  assert_null(node_function(opened, &opened->graph->nodes[0]));
  model_close(opened);
  proto_free(model);
}

static void a_chain_of_calls_is_bounded(void **state) {
  (void)state;
  struct proto *model = relu_model();
  for (int i = 0; i < 200; i++) {
    char name[16], next[16];
    snprintf(name, sizeof name, "F%d", i);
    snprintf(next, sizeof next, "F%d", i + 1);
    onnx_node_of(add_function(model, name), i < 199 ? "mine" : "", i < 199 ? next : "Relu", "", "a", "b");
  }
  expect(model, ASSAY_LIMIT_EXCEEDED, "nested");
}

/* --- names that hide names --------------------------------------------------------------- */

static struct proto *with_branch(struct proto **branch) {
  struct proto *model = relu_model(), *graph = onnx_graph(model);
  onnx_input(graph, "cond", ASSAY_BOOL, "");
  *branch = onnx_graph_attribute(onnx_node(graph, "If", "cond", "late"), "then_branch");
  return model;
}

static void weights_inside_may_hide_with_a_note(void **state) {
  (void)state;
  struct proto *branch, *model = with_branch(&branch);
  onnx_f32(branch, "x", "1", (const float[]){3});
  onnx_node(branch, "Neg", "x", "inner");
  onnx_output(branch, "inner", ASSAY_FLOAT32, NULL);
  struct model *opened = onnx_open(model);
  assert_int_equal(model_warning_count(opened), 1);
  assert_int_equal(model_warning_at(opened, 0)->code, ASSAY_VALUE_SHADOWED);
  model_close(opened);
  proto_free(model);
}

static void a_name_that_comes_later_is_not_hidden(void **state) {
  (void)state;
  struct proto *branch, *model = with_branch(&branch);
  onnx_node(branch, "Neg", "x", "late"); /* as the If's own output */
  onnx_output(branch, "late", ASSAY_FLOAT32, NULL);
  struct model *opened = onnx_open(model);
  assert_int_equal(model_warning_count(opened), 0);
  model_close(opened);
  proto_free(model);
}

static void a_branch_may_hand_an_outer_value_on(void **state) {
  (void)state;
  struct proto *branch, *model = with_branch(&branch);
  onnx_output(branch, "y", ASSAY_FLOAT32, NULL);
  struct model *opened = onnx_open(model);
  const struct node *node = &opened->graph->nodes[1];
  const struct graph *inner = node->attributes[0].graphs[0];
  assert_string_equal(node->op_type, "If");
  assert_int_equal(inner->values[inner->outputs[0]].outer, graph_find_value(opened->graph, "y"));
  model_close(opened);
  proto_free(model);
}

static void a_branch_that_needs_its_own_result_is_a_cycle(void **state) {
  (void)state;
  struct proto *branch, *model = with_branch(&branch);
  onnx_node(branch, "Neg", "late", "inner");
  onnx_output(branch, "inner", ASSAY_FLOAT32, NULL);
  expect(model, ASSAY_GRAPH_CYCLE, "'If_1'");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kind_and_value_must_agree),
      cmocka_unit_test(a_zero_may_be_left_out_and_an_old_file_has_no_kind),
      cmocka_unit_test(many_attributes_are_still_compared),
      cmocka_unit_test(functions_are_checked_where_they_stand),
      cmocka_unit_test(references_need_something_to_refer_to),
      cmocka_unit_test(calls_must_fit_the_function),
      cmocka_unit_test(overloads_are_functions_of_their_own),
      cmocka_unit_test(a_chain_of_calls_is_bounded),
      cmocka_unit_test(weights_inside_may_hide_with_a_note),
      cmocka_unit_test(a_name_that_comes_later_is_not_hidden),
      cmocka_unit_test(a_branch_may_hand_an_outer_value_on),
      cmocka_unit_test(a_branch_that_needs_its_own_result_is_a_cycle),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
