/* The table made for reading: see report.h. Worst component first, expected beside actual; 100 columns at
 * most, as long as names are not too long. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/page.h"
#include "report/report.h"
#include "report/sections.h"

/* --- components ------------------------------------------------------------------- */

static void put_component_name(struct page *page, const struct rung_result *rung, const char *output, const char *name,
                               int32_t motor) {
  struct text label = {0};
  text_format(&label, "%s%s%s", rung->n_outputs > 1 && strcmp(output, name) != 0 ? output : "",
              rung->n_outputs > 1 && strcmp(output, name) != 0 ? "/" : "", name);
  if (motor >= 0) {
    text_format(&label, " @%d", (int)motor);
  }
  page_cut(page, text_string(&label), 20, true);
  text_free(&label);
}

static void put_component(struct page *page, const struct rung_result *rung, const struct component_result *component) {
  bool raw = component->raw_decides;
  const struct drift *drift = raw ? &component->drift.raw : &component->drift.physical;
  const char *unit = raw ? component->raw_unit : component->unit;
  bool distinguishable = raw ? component->raw_distinguishable : component->physical_distinguishable;
  text_add(page->out, "  ");
  if (component->decides) {
    page_verdict(page, component->verdict, 8);
  } else {
    text_add(page->out, "shown   ");
  }
  put_component_name(page, rung, component->output, component->name, component->motor);
  page_number(page, drift->max, 12, drift->n == 0 ? "none" : NULL);
  text_add(page->out, distinguishable ? "  " : "~ ");
  page_number(page, component->tolerance.given ? component->tolerance.max : NAN, 9, "-");
  text_add_char(page->out, ' ');
  page_cut(page, unit != NULL ? unit : "", 6, true);
  if (drift->has_worst) {
    page_number(page, drift->worst.expected, 12, NULL);
    page_number(page, drift->worst.actual, 12, NULL);
    text_add(page->out, "  ");
    page_cut(page, page->result->case_ids[drift->worst.case_index], 16, false);
    if (drift->worst.step >= 0) {
      text_format(page->out, " #%d", (int)drift->worst.step);
    }
  }
  text_add_char(page->out, '\n');
}

/* One line for a joint whose gains are known: what its drift is to the motor. */
static void put_torque(struct page *page, const struct component_result *component) {
  const struct torque_result *torque = &component->torque;
  if (torque->gain != NULL && component->drift.physical.n > 0) {
    text_add(page->out, "  drift of ");
    page_cut(page, component->name, 20, false);
    text_format(page->out, " by %s: at most %.3g %s, p99 %.3g, mean %.3g\n", torque->gain, torque->max, torque->unit,
                torque->p99, torque->mean);
  }
}

/* What no motor receives is shown where it differs. */
static void put_rest(struct page *page, const struct component_result *component) {
  const struct drift *rest = component->raw_decides ? &component->rest.raw : &component->rest.physical;
  const char *unit = component->raw_decides ? component->raw_unit : component->unit;
  if (rest->n > 0 && rest->max != 0) {
    text_add(page->out, "  not executed, of ");
    page_cut(page, component->name, 20, false);
    text_format(page->out, ": at most %.3g %s, mean %.3g in %" PRId64 " numbers; it decides nothing\n", rest->max,
                unit != NULL ? unit : "(raw)", rest->mean, rest->n);
  }
}

