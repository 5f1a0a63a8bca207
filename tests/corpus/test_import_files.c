/* NumPy files as cases: .npz as they are, .npy gathered, folders of both, and what must not be taken for one. */
#include <string.h>

#include "core/file.h"
#include "core/memory.h"
#include "corpus/import.h"
#include "corpus_builder.h"
#include "support.h"
#include "tensor/npy.h"

static void put_npy(const char *folder, const char *name, assay_dtype dtype, const char *shape, const void *values) {
  assay_tensor tensor = test_tensor(dtype, shape, values);
  temp_write(folder, name, ""); /* makes the folders on the way */
  ASSERT_OK(npy_write(temp_path(folder, name), &tensor));
  tensor_free(&tensor);
}

static void put_npz(const char *folder, const char *name, float value) {
  assay_tensor x = test_tensor(ASSAY_FLOAT32, "1", &value);
  const struct npz_entry entries[] = {{"inputs/x", &x}, {"outputs/y", &x}};
  temp_write(folder, name, "");
  ASSERT_OK(npz_write(temp_path(folder, name), entries, 2));
  tensor_free(&x);
}

static struct corpus_editor *edit_new(const char *folder) {
  struct corpus_editor *editor;
  ASSERT_OK(corpus_new(temp_path(folder, "golden"), &(struct corpus_head){.role = CORPUS_GOLDEN}));
  ASSERT_OK(corpus_edit(temp_path(folder, "golden"), &editor));
  return editor;
}

static struct corpus *finish(const char *folder, struct corpus_editor *editor) {
  struct corpus *corpus;
  ASSERT_OK(corpus_edit_commit(editor));
  ASSERT_OK(corpus_open(temp_path(folder, "golden"), &corpus));
  return corpus;
}

static void npy_files_make_a_case(void **state) {
  (void)state;
  char *folder = temp_folder();
  struct corpus_editor *editor = edit_new(folder);
  put_npy(folder, "a.npy", ASSAY_FLOAT32, "1,2", (const float[]){1, 2});
  put_npy(folder, "b.npy", ASSAY_UINT16, "1", (const uint16_t[]){0x3F80});
  const struct import_array arrays[] = {{"inputs/onnx::x=1", temp_path(folder, "a.npy")},
                                        {"outputs/y", temp_path(folder, "b.npy")}};
  const struct case_tag tag = {"light", "dark"};
  struct corpus_case like = {.id = "hand", .n_tags = 1, .tags = &tag};
  ASSERT_OK(corpus_edit_dtype(editor, "outputs/y", ASSAY_BFLOAT16));
  ASSERT_OK(import_npy(editor, &like, arrays, 2));
  like.id = "again";
  const struct import_array twice[] = {arrays[0], arrays[0]}, tap = {"taps/x", temp_path(folder, "a.npy")},
                            none = {"inputs/x", temp_path(folder, "none.npy")};
  ASSERT_FAILS(import_npy(editor, &like, twice, 2), ASSAY_USAGE, "twice");
  ASSERT_FAILS(import_npy(editor, &like, &tap, 1), ASSAY_USAGE, "'taps/x'");
  ASSERT_FAILS(import_npy(editor, &like, &none, 1), ASSAY_FILE_MISSING, "");
  like.id = NULL;
  ASSERT_FAILS(import_npy(editor, &like, arrays, 2), ASSAY_USAGE, "needs an id");
  struct corpus *corpus = finish(folder, editor);
  struct case_data *data;
  assert_int_equal(corpus->n_cases, 1);
  assert_string_equal(corpus->cases[0].tags[0].value, "dark");
  ASSERT_OK(case_load(corpus, 0, &data));
  assert_non_null(case_input(data, "onnx::x=1"));
  assert_int_equal(case_output(data, "y")->dtype, ASSAY_BFLOAT16);
  case_data_free(data);
  corpus_close(corpus);
  temp_free(folder);
}

