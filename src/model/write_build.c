/* A model as protobuf-c's messages. Fields are filled in one way only, so that equal models become equal
 * bytes; texts and weights are pointed to, not copied. */
#include <inttypes.h>
#include <string.h>

#include "core/file.h"
#include "model/write.h"

/* protobuf-c's messages have no const; what they point to is not written to. */
static char *text_of(const char *text) { return (char *)(uintptr_t)text; }

/* An optional text is left out when it is empty. */
static char *optional_text(const char *text) { return text[0] == '\0' ? NULL : text_of(text); }

static ProtobufCBinaryData bytes_of(const void *data, size_t size) {
  return (ProtobufCBinaryData){size, (uint8_t *)(uintptr_t)data};
}

/* A new message in the writer's arena, initialised; or return with OUT_OF_MEMORY. */
#define NEW_MESSAGE(writer, pointer, kind)     \
  do {                                         \
    ARENA_NEW(&(writer)->arena, (pointer), 1); \
    onnx__##kind##__init(pointer);             \
  } while (0)

/* --- types -------------------------------------------------------------------------- */

static assay_status build_shape(struct writer *writer, const struct value_type *type, Onnx__TensorShapeProto **out) {
  *out = NULL;
  if (type->rank == RANK_UNKNOWN) {
    return status_ok();
  }
  NEW_MESSAGE(writer, *out, tensor_shape_proto);
  ARENA_NEW(&writer->arena, (*out)->dim, type->rank);
  (*out)->n_dim = (size_t)type->rank;
  for (int32_t i = 0; i < type->rank; i++) {
    Onnx__TensorShapeProto__Dimension *dim;
    NEW_MESSAGE(writer, dim, tensor_shape_proto__dimension);
    (*out)->dim[i] = dim;
    if (type->dims[i].value >= 0) {
      dim->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
      dim->dim_value = type->dims[i].value;
    } else if (type->dims[i].symbol != NULL) {
      dim->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
      dim->dim_param = text_of(type->dims[i].symbol);
    }
  }
  return status_ok();
}

static assay_status build_tensor_type(struct writer *writer, const struct value_type *type, Onnx__TypeProto **out) {
  NEW_MESSAGE(writer, *out, type_proto);
  Onnx__TypeProto__Tensor *tensor;
  NEW_MESSAGE(writer, tensor, type_proto__tensor);
  (*out)->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
  (*out)->tensor_type = tensor;
  tensor->has_elem_type = true;
  tensor->elem_type = (int32_t)type->dtype;
  return build_shape(writer, type, &tensor->shape);
}

static assay_status build_sparse_type(struct writer *writer, const struct value_type *type, Onnx__TypeProto **out) {
  NEW_MESSAGE(writer, *out, type_proto);
  Onnx__TypeProto__SparseTensor *tensor;
  NEW_MESSAGE(writer, tensor, type_proto__sparse_tensor);
  (*out)->value_case = ONNX__TYPE_PROTO__VALUE_SPARSE_TENSOR_TYPE;
  (*out)->sparse_tensor_type = tensor;
  tensor->has_elem_type = true;
  tensor->elem_type = (int32_t)type->dtype;
  return build_shape(writer, type, &tensor->shape);
}

/* A sequence or an optional; one of unknown content has no element. */
static assay_status build_wrapped_type(struct writer *writer, const struct value_type *type, Onnx__TypeProto **out) {
  Onnx__TypeProto *element = NULL;
  if (type->dtype != ASSAY_UNDEFINED) {
    TRY(build_tensor_type(writer, type, &element));
  }
  NEW_MESSAGE(writer, *out, type_proto);
  if (type->kind == TYPE_SEQUENCE) {
    (*out)->value_case = ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE;
    NEW_MESSAGE(writer, (*out)->sequence_type, type_proto__sequence);
    (*out)->sequence_type->elem_type = element;
  } else {
    (*out)->value_case = ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE;
    NEW_MESSAGE(writer, (*out)->optional_type, type_proto__optional);
    (*out)->optional_type->elem_type = element;
  }
  return status_ok();
}

