/* Contracts written by hand from the configuration files of policies that others deploy (tests/policies). The
 * models and what ONNX Runtime answered for them are test data that may be absent; then these tests skip. For
 * each policy the whole gate must PASS, with the decoding checked against the numbers of the configuration file
 * itself, and must REJECT when two joints are exchanged, in the contract or by the robot, and when a scale
 * is wrong. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "contract/contract.h"
#include "core/file.h"
#include "core/memory.h"
#include "corpus/run_folder.h"
#include "corpus_builder.h"
#include "gate/gate.h"
#include "shared_files.h"
#include "support.h"

/* Where the numbers of a list stand in a configuration file: behind `section` and then `key`. */
struct numbers {
  const char *section, *key;
};

struct policy {
  const char *name;   /* of the folder in tests/policies */
  const char *model;  /* in policies/ of the test data */
  const char *config; /* the file with the decoding; NULL: none, nothing is decoded */
  struct numbers scale, offset;
  double clip;          /* both sides; 0: none */
  const char *swap[2];  /* two components of the first output */
  const char *scale_is; /* text of the contract, and what a wrong scale makes of it; NULL: no scale */
  const char *scale_should_not_be;
  const char *state[2]; /* input and output; NULL: none */
};

#define SHARED "policies/"
static const struct policy policies[] = {
    {"unitree_g1_velocity",
     "unitreerobotics__unitree_rl_lab__g1_velocity_v0_policy.onnx",
     "unitreerobotics__unitree_rl_lab__g1_velocity_v0_policy.deploy.yaml",
     {"JointPositionAction:", "scale:"},
     {"JointPositionAction:", "offset:"},
     0,
     {"left_knee", "right_knee"},
     "scale: {value: 0.25",
     "scale: {value: 1",
     {NULL, NULL}},
    {"unitree_g1_mjlab",
     "unitreerobotics__unitree_rl_mjlab__g1_velocity_v0/policy.onnx",
     "unitreerobotics__unitree_rl_mjlab__g1_velocity_v0/policy.deploy.yaml",
     {"JointPositionAction:", "scale:"},
     {"JointPositionAction:", "offset:"},
     0,
     {"left_ankle_pitch", "left_ankle_roll"},
     "0.55, 0.35, 0.55, 0.35", /* one scale mistyped */
     "0.55, 0.55, 0.55, 0.35",
     {NULL, NULL}},
    {"go2w_wheels",
     "fan-ziqi__rl_sar__go2w_robot_lab_policy.onnx",
     "fan-ziqi__rl_sar__go2w_robot_lab_policy.config.yaml",
     {"", "action_scale:"},
     {"", "default_dof_pos:"},
     100,
     {"FR_hip_joint", "FL_hip_joint"},
     "scale: {value: 5",
     "scale: {value: 1",
     {NULL, NULL}},
    {"limx_tron1",
     "limxdynamics__tron1-rl-deploy-python__PF_TRON1A_isaacgym_policy.onnx",
     "limxdynamics__tron1-rl-deploy-python__PF_TRON1A_isaacgym_policy.params.yaml",
     {"", "action_scale_pos:"},
     {"", "default_joint_angle:"},
     100,
     {"hip_L_Joint", "hip_R_Joint"},
     "scale: {value: 0.25",
     "scale: {value: 1",
     {NULL, NULL}},
    {"limx_tron1_encoder",
     "limxdynamics__tron1-rl-deploy-python__PF_TRON1A_isaacgym_encoder.onnx",
     NULL,
     {NULL, NULL},
     {NULL, NULL},
     0,
     {"latent[0]", "latent[2]"},
     NULL,
     NULL,
     {NULL, NULL}},
    {"berkeley_humanoid_lite",
     "HybridRobotics__Berkeley-Humanoid-Lite__policy_humanoid.onnx",
     "HybridRobotics__Berkeley-Humanoid-Lite__policy_humanoid.policy_humanoid.yaml",
     {"", "action_scale:"},
     {"", "default_joint_positions:"},
     10000,
     {"leg_left_knee_pitch_joint", "leg_right_knee_pitch_joint"},
     "scale: {value: 0.25",
     "scale: {value: 0.5",
     {NULL, NULL}},
    {"go1_decap",
     "ttktjmt__muwanx__go1_decap.onnx",
     "ttktjmt__muwanx__go1_decap.go1_decap.json",
     {"", "\"action_scale\":"},
     {NULL, NULL},
     0,
     {"FL_hip_joint", "FR_hip_joint"},
     "scale: {value: 8",
     "scale: {value: 1",
     {NULL, NULL}},
    {"ur10_reach",
     "ManggoF__isaaclab_ur_reach_sim2real__reach_ur10_policy.onnx",
     "ManggoF__isaaclab_ur_reach_sim2real__reach_ur10_policy.env.yaml",
     {"arm_action:", "scale:"},
     {"", "joint_pos:"},
     0,
     {"shoulder_lift_joint", "elbow_joint"},
     "scale: {value: 0.5",
     "scale: {value: 0.05",
     {NULL, NULL}},
    {"open_duck_mini",
     "ros-controls__ros2_control_demos__open_duck_mini_policy.onnx",
     "ros-controls__ros2_control_demos__open_duck_mini_policy.open_duck_mini_controllers.yaml",
     {"Action processing parameters", "action_scale:"},
     {"Standing pose", "default_joint_positions:"},
     0,
     {"head_pitch", "head_yaw"},
     "scale: {value: 0.25",
     "scale: {value: -0.25",
     {NULL, NULL}},
    {"kscale_gpr",
     "kscalelabs__sim__gpr_walking_kinfer.onnx",
     NULL,
     {NULL, NULL},
     {NULL, NULL},
     0,
     {"L_hip_y", "L_hip_x"},
     NULL,
     NULL,
     {"buffer.1", "x.3"}},
};
enum { POLICIES = sizeof policies / sizeof *policies, COMPONENTS_MAX = 64, STEPS_MAX = 8 };

