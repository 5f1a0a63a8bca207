/* Takes the name of a file beside a configuration into the facts. Only a plain name is taken: nothing that a
 * configuration says leads to another folder. */
#include "contract/import_beside.h"

#include <string.h>

#include "contract/yaml.h"
#include "core/file.h"

static bool is_plain(const char *name) {
  return name[0] != '\0' && strchr(name, '/') == NULL && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
         strlen(name) <= 255;
}

assay_status import_file_beside(struct import *import, const struct foreign *at, const char *name, struct text *out) {
  if (!is_plain(name)) {
    return import_error(import, at, "'%.80s' must be the name of a file in the same folder", name);
  }
  size_t folder = (size_t)(import->file->name - import->file->path);
  char *beside = arena_copy(import->arena, folder > 0 ? import->file->path : ".", folder > 0 ? folder : 1);
  char *path = beside != NULL ? path_join(import->arena, beside, name) : NULL;
  if (path == NULL) {
    return status_no_memory(folder + strlen(name));
  }
  if (!file_exists(path)) {
    return import_error(import, at, "the file '%.120s' is named here, but does not lie beside this one", name);
  }
  TRY(facts_file(import->facts, import_place(import, at), path, name));
  text_add(out, "{file: ");
  yaml_write_scalar(out, name);
  return text_status(out);
}
