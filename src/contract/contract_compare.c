/* `compare` of a component: angles, and components that are one rotation or one pose together. What has no meaning for
 * them (raw tolerances, thresholds, sign flips, gains) is refused, never passed over. */
#include <string.h>

#include "contract/contract_compare.h"

static const char *const kinds[] = {"difference", "angle", "quaternion", "rot6d", "pose"};

static assay_status read_kind(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  int32_t which = 0;
  TRY(yaml_choice(&reader->file, node, what, kinds, 5, &which));
  *(enum compare_kind *)member = (enum compare_kind)which;
  return status_ok();
}

assay_status read_compare(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  struct compared_entry *entry = member;
  entry->mark = node->mark;
  return read_kind(reader, node, what, &entry->kind);
}

assay_status read_compare_rotation(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  static const char *const words[] = {"quaternion", "rot6d", "rpy", "axis_angle"};
  struct compared_entry *entry = member;
  int32_t which = 0;
  TRY(yaml_choice(&reader->file, node, what, words, 4, &which));
  entry->rotation = which + 1;
  entry->rotation_mark = node->mark;
  return status_ok();
}

static assay_status read_form(struct reader *reader, const struct yaml *node, const char *what,
                              const char *const words[2], enum rotation_form first, struct compared_entry *entry) {
  int32_t which = 0;
  TRY(yaml_choice(&reader->file, node, what, words, 2, &which));
  entry->form = (enum rotation_form)((int32_t)first + which);
  entry->form_mark = node->mark;
  return status_ok();
}

assay_status read_compare_order(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  static const char *const words[2] = {"xyzw", "wxyz"};
  return read_form(reader, node, what, words, ROTATION_XYZW, member);
}

assay_status read_compare_convention(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  static const char *const words[2] = {"columns", "rows"};
  struct compared_entry *entry = member;
  if (entry->form != ROTATION_NONE) {
    return yaml_error(&reader->file, node->mark, "%s stands beside 'order'; a rotation has one of them", what);
  }
  return read_form(reader, node, what, words, ROTATION_COLUMNS, entry);
}

/* Which of the forms the numbers are in: from `compare` or `rotation`, and what these need beside them. */
static assay_status settle_form(const struct reader *reader, const char *what, struct compared_entry *entry) {
  enum { QUATERNION = 1, ROT6D, RPY, AXIS_ANGLE };
  bool pose = entry->kind == COMPARE_POSE;
  if (pose == (entry->rotation == 0)) {
    return yaml_error(&reader->file, pose ? entry->mark : entry->rotation_mark,
                      pose ? "%s is a pose and needs 'rotation': quaternion, rot6d, rpy or axis_angle"
                           : "%s has 'rotation', which a pose has; here 'compare' says it already",
                      what);
  }
  int32_t rotation = pose ? entry->rotation : entry->kind == COMPARE_QUATERNION ? QUATERNION : ROT6D;
  bool is_order = entry->form == ROTATION_XYZW || entry->form == ROTATION_WXYZ;
  bool is_convention = entry->form == ROTATION_COLUMNS || entry->form == ROTATION_ROWS;
  if (rotation == QUATERNION && !is_order) {
    return yaml_error(&reader->file, entry->mark, "%s needs 'order', where w stands in the quaternion: xyzw or wxyz",
                      what);
  }
  if (rotation == ROT6D && !is_convention) {
    return yaml_error(&reader->file, entry->mark,
                      "%s needs 'convention', which six numbers of the matrix these are: columns (the first two, one "
                      "after the other) or rows",
                      what);
  }
  if (rotation >= RPY && entry->form != ROTATION_NONE) {
    return yaml_error(&reader->file, entry->form_mark, "%s has 'order' or 'convention', which three angles do not have",
                      what);
  }
  entry->form = rotation == RPY ? ROTATION_RPY : rotation == AXIS_ANGLE ? ROTATION_AXIS_ANGLE : entry->form;
  return status_ok();
}

