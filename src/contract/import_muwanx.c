/* muwanx's files: the policy's own (which observation, action scale, kind of control), asset_meta.json (joints in the
 * order of the model, default positions), and the exporter's *_meta.json (names and shapes of the tensors alone). An
 * observation is named after a class of the program; what those classes that are known here build is in `classes`. */
#include <string.h>

#include "contract/importer.h"

static bool has(const struct foreign *map, const char *key) { return foreign_get(map, key) != NULL; }

int muwanx_recognise(const struct import_file *file) {
  if (!file->is_text) {
    return IMPORT_NO;
  }
  const struct foreign *root = file->yaml.documents;
  bool policy = has(root, "obs_config") && has(foreign_get(root, "onnx"), "meta");
  bool asset = has(root, "joint_names_isaac") && has(root, "default_joint_pos");
  bool meta = has(root, "in_keys") && has(root, "out_keys");
  return policy || asset || meta ? IMPORT_SURE : IMPORT_NO;
}

/* --- the names of tensors ------------------------------------------------------------------------ */

/* The model's tensor that a key stands for: of that name, or, since the program goes by position, the one there. */
static const char *tensor_of(const struct signature_tensor *tensors, int32_t n_tensors, const char *key, int32_t i,
                             int32_t n_keys) {
  for (int32_t t = 0; key != NULL && t < n_tensors; t++) {
    if (strcmp(tensors[t].name, key) == 0) {
      return key;
    }
  }
  return n_keys == n_tensors ? tensors[i].name : NULL;
}

/* The numbers in a shape, which some files nest once more: [[1, 42]] and [[[1, 42]]]. -1 where it is no shape. */
static int64_t shape_elements(const struct foreign *shape) {
  while (shape != NULL && shape->kind == FOREIGN_LIST && shape->count == 1 && shape->items[0].kind == FOREIGN_LIST) {
    shape = &shape->items[0];
  }
  if (shape == NULL || shape->kind != FOREIGN_LIST) {
    return -1;
  }
  int64_t elements = 1;
  for (int32_t i = 0; i < shape->count; i++) {
    int64_t size;
    if (!foreign_whole(&shape->items[i], &size) || size < 1 || size > 1 << 20 || elements > 1 << 20) {
      return -1;
    }
    elements *= size;
  }
  return elements;
}

/* in_keys and in_shapes: which inputs there are, and how large they are. */
static assay_status give_inputs(struct import *import, const struct foreign *meta) {
  const struct foreign *keys, *shapes;
  TRY(import_get(import, meta, "in_keys", &keys));
  TRY(import_get(import, meta, "in_shapes", &shapes));
  const char *const *names;
  int32_t count;
  if (keys == NULL) {
    return status_ok();
  }
  TRY(import_words(import, keys, "in_keys", &names, &count));
  for (int32_t i = 0; i < count; i++) {
    const struct signature *signature = import->models->signatures[0];
    const char *name = tensor_of(signature->inputs, signature->n_inputs, names[i], i, count);
    if (name == NULL) {
      return import_error(import, keys, "'in_keys' has %d names, '%s' among them, and the model has %d inputs",
                          (int)count, names[i], (int)signature->n_inputs);
    }
    struct fact_input *input;
    TRY(facts_input(import->facts, import_place(import, keys), name, &input));
    bool listed = shapes != NULL && shapes->kind == FOREIGN_LIST && shapes->count == count;
    int64_t elements = listed ? shape_elements(&shapes->items[i]) : -1;
    if (elements > 0) {
      TRY(facts_number(import->facts, &input->size, "the size of the input", import_place(import, shapes),
                       (double)elements));
    }
  }
  return status_ok();
}

static assay_status find_output(struct import *import, const struct foreign *meta, struct fact_output **out) {
  const struct foreign *keys;
  TRY(import_get(import, meta, "out_keys", &keys));
  const char *const *names;
  int32_t count;
  if (keys == NULL) {
    return facts_output(import->facts, import_place(import, meta), NULL, out);
  }
  TRY(import_words(import, keys, "out_keys", &names, &count));
  const struct signature *signature = import->models->signatures[0];
  const char *name = tensor_of(signature->outputs, signature->n_outputs, names[0], 0, count);
  return facts_output(import->facts, import_place(import, keys), name, out);
}

