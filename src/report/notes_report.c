/* The section of notes: sentences that decide nothing and stand beside every verdict, in --quiet too. */
#include "report/page.h"
#include "report/sections.h"

void notes_report_text(struct page *page) {
  for (int32_t i = 0; i < page->result->n_notes; i++) {
    page_wrapped(page, "  note: ", page->result->notes[i], 4);
  }
}

void notes_report_json(struct json *json, const struct gate_result *result) {
  json_open(json, "notes", '[', false);
  for (int32_t i = 0; i < result->n_notes; i++) {
    json_text(json, NULL, result->notes[i]);
  }
  json_close(json, ']');
}
