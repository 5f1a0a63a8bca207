/* The guard's answers: fault 36 with its own numbers, each refusal with its own code and counter, before the first
 * action is sent; NaN refused whole, never clamped; and how near an answer is to another one. */
#include <math.h>
#include <string.h>

#include "contract/checks.h"
#include "support.h"

static struct contract *contract;
static double sent[1];
static struct guard_counters counters;
static struct guard_action action;

static int setup(void **state) {
  (void)state;
  static const char text[] =
      "assay: 1\npolicy: p\nmodel: m.onnx\ninputs: [{name: x, dtype: float32, shape: [1]}]\n"
      "outputs: [{name: y, dtype: float32, shape: [1, 5, 1], axes: [batch, horizon, component], max_age_ms: 40,\n"
      "  components: [{name: arm, unit: rad, limits: {min: -3.14, max: 3.14, rate: 25}}]}]\n"
      "timing: {period_ms: 20}\n" /* 25 rad/s are 0.5 rad a step */
      "external: {bumper: {max_age_ms: 20}}\n";
  ASSERT_OK(contract_parse(text, sizeof text - 1, "c.yaml", ".", &contract));
  memset(&counters, 0, sizeof counters);
  action = (struct guard_action){.output = &contract->outputs[0], .last = sent};
  return 0;
}
static int teardown(void **state) {
  (void)state;
  contract_free(contract);
  return 0;
}

static assay_tensor chunk_of(float *values, int64_t n) {
  return (assay_tensor){
      .dtype = ASSAY_FLOAT32, .rank = 3, .dims = {1, n, 1}, .data = values, .bytes = (size_t)n * sizeof *values};
}

static assay_status ask(const assay_tensor *raw, double age_ms, enum monitor_answer bumper) {
  const struct monitor_reading reading = {"bumper", bumper, 5};
  action.raw = raw;
  struct guard_question question = {.asks_monitors = true,
                                    .monitors = &reading,
                                    .n_monitors = 1,
                                    .age_ms = age_ms,
                                    .actions = &action,
                                    .n_actions = 1};
  assay_status answer = contract_guard(contract, &question);
  guard_count(&counters, answer.code);
  return answer;
}

static int64_t counted(assay_code answer) {
  for (int i = 0; i < GUARD_ANSWER_COUNT; i++) {
    if (guard_answers[i] == answer) {
      return counters.of[i];
    }
  }
  return -1;
}

