/* A policy of stages through the whole gate: wired by name, per-stage files of a rung, what stands between the
 * stages, and loops in which small errors add up. */
#include <math.h>
#include <string.h>

#include "core/file.h"
#include "core/memory.h"
#include "corpus/run_folder.h"
#include "model_builder.h"
#include "policy_builder.h"
#include "report/report.h"
#include "support.h"

/* out = in * scale, of two elements. */
static void scaling(const char *folder, const char *file, const char *in, const char *out, float scale) {
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  char inputs[64];
  snprintf(inputs, sizeof inputs, "%s,s", in);
  onnx_input(graph, in, ASSAY_FLOAT32, "2");
  onnx_f32(graph, "s", "", &scale);
  onnx_node(graph, "Mul", inputs, out);
  onnx_output(graph, out, ASSAY_FLOAT32, "2");
  onnx_write(model, temp_path(folder, file));
  proto_free(model);
}

/* out = latent - obs * 0.5 */
static void actor(const char *folder, const char *file) {
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "latent", ASSAY_FLOAT32, "2");
  onnx_input(graph, "obs", ASSAY_FLOAT32, "2");
  onnx_f32(graph, "half", "", (const float[]){0.5F});
  onnx_node(graph, "Mul", "obs,half", "part");
  onnx_node(graph, "Sub", "latent,part", "out");
  onnx_output(graph, "out", ASSAY_FLOAT32, "2");
  onnx_write(model, temp_path(folder, file));
  proto_free(model);
}

#define CONTRACT(listed)                                                                        \
  "assay: 1\npolicy: two\ninputs: [{name: obs, dtype: float32, shape: [2]}]\noutputs:\n" listed \
  "  - {name: action, dtype: float32, shape: [2], components: [{name: a, count: 2, unit: rad, " \
  "tolerance: {max: 0.001}}]}\n"                                                                \
  "stages:\n"                                                                                   \
  "  - {name: encoder, model: encoder.onnx, inputs: {x: obs}, outputs: {y: latent}}\n"          \
  "  - {name: actor, model: actor.onnx, outputs: {out: action}}\n" /* latent and obs have their own names */
static const char contract[] = CONTRACT("");
static const char listing[] = CONTRACT("  - {name: latent, dtype: float32, shape: [2]}\n");

#define GATE "assay: 1\ncontract: contract.yaml\ncorpus: golden\nreference: {rung: recorded}\nrungs:\n"

/* encoder doubles, so that action = 1.5 obs. */
static char *staged_folder(const char *contract_text, const char *gate, bool latents) {
  char *folder = temp_folder();
  scaling(folder, "encoder.onnx", "x", "y", 2);
  actor(folder, "actor.onnx");
  temp_write(folder, "contract.yaml", contract_text);
  temp_write(folder, "gate.yaml", gate);
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  for (int i = 0; i < 3; i++) {
    const float obs[2] = {(float)i + 0.5F, -1.25F}, latent[2] = {2 * obs[0], 2 * obs[1]},
                action[2] = {1.5F * obs[0], 1.5F * obs[1]};
    char id[8];
    snprintf(id, sizeof id, "c%d", i);
    build_f32(builder, "inputs/obs", "2", obs);
    build_f32(builder, "outputs/action", "2", action);
    if (latents) {
      build_f32(builder, "outputs/latent", "2", latent);
    }
    build_case(builder, &(struct corpus_case){.id = id});
  }
  build_done(builder);
  return folder;
}

static bool has_file(const struct gate_result *result, const char *path) {
  for (int32_t i = 0; i < result->n_files; i++) {
    if (strcmp(result->files[i].path, path) == 0) {
      return strcmp(result->files[i].role, "model") == 0;
    }
  }
  return false;
}

