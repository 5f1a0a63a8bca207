/* assay on another machine as a rung: a program that is started here, such as ssh, hands messages to `assay worker`
 * there. No port is opened, and both sides run the same bytes of the model. */
#include <string.h>

#include "rung/greeting.h"
#include "rung/isolated.h"
#include "rung/rung_kinds.h"

static const char runtime_setting[] = "runtime";

/* Everything but the setting that names the runtime goes to it. */
static assay_status without_runtime(const struct rung_request *request, struct arena *arena, struct rung_request *out) {
  struct rung_setting *settings;
  *out = *request;
  out->n_settings = 0;
  ARENA_NEW(arena, settings, request->n_settings + 1);
  for (int32_t i = 0; i < request->n_settings; i++) {
    const char *key = request->settings[i].key;
    if (strcmp(key, runtime_setting) != 0 && !rung_setting_is_expectation(key)) {
      settings[out->n_settings++] = request->settings[i];
    }
  }
  out->settings = settings;
  return status_ok();
}

static assay_status end_with_null(const struct rung_request *request, struct arena *arena, const char *const **out) {
  const char **command;
  ARENA_NEW(arena, command, request->n_command + 1);
  for (int32_t i = 0; i < request->n_command; i++) {
    command[i] = request->command[i];
  }
  *out = command;
  return status_ok();
}

static assay_status greet(const struct rung_request *request, struct arena *arena, struct text *greeting,
                          struct rung **out) {
  const char *runtime = rung_setting_find(request, runtime_setting);
  struct rung_request asked, started = *request;
  pid_t child;
  int socket;
  TRY(without_runtime(request, arena, &asked));
  TRY(end_with_null(request, arena, &started.command));
  TRY(greeting_write(&asked, runtime != NULL ? runtime : "assay", greeting));
  TRY(isolated_spawn(&started, &child, &socket));
  return isolated_adopt(&rung_kind_remote, request, child, socket, greeting, out);
}

static assay_status remote_open(const struct rung_request *request, struct rung **out) {
  const char *runtime = rung_setting_find(request, runtime_setting);
  if (request->n_command == 0 || request->model_path == NULL) {
    return status_make(ASSAY_RUNG_SETTING, request->name,
                       "rung '%s' needs a model and a command that reaches the other machine, such as `command: [ssh, "
                       "robot, assay, worker]`",
                       request->name);
  }
  if (runtime != NULL && (strcmp(runtime, "remote") == 0 || strcmp(runtime, "recorded") == 0)) {
    return status_make(ASSAY_RUNG_SETTING, request->name, "rung '%s' asks for the runtime '%s' on the other machine",
                       request->name, runtime);
  }
  struct arena arena = {0};
  struct text greeting = {0};
  assay_status status = greet(request, &arena, &greeting, out);
  text_free(&greeting);
  arena_free(&arena);
  return status;
}

/* Only the door is here: run, describe and the rest are those of any rung in another process. */
const struct rung_kind rung_kind_remote = {.engine = "remote", .keeps_time = true, .open = remote_open};
