/* The child process that HDF5 files are read in. It must be impossible for a file to take assay down with
 * it: a crash, an endless loop or a flood of memory ends the child, and becomes a sentence here. */
#include "corpus/hdf5_read.h"

#ifdef ASSAY_HAVE_HDF5
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum message_kind { MESSAGE_ARRAY = 1, MESSAGE_ERROR, MESSAGE_DONE };
enum { SENTENCE_LONGEST = 4096 };

/* What goes through the pipe: this, then `bytes` bytes of values or of a sentence. */
struct message {
  uint32_t kind, code; /* code: of an error */
  int32_t dataset, dtype, rank;
  int64_t frame;
  int64_t dims[ASSAY_RANK_MAX];
  uint64_t bytes;
};

/* --- in the child ------------------------------------------------------ */

static bool write_whole(int fd, const void *bytes, size_t size) {
  const char *at = bytes;
  while (size > 0) {
    ssize_t n = write(fd, at, size);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n <= 0) {
      return false;
    }
    at += n;
    size -= (size_t)n;
  }
  return true;
}

static assay_status send_array(void *user, int64_t frame, int32_t dataset, const assay_tensor *tensor) {
  const int *fd = user;
  struct message message = {.kind = MESSAGE_ARRAY,
                            .dataset = dataset,
                            .dtype = (int32_t)tensor->dtype,
                            .rank = tensor->rank,
                            .frame = frame,
                            .bytes = tensor->bytes};
  memcpy(message.dims, tensor->dims, sizeof message.dims);
  if (!write_whole(*fd, &message, sizeof message) || !write_whole(*fd, tensor->data, tensor->bytes)) {
    return status_make(ASSAY_INTERNAL, NULL, "the reader of the HDF5 file is gone");
  }
  return status_ok();
}

/* Memory beyond what the process has already: two arrays, and room for the library. */
static void limit_child(const struct hdf5_request *request) {
  unsigned long pages = 0;
  FILE *statm = fopen("/proc/self/statm", "re");
  if (statm != NULL) {
    if (fscanf(statm, "%lu", &pages) == 1) {
      rlim_t bytes = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + 2 * request->bytes_max + ((rlim_t)512 << 20);
      (void)setrlimit(RLIMIT_AS, &(struct rlimit){bytes, bytes});
    }
    fclose(statm);
  }
  (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
}

static void run_child(const struct hdf5_request *request, int fd) {
  static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPIPE, SIGINT, SIGTERM};
  for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) {
    (void)signal(fatal[i], SIG_DFL);
  }
  int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null >= 0) { /* whatever the library prints as it goes down is of no use */
    (void)dup2(null, STDIN_FILENO);
    (void)dup2(null, STDOUT_FILENO);
    (void)dup2(null, STDERR_FILENO);
  }
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  limit_child(request);
  assay_status status = hdf5_read_here(request, send_array, &fd);
  struct message message = {.kind = MESSAGE_DONE};
  const char *sentence = assay_status_sentence(status);
  if (!assay_status_ok(status)) {
    message.kind = MESSAGE_ERROR;
    message.code = (uint32_t)status.code;
    message.bytes = strnlen(sentence, SENTENCE_LONGEST);
  }
  bool sent = write_whole(fd, &message, sizeof message) && write_whole(fd, sentence, message.bytes);
  _exit(sent ? 0 : 1);
}

/* --- in the parent ----------------------------------------------------- */

enum read_result { READ_WHOLE, READ_ENDED, READ_SILENT };

static enum read_result read_whole(int fd, void *bytes, size_t size, int seconds) {
  char *at = bytes;
  while (size > 0) {
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    int polled = poll(&ready, 1, seconds * 1000);
    if (polled < 0 && errno == EINTR) {
      continue;
    }
    if (polled == 0) {
      return READ_SILENT;
    }
    ssize_t n = polled < 0 ? -1 : read(fd, at, size);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n <= 0) {
      return READ_ENDED;
    }
    at += n;
    size -= (size_t)n;
  }
  return READ_WHOLE;
}

