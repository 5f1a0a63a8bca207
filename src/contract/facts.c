/* Keeps what files say, and notices where two of them differ. It supplies no value and prefers no file. */
#include "contract/facts.h"

#include <math.h>
#include <string.h>

void place_add(struct text *out, struct place place) {
  text_add_shown(out, place.file != NULL ? place.file : "?");
  if (place.line > 0) {
    text_format(out, ":%d", (int)place.line);
  } else if (place.key != NULL) {
    text_add(out, ":");
    text_add_shown(out, place.key);
  }
}

assay_status import_invalid(struct place place, const char *format, ...) {
  struct text where = {0};
  place_add(&where, place);
  va_list arguments;
  va_start(arguments, format);
  assay_status status = status_make_va(ASSAY_IMPORT_INVALID, text_string(&where), format, arguments);
  va_end(arguments);
  text_free(&where);
  return status;
}

assay_status facts_new(struct arena *arena, struct facts **out) {
  struct facts *facts;
  ARENA_NEW(arena, facts, 1);
  facts->arena = arena;
  ARENA_NEW(arena, facts->inputs, FACT_TENSORS_MAX);
  ARENA_NEW(arena, facts->outputs, FACT_TENSORS_MAX);
  ARENA_NEW(arena, facts->states, FACT_TENSORS_MAX);
  ARENA_NEW(arena, facts->remarks, FACT_TENSORS_MAX);
  ARENA_NEW(arena, facts->stages, FACT_TENSORS_MAX);
  ARENA_NEW(arena, facts->files, FACT_TENSORS_MAX);
  ARENA_NEW(arena, facts->kept, FACT_TENSORS_MAX);
  *out = facts;
  return status_ok();
}

/* "a.yaml:3 and b.yaml:9": the two places of a conflict, the later one as the place of the failure. */
static assay_status conflict(struct place first, struct place second, const char *format, ...) PRINTF_LIKE(3, 4);
static assay_status conflict(struct place first, struct place second, const char *format, ...) {
  struct text where = {0}, sentence = {0}, earlier = {0};
  place_add(&where, second);
  place_add(&earlier, first);
  va_list arguments;
  va_start(arguments, format);
  text_format_va(&sentence, format, arguments);
  va_end(arguments);
  assay_status status = status_make(ASSAY_IMPORT_CONFLICT, text_string(&where),
                                    "%s, but %s says otherwise; correct one of the two, or "
                                    "leave its file out",
                                    text_string(&sentence), text_string(&earlier));
  text_free(&where);
  text_free(&sentence);
  text_free(&earlier);
  return status;
}

assay_status facts_unknown_joint(const struct fact_words *joints, struct place place, const char *joint) {
  return conflict(joints->place, place, "the robot has no joint '%.80s' here", joint);
}

static assay_status too_many(struct place place, const char *what, int32_t count, int32_t most) {
  struct text where = {0};
  place_add(&where, place);
  assay_status status = status_make(ASSAY_LIMIT_EXCEEDED, text_string(&where), "%s has %d entries; up to %d are read",
                                    what, (int)count, (int)most);
  text_free(&where);
  return status;
}

static assay_status copy_text(struct facts *facts, const char *text, const char **out) {
  *out = arena_string(facts->arena, text);
  return *out != NULL ? status_ok() : status_no_memory(strlen(text));
}

static assay_status copy_words(struct facts *facts, const char *const *values, int32_t count, const char *const **out) {
  const char **words;
  ARENA_NEW(facts->arena, words, count + 1);
  for (int32_t i = 0; i < count; i++) {
    TRY(copy_text(facts, values[i], &words[i]));
  }
  *out = words;
  return status_ok();
}

/* Places are kept beyond the reading of their file. */
static assay_status copy_place(struct facts *facts, struct place place, struct place *out) {
  *out = place;
  TRY(copy_text(facts, place.file != NULL ? place.file : "?", &out->file));
  return place.key != NULL ? copy_text(facts, place.key, &out->key) : status_ok();
}

assay_status facts_text(struct facts *facts, struct fact_text *slot, const char *what, struct place place,
                        const char *value) {
  if (slot->value != NULL) {
    return text_equal(slot->value, value)
               ? status_ok()
               : conflict(slot->place, place, "%s is '%.80s' here and '%.80s' there", what, value, slot->value);
  }
  TRY(copy_place(facts, place, &slot->place));
  return copy_text(facts, value, &slot->value);
}

/* The same number within what the two writers rounded. */
static bool agree(double a, enum fact_precision pa, double b, enum fact_precision pb) {
  enum fact_precision coarse = pa > pb ? pa : pb;
  double larger = fmax(fabs(a), fabs(b)), slack = 1e-6 * larger;
  if (coarse == FACT_THREE_DECIMALS) {
    slack += 5.01e-4;
  } else if (coarse == FACT_THREE_DIGITS) {
    slack += 5.01e-3 * larger;
  }
  return fabs(a - b) <= slack;
}

