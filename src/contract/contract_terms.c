/* The terms of an input as contract.yaml describes them. Read when the outputs are known, since a term may be one; a
 * term whose elements, size or place is not certain is refused, never guessed. */
#include <string.h>

#include "contract/contract_terms.h"

enum { TERMS_MAX = 4096 };

/* One term while it is read. */
struct term_entry {
  struct contract_term term;
  const struct yaml *elements, *count, *from, *steps[TERM_STEP_NODES];
  int64_t history, n_counted;
};

static assay_status entry_count(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  ((struct term_entry *)member)->count = node;
  return read_size(reader, node, what, &((struct term_entry *)member)->n_counted);
}

static const struct field term_fields[] = {
    {"name", read_text, offsetof(struct term_entry, term.name), FIELD_REQUIRED},
    {"elements", keep_node, offsetof(struct term_entry, elements), FIELD_OPTIONAL},
    {"count", entry_count, 0, FIELD_OPTIONAL},
    {"unit", read_text, offsetof(struct term_entry, term.unit), FIELD_OPTIONAL},
    {"raw", read_text, offsetof(struct term_entry, term.raw), FIELD_OPTIONAL},
    {"from", keep_node, offsetof(struct term_entry, from), FIELD_OPTIONAL},
    {"history", read_size, offsetof(struct term_entry, history), FIELD_OPTIONAL},
    {"offset", keep_node, offsetof(struct term_entry, steps[TERM_NODE_OFFSET]), FIELD_OPTIONAL},
    {"scale", keep_node, offsetof(struct term_entry, steps[TERM_NODE_SCALE]), FIELD_OPTIONAL},
    {"statistics", keep_node, offsetof(struct term_entry, steps[TERM_NODE_STATISTICS]), FIELD_OPTIONAL},
    {"clip", keep_node, offsetof(struct term_entry, steps[TERM_NODE_CLIP]), FIELD_OPTIONAL},
    {"apply", keep_node, offsetof(struct term_entry, steps[TERM_NODE_APPLY]), FIELD_OPTIONAL},
};

/* --- elements -------------------------------------------------------------------------- */

static assay_status sensor_elements(struct reader *reader, const struct yaml *node, const char *what,
                                    struct term_entry *entry) {
  struct contract_term *term = &entry->term;
  term->source = TERM_SENSOR;
  term->raw = term->raw != NULL ? term->raw : term->name;
  if ((entry->elements != NULL) == (entry->count != NULL)) {
    return yaml_error(&reader->file, node->mark,
                      "%s needs either 'elements', a list of names or a group, or 'count' for numbered ones", what);
  }
  if (entry->count != NULL) {
    term->n_elements = (int32_t)entry->n_counted;
    return number_elements(reader, term->name, term->n_elements, &term->elements);
  }
  char member[WHAT_SIZE];
  what_format(member, "'elements' of %s", what);
  return read_names(reader, entry->elements, member, &term->elements, &term->n_elements);
}

/* --- one term ---------------------------------------------------------------------------- */

static assay_status read_source(struct reader *reader, const struct yaml *node, const char *what,
                                struct term_entry *entry) {
  if (entry->from == NULL) {
    return sensor_elements(reader, node, what, entry);
  }
  const struct yaml *raw = yaml_get(node, "raw");
  if (raw != NULL || entry->count != NULL) {
    return yaml_error(&reader->file, raw != NULL ? raw->mark : entry->count->mark,
                      "%s has both 'from' and '%s'; what it is made from has its own elements, and no sensor", what,
                      raw != NULL ? "raw" : "count");
  }
  return read_from(reader, entry->from, what, entry->elements, &entry->term);
}

static assay_status read_term(struct reader *reader, const struct yaml *node, int32_t i, const char *input,
                              struct contract_term *out) {
  char what[WHAT_SIZE], item[WHAT_SIZE];
  struct term_entry entry = {.term.mark = node->mark, .history = 1};
  what_item(item, node, "term", i);
  what_format(what, "%s of input '%.80s'", item, input);
  TRY(FIELDS_READ(reader, node, term_fields, what, &entry));
  TRY(read_source(reader, node, what, &entry));
  entry.term.history = (int32_t)entry.history;
  if (entry.term.source == TERM_OUTPUT && entry.term.lag == 0 && entry.term.history > 1) {
    return yaml_error(&reader->file, node->mark,
                      "%s has a history of %d and lag 0; the answer of an earlier stage is of this step alone", what,
                      (int)entry.term.history);
  }
  TRY(read_term_steps(reader, entry.steps, what, &entry.term));
  *out = entry.term;
  return status_ok();
}

/* --- the whole input ---------------------------------------------------------------------- */

struct terms_history {
  int32_t layout, order, initial;
};

static assay_status history_layout(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  static const char *const words[] = {"term_major", "time_major"};
  return yaml_choice(&reader->file, node, what, words, 2, &((struct terms_history *)member)->layout);
}