/* --- the answers of ONNX Runtime ------------------------------------------------- */

static json_t *reference; /* the line of the policy under test */

/* False, and said, when the test data is absent. */
static bool load_reference(const char *model) {
  const char *path = shared_path(SHARED "REFERENCE.jsonl");
  if (path == NULL) {
    return false;
  }
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  char *line = NULL;
  size_t size = 0;
  reference = NULL;
  while (reference == NULL && getline(&line, &size, file) > 0) {
    json_t *read = json_loads(line, 0, NULL);
    assert_non_null(read);
    if (strcmp(json_string_value(json_object_get(read, "file")), model) == 0) {
      reference = read;
    } else {
      json_decref(read);
    }
  }
  free(line);
  fclose(file);
  assert_non_null(reference);
  return true;
}

static int64_t dims_of(const json_t *tensor, int64_t *dims, int32_t *rank) {
  const json_t *list = json_object_get(tensor, "dims");
  int64_t count = 1;
  *rank = (int32_t)json_array_size(list);
  for (int32_t i = 0; i < *rank; i++) {
    dims[i] = (int64_t)json_integer_value(json_array_get(list, (size_t)i));
    count *= dims[i];
  }
  return count;
}

/* "2,3" with a leading number of steps where it is not 0. */
static void shape_text(char *out, size_t size, int steps, const json_t *tensor) {
  int64_t dims[ASSAY_RANK_MAX];
  int32_t rank;
  dims_of(tensor, dims, &rank);
  size_t used = 0;
  out[0] = '\0';
  if (steps > 0) {
    used += (size_t)snprintf(out, size, "%d", steps);
  }
  for (int32_t i = 0; i < rank; i++) {
    used += (size_t)snprintf(out + used, size - used, "%s%d", used > 0 ? "," : "", (int)dims[i]);
  }
}

