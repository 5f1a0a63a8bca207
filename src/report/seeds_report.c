/* The section of seeds: the worst and the spread over draws of the policy's noise, beside how far the reference's own
 * answers lie apart from draw to draw. */
#include <math.h>

#include "report/page.h"
#include "report/sections.h"

static const char *unit_of(const struct component_result *component) {
  return component->raw_decides ? component->raw_unit : component->unit;
}

static void put_row(struct page *page, const struct seed_spread *spread) {
  const char *unit = unit_of(spread->component);
  text_add(page->out, "          ");
  page_cut(page, spread->component->name, 20, true);
  page_number(page, spread->max, 12, NULL);
  page_number(page, spread->median, 12, NULL);
  page_number(page, spread->min, 12, NULL);
  page_number(page, spread->deviation, 12, "-");
  page_number(page, spread->reference_deviation, 12, "-");
  text_add_char(page->out, ' ');
  page_cut(page, unit != NULL ? unit : "", 6, true);
  page_cut(page, spread->worst != NULL ? spread->worst : "", 20, false);
  text_add_char(page->out, '\n');
}

void seeds_report_text(struct page *page, const struct rung_result *rung) {
  if (rung->n_seed_spreads == 0) {
    return;
  }
  text_format(page->out, "  over seeds: %d draws of %d cases; the reference's answers to one case lie apart by (rms)\n",
              (int)rung->seed_spreads[0].n_draws, (int)rung->seed_spreads[0].n_cases);
  text_format(page->out, "  %-8s%-20s%12s%12s%12s%12s%12s\n", "", "component", "max drift", "median", "min",
              "deviation", "reference");
  for (int32_t s = 0; s < rung->n_seed_spreads; s++) {
    put_row(page, &rung->seed_spreads[s]);
  }
}

void seeds_report_json(struct json *json, const struct gate_result *result, const struct rung_result *rung) {
  (void)result;
  json_open(json, "seeds", '[', false);
  for (int32_t s = 0; s < rung->n_seed_spreads; s++) {
    const struct seed_spread *spread = &rung->seed_spreads[s];
    json_open(json, NULL, '{', true);
    json_text(json, "output", spread->component->output);
    json_text(json, "component", spread->component->name);
    json_text(json, "space", spread->component->raw_decides ? "raw" : "physical");
    json_text(json, "unit", unit_of(spread->component));
    json_int(json, "cases", spread->n_cases);
    json_int(json, "draws", spread->n_draws);
    json_number(json, "max", spread->max, false);
    json_number(json, "median", spread->median, false);
    json_number(json, "min", spread->min, false);
    json_number_or_null(json, "deviation", spread->deviation, false);
    json_text(json, "worst", spread->worst);
    json_number_or_null(json, "reference_range", spread->reference_range, false);
    json_number_or_null(json, "reference_deviation", spread->reference_deviation, false);
    json_close(json, '}');
  }
  json_close(json, ']');
}
