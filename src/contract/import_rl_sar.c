/* rl_sar's base.yaml (the robot) and config.yaml (one policy of it), each a single map under the robot's name. The
 * program reads base.yaml first and config.yaml over it; what it does with the numbers (terms times scales, the whole
 * clipped, wheels driven by velocity, joint i being motor joint_mapping[i]) is what its ComputeObservation and
 * ComputeOutput do. */
#include <string.h>

#include "contract/importer.h"
#include "core/text.h"

/* One file being read. */
struct sar {
  struct import *import;
  const struct foreign *root; /* the map under the robot's name */
  bool is_policy;             /* config.yaml */
  int32_t n_joints;
};

/* The one map of the file that looks like a robot's; NULL when there is none. */
static const struct foreign *find_robot(const struct foreign *document) {
  for (int32_t i = 0; document->kind == FOREIGN_MAP && i < document->count; i++) {
    const struct foreign *robot = &document->items[i];
    bool policy = foreign_get(robot, "observations") != NULL && foreign_get(robot, "clip_obs") != NULL;
    bool base = foreign_get(robot, "decimation") != NULL && foreign_get(robot, "joint_names") != NULL;
    if (foreign_get(robot, "num_of_dofs") != NULL && (policy || base)) {
      return robot;
    }
  }
  return NULL;
}

int rl_sar_recognise(const struct import_file *file) {
  return file->is_text && find_robot(&file->yaml.documents[0]) != NULL ? IMPORT_SURE : IMPORT_NO;
}

/* A list of numbers with one for each joint (or, where `single`, one number); count 0 when the key is absent. */
static assay_status joint_numbers(const struct sar *sar, const char *key, bool single, const struct foreign **node,
                                  const double **values, int32_t *count) {
  *count = 0;
  TRY(import_get(sar->import, sar->root, key, node));
  if (*node == NULL || ((*node)->kind == FOREIGN_LIST && (*node)->count == 0)) {
    return status_ok();
  }
  TRY(import_numbers(sar->import, *node, key, values, count));
  if (*count != sar->n_joints && !(single && *count == 1)) {
    return import_error(sar->import, *node, "'%s' has %d numbers, but 'num_of_dofs' is %d", key, (int)*count,
                        (int)sar->n_joints);
  }
  return status_ok();
}

static assay_status read_column(const struct sar *sar, const char *key, const char *what, struct fact_numbers *slot) {
  const struct foreign *node;
  const double *values = NULL;
  int32_t count;
  TRY(joint_numbers(sar, key, true, &node, &values, &count));
  return facts_column(sar->import->facts, slot, what, import_place(sar->import, node), values, count, FACT_EXACT);
}

static assay_status read_count(struct sar *sar) {
  const struct foreign *node;
  int64_t joints = 0;
  TRY(import_get(sar->import, sar->root, "num_of_dofs", &node));
  if (node == NULL) {
    return import_error(sar->import, sar->root, "the key 'num_of_dofs' is missing");
  }
  TRY(import_whole(sar->import, node, "num_of_dofs", 1, FACT_ITEMS_MAX, &joints));
  sar->n_joints = (int32_t)joints;
  struct facts *facts = sar->import->facts;
  return facts_number(facts, &facts->n_joints, "the number of joints", import_place(sar->import, node), (double)joints);
}

static assay_status read_period(struct sar *sar) {
  const struct foreign *dt, *decimation;
  double seconds = 0;
  int64_t steps = 0;
  TRY(import_get(sar->import, sar->root, "dt", &dt));
  TRY(import_get(sar->import, sar->root, "decimation", &decimation));
  if (dt == NULL || decimation == NULL) {
    return status_ok();
  }
  TRY(import_number(sar->import, dt, "dt", &seconds));
  TRY(import_whole(sar->import, decimation, "decimation", 1, 1000000, &steps));
  struct facts *facts = sar->import->facts;
  return facts_number(facts, &facts->period_ms, "the control period in ms", import_place(sar->import, decimation),
                      seconds * (double)steps * 1000);
}

/* --- the order of the joints --------------------------------------------------------------- */

