/* See sealed_register.h. Adding and checking see the same prints of a case, made in one place. */
#include "corpus/sealed_register.h"

#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/list.h"
#include "core/memory.h"
#include "core/text.h"
#include "corpus/image_print.h"

/* LARGE: an array of fewer bytes may be equal by chance (an instruction, a mask); it counts with the others of its
 * case. NEAR: bits of an image's print that re-encoding and resizing may turn. VIEWS: images of one step whose prints
 * are kept. */
enum { LARGE = 1024, NEAR = 8, VIEWS = 8, REGISTER_BYTES_MAX = 64 << 20 };

/* The images of one step. One camera alone may see the same in two recordings; all of them together do not. */
struct views {
  int32_t count;
  struct image_print items[VIEWS];
};

struct digest {
  char text[HASH_TEXT_SIZE];
};
struct sealed_register {
  struct digest *digests;
  struct views *images;
  struct digest *corpora;
  int32_t n_digests, digests_room, n_images, images_room, n_corpora, corpora_room;
  bool sorted;
};

/* --- prints --------------------------------------------------------------------- */

/* Takes one print of a case: of bytes, or of an image. */
struct taker {
  assay_status (*take)(struct taker *taker, const char *array, const char *digest, const struct views *views);
  struct sealed_register *sealed;
  const char *where;
  const struct corpus_case *entry;
};

static bool is_constant(const assay_tensor *tensor) {
  size_t size = assay_dtype_bits(tensor->dtype) / 8;
  const char *bytes = tensor->data;
  bool same = size > 0;
  for (size_t i = size; same && i + size <= tensor->bytes; i += size) {
    same = memcmp(bytes, bytes + i, size) == 0;
  }
  return same || tensor->bytes == 0 || size == 0;
}

static void add_tensor(struct hash *hash, const char *name, const assay_tensor *tensor) {
  const char *type = assay_dtype_name(tensor->dtype);
  hash_add(hash, name, strlen(name) + 1);
  hash_add(hash, type, strlen(type) + 1);
  hash_add(hash, tensor->dims, (size_t)tensor->rank * sizeof *tensor->dims);
  hash_add(hash, tensor->data, tensor->bytes);
}

static assay_status take_array(struct taker *taker, const char *name, const assay_tensor *tensor) {
  struct hash hash;
  char digest[HASH_TEXT_SIZE];
  if (is_constant(tensor) || tensor->bytes < LARGE) {
    return status_ok();
  }
  hash_begin(&hash);
  hash_add(&hash, tensor->data, tensor->bytes);
  hash_end(&hash, digest);
  return taker->take(taker, name, digest, NULL);
}

/* The views of a step; those that say too little for a print are left out. */
static void add_views(const assay_tensor *tensor, struct views *views) {
  int64_t count = image_count(tensor);
  for (int64_t i = 0; i < count && views->count < VIEWS; i++) {
    views->count += image_print_make(tensor, i, &views->items[views->count]);
  }
}

/* All arrays of a group together, at one step or over all of them (step -1). */
static assay_status take_together(struct taker *taker, const struct case_data *data, const struct case_array *arrays,
                                  int32_t count, int64_t step) {
  struct hash hash;
  char digest[HASH_TEXT_SIZE];
  bool constant = true;
  hash_begin(&hash);
  for (int32_t i = 0; i < count; i++) {
    assay_tensor tensor = step < 0 ? arrays[i].tensor : case_step(data, taker->entry, &arrays[i].tensor, step);
    constant = constant && is_constant(&tensor);
    add_tensor(&hash, arrays[i].name, &tensor);
  }
  hash_end(&hash, digest);
  return constant ? status_ok() : taker->take(taker, count == 1 ? arrays[0].name : "all together", digest, NULL);
}

