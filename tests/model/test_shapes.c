/* The driver of inference, with a few operators of the test's own: what it hands to operators, and what it makes
 * of their answers. */
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "model/schema.h"
#include "model/types.h"
#include "model_builder.h"
#include "support.h"
#include "tensor/tensor.h"

/* --- operators of the test ------------------------------------------------------------ */

/* Output 0 is like input 0. */
static assay_status infer_like(struct infer *infer) {
  infer->outputs[0].type = infer->inputs[0]->type;
  return status_ok();
}

/* A matrix is turned. */
static assay_status infer_turn(struct infer *infer) {
  struct value_type type = infer->inputs[0]->type;
  if (type.rank == 2) {
    struct dim first = type.dims[0];
    type.dims[0] = type.dims[1];
    type.dims[1] = first;
  } else if (type.rank != RANK_UNKNOWN) {
    return status_make(ASSAY_NODE_INVALID, NULL, "only matrices can be turned");
  }
  infer->outputs[0].type = type;
  return status_ok();
}

/* The shape of input 0 as numbers. */
static assay_status infer_shape(struct infer *infer) {
  const struct value_type *type = &infer->inputs[0]->type;
  struct infer_value *out = &infer->outputs[0];
  out->type = (struct value_type){.kind = TYPE_TENSOR, .dtype = ASSAY_INT64, .rank = 1};
  out->type.dims[0].value = type->rank;
  struct dim *partial;
  ARENA_NEW(infer->arena, partial, ASSAY_RANK_MAX);
  memcpy(partial, type->dims, sizeof type->dims);
  out->partial = partial;
  out->partial_count = type->rank;
  return status_ok();
}

/* Zeros of the shape that input 0 holds. */
static assay_status infer_fill(struct infer *infer) {
  const struct infer_value *shape = infer->inputs[0];
  struct value_type *type = &infer->outputs[0].type;
  *type = (struct value_type){.kind = TYPE_TENSOR, .dtype = ASSAY_FLOAT32, .rank = RANK_UNKNOWN};
  if (shape->partial != NULL) {
    type->rank = shape->partial_count;
    memcpy(type->dims, shape->partial, (size_t)shape->partial_count * sizeof *shape->partial);
  }
  return status_ok();
}

/* Both branches must agree on output 0. */
static assay_status infer_if(struct infer *infer) {
  struct infer_value results[2];
  for (int i = 0; i < 2; i++) {
    const struct attribute *branch = node_attribute(infer->node, i == 0 ? "then_branch" : "else_branch");
    TRY(infer->subgraph(infer, branch->graphs[0], NULL, 0, &results[i], 1));
  }
  infer->outputs[0].type = results[0].type;
  return status_ok();
}

static assay_status infer_twice(struct infer *infer) {
  struct infer_value inputs[1] = {*infer->inputs[0]};
  return infer->subgraph(infer, node_attribute(infer->node, "body")->graphs[0], inputs, 1, &infer->outputs[0], 1);
}

static const struct {
  const char *op_type;
  struct schema schema;
} table[] = {{"Like", {infer_like}}, {"Turn", {infer_turn}}, {"Shape", {infer_shape}},
             {"Fill", {infer_fill}}, {"If", {infer_if}},     {"Twice", {infer_twice}}};

static assay_status find(const void *user, const struct node *node, const struct schema **out) {
  (void)user;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    if (strcmp(table[i].op_type, node->op_type) == 0) {
      *out = &table[i].schema;
      return status_ok();
    }
  }
  return status_make(ASSAY_OPERATOR_UNKNOWN, node->label, "there is no operator %s", node->op_type);
}

/* Computes Like on constants; counts its calls. */
static int folded;
static assay_status fold(const void *user, const struct node *node, const assay_tensor *const *inputs,
                         struct arena *arena, assay_tensor *outputs, bool *done) {
  (void)user;
  (void)arena;
  folded++;
  *done = strcmp(node->op_type, "Like") == 0;
  if (*done) {
    outputs[0] = *inputs[0];
  }
  return status_ok();
}

static const struct schema_source source = {.find = find};
static const struct schema_source folding = {.find = find, .fold = fold};

/* --- helpers -------------------------------------------------------------------------------- */

struct world {
  struct proto *proto;
  struct model *model;
  struct arena arena;
  struct shapes shapes;
};

static struct world open_world(struct proto *proto) {
  return (struct world){.proto = proto, .model = onnx_open(proto)};
}

static void close_world(struct world *world) {
  arena_free(&world->arena);
  model_close(world->model);
  proto_free(world->proto);
}

static assay_status infer_with(struct world *world, const struct schema_source *from,
                               const struct shape_binding *bindings, int32_t n, bool lenient) {
  const struct shapes_options options = {.bindings = bindings, .n_bindings = n, .lenient = lenient};
  return shapes_infer(world->model->graph, from, &options, &world->arena, &world->shapes);
}

