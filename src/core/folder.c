/* Folders: making, listing, removing, and putting a whole new one in place of an
 * old one. Must never remove anything that a link leads to, nor a folder of
 * somebody else's files. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"

enum { OPEN_FOLDERS = 32, ENTRIES_MAX = 1 << 20 };

static assay_status cannot(const char *path, const char *what, int error) {
  return status_make(ASSAY_FILE_UNWRITABLE, path, "the folder cannot be %s: %s; check the free space and permissions",
                     what, strerror(error));
}

assay_status folder_make(const char *path) {
  struct arena arena = {0};
  char *copy = arena_string(&arena, path);
  if (copy == NULL) {
    return status_no_memory(strlen(path));
  }
  assay_status status = status_ok();
  size_t length = strlen(copy);
  for (size_t i = 1; i <= length && assay_status_ok(status); i++) {
    if (copy[i] != '/' && copy[i] != '\0') {
      continue;
    }
    char kept = copy[i];
    copy[i] = '\0';
    if (mkdir(copy, 0777) != 0 && !(errno == EEXIST && file_is_folder(copy))) {
      status = cannot(copy, "made", errno == EEXIST ? ENOTDIR : errno);
    }
    copy[i] = kept;
  }
  arena_free(&arena);
  return status;
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *walk) {
  (void)info;
  (void)walk;
  return kind == FTW_DP || kind == FTW_DNR ? rmdir(path) : unlink(path);
}

assay_status folder_remove(const char *path) {
  if (nftw(path, remove_entry, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) != 0 && errno != ENOENT) {
    return cannot(path, "removed", errno);
  }
  return status_ok();
}

static int by_bytes(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Appends a copy of `name`; the array doubles inside the arena. */
static assay_status append_name(struct arena *arena, const char *name, char ***names, size_t *count, size_t *capacity) {
  if (*count == *capacity) {
    size_t larger = *capacity == 0 ? 16 : *capacity * 2;
    char **grown;
    ARENA_NEW(arena, grown, larger);
    if (*count > 0) {
      memcpy(grown, *names, *count * sizeof *grown);
    }
    *names = grown;
    *capacity = larger;
  }
  char *copy = arena_string(arena, name);
  if (copy == NULL) {
    return status_no_memory(strlen(name));
  }
  (*names)[(*count)++] = copy;
  return status_ok();
}

assay_status folder_list(const char *path, struct arena *arena, char ***names, size_t *count) {
  *names = NULL;
  *count = 0;
  DIR *folder = opendir(path);
  if (folder == NULL) {
    return status_make(errno == ENOENT ? ASSAY_FILE_MISSING : ASSAY_FILE_UNREADABLE, path,
                       "the folder cannot be read: %s; correct the path", strerror(errno));
  }
  assay_status status = status_ok();
  size_t capacity = 0;
  const struct dirent *entry;
  while (assay_status_ok(status) && (errno = 0, entry = readdir(folder)) != NULL) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
      continue;
    }
    if (*count == ENTRIES_MAX) {
      status = status_make(ASSAY_LIMIT_EXCEEDED, path, "the folder holds more than %d files", ENTRIES_MAX);
      break;
    }
    status = append_name(arena, entry->d_name, names, count, &capacity);
  }
  if (assay_status_ok(status) && errno != 0) {
    status = status_make(ASSAY_FILE_UNREADABLE, path, "the folder cannot be read to its end: %s", strerror(errno));
  }
  closedir(folder);
  if (*count > 1) {
    qsort(*names, *count, sizeof **names, by_bytes);
  }
  return status;
}

/* Where the folder really stands: links followed, no slash at the end. */
static assay_status resolve_folder(const char *path, struct arena *arena, char **out) {
  char resolved[PATH_MAX];
  if (realpath(path, resolved) != NULL) {
    *out = arena_string(arena, resolved);
  } else {
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') {
      length--;
    }
    *out = arena_copy(arena, path, length);
  }
  return *out == NULL ? status_no_memory(strlen(path)) : status_ok();
}

