/* Subgraphs: captured values, folding around them, loops that carry, shapes that depend on data, and taps
 * inside. */
#include <string.h>

#include "core/memory.h"
#include "session_runs.h"
#include "support.h"

static const struct session_options plain = {.kernel_level = -1};

/* Both branches read outer Identity(x): then gives it, else gives its negative. */
static struct proto *captured(void) {
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "c", ASSAY_BOOL, "");
  onnx_input(graph, "x", ASSAY_FLOAT32, "1");
  onnx_node(graph, "Identity", "x", "outer");
  struct proto *node = onnx_node(graph, "If", "c", "y");
  struct proto *then_graph = onnx_graph_attribute(node, "then_branch");
  onnx_node(then_graph, "Identity", "outer", "t");
  onnx_output(then_graph, "t", ASSAY_FLOAT32, "1");
  struct proto *else_graph = onnx_graph_attribute(node, "else_branch");
  onnx_node(else_graph, "Neg", "outer", "e");
  onnx_output(else_graph, "e", ASSAY_FLOAT32, "1");
  onnx_output(graph, "y", ASSAY_FLOAT32, "1");
  return model;
}

static void test_branches_read_outer_values(void **state) {
  (void)state;
  const float x = 3;
  const uint8_t no = 0, yes = 1;
  struct runs runs;
  runs_open(&runs, captured(), plain);
  runs_feed(&runs, "c", ASSAY_BOOL, "", &no);
  runs_feed(&runs, "x", ASSAY_FLOAT32, "1", &x);
  runs_run(&runs);
  runs_expect_floats(&runs, 0, (const float[]){-3}, 1);
  runs_feed(&runs, "c", ASSAY_BOOL, "", &yes);
  runs_run(&runs);
  runs_expect_floats(&runs, 0, (const float[]){3}, 1);
  memory_fail_at(-1);
  runs_run(&runs);
  assert_int_equal(memory_fail_at(-1), 0); /* both branches are planned by now */
  runs_close(&runs);
}

/* If(true) gives an initializer 7 of its branch; y = x + 7. */
static void test_a_constant_branch_gives_its_initializer(void **state) {
  (void)state;
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  const uint8_t yes = 1;
  onnx_input(graph, "x", ASSAY_FLOAT32, "1");
  onnx_raw(graph, "c", ASSAY_BOOL, "", &yes, 1);
  struct proto *node = onnx_node(graph, "If", "c", "seven");
  struct proto *then_graph = onnx_graph_attribute(node, "then_branch");
  onnx_f32(then_graph, "s", "1", (const float[]){7});
  onnx_output(then_graph, "s", ASSAY_FLOAT32, "1");
  struct proto *else_graph = onnx_graph_attribute(node, "else_branch");
  onnx_node(else_graph, "Neg", "x", "e");
  onnx_output(else_graph, "e", ASSAY_FLOAT32, "1");
  onnx_node(graph, "Add", "x,seven", "y");
  onnx_output(graph, "y", ASSAY_FLOAT32, "1");
  const float x = 3;
  struct runs runs;
  runs_open(&runs, model, plain);
  runs_feed(&runs, "x", ASSAY_FLOAT32, "1", &x);
  runs_run(&runs);
  runs_expect_floats(&runs, 0, (const float[]){10}, 1);
  runs_close(&runs);
}

/* h = 0.5 h + x, n times from h0; the scan output collects h. */
static struct proto *looped(void) {
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  const uint8_t yes = 1;
  onnx_input(graph, "n", ASSAY_INT64, "");
  onnx_input(graph, "h0", ASSAY_FLOAT32, "1");
  onnx_input(graph, "x", ASSAY_FLOAT32, "1");
  onnx_raw(graph, "go", ASSAY_BOOL, "", &yes, 1);
  struct proto *node = onnx_node(graph, "Loop", "n,go,h0", "h_end,h_all");
  struct proto *body = onnx_graph_attribute(node, "body");
  onnx_input(body, "i", ASSAY_INT64, "");
  onnx_input(body, "go_in", ASSAY_BOOL, "");
  onnx_input(body, "h", ASSAY_FLOAT32, "1");
  onnx_f32(body, "half", "1", (const float[]){0.5f});
  onnx_node(body, "Identity", "go_in", "go_out");
  onnx_node(body, "Mul", "h,half", "hh");
  onnx_node(body, "Add", "hh,x", "h_next");
  onnx_node(body, "Identity", "h_next", "h_scan");
  onnx_output(body, "go_out", ASSAY_BOOL, "");
  onnx_output(body, "h_next", ASSAY_FLOAT32, "1");
  onnx_output(body, "h_scan", ASSAY_FLOAT32, "1");
  onnx_output(graph, "h_end", ASSAY_FLOAT32, "1");
  onnx_output(graph, "h_all", ASSAY_FLOAT32, NULL);
  return model;
}

