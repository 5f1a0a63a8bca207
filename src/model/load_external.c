/* External data: tensors whose bytes lie in another file. That file is named by the model, which is
 * hostile: it must lie in the model's folder, and no byte of any other file is ever read. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/load.h"

/* What a tensor's external_data entries say; NULL where they do not. */
struct external_entry {
  const char *location, *offset, *length;
};

static assay_status read_entries(const struct loader *loader, const Onnx__TensorProto *proto, const char *name,
                                 struct external_entry *out) {
  *out = (struct external_entry){0};
  for (size_t i = 0; i < proto->n_external_data; i++) {
    const char *key = proto->external_data[i]->key, *value = proto->external_data[i]->value;
    const char **place = NULL;
    if (key != NULL && text_equal(key, "location")) {
      place = &out->location;
    } else if (key != NULL && text_equal(key, "offset")) {
      place = &out->offset;
    } else if (key != NULL && text_equal(key, "length")) {
      place = &out->length;
    }
    if (place == NULL) {
      continue; /* checksum, and keys of other tools: they do not say where the data lie */
    }
    if (*place != NULL) {
      return load_fail(loader, ASSAY_EXTERNAL_LOCATION, "external data of tensor '%s' give '%s' twice; keep one", name,
                       key);
    }
    *place = value != NULL ? value : "";
  }
  if (out->location == NULL || out->location[0] == '\0') {
    return load_fail(loader, ASSAY_EXTERNAL_LOCATION,
                     "external data of tensor '%s' name no file; give 'location' as a path beside the model", name);
  }
  return status_ok();
}

static bool read_number(const char *text, int64_t *out) {
  char *end;
  errno = 0;
  long long value = strtoll(text, &end, 10);
  bool digits = (text[0] >= '0' && text[0] <= '9') || (text[0] == '-' && text[1] >= '0' && text[1] <= '9');
  *out = value;
  return digits && *end == '\0' && errno == 0;
}

/* True when a part of the path is "..". */
static bool leads_up(const char *path) {
  for (const char *part = path; part != NULL; part = strchr(part, '/')) {
    part += *part == '/';
    if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0')) {
      return true;
    }
  }
  return false;
}

static bool is_absolute(const char *path) {
  bool drive = ((path[0] >= 'A' && path[0] <= 'Z') || (path[0] >= 'a' && path[0] <= 'z')) && path[1] == ':';
  return path[0] == '/' || path[0] == '\\' || drive;
}

/* The path of the data file, proven to lie in the model's folder. */
static assay_status find_file(struct loader *loader, const char *name, const char *location, char **out) {
  if (loader->model->path == NULL) {
    return load_fail(loader, ASSAY_EXTERNAL_NO_FOLDER,
                     "data of tensor '%s' are in file '%s', but the model was given as bytes; open it by its path",
                     name, location);
  }
  if (is_absolute(location)) {
    return load_fail(loader, ASSAY_EXTERNAL_ABSOLUTE,
                     "external data of tensor '%s' are at the absolute path '%s'; give a path beside the model", name,
                     location);
  }
  if (leads_up(location)) {
    return load_fail(loader, ASSAY_EXTERNAL_ESCAPES,
                     "external data of tensor '%s' are at '%s', outside the model's folder; move the file beside the "
                     "model",
                     name, location);
  }
  char *folder = path_folder(&loader->scratch, loader->model->path);
  if (folder == NULL) {
    return status_no_memory(strlen(loader->model->path));
  }
  assay_status status = path_join_inside(&loader->scratch, folder, location, ASSAY_EXTERNAL_LINK, out);
  if (status.code != ASSAY_EXTERNAL_LINK) {
    return status;
  }
  assay_status_clear(&status);
  return load_fail(
      loader, ASSAY_EXTERNAL_LINK,
      "external data of tensor '%s' are at '%s', a link that does not stay in the model's folder, or a name "
      "that cannot be one of a file; put the file itself beside the model",
      name, location);
}

