/* Models: opening an ONNX file and asking what it takes and gives.
 *
 * Copyright the assay authors. SPDX-License-Identifier: Apache-2.0
 */
#ifndef ASSAY_MODEL_H
#define ASSAY_MODEL_H

#include "assay/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An open model. Constant: any number of threads may use it at once. */
typedef struct assay_model assay_model;

/* Opens and checks a model and its external data. On failure *out is NULL. Weights stay
 * in the mapped file, which must not be changed while the model is open. */
ASSAY_API ASSAY_MUST_CHECK assay_status assay_model_open(const char *path, assay_model **out);
/* NULL is harmless. Close the sessions made from it first. */
ASSAY_API void assay_model_close(assay_model *model);

/* An input or output. A dimension that the file leaves open is -1, and so is an unknown
 * rank. `name` lives as long as the model. */
typedef struct assay_port {
  const char *name;
  assay_dtype dtype;
  int32_t rank;
  int64_t dims[ASSAY_RANK_MAX];
} assay_port;

/* Inputs that have to be fed: initializers that are listed among the inputs are none. */
ASSAY_API size_t assay_model_input_count(const assay_model *model);
ASSAY_API size_t assay_model_output_count(const assay_model *model);
/* The i-th one in the file's order; i must be below the count. */
ASSAY_API assay_port assay_model_input(const assay_model *model, size_t i);
ASSAY_API assay_port assay_model_output(const assay_model *model, size_t i);

/* Version of an operator set that the model imports ("" is ai.onnx); 0 when it does not. */
ASSAY_API int64_t assay_model_opset(const assay_model *model, const char *domain);
/* A metadata entry; NULL when there is none. Lives as long as the model. */
ASSAY_API const char *assay_model_metadata(const assay_model *model, const char *key);

#ifdef __cplusplus
}
#endif
#endif
