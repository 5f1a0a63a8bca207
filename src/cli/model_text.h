/* What `check` and `inspect` both show of a model: inputs, outputs, imports. `shapes` is what was inferred; NULL
 * shows types as the file declares them. */
#ifndef CLI_MODEL_TEXT_H
#define CLI_MODEL_TEXT_H

#include <jansson.h>

#include "core/text.h"
#include "model/model.h"
#include "model/schema.h"

/* Appends one line per input and output: "  input  x  float32[batch,3]". */
void model_text_ends(const struct graph *graph, const struct shapes *shapes, struct text *out);
/* Appends "ai.onnx 17, ai.onnx.ml 3". */
void model_text_opsets(const struct opset_import *opsets, int32_t n, struct text *out);
/* [{"name", "type", "dtype", "shape": [1, "batch", null] or null, "default": true}, ...]; NULL without memory. */
json_t *model_json_ends(const struct graph *graph, const struct shapes *shapes, const int32_t *values, int32_t n);
json_t *model_json_opsets(const struct opset_import *opsets, int32_t n);
/* "12", "66,527,834". */
void text_add_grouped(struct text *out, int64_t number);
/* "512 B", "3.4 KB", "266.1 MB": powers of 1000. */
void text_add_size(struct text *out, double bytes, const char *unit);
/* Prints the object, indented, with a newline, and frees it; OUT_OF_MEMORY for NULL. */
ASSAY_MUST_CHECK assay_status json_print(json_t *json);

#endif
