/* Faults of this kind of work that others met, rebuilt in a few numbers: comparisons that pass on NaN or on
 * nothing, flips, no control run, names and orders exchanged, normalisation lost, state not carried. The verdict
 * of each, for more than one set of numbers. */
#include <math.h>
#include <string.h>

#include "corpus/run_folder.h"
#include "model_builder.h"
#include "policy_builder.h"
#include "support.h"

/* The likely cause that a rung was told; fails when it is another. */
static void expect_cause(const struct gate_result *result, const char *part) {
  const char *told = "";
  for (int32_t i = 0; i < result->rungs[0].reasons.count; i++) {
    const struct gate_reason *reason = &result->rungs[0].reasons.items[i];
    told = reason->code == ASSAY_LOOKS_LIKE ? reason->sentence : told;
  }
  if (part == NULL ? *told != '\0' : strstr(told, part) == NULL) {
    print_error("expected the cause \"%s\", got \"%s\"\n", part != NULL ? part : "none", told);
    fail();
  }
}

/* A contract of one output `y` of n elements, whose components are one family. */
static void write_contract(const char *folder, const char *inputs, const char *shape, const char *rest) {
  char text[2048];
  snprintf(text, sizeof text,
           "assay: 1\npolicy: toy\nmodel: policy.onnx\ninputs:\n%soutputs:\n  - {name: y, dtype: float32, shape: [%s], "
           "%s}\n",
           inputs, shape, rest);
  temp_write(folder, "contract.yaml", text);
}

/* One component over the whole output. */
#define WHOLE(text) "components: [{name: v, " text "}]"

/* A recorded reference and a recorded rung over one case of n elements. */
static struct gate_result *pair_up(const float *expected, const float *actual, int n, const char *rest) {
  char *folder = temp_folder(), shape[16];
  struct run_writer *writer;
  snprintf(shape, sizeof shape, "%d", n);
  write_contract(folder, "  - {name: x, dtype: float32, shape: [1]}\n", shape, rest);
  temp_write(folder, "gate.yaml", policy_recorded_gate);
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  build_f32(builder, "inputs/x", "1", (const float[]){0});
  build_f32(builder, "outputs/y", shape, expected);
  build_case(builder, &(struct corpus_case){.id = "only"});
  build_done(builder);
  assay_tensor y = test_tensor(ASSAY_FLOAT32, shape, actual);
  ASSERT_OK(run_writer_open(temp_path(folder, "candidate"), &writer));
  ASSERT_OK(run_writer_case(writer, "only", &(struct npz_entry){"outputs/y", &y}, 1));
  ASSERT_OK(run_writer_commit(writer));
  tensor_free(&y);
  struct gate_result *result = policy_verify(folder);
  temp_free(folder);
  return result;
}

static const char strict[] = WHOLE("unit: rad, tolerance: {max: 1000000}");
static const char strict_inf[] = WHOLE("unit: rad, tolerance: {max: 1000000}, allow_inf: true");

/* Comparisons that pass on NaN. */
static void nan_and_inf_are_never_equal(void **state) {
  (void)state;
  const struct {
    float rung[2], reference[2];
    int n;
    const char *rest;
    enum verdict verdict;
    int exit_code;
  } pairs[] = {
      {{NAN}, {1}, 1, strict, VERDICT_REJECT, 1},
      {{1, NAN}, {1, 2}, 2, strict, VERDICT_REJECT, 1},
      {{NAN, 1}, {2, 1}, 2, strict, VERDICT_REJECT, 1},
      {{INFINITY}, {1}, 1, strict, VERDICT_REJECT, 1},
      {{-INFINITY}, {1}, 1, strict_inf, VERDICT_REJECT, 1},
      {{NAN}, {NAN}, 1, strict, VERDICT_BLOCKED, 2},
      {{1}, {NAN}, 1, strict, VERDICT_BLOCKED, 2},
      {{1, 2}, {1, NAN}, 2, strict_inf, VERDICT_BLOCKED, 2},
      {{INFINITY}, {INFINITY}, 1, strict, VERDICT_BLOCKED, 2},
      {{INFINITY}, {-INFINITY}, 1, strict, VERDICT_BLOCKED, 2},
      {{INFINITY}, {INFINITY}, 1, strict_inf, VERDICT_PASS, 0},
      {{-INFINITY}, {-INFINITY}, 1, strict_inf, VERDICT_PASS, 0},
      {{INFINITY}, {-INFINITY}, 1, strict_inf, VERDICT_REJECT, 1},
      {{3}, {INFINITY}, 1, strict_inf, VERDICT_REJECT, 1},
  };
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    struct gate_result *result = pair_up(pairs[i].reference, pairs[i].rung, pairs[i].n, pairs[i].rest);
    expect_verdict(result, pairs[i].verdict, pairs[i].exit_code);
    assert_int_equal(gate_reasons(result, ASSAY_INVALID_GOLDEN) > 0, pairs[i].exit_code == 2);
    assert_non_null(result->rungs[0].noise.self_how); /* reports say why, also where nothing ran */
    gate_result_free(result);
  }
}

