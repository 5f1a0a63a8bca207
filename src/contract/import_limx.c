/* LimX's params.yaml (PointfootCfg), which its Python and C++ controllers read. The file says joints, gains, scales,
 * sizes and the history; the order of the observation and the two files of the policy (an encoder of the history,
 * then the actor) are those of the point-foot controller, and are taken only where every size agrees with it. */
#include "contract/importer.h"

#define ROOT "PointfootCfg"
#define CLIP_ACTIONS "normalization/clip_scales/clip_actions"
#define CLIP_OBSERVATIONS "normalization/clip_scales/clip_observations"

int limx_recognise(const struct import_file *file) {
  const struct foreign *root = file->is_text ? foreign_get(file->yaml.documents, ROOT) : NULL;
  if (root == NULL) {
    return IMPORT_NO;
  }
  return foreign_at(root, "normalization/obs_scales") != NULL && foreign_get(root, "joint_names") != NULL
             ? IMPORT_SURE
             : IMPORT_LIKELY;
}

/* What is read before it becomes facts. */
struct limx {
  struct import *import;
  const struct foreign *root, *names_node, *sizes;
  const char *const *joints;
  int32_t n_joints;
  int64_t observations, actions, commands, history, latent;
};

static assay_status at(const struct limx *l, const char *path, const struct foreign **out) {
  *out = foreign_at(l->root, path);
  if (*out == NULL || (*out)->kind == FOREIGN_NULL) {
    return import_error(l->import, l->root, "'%s' is missing, which files of this format have", path);
  }
  return status_ok();
}

static assay_status number_at(const struct limx *l, const char *path, const struct foreign **node, double *out) {
  TRY(at(l, path, node));
  return import_number(l->import, *node, path, out);
}

static assay_status size_at(const struct limx *l, const char *path, int64_t *out) {
  const struct foreign *node;
  TRY(at(l, path, &node));
  return import_whole(l->import, node, path, 1, 65536, out);
}

static assay_status read_sizes(struct limx *l) {
  TRY(at(l, "size", &l->sizes));
  TRY(size_at(l, "size/actions_size", &l->actions));
  TRY(size_at(l, "size/observations_size", &l->observations));
  TRY(size_at(l, "size/commands_size", &l->commands));
  TRY(size_at(l, "size/obs_history_length", &l->history));
  TRY(size_at(l, "size/encoder_output_size", &l->latent));
  if (l->actions != l->n_joints) {
    return import_error(l->import, l->names_node, "there are %d joint_names, and actions_size says %lld",
                        (int)l->n_joints, (long long)l->actions);
  }
  return status_ok();
}

/* One number for all joints. */
static assay_status give_gain(const struct limx *l, const char *path, const char *what, struct fact_numbers *slot) {
  const struct foreign *node;
  double value;
  TRY(number_at(l, path, &node, &value));
  return facts_column(l->import->facts, slot, what, import_place(l->import, node), &value, 1, FACT_EXACT);
}

static assay_status give_defaults(const struct limx *l) {
  const struct foreign *angles;
  TRY(at(l, "init_state/default_joint_angle", &angles));
  double *column;
  ARENA_NEW(l->import->arena, column, l->n_joints);
  for (int32_t i = 0; i < l->n_joints; i++) {
    const struct foreign *angle;
    TRY(import_get(l->import, angles, l->joints[i], &angle));
    if (angle == NULL) {
      return import_error(l->import, angles, "'default_joint_angle' has no '%s', which 'joint_names' has",
                          l->joints[i]);
    }
    TRY(import_number(l->import, angle, l->joints[i], &column[i]));
  }
  return facts_column(l->import->facts, &l->import->facts->default_pos, "the default position",
                      import_place(l->import, angles), column, l->n_joints, FACT_EXACT);
}

