/* Inside the engine: the plan of one graph for one set of input shapes, and how it runs.
 *
 * A plan is made in three passes (graph_plan.c): analyse (analyse.c) walks the nodes forward, infers types and
 * shapes and computes what depends on constants alone; what no output needs is dropped; every remaining node
 * becomes a step (step.c), is prepared, and its values get places in one arena (memory_plan.c). A
 * step whose shapes depend on data is prepared while running. Subgraphs are plans of their own, made when they are
 * first run and remembered (nested.c). */
#ifndef ENGINE_GRAPH_PLAN_H
#define ENGINE_GRAPH_PLAN_H

#include "engine/engine.h"
#include "engine/precision.h"
#include "engine/scratch.h"
#include "model/types.h"
#include "ops/ops.h"

/* What a session shares with all its plans. */
struct engine {
  const struct model *model;
  struct policy policy;
  const struct kernels *kernels;
  struct pool *pool;
  struct budget budget;
  bool keep_dead, no_reuse, poison;
  int64_t analysed;              /* nodes inferred so far; bounded against nests that multiply */
  int64_t bodies;                /* subgraphs run so far in the call under way; bounded against loops that do not end */
  const struct session_run *run; /* of the run under way, for taps; NULL while planning */
};

enum slot_home {
  SLOT_NONE = 0, /* not computed: dead, or never wanted */
  SLOT_CONSTANT, /* known while planning */
  SLOT_ARENA,    /* a place in the plan's arena */
  SLOT_DYNAMIC,  /* shape known only while running: scratch memory */
  SLOT_OUTER     /* a value of the enclosing graph */
};

/* A value of the graph, as planned. */
struct slot {
  struct infer_value known; /* type, and content when it is a small or folded constant */
  assay_tensor tensor;      /* SLOT_CONSTANT: see slot_constant; others: valid while running */
  enum slot_home home;
  bool fixed;      /* all dimensions known while planning */
  bool rounded;    /* already holds what the policy would store */
  bool from_outer; /* SLOT_CONSTANT of the enclosing plan */
  bool ready;      /* SLOT_CONSTANT: tensor is aligned and of the session's dtype */
  bool released;   /* SLOT_CONSTANT: nobody needs it any more, its memory is gone */
  int32_t root;    /* the value whose memory it shares; itself when it has its own */
  int32_t uses;    /* steps, outputs and subgraphs that still need its memory */
  int32_t last;    /* last step that reads it or something that shares its memory */
  int32_t block;   /* of the memory plan; -1 when none */
  void *owned;     /* memory of a constant; ended by memory_free */
  size_t owned_bytes;
  assay_tensor copy; /* of a constant, rounded by the policy */
  void *copy_owned;
  size_t copy_bytes;
};

enum conversion_kind { CONVERT_NONE = 0, CONVERT_ROUND, CONVERT_WIDEN };

/* An input that an operator sees in another form than the value has. */
struct conversion {
  enum conversion_kind kind;
  const assay_tensor *from;
  assay_tensor to;
  size_t offset; /* from the step's work area, when the shape is fixed */
};

struct graph_plan;

/* A subgraph of a node, with the plans made for it, most recently used first. */
struct nested {
  const struct graph *graph;
  struct graph_plan **plans;
  int32_t n_plans;
};
enum { NESTED_PLANS_MAX = 4 };

struct step {
  struct graph_plan *plan;
  const struct node *node;
  const struct op *op;
  bool kept;    /* stays in fp32 under an emulated precision */
  bool wrapped; /* narrow tensors, computed in float32 */
  bool late;    /* shapes or types known only while running */
  bool view;    /* the output is the input's bytes in another shape: nothing to compute */
  /* What the operator reads and writes; NULL where absent or not wanted. */
  const assay_tensor **inputs;
  assay_tensor **outputs;
  assay_tensor **targets;         /* per output: the value's own tensor */
  struct conversion *conversions; /* per input */
  assay_tensor *wide;             /* per output, when wrapped: the float32 results */
  size_t *wide_offsets;
  struct op_run run;
  size_t work_bytes; /* workspace, conversions and wide results together */
  int32_t block;     /* of the memory plan; -1 when no work area is wanted */
  size_t workspace;  /* the operator's part, which stands first */
  int32_t n_nested;
  struct nested *nested;
  /* A late step: what it was prepared for. */
  struct arena prepared;
  bool is_prepared;
  assay_tensor *prepared_for; /* per input: dtype and shape */
};

struct memory_block;