/* A clip behind the NaN or the infinity must not hide it. */
static void decoding_hides_nothing(void **state) {
  (void)state;
  const char *clipped = WHOLE("unit: rad, tolerance: {max: 100}, decode: [{clip: [-1, 1]}]");
  const float one[1] = {1}, inf[1] = {INFINITY}, nan[1] = {NAN};
  struct gate_result *result = pair_up(one, inf, 1, clipped);
  expect_verdict(result, VERDICT_REJECT, 1);
  gate_result_free(result);
  result = pair_up(one, nan, 1, clipped);
  expect_verdict(result, VERDICT_REJECT, 1);
  gate_result_free(result);
}

/* Comparisons that pass on nothing. */
static void empty_outputs_are_not_equal_outputs(void **state) {
  (void)state;
  char *folder = temp_folder();
  struct run_writer *writer;
  write_contract(folder, "  - {name: x, dtype: float32, shape: [1]}\n", "{min: 0, opt: 1, max: 4}", strict);
  temp_write(folder, "gate.yaml", policy_recorded_gate);
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  build_f32(builder, "inputs/x", "1", (const float[]){0});
  build_f32(builder, "outputs/y", "0", NULL);
  build_case(builder, &(struct corpus_case){.id = "only"});
  build_done(builder);
  assay_tensor y = test_tensor(ASSAY_FLOAT32, "0", NULL);
  ASSERT_OK(run_writer_open(temp_path(folder, "candidate"), &writer));
  ASSERT_OK(run_writer_case(writer, "only", &(struct npz_entry){"outputs/y", &y}, 1));
  ASSERT_OK(run_writer_commit(writer));
  tensor_free(&y);
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_BLOCKED, 3);
  assert_int_equal(rung_reasons(result_rung(result, "candidate"), ASSAY_NOTHING_COMPARED), 1);
  gate_result_free(result);
  temp_free(folder);
}

/* [2, 1] against [1, 2] where the names are exchanged: by name they are equal, and with other names they are not there.
 */
static void outputs_are_paired_by_name(void **state) {
  (void)state;
  for (int renamed = 0; renamed < 2; renamed++) {
    char *folder = temp_folder();
    struct run_writer *writer;
    temp_write(folder, "contract.yaml",
               "assay: 1\npolicy: toy\nmodel: policy.onnx\ninputs: [{name: x, dtype: float32, shape: [1]}]\noutputs:\n"
               "  - {name: a, dtype: float32, shape: [1], components: [{name: v, unit: rad, tolerance: {max: 0}}]}\n"
               "  - {name: b, dtype: float32, shape: [1], components: [{name: v, unit: rad, tolerance: {max: 0}}]}\n");
    temp_write(folder, "gate.yaml", policy_recorded_gate);
    struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
    build_f32(builder, "inputs/x", "1", (const float[]){0});
    build_f32(builder, "outputs/a", "1", (const float[]){1});
    build_f32(builder, "outputs/b", "1", (const float[]){2});
    build_case(builder, &(struct corpus_case){.id = "only"});
    build_done(builder);
    assay_tensor one = test_tensor(ASSAY_FLOAT32, "1", (const float[]){1});
    assay_tensor two = test_tensor(ASSAY_FLOAT32, "1", (const float[]){2});
    struct npz_entry swapped[2] = {{"outputs/b", &two}, {"outputs/a", &one}};
    struct npz_entry other[2] = {{"outputs/b", &two}, {"outputs/c", &one}};
    ASSERT_OK(run_writer_open(temp_path(folder, "candidate"), &writer));
    ASSERT_OK(run_writer_case(writer, "only", renamed ? other : swapped, 2));
    ASSERT_OK(run_writer_commit(writer));
    tensor_free(&one);
    tensor_free(&two);
    struct gate_result *result = policy_verify(folder);
    expect_verdict(result, renamed ? VERDICT_REJECT : VERDICT_PASS, renamed);
    gate_result_free(result);
    temp_free(folder);
  }
}

