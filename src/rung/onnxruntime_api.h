/* ONNX Runtime's C API, as far as assay uses it: one versioned table of functions, whose places never change once a
 * version has shipped. Declared here from its documentation, so that no header of it is needed to build. The library is
 * loaded at run time and is never unloaded: it starts threads that outlive a session.
 *
 * Source: ONNX Runtime, "C API", structures OrtApiBase and OrtApi, versions 1 to 24. */
#ifndef RUNG_ONNXRUNTIME_API_H
#define RUNG_ONNXRUNTIME_API_H

#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/status.h"

/* Version of the table that assay asks for: that of 1.19, the first wheel with the C library. */
enum { ORT_API_ASKED = 19, ORT_API_ASSIGNMENT = 24, ORT_API_PLUGINS = 22 };

typedef struct ort_status ort_status; /* NULL: success */
typedef struct ort_env ort_env;
typedef struct ort_session ort_session;
typedef struct ort_options ort_options;
typedef struct ort_value ort_value;
typedef struct ort_memory ort_memory;
typedef struct ort_allocator ort_allocator;
typedef struct ort_shape ort_shape;
typedef struct ort_provider_options ort_provider_options;
typedef struct ort_device ort_device;
typedef struct ort_subgraph ort_subgraph;
typedef struct ort_node ort_node;

/* ORT_FUNCTION(place in the table, name, result, parameters) */
#define ORT_FUNCTIONS(ORT_FUNCTION)                                                                             \
  ORT_FUNCTION(2, error_message, const char *, (const ort_status *))                                            \
  ORT_FUNCTION(3, create_env, ort_status *, (int severity, const char *log_id, ort_env **))                     \
  ORT_FUNCTION(7, create_session, ort_status *,                                                                 \
               (const ort_env *, const char *model_path, const ort_options *, ort_session **))                  \
  ORT_FUNCTION(                                                                                                 \
      9, run, ort_status *,                                                                                     \
      (ort_session *, const void *run_options, const char *const *input_names, const ort_value *const *inputs,  \
       size_t n_inputs, const char *const *output_names, size_t n_outputs, ort_value **outputs))                \
  ORT_FUNCTION(10, create_options, ort_status *, (ort_options **))                                              \
  ORT_FUNCTION(13, set_execution_mode, ort_status *, (ort_options *, int mode))                                 \
  ORT_FUNCTION(14, enable_profiling, ort_status *, (ort_options *, const char *prefix))                         \
  ORT_FUNCTION(22, set_log_severity, ort_status *, (ort_options *, int severity))                               \
  ORT_FUNCTION(23, set_optimization, ort_status *, (ort_options *, int level))                                  \
  ORT_FUNCTION(24, set_intra_threads, ort_status *, (ort_options *, int threads))                               \
  ORT_FUNCTION(25, set_inter_threads, ort_status *, (ort_options *, int threads))                               \
  ORT_FUNCTION(31, output_count, ort_status *, (const ort_session *, size_t *))                                 \
  ORT_FUNCTION(37, output_name, ort_status *, (const ort_session *, size_t index, ort_allocator *, char **))    \
  ORT_FUNCTION(                                                                                                 \
      49, create_tensor, ort_status *,                                                                          \
      (const ort_memory *, void *data, size_t bytes, const int64_t *dims, size_t rank, int type, ort_value **)) \
  ORT_FUNCTION(50, is_tensor, ort_status *, (const ort_value *, int *))                                         \
  ORT_FUNCTION(51, tensor_data, ort_status *, (ort_value *, void **))                                           \
  ORT_FUNCTION(60, element_type, ort_status *, (const ort_shape *, int *))                                      \
  ORT_FUNCTION(61, dimension_count, ort_status *, (const ort_shape *, size_t *))                                \
  ORT_FUNCTION(62, dimensions, ort_status *, (const ort_shape *, int64_t *, size_t))                            \
  ORT_FUNCTION(65, tensor_shape, ort_status *, (const ort_value *, ort_shape **))                               \
  ORT_FUNCTION(69, create_cpu_memory, ort_status *, (int allocator, int kind, ort_memory **))                   \
  ORT_FUNCTION(76, allocator_free, ort_status *, (ort_allocator *, void *))                                     \
  ORT_FUNCTION(78, default_allocator, ort_status *, (ort_allocator **))                                         \
  ORT_FUNCTION(92, release_env, void, (ort_env *))                                                              \
  ORT_FUNCTION(93, release_status, void, (ort_status *))                                                        \
  ORT_FUNCTION(94, release_memory, void, (ort_memory *))                                                        \
  ORT_FUNCTION(95, release_session, void, (ort_session *))                                                      \
  ORT_FUNCTION(96, release_value, void, (ort_value *))                                                          \
  ORT_FUNCTION(99, release_shape, void, (ort_shape *))                                                          \
  ORT_FUNCTION(100, release_options, void, (ort_options *))                                                     \
  ORT_FUNCTION(110, end_profiling, ort_status *, (ort_session *, ort_allocator *, char **file))                 \
  ORT_FUNCTION(125, available_providers, ort_status *, (char ***, int *))                                       \
  ORT_FUNCTION(126, release_providers, ort_status *, (char **, int))                                            \
  ORT_FUNCTION(130, add_config, ort_status *, (ort_options *, const char *key, const char *value))              \
  ORT_FUNCTION(170, append_tensorrt, ort_status *, (ort_options *, const ort_provider_options *))               \
  ORT_FUNCTION(171, create_tensorrt, ort_status *, (ort_provider_options **))                                   \
  ORT_FUNCTION(172, update_tensorrt, ort_status *,                                                              \
               (ort_provider_options *, const char *const *keys, const char *const *values, size_t))            \
  ORT_FUNCTION(174, release_tensorrt, void, (ort_provider_options *))                                           \
  ORT_FUNCTION(204, append_cuda, ort_status *, (ort_options *, const ort_provider_options *))                   \
  ORT_FUNCTION(205, create_cuda, ort_status *, (ort_provider_options **))                                       \
  ORT_FUNCTION(206, update_cuda, ort_status *,                                                                  \
               (ort_provider_options *, const char *const *keys, const char *const *values, size_t))            \
  ORT_FUNCTION(208, release_cuda, void, (ort_provider_options *))                                               \
  ORT_FUNCTION(216, append_provider, ort_status *,                                                              \
               (ort_options *, const char *name, const char *const *keys, const char *const *values, size_t))   \
  ORT_FUNCTION(239, append_dnnl, ort_status *, (ort_options *, const ort_provider_options *))                   \
  ORT_FUNCTION(240, create_dnnl, ort_status *, (ort_provider_options **))                                       \
  ORT_FUNCTION(241, update_dnnl, ort_status *,                                                                  \
               (ort_provider_options *, const char *const *keys, const char *const *values, size_t))            \
  ORT_FUNCTION(243, release_dnnl, void, (ort_provider_options *))