static void two_files_pass_as_one_policy(void **state) {
  (void)state;
  char *folder = staged_folder(contract,
                               GATE
                               "  - {name: fp32, engine: assay}\n  - {name: alone, engine: assay, time_limit_s: "
                               "30}\n  - {name: half, engine: assay, precision: fp16, required: false}\n",
                               false);
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_PASS, 0);
  assert_true(has_file(result, "encoder.onnx"));
  assert_true(has_file(result, "actor.onnx"));
  const struct rung_result *rung = result_rung(result, "fp32");
  assert_string_equal(rung->model, "encoder.onnx, actor.onnx");
  assert_int_equal(rung->elements, 6);
  assert_true(rung_component(rung, "a[0]")->drift.raw.max == 0);
  assert_true(result->reference_noise.rounding_measured);
  assert_true(result_rung(result, "half")->actual.emulated);
  gate_result_free(result);
  temp_free(folder);
}

static void a_rung_may_have_another_file_for_a_stage(void **state) {
  (void)state;
  char *folder =
      staged_folder(contract,
                    GATE
                    "  - {name: fp32, engine: assay}\n"
                    "  - {name: int8, engine: assay, models: {encoder: encoder.int8.onnx}, required: false}\n",
                    false);
  scaling(folder, "encoder.int8.onnx", "x", "y", 2.01F);
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_PASS, 0);
  const struct rung_result *rung = result_rung(result, "int8");
  assert_int_equal(rung->verdict, VERDICT_REJECT);
  assert_int_equal(rung_reasons(rung, ASSAY_DRIFT_MAX), 2);
  assert_string_equal(rung->model, "encoder.int8.onnx, actor.onnx");
  assert_true(has_file(result, "encoder.int8.onnx"));
  gate_result_free(result);
  temp_free(folder);
}

static void refused(const char *gate, assay_code code, const char *part) {
  char *folder = staged_folder(contract, gate, false);
  scaling(folder, "other.onnx", "z", "y", 2);
  struct gate_options options = {.folder = folder};
  struct gate_result *result = NULL;
  ASSERT_FAILS(gate_run(&options, &result), code, part);
  temp_free(folder);
}

static void the_gate_names_files_of_stages(void **state) {
  (void)state;
  refused(GATE "  - {name: fp32, engine: assay, model: encoder.onnx}\n", ASSAY_GATE_INVALID,
          "names one model, but the policy has 2 stages");
  refused(GATE "  - {name: fp32, engine: assay, models: {encoding: other.onnx}}\n", ASSAY_GATE_INVALID,
          "names a model for 'encoding', which is no stage; stages are encoder, actor");
  refused(GATE "  - {name: fp32, engine: assay, models: {encoder: other.onnx}}\n", ASSAY_CONTRACT_MISMATCH,
          "cannot stand for stage 'encoder': its input 'x' is missing");
  refused(GATE "  - {name: fp32, engine: assay, models: {encoder: missing.onnx}}\n", ASSAY_FILE_MISSING, "");
}

/* What a later stage takes is shown where it is listed, and decides only where it has a tolerance. */
static void an_inner_value_is_shown(void **state) {
  (void)state;
  char *folder = staged_folder(listing, GATE "  - {name: fp32, engine: assay}\n", true);
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_PASS, 0);
  const struct component_result *latent = rung_component(result_rung(result, "fp32"), "latent");
  assert_false(latent->decides);
  assert_int_equal(latent->drift.raw.n, 6);
  assert_int_equal(result_rung(result, "fp32")->elements, 6);
  gate_result_free(result);
  temp_free(folder);
  folder = staged_folder(listing, GATE "  - {name: fp32, engine: assay}\n", false); /* nor need it be stored */
  result = policy_verify(folder);
  expect_verdict(result, VERDICT_PASS, 0);
  gate_result_free(result);
  temp_free(folder);
}

static void an_inner_value_with_a_tolerance_decides(void **state) {
  (void)state;
  char *folder = staged_folder(CONTRACT("  - {name: latent, dtype: float32, shape: [2], components: [{name: z, count: "
                                        "2, unit: '1', tolerance: {max: 0.0001}}]}\n"),
                               GATE "  - {name: fp32, engine: assay}\n", true);
  scaling(folder, "encoder.onnx", "x", "y", 2.0003F); /* the action stays within 0.001 */
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_REJECT, 1);
  assert_true(rung_component(result_rung(result, "fp32"), "z[0]")->decides);
  assert_int_equal(rung_component(result_rung(result, "fp32"), "a[0]")->verdict, VERDICT_PASS);
  gate_result_free(result);
  temp_free(folder);
}

