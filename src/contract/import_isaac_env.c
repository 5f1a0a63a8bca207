/* Isaac Lab's env.yaml: the whole configuration of the environment that a policy was trained in, with Python tags that
 * are read as data. Terms are clipped, then scaled; history is per term, oldest first, started by repeating. Joints are
 * named by patterns, in an order that the file does not have. */
#include <string.h>

#include "contract/importer.h"
#include "contract/isaac_terms.h"
#include "core/text.h"

int isaac_env_recognise(const struct import_file *file) {
  const struct foreign *root = file->is_text ? &file->yaml.documents[0] : NULL;
  bool env =
      foreign_get(root, "sim") != NULL && foreign_get(root, "scene") != NULL && foreign_get(root, "decimation") != NULL;
  bool managed = foreign_get(root, "observations") != NULL && foreign_get(root, "actions") != NULL;
  return env && managed ? IMPORT_SURE : env ? IMPORT_MAYBE : IMPORT_NO;
}

/* One env.yaml being read. */
struct env {
  struct import *import;
  const struct foreign *root;
  const struct foreign *robot; /* the articulation that the first action moves; NULL */
};

/* "joint_pos_rel" of "omni.isaac.lab.envs.mdp.observations:joint_pos_rel". */
static const char *last_part(const char *path) {
  const char *colon = strrchr(path, ':'), *dot = strrchr(path, '.');
  return colon != NULL ? colon + 1 : dot != NULL ? dot + 1 : path;
}

static bool is_all(const struct foreign *patterns) {
  const struct foreign *only =
      patterns != NULL && patterns->kind == FOREIGN_LIST && patterns->count == 1 ? &patterns->items[0] : patterns;
  const char *text = foreign_text(only);
  return text != NULL && text_equal(text, ".*");
}

static assay_status read_period(const struct env *env) {
  const struct foreign *dt = foreign_at(env->root, "sim/dt"), *decimation;
  double seconds = 0;
  int64_t steps = 0;
  TRY(import_get(env->import, env->root, "decimation", &decimation));
  if (dt == NULL || decimation == NULL) {
    return status_ok();
  }
  TRY(import_number(env->import, dt, "dt", &seconds));
  TRY(import_whole(env->import, decimation, "decimation", 1, 1000000, &steps));
  struct facts *facts = env->import->facts;
  return facts_number(facts, &facts->period_ms, "the control period in ms", import_place(env->import, decimation),
                      seconds * (double)steps * 1000);
}

/* --- numbers by pattern --------------------------------------------------------------------- */

/* A number, or a map from patterns to numbers, of the joints. Without the joints' names a map is known only where
 * all of it is one number. */
static assay_status read_pattern(const struct env *env, const struct foreign *node, double otherwise, const char *what,
                                 struct fact_numbers *slot) {
  struct import *import = env->import;
  double value = 0;
  if (node == NULL || node->kind != FOREIGN_MAP) {
    if (node == NULL) {
      return status_ok();
    }
    TRY(import_number(import, node, what, &value));
    return facts_column(import->facts, slot, what, import_place(import, node), &value, 1, FACT_EXACT);
  }
  int32_t n = import->facts->joints.count;
  double *values;
  bool *given;
  ARENA_NEW(import->arena, values, n + 1);
  ARENA_NEW(import->arena, given, n + 1);
  if (n > 0) {
    TRY(import_matching(import, node, otherwise, values, given));
    return facts_column(import->facts, slot, what, import_place(import, node), values, n, FACT_EXACT);
  }
  bool alike = node->count > 0;
  for (int32_t i = 0; i < node->count; i++) {
    double one = 0;
    TRY(import_number(import, &node->items[i], node->keys[i], &one));
    value = i == 0 ? one : value;
    alike = alike && one == value;
  }
  bool whole = alike && (value == otherwise || foreign_get(node, ".*") != NULL);
  return whole ? facts_column(import->facts, slot, what, import_place(import, node), &value, 1, FACT_EXACT)
               : status_ok();
}

