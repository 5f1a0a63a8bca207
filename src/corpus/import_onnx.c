/* Importing ONNX's test data: input_N.pb and output_N.pb are the N-th input and output of a model. The
 * numbers decide, and a name inside must not contradict them; what is no tensor is refused by name. */
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "corpus/import.h"
#include "corpus/import_case.h"
#include "model/model.h"
#include "model/tensor_file.h"

/* The tensors of one side, in the model's order. */
struct side {
  const char *what, *group; /* "input", "inputs" */
  int32_t count;
  const struct value **values;
};

static assay_status list_side(const struct graph *graph, bool inputs, bool with_defaults, struct arena *arena,
                              struct side *side) {
  int32_t n = inputs ? graph->n_inputs : graph->n_outputs;
  *side = (struct side){inputs ? "input" : "output", inputs ? "inputs" : "outputs", 0, NULL};
  ARENA_NEW(arena, side->values, n);
  for (int32_t i = 0; i < n; i++) {
    const struct value *value = &graph->values[inputs ? graph->inputs[i] : graph->outputs[i]];
    if (!inputs || with_defaults || value->initializer < 0) {
      side->values[side->count++] = value;
    }
  }
  return status_ok();
}

static const char *kind_word(enum type_kind kind) {
  switch (kind) {
    case TYPE_SEQUENCE:
      return "a sequence";
    case TYPE_OPTIONAL:
      return "an optional";
    case TYPE_MAP:
      return "a map";
    case TYPE_SPARSE_TENSOR:
      return "a sparse tensor";
    default:
      return NULL;
  }
}

/* N of "input_N.pb"; -1 when the name is another. */
static int32_t file_number(const char *name, const char *what) {
  size_t length = strlen(what);
  if (strncmp(name, what, length) != 0 || name[length] != '_') {
    return -1;
  }
  const char *digits = name + length + 1;
  size_t n = strspn(digits, "0123456789");
  if (n == 0 || n > 4 || strcmp(digits + n, ".pb") != 0 || (n > 1 && digits[0] == '0')) {
    return -1;
  }
  return (int32_t)strtol(digits, NULL, 10);
}

static assay_status take_file(struct import_case *made, const char *path, const struct side *side, int32_t number) {
  if (number >= side->count) {
    return status_make(ASSAY_IMPORT_INVALID, path, "this is %s %d, but the model has %d", side->what, number,
                       side->count);
  }
  const struct value *value = side->values[number];
  const char *kind = kind_word(value->declared.kind), *name;
  if (kind != NULL) {
    return status_make(ASSAY_IMPORT_INVALID, path, "the model's %s '%s' is %s, and a corpus holds tensors alone",
                       side->what, value->name, kind);
  }
  assay_tensor tensor;
  TRY(tensor_proto_read(path, &made->arena, &tensor, &name));
  assay_status status = status_ok();
  if (*name != '\0' && strcmp(name, value->name) != 0) {
    status = status_make(
        ASSAY_IMPORT_INVALID, path,
        "the tensor inside is named '%s', but %s %d of the model is '%s'; the data belongs to another model "
        "or another order",
        name, side->what, number, value->name);
  }
  char *array = arena_format(&made->arena, "%s/%s", side->group, value->name);
  if (assay_status_ok(status)) {
    status = array == NULL ? status_no_memory(strlen(value->name)) : import_case_take(made, array, &tensor);
  }
  tensor_free(&tensor);
  return status;
}

/* One test_data_set_N. */
struct data_set {
  const char *path;
  char **names;
  size_t count;
  int32_t n_inputs;
};

static assay_status list_data_set(struct data_set *set, struct arena *arena) {
  TRY(folder_list(set->path, arena, &set->names, &set->count));
  int32_t n_outputs = 0;
  for (size_t i = 0; i < set->count; i++) {
    bool input = file_number(set->names[i], "input") >= 0, output = file_number(set->names[i], "output") >= 0;
    if (!input && !output) {
      return status_make(ASSAY_IMPORT_INVALID, set->path,
                         "'%s' is neither input_N.pb nor output_N.pb; a test data set holds nothing else",
                         set->names[i]);
    }
    set->n_inputs += input;
    n_outputs += output;
  }
  if (set->n_inputs + n_outputs == 0) {
    return status_make(ASSAY_IMPORT_INVALID, set->path, "the folder is empty; there is nothing to import");
  }
  return status_ok();
}

