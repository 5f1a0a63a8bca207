/* What exporters leave in a model's metadata: Isaac Lab's and mjlab's keys (joint_names, joint_stiffness,
 * joint_damping, default_joint_pos, action_scale, observation_names), lists written with commas and three decimals,
 * and K-Scale's kinfer_metadata, a JSON object. Values stand beside joint_names, in their order. */
#include <string.h>

#include "contract/contract_metadata.h"
#include "contract/importer.h"
#include "contract/isaac_terms.h"
#include "core/text.h"

/* One model's metadata being read. */
struct metadata {
  struct import import;
  const struct signature *signature;
  const char *model;
};

static struct place place_of(const struct metadata *metadata, const char *key) {
  return (struct place){.file = metadata->model, .key = key};
}

static assay_status read_list(struct metadata *metadata, const char *key, struct metadata_list *list) {
  const char *value = metadata_find(metadata->signature, key);
  *list = (struct metadata_list){0};
  if (value == NULL || value[0] == '\0' || text_equal(value, "None")) {
    return status_ok();
  }
  return metadata_list(metadata->import.arena, value, list);
}

/* A column of the joints. Exporters round to three decimals. */
static assay_status read_column(struct metadata *metadata, const char *key, const char *what, int32_t n_joints,
                                struct fact_numbers *slot) {
  struct metadata_list list;
  TRY(read_list(metadata, key, &list));
  if (list.count == 0) {
    return status_ok();
  }
  if (list.count != n_joints && list.count != 1) {
    return import_invalid(place_of(metadata, key), "'%s' has %d numbers, but 'joint_names' has %d joints", key,
                          (int)list.count, (int)n_joints);
  }
  double *values;
  ARENA_NEW(metadata->import.arena, values, list.count);
  for (int32_t i = 0; i < list.count; i++) {
    if (!metadata_number(list.words[i], &values[i])) {
      return import_invalid(place_of(metadata, key), "'%s' must hold numbers; '%.60s' stands there", key,
                            list.words[i]);
    }
  }
  return facts_column(metadata->import.facts, slot, what, place_of(metadata, key), values, list.count,
                      FACT_THREE_DECIMALS);
}

/* Names of terms as the training gave them. Those that are a function's name too say what they hold; of joint_pos
 * it stays open whether the default position is taken off. */
static assay_status read_observations(struct metadata *metadata) {
  struct metadata_list list;
  TRY(read_list(metadata, "observation_names", &list));
  if (list.count == 0 || list.count > FACT_TERMS_MAX) {
    return status_ok();
  }
  struct facts *facts = metadata->import.facts;
  struct place place = place_of(metadata, "observation_names"), *places;
  ARENA_NEW(metadata->import.arena, places, list.count);
  for (int32_t i = 0; i < list.count; i++) {
    places[i] = place;
  }
  struct fact_input *input;
  TRY(facts_input(facts, place, NULL, &input));
  TRY(facts_terms(facts, input, place, (const char *const *)list.words, places, list.count));
  for (int32_t i = 0; i < list.count; i++) {
    struct fact_term *term = &input->terms[i];
    bool action = text_equal(term->name, "actions") || text_equal(term->name, "action"), known;
    TRY(isaac_term(&metadata->import, action ? "last_action" : term->name, place, term, &known));
    if (text_equal(term->name, "joint_pos")) {
      TRY(facts_ask(facts, &term->open, "offset",
                    "minus the default positions if the term is joint_pos_rel; otherwise take the key out"));
    }
  }
  return status_ok();
}

static assay_status read_isaac(struct metadata *metadata) {
  struct facts *facts = metadata->import.facts;
  struct metadata_list names;
  TRY(read_list(metadata, "joint_names", &names));
  if (names.count == 0) {
    return status_ok();
  }
  struct place place = place_of(metadata, "joint_names");
  TRY(facts_joints(facts, place, (const char *const *)names.words, names.count));
  TRY(read_column(metadata, "joint_stiffness", "the stiffness", names.count, &facts->kp));
  TRY(read_column(metadata, "joint_damping", "the damping", names.count, &facts->kd));
  TRY(read_column(metadata, "default_joint_pos", "the default position", names.count, &facts->default_pos));
  struct fact_output *output;
  TRY(facts_output(facts, place, NULL, &output));
  TRY(read_column(metadata, "action_scale", "the scale of the action", names.count, &output->scale));
  TRY(read_column(metadata, "default_joint_pos", "the offset of the action", names.count, &output->offset));
  static const char *const unit = "rad";
  if (output->scale.count > 0) { /* Isaac Lab and mjlab write these keys for JointPositionAction alone */
    TRY(facts_words(facts, &output->units, "the unit of the action", place_of(metadata, "action_scale"), &unit, 1));
  }
  return read_observations(metadata);
}

/* --- K-Scale ------------------------------------------------------------------------- */

static assay_status kinfer_number(struct metadata *metadata, const struct foreign *root, const char *key, double *out,
                                  bool *given) {
  const struct foreign *node;
  TRY(import_get(&metadata->import, root, key, &node));
  *given = node != NULL;
  return node != NULL ? import_number(&metadata->import, node, key, out) : status_ok();
}

static assay_status kinfer_remark(struct metadata *metadata, const struct foreign *root, const char *key) {
  const struct foreign *node;
  TRY(import_get(&metadata->import, root, key, &node));
  if (node == NULL) {
    return status_ok();
  }
  const double *values;
  int32_t count;
  TRY(import_numbers(&metadata->import, node, key, &values, &count));
  struct text list = {0};
  for (int32_t i = 0; i < count && i < 32; i++) {
    text_format(&list, "%s%.9g", i > 0 ? ", " : "", values[i]);
  }
  assay_status status =
      facts_remark(metadata->import.facts, place_of(metadata, "kinfer_metadata"), "%s: %s", key, text_string(&list));
  text_free(&list);
  return status;
}

