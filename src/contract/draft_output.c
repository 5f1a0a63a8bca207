/* Drafts the outputs: decoding, components and gains where files say them, the rest as questions. */
#include <string.h>

#include "contract/draft_write.h"
#include "contract/yaml.h"

static const struct place nowhere = {0};

/* One output while it is drafted. */
struct drafted {
  const struct draft_plan *plan;
  const struct signature_tensor *tensor;
  const struct fact_output *facts; /* never NULL */
  int64_t size;                    /* of the component axis; 0 when not known */
  struct arena *arena;
};

/* Which joint component c is; -1 when it is none that is known. */
static int32_t joint_of(const struct drafted *out, int32_t c) {
  if (out->facts->joint_index.count > 0) {
    return c < out->facts->joint_index.count ? (int32_t)out->facts->joint_index.values[c] : -1;
  }
  return c < out->plan->n_joints ? c : -1;
}

/* The components are joints: as many as the index says, or as there are joints, and no file names them otherwise. */
static bool is_of_joints(const struct drafted *out) {
  if (out->facts->components.count > 0 || out->plan->n_joints == 0) {
    return false;
  }
  int32_t count = out->facts->joint_index.count > 0 ? out->facts->joint_index.count : out->plan->n_joints;
  return count == out->size;
}

static assay_status wrong_count(struct place place, const char *what, int64_t count, const struct drafted *out) {
  struct text where = {0};
  place_add(&where, place);
  assay_status status = status_make(ASSAY_IMPORT_INVALID, text_string(&where),
                                    "%s has %lld entries, but output '%s' of %s has %lld components", what,
                                    (long long)count, out->tensor->name, out->plan->model_name, (long long)out->size);
  text_free(&where);
  return status;
}

static assay_status check_counts(const struct drafted *out) {
  const struct fact_output *f = out->facts;
  const struct fact_numbers *const columns[] = {&f->scale,         &f->offset,    &f->clip_raw_low,
                                                &f->clip_raw_high, &f->clip_low,  &f->clip_high,
                                                &f->limit_min,     &f->limit_max, &f->limit_rate};
  static const char *const what[] = {"the scale of the action", "the offset of the action", "the clip of the action",
                                     "the clip of the action",  "the clip of the action",   "the clip of the action",
                                     "the lower limit",         "the upper limit",          "the limit of the rate"};
  if (out->size == 0) {
    return status_ok();
  }
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
    if (columns[i]->count > 1 && columns[i]->count != out->size) {
      return wrong_count(columns[i]->place, what[i], columns[i]->count, out);
    }
  }
  if (f->components.count > 0 && f->components.count != out->size) {
    return wrong_count(f->components.place, "the list of the action's components", f->components.count, out);
  }
  if (f->joint_index.count > 0 && f->joint_index.count != out->size) {
    return wrong_count(f->joint_index.place, "the list of the joints that the action moves", f->joint_index.count, out);
  }
  return f->units.count > 1 && f->units.count != out->size
             ? wrong_count(f->units.place, "the list of the action's units", f->units.count, out)
             : status_ok();
}

/* --- decoding ---------------------------------------------------------------------- */

static void add_clip(const struct fact_numbers *low, const struct fact_numbers *high, struct text *out) {
  text_add(out, "{clip: ");
  write_clip(out, low, high, nowhere);
  text_add_char(out, '}');
}

static void add_factor(const char *key, const struct fact_numbers *column, struct text *out) {
  text_format(out, "{%s: ", key);
  write_value_begin(out, column->place, nowhere);
  write_column(out, column->values, column->count, 12);
  write_value_end(out, column->place, nowhere);
  text_add_char(out, '}');
}

static void begin_step(bool *any, struct text *out) {
  text_add(out, *any ? ",\n             " : "    decode: [");
  *any = true;
}

