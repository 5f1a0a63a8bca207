/* The answers of external monitors: see monitors.h. Silence and age are refusals of their own, so that a watcher that
 * died never reads as one that is content. */
#include "contract/monitors.h"

#include <string.h>

#include "contract/finite.h"
#include "core/text.h"

const char *const monitor_answer_names[MONITOR_ANSWERS] = {"missing", "clear", "tripped"};

static const struct monitor_reading *find_reading(const struct monitor_reading *readings, size_t count,
                                                  const char *name) {
  for (size_t i = 0; i < count; i++) {
    if (text_equal(readings[i].name, name)) {
      return readings[i].answer == MONITOR_SILENT ? NULL : &readings[i];
    }
  }
  return NULL;
}

/* Written so that an age that is NaN, negative or infinite is too old. */
static bool is_fresh(const struct contract_monitor *monitor, double age_ms) {
  return value_is_finite(age_ms) && age_ms >= 0 && age_ms <= monitor->max_age_ms;
}

static assay_status check_age(const struct contract_monitor *monitor, const struct monitor_reading *reading) {
  if (is_fresh(monitor, reading->age_ms)) {
    return status_ok();
  }
  return value_is_finite(reading->age_ms)
             ? status_make(ASSAY_MONITOR_STALE, monitor->name,
                           "the answer of monitor '%s' is %.9g ms old%s, but the contract allows %.9g ms",
                           monitor->name, reading->age_ms, reading->age_ms < 0 ? ", which lies in the future" : "",
                           monitor->max_age_ms)
             : status_make(ASSAY_MONITOR_STALE, monitor->name,
                           "the age of the answer of monitor '%s' is not known; the contract allows %.9g ms",
                           monitor->name, monitor->max_age_ms);
}

assay_status contract_check_monitors(const struct contract *contract, const struct monitor_reading *readings,
                                     size_t count) {
  for (int32_t m = 0; m < contract->n_monitors; m++) {
    const char *name = contract->monitors[m].name;
    if (find_reading(readings, count, name) == NULL) {
      return status_make(ASSAY_MONITOR_MISSING, name, "monitor '%s' gave no answer; the contract lists it at line %d",
                         name, (int)contract->monitors[m].mark.line);
    }
  }
  for (int32_t m = 0; m < contract->n_monitors; m++) {
    TRY(check_age(&contract->monitors[m], find_reading(readings, count, contract->monitors[m].name)));
  }
  for (int32_t m = 0; m < contract->n_monitors; m++) {
    if (find_reading(readings, count, contract->monitors[m].name)->answer != MONITOR_CLEAR) {
      return status_make(ASSAY_MONITOR_TRIPPED, contract->monitors[m].name, "monitor '%s' forbids to act",
                         contract->monitors[m].name);
    }
  }
  return status_ok();
}
