/* Any rung in a child process: the parent's half, and the loop of the child. The child is forked, so
 * that it holds the program as it is but no thread, file position or allocation is shared
 * afterwards; it must never return into the parent's code. */
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
#include "rung/staged_rung.h"
#include "rung/wire.h"

enum message { MESSAGE_RUN = 1, MESSAGE_RENEW, MESSAGE_DESCRIBE, MESSAGE_CLOSE, MESSAGE_TAP, MESSAGE_DONE };
static const double default_limit_s = 600;
static const uint64_t message_max = (uint64_t)1 << 33;

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

/* --- sending and receiving, both halves ----------------------------------- */

/* Milliseconds until `deadline_ns`, for poll; -1 (for ever) when there is none. */
static int remaining_ms(int64_t deadline_ns) {
  if (deadline_ns == 0) {
    return -1;
  }
  int64_t left = (deadline_ns - clock_now_ns()) / 1000000;
  return left < 0 ? 0 : left > 1000000000 ? 1000000000 : (int)left + 1;
}

/* Waits until the socket is ready: 1, 0 at the deadline, -1 when it broke. */
static int wait_for(int socket, short events, int64_t deadline_ns) {
  for (;;) {
    struct pollfd poll_on = {.fd = socket, .events = events};
    int got = poll(&poll_on, 1, remaining_ms(deadline_ns));
    if (got > 0) {
      return 1;
    }
    if (got == 0) {
      return 0;
    }
    if (errno != EINTR) {
      return -1;
    }
  }
}

static int send_all(int socket, const char *bytes, size_t size, int64_t deadline_ns) {
  while (size > 0) {
    int ready = wait_for(socket, POLLOUT, deadline_ns);
    if (ready <= 0) {
      return ready;
    }
    ssize_t sent = send(socket, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
      return -1;
    }
    if (sent > 0) {
      bytes += sent;
      size -= (size_t)sent;
    }
  }
  return 1;
}

static int receive_all(int socket, char *bytes, size_t size, int64_t deadline_ns) {
  while (size > 0) {
    int ready = wait_for(socket, POLLIN, deadline_ns);
    if (ready <= 0) {
      return ready;
    }
    ssize_t got = recv(socket, bytes, size, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
      return -1;
    }
    if (got > 0) {
      bytes += got;
      size -= (size_t)got;
    }
  }
  return 1;
}

/* A message is its size and its bytes. */
static int send_message(int socket, const struct text *message, int64_t deadline_ns) {
  if (message->failed) {
    return -1;
  }
  uint64_t size = message->length;
  int sent = send_all(socket, (const char *)&size, sizeof size, deadline_ns);
  return sent == 1 ? send_all(socket, message->data, message->length, deadline_ns) : sent;
}

static int receive_message(int socket, struct text *message, int64_t deadline_ns) {
  uint64_t size = 0;
  char piece[65536];
  text_clear(message);
  int got = receive_all(socket, (char *)&size, sizeof size, deadline_ns);
  if (got != 1 || size > message_max) {
    return got == 1 ? -1 : got;
  }
  while (size > 0) {
    size_t part = size < sizeof piece ? (size_t)size : sizeof piece;
    got = receive_all(socket, piece, part, deadline_ns);
    if (got != 1) {
      return got;
    }
    text_add_bytes(message, piece, part);
    size -= part;
  }
  return message->failed ? -1 : 1;
}

static void put_tensors(struct text *out, const struct rung_tensor *tensors, int32_t count) {
  wire_put_int(out, count);
  for (int32_t i = 0; i < count; i++) {
    wire_put_tensor(out, tensors[i].name, &tensors[i].tensor);
  }
}

static assay_status get_tensors(struct wire_reader *in, struct arena *arena, const struct rung_tensor **out,
                                int32_t *count) {
  int64_t n = wire_get_int(in);
  struct rung_tensor *tensors;
  if (in->failed || n < 0 || n > INT32_MAX || (uint64_t)n > in->size) {
    return wire_malformed();
  }
  ARENA_NEW(arena, tensors, n + 1);
  for (int64_t i = 0; i < n; i++) {
    TRY(wire_get_tensor(in, arena, &tensors[i]));
  }
  *out = tensors;
  *count = (int32_t)n;
  return status_ok();
}

/* --- the child ------------------------------------------------------------- */

struct child {
  int socket;
  struct rung *rung;
  struct text received, sent;
  struct arena arena; /* of one call */
};

static void send_tap(void *user, const char *value, const assay_tensor *tensor) {
  struct child *child = user;
  text_clear(&child->sent);
  wire_put_int(&child->sent, MESSAGE_TAP);
  wire_put_tensor(&child->sent, value, tensor);
  if (send_message(child->socket, &child->sent, 0) != 1) {
    _exit(1);
  }
}

