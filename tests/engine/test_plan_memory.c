/* Random graphs: sharing memory between values, poisoning what is dead, and threads change no bit; and the bounds
 * of a session hold. */
#include <math.h>
#include <string.h>

#include "session_runs.h"
#include "support.h"

enum { NODES = 40, GRAPHS = 30 };

static uint32_t next_random(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}

/* Values are [6,6]; every node reads values made before, in any distance. The last few are outputs. */
static struct proto *random_graph(uint32_t seed) {
  static const char *const unary[] = {"Relu", "Tanh", "Neg", "Abs"};
  static const char *const binary[] = {"Add", "Mul", "MatMul", "Sub", "Max"};
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "v0", ASSAY_FLOAT32, "6,6");
  onnx_input(graph, "v1", ASSAY_FLOAT32, "6,6");
  float weights[36];
  for (int i = 0; i < 36; i++) {
    weights[i] = (float)((int)(next_random(&seed) % 200) - 100) / 256;
  }
  onnx_f32(graph, "v2", "6,6", weights);
  onnx_i64(graph, "flat", "1", (const int64_t[]){36});
  onnx_i64(graph, "square", "2", (const int64_t[]){6, 6});
  for (int i = 3; i < NODES; i++) {
    char inputs[32], output[16], flat[16];
    uint32_t a = next_random(&seed) % (uint32_t)i, b = next_random(&seed) % (uint32_t)i;
    uint32_t kind = next_random(&seed) % 6;
    snprintf(output, sizeof output, "v%d", i);
    if (kind < 3) {
      snprintf(inputs, sizeof inputs, "v%u,v%u", a, b);
      onnx_node(graph, binary[next_random(&seed) % 5], inputs, output);
    } else if (kind < 5) {
      snprintf(inputs, sizeof inputs, "v%u", a);
      onnx_node(graph, unary[next_random(&seed) % 4], inputs, output);
    } else {
      snprintf(inputs, sizeof inputs, "v%u,flat", a);
      snprintf(flat, sizeof flat, "f%d", i);
      onnx_node(graph, "Reshape", inputs, flat);
      snprintf(inputs, sizeof inputs, "f%d,square", i);
      onnx_node(graph, "Reshape", inputs, output);
    }
  }
  for (int i = NODES - 4; i < NODES; i++) {
    char output[16];
    snprintf(output, sizeof output, "v%d", i);
    onnx_output(graph, output, ASSAY_FLOAT32, "6,6");
  }
  return model;
}

/* Runs twice (what the first run leaves must not show) and copies the four outputs. */
static size_t run_graph(uint32_t seed, struct session_options options, float out[4][36]) {
  float a[36], b[36];
  struct session_info info;
  struct runs runs;
  for (int i = 0; i < 36; i++) {
    a[i] = (float)(i - 18) / 32;
    b[i] = (float)(i * 7 % 36 - 18) / 32;
  }
  runs_open(&runs, random_graph(seed), options);
  runs_feed(&runs, "v0", ASSAY_FLOAT32, "6,6", a);
  runs_feed(&runs, "v1", ASSAY_FLOAT32, "6,6", b);
  runs_run(&runs);
  runs_run(&runs);
  for (size_t i = 0; i < 4; i++) {
    memcpy(out[i], runs_floats(&runs, i), sizeof out[i]);
  }
  session_describe(runs.session, &info);
  runs_close(&runs);
  return info.arena_bytes;
}

static void test_sharing_memory_changes_no_bit(void **state) {
  (void)state;
  size_t shared = 0, apart = 0;
  for (uint32_t seed = 1; seed <= GRAPHS; seed++) {
    float expected[4][36], found[4][36];
    apart += run_graph(seed, (struct session_options){.kernel_level = -1, .debug = SESSION_NO_REUSE}, expected);
    shared += run_graph(seed, (struct session_options){.kernel_level = -1}, found);
    assert_memory_equal(found, expected, sizeof found);
    run_graph(seed, (struct session_options){.kernel_level = -1, .debug = SESSION_POISON}, found);
    assert_memory_equal(found, expected, sizeof found);
    run_graph(seed, (struct session_options){.kernel_level = -1, .threads = 3}, found);
    assert_memory_equal(found, expected, sizeof found);
  }
  assert_true(shared < apart * 3 / 4);
}

static void test_the_limit_of_memory_holds(void **state) {
  (void)state;
  struct session_options options = {.kernel_level = -1, .max_bytes = 20000};
  struct runs runs;
  runs_open_model(&runs, random_graph(1));
  assay_status status = session_open(runs.model, &options, &runs.session);
  assert_true(status.code == ASSAY_LIMIT_EXCEEDED || status.code == ASSAY_OUT_OF_MEMORY);
  assay_status_clear(&status);
  runs.session = NULL;
  runs_close(&runs);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sharing_memory_changes_no_bit),
      cmocka_unit_test(test_the_limit_of_memory_holds),
  };
  return cmocka_run_group_tests_name("plan_memory", tests, NULL, NULL);
}
