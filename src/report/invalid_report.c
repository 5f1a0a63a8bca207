/* The section of the invalid cases: which of them got the refusal that they must get. */
#include "report/page.h"
#include "report/sections.h"

void invalid_report_text(struct page *page) {
  const struct gate_result *result = page->result;
  int32_t right = 0;
  if (result->n_invalid == 0) {
    return;
  }
  for (int32_t i = 0; i < result->n_invalid; i++) {
    right += result->invalid[i].verdict == VERDICT_PASS;
  }
  text_format(page->out, "\ninvalid cases: %d of %d refused with the code they must get\n", (int)right,
              (int)result->n_invalid);
  for (int32_t i = 0; i < result->n_invalid; i++) {
    const struct invalid_case_result *invalid = &result->invalid[i];
    if (page->options->verbose || invalid->verdict != VERDICT_PASS) {
      text_add(page->out, "  ");
      page_verdict(page, invalid->verdict, 8);
      page_words(page, 10, invalid->verdict == VERDICT_PASS ? invalid->expected : invalid->sentence, 10);
    }
  }
}

void invalid_report_json(struct json *json, const struct gate_result *result) {
  json_open(json, "invalid_cases", '[', false);
  for (int32_t i = 0; i < result->n_invalid; i++) {
    const struct invalid_case_result *invalid = &result->invalid[i];
    json_open(json, NULL, '{', true);
    json_text(json, "case", invalid->case_id);
    json_text(json, "verdict", verdict_name(invalid->verdict));
    json_text(json, "expected", invalid->expected);
    json_text(json, "actual", invalid->actual);
    json_text(json, "sentence", invalid->sentence);
    json_close(json, '}');
  }
  json_close(json, ']');
}
