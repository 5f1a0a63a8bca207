/* The inputs of a contract: dtype, shape, layout, legal values, age, history. A value that the
 * contract leaves out stays absent; none is made up. */
#include <string.h>

#include "contract/contract_reader.h"
#include "contract/contract_role.h"

static assay_status input_dtype(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  return read_dtype(reader, node, what, &((struct contract_input *)member)->dtype);
}

static assay_status input_shape(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  struct contract_input *input = member;
  return read_shape(reader, node, what, &input->rank, input->dims);
}

static assay_status input_layout(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  static const char *const layouts[] = {"NCHW", "NHWC", "CHW", "HWC"};
  struct contract_input *input = member;
  int32_t which = 0;
  TRY(yaml_choice(&reader->file, node, what, layouts, 4, &which));
  input->layout = layouts[which];
  if ((int32_t)strlen(input->layout) != input->rank) {
    return yaml_error(&reader->file, node->mark, "%s is %s, but its shape has %d dimensions", what, input->layout,
                      (int)input->rank);
  }
  return status_ok();
}

static assay_status input_color(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  static const char *const colors[] = {"RGB", "BGR", "GRAY"};
  struct contract_input *input = member;
  int32_t which = 0;
  TRY(yaml_choice(&reader->file, node, what, colors, 3, &which));
  input->color = colors[which];
  if (input->layout == NULL) {
    return yaml_error(&reader->file, node->mark, "%s is given without a 'layout'; say which dimension the colours are",
                      what);
  }
  const struct dim_range *channels = &input->dims[strchr(input->layout, 'C') - input->layout];
  int64_t expected = which == 2 ? 1 : 3;
  if (channels->min != expected || channels->max != expected) {
    return yaml_error(&reader->file, node->mark, "%s is %s, which has %d channels, but the shape has %lld at C in %s",
                      what, input->color, (int)expected, (long long)channels->max, input->layout);
  }
  return status_ok();
}

static assay_status input_legal(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  struct contract_input *input = member;
  input->has_legal = true;
  return read_range(reader, node, what, &input->legal_min, &input->legal_max);
}

static assay_status input_typical(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  struct contract_input *input = member;
  input->has_typical = true;
  TRY(read_range(reader, node, what, &input->typical_min, &input->typical_max));
  if (input->has_legal && (input->typical_min < input->legal_min || input->typical_max > input->legal_max)) {
    return yaml_error(&reader->file, node->mark, "%s is [%.9g, %.9g], outside the legal [%.9g, %.9g]", what,
                      input->typical_min, input->typical_max, input->legal_min, input->legal_max);
  }
  return status_ok();
}

static assay_status input_on_invalid(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  static const char *const words[] = {"refuse"};
  int32_t which = 0;
  TRY(yaml_choice(&reader->file, node, what, words, 1, &which));
  ((struct contract_input *)member)->refuse = true;
  return status_ok();
}

struct history_member {
  int64_t axis, max;
};

static assay_status input_history(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  static const struct field fields[] = {
      {"axis", read_whole, offsetof(struct history_member, axis), FIELD_REQUIRED},
      {"max", read_size, offsetof(struct history_member, max), FIELD_REQUIRED},
  };
  struct contract_input *input = member;
  struct history_member history = {0};
  for (int32_t i = 0; i < node->count && node->kind == YAML_MAPPING; i++) {
    static const char *const of_terms[] = {"layout", "order", "initial"};
    for (size_t k = 0; k < sizeof of_terms / sizeof of_terms[0]; k++) {
      if (text_equal(node->keys[i], of_terms[k])) {
        return yaml_error(&reader->file, node->key_marks[i],
                          "%s has '%s', which says how the history of terms lies, but the input has no 'terms'", what,
                          node->keys[i]);
      }
    }
  }
  TRY(FIELDS_READ(reader, node, fields, what, &history));
  if (history.axis >= input->rank) {
    return yaml_error(&reader->file, node->mark, "%s names axis %lld, but the shape has %d dimensions", what,
                      (long long)history.axis, (int)input->rank);
  }
  const struct dim_range *dim = &input->dims[history.axis];
  if (history.max < dim->min || history.max > dim->max) {
    return yaml_error(&reader->file, node->mark, "%s has max %lld, but axis %lld of the shape allows %lld to %lld",
                      what, (long long)history.max, (long long)history.axis, (long long)dim->min, (long long)dim->max);
  }
  input->history_axis = (int32_t)history.axis;
  input->history_max = (int32_t)history.max;
  return status_ok();
}

