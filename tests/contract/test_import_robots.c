/* Importers of robots' own files: LimX, Berkeley Humanoid Lite, muwanx and ros2_control. What such files say is taken
 * with its place, what does not fit is refused, and what they do not say stays open. */
#include <string.h>

#include "failing_memory.h"
#include "imported.h"

static const int64_t of_300[] = {300}, of_36[] = {36}, of_3[] = {3}, of_6[] = {6}, of_29[] = {1, 29}, of_2[] = {1, 2},
                     of_15[] = {1, 15};

/* --- LimX ------------------------------------------------------------------------------------------- */

static const char limx[] =
    "PointfootCfg:\n"
    "  loop_frequency: 500\n"
    "  joint_names: [a_L, b_L, c_L, a_R, b_R, c_R]\n"
    "  init_state:\n"
    "    default_joint_angle: {c_R: 0.6, a_L: 0.1, b_L: 0.2, c_L: 0.3, a_R: 0.4, b_R: 0.5}\n"
    "  control: {stiffness: 42.0, damping: 3.5, action_scale_pos: 0.25, decimation: 10, user_torque_limit: 80}\n"
    "  normalization:\n"
    "    clip_scales: {clip_observations: 100., clip_actions: 90.}\n"
    "    obs_scales: {lin_vel: 2.0, ang_vel: 0.25, dof_pos: 1.5, dof_vel: 0.05}\n"
    "  size: {actions_size: 6, observations_size: 30, commands_size: 3, obs_history_length: 10, encoder_output_size: "
    "3}\n"
    "  user_cmd_scales: {lin_vel_x: 1.5, lin_vel_y: 1.0, ang_vel_yaw: 0.5}\n";

static const struct signature_tensor encoder_in[] = {{"mlp_input", ASSAY_FLOAT32, 1, of_300, false}};
static const struct signature_tensor encoder_out[] = {{"mlp_output", ASSAY_FLOAT32, 1, of_3, false}};
static const struct signature_tensor actor_in[] = {{"mlp_input", ASSAY_FLOAT32, 1, of_36, false}};
static const struct signature_tensor actor_out[] = {{"mlp_output", ASSAY_FLOAT32, 1, of_6, false}};
static const struct signature encoder = {1, 1, 0, encoder_in, encoder_out, NULL};
static const struct signature actor = {1, 1, 0, actor_in, actor_out, NULL};

static void makes_two_stages_of_limx(void **state) {
  (void)state;
  struct imported it;
  imported_begin(&it, "policy.onnx", &actor); /* in whatever order they are given */
  imported_model(&it, "encoder.onnx", &encoder);
  ASSERT_OK(imported_text(&it, "params.yaml", limx));
  ASSERT_OK(imported_finish(&it));
  assert_int_equal(it.facts->inputs[0].n_terms, 7);
  assert_int_equal(it.facts->inputs[1].n_terms, 9);
  struct text draft = imported_draft(&it);
  assert_says(&draft, "period_ms: {value: 20, source: params.yaml:6}");
  assert_says(&draft,
              "{name: joint_pos, elements: joints, unit: rad, offset: {value: [-0.1, -0.2, -0.3, -0.4, -0.5, "
              "-0.6], source: params.yaml:5}, scale: {value: 1.5, source: params.yaml:9}, history: 10");
  assert_says(&draft, "layout: {value: time_major, source: params.yaml:10}, order: {value: oldest_first");
  assert_says(&draft, "{name: latent, from: {output: latent, space: raw, lag: 0}");
  assert_says(&draft, "elements: [lin_vel_x, lin_vel_y, ang_vel_yaw], scale: {value: [1.5, 1, 0.5]");
  assert_says(&draft, "decode: [{clip: {value: [-90, 90]");
  assert_says(&draft,
              "{name: encoder, model: encoder.onnx, inputs: {mlp_input: history}, outputs: {mlp_output: latent}");
  assert_says(&draft, "{name: actor, model: policy.onnx, inputs: {mlp_input: obs}, outputs: {mlp_output: action}");
  assert_says(&draft, "pd: {kp: {value: 42, source: params.yaml:6}, kd: {value: 3.5, source: params.yaml:6}}");
  assert_says(&draft, "user_torque_limit allows");
  assert_open(&draft,
              "inputs[history].terms[gait_clock].from.clock.period_s\n"
              "inputs[history].terms[gait_clock].from.clock.start\n"
              "inputs[obs].terms[gait_clock].from.clock.period_s\n"
              "inputs[obs].terms[gait_clock].from.clock.start\n"
              "outputs[action].components[0].tolerance.max\n");
  text_free(&draft);
  imported_end(&it);
}