static assay_status read_angle_unit(const struct reader *reader, struct mark mark, const char *what, const char *unit,
                                    bool *degrees) {
  *degrees = text_equal(unit, "deg");
  return *degrees || text_equal(unit, "rad")
             ? status_ok()
             : yaml_error(&reader->file, mark, "the unit of an angle of %s is '%.40s'; it must be rad or deg", what,
                          unit);
}

/* {distance: ..., angle: ...}, of which both are needed. */
static assay_status read_two(const struct reader *reader, const struct yaml *node, const char *what,
                             const struct yaml **distance, const struct yaml **angle) {
  static const char *const keys[] = {"distance", "angle"};
  if (node->kind != YAML_MAPPING) {
    return yaml_error(&reader->file, node->mark, "%s of a pose is two: {distance: ..., angle: ...}", what);
  }
  TRY(yaml_keys(&reader->file, node, keys, 2, what));
  TRY(yaml_require(&reader->file, node, keys[0], what, distance));
  return yaml_require(&reader->file, node, keys[1], what, angle);
}

static assay_status check_tolerance(const struct reader *reader, const char *what, const struct tolerance *tolerance) {
  if (tolerance->given && tolerance->raw) {
    return yaml_error(&reader->file, tolerance->mark,
                      "%s is compared as an angle, a rotation or a pose, which raw numbers are not; leave 'space' out",
                      what);
  }
  if (tolerance->given && (tolerance->sign_flips > 0 || tolerance->saturation > 0)) {
    return yaml_error(&reader->file, tolerance->mark,
                      "%s is compared as an angle, a rotation or a pose, which has neither sign flips nor saturation",
                      what);
  }
  return status_ok();
}

/* What a difference may have and these may not. */
static assay_status check_meaning(const struct reader *reader, const char *what, const struct compared_entry *entry,
                                  int32_t count, const struct contract_component *components) {
  for (int32_t i = 0; i < count; i++) {
    const struct contract_component *component = &components[i];
    bool decided = component->has_decision && (entry->kind != COMPARE_ANGLE || !component->decision.raw);
    if (decided) {
      return yaml_error(
          &reader->file, component->decision.mark,
          entry->kind == COMPARE_ANGLE
              ? "%s has a threshold on an angle, of which one turn more is the same; write `space: raw` if "
                "the robot compares the model's own number"
              : "%s has a threshold on a number of a rotation or a pose, which means nothing alone",
          what);
    }
    if (component->allow_inf || (component->has_pd && entry->kind != COMPARE_ANGLE)) {
      return yaml_error(&reader->file, entry->mark, "%s has '%s', which %s does not have", what,
                        component->allow_inf ? "allow_inf" : "pd", kinds[entry->kind]);
    }
  }
  return status_ok();
}

static assay_status place_angles(struct reader *reader, const char *what, const struct compared_entry *entry,
                                 int32_t count, struct contract_component *components) {
  for (int32_t i = 0; i < count; i++) {
    components[i].compare = COMPARE_ANGLE;
    TRY(check_tolerance(reader, what, &components[i].tolerance));
    TRY(read_angle_unit(reader, entry->mark, what, components[i].unit, &components[i].degrees));
  }
  return status_ok();
}

static assay_status read_pose(struct reader *reader, const char *what, const struct compared_entry *entry,
                              const char *units[2], struct tolerance tolerances[2]) {
  const struct yaml *parts[2];
  char member[WHAT_SIZE];
  what_format(member, "'unit' of %s", what);
  if (entry->unit == NULL) {
    return yaml_error(&reader->file, entry->mark, "%s needs 'unit': {distance: m, angle: rad}", what);
  }
  TRY(read_two(reader, entry->unit, member, &parts[0], &parts[1]));
  for (int i = 0; i < 2; i++) {
    TRY(read_text(reader, parts[i], member, &units[i]));
  }
  what_format(member, "'tolerance' of %s", what);
  if (entry->tolerance == NULL) {
    return status_ok(); /* the gate will say that nothing can be judged */
  }
  TRY(read_two(reader, entry->tolerance, member, &parts[0], &parts[1]));
  for (int i = 0; i < 2; i++) {
    TRY(read_tolerance(reader, parts[i], member, &tolerances[i]));
  }
  return status_ok();
}

