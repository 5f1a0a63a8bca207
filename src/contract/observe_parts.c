/* Where an element of an observation comes from, for messages: term, element, step of the history. Nothing is computed
 * with here; what an observation holds is made in observe.c. */
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
