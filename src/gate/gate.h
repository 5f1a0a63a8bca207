/* The gate: contract, corpus and rungs in, a verdict out. `assay verify` is a thin coat around gate_run;
 * `compare` and `verify MODEL.onnx` hand the same machinery other cases. */
#ifndef GATE_GATE_H
#define GATE_GATE_H

#include "core/progress.h"
#include "gate/gate_file.h"
#include "gate/plan.h"
#include "gate/result.h"
#include "gate/sealed_look.h"

struct gate_options {
  const char *folder;              /* the policy folder */
  const char *gate_path;           /* NULL: gate.yaml in the folder */
  int threads;                     /* of rungs that do not say; 0: 1 */
  const struct progress *progress; /* NULL: silent */
  enum ledger_use ledger;          /* zero: none is looked at */
  const char *no_ledger;           /* why none is kept, with LEDGER_READ: one sentence */
  const struct gate_final *final;  /* NULL: the golden corpus is run; else the sealed one, on record */
};

/* The whole gate over a policy folder. Fails when the input is wrong or the machine is; every other
 * finding, a rejection too, is in the result, which the caller ends with gate_result_free. */
ASSAY_MUST_CHECK assay_status gate_run(const struct gate_options *options, struct gate_result **out);

/* Drift between fp32, fp64 and emulated precisions of a bare model on declared synthetic
 * inputs: headed "no contract, no verdict", always BLOCKED. */
ASSAY_MUST_CHECK assay_status gate_run_bare(const char *model_path, int threads, const struct progress *progress,
                                            struct gate_result **out);

/* Two run folders, the first as the reference. Without a contract (NULL) the tolerance is 0: equal
 * values pass, anything else is a REJECT. */
ASSAY_MUST_CHECK assay_status gate_compare(const char *reference, const char *candidate, const char *contract_path,
                                           struct gate_result **out);

/* What the three have in common: rungs over cases, judged. */
struct gate_work {
  const struct contract *contract;
  struct case_store cases; /* taken over */
  const struct gate_rung *rungs;
  int32_t n_rungs, reference_rung; /* -1: the cases' own outputs */
  const char *reference;
  const struct gate_noise *noise;
  const char *model_path;            /* of the graph whose rounding floor is measured; NULL: none */
  const struct bound_stages *stages; /* the same of a policy of stages, with a file for each; else NULL */
  const char *const *stage_models;
  const char *no_model; /* why there is none */
  bool outputs_only;    /* the cases store no inputs: recorded runs alone can be compared */
  bool no_verdict;      /* the reference may answer anything: it is only shown */
  int threads;
  const struct progress *progress;
};
/* Ends the store in `work`. Fills the result but for what the caller knows of files and folders. */
ASSAY_MUST_CHECK assay_status gate_measure(struct gate_work *work, struct gate_result *result);
ASSAY_MUST_CHECK assay_status gate_result_new(struct gate_result **out);
/* Adds a file's digest under its role. */
ASSAY_MUST_CHECK assay_status gate_result_file(struct gate_result *result, const char *role, const char *path,
                                               const char *shown);
/* Adds a model's digest, and those of the files that its weights lie in; shown as they read from `folder`. */
struct model;
ASSAY_MUST_CHECK assay_status gate_result_model(struct gate_result *result, const struct model *model,
                                                const char *folder);
/* `path` as it reads from the folder, where it lies inside. */
const char *gate_shown_path(const char *folder, const char *path);

#endif