static assay_status history_order(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  static const char *const words[] = {"oldest_first", "newest_first"};
  return yaml_choice(&reader->file, node, what, words, 2, &((struct terms_history *)member)->order);
}

static assay_status history_initial(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  static const char *const words[] = {"repeat_first", "zeros"};
  return yaml_choice(&reader->file, node, what, words, 2, &((struct terms_history *)member)->initial);
}

static assay_status read_history(struct reader *reader, const struct yaml *node, const char *input,
                                 struct contract_terms *terms) {
  static const struct field fields[] = {
      {"layout", history_layout, 0, FIELD_REQUIRED},
      {"order", history_order, 0, FIELD_REQUIRED},
      {"initial", history_initial, 0, FIELD_REQUIRED},
  };
  struct terms_history history = {0};
  char what[WHAT_SIZE];
  what_format(what, "'history' of input '%.80s', which has terms,", input);
  TRY(FIELDS_READ(reader, node, fields, what, &history));
  terms->has_history = true;
  terms->layout = (enum history_layout)history.layout;
  terms->order = (enum history_order)history.order;
  terms->initial = (enum history_initial)history.initial;
  return status_ok();
}

static assay_status check_history(struct reader *reader, const struct contract_input *input,
                                  const struct contract_terms *terms) {
  for (int32_t t = 0; t < terms->n_terms; t++) {
    const struct contract_term *term = &terms->terms[t];
    if (term->history > 1 && !terms->has_history) {
      return yaml_error(&reader->file, term->mark,
                        "term '%s' has a history of %d, but input '%s' does not say how history lies; add history: "
                        "{layout: term_major or time_major, order: oldest_first or newest_first, initial: repeat_first "
                        "or zeros}",
                        term->name, (int)term->history, input->name);
    }
    if (terms->layout == HISTORY_TIME_MAJOR && term->history != terms->terms[0].history) {
      return yaml_error(&reader->file, term->mark,
                        "term '%s' has a history of %d, but '%s' has %d; time_major needs the same for every term",
                        term->name, (int)term->history, terms->terms[0].name, (int)terms->terms[0].history);
    }
  }
  return status_ok();
}

/* The sum over terms against the shape, term by term. */
static assay_status check_size(struct reader *reader, const struct contract_input *input, struct mark mark,
                               struct contract_terms *terms) {
  int64_t dims[ASSAY_RANK_MAX], size = 0;
  for (int32_t i = 0; i < input->rank; i++) {
    if (input->dims[i].min != input->dims[i].max) {
      return yaml_error(&reader->file, mark,
                        "input '%s' has terms and a dynamic dimension; an observation has one size", input->name);
    }
    dims[i] = input->dims[i].min;
  }
  for (int32_t t = 0; t < terms->n_terms; t++) {
    terms->size += (int64_t)terms->terms[t].n_elements * terms->terms[t].history;
  }
  if (shape_count(dims, input->rank, &size) && size == terms->size && size <= OBSERVATION_MAX) {
    return status_ok();
  }
  struct text list = {0};
  for (int32_t t = 0; t < terms->n_terms && t < 24; t++) {
    const struct contract_term *term = &terms->terms[t];
    text_format(&list, "%s%.60s %d x %d", t == 0 ? "" : ", ", term->name, (int)term->n_elements, (int)term->history);
  }
  text_add(&list, terms->n_terms > 24 ? ", ..." : "");
  assay_status status =
      yaml_error(&reader->file, mark,
                 "the terms of input '%s' hold %lld elements (elements x history: %s), but its shape holds %lld%s",
                 input->name, (long long)terms->size, text_string(&list), (long long)size,
                 size == terms->size ? ", more than 1048576, the most that is built" : "");
  text_free(&list);
  return status;
}

/* Keys that say something of a tensor that is measured as a whole. */
static assay_status check_alone(struct reader *reader, const struct yaml *node, const struct contract_input *input,
                                const char *key) {
  static const char *const keys[] = {"preprocess", "raw", "layout", "color", "role"};
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    const struct yaml *other = yaml_get(node, keys[i]);
    if (other != NULL) {
      return yaml_error(&reader->file, other->mark,
                        "input '%s' has both '%s' and '%s'; its values come from one of them", input->name, key,
                        keys[i]);
    }
  }
  if (input->is_state) {
    return yaml_error(&reader->file, node->mark, "input '%s' has '%s', and a state pair feeds it too; say one of them",
                      input->name, key);
  }
  if (!dtype_is_float(input->dtype)) {
    return yaml_error(&reader->file, node->mark, "input '%s' has '%s', but its dtype is %s; what is built is a float",
                      input->name, key, assay_dtype_name(input->dtype));
  }
  return status_ok();
}