static assay_status lost(const struct hdf5_request *request, enum read_result result) {
  if (result == READ_SILENT) {
    return status_make(ASSAY_HDF5_INVALID, request->path,
                       "the HDF5 library did not answer within %d seconds; the file is damaged or too large",
                       request->seconds);
  }
  return status_make(
      ASSAY_HDF5_INVALID, request->path,
      "the HDF5 library failed on this file, which is damaged, or needs more memory or time than it is given");
}

static assay_status receive_error(const struct hdf5_request *request, const struct message *message, int fd) {
  char sentence[SENTENCE_LONGEST + 1] = "";
  if (message->bytes > SENTENCE_LONGEST || message->code == ASSAY_OK || message->code >= ASSAY_CODE_COUNT) {
    return lost(request, READ_ENDED);
  }
  enum read_result result = read_whole(fd, sentence, message->bytes, request->seconds);
  return result == READ_WHOLE ? status_make((assay_code)message->code, request->path, "%s", sentence)
                              : lost(request, result);
}

/* The child may have been overwritten by what it read: its messages are believed only where they fit. */
static assay_status receive_array(const struct hdf5_request *request, const struct message *message, int fd,
                                  hdf5_sink *sink, void *user) {
  int64_t count;
  size_t bytes;
  if (message->dataset < 0 || message->dataset >= request->n_datasets || message->rank < 0 ||
      message->rank > ASSAY_RANK_MAX || message->dtype <= ASSAY_UNDEFINED || message->dtype >= ASSAY_DTYPE_COUNT ||
      message->dtype == ASSAY_STRING || !shape_count(message->dims, message->rank, &count) ||
      !dtype_bytes((assay_dtype)message->dtype, count, &bytes) || bytes != message->bytes ||
      bytes > request->bytes_max) {
    return lost(request, READ_ENDED);
  }
  assay_tensor tensor;
  TRY(tensor_new((assay_dtype)message->dtype, message->dims, message->rank, &tensor));
  enum read_result result = read_whole(fd, tensor.data, tensor.bytes, request->seconds);
  assay_status status =
      result == READ_WHOLE ? sink(user, message->frame, message->dataset, &tensor) : lost(request, result);
  tensor_free(&tensor);
  return status;
}

static assay_status receive(const struct hdf5_request *request, int fd, hdf5_sink *sink, void *user) {
  for (;;) {
    struct message message;
    enum read_result result = read_whole(fd, &message, sizeof message, request->seconds);
    if (result != READ_WHOLE) {
      return lost(request, result);
    }
    if (message.kind == MESSAGE_DONE) {
      return status_ok();
    }
    if (message.kind == MESSAGE_ERROR) {
      return receive_error(request, &message, fd);
    }
    if (message.kind != MESSAGE_ARRAY) {
      return lost(request, READ_ENDED);
    }
    TRY(receive_array(request, &message, fd, sink, user));
  }
}

assay_status hdf5_read(const struct hdf5_request *request, hdf5_sink *sink, void *user) {
  struct hdf5_request bounded = *request;
  bounded.bytes_max = request->bytes_max == 0 ? HDF5_BYTES_DEFAULT : request->bytes_max;
  bounded.seconds = request->seconds <= 0 ? HDF5_SECONDS_DEFAULT : request->seconds;
  int ends[2];
  if (request->n_datasets < 1 || request->n_datasets > HDF5_DATASETS_MAX || request->from < 0 || request->stride < 1) {
    return status_make(ASSAY_USAGE, request->path,
                       "1 to %d datasets are read at once, from frame 0 or later, with a stride of 1 or more",
                       HDF5_DATASETS_MAX);
  }
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return status_make(ASSAY_INTERNAL, request->path, "no pipe to read the HDF5 file through: %s", strerror(errno));
  }
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    run_child(&bounded, ends[1]);
  }
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return status_make(ASSAY_INTERNAL, request->path, "no process to read the HDF5 file in: %s", strerror(errno));
  }
  assay_status status = receive(&bounded, ends[0], sink, user);
  close(ends[0]);
  (void)kill(child, SIGKILL);
  while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
  }
  return status;
}
#else
assay_status hdf5_read(const struct hdf5_request *request, hdf5_sink *sink, void *user) {
  (void)sink;
  (void)user;
  return status_make(ASSAY_HDF5_MISSING, request->path,
                     "this assay was built without HDF5; install libhdf5-dev and build again");
}
#endif