static assay_status take_group(struct taker *taker, const struct case_data *data, const struct case_array *arrays,
                               int32_t count) {
  int64_t steps = taker->entry->sequence ? data->steps : 1;
  TRY(take_together(taker, data, arrays, count, -1));
  for (int64_t s = 0; s < steps; s++) {
    /* Many episodes begin alike; after that, equal steps are one recording. */
    if (taker->entry->sequence && s > 0) {
      TRY(take_together(taker, data, arrays, count, s));
    }
    struct views views = {.count = 0};
    for (int32_t i = 0; i < count; i++) {
      assay_tensor tensor = case_step(data, taker->entry, &arrays[i].tensor, s);
      TRY(take_array(taker, arrays[i].name, &tensor));
      add_views(&tensor, &views);
    }
    if (views.count > 0) {
      TRY(taker->take(taker, "the images", NULL, &views));
    }
  }
  return status_ok();
}

/* What was recorded, not what was answered: answers may be equal by chance. */
static assay_status take_case(struct taker *taker, const struct case_data *data) {
  TRY(take_group(taker, data, data->inputs, data->n_inputs));
  return take_group(taker, data, data->raw, data->n_raw);
}

/* --- adding ---------------------------------------------------------------------- */

static assay_status push_digest(struct sealed_register *sealed, const char *digest) {
  LIST_ROOM(sealed->digests, sealed->n_digests, sealed->digests_room);
  memcpy(sealed->digests[sealed->n_digests++].text, digest, HASH_TEXT_SIZE);
  sealed->sorted = false;
  return status_ok();
}

static assay_status push_image(struct sealed_register *sealed, const struct views *views) {
  LIST_ROOM(sealed->images, sealed->n_images, sealed->images_room);
  sealed->images[sealed->n_images++] = *views;
  sealed->sorted = false;
  return status_ok();
}

static assay_status add_print(struct taker *taker, const char *array, const char *digest, const struct views *views) {
  (void)array;
  return digest != NULL ? push_digest(taker->sealed, digest) : push_image(taker->sealed, views);
}

assay_status sealed_register_add(struct sealed_register *sealed, const struct corpus_case *entry,
                                 const struct case_data *data) {
  struct taker taker = {.take = add_print, .sealed = sealed, .entry = entry};
  return take_case(&taker, data);
}

assay_status sealed_register_name(struct sealed_register *sealed, const struct corpus *corpus) {
  LIST_ROOM(sealed->corpora, sealed->n_corpora, sealed->corpora_room);
  memcpy(sealed->corpora[sealed->n_corpora++].text, corpus->digest, HASH_TEXT_SIZE);
  sealed->sorted = false;
  return status_ok();
}

assay_status sealed_register_new(struct sealed_register **out) {
  *out = memory_alloc(1, sizeof **out);
  return *out != NULL ? status_ok() : status_no_memory(sizeof **out);
}

void sealed_register_free(struct sealed_register *sealed) {
  if (sealed != NULL) {
    memory_free(sealed->digests);
    memory_free(sealed->images);
    memory_free(sealed->corpora);
    memory_free(sealed);
  }
}

int64_t sealed_register_size(const struct sealed_register *sealed) {
  return (int64_t)sealed->n_digests + sealed->n_images;
}

/* --- sorting ---------------------------------------------------------------------- */

static int by_digest(const void *a, const void *b) {
  return strcmp(((const struct digest *)a)->text, ((const struct digest *)b)->text);
}

static int by_image(const void *a, const void *b) {
  const struct views *x = a, *y = b;
  for (int32_t i = 0; i < x->count && i < y->count; i++) {
    for (int w = 0; w < IMAGE_PRINT_WORDS; w++) {
      uint64_t left = x->items[i].words[w], right = y->items[i].words[w];
      if (left != right) {
        return left > right ? 1 : -1;
      }
    }
  }
  return (x->count > y->count) - (x->count < y->count);
}

static int32_t unique(void *items, int32_t count, size_t size, int (*compare)(const void *a, const void *b)) {
  char *bytes = items;
  int32_t kept = 0;
  if (count > 0) {
    qsort(items, (size_t)count, size, compare);
  }
  for (int32_t i = 0; i < count; i++) {
    if (kept == 0 || compare(bytes + (size_t)(kept - 1) * size, bytes + (size_t)i * size) != 0) {
      memmove(bytes + (size_t)kept++ * size, bytes + (size_t)i * size, size);
    }
  }
  return kept;
}

