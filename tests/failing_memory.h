/* Runs something again and again, each time with another allocation failing, until it is
 * left alone. Every run but the last must answer OUT_OF_MEMORY; leaks are for ASan to see. */
#ifndef TESTS_FAILING_MEMORY_H
#define TESTS_FAILING_MEMORY_H

#include "core/memory.h"
#include "support.h"

/* `attempt` cleans up after itself, whatever it answers. */
static inline void fail_every_allocation(assay_status (*attempt)(void *), void *argument) {
  for (int64_t n = 0; n < 100000; n++) {
    memory_fail_at(n);
    assay_status status = attempt(argument);
    int64_t asked = memory_fail_at(-1);
    if (asked <= n) { /* nothing failed in this run */
      ASSERT_OK(status);
      return;
    }
    if (status.code != ASSAY_OUT_OF_MEMORY) {
      print_error("allocation %lld failed: expected OUT_OF_MEMORY, got %s: %s\n", (long long)n,
                  assay_code_name(status.code), assay_status_sentence(status));
    }
    assert_int_equal(status.code, ASSAY_OUT_OF_MEMORY);
    assay_status_clear(&status);
  }
  fail_msg("more than 100000 allocations");
}

#endif
