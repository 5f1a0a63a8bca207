/* Noise in the gate: every stored seed is run and judged as a case of its own, its spread is told, and draws that are
 * too few, the same twice, or of another distribution are never passed over. */
#include <math.h>
#include <string.h>

#include "contract/noise.h"
#include "corpus/run_folder.h"
#include "gate/noise_check.h"
#include "model_builder.h"
#include "policy_builder.h"
#include "support.h"

/* --- the distribution --------------------------------------------------------------------- */

static uint64_t random_state;
static double next_uniform(void) {
  uint64_t z = random_state += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}
static double next_normal(void) {
  double radius = sqrt(-2 * log(next_uniform()));
  return radius * cos(6.283185307179586 * next_uniform());
}

enum { VALUES = 4096 };
static double values[VALUES];
static const struct contract_noise normal = {NOISE_NORMAL, 0, 1, 1}, uniform = {NOISE_UNIFORM, -1, 1, 1};

/* NULL as `part`: nothing is said. */
static void expect_said(const struct contract_noise *noise, size_t n, const char *part) {
  struct arena arena = {0};
  const char *sentence = NULL;
  ASSERT_OK(noise_judge(noise, values, n, &arena, &sentence));
  bool right = part == NULL ? sentence == NULL : sentence != NULL && strstr(sentence, part) != NULL;
  if (!right) {
    print_error("expected \"%s\", got \"%s\"\n", part != NULL ? part : "nothing",
                sentence != NULL ? sentence : "nothing");
  }
  assert_true(right);
  arena_free(&arena);
}

static void fill(double (*draw)(void), double scale, double shift) {
  for (int i = 0; i < VALUES; i++) {
    values[i] = draw() * scale + shift;
  }
}

static void what_is_not_a_draw_is_said(void **state) {
  (void)state;
  expect_said(&normal, 0, NULL);
  values[0] = 0;
  expect_said(&normal, 1, "all 1 values are 0");
  values[0] = 0.3;
  expect_said(&normal, 1, NULL);
  values[0] = NAN;
  expect_said(&normal, 1, "mean");
  memset(values, 0, sizeof values);
  expect_said(&normal, VALUES, "all 4096 values are 0");
  fill(next_normal, 0, 2.5);
  expect_said(&normal, VALUES, "are 2.5");
  fill(next_normal, 1, 0.2);
  expect_said(&normal, VALUES, "the mean of 4096 values");
  fill(next_normal, 0.1, 0);
  expect_said(&normal, VALUES, "the standard deviation");
  fill(next_uniform, 3.4641016, -1.7320508);
  expect_said(&normal, VALUES, "Kolmogorov-Smirnov");
  fill(next_normal, 1, 0);
  expect_said(&normal, VALUES, NULL);
  for (size_t n = 1; n < 40; n++) {
    fill(next_normal, 1, 0);
    expect_said(&normal, n, NULL);
  }
}

static void uniform_draws_stay_in_their_bounds(void **state) {
  (void)state;
  fill(next_uniform, 2, -1);
  expect_said(&uniform, VALUES, NULL);
  values[7] = 1.5;
  expect_said(&uniform, VALUES, "between -0.99");
  fill(next_uniform, 1, -0.5);
  expect_said(&uniform, VALUES, "the standard deviation");
  fill(next_normal, 1, 0);
  expect_said(&uniform, VALUES, "values lie between");
}

/* --- the gate ---------------------------------------------------------------------------------- */

enum { WIDTH = 16 };
static const char contract[] =
    "assay: 1\npolicy: drawn\nmodel: policy.onnx\n"
    "inputs:\n"
    "  - {name: obs, dtype: float32, shape: [1, 16]}\n"
    "  - {name: z, role: noise, distribution: normal, seeds: 3, dtype: float32, shape: [1, 16]}\n"
    "outputs: [{name: action, dtype: float32, shape: [1, 16], components: [{name: joint, count: 16, unit: rad,\n"
    "  tolerance: {max: 0.002}}]}]\n";

/* action = obs + z * gain. */
static void model(const char *folder, float gain) {
  struct proto *proto = onnx_model(8, 17), *graph = onnx_graph(proto);
  onnx_input(graph, "obs", ASSAY_FLOAT32, "1,16");
  onnx_input(graph, "z", ASSAY_FLOAT32, "1,16");
  onnx_f32(graph, "gain", "1", &gain);
  onnx_node(graph, "Mul", "z,gain", "scaled");
  onnx_node(graph, "Add", "obs,scaled", "action");
  onnx_output(graph, "action", ASSAY_FLOAT32, "1,16");
  onnx_write(proto, temp_path(folder, "policy.onnx"));
  proto_free(proto);
}

static char *policy(float gain) {
  char *folder = temp_folder();
  temp_write(folder, "contract.yaml", contract);
  temp_write(folder, "gate.yaml", policy_gate);
  model(folder, gain);
  random_state = 1;
  return folder;
}

