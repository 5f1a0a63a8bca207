/* The first pass of a plan: types and shapes of every value from concrete inputs, and the values that
 * depend on constants alone, computed by the same steps that a run would take. */
#include <string.h>

#include "core/text.h"
#include "engine/graph_plan.h"

enum {
  FOLD_SMALL = 1 << 20,    /* outputs up to this size are always folded; larger ones may not outgrow their inputs */
  FOLD_TOTAL = 1 << 28,    /* bytes of folded values in one plan */
  ANALYSED_MAX = 20000000, /* inferences in one session: nested loops may multiply */
  PARTIAL_MAX = ASSAY_RANK_MAX
};

bool type_is_concrete(const struct value_type *type) {
  if (type->kind != TYPE_TENSOR || type->dtype == ASSAY_UNDEFINED || type->rank == RANK_UNKNOWN) {
    return false;
  }
  for (int32_t i = 0; i < type->rank; i++) {
    if (type->dims[i].value < 0) {
      return false;
    }
  }
  return true;
}

/* --- inference of one node --------------------------------------------- */

static assay_status infer_subgraph(struct infer *infer, const struct graph *graph, const struct infer_value *inputs,
                                   int32_t n_inputs, struct infer_value *outputs, int32_t n_outputs) {
  struct graph_plan *plan = infer->user;
  return graph_outputs(plan->engine, graph, plan, inputs, n_inputs, infer->arena, outputs, n_outputs);
}

/* An fp64 session must stay in fp64: an operator that answers float32 would spoil the oracle in silence. */
static assay_status check_width(const struct graph_plan *plan, const struct node *node,
                                const struct infer_value *outputs) {
  if (plan->engine->policy.precision != PRECISION_FP64) {
    return status_ok();
  }
  for (int32_t i = 0; i < node->n_outputs; i++) {
    if (node->outputs[i] >= 0 && outputs[i].type.kind == TYPE_TENSOR && outputs[i].type.dtype == ASSAY_FLOAT32) {
      return status_make(ASSAY_OPERATOR_DTYPE, node->label,
                         "node '%s' (%s) gives float32 whatever its inputs are, so that the graph cannot be computed "
                         "in fp64; use another precision",
                         node->label, node->op_type);
    }
  }
  return status_ok();
}

assay_status node_infer(struct graph_plan *plan, const struct node *node, const struct op *op,
                        const struct infer_value *const *inputs, struct arena *arena, struct infer_value *outputs) {
  if (++plan->engine->analysed > ANALYSED_MAX) {
    return status_make(ASSAY_LIMIT_EXCEEDED, node->label,
                       "the subgraphs of the model nest so that more than %d nodes would have to be analysed",
                       ANALYSED_MAX);
  }
  for (int32_t i = 0; i < node->n_outputs; i++) {
    outputs[i] = (struct infer_value){.type = {.rank = RANK_UNKNOWN}};
  }
  struct infer infer = {
      .node = node, .inputs = inputs, .outputs = outputs, .arena = arena, .subgraph = infer_subgraph, .user = plan};
  assay_status status = op->schema.infer(&infer);
  if (!assay_status_ok(status)) {
    return status_prefix(status, "node '%s' (%s, opset %lld)", node->label, node->op_type, (long long)node->opset);
  }
  return check_width(plan, node, outputs);
}

static void add_dtypes(struct text *out, dtype_set dtypes) {
  for (int dtype = 1; dtype < ASSAY_DTYPE_COUNT; dtype++) {
    if ((dtypes >> dtype & 1u) != 0) {
      text_format(out, "%s%s", out->length == 0 ? "" : ", ", assay_dtype_name((assay_dtype)dtype));
    }
  }
}

