/* Nodes and their attributes. Whether an operator exists, and whether it takes what it is given, is not
 * asked here. */
#include <inttypes.h>
#include <string.h>

#include "model/load.h"

/* --- labels ------------------------------------------------------------------- */

/* loader->labels holds every name of a node and every label given, each with a number: bit 0 tells whether a
 * node has that label already, the rest is the number that was last put behind it to make another label. */
enum { LABEL_TAKEN = 1, LABEL_STEP = 2 };

assay_status load_reserve_labels(struct loader *loader, size_t n_nodes, Onnx__NodeProto *const *nodes) {
  for (size_t i = 0; i < n_nodes; i++) {
    const Onnx__NodeProto *node = nodes[i];
    if (node->name != NULL && node->name[0] != '\0' && names_find(&loader->labels, node->name) < 0) {
      TRY(names_add(&loader->labels, node->name, LABEL_STEP));
    }
    for (size_t k = 0; k < node->n_attribute; k++) {
      const Onnx__AttributeProto *attribute = node->attribute[k];
      if (attribute->g != NULL) {
        TRY(load_reserve_labels(loader, attribute->g->n_node, attribute->g->node));
      }
      for (size_t g = 0; g < attribute->n_graphs; g++) {
        TRY(load_reserve_labels(loader, attribute->graphs[g]->n_node, attribute->graphs[g]->node));
      }
    }
  }
  return status_ok();
}

/* A label that no other node has: `wish`, or the wish with a number from 2 on behind it. */
static assay_status make_label(struct loader *loader, const char *wish, const char **out) {
  int32_t *state = names_at(&loader->labels, wish);
  if (state == NULL) {
    *out = wish;
    return names_add(&loader->labels, wish, LABEL_STEP | LABEL_TAKEN);
  }
  for (;;) {
    *state += LABEL_STEP;
    char *label = arena_format(loader->arena, "%s#%d", wish, *state / LABEL_STEP);
    if (label == NULL) {
      return status_no_memory(strlen(wish));
    }
    if (names_find(&loader->labels, label) < 0) {
      *out = label;
      return names_add(&loader->labels, label, LABEL_STEP | LABEL_TAKEN);
    }
  }
}

static assay_status label_node(struct loader *loader, int32_t index, struct node *node) {
  if (node->name[0] == '\0') {
    char *wish = arena_format(loader->arena, "%s_%d", node->op_type, index);
    return wish == NULL ? status_no_memory(strlen(node->op_type)) : make_label(loader, wish, &node->label);
  }
  int32_t *state = names_at(&loader->labels, node->name);
  if (state != NULL && (*state & LABEL_TAKEN) == 0) {
    *state |= LABEL_TAKEN;
    node->label = node->name;
    return status_ok();
  }
  TRY(load_warn(loader, ASSAY_NODE_NAME_DUPLICATE, "two nodes are named '%s'", node->name));
  return make_label(loader, node->name, &node->label);
}

/* --- attributes ------------------------------------------------------------------ */

static const char *const kind_names[] = {
    "UNDEFINED", "FLOAT",   "INT",    "STRING",        "TENSOR",         "GRAPH",      "FLOATS",     "INTS",
    "STRINGS",   "TENSORS", "GRAPHS", "SPARSE_TENSOR", "SPARSE_TENSORS", "TYPE_PROTO", "TYPE_PROTOS"};
enum { KIND_COUNT = sizeof kind_names / sizeof *kind_names };

/* The members that hold something, as bits 1 << kind. */
static uint32_t filled_members(const Onnx__AttributeProto *proto) {
  uint32_t filled = 0;
  filled |= proto->has_f ? 1u << ATTRIBUTE_FLOAT : 0;
  filled |= proto->has_i ? 1u << ATTRIBUTE_INT : 0;
  filled |= proto->has_s ? 1u << ATTRIBUTE_STRING : 0;
  filled |= proto->t != NULL ? 1u << ATTRIBUTE_TENSOR : 0;
  filled |= proto->g != NULL ? 1u << ATTRIBUTE_GRAPH : 0;
  filled |= proto->n_floats > 0 ? 1u << ATTRIBUTE_FLOATS : 0;
  filled |= proto->n_ints > 0 ? 1u << ATTRIBUTE_INTS : 0;
  filled |= proto->n_strings > 0 ? 1u << ATTRIBUTE_STRINGS : 0;
  filled |= proto->n_tensors > 0 ? 1u << ATTRIBUTE_TENSORS : 0;
  filled |= proto->n_graphs > 0 ? 1u << ATTRIBUTE_GRAPHS : 0;
  filled |= proto->sparse_tensor != NULL ? 1u << ATTRIBUTE_SPARSE_TENSOR : 0;
  filled |= proto->n_sparse_tensors > 0 ? 1u << ATTRIBUTE_SPARSE_TENSORS : 0;
  filled |= proto->tp != NULL ? 1u << ATTRIBUTE_TYPE_PROTO : 0;
  filled |= proto->n_type_protos > 0 ? 1u << ATTRIBUTE_TYPE_PROTOS : 0;
  return filled;
}

