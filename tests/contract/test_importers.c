/* Importers, on files written for the test after each format's documentation: what they understand, in which order it
 * is, and that two files that differ are caught with both places. */
#include <string.h>

#include "contract/draft.h"
#include "contract/importer.h"
#include "failing_memory.h"
#include "imported.h"
#include "support.h"

static struct arena arena;

static int end(void **state) {
  (void)state;
  arena_free(&arena);
  return 0;
}

static const int64_t obs_dims[] = {1, 0}, act_dims[] = {1, 3};

/* A model with an observation of `size` elements, three joints, and metadata. */
struct made_model {
  int64_t dims[2];
  struct signature_tensor input, output;
  struct signature signature;
};

static struct signature *make_model(struct made_model *made, int64_t size, const struct signature_metadata *metadata,
                                    int32_t n_metadata) {
  made->dims[0] = obs_dims[0];
  made->dims[1] = size;
  made->input = (struct signature_tensor){"obs", ASSAY_FLOAT32, 2, made->dims, false};
  made->output = (struct signature_tensor){"actions", ASSAY_FLOAT32, 2, act_dims, false};
  made->signature = (struct signature){1, 1, n_metadata, &made->input, &made->output, metadata};
  return &made->signature;
}

struct given_file {
  const char *path, *text;
};

/* What these files say of a model of that size; twice, as import_all does, so that patterns meet names. */
static assay_status gather(int64_t size, const struct signature_metadata *metadata, int32_t n_metadata,
                           const struct given_file *files, size_t n_files, struct facts **facts, struct text *draft) {
  static struct made_model made;
  const struct signature *signature = make_model(&made, size, metadata, n_metadata);
  static const char *const name = "policy.onnx";
  const struct import_models models = {1, &name, &signature};
  struct fact_words joints = {0};
  for (int round = 0; round < 2; round++) {
    TRY(facts_new(&arena, facts));
    (*facts)->joints = joints;
    TRY(import_metadata(&models, *facts));
    for (size_t i = 0; i < n_files; i++) {
      TRY(import_bytes(files[i].text, strlen(files[i].text), files[i].path, NULL, &models, *facts));
    }
    TRY(import_finish(&models, *facts));
    TRY(facts_finish(*facts));
    joints = (*facts)->joints;
  }
  const struct draft_model model = {"policy.onnx", signature};
  const struct draft wanted = {"policy", 1, &model, *facts};
  return draft_contract(&wanted, draft);
}

/* The same with every run of white space made one space, since long lists are broken into lines. */
static struct text joined(const char *text) {
  struct text out = {0};
  for (const char *s = text; *s != '\0'; s++) {
    bool space = *s == ' ' || *s == '\n';
    if (!space) {
      text_add_char(&out, *s);
    } else if (out.length > 0 && out.data[out.length - 1] != ' ') {
      text_add_char(&out, ' ');
    }
  }
  return out;
}

static bool holds(const struct text *draft, const char *part) {
  struct text whole = joined(text_string(draft)), piece = joined(part);
  bool found = strstr(text_string(&whole), text_string(&piece)) != NULL;
  text_free(&whole);
  text_free(&piece);
  return found;
}

static void has(const struct text *draft, const char *part) {
  if (!holds(draft, part)) {
    fail_msg("expected \"%s\" in\n%s", part, text_string(draft));
  }
}

static void has_not(const struct text *draft, const char *part) {
  if (holds(draft, part)) {
    fail_msg("did not expect \"%s\" in\n%s", part, text_string(draft));
  }
}

#define GATHER(size, files, facts, draft) \
  gather((size), NULL, 0, (files), sizeof(files) / sizeof *(files), (facts), (draft))

/* --- unitree -------------------------------------------------------------------------------- */

