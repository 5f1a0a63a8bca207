/* Sessions: what is fed is checked, bindings are remembered and run without allocation, defaults may be fed,
 * outputs may be fed back, and what cannot be run fails at load with the node's name. */
#include <string.h>

#include "core/memory.h"
#include "session_runs.h"
#include "support.h"

static const struct session_options plain = {.kernel_level = -1};

/* y[batch,2] = x[batch,3] w + b */
static struct proto *linear(void) {
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "x", ASSAY_FLOAT32, "batch,3");
  onnx_f32(graph, "w", "3,2", (const float[]){1, 2, 3, 4, 5, 6});
  onnx_f32(graph, "b", "2", (const float[]){0.5f, -0.5f});
  onnx_node(graph, "MatMul", "x,w", "product");
  onnx_node(graph, "Add", "product,b", "y");
  onnx_output(graph, "y", ASSAY_FLOAT32, "batch,2");
  return model;
}

static void test_runs_and_names_its_output(void **state) {
  (void)state;
  struct runs runs;
  runs_open(&runs, linear(), plain);
  runs_feed(&runs, "x", ASSAY_FLOAT32, "1,3", (const float[]){1, 10, 100});
  runs_run(&runs);
  assert_int_equal(runs.n_outputs, 1);
  assert_string_equal(runs.outputs[0].name, "y");
  runs_expect_floats(&runs, 0, (const float[]){531.5f, 641.5f}, 2);
  runs_close(&runs);
}

static void test_wrong_feeds_are_told_apart(void **state) {
  (void)state;
  static const float values[12] = {0};
  struct runs runs;
  runs_open(&runs, linear(), plain);
  ASSERT_FAILS(runs_try(&runs), ASSAY_INPUT_MISSING, "input 'x' is missing; the model expects float32[batch,3]");
  runs_feed(&runs, "x", ASSAY_FLOAT32, "1,4", values);
  ASSERT_FAILS(runs_try(&runs), ASSAY_INPUT_SHAPE, "is float32[1,4]; the model expects float32[batch,3]");
  runs_feed(&runs, "x", ASSAY_FLOAT32, "3", values);
  ASSERT_FAILS(runs_try(&runs), ASSAY_INPUT_SHAPE, "is float32[3]; the model expects float32[batch,3]");
  runs_feed(&runs, "x", ASSAY_FLOAT64, "1,3", values);
  ASSERT_FAILS(runs_try(&runs), ASSAY_INPUT_DTYPE, "is float64[1,3]; the model expects float32[batch,3]");
  runs_feed(&runs, "x", ASSAY_FLOAT32, "1,3", values);
  runs_feed(&runs, "z", ASSAY_FLOAT32, "1", values);
  ASSERT_FAILS(runs_try(&runs), ASSAY_INPUT_EXTRA, "'z' is fed, and the model has no such input; it has 'x'");
  runs.feeds[1].name = "x";
  ASSERT_FAILS(runs_try(&runs), ASSAY_INPUT_TWICE, "'x' is fed twice");
  runs.feeds[1].name = "w";
  ASSERT_FAILS(runs_try(&runs), ASSAY_INPUT_EXTRA, "'w'");
  runs.n_feeds = 1;
  runs.tensors[0].bytes = 8;
  ASSERT_FAILS(runs_try(&runs), ASSAY_INPUT_SHAPE, "holds 8 bytes");
  runs_close(&runs);
}

static void test_a_symbol_is_one_number(void **state) {
  (void)state;
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "a", ASSAY_FLOAT32, "batch");
  onnx_input(graph, "b", ASSAY_FLOAT32, "batch,1");
  onnx_node(graph, "Add", "a,b", "y");
  onnx_output(graph, "y", ASSAY_FLOAT32, NULL);
  struct runs runs;
  static const float values[4] = {0};
  runs_open(&runs, model, plain);
  runs_feed(&runs, "a", ASSAY_FLOAT32, "2", values);
  runs_feed(&runs, "b", ASSAY_FLOAT32, "3,1", values);
  ASSERT_FAILS(runs_try(&runs), ASSAY_INPUT_SHAPE, "dimension 'batch' is 2 in input 'a' and 3 in input 'b'");
  runs_close(&runs);
}

