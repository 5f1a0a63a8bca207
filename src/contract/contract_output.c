/* The outputs of a contract: axes, components, what of a chunk is executed, decisions over the
 * whole. Every element of an output belongs to one component when this has succeeded. */
#include "contract/contract_detections.h"
#include "contract/contract_reader.h"

static assay_status output_dtype(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  return read_dtype(reader, node, what, &((struct contract_output *)member)->dtype);
}

static assay_status output_shape(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  struct contract_output *output = member;
  return read_shape(reader, node, what, &output->rank, output->dims);
}

static assay_status output_axes(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  struct contract_output *output = member;
  TRY(yaml_expect(&reader->file, node, YAML_SEQUENCE, what));
  if (node->count != output->rank) {
    return yaml_error(&reader->file, node->mark, "%s names %d axes, but the shape has %d dimensions", what,
                      (int)node->count, (int)output->rank);
  }
  for (int32_t i = 0; i < node->count; i++) {
    const char *axis = NULL;
    TRY(yaml_string(&reader->file, &node->items[i], what, &axis));
    for (int32_t j = 0; j < i; j++) {
      if (text_equal(axis, output->axes[j])) {
        return yaml_error(&reader->file, node->items[i].mark, "%s names '%s' twice", what, axis);
      }
    }
    output->axes[i] = axis;
    output->component_axis = text_equal(axis, "component") ? i : output->component_axis;
    output->horizon_axis = text_equal(axis, "horizon") ? i : output->horizon_axis;
  }
  return status_ok();
}

static assay_status output_decision(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  struct contract_output *output = member;
  struct decision *decision;
  bool detections;
  TRY(read_detections(reader, node, what, output, &detections));
  if (detections) {
    return status_ok();
  }
  ARENA_NEW(reader->arena, decision, 1);
  TRY(read_output_decision(reader, node, what, output, decision));
  output->decisions = decision;
  output->n_decisions = 1;
  return status_ok();
}

static assay_status output_decisions(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  struct contract_output *output = member;
  TRY(yaml_expect(&reader->file, node, YAML_SEQUENCE, what));
  if (output->n_decisions > 0 || output->detections != NULL) {
    return yaml_error(&reader->file, node->mark, "%s stands beside 'decision'; write all of them in 'decisions'", what);
  }
  struct decision *decisions;
  ARENA_NEW(reader->arena, decisions, node->count);
  for (int32_t i = 0; i < node->count; i++) {
    char item[WHAT_SIZE];
    what_format(item, "item %d of %s", (int)i + 1, what);
    bool detections;
    TRY(read_detections(reader, &node->items[i], item, output, &detections));
    if (!detections) {
      TRY(read_output_decision(reader, &node->items[i], item, output, &decisions[output->n_decisions++]));
    }
  }
  output->decisions = decisions;
  return status_ok();
}

/* decode, tolerance, unit and limits of the whole are read with the components. */
static const struct field output_fields[] = {
    {"name", read_text, offsetof(struct contract_output, name), FIELD_REQUIRED},
    {"hardware_order", NULL, 0, FIELD_OPTIONAL}, /* once the components are known */
    {"dtype", output_dtype, 0, FIELD_REQUIRED},
    {"shape", output_shape, 0, FIELD_REQUIRED},
    {"axes", output_axes, 0, FIELD_OPTIONAL},
    {"execute", output_execute, 0, FIELD_OPTIONAL},
    {"max_age_ms", read_positive, offsetof(struct contract_output, max_age_ms), FIELD_OPTIONAL},
    {"decode", NULL, 0, FIELD_OPTIONAL},
    {"unit", NULL, 0, FIELD_OPTIONAL},
    {"raw_unit", NULL, 0, FIELD_OPTIONAL},
    {"tolerance", NULL, 0, FIELD_OPTIONAL},
    {"limits", NULL, 0, FIELD_OPTIONAL},
    {"components", NULL, 0, FIELD_OPTIONAL},
    {"decision", output_decision, 0, FIELD_OPTIONAL},
    {"decisions", output_decisions, 0, FIELD_OPTIONAL},
};

