/* Any rung in another process: the half that asks. A child of one's own is forked, so that it holds the program as it
 * is but no thread, file position or allocation is shared afterwards; it must never return into the parent's code. */
#include "rung/isolated.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/memory.h"
#include "rung/frames.h"
#include "rung/serve.h"
#include "rung/staged_rung.h"
#include "rung/wire.h"

static const double default_limit_s = 600;

struct isolated {
  struct rung base;
  struct rung_kind kind; /* of this rung: the inner engine's name, these functions */
  const char *name;
  pid_t child; /* 0 once it has ended */
  int socket;  /* -1 once closed */
  double limit_s;
  struct text received;
  struct arena answer, actual, own;
};

/* --- the child ------------------------------------------------------------- */

/* Handlers of the parent are not for a runtime's crash: it must end the child, with its signal. */
static void restore_signals(void) {
  static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM, SIGINT};
  for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) {
    signal(fatal[i], SIG_DFL);
  }
}

static void child_main(int socket, const struct rung_kind *kind, const struct rung_request *request) {
  struct rung *rung = NULL;
  restore_signals();
  if (kind->foreign) {
    dup2(STDERR_FILENO, STDOUT_FILENO); /* what a runtime prints is no output of assay's */
  }
  assay_status status = rung_open_here(kind, request, &rung);
  rung_serve(socket, socket, rung, status);
  rung_close(rung); /* it may have made files */
  _exit(0);
}

/* --- the parent ------------------------------------------------------------ */

static void end_child(struct isolated *self) {
  if (self->child > 0) {
    int ended;
    kill(self->child, SIGKILL);
    while (waitpid(self->child, &ended, 0) < 0 && errno == EINTR) {
    }
    self->child = 0;
  }
  if (self->socket >= 0) {
    close(self->socket);
    self->socket = -1;
  }
}

/* What became of a child that does not answer; it is ended. */
static assay_status lost(struct isolated *self, bool late) {
  int ended = 0;
  if (late) {
    end_child(self);
    return status_make(ASSAY_RUNG_TIMEOUT, self->name, "rung '%s' did not answer within %g s and was stopped",
                       self->name, self->limit_s);
  }
  bool gone = false;
  for (int i = 0; i < 100 && !gone; i++) { /* the socket closes a moment before the child is gone */
    gone = waitpid(self->child, &ended, WNOHANG) == self->child;
    if (!gone) {
      poll(NULL, 0, 10);
    }
  }
  if (gone) {
    self->child = 0;
  }
  end_child(self);
  if (gone && WIFSIGNALED(ended)) {
    return status_make(ASSAY_RUNG_CRASHED, self->name, "the process of rung '%s' was ended by signal %d (%s)",
                       self->name, WTERMSIG(ended), strsignal(WTERMSIG(ended)));
  }
  return status_make(ASSAY_RUNG_CRASHED, self->name, "the process of rung '%s' ended without an answer", self->name);
}

static int64_t deadline(const struct isolated *self) { return clock_now_ns() + (int64_t)(self->limit_s * 1e9); }

/* Sends a message and waits for what the child says it came to, handing taps on. */
static assay_status exchange(struct isolated *self, const struct text *message, const struct rung_call *call,
                             struct wire_reader *in) {
  int64_t until = deadline(self);
  if (self->child == 0) {
    return status_make(ASSAY_RUNG_CRASHED, self->name, "the process of rung '%s' has ended", self->name);
  }
  if (message != NULL) {
    TRY(text_status(message));
    int sent = frame_send(self->socket, message, until);
    if (sent != 1) {
      return lost(self, sent == 0);
    }
  }
  for (;;) {
    int got = frame_receive(self->socket, &self->received, until);
    if (got != 1) {
      return lost(self, got == 0);
    }
    *in = (struct wire_reader){.data = self->received.data, .size = self->received.length};
    int64_t what = wire_get_int(in);
    if (what == MESSAGE_DONE) {
      return wire_get_status(in);
    }
    struct rung_tensor tapped;
    arena_free(&self->answer);
    self->answer = (struct arena){0};
    if (what != MESSAGE_TAP || call == NULL || call->tap == NULL) {
      end_child(self);
      return wire_malformed();
    }
    TRY(wire_get_tensor(in, &self->answer, &tapped));
    call->tap(call->tap_user, tapped.name, &tapped.tensor);
  }
}

static assay_status isolated_run(struct rung *rung, const struct rung_call *call, struct rung_answer *out) {
  struct isolated *self = (struct isolated *)rung;
  struct text message = {0};
  struct wire_reader in;
  wire_put_int(&message, MESSAGE_RUN);
  wire_put_string(&message, call->case_id);
  wire_put_int(&message, call->step);
  wire_put_int(&message, call->steps);
  wire_put_int(&message, call->n_taps);
  for (int32_t i = 0; i < call->n_taps; i++) {
    wire_put_string(&message, call->taps[i]);
  }
  wire_put_tensors(&message, call->inputs, call->n_inputs);
  wire_put_tensors(&message, call->given, call->n_given);
  assay_status status = exchange(self, &message, call, &in);
  text_free(&message);
  TRY(status);
  arena_free(&self->answer);
  self->answer = (struct arena){0};
  TRY(wire_get_tensors(&in, &self->answer, &out->outputs, &out->n_outputs));
  return wire_get_tensors(&in, &self->answer, &out->inner, &out->n_inner);
}