static assay_status bad_attribute(const struct loader *loader, const char *name, const char *node_label,
                                  const char *what) {
  return load_fail(loader, ASSAY_ATTRIBUTE_INVALID, "attribute '%s' of node '%s' %s; export the model again", name,
                   node_label, what);
}

/* The kind, and that no member of another kind is filled. Writers of proto3 leave out a zero or empty scalar;
 * writers of IR version 1 leave out the kind. */
static assay_status check_kind(const struct loader *loader, const Onnx__AttributeProto *proto, const char *name,
                               const char *node_label, enum attribute_kind *out) {
  uint32_t filled = filled_members(proto);
  int32_t kind = proto->type;
  if (kind < 0 || kind >= KIND_COUNT) {
    return bad_attribute(loader, name, node_label, "is of a kind that ONNX does not have");
  }
  if (kind == ATTRIBUTE_UNDEFINED) {
    if (filled == 0 || (filled & (filled - 1)) != 0) {
      return bad_attribute(loader, name, node_label, "does not say of which kind it is");
    }
    kind = __builtin_ctz(filled);
  }
  if ((filled & ~(1u << kind)) != 0) {
    return load_fail(loader, ASSAY_ATTRIBUTE_INVALID,
                     "attribute '%s' of node '%s' is of kind %s but holds a value of kind %s; export the model again",
                     name, node_label, kind_names[kind], kind_names[__builtin_ctz(filled & ~(1u << kind))]);
  }
  bool message = kind == ATTRIBUTE_TENSOR || kind == ATTRIBUTE_GRAPH || kind == ATTRIBUTE_TYPE_PROTO ||
                 kind == ATTRIBUTE_SPARSE_TENSOR;
  if (filled == 0 && message) {
    return bad_attribute(loader, name, node_label, "has no value");
  }
  *out = (enum attribute_kind)kind;
  return status_ok();
}

static assay_status load_bytes(struct loader *loader, const ProtobufCBinaryData *bytes, assay_text *out) {
  const char *copy = arena_copy(loader->arena, (const char *)bytes->data, bytes->len);
  *out = (assay_text){copy, bytes->len};
  return copy == NULL ? status_no_memory(bytes->len) : status_ok();
}

static assay_status load_attribute_tensor(struct loader *loader, const Onnx__TensorProto *proto, const char *name,
                                          const char *node_label, assay_tensor *out) {
  const char *words = arena_format(&loader->scratch, "%s of node %s", name, node_label), *location;
  return words == NULL ? status_no_memory(0) : load_tensor(loader, proto, words, out, &location);
}

static assay_status load_attribute_lists(struct loader *loader, const Onnx__AttributeProto *proto,
                                         struct attribute *out) {
  if (out->kind == ATTRIBUTE_FLOATS) {
    float *floats;
    ARENA_NEW(loader->arena, floats, proto->n_floats);
    for (size_t i = 0; i < proto->n_floats; i++) {
      floats[i] = proto->floats[i];
    }
    out->floats = floats;
    out->count = (int32_t)proto->n_floats;
  } else if (out->kind == ATTRIBUTE_INTS) {
    int64_t *ints;
    ARENA_NEW(loader->arena, ints, proto->n_ints);
    for (size_t i = 0; i < proto->n_ints; i++) {
      ints[i] = proto->ints[i];
    }
    out->ints = ints;
    out->count = (int32_t)proto->n_ints;
  } else if (out->kind == ATTRIBUTE_STRINGS) {
    assay_text *strings;
    ARENA_NEW(loader->arena, strings, proto->n_strings);
    for (size_t i = 0; i < proto->n_strings; i++) {
      TRY(load_bytes(loader, &proto->strings[i], &strings[i]));
    }
    out->strings = strings;
    out->count = (int32_t)proto->n_strings;
  }
  return status_ok();
}

