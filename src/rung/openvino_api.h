/* OpenVINO's C API, as far as assay uses it: functions found by name in a library that is loaded at run time. Declared
 * here from its documentation, so that no header of it is needed to build. The library is never unloaded: it starts
 * threads.
 *
 * Element types have no numbers here: they changed between versions, so a type is always taken from a port of the
 * model, whose dtype assay knows from the file.
 *
 * Source: OpenVINO, "OpenVINO Runtime C API", 2023.1 and newer. */
#ifndef RUNG_OPENVINO_API_H
#define RUNG_OPENVINO_API_H

#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/status.h"

typedef int ov_status; /* 0: success */
typedef struct ov_core ov_core;
typedef struct ov_model ov_model;
typedef struct ov_compiled ov_compiled;
typedef struct ov_infer ov_infer;
typedef struct ov_port ov_port;
typedef struct ov_tensor ov_tensor;

struct ov_shape {
  int64_t rank;
  int64_t *dims;
};
struct ov_version {
  const char *build, *description;
};
struct ov_profile_entry {
  int status; /* 2: executed */
  int64_t real_us, cpu_us;
  const char *node, *exec_type, *node_type;
};
struct ov_profile {
  struct ov_profile_entry *entries;
  size_t count;
};

/* OV_FUNCTION(name without "ov_", result, parameters) */
#define OV_FUNCTIONS(OV_FUNCTION)                                                                                   \
  OV_FUNCTION(get_openvino_version, ov_status, (struct ov_version *))                                               \
  OV_FUNCTION(version_free, void, (struct ov_version *))                                                            \
  OV_FUNCTION(get_error_info, const char *, (ov_status))                                                            \
  OV_FUNCTION(get_last_err_msg, const char *, (void))                                                               \
  OV_FUNCTION(free, void, (const char *))                                                                           \
  OV_FUNCTION(core_create, ov_status, (ov_core **))                                                                 \
  OV_FUNCTION(core_free, void, (ov_core *))                                                                         \
  OV_FUNCTION(core_read_model, ov_status, (const ov_core *, const char *path, const char *weights, ov_model **))    \
  OV_FUNCTION(core_compile_model, ov_status,                                                                        \
              (const ov_core *, const ov_model *, const char *device, size_t n_arguments, ov_compiled **, ...))     \
  OV_FUNCTION(model_free, void, (ov_model *))                                                                       \
  OV_FUNCTION(compiled_model_free, void, (ov_compiled *))                                                           \
  OV_FUNCTION(compiled_model_outputs_size, ov_status, (const ov_compiled *, size_t *))                              \
  OV_FUNCTION(compiled_model_output_by_name, ov_status, (const ov_compiled *, const char *name, ov_port **))        \
  OV_FUNCTION(compiled_model_input_by_name, ov_status, (const ov_compiled *, const char *name, ov_port **))         \
  OV_FUNCTION(compiled_model_get_property, ov_status, (const ov_compiled *, const char *key, char **value))         \
  OV_FUNCTION(compiled_model_create_infer_request, ov_status, (const ov_compiled *, ov_infer **))                   \
  OV_FUNCTION(infer_request_free, void, (ov_infer *))                                                               \
  OV_FUNCTION(infer_request_set_tensor, ov_status, (ov_infer *, const char *name, const ov_tensor *))               \
  OV_FUNCTION(infer_request_infer, ov_status, (ov_infer *))                                                         \
  OV_FUNCTION(infer_request_get_tensor_by_const_port, ov_status, (const ov_infer *, const ov_port *, ov_tensor **)) \
  OV_FUNCTION(infer_request_get_profiling_info, ov_status, (const ov_infer *, struct ov_profile *))                 \
  OV_FUNCTION(profiling_info_list_free, void, (struct ov_profile *))                                                \
  OV_FUNCTION(port_get_element_type, ov_status, (const ov_port *, int *))                                           \
  OV_FUNCTION(output_const_port_free, void, (ov_port *))                                                            \
  OV_FUNCTION(tensor_create_from_host_ptr, ov_status, (int type, struct ov_shape, void *data, ov_tensor **))        \
  OV_FUNCTION(tensor_get_element_type, ov_status, (const ov_tensor *, int *))                                       \
  OV_FUNCTION(tensor_get_shape, ov_status, (const ov_tensor *, struct ov_shape *))                                  \
  OV_FUNCTION(tensor_get_byte_size, ov_status, (const ov_tensor *, size_t *))                                       \
  OV_FUNCTION(tensor_data, ov_status, (const ov_tensor *, void **))                                                 \
  OV_FUNCTION(tensor_free, void, (ov_tensor *))                                                                     \
  OV_FUNCTION(shape_free, ov_status, (struct ov_shape *))

struct ov_library {
  const char *path, *version; /* "2026.4.1-22982-..." */
#define OV_FUNCTION(name, result, parameters) result(*name) parameters;
  OV_FUNCTIONS(OV_FUNCTION)
#undef OV_FUNCTION
};

/* Loads the library: `path` when it is given, otherwise the first of: the folders of runtime_search_add, the loader's
 * own path. Fails with RUNTIME_MISSING, saying where was looked and what to install. Strings live in `arena`. */
ASSAY_MUST_CHECK assay_status ov_library_load(const char *path, struct arena *arena, struct ov_library *out);

/* RUNG_FAILED, or `code`, with what was being done and OpenVINO's own words. 0 is success. */
ASSAY_MUST_CHECK assay_status ov_check(const struct ov_library *library, ov_status status, assay_code code,
                                       const char *doing);

#endif
