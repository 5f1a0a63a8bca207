/* Runtimes that differ from themselves, from what was asked for, or from one call to the next: stand-ins that
 * misbehave in one way each, through the whole gate. */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "policy_builder.h"
#include "support.h"

static const float rows[6][3] = {{0.12F, -0.04F, 0.7F}, {0.5F, 0.25F, 0.1F}, {-0.3F, 0.9F, 0.9F},
                                 {1, -1, 0.2F},         {0.25F, 0.5F, 0.8F}, {0.75F, -0.5F, 0.9F}};

/* What a stand-in does to its k-th answer (from 0) of a session; `last` is the answer before. */
struct manner {
  float (*move)(int64_t k, int64_t all, float last);
  struct rung_actual actual;
};

struct stand_in {
  struct rung base;
  const struct manner *manner;
  int64_t calls;
  float values[3], last;
  struct rung_tensor output;
};

static const struct manner *next_manner; /* of the rung that opens next */
static int64_t all_calls;                /* over every session */

static assay_status stand_in_run(struct rung *rung, const struct rung_call *call, struct rung_answer *out) {
  struct stand_in *self = (struct stand_in *)rung;
  float moved = self->manner->move != NULL ? self->manner->move(self->calls++, all_calls++, self->last) : 0;
  assert_int_equal(call->n_inputs, 1);
  memcpy(self->values, call->inputs[0].tensor.data, sizeof self->values);
  self->values[1] += moved;
  self->last = self->values[1];
  self->output = (struct rung_tensor){"action", {ASSAY_FLOAT32, 2, {1, 3}, self->values, sizeof self->values}};
  *out = (struct rung_answer){.outputs = &self->output, .n_outputs = 1};
  return status_ok();
}

static void stand_in_describe(struct rung *rung, struct rung_actual *out) {
  *out = ((struct stand_in *)rung)->manner->actual;
}

static void stand_in_close(struct rung *rung) { memory_free(rung); }

static assay_status stand_in_open(const struct rung_request *request, struct rung **out) {
  struct stand_in *self = memory_alloc(1, sizeof *self);
  assert_non_null(self);
  self->base.kind = request->kind;
  self->manner = next_manner;
  *out = &self->base;
  return status_ok();
}

static const struct rung_kind stand_in = {.engine = "stand-in",
                                          .open = stand_in_open,
                                          .run = stand_in_run,
                                          .describe = stand_in_describe,
                                          .close = stand_in_close};
static const struct rung_actual honest = {.engine = "stand-in", .precision = "fp32", .threads = 1};

/* Judges a stand-in against the recorded answers, or as the reference of a recorded run. */
static struct gate_result *judge(const struct manner *manner, const struct rung_request *asked, bool reference) {
  static const struct gate_noise noise = {.repeats = 2, .rebuild = 2};
  char *folder = policy_folder();
  struct gate_result *result;
  policy_golden(folder, rows, 6);
  policy_run(folder, "candidate", rows, 6);
  ASSERT_OK(gate_result_new(&result));
  ASSERT_OK(contract_read(temp_path(folder, "contract.yaml"), &result->contract));
  ASSERT_OK(corpus_open(temp_path(folder, "golden"), &result->corpus));
  struct gate_rung *rungs = arena_alloc(&result->arena, 2, sizeof *rungs);
  assert_non_null(rungs);
  rungs[0].request = asked != NULL ? *asked : (struct rung_request){0};
  rungs[0].request.name = rungs[0].request.engine = "stand-in";
  rungs[0].request.kind = &stand_in;
  rungs[1].request =
      (struct rung_request){.name = "other", .engine = "recorded", .outputs_folder = temp_path(folder, "candidate")};
  rungs[0].required = rungs[1].required = true;
  next_manner = manner;
  all_calls = 0;
  struct gate_work work = {
      .contract = result->contract,
      .cases = {.corpus = result->corpus, .n = result->corpus->n_cases, .entries = result->corpus->cases},
      .rungs = rungs,
      .n_rungs = reference ? 2 : 1,
      .reference_rung = reference ? 0 : -1,
      .reference = reference ? "stand-in" : "recorded",
      .noise = &noise,
      .no_model = "not measured",
      .threads = 1};
  ASSERT_OK(gate_measure(&work, result));
  temp_free(folder);
  return result;
}