static void test_a_binding_seen_before_allocates_nothing(void **state) {
  (void)state;
  static const float values[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  struct runs runs;
  runs_open(&runs, linear(), plain);
  const char *const shapes[] = {"1,3", "2,3", "3,3"};
  for (int i = 0; i < 3; i++) {
    runs_feed(&runs, "x", ASSAY_FLOAT32, shapes[i], values);
    memory_fail_at(-1);
    runs_run(&runs);
    assert_true(memory_fail_at(-1) > 0); /* planned */
  }
  for (int i = 0; i < 6; i++) {
    runs_feed(&runs, "x", ASSAY_FLOAT32, shapes[i % 3], values);
    memory_fail_at(-1);
    runs_run(&runs);
    assert_int_equal(memory_fail_at(-1), 0);
    assert_int_equal(runs.outputs[0].tensor->dims[0], i % 3 + 1);
  }
  runs_close(&runs);
}

static void test_many_bindings_stay_bounded(void **state) {
  (void)state;
  static const float values[60] = {0};
  struct runs runs;
  runs_open(&runs, linear(), plain);
  for (int i = 1; i <= 20; i++) {
    char shape[16];
    snprintf(shape, sizeof shape, "%d,3", i);
    runs_feed(&runs, "x", ASSAY_FLOAT32, shape, values);
    runs_run(&runs);
    assert_int_equal(runs.outputs[0].tensor->dims[0], i);
  }
  runs_close(&runs);
}

/* y = x * (w * k), w = 2 by default, k = 10; w is among the inputs. */
static struct proto *with_default(int64_t ir_version) {
  struct proto *model = onnx_model(ir_version, 17), *graph = onnx_graph(model);
  onnx_input(graph, "x", ASSAY_FLOAT32, "1");
  onnx_input(graph, "w", ASSAY_FLOAT32, "1");
  onnx_input(graph, "k", ASSAY_FLOAT32, "1");
  onnx_f32(graph, "w", "1", (const float[]){2});
  onnx_f32(graph, "k", "1", (const float[]){10});
  onnx_node(graph, "Mul", "w,k", "wk");
  onnx_node(graph, "Mul", "x,wk", "y");
  onnx_output(graph, "y", ASSAY_FLOAT32, "1");
  return model;
}

static void test_a_default_may_be_fed_from_ir_4_on(void **state) {
  (void)state;
  const float one = 1, five = 5;
  struct runs runs;
  runs_open(&runs, with_default(8), plain);
  runs_feed(&runs, "x", ASSAY_FLOAT32, "1", &one);
  runs_run(&runs);
  runs_expect_floats(&runs, 0, (const float[]){20}, 1);
  runs_feed(&runs, "w", ASSAY_FLOAT32, "1", &five);
  runs_run(&runs);
  runs_expect_floats(&runs, 0, (const float[]){50}, 1);
  runs.n_feeds = 1;
  runs_run(&runs);
  runs_expect_floats(&runs, 0, (const float[]){20}, 1);
  runs_close(&runs);
}

static void test_with_ir_3_a_default_is_a_constant(void **state) {
  (void)state;
  const float one = 1, five = 5;
  struct runs runs;
  runs_open(&runs, with_default(3), plain);
  runs_feed(&runs, "x", ASSAY_FLOAT32, "1", &one);
  runs_run(&runs);
  runs_expect_floats(&runs, 0, (const float[]){20}, 1);
  runs_feed(&runs, "w", ASSAY_FLOAT32, "1", &five);
  ASSERT_FAILS(runs_try(&runs), ASSAY_INPUT_EXTRA, "IR version is below 4");
  runs_close(&runs);
}

static void test_constants_fold(void **state) {
  (void)state;
  struct session_info info;
  struct runs runs;
  runs_open(&runs, with_default(8), plain);
  session_describe(runs.session, &info);
  assert_int_equal(info.n_folded, 1);
  assert_int_equal(info.n_nodes, 1);
  runs_close(&runs);
}

static void test_folding_cannot_explode(void **state) {
  (void)state;
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "x", ASSAY_FLOAT32, "1");
  onnx_i64(graph, "shape", "2", (const int64_t[]){40000, 40000});
  onnx_node(graph, "ConstantOfShape", "shape", "zeros");
  onnx_node(graph, "Add", "x,zeros", "y");
  onnx_output(graph, "y", ASSAY_FLOAT32, NULL);
  struct runs runs;
  struct session_options options = {.kernel_level = -1, .max_bytes = (size_t)1 << 28};
  runs_open_model(&runs, model);
  ASSERT_FAILS(session_open(runs.model, &options, &runs.session), ASSAY_LIMIT_EXCEEDED, "values of the graph");
  runs.session = NULL;
  runs_close(&runs);
}

