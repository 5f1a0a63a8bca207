/* .npy: what NumPy writes is read, what it never writes is refused, and neither a cut nor a
 * flipped bit does harm. */
#include "tensor/npy.h"

#include <stdlib.h>
#include <string.h>

#include "failing_memory.h"
#include "scratch_folder.h"

struct file {
  unsigned char bytes[4096];
  size_t size;
};

/* A file of format version `major`.0 with this dictionary and these data. */
static struct file make(int major, const char *dictionary, const void *data, size_t size) {
  struct file file = {0};
  size_t length = strlen(dictionary), prefix = major == 1 ? 10 : 12;
  memcpy(file.bytes, "\x93NUMPY", 6);
  file.bytes[6] = (unsigned char)major;
  file.bytes[8] = (unsigned char)(length & 255);
  file.bytes[9] = (unsigned char)(length >> 8);
  memcpy(file.bytes + prefix, dictionary, length);
  if (size > 0) {
    memcpy(file.bytes + prefix + length, data, size);
  }
  file.size = prefix + length + size;
  return file;
}

/* Parses from a block of exactly that size, so that ASan sees a byte too many. */
static assay_status parse(const struct file *file, assay_tensor *out) {
  unsigned char *exact = malloc(file->size == 0 ? 1 : file->size);
  assert_non_null(exact);
  memcpy(exact, file->bytes, file->size);
  assay_status status = npy_parse(exact, file->size, "x.npy", out);
  free(exact);
  return status;
}

static void numpys_types_are_read(void **state) {
  (void)state;
  static const struct {
    const char *descr;
    assay_dtype dtype;
    unsigned char data[16];
    size_t size;
    double value;
  } rows[] = {
      {"|b1", ASSAY_BOOL, {1}, 1, 1},
      {"|i1", ASSAY_INT8, {0xFE}, 1, -2},
      {"|u1", ASSAY_UINT8, {0xFE}, 1, 254},
      {"<i2", ASSAY_INT16, {0xFE, 0xFF}, 2, -2},
      {">i2", ASSAY_INT16, {0xFF, 0xFE}, 2, -2},
      {"<u4", ASSAY_UINT32, {1, 0, 0, 0x80}, 4, 2147483649.0},
      {">u4", ASSAY_UINT32, {0x80, 0, 0, 1}, 4, 2147483649.0},
      {"<i8", ASSAY_INT64, {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}, 8, -1},
      {">u8", ASSAY_UINT64, {0, 0, 0, 0, 0, 0, 1, 2}, 8, 258},
      {"<f2", ASSAY_FLOAT16, {0, 0x3C}, 2, 1},
      {"<f4", ASSAY_FLOAT32, {0, 0, 0x80, 0x3F}, 4, 1},
      {">f4", ASSAY_FLOAT32, {0x3F, 0x80, 0, 0}, 4, 1},
      {"=f8", ASSAY_FLOAT64, {0, 0, 0, 0, 0, 0, 0xF0, 0xBF}, 8, -1},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    for (int major = 1; major <= 3; major++) {
      char dictionary[128];
      snprintf(dictionary, sizeof dictionary, "{'descr': '%s', 'fortran_order': False, 'shape': (1,), }    \n",
               rows[i].descr);
      struct file file = make(major, dictionary, rows[i].data, rows[i].size);
      assay_tensor tensor;
      ASSERT_OK(parse(&file, &tensor));
      assert_int_equal(tensor.dtype, rows[i].dtype);
      assert_int_equal(tensor.rank, 1);
      assert_true(tensor_get(&tensor, 0) == rows[i].value);
      tensor_free(&tensor);
    }
  }
}

static void fortran_order_becomes_c_order(void **state) {
  (void)state;
  /* [[[0,1],[2,3],[4,5]]] with its first index fastest. */
  static const unsigned char data[] = {0, 2, 4, 1, 3, 5}, expected[] = {0, 1, 2, 3, 4, 5};
  struct file file = make(1, "{'descr': '|u1', 'fortran_order': True, 'shape': (1, 3, 2), }\n", data, 6);
  assay_tensor tensor;
  ASSERT_OK(parse(&file, &tensor));
  assert_memory_equal(tensor.data, expected, 6);
  tensor_free(&tensor);
}

