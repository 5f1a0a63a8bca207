/* A rung that says fp32 and errs as something narrower: the choice by itself, then stand-ins in the gate of block_pick
 * that run assay's engine in another precision and do not say so. */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "gate/gate.h"
#include "gate/precision_fit.h"
#include "support.h"

/* --- the choice ------------------------------------------------------------------------------ */

static void what_is_near_in_every_component_fits(void **state) {
  (void)state;
  const double tf32[] = {2e-4, 3e-4}, bf16[] = {4e-3, 6e-3};
  const double *const emulated[] = {tf32, bf16};
  const struct {
    double rung[2];
    int fits;
  } table[] = {{{2e-4, 3e-4}, 0},  {{1e-4, 2e-4}, 0}, {{3e-3, 3e-3}, 1},     {{8e-3, 9e-3}, 1},
               {{1e-7, 1e-7}, -1}, {{0.5, 0.5}, -1},  {{2e-4, 3e-1}, -1},    {{2e-4, 0}, -1},
               {{0, 0}, -1},       {{NAN, 3e-4}, -1}, {{INFINITY, 3e-4}, -1}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    int found = precision_fit_choose(table[i].rung, emulated, 2, 2);
    if (found != table[i].fits) {
      print_error("row %zu: expected %d, got %d\n", i, table[i].fits, found);
      fail();
    }
  }
  assert_int_equal(precision_fit_choose(table[0].rung, emulated, 0, 2), -1);
  assert_int_equal(precision_fit_choose(table[0].rung, emulated, 2, 0), -1);
}

/* --- in a gate --------------------------------------------------------------------------------- */

struct liar {
  struct rung base;
  struct rung *inner;
};
static const char *true_precision; /* of the stand-in that opens next */
static float added;                /* to every answer: an error that is none of precision */

static assay_status liar_run(struct rung *rung, const struct rung_call *call, struct rung_answer *out) {
  TRY(rung_run(((struct liar *)rung)->inner, call, out));
  const assay_tensor *action = &out->outputs[0].tensor;
  for (size_t i = 0; i < action->bytes / sizeof(float); i++) {
    ((float *)action->data)[i] += added;
  }
  return status_ok();
}

static void liar_describe(struct rung *rung, struct rung_actual *out) {
  (void)rung;
  *out = (struct rung_actual){.engine = "liar", .precision = "fp32", .threads = 1};
}

static void liar_close(struct rung *rung) {
  rung_close(((struct liar *)rung)->inner);
  memory_free(rung);
}

static assay_status liar_open(const struct rung_request *request, struct rung **out) {
  struct liar *self = memory_alloc(1, sizeof *self);
  struct rung_request inner = {
      .name = "inner", .engine = "assay", .precision = true_precision, .model_path = request->model_path};
  assert_non_null(self);
  self->base.kind = request->kind;
  ASSERT_OK(rung_open(&inner, &self->inner));
  *out = &self->base;
  return status_ok();
}

static const struct rung_kind liar = {
    .engine = "liar", .open = liar_open, .run = liar_run, .describe = liar_describe, .close = liar_close};

static struct gate_result *judge(const char *precision, float offset) {
  static const struct gate_noise noise = {.cases = 1};
  struct gate_result *result;
  ASSERT_OK(gate_result_new(&result));
  ASSERT_OK(contract_read(ASSAY_SOURCE_DIR "/examples/block_pick/contract.yaml", &result->contract));
  ASSERT_OK(corpus_open(ASSAY_SOURCE_DIR "/examples/block_pick/golden", &result->corpus));
  struct gate_rung *rung = arena_alloc(&result->arena, 1, sizeof *rung);
  assert_non_null(rung);
  rung->required = true;
  rung->request = (struct rung_request){.name = "liar",
                                        .engine = "liar",
                                        .kind = &liar,
                                        .model_path = ASSAY_SOURCE_DIR "/examples/block_pick/policy.onnx"};
  true_precision = precision;
  added = offset;
  struct gate_work work = {
      .contract = result->contract,
      .cases = {.corpus = result->corpus, .n = result->corpus->n_cases, .entries = result->corpus->cases},
      .rungs = rung,
      .n_rungs = 1,
      .reference_rung = -1,
      .reference = "recorded",
      .noise = &noise,
      .model_path = rung->request.model_path,
      .threads = 1};
  ASSERT_OK(gate_measure(&work, result));
  return result;
}

static int32_t count(const struct gate_result *result, assay_code code) {
  int32_t n = 0;
  for (int32_t i = 0; i < result->rungs[0].reasons.count; i++) {
    n += result->rungs[0].reasons.items[i].code == code;
  }
  return n;
}

static void expect(const char *precision, float offset, assay_code code) {
  static const assay_code all[] = {ASSAY_RUNG_IS_TF32, ASSAY_RUNG_IS_BF16, ASSAY_RUNG_IS_FP16};
  struct gate_result *result = judge(precision, offset);
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    int32_t found = count(result, all[i]), expected = all[i] == code;
    if (found != expected) {
      print_error("%s%+g: expected %d of %s, got %d\n", precision, (double)offset, (int)expected,
                  assay_code_name(all[i]), (int)found);
      fail();
    }
  }
  assert_int_equal(result->rungs[0].verdict, code != ASSAY_OK ? VERDICT_BLOCKED
                                             : offset != 0    ? VERDICT_REJECT
                                                              : VERDICT_PASS);
  gate_result_free(result);
}

static void a_narrower_precision_is_named(void **state) {
  (void)state;
  expect("tf32", 0, ASSAY_RUNG_IS_TF32);
  expect("bf16", 0, ASSAY_RUNG_IS_BF16);
  expect("fp16", 0, ASSAY_RUNG_IS_FP16);
}

static void fp32_is_fp32_and_another_error_is_left_to_the_tolerances(void **state) {
  (void)state;
  expect("fp32", 0, ASSAY_OK);
  expect("fp32", 0.5F, ASSAY_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_near_in_every_component_fits),
      cmocka_unit_test(a_narrower_precision_is_named),
      cmocka_unit_test(fp32_is_fp32_and_another_error_is_left_to_the_tolerances),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