/* Both programs clip the model's answer and feed the clipped one back. */
static void feeds_back_the_clipped_action_of_limx(void **state) {
  (void)state;
  struct imported it;
  imported_begin(&it, "encoder.onnx", &encoder);
  imported_model(&it, "policy.onnx", &actor);
  ASSERT_OK(imported_text(&it, "params.yaml", limx));
  ASSERT_OK(imported_finish(&it));
  const struct fact_term *of_history = &it.facts->inputs[0].terms[4], *of_actor = &it.facts->inputs[1].terms[5];
  assert_string_equal(of_history->name, "last_action");
  assert_string_equal(of_actor->name, "last_action");
  assert_int_equal(of_history->clip_low.count, 1);
  assert_true(of_history->clip_low.values[0] == -90 && of_history->clip_high.values[0] == 90);
  assert_true(of_actor->clip_low.values[0] == -90 && of_actor->clip_high.values[0] == 90);
  assert_true(it.facts->inputs[1].terms[4].clip_high.values[0] == 100);
  imported_end(&it);

  char *wide = replaced(limx, "clip_actions: 90.", "clip_actions: 120.");
  imported_begin(&it, "encoder.onnx", &encoder);
  imported_model(&it, "policy.onnx", &actor);
  ASSERT_OK(imported_text(&it, "params.yaml", wide));
  assert_true(it.facts->inputs[0].terms[4].clip_high.values[0] == 120);
  assert_true(it.facts->inputs[1].terms[5].clip_high.values[0] == 100);
  memory_free(wide);
  imported_end(&it);
}

static void answers_the_gait_where_limx_has_it(void **state) {
  (void)state;
  struct imported it;
  char *text = replaced(limx, "  size:", "  gait: {frequencies: 2.0, swing_height: 0.1}\n  size:");
  imported_begin(&it, "encoder.onnx", &encoder);
  imported_model(&it, "policy.onnx", &actor);
  ASSERT_OK(imported_text(&it, "params.yaml", text));
  ASSERT_OK(imported_finish(&it));
  struct text draft = imported_draft(&it);
  assert_says(&draft, "period_s: {value: 0.5, source: params.yaml:10}");
  assert_says(&draft, "start: 0.04}}");
  assert_open(&draft, "outputs[action].components[0].tolerance.max\n");
  text_free(&draft);
  memory_free(text);
  imported_end(&it);
}

static void refuses_what_does_not_fit_in_limx(void **state) {
  (void)state;
  static const struct {
    const char *from, *to, *sentence;
  } faults[] = {
      {"c_R: 0.6, ", "", "has no 'c_R', which 'joint_names' has"},
      {"actions_size: 6", "actions_size: 8", "there are 6 joint_names, and actions_size says 8"},
      {"loop_frequency: 500", "loop_frequency: 0", "which is no frequency"},
      {"decimation: 10", "decimation: often", "'control/decimation' must be a whole number"},
      {"ang_vel: 0.25", "ang: 0.25", "'normalization/obs_scales/ang_vel' is missing"},
      {"a_L, b_L", "a_L, a_L", "a_L"},
  };
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    struct imported it;
    char *text = replaced(limx, faults[i].from, faults[i].to);
    imported_begin(&it, "encoder.onnx", &encoder);
    ASSERT_FAILS(imported_text(&it, "params.yaml", text), ASSAY_IMPORT_INVALID, faults[i].sentence);
    memory_free(text);
    imported_end(&it);
  }
}

