/* OpenVINO as a rung: what is asked for and what is refused, and the real one where it is installed, which on some
 * processors computes an fp32 model in bf16 unless it is told not to. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model_builder.h"
#include "rung/rung.h"
#include "runtime_files.h"
#include "scratch_folder.h"
#include "support.h"
#include "tensor/tensor.h"

enum { WIDTH = 256 };

/* y = x W + c with 256 terms a sum: enough for a processor's bf16 path to be taken. */
static const char *write_model(const char *folder) {
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  static char path[2048];
  static float weights[WIDTH * WIDTH], bias[WIDTH];
  size_t size;
  for (int i = 0; i < WIDTH * WIDTH; i++) {
    weights[i] = (float)((i * 37 + 11) % 101 - 50) / 64 + (float)i * 1e-6f;
  }
  for (int i = 0; i < WIDTH; i++) {
    bias[i] = (float)i / 1024;
  }
  onnx_input(graph, "x", ASSAY_FLOAT32, "1,256");
  onnx_f32(graph, "W", "256,256", weights);
  onnx_f32(graph, "c", "256", bias);
  onnx_node(graph, "MatMul", "x,W", "xw");
  onnx_node(graph, "Add", "xw,c", "y");
  onnx_output(graph, "y", ASSAY_FLOAT32, "1,256");
  uint8_t *bytes = proto_serialize(model, &size);
  snprintf(path, sizeof path, "%s", in_folder(folder, "m.onnx"));
  write_file(path, bytes, size);
  free(bytes);
  proto_free(model);
  return path;
}

static struct rung_request request_for(const char *model, const struct rung_setting *settings, int32_t n) {
  return (struct rung_request){
      .name = "ov", .engine = "openvino", .model_path = model, .settings = settings, .n_settings = n};
}

/* Fills `out` with the answer to one fixed input. */
static void answer_of(struct rung *rung, float out[WIDTH]) {
  float x[WIDTH];
  for (int i = 0; i < WIDTH; i++) {
    x[i] = (float)((i * 29 + 7) % 97 - 48) / 50;
  }
  struct rung_tensor input = {"x", {ASSAY_FLOAT32, 2, {1, WIDTH}, x, sizeof x}};
  struct rung_call call = {.case_id = "a", .inputs = &input, .n_inputs = 1};
  struct rung_answer answer;
  ASSERT_OK(rung_run(rung, &call, &answer));
  assert_int_equal(answer.n_outputs, 1);
  assert_string_equal(answer.outputs[0].name, "y");
  assert_int_equal(answer.outputs[0].tensor.dtype, ASSAY_FLOAT32);
  assert_int_equal(answer.outputs[0].tensor.bytes, sizeof(float) * WIDTH);
  memcpy(out, answer.outputs[0].tensor.data, sizeof(float) * WIDTH);
}

/* Largest difference over the range of the expected values. */
static double share(const float *expected, const float *found) {
  double worst = 0, range = 0;
  for (int i = 0; i < WIDTH; i++) {
    worst = fmax(worst, fabs((double)expected[i] - (double)found[i]));
    range = fmax(range, fabs((double)expected[i]));
  }
  return worst / range;
}

static void engine_answer(const char *model, float out[WIDTH]) {
  struct rung_request request = {.name = "fp32", .engine = "assay", .model_path = model};
  struct rung *rung;
  ASSERT_OK(rung_open(&request, &rung));
  answer_of(rung, out);
  rung_close(rung);
}

/* --- what is asked for -------------------------------------------------------------------------- */

static void what_it_does_not_have_is_refused(void **state) {
  (void)state;
  const struct rung_setting setting = {"optimization", "all"};
  struct rung *rung;
  struct rung_request request = request_for("m.onnx", &setting, 1);
  ASSERT_FAILS(rung_open(&request, &rung), ASSAY_RUNG_SETTING, "optimization");
  request = request_for("m.onnx", NULL, 0);
  request.precision = "tf32";
  ASSERT_FAILS(rung_open(&request, &rung), ASSAY_RUNG_SETTING, "tf32");
  request.precision = NULL;
  request.provider = "gpu";
  ASSERT_FAILS(rung_open(&request, &rung), ASSAY_RUNG_SETTING, "gpu");
  request.provider = NULL;
  request.model_path = NULL;
  ASSERT_FAILS(rung_open(&request, &rung), ASSAY_RUNG_SETTING, "no model");
}

static void what_is_no_library_says_so(void **state) {
  (void)state;
  const char *const bad[][2] = {{"/nowhere/libopenvino_c.so", "cannot be loaded"}, {"libm.so.6", "it lacks ov_"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const struct rung_setting setting = {"library", bad[i][0]};
    struct rung_request request = request_for("m.onnx", &setting, 1);
    struct rung *rung;
    ASSERT_FAILS(rung_open(&request, &rung), ASSAY_RUNTIME_MISSING, bad[i][1]);
  }
}

/* --- the real one ----------------------------------------------------------------------------------- */

static void fp32_is_fp32_where_it_is_asked_for(void **state) {
  (void)state;
  const char *model = write_model(scratch_folder("openvino")), *library = openvino_library();
  float expected[WIDTH], found[WIDTH];
  if (library == NULL) {
    skip();
  }
  const struct rung_setting setting = {"library", library};
  struct rung_request request = request_for(model, &setting, 1);
  struct rung *rung;
  struct rung_actual actual;
  request.precision = "fp32";
  engine_answer(model, expected);
  ASSERT_OK(rung_open(&request, &rung));
  answer_of(rung, found);
  assert_true(share(expected, found) < 1e-5);
  ASSERT_OK(rung_renew(rung));
  answer_of(rung, found);
  assert_true(share(expected, found) < 1e-5);
  rung_describe(rung, &actual);
  assert_string_equal(actual.precision, "fp32");
  assert_int_equal(actual.threads, 1);
  assert_true(actual.n_placement > 0);
  ASSERT_OK(rung_check_actual(&request, &actual));
  rung_close(rung);
}

/* Whoever asks for nothing gets what the processor is quick at. Where that is bf16 the rung says so, and is not taken
 * for fp32. */
static void what_is_not_asked_for_is_read_back(void **state) {
  (void)state;
  const char *model = write_model(scratch_folder("openvino_default")), *library = openvino_library();
  float expected[WIDTH], found[WIDTH];
  if (library == NULL) {
    skip();
  }
  const struct rung_setting setting = {"library", library};
  struct rung_request request = request_for(model, &setting, 1);
  struct rung *rung;
  struct rung_actual actual;
  engine_answer(model, expected);
  ASSERT_OK(rung_open(&request, &rung));
  answer_of(rung, found);
  rung_describe(rung, &actual);
  double off = share(expected, found);
  print_message("by default this processor computes in %s: off by %.2g of the range\n", actual.precision, off);
  if (strcmp(actual.precision, "fp32") == 0) {
    assert_true(off < 1e-5);
    ASSERT_OK(rung_check_actual(&request, &actual));
  } else {
    assert_true(off > 1e-5);
    ASSERT_FAILS(rung_check_actual(&request, &actual), ASSAY_RUNG_INVALID, "asked for precision fp32");
  }
  rung_close(rung);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_it_does_not_have_is_refused),
      cmocka_unit_test(what_is_no_library_says_so),
      cmocka_unit_test(fp32_is_fp32_where_it_is_asked_for),
      cmocka_unit_test(what_is_not_asked_for_is_read_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
