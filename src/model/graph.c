/* Looking things up in a model. Nothing here changes one. */
#include "model/graph.h"

#include <string.h>

#include "model/functions.h"
#include "model/names.h"

int32_t graph_find_value(const struct graph *graph, const char *name) { return names_find(graph->names, name); }

const struct attribute *node_attribute(const struct node *node, const char *name) {
  for (int32_t i = 0; i < node->n_attributes; i++) {
    if (strcmp(node->attributes[i].name, name) == 0) {
      return &node->attributes[i];
    }
  }
  return NULL;
}

/* The attribute when it has that kind. */
static const struct attribute *attribute_of_kind(const struct node *node, const char *name, enum attribute_kind kind) {
  const struct attribute *attribute = node_attribute(node, name);
  return attribute != NULL && attribute->kind == kind ? attribute : NULL;
}

int64_t node_attribute_int(const struct node *node, const char *name, int64_t otherwise) {
  const struct attribute *attribute = attribute_of_kind(node, name, ATTRIBUTE_INT);
  return attribute != NULL ? attribute->i : otherwise;
}

float node_attribute_float(const struct node *node, const char *name, float otherwise) {
  const struct attribute *attribute = attribute_of_kind(node, name, ATTRIBUTE_FLOAT);
  return attribute != NULL ? attribute->f : otherwise;
}

bool node_attribute_is(const struct node *node, const char *name, const char *text, bool otherwise) {
  const struct attribute *attribute = attribute_of_kind(node, name, ATTRIBUTE_STRING);
  if (attribute == NULL) {
    return otherwise;
  }
  return attribute->s.length == strlen(text) && memcmp(attribute->s.data, text, attribute->s.length) == 0;
}

const int64_t *node_attribute_ints(const struct node *node, const char *name, int32_t *count) {
  const struct attribute *attribute = attribute_of_kind(node, name, ATTRIBUTE_INTS);
  *count = attribute != NULL ? attribute->count : 0;
  return attribute != NULL ? attribute->ints : NULL;
}

const float *node_attribute_floats(const struct node *node, const char *name, int32_t *count) {
  const struct attribute *attribute = attribute_of_kind(node, name, ATTRIBUTE_FLOATS);
  *count = attribute != NULL ? attribute->count : 0;
  return attribute != NULL ? attribute->floats : NULL;
}

const struct initializer *graph_initializer(const struct graph *graph, int32_t value) {
  if (value < 0 || value >= graph->n_values || graph->values[value].initializer < 0) {
    return NULL;
  }
  return &graph->initializers[graph->values[value].initializer];
}

bool graph_is_overridable(const struct graph *graph, int32_t value) {
  bool listed = graph_initializer(graph, value) != NULL && graph->values[value].input >= 0;
  return listed && graph->parent == NULL && graph->model->ir_version >= 4;
}

const struct function *node_function(const struct model *model, const struct node *node) {
  return functions_find(model->functions, model->n_functions, node->domain, node->op_type, node->overload);
}

/* Bytes between which an element of the dtype has to start. */
static size_t alignment_of(assay_dtype dtype) {
  size_t bits = assay_dtype_bits(dtype);
  if (dtype == ASSAY_STRING) {
    return _Alignof(assay_text);
  }
  if (dtype == ASSAY_COMPLEX64 || dtype == ASSAY_COMPLEX128) {
    bits /= 2;
  }
  return bits <= 8 ? 1 : bits / 8;
}

bool tensor_is_aligned(const assay_tensor *tensor) {
  return (uintptr_t)tensor->data % alignment_of(tensor->dtype) == 0;
}