static void test_outputs_may_be_fed_back_as_they_lie(void **state) {
  (void)state;
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "h", ASSAY_FLOAT32, "2");
  onnx_input(graph, "x", ASSAY_FLOAT32, "2");
  onnx_f32(graph, "half", "1", (const float[]){0.5f});
  onnx_node(graph, "Mul", "h,half", "hh");
  onnx_node(graph, "Add", "hh,x", "h_out");
  onnx_output(graph, "h_out", ASSAY_FLOAT32, "2");
  const float zero[2] = {0}, ones[2] = {1, 1};
  struct runs runs;
  runs_open(&runs, model, plain);
  runs_feed(&runs, "h", ASSAY_FLOAT32, "2", zero);
  runs_feed(&runs, "x", ASSAY_FLOAT32, "2", ones);
  const float expected[] = {1, 1.5f, 1.75f, 1.875f};
  for (int i = 0; i < 4; i++) {
    runs_run(&runs);
    runs_expect_floats(&runs, 0, (const float[]){expected[i], expected[i]}, 2);
    runs_feed(&runs, "h", ASSAY_FLOAT32, "2", runs.outputs[0].tensor->data);
  }
  runs_close(&runs);
}

static void test_outputs_that_nothing_computes(void **state) {
  (void)state;
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "x", ASSAY_FLOAT32, "2");
  onnx_f32(graph, "w", "2", (const float[]){7, 8});
  onnx_node(graph, "Identity", "x", "same");
  onnx_node(graph, "Identity", "w", "constant");
  onnx_output(graph, "same", ASSAY_FLOAT32, "2");
  onnx_output(graph, "constant", ASSAY_FLOAT32, "2");
  float x[2] = {1, 2};
  struct runs runs;
  runs_open(&runs, model, plain);
  runs_feed(&runs, "x", ASSAY_FLOAT32, "2", x);
  runs_run(&runs);
  x[0] = 9; /* outputs are the session's own */
  runs_expect_floats(&runs, 0, (const float[]){1, 2}, 2);
  runs_expect_floats(&runs, 1, (const float[]){7, 8}, 2);
  runs_close(&runs);
}

static void test_nan_leaves_in_one_form(void **state) {
  (void)state;
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "x", ASSAY_FLOAT32, "2");
  onnx_node(graph, "Identity", "x", "y");
  onnx_output(graph, "y", ASSAY_FLOAT32, "2");
  const uint32_t foreign[2] = {0xFFC12345u, 0x7F800001u}, canonical[2] = {0x7FC00000u, 0x7FC00000u};
  struct runs runs;
  runs_open(&runs, model, plain);
  runs_feed(&runs, "x", ASSAY_FLOAT32, "2", foreign);
  runs_run(&runs);
  assert_memory_equal(runs.outputs[0].tensor->data, canonical, sizeof canonical);
  runs_close(&runs);
}

static void expect_refused(struct proto *model, assay_code code, const char *part) {
  struct runs runs;
  runs_open_model(&runs, model);
  ASSERT_FAILS(session_open(runs.model, &plain, &runs.session), code, part);
  runs.session = NULL;
  runs_close(&runs);
}

static struct proto *with_node(const char *domain, const char *op_type, assay_dtype dtype, bool dead) {
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_opset(model, "example.org", 1);
  onnx_input(graph, "x", dtype, "2");
  onnx_node_of(graph, domain, op_type, "the_node", "x", "z");
  onnx_node(graph, "Identity", dead ? "x" : "z", "y");
  onnx_output(graph, "y", dtype, NULL);
  return model;
}

static void test_what_cannot_be_run_fails_at_load(void **state) {
  (void)state;
  expect_refused(with_node("", "NoSuchOperator", ASSAY_FLOAT32, false), ASSAY_OPERATOR_UNKNOWN, "the_node");
  expect_refused(with_node("", "NoSuchOperator", ASSAY_FLOAT32, true), ASSAY_OPERATOR_UNKNOWN, "the_node");
  expect_refused(with_node("example.org", "Relu", ASSAY_FLOAT32, false), ASSAY_OPERATOR_UNKNOWN, "example.org");
  expect_refused(with_node("", "RandomNormalLike", ASSAY_FLOAT32, false), ASSAY_OPERATOR_RANDOM, "the_node");
  expect_refused(with_node("", "Tanh", ASSAY_UINT8, false), ASSAY_OPERATOR_DTYPE, "the_node");
}