static assay_status read_mapping(struct sar *sar) {
  const struct foreign *node;
  const double *map = NULL;
  int32_t count;
  TRY(joint_numbers(sar, "joint_mapping", false, &node, &map, &count));
  for (int32_t i = 0; i < count; i++) {
    int64_t motor;
    const struct foreign *item = node->kind == FOREIGN_LIST ? &node->items[i] : node;
    TRY(import_whole(sar->import, item, "joint_mapping", 0, FACT_ITEMS_MAX - 1, &motor));
    for (int32_t k = 0; k < i; k++) {
      if (map[k] == map[i]) {
        return import_error(sar->import, item, "motor %d stands twice in 'joint_mapping', as number %d and %d",
                            (int)motor, (int)k + 1, (int)i + 1);
      }
    }
  }
  struct facts *facts = sar->import->facts;
  if (count == 0 || (!sar->is_policy && facts->motor_map.count > 0)) {
    return status_ok(); /* config.yaml is read over base.yaml */
  }
  TRY(facts_numbers(facts, &facts->motor_map, "the joints' motors", import_place(sar->import, node), map, count,
                    FACT_EXACT));
  facts->motor_map.weak = !sar->is_policy;
  return status_ok();
}

static assay_status read_names(struct sar *sar) {
  const struct foreign *node;
  const char *const *names;
  int32_t count = 0;
  TRY(import_get(sar->import, sar->root, "joint_names", &node));
  if (node == NULL) {
    return status_ok();
  }
  TRY(import_words(sar->import, node, "joint_names", &names, &count));
  if (count != sar->n_joints) {
    return import_error(sar->import, node, "'joint_names' has %d names, but 'num_of_dofs' is %d", (int)count,
                        (int)sar->n_joints);
  }
  struct facts *facts = sar->import->facts;
  return facts_words(facts, &facts->motor_names, "the motors", import_place(sar->import, node), names, count);
}

/* --- observations ------------------------------------------------------------------------------- */

static const struct known_term terms[] = {
    {"lin_vel", "m/s", "x y z", FACT_SENSOR},
    {"ang_vel", "rad/s", "x y z", FACT_SENSOR},
    {"ang_vel_body", "rad/s", "x y z", FACT_SENSOR},
    {"ang_vel_world", "rad/s", "x y z", FACT_SENSOR},
    {"gravity_vec", "1", "x y z", FACT_SENSOR}, /* a direction: its length is 1 */
    {"commands", "m/s, m/s, rad/s", "lin_vel_x lin_vel_y ang_vel_z", FACT_SENSOR},
    {"dof_pos", "rad", "*", FACT_SENSOR},
    {"dof_vel", "rad/s", "*", FACT_SENSOR},
    {"actions", NULL, "", FACT_OUTPUT},
    {"g1_phase", NULL, "", FACT_CLOCK},
    {"g1_mimic_phase", "1", "phase", FACT_SENSOR},
};
/* The key that scales a term. */
static const char *const scales[][2] = {
    {"lin_vel", "lin_vel_scale"},       {"ang_vel", "ang_vel_scale"},   {"ang_vel_body", "ang_vel_scale"},
    {"ang_vel_world", "ang_vel_scale"}, {"commands", "commands_scale"}, {"dof_pos", "dof_pos_scale"},
    {"dof_vel", "dof_vel_scale"},
};

/* Which joints are wheels. */
static assay_status read_wheels(const struct sar *sar, bool **wheels, const struct foreign **node) {
  ARENA_NEW(sar->import->arena, *wheels, sar->n_joints + 1);
  TRY(import_get(sar->import, sar->root, "wheel_indices", node));
  if (*node != NULL && (*node)->kind != FOREIGN_LIST) { /* which is not the same as no wheels */
    return import_error(sar->import, *node, "'wheel_indices' must be a list of joints' numbers; '%.60s' stands here",
                        (*node)->kind == FOREIGN_SCALAR ? (*node)->text : "a map");
  }
  for (int32_t i = 0; *node != NULL && i < (*node)->count; i++) {
    int64_t at = 0;
    TRY(import_whole(sar->import, &(*node)->items[i], "wheel_indices", 0, sar->n_joints - 1, &at));
    (*wheels)[at] = true;
  }
  return status_ok();
}

/* A wheel's position is set to 0, which a scale of 0 does as well. */
static assay_status scale_positions(const struct sar *sar, struct fact_term *term, double scale, struct place place) {
  bool *wheels;
  const struct foreign *node;
  double *values;
  TRY(read_wheels(sar, &wheels, &node));
  ARENA_NEW(sar->import->arena, values, sar->n_joints);
  for (int32_t i = 0; i < sar->n_joints; i++) {
    values[i] = wheels[i] ? 0 : scale;
  }
  return facts_column(sar->import->facts, &term->scale, "the scale of a term", place, values, sar->n_joints,
                      FACT_EXACT);
}