static void assert_type(const struct world *world, const char *value, const char *expected) {
  struct text text = {0};
  type_describe(&world->shapes.values[graph_find_value(world->model->graph, value)].type, &text);
  assert_string_equal(text_string(&text), expected);
  text_free(&text);
}

static struct proto *turned(const char *in, const char *out) {
  struct proto *proto = onnx_model(8, 17), *graph = onnx_graph(proto);
  onnx_input(graph, "x", ASSAY_FLOAT32, in);
  onnx_node_of(graph, "", "Turn", "turn", "x", "u");
  onnx_node(graph, "Like", "u", "y");
  onnx_output(graph, "y", ASSAY_FLOAT32, out);
  return proto;
}

/* --- tests ------------------------------------------------------------------------------------ */

static void symbols_are_carried_and_replaced_by_bindings(void **state) {
  (void)state;
  struct world world = open_world(turned("batch,3", NULL));
  ASSERT_OK(infer_with(&world, &source, NULL, 0, false));
  assert_type(&world, "u", "float32[3,batch]");
  assert_type(&world, "y", "float32[3,batch]");
  const struct shape_binding binding = {"x", 2, (const int64_t[]){8, 3}};
  ASSERT_OK(infer_with(&world, &source, &binding, 1, false));
  assert_type(&world, "x", "float32[8,3]");
  assert_type(&world, "y", "float32[3,8]");
  const struct shape_binding wrong[] = {
      {"x", 2, (const int64_t[]){8, 4}}, {"x", 1, (const int64_t[]){8}}, {"nowhere", 1, (const int64_t[]){8}}};
  ASSERT_FAILS(infer_with(&world, &source, &wrong[0], 1, false), ASSAY_SHAPE_CONFLICT, "dimension 1 of input 'x'");
  ASSERT_FAILS(infer_with(&world, &source, &wrong[1], 1, false), ASSAY_SHAPE_CONFLICT, "rank 1");
  ASSERT_FAILS(infer_with(&world, &source, &wrong[2], 1, false), ASSAY_VALUE_UNDEFINED, "'nowhere'");
  close_world(&world);
}

static void one_symbol_has_one_number(void **state) {
  (void)state;
  struct proto *proto = turned("batch,3", NULL);
  onnx_input(onnx_graph(proto), "z", ASSAY_FLOAT32, "batch");
  struct world world = open_world(proto);
  const struct shape_binding bindings[] = {{"x", 2, (const int64_t[]){8, 3}}, {"z", 1, (const int64_t[]){9}}};
  ASSERT_FAILS(infer_with(&world, &source, bindings, 2, false), ASSAY_SHAPE_CONFLICT, "'batch'");
  ASSERT_OK(infer_with(&world, &source, bindings, 1, false));
  assert_type(&world, "z", "float32[8]");
  close_world(&world);
}

static void declared_and_inferred_complete_each_other(void **state) {
  (void)state;
  struct world world = open_world(turned("?,3", "3,time"));
  ASSERT_OK(infer_with(&world, &source, NULL, 0, false));
  assert_type(&world, "u", "float32[3,?]");
  assert_type(&world, "y", "float32[3,time]");
  close_world(&world);
}

static void contradictions_name_node_and_value(void **state) {
  (void)state;
  struct world world = open_world(turned("2,3", "2,3"));
  ASSERT_FAILS(infer_with(&world, &source, NULL, 0, false), ASSAY_SHAPE_CONFLICT, "value 'y' of node 'Like_1'");
  close_world(&world);
  world = open_world(turned("2,3", "3,2,1"));
  ASSERT_FAILS(infer_with(&world, &source, NULL, 0, true), ASSAY_SHAPE_CONFLICT, "float32[3,2,1]");
  close_world(&world);
  struct proto *proto = turned("2,3", "3,2");
  onnx_value(onnx_graph(proto), "u", ASSAY_INT64, "3,2");
  world = open_world(proto);
  ASSERT_FAILS(infer_with(&world, &source, NULL, 0, false), ASSAY_TYPE_CONFLICT, "value 'u' of node 'turn'");
  close_world(&world);
  world = open_world(turned("2,3,4", NULL));
  ASSERT_FAILS(infer_with(&world, &source, NULL, 0, false), ASSAY_NODE_INVALID, "node 'turn' (Turn, opset 17): only");
  close_world(&world);
}

