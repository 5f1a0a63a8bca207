/* PyTorch itself as a rung: the source framework, live, in a Python process that speaks a worker's messages
 * (bindings/python, assay_capture.worker). This file only finds Python and says hello; nothing of Python is linked. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rung/greeting.h"
#include "rung/isolated.h"
#include "rung/rung_kinds.h"
#include "rung/runtime_search.h"

/* Runs `python -c program`, silently; its exit code, or -1. */
static int run_python(const char *python, const char *program) {
  int ended = 0;
  pid_t child = fork();
  if (child == 0) {
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    bool ready = nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 && dup2(nothing, STDOUT_FILENO) >= 0 &&
                 dup2(nothing, STDERR_FILENO) >= 0;
    if (ready) {
      execlp(python, python, "-c", program, (char *)NULL);
    }
    _exit(127);
  }
  while (child > 0 && waitpid(child, &ended, 0) < 0) {
    if (errno != EINTR) {
      return -1;
    }
  }
  return child > 0 && WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
}

/* Can this Python run the worker? That torch cannot be imported is told by the worker itself, with why. */
static assay_status check_python(const char *python) {
  int code = run_python(python, "import assay_capture.worker");
  if (code == 0) {
    return status_ok();
  }
  return status_make(ASSAY_RUNTIME_MISSING, python,
                     code == 127
                         ? "there is no such Python; install python3, or name one with `python: PATH`"
                         : "this Python has no package assay_capture; install it (pip install ./bindings/python), "
                           "or name another Python with `python: PATH`");
}

/* The file that is to be loaded is a setting here: the contract's model is ONNX, which PyTorch does not run. */
static assay_status with_model(const struct rung_request *request, struct arena *arena, struct rung_request *out) {
  struct rung_setting *settings;
  *out = *request;
  ARENA_NEW(arena, settings, request->n_settings + 2);
  if (request->n_settings > 0) {
    memcpy(settings, request->settings, (size_t)request->n_settings * sizeof *settings);
  }
  if (rung_setting_find(request, "module") == NULL && request->model_path != NULL) {
    settings[out->n_settings++] = (struct rung_setting){"model", request->model_path};
  }
  out->settings = settings;
  out->model_path = NULL;
  return status_ok();
}

static assay_status greet(const struct rung_request *request, const char *python, struct arena *arena,
                          struct text *greeting, struct rung **out) {
  const char *const command[] = {python, "-m", "assay_capture.worker", NULL};
  struct rung_request asked, started = *request;
  pid_t child;
  int socket;
  TRY(with_model(request, arena, &asked));
  TRY(greeting_write(&asked, "pytorch", greeting));
  started.command = command;
  TRY(isolated_spawn(&started, &child, &socket));
  return isolated_adopt(&rung_kind_pytorch, request, child, socket, greeting, out);
}

static assay_status pytorch_open(const struct rung_request *request, struct rung **out) {
  const char *python = rung_setting_find(request, "python");
  if (request->n_keep > 0 || request->provider != NULL) {
    return status_make(ASSAY_RUNG_SETTING, request->name,
                       "rung '%s' asks for %s, which the engine pytorch does not have; `device` says where it runs",
                       request->name, request->n_keep > 0 ? "kept nodes" : "a provider");
  }
  struct arena arena = {0};
  python = python != NULL ? python : runtime_python(&arena);
  struct text greeting = {0};
  assay_status status = check_python(python);
  if (assay_status_ok(status)) {
    status = greet(request, python, &arena, &greeting, out);
  }
  text_free(&greeting);
  arena_free(&arena);
  return status;
}

/* Only the door is here: run, describe and the rest are those of any rung in another process. */
/* A module is the policy itself; a file is one stage. */
static bool pytorch_is_whole(const struct rung_request *request) {
  return rung_setting_find(request, "module") != NULL;
}

const struct rung_kind rung_kind_pytorch = {
    .engine = "pytorch", .keeps_time = true, .is_whole = pytorch_is_whole, .open = pytorch_open};
