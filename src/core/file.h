/* Files: reading whole, mapping, and replacing so that a reader sees either
 * the old file or the new one. Paths are bytes; nothing here follows a name
 * that a file's content gave, without path_join_inside. Thread-safe. */
#ifndef CORE_FILE_H
#define CORE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/status.h"

/* Read-only mapping of a whole file. An empty file maps to data = NULL. */
struct file_map {
  const uint8_t *data;
  size_t size;
};
ASSAY_MUST_CHECK assay_status file_map_open(const char *path, struct file_map *out);
void file_map_close(struct file_map *map);

/* A descriptor of a plain file, opened for reading, and its size now. A FIFO or
 * device is FILE_UNREADABLE and never waited for. The caller closes it. */
ASSAY_MUST_CHECK assay_status file_open_plain(const char *path, int *descriptor, uint64_t *size);

/* Reads a file of at most `limit` bytes into memory that the caller ends with
 * memory_free; a zero byte follows the content. LIMIT_EXCEEDED beyond. Only
 * plain files: a FIFO or device is FILE_UNREADABLE, never waited for. */
ASSAY_MUST_CHECK assay_status file_read(const char *path, size_t limit, char **out, size_t *size);

/* Replaces `path` by the bytes: written beside, fsynced, renamed. On failure
 * what stood there before is unchanged and nothing is left beside it. */
ASSAY_MUST_CHECK assay_status file_replace(const char *path, const void *bytes, size_t size);

/* The same for files that are written piece by piece. */
struct file_writer;
ASSAY_MUST_CHECK assay_status file_writer_open(const char *path, struct file_writer **out);
ASSAY_MUST_CHECK assay_status file_writer_write(struct file_writer *writer, const void *bytes, size_t size);
/* Commits and frees. */
ASSAY_MUST_CHECK assay_status file_writer_commit(struct file_writer *writer);
/* Drops what was written and frees; NULL is harmless. */
void file_writer_abandon(struct file_writer *writer);

/* A whole folder made new: fill the folder at *staging, then commit, which
 * puts it in place of `path` (an old folder there is removed after the swap,
 * by renameat2(EXCHANGE) where the file system has it). `marker` is a file that
 * every folder of this kind holds, such as "run.yaml": a folder at `path` that
 * is neither empty nor has it is not ours to replace, and is FILE_UNWRITABLE. */
ASSAY_MUST_CHECK assay_status folder_stage(const char *path, const char *marker, struct arena *arena, char **staging);
ASSAY_MUST_CHECK assay_status folder_commit(const char *staging, const char *path);
void folder_abandon(const char *staging);

ASSAY_MUST_CHECK assay_status folder_make(const char *path);   /* with parents; existing is fine */
ASSAY_MUST_CHECK assay_status folder_remove(const char *path); /* with all it holds; follows no link */
/* Names in a folder, sorted by bytes, without "." and "..". */
ASSAY_MUST_CHECK assay_status folder_list(const char *path, struct arena *arena, char ***names, size_t *count);

bool file_exists(const char *path);
bool file_is_folder(const char *path);
ASSAY_MUST_CHECK assay_status file_size(const char *path, uint64_t *size);

/* "a/b" from "a" and "b"; an absolute `name` stands alone. NULL: no memory. */
char *path_join(struct arena *arena, const char *folder, const char *name);
/* The folder part of a path ("." when it has none), and the last part. */
char *path_folder(struct arena *arena, const char *path);
const char *path_name(const char *path);
/* True when both name one existing file or folder, links followed. */
bool path_same(const char *a, const char *b);
/* Joins a name that came from a file's content: refuses absolute names, "..",
 * empty names and control characters, and, when the file exists, links that
 * lead out of `folder`. `code` is what to fail with. */
ASSAY_MUST_CHECK assay_status path_join_inside(struct arena *arena, const char *folder, const char *name,
                                               assay_code code, char **out);
/* Percent-encodes all but A-Za-z0-9._- so that a tensor's name can be a file
 * name ("." and ".." are encoded whole); and back. NULL: no memory/malformed. */
char *path_encode(struct arena *arena, const char *name);
char *path_decode(struct arena *arena, const char *encoded);

#endif
