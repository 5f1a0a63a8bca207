/* What each ONNX operator means. Operators stand in one table, operators.inc;
 * each family is one file here. An operator is found at load by domain, name
 * and opset version; whatever the table does not have is an error naming the
 * node, never a guess.
 *
 * Adding an operator: one row in operators.inc, its functions in the family's
 * file, and its conformance test in tests/ops/ (the test program does not link
 * without it). */
#ifndef OPS_OPS_H
#define OPS_OPS_H

#include "core/pool.h"
#include "kernels/kernels.h"
#include "model/schema.h"
#include "tensor/tensor.h"

/* What may be promised about the bits of an operator's result, and what the
 * precision policy does with it. */
enum arithmetic_class {
  ARITHMETIC_MOVE,     /* moves or selects values: bits are kept */
  ARITHMETIC_EXACT,    /* each element one correctly rounded operation, or integers */
  ARITHMETIC_FUNCTION, /* elementary functions and compositions, elementwise */
  ARITHMETIC_REDUCE,   /* 16-lane reductions */
  ARITHMETIC_DOT       /* fused multiply-add chains: operands are rounded by the precision policy */
};

/* Dtypes as a set of bits, 1u << dtype. */
typedef uint32_t dtype_set;

struct op_run;
struct op_prepare;

struct op {
  struct schema schema; /* first member: a schema found through model/ is an op */
  const char *domain, *name;
  int32_t since, until; /* opset versions of the domain, both inclusive, for which this row is right */
  enum arithmetic_class arithmetic;
  dtype_set dtypes;      /* dtypes of input 0 (or of output 0 when there is no input) that run() takes */
  uint32_t dot_operands; /* for ARITHMETIC_DOT: bit i set when input i is an operand of the products */
  /* Optional. Called once per plan, with types and constants known; reads attributes, packs
   * constant weights into the arena, and leaves what run() needs in *state. */
  assay_status (*prepare)(struct op_prepare *prepare);
  /* Computes the outputs. No allocation but through the workspace and `resize`. */
  assay_status (*run)(struct op_run *run);
};

/* At plan time. inputs[i]->type has concrete dims where they can be known. */
struct op_prepare {
  const struct op *op;
  const struct node *node;
  const struct infer_value *const *inputs; /* NULL for absent */
  const struct infer_value *outputs;
  struct arena *arena; /* lives as long as the plan */
  const struct kernels *kernels;
  int threads;
  void *state;      /* out: handed to run() */
  size_t workspace; /* out: bytes of scratch that run() wants, cleared by nobody, 64-byte aligned */
  uint32_t packed;  /* out: bit i set when constant input i was packed into the state and its tensor is not
                       read by run(); the plan may then drop it */
};

/* At run time. */
struct op_run {
  const struct op *op;
  const struct node *node;
  const void *state;
  const assay_tensor *const *inputs; /* node->n_inputs; NULL for absent */
  assay_tensor *const *outputs;      /* node->n_outputs; NULL for absent or not wanted. Their shape and data are
                                        set before run() whenever schema.infer could tell the shape from the
                                        concrete inputs; otherwise data is NULL and run() calls resize first */
  void *workspace;                   /* at least op_prepare.workspace bytes */
  size_t workspace_bytes;
  const struct kernels *kernels;
  struct pool *pool;
  void *engine; /* for the two calls below */
  /* Gives output i a shape and memory (bounded arena of this run). */
  assay_status (*resize)(struct op_run *run, int32_t output, assay_dtype dtype, const int64_t *dims, int rank);
  /* More scratch than prepare could know; valid until run() returns. */
  assay_status (*scratch)(struct op_run *run, size_t bytes, void **out);
  /* Rounds operands of products that the operator makes itself, such as a hidden state, as the precision policy rounds
   * the node's own (float32 alone); NULL where nothing is rounded. */
  void (*round_operands)(struct op_run *run, float *values, int64_t count);
  /* Runs a subgraph attribute of this node. inputs by the subgraph's input order; outputs
   * are views valid until the next call for this node. */
  assay_status (*subgraph)(struct op_run *run, const struct graph *graph, const assay_tensor *inputs, int32_t n_inputs,
                           assay_tensor *outputs, int32_t n_outputs);
};

/* The operator for a node, or OPERATOR_UNKNOWN with what the table has instead; NODE_INVALID when the node has an
 * attribute that the operator does not have at that opset. */
ASSAY_MUST_CHECK assay_status op_find(const struct node *node, const struct op **out);
/* The part of op_find that looks at the attributes. */
ASSAY_MUST_CHECK assay_status op_check_attributes(const struct node *node);
/* The same behind model/'s interface (its `fold` is NULL; the engine has one). */
const struct schema_source *op_schemas(void);
int32_t op_count(void);
const struct op *op_at(int32_t i);

#endif
