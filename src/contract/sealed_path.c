/* See sealed_path.h. Only the role in corpus.yaml is looked at: a corpus that is damaged otherwise is sealed all the
 * same. */
#include "contract/sealed_path.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "contract/yaml.h"
#include "core/arena.h"
#include "core/file.h"
#include "core/text.h"

enum { FOLDERS_ABOVE = 4 };

/* A corpus.yaml that cannot be read says nothing; whoever reads the corpus itself is told. */
static bool is_sealed(const char *index, struct arena *arena) {
  struct yaml_file file;
  assay_status status = yaml_read(index, ASSAY_CORPUS_INVALID, arena, &file);
  bool read = assay_status_ok(status) && file.root != NULL && file.root->kind == YAML_MAPPING;
  const struct yaml *role = read ? yaml_get(file.root, "role") : NULL;
  bool sealed = role != NULL && role->kind == YAML_SCALAR && text_equal(role->text, "sealed");
  assay_status_clear(&status);
  return sealed;
}

assay_status sealed_path_check(const char *path) {
  struct arena arena = {0};
  char resolved[PATH_MAX];
  bool sealed = false;
  if (realpath(path, resolved) == NULL) {
    return status_ok(); /* it is not there; whoever opens it says so */
  }
  char *folder = resolved;
  for (int i = 0; i < FOLDERS_ABOVE && folder != NULL && !sealed && strcmp(folder, "/") != 0; i++) {
    char *index = path_join(&arena, folder, "corpus.yaml");
    sealed = index != NULL && file_exists(index) && is_sealed(index, &arena);
    folder = path_folder(&arena, folder);
  }
  arena_free(&arena);
  return !sealed
             ? status_ok()
             : status_make(ASSAY_CORPUS_SEALED, path,
                           "this file belongs to a sealed corpus: only the final evaluation may read it; use a golden "
                           "or calibration corpus");
}