static const char deploy[] =
    "joint_ids_map: [2, 0, 1]\n"
    "step_dt: 0.02\n"
    "stiffness: [10, 20, 30]\n" /* of motors 0, 1, 2 */
    "damping: [1, 2, 3]\n"
    "default_joint_pos: [0.1, 0, -0.3]\n"
    "actions:\n"
    "  JointPositionAction: {clip: null, joint_names: ['.*'], scale: [0.25, 0.25, 0.25], offset: [0.1, 0, -0.3], "
    "joint_ids: null}\n"
    "observations:\n"
    "  base_ang_vel: {params: {}, clip: [-5, 5], scale: [0.2, 0.2, 0.2], history_length: 2}\n"
    "  joint_pos_rel: {params: {}, clip: null, scale: [1, 1, 1], history_length: 2}\n"
    "  last_action: {params: {}, clip: null, scale: [1, 1, 1], history_length: 2}\n"
    "  gait_phase: {params: {period: 0.8}, clip: null, scale: [1, 1], history_length: 2}\n";
static const struct given_file joints_file = {"joints.yaml", "joint_names: [hip, knee, ankle]\n"};

static void unitree_puts_motors_in_the_order_of_the_joints(void **state) {
  (void)state;
  const struct given_file files[] = {{"deploy.yaml", deploy}, joints_file};
  struct facts *facts;
  struct text draft = {0};
  ASSERT_OK(GATHER(22, files, &facts, &draft));
  assert_true(facts->kp.values[0] == 30 && facts->kp.values[1] == 10 && facts->kp.values[2] == 20);
  has(&draft, "pd: {kp: {value: [30, 10, 20], source: deploy.yaml:3}, kd: {value: [3, 1, 2], source: deploy.yaml:4}}");
  has(&draft, "hardware_order: {value: [knee, ankle, hip], source: deploy.yaml:1}");
  has(&draft, "apply: [{clip: [-5, 5]}, {scale: 0.2}], history: 2");
  has(&draft,
      "joint_pos_rel, raw: joint_pos, elements: joints, unit: rad, offset: {value: [-0.1, 0, 0.3], source: "
      "deploy.yaml:5}, history: 2, source: deploy.yaml:10}");
  has(&draft, "last_action, from: {output: actions, space: raw, lag: 1}, history: 2, source: deploy.yaml:11}");
  has(&draft, "from: {clock: {period_s: 0.8, as: [sin, cos], start: TODO (share of a turn");
  has(&draft, "layout: {value: term_major, source: deploy.yaml:8}, order: {value: oldest_first");
  has(&draft, "{scale: {value: 0.25, source: deploy.yaml:7}}");
  text_free(&draft);
}

static void unitree_asks_for_names(void **state) {
  (void)state;
  const struct given_file files[] = {{"deploy.yaml", deploy}};
  struct facts *facts;
  struct text draft = {0};
  ASSERT_OK(GATHER(22, files, &facts, &draft));
  has(&draft, "joints: TODO (the 3 names in the order of the model's output; deploy.yaml:1 counts them");
  has(&draft, "hardware_order: TODO (");
  text_free(&draft);
}

static void unitree_refuses_a_map_that_is_none(void **state) {
  (void)state;
  struct facts *facts;
  struct text draft = {0};
  const struct given_file twice[] = {{"d.yaml", "joint_ids_map: [0, 1, 1]\nactions: {}\nobservations: {}\n"}};
  ASSERT_FAILS(GATHER(22, twice, &facts, &draft), ASSAY_IMPORT_INVALID, "motor 1 stands twice");
  const struct given_file far[] = {
      {"d.yaml", "joint_ids_map: [0, 1, 7]\nstiffness: [1, 2, 3]\nactions: {}\nobservations: {}\n"}};
  ASSERT_FAILS(GATHER(22, far, &facts, &draft), ASSAY_IMPORT_INVALID, "sends joint 3 to motor 7");
  text_free(&draft);
}

static void sizes_that_do_not_add_up_name_the_lines(void **state) {
  (void)state;
  const struct given_file files[] = {{"deploy.yaml", deploy}};
  struct facts *facts;
  struct text draft = {0};
  assay_status status = GATHER(24, files, &facts, &draft);
  assert_string_equal(assay_status_where(status), "deploy.yaml:8");
  ASSERT_FAILS(status, ASSAY_IMPORT_INVALID,
               "the 4 terms up to deploy.yaml:12 have 22 elements with their history, but input 'obs' of policy.onnx "
               "has 24");
  text_free(&draft);
}

