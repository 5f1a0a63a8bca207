/* Numbers that a contract draws from a statistics file: mean and std, min and max, the start of a
 * state. A key that is absent, of another shape, or unusable is an error; identity is never put in
 * its place. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "contract/contract_reader.h"
#include "contract/sealed_path.h"
#include "core/file.h"
#include "core/hash.h"
#include "core/memory.h"
#include "tensor/npy.h"
#include "tensor/npz.h"
#include "tensor/safetensors.h"

/* Largest JSON file of statistics, and most elements of one array. */
enum { JSON_BYTES_MAX = 64 << 20, ARRAY_MAX = 1 << 20, FILES_MAX = 64, KEY_MAX = 255 };

static assay_status bad(const struct reader *reader, struct mark mark, const char *format, ...) PRINTF_LIKE(3, 4);
static assay_status bad(const struct reader *reader, struct mark mark, const char *format, ...) {
  struct yaml_file file = reader->file;
  file.code = ASSAY_STATISTICS_INVALID;
  struct text sentence = {0};
  va_list arguments;
  va_start(arguments, format);
  text_format_va(&sentence, format, arguments);
  va_end(arguments);
  assay_status status = yaml_error(&file, mark, "%s", text_string(&sentence));
  text_free(&sentence);
  return status;
}

/* Remembers the file and its digest, and compares the digest that the contract gives. */
static assay_status keep_file(struct reader *reader, struct mark mark, const char *what, const char *role,
                              const char *path, const char *file, const char *digest, const char *provenance) {
  char found[HASH_TEXT_SIZE];
  TRY(hash_file(path, found));
  if (digest != NULL && !text_equal(digest, found)) {
    return bad(reader, mark, "%s: the digest of %s is %s, but the contract says %.100s", what, file, found, digest);
  }
  struct contract *contract = reader->contract;
  for (int32_t i = 0; i < contract->n_files; i++) {
    if (text_equal(contract->files[i].path, file)) {
      return status_ok();
    }
  }
  if (contract->n_files == FILES_MAX) {
    return bad(reader, mark, "%s is in the 65th file beside the contract; at most 64 are read", what);
  }
  if (contract->files == NULL) {
    ARENA_NEW(reader->arena, contract->files, FILES_MAX);
  }
  char *copy = arena_string(reader->arena, found);
  if (copy == NULL) {
    return status_no_memory(sizeof found);
  }
  struct contract_file *files = (struct contract_file *)contract->files;
  files[contract->n_files++] = (struct contract_file){role, file, copy, provenance};
  return status_ok();
}

/* Names for a message: "; it has a, b, c". */
static void list_names(struct text *out, size_t *listed, const char *name) {
  if (*listed < 12) {
    text_format(out, "%s%.60s", *listed == 0 ? "" : ", ", name);
  } else if (*listed == 12) {
    text_add(out, ", ...");
  }
  ++*listed;
}

static assay_status from_npz(struct reader *reader, struct mark mark, const char *what, const char *path,
                             const char *file, const char *key, assay_tensor *out) {
  struct npz *npz = NULL;
  TRY(npz_open(path, &npz));
  size_t index = npz_find(npz, key);
  assay_status status;
  if (index < npz_count(npz)) {
    status = npz_read(npz, index, out);
  } else {
    struct text names = {0};
    size_t listed = 0;
    for (size_t i = 0; i < npz_count(npz); i++) {
      list_names(&names, &listed, npz_name(npz, i));
    }
    status = bad(reader, mark, "%s: %s has no array '%.80s'; it has %s", what, file, key, text_string(&names));
    text_free(&names);
  }
  npz_close(npz);
  return status;
}

static bool tensor_within(const struct safetensors_entry *entry) {
  int64_t count;
  return shape_count(entry->dims, entry->rank, &count) && count <= ARRAY_MAX;
}