/* Without names the joints' own list is the question; the names that the file has as keys are told. */
static assay_status ask_joints(const struct env *env, const struct foreign *positions) {
  struct facts *facts = env->import->facts;
  if (facts->joints.count > 0) {
    return status_ok();
  }
  struct text names = {0};
  bool literal = positions != NULL && positions->kind == FOREIGN_MAP && positions->count > 1;
  for (int32_t i = 0; literal && i < positions->count; i++) {
    literal = positions->keys[i][0] != '\0' && strpbrk(positions->keys[i], ".*+?[]()|\\^$") == NULL;
    text_format(&names, "%s%s", i > 0 ? " " : "", positions->keys[i]);
  }
  assay_status status = text_status(&names);
  if (assay_status_ok(status)) {
    status = facts_ask(facts, &facts->open, "joints",
                       "the names in the articulation's order which the file does not say%s%.1500s; one answer to "
                       "this and to the offsets is --from a file with joint_names",
                       literal ? "; it knows " : "", literal ? text_string(&names) : "");
  }
  text_free(&names);
  TRY(status);
  return literal ? facts_number(facts, &facts->n_joints, "the number of joints", import_place(env->import, positions),
                                positions->count)
                 : status_ok();
}

static bool has_literal_keys(const struct foreign *map) {
  for (int32_t i = 0; i < map->count; i++) {
    if (map->keys[i][0] == '\0' || strpbrk(map->keys[i], ".*+?[]()|\\^$") != NULL) {
      return false;
    }
  }
  return map->count > 0;
}

/* True when some group of actuators names the joint. */
static bool is_actuated(const struct env *env, const char *joint) {
  const struct foreign *actuators = foreign_get(env->robot, "actuators");
  for (int32_t i = 0; actuators != NULL && actuators->kind == FOREIGN_MAP && i < actuators->count; i++) {
    const struct foreign *patterns = foreign_get(&actuators->items[i], "joint_names_expr");
    int32_t count = patterns == NULL ? 0 : patterns->kind == FOREIGN_LIST ? patterns->count : 1;
    for (int32_t p = 0; p < count; p++) {
      const char *pattern = foreign_text(patterns->kind == FOREIGN_LIST ? &patterns->items[p] : patterns);
      if (pattern != NULL && import_matches(pattern, joint)) {
        return true;
      }
    }
  }
  return false;
}

/* True when a key of the map is for none of the joints. */
static bool has_idle_key(const struct foreign *map, const struct fact_words *joints) {
  for (int32_t i = 0; i < map->count; i++) {
    bool used = false;
    for (int32_t j = 0; j < joints->count && !used; j++) {
      used = import_matches(map->keys[i], joints->values[j]);
    }
    if (!used) {
      return true;
    }
  }
  return false;
}

/* A joint that no key is for stands at 0 in the simulator. That holds only of a joint that this robot has: where the
 * keys are names, or one of them is left over, or no actuator moves the joint, it is a name of another robot. */
static assay_status check_joints_known(const struct env *env, const struct foreign *positions) {
  const struct fact_words *joints = &env->import->facts->joints;
  if (positions->kind != FOREIGN_MAP) {
    return status_ok();
  }
  bool listed = has_literal_keys(positions) || has_idle_key(positions, joints);
  for (int32_t j = 0; j < joints->count; j++) {
    bool given = false;
    for (int32_t i = 0; i < positions->count && !given; i++) {
      given = import_matches(positions->keys[i], joints->values[j]);
    }
    if (!given && (listed || !is_actuated(env, joints->values[j]))) {
      return facts_unknown_joint(
          joints, import_key_place(env->import, foreign_at(env->robot, "init_state"), "joint_pos"), joints->values[j]);
    }
  }
  return status_ok();
}

static assay_status read_defaults(const struct env *env) {
  const struct foreign *positions = foreign_at(env->robot, "init_state/joint_pos");
  if (positions == NULL || positions->kind == FOREIGN_NULL) {
    return ask_joints(env, NULL);
  }
  struct facts *facts = env->import->facts;
  TRY(check_joints_known(env, positions));
  TRY(read_pattern(env, positions, 0, "the default position", &facts->default_pos));
  if (facts->default_pos.count == 0) {
    TRY(facts_ask(facts, &facts->open, "default_pos", "line %d gives them by name and the joints' order is open",
                  (int)positions->mark.line));
  }
  return ask_joints(env, positions);
}

/* --- actuators ---------------------------------------------------------------------------------- */

