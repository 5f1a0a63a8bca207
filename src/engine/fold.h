/* The table of operators as inference sees it, with the engine behind it: nodes whose inputs are all known are
 * computed while types and shapes are inferred. */
#ifndef ENGINE_FOLD_H
#define ENGINE_FOLD_H

#include "model/schema.h"

/* op_schemas with `fold`. What cannot be computed (subgraphs, large results, a value that the operator does not
 * take) stays unknown; folding never makes inference fail. */
const struct schema_source *fold_schemas(void);

#endif