/* --- two files ------------------------------------------------------------------------------ */

static void exchanged_joints_are_caught_with_both_lines(void **state) {
  (void)state;
  const struct given_file files[] = {{"a.yaml", "joint_names: [hip, knee, ankle]\n"},
                                     {"b.yaml", "\n\njoint_names: [knee, hip, ankle]\n"}};
  struct facts *facts;
  struct text draft = {0};
  assay_status status = GATHER(22, files, &facts, &draft);
  assert_string_equal(assay_status_where(status), "b.yaml:3");
  ASSERT_FAILS(status, ASSAY_IMPORT_CONFLICT,
               "number 1 of the joints is 'knee' here, which is number 2 there, but a.yaml:1 says otherwise");
  text_free(&draft);
}

/* Gains written in the actuators' order beside joint names: known fault 31. */
static void gains_in_another_order_are_caught_by_name(void **state) {
  (void)state;
  const struct signature_metadata metadata[] = {{"joint_names", "hip,knee,ankle"},
                                                {"joint_stiffness", "20.000,30.000,10.000"},
                                                {"joint_damping", "3.000,1.000,2.000"},
                                                {"default_joint_pos", "0.100,0.000,-0.300"},
                                                {"action_scale", "0.250"}};
  const struct given_file files[] = {{"deploy.yaml", deploy}};
  struct facts *facts;
  struct text draft = {0};
  assay_status status = gather(22, metadata, 5, files, 1, &facts, &draft);
  assert_string_equal(assay_status_where(status), "deploy.yaml:3");
  ASSERT_FAILS(status, ASSAY_IMPORT_CONFLICT,
               "the stiffness of 'hip' is 30 here and 20 there (the same numbers stand "
               "in another order");
  /* rounded to three decimals, they agree */
  const struct signature_metadata right[] = {{"joint_names", "hip,knee,ankle"},
                                             {"joint_stiffness", "30.0004,10.000,20.000"},
                                             {"joint_damping", "3.000,1.000,2.000"}};
  ASSERT_OK(gather(22, right, 3, files, 1, &facts, &draft));
  has(&draft, "kp: {value: [30, 10, 20], source: deploy.yaml:3}");
  text_free(&draft);
}

static void damping_of_zero_is_refused(void **state) {
  (void)state;
  const struct signature_metadata metadata[] = {
      {"joint_names", "hip,knee,ankle"}, {"joint_stiffness", "1,1,1"}, {"joint_damping", "1,-0.0,1"}};
  struct facts *facts;
  struct text draft = {0};
  assay_status status = gather(22, metadata, 3, NULL, 0, &facts, &draft);
  assert_string_equal(assay_status_where(status), "policy.onnx:joint_damping");
  ASSERT_FAILS(status, ASSAY_IMPORT_INVALID, "the damping of 'knee' (number 2) is -0");
  text_free(&draft);
}

/* --- rl_sar ---------------------------------------------------------------------------------- */

static const char base[] =
    "bot:\n  dt: 0.005\n  decimation: 4\n  num_of_dofs: 3\n  default_dof_pos: [77, 77, 77]\n"
    "  fixed_kp: [70, 70, 70]\n  joint_names: [m0, m1, m2]\n  joint_mapping: [0, 1, 2]\n";
static const char config[] =
    "bot/walk:\n  num_of_dofs: 3\n  observations: [\"ang_vel\", \"dof_pos\", \"actions\"]\n"
    "  observations_history: [1, 0]\n  observations_history_priority: \"time\"\n  clip_obs: 50.\n"
    "  clip_actions_lower: [-1, -2, -3]\n  clip_actions_upper: [1, 2, 3]\n  rl_kp: [1, 2, 0]\n  rl_kd: [1, 2, 3]\n"
    "  action_scale: [0.5, 0.5, 4]\n  wheel_indices: [2]\n  ang_vel_scale: 0.25\n  dof_pos_scale: 2.0\n"
    "  default_dof_pos: [0.5, -0.5, 0]\n  joint_mapping: [2, 0, 1]\n";

