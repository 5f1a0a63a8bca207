/* The stages of a contract as they are written: files, names, loops. What their files hold is not known here; whatever
 * can be told to be wrong without them is refused, with line and column. */
#include <math.h>
#include <string.h>

#include "contract/contract_reader.h"
#include "contract/stages.h"
#include "contract/terms.h"

/* A mapping of names, such as {mlp_input: history}. */
static assay_status read_links(struct reader *reader, const struct yaml *node, const char *what,
                               const struct stage_link **out, int32_t *count) {
  TRY(yaml_expect(&reader->file, node, YAML_MAPPING, what));
  struct stage_link *links;
  ARENA_NEW(reader->arena, links, node->count + 1);
  for (int32_t i = 0; i < node->count; i++) {
    char item[WHAT_SIZE];
    what_format(item, "'%.80s' of %s", node->keys[i], what);
    links[i].tensor = node->keys[i];
    links[i].mark = node->key_marks[i];
    TRY(yaml_string(&reader->file, &node->items[i], item, &links[i].value));
  }
  *out = links;
  *count = node->count;
  return status_ok();
}

static assay_status stage_name(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  struct contract_stage *stage = member;
  TRY(yaml_string(&reader->file, node, what, &stage->name));
  if (*stage->name == '\0' || strpbrk(stage->name, "/@") != NULL) {
    return yaml_error(&reader->file, node->mark,
                      "%s is '%.60s'; a name of a stage is not empty and holds no '/' or '@'", what, stage->name);
  }
  return status_ok();
}

static assay_status stage_inputs(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  struct contract_stage *stage = member;
  return read_links(reader, node, what, &stage->inputs, &stage->n_inputs);
}

static assay_status stage_outputs(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  struct contract_stage *stage = member;
  return read_links(reader, node, what, &stage->outputs, &stage->n_outputs);
}

static assay_status stage_carry(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  struct contract_stage *stage = member;
  TRY(read_links(reader, node, what, &stage->carry, &stage->n_carry));
  if (stage->n_carry == 0) {
    return yaml_error(&reader->file, node->mark, "%s is empty; write {INPUT: OUTPUT}, tensors of the stage's file",
                      what);
  }
  for (int32_t i = 0; i < stage->n_carry; i++) {
    for (int32_t j = 0; j < i; j++) {
      if (text_equal(stage->carry[i].value, stage->carry[j].value)) {
        return yaml_error(&reader->file, stage->carry[i].mark, "%s carries the output '%s' to two inputs; name one",
                          what, stage->carry[i].value);
      }
    }
  }
  return status_ok();
}

static assay_status stage_each(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  struct contract_stage *stage = member;
  TRY(yaml_expect(&reader->file, node, YAML_SEQUENCE, what));
  if (node->count == 0 || node->count > STAGE_EACH_MAX) {
    return yaml_error(&reader->file, node->mark, "%s names %d values; it must name 1 to %d, such as [front, wrist]",
                      what, (int)node->count, STAGE_EACH_MAX);
  }
  struct stage_link *each;
  ARENA_NEW(reader->arena, each, node->count);
  for (int32_t i = 0; i < node->count; i++) {
    TRY(yaml_string(&reader->file, &node->items[i], what, &each[i].value));
    each[i].mark = node->items[i].mark;
    for (int32_t j = 0; j < i; j++) {
      if (text_equal(each[i].value, each[j].value)) {
        return yaml_error(&reader->file, each[i].mark, "%s names '%s' twice", what, each[i].value);
      }
    }
  }
  stage->each = each;
  stage->n_each = node->count;
  return status_ok();
}

static assay_status stage_joined(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  static const char *const keys[] = {"concat", "stack"};
  struct contract_stage *stage = member;
  const struct yaml *value;
  int32_t which;
  int64_t axis = 0;
  char inner[WHAT_SIZE];
  TRY(read_step_key(reader, node, what, keys, 2, &which, &value));
  what_format(inner, "'%s' of %s", keys[which], what);
  TRY(yaml_int(&reader->file, value, inner, 0, ASSAY_RANK_MAX - 1, &axis));
  stage->join = which == 0 ? STAGE_CONCAT : STAGE_STACK;
  stage->join_axis = (int32_t)axis;
  return status_ok();
}