/* --- whence a difference comes ------------------------------------------------------ */

#define AGAINST                                                                                                   \
  "assay: 1\ncontract: contract.yaml\ncorpus: golden\nreference: {rung: fp32}\nrungs:\n  - {name: fp32, engine: " \
  "assay}\n"

static const struct stage_result *stage_named(const struct rung_result *rung, const char *value, int32_t turn) {
  for (int32_t i = 0; i < rung->n_stages; i++) {
    if (strcmp(rung->stages[i].value, value) == 0 && rung->stages[i].turn == turn) {
      return &rung->stages[i];
    }
  }
  fail_msg("no stage gives '%s' at turn %d", value, (int)turn);
  return NULL;
}

static const char *note_of(const struct rung_result *rung, assay_code code) {
  for (int32_t i = 0; i < rung->reasons.count; i++) {
    if (rung->reasons.items[i].code == code) {
      return rung->reasons.items[i].sentence;
    }
  }
  return "";
}

static void holds(const char *sentence, const char *part) {
  if (strstr(sentence, part) == NULL) {
    fail_msg("expected \"%s\" in \"%s\"", part, sentence);
  }
}

static void the_stage_that_causes_a_difference_is_named(void **state) {
  (void)state;
  char *folder =
      staged_folder(contract,
                    AGAINST
                    "  - {name: first, engine: assay, models: {encoder: encoder.int8.onnx}}\n"
                    "  - {name: second, engine: assay, models: {actor: actor.int8.onnx}, time_limit_s: 30}\n",
                    false);
  scaling(folder, "encoder.int8.onnx", "x", "y", 2.5F);
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model); /* half is a quarter */
  onnx_input(graph, "latent", ASSAY_FLOAT32, "2");
  onnx_input(graph, "obs", ASSAY_FLOAT32, "2");
  onnx_f32(graph, "half", "", (const float[]){0.25F});
  onnx_node(graph, "Mul", "obs,half", "part");
  onnx_node(graph, "Sub", "latent,part", "out");
  onnx_output(graph, "out", ASSAY_FLOAT32, "2");
  onnx_write(model, temp_path(folder, "actor.int8.onnx"));
  proto_free(model);
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_REJECT, 1);
  const struct rung_result *first = result_rung(result, "first"), *second = result_rung(result, "second");
  assert_true(stage_named(first, "latent", 0)->ran == 1.25);
  assert_true(stage_named(first, "latent", 0)->alone == 1.25);
  assert_true(stage_named(first, "action", 0)->ran == 1.25);
  assert_true(stage_named(first, "action", 0)->alone == 0); /* the actor does what it should */
  holds(note_of(first, ASSAY_STAGE_DRIFT), "it comes from stage 'encoder'");
  assert_true(stage_named(second, "latent", 0)->ran == 0);
  assert_true(stage_named(second, "action", 0)->alone == 0.625);
  holds(note_of(second, ASSAY_STAGE_DRIFT), "it is stage 'actor' itself");
  gate_result_free(result);
  temp_free(folder);
}