/* From version 22 on: providers that live in libraries of their own. */
#define ORT_PLUGIN_FUNCTIONS(ORT_FUNCTION)                                                                   \
  ORT_FUNCTION(301, register_library, ort_status *, (ort_env *, const char *registration, const char *path)) \
  ORT_FUNCTION(303, devices, ort_status *, (const ort_env *, const ort_device *const **, size_t *))          \
  ORT_FUNCTION(304, append_devices, ort_status *,                                                            \
               (ort_options *, ort_env *, const ort_device *const *, size_t, const char *const *keys,        \
                const char *const *values, size_t))                                                          \
  ORT_FUNCTION(312, device_provider, const char *, (const ort_device *))

/* From version 24 on: which provider was given which node. */
#define ORT_ASSIGNMENT_FUNCTIONS(ORT_FUNCTION)                                                                \
  ORT_FUNCTION(407, assignment, ort_status *, (const ort_session *, const ort_subgraph *const **, size_t *))  \
  ORT_FUNCTION(408, subgraph_provider, ort_status *, (const ort_subgraph *, const char **))                   \
  ORT_FUNCTION(409, subgraph_nodes, ort_status *, (const ort_subgraph *, const ort_node *const **, size_t *)) \
  ORT_FUNCTION(410, node_name, ort_status *, (const ort_node *, const char **))                               \
  ORT_FUNCTION(412, node_operator, ort_status *, (const ort_node *, const char **))

/* A library that was loaded. Functions of a version that it lacks are NULL. */
struct ort_library {
  const char *path, *version; /* "1.32.0" */
  int api_version;            /* of the table: ORT_API_ASKED, or more where the library has more */
#define ORT_FUNCTION(place, name, result, parameters) result(*name) parameters;
  ORT_FUNCTIONS(ORT_FUNCTION) ORT_PLUGIN_FUNCTIONS(ORT_FUNCTION) ORT_ASSIGNMENT_FUNCTIONS(ORT_FUNCTION)
#undef ORT_FUNCTION
};

/* Loads the library: `path` when it is given, otherwise the first of: the folders of runtime_search_add, the loader's
 * own path. Fails with RUNTIME_MISSING, saying where was looked and what to install. Strings live in `arena`. */
ASSAY_MUST_CHECK assay_status ort_library_load(const char *path, struct arena *arena, struct ort_library *out);

/* Takes the message out of a status and frees it: RUNG_FAILED, or `code`, with what was being done. NULL is success. */
ASSAY_MUST_CHECK assay_status ort_check(const struct ort_library *library, ort_status *status, assay_code code,
                                        const char *doing);

#endif
