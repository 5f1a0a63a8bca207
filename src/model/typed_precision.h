/* In which precision a graph computes by the types that it declares: what a strongly typed runtime would do with it. */
#ifndef MODEL_TYPED_PRECISION_H
#define MODEL_TYPED_PRECISION_H

#include "model/graph.h"

/* "int8" where anything is quantized (QuantizeLinear, QLinearConv, MatMulInteger, ...), otherwise "fp16" or "bf16"
 * where a weight, input or value has that type, otherwise "fp64" where one is float64 and none float32, otherwise
 * "fp32". Looks into subgraphs and functions. */
const char *model_typed_precision(const struct model *model);

#endif
