/* ONNX Runtime as a rung: what it is asked for and what is refused, where its nodes went, libraries that go wrong, and
 * the real one where it is installed. */
#include <stdlib.h>
#include <string.h>

#include "model_builder.h"
#include "rung/onnxruntime_rung.h"
#include "rung/rung.h"
#include "runtime_files.h"
#include "scratch_folder.h"
#include "support.h"

/* y = x + c, in the given type. */
static const char *write_model(const char *folder, const char *name, assay_dtype dtype) {
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  static char path[2048];
  size_t size;
  onnx_input(graph, "x", ASSAY_FLOAT32, "2");
  onnx_f32(graph, "c", "2", (const float[]){0.25f, -1});
  if (dtype == ASSAY_FLOAT32) {
    onnx_node(graph, "Add", "x,c", "y");
  } else {
    onnx_int(onnx_node(graph, "Cast", "x", "x16"), "to", dtype);
    onnx_int(onnx_node(graph, "Cast", "c", "c16"), "to", dtype);
    onnx_node(graph, "Add", "x16,c16", "y16");
    onnx_int(onnx_node(graph, "Cast", "y16", "y"), "to", ASSAY_FLOAT32);
  }
  onnx_output(graph, "y", ASSAY_FLOAT32, "2");
  uint8_t *bytes = proto_serialize(model, &size);
  snprintf(path, sizeof path, "%s", in_folder(folder, name));
  write_file(path, bytes, size);
  free(bytes);
  proto_free(model);
  return path;
}

static struct rung_request request_for(const char *model, const struct rung_setting *settings, int32_t n) {
  return (struct rung_request){.name = "ort",
                               .engine = "onnxruntime",
                               .provider = "cpu",
                               .model_path = model,
                               .settings = settings,
                               .n_settings = n};
}

/* --- what is asked for -------------------------------------------------------------------- */

static void settings_are_read_or_refused(void **state) {
  (void)state;
  struct arena arena = {0};
  struct ort_request read;
  const struct rung_setting good[] = {{"optimization", "basic"},
                                      {"execution", "parallel"},
                                      {"config.a.b", "1"},
                                      {"provider_options.device_id", "2"},
                                      {"library", "x.so"}};
  struct rung_request request = request_for("m.onnx", good, 5);
  request.provider = "cuda";
  ASSERT_OK(ort_request_read(&request, &arena, &read));
  assert_int_equal(read.level, 1);
  assert_true(read.parallel);
  assert_int_equal(read.threads, 1);
  assert_string_equal(read.config_keys[0], "a.b");
  assert_string_equal(read.provider_keys[0], "device_id");
  assert_string_equal(read.provider_values[0], "2");
  const struct rung_setting bad[][1] = {
      {{"optimization", "fast"}}, {{"execution", "both"}}, {{"optimisation", "all"}}, {{"config", "x"}}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    request = request_for("m.onnx", bad[i], 1);
    ASSERT_FAILS(ort_request_read(&request, &arena, &read), ASSAY_RUNG_SETTING, bad[i][0].key);
  }
  const char *const keep[] = {"Add_0"};
  request = request_for("m.onnx", NULL, 0);
  request.keep = keep;
  request.n_keep = 1;
  ASSERT_FAILS(ort_request_read(&request, &arena, &read), ASSAY_RUNG_SETTING, "keeps nodes");
  arena_free(&arena);
}

/* --- placement ------------------------------------------------------------------------------ */

static void a_profile_says_where_nodes_ran(void **state) {
  (void)state;
  static const char profile[] =
      "[{\"cat\":\"Session\",\"name\":\"model_run\",\"args\":{}},"
      "{\"cat\":\"Node\",\"name\":\"conv_kernel_time\",\"args\":{\"op_name\":\"Conv\",\"provider\":"
      "\"CUDAExecutionProvider\"}},"
      "{\"cat\":\"Node\",\"name\":\"conv_fence_before\",\"args\":{\"provider\":\"CPUExecutionProvider\"}},"
      "{\"cat\":\"Node\",\"name\":\"conv_kernel_time\",\"args\":{\"provider\":\"CUDAExecutionProvider\"}},"
      "{\"cat\":\"Node\",\"name\":\"topk_kernel_time\",\"args\":{\"provider\":\"CPUExecutionProvider\"}},"
      "{\"name\":3},7]";
  struct arena arena = {0};
  const struct rung_placement *placement;
  int32_t count;
  ASSERT_OK(ort_placement_parse(profile, sizeof profile - 1, &arena, &placement, &count));
  assert_int_equal(count, 2);
  assert_string_equal(placement[0].node, "conv");
  assert_string_equal(placement[0].provider, "cuda");
  assert_string_equal(placement[1].node, "topk");
  assert_string_equal(placement[1].provider, "cpu");
  static const char *const bad[] = {"", "{}", "[", "[1", "null"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    ASSERT_FAILS(ort_placement_parse(bad[i], strlen(bad[i]), &arena, &placement, &count), ASSAY_RUNG_FAILED, "profile");
    assert_int_equal(count, 0);
  }
  arena_free(&arena);
}

