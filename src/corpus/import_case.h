/* Between the importers: the arrays of one case while they are gathered. */
#ifndef CORPUS_IMPORT_CASE_H
#define CORPUS_IMPORT_CASE_H

#include "corpus/corpus_write.h"

struct import_case {
  struct arena arena;
  const char **names; /* with their prefix */
  assay_tensor *tensors;
  int32_t count, capacity;
};
void import_case_free(struct import_case *made);
/* Takes the tensor over (it is empty afterwards), also when that fails partly; the caller frees it in any case. */
ASSAY_MUST_CHECK assay_status import_case_take(struct import_case *made, const char *array, assay_tensor *tensor);
/* Adds it to the corpus; the arrays stay until import_case_free. */
ASSAY_MUST_CHECK assay_status import_case_add(struct import_case *made, struct corpus_editor *editor,
                                              const struct corpus_case *entry);

/* The last part of a path, without what stands behind its last dot; NULL: no memory. */
char *import_stem(struct arena *arena, const char *path);
/* Nothing known. */
struct case_origin import_origin(void);

#endif
