/* Single tensors as ONNX's test data store them: a file that is one TensorProto. */
#ifndef MODEL_TENSOR_FILE_H
#define MODEL_TENSOR_FILE_H

#include "core/arena.h"
#include "tensor/tensor.h"

/* Reads one TensorProto; the caller ends the tensor with tensor_free. The tensor's own name is copied to `arena`,
 * "" when it has none; `name` may be NULL. Tensors with external data are refused. `where` is for messages. */
ASSAY_MUST_CHECK assay_status tensor_proto_parse(const void *bytes, size_t size, const char *where, struct arena *arena,
                                                 assay_tensor *out, const char **name);
/* The same from a file of at most 2 GiB. */
ASSAY_MUST_CHECK assay_status tensor_proto_read(const char *path, struct arena *arena, assay_tensor *out,
                                                const char **name);

#endif