/* One seed: noise drawn, answered as a policy with gain 1 does; `steps` along a leading axis where there are any. */
static void seed(struct corpus_builder *builder, int number, int steps, const float *z) {
  float answer[4 * WIDTH];
  char array[64], shape[16];
  snprintf(shape, sizeof shape, steps > 0 ? "%d,1,16" : "1,16", steps);
  for (int i = 0; i < (steps > 0 ? steps : 1) * WIDTH; i++) {
    answer[i] = 0.5F + z[i];
  }
  snprintf(array, sizeof array, "seeds/%d/inputs/z", number);
  build_f32(builder, array, shape, z);
  snprintf(array, sizeof array, "seeds/%d/outputs/action", number);
  build_f32(builder, array, shape, answer);
}

static void draw(float *z, int n) {
  for (int i = 0; i < n; i++) {
    z[i] = (float)next_normal();
  }
}

static const float half[4 * WIDTH] = {0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F,
                                      0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F,
                                      0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F};

/* Cases a, b of n seeds each; the last one has this factor on its noise. */
static void golden(const char *folder, int seeds, float factor) {
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  for (int c = 0; c < 2; c++) {
    build_f32(builder, "inputs/obs", "1,16", half);
    for (int s = 0; s < seeds; s++) {
      float z[WIDTH];
      draw(z, WIDTH);
      for (int i = 0; i < WIDTH && c == 1 && s == seeds - 1; i++) {
        z[i] *= factor;
      }
      seed(builder, s, 0, z);
    }
    build_case(builder, &(struct corpus_case){.id = c == 0 ? "a" : "b"});
  }
  build_done(builder);
}

static void every_seed_is_a_case(void **state) {
  (void)state;
  char *folder = policy(1);
  golden(folder, 3, 1);
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_PASS, 0);
  const struct rung_result *rung = result_rung(result, "fp32");
  assert_int_equal(result->n_cases, 6);
  assert_int_equal(rung->cases_run, 6);
  assert_int_equal(rung->elements, 6 * WIDTH);
  assert_int_equal(rung->n_seed_spreads, WIDTH);
  const struct seed_spread *spread = &rung->seed_spreads[0];
  assert_int_equal(spread->n_cases, 2);
  assert_int_equal(spread->n_draws, 6);
  assert_true(spread->max == 0 && spread->median == 0 && spread->min == 0 && spread->deviation == 0);
  assert_true(spread->reference_deviation > 0.2 && spread->reference_range > spread->reference_deviation);
  gate_result_free(result);
  temp_free(folder);
}

/* The reference's spread by hand: answers 1, 2, 4 to one case; the rung doubles the noise of 1, 2, 4 less 0.5. */
static void the_spread_is_that_of_the_draws(void **state) {
  (void)state;
  static const float draws[3] = {0.5F, 1.5F, 3.5F};
  char *folder = policy(1.001F);
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  build_f32(builder, "inputs/obs", "1,16", half);
  for (int s = 0; s < 3; s++) {
    float z[WIDTH];
    draw(z, WIDTH);
    z[0] = draws[s];
    seed(builder, s, 0, z);
  }
  build_case(builder, &(struct corpus_case){.id = "a"});
  build_done(builder);
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_REJECT, 1);
  const struct rung_result *rung = result_rung(result, "fp32");
  const struct seed_spread *spread = NULL;
  for (int32_t s = 0; s < rung->n_seed_spreads; s++) {
    spread = strcmp(rung->seed_spreads[s].component->name, "joint[0]") == 0 ? &rung->seed_spreads[s] : spread;
  }
  assert_non_null(spread);
  assert_true(fabs(spread->max - 0.0035) < 1e-6);
  assert_true(fabs(spread->median - 0.0015) < 1e-6);
  assert_true(fabs(spread->min - 0.0005) < 1e-6);
  assert_true(fabs(spread->deviation - 0.00152753) < 1e-6);
  assert_string_equal(spread->worst, "a#2");
  assert_true(spread->reference_range == 3.0);
  assert_true(fabs(spread->reference_deviation - 1.527525) < 1e-6);
  assert_string_equal(rung->reasons.items[0].case_id, "a#2");
  gate_result_free(result);
  temp_free(folder);
}

/* A recorded run names draws as the gate does; the last one is off. */
static void a_seed_alone_that_drifts_is_rejected_by_its_name(void **state) {
  (void)state;
  static const char *const names[] = {"a#0", "a#1", "a#2", "b#0", "b#1", "b#2"};
  char *folder = policy(1);
  golden(folder, 3, 1);
  temp_write(folder, "gate.yaml", policy_recorded_gate);
  random_state = 1;
  struct run_writer *writer;
  ASSERT_OK(run_writer_open(temp_path(folder, "candidate"), &writer));
  for (int i = 0; i < 6; i++) {
    float answer[WIDTH];
    draw(answer, WIDTH);
    for (int j = 0; j < WIDTH; j++) {
      answer[j] += 0.5F;
    }
    answer[3] += i == 5 ? 0.25F : 0;
    assay_tensor tensor = test_tensor(ASSAY_FLOAT32, "1,16", answer);
    ASSERT_OK(run_writer_case(writer, names[i], &(struct npz_entry){"outputs/action", &tensor}, 1));
    tensor_free(&tensor);
  }
  ASSERT_OK(run_writer_commit(writer));
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_REJECT, 1);
  const struct rung_result *rung = result_rung(result, "candidate");
  assert_string_equal(rung->reasons.items[0].component, "joint[3]");
  assert_string_equal(rung->reasons.items[0].case_id, "b#2");
  gate_result_free(result);
  temp_free(folder);
}