static assay_status take_data_set(struct import_case *made, const struct data_set *set, const struct graph *graph) {
  struct side inputs, outputs;
  /* Old models list their weights among the inputs; data sets may leave those out. */
  TRY(list_side(graph, true, set->n_inputs == graph->n_inputs, &made->arena, &inputs));
  TRY(list_side(graph, false, false, &made->arena, &outputs));
  for (size_t i = 0; i < set->count; i++) {
    int32_t number = file_number(set->names[i], "input");
    const struct side *side = number >= 0 ? &inputs : &outputs;
    number = number >= 0 ? number : file_number(set->names[i], "output");
    char *path = path_join(&made->arena, set->path, set->names[i]);
    TRY(path == NULL ? status_no_memory(strlen(set->path)) : take_file(made, path, side, number));
  }
  if (set->n_inputs < inputs.count) {
    return status_make(ASSAY_IMPORT_INVALID, set->path, "the model has %d inputs, but the data set has %d",
                       inputs.count, set->n_inputs);
  }
  return status_ok();
}

static assay_status add_data_set(struct corpus_editor *editor, const struct corpus_case *like, const char *path,
                                 const char *id, const struct graph *graph) {
  struct import_case made = {0};
  struct data_set set = {.path = path};
  struct corpus_case entry = *like;
  entry.id = id;
  entry.file = NULL;
  entry.origin = import_origin();
  entry.origin.file = path_name(path);
  assay_status status = list_data_set(&set, &made.arena);
  if (assay_status_ok(status)) {
    status = take_data_set(&made, &set, graph);
  }
  if (assay_status_ok(status)) {
    status = import_case_add(&made, editor, &entry);
  }
  import_case_free(&made);
  return status;
}

/* All test_data_set_N of a folder, or the folder itself when it is one. */
static assay_status add_all(struct corpus_editor *editor, const struct corpus_case *like, const char *path,
                            const struct graph *graph, struct arena *arena) {
  char **names;
  size_t count, sets = 0;
  TRY(folder_list(path, arena, &names, &count));
  for (size_t i = 0; i < count; i++) {
    sets += text_starts_with(names[i], "test_data_set_");
  }
  if (sets == 0) {
    const char *stem = import_stem(arena, path), *id = like->id != NULL ? like->id : stem;
    return id == NULL ? status_no_memory(strlen(path)) : add_data_set(editor, like, path, id, graph);
  }
  for (size_t i = 0; i < count; i++) {
    if (!text_starts_with(names[i], "test_data_set_")) {
      continue;
    }
    char *inner = path_join(arena, path, names[i]);
    char *id =
        like->id == NULL ? names[i] : arena_format(arena, "%s_%s", like->id, names[i] + strlen("test_data_set_"));
    if (inner == NULL || id == NULL) {
      return status_no_memory(strlen(path));
    }
    TRY(add_data_set(editor, like, inner, id, graph));
  }
  return status_ok();
}

/* model.onnx in the folder, or in the folder around it. */
static assay_status find_model(const char *path, struct arena *arena, const char **model) {
  char *inner = path_join(arena, path, "model.onnx"), *around = path_join(arena, path, "../model.onnx");
  if (inner == NULL || around == NULL) {
    return status_no_memory(strlen(path));
  }
  *model = file_exists(inner) ? inner : around;
  return file_exists(*model)
             ? status_ok()
             : status_make(ASSAY_FILE_MISSING, path,
                           "there is no model.onnx in or beside this folder; name the model with --model, "
                           "since the numbers of the files are positions among its inputs");
}

assay_status import_onnx(struct corpus_editor *editor, const struct corpus_case *like, const char *path,
                         const char *model) {
  struct arena arena = {0};
  struct model *opened = NULL;
  assay_status status = model != NULL ? status_ok() : find_model(path, &arena, &model);
  if (assay_status_ok(status)) {
    status = model_open(model, NULL, &opened);
  }
  if (assay_status_ok(status)) {
    status = add_all(editor, like, path, opened->graph, &arena);
  }
  model_close(opened);
  arena_free(&arena);
  return status;
}
