/* Isaac Lab's IO descriptors: actions and observations as the managers really hold them, with the joints' names in
 * order, offsets, units and what each term overloads. */
#include <string.h>

#include "contract/importer.h"
#include "contract/isaac_terms.h"
#include "core/text.h"

int isaac_io_recognise(const struct import_file *file) {
  const struct foreign *root = file->is_text ? &file->yaml.documents[0] : NULL;
  bool parts = foreign_get(root, "articulations") != NULL && foreign_get(root, "observations") != NULL;
  return parts && foreign_get(root, "actions") != NULL ? IMPORT_SURE : IMPORT_NO;
}

/* A list of numbers of the joints, of `count`; nothing when the key is absent. */
static assay_status read_column(struct import *import, const struct foreign *map, const char *key, int32_t count,
                                const char *what, struct fact_numbers *slot) {
  const struct foreign *node;
  const double *values;
  int32_t n = 0;
  TRY(import_get(import, map, key, &node));
  if (node == NULL) {
    return status_ok();
  }
  TRY(import_numbers(import, node, key, &values, &n));
  if (n != count && !(n == 1 && node->kind == FOREIGN_SCALAR)) {
    return import_error(import, node, "'%s' has %d numbers for %d joints", key, (int)n, (int)count);
  }
  return facts_column(import->facts, slot, what, import_place(import, node), values, n, FACT_EXACT);
}

static bool all_zero(const struct foreign *list) {
  bool zero = list != NULL && list->kind == FOREIGN_LIST;
  for (int32_t i = 0; zero && i < list->count; i++) {
    double value;
    zero = foreign_number(&list->items[i], &value) && value == 0;
  }
  return zero;
}

/* The joints of the first articulation. Gains that are all 0 are those of joints that the framework drives by an
 * actuator model of its own; they say nothing. */
static assay_status read_articulation(struct import *import, const struct foreign *root) {
  const struct foreign *all = foreign_get(root, "articulations"), *names_node;
  const struct foreign *robot = foreign_get(all, "robot");
  if (robot == NULL && all != NULL && all->kind == FOREIGN_MAP && all->count == 1) {
    robot = &all->items[0];
  }
  TRY(import_get(import, robot, "joint_names", &names_node));
  if (names_node == NULL) {
    return status_ok();
  }
  const char *const *names;
  int32_t count = 0;
  struct facts *facts = import->facts;
  TRY(import_words(import, names_node, "joint_names", &names, &count));
  TRY(facts_joints(facts, import_place(import, names_node), names, count));
  TRY(read_column(import, robot, "default_joint_pos", count, "the default position", &facts->default_pos));
  if (all_zero(foreign_get(robot, "default_joint_stiffness")) &&
      all_zero(foreign_get(robot, "default_joint_damping"))) {
    return facts_remark(facts, import_key_place(import, robot, "default_joint_stiffness"),
                        "all gains are 0: the actuators are models of their own");
  }
  TRY(read_column(import, robot, "default_joint_stiffness", count, "the stiffness", &facts->kp));
  return read_column(import, robot, "default_joint_damping", count, "the damping", &facts->kd);
}

static assay_status read_period(struct import *import, const struct foreign *root) {
  const struct foreign *dt = foreign_at(root, "scene/dt");
  double seconds = 0;
  if (dt == NULL || dt->kind == FOREIGN_NULL) {
    return status_ok();
  }
  TRY(import_number(import, dt, "dt", &seconds));
  return facts_number(import->facts, &import->facts->period_ms, "the control period in ms", import_place(import, dt),
                      seconds * 1000);
}

/* --- observations ------------------------------------------------------------------------------- */

/* Functions may stand twice; terms are told apart by a number. */
static assay_status distinct_name(struct import *import, const char *const *names, int32_t i, const char *name,
                                  const char **out) {
  int32_t same = 0;
  for (int32_t k = 0; k < i; k++) {
    same += text_starts_with(names[k], name) && (names[k][strlen(name)] == '\0' || names[k][strlen(name)] == '#');
  }
  *out = same == 0 ? name : arena_format(import->arena, "%s#%d", name, (int)same + 1);
  return *out != NULL ? status_ok() : status_no_memory(strlen(name));
}

