/* Random nodes are found wherever they stand, and their sentence says how to make them an input. */
#include <string.h>

#include "core/arena.h"
#include "engine/random_nodes.h"
#include "model_builder.h"
#include "support.h"

/* The model has this many random nodes; the first one's label and sentence hold these parts. Ends the model. */
static void expect_nodes(struct proto *proto, int32_t count, const char *label, const char *part) {
  struct model *model = onnx_open(proto);
  struct arena arena = {0};
  const struct random_node *nodes;
  int32_t found;
  ASSERT_OK(random_nodes_find(model, &arena, &nodes, &found));
  assert_int_equal(found, count);
  if (count > 0) {
    if (strstr(nodes[0].label, label) == NULL || strstr(nodes[0].sentence, part) == NULL) {
      print_error("expected '%s' with \"%s\", got '%s': %s\n", label, part, nodes[0].label, nodes[0].sentence);
      fail();
    }
  }
  arena_free(&arena);
  model_close(model);
  proto_free(proto);
}

/* y = x + what the node `add` makes as "z". */
static struct proto *begin(int64_t opset) {
  struct proto *model = onnx_model(8, opset), *graph = onnx_graph(model);
  onnx_input(graph, "x", ASSAY_FLOAT32, "1,4");
  onnx_node(graph, "Add", "x,z", "y");
  onnx_output(graph, "y", ASSAY_FLOAT32, "1,4");
  return model;
}
static struct proto *node_of(struct proto *model, const char *op, const char *inputs) {
  return onnx_node_of(onnx_graph(model), "", op, "the_node", inputs, "z");
}

static void a_model_without_them_has_none(void **state) {
  (void)state;
  struct proto *model = begin(17);
  node_of(model, "Tanh", "x");
  expect_nodes(model, 0, "", "");
}

static void every_kind_is_named_with_what_to_write(void **state) {
  (void)state;
  static const int64_t shape[] = {1, 4};
  struct proto *model = begin(17), *node = node_of(model, "RandomNormal", "");
  onnx_ints(node, "shape", shape, 2);
  expect_nodes(model, 1, "the_node",
               "`- {name: z, role: noise, distribution: normal, seeds: 8, dtype: float32, shape: [1, 4]}`");
  model = begin(17);
  node = node_of(model, "RandomUniform", "");
  onnx_ints(node, "shape", shape, 2);
  onnx_float(node, "low", -1);
  expect_nodes(model, 1, "the_node", "distribution: {uniform: [-1, 1]}");
  model = begin(17);
  node = node_of(model, "RandomNormalLike", "x");
  onnx_float(node, "mean", 2);
  expect_nodes(model, 1, "the_node",
               "distribution: {normal: {mean: 2, std: 1}}, seeds: 8, dtype: float32, shape: [1, 4]");
  model = begin(17);
  node_of(model, "RandomUniformLike", "x");
  expect_nodes(model, 1, "the_node", "distribution: uniform, seeds: 8, dtype: float32, shape: [1, 4]");
  model = begin(17);
  node_of(model, "Bernoulli", "x");
  expect_nodes(model, 1, "the_node", "uniform noise 'z_noise' that is an input");
  model = begin(17);
  node_of(model, "Multinomial", "x");
  expect_nodes(model, 1, "the_node", "ArgMax");
}

static void a_seed_does_not_help(void **state) {
  (void)state;
  struct proto *model = begin(17);
  onnx_float(node_of(model, "RandomNormalLike", "x"), "seed", 3);
  expect_nodes(model, 1, "the_node", "ONNX does not say which generator it seeds");
}

static void a_dropout_counts_unless_it_is_plain_that_it_drops_nothing(void **state) {
  (void)state;
  static const float half = 0.5F, nothing = 0;
  static const uint8_t yes = 1, no = 0;
  const struct {
    int64_t opset;
    const char *inputs;
    const float *ratio;
    const uint8_t *training; /* NULL: an input of the model */
    int32_t count;
  } dropouts[] = {{17, "x", &half, &no, 0},      {17, "x,r", &half, &no, 0},       {17, "x,r,t", &half, &no, 0},
                  {17, "x,r,t", &half, &yes, 1}, {17, "x,,t", &half, &yes, 1},     {17, "x,r,t", &nothing, &yes, 0},
                  {17, "x,r,t", &half, NULL, 1}, {17, "x,r,t", &nothing, NULL, 0}, {7, "x", &half, &no, 0},
                  {11, "x", &half, &no, 0},      {6, "x", &half, &no, 1}};
  for (size_t i = 0; i < sizeof dropouts / sizeof *dropouts; i++) {
    struct proto *model = begin(dropouts[i].opset), *graph = onnx_graph(model);
    onnx_f32(graph, "r", "", dropouts[i].ratio);
    if (dropouts[i].training != NULL) {
      onnx_raw(graph, "t", ASSAY_BOOL, "", dropouts[i].training, 1);
    } else {
      onnx_input(graph, "t", ASSAY_BOOL, "");
    }
    node_of(model, "Dropout", dropouts[i].inputs);
    expect_nodes(model, dropouts[i].count, "the_node", "evaluation mode");
  }
  struct proto *model = begin(6);
  onnx_int(node_of(model, "Dropout", "x"), "is_test", 1);
  expect_nodes(model, 0, "", "");
}

/* y = If(c){RandomNormalLike(x)} else {x}. */
static void subgraphs_are_looked_into(void **state) {
  (void)state;
  struct proto *model = begin(17), *graph = onnx_graph(model);
  onnx_input(graph, "c", ASSAY_BOOL, "");
  struct proto *branch = onnx_node_of(graph, "", "If", "choice", "c", "z");
  struct proto *then = onnx_graph_attribute(branch, "then_branch"),
               *other = onnx_graph_attribute(branch, "else_branch");
  onnx_node_of(then, "", "RandomNormalLike", "inner", "x", "n");
  onnx_output(then, "n", ASSAY_FLOAT32, "1,4");
  onnx_node(other, "Identity", "x", "m");
  onnx_output(other, "m", ASSAY_FLOAT32, "1,4");
  expect_nodes(model, 1, "inner", "in a subgraph of node 'choice'");
}

static void functions_are_looked_into(void **state) {
  (void)state;
  struct proto *model = begin(17), *graph = onnx_graph(model);
  onnx_opset(model, "own", 1);
  struct proto *function = onnx_function(model, "own", "Jitter", "a", "b");
  onnx_function_opset(function, "", 17);
  onnx_node_of(function, "", "RandomUniformLike", "drawn", "a", "u");
  onnx_node(function, "Add", "a,u", "b");
  onnx_node_of(graph, "own", "Jitter", "call", "x", "z");
  expect_nodes(model, 1, "drawn", "dtype: float32, shape: [1, 4]");
}

static void names_of_other_domains_are_not_meant(void **state) {
  (void)state;
  struct proto *model = begin(17);
  onnx_opset(model, "own", 1);
  onnx_node_of(onnx_graph(model), "own", "RandomNormal", "the_node", "x", "z");
  expect_nodes(model, 0, "", "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_model_without_them_has_none),
      cmocka_unit_test(every_kind_is_named_with_what_to_write),
      cmocka_unit_test(a_seed_does_not_help),
      cmocka_unit_test(a_dropout_counts_unless_it_is_plain_that_it_drops_nothing),
      cmocka_unit_test(subgraphs_are_looked_into),
      cmocka_unit_test(functions_are_looked_into),
      cmocka_unit_test(names_of_other_domains_are_not_meant),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
