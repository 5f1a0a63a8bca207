/* An observation taken apart into its terms, put together again, and asked where an element comes from. Bits are moved,
 * never computed with, so that nothing is lost on the way and back. */
#include <string.h>

#include "contract/observe.h"

struct observed_element observed_at(const struct contract_terms *terms, int64_t i) {
  for (int32_t t = 0; t < terms->n_terms; t++) {
    for (int32_t age = 0; age < terms->terms[t].history; age++) {
      int64_t at = terms_position(terms, t, age);
      if (i >= at && i < at + terms->terms[t].n_elements) {
        return (struct observed_element){t, (int32_t)(i - at), age};
      }
    }
  }
  return (struct observed_element){-1, -1, -1};
}

static size_t element_bytes(assay_dtype dtype) {
  size_t bytes = 0;
  return dtype_bytes(dtype, 1, &bytes) ? bytes : 0;
}

void observe_split(const struct contract_terms *terms, const assay_tensor *observation, assay_tensor *parts) {
  size_t width = element_bytes(observation->dtype);
  for (int32_t t = 0; t < terms->n_terms; t++) {
    const struct contract_term *term = &terms->terms[t];
    size_t row = (size_t)term->n_elements * width;
    parts[t].dtype = observation->dtype;
    parts[t].rank = 2;
    parts[t].dims[0] = term->history;
    parts[t].dims[1] = term->n_elements;
    parts[t].bytes = row * (size_t)term->history;
    for (int32_t age = 0; age < term->history; age++) {
      const char *from = (const char *)observation->data + (size_t)terms_position(terms, t, age) * width;
      memcpy((char *)parts[t].data + (size_t)age * row, from, row);
    }
  }
}

void observe_join(const struct contract_terms *terms, const assay_tensor *parts, assay_tensor *observation) {
  size_t width = element_bytes(observation->dtype);
  for (int32_t t = 0; t < terms->n_terms; t++) {
    const struct contract_term *term = &terms->terms[t];
    size_t row = (size_t)term->n_elements * width;
    for (int32_t age = 0; age < term->history; age++) {
      char *to = (char *)observation->data + (size_t)terms_position(terms, t, age) * width;
      memcpy(to, (const char *)parts[t].data + (size_t)age * row, row);
    }
  }
}
