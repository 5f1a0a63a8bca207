/* LimX TRON1's two files as one policy, walked sixty steps: what the gate runs is held against a walk made here, with
 * the observation built in plain C by the formulas of tron1-rl-deploy-python and the two files run by hand, one after
 * the other. The files are test data that may be absent; then this skips. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/memory.h"
#include "core/text.h"
#include "corpus_builder.h"
#include "engine/engine.h"
#include "gate/gate.h"
#include "shared_files.h"
#include "support.h"

enum { STEPS = 60, JOINTS = 6, OBS = 30, HISTORY = 10, LATENT = 3, COMMANDS = 3, ACTOR = LATENT + OBS + COMMANDS };

/* One walk: what the robot measured, what the two files were fed, and what they answered. */
static struct walk {
  double gyro[STEPS][3], gravity[STEPS][3], q[STEPS][JOINTS], dq[STEPS][JOINTS], gait[STEPS][4],
      commands[STEPS][COMMANDS];
  float history[STEPS][OBS * HISTORY], obs[STEPS][ACTOR], latent[STEPS][LATENT], action[STEPS][JOINTS];
} walk;

#define MODEL "policies/limxdynamics__tron1-rl-deploy-python__PF_TRON1A_isaacgym_"

/* A file of the test data, run by hand. */
struct file {
  struct model *model;
  struct session *session;
};

static struct file open_file(const char *name) {
  struct file file;
  struct session_options options = {.threads = 1, .kernel_level = -1};
  ASSERT_OK(model_open(shared_path(name), NULL, &file.model));
  ASSERT_OK(session_open(file.model, &options, &file.session));
  return file;
}

static void close_file(struct file *file) {
  session_close(file->session);
  model_close(file->model);
}

static void run_file(const struct file *file, float *input, int64_t n, float *output, size_t n_output) {
  assay_tensor tensor = {ASSAY_FLOAT32, 1, {n}, input, (size_t)n * sizeof *input};
  struct named_tensor feed = {"mlp_input", &tensor};
  struct session_run run = {.inputs = &feed, .n_inputs = 1};
  const struct named_tensor *outputs;
  size_t count;
  ASSERT_OK(session_run(file->session, &run, &outputs, &count));
  assert_int_equal(count, 1);
  assert_int_equal(outputs[0].tensor->bytes, n_output * sizeof *output);
  memcpy(output, outputs[0].tensor->data, n_output * sizeof *output);
}

/* Smooth, of the sizes that a walking robot has, and other in every element. */
static void measure(int step) {
  double t = 0.02 * step;
  for (int i = 0; i < 3; i++) {
    walk.gyro[step][i] = 0.4 * sin(3.1 * t + i) + 0.05 * i;
    walk.commands[step][i] = 0.3 + 0.1 * i;
  }
  double roll = 0.08 * sin(2.3 * t), pitch = 0.05 * cos(1.7 * t);
  walk.gravity[step][0] = sin(pitch);
  walk.gravity[step][1] = -sin(roll) * cos(pitch);
  walk.gravity[step][2] = -cos(roll) * cos(pitch);
  for (int i = 0; i < JOINTS; i++) {
    walk.q[step][i] = 0.3 * sin(6.3 * t + 0.9 * i) - 0.1 * (i % 3);
    walk.dq[step][i] = 1.9 * cos(6.3 * t + 0.9 * i);
  }
  const double gait[4] = {2.0, 0.5, 0.5, 0.1};
  memcpy(walk.gait[step], gait, sizeof gait);
}

/* The thirty numbers of one step, as the controller concatenates them. */
static void observe(int step, double gait_index, const float *last_action, double obs[OBS]) {
  static const double pi = 3.14159265358979323846;
  int n = 0;
  for (int i = 0; i < 3; i++) {
    obs[n++] = walk.gyro[step][i] * 0.25;
  }
  for (int i = 0; i < 3; i++) {
    obs[n++] = walk.gravity[step][i];
  }
  for (int i = 0; i < JOINTS; i++) {
    obs[n++] = (walk.q[step][i] - 0.0) * 1.0;
  }
  for (int i = 0; i < JOINTS; i++) {
    obs[n++] = walk.dq[step][i] * 0.05;
  }
  for (int i = 0; i < JOINTS; i++) {
    obs[n++] = (double)last_action[i];
  }
  obs[n++] = sin(gait_index * 2 * pi);
  obs[n++] = cos(gait_index * 2 * pi);
  for (int i = 0; i < 4; i++) {
    obs[n++] = walk.gait[step][i];
  }
  assert_int_equal(n, OBS);
}