/* Nothing of a chunk is sent when one of its steps may not be: the memory of what was sent does not move. */
static void each_refusal_has_its_code_and_counter(void **state) {
  (void)state;
  float good[] = {0, .1F, .2F, .25F, .3F}, high[] = {0, .1F, .2F, 5.0F, .3F}, fast[] = {0.3F, .1F, .2F, .75F, .3F},
        nan[] = {0, .1F, NAN, 5.0F, .3F};
  assay_tensor whole = chunk_of(good, 5), outside = chunk_of(high, 5), leaping = chunk_of(fast, 5),
               holed = chunk_of(nan, 5), empty = chunk_of(good, 0), four = chunk_of(good, 4);
  ASSERT_OK(ask(&whole, 40, MONITOR_CLEAR));
  assert_true(action.has_last && sent[0] == (double)0.3F);
  ASSERT_FAILS(ask(&outside, 0, MONITOR_CLEAR), ASSAY_ACTION_LIMIT,
               "'arm' at step 3 is 5 rad, outside the limits [-3.14, 3.14]; it also moves from 0.2");
  ASSERT_FAILS(ask(&leaping, 0, MONITOR_CLEAR), ASSAY_ACTION_RATE, "step 3 moves from 0.2");
  ASSERT_FAILS(ask(&holed, 0, MONITOR_CLEAR), ASSAY_ACTION_NONFINITE, "'arm' at step 2 is NaN");
  ASSERT_FAILS(ask(&empty, 0, MONITOR_CLEAR), ASSAY_ACTION_SHAPE, "[1,0,1]");
  ASSERT_FAILS(ask(&four, 0, MONITOR_CLEAR), ASSAY_ACTION_SHAPE, "[1,4,1], but the contract says float32[1,5,1]");
  ASSERT_FAILS(ask(NULL, 0, MONITOR_CLEAR), ASSAY_ACTION_SHAPE, "not given");
  ASSERT_FAILS(ask(&whole, 40.5, MONITOR_CLEAR), ASSAY_ACTION_STALE, "40.5 ms old since its observation");
  ASSERT_FAILS(ask(&whole, 0, MONITOR_TRIPPED), ASSAY_MONITOR_TRIPPED, "bumper");
  ASSERT_FAILS(ask(&whole, 0, MONITOR_SILENT), ASSAY_MONITOR_MISSING, "bumper");
  assert_true(sent[0] == (double)0.3F); /* the last safe value stands */
  const struct {
    assay_code answer;
    int64_t n;
  } expected[] = {
      {ASSAY_OK, 1},           {ASSAY_ACTION_LIMIT, 1}, {ASSAY_ACTION_RATE, 1},     {ASSAY_ACTION_NONFINITE, 1},
      {ASSAY_ACTION_SHAPE, 3}, {ASSAY_ACTION_STALE, 1}, {ASSAY_MONITOR_TRIPPED, 1}, {ASSAY_MONITOR_MISSING, 1},
      {ASSAY_MONITOR_STALE, 0}};
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    if (counted(expected[i].answer) != expected[i].n) {
      fail_msg("%s: expected %lld, counted %lld", guard_answer_name(expected[i].answer), (long long)expected[i].n,
               (long long)counted(expected[i].answer));
    }
  }
}

/* Between chunks, and against the last one that was really sent. */
static void rates_hold_across_chunks(void **state) {
  (void)state;
  float first[] = {0, .4F, .8F, 1.2F, 1.6F}, next[] = {1.8F, 1.8F, 1.8F, 1.8F, 1.8F}, back[] = {0, 0, 0, 0, 0};
  assay_tensor one = chunk_of(first, 5), two = chunk_of(next, 5), three = chunk_of(back, 5);
  ASSERT_OK(ask(&one, 0, MONITOR_CLEAR));
  ASSERT_FAILS(ask(&three, 0, MONITOR_CLEAR), ASSAY_ACTION_RATE, "step 0 moves from 1.6");
  ASSERT_OK(ask(&two, 0, MONITOR_CLEAR)); /* the refused chunk was never sent */
  action.has_last = false;                /* a new episode */
  ASSERT_OK(ask(&three, 0, MONITOR_CLEAR));
}

/* From just below π to just above -π is a small step of an angle, and a leap of anything else. */
static void angles_turn_the_short_way(void **state) {
  (void)state;
  struct contract_component component = contract->outputs[0].components[0];
  struct contract_output output = contract->outputs[0];
  output.components = &component;
  component.limit_min = component.limit_max = (double)NAN;
  float around[] = {3.0F, 3.1F, -3.1F, -3.0F, -2.9F};
  assay_tensor chunk = chunk_of(around, 5);
  const struct action_context fresh = {0};
  ASSERT_FAILS(contract_check_action(contract, &output, &chunk, &fresh), ASSAY_ACTION_RATE, "step 2 moves from 3.0");
  component.compare = COMPARE_ANGLE;
  ASSERT_OK(contract_check_action(contract, &output, &chunk, &fresh));
  around[2] = -2.5F;
  ASSERT_FAILS(contract_check_action(contract, &output, &chunk, &fresh), ASSAY_ACTION_RATE, "step 2 moves from 3.0");
}

/* What the guard answers names: all of them, both ways. */
static void answers_have_names(void **state) {
  (void)state;
  for (int i = 0; i < GUARD_ANSWER_COUNT; i++) {
    assay_code found = ASSAY_CODE_COUNT;
    assert_true(guard_answer_find(guard_answer_name(guard_answers[i]), &found));
    assert_int_equal(found, guard_answers[i]);
  }
  assay_code found;
  assert_string_equal(guard_answer_name(ASSAY_OK), "accept");
  assert_false(guard_answer_find("OK", &found));
  assert_false(guard_answer_find("INPUT_NAN", &found));
}

