/* Whether a rung that says fp32 errs as another precision does: TF32, bfloat16 or fp16. Found by holding its error
 * against what the engine's own emulations of them err by, on the same cases. */
#ifndef GATE_PRECISION_FIT_H
#define GATE_PRECISION_FIT_H

#include "gate/measure.h"

struct precision_fit {
  struct plan *plan;
  const struct measure *measure;    /* of the rung */
  const double *floor;              /* raw noise floor, per component of the plan */
  const struct answer *reference;   /* per valid case; NULL: the recorded answers */
  const struct rung_request *graph; /* names the model, or the files of its stages */
  const struct rung_request *rung;  /* what was asked for */
  const struct rung_actual *actual; /* what it says it ran */
  int threads;
};
/* Adds RUNG_IS_TF32, RUNG_IS_BF16 or RUNG_IS_FP16 where one fits: the rung says fp32, its error lies far above the
 * floor, and in every component near what that emulation errs by, and nearer than to the others'. Looks at the first
 * cases alone; does nothing where there is no model, or nothing far above the floor. */
ASSAY_MUST_CHECK assay_status precision_fit_check(const struct precision_fit *fit, struct arena *arena,
                                                  struct gate_reasons *reasons);

/* The choice alone: root mean squares of the rung's error and of each emulation's, per component (0: no error). The
 * index of the emulation that fits, or -1. */
int precision_fit_choose(const double *rung, const double *const *emulated, int n_emulated, int32_t n_components);

#endif