/* What the exporter's own documentation says of its inputs; the scales are inside the model. Which unit a command has
 * it does not say. */
static const struct kinfer_input {
  const char *name, *unit;
} kinfer_inputs[] = {
    {"x_vel", NULL},
    {"y_vel", NULL},
    {"rot", NULL},
    {"t", "s"},
    {"dof_pos", "rad"},
    {"dof_vel", "rad/s"},
    {"prev_actions", NULL},
    {"imu_ang_vel", "rad/s"},
    {"imu_euler_xyz", "rad"},
    {"projected_gravity", NULL},
};

/* The tensor of that name, or of that name with the number that TorchScript adds: dof_pos.1. */
static const char *kinfer_tensor(const struct signature_tensor *tensors, int32_t count, const char *name) {
  size_t length = strlen(name);
  for (int32_t i = 0; i < count; i++) {
    const char *rest = text_starts_with(tensors[i].name, name) ? tensors[i].name + length : NULL;
    if (rest != NULL && (rest[0] == '\0' || (rest[0] == '.' && rest[1 + strspn(rest + 1, "0123456789")] == '\0'))) {
      return tensors[i].name;
    }
  }
  return NULL;
}

/* The answer before scaling comes back as prev_actions, and the observations so far as buffer, which starts at 0. */
static assay_status kinfer_io(struct metadata *metadata, const struct foreign *params, struct place place) {
  const struct signature *s = metadata->signature;
  struct facts *facts = metadata->import.facts;
  const char *actions = kinfer_tensor(s->outputs, s->n_outputs, "actions");
  const char *buffer = kinfer_tensor(s->inputs, s->n_inputs, "buffer"),
             *next = kinfer_tensor(s->outputs, s->n_outputs, "x");
  for (size_t i = 0; i < sizeof kinfer_inputs / sizeof *kinfer_inputs; i++) {
    const struct kinfer_input *known = &kinfer_inputs[i];
    const char *tensor = kinfer_tensor(s->inputs, s->n_inputs, known->name);
    struct fact_input *input;
    if (tensor == NULL || foreign_get(params, known->name) == NULL) {
      continue;
    }
    TRY(facts_input(facts, place, tensor, &input));
    if (text_equal(known->name, "prev_actions") && actions != NULL) {
      input->origin = FACT_OUTPUT;
      input->output = actions;
      input->lag = 1;
    } else if (known->unit != NULL) {
      TRY(facts_text(facts, &input->unit, "the unit of an input", place, known->unit));
    } else {
      TRY(facts_ask(facts, &input->open, "unit", "the exporter does not say it"));
    }
  }
  bool stacked = buffer != NULL && next != NULL && foreign_get(params, "buffer") != NULL;
  return stacked ? facts_state(facts, place, buffer, next, "zeros") : status_ok();
}

/* The model that K-Scale's exporter wrote takes measured values and scales them inside, so that only the time
 * between steps is the contract's; gains stand there without the names that they belong to. */
static assay_status read_kinfer(struct metadata *metadata) {
  const char *value = metadata_find(metadata->signature, "kinfer_metadata");
  if (value == NULL) {
    return status_ok();
  }
  struct import_file file = {.path = metadata->model, .name = metadata->model, .data = value, .size = strlen(value)};
  TRY(foreign_parse(value, strlen(value), metadata->model, metadata->import.arena, &file.yaml));
  if (file.yaml.n_documents == 0 || file.yaml.documents[0].kind != FOREIGN_MAP) {
    return import_invalid(place_of(metadata, "kinfer_metadata"), "'kinfer_metadata' must hold a JSON object");
  }
  metadata->import.file = &file;
  const struct foreign *root = &file.yaml.documents[0];
  double dt = 0, decimation = 0;
  bool has_dt, has_decimation;
  TRY(kinfer_number(metadata, root, "sim_dt", &dt, &has_dt));
  TRY(kinfer_number(metadata, root, "sim_decimation", &decimation, &has_decimation));
  struct facts *facts = metadata->import.facts;
  struct place place = place_of(metadata, "kinfer_metadata");
  if (has_dt && has_decimation) {
    TRY(facts_number(facts, &facts->period_ms, "the control period in ms", place, dt * decimation * 1000));
  }
  const struct foreign *params;
  TRY(import_get(&metadata->import, root, "input_params", &params));
  TRY(kinfer_io(metadata, params, place));
  static const char *const remarks[] = {"cycle_time",       "action_scale",  "default_standing", "robot_stiffness",
                                        "robot_damping",    "robot_effort",  "frame_stack",      "clip_actions",
                                        "lin_vel_scale",    "ang_vel_scale", "dof_pos_scale",    "dof_vel_scale",
                                        "clip_observations"};
  for (size_t i = 0; i < sizeof remarks / sizeof *remarks; i++) {
    TRY(kinfer_remark(metadata, root, remarks[i]));
  }
  metadata->import.file = NULL;
  return status_ok();
}

assay_status import_metadata(const struct import_models *models, struct facts *facts) {
  for (int32_t i = 0; i < models->count; i++) {
    struct metadata metadata = {.import = {.models = models, .facts = facts, .arena = facts->arena},
                                .signature = models->signatures[i],
                                .model = models->names[i]};
    TRY(read_isaac(&metadata));
    TRY(read_kinfer(&metadata));
  }
  return status_ok();
}
