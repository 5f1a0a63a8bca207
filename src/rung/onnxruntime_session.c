/* Opening a session of ONNX Runtime exactly as the gate asks: every option that is asked for is set or refused. A
 * provider that cannot be had is never replaced by another. */
#include <ctype.h>
#include <string.h>

#include "rung/onnxruntime_rung.h"

/* --- what was asked for ------------------------------------------------------------------ */

static const struct {
  const char *word;
  int level;
} levels[] = {{"disable", 0}, {"basic", 1}, {"extended", 2}, {"all", 99}};

static assay_status refuse(const struct rung_request *request, const struct rung_setting *setting, const char *may) {
  return status_make(ASSAY_RUNG_SETTING, request->name, "rung '%s' sets %s to '%s'; it may be %s", request->name,
                     setting->key, setting->value, may);
}

static assay_status read_level(const struct rung_request *request, const struct rung_setting *setting,
                               struct ort_request *out) {
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
    if (strcmp(levels[i].word, setting->value) == 0) {
      out->level = levels[i].level;
      out->optimization = levels[i].word;
      return status_ok();
    }
  }
  return refuse(request, setting, "disable, basic, extended or all");
}

static assay_status read_execution(const struct rung_request *request, const struct rung_setting *setting,
                                   struct ort_request *out) {
  out->parallel = strcmp(setting->value, "parallel") == 0;
  return out->parallel || strcmp(setting->value, "sequential") == 0
             ? status_ok()
             : refuse(request, setting, "sequential or parallel");
}

static const char provider_prefix[] = "provider_options.", config_prefix[] = "config.";

static assay_status read_setting(const struct rung_request *request, const struct rung_setting *setting,
                                 struct ort_request *out) {
  if (strcmp(setting->key, "optimization") == 0) {
    return read_level(request, setting, out);
  }
  if (strcmp(setting->key, "execution") == 0) {
    return read_execution(request, setting, out);
  }
  if (strcmp(setting->key, "plugin") == 0) {
    out->plugin = setting->value;
    return status_ok();
  }
  if (text_starts_with(setting->key, provider_prefix)) {
    out->provider_keys[out->n_provider_options] = setting->key + sizeof provider_prefix - 1;
    out->provider_values[out->n_provider_options++] = setting->value;
    return status_ok();
  }
  if (text_starts_with(setting->key, config_prefix)) {
    out->config_keys[out->n_config] = setting->key + sizeof config_prefix - 1;
    out->config_values[out->n_config++] = setting->value;
    return status_ok();
  }
  if (strcmp(setting->key, "library") == 0 || rung_setting_is_expectation(setting->key)) {
    return status_ok();
  }
  return status_make(ASSAY_RUNG_SETTING, request->name,
                     "rung '%s' sets '%s', which the engine onnxruntime does not have; it has library, optimization, "
                     "execution, plugin, provider_options and config",
                     request->name, setting->key);
}

assay_status ort_request_read(const struct rung_request *request, struct arena *arena, struct ort_request *out) {
  *out = (struct ort_request){.model_path = request->model_path,
                              .provider = request->provider != NULL ? request->provider : "cpu",
                              .optimization = "all",
                              .level = 99,
                              .threads = request->threads > 0 ? request->threads : 1};
  if (request->model_path == NULL) {
    return status_make(ASSAY_RUNG_SETTING, request->name, "rung '%s' has no model to run", request->name);
  }
  if (request->n_keep > 0) {
    return status_make(
        ASSAY_RUNG_SETTING, request->name,
        "rung '%s' keeps nodes in fp32, which ONNX Runtime cannot be asked for; it computes in the types of "
        "the model",
        request->name);
  }
  const size_t n = (size_t)request->n_settings + 1;
  ARENA_NEW(arena, out->provider_keys, n);
  ARENA_NEW(arena, out->provider_values, n);
  ARENA_NEW(arena, out->config_keys, n);
  ARENA_NEW(arena, out->config_values, n);
  for (int32_t i = 0; i < request->n_settings; i++) {
    TRY(read_setting(request, &request->settings[i], out));
  }
  return status_ok();
}

