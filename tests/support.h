/* What every unit test includes: cmocka with its own includes, and the check of a status. */
#ifndef TESTS_SUPPORT_H
#define TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "core/status.h"

/* Fails the test, printing the sentence, unless the call succeeds. */
#define ASSERT_OK(call)                                                                                     \
  do {                                                                                                      \
    assay_status assert_status_ = (call);                                                                   \
    if (!assay_status_ok(assert_status_)) {                                                                 \
      print_error("%s: %s: %s\n", assay_code_name(assert_status_.code), assay_status_where(assert_status_), \
                  assay_status_sentence(assert_status_));                                                   \
      assay_status_clear(&assert_status_);                                                                  \
      fail();                                                                                               \
    }                                                                                                       \
  } while (0)

/* Fails the test unless the call fails with this code and a sentence that holds `part`. */
#define ASSERT_FAILS(call, expected, part)                                                                    \
  do {                                                                                                        \
    assay_status assert_status_ = (call);                                                                     \
    if (assert_status_.code != (expected) || strstr(assay_status_sentence(assert_status_), (part)) == NULL) { \
      print_error("expected %s with \"%s\", got %s: %s: %s\n", assay_code_name(expected), (part),             \
                  assay_code_name(assert_status_.code), assay_status_where(assert_status_),                   \
                  assay_status_sentence(assert_status_));                                                     \
      assay_status_clear(&assert_status_);                                                                    \
      fail();                                                                                                 \
    }                                                                                                         \
    assay_status_clear(&assert_status_);                                                                      \
  } while (0)

#endif
