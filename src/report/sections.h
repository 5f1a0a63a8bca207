/* The table of a report's sections (sections.inc): each topic one file with a text and a JSON function, which show
 * figures that the gate made and compute none. */
#ifndef REPORT_SECTIONS_H
#define REPORT_SECTIONS_H

#include "report/json_writer.h"
#include "report/page.h"

#define HEAD_SECTION(topic)                    \
  void topic##_report_text(struct page *page); \
  void topic##_report_json(struct json *json, const struct gate_result *result);
#define GATE_SECTION(topic) HEAD_SECTION(topic)
#define RUNG_SECTION(topic)                                                    \
  void topic##_report_text(struct page *page, const struct rung_result *rung); \
  void topic##_report_json(struct json *json, const struct gate_result *result, const struct rung_result *rung);
#include "report/sections.inc"
#undef HEAD_SECTION
#undef GATE_SECTION
#undef RUNG_SECTION

/* All sections of one place, in the table's order. */
void sections_head_text(struct page *page);
void sections_head_json(struct json *json, const struct gate_result *result);
void sections_rung_text(struct page *page, const struct rung_result *rung);
void sections_rung_json(struct json *json, const struct gate_result *result, const struct rung_result *rung);
void sections_gate_text(struct page *page);
void sections_gate_json(struct json *json, const struct gate_result *result);

#endif