static assay_status build_type(struct writer *writer, const struct value_type *type, const char *name,
                               Onnx__TypeProto **out) {
  *out = NULL;
  if (type->kind == TYPE_MAP || (type->kind != TYPE_UNKNOWN && type->deep)) {
    return status_make(ASSAY_MODEL_UNWRITABLE, writer->path,
                       "the type of '%s' is a map, or nested deeper than a sequence or optional of tensors", name);
  }
  switch (type->kind) {
    case TYPE_TENSOR:
      return build_tensor_type(writer, type, out);
    case TYPE_SPARSE_TENSOR:
      return build_sparse_type(writer, type, out);
    case TYPE_SEQUENCE:
    case TYPE_OPTIONAL:
      return build_wrapped_type(writer, type, out);
    case TYPE_UNKNOWN:
    case TYPE_MAP:
      break;
  }
  return status_ok();
}

static assay_status build_value(struct writer *writer, const struct value *value, Onnx__ValueInfoProto **out) {
  NEW_MESSAGE(writer, *out, value_info_proto);
  (*out)->name = text_of(value->name);
  return build_type(writer, &value->declared, value->name, &(*out)->type);
}

/* --- tensors -------------------------------------------------------------------------- */

static assay_status add_entry(struct writer *writer, const char *key, const char *value,
                              Onnx__StringStringEntryProto **out) {
  NEW_MESSAGE(writer, *out, string_string_entry_proto);
  (*out)->key = text_of(key);
  (*out)->value = text_of(value);
  return value == NULL ? status_no_memory(0) : status_ok();
}

static assay_status build_external(struct writer *writer, const assay_tensor *tensor, Onnx__TensorProto *out) {
  uint64_t offset;
  TRY(write_external(writer, tensor, &offset));
  out->has_data_location = true;
  out->data_location = 1;
  out->n_external_data = 3;
  ARENA_NEW(&writer->arena, out->external_data, 3);
  TRY(add_entry(writer, "location", path_name(writer->data_path), &out->external_data[0]));
  TRY(add_entry(writer, "offset", arena_format(&writer->arena, "%" PRIu64, offset), &out->external_data[1]));
  return add_entry(writer, "length", arena_format(&writer->arena, "%zu", tensor->bytes), &out->external_data[2]);
}

static assay_status build_strings(struct writer *writer, const assay_tensor *tensor, Onnx__TensorProto *out) {
  const assay_text *texts = tensor->data;
  out->n_string_data = tensor->bytes / sizeof *texts;
  ARENA_NEW(&writer->arena, out->string_data, out->n_string_data);
  for (size_t i = 0; i < out->n_string_data; i++) {
    out->string_data[i] = bytes_of(texts[i].data, texts[i].length);
  }
  return status_ok();
}

static assay_status build_tensor(struct writer *writer, const assay_tensor *tensor, const char *name, bool may_move,
                                 Onnx__TensorProto **out) {
  NEW_MESSAGE(writer, *out, tensor_proto);
  Onnx__TensorProto *proto = *out;
  proto->name = name != NULL ? text_of(name) : NULL;
  proto->has_data_type = true;
  proto->data_type = (int32_t)tensor->dtype;
  ARENA_NEW(&writer->arena, proto->dims, tensor->rank);
  proto->n_dims = (size_t)tensor->rank;
  for (int32_t i = 0; i < tensor->rank; i++) {
    proto->dims[i] = tensor->dims[i];
  }
  if (tensor->dtype == ASSAY_STRING) {
    return build_strings(writer, tensor, proto);
  }
  if (may_move && writer->threshold > 0 && tensor->bytes >= writer->threshold) {
    return build_external(writer, tensor, proto);
  }
  proto->has_raw_data = true;
  proto->raw_data = bytes_of(tensor->data, tensor->bytes);
  return status_ok();
}

/* --- attributes -------------------------------------------------------------------------- */

static assay_status build_graph(struct writer *writer, const struct graph *graph, Onnx__GraphProto **out);