static assay_status child_call(struct child *child, struct wire_reader *in, struct rung_answer *answer) {
  struct rung_call call = {.case_id = wire_get_string(in)};
  call.step = wire_get_int(in);
  call.steps = wire_get_int(in);
  int64_t n_taps = wire_get_int(in);
  const char **taps;
  ARENA_NEW(&child->arena, taps, n_taps + 1);
  for (int64_t i = 0; i < n_taps; i++) {
    taps[i] = wire_get_string(in);
  }
  TRY(get_tensors(in, &child->arena, &call.inputs, &call.n_inputs));
  TRY(get_tensors(in, &child->arena, &call.given, &call.n_given));
  call.taps = taps;
  call.n_taps = (int32_t)n_taps;
  call.tap = n_taps > 0 ? send_tap : NULL;
  call.tap_user = child;
  return rung_run(child->rung, &call, answer);
}

/* Answers one message; false when the child is to end. */
static bool child_serve(struct child *child) {
  struct wire_reader in = {.data = child->received.data, .size = child->received.length};
  struct rung_answer answer = {0};
  assay_status status = status_ok();
  int64_t what = wire_get_int(&in);
  arena_free(&child->arena);
  child->arena = (struct arena){0};
  if (what == MESSAGE_CLOSE) {
    return false;
  }
  if (what == MESSAGE_RUN) {
    status = child_call(child, &in, &answer);
  } else if (what == MESSAGE_RENEW) {
    status = rung_renew(child->rung);
  }
  text_clear(&child->sent);
  wire_put_int(&child->sent, MESSAGE_DONE);
  wire_put_status(&child->sent, status);
  if (assay_status_ok(status) && what == MESSAGE_DESCRIBE) {
    struct rung_actual actual;
    rung_describe(child->rung, &actual);
    wire_put_actual(&child->sent, &actual);
  } else if (assay_status_ok(status)) {
    put_tensors(&child->sent, answer.outputs, answer.n_outputs);
    put_tensors(&child->sent, answer.inner, answer.n_inner);
  }
  assay_status_clear(&status);
  return send_message(child->socket, &child->sent, 0) == 1;
}

/* Handlers of the parent are not for a runtime's crash: it must end the child, with its signal. */
static void restore_signals(void) {
  static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM, SIGINT};
  for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) {
    signal(fatal[i], SIG_DFL);
  }
}

static void child_main(int socket, const struct rung_kind *kind, const struct rung_request *request) {
  struct child child = {.socket = socket};
  restore_signals();
  assay_status status = rung_open_here(kind, request, &child.rung);
  wire_put_int(&child.sent, MESSAGE_DONE);
  wire_put_status(&child.sent, status);
  bool alive = send_message(socket, &child.sent, 0) == 1 && assay_status_ok(status);
  while (alive && receive_message(socket, &child.received, 0) == 1) {
    alive = child_serve(&child);
  }
  rung_close(child.rung); /* it may have made files */
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
    int sent = send_message(self->socket, message, until);
    if (sent != 1) {
      return lost(self, sent == 0);
    }
  }
  for (;;) {
    int got = receive_message(self->socket, &self->received, until);
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
  put_tensors(&message, call->inputs, call->n_inputs);
  put_tensors(&message, call->given, call->n_given);
  assay_status status = exchange(self, &message, call, &in);
  text_free(&message);
  TRY(status);
  arena_free(&self->answer);
  self->answer = (struct arena){0};
  TRY(get_tensors(&in, &self->answer, &out->outputs, &out->n_outputs));
  return get_tensors(&in, &self->answer, &out->inner, &out->n_inner);
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
  bool sent = self->child > 0 && send_message(self->socket, &message, clock_now_ns() + 1000000000) == 1;
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

static assay_status start(struct isolated *self, const struct rung_kind *kind, const struct rung_request *request) {
  int sockets[2];
  struct wire_reader in;
  self->name = arena_string(&self->own, request->name);
  if (self->name == NULL) {
    return status_no_memory(strlen(request->name));
  }
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return status_make(ASSAY_RUNG_FAILED, request->name, "a process for rung '%s' could not be made: %s", request->name,
                       strerror(errno));
  }
  pid_t parent = getpid();
  pid_t child = fork();
  if (child == 0) {
    close(sockets[0]);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) {
      _exit(1);
    }
    child_main(sockets[1], kind, request);
  }
  close(sockets[1]);
  self->socket = sockets[0];
  if (child < 0) {
    return status_make(ASSAY_RUNG_FAILED, request->name, "a process for rung '%s' could not be made: %s", request->name,
                       strerror(errno));
  }
  self->child = child;
  return exchange(self, NULL, NULL, &in);
}

assay_status isolated_open(const struct rung_kind *kind, const struct rung_request *request, struct rung **out) {
  struct isolated *self = memory_alloc(1, sizeof *self);
  if (self == NULL) {
    return status_no_memory(sizeof *self);
  }
  self->kind = (struct rung_kind){.engine = kind->engine,
                                  .replays = kind->replays,
                                  .run = isolated_run,
                                  .renew = isolated_renew,
                                  .describe = isolated_describe,
                                  .close = isolated_close};
  self->base.kind = &self->kind;
  self->socket = -1;
  self->limit_s = request->time_limit_s > 0 ? request->time_limit_s : default_limit_s;
  assay_status status = start(self, kind, request);
  if (!assay_status_ok(status)) {
    isolated_close(&self->base);
    return status;
  }
  *out = &self->base;
  return status;
}
