/* Run folders: what a run wrote is what a recorded rung reads; a folder is there whole or not at all. */
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/memory.h"
#include "corpus/run_folder.h"
#include "corpus_builder.h"
#include "support.h"

static void write_run(const char *path, float first) {
  assay_tensor y = test_tensor(ASSAY_FLOAT32, "2", (const float[]){first, 2});
  assay_tensor b = test_tensor(ASSAY_BFLOAT16, "1", (const uint16_t[]){0x3F80});
  const struct npz_entry entries[] = {{"outputs/y", &y}, {"taps//relu:0", &b}};
  struct run_writer *writer;
  ASSERT_OK(run_writer_open(path, &writer));
  ASSERT_OK(run_writer_fact(writer, "precision", "fp32"));
  ASSERT_OK(run_writer_fact(writer, "engine", "assay: \"x\""));
  ASSERT_OK(run_writer_case(writer, "b/2", entries, 2));
  ASSERT_OK(run_writer_case(writer, "a", entries, 1));
  ASSERT_OK(run_writer_commit(writer));
  tensor_free(&y);
  tensor_free(&b);
}

static void what_is_written_reads_back(void **state) {
  (void)state;
  char *folder = temp_folder();
  const char *path = temp_path(folder, "run");
  write_run(path, 1);
  struct run_folder *run;
  struct case_data *data;
  ASSERT_OK(run_folder_open(path, &run));
  assert_int_equal(run->n_cases, 2);
  assert_string_equal(run->ids[0], "a");
  assert_string_equal(run->ids[1], "b/2");
  assert_string_equal(run->files[1], "b%2F2.npz");
  assert_int_equal(run->n_facts, 2);
  assert_string_equal(run->facts[0].key, "precision");
  assert_string_equal(run_folder_fact(run, "engine"), "assay: \"x\"");
  assert_null(run_folder_fact(run, "device"));
  assert_int_equal(run_folder_find(run, "b/2"), 1);
  assert_int_equal(run_folder_find(run, "c"), -1);
  ASSERT_OK(run_folder_load(run, 1, &data));
  assert_true(((const float *)case_output(data, "y")->data)[0] == 1);
  assert_int_equal(case_tap(data, "/relu:0")->dtype, ASSAY_BFLOAT16);
  assert_int_equal(data->n_inputs, 0);
  case_data_free(data);
  run_folder_close(run);
  temp_free(folder);
}

static void same_run_same_bytes_and_a_new_one_replaces_it(void **state) {
  (void)state;
  char *folder = temp_folder();
  char first[HASH_TEXT_SIZE], second[HASH_TEXT_SIZE];
  write_run(temp_path(folder, "run"), 1);
  write_run(temp_path(folder, "other"), 1);
  ASSERT_OK(hash_file(temp_path(folder, "run/run.yaml"), first));
  ASSERT_OK(hash_file(temp_path(folder, "other/run.yaml"), second));
  assert_string_equal(first, second); /* the digests of the cases stand in it */
  write_run(temp_path(folder, "run"), 3);
  ASSERT_OK(hash_file(temp_path(folder, "run/run.yaml"), second));
  assert_string_not_equal(first, second);
  /* What is no run folder is left alone. */
  struct run_writer *writer = NULL;
  temp_write(folder, "thesis/thesis.tex", "precious");
  assay_status status = run_writer_open(temp_path(folder, "thesis"), &writer);
  if (assay_status_ok(status)) {
    status = run_writer_commit(writer);
  }
  assert_false(assay_status_ok(status));
  assay_status_clear(&status);
  assert_true(file_exists(temp_path(folder, "thesis/thesis.tex")));
  temp_free(folder);
}

static void an_abandoned_run_leaves_nothing(void **state) {
  (void)state;
  char *folder = temp_folder();
  struct run_writer *writer;
  assay_tensor y = test_tensor(ASSAY_FLOAT32, "1", (const float[]){1});
  const struct npz_entry entry = {"outputs/y", &y}, input = {"inputs/x", &y};
  ASSERT_OK(run_writer_open(temp_path(folder, "run"), &writer));
  ASSERT_OK(run_writer_case(writer, "a", &entry, 1));
  ASSERT_FAILS(run_writer_case(writer, "a", &entry, 1), ASSAY_RUN_INVALID, "already");
  ASSERT_FAILS(run_writer_case(writer, "b", &input, 1), ASSAY_INTERNAL, "inputs/x");
  run_writer_abandon(writer);
  ASSERT_OK(run_writer_open(temp_path(folder, "run"), &writer));
  ASSERT_OK(run_writer_fact(writer, "model", "\xFF.onnx"));
  ASSERT_FAILS(run_writer_commit(writer), ASSAY_YAML_SYNTAX, "cannot be written");
  struct arena arena = {0};
  char **names;
  size_t count;
  ASSERT_OK(folder_list(folder, &arena, &names, &count));
  assert_int_equal(count, 0);
  arena_free(&arena);
  tensor_free(&y);
  temp_free(folder);
}