static assay_status read_scale(const struct sar *sar, struct fact_term *term) {
  struct import *import = sar->import;
  for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
    const struct foreign *node;
    const double *values;
    int32_t count = 0;
    if (!text_equal(scales[i][0], term->name)) {
      continue;
    }
    TRY(import_get(import, sar->root, scales[i][1], &node));
    if (node == NULL) {
      return facts_ask(import->facts, &term->open, "scale", "the file has no '%s'", scales[i][1]);
    }
    TRY(import_numbers(import, node, scales[i][1], &values, &count));
    if (text_equal(term->name, "dof_pos") && count == 1) {
      return scale_positions(sar, term, values[0], import_place(import, node));
    }
    return facts_numbers(import->facts, &term->scale, "the scale of a term", import_place(import, node), values, count,
                         FACT_EXACT);
  }
  return status_ok();
}

/* The program clips the model's answer and keeps the clipped one for the next observation. */
static assay_status clip_action(const struct sar *sar, struct fact_term *term) {
  const struct foreign *low_node, *high_node;
  const double *low = NULL, *high = NULL;
  int32_t n_low, n_high;
  TRY(joint_numbers(sar, "clip_actions_lower", true, &low_node, &low, &n_low));
  TRY(joint_numbers(sar, "clip_actions_upper", true, &high_node, &high, &n_high));
  if (n_low == 0 || n_high == 0) {
    return status_ok();
  }
  struct facts *facts = sar->import->facts;
  TRY(facts_numbers(facts, &term->clip_low, "the clip of the last action", import_place(sar->import, low_node), low,
                    n_low, FACT_EXACT));
  return facts_numbers(facts, &term->clip_high, "the clip of the last action", import_place(sar->import, high_node),
                       high, n_high, FACT_EXACT);
}

static assay_status read_term(const struct sar *sar, struct fact_term *term) {
  struct import *import = sar->import;
  bool known;
  TRY(import_known_term(import, terms, sizeof terms / sizeof *terms, term->name, term->place, term, &known));
  if (text_equal(term->name, "dof_pos")) {
    term->minus_default = true;
  } else if (text_equal(term->name, "actions")) {
    TRY(clip_action(sar, term));
  } else if (text_equal(term->name, "g1_phase")) { /* 0.8 s a turn, and one step on before the first observation */
    TRY(facts_number(import->facts, &term->period_s, "the period of the clock", term->place, 0.8));
    TRY(facts_number(import->facts, &term->clock_start, "the start of the clock", term->place, 1));
    TRY(facts_text(import->facts, &term->clock_as, "the form of the clock", term->place, "[sin, cos]"));
  } else if (text_equal(term->name, "phase")) {
    TRY(facts_ask(import->facts, &term->open, "elements",
                  "three clocks of 4 and 8 and 16 s in one; write a term from a clock for each"));
  }
  return read_scale(sar, term);
}

/* observations_history: which steps back, 0 being the latest. Runs of steps without a gap can be said. */
static assay_status read_history(const struct sar *sar, struct fact_input *input) {
  struct import *import = sar->import;
  const struct foreign *node, *priority;
  const double *ids;
  int32_t count = 0;
  TRY(import_get(import, sar->root, "observations_history", &node));
  if (node == NULL || (node->kind == FOREIGN_LIST && node->count == 0)) {
    return status_ok();
  }
  TRY(import_numbers(import, node, "observations_history", &ids, &count));
  bool newest = true, oldest = true;
  for (int32_t i = 0; i < count; i++) {
    newest = newest && ids[i] == i;
    oldest = oldest && ids[i] == count - 1 - i;
  }
  struct place place = import_place(import, node);
  if (!newest && !oldest) {
    return import_error(import, node,
                        "'observations_history' skips or repeats steps, which a contract has no words "
                        "for; it reads 0, 1, 2, ... or the same backwards");
  }
  TRY(facts_number(import->facts, &input->history, "the history", place, count));
  TRY(facts_text(import->facts, &input->order, "the order of the history", place,
                 newest ? "newest_first" : "oldest_first"));
  TRY(facts_text(import->facts, &input->initial, "the start of the history", place, "zeros"));
  TRY(import_get(import, sar->root, "observations_history_priority", &priority));
  const char *word = foreign_text(priority);
  if (priority != NULL && (word == NULL || (!text_equal(word, "time") && !text_equal(word, "term")))) {
    return import_error(import, priority, "'observations_history_priority' must be time or term");
  }
  /* older files have no such key, and their program knew time alone */
  return facts_text(import->facts, &input->layout, "the layout of the history",
                    priority != NULL ? import_place(import, priority) : place,
                    word != NULL && text_equal(word, "term") ? "term_major" : "time_major");
}

