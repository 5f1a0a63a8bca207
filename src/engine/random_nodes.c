/* Random nodes: see random_nodes.h. It must never call a Dropout harmless whose mode is not known. */
#include "engine/random_nodes.h"

#include <string.h>

#include "engine/fold.h"
#include "model/schema.h"

/* A node that draws, or may, while it is looked at. */
struct found {
  const struct graph *graph;
  const struct node *node;
  const char *around; /* the node whose subgraph it stands in; NULL: the main graph */
  struct value_type input, output;
  const assay_tensor *ratio, *training; /* of a Dropout, where they are constant */
};

struct search {
  struct arena *arena;
  struct found *items;
  int32_t count, capacity;
};

static bool is_onnx(const struct node *node, const char *op) {
  return node->domain[0] == '\0' && text_equal(node->op_type, op);
}

bool node_draws(const struct node *node) {
  static const char *const names[] = {"RandomNormal",      "RandomNormalLike", "RandomUniform",
                                      "RandomUniformLike", "Bernoulli",        "Multinomial"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (is_onnx(node, names[i])) {
      return true;
    }
  }
  return false;
}

/* --- finding -------------------------------------------------------------------------- */

static assay_status keep(struct search *search, const struct graph *graph, const struct node *node,
                         const char *around) {
  if (search->count == search->capacity) {
    int32_t larger = search->capacity == 0 ? 16 : search->capacity * 2;
    struct found *items;
    ARENA_NEW(search->arena, items, larger);
    if (search->count > 0) {
      memcpy(items, search->items, (size_t)search->count * sizeof *items);
    }
    search->items = items;
    search->capacity = larger;
  }
  search->items[search->count++] = (struct found){.graph = graph,
                                                  .node = node,
                                                  .around = around,
                                                  .input = {.rank = RANK_UNKNOWN},
                                                  .output = {.rank = RANK_UNKNOWN}};
  return status_ok();
}

/* Nesting was bounded when the model was opened. */
static assay_status walk(struct search *search, const struct graph *graph, const char *around) {
  for (int32_t i = 0; i < graph->n_nodes; i++) {
    const struct node *node = &graph->nodes[i];
    if (node_draws(node) || is_onnx(node, "Dropout")) {
      TRY(keep(search, graph, node, around));
    }
    for (int32_t k = 0; k < node->n_attributes; k++) {
      const struct attribute *attribute = &node->attributes[k];
      bool graphs = attribute->kind == ATTRIBUTE_GRAPH || attribute->kind == ATTRIBUTE_GRAPHS;
      for (int32_t g = 0; graphs && g < attribute->count; g++) {
        TRY(walk(search, attribute->graphs[g], node->label));
      }
    }
  }
  return status_ok();
}

/* --- what inference knows of them -------------------------------------------------------- */

static void take_known(void *user, const struct node *node, const struct infer_value *const *inputs,
                       const struct infer_value *const *outputs) {
  const struct search *search = user;
  for (int32_t i = 0; i < search->count; i++) {
    struct found *found = &search->items[i];
    if (found->node != node) {
      continue;
    }
    if (node->n_inputs > 0 && inputs[0] != NULL) {
      found->input = inputs[0]->type;
    }
    if (node->n_outputs > 0 && outputs[0] != NULL) {
      found->output = outputs[0]->type;
    }
    found->ratio = node->n_inputs > 1 && inputs[1] != NULL ? inputs[1]->constant : NULL;
    found->training = node->n_inputs > 2 && inputs[2] != NULL ? inputs[2]->constant : NULL;
  }
}

/* A constant by an initializer that cannot be fed, or a Constant node; NULL: not plain. */
static const assay_tensor *constant_of(const struct graph *graph, int32_t value) {
  while (value >= 0 && graph != NULL && graph->values[value].outer >= 0) {
    value = graph->values[value].outer;
    graph = graph->parent;
  }
  if (value < 0 || graph == NULL) {
    return NULL;
  }
  const struct initializer *initializer = graph_initializer(graph, value);
  if (initializer != NULL) {
    return graph_is_overridable(graph, value) ? NULL : &initializer->tensor;
  }
  const int32_t producer = graph->values[value].producer;
  const struct attribute *attribute = producer >= 0 && is_onnx(&graph->nodes[producer], "Constant")
                                          ? node_attribute(&graph->nodes[producer], "value")
                                          : NULL;
  return attribute != NULL && attribute->kind == ATTRIBUTE_TENSOR ? attribute->tensors : NULL;
}

