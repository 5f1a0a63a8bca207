/* Making and passing on a status inside assay.
 * A function that fails returns status_make(...); one that calls another
 * forwards its failure with TRY(...). Nothing here prints or aborts. */
#ifndef CORE_STATUS_H
#define CORE_STATUS_H

#include <stdarg.h>

#include "assay/status.h"

#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))

/* Success. */
static inline assay_status status_ok(void) { return (assay_status){ASSAY_OK, NULL}; }

/* A failure with its place and one sentence. `where` may be NULL or "". When
 * not even the sentence can be allocated, the code alone is kept. */
ASSAY_MUST_CHECK assay_status status_make(assay_code code, const char *where, const char *format, ...)
    PRINTF_LIKE(3, 4);
/* The same for functions that take a sentence themselves. */
ASSAY_MUST_CHECK assay_status status_make_va(assay_code code, const char *where, const char *format, va_list arguments);

/* Puts `prefix` (printf style) and ": " before the sentence of a failure, for
 * callers that know more; success passes unchanged. Takes over `status`. */
ASSAY_MUST_CHECK assay_status status_prefix(assay_status status, const char *format, ...) PRINTF_LIKE(2, 3);

/* Shorthand for the most frequent failure. */
ASSAY_MUST_CHECK assay_status status_no_memory(size_t bytes);

/* Returns from the calling function when `call` failed. Only where nothing has
 * to be cleaned up; elsewhere use TRY_GOTO with one label at the end. */
#define TRY(call)                        \
  do {                                   \
    assay_status try_status_ = (call);   \
    if (!assay_status_ok(try_status_)) { \
      return try_status_;                \
    }                                    \
  } while (0)

/* Keeps the failure in `status` and jumps to the place of clean-up. */
#define TRY_GOTO(status, call, label) \
  do {                                \
    (status) = (call);                \
    if (!assay_status_ok(status)) {   \
      goto label;                     \
    }                                 \
  } while (0)

#endif