static assay_status give_period(const struct limx *l) {
  const struct foreign *frequency, *decimation;
  double hertz;
  int64_t every;
  TRY(number_at(l, "loop_frequency", &frequency, &hertz));
  TRY(at(l, "control/decimation", &decimation));
  TRY(import_whole(l->import, decimation, "control/decimation", 1, 100000, &every));
  if (!(hertz > 0)) {
    return import_error(l->import, frequency, "'loop_frequency' is %g, which is no frequency", hertz);
  }
  return facts_number(l->import->facts, &l->import->facts->period_ms, "the control period",
                      import_place(l->import, decimation), 1000.0 * (double)every / hertz);
}

static assay_status give_output(const struct limx *l) {
  struct facts *facts = l->import->facts;
  const struct foreign *clip, *scale;
  double most, factor;
  TRY(number_at(l, CLIP_ACTIONS, &clip, &most));
  TRY(number_at(l, "control/action_scale_pos", &scale, &factor));
  struct fact_output *output;
  TRY(facts_output(facts, import_place(l->import, l->names_node), "action", &output));
  static const char *const unit[] = {"rad"};
  double least = -most;
  TRY(facts_words(facts, &output->units, "the unit of the action", import_place(l->import, scale), unit, 1));
  TRY(facts_numbers(facts, &output->clip_raw_low, "clip_actions", import_place(l->import, clip), &least, 1,
                    FACT_EXACT));
  TRY(facts_numbers(facts, &output->clip_raw_high, "clip_actions", import_place(l->import, clip), &most, 1,
                    FACT_EXACT));
  TRY(facts_numbers(facts, &output->scale, "action_scale_pos", import_place(l->import, scale), &factor, 1, FACT_EXACT));
  output->plus_default = true;
  const struct foreign *torque = foreign_at(l->root, "control/user_torque_limit");
  if (torque == NULL) {
    return status_ok();
  }
  return facts_remark(facts, import_place(l->import, torque),
                      "the controller also keeps each action within what user_torque_limit allows at the measured "
                      "position and velocity; where that acts, last_action is no longer the model's own number");
}

/* --- the observation of the point-foot controller ----------------------------------------------- */

static const struct known_term terms[] = {
    {"base_ang_vel", "rad/s", "x y z", FACT_SENSOR},
    {"projected_gravity", NULL, "x y z", FACT_SENSOR},
    {"joint_pos", "rad", "*", FACT_SENSOR},
    {"joint_vel", "rad/s", "*", FACT_SENSOR},
    {"last_action", NULL, "*", FACT_OUTPUT},
    {"gait_clock", NULL, "", FACT_CLOCK},
    {"gait", NULL, "frequency offset duration swing_height", FACT_SENSOR},
};
enum { TERMS = sizeof terms / sizeof *terms, ANG_VEL = 0, JOINT_POS = 2, JOINT_VEL = 3, LAST_ACTION = 4, CLOCK = 5 };
/* Of the numbers of one observation, those that are not one for each joint. */
enum { FIXED = 3 + 3 + 2 + 4, OF_JOINTS = 3, COMMANDS = 3 };

static bool is_point_foot(const struct limx *l) {
  bool other = foreign_at(l->root, "control/ankle_joint_damping") != NULL ||
               foreign_at(l->root, "control/wheel_joint_damping") != NULL;
  return !other && l->observations == FIXED + OF_JOINTS * (int64_t)l->n_joints && l->commands == COMMANDS;
}

static assay_status give_scale(const struct limx *l, const char *path, struct fact_term *term) {
  const struct foreign *node;
  double value;
  TRY(number_at(l, path, &node, &value));
  return facts_numbers(l->import->facts, &term->scale, path, import_place(l->import, node), &value, 1, FACT_EXACT);
}

/* Keeps a term within +- what stands at `path`. */
static assay_status give_clip(const struct limx *l, const char *path, struct fact_term *term) {
  const struct foreign *node;
  double most;
  TRY(number_at(l, path, &node, &most));
  double least = -most;
  struct place place = import_place(l->import, node);
  TRY(facts_numbers(l->import->facts, &term->clip_low, path, place, &least, 1, FACT_EXACT));
  return facts_numbers(l->import->facts, &term->clip_high, path, place, &most, 1, FACT_EXACT);
}

