/* From measurements to a rung's result: figures, verdicts per component and decision, and the reasons. */
#ifndef GATE_ASSEMBLE_H
#define GATE_ASSEMBLE_H

#include "gate/gate_file.h"
#include "gate/measure.h"
#include "gate/pass.h"

/* The reference's noise, per component of the plan. */
struct noise_floors {
  struct noise_arrays self, rounding, floor;
};
ASSAY_MUST_CHECK assay_status noise_floors_make(const struct plan *plan, struct arena *arena,
                                                const struct noise_arrays *self, const struct noise_arrays *rounding,
                                                struct noise_floors *out);

/* Everything of one rung that measuring brought forth. `gate_rung` gives the tolerances in force. */
struct rung_measured {
  const struct plan *plan;
  const struct gate_rung *gate_rung;
  const struct measure *measure;
  const struct pass *pass;
  const struct noise_floors *floors;
};
/* Fills components, outputs, decisions, noise and reasons in; the rung's verdict is the caller's. */
ASSAY_MUST_CHECK assay_status assemble_rung(const struct rung_measured *measured, struct arena *arena,
                                            struct rung_result *out);

/* Reasons of the gate as a whole that follow from the reference alone: UNSTABLE_REFERENCE and
 * GOLDEN_UNDECIDABLE. `history` of a live reference, or NULL. */
ASSAY_MUST_CHECK assay_status assemble_reference(const struct plan *plan, const struct measure *measure,
                                                 const struct noise_floors *floors, const struct noise_arrays *history,
                                                 const char *reference, struct arena *arena,
                                                 struct gate_reasons *reasons);

#endif
