/* ONNX test data sets: numbers are positions among the model's inputs and outputs, names must agree. */
#include <stdlib.h>
#include <string.h>

#include "corpus/import.h"
#include "corpus_builder.h"
#include "model_builder.h"
#include "support.h"

/* Fields of TensorProto. */
enum { DIMS = 1, DATA_TYPE = 2, NAME = 8, RAW_DATA = 9 };

static void put_tensor(const char *folder, const char *file, const char *name, float value) {
  struct proto *tensor = proto_new();
  proto_int(tensor, DIMS, 1);
  proto_int(tensor, DATA_TYPE, ASSAY_FLOAT32);
  if (name != NULL) {
    proto_string(tensor, NAME, name);
  }
  proto_bytes(tensor, RAW_DATA, &value, sizeof value);
  size_t size;
  uint8_t *bytes = proto_serialize(tensor, &size);
  temp_write_bytes(folder, file, bytes, size);
  free(bytes);
  proto_free(tensor);
}

/* y = a - b, with a weight that is listed among the inputs, as old models do. */
static void put_model(const char *folder, const char *file) {
  struct proto *model = onnx_model(4, 13);
  struct proto *graph = onnx_graph(model);
  onnx_input(graph, "a", ASSAY_FLOAT32, "1");
  onnx_input(graph, "w", ASSAY_FLOAT32, "1");
  onnx_input(graph, "b", ASSAY_FLOAT32, "1");
  onnx_f32(graph, "w", "1", (const float[]){2});
  onnx_node(graph, "Mul", "b,w", "bw");
  onnx_node(graph, "Sub", "a,bw", "y");
  onnx_output(graph, "y", ASSAY_FLOAT32, "1");
  temp_write(folder, file, ""); /* makes the folder */
  onnx_write(model, temp_path(folder, file));
  proto_free(model);
}

static struct corpus_editor *edit_new(const char *folder) {
  struct corpus_editor *editor;
  ASSERT_OK(corpus_new(temp_path(folder, "golden"), &(struct corpus_head){.role = CORPUS_GOLDEN}));
  ASSERT_OK(corpus_edit(temp_path(folder, "golden"), &editor));
  return editor;
}

static void data_sets_become_cases(void **state) {
  (void)state;
  char *folder = temp_folder();
  struct corpus_editor *editor = edit_new(folder);
  put_model(folder, "t/model.onnx");
  put_tensor(folder, "t/test_data_set_0/input_0.pb", "a", 1);
  put_tensor(folder, "t/test_data_set_0/input_1.pb", NULL, 10); /* the weight is left out */
  put_tensor(folder, "t/test_data_set_0/output_0.pb", "y", -19);
  put_tensor(folder, "t/test_data_set_1/input_0.pb", "a", 1);
  put_tensor(folder, "t/test_data_set_1/input_1.pb", "w", 3); /* the weight is fed */
  put_tensor(folder, "t/test_data_set_1/input_2.pb", "b", 10);
  put_tensor(folder, "t/test_data_set_1/output_0.pb", "y", -29);
  struct corpus_case like = {0};
  ASSERT_OK(import_onnx(editor, &like, temp_path(folder, "t"), NULL));
  like.id = "own";
  ASSERT_OK(import_onnx(editor, &like, temp_path(folder, "t/test_data_set_0"), NULL));
  ASSERT_OK(corpus_edit_commit(editor));
  struct corpus *corpus;
  struct case_data *data;
  ASSERT_OK(corpus_open(temp_path(folder, "golden"), &corpus));
  assert_int_equal(corpus->n_cases, 3);
  assert_string_equal(corpus->cases[1].id, "test_data_set_1");
  assert_string_equal(corpus->cases[2].id, "own");
  assert_string_equal(corpus->cases[2].origin.file, "test_data_set_0");
  ASSERT_OK(case_load(corpus, 0, &data));
  assert_int_equal(data->n_inputs, 2);
  assert_true(tensor_get(case_input(data, "b"), 0) == 10);
  assert_true(tensor_get(case_output(data, "y"), 0) == -19);
  case_data_free(data);
  ASSERT_OK(case_load(corpus, 1, &data));
  assert_int_equal(data->n_inputs, 3);
  assert_true(tensor_get(case_input(data, "w"), 0) == 3);
  case_data_free(data);
  corpus_close(corpus);
  temp_free(folder);
}