static const assay_tensor *input_constant(const struct found *found, int32_t i, const assay_tensor *inferred) {
  return inferred != NULL ? inferred : constant_of(found->graph, found->node->inputs[i]);
}

static bool is_zero(const assay_tensor *tensor) {
  return tensor != NULL && tensor_count(tensor) == 1 && tensor_get(tensor, 0) == 0.0;
}

static bool has_input(const struct node *node, int32_t i) { return i < node->n_inputs && node->inputs[i] >= 0; }

/* Before opset 7 the attribute is_test says the mode, and is 0 when it is not given; until 12 a Dropout
 * never drops; from then on training_mode is an input. */
static bool drops(const struct found *found) {
  const struct node *node = found->node;
  if (node->opset < 7) {
    return node_attribute_int(node, "is_test", 0) == 0 && node_attribute_float(node, "ratio", 0.5F) != 0.0F;
  }
  if (node->opset < 12 || !has_input(node, 2)) {
    return false;
  }
  bool trains = !is_zero(input_constant(found, 2, found->training));
  return trains && !(has_input(node, 1) && is_zero(input_constant(found, 1, found->ratio)));
}

/* --- the sentence ---------------------------------------------------------------------------- */

/* The type of what is to become an input. */
static struct value_type drawn_type(const struct found *found) {
  const struct node *node = found->node;
  bool like = is_onnx(node, "RandomNormalLike") || is_onnx(node, "RandomUniformLike");
  struct value_type type = found->output;
  if (!node_draws(node) || like || is_onnx(node, "Bernoulli") || is_onnx(node, "Multinomial")) {
    type = found->input;
  }
  int32_t rank = 0;
  const int64_t *shape = node_attribute_ints(node, "shape", &rank);
  if (shape != NULL && rank <= ASSAY_RANK_MAX) {
    type.rank = rank;
    for (int32_t d = 0; d < rank; d++) {
      type.dims[d] = (struct dim){shape[d], NULL};
    }
  }
  bool random = is_onnx(node, "RandomNormal") || is_onnx(node, "RandomUniform");
  assay_dtype given = (assay_dtype)node_attribute_int(node, "dtype", random ? ASSAY_FLOAT32 : ASSAY_UNDEFINED);
  type.dtype = random || (like && given != ASSAY_UNDEFINED) ? given : type.dtype;
  return type;
}

static void add_shape(struct text *out, const struct value_type *type) {
  bool known = type->rank >= 0;
  for (int32_t d = 0; d < type->rank; d++) {
    known = known && type->dims[d].value >= 0;
  }
  if (!known) {
    text_add(out, "TODO");
    return;
  }
  text_add_char(out, '[');
  for (int32_t d = 0; d < type->rank; d++) {
    text_format(out, "%s%lld", d > 0 ? ", " : "", (long long)type->dims[d].value);
  }
  text_add_char(out, ']');
}

static void add_distribution(struct text *out, const struct node *node) {
  if (text_starts_with(node->op_type, "RandomNormal")) {
    double mean = (double)node_attribute_float(node, "mean", 0), scale = (double)node_attribute_float(node, "scale", 1);
    if (mean == 0 && scale == 1) {
      text_add(out, "normal");
    } else {
      text_format(out, "{normal: {mean: %.9g, std: %.9g}}", mean, scale);
    }
    return;
  }
  bool uniform = text_starts_with(node->op_type, "RandomUniform");
  double low = uniform ? (double)node_attribute_float(node, "low", 0) : 0;
  double high = uniform ? (double)node_attribute_float(node, "high", 1) : 1;
  if (low == 0 && high == 1) {
    text_add(out, "uniform");
  } else {
    text_format(out, "{uniform: [%.9g, %.9g]}", low, high);
  }
}

