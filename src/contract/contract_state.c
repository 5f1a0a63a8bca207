/* State pairs: which output is fed back to which input, what it starts from, and when it starts
 * anew. A pair whose tensors do not fit, or an output nobody describes, is refused. */
#include <math.h>
#include <string.h>

#include "contract/contract_reader.h"
#include "contract/finite.h"

/* A pair as it is read; the tensors may be described here instead of under inputs and outputs. */
struct pair {
  struct contract_state state;
  const struct yaml *initial;
  assay_dtype dtype;
  const char *unit;
  struct shape_member shape;
  bool has_shape;
};

static assay_status state_initial(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  (void)reader, (void)what;
  ((struct pair *)member)->initial = node;
  return status_ok();
}

static assay_status state_reset(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  static const char *const words[] = {"episode", "never"};
  int32_t which = 0;
  TRY(yaml_choice(&reader->file, node, what, words, 2, &which));
  ((struct pair *)member)->state.reset_episode = which == 0;
  return status_ok();
}

static assay_status state_tolerance(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  static const struct field fields[] = {
      {"max", read_not_negative, offsetof(struct contract_state, tolerance_max), FIELD_REQUIRED},
  };
  struct pair *pair = member;
  pair->state.has_tolerance = true;
  return FIELDS_READ(reader, node, fields, what, &pair->state);
}

static assay_status state_shape(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  struct pair *pair = member;
  pair->has_shape = true;
  return read_shape(reader, node, what, &pair->shape.rank, pair->shape.dims);
}

static const struct field pair_fields[] = {
    {"input", read_text, offsetof(struct pair, state.input), FIELD_REQUIRED},
    {"output", read_text, offsetof(struct pair, state.output), FIELD_REQUIRED},
    {"initial", state_initial, 0, FIELD_REQUIRED},
    {"reset", state_reset, 0, FIELD_OPTIONAL},
    {"tolerance", state_tolerance, 0, FIELD_OPTIONAL},
    {"dtype", read_dtype, offsetof(struct pair, dtype), FIELD_OPTIONAL},
    {"shape", state_shape, 0, FIELD_OPTIONAL},
    {"unit", read_text, offsetof(struct pair, unit), FIELD_OPTIONAL},
};

/* The tensors of the contract with room for those that pairs describe. */
struct tensors {
  struct contract_input *inputs;
  struct contract_output *outputs;
  int32_t n_inputs, n_outputs;
};

static struct contract_input *find_input(const struct tensors *tensors, const char *name) {
  for (int32_t i = 0; i < tensors->n_inputs; i++) {
    if (text_equal(tensors->inputs[i].name, name)) {
      return &tensors->inputs[i];
    }
  }
  return NULL;
}

static struct contract_output *find_output(const struct tensors *tensors, const char *name) {
  for (int32_t i = 0; i < tensors->n_outputs; i++) {
    if (text_equal(tensors->outputs[i].name, name)) {
      return &tensors->outputs[i];
    }
  }
  return NULL;
}

/* Finds or makes the two tensors of a pair. */
static assay_status pair_tensors(struct reader *reader, const struct yaml *node, const char *what,
                                 const struct pair *pair, struct tensors *tensors, struct contract_input **input,
                                 struct contract_output **output) {
  *input = find_input(tensors, pair->state.input);
  *output = find_output(tensors, pair->state.output);
  bool described = pair->dtype != ASSAY_UNDEFINED && pair->has_shape;
  if (described != (pair->dtype != ASSAY_UNDEFINED || pair->has_shape)) {
    return yaml_error(&reader->file, node->mark, "%s gives one of 'dtype' and 'shape'; give both, or list the tensors",
                      what);
  }
  if (!described && (*input == NULL || *output == NULL)) {
    return yaml_error(&reader->file, node->mark,
                      "%s: %s '%s' is not listed under '%s'; list it there, or give 'dtype' and 'shape' here", what,
                      *input == NULL ? "input" : "output", *input == NULL ? pair->state.input : pair->state.output,
                      *input == NULL ? "inputs" : "outputs");
  }
  if (described && (*input != NULL || *output != NULL)) {
    return yaml_error(&reader->file, node->mark,
                      "%s gives 'dtype' and 'shape', but %s '%s' is listed under '%s' as well; say it in one place",
                      what, *input != NULL ? "input" : "output",
                      *input != NULL ? pair->state.input : pair->state.output, *input != NULL ? "inputs" : "outputs");
  }
  if (described) {
    *input = &tensors->inputs[tensors->n_inputs++];
    **input = (struct contract_input){.name = pair->state.input,
                                      .mark = node->mark,
                                      .dtype = pair->dtype,
                                      .rank = pair->shape.rank,
                                      .raw = pair->state.input,
                                      .unit = pair->unit,
                                      .refuse = true};
    *output = &tensors->outputs[tensors->n_outputs++];
    **output = (struct contract_output){.name = pair->state.output,
                                        .mark = node->mark,
                                        .dtype = pair->dtype,
                                        .rank = pair->shape.rank,
                                        .component_axis = -1,
                                        .horizon_axis = -1};
    memcpy((*input)->dims, pair->shape.dims, sizeof pair->shape.dims);
    memcpy((*output)->dims, pair->shape.dims, sizeof pair->shape.dims);
  }
  return status_ok();
}