assay_status facts_number(struct facts *facts, struct fact_number *slot, const char *what, struct place place,
                          double value) {
  if (slot->given) {
    return agree(slot->value, slot->precision, value, FACT_EXACT)
               ? status_ok()
               : conflict(slot->place, place, "%s is %.9g here and %.9g there", what, value, slot->value);
  }
  TRY(copy_place(facts, place, &slot->place));
  slot->given = true;
  slot->value = value;
  return status_ok();
}

static double value_at(const struct fact_numbers *slot, int32_t i) { return slot->values[slot->count == 1 ? 0 : i]; }

static assay_status keep_numbers(struct facts *facts, struct fact_numbers *slot, struct place place,
                                 const double *values, int32_t count, enum fact_precision precision) {
  double *copy;
  ARENA_NEW(facts->arena, copy, count);
  memcpy(copy, values, (size_t)count * sizeof *copy);
  struct fact_numbers kept = {.count = count, .values = copy, .precision = precision};
  TRY(copy_place(facts, place, &kept.place));
  *slot = kept;
  return status_ok();
}

/* True when one column is the other in another order. */
static bool is_permuted(const struct fact_numbers *slot, const double *values, int32_t count,
                        enum fact_precision precision) {
  bool used[FACT_ITEMS_MAX] = {false};
  if (slot->count != count || count < 2) {
    return false;
  }
  for (int32_t i = 0; i < count; i++) {
    int32_t k = 0;
    while (k < count && (used[k] || !agree(slot->values[k], slot->precision, values[i], precision))) {
      k++;
    }
    if (k == count) {
      return false;
    }
    used[k] = true;
  }
  return true;
}

/* "of 'left_knee'" where the joints have names and the column is theirs; "number 3" otherwise. */
static void name_entry(const struct facts *facts, bool of_joints, int32_t i, int32_t count, struct text *out) {
  if (of_joints && facts->joints.count == count) {
    text_add(out, "of '");
    text_add_shown(out, facts->joints.values[i]);
    text_add(out, "'");
  } else {
    text_format(out, "(number %d of %d)", (int)i + 1, (int)count);
  }
}

static assay_status put_numbers(struct facts *facts, struct fact_numbers *slot, const char *what, struct place place,
                                const double *values, int32_t count, enum fact_precision precision, bool of_joints) {
  if (count > FACT_ITEMS_MAX) {
    return too_many(place, what, count, FACT_ITEMS_MAX);
  }
  if (count < 1) {
    return status_ok();
  }
  if (slot->count == 0 || slot->weak) {
    return keep_numbers(facts, slot, place, values, count, precision);
  }
  if (slot->count != count && slot->count != 1 && count != 1) {
    return conflict(slot->place, place, "%s has %d numbers here and %d there", what, (int)count, (int)slot->count);
  }
  int32_t longer = slot->count > count ? slot->count : count;
  for (int32_t i = 0; i < longer; i++) {
    double stands = value_at(slot, i), comes = values[count == 1 ? 0 : i];
    if (agree(stands, slot->precision, comes, precision)) {
      continue;
    }
    struct text entry = {0};
    name_entry(facts, of_joints, i, longer, &entry);
    bool permuted = is_permuted(slot, values, count, precision);
    assay_status status =
        conflict(slot->place, place, "%s %s is %.9g here and %.9g there%s", what, text_string(&entry), comes, stands,
                 permuted ? " (the same numbers stand in another order: one of the two lists is not "
                            "in the order of its joint names)"
                          : "");
    text_free(&entry);
    return status;
  }
  bool better = precision < slot->precision || (precision == slot->precision && count > slot->count);
  return better ? keep_numbers(facts, slot, place, values, count, precision) : status_ok();
}

assay_status facts_numbers(struct facts *facts, struct fact_numbers *slot, const char *what, struct place place,
                           const double *values, int32_t count, enum fact_precision precision) {
  return put_numbers(facts, slot, what, place, values, count, precision, false);
}

assay_status facts_column(struct facts *facts, struct fact_numbers *slot, const char *what, struct place place,
                          const double *values, int32_t count, enum fact_precision precision) {
  return put_numbers(facts, slot, what, place, values, count, precision, true);
}

static int32_t find(const struct fact_words *words, const char *word) {
  for (int32_t i = 0; i < words->count; i++) {
    if (text_equal(words->values[i], word)) {
      return i;
    }
  }
  return -1;
}