/* What stands in the node's place; `%s` is the name of the new input. */
static const char *remedy(const struct node *node) {
  if (is_onnx(node, "Bernoulli")) {
    return "replace it by a comparison of its input with uniform noise '%s' that is an input of the model";
  }
  if (is_onnx(node, "Multinomial")) {
    return "replace it by ArgMax(logits - Log(-Log(u))) with uniform noise '%s' that is an input of the model, one a "
           "sample, or take the most likely class";
  }
  if (is_onnx(node, "Dropout")) {
    return "export the model in evaluation mode; a policy that needs to drop at run time compares uniform noise '%s', "
           "an input of the model, with the ratio";
  }
  return "take the node out and make '%s' an input of the model";
}

static void add_sentence(struct text *out, const struct found *found, const char *tensor) {
  const struct node *node = found->node;
  struct value_type type = drawn_type(found);
  bool itself = text_starts_with(node->op_type, "Random");
  struct text name = {0};
  text_format(&name, "%s%s", tensor, itself ? "" : "_noise");
  text_format(out, "node '%s' (%s", node->label, node->op_type);
  if (found->around != NULL) {
    text_format(out, ", in a subgraph of node '%s'", found->around);
  }
  text_format(out, ") %s",
              is_onnx(node, "Dropout") ? "may be in training mode, which drops at random" : "draws random numbers");
  text_format(out, " for the tensor '%s', so that the model has no one answer to compare with", tensor);
  text_add(out, node_attribute(node, "seed") != NULL
                    ? " (its seed helps nothing: ONNX does not say which generator it seeds)"
                    : "");
  text_add(out, "; ");
  text_format(out, remedy(node), text_string(&name));
  text_format(out, ", and say in the contract `- {name: %s, role: noise, distribution: ", text_string(&name));
  add_distribution(out, node);
  text_format(out,
              ", seeds: 8, dtype: %s, shape: ", dtype_is_float(type.dtype) ? assay_dtype_name(type.dtype) : "float32");
  add_shape(out, &type);
  text_format(out, "}`; cases store its values as seeds/N/inputs/%s", text_string(&name));
  text_add(out, found->around != NULL ? ". In a loop every turn takes a draw of its own, along one more axis" : "");
  out->failed = out->failed || name.failed;
  text_free(&name);
}

static assay_status conclude(const struct search *search, const struct random_node **out, int32_t *count) {
  struct random_node *nodes;
  ARENA_NEW(search->arena, nodes, search->count + 1);
  for (int32_t i = 0; i < search->count; i++) {
    const struct found *found = &search->items[i];
    const struct node *node = found->node;
    if (!node_draws(node) && !drops(found)) {
      continue;
    }
    const char *tensor =
        node->n_outputs > 0 && node->outputs[0] >= 0 ? found->graph->values[node->outputs[0]].name : "";
    struct text sentence = {0};
    add_sentence(&sentence, found, tensor);
    struct random_node *random = &nodes[(*count)++];
    *random = (struct random_node){arena_string(search->arena, node->label), arena_string(search->arena, node->op_type),
                                   arena_string(search->arena, tensor),
                                   sentence.failed ? NULL : arena_string(search->arena, text_string(&sentence))};
    text_free(&sentence);
    if (random->label == NULL || random->op == NULL || random->tensor == NULL || random->sentence == NULL) {
      return status_no_memory(1);
    }
  }
  *out = nodes;
  return status_ok();
}

/* Types are for the sentence and for constants: what does not fit together is not this search's to say. */
static assay_status infer(struct search *search, const struct graph *graph, struct arena *scratch) {
  const struct shapes_options options = {.lenient = true, .visitor = take_known, .user = search};
  struct shapes shapes;
  assay_status status = shapes_infer(graph, fold_schemas(), &options, scratch, &shapes);
  if (assay_code_kind_of(status.code) == ASSAY_KIND_INTERNAL) {
    return status;
  }
  assay_status_clear(&status);
  return status_ok();
}

assay_status random_nodes_find(const struct model *model, struct arena *arena, const struct random_node **out,
                               int32_t *count) {
  struct model *flat = NULL;
  struct arena scratch = {0};
  struct search search = {.arena = arena};
  *out = NULL;
  *count = 0;
  TRY(model_inline(model, &flat));
  assay_status status = walk(&search, flat->graph, NULL);
  if (assay_status_ok(status) && search.count > 0) {
    status = infer(&search, flat->graph, &scratch);
  }
  if (assay_status_ok(status)) {
    status = conclude(&search, out, count);
  }
  arena_free(&scratch);
  model_close(flat);
  return status;
}