static assay_status from_safetensors(struct reader *reader, struct mark mark, const char *what, const char *path,
                                     const char *file, const char *key, assay_tensor *out) {
  struct safetensors *opened = NULL;
  TRY(safetensors_open(path, &opened));
  size_t index = safetensors_find(opened, key), count = safetensors_count(opened);
  assay_status status;
  if (index < count && tensor_within(safetensors_entry_at(opened, index))) {
    status = safetensors_read(opened, index, out);
  } else if (index < count) {
    status = bad(reader, mark, "%s: '%.80s' in %s has more than %d numbers, so it is no statistics", what, key, file,
                 (int)ARRAY_MAX);
  } else {
    struct text names = {0};
    size_t listed = 0;
    for (size_t i = 0; i < count; i++) {
      list_names(&names, &listed, safetensors_entry_at(opened, i)->name);
    }
    status = bad(reader, mark, "%s: %s has no tensor '%.80s'; it has %s", what, file, key,
                 count > 0 ? text_string(&names) : "none");
    text_free(&names);
  }
  safetensors_close(opened);
  return status;
}

/* The member `key`, or, where dots part it, the member of a member. */
static const json_t *json_member(const json_t *object, const char *key) {
  const json_t *whole = json_object_get(object, key);
  for (const char *dot = strchr(key, '.'); whole == NULL && dot != NULL; dot = strchr(dot + 1, '.')) {
    char outer_key[KEY_MAX + 1] = {0};
    memcpy(outer_key, key, (size_t)(dot - key));
    const json_t *outer = json_object_get(object, outer_key);
    whole = json_is_object(outer) ? json_member(outer, dot + 1) : NULL;
  }
  return whole;
}

/* In how many ways the key can be read: as it stands, and with each dot as a member of a member. Two stop the count. */
static int json_readings(const json_t *object, const char *key) {
  int count = json_object_get(object, key) != NULL;
  for (const char *dot = strchr(key, '.'); count < 2 && dot != NULL; dot = strchr(dot + 1, '.')) {
    char outer_key[KEY_MAX + 1] = {0};
    memcpy(outer_key, key, (size_t)(dot - key));
    const json_t *outer = json_object_get(object, outer_key);
    count += json_is_object(outer) ? json_readings(outer, dot + 1) : 0;
  }
  return count;
}

/* Shape of nested lists, from their first elements. */
static bool json_shape(const json_t *node, int64_t *dims, int32_t *rank) {
  *rank = 0;
  while (json_is_array(node)) {
    if (*rank == ASSAY_RANK_MAX || json_array_size(node) == 0) {
      return false;
    }
    dims[(*rank)++] = (int64_t)json_array_size(node);
    node = json_array_get(node, 0);
  }
  return json_is_number(node);
}

/* Numbers in order; false when the lists are ragged or hold something else. */
static bool json_fill(const json_t *node, const int64_t *dims, int32_t rank, double **next) {
  if (rank == 0) {
    *(*next)++ = json_number_value(node);
    return json_is_number(node);
  }
  if (!json_is_array(node) || (int64_t)json_array_size(node) != dims[0]) {
    return false;
  }
  for (size_t i = 0; i < json_array_size(node); i++) {
    if (!json_fill(json_array_get(node, i), dims + 1, rank - 1, next)) {
      return false;
    }
  }
  return true;
}

static assay_status json_tensor(const struct reader *reader, struct mark mark, const char *what, const char *file,
                                const char *key, const json_t *node, assay_tensor *out) {
  int64_t dims[ASSAY_RANK_MAX], count = 0;
  int32_t rank = 0;
  if (!json_shape(node, dims, &rank) || !shape_count(dims, rank, &count) || count > ARRAY_MAX) {
    return bad(reader, mark, "%s: '%.80s' in %s is not a list of numbers", what, key, file);
  }
  TRY(tensor_new(ASSAY_FLOAT64, dims, rank, out));
  double *next = out->data;
  if (!json_fill(node, dims, rank, &next)) {
    tensor_free(out);
    return bad(reader, mark, "%s: the lists of '%.80s' in %s are uneven or hold something else than numbers", what, key,
               file);
  }
  return status_ok();
}

