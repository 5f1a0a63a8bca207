/* Reading files whole, mapping them, and questions about them. Must never wait
 * for a FIFO or a device, whatever the path names. */
#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/memory.h"

static assay_status cannot_open(const char *path, int error) {
  if (error == ENOENT || error == ENOTDIR) {
    return status_make(ASSAY_FILE_MISSING, path, "the file does not exist; correct the path or create it");
  }
  return status_make(ASSAY_FILE_UNREADABLE, path, "the file cannot be opened for reading: %s; check its permissions",
                     strerror(error));
}

/* Opens a plain file. O_NONBLOCK keeps a FIFO from being waited for. */
assay_status file_open_plain(const char *path, int *out, uint64_t *size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) {
    return cannot_open(path, errno);
  }
  struct stat info;
  if (fstat(fd, &info) != 0) {
    int error = errno;
    close(fd);
    return cannot_open(path, error);
  }
  if (!S_ISREG(info.st_mode)) {
    close(fd);
    return status_make(ASSAY_FILE_UNREADABLE, path, "%s was found where a plain file was expected; name a plain file",
                       S_ISDIR(info.st_mode) ? "a folder" : "a FIFO, socket or device");
  }
  *out = fd;
  *size = (uint64_t)info.st_size;
  return status_ok();
}

assay_status file_map_open(const char *path, struct file_map *out) {
  *out = (struct file_map){0};
  int fd;
  uint64_t size;
  TRY(file_open_plain(path, &fd, &size));
  if (size == 0) {
    close(fd);
    return status_ok();
  }
  void *data = size > SIZE_MAX / 2 ? MAP_FAILED : mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
  int error = errno;
  close(fd);
  if (data == MAP_FAILED) {
    return status_make(ASSAY_FILE_UNREADABLE, path, "its %llu bytes cannot be mapped into memory: %s",
                       (unsigned long long)size, strerror(error));
  }
  *out = (struct file_map){data, (size_t)size};
  return status_ok();
}

void file_map_close(struct file_map *map) {
  if (map->data != NULL) {
    munmap((void *)(uintptr_t)map->data, map->size);
  }
  *map = (struct file_map){0};
}

static assay_status too_large(const char *path, size_t limit) {
  return status_make(
      ASSAY_LIMIT_EXCEEDED, path,
      "the file is larger than the %zu bytes that are read of such a file; make sure that it is the right one", limit);
}

/* Fills the buffer, growing it when the file grows meanwhile. */
static assay_status read_all(int fd, const char *path, size_t limit, char **buffer, size_t capacity, size_t *length) {
  *length = 0;
  for (;;) {
    ssize_t got = read(fd, *buffer + *length, capacity - *length);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return status_make(ASSAY_FILE_UNREADABLE, path, "reading failed after %zu bytes: %s", *length, strerror(errno));
    }
    if (got == 0) {
      return status_ok();
    }
    *length += (size_t)got;
    if (*length > limit) {
      return too_large(path, limit);
    }
    if (*length == capacity) {
      size_t larger;
      char *grown = size_mul(capacity, 2, &larger) ? memory_resize(*buffer, larger, 1) : NULL;
      if (grown == NULL) {
        return status_no_memory(capacity);
      }
      *buffer = grown;
      capacity = larger;
    }
  }
}

assay_status file_read(const char *path, size_t limit, char **out, size_t *size) {
  *out = NULL;
  *size = 0;
  int fd;
  uint64_t expected;
  TRY(file_open_plain(path, &fd, &expected));
  if (expected > limit || expected > SIZE_MAX - 2) {
    close(fd);
    return too_large(path, limit);
  }
  size_t capacity = (size_t)expected + 2; /* room to see the end, and for the zero byte */
  char *buffer = memory_alloc(capacity, 1);
  assay_status status = buffer == NULL ? status_no_memory(capacity) : status_ok();
  if (buffer != NULL) {
    status = read_all(fd, path, limit, &buffer, capacity, size);
  }
  close(fd);
  if (!assay_status_ok(status)) {
    memory_free(buffer);
    *size = 0;
    return status;
  }
  buffer[*size] = '\0';
  *out = buffer;
  return status_ok();
}

bool file_exists(const char *path) {
  struct stat info;
  return stat(path, &info) == 0;
}

bool file_is_folder(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

assay_status file_size(const char *path, uint64_t *size) {
  struct stat info;
  if (stat(path, &info) != 0) {
    return cannot_open(path, errno);
  }
  *size = (uint64_t)info.st_size;
  return status_ok();
}
