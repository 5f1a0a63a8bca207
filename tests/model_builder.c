/* See model_builder.h. Must never check what it writes: wrong models are its job. */
#include "model_builder.h"

#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "support.h"

struct child {
  int field;
  struct proto *proto;
};

struct proto {
  uint8_t *bytes;
  size_t size, capacity;
  struct child *children;
  size_t n_children;
  struct proto *graph; /* of a model: its main graph */
  uint8_t **opened;    /* bytes that onnx_open must keep */
  size_t n_opened;
};

static void *must(void *block) {
  if (block == NULL) {
    fputs("model builder: out of memory\n", stderr);
    abort();
  }
  return block;
}

struct proto *proto_new(void) {
  return must(calloc(1, sizeof(struct proto)));
}

void proto_free(struct proto *proto) {
  for (size_t i = 0; i < proto->n_children; i++) {
    proto_free(proto->children[i].proto);
  }
  for (size_t i = 0; i < proto->n_opened; i++) {
    free(proto->opened[i]);
  }
  free(proto->opened);
  free(proto->children);
  free(proto->bytes);
  free(proto);
}

struct proto *proto_child(struct proto *proto, int field) {
  proto->children = must(realloc(proto->children, (proto->n_children + 1) * sizeof *proto->children));
  struct proto *child = proto_new();
  proto->children[proto->n_children++] = (struct child){field, child};
  return child;
}

void proto_wire(struct proto *proto, const void *bytes, size_t size) {
  if (proto->capacity - proto->size < size) {
    proto->capacity = (proto->size + size) * 2;
    proto->bytes = must(realloc(proto->bytes, proto->capacity));
  }
  if (size > 0) {
    memcpy(proto->bytes + proto->size, bytes, size);
  }
  proto->size += size;
}

static void put_varint(struct proto *proto, uint64_t value) {
  uint8_t bytes[10];
  size_t n = 0;
  do {
    bytes[n] = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
    value >>= 7;
    n++;
  } while (value != 0);
  proto_wire(proto, bytes, n);
}

static void put_tag(struct proto *proto, int field, unsigned wire_type) {
  put_varint(proto, (uint64_t)field << 3 | wire_type);
}

void proto_int(struct proto *proto, int field, int64_t value) {
  put_tag(proto, field, 0);
  put_varint(proto, (uint64_t)value);
}

void proto_float(struct proto *proto, int field, float value) {
  put_tag(proto, field, 5);
  proto_wire(proto, &value, sizeof value);
}

void proto_bytes(struct proto *proto, int field, const void *bytes, size_t size) {
  put_tag(proto, field, 2);
  put_varint(proto, size);
  proto_wire(proto, bytes, size);
}

void proto_string(struct proto *proto, int field, const char *text) { proto_bytes(proto, field, text, strlen(text)); }

void proto_packed(struct proto *proto, int field, const int64_t *values, size_t count) {
  struct proto *packed = proto_new();
  for (size_t i = 0; i < count; i++) {
    put_varint(packed, (uint64_t)values[i]);
  }
  proto_bytes(proto, field, packed->bytes, packed->size);
  proto_free(packed);
}

static void serialize_into(const struct proto *proto, struct proto *out) {
  proto_wire(out, proto->bytes, proto->size);
  for (size_t i = 0; i < proto->n_children; i++) {
    struct proto *child = proto_new();
    serialize_into(proto->children[i].proto, child);
    proto_bytes(out, proto->children[i].field, child->bytes, child->size);
    proto_free(child);
  }
}

uint8_t *proto_serialize(const struct proto *proto, size_t *size) {
  struct proto *out = proto_new();
  serialize_into(proto, out);
  uint8_t *bytes = must(realloc(out->bytes, out->size + 1));
  *size = out->size;
  out->bytes = NULL;
  proto_free(out);
  return bytes;
}

/* Adds one string field per name of a comma-separated list; none for "". */
static void add_names(struct proto *proto, int field, const char *names) {
  while (*names != '\0') {
    size_t length = strcspn(names, ",");
    proto_bytes(proto, field, names, length);
    names += length;
    if (*names == ',') {
      names++;
      if (*names == '\0') {
        proto_string(proto, field, "");
      }
    }
  }
}

struct proto *onnx_model(int64_t ir_version, int64_t opset) {
  struct proto *model = proto_new();
  proto_int(model, 1, ir_version);
  if (opset != 0) {
    onnx_opset(model, "", opset);
  }
  return model;
}

static void add_opset(struct proto *proto, int field, const char *domain, int64_t version) {
  struct proto *opset = proto_child(proto, field);
  if (*domain != '\0') {
    proto_string(opset, 1, domain);
  }
  proto_int(opset, 2, version);
}