static assay_status place_title(struct reader *reader, const char *name, const char *part,
                                struct contract_component *component) {
  component->title = arena_format(reader->arena, "%s%s%s", name, part[0] != '\0' ? " " : "", part);
  return component->title != NULL ? status_ok() : status_no_memory(strlen(name));
}

static assay_status place_group(struct reader *reader, const char *what, struct compared_entry *entry, const char *name,
                                int32_t first, int32_t count, struct contract_component *components,
                                struct contract_group *group) {
  bool pose = entry->kind == COMPARE_POSE;
  TRY(settle_form(reader, what, entry));
  *group = (struct contract_group){
      .name = name, .mark = entry->mark, .kind = entry->kind, .first = first, .count = count, .form = entry->form};
  int32_t at = group_rotation(group), needed = at + rotation_numbers(entry->form);
  if (name == NULL) {
    return yaml_error(&reader->file, entry->mark, "%s needs 'name' beside 'names': what the %s is called in reports",
                      what, pose ? "pose" : "rotation");
  }
  if (count != needed) {
    return yaml_error(&reader->file, entry->mark, "%s has %d names, but %s this is has %d numbers", what, (int)count,
                      pose ? "the pose that" : "the rotation that", (int)needed);
  }
  const char *units[2] = {components[0].unit, components[0].unit};
  struct tolerance tolerances[2] = {components[0].tolerance, components[0].tolerance};
  if (pose) {
    tolerances[0] = tolerances[1] = (struct tolerance){0};
    TRY(read_pose(reader, what, entry, units, tolerances));
  }
  TRY(read_angle_unit(reader, entry->mark, what, units[1], &group->degrees));
  for (int32_t i = 0; i < count; i++) {
    struct contract_component *component = &components[i];
    component->compare = entry->kind;
    component->group = group;
    component->in_group = i;
    component->unit = units[i >= at];
    component->tolerance = i == at ? tolerances[1] : i == 0 ? tolerances[0] : (struct tolerance){0};
    TRY(check_tolerance(reader, what, &component->tolerance));
  }
  TRY(place_title(reader, name, pose ? "angle" : "", &components[at]));
  return pose ? place_title(reader, name, "distance", &components[0]) : status_ok();
}

assay_status place_compared(struct reader *reader, const char *what, struct compared_entry *entry, const char *name,
                            int32_t first, int32_t count, struct contract_component *components,
                            struct contract_output *output) {
  bool rotates = entry->form != ROTATION_NONE || entry->rotation != 0;
  if (entry->kind <= COMPARE_ANGLE && rotates) {
    return yaml_error(
        &reader->file, entry->rotation != 0 ? entry->rotation_mark : entry->form_mark,
        "%s has 'order', 'convention' or 'rotation', but 'compare' says neither quaternion, rot6d nor pose", what);
  }
  if (entry->kind != COMPARE_POSE && (entry->unit != NULL || entry->tolerance != NULL)) {
    const struct yaml *two = entry->unit != NULL ? entry->unit : entry->tolerance;
    return yaml_error(&reader->file, two->mark, "%s has a distance and an angle, which only `compare: pose` has", what);
  }
  if (entry->kind == COMPARE_DIFFERENCE) {
    return status_ok();
  }
  TRY(check_meaning(reader, what, entry, count, components));
  if (entry->kind == COMPARE_ANGLE) {
    return place_angles(reader, what, entry, count, components);
  }
  struct contract_group *groups = (struct contract_group *)(uintptr_t)output->groups;
  return place_group(reader, what, entry, name, first, count, components, &groups[output->n_groups++]);
}