static void put_components(struct page *page, const struct rung_result *rung) {
  bool indistinct = false;
  if (rung->n_components == 0) {
    return;
  }
  text_format(page->out, "  %-8s%-20s%12s  %9s %-6s%12s%12s  %s\n", "", "component", "max drift", "tolerance", "unit",
              "expected", "actual", "worst case");
  for (int32_t c = 0; c < rung->n_components; c++) {
    const struct component_result *component = &rung->components[c];
    if (component->compared == COMPARED_WITHIN) {
      continue; /* the whole that it is a part of has its line */
    }
    put_component(page, rung, component);
    indistinct |= component->raw_decides ? !component->raw_distinguishable : !component->physical_distinguishable;
  }
  if (indistinct) {
    text_add(page->out, "  ~ not distinguishable: at or below the reference's noise floor\n");
  }
  if (rung->components[0].motor >= 0) {
    text_add(page->out, "  @ the motor that receives it (hardware_order)\n");
  }
  for (int32_t c = 0; c < rung->n_components; c++) {
    put_torque(page, &rung->components[c]);
    put_rest(page, &rung->components[c]);
  }
  for (int32_t c = 0; c < rung->n_components; c++) {
    const struct component_result *component = &rung->components[c];
    if (component->tolerance_reason != NULL) {
      struct text first = {0};
      text_format(&first, "  looser for '%s' than the contract: ", component->name);
      page_wrapped(page, text_string(&first), component->tolerance_reason, 4);
      text_free(&first);
    }
  }
}

static void put_drift_line(struct page *page, const char *what, const char *which, const struct drift *drift) {
  text_add(page->out, "    ");
  page_cut(page, what, 10, true);
  page_cut(page, which, 14, true);
  text_format(page->out, "%7" PRId64, drift->n);
  const double figures[] = {drift->max, drift->mean, drift->rms, drift->p50, drift->p95, drift->p99};
  for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
    text_format(page->out, " %9.3g", figures[i]);
  }
  text_add_char(page->out, '\n');
}

static void put_details(struct page *page, const struct rung_result *rung) {
  for (int32_t c = 0; c < rung->n_components; c++) {
    const struct component_result *component = &rung->components[c];
    text_add(page->out, "  ");
    put_component_name(page, rung, component->output, component->name, component->motor);
    text_format(page->out, "%15s %9s %9s %9s %9s %9s %9s\n", "n", "max", "mean", "rms", "p50", "p95", "p99");
    put_drift_line(page, "raw", component->raw_unit != NULL ? component->raw_unit : "", &component->drift.raw);
    put_drift_line(page, "physical", component->unit != NULL ? component->unit : "", &component->drift.physical);
    if (component->rest.physical.n > 0) {
      put_drift_line(page, "physical", "not executed", &component->rest.physical);
    }
    if (component->deviation_expected > 0 || component->deviation_actual > 0) {
      text_format(page->out, "    numbers were off a rotation by up to %.3g (expected), %.3g (actual)\n",
                  component->deviation_expected, component->deviation_actual);
    }
    for (int32_t g = 0; g < component->n_groups; g++) {
      const struct drift_group *group = &component->groups[g];
      put_drift_line(page, group->by, group->value,
                     component->raw_decides ? &group->drift.raw : &group->drift.physical);
    }
  }
}

/* --- the rest ---------------------------------------------------------------------------- */

/* Reasons before this one that say the same of the same thing, in another case. */
static int32_t said_before(const struct gate_reasons *reasons, int32_t i, int32_t end) {
  const struct gate_reason *reason = &reasons->items[i];
  int32_t count = 0;
  for (int32_t j = 0; j < end; j++) {
    const struct gate_reason *other = &reasons->items[j];
    bool same = other->code == reason->code && (other->component == NULL) == (reason->component == NULL) &&
                (reason->component == NULL || strcmp(other->component, reason->component) == 0);
    count += j != i && same;
  }
  return count;
}

static void put_reasons(struct page *page, const struct gate_reasons *reasons) {
  for (int32_t i = 0; i < reasons->count; i++) {
    const struct gate_reason *reason = &reasons->items[i];
    int32_t before = said_before(reasons, i, i), all = said_before(reasons, i, reasons->count) + 1;
    if (before >= PAGE_LISTED && !page->options->verbose) {
      continue;
    }
    struct text code = {0};
    text_format(&code, "  %s: ", assay_code_name(reason->code));
    page_wrapped(page, text_string(&code), reason->sentence, 4);
    text_free(&code);
    if (before == PAGE_LISTED - 1 && all > PAGE_LISTED && !page->options->verbose) {
      text_format(page->out, "    and %d more like this; verdict.json lists them all\n", (int)(all - PAGE_LISTED));
    }
  }
}