static void sequences_carry_a_draw_a_step(void **state) {
  (void)state;
  char *folder = policy(1);
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  build_f32(builder, "inputs/obs", "2,1,16", half);
  for (int s = 0; s < 3; s++) {
    float z[2 * WIDTH];
    draw(z, 2 * WIDTH);
    seed(builder, s, 2, z);
  }
  build_case(builder, &(struct corpus_case){.id = "walk", .sequence = true});
  build_done(builder);
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_PASS, 0);
  assert_int_equal(result_rung(result, "fp32")->steps_run, 6);
  gate_result_free(result);
  temp_free(folder);
}

static void expect_unfit(const char *folder, assay_code code, enum verdict verdict, int exit_code, const char *part) {
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, verdict, exit_code);
  assert_true(gate_reasons(result, code) > 0);
  bool said = false;
  for (int32_t i = 0; i < result->reasons.count; i++) {
    said = said || (result->reasons.items[i].code == code && strstr(result->reasons.items[i].sentence, part) != NULL);
  }
  if (!said) {
    print_error("no reason says \"%s\"; the first is \"%s\"\n", part, result->reasons.items[0].sentence);
  }
  assert_true(said);
  gate_result_free(result);
}

static void too_few_seeds_are_no_golden_case(void **state) {
  (void)state;
  char *folder = policy(1);
  golden(folder, 2, 1);
  expect_unfit(folder, ASSAY_INVALID_GOLDEN, VERDICT_BLOCKED, 2, "stores 2 draws of the noise 'z'");
  temp_free(folder);
  folder = policy(1);
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  float z[WIDTH], answer[WIDTH];
  draw(z, WIDTH);
  for (int i = 0; i < WIDTH; i++) {
    answer[i] = 0.5F + z[i];
  }
  build_f32(builder, "inputs/obs", "1,16", half);
  build_f32(builder, "inputs/z", "1,16", z);
  build_f32(builder, "outputs/action", "1,16", answer);
  build_case(builder, &(struct corpus_case){.id = "one"});
  build_done(builder);
  expect_unfit(folder, ASSAY_INVALID_GOLDEN, VERDICT_BLOCKED, 2, "stores 1 draw of the noise 'z'");
  temp_free(folder);
}

static void one_draw_stored_twice_is_not_two(void **state) {
  (void)state;
  char *folder = policy(1);
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  float z[WIDTH];
  build_f32(builder, "inputs/obs", "1,16", half);
  for (int s = 0; s < 3; s++) {
    if (s < 2) {
      draw(z, WIDTH);
    }
    seed(builder, s, 0, z);
  }
  build_case(builder, &(struct corpus_case){.id = "a"});
  build_done(builder);
  expect_unfit(folder, ASSAY_INVALID_GOLDEN, VERDICT_BLOCKED, 2, "the same noise as seed 1");
  temp_free(folder);
}

static void draws_that_are_none_block_the_gate(void **state) {
  (void)state;
  char *folder = policy(1);
  golden(folder, 3, 0);
  expect_unfit(folder, ASSAY_NOISE_UNLIKELY, VERDICT_BLOCKED, 3, "case 'b#2': all 16 values of the noise 'z' are 0");
  temp_free(folder);
  folder = policy(1);
  golden(folder, 3, 20);
  expect_unfit(folder, ASSAY_NOISE_UNLIKELY, VERDICT_BLOCKED, 3, "standard deviation");
  temp_free(folder);
}

/* Only noise may differ from seed to seed. */
static void other_inputs_are_shared(void **state) {
  (void)state;
  char *folder = policy(1);
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  for (int s = 0; s < 3; s++) {
    char array[32];
    float z[WIDTH];
    draw(z, WIDTH);
    seed(builder, s, 0, z);
    snprintf(array, sizeof array, "seeds/%d/inputs/obs", s);
    build_f32(builder, array, "1,16", half);
  }
  build_case(builder, &(struct corpus_case){.id = "a"});
  build_done(builder);
  expect_unfit(folder, ASSAY_INVALID_GOLDEN, VERDICT_BLOCKED, 2, "only noise differs");
  temp_free(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_not_a_draw_is_said),
      cmocka_unit_test(uniform_draws_stay_in_their_bounds),
      cmocka_unit_test(every_seed_is_a_case),
      cmocka_unit_test(the_spread_is_that_of_the_draws),
      cmocka_unit_test(a_seed_alone_that_drifts_is_rejected_by_its_name),
      cmocka_unit_test(sequences_carry_a_draw_a_step),
      cmocka_unit_test(too_few_seeds_are_no_golden_case),
      cmocka_unit_test(one_draw_stored_twice_is_not_two),
      cmocka_unit_test(draws_that_are_none_block_the_gate),
      cmocka_unit_test(other_inputs_are_shared),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
