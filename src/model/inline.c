/* Model-local functions written out: a new graph in which every call is replaced by the nodes of the
 * function's body. Names inside get the call's label in front and stay unique; what the functions' authors
 * meant must not change, and a small file must not become an endless graph. */
#include <string.h>

#include "core/memory.h"
#include "model/model.h"
#include "model/names.h"

/* What an expansion may grow to: nodes, their inputs, outputs and attributes taken together. */
enum { UNITS_MAX = 1 << 20, NESTING_MAX = 200 };

struct inliner {
  const struct model *from;
  struct model *to;
  struct arena *arena;      /* the new model's */
  struct arena scratch;     /* ends with the inlining */
  struct name_index values; /* every name of a value in the new model */
  struct name_index labels; /* every label of a node */
  int64_t units;
  int32_t nesting;
};

/* A graph being written; its arrays are on the heap until it is whole. */
struct target {
  struct graph *graph;
  struct node *nodes;
  struct value *values;
  int32_t n_nodes, n_values, node_capacity, value_capacity;
};

/* One graph being read into one target: the main graph, a subgraph, or the body of a call. */
struct frame {
  struct inliner *inliner;
  const struct graph *source;
  struct target *target;
  int32_t *map;                    /* value of the source -> value of the target; -1: absent */
  const struct function *function; /* whose body this is, or is inside of; NULL in the main graph */
  const struct node *call;         /* with its attributes resolved */
  const char *prefix;              /* the call's label; NULL in the main graph */
};

static assay_status fail_inline(const struct inliner *inliner, assay_code code, const char *label, const char *what) {
  return status_make(code, inliner->from->path, "node '%s': %s", label, what);
}

static assay_status take_units(struct inliner *inliner, const struct node *node) {
  inliner->units += 1 + (int64_t)node->n_inputs + node->n_outputs + node->n_attributes;
  if (inliner->units > UNITS_MAX) {
    return fail_inline(inliner, ASSAY_LIMIT_EXCEEDED, node->label,
                       "with all functions written out the graph would have millions of nodes; make sure that it is a "
                       "real model");
  }
  return status_ok();
}

/* --- names ------------------------------------------------------------------- */

/* "prefix/name", with a number behind it where that is taken. */
static assay_status unique_name(struct inliner *inliner, struct name_index *taken, const char *prefix, const char *name,
                                const char **out) {
  char *wish = arena_format(inliner->arena, "%s/%s", prefix, name);
  if (wish == NULL) {
    return status_no_memory(strlen(name));
  }
  int32_t *last = names_at(taken, wish);
  if (last == NULL) {
    *out = wish;
    return names_add(taken, wish, 1);
  }
  for (;;) {
    char *numbered = arena_format(inliner->arena, "%s#%d", wish, ++*last);
    if (numbered == NULL) {
      return status_no_memory(strlen(name));
    }
    if (names_find(taken, numbered) < 0) {
      *out = numbered;
      return names_add(taken, numbered, 1);
    }
  }
}

/* Names of the graph and of its subgraphs stay as they are, so nothing else may take them. */
static assay_status reserve_names(struct inliner *inliner, const struct graph *graph) {
  for (int32_t v = 0; v < graph->n_values; v++) {
    if (names_find(&inliner->values, graph->values[v].name) < 0) {
      TRY(names_add(&inliner->values, graph->values[v].name, 1));
    }
  }
  for (int32_t i = 0; i < graph->n_nodes; i++) {
    const struct node *node = &graph->nodes[i];
    TRY(names_add(&inliner->labels, node->label, 1));
    for (int32_t k = 0; k < node->n_attributes; k++) {
      for (int32_t g = 0; node->attributes[k].graphs != NULL && g < node->attributes[k].count; g++) {
        TRY(reserve_names(inliner, node->attributes[k].graphs[g]));
      }
    }
  }
  return status_ok();
}

/* --- values and nodes of a target ------------------------------------------------- */

static assay_status push_value(const struct frame *frame, const struct value *from, const char *name, int32_t *out) {
  struct target *target = frame->target;
  if (target->n_values == target->value_capacity) {
    int32_t capacity = target->value_capacity == 0 ? 32 : target->value_capacity * 2;
    struct value *grown = memory_resize(target->values, (size_t)capacity, sizeof *grown);
    if (grown == NULL) {
      return status_no_memory((size_t)capacity * sizeof *grown);
    }
    target->values = grown;
    target->value_capacity = capacity;
  }
  struct value *value = &target->values[target->n_values];
  *value = (struct value){.name = name, .producer = -1, .producer_output = -1, .initializer = -1, .input = -1};
  value->outer = -1;
  value->declared = from->declared;
  for (int32_t i = 0; frame->prefix != NULL && i < value->declared.rank; i++) {
    value->declared.dims[i].symbol = NULL; /* a symbol of a function means something else in each call */
  }
  *out = target->n_values++;
  return names_add(target->graph->names, name, *out);
}

