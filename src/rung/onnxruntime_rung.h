/* Between the files of the ONNX Runtime rung: what a session is opened with, and where its nodes went. */
#ifndef RUNG_ONNXRUNTIME_RUNG_H
#define RUNG_ONNXRUNTIME_RUNG_H

#include "rung/onnxruntime_api.h"
#include "rung/rung.h"

/* Options of a session as the gate asks for them. Lists end with their count. */
struct ort_request {
  const char *model_path, *provider; /* "cpu", "cuda", "tensorrt", ... */
  const char *plugin;                /* a library that brings the provider; NULL: none */
  const char *optimization;          /* "all" when not said */
  int level, threads;
  bool parallel;
  size_t n_provider_options, n_config;
  const char **provider_keys, **provider_values, **config_keys, **config_values;
};
/* Reads settings; an unknown one is RUNG_SETTING. */
ASSAY_MUST_CHECK assay_status ort_request_read(const struct rung_request *request, struct arena *arena,
                                               struct ort_request *out);

/* Opens a session as asked. `profile` is the prefix of a profile's file name, or NULL. RUNTIME_MISSING when the
 * provider is not to be had; RUNG_FAILED when the model is not taken. The caller releases it. */
ASSAY_MUST_CHECK assay_status ort_session_open(const struct ort_library *library, ort_env *env,
                                               const struct ort_request *request, const char *profile,
                                               ort_session **out);

/* "CUDAExecutionProvider" to "cuda", in the arena; NULL without memory. */
const char *ort_provider_word(struct arena *arena, const char *name);

/* Which provider was given which node, by the library's own answer. `known` is false where this version has none. */
ASSAY_MUST_CHECK assay_status ort_placement_ask(const struct ort_library *library, const ort_session *session,
                                                struct arena *arena, const struct rung_placement **out, int32_t *count,
                                                bool *known);
/* The same from the text of a profile. */
ASSAY_MUST_CHECK assay_status ort_placement_parse(const char *profile, size_t size, struct arena *arena,
                                                  const struct rung_placement **out, int32_t *count);

#endif