static void rl_sar_reads_both_files_in_any_order(void **state) {
  (void)state;
  for (int swap = 0; swap < 2; swap++) {
    const struct given_file files[] = {{"base.yaml", swap ? config : base}, {"config.yaml", swap ? base : config}};
    struct facts *facts;
    struct text draft = {0};
    ASSERT_OK(GATHER(18, files, &facts, &draft));
    has(&draft, "joints: {value: [m2, m0, m1], source: ");
    has(&draft, "hardware_order: {value: [m0, m1, m2], source: ");
    has(&draft, "period_ms: {value: 20, source: ");
    has(&draft, "clip: {value: [-50, 50], source: ");
    has(&draft, "layout: {value: time_major, source: ");
    has(&draft, "order: {value: oldest_first, source: ");
    has(&draft, "initial: {value: zeros, source: ");
    has(&draft, "offset: {value: [-0.5, 0.5, 0], source: ");
    has(&draft, "scale: {value: [2, 2, 0], source: "); /* a wheel's position is taken out */
    const char *fed = strstr(text_string(&draft), "clip: {value: [[-1, 1], [-2, 2], [-3, 3]], source: ");
    assert_non_null(fed); /* of the last action, and of what is decoded */
    assert_non_null(strstr(fed + 1, "{clip: {value: [[-1, 1], [-2, 2], [-3, 3]], source: "));
    has(&draft, "names: {value: [m2, m0], source: ");
    has(&draft, "names: {value: [m1], source: ");
    has(&draft, "unit: {value: rad/s, source: ");
    has_not(&draft, "77"); /* base.yaml's pose is the one of standing up */
    text_free(&draft);
  }
}

/* Taken for none, it would make wheels of positions. */
static void rl_sar_refuses_wheels_that_are_no_list(void **state) {
  (void)state;
  char walk[sizeof config];
  memcpy(walk, config, sizeof config);
  memcpy(strstr(walk, "[2]\n"), " 2 ", 3);
  const struct given_file files[] = {{"base.yaml", base}, {"config.yaml", walk}};
  struct facts *facts;
  struct text draft = {0};
  ASSERT_FAILS(GATHER(18, files, &facts, &draft), ASSAY_IMPORT_INVALID,
               "'wheel_indices' must be a list of joints' numbers; '2' stands here");
  text_free(&draft);
}

static void rl_sar_refuses_history_with_gaps(void **state) {
  (void)state;
  const struct given_file files[] = {
      {"c.yaml",
       "bot/walk:\n  num_of_dofs: 3\n  observations: [dof_pos]\n  observations_history: [0, 2]\n"
       "  clip_obs: 1\n"}};
  struct facts *facts;
  struct text draft = {0};
  ASSERT_FAILS(GATHER(6, files, &facts, &draft), ASSAY_IMPORT_INVALID, "skips or repeats steps");
  text_free(&draft);
}

/* --- Isaac Lab -------------------------------------------------------------------------------- */

static const char env[] =
    "sim: {dt: 0.005}\ndecimation: 4\n"
    "scene:\n"
    "  robot:\n"
    "    init_state:\n"
    "      joint_pos: {'.*_hip': 0.5, knee: -1.0}\n"
    "    actuators:\n"
    "      legs: {joint_names_expr: ['.*_hip'], stiffness: {left_hip: 10, right_hip: 20}, damping: 1.0}\n"
    "      knees: {joint_names_expr: [knee], stiffness: 30.0, damping: 3.0}\n"
    "observations:\n"
    "  policy:\n"
    "    concatenate_terms: true\n"
    "    history_length: 3\n"
    "    velocity: {func: 'isaaclab.envs.mdp.observations:base_lin_vel', params: {}, clip: !!python/tuple [-1.0, 1.0], "
    "scale: 2.0, history_length: 0}\n"
    "    command: {func: 'isaaclab.envs.mdp.observations:generated_commands', params: {command_name: go}, scale: "
    "null}\n"
    "    hips: {func: 'isaaclab.envs.mdp.observations:joint_pos_rel', params: {asset_cfg: {joint_names: ['.*_hip'], "
    "joint_ids: !!python/object/apply:builtins.slice [null, null, null]}}}\n"
    "    nothing: null\n"
    "    actions: {func: 'isaaclab.envs.mdp.observations:last_action', params: {}}\n"
    "actions:\n"
    "  arm: {class_type: 'isaaclab.envs.mdp.actions.joint_actions:JointPositionAction', asset_name: robot, "
    "joint_names: ['.*'], scale: {'.*_hip': 0.5}, offset: 0.0, use_default_offset: true, clip: null}\n"
    "  gripper: null\n"
    "commands:\n"
    "  go: {class_type: 'isaaclab.envs.mdp.commands.velocity_command:UniformVelocityCommand'}\n";