static assay_status from_json(struct reader *reader, struct mark mark, const char *what, const char *path,
                              const char *file, const char *key, assay_tensor *out) {
  char *text = NULL;
  size_t size = 0;
  TRY(file_read(path, JSON_BYTES_MAX, &text, &size));
  json_error_t error;
  json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
  memory_free(text);
  if (root == NULL) {
    return bad(reader, mark, "%s: %s is not well-formed JSON at line %d: %s", what, file, error.line, error.text);
  }
  const json_t *node = json_member(root, key);
  assay_status status;
  if (json_readings(root, key) > 1) {
    status =
        bad(reader, mark, "%s: '%.80s' in %s is ambiguous: the file has it both flat and nested; leave one of them",
            what, key, file);
  } else if (node != NULL) {
    status = json_tensor(reader, mark, what, file, key, node, out);
  } else {
    struct text names = {0};
    size_t listed = 0;
    for (void *i = json_object_iter(root); i != NULL; i = json_object_iter_next(root, i)) {
      list_names(&names, &listed, json_object_iter_key(i));
    }
    status = bad(reader, mark, "%s: %s has no key '%.80s'; it has %s", what, file, key, text_string(&names));
    text_free(&names);
  }
  json_decref(root);
  return status;
}

/* Where a file that the contract names lies: inside its folder. */
static assay_status find_file(struct reader *reader, struct mark mark, const char *what, const char *file,
                              char **path) {
  assay_status status = path_join_inside(reader->arena, reader->folder, file, ASSAY_STATISTICS_INVALID, path);
  if (status.code == ASSAY_STATISTICS_INVALID) {
    assay_status placed = bad(reader, mark, "%s: %s", what, assay_status_sentence(status));
    assay_status_clear(&status);
    return placed;
  }
  TRY(status);
  return file_exists(*path)
             ? sealed_path_check(*path)
             : bad(reader, mark, "%s names the file '%.200s', which is not beside the contract", what, file);
}

assay_status contract_file_take(struct reader *reader, struct mark mark, const char *what, const char *role,
                                const char *file, const char *digest, char **path) {
  TRY(find_file(reader, mark, what, file, path));
  return keep_file(reader, mark, what, role, *path, file, digest, NULL);
}

assay_status statistics_array(struct reader *reader, struct mark mark, const char *what, const char *file,
                              const char *key, const char *digest, const char *provenance, assay_tensor *out) {
  char *path = NULL;
  TRY(find_file(reader, mark, what, file, &path));
  bool npy = text_ends_with(file, ".npy"), npz = text_ends_with(file, ".npz"), json = text_ends_with(file, ".json");
  bool safetensors = text_ends_with(file, ".safetensors");
  if (!npy && !npz && !json && !safetensors) {
    return bad(reader, mark, "%s names the file '%.80s'; statistics are read from .safetensors, .npz, .npy and .json",
               what, file);
  }
  if ((key == NULL) != npy) {
    return bad(reader, mark,
               npy ? "%s: '%.80s' is one array, leave the 'key' out" : "%s: '%.80s' holds many arrays, give the 'key'",
               what, file);
  }
  if (key != NULL && strlen(key) > KEY_MAX) {
    return bad(reader, mark, "%s: the key '%.40s...' is longer than %d bytes", what, key, (int)KEY_MAX);
  }
  TRY(keep_file(reader, mark, what, "statistics", path, file, digest, provenance));
  if (npy) {
    return npy_read(path, out);
  }
  if (safetensors) {
    return from_safetensors(reader, mark, what, path, file, key, out);
  }
  return npz ? from_npz(reader, mark, what, path, file, key, out) : from_json(reader, mark, what, path, file, key, out);
}