/* The ramp that the answers were made with: element j of input k. */
static float ramp(int64_t j, int64_t k) { return (float)((j * 37 + 11 * (k + 1)) % 101 - 50) / 64.0F; }

/* Adds inputs and outputs of `steps` runs (0: one, without a step axis) to the next case. */
static void add_arrays(struct corpus_builder *builder, json_t *const *runs, int steps, const struct policy *policy) {
  int n = steps > 0 ? steps : 1;
  bool zeros = strcmp(json_string_value(json_object_get(runs[0], "mode")), "zeros") == 0;
  const char *name;
  json_t *tensor;
  char array[200], shape[200];
  int64_t k = 0, dims[ASSAY_RANK_MAX];
  int32_t rank;
  json_object_foreach(json_object_get(runs[0], "inputs"), name, tensor) {
    int64_t count = dims_of(tensor, dims, &rank);
    float *values = calloc((size_t)(count * n), sizeof *values);
    assert_non_null(values);
    for (int64_t i = 0; i < count * n && !zeros; i++) {
      values[i] = ramp(i % count, k);
    }
    k++;
    bool carried = steps > 0 && policy->state[0] != NULL && strcmp(name, policy->state[0]) == 0;
    if (!carried) {
      snprintf(array, sizeof array, "inputs/%s", name);
      shape_text(shape, sizeof shape, steps, tensor);
      build_f32(builder, array, shape, values);
    }
    free(values);
  }
  json_object_foreach(json_object_get(runs[0], "outputs"), name, tensor) {
    int64_t count = dims_of(tensor, dims, &rank);
    float *values = calloc((size_t)(count * n), sizeof *values);
    assert_non_null(values);
    for (int step = 0; step < n; step++) {
      const json_t *list = json_object_get(json_object_get(json_object_get(runs[step], "outputs"), name), "values");
      assert_int_equal(json_array_size(list), count);
      for (int64_t i = 0; i < count; i++) {
        values[step * count + i] = (float)json_number_value(json_array_get(list, (size_t)i));
      }
    }
    snprintf(array, sizeof array, "outputs/%s", name);
    shape_text(shape, sizeof shape, steps, tensor);
    build_f32(builder, array, shape, values);
    free(values);
  }
}

/* --- the decoding that the configuration file describes ----------------------------- */

/* The `count` numbers behind section and key, in the order of the file. A number starts behind a blank, '['
 * or ','. */
static void numbers_in(const char *text, const struct numbers *where, double *out, int count) {
  const char *at = strstr(text, where->section);
  assert_non_null(at);
  at = strstr(at, where->key);
  assert_non_null(at);
  at += strlen(where->key);
  for (int i = 0; i < count; at++) {
    assert_int_not_equal(*at, '\0');
    bool begins = strchr(" \n[,", at[-1]) != NULL || i == 0;
    bool number = (*at >= '0' && *at <= '9') || (*at == '-' && at[1] >= '0' && at[1] <= '9');
    if (begins && number) {
      char *end;
      out[i++] = strtod(at, &end);
      at = end - 1;
    }
  }
}

struct decoding {
  double scale[COMPONENTS_MAX], offset[COMPONENTS_MAX], clip;
};

static void read_decoding(const struct policy *policy, int count, struct decoding *out) {
  char relative[300], *text;
  size_t size;
  snprintf(relative, sizeof relative, SHARED "%s", policy->config);
  const char *path = shared_path(relative);
  assert_non_null(path);
  ASSERT_OK(file_read(path, 1 << 20, &text, &size));
  *out = (struct decoding){.clip = policy->clip};
  const char *scale = strstr(strstr(text, policy->scale.section), policy->scale.key);
  bool listed = strchr(scale, '[') != NULL && strchr(scale, '[') < strchr(scale, '\n');
  numbers_in(text, &policy->scale, out->scale, listed ? count : 1);
  for (int i = 1; i < count && !listed; i++) {
    out->scale[i] = out->scale[0];
  }
  if (policy->offset.key != NULL) {
    numbers_in(text, &policy->offset, out->offset, count);
  }
  memory_free(text);
}