/* --- providers ---------------------------------------------------------------------------- */

const char *ort_provider_word(struct arena *arena, const char *name) {
  static const char ending[] = "ExecutionProvider";
  size_t length = strlen(name), tail = sizeof ending - 1;
  char *word =
      arena_copy(arena, name, length > tail && strcmp(name + length - tail, ending) == 0 ? length - tail : length);
  for (char *c = word; c != NULL && *c != '\0'; c++) {
    *c = (char)tolower((unsigned char)*c);
  }
  return word;
}

/* Is a provider of that word built into the library? Its full name, or NULL. */
static assay_status find_provider(const struct ort_library *library, const char *word, struct arena *arena,
                                  const char **out) {
  char **names = NULL;
  int count = 0;
  struct text list = {0};
  *out = NULL;
  TRY(ort_check(library, library->available_providers(&names, &count), ASSAY_RUNG_FAILED, "listing its providers"));
  for (int i = 0; i < count; i++) {
    const char *known = ort_provider_word(arena, names[i]);
    text_format(&list, "%s%s", i > 0 ? ", " : "", known != NULL ? known : "");
    if (known != NULL && strcmp(known, word) == 0) {
      *out = arena_string(arena, names[i]);
    }
  }
  assay_status status = *out != NULL ? status_ok()
                                     : status_make(ASSAY_RUNTIME_MISSING, library->path,
                                                   "ONNX Runtime %s has no provider '%s'; it has %s", library->version,
                                                   word, text_string(&list));
  text_free(&list);
  assay_status ignored = ort_check(library, library->release_providers(names, count), ASSAY_RUNG_FAILED, "tidying up");
  assay_status_clear(&ignored);
  return status;
}

/* CUDA, TensorRT and oneDNN: options in an object of their own. */
struct provider_door {
  const char *word;
  ort_status *(*create)(ort_provider_options **);
  ort_status *(*update)(ort_provider_options *, const char *const *, const char *const *, size_t);
  ort_status *(*append)(ort_options *, const ort_provider_options *);
  void (*release)(ort_provider_options *);
};

static assay_status append_by_door(const struct ort_library *library, const struct provider_door *door,
                                   const struct ort_request *request, ort_options *options) {
  ort_provider_options *own = NULL;
  TRY(ort_check(library, door->create(&own), ASSAY_RUNTIME_MISSING, "making the provider's options"));
  assay_status status = status_ok();
  if (request->n_provider_options > 0) {
    status = ort_check(library,
                       door->update(own, request->provider_keys, request->provider_values, request->n_provider_options),
                       ASSAY_RUNTIME_MISSING, "setting the provider's options");
  }
  if (assay_status_ok(status)) {
    status = ort_check(library, door->append(options, own), ASSAY_RUNTIME_MISSING, "adding the provider");
  }
  door->release(own);
  return status;
}

/* A provider in a library of its own: registered, then every device of that name. */
static assay_status append_plugin(const struct ort_library *library, ort_env *env, const struct ort_request *request,
                                  struct arena *arena, ort_options *options) {
  if (library->api_version < ORT_API_PLUGINS) {
    return status_make(ASSAY_RUNTIME_MISSING, library->path,
                       "ONNX Runtime %s takes no providers from libraries of their own; that began with 1.22",
                       library->version);
  }
  TRY(ort_check(library, library->register_library(env, request->provider, request->plugin), ASSAY_RUNTIME_MISSING,
                "registering the provider's library"));
  const ort_device *const *all = NULL, **chosen;
  size_t count = 0, n = 0;
  TRY(ort_check(library, library->devices(env, &all, &count), ASSAY_RUNTIME_MISSING, "listing devices"));
  ARENA_NEW(arena, chosen, count + 1);
  for (size_t i = 0; i < count; i++) {
    const char *word = ort_provider_word(arena, library->device_provider(all[i]));
    if (word != NULL && strcmp(word, request->provider) == 0) {
      chosen[n++] = all[i];
    }
  }
  if (n == 0) {
    return status_make(ASSAY_RUNTIME_MISSING, request->plugin,
                       "the library brings no device of a provider '%s' on this machine", request->provider);
  }
  return ort_check(library,
                   library->append_devices(options, env, chosen, n, request->provider_keys, request->provider_values,
                                           request->n_provider_options),
                   ASSAY_RUNTIME_MISSING, "adding the provider");
}

