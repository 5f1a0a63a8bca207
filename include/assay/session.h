/* Sessions: running a model with assay's own engine, which answers the same bits on every
 * processor and for every number of threads.
 *
 * Copyright the assay authors. SPDX-License-Identifier: Apache-2.0
 */
#ifndef ASSAY_SESSION_H
#define ASSAY_SESSION_H

#include "assay/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A model planned for one precision. One run at a time; distinct sessions, also of one
 * model, are independent. */
typedef struct assay_session assay_session;

/* What floats are stored and multiplied as. FP32 and FP64 compute in that type; the others
 * keep values in fp32, round after every operator and before every product, and add up
 * in fp32. */
typedef enum assay_precision {
  ASSAY_FP32 = 0,
  ASSAY_FP64 = 1,
  ASSAY_TF32 = 2,
  ASSAY_BF16 = 3,
  ASSAY_FP16 = 4
} assay_precision;

/* Zero everywhere is a good choice. */
typedef struct assay_session_options {
  assay_precision precision;
  int threads;      /* 0 and 1: the calling thread alone */
  size_t max_bytes; /* bound on working memory; 0: 8 GiB */
} assay_session_options;

/* A tensor under its name. */
typedef struct assay_named_tensor {
  const char *name;
  const assay_tensor *tensor;
} assay_named_tensor;

/* Plans the model, which must outlive the session. An operator that assay does not have fails
 * here and is named. `options` may be NULL. On failure *out is NULL. */
ASSAY_API ASSAY_MUST_CHECK assay_status assay_session_open(const assay_model *model,
                                                           const assay_session_options *options, assay_session **out);
/* NULL is harmless. */
ASSAY_API void assay_session_close(assay_session *session);

/* Runs once. Every input of the model must be given exactly once, by name. *outputs are views,
 * in the model's order, valid until the next run or close. An FP64 session gives float64 where
 * the model says float32. Runs with shapes seen before allocate nothing. */
ASSAY_API ASSAY_MUST_CHECK assay_status assay_session_run(assay_session *session, const assay_named_tensor *inputs,
                                                          size_t n_inputs, const assay_named_tensor **outputs,
                                                          size_t *n_outputs);

#ifdef __cplusplus
}
#endif
#endif