/* Feet with soles have ankles, and another observation: only what every such file says is taken. */
static void assumes_no_other_robot_of_limx(void **state) {
  (void)state;
  struct imported it;
  char *text = replaced(limx, "damping: 3.5", "damping: 3.5, ankle_joint_damping: 0.8");
  imported_begin(&it, "encoder.onnx", &encoder);
  ASSERT_OK(imported_text(&it, "params.yaml", text));
  assert_int_equal(it.facts->joints.count, 6);
  assert_int_equal(it.facts->n_inputs, 0);
  assert_int_equal(it.facts->n_stages, 0);
  assert_non_null(strstr(it.facts->remarks[0].text, "not assumed"));
  memory_free(text);
  imported_end(&it);
}

static void needs_both_models_of_limx(void **state) {
  (void)state;
  struct imported it;
  imported_begin(&it, "policy.onnx", &actor);
  ASSERT_OK(imported_text(&it, "params.yaml", limx));
  const struct draft_model model = {"policy.onnx", &actor};
  const struct draft draft = {.policy = "p", .n_models = 1, .models = &model, .facts = it.facts};
  struct text out = {0};
  ASSERT_FAILS(draft_contract(&draft, &out), ASSAY_IMPORT_INVALID, "the file speaks of 2 models, and 1 are given");
  text_free(&out);
  imported_end(&it);
}

/* --- Berkeley Humanoid Lite --------------------------------------------------------------------------- */

static const char lite[] =
    "policy_dt: 0.04\n"
    "num_joints: 3\n"
    "joints: [hip, knee, ankle]\n"
    "joint_kp: [10, 20, 30]\n"
    "joint_kd: 2\n"
    "default_joint_positions: [0.1, 0.2, 0.3]\n"
    "num_observations: 15\n"
    "history_length: 0\n"
    "num_actions: 2\n"
    "action_scale: 0.25\n"
    "action_indices: [2, 0]\n"
    "action_limit_lower: -10\n"
    "action_limit_upper: 9\n";

static const struct signature_tensor lite_in[] = {{"obs", ASSAY_FLOAT32, 2, of_15, false}};
static const struct signature_tensor lite_out[] = {{"actions", ASSAY_FLOAT32, 2, of_2, false}};
static const struct signature lite_model = {1, 1, 0, lite_in, lite_out, NULL};

static void picks_the_joints_of_an_action(void **state) {
  (void)state;
  struct imported it;
  imported_begin(&it, "p.onnx", &lite_model);
  ASSERT_OK(imported_text(&it, "p.yaml", lite));
  ASSERT_OK(imported_finish(&it));
  struct text draft = imported_draft(&it);
  assert_says(&draft, "joints: {value: [ankle, hip], source: p.yaml:3}");
  assert_says(&draft, "offset: {value: [-0.3, -0.1], source: p.yaml:6}");
  assert_says(&draft, "{offset: {value: [0.3, 0.1], source: p.yaml:6}}");
  assert_says(&draft, "{clip: {value: [-10, 9]");
  const struct fact_term *last = &it.facts->inputs[0].terms[5];
  assert_string_equal(last->name, "last_action");
  assert_int_equal(last->clip_low.count, 1);
  assert_true(last->clip_low.values[0] == -10 && last->clip_high.values[0] == 9);
  assert_says(&draft, "kp: {value: [30, 10], source: p.yaml:4}, kd: {value: 2, source: p.yaml:5}");
  assert_open(&draft, "outputs[actions].components[0].tolerance.max\n");
  text_free(&draft);
  imported_end(&it);
}