static assay_status read_observations(const struct sar *sar) {
  struct import *import = sar->import;
  const struct foreign *node, *clip;
  TRY(import_get(import, sar->root, "observations", &node));
  if (node == NULL) {
    return status_ok();
  }
  const char *const *names;
  struct place *places;
  int32_t count = 0;
  TRY(import_words(import, node, "observations", &names, &count));
  ARENA_NEW(import->arena, places, count + 1);
  for (int32_t i = 0; i < count; i++) {
    places[i] = import_place(import, node->kind == FOREIGN_LIST ? &node->items[i] : node);
  }
  struct fact_input *input;
  TRY(facts_input(import->facts, import_place(import, node), NULL, &input));
  TRY(facts_terms(import->facts, input, import_place(import, node), names, places, count));
  for (int32_t i = 0; i < count; i++) {
    TRY(read_term(sar, &input->terms[i]));
  }
  TRY(import_get(import, sar->root, "clip_obs", &clip));
  if (clip != NULL) {
    double bound = 0;
    TRY(import_number(import, clip, "clip_obs", &bound));
    struct place place = import_place(import, clip);
    TRY(facts_number(import->facts, &input->clip_low, "the clip of the observation", place, -bound));
    TRY(facts_number(import->facts, &input->clip_high, "the clip of the observation", place, bound));
  }
  return read_history(sar, input);
}

/* --- actions --------------------------------------------------------------------------------------- */

static assay_status read_actions(const struct sar *sar) {
  struct import *import = sar->import;
  const struct foreign *scale_node, *wheel_node, *position_node;
  const double *position = NULL, *scale = NULL;
  int32_t n_position, n_scale;
  bool *wheels;
  TRY(joint_numbers(sar, "action_scale", true, &scale_node, &scale, &n_scale));
  TRY(read_wheels(sar, &wheels, &wheel_node));
  if (n_scale == 0) {
    return status_ok();
  }
  struct fact_output *output;
  struct fact_term clip = {0};
  TRY(facts_output(import->facts, import_place(import, scale_node), NULL, &output));
  TRY(facts_column(import->facts, &output->scale, "the scale of the action", import_place(import, scale_node), scale,
                   n_scale, FACT_EXACT));
  TRY(clip_action(sar, &clip));
  output->clip_raw_low = clip.clip_low;
  output->clip_raw_high = clip.clip_high;
  const char **units;
  double *offset;
  bool any_wheel = false;
  ARENA_NEW(import->arena, units, sar->n_joints + 1);
  ARENA_NEW(import->arena, offset, sar->n_joints + 1);
  TRY(joint_numbers(sar, "default_dof_pos", false, &position_node, &position, &n_position));
  for (int32_t i = 0; i < sar->n_joints; i++) {
    any_wheel = any_wheel || wheels[i];
    units[i] = wheels[i] ? "rad/s" : "rad";
    offset[i] = wheels[i] || n_position == 0 ? 0 : position[i];
  }
  TRY(facts_words(import->facts, &output->units, "the units of the action",
                  import_place(import, any_wheel ? wheel_node : scale_node), units, any_wheel ? sar->n_joints : 1));
  output->plus_default = n_position == 0;
  return n_position == 0 ? status_ok()
                         : facts_column(import->facts, &output->offset, "the offset of the action",
                                        import_place(import, position_node), offset, sar->n_joints, FACT_EXACT);
}

static assay_status read_torques(const struct sar *sar) {
  const struct foreign *node;
  const double *values = NULL;
  int32_t count;
  TRY(joint_numbers(sar, "torque_limits", true, &node, &values, &count));
  struct facts *facts = sar->import->facts;
  return facts_column(facts, &facts->effort, "the limit of the torque", import_place(sar->import, node), values, count,
                      FACT_EXACT);
}

assay_status rl_sar_read(struct import *import) {
  struct sar sar = {.import = import};
  sar.root = import->file->is_text ? find_robot(&import->file->yaml.documents[0]) : NULL;
  if (sar.root == NULL) {
    return import_error(import, NULL,
                        "rl_sar's files hold one map under the robot's name, with 'num_of_dofs'; this "
                        "file has none");
  }
  sar.is_policy = foreign_get(sar.root, "observations") != NULL;
  struct facts *facts = import->facts;
  TRY(read_count(&sar));
  TRY(read_period(&sar));
  TRY(read_names(&sar));
  TRY(read_mapping(&sar));
  TRY(read_torques(&sar));
  if (!sar.is_policy) {
    return status_ok(); /* fixed_kp, fixed_kd and default_dof_pos are those of standing up */
  }
  TRY(read_column(&sar, "rl_kp", "the stiffness", &facts->kp));
  TRY(read_column(&sar, "rl_kd", "the damping", &facts->kd));
  TRY(read_column(&sar, "default_dof_pos", "the default position", &facts->default_pos));
  TRY(read_observations(&sar));
  return read_actions(&sar);
}
