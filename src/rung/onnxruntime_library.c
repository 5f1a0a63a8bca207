/* Loading ONNX Runtime's shared library and filling the table of its functions. Whatever goes wrong is a sentence that
 * says where was looked and what to install; nothing is ever replaced by something else. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "rung/onnxruntime_api.h"
#include "rung/runtime_search.h"

static const char soname[] = "libonnxruntime.so";

/* What the library exports: the door to the table. */
struct ort_base {
  const void *(*table)(uint32_t version);
  const char *(*version)(void);
};
typedef const struct ort_base *ort_base_get(void);

/* ISO C has no cast from an object's address to a function's. */
static void place(void *function, const void *const *table, size_t index) {
  memcpy(function, &table[index], sizeof table[index]);
}

/* The version of 1.19 is asked for first, then more of what assay can use. */
static assay_status fill(const struct ort_base *base, struct ort_library *out) {
  const void *const *table = base->table(ORT_API_ASKED);
  if (table == NULL) {
    return status_make(ASSAY_RUNTIME_MISSING, out->path,
                       "this is ONNX Runtime %s, which lacks version %d of its C API; install 1.19 or newer",
                       out->version, (int)ORT_API_ASKED);
  }
#define ORT_FUNCTION(index, name, result, parameters) place(&out->name, table, index);
  ORT_FUNCTIONS(ORT_FUNCTION)
  out->api_version = ORT_API_ASKED;
  long minor = strncmp(out->version, "1.", 2) == 0 ? strtol(out->version + 2, NULL, 10) : 0;
  if (minor >= ORT_API_PLUGINS && base->table(ORT_API_PLUGINS) != NULL) {
    ORT_PLUGIN_FUNCTIONS(ORT_FUNCTION)
    out->api_version = ORT_API_PLUGINS;
  }
  if (minor >= ORT_API_ASSIGNMENT && base->table(ORT_API_ASSIGNMENT) != NULL) {
    ORT_ASSIGNMENT_FUNCTIONS(ORT_FUNCTION)
    out->api_version = ORT_API_ASSIGNMENT;
  }
#undef ORT_FUNCTION
  return status_ok();
}

static assay_status load_from(const char *path, struct arena *arena, struct ort_library *out) {
  TRY(runtime_check_file(path));
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    return status_make(ASSAY_RUNTIME_MISSING, path, "the library cannot be loaded: %s", dlerror());
  }
  ort_base_get *get = NULL;
  void *symbol = dlsym(handle, "OrtGetApiBase");
  memcpy(&get, &symbol, sizeof get);
  const struct ort_base *base = get != NULL ? get() : NULL;
  if (base == NULL || base->table == NULL || base->version == NULL || base->version() == NULL) {
    return status_make(ASSAY_RUNTIME_MISSING, path, "the library is not ONNX Runtime: it has no usable OrtGetApiBase");
  }
  out->path = arena_string(arena, path);
  out->version = arena_string(arena, base->version());
  return out->path != NULL && out->version != NULL ? fill(base, out) : status_no_memory(strlen(path));
}

/* Is it on the loader's own path? */
static bool loader_has(void) {
  void *handle = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
  return handle != NULL; /* it stays loaded: load_from opens it again */
}

assay_status ort_library_load(const char *path, struct arena *arena, struct ort_library *out) {
  struct text tried = {0};
  *out = (struct ort_library){0};
  if (path != NULL) {
    return load_from(path, arena, out);
  }
  const char *found = NULL;
  assay_status status = runtime_find_wheel("onnxruntime/capi/libonnxruntime.so", arena, &tried, &found);
  if (assay_status_ok(status) && found == NULL && loader_has()) {
    found = soname;
  }
  if (assay_status_ok(status)) {
    status = found != NULL
                 ? load_from(found, arena, out)
                 : status_make(ASSAY_RUNTIME_MISSING, soname,
                               "ONNX Runtime was found neither on the loader's path nor in %s; install it (pip "
                               "install onnxruntime), or name its library with `settings: {library: PATH}`",
                               tried.length > 0 ? text_string(&tried) : "any Python installation");
  }
  text_free(&tried);
  return status;
}

assay_status ort_check(const struct ort_library *library, ort_status *status, assay_code code, const char *doing) {
  if (status == NULL) {
    return status_ok();
  }
  assay_status made = status_make(code, library->path, "ONNX Runtime %s failed while %s: %s", library->version, doing,
                                  library->error_message(status));
  library->release_status(status);
  return made;
}
