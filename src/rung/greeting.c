/* The first message to a worker: see greeting.h. What it reads may come from anybody who can start the worker: names of
 * files stay inside the folder, and every size is checked against the message. */
#include "rung/greeting.h"

#include <string.h>

#include "core/file.h"
#include "model/model.h"
#include "rung/serve.h"
#include "rung/wire.h"

static const char magic[] = "assay worker";
enum { LISTED_MAX = 4096, FILES_MAX = 64 };

/* --- writing ------------------------------------------------------------------------------ */

static assay_status put_file(const char *path, const char *name, struct text *out) {
  struct file_map map;
  TRY(file_map_open(path, &map));
  wire_put_string(out, name);
  wire_put_int(out, (int64_t)map.size);
  text_add_bytes(out, map.size > 0 ? (const char *)map.data : "", map.size);
  file_map_close(&map);
  return text_status(out);
}

/* The files that hold the model's external data, each once. */
static assay_status list_external(const struct model *model, const char **names, int32_t *count) {
  *count = 0;
  for (int32_t i = 0; i < model->graph->n_initializers; i++) {
    const char *location = model->graph->initializers[i].external_location;
    bool known = location == NULL;
    for (int32_t n = 0; n < *count && !known; n++) {
      known = strcmp(names[n], location) == 0;
    }
    if (!known && *count == FILES_MAX) {
      return status_make(ASSAY_RUNG_FAILED, model->path, "the model has more than %d files of external data",
                         (int)FILES_MAX);
    }
    if (!known) {
      names[(*count)++] = location;
    }
  }
  return status_ok();
}

static assay_status put_model(const char *path, struct text *out) {
  const char *names[FILES_MAX];
  int32_t count;
  struct model *model = NULL;
  struct arena arena = {0};
  TRY(model_open(path, NULL, &model));
  assay_status status = list_external(model, names, &count);
  if (assay_status_ok(status)) {
    wire_put_int(out, count + 1);
    status = put_file(path, "model.onnx", out);
  }
  const char *folder = path_folder(&arena, path);
  for (int32_t i = 0; i < count && assay_status_ok(status); i++) {
    const char *file = folder != NULL ? path_join(&arena, folder, names[i]) : NULL;
    status = file != NULL ? put_file(file, names[i], out) : status_no_memory(0);
  }
  model_close(model);
  arena_free(&arena);
  return status;
}

assay_status greeting_write(const struct rung_request *request, const char *engine, struct text *out) {
  wire_put_int(out, MESSAGE_HELLO);
  wire_put_string(out, magic);
  wire_put_int(out, WORKER_PROTOCOL);
  wire_put_string(out, request->name);
  wire_put_string(out, engine);
  wire_put_string(out, request->precision);
  wire_put_string(out, request->provider);
  wire_put_int(out, request->threads);
  wire_put_int(out, request->n_settings);
  for (int32_t i = 0; i < request->n_settings; i++) {
    wire_put_string(out, request->settings[i].key);
    wire_put_string(out, request->settings[i].value);
  }
  wire_put_int(out, request->n_keep);
  for (int32_t i = 0; i < request->n_keep; i++) {
    wire_put_string(out, request->keep[i]);
  }
  if (request->model_path != NULL) {
    return put_model(request->model_path, out);
  }
  wire_put_int(out, 0); /* whoever listens needs no file */
  return text_status(out);
}

/* --- reading --------------------------------------------------------------------------------- */

static assay_status malformed(void) {
  return status_make(ASSAY_RUNG_FAILED, "greeting", "the greeting is malformed; is it assay on the other side?");
}

/* A count that the message can hold. */
static int32_t get_count(struct wire_reader *in) {
  int64_t count = wire_get_int(in);
  in->failed = in->failed || count < 0 || count > LISTED_MAX;
  return in->failed ? 0 : (int32_t)count;
}

static assay_status get_lists(struct wire_reader *in, struct arena *arena, struct rung_request *out) {
  struct rung_setting *settings;
  const char **keep;
  out->n_settings = get_count(in);
  ARENA_NEW(arena, settings, out->n_settings + 1);
  for (int32_t i = 0; i < out->n_settings; i++) {
    settings[i].key = wire_get_string(in);
    settings[i].value = wire_get_string(in);
    in->failed = in->failed || settings[i].key == NULL || settings[i].value == NULL;
  }
  out->n_keep = get_count(in);
  ARENA_NEW(arena, keep, out->n_keep + 1);
  for (int32_t i = 0; i < out->n_keep; i++) {
    keep[i] = wire_get_string(in);
    in->failed = in->failed || keep[i] == NULL;
  }
  out->settings = settings;
  out->keep = keep;
  return in->failed ? malformed() : status_ok();
}

static assay_status get_file(struct wire_reader *in, const char *folder, struct arena *arena, const char **path) {
  const char *name = wire_get_string(in);
  int64_t size = wire_get_int(in);
  if (in->failed || name == NULL || size < 0 || (uint64_t)size > in->size - in->place) {
    return malformed();
  }
  char *joined = NULL;
  TRY(path_join_inside(arena, folder, name, ASSAY_RUNG_FAILED, &joined));
  const char *parent = path_folder(arena, joined);
  if (parent == NULL) {
    return status_no_memory(strlen(joined));
  }
  TRY(folder_make(parent));
  TRY(file_replace(joined, in->data + in->place, (size_t)size));
  in->place += (size_t)size;
  *path = joined;
  return status_ok();
}

assay_status greeting_read(const struct text *message, const char *folder, struct arena *arena,
                           struct rung_request *out) {
  struct wire_reader in = {.data = message->data, .size = message->length};
  int64_t what = wire_get_int(&in);
  const char *word = wire_get_string(&in);
  *out = (struct rung_request){0};
  if (in.failed || what != MESSAGE_HELLO || word == NULL || strcmp(word, magic) != 0) {
    return malformed();
  }
  int64_t protocol = wire_get_int(&in);
  if (protocol != WORKER_PROTOCOL) {
    return status_make(
        ASSAY_RUNG_FAILED, "greeting",
        "the other side speaks protocol %lld, this worker (assay %s) speaks %d; install the same version of "
        "assay on both",
        (long long)protocol, ASSAY_VERSION, (int)WORKER_PROTOCOL);
  }
  out->name = wire_get_string(&in);
  out->engine = wire_get_string(&in);
  out->precision = wire_get_string(&in);
  out->provider = wire_get_string(&in);
  int64_t threads = wire_get_int(&in);
  if (in.failed || out->name == NULL || out->engine == NULL || threads < 0 || threads > LISTED_MAX) {
    return malformed();
  }
  out->threads = (int)threads;
  TRY(get_lists(&in, arena, out));
  int32_t n_files = get_count(&in);
  for (int32_t i = 0; i < n_files; i++) {
    const char *path = NULL;
    TRY(get_file(&in, folder, arena, &path));
    out->model_path = i == 0 ? path : out->model_path;
  }
  return in.failed || n_files == 0 ? malformed() : status_ok();
}