static void refuses_what_does_not_fit_in_lite(void **state) {
  (void)state;
  static const struct {
    const char *from, *to, *sentence;
  } faults[] = {
      {"action_indices: [2, 0]", "action_indices: [2, 2]", "joint 2 stands twice"},
      {"action_indices: [2, 0]", "action_indices: [2, 3]", "must be a whole number from 0 to 2"},
      {"action_indices: [2, 0]", "action_indices: [2]", "not a list of the 2"},
      {"num_joints: 3", "num_joints: 4", "names 3 joints, and 'num_joints' says 4"},
      {"joint_kp: [10, 20, 30]", "joint_kp: [10, 20]", "has 2 numbers for 3 joints"},
  };
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    struct imported it;
    char *text = replaced(lite, faults[i].from, faults[i].to);
    imported_begin(&it, "p.onnx", &lite_model);
    ASSERT_FAILS(imported_text(&it, "p.yaml", text), ASSAY_IMPORT_INVALID, faults[i].sentence);
    memory_free(text);
    imported_end(&it);
  }
}

/* The program keeps whole observations, the oldest first, from zeros on. */
static void keeps_the_history_of_lite(void **state) {
  (void)state;
  struct imported it;
  char *text = replaced(lite, "history_length: 0", "history_length: 4");
  imported_begin(&it, "p.onnx", &lite_model);
  ASSERT_OK(imported_text(&it, "p.yaml", text));
  const struct fact_input *input = &it.facts->inputs[0];
  assert_true(input->history.value == 5 && input->size.value == 75);
  assert_string_equal(input->layout.value, "time_major");
  assert_string_equal(input->order.value, "oldest_first");
  assert_string_equal(input->initial.value, "zeros");
  memory_free(text);
  imported_end(&it);
}

static void assumes_no_other_observation_of_lite(void **state) {
  (void)state;
  struct imported it;
  char *text = replaced(lite, "num_observations: 15", "num_observations: 16");
  imported_begin(&it, "p.onnx", &lite_model);
  ASSERT_OK(imported_text(&it, "p.yaml", text));
  assert_int_equal(it.facts->inputs[0].n_terms, 0);
  assert_string_equal(facts_asked(&it.facts->inputs[0].open, "terms"),
                      "line 7 says 16 observations; the terms that the program is known to build are 15");
  memory_free(text);
  imported_end(&it);
}

/* --- muwanx ---------------------------------------------------------------------------------------------- */

static const char muwanx_policy[] =
    "{\"onnx\": {\"meta\": {\"in_keys\": [\"obs_history\"], \"out_keys\": [\"action\"], \"in_shapes\": [[[1, 15]]]}},\n"
    " \"obs_config\": {\"obs_history\": [{\"name\": \"DecapObs\", \"joint_names\": \"isaac\"}]},\n"
    " \"action_scale\": 8.0, \"stiffness\": 20.0, \"damping\": 0.5,\n"
    " \"control_type\": \"torque\"}";
static const char muwanx_asset[] = "{\"joint_names_isaac\": [\"hip\", \"knee\"],\n \"default_joint_pos\": [0.5, -1.5]}";
static const int64_t of_12_terms[] = {1, 12};
static const struct signature_tensor decap_in[] = {{"l_obs_", ASSAY_FLOAT32, 2, of_12_terms, false}};
static const struct signature_tensor decap_out[] = {{"actor", ASSAY_FLOAT32, 2, of_2, false}};
static const struct signature decap_model = {1, 1, 0, decap_in, decap_out, NULL};

/* The keys are not the model's names: with one tensor each there is no doubt. Either file may come first. */
static void joins_the_files_of_muwanx(void **state) {
  (void)state;
  char *policy = replaced(muwanx_policy, "[[[1, 15]]]", "[[[1, 12]]]");
  for (int first = 0; first < 2; first++) {
    struct imported it;
    imported_begin(&it, "p.onnx", &decap_model);
    ASSERT_OK(first == 0 ? imported_text(&it, "p.json", policy) : imported_text(&it, "asset_meta.json", muwanx_asset));
    ASSERT_OK(first == 1 ? imported_text(&it, "p.json", policy) : imported_text(&it, "asset_meta.json", muwanx_asset));
    ASSERT_OK(imported_finish(&it));
    struct text draft = imported_draft(&it);
    assert_says(&draft, "- name: l_obs_\n");
    assert_says(&draft, "offset: {value: [-0.5, 1.5], source: asset_meta.json:2}");
    assert_says(&draft, "elements: [lin_vel_x, lin_vel_y, ang_vel_z], scale: [2, 2, 0.25]");
    assert_says(&draft, "decode: [{scale: {value: 8, source: p.json:3}}]");
    assert_says(&draft, "unit: {value: \"N·m\", source: p.json:4}");
    assert_null(strstr(text_string(&draft), "pd:")); /* a torque is not held by gains */
    assert_open(&draft, "outputs[actor].components[0].tolerance.max\n");
    text_free(&draft);
    imported_end(&it);
  }
  memory_free(policy);
}

