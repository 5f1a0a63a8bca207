/* The order of nodes, and names that hide other names. Must leave a graph that is in order as it is: of all
 * valid orders, the one nearest to the file's. */
#include <string.h>

#include "model/load.h"

/* --- what a node waits for -------------------------------------------------------- */

/* Producers that nodes wait for, counted on the first pass and listed on the second: readers[starts[p]..]
 * are the nodes that read what node p produces. */
struct waiting {
  int32_t *missing; /* by node: how many producers it still waits for */
  int32_t *starts;  /* by producer, n_nodes + 1 */
  int32_t *readers;
  int32_t *fill; /* by producer; NULL while counting */
};

static void wait_for(const struct graph *graph, struct waiting *waiting, int32_t node, int32_t value) {
  int32_t producer = value < 0 ? -1 : graph->values[value].producer;
  if (producer < 0) {
    return;
  }
  if (waiting->fill == NULL) {
    waiting->starts[producer + 1]++;
    waiting->missing[node]++;
  } else {
    waiting->readers[waiting->fill[producer]++] = node;
  }
}

/* A node waits for its inputs, and for what its subgraphs capture. */
static void wait_for_node(const struct graph *graph, struct waiting *waiting, int32_t index) {
  const struct node *node = &graph->nodes[index];
  for (int32_t i = 0; i < node->n_inputs; i++) {
    wait_for(graph, waiting, index, node->inputs[i]);
  }
  for (int32_t k = 0; k < node->n_attributes; k++) {
    const struct attribute *attribute = &node->attributes[k];
    for (int32_t g = 0; attribute->graphs != NULL && g < attribute->count; g++) {
      for (int32_t v = 0; v < attribute->graphs[g]->n_values; v++) {
        wait_for(graph, waiting, index, attribute->graphs[g]->values[v].outer);
      }
    }
  }
}

static assay_status waiting_make(struct arena *arena, const struct graph *graph, struct waiting *out) {
  *out = (struct waiting){0};
  ARENA_NEW(arena, out->missing, graph->n_nodes);
  ARENA_NEW(arena, out->starts, graph->n_nodes + 1);
  for (int32_t i = 0; i < graph->n_nodes; i++) {
    wait_for_node(graph, out, i);
  }
  for (int32_t i = 0; i < graph->n_nodes; i++) {
    out->starts[i + 1] += out->starts[i];
  }
  ARENA_NEW(arena, out->readers, out->starts[graph->n_nodes]);
  ARENA_NEW(arena, out->fill, graph->n_nodes + 1);
  memcpy(out->fill, out->starts, (size_t)graph->n_nodes * sizeof *out->fill);
  for (int32_t i = 0; i < graph->n_nodes; i++) {
    wait_for_node(graph, out, i);
  }
  return status_ok();
}

/* --- a heap of node numbers, smallest first ---------------------------------------- */

static void heap_push(int32_t *heap, int32_t *n, int32_t item) {
  int32_t at = (*n)++;
  while (at > 0 && heap[(at - 1) / 2] > item) {
    heap[at] = heap[(at - 1) / 2];
    at = (at - 1) / 2;
  }
  heap[at] = item;
}

