/* Walks the table of sections: see sections.h. */
#include "report/sections.h"

typedef void gate_text(struct page *page);
typedef void gate_json(struct json *json, const struct gate_result *result);
typedef void rung_text(struct page *page, const struct rung_result *rung);
typedef void rung_json(struct json *json, const struct gate_result *result, const struct rung_result *rung);

enum place { HEAD, RUNG, GATE };

static const struct section {
  enum place place;
  gate_text *text;
  gate_json *json;
  rung_text *rung_text;
  rung_json *rung_json;
} table[] = {
#define HEAD_SECTION(topic) {.place = HEAD, .text = topic##_report_text, .json = topic##_report_json},
#define GATE_SECTION(topic) {.place = GATE, .text = topic##_report_text, .json = topic##_report_json},
#define RUNG_SECTION(topic) {.place = RUNG, .rung_text = topic##_report_text, .rung_json = topic##_report_json},
#include "report/sections.inc"
};
static const size_t n_sections = sizeof table / sizeof table[0];

static void put_text(struct page *page, enum place place) {
  for (size_t i = 0; i < n_sections; i++) {
    if (table[i].place == place) {
      table[i].text(page);
    }
  }
}

static void put_json(struct json *json, const struct gate_result *result, enum place place) {
  for (size_t i = 0; i < n_sections; i++) {
    if (table[i].place == place) {
      table[i].json(json, result);
    }
  }
}

void sections_head_text(struct page *page) { put_text(page, HEAD); }

void sections_head_json(struct json *json, const struct gate_result *result) { put_json(json, result, HEAD); }

void sections_gate_text(struct page *page) { put_text(page, GATE); }

void sections_gate_json(struct json *json, const struct gate_result *result) { put_json(json, result, GATE); }

void sections_rung_text(struct page *page, const struct rung_result *rung) {
  for (size_t i = 0; i < n_sections; i++) {
    if (table[i].place == RUNG) {
      table[i].rung_text(page, rung);
    }
  }
}

void sections_rung_json(struct json *json, const struct gate_result *result, const struct rung_result *rung) {
  for (size_t i = 0; i < n_sections; i++) {
    if (table[i].place == RUNG) {
      table[i].rung_json(json, result, rung);
    }
  }
}