/* The gait turns at gait/frequencies hertz, where the file has it. Its clock is one step on at the first step. */
static assay_status give_clock(const struct limx *l, struct fact_term *term) {
  struct facts *facts = l->import->facts;
  const struct foreign *node = foreign_at(l->root, "gait/frequencies");
  TRY(facts_text(facts, &term->clock_as, "what the clock is fed as", term->place, "[sin, cos]"));
  TRY(facts_number(facts, &term->clock_start, "the start of the clock", term->place, 1));
  if (node == NULL) {
    TRY(facts_ask(facts, &term->open, "period_s", "the file does not say how long a cycle of the gait is"));
    return facts_ask(facts, &term->open, "start",
                     "one step as a share of the cycle; the controller turns its clock before it first asks");
  }
  double hertz;
  TRY(import_number(l->import, node, "gait/frequencies", &hertz));
  if (!(hertz > 0)) {
    return import_error(l->import, node, "'gait/frequencies' is %g, which is no frequency", hertz);
  }
  struct place place = import_place(l->import, node);
  return facts_number(facts, &term->period_s, "the period of the gait", place, 1 / hertz);
}

/* The seven terms of one observation, from `first` on among those of an input. */
static assay_status give_terms(const struct limx *l, struct fact_input *input, int32_t first) {
  for (int32_t i = 0; i < TERMS; i++) {
    bool known;
    TRY(import_known_term(l->import, terms, TERMS, terms[i].name, input->terms[first + i].place,
                          &input->terms[first + i], &known));
  }
  struct fact_term *of = input->terms + first;
  of[JOINT_POS].minus_default = true;
  TRY(give_scale(l, "normalization/obs_scales/ang_vel", &of[ANG_VEL]));
  TRY(give_scale(l, "normalization/obs_scales/dof_pos", &of[JOINT_POS]));
  TRY(give_scale(l, "normalization/obs_scales/dof_vel", &of[JOINT_VEL]));
  of[LAST_ACTION].output = "action";
  of[LAST_ACTION].lag = 1;
  return give_clock(l, &of[CLOCK]);
}

/* What the encoder takes: the last observations, whole ones, the oldest first, filled with the first; not clipped. */
static assay_status give_history(const struct limx *l, const char *const *names, const struct place *places) {
  struct facts *facts = l->import->facts;
  struct place place = import_place(l->import, l->sizes);
  struct fact_input *input;
  TRY(facts_input(facts, place, "history", &input));
  TRY(facts_terms(facts, input, place, names + 1, places, TERMS));
  TRY(give_terms(l, input, 0));
  TRY(give_clip(l, CLIP_ACTIONS, &input->terms[LAST_ACTION])); /* the controller keeps the clipped action */
  TRY(facts_number(facts, &input->history, "the history", place, (double)l->history));
  TRY(facts_text(facts, &input->layout, "the layout of the history", place, "time_major"));
  TRY(facts_text(facts, &input->order, "the order of the history", place, "oldest_first"));
  TRY(facts_text(facts, &input->initial, "the start of the history", place, "repeat_first"));
  return facts_number(facts, &input->size, "the size of the history", place, (double)(l->history * l->observations));
}

static assay_status give_commands(const struct limx *l, struct fact_term *term) {
  static const struct known_term row = {"commands", NULL, "lin_vel_x lin_vel_y ang_vel_yaw", FACT_SENSOR};
  static const char *const keys[COMMANDS] = {"user_cmd_scales/lin_vel_x", "user_cmd_scales/lin_vel_y",
                                             "user_cmd_scales/ang_vel_yaw"};
  bool known;
  TRY(import_known_term(l->import, &row, 1, row.name, term->place, term, &known));
  double scale[COMMANDS];
  const struct foreign *node = NULL;
  for (int32_t i = 0; i < COMMANDS; i++) {
    TRY(number_at(l, keys[i], &node, &scale[i]));
  }
  TRY(at(l, "user_cmd_scales", &node));
  return facts_numbers(l->import->facts, &term->scale, "user_cmd_scales", import_place(l->import, node), scale,
                       COMMANDS, FACT_EXACT);
}

