/* The canonical digest of a graph. Each value's digest says how it is computed, from the inputs' names and the
 * weights on; inner names and the order of nodes do not enter. Whatever can change an answer must enter. */
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "model/model.h"

struct digest {
  char text[HASH_TEXT_SIZE];
};

struct digester {
  const struct model *model;
  struct digest *functions; /* by place in model->functions */
  bool *known;
  struct arena scratch;
};

/* One graph under way. */
struct level {
  struct digester *digester;
  const struct level *outer;
  const struct graph *graph;
  int64_t depth;
  struct digest *values;
};

/* --- adding to a hash: everything has its length or kind in front ------------------ */

static void add_int(struct hash *hash, int64_t value) {
  uint8_t bytes[8];
  for (int i = 0; i < 8; i++) {
    bytes[i] = (uint8_t)((uint64_t)value >> (8 * i));
  }
  hash_add(hash, bytes, sizeof bytes);
}

static void add_bytes(struct hash *hash, const void *bytes, size_t size) {
  add_int(hash, (int64_t)size);
  hash_add(hash, bytes, size);
}

static void add_text(struct hash *hash, const char *text) { add_bytes(hash, text, strlen(text)); }

static void add_digest(struct hash *hash, const struct digest *digest) { hash_add(hash, digest->text, 71); }

static void add_tensor(struct hash *hash, const assay_tensor *tensor) {
  add_int(hash, tensor->dtype);
  add_int(hash, tensor->rank);
  for (int32_t i = 0; i < tensor->rank; i++) {
    add_int(hash, tensor->dims[i]);
  }
  if (tensor->dtype != ASSAY_STRING) {
    add_bytes(hash, tensor->data, tensor->bytes);
    return;
  }
  const assay_text *texts = tensor->data;
  for (size_t i = 0; i < tensor->bytes / sizeof *texts; i++) {
    add_bytes(hash, texts[i].data, texts[i].length);
  }
}

static void add_type(struct hash *hash, const struct value_type *type) {
  add_int(hash, type->kind);
  add_int(hash, type->dtype);
  add_int(hash, type->rank);
  for (int32_t i = 0; i < type->rank; i++) {
    add_int(hash, type->dims[i].value);
    add_text(hash, type->dims[i].value < 0 && type->dims[i].symbol != NULL ? type->dims[i].symbol : "");
  }
}

/* --- nodes ----------------------------------------------------------------------------- */

static assay_status digest_graph(struct digester *digester, const struct level *outer, const struct graph *graph,
                                 struct digest *out);
static assay_status digest_function(struct digester *digester, const struct function *function,
                                    const struct digest **out);

static void add_scalars(struct hash *hash, const struct attribute *attribute) {
  add_bytes(hash, &attribute->f, sizeof attribute->f);
  add_int(hash, attribute->i);
  add_bytes(hash, attribute->s.data, attribute->s.length);
  add_int(hash, attribute->count);
  for (int32_t i = 0; i < attribute->count; i++) {
    if (attribute->floats != NULL) {
      add_bytes(hash, &attribute->floats[i], sizeof(float));
    } else if (attribute->ints != NULL) {
      add_int(hash, attribute->ints[i]);
    } else if (attribute->strings != NULL) {
      add_bytes(hash, attribute->strings[i].data, attribute->strings[i].length);
    } else if (attribute->tensors != NULL) {
      add_tensor(hash, &attribute->tensors[i]);
    }
  }
}

static assay_status add_attribute(struct hash *hash, const struct level *level, const struct attribute *attribute) {
  add_text(hash, attribute->name);
  add_int(hash, attribute->kind);
  add_text(hash, attribute->reference != NULL ? attribute->reference : "");
  add_scalars(hash, attribute);
  if (attribute->type != NULL) {
    add_type(hash, attribute->type);
  }
  for (int32_t i = 0; attribute->graphs != NULL && i < attribute->count; i++) {
    struct digest inner;
    TRY(digest_graph(level->digester, level, attribute->graphs[i], &inner));
    add_digest(hash, &inner);
  }
  return status_ok();
}

static int compare_attributes(const void *a, const void *b) {
  const struct attribute *const *left = a, *const *right = b;
  return strcmp((*left)->name, (*right)->name);
}

static assay_status add_attributes(struct hash *hash, const struct level *level, const struct attribute *attributes,
                                   int32_t n) {
  const struct attribute **sorted;
  ARENA_NEW(&level->digester->scratch, sorted, n);
  for (int32_t i = 0; i < n; i++) {
    sorted[i] = &attributes[i];
  }
  if (n > 1) {
    qsort(sorted, (size_t)n, sizeof(const struct attribute *), compare_attributes);
  }
  add_int(hash, n);
  for (int32_t i = 0; i < n; i++) {
    TRY(add_attribute(hash, level, sorted[i]));
  }
  return status_ok();
}

static assay_status digest_node(struct level *level, const struct node *node, struct digest *out) {
  struct hash hash;
  hash_begin(&hash);
  add_text(&hash, "node");
  add_text(&hash, node->domain);
  add_text(&hash, node->op_type);
  add_text(&hash, node->overload);
  add_int(&hash, node->opset);
  const struct function *function = node_function(level->digester->model, node);
  if (function != NULL) {
    const struct digest *body;
    TRY(digest_function(level->digester, function, &body));
    add_digest(&hash, body);
  }
  add_int(&hash, node->n_inputs);
  for (int32_t i = 0; i < node->n_inputs; i++) {
    if (node->inputs[i] >= 0) {
      add_digest(&hash, &level->values[node->inputs[i]]);
    } else {
      add_text(&hash, "absent");
    }
  }
  add_int(&hash, node->n_outputs);
  for (int32_t i = 0; i < node->n_outputs; i++) {
    add_int(&hash, node->outputs[i] >= 0);
  }
  TRY(add_attributes(&hash, level, node->attributes, node->n_attributes));
  hash_end(&hash, out->text);
  for (int32_t i = 0; i < node->n_outputs; i++) {
    if (node->outputs[i] >= 0) {
      hash_begin(&hash);
      add_text(&hash, "result");
      add_digest(&hash, out);
      add_int(&hash, i);
      hash_end(&hash, level->values[node->outputs[i]].text);
    }
  }
  return status_ok();
}

