/* Unitree's deploy.yaml, as unitree_rl_lab and unitree_rl_mjlab write it and their C++ programs read it: observations
 * term by term (clip, then scale; each with its own history, oldest first), actions (scale, offset, clip), gains in
 * the order of the motors, and joint_ids_map from the policy's joints to the motors. Joints have no names in it. */
#include "contract/importer.h"
#include "contract/isaac_terms.h"
#include "core/text.h"

int unitree_recognise(const struct import_file *file) {
  if (!file->is_text) {
    return IMPORT_NO;
  }
  const struct foreign *root = &file->yaml.documents[0];
  bool map = foreign_get(root, "joint_ids_map") != NULL, step = foreign_get(root, "step_dt") != NULL;
  bool parts = foreign_get(root, "observations") != NULL && foreign_get(root, "actions") != NULL;
  return map && parts ? IMPORT_SURE : step && parts ? IMPORT_MAYBE : IMPORT_NO;
}

/* One deploy.yaml being read. */
struct deploy {
  struct import *import;
  const struct foreign *root;
  int32_t n_joints;
  const double *map; /* joint i is motor map[i] */
};

static assay_status read_map(struct deploy *deploy) {
  const struct foreign *node;
  TRY(import_get(deploy->import, deploy->root, "joint_ids_map", &node));
  if (node == NULL) {
    return import_error(deploy->import, deploy->root,
                        "the key 'joint_ids_map' is missing, which says in which order "
                        "the motors are");
  }
  TRY(import_numbers(deploy->import, node, "joint_ids_map", &deploy->map, &deploy->n_joints));
  for (int32_t i = 0; i < deploy->n_joints; i++) {
    int64_t motor;
    const struct foreign *item = node->kind == FOREIGN_LIST ? &node->items[i] : node;
    TRY(import_whole(deploy->import, item, "joint_ids_map", 0, FACT_ITEMS_MAX - 1, &motor));
    for (int32_t k = 0; k < i; k++) {
      if (deploy->map[k] == deploy->map[i]) {
        return import_error(deploy->import, item, "motor %d stands twice in 'joint_ids_map', as number %d and %d",
                            (int)motor, (int)k + 1, (int)i + 1);
      }
    }
  }
  struct facts *facts = deploy->import->facts;
  struct place place = import_place(deploy->import, node);
  TRY(facts_number(facts, &facts->n_joints, "the number of joints", place, deploy->n_joints));
  return facts_numbers(facts, &facts->motor_map, "the joints' motors", place, deploy->map, deploy->n_joints,
                       FACT_EXACT);
}

/* A list that stands in the order of the motors, put in the order of the joints. */
static assay_status read_motors(struct deploy *deploy, const char *key, const char *what, struct fact_numbers *slot) {
  struct import *import = deploy->import;
  const struct foreign *node;
  const double *values;
  double *ordered;
  int32_t count;
  TRY(import_get(import, deploy->root, key, &node));
  if (node == NULL) {
    return status_ok();
  }
  TRY(import_numbers(import, node, key, &values, &count));
  ARENA_NEW(import->arena, ordered, deploy->n_joints + 1);
  for (int32_t i = 0; i < deploy->n_joints; i++) {
    int32_t motor = (int32_t)deploy->map[i];
    if (motor >= count) {
      return import_error(import, node, "'%s' has %d numbers, but 'joint_ids_map' sends joint %d to motor %d", key,
                          (int)count, (int)i + 1, (int)motor);
    }
    ordered[i] = values[motor];
  }
  return facts_column(import->facts, slot, what, import_place(import, node), ordered, deploy->n_joints,
                      FACT_THREE_DIGITS);
}

static assay_status read_default(struct deploy *deploy) {
  struct import *import = deploy->import;
  const struct foreign *node;
  const double *values;
  int32_t count;
  TRY(import_get(import, deploy->root, "default_joint_pos", &node));
  if (node == NULL) {
    return status_ok();
  }
  TRY(import_numbers(import, node, "default_joint_pos", &values, &count));
  if (count != deploy->n_joints) {
    return import_error(import, node, "'default_joint_pos' has %d numbers, but 'joint_ids_map' has %d joints",
                        (int)count, (int)deploy->n_joints);
  }
  return facts_column(import->facts, &import->facts->default_pos, "the default position", import_place(import, node),
                      values, count, FACT_THREE_DIGITS);
}

static assay_status read_period(struct deploy *deploy) {
  const struct foreign *node;
  double seconds;
  TRY(import_get(deploy->import, deploy->root, "step_dt", &node));
  if (node == NULL) {
    return status_ok();
  }
  TRY(import_number(deploy->import, node, "step_dt", &seconds));
  struct facts *facts = deploy->import->facts;
  return facts_number(facts, &facts->period_ms, "the control period in ms", import_place(deploy->import, node),
                      seconds * 1000);
}