/* 2^53 + 1 is no double, and still another answer than 2^53. */
static void large_integers_are_compared_exactly(void **state) {
  (void)state;
  const int64_t expected = (INT64_C(1) << 53) + 1;
  for (int64_t error = 0; error < 2; error++) {
    char *folder = temp_folder();
    struct run_writer *writer;
    const int64_t actual = expected - error;
    temp_write(folder, "contract.yaml",
               "assay: 1\npolicy: toy\nmodel: policy.onnx\ninputs: [{name: x, dtype: float32, shape: [1]}]\noutputs:\n"
               "  - {name: y, dtype: int64, shape: [1], components: [{name: v, unit: token, tolerance: {max: 0}}]}\n");
    temp_write(folder, "gate.yaml", policy_recorded_gate);
    struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
    build_f32(builder, "inputs/x", "1", (const float[]){0});
    build_i64(builder, "outputs/y", "1", &expected);
    build_case(builder, &(struct corpus_case){.id = "only"});
    build_done(builder);
    assay_tensor y = {0};
    ASSERT_OK(tensor_new(ASSAY_INT64, (const int64_t[]){1}, 1, &y));
    memcpy(y.data, &actual, sizeof actual);
    ASSERT_OK(run_writer_open(temp_path(folder, "candidate"), &writer));
    ASSERT_OK(run_writer_case(writer, "only", &(struct npz_entry){"outputs/y", &y}, 1));
    ASSERT_OK(run_writer_commit(writer));
    tensor_free(&y);
    struct gate_result *result = policy_verify(folder);
    expect_verdict(result, error ? VERDICT_REJECT : VERDICT_PASS, error != 0);
    gate_result_free(result);
    temp_free(folder);
  }
}

static void expect_flips(const float *expected, const float *actual, int n, const char *rest, int64_t flips) {
  struct gate_result *result = pair_up(expected, actual, n, rest);
  expect_verdict(result, flips > 0 ? VERDICT_REJECT : VERDICT_PASS, flips > 0);
  assert_int_equal(result->rungs[0].decisions[0].flips, flips);
  assert_int_equal(rung_reasons(&result->rungs[0], ASSAY_DECISION_FLIP), flips > 0);
  assert_int_equal(rung_reasons(&result->rungs[0], ASSAY_DRIFT_MAX), 0);
  gate_result_free(result);
}

/* Decision flips under a small error. */
static void flips_are_found_in_every_form(void **state) {
  (void)state;
  static const char at_or_above[] =
      WHOLE("unit: score, tolerance: {max: 0.01}, decision: {threshold: 0.5, at_or_above: close, below: open}");
  static const char above[] =
      WHOLE("unit: score, tolerance: {max: 0.01}, decision: {threshold: 0.5, above: close, at_or_below: open}");
  const float near_high[1] = {0.5001F}, near_low[1] = {0.4999F}, half[1] = {0.5F}, next[1] = {0x1.000002p-1F},
              previous[1] = {0x1.fffffep-2F};
  expect_flips(near_high, near_low, 1, at_or_above, 1);
  expect_flips(near_low, near_high, 1, above, 1);
  expect_flips(half, previous, 1, at_or_above, 1);
  expect_flips(half, previous, 1, above, 0);
  expect_flips(half, next, 1, above, 1);
  expect_flips(half, next, 1, at_or_above, 0);
  static const char argmax[] = WHOLE("unit: score, tolerance: {max: 0.01}") ", decisions: [{argmax: {axis: 0}}]";
  const float first[2] = {1.0F, 1.0001F}, rounded[2] = {1.0F, 1.0F}, reversed[2] = {1.0002F, 1.0001F};
  expect_flips(first, rounded, 2, argmax, 1); /* a tie takes the lowest index */
  expect_flips(first, reversed, 2, argmax, 1);
  expect_flips(first, first, 2, argmax, 0);
  static const char topk[] = WHOLE("unit: score, tolerance: {max: 3}") ", decisions: [{topk: {k: 2, axis: 0}}]";
  const float tied[4] = {2, 3, 3, 1}, same_set[4] = {2, 4, 3, 1}, other_set[4] = {3.5F, 3, 3, 1};
  expect_flips(tied, same_set, 4, topk, 0);
  expect_flips(tied, other_set, 4, topk, 1);
  static const char order[] = WHOLE("unit: m, tolerance: {max: 3}") ", decisions: [{order: {by: ascending, axis: 0}}]";
  const float distances[3] = {0.3F, 0.1F, 0.2F}, kept[3] = {0.31F, 0.11F, 0.2F}, moved[3] = {0.3F, 0.21F, 0.2F};
  expect_flips(distances, kept, 3, order, 0);
  expect_flips(distances, moved, 3, order, 1);
}

