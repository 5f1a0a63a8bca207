/* If, Loop and Scan, run by the engine, since they run other operators. */
#include "engine/engine.h"
#include "model_builder.h"
#include "op_fixture.h"

/* Runs the model on inputs by name and hands over output 0. */
static void run_model(struct proto *proto, const struct named_tensor *inputs, size_t n_inputs,
                      void (*look)(const assay_tensor *tensor)) {
  struct model *model = onnx_open(proto);
  for (int threads = 1; threads <= 3; threads += 2) {
    struct session *session;
    const struct named_tensor *outputs;
    size_t n;
    ASSERT_OK(session_open(model, &(struct session_options){.threads = threads, .kernel_level = -1}, &session));
    for (int again = 0; again < 2; again++) {
      ASSERT_OK(session_run(session, &(struct session_run){.inputs = inputs, .n_inputs = n_inputs}, &outputs, &n));
      look(outputs[0].tensor);
    }
    session_close(session);
  }
  model_close(model);
  proto_free(proto);
}

static float last_value[8];
static int64_t last_dims[3];
static void remember(const assay_tensor *tensor) {
  assert_int_equal(tensor->dtype, ASSAY_FLOAT32);
  assert_true(tensor->bytes <= sizeof last_value && tensor->rank <= 3);
  memcpy(last_value, tensor->data, tensor->bytes);
  memcpy(last_dims, tensor->dims, (size_t)tensor->rank * sizeof last_dims[0]);
}

static assay_tensor f32(float *data, int64_t n) {
  return (assay_tensor){ASSAY_FLOAT32, 1, {n}, data, (size_t)n * sizeof *data};
}

/* y = condition ? x + x : -x, both branches reading the outer Identity(x): fault 9(e) is the -3. */
static float if_gives(uint8_t condition, float value) {
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "c", ASSAY_BOOL, "");
  onnx_input(graph, "x", ASSAY_FLOAT32, "1");
  onnx_node(graph, "Identity", "x", "outer");
  struct proto *node = onnx_node(graph, "If", "c", "y");
  struct proto *then = onnx_graph_attribute(node, "then_branch"), *other = onnx_graph_attribute(node, "else_branch");
  onnx_node(then, "Add", "outer,outer", "twice");
  onnx_output(then, "twice", ASSAY_FLOAT32, "1");
  onnx_node(other, "Neg", "outer", "minus");
  onnx_output(other, "minus", ASSAY_FLOAT32, "1");
  onnx_output(graph, "y", ASSAY_FLOAT32, "1");
  assay_tensor c = {.dtype = ASSAY_BOOL, .data = &condition, .bytes = 1}, x = f32(&value, 1);
  run_model(model, (struct named_tensor[]){{"c", &c}, {"x", &x}}, 2, remember);
  return last_value[0];
}

void test_op_If_1(void **state) {
  (void)state;
  assert_true(if_gives(0, 3) == -3);
  assert_true(if_gives(1, 3) == 6);
}

/* Two carried values that change places each time, and a stacked output; y = [a, b, sums...]. The body goes on while
 * the iteration is below 3, so that it runs four times at most. */
static struct proto *loop_model(void) {
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "trips", ASSAY_INT64, "");
  onnx_input(graph, "a", ASSAY_FLOAT32, "1");
  onnx_input(graph, "b", ASSAY_FLOAT32, "1");
  struct proto *body = onnx_graph_attribute(onnx_node(graph, "Loop", "trips,,a,b", "a_end,b_end,seen"), "body");
  onnx_input(body, "i", ASSAY_INT64, "");
  onnx_input(body, "go_in", ASSAY_BOOL, "");
  onnx_input(body, "p", ASSAY_FLOAT32, "1");
  onnx_input(body, "q", ASSAY_FLOAT32, "1");
  onnx_i64(body, "three", "", (const int64_t[]){3});
  onnx_node(body, "Less", "i,three", "go");
  onnx_node(body, "Identity", "q", "p_next");
  onnx_node(body, "Identity", "p", "q_next");
  onnx_node(body, "Sub", "p,q", "difference");
  onnx_output(body, "go", ASSAY_BOOL, "");
  onnx_output(body, "p_next", ASSAY_FLOAT32, "1");
  onnx_output(body, "q_next", ASSAY_FLOAT32, "1");
  onnx_output(body, "difference", ASSAY_FLOAT32, "1");
  onnx_i64(graph, "flat", "1", (const int64_t[]){-1});
  onnx_node(graph, "Reshape", "seen,flat", "row");
  onnx_int(onnx_node(graph, "Concat", "a_end,b_end,row", "y"), "axis", 0);
  onnx_output(graph, "y", ASSAY_FLOAT32, "n");
  return model;
}

static void loop_gives(int64_t trips, int n, const float *expected) {
  float a = 1, b = 5;
  assay_tensor t = {.dtype = ASSAY_INT64, .data = &trips, .bytes = sizeof trips}, ta = f32(&a, 1), tb = f32(&b, 1);
  run_model(loop_model(), (struct named_tensor[]){{"trips", &t}, {"a", &ta}, {"b", &tb}}, 3, remember);
  assert_int_equal(last_dims[0], n);
  assert_memory_equal(last_value, expected, (size_t)n * sizeof *expected);
}

void test_op_Loop_1(void **state) {
  (void)state;
  loop_gives(0, 2, (const float[]){1, 5});
  loop_gives(1, 3, (const float[]){5, 1, -4});
  loop_gives(3, 5, (const float[]){5, 1, -4, 4, -4});
  loop_gives(9, 6, (const float[]){1, 5, -4, 4, -4, 4}); /* the condition ends it after the fourth */
}

/* Running sums of x over its columns, from behind; the result stacked along axis 1, the newest first. */
void test_op_Scan_9(void **state) {
  (void)state;
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "start", ASSAY_FLOAT32, "2");
  onnx_input(graph, "x", ASSAY_FLOAT32, "2,3");
  struct proto *node = onnx_node(graph, "Scan", "start,x", "end,sums");
  onnx_int(node, "num_scan_inputs", 1);
  onnx_ints(node, "scan_input_axes", (const int64_t[]){-1}, 1);
  onnx_ints(node, "scan_input_directions", (const int64_t[]){1}, 1);
  onnx_ints(node, "scan_output_axes", (const int64_t[]){1}, 1);
  onnx_ints(node, "scan_output_directions", (const int64_t[]){1}, 1);
  struct proto *body = onnx_graph_attribute(node, "body");
  onnx_input(body, "sum_in", ASSAY_FLOAT32, "2");
  onnx_input(body, "column", ASSAY_FLOAT32, "2");
  onnx_node(body, "Add", "sum_in,column", "sum_out");
  onnx_node(body, "Identity", "sum_out", "part");
  onnx_output(body, "sum_out", ASSAY_FLOAT32, "2");
  onnx_output(body, "part", ASSAY_FLOAT32, "2");
  onnx_output(graph, "sums", ASSAY_FLOAT32, "2,n");
  float start[] = {10, 20}, x[] = {1, 2, 3, 4, 5, 6};
  assay_tensor s = f32(start, 2), t = {ASSAY_FLOAT32, 2, {2, 3}, x, sizeof x};
  run_model(model, (struct named_tensor[]){{"start", &s}, {"x", &t}}, 2, remember);
  assert_int_equal(last_dims[0], 2);
  assert_int_equal(last_dims[1], 3);
  assert_memory_equal(last_value, ((const float[]){16, 15, 13, 35, 31, 26}), 6 * sizeof(float));
}