/* A gain of one group of actuators: into `values` where the joints are named, otherwise the one number for all. */
static assay_status gain_of_group(const struct env *env, const struct foreign *group, const char *key, bool only,
                                  double *values, bool *given, struct fact_numbers *slot, const char *what) {
  struct import *import = env->import;
  const struct foreign *node, *patterns;
  TRY(import_get(import, group, key, &node));
  TRY(import_get(import, group, "joint_names_expr", &patterns));
  if (node == NULL || patterns == NULL) {
    return status_ok();
  }
  const struct fact_words *joints = &import->facts->joints;
  if (joints->count == 0) {
    return only && is_all(patterns) ? read_pattern(env, node, 0, what, slot) : status_ok();
  }
  const char *const *list;
  int32_t n_patterns = 0;
  TRY(import_words(import, patterns, "joint_names_expr", &list, &n_patterns));
  double *own;
  bool *has;
  ARENA_NEW(import->arena, own, joints->count);
  ARENA_NEW(import->arena, has, joints->count);
  if (node->kind == FOREIGN_MAP) {
    TRY(import_matching(import, node, 0, own, has));
  }
  for (int32_t j = 0; j < joints->count; j++) {
    bool member = false;
    for (int32_t p = 0; p < n_patterns && !member; p++) {
      member = import_matches(list[p], joints->values[j]);
    }
    if (member && node->kind != FOREIGN_MAP) {
      TRY(import_number(import, node, key, &own[j]));
      has[j] = true;
    }
    if (member && has[j]) {
      values[j] = own[j];
      given[j] = true;
    }
  }
  return status_ok();
}

static assay_status read_gain(const struct env *env, const char *key, const char *what, struct fact_numbers *slot) {
  struct import *import = env->import;
  const struct foreign *actuators = foreign_get(env->robot, "actuators");
  int32_t n = import->facts->joints.count;
  if (actuators == NULL || actuators->kind != FOREIGN_MAP || actuators->count == 0) {
    return status_ok();
  }
  double *values;
  bool *given;
  ARENA_NEW(import->arena, values, n + 1);
  ARENA_NEW(import->arena, given, n + 1);
  for (int32_t i = 0; i < actuators->count; i++) {
    TRY(gain_of_group(env, &actuators->items[i], key, actuators->count == 1, values, given, slot, what));
  }
  bool all = n > 0;
  for (int32_t j = 0; j < n; j++) {
    all = all && given[j];
  }
  const struct foreign *first = foreign_get(&actuators->items[0], key);
  return all ? facts_column(import->facts, slot, what, import_place(import, first != NULL ? first : actuators), values,
                            n, FACT_EXACT)
             : status_ok();
}

/* --- observations ------------------------------------------------------------------------------ */

/* What a command holds, by the class that generates it. Which way round a quaternion is depends on the release. */
static assay_status read_command(const struct env *env, const struct foreign *params, struct fact_term *term) {
  static const struct known_term commands[] = {
      {"UniformVelocityCommand", "m/s, m/s, rad/s", "lin_vel_x lin_vel_y ang_vel_z", FACT_SENSOR},
      {"NormalVelocityCommand", "m/s, m/s, rad/s", "lin_vel_x lin_vel_y ang_vel_z", FACT_SENSOR},
      {"UniformPose2dCommand", "m, m, m, rad", "x y z heading", FACT_SENSOR},
      {"TerrainBasedPose2dCommand", "m, m, m, rad", "x y z heading", FACT_SENSOR},
  };
  static const struct known_term pose_v1 = {"UniformPoseCommand", "m, m, m, 1, 1, 1, 1", "x y z qw qx qy qz",
                                            FACT_SENSOR};
  const struct foreign *name, *classes = foreign_get(env->root, "commands");
  TRY(import_get(env->import, params, "command_name", &name));
  const struct foreign *command = foreign_text(name) != NULL ? foreign_get(classes, foreign_text(name)) : NULL;
  const char *path = foreign_text(foreign_get(command, "class_type"));
  bool known = false;
  if (path == NULL) {
    return status_ok();
  }
  struct place place = import_place(env->import, foreign_get(command, "class_type"));
  TRY(import_known_term(env->import, commands, sizeof commands / sizeof *commands, last_part(path), place, term,
                        &known));
  if (text_equal(last_part(path), "UniformPoseCommand") && text_starts_with(path, "omni.isaac.lab.")) {
    return import_known_term(env->import, &pose_v1, 1, last_part(path), place, term, &known);
  }
  if (text_equal(last_part(path), "UniformPoseCommand")) {
    term->width = 7;
    return term->unit.value != NULL
               ? status_ok()
               : facts_text(env->import->facts, &term->unit, "the unit of a term", place, pose_v1.unit);
  }
  return status_ok();
}