static void isaac_env_resolves_patterns_once_joints_are_named(void **state) {
  (void)state;
  static const struct given_file named = {"joints.yaml", "joint_names: [left_hip, knee, right_hip]\n"};
  const struct given_file files[] = {{"env.yaml", env}, named};
  struct facts *facts;
  struct text draft = {0};
  ASSERT_OK(GATHER(33, files, &facts, &draft));
  has(&draft,
      "velocity, elements: [x, \"y\", z], unit: m/s, apply: [{clip: [-1, 1]}, {scale: 2}], history: {value: 3, ");
  has(&draft, "command, elements: {value: [lin_vel_x, lin_vel_y, ang_vel_z], source: env.yaml:23}");
  has(&draft,
      "hips, raw: joint_pos, elements: [left_hip, right_hip], unit: rad, offset: {value: -0.5, source: "
      "env.yaml:6}, history: {value: 3, source: env.yaml:13}");
  has(&draft, "kp: {value: [10, 30, 20], source: env.yaml:8}, kd: {value: [1, 3, 1], source: env.yaml:8}");
  has(&draft, "{scale: {value: [0.5, 1, 0.5], source: env.yaml:20}}");
  has(&draft, "{offset: {value: [0.5, -1, 0.5], source: env.yaml:6}}");
  has_not(&draft, "gripper");
  has_not(&draft, "nothing");
  text_free(&draft);
}

/* RSL-RL's wrapper clips the answer before the environment keeps it. */
static void the_clipped_action_of_rsl_rl_is_fed_back(void **state) {
  (void)state;
  static const struct given_file files[] = {
      {"env.yaml", env},
      {"joints.yaml", "joint_names: [left_hip, knee, right_hip]\n"},
      {"agent.yaml", "num_steps_per_env: 24\nalgorithm: {}\nclip_actions: 4.0\n"}};
  struct facts *facts;
  struct text draft = {0};
  ASSERT_OK(GATHER(33, files, &facts, &draft));
  has(&draft, "decode: [{clip: {value: [-4, 4], source: agent.yaml:3}}");
  has(&draft, ", clip: {value: [-4, 4], source: agent.yaml:3}, history: {value: 3, ");
  text_free(&draft);
}

/* A name that the env.yaml does not know is another robot's, or misspelt; it must not stand at 0. */
static void isaac_env_knows_the_joints_that_others_name(void **state) {
  (void)state;
  static const struct {
    const char *joints, *from, *to, *joint; /* joint NULL: accepted */
  } trials[] = {
      {"joint_names: [left_hip, kneee, right_hip]\n", NULL, NULL, "kneee"},
      {"joint_names: [a, b, c]\n", NULL, NULL, "'a'"},
      {"joint_names: [left_hip, knee, right_hop]\n", "{'.*_hip': 0.5, knee: -1.0}",
       "{left_hip: 0.5, knee: -1.0, right_hip: 0.5}", "right_hop"},
      {"joint_names: [left_hip, elbow, right_hip]\n", "{'.*_hip': 0.5, knee: -1.0}", "{'.*_hip': 0.5}", "elbow"},
      {"joint_names: [left_hip, knee, right_hip]\n", "{'.*_hip': 0.5, knee: -1.0}", "{'.*_hip': 0.5}", NULL},
  };
  for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
    char *text = replaced(env, trials[i].from != NULL ? trials[i].from : "", trials[i].to != NULL ? trials[i].to : "");
    for (int32_t order = 0; order < 2; order++) {
      const struct given_file written = {"env.yaml", text}, named = {"joints.yaml", trials[i].joints};
      const struct given_file files[] = {order == 0 ? named : written, order == 0 ? written : named};
      struct facts *facts;
      struct text draft = {0};
      assay_status status = GATHER(33, files, &facts, &draft);
      if (trials[i].joint == NULL) {
        ASSERT_OK(status);
      } else {
        assert_string_equal(assay_status_where(status), "env.yaml:6");
        assert_non_null(strstr(assay_status_sentence(status), "joints.yaml:1"));
        ASSERT_FAILS(status, ASSAY_IMPORT_CONFLICT, trials[i].joint);
      }
      text_free(&draft);
    }
    memory_free(text);
  }
}

