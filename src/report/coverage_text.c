/* A coverage for reading: what there is, what was used of the ranges, and what no case can tell. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/coverage_report.h"

enum { PAIRS_SHOWN = 12 };

static void add_bounds(struct text *out, double low, double high) {
  if (isnan(low) && isnan(high)) {
    text_add(out, "nothing finite");
  } else {
    text_format(out, "[%.6g, %.6g]", low, high);
  }
}

/* "[-1.2, 1.1], 3 NaN" */
static void add_range(struct text *out, const struct coverage_range *range) {
  add_bounds(out, range->min, range->max);
  if (range->nan > 0) {
    text_format(out, ", %" PRId64 " NaN", range->nan);
  }
  if (range->inf > 0) {
    text_format(out, ", %" PRId64 " infinite", range->inf);
  }
}

static void add_head(struct text *out, const struct coverage *coverage) {
  const struct corpus *corpus = coverage->corpus;
  text_add(out, "corpus   ");
  text_add_shown(out, corpus->folder);
  text_format(out, " (%s", corpus_role_name(corpus->role));
  if (corpus->policy != NULL) {
    text_add(out, ", policy ");
    text_add_shown(out, corpus->policy);
  }
  text_format(out, ")\nversion  %s\n", corpus->digest);
  if (coverage->contract != NULL) {
    text_add(out, "contract ");
    text_add_shown(out, coverage->contract->path);
    text_add(out, "\n");
  }
  if (corpus->framework != NULL) {
    text_add(out, "source   ");
    text_add_shown(out, corpus->framework);
    if (corpus->framework_version != NULL) {
      text_add(out, " ");
      text_add_shown(out, corpus->framework_version);
    }
    if (corpus->weights_digest != NULL) {
      text_format(out, ", weights %s", corpus->weights_digest);
    }
    text_add(out, "\n");
  }
}

static void add_counts(struct text *out, const struct coverage *coverage) {
  int32_t n = coverage->corpus->n_cases;
  text_format(out, "cases    %d: %d answered, %d refused; %" PRId64 " samples\n", n, coverage->n_answered,
              coverage->n_refused, coverage->n_samples);
  if (coverage->n_sequences > 0) {
    text_format(out, "         %d sequences of %" PRId64 " to %" PRId64 " steps, %d of them with forced state\n",
                coverage->n_sequences, coverage->steps_min, coverage->steps_max, coverage->n_forced);
  }
  text_format(out, "lineage  %d of %d cases, from %d files\n", coverage->n_with_origin, n, coverage->n_origins);
  text_format(out, "repeats  in %d cases; expected guard answers in %d\n", coverage->n_with_repeats,
              coverage->n_with_guard);
  if (coverage->n_with_seeds > 0) {
    text_format(out, "seeds    several in %d cases, each a sample\n", coverage->n_with_seeds);
  }
  if (n == 0) {
    text_add(out, "! there is no case: a gate on this corpus says NOTHING_COMPARED\n");
  }
  if (coverage->n_duplicates > 0) {
    text_format(out, "! %d cases are copies of others, byte for byte\n", coverage->n_duplicates);
  }
}

static void add_tags(struct text *out, const struct coverage *coverage) {
  const char *key = NULL;
  text_add(out, coverage->n_tags > 0 ? "\ntags" : "");
  for (int32_t i = 0; i < coverage->n_tags; i++) {
    const struct coverage_tag *tag = &coverage->tags[i];
    bool same = key != NULL && strcmp(key, tag->key) == 0;
    text_add(out, same ? ", " : "\n  ");
    if (!same) {
      text_add_padded(out, tag->key, 14);
      text_add(out, " ");
    }
    text_add_shown(out, tag->value);
    text_format(out, " %d", tag->n_cases);
    key = tag->key;
  }
  text_add(out, coverage->n_tags > 0 ? "\n" : "");
}

