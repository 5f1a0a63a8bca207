/* Replacing a file so that a reader sees the old one or the new one, whole.
 * Must never leave a partial file behind, whatever fails. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"
#include "core/memory.h"

struct file_writer {
  struct arena arena; /* holds the two names */
  char *path, *temporary;
  int fd;
};

static assay_status cannot_write(const char *path, int error) {
  return status_make(ASSAY_FILE_UNWRITABLE, path,
                     "the file cannot be written: %s; what stood there before is unchanged", strerror(error));
}

/* The file that is really replaced: what a link points to, never the link. Only
 * a plain file may stand there already. */
static assay_status resolve_target(const char *path, struct arena *arena, char **out, mode_t *mode) {
  struct stat info;
  *mode = 0;
  if (lstat(path, &info) != 0) {
    if (errno != ENOENT) {
      return cannot_write(path, errno);
    }
    *out = arena_string(arena, path);
    return *out == NULL ? status_no_memory(strlen(path)) : status_ok();
  }
  char resolved[PATH_MAX];
  if (realpath(path, resolved) == NULL || stat(resolved, &info) != 0) {
    return cannot_write(path, errno);
  }
  if (!S_ISREG(info.st_mode)) {
    return status_make(ASSAY_FILE_UNWRITABLE, path,
                       "something other than a plain file stands there; name another file");
  }
  *mode = info.st_mode & 07777;
  *out = arena_string(arena, resolved);
  return *out == NULL ? status_no_memory(strlen(resolved)) : status_ok();
}

static assay_status open_beside(struct file_writer *writer) {
  static _Atomic unsigned serial;
  char *folder = path_folder(&writer->arena, writer->path);
  if (folder == NULL) {
    return status_no_memory(strlen(writer->path));
  }
  for (int attempt = 0; attempt < 100; attempt++) {
    writer->temporary =
        arena_format(&writer->arena, "%s/.assay-part-%ld-%u", folder, (long)getpid(), atomic_fetch_add(&serial, 1));
    if (writer->temporary == NULL) {
      return status_no_memory(strlen(folder));
    }
    writer->fd = open(writer->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (writer->fd >= 0) {
      return status_ok();
    }
    if (errno != EEXIST) {
      break;
    }
  }
  writer->temporary = NULL;
  return cannot_write(writer->path, errno);
}

assay_status file_writer_open(const char *path, struct file_writer **out) {
  *out = NULL;
  struct file_writer *writer = memory_alloc(1, sizeof *writer);
  if (writer == NULL) {
    return status_no_memory(sizeof *writer);
  }
  writer->fd = -1;
  mode_t mode;
  assay_status status = resolve_target(path, &writer->arena, &writer->path, &mode);
  if (assay_status_ok(status)) {
    status = open_beside(writer);
  }
  if (assay_status_ok(status) && mode != 0 && fchmod(writer->fd, mode) != 0) {
    status = cannot_write(path, errno);
  }
  if (!assay_status_ok(status)) {
    file_writer_abandon(writer);
    return status;
  }
  *out = writer;
  return status_ok();
}

assay_status file_writer_write(struct file_writer *writer, const void *bytes, size_t size) {
  const char *next = bytes;
  while (size > 0) {
    ssize_t written = write(writer->fd, next, size);
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      return cannot_write(writer->path, errno);
    }
    next += written;
    size -= (size_t)written;
  }
  return status_ok();
}

/* Makes a rename in the folder last; a file system that cannot is no failure. */
static void sync_folder_of(struct arena *arena, const char *path) {
  char *folder = path_folder(arena, path);
  int fd = folder == NULL ? -1 : open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) {
    fsync(fd);
    close(fd);
  }
}

assay_status file_writer_commit(struct file_writer *writer) {
  int failed = fsync(writer->fd) != 0 ? errno : 0;
  failed = close(writer->fd) != 0 && failed == 0 ? errno : failed;
  writer->fd = -1;
  if (failed == 0 && rename(writer->temporary, writer->path) != 0) {
    failed = errno;
  }
  if (failed != 0) {
    assay_status status = cannot_write(writer->path, failed);
    file_writer_abandon(writer);
    return status;
  }
  writer->temporary = NULL;
  sync_folder_of(&writer->arena, writer->path);
  file_writer_abandon(writer);
  return status_ok();
}

void file_writer_abandon(struct file_writer *writer) {
  if (writer == NULL) {
    return;
  }
  if (writer->fd >= 0) {
    close(writer->fd);
  }
  if (writer->temporary != NULL) {
    unlink(writer->temporary);
  }
  arena_free(&writer->arena);
  memory_free(writer);
}

assay_status file_replace(const char *path, const void *bytes, size_t size) {
  struct file_writer *writer;
  TRY(file_writer_open(path, &writer));
  assay_status status = file_writer_write(writer, bytes, size);
  if (!assay_status_ok(status)) {
    file_writer_abandon(writer);
    return status;
  }
  return file_writer_commit(writer);
}
