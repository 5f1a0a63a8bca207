/* Any program as a rung: it reads one folder and writes another, once a step. The door for vendors' tools. What it says
 * that it ran is held against what was asked for; a program that says nothing is not taken for anything. */
#include "rung/process_rung.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/file.h"
#include "core/memory.h"
#include "rung/rung_kinds.h"

enum { LAST_WORDS = 600 };

struct process_rung {
  struct rung base;
  struct arena arena;
  struct rung_request request; /* strings in the arena */
  const char **arguments;      /* the command, the two folders, NULL */
  const char *folder, *in, *out, *log;
  struct process_answer answer;
  struct arena kept;      /* of `ran` */
  struct rung_actual ran; /* what the program said first */
  bool has_ran;
};

static void process_close(struct rung *rung) {
  struct process_rung *self = (struct process_rung *)rung;
  process_answer_free(&self->answer);
  arena_free(&self->kept);
  if (self->folder != NULL) {
    assay_status removed = folder_remove(self->folder);
    assay_status_clear(&removed);
  }
  arena_free(&self->arena);
  memory_free(self);
}

static assay_status copy(struct process_rung *self, const char *string, const char **out) {
  *out = string != NULL ? arena_string(&self->arena, string) : NULL;
  return string == NULL || *out != NULL ? status_ok() : status_no_memory(strlen(string));
}

static assay_status make_folders(struct process_rung *self) {
  char folder[] = "/tmp/assay-process-XXXXXX";
  if (mkdtemp(folder) == NULL) {
    return status_make(ASSAY_FILE_UNWRITABLE, folder, "no folder could be made to hand tensors over");
  }
  TRY(copy(self, folder, &self->folder));
  self->in = path_join(&self->arena, folder, "in");
  self->out = path_join(&self->arena, folder, "out");
  self->log = path_join(&self->arena, folder, "log");
  return self->in != NULL && self->out != NULL && self->log != NULL ? status_ok() : status_no_memory(0);
}

static assay_status open_into(struct process_rung *self, const struct rung_request *request) {
  TRY(rung_settings_check(request, NULL, 0));
  if (request->n_command == 0) {
    return status_make(ASSAY_RUNG_SETTING, request->name,
                       "rung '%s' names no program; add `command: [PROGRAM, ARGUMENT...]`", request->name);
  }
  if (access(request->command[0], X_OK) != 0) {
    return status_make(ASSAY_RUNTIME_MISSING, request->command[0], "there is no program that may be run: %s",
                       strerror(errno));
  }
  self->request = (struct rung_request){.threads = request->threads, .time_limit_s = request->time_limit_s};
  TRY(copy(self, request->name, &self->request.name));
  TRY(copy(self, request->precision, &self->request.precision));
  TRY(copy(self, request->model_path, &self->request.model_path));
  TRY(make_folders(self));
  ARENA_NEW(&self->arena, self->arguments, request->n_command + 3);
  for (int32_t i = 0; i < request->n_command; i++) {
    TRY(copy(self, request->command[i], &self->arguments[i]));
  }
  self->arguments[request->n_command] = self->in;
  self->arguments[request->n_command + 1] = self->out;
  return status_ok();
}

static assay_status process_open(const struct rung_request *request, struct rung **out) {
  struct process_rung *self = memory_alloc(1, sizeof *self);
  if (self == NULL) {
    return status_no_memory(sizeof *self);
  }
  self->base.kind = &rung_kind_process;
  assay_status status = open_into(self, request);
  if (!assay_status_ok(status)) {
    process_close(&self->base);
    return status;
  }
  *out = &self->base;
  return status;
}

/* --- running -------------------------------------------------------------------------------- */

/* The child's half: both streams into the log, and the program in place of this one. It ends with whoever started it.
 */
static void become(const struct process_rung *self, pid_t parent) {
  int log = open(self->log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), nothing = open("/dev/null", O_RDONLY);
  bool ready = log >= 0 && nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 && dup2(log, STDOUT_FILENO) >= 0 &&
               dup2(log, STDERR_FILENO) >= 0;
  setpgid(0, 0);
  if (ready && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent) {
    execv(self->arguments[0], (char *const *)self->arguments);
  }
  _exit(127);
}

/* The end of what the program printed, for a message. */
static void add_last_words(const struct process_rung *self, struct text *out) {
  char words[LAST_WORDS + 1];
  int log = open(self->log, O_RDONLY | O_CLOEXEC);
  off_t size = log >= 0 ? lseek(log, 0, SEEK_END) : -1;
  if (size > 0 && lseek(log, size > LAST_WORDS ? size - LAST_WORDS : 0, SEEK_SET) >= 0) {
    ssize_t got = read(log, words, LAST_WORDS);
    if (got > 0) {
      words[got] = '\0';
      text_add(out, "; its last words: ");
      text_add_shown(out, words);
    }
  }
  if (log >= 0) {
    close(log);
  }
}