static void a_steady_runtime_passes(void **state) {
  (void)state;
  struct manner manner = {NULL, honest};
  struct gate_result *result = judge(&manner, NULL, false);
  expect_verdict(result, VERDICT_PASS, 0);
  const struct noise_result *noise = &result->rungs[0].noise;
  assert_true(noise->self_measured && noise->history_checked);
  assert_int_equal(noise->sessions, 2);
  assert_int_equal(noise->repeats, 2);
  assert_true(noise->history_max == 0);
  gate_result_free(result);
}

static float adds_a_quarter_of_the_last(int64_t k, int64_t all, float last) {
  (void)all;
  return k == 0 ? 0 : 1e-5F * last;
}
static float wrong_on_its_first_run(int64_t k, int64_t all, float last) {
  (void)all;
  (void)last;
  return k == 0 ? 1e-4F : 0;
}
static float wrong_from_its_eighth_run(int64_t k, int64_t all, float last) {
  (void)all;
  (void)last;
  return k >= 7 ? 1.0F : 0;
}

/* Each stays within the tolerance in its first answers, or is right in all of them. */
static void answers_that_depend_on_history_are_rejected(void **state) {
  (void)state;
  float (*const ways[])(int64_t, int64_t, float) = {adds_a_quarter_of_the_last, wrong_on_its_first_run,
                                                    wrong_from_its_eighth_run};
  for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
    struct manner manner = {ways[i], honest};
    struct gate_result *result = judge(&manner, NULL, false);
    expect_verdict(result, VERDICT_REJECT, 1);
    assert_int_equal(rung_reasons(&result->rungs[0], ASSAY_HISTORY_DEPENDENT), 1);
    assert_int_equal(rung_reasons(&result->rungs[0], ASSAY_DRIFT_MAX), 0);
    gate_result_free(result);
  }
}

static float wanders(int64_t k, int64_t all, float last) {
  (void)k;
  (void)last;
  return all % 5 == 0 ? 0.01F : 0.0F;
}
static float wanders_a_little(int64_t k, int64_t all, float last) {
  (void)k;
  (void)last;
  return all % 3 == 0 ? 0.0F : 1e-4F;
}

static void self_noise_above_the_tolerance_blocks(void **state) {
  (void)state;
  struct manner manner = {wanders, honest};
  struct gate_result *result = judge(&manner, NULL, false);
  /* Whether its numbers happen to agree or not, nothing is said about them. */
  assert_int_equal(result->rungs[0].verdict, VERDICT_BLOCKED);
  expect_verdict(result, VERDICT_BLOCKED, 3);
  assert_int_equal(rung_reasons(&result->rungs[0], ASSAY_UNSTABLE_RUNG), 1);
  gate_result_free(result);
}

static void self_noise_within_the_tolerance_is_shown(void **state) {
  (void)state;
  struct manner manner = {wanders_a_little, honest};
  struct gate_result *result = judge(&manner, NULL, false);
  expect_verdict(result, VERDICT_PASS, 0);
  assert_true(fabs(rung_component(&result->rungs[0], "wrist")->rung_self_noise - 1e-4) < 1e-6);
  gate_result_free(result);
}

static void an_unstable_live_reference_gives_no_verdict(void **state) {
  (void)state;
  struct manner manner = {wanders, honest};
  struct gate_result *result = judge(&manner, NULL, true);
  expect_verdict(result, VERDICT_BLOCKED, 3);
  assert_true(gate_reasons(result, ASSAY_UNSTABLE_REFERENCE) >= 1);
  assert_int_equal(result_rung(result, "other")->verdict, VERDICT_BLOCKED);
  gate_result_free(result);
  manner.move = wrong_from_its_eighth_run;
  result = judge(&manner, NULL, true);
  expect_verdict(result, VERDICT_BLOCKED, 3);
  assert_true(gate_reasons(result, ASSAY_UNSTABLE_REFERENCE) >= 1);
  gate_result_free(result);
}

static float is_nan(int64_t k, int64_t all, float last) {
  (void)k;
  (void)all;
  (void)last;
  return NAN;
}

/* A NaN that comes every time is a fault of the answers, not an instability. */
static void a_steady_nan_is_rejected(void **state) {
  (void)state;
  struct manner manner = {is_nan, honest};
  struct gate_result *result = judge(&manner, NULL, false);
  expect_verdict(result, VERDICT_REJECT, 1);
  assert_int_equal(rung_reasons(&result->rungs[0], ASSAY_NONFINITE), 1);
  assert_int_equal(rung_reasons(&result->rungs[0], ASSAY_UNSTABLE_RUNG), 0);
  gate_result_free(result);
  result = judge(&manner, NULL, true); /* as a reference it is an invalid one */
  expect_verdict(result, VERDICT_BLOCKED, 2);
  gate_result_free(result);
}

