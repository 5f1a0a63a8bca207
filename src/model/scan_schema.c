/* The tables behind scan_schema.h; numbers are those of ONNX IR version 14. Must list every
 * field that onnx.proto has: what is not here is dropped from the copy. */
#include "model/scan_schema.h"

#include <stddef.h>

/* What one message costs: protobuf-c's struct and pointer with the allocator's overhead, and
 * what graph.h keeps of it. Generous, since this bounds memory before any is taken. */
enum {
  COST_NUMBER = 16,
  COST_TEXT = 64,
  COST_VALUE_NAME = 448, /* a node's output: a value of the graph */
  COST_SMALL = 96,
  COST_TYPE = 384,
  COST_VALUE = 512,
  COST_TENSOR = 640,
  COST_NODE = 320,
  COST_ATTRIBUTE = 448,
  COST_GRAPH = 512
};

#define VARINT(number, repeated) \
  { number, SCAN_VARINT, repeated, false, 0, SCAN_NONE, COST_NUMBER }
#define TEXT(number, repeated) \
  { number, SCAN_TEXT, repeated, false, 0, SCAN_NONE, COST_TEXT }
#define BYTES(number, repeated) \
  { number, SCAN_BYTES, repeated, false, 0, SCAN_NONE, COST_TEXT }
#define FIXED32(number, repeated) \
  { number, SCAN_FIXED32, repeated, false, 0, SCAN_NONE, 8 }
#define FIXED64(number, repeated) \
  { number, SCAN_FIXED64, repeated, false, 0, SCAN_NONE, 16 }
#define MESSAGE(number, repeated, message, cost) \
  { number, SCAN_MESSAGE, repeated, false, 0, message, cost }
#define ONE_OF(number, group, kind, message, cost) \
  { number, kind, false, false, group, message, cost }
/* Fields that are checked for their wire type and passed over. */
#define DROP(number, kind, repeated) \
  { number, kind, repeated, true, 0, SCAN_NONE, 0 }

static const struct scan_field model_fields[] = {
    VARINT(1, false),
    TEXT(2, false),
    TEXT(3, false),
    TEXT(4, false),
    VARINT(5, false),
    TEXT(6, false),
    MESSAGE(7, false, SCAN_GRAPH, COST_GRAPH),
    MESSAGE(8, true, SCAN_OPSET, COST_SMALL),
    MESSAGE(14, true, SCAN_ENTRY, COST_SMALL),
    DROP(20, SCAN_MESSAGE, true), /* training_info */
    MESSAGE(25, true, SCAN_FUNCTION, COST_GRAPH),
    DROP(26, SCAN_MESSAGE, true), /* configuration */
};
static const struct scan_field opset_fields[] = {TEXT(1, false), VARINT(2, false)};
static const struct scan_field entry_fields[] = {TEXT(1, false), TEXT(2, false)};
static const struct scan_field graph_fields[] = {
    MESSAGE(1, true, SCAN_NODE, COST_NODE),
    TEXT(2, false),
    MESSAGE(5, true, SCAN_TENSOR, COST_TENSOR + COST_VALUE_NAME),
    DROP(10, SCAN_BYTES, false), /* doc_string */
    MESSAGE(11, true, SCAN_VALUE_INFO, COST_VALUE),
    MESSAGE(12, true, SCAN_VALUE_INFO, COST_VALUE),
    MESSAGE(13, true, SCAN_VALUE_INFO, COST_VALUE),
    DROP(14, SCAN_MESSAGE, true), /* quantization_annotation */
    MESSAGE(15, true, SCAN_SPARSE, COST_TENSOR),
    DROP(16, SCAN_MESSAGE, true), /* metadata_props */
};
static const struct scan_field node_fields[] = {
    TEXT(1, true),
    {2, SCAN_TEXT, true, false, 0, SCAN_NONE, COST_VALUE_NAME},
    TEXT(3, false),
    TEXT(4, false),
    MESSAGE(5, true, SCAN_ATTRIBUTE, COST_ATTRIBUTE),
    DROP(6, SCAN_BYTES, false), /* doc_string */
    TEXT(7, false),
    TEXT(8, false),
    DROP(9, SCAN_MESSAGE, true),  /* metadata_props */
    DROP(10, SCAN_MESSAGE, true), /* device_configurations */
};
static const struct scan_field attribute_fields[] = {
    TEXT(1, false),
    FIXED32(2, false),
    VARINT(3, false),
    BYTES(4, false),
    MESSAGE(5, false, SCAN_TENSOR, COST_TENSOR),
    MESSAGE(6, false, SCAN_GRAPH, COST_GRAPH),
    FIXED32(7, true),
    VARINT(8, true),
    BYTES(9, true),
    MESSAGE(10, true, SCAN_TENSOR, COST_TENSOR),
    MESSAGE(11, true, SCAN_GRAPH, COST_GRAPH),
    DROP(13, SCAN_BYTES, false), /* doc_string */
    MESSAGE(14, false, SCAN_TYPE, COST_TYPE),
    MESSAGE(15, true, SCAN_TYPE, COST_TYPE),
    VARINT(20, false),
    TEXT(21, false),
    MESSAGE(22, false, SCAN_SPARSE, COST_TENSOR),
    MESSAGE(23, true, SCAN_SPARSE, COST_TENSOR),
};
static const struct scan_field function_fields[] = {
    TEXT(1, false),
    {4, SCAN_TEXT, true, false, 0, SCAN_NONE, COST_VALUE_NAME},
    {5, SCAN_TEXT, true, false, 0, SCAN_NONE, COST_VALUE_NAME},
    TEXT(6, true),
    MESSAGE(7, true, SCAN_NODE, COST_NODE),
    DROP(8, SCAN_BYTES, false), /* doc_string */
    MESSAGE(9, true, SCAN_OPSET, COST_SMALL),
    TEXT(10, false),
    MESSAGE(11, true, SCAN_ATTRIBUTE, COST_ATTRIBUTE),
    MESSAGE(12, true, SCAN_VALUE_INFO, COST_VALUE),
    TEXT(13, false),
    DROP(14, SCAN_MESSAGE, true), /* metadata_props */
};
static const struct scan_field value_info_fields[] = {
    TEXT(1, false), MESSAGE(2, false, SCAN_TYPE, COST_SMALL), DROP(3, SCAN_BYTES, false), /* doc_string */
    DROP(4, SCAN_MESSAGE, true),                                                          /* metadata_props */
};
static const struct scan_field type_fields[] = {
    ONE_OF(1, 1, SCAN_MESSAGE, SCAN_TYPE_TENSOR, COST_SMALL),
    ONE_OF(4, 1, SCAN_MESSAGE, SCAN_TYPE_ELEMENT, COST_SMALL),
    ONE_OF(5, 1, SCAN_MESSAGE, SCAN_TYPE_MAP, COST_SMALL),
    DROP(6, SCAN_BYTES, false), /* denotation */
    ONE_OF(7, 1, SCAN_MESSAGE, SCAN_TYPE_OPAQUE, COST_SMALL),
    ONE_OF(8, 1, SCAN_MESSAGE, SCAN_TYPE_TENSOR, COST_SMALL),
    ONE_OF(9, 1, SCAN_MESSAGE, SCAN_TYPE_ELEMENT, COST_SMALL),
};
static const struct scan_field type_tensor_fields[] = {
    VARINT(1, false),
    MESSAGE(2, false, SCAN_SHAPE, COST_SMALL),
};
static const struct scan_field type_element_fields[] = {MESSAGE(1, false, SCAN_TYPE, COST_SMALL)};
static const struct scan_field type_map_fields[] = {VARINT(1, false), MESSAGE(2, false, SCAN_TYPE, COST_SMALL)};
static const struct scan_field type_opaque_fields[] = {TEXT(1, false), TEXT(2, false)};
static const struct scan_field shape_fields[] = {MESSAGE(1, true, SCAN_DIMENSION, COST_SMALL)};
static const struct scan_field dimension_fields[] = {
    ONE_OF(1, 1, SCAN_VARINT, SCAN_NONE, 0), ONE_OF(2, 1, SCAN_TEXT, SCAN_NONE, COST_TEXT),
    DROP(3, SCAN_BYTES, false), /* denotation */
};
static const struct scan_field tensor_fields[] = {
    VARINT(1, true),
    VARINT(2, false),
    MESSAGE(3, false, SCAN_NONE, 0), /* segment: refused by the scan */
    FIXED32(4, true),
    VARINT(5, true),
    BYTES(6, true),
    VARINT(7, true),
    TEXT(8, false),
    BYTES(9, false),
    FIXED64(10, true),
    VARINT(11, true),
    DROP(12, SCAN_BYTES, false), /* doc_string */
    MESSAGE(13, true, SCAN_ENTRY, COST_SMALL),
    VARINT(14, false),
    DROP(16, SCAN_MESSAGE, true), /* metadata_props */
};
static const struct scan_field sparse_fields[] = {
    MESSAGE(1, false, SCAN_TENSOR, COST_TENSOR),
    MESSAGE(2, false, SCAN_TENSOR, COST_TENSOR),
    VARINT(3, true),
};