static void sort(struct sealed_register *sealed) {
  if (!sealed->sorted) {
    sealed->n_digests = unique(sealed->digests, sealed->n_digests, sizeof *sealed->digests, by_digest);
    sealed->n_images = unique(sealed->images, sealed->n_images, sizeof *sealed->images, by_image);
    sealed->n_corpora = unique(sealed->corpora, sealed->n_corpora, sizeof *sealed->corpora, by_digest);
    sealed->sorted = true;
  }
}

/* --- checking ---------------------------------------------------------------------- */

static assay_status overlap(const struct taker *taker, const char *array, const char *how) {
  return status_make(
      ASSAY_SEALED_OVERLAP, taker->where,
      "case '%s' overlaps with the sealed set: '%s' %s; take the case out, since nothing may be compared "
      "or learned with what the final evaluation uses",
      taker->entry->id, array, how);
}

static bool look_alike(const struct views *a, const struct views *b) {
  bool alike = a->count == b->count;
  for (int32_t i = 0; i < a->count && alike; i++) {
    alike = image_print_distance(&a->items[i], &b->items[i]) <= NEAR;
  }
  return alike;
}

static assay_status check_print(struct taker *taker, const char *array, const char *digest, const struct views *views) {
  const struct sealed_register *sealed = taker->sealed;
  if (digest != NULL) {
    struct digest key;
    memcpy(key.text, digest, HASH_TEXT_SIZE);
    bool found = sealed->n_digests > 0 &&
                 bsearch(&key, sealed->digests, (size_t)sealed->n_digests, sizeof key, by_digest) != NULL;
    return found ? overlap(taker, array, "has the same bytes as a sealed case") : status_ok();
  }
  for (int32_t i = 0; i < sealed->n_images; i++) {
    if (look_alike(&sealed->images[i], views)) {
      return overlap(taker, array, "look the same as a sealed case's (" IMAGE_PRINT_NAME ")");
    }
  }
  return status_ok();
}

assay_status sealed_register_check(struct sealed_register *sealed, const char *where, const struct corpus_case *entry,
                                   const struct case_data *data) {
  if (sealed == NULL) {
    return status_ok();
  }
  sort(sealed);
  struct taker taker = {.take = check_print, .sealed = sealed, .where = where, .entry = entry};
  return take_case(&taker, data);
}

/* --- the file ------------------------------------------------------------------------ */

static void write_digests(struct text *out, const char *key, const struct digest *digests, int32_t count) {
  text_format(out, "  \"%s\": [", key);
  for (int32_t i = 0; i < count; i++) {
    text_format(out, "%s\n    \"%s\"", i > 0 ? "," : "", digests[i].text);
  }
  text_add(out, count > 0 ? "\n  ]" : "]");
}

assay_status sealed_register_write(struct sealed_register *sealed, const char *path) {
  struct text out = {0};
  sort(sealed);
  text_format(&out, "{\n  \"assay\": 1,\n  \"bytes\": \"sha256\",\n  \"images\": \"" IMAGE_PRINT_NAME "\",\n");
  write_digests(&out, "corpora", sealed->corpora, sealed->n_corpora);
  text_add(&out, ",\n");
  write_digests(&out, "arrays", sealed->digests, sealed->n_digests);
  text_add(&out, ",\n  \"prints\": [");
  for (int32_t i = 0; i < sealed->n_images; i++) {
    text_format(&out, "%s\n    \"", i > 0 ? "," : "");
    for (int32_t w = 0; w < sealed->images[i].count * IMAGE_PRINT_WORDS; w++) {
      text_format(&out, "%016" PRIx64, sealed->images[i].items[w / IMAGE_PRINT_WORDS].words[w % IMAGE_PRINT_WORDS]);
    }
    text_add(&out, "\"");
  }
  text_add(&out, sealed->n_images > 0 ? "\n  ]\n}\n" : "]\n}\n");
  assay_status status = text_status(&out);
  if (assay_status_ok(status)) {
    status = file_replace(path, out.data, out.length);
  }
  text_free(&out);
  return status;
}

static assay_status invalid(const char *path, const char *what) {
  return status_make(ASSAY_CORPUS_INVALID, path,
                     "this is no sealed register: %s; make it again with `assay corpus seal`", what);
}

