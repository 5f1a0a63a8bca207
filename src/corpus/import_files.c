/* Importing NumPy files: .npz as they are, .npy gathered to a case, and folders of either. Names of arrays
 * come from names of files only through percent-decoding, and are checked like all others. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/list.h"
#include "core/memory.h"
#include "corpus/case_arrays.h"
#include "corpus/case_seeds.h"
#include "corpus/import.h"
#include "corpus/import_case.h"
#include "tensor/npy.h"

/* --- a case in the making ---------------------------------------------- */

void import_case_free(struct import_case *made) {
  for (int32_t i = 0; i < made->count; i++) {
    tensor_free(&made->tensors[i]);
  }
  memory_free(made->names);
  memory_free(made->tensors);
  arena_free(&made->arena);
  *made = (struct import_case){0};
}

assay_status import_case_take(struct import_case *made, const char *array, assay_tensor *tensor) {
  int32_t capacity = made->capacity;
  LIST_ROOM(made->names, made->count, capacity);
  LIST_ROOM(made->tensors, made->count, made->capacity);
  const char *name = arena_string(&made->arena, array);
  if (name == NULL) {
    return status_no_memory(strlen(array));
  }
  made->names[made->count] = name;
  made->tensors[made->count++] = *tensor;
  *tensor = (assay_tensor){0};
  return status_ok();
}

assay_status import_case_add(struct import_case *made, struct corpus_editor *editor, const struct corpus_case *entry) {
  struct npz_entry *arrays = memory_alloc((size_t)made->count, sizeof *arrays);
  if (arrays == NULL) {
    return status_no_memory((size_t)made->count * sizeof *arrays);
  }
  for (int32_t i = 0; i < made->count; i++) {
    arrays[i] = (struct npz_entry){made->names[i], &made->tensors[i]};
  }
  assay_status status = corpus_edit_add(editor, entry, arrays, (size_t)made->count);
  memory_free(arrays);
  return status;
}

char *import_stem(struct arena *arena, const char *path) {
  size_t length = strlen(path);
  while (length > 1 && path[length - 1] == '/') {
    length--;
  }
  char *trimmed = arena_copy(arena, path, length);
  if (trimmed == NULL) {
    return NULL;
  }
  char *name = trimmed + (path_name(trimmed) - trimmed), *dot = strrchr(name, '.');
  if (dot != NULL && dot != name) {
    *dot = '\0';
  }
  return name;
}

struct case_origin import_origin(void) {
  return (struct case_origin)CASE_ORIGIN_NONE;
}

/* --- .npy -------------------------------------------------------------- */

static assay_status take_npy(struct import_case *made, const struct corpus_editor *editor, const char *array,
                             const char *path) {
  const char *rest;
  int32_t seed;
  enum array_group group = array_group_of(array_unseeded(array, &seed), &rest);
  if (group == GROUP_COUNT || group == GROUP_TAPS || *rest == '\0') {
    return status_make(ASSAY_USAGE, path,
                       "'%s' is no array of a case; those are inputs/NAME, outputs/NAME, raw/NAME, decoded/NAME, "
                       "outputs64/NAME, repeats/N/NAME, and the same behind seeds/N/",
                       array);
  }
  for (int32_t i = 0; i < made->count; i++) {
    if (strcmp(made->names[i], array) == 0) {
      return status_make(ASSAY_USAGE, path, "the array '%s' is given twice", array);
    }
  }
  assay_tensor tensor;
  TRY(corpus_edit_source(editor, path));
  TRY(npy_read(path, &tensor));
  assay_status status = corpus_edit_retype(editor, path, array, &tensor);
  if (assay_status_ok(status)) {
    status = import_case_take(made, array, &tensor);
  }
  tensor_free(&tensor);
  return status;
}

assay_status import_npy(struct corpus_editor *editor, const struct corpus_case *like, const struct import_array *arrays,
                        size_t count) {
  struct import_case made = {0};
  struct corpus_case entry = *like;
  entry.file = NULL;
  entry.origin = import_origin();
  assay_status status = status_ok();
  if (like->id == NULL) {
    status = status_make(ASSAY_USAGE, NULL, "a case made of .npy files needs an id");
  }
  for (size_t i = 0; i < count && assay_status_ok(status); i++) {
    status = take_npy(&made, editor, arrays[i].array, arrays[i].path);
  }
  if (assay_status_ok(status)) {
    status = import_case_add(&made, editor, &entry);
  }
  import_case_free(&made);
  return status;
}

/* --- .npz -------------------------------------------------------------- */