#define SCHEMA(name, fields) \
  { name, (int32_t)(sizeof(fields) / sizeof *(fields)), fields }
static const struct scan_schema schemas[SCAN_MESSAGE_COUNT] = {
    [SCAN_NONE] = {"a message", 0, NULL},
    [SCAN_MODEL] = SCHEMA("ModelProto", model_fields),
    [SCAN_OPSET] = SCHEMA("OperatorSetIdProto", opset_fields),
    [SCAN_ENTRY] = SCHEMA("StringStringEntryProto", entry_fields),
    [SCAN_GRAPH] = SCHEMA("GraphProto", graph_fields),
    [SCAN_NODE] = SCHEMA("NodeProto", node_fields),
    [SCAN_ATTRIBUTE] = SCHEMA("AttributeProto", attribute_fields),
    [SCAN_FUNCTION] = SCHEMA("FunctionProto", function_fields),
    [SCAN_VALUE_INFO] = SCHEMA("ValueInfoProto", value_info_fields),
    [SCAN_TYPE] = SCHEMA("TypeProto", type_fields),
    [SCAN_TYPE_TENSOR] = SCHEMA("TypeProto.Tensor", type_tensor_fields),
    [SCAN_TYPE_ELEMENT] = SCHEMA("TypeProto.Sequence", type_element_fields),
    [SCAN_TYPE_MAP] = SCHEMA("TypeProto.Map", type_map_fields),
    [SCAN_TYPE_OPAQUE] = SCHEMA("TypeProto.Opaque", type_opaque_fields),
    [SCAN_SHAPE] = SCHEMA("TensorShapeProto", shape_fields),
    [SCAN_DIMENSION] = SCHEMA("TensorShapeProto.Dimension", dimension_fields),
    [SCAN_TENSOR] = SCHEMA("TensorProto", tensor_fields),
    [SCAN_SPARSE] = SCHEMA("SparseTensorProto", sparse_fields),
};

const struct scan_schema *scan_schema_of(enum scan_message message) { return &schemas[message]; }

const struct scan_field *scan_field_of(const struct scan_schema *schema, uint32_t number) {
  for (int32_t i = 0; i < schema->n_fields; i++) {
    if (schema->fields[i].number == number) {
      return &schema->fields[i];
    }
  }
  return NULL;
}