/* What is added: the output's own offset, or the joints' default positions. */
static assay_status find_offset(const struct drafted *drafted, struct fact_numbers *out) {
  const struct fact_output *f = drafted->facts;
  *out = f->offset;
  if (f->offset.count > 0 || !f->plus_default) {
    return status_ok();
  }
  static const struct fact_words all = {0};
  TRY(draft_default(drafted->plan, drafted->arena, 1, &all, out));
  if (out->count <= 1 || f->joint_index.count == 0) {
    return out->count > 1 && drafted->size > 0 && out->count != drafted->size
               ? wrong_count(out->place, "the list of default positions", out->count, drafted)
               : status_ok();
  }
  double *picked;
  ARENA_NEW(drafted->arena, picked, f->joint_index.count);
  for (int32_t i = 0; i < f->joint_index.count; i++) {
    int32_t joint = joint_of(drafted, i);
    picked[i] = joint >= 0 && joint < out->count ? out->values[joint] : 0;
  }
  out->values = picked;
  out->count = f->joint_index.count;
  return status_ok();
}

static assay_status add_decode(const struct drafted *drafted, struct text *out) {
  const struct fact_output *f = drafted->facts;
  bool any = false;
  const char *reason = facts_asked(&f->open, "decode");
  struct fact_numbers offset;
  TRY(find_offset(drafted, &offset));
  if (reason != NULL) { /* a part of the chain is open, so that none of it can be told for certain */
    text_add(out, "    decode: ");
    write_todo(out, reason);
    text_add_char(out, '\n');
    return status_ok();
  }
  for (int32_t i = 0; i < f->decode.count; i++) {
    begin_step(&any, out);
    text_format(out, "{%s, source: ", f->decode.values[i]);
    write_place(out, f->decode.place);
    text_add_char(out, '}');
  }
  if (f->clip_raw_low.count > 0 && f->clip_raw_high.count > 0) {
    begin_step(&any, out);
    add_clip(&f->clip_raw_low, &f->clip_raw_high, out);
  }
  if (f->scale.count > 0 && !all_are(&f->scale, 1)) {
    begin_step(&any, out);
    add_factor("scale", &f->scale, out);
  }
  if (offset.count > 0 && !all_are(&offset, 0)) {
    begin_step(&any, out);
    add_factor("offset", &offset, out);
  } else if (offset.count == 0 && f->plus_default) {
    begin_step(&any, out);
    struct text why = {0};
    const char *asked = facts_asked(&drafted->plan->facts->open, "default_pos");
    text_format(&why, "the joints' default positions; %s", asked != NULL ? asked : "no file says them");
    text_add(out, "{offset: ");
    write_todo(out, text_string(&why));
    text_add_char(out, '}');
    write_part_free(&why, out);
  }
  if (f->clip_low.count > 0 && f->clip_high.count > 0) {
    begin_step(&any, out);
    add_clip(&f->clip_low, &f->clip_high, out);
  } else if (facts_asked(&f->open, "clip") != NULL) {
    begin_step(&any, out);
    text_add(out, "{clip: ");
    write_todo(out, facts_asked(&f->open, "clip"));
    text_add_char(out, '}');
  }
  text_add(out, any ? "]\n" : "");
  return status_ok();
}

/* --- the motors' order -------------------------------------------------------------- */

static const char *component_name(const struct drafted *drafted, int32_t c) {
  const struct fact_words *joints = &drafted->plan->facts->joints;
  if (drafted->facts->components.count > c) {
    return drafted->facts->components.values[c];
  }
  int32_t joint = is_of_joints(drafted) ? joint_of(drafted, c) : -1;
  return joint >= 0 && joint < joints->count ? joints->values[joint] : NULL;
}

/* Each component's motor, from the facts of the output or of the joints; count 0 when no file says it. */
static assay_status motors_of(const struct drafted *drafted, struct fact_numbers *out) {
  const struct fact_numbers *joints = &drafted->plan->facts->motor_map;
  *out = drafted->facts->hardware_map;
  if (out->count > 0 || joints->count == 0 || !is_of_joints(drafted)) {
    return status_ok();
  }
  double *motors;
  ARENA_NEW(drafted->arena, motors, drafted->size);
  for (int32_t c = 0; c < drafted->size; c++) {
    int32_t joint = joint_of(drafted, c);
    if (joint < 0 || joint >= joints->count) {
      return status_ok();
    }
    motors[c] = joints->values[joint];
  }
  *out = (struct fact_numbers){.place = joints->place, .count = (int32_t)drafted->size, .values = motors};
  return status_ok();
}