/* --- libraries that go wrong ------------------------------------------------------------------ */

static struct rung_request fake_request(const char *fault, struct rung_setting *setting, const char *model) {
  static char path[1024];
  snprintf(path, sizeof path, ASSAY_BINARY_DIR "/tests/libfake_onnxruntime_%s.so", fault);
  *setting = (struct rung_setting){"library", path};
  struct rung_request request = request_for(model, setting, 1);
  request.time_limit_s = 0.5;
  return request;
}

static assay_status run_once(struct rung *rung) {
  float x[] = {1, 2};
  struct rung_tensor input = {"x", {ASSAY_FLOAT32, 1, {2}, x, sizeof x}};
  struct rung_call call = {.case_id = "a", .inputs = &input, .n_inputs = 1};
  struct rung_answer answer;
  return rung_run(rung, &call, &answer);
}

static void a_library_that_goes_wrong_ends_the_rung_alone(void **state) {
  (void)state;
  static const struct {
    const char *fault;
    assay_code at_open, at_run;
    const char *says;
  } faults[] = {{"old", ASSAY_RUNTIME_MISSING, ASSAY_OK, "install 1.19 or newer"},
                {"crash", ASSAY_RUNG_CRASHED, ASSAY_OK, "signal 11"},
                {"hang", ASSAY_OK, ASSAY_RUNG_TIMEOUT, "did not answer within 0.5 s"},
                {"nonsense", ASSAY_OK, ASSAY_RUNG_FAILED, "1000000 dimensions"}};
  const char *model = write_model(scratch_folder("fake_onnxruntime"), "m.onnx", ASSAY_FLOAT32);
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    struct rung_setting setting;
    struct rung_request request = fake_request(faults[i].fault, &setting, model);
    struct rung *rung;
    if (faults[i].at_open != ASSAY_OK) {
      ASSERT_FAILS(rung_open(&request, &rung), faults[i].at_open, faults[i].says);
      continue;
    }
    ASSERT_OK(rung_open(&request, &rung));
    ASSERT_FAILS(run_once(rung), faults[i].at_run, faults[i].says);
    rung_close(rung);
  }
}