static void add_input(struct text *out, const struct coverage_input *input, size_t width) {
  text_add(out, "  ");
  text_add_padded(out, input->name, width);
  text_add(out, "  ");
  if (input->n_samples == 0) {
    text_add(out, input->is_state ? "carried, never fed\n" : "never fed\n");
    return;
  }
  add_range(out, &input->seen);
  if (input->unit != NULL) {
    text_add(out, " ");
    text_add_shown(out, input->unit);
  }
  if (input->has_legal) {
    text_format(out, " of legal [%.6g, %.6g]", input->legal_min, input->legal_max);
  }
  if (input->has_typical) {
    text_format(out, " of typical [%.6g, %.6g]", input->typical_min, input->typical_max);
  }
  if (!isnan(input->share)) {
    text_format(out, ": %.0f %%", 100 * input->share);
  }
  if (input->n_ages > 0) {
    text_format(out, "; ages %.6g to %.6g ms", input->age_min, input->age_max);
  }
  if (input->max_age_ms > 0) {
    text_format(out, "; limit %.6g ms", input->max_age_ms);
  }
  text_add(out, "\n");
}

static void add_input_faults(struct text *out, const struct coverage_input *input) {
  if (input->outside_legal > 0) {
    text_add(out, "! ");
    text_add_shown(out, input->name);
    text_format(out, ": %" PRId64 " values of answered cases lie outside the legal range\n", input->outside_legal);
  }
  if (input->outside_typical > 0) {
    text_format(out, "  (");
    text_add_shown(out, input->name);
    text_format(out, ": %" PRId64 " values outside the typical range)\n", input->outside_typical);
  }
  if (input->n_samples > 1 && input->n_constant > 0) {
    text_add(out, "! ");
    text_add_shown(out, input->name);
    if (input->n_constant == input->n_elements) {
      text_add(out, ": is the same in every sample\n");
    } else {
      text_format(out, ": %" PRId64 " of %" PRId64 " elements have one value in every sample\n", input->n_constant,
                  input->n_elements);
    }
  }
  if (input->max_age_ms > 0 && input->n_ages == 0 && input->n_samples > 0) {
    text_add(out, "! ");
    text_add_shown(out, input->name);
    text_add(out, ": the contract limits its age, and no case gives one\n");
  }
}

static void add_inputs(struct text *out, const struct coverage *coverage) {
  size_t width = 8;
  for (int32_t i = 0; i < coverage->n_inputs; i++) {
    size_t length = strlen(coverage->inputs[i].name);
    width = length > width && length <= 32 ? length : width;
  }
  text_add(out, coverage->n_inputs > 0 ? "\ninputs: values seen\n" : "");
  for (int32_t i = 0; i < coverage->n_inputs; i++) {
    add_input(out, &coverage->inputs[i], width);
  }
  for (int32_t i = 0; i < coverage->n_inputs; i++) {
    add_input_faults(out, &coverage->inputs[i]);
  }
}

static void add_component(struct text *out, const struct coverage_component *component) {
  text_add(out, "  ");
  text_add_padded(out, component->name, 14);
  text_add(out, "  ");
  add_range(out, &component->seen);
  if (component->unit != NULL) {
    text_add(out, " ");
    text_add_shown(out, component->unit);
  }
  if (component->has_limits) {
    text_format(out, " of limits [%.6g, %.6g]", component->limit_min, component->limit_max);
    double span = component->limit_max - component->limit_min;
    if (span > 0 && !isinf(span)) {
      text_format(out, ": %.0f %%", 100 * (component->seen.max - component->seen.min) / span);
    }
  }
  text_add(out, "\n");
}

static void add_components(struct text *out, const struct coverage *coverage) {
  const char *output = NULL;
  for (int32_t i = 0; i < coverage->n_components; i++) {
    const struct coverage_component *component = &coverage->components[i];
    if (output == NULL || strcmp(output, component->output) != 0) {
      text_add(out, "\noutput ");
      text_add_shown(out, component->output);
      text_add(out, ": answers seen\n");
      output = component->output;
    }
    add_component(out, component);
  }
  for (int32_t i = 0; i < coverage->n_components; i++) {
    if (coverage->components[i].constant) {
      text_add(out, "! ");
      text_add_shown(out, coverage->components[i].name);
      text_add(out, ": no case distinguishes it from a constant\n");
    }
  }
}

