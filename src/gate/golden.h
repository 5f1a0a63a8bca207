/* Is the corpus fit to be compared with? Golden cases whose inputs the contract
 * refuses or whose answers are not finite, preprocessing and decoding that differ from what the
 * source recorded, and invalid cases that do not get their refusal. */
#ifndef GATE_GOLDEN_H
#define GATE_GOLDEN_H

#include "gate/plan.h"
#include "gate/result.h"

/* A golden case's inputs against the contract, its preprocessing and its decoding against what the
 * source recorded. Findings are reasons of the whole gate. */
ASSAY_MUST_CHECK assay_status golden_check_inputs(const struct plan *plan, const struct fed_case *fed,
                                                  struct arena *arena, struct gate_reasons *reasons);
/* The part of it that recomputes. */
ASSAY_MUST_CHECK assay_status golden_check_recomputed(const struct plan *plan, const struct fed_case *fed,
                                                      struct arena *arena, struct gate_reasons *reasons);
/* An answer that is to be compared with: complete, typed and shaped as the contract says, finite, and not
 * empty. `who` gave it; `wide`: in fp64. */
ASSAY_MUST_CHECK assay_status golden_check_answer(const struct plan *plan, const struct fed_case *fed,
                                                  const struct answer *answer, const char *who, bool wide,
                                                  struct arena *arena, struct gate_reasons *reasons);
/* Case i of the store, which must be refused. */
ASSAY_MUST_CHECK assay_status invalid_case_check(struct plan *plan, int32_t index, struct arena *arena,
                                                 struct invalid_case_result *out);

/* Adds `reason`, whose sentence, case and step are filled in here. */
ASSAY_MUST_CHECK assay_status golden_say(struct arena *arena, struct gate_reasons *reasons, struct gate_reason reason,
                                         const struct fed_case *fed, int64_t step, const char *format, ...)
    PRINTF_LIKE(6, 7);

#endif