/* What the actor takes: the encoder's answer, the newest observation, clipped, and the commands. */
static assay_status give_observation(const struct limx *l, const char *const *names, const struct place *places) {
  struct facts *facts = l->import->facts;
  struct place place = import_place(l->import, l->sizes);
  struct fact_input *input;
  TRY(facts_input(facts, place, "obs", &input));
  TRY(facts_terms(facts, input, place, names, places, TERMS + 2));
  input->terms[0].origin = FACT_OUTPUT;
  input->terms[0].output = "latent";
  input->terms[0].width = l->latent;
  input->terms[0].unitless = true;
  TRY(give_terms(l, input, 1));
  const struct foreign *node;
  double actions, observations;
  TRY(number_at(l, CLIP_ACTIONS, &node, &actions));
  TRY(number_at(l, CLIP_OBSERVATIONS, &node, &observations));
  for (int32_t i = 1; i <= TERMS; i++) {
    /* The last action is clipped as both say: as the narrower one does. */
    bool narrower = i == 1 + LAST_ACTION && actions < observations;
    TRY(give_clip(l, narrower ? CLIP_ACTIONS : CLIP_OBSERVATIONS, &input->terms[i]));
  }
  TRY(give_commands(l, &input->terms[TERMS + 1]));
  return facts_number(facts, &input->size, "the size of the observation", place,
                      (double)(l->latent + l->observations + l->commands));
}

static assay_status give_stages(const struct limx *l) {
  struct facts *facts = l->import->facts;
  const char *names[TERMS + 2] = {"latent"};
  struct place places[TERMS + 2];
  for (int32_t i = 0; i < TERMS; i++) {
    names[i + 1] = terms[i].name;
  }
  names[TERMS + 1] = "commands";
  for (int32_t i = 0; i < TERMS + 2; i++) {
    places[i] = import_place(l->import, l->sizes);
  }
  TRY(give_history(l, names, places));
  TRY(give_observation(l, names, places));
  struct place place = import_place(l->import, l->sizes);
  struct fact_stage *encoder, *actor;
  TRY(facts_stage(facts, place, "encoder", "encoder", &encoder));
  TRY(facts_link(facts, encoder, FACT_LINK_INPUT, NULL, "history"));
  TRY(facts_link(facts, encoder, FACT_LINK_OUTPUT, NULL, "latent"));
  TRY(facts_stage(facts, place, "actor", "policy", &actor));
  TRY(facts_link(facts, actor, FACT_LINK_INPUT, NULL, "obs"));
  return facts_link(facts, actor, FACT_LINK_OUTPUT, NULL, "action");
}

assay_status limx_read(struct import *import) {
  struct limx l = {.import = import, .root = foreign_get(import->file->yaml.documents, ROOT)};
  if (l.root == NULL) {
    return import_error(import, import->file->yaml.documents, "there is no '%s', which files of this format have",
                        ROOT);
  }
  TRY(at(&l, "joint_names", &l.names_node));
  TRY(import_words(import, l.names_node, "joint_names", &l.joints, &l.n_joints));
  TRY(read_sizes(&l));
  TRY(facts_joints(import->facts, import_place(import, l.names_node), l.joints, l.n_joints));
  TRY(give_defaults(&l));
  TRY(give_gain(&l, "control/stiffness", "the stiffness", &import->facts->kp));
  TRY(give_gain(&l, "control/damping", "the damping", &import->facts->kd));
  TRY(give_period(&l));
  if (!is_point_foot(&l)) {
    return facts_remark(import->facts, import_place(import, l.sizes),
                        "the sizes are not those of LimX's point-foot controller, so its observation is not assumed");
  }
  TRY(give_output(&l));
  return give_stages(&l);
}