/* --- observations ---------------------------------------------------------------------------------- */

enum { CLASS_TERMS_MAX = 8 };
struct class_term {
  const char *name, *unit, *elements;
  enum fact_origin origin;
  double scale[3]; /* 0: none; the second 0: one for all */
  bool relative;   /* to the default positions */
};
struct observation_class {
  const char *name;
  int32_t n_terms, history;
  struct class_term terms[CLASS_TERMS_MAX];
};
#define GRAVITY \
  { "projected_gravity", NULL, "x y z", FACT_SENSOR, {0}, false }
#define COMMAND \
  { "command", NULL, "lin_vel_x lin_vel_y ang_vel_z", FACT_SENSOR, {2, 2, 0.25}, false }
#define ANG_VEL \
  { "base_ang_vel", "rad/s", "x y z", FACT_SENSOR, {0.25}, false }
#define JOINT_POS \
  { "joint_pos", "rad", "*", FACT_SENSOR, {0}, true }
#define JOINT_VEL \
  { "joint_vel", "rad/s", "*", FACT_SENSOR, {0.05}, false }
#define LAST_ACTION \
  { "last_action", NULL, "*", FACT_OUTPUT, {0}, false }
static const struct observation_class classes[] = {
    {"DecapObs", 5, 1, {GRAVITY, COMMAND, JOINT_POS, JOINT_VEL, LAST_ACTION}},
    {"HIMLocoObs", 6, 6, {COMMAND, ANG_VEL, GRAVITY, JOINT_POS, JOINT_VEL, LAST_ACTION}},
};

static const struct observation_class *find_class(const char *name) {
  for (size_t i = 0; name != NULL && i < sizeof classes / sizeof *classes; i++) {
    if (strcmp(classes[i].name, name) == 0) {
      return &classes[i];
    }
  }
  return NULL;
}

static assay_status give_term(struct import *import, const struct class_term *row, struct place place,
                              struct fact_term *term) {
  const struct known_term known = {row->name, row->unit, row->elements, row->origin};
  bool found;
  TRY(import_known_term(import, &known, 1, row->name, place, term, &found));
  term->minus_default = row->relative;
  int32_t scales = row->scale[0] == 0 ? 0 : row->scale[1] == 0 ? 1 : 3;
  return scales == 0 ? status_ok()
                     : facts_numbers(import->facts, &term->scale, "the scale", place, row->scale, scales, FACT_EXACT);
}

static assay_status give_class(struct import *import, const struct observation_class *class, const struct foreign *node,
                               struct fact_input *input) {
  struct place place = import_place(import, node), places[CLASS_TERMS_MAX];
  const char *names[CLASS_TERMS_MAX];
  for (int32_t i = 0; i < class->n_terms; i++) {
    names[i] = class->terms[i].name;
    places[i] = place;
  }
  TRY(facts_terms(import->facts, input, place, names, places, class->n_terms));
  for (int32_t i = 0; i < class->n_terms; i++) {
    TRY(give_term(import, &class->terms[i], place, &input->terms[i]));
  }
  if (class->history == 1) {
    return status_ok();
  }
  TRY(facts_number(import->facts, &input->history, "the history", place, class->history));
  TRY(facts_text(import->facts, &input->layout, "the layout of the history", place, "time_major"));
  TRY(facts_text(import->facts, &input->order, "the order of the history", place, "newest_first"));
  return facts_text(import->facts, &input->initial, "the start of the history", place, "zeros");
}

static assay_status give_observation(struct import *import, const char *key, const struct foreign *list) {
  struct fact_input *input;
  TRY(facts_input(import->facts, import_place(import, list), key, &input));
  const struct foreign *one = list->kind == FOREIGN_LIST && list->count == 1 ? &list->items[0] : NULL;
  const char *name = foreign_text(foreign_get(one, "name"));
  const struct observation_class *class = find_class(name);
  const char *joints = foreign_text(foreign_get(one, "joint_names"));
  if (class == NULL || joints == NULL || strcmp(joints, "isaac") != 0) {
    return facts_ask(import->facts, &input->open, "terms", "line %d; what '%.60s' builds is not known here",
                     (int)list->mark.line, name != NULL ? name : "this list of observations");
  }
  return give_class(import, class, one, input);
}

