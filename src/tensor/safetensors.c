/* Reading safetensors files: see safetensors.h. It must never allocate by a number that the file's size does not
 * bear out, and never take a name for a path. */
#include "tensor/safetensors.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "core/memory.h"

/* Headers of models with ten thousand tensors take 1 MiB; names are keys of a contract or a module's path. */
enum { HEADER_MAX = 16 << 20, ENTRIES_MAX = 65536, NAME_LONGEST = 4096, LENGTH_BYTES = 8 };

struct safetensors {
  struct arena arena;
  int descriptor;
  const char *path;
  json_t *header; /* holds the names */
  struct safetensors_entry *entries;
  size_t count;
  uint64_t data, size; /* where the values begin, and the file's end */
};

static const struct dtype_word {
  const char *word;
  assay_dtype dtype;
} dtype_words[] = {{"F64", ASSAY_FLOAT64},
                   {"F32", ASSAY_FLOAT32},
                   {"F16", ASSAY_FLOAT16},
                   {"BF16", ASSAY_BFLOAT16},
                   {"I64", ASSAY_INT64},
                   {"I32", ASSAY_INT32},
                   {"I16", ASSAY_INT16},
                   {"I8", ASSAY_INT8},
                   {"U64", ASSAY_UINT64},
                   {"U32", ASSAY_UINT32},
                   {"U16", ASSAY_UINT16},
                   {"U8", ASSAY_UINT8},
                   {"F8_E4M3", ASSAY_FLOAT8E4M3FN},
                   {"F8_E5M2", ASSAY_FLOAT8E5M2},
                   {"BOOL", ASSAY_BOOL}};

static assay_status refuse(const struct safetensors *file, const char *format, ...) PRINTF_LIKE(2, 3);
static assay_status refuse(const struct safetensors *file, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  assay_status status = status_make_va(ASSAY_SAFETENSORS_INVALID, file->path, format, arguments);
  va_end(arguments);
  return status;
}

/* All `size` bytes from `offset` on. */
static assay_status read_at(const struct safetensors *file, void *out, size_t size, uint64_t offset) {
  size_t done = 0;
  while (done < size) {
    ssize_t got = pread(file->descriptor, (char *)out + done, size - done, (off_t)(offset + done));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return status_make(ASSAY_FILE_UNREADABLE, file->path, "reading failed at byte %" PRIu64 ": %s", offset + done,
                         got < 0 ? strerror(errno) : "the file became shorter");
    }
    done += (size_t)got;
  }
  return status_ok();
}

/* --- one tensor of the header ------------------------------------------------------ */

static bool name_is_fine(const char *name) {
  size_t length = strnlen(name, NAME_LONGEST + 1);
  bool fine = length > 0 && length <= NAME_LONGEST;
  for (const char *c = name; fine && *c != '\0'; c++) {
    fine = (unsigned char)*c >= 0x20 && *c != 0x7f;
  }
  return fine;
}

/* A JSON integer of 0 or more. */
static bool whole_number(const json_t *node, uint64_t *out) {
  bool fine = json_is_integer(node) && json_integer_value(node) >= 0;
  *out = fine ? (uint64_t)json_integer_value(node) : 0;
  return fine;
}

static assay_status read_dtype(const struct safetensors *file, const json_t *node, struct safetensors_entry *entry) {
  const char *word = json_string_value(json_object_get(node, "dtype"));
  for (size_t i = 0; word != NULL && i < sizeof dtype_words / sizeof *dtype_words; i++) {
    if (text_equal(dtype_words[i].word, word)) {
      entry->dtype = dtype_words[i].dtype;
      return status_ok();
    }
  }
  return word == NULL
             ? refuse(file, "'%.80s' has no 'dtype'; the file is damaged", entry->name)
             : refuse(file, "'%.80s' has the dtype '%.20s', which is none that assay reads (F64, F32, F16, BF16, ...)",
                      entry->name, word);
}

static assay_status read_shape(const struct safetensors *file, const json_t *node, struct safetensors_entry *entry) {
  const json_t *shape = json_object_get(node, "shape");
  if (!json_is_array(shape) || json_array_size(shape) > ASSAY_RANK_MAX) {
    return refuse(file, "'%.80s' has no 'shape' of at most %d dimensions; the file is damaged", entry->name,
                  (int)ASSAY_RANK_MAX);
  }
  entry->rank = (int32_t)json_array_size(shape);
  for (int32_t d = 0; d < entry->rank; d++) {
    uint64_t size;
    if (!whole_number(json_array_get(shape, (size_t)d), &size)) {
      return refuse(file, "dimension %d of '%.80s' is not a whole number; the file is damaged", (int)d, entry->name);
    }
    entry->dims[d] = (int64_t)size;
  }
  return status_ok();
}

