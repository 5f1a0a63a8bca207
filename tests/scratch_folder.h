/* A folder of its own for each test program, made new, inside the build folder. */
#ifndef TESTS_SCRATCH_FOLDER_H
#define TESTS_SCRATCH_FOLDER_H

#include <stdio.h>
#include <string.h>

#include "core/file.h"
#include "support.h"

/* Makes the folder empty and answers its path. */
static inline const char *scratch_folder(const char *name) {
  static char path[1024];
  snprintf(path, sizeof path, ASSAY_BINARY_DIR "/scratch/%s", name);
  ASSERT_OK(folder_remove(path));
  ASSERT_OK(folder_make(path));
  return path;
}

/* The path of `name` in a folder; valid for the next three calls. */
static inline const char *in_folder(const char *folder, const char *name) {
  static char paths[4][2048];
  static int next;
  next = (next + 1) % 4;
  size_t folder_length = strlen(folder), name_length = strlen(name);
  assert_true(folder_length + name_length + 2 <= sizeof paths[next]);
  memmove(paths[next], folder, folder_length);
  paths[next][folder_length] = '/';
  memmove(paths[next] + folder_length + 1, name, name_length + 1);
  return paths[next];
}

static inline void write_file(const char *path, const void *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

#endif
