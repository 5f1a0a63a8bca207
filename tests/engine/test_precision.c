/* The precision policy: what each emulation rounds and where, what stays in fp32, the oracle's width, and graphs
 * that are really narrow. Right values were worked out by hand. */
#include <math.h>
#include <string.h>

#include "session_runs.h"
#include "support.h"

static struct session_options at(enum precision_kind precision) {
  return (struct session_options){.precision = precision, .kernel_level = -1};
}

/* y = a b for a [1,2] and a constant b [2,1]. */
static struct proto *product(const float *b) {
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "a", ASSAY_FLOAT32, "1,2");
  onnx_f32(graph, "b", "2,1", b);
  onnx_node(graph, "MatMul", "a,b", "y");
  onnx_output(graph, "y", ASSAY_FLOAT32, "1,1");
  return model;
}

static float run_product(enum precision_kind precision, const float *a, const float *b) {
  struct runs runs;
  runs_open(&runs, product(b), at(precision));
  runs_feed(&runs, "a", ASSAY_FLOAT32, "1,2", a);
  runs_run(&runs);
  float result = runs_floats(&runs, 0)[0];
  runs_close(&runs);
  return result;
}

static void test_tf32_rounds_operands_of_dot_products(void **state) {
  (void)state;
  const float a[2] = {1 + 0x1p-12f, 1}, b[2] = {4096, -4096};
  assert_true(run_product(PRECISION_FP32, a, b) == 1.0f);
  assert_true(run_product(PRECISION_TF32, a, b) == 0.0f);
  /* Constant operands, too. */
  const float c[2] = {4096, -4096}, d[2] = {1 + 0x1p-12f, 1};
  assert_true(run_product(PRECISION_FP32, c, d) == 1.0f);
  assert_true(run_product(PRECISION_TF32, c, d) == 0.0f);
}

static void test_tf32_leaves_other_operators_alone(void **state) {
  (void)state;
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "x", ASSAY_FLOAT32, "1");
  onnx_node(graph, "Mul", "x,x", "y");
  onnx_output(graph, "y", ASSAY_FLOAT32, "1");
  const float x = 1 + 0x1p-12f;
  struct runs runs;
  runs_open(&runs, model, at(PRECISION_TF32));
  runs_feed(&runs, "x", ASSAY_FLOAT32, "1", &x);
  runs_run(&runs);
  runs_expect_floats(&runs, 0, (const float[]){x * x}, 1);
  runs_close(&runs);
}

/* y = sqrt(x x): beyond 255.9 the product overflows fp16. */
static struct proto *root_of_square(void) {
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "x", ASSAY_FLOAT32, "1");
  onnx_node_of(graph, "", "Mul", "square", "x,x", "xx");
  onnx_node_of(graph, "", "Sqrt", "root", "xx", "y");
  onnx_output(graph, "y", ASSAY_FLOAT32, "1");
  return model;
}

static float run_root(struct session_options options, float x) {
  struct runs runs;
  runs_open(&runs, root_of_square(), options);
  runs_feed(&runs, "x", ASSAY_FLOAT32, "1", &x);
  runs_run(&runs);
  float result = runs_floats(&runs, 0)[0];
  runs_close(&runs);
  return result;
}

static void test_fp16_overflows_to_infinity_in_the_middle(void **state) {
  (void)state;
  assert_true(run_root(at(PRECISION_FP32), 300) == 300.0f);
  assert_true(isinf(run_root(at(PRECISION_FP16), 300)));
  assert_true(run_root(at(PRECISION_FP16), 200) == 200.0f);
  assert_true(run_root(at(PRECISION_BF16), 256) == 256.0f);
  assert_true(isinf(run_root(at(PRECISION_FP16), 65520))); /* the input itself */
}

static void test_kept_nodes_stay_in_fp32(void **state) {
  (void)state;
  const char *const keep[] = {"square"};
  struct session_options options = at(PRECISION_FP16);
  options.keep = keep;
  options.n_keep = 1;
  /* square gives 90000 in fp32; root reads it rounded to fp16, which has no 90000. */
  assert_true(isinf(run_root(options, 300)));
  const char *const both[] = {"square", "root"};
  options.keep = both;
  options.n_keep = 2;
  assert_true(run_root(options, 300) == 300.0f);
  const char *const unknown[] = {"squares"};
  options.keep = unknown;
  options.n_keep = 1;
  struct runs runs;
  runs_open_model(&runs, root_of_square());
  ASSERT_FAILS(session_open(runs.model, &options, &runs.session), ASSAY_NODE_UNKNOWN, "did you mean 'square'");
  runs.session = NULL;
  runs_close(&runs);
}

