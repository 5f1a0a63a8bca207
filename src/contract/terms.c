/* Questions about the terms of an input: where a value stands, what it depends on. Pure; nothing is allocated. */
#include "contract/terms.h"

int64_t terms_position(const struct contract_terms *terms, int32_t term, int32_t age) {
  int32_t history = terms->terms[term].history;
  int64_t at = terms->order == HISTORY_NEWEST_FIRST ? age : history - 1 - age, before = 0, row = 0;
  bool time_major = terms->layout == HISTORY_TIME_MAJOR;
  for (int32_t t = 0; t < terms->n_terms; t++) {
    int64_t size = (int64_t)terms->terms[t].n_elements * (time_major ? 1 : terms->terms[t].history);
    before += t < term ? size : 0;
    row += size;
  }
  return time_major ? at * row + before : before + at * terms->terms[term].n_elements;
}

bool terms_have_past(const struct contract_terms *terms) {
  for (int32_t t = 0; t < terms->n_terms; t++) {
    const struct contract_term *term = &terms->terms[t];
    if (term->history > 1 || term->source == TERM_CLOCK || (term->source == TERM_OUTPUT && term->lag > 0)) {
      return true;
    }
  }
  return false;
}

bool terms_close_loop(const struct contract_terms *terms) {
  for (int32_t t = 0; t < terms->n_terms; t++) {
    if (terms->terms[t].source == TERM_OUTPUT && terms->terms[t].lag > 0) {
      return true;
    }
  }
  return false;
}

const struct contract_input *terms_find_sensor(const struct contract *contract, const char *sensor,
                                               const struct contract_term **term) {
  for (int32_t i = 0; i < contract->n_inputs; i++) {
    const struct contract_terms *terms = contract->inputs[i].terms;
    for (int32_t t = 0; terms != NULL && t < terms->n_terms; t++) {
      if (terms->terms[t].source == TERM_SENSOR && text_equal(terms->terms[t].raw, sensor)) {
        *term = &terms->terms[t];
        return &contract->inputs[i];
      }
    }
  }
  return NULL;
}
