/* Finding model-local functions, which are sorted by name, domain and overload. */
#ifndef MODEL_FUNCTIONS_H
#define MODEL_FUNCTIONS_H

#include "model/graph.h"

/* NULL when there is none. */
const struct function *functions_find(const struct function *functions, int32_t n, const char *domain, const char *name,
                                      const char *overload);
/* Sorts; answers the first function that stands twice, or NULL. */
const struct function *functions_sort(struct function *functions, int32_t n);

#endif