static void what_does_not_fit_the_model_is_refused(void **state) {
  (void)state;
  char *folder = temp_folder();
  struct corpus_editor *editor = edit_new(folder);
  const struct corpus_case like = {0};
  const char *model = temp_path(folder, "model.onnx");
  put_model(folder, "model.onnx");
  put_tensor(folder, "swapped/input_0.pb", "b", 1);
  put_tensor(folder, "swapped/input_1.pb", "a", 1);
  ASSERT_FAILS(import_onnx(editor, &like, temp_path(folder, "swapped"), model), ASSAY_IMPORT_INVALID, "is named 'b'");
  put_tensor(folder, "extra/input_0.pb", "a", 1);
  put_tensor(folder, "extra/input_1.pb", "b", 1);
  put_tensor(folder, "extra/output_1.pb", "y", 1);
  ASSERT_FAILS(import_onnx(editor, &like, temp_path(folder, "extra"), model), ASSAY_IMPORT_INVALID, "output 1");
  put_tensor(folder, "few/input_0.pb", "a", 1);
  ASSERT_FAILS(import_onnx(editor, &like, temp_path(folder, "few"), model), ASSAY_IMPORT_INVALID, "has 2 inputs");
  put_tensor(folder, "odd/input_a.pb", "a", 1);
  ASSERT_FAILS(import_onnx(editor, &like, temp_path(folder, "odd"), model), ASSAY_IMPORT_INVALID, "input_a.pb");
  put_tensor(folder, "lonely/sub/input_0.pb", "a", 1);
  ASSERT_FAILS(import_onnx(editor, &like, temp_path(folder, "lonely/sub"), NULL), ASSAY_FILE_MISSING, "--model");
  temp_write(folder, "broken/input_0.pb", "no protobuf");
  temp_write(folder, "broken/input_1.pb", "no protobuf");
  assay_status status = import_onnx(editor, &like, temp_path(folder, "broken"), model);
  assert_int_equal(assay_code_kind_of(status.code), ASSAY_KIND_INPUT);
  assay_status_clear(&status);
  corpus_edit_abandon(editor);
  temp_free(folder);
}

/* TypeProto: sequence_type 4, optional_type 9, map_type 5; ValueInfoProto: name 1, type 2; GraphProto.input 11. */
static void what_is_no_tensor_is_refused_by_name(void **state) {
  (void)state;
  static const struct {
    int field;
    const char *word;
  } kinds[] = {{4, "a sequence"}, {9, "an optional"}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    char *folder = temp_folder();
    struct corpus_editor *editor = edit_new(folder);
    struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
    struct proto *input = proto_child(graph, 11);
    proto_string(input, 1, "list");
    struct proto *element = proto_child(proto_child(proto_child(input, 2), kinds[i].field), 1);
    proto_int(proto_child(element, 1), 1, ASSAY_FLOAT32);
    onnx_input(graph, "x", ASSAY_FLOAT32, "1");
    onnx_node(graph, "Identity", "x", "y");
    onnx_output(graph, "y", ASSAY_FLOAT32, "1");
    onnx_write(model, temp_path(folder, "model.onnx"));
    put_tensor(folder, "set/input_0.pb", NULL, 1);
    put_tensor(folder, "set/input_1.pb", "x", 1);
    put_tensor(folder, "set/output_0.pb", "y", 1);
    ASSERT_FAILS(import_onnx(editor, &(struct corpus_case){0}, temp_path(folder, "set"), NULL), ASSAY_IMPORT_INVALID,
                 kinds[i].word);
    proto_free(model);
    corpus_edit_abandon(editor);
    temp_free(folder);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(data_sets_become_cases),
      cmocka_unit_test(what_does_not_fit_the_model_is_refused),
      cmocka_unit_test(what_is_no_tensor_is_refused_by_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