/* Ten additions of a constant to 1: the small step is lost where the sum is stored. */
static float accumulate(enum precision_kind precision, float step) {
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "x0", ASSAY_FLOAT32, "1");
  onnx_f32(graph, "step", "1", &step);
  char from[16], inputs[32], to[16];
  for (int i = 0; i < 10; i++) {
    snprintf(from, sizeof from, "x%d", i);
    snprintf(to, sizeof to, "x%d", i + 1);
    snprintf(inputs, sizeof inputs, "%s,step", from);
    onnx_node(graph, "Add", inputs, to);
  }
  onnx_output(graph, "x10", ASSAY_FLOAT32, "1");
  const float one = 1;
  struct runs runs;
  runs_open(&runs, model, at(precision));
  runs_feed(&runs, "x0", ASSAY_FLOAT32, "1", &one);
  runs_run(&runs);
  float result = runs_floats(&runs, 0)[0];
  runs_close(&runs);
  return result;
}

static void test_small_steps_are_lost_in_narrow_storage(void **state) {
  (void)state;
  assert_true(fabs((double)accumulate(PRECISION_FP32, 4e-4f) - 1.0039995) < 1e-6);
  assert_true(accumulate(PRECISION_FP16, 4e-4f) == 1.0f);
  assert_true(accumulate(PRECISION_BF16, 4e-4f) == 1.0f);
  assert_true(accumulate(PRECISION_FP16, 6e-4f) == 1.009765625f);
  assert_true(accumulate(PRECISION_BF16, 5e-3f) == 1.078125f);
}

static void test_small_constants_become_zero_in_fp16(void **state) {
  (void)state;
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "x", ASSAY_FLOAT32, "3");
  onnx_f32(graph, "epsilon", "1", (const float[]){1e-8f});
  onnx_node(graph, "Abs", "x", "size");
  onnx_node(graph, "Add", "size,epsilon", "bottom");
  onnx_node(graph, "Div", "x,bottom", "y");
  onnx_output(graph, "y", ASSAY_FLOAT32, "3");
  const float x[3] = {0, 2, -4};
  struct runs runs;
  runs_open(&runs, model, at(PRECISION_FP16));
  runs_feed(&runs, "x", ASSAY_FLOAT32, "3", x);
  runs_run(&runs);
  runs_expect_floats(&runs, 0, (const float[]){NAN, 1, -1}, 3);
  runs_close(&runs);
}

static void test_a_mean_accumulates_in_fp32(void **state) {
  (void)state;
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "x", ASSAY_FLOAT32, "4096");
  onnx_node(graph, "ReduceMean", "x", "y");
  onnx_output(graph, "y", ASSAY_FLOAT32, "1");
  static float x[4096];
  for (int i = 0; i < 4096; i++) {
    x[i] = 100;
  }
  struct runs runs;
  runs_open(&runs, model, at(PRECISION_FP16));
  runs_feed(&runs, "x", ASSAY_FLOAT32, "4096", x);
  runs_run(&runs);
  runs_expect_floats(&runs, 0, (const float[]){100}, 1);
  runs_close(&runs);
}

static void test_integers_and_scales_are_not_rounded(void **state) {
  (void)state;
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "i", ASSAY_INT64, "1");
  onnx_i64(graph, "one", "1", (const int64_t[]){1});
  onnx_node(graph, "Add", "i,one", "y");
  onnx_output(graph, "y", ASSAY_INT64, "1");
  const int64_t i = 100003;
  struct runs runs;
  runs_open(&runs, model, at(PRECISION_FP16));
  runs_feed(&runs, "i", ASSAY_INT64, "1", &i);
  runs_run(&runs);
  assert_int_equal(*(int64_t *)runs.outputs[0].tensor->data, 100004);
  runs_close(&runs);
}

static void test_fp64_is_wide_throughout(void **state) {
  (void)state;
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "x", ASSAY_FLOAT32, "1");
  onnx_f32(graph, "third", "1", (const float[]){1.0f / 3});
  onnx_int(onnx_node(graph, "Cast", "x", "cast"), "to", ASSAY_FLOAT32);
  onnx_node(graph, "Add", "cast,third", "sum");
  onnx_node(graph, "Mul", "sum,sum", "y");
  onnx_output(graph, "y", ASSAY_FLOAT32, "1");
  const float narrow = 1;
  const double wide = 1 + 1e-12;
  struct runs runs;
  runs_open(&runs, model, at(PRECISION_FP64));
  runs_feed(&runs, "x", ASSAY_FLOAT64, "1", &wide);
  runs_run(&runs);
  double sum = wide + (double)(1.0f / 3);
  assert_int_equal(runs.outputs[0].tensor->dtype, ASSAY_FLOAT64);
  assert_true(*(double *)runs.outputs[0].tensor->data == sum * sum);
  runs_feed(&runs, "x", ASSAY_FLOAT32, "1", &narrow);
  runs_run(&runs);
  sum = 1 + (double)(1.0f / 3);
  assert_true(*(double *)runs.outputs[0].tensor->data == sum * sum);
  runs_close(&runs);
}