static assay_status say_how_it_ended(const struct process_rung *self, int ended) {
  struct text words = {0};
  add_last_words(self, &words);
  assay_status status =
      WIFSIGNALED(ended)
          ? status_make(ASSAY_RUNG_CRASHED, self->arguments[0], "the program was ended by signal %d (%s)%s",
                        WTERMSIG(ended), strsignal(WTERMSIG(ended)), text_string(&words))
          : status_make(ASSAY_RUNG_FAILED, self->arguments[0], "the program ended with exit code %d%s",
                        WEXITSTATUS(ended), text_string(&words));
  text_free(&words);
  return status;
}

/* False when the time limit came first. Looks every millisecond, and less often later. */
static bool wait_for_end(const struct process_rung *self, pid_t child, int *ended) {
  int64_t begin = clock_now_ns();
  for (int64_t looks = 0;; looks++) {
    pid_t got = waitpid(child, ended, self->request.time_limit_s > 0 ? WNOHANG : 0);
    if (got == child || (got < 0 && errno != EINTR)) {
      return true;
    }
    bool late = self->request.time_limit_s > 0 && (double)(clock_now_ns() - begin) * 1e-9 >= self->request.time_limit_s;
    if (late) {
      return false;
    }
    if (got == 0) {
      poll(NULL, 0, looks < 100 ? 1 : 10);
    }
  }
}

static assay_status run_program(const struct process_rung *self) {
  int ended = 0;
  pid_t parent = getpid(), child = fork();
  if (child == 0) {
    become(self, parent);
  }
  if (child < 0) {
    return status_make(ASSAY_RUNG_FAILED, self->arguments[0], "a process could not be made: %s", strerror(errno));
  }
  setpgid(child, child); /* both halves say it: whoever comes first */
  if (!wait_for_end(self, child, &ended)) {
    kill(-child, SIGKILL); /* with all that it started */
    kill(child, SIGKILL);
    while (waitpid(child, &ended, 0) < 0 && errno == EINTR) {
    }
    return status_make(ASSAY_RUNG_TIMEOUT, self->arguments[0], "the program did not answer within %g s and was stopped",
                       self->request.time_limit_s);
  }
  return WIFEXITED(ended) && WEXITSTATUS(ended) == 0 ? status_ok() : say_how_it_ended(self, ended);
}

/* An empty folder; nothing of the call before may pass for an answer to this one. */
static assay_status empty(const char *folder) {
  TRY(folder_remove(folder));
  return folder_make(folder);
}

static bool same_word(const char *a, const char *b) { return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0); }

/* What ran is one thing for all cases: a program that says another at some of them is not taken for either. */
static assay_status hold_to_first(struct process_rung *self) {
  const struct rung_actual *now = &self->answer.actual;
  struct rung_actual *first = &self->ran;
  if (!self->has_ran) {
    const char *const from[] = {now->version, now->provider, now->precision, now->accumulator,
                                now->device,  now->tf32,     now->note};
    const char **const to[] = {&first->version, &first->provider, &first->precision, &first->accumulator,
                               &first->device,  &first->tf32,     &first->note};
    for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
      *to[i] = from[i] != NULL ? arena_string(&self->kept, from[i]) : NULL;
      if (from[i] != NULL && *to[i] == NULL) {
        return status_no_memory(0);
      }
    }
    first->threads = now->threads;
    self->has_ran = true;
  }
  bool same = same_word(first->version, now->version) && same_word(first->provider, now->provider) &&
              same_word(first->precision, now->precision) && same_word(first->accumulator, now->accumulator) &&
              same_word(first->device, now->device) && same_word(first->tf32, now->tf32) &&
              first->threads == now->threads;
  return same ? status_ok()
              : status_make(ASSAY_RUNG_INVALID, self->arguments[0],
                            "what the program says it ran changes from one answer to the next (precision %s, then %s; "
                            "device %s, then %s)",
                            first->precision != NULL ? first->precision : "not said",
                            now->precision != NULL ? now->precision : "not said",
                            first->device != NULL ? first->device : "not said",
                            now->device != NULL ? now->device : "not said");
}

static assay_status process_run(struct rung *rung, const struct rung_call *call, struct rung_answer *out) {
  struct process_rung *self = (struct process_rung *)rung;
  if (call->n_taps > 0) {
    return status_make(ASSAY_RUNG_FAILED, call->taps[0], "a program hands out no inner values");
  }
  process_answer_free(&self->answer);
  TRY(empty(self->in));
  TRY(empty(self->out));
  TRY(process_call_write(self->in, &self->request, call));
  TRY(run_program(self));
  TRY(process_answer_read(self->out, &self->answer));
  TRY(hold_to_first(self));
  *out = (struct rung_answer){.outputs = self->answer.outputs, .n_outputs = self->answer.n_outputs};
  return status_ok();
}

static void process_describe(struct rung *rung, struct rung_actual *out) {
  *out = ((struct process_rung *)rung)->ran;
  out->engine = "process";
}

const struct rung_kind rung_kind_process = {.engine = "process",
                                            .keeps_time = true,
                                            .open = process_open,
                                            .run = process_run,
                                            .describe = process_describe,
                                            .close = process_close};