static bool ascends(const struct fact_numbers *map) {
  for (int32_t i = 1; i < map->count; i++) {
    if (map->values[i] <= map->values[i - 1]) {
      return false;
    }
  }
  return true;
}

/* From motor numbers to names in the motors' order; NULL when a name is missing. */
static assay_status order_names(const struct drafted *drafted, const struct fact_numbers *map, const char ***names) {
  ARENA_NEW(drafted->arena, *names, map->count + 1);
  double last = -1;
  for (int32_t at = 0; at < map->count; at++) {
    int32_t next = -1;
    for (int32_t c = 0; c < map->count; c++) {
      bool later = map->values[c] > last && (next < 0 || map->values[c] < map->values[next]);
      next = later ? c : next;
    }
    (*names)[at] = next >= 0 ? component_name(drafted, next) : NULL;
    if ((*names)[at] == NULL) {
      *names = NULL;
      return status_ok();
    }
    last = map->values[next];
  }
  return status_ok();
}

static assay_status add_order(const struct drafted *drafted, struct text *out) {
  const struct fact_words *order = &drafted->facts->hardware_order;
  struct fact_numbers map;
  TRY(motors_of(drafted, &map));
  if (order->count == 0 && (map.count == 0 || ascends(&map))) {
    return status_ok();
  }
  const char **names = NULL;
  if (order->count == 0) {
    TRY(order_names(drafted, &map, &names));
  }
  text_add(out, "    hardware_order: ");
  if (order->count > 0 || names != NULL) {
    struct place place = order->count > 0 ? order->place : map.place;
    write_value_begin(out, place, nowhere);
    write_words(out, order->count > 0 ? order->values : names, order->count > 0 ? order->count : map.count, 6);
    write_value_end(out, place, nowhere);
  } else {
    struct text reason = {0};
    text_add(&reason, "the components' names in the order of the motors by ");
    place_add(&reason, map.place);
    write_todo(out, text_string(&reason));
    write_part_free(&reason, out);
  }
  text_add_char(out, '\n');
  return status_ok();
}

/* --- components ---------------------------------------------------------------------- */

static void add_names(const struct drafted *drafted, int32_t first, int32_t count, struct text *out) {
  const struct fact_words *named = &drafted->facts->components;
  bool whole = count == drafted->size;
  text_add(out, "      - names: ");
  if (is_of_joints(drafted) && whole && drafted->facts->joint_index.count == 0 && drafted->plan->has_joints_group) {
    text_add(out, "joints");
  } else if (component_name(drafted, first) != NULL) {
    struct place place = named->count > 0 ? named->place : drafted->plan->facts->joints.place;
    write_value_begin(out, place, nowhere);
    const char *names[1];
    text_add_char(out, '[');
    for (int32_t c = first; c < first + count; c++) {
      struct text one = {0};
      names[0] = component_name(drafted, c);
      write_words(&one, names, names[0] != NULL ? 1 : 0, 0);
      text_add(out, c > first ? ", " : "");
      text_add_bytes(out, one.data + 1, one.length - 2); /* without its brackets */
      write_part_free(&one, out);
    }
    text_add_char(out, ']');
    write_value_end(out, place, nowhere);
  } else {
    struct text reason = {0};
    text_format(&reason, "%d of %lld in the order of the tensor", (int)count, (long long)drafted->size);
    write_todo(out, text_string(&reason));
    write_part_free(&reason, out);
  }
  text_add_char(out, '\n');
}

