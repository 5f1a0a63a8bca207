/* What model/ has to know of an operator to infer types and shapes. The rows
 * live below, in ops/; model/ sees them through this interface alone. */
#ifndef MODEL_SCHEMA_H
#define MODEL_SCHEMA_H

#include "model/graph.h"

/* What is known of a value while inferring: its type, and its content when it
 * is a constant (shape arithmetic lives on that). */
struct infer_value {
  struct value_type type;
  const assay_tensor *constant; /* NULL when not known */
  /* A symbolic shape computation: for an int64 vector or scalar of up to
   * ASSAY_RANK_MAX elements whose elements are partly known. NULL when nothing
   * is known; `partial_count` elements otherwise. */
  const struct dim *partial;
  int32_t partial_count;
};

/* One node while its outputs are inferred. */
struct infer {
  const struct node *node;
  const struct infer_value *const *inputs; /* node->n_inputs; NULL for absent */
  struct infer_value *outputs;             /* node->n_outputs, cleared; to be filled in */
  struct arena *arena;                     /* for partial values and symbols */
  /* Infers a subgraph attribute: types of its inputs in, of its outputs out. */
  assay_status (*subgraph)(struct infer *infer, const struct graph *graph, const struct infer_value *inputs,
                           int32_t n_inputs, struct infer_value *outputs, int32_t n_outputs);
  void *user; /* the driver's */
};

/* Fills in outputs; an error names what does not fit, without the node (the
 * driver adds it). Missing knowledge is not an error: leave it unknown. */
typedef assay_status infer_function(struct infer *infer);

/* The operator of a node as model/ needs it. */
struct schema {
  infer_function *infer;
};
/* Answers the schema for a node, or fails with OPERATOR_UNKNOWN. */
struct schema_source {
  assay_status (*find)(const void *user, const struct node *node, const struct schema **out);
  const void *user;
  /* Computes a node whose inputs are all constant and small (at most 64 Ki elements in
   * all); NULL when there is nobody to do it. Outputs go to the arena. *done
   * is false when the node cannot be computed. */
  assay_status (*fold)(const void *user, const struct node *node, const assay_tensor *const *inputs,
                       struct arena *arena, assay_tensor *outputs, bool *done);
};

/* Types of all values of a graph, subgraphs excluded. */
struct shapes {
  int32_t n_values;
  struct infer_value *values; /* by value number */
};

/* Binding of a graph input to a concrete shape (and optionally a value) before inferring. */
struct shape_binding {
  const char *input;
  int32_t rank;
  const int64_t *dims;
};

/* Told of each node, subgraphs' nodes included, once its outputs are settled. A subgraph that an operator
 * infers more than once is told more than once. Pointers are NULL for what is absent. */
typedef void shapes_visitor(void *user, const struct node *node, const struct infer_value *const *inputs,
                            const struct infer_value *const *outputs);

struct shapes_options {
  const struct shape_binding *bindings; /* they replace symbols everywhere */
  int32_t n_bindings;
  bool lenient;            /* unknown operators are no error: their outputs are what is declared */
  bool defaults;           /* initializers that may be fed and are not bound count as constants */
  shapes_visitor *visitor; /* NULL for none */
  void *user;              /* the visitor's */
};

/* Infers types and shapes of the whole graph. A contradiction between what is
 * declared and what follows is an error (SHAPE_CONFLICT, TYPE_CONFLICT) naming node
 * and value. Symbols are kept where no binding replaces them; a symbol that
 * two of them give two numbers is a SHAPE_CONFLICT. Calls of model-local functions count as unknown
 * operators: hand in the graph of model_inline. `options` may be NULL. Results live in `arena` and point into
 * the model. */
ASSAY_MUST_CHECK assay_status shapes_infer(const struct graph *graph, const struct schema_source *source,
                                           const struct shapes_options *options, struct arena *arena,
                                           struct shapes *out);

#endif