/* A threshold on the raw number, where decoding moves it far from the threshold or past it. */
static void a_threshold_looks_at_the_space_it_names(void **state) {
  (void)state;
  static const char raw_far[] = WHOLE(
      "unit: percent, decode: [{scale: 100}], tolerance: {max: 10}, decision: {threshold: 0.7, at_or_above: close, "
      "below: open, space: raw}");
  static const char decoded[] = WHOLE(
      "unit: percent, decode: [{scale: 100}], tolerance: {max: 10}, decision: {threshold: 70.5, at_or_above: close, "
      "below: open}");
  const float high[1] = {0.72F}, low[1] = {0.68F}, higher[1] = {0.74F};
  expect_flips(high, low, 1, raw_far, 1);
  expect_flips(high, higher, 1, raw_far, 0);
  expect_flips(high, low, 1, decoded, 1);
  expect_flips(high, higher, 1, decoded, 0);
}

static void the_margin_of_a_flip_is_told(void **state) {
  (void)state;
  const float high[1] = {0.5001F}, low[1] = {0.4999F};
  struct gate_result *result = pair_up(
      high, low, 1,
      WHOLE("unit: score, tolerance: {max: 0.01}, decision: {threshold: 0.5, at_or_above: close, below: open}"));
  const struct decision_result *decision = &result->rungs[0].decisions[0];
  assert_int_equal(decision->n, 1);
  assert_string_equal(decision->cases[0].case_id, "only");
  assert_true(fabs(decision->cases[0].margin - 1e-4) < 1e-7);
  gate_result_free(result);
}

/* y = a - 2 b with its two inputs named the wrong way round. */
static void exchanged_input_names_are_rejected(void **state) {
  (void)state;
  for (int swapped = 0; swapped < 2; swapped++) {
    char *folder = temp_folder();
    write_contract(folder, "  - {name: a, dtype: float32, shape: [1]}\n  - {name: b, dtype: float32, shape: [1]}\n",
                   "1", WHOLE("unit: rad, tolerance: {max: 0.001}"));
    temp_write(folder, "gate.yaml", policy_gate);
    struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
    onnx_input(graph, swapped ? "b" : "a", ASSAY_FLOAT32, "1");
    onnx_input(graph, swapped ? "a" : "b", ASSAY_FLOAT32, "1");
    onnx_f32(graph, "two", "1", (const float[]){2});
    onnx_node(graph, "Mul", swapped ? "a,two" : "b,two", "t");
    onnx_node(graph, "Sub", swapped ? "b,t" : "a,t", "y");
    onnx_output(graph, "y", ASSAY_FLOAT32, "1");
    onnx_write(model, temp_path(folder, "policy.onnx"));
    proto_free(model);
    struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
    build_f32(builder, "inputs/a", "1", (const float[]){1});
    build_f32(builder, "inputs/b", "1", (const float[]){10});
    build_f32(builder, "outputs/y", "1", (const float[]){-19});
    build_case(builder, &(struct corpus_case){.id = "only"});
    build_done(builder);
    struct gate_result *result = policy_verify(folder);
    expect_verdict(result, swapped ? VERDICT_REJECT : VERDICT_PASS, swapped);
    assert_true(result->rungs[0].components[0].drift.raw.worst.actual == (swapped ? 8 : -19));
    expect_cause(result, swapped ? "inputs 'a' and 'b' look swapped" : NULL);
    gate_result_free(result);
    temp_free(folder);
  }
}

/* Joints in another order: each is named, and the one that stays is not. */
static void an_exchanged_joint_order_is_rejected_by_name(void **state) {
  (void)state;
  const float golden[3] = {0.1F, -0.4F, 0.9F}, runtime[3] = {-0.4F, 0.1F, 0.9F};
  struct gate_result *result =
      pair_up(golden, runtime, 3,
              "axes: [component], components: [{names: [hip, knee, ankle], unit: rad, tolerance: "
              "{max: 0.01}}]");
  expect_verdict(result, VERDICT_REJECT, 1);
  assert_int_equal(rung_component(&result->rungs[0], "hip")->verdict, VERDICT_REJECT);
  assert_int_equal(rung_component(&result->rungs[0], "knee")->verdict, VERDICT_REJECT);
  assert_int_equal(rung_component(&result->rungs[0], "ankle")->verdict, VERDICT_PASS);
  assert_true(rung_reasons(&result->rungs[0], ASSAY_SIGN_FLIPS) == 2);
  gate_result_free(result);
}

