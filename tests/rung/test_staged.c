/* A policy of several files as one rung: what one stage gives is fed to the next by name, loops turn, and each of
 * it also in a child process. */
#include <string.h>

#include "contract/stages.h"
#include "corpus_builder.h"
#include "model_builder.h"
#include "rung/rung.h"
#include "support.h"

/* y = x * a + b, element by element, of n elements. */
static void linear(const char *path, const char *in, const char *out, const char *n, float a, float b) {
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, in, ASSAY_FLOAT32, n);
  onnx_f32(graph, "a", "", &a);
  onnx_f32(graph, "b", "", &b);
  char joined[64];
  snprintf(joined, sizeof joined, "%s,a", in);
  onnx_node_of(graph, "", "Mul", "scale", joined, "scaled");
  onnx_node_of(graph, "", "Add", "shift", "scaled,b", out);
  onnx_output(graph, out, ASSAY_FLOAT32, n);
  onnx_write(model, path);
  proto_free(model);
}

/* sum = p - q: the order of the two matters. */
static void difference(const char *path, const char *n) {
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "p", ASSAY_FLOAT32, n);
  onnx_input(graph, "q", ASSAY_FLOAT32, n);
  onnx_node(graph, "Sub", "p,q", "out");
  onnx_output(graph, "out", ASSAY_FLOAT32, n);
  onnx_write(model, path);
  proto_free(model);
}

/* next = x + t, and seen = t. */
static void turning(const char *path) {
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "x", ASSAY_FLOAT32, "2");
  onnx_input(graph, "t", ASSAY_FLOAT32, "1");
  onnx_node(graph, "Add", "x,t", "next");
  onnx_node(graph, "Identity", "t", "seen");
  onnx_output(graph, "next", ASSAY_FLOAT32, "2");
  onnx_output(graph, "seen", ASSAY_FLOAT32, "1");
  onnx_write(model, path);
  proto_free(model);
}

static char *folder;
static struct contract *contract;
static struct arena arena;
static struct bound_stages *bound;
static const char *const *models;
static struct rung *rung;

static int setup(void **state) {
  (void)state;
  folder = temp_folder();
  arena = (struct arena){0};
  contract = NULL;
  rung = NULL;
  return 0;
}
static int teardown(void **state) {
  (void)state;
  rung_close(rung);
  contract_free(contract);
  arena_free(&arena);
  temp_free(folder);
  return 0;
}

static void bind(const char *text) {
  temp_write(folder, "contract.yaml", text);
  ASSERT_OK(contract_read(temp_path(folder, "contract.yaml"), &contract));
  ASSERT_OK(stages_paths(contract, &arena, &models));
  ASSERT_OK(stages_bind_files(contract, models, &arena, &bound));
}

static struct rung_request request_of(void) {
  return (struct rung_request){.name = "r", .engine = "assay", .threads = 1, .stages = bound, .stage_models = models};
}

static const float *value_of(const struct rung_tensor *tensors, int32_t n, const char *name) {
  for (int32_t i = 0; i < n; i++) {
    if (strcmp(tensors[i].name, name) == 0) {
      return tensors[i].tensor.data;
    }
  }
  fail_msg("nothing is named '%s'", name);
  return NULL;
}

static const char chain[] =
    "assay: 1\npolicy: p\ninputs: [{name: x, dtype: float32, shape: [2]}]\noutputs:\n"
    "  - {name: action, dtype: float32, shape: [2], components: [{name: a, count: 2, unit: rad}]}\n"
    "stages:\n"
    "  - {name: encoder, model: e.onnx, outputs: {y: latent}}\n" /* x has its name on both sides */
    "  - {name: actor, model: a.onnx, inputs: {p: latent, q: x}, outputs: {out: action}}\n";

static void make_chain(void) {
  linear(temp_path(folder, "e.onnx"), "x", "y", "2", 10, 1);
  difference(temp_path(folder, "a.onnx"), "2");
  bind(chain);
}

static struct rung_tensor fed(const char *name, float *values, int64_t n) {
  return (struct rung_tensor){name, {ASSAY_FLOAT32, 1, {n}, values, (size_t)n * sizeof *values}};
}

