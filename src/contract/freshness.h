/* Time: how one step's inputs stand to the clock, to each other, and to those of the steps before. Pure; the watches
 * are the caller's memory, so that nothing is allocated unless something is refused. */
#ifndef CONTRACT_FRESHNESS_H
#define CONTRACT_FRESHNESS_H

#include "contract/apply.h"

/* When a step's inputs were measured, on one clock. */
struct fed_times {
  double now_ms;          /* NAN: not known */
  const double *times_ms; /* of each input of the contract, in its order; NAN: not known. NULL: none is */
};

/* What one input was up to now. Zeroed at the start of an episode; one for each input of the contract. */
struct input_watch {
  bool seen, timed;
  double now_ms, time_ms;        /* of the last step that knew them; time_ms where `timed` */
  bool clocked;                  /* now_ms is known */
  uint64_t bytes;                /* digest of the last step's bytes: no cryptographic one */
  int64_t same_time, same_bytes; /* for how many steps the stamp, or the bytes, did not change */
};

/* INPUT_FUTURE: an input is younger than the contract's `freshness.future_ms` allows, as an age below 0 says.
 * INPUT_SKEW: the oldest and the youngest input are further apart than `freshness.max_skew_ms`. Ages that are not known
 * are not checked. contract_validate asks this too. */
ASSAY_MUST_CHECK assay_status contract_check_ages(const struct contract *contract, const struct fed_input *inputs,
                                                  size_t count);

/* The inputs of one step after those of the steps before. INPUT_BACKWARDS: a stamp, or the clock itself, lies before
 * that of an earlier step. INPUT_FROZEN: the stamp of an input, or every byte of it, has not changed for its
 * `frozen_after` steps. In that order; `times` may be NULL. The watches take the step up, refused or not. */
ASSAY_MUST_CHECK assay_status contract_watch(const struct contract *contract, const struct fed_input *inputs,
                                             size_t count, const struct fed_times *times, struct input_watch *watches);

/* The input of that name; NULL when it is not fed. */
const struct fed_input *find_fed(const struct fed_input *inputs, size_t count, const char *name);
/* The largest known age, which is that of the observation as a whole; NAN when none is known. */
double fed_oldest_ms(const struct fed_input *inputs, size_t count);

#endif