static assay_status wrong_dtype(const struct engine *engine, const struct node *node, const struct op *op,
                                assay_dtype dtype) {
  struct text takes = {0};
  add_dtypes(&takes, op->dtypes);
  bool oracle = engine->policy.precision == PRECISION_FP64 && dtype == ASSAY_FLOAT64;
  assay_status status = status_make(
      ASSAY_OPERATOR_DTYPE, node->label,
      "node '%s' uses operator '%s' of domain '%s' at opset %lld on %s%s, and assay's takes %s", node->label,
      node->op_type, node->domain[0] == '\0' ? "ai.onnx" : node->domain, (long long)node->opset,
      assay_dtype_name(dtype), oracle ? " (the session runs in fp64)" : "", text_string(&takes));
  text_free(&takes);
  return status;
}

assay_status node_check_dtype(const struct engine *engine, const struct node *node, const struct op *op,
                              const struct infer_value *const *inputs, const struct infer_value *outputs,
                              bool *wrapped) {
  *wrapped = false;
  const struct value_type *type = NULL;
  for (int32_t i = 0; i < node->n_inputs && type == NULL; i++) {
    type = inputs[i] != NULL ? &inputs[i]->type : NULL;
  }
  if (type == NULL && node->n_outputs > 0) {
    type = &outputs[0].type;
  }
  if (type == NULL || type->kind == TYPE_UNKNOWN || type->dtype == ASSAY_UNDEFINED) {
    return status_ok();
  }
  if (type->kind != TYPE_TENSOR) {
    return status_make(ASSAY_MODEL_UNSUPPORTED, node->label,
                       "node '%s' (%s) works on a sequence, an optional or a map, and assay runs tensors alone",
                       node->label, node->op_type);
  }
  if ((op->dtypes >> type->dtype & 1u) != 0) {
    return status_ok();
  }
  *wrapped = dtype_is_narrow(type->dtype) && (op->dtypes >> ASSAY_FLOAT32 & 1u) != 0;
  return *wrapped ? status_ok() : wrong_dtype(engine, node, op, type->dtype);
}

/* --- what is known before the first node ------------------------------- */

static void set_input(struct graph_plan *plan, int32_t value, const struct infer_value *input) {
  struct slot *slot = &plan->slots[value];
  slot->known = *input;
  slot->known.constant = NULL;
  slot->fixed = type_is_concrete(&slot->known.type);
  slot->rounded = plan->engine->policy.storage != ASSAY_UNDEFINED;
}

/* A value of the enclosing graph: what is known of it there, or its shape in the run under way. */
static void set_outer(struct graph_plan *plan, int32_t value) {
  struct slot *slot = &plan->slots[value];
  const struct slot *outer = &plan->parent->slots[plan->graph->values[value].outer];
  slot->known = outer->known;
  slot->home = SLOT_OUTER;
  slot->rounded = outer->rounded;
  if (outer->home == SLOT_CONSTANT) {
    slot->home = SLOT_CONSTANT;
    slot->from_outer = true;
  } else if (!outer->fixed && outer->tensor.data != NULL) {
    slot->known.type = type_of_tensor(&outer->tensor);
  }
  slot->fixed = type_is_concrete(&slot->known.type);
}

static assay_status set_givens(struct graph_plan *plan, const struct infer_value *inputs) {
  const struct graph *graph = plan->graph;
  for (int32_t i = 0; i < graph->n_values; i++) {
    plan->slots[i].root = i;
    plan->slots[i].block = -1;
    plan->slots[i].known.type.rank = RANK_UNKNOWN;
    if (graph->values[i].outer >= 0 && plan->parent != NULL) {
      set_outer(plan, i);
    }
  }
  for (int32_t i = 0; i < graph->n_inputs; i++) {
    int32_t value = graph->inputs[i];
    if (graph->values[value].initializer < 0 || (plan->fed != NULL && plan->fed[i])) {
      set_input(plan, value, &inputs[i]);
    }
  }
  for (int32_t i = 0; i < graph->n_initializers; i++) {
    int32_t value = graph->initializers[i].value;
    int32_t input = graph->values[value].input;
    if (input < 0 || plan->fed == NULL || !plan->fed[input]) {
      TRY(slot_set_constant(plan, value, &graph->initializers[i].tensor));
    }
  }
  return status_ok();
}

