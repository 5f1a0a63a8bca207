/* The two folders of the process rung: see process_rung.h. What a program wrote is read as hostile: names of files stay
 * inside the folder, sizes and counts are bounded, and nothing that it says is believed beyond its own answer. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "core/file.h"
#include "core/memory.h"
#include "rung/process_rung.h"
#include "tensor/npy.h"

enum { OUTPUTS_MAX = 4096, ANSWER_BYTES_MAX = 1 << 22 };
static const size_t array_bytes_max = (size_t)1 << 32;

/* --- the call ------------------------------------------------------------------------------- */

/* One input: its file, and its line in call.json. NULL when memory ran out. */
static json_t *describe_input(const struct rung_tensor *input, int32_t i) {
  char file[32];
  snprintf(file, sizeof file, "input_%d.npy", (int)i);
  json_t *shape = json_array();
  for (int32_t d = 0; shape != NULL && d < input->tensor.rank; d++) {
    json_array_append_new(shape, json_integer(input->tensor.dims[d]));
  }
  return json_pack("{s:s, s:s, s:s, s:o}", "name", input->name, "file", file, "dtype",
                   assay_dtype_name(input->tensor.dtype), "shape", shape);
}

static assay_status write_inputs(const char *folder, const struct rung_call *call, json_t *list) {
  for (int32_t i = 0; i < call->n_inputs; i++) {
    char name[32];
    struct arena arena = {0};
    snprintf(name, sizeof name, "input_%d.npy", (int)i);
    const char *path = path_join(&arena, folder, name);
    assay_status status = path != NULL ? npy_write(path, &call->inputs[i].tensor) : status_no_memory(strlen(folder));
    arena_free(&arena);
    TRY(status);
    if (json_array_append_new(list, describe_input(&call->inputs[i], i)) != 0) {
      return status_make(ASSAY_RUNG_FAILED, call->inputs[i].name, "input '%s' cannot be described in JSON",
                         call->inputs[i].name);
    }
  }
  return status_ok();
}

static int add_to_text(const char *bytes, size_t size, void *text) {
  text_add_bytes(text, bytes, size);
  return ((struct text *)text)->failed ? -1 : 0;
}

assay_status process_call_write(const char *folder, const struct rung_request *request, const struct rung_call *call) {
  struct arena arena = {0};
  json_t *inputs = json_array();
  const char *path = path_join(&arena, folder, "call.json");
  assay_status status = inputs == NULL || path == NULL ? status_no_memory(0) : write_inputs(folder, call, inputs);
  if (assay_status_ok(status)) {
    json_t *root = json_pack("{s:i, s:s, s:I, s:I, s:s?, s:s?, s:i, s:O}", "assay", 1, "case", call->case_id, "step",
                             (json_int_t)call->step, "steps", (json_int_t)call->steps, "model", request->model_path,
                             "precision", request->precision, "threads", request->threads, "inputs", inputs);
    struct text text = {0};
    bool written =
        root != NULL && json_dump_callback(root, add_to_text, &text, JSON_INDENT(2) | JSON_ENSURE_ASCII) == 0;
    status = written ? file_replace(path, text.data, text.length)
                     : status_make(ASSAY_RUNG_FAILED, call->case_id, "the call cannot be written as JSON");
    text_free(&text);
    json_decref(root);
  }
  json_decref(inputs);
  arena_free(&arena);
  return status;
}

/* --- the answer --------------------------------------------------------------------------------- */

static assay_status wrong(const char *path, const char *format, ...) PRINTF_LIKE(2, 3);
static assay_status wrong(const char *path, const char *format, ...) {
  struct text sentence = {0};
  va_list arguments;
  va_start(arguments, format);
  text_format_va(&sentence, format, arguments);
  va_end(arguments);
  assay_status status = status_make(ASSAY_RUNG_FAILED, path, "%s", text_string(&sentence));
  text_free(&sentence);
  return status;
}

/* Types that NumPy lacks come as bits, with their name beside. */
static assay_status retype(const char *path, const char *dtype, assay_tensor *tensor) {
  assay_dtype wanted = assay_dtype_find(dtype);
  if (wanted == tensor->dtype) {
    return status_ok();
  }
  bool bits = assay_dtype_bits(wanted) >= 8 && assay_dtype_bits(wanted) == assay_dtype_bits(tensor->dtype) &&
              (tensor->dtype == ASSAY_UINT16 || tensor->dtype == ASSAY_UINT8);
  if (!bits) {
    return wrong(path, "the array is %s, but answer.json says '%.40s'", assay_dtype_name(tensor->dtype), dtype);
  }
  tensor->dtype = wanted;
  return status_ok();
}