/* The target's value for one that the source defines; its name is kept in the main graph alone. */
static assay_status define_value(const struct frame *frame, int32_t source, int32_t *out) {
  const struct value *from = &frame->source->values[source];
  const char *name = from->name;
  if (frame->prefix != NULL) {
    TRY(unique_name(frame->inliner, &frame->inliner->values, frame->prefix, from->name, &name));
  }
  TRY(push_value(frame, from, name, out));
  frame->map[source] = *out;
  return status_ok();
}

static assay_status push_node(const struct frame *frame, const struct node *node) {
  struct target *target = frame->target;
  if (target->n_nodes == target->node_capacity) {
    int32_t capacity = target->node_capacity == 0 ? 32 : target->node_capacity * 2;
    struct node *grown = memory_resize(target->nodes, (size_t)capacity, sizeof *grown);
    if (grown == NULL) {
      return status_no_memory((size_t)capacity * sizeof *grown);
    }
    target->nodes = grown;
    target->node_capacity = capacity;
  }
  for (int32_t i = 0; i < node->n_outputs; i++) {
    if (node->outputs[i] >= 0) {
      target->values[node->outputs[i]].producer = target->n_nodes;
      target->values[node->outputs[i]].producer_output = i;
    }
  }
  target->nodes[target->n_nodes++] = *node;
  return status_ok();
}

/* --- attributes -------------------------------------------------------------------- */

static assay_status copy_subgraph(const struct frame *outer, const struct graph *source, struct graph **out);

static assay_status copy_graphs(const struct frame *frame, const struct attribute *from, struct attribute *out) {
  struct graph **graphs;
  ARENA_NEW(frame->inliner->arena, graphs, from->count);
  for (int32_t g = 0; g < from->count; g++) {
    TRY(copy_subgraph(frame, from->graphs[g], &graphs[g]));
  }
  out->graphs = graphs;
  return status_ok();
}

/* What a reference stands for: the call's attribute, or the function's default; NULL when neither is there. */
static const struct attribute *find_referred(const struct frame *frame, const char *name) {
  const struct attribute *given = frame->call != NULL ? node_attribute(frame->call, name) : NULL;
  for (int32_t i = 0; given == NULL && frame->function != NULL && i < frame->function->n_defaults; i++) {
    if (strcmp(frame->function->defaults[i].name, name) == 0) {
      given = &frame->function->defaults[i];
    }
  }
  return given;
}

/* The attribute with its reference followed and its graphs copied; *present is false when it falls away. */
static assay_status resolve_attribute(const struct frame *frame, const struct node *node, const struct attribute *from,
                                      struct attribute *out, bool *present) {
  *out = *from;
  *present = true;
  if (from->reference == NULL) {
    return from->graphs != NULL ? copy_graphs(frame, from, out) : status_ok();
  }
  const struct attribute *referred = find_referred(frame, from->reference);
  if (referred == NULL) {
    *present = false;
    return status_ok();
  }
  if (referred->kind != from->kind) {
    return fail_inline(frame->inliner, ASSAY_ATTRIBUTE_INVALID, node->label,
                       "an attribute refers to one of another kind; make the two agree");
  }
  *out = *referred;
  out->name = from->name;
  return status_ok();
}

static assay_status resolve_attributes(const struct frame *frame, const struct node *from, struct node *out) {
  struct attribute *attributes;
  ARENA_NEW(frame->inliner->arena, attributes, from->n_attributes);
  out->n_attributes = 0;
  for (int32_t i = 0; i < from->n_attributes; i++) {
    bool present;
    TRY(resolve_attribute(frame, from, &from->attributes[i], &attributes[out->n_attributes], &present));
    out->n_attributes += present;
  }
  out->attributes = attributes;
  return status_ok();
}

/* --- nodes --------------------------------------------------------------------------- */

