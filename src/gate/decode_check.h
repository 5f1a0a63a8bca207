/* What the source decoded (decoded/ of a case) against assay's decoding of its recorded outputs, and what explains a
 * difference. A hint is said only where it explains every recorded value of the case. */
#ifndef GATE_DECODE_CHECK_H
#define GATE_DECODE_CHECK_H

#include "gate/plan.h"
#include "gate/result.h"

/* One array of decoded/. */
struct decoded_array {
  const struct fed_case *fed;
  const struct contract_output *output;
  const assay_tensor *recorded, *raw; /* what was decoded, and the output that it was decoded from; all steps */
  int32_t component;                  /* -1: the whole output, in hardware order where there is one */
};
/* How far decoding is from what was recorded. */
struct decode_look {
  int64_t n, seen, step, horizon, element; /* compared, met, and where the worst is */
  double worst, expected, actual, scale;
};
/* Component c as recorded against component `made_of` decoded by `as`, a variant of the contract's output, with what
 * was measured `shift` steps later. */
ASSAY_MUST_CHECK assay_status decode_look(const struct decoded_array *array, const struct contract_output *as,
                                          int32_t c, int32_t made_of, int64_t shift, struct decode_look *out);
bool decode_agrees(const struct decode_look *look);
int64_t decoded_index(const struct decoded_array *array, const assay_tensor *view, int32_t c, int64_t step, int64_t i,
                      int64_t seen);

ASSAY_MUST_CHECK assay_status decode_check(const struct plan *plan, const struct fed_case *fed, struct arena *arena,
                                           struct gate_reasons *reasons);
/* A sentence about what explains the difference of component c; nothing where nothing does. */
ASSAY_MUST_CHECK assay_status decode_explain(const struct plan *plan, const struct decoded_array *array, int32_t c,
                                             struct text *out);

#endif