static void put_rung_head(struct page *page, const struct rung_result *rung) {
  const struct rung_actual *actual = &rung->actual;
  text_add(page->out, "\nrung ");
  page_cut(page, rung->name, 40, false);
  text_add(page->out, ": ");
  page_verdict(page, rung->verdict, 0);
  text_format(page->out, " (%s)", rung->is_reference ? "the reference" : rung->required ? "required" : "not required");
  text_add(page->out, "\n");
  if (rung->has_actual) {
    const char *const facts[] = {actual->engine, actual->version, actual->precision, actual->provider, actual->device};
    text_add(page->out, "  ran: ");
    bool any = false;
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
      if (facts[i] != NULL && (i < 4 || actual->provider == NULL || strcmp(facts[i], actual->provider) != 0)) {
        text_format(page->out, "%s%s", any ? " " : "", facts[i]);
        any = true;
      }
    }
    if (actual->threads > 0) {
      text_format(page->out, ", %d thread%s", actual->threads, actual->threads == 1 ? "" : "s");
    }
    text_format(page->out, "%s%s\n", any && actual->note != NULL ? "; " : "", actual->note != NULL ? actual->note : "");
  }
}

static void put_rung(struct page *page, const struct rung_result *rung) {
  put_rung_head(page, rung);
  put_components(page, rung);
  sections_rung_text(page, rung);
  if (rung->reasons.count > 0) {
    text_add(page->out, "  why\n");
  }
  put_reasons(page, &rung->reasons);
  if (page->options->verbose) {
    put_details(page, rung);
    page_wrapped(page, "  against itself: ", rung->noise.self_how != NULL ? rung->noise.self_how : "not measured", 4);
  }
}

static void put_head(struct page *page) {
  const struct gate_result *result = page->result;
  if (result->heading != NULL) {
    text_format(page->out, "%s\n", result->heading);
  }
  page_cut(page, result->policy != NULL ? result->policy : "", 60, false);
  text_add(page->out, ": ");
  page_verdict(page, result->verdict, 0);
  text_format(page->out, "\n  reference: %s; %" PRId64 " case%s with an answer", result->reference, result->n_cases,
              result->n_cases == 1 ? "" : "s");
  if (result->corpus_digest != NULL) {
    text_format(page->out, "; corpus %.19s", result->corpus_digest);
  }
  text_add_char(page->out, '\n');
  page_wrapped(page, "  noise floor, self:     ", result->reference_noise.self_how, 25);
  page_wrapped(page, "  noise floor, rounding: ", result->reference_noise.rounding_how, 25);
  put_reasons(page, &result->reasons);
  sections_head_text(page);
}

static void put_foot(struct page *page) {
  const struct gate_result *result = page->result;
  text_add(page->out, "\nparity: ");
  page_verdict(page, result->verdict, 0);
  for (int32_t i = 0; i < result->n_others; i++) {
    text_format(page->out, "   %s: %s", result->others[i].name, verdict_name(result->others[i].verdict));
    text_format(page->out, " (%.7s)", result->others[i].sentence); /* "not run" */
  }
  text_add_char(page->out, '\n');
  if (result->claim != NULL) {
    page_wrapped(page, "", result->claim, 0);
  }
}

assay_status report_terminal(const struct gate_result *result, const struct terminal_options *options,
                             struct text *out) {
  struct page page = {result, options, out};
  put_head(&page);
  if (!options->quiet) {
    for (int32_t r = 0; r < result->n_rungs; r++) {
      put_rung(&page, &result->rungs[r]);
    }
    sections_gate_text(&page);
    put_foot(&page);
  }
  return text_status(out);
}
