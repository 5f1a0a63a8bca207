/* Loading OpenVINO's C library and finding its functions by name. Whatever goes wrong is a sentence that says where was
 * looked and what to install. */
#include <dlfcn.h>
#include <string.h>

#include "core/text.h"
#include "rung/openvino_api.h"
#include "rung/runtime_search.h"

static const char soname[] = "libopenvino_c.so";

/* ISO C has no cast from an object's address to a function's. */
static bool find(void *handle, const char *name, void *function) {
  void *symbol = dlsym(handle, name);
  memcpy(function, &symbol, sizeof symbol);
  return symbol != NULL;
}

static assay_status name_version(struct arena *arena, struct ov_library *out) {
  struct ov_version version = {0};
  TRY(ov_check(out, out->get_openvino_version(&version), ASSAY_RUNTIME_MISSING, "saying its version"));
  out->version = arena_string(arena, version.build != NULL ? version.build : "unknown");
  out->version_free(&version);
  return out->version != NULL ? status_ok() : status_no_memory(0);
}

static assay_status load_from(const char *path, struct arena *arena, struct ov_library *out) {
  TRY(runtime_check_file(path));
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    return status_make(ASSAY_RUNTIME_MISSING, path, "the library cannot be loaded: %s", dlerror());
  }
  const char *missing = NULL;
#define OV_FUNCTION(name, result, parameters)                      \
  if (missing == NULL && !find(handle, "ov_" #name, &out->name)) { \
    missing = "ov_" #name;                                         \
  }
  OV_FUNCTIONS(OV_FUNCTION)
#undef OV_FUNCTION
  out->path = arena_string(arena, path);
  if (out->path == NULL) {
    return status_no_memory(strlen(path));
  }
  if (missing != NULL) {
    return status_make(ASSAY_RUNTIME_MISSING, path,
                       "the library is not OpenVINO's C library, or older than 2023.1: it lacks %s", missing);
  }
  return name_version(arena, out);
}

static bool loader_has(void) {
  return dlopen(soname, RTLD_NOW | RTLD_LOCAL) != NULL; /* it stays loaded: load_from opens it again */
}

assay_status ov_library_load(const char *path, struct arena *arena, struct ov_library *out) {
  struct text tried = {0};
  *out = (struct ov_library){0};
  if (path != NULL) {
    return load_from(path, arena, out);
  }
  const char *found = NULL;
  assay_status status = runtime_find_wheel("openvino/libs/libopenvino_c.so", arena, &tried, &found);
  if (assay_status_ok(status) && found == NULL && loader_has()) {
    found = soname;
  }
  if (assay_status_ok(status)) {
    status = found != NULL ? load_from(found, arena, out)
                           : status_make(ASSAY_RUNTIME_MISSING, soname,
                                         "OpenVINO was found neither on the loader's path nor in %s; install it (pip "
                                         "install openvino), or name its C library with `library: PATH`",
                                         tried.length > 0 ? text_string(&tried) : "any Python installation");
  }
  text_free(&tried);
  return status;
}

assay_status ov_check(const struct ov_library *library, ov_status status, assay_code code, const char *doing) {
  if (status == 0) {
    return status_ok();
  }
  const char *words = library->get_last_err_msg != NULL ? library->get_last_err_msg() : NULL;
  if (words == NULL || *words == '\0') {
    words = library->get_error_info(status);
  }
  assay_status made = status_make(code, library->path, "OpenVINO %s failed while %s: %s",
                                  library->version != NULL ? library->version : "", doing, words);
  return made;
}
