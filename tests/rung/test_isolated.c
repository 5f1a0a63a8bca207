/* Rungs in child processes: the same answers, and every way in which a child can go wrong. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "core/memory.h"
#include "rung/wire.h"
#include "support.h"

struct echo {
  struct rung base;
  int64_t calls;
  float value;
  struct rung_tensor output;
};

static assay_status echo_run(struct rung *rung, const struct rung_call *call, struct rung_answer *out) {
  struct echo *self = (struct echo *)rung;
  self->calls++;
  if (strcmp(call->case_id, "crash") == 0) {
    raise(SIGKILL);
  }
  if (strcmp(call->case_id, "hang") == 0) {
    for (;;) {
      pause();
    }
  }
  if (strcmp(call->case_id, "fail") == 0) {
    return status_make(ASSAY_RUNG_FAILED, "node 'Relu_3'", "it failed on purpose");
  }
  for (int32_t i = 0; i < call->n_taps; i++) {
    call->tap(call->tap_user, call->taps[i], &call->inputs[0].tensor);
  }
  self->value = *(const float *)call->inputs[0].tensor.data + (float)self->calls;
  self->output = (struct rung_tensor){"y", {ASSAY_FLOAT32, 0, {0}, &self->value, sizeof self->value}};
  *out = (struct rung_answer){.outputs = &self->output, .n_outputs = 1};
  return status_ok();
}

static assay_status echo_renew(struct rung *rung) {
  ((struct echo *)rung)->calls = 0;
  return status_ok();
}

static void echo_describe(struct rung *rung, struct rung_actual *out) {
  static const struct rung_placement placement[] = {{"node", "cpu", NULL}};
  static const struct rung_setting facts[] = {{"key", "value"}};
  (void)rung;
  *out = (struct rung_actual){.engine = "echo",
                              .precision = "fp32",
                              .threads = 3,
                              .n_placement = 1,
                              .placement = placement,
                              .n_facts = 1,
                              .facts = facts};
}

static void echo_close(struct rung *rung) { memory_free(rung); }

static assay_status echo_open(const struct rung_request *request, struct rung **out) {
  if (request->model_path != NULL) {
    return status_make(ASSAY_RUNTIME_MISSING, "echo.so", "it is not there");
  }
  struct echo *self = memory_alloc(1, sizeof *self);
  assert_non_null(self);
  self->base.kind = request->kind;
  *out = &self->base;
  return status_ok();
}

static const struct rung_kind echo = {.engine = "echo",
                                      .open = echo_open,
                                      .run = echo_run,
                                      .renew = echo_renew,
                                      .describe = echo_describe,
                                      .close = echo_close};

static struct rung *open_echo(double limit_s) {
  struct rung_request request = {.name = "e", .engine = "echo", .kind = &echo, .time_limit_s = limit_s};
  struct rung *rung;
  ASSERT_OK(rung_open_isolated(&request, &rung));
  return rung;
}

static assay_status run_one(struct rung *rung, const char *id, float *x, struct rung_answer *answer) {
  struct rung_tensor input = {"x", {ASSAY_FLOAT32, 1, {1}, x, sizeof *x}};
  struct rung_call call = {.case_id = id, .inputs = &input, .n_inputs = 1};
  return rung_run(rung, &call, answer);
}

static void answers_pass_through(void **state) {
  (void)state;
  struct rung *rung = open_echo(0);
  struct rung_answer answer;
  float x = 10;
  for (int round = 0; round < 2; round++) {
    ASSERT_OK(run_one(rung, "a", &x, &answer));
    assert_int_equal(answer.n_outputs, 1);
    assert_string_equal(answer.outputs[0].name, "y");
    assert_int_equal(answer.outputs[0].tensor.rank, 0);
    assert_true(*(const float *)answer.outputs[0].tensor.data == 11);
    ASSERT_OK(run_one(rung, "a", &x, &answer));
    assert_true(*(const float *)answer.outputs[0].tensor.data == 12);
    ASSERT_OK(rung_renew(rung));
  }
  struct rung_actual actual;
  rung_describe(rung, &actual);
  assert_string_equal(actual.engine, "echo");
  assert_null(actual.provider);
  assert_int_equal(actual.threads, 3);
  assert_string_equal(actual.placement[0].node, "node");
  assert_null(actual.placement[0].precision);
  assert_string_equal(actual.facts[0].value, "value");
  rung_close(rung);
}

static void count_tap(void *user, const char *value, const assay_tensor *tensor) {
  assert_string_equal(value, "inner");
  assert_true(*(const float *)tensor->data == 10);
  ++*(int *)user;
}

static void taps_pass_through(void **state) {
  (void)state;
  struct rung *rung = open_echo(0);
  struct rung_answer answer;
  float x = 10;
  int tapped = 0;
  const char *const taps[] = {"inner", "inner"};
  struct rung_tensor input = {"x", {ASSAY_FLOAT32, 1, {1}, &x, sizeof x}};
  struct rung_call call = {.case_id = "a",
                           .inputs = &input,
                           .n_inputs = 1,
                           .taps = taps,
                           .n_taps = 2,
                           .tap = count_tap,
                           .tap_user = &tapped};
  ASSERT_OK(rung_run(rung, &call, &answer));
  assert_int_equal(tapped, 2);
  assert_true(*(const float *)answer.outputs[0].tensor.data == 11);
  rung_close(rung);
}

static void a_large_tensor_passes(void **state) {
  (void)state;
  struct rung *rung = open_echo(0);
  struct rung_answer answer;
  int64_t count = 3 << 20;
  float *values = memory_alloc((size_t)count, sizeof *values);
  assert_non_null(values);
  values[0] = 5;
  struct rung_tensor input = {"x", {ASSAY_FLOAT32, 1, {count}, values, (size_t)count * sizeof *values}};
  struct rung_call call = {.case_id = "a", .inputs = &input, .n_inputs = 1};
  ASSERT_OK(rung_run(rung, &call, &answer));
  assert_true(*(const float *)answer.outputs[0].tensor.data == 6);
  rung_close(rung);
  memory_free(values);
}

static void failures_keep_code_place_and_sentence(void **state) {
  (void)state;
  struct rung *rung = open_echo(0);
  struct rung_answer answer;
  float x = 1;
  assay_status status = run_one(rung, "fail", &x, &answer);
  assert_int_equal(status.code, ASSAY_RUNG_FAILED);
  assert_string_equal(assay_status_where(status), "node 'Relu_3'");
  assert_string_equal(assay_status_sentence(status), "it failed on purpose");
  assay_status_clear(&status);
  ASSERT_OK(run_one(rung, "a", &x, &answer)); /* the child lives on */
  rung_close(rung);
  struct rung_request request = {.name = "e", .engine = "echo", .kind = &echo, .model_path = "x"};
  ASSERT_FAILS(rung_open_isolated(&request, &rung), ASSAY_RUNTIME_MISSING, "not there");
}