static double clipped(double x) { return x < -100 ? -100 : x > 100 ? 100 : x; }

/* The whole walk: history of ten observations, oldest first, filled with the first one; encoder; then the actor on
 * latent, observation and scaled commands. */
static void walk_by_hand(void) {
  static const double command_scales[COMMANDS] = {1.5, 1.0, 0.5};
  struct file encoder = open_file(MODEL "encoder.onnx"), actor = open_file(MODEL "policy.onnx");
  double buffer[HISTORY][OBS], gait_index = 0;
  float last_action[JOINTS] = {0};
  for (int step = 0; step < STEPS; step++) {
    double obs[OBS];
    measure(step);
    gait_index += 0.02 * 2.0;
    gait_index = gait_index > 1.0 ? 0.0 : gait_index;
    observe(step, gait_index, last_action, obs);
    for (int h = 0; h < HISTORY && step == 0; h++) {
      memcpy(buffer[h], obs, sizeof obs);
    }
    memmove(buffer[0], buffer[1], (HISTORY - 1) * sizeof obs);
    memcpy(buffer[HISTORY - 1], obs, sizeof obs);
    for (int i = 0; i < HISTORY * OBS; i++) {
      walk.history[step][i] = (float)buffer[i / OBS][i % OBS];
    }
    run_file(&encoder, walk.history[step], HISTORY * OBS, walk.latent[step], LATENT);
    memcpy(walk.obs[step], walk.latent[step], sizeof walk.latent[step]);
    for (int i = 0; i < OBS; i++) {
      walk.obs[step][LATENT + i] = (float)clipped(obs[i]);
    }
    for (int i = 0; i < COMMANDS; i++) {
      walk.obs[step][LATENT + OBS + i] = (float)(walk.commands[step][i] * command_scales[i]);
    }
    run_file(&actor, walk.obs[step], ACTOR, walk.action[step], JOINTS);
    memcpy(last_action, walk.action[step], sizeof last_action);
  }
  close_file(&encoder);
  close_file(&actor);
}

static const char policy[] = ASSAY_SOURCE_DIR "/tests/policies/limx_tron1_stages";

static char *read_text(const char *file) {
  char path[512], *text;
  size_t size;
  snprintf(path, sizeof path, "%s/%s", policy, file);
  ASSERT_OK(file_read(path, 1 << 20, &text, &size));
  return text;
}

static void copy_shared(const char *folder, const char *name, const char *to) {
  char *bytes;
  size_t size;
  ASSERT_OK(file_read(shared_path(name), 1 << 24, &bytes, &size));
  temp_write_bytes(folder, to, bytes, size);
  memory_free(bytes);
}

/* `from` in the contract becomes `to`, where given. */
static void put_contract(const char *folder, const char *from, const char *to) {
  char *text = read_text("contract.yaml"), *gate = read_text("gate.yaml");
  struct text changed = {0};
  for (const char *rest = text; *rest != '\0';) {
    const char *at = from != NULL ? strstr(rest, from) : NULL;
    if (at == NULL) {
      text_add(&changed, rest);
      break;
    }
    text_add_bytes(&changed, rest, (size_t)(at - rest));
    text_add(&changed, to);
    rest = at + strlen(from);
  }
  if (from != NULL && strcmp(text_string(&changed), text) == 0) {
    fail_msg("the contract does not hold \"%s\"", from);
  }
  temp_write(folder, "contract.yaml", text_string(&changed));
  temp_write(folder, "gate.yaml", gate);
  text_free(&changed);
  memory_free(text);
  memory_free(gate);
}