static void isaac_env_leaves_the_order_open(void **state) {
  (void)state;
  const struct given_file files[] = {{"env.yaml", env}};
  struct facts *facts;
  struct text draft = {0};
  ASSERT_OK(GATHER(33, files, &facts, &draft));
  has(&draft, "names: TODO");
  has(&draft, "hips, raw: joint_pos, elements: TODO (those joints that line 16 names by patterns)");
  has(&draft, "decode: TODO (");
  text_free(&draft);
}

static const char descriptors[] =
    "actions:\n"
    "- {clip: null, full_path: isaaclab.envs.mdp.actions.joint_actions.JointPositionAction, joint_names: [a, b, c], "
    "name: joint_position_action, offset: [0.1, 0.2, 0.3], scale: 0.5, shape: [3]}\n"
    "articulations:\n"
    "  robot:\n"
    "    joint_names: [a, b, c]\n"
    "    default_joint_pos: [0.1, 0.2, 0.3]\n"
    "    default_joint_stiffness: [0.0, 0.0, 0.0]\n"
    "    default_joint_damping: [0.0, 0.0, 0.0]\n"
    "observations:\n"
    "  policy:\n"
    "  - {name: base_ang_vel, extras: {units: rad/s}, overloads: {clip: null, history_length: 0, scale: 0.25}, shape: "
    "[3]}\n"
    "  - {name: joint_pos_rel, extras: {units: rad}, joint_names: [b, c], joint_pos_offsets: [0.2, 0.3], overloads: "
    "{}, "
    "shape: [2]}\n"
    "  - {name: generated_commands, extras: {}, overloads: {}, shape: [3]}\n"
    "  - {name: generated_commands, extras: {units: m}, overloads: {}, shape: [2]}\n"
    "scene: {decimation: 4, dt: 0.02, physics_dt: 0.005}\n";

static void isaac_io_takes_names_offsets_and_units(void **state) {
  (void)state;
  const struct given_file files[] = {{"IO_descriptors.yaml", descriptors}};
  struct facts *facts;
  struct text draft = {0};
  ASSERT_OK(GATHER(10, files, &facts, &draft));
  has(&draft, "joints: {value: [a, b, c], source: IO_descriptors.yaml:5}");
  has(&draft, "joint_pos_rel, raw: joint_pos, elements: [b, c], unit: rad, offset: [-0.2, -0.3], source: ");
  has(&draft, "generated_commands, count: 3, unit: TODO (no file says it)");
  has(&draft, "\"generated_commands#2\", count: 2, unit: m");
  has(&draft, "period_ms: {value: 20, ");
  has_not(&draft, "pd:"); /* gains of 0 are those of another actuator model */
  text_free(&draft);
}