/* An array of exactly [horizon, components], where one or both are more than 1. */
static bool has_rows(const assay_tensor *tensor, int64_t horizon, int32_t components) {
  return horizon > 1 && tensor->rank == 2 && tensor->dims[0] == horizon && tensor->dims[1] == components;
}

/* Finite doubles in the arena, from an array of rank 1 once dimensions of 1 are left out (statistics of
 * images are often [3, 1, 1]), or of a row for each step. */
static assay_status keep_numbers(struct reader *reader, struct mark mark, const char *what, const char *key,
                                 const assay_tensor *tensor, int64_t horizon, int32_t components, const double **out,
                                 int32_t *count, int32_t *rows) {
  int32_t long_dims = 0;
  for (int32_t i = 0; i < tensor->rank; i++) {
    long_dims += tensor->dims[i] != 1;
  }
  int64_t n = tensor_count(tensor);
  bool number = dtype_is_float(tensor->dtype) || dtype_is_integer(tensor->dtype);
  bool each = has_rows(tensor, horizon, components);
  if ((long_dims > 1 && !each) || n < 1 || n > ARRAY_MAX || !number) {
    struct text shape = {0};
    tensor_describe(tensor, &shape);
    assay_status status = bad(reader, mark, "%s: '%.80s' is %s; it must be one row of numbers%s", what, key,
                              text_string(&shape), horizon > 1 ? ", or one for each step of the horizon" : "");
    text_free(&shape);
    return status;
  }
  double *values;
  ARENA_NEW(reader->arena, values, n);
  tensor_to_double(tensor, values);
  for (int64_t i = 0; i < n; i++) {
    if (!isfinite(values[i])) {
      return bad(reader, mark, "%s: element %d of '%.80s' is not finite", what, (int)i, key);
    }
  }
  *out = values;
  *rows = each ? (int32_t)horizon : 1;
  *count = (int32_t)n / *rows;
  return status_ok();
}

/* What stands in the contract. */
struct request {
  const char *file, *digest, *key, *mean, *std, *min, *max, *provenance;
  double low, high;
  int32_t mode; /* 0: not said, 1: mean_std, 2: min_max */
  bool has_range;
};

static assay_status request_mode(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  static const char *const words[] = {"mean_std", "min_max"};
  int32_t which = 0;
  TRY(yaml_choice(&reader->file, node, what, words, 2, &which));
  ((struct request *)member)->mode = which + 1;
  return status_ok();
}

static assay_status request_range(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  struct request *request = member;
  request->has_range = true;
  return read_range(reader, node, what, &request->low, &request->high);
}

static assay_status request_provenance(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  static const char *const words[] = {"original", "recomputed"};
  int32_t which = 0;
  TRY(yaml_choice(&reader->file, node, what, words, 2, &which));
  ((struct request *)member)->provenance = words[which];
  return status_ok();
}

/* The name of one of the two arrays: given in full, or under `key`. */
static assay_status array_key(struct reader *reader, const struct yaml *node, const char *what,
                              const struct request *request, const char *full, const char *part, const char **out) {
  if (full != NULL && request->key != NULL) {
    return yaml_error(&reader->file, node->mark, "%s has both 'key' and '%s'; give one of them", what, part);
  }
  if (full == NULL && request->key == NULL) {
    return yaml_error(&reader->file, node->mark, "%s needs '%s', the name of the array in the file, or a 'key'", what,
                      part);
  }
  *out = full != NULL ? full : arena_format(reader->arena, "%s.%s", request->key, part);
  return *out != NULL ? status_ok() : status_no_memory(strlen(request->key));
}

/* How an array may lie: in rows of `components` for each of `horizon` steps, or in one row. */
struct layout {
  int64_t horizon;
  int32_t components;
};

static assay_status read_array(struct reader *reader, const struct yaml *node, const char *what,
                               const struct request *request, const char *key, const struct layout *layout,
                               const double **out, int32_t *count, int32_t *rows) {
  assay_tensor tensor = {0};
  TRY(statistics_array(reader, node->mark, what, request->file, key, request->digest, request->provenance, &tensor));
  assay_status status =
      keep_numbers(reader, node->mark, what, key, &tensor, layout->horizon, layout->components, out, count, rows);
  tensor_free(&tensor);
  return status;
}

