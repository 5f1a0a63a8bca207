/* Parameters of ros2_control controllers that run a policy: a file of `ros__parameters`, and the schema of
 * generate_parameter_library beside it, whose default values hold where no parameter is given. A controller's
 * observation is in its C++; the one that is known here is motion_controller/MotionController of ros2_control_demos. */
#include <math.h>
#include <string.h>

#include "contract/importer.h"

/* A schema gives each parameter a type. */
static bool is_schema(const struct foreign *root) {
  bool any = root->kind == FOREIGN_MAP && root->count > 0;
  for (int32_t i = 0; any && i < root->count; i++) {
    const struct foreign *node = &root->items[i];
    any = node->kind == FOREIGN_MAP && node->count > 0 && foreign_get(&node->items[0], "type") != NULL &&
          foreign_get(&node->items[0], "description") != NULL;
  }
  return any;
}

static bool is_parameters(const struct foreign *root) {
  for (int32_t i = 0; root->kind == FOREIGN_MAP && i < root->count; i++) {
    if (foreign_get(&root->items[i], "ros__parameters") != NULL) {
      return true;
    }
  }
  return false;
}

int ros2_control_recognise(const struct import_file *file) {
  if (!file->is_text) {
    return IMPORT_NO;
  }
  const struct foreign *root = file->yaml.documents;
  return is_parameters(root) ? IMPORT_SURE : is_schema(root) ? IMPORT_LIKELY : IMPORT_NO;
}

/* The controller that runs the policy, and where its parameters come from. */
struct controller {
  struct import *import;
  const struct import_file *file; /* of the parameters */
  const char *name, *type;        /* type NULL: no controller_manager says */
  const struct foreign *parameters, *manager;
  const struct import_file *schema_file;
  const struct foreign *schema; /* NULL: no file gives it */
  const char *const *joints;
  int32_t n_joints;
};

/* A parameter: given, or the schema's default. *out is NULL where neither is. Places are of the file that has it. */
static assay_status parameter(struct controller *c, const char *key, const struct foreign **out) {
  c->import->file = c->file;
  TRY(import_get(c->import, c->parameters, key, out));
  if (*out == NULL && c->schema != NULL) {
    c->import->file = c->schema_file;
    const struct foreign *row;
    TRY(import_get(c->import, c->schema, key, &row));
    TRY(import_get(c->import, row, "default_value", out));
  }
  return status_ok();
}

static assay_status parameter_number(struct controller *c, const char *key, bool *given, double *out,
                                     struct place *place) {
  const struct foreign *node;
  TRY(parameter(c, key, &node));
  *given = node != NULL;
  if (node == NULL) {
    return status_ok();
  }
  *place = import_place(c->import, node);
  return import_number(c->import, node, key, out);
}

/* --- which controller ------------------------------------------------------------------------------- */

static assay_status find_in_file(struct controller *c, const struct import_file *file) {
  const struct foreign *root = file->yaml.documents;
  for (int32_t i = 0; i < root->count; i++) {
    const struct foreign *parameters = foreign_get(&root->items[i], "ros__parameters");
    if (foreign_get(parameters, "update_rate") != NULL) {
      c->manager = parameters;
    }
    if (foreign_get(parameters, "model_path") == NULL || foreign_get(parameters, "joints") == NULL) {
      continue;
    }
    c->import->file = file;
    if (c->parameters != NULL) {
      return import_error(c->import, parameters, "'%s' and '%s' both have a model_path; give a file with one of them",
                          c->name, root->keys[i]);
    }
    c->file = file;
    c->name = root->keys[i];
    c->parameters = parameters;
  }
  return status_ok();
}

