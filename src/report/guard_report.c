/* The section of the guard's answers on a rung: how often each was given on both sides, which changed, and which hang
 * on a margin below the drift. It computes nothing. */
#include <inttypes.h>
#include <math.h>

#include "report/json_parts.h"
#include "report/page.h"
#include "report/sections.h"

static void put_case(struct page *page, const struct guard_case *one) {
  text_add(page->out, "            ");
  page_cut(page, one->case_id, 20, true);
  if (one->step >= 0) {
    text_format(page->out, " #%" PRId64, one->step);
  }
  text_format(page->out, " %s: expected %s, got %s", one->flipped ? "flips" : "low margin", one->expected, one->actual);
  if (one->component != NULL) {
    text_format(page->out, ", margin %.3g ", one->margin);
    page_cut(page, one->unit, 8, false);
    text_add(page->out, " of ");
    page_cut(page, one->component, 20, false);
  }
  text_add_char(page->out, '\n');
}

static void put_tally(struct page *page, const struct guard_result *guard) {
  for (int32_t t = 0; t < guard->n_tally; t++) {
    const struct guard_tally *tally = &guard->tally[t];
    if (tally->expected > 0 || tally->actual > 0) {
      text_format(page->out, "            %-18s expected %6" PRId64 ", got %6" PRId64 "\n", tally->answer,
                  tally->expected, tally->actual);
    }
  }
}

/* Nothing was refused, nothing changed, and nothing could have been refused but for its shape. */
static bool says_nothing(const struct guard_result *guard) {
  return !guard->asked || (!guard->guards && guard->flips == 0 && guard->tally[0].expected == guard->n);
}

void guard_report_text(struct page *page, const struct rung_result *rung) {
  const struct guard_result *guard = &rung->guard;
  if (says_nothing(guard)) {
    return;
  }
  text_add(page->out, "  guard\n  ");
  page_verdict(page, guard->verdict, 8);
  text_format(page->out, "%" PRId64 " of %" PRId64 " answers change; %" PRId64 " with a margin below the drift",
              guard->flips, guard->n, guard->low_margin);
  if (!isnan(guard->smallest_margin)) {
    text_format(page->out, "; smallest margin %.3g", guard->smallest_margin);
  }
  text_add_char(page->out, '\n');
  put_tally(page, guard);
  if (guard->n_monitors > 0 && guard->without_monitors > 0) {
    text_format(page->out,
                "            monitors were not asked at %" PRId64 " of %" PRId64 " steps: their cases say nothing\n",
                guard->without_monitors, guard->n);
  }
  int32_t shown = page->options->verbose ? guard->n_cases : PAGE_LISTED;
  for (int32_t i = 0; i < guard->n_cases && i < shown; i++) {
    put_case(page, &guard->cases[i]);
  }
  if (guard->n_cases > shown) {
    text_format(page->out, "            and %d more; verdict.json lists them all\n", (int)(guard->n_cases - shown));
  }
}

static void put_answers(struct json *json, const struct guard_result *guard, const char *key, bool expected) {
  json_open(json, key, '{', true);
  for (int32_t t = 0; t < guard->n_tally; t++) {
    json_int(json, guard->tally[t].answer, expected ? guard->tally[t].expected : guard->tally[t].actual);
  }
  json_close(json, '}');
}

static void put_json_case(struct json *json, const struct guard_case *one) {
  json_open(json, NULL, '{', true);
  json_text(json, "case", one->case_id);
  json_index(json, "step", one->step);
  json_bool(json, "flipped", one->flipped);
  json_bool(json, "stated", one->stated);
  json_text(json, "expected", one->expected);
  json_text(json, "actual", one->actual);
  json_text(json, "output", one->output);
  json_text(json, "component", one->component);
  json_text(json, "unit", one->unit);
  json_number_or_null(json, "margin", one->margin, false);
  json_text(json, "sentence", one->sentence);
  json_close(json, '}');
}

void guard_report_json(struct json *json, const struct gate_result *result, const struct rung_result *rung) {
  const struct guard_result *guard = &rung->guard;
  (void)result;
  if (!guard->asked) {
    json_none(json, "guard");
    return;
  }
  json_open(json, "guard", '{', false);
  json_text(json, "verdict", verdict_name(guard->verdict));
  json_int(json, "n", guard->n);
  json_int(json, "stated", guard->stated);
  json_int(json, "flips", guard->flips);
  json_int(json, "margin_below_drift", guard->low_margin);
  json_number_or_null(json, "smallest_margin", guard->smallest_margin, false);
  json_int(json, "monitors", guard->n_monitors);
  json_int(json, "without_monitors", guard->without_monitors);
  put_answers(json, guard, "expected", true);
  put_answers(json, guard, "actual", false);
  json_open(json, "cases", '[', false);
  for (int32_t i = 0; i < guard->n_cases; i++) {
    put_json_case(json, &guard->cases[i]);
  }
  json_close(json, ']');
  json_close(json, '}');
}