static void one_stage_feeds_the_next(void **state) {
  (void)state;
  make_chain();
  struct rung_request request = request_of();
  float x[2] = {1, 2};
  struct rung_tensor input = fed("x", x, 2);
  struct rung_call call = {.case_id = "c", .inputs = &input, .n_inputs = 1};
  struct rung_answer answer;
  for (int isolated = 0; isolated < 2; isolated++) {
    ASSERT_OK(isolated ? rung_open_isolated(&request, &rung) : rung_open(&request, &rung));
    ASSERT_OK(rung_run(rung, &call, &answer));
    assert_int_equal(answer.n_outputs, 1);
    const float *action = value_of(answer.outputs, 1, "action");
    assert_true(action[0] == 10 && action[1] == 19); /* (10 x + 1) - x */
    assert_int_equal(answer.n_inner, 2);
    assert_string_equal(answer.inner[0].name, "latent");
    assert_true(value_of(answer.inner, 2, "latent")[1] == 21);
    ASSERT_OK(rung_renew(rung));
    ASSERT_OK(rung_run(rung, &call, &answer));
    assert_true(value_of(answer.outputs, 1, "action")[0] == 10);
    rung_close(rung);
    rung = NULL;
  }
}

static void a_given_value_takes_the_place_of_the_stages_own(void **state) {
  (void)state;
  make_chain();
  struct rung_request request = request_of();
  request.time_limit_s = 20; /* through a child process */
  float x[2] = {1, 2}, latent[2] = {100, 200};
  struct rung_tensor input = fed("x", x, 2), given = fed("latent", latent, 2);
  struct rung_call call = {.case_id = "c", .inputs = &input, .n_inputs = 1, .given = &given, .n_given = 1};
  struct rung_answer answer;
  ASSERT_OK(rung_open(&request, &rung));
  ASSERT_OK(rung_run(rung, &call, &answer));
  assert_true(value_of(answer.outputs, answer.n_outputs, "action")[0] == 99);
  assert_true(value_of(answer.inner, answer.n_inner, "latent")[0] == 11); /* its own answer is still told */
}

static char tapped[256];
static void note_tap(void *user, const char *value, const assay_tensor *tensor) {
  (void)user;
  size_t length = strlen(tapped);
  snprintf(tapped + length, sizeof tapped - length, "%s=%g ", value, tensor_get(tensor, 0));
}

static void taps_carry_the_name_of_their_stage(void **state) {
  (void)state;
  make_chain();
  struct rung_request request = request_of();
  float x[2] = {1, 2};
  struct rung_tensor input = fed("x", x, 2);
  const char *taps[] = {"encoder/scaled"};
  struct rung_call call = {.case_id = "c", .inputs = &input, .n_inputs = 1, .taps = taps, .n_taps = 1, .tap = note_tap};
  struct rung_answer answer;
  for (int isolated = 0; isolated < 2; isolated++) {
    tapped[0] = '\0';
    ASSERT_OK(isolated ? rung_open_isolated(&request, &rung) : rung_open(&request, &rung));
    ASSERT_OK(rung_run(rung, &call, &answer));
    assert_string_equal(tapped, "encoder/scaled=10 ");
    rung_close(rung);
    rung = NULL;
  }
  ASSERT_OK(rung_open(&request, &rung));
  taps[0] = "scaled";
  ASSERT_FAILS(rung_run(rung, &call, &answer), ASSAY_RUNG_SETTING, "write STAGE/VALUE, such as encoder/scaled");
}

