/* Other keys of a statistics file: see statistics_keys.h. */
#include "contract/statistics_keys.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "contract/contract_reader.h"
#include "core/file.h"
#include "core/memory.h"
#include "tensor/npz.h"
#include "tensor/safetensors.h"

enum { NAMES_MAX = 512, JSON_MAX = 64 << 20 };

struct names {
  struct arena *arena;
  const char *list[NAMES_MAX];
  size_t count;
};

static assay_status keep(struct names *names, const char *name) {
  if (names->count < NAMES_MAX) {
    names->list[names->count] = arena_string(names->arena, name);
    return names->list[names->count++] != NULL ? status_ok() : status_no_memory(strlen(name));
  }
  return status_ok();
}

static assay_status list_npz(const char *path, struct names *names) {
  struct npz *npz = NULL;
  TRY(npz_open(path, &npz));
  assay_status status = status_ok();
  for (size_t i = 0; i < npz_count(npz) && assay_status_ok(status); i++) {
    status = keep(names, npz_name(npz, i));
  }
  npz_close(npz);
  return status;
}

static assay_status list_safetensors(const char *path, struct names *names) {
  struct safetensors *file = NULL;
  TRY(safetensors_open(path, &file));
  assay_status status = status_ok();
  for (size_t i = 0; i < safetensors_count(file) && assay_status_ok(status); i++) {
    status = keep(names, safetensors_entry_at(file, i)->name);
  }
  safetensors_close(file);
  return status;
}

/* "action.mean" of {"action": {"mean": ...}}; a list stands under its own name. */
static assay_status list_json(const char *path, struct names *names) {
  char *text = NULL;
  size_t size = 0;
  TRY(file_read(path, JSON_MAX, &text, &size));
  json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
  memory_free(text);
  assay_status status = status_ok();
  for (void *i = json_object_iter(root); i != NULL && assay_status_ok(status); i = json_object_iter_next(root, i)) {
    json_t *member = json_object_iter_value(i);
    if (!json_is_object(member)) {
      status = keep(names, json_object_iter_key(i));
    }
    for (void *j = json_object_iter(member); j != NULL && assay_status_ok(status);
         j = json_object_iter_next(member, j)) {
      const char *joined = arena_format(names->arena, "%s.%s", json_object_iter_key(i), json_object_iter_key(j));
      status = joined != NULL ? keep(names, joined) : status_no_memory(0);
    }
  }
  json_decref(root);
  return status;
}

/* The number for one component; false when the array is none that could stand there. */
static assay_status read_one(struct reader *reader, const struct decode_origin *origin, const char *name,
                             int32_t component, int32_t n_components, double *out, bool *fits) {
  assay_tensor tensor = {0};
  assay_status status =
      statistics_array(reader, (struct mark){1, 1}, "statistics", origin->file, name, NULL, NULL, &tensor);
  *fits = false;
  if (assay_status_ok(status)) {
    int64_t count = tensor_count(&tensor);
    bool numbers = dtype_is_float(tensor.dtype) || dtype_is_integer(tensor.dtype);
    *fits = numbers && (count == 1 || count == n_components);
    *out = *fits ? tensor_get(&tensor, count == 1 ? 0 : component) : (double)NAN;
    *fits = *fits && isfinite(*out);
    tensor_free(&tensor);
  }
  if (status.code == ASSAY_OUT_OF_MEMORY) {
    return status;
  }
  assay_status_clear(&status); /* what can't be read explains nothing */
  return status_ok();
}

/* The second array that belongs to `name`, if `name` is a first one; NULL otherwise. */
static assay_status partner(struct arena *arena, const struct decode_origin *origin, const char *name,
                            const char **out) {
  const char *dot_a = strrchr(origin->a, '.'), *dot_b = strrchr(origin->b, '.'), *dot = strrchr(name, '.');
  *out = NULL;
  if (dot_a == NULL || dot_b == NULL || dot == NULL || !text_equal(dot, dot_a) || text_equal(name, origin->a)) {
    return status_ok();
  }
  *out = arena_format(arena, "%.*s%s", (int)(dot - name), name, dot_b);
  return *out != NULL ? status_ok() : status_no_memory(strlen(name));
}

assay_status statistics_other_keys(const struct contract *contract, const struct decode_origin *origin,
                                   int32_t component, int32_t n_components, struct arena *arena,
                                   struct statistics_key **out, size_t *count) {
  struct names *names;
  *count = 0;
  ARENA_NEW(arena, names, 1);
  ARENA_NEW(arena, *out, NAMES_MAX);
  names->arena = arena;
  /* a copy, since reading notes the file, which the contract has noted already */
  struct contract copy = *contract;
  struct reader reader = {.contract = &copy, .folder = path_folder(arena, contract->path), .arena = arena};
  reader.file.path = contract->path;
  char *path = reader.folder == NULL ? NULL : path_join(arena, reader.folder, origin->file);
  if (path == NULL) {
    return status_no_memory(0);
  }
  assay_status listed = text_ends_with(path, ".npz")           ? list_npz(path, names)
                        : text_ends_with(path, ".safetensors") ? list_safetensors(path, names)
                        : text_ends_with(path, ".json")        ? list_json(path, names)
                                                               : status_ok();
  if (listed.code == ASSAY_OUT_OF_MEMORY) {
    return listed;
  }
  assay_status_clear(&listed);
  for (size_t i = 0; i < names->count; i++) {
    const char *second = NULL;
    struct statistics_key key = {.a = names->list[i]};
    bool fits = false, both = false;
    TRY(partner(arena, origin, key.a, &second));
    if (second != NULL) {
      TRY(read_one(&reader, origin, key.a, component, n_components, &key.first, &fits));
      TRY(fits ? read_one(&reader, origin, second, component, n_components, &key.second, &both) : status_ok());
    }
    if (both) {
      (*out)[(*count)++] = key;
    }
  }
  return status_ok();
}

bool statistics_replace(const struct decode_origin *origin, const struct statistics_key *key, struct decode_step *steps,
                        int32_t n) {
  int32_t offsets = 0;
  for (int32_t s = 0; s < n; s++) {
    struct decode_step *step = &steps[s];
    if (step->origin != origin) {
      continue;
    }
    if (step->n_each > 0) {
      return false;
    }
    if (!origin->min_max) { /* y * std + mean */
      step->a = step->kind == DECODE_SCALE ? key->second : key->first;
    } else if (step->kind == DECODE_SCALE) {
      step->a = (key->second - key->first) / (origin->high - origin->low);
    } else if (++offsets == 2) { /* the first takes the range's low end away */
      step->a = key->first;
    }
  }
  return true;
}
