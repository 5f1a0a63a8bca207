/* What was asked for against what really ran. It looks at no number that a rung answered: a rung that
 * ran as something else is invalid however well it agrees. */
#include <string.h>

#include "rung/rung.h"

static const char *const expectations[] = {"device", "version", "tf32", "accumulator", "allow_fallback"};
enum { EXPECTATIONS = sizeof expectations / sizeof expectations[0] };

bool rung_setting_is_expectation(const char *key) {
  for (size_t i = 0; i < EXPECTATIONS; i++) {
    if (strcmp(expectations[i], key) == 0) {
      return true;
    }
  }
  return false;
}

bool rung_setting_is_common(const char *key) {
  static const char *const common[] = {"library",   "optimization", "execution",    "plugin",     "provider_options",
                                       "config",    "runtime",      "module",       "checkpoint", "python",
                                       "arguments", "results",      "deterministic"};
  for (size_t i = 0; i < sizeof common / sizeof *common; i++) {
    if (strcmp(common[i], key) == 0) {
      return true;
    }
  }
  return false;
}

bool rung_setting_is_path(const char *key) {
  static const char *const paths[] = {"library", "plugin", "module", "checkpoint", "python"};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    if (strcmp(paths[i], key) == 0) {
      return true;
    }
  }
  return false;
}

const char *rung_setting_find(const struct rung_request *request, const char *key) {
  for (int32_t i = 0; i < request->n_settings; i++) {
    if (strcmp(request->settings[i].key, key) == 0) {
      return request->settings[i].value;
    }
  }
  return NULL;
}

static assay_status refuse_setting(const struct rung_request *request, const char *key, const char *const *allowed,
                                   size_t count) {
  struct text words = {0};
  for (size_t i = 0; i < count + EXPECTATIONS; i++) {
    text_format(&words, "%s%s", i > 0 ? ", " : "", i < count ? allowed[i] : expectations[i - count]);
  }
  assay_status status = status_make(ASSAY_RUNG_SETTING, request->name,
                                    "rung '%s' sets '%s', which the engine '%s' does not have; it has %s",
                                    request->name, key, request->engine, text_string(&words));
  text_free(&words);
  return status;
}

assay_status rung_settings_check(const struct rung_request *request, const char *const *allowed, size_t count) {
  for (int32_t i = 0; i < request->n_settings; i++) {
    const char *key = request->settings[i].key;
    bool found = rung_setting_is_expectation(key);
    for (size_t a = 0; a < count && !found; a++) {
      found = strcmp(allowed[a], key) == 0;
    }
    if (!found) {
      return refuse_setting(request, key, allowed, count);
    }
  }
  return status_ok();
}

static assay_status differs(const struct rung_request *request, const char *what, const char *asked,
                            const char *actual) {
  if (actual == NULL) {
    return status_make(ASSAY_RUNG_INVALID, request->name,
                       "rung '%s' asked for %s %s, and the runtime does not say what it ran", request->name, what,
                       asked);
  }
  return status_make(ASSAY_RUNG_INVALID, request->name,
                     "rung '%s' asked for %s %s, but %s ran; its numbers say nothing about %s", request->name, what,
                     asked, actual, asked);
}

static assay_status check_word(const struct rung_request *request, const char *what, const char *asked,
                               const char *actual) {
  if (asked == NULL || (actual != NULL && strcmp(asked, actual) == 0)) {
    return status_ok();
  }
  return differs(request, what, asked, actual);
}

static bool is_kept(const struct rung_request *request, const char *node) {
  for (int32_t i = 0; i < request->n_keep; i++) {
    if (strcmp(request->keep[i], node) == 0) {
      return true;
    }
  }
  return false;
}

static assay_status check_placement(const struct rung_request *request, const char *precision,
                                    const struct rung_actual *actual) {
  const char *fallback = rung_setting_find(request, "allow_fallback");
  for (int32_t i = 0; i < actual->n_placement; i++) {
    const struct rung_placement *node = &actual->placement[i];
    bool elsewhere =
        request->provider != NULL && node->provider != NULL && strcmp(node->provider, request->provider) != 0;
    if (elsewhere && (fallback == NULL || strcmp(fallback, "true") != 0)) {
      return status_make(ASSAY_RUNG_INVALID, request->name,
                         "rung '%s' asked for provider %s, but node '%s' ran on %s; set allow_fallback: true if that "
                         "is meant",
                         request->name, request->provider, node->node, node->provider);
    }
    if (precision != NULL && node->precision != NULL && strcmp(node->precision, precision) != 0 &&
        !is_kept(request, node->node)) {
      return status_make(ASSAY_RUNG_INVALID, request->name,
                         "rung '%s' asked for precision %s, but node '%s' ran in %s and is not listed under keep",
                         request->name, precision, node->node, node->precision);
    }
  }
  return status_ok();
}

/* A remote rung is what runs on the other machine. */
static const char *engine_asked(const struct rung_request *request) {
  const char *runtime = rung_setting_find(request, "runtime");
  if (strcmp(request->engine, "remote") != 0) {
    return request->engine;
  }
  return runtime != NULL ? runtime : "assay";
}

assay_status rung_check_actual(const struct rung_request *request, const struct rung_actual *actual) {
  bool recorded = strcmp(request->engine, "recorded") == 0;
  const char *typed = actual->model_precision != NULL ? actual->model_precision : "fp32";
  const char *precision = request->precision == NULL && !recorded ? typed : request->precision;
  const char *tf32 = rung_setting_find(request, "tf32");
  if (!recorded) {
    TRY(check_word(request, "engine", engine_asked(request), actual->engine));
  }
  TRY(check_word(request, "precision", precision, actual->precision));
  TRY(check_word(request, "provider", request->provider, actual->provider));
  TRY(check_word(request, "device", rung_setting_find(request, "device"), actual->device));
  TRY(check_word(request, "version", rung_setting_find(request, "version"), actual->version));
  TRY(check_word(request, "accumulator", rung_setting_find(request, "accumulator"), actual->accumulator));
  if (tf32 == NULL && precision != NULL && strcmp(precision, "fp32") == 0 && actual->tf32 != NULL) {
    tf32 = "off"; /* fp32 with TF32 operands is not fp32, unless that was asked for */
  }
  TRY(check_word(request, "tf32", tf32, actual->tf32));
  if (request->threads > 0 && actual->threads > 0 && request->threads != actual->threads) {
    return status_make(ASSAY_RUNG_INVALID, request->name, "rung '%s' asked for %d threads, but %d ran", request->name,
                       request->threads, actual->threads);
  }
  return check_placement(request, precision, actual);
}
