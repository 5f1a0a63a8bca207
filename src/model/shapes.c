/* Drives type and shape inference over a graph: what is declared, what operators say, and what both say
 * together. Must never let a declaration win over what follows from the inputs, or the other way round: a
 * contradiction is an error. */
#include <inttypes.h>

#include "model/names.h"
#include "model/schema.h"
#include "model/types.h"
#include "tensor/tensor.h"

enum {
  FOLD_ELEMENTS = 1 << 16, /* inputs of a node that is folded, taken together */
  COPY_BYTES = 1 << 20,    /* integer constants up to this size are copied when they lie unaligned */
  INFERRED_MAX = 20 << 20  /* nodes inferred in one call: nested subgraphs may multiply */
};

struct driver {
  const struct schema_source *source;
  struct shapes_options options;
  struct arena *arena;
  struct arena scratch;
  struct name_index symbols; /* -> place in numbers */
  int64_t *numbers;
  int32_t n_numbers;
  int64_t inferred;
};

/* One graph under way, and the one around it. */
struct state {
  struct driver *driver;
  const struct graph *graph;
  const struct state *outer;
  struct infer_value *values;
};

/* --- symbols and bindings ------------------------------------------------------ */

static assay_status bind_symbol(struct driver *driver, const char *symbol, int64_t number, const char *input) {
  int32_t place = names_find(&driver->symbols, symbol);
  if (place < 0) {
    driver->numbers[driver->n_numbers] = number;
    return names_add(&driver->symbols, symbol, driver->n_numbers++);
  }
  if (driver->numbers[place] != number) {
    return status_make(ASSAY_SHAPE_CONFLICT, input,
                       "dimension '%s' is %" PRId64 " in input '%s' but %" PRId64
                       " in another input; the model says that the two are equal",
                       symbol, number, input, driver->numbers[place]);
  }
  return status_ok();
}

static assay_status bind_input(struct driver *driver, const struct graph *graph, const struct shape_binding *binding) {
  int32_t number = graph_find_value(graph, binding->input);
  if (number < 0 || graph->values[number].input < 0) {
    return status_make(ASSAY_VALUE_UNDEFINED, binding->input, "the graph has no input '%s'", binding->input);
  }
  const struct value_type *declared = &graph->values[number].declared;
  if (declared->rank == RANK_UNKNOWN) {
    return status_ok();
  }
  if (declared->rank != binding->rank) {
    return status_make(ASSAY_SHAPE_CONFLICT, binding->input, "input '%s' has rank %d and was given one of rank %d",
                       binding->input, declared->rank, binding->rank);
  }
  for (int32_t i = 0; i < binding->rank; i++) {
    const struct dim *dim = &declared->dims[i];
    if (dim->value >= 0 && dim->value != binding->dims[i]) {
      return status_make(ASSAY_SHAPE_CONFLICT, binding->input,
                         "dimension %d of input '%s' is %" PRId64 " and was given as %" PRId64, i, binding->input,
                         dim->value, binding->dims[i]);
    }
    if (dim->value < 0 && dim->symbol != NULL) {
      TRY(bind_symbol(driver, dim->symbol, binding->dims[i], binding->input));
    }
  }
  return status_ok();
}

static void replace_symbols(const struct driver *driver, struct value_type *type) {
  for (int32_t i = 0; driver->n_numbers > 0 && i < type->rank; i++) {
    struct dim *dim = &type->dims[i];
    int32_t place = dim->value < 0 && dim->symbol != NULL ? names_find(&driver->symbols, dim->symbol) : -1;
    if (place >= 0) {
      *dim = (struct dim){driver->numbers[place], NULL};
    }
  }
}

/* The declared type with symbols replaced. */
static struct value_type declared_type(const struct driver *driver, const struct graph *graph, int32_t value) {
  struct value_type type = graph->values[value].declared;
  replace_symbols(driver, &type);
  return type;
}

/* --- constants and partly known content ------------------------------------------------ */

/* Content of a vector of a few integers, element by element. */
static assay_status partial_of_constant(struct arena *arena, struct infer_value *value) {
  const assay_tensor *tensor = value->constant;
  if (value->partial != NULL || tensor == NULL || tensor->rank > 1 ||
      (tensor->dtype != ASSAY_INT64 && tensor->dtype != ASSAY_INT32) || tensor_count(tensor) > ASSAY_RANK_MAX) {
    return status_ok();
  }
  struct dim *partial;
  ARENA_NEW(arena, partial, ASSAY_RANK_MAX);
  value->partial_count = (int32_t)tensor_count(tensor);
  for (int32_t i = 0; i < value->partial_count; i++) {
    int64_t element = tensor_get_int(tensor, i);
    partial[i] = (struct dim){element >= 0 ? element : DIM_UNKNOWN, NULL};
  }
  value->partial = partial;
  return status_ok();
}