static void unknown_operators_fail_or_take_what_is_declared(void **state) {
  (void)state;
  struct proto *proto = onnx_model(8, 17), *graph = onnx_graph(proto);
  onnx_input(graph, "x", ASSAY_FLOAT32, "2,3");
  onnx_node(graph, "Strange", "x", "u");
  onnx_value(graph, "u", ASSAY_FLOAT32, "5,6");
  onnx_node(graph, "Turn", "u", "y");
  onnx_output(graph, "y", ASSAY_FLOAT32, NULL);
  struct world world = open_world(proto);
  ASSERT_FAILS(infer_with(&world, &source, NULL, 0, false), ASSAY_OPERATOR_UNKNOWN, "Strange");
  ASSERT_OK(infer_with(&world, &source, NULL, 0, true));
  assert_type(&world, "y", "float32[6,5]");
  close_world(&world);
}

static void shape_arithmetic_is_carried(void **state) {
  (void)state;
  struct proto *proto = onnx_model(8, 17), *graph = onnx_graph(proto);
  onnx_input(graph, "x", ASSAY_FLOAT32, "batch,3");
  onnx_i64(graph, "fixed", "2", (const int64_t[]){4, 5});
  onnx_node(graph, "Shape", "x", "s");
  onnx_node(graph, "Fill", "s", "y");
  onnx_node(graph, "Fill", "fixed", "z");
  onnx_output(graph, "y", ASSAY_FLOAT32, NULL);
  struct world world = open_world(proto);
  ASSERT_OK(infer_with(&world, &source, NULL, 0, false));
  assert_type(&world, "y", "float32[batch,3]");
  assert_type(&world, "z", "float32[4,5]"); /* content of a weight */
  const struct infer_value *s = &world.shapes.values[graph_find_value(world.model->graph, "s")];
  assert_null(s->constant);
  const struct shape_binding binding = {"x", 2, (const int64_t[]){8, 3}};
  ASSERT_OK(infer_with(&world, &source, &binding, 1, false));
  s = &world.shapes.values[graph_find_value(world.model->graph, "s")];
  assert_non_null(s->constant); /* wholly known is a constant */
  assert_int_equal(tensor_get_int(s->constant, 0), 8);
  close_world(&world);
}

static void nodes_of_constants_are_folded(void **state) {
  (void)state;
  struct proto *proto = onnx_model(8, 17), *graph = onnx_graph(proto);
  onnx_input(graph, "x", ASSAY_FLOAT32, "3");
  onnx_input(graph, "default", ASSAY_INT64, "2");
  onnx_i64(graph, "default", "2", (const int64_t[]){4, 5});
  onnx_i64(graph, "fixed", "2", (const int64_t[]){6, 7});
  onnx_node(graph, "Like", "fixed", "a");
  onnx_node(graph, "Fill", "a", "y");
  onnx_node(graph, "Like", "default", "b");
  onnx_node(graph, "Fill", "b", "z");
  onnx_node(graph, "Like", "x", "c");
  onnx_output(graph, "y", ASSAY_FLOAT32, NULL);
  struct world world = open_world(proto);
  folded = 0;
  ASSERT_OK(infer_with(&world, &folding, NULL, 0, false));
  assert_type(&world, "y", "float32[6,7]");
  assert_type(&world, "z", "float32[...]"); /* the default of an input may be replaced */
  assert_int_equal(folded, 2);              /* Like of fixed, and Fill, which the test cannot compute */
  const struct shape_binding binding = {"default", 1, (const int64_t[]){2}};
  struct shapes_options options = {.defaults = true};
  ASSERT_OK(shapes_infer(world.model->graph, &folding, &options, &world.arena, &world.shapes));
  assert_type(&world, "z", "float32[4,5]");
  options.bindings = &binding;
  options.n_bindings = 1;
  ASSERT_OK(shapes_infer(world.model->graph, &folding, &options, &world.arena, &world.shapes));
  assert_type(&world, "z", "float32[...]"); /* fed after all */
  close_world(&world);
}

static void subgraphs_see_captured_values_and_their_inputs(void **state) {
  (void)state;
  struct proto *proto = onnx_model(8, 17), *graph = onnx_graph(proto);
  onnx_input(graph, "cond", ASSAY_BOOL, "");
  onnx_input(graph, "x", ASSAY_FLOAT32, "batch,3");
  onnx_node(graph, "Turn", "x", "u");
  struct proto *branch = onnx_node(graph, "If", "cond", "y");
  for (int i = 0; i < 2; i++) {
    struct proto *inner = onnx_graph_attribute(branch, i == 0 ? "then_branch" : "else_branch");
    onnx_node(inner, "Turn", "u", i == 0 ? "t" : "e");
    onnx_output(inner, i == 0 ? "t" : "e", ASSAY_FLOAT32, NULL);
  }
  struct proto *body = onnx_graph_attribute(onnx_node_of(graph, "", "Twice", "twice", "x", "z"), "body");
  onnx_input(body, "p", ASSAY_FLOAT32, NULL);
  onnx_node(body, "Turn", "p", "q");
  onnx_output(body, "q", ASSAY_FLOAT32, "3,?");
  onnx_output(graph, "y", ASSAY_FLOAT32, NULL);
  struct world world = open_world(proto);
  ASSERT_OK(infer_with(&world, &source, NULL, 0, false));
  assert_type(&world, "y", "float32[batch,3]");
  assert_type(&world, "z", "float32[3,batch]");
  close_world(&world);
}

