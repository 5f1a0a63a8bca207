/* Monotonic time in nanoseconds, and the date for reports. Thread-safe. */
#ifndef CORE_CLOCK_H
#define CORE_CLOCK_H

#include <stdint.h>

int64_t clock_now_ns(void);
/* "2026-12-01T09:30:00Z" */
enum { CLOCK_DATE_SIZE = 21 };
void clock_date(char out[CLOCK_DATE_SIZE]);

#endif