/* A spread of 0 would hide every difference behind it. */
static assay_status check_spread(struct reader *reader, struct mark mark, const char *what,
                                 const struct statistics *s) {
  for (int32_t i = 0; i < s->count * s->rows; i++) {
    double spread = s->min_max ? s->b[i] - s->a[i] : s->b[i];
    if (!(spread > 0)) {
      return bad(reader, mark, "%s: %s of element %d is %.9g; it must be above 0, or no difference shows behind it",
                 what, s->min_max ? "max - min" : "std", (int)i, spread);
    }
  }
  return status_ok();
}

static assay_status keep_origin(struct reader *reader, const struct request *request, const char *a, const char *b,
                                struct statistics *out) {
  struct decode_origin *origin;
  ARENA_NEW(reader->arena, origin, 1);
  *origin = (struct decode_origin){request->file, a, b, out->min_max, request->low, request->high};
  out->origin = origin;
  out->low = request->low;
  out->high = request->high;
  return status_ok();
}

assay_status read_statistics(struct reader *reader, const struct yaml *node, const char *what, int64_t horizon,
                             int32_t components, struct statistics *out) {
  static const struct field fields[] = {
      {"file", read_text, offsetof(struct request, file), FIELD_REQUIRED},
      {"digest", read_text, offsetof(struct request, digest), FIELD_OPTIONAL},
      {"key", read_text, offsetof(struct request, key), FIELD_OPTIONAL},
      {"mode", request_mode, 0, FIELD_OPTIONAL},
      {"mean", read_text, offsetof(struct request, mean), FIELD_OPTIONAL},
      {"std", read_text, offsetof(struct request, std), FIELD_OPTIONAL},
      {"min", read_text, offsetof(struct request, min), FIELD_OPTIONAL},
      {"max", read_text, offsetof(struct request, max), FIELD_OPTIONAL},
      {"range", request_range, 0, FIELD_OPTIONAL},
      {"provenance", request_provenance, 0, FIELD_OPTIONAL},
  };
  struct request request = {0};
  TRY(FIELDS_READ(reader, node, fields, what, &request));
  bool asks_min_max = request.min != NULL || request.max != NULL || request.has_range;
  bool asks_mean_std = request.mean != NULL || request.std != NULL;
  out->min_max = request.mode == 0 ? asks_min_max : request.mode == 2;
  if (out->min_max ? asks_mean_std : asks_min_max) {
    return yaml_error(&reader->file, node->mark, "%s mixes mean and std with min, max and range; give one pair", what);
  }
  if (out->min_max && !request.has_range) {
    return yaml_error(&reader->file, node->mark, "%s needs 'range', what min and max were mapped to, such as [-1, 1]",
                      what);
  }
  const char *a, *b;
  int32_t n_b = 0, rows_b = 0;
  TRY(array_key(reader, node, what, &request, out->min_max ? request.min : request.mean, out->min_max ? "min" : "mean",
                &a));
  TRY(array_key(reader, node, what, &request, out->min_max ? request.max : request.std, out->min_max ? "max" : "std",
                &b));
  const struct layout layout = {horizon, components};
  TRY(read_array(reader, node, what, &request, a, &layout, &out->a, &out->count, &out->rows));
  TRY(read_array(reader, node, what, &request, b, &layout, &out->b, &n_b, &rows_b));
  if (n_b != out->count || rows_b != out->rows) {
    return bad(reader, node->mark, "%s: '%.80s' has %d numbers, '%.80s' has %d", what, a, (int)(out->count * out->rows),
               b, (int)(n_b * rows_b));
  }
  TRY(keep_origin(reader, &request, a, b, out));
  return check_spread(reader, node->mark, what, out);
}