static void complex_halves_are_swapped_alone(void **state) {
  (void)state;
  static const unsigned char data[] = {0x3F, 0x80, 0, 0, 0x40, 0, 0, 0};
  struct file file = make(1, "{'descr': '>c8', 'fortran_order': False, 'shape': (), }\n", data, 8);
  assay_tensor tensor;
  ASSERT_OK(parse(&file, &tensor));
  assert_int_equal(tensor.rank, 0);
  assert_true(((float *)tensor.data)[0] == 1 && ((float *)tensor.data)[1] == 2);
  tensor_free(&tensor);
}

static void strings_lose_their_filling(void **state) {
  (void)state;
  static const unsigned char bytes[] = {'a', 0, 0, 'b', 0, 'c'};
  struct file file = make(1, "{'descr': '|S3', 'fortran_order': False, 'shape': (2,), }\n", bytes, 6);
  assay_tensor tensor;
  ASSERT_OK(parse(&file, &tensor));
  const assay_text *text = tensor.data;
  assert_int_equal(tensor.dtype, ASSAY_STRING);
  assert_int_equal(text[0].length, 1);
  assert_int_equal(text[1].length, 3);
  assert_memory_equal(text[1].data, "b\0c", 3);
  tensor_free(&tensor);

  static const unsigned char wide[] = {0, 0, 0, 0xE9, 0, 1, 0xF6, 0x10}; /* é and U+1F610, big-endian */
  file = make(1, "{'descr': '>U2', 'fortran_order': False, 'shape': (1,), }\n", wide, 8);
  ASSERT_OK(parse(&file, &tensor));
  text = tensor.data;
  assert_int_equal(text[0].length, 6);
  assert_memory_equal(text[0].data, "\xc3\xa9\xf0\x9f\x98\x90", 6);
  tensor_free(&tensor);

  static const unsigned char surrogate[] = {0, 0xD8, 0, 0};
  file = make(1, "{'descr': '<U1', 'fortran_order': False, 'shape': (1,), }\n", surrogate, 4);
  ASSERT_FAILS(parse(&file, &tensor), ASSAY_NPY_INVALID, "not Unicode");
  assert_null(tensor.data);
}

static void what_numpy_never_writes_is_refused(void **state) {
  (void)state;
  static const struct {
    const char *dictionary, *part;
    size_t size;
  } rows[] = {
      {"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n", "pickled", 8},
      {"{'descr': '<f16', 'fortran_order': False, 'shape': (1,), }\n", "none of", 16},
      {"{'descr': '|V2', 'fortran_order': False, 'shape': (1,), }\n", "none of", 2},
      {"{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (1,), }\n", "none of", 8},
      {"{'descr': '|S0', 'fortran_order': False, 'shape': (1000000000,), }\n", "none of", 0},
      {"{'descr': '|S99999999999999999999', 'fortran_order': False, 'shape': (1,), }\n", "none of", 1},
      {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }\n", "structured", 4},
      {"{'descr': 'f4', 'fortran_order': False, 'shape': (1,), }\n", "byte order", 4},
      {"{'descr': '|f4', 'fortran_order': False, 'shape': (1,), }\n", "byte order", 4},
      {"{'descr': '', 'fortran_order': False, 'shape': (1,), }\n", "byte order", 4},
      {"{'descr': '<f4', 'fortran_order': 0, 'shape': (1,), }\n", "fortran_order", 4},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1), }\n", "tuple", 4},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': [1], }\n", "tuple", 4},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }\n", "tuple", 4},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (01,), }\n", "tuple", 4},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1L,), }\n", "tuple", 4},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1 1), }\n", "tuple", 4},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }\n", "tuple", 4},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)*9, }\n", "dictionary", 4},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }\n", "too large", 4},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4, 0), }\n", "too large", 0},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (2305843009213693952,), }\n", "too large", 4},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", "needs 8 bytes", 4},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n", "needs 4 bytes", 5},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (), }\n", "needs 4 bytes", 0},
      {"{'descr': '<f4', 'fortran_order': False}\n", "lacks", 4},
      {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n", "twice", 4},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1, }\n", "does not write", 4},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), } x\n", "dictionary", 4},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", "dictionary", 4},
      {"{'descr': '<f4' 'fortran_order': False, 'shape': (1,), }\n", "dictionary", 4},
      {"{'de\\x73cr': '<f4', 'fortran_order': False, 'shape': (1,), }\n", "dictionary", 4},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1), }\n", "16", 4},
      {"\n", "dictionary", 4},
      {"", "dictionary", 4},
  };
  static const unsigned char zeros[64];
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct file file = make(1, rows[i].dictionary, zeros, rows[i].size);
    assay_tensor tensor;
    ASSERT_FAILS(parse(&file, &tensor), ASSAY_NPY_INVALID, rows[i].part);
    assert_null(tensor.data);
  }
}

