/* Berkeley Humanoid Lite's policy_*.yaml, which its `play.py` and its robot's program read. The file says joints,
 * gains, scale and sizes; the order of the observation is that of the program, always the same, and is taken only
 * where the sizes that the file states agree with it. */
#include "contract/importer.h"

int berkeley_recognise(const struct import_file *file) {
  if (!file->is_text) {
    return IMPORT_NO;
  }
  const struct foreign *root = file->yaml.documents;
  static const char *const keys[] = {"policy_dt", "joints", "num_observations", "action_indices"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    if (foreign_get(root, keys[i]) == NULL) {
      return IMPORT_NO;
    }
  }
  return IMPORT_SURE;
}

/* What is read before it becomes facts. */
struct berkeley {
  struct import *import;
  const struct foreign *root;
  int64_t n_joints, n_actions, n_observations, history;
  const char *const *joints;
  const struct foreign *joints_node, *actions_node;
  const int32_t *action; /* joint of each action */
};

static assay_status get(const struct berkeley *b, const char *key, const struct foreign **out) {
  TRY(import_get(b->import, b->root, key, out));
  if (*out == NULL) {
    return import_error(b->import, b->root, "'%s' is missing, which files of this format have", key);
  }
  return status_ok();
}

static assay_status get_whole(const struct berkeley *b, const char *key, int64_t min, int64_t max, int64_t *out) {
  const struct foreign *node;
  TRY(get(b, key, &node));
  return import_whole(b->import, node, key, min, max, out);
}

static assay_status read_joints(struct berkeley *b) {
  int32_t count;
  TRY(get(b, "joints", &b->joints_node));
  TRY(import_words(b->import, b->joints_node, "joints", &b->joints, &count));
  TRY(get_whole(b, "num_joints", 1, FACT_ITEMS_MAX, &b->n_joints));
  if (count != b->n_joints) {
    return import_error(b->import, b->joints_node, "'joints' names %d joints, and 'num_joints' says %lld", (int)count,
                        (long long)b->n_joints);
  }
  return get_whole(b, "num_actions", 1, b->n_joints, &b->n_actions);
}

/* action_indices: which joint each number of the action is for. */
static assay_status read_actions(struct berkeley *b) {
  TRY(get(b, "action_indices", &b->actions_node));
  const struct foreign *node = b->actions_node;
  if (node->kind != FOREIGN_LIST || node->count != b->n_actions) {
    return import_error(b->import, node, "'action_indices' is not a list of the %lld that 'num_actions' says",
                        (long long)b->n_actions);
  }
  int32_t *action;
  ARENA_NEW(b->import->arena, action, node->count);
  for (int32_t i = 0; i < node->count; i++) {
    int64_t joint;
    TRY(import_whole(b->import, &node->items[i], "an index of 'action_indices'", 0, b->n_joints - 1, &joint));
    action[i] = (int32_t)joint;
    for (int32_t before = 0; before < i; before++) {
      if (action[before] == joint) {
        return import_error(b->import, &node->items[i], "joint %lld stands twice in 'action_indices'",
                            (long long)joint);
      }
    }
  }
  b->action = action;
  return status_ok();
}

static assay_status give_names(const struct berkeley *b) {
  const char **names;
  ARENA_NEW(b->import->arena, names, b->n_actions);
  for (int64_t i = 0; i < b->n_actions; i++) {
    names[i] = b->joints[b->action[i]];
  }
  return facts_joints(b->import->facts, import_place(b->import, b->joints_node), names, (int32_t)b->n_actions);
}

/* A column of all joints, as one of the actions' joints. */
static assay_status give_column(const struct berkeley *b, const char *key, struct fact_numbers *slot,
                                const char *what) {
  const struct foreign *node;
  TRY(import_get(b->import, b->root, key, &node));
  if (node == NULL) {
    return status_ok();
  }
  const double *all;
  int32_t count;
  TRY(import_numbers(b->import, node, key, &all, &count));
  if (count == 1 && b->n_joints != 1) {
    return facts_column(b->import->facts, slot, what, import_place(b->import, node), all, 1, FACT_EXACT);
  }
  if (count != b->n_joints) {
    return import_error(b->import, node, "'%s' has %d numbers for %lld joints", key, (int)count,
                        (long long)b->n_joints);
  }
  double *column;
  ARENA_NEW(b->import->arena, column, b->n_actions);
  for (int64_t i = 0; i < b->n_actions; i++) {
    column[i] = all[b->action[i]];
  }
  return facts_column(b->import->facts, slot, what, import_place(b->import, node), column, (int32_t)b->n_actions,
                      FACT_EXACT);
}

static assay_status give_number(const struct berkeley *b, const char *key, struct fact_numbers *slot) {
  const struct foreign *node;
  double value;
  TRY(get(b, key, &node));
  TRY(import_number(b->import, node, key, &value));
  return facts_numbers(b->import->facts, slot, key, import_place(b->import, node), &value, 1, FACT_EXACT);
}

