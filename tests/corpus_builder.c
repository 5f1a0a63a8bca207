/* See corpus_builder.h. */
#include "corpus_builder.h"

#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "support.h"

enum { ARRAYS_MAX = 32, PATHS_MAX = 256 };

struct corpus_builder {
  struct corpus_editor *editor;
  char *names[ARRAYS_MAX];
  assay_tensor tensors[ARRAYS_MAX];
  size_t count;
};

char *temp_folder(void) {
  char *folder = strdup(ASSAY_BINARY_DIR "/test-XXXXXX");
  assert_non_null(folder);
  assert_non_null(mkdtemp(folder));
  return folder;
}

void temp_free(char *folder) {
  ASSERT_OK(folder_remove(folder));
  free(folder);
}

const char *temp_path(const char *folder, const char *name) {
  static char paths[PATHS_MAX][512];
  static size_t next;
  char *path = paths[next++ % PATHS_MAX];
  snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

void temp_write_bytes(const char *folder, const char *name, const void *bytes, size_t size) {
  const char *path = temp_path(folder, name);
  struct arena arena = {0};
  ASSERT_OK(folder_make(path_folder(&arena, path)));
  ASSERT_OK(file_replace(path, bytes, size));
  arena_free(&arena);
}

void temp_write(const char *folder, const char *name, const char *text) {
  temp_write_bytes(folder, name, text, strlen(text));
}

struct corpus_builder *build_corpus(const char *folder, enum corpus_role role) {
  struct corpus_builder *builder = calloc(1, sizeof *builder);
  assert_non_null(builder);
  ASSERT_OK(corpus_new(folder, &(struct corpus_head){.role = role, .policy = "test"}));
  ASSERT_OK(corpus_edit(folder, &builder->editor));
  return builder;
}

assay_tensor test_tensor(assay_dtype dtype, const char *shape, const void *values) {
  int64_t dims[ASSAY_RANK_MAX];
  int rank = 0;
  for (const char *at = shape; *at != '\0'; at += *at == ',') {
    char *end;
    assert_true(rank < ASSAY_RANK_MAX);
    dims[rank++] = strtoll(at, &end, 10);
    at = end;
  }
  assay_tensor tensor;
  ASSERT_OK(tensor_new(dtype, dims, rank, &tensor));
  if (tensor.bytes > 0) {
    memcpy(tensor.data, values, tensor.bytes);
  }
  return tensor;
}

void build_array(struct corpus_builder *builder, const char *array, assay_dtype dtype, const char *shape,
                 const void *values) {
  assert_true(builder->count < ARRAYS_MAX);
  builder->names[builder->count] = strdup(array);
  builder->tensors[builder->count++] = test_tensor(dtype, shape, values);
}

void build_f32(struct corpus_builder *builder, const char *array, const char *shape, const float *values) {
  build_array(builder, array, ASSAY_FLOAT32, shape, values);
}
void build_f64(struct corpus_builder *builder, const char *array, const char *shape, const double *values) {
  build_array(builder, array, ASSAY_FLOAT64, shape, values);
}
void build_i64(struct corpus_builder *builder, const char *array, const char *shape, const int64_t *values) {
  build_array(builder, array, ASSAY_INT64, shape, values);
}
void build_u8(struct corpus_builder *builder, const char *array, const char *shape, const uint8_t *values) {
  build_array(builder, array, ASSAY_UINT8, shape, values);
}

void build_case(struct corpus_builder *builder, const struct corpus_case *entry) {
  struct npz_entry arrays[ARRAYS_MAX];
  for (size_t i = 0; i < builder->count; i++) {
    arrays[i] = (struct npz_entry){builder->names[i], &builder->tensors[i]};
  }
  struct corpus_case added = *entry;
  if (added.origin.file == NULL) {
    added.origin = (struct case_origin)CASE_ORIGIN_NONE;
  }
  ASSERT_OK(corpus_edit_add(builder->editor, &added, arrays, builder->count));
  for (size_t i = 0; i < builder->count; i++) {
    free(builder->names[i]);
    tensor_free(&builder->tensors[i]);
  }
  builder->count = 0;
}

void build_done(struct corpus_builder *builder) {
  assert_int_equal(builder->count, 0);
  ASSERT_OK(corpus_edit_commit(builder->editor));
  free(builder);
}