static assay_status stage_repeat(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  int64_t repeat = 0;
  TRY(yaml_int(&reader->file, node, what, 1, STAGE_TURNS_MAX, &repeat));
  ((struct contract_stage *)member)->repeat = (int32_t)repeat;
  return status_ok();
}

static assay_status time_values(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  struct stage_time *time = member;
  return read_numbers(reader, node, what, &time->values, &time->n_values);
}

static assay_status time_shape(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  struct stage_time *time = member;
  TRY(read_shape(reader, node, what, &time->rank, time->dims));
  for (int32_t d = 0; d < time->rank; d++) {
    if (time->dims[d].min != time->dims[d].max) {
      return yaml_error(&reader->file, node->mark, "%s has a dimension that varies; the time needs fixed sizes", what);
    }
  }
  return status_ok();
}

static assay_status stage_clock(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  static const struct field fields[] = {
      {"input", read_text, offsetof(struct stage_time, input), FIELD_REQUIRED},
      {"values", time_values, 0, FIELD_OPTIONAL},
      {"from", read_number, offsetof(struct stage_time, from), FIELD_OPTIONAL},
      {"step", read_number, offsetof(struct stage_time, step), FIELD_OPTIONAL},
      {"shape", time_shape, 0, FIELD_OPTIONAL},
  };
  struct stage_time *time = &((struct contract_stage *)member)->time;
  time->mark = node->mark;
  time->rank = -1;
  TRY(FIELDS_READ(reader, node, fields, what, time));
  bool values = yaml_get(node, "values") != NULL, from = yaml_get(node, "from") != NULL,
       step = yaml_get(node, "step") != NULL;
  if (values == (from || step) || from != step) {
    return yaml_error(&reader->file, node->mark,
                      "%s says the time of each turn by 'values', or by 'from' with 'step'; give one of the two", what);
  }
  return status_ok();
}

static const struct field stage_fields[] = {
    {"name", stage_name, 0, FIELD_REQUIRED},
    {"model", read_text, offsetof(struct contract_stage, model), FIELD_REQUIRED},
    {"inputs", stage_inputs, 0, FIELD_OPTIONAL},
    {"outputs", stage_outputs, 0, FIELD_OPTIONAL},
    {"for_each", stage_each, 0, FIELD_OPTIONAL},
    {"join", stage_joined, 0, FIELD_OPTIONAL},
    {"repeat", stage_repeat, 0, FIELD_OPTIONAL},
    {"carry", stage_carry, 0, FIELD_OPTIONAL},
    {"time", stage_clock, 0, FIELD_OPTIONAL},
};

/* --- what belongs together ------------------------------------------------------- */

static const struct stage_link *find_tensor(const struct stage_link *links, int32_t count, const char *tensor) {
  for (int32_t i = 0; i < count; i++) {
    if (text_equal(links[i].tensor, tensor)) {
      return &links[i];
    }
  }
  return NULL;
}

static assay_status check_loop(const struct reader *reader, const struct yaml *node, const struct contract_stage *stage,
                               const char *what) {
  bool repeats = yaml_get(node, "repeat") != NULL;
  const struct yaml *carry = yaml_get(node, "carry"), *time = yaml_get(node, "time"), *join = yaml_get(node, "join");
  if (repeats && carry == NULL) {
    return yaml_error(&reader->file, yaml_get(node, "repeat")->mark,
                      "%s repeats but carries nothing from turn to turn; add `carry: {INPUT: OUTPUT}`", what);
  }
  if (!repeats && (carry != NULL || time != NULL)) {
    return yaml_error(&reader->file, carry != NULL ? carry->mark : time->mark,
                      "%s has '%s', which belongs to a loop; add `repeat: N`", what, carry != NULL ? "carry" : "time");
  }
  if (repeats && stage->n_each > 0) {
    return yaml_error(&reader->file, node->mark, "%s has both 'repeat' and 'for_each'; make two stages of it", what);
  }
  if (join != NULL && stage->n_each == 0) {
    return yaml_error(&reader->file, join->mark, "%s has 'join', which belongs to 'for_each'", what);
  }
  if (stage->time.n_values > 0 && stage->time.n_values != stage->repeat) {
    return yaml_error(&reader->file, stage->time.mark, "%s repeats %d times, but 'time' has %d values", what,
                      (int)stage->repeat, (int)stage->time.n_values);
  }
  if (stage->time.input != NULL && (find_tensor(stage->inputs, stage->n_inputs, stage->time.input) != NULL ||
                                    find_tensor(stage->carry, stage->n_carry, stage->time.input) != NULL)) {
    return yaml_error(&reader->file, stage->time.mark, "%s feeds '%s' the time and something else as well", what,
                      stage->time.input);
  }
  return status_ok();
}