static assay_status input_preprocess(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  (void)what;
  return read_preprocess(reader, node, member);
}

static const struct field input_fields[] = {
    {"name", read_text, offsetof(struct contract_input, name), FIELD_REQUIRED},
    {"terms", NULL, 0, FIELD_OPTIONAL}, /* with `from` and `clip`: read_terms, when the outputs are known */
    {"from", NULL, 0, FIELD_OPTIONAL},
    {"clip", NULL, 0, FIELD_OPTIONAL},
    {"role", NULL, 0, FIELD_OPTIONAL}, /* it and its keys: read_input_role */
    {"distribution", NULL, 0, FIELD_OPTIONAL},
    {"seeds", NULL, 0, FIELD_OPTIONAL},
    {"tokenizer", NULL, 0, FIELD_OPTIONAL},
    {"max_length", NULL, 0, FIELD_OPTIONAL},
    {"padding", NULL, 0, FIELD_OPTIONAL},
    {"pad_id", NULL, 0, FIELD_OPTIONAL},
    {"vocab_size", NULL, 0, FIELD_OPTIONAL},
    {"mask", NULL, 0, FIELD_OPTIONAL},
    {"dtype", input_dtype, 0, FIELD_REQUIRED},
    {"shape", input_shape, 0, FIELD_REQUIRED},
    {"layout", input_layout, 0, FIELD_OPTIONAL},
    {"color", input_color, 0, FIELD_OPTIONAL},
    {"unit", read_text, offsetof(struct contract_input, unit), FIELD_OPTIONAL},
    {"raw", read_text, offsetof(struct contract_input, raw), FIELD_OPTIONAL},
    {"legal", input_legal, 0, FIELD_OPTIONAL},
    {"typical", input_typical, 0, FIELD_OPTIONAL},
    {"max_age_ms", read_positive, offsetof(struct contract_input, max_age_ms), FIELD_OPTIONAL},
    {"frozen_after", read_steps, offsetof(struct contract_input, frozen_after), FIELD_OPTIONAL},
    {"history", NULL, 0, FIELD_OPTIONAL}, /* when it is known whether the input has terms */
    {"preprocess", input_preprocess, 0, FIELD_OPTIONAL},
    {"on_invalid", input_on_invalid, 0, FIELD_OPTIONAL},
};

assay_status read_inputs(struct reader *reader, const struct yaml *node) {
  TRY(yaml_expect(&reader->file, node, YAML_SEQUENCE, "'inputs'"));
  if (node->count == 0) {
    return yaml_error(&reader->file, node->mark, "'inputs' is empty; a policy has at least one input");
  }
  struct contract_input *inputs;
  ARENA_NEW(reader->arena, inputs, node->count);
  for (int32_t i = 0; i < node->count; i++) {
    char what[WHAT_SIZE];
    what_item(what, &node->items[i], "input", i);
    inputs[i].mark = node->items[i].mark;
    inputs[i].refuse = true;
    TRY(FIELDS_READ(reader, &node->items[i], input_fields, what, &inputs[i]));
    TRY(read_input_role(reader, &node->items[i], what, &inputs[i]));
    const struct yaml *history = yaml_get(&node->items[i], "history");
    if (history != NULL && !history_is_of_terms(&node->items[i])) {
      char member[WHAT_SIZE];
      what_format(member, "'history' of %s", what);
      TRY(input_history(reader, history, member, &inputs[i]));
    }
    TRY(read_sensor_terms(reader, &node->items[i], &inputs[i]));
    inputs[i].raw = inputs[i].raw != NULL ? inputs[i].raw : inputs[i].name;
    for (int32_t j = 0; j < i; j++) {
      if (text_equal(inputs[i].name, inputs[j].name)) {
        return yaml_error(&reader->file, inputs[i].mark, "input '%s' stands here again; it was given at line %d",
                          inputs[i].name, (int)inputs[j].mark.line);
      }
    }
  }
  reader->contract->inputs = inputs;
  reader->contract->n_inputs = node->count;
  return status_ok();
}