/* --- the policy's own file --------------------------------------------------------------------------- */

static assay_status give_column(struct import *import, const struct foreign *root, const char *key, const char *what,
                                struct fact_numbers *slot) {
  const struct foreign *node;
  TRY(import_get(import, root, key, &node));
  if (node == NULL) {
    return status_ok();
  }
  const double *values;
  int32_t count;
  TRY(import_numbers(import, node, key, &values, &count));
  return facts_column(import->facts, slot, what, import_place(import, node), values, count, FACT_EXACT);
}

/* A torque is the scaled number; a position is that far from the default one, and stiffness and damping hold it. */
static assay_status give_action(struct import *import, const struct foreign *root, struct fact_output *output) {
  TRY(give_column(import, root, "action_scale", "the action scale", &output->scale));
  const struct foreign *kind;
  TRY(import_get(import, root, "control_type", &kind));
  const char *type = kind != NULL ? foreign_text(kind) : "joint_position";
  bool torque = type != NULL && strcmp(type, "torque") == 0;
  if (!torque && (type == NULL || strcmp(type, "joint_position") != 0)) {
    const char *shown = type != NULL ? type : "no word";
    TRY(facts_ask(import->facts, &output->open, "unit", "what '%.60s' commands; line %d", shown, (int)kind->mark.line));
    return facts_ask(import->facts, &output->open, "decode", "what '%.60s' does with the model's numbers; line %d",
                     shown, (int)kind->mark.line);
  }
  const char *const unit[] = {torque ? "N·m" : "rad"};
  TRY(facts_words(import->facts, &output->units, "the unit of the action",
                  import_place(import, kind != NULL ? kind : root), unit, 1));
  if (torque) {
    return status_ok();
  }
  output->plus_default = true;
  TRY(give_column(import, root, "stiffness", "the stiffness", &import->facts->kp));
  return give_column(import, root, "damping", "the damping", &import->facts->kd);
}

static assay_status read_policy(struct import *import, const struct foreign *root) {
  const struct foreign *meta = foreign_at(root, "onnx/meta"), *observations = foreign_get(root, "obs_config");
  TRY(give_inputs(import, meta));
  struct fact_output *output;
  TRY(find_output(import, meta, &output));
  TRY(give_action(import, root, output));
  if (observations->kind != FOREIGN_MAP) {
    return import_error(import, observations, "'obs_config' is not a mapping of inputs to their observations");
  }
  for (int32_t i = 0; i < observations->count; i++) {
    const struct signature *signature = import->models->signatures[0];
    const char *name = tensor_of(signature->inputs, signature->n_inputs, observations->keys[i], i, observations->count);
    if (name == NULL) {
      return import_error(import, observations, "the model has no input '%.60s'", observations->keys[i]);
    }
    TRY(give_observation(import, name, &observations->items[i]));
  }
  return status_ok();
}

/* --- asset_meta.json ----------------------------------------------------------------------------------- */

static assay_status read_asset(struct import *import, const struct foreign *root) {
  const struct foreign *names, *positions;
  TRY(import_get(import, root, "joint_names_isaac", &names));
  TRY(import_get(import, root, "default_joint_pos", &positions));
  const char *const *joints;
  int32_t count;
  if (names == NULL || positions == NULL) {
    return import_error(import, root, "'joint_names_isaac' or 'default_joint_pos' is null");
  }
  TRY(import_words(import, names, "joint_names_isaac", &joints, &count));
  if (positions->kind != FOREIGN_LIST || positions->count != count) {
    return import_error(import, positions, "'default_joint_pos' is not a list of the %d joints in 'joint_names_isaac'",
                        (int)count);
  }
  TRY(facts_joints(import->facts, import_place(import, names), joints, count));
  return give_column(import, root, "default_joint_pos", "the default position", &import->facts->default_pos);
}

assay_status muwanx_read(struct import *import) {
  const struct foreign *root = import->file->yaml.documents;
  if (has(root, "obs_config")) {
    return read_policy(import, root);
  }
  if (has(root, "joint_names_isaac")) {
    return read_asset(import, root);
  }
  struct fact_output *output;
  TRY(give_inputs(import, root));
  return find_output(import, root, &output);
}
