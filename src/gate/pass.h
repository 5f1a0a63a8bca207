/* One rung over all cases: once in order for its answers, then again in other orders
 * and in fresh sessions to learn how it differs from itself. Whatever goes wrong becomes a reason
 * of the rung; the gate goes on with the next. */
#ifndef GATE_PASS_H
#define GATE_PASS_H

#include "core/progress.h"
#include "gate/gate_file.h"
#include "gate/plan.h"
#include "gate/result.h"

/* Largest differences per component of a plan, raw and physical; NAN: not measured. */
struct noise_arrays {
  double *raw, *physical;
};
ASSAY_MUST_CHECK assay_status noise_arrays_make(const struct plan *plan, struct arena *arena, struct noise_arrays *out);

/* Takes each case's first answer; the answer is the pass's. */
typedef assay_status pass_sink(void *user, const struct fed_case *fed, int32_t valid, const struct answer *answer);

struct pass {
  struct plan *plan;
  const struct rung_request *request;
  const struct gate_noise *noise;
  const struct progress *progress;
  struct arena *arena;          /* of the result: reasons, what really ran */
  struct gate_reasons *reasons; /* of the rung */
  bool keep_answers;            /* of all cases; otherwise of the noise cases alone */
  pass_sink *sink;              /* NULL: none */
  void *sink_user;
  /* Filled in: */
  struct answer *answers; /* plan->n_valid; steps 0 where there is none */
  bool has_actual, wide;  /* wide: it computes in fp64 */
  struct rung_actual actual;
  struct noise_arrays self, history;
  struct noise_result done; /* what was repeated */
  int64_t cases_run, steps_run, time_ns;
};

/* Fails only on what no other rung would survive (memory, an input fault). */
ASSAY_MUST_CHECK assay_status pass_run(struct pass *pass);
void pass_free(struct pass *pass);

/* fp32 against fp64 of the same graph by assay's engine, over all cases. `graph` names its file or files alone.
 * `answers` are those of an fp32 pass over the same model, or NULL. Writes to noise->rounding_how why it could not
 * be measured. */
ASSAY_MUST_CHECK assay_status noise_rounding(struct plan *plan, const struct rung_request *graph, int threads,
                                             const struct answer *answers, const struct progress *progress,
                                             struct arena *arena, struct noise_arrays *out, struct noise_result *noise);
/* The recorded reference against its stored repeats. */
ASSAY_MUST_CHECK assay_status noise_recorded(struct plan *plan, struct arena *arena, struct noise_arrays *out,
                                             struct noise_result *noise);

#endif