/* A term of some of the joints, by patterns. */
static assay_status read_some(const struct env *env, const struct foreign *params, struct fact_term *term) {
  struct import *import = env->import;
  const struct foreign *asset, *patterns;
  TRY(import_get(import, params, "asset_cfg", &asset));
  TRY(import_get(import, asset, "joint_names", &patterns));
  if (!term->of_joints || patterns == NULL || is_all(patterns)) {
    return status_ok();
  }
  term->of_joints = false;
  const char *const *list;
  int32_t n_patterns = 0, count = 0;
  TRY(import_words(import, patterns, "joint_names", &list, &n_patterns));
  const struct fact_words *joints = &import->facts->joints;
  if (joints->count == 0) {
    return facts_ask(import->facts, &term->open, "elements", "those joints that line %d names by patterns",
                     (int)patterns->mark.line);
  }
  const char **some;
  bool keep_order = false;
  ARENA_NEW(import->arena, some, joints->count + 1);
  (void)foreign_flag(foreign_get(asset, "preserve_order"), &keep_order);
  int32_t outer = keep_order ? n_patterns : joints->count, inner = keep_order ? joints->count : n_patterns;
  for (int32_t a = 0; a < outer; a++) {
    for (int32_t b = 0; b < inner && count < joints->count; b++) {
      const char *joint = joints->values[keep_order ? b : a];
      if (import_matches(list[keep_order ? a : b], joint)) {
        some[count++] = joint;
        b = keep_order ? b : inner;
      }
    }
  }
  return facts_words(import->facts, &term->of_some, "the joints of a term", import_place(import, patterns), some,
                     count);
}

static assay_status read_clip_and_scale(const struct env *env, const struct foreign *node, struct fact_term *term) {
  struct import *import = env->import;
  const struct foreign *clip, *scale;
  const double *values;
  int32_t count = 0;
  TRY(import_get(import, node, "clip", &clip));
  if (clip != NULL) {
    TRY(import_numbers(import, clip, "clip", &values, &count));
    if (count != 2) {
      return import_error(import, clip, "the clip of '%.60s' has %d numbers; it must be [lowest, highest]", term->name,
                          (int)count);
    }
    struct place place = import_place(import, clip);
    term->clip_first = true;
    TRY(facts_numbers(import->facts, &term->clip_low, "the clip of a term", place, &values[0], 1, FACT_EXACT));
    TRY(facts_numbers(import->facts, &term->clip_high, "the clip of a term", place, &values[1], 1, FACT_EXACT));
  }
  TRY(import_get(import, node, "scale", &scale));
  if (scale == NULL) {
    return status_ok();
  }
  TRY(import_numbers(import, scale, "scale", &values, &count));
  return facts_numbers(import->facts, &term->scale, "the scale of a term", import_place(import, scale), values, count,
                       FACT_EXACT);
}

static assay_status read_history(const struct env *env, const struct foreign *node, struct fact_number *slot) {
  const struct foreign *history;
  int64_t steps = 0;
  TRY(import_get(env->import, node, "history_length", &history));
  if (history == NULL) {
    return status_ok();
  }
  TRY(import_whole(env->import, history, "history_length", 0, FACT_ITEMS_MAX, &steps));
  return steps == 0
             ? status_ok()
             : facts_number(env->import->facts, slot, "the history", import_place(env->import, history), (double)steps);
}

static assay_status read_term(const struct env *env, const struct foreign *node, const struct fact_input *input,
                              struct fact_term *term) {
  const struct foreign *params, *modifiers;
  bool known = false;
  TRY(import_get(env->import, node, "params", &params));
  if (term->function != NULL) {
    TRY(isaac_term(env->import, term->function, term->place, term, &known));
  }
  if (term->function != NULL && text_equal(term->function, "generated_commands")) {
    TRY(read_command(env, params, term));
  }
  TRY(read_some(env, params, term));
  TRY(read_clip_and_scale(env, node, term));
  TRY(import_get(env->import, node, "modifiers", &modifiers));
  if (modifiers != NULL && modifiers->count > 0) {
    TRY(facts_ask(env->import->facts, &term->open, "apply", "line %d has modifiers which only their own code knows",
                  (int)modifiers->mark.line));
  }
  return input->history.given ? status_ok() : read_history(env, node, &term->history);
}