static void add_pair(struct text *out, const struct coverage_pair *pair) {
  text_add(out, "! ");
  if (pair->tensor != NULL) {
    text_add_shown(out, pair->tensor);
    text_add(out, ": ");
  }
  text_add_shown(out, pair->a);
  text_add(out, " and ");
  text_add_shown(out, pair->b);
  if (pair->kind == PAIR_COMPONENTS) {
    text_format(out, " agree in every case to within %.6g, no more than their tolerance: swapped, they would pass\n",
                pair->difference);
  } else {
    text_add(out, " are equal in every sample: swapped, nothing would change\n");
  }
}

static void add_pairs(struct text *out, const struct coverage *coverage) {
  text_add(out, coverage->n_pairs > 0 ? "\nwhat no case tells apart\n" : "");
  for (int32_t i = 0; i < coverage->n_pairs && i < PAIRS_SHOWN; i++) {
    add_pair(out, &coverage->pairs[i]);
  }
  if (coverage->n_pairs > PAIRS_SHOWN) {
    text_format(out, "! and %d more pairs; --json lists all\n", coverage->n_pairs - PAIRS_SHOWN);
  }
}

static void add_decision(struct text *out, const struct coverage_decision *seen) {
  const struct decision *decision = seen->decision;
  const char *name = seen->component != NULL ? seen->component : seen->output;
  bool threshold = decision->kind == DECISION_THRESHOLD;
  text_add(out, seen->n_answers > 1 ? "  " : "! ");
  text_add_padded(out, name, 14);
  if (!threshold) {
    static const char *const words[] = {"threshold", "argmax", "top-k", "order"};
    text_format(out, "  %s: %" PRId64 "%s different answers in %" PRId64, words[decision->kind], seen->n_answers,
                seen->n_answers == COVERAGE_ANSWERS_MAX ? " or more" : "", seen->n);
    text_add(out, seen->n_answers > 1 ? "\n" : "; no case changes the decision\n");
    return;
  }
  text_add(out, "  ");
  text_add_shown(out, decision->label_positive != NULL ? decision->label_positive : "positive");
  text_format(out, " %" PRId64 ", ", seen->n_positive);
  text_add_shown(out, decision->label_negative != NULL ? decision->label_negative : "negative");
  text_format(out, " %" PRId64 " (threshold %.9g", seen->n - seen->n_positive, decision->threshold);
  if (!isnan(seen->nearest)) {
    text_format(out, ", nearest by %.3g", seen->nearest);
  }
  text_add(out, seen->n_answers > 1 ? ")\n" : "); no case exercises the other side\n");
}

static void add_decisions(struct text *out, const struct coverage *coverage) {
  text_add(out, coverage->n_decisions > 0 ? "\ndecisions\n" : "");
  for (int32_t i = 0; i < coverage->n_decisions; i++) {
    add_decision(out, &coverage->decisions[i]);
  }
}

static void add_refusals(struct text *out, const struct coverage *coverage) {
  text_add(out, "\nrefusals\n");
  for (int32_t i = 0; i < coverage->n_refusals; i++) {
    const struct coverage_refusal *refusal = &coverage->refusals[i];
    if (refusal->n_cases > 0) {
      text_format(out, "  %-15s %d\n", assay_code_name(refusal->code), refusal->n_cases);
    }
  }
  bool first = true;
  for (int32_t i = 0; i < coverage->n_refusals; i++) {
    const struct coverage_refusal *refusal = &coverage->refusals[i];
    if (refusal->n_cases == 0 && refusal->applies) {
      text_format(out, "%s%s", first ? "! never exercised: " : ", ", assay_code_name(refusal->code));
      first = false;
    }
  }
  text_add(out, first ? "" : "\n");
}

assay_status coverage_report_text(const struct coverage *coverage, struct text *out) {
  add_head(out, coverage);
  add_counts(out, coverage);
  add_tags(out, coverage);
  add_inputs(out, coverage);
  add_components(out, coverage);
  add_pairs(out, coverage);
  add_decisions(out, coverage);
  if (coverage->corpus->role == CORPUS_GOLDEN) {
    add_refusals(out, coverage);
  }
  for (int32_t i = 0; i < coverage->n_notes; i++) {
    text_add(out, i == 0 ? "\n! " : "! ");
    text_add_shown(out, coverage->notes[i]);
    text_add(out, "\n");
  }
  if (coverage->contract == NULL) {
    text_add(out, "\n(without a contract: no ranges, units or decisions to hold this against)\n");
  }
  return text_status(out);
}
