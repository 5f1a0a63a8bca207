/* Checks at load. Nothing unknown is guessed at or skipped. */
#include "engine/load_check.h"

#include "core/text.h"
#include "engine/random_nodes.h"
#include "ops/ops.h"

typedef assay_status node_visit(void *user, const struct node *node);

/* Calls for every node, through subgraphs. Nesting was bounded when the model was opened. */
static assay_status for_each_node(const struct graph *graph, node_visit *call, void *user) {
  for (int32_t i = 0; i < graph->n_nodes; i++) {
    const struct node *node = &graph->nodes[i];
    TRY(call(user, node));
    for (int32_t j = 0; j < node->n_attributes; j++) {
      const struct attribute *attribute = &node->attributes[j];
      bool graphs = attribute->kind == ATTRIBUTE_GRAPH || attribute->kind == ATTRIBUTE_GRAPHS;
      for (int32_t k = 0; graphs && k < attribute->count; k++) {
        TRY(for_each_node(attribute->graphs[k], call, user));
      }
    }
  }
  return status_ok();
}

static assay_status check_node(void *user, const struct node *node) {
  (void)user;
  if (node_draws(node)) {
    return status_make(
        ASSAY_OPERATOR_RANDOM, node->label,
        "node '%s' (%s, domain 'ai.onnx', opset %lld) draws random numbers, so that the model has no one "
        "answer; make the noise an input of the model",
        node->label, node->op_type, (long long)node->opset);
  }
  const struct op *op;
  return op_find(node, &op);
}

assay_status load_check(const struct graph *graph) { return for_each_node(graph, check_node, NULL); }

struct label_search {
  const char *label;
  bool found;
  const char *nearest;
};

static assay_status compare_label(void *user, const struct node *node) {
  struct label_search *search = user;
  search->found = search->found || text_equal(search->label, node->label);
  const char *candidates[2] = {node->label, search->nearest};
  const char *nearest = text_nearest(search->label, candidates, search->nearest != NULL ? 2 : 1);
  search->nearest = nearest != NULL ? nearest : search->nearest;
  return status_ok();
}

assay_status load_check_keep(const struct graph *graph, const struct session_options *options) {
  for (int32_t i = 0; i < options->n_keep; i++) {
    struct label_search search = {.label = options->keep[i]};
    TRY(for_each_node(graph, compare_label, &search));
    if (!search.found) {
      bool near = search.nearest != NULL;
      return status_make(ASSAY_NODE_UNKNOWN, NULL, "keep names node '%s', which the model does not have%s%s%s",
                         options->keep[i], near ? "; did you mean '" : "", near ? search.nearest : "",
                         near ? "'?" : "");
    }
  }
  return status_ok();
}

bool graph_has_value(const struct graph *graph, const char *name) {
  if (graph_find_value(graph, name) >= 0) {
    return true;
  }
  for (int32_t i = 0; i < graph->n_nodes; i++) {
    const struct node *node = &graph->nodes[i];
    for (int32_t j = 0; j < node->n_attributes; j++) {
      const struct attribute *attribute = &node->attributes[j];
      bool graphs = attribute->kind == ATTRIBUTE_GRAPH || attribute->kind == ATTRIBUTE_GRAPHS;
      for (int32_t k = 0; graphs && k < attribute->count; k++) {
        if (graph_has_value(attribute->graphs[k], name)) {
          return true;
        }
      }
    }
  }
  return false;
}