/* --- observations ----------------------------------------------------------------- */

static assay_status read_clip(struct import *import, const struct foreign *term, const char *name,
                              struct fact_term *out) {
  const struct foreign *node;
  const double *values;
  int32_t count;
  TRY(import_get(import, term, "clip", &node));
  if (node == NULL) {
    return status_ok();
  }
  TRY(import_numbers(import, node, "clip", &values, &count));
  if (count != 2) {
    return import_error(import, node, "the clip of '%.60s' has %d numbers; it must be [lowest, highest]", name,
                        (int)count);
  }
  struct place place = import_place(import, node);
  out->clip_first = true;
  TRY(facts_numbers(import->facts, &out->clip_low, "the clip of a term", place, &values[0], 1, FACT_THREE_DIGITS));
  return facts_numbers(import->facts, &out->clip_high, "the clip of a term", place, &values[1], 1, FACT_THREE_DIGITS);
}

static assay_status read_clock(struct import *import, const struct foreign *term, struct fact_term *out) {
  const struct foreign *params, *period;
  double seconds;
  TRY(import_get(import, term, "params", &params));
  TRY(import_get(import, params, "period", &period));
  out->origin = FACT_CLOCK;
  if (period == NULL) {
    return status_ok();
  }
  TRY(import_number(import, period, "period", &seconds));
  struct place place = import_place(import, period);
  TRY(facts_number(import->facts, &out->period_s, "the period of the clock", place, seconds));
  TRY(facts_ask(import->facts, &out->open, "start",
                "share of a turn at the first step: training starts at 0 and the program is some steps ahead"));
  return facts_text(import->facts, &out->clock_as, "the form of the clock", place, "[sin, cos]");
}

/* A term of some joints alone gives them by number, and the file has no names. */
static assay_status read_joint_ids(struct import *import, const struct foreign *term, struct fact_term *out) {
  const struct foreign *params, *asset, *ids;
  TRY(import_get(import, term, "params", &params));
  TRY(import_get(import, params, "asset_cfg", &asset));
  TRY(import_get(import, asset, "joint_ids", &ids));
  if (ids == NULL || foreign_has_tag(ids, "python/object/apply:builtins.slice") || !out->of_joints) {
    return status_ok();
  }
  out->of_joints = false;
  TRY(facts_ask(import->facts, &out->open, "elements", "line %d lists joints by number and no file names them",
                (int)ids->mark.line));
  bool relative = out->minus_default;
  out->minus_default = false;
  return relative ? facts_ask(import->facts, &out->open, "offset", "minus the default positions of those joints")
                  : status_ok();
}

static assay_status read_term(struct import *import, const struct foreign *term, struct fact_term *out) {
  const struct foreign *scale, *history;
  bool known = false;
  if (text_equal(out->name, "gait_phase")) {
    TRY(read_clock(import, term, out));
    known = true;
  } else {
    TRY(isaac_term(import, out->name, out->place, out, &known));
    TRY(read_joint_ids(import, term, out));
  }
  TRY(import_get(import, term, "scale", &scale));
  if (scale != NULL) {
    const double *values;
    int32_t count;
    TRY(import_numbers(import, scale, "scale", &values, &count));
    out->width = scale->kind == FOREIGN_LIST ? count : 0;
    TRY(facts_numbers(import->facts, &out->scale, "the scale of a term", import_place(import, scale), values, count,
                      FACT_THREE_DIGITS));
  }
  TRY(read_clip(import, term, out->name, out));
  TRY(import_get(import, term, "history_length", &history));
  if (history != NULL) {
    int64_t steps;
    TRY(import_whole(import, history, "history_length", 0, FACT_ITEMS_MAX, &steps));
    TRY(facts_number(import->facts, &out->history, "the history of a term", import_place(import, history),
                     steps > 0 ? (double)steps : 1));
  }
  return status_ok();
}

