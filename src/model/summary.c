/* Counting weights, modules and operators; see summary.h. Names decide what module a weight belongs to; whether
 * it is needed is decided by the graph alone. */
#include "model/summary.h"

#include <stdlib.h>
#include <string.h>

#include "model/names.h"
#include "tensor/tensor.h"

struct counter {
  struct arena *arena; /* the results */
  struct arena scratch;
  int depth;
  struct model_summary *out;
  struct name_index modules, operators;
  int32_t module_capacity, operator_capacity, dead_capacity;
};

/* Room for one more element; arrays double in the arena. */
static assay_status grow(struct arena *arena, void **array, int32_t n, int32_t *capacity, size_t size) {
  if (n < *capacity) {
    return status_ok();
  }
  int32_t larger = *capacity == 0 ? 16 : *capacity * 2;
  void *grown = arena_alloc(arena, (size_t)larger, size);
  if (grown == NULL) {
    return status_no_memory((size_t)larger * size);
  }
  if (n > 0) {
    memcpy(grown, *array, (size_t)n * size);
  }
  *array = grown;
  *capacity = larger;
  return status_ok();
}

/* --- modules -------------------------------------------------------------------- */

/* True for names that an exporter made up: numbers, "onnx::MatMul_12", "_v_3", "val_3". */
static bool is_anonymous(const char *name) {
  return strpbrk(name, "./") == NULL || strncmp(name, "onnx::", 6) == 0 || strncmp(name, "/", 1) == 0;
}

/* "encoder.layers" from "/encoder/layers.0/linear/MatMul" or "encoder.layers.0.linear.weight" and a depth of 2:
 * the last part, which names the weight or operator itself, falls away. */
static const char *module_of(struct counter *counter, const char *name) {
  const char *begin = name + strspn(name, "/.");
  size_t length = strlen(begin);
  while (length > 0 && begin[length - 1] != '.' && begin[length - 1] != '/') {
    length--;
  }
  length -= length > 0;
  char *module = arena_copy(&counter->scratch, begin, length);
  int parts = 1;
  for (size_t i = 0; module != NULL && i < length; i++) {
    if (module[i] == '/' || module[i] == '.') {
      module[i] = '.';
      if (parts++ == counter->depth) {
        module[i] = '\0';
        break;
      }
    }
  }
  return module;
}

static assay_status find_module(struct counter *counter, const char *name, struct module_summary **out) {
  const char *module = module_of(counter, name);
  if (module == NULL) {
    return status_no_memory(strlen(name));
  }
  int32_t found = names_find(&counter->modules, module);
  if (found < 0) {
    struct model_summary *summary = counter->out;
    found = summary->n_modules;
    TRY(grow(counter->arena, (void **)&summary->modules, found, &counter->module_capacity, sizeof *summary->modules));
    const char *kept = arena_string(counter->arena, module);
    if (kept == NULL) {
      return status_no_memory(strlen(module));
    }
    summary->modules[summary->n_modules++] = (struct module_summary){.name = kept};
    TRY(names_add(&counter->modules, kept, found));
  }
  *out = &counter->out->modules[found];
  return status_ok();
}

static assay_status add_dead(struct counter *counter, const char *name, int64_t parameters) {
  struct model_summary *summary = counter->out;
  summary->dead += parameters;
  TRY(grow(counter->arena, (void **)&summary->dead_weights, summary->n_dead, &counter->dead_capacity,
           sizeof *summary->dead_weights));
  const char *kept = arena_string(counter->arena, name);
  if (kept == NULL) {
    return status_no_memory(strlen(name));
  }
  summary->dead_weights[summary->n_dead++] = (struct dead_weight){kept, parameters};
  return status_ok();
}

/* `scope` is the name that tells the module. */
static assay_status count_weight(struct counter *counter, const char *name, const char *scope,
                                 const assay_tensor *tensor, bool alive) {
  struct module_summary *module = NULL;
  int64_t parameters = tensor_count(tensor);
  TRY(find_module(counter, scope, &module));
  module->parameters += parameters;
  module->bytes += tensor->bytes;
  module->dead += alive ? 0 : parameters;
  counter->out->parameters += parameters;
  counter->out->bytes += tensor->bytes;
  counter->out->n_weights++;
  return alive ? status_ok() : add_dead(counter, name, parameters);
}

/* --- operators --------------------------------------------------------------------- */

static assay_status count_operator(struct counter *counter, const struct node *node) {
  struct model_summary *summary = counter->out;
  char *key = arena_format(&counter->scratch, "%s %lld %s", node->op_type, (long long)node->opset, node->domain);
  if (key == NULL) {
    return status_no_memory(strlen(node->op_type));
  }
  int32_t found = names_find(&counter->operators, key);
  if (found < 0) {
    found = summary->n_operators;
    TRY(grow(counter->arena, (void **)&summary->operators, found, &counter->operator_capacity,
             sizeof *summary->operators));
    summary->operators[summary->n_operators++] = (struct operator_summary){node->domain, node->op_type, node->opset, 0};
    TRY(names_add(&counter->operators, key, found));
  }
  summary->operators[found].count++;
  summary->n_nodes++;
  return status_ok();
}

/* --- what is needed -------------------------------------------------------------------- */

static void mark(bool *alive, int32_t value) {
  if (value >= 0) {
    alive[value] = true;
  }
}

