/* Drafts the inputs: terms where files list them, otherwise what the model declares, with the rest as questions. */
#include <math.h>
#include <string.h>

#include "contract/draft_write.h"
#include "contract/yaml.h"

static const struct place nowhere = {0};

static void add_shape(struct text *out, const struct signature_tensor *tensor) {
  if (tensor->rank < 0) {
    text_add(out, "    shape: TODO                   # the model does not say; [sizes], {min: .., opt: .., max: ..}\n");
    return;
  }
  text_add(out, "    shape: [");
  bool dynamic = false;
  for (int32_t i = 0; i < tensor->rank; i++) {
    text_add(out, i == 0 ? "" : ", ");
    if (tensor->dims[i] < 0) {
      text_add(out, "TODO");
      dynamic = true;
    } else {
      text_format(out, "%lld", (long long)tensor->dims[i]);
    }
  }
  text_add(out, dynamic ? "]   # TODO: a size, or {min: 1, opt: 2, max: 4} where it may vary\n" : "]\n");
}

void draft_head(const struct signature_tensor *tensor, struct text *out) {
  text_add(out, "  - name: ");
  yaml_write_scalar(out, tensor->name);
  text_format(out, "\n    dtype: %s\n", tensor->dtype != ASSAY_UNDEFINED ? assay_dtype_name(tensor->dtype) : "TODO");
  add_shape(out, tensor);
}

static bool looks_like_image(const struct signature_tensor *tensor) {
  if (tensor->rank != 4) {
    return false;
  }
  int64_t first = tensor->dims[1], last = tensor->dims[3];
  return first == 1 || first == 3 || last == 1 || last == 3;
}

/* The questions about an input of which nothing is known but the model's own declaration. */
static void add_questions(struct text *out, const struct signature_tensor *tensor) {
  bool is_float = dtype_is_float(tensor->dtype);
  if (looks_like_image(tensor)) {
    text_add(out,
             "    layout: TODO                  # an image? NCHW or NHWC; otherwise take this line and 'color' out\n"
             "    color: TODO                   # RGB, BGR or GRAY\n");
  } else if (is_float) {
    text_add(out, "    unit: TODO                    # of its elements; take the line out where they differ\n");
  }
  if (is_float) {
    text_add(out,
             "    legal: TODO                   # [lowest, highest] after preprocessing; outside is refused. Or take "
             "it out\n");
  }
}

/* --- the sizes of terms ------------------------------------------------------------------ */

/* How many elements a term has in one step; 0 when nothing says so. */
static int64_t term_width(const struct draft_plan *plan, const struct fact_term *term) {
  if (term->origin == FACT_CLOCK) {
    return term->width > 0 ? term->width : 2;
  }
  if (term->origin == FACT_OUTPUT) {
    int32_t output = draft_find_output(plan, term->output);
    return output >= 0 ? draft_size(&plan->signature->outputs[output]) : term->width;
  }
  if (term->elements.count > 0) {
    return term->elements.count;
  }
  if (term->of_some.count > 0) {
    return term->of_some.count;
  }
  return term->of_joints && plan->n_joints > 0 ? plan->n_joints : term->width;
}

static int64_t term_steps(const struct fact_input *input, const struct fact_term *term) {
  double steps = term->history.given ? term->history.value : input->history.given ? input->history.value : 1;
  return steps >= 1 && steps <= FACT_ITEMS_MAX ? (int64_t)steps : 1;
}

/* A column of a term has one number for all, or one an element. */
static assay_status check_column(const struct draft_plan *plan, const struct fact_term *term, const char *key,
                                 const struct fact_numbers *column) {
  int64_t width = term_width(plan, term);
  if (column->count <= 1 || width == 0 || column->count == width) {
    return status_ok();
  }
  struct text at = {0};
  place_add(&at, term->place);
  assay_status status = import_invalid(column->place,
                                       "the %s of term '%.80s' has %d numbers, but the term (%s) has %lld "
                                       "elements",
                                       key, term->name, (int)column->count, text_string(&at), (long long)width);
  text_free(&at);
  return status;
}

/* The terms' sizes add up to the tensor's. *missing is what is left for the one term whose size is not known, per
 * step; 0 when it can't be told. */