/* A partly known content of which all is known is a constant. */
static assay_status constant_of_partial(struct arena *arena, struct infer_value *value) {
  const struct value_type *type = &value->type;
  if (value->constant != NULL || value->partial == NULL || type->dtype != ASSAY_INT64 || type->rank < 0 ||
      type->rank > 1 || (type->rank == 1 && type->dims[0].value != value->partial_count)) {
    return status_ok();
  }
  for (int32_t i = 0; i < value->partial_count; i++) {
    if (value->partial[i].value < 0) {
      return status_ok();
    }
  }
  assay_tensor *tensor;
  ARENA_NEW(arena, tensor, 1);
  int64_t dims[1] = {value->partial_count};
  TRY(tensor_new_in(arena, ASSAY_INT64, dims, type->rank, tensor));
  for (int32_t i = 0; i < value->partial_count; i++) {
    ((int64_t *)tensor->data)[i] = value->partial[i].value;
  }
  value->constant = tensor;
  return status_ok();
}

/* A stored tensor as a constant. One that lies unaligned in the mapped file is copied while it is small and of
 * integers, as shapes and indices are; other content than that no inference asks for. */
static assay_status constant_of_tensor(struct arena *arena, const assay_tensor *tensor, struct infer_value *out) {
  if (tensor_is_aligned(tensor)) {
    out->constant = tensor;
  } else if (dtype_is_integer(tensor->dtype) && tensor->bytes <= COPY_BYTES) {
    assay_tensor *copy;
    ARENA_NEW(arena, copy, 1);
    *copy = *tensor;
    copy->data = arena_copy(arena, tensor->data, tensor->bytes);
    if (copy->data == NULL) {
      return status_no_memory(tensor->bytes);
    }
    out->constant = copy;
  }
  return partial_of_constant(arena, out);
}

/* --- declared and inferred ---------------------------------------------------------------- */

static assay_status conflict(const struct graph *graph, const struct node *node, int32_t value, enum type_fit fit,
                             const struct value_type *inferred, const struct value_type *declared) {
  struct text text = {0};
  text_format(&text, "value '%s'", graph->values[value].name);
  if (node != NULL) {
    text_format(&text, " of node '%s' (%s)", node->label, node->op_type);
  }
  text_add(&text, " is declared as ");
  type_describe(declared, &text);
  text_add(&text, " but follows to be ");
  type_describe(inferred, &text);
  text_add(&text, "; export the model again");
  assay_code code = fit == TYPE_KIND_DIFFERS ? ASSAY_TYPE_CONFLICT : ASSAY_SHAPE_CONFLICT;
  assay_status status = text_status(&text);
  if (assay_status_ok(status)) {
    status = status_make(code, node != NULL ? node->label : graph->name, "%s", text_string(&text));
  }
  text_free(&text);
  return status;
}

/* Puts what is declared of the value and what was found together in state->values[value]. */
static assay_status settle(struct state *state, const struct node *node, int32_t value,
                           const struct infer_value *found) {
  struct value_type declared = declared_type(state->driver, state->graph, value);
  struct infer_value *into = &state->values[value];
  *into = *found;
  replace_symbols(state->driver, &into->type);
  enum type_fit fit = type_merge(&declared, &into->type);
  if (fit != TYPE_FITS) {
    return conflict(state->graph, node, value, fit, &into->type, &declared);
  }
  TRY(partial_of_constant(state->driver->arena, into));
  return constant_of_partial(state->driver->arena, into);
}

/* --- nodes ------------------------------------------------------------------------------------ */

static assay_status infer_graph(struct state *state);

static assay_status infer_subgraph(struct infer *infer, const struct graph *graph, const struct infer_value *inputs,
                                   int32_t n_inputs, struct infer_value *outputs, int32_t n_outputs);

static assay_status find_schema(struct state *state, const struct node *node, const struct schema **out) {
  const struct driver *driver = state->driver;
  *out = NULL;
  assay_status status;
  if (node_function(state->graph->model, node) != NULL) {
    status = status_make(ASSAY_OPERATOR_UNKNOWN, node->label,
                         "node '%s' calls the model's own function '%s', which was not written out", node->label,
                         node->op_type);
  } else {
    status = driver->source->find(driver->source->user, node, out);
  }
  if (status.code == ASSAY_OPERATOR_UNKNOWN && driver->options.lenient) {
    assay_status_clear(&status);
    *out = NULL;
  }
  return status;
}

