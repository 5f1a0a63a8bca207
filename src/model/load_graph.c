/* Graphs, subgraphs and function bodies: their values, inputs, outputs and weights. Names become numbers
 * here, and every name must have exactly one meaning. */
#include <string.h>

#include "core/memory.h"
#include "model/load.h"
#include "model/types.h"

/* --- values ------------------------------------------------------------------ */

static assay_status add_value(struct scope *scope, const char *name, int32_t *out) {
  if (scope->n_values == scope->value_capacity) {
    int32_t capacity = scope->value_capacity == 0 ? 16 : scope->value_capacity * 2;
    struct value *grown = memory_resize(scope->values, (size_t)capacity, sizeof *grown);
    if (grown == NULL) {
      return status_no_memory((size_t)capacity * sizeof *grown);
    }
    scope->values = grown;
    scope->value_capacity = capacity;
  }
  struct value *value = &scope->values[scope->n_values];
  *value = (struct value){.producer = -1, .producer_output = -1, .initializer = -1, .input = -1, .outer = -1};
  value->declared.rank = RANK_UNKNOWN;
  TRY(load_text(scope->loader, name, &value->name));
  *out = scope->n_values++;
  return names_add(scope->graph->names, value->name, *out);
}

/* What an error calls the graph: nothing for the main one. */
static const char *graph_words(const struct scope *scope) { return scope->parent == NULL ? "" : " of the subgraph"; }

static assay_status redefined(const struct scope *scope, const char *name, const char *second) {
  int32_t found = names_find(scope->graph->names, name);
  const struct value *value = &scope->values[found];
  const char *first = value->input >= 0 ? "an input" : value->initializer >= 0 ? "an initializer" : "a node";
  return load_fail(scope->loader, ASSAY_VALUE_REDEFINED,
                   "'%s' is produced twice in graph '%s': by %s and by %s; rename one of the two", name,
                   scope->graph->name, first, second);
}

/* A value captured from the graph around, which captures it from further out if need be. */
static assay_status capture(struct scope *scope, const char *name, int32_t *out) {
  *out = -1;
  if (scope->parent == NULL) {
    return status_ok();
  }
  int32_t outer;
  TRY(scope_resolve(scope->parent, name, &outer));
  if (outer < 0) {
    return status_ok();
  }
  uint64_t cost = sizeof(struct value) + 2 * strlen(name) + sizeof(struct name_slot) * 2;
  if (scope->loader->budget < cost) {
    return load_fail(scope->loader, ASSAY_LIMIT_EXCEEDED,
                     "its subgraphs capture so many values that it would take more memory than a real model of its "
                     "size needs; make sure that it is one, or raise max_bytes");
  }
  scope->loader->budget -= cost;
  TRY(add_value(scope, name, out));
  scope->values[*out].outer = outer;
  return status_ok();
}

assay_status scope_resolve(struct scope *scope, const char *name, int32_t *out) {
  *out = names_find(scope->graph->names, name);
  return *out >= 0 ? status_ok() : capture(scope, name, out);
}

/* --- inputs, initializers, outputs ----------------------------------------------- */

static assay_status add_input(struct scope *scope, const char *name, const Onnx__TypeProto *type) {
  struct graph *graph = scope->graph;
  if (name == NULL || name[0] == '\0') {
    return load_fail(scope->loader, ASSAY_NAME_INVALID, "input %d%s of graph '%s' has no name; give it one",
                     graph->n_inputs, graph_words(scope), graph->name);
  }
  int32_t value;
  if (names_find(graph->names, name) >= 0) {
    return load_fail(scope->loader, ASSAY_INPUT_DUPLICATE, "input '%s' is listed twice in graph '%s'; keep one", name,
                     graph->name);
  }
  TRY(add_value(scope, name, &value));
  scope->values[value].input = graph->n_inputs;
  graph->inputs[graph->n_inputs++] = value;
  return load_type(scope->loader, type, name, &scope->values[value].declared);
}

static assay_status check_against_input(struct scope *scope, const struct value *value,
                                        const struct value_type *stored) {
  struct value_type merged = value->declared;
  if (type_merge(stored, &merged) == TYPE_FITS) {
    return status_ok();
  }
  struct text text = {0};
  type_describe(stored, &text);
  text_add(&text, " but the input of that name declares ");
  type_describe(&value->declared, &text);
  assay_status status = text_status(&text);
  if (assay_status_ok(status)) {
    status = load_fail(scope->loader, ASSAY_INITIALIZER_MISMATCH, "initializer '%s' is %s; make the two agree",
                       value->name, text_string(&text));
  }
  text_free(&text);
  return status;
}