struct graph_plan {
  struct engine *engine;
  const struct graph *graph;
  struct graph_plan *parent; /* plan of the enclosing graph */
  struct arena own;
  struct arena *arena;   /* &own, or the caller's for an analysis alone */
  struct slot *slots;    /* by value number */
  const struct op **ops; /* by node */
  bool *alive;           /* by node */
  const bool *fed;       /* by graph input: an initializer that is fed; NULL: none is */
  struct step *steps;
  int32_t n_steps;
  struct memory_block *blocks;
  int32_t n_blocks;
  int32_t *block_end_first, *block_end_next; /* blocks by the step that ends them; only when poisoning */
  unsigned char *memory;                     /* the arena of values, aligned */
  void *memory_block_start;
  size_t memory_bytes, charged, weight_bytes;
  size_t folded_bytes;
  int32_t n_folded;
  struct scratch scratch;
  struct arena temporary;      /* inference of one step */
  assay_tensor *output_copies; /* per graph output; dtype UNDEFINED where the value itself is handed out */
  int32_t *output_blocks;      /* of those copies; -1 */
  struct named_tensor *outputs;
  assay_tensor *output_views;
};

/* --- graph_plan.c ------------------------------------------------------------ */
/* Plans `graph`. `inputs`: type (concrete) of each graph input, in the graph's order; those of initializers
 * that are not fed are ignored. */
ASSAY_MUST_CHECK assay_status graph_plan_new(struct engine *engine, const struct graph *graph,
                                             struct graph_plan *parent, const struct infer_value *inputs,
                                             const bool *fed, struct graph_plan **out);
void graph_plan_free(struct graph_plan *plan);
/* Calls for every value of the graph that a subgraph of the node reads. */
typedef void capture_function(void *user, int32_t value);
void node_captures(const struct node *node, capture_function *call, void *user);

/* --- analyse.c --------------------------------------------------------- */
/* Fills in slots of a plan: types, constants, what folds. Without `fold` nothing is computed but what inference
 * itself knows. */
ASSAY_MUST_CHECK assay_status graph_plan_analyse(struct graph_plan *plan, const struct infer_value *inputs, bool fold);
/* Types of the outputs of a graph for inputs of these types; nothing is planned. Lives in `arena`. */
ASSAY_MUST_CHECK assay_status graph_outputs(struct engine *engine, const struct graph *graph, struct graph_plan *parent,
                                            const struct infer_value *inputs, int32_t n_inputs, struct arena *arena,
                                            struct infer_value *outputs, int32_t n_outputs);
/* Infers one node. `inputs` per node input, NULL for absent. */
ASSAY_MUST_CHECK assay_status node_infer(struct graph_plan *plan, const struct node *node, const struct op *op,
                                         const struct infer_value *const *inputs, struct arena *arena,
                                         struct infer_value *outputs);
/* OPERATOR_DTYPE unless the operator takes what the node has; *wrapped when only by way of float32. */
ASSAY_MUST_CHECK assay_status node_check_dtype(const struct engine *engine, const struct node *node,
                                               const struct op *op, const struct infer_value *const *inputs,
                                               const struct infer_value *outputs, bool *wrapped);
/* All dimensions and the dtype known? */
bool type_is_concrete(const struct value_type *type);

/* --- constant.c -------------------------------------------------------- */
/* The content of a SLOT_CONSTANT: aligned, of the session's dtype, rounded when asked for. */
ASSAY_MUST_CHECK assay_status slot_constant(struct graph_plan *plan, int32_t value, bool rounded,
                                            const assay_tensor **out);
/* Makes a value a constant whose content is `tensor`, which stays where it is. */
ASSAY_MUST_CHECK assay_status slot_set_constant(struct graph_plan *plan, int32_t value, const assay_tensor *tensor);
/* Makes a value that was just computed a constant: its tensor is copied to memory of its own. */
ASSAY_MUST_CHECK assay_status slot_keep_constant(struct graph_plan *plan, int32_t value);
/* One use less; at none, the memory goes back (to the system, when it is the mapped file). */
void slot_unuse(struct graph_plan *plan, int32_t value);
/* Ends what the constant owns. */
void slot_free(struct graph_plan *plan, struct slot *slot);

/* --- step.c ------------------------------------------------------------ */
/* Makes the step of a node; its inputs are the plan's slots. */
ASSAY_MUST_CHECK assay_status step_make(struct graph_plan *plan, int32_t node, bool late, struct step *step);
/* Runs it; outputs that are not fixed land in scratch memory. */
ASSAY_MUST_CHECK assay_status step_run(struct step *step);
/* Tells a step that is not late where its work area lies. */
void step_place(struct step *step, unsigned char *work);
void step_free(struct step *step);

/* --- nested.c ---------------------------------------------------------- */
ASSAY_MUST_CHECK assay_status nested_run(struct op_run *run, const struct graph *graph, const assay_tensor *inputs,
                                         int32_t n_inputs, assay_tensor *outputs, int32_t n_outputs);

/* --- execute.c --------------------------------------------------------- */
/* Runs the plan. inputs: by graph input; data NULL for those that are not fed. */
ASSAY_MUST_CHECK assay_status graph_plan_run(struct graph_plan *plan, const assay_tensor *inputs);

#endif