/* One column of an entry: numbers of a joint or a component each. */
static void add_entry_column(const struct drafted *drafted, const char *key, const struct fact_numbers *column,
                             bool of_joints, int32_t first, int32_t count, double *values, struct text *out) {
  for (int32_t c = 0; c < count; c++) {
    int32_t at = of_joints ? joint_of(drafted, first + c) : first + c;
    values[c] = column->values[column->count == 1 || at < 0 || at >= column->count ? 0 : at];
  }
  text_format(out, "%s: ", key);
  write_value_begin(out, column->place, nowhere);
  write_column(out, values, count, 14);
  write_value_end(out, column->place, nowhere);
}

static assay_status check_damping(const struct drafted *drafted, const double *kd, int32_t first, int32_t count) {
  for (int32_t c = 0; c < count; c++) {
    if (!(kd[c] > 0)) {
      struct text where = {0};
      place_add(&where, drafted->plan->facts->kd.place);
      const char *name = component_name(drafted, first + c);
      assay_status status = status_make(
          ASSAY_IMPORT_INVALID, text_string(&where),
          "the damping of %s%.80s%s (number %d) is %.9g; a joint without damping swings, so it must be above 0",
          name != NULL ? "'" : "a joint", name != NULL ? name : "", name != NULL ? "'" : "", (int)(first + c) + 1,
          kd[c]);
      text_free(&where);
      return status;
    }
  }
  return status_ok();
}

static assay_status add_gains(const struct drafted *drafted, int32_t first, int32_t count, struct text *out) {
  const struct facts *facts = drafted->plan->facts;
  bool kp = facts->kp.count > 0, kd = facts->kd.count > 0;
  if ((!kp && !kd) || !is_of_joints(drafted)) {
    return status_ok();
  }
  double *values;
  ARENA_NEW(drafted->arena, values, count + 1);
  text_add(out, "        pd: {");
  if (kp) {
    add_entry_column(drafted, "kp", &facts->kp, true, first, count, values, out);
  } else {
    text_add(out, "kp: ");
    write_todo(out, "no file says it");
  }
  text_add(out, ", ");
  if (kd) {
    add_entry_column(drafted, "kd", &facts->kd, true, first, count, values, out);
    TRY(check_damping(drafted, values, first, count));
  } else {
    text_add(out, "kd: ");
    write_todo(out, "no file says it");
  }
  text_add(out, "}\n");
  return status_ok();
}

static assay_status add_limits(const struct drafted *drafted, int32_t first, int32_t count, struct text *out) {
  const struct fact_output *f = drafted->facts;
  const struct fact_numbers *const columns[] = {&f->limit_min, &f->limit_max, &f->limit_rate};
  static const char *const keys[] = {"min", "max", "rate"};
  double *values;
  ARENA_NEW(drafted->arena, values, count + 1);
  bool any = false;
  for (int i = 0; i < 3; i++) {
    if (columns[i]->count > 0) {
      text_add(out, any ? ", " : "        limits: {");
      any = true;
      add_entry_column(drafted, keys[i], columns[i], false, first, count, values, out);
    }
  }
  text_add(out, any ? "}\n" : "");
  return status_ok();
}

static assay_status add_entry(const struct drafted *drafted, int32_t first, int32_t count, struct text *out) {
  const struct fact_words *units = &drafted->facts->units;
  add_names(drafted, first, count, out);
  const char *asked = facts_asked(&drafted->facts->open, "unit");
  text_add(out, "        unit: ");
  if (units->count > 0) {
    write_value_begin(out, units->place, nowhere);
    yaml_write_scalar(out, units->values[units->count == 1 ? 0 : first]);
    write_value_end(out, units->place, nowhere);
    text_add_char(out, '\n');
  } else if (asked != NULL) {
    write_todo(out, asked);
    text_add_char(out, '\n');
  } else {
    text_add(out, "TODO                # after decoding: rad, m/s, score, ...\n");
  }
  TRY(add_limits(drafted, first, count, out));
  TRY(add_gains(drafted, first, count, out));
  text_add(out, "        tolerance: {max: TODO}    # how far a rung may drift, in that unit\n");
  return status_ok();
}