static assay_status add_external(struct loader *loader, const struct file_map *map) {
  struct model *model = loader->model;
  if (model->n_external == loader->external_capacity) {
    int32_t capacity = loader->external_capacity == 0 ? 4 : loader->external_capacity * 2;
    struct file_map *grown;
    ARENA_NEW(loader->arena, grown, capacity);
    if (model->n_external > 0) {
      memcpy(grown, model->external, (size_t)model->n_external * sizeof *grown);
    }
    model->external = grown;
    loader->external_capacity = capacity;
  }
  model->external[model->n_external++] = *map;
  return status_ok();
}

/* Maps the file of a location, once. */
static assay_status map_file(struct loader *loader, const char *name, const char *location, int32_t *out) {
  *out = names_find(&loader->external, location);
  if (*out >= 0) {
    return status_ok();
  }
  char *path;
  TRY(find_file(loader, name, location, &path));
  struct file_map map;
  assay_status status = file_map_open(path, &map);
  if (status.code == ASSAY_FILE_MISSING || status.code == ASSAY_FILE_UNREADABLE) {
    assay_status_clear(&status);
    return load_fail(loader, ASSAY_EXTERNAL_MISSING,
                     "data of tensor '%s' should be in file '%s', which is not there or not a plain file; copy it "
                     "along with the model",
                     name, path);
  }
  TRY(status);
  status = add_external(loader, &map);
  if (!assay_status_ok(status)) {
    file_map_close(&map);
    return status;
  }
  *out = loader->model->n_external - 1;
  const char *kept;
  TRY(load_text(loader, location, &kept));
  return names_add(&loader->external, kept, *out);
}

assay_status load_external(struct loader *loader, const Onnx__TensorProto *proto, const char *name,
                           assay_tensor *tensor, const char **location) {
  struct external_entry entry;
  int64_t offset = 0, length = 0;
  int32_t file;
  TRY(read_entries(loader, proto, name, &entry));
  TRY(load_text(loader, entry.location, location));
  if (entry.offset != NULL && (!read_number(entry.offset, &offset) || offset < 0)) {
    return load_fail(loader, ASSAY_EXTERNAL_OFFSET,
                     "external data of tensor '%s' begin at offset '%s'; it must be a number of 0 and more", name,
                     entry.offset);
  }
  if (entry.length != NULL &&
      (!read_number(entry.length, &length) || length < 0 || (length == 0 && tensor->bytes > 0))) {
    return load_fail(loader, ASSAY_EXTERNAL_LENGTH,
                     "external data of tensor '%s' have length '%s'; it must be the %zu bytes that the shape needs",
                     name, entry.length, tensor->bytes);
  }
  TRY(map_file(loader, name, entry.location, &file));
  const struct file_map *map = &loader->model->external[file];
  if ((uint64_t)offset > map->size) {
    return load_fail(loader, ASSAY_EXTERNAL_OFFSET,
                     "external data of tensor '%s' begin at offset %" PRId64 ", but file '%s' has %zu bytes", name,
                     offset, entry.location, map->size);
  }
  size_t available = map->size - (size_t)offset;
  if (entry.length != NULL && (uint64_t)length > available) {
    return load_fail(loader, ASSAY_EXTERNAL_BEYOND_END,
                     "external data of tensor '%s' reach to byte %" PRIu64 ", but file '%s' has %zu bytes", name,
                     (uint64_t)offset + (uint64_t)length, entry.location, map->size);
  }
  if (entry.length != NULL && (uint64_t)length != tensor->bytes) {
    return load_fail(loader, (uint64_t)length < tensor->bytes ? ASSAY_TENSOR_BYTES_SHORT : ASSAY_TENSOR_BYTES_LONG,
                     "external data of tensor '%s' have %" PRId64 " bytes, but its shape needs %zu", name, length,
                     tensor->bytes);
  }
  if (tensor->bytes > available) {
    return load_fail(loader, ASSAY_EXTERNAL_BEYOND_END,
                     "tensor '%s' needs %zu bytes from offset %" PRId64 " on, but file '%s' has %zu bytes", name,
                     tensor->bytes, offset, entry.location, map->size);
  }
  tensor->data = map->data == NULL ? NULL : (void *)(uintptr_t)(map->data + offset);
  return status_ok();
}