static bool node_alive(const struct node *node, const bool *alive) {
  for (int32_t i = 0; i < node->n_outputs; i++) {
    if (node->outputs[i] >= 0 && alive[node->outputs[i]]) {
      return true;
    }
  }
  return false;
}

static assay_status count_graph(struct counter *counter, const struct graph *graph, bool needed, bool *outer_alive);

/* Subgraphs of a node; what they capture and need becomes alive around them. */
static assay_status count_subgraphs(struct counter *counter, const struct node *node, bool needed, bool *alive) {
  for (int32_t k = 0; k < node->n_attributes; k++) {
    const struct attribute *attribute = &node->attributes[k];
    for (int32_t g = 0; attribute->graphs != NULL && g < attribute->count; g++) {
      TRY(count_graph(counter, attribute->graphs[g], needed, alive));
    }
  }
  return status_ok();
}

static assay_status count_node(struct counter *counter, const struct graph *graph, const struct node *node,
                               bool *alive) {
  bool needed = node_alive(node, alive);
  TRY(count_operator(counter, node));
  for (int32_t i = 0; needed && i < node->n_inputs; i++) {
    mark(alive, node->inputs[i]);
  }
  if (strcmp(node->op_type, "Constant") == 0 && node->domain[0] == '\0') {
    const struct attribute *value = node_attribute(node, "value");
    if (value != NULL && value->kind == ATTRIBUTE_TENSOR && node->n_outputs > 0 && node->outputs[0] >= 0) {
      const char *name = graph->values[node->outputs[0]].name;
      TRY(count_weight(counter, name, node->name, value->tensors, needed));
    }
  }
  return count_subgraphs(counter, node, needed, alive);
}

/* The first node that reads a weight tells the module of one that has no name of its own. */
static assay_status readers_of(struct counter *counter, const struct graph *graph, const struct node ***out) {
  const struct node **readers;
  ARENA_NEW(&counter->scratch, readers, graph->n_values);
  for (int32_t i = graph->n_nodes - 1; i >= 0; i--) {
    for (int32_t k = 0; k < graph->nodes[i].n_inputs; k++) {
      if (graph->nodes[i].inputs[k] >= 0) {
        readers[graph->nodes[i].inputs[k]] = &graph->nodes[i];
      }
    }
  }
  *out = readers;
  return status_ok();
}

static assay_status count_initializers(struct counter *counter, const struct graph *graph, const bool *alive) {
  const struct node **readers = NULL;
  TRY(readers_of(counter, graph, &readers));
  for (int32_t i = 0; i < graph->n_initializers; i++) {
    const struct initializer *initializer = &graph->initializers[i];
    const char *name = graph->values[initializer->value].name, *scope = name;
    const struct node *reader = readers[initializer->value];
    if (is_anonymous(name) && reader != NULL) {
      scope = reader->name;
    }
    TRY(count_weight(counter, name, scope, &initializer->tensor, alive[initializer->value]));
  }
  return status_ok();
}

static assay_status count_graph(struct counter *counter, const struct graph *graph, bool needed, bool *outer_alive) {
  bool *alive;
  ARENA_NEW(&counter->scratch, alive, graph->n_values);
  for (int32_t i = 0; needed && i < graph->n_outputs; i++) {
    mark(alive, graph->outputs[i]);
  }
  for (int32_t i = graph->n_nodes - 1; i >= 0; i--) {
    TRY(count_node(counter, graph, &graph->nodes[i], alive));
  }
  for (int32_t v = 0; outer_alive != NULL && v < graph->n_values; v++) {
    if (alive[v]) {
      mark(outer_alive, graph->values[v].outer);
    }
  }
  return count_initializers(counter, graph, alive);
}

/* --- results -------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b) {
  return strcmp(((const struct module_summary *)a)->name, ((const struct module_summary *)b)->name);
}

static int by_count(const void *a, const void *b) {
  const struct operator_summary *left = a, *right = b;
  if (left->count != right->count) {
    return left->count < right->count ? 1 : -1;
  }
  int order = strcmp(left->op_type, right->op_type);
  order = order != 0 ? order : strcmp(left->domain, right->domain);
  return order != 0 ? order : (left->opset > right->opset) - (left->opset < right->opset);
}

static int by_parameters(const void *a, const void *b) {
  const struct dead_weight *left = a, *right = b;
  if (left->parameters != right->parameters) {
    return left->parameters < right->parameters ? 1 : -1;
  }
  return strcmp(left->name, right->name);
}

static void sort(void *array, int32_t n, size_t size, int (*compare)(const void *, const void *)) {
  if (n > 1) {
    qsort(array, (size_t)n, size, compare);
  }
}

assay_status model_summarize(const struct model *model, int depth, struct arena *arena, struct model_summary *out) {
  *out = (struct model_summary){0};
  struct counter counter = {.arena = arena, .depth = depth, .out = out};
  names_begin(&counter.modules, &counter.scratch);
  names_begin(&counter.operators, &counter.scratch);
  assay_status status = count_graph(&counter, model->graph, true, NULL);
  arena_free(&counter.scratch);
  TRY(status);
  sort(out->modules, out->n_modules, sizeof *out->modules, by_name);
  sort(out->operators, out->n_operators, sizeof *out->operators, by_count);
  sort(out->dead_weights, out->n_dead, sizeof *out->dead_weights, by_parameters);
  return status_ok();
}
