/* Writing a model as ONNX: the same model always as the same bytes, and never half of it. Weights are streamed
 * from where they lie; nothing but the messages around them is built in memory. */
#include "model/write.h"

#include <string.h>

#include "core/file.h"
#include "model/model.h"

static assay_status fail_write(const struct writer *writer, const char *what) {
  return status_make(ASSAY_MODEL_UNWRITABLE, writer->path, "%s", what);
}

/* --- the data file ---------------------------------------------------------------- */

enum { DATA_ALIGNMENT = 4096 }; /* so that runtimes can map each tensor */

assay_status write_external(struct writer *writer, const assay_tensor *tensor, uint64_t *offset) {
  static const uint8_t padding[DATA_ALIGNMENT];
  if (writer->data == NULL) {
    TRY(file_writer_open(writer->data_path, &writer->data));
  }
  size_t gap = (size_t)(-writer->data_size % DATA_ALIGNMENT);
  if (gap > 0) {
    TRY(file_writer_write(writer->data, padding, gap));
  }
  *offset = writer->data_size + gap;
  writer->data_size = *offset + tensor->bytes;
  TRY(file_writer_write(writer->data, tensor->data, tensor->bytes));
  model_release_pages(writer->model, tensor);
  return status_ok();
}

/* --- the model file ---------------------------------------------------------------- */

struct stream {
  ProtobufCBuffer base; /* first: protobuf-c hands it back */
  struct file_writer *file;
  assay_status status;
};

static void stream_append(ProtobufCBuffer *buffer, size_t length, const uint8_t *bytes) {
  struct stream *stream = (struct stream *)(void *)buffer;
  if (assay_status_ok(stream->status)) {
    stream->status = file_writer_write(stream->file, bytes, length);
  }
}

static assay_status write_stream(struct writer *writer, const Onnx__ModelProto *proto) {
  struct stream stream = {.base = {stream_append}, .file = writer->file, .status = status_ok()};
  onnx__model_proto__pack_to_buffer(proto, &stream.base);
  return stream.status;
}

/* Each domain has one version in a file; a graph whose functions were written out may need two. */
static assay_status check_versions(const struct writer *writer, const struct graph *graph) {
  for (int32_t i = 0; i < graph->n_nodes; i++) {
    const struct node *node = &graph->nodes[i];
    if (node->opset != model_opset(writer->model, node->domain)) {
      return fail_write(writer,
                        "functions were written out whose operators are of another version than the model's; write "
                        "the model with its functions");
    }
    for (int32_t k = 0; k < node->n_attributes; k++) {
      for (int32_t g = 0; node->attributes[k].graphs != NULL && g < node->attributes[k].count; g++) {
        TRY(check_versions(writer, node->attributes[k].graphs[g]));
      }
    }
  }
  return status_ok();
}

static assay_status write_files(struct writer *writer) {
  Onnx__ModelProto proto;
  TRY(check_versions(writer, writer->model->graph));
  TRY(file_writer_open(writer->path, &writer->file));
  TRY(write_build(writer, &proto));
  size_t size = onnx__model_proto__get_packed_size(&proto);
  if (size > INT32_MAX) {
    return status_make(ASSAY_MODEL_TOO_LARGE, writer->path,
                       "the model would have %zu bytes and one message of protobuf may have 2147483647; write it with "
                       "external data",
                       size);
  }
  TRY(write_stream(writer, &proto));
  /* The data first: a model that is there has its data. */
  if (writer->data != NULL) {
    struct file_writer *data = writer->data;
    writer->data = NULL;
    TRY(file_writer_commit(data));
  }
  struct file_writer *file = writer->file;
  writer->file = NULL;
  return file_writer_commit(file);
}

assay_status model_write(const struct model *model, const char *path, size_t external_threshold) {
  struct writer writer = {.model = model, .path = path, .threshold = external_threshold};
  writer.data_path = arena_format(&writer.arena, "%s.data", path);
  assay_status status = writer.data_path == NULL ? status_no_memory(strlen(path)) : write_files(&writer);
  file_writer_abandon(writer.data);
  file_writer_abandon(writer.file);
  arena_free(&writer.arena);
  return status;
}