static void reads_the_positions_of_muwanx(void **state) {
  (void)state;
  char *policy = replaced(muwanx_policy, "\"torque\"", "\"joint_position\"");
  struct imported it;
  imported_begin(&it, "p.onnx", &decap_model);
  ASSERT_OK(imported_text(&it, "asset_meta.json", muwanx_asset));
  ASSERT_OK(imported_text(&it, "p.json", policy));
  it.facts->inputs[0].size.given = false; /* the shape is of another model */
  struct text draft = imported_draft(&it);
  assert_says(&draft, "{offset: {value: [0.5, -1.5], source: asset_meta.json:2}}]");
  assert_says(&draft, "pd: {kp: {value: 20, source: p.json:3}, kd: {value: 0.5, source: p.json:3}}");
  text_free(&draft);
  memory_free(policy);
  imported_end(&it);
}

static void leaves_an_unknown_class_open(void **state) {
  (void)state;
  char *policy = replaced(muwanx_policy, "DecapObs", "ImpedanceObs");
  struct imported it;
  imported_begin(&it, "p.onnx", &decap_model);
  ASSERT_OK(imported_text(&it, "p.json", policy));
  assert_int_equal(it.facts->inputs[0].n_terms, 0);
  const struct draft_model model = {"p.onnx", &decap_model};
  const struct draft draft = {.policy = "p", .n_models = 1, .models = &model, .facts = it.facts};
  struct text out = {0};
  ASSERT_OK(draft_contract(&draft, &out));
  assert_non_null(strstr(text_string(&out), "    terms: TODO (line 2; what 'ImpedanceObs' builds is not known here)"));
  text_free(&out);
  memory_free(policy);
  imported_end(&it);
}

static void leaves_an_unknown_control_open(void **state) {
  (void)state;
  char *policy = replaced(muwanx_policy, "torque", "impedance");
  struct imported it;
  imported_begin(&it, "p.onnx", &decap_model);
  ASSERT_OK(imported_text(&it, "p.json", policy));
  assert_non_null(facts_asked(&it.facts->outputs[0].open, "unit"));
  assert_string_equal(facts_asked(&it.facts->outputs[0].open, "decode"),
                      "what 'impedance' does with the model's numbers; line 4");
  memory_free(policy);
  imported_end(&it);
}

static void holds_the_sizes_of_muwanx_against_the_model(void **state) {
  (void)state;
  struct imported it;
  imported_begin(&it, "p.onnx", &decap_model);
  ASSERT_OK(imported_text(&it, "p.json", muwanx_policy)); /* 15 numbers */
  ASSERT_OK(imported_text(&it, "asset_meta.json", muwanx_asset));
  const struct draft_model model = {"p.onnx", &decap_model};
  const struct draft draft = {.policy = "p", .n_models = 1, .models = &model, .facts = it.facts};
  struct text out = {0};
  ASSERT_FAILS(draft_contract(&draft, &out), ASSAY_IMPORT_INVALID, "15");
  text_free(&out);
  imported_end(&it);
  imported_begin(&it, "p.onnx", &decap_model);
  char *asset = replaced(muwanx_asset, "[0.5, -1.5]", "[0.5]");
  ASSERT_FAILS(imported_text(&it, "asset_meta.json", asset), ASSAY_IMPORT_INVALID, "not a list of the 2 joints");
  memory_free(asset);
  imported_end(&it);
}

