/* assay on another machine as a rung, over a local pipe: the same bits, and every way in which the other side can go.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model_builder.h"
#include "rung/greeting.h"
#include "rung/serve.h"
#include "rung/wire.h"
#include "scratch_folder.h"
#include "support.h"

static const char program[] = ASSAY_BINARY_DIR "/assay";

/* y = x W, with W of 6 KiB in a file of its own when `external`. */
static const char *write_model(const char *folder) {
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  static char path[2048];
  static float weights[64 * 24];
  size_t size;
  for (int i = 0; i < 64 * 24; i++) {
    weights[i] = (float)((i * 37 + 11) % 101 - 50) / 64;
  }
  onnx_input(graph, "x", ASSAY_FLOAT32, "1,64");
  onnx_f32(graph, "W", "64,24", weights);
  onnx_node(graph, "MatMul", "x,W", "y");
  onnx_output(graph, "y", ASSAY_FLOAT32, "1,24");
  uint8_t *bytes = proto_serialize(model, &size);
  snprintf(path, sizeof path, "%s", in_folder(folder, "m.onnx"));
  write_file(path, bytes, size);
  free(bytes);
  proto_free(model);
  return path;
}

static struct rung_request request_for(const char *model, const char *const *command, int32_t n) {
  return (struct rung_request){
      .name = "robot", .engine = "remote", .model_path = model, .command = command, .n_command = n, .time_limit_s = 20};
}

static assay_status run_case(struct rung *rung, float out[24]) {
  static float x[64];
  struct rung_answer answer;
  for (int i = 0; i < 64; i++) {
    x[i] = (float)(i % 7) / 3;
  }
  struct rung_tensor input = {"x", {ASSAY_FLOAT32, 2, {1, 64}, x, sizeof x}};
  struct rung_call call = {.case_id = "a", .inputs = &input, .n_inputs = 1};
  TRY(rung_run(rung, &call, &answer));
  assert_int_equal(answer.n_outputs, 1);
  assert_int_equal(answer.outputs[0].tensor.bytes, 24 * sizeof(float));
  memcpy(out, answer.outputs[0].tensor.data, 24 * sizeof(float));
  return status_ok();
}

static void the_other_side_gives_the_same_bits(void **state) {
  (void)state;
  const char *model = write_model(scratch_folder("remote"));
  const char *const command[] = {program, "worker"};
  struct rung_request here = {.name = "here", .engine = "assay", .model_path = model};
  struct rung_request there = request_for(model, command, 2);
  struct rung *rung;
  struct rung_actual actual;
  float expected[24], found[24];
  ASSERT_OK(rung_open(&here, &rung));
  ASSERT_OK(run_case(rung, expected));
  rung_close(rung);
  ASSERT_OK(rung_open(&there, &rung));
  for (int i = 0; i < 2; i++) {
    ASSERT_OK(run_case(rung, found));
    assert_memory_equal(expected, found, sizeof expected);
    ASSERT_OK(rung_renew(rung));
  }
  rung_describe(rung, &actual);
  assert_string_equal(actual.engine, "assay");
  ASSERT_OK(rung_check_actual(&there, &actual));
  const struct rung_setting runtime = {"runtime", "onnxruntime"};
  there.settings = &runtime;
  there.n_settings = 1;
  ASSERT_FAILS(rung_check_actual(&there, &actual), ASSAY_RUNG_INVALID, "asked for engine onnxruntime, but assay ran");
  rung_close(rung);
}

/* What the other side refuses is refused here, in its words. */
static void refusals_come_through(void **state) {
  (void)state;
  const char *folder = scratch_folder("remote_refused");
  const char *model = write_model(folder);
  const char *const command[] = {program, "worker"};
  struct rung_request request = request_for(model, command, 2);
  struct rung *rung;
  request.precision = "fp7";
  ASSERT_FAILS(rung_open(&request, &rung), ASSAY_RUNG_SETTING, "precision 'fp7'");
  const struct rung_setting runtime[] = {{"runtime", "remote"}};
  request.precision = NULL;
  request.settings = runtime;
  request.n_settings = 1;
  ASSERT_FAILS(rung_open(&request, &rung), ASSAY_RUNG_SETTING, "runtime 'remote'");
  request = request_for(model, NULL, 0);
  ASSERT_FAILS(rung_open(&request, &rung), ASSAY_RUNG_SETTING, "command");
}