static void wrong_bools_and_versions_are_refused(void **state) {
  (void)state;
  assay_tensor tensor;
  struct file file = make(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (1,), }\n", "\x02", 1);
  ASSERT_FAILS(parse(&file, &tensor), ASSAY_NPY_INVALID, "bools");
  assert_null(tensor.data);
  file = make(4, "{'descr': '|b1', 'fortran_order': False, 'shape': (1,), }\n", "\x01", 1);
  ASSERT_FAILS(parse(&file, &tensor), ASSAY_NPY_INVALID, "version");
  file = make(2, "{'descr': '|b1', 'fortran_order': False, 'shape': (1,), }\n", "\x01", 1);
  file.bytes[11] = 0x7F; /* a header of 2 GB */
  ASSERT_FAILS(parse(&file, &tensor), ASSAY_NPY_INVALID, "65536");
}

static struct file a_good_file(void) {
  static const float values[] = {1, 2, 3, 4, 5, 6};
  return make(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }          \n", values, sizeof values);
}

static void every_cut_is_refused(void **state) {
  (void)state;
  struct file file = a_good_file();
  size_t whole = file.size;
  assay_tensor tensor;
  for (file.size = 0; file.size < whole; file.size++) {
    ASSERT_FAILS(parse(&file, &tensor), ASSAY_NPY_INVALID, "");
    assert_null(tensor.data);
  }
  ASSERT_OK(parse(&file, &tensor));
  tensor_free(&tensor);
}

/* A flipped bit of the header is refused, or yields a tensor of the size that is there. */
static void no_flipped_bit_does_harm(void **state) {
  (void)state;
  for (size_t bit = 0; bit < 8 * a_good_file().size; bit++) {
    struct file file = a_good_file();
    file.bytes[bit / 8] ^= (unsigned char)(1U << bit % 8);
    assay_tensor tensor;
    assay_status status = parse(&file, &tensor);
    if (assay_status_ok(status)) {
      assert_true(tensor.bytes == 24);
      tensor_free(&tensor);
    } else {
      assert_int_equal(status.code, ASSAY_NPY_INVALID);
      assert_null(tensor.data);
      assay_status_clear(&status);
    }
  }
}

static void assert_round_trip(const assay_tensor *tensor) {
  struct text first = {0}, second = {0};
  assay_tensor back;
  ASSERT_OK(npy_format(tensor, &first));
  assert_int_equal(((unsigned char)first.data[8] + 256 * (unsigned char)first.data[9] + 10) % 64, 0);
  ASSERT_OK(npy_parse(first.data, first.length, "back", &back));
  assert_true(shape_equal(tensor, &back));
  ASSERT_OK(npy_format(&back, &second));
  assert_int_equal(first.length, second.length);
  assert_memory_equal(first.data, second.data, first.length);
  tensor_free(&back);
  text_free(&first);
  text_free(&second);
}