static assay_status ask(struct isolated *self, enum message what, struct wire_reader *in) {
  struct text message = {0};
  wire_put_int(&message, what);
  assay_status status = exchange(self, &message, NULL, in);
  text_free(&message);
  return status;
}

static assay_status isolated_renew(struct rung *rung) {
  struct wire_reader in;
  return ask((struct isolated *)rung, MESSAGE_RENEW, &in);
}

static void isolated_describe(struct rung *rung, struct rung_actual *out) {
  struct isolated *self = (struct isolated *)rung;
  struct wire_reader in;
  assay_status status = ask(self, MESSAGE_DESCRIBE, &in);
  if (assay_status_ok(status)) {
    status = wire_get_actual(&in, &self->actual, out);
  }
  if (!assay_status_ok(status)) {
    *out = (struct rung_actual){0}; /* nothing is known of what ran: the check will say so */
    assay_status_clear(&status);
  }
}

/* Lets the child tidy up, but not for long. */
static void ask_to_end(struct isolated *self) {
  struct text message = {0};
  wire_put_int(&message, MESSAGE_CLOSE);
  bool sent = self->child > 0 && frame_send(self->socket, &message, clock_now_ns() + 1000000000) == 1;
  text_free(&message);
  for (int i = 0; sent && i < 2000; i++) {
    int ended;
    if (waitpid(self->child, &ended, WNOHANG) != 0) {
      self->child = 0;
      return;
    }
    poll(NULL, 0, 1);
  }
}

static void isolated_close(struct rung *rung) {
  struct isolated *self = (struct isolated *)rung;
  ask_to_end(self);
  end_child(self);
  text_free(&self->received);
  arena_free(&self->answer);
  arena_free(&self->actual);
  arena_free(&self->own);
  memory_free(self);
}

/* The half that asks, over a process that is there. The first answer says how opening went. */
assay_status isolated_adopt(const struct rung_kind *kind, const struct rung_request *request, pid_t child, int socket,
                            const struct text *greeting, struct rung **out) {
  struct isolated *self = memory_alloc(1, sizeof *self);
  struct isolated lost_one = {.child = child, .socket = socket};
  struct wire_reader in;
  if (self == NULL) {
    end_child(&lost_one);
    return status_no_memory(sizeof *self);
  }
  self->kind = (struct rung_kind){.engine = kind->engine,
                                  .replays = kind->replays,
                                  .run = isolated_run,
                                  .renew = isolated_renew,
                                  .describe = isolated_describe,
                                  .close = isolated_close};
  self->base.kind = &self->kind;
  self->child = child;
  self->socket = socket;
  self->limit_s = request->time_limit_s > 0 ? request->time_limit_s : default_limit_s;
  self->name = arena_string(&self->own, request->name);
  assay_status status =
      self->name != NULL ? exchange(self, greeting, NULL, &in) : status_no_memory(strlen(request->name));
  if (!assay_status_ok(status)) {
    isolated_close(&self->base);
    return status;
  }
  *out = &self->base;
  return status;
}

static assay_status no_process(const struct rung_request *request) {
  return status_make(ASSAY_RUNG_FAILED, request->name, "a process for rung '%s' could not be made: %s", request->name,
                     strerror(errno));
}

assay_status isolated_open(const struct rung_kind *kind, const struct rung_request *request, struct rung **out) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return no_process(request);
  }
  pid_t parent = getpid(), child = fork();
  if (child == 0) {
    close(sockets[0]);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) {
      _exit(1);
    }
    child_main(sockets[1], kind, request);
  }
  close(sockets[1]);
  if (child < 0) {
    assay_status status = no_process(request);
    close(sockets[0]);
    return status;
  }
  return isolated_adopt(kind, request, child, sockets[0], NULL, out);
}

assay_status isolated_spawn(const struct rung_request *request, pid_t *child, int *socket) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return no_process(request);
  }
  pid_t parent = getpid();
  *child = fork();
  if (*child == 0) {
    bool ready = dup2(sockets[1], STDIN_FILENO) >= 0 && dup2(sockets[1], STDOUT_FILENO) >= 0;
    if (ready && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent) {
      restore_signals();
      execvp(request->command[0], (char *const *)request->command);
    }
    _exit(127);
  }
  close(sockets[1]);
  *socket = sockets[0];
  if (*child < 0) {
    assay_status status = no_process(request);
    close(sockets[0]);
    return status;
  }
  return status_ok();
}