static assay_status read_overloads(struct import *import, const struct foreign *item, struct fact_term *term) {
  const struct foreign *overloads, *clip, *scale, *history;
  const double *values;
  int32_t count = 0;
  int64_t steps = 0;
  TRY(import_get(import, item, "overloads", &overloads));
  TRY(import_get(import, overloads, "clip", &clip));
  if (clip != NULL) {
    TRY(import_numbers(import, clip, "clip", &values, &count));
    if (count != 2) {
      return import_error(import, clip, "the clip of '%.60s' must be [lowest, highest]", term->name);
    }
    term->clip_first = true;
    struct place place = import_place(import, clip);
    TRY(facts_numbers(import->facts, &term->clip_low, "the clip of a term", place, &values[0], 1, FACT_EXACT));
    TRY(facts_numbers(import->facts, &term->clip_high, "the clip of a term", place, &values[1], 1, FACT_EXACT));
  }
  TRY(import_get(import, overloads, "scale", &scale));
  if (scale != NULL) {
    TRY(import_numbers(import, scale, "scale", &values, &count));
    TRY(facts_numbers(import->facts, &term->scale, "the scale of a term", import_place(import, scale), values, count,
                      FACT_EXACT));
  }
  TRY(import_get(import, overloads, "history_length", &history));
  if (history == NULL) {
    return status_ok();
  }
  TRY(import_whole(import, history, "history_length", 0, FACT_ITEMS_MAX, &steps));
  return steps == 0 ? status_ok()
                    : facts_number(import->facts, &term->history, "the history of a term",
                                   import_place(import, history), (double)steps);
}

/* Which joints a term holds: all, in the articulation's order, or those that it names. */
static assay_status read_joints(struct import *import, const struct foreign *item, struct fact_term *term) {
  const struct foreign *node;
  const char *const *names;
  int32_t count = 0;
  TRY(import_get(import, item, "joint_names", &node));
  if (node == NULL) {
    return status_ok();
  }
  TRY(import_words(import, node, "joint_names", &names, &count));
  const struct fact_words *joints = &import->facts->joints;
  bool all = count == joints->count;
  for (int32_t i = 0; all && i < count; i++) {
    all = text_equal(names[i], joints->values[i]);
  }
  term->of_joints = all;
  return all ? status_ok()
             : facts_words(import->facts, &term->of_some, "the joints of a term", import_place(import, node), names,
                           count);
}

static assay_status read_offsets(struct import *import, const struct foreign *item, struct fact_term *term) {
  const struct foreign *node;
  const double *values;
  double *offset;
  int32_t count = 0;
  TRY(import_get(import, item, text_equal(term->function, "joint_vel_rel") ? "joint_vel_offsets" : "joint_pos_offsets",
                 &node));
  if (node == NULL) {
    return status_ok();
  }
  TRY(import_numbers(import, node, "joint_pos_offsets", &values, &count));
  ARENA_NEW(import->arena, offset, count + 1);
  for (int32_t i = 0; i < count; i++) {
    offset[i] = values[i] == 0 ? 0 : -values[i];
  }
  return facts_column(import->facts, &term->offset, "the offset of the joints", import_place(import, node), offset,
                      count, FACT_EXACT);
}

static assay_status read_term(struct import *import, const struct foreign *item, struct fact_term *term) {
  const struct foreign *extras, *units, *modifiers, *shape;
  const double *sizes;
  int32_t rank = 0;
  bool known;
  TRY(import_get(import, item, "extras", &extras));
  TRY(import_get(import, extras, "units", &units));
  TRY(import_get(import, extras, "modifiers", &modifiers));
  if (foreign_text(units) != NULL && term->unit.value == NULL) {
    TRY(facts_text(import->facts, &term->unit, "the unit of a term", import_place(import, units), foreign_text(units)));
  }
  TRY(isaac_term(import, term->function, term->place, term, &known));
  TRY(read_joints(import, item, term));
  TRY(read_offsets(import, item, term));
  TRY(read_overloads(import, item, term));
  if (modifiers != NULL && modifiers->count > 0) {
    TRY(facts_ask(import->facts, &term->open, "apply", "line %d has modifiers which only their own code knows",
                  (int)modifiers->mark.line));
  }
  TRY(import_get(import, item, "shape", &shape));
  if (shape != NULL) {
    TRY(import_numbers(import, shape, "shape", &sizes, &rank));
    term->width = rank == 1 && sizes[0] >= 1 && sizes[0] <= FACT_ITEMS_MAX ? (int64_t)sizes[0] : term->width;
  }
  return status_ok();
}