static assay_status map_inputs(const struct frame *frame, const struct node *from, struct node *out) {
  int32_t *inputs;
  ARENA_NEW(frame->inliner->arena, inputs, from->n_inputs);
  for (int32_t i = 0; i < from->n_inputs; i++) {
    inputs[i] = from->inputs[i] < 0 ? -1 : frame->map[from->inputs[i]];
  }
  out->inputs = inputs;
  return status_ok();
}

/* Outputs are new values, but those that stand for an output of the call. */
static assay_status map_outputs(const struct frame *frame, const struct node *from, struct node *out) {
  int32_t *outputs;
  ARENA_NEW(frame->inliner->arena, outputs, from->n_outputs);
  for (int32_t i = 0; i < from->n_outputs; i++) {
    outputs[i] = from->outputs[i] < 0 ? -1 : frame->map[from->outputs[i]];
    if (from->outputs[i] >= 0 && outputs[i] < 0) {
      TRY(define_value(frame, from->outputs[i], &outputs[i]));
    }
  }
  out->outputs = outputs;
  return status_ok();
}

static assay_status label_copy(const struct frame *frame, const struct node *from, struct node *out) {
  if (frame->prefix == NULL) {
    return status_ok();
  }
  TRY(unique_name(frame->inliner, &frame->inliner->labels, frame->prefix, from->label, &out->label));
  out->name = out->label;
  return status_ok();
}

static assay_status expand_call(const struct frame *frame, const struct node *call, const struct function *function);

static assay_status copy_node(const struct frame *frame, const struct node *from) {
  struct node node = *from;
  const struct function *function = node_function(frame->inliner->from, from);
  TRY(take_units(frame->inliner, from));
  TRY(label_copy(frame, from, &node));
  TRY(map_inputs(frame, from, &node));
  for (int32_t k = 0; function != NULL && k < from->n_attributes; k++) {
    if (from->attributes[k].graphs != NULL) {
      return fail_inline(frame->inliner, ASSAY_FUNCTION_CALL_INVALID, from->label,
                         "a graph is handed to a function as an attribute, which assay does not take");
    }
  }
  TRY(resolve_attributes(frame, from, &node));
  TRY(map_outputs(frame, from, &node));
  return function != NULL ? expand_call(frame, &node, function) : push_node(frame, &node);
}

static assay_status copy_nodes(const struct frame *frame) {
  for (int32_t i = 0; i < frame->source->n_nodes; i++) {
    TRY(copy_node(frame, &frame->source->nodes[i]));
  }
  return status_ok();
}

/* --- calls ------------------------------------------------------------------------------ */

/* A map of nothing yet. */
static assay_status new_map(struct inliner *inliner, const struct graph *source, int32_t **out) {
  ARENA_NEW(&inliner->scratch, *out, source->n_values);
  for (int32_t i = 0; i < source->n_values; i++) {
    (*out)[i] = -1;
  }
  return status_ok();
}

static int64_t identity_opset(const struct model *model, const struct function *function) {
  for (int32_t i = 0; i < function->n_opsets; i++) {
    if (function->opsets[i].domain[0] == '\0') {
      return function->opsets[i].version;
    }
  }
  int64_t version = model_opset(model, "");
  return version != 0 ? version : 1;
}

/* An output of the call that no node of the body writes: an input handed on, or a value that is given twice. */
static assay_status hand_on(const struct frame *frame, int32_t from, int32_t to) {
  if (from < 0) {
    return fail_inline(frame->inliner, ASSAY_FUNCTION_CALL_INVALID, frame->prefix,
                       "the function gives back an input that the call does not have");
  }
  struct node node = {.op_type = "Identity", .domain = "", .overload = "", .n_inputs = 1, .n_outputs = 1};
  int32_t *ends;
  ARENA_NEW(frame->inliner->arena, ends, 2);
  ends[0] = from;
  ends[1] = to;
  node.inputs = &ends[0];
  node.outputs = &ends[1];
  node.opset = identity_opset(frame->inliner->from, frame->function);
  TRY(unique_name(frame->inliner, &frame->inliner->labels, frame->prefix, "Identity", &node.label));
  node.name = node.label;
  TRY(take_units(frame->inliner, &node));
  return push_node(frame, &node);
}