static assay_status read_output(const char *folder, const char *path, json_t *item, struct process_answer *out) {
  const char *name = json_string_value(json_object_get(item, "name"));
  const char *file = json_string_value(json_object_get(item, "file"));
  const char *dtype = json_string_value(json_object_get(item, "dtype"));
  if (name == NULL || file == NULL) {
    return wrong(path, "an output lacks 'name' or 'file'; each is {\"name\": ..., \"file\": \"NAME.npy\"}");
  }
  char *array;
  struct rung_tensor *output = &out->outputs[out->n_outputs];
  TRY(path_join_inside(&out->arena, folder, file, ASSAY_RUNG_FAILED, &array));
  struct file_map map;
  TRY(file_map_open(array, &map));
  size_t size = map.size;
  assay_status status = size <= array_bytes_max ? npy_parse(map.data, size, array, &output->tensor)
                                                : wrong(array, "the array has %zu bytes, more than are read", size);
  file_map_close(&map);
  TRY(status);
  out->n_outputs++; /* from here on it is freed with the answer */
  output->name = arena_string(&out->arena, name);
  if (output->name == NULL) {
    return status_no_memory(strlen(name));
  }
  return dtype != NULL ? retype(array, dtype, &output->tensor) : status_ok();
}

static assay_status read_outputs(const char *folder, const char *path, json_t *root, struct process_answer *out) {
  json_t *list = json_object_get(root, "outputs");
  size_t count = json_array_size(list);
  if (!json_is_array(list) || count > OUTPUTS_MAX) {
    return wrong(path, "it needs a list 'outputs' of at most %d", (int)OUTPUTS_MAX);
  }
  ARENA_NEW(&out->arena, out->outputs, count + 1);
  for (size_t i = 0; i < count; i++) {
    TRY(read_output(folder, path, json_array_get(list, i), out));
  }
  return status_ok();
}

/* What the program says that it ran. */
static assay_status read_actual(const char *path, json_t *root, struct process_answer *out) {
  json_t *ran = json_object_get(root, "ran");
  struct rung_actual *actual = &out->actual;
  const struct {
    const char *key;
    const char **member;
  } words[] = {{"version", &actual->version},
               {"provider", &actual->provider},
               {"precision", &actual->precision},
               {"accumulator", &actual->accumulator},
               {"device", &actual->device},
               {"tf32", &actual->tf32},
               {"note", &actual->note}};
  if (ran == NULL) {
    return status_ok();
  }
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    const char *word = json_string_value(json_object_get(ran, words[i].key));
    if (word != NULL && (*words[i].member = rung_word(&out->arena, word)) == NULL) {
      return status_no_memory(strlen(word));
    }
  }
  json_int_t threads = json_integer_value(json_object_get(ran, "threads"));
  if (threads < 0 || threads > 4096) {
    return wrong(path, "'threads' of 'ran' is %lld", (long long)threads);
  }
  actual->threads = (int)threads;
  return status_ok();
}

assay_status process_answer_read(const char *folder, struct process_answer *out) {
  char *text = NULL;
  size_t size = 0;
  json_error_t error;
  *out = (struct process_answer){0};
  char *path = NULL;
  TRY(path_join_inside(&out->arena, folder, "answer.json", ASSAY_RUNG_FAILED, &path));
  if (!file_exists(path)) {
    return wrong(path, "the program ended well, but wrote no answer.json");
  }
  TRY(file_read(path, ANSWER_BYTES_MAX, &text, &size));
  json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
  memory_free(text);
  if (!json_is_object(root)) {
    json_decref(root);
    return wrong(path, "line %d is not what JSON allows: %s", error.line, error.text);
  }
  assay_status status = read_outputs(folder, path, root, out);
  if (assay_status_ok(status)) {
    status = read_actual(path, root, out);
  }
  json_decref(root);
  return status;
}

void process_answer_free(struct process_answer *answer) {
  for (int32_t i = 0; i < answer->n_outputs; i++) {
    tensor_free(&answer->outputs[i].tensor);
  }
  arena_free(&answer->arena);
  *answer = (struct process_answer){0};
}
