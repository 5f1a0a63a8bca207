/* Importers on real deployment files, where the shared test data are: exactly which questions stay open, what the files
 * answer, and that the answered draft is a contract that binds to its model. */
#include <string.h>

#include "contract/model_signature.h"
#include "contract/terms.h"
#include "core/file.h"
#include "core/memory.h"
#include "imported.h"
#include "shared_files.h"

#define UNITREE "policies/unitreerobotics__unitree_rl_lab__g1_velocity_v0_policy"
#define MJLAB "policies/unitreerobotics__unitree_rl_mjlab__g1_velocity_v0/policy"
#define RL_SAR "policies/fan-ziqi__rl_sar__go2w_robot_lab_policy"
#define UR10 "policies/ManggoF__isaaclab_ur_reach_sim2real__reach_ur10_policy"
#define GPR "policies/kscalelabs__sim__gpr_walking_kinfer"
static const char g1_joints[] =
    "joint_names: [j0, j1, j2, j3, j4, j5, j6, j7, j8, j9, j10, j11, j12, j13, j14, j15, j16, "
    "j17, j18, j19, j20, j21, j22, j23, j24, j25, j26, j27, j28]\n";
static const char ur10_joints[] =
    "joint_names: [shoulder_pan_joint, shoulder_lift_joint, elbow_joint, wrist_1_joint, "
    "wrist_2_joint, wrist_3_joint]\n";

/* A policy while it is tried. */
struct trial {
  struct imported it;
  struct arena arena;
  struct model *model;
  struct signature signature;
  struct text draft;
};

static void begin(struct trial *trial, const char *model) {
  memset(trial, 0, sizeof *trial);
  const char *path = shared_path(model);
  if (path == NULL) {
    skip();
    return;
  }
  ASSERT_OK(model_open(path, NULL, &trial->model));
  ASSERT_OK(model_signature(trial->model, &trial->arena, &trial->signature));
  imported_begin(&trial->it, "policy.onnx", &trial->signature);
  ASSERT_OK(import_metadata(&trial->it.models, trial->it.facts));
}

/* A shared file under a short name, as if it lay there. */
static void add(struct trial *trial, const char *file, const char *name) {
  const char *path = shared_path(file);
  char *text = NULL;
  size_t size = 0;
  assert_non_null(path);
  ASSERT_OK(file_read(path, 1 << 20, &text, &size));
  ASSERT_OK(import_bytes(text, size, name, NULL, &trial->it.models, trial->it.facts));
  memory_free(text);
}

static void draft(struct trial *trial) {
  ASSERT_OK(imported_finish(&trial->it));
  ASSERT_OK(facts_finish(trial->it.facts));
  trial->draft = imported_draft(&trial->it);
}

static int32_t count_lines(const struct text *text) {
  int32_t lines = 0;
  for (const char *s = text_string(text); *s != '\0'; s++) {
    lines += *s == '\n';
  }
  return lines;
}

/* The answered draft is read, binds to the model, and its terms make the whole observation. */
static struct contract *answered(struct trial *trial, const char *const *answers, int32_t n) {
  struct contract *contract = imported_contract(&trial->draft, answers, n, ".");
  ASSERT_OK(contract_bind(contract, &trial->signature, "policy.onnx"));
  return contract;
}

static void end(struct trial *trial, struct contract *contract) {
  contract_free(contract);
  text_free(&trial->draft);
  imported_end(&trial->it);
  model_close(trial->model);
  arena_free(&trial->arena);
}

static void unitree_rl_lab(void **state) {
  (void)state;
  struct trial trial;
  begin(&trial, UNITREE ".onnx");
  add(&trial, UNITREE ".deploy.yaml", "deploy.yaml");
  draft(&trial);
  assert_open(&trial.draft,
              "groups.joints\noutputs[actions].hardware_order\n"
              "outputs[actions].components[0].tolerance.max\n");
  end(&trial, NULL);

  begin(&trial, UNITREE ".onnx");
  add(&trial, UNITREE ".deploy.yaml", "deploy.yaml");
  ASSERT_OK(imported_text(&trial.it, "joints.yaml", g1_joints));
  draft(&trial);
  assert_open(&trial.draft, "outputs[actions].components[0].tolerance.max\n");
  assert_true(count_lines(&trial.draft) < 60);
  assert_says(&trial.draft, "order: {value: oldest_first, source: deploy.yaml:30}");
  assert_says(&trial.draft, "hardware_order: {value: [j0, j3, j6, j9, j13, j17, j1,");
  assert_says(&trial.draft, "scale: {value: 0.05, source: deploy.yaml:55}");
  static const char *const answers[] = {"0.01"};
  struct contract *contract = answered(&trial, answers, 1);
  const struct contract_terms *terms = contract->inputs[0].terms;
  assert_int_equal(terms->n_terms, 6);
  assert_int_equal(terms->size, 480);
  assert_int_equal(terms->layout, HISTORY_TERM_MAJOR);
  assert_int_equal(terms->terms[3].history, 5);
  /* joint 2 is motor 12, whose stiffness is 200: the file lists gains by motor */
  assert_true(contract->outputs[0].components[2].kp == 200 && contract->outputs[0].components[2].kd == 5);
  assert_true(contract->outputs[0].components[9].kp == 150);
  /* motor 1 is joint 3 */
  assert_int_equal(contract->outputs[0].hardware_order[1], 3);
  end(&trial, contract);
}

