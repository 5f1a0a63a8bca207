/* What the two files of writing share: write.c has the files, write_build.c the messages. */
#ifndef MODEL_WRITE_H
#define MODEL_WRITE_H

#include "model/model.h"
#include "onnx.pb-c.h"

struct writer {
  const struct model *model;
  const char *path, *data_path;
  size_t threshold;   /* bytes from which on weights go to the data file; 0 for none */
  struct arena arena; /* the messages */
  struct file_writer *file, *data;
  uint64_t data_size;
};

/* The model as protobuf-c's messages, which point into the model and the arena. */
ASSAY_MUST_CHECK assay_status write_build(struct writer *writer, Onnx__ModelProto *out);
/* Appends the tensor's bytes to the data file. */
ASSAY_MUST_CHECK assay_status write_external(struct writer *writer, const assay_tensor *tensor, uint64_t *offset);

#endif