static assay_status read_list(struct reader *reader, const struct yaml *node, const struct contract_input *input,
                              struct contract_terms *terms) {
  char what[WHAT_SIZE];
  what_format(what, "'terms' of input '%.80s'", input->name);
  TRY(yaml_expect(&reader->file, node, YAML_SEQUENCE, what));
  if (node->count == 0 || node->count > TERMS_MAX) {
    return yaml_error(&reader->file, node->mark, "%s lists %d terms; it may list 1 to %d", what, (int)node->count,
                      (int)TERMS_MAX);
  }
  struct contract_term *list;
  ARENA_NEW(reader->arena, list, node->count);
  for (int32_t i = 0; i < node->count; i++) {
    TRY(read_term(reader, &node->items[i], i, input->name, &list[i]));
    for (int32_t j = 0; j < i; j++) {
      if (text_equal(list[i].name, list[j].name)) {
        return yaml_error(&reader->file, list[i].mark,
                          "term '%s' of input '%s' stands here again; it was given at line %d", list[i].name,
                          input->name, (int)list[j].mark.line);
      }
    }
  }
  terms->terms = list;
  terms->n_terms = node->count;
  return status_ok();
}

static assay_status read_whole_from(struct reader *reader, const struct yaml *node, const struct contract_input *input,
                                    struct contract_terms *terms) {
  struct contract_term *term;
  char what[WHAT_SIZE];
  ARENA_NEW(reader->arena, term, 1);
  *term = (struct contract_term){.name = input->name, .mark = node->mark, .unit = input->unit, .history = 1};
  what_format(what, "input '%.80s'", input->name);
  terms->whole = true;
  terms->terms = term;
  terms->n_terms = 1;
  return read_from(reader, node, what, NULL, term);
}

static assay_status read_input(struct reader *reader, const struct yaml *node, struct contract_input *input) {
  const struct yaml *list = yaml_get(node, "terms"), *from = yaml_get(node, "from"), *clip = yaml_get(node, "clip");
  const struct yaml *history = yaml_get(node, "history");
  const struct yaml *made = list != NULL ? list : from;
  if (made == NULL) {
    return clip == NULL
               ? status_ok()
               : yaml_error(&reader->file, clip->mark,
                            "input '%s' has 'clip' but no 'terms' and no 'from' that it comes after; the range "
                            "that may be fed is 'legal'",
                            input->name);
  }
  if (list != NULL && from != NULL) {
    return yaml_error(&reader->file, from->mark, "input '%s' has both 'terms' and 'from'; write the latter as a term",
                      input->name);
  }
  TRY(check_alone(reader, node, input, list != NULL ? "terms" : "from"));
  struct contract_terms *terms;
  ARENA_NEW(reader->arena, terms, 1);
  TRY(list != NULL ? read_list(reader, list, input, terms) : read_whole_from(reader, from, input, terms));
  if (history != NULL) {
    TRY(read_history(reader, history, input->name, terms));
  }
  if (clip != NULL) {
    char what[WHAT_SIZE];
    what_format(what, "'clip' of input '%.80s'", input->name);
    terms->has_clip = true;
    TRY(read_range(reader, clip, what, &terms->clip_min, &terms->clip_max));
  }
  TRY(check_history(reader, input, terms));
  TRY(check_size(reader, input, made->mark, terms));
  input->terms = terms;
  return status_ok();
}

assay_status read_sensor_terms(struct reader *reader, const struct yaml *node, struct contract_input *input) {
  const struct yaml *list = yaml_get(node, "terms");
  if (list == NULL || list->kind != YAML_SEQUENCE || list->count > TERMS_MAX) {
    return status_ok(); /* read_terms says what is wrong */
  }
  struct contract_terms *terms;
  struct contract_term *sensors;
  ARENA_NEW(reader->arena, terms, 1);
  ARENA_NEW(reader->arena, sensors, list->count + 1);
  for (int32_t i = 0; i < list->count; i++) {
    char what[WHAT_SIZE], item[WHAT_SIZE];
    struct term_entry entry = {.history = 1};
    if (yaml_get(&list->items[i], "from") != NULL) {
      continue;
    }
    what_item(item, &list->items[i], "term", i);
    what_format(what, "%s of input '%.80s'", item, input->name);
    TRY(FIELDS_READ(reader, &list->items[i], term_fields, what, &entry));
    TRY(sensor_elements(reader, &list->items[i], what, &entry));
    sensors[terms->n_terms++] = entry.term;
  }
  terms->terms = sensors;
  input->terms = terms;
  return status_ok();
}

assay_status read_terms(struct reader *reader) {
  const struct yaml *inputs = yaml_get(reader->file.root, "inputs");
  struct contract *contract = reader->contract;
  struct contract_input *copies;
  /* Inputs that state pairs describe come after those that are listed. */
  ARENA_NEW(reader->arena, copies, contract->n_inputs);
  memcpy(copies, contract->inputs, (size_t)contract->n_inputs * sizeof *copies);
  for (int32_t i = 0; i < inputs->count; i++) {
    TRY(read_input(reader, &inputs->items[i], &copies[i]));
  }
  contract->inputs = copies;
  return status_ok();
}

bool history_is_of_terms(const struct yaml *input) {
  return yaml_get(input, "terms") != NULL || yaml_get(input, "from") != NULL;
}
