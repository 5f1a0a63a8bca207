/* What a model consists of: parameters by module, weights that no output depends on, operators, and the
 * multiply-adds of one run. Figures alone; nothing here judges. */
#ifndef MODEL_SUMMARY_H
#define MODEL_SUMMARY_H

#include "model/schema.h"

/* Weights of one module: initializers and Constant nodes whose scope begins alike. */
struct module_summary {
  const char *name; /* "encoder.layers"; "" for what has no scope */
  int64_t parameters, dead;
  uint64_t bytes;
};

struct operator_summary {
  const char *domain, *op_type;
  int64_t opset;
  int32_t count; /* nodes of subgraphs included */
};

/* A weight that no output of the graph depends on. */
struct dead_weight {
  const char *name;
  int64_t parameters;
};

struct model_summary {
  int64_t parameters; /* elements of all weights */
  int64_t dead;       /* of these, elements of weights that no output depends on */
  uint64_t bytes;     /* of all weights */
  int32_t n_weights, n_nodes, n_modules, n_operators, n_dead;
  struct module_summary *modules;     /* by name */
  struct operator_summary *operators; /* by count, most first */
  struct dead_weight *dead_weights;
};

/* Sums up a model without functions (model_inline). Modules are cut to `depth` parts of their name. Results
 * live in `arena`. */
ASSAY_MUST_CHECK assay_status model_summarize(const struct model *model, int depth, struct arena *arena,
                                              struct model_summary *out);

/* Multiply-adds of matrix products, convolutions and recurrent layers, by operator. */
struct cost_summary {
  double multiply_adds;
  int32_t n_counted;  /* nodes that were counted */
  int32_t n_unknown;  /* nodes of such operators whose shapes are not known */
  int32_t n_repeated; /* Loop and Scan nodes, whose bodies are counted once */
  int32_t n_branches; /* If nodes, whose branches are both counted */
  struct {
    const char *op_type;
    double multiply_adds;
    int32_t nodes;
  } by_operator[32];
  int32_t n_operators;
};

/* A shapes_visitor for struct cost_summary, for shapes_infer. */
shapes_visitor cost_visit;

#endif