/* Cast to fp16 makes 1.0001 and 1 equal, so that the first of them is the largest: index 0. */
static void test_a_really_narrow_graph_rounds_every_output(void **state) {
  (void)state;
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "x", ASSAY_FLOAT32, "2");
  onnx_int(onnx_node(graph, "Cast", "x", "half"), "to", ASSAY_FLOAT16);
  onnx_node(graph, "ArgMax", "half", "index");
  onnx_node(graph, "Mul", "half,half", "square");
  onnx_node(graph, "Sqrt", "square", "root");
  onnx_output(graph, "index", ASSAY_INT64, "1");
  onnx_output(graph, "root", ASSAY_FLOAT16, "2");
  const float x[2] = {1.0f, 1.0001f}, large[2] = {300, 2};
  struct runs runs;
  runs_open(&runs, model, at(PRECISION_FP32));
  runs_feed(&runs, "x", ASSAY_FLOAT32, "2", x);
  runs_run(&runs);
  assert_int_equal(*(int64_t *)runs.outputs[0].tensor->data, 0);
  runs_feed(&runs, "x", ASSAY_FLOAT32, "2", large);
  runs_run(&runs);
  const uint16_t expected[2] = {0x7C00, 0x4000}; /* infinity, 2 */
  assert_int_equal(runs.outputs[1].tensor->dtype, ASSAY_FLOAT16);
  assert_memory_equal(runs.outputs[1].tensor->data, expected, sizeof expected);
  runs_close(&runs);
}

/* A narrow weight that is packed: widened once, rounded once at the output. */
static void test_narrow_dot_products(void **state) {
  (void)state;
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  const uint16_t weights[4] = {0x3C00, 0x4000, 0x4200, 0x4400}; /* 1 2 3 4 */
  const uint16_t x[2] = {0x3C00, 0x6400};                       /* 1 1024 */
  onnx_input(graph, "x", ASSAY_FLOAT16, "1,2");
  onnx_raw(graph, "w", ASSAY_FLOAT16, "2,2", weights, sizeof weights);
  onnx_node(graph, "MatMul", "x,w", "y");
  onnx_output(graph, "y", ASSAY_FLOAT16, "1,2");
  struct runs runs;
  runs_open(&runs, model, at(PRECISION_FP32));
  runs_feed(&runs, "x", ASSAY_FLOAT16, "1,2", x);
  runs_run(&runs);
  /* 3073 and 4098 in fp32; half steps of 2 and 4 there: 3072 (tie to even) and 4096. */
  const uint16_t expected[2] = {0x6A00, 0x6C00};
  assert_memory_equal(runs.outputs[0].tensor->data, expected, sizeof expected);
  runs_close(&runs);
}

static void test_the_plan_says_what_it_rounds(void **state) {
  (void)state;
  struct session_info info;
  struct runs runs;
  runs_open(&runs, root_of_square(), at(PRECISION_BF16));
  session_describe(runs.session, &info);
  assert_string_equal(precision_name(info.precision), "bf16");
  assert_string_equal(info.rounding, "inputs, weights and outputs of every node to bf16");
  assert_string_equal(info.accumulator, "fp32");
  runs_close(&runs);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tf32_rounds_operands_of_dot_products),
      cmocka_unit_test(test_tf32_leaves_other_operators_alone),
      cmocka_unit_test(test_fp16_overflows_to_infinity_in_the_middle),
      cmocka_unit_test(test_kept_nodes_stay_in_fp32),
      cmocka_unit_test(test_small_steps_are_lost_in_narrow_storage),
      cmocka_unit_test(test_small_constants_become_zero_in_fp16),
      cmocka_unit_test(test_a_mean_accumulates_in_fp32),
      cmocka_unit_test(test_integers_and_scales_are_not_rounded),
      cmocka_unit_test(test_fp64_is_wide_throughout),
      cmocka_unit_test(test_a_really_narrow_graph_rounds_every_output),
      cmocka_unit_test(test_narrow_dot_products),
      cmocka_unit_test(test_the_plan_says_what_it_rounds),
  };
  return cmocka_run_group_tests_name("precision", tests, NULL, NULL);
}
