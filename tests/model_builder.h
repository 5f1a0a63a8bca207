/* Makes ONNX models for tests, byte by byte: a tree of protobuf messages and helpers
 * that know ONNX's field numbers. It can make wrong models as easily as right ones,
 * so it checks nothing; running out of memory ends the program.
 *
 *   struct proto *model = onnx_model(8, 17);
 *   struct proto *graph = onnx_graph(model);
 *   onnx_input(graph, "x", ASSAY_FLOAT32, "batch,3");
 *   onnx_f32(graph, "w", "3", (const float[]){1, 2, 3});
 *   onnx_int(onnx_node(graph, "Softmax", "x", "s"), "axis", 1);
 *   onnx_node(graph, "Mul", "s,w", "y");
 *   onnx_output(graph, "y", ASSAY_FLOAT32, "batch,3");
 *   struct model *opened = onnx_open(model);    // or onnx_bytes, onnx_write
 *   ...
 *   model_close(opened);
 *   proto_free(model);
 *
 * Lists of names are separated by commas ("a,,b": the second is absent). A shape is
 * "2,batch,?" (number, symbol, unknown), "" for a scalar, NULL for none. */
#ifndef TESTS_MODEL_BUILDER_H
#define TESTS_MODEL_BUILDER_H

#include <stddef.h>
#include <stdint.h>

#include "assay/tensor.h"

struct model;

/* --- protobuf ------------------------------------------------------------ */
struct proto; /* a message; owned by the message around it */

struct proto *proto_new(void);
void proto_free(struct proto *proto); /* the root, with all below it */
struct proto *proto_child(struct proto *proto, int field);
void proto_int(struct proto *proto, int field, int64_t value);
void proto_float(struct proto *proto, int field, float value);
void proto_string(struct proto *proto, int field, const char *text);
void proto_bytes(struct proto *proto, int field, const void *bytes, size_t size);
/* A packed repeated field of varints. */
void proto_packed(struct proto *proto, int field, const int64_t *values, size_t count);
/* Bytes as they are, tag and all: for malformed messages. */
void proto_wire(struct proto *proto, const void *bytes, size_t size);
/* The serialised message, own bytes before children; ended with free(). */
uint8_t *proto_serialize(const struct proto *proto, size_t *size);

/* --- models --------------------------------------------------------------- */
/* A model with one import of ai.onnx; opset 0 for none. */
struct proto *onnx_model(int64_t ir_version, int64_t opset);
void onnx_opset(struct proto *model, const char *domain, int64_t version);
void onnx_metadata(struct proto *model, const char *key, const char *value);
/* The model's main graph, made on the first call only. */
struct proto *onnx_graph(struct proto *model);
/* A function; its nodes are added as to a graph. */
struct proto *onnx_function(struct proto *model, const char *domain, const char *name, const char *inputs,
                            const char *outputs);
void onnx_function_opset(struct proto *function, const char *domain, int64_t version);
void onnx_function_attribute(struct proto *function, const char *name); /* without a default */
struct proto *onnx_function_default(struct proto *function, const char *name, int64_t value);

void onnx_input(struct proto *graph, const char *name, assay_dtype dtype, const char *shape);
void onnx_output(struct proto *graph, const char *name, assay_dtype dtype, const char *shape);
void onnx_value(struct proto *graph, const char *name, assay_dtype dtype, const char *shape); /* value_info */

/* An initializer without data (fields: int32_data 5, int64_data 7, raw_data 9, …). */
struct proto *onnx_tensor(struct proto *graph, const char *name, assay_dtype dtype, const char *shape);
/* The same with raw data. */
struct proto *onnx_raw(struct proto *graph, const char *name, assay_dtype dtype, const char *shape, const void *data,
                       size_t bytes);
struct proto *onnx_f32(struct proto *graph, const char *name, const char *shape, const float *values);
struct proto *onnx_i64(struct proto *graph, const char *name, const char *shape, const int64_t *values);
/* With external data; NULL leaves a key out. */
struct proto *onnx_external(struct proto *graph, const char *name, assay_dtype dtype, const char *shape,
                            const char *location, const char *offset, const char *length);

struct proto *onnx_node(struct proto *graph, const char *op_type, const char *inputs, const char *outputs);
/* The same in another domain and with a name. */
struct proto *onnx_node_of(struct proto *graph, const char *domain, const char *op_type, const char *name,
                           const char *inputs, const char *outputs);
struct proto *onnx_int(struct proto *node, const char *name, int64_t value);
struct proto *onnx_float(struct proto *node, const char *name, float value);
struct proto *onnx_string(struct proto *node, const char *name, const char *value);
struct proto *onnx_ints(struct proto *node, const char *name, const int64_t *values, size_t count);
struct proto *onnx_floats(struct proto *node, const char *name, const float *values, size_t count);
struct proto *onnx_strings(struct proto *node, const char *name, const char *const *values, size_t count);
/* A tensor attribute with raw data; the shape gives the size. */
struct proto *onnx_tensor_attribute(struct proto *node, const char *name, assay_dtype dtype, const char *shape,
                                    const void *data);
/* A graph attribute; answers the graph. */
struct proto *onnx_graph_attribute(struct proto *node, const char *name);
/* Refers to an attribute of the function around it; `kind` as in enum attribute_kind. */
void onnx_reference(struct proto *node, const char *name, const char *reference, int kind);

/* --- using them -------------------------------------------------------------- */
uint8_t *onnx_bytes(const struct proto *model, size_t *size); /* free() */
void onnx_write(const struct proto *model, const char *path);
/* Opens the model, failing the test when it does not open. model_close ends it; the
 * bytes behind it live until proto_free. */
struct model *onnx_open(struct proto *model);

#endif
