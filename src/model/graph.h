/* The graph of an ONNX model in memory. A model is constant once it is opened:
 * any number of threads may read it. It lives in one arena that ends with the
 * model; strings and arrays below are valid as long as the model is.
 *
 * Terms are ONNX's (IR.md): a graph has nodes, values (what inputs,
 * initializers and node outputs name), inputs and outputs. Values are numbered
 * within their graph; -1 stands for an absent optional input or output. A
 * subgraph names values of the graphs around it: such a name is a value of the
 * subgraph too, with `outer` telling which. */
#ifndef MODEL_GRAPH_H
#define MODEL_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/file.h"
#include "tensor/tensor.h"

struct graph;
struct model;

/* One dimension: a number, a symbol ("batch"), or nothing known. */
struct dim {
  int64_t value;      /* >= 0, or DIM_UNKNOWN */
  const char *symbol; /* NULL when there is none; ignored when value >= 0 */
};
#define DIM_UNKNOWN (-1)
#define RANK_UNKNOWN (-1)

enum type_kind { TYPE_UNKNOWN = 0, TYPE_TENSOR, TYPE_SEQUENCE, TYPE_OPTIONAL, TYPE_MAP, TYPE_SPARSE_TENSOR };

/* Type and shape of a value, as declared or as inferred. */
struct value_type {
  enum type_kind kind;
  assay_dtype dtype; /* of the tensor, or of the elements of the sequence or optional */
  int32_t rank;      /* or RANK_UNKNOWN */
  bool deep;         /* a map, or deeper than a sequence or optional of tensors: the file says more than this struct */
  struct dim dims[ASSAY_RANK_MAX];
};

struct value {
  const char *name;
  struct value_type declared; /* from inputs, outputs, value_info, initializer */
  int32_t producer;           /* index of the node that writes it; -1: input, initializer, outer */
  int32_t producer_output;    /* which output of that node */
  int32_t initializer;        /* index into graph.initializers; -1 when it is none */
  int32_t input;              /* index into graph.inputs; -1 when it is none */
  int32_t outer;              /* value of the enclosing graph that it stands for; -1 when none */
  bool is_output;
};

/* A weight. tensor.data points into the mapped file where the model kept 4 KiB and
 * more in one piece, or into the arena; never freed by itself. A file puts its
 * bytes at any address: mapped data may lie unaligned for its dtype
 * (tensor_is_aligned), and whoever computes with them copies or packs them first,
 * as by memcpy. Their bytes were never read when the model was opened. */
struct initializer {
  int32_t value;
  assay_tensor tensor;
  const char *external_location; /* NULL when the data was in the model file */
};

enum attribute_kind {
  ATTRIBUTE_UNDEFINED = 0, /* numbers of AttributeProto.AttributeType */
  ATTRIBUTE_FLOAT = 1,
  ATTRIBUTE_INT = 2,
  ATTRIBUTE_STRING = 3,
  ATTRIBUTE_TENSOR = 4,
  ATTRIBUTE_GRAPH = 5,
  ATTRIBUTE_FLOATS = 6,
  ATTRIBUTE_INTS = 7,
  ATTRIBUTE_STRINGS = 8,
  ATTRIBUTE_TENSORS = 9,
  ATTRIBUTE_GRAPHS = 10,
  ATTRIBUTE_SPARSE_TENSOR = 11,
  ATTRIBUTE_SPARSE_TENSORS = 12,
  ATTRIBUTE_TYPE_PROTO = 13,
  ATTRIBUTE_TYPE_PROTOS = 14
};

/* One attribute; the member that `kind` names holds it. */
struct attribute {
  const char *name;
  enum attribute_kind kind;
  const char *reference; /* ref_attr_name inside a function body; else NULL */
  float f;
  int64_t i;
  assay_text s;
  int32_t count; /* of floats, ints, strings, tensors, graphs */
  const float *floats;
  const int64_t *ints;
  const assay_text *strings;
  const assay_tensor *tensors;   /* one for ATTRIBUTE_TENSOR */
  struct graph *const *graphs;   /* one for ATTRIBUTE_GRAPH */
  const struct value_type *type; /* ATTRIBUTE_TYPE_PROTO */
};