static assay_status add_initializer(struct scope *scope, const Onnx__TensorProto *proto) {
  struct graph *graph = scope->graph;
  const char *name = proto->name;
  if (name == NULL || name[0] == '\0') {
    return load_fail(scope->loader, ASSAY_TENSOR_NAME_MISSING,
                     "initializer %d of graph '%s' has no name, so that nothing can use it; name or remove it",
                     graph->n_initializers, graph->name);
  }
  int32_t value = names_find(graph->names, name);
  if (value >= 0 && scope->values[value].initializer >= 0) {
    return load_fail(scope->loader, ASSAY_INITIALIZER_DUPLICATE,
                     "there are two initializers named '%s' in graph '%s'; remove or rename one", name, graph->name);
  }
  if (value < 0) {
    TRY(add_value(scope, name, &value));
  }
  struct initializer *initializer = &graph->initializers[graph->n_initializers];
  initializer->value = value;
  TRY(load_tensor(scope->loader, proto, name, &initializer->tensor, &initializer->external_location));
  struct value_type stored = type_of_tensor(&initializer->tensor);
  TRY(check_against_input(scope, &scope->values[value], &stored));
  scope->values[value].initializer = graph->n_initializers++;
  bool replaceable = scope->values[value].input >= 0 && scope->parent == NULL && graph->model->ir_version >= 4;
  if (!replaceable) { /* what may be fed keeps the dimensions that it declares open */
    scope->values[value].declared = stored;
  }
  return status_ok();
}

static assay_status add_output(struct scope *scope, const char *name, const Onnx__TypeProto *type) {
  struct graph *graph = scope->graph;
  if (name == NULL || name[0] == '\0') {
    return load_fail(scope->loader, ASSAY_NAME_INVALID, "output %d%s of graph '%s' has no name; give it one",
                     graph->n_outputs, graph_words(scope), graph->name);
  }
  int32_t number;
  TRY(scope_resolve(scope, name, &number));
  if (number < 0) {
    return load_fail(scope->loader, ASSAY_OUTPUT_UNDEFINED,
                     "output '%s' of graph '%s' is produced by no node, input or initializer; export the model again",
                     name, graph->name);
  }
  struct value *value = &scope->values[number];
  if (value->is_output && scope->parent == NULL) {
    return load_fail(scope->loader, ASSAY_OUTPUT_DUPLICATE, "output '%s' is listed twice in graph '%s'; keep one", name,
                     graph->name);
  }
  value->is_output = true;
  graph->outputs[graph->n_outputs++] = number;
  struct value_type declared;
  TRY(load_type(scope->loader, type, name, &declared));
  return load_merge_type(scope->loader, name, &declared, &scope->values[number].declared);
}

/* value_info of a name that is not there is a leftover of some rewrite, and says nothing. */
static assay_status add_value_info(struct scope *scope, const Onnx__ValueInfoProto *proto) {
  int32_t number = proto->name == NULL ? -1 : names_find(scope->graph->names, proto->name);
  if (number < 0) {
    return status_ok();
  }
  struct value_type declared;
  TRY(load_type(scope->loader, proto->type, proto->name, &declared));
  return load_merge_type(scope->loader, proto->name, &declared, &scope->values[number].declared);
}

/* --- nodes ------------------------------------------------------------------------ */

/* All names that nodes produce are known before any node is read: a file may list them in any order. */
static assay_status declare_outputs(struct scope *scope, size_t n_nodes, Onnx__NodeProto *const *nodes) {
  for (size_t i = 0; i < n_nodes; i++) {
    for (size_t k = 0; k < nodes[i]->n_output; k++) {
      const char *name = nodes[i]->output[k];
      if (name[0] == '\0') {
        continue;
      }
      int32_t value;
      if (names_find(scope->graph->names, name) >= 0) {
        return redefined(scope, name, nodes[i]->op_type);
      }
      TRY(add_value(scope, name, &value));
      scope->values[value].producer = (int32_t)i;
      scope->values[value].producer_output = (int32_t)k;
    }
  }
  return status_ok();
}

static assay_status load_nodes(struct scope *scope, size_t n_nodes, Onnx__NodeProto *const *nodes) {
  struct graph *graph = scope->graph;
  ARENA_NEW(scope->loader->arena, graph->nodes, n_nodes);
  for (size_t i = 0; i < n_nodes; i++) {
    TRY(load_node(scope, nodes[i], (int32_t)i, &graph->nodes[i]));
    graph->n_nodes++;
  }
  return status_ok();
}

/* --- whole graphs -------------------------------------------------------------------- */

static assay_status scope_begin(struct scope *scope, const char *name, size_t n_inputs, size_t n_outputs,
                                size_t n_initializers) {
  struct arena *arena = scope->loader->arena;
  ARENA_NEW(arena, scope->graph, 1);
  struct graph *graph = scope->graph;
  graph->model = scope->loader->model;
  graph->parent = scope->parent != NULL ? scope->parent->graph : NULL;
  TRY(load_text(scope->loader, name, &graph->name));
  ARENA_NEW(arena, graph->names, 1);
  names_begin(graph->names, arena);
  ARENA_NEW(arena, graph->inputs, n_inputs);
  ARENA_NEW(arena, graph->outputs, n_outputs);
  ARENA_NEW(arena, graph->initializers, n_initializers);
  return status_ok();
}