static void a_conflict_inside_a_subgraph_is_found(void **state) {
  (void)state;
  struct proto *proto = onnx_model(8, 17), *graph = onnx_graph(proto);
  onnx_input(graph, "x", ASSAY_FLOAT32, "2,3");
  struct proto *body = onnx_graph_attribute(onnx_node_of(graph, "", "Twice", "twice", "x", "z"), "body");
  onnx_input(body, "p", ASSAY_FLOAT32, "2,4");
  onnx_node(body, "Turn", "p", "q");
  onnx_output(body, "q", ASSAY_FLOAT32, NULL);
  onnx_output(graph, "z", ASSAY_FLOAT32, NULL);
  struct world world = open_world(proto);
  ASSERT_FAILS(infer_with(&world, &source, NULL, 0, false), ASSAY_SHAPE_CONFLICT, "node 'twice'");
  close_world(&world);
}

static void calls_have_to_be_written_out_first(void **state) {
  (void)state;
  struct proto *proto = onnx_model(10, 21), *graph = onnx_graph(proto);
  onnx_opset(proto, "mine", 1);
  struct proto *function = onnx_function(proto, "mine", "F", "a", "b");
  onnx_function_opset(function, "", 21);
  onnx_node(function, "Turn", "a", "b");
  onnx_input(graph, "x", ASSAY_FLOAT32, "2,3");
  onnx_node_of(graph, "mine", "F", "call", "x", "y");
  onnx_output(graph, "y", ASSAY_FLOAT32, NULL);
  struct world world = open_world(proto);
  ASSERT_FAILS(infer_with(&world, &source, NULL, 0, false), ASSAY_OPERATOR_UNKNOWN, "'call'");
  struct model *flat;
  ASSERT_OK(model_inline(world.model, &flat));
  ASSERT_OK(shapes_infer(flat->graph, &source, NULL, &world.arena, &world.shapes));
  assert_int_equal(world.shapes.values[graph_find_value(flat->graph, "y")].type.dims[0].value, 3);
  model_close(flat);
  close_world(&world);
}

static void types_merge_and_describe(void **state) {
  (void)state;
  struct value_type unknown = {.rank = RANK_UNKNOWN}, some = {.kind = TYPE_TENSOR, .dtype = ASSAY_FLOAT32, .rank = 2};
  some.dims[0] = (struct dim){DIM_UNKNOWN, "batch"};
  some.dims[1] = (struct dim){DIM_UNKNOWN, NULL};
  struct value_type merged = unknown;
  assert_int_equal(type_merge(&some, &merged), TYPE_FITS);
  assert_int_equal(merged.rank, 2);
  struct value_type fixed = some;
  fixed.dims[0] = (struct dim){4, NULL};
  assert_int_equal(type_merge(&fixed, &merged), TYPE_FITS);
  assert_int_equal(merged.dims[0].value, 4);
  fixed.dims[0].value = 5;
  assert_int_equal(type_merge(&fixed, &merged), TYPE_SHAPE_DIFFERS);
  assert_int_equal(merged.dims[0].value, 4);
  fixed.rank = 1;
  assert_int_equal(type_merge(&fixed, &merged), TYPE_SHAPE_DIFFERS);
  fixed.dtype = ASSAY_INT8;
  assert_int_equal(type_merge(&fixed, &merged), TYPE_KIND_DIFFERS);
  struct text text = {0};
  type_describe(&unknown, &text);
  text_add_char(&text, ' ');
  some.kind = TYPE_SEQUENCE;
  type_describe(&some, &text);
  assert_string_equal(text_string(&text), "unknown sequence(float32[batch,?])");
  text_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(symbols_are_carried_and_replaced_by_bindings),
      cmocka_unit_test(one_symbol_has_one_number),
      cmocka_unit_test(declared_and_inferred_complete_each_other),
      cmocka_unit_test(contradictions_name_node_and_value),
      cmocka_unit_test(unknown_operators_fail_or_take_what_is_declared),
      cmocka_unit_test(shape_arithmetic_is_carried),
      cmocka_unit_test(nodes_of_constants_are_folded),
      cmocka_unit_test(subgraphs_see_captured_values_and_their_inputs),
      cmocka_unit_test(a_conflict_inside_a_subgraph_is_found),
      cmocka_unit_test(calls_have_to_be_written_out_first),
      cmocka_unit_test(types_merge_and_describe),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