static bool may_fold(const struct driver *driver, const struct node *node, const struct infer_value *const *inputs) {
  int64_t total = 0;
  if (driver->source->fold == NULL) {
    return false;
  }
  for (int32_t i = 0; i < node->n_inputs; i++) {
    if (inputs[i] != NULL) {
      if (inputs[i]->constant == NULL) {
        return false;
      }
      total += tensor_count(inputs[i]->constant);
      if (total > FOLD_ELEMENTS) {
        return false;
      }
    }
  }
  return true;
}

/* Computes a node of which all inputs are known. */
static assay_status fold(const struct driver *driver, const struct node *node, const struct infer_value *const *inputs,
                         struct infer_value *outputs) {
  const assay_tensor **tensors;
  assay_tensor *results;
  ARENA_NEW(driver->arena, tensors, node->n_inputs);
  ARENA_NEW(driver->arena, results, node->n_outputs);
  for (int32_t i = 0; i < node->n_inputs; i++) {
    tensors[i] = inputs[i] != NULL ? inputs[i]->constant : NULL;
  }
  bool done = false;
  TRY(driver->source->fold(driver->source->user, node, tensors, driver->arena, results, &done));
  for (int32_t i = 0; done && i < node->n_outputs; i++) {
    if (node->outputs[i] >= 0) {
      outputs[i] = (struct infer_value){.type = type_of_tensor(&results[i]), .constant = &results[i]};
    }
  }
  return status_ok();
}

static assay_status infer_outputs(struct state *state, const struct node *node, const struct schema *schema,
                                  const struct infer_value *const *inputs, struct infer_value *outputs) {
  struct driver *driver = state->driver;
  struct infer infer = {.node = node,
                        .inputs = inputs,
                        .outputs = outputs,
                        .arena = driver->arena,
                        .subgraph = infer_subgraph,
                        .user = state};
  TRY(schema->infer(&infer));
  for (int32_t i = 0; i < node->n_outputs; i++) {
    if (node->outputs[i] >= 0 && outputs[i].constant == NULL && may_fold(driver, node, inputs)) {
      return fold(driver, node, inputs, outputs);
    }
  }
  return status_ok();
}

static assay_status visit(const struct state *state, const struct node *node, const struct infer_value *const *inputs) {
  const struct infer_value **outputs;
  ARENA_NEW(state->driver->arena, outputs, node->n_outputs);
  for (int32_t i = 0; i < node->n_outputs; i++) {
    outputs[i] = node->outputs[i] >= 0 ? &state->values[node->outputs[i]] : NULL;
  }
  state->driver->options.visitor(state->driver->options.user, node, inputs, outputs);
  return status_ok();
}

static void clear_outputs(const struct node *node, struct infer_value *outputs) {
  for (int32_t i = 0; i < node->n_outputs; i++) {
    outputs[i] = (struct infer_value){.type = {.rank = RANK_UNKNOWN}};
  }
}

static assay_status infer_node(struct state *state, const struct node *node) {
  struct driver *driver = state->driver;
  if (++driver->inferred > INFERRED_MAX) {
    return status_make(ASSAY_LIMIT_EXCEEDED, node->label,
                       "its subgraphs nest so that more than %d nodes would have to be looked at", INFERRED_MAX);
  }
  const struct infer_value **inputs;
  struct infer_value *outputs;
  ARENA_NEW(driver->arena, inputs, node->n_inputs);
  ARENA_NEW(driver->arena, outputs, node->n_outputs);
  for (int32_t i = 0; i < node->n_inputs; i++) {
    inputs[i] = node->inputs[i] >= 0 ? &state->values[node->inputs[i]] : NULL;
  }
  clear_outputs(node, outputs);
  const struct schema *schema;
  TRY(find_schema(state, node, &schema));
  if (schema != NULL && schema->infer != NULL) {
    assay_status status = infer_outputs(state, node, schema, inputs, outputs);
    if (status.code == ASSAY_OPERATOR_UNKNOWN && driver->options.lenient) { /* known, but not for these types */
      assay_status_clear(&status);
      clear_outputs(node, outputs);
    }
    TRY(status_prefix(status, "node '%s' (%s, opset %" PRId64 ")", node->label, node->op_type, node->opset));
  }
  for (int32_t i = 0; i < node->n_outputs; i++) {
    if (node->outputs[i] >= 0) {
      TRY(settle(state, node, node->outputs[i], &outputs[i]));
    }
  }
  return driver->options.visitor != NULL ? visit(state, node, inputs) : status_ok();
}

/* --- graphs ------------------------------------------------------------------------------------- */

/* Is the initializer what a run would see? One that may be fed is, where nothing else is said of it. */
static bool is_constant(const struct state *state, int32_t value) {
  const struct shapes_options *options = &state->driver->options;
  if (!graph_is_overridable(state->graph, value)) {
    return true;
  }
  bool constant = options->defaults;
  for (int32_t i = 0; i < options->n_bindings; i++) {
    constant = constant && !text_equal(options->bindings[i].input, state->graph->values[value].name);
  }
  return constant;
}