/* --- graphs ------------------------------------------------------------------------------- */

/* The main graph's inputs are known by name, those of subgraphs and functions by place. */
static void digest_input(struct level *level, int32_t place) {
  int32_t number = level->graph->inputs[place];
  const struct value *value = &level->graph->values[number];
  struct hash hash;
  hash_begin(&hash);
  add_text(&hash, "input");
  add_int(&hash, level->depth);
  add_int(&hash, place);
  add_text(&hash, level->depth == 0 ? value->name : "");
  add_type(&hash, &value->declared);
  hash_end(&hash, level->values[number].text);
}

static void digest_initializer(struct level *level, const struct initializer *initializer) {
  struct digest *place = &level->values[initializer->value];
  bool overridable = graph_is_overridable(level->graph, initializer->value);
  struct hash hash;
  hash_begin(&hash);
  add_text(&hash, overridable ? "default" : "weight");
  if (overridable) {
    add_digest(&hash, place);
  }
  add_tensor(&hash, &initializer->tensor);
  hash_end(&hash, place->text);
  model_release_pages(level->digester->model, &initializer->tensor);
}

static int compare_digests(const void *a, const void *b) {
  return memcmp(((const struct digest *)a)->text, ((const struct digest *)b)->text, 71);
}

/* All that is there, needed for an output or not, in an order that the file does not decide. */
static void add_sorted(struct hash *hash, struct digest *digests, int32_t n) {
  if (n > 1) {
    qsort(digests, (size_t)n, sizeof *digests, compare_digests);
  }
  add_int(hash, n);
  for (int32_t i = 0; i < n; i++) {
    add_digest(hash, &digests[i]);
  }
}

static assay_status digest_all(struct level *level, struct hash *hash) {
  const struct graph *graph = level->graph;
  struct digest *all;
  ARENA_NEW(&level->digester->scratch, level->values, graph->n_values);
  ARENA_NEW(&level->digester->scratch, all, (size_t)graph->n_nodes + (size_t)graph->n_initializers);
  for (int32_t i = 0; i < graph->n_inputs; i++) {
    digest_input(level, i);
    add_digest(hash, &level->values[graph->inputs[i]]);
  }
  for (int32_t v = 0; v < graph->n_values; v++) {
    if (graph->values[v].outer >= 0) {
      level->values[v] = level->outer->values[graph->values[v].outer];
    }
  }
  for (int32_t i = 0; i < graph->n_initializers; i++) {
    digest_initializer(level, &graph->initializers[i]);
    all[graph->n_nodes + i] = level->values[graph->initializers[i].value];
  }
  for (int32_t i = 0; i < graph->n_nodes; i++) {
    TRY(digest_node(level, &graph->nodes[i], &all[i]));
  }
  add_int(hash, graph->n_outputs);
  for (int32_t i = 0; i < graph->n_outputs; i++) {
    const struct value *value = &graph->values[graph->outputs[i]];
    add_text(hash, level->depth == 0 ? value->name : "");
    if (level->depth == 0) {
      add_type(hash, &value->declared);
    }
    add_digest(hash, &level->values[graph->outputs[i]]);
  }
  add_sorted(hash, all, graph->n_nodes + graph->n_initializers);
  return status_ok();
}

static assay_status digest_graph(struct digester *digester, const struct level *outer, const struct graph *graph,
                                 struct digest *out) {
  struct level level = {digester, outer, graph, outer == NULL ? 0 : outer->depth + 1, NULL};
  struct hash hash;
  hash_begin(&hash);
  add_text(&hash, "graph");
  add_int(&hash, graph->n_inputs);
  TRY(digest_all(&level, &hash));
  hash_end(&hash, out->text);
  return status_ok();
}

/* A function's digest, made once. Functions call no one in a circle: that was checked when loading. */
static assay_status digest_function(struct digester *digester, const struct function *function,
                                    const struct digest **out) {
  ptrdiff_t place = function - digester->model->functions;
  *out = &digester->functions[place];
  if (digester->known[place]) {
    return status_ok();
  }
  struct level level = {.digester = digester, .depth = 1, .graph = function->body};
  struct digest body;
  struct hash hash;
  hash_begin(&hash);
  add_text(&hash, "function");
  TRY(digest_all(&level, &hash));
  hash_end(&hash, body.text);
  hash_begin(&hash);
  add_digest(&hash, &body);
  TRY(add_attributes(&hash, &level, function->defaults, function->n_defaults));
  hash_end(&hash, digester->functions[place].text);
  digester->known[place] = true;
  return status_ok();
}

static assay_status digest_model(struct digester *digester, struct digest *out) {
  ARENA_NEW(&digester->scratch, digester->functions, digester->model->n_functions);
  ARENA_NEW(&digester->scratch, digester->known, digester->model->n_functions);
  return digest_graph(digester, NULL, digester->model->graph, out);
}

assay_status model_digest(const struct model *model, char out[GRAPH_DIGEST_SIZE]) {
  struct digester digester = {.model = model};
  struct digest digest;
  assay_status status = digest_model(&digester, &digest);
  arena_free(&digester.scratch);
  TRY(status);
  memcpy(out, "graph:", 6);
  memcpy(out + 6, digest.text + 7, 65);
  return status_ok();
}
