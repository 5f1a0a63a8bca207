/* TensorProto files: what is right is read, what lies is refused by the model reader's own codes. */
#include <string.h>

#include "model/tensor_file.h"
#include "support.h"

/* dims [2], float32, raw data 1.0 and -2.0, name "x". */
static const unsigned char good[] = {0x08, 2, 0x10, 1, 0x42, 1, 'x', 0x4A, 8, 0, 0, 0x80, 0x3F, 0, 0, 0, 0xC0};

static void test_reads_values_and_name(void **state) {
  (void)state;
  struct arena arena = {0};
  assay_tensor tensor;
  const char *name;
  ASSERT_OK(tensor_proto_parse(good, sizeof good, "good", &arena, &tensor, &name));
  assert_string_equal(name, "x");
  assert_int_equal(tensor.dtype, ASSAY_FLOAT32);
  assert_int_equal(tensor.rank, 1);
  assert_int_equal(tensor.dims[0], 2);
  assert_true(((float *)tensor.data)[0] == 1.0f && ((float *)tensor.data)[1] == -2.0f);
  tensor_free(&tensor);
  arena_free(&arena);
}

static void test_a_tensor_needs_no_name(void **state) {
  (void)state;
  const unsigned char nameless[] = {0x10, 7, 0x3A, 1, 5}; /* int64 scalar 5 */
  struct arena arena = {0};
  assay_tensor tensor;
  ASSERT_OK(tensor_proto_parse(nameless, sizeof nameless, "nameless", &arena, &tensor, NULL));
  assert_int_equal(tensor.rank, 0);
  assert_int_equal(*(int64_t *)tensor.data, 5);
  tensor_free(&tensor);
  arena_free(&arena);
}

static void test_truncated_and_lying_files_are_refused(void **state) {
  (void)state;
  struct arena arena = {0};
  assay_tensor tensor;
  for (size_t size = 0; size < sizeof good; size++) {
    assay_status status = tensor_proto_parse(good, size, "cut", &arena, &tensor, NULL);
    assert_false(assay_status_ok(status));
    assay_status_clear(&status);
  }
  unsigned char longer[sizeof good];
  memcpy(longer, good, sizeof good);
  longer[1] = 3; /* dims [3] for two values */
  ASSERT_FAILS(tensor_proto_parse(longer, sizeof longer, "longer", &arena, &tensor, NULL), ASSAY_TENSOR_BYTES_SHORT,
               "longer");
  arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reads_values_and_name),
      cmocka_unit_test(test_a_tensor_needs_no_name),
      cmocka_unit_test(test_truncated_and_lying_files_are_refused),
  };
  return cmocka_run_group_tests_name("tensor_file", tests, NULL, NULL);
}
