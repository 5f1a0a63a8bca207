/* A TensorProto on its own goes through the same scan and the same checks as any tensor of a model: it is
 * read as the value of the one Constant of a model made around it. Nothing of the file is trusted before that. */
#include "model/tensor_file.h"

#include <string.h>

#include "core/file.h"
#include "core/memory.h"
#include "model/model.h"

static const size_t largest_file = (size_t)1 << 31;

/* Field numbers of onnx.proto. */
enum { MODEL_IR_VERSION = 1, MODEL_GRAPH = 7, MODEL_OPSET_IMPORT = 8 };
enum { OPSET_VERSION = 2, GRAPH_NODE = 1, GRAPH_NAME = 2, GRAPH_OUTPUT = 12, VALUE_NAME = 1 };
enum { NODE_OUTPUT = 2, NODE_OP_TYPE = 4, NODE_ATTRIBUTE = 5 };
enum { ATTRIBUTE_NAME_FIELD = 1, ATTRIBUTE_T = 5, ATTRIBUTE_TYPE = 20, TENSOR_NAME = 8 };
enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };
enum { MODEL_MAX = 160 }; /* bytes of the model around the tensor */

/* --- writing the model around it ------------------------------------------ */

/* Counts when `at` is NULL, writes otherwise. */
struct writer {
  unsigned char *at;
  size_t count;
};

static void put_byte(struct writer *writer, uint64_t byte) {
  writer->count++;
  if (writer->at != NULL) {
    *writer->at++ = (unsigned char)byte;
  }
}

static void put_varint(struct writer *writer, uint64_t value) {
  for (; value >= 0x80; value >>= 7) {
    put_byte(writer, (value & 0x7F) | 0x80);
  }
  put_byte(writer, value);
}

static void put_number(struct writer *writer, unsigned field, uint64_t value) {
  put_varint(writer, field << 3 | WIRE_VARINT);
  put_varint(writer, value);
}

static void put_head(struct writer *writer, unsigned field, size_t size) {
  put_varint(writer, field << 3 | WIRE_BYTES);
  put_varint(writer, size);
}

static void put_text(struct writer *writer, unsigned field, const char *text) {
  put_head(writer, field, strlen(text));
  for (; *text != '\0'; text++) {
    put_byte(writer, (unsigned char)*text);
  }
}

/* The attribute up to the tensor's bytes; the attribute, the node and the graph end with them. */
static void put_attribute(struct writer *writer, size_t tensor) {
  put_text(writer, ATTRIBUTE_NAME_FIELD, "value");
  put_number(writer, ATTRIBUTE_TYPE, ATTRIBUTE_TENSOR);
  put_head(writer, ATTRIBUTE_T, tensor);
}

static void put_node(struct writer *writer, size_t tensor) {
  struct writer attribute = {0};
  put_attribute(&attribute, tensor);
  put_text(writer, NODE_OUTPUT, "tensor");
  put_text(writer, NODE_OP_TYPE, "Constant");
  put_head(writer, NODE_ATTRIBUTE, attribute.count + tensor);
  put_attribute(writer, tensor);
}

static void put_graph(struct writer *writer, size_t tensor) {
  struct writer output = {0}, node = {0};
  put_text(&output, VALUE_NAME, "tensor");
  put_node(&node, tensor);
  put_text(writer, GRAPH_NAME, "tensor");
  put_head(writer, GRAPH_OUTPUT, output.count);
  put_text(writer, VALUE_NAME, "tensor");
  put_head(writer, GRAPH_NODE, node.count + tensor);
  put_node(writer, tensor);
}

static void put_model(struct writer *writer, size_t tensor) {
  struct writer graph = {0};
  put_graph(&graph, tensor);
  put_number(writer, MODEL_IR_VERSION, 8);
  put_head(writer, MODEL_OPSET_IMPORT, 2);
  put_number(writer, OPSET_VERSION, 17);
  put_head(writer, MODEL_GRAPH, graph.count + tensor);
  put_graph(writer, tensor);
}

/* --- the name ----------------------------------------------------------------- */

/* Reads a varint at *at; false at the end of the bytes. */
static bool take_varint(const unsigned char *bytes, size_t size, size_t *at, uint64_t *out) {
  *out = 0;
  for (unsigned shift = 0; shift < 64 && *at < size; shift += 7) {
    unsigned char byte = bytes[(*at)++];
    *out |= (uint64_t)(byte & 0x7F) << shift;
    if (byte < 0x80) {
      return true;
    }
  }
  return false;
}

/* The tensor's name, "" when it has none. The bytes have passed the scan; still nothing is read beyond them. */
static assay_text find_name(const unsigned char *bytes, size_t size) {
  size_t at = 0;
  uint64_t tag, length = 0;
  while (take_varint(bytes, size, &at, &tag)) {
    if ((tag & 7) == WIRE_VARINT) {
      take_varint(bytes, size, &at, &length);
      length = 0;
    } else if ((tag & 7) == WIRE_BYTES) {
      if (!take_varint(bytes, size, &at, &length)) {
        break;
      }
    } else {
      length = (tag & 7) == WIRE_FIXED64 ? 8 : 4;
    }
    if (length > size - at) {
      break;
    }
    if (tag == (TENSOR_NAME << 3 | WIRE_BYTES)) {
      return (assay_text){(const char *)bytes + at, (size_t)length};
    }
    at += (size_t)length;
  }
  return (assay_text){"", 0};
}

/* --- reading -------------------------------------------------------------------- */

static assay_status take_tensor(const struct model *model, const char *where, assay_tensor *out) {
  const struct attribute *value = model->graph->n_nodes == 1 ? node_attribute(&model->graph->nodes[0], "value") : NULL;
  if (value == NULL || value->kind != ATTRIBUTE_TENSOR || value->count != 1) {
    return status_make(ASSAY_MODEL_INVALID, where, "the file does not hold one tensor");
  }
  return tensor_copy(&value->tensors[0], out);
}

assay_status tensor_proto_parse(const void *bytes, size_t size, const char *where, struct arena *arena,
                                assay_tensor *out, const char **name) {
  if (name != NULL) {
    assay_text found = find_name(bytes, size);
    *name = arena_copy(arena, found.data, found.length);
    if (*name == NULL) {
      return status_no_memory(found.length);
    }
  }
  size_t total;
  unsigned char *wrapped = size_add(size, MODEL_MAX, &total) ? memory_alloc(total, 1) : NULL;
  if (wrapped == NULL) {
    return status_no_memory(size);
  }
  struct writer writer = {.at = wrapped};
  put_model(&writer, size);
  if (size > 0) {
    memcpy(writer.at, bytes, size);
  }
  struct model *model = NULL;
  assay_status status = model_parse(wrapped, writer.count + size, NULL, NULL, &model);
  if (assay_status_ok(status)) {
    status = take_tensor(model, where, out);
    model_close(model);
  }
  memory_free(wrapped);
  return status_prefix(status, "%s", where);
}

assay_status tensor_proto_read(const char *path, struct arena *arena, assay_tensor *out, const char **name) {
  char *bytes;
  size_t size;
  TRY(file_read(path, largest_file, &bytes, &size));
  assay_status status = tensor_proto_parse(bytes, size, path, arena, out, name);
  memory_free(bytes);
  return status;
}