/* True when the file lies directly in the corpus folder. */
static assay_status lies_inside(const struct corpus *corpus, const char *path, bool *inside) {
  struct arena arena = {0};
  char *folder = path_folder(&arena, path);
  *inside = folder != NULL && path_same(folder, corpus->folder);
  bool failed = folder == NULL;
  arena_free(&arena);
  return failed ? status_no_memory(strlen(path)) : status_ok();
}

static assay_status add_npz(struct corpus_editor *editor, const struct corpus_case *like, const char *path,
                            struct arena *arena) {
  struct corpus_case entry = *like;
  bool inside;
  entry.id = like->id != NULL ? like->id : import_stem(arena, path);
  if (entry.id == NULL) {
    return status_no_memory(strlen(path));
  }
  entry.origin = import_origin();
  TRY(lies_inside(corpus_edited(editor), path, &inside));
  if (inside) {
    entry.file = path_name(path);
    return corpus_edit_adopt(editor, &entry);
  }
  char digest[HASH_TEXT_SIZE];
  TRY(hash_file(path, digest));
  entry.file = NULL;
  entry.origin.file = path_name(path);
  entry.origin.digest = digest;
  return corpus_edit_copy(editor, &entry, path);
}

assay_status import_npz(struct corpus_editor *editor, const struct corpus_case *like, const char *path) {
  struct arena arena = {0};
  assay_status status = add_npz(editor, like, path, &arena);
  arena_free(&arena);
  return status;
}

/* --- folders ----------------------------------------------------------- */

/* What a folder holds, as far as importing goes. */
struct listing {
  char **names;
  size_t count;
};

static bool is_group(const char *name) {
  for (int g = 0; g < GROUP_COUNT; g++) {
    if (g != GROUP_TAPS && strcmp(name, array_group_name((enum array_group)g)) == 0) {
      return true;
    }
  }
  return strcmp(name, "seeds") == 0;
}

/* How many folders deep the arrays of a group may lie: repeats/N, seeds/N/inputs, seeds/N/repeats/N. */
static int group_depth(const char *name) {
  return strcmp(name, "seeds") == 0 ? 3 : strcmp(name, array_group_name(GROUP_REPEATS)) == 0 ? 1 : 0;
}

static bool holds_groups(const struct listing *listing) {
  for (size_t i = 0; i < listing->count; i++) {
    if (is_group(listing->names[i])) {
      return true;
    }
  }
  return false;
}

/* Every .npy below `path`; `prefix` is what their arrays' names begin with. */
static assay_status take_npy_folder(struct import_case *made, const struct corpus_editor *editor, const char *path,
                                    const char *prefix, int depth) {
  struct listing listing;
  TRY(folder_list(path, &made->arena, &listing.names, &listing.count));
  for (size_t i = 0; i < listing.count; i++) {
    const char *name = listing.names[i];
    char *inner = path_join(&made->arena, path, name);
    if (inner == NULL) {
      return status_no_memory(strlen(name));
    }
    if (depth > 0 && file_is_folder(inner)) {
      char *longer = arena_format(&made->arena, "%s%s/", prefix, name);
      TRY(longer == NULL ? status_no_memory(strlen(name)) : take_npy_folder(made, editor, inner, longer, depth - 1));
      continue;
    }
    if (!text_ends_with(name, ".npy")) {
      return status_make(ASSAY_CORPUS_INVALID, inner,
                         "this is no .npy file; leave only arrays in the folders of a case");
    }
    char *encoded = arena_copy(&made->arena, name, strlen(name) - 4);
    char *decoded = encoded == NULL ? NULL : path_decode(&made->arena, encoded);
    char *array = decoded == NULL ? NULL : arena_format(&made->arena, "%s%s", prefix, decoded);
    if (array == NULL) {
      return status_make(ASSAY_CORPUS_INVALID, inner,
                         "the name of this file is no percent-encoded name of a tensor; write %% as %%25");
    }
    TRY(take_npy(made, editor, array, inner));
  }
  return status_ok();
}

static assay_status take_groups(struct import_case *made, const struct corpus_editor *editor, const char *path,
                                const struct listing *listing) {
  for (size_t i = 0; i < listing->count; i++) {
    const char *name = listing->names[i];
    char *inner = path_join(&made->arena, path, name);
    char *prefix = arena_format(&made->arena, "%s/", name);
    if (inner == NULL || prefix == NULL) {
      return status_no_memory(strlen(name));
    }
    if (!is_group(name) || !file_is_folder(inner)) {
      return status_make(ASSAY_CORPUS_INVALID, inner,
                         "beside the folders inputs, outputs, ... of a case nothing else may lie; move it away");
    }
    TRY(take_npy_folder(made, editor, inner, prefix, group_depth(name)));
  }
  return status_ok();
}

