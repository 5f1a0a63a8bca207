/* Walks the source tree for the tests of the house: every file of some folders, by its path
 * below the source folder and with its content. */
#ifndef HOUSE_SOURCE_TREE_H
#define HOUSE_SOURCE_TREE_H

#include <string.h>

#include "core/file.h"
#include "core/memory.h"
#include "core/text.h"
#include "support.h"

struct source {
  const char *path; /* "src/core/file.c" */
  const char *name; /* "file.c" */
  const char *text;
};

struct source_tree {
  struct arena arena;
  struct source *files;
  size_t count, capacity;
};

static inline bool has_ending(const char *path, const char *const *endings) {
  for (; *endings != NULL; endings++) {
    if (text_ends_with(path, *endings)) {
      return true;
    }
  }
  return false;
}

/* Adds every file below `folder` whose name has one of the endings (NULL ends them). */
static inline void source_tree_add(struct source_tree *tree, const char *folder, const char *const *endings) {
  struct arena local = {0};
  char **names;
  size_t count;
  char *full = arena_format(&local, "%s/%s", ASSAY_SOURCE_DIR, folder);
  ASSERT_OK(folder_list(full, &local, &names, &count));
  for (size_t i = 0; i < count; i++) {
    char *path = arena_format(&tree->arena, "%s/%s", folder, names[i]);
    char *at = arena_format(&local, "%s/%s", ASSAY_SOURCE_DIR, path);
    if (file_is_folder(at)) {
      source_tree_add(tree, path, endings);
      continue;
    }
    if (!has_ending(path, endings)) {
      continue;
    }
    if (tree->count == tree->capacity) {
      tree->capacity = tree->capacity == 0 ? 256 : 2 * tree->capacity;
      tree->files = memory_resize(tree->files, tree->capacity, sizeof *tree->files);
      assert_non_null(tree->files);
    }
    char *text;
    size_t size;
    ASSERT_OK(file_read(at, 1 << 24, &text, &size));
    tree->files[tree->count++] = (struct source){path, path_name(path), arena_copy(&tree->arena, text, size)};
    memory_free(text);
  }
  arena_free(&local);
}

static inline void source_tree_free(struct source_tree *tree) {
  memory_free(tree->files);
  arena_free(&tree->arena);
}

#endif
