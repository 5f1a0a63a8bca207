/* The ledger on disk: a folder with runs.jsonl, to which lines are only added, and head, which names the last of them,
 * so that lines cut from the end are missed. Both are written under one lock. No link is followed, nothing is waited
 * for without end, and a line that cannot be written whole is taken back. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/file.h"
#include "core/memory.h"
#include "core/text.h"
#include "gate/ledger.h"

enum { LOCK_TRIES = 100, LOCK_PAUSE_MS = 100, HEAD_BYTES_MAX = 256 };

struct ledger_store {
  struct arena *arena;
  const char *path, *head_path; /* runs.jsonl and head */
  int fd;                       /* of runs.jsonl, locked; -1: there is none */
  struct ledger_lines lines;
};

static assay_status cannot_write(const char *path, int error) {
  return status_make(ASSAY_FILE_UNWRITABLE, path,
                     "the ledger cannot be written: %s; what stood there before is unchanged", strerror(error));
}

static assay_status broken(const char *path, const char *what) {
  return status_make(ASSAY_LEDGER_BROKEN, path,
                     "%s; restore the ledger from version control, or move it away: a new one then begins and says so",
                     what);
}

/* Another run holds the lock for as long as it reads and adds a line, which is short. */
static assay_status lock(int fd, const char *path, bool write) {
  for (int i = 0; i < LOCK_TRIES; i++) {
    if (flock(fd, (write ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0) {
      return status_ok();
    }
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return cannot_write(path, errno);
    }
    const struct timespec pause = {0, LOCK_PAUSE_MS * 1000000L};
    nanosleep(&pause, NULL);
  }
  return status_make(ASSAY_FILE_UNWRITABLE, path, "the ledger has been locked by another process for %d seconds",
                     LOCK_TRIES * LOCK_PAUSE_MS / 1000);
}

static assay_status open_runs(struct ledger_store *store, bool write) {
  int flags = (write ? O_RDWR | O_CREAT | O_APPEND : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  store->fd = open(store->path, flags, 0666);
  if (store->fd < 0) {
    int error = errno;
    struct stat info;
    if (lstat(store->path, &info) == 0 && !S_ISREG(info.st_mode)) {
      return broken(store->path, "something other than a plain file stands where the ledger belongs");
    }
    return error == ENOENT && !write ? status_ok() : cannot_write(store->path, error);
  }
  struct stat info;
  if (fstat(store->fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    return broken(store->path, "something other than a plain file stands where the ledger belongs");
  }
  return lock(store->fd, store->path, write);
}

static assay_status read_whole(const struct ledger_store *store, char **out, size_t *size) {
  struct stat info;
  *out = NULL;
  *size = 0;
  if (fstat(store->fd, &info) != 0 || info.st_size > LEDGER_BYTES_MAX) {
    return broken(store->path, "the ledger is larger than 64 MiB, which none becomes by itself");
  }
  size_t expected = (size_t)info.st_size;
  *out = memory_alloc(expected + 1, 1);
  if (*out == NULL) {
    return status_no_memory(expected);
  }
  while (*size < expected) {
    ssize_t got = pread(store->fd, *out + *size, expected - *size, (off_t)*size);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return status_make(ASSAY_FILE_UNREADABLE, store->path, "the ledger cannot be read: %s",
                         got < 0 ? strerror(errno) : "it became shorter");
    }
    *size += (size_t)got;
  }
  return status_ok();
}

/* The last line that was written whole, as head has it; number 0: there is no head. */
static assay_status read_head(const struct ledger_store *store, int64_t *number, char self[HASH_TEXT_SIZE]) {
  char *text = NULL;
  size_t size = 0;
  long long read = 0;
  struct stat info;
  *number = 0;
  if (lstat(store->head_path, &info) != 0 && errno == ENOENT) {
    return status_ok();
  }
  if (!S_ISREG(info.st_mode) || info.st_size > HEAD_BYTES_MAX) {
    return broken(store->head_path, "this is no head of a ledger");
  }
  TRY(file_read(store->head_path, HEAD_BYTES_MAX, &text, &size));
  bool whole = sscanf(text, "line %lld %71s", &read, self) == 2 && read > 0 && strlen(self) == HASH_TEXT_SIZE - 1;
  memory_free(text);
  *number = read;
  return whole ? status_ok() : broken(store->head_path, "this is no head of a ledger");
}

/* Lines after the head's are fine: the run that added the last one was interrupted before it wrote the head. */
static assay_status check_head(const struct ledger_store *store, size_t size) {
  int64_t number;
  char self[HASH_TEXT_SIZE];
  TRY(read_head(store, &number, self));
  int32_t count = store->lines.count;
  if (number > count) {
    return broken(store->path, "lines were cut from the end of the ledger");
  }
  if (number > 0 && !text_equal(store->lines.items[number - 1].self, self)) {
    return broken(store->path, "the ledger is not the one that its head speaks of");
  }
  if (number < count - 1) {
    return broken(store->head_path, "the ledger has more lines than its head knows of");
  }
  bool torn = store->lines.size < size;
  return !torn || number == count ? status_ok() : broken(store->path, "the ledger ends in the middle of a line");
}

static assay_status load(struct ledger_store *store) {
  char *text = NULL;
  size_t size = 0;
  assay_status status = store->fd >= 0 ? read_whole(store, &text, &size) : status_ok();
  if (assay_status_ok(status)) {
    status = ledger_parse(text != NULL ? text : "", size, store->path, store->arena, &store->lines);
  }
  memory_free(text);
  return assay_status_ok(status) ? check_head(store, size) : status;
}

/* A link is refused: what it leads to is somebody else's. `ledger:` in gate.yaml says where a ledger lies elsewhere. */
static assay_status check_folder(const char *folder, bool write, bool *there) {
  struct stat info;
  *there = lstat(folder, &info) == 0;
  if (*there) {
    return S_ISDIR(info.st_mode) ? status_ok()
                                 : broken(folder, "something other than a folder stands where the ledger belongs");
  }
  if (errno != ENOENT) {
    return cannot_write(folder, errno);
  }
  if (!write) {
    return status_ok();
  }
  *there = true;
  return mkdir(folder, 0777) == 0 || errno == EEXIST ? status_ok() : cannot_write(folder, errno);
}

static assay_status open_into(const char *folder, bool write, struct ledger_store *store) {
  bool there;
  TRY(check_folder(folder, write, &there));
  if (!there) {
    return status_ok();
  }
  store->path = path_join(store->arena, folder, "runs.jsonl");
  store->head_path = path_join(store->arena, folder, "head");
  if (store->path == NULL || store->head_path == NULL) {
    return status_no_memory(strlen(folder));
  }
  TRY(open_runs(store, write));
  return load(store);
}

assay_status ledger_store_open(const char *folder, bool write, struct arena *arena, struct ledger_store **out) {
  *out = NULL;
  struct ledger_store *store = memory_alloc(1, sizeof *store);
  if (store == NULL) {
    return status_no_memory(sizeof *store);
  }
  store->arena = arena;
  store->fd = -1;
  assay_status status = open_into(folder, write, store);
  if (!assay_status_ok(status)) {
    ledger_store_close(store);
    return status;
  }
  *out = store;
  return status_ok();
}

const struct ledger_lines *ledger_store_lines(const struct ledger_store *store) { return &store->lines; }

static assay_status write_all(const struct ledger_store *store, const char *bytes, size_t size) {
  while (size > 0) {
    ssize_t written = write(store->fd, bytes, size);
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return cannot_write(store->path, written < 0 ? errno : ENOSPC);
    }
    bytes += written;
    size -= (size_t)written;
  }
  return fsync(store->fd) == 0 ? status_ok() : cannot_write(store->path, errno);
}

static assay_status write_head(const struct ledger_store *store, const struct ledger_line *line) {
  char head[HEAD_BYTES_MAX];
  int size = snprintf(head, sizeof head, "line %lld %s\n", (long long)line->number, line->self);
  return file_replace(store->head_path, head, (size_t)size);
}

assay_status ledger_store_add(struct ledger_store *store, struct ledger_line *line) {
  struct ledger_lines *lines = &store->lines;
  const char *before = lines->count > 0 ? lines->items[lines->count - 1].self : NULL, *bytes;
  line->number = lines->count + 1;
  TRY(ledger_write_line(line, before, store->arena, &bytes));
  size_t size = strlen(bytes);
  if (size > LEDGER_BYTES_MAX - lines->size) {
    return status_make(ASSAY_LIMIT_EXCEEDED, store->path,
                       "with this line the ledger would be larger than 64 MiB; move it away: a new one then begins");
  }
  struct ledger_line *items;
  ARENA_NEW(store->arena, items, lines->count + 1);
  if (lines->count > 0) {
    memcpy(items, lines->items, (size_t)lines->count * sizeof *items);
  }
  /* What an interrupted run left behind the last line goes first. */
  if (ftruncate(store->fd, (off_t)lines->size) != 0) {
    return cannot_write(store->path, errno);
  }
  assay_status status = write_all(store, bytes, size);
  if (assay_status_ok(status)) {
    status = write_head(store, line);
  }
  if (!assay_status_ok(status)) {
    return ftruncate(store->fd, (off_t)lines->size) == 0
               ? status
               : status_prefix(status, "and what was begun could not be taken back");
  }
  items[lines->count] = *line;
  *lines = (struct ledger_lines){lines->count + 1, lines->count + 1, items, lines->size + size};
  return status_ok();
}

void ledger_store_close(struct ledger_store *store) {
  if (store != NULL) {
    if (store->fd >= 0) {
      close(store->fd); /* and with it the lock */
    }
    memory_free(store);
  }
}