static void a_loop_feeds_its_output_back_with_the_time(void **state) {
  (void)state;
  turning(temp_path(folder, "l.onnx"));
  bind(
      "assay: 1\npolicy: p\ninputs: [{name: noise, dtype: float32, shape: [2]}]\noutputs:\n"
      "  - {name: x, dtype: float32, shape: [2], components: [{name: a, count: 2, unit: rad}]}\n"
      "  - {name: seen, dtype: float32, shape: [1], components: [{name: t, unit: s}]}\n"
      "stages:\n"
      "  - {name: loop, model: l.onnx, inputs: {x: noise}, outputs: {next: x}, repeat: 3, carry: {x: next}, "
      "time: {input: t, from: 1, step: 0.5}}\n");
  struct rung_request request = request_of();
  float noise[2] = {1, 2};
  struct rung_tensor input = fed("noise", noise, 2);
  struct rung_call call = {.case_id = "c", .inputs = &input, .n_inputs = 1};
  struct rung_answer answer;
  ASSERT_OK(rung_open(&request, &rung));
  ASSERT_OK(rung_run(rung, &call, &answer));
  assert_true(value_of(answer.outputs, 2, "x")[0] == 1 + 1 + 1.5F + 2);
  assert_true(value_of(answer.outputs, 2, "seen")[0] == 2); /* of the last turn */
  assert_int_equal(answer.n_inner, 4);
  assert_string_equal(answer.inner[0].name, "x@1");
  assert_true(value_of(answer.inner, 4, "x@1")[1] == 3);
  assert_true(value_of(answer.inner, 4, "x@2")[1] == 4.5F);
  float other[2] = {0, 0};
  struct rung_tensor given = fed("x@2", other, 2);
  call.given = &given;
  call.n_given = 1;
  ASSERT_OK(rung_run(rung, &call, &answer));
  assert_true(value_of(answer.outputs, 2, "x")[0] == 2); /* the last turn alone */
}

static const char cameras[] =
    "assay: 1\npolicy: p\ninputs:\n  - {name: front, dtype: float32, shape: [2]}\n"
    "  - {name: wrist, dtype: float32, shape: [2]}\noutputs:\n"
    "  - {name: action, dtype: float32, shape: %s, components: [{name: a, count: %s, unit: rad}]}\nstages:\n"
    "  - {name: vision, model: v.onnx, for_each: [front, wrist], outputs: {y: f}%s}\n"
    "  - {name: actor, model: a.onnx, inputs: {%s}, outputs: {%s: action}}\n";

static struct rung_answer see(const char *shape, const char *count, const char *join, const char *inputs,
                              const char *output) {
  static float front[2] = {1, 2}, wrist[2] = {5, 6};
  static struct rung_tensor inputs_fed[2];
  char text[1024];
  linear(temp_path(folder, "v.onnx"), "image", "y", "2", 2, 0);
  snprintf(text, sizeof text, cameras, shape, count, join, inputs, output);
  bind(text);
  struct rung_request request = request_of();
  inputs_fed[0] = fed("wrist", wrist, 2);
  inputs_fed[1] = fed("front", front, 2);
  struct rung_call call = {.case_id = "c", .inputs = inputs_fed, .n_inputs = 2};
  struct rung_answer answer;
  ASSERT_OK(rung_open(&request, &rung));
  ASSERT_OK(rung_run(rung, &call, &answer));
  return answer;
}

static void for_each_gives_one_value_an_item(void **state) {
  (void)state;
  difference(temp_path(folder, "a.onnx"), "2");
  struct rung_answer answer = see("[2]", "2", "", "p: f_wrist, q: f_front", "out");
  const float *action = value_of(answer.outputs, answer.n_outputs, "action");
  assert_true(action[0] == 8 && action[1] == 8);
}

static void for_each_joins_in_its_order(void **state) {
  (void)state;
  linear(temp_path(folder, "a.onnx"), "z", "out", "4", 1, 0);
  struct rung_answer answer = see("[4]", "4", ", join: {concat: 0}", "z: f", "out");
  const float *action = value_of(answer.outputs, answer.n_outputs, "action"), expected[4] = {2, 4, 10, 12};
  assert_memory_equal(action, expected, sizeof expected);
}

static void for_each_stacks_on_a_new_axis(void **state) {
  (void)state;
  linear(temp_path(folder, "a.onnx"), "z", "out", "2,2", 1, 0);
  struct rung_answer answer = see("[2, 2]", "2", ", join: {stack: 1}", "z: f", "out");
  const float *action = value_of(answer.outputs, answer.n_outputs, "action"), expected[4] = {2, 10, 4, 12};
  assert_memory_equal(action, expected, sizeof expected);
}