static bool is_digest(const char *text) {
  return text != NULL && strlen(text) == HASH_TEXT_SIZE - 1 && text_starts_with(text, "sha256:") &&
         strspn(text + 7, "0123456789abcdef") == 64;
}

static bool parse_views(const char *text, struct views *out) {
  size_t length = text != NULL ? strlen(text) : 0, digits = IMAGE_PRINT_BITS / 4;
  if (length == 0 || length % digits != 0 || length > VIEWS * digits || strspn(text, "0123456789abcdef") != length) {
    return false;
  }
  out->count = (int32_t)(length / digits);
  for (int32_t w = 0; w < out->count * IMAGE_PRINT_WORDS; w++) {
    char word[17] = "";
    memcpy(word, text + w * 16, 16);
    out->items[w / IMAGE_PRINT_WORDS].words[w % IMAGE_PRINT_WORDS] = strtoull(word, NULL, 16);
  }
  return true;
}

static assay_status read_object(const char *path, const json_t *object, struct sealed_register *sealed) {
  static const char *const lists[] = {"corpora", "arrays", "prints"};
  const char *bytes = json_string_value(json_object_get(object, "bytes"));
  const char *images = json_string_value(json_object_get(object, "images"));
  if (json_integer_value(json_object_get(object, "assay")) != 1 || bytes == NULL || !text_equal(bytes, "sha256") ||
      images == NULL || !text_equal(images, IMAGE_PRINT_NAME)) {
    return invalid(path, "its version, or an algorithm of its digests, is not one that this assay knows");
  }
  for (int k = 0; k < 3; k++) {
    const json_t *list = json_object_get(object, lists[k]);
    if (!json_is_array(list)) {
      return invalid(path, "a list is missing");
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
      const char *text = json_string_value(json_array_get(list, i));
      struct views views = {.count = 0};
      if (k == 2 ? !parse_views(text, &views) : !is_digest(text)) {
        return invalid(path, "an entry is no digest");
      }
      if (k == 0) {
        LIST_ROOM(sealed->corpora, sealed->n_corpora, sealed->corpora_room);
        memcpy(sealed->corpora[sealed->n_corpora++].text, text, HASH_TEXT_SIZE);
      } else {
        TRY(k == 1 ? push_digest(sealed, text) : push_image(sealed, &views));
      }
    }
  }
  return status_ok();
}

assay_status sealed_register_parse(const char *text, size_t size, const char *path, struct sealed_register **out) {
  json_error_t error;
  *out = NULL;
  json_t *object = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
  if (!json_is_object(object)) {
    json_decref(object);
    return invalid(path, "it is no JSON object");
  }
  assay_status status = sealed_register_new(out);
  if (assay_status_ok(status)) {
    status = read_object(path, object, *out);
  }
  json_decref(object);
  if (!assay_status_ok(status)) {
    sealed_register_free(*out);
    *out = NULL;
  }
  return status;
}

assay_status sealed_register_read(const char *path, struct sealed_register **out) {
  char *text = NULL;
  size_t size = 0;
  *out = NULL;
  assay_status status = file_read(path, REGISTER_BYTES_MAX, &text, &size);
  if (status.code == ASSAY_FILE_MISSING) {
    assay_status_clear(&status);
    return status_ok();
  }
  if (assay_status_ok(status)) {
    status = sealed_register_parse(text, size, path, out);
  }
  memory_free(text);
  return status;
}

/* The folder above, links followed: "golden", "./p/golden/" and "." lie where they lie. */
static char *folder_above(struct arena *arena, const char *folder) {
  char resolved[PATH_MAX];
  return realpath(folder, resolved) != NULL ? path_folder(arena, resolved) : path_join(arena, folder, "..");
}

assay_status sealed_register_beside(const char *corpus_folder, struct sealed_register **out) {
  struct arena arena = {0};
  *out = NULL;
  char *above = folder_above(&arena, corpus_folder);
  char *path = above != NULL ? path_join(&arena, above, SEALED_REGISTER_NAME) : NULL;
  assay_status status = path != NULL ? sealed_register_read(path, out) : status_no_memory(strlen(corpus_folder));
  arena_free(&arena);
  return status;
}