/* decoded/<component> as the robot's own program would compute it. */
static void add_decoded(struct corpus_builder *builder, const json_t *run, const struct contract_output *output,
                        const struct decoding *decoding) {
  const json_t *list = json_object_get(json_object_get(json_object_get(run, "outputs"), output->name), "values");
  for (int32_t c = 0; c < output->n_components; c++) {
    double value = json_number_value(json_array_get(list, (size_t)c));
    if (decoding->clip > 0) {
      value = value > decoding->clip ? decoding->clip : value < -decoding->clip ? -decoding->clip : value;
    }
    double decoded = decoding->offset[c] + decoding->scale[c] * value;
    char array[200];
    snprintf(array, sizeof array, "decoded/%s", output->components[c].name);
    build_f64(builder, array, "1", &decoded);
  }
}

/* --- the policy folder -------------------------------------------------------------- */

static void copy_file(const char *from, const char *to) {
  char *bytes;
  size_t size;
  ASSERT_OK(file_read(from, 1 << 28, &bytes, &size));
  ASSERT_OK(file_replace(to, bytes, size));
  memory_free(bytes);
}

static struct contract *contract_of(const struct policy *policy) {
  struct contract *contract;
  char path[600];
  snprintf(path, sizeof path, "%s/tests/policies/%s/contract.yaml", ASSAY_SOURCE_DIR, policy->name);
  ASSERT_OK(contract_read(path, &contract));
  return contract;
}

static void make_corpus(const struct policy *policy, const char *folder) {
  struct contract *contract = contract_of(policy);
  const struct contract_output *output = &contract->outputs[0];
  struct decoding decoding;
  if (policy->config != NULL) {
    read_decoding(policy, output->n_components, &decoding);
  }
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  json_t *steps[STEPS_MAX], *run;
  int n_steps = 0;
  size_t i;
  json_array_foreach(json_object_get(reference, "runs"), i, run) {
    const char *mode = json_string_value(json_object_get(run, "mode"));
    if (strncmp(mode, "ramp_state0", 11) == 0) {
      assert_true(n_steps < STEPS_MAX);
      steps[n_steps++] = run;
      continue;
    }
    add_arrays(builder, &run, 0, policy);
    if (policy->config != NULL) {
      add_decoded(builder, run, output, &decoding);
    }
    build_case(builder, &(struct corpus_case){.id = mode});
  }
  if (n_steps > 0) {
    add_arrays(builder, steps, n_steps, policy);
    build_case(builder, &(struct corpus_case){.id = "ramp_steps", .sequence = true});
  }
  build_done(builder);
  contract_free(contract);
}

/* The robot's recorded answers: right but for two joints of the first output that stand exchanged. */
static void record_exchanged(const struct policy *policy, const char *folder) {
  struct contract *contract = contract_of(policy);
  const struct contract_output *output = &contract->outputs[0];
  int32_t a = -1, b = -1;
  for (int32_t c = 0; c < output->n_components; c++) {
    a = strcmp(output->components[c].name, policy->swap[0]) == 0 ? c : a;
    b = strcmp(output->components[c].name, policy->swap[1]) == 0 ? c : b;
  }
  assert_true(a >= 0 && b >= 0);
  struct corpus *corpus;
  struct run_writer *writer;
  ASSERT_OK(corpus_open(temp_path(folder, "golden"), &corpus));
  ASSERT_OK(run_writer_open(temp_path(folder, "exchanged"), &writer));
  for (int32_t i = 0; i < corpus->n_cases; i++) {
    struct case_data *data;
    ASSERT_OK(case_load(corpus, i, &data));
    struct npz_entry entries[8];
    char names[8][200];
    for (int32_t o = 0; o < data->n_outputs; o++) {
      snprintf(names[o], sizeof names[o], "outputs/%s", data->outputs[o].name);
      entries[o] = (struct npz_entry){names[o], &data->outputs[o].tensor};
      if (strcmp(data->outputs[o].name, output->name) == 0) {
        float *values = data->outputs[o].tensor.data;
        int64_t count = tensor_count(&data->outputs[o].tensor);
        for (int64_t row = 0; row < count; row += output->n_components) {
          float kept = values[row + a];
          values[row + a] = values[row + b];
          values[row + b] = kept;
        }
      }
    }
    ASSERT_OK(run_writer_case(writer, corpus->cases[i].id, entries, (size_t)data->n_outputs));
    case_data_free(data);
  }
  ASSERT_OK(run_writer_commit(writer));
  corpus_close(corpus);
  contract_free(contract);
}