static assay_status find_controller(struct controller *c, const struct import_file *const *files, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    if (is_parameters(files[i]->yaml.documents)) {
      TRY(find_in_file(c, files[i]));
    }
  }
  c->import->file = files[0];
  if (c->parameters == NULL) {
    return import_error(c->import, NULL,
                        "no controller here has both 'joints' and 'model_path', so none is known to run a policy");
  }
  for (int32_t i = 0; i < count; i++) {
    const struct foreign *schema = foreign_get(files[i]->yaml.documents, c->name);
    if (schema != NULL && !is_parameters(files[i]->yaml.documents)) {
      c->schema = schema;
      c->schema_file = files[i];
    }
  }
  c->type = foreign_text(foreign_get(foreign_get(c->manager, c->name), "type"));
  return status_ok();
}

/* --- what every controller says ------------------------------------------------------------------------ */

static assay_status give_joints(struct controller *c) {
  const struct foreign *node;
  TRY(parameter(c, "joints", &node));
  if (node == NULL) {
    return import_error(c->import, c->parameters, "'joints' of '%.80s' is null", c->name);
  }
  TRY(import_words(c->import, node, "joints", &c->joints, &c->n_joints));
  return facts_joints(c->import->facts, import_place(c->import, node), c->joints, c->n_joints);
}

static assay_status give_period(struct controller *c) {
  struct facts *facts = c->import->facts;
  const struct foreign *rate = foreign_get(c->manager, "update_rate");
  if (rate != NULL) {
    double hertz;
    c->import->file = c->file;
    TRY(import_number(c->import, rate, "update_rate", &hertz));
    if (!(hertz > 0)) {
      return import_error(c->import, rate, "'update_rate' is %g, which is no rate", hertz);
    }
    TRY(facts_number(facts, &facts->period_ms, "the control period", import_place(c->import, rate), 1000 / hertz));
  }
  bool given;
  double seconds;
  struct place place;
  TRY(parameter_number(c, "training_control_period", &given, &seconds, &place));
  return given ? facts_number(facts, &facts->period_ms, "the control period", place, seconds * 1000) : status_ok();
}

static assay_status give_defaults(struct controller *c) {
  const struct foreign *node;
  TRY(parameter(c, "default_joint_positions", &node));
  if (node == NULL || (node->kind == FOREIGN_LIST && node->count == 0)) {
    return status_ok();
  }
  const double *values;
  int32_t count;
  TRY(import_numbers(c->import, node, "default_joint_positions", &values, &count));
  if (count != c->n_joints) {
    return import_error(c->import, node, "'default_joint_positions' has %d numbers for %d joints", (int)count,
                        (int)c->n_joints);
  }
  return facts_column(c->import->facts, &c->import->facts->default_pos, "the default position",
                      import_place(c->import, node), values, count, FACT_EXACT);
}

static assay_status give_output(struct controller *c) {
  struct facts *facts = c->import->facts;
  struct fact_output *output;
  bool given;
  double scale;
  struct place place;
  c->import->file = c->file;
  TRY(facts_output(facts, import_place(c->import, c->parameters), NULL, &output));
  TRY(parameter_number(c, "action_scale", &given, &scale, &place));
  if (given) {
    TRY(facts_numbers(facts, &output->scale, "the action scale", place, &scale, 1, FACT_EXACT));
  }
  return status_ok();
}

/* --- motion_controller/MotionController ------------------------------------------------------------------ */

static const struct known_term terms[] = {
    {"gyro", "rad/s", "x y z", FACT_SENSOR},
    {"accelerometer", "m/s²", "x y z", FACT_SENSOR},
    {"velocity_commands", NULL, "lin_vel_x lin_vel_y ang_vel_z neck_pitch head_pitch head_yaw head_roll", FACT_SENSOR},
    {"joint_pos", "rad", "*", FACT_SENSOR},
    {"joint_vel", "rad/s", "*", FACT_SENSOR},
    {"last_action", NULL, "*", FACT_OUTPUT},
    {"last_action_2", NULL, "*", FACT_OUTPUT},
    {"last_action_3", NULL, "*", FACT_OUTPUT},
    {"motor_targets", "rad", "*", FACT_SENSOR},
    {"feet_contacts", NULL, "left right", FACT_SENSOR},
    {"phase", NULL, "", FACT_CLOCK},
};
enum {
  TERMS = sizeof terms / sizeof *terms,
  GYRO = 0,
  ACCELEROMETER = 1,
  JOINT_POS = 3,
  JOINT_VEL = 4,
  LAST_ACTION = 5,
  MOTOR_TARGETS = 8,
  PHASE = 10,
  FIXED = 17,
  OF_JOINTS = 6
};