/* y = 3 z + 1 with z = (x - 10) / 2, and action = 5 + 26.4 y by the contract. */
static struct gate_result *normalised(float scale, float offset, const char *decode) {
  char *folder = temp_folder(), rest[256];
  snprintf(rest, sizeof rest, WHOLE("unit: deg, raw_unit: \"1\", tolerance: {max: 0.5}, decode: [%s]"), decode);
  write_contract(folder, "  - {name: obs, dtype: float32, shape: [1, 3]}\n", "1, 3", rest);
  temp_write(folder, "gate.yaml", policy_gate);
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "obs", ASSAY_FLOAT32, "1,3");
  onnx_f32(graph, "scale", "1", &scale);
  onnx_f32(graph, "offset", "1", &offset);
  onnx_node(graph, "Mul", "obs,scale", "t");
  onnx_node(graph, "Add", "t,offset", "y");
  onnx_output(graph, "y", ASSAY_FLOAT32, "1,3");
  onnx_write(model, temp_path(folder, "policy.onnx"));
  proto_free(model);
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  build_f32(builder, "inputs/obs", "1,3", (const float[]){10, 12, 11});
  build_f32(builder, "outputs/y", "1,3", (const float[]){1, 4, 2.5F});
  build_f64(builder, "decoded/v", "1,3", (const double[]){31.4, 110.6, 71});
  build_case(builder, &(struct corpus_case){.id = "only"});
  build_done(builder);
  struct gate_result *result = policy_verify(folder);
  temp_free(folder);
  return result;
}

static void a_lost_or_doubled_normalisation_is_rejected(void **state) {
  (void)state;
  static const char whole[] = "{scale: 26.4}, {offset: 5}";
  struct gate_result *result = normalised(1.5F, -14, whole);
  expect_verdict(result, VERDICT_PASS, 0);
  assert_true(fabs(result->rungs[0].components[0].drift.physical.worst.expected - 31.4) < 1e-5);
  gate_result_free(result);
  const float faults[][2] = {{3, 1}, {0.75F, -21.5F}, {1.5F, 1}, {1.5F * 57.29578F, -14 * 57.29578F}};
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
    result = normalised(faults[i][0], faults[i][1], whole);
    expect_verdict(result, VERDICT_REJECT, 1);
    gate_result_free(result);
  }
}

/* The contract's own un-normaliser, against what the source decoded. */
static void a_wrong_decoding_is_found_against_the_source(void **state) {
  (void)state;
  static const char *const wrong[] = {"{scale: 1}", "{scale: 26.4}", "{scale: 26.4}, {offset: 5}, {scale: 57.29578}",
                                      "{clip: [-2, 2]}, {scale: 26.4}, {offset: 5}"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    struct gate_result *result = normalised(1.5F, -14, wrong[i]);
    expect_verdict(result, VERDICT_REJECT, 1);
    assert_int_equal(gate_reasons(result, ASSAY_DECODE_DRIFT), 1);
    gate_result_free(result);
  }
}

/* A clip that was lost: only values beyond it tell. */
static void a_lost_clip_saturates_on_one_side_only(void **state) {
  (void)state;
  const char *limited = WHOLE("unit: rad, tolerance: {max: 5}, limits: {min: -10, max: 10}");
  const float clipped[2] = {10, 3}, lost[2] = {9, 3}, kept[2] = {12.5F, 3};
  struct gate_result *result = pair_up(clipped, lost, 2, limited);
  expect_verdict(result, VERDICT_REJECT, 1);
  assert_int_equal(rung_reasons(&result->rungs[0], ASSAY_SATURATION), 1);
  gate_result_free(result);
  /* Both are at the limit: the difference decides; but the guard would let only one of them through. */
  result = pair_up(clipped, kept, 2, limited);
  expect_verdict(result, VERDICT_REJECT, 1);
  assert_int_equal(rung_reasons(&result->rungs[0], ASSAY_SATURATION), 0);
  assert_int_equal(result->rungs[0].reasons.count, 1);
  assert_int_equal(rung_reasons(&result->rungs[0], ASSAY_GUARD_FLIP), 1);
  gate_result_free(result);
}

