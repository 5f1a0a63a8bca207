/* Comparing, merging and describing types and shapes of values. */
#ifndef MODEL_TYPES_H
#define MODEL_TYPES_H

#include "core/text.h"
#include "model/graph.h"

enum type_fit { TYPE_FITS = 0, TYPE_KIND_DIFFERS, TYPE_SHAPE_DIFFERS };

/* Adds to *into what `from` knows and it does not. When they contradict (kind or dtype; rank or two
 * numbers), *into stays as it was. Two different symbols do not contradict; the one of *into is kept. */
enum type_fit type_merge(const struct value_type *from, struct value_type *into);
/* Appends "float32[batch,3,?]", "float32[...]" for an unknown rank, "sequence(float32[...])", "unknown". */
void type_describe(const struct value_type *type, struct text *out);
/* The type of a tensor at hand. */
struct value_type type_of_tensor(const assay_tensor *tensor);

#endif