static void npz_files_keep_their_bytes(void **state) {
  (void)state;
  char *folder = temp_folder();
  struct corpus_editor *editor = edit_new(folder);
  char digest[HASH_TEXT_SIZE];
  put_npz(folder, "ep.1.npz", 3);
  put_npz(folder, "golden/inside.npz", 4);
  ASSERT_OK(hash_file(temp_path(folder, "ep.1.npz"), digest));
  const struct corpus_case like = {0};
  ASSERT_OK(import_npz(editor, &like, temp_path(folder, "ep.1.npz")));
  ASSERT_OK(import_npz(editor, &like, temp_path(folder, "golden/inside.npz")));
  ASSERT_FAILS(import_npz(editor, &like, temp_path(folder, "ep.1.npz")), ASSAY_CORPUS_INVALID, "'ep.1' already");
  ASSERT_FAILS(import_npz(editor, &like, temp_path(folder, "none.npz")), ASSAY_FILE_MISSING, "");
  temp_write(folder, "text.npz", "text");
  ASSERT_FAILS(import_npz(editor, &like, temp_path(folder, "text.npz")), ASSAY_NPZ_INVALID, "");
  struct corpus *corpus = finish(folder, editor);
  assert_int_equal(corpus->n_cases, 2);
  assert_string_equal(corpus->cases[0].id, "ep.1");
  assert_string_equal(corpus->cases[0].digest, digest);
  assert_string_equal(corpus->cases[0].origin.digest, digest);
  assert_string_equal(corpus->cases[0].origin.file, "ep.1.npz");
  assert_string_equal(corpus->cases[1].file, "inside.npz");
  assert_null(corpus->cases[1].origin.file);
  corpus_close(corpus);
  temp_free(folder);
}

static void folders_make_cases(void **state) {
  (void)state;
  char *folder = temp_folder();
  struct corpus_editor *editor = edit_new(folder);
  put_npz(folder, "many/b.npz", 2);
  put_npz(folder, "many/a.npz", 1);
  put_npy(folder, "many/set/inputs/obs%2Fq.npy", ASSAY_FLOAT32, "1", (const float[]){1});
  put_npy(folder, "many/set/outputs/y.npy", ASSAY_FLOAT32, "1", (const float[]){1});
  put_npy(folder, "many/set/repeats/0/y.npy", ASSAY_FLOAT32, "1", (const float[]){2});
  struct corpus_case like = {0};
  ASSERT_OK(import_folder(editor, &like, temp_path(folder, "many")));
  like.id = "own";
  ASSERT_OK(import_folder(editor, &like, temp_path(folder, "many/set/")));
  struct corpus *corpus = finish(folder, editor);
  assert_int_equal(corpus->n_cases, 4);
  assert_string_equal(corpus->cases[0].id, "a");
  assert_string_equal(corpus->cases[1].id, "b");
  assert_string_equal(corpus->cases[2].id, "set");
  assert_string_equal(corpus->cases[3].id, "own");
  assert_string_equal(corpus->cases[3].origin.file, "set");
  struct case_data *data;
  ASSERT_OK(case_load(corpus, 2, &data));
  assert_non_null(case_input(data, "obs/q"));
  assert_int_equal(data->n_repeats, 1);
  case_data_free(data);
  corpus_close(corpus);
  temp_free(folder);
}