#define DIGEST "\"sha256:0000000000000000000000000000000000000000000000000000000000000000\""

static void what_is_wrong_is_refused(void **state) {
  (void)state;
  static const struct {
    const char *text, *part;
  } wrong[] = {
      {"assay: 1\n", "cases"},
      {"assay: 2\ncases: []\n", "1"},
      {"assay: 1\ncases: {}\n", "list"},
      {"assay: 1\nrun: [x]\ncases: []\n", "run"},
      {"assay: 1\nname: x\ncases: []\n", "name"},
      {"assay: 1\ncases: [{id: a, file: ../a.npz, digest: " DIGEST "}]\n", "../a.npz"},
      {"assay: 1\ncases: [{id: a, file: /a.npz, digest: " DIGEST "}]\n", "/a.npz"},
      {"assay: 1\ncases: [{id: a, file: a.npz}]\n", "digest"},
      {"assay: 1\ncases: [{id: a, file: a.npz, digest: " DIGEST ", expect: answer}]\n", "expect"},
      {"assay: 1\ncases: [{id: a, file: a.npz, digest: " DIGEST "}, {id: a, file: b.npz, digest: " DIGEST "}]\n",
       "twice"},
  };
  char *folder = temp_folder();
  struct run_folder *run;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    temp_write(folder, "run.yaml", wrong[i].text);
    ASSERT_FAILS(run_folder_open(folder, &run), ASSAY_RUN_INVALID, wrong[i].part);
    assert_null(run);
  }
  ASSERT_FAILS(run_folder_open(temp_path(folder, "none"), &run), ASSAY_FILE_MISSING, "run.yaml");
  struct case_data *data;
  temp_write(folder, "a.npz", "changed");
  temp_write(folder, "run.yaml", "assay: 1\ncases: [{id: a, file: a.npz, digest: " DIGEST "}]\n");
  ASSERT_OK(run_folder_open(folder, &run));
  ASSERT_FAILS(run_folder_load(run, 0, &data), ASSAY_RUN_INVALID, "vouches for");
  run_folder_close(run);
  temp_free(folder);
}

static void every_failed_allocation_is_an_answer(void **state) {
  (void)state;
  char *folder = temp_folder();
  assay_tensor y = test_tensor(ASSAY_FLOAT8E5M2, "1", (const uint8_t[]){1});
  const struct npz_entry entry = {"outputs/y", &y};
  for (int64_t n = 0;; n++) {
    struct run_writer *writer = NULL;
    struct run_folder *run = NULL;
    struct case_data *data = NULL;
    (void)memory_fail_at(n);
    assay_status status = run_writer_open(temp_path(folder, "run"), &writer);
    if (assay_status_ok(status)) {
      status = run_writer_fact(writer, "k", "v");
    }
    if (assay_status_ok(status)) {
      status = run_writer_case(writer, "a", &entry, 1);
    }
    if (assay_status_ok(status)) {
      status = run_writer_commit(writer);
      writer = NULL;
    }
    if (assay_status_ok(status)) {
      status = run_folder_open(temp_path(folder, "run"), &run);
    }
    if (assay_status_ok(status)) {
      status = run_folder_load(run, 0, &data);
    }
    bool reached = memory_fail_at(-1) > n;
    run_writer_abandon(writer);
    case_data_free(data);
    run_folder_close(run);
    if (!reached) {
      ASSERT_OK(status);
      break;
    }
    assay_status_clear(&status);
  }
  tensor_free(&y);
  temp_free(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_written_reads_back),
      cmocka_unit_test(same_run_same_bytes_and_a_new_one_replaces_it),
      cmocka_unit_test(an_abandoned_run_leaves_nothing),
      cmocka_unit_test(what_is_wrong_is_refused),
      cmocka_unit_test(every_failed_allocation_is_an_answer),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