enum stored { SENSORS = 1, OBSERVATIONS = 2 };

static char *folder_with(int stored, const char *from, const char *to) {
  char *folder = temp_folder();
  copy_shared(folder, MODEL "encoder.onnx", "encoder.onnx");
  copy_shared(folder, MODEL "policy.onnx", "policy.onnx");
  put_contract(folder, from, to);
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  if (stored & SENSORS) {
    build_f64(builder, "raw/base_ang_vel", "60,3", &walk.gyro[0][0]);
    build_f64(builder, "raw/projected_gravity", "60,3", &walk.gravity[0][0]);
    build_f64(builder, "raw/joint_pos", "60,6", &walk.q[0][0]);
    build_f64(builder, "raw/joint_vel", "60,6", &walk.dq[0][0]);
    build_f64(builder, "raw/gait", "60,4", &walk.gait[0][0]);
    build_f64(builder, "raw/commands", "60,3", &walk.commands[0][0]);
  }
  if (stored & OBSERVATIONS) {
    build_f32(builder, "inputs/history", "60,300", &walk.history[0][0]);
    build_f32(builder, "inputs/obs", "60,36", &walk.obs[0][0]);
  }
  build_f32(builder, "outputs/latent", "60,3", &walk.latent[0][0]);
  build_f32(builder, "outputs/action", "60,6", &walk.action[0][0]);
  build_case(builder, &(struct corpus_case){.id = "walk", .sequence = true});
  build_done(builder);
  return folder;
}

static struct gate_result *verify(const char *folder) {
  struct gate_options options = {.folder = folder};
  struct gate_result *result = NULL;
  ASSERT_OK(gate_run(&options, &result));
  return result;
}

static void say_all(const struct gate_result *result) {
  for (int32_t i = 0; i < result->reasons.count; i++) {
    print_error("%s: %s\n", assay_code_name(result->reasons.items[i].code), result->reasons.items[i].sentence);
  }
  for (int32_t i = 0; i < result->rungs[0].reasons.count; i++) {
    print_error("%s: %s\n", assay_code_name(result->rungs[0].reasons.items[i].code),
                result->rungs[0].reasons.items[i].sentence);
  }
}

static const struct stage_result *stage_of(const struct gate_result *result, const char *value) {
  const struct rung_result *rung = &result->rungs[0];
  for (int32_t i = 0; i < rung->n_stages; i++) {
    if (strcmp(rung->stages[i].value, value) == 0) {
      return &rung->stages[i];
    }
  }
  fail_msg("no stage gives '%s'", value);
  return NULL;
}

static double largest_action(void) {
  double largest = 0;
  for (int s = 0; s < STEPS; s++) {
    for (int i = 0; i < JOINTS; i++) {
      largest = fmax(largest, fabs((double)walk.action[s][i]));
    }
  }
  return largest;
}

/* Fed the same observations, the policy of two stages gives the same bits as the two files by hand. */
static void the_two_files_are_one_policy(void **state) {
  (void)state;
  char *folder = folder_with(OBSERVATIONS, NULL, NULL);
  struct gate_result *result = verify(folder);
  if (result->verdict != VERDICT_PASS) {
    say_all(result);
  }
  assert_int_equal(result->verdict, VERDICT_PASS);
  assert_true(largest_action() > 0.05); /* the walk moves */
  assert_int_equal(stage_of(result, "latent")->n, STEPS * LATENT);
  assert_true(stage_of(result, "latent")->ran == 0);
  assert_int_equal(stage_of(result, "action")->n, STEPS * JOINTS);
  assert_true(stage_of(result, "action")->ran == 0);
  assert_true(stage_of(result, "action")->alone == 0);
  gate_result_free(result);
  temp_free(folder);
}

static void rejects(int stored, const char *from, const char *to) {
  char *folder = folder_with(stored, from, to);
  struct gate_result *result = verify(folder);
  if (result->verdict != VERDICT_REJECT) {
    say_all(result);
    fail_msg("'%s' instead of '%s' was not caught", to, from);
  }
  gate_result_free(result);
  temp_free(folder);
}