assay_status facts_words(struct facts *facts, struct fact_words *slot, const char *what, struct place place,
                         const char *const *values, int32_t count) {
  if (count > FACT_ITEMS_MAX) {
    return too_many(place, what, count, FACT_ITEMS_MAX);
  }
  if (count < 1) {
    return status_ok();
  }
  if (slot->count == 0) {
    TRY(copy_place(facts, place, &slot->place));
    TRY(copy_words(facts, values, count, &slot->values));
    slot->count = count;
    return status_ok();
  }
  if (slot->count != count) {
    return conflict(slot->place, place, "%s are %d here and %d there", what, (int)count, (int)slot->count);
  }
  for (int32_t i = 0; i < count; i++) {
    if (text_equal(slot->values[i], values[i])) {
      continue;
    }
    int32_t at = find(slot, values[i]);
    return at >= 0 ? conflict(slot->place, place, "number %d of %s is '%.80s' here, which is number %d there",
                              (int)i + 1, what, values[i], (int)at + 1)
                   : conflict(slot->place, place, "number %d of %s is '%.80s' here and '%.80s' there", (int)i + 1, what,
                              values[i], slot->values[i]);
  }
  return status_ok();
}

/* A name that stands twice would make every later look-up by name wrong. */
static assay_status check_distinct(struct place place, const char *const *names, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    for (int32_t k = 0; k < i; k++) {
      if (text_equal(names[i], names[k])) {
        struct text where = {0};
        place_add(&where, place);
        assay_status status =
            status_make(ASSAY_IMPORT_INVALID, text_string(&where),
                        "the name '%.80s' stands twice in one list, as number %d and %d; each needs its own", names[i],
                        (int)k + 1, (int)i + 1);
        text_free(&where);
        return status;
      }
    }
  }
  return status_ok();
}

assay_status facts_joints(struct facts *facts, struct place place, const char *const *names, int32_t count) {
  if (count > FACT_ITEMS_MAX) {
    return too_many(place, "the list of joints", count, FACT_ITEMS_MAX);
  }
  TRY(check_distinct(place, names, count));
  if (facts->n_joints.given && (int32_t)facts->n_joints.value != count && count > 0) {
    return conflict(facts->n_joints.place, place, "there are %d joints here and %d there", (int)count,
                    (int)facts->n_joints.value);
  }
  return facts_words(facts, &facts->joints, "the joints", place, names, count);
}

/* Joint i is called as motor map[i] is. */
static assay_status name_joints(struct facts *facts) {
  const struct fact_words *motors = &facts->motor_names;
  const struct fact_numbers *map = &facts->motor_map;
  const char **names;
  ARENA_NEW(facts->arena, names, map->count);
  for (int32_t i = 0; i < map->count; i++) {
    if (map->values[i] < 0 || map->values[i] >= motors->count) {
      return conflict(motors->place, map->place, "joint %d is motor %.0f of %d", (int)i + 1, map->values[i],
                      (int)motors->count);
    }
    names[i] = motors->values[(int32_t)map->values[i]];
  }
  return facts_joints(facts, motors->place, names, map->count);
}

assay_status facts_finish(struct facts *facts) {
  if (facts->motor_names.count > 0 && facts->motor_map.count > 0) {
    TRY(name_joints(facts));
  }
  return status_ok();
}

static bool same_name(const char *a, const char *b) {
  return (a == NULL && b == NULL) || (a != NULL && b != NULL && text_equal(a, b));
}

assay_status facts_input(struct facts *facts, struct place place, const char *name, struct fact_input **out) {
  for (int32_t i = 0; i < facts->n_inputs; i++) {
    if (same_name(facts->inputs[i].name, name)) {
      *out = &facts->inputs[i];
      return status_ok();
    }
  }
  if (facts->n_inputs == FACT_TENSORS_MAX) {
    return too_many(place, "the list of inputs", facts->n_inputs + 1, FACT_TENSORS_MAX);
  }
  struct fact_input *input = &facts->inputs[facts->n_inputs];
  TRY(copy_place(facts, place, &input->place));
  if (name != NULL) {
    TRY(copy_text(facts, name, &input->name));
  }
  facts->n_inputs++;
  *out = input;
  return status_ok();
}

assay_status facts_output(struct facts *facts, struct place place, const char *name, struct fact_output **out) {
  for (int32_t i = 0; i < facts->n_outputs; i++) {
    if (same_name(facts->outputs[i].name, name)) {
      *out = &facts->outputs[i];
      return status_ok();
    }
  }
  if (facts->n_outputs == FACT_TENSORS_MAX) {
    return too_many(place, "the list of outputs", facts->n_outputs + 1, FACT_TENSORS_MAX);
  }
  struct fact_output *output = &facts->outputs[facts->n_outputs];
  TRY(copy_place(facts, place, &output->place));
  if (name != NULL) {
    TRY(copy_text(facts, name, &output->name));
  }
  facts->n_outputs++;
  *out = output;
  return status_ok();
}

