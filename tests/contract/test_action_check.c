/* What may be sent to a robot: chunks with a bad step are refused whole, before their first step. */
#include <math.h>
#include <string.h>

#include "contract/checks.h"
#include "support.h"

static struct contract *contract;
static const struct action_context fresh = {0};

static int setup(void **state) {
  (void)state;
  static const char text[] =
      "assay: 1\npolicy: p\nmodel: m.onnx\ninputs: [{name: x, dtype: float32, shape: [1]}]\n"
      "outputs: [{name: y, dtype: float32, shape: [1, 5, 1], max_age_ms: 40, axes: [batch, horizon, component],\n"
      "  components: [{name: arm, unit: rad, decode: {scale: 2}, limits: {min: -3.14, max: 3.14, rate: 25}}]}]\n"
      "timing: {period_ms: 20}\n"; /* 25 rad/s are 0.5 rad a step */
  ASSERT_OK(contract_parse(text, sizeof text - 1, "c.yaml", ".", &contract));
  return 0;
}
static int teardown(void **state) {
  (void)state;
  contract_free(contract);
  return 0;
}

/* The chunk's raw values are half of the physical ones. */
static assay_status check(float a, float b, float c, float d, float e, const double *last) {
  float raw[] = {a / 2, b / 2, c / 2, d / 2, e / 2};
  assay_tensor tensor = {.dtype = ASSAY_FLOAT32, .rank = 3, .dims = {1, 5, 1}, .data = raw, .bytes = sizeof raw};
  const struct action_context context = {.last = last};
  return contract_check_action(contract, &contract->outputs[0], &tensor, &context);
}

static void refuses_nan_and_emptiness_whole(void **state) {
  (void)state;
  ASSERT_FAILS(check(0, 0.1F, NAN, 0.2F, 0.3F, NULL), ASSAY_ACTION_NONFINITE, "'arm' at step 2 is NaN");
  ASSERT_FAILS(check(9, 9, 9, 9, NAN, NULL), ASSAY_ACTION_NONFINITE, "step 4");
  ASSERT_FAILS(check(0, 0.1F, -INFINITY, 0.2F, 0.3F, NULL), ASSAY_ACTION_NONFINITE, "step 2 is infinite");
  assay_tensor empty = {.dtype = ASSAY_FLOAT32, .rank = 3, .dims = {1, 0, 1}};
  ASSERT_FAILS(contract_check_action(contract, &contract->outputs[0], &empty, &fresh), ASSAY_ACTION_SHAPE, "[1,0,1]");
  float four[4] = {0};
  assay_tensor part = {.dtype = ASSAY_FLOAT32, .rank = 3, .dims = {1, 4, 1}, .data = four, .bytes = sizeof four};
  ASSERT_FAILS(contract_check_action(contract, &contract->outputs[0], &part, &fresh), ASSAY_ACTION_SHAPE,
               "float32[1,4,1], but the contract says float32[1,5,1]");
  ASSERT_FAILS(contract_check_action(contract, &contract->outputs[0], NULL, &fresh), ASSAY_ACTION_SHAPE, "not given");
}

static void refuses_limits_and_rates(void **state) {
  (void)state;
  ASSERT_OK(check(0, 0.1F, 0.2F, 0.25F, 0.3F, NULL));
  ASSERT_FAILS(check(0, 0.1F, 0.2F, 5.0F, 0.3F, NULL), ASSAY_ACTION_LIMIT,
               "'arm' at step 3 is 5 rad, outside the limits [-3.14, 3.14]; it also moves from 0.2");
  ASSERT_FAILS(check(0, 0.1F, 0.2F, 0.75F, 0.8F, NULL), ASSAY_ACTION_RATE, "step 3 moves from 0.2");
  ASSERT_FAILS(check(3, 2.5F, 2, 1.5F, 0.75F, NULL), ASSAY_ACTION_RATE, "step 4 moves from 1.5 to 0.75 rad");
  double last = 1;
  ASSERT_FAILS(check(0, 0.1F, 0.2F, 0.25F, 0.3F, &last), ASSAY_ACTION_RATE, "step 0 moves from 1 to 0");
  last = -0.5;
  ASSERT_OK(check(0, 0.1F, 0.2F, 0.25F, 0.3F, &last));
  contract->period_ms = 0;
  ASSERT_FAILS(check(0, 0.1F, 0.2F, 0.25F, 0.3F, NULL), ASSAY_ACTION_RATE, "no timing.period_ms");
}

/* Only the steps that are executed can harm. */
static void looks_at_executed_steps(void **state) {
  (void)state;
  struct contract_output output = contract->outputs[0];
  output.execute_steps = 2;
  float raw[] = {0, 0.1F, NAN, 9, -9};
  assay_tensor tensor = {.dtype = ASSAY_FLOAT32, .rank = 3, .dims = {1, 5, 1}, .data = raw, .bytes = sizeof raw};
  ASSERT_OK(contract_check_action(contract, &output, &tensor, &fresh));
  output.execute_steps = 3;
  ASSERT_FAILS(contract_check_action(contract, &output, &tensor, &fresh), ASSAY_ACTION_NONFINITE, "step 2");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(refuses_nan_and_emptiness_whole),
      TEST(refuses_limits_and_rates),
      TEST(looks_at_executed_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
