/* Monotonic time and the date. Never used to decide anything: results must not
 * depend on when they were computed. */
#include "core/clock.h"

#include <stdio.h>
#include <time.h>

int64_t clock_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void clock_date(char out[CLOCK_DATE_SIZE]) {
  time_t now = time(NULL);
  struct tm utc;
  if (gmtime_r(&now, &utc) == NULL || strftime(out, CLOCK_DATE_SIZE, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0) {
    snprintf(out, CLOCK_DATE_SIZE, "1970-01-01T00:00:00Z");
  }
}