static void test_loops_carry_values(void **state) {
  (void)state;
  const float zero = 0, one = 1;
  const int64_t three = 3, none = 0;
  struct runs runs;
  runs_open(&runs, looped(), plain);
  runs_feed(&runs, "n", ASSAY_INT64, "", &three);
  runs_feed(&runs, "h0", ASSAY_FLOAT32, "1", &zero);
  runs_feed(&runs, "x", ASSAY_FLOAT32, "1", &one);
  runs_run(&runs);
  runs_expect_floats(&runs, 0, (const float[]){1.75f}, 1);
  runs_expect_floats(&runs, 1, (const float[]){1, 1.5f, 1.75f}, 3);
  runs_feed(&runs, "n", ASSAY_INT64, "", &none);
  runs_run(&runs);
  runs_expect_floats(&runs, 0, (const float[]){0}, 1);
  assert_int_equal(tensor_count(runs.outputs[1].tensor), 0);
  runs_close(&runs);
}

static void test_shapes_that_depend_on_data(void **state) {
  (void)state;
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "x", ASSAY_FLOAT32, "5");
  onnx_node(graph, "NonZero", "x", "where");
  onnx_node(graph, "Transpose", "where", "index");
  onnx_node(graph, "GatherND", "x,index", "found");
  onnx_node(graph, "Neg", "found", "y");
  onnx_output(graph, "y", ASSAY_FLOAT32, NULL);
  const float some[5] = {0, 1, 0, 2, 0}, all[5] = {1, 2, 3, 4, 5}, none[5] = {0};
  struct runs runs;
  runs_open(&runs, model, plain);
  runs_feed(&runs, "x", ASSAY_FLOAT32, "5", some);
  runs_run(&runs);
  runs_expect_floats(&runs, 0, (const float[]){-1, -2}, 2);
  runs_feed(&runs, "x", ASSAY_FLOAT32, "5", all);
  runs_run(&runs);
  runs_expect_floats(&runs, 0, (const float[]){-1, -2, -3, -4, -5}, 5);
  runs_feed(&runs, "x", ASSAY_FLOAT32, "5", none);
  runs_run(&runs);
  assert_int_equal(tensor_count(runs.outputs[0].tensor), 0);
  runs_close(&runs);
}

/* --- taps ------------------------------------------------------------------ */

struct tapped {
  char names[256];
  float first[16];
  int count;
};

static void note_tap(void *user, const struct node *node, const char *value, const assay_tensor *tensor) {
  struct tapped *tapped = user;
  (void)node;
  size_t length = strlen(tapped->names);
  snprintf(tapped->names + length, sizeof tapped->names - length, "%s ", value);
  if (tensor->dtype == ASSAY_FLOAT32 && tapped->count < 16) {
    tapped->first[tapped->count++] = *(const float *)tensor->data;
  }
}

static void run_tapped(struct runs *runs, const char *const *taps, size_t n, struct tapped *tapped) {
  *tapped = (struct tapped){{0}, {0}, 0};
  struct session_run run = {
      .inputs = runs->feeds, .n_inputs = runs->n_feeds, .taps = taps, .n_taps = n, .tap = note_tap, .tap_user = tapped};
  ASSERT_OK(session_run(runs->session, &run, &runs->outputs, &runs->n_outputs));
}