static assay_status check_sizes(const struct draft_plan *plan, int32_t i, int64_t *missing) {
  const struct fact_input *input = plan->inputs[i];
  int64_t total = 0, size = draft_size(&plan->signature->inputs[i]), unknown_steps = 0;
  int32_t unknown = 0;
  *missing = 0;
  for (int32_t t = 0; t < input->n_terms; t++) {
    const struct fact_term *term = &input->terms[t];
    TRY(check_column(plan, term, "scale", &term->scale));
    TRY(check_column(plan, term, "offset", &term->offset));
    int64_t width = term_width(plan, term), steps = term_steps(input, term);
    total += width * steps;
    unknown += width == 0;
    unknown_steps = width == 0 ? steps : unknown_steps;
  }
  if (input->size.given && size > 0 && input->size.value != (double)size && input->history.given == false) {
    return import_invalid(input->size.place, "the observation has %.0f elements here, but input '%s' of %s has %lld",
                          input->size.value, plan->signature->inputs[i].name, plan->model_name, (long long)size);
  }
  if (size == 0) {
    return status_ok();
  }
  if (unknown == 1 && size > total && (size - total) % unknown_steps == 0) {
    *missing = (size - total) / unknown_steps;
  }
  if (total > size || (unknown == 0 && total != size)) {
    struct text last = {0};
    place_add(&last, input->terms[input->n_terms - 1].place);
    assay_status status =
        import_invalid(input->terms_listed.place,
                       "the %d terms up to %s have %lld elements with their history, but input "
                       "'%s' of %s has %lld; the files do not belong to this model, or a term is missing",
                       (int)input->n_terms, text_string(&last), (long long)total, plan->signature->inputs[i].name,
                       plan->model_name, (long long)size);
    text_free(&last);
    return status;
  }
  return status_ok();
}

/* --- terms ------------------------------------------------------------------------- */

static void add_elements(const struct draft_plan *plan, const struct fact_term *term, int64_t missing,
                         struct text *out) {
  const char *asked = facts_asked(&term->open, "elements");
  const struct fact_words *named = term->elements.count > 0 ? &term->elements : &term->of_some;
  int64_t width = term->width > 0 ? term->width : missing;
  if (named->count == 0 && asked == NULL && !term->of_joints && width > 0) {
    text_format(out, ", count: %lld", (long long)width); /* numbered: no file names them */
    return;
  }
  text_add(out, ", elements: ");
  if (named->count > 0) {
    write_value_begin(out, named->place, term->place);
    write_words(out, named->values, named->count, 8);
    write_value_end(out, named->place, term->place);
  } else if (term->of_joints && plan->has_joints_group) {
    text_add(out, "joints");
  } else {
    write_todo(out, asked != NULL ? asked : "no file says how many there are");
  }
}

/* The share of a turn at the first step. */
static void add_start(const struct draft_plan *plan, const struct fact_term *term, struct text *out) {
  const struct fact_number *start = &term->clock_start, *period = &plan->facts->period_ms;
  const char *asked = facts_asked(&term->open, "start");
  if (start->given && start->value == 0) {
    return;
  }
  if (start->given && term->period_s.given && term->period_s.value > 0 && period->given) {
    text_add(out, ", start: ");
    write_value_begin(out, start->place, term->place);
    write_number(out, fmod(start->value * period->value / 1000 / term->period_s.value, 1));
    write_value_end(out, start->place, term->place);
  } else if (start->given || asked != NULL) {
    text_add(out, ", start: ");
    write_todo(out, asked != NULL ? asked : "share of a turn at the first step");
  }
}

static void add_from(const struct draft_plan *plan, const struct fact_term *term, struct text *out) {
  if (term->origin == FACT_CLOCK) {
    text_add(out, ", from: {clock: {period_s: ");
    if (term->period_s.given) {
      write_value_begin(out, term->period_s.place, term->place);
      write_number(out, term->period_s.value);
      write_value_end(out, term->period_s.place, term->place);
    } else {
      const char *asked = facts_asked(&term->open, "period_s");
      write_todo(out, asked != NULL ? asked : "no file says how long a cycle is");
    }
    text_format(out, ", as: %s", term->clock_as.value != NULL ? term->clock_as.value : "[sin, cos]");
    add_start(plan, term, out);
    text_add(out, "}}");
    return;
  }
  int32_t output = draft_find_output(plan, term->output);
  text_add(out, ", from: {output: ");
  if (output >= 0) {
    yaml_write_scalar(out, plan->signature->outputs[output].name);
  } else {
    write_todo(out, "the model has several outputs and no file says which");
  }
  text_format(out, ", space: %s, lag: %d}", term->decoded ? "decoded" : "raw", (int)term->lag);
}

static void add_column(const struct fact_numbers *column, struct place base, struct text *out) {
  write_value_begin(out, column->place, base);
  write_column(out, column->values, column->count, 8);
  write_value_end(out, column->place, base);
}