static assay_status read_place(const struct safetensors *file, const json_t *node, struct safetensors_entry *entry) {
  const json_t *offsets = json_object_get(node, "data_offsets");
  uint64_t begin, end, room = file->size - file->data;
  int64_t count;
  size_t needed;
  if (json_array_size(offsets) != 2 || !whole_number(json_array_get(offsets, 0), &begin) ||
      !whole_number(json_array_get(offsets, 1), &end)) {
    return refuse(file, "'%.80s' has no 'data_offsets' of two whole numbers; the file is damaged", entry->name);
  }
  if (begin > end || end > room) {
    return refuse(file,
                  "'%.80s' lies at bytes %" PRIu64 " to %" PRIu64 " of %" PRIu64
                  " bytes of values; the file is damaged or cut short",
                  entry->name, begin, end, room);
  }
  if (!shape_count(entry->dims, entry->rank, &count) || !dtype_bytes(entry->dtype, count, &needed) ||
      needed != end - begin) {
    return refuse(file, "'%.80s' has %" PRIu64 " bytes, which is not what its dtype and shape need", entry->name,
                  end - begin);
  }
  entry->offset = file->data + begin;
  entry->bytes = needed;
  return status_ok();
}

static assay_status read_entry(const struct safetensors *file, const char *name, const json_t *node,
                               struct safetensors_entry *entry) {
  *entry = (struct safetensors_entry){.name = name};
  if (!name_is_fine(name)) {
    return refuse(file, "the name of a tensor is empty, longer than %d bytes, or holds a control character",
                  (int)NAME_LONGEST);
  }
  if (!json_is_object(node) || json_object_size(node) != 3) {
    return refuse(file, "'%.80s' is described by something else than dtype, shape and data_offsets", name);
  }
  TRY(read_dtype(file, node, entry));
  TRY(read_shape(file, node, entry));
  return read_place(file, node, entry);
}

/* --- the header --------------------------------------------------------------------- */

static assay_status check_metadata(const struct safetensors *file, const json_t *metadata) {
  if (!json_is_object(metadata)) {
    return refuse(file, "'__metadata__' is not a mapping of texts; the file is damaged");
  }
  for (void *i = json_object_iter((json_t *)(uintptr_t)metadata); i != NULL;
       i = json_object_iter_next((json_t *)(uintptr_t)metadata, i)) {
    if (!json_is_string(json_object_iter_value(i))) {
      return refuse(file, "'%.80s' of '__metadata__' is not a text; the file is damaged", json_object_iter_key(i));
    }
  }
  return status_ok();
}