/* A recorded reference that lists the inner value, or stores it under taps, is enough. */
static void a_corpus_may_store_what_stands_between(void **state) {
  (void)state;
  const char *gate = GATE "  - {name: first, engine: assay}\n";
  char *folder = staged_folder(listing, gate, true);
  scaling(folder, "encoder.onnx", "x", "y", 2.5F);
  struct gate_result *result = policy_verify(folder);
  holds(note_of(result_rung(result, "first"), ASSAY_STAGE_DRIFT), "it comes from stage 'encoder'");
  gate_result_free(result);
  temp_free(folder);
  folder = staged_folder(contract, gate, false); /* neither listed nor stored: only what is known is said */
  scaling(folder, "encoder.onnx", "x", "y", 2.5F);
  result = policy_verify(folder);
  expect_verdict(result, VERDICT_REJECT, 1);
  assert_int_equal(stage_named(result_rung(result, "first"), "latent", 0)->n, 0);
  assert_true(isnan(stage_named(result_rung(result, "first"), "action", 0)->alone));
  assert_string_equal(note_of(result_rung(result, "first"), ASSAY_STAGE_DRIFT), "");
  struct corpus_builder *builder;
  gate_result_free(result);
  temp_free(folder);
  folder = staged_folder(contract, gate, false);
  scaling(folder, "encoder.onnx", "x", "y", 2.5F);
  ASSERT_OK(folder_remove(temp_path(folder, "golden")));
  builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  build_f32(builder, "inputs/obs", "2", (const float[]){1, 2});
  build_f32(builder, "outputs/action", "2", (const float[]){1.5F, 3});
  build_f32(builder, "taps/latent", "2", (const float[]){2, 4});
  build_case(builder, &(struct corpus_case){.id = "c"});
  build_done(builder);
  result = policy_verify(folder);
  holds(note_of(result_rung(result, "first"), ASSAY_STAGE_DRIFT), "it comes from stage 'encoder'");
  gate_result_free(result);
  temp_free(folder);
  folder = staged_folder(contract, gate, false); /* a misspelt name would be compared with nothing */
  ASSERT_OK(folder_remove(temp_path(folder, "golden")));
  builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  build_f32(builder, "inputs/obs", "2", (const float[]){1, 2});
  build_f32(builder, "outputs/action", "2", (const float[]){1.5F, 3});
  build_f32(builder, "taps/latnet", "2", (const float[]){2, 4});
  build_case(builder, &(struct corpus_case){.id = "c"});
  build_done(builder);
  result = policy_verify(folder);
  expect_verdict(result, VERDICT_BLOCKED, 2);
  assert_int_equal(gate_reasons(result, ASSAY_INVALID_GOLDEN), 1);
  holds(result->reasons.items[0].sentence, "taps/latnet, which is no value that stands between the stages");
  gate_result_free(result);
  temp_free(folder);
}

/* --- known fault 22: a loop that loses small steps ------------------------------------ */

static const char denoising[] =
    "assay: 1\npolicy: flow\ninputs: [{name: noise, dtype: float32, shape: [1]}]\noutputs:\n"
    "  - {name: x, dtype: float32, shape: [1], components: [{name: wrist, unit: rad, tolerance: {max: 0.001}}]}\n"
    "stages:\n  - {name: expert, model: expert.onnx, inputs: {x_t: noise}, outputs: {x_next: x}, repeat: %d, carry: "
    "{x_t: x_next}}\n";

/* x_next = x_t + step, `turns` times, from 1. */
static struct gate_result *denoise_against(const char *gate, float golden, float step, int turns,
                                           const char *precision) {
  char *folder = temp_folder(), text[1024];
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "x_t", ASSAY_FLOAT32, "1");
  onnx_f32(graph, "step", "1", &step);
  onnx_node(graph, "Add", "x_t,step", "x_next");
  onnx_output(graph, "x_next", ASSAY_FLOAT32, "1");
  onnx_write(model, temp_path(folder, "expert.onnx"));
  proto_free(model);
  snprintf(text, sizeof text, denoising, turns);
  temp_write(folder, "contract.yaml", text);
  snprintf(text, sizeof text,
           "%s  - {name: same, engine: assay}\n  - {name: narrow, engine: assay, precision: %s, required: false}\n",
           gate, precision);
  temp_write(folder, "gate.yaml", text);
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  build_f32(builder, "inputs/noise", "1", (const float[]){1});
  build_f32(builder, "outputs/x", "1", &golden);
  build_case(builder, &(struct corpus_case){.id = "flow"});
  build_done(builder);
  struct gate_result *result = policy_verify(folder);
  temp_free(folder);
  return result;
}

static struct gate_result *denoise(float step, int turns, const char *precision) {
  return denoise_against(AGAINST, 0, step, turns, precision);
}

static void ended_at(const struct gate_result *result, float expected, float actual) {
  const struct drift_pair *worst = &rung_component(result_rung(result, "narrow"), "wrist")->drift.raw.worst;
  if ((float)worst->expected != expected || (float)worst->actual != actual) {
    fail_msg("expected %.9g and %.9g, found %.9g and %.9g", (double)expected, (double)actual, worst->expected,
             worst->actual);
  }
}