/* Rule 4: whatever its numbers, and these are perfect. */
static void what_ran_must_be_what_was_asked_for(void **state) {
  (void)state;
  static const struct rung_placement elsewhere[] = {{"Conv_0", "cuda", "fp32"}, {"Relu_1", "cpu", "fp32"}};
  static const struct rung_placement narrowed[] = {{"Conv_0", "cpu", "fp16"}};
  const struct rung_setting on_gpu = {"device", "H200"}, of_version = {"version", "1.20.0"},
                            wide_sums = {"accumulator", "fp32"};
  const struct {
    struct rung_request asked;
    struct rung_actual actual;
  } faults[] = {
      {{0}, {.engine = "stand-in", .precision = "fp16"}},
      {{0}, {.engine = "stand-in", .precision = "tf32"}},
      {{0}, {.engine = "stand-in", .precision = NULL}},
      {{0}, {.engine = "other", .precision = "fp32"}},
      {{0}, {.engine = "stand-in", .precision = "fp32", .tf32 = "on"}},
      {{.precision = "fp16"}, {.engine = "stand-in", .precision = "fp32"}},
      {{.provider = "cuda"}, {.engine = "stand-in", .precision = "fp32", .provider = "cpu"}},
      {{.provider = "cuda"}, {.engine = "stand-in", .precision = "fp32"}},
      {{.provider = "cuda"},
       {.engine = "stand-in", .precision = "fp32", .provider = "cuda", .placement = elsewhere, .n_placement = 2}},
      {{0}, {.engine = "stand-in", .precision = "fp32", .placement = narrowed, .n_placement = 1}},
      {{.settings = &on_gpu, .n_settings = 1}, {.engine = "stand-in", .precision = "fp32", .device = "cpu"}},
      {{.settings = &of_version, .n_settings = 1}, {.engine = "stand-in", .precision = "fp32", .version = "1.19.2"}},
      {{.settings = &of_version, .n_settings = 1}, {.engine = "stand-in", .precision = "fp32"}},
      {{.settings = &wide_sums, .n_settings = 1}, {.engine = "stand-in", .precision = "fp32", .accumulator = "fp16"}},
      {{.threads = 4}, {.engine = "stand-in", .precision = "fp32", .threads = 1}},
      {{.precision = "fp16"}, {.engine = "stand-in", .precision = "fp16", .emulated = true}},
  };
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
    struct manner manner = {NULL, faults[i].actual};
    struct gate_result *result = judge(&manner, &faults[i].asked, false);
    expect_verdict(result, VERDICT_BLOCKED, 3);
    assert_int_equal(rung_reasons(&result->rungs[0], ASSAY_RUNG_INVALID), 1);
    assert_true(rung_component(&result->rungs[0], "wrist")->drift.physical.max == 0);
    gate_result_free(result);
  }
}

static void a_fallback_that_is_allowed_is_valid(void **state) {
  (void)state;
  static const struct rung_placement elsewhere[] = {{"Conv_0", "cuda", "fp32"}, {"Relu_1", "cpu", "fp32"}};
  const struct rung_setting allowed = {"allow_fallback", "true"};
  const struct rung_request asked = {.provider = "cuda", .settings = &allowed, .n_settings = 1};
  struct manner manner = {
      NULL, {.engine = "stand-in", .precision = "fp32", .provider = "cuda", .placement = elsewhere, .n_placement = 2}};
  struct gate_result *result = judge(&manner, &asked, false);
  expect_verdict(result, VERDICT_PASS, 0);
  gate_result_free(result);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_steady_runtime_passes),
      cmocka_unit_test(answers_that_depend_on_history_are_rejected),
      cmocka_unit_test(self_noise_above_the_tolerance_blocks),
      cmocka_unit_test(self_noise_within_the_tolerance_is_shown),
      cmocka_unit_test(an_unstable_live_reference_gives_no_verdict),
      cmocka_unit_test(a_steady_nan_is_rejected),
      cmocka_unit_test(what_ran_must_be_what_was_asked_for),
      cmocka_unit_test(a_fallback_that_is_allowed_is_valid),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