/* A decoding that gives NaN is no number to send, whatever the model said. */
static void decoded_values_must_be_finite(void **state) {
  (void)state;
  struct decode_step step = {.kind = DECODE_SCALE, .a = (double)INFINITY};
  struct contract_component component = contract->outputs[0].components[0];
  struct contract_output output = contract->outputs[0];
  component.n_decode = 1;
  component.decode = &step;
  output.components = &component;
  float zeros[5] = {0};
  assay_tensor chunk = chunk_of(zeros, 5);
  const struct action_context fresh = {0};
  ASSERT_FAILS(contract_check_action(contract, &output, &chunk, &fresh), ASSAY_ACTION_NONFINITE,
               "'arm' at step 0 decodes to NaN");
}

static struct action_margin margin_of(float a, float b, float c, assay_code answer) {
  float values[] = {a, b, c, c, c};
  assay_tensor chunk = chunk_of(values, 5);
  const struct action_context fresh = {0};
  struct action_margin margin;
  assay_status got = contract_check_action(contract, &contract->outputs[0], &chunk, &fresh);
  assert_int_equal(got.code, answer);
  assay_status_clear(&got);
  contract_action_margins(contract, &contract->outputs[0], &chunk, &fresh, answer, &margin);
  return margin;
}

#define NEAR(value, expected) assert_true(fabs((value) - (expected)) < 1e-6)
static void margins_say_how_near_another_answer_is(void **state) {
  (void)state;
  struct action_margin margin = margin_of(3.0F, 3.0F, 3.1F, ASSAY_OK);
  NEAR(margin.inside, 0.04); /* to the limit */
  assert_true(margin.outside == 0);
  margin = margin_of(0, 0.4F, 0.4F, ASSAY_OK);
  NEAR(margin.inside, 0.05); /* half of what the rate leaves, since two values move */
  margin = margin_of(3.0F, 3.2F, 3.3F, ASSAY_ACTION_LIMIT);
  NEAR(margin.outside, 0.16); /* the farthest must come back too */
  margin = margin_of(0, 0.7F, 0.7F, ASSAY_ACTION_RATE);
  NEAR(margin.outside, 0.1);
  NEAR(margin.inside, 2.44);
}

/* What decoding clips to can never lie outside limits that are no narrower. */
static void a_limit_out_of_reach_is_infinitely_far(void **state) {
  (void)state;
  struct decode_step steps[] = {{.kind = DECODE_CLIP, .a = -10, .b = 10}, {.kind = DECODE_SCALE, .a = -0.314}};
  struct contract_component component = contract->outputs[0].components[0];
  struct contract_output output = contract->outputs[0];
  component.n_decode = 2;
  component.decode = steps;
  component.limit_rate = (double)NAN;
  output.components = &component;
  float values[] = {12, -12, 12, 0, 0};
  assay_tensor chunk = chunk_of(values, 5);
  const struct action_context fresh = {0};
  struct action_margin margin;
  ASSERT_OK(contract_check_action(contract, &output, &chunk, &fresh));
  contract_action_margins(contract, &output, &chunk, &fresh, ASSAY_OK, &margin);
  assert_true(isinf(margin.inside));
  component.limit_max = 3;
  contract_action_margins(contract, &output, &chunk, &fresh, ASSAY_ACTION_LIMIT, &margin);
  NEAR(margin.outside, 0.14);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(each_refusal_has_its_code_and_counter),
      TEST(rates_hold_across_chunks),
      TEST(angles_turn_the_short_way),
      TEST(answers_have_names),
      TEST(decoded_values_must_be_finite),
      TEST(margins_say_how_near_another_answer_is),
      TEST(a_limit_out_of_reach_is_infinitely_far),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
