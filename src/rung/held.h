/* Private to rung/: what one stage hands to the next, copied, since a rung's own answer lives only until its next call.
 */
#ifndef RUNG_HELD_H
#define RUNG_HELD_H

#include "contract/stages.h"

/* A copy whose memory stays, so that a shape seen before allocates nothing. */
struct held {
  assay_tensor tensor;
  void *bytes;
  size_t capacity;
  bool there;
};
ASSAY_MUST_CHECK assay_status held_copy(struct held *held, const assay_tensor *tensor, const char *name);
ASSAY_MUST_CHECK assay_status held_widen(struct held *held, const assay_tensor *tensor); /* float32 to float64 */
/* The parts side by side, as the stage joins them; they have one shape but for the axis of a concatenation. */
ASSAY_MUST_CHECK assay_status held_join(const struct contract_stage *stage, const struct held *parts, int32_t count,
                                        const char *name, struct held *out);
void held_free(struct held *held, int32_t count); /* their memory; NULL is harmless */

#endif