static assay_status load_tensors(struct loader *loader, size_t n, Onnx__TensorProto *const *protos,
                                 const char *node_label, struct attribute *out) {
  assay_tensor *tensors;
  ARENA_NEW(loader->arena, tensors, n);
  for (size_t i = 0; i < n; i++) {
    TRY(load_attribute_tensor(loader, protos[i], out->name, node_label, &tensors[i]));
  }
  out->tensors = tensors;
  out->count = (int32_t)n;
  return status_ok();
}

static assay_status load_graphs(struct scope *scope, size_t n, Onnx__GraphProto *const *protos, const char *node_label,
                                struct attribute *out) {
  struct graph **graphs;
  ARENA_NEW(scope->loader->arena, graphs, n);
  for (size_t i = 0; i < n; i++) {
    TRY(status_prefix(load_subgraph(scope, protos[i], &graphs[i]), "in %s of node '%s'", out->name, node_label));
  }
  out->graphs = graphs;
  out->count = (int32_t)n;
  return status_ok();
}

/* An attribute that stands for one of the function around it. */
static assay_status load_reference(struct loader *loader, const Onnx__AttributeProto *proto, const char *node_label,
                                   struct attribute *out) {
  if (filled_members(proto) != 0) {
    return bad_attribute(loader, out->name, node_label, "refers to another attribute and holds a value, too");
  }
  if (proto->type <= ATTRIBUTE_UNDEFINED || proto->type >= KIND_COUNT) {
    return bad_attribute(loader, out->name, node_label, "does not say of which kind it is");
  }
  if (loader->attributes == NULL || names_find(loader->attributes, proto->ref_attr_name) < 0) {
    return load_fail(loader, ASSAY_ATTRIBUTE_REFERENCE,
                     "attribute '%s' of node '%s' refers to attribute '%s' of the function around it, %s", out->name,
                     node_label, proto->ref_attr_name,
                     loader->attributes == NULL ? "but it stands in no function" : "which that function does not have");
  }
  out->kind = (enum attribute_kind)proto->type;
  return load_text(loader, proto->ref_attr_name, &out->reference);
}

assay_status load_attribute(struct scope *scope, const Onnx__AttributeProto *proto, const char *node_label,
                            struct attribute *out) {
  struct loader *loader = scope->loader;
  *out = (struct attribute){0};
  TRY(load_text(loader, proto->name, &out->name));
  if (out->name[0] == '\0') {
    return load_fail(loader, ASSAY_NAME_INVALID, "an attribute of node '%s' has no name; export the model again",
                     node_label);
  }
  if (proto->ref_attr_name != NULL && proto->ref_attr_name[0] != '\0') {
    return load_reference(loader, proto, node_label, out);
  }
  TRY(check_kind(loader, proto, out->name, node_label, &out->kind));
  out->f = proto->f;
  out->i = proto->i;
  out->s = (assay_text){"", 0};
  switch (out->kind) {
    case ATTRIBUTE_STRING:
      return proto->has_s ? load_bytes(loader, &proto->s, &out->s) : status_ok();
    case ATTRIBUTE_TENSOR:
      return load_tensors(loader, 1, &proto->t, node_label, out);
    case ATTRIBUTE_TENSORS:
      return load_tensors(loader, proto->n_tensors, proto->tensors, node_label, out);
    case ATTRIBUTE_GRAPH:
      return load_graphs(scope, 1, &proto->g, node_label, out);
    case ATTRIBUTE_GRAPHS:
      return load_graphs(scope, proto->n_graphs, proto->graphs, node_label, out);
    case ATTRIBUTE_SPARSE_TENSOR:
    case ATTRIBUTE_SPARSE_TENSORS:
      return load_fail(loader, ASSAY_SPARSE_UNSUPPORTED,
                       "attribute '%s' of node '%s' is a sparse tensor, which assay does not read; export it dense",
                       out->name, node_label);
    case ATTRIBUTE_TYPE_PROTO: {
      struct value_type *type;
      ARENA_NEW(loader->arena, type, 1);
      out->type = type;
      return load_type(loader, proto->tp, out->name, type);
    }
    default:
      return load_attribute_lists(loader, proto, out);
  }
}

