/* External monitors: watchers beside the policy, such as a collision monitor, that the guard asks before it lets an
 * action through. Pure; nothing is allocated unless something is refused. */
#ifndef CONTRACT_MONITORS_H
#define CONTRACT_MONITORS_H

#include "contract/contract.h"

/* A monitor that the guard asks. One that gives no answer is a refusal: there is no other meaning of silence. */
struct contract_monitor {
  const char *name;
  struct mark mark;
  double max_age_ms; /* how old its answer may be */
};

enum monitor_answer {
  MONITOR_SILENT,  /* it was asked and gave no answer */
  MONITOR_CLEAR,   /* nothing stands against the action */
  MONITOR_TRIPPED, /* it forbids to act */
  MONITOR_ANSWERS
};
/* "missing", "clear", "tripped". */
extern const char *const monitor_answer_names[MONITOR_ANSWERS];

struct monitor_reading {
  const char *name;
  enum monitor_answer answer;
  double age_ms; /* NAN: not known, which a monitor's answer may not be */
};

/* All monitors of the contract must be clear: MONITOR_MISSING, MONITOR_STALE, MONITOR_TRIPPED, each kind over all
 * monitors before the next, or ASSAY_OK. A monitor that the contract does not list is not looked at. */
ASSAY_MUST_CHECK assay_status contract_check_monitors(const struct contract *contract,
                                                      const struct monitor_reading *readings, size_t count);

#endif