/* --- folding ----------------------------------------------------------- */

struct constant_check {
  const struct graph_plan *plan;
  bool all;
};

static void check_constant(void *user, int32_t value) {
  struct constant_check *check = user;
  check->all = check->all && check->plan->slots[value].home == SLOT_CONSTANT;
}

static bool depends_on_constants(const struct graph_plan *plan, const struct node *node) {
  struct constant_check check = {.plan = plan, .all = true};
  for (int32_t i = 0; i < node->n_inputs && check.all; i++) {
    if (node->inputs[i] >= 0) {
      check_constant(&check, node->inputs[i]);
    }
  }
  if (check.all) {
    node_captures(node, check_constant, &check);
  }
  return check.all;
}

/* Folding may not let a few numbers become gigabytes, nor run a loop while planning. */
static bool may_fold(const struct graph_plan *plan, const struct node *node, const struct infer_value *outputs) {
  if (text_equal(node->op_type, "Loop") || text_equal(node->op_type, "Scan")) {
    return false;
  }
  size_t in = 0, out = 0;
  for (int32_t i = 0; i < node->n_inputs; i++) {
    in += node->inputs[i] >= 0 ? plan->slots[node->inputs[i]].tensor.bytes : 0;
  }
  for (int32_t i = 0; i < node->n_outputs; i++) {
    int64_t dims[ASSAY_RANK_MAX], count;
    size_t bytes;
    if (node->outputs[i] < 0) {
      continue;
    }
    if (!type_is_concrete(&outputs[i].type)) {
      continue; /* depends on data: bounded by the operator's inputs, and by the budget */
    }
    for (int32_t j = 0; j < outputs[i].type.rank; j++) {
      dims[j] = outputs[i].type.dims[j].value;
    }
    if (!shape_count(dims, outputs[i].type.rank, &count) || !dtype_bytes(outputs[i].type.dtype, count, &bytes) ||
        bytes > FOLD_TOTAL) {
      return false;
    }
    out += bytes;
  }
  return (out <= FOLD_SMALL || out <= in) && out <= FOLD_TOTAL && plan->folded_bytes <= FOLD_TOTAL - out;
}

static assay_status fold_node(struct graph_plan *plan, int32_t index) {
  const struct node *node = &plan->graph->nodes[index];
  struct step step = {0};
  assay_status status = step_make(plan, index, true, &step);
  if (assay_status_ok(status)) {
    status = step_run(&step);
  }
  for (int32_t i = 0; i < node->n_outputs && assay_status_ok(status); i++) {
    if (node->outputs[i] >= 0) {
      status = slot_keep_constant(plan, node->outputs[i]);
      plan->folded_bytes += plan->slots[node->outputs[i]].tensor.bytes;
    }
  }
  step_free(&step);
  if (assay_status_ok(status)) {
    status = scratch_reset(&plan->scratch);
  }
  return status;
}

/* --- the walk ---------------------------------------------------------- */

/* An int64 vector or scalar whose elements inference knows is a constant. */
static assay_status constant_of_partial(struct graph_plan *plan, struct infer_value *value) {
  const struct value_type *type = &value->type;
  if (value->constant != NULL || value->partial == NULL || !type_is_concrete(type) || type->dtype != ASSAY_INT64 ||
      type->rank > 1 || value->partial_count > PARTIAL_MAX) {
    return status_ok();
  }
  int64_t dims[1] = {type->rank == 1 ? type->dims[0].value : 1};
  if (dims[0] != value->partial_count) {
    return status_ok();
  }
  for (int32_t i = 0; i < value->partial_count; i++) {
    if (value->partial[i].value < 0) {
      return status_ok();
    }
  }
  assay_tensor *tensor;
  ARENA_NEW(plan->arena, tensor, 1);
  TRY(tensor_new_in(plan->arena, ASSAY_INT64, dims, type->rank, tensor));
  for (int32_t i = 0; i < value->partial_count; i++) {
    ((int64_t *)tensor->data)[i] = value->partial[i].value;
  }
  value->constant = tensor;
  return status_ok();
}