static assay_status check_fit(struct reader *reader, const char *what, const struct contract_input *input,
                              const struct contract_output *output, struct mark mark) {
  if (input->dtype != output->dtype) {
    return yaml_error(&reader->file, mark, "%s does not fit: input '%s' is %s, output '%s' is %s", what, input->name,
                      assay_dtype_name(input->dtype), output->name, assay_dtype_name(output->dtype));
  }
  bool same = input->rank == output->rank;
  for (int32_t i = 0; same && i < input->rank; i++) {
    same = input->dims[i].min == output->dims[i].min && input->dims[i].max == output->dims[i].max;
  }
  return same ? status_ok()
              : yaml_error(&reader->file, mark, "%s does not fit: input '%s' and output '%s' have different shapes",
                           what, input->name, output->name);
}

/* The shape of a state without dynamic dimensions; false otherwise. */
static bool fixed_shape(const struct contract_input *input, int64_t *dims) {
  for (int32_t i = 0; i < input->rank; i++) {
    if (input->dims[i].min != input->dims[i].max) {
      return false;
    }
    dims[i] = input->dims[i].min;
  }
  return true;
}

/* A number that the state's type cannot hold would start every sequence from another one. */
static assay_status check_holds(struct reader *reader, const struct yaml *node, const char *what,
                                const struct contract_input *input, double value) {
  unsigned char room[16] = {0};
  assay_tensor one = {.dtype = input->dtype, .rank = 0, .data = room, .bytes = sizeof room};
  tensor_set(&one, 0, value);
  double kept = tensor_get(&one, 0);
  bool holds = dtype_is_float(input->dtype) ? value_is_finite(kept) : kept == value;
  return holds ? status_ok()
               : yaml_error(&reader->file, node->mark, "%s is %.9g, which %s cannot hold", what, value,
                            assay_dtype_name(input->dtype));
}

static assay_status filled(struct reader *reader, const struct yaml *node, const char *what,
                           const struct contract_input *input, const int64_t *dims, double value,
                           assay_tensor *tensor) {
  TRY(check_holds(reader, node, what, input, value));
  TRY(tensor_new_in(reader->arena, input->dtype, dims, input->rank, tensor));
  int64_t count = tensor_count(tensor);
  for (int64_t i = 0; i < count; i++) {
    tensor_set(tensor, i, value);
  }
  return status_ok();
}

/* Copies a tensor that was read into the arena, when it fits. */
static assay_status keep_initial(struct reader *reader, const struct yaml *node, const char *what,
                                 const struct contract_input *input, const int64_t *dims, const assay_tensor *read,
                                 assay_tensor *out) {
  TRY(tensor_new_in(reader->arena, input->dtype, dims, input->rank, out));
  if (read->dtype != out->dtype || !shape_equal(read, out)) {
    struct text found = {0};
    tensor_describe(read, &found);
    text_add(&found, " but the state is ");
    tensor_describe(out, &found);
    assay_status status = yaml_error(&reader->file, node->mark, "%s holds %s", what, text_string(&found));
    text_free(&found);
    return status;
  }
  if (out->bytes > 0) {
    memcpy(out->data, read->data, out->bytes);
  }
  return status_ok();
}

struct initial_file {
  const char *file, *key, *digest;
};

static assay_status read_initial_file(struct reader *reader, const struct yaml *node, const char *what,
                                      const struct contract_input *input, const int64_t *dims, assay_tensor *out) {
  static const struct field fields[] = {
      {"file", read_text, offsetof(struct initial_file, file), FIELD_REQUIRED},
      {"key", read_text, offsetof(struct initial_file, key), FIELD_OPTIONAL},
      {"digest", read_text, offsetof(struct initial_file, digest), FIELD_OPTIONAL},
  };
  struct initial_file at = {0};
  TRY(FIELDS_READ(reader, node, fields, what, &at));
  assay_tensor tensor = {0};
  TRY(statistics_array(reader, node->mark, what, at.file, at.key, at.digest, NULL, &tensor));
  assay_status status = keep_initial(reader, node, what, input, dims, &tensor, out);
  tensor_free(&tensor);
  return status;
}