/* --- ros2_control -------------------------------------------------------------------------------------------- */

static const char controllers[] =
    "controller_manager:\n"
    "  ros__parameters:\n"
    "    update_rate: 50\n"
    "    duck: {type: motion_controller/MotionController}\n"
    "broadcaster:\n"
    "  ros__parameters:\n"
    "    interfaces: [o/x, o/y, o/z, o/w, g/x, g/y, g/z, a/x, a/y, a/z, hip/position, knee/position, hip/velocity,\n"
    "      knee/velocity]\n"
    "duck:\n"
    "  ros__parameters:\n"
    "    joints: [hip, knee]\n"
    "    model_path: policy.onnx\n"
    "    model_input_size: 29\n"
    "    default_joint_positions: [0.25, -0.5]\n"
    "    phase_period: 100.0\n";
static const char schema[] =
    "duck:\n"
    "  action_scale: {type: double, default_value: 0.25, description: \"...\"}\n"
    "  phase_period: {type: double, default_value: 50.0, description: \"...\"}\n"
    "  imu_upside_down: {type: bool, default_value: true, description: \"...\"}\n"
    "  stabilization_delay: {type: int, default_value: 25, description: \"...\"}\n";

static const struct signature_tensor duck_in[] = {{"obs", ASSAY_FLOAT32, 2, of_29, false}};
static const struct signature_tensor duck_out[] = {{"act", ASSAY_FLOAT32, 2, of_2, false}};
static const struct signature duck_model = {1, 1, 0, duck_in, duck_out, NULL};

/* What is given comes before what the schema has, whichever file is named first. */
static void completes_parameters_by_their_schema(void **state) {
  (void)state;
  for (int first = 0; first < 2; first++) {
    struct imported it;
    imported_begin(&it, "p.onnx", &duck_model);
    ASSERT_OK(imported_text(&it, first == 0 ? "c.yaml" : "s.yaml", first == 0 ? controllers : schema));
    ASSERT_OK(imported_text(&it, first == 1 ? "c.yaml" : "s.yaml", first == 1 ? controllers : schema));
    ASSERT_OK(imported_finish(&it));
    struct text draft = imported_draft(&it);
    assert_says(&draft, "{scale: {value: 0.25, source: s.yaml:2}}");
    assert_says(&draft, "{offset: {value: [0.25, -0.5], source: c.yaml:14}}");
    assert_says(&draft,
                "period_s: {value: 2, source: c.yaml:15}, as: [cos, sin], start: {value: 0.25, source: s.yaml:5}");
    assert_says(&draft,
                "{name: accelerometer, elements: [x, \"y\", z], unit: \"m/s²\", offset: [1.3, 0, 0], scale: "
                "{value: [1, 1, -1], source: s.yaml:4}");
    assert_says(&draft, "{name: last_action_3, from: {output: act, space: raw, lag: 3}");
    assert_says(&draft, "period_ms: {value: 20, source: c.yaml:3}");
    assert_open(&draft, "outputs[act].components[0].tolerance.max\n");
    text_free(&draft);
    imported_end(&it);
  }
}