/* What the file says and the draft cannot take over is a question, never a bound that is silently gone. */
static void a_clip_of_the_action_is_never_lost(void **state) {
  (void)state;
  char clipped[sizeof descriptors + 32];
  snprintf(clipped, sizeof clipped, "actions:\n- {clip: [[-1, 1], [-2, 2], [-3, 3]]%s",
           strstr(descriptors, ", full_path"));
  const struct given_file io[] = {{"IO_descriptors.yaml", clipped}};
  struct facts *facts;
  struct text draft = {0};
  ASSERT_OK(GATHER(10, io, &facts, &draft));
  has(&draft, "{scale: {value: 0.5, source: ");
  has(&draft, "{clip: TODO (line 2 clips the action)}]");
  text_free(&draft);
  char bounded[sizeof env + 64];
  const char *clip = strstr(env, "clip: null}\n  gripper");
  snprintf(bounded, sizeof bounded, "%.*sclip: {'.*_hip': [-1, 1]}%s", (int)(clip - env), env,
           clip + strlen("clip: null"));
  const struct given_file both[] = {{"env.yaml", bounded},
                                    {"joints.yaml", "joint_names: [left_hip, knee, right_hip]\n"}};
  ASSERT_OK(GATHER(33, both, &facts, &draft));
  has(&draft, "{clip: TODO (line 20 clips the action joint by joint)}]");
  text_free(&draft);
}

/* --- metadata --------------------------------------------------------------------------------- */

static void metadata_names_terms_and_leaves_open_what_they_do_not_say(void **state) {
  (void)state;
  const struct signature_metadata metadata[] = {{"joint_names", "a,b,c"},
                                                {"observation_names", "command,base_ang_vel,joint_pos,actions"},
                                                {"default_joint_pos", "0.100,0.000,-0.300"},
                                                {"action_scale", "0.5"}};
  struct facts *facts;
  struct text draft = {0};
  ASSERT_OK(gather(15, metadata, 4, NULL, 0, &facts, &draft));
  has(&draft, "{name: command, count: 6, unit: TODO (no file says it), source: policy.onnx:observation_names}");
  has(&draft, "{name: joint_pos, elements: joints, unit: rad, offset: TODO (minus the default positions if");
  has(&draft, "{name: actions, from: {output: actions, space: raw, lag: 1}, source: policy.onnx:observation_names}");
  has(&draft, "{offset: {value: [0.1, 0, -0.3], source: policy.onnx:default_joint_pos}}");
  text_free(&draft);
  const struct signature_metadata few[] = {{"joint_names", "a,b,c"}, {"joint_stiffness", "1,2"}};
  ASSERT_FAILS(gather(15, few, 2, NULL, 0, &facts, &draft), ASSAY_IMPORT_INVALID,
               "'joint_stiffness' has 2 numbers, but 'joint_names' has 3 joints");
  text_free(&draft);
}

/* --- which format ------------------------------------------------------------------------------ */

static void tells_formats_from_the_content(void **state) {
  (void)state;
  struct facts *facts;
  struct text draft = {0};
  const struct given_file unknown[] = {{"x.yaml", "a: 1\n"}};
  ASSERT_FAILS(GATHER(22, unknown, &facts, &draft), ASSAY_IMPORT_FORMAT, "no format that is imported (unitree, rl_sar");
  const struct given_file broken[] = {{"x.yaml", "a: [1\n"}};
  ASSERT_FAILS(GATHER(22, broken, &facts, &draft), ASSAY_IMPORT_FORMAT, "read as YAML: this is neither YAML nor JSON");
  const struct import_models models = {0};
  assay_status found = import_bytes("a: 1\nb: ]\n", 10, "x.yaml", NULL, &models, facts);
  assert_string_equal(assay_status_where(found), "x.yaml:2:4"); /* where it stops being YAML */
  ASSERT_FAILS(found, ASSAY_IMPORT_FORMAT, "read as YAML: this is neither YAML nor JSON");
  ASSERT_FAILS(import_bytes("joint_names: [a]\n---\njoint_names: [b]\n", 38, "x.yaml", NULL, &models, facts),
               ASSAY_IMPORT_INVALID, "holds a further document");
  ASSERT_FAILS(import_bytes("a: 1\n", 5, "x.yaml", "unitri", &models, facts), ASSAY_IMPORT_FORMAT,
               "'unitri' is no format that is imported; these are: unitree");
  ASSERT_FAILS(import_bytes("a: 1\n", 5, "x.yaml", "unitree", &models, facts), ASSAY_IMPORT_INVALID,
               "'joint_ids_map' is missing");
  text_free(&draft);
}