static assay_status give_output(const struct berkeley *b) {
  struct facts *facts = b->import->facts;
  struct fact_output *output;
  TRY(facts_output(facts, import_place(b->import, b->root), NULL, &output));
  static const char *const unit[] = {"rad"};
  TRY(facts_words(facts, &output->units, "the unit of the action", import_place(b->import, b->joints_node), unit, 1));
  TRY(give_number(b, "action_limit_lower", &output->clip_raw_low));
  TRY(give_number(b, "action_limit_upper", &output->clip_raw_high));
  TRY(give_number(b, "action_scale", &output->scale));
  output->plus_default = true;
  return status_ok();
}

/* The program's order. */
static const struct known_term terms[] = {
    {"command_velocity", NULL, "lin_vel_x lin_vel_y ang_vel_yaw", FACT_SENSOR},
    {"base_ang_vel", "rad/s", "x y z", FACT_SENSOR},
    {"projected_gravity", NULL, "x y z", FACT_SENSOR},
    {"joint_pos", "rad", "*", FACT_SENSOR},
    {"joint_vel", "rad/s", "*", FACT_SENSOR},
    {"last_action", NULL, "*", FACT_OUTPUT},
};
enum { TERMS = sizeof terms / sizeof *terms, JOINT_POS = 3, LAST_ACTION = 5, FIXED = 9, OF_JOINTS = 3 };

static assay_status give_terms(const struct berkeley *b, const struct foreign *sizes, struct fact_input *input) {
  struct import *import = b->import;
  const char *names[TERMS];
  struct place places[TERMS];
  for (int32_t i = 0; i < TERMS; i++) {
    names[i] = terms[i].name;
    places[i] = import_place(import, sizes);
  }
  TRY(facts_terms(import->facts, input, import_place(import, sizes), names, places, TERMS));
  for (int32_t i = 0; i < TERMS; i++) {
    bool known;
    TRY(import_known_term(import, terms, TERMS, names[i], places[i], &input->terms[i], &known));
  }
  input->terms[JOINT_POS].minus_default = true;
  /* The program keeps the clipped action for the next observation. */
  TRY(give_number(b, "action_limit_lower", &input->terms[LAST_ACTION].clip_low));
  return give_number(b, "action_limit_upper", &input->terms[LAST_ACTION].clip_high);
}

static assay_status give_input(const struct berkeley *b) {
  struct import *import = b->import;
  struct facts *facts = import->facts;
  const struct foreign *sizes, *history;
  TRY(get(b, "num_observations", &sizes));
  TRY(get(b, "history_length", &history));
  struct fact_input *input;
  TRY(facts_input(facts, import_place(import, sizes), NULL, &input));
  TRY(facts_number(facts, &input->size, "the size of the observation", import_place(import, sizes),
                   (double)(b->n_observations * (b->history + 1))));
  if (b->n_observations != FIXED + OF_JOINTS * b->n_actions) {
    return facts_ask(facts, &input->open, "terms",
                     "line %d says %lld observations; the terms that the program is known to build are %lld",
                     (int)sizes->mark.line, (long long)b->n_observations,
                     (long long)(FIXED + OF_JOINTS * b->n_actions));
  }
  TRY(give_terms(b, sizes, input));
  if (b->history == 0) {
    return status_ok();
  }
  struct place place = import_place(import, history);
  TRY(facts_number(facts, &input->history, "the history", place, (double)(b->history + 1)));
  TRY(facts_text(facts, &input->layout, "the layout of the history", place, "time_major"));
  TRY(facts_text(facts, &input->order, "the order of the history", place, "oldest_first"));
  return facts_text(facts, &input->initial, "the start of the history", place, "zeros");
}

assay_status berkeley_read(struct import *import) {
  struct berkeley b = {.import = import, .root = import->file->yaml.documents};
  TRY(read_joints(&b));
  TRY(read_actions(&b));
  TRY(get_whole(&b, "num_observations", 1, 1 << 20, &b.n_observations));
  TRY(get_whole(&b, "history_length", 0, 1000, &b.history));
  const struct foreign *period;
  double seconds;
  TRY(get(&b, "policy_dt", &period));
  TRY(import_number(import, period, "policy_dt", &seconds));
  TRY(facts_number(import->facts, &import->facts->period_ms, "the control period", import_place(import, period),
                   seconds * 1000));
  TRY(give_names(&b));
  TRY(give_column(&b, "joint_kp", &import->facts->kp, "the stiffness"));
  TRY(give_column(&b, "joint_kd", &import->facts->kd, "the damping"));
  TRY(give_column(&b, "effort_limits", &import->facts->effort, "the effort limit"));
  TRY(give_column(&b, "default_joint_positions", &import->facts->default_pos, "the default position"));
  TRY(give_output(&b));
  return give_input(&b);
}