static assay_status build_tensors(struct writer *writer, const struct attribute *attribute, Onnx__AttributeProto *out) {
  if (attribute->kind == ATTRIBUTE_TENSOR) {
    return build_tensor(writer, attribute->tensors, NULL, false, &out->t);
  }
  out->n_tensors = (size_t)attribute->count;
  ARENA_NEW(&writer->arena, out->tensors, attribute->count);
  for (int32_t i = 0; i < attribute->count; i++) {
    TRY(build_tensor(writer, &attribute->tensors[i], NULL, false, &out->tensors[i]));
  }
  return status_ok();
}

static assay_status build_graphs(struct writer *writer, const struct attribute *attribute, Onnx__AttributeProto *out) {
  if (attribute->kind == ATTRIBUTE_GRAPH) {
    return build_graph(writer, attribute->graphs[0], &out->g);
  }
  out->n_graphs = (size_t)attribute->count;
  ARENA_NEW(&writer->arena, out->graphs, attribute->count);
  for (int32_t i = 0; i < attribute->count; i++) {
    TRY(build_graph(writer, attribute->graphs[i], &out->graphs[i]));
  }
  return status_ok();
}

static assay_status build_texts(struct writer *writer, const struct attribute *attribute, Onnx__AttributeProto *out) {
  out->n_strings = (size_t)attribute->count;
  ARENA_NEW(&writer->arena, out->strings, attribute->count);
  for (int32_t i = 0; i < attribute->count; i++) {
    out->strings[i] = bytes_of(attribute->strings[i].data, attribute->strings[i].length);
  }
  return status_ok();
}

static assay_status build_content(struct writer *writer, const struct attribute *attribute, Onnx__AttributeProto *out) {
  switch (attribute->kind) {
    case ATTRIBUTE_FLOAT:
      out->has_f = true;
      out->f = attribute->f;
      return status_ok();
    case ATTRIBUTE_INT:
      out->has_i = true;
      out->i = attribute->i;
      return status_ok();
    case ATTRIBUTE_STRING:
      out->has_s = true;
      out->s = bytes_of(attribute->s.data, attribute->s.length);
      return status_ok();
    case ATTRIBUTE_FLOATS:
      out->n_floats = (size_t)attribute->count;
      out->floats = (float *)(uintptr_t)attribute->floats;
      return status_ok();
    case ATTRIBUTE_INTS:
      out->n_ints = (size_t)attribute->count;
      out->ints = (int64_t *)(uintptr_t)attribute->ints;
      return status_ok();
    case ATTRIBUTE_STRINGS:
      return build_texts(writer, attribute, out);
    case ATTRIBUTE_TENSOR:
    case ATTRIBUTE_TENSORS:
      return build_tensors(writer, attribute, out);
    case ATTRIBUTE_GRAPH:
    case ATTRIBUTE_GRAPHS:
      return build_graphs(writer, attribute, out);
    case ATTRIBUTE_TYPE_PROTO:
      return build_type(writer, attribute->type, attribute->name, &out->tp);
    default:
      return status_make(ASSAY_MODEL_UNWRITABLE, writer->path, "attribute '%s' is of a kind that is not written",
                         attribute->name);
  }
}

static assay_status build_attribute(struct writer *writer, const struct attribute *attribute,
                                    Onnx__AttributeProto **out) {
  NEW_MESSAGE(writer, *out, attribute_proto);
  (*out)->name = text_of(attribute->name);
  (*out)->has_type = true;
  (*out)->type = (int32_t)attribute->kind;
  if (attribute->reference != NULL) {
    (*out)->ref_attr_name = text_of(attribute->reference);
    return status_ok();
  }
  return build_content(writer, attribute, *out);
}

/* --- nodes and graphs ------------------------------------------------------------------------ */

