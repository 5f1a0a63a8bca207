/* A gate's result as people and programs read it. Nothing here computes a figure or
 * a verdict: what is shown stands in the result. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "core/text.h"
#include "gate/result.h"

/* verdict.json, as docs/verdict.schema.json describes it. Same inputs, same bytes, but for `environment`. */
ASSAY_MUST_CHECK assay_status report_json(const struct gate_result *result, struct text *out);
/* JUnit's XML: one test suite a rung, one test case a component, decision and invalid case. */
ASSAY_MUST_CHECK assay_status report_junit(const struct gate_result *result, struct text *out);

struct terminal_options {
  bool color, verbose, quiet;
};
/* The table made for reading. */
ASSAY_MUST_CHECK assay_status report_terminal(const struct gate_result *result, const struct terminal_options *options,
                                              struct text *out);

/* Writes verdict.json and junit.xml into `folder`: both or neither; what stood there before stays whole on
 * failure. */
ASSAY_MUST_CHECK assay_status report_write(const struct gate_result *result, const char *folder);

#endif