static assay_status read_observations(const struct env *env) {
  struct import *import = env->import;
  const struct foreign *group = foreign_at(env->root, "observations/policy");
  if (group == NULL || group->kind != FOREIGN_MAP) {
    return status_ok();
  }
  bool joined = true;
  struct place place = import_key_place(import, foreign_get(env->root, "observations"), "policy");
  if (foreign_flag(foreign_get(group, "concatenate_terms"), &joined) && !joined) {
    return facts_remark(import->facts, place,
                        "the group's terms are not joined to one observation; describe each input");
  }
  const char **names, **functions;
  struct place *places;
  const struct foreign **nodes;
  ARENA_NEW(import->arena, names, group->count + 1);
  ARENA_NEW(import->arena, functions, group->count + 1);
  ARENA_NEW(import->arena, places, group->count + 1);
  ARENA_NEW(import->arena, nodes, group->count + 1);
  int32_t count = 0;
  for (int32_t i = 0; i < group->count; i++) {
    const char *path = foreign_text(foreign_get(&group->items[i], "func"));
    if (group->items[i].kind == FOREIGN_MAP && path != NULL) {
      names[count] = group->keys[i];
      functions[count] = last_part(path);
      nodes[count] = &group->items[i];
      places[count++] = import_place_at(import, group->key_marks[i]);
    }
  }
  struct fact_input *input;
  TRY(facts_input(import->facts, place, NULL, &input));
  TRY(facts_terms_of(import->facts, input, place, names, functions, places, count));
  TRY(read_history(env, group, &input->history)); /* that of the group overrules those of its terms */
  for (int32_t i = 0; i < count; i++) {
    TRY(read_term(env, nodes[i], input, &input->terms[i]));
  }
  TRY(facts_text(import->facts, &input->layout, "the layout of the history", place, "term_major"));
  TRY(facts_text(import->facts, &input->order, "the order of the history", place, "oldest_first"));
  return facts_text(import->facts, &input->initial, "the start of the history", place, "repeat_first");
}

/* --- actions --------------------------------------------------------------------------------------- */

static const char *action_unit(const char *type) {
  static const char *const units[][2] = {
      {"JointPositionAction", "rad"}, {"JointVelocityAction", "rad/s"}, {"JointEffortAction", "N·m"}};
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    if (text_equal(units[i][0], type)) {
      return units[i][1];
    }
  }
  return NULL;
}

static assay_status read_action_offset(const struct env *env, const struct foreign *action, const char *type,
                                       struct fact_output *output) {
  const struct foreign *flag, *offset;
  bool by_default = false;
  TRY(import_get(env->import, action, "use_default_offset", &flag));
  TRY(import_get(env->import, action, "offset", &offset));
  if (foreign_flag(flag, &by_default) && by_default) {
    output->plus_default = text_equal(type, "JointPositionAction"); /* default velocities are 0 */
    return status_ok();
  }
  return read_pattern(env, offset, 0, "the offset of the action", &output->offset);
}

/* Clips of actions are maps from patterns to pairs. */
static assay_status ask_clip(const struct env *env, const struct foreign *action, struct fact_output *output) {
  const struct foreign *clip;
  TRY(import_get(env->import, action, "clip", &clip));
  if (clip == NULL) {
    return status_ok();
  }
  const struct foreign *pair =
      clip->kind == FOREIGN_MAP && clip->count == 1 && text_equal(clip->keys[0], ".*") ? &clip->items[0] : NULL;
  const double *values;
  int32_t count = 0;
  if (pair != NULL) {
    TRY(import_numbers(env->import, pair, "clip", &values, &count));
  }
  if (count != 2) {
    return facts_ask(env->import->facts, &output->open, "clip", "line %d clips the action joint by joint",
                     (int)clip->mark.line);
  }
  struct facts *facts = env->import->facts;
  struct place place = import_place(env->import, clip);
  TRY(facts_numbers(facts, &output->clip_low, "the clip of the action", place, &values[0], 1, FACT_EXACT));
  return facts_numbers(facts, &output->clip_high, "the clip of the action", place, &values[1], 1, FACT_EXACT);
}

