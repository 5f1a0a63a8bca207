/* Finding runtimes inside Python installations: see runtime_search.h. It opens nothing and runs nothing. */
#include "rung/runtime_search.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"

enum { ROOTS_MAX = 16, ROOT_SIZE = 1024 };
static char roots[ROOTS_MAX][ROOT_SIZE];
static int n_roots;

void runtime_search_add(const char *root) {
  size_t length = strlen(root);
  if (n_roots < ROOTS_MAX && length > 0 && length < ROOT_SIZE) {
    memcpy(roots[n_roots++], root, length + 1);
  }
}

/* The last of the folder's files that begins with `prefix`, by name: the newest version. NULL when there is none. */
static assay_status last_match(const char *folder, const char *prefix, struct arena *arena, const char **out) {
  char **names;
  size_t count = 0;
  *out = NULL;
  if (!file_is_folder(folder)) {
    return status_ok();
  }
  TRY(folder_list(folder, arena, &names, &count));
  for (size_t i = count; i > 0 && *out == NULL; i--) {
    if (text_starts_with(names[i - 1], prefix)) {
      *out = path_join(arena, folder, names[i - 1]);
      if (*out == NULL) {
        return status_no_memory(strlen(folder));
      }
    }
  }
  return status_ok();
}

/* One Python version of one root. */
static assay_status search_packages(const char *python, const char *inside, struct arena *arena, struct text *tried,
                                    const char **out) {
  static const char *const kinds[] = {"site-packages", "dist-packages"};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds && *out == NULL; k++) {
    const char *packages = path_join(arena, python, kinds[k]);
    const char *file = packages != NULL ? path_join(arena, packages, inside) : NULL;
    const char *folder = file != NULL ? path_folder(arena, file) : NULL;
    if (folder == NULL) {
      return status_no_memory(strlen(python));
    }
    if (file_is_folder(packages)) {
      text_format(tried, "%s%s", tried->length > 0 ? ", " : "", packages);
      TRY(last_match(folder, path_name(inside), arena, out));
    }
  }
  return status_ok();
}

assay_status runtime_find_wheel(const char *inside, struct arena *arena, struct text *tried, const char **out) {
  *out = NULL;
  for (int r = 0; r < n_roots && *out == NULL; r++) {
    const char *library = path_join(arena, roots[r], "lib");
    char **names;
    size_t count = 0;
    if (library == NULL) {
      return status_no_memory(strlen(roots[r]));
    }
    if (!file_is_folder(library)) {
      continue;
    }
    TRY(folder_list(library, arena, &names, &count));
    for (size_t i = 0; i < count && *out == NULL; i++) {
      const char *python = text_starts_with(names[i], "python3") ? path_join(arena, library, names[i]) : NULL;
      if (python != NULL) {
        TRY(search_packages(python, inside, arena, tried, out));
      }
    }
  }
  return text_status(tried);
}

assay_status runtime_check_file(const char *path) {
  struct stat info;
  if (strchr(path, '/') == NULL || stat(path, &info) != 0 || S_ISREG(info.st_mode)) {
    return status_ok(); /* what is not there, the loader says */
  }
  return status_make(ASSAY_RUNTIME_MISSING, path, "the library cannot be loaded: this is no plain file");
}

const char *runtime_python(struct arena *arena) {
  for (int r = 0; r < n_roots; r++) {
    const char *python = path_join(arena, roots[r], "bin/python3");
    if (python != NULL && access(python, X_OK) == 0) {
      return python;
    }
  }
  return "python3";
}