static void unitree_rl_mjlab(void **state) {
  (void)state;
  struct trial trial;
  begin(&trial, MJLAB ".onnx");
  add(&trial, MJLAB ".deploy.yaml", "deploy.yaml");
  ASSERT_OK(imported_text(&trial.it, "joints.yaml", g1_joints));
  draft(&trial);
  assert_open(&trial.draft, "outputs[actions].components[0].tolerance.max\n");
  assert_null(strstr(text_string(&trial.draft), "hardware_order")); /* the motors stand in the joints' order */
  assert_null(strstr(text_string(&trial.draft), "history"));
  static const char *const answers[] = {"0.01"};
  struct contract *contract = answered(&trial, answers, 1);
  assert_int_equal(contract->inputs[0].terms->size, 96);
  assert_true(contract->outputs[0].components[20].kp == 16.8);
  end(&trial, contract);
}

static void rl_sar(void **state) {
  (void)state;
  struct trial trial;
  begin(&trial, RL_SAR ".onnx");
  add(&trial, RL_SAR ".config.yaml", "config.yaml");
  add(&trial, RL_SAR ".base.yaml", "base.yaml");
  draft(&trial);
  assert_open(&trial.draft,
              "outputs[actions].components[0].tolerance.max\n"
              "outputs[actions].components[1].tolerance.max\n");
  static const char *const answers[] = {"0.01", "0.05"};
  struct contract *contract = answered(&trial, answers, 2);
  const struct contract_input *input = &contract->inputs[0];
  assert_int_equal(input->terms->size, 57);
  assert_true(input->terms->has_clip && input->terms->clip_max == 100);
  const struct contract_component *thigh = &contract->outputs[0].components[1], *wheel = thigh + 14;
  assert_string_equal(thigh->name, "FR_thigh_joint");
  assert_string_equal(wheel->unit, "rad/s");
  assert_true(wheel->kp == 0 && wheel->kd == 0.5);
  assert_true(contract->period_ms == 20);
  /* clip, scale, offset: config.yaml's 0.5 of the thigh, where base.yaml has the 0.8 of standing up */
  assert_int_equal(thigh->n_decode, 3);
  assert_true(thigh->decode[1].a == 0.25 && thigh->decode[2].a == 0.5);
  end(&trial, contract);
}

static void isaac_lab(void **state) {
  (void)state;
  struct trial trial;
  begin(&trial, UR10 ".onnx");
  add(&trial, UR10 ".env.yaml", "env.yaml");
  add(&trial, UR10 ".agent.yaml", "agent.yaml");
  draft(&trial);
  assert_open(&trial.draft,
              "groups.joints\ninputs[obs].terms[joint_pos].offset\noutputs[actions].decode[1].offset\n"
              "outputs[actions].components[0].tolerance.max\n");
  end(&trial, NULL);

  begin(&trial, UR10 ".onnx");
  ASSERT_OK(imported_text(&trial.it, "joints.yaml", ur10_joints));
  add(&trial, UR10 ".env.yaml", "env.yaml");
  add(&trial, UR10 ".agent.yaml", "agent.yaml");
  draft(&trial);
  assert_open(&trial.draft, "outputs[actions].components[0].tolerance.max\n");
  assert_says(&trial.draft, "policy: reach_ur10");
  static const char *const answers[] = {"0.01"};
  struct contract *contract = answered(&trial, answers, 1);
  assert_int_equal(contract->inputs[0].terms->size, 25);
  assert_string_equal(contract->inputs[0].terms->terms[2].elements[3], "qw");
  const struct contract_component *lift = &contract->outputs[0].components[1];
  assert_true(lift->decode[0].a == 0.5 && lift->decode[1].a == -1.712 && lift->kp == 800 && lift->kd == 40);
  end(&trial, contract);
}

static void k_scale(void **state) {
  (void)state;
  struct trial trial;
  begin(&trial, GPR ".onnx");
  draft(&trial);
  assert_open(&trial.draft,
              "inputs[x_vel.1].unit\ninputs[y_vel.1].unit\ninputs[rot.1].unit\n"
              "outputs[actions_scaled].components[0].names\noutputs[actions_scaled].components[0].unit\n"
              "outputs[actions_scaled].components[0].tolerance.max\n"
              "outputs[actions].components[0].names\noutputs[actions].components[0].unit\n"
              "outputs[actions].components[0].tolerance.max\n");
  static const char names[] = "[a, b, c, d, e, f, g, h, i, j]";
  static const char *const answers[] = {"m/s", "m/s", "rad/s", names, "rad", "0.01", names, "\"1\"", "0.01"};
  struct contract *contract = answered(&trial, answers, 9);
  assert_int_equal(contract->n_states, 1);
  assert_string_equal(contract->states[0].input, "buffer.1");
  assert_true(contract->period_ms == 10);
  end(&trial, contract);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unitree_rl_lab), cmocka_unit_test(unitree_rl_mjlab), cmocka_unit_test(rl_sar),
      cmocka_unit_test(isaac_lab),      cmocka_unit_test(k_scale),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