void onnx_opset(struct proto *model, const char *domain, int64_t version) { add_opset(model, 8, domain, version); }

void onnx_metadata(struct proto *model, const char *key, const char *value) {
  struct proto *entry = proto_child(model, 14);
  proto_string(entry, 1, key);
  proto_string(entry, 2, value);
}

struct proto *onnx_graph(struct proto *model) {
  if (model->graph == NULL) {
    model->graph = proto_child(model, 7);
    proto_string(model->graph, 2, "main");
  }
  return model->graph;
}

/* Functions keep nodes in field 7, graphs in field 1; a function is told by this mark. */
static int node_field(const struct proto *owner) { return owner->graph == owner ? 7 : 1; }

struct proto *onnx_function(struct proto *model, const char *domain, const char *name, const char *inputs,
                            const char *outputs) {
  struct proto *function = proto_child(model, 25);
  function->graph = function;
  proto_string(function, 1, name);
  add_names(function, 4, inputs);
  add_names(function, 5, outputs);
  proto_string(function, 10, domain);
  return function;
}

void onnx_function_opset(struct proto *function, const char *domain, int64_t version) {
  add_opset(function, 9, domain, version);
}

void onnx_function_attribute(struct proto *function, const char *name) { proto_string(function, 6, name); }

static void fill_attribute(struct proto *attribute, const char *name, int kind) {
  proto_string(attribute, 1, name);
  proto_int(attribute, 20, kind);
}

struct proto *onnx_function_default(struct proto *function, const char *name, int64_t value) {
  struct proto *attribute = proto_child(function, 11);
  fill_attribute(attribute, name, ATTRIBUTE_INT);
  proto_int(attribute, 3, value);
  return attribute;
}

/* A ValueInfoProto of a tensor. */
static void add_value(struct proto *owner, int field, const char *name, assay_dtype dtype, const char *shape) {
  struct proto *value = proto_child(owner, field);
  proto_string(value, 1, name);
  struct proto *tensor = proto_child(proto_child(value, 2), 1);
  proto_int(tensor, 1, dtype);
  if (shape == NULL) {
    return;
  }
  struct proto *dims = proto_child(tensor, 2);
  while (*shape != '\0') {
    size_t length = strcspn(shape, ",");
    struct proto *dim = proto_child(dims, 1);
    if ((*shape >= '0' && *shape <= '9') || *shape == '-') {
      proto_int(dim, 1, strtoll(shape, NULL, 10));
    } else if (*shape != '?') {
      proto_bytes(dim, 2, shape, length);
    }
    shape += length + (shape[length] == ',');
  }
}

void onnx_input(struct proto *graph, const char *name, assay_dtype dtype, const char *shape) {
  add_value(graph, 11, name, dtype, shape);
}

void onnx_output(struct proto *graph, const char *name, assay_dtype dtype, const char *shape) {
  add_value(graph, 12, name, dtype, shape);
}

void onnx_value(struct proto *graph, const char *name, assay_dtype dtype, const char *shape) {
  add_value(graph, node_field(graph) == 7 ? 12 : 13, name, dtype, shape);
}

/* Writes the dims of a tensor; answers the number of elements. */
static size_t fill_tensor(struct proto *tensor, const char *name, assay_dtype dtype, const char *shape) {
  size_t count = 1;
  while (*shape != '\0') {
    int64_t dim = strtoll(shape, NULL, 10);
    proto_int(tensor, 1, dim);
    count *= (size_t)dim;
    shape += strcspn(shape, ",");
    shape += *shape == ',';
  }
  proto_int(tensor, 2, dtype);
  if (*name != '\0') {
    proto_string(tensor, 8, name);
  }
  return count;
}

struct proto *onnx_tensor(struct proto *graph, const char *name, assay_dtype dtype, const char *shape) {
  struct proto *tensor = proto_child(graph, 5);
  fill_tensor(tensor, name, dtype, shape);
  return tensor;
}

struct proto *onnx_raw(struct proto *graph, const char *name, assay_dtype dtype, const char *shape, const void *data,
                       size_t bytes) {
  struct proto *tensor = onnx_tensor(graph, name, dtype, shape);
  proto_bytes(tensor, 9, data, bytes);
  return tensor;
}

static size_t count_of(const char *shape) {
  struct proto *scratch = proto_new();
  size_t count = fill_tensor(scratch, "", ASSAY_FLOAT32, shape);
  proto_free(scratch);
  return count;
}

struct proto *onnx_f32(struct proto *graph, const char *name, const char *shape, const float *values) {
  return onnx_raw(graph, name, ASSAY_FLOAT32, shape, values, count_of(shape) * sizeof *values);
}

struct proto *onnx_i64(struct proto *graph, const char *name, const char *shape, const int64_t *values) {
  return onnx_raw(graph, name, ASSAY_INT64, shape, values, count_of(shape) * sizeof *values);
}