/* fp32 by hand. */
static float added(float step) {
  volatile float x = 1;
  for (int i = 0; i < 10; i++) {
    x = x + step;
  }
  return x;
}

static void small_steps_are_lost_in_a_narrow_accumulator(void **state) {
  (void)state;
  struct gate_result *result = denoise(4e-4F, 10, "fp16");
  const struct rung_result *narrow = result_rung(result, "narrow");
  ended_at(result, 1.0039995F, 1.0F);
  assert_int_equal(narrow->verdict, VERDICT_REJECT);
  assert_int_equal(narrow->n_loops, 1);
  const struct loop_result *loop = &narrow->loops[0];
  assert_int_equal(loop->turns, 10);
  assert_true(loop->alone <= 0.001); /* each turn passes */
  assert_true(loop->first < 0.001 && loop->last > 0.0039);
  assert_int_equal(loop->first_beyond, 3); /* 3 x 4e-4 */
  assert_true(stage_named(narrow, "x", 1)->alone < 0.001);
  holds(note_of(narrow, ASSAY_LOOP_DRIFT), "the loop of stage 'expert' adds it up");
  holds(note_of(narrow, ASSAY_LOOP_DRIFT), "('x', fed back to 'x_t')");
  holds(note_of(narrow, ASSAY_LOOP_DRIFT), "from turn 3 on");
  holds(note_of(narrow, ASSAY_LOOP_DRIFT), "the accumulator");
  assert_int_equal(result_rung(result, "same")->verdict, VERDICT_PASS);
  assert_true(result->reference_noise.rounding_measured); /* the loop in fp64, too */
  gate_result_free(result);
  result = denoise(4e-4F, 1, "fp16"); /* one step alone passes */
  assert_int_equal(result_rung(result, "narrow")->verdict, VERDICT_PASS);
  gate_result_free(result);
  result = denoise(4e-4F, 10, "bf16");
  ended_at(result, 1.0039995F, 1.0F);
  gate_result_free(result);
  result = denoise(6e-4F, 10, "fp16");
  ended_at(result, added(6e-4F), 1.0097656F);
  gate_result_free(result);
  result = denoise(5e-3F, 10, "bf16");
  ended_at(result, added(5e-3F), 1.078125F);
  gate_result_free(result);
}

/* The corpus stores the final answer alone. As long as assay's own fp32 run of the contract's files gives that answer,
 * what stood between in that run stands in. */
static void a_recorded_reference_need_not_store_the_turns(void **state) {
  (void)state;
  struct gate_result *result = denoise_against(GATE, added(4e-4F), 4e-4F, 10, "fp16");
  const struct rung_result *narrow = result_rung(result, "narrow");
  assert_int_equal(narrow->verdict, VERDICT_REJECT);
  assert_int_equal(narrow->loops[0].first_beyond, 3);
  holds(note_of(narrow, ASSAY_LOOP_DRIFT), "from turn 3 on");
  holds(narrow->alone_how, "assay's own fp32 run");
  gate_result_free(result);
  result = denoise_against(GATE, 1.5F, 4e-4F, 10, "fp16"); /* the files are not what gave the answers */
  narrow = result_rung(result, "narrow");
  assert_int_equal(narrow->verdict, VERDICT_REJECT);
  assert_string_equal(note_of(narrow, ASSAY_LOOP_DRIFT), "");
  assert_string_equal(note_of(narrow, ASSAY_STAGE_DRIFT), "");
  holds(narrow->alone_how, "does not give its answers");
  gate_result_free(result);
}