static void test_taps_come_in_the_order_of_computation(void **state) {
  (void)state;
  const float zero = 0, one = 1;
  const int64_t two = 2;
  struct runs runs;
  struct tapped tapped;
  runs_open(&runs, looped(), plain);
  runs_feed(&runs, "n", ASSAY_INT64, "", &two);
  runs_feed(&runs, "h0", ASSAY_FLOAT32, "1", &zero);
  runs_feed(&runs, "x", ASSAY_FLOAT32, "1", &one);
  run_tapped(&runs, (const char *const[]){"h_next", "h_end"}, 2, &tapped);
  assert_string_equal(tapped.names, "h_next h_next h_end ");
  assert_true(tapped.first[0] == 1 && tapped.first[1] == 1.5f && tapped.first[2] == 1.5f);
  run_tapped(&runs, (const char *const[]){"*"}, 1, &tapped);
  assert_string_equal(tapped.names, "go_out hh h_next h_scan go_out hh h_next h_scan h_end h_all ");
  const struct session_run run = {
      .inputs = runs.feeds, .n_inputs = 3, .taps = (const char *const[]){"nothing"}, .n_taps = 1, .tap = note_tap};
  ASSERT_FAILS(session_run(runs.session, &run, &runs.outputs, &runs.n_outputs), ASSAY_TAP_UNKNOWN, "nothing");
  runs_close(&runs);
}

static void test_dead_values_can_be_kept_for_taps(void **state) {
  (void)state;
  for (int keep = 0; keep < 2; keep++) {
    struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
    onnx_input(graph, "x", ASSAY_FLOAT32, "1");
    onnx_node(graph, "Neg", "x", "dead");
    onnx_node(graph, "Abs", "x", "y");
    onnx_output(graph, "y", ASSAY_FLOAT32, "1");
    const float x = -3;
    const char *const taps[] = {"dead"};
    struct runs runs;
    struct tapped tapped = {{0}, {0}, 0};
    struct session_options options = {.kernel_level = -1, .keep_dead = keep == 1};
    runs_open(&runs, model, options);
    runs_feed(&runs, "x", ASSAY_FLOAT32, "1", &x);
    if (keep == 1) {
      run_tapped(&runs, taps, 1, &tapped);
      assert_true(tapped.count == 1 && tapped.first[0] == 3);
    } else {
      const struct session_run run = {
          .inputs = runs.feeds, .n_inputs = 1, .taps = taps, .n_taps = 1, .tap = note_tap, .tap_user = &tapped};
      ASSERT_FAILS(session_run(runs.session, &run, &runs.outputs, &runs.n_outputs), ASSAY_TAP_UNKNOWN,
                   "no output depends on it");
    }
    runs_close(&runs);
  }
}

/* A loop whose condition never turns false ends with a sentence, and the session runs on. */
static void test_a_loop_without_end_is_refused(void **state) {
  (void)state;
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "n", ASSAY_INT64, "");
  onnx_input(graph, "h0", ASSAY_FLOAT32, "1");
  struct proto *node = onnx_node(graph, "Loop", "n,,h0", "y");
  struct proto *body = onnx_graph_attribute(node, "body");
  onnx_input(body, "i", ASSAY_INT64, "");
  onnx_input(body, "c", ASSAY_BOOL, "");
  onnx_input(body, "h", ASSAY_FLOAT32, "1");
  onnx_node(body, "Identity", "c", "c_next");
  onnx_node(body, "Neg", "h", "h_next");
  onnx_output(body, "c_next", ASSAY_BOOL, "");
  onnx_output(body, "h_next", ASSAY_FLOAT32, "1");
  onnx_output(graph, "y", ASSAY_FLOAT32, "1");
  const float h0 = 2;
  const int64_t many = INT64_MAX, few = 3;
  struct runs runs;
  runs_open(&runs, model, plain);
  runs_feed(&runs, "h0", ASSAY_FLOAT32, "1", &h0);
  runs_feed(&runs, "n", ASSAY_INT64, "", &many);
  ASSERT_FAILS(runs_try(&runs), ASSAY_LIMIT_EXCEEDED, "has not ended after 1000000 bodies");
  runs_feed(&runs, "n", ASSAY_INT64, "", &few); /* the count is of one call */
  runs_run(&runs);
  runs_expect_floats(&runs, 0, (const float[]){-2}, 1);
  runs_close(&runs);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_branches_read_outer_values),
      cmocka_unit_test(test_a_constant_branch_gives_its_initializer),
      cmocka_unit_test(test_loops_carry_values),
      cmocka_unit_test(test_a_loop_without_end_is_refused),
      cmocka_unit_test(test_shapes_that_depend_on_data),
      cmocka_unit_test(test_taps_come_in_the_order_of_computation),
      cmocka_unit_test(test_dead_values_can_be_kept_for_taps),
  };
  return cmocka_run_group_tests_name("subgraphs", tests, NULL, NULL);
}