/* Inputs, weights and captured values. `inputs` is what the node around a subgraph hands in. */
static assay_status set_givens(struct state *state, const struct infer_value *inputs) {
  const struct graph *graph = state->graph;
  for (int32_t v = 0; v < graph->n_values; v++) {
    state->values[v].type = declared_type(state->driver, graph, v);
    if (graph->values[v].outer >= 0 && state->outer != NULL) {
      state->values[v] = state->outer->values[graph->values[v].outer];
    }
  }
  for (int32_t i = 0; inputs != NULL && i < graph->n_inputs; i++) {
    TRY(settle(state, NULL, graph->inputs[i], &inputs[i]));
  }
  for (int32_t i = 0; i < graph->n_initializers; i++) {
    int32_t value = graph->initializers[i].value;
    if (is_constant(state, value)) {
      state->values[value].type = type_of_tensor(&graph->initializers[i].tensor);
      TRY(constant_of_tensor(state->driver->arena, &graph->initializers[i].tensor, &state->values[value]));
    }
  }
  return status_ok();
}

static assay_status infer_graph(struct state *state) {
  for (int32_t i = 0; i < state->graph->n_nodes; i++) {
    TRY(infer_node(state, &state->graph->nodes[i]));
  }
  return status_ok();
}

static assay_status infer_subgraph(struct infer *infer, const struct graph *graph, const struct infer_value *inputs,
                                   int32_t n_inputs, struct infer_value *outputs, int32_t n_outputs) {
  const struct state *outer = infer->user;
  if (n_inputs != graph->n_inputs || n_outputs != graph->n_outputs) {
    return status_make(ASSAY_NODE_INVALID, infer->node->label,
                       "its subgraph '%s' has %d inputs and %d outputs, but the operator wants %d and %d", graph->name,
                       graph->n_inputs, graph->n_outputs, n_inputs, n_outputs);
  }
  struct state state = {outer->driver, graph, outer, NULL};
  ARENA_NEW(outer->driver->arena, state.values, graph->n_values);
  TRY(set_givens(&state, inputs));
  TRY(infer_graph(&state));
  for (int32_t i = 0; i < n_outputs; i++) {
    outputs[i] = state.values[graph->outputs[i]];
  }
  return status_ok();
}

static assay_status bind_all(struct driver *driver, const struct graph *graph) {
  const struct shape_binding *bindings = driver->options.bindings;
  int32_t n_bindings = driver->options.n_bindings, dims = 0;
  for (int32_t i = 0; i < n_bindings; i++) {
    if (bindings[i].rank < 0 || bindings[i].rank > ASSAY_RANK_MAX) {
      return status_make(ASSAY_SHAPE_CONFLICT, bindings[i].input, "input '%s' was given rank %d; assay takes up to %d",
                         bindings[i].input, bindings[i].rank, ASSAY_RANK_MAX);
    }
    dims += bindings[i].rank;
  }
  ARENA_NEW(&driver->scratch, driver->numbers, dims);
  names_begin(&driver->symbols, &driver->scratch);
  for (int32_t i = 0; i < n_bindings; i++) {
    TRY(bind_input(driver, graph, &bindings[i]));
  }
  return status_ok();
}

/* Bound inputs have the shape they were bound to. */
static void apply_bindings(struct state *state) {
  const struct shape_binding *bindings = state->driver->options.bindings;
  for (int32_t i = 0; i < state->driver->options.n_bindings; i++) {
    struct value_type *type = &state->values[graph_find_value(state->graph, bindings[i].input)].type;
    type->rank = bindings[i].rank;
    for (int32_t k = 0; k < bindings[i].rank; k++) {
      type->dims[k] = (struct dim){bindings[i].dims[k], NULL};
    }
  }
}

static assay_status infer_all(struct driver *driver, const struct graph *graph, struct shapes *out) {
  TRY(bind_all(driver, graph));
  struct state state = {driver, graph, NULL, NULL};
  ARENA_NEW(driver->arena, state.values, graph->n_values);
  TRY(set_givens(&state, NULL));
  apply_bindings(&state);
  TRY(infer_graph(&state));
  *out = (struct shapes){graph->n_values, state.values};
  return status_ok();
}

assay_status shapes_infer(const struct graph *graph, const struct schema_source *source,
                          const struct shapes_options *options, struct arena *arena, struct shapes *out) {
  *out = (struct shapes){0};
  struct driver driver = {.source = source, .arena = arena};
  if (options != NULL) {
    driver.options = *options;
  }
  assay_status status = infer_all(&driver, graph, out);
  arena_free(&driver.scratch);
  return status;
}
