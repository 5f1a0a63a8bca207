/* The section of a policy's stages: how far apart the two sides are between the stages and after each turn of a loop.
 */
#include <inttypes.h>
#include <math.h>

#include "report/json_parts.h"
#include "report/page.h"
#include "report/sections.h"

/* Of a long loop the first turn, the last, and the first beyond the tolerance are shown. */
static bool is_shown(const struct page *page, const struct rung_result *rung, const struct stage_result *stage) {
  if (stage->turn == 0 || page->options->verbose) {
    return true;
  }
  for (int32_t i = 0; i < rung->n_loops; i++) {
    const struct loop_result *loop = &rung->loops[i];
    if (text_equal(loop->stage, stage->stage) && text_equal(loop->value, stage->value)) {
      return loop->turns <= PAGE_LISTED || stage->turn == 1 || stage->turn == loop->turns ||
             stage->turn == loop->first_beyond;
    }
  }
  return true;
}

static void put_stage(struct page *page, const struct stage_result *stage) {
  text_add(page->out, "  ");
  page_cut(page, stage->stage, 16, true);
  text_add(page->out, " ");
  page_cut(page, stage->value, 22, true);
  if (stage->turn > 0) {
    text_format(page->out, " turn %-5d", (int)stage->turn);
  } else {
    text_format(page->out, "%11s", "");
  }
  page_number(page, stage->n > 0 ? stage->ran : (double)NAN, 12, stage->n > 0 ? NULL : "not known");
  page_number(page, stage->alone, 12, "-");
  text_add(page->out, "  ");
  if (stage->case_id != NULL) {
    page_cut(page, stage->case_id, 20, false);
    if (stage->step >= 0) {
      text_format(page->out, " #%" PRId64, stage->step);
    }
  }
  text_add_char(page->out, '\n');
}

void stages_report_text(struct page *page, const struct rung_result *rung) {
  if (rung->n_stages == 0) {
    return;
  }
  text_format(page->out, "  %-16s %-33s%12s%12s  worst case\n", "stages", "", "as it ran", "alone");
  for (int32_t i = 0; i < rung->n_stages; i++) {
    if (is_shown(page, rung, &rung->stages[i])) {
      put_stage(page, &rung->stages[i]);
    }
  }
  if (rung->alone_how != NULL) {
    page_wrapped(page, "  alone: ", rung->alone_how, 9);
  }
}

static void put_values(struct json *json, const struct rung_result *rung) {
  json_open(json, "values", '[', false);
  for (int32_t i = 0; i < rung->n_stages; i++) {
    const struct stage_result *stage = &rung->stages[i];
    json_open(json, NULL, '{', true);
    json_text(json, "stage", stage->stage);
    json_text(json, "value", stage->value);
    if (stage->turn > 0) {
      json_int(json, "turn", stage->turn);
    } else {
      json_none(json, "turn");
    }
    json_bool(json, "output", stage->is_output);
    json_int(json, "n", stage->n);
    json_figure(json, "as_it_ran", stage->n, stage->ran);
    json_number_or_null(json, "alone", stage->alone, false);
    json_text(json, "case", stage->case_id);
    json_index(json, "step", stage->step);
    json_index(json, "element", stage->element);
    json_close(json, '}');
  }
  json_close(json, ']');
}

static void put_loops(struct json *json, const struct rung_result *rung) {
  json_open(json, "loops", '[', false);
  for (int32_t i = 0; i < rung->n_loops; i++) {
    const struct loop_result *loop = &rung->loops[i];
    json_open(json, NULL, '{', true);
    json_text(json, "stage", loop->stage);
    json_text(json, "value", loop->value);
    json_text(json, "input", loop->input);
    json_int(json, "turns", loop->turns);
    json_number_or_null(json, "tolerance", loop->tolerance, false);
    json_number_or_null(json, "first_turn", loop->first, false);
    json_number_or_null(json, "last_turn", loop->last, false);
    json_number_or_null(json, "one_turn_alone", loop->alone, false);
    if (loop->first_beyond > 0) {
      json_int(json, "beyond_from_turn", loop->first_beyond);
    } else {
      json_none(json, "beyond_from_turn");
    }
    json_close(json, '}');
  }
  json_close(json, ']');
}

void stages_report_json(struct json *json, const struct gate_result *result, const struct rung_result *rung) {
  (void)result;
  if (rung->n_stages == 0) {
    json_none(json, "stages");
    return;
  }
  json_open(json, "stages", '{', false);
  json_text(json, "alone", rung->alone_how);
  put_values(json, rung);
  put_loops(json, rung);
  json_close(json, '}');
}