/* offset, scale, clip; as `apply` where the clip comes before the scale. */
static void add_steps(const struct fact_term *term, const struct fact_numbers *offsets, struct text *out) {
  bool offset = offsets->count > 0 && !all_are(offsets, 0);
  bool scale = term->scale.count > 0 && !all_are(&term->scale, 1);
  bool clip = term->clip_low.count > 0 && term->clip_high.count > 0;
  bool apply = clip && term->clip_first && scale;
  text_add(out, apply ? ", apply: [" : "");
  const char *first = apply ? "{" : ", ", *next = apply ? ", {" : ", ", *end = apply ? "}" : "";
  const char *before = first;
  for (int step = 0; step < 3; step++) {
    int which = !apply || step == 0 ? step : 3 - step; /* offset, scale, clip; or offset, clip, scale */
    bool given = which == 0 ? offset : which == 1 ? scale : clip;
    if (!given) {
      continue;
    }
    text_add(out, before);
    before = next;
    text_add(out, which == 0 ? "offset: " : which == 1 ? "scale: " : "clip: ");
    if (which == 2) {
      write_clip(out, &term->clip_low, &term->clip_high, term->place);
    } else {
      add_column(which == 0 ? offsets : &term->scale, term->place, out);
    }
    text_add(out, end);
  }
  text_add(out, apply ? "]" : "");
}

/* Keys that an importer left open and that no file answered. */
static void add_open(const struct draft_plan *plan, const struct fact_term *term, const struct fact_numbers *offsets,
                     struct text *out) {
  static const char *const keys[] = {"offset", "scale", "clip", "history", "apply"};
  const bool given[] = {offsets->count > 0, term->scale.count > 0, term->clip_low.count > 0, term->history.given,
                        false};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    const char *reason = facts_asked(&term->open, keys[i]);
    struct text why = {0};
    if (i == 0 && term->minus_default && reason == NULL) {
      const char *asked = facts_asked(&plan->facts->open, "default_pos");
      text_format(&why, "minus the joints' default positions; %s", asked != NULL ? asked : "no file says them");
      reason = text_string(&why);
    }
    if (reason != NULL && !given[i]) {
      text_format(out, ", %s: ", keys[i]);
      write_todo(out, reason);
    }
    write_part_free(&why, out);
  }
}

/* A program that clips the model's answer keeps the clipped one for the next observation. */
static struct fact_term with_clip_of_output(const struct draft_plan *plan, const struct fact_term *term) {
  struct fact_term clipped = *term;
  int32_t i = term->origin == FACT_OUTPUT ? draft_find_output(plan, term->output) : -1;
  const struct fact_output *output = i >= 0 ? plan->outputs[i] : NULL;
  bool own = term->clip_low.count > 0 || facts_asked(&term->open, "apply") != NULL;
  if (output != NULL && output->clip_raw_low.count > 0 && output->clip_raw_high.count > 0 && !own) {
    clipped.clip_low = output->clip_raw_low;
    clipped.clip_high = output->clip_raw_high;
    clipped.clip_first = true;
  }
  return clipped;
}

static assay_status add_term(const struct draft_plan *plan, struct arena *arena, const struct fact_input *input,
                             const struct fact_term *term, int64_t missing, struct text *out) {
  struct fact_numbers offsets = term->offset;
  if (offsets.count == 0 && term->minus_default) {
    TRY(draft_default(plan, arena, -1, &term->of_some, &offsets));
    TRY(check_column(plan, term, "offset", &offsets));
  }
  text_add(out, "      - {name: ");
  yaml_write_scalar(out, term->name);
  if (term->raw != NULL && !text_equal(term->raw, term->name)) {
    text_add(out, ", raw: ");
    yaml_write_scalar(out, term->raw);
  }
  if (term->origin == FACT_SENSOR) {
    add_elements(plan, term, missing, out);
    if (term->unit.value != NULL) {
      text_add(out, ", unit: ");
      write_value_begin(out, term->unit.place, term->place);
      yaml_write_scalar(out, term->unit.value);
      write_value_end(out, term->unit.place, term->place);
    } else if (!term->unitless) {
      const char *asked = facts_asked(&term->open, "unit");
      text_add(out, ", unit: ");
      write_todo(out, asked != NULL ? asked : "no file says it");
    }
  } else {
    add_from(plan, term, out);
  }
  struct fact_term stepped = with_clip_of_output(plan, term);
  add_steps(&stepped, &offsets, out);
  const struct fact_number *history = term->history.given ? &term->history : &input->history;
  if (history->given && term_steps(input, term) > 1) {
    text_add(out, ", history: ");
    write_value_begin(out, history->place, term->place);
    write_number(out, history->value);
    write_value_end(out, history->place, term->place);
  }
  add_open(plan, term, &offsets, out);
  text_add(out, ", source: ");
  write_place(out, term->place);
  text_add(out, "}\n");
  return status_ok();
}