static void stages_that_disagree_are_told_apart(void **state) {
  (void)state;
  make_chain();
  struct rung_request request = request_of();
  struct rung_actual actual;
  request.precision = "fp16";
  const char *keep[] = {"encoder/scale"};
  request.keep = keep;
  request.n_keep = 1;
  ASSERT_OK(rung_open(&request, &rung));
  rung_describe(rung, &actual);
  assert_string_equal(actual.engine, "assay");
  assert_string_equal(actual.precision, "fp16");
  assert_true(actual.emulated);
  assert_int_equal(actual.threads, 1);
  ASSERT_OK(rung_check_actual(&request, &actual));
  bool found = false;
  for (int32_t i = 0; i < actual.n_facts; i++) {
    found = found || strcmp(actual.facts[i].key, "actor/nodes") == 0;
  }
  assert_true(found);
  rung_close(rung);
  rung = NULL;
  keep[0] = "scale";
  ASSERT_FAILS(rung_open(&request, &rung), ASSAY_RUNG_SETTING, "write STAGE/NODE, such as encoder/scale");
}

/* A runtime of the test's own that says of each file another precision. */
static void liar_describe(struct rung *self, struct rung_actual *out);
struct liar {
  struct rung base;
  bool second;
};
static struct liar liars[2];
static int n_liars;
static assay_status liar_open(const struct rung_request *request, struct rung **out) {
  liars[n_liars] = (struct liar){{request->kind}, n_liars == 1};
  *out = &liars[n_liars++].base;
  return status_ok();
}
static void liar_close(struct rung *self) { (void)self; }
static void liar_describe(struct rung *self, struct rung_actual *out) {
  bool second = ((struct liar *)self)->second;
  *out = (struct rung_actual){.engine = "liar", .precision = second ? "fp16" : "fp32", .threads = second ? 4 : 1};
}
static const struct rung_kind liar = {
    .engine = "liar", .open = liar_open, .describe = liar_describe, .close = liar_close};

static void one_stage_in_another_precision_is_invalid(void **state) {
  (void)state;
  make_chain();
  struct rung_request request = request_of();
  struct rung_actual actual;
  n_liars = 0;
  request.kind = &liar;
  request.engine = "liar";
  ASSERT_OK(rung_open(&request, &rung));
  rung_describe(rung, &actual);
  assert_string_equal(actual.precision, "encoder: fp32, actor: fp16");
  assert_int_equal(actual.threads, 4);
  ASSERT_FAILS(rung_check_actual(&request, &actual), ASSAY_RUNG_INVALID,
               "asked for precision fp32, but encoder: fp32, actor: fp16 ran");
}