/* A group of terms: the whole of `observations`, or one of its entries where a policy has several inputs. */
static assay_status read_group(struct deploy *deploy, const struct foreign *group, struct place place,
                               const char *name) {
  struct import *import = deploy->import;
  struct fact_input *input;
  TRY(facts_input(import->facts, place, name, &input));
  const char **names;
  struct place *places;
  ARENA_NEW(import->arena, names, group->count + 1);
  ARENA_NEW(import->arena, places, group->count + 1);
  int32_t count = 0;
  bool gym_history = false, scale_first = false;
  for (int32_t i = 0; i < group->count; i++) {
    bool is_gym = text_equal(group->keys[i], "use_gym_history"), is_scale = text_equal(group->keys[i], "scale_first");
    if (is_gym || is_scale) {
      (void)foreign_flag(&group->items[i], is_gym ? &gym_history : &scale_first);
      continue;
    }
    names[count] = group->keys[i];
    places[count++] = import_place_at(import, group->key_marks[i]);
  }
  TRY(facts_terms(import->facts, input, place, names, places, count));
  for (int32_t i = 0, t = 0; i < group->count; i++) {
    if (text_equal(group->keys[i], "use_gym_history") || text_equal(group->keys[i], "scale_first")) {
      continue;
    }
    struct fact_term *term = &input->terms[t++];
    TRY(read_term(import, &group->items[i], term));
    term->clip_first = term->clip_first && !scale_first;
  }
  TRY(facts_text(import->facts, &input->layout, "the layout of the history", place,
                 gym_history ? "time_major" : "term_major"));
  TRY(facts_text(import->facts, &input->order, "the order of the history", place, "oldest_first"));
  return facts_text(import->facts, &input->initial, "the start of the history", place, "repeat_first");
}

static assay_status read_observations(struct deploy *deploy) {
  struct import *import = deploy->import;
  const struct foreign *node;
  TRY(import_get(import, deploy->root, "observations", &node));
  if (node == NULL) {
    return status_ok();
  }
  if (node->kind != FOREIGN_MAP || node->count == 0) {
    return import_error(import, node, "'observations' must be a map of terms");
  }
  /* as the program tells the two forms apart: a term has `params`, a group has terms */
  if (foreign_get(&node->items[0], "params") != NULL || foreign_get(&node->items[0], "scale") != NULL) {
    return read_group(deploy, node, import_key_place(import, deploy->root, "observations"), NULL);
  }
  for (int32_t i = 0; i < node->count; i++) {
    if (node->items[i].kind == FOREIGN_MAP) {
      TRY(read_group(deploy, &node->items[i], import_place_at(import, node->key_marks[i]), node->keys[i]));
    }
  }
  return status_ok();
}

/* --- actions ------------------------------------------------------------------------ */

/* One number a component, from all actions in turn. */
struct column {
  double *values;
  int32_t count;
  const struct foreign *first; /* where the first of them stands */
};

static assay_status add_column(struct deploy *deploy, const struct foreign *action, const char *key, int32_t size,
                               struct column *column) {
  struct import *import = deploy->import;
  const struct foreign *node;
  const double *values;
  int32_t count;
  TRY(import_get(import, action, key, &node));
  if (node == NULL) {
    return status_ok();
  }
  TRY(import_numbers(import, node, key, &values, &count));
  if (count != size && count != 1) {
    return import_error(import, node, "'%s' has %d numbers, but the action moves %d joints", key, (int)count,
                        (int)size);
  }
  column->first = column->first != NULL ? column->first : node;
  for (int32_t i = 0; i < size; i++) {
    column->values[column->count++] = values[count == 1 ? 0 : i];
  }
  return status_ok();
}

/* The clip of each component, a list of pairs. */
static assay_status add_clip(struct deploy *deploy, const struct foreign *action, int32_t size, struct column *low,
                             struct column *high) {
  struct import *import = deploy->import;
  const struct foreign *node;
  TRY(import_get(import, action, "clip", &node));
  if (node == NULL) {
    return status_ok();
  }
  if (node->kind != FOREIGN_LIST || node->count != size) {
    return import_error(import, node, "'clip' of an action must be a list of %d pairs [lowest, highest]", (int)size);
  }
  low->first = low->first != NULL ? low->first : node;
  for (int32_t i = 0; i < size; i++) {
    const double *pair;
    int32_t count;
    TRY(import_numbers(import, &node->items[i], "clip", &pair, &count));
    if (count != 2) {
      return import_error(import, &node->items[i], "number %d of 'clip' must be a pair [lowest, highest]", (int)i + 1);
    }
    low->values[low->count++] = pair[0];
    high->values[high->count++] = pair[1];
  }
  return status_ok();
}

static const char *action_unit(const char *name) {
  return text_equal(name, "JointPositionAction") ? "rad" : text_equal(name, "JointVelocityAction") ? "rad/s" : NULL;
}

/* The joints that an action moves, by number. */
static assay_status action_joints(struct deploy *deploy, const struct foreign *action, const double **ids,
                                  int32_t *count) {
  const struct foreign *node;
  double *all;
  TRY(import_get(deploy->import, action, "joint_ids", &node));
  if (node != NULL && !foreign_has_tag(node, "python/object/apply:builtins.slice")) {
    TRY(import_numbers(deploy->import, node, "joint_ids", ids, count));
    for (int32_t i = 0; i < *count; i++) {
      int64_t id;
      TRY(import_whole(deploy->import, node->kind == FOREIGN_LIST ? &node->items[i] : node, "joint_ids", 0,
                       deploy->n_joints - 1, &id));
    }
    return status_ok();
  }
  ARENA_NEW(deploy->import->arena, all, deploy->n_joints + 1);
  for (int32_t i = 0; i < deploy->n_joints; i++) {
    all[i] = i;
  }
  *ids = all;
  *count = deploy->n_joints;
  return status_ok();
}