/* --- names across stages ----------------------------------------------------------- */

/* The stage whose `outputs` say that it gives `value`, among the first `count`; also as <value>_<item>. */
static int32_t giver_of(const struct contract_stage *stages, int32_t count, const char *value, struct mark *mark) {
  for (int32_t s = 0; s < count; s++) {
    for (int32_t i = 0; i < stages[s].n_outputs; i++) {
      const char *name = stages[s].outputs[i].value;
      size_t length = strlen(name);
      bool gives = text_equal(name, value) && (stages[s].n_each == 0 || stages[s].join != STAGE_APART);
      for (int32_t e = 0; e < stages[s].n_each && stages[s].join == STAGE_APART && !gives; e++) {
        gives = strncmp(value, name, length) == 0 && value[length] == '_' &&
                text_equal(value + length + 1, stages[s].each[e].value);
      }
      if (gives) {
        *mark = stages[s].outputs[i].mark;
        return s;
      }
    }
  }
  return -1;
}

/* What stage `s` takes by name must not come from itself or from a later one. */
static assay_status check_taken(const struct reader *reader, const struct contract_stage *stages, int32_t count,
                                int32_t s, const struct stage_link *link) {
  struct mark mark = {0};
  if (contract_find_input(reader->contract, link->value) != NULL) {
    return status_ok();
  }
  int32_t giver = giver_of(stages, count, link->value, &mark);
  if (giver == s) {
    return yaml_error(&reader->file, link->mark, "stage '%s' takes '%s', which it gives itself; a loop is 'carry'",
                      stages[s].name, link->value);
  }
  if (giver > s) {
    return yaml_error(&reader->file, link->mark,
                      "stage '%s' takes '%s', which the later stage '%s' gives (line %d); stages run in their order",
                      stages[s].name, link->value, stages[giver].name, (int)mark.line);
  }
  return status_ok();
}

/* What a stage says it gives has a name of its own. */
static assay_status check_given(const struct reader *reader, const struct contract_stage *stages, int32_t s,
                                const struct stage_link *link) {
  struct mark mark = {0};
  if (contract_find_input(reader->contract, link->value) != NULL) {
    return yaml_error(&reader->file, link->mark, "stage '%s' gives '%s', which is an input of the contract",
                      stages[s].name, link->value);
  }
  int32_t giver = giver_of(stages, s, link->value, &mark);
  if (giver >= 0) {
    return yaml_error(&reader->file, link->mark, "stage '%s' gives '%s', which stage '%s' gives already (line %d)",
                      stages[s].name, link->value, stages[giver].name, (int)mark.line);
  }
  for (const struct stage_link *other = stages[s].outputs; other < link; other++) {
    if (text_equal(other->value, link->value)) {
      return yaml_error(&reader->file, link->mark, "stage '%s' gives '%s' twice", stages[s].name, link->value);
    }
  }
  return status_ok();
}

static assay_status check_names(const struct reader *reader, const struct contract_stage *stages, int32_t count) {
  for (int32_t s = 0; s < count; s++) {
    for (int32_t i = 0; i < stages[s].n_outputs; i++) {
      TRY(check_given(reader, stages, s, &stages[s].outputs[i]));
    }
    for (int32_t i = 0; i < stages[s].n_inputs; i++) {
      TRY(check_taken(reader, stages, count, s, &stages[s].inputs[i]));
    }
    for (int32_t i = 0; i < stages[s].n_each; i++) {
      TRY(check_taken(reader, stages, count, s, &stages[s].each[i]));
    }
  }
  return status_ok();
}

