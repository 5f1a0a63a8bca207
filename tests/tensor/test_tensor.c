/* Tensors: sizes that cannot be, single elements of every type, copies, failing memory. */
#include "tensor/tensor.h"

#include <math.h>
#include <string.h>

#include "failing_memory.h"

static void sizes_that_cannot_be_are_refused(void **state) {
  (void)state;
  int64_t count;
  size_t bytes;
  const int64_t huge[] = {INT64_MAX, 2}, negative[] = {2, -1}, hidden[] = {INT64_MAX, 2, 0}, empty[] = {INT64_MAX, 0};
  assert_false(shape_count(huge, 2, &count));
  assert_false(shape_count(negative, 2, &count));
  assert_false(shape_count(hidden, 3, &count));
  assert_true(shape_count(empty, 2, &count));
  assert_int_equal(count, 0);
  assert_true(shape_count(NULL, 0, &count));
  assert_int_equal(count, 1);
  assert_false(dtype_bytes(ASSAY_FLOAT64, INT64_MAX / 2, &bytes));
  assert_false(dtype_bytes(ASSAY_UNDEFINED, 1, &bytes));
  assert_false(dtype_bytes(ASSAY_FLOAT32, -1, &bytes));
  assert_true(dtype_bytes(ASSAY_INT4, 5, &bytes));
  assert_int_equal(bytes, 3);
  assert_true(dtype_bytes(ASSAY_INT2, 5, &bytes));
  assert_int_equal(bytes, 2);
  assay_tensor tensor;
  ASSERT_FAILS(tensor_new(ASSAY_FLOAT32, huge, 2, &tensor), ASSAY_LIMIT_EXCEEDED, "float32");
  ASSERT_FAILS(tensor_new(ASSAY_FLOAT32, negative, 2, &tensor), ASSAY_LIMIT_EXCEEDED, "negative");
  ASSERT_FAILS(tensor_new(ASSAY_UNDEFINED, empty, 2, &tensor), ASSAY_LIMIT_EXCEEDED, "undefined");
  ASSERT_FAILS(tensor_new(ASSAY_FLOAT32, NULL, 17, &tensor), ASSAY_LIMIT_EXCEEDED, "16");
  assert_null(tensor.data);
}

static void names_and_numbers_go_both_ways(void **state) {
  (void)state;
  for (int i = 1; i < ASSAY_DTYPE_COUNT; i++) {
    assert_int_equal(assay_dtype_find(assay_dtype_name((assay_dtype)i)), i);
    assert_true(assay_dtype_bits((assay_dtype)i) > 0);
  }
  assert_int_equal(assay_dtype_find("undefined"), ASSAY_UNDEFINED);
  assert_int_equal(assay_dtype_find(""), ASSAY_UNDEFINED);
  assert_string_equal(assay_dtype_name((assay_dtype)99), "undefined");
  assert_int_equal(assay_dtype_bits((assay_dtype)-1), 0);
}

struct written {
  assay_dtype dtype;
  double value, expected;
};

static void elements_round_half_even_and_saturate(void **state) {
  (void)state;
  static const struct written rows[] = {
      {ASSAY_INT8, 2.5, 2},
      {ASSAY_INT8, 3.5, 4},
      {ASSAY_INT8, -2.5, -2},
      {ASSAY_INT8, 127.5, 127},
      {ASSAY_INT8, -128.5, -128},
      {ASSAY_INT8, 1e300, 127},
      {ASSAY_INT8, -1e300, -128},
      {ASSAY_INT8, NAN, 0},
      {ASSAY_INT8, INFINITY, 127},
      {ASSAY_INT8, -INFINITY, -128},
      {ASSAY_UINT8, -1, 0},
      {ASSAY_UINT8, 254.5, 254},
      {ASSAY_UINT8, 255.5, 255},
      {ASSAY_UINT8, NAN, 0},
      {ASSAY_INT16, 40000, 32767},
      {ASSAY_UINT16, 70000, 65535},
      {ASSAY_INT32, 3e9, 2147483647},
      {ASSAY_INT32, -3e9, -2147483648.0},
      {ASSAY_UINT32, 5e9, 4294967295.0},
      {ASSAY_INT64, 1e19, 9223372036854775807.0},
      {ASSAY_INT64, -1e19, -9223372036854775808.0},
      {ASSAY_UINT64, 1e20, 18446744073709551615.0},
      {ASSAY_UINT64, -5, 0},
      {ASSAY_INT4, 7.5, 7},
      {ASSAY_INT4, -8.5, -8},
      {ASSAY_INT4, -3, -3},
      {ASSAY_UINT4, 15.5, 15},
      {ASSAY_UINT4, 9, 9},
      {ASSAY_INT2, 5, 1},
      {ASSAY_INT2, -5, -2},
      {ASSAY_UINT2, 5, 3},
      {ASSAY_BOOL, 0.25, 1},
      {ASSAY_BOOL, 0, 0},
      {ASSAY_BOOL, NAN, 1},
      {ASSAY_FLOAT16, 1e6, INFINITY},
      {ASSAY_FLOAT16, 0.1, 0.0999755859375},
      {ASSAY_BFLOAT16, 257, 256},
      {ASSAY_FLOAT8E4M3FN, 1e6, 448},
      {ASSAY_FLOAT8E8M0, 3, 4},
      {ASSAY_FLOAT4E2M1, -100, -6},
      {ASSAY_FLOAT32, 0.1, 0.100000001490116119384765625},
      {ASSAY_FLOAT64, 0.1, 0.1},
  };
  const int64_t dims[] = {3};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    assay_tensor tensor;
    ASSERT_OK(tensor_new(rows[i].dtype, dims, 1, &tensor));
    tensor_set(&tensor, 1, rows[i].value);
    double actual = tensor_get(&tensor, 1);
    if (actual != rows[i].expected) {
      print_error("%s of %.17g: expected %.17g, got %.17g\n", assay_dtype_name(rows[i].dtype), rows[i].value,
                  rows[i].expected, actual);
    }
    assert_true(actual == rows[i].expected);
    if (rows[i].dtype != ASSAY_FLOAT8E8M0) { /* its smallest number is not 0 */
      assert_true(tensor_get(&tensor, 0) == 0 && tensor_get(&tensor, 2) == 0);
    }
    tensor_free(&tensor);
  }
}