static int32_t heap_pop(int32_t *heap, int32_t *n) {
  int32_t top = heap[0], last = heap[--*n], at = 0;
  for (;;) {
    int32_t child = 2 * at + 1;
    if (child >= *n) {
      break;
    }
    child += child + 1 < *n && heap[child + 1] < heap[child];
    if (heap[child] >= last) {
      break;
    }
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = last;
  return top;
}

/* --- the order ------------------------------------------------------------------------ */

/* A producer that itself still waits, of those a value comes from; -1: none. */
static int32_t stuck_value(const struct graph *graph, const struct waiting *waiting, int32_t value) {
  int32_t producer = value < 0 ? -1 : graph->values[value].producer;
  return producer >= 0 && waiting->missing[producer] > 0 ? producer : -1;
}

static int32_t stuck_producer(const struct graph *graph, const struct waiting *waiting, const struct node *node) {
  int32_t found = -1;
  for (int32_t i = 0; found < 0 && i < node->n_inputs; i++) {
    found = stuck_value(graph, waiting, node->inputs[i]);
  }
  for (int32_t k = 0; found < 0 && k < node->n_attributes; k++) {
    const struct attribute *attribute = &node->attributes[k];
    for (int32_t g = 0; attribute->graphs != NULL && g < attribute->count; g++) {
      for (int32_t v = 0; found < 0 && v < attribute->graphs[g]->n_values; v++) {
        found = stuck_value(graph, waiting, attribute->graphs[g]->values[v].outer);
      }
    }
  }
  return found;
}

/* Names a node on a cycle: from any node that still waits, backwards until one comes again. */
static assay_status report_cycle(struct loader *loader, const struct graph *graph, const struct waiting *waiting) {
  bool *seen;
  ARENA_NEW(&loader->scratch, seen, graph->n_nodes);
  int32_t at = 0;
  while (waiting->missing[at] == 0) {
    at++;
  }
  while (at >= 0 && !seen[at]) {
    seen[at] = true;
    at = stuck_producer(graph, waiting, &graph->nodes[at]);
  }
  const struct node *node = &graph->nodes[at < 0 ? 0 : at];
  return load_fail(loader, ASSAY_GRAPH_CYCLE,
                   "node '%s' (%s) of graph '%s' depends on its own result '%s'; export the model again", node->label,
                   node->op_type, graph->name,
                   node->n_outputs > 0 && node->outputs[0] >= 0 ? graph->values[node->outputs[0]].name : "");
}

static assay_status apply_order(struct loader *loader, struct graph *graph, const int32_t *order) {
  struct node *nodes;
  ARENA_NEW(loader->arena, nodes, graph->n_nodes);
  int32_t *places;
  ARENA_NEW(&loader->scratch, places, graph->n_nodes);
  for (int32_t i = 0; i < graph->n_nodes; i++) {
    nodes[i] = graph->nodes[order[i]];
    places[order[i]] = i;
  }
  for (int32_t v = 0; v < graph->n_values; v++) {
    if (graph->values[v].producer >= 0) {
      graph->values[v].producer = places[graph->values[v].producer];
    }
  }
  graph->nodes = nodes;
  return status_ok();
}

assay_status order_graph(struct loader *loader, struct graph *graph, bool *moved) {
  struct waiting waiting;
  int32_t *heap, *order, n_heap = 0, done = 0;
  *moved = false;
  TRY(waiting_make(&loader->scratch, graph, &waiting));
  ARENA_NEW(&loader->scratch, heap, graph->n_nodes);
  ARENA_NEW(&loader->scratch, order, graph->n_nodes);
  for (int32_t i = 0; i < graph->n_nodes; i++) {
    if (waiting.missing[i] == 0) {
      heap_push(heap, &n_heap, i);
    }
  }
  while (n_heap > 0) {
    int32_t node = heap_pop(heap, &n_heap);
    *moved = *moved || node != done;
    order[done++] = node;
    for (int32_t r = waiting.starts[node]; r < waiting.starts[node + 1]; r++) {
      if (--waiting.missing[waiting.readers[r]] == 0) {
        heap_push(heap, &n_heap, waiting.readers[r]);
      }
    }
  }
  if (done < graph->n_nodes) {
    return report_cycle(loader, graph, &waiting);
  }
  return *moved ? apply_order(loader, graph, order) : status_ok();
}

/* --- names that hide names ------------------------------------------------------------- */

/* The graphs around a subgraph, each with the node that holds the next one. */
struct around {
  const struct around *outer;
  const struct graph *graph;
  int32_t node;
};

/* True when the name already has a meaning around: an input, a weight, or the result of an earlier node. */
static bool visible_around(const struct around *around, const char *name) {
  for (; around != NULL; around = around->outer) {
    int32_t found = graph_find_value(around->graph, name);
    if (found >= 0 && around->graph->values[found].producer < around->node) {
      return true;
    }
  }
  return false;
}

static assay_status check_hidden(struct loader *loader, const struct graph *graph, const struct around *around) {
  for (int32_t v = 0; v < graph->n_values; v++) {
    const struct value *value = &graph->values[v];
    if (around == NULL || value->outer >= 0 || !visible_around(around, value->name)) {
      continue;
    }
    if (value->producer >= 0) {
      return load_fail(loader, ASSAY_VALUE_REDEFINED,
                       "node '%s' of subgraph '%s' produces '%s', a name that already stands for a value around it; "
                       "rename one of the two",
                       graph->nodes[value->producer].label, graph->name, value->name);
    }
    TRY(load_warn(loader, ASSAY_VALUE_SHADOWED, "'%s' of subgraph '%s' hides a value of the same name around it",
                  value->name, graph->name));
  }
  for (int32_t i = 0; i < graph->n_nodes; i++) {
    struct around here = {around, graph, i};
    for (int32_t k = 0; k < graph->nodes[i].n_attributes; k++) {
      const struct attribute *attribute = &graph->nodes[i].attributes[k];
      for (int32_t g = 0; attribute->graphs != NULL && g < attribute->count; g++) {
        TRY(check_hidden(loader, attribute->graphs[g], &here));
      }
    }
  }
  return status_ok();
}

assay_status order_check_shadows(struct loader *loader, const struct graph *graph) {
  return check_hidden(loader, graph, NULL);
}
