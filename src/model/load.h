/* What the files of loading share: one loader is one opening of a model. It turns
 * protobuf's messages into graph.h's structures and checks them on the way. Every error
 * names the model, and the node or tensor. */
#ifndef MODEL_LOAD_H
#define MODEL_LOAD_H

#include "core/text.h"
#include "model/model.h"
#include "model/names.h"
#include "model/scan.h"
#include "onnx.pb-c.h"

struct loader {
  struct model *model;
  struct arena *arena;  /* the model's */
  struct arena scratch; /* ends with the loading */
  const char *where;    /* the model's name for messages */
  const uint8_t *bytes; /* the file */
  size_t size;
  const struct scan *scan;
  uint64_t budget;               /* bytes that captured values may still take: the scan cannot foresee them */
  struct name_index labels;      /* of nodes, in the whole model; see label_node */
  struct name_index external;    /* location of external data -> model->external */
  int32_t external_capacity;     /* of model->external */
  int32_t warning_capacity;      /* of model->warnings */
  struct name_index *attributes; /* attributes of the function being loaded; NULL elsewhere */
};

/* A graph being built, and the graph around it. */
struct scope {
  struct loader *loader;
  struct scope *parent;
  struct graph *graph;
  struct value *values; /* on the heap until the graph is whole */
  int32_t n_values, value_capacity;
  const struct opset_import *opsets;
  int32_t n_opsets;
};

/* --- load_tensor.c, load_external.c, load_type.c ------------------------------ */
/* `name` is what messages call the tensor. */
ASSAY_MUST_CHECK assay_status load_tensor(struct loader *loader, const Onnx__TensorProto *proto, const char *name,
                                          assay_tensor *out, const char **location);
ASSAY_MUST_CHECK assay_status load_external(struct loader *loader, const Onnx__TensorProto *proto, const char *name,
                                            assay_tensor *tensor, const char **location);
ASSAY_MUST_CHECK assay_status load_type(struct loader *loader, const Onnx__TypeProto *proto, const char *name,
                                        struct value_type *out);
/* What two declarations of one value say together, in *into; an error when they contradict. */
ASSAY_MUST_CHECK assay_status load_merge_type(struct loader *loader, const char *name, const struct value_type *from,
                                              struct value_type *into);

/* --- load_graph.c, load_node.c -------------------------------------------------- */
ASSAY_MUST_CHECK assay_status load_main_graph(struct loader *loader, const Onnx__GraphProto *proto);
ASSAY_MUST_CHECK assay_status load_subgraph(struct scope *parent, const Onnx__GraphProto *proto, struct graph **out);
ASSAY_MUST_CHECK assay_status load_function_body(struct loader *loader, const Onnx__FunctionProto *proto,
                                                 struct function *function);
/* Reserves the names that nodes have, so that no label made up for another node takes them. */
ASSAY_MUST_CHECK assay_status load_reserve_labels(struct loader *loader, size_t n_nodes, Onnx__NodeProto *const *nodes);
ASSAY_MUST_CHECK assay_status load_node(struct scope *scope, const Onnx__NodeProto *proto, int32_t index,
                                        struct node *out);
ASSAY_MUST_CHECK assay_status load_attribute(struct scope *scope, const Onnx__AttributeProto *proto,
                                             const char *node_label, struct attribute *out);
/* The value that a name stands for here: of this graph, or captured from one around it. -1: none. */
ASSAY_MUST_CHECK assay_status scope_resolve(struct scope *scope, const char *name, int32_t *out);

/* --- load_function.c ---------------------------------------------------------------- */
ASSAY_MUST_CHECK assay_status load_functions(struct loader *loader, const Onnx__ModelProto *proto);
/* Calls of functions: their attributes and counts, and that none calls itself. */
ASSAY_MUST_CHECK assay_status load_check_calls(struct loader *loader);
ASSAY_MUST_CHECK assay_status load_opsets(struct loader *loader, size_t n, Onnx__OperatorSetIdProto *const *protos,
                                          const char *owner, struct opset_import **out, int32_t *n_out);

/* --- order.c ---------------------------------------------------------------------------- */
/* Puts the nodes in an order in which each stands after what it reads; *moved tells whether it had to. */
ASSAY_MUST_CHECK assay_status order_graph(struct loader *loader, struct graph *graph, bool *moved);
/* Names of subgraphs that hide names around them. */
ASSAY_MUST_CHECK assay_status order_check_shadows(struct loader *loader, const struct graph *graph);

/* --- load.c -------------------------------------------------------------------------------- */
ASSAY_MUST_CHECK assay_status load_fail(const struct loader *loader, assay_code code, const char *format, ...)
    PRINTF_LIKE(3, 4);
ASSAY_MUST_CHECK assay_status load_warn(struct loader *loader, assay_code code, const char *format, ...)
    PRINTF_LIKE(3, 4);
/* A copy of the text in the model's arena; "" for NULL. */
ASSAY_MUST_CHECK assay_status load_text(struct loader *loader, const char *text, const char **out);
/* The domain as assay spells it: "" for ai.onnx. */
const char *load_domain(const char *domain);

/* Parses slim bytes and builds loader->model; the loader's fields up to `budget` are set. */
ASSAY_MUST_CHECK assay_status load_model(struct loader *loader);

#endif