/* --- inner outputs --------------------------------------------------------------- */

static bool is_named(const struct stage_link *links, int32_t count, const char *value) {
  for (int32_t i = 0; i < count; i++) {
    if (text_equal(links[i].value, value)) {
      return true;
    }
  }
  return false;
}

/* A stage says by name that it takes this output of the contract. */
static bool is_taken(const struct contract_stage *stages, int32_t count, const char *value) {
  for (int32_t s = 0; s < count; s++) {
    if (is_named(stages[s].inputs, stages[s].n_inputs, value) || is_named(stages[s].each, stages[s].n_each, value)) {
      return true;
    }
  }
  return false;
}

/* An inner value that nothing else describes is one component, without a tolerance: shown only. */
static assay_status describe_inner(struct reader *reader, struct contract_output *output) {
  struct contract_component *component;
  ARENA_NEW(reader->arena, component, 1);
  *component = (struct contract_component){.name = output->name,
                                           .mark = output->mark,
                                           .unit = "inner",
                                           .limit_min = (double)NAN,
                                           .limit_max = (double)NAN,
                                           .limit_rate = (double)NAN};
  output->components = component;
  output->n_components = 1;
  output->component_axis = -1;
  output->bare = true;
  return status_ok();
}

static assay_status mark_inner(struct reader *reader, const struct contract_stage *stages, int32_t count) {
  struct contract_output *outputs = (struct contract_output *)reader->contract->outputs; /* still being read */
  for (int32_t i = 0; i < reader->contract->n_outputs; i++) {
    bool bare = outputs[i].n_components == 0; /* the files will tell whether a stage takes it */
    outputs[i].is_inner = bare || is_taken(stages, count, outputs[i].name);
    if (bare) {
      TRY(describe_inner(reader, &outputs[i]));
    }
  }
  return status_ok();
}

assay_status read_stages(struct reader *reader, const struct yaml *node) {
  TRY(yaml_expect(&reader->file, node, YAML_SEQUENCE, "'stages'"));
  if (node->count == 0 || node->count > STAGES_MAX) {
    return yaml_error(&reader->file, node->mark, "'stages' has %d entries; it must have 1 to %d", (int)node->count,
                      STAGES_MAX);
  }
  struct contract_stage *stages;
  struct contract_stages *all;
  ARENA_NEW(reader->arena, stages, node->count);
  ARENA_NEW(reader->arena, all, 1);
  for (int32_t i = 0; i < node->count; i++) {
    char what[WHAT_SIZE];
    what_item(what, &node->items[i], "stage", i);
    stages[i].mark = node->items[i].mark;
    TRY(FIELDS_READ(reader, &node->items[i], stage_fields, what, &stages[i]));
    TRY(check_loop(reader, &node->items[i], &stages[i], what));
    for (int32_t j = 0; j < i; j++) {
      if (text_equal(stages[i].name, stages[j].name)) {
        return yaml_error(&reader->file, stages[i].mark, "stage '%s' stands here again; it was given at line %d",
                          stages[i].name, (int)stages[j].mark.line);
      }
    }
  }
  TRY(check_names(reader, stages, node->count));
  *all = (struct contract_stages){node->count, stages};
  reader->contract->stages = all;
  return mark_inner(reader, stages, node->count);
}

/* An output that a term takes in the same step. */
static bool is_late(const struct contract *contract, const char *output) {
  for (int32_t i = 0; i < contract->n_inputs; i++) {
    const struct contract_terms *terms = contract->inputs[i].terms;
    for (int32_t t = 0; terms != NULL && t < terms->n_terms; t++) {
      const struct contract_term *term = &terms->terms[t];
      if (term->source == TERM_OUTPUT && term->lag == 0 && text_equal(term->output, output)) {
        return true;
      }
    }
  }
  return false;
}

void stages_meet_terms(struct reader *reader) {
  struct contract *contract = reader->contract;
  struct contract_output *outputs = (struct contract_output *)contract->outputs; /* still being read */
  for (int32_t i = 0; i < contract->n_outputs && contract->stages != NULL; i++) {
    outputs[i].is_inner = outputs[i].is_inner || is_late(contract, outputs[i].name);
  }
}