static void the_encoders_answer_in_another_order_is_caught(void **state) {
  (void)state;
  rejects(OBSERVATIONS, "{name: latent, from: {output: latent, lag: 0}}",
          "{name: latent, from: {output: latent, lag: 0}, elements: [\"z[2]\", \"z[1]\", \"z[0]\"]}");
}

static void refused(const char *from, const char *to, const char *part) {
  char *folder = folder_with(OBSERVATIONS, from, to);
  struct gate_options options = {.folder = folder};
  struct gate_result *result = NULL;
  ASSERT_FAILS(gate_run(&options, &result), ASSAY_CONTRACT_MISMATCH, part);
  temp_free(folder);
}

static void stages_wired_to_the_wrong_input_are_refused(void **state) {
  (void)state;
  refused("inputs: {mlp_input: history}", "inputs: {mlp_input: obs}", "which no stage before 'encoder' gives");
  refused("inputs: {mlp_input: obs}", "inputs: {mlp_input: history}", "input 'history' has shape [300] here, but [36]");
  refused("model: encoder.onnx", "model: policy.onnx", "input 'history' has shape [300] here, but [36]");
  refused("outputs: {mlp_output: latent}", "outputs: {mlp_output: latents}",
          "is the 'latent' of the same step, which no stage before 'actor' gives");
}

/* From the sensors alone: assay builds both observations, puts the latent in between the files, and feeds the action
 * back. */
static void it_walks_sixty_steps_in_a_closed_loop(void **state) {
  (void)state;
  char *folder = folder_with(SENSORS, NULL, NULL);
  struct gate_result *result = verify(folder);
  if (result->verdict != VERDICT_PASS) {
    say_all(result);
  }
  assert_int_equal(result->verdict, VERDICT_PASS);
  assert_int_equal(stage_of(result, "latent")->n, STEPS * LATENT);
  assert_int_equal(stage_of(result, "action")->n, STEPS * JOINTS);
  if (!(stage_of(result, "action")->ran < 1e-4)) { /* sin and cos differ in the last bit */
    fail_msg("the closed loop is off by %g after %d steps", stage_of(result, "action")->ran, STEPS);
  }
  gate_result_free(result);
  temp_free(folder);
}

/* Stored and rebuilt observations agree, apart from the latent, which is the rung's own. */
static void rebuilt_observations_are_the_stored_ones(void **state) {
  (void)state;
  char *folder = folder_with(SENSORS | OBSERVATIONS, NULL, NULL);
  struct gate_result *result = verify(folder);
  if (result->verdict != VERDICT_PASS) {
    say_all(result);
  }
  assert_int_equal(result->verdict, VERDICT_PASS);
  gate_result_free(result);
  temp_free(folder);
}

static void a_reversed_history_is_caught(void **state) {
  (void)state;
  rejects(SENSORS, "order: oldest_first", "order: newest_first");
  rejects(SENSORS | OBSERVATIONS, "order: oldest_first", "order: newest_first");
}

static void a_decoded_action_fed_back_is_caught(void **state) {
  (void)state;
  rejects(SENSORS, "space: raw, lag: 1}, history: 10", "space: decoded, lag: 1}, history: 10");
}

static void a_wrong_phase_is_caught(void **state) {
  (void)state;
  rejects(SENSORS, "start: 0.04", "start: 0");
}

int main(void) {
  if (shared_path(MODEL "encoder.onnx") == NULL || shared_path(MODEL "policy.onnx") == NULL) {
    print_message("skipped: the policies of others are not here\n");
    return 77;
  }
  walk_by_hand();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_two_files_are_one_policy),
      cmocka_unit_test(it_walks_sixty_steps_in_a_closed_loop),
      cmocka_unit_test(rebuilt_observations_are_the_stored_ones),
      cmocka_unit_test(a_reversed_history_is_caught),
      cmocka_unit_test(a_decoded_action_fed_back_is_caught),
      cmocka_unit_test(a_wrong_phase_is_caught),
      cmocka_unit_test(the_encoders_answer_in_another_order_is_caught),
      cmocka_unit_test(stages_wired_to_the_wrong_input_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