static int compare_places(const void *left, const void *right) {
  const struct safetensors_entry *a = left, *b = right;
  if (a->offset != b->offset) {
    return a->offset < b->offset ? -1 : 1;
  }
  return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

static int compare_names(const void *left, const void *right) {
  const struct safetensors_entry *a = left, *b = right;
  return strcmp(a->name, b->name);
}

/* The format allows neither gaps nor two tensors in one place: bytes that nobody describes could hold anything. */
static assay_status check_gaps(const struct safetensors *file) {
  uint64_t at = file->data;
  qsort(file->entries, file->count, sizeof *file->entries, compare_places);
  for (size_t i = 0; i < file->count; i++) {
    if (file->entries[i].offset != at) {
      return refuse(file, "'%.80s' %s; write the file again", file->entries[i].name,
                    file->entries[i].offset < at ? "shares bytes with another tensor"
                                                 : "stands behind bytes that no tensor describes");
    }
    at += file->entries[i].bytes;
  }
  return at == file->size
             ? status_ok()
             : refuse(file, "the last %" PRIu64 " bytes belong to no tensor; write the file again", file->size - at);
}

static assay_status read_entries(struct safetensors *file) {
  size_t members = json_object_size(file->header);
  if (members > ENTRIES_MAX) {
    return status_make(ASSAY_LIMIT_EXCEEDED, file->path,
                       "the header names %zu tensors; at most %d are read, make sure that it is the right file",
                       members, (int)ENTRIES_MAX);
  }
  ARENA_NEW(&file->arena, file->entries, members + 1);
  for (void *i = json_object_iter(file->header); i != NULL; i = json_object_iter_next(file->header, i)) {
    const char *name = json_object_iter_key(i);
    if (text_equal(name, "__metadata__")) {
      TRY(check_metadata(file, json_object_iter_value(i)));
    } else {
      TRY(read_entry(file, name, json_object_iter_value(i), &file->entries[file->count]));
      file->count++;
    }
  }
  TRY(check_gaps(file));
  if (file->count > 1) {
    qsort(file->entries, file->count, sizeof *file->entries, compare_names);
  }
  return status_ok();
}

static assay_status parse_header(struct safetensors *file, const char *text, size_t size) {
  json_error_t error;
  if (size == 0 || text[0] != '{') {
    return refuse(file, "its header does not begin with '{'; it is no safetensors file");
  }
  file->header = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
  if (file->header == NULL) {
    return json_error_code(&error) == json_error_out_of_memory
               ? status_no_memory(size)
               : refuse(file, "its header is not well-formed JSON at byte %d: %s", error.position, error.text);
  }
  return read_entries(file);
}

static assay_status read_header(struct safetensors *file) {
  unsigned char bytes[LENGTH_BYTES];
  uint64_t length = 0;
  if (file->size < LENGTH_BYTES) {
    return refuse(file, "it has %" PRIu64 " bytes, too few for a safetensors file", file->size);
  }
  TRY(read_at(file, bytes, sizeof bytes, 0));
  for (int i = LENGTH_BYTES - 1; i >= 0; i--) {
    length = length << 8 | bytes[i];
  }
  if (length > file->size - LENGTH_BYTES) {
    return refuse(file,
                  "its header is said to be %" PRIu64 " bytes long, but the file has %" PRIu64
                  "; it is cut short, or no safetensors file",
                  length, file->size);
  }
  if (length > HEADER_MAX) {
    return status_make(ASSAY_LIMIT_EXCEEDED, file->path,
                       "its header has %" PRIu64 " bytes; at most %d are read, make sure that it is the right file",
                       length, (int)HEADER_MAX);
  }
  file->data = LENGTH_BYTES + length;
  char *text = memory_alloc((size_t)length + 1, 1);
  if (text == NULL) {
    return status_no_memory((size_t)length);
  }
  assay_status status = read_at(file, text, (size_t)length, LENGTH_BYTES);
  if (assay_status_ok(status)) {
    status = parse_header(file, text, (size_t)length);
  }
  memory_free(text);
  return status;
}

/* --- the file ------------------------------------------------------------------------ */

assay_status safetensors_open(const char *path, struct safetensors **out) {
  *out = NULL;
  struct safetensors *file = memory_alloc(1, sizeof *file);
  if (file == NULL) {
    return status_no_memory(sizeof *file);
  }
  file->descriptor = -1;
  file->path = arena_string(&file->arena, path);
  assay_status status =
      file->path == NULL ? status_no_memory(strlen(path)) : file_open_plain(path, &file->descriptor, &file->size);
  if (assay_status_ok(status)) {
    status = read_header(file);
  }
  if (!assay_status_ok(status)) {
    safetensors_close(file);
    return status;
  }
  *out = file;
  return status;
}

void safetensors_close(struct safetensors *file) {
  if (file == NULL) {
    return;
  }
  if (file->descriptor >= 0) {
    close(file->descriptor);
  }
  json_decref(file->header);
  arena_free(&file->arena);
  memory_free(file);
}

size_t safetensors_count(const struct safetensors *file) { return file->count; }

const struct safetensors_entry *safetensors_entry_at(const struct safetensors *file, size_t i) {
  return &file->entries[i];
}

size_t safetensors_find(const struct safetensors *file, const char *name) {
  const struct safetensors_entry wanted = {.name = name};
  const struct safetensors_entry *found =
      file->count == 0 ? NULL : bsearch(&wanted, file->entries, file->count, sizeof *file->entries, compare_names);
  return found == NULL ? file->count : (size_t)(found - file->entries);
}

assay_status safetensors_read(struct safetensors *file, size_t i, assay_tensor *out) {
  const struct safetensors_entry *entry = &file->entries[i];
  TRY(tensor_new(entry->dtype, entry->dims, entry->rank, out));
  assay_status status = read_at(file, out->data, entry->bytes, entry->offset);
  if (!assay_status_ok(status)) {
    tensor_free(out);
  }
  return status;
}

const char *safetensors_metadata(const struct safetensors *file, const char *key) {
  return json_string_value(json_object_get(json_object_get(file->header, "__metadata__"), key));
}