static void add_external(struct proto *tensor, const char *key, const char *value) {
  if (value != NULL) {
    struct proto *entry = proto_child(tensor, 13);
    proto_string(entry, 1, key);
    proto_string(entry, 2, value);
  }
}

struct proto *onnx_external(struct proto *graph, const char *name, assay_dtype dtype, const char *shape,
                            const char *location, const char *offset, const char *length) {
  struct proto *tensor = onnx_tensor(graph, name, dtype, shape);
  proto_int(tensor, 14, 1);
  add_external(tensor, "location", location);
  add_external(tensor, "offset", offset);
  add_external(tensor, "length", length);
  return tensor;
}

struct proto *onnx_node(struct proto *graph, const char *op_type, const char *inputs, const char *outputs) {
  return onnx_node_of(graph, "", op_type, "", inputs, outputs);
}

struct proto *onnx_node_of(struct proto *graph, const char *domain, const char *op_type, const char *name,
                           const char *inputs, const char *outputs) {
  struct proto *node = proto_child(graph, node_field(graph));
  add_names(node, 1, inputs);
  add_names(node, 2, outputs);
  if (*name != '\0') {
    proto_string(node, 3, name);
  }
  proto_string(node, 4, op_type);
  if (*domain != '\0') {
    proto_string(node, 7, domain);
  }
  return node;
}

static struct proto *add_attribute(struct proto *node, const char *name, int kind) {
  struct proto *attribute = proto_child(node, 5);
  fill_attribute(attribute, name, kind);
  return attribute;
}

struct proto *onnx_int(struct proto *node, const char *name, int64_t value) {
  proto_int(add_attribute(node, name, ATTRIBUTE_INT), 3, value);
  return node;
}

struct proto *onnx_float(struct proto *node, const char *name, float value) {
  proto_float(add_attribute(node, name, ATTRIBUTE_FLOAT), 2, value);
  return node;
}

struct proto *onnx_string(struct proto *node, const char *name, const char *value) {
  proto_string(add_attribute(node, name, ATTRIBUTE_STRING), 4, value);
  return node;
}

struct proto *onnx_ints(struct proto *node, const char *name, const int64_t *values, size_t count) {
  struct proto *attribute = add_attribute(node, name, ATTRIBUTE_INTS);
  for (size_t i = 0; i < count; i++) {
    proto_int(attribute, 8, values[i]);
  }
  return node;
}

struct proto *onnx_floats(struct proto *node, const char *name, const float *values, size_t count) {
  struct proto *attribute = add_attribute(node, name, ATTRIBUTE_FLOATS);
  for (size_t i = 0; i < count; i++) {
    proto_float(attribute, 7, values[i]);
  }
  return node;
}

struct proto *onnx_strings(struct proto *node, const char *name, const char *const *values, size_t count) {
  struct proto *attribute = add_attribute(node, name, ATTRIBUTE_STRINGS);
  for (size_t i = 0; i < count; i++) {
    proto_string(attribute, 9, values[i]);
  }
  return node;
}

struct proto *onnx_tensor_attribute(struct proto *node, const char *name, assay_dtype dtype, const char *shape,
                                    const void *data) {
  struct proto *tensor = proto_child(add_attribute(node, name, ATTRIBUTE_TENSOR), 5);
  size_t count = fill_tensor(tensor, "", dtype, shape);
  proto_bytes(tensor, 9, data, (count * assay_dtype_bits(dtype) + 7) / 8);
  return node;
}

struct proto *onnx_graph_attribute(struct proto *node, const char *name) {
  struct proto *graph = proto_child(add_attribute(node, name, ATTRIBUTE_GRAPH), 6);
  proto_string(graph, 2, name);
  return graph;
}

void onnx_reference(struct proto *node, const char *name, const char *reference, int kind) {
  proto_string(add_attribute(node, name, kind), 21, reference);
}

uint8_t *onnx_bytes(const struct proto *model, size_t *size) { return proto_serialize(model, size); }

void onnx_write(const struct proto *model, const char *path) {
  size_t size;
  uint8_t *bytes = onnx_bytes(model, &size);
  FILE *file = must(fopen(path, "wb"));
  if (fwrite(bytes, 1, size, file) != size || fclose(file) != 0) {
    abort();
  }
  free(bytes);
}

struct model *onnx_open(struct proto *model) {
  size_t size;
  uint8_t *bytes = onnx_bytes(model, &size);
  model->opened = must(realloc(model->opened, (model->n_opened + 1) * sizeof *model->opened));
  model->opened[model->n_opened++] = bytes;
  struct model *opened = NULL;
  ASSERT_OK(model_parse(bytes, size, NULL, NULL, &opened));
  return opened;
}
