/* The files of a policy of stages: which one each rung has for which stage, wired to the contract.
 * Nothing is run here. */
#ifndef GATE_STAGE_FILES_H
#define GATE_STAGE_FILES_H

#include "contract/stages.h"
#include "gate/gate_file.h"
#include "gate/result.h"

struct stage_files {
  const struct bound_stages *bound; /* NULL: no file is there, and no rung computes */
  const char *const *models;        /* the contract's own, one a stage; NULL unless all are there */
};

/* Gives every rung that computes the files of its stages, and wires the contract to them. `folder`: what
 * paths are shown relative to. */
ASSAY_MUST_CHECK assay_status stage_files_bind(const struct contract *contract, struct gate_rung *rungs,
                                               int32_t n_rungs, const char *folder, struct gate_result *result,
                                               struct stage_files *out);
/* "encoder.onnx, policy.onnx", as they read from the folder. */
ASSAY_MUST_CHECK assay_status stage_files_name(const struct rung_request *request, const char *folder,
                                               struct arena *arena, const char **out);

#endif