static assay_status expand_body(struct frame *frame, const struct node *call) {
  const struct graph *body = frame->source;
  bool *handed;
  ARENA_NEW(&frame->inliner->scratch, handed, call->n_outputs);
  for (int32_t i = 0; i < call->n_inputs; i++) {
    frame->map[body->inputs[i]] = call->inputs[i];
  }
  for (int32_t i = 0; i < call->n_outputs; i++) {
    int32_t inner = body->outputs[i];
    handed[i] = call->outputs[i] >= 0 && (body->values[inner].producer < 0 || frame->map[inner] >= 0);
    if (call->outputs[i] >= 0 && !handed[i]) {
      frame->map[inner] = call->outputs[i];
    }
  }
  TRY(copy_nodes(frame));
  for (int32_t i = 0; i < call->n_outputs; i++) {
    if (handed[i]) {
      TRY(hand_on(frame, frame->map[body->outputs[i]], call->outputs[i]));
    }
  }
  return status_ok();
}

static assay_status deeper(struct inliner *inliner, const char *label) {
  if (++inliner->nesting > NESTING_MAX) {
    return fail_inline(inliner, ASSAY_LIMIT_EXCEEDED, label,
                       "functions and subgraphs are nested too deep to be written out");
  }
  return status_ok();
}

static assay_status expand_call(const struct frame *frame, const struct node *call, const struct function *function) {
  struct frame inner = {.inliner = frame->inliner,
                        .source = function->body,
                        .target = frame->target,
                        .function = function,
                        .call = call,
                        .prefix = call->label};
  TRY(deeper(frame->inliner, call->label));
  TRY(new_map(frame->inliner, function->body, &inner.map));
  TRY(expand_body(&inner, call));
  frame->inliner->nesting--;
  return status_ok();
}

/* --- graphs ------------------------------------------------------------------------------- */

static assay_status begin_graph(struct inliner *inliner, const struct graph *source, struct graph *parent,
                                struct target *target) {
  *target = (struct target){0};
  ARENA_NEW(inliner->arena, target->graph, 1);
  struct graph *graph = target->graph;
  graph->name = source->name;
  graph->model = inliner->to;
  graph->parent = parent;
  ARENA_NEW(inliner->arena, graph->names, 1);
  names_begin(graph->names, inliner->arena);
  ARENA_NEW(inliner->arena, graph->inputs, source->n_inputs);
  ARENA_NEW(inliner->arena, graph->outputs, source->n_outputs);
  ARENA_NEW(inliner->arena, graph->initializers, source->n_initializers);
  return status_ok();
}

/* Inputs and weights; their data stay where the original has them. */
static assay_status copy_givens(const struct frame *frame) {
  const struct graph *source = frame->source;
  struct graph *graph = frame->target->graph;
  for (int32_t i = 0; i < source->n_inputs; i++) {
    TRY(define_value(frame, source->inputs[i], &graph->inputs[i]));
    frame->target->values[graph->inputs[i]].input = i;
    graph->n_inputs++;
  }
  for (int32_t i = 0; i < source->n_initializers; i++) {
    struct initializer *initializer = &graph->initializers[i];
    *initializer = source->initializers[i];
    initializer->value = frame->map[source->initializers[i].value];
    if (initializer->value < 0) {
      TRY(define_value(frame, source->initializers[i].value, &initializer->value));
    }
    frame->target->values[initializer->value].initializer = i;
    graph->n_initializers++;
  }
  return status_ok();
}

/* Two values of a function may be one value around it: f(a, a). */
static assay_status copy_capture(const struct frame *frame, const struct frame *outer, int32_t source, int32_t around) {
  const char *name = outer->target->values[around].name;
  int32_t *place = &frame->map[source];
  *place = names_find(frame->target->graph->names, name);
  if (*place < 0) {
    TRY(push_value(frame, &frame->source->values[source], name, place));
    frame->target->values[*place].outer = around;
  }
  return status_ok();
}

/* Values that the source takes from the graph around it. */
static assay_status copy_captures(const struct frame *frame, const struct frame *outer) {
  const struct graph *source = frame->source;
  for (int32_t v = 0; v < source->n_values; v++) {
    if (source->values[v].outer < 0) {
      continue;
    }
    int32_t around = outer->map[source->values[v].outer];
    if (around < 0) {
      continue; /* an input that the call does not have: absent inside, too */
    }
    TRY(copy_capture(frame, outer, v, around));
  }
  return status_ok();
}