static void every_type_is_written_and_comes_back(void **state) {
  (void)state;
  for (int dtype = 1; dtype < ASSAY_DTYPE_COUNT; dtype++) {
    if (dtype == ASSAY_STRING) {
      continue;
    }
    for (int rank = 0; rank <= 3; rank++) {
      const int64_t dims[] = {3, rank == 3 ? 0 : 1, 5};
      assay_tensor tensor;
      ASSERT_OK(tensor_new((assay_dtype)dtype, dims, rank, &tensor));
      for (int64_t i = 0; i < tensor_count(&tensor); i++) {
        tensor_set(&tensor, i, (double)(i % 3));
      }
      assert_round_trip(&tensor);
      tensor_free(&tensor);
    }
  }
}

static void strings_come_back(void **state) {
  (void)state;
  static const assay_text unicode[] = {{"caf\xc3\xa9", 5}, {"", 0}, {"\xf0\x9f\x98\x90", 4}};
  static const assay_text raw[] = {{"\xff\xfe", 2}, {"a\0b", 3}, {"", 0}};
  static const assay_text ends_with_zero[] = {{"a", 1}, {"b\0", 2}, {"", 0}};
  assay_tensor tensor = {
      .dtype = ASSAY_STRING, .rank = 1, .dims = {3}, .data = (void *)(uintptr_t)unicode, .bytes = sizeof unicode};
  assert_round_trip(&tensor);
  tensor.data = (void *)(uintptr_t)raw;
  assert_round_trip(&tensor);
  tensor.data = (void *)(uintptr_t)ends_with_zero;
  struct text text = {0};
  ASSERT_FAILS(npy_format(&tensor, &text), ASSAY_NPY_INVALID, "zero byte");
  text_free(&text);
}

static void packed_types_are_written_one_a_byte(void **state) {
  (void)state;
  const int64_t dims[] = {3};
  assay_tensor tensor, back;
  struct text text = {0};
  ASSERT_OK(tensor_new(ASSAY_INT4, dims, 1, &tensor));
  tensor_set(&tensor, 0, -1);
  tensor_set(&tensor, 2, 7);
  ASSERT_OK(npy_format(&tensor, &text));
  ASSERT_OK(npy_parse(text.data, text.length, "", &back));
  assert_int_equal(back.dtype, ASSAY_UINT8);
  assert_memory_equal(back.data, "\x0F\x00\x07", 3);
  tensor_free(&back);
  tensor_free(&tensor);
  text_free(&text);
}

static assay_status read_and_write(void *path) {
  assay_tensor tensor;
  TRY(npy_read(path, &tensor));
  assay_status status = npy_write(path, &tensor);
  tensor_free(&tensor);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  char path[1024];
  snprintf(path, sizeof path, "%s", in_folder(scratch_folder("test_npy"), "x.npy"));
  struct file file = a_good_file();
  write_file(path, file.bytes, file.size);
  fail_every_allocation(read_and_write, path);
  file = make(1, "{'descr': '<U1', 'fortran_order': False, 'shape': (2,), }\n", "a\0\0\0b\0\0\0", 8);
  write_file(path, file.bytes, file.size);
  fail_every_allocation(read_and_write, path);
  assay_tensor tensor;
  ASSERT_FAILS(npy_read("/nowhere.npy", &tensor), ASSAY_FILE_MISSING, "does not exist");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numpys_types_are_read),
      cmocka_unit_test(fortran_order_becomes_c_order),
      cmocka_unit_test(complex_halves_are_swapped_alone),
      cmocka_unit_test(strings_lose_their_filling),
      cmocka_unit_test(what_numpy_never_writes_is_refused),
      cmocka_unit_test(wrong_bools_and_versions_are_refused),
      cmocka_unit_test(every_cut_is_refused),
      cmocka_unit_test(no_flipped_bit_does_harm),
      cmocka_unit_test(every_type_is_written_and_comes_back),
      cmocka_unit_test(strings_come_back),
      cmocka_unit_test(packed_types_are_written_one_a_byte),
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