static void a_crash_ends_the_child_alone(void **state) {
  (void)state;
  struct rung *rung = open_echo(0);
  struct rung_answer answer;
  float x = 1;
  ASSERT_FAILS(run_one(rung, "crash", &x, &answer), ASSAY_RUNG_CRASHED, "signal 9");
  ASSERT_FAILS(run_one(rung, "a", &x, &answer), ASSAY_RUNG_CRASHED, "has ended");
  rung_close(rung);
}

static void a_hang_is_stopped(void **state) {
  (void)state;
  struct rung *rung = open_echo(0.1);
  struct rung_answer answer;
  float x = 1;
  ASSERT_FAILS(run_one(rung, "hang", &x, &answer), ASSAY_RUNG_TIMEOUT, "0.1 s");
  rung_close(rung);
}

/* Bytes cut or changed anywhere are found out, never believed or read past. */
static void damaged_messages_are_refused(void **state) {
  (void)state;
  float values[2] = {1, 2};
  assay_tensor tensor = {ASSAY_FLOAT32, 1, {2}, values, sizeof values};
  struct text message = {0};
  wire_put_tensor(&message, "x", &tensor);
  for (size_t cut = 0; cut < message.length; cut++) {
    struct arena arena = {0};
    struct wire_reader in = {.data = message.data, .size = cut};
    struct rung_tensor got;
    assay_status status = wire_get_tensor(&in, &arena, &got);
    assert_int_equal(status.code, ASSAY_RUNG_CRASHED);
    assay_status_clear(&status);
    arena_free(&arena);
  }
  for (size_t place = 0; place < message.length - sizeof values; place++) {
    struct arena arena = {0};
    struct rung_tensor got;
    char kept = message.data[place];
    message.data[place] = (char)(kept ^ 0x41);
    struct wire_reader in = {.data = message.data, .size = message.length};
    assay_status status = wire_get_tensor(&in, &arena, &got);
    assay_status_clear(&status);
    message.data[place] = kept;
    arena_free(&arena);
  }
  text_free(&message);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(answers_pass_through),         cmocka_unit_test(taps_pass_through),
      cmocka_unit_test(a_large_tensor_passes),        cmocka_unit_test(failures_keep_code_place_and_sentence),
      cmocka_unit_test(a_crash_ends_the_child_alone), cmocka_unit_test(a_hang_is_stopped),
      cmocka_unit_test(damaged_messages_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