static assay_status build_names(struct writer *writer, const struct graph *graph, const int32_t *values, int32_t n,
                                size_t *n_out, char ***out) {
  ARENA_NEW(&writer->arena, *out, n);
  *n_out = (size_t)n;
  for (int32_t i = 0; i < n; i++) {
    (*out)[i] = text_of(values[i] < 0 ? "" : graph->values[values[i]].name);
  }
  return status_ok();
}

static assay_status build_node(struct writer *writer, const struct graph *graph, const struct node *node,
                               Onnx__NodeProto **out) {
  NEW_MESSAGE(writer, *out, node_proto);
  Onnx__NodeProto *proto = *out;
  proto->name = optional_text(node->name);
  proto->op_type = text_of(node->op_type);
  proto->domain = optional_text(node->domain);
  proto->overload = optional_text(node->overload);
  TRY(build_names(writer, graph, node->inputs, node->n_inputs, &proto->n_input, &proto->input));
  TRY(build_names(writer, graph, node->outputs, node->n_outputs, &proto->n_output, &proto->output));
  ARENA_NEW(&writer->arena, proto->attribute, node->n_attributes);
  proto->n_attribute = (size_t)node->n_attributes;
  for (int32_t i = 0; i < node->n_attributes; i++) {
    TRY(build_attribute(writer, &node->attributes[i], &proto->attribute[i]));
  }
  return status_ok();
}

static assay_status build_nodes(struct writer *writer, const struct graph *graph, size_t *n, Onnx__NodeProto ***out) {
  ARENA_NEW(&writer->arena, *out, graph->n_nodes);
  *n = (size_t)graph->n_nodes;
  for (int32_t i = 0; i < graph->n_nodes; i++) {
    TRY(build_node(writer, graph, &graph->nodes[i], &(*out)[i]));
  }
  return status_ok();
}

/* Declared types of inner values, in the order of the nodes that write them. Inputs and outputs of a function
 * have no other place for theirs. */
static assay_status build_value_info(struct writer *writer, const struct graph *graph, bool is_function, size_t *n,
                                     Onnx__ValueInfoProto ***out) {
  ARENA_NEW(&writer->arena, *out, graph->n_values);
  for (int32_t i = 0; is_function && i < graph->n_inputs; i++) {
    if (graph->values[graph->inputs[i]].declared.kind != TYPE_UNKNOWN) {
      TRY(build_value(writer, &graph->values[graph->inputs[i]], &(*out)[*n]));
      (*n)++;
    }
  }
  for (int32_t i = 0; i < graph->n_nodes; i++) {
    for (int32_t k = 0; k < graph->nodes[i].n_outputs; k++) {
      int32_t number = graph->nodes[i].outputs[k];
      const struct value *value = number >= 0 ? &graph->values[number] : NULL;
      if (value != NULL && (is_function || !value->is_output) && value->declared.kind != TYPE_UNKNOWN) {
        TRY(build_value(writer, value, &(*out)[*n]));
        (*n)++;
      }
    }
  }
  return status_ok();
}

static assay_status build_ends(struct writer *writer, const struct graph *graph, const int32_t *values, int32_t n,
                               size_t *n_out, Onnx__ValueInfoProto ***out) {
  ARENA_NEW(&writer->arena, *out, n);
  *n_out = (size_t)n;
  for (int32_t i = 0; i < n; i++) {
    TRY(build_value(writer, &graph->values[values[i]], &(*out)[i]));
  }
  return status_ok();
}

static assay_status build_graph(struct writer *writer, const struct graph *graph, Onnx__GraphProto **out) {
  NEW_MESSAGE(writer, *out, graph_proto);
  Onnx__GraphProto *proto = *out;
  proto->name = text_of(graph->name);
  TRY(build_ends(writer, graph, graph->inputs, graph->n_inputs, &proto->n_input, &proto->input));
  TRY(build_ends(writer, graph, graph->outputs, graph->n_outputs, &proto->n_output, &proto->output));
  TRY(build_value_info(writer, graph, false, &proto->n_value_info, &proto->value_info));
  ARENA_NEW(&writer->arena, proto->initializer, graph->n_initializers);
  proto->n_initializer = (size_t)graph->n_initializers;
  for (int32_t i = 0; i < graph->n_initializers; i++) {
    const struct initializer *initializer = &graph->initializers[i];
    TRY(build_tensor(writer, &initializer->tensor, graph->values[initializer->value].name, true,
                     &proto->initializer[i]));
  }
  return build_nodes(writer, graph, &proto->n_node, &proto->node);
}