static void repeated_keys_are_refused_where_they_matter(void **state) {
  (void)state;
  struct text twice = {0};
  text_format(&twice, "%sstiffness: [1, 2, 3]\n", deploy);
  const struct given_file files[] = {{"deploy.yaml", text_string(&twice)}};
  struct facts *facts;
  struct text draft = {0};
  ASSERT_FAILS(GATHER(22, files, &facts, &draft), ASSAY_IMPORT_INVALID, "'stiffness' stands here again, after line 3");
  text_free(&draft);
  text_free(&twice);
}

static void patterns_match_whole_names(void **state) {
  (void)state;
  static const struct {
    const char *pattern, *name;
    bool matches;
  } cases[] = {{".*", "left_hip", true},
               {".*_hip", "left_hip", true},
               {"hip", "left_hip", false},
               {"left_.*|right_.*", "right_knee", true},
               {"F[LR]_hip", "FR_hip", true},
               {"F[^L]_hip", "FL_hip", false},
               {"(left|right)_hip", "right_hip", true},
               {"(a|b)*c", "ababc", true},
               {"wrist_[1-3]", "wrist_2", true},
               {"wrist_[1-3]", "wrist_4", false},
               {"a+", "aaa", true},
               {"a+", "", false},
               {"ab?c", "ac", true},
               {"a\\.b", "a.b", true},
               {"a\\.b", "axb", false},
               {"(", "x", false},
               {"[", "x", false},
               {"", "", true},
               {"(a*)*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac", false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (import_matches(cases[i].pattern, cases[i].name) != cases[i].matches) {
      fail_msg("expected '%s' %s '%s'", cases[i].pattern, cases[i].matches ? "to match" : "not to match",
               cases[i].name);
    }
  }
}

/* --- memory -------------------------------------------------------------------------------------- */

static assay_status attempt(void *argument) {
  const struct given_file *files = argument;
  struct facts *facts;
  struct text draft = {0};
  assay_status status = gather(22, NULL, 0, files, 2, &facts, &draft);
  text_free(&draft);
  arena_free(&arena);
  return status;
}

static void survives_failing_memory(void **state) {
  (void)state;
  struct given_file files[] = {{"deploy.yaml", deploy}, joints_file};
  fail_every_allocation(attempt, files);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(unitree_puts_motors_in_the_order_of_the_joints, end),
      cmocka_unit_test_teardown(unitree_asks_for_names, end),
      cmocka_unit_test_teardown(unitree_refuses_a_map_that_is_none, end),
      cmocka_unit_test_teardown(sizes_that_do_not_add_up_name_the_lines, end),
      cmocka_unit_test_teardown(exchanged_joints_are_caught_with_both_lines, end),
      cmocka_unit_test_teardown(gains_in_another_order_are_caught_by_name, end),
      cmocka_unit_test_teardown(damping_of_zero_is_refused, end),
      cmocka_unit_test_teardown(rl_sar_reads_both_files_in_any_order, end),
      cmocka_unit_test_teardown(rl_sar_refuses_history_with_gaps, end),
      cmocka_unit_test_teardown(rl_sar_refuses_wheels_that_are_no_list, end),
      cmocka_unit_test_teardown(isaac_env_resolves_patterns_once_joints_are_named, end),
      cmocka_unit_test_teardown(the_clipped_action_of_rsl_rl_is_fed_back, end),
      cmocka_unit_test_teardown(isaac_env_knows_the_joints_that_others_name, end),
      cmocka_unit_test_teardown(isaac_env_leaves_the_order_open, end),
      cmocka_unit_test_teardown(isaac_io_takes_names_offsets_and_units, end),
      cmocka_unit_test_teardown(a_clip_of_the_action_is_never_lost, end),
      cmocka_unit_test_teardown(metadata_names_terms_and_leaves_open_what_they_do_not_say, end),
      cmocka_unit_test_teardown(tells_formats_from_the_content, end),
      cmocka_unit_test_teardown(repeated_keys_are_refused_where_they_matter, end),
      cmocka_unit_test(patterns_match_whole_names),
      cmocka_unit_test(survives_failing_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
