/* Opening and closing models. A model that could not be opened leaves nothing behind. */
#include "model/model.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/memory.h"
#include "model/load.h"

static void advise(const struct file_map *map, int advice) {
  if (map->data != NULL) {
    madvise((void *)(uintptr_t)map->data, map->size, advice);
  }
}

static assay_status open_scanned(struct model *model, const uint8_t *bytes, size_t size, const char *where,
                                 const struct model_options *options) {
  struct scan_limits limits = {0};
  if (options != NULL) {
    limits = (struct scan_limits){options->max_bytes, options->max_depth};
  }
  struct scan scan;
  TRY(scan_model(bytes, size, where, &limits, &scan));
  uint64_t budget = limits.max_bytes != 0 ? limits.max_bytes : SCAN_BASE + SCAN_FACTOR * (uint64_t)scan.slim_size;
  struct loader loader = {.model = model, .arena = &model->arena, .where = where, .bytes = bytes, .size = size};
  loader.scan = &scan;
  loader.budget = budget > scan.decoded ? budget - scan.decoded : 0;
  assay_status status = load_model(&loader);
  scan_free(&scan);
  return status;
}

static assay_status model_new(const char *path, struct model **out) {
  struct model *model = memory_alloc(1, sizeof *model);
  if (model == NULL) {
    return status_no_memory(sizeof *model);
  }
  if (path != NULL) {
    model->path = arena_string(&model->arena, path);
    if (model->path == NULL) {
      model_close(model);
      return status_no_memory(strlen(path));
    }
  }
  *out = model;
  return status_ok();
}

assay_status model_parse(const void *bytes, size_t size, const char *path, const struct model_options *options,
                         struct model **out) {
  *out = NULL;
  struct model *model;
  TRY(model_new(path, &model));
  assay_status status = open_scanned(model, bytes, size, path != NULL ? path : "model", options);
  if (!assay_status_ok(status)) {
    model_close(model);
    return status;
  }
  *out = model;
  return status_ok();
}

assay_status model_open(const char *path, const struct model_options *options, struct model **out) {
  *out = NULL;
  struct model *model;
  TRY(model_new(path, &model));
  assay_status status = file_map_open(path, &model->file);
  if (assay_status_ok(status)) {
    /* The scan reads the few pages that hold tags and leaps over the weights between them: reading ahead would
     * fetch these. What it looked at need not stay resident. */
    advise(&model->file, MADV_RANDOM);
    status = open_scanned(model, model->file.data, model->file.size, path, options);
    advise(&model->file, MADV_NORMAL);
    advise(&model->file, MADV_DONTNEED);
  }
  if (!assay_status_ok(status)) {
    model_close(model);
    return status;
  }
  *out = model;
  return status_ok();
}

void model_close(struct model *model) {
  if (model == NULL) {
    return;
  }
  for (int32_t i = 0; i < model->n_external; i++) {
    file_map_close(&model->external[i]);
  }
  file_map_close(&model->file);
  arena_free(&model->arena);
  memory_free(model);
}

int32_t model_warning_count(const struct model *model) { return model->n_warnings; }

const struct model_warning *model_warning_at(const struct model *model, int32_t i) {
  return i >= 0 && i < model->n_warnings ? &model->warnings[i] : NULL;
}

int64_t model_opset(const struct model *model, const char *domain) {
  domain = load_domain(domain);
  for (int32_t i = 0; i < model->n_opsets; i++) {
    if (text_equal(model->opsets[i].domain, domain)) {
      return model->opsets[i].version;
    }
  }
  return 0;
}

const char *model_metadata(const struct model *model, const char *key) {
  for (int32_t i = 0; i < model->n_metadata; i++) {
    if (text_equal(model->metadata[i].key, key)) {
      return model->metadata[i].value;
    }
  }
  return NULL;
}

/* Whole pages between two addresses of a mapping. */
static void release_range(const struct file_map *map, const uint8_t *data, size_t bytes) {
  uintptr_t base = (uintptr_t)map->data, begin = (uintptr_t)data, end = begin + bytes;
  if (map->data == NULL || begin < base || end > base + map->size) {
    return;
  }
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  begin = begin / page * page; /* neighbours that share a page are read again if need be */
  if (begin < end) {
    madvise((void *)begin, end - begin, MADV_DONTNEED);
  }
}

void model_release_pages(const struct model *model, const assay_tensor *tensor) {
  if (tensor->data == NULL || tensor->bytes == 0) {
    return;
  }
  model = model->origin != NULL ? model->origin : model;
  release_range(&model->file, tensor->data, tensor->bytes);
  for (int32_t i = 0; i < model->n_external; i++) {
    release_range(&model->external[i], tensor->data, tensor->bytes);
  }
}