/* What the controller takes by position from the broadcaster must be what its file lists there. */
static assay_status check_interfaces(struct controller *c) {
  enum { BEFORE = 10 };
  const struct foreign *root = c->file->yaml.documents, *list = NULL;
  for (int32_t i = 0; i < root->count && list == NULL; i++) {
    list = foreign_at(&root->items[i], "ros__parameters/interfaces");
  }
  c->import->file = c->file;
  for (int32_t i = 0; list != NULL && list->kind == FOREIGN_LIST && i < 2 * c->n_joints; i++) {
    const char *joint = c->joints[i % c->n_joints], *what = i < c->n_joints ? "position" : "velocity";
    const struct foreign *item = BEFORE + i < list->count ? &list->items[BEFORE + i] : NULL;
    const char *name = item != NULL ? foreign_text(item) : NULL;
    size_t length = strlen(joint);
    if (name == NULL || strncmp(name, joint, length) != 0 || name[length] != '/' ||
        strcmp(name + length + 1, what) != 0) {
      return import_error(c->import, item != NULL ? item : list,
                          "the controller takes interface %d as '%s/%s', and %s%.80s stands there", (int)(BEFORE + i),
                          joint, what, name != NULL ? "" : "nothing", name != NULL ? name : "");
    }
  }
  return status_ok();
}

static assay_status give_accelerometer(struct controller *c, struct fact_term *term) {
  static const double forward[] = {1.3, 0, 0}, down[] = {1, 1, -1};
  TRY(facts_numbers(c->import->facts, &term->offset, "the offset of the accelerometer", term->place, forward, 3,
                    FACT_EXACT));
  const struct foreign *node;
  bool upside_down = false;
  TRY(parameter(c, "imu_upside_down", &node));
  if (node == NULL) {
    return status_ok();
  }
  if (!foreign_flag(node, &upside_down)) {
    return import_error(c->import, node, "'imu_upside_down' is neither true nor false");
  }
  return upside_down ? facts_numbers(c->import->facts, &term->scale, "imu_upside_down", import_place(c->import, node),
                                     down, 3, FACT_EXACT)
                     : status_ok();
}

/* The clock turns once in phase_period steps, faster by the factor's offset, and has turned through the time before
 * the policy is first asked. */
static assay_status give_phase(struct controller *c, struct fact_term *term) {
  struct facts *facts = c->import->facts;
  bool has_period, has_factor, has_delay;
  double steps = 0, factor = 0, delay = 0;
  struct place place = term->place, other = term->place;
  TRY(facts_text(facts, &term->clock_as, "what the clock is fed as", term->place, "[cos, sin]"));
  TRY(parameter_number(c, "phase_frequency_factor_offset", &has_factor, &factor, &other));
  TRY(parameter_number(c, "phase_period", &has_period, &steps, &place));
  TRY(parameter_number(c, "stabilization_delay", &has_delay, &delay, &other));
  bool turns = has_period && 1 + factor > 0 && steps > 0;
  if (turns && facts->period_ms.given) {
    TRY(facts_number(facts, &term->period_s, "the period of the gait", place,
                     steps / (1 + factor) * facts->period_ms.value / 1000));
  }
  if (!has_delay) {
    return facts_ask(facts, &term->open, "start",
                     "the share of a turn that has gone by when the policy is first asked; stabilization_delay tells");
  }
  return facts_number(facts, &term->clock_start, "the start of the clock", other, fmax(delay, 1));
}