static assay_status add_npy_folder(struct corpus_editor *editor, const struct corpus_case *like, const char *path,
                                   const struct listing *listing) {
  struct import_case made = {0};
  struct corpus_case entry = *like;
  entry.file = NULL;
  entry.origin = import_origin();
  entry.origin.file = import_stem(&made.arena, path);
  entry.id = like->id != NULL ? like->id : entry.origin.file;
  assay_status status = entry.id == NULL ? status_no_memory(strlen(path)) : take_groups(&made, editor, path, listing);
  if (assay_status_ok(status)) {
    status = import_case_add(&made, editor, &entry);
  }
  import_case_free(&made);
  return status;
}

/* One thing in a folder of cases: an .npz, or a folder of .npy files. */
static assay_status add_member(struct corpus_editor *editor, const struct corpus_case *like, const char *path,
                               struct arena *arena) {
  if (!file_is_folder(path)) {
    return import_npz(editor, like, path);
  }
  struct listing listing;
  TRY(folder_list(path, arena, &listing.names, &listing.count));
  if (!holds_groups(&listing)) {
    return status_make(ASSAY_CORPUS_INVALID, path,
                       "this folder holds neither inputs/ nor outputs/; a case of .npy files has them");
  }
  return add_npy_folder(editor, like, path, &listing);
}

static assay_status add_members(struct corpus_editor *editor, const struct corpus_case *like, const char *path,
                                const struct listing *listing, struct arena *arena) {
  for (size_t i = 0; i < listing->count; i++) {
    struct corpus_case entry = *like;
    char *inner = path_join(arena, path, listing->names[i]);
    if (inner == NULL) {
      return status_no_memory(strlen(path));
    }
    if (!file_is_folder(inner) && !text_ends_with(inner, ".npz")) {
      return status_make(
          ASSAY_CORPUS_INVALID, inner,
          "this is neither an .npz nor a folder of .npy files; move it away or name the cases one by one");
    }
    if (like->id != NULL && listing->count > 1) {
      char *stem = import_stem(arena, listing->names[i]);
      entry.id = stem == NULL ? NULL : arena_format(arena, "%s_%s", like->id, stem);
      if (entry.id == NULL) {
        return status_no_memory(strlen(inner));
      }
    }
    TRY(add_member(editor, &entry, inner, arena));
  }
  return status_ok();
}

static assay_status add_folder(struct corpus_editor *editor, const struct corpus_case *like, const char *path,
                               struct arena *arena) {
  struct listing listing;
  TRY(corpus_edit_source(editor, path));
  TRY(folder_list(path, arena, &listing.names, &listing.count));
  if (listing.count == 0) {
    return status_make(ASSAY_CORPUS_INVALID, path, "the folder is empty; there is nothing to import");
  }
  return holds_groups(&listing) ? add_npy_folder(editor, like, path, &listing)
                                : add_members(editor, like, path, &listing, arena);
}

assay_status import_folder(struct corpus_editor *editor, const struct corpus_case *like, const char *path) {
  struct arena arena = {0};
  assay_status status = add_folder(editor, like, path, &arena);
  arena_free(&arena);
  return status;
}

assay_status import_kind_of(const char *path, enum import_kind *out) {
  if (!file_is_folder(path)) {
    bool hdf5 = text_ends_with(path, ".h5") || text_ends_with(path, ".hdf5");
    if (!hdf5 && !text_ends_with(path, ".npz")) {
      return status_make(file_exists(path) ? ASSAY_USAGE : ASSAY_FILE_MISSING, path,
                         "what can be imported is a folder, an .npz, or an HDF5 file named .h5 or .hdf5");
    }
    *out = hdf5 ? IMPORT_HDF5 : IMPORT_NPZ;
    return status_ok();
  }
  struct arena arena = {0};
  struct listing listing;
  assay_status status = folder_list(path, &arena, &listing.names, &listing.count);
  *out = IMPORT_FOLDER;
  for (size_t i = 0; assay_status_ok(status) && i < listing.count; i++) {
    if (text_starts_with(listing.names[i], "test_data_set_") || text_ends_with(listing.names[i], ".pb")) {
      *out = IMPORT_ONNX;
    }
  }
  arena_free(&arena);
  return status;
}