/* Writes the contract with every `find` outside of what was replaced changed to `replace`. */
static void spoil_contract(const struct policy *policy, const char *folder, const char *find, const char *replace) {
  char path[600], *text;
  size_t size;
  snprintf(path, sizeof path, "%s/tests/policies/%s/contract.yaml", ASSAY_SOURCE_DIR, policy->name);
  ASSERT_OK(file_read(path, 1 << 20, &text, &size));
  const char *at = strstr(text, find);
  assert_non_null(at);
  struct text out = {0};
  text_add_bytes(&out, text, (size_t)(at - text));
  text_add(&out, replace);
  text_add(&out, at + strlen(find));
  temp_write(folder, "contract.yaml", text_string(&out));
  text_free(&out);
  memory_free(text);
}

/* The whole words `a` and `b` of the contract exchanged. */
static void exchange_names(const struct policy *policy, const char *folder) {
  char path[600], *text;
  size_t size, length[2] = {strlen(policy->swap[0]), strlen(policy->swap[1])};
  snprintf(path, sizeof path, "%s/tests/policies/%s/contract.yaml", ASSAY_SOURCE_DIR, policy->name);
  ASSERT_OK(file_read(path, 1 << 20, &text, &size));
  struct text out = {0};
  for (const char *s = text; *s != '\0'; s++) {
    int which = -1;
    for (int i = 0; i < 2 && which < 0; i++) {
      bool word = s != text && strchr(" [", s[-1]) != NULL && strncmp(s, policy->swap[i], length[i]) == 0 &&
                  strchr(",]\n", s[length[i]]) != NULL;
      which = word ? i : -1;
    }
    if (which >= 0) {
      text_add(&out, policy->swap[1 - which]);
      s += length[which] - 1;
    } else {
      text_add_char(&out, *s);
    }
  }
  temp_write(folder, "contract.yaml", text_string(&out));
  text_free(&out);
  memory_free(text);
}

static char *make_folder(const struct policy *policy) {
  char from[600], relative[300];
  char *folder = temp_folder();
  snprintf(relative, sizeof relative, SHARED "%s", policy->model);
  const char *model = shared_path(relative);
  assert_non_null(model);
  copy_file(model, temp_path(folder, "policy.onnx"));
  snprintf(relative, sizeof relative, SHARED "%s.data", policy->model);
  if (strcmp(policy->name, "unitree_g1_mjlab") == 0) {
    model = shared_path(relative);
    assert_non_null(model);
    copy_file(model, temp_path(folder, "policy.onnx.data"));
  }
  static const char *const files[] = {"contract.yaml", "gate.yaml"};
  for (int i = 0; i < 2; i++) {
    snprintf(from, sizeof from, "%s/tests/policies/%s/%s", ASSAY_SOURCE_DIR, policy->name, files[i]);
    copy_file(from, temp_path(folder, files[i]));
  }
  make_corpus(policy, folder);
  return folder;
}

/* --- verdicts ------------------------------------------------------------------------ */

static void print_reasons(const struct gate_reasons *reasons) {
  for (int32_t i = 0; i < reasons->count; i++) {
    print_error("  %s: %s\n", assay_code_name(reasons->items[i].code), reasons->items[i].sentence);
  }
}