enum { SCALE, OFFSET, CLIP_LOW, CLIP_HIGH, INDEX, N_COLUMNS };

static assay_status read_action(struct deploy *deploy, const struct foreign *action, const char *name,
                                struct column columns[N_COLUMNS], const char **units) {
  const double *ids;
  int32_t size;
  TRY(action_joints(deploy, action, &ids, &size));
  if (columns[INDEX].count + size > FACT_ITEMS_MAX) {
    return import_error(deploy->import, action, "the actions move more than %d joints", (int)FACT_ITEMS_MAX);
  }
  for (int32_t i = 0; i < size; i++) {
    units[columns[INDEX].count] = action_unit(name);
    columns[INDEX].values[columns[INDEX].count++] = ids[i];
  }
  TRY(add_column(deploy, action, "scale", size, &columns[SCALE]));
  TRY(add_column(deploy, action, "offset", size, &columns[OFFSET]));
  return add_clip(deploy, action, size, &columns[CLIP_LOW], &columns[CLIP_HIGH]);
}

/* Which joints the action moves, where they are not simply all of them. */
static assay_status add_index(struct deploy *deploy, struct fact_output *output, const struct column *index) {
  bool same = index->count == deploy->n_joints;
  for (int32_t i = 0; i < index->count; i++) {
    same = same && index->values[i] == i;
  }
  return same ? status_ok()
              : facts_numbers(deploy->import->facts, &output->joint_index, "the joints of the action", output->place,
                              index->values, index->count, FACT_EXACT);
}

static assay_status read_actions(struct deploy *deploy) {
  struct import *import = deploy->import;
  const struct foreign *node;
  TRY(import_get(import, deploy->root, "actions", &node));
  if (node == NULL || node->kind != FOREIGN_MAP || node->count == 0) {
    return node == NULL ? status_ok() : import_error(import, node, "'actions' must be a map of actions");
  }
  struct column columns[N_COLUMNS] = {{0}};
  const char **units;
  ARENA_NEW(import->arena, units, FACT_ITEMS_MAX);
  for (int i = 0; i < N_COLUMNS; i++) {
    ARENA_NEW(import->arena, columns[i].values, FACT_ITEMS_MAX);
  }
  struct fact_output *output;
  TRY(facts_output(import->facts, import_place_at(import, node->key_marks[0]), NULL, &output));
  for (int32_t i = 0; i < node->count; i++) {
    TRY(read_action(deploy, &node->items[i], node->keys[i], columns, units));
  }
  int32_t count = columns[INDEX].count;
  static const char *const what[] = {"the scale of the action", "the offset of the action", "the clip of the action",
                                     "the clip of the action"};
  struct fact_numbers *const slots[] = {&output->scale, &output->offset, &output->clip_low, &output->clip_high};
  for (int i = SCALE; i <= CLIP_HIGH; i++) {
    if (columns[i].count != 0 && columns[i].count != count) {
      return import_error(import, columns[i].first, "only some of the actions have this key; give it to all of them");
    }
    TRY(facts_column(import->facts, slots[i], what[i],
                     import_place(import, i == CLIP_HIGH ? columns[CLIP_LOW].first : columns[i].first),
                     columns[i].values, columns[i].count, FACT_THREE_DIGITS));
  }
  bool known = true, alike = true;
  for (int32_t i = 0; i < count; i++) {
    known = known && units[i] != NULL;
    alike = alike && known && text_equal(units[i], units[0]);
  }
  if (known && count > 0) {
    TRY(facts_words(import->facts, &output->units, "the units of the action",
                    import_place_at(import, node->key_marks[0]), units, alike ? 1 : count));
  }
  return add_index(deploy, output, &columns[INDEX]);
}

assay_status unitree_read(struct import *import) {
  struct facts *facts = import->facts;
  struct deploy deploy = {.import = import, .root = &import->file->yaml.documents[0]};
  if (!import->file->is_text || deploy.root->kind != FOREIGN_MAP) {
    return import_error(import, NULL, "a deploy.yaml is a map of keys; this file is something else");
  }
  TRY(read_map(&deploy));
  TRY(read_period(&deploy));
  TRY(read_motors(&deploy, "stiffness", "the stiffness", &facts->kp));
  TRY(read_motors(&deploy, "damping", "the damping", &facts->kd));
  TRY(read_default(&deploy));
  TRY(read_observations(&deploy));
  return read_actions(&deploy);
}