/* Whether these are the terms that an earlier file gave, by name or by function. */
static bool same_terms(const struct fact_input *input, const char *const *names, const char *const *functions,
                       int32_t count) {
  bool same = input->n_terms == count;
  for (int32_t i = 0; same && i < count; i++) {
    const struct fact_term *term = &input->terms[i];
    const char *function = functions != NULL ? functions[i] : NULL;
    same = text_equal(term->name, names[i]) ||
           (term->function != NULL && function != NULL && text_equal(term->function, function));
  }
  return same;
}

assay_status facts_terms_of(struct facts *facts, struct fact_input *input, struct place place, const char *const *names,
                            const char *const *functions, const struct place *places, int32_t count) {
  if (count > FACT_TERMS_MAX) {
    return too_many(place, "the list of terms", count, FACT_TERMS_MAX);
  }
  TRY(check_distinct(place, names, count));
  if (input->terms_listed.count > 0) {
    return same_terms(input, names, functions, count)
               ? status_ok()
               : facts_words(facts, &input->terms_listed, "the observation's terms", place, names, count);
  }
  TRY(facts_words(facts, &input->terms_listed, "the observation's terms", place, names, count));
  if (count == 0) {
    return status_ok();
  }
  ARENA_NEW(facts->arena, input->terms, count);
  for (int32_t i = 0; i < count; i++) {
    input->terms[i].name = input->terms_listed.values[i];
    TRY(copy_place(facts, places[i], &input->terms[i].place));
    if (functions != NULL && functions[i] != NULL) {
      TRY(copy_text(facts, functions[i], &input->terms[i].function));
    }
  }
  input->n_terms = count;
  return status_ok();
}

assay_status facts_terms(struct facts *facts, struct fact_input *input, struct place place, const char *const *names,
                         const struct place *places, int32_t count) {
  return facts_terms_of(facts, input, place, names, NULL, places, count);
}

assay_status facts_state(struct facts *facts, struct place place, const char *input, const char *output,
                         const char *initial) {
  for (int32_t i = 0; i < facts->n_states; i++) {
    const struct fact_state *state = &facts->states[i];
    if (text_equal(state->input, input)) {
      return text_equal(state->output, output)
                 ? status_ok()
                 : conflict(state->place, place, "the state '%.80s' comes from '%.80s' here and from '%.80s' there",
                            input, output, state->output);
    }
  }
  if (facts->n_states == FACT_TENSORS_MAX) {
    return too_many(place, "the list of states", facts->n_states + 1, FACT_TENSORS_MAX);
  }
  struct fact_state state = {0};
  TRY(copy_place(facts, place, &state.place));
  TRY(copy_text(facts, input, &state.input));
  TRY(copy_text(facts, output, &state.output));
  if (initial != NULL) {
    TRY(copy_text(facts, initial, &state.initial));
  }
  facts->states[facts->n_states++] = state;
  return status_ok();
}

const char *facts_asked(const struct fact_open *open, const char *key) {
  for (int32_t i = 0; i < open->count; i++) {
    if (text_equal(open->keys[i], key)) {
      return open->reasons[i];
    }
  }
  return NULL;
}

assay_status facts_ask(struct facts *facts, struct fact_open *open, const char *key, const char *format, ...) {
  if (facts_asked(open, key) != NULL) {
    return status_ok();
  }
  if (open->count == FACT_OPEN_MAX) {
    return status_make(ASSAY_INTERNAL, key, "an importer asks more than %d questions of one thing", FACT_OPEN_MAX);
  }
  va_list arguments;
  va_start(arguments, format);
  const char *reason = arena_format_va(facts->arena, format, arguments);
  va_end(arguments);
  if (reason == NULL) {
    return status_no_memory(strlen(format));
  }
  open->keys[open->count] = key;
  open->reasons[open->count++] = reason;
  return status_ok();
}

assay_status facts_remark(struct facts *facts, struct place place, const char *format, ...) {
  if (facts->n_remarks == FACT_TENSORS_MAX) {
    return status_ok(); /* remarks are a help; beyond so many they are none */
  }
  struct fact_remark remark = {0};
  TRY(copy_place(facts, place, &remark.place));
  va_list arguments;
  va_start(arguments, format);
  remark.text = arena_format_va(facts->arena, format, arguments);
  va_end(arguments);
  if (remark.text == NULL) {
    return status_no_memory(strlen(format));
  }
  facts->remarks[facts->n_remarks++] = remark;
  return status_ok();
}