static void what_is_no_library_says_so(void **state) {
  (void)state;
  const char *folder = scratch_folder("no_onnxruntime");
  const char *model = write_model(folder, "m.onnx", ASSAY_FLOAT32);
  static char garbage[2048];
  snprintf(garbage, sizeof garbage, "%s", in_folder(folder, "garbage.so"));
  write_file(garbage, "no library", 10);
  const struct {
    const char *path, *says;
  } bad[] = {{"/nowhere/libonnxruntime.so", "cannot be loaded"},
             {garbage, "cannot be loaded"},
             {"libm.so.6", "is not ONNX Runtime"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const struct rung_setting setting = {"library", bad[i].path};
    struct rung_request request = request_for(model, &setting, 1);
    struct rung *rung;
    ASSERT_FAILS(rung_open(&request, &rung), ASSAY_RUNTIME_MISSING, bad[i].says);
  }
}

/* The CPU was asked for; one node went elsewhere. */
static void a_node_on_another_provider_makes_the_rung_invalid(void **state) {
  (void)state;
  const char *model = write_model(scratch_folder("placed_onnxruntime"), "m.onnx", ASSAY_FLOAT32);
  struct rung_setting settings[2];
  struct rung_request request = fake_request("elsewhere", &settings[0], model);
  struct rung *rung;
  struct rung_actual actual;
  ASSERT_OK(rung_open(&request, &rung));
  ASSERT_OK(run_once(rung));
  rung_describe(rung, &actual);
  assert_int_equal(actual.n_placement, 1);
  assert_string_equal(actual.placement[0].provider, "xnnpack");
  ASSERT_FAILS(rung_check_actual(&request, &actual), ASSAY_RUNG_INVALID, "node 'Add_0' ran on xnnpack");
  settings[1] = (struct rung_setting){"allow_fallback", "true"};
  request.n_settings = 2;
  ASSERT_OK(rung_check_actual(&request, &actual));
  rung_close(rung);
}

/* --- the real one --------------------------------------------------------------------------------- */

static void check_real(const char *library, const char *folder) {
  const struct rung_setting settings[] = {{"library", library}};
  struct rung_request request = request_for(write_model(folder, "m.onnx", ASSAY_FLOAT32), settings, 1);
  struct rung *rung;
  struct rung_answer answer;
  struct rung_actual actual;
  float x[] = {1, 2};
  struct rung_tensor input = {"x", {ASSAY_FLOAT32, 1, {2}, x, sizeof x}};
  struct rung_call call = {.case_id = "a", .inputs = &input, .n_inputs = 1};
  ASSERT_OK(rung_open(&request, &rung));
  for (int i = 0; i < 2; i++) {
    ASSERT_OK(rung_run(rung, &call, &answer));
    assert_int_equal(answer.n_outputs, 1);
    assert_string_equal(answer.outputs[0].name, "y");
    assert_true(((const float *)answer.outputs[0].tensor.data)[0] == 1.25f);
    assert_true(((const float *)answer.outputs[0].tensor.data)[1] == 1.0f);
    ASSERT_OK(rung_renew(rung));
  }
  rung_describe(rung, &actual);
  assert_string_equal(actual.engine, "onnxruntime");
  assert_string_equal(actual.precision, "fp32");
  assert_null(actual.note);
  assert_int_equal(actual.n_placement, 1);
  assert_string_equal(actual.placement[0].provider, "cpu");
  ASSERT_OK(rung_check_actual(&request, &actual));
  input.name = "nobody";
  ASSERT_FAILS(rung_run(rung, &call, &answer), ASSAY_RUNG_FAILED, "nobody");
  rung_close(rung);
  request.provider = "cuda";
  ASSERT_FAILS(rung_open(&request, &rung), ASSAY_RUNTIME_MISSING, "no provider 'cuda'");
}

static void the_real_one_answers(void **state) {
  (void)state;
  const char *folder = scratch_folder("onnxruntime"), *library = onnxruntime_library();
  if (library == NULL) {
    skip();
  }
  check_real(library, folder);
}

static void the_oldest_answers(void **state) {
  (void)state;
  const char *folder = scratch_folder("onnxruntime_oldest"), *library = onnxruntime_oldest_library();
  if (library == NULL) {
    skip();
  }
  check_real(library, folder);
}

static void the_cpu_is_no_evidence_for_fp16(void **state) {
  (void)state;
  const char *folder = scratch_folder("onnxruntime_fp16"), *library = onnxruntime_library();
  if (library == NULL) {
    skip();
  }
  const struct rung_setting setting = {"library", library};
  struct rung_request request = request_for(write_model(folder, "m16.onnx", ASSAY_FLOAT16), &setting, 1);
  struct rung *rung;
  struct rung_actual actual;
  ASSERT_OK(rung_open(&request, &rung));
  ASSERT_OK(run_once(rung));
  rung_describe(rung, &actual);
  assert_string_equal(actual.precision, "fp32");
  assert_non_null(strstr(actual.note, "computed in fp32"));
  ASSERT_FAILS(rung_check_actual(&request, &actual), ASSAY_RUNG_INVALID, "asked for precision fp16, but fp32 ran");
  request.precision = "fp32"; /* who says what it is may use it */
  ASSERT_OK(rung_check_actual(&request, &actual));
  rung_close(rung);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(settings_are_read_or_refused),
      cmocka_unit_test(a_profile_says_where_nodes_ran),
      cmocka_unit_test(a_library_that_goes_wrong_ends_the_rung_alone),
      cmocka_unit_test(what_is_no_library_says_so),
      cmocka_unit_test(a_node_on_another_provider_makes_the_rung_invalid),
      cmocka_unit_test(the_real_one_answers),
      cmocka_unit_test(the_oldest_answers),
      cmocka_unit_test(the_cpu_is_no_evidence_for_fp16),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