static assay_status end_graph(const struct frame *frame) {
  struct target *target = frame->target;
  struct graph *graph = target->graph;
  ARENA_NEW(frame->inliner->arena, graph->nodes, target->n_nodes);
  ARENA_NEW(frame->inliner->arena, graph->values, target->n_values);
  for (int32_t i = 0; i < frame->source->n_outputs; i++) {
    graph->outputs[i] = frame->map[frame->source->outputs[i]];
    if (graph->outputs[i] < 0) {
      return fail_inline(frame->inliner, ASSAY_FUNCTION_CALL_INVALID, frame->prefix,
                         "a subgraph of the function gives back an input that the call does not have");
    }
    target->values[graph->outputs[i]].is_output = true;
    graph->n_outputs++;
  }
  if (target->n_nodes > 0) {
    memcpy(graph->nodes, target->nodes, (size_t)target->n_nodes * sizeof *graph->nodes);
  }
  if (target->n_values > 0) {
    memcpy(graph->values, target->values, (size_t)target->n_values * sizeof *graph->values);
  }
  graph->n_nodes = target->n_nodes;
  graph->n_values = target->n_values;
  return status_ok();
}

static assay_status fill_graph(struct frame *frame, const struct frame *outer) {
  TRY(new_map(frame->inliner, frame->source, &frame->map));
  TRY(copy_givens(frame));
  if (outer != NULL) {
    TRY(copy_captures(frame, outer));
  }
  TRY(copy_nodes(frame));
  return end_graph(frame);
}

/* The whole of a graph, into a new one. `outer` is what reads the graph around it; NULL for the main graph. */
static assay_status copy_graph(struct frame *frame, const struct frame *outer, struct graph **out) {
  struct target target;
  TRY(begin_graph(frame->inliner, frame->source, outer != NULL ? outer->target->graph : NULL, &target));
  frame->target = &target;
  assay_status status = fill_graph(frame, outer);
  memory_free(target.nodes);
  memory_free(target.values);
  *out = target.graph;
  return status;
}

static assay_status copy_subgraph(const struct frame *outer, const struct graph *source, struct graph **out) {
  struct frame frame = *outer;
  frame.source = source;
  TRY(deeper(outer->inliner, source->name));
  TRY(copy_graph(&frame, outer, out));
  outer->inliner->nesting--;
  return status_ok();
}

/* --- models ---------------------------------------------------------------------------------- */

static bool imports(const struct opset_import *list, int32_t n, const char *domain) {
  for (int32_t i = 0; i < n; i++) {
    if (strcmp(list[i].domain, domain) == 0) {
      return true;
    }
  }
  return false;
}

/* The model's imports, and those of its functions for other domains. Each node keeps its own version. */
static assay_status merge_imports(struct inliner *inliner) {
  const struct model *from = inliner->from;
  size_t n = (size_t)from->n_opsets;
  for (int32_t i = 0; i < from->n_functions; i++) {
    n += (size_t)from->functions[i].n_opsets;
  }
  struct opset_import *merged;
  ARENA_NEW(inliner->arena, merged, n);
  memcpy(merged, from->opsets, (size_t)from->n_opsets * sizeof *merged);
  int32_t count = from->n_opsets;
  for (int32_t i = 0; i < from->n_functions; i++) {
    const struct function *function = &from->functions[i];
    for (int32_t k = 0; k < function->n_opsets && count < 1000; k++) {
      if (!imports(merged, count, function->opsets[k].domain)) {
        merged[count++] = function->opsets[k];
      }
    }
  }
  inliner->to->opsets = merged;
  inliner->to->n_opsets = count;
  return status_ok();
}

static assay_status inline_all(struct inliner *inliner) {
  names_begin(&inliner->values, &inliner->scratch);
  names_begin(&inliner->labels, &inliner->scratch);
  TRY(reserve_names(inliner, inliner->from->graph));
  TRY(merge_imports(inliner));
  struct frame frame = {.inliner = inliner, .source = inliner->from->graph};
  return copy_graph(&frame, NULL, &inliner->to->graph);
}

assay_status model_inline(const struct model *model, struct model **out) {
  *out = NULL;
  struct model *to = memory_alloc(1, sizeof *to);
  if (to == NULL) {
    return status_no_memory(sizeof *to);
  }
  *to = *model;
  to->arena = (struct arena){0};
  to->file = (struct file_map){0};
  to->external = NULL;
  to->n_external = 0;
  to->functions = NULL;
  to->n_functions = 0;
  to->origin = model->origin != NULL ? model->origin : model;
  if (model->n_functions > 0) {
    struct inliner inliner = {.from = model, .to = to, .arena = &to->arena};
    assay_status status = inline_all(&inliner);
    arena_free(&inliner.scratch);
    if (!assay_status_ok(status)) {
      model_close(to);
      return status;
    }
  }
  *out = to;
  return status_ok();
}