/* h' = 0.5 h + x, y = h'; `carried` false forgets h. */
static struct gate_result *recurrent(bool carried, bool forced, bool state_tolerance) {
  char *folder = temp_folder();
  char contract[1024];
  snprintf(contract, sizeof contract,
           "assay: 1\npolicy: toy\nmodel: policy.onnx\ninputs:\n  - {name: x, dtype: float32, shape: [1]}\n"
           "  - {name: h_in, dtype: float32, shape: [1]}\n"
           "state:\n  - {input: h_in, output: h_out, initial: zeros, reset: episode%s}\n"
           "outputs:\n  - {name: y, dtype: float32, shape: [1], components: [{name: y, unit: rad, tolerance: {max: "
           "0.001}}]}\n"
           "  - {name: h_out, dtype: float32, shape: [1]}\n",
           state_tolerance ? ", tolerance: {max: 0.001}" : "");
  temp_write(folder, "contract.yaml", contract);
  temp_write(folder, "gate.yaml", policy_gate);
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "x", ASSAY_FLOAT32, "1");
  onnx_input(graph, "h_in", ASSAY_FLOAT32, "1");
  onnx_f32(graph, "half", "1", (const float[]){carried ? 0.5F : 0.0F});
  onnx_node(graph, "Mul", "h_in,half", "t");
  onnx_node(graph, "Add", "t,x", "h_out");
  onnx_node(graph, "Identity", "h_out", "y");
  onnx_output(graph, "y", ASSAY_FLOAT32, "1");
  onnx_output(graph, "h_out", ASSAY_FLOAT32, "1");
  onnx_write(model, temp_path(folder, "policy.onnx"));
  proto_free(model);
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  for (int episode = 0; episode < 2; episode++) {
    build_f32(builder, "inputs/x", "3,1", (const float[]){1, 1, 1});
    if (forced) {
      build_f32(builder, "inputs/h_in", "3,1", (const float[]){0, 1, 1.5F});
    }
    build_f32(builder, "outputs/y", "3,1", (const float[]){1, 1.5F, 1.75F});
    build_f32(builder, "outputs/h_out", "3,1", (const float[]){1, 1.5F, 1.75F});
    build_case(builder,
               &(struct corpus_case){.id = episode == 0 ? "first" : "second", .sequence = true, .forced = forced});
  }
  build_done(builder);
  struct gate_result *result = policy_verify(folder);
  temp_free(folder);
  return result;
}

static void state_that_is_not_carried_is_rejected_from_the_second_step(void **state) {
  (void)state;
  struct gate_result *result = recurrent(true, false, false);
  expect_verdict(result, VERDICT_PASS, 0); /* the second episode begins at zero again */
  assert_int_equal(result->rungs[0].steps_run, 6);
  gate_result_free(result);
  for (int forced = 0; forced < 2; forced++) {
    result = recurrent(false, forced == 1, false);
    expect_verdict(result, VERDICT_REJECT, 1);
    const struct component_result *y = rung_component(&result->rungs[0], "y");
    assert_int_equal(y->drift.physical.worst.step, 2);
    assert_true(fabs(y->drift.physical.max - 0.75) < 1e-6);
    assert_int_equal(rung_component(&result->rungs[0], "h_out")->decides, 0);
    gate_result_free(result);
  }
  result = recurrent(true, true, true);
  expect_verdict(result, VERDICT_PASS, 0);
  assert_int_equal(rung_component(&result->rungs[0], "h_out")->decides, 1);
  gate_result_free(result);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nan_and_inf_are_never_equal),
      cmocka_unit_test(decoding_hides_nothing),
      cmocka_unit_test(empty_outputs_are_not_equal_outputs),
      cmocka_unit_test(outputs_are_paired_by_name),
      cmocka_unit_test(large_integers_are_compared_exactly),
      cmocka_unit_test(flips_are_found_in_every_form),
      cmocka_unit_test(a_threshold_looks_at_the_space_it_names),
      cmocka_unit_test(the_margin_of_a_flip_is_told),
      cmocka_unit_test(exchanged_input_names_are_rejected),
      cmocka_unit_test(an_exchanged_joint_order_is_rejected_by_name),
      cmocka_unit_test(a_lost_or_doubled_normalisation_is_rejected),
      cmocka_unit_test(a_wrong_decoding_is_found_against_the_source),
      cmocka_unit_test(a_lost_clip_saturates_on_one_side_only),
      cmocka_unit_test(state_that_is_not_carried_is_rejected_from_the_second_step),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