/* The joints that an action moves, where they are some of them. */
static assay_status read_moved(const struct env *env, const struct foreign *action, struct fact_output *output) {
  struct import *import = env->import;
  const struct foreign *patterns;
  TRY(import_get(import, action, "joint_names", &patterns));
  if (patterns == NULL || is_all(patterns)) {
    return status_ok();
  }
  const char *const *list;
  int32_t n_patterns = 0, count = 0;
  bool keep_order = false;
  TRY(import_words(import, patterns, "joint_names", &list, &n_patterns));
  (void)foreign_flag(foreign_get(action, "preserve_order"), &keep_order);
  const struct fact_words *joints = &import->facts->joints;
  double *index;
  ARENA_NEW(import->arena, index, joints->count + 1);
  int32_t outer = keep_order ? n_patterns : joints->count, inner = keep_order ? joints->count : n_patterns;
  for (int32_t a = 0; a < outer; a++) {
    for (int32_t b = 0; b < inner && count < joints->count; b++) {
      int32_t joint = keep_order ? b : a;
      if (import_matches(list[keep_order ? a : b], joints->values[joint])) {
        index[count++] = joint;
        b = keep_order ? b : inner;
      }
    }
  }
  bool all = count == joints->count;
  for (int32_t i = 0; i < count; i++) {
    all = all && index[i] == i;
  }
  return all ? status_ok()
             : facts_numbers(import->facts, &output->joint_index, "the joints of the action",
                             import_place(import, patterns), index, count, FACT_EXACT);
}

static assay_status read_action(const struct env *env, const struct foreign *action, struct place place) {
  struct import *import = env->import;
  const struct foreign *scale;
  const char *path = foreign_text(foreign_get(action, "class_type"));
  const char *type = path != NULL ? last_part(path) : "", *unit = action_unit(type);
  struct fact_output *output;
  TRY(facts_output(import->facts, place, NULL, &output));
  if (unit == NULL) {
    TRY(facts_ask(import->facts, &output->open, "unit", "what %.60s commands", type));
    return facts_ask(import->facts, &output->open, "decode", "what %.60s does with the model's numbers", type);
  }
  TRY(facts_words(import->facts, &output->units, "the unit of the action",
                  import_place(import, foreign_get(action, "class_type")), &unit, 1));
  TRY(read_moved(env, action, output));
  TRY(import_get(import, action, "scale", &scale));
  if (scale != NULL && scale->kind == FOREIGN_MAP && import->facts->joints.count == 0) {
    TRY(facts_ask(import->facts, &output->open, "decode", "line %d scales joints by patterns", (int)scale->mark.line));
  }
  TRY(read_pattern(env, scale, 1, "the scale of the action", &output->scale));
  TRY(ask_clip(env, action, output));
  return read_action_offset(env, action, type, output);
}

static assay_status read_actions(const struct env *env) {
  const struct foreign *actions = foreign_get(env->root, "actions");
  int32_t first = -1, count = 0;
  for (int32_t i = 0; actions != NULL && actions->kind == FOREIGN_MAP && i < actions->count; i++) {
    if (actions->items[i].kind == FOREIGN_MAP) {
      first = first < 0 ? i : first;
      count++;
    }
  }
  if (count == 0) {
    return status_ok();
  }
  struct place place = import_place_at(env->import, actions->key_marks[first]);
  if (count == 1) {
    return read_action(env, &actions->items[first], place);
  }
  struct fact_output *output;
  struct facts *facts = env->import->facts;
  TRY(facts_output(facts, place, NULL, &output));
  return facts_ask(facts, &output->open, "decode", "the output is %d actions one after another; see line %d",
                   (int)count, (int)place.line);
}

/* The articulation of the first action; `robot` where an action does not say. */
static const struct foreign *find_robot(const struct foreign *root) {
  const struct foreign *actions = foreign_get(root, "actions"), *scene = foreign_get(root, "scene");
  for (int32_t i = 0; actions != NULL && actions->kind == FOREIGN_MAP && i < actions->count; i++) {
    const char *name = foreign_text(foreign_get(&actions->items[i], "asset_name"));
    if (name != NULL) {
      return foreign_get(scene, name);
    }
  }
  return foreign_get(scene, "robot");
}

assay_status isaac_env_read(struct import *import) {
  struct env env = {.import = import};
  env.root = import->file->is_text ? &import->file->yaml.documents[0] : NULL;
  if (env.root == NULL || env.root->kind != FOREIGN_MAP) {
    return import_error(import, NULL, "an env.yaml is a map of keys; this file is something else");
  }
  env.robot = find_robot(env.root);
  struct facts *facts = import->facts;
  TRY(read_period(&env));
  TRY(read_defaults(&env));
  TRY(read_gain(&env, "stiffness", "the stiffness", &facts->kp));
  TRY(read_gain(&env, "damping", "the damping", &facts->kd));
  TRY(read_observations(&env));
  return read_actions(&env);
}
