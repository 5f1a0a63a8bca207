/* The section of a rung's decisions: how many flipped, and where margins are small. It computes
 * nothing: every figure is the gate's. */
#include <inttypes.h>

#include "report/json_parts.h"
#include "report/page.h"
#include "report/sections.h"

static void put_cases(struct page *page, const struct decision_result *decision) {
  int32_t shown = page->options->verbose ? decision->n_cases : PAGE_LISTED;
  for (int32_t i = 0; i < decision->n_cases && i < shown; i++) {
    const struct decision_case *one = &decision->cases[i];
    text_add(page->out, "            ");
    page_cut(page, one->case_id, 20, true);
    if (one->step >= 0) {
      text_format(page->out, " #%" PRId64, one->step);
    }
    text_format(page->out, " %s: expected %s (%.6g), got %s (%.6g), margin %.3g\n",
                one->flipped ? "flips" : "low margin", one->expected_label, one->expected.value, one->actual_label,
                one->actual.value, one->margin);
  }
  if (decision->n_cases > shown) {
    text_format(page->out, "            and %d more; verdict.json lists them all\n", (int)(decision->n_cases - shown));
  }
}

void decisions_report_text(struct page *page, const struct rung_result *rung) {
  for (int32_t d = 0; d < rung->n_decisions; d++) {
    const struct decision_result *decision = &rung->decisions[d];
    const char *name = decision->component != NULL ? decision->component : decision->output;
    text_add(page->out, d == 0 ? "  decisions\n  " : "  ");
    page_verdict(page, decision->verdict, 8);
    page_cut(page, name, 20, true);
    if (decision->n == 0) {
      text_format(page->out, " %s: none was taken\n", decision->what);
      continue;
    }
    text_format(page->out, " %s: %" PRId64 " of %" PRId64 " flip\n", decision->what, decision->flips, decision->n);
    text_format(page->out, "%31s%" PRId64 " with a margin below the drift of %.3g; smallest margin %.3g\n", "",
                decision->low_margin, decision->drift, decision->smallest_margin);
    put_cases(page, decision);
  }
}

static void put_json(struct json *json, const struct decision_result *decision) {
  json_open(json, NULL, '{', false);
  json_text(json, "output", decision->output);
  json_text(json, "component", decision->component);
  json_text(json, "decision", decision->what);
  json_text(json, "verdict", verdict_name(decision->verdict));
  json_int(json, "n", decision->n);
  json_int(json, "flips", decision->flips);
  json_int(json, "margin_below_drift", decision->low_margin);
  json_number_or_null(json, "smallest_margin", decision->smallest_margin, false);
  json_number(json, "drift", decision->drift, false);
  json_open(json, "cases", '[', false);
  for (int32_t i = 0; i < decision->n_cases; i++) {
    const struct decision_case *one = &decision->cases[i];
    json_open(json, NULL, '{', true);
    json_text(json, "case", one->case_id);
    json_index(json, "step", one->step);
    json_int(json, "element", one->element);
    json_bool(json, "flipped", one->flipped);
    json_text(json, "expected_decision", one->expected_label);
    json_text(json, "actual_decision", one->actual_label);
    json_number(json, "expected", one->expected.value, one->expected.single);
    json_number(json, "actual", one->actual.value, one->actual.single);
    json_number(json, "margin", one->margin, false);
    json_close(json, '}');
  }
  json_close(json, ']');
  json_close(json, '}');
}

void decisions_report_json(struct json *json, const struct gate_result *result, const struct rung_result *rung) {
  (void)result;
  json_open(json, "decisions", '[', false);
  for (int32_t d = 0; d < rung->n_decisions; d++) {
    put_json(json, &rung->decisions[d]);
  }
  json_close(json, ']');
}
