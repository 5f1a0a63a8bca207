/* What `assay corpus show` prints: a coverage as text for reading, or as JSON. Computes nothing. */
#ifndef REPORT_COVERAGE_REPORT_H
#define REPORT_COVERAGE_REPORT_H

#include "core/text.h"
#include "corpus/coverage.h"

/* Appends; what a reader should act on stands in lines that begin with "!". */
ASSAY_MUST_CHECK assay_status coverage_report_text(const struct coverage *coverage, struct text *out);
/* Appends one JSON object, documented in docs/corpus.md. */
ASSAY_MUST_CHECK assay_status coverage_report_json(const struct coverage *coverage, struct text *out);

#endif