static void refuses_what_does_not_fit_in_controllers(void **state) {
  (void)state;
  static const struct {
    const char *from, *to, *sentence;
  } faults[] = {
      {"hip/position, knee/position", "knee/position, hip/position",
       "the controller takes interface 10 as 'hip/position', and knee/position stands there"},
      {"      knee/velocity]", "      ]", "interface 13 as 'knee/velocity', and nothing stands there"},
      {"model_path: policy.onnx", "path: policy.onnx", "no controller here has both 'joints' and 'model_path'"},
      {"[0.25, -0.5]", "[0.25]", "has 1 numbers for 2 joints"},
      {"update_rate: 50", "update_rate: 0", "which is no rate"},
      {"duck:\n  ros__parameters:\n",
       "goose:\n  ros__parameters: {joints: [a], model_path: b}\nduck:\n  ros__parameters:\n",
       "'goose' and 'duck' both have a model_path"},
  };
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    struct imported it;
    char *text = replaced(controllers, faults[i].from, faults[i].to);
    imported_begin(&it, "p.onnx", &duck_model);
    ASSERT_OK(imported_text(&it, "c.yaml", text));
    ASSERT_FAILS(imported_finish(&it), ASSAY_IMPORT_INVALID, faults[i].sentence);
    memory_free(text);
    imported_end(&it);
  }
  /* two rates of one controller */
  struct imported it;
  char *text = replaced(controllers, "phase_period: 100.0", "training_control_period: 0.01");
  imported_begin(&it, "p.onnx", &duck_model);
  ASSERT_OK(imported_text(&it, "c.yaml", text));
  ASSERT_FAILS(imported_finish(&it), ASSAY_IMPORT_CONFLICT, "the control period");
  memory_free(text);
  imported_end(&it);
}

static void assumes_no_other_controller(void **state) {
  (void)state;
  struct imported it;
  char *text = replaced(controllers, "motion_controller/MotionController", "walker/Walker");
  imported_begin(&it, "p.onnx", &duck_model);
  ASSERT_OK(imported_text(&it, "c.yaml", text));
  ASSERT_OK(imported_finish(&it));
  assert_int_equal(it.facts->joints.count, 2);
  assert_int_equal(it.facts->inputs[0].n_terms, 0);
  assert_non_null(strstr(it.facts->remarks[0].text, "'walker/Walker' builds is in its program"));
  memory_free(text);
  imported_end(&it);
}

/* --- memory ------------------------------------------------------------------------------------------------------ */

static assay_status attempt(void *argument) {
  struct imported it = {.n_models = 1, .names = {"p.onnx"}, .signatures = {&duck_model}};
  it.models = (struct import_models){1, it.names, it.signatures};
  assay_status status = facts_new(&it.arena, &it.facts);
  const char *const *texts = argument;
  for (int i = 0; texts[i] != NULL && assay_status_ok(status); i++) {
    status = imported_text(&it, "f", texts[i]);
  }
  if (assay_status_ok(status)) {
    status = imported_finish(&it);
  }
  imported_end(&it);
  return status;
}

static void survives_failing_memory(void **state) {
  (void)state;
  const char *const ros[] = {controllers, schema, NULL}, *const one[] = {limx, NULL}, *const other[] = {lite, NULL},
                    *const json[] = {muwanx_policy, muwanx_asset, NULL};
  fail_every_allocation(attempt, (void *)ros);
  fail_every_allocation(attempt, (void *)one);
  fail_every_allocation(attempt, (void *)other);
  fail_every_allocation(attempt, (void *)json);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(makes_two_stages_of_limx),
      cmocka_unit_test(feeds_back_the_clipped_action_of_limx),
      cmocka_unit_test(answers_the_gait_where_limx_has_it),
      cmocka_unit_test(refuses_what_does_not_fit_in_limx),
      cmocka_unit_test(assumes_no_other_robot_of_limx),
      cmocka_unit_test(needs_both_models_of_limx),
      cmocka_unit_test(picks_the_joints_of_an_action),
      cmocka_unit_test(refuses_what_does_not_fit_in_lite),
      cmocka_unit_test(keeps_the_history_of_lite),
      cmocka_unit_test(assumes_no_other_observation_of_lite),
      cmocka_unit_test(joins_the_files_of_muwanx),
      cmocka_unit_test(reads_the_positions_of_muwanx),
      cmocka_unit_test(leaves_an_unknown_class_open),
      cmocka_unit_test(leaves_an_unknown_control_open),
      cmocka_unit_test(holds_the_sizes_of_muwanx_against_the_model),
      cmocka_unit_test(completes_parameters_by_their_schema),
      cmocka_unit_test(refuses_what_does_not_fit_in_controllers),
      cmocka_unit_test(assumes_no_other_controller),
      cmocka_unit_test(survives_failing_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