static void add_history_key(const struct fact_input *input, const char *key, const struct fact_text *value,
                            struct text *out) {
  text_format(out, "%s: ", key);
  if (value->value != NULL) {
    write_value_begin(out, value->place, nowhere);
    text_add(out, value->value);
    write_value_end(out, value->place, nowhere);
  } else {
    const char *asked = facts_asked(&input->open, key);
    write_todo(out, asked != NULL ? asked : "no file says it");
  }
}

static assay_status add_terms(const struct draft_plan *plan, struct arena *arena, const struct fact_input *input,
                              int64_t missing, struct text *out) {
  int64_t longest = 1;
  for (int32_t t = 0; t < input->n_terms; t++) {
    int64_t steps = term_steps(input, &input->terms[t]);
    longest = steps > longest ? steps : longest;
  }
  if (longest > 1) {
    text_add(out, "    history: {");
    add_history_key(input, "layout", &input->layout, out);
    text_add(out, ", ");
    add_history_key(input, "order", &input->order, out);
    text_add(out, ", ");
    add_history_key(input, "initial", &input->initial, out);
    text_add(out, "}\n");
  }
  text_add(out, "    terms:\n");
  for (int32_t t = 0; t < input->n_terms; t++) {
    TRY(add_term(plan, arena, input, &input->terms[t], missing, out));
  }
  return status_ok();
}

/* --- an input as a whole ------------------------------------------------------------ */

static void add_whole_from(const struct draft_plan *plan, const struct fact_input *input, struct text *out) {
  int32_t output = draft_find_output(plan, input->output);
  text_add(out, "    from: {output: ");
  if (output >= 0) {
    yaml_write_scalar(out, plan->signature->outputs[output].name);
  } else {
    write_todo(out, "no file says which output");
  }
  text_format(out, ", space: %s, lag: %d, source: ", input->decoded ? "decoded" : "raw", (int)input->lag);
  write_place(out, input->place);
  text_add(out, "}\n");
}

/* `key: TODO`, where an importer asks. */
static void add_asked(const struct fact_input *input, const char *key, struct text *out) {
  const char *reason = facts_asked(&input->open, key);
  if (reason != NULL) {
    text_format(out, "    %s: ", key);
    write_todo(out, reason);
    text_add_char(out, '\n');
  }
}

/* What a file says of the key, or what an importer asks. */
static void add_text(const struct fact_input *input, const char *key, const struct fact_text *value, struct text *out) {
  if (value->value == NULL) {
    add_asked(input, key, out);
    return;
  }
  text_format(out, "    %s: ", key);
  write_value_begin(out, value->place, nowhere);
  yaml_write_scalar(out, value->value);
  write_value_end(out, value->place, nowhere);
  text_add_char(out, '\n');
}

static void add_preprocess(const struct fact_input *input, struct text *out) {
  if (input->preprocess.count == 0) {
    add_asked(input, "preprocess", out);
    return;
  }
  text_add(out, "    preprocess:\n");
  for (int32_t i = 0; i < input->preprocess.count; i++) {
    text_format(out, "      - {%s, source: ", input->preprocess.values[i]);
    write_place(out, input->preprocess.place);
    text_add(out, "}\n");
  }
}

assay_status draft_input(const struct draft_plan *plan, struct arena *arena, int32_t i, struct text *out) {
  const struct signature_tensor *tensor = &plan->signature->inputs[i];
  const struct fact_input *input = plan->inputs[i];
  draft_head(tensor, out);
  if (input == NULL) {
    add_questions(out, tensor);
    return status_ok();
  }
  add_text(input, "layout", &input->image_layout, out);
  add_text(input, "color", &input->color, out);
  add_text(input, "unit", &input->unit, out);
  add_preprocess(input, out);
  if (input->origin == FACT_OUTPUT) {
    add_whole_from(plan, input, out);
  }
  if (input->clip_low.given && input->clip_high.given) {
    double range[2] = {input->clip_low.value, input->clip_high.value};
    text_add(out, "    clip: ");
    write_value_begin(out, input->clip_low.place, nowhere);
    write_numbers(out, range, 2, 8);
    write_value_end(out, input->clip_low.place, nowhere);
    text_add_char(out, '\n');
  }
  if (input->n_terms == 0) { /* a file may say that there are terms, but not which */
    add_asked(input, "terms", out);
    return status_ok();
  }
  int64_t missing;
  TRY(check_sizes(plan, i, &missing));
  return add_terms(plan, arena, input, missing, out);
}
