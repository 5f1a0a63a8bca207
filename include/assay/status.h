/* Status: how every fallible function of assay answers.
 *
 * A status is success, or a stable code with one English sentence. The library
 * never prints, never exits, never aborts and never reads the environment; all
 * it has to say about a failure is in the status it returns.
 *
 * Copyright the assay authors. SPDX-License-Identifier: Apache-2.0
 */
#ifndef ASSAY_STATUS_H
#define ASSAY_STATUS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ASSAY_API __attribute__((visibility("default")))
#define ASSAY_MUST_CHECK __attribute__((warn_unused_result))
#else
#define ASSAY_API
#define ASSAY_MUST_CHECK
#endif

/* Every code that assay can give: errors of reading, findings of `check`,
 * reasons of a verdict. The table assay/codes.inc is the one source; the
 * documentation docs/codes.md and `assay explain-code` are made from it. */
typedef enum assay_code {
  ASSAY_OK = 0,
#define ASSAY_CODE(name, kind, meaning, remedy) ASSAY_##name,
#include "assay/codes.inc"
#undef ASSAY_CODE
  ASSAY_CODE_COUNT
} assay_code;

/* What a code says about the work in hand; decides the exit code of the
 * program (in brackets). */
typedef enum assay_code_kind {
  ASSAY_KIND_OK = 0,  /* nothing is wrong (0) */
  ASSAY_KIND_INPUT,   /* what was handed in is wrong (2) */
  ASSAY_KIND_REJECT,  /* a candidate differs from the reference (1) */
  ASSAY_KIND_BLOCKED, /* could not be measured (3) */
  ASSAY_KIND_NOTE,    /* worth saying, decides nothing (0) */
  ASSAY_KIND_INTERNAL /* a fault of assay or of the machine (4) */
} assay_code_kind;

struct assay_error; /* the sentence and its place; internal */

/* Returned by value. `detail` is NULL for success and owned by whoever holds
 * the status: hand it on by returning it, or end it with assay_status_clear. */
typedef struct assay_status {
  assay_code code;
  struct assay_error *detail;
} assay_status;

/* True when nothing failed. */
static inline bool assay_status_ok(assay_status status) { return status.code == ASSAY_OK; }

/* The sentence for the person at the keyboard, without a final newline: the
 * file, the line or tensor, what was found, what was expected, what to do.
 * Never NULL; valid until the status is cleared. */
ASSAY_API const char *assay_status_sentence(assay_status status);

/* Where it was found ("policy.onnx", "contract.yaml:12:5", "node 'Relu_3'"),
 * or "" when the sentence has no place. Valid until the status is cleared. */
ASSAY_API const char *assay_status_where(assay_status status);

/* Frees the sentence and makes *status success. Harmless on success. */
ASSAY_API void assay_status_clear(assay_status *status);

/* "DRIFT_MAX" for ASSAY_DRIFT_MAX; "OK" for ASSAY_OK. Never NULL. */
ASSAY_API const char *assay_code_name(assay_code code);
/* The code of that name; ASSAY_CODE_COUNT when there is none. */
ASSAY_API assay_code assay_code_find(const char *name);
ASSAY_API assay_code_kind assay_code_kind_of(assay_code code);
/* What the code means, and what to do about it: one or two sentences each. */
ASSAY_API const char *assay_code_meaning(assay_code code);
ASSAY_API const char *assay_code_remedy(assay_code code);

#ifdef __cplusplus
}
#endif
#endif