static assay_status append_provider(const struct ort_library *library, ort_env *env, const struct ort_request *request,
                                    struct arena *arena, ort_options *options) {
  const struct provider_door doors[] = {
      {"cuda", library->create_cuda, library->update_cuda, library->append_cuda, library->release_cuda},
      {"tensorrt", library->create_tensorrt, library->update_tensorrt, library->append_tensorrt,
       library->release_tensorrt},
      {"dnnl", library->create_dnnl, library->update_dnnl, library->append_dnnl, library->release_dnnl},
  };
  if (request->plugin != NULL) {
    return append_plugin(library, env, request, arena, options);
  }
  const char *name;
  TRY(find_provider(library, request->provider, arena, &name));
  if (strcmp(request->provider, "cpu") == 0) {
    return status_ok(); /* it is always there, and has no options */
  }
  for (size_t i = 0; i < sizeof doors / sizeof *doors; i++) {
    if (strcmp(doors[i].word, request->provider) == 0) {
      return append_by_door(library, &doors[i], request, options);
    }
  }
  char *word = arena_copy(arena, name, strlen(name) - strlen("ExecutionProvider"));
  if (word == NULL) {
    return status_no_memory(strlen(name));
  }
  return ort_check(library,
                   library->append_provider(options, word, request->provider_keys, request->provider_values,
                                            request->n_provider_options),
                   ASSAY_RUNTIME_MISSING, "adding the provider");
}

/* --- the session ---------------------------------------------------------------------------- */

static assay_status set_options(const struct ort_library *library, const struct ort_request *request,
                                const char *profile, ort_options *options) {
  const assay_code code = ASSAY_RUNG_FAILED;
  TRY(ort_check(library, library->set_log_severity(options, 4), code, "setting the level of its log"));
  TRY(ort_check(library, library->set_optimization(options, request->level), code, "setting the optimization"));
  TRY(ort_check(library, library->set_intra_threads(options, request->threads), code, "setting threads"));
  TRY(ort_check(library, library->set_inter_threads(options, request->parallel ? request->threads : 1), code,
                "setting threads"));
  TRY(ort_check(library, library->set_execution_mode(options, request->parallel ? 1 : 0), code,
                "setting the order of execution"));
  if (library->api_version >= ORT_API_ASSIGNMENT) {
    TRY(ort_check(library, library->add_config(options, "session.record_ep_graph_assignment_info", "1"), code,
                  "asking for placement"));
  }
  for (size_t i = 0; i < request->n_config; i++) {
    TRY(ort_check(library, library->add_config(options, request->config_keys[i], request->config_values[i]), code,
                  "setting `config`"));
  }
  return profile != NULL ? ort_check(library, library->enable_profiling(options, profile), code, "starting a profile")
                         : status_ok();
}

assay_status ort_session_open(const struct ort_library *library, ort_env *env, const struct ort_request *request,
                              const char *profile, ort_session **out) {
  ort_options *options = NULL;
  struct arena arena = {0};
  *out = NULL;
  if (strcmp(request->provider, "cpu") == 0 && request->n_provider_options > 0) {
    return status_make(ASSAY_RUNG_SETTING, request->model_path,
                       "provider_options are set, but the provider cpu has none");
  }
  assay_status status =
      ort_check(library, library->create_options(&options), ASSAY_RUNG_FAILED, "making the session's options");
  if (assay_status_ok(status)) {
    status = set_options(library, request, profile, options);
  }
  if (assay_status_ok(status)) {
    status = append_provider(library, env, request, &arena, options);
  }
  if (assay_status_ok(status)) {
    status = ort_check(library, library->create_session(env, request->model_path, options, out), ASSAY_RUNG_FAILED,
                       "loading the model");
  }
  if (options != NULL) {
    library->release_options(options);
  }
  arena_free(&arena);
  return status;
}
