/* The order of model-local functions, and the search in it. Must keep every function:
 * equal ones are told, not dropped. */
#include "model/functions.h"

#include <stdlib.h>
#include <string.h>

static int compare_ids(const char *name, const char *domain, const char *overload, const struct function *b) {
  int order = strcmp(name, b->name);
  order = order != 0 ? order : strcmp(domain, b->domain);
  return order != 0 ? order : strcmp(overload, b->overload);
}

static int compare(const void *a, const void *b) {
  const struct function *left = a;
  return compare_ids(left->name, left->domain, left->overload, b);
}

const struct function *functions_find(const struct function *functions, int32_t n, const char *domain, const char *name,
                                      const char *overload) {
  int32_t low = 0, high = n;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    int order = compare_ids(name, domain, overload, &functions[middle]);
    if (order == 0) {
      return &functions[middle];
    }
    if (order < 0) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return NULL;
}

const struct function *functions_sort(struct function *functions, int32_t n) {
  if (n > 1) {
    qsort(functions, (size_t)n, sizeof *functions, compare);
  }
  for (int32_t i = 1; i < n; i++) {
    if (compare(&functions[i - 1], &functions[i]) == 0) {
      return &functions[i];
    }
  }
  return NULL;
}