static assay_status keep_output(struct graph_plan *plan, int32_t value, struct infer_value *output) {
  struct slot *slot = &plan->slots[value];
  TRY(constant_of_partial(plan, output));
  slot->known = *output;
  slot->fixed = type_is_concrete(&output->type);
  if (output->constant != NULL) {
    slot->known.constant = NULL;
    return slot_set_constant(plan, value, output->constant);
  }
  return status_ok();
}

static assay_status analyse_node(struct graph_plan *plan, int32_t index, bool fold) {
  const struct node *node = &plan->graph->nodes[index];
  const struct op *op;
  TRY(op_find(node, &op));
  plan->ops[index] = op;
  const struct infer_value **inputs;
  struct infer_value *outputs;
  ARENA_NEW(&plan->temporary, inputs, node->n_inputs);
  ARENA_NEW(&plan->temporary, outputs, node->n_outputs);
  for (int32_t i = 0; i < node->n_inputs; i++) {
    inputs[i] = node->inputs[i] >= 0 ? &plan->slots[node->inputs[i]].known : NULL;
  }
  TRY(node_infer(plan, node, op, inputs, plan->arena, outputs));
  bool wrapped;
  TRY(node_check_dtype(plan->engine, node, op, inputs, outputs, &wrapped));
  bool all_known = true;
  for (int32_t i = 0; i < node->n_outputs; i++) {
    if (node->outputs[i] >= 0) {
      TRY(keep_output(plan, node->outputs[i], &outputs[i]));
      all_known = all_known && plan->slots[node->outputs[i]].home == SLOT_CONSTANT;
      plan->slots[node->outputs[i]].rounded = plan->engine->policy.storage != ASSAY_UNDEFINED &&
                                              plan->slots[node->outputs[i]].home != SLOT_CONSTANT &&
                                              !policy_keeps(&plan->engine->policy, node);
    }
  }
  if (!all_known && fold && depends_on_constants(plan, node) && may_fold(plan, node, outputs)) {
    TRY(fold_node(plan, index));
    all_known = true;
  }
  plan->n_folded += all_known ? 1 : 0;
  return status_ok();
}

assay_status graph_plan_analyse(struct graph_plan *plan, const struct infer_value *inputs, bool fold) {
  TRY(set_givens(plan, inputs));
  for (int32_t i = 0; i < plan->graph->n_nodes; i++) {
    if (plan->alive == NULL || plan->alive[i]) {
      assay_status status = analyse_node(plan, i, fold);
      arena_free(&plan->temporary);
      TRY(status);
    }
  }
  return status_ok();
}

assay_status graph_outputs(struct engine *engine, const struct graph *graph, struct graph_plan *parent,
                           const struct infer_value *inputs, int32_t n_inputs, struct arena *arena,
                           struct infer_value *outputs, int32_t n_outputs) {
  if (n_inputs != graph->n_inputs || n_outputs != graph->n_outputs) {
    return status_make(ASSAY_MODEL_INVALID, graph->name,
                       "a subgraph has %d inputs and %d outputs, and its node wants %d and %d", graph->n_inputs,
                       graph->n_outputs, n_inputs, n_outputs);
  }
  struct graph_plan plan = {.engine = engine, .graph = graph, .parent = parent, .arena = arena};
  plan.scratch.budget = &engine->budget;
  ARENA_NEW(arena, plan.slots, graph->n_values);
  ARENA_NEW(arena, plan.ops, graph->n_nodes);
  assay_status status = graph_plan_analyse(&plan, inputs, false);
  for (int32_t i = 0; i < n_outputs && assay_status_ok(status); i++) {
    outputs[i] = plan.slots[graph->outputs[i]].known;
    outputs[i].constant = NULL;
  }
  for (int32_t i = 0; i < graph->n_values; i++) {
    slot_free(&plan, &plan.slots[i]);
  }
  return status;
}