/* An observation with a term that the encoder answers in the same step. */
static void an_earlier_answer_is_put_into_the_observation(void **state) {
  (void)state;
  linear(temp_path(folder, "e.onnx"), "x", "y", "2", 10, 1);
  linear(temp_path(folder, "a.onnx"), "o", "out", "3", 1, 0);
  bind(
      "assay: 1\npolicy: p\ninputs:\n  - {name: x, dtype: float32, shape: [2]}\n"
      "  - name: obs\n    dtype: float32\n    shape: [3]\n    terms:\n"
      "      - {name: speed, elements: [v], unit: m/s}\n"
      "      - {name: latent, from: {output: latent, lag: 0}, scale: 2, clip: [-30, 30]}\n"
      "outputs:\n  - {name: latent, dtype: float32, shape: [2], components: [{name: z, count: 2, unit: '1'}]}\n"
      "  - {name: action, dtype: float32, shape: [3], components: [{name: a, count: 3, unit: rad}]}\nstages:\n"
      "  - {name: encoder, model: e.onnx, outputs: {y: latent}}\n"
      "  - {name: actor, model: a.onnx, inputs: {o: obs}, outputs: {out: action}}\n");
  assert_true(contract->outputs[0].is_inner);
  assert_true(bound->inner[0]);
  float x[2] = {1, 2}, obs[3] = {7, 0, 0}, latent[2] = {-3, 4};
  struct rung_tensor inputs[2] = {fed("obs", obs, 3), fed("x", x, 2)}, given = fed("latent", latent, 2);
  struct rung_call call = {.case_id = "c", .inputs = inputs, .n_inputs = 2};
  struct rung_answer answer;
  struct rung_request request = request_of();
  ASSERT_OK(rung_open(&request, &rung));
  ASSERT_OK(rung_run(rung, &call, &answer));
  const float *action = value_of(answer.outputs, answer.n_outputs, "action");
  assert_true(action[0] == 7 && action[1] == 22 && action[2] == 30); /* 2 x 21, clipped */
  assert_true(obs[1] == 0);                                          /* what was fed stays as it is */
  call.given = &given;
  call.n_given = 1;
  ASSERT_OK(rung_run(rung, &call, &answer));
  action = value_of(answer.outputs, answer.n_outputs, "action");
  assert_true(action[1] == -6 && action[2] == 8);
  rung_close(rung);
  request.precision = "fp64"; /* what is between the stages stays wide */
  ASSERT_OK(rung_open(&request, &rung));
  call.n_given = 0;
  ASSERT_OK(rung_run(rung, &call, &answer));
  assert_int_equal(answer.outputs[answer.n_outputs - 1].tensor.dtype, ASSAY_FLOAT64);
  assert_true(tensor_get(&answer.outputs[answer.n_outputs - 1].tensor, 1) == 22);
}

static bool always(const struct rung_request *request) { return request->stages != NULL; }

static void a_runtime_that_answers_for_the_whole_is_opened_once(void **state) {
  (void)state;
  make_chain();
  struct rung_request request = request_of();
  struct rung_kind whole = liar;
  n_liars = 0;
  whole.is_whole = always;
  request.kind = &whole;
  ASSERT_OK(rung_open(&request, &rung));
  assert_int_equal(n_liars, 1);
  assert_ptr_equal(rung, &liars[0].base);
  rung = NULL;
}

static void the_failing_stage_is_named(void **state) {
  (void)state;
  make_chain();
  struct rung_request request = request_of();
  const char *other[2] = {models[0], temp_path(folder, "missing.onnx")};
  request.stage_models = other;
  ASSERT_FAILS(rung_open(&request, &rung), ASSAY_FILE_MISSING, "stage 'actor'");
  linear(temp_path(folder, "renamed.onnx"), "x", "other", "2", 1, 0);
  other[0] = temp_path(folder, "renamed.onnx");
  other[1] = models[1];
  ASSERT_OK(rung_open(&request, &rung));
  float x[2] = {1, 2};
  struct rung_tensor input = fed("x", x, 2);
  struct rung_call call = {.case_id = "c", .inputs = &input, .n_inputs = 1};
  struct rung_answer answer;
  ASSERT_FAILS(rung_run(rung, &call, &answer), ASSAY_OUTPUT_MISSING,
               "stage 'encoder' gives no 'latent', which stage 'actor' takes");
  input.name = "y";
  ASSERT_FAILS(rung_run(rung, &call, &answer), ASSAY_INPUT_EXTRA, "no input of the contract");
}

int main(void) {
#define STAGED(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
  const struct CMUnitTest tests[] = {
      STAGED(one_stage_feeds_the_next),
      STAGED(a_given_value_takes_the_place_of_the_stages_own),
      STAGED(taps_carry_the_name_of_their_stage),
      STAGED(a_loop_feeds_its_output_back_with_the_time),
      STAGED(for_each_gives_one_value_an_item),
      STAGED(for_each_joins_in_its_order),
      STAGED(for_each_stacks_on_a_new_axis),
      STAGED(stages_that_disagree_are_told_apart),
      STAGED(one_stage_in_another_precision_is_invalid),
      STAGED(an_earlier_answer_is_put_into_the_observation),
      STAGED(a_runtime_that_answers_for_the_whole_is_opened_once),
      STAGED(the_failing_stage_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