/* Moves the values into the arena and puts the nodes in order. */
static assay_status scope_end(struct scope *scope) {
  struct graph *graph = scope->graph;
  ARENA_NEW(scope->loader->arena, graph->values, scope->n_values);
  if (scope->n_values > 0) {
    memcpy(graph->values, scope->values, (size_t)scope->n_values * sizeof *graph->values);
  }
  graph->n_values = scope->n_values;
  bool moved;
  TRY(order_graph(scope->loader, graph, &moved));
  if (moved) {
    return load_warn(scope->loader, ASSAY_GRAPH_UNSORTED,
                     "nodes of graph '%s' stand before nodes whose results they read; they were sorted", graph->name);
  }
  return status_ok();
}

static assay_status fill_graph(struct scope *scope, const Onnx__GraphProto *proto) {
  TRY(scope_begin(scope, proto->name, proto->n_input, proto->n_output, proto->n_initializer));
  if (proto->n_sparse_initializer > 0) {
    const Onnx__TensorProto *values = proto->sparse_initializer[0]->values;
    return load_fail(scope->loader, ASSAY_SPARSE_UNSUPPORTED,
                     "initializer '%s' is sparse, which assay does not read; export with dense weights",
                     values != NULL && values->name != NULL ? values->name : "");
  }
  for (size_t i = 0; i < proto->n_input; i++) {
    TRY(add_input(scope, proto->input[i]->name, proto->input[i]->type));
  }
  for (size_t i = 0; i < proto->n_initializer; i++) {
    TRY(add_initializer(scope, proto->initializer[i]));
  }
  TRY(declare_outputs(scope, proto->n_node, proto->node));
  for (size_t i = 0; i < proto->n_value_info; i++) {
    TRY(add_value_info(scope, proto->value_info[i]));
  }
  TRY(load_nodes(scope, proto->n_node, proto->node));
  for (size_t i = 0; i < proto->n_output; i++) {
    TRY(add_output(scope, proto->output[i]->name, proto->output[i]->type));
  }
  return scope_end(scope);
}

static assay_status check_main_graph(struct loader *loader, const Onnx__GraphProto *proto) {
  const char *name = proto->name != NULL ? proto->name : "";
  if (proto->n_node == 0 && proto->n_output == 0) {
    return load_fail(loader, ASSAY_GRAPH_EMPTY, "graph '%s' has neither nodes nor outputs; export the model again",
                     name);
  }
  if (proto->n_output == 0) {
    return load_fail(loader, ASSAY_GRAPH_NO_OUTPUTS,
                     "graph '%s' has no outputs, so that nothing could be compared; export the model with its outputs",
                     name);
  }
  if (proto->n_node == 0) {
    TRY(load_warn(loader, ASSAY_GRAPH_NO_NODES, "graph '%s' has no nodes; make sure that this is the right model",
                  name));
  }
  return status_ok();
}

/* An input without a type can be neither checked nor fed. */
static assay_status check_input_types(const struct loader *loader, const struct graph *graph) {
  for (int32_t i = 0; i < graph->n_inputs; i++) {
    const struct value *value = &graph->values[graph->inputs[i]];
    if (value->declared.kind == TYPE_UNKNOWN) {
      return load_fail(loader, ASSAY_TYPE_MISSING, "input '%s' declares no type; export the model again with types",
                       value->name);
    }
  }
  return status_ok();
}

assay_status load_main_graph(struct loader *loader, const Onnx__GraphProto *proto) {
  TRY(check_main_graph(loader, proto));
  struct scope scope = {.loader = loader, .opsets = loader->model->opsets, .n_opsets = loader->model->n_opsets};
  assay_status status = fill_graph(&scope, proto);
  memory_free(scope.values);
  TRY(status);
  loader->model->graph = scope.graph;
  TRY(check_input_types(loader, scope.graph));
  return order_check_shadows(loader, scope.graph);
}

assay_status load_subgraph(struct scope *parent, const Onnx__GraphProto *proto, struct graph **out) {
  struct scope scope = {
      .loader = parent->loader, .parent = parent, .opsets = parent->opsets, .n_opsets = parent->n_opsets};
  assay_status status = fill_graph(&scope, proto);
  memory_free(scope.values);
  *out = scope.graph;
  return status;
}

static assay_status fill_function(struct scope *scope, const Onnx__FunctionProto *proto) {
  TRY(scope_begin(scope, proto->name, proto->n_input, proto->n_output, 0));
  for (size_t i = 0; i < proto->n_input; i++) {
    TRY(add_input(scope, proto->input[i], NULL));
  }
  TRY(declare_outputs(scope, proto->n_node, proto->node));
  for (size_t i = 0; i < proto->n_value_info; i++) {
    TRY(add_value_info(scope, proto->value_info[i]));
  }
  TRY(load_nodes(scope, proto->n_node, proto->node));
  for (size_t i = 0; i < proto->n_output; i++) {
    TRY(add_output(scope, proto->output[i], NULL));
  }
  return scope_end(scope);
}

assay_status load_function_body(struct loader *loader, const Onnx__FunctionProto *proto, struct function *function) {
  struct scope scope = {.loader = loader, .opsets = function->opsets, .n_opsets = function->n_opsets};
  assay_status status = fill_function(&scope, proto);
  memory_free(scope.values);
  TRY(status);
  function->body = scope.graph;
  return order_check_shadows(loader, scope.graph);
}
