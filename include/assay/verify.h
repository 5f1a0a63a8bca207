/* The gate: a policy folder in, a verdict out. What `assay verify FOLDER` does, without printing.
 *
 * Copyright the assay authors. SPDX-License-Identifier: Apache-2.0
 */
#ifndef ASSAY_VERIFY_H
#define ASSAY_VERIFY_H

#include <stdint.h>

#include "assay/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum assay_verdict {
  ASSAY_VERDICT_PASS = 0,   /* parity on this corpus; nothing is said about success at the task */
  ASSAY_VERDICT_REJECT = 1, /* a required rung differs by more than the contract allows */
  ASSAY_VERDICT_BLOCKED = 2 /* could not be measured */
} assay_verdict;

/* Everything that a gate found. Constant: any number of threads may read it. */
typedef struct assay_report assay_report;

/* Zero everywhere is a good choice. */
typedef struct assay_verify_options {
  const char *gate; /* another gate file than FOLDER/gate.yaml; NULL for none */
  int threads;      /* of rungs that do not say; 0: 1 */
} assay_verify_options;

/* Runs the whole gate. A REJECT is no failure: the status fails when what was handed in is wrong or
 * the machine is, and then *out is NULL. `options` may be NULL. Nothing is written to the folder. */
ASSAY_API ASSAY_MUST_CHECK assay_status assay_verify(const char *folder, const assay_verify_options *options,
                                                     assay_report **out);
/* NULL is harmless. */
ASSAY_API void assay_report_free(assay_report *report);

ASSAY_API assay_verdict assay_report_verdict(const assay_report *report);
/* What `assay verify` would exit with: 0 PASS, 1 REJECT, 2 wrong input, 3 BLOCKED. */
ASSAY_API int assay_report_exit_code(const assay_report *report);

/* Why the verdict is what it is. Strings live as long as the report; they are NULL, and numbers NaN or
 * -1, where they do not apply. */
typedef struct assay_reason {
  assay_code code;
  const char *sentence;
  const char *rung; /* NULL: of the gate as a whole */
  const char *output, *component, *case_id, *unit;
  int64_t step;
  double expected, actual, tolerance;
} assay_reason;
/* Reasons of the gate, then of each rung in the order of the ladder. */
ASSAY_API size_t assay_report_reason_count(const assay_report *report);
ASSAY_API assay_reason assay_report_reason(const assay_report *report, size_t i);

/* The text of verdict.json; lives as long as the report. */
ASSAY_API const char *assay_report_json(const assay_report *report);
/* Writes verdict.json and junit.xml into a folder: both or neither. */
ASSAY_API ASSAY_MUST_CHECK assay_status assay_report_write(const assay_report *report, const char *folder);

#ifdef __cplusplus
}
#endif
#endif