/* --- functions and the model --------------------------------------------------------------------- */

static assay_status build_opsets(struct writer *writer, const struct opset_import *imports, int32_t n, size_t *n_out,
                                 Onnx__OperatorSetIdProto ***out) {
  ARENA_NEW(&writer->arena, *out, n);
  *n_out = (size_t)n;
  for (int32_t i = 0; i < n; i++) {
    NEW_MESSAGE(writer, (*out)[i], operator_set_id_proto);
    (*out)[i]->domain = optional_text(imports[i].domain);
    (*out)[i]->has_version = true;
    (*out)[i]->version = imports[i].version;
  }
  return status_ok();
}

static assay_status build_function(struct writer *writer, const struct function *function, Onnx__FunctionProto **out) {
  NEW_MESSAGE(writer, *out, function_proto);
  Onnx__FunctionProto *proto = *out;
  const struct graph *body = function->body;
  proto->name = text_of(function->name);
  proto->domain = text_of(function->domain);
  proto->overload = optional_text(function->overload);
  TRY(build_names(writer, body, body->inputs, body->n_inputs, &proto->n_input, &proto->input));
  TRY(build_names(writer, body, body->outputs, body->n_outputs, &proto->n_output, &proto->output));
  ARENA_NEW(&writer->arena, proto->attribute, function->n_attributes);
  proto->n_attribute = (size_t)function->n_attributes;
  for (int32_t i = 0; i < function->n_attributes; i++) {
    proto->attribute[i] = text_of(function->attributes[i]);
  }
  ARENA_NEW(&writer->arena, proto->attribute_proto, function->n_defaults);
  proto->n_attribute_proto = (size_t)function->n_defaults;
  for (int32_t i = 0; i < function->n_defaults; i++) {
    TRY(build_attribute(writer, &function->defaults[i], &proto->attribute_proto[i]));
  }
  TRY(build_opsets(writer, function->opsets, function->n_opsets, &proto->n_opset_import, &proto->opset_import));
  TRY(build_value_info(writer, body, true, &proto->n_value_info, &proto->value_info));
  return build_nodes(writer, body, &proto->n_node, &proto->node);
}

static assay_status build_metadata(struct writer *writer, Onnx__ModelProto *out) {
  const struct model *model = writer->model;
  ARENA_NEW(&writer->arena, out->metadata_props, model->n_metadata);
  out->n_metadata_props = (size_t)model->n_metadata;
  for (int32_t i = 0; i < model->n_metadata; i++) {
    TRY(add_entry(writer, model->metadata[i].key, model->metadata[i].value, &out->metadata_props[i]));
  }
  return status_ok();
}

assay_status write_build(struct writer *writer, Onnx__ModelProto *out) {
  const struct model *model = writer->model;
  onnx__model_proto__init(out);
  out->has_ir_version = true;
  out->ir_version = model->ir_version;
  out->producer_name = optional_text(model->producer_name);
  out->producer_version = optional_text(model->producer_version);
  out->domain = optional_text(model->domain);
  out->has_model_version = model->model_version != 0;
  out->model_version = model->model_version;
  out->doc_string = optional_text(model->doc);
  TRY(build_opsets(writer, model->opsets, model->n_opsets, &out->n_opset_import, &out->opset_import));
  TRY(build_metadata(writer, out));
  ARENA_NEW(&writer->arena, out->functions, model->n_functions);
  out->n_functions = (size_t)model->n_functions;
  for (int32_t i = 0; i < model->n_functions; i++) {
    TRY(build_function(writer, &model->functions[i], &out->functions[i]));
  }
  return build_graph(writer, model->graph, &out->graph);
}
