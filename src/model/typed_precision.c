/* The precision that a graph's own types state: see typed_precision.h. It judges nothing and computes nothing. */
#include "model/typed_precision.h"

#include <string.h>

#include "core/text.h"

struct seen {
  bool dtypes[ASSAY_DTYPE_COUNT], quantized;
};

static void see_graph(const struct graph *graph, struct seen *seen);

static void see_dtype(assay_dtype dtype, struct seen *seen) {
  if (dtype > ASSAY_UNDEFINED && dtype < ASSAY_DTYPE_COUNT) {
    seen->dtypes[dtype] = true;
  }
}

static bool is_quantized(const char *op_type) {
  static const char *const words[] = {"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "MatMulInteger",
                                      "ConvInteger"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (strcmp(words[i], op_type) == 0) {
      return true;
    }
  }
  return text_starts_with(op_type, "QLinear");
}

static void see_attribute(const struct attribute *attribute, const struct node *node, struct seen *seen) {
  for (int32_t g = 0; attribute->graphs != NULL && g < attribute->count; g++) {
    see_graph(attribute->graphs[g], seen);
  }
  if (attribute->kind == ATTRIBUTE_TENSOR && attribute->tensors != NULL) {
    see_dtype(attribute->tensors[0].dtype, seen);
  }
  if (attribute->kind == ATTRIBUTE_INT && strcmp(attribute->name, "to") == 0 && strcmp(node->op_type, "Cast") == 0) {
    see_dtype((assay_dtype)attribute->i, seen);
  }
}

static void see_graph(const struct graph *graph, struct seen *seen) {
  for (int32_t v = 0; v < graph->n_values; v++) {
    see_dtype(graph->values[v].declared.dtype, seen);
  }
  for (int32_t i = 0; i < graph->n_initializers; i++) {
    see_dtype(graph->initializers[i].tensor.dtype, seen);
  }
  for (int32_t n = 0; n < graph->n_nodes; n++) {
    const struct node *node = &graph->nodes[n];
    seen->quantized = seen->quantized || is_quantized(node->op_type);
    for (int32_t a = 0; a < node->n_attributes; a++) {
      see_attribute(&node->attributes[a], node, seen);
    }
  }
}

const char *model_typed_precision(const struct model *model) {
  struct seen seen = {0};
  see_graph(model->graph, &seen);
  for (int32_t f = 0; f < model->n_functions; f++) {
    see_graph(model->functions[f].body, &seen);
  }
  if (seen.quantized) {
    return "int8";
  }
  if (seen.dtypes[ASSAY_FLOAT16]) {
    return "fp16";
  }
  if (seen.dtypes[ASSAY_BFLOAT16]) {
    return "bf16";
  }
  return seen.dtypes[ASSAY_FLOAT64] && !seen.dtypes[ASSAY_FLOAT32] ? "fp64" : "fp32";
}
