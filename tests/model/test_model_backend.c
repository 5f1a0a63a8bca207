/* Models of others: ONNX's backend tests and deployed policies. Each must open, and what is inferred may not
 * contradict what it declares. Those that are refused are listed, with the reason. */
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "engine/fold.h"
#include "model/model.h"
#include "shared_files.h"
#include "support.h"

/* Models that are refused for a reason: part of the path, and the code. */
static const struct {
  const char *part;
  assay_code code;
} refused[] = {
    {"test_loop16_seq_none", ASSAY_TYPE_CONFLICT}, /* carries an optional in and a sequence on; assay runs neither */
    {NULL, ASSAY_OK},
};

static assay_code expected_code(const char *path) {
  for (size_t i = 0; refused[i].part != NULL; i++) {
    if (strstr(path, refused[i].part) != NULL) {
      return refused[i].code;
    }
  }
  return ASSAY_OK;
}

static assay_status open_and_infer(const char *path) {
  struct model *model, *flat = NULL;
  struct arena arena = {0};
  struct shapes shapes;
  TRY(model_open(path, NULL, &model));
  assay_status status = model_inline(model, &flat);
  if (assay_status_ok(status)) {
    const struct shapes_options options = {.lenient = true, .defaults = true};
    status = shapes_infer(flat->graph, fold_schemas(), &options, &arena, &shapes);
  }
  arena_free(&arena);
  model_close(flat);
  model_close(model);
  return status;
}

struct tally {
  int models, wrong;
};

static void try_model(const char *path, struct tally *tally) {
  assay_status status = open_and_infer(path);
  tally->models++;
  if (status.code != expected_code(path)) {
    print_error("%s: expected %s, got %s: %s\n", path, assay_code_name(expected_code(path)),
                assay_code_name(status.code), assay_status_sentence(status));
    tally->wrong++;
  }
  assay_status_clear(&status);
}

/* All models below a folder. */
static void try_folder(const char *folder, struct tally *tally) {
  struct arena arena = {0};
  char **names;
  size_t count;
  ASSERT_OK(folder_list(folder, &arena, &names, &count));
  for (size_t i = 0; i < count; i++) {
    const char *path = path_join(&arena, folder, names[i]);
    assert_non_null(path);
    if (file_is_folder(path)) {
      try_folder(path, tally);
    } else if (text_ends_with(path, ".onnx")) {
      try_model(path, tally);
    }
  }
  arena_free(&arena);
}

static void deployed_policies(void **state) {
  (void)state;
  const char *shared = shared_path("policies");
  if (shared == NULL) {
    skip();
  }
  char folder[4096];
  snprintf(folder, sizeof folder, "%s", shared);
  struct tally tally = {0};
  try_folder(folder, &tally);
  assert_int_equal(tally.wrong, 0);
  assert_int_equal(tally.models, 23);
}

static void backend_tests_of_today(void **state) {
  (void)state;
  const char *archive = shared_path("onnx/backend-1.23.2.tar.xz");
  if (archive == NULL) {
    skip();
  }
  char folder[] = "/tmp/assay-backend-XXXXXX", command[8192];
  assert_non_null(mkdtemp(folder));
  snprintf(command, sizeof command, "tar -xJf '%s' -C '%s'", archive, folder);
  int failed = system(command);
  struct tally tally = {0};
  if (failed == 0) {
    try_folder(folder, &tally);
  }
  ASSERT_OK(folder_remove(folder));
  assert_int_equal(failed, 0);
  assert_int_equal(tally.wrong, 0);
  assert_int_equal(tally.models, 2027);
}

static void backend_tests_of_debian(void **state) {
  (void)state;
  static const char folder[] = "/usr/share/libonnx-testdata/data";
  if (!file_exists(folder)) {
    printf("skipped: there is no %s\n", folder);
    skip();
  }
  struct tally tally = {0};
  try_folder(folder, &tally);
  assert_int_equal(tally.wrong, 0);
  assert_true(tally.models >= 1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(deployed_policies),
      cmocka_unit_test(backend_tests_of_today),
      cmocka_unit_test(backend_tests_of_debian),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