static assay_status give_terms(struct controller *c, struct fact_input *input, struct place place) {
  struct import *import = c->import;
  const char *names[TERMS];
  struct place places[TERMS];
  for (int32_t i = 0; i < TERMS; i++) {
    names[i] = terms[i].name;
    places[i] = place;
  }
  TRY(facts_terms(import->facts, input, place, names, places, TERMS));
  for (int32_t i = 0; i < TERMS; i++) {
    bool known;
    TRY(import_known_term(import, terms, TERMS, names[i], place, &input->terms[i], &known));
  }
  for (int32_t lag = 0; lag < 3; lag++) {
    input->terms[LAST_ACTION + lag].lag = lag + 1;
  }
  input->terms[JOINT_POS].minus_default = true;
  static const double velocity_scale = 0.05;
  TRY(facts_numbers(import->facts, &input->terms[JOINT_VEL].scale, "the scale of the velocities", place,
                    &velocity_scale, 1, FACT_EXACT));
  TRY(give_accelerometer(c, &input->terms[ACCELEROMETER]));
  return give_phase(c, &input->terms[PHASE]);
}

/* What the program does besides, which a contract cannot say. */
static assay_status give_remarks(struct controller *c) {
  struct facts *facts = c->import->facts;
  bool given;
  double value;
  struct place place;
  TRY(parameter_number(c, "gyro_deadband", &given, &value, &place));
  if (given && value > 0) {
    TRY(facts_remark(facts, place, "gyro is what is left after the dead band of %g rad/s", value));
  }
  TRY(parameter_number(c, "max_motor_velocity", &given, &value, &place));
  if (given) {
    TRY(facts_remark(facts, place,
                     "motor_targets is what the controller sent last, blended in and limited to %g rad/s: it is "
                     "recorded with the sensors",
                     value));
  }
  TRY(parameter_number(c, "dof_vel_scale", &given, &value, &place));
  if (given && value != 0.05) {
    TRY(facts_remark(facts, place, "the controller does not read dof_vel_scale: it scales velocities by 0.05"));
  }
  return status_ok();
}

static assay_status give_motion_controller(struct controller *c) {
  struct facts *facts = c->import->facts;
  TRY(check_interfaces(c));
  struct fact_input *input;
  c->import->file = c->file;
  struct place place = import_place(c->import, c->parameters);
  TRY(facts_input(facts, place, NULL, &input));
  TRY(give_terms(c, input, place));
  static const char *const unit[] = {"rad"};
  struct fact_output *output;
  TRY(facts_output(facts, place, NULL, &output));
  TRY(facts_words(facts, &output->units, "the unit of the action", place, unit, 1));
  output->plus_default = true;
  return give_remarks(c);
}

/* The sizes that the file states, and whether they are those of the known controller. */
static assay_status check_sizes(struct controller *c, bool *fits) {
  struct facts *facts = c->import->facts;
  bool given;
  double size;
  struct place place;
  TRY(parameter_number(c, "model_input_size", &given, &size, &place));
  *fits = !given || size == FIXED + OF_JOINTS * (double)c->n_joints;
  if (given) {
    struct fact_input *input;
    TRY(facts_input(facts, place, NULL, &input));
    TRY(facts_number(facts, &input->size, "the size of the observation", place, size));
  }
  return status_ok();
}

assay_status ros2_control_finish(struct import *import, const struct import_file *const *files, int32_t count) {
  struct controller c = {.import = import};
  TRY(find_controller(&c, files, count));
  TRY(give_joints(&c));
  TRY(give_period(&c));
  TRY(give_defaults(&c));
  TRY(give_output(&c));
  bool fits;
  TRY(check_sizes(&c, &fits));
  if (fits && c.type != NULL && strcmp(c.type, "motion_controller/MotionController") == 0) {
    return give_motion_controller(&c);
  }
  import->file = c.file;
  return facts_remark(import->facts, import_place(import, c.parameters),
                      "what the controller '%.60s' builds is in its program, so the terms of its observation stay open",
                      c.type != NULL ? c.type : c.name);
}
