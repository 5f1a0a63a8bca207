/* The public functions on models, over model/. Nothing is decided here. */
#include "assay/model.h"

#include "api/model_handle.h"
#include "assay/assay.h"
#include "core/memory.h"

const char *assay_version(void) { return ASSAY_VERSION; }

assay_status assay_model_open(const char *path, assay_model **out) {
  *out = NULL;
  assay_model *model = memory_alloc(1, sizeof *model);
  if (model == NULL) {
    return status_no_memory(sizeof *model);
  }
  assay_status status = model_open(path, NULL, &model->model);
  if (!assay_status_ok(status)) {
    memory_free(model);
    return status;
  }
  *out = model;
  return status_ok();
}

void assay_model_close(assay_model *model) {
  if (model != NULL) {
    model_close(model->model);
    memory_free(model);
  }
}

static assay_port port_of(const struct graph *graph, int32_t value) {
  const struct value_type *type = &graph->values[value].declared;
  assay_port port = {.name = graph->values[value].name, .dtype = type->dtype, .rank = type->rank};
  for (int32_t i = 0; i < type->rank; i++) {
    port.dims[i] = type->dims[i].value;
  }
  return port;
}

static bool is_fed(const struct graph *graph, int32_t value) { return graph->values[value].initializer < 0; }

size_t assay_model_input_count(const assay_model *model) {
  const struct graph *graph = model->model->graph;
  size_t count = 0;
  for (int32_t i = 0; i < graph->n_inputs; i++) {
    count += is_fed(graph, graph->inputs[i]);
  }
  return count;
}

assay_port assay_model_input(const assay_model *model, size_t i) {
  const struct graph *graph = model->model->graph;
  for (int32_t k = 0; k < graph->n_inputs; k++) {
    if (is_fed(graph, graph->inputs[k]) && i-- == 0) {
      return port_of(graph, graph->inputs[k]);
    }
  }
  return (assay_port){.name = "", .rank = RANK_UNKNOWN};
}

size_t assay_model_output_count(const assay_model *model) { return (size_t)model->model->graph->n_outputs; }

assay_port assay_model_output(const assay_model *model, size_t i) {
  const struct graph *graph = model->model->graph;
  if (i >= (size_t)graph->n_outputs) {
    return (assay_port){.name = "", .rank = RANK_UNKNOWN};
  }
  return port_of(graph, graph->outputs[i]);
}

int64_t assay_model_opset(const assay_model *model, const char *domain) { return model_opset(model->model, domain); }

const char *assay_model_metadata(const assay_model *model, const char *key) {
  return model_metadata(model->model, key);
}