/* Refuses to replace what is not a folder of the marked kind. */
static assay_status check_ours(const char *path, const char *marker, struct arena *arena) {
  struct stat info;
  if (lstat(path, &info) != 0) {
    return errno == ENOENT ? status_ok() : cannot(path, "replaced", errno);
  }
  if (!S_ISDIR(info.st_mode)) {
    return status_make(ASSAY_FILE_UNWRITABLE, path,
                       "a file stands where a folder is to be written; name another folder");
  }
  char **names;
  size_t count;
  TRY(folder_list(path, arena, &names, &count));
  char *inside = path_join(arena, path, marker);
  if (inside == NULL) {
    return status_no_memory(strlen(path));
  }
  if (count > 0 && !file_exists(inside)) {
    return status_make(ASSAY_FILE_UNWRITABLE, path,
                       "the folder holds other files and no %s, so it is not replaced; name a new or empty folder",
                       marker);
  }
  return status_ok();
}

static assay_status make_staging(const char *target, struct arena *arena, char **staging) {
  static _Atomic unsigned serial;
  char *parent = path_folder(arena, target);
  if (parent == NULL) {
    return status_no_memory(strlen(target));
  }
  TRY(folder_make(parent));
  for (int attempt = 0; attempt < 100; attempt++) {
    *staging = arena_format(arena, "%s/.assay-part-%ld-%u.d", parent, (long)getpid(), atomic_fetch_add(&serial, 1));
    if (*staging == NULL) {
      return status_no_memory(strlen(parent));
    }
    if (mkdir(*staging, 0777) == 0) {
      return status_ok();
    }
    if (errno != EEXIST) {
      break;
    }
  }
  return cannot(target, "made", errno);
}

assay_status folder_stage(const char *path, const char *marker, struct arena *arena, char **staging) {
  char *target;
  *staging = NULL;
  TRY(resolve_folder(path, arena, &target));
  TRY(check_ours(target, marker, arena));
  return make_staging(target, arena, staging);
}

/* Swaps by two renames where the file system cannot exchange; the old folder is
 * put back when the second one fails. */
static int swap_by_renames(const char *staging, const char *target, char *aside) {
  if (rename(target, aside) != 0) {
    return errno;
  }
  if (rename(staging, target) != 0) {
    int error = errno;
    return rename(aside, target) == 0 ? error : errno;
  }
  return rename(aside, staging) == 0 ? 0 : errno;
}

/* Afterwards the new folder stands at target, and the old one at staging. */
static int exchange(const char *staging, const char *target, struct arena *arena) {
  if (renameat2(AT_FDCWD, staging, AT_FDCWD, target, RENAME_EXCHANGE) == 0) {
    return 0;
  }
  if (errno != EINVAL && errno != ENOSYS) {
    return errno;
  }
  char *aside = arena_format(arena, "%s.old", staging);
  return aside == NULL ? ENOMEM : swap_by_renames(staging, target, aside);
}

static void sync_folder(const char *path) {
  int fd = path == NULL ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) {
    fsync(fd);
    close(fd);
  }
}

static assay_status commit(const char *staging, const char *path, struct arena *arena) {
  char *target;
  TRY(resolve_folder(path, arena, &target));
  sync_folder(staging);
  bool stood = file_exists(target);
  int error = stood ? exchange(staging, target, arena) : (rename(staging, target) == 0 ? 0 : errno);
  if (error != 0) {
    return cannot(target, "put in place", error);
  }
  sync_folder(path_folder(arena, target));
  return stood ? folder_remove(staging) : status_ok();
}

assay_status folder_commit(const char *staging, const char *path) {
  struct arena arena = {0};
  assay_status status = commit(staging, path, &arena);
  arena_free(&arena);
  return status;
}

void folder_abandon(const char *staging) {
  if (staging != NULL) {
    assay_status status = folder_remove(staging);
    assay_status_clear(&status);
  }
}