/* --- nodes ------------------------------------------------------------------------- */

/* Equal names are looked for pair by pair while they are few, by an index when they are many. */
static assay_status check_duplicates(struct loader *loader, const struct node *node) {
  enum { FEW = 16 };
  struct name_index seen;
  if (node->n_attributes > FEW) {
    names_begin(&seen, &loader->scratch);
  }
  for (int32_t i = 0; i < node->n_attributes; i++) {
    const char *name = node->attributes[i].name;
    bool twice = false;
    if (node->n_attributes > FEW) {
      twice = names_find(&seen, name) >= 0;
      if (!twice) {
        TRY(names_add(&seen, name, i));
      }
    }
    for (int32_t k = 0; node->n_attributes <= FEW && k < i; k++) {
      twice = twice || text_equal(node->attributes[k].name, name);
    }
    if (twice) {
      return load_fail(loader, ASSAY_ATTRIBUTE_DUPLICATE, "node '%s' gives attribute '%s' twice; keep one", node->label,
                       name);
    }
  }
  return status_ok();
}

static assay_status find_opset(const struct scope *scope, struct node *node) {
  for (int32_t i = 0; i < scope->n_opsets; i++) {
    if (text_equal(scope->opsets[i].domain, node->domain)) {
      node->opset = scope->opsets[i].version;
      return status_ok();
    }
  }
  return load_fail(scope->loader, ASSAY_OPSET_MISSING,
                   "node '%s' (%s) is of domain '%s', which the model does not import; add the import or export again",
                   node->label, node->op_type, node->domain[0] == '\0' ? "ai.onnx" : node->domain);
}

static assay_status load_inputs(struct scope *scope, const Onnx__NodeProto *proto, struct node *node) {
  int32_t *inputs;
  ARENA_NEW(scope->loader->arena, inputs, proto->n_input);
  for (size_t i = 0; i < proto->n_input; i++) {
    inputs[i] = -1;
    if (proto->input[i][0] == '\0') {
      continue;
    }
    TRY(scope_resolve(scope, proto->input[i], &inputs[i]));
    if (inputs[i] < 0) {
      return load_fail(scope->loader, ASSAY_VALUE_UNDEFINED,
                       "node '%s' (%s) reads '%s', which no node, input or initializer produces; export the model "
                       "again",
                       node->label, node->op_type, proto->input[i]);
    }
  }
  node->inputs = inputs;
  node->n_inputs = (int32_t)proto->n_input;
  return status_ok();
}

static assay_status load_outputs(struct scope *scope, const Onnx__NodeProto *proto, struct node *node) {
  int32_t *outputs;
  ARENA_NEW(scope->loader->arena, outputs, proto->n_output);
  for (size_t i = 0; i < proto->n_output; i++) {
    outputs[i] = proto->output[i][0] == '\0' ? -1 : names_find(scope->graph->names, proto->output[i]);
  }
  node->outputs = outputs;
  node->n_outputs = (int32_t)proto->n_output;
  return status_ok();
}

assay_status load_node(struct scope *scope, const Onnx__NodeProto *proto, int32_t index, struct node *out) {
  struct loader *loader = scope->loader;
  *out = (struct node){0};
  TRY(load_text(loader, proto->name, &out->name));
  TRY(load_text(loader, proto->op_type, &out->op_type));
  TRY(load_text(loader, load_domain(proto->domain), &out->domain));
  TRY(load_text(loader, proto->overload, &out->overload));
  TRY(label_node(loader, index, out));
  TRY(find_opset(scope, out));
  TRY(load_inputs(scope, proto, out));
  TRY(load_outputs(scope, proto, out));
  struct attribute *attributes;
  ARENA_NEW(loader->arena, attributes, proto->n_attribute);
  out->attributes = attributes;
  for (size_t i = 0; i < proto->n_attribute; i++) {
    TRY(load_attribute(scope, proto->attribute[i], out->label, &attributes[i]));
    out->n_attributes++;
  }
  return check_duplicates(loader, out);
}