static assay_status read_initial(struct reader *reader, const struct yaml *node, const char *what,
                                 const struct contract_input *input, struct contract_state *state) {
  if (node->kind == YAML_SCALAR && text_equal(node->text, "zeros")) {
    return status_ok();
  }
  int64_t dims[ASSAY_RANK_MAX];
  if (!fixed_shape(input, dims)) {
    return yaml_error(&reader->file, node->mark, "%s must be zeros, since the state has a dynamic dimension", what);
  }
  assay_tensor *tensor;
  ARENA_NEW(reader->arena, tensor, 1);
  state->initial = tensor;
  if (node->kind == YAML_MAPPING) {
    return read_initial_file(reader, node, what, input, dims, tensor);
  }
  double value = 0;
  TRY(yaml_double(&reader->file, node, what, true, &value));
  return filled(reader, node, what, input, dims, value, tensor);
}

/* A state output that no components describe is one component of its own. */
static assay_status name_output(struct reader *reader, const struct yaml *node, const char *what,
                                const struct pair *pair, struct contract_output *output) {
  output->is_state = true;
  if (output->n_components > 0) {
    return !pair->state.has_tolerance
               ? status_ok()
               : yaml_error(&reader->file, node->mark,
                            "%s has a 'tolerance', but output '%s' has 'components' with their own; say it there", what,
                            output->name);
  }
  struct contract_component *component;
  ARENA_NEW(reader->arena, component, 1);
  *component = (struct contract_component){.name = output->name,
                                           .mark = pair->state.mark,
                                           .unit = pair->unit != NULL ? pair->unit : "state",
                                           .limit_min = (double)NAN,
                                           .limit_max = (double)NAN,
                                           .limit_rate = (double)NAN};
  if (pair->state.has_tolerance) {
    component->tolerance = (struct tolerance){.given = true,
                                              .raw = true,
                                              .max = pair->state.tolerance_max,
                                              .mean = (double)NAN,
                                              .p99 = (double)NAN,
                                              .rms = (double)NAN,
                                              .mark = pair->state.mark};
  }
  output->components = component;
  output->n_components = 1;
  output->component_axis = -1;
  return status_ok();
}

static assay_status check_free(struct reader *reader, const struct yaml *node, const struct contract_state *states,
                               int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    bool input = text_equal(states[i].input, states[n].input), output = text_equal(states[i].output, states[n].output);
    if (input || output) {
      return yaml_error(&reader->file, node->mark, "%s '%s' is in a state pair already, at line %d",
                        input ? "input" : "output", input ? states[n].input : states[n].output,
                        (int)states[i].mark.line);
    }
  }
  return status_ok();
}

static assay_status read_pair(struct reader *reader, const struct yaml *node, int32_t i, struct tensors *tensors,
                              struct contract_state *states) {
  char what[WHAT_SIZE], initial[WHAT_SIZE];
  what_format(what, "state pair %d", (int)i + 1);
  struct pair pair = {.state = {.mark = node->mark, .reset_episode = true}};
  TRY(FIELDS_READ(reader, node, pair_fields, what, &pair));
  states[i] = pair.state;
  TRY(check_free(reader, node, states, i));
  struct contract_input *input;
  struct contract_output *output;
  TRY(pair_tensors(reader, node, what, &pair, tensors, &input, &output));
  TRY(check_fit(reader, what, input, output, node->mark));
  what_format(initial, "'initial' of %s", what);
  TRY(read_initial(reader, pair.initial, initial, input, &states[i]));
  input->is_state = true;
  return name_output(reader, node, what, &pair, output);
}

/* Inputs and outputs copied with room for `more`. */
static assay_status widen(struct reader *reader, int32_t more, struct tensors *tensors) {
  const struct contract *contract = reader->contract;
  tensors->n_inputs = contract->n_inputs;
  tensors->n_outputs = contract->n_outputs;
  ARENA_NEW(reader->arena, tensors->inputs, contract->n_inputs + more);
  ARENA_NEW(reader->arena, tensors->outputs, contract->n_outputs + more);
  memcpy(tensors->inputs, contract->inputs, (size_t)contract->n_inputs * sizeof *tensors->inputs);
  memcpy(tensors->outputs, contract->outputs, (size_t)contract->n_outputs * sizeof *tensors->outputs);
  return status_ok();
}

assay_status read_states(struct reader *reader, const struct yaml *node) {
  TRY(yaml_expect(&reader->file, node, YAML_SEQUENCE, "'state'"));
  struct tensors tensors = {0};
  struct contract_state *states;
  ARENA_NEW(reader->arena, states, node->count);
  TRY(widen(reader, node->count, &tensors));
  for (int32_t i = 0; i < node->count; i++) {
    TRY(read_pair(reader, &node->items[i], i, &tensors, states));
  }
  struct contract *contract = reader->contract;
  contract->states = states;
  contract->n_states = node->count;
  contract->inputs = tensors.inputs;
  contract->n_inputs = tensors.n_inputs;
  contract->outputs = tensors.outputs;
  contract->n_outputs = tensors.n_outputs;
  return status_ok();
}
