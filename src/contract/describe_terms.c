/* The terms of an input as statements: what each is measured by or made from, in which order, and what is done to it.
 * See describe.h. */
#include <string.h>

#include "contract/describe.h"
#include "contract/terms.h"
#include "core/text.h"

static void add_step(struct text *out, const struct term_step *step) {
  static const char *const kinds[] = {"offset ", "scale ", "divide ", "clip to "};
  text_add(out, kinds[step->kind]);
  numbers_text(out, step->a, step->n);
  if (step->kind == TERM_CLIP) {
    text_add(out, " and ");
    numbers_text(out, step->b, step->n);
  }
}

static void add_text(struct statements *out, const char *what, struct text *text) {
  out->failed |= text->failed;
  describe_text(out, true, what, text->length > 0 ? text_string(text) : NULL);
  text_free(text);
}

static void describe_source(struct statements *out, const struct contract_term *term) {
  static const char *const forms[] = {"sin", "cos", "phase"};
  struct text text = {0};
  if (term->source == TERM_SENSOR) {
    describe_text(out, true, "sensor", strcmp(term->raw, term->name) != 0 ? term->raw : NULL);
  } else if (term->source == TERM_OUTPUT) {
    describe_fact(out, true, "from", "output %s, %s, lag %d", term->output, term->decoded ? "decoded" : "raw",
                  (int)term->lag);
    numbers_text(&text, term->initial, term->n_elements);
    add_text(out, "initial", &text);
  } else {
    describe_fact_number(out, true, "clock period", term->period_steps, "steps");
    describe_fact_number(out, true, "clock start", term->start, NULL);
    for (int32_t i = 0; i < term->n_forms; i++) {
      text_format(&text, "%s%s", i > 0 ? ", " : "", forms[term->forms[i]]);
    }
    add_text(out, "clock as", &text);
  }
}

static void describe_term(struct statements *out, const struct contract_term *term) {
  struct text elements = {0}, picks = {0}, steps = {0};
  describe_part(out, "term %s", term->name);
  describe_source(out, term);
  for (int32_t i = 0; i < term->n_elements; i++) {
    text_format(&elements, "%s%s", i > 0 ? ", " : "", term->elements[i]);
    if (term->picks != NULL) {
      text_format(&picks, "%s%lld", i > 0 ? ", " : "", (long long)term->picks[i]);
    }
  }
  add_text(out, "elements", &elements);
  add_text(out, "places in what it is taken from", &picks);
  describe_text(out, true, "unit", term->unit);
  for (int32_t i = 0; i < term->n_steps; i++) {
    text_add(&steps, i > 0 ? "; " : "");
    add_step(&steps, &term->steps[i]);
  }
  add_text(out, "steps", &steps);
  describe_fact(out, true, "history", "%d", (int)term->history);
}

void describe_terms(struct statements *out, const struct contract_terms *terms) {
  if (terms == NULL) {
    return;
  }
  struct text order = {0};
  for (int32_t i = 0; i < terms->n_terms; i++) {
    text_format(&order, "%s%s", i > 0 ? ", " : "", terms->terms[i].name);
  }
  out->failed |= order.failed;
  const struct statement names = {.root = out->root,
                                  .what = "order of terms",
                                  .value = arena_string(out->arena, text_string(&order)),
                                  .kind = STATEMENT_ORDER};
  out->failed |= names.value == NULL;
  describe_add(out, &names);
  text_free(&order);
  if (terms->has_clip) {
    describe_fact_number(out, true, "clip min", terms->clip_min, NULL);
    describe_fact_number(out, true, "clip max", terms->clip_max, NULL);
  }
  if (terms->has_history) {
    describe_text(out, true, "history layout", terms->layout == HISTORY_TERM_MAJOR ? "term_major" : "time_major");
    describe_text(out, true, "history order", terms->order == HISTORY_OLDEST_FIRST ? "oldest_first" : "newest_first");
    describe_text(out, true, "history initial", terms->initial == HISTORY_REPEAT_FIRST ? "repeat_first" : "zeros");
  }
  for (int32_t i = 0; i < terms->n_terms; i++) {
    describe_term(out, &terms->terms[i]);
  }
  describe_part(out, NULL);
}