static bool has_reason(const struct gate_reasons *reasons, assay_code code, const char *component) {
  for (int32_t i = 0; i < reasons->count; i++) {
    const char *named = reasons->items[i].component;
    if (reasons->items[i].code == code && (component == NULL || (named != NULL && strcmp(named, component) == 0))) {
      return true;
    }
  }
  return false;
}

/* Runs the gate and holds its exit code, and a reason of the gate or of its last rung, against what is expected. */
static void assert_verdict(const char *what, const char *folder, int exit_code, assay_code code,
                           const char *component) {
  struct gate_result *result = NULL;
  struct gate_options options = {.folder = folder};
  ASSERT_OK(gate_run(&options, &result));
  bool right = result->exit_code == exit_code;
  if (code != ASSAY_OK) {
    bool found = has_reason(&result->reasons, code, component);
    for (int32_t i = 0; i < result->n_rungs && !found; i++) {
      found = has_reason(&result->rungs[i].reasons, code, component);
    }
    right = right && found;
  }
  if (!right) {
    print_error("%s: expected exit code %d and %s, got %d and\n", what, exit_code, assay_code_name(code),
                result->exit_code);
    print_reasons(&result->reasons);
    for (int32_t i = 0; i < result->n_rungs; i++) {
      print_reasons(&result->rungs[i].reasons);
    }
    fail();
  }
  gate_result_free(result);
}

static void add_robot_rung(const struct policy *policy, const char *folder) {
  char path[600], *text;
  size_t size;
  snprintf(path, sizeof path, "%s/tests/policies/%s/gate.yaml", ASSAY_SOURCE_DIR, policy->name);
  ASSERT_OK(file_read(path, 1 << 20, &text, &size));
  struct text out = {0};
  text_add(&out, text);
  text_add(&out, "  - {name: robot, engine: recorded, outputs: exchanged}\n");
  temp_write(folder, "gate.yaml", text_string(&out));
  text_free(&out);
  memory_free(text);
}

static void judges(void **state) {
  const struct policy *policy = *state;
  if (!load_reference(policy->model)) {
    skip();
  }
  char *folder = make_folder(policy);
  assert_verdict(policy->name, folder, 0, ASSAY_OK, NULL);
  if (policy->config != NULL) {
    exchange_names(policy, folder);
    assert_verdict("joints exchanged in the contract", folder, 1, ASSAY_DECODE_DRIFT, NULL);
  }
  if (policy->scale_is != NULL) {
    spoil_contract(policy, folder, policy->scale_is, policy->scale_should_not_be);
    assert_verdict("a wrong scale", folder, 1, ASSAY_DECODE_DRIFT, NULL);
  }
  if (policy->state[0] != NULL) {
    spoil_contract(policy, folder, "state:", "# state:");
    struct gate_result *result = NULL;
    struct gate_options options = {.folder = folder};
    assay_status status = gate_run(&options, &result);
    assert_int_equal(assay_code_kind_of(status.code), ASSAY_KIND_INPUT);
    assay_status_clear(&status);
  }
  char path[600];
  snprintf(path, sizeof path, "%s/tests/policies/%s/contract.yaml", ASSAY_SOURCE_DIR, policy->name);
  copy_file(path, temp_path(folder, "contract.yaml"));
  record_exchanged(policy, folder);
  add_robot_rung(policy, folder);
  assert_verdict("joints exchanged by the robot", folder, 1, ASSAY_DRIFT_MAX, policy->swap[0]);
  temp_free(folder);
  json_decref(reference);
}

int main(void) {
  struct CMUnitTest tests[POLICIES];
  for (size_t i = 0; i < POLICIES; i++) {
    tests[i] = (struct CMUnitTest){policies[i].name, judges, NULL, NULL, (void *)(uintptr_t)&policies[i]};
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