static assay_status read_observations(struct import *import, const struct foreign *root) {
  const struct foreign *list = foreign_at(root, "observations/policy");
  if (list == NULL || list->kind != FOREIGN_LIST || list->count > FACT_TERMS_MAX) {
    return status_ok();
  }
  const char **names, **functions;
  struct place *places;
  ARENA_NEW(import->arena, names, list->count + 1);
  ARENA_NEW(import->arena, functions, list->count + 1);
  ARENA_NEW(import->arena, places, list->count + 1);
  for (int32_t i = 0; i < list->count; i++) {
    const char *name = foreign_text(foreign_get(&list->items[i], "name"));
    if (name == NULL) {
      return import_error(import, &list->items[i], "observation %d has no 'name'", (int)i + 1);
    }
    functions[i] = name;
    places[i] = import_place(import, foreign_get(&list->items[i], "name"));
    TRY(distinct_name(import, names, i, name, &names[i]));
  }
  struct place place = import_key_place(import, foreign_get(root, "observations"), "policy");
  struct fact_input *input;
  TRY(facts_input(import->facts, place, NULL, &input));
  TRY(facts_terms_of(import->facts, input, place, names, functions, places, list->count));
  for (int32_t i = 0; i < list->count; i++) {
    TRY(read_term(import, &list->items[i], &input->terms[i]));
  }
  TRY(facts_text(import->facts, &input->layout, "the layout of the history", place, "term_major"));
  TRY(facts_text(import->facts, &input->order, "the order of the history", place, "oldest_first"));
  return facts_text(import->facts, &input->initial, "the start of the history", place, "repeat_first");
}

/* --- actions --------------------------------------------------------------------------------------- */

/* Appends one action's column to that of all; absent keys stand for `otherwise`. */
static assay_status add_column(struct import *import, const struct foreign *action, const char *key, int32_t size,
                               double otherwise, double *values, bool *any) {
  const struct foreign *node;
  const double *own = NULL;
  int32_t count = 0;
  TRY(import_get(import, action, key, &node));
  if (node != NULL) {
    TRY(import_numbers(import, node, key, &own, &count));
    if (count != size && count != 1) {
      return import_error(import, node, "'%s' has %d numbers for %d joints", key, (int)count, (int)size);
    }
    *any = true;
  }
  for (int32_t i = 0; i < size; i++) {
    values[i] = count == 0 ? otherwise : own[count == 1 ? 0 : i];
  }
  return status_ok();
}

static const char *action_unit(const char *path) {
  static const char *const units[][2] = {
      {"JointPositionAction", "rad"}, {"JointVelocityAction", "rad/s"}, {"JointEffortAction", "N·m"}};
  const char *dot = path != NULL ? strrchr(path, '.') : NULL, *type = dot != NULL ? dot + 1 : path;
  for (size_t i = 0; type != NULL && i < sizeof units / sizeof *units; i++) {
    if (text_equal(units[i][0], type)) {
      return units[i][1];
    }
  }
  return NULL;
}

struct io_columns {
  const char **names, **units;
  double *scale, *offset;
  bool any_scale, any_offset, known;
  int32_t count;
  const struct foreign *clip; /* the first; its numbers are not read */
};

