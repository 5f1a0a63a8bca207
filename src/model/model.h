/* Opening, checking and writing ONNX models. A file is hostile until the scan
 * has bounded its nesting, counts and sizes; see scan.h. */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include "core/text.h"
#include "model/graph.h"

struct model_options {
  /* Bounds; 0 takes the default that model.c documents. */
  uint64_t max_bytes; /* decoded size of everything but mapped weights */
  int32_t max_depth;  /* nesting of subgraphs and messages */
};

/* Opens, scans and checks the model and its external data. Every fault of
 * structure is an error here, with a code of its own and the name of the node
 * or tensor; operators are not looked at. `options` may be NULL. The model is
 * ended with model_close. */
ASSAY_MUST_CHECK assay_status model_open(const char *path, const struct model_options *options, struct model **out);
/* The same from bytes (kept alive by the caller); external data is looked for
 * beside `path`, or refused when path is NULL. */
ASSAY_MUST_CHECK assay_status model_parse(const void *bytes, size_t size, const char *path,
                                          const struct model_options *options, struct model **out);
void model_close(struct model *model);

int32_t model_warning_count(const struct model *model);
const struct model_warning *model_warning_at(const struct model *model, int32_t i);

/* Version of a domain that the model imports; 0 when it does not. */
int64_t model_opset(const struct model *model, const char *domain);
const char *model_metadata(const struct model *model, const char *key); /* NULL when absent */

/* A new model in which every call of a model-local function stands written
 * out, nested ones too; bounded. The original must outlive it. Without
 * functions it is the cheap copy of a pointer's worth. */
ASSAY_MUST_CHECK assay_status model_inline(const struct model *model, struct model **out);

/* Writes the model as ONNX. Weights of `external_threshold` bytes and more go
 * to `path`.data when the threshold is not 0 (models of over 2 GB need it). */
ASSAY_MUST_CHECK assay_status model_write(const struct model *model, const char *path, size_t external_threshold);

/* Canonical digest, "graph:<64 hexadecimal digits>": equal for graphs that
 * differ only in the order of nodes or in the names of inner values; different when
 * a weight, attribute, operator or the names of inputs and outputs differ. */
enum { GRAPH_DIGEST_SIZE = 6 + 64 + 1 };
ASSAY_MUST_CHECK assay_status model_digest(const struct model *model, char out[GRAPH_DIGEST_SIZE]);

#endif
