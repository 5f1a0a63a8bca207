/* .npz archives: writing, reading back, and every way in which an archive can lie. */
#include <string.h>

#include "core/file.h"
#include "core/memory.h"
#include "support.h"
#include "tensor/npz.h"

static const char *const path = ASSAY_BINARY_DIR "/test_npz.npz";

static void make(assay_tensor *tensor, float first) {
  const int64_t dims[] = {2, 3};
  ASSERT_OK(tensor_new(ASSAY_FLOAT32, dims, 2, tensor));
  for (int i = 0; i < 6; i++) {
    ((float *)tensor->data)[i] = first + (float)i;
  }
}

static void what_is_written_reads_back_sorted(void **state) {
  (void)state;
  assay_tensor a, b, got;
  make(&a, 1);
  make(&b, -7);
  const struct npz_entry entries[] = {{"outputs//model/a:0", &a}, {"inputs/obs", &b}};
  ASSERT_OK(npz_write(path, entries, 2));
  struct npz *npz;
  ASSERT_OK(npz_open(path, &npz));
  assert_int_equal(npz_count(npz), 2);
  assert_string_equal(npz_name(npz, 0), "inputs/obs");
  assert_int_equal(npz_find(npz, "outputs//model/a:0"), 1);
  assert_int_equal(npz_find(npz, "outputs"), 2);
  ASSERT_OK(npz_read(npz, 0, &got));
  assert_memory_equal(got.data, b.data, b.bytes);
  tensor_free(&got);
  npz_close(npz);
  tensor_free(&a);
  tensor_free(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_written_reads_back_sorted)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