static assay_status read_action(struct import *import, const struct foreign *action, struct io_columns *columns) {
  const struct foreign *node, *clip;
  const char *const *names;
  int32_t count = 0;
  TRY(import_get(import, action, "joint_names", &node));
  TRY(import_get(import, action, "clip", &clip));
  const char *unit = action_unit(foreign_text(foreign_get(action, "full_path")));
  if (node == NULL || unit == NULL) {
    columns->known = false;
    return status_ok();
  }
  TRY(import_words(import, node, "joint_names", &names, &count));
  if (columns->count + count > FACT_ITEMS_MAX) {
    return import_error(import, node, "the actions move more than %d joints", (int)FACT_ITEMS_MAX);
  }
  columns->clip = columns->clip == NULL ? clip : columns->clip;
  TRY(add_column(import, action, "scale", count, 1, &columns->scale[columns->count], &columns->any_scale));
  TRY(add_column(import, action, "offset", count, 0, &columns->offset[columns->count], &columns->any_offset));
  for (int32_t i = 0; i < count; i++) {
    columns->names[columns->count] = names[i];
    columns->units[columns->count++] = unit;
  }
  return status_ok();
}

static bool alike(const char *const *words, int32_t count) {
  bool same = count > 0;
  for (int32_t i = 1; i < count; i++) {
    same = same && text_equal(words[i], words[0]);
  }
  return same;
}

/* The components are the joints that the actions name, in their order. */
static assay_status name_components(struct import *import, struct place place, const struct io_columns *columns,
                                    struct fact_output *output) {
  const struct fact_words *joints = &import->facts->joints;
  double *index;
  ARENA_NEW(import->arena, index, columns->count + 1);
  bool same = columns->count == joints->count;
  for (int32_t c = 0; c < columns->count; c++) {
    int32_t at = 0;
    while (at < joints->count && !text_equal(joints->values[at], columns->names[c])) {
      at++;
    }
    if (at == joints->count) {
      return facts_words(import->facts, &output->components, "the components of the action", place, columns->names,
                         columns->count);
    }
    index[c] = at;
    same = same && at == c;
  }
  return same ? status_ok()
              : facts_numbers(import->facts, &output->joint_index, "the joints of the action", place, index,
                              columns->count, FACT_EXACT);
}

static assay_status read_actions(struct import *import, const struct foreign *root) {
  const struct foreign *list = foreign_get(root, "actions");
  if (list == NULL || list->kind != FOREIGN_LIST || list->count == 0) {
    return status_ok();
  }
  struct io_columns columns = {.known = true};
  ARENA_NEW(import->arena, columns.names, FACT_ITEMS_MAX);
  ARENA_NEW(import->arena, columns.units, FACT_ITEMS_MAX);
  ARENA_NEW(import->arena, columns.scale, FACT_ITEMS_MAX);
  ARENA_NEW(import->arena, columns.offset, FACT_ITEMS_MAX);
  for (int32_t i = 0; i < list->count; i++) {
    TRY(read_action(import, &list->items[i], &columns));
  }
  struct facts *facts = import->facts;
  struct place place = import_place(import, &list->items[0]);
  struct fact_output *output;
  TRY(facts_output(facts, place, NULL, &output));
  if (!columns.known || columns.count == 0) {
    return facts_ask(facts, &output->open, "decode", "an action of the file is no plain command of joints");
  }
  if (columns.clip != NULL) {
    TRY(facts_ask(facts, &output->open, "clip", "line %d clips the action", (int)columns.clip->mark.line));
  }
  const struct foreign *first = &list->items[0];
  TRY(facts_words(facts, &output->units, "the units of the action", import_key_place(import, first, "full_path"),
                  columns.units, alike(columns.units, columns.count) ? 1 : columns.count));
  if (columns.any_scale) {
    TRY(facts_column(facts, &output->scale, "the scale of the action", import_key_place(import, first, "scale"),
                     columns.scale, columns.count, FACT_EXACT));
  }
  if (columns.any_offset) {
    TRY(facts_column(facts, &output->offset, "the offset of the action", import_key_place(import, first, "offset"),
                     columns.offset, columns.count, FACT_EXACT));
  }
  return name_components(import, import_key_place(import, first, "joint_names"), &columns, output);
}

assay_status isaac_io_read(struct import *import) {
  const struct foreign *root = import->file->is_text ? &import->file->yaml.documents[0] : NULL;
  if (root == NULL || root->kind != FOREIGN_MAP) {
    return import_error(import, NULL, "IO descriptors are a map of keys; this file is something else");
  }
  TRY(read_articulation(import, root));
  TRY(read_period(import, root));
  TRY(read_observations(import, root));
  return read_actions(import, root);
}
