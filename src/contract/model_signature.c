/* A model's declared inputs, outputs and metadata as a signature: see model_signature.h. It adds no meaning. */
#include "contract/model_signature.h"

static assay_status declare(const struct value *value, struct arena *arena, struct signature_tensor *out) {
  const struct value_type *type = &value->declared;
  int64_t *dims;
  int32_t rank = type->kind == TYPE_TENSOR ? type->rank : RANK_UNKNOWN;
  *out = (struct signature_tensor){.name = value->name, .dtype = type->dtype, .rank = rank};
  ARENA_NEW(arena, dims, rank > 0 ? rank : 1);
  for (int32_t d = 0; d < rank; d++) {
    dims[d] = type->dims[d].value;
  }
  out->dims = dims;
  return status_ok();
}

assay_status model_signature(const struct model *model, struct arena *arena, struct signature *out) {
  const struct graph *graph = model->graph;
  struct signature_tensor *inputs, *outputs;
  struct signature_metadata *metadata;
  *out = (struct signature){0};
  ARENA_NEW(arena, inputs, graph->n_inputs + 1);
  ARENA_NEW(arena, outputs, graph->n_outputs + 1);
  ARENA_NEW(arena, metadata, model->n_metadata + 1);
  for (int32_t i = 0; i < graph->n_inputs; i++) {
    int32_t v = graph->inputs[i];
    bool initialized = graph->values[v].initializer >= 0;
    if (initialized && !graph_is_overridable(graph, v)) {
      continue;
    }
    TRY(declare(&graph->values[v], arena, &inputs[out->n_inputs]));
    inputs[out->n_inputs++].has_default = initialized;
  }
  for (int32_t i = 0; i < graph->n_outputs; i++) {
    TRY(declare(&graph->values[graph->outputs[i]], arena, &outputs[out->n_outputs++]));
  }
  for (int32_t i = 0; i < model->n_metadata; i++) {
    metadata[out->n_metadata++] = (struct signature_metadata){model->metadata[i].key, model->metadata[i].value};
  }
  out->inputs = inputs;
  out->outputs = outputs;
  out->metadata = metadata;
  return status_ok();
}