/* The loop's answer goes through another file: the loop is named all the same. */
static void a_loop_before_the_last_stage_is_named(void **state) {
  (void)state;
  char *folder = temp_folder();
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "x_t", ASSAY_FLOAT32, "2");
  onnx_f32(graph, "step", "2", (const float[]){4e-4F, 4e-4F});
  onnx_node(graph, "Add", "x_t,step", "x_next");
  onnx_output(graph, "x_next", ASSAY_FLOAT32, "2");
  onnx_write(model, temp_path(folder, "expert.onnx"));
  proto_free(model);
  scaling(folder, "decoder.onnx", "x", "y", 1);
  temp_write(folder, "contract.yaml",
             "assay: 1\npolicy: flow\ninputs: [{name: noise, dtype: float32, shape: [2]}]\noutputs:\n"
             "  - {name: y, dtype: float32, shape: [2], components: [{name: a, count: 2, unit: rad, tolerance: {max: "
             "0.001}}]}\nstages:\n"
             "  - {name: expert, model: expert.onnx, inputs: {x_t: noise}, outputs: {x_next: x}, repeat: 10, carry: "
             "{x_t: x_next}}\n  - {name: decoder, model: decoder.onnx}\n");
  temp_write(folder, "gate.yaml",
             AGAINST
             "  - {name: same, engine: assay}\n  - {name: narrow, engine: assay, precision: fp16, required: "
             "false}\n");
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  build_f32(builder, "inputs/noise", "2", (const float[]){1, 1});
  build_f32(builder, "outputs/y", "2", (const float[]){0, 0});
  build_case(builder, &(struct corpus_case){.id = "flow"});
  build_done(builder);
  struct gate_result *result = policy_verify(folder);
  holds(note_of(result_rung(result, "narrow"), ASSAY_LOOP_DRIFT), "it comes from the loop of stage 'expert'");
  gate_result_free(result);
  temp_free(folder);
}

/* A run that was recorded tells what stood between its stages, if it stored it. */
static void a_recorded_rung_is_compared_between_its_stages(void **state) {
  (void)state;
  char *folder = staged_folder(contract, GATE "  - {name: robot, engine: recorded, outputs: run}\n", false);
  struct run_writer *writer;
  ASSERT_OK(run_writer_open(temp_path(folder, "run"), &writer));
  for (int i = 0; i < 3; i++) {
    const float obs[2] = {(float)i + 0.5F, -1.25F}, between[2] = {2 * obs[0] + 0.25F, 2 * obs[1]},
                answer[2] = {1.5F * obs[0] + 0.25F, 1.5F * obs[1]};
    assay_tensor action = test_tensor(ASSAY_FLOAT32, "2", answer), latent = test_tensor(ASSAY_FLOAT32, "2", between);
    const struct npz_entry entries[] = {{"outputs/action", &action}, {"taps/latent", &latent}};
    char id[8];
    snprintf(id, sizeof id, "c%d", i);
    ASSERT_OK(run_writer_case(writer, id, entries, 2));
    tensor_free(&action);
    tensor_free(&latent);
  }
  ASSERT_OK(run_writer_commit(writer));
  struct gate_result *result = policy_verify(folder);
  const struct rung_result *rung = result_rung(result, "robot");
  assert_int_equal(rung->verdict, VERDICT_REJECT);
  assert_true(stage_named(rung, "latent", 0)->ran == 0.25);
  assert_true(isnan(stage_named(rung, "latent", 0)->alone));
  assert_string_equal(rung->alone_how, "not measured: the answers were recorded");
  gate_result_free(result);
  temp_free(folder);
}

/* --- when memory runs out ------------------------------------------------------------- */

static assay_status attempt(const char *folder, enum verdict *verdict) {
  struct gate_result *result = NULL;
  struct text json = {0}, table = {0};
  assay_status status = gate_run(&(struct gate_options){.folder = folder}, &result);
  if (assay_status_ok(status)) {
    *verdict = result->verdict;
    status = report_json(result, &json);
  }
  if (assay_status_ok(status)) {
    status = report_terminal(result, &(struct terminal_options){.verbose = true}, &table);
  }
  text_free(&json);
  text_free(&table);
  gate_result_free(result);
  return status;
}

