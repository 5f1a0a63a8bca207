/* See model_text.h. Shows what it is given and works nothing out. */
#include "cli/model_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "model/types.h"

/* Inferred where `shapes` has it, otherwise as declared. */
static struct value_type type_of(const struct graph *graph, const struct shapes *shapes, int32_t value) {
  return shapes != NULL && value < shapes->n_values ? shapes->values[value].type : graph->values[value].declared;
}

/* With IR version 3 every weight is listed among the inputs; they are no inputs that anybody feeds. */
static bool is_end(const struct graph *graph, int32_t value) {
  const struct value *end = &graph->values[value];
  return end->is_output || end->initializer < 0 || graph_is_overridable(graph, value);
}

enum { DEFAULTS_SHOWN = 5 };

static void add_end(const struct graph *graph, const struct shapes *shapes, const char *what, int32_t value,
                    struct text *out) {
  struct value_type type = type_of(graph, shapes, value);
  text_format(out, "  %-7s ", what);
  text_add_padded(out, graph->values[value].name, 24);
  text_add_char(out, ' ');
  type_describe(&type, out);
  text_add(out, graph_is_overridable(graph, value) ? "  (has a default)\n" : "\n");
}

/* Some exporters list every weight as an input that may be fed; a few are shown, many are counted. */
void model_text_ends(const struct graph *graph, const struct shapes *shapes, struct text *out) {
  int32_t n_defaults = 0;
  for (int32_t i = 0; i < graph->n_inputs; i++) {
    n_defaults += graph_is_overridable(graph, graph->inputs[i]);
  }
  for (int32_t i = 0; i < graph->n_inputs; i++) {
    bool counted = n_defaults > DEFAULTS_SHOWN && graph_is_overridable(graph, graph->inputs[i]);
    if (is_end(graph, graph->inputs[i]) && !counted) {
      add_end(graph, shapes, "input", graph->inputs[i], out);
    }
  }
  if (n_defaults > DEFAULTS_SHOWN) {
    text_format(out, "  and %d inputs with a default (weights that may be fed); --json lists them\n", n_defaults);
  }
  for (int32_t i = 0; i < graph->n_outputs; i++) {
    add_end(graph, shapes, "output", graph->outputs[i], out);
  }
}

void model_text_opsets(const struct opset_import *opsets, int32_t n, struct text *out) {
  for (int32_t i = 0; i < n; i++) {
    text_add(out, i > 0 ? ", " : "");
    text_add_shown(out, opsets[i].domain[0] == '\0' ? "ai.onnx" : opsets[i].domain);
    text_format(out, " %" PRId64, opsets[i].version);
  }
}

static json_t *json_shape(const struct value_type *type) {
  if (type->kind == TYPE_UNKNOWN || type->rank == RANK_UNKNOWN) {
    return json_null();
  }
  json_t *shape = json_array();
  for (int32_t i = 0; i < type->rank; i++) {
    const struct dim *dim = &type->dims[i];
    json_t *item = dim->value >= 0       ? json_integer(dim->value)
                   : dim->symbol != NULL ? json_string(dim->symbol)
                                         : json_null();
    json_array_append_new(shape, item);
  }
  return shape;
}

static const char *kind_name(enum type_kind kind) {
  static const char *const names[] = {"unknown", "tensor", "sequence", "optional", "map", "sparse_tensor"};
  return names[kind];
}

json_t *model_json_ends(const struct graph *graph, const struct shapes *shapes, const int32_t *values, int32_t n) {
  json_t *list = json_array();
  for (int32_t i = 0; i < n; i++) {
    if (!is_end(graph, values[i])) {
      continue;
    }
    struct value_type type = type_of(graph, shapes, values[i]);
    json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:o, s:b}", "name", graph->values[values[i]].name, "type",
                                          kind_name(type.kind), "dtype", assay_dtype_name(type.dtype), "shape",
                                          json_shape(&type), "default", graph_is_overridable(graph, values[i])));
  }
  return list;
}

json_t *model_json_opsets(const struct opset_import *opsets, int32_t n) {
  json_t *object = json_object();
  for (int32_t i = 0; i < n; i++) {
    json_object_set_new(object, opsets[i].domain[0] == '\0' ? "ai.onnx" : opsets[i].domain,
                        json_integer(opsets[i].version));
  }
  return object;
}

void text_add_grouped(struct text *out, int64_t number) {
  char digits[32];
  int length = snprintf(digits, sizeof digits, "%" PRId64, number);
  for (int i = 0; i < length; i++) {
    text_add_char(out, digits[i]);
    int left = length - 1 - i;
    if (left > 0 && left % 3 == 0 && digits[i] != '-') {
      text_add_char(out, ',');
    }
  }
}

void text_add_size(struct text *out, double bytes, const char *unit) {
  static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
  size_t i = 0;
  while (bytes >= 1000 && i + 1 < sizeof prefixes / sizeof *prefixes) {
    bytes /= 1000;
    i++;
  }
  text_format(out, i == 0 ? "%.0f" : "%.2f", bytes);
  text_format(out, i > 0 || unit[0] != '\0' ? " %s%s" : "%s%s", prefixes[i], unit);
}

assay_status json_print(json_t *json) {
  if (json == NULL) {
    return status_no_memory(0);
  }
  int failed = json_dumpf(json, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(17));
  json_decref(json);
  if (failed != 0 || putchar('\n') == EOF) {
    return status_make(ASSAY_FILE_UNWRITABLE, "standard output", "the JSON text could not be written");
  }
  return status_ok();
}