/* y = Softmax(x) with one attribute. */
static struct proto *with_attribute(int64_t opset, const char *name, bool as_float) {
  struct proto *model = onnx_model(8, opset), *graph = onnx_graph(model);
  onnx_input(graph, "x", ASSAY_FLOAT32, "2,2");
  struct proto *node = onnx_node_of(graph, "", opset < 11 ? "Clip" : "Softmax", "the_node", "x", "y");
  if (as_float) {
    onnx_float(node, name, 1);
  } else {
    onnx_int(node, name, 1);
  }
  onnx_output(graph, "y", ASSAY_FLOAT32, NULL);
  return model;
}

static void test_unknown_attributes_fail_at_load(void **state) {
  (void)state;
  expect_refused(with_attribute(17, "axes", false), ASSAY_NODE_INVALID, "attribute 'axes', which operator 'Softmax'");
  expect_refused(with_attribute(17, "axis", true), ASSAY_NODE_INVALID, "takes in another type at opset 17");
  expect_refused(with_attribute(6, "maximum", true), ASSAY_NODE_INVALID, "does not have at opset 6");
  struct runs runs;
  runs_open(&runs, with_attribute(17, "axis", false), plain);
  runs_close(&runs);
  runs_open(&runs, with_attribute(6, "max", true), plain);
  runs_close(&runs);
}

static void test_only_tensors_can_be_fed(void **state) {
  (void)state;
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  struct proto *input = proto_child(graph, 11); /* ValueInfoProto whose type is a sequence of float32 tensors */
  proto_string(input, 1, "s");
  struct proto *element = proto_child(proto_child(proto_child(input, 2), 4), 1);
  proto_int(proto_child(element, 1), 1, ASSAY_FLOAT32);
  onnx_node(graph, "Identity", "s", "y");
  struct proto *output = proto_child(graph, 12);
  proto_string(output, 1, "y");
  element = proto_child(proto_child(proto_child(output, 2), 4), 1);
  proto_int(proto_child(element, 1), 1, ASSAY_FLOAT32);
  expect_refused(model, ASSAY_MODEL_UNSUPPORTED, "input 's' of the graph is not a tensor");
}

static void test_memory_may_fail_anywhere(void **state) {
  (void)state;
  const float values[3] = {1, 2, 3};
  struct runs runs;
  runs_open_model(&runs, linear());
  runs_feed(&runs, "x", ASSAY_FLOAT32, "1,3", values);
  bool whole = false;
  for (int64_t n = 0; !whole; n++) {
    assert_true(n < 10000);
    struct session_options options = {.kernel_level = -1, .threads = 2};
    memory_fail_at(n);
    assay_status status = session_open(runs.model, &options, &runs.session);
    if (assay_status_ok(status)) {
      status = runs_try(&runs);
      whole = assay_status_ok(status);
      session_close(runs.session);
    }
    memory_fail_at(-1);
    if (!assay_status_ok(status)) {
      assert_int_equal(status.code, ASSAY_OUT_OF_MEMORY);
    }
    assay_status_clear(&status);
  }
  runs.session = NULL;
  runs_close(&runs);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_runs_and_names_its_output),
      cmocka_unit_test(test_wrong_feeds_are_told_apart),
      cmocka_unit_test(test_a_symbol_is_one_number),
      cmocka_unit_test(test_a_binding_seen_before_allocates_nothing),
      cmocka_unit_test(test_many_bindings_stay_bounded),
      cmocka_unit_test(test_a_default_may_be_fed_from_ir_4_on),
      cmocka_unit_test(test_with_ir_3_a_default_is_a_constant),
      cmocka_unit_test(test_constants_fold),
      cmocka_unit_test(test_folding_cannot_explode),
      cmocka_unit_test(test_outputs_may_be_fed_back_as_they_lie),
      cmocka_unit_test(test_outputs_that_nothing_computes),
      cmocka_unit_test(test_nan_leaves_in_one_form),
      cmocka_unit_test(test_what_cannot_be_run_fails_at_load),
      cmocka_unit_test(test_unknown_attributes_fail_at_load),
      cmocka_unit_test(test_only_tensors_can_be_fed),
      cmocka_unit_test(test_memory_may_fail_anywhere),
  };
  return cmocka_run_group_tests_name("session", tests, NULL, NULL);
}
