/* Widening of attributes, node by node and through subgraphs. Where the default of an attribute is
 * float32, it is written out as float64. */
#include "engine/widen.h"

#include <string.h>

#include "core/text.h"

void floats_widen(const void *from, double *to, int64_t count) {
  const unsigned char *bytes = from;
  for (int64_t i = 0; i < count; i++) {
    float value;
    memcpy(&value, bytes + (size_t)i * sizeof value, sizeof value);
    to[i] = (double)value;
  }
}

/* A float64 copy of a float32 tensor. */
static assay_status tensor_widen(const assay_tensor *from, struct arena *arena, assay_tensor *out) {
  TRY(tensor_new_in(arena, ASSAY_FLOAT64, from->dims, from->rank, out));
  floats_widen(from->data, out->data, tensor_count(from));
  return status_ok();
}

/* Attributes that name the dtype of a result, and operators whose result is float32 without them. */
static const char *const dtype_attributes[] = {"to",         "dtype",     "output_datatype",  "output_dtype",
                                               "stash_type", "precision", "softmax_precision"};
static const struct {
  const char *op_type, *attribute;
} float_defaults[] = {{"HannWindow", "output_datatype"},     {"HammingWindow", "output_datatype"},
                      {"BlackmanWindow", "output_datatype"}, {"MelWeightMatrix", "output_datatype"},
                      {"LayerNormalization", "stash_type"},  {"RMSNormalization", "stash_type"},
                      {"GroupNormalization", "stash_type"}};

static bool names_dtype(const char *name) {
  for (size_t i = 0; i < sizeof dtype_attributes / sizeof *dtype_attributes; i++) {
    if (text_equal(name, dtype_attributes[i])) {
      return true;
    }
  }
  return false;
}

/* Constant's value_float and value_floats make a tensor: they become `value`. */
static assay_status widen_constant(const struct attribute *from, struct arena *arena, struct attribute *to) {
  bool one = from->kind == ATTRIBUTE_FLOAT;
  int64_t dims[1] = {from->count};
  assay_tensor *tensor;
  ARENA_NEW(arena, tensor, 1);
  TRY(tensor_new_in(arena, ASSAY_FLOAT64, dims, one ? 0 : 1, tensor));
  floats_widen(one ? &from->f : from->floats, tensor->data, one ? 1 : from->count);
  *to = (struct attribute){.name = "value", .kind = ATTRIBUTE_TENSOR, .count = 1, .tensors = tensor};
  return status_ok();
}

static assay_status widen_tensors(struct attribute *attribute, struct arena *arena) {
  assay_tensor *tensors;
  ARENA_NEW(arena, tensors, attribute->count);
  for (int32_t i = 0; i < attribute->count; i++) {
    tensors[i] = attribute->tensors[i];
    if (tensors[i].dtype == ASSAY_FLOAT32) {
      TRY(tensor_widen(&attribute->tensors[i], arena, &tensors[i]));
    }
  }
  attribute->tensors = tensors;
  return status_ok();
}

static assay_status widen_graph(const struct graph *from, struct graph *parent, struct arena *arena,
                                struct graph **out);

static assay_status widen_attribute(const struct node *node, struct graph *owner, struct arena *arena,
                                    struct attribute *attribute) {
  bool standard = node->domain[0] == '\0';
  if (attribute->kind == ATTRIBUTE_TENSOR || attribute->kind == ATTRIBUTE_TENSORS) {
    return widen_tensors(attribute, arena);
  }
  if (attribute->kind == ATTRIBUTE_GRAPH || attribute->kind == ATTRIBUTE_GRAPHS) {
    struct graph **graphs;
    ARENA_NEW(arena, graphs, attribute->count);
    for (int32_t i = 0; i < attribute->count; i++) {
      TRY(widen_graph(attribute->graphs[i], owner, arena, &graphs[i]));
    }
    attribute->graphs = graphs;
    return status_ok();
  }
  if (standard && attribute->kind == ATTRIBUTE_INT && names_dtype(attribute->name) && attribute->i == ASSAY_FLOAT32) {
    attribute->i = ASSAY_FLOAT64;
    return status_ok();
  }
  bool constant = standard && text_equal(node->op_type, "Constant");
  if (constant && (attribute->kind == ATTRIBUTE_FLOAT || attribute->kind == ATTRIBUTE_FLOATS)) {
    const struct attribute old = *attribute;
    return widen_constant(&old, arena, attribute);
  }
  return status_ok();
}

/* Writes a default out: true when `attribute` was filled in. */
static assay_status write_default(const struct node *node, struct arena *arena, struct attribute *attribute,
                                  bool *written) {
  *written = false;
  if (node->domain[0] != '\0') {
    return status_ok();
  }
  for (size_t i = 0; i < sizeof float_defaults / sizeof *float_defaults; i++) {
    if (text_equal(node->op_type, float_defaults[i].op_type) &&
        node_attribute(node, float_defaults[i].attribute) == NULL) {
      *attribute = (struct attribute){.name = float_defaults[i].attribute, .kind = ATTRIBUTE_INT, .i = ASSAY_FLOAT64};
      *written = true;
      return status_ok();
    }
  }
  if (text_equal(node->op_type, "ConstantOfShape") && node_attribute(node, "value") == NULL) {
    assay_tensor *zero;
    ARENA_NEW(arena, zero, 1);
    TRY(tensor_new_in(arena, ASSAY_FLOAT64, (const int64_t[]){1}, 1, zero));
    *attribute = (struct attribute){.name = "value", .kind = ATTRIBUTE_TENSOR, .count = 1, .tensors = zero};
    *written = true;
  }
  return status_ok();
}

static assay_status widen_node(const struct node *from, struct graph *owner, struct arena *arena, struct node *to) {
  *to = *from;
  struct attribute *attributes;
  ARENA_NEW(arena, attributes, from->n_attributes + 1);
  for (int32_t i = 0; i < from->n_attributes; i++) {
    attributes[i] = from->attributes[i];
    TRY(widen_attribute(from, owner, arena, &attributes[i]));
  }
  bool written;
  TRY(write_default(from, arena, &attributes[from->n_attributes], &written));
  to->n_attributes = from->n_attributes + (written ? 1 : 0);
  to->attributes = attributes;
  return status_ok();
}

static assay_status widen_graph(const struct graph *from, struct graph *parent, struct arena *arena,
                                struct graph **out) {
  struct graph *graph;
  ARENA_NEW(arena, graph, 1);
  *graph = *from;
  graph->parent = parent;
  ARENA_NEW(arena, graph->nodes, from->n_nodes);
  for (int32_t i = 0; i < from->n_nodes; i++) {
    TRY(widen_node(&from->nodes[i], graph, arena, &graph->nodes[i]));
  }
  *out = graph;
  return status_ok();
}

assay_status graph_widen(const struct graph *graph, struct arena *arena, struct graph **out) {
  return widen_graph(graph, NULL, arena, out);
}