/* A decision over the whole output looks at one answer, and a blend is none. */
static assay_status check_ensemble(struct reader *reader, const struct yaml *node, const char *what,
                                   const struct contract_output *output) {
  if (!output->ensemble || output->n_decisions == 0) {
    return status_ok();
  }
  char thing[WHAT_SIZE];
  what_format(thing, "a decision over the whole of %s beside 'ensemble'", what);
  return not_read_yet(reader, node->mark, thing);
}

/* A permutation of the components: the order in which the motors receive them. */
static assay_status read_hardware_order(struct reader *reader, const struct yaml *node, const char *what,
                                        struct contract_output *output) {
  const char *const *names = NULL;
  int32_t count = 0, *order;
  char member[WHAT_SIZE];
  what_format(member, "'hardware_order' of %s", what);
  TRY(read_names(reader, node, member, &names, &count));
  if (count != output->n_components) {
    return yaml_error(&reader->file, node->mark, "%s has %d names for %d components; each is received by one motor",
                      member, (int)count, (int)output->n_components);
  }
  ARENA_NEW(reader->arena, order, count);
  for (int32_t k = 0; k < count; k++) {
    order[k] = -1;
    for (int32_t c = 0; c < output->n_components && order[k] < 0; c++) {
      order[k] = text_equal(names[k], output->components[c].name) ? c : -1;
    }
    if (order[k] < 0) {
      return yaml_error(&reader->file, node->kind == YAML_SEQUENCE ? node->items[k].mark : node->mark,
                        "%s names '%.80s', which is no component", member, names[k]);
    }
  }
  output->hardware_order = order;
  return status_ok();
}

/* One output. Components come last: they need the axes. */
static assay_status read_output(struct reader *reader, const struct yaml *node, int32_t i,
                                struct contract_output *output) {
  char what[WHAT_SIZE];
  what_item(what, node, "output", i);
  output->mark = node->mark;
  output->component_axis = output->horizon_axis = -1;
  TRY(FIELDS_READ(reader, node, output_fields, what, output));
  const struct yaml *components = yaml_get(node, "components");
  if (components != NULL) {
    TRY(read_components(reader, components, node, output));
    const struct yaml *order = yaml_get(node, "hardware_order");
    TRY(order != NULL ? read_hardware_order(reader, order, what, output) : status_ok());
    return check_ensemble(reader, node, what, output);
  }
  static const char *const keys[] = {"decode", "unit", "raw_unit", "tolerance", "limits", "hardware_order"};
  for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
    const struct yaml *value = yaml_get(node, keys[k]);
    if (value != NULL) {
      return yaml_error(&reader->file, value->mark, "%s has '%s' but no 'components' that it holds for", what, keys[k]);
    }
  }
  return status_ok(); /* only the output of a state pair may do without; read_states sees to it */
}

assay_status read_outputs(struct reader *reader, const struct yaml *node) {
  TRY(yaml_expect(&reader->file, node, YAML_SEQUENCE, "'outputs'"));
  if (node->count == 0) {
    return yaml_error(&reader->file, node->mark, "'outputs' is empty; a policy has at least one output");
  }
  struct contract_output *outputs;
  ARENA_NEW(reader->arena, outputs, node->count);
  for (int32_t i = 0; i < node->count; i++) {
    TRY(read_output(reader, &node->items[i], i, &outputs[i]));
    for (int32_t j = 0; j < i; j++) {
      if (text_equal(outputs[i].name, outputs[j].name)) {
        return yaml_error(&reader->file, outputs[i].mark, "output '%s' stands here again; it was given at line %d",
                          outputs[i].name, (int)outputs[j].mark.line);
      }
    }
  }
  reader->contract->outputs = outputs;
  reader->contract->n_outputs = node->count;
  return status_ok();
}