struct node {
  const char *name;  /* "" when the file gives none */
  const char *label; /* for messages: the name, or "Relu_3" made from type and index; unique in the model */
  const char *op_type;
  const char *domain; /* "" for ai.onnx, in either spelling */
  const char *overload;
  int64_t opset; /* version of the domain that is in force here */
  int32_t n_inputs, n_outputs, n_attributes;
  const int32_t *inputs; /* value numbers, -1 for absent */
  const int32_t *outputs;
  const struct attribute *attributes;
};

struct name_index;

struct graph {
  const char *name;
  const struct model *model;
  struct graph *parent; /* NULL for the main graph */
  int32_t n_nodes, n_values, n_inputs, n_outputs, n_initializers;
  struct node *nodes; /* sorted: every node after what it reads */
  struct value *values;
  int32_t *inputs; /* value numbers, in the file's order, initializers that are listed as inputs included */
  int32_t *outputs;
  struct initializer *initializers;
  struct name_index *names; /* graph_find_value's */
};

struct opset_import {
  const char *domain; /* "" for ai.onnx */
  int64_t version;
};

/* A model-local function. Its body is a graph whose inputs and outputs carry
 * no types; attributes of its nodes may refer to attributes of the call. */
struct function {
  const char *name, *domain, *overload;
  int32_t n_attributes; /* names that a call must give */
  const char **attributes;
  int32_t n_defaults; /* attributes with a default */
  const struct attribute *defaults;
  int32_t n_opsets;
  const struct opset_import *opsets;
  struct graph *body;
};

/* A finding of the checker that does not stop the opening (an unsorted graph,
 * a name given to two nodes, ...). */
struct model_warning {
  assay_code code;
  const char *where, *sentence;
};

struct metadata {
  const char *key, *value;
};

struct model {
  struct arena arena;
  const struct model *origin; /* the model that this one was inlined from and whose files it uses; NULL otherwise */
  const char *path;
  int64_t ir_version, model_version;
  const char *producer_name, *producer_version, *domain, *doc;
  int32_t n_opsets, n_functions, n_metadata;
  struct opset_import *opsets;
  struct function *functions;
  struct metadata *metadata;
  struct graph *graph;
  struct file_map file; /* the model file, mapped */
  int32_t n_external;   /* external data files, mapped */
  struct file_map *external;
  int32_t n_warnings;
  struct model_warning *warnings;
};

/* Looking things up; NULL or -1 when it is not there. */
int32_t graph_find_value(const struct graph *graph, const char *name);
const struct attribute *node_attribute(const struct node *node, const char *name);
int64_t node_attribute_int(const struct node *node, const char *name, int64_t otherwise);
float node_attribute_float(const struct node *node, const char *name, float otherwise);
/* The string equals `text`? `otherwise` when the attribute is absent. */
bool node_attribute_is(const struct node *node, const char *name, const char *text, bool otherwise);
/* NULL and *count = 0 when absent. */
const int64_t *node_attribute_ints(const struct node *node, const char *name, int32_t *count);
const float *node_attribute_floats(const struct node *node, const char *name, int32_t *count);
/* The initializer behind value v of the graph (not following `outer`), or NULL. */
const struct initializer *graph_initializer(const struct graph *graph, int32_t value);
/* True when an initializer may be replaced by a feed: it is listed among the
 * main graph's inputs and the IR version is 4 or newer. */
bool graph_is_overridable(const struct graph *graph, int32_t value);
/* The model-local function that a node calls, or NULL: it is an operator. */
const struct function *node_function(const struct model *model, const struct node *node);
/* True when the tensor's address suits its dtype (see struct initializer). */
bool tensor_is_aligned(const assay_tensor *tensor);
/* Lets go of the file pages behind a mapped tensor, once it was copied or packed: they no
 * longer count as resident, and come back from the file when read again. Harmless on any
 * other tensor. */
void model_release_pages(const struct model *model, const assay_tensor *tensor);

#endif