static void strange_folders_are_refused(void **state) {
  (void)state;
  char *folder = temp_folder();
  struct corpus_editor *editor = edit_new(folder);
  const struct corpus_case like = {0};
  ASSERT_OK(folder_make(temp_path(folder, "empty")));
  ASSERT_FAILS(import_folder(editor, &like, temp_path(folder, "empty")), ASSAY_CORPUS_INVALID, "empty");
  put_npz(folder, "mixed/a.npz", 1);
  temp_write(folder, "mixed/notes.txt", "x");
  ASSERT_FAILS(import_folder(editor, &like, temp_path(folder, "mixed")), ASSAY_CORPUS_INVALID, "neither");
  put_npy(folder, "beside/inputs/x.npy", ASSAY_FLOAT32, "1", (const float[]){1});
  temp_write(folder, "beside/readme", "x");
  ASSERT_FAILS(import_folder(editor, &like, temp_path(folder, "beside")), ASSAY_CORPUS_INVALID, "nothing else may lie");
  temp_write(folder, "odd/inputs/x.txt", "x");
  ASSERT_FAILS(import_folder(editor, &like, temp_path(folder, "odd")), ASSAY_CORPUS_INVALID, "no .npy");
  put_npy(folder, "percent/inputs/x%2.npy", ASSAY_FLOAT32, "1", (const float[]){1});
  ASSERT_FAILS(import_folder(editor, &like, temp_path(folder, "percent")), ASSAY_CORPUS_INVALID, "percent-encoded");
  put_npy(folder, "deep/inputs/inputs/x.npy", ASSAY_FLOAT32, "1", (const float[]){1});
  ASSERT_FAILS(import_folder(editor, &like, temp_path(folder, "deep")), ASSAY_CORPUS_INVALID, "no .npy");
  corpus_edit_abandon(editor);
  assert_false(file_exists(temp_path(folder, "golden/a.npz"))); /* the first of mixed/ was taken back */
  temp_free(folder);
}

static void a_source_is_known_by_what_it_holds(void **state) {
  (void)state;
  char *folder = temp_folder();
  enum import_kind kind;
  put_npz(folder, "many/b.npz", 2);
  temp_write(folder, "onnx/test_data_set_0/input_0.pb", "x");
  ASSERT_OK(import_kind_of("x.npz", &kind));
  assert_int_equal(kind, IMPORT_NPZ);
  ASSERT_OK(import_kind_of("x.hdf5", &kind));
  assert_int_equal(kind, IMPORT_HDF5);
  ASSERT_OK(import_kind_of(temp_path(folder, "many"), &kind));
  assert_int_equal(kind, IMPORT_FOLDER);
  ASSERT_OK(import_kind_of(temp_path(folder, "onnx"), &kind));
  assert_int_equal(kind, IMPORT_ONNX);
  ASSERT_OK(import_kind_of(temp_path(folder, "onnx/test_data_set_0"), &kind));
  assert_int_equal(kind, IMPORT_ONNX);
  ASSERT_FAILS(import_kind_of(temp_path(folder, "onnx/test_data_set_0/input_0.pb"), &kind), ASSAY_USAGE, "imported");
  ASSERT_FAILS(import_kind_of(temp_path(folder, "none"), &kind), ASSAY_FILE_MISSING, "imported");
  temp_free(folder);
}

static void every_failed_allocation_is_an_answer(void **state) {
  (void)state;
  char *folder = temp_folder();
  put_npz(folder, "many/b.npz", 2);
  put_npy(folder, "many/set/inputs/x.npy", ASSAY_FLOAT32, "1", (const float[]){1});
  put_npy(folder, "many/set/outputs/y.npy", ASSAY_FLOAT32, "1", (const float[]){1});
  ASSERT_OK(corpus_new(temp_path(folder, "golden"), &(struct corpus_head){.role = CORPUS_GOLDEN}));
  for (int64_t n = 0;; n++) {
    struct corpus_editor *editor = NULL;
    (void)memory_fail_at(n);
    assay_status status = corpus_edit(temp_path(folder, "golden"), &editor);
    if (assay_status_ok(status)) {
      status = import_folder(editor, &(struct corpus_case){.id = "p"}, temp_path(folder, "many"));
    }
    bool reached = memory_fail_at(-1) > n;
    corpus_edit_abandon(editor);
    assert_false(file_exists(temp_path(folder, "golden/p_b.npz")));
    if (!reached) {
      ASSERT_OK(status);
      break;
    }
    assert_true(status.code == ASSAY_OUT_OF_MEMORY || assay_status_ok(status));
    assay_status_clear(&status);
  }
  temp_free(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(npy_files_make_a_case),
      cmocka_unit_test(npz_files_keep_their_bytes),
      cmocka_unit_test(folders_make_cases),
      cmocka_unit_test(strange_folders_are_refused),
      cmocka_unit_test(a_source_is_known_by_what_it_holds),
      cmocka_unit_test(every_failed_allocation_is_an_answer),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