static void a_worker_that_is_killed_ends_the_rung(void **state) {
  (void)state;
  const char *model = write_model(scratch_folder("remote_killed"));
  const char *const command[] = {"timeout", "-s", "KILL", "1", program, "worker"};
  struct rung_request request = request_for(model, command, 6);
  struct rung *rung;
  float found[24];
  ASSERT_OK(rung_open(&request, &rung));
  ASSERT_OK(run_case(rung, found));
  sleep(2);
  ASSERT_FAILS(run_case(rung, found), ASSAY_RUNG_CRASHED, "robot");
  ASSERT_FAILS(run_case(rung, found), ASSAY_RUNG_CRASHED, "has ended");
  rung_close(rung);
}

static void a_slow_one_is_stopped(void **state) {
  (void)state;
  const char *model = write_model(scratch_folder("remote_slow"));
  const char *const command[] = {"sleep", "100"};
  struct rung_request request = request_for(model, command, 2);
  struct rung *rung;
  request.time_limit_s = 0.3;
  ASSERT_FAILS(rung_open(&request, &rung), ASSAY_RUNG_TIMEOUT, "within 0.3 s");
}

static void a_command_that_does_not_reach_it_is_said(void **state) {
  (void)state;
  const char *model = write_model(scratch_folder("remote_unreached"));
  const char *const nowhere[] = {"/nowhere/ssh"}, *const silent[] = {"false"}, *const chatty[] = {"echo", "hello"};
  const struct {
    const char *const *command;
    int32_t n;
  } bad[] = {{nowhere, 1}, {silent, 1}, {chatty, 2}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    struct rung_request request = request_for(model, bad[i].command, bad[i].n);
    struct rung *rung;
    ASSERT_FAILS(rung_open(&request, &rung), ASSAY_RUNG_CRASHED, "robot");
  }
}

/* --- the greeting ------------------------------------------------------------------------------ */

static void another_protocol_is_refused_by_its_number(void **state) {
  (void)state;
  const char *folder = scratch_folder("greeting");
  struct text message = {0};
  struct arena arena = {0};
  struct rung_request request;
  wire_put_int(&message, MESSAGE_HELLO);
  wire_put_string(&message, "assay worker");
  wire_put_int(&message, WORKER_PROTOCOL + 1);
  ASSERT_FAILS(greeting_read(&message, folder, &arena, &request), ASSAY_RUNG_FAILED, "speaks protocol 2");
  text_free(&message);
  arena_free(&arena);
}

/* Every part of a greeting cut off, and a file that would lie elsewhere. */
static void what_a_greeting_says_is_not_believed(void **state) {
  (void)state;
  const char *folder = scratch_folder("greeting_bad");
  const char *model = write_model(folder);
  struct rung_request asked = {.name = "robot", .model_path = model}, read;
  struct text whole = {0}, message = {0};
  struct arena arena = {0};
  ASSERT_OK(greeting_write(&asked, "assay", &whole));
  for (size_t size = 0; size < whole.length; size += size < 400 ? 1 : 997) {
    text_clear(&message);
    text_add_bytes(&message, whole.data, size);
    ASSERT_FAILS(greeting_read(&message, folder, &arena, &read), ASSAY_RUNG_FAILED, "");
  }
  ASSERT_OK(greeting_read(&whole, folder, &arena, &read));
  assert_string_equal(read.engine, "assay");
  text_clear(&message);
  wire_put_int(&message, MESSAGE_HELLO);
  wire_put_string(&message, "assay worker");
  wire_put_int(&message, WORKER_PROTOCOL);
  wire_put_string(&message, "robot");
  wire_put_string(&message, "assay");
  wire_put_string(&message, NULL);
  wire_put_string(&message, NULL);
  for (int i = 0; i < 3; i++) {
    wire_put_int(&message, 0); /* threads, settings, kept nodes */
  }
  wire_put_int(&message, 1);
  wire_put_string(&message, "../escaped");
  wire_put_int(&message, 0);
  ASSERT_FAILS(greeting_read(&message, folder, &arena, &read), ASSAY_RUNG_FAILED, "..");
  text_free(&whole);
  text_free(&message);
  arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_other_side_gives_the_same_bits),
      cmocka_unit_test(refusals_come_through),
      cmocka_unit_test(a_worker_that_is_killed_ends_the_rung),
      cmocka_unit_test(a_slow_one_is_stopped),
      cmocka_unit_test(a_command_that_does_not_reach_it_is_said),
      cmocka_unit_test(another_protocol_is_refused_by_its_number),
      cmocka_unit_test(what_a_greeting_says_is_not_believed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