/* Components of one unit in a row make one entry. */
static assay_status add_components(const struct drafted *drafted, struct text *out) {
  const struct fact_words *units = &drafted->facts->units;
  text_add(out, "    components:\n");
  if (drafted->size == 1 && drafted->facts->components.count == 0 && !is_of_joints(drafted)) {
    text_add(out, "      - name: TODO                # what this number is\n");
    text_add(out, "        unit: TODO                # after decoding: rad, m/s, score, ...\n");
    text_add(out, "        tolerance: {max: TODO}    # how far a rung may drift, in that unit\n");
    return status_ok();
  }
  bool known = is_of_joints(drafted) || drafted->facts->components.count > 0 || units->count > 0;
  if (!known) {
    text_format(out, "      - names: TODO               # the %lld of the last dimension, in order: [hip, knee, ...]\n",
                (long long)(drafted->tensor->rank > 0 ? drafted->tensor->dims[drafted->tensor->rank - 1] : 1));
    text_add(out, "        unit: TODO                # after decoding: rad, m/s, score, ...\n");
    text_add(out, "        tolerance: {max: TODO}    # how far a rung may drift, in that unit\n");
    return status_ok();
  }
  for (int32_t first = 0, count; first < drafted->size; first += count) {
    count = 1;
    while (first + count < drafted->size &&
           (units->count <= 1 || text_equal(units->values[first], units->values[first + count]))) {
      count++;
    }
    TRY(add_entry(drafted, first, count, out));
  }
  return status_ok();
}

static void add_axes(const struct drafted *drafted, struct text *out) {
  const struct fact_words *axes = &drafted->facts->axes;
  if (axes->count > 0) {
    text_add(out, "    axes: ");
    write_value_begin(out, axes->place, nowhere);
    write_words(out, axes->values, axes->count, 6);
    write_value_end(out, axes->place, nowhere);
    text_add_char(out, '\n');
  } else if (drafted->tensor->rank > 2) {
    text_format(out,
                "    axes: TODO                    # what the %d dimensions are: [batch, horizon, component], ...\n",
                (int)drafted->tensor->rank);
  }
  const struct fact_number *ensemble = &drafted->facts->ensemble;
  if (ensemble->given) {
    text_add(out, "    execute: {ensemble: {m: ");
    write_number(out, ensemble->value);
    if (drafted->tensor->rank == 3 && drafted->tensor->dims[1] > 0) {
      text_format(out, ", steps: %lld}, source: ", (long long)drafted->tensor->dims[1]);
    } else {
      text_add(out, ", steps: TODO (how many the chunk has)}, source: ");
    }
    write_place(out, ensemble->place);
    text_add(out, "}\n");
  } else if (drafted->facts->execute_steps.given) {
    const struct fact_number *steps = &drafted->facts->execute_steps;
    text_add(out, "    execute: {steps: ");
    write_number(out, steps->value);
    text_add(out, ", source: ");
    write_place(out, steps->place);
    text_add(out, "}\n");
  }
}

assay_status draft_output(const struct draft_plan *plan, struct arena *arena, int32_t i, struct text *out) {
  static const struct fact_output nothing = {0};
  const struct signature_tensor *tensor = &plan->signature->outputs[i];
  struct drafted drafted = {.plan = plan, .tensor = tensor, .arena = arena};
  drafted.facts = plan->outputs[i] != NULL ? plan->outputs[i] : &nothing;
  int64_t last = tensor->rank > 0 ? tensor->dims[tensor->rank - 1] : 1;
  drafted.size = last > 0 && last <= FACT_ITEMS_MAX && tensor->rank >= 0 ? last : 0;
  TRY(check_counts(&drafted));
  draft_head(tensor, out);
  add_axes(&drafted, out);
  TRY(add_decode(&drafted, out));
  TRY(add_order(&drafted, out));
  return add_components(&drafted, out);
}