/* What a loop only adds up was handed to it, the same at every turn: the stage that gave it is named, not the loop. */
static void a_loop_is_not_blamed_for_what_it_was_handed(void **state) {
  (void)state;
  char *folder = temp_folder();
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "x_t", ASSAY_FLOAT32, "2");
  onnx_input(graph, "seen", ASSAY_FLOAT32, "2");
  onnx_node(graph, "Add", "x_t,seen", "x_next");
  onnx_output(graph, "x_next", ASSAY_FLOAT32, "2");
  onnx_write(model, temp_path(folder, "expert.onnx"));
  proto_free(model);
  scaling(folder, "vision.onnx", "front", "seen", 1);
  scaling(folder, "vision.int8.onnx", "front", "seen", 1.0005F);
  scaling(folder, "decoder.onnx", "x", "y", 1);
  temp_write(folder, "contract.yaml",
             "assay: 1\npolicy: flow\ninputs:\n  - {name: front, dtype: float32, shape: [2]}\n"
             "  - {name: noise, dtype: float32, shape: [2]}\noutputs:\n"
             "  - {name: x, dtype: float32, shape: [2], components: [{name: a, count: 2, unit: rad, tolerance: {max: "
             "0.001}}]}\n"
             "  - {name: y, dtype: float32, shape: [2], components: [{name: b, count: 2, unit: rad, tolerance: {max: "
             "0.001}}]}\nstages:\n  - {name: vision, model: vision.onnx}\n"
             "  - {name: expert, model: expert.onnx, inputs: {x_t: noise}, outputs: {x_next: x}, repeat: 10, carry: "
             "{x_t: x_next}}\n  - {name: decoder, model: decoder.onnx}\n");
  temp_write(folder, "gate.yaml",
             AGAINST
             "  - {name: same, engine: assay}\n"
             "  - {name: int8, engine: assay, models: {vision: vision.int8.onnx}, required: false}\n");
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  build_f32(builder, "inputs/front", "2", (const float[]){1, 1});
  build_f32(builder, "inputs/noise", "2", (const float[]){0, 0});
  build_f32(builder, "outputs/x", "2", (const float[]){10, 10});
  build_f32(builder, "outputs/y", "2", (const float[]){10, 10});
  build_case(builder, &(struct corpus_case){.id = "flow"});
  build_done(builder);
  struct gate_result *result = policy_verify(folder);
  const struct rung_result *int8 = result_rung(result, "int8");
  assert_int_equal(int8->verdict, VERDICT_REJECT);
  assert_string_equal(note_of(int8, ASSAY_LOOP_DRIFT), "");
  holds(note_of(int8, ASSAY_STAGE_DRIFT), "it comes from stage 'vision'");
  int32_t causes = 0;
  for (int32_t i = 0; i < int8->reasons.count; i++) {
    causes += int8->reasons.items[i].code == ASSAY_STAGE_DRIFT;
  }
  assert_int_equal(causes, 2); /* of both outputs, the one behind the loop too */
  gate_result_free(result);
  temp_free(folder);
}

static void lack_of_memory_never_gives_a_pass(void **state) {
  (void)state;
  char *folder =
      staged_folder(contract, GATE "  - {name: first, engine: assay, models: {encoder: encoder.int8.onnx}}\n", false);
  scaling(folder, "encoder.int8.onnx", "x", "y", 2.5F); /* to be rejected */
  for (int64_t n = 0;; n++) {
    enum verdict verdict = VERDICT_REJECT;
    memory_fail_at(n);
    assay_status status = attempt(folder, &verdict);
    int64_t asked = memory_fail_at(-1);
    assert_int_not_equal(verdict, VERDICT_PASS);
    if (asked <= n) {
      ASSERT_OK(status);
      break;
    }
    assay_status_clear(&status);
  }
  temp_free(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_files_pass_as_one_policy),
      cmocka_unit_test(a_rung_may_have_another_file_for_a_stage),
      cmocka_unit_test(the_gate_names_files_of_stages),
      cmocka_unit_test(an_inner_value_is_shown),
      cmocka_unit_test(an_inner_value_with_a_tolerance_decides),
      cmocka_unit_test(the_stage_that_causes_a_difference_is_named),
      cmocka_unit_test(a_corpus_may_store_what_stands_between),
      cmocka_unit_test(a_recorded_reference_need_not_store_the_turns),
      cmocka_unit_test(a_recorded_rung_is_compared_between_its_stages),
      cmocka_unit_test(a_loop_before_the_last_stage_is_named),
      cmocka_unit_test(a_loop_is_not_blamed_for_what_it_was_handed),
      cmocka_unit_test(lack_of_memory_never_gives_a_pass),
      cmocka_unit_test(small_steps_are_lost_in_a_narrow_accumulator),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
