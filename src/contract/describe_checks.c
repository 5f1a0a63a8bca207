/* What the contract asks of the clock and of monitors, as statements. A monitor that is taken out lets more through. */
#include <math.h>

#include "contract/describe.h"
#include "contract/monitors.h"

void describe_checks(struct statements *out, const struct contract *contract) {
  describe_root(out, "freshness");
  describe_bound(out, STATEMENT_CEILING, "max skew", contract->max_skew_ms > 0 ? contract->max_skew_ms : (double)NAN,
                 "ms");
  describe_bound(out, STATEMENT_CEILING, "future", contract->future_ms, "ms");
  for (int32_t m = 0; m < contract->n_monitors; m++) {
    describe_root(out, "monitor %s", contract->monitors[m].name);
    describe_bound(out, STATEMENT_CEILING, "max age", contract->monitors[m].max_age_ms, "ms");
  }
}