static void packed_elements_lie_low_bits_first(void **state) {
  (void)state;
  const int64_t dims[] = {3};
  assay_tensor tensor;
  ASSERT_OK(tensor_new(ASSAY_INT4, dims, 1, &tensor));
  tensor_set(&tensor, 0, 1);
  tensor_set(&tensor, 1, -1);
  tensor_set(&tensor, 2, 5);
  assert_int_equal(((uint8_t *)tensor.data)[0], 0xF1);
  assert_int_equal(((uint8_t *)tensor.data)[1], 0x05);
  assert_int_equal(tensor_get_int(&tensor, 1), -1);
  tensor_free(&tensor);
}

static void integers_are_exact_where_doubles_are_not(void **state) {
  (void)state;
  const int64_t dims[] = {1};
  assay_tensor tensor;
  ASSERT_OK(tensor_new(ASSAY_INT64, dims, 1, &tensor));
  ((int64_t *)tensor.data)[0] = INT64_MAX - 1;
  assert_true(tensor_get_int(&tensor, 0) == INT64_MAX - 1);
  tensor_free(&tensor);
}

static void descriptions(void **state) {
  (void)state;
  struct text text = {0};
  const assay_tensor tensor = {.dtype = ASSAY_FLOAT32, .rank = 3, .dims = {1, 0, 96}};
  tensor_describe(&tensor, &text);
  assert_string_equal(text_string(&text), "float32[1,0,96]");
  text_clear(&text);
  shape_describe(NULL, 0, &text);
  assert_string_equal(text_string(&text), "[]");
  text_free(&text);
}

static assay_status copy_all(void *argument) {
  const assay_tensor *tensors = argument;
  for (int i = 0; i < 2; i++) {
    assay_tensor copy;
    TRY(tensor_copy(&tensors[i], &copy));
    bool same = shape_equal(&copy, &tensors[i]) && copy.dtype == tensors[i].dtype && copy.data != tensors[i].data;
    tensor_free(&copy);
    assert_true(same);
  }
  return status_ok();
}

static void copies_are_deep(void **state) {
  (void)state;
  float values[2] = {1, 2};
  char word[] = "words";
  assay_text strings[2] = {{word, 5}, {NULL, 0}};
  assay_tensor tensors[2] = {
      {.dtype = ASSAY_FLOAT32, .rank = 1, .dims = {2}, .data = values, .bytes = sizeof values},
      {.dtype = ASSAY_STRING, .rank = 1, .dims = {2}, .data = strings, .bytes = sizeof strings},
  };
  assay_tensor copy;
  ASSERT_OK(tensor_copy(&tensors[1], &copy));
  word[0] = 'W';
  const assay_text *copied = copy.data;
  assert_int_equal(copied[0].length, 5);
  assert_memory_equal(copied[0].data, "words", 5);
  assert_int_equal(copied[1].length, 0);
  tensor_free(&copy);
  tensor_free(&copy);
  fail_every_allocation(copy_all, tensors);
  struct arena arena = {0};
  const int64_t dims[] = {4};
  ASSERT_OK(tensor_new_in(&arena, ASSAY_FLOAT64, dims, 1, &copy));
  assert_int_equal(copy.bytes, 32);
  double out[4];
  ((double *)copy.data)[3] = 7;
  tensor_to_double(&copy, out);
  assert_true(out[0] == 0 && out[3] == 7);
  arena_free(&arena);
}

static void classes_of_types(void **state) {
  (void)state;
  assert_true(dtype_is_float(ASSAY_FLOAT4E2M1) && dtype_is_float(ASSAY_BFLOAT16) && !dtype_is_float(ASSAY_COMPLEX64));
  assert_true(dtype_is_integer(ASSAY_UINT2) && dtype_is_integer(ASSAY_INT64) && !dtype_is_integer(ASSAY_BOOL));
  assert_true(dtype_is_signed(ASSAY_INT4) && !dtype_is_signed(ASSAY_UINT4));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sizes_that_cannot_be_are_refused),
      cmocka_unit_test(names_and_numbers_go_both_ways),
      cmocka_unit_test(elements_round_half_even_and_saturate),
      cmocka_unit_test(packed_elements_lie_low_bits_first),
      cmocka_unit_test(integers_are_exact_where_doubles_are_not),
      cmocka_unit_test(descriptions),
      cmocka_unit_test(copies_are_deep),
      cmocka_unit_test(classes_of_types),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
