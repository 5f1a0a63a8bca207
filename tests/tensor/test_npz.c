/* .npz archives: writing, reading back, and the ways in which an archive can lie. */
#include "tensor/npz.h"

#include <stdlib.h>
#include <string.h>
#include <zip.h>

#include "core/memory.h"
#include "failing_memory.h"
#include "scratch_folder.h"
#include "tensor/npy.h"

static char path[2048];

static void make(assay_tensor *tensor, float first) {
  const int64_t dims[] = {2, 3};
  ASSERT_OK(tensor_new(ASSAY_FLOAT32, dims, 2, tensor));
  for (int i = 0; i < 6; i++) {
    ((float *)tensor->data)[i] = first + (float)i;
  }
}

static void write_good_archive(void) {
  assay_tensor a, b;
  make(&a, 1);
  make(&b, -7);
  const struct npz_entry entries[] = {{"outputs//model/a:0", &a}, {"inputs/obs", &b}};
  ASSERT_OK(npz_write(path, entries, 2));
  tensor_free(&a);
  tensor_free(&b);
}

/* Opens and reads every entry. */
static assay_status read_all(void *argument) {
  (void)argument;
  struct npz *npz;
  TRY(npz_open(path, &npz));
  assay_status status = status_ok();
  for (size_t i = 0; i < npz_count(npz) && assay_status_ok(status); i++) {
    assay_tensor tensor;
    status = npz_read(npz, i, &tensor);
    tensor_free(&tensor);
  }
  npz_close(npz);
  return status;
}

static void what_is_written_reads_back_sorted(void **state) {
  (void)state;
  assay_tensor b, got;
  make(&b, -7);
  write_good_archive();
  struct npz *npz;
  ASSERT_OK(npz_open(path, &npz));
  assert_int_equal(npz_count(npz), 2);
  assert_string_equal(npz_name(npz, 0), "inputs/obs");
  assert_string_equal(npz_name(npz, 1), "outputs//model/a:0");
  assert_int_equal(npz_find(npz, "outputs//model/a:0"), 1);
  assert_int_equal(npz_find(npz, "inputs/obs"), 0);
  assert_int_equal(npz_find(npz, "outputs"), 2);
  assert_int_equal(npz_find(npz, ""), 2);
  ASSERT_OK(npz_read(npz, 0, &got));
  assert_true(shape_equal(&got, &b) && got.dtype == ASSAY_FLOAT32);
  assert_memory_equal(got.data, b.data, b.bytes);
  tensor_free(&got);
  tensor_free(&b);
  npz_close(npz);
}

static void the_same_arrays_give_the_same_bytes_in_any_zone(void **state) {
  (void)state;
  char *first, *second;
  size_t n1, n2;
  setenv("TZ", "UTC", 1);
  tzset();
  write_good_archive();
  ASSERT_OK(file_read(path, 1 << 20, &first, &n1));
  setenv("TZ", "Pacific/Auckland", 1);
  tzset();
  write_good_archive();
  unsetenv("TZ");
  ASSERT_OK(file_read(path, 1 << 20, &second, &n2));
  assert_int_equal(n1, n2);
  assert_memory_equal(first, second, n1);
  memory_free(first);
  memory_free(second);
}

static void an_empty_archive_is_one(void **state) {
  (void)state;
  struct npz *npz;
  ASSERT_OK(npz_write(path, NULL, 0));
  ASSERT_OK(npz_open(path, &npz));
  assert_int_equal(npz_count(npz), 0);
  assert_int_equal(npz_find(npz, "x"), 0);
  npz_close(npz);
}

/* --- archives made by libzip -------------------------------------------- */

static zip_t *zip_begin(void) {
  remove(path);
  zip_t *zip = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, NULL);
  assert_non_null(zip);
  return zip;
}

static void zip_put(zip_t *zip, const char *name, const void *bytes, size_t size, int method) {
  zip_source_t *source = zip_source_buffer(zip, bytes, size, 0);
  zip_int64_t index = zip_file_add(zip, name, source, ZIP_FL_ENC_UTF_8);
  assert_true(index >= 0);
  assert_int_equal(zip_set_file_compression(zip, (zip_uint64_t)index, method, 9), 0);
}

/* The bytes of a .npy file with `count` zeros. */
static struct text zeros(int64_t count) {
  struct text text = {0};
  assay_tensor tensor;
  ASSERT_OK(tensor_new(ASSAY_UINT8, &count, 1, &tensor));
  ASSERT_OK(npy_format(&tensor, &text));
  tensor_free(&tensor);
  return text;
}

static void compressed_archives_are_read(void **state) {
  (void)state;
  struct text array = zeros(100000);
  zip_t *zip = zip_begin();
  zip_put(zip, "inputs/\xc3\xa9.npy", array.data, array.length, ZIP_CM_DEFLATE);
  assert_int_equal(zip_close(zip), 0);
  ASSERT_OK(read_all(NULL));
  text_free(&array);
}

static void odd_names_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *name, *part;
  } rows[] = {
      {"x", "not a .npy"},        {"x.txt", "not a .npy"}, {"dir/", "not a .npy"}, {".npy", "empty"},
      {"/etc/x.npy", "absolute"}, {"a/../x.npy", "'..'"},  {"../x.npy", "'..'"},   {"a\nb.npy", "control"},
  };
  struct text array = zeros(3);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    zip_t *zip = zip_begin();
    zip_put(zip, rows[i].name, array.data, array.length, ZIP_CM_STORE);
    assert_int_equal(zip_close(zip), 0);
    ASSERT_FAILS(read_all(NULL), ASSAY_NPZ_INVALID, rows[i].part);
  }
  text_free(&array);
}

static void an_array_that_is_none_is_refused(void **state) {
  (void)state;
  zip_t *zip = zip_begin();
  zip_put(zip, "x.npy", "not an array", 12, ZIP_CM_STORE);
  assert_int_equal(zip_close(zip), 0);
  ASSERT_FAILS(read_all(NULL), ASSAY_NPY_INVALID, "does not begin");
}

/* --- archives that were changed ------------------------------------------ */

struct archive {
  char *bytes;
  size_t size;
};

static struct archive good_archive(void) {
  struct archive archive;
  write_good_archive();
  ASSERT_OK(file_read(path, 1 << 20, &archive.bytes, &archive.size));
  return archive;
}

/* Replaces `from` by `to`, of the same length, wherever it occurs. */
static int replace_all(struct archive *archive, const char *from, const char *to, size_t length) {
  int replaced = 0;
  for (size_t i = 0; i + length <= archive->size; i++) {
    if (memcmp(archive->bytes + i, from, length) == 0) {
      memcpy(archive->bytes + i, to, length);
      replaced++;
    }
  }
  return replaced;
}

static void two_entries_of_one_name_are_refused(void **state) {
  (void)state;
  assay_tensor a;
  make(&a, 1);
  const struct npz_entry entries[] = {{"inputs/a", &a}, {"inputs/b", &a}};
  ASSERT_OK(npz_write(path, entries, 2));
  tensor_free(&a);
  struct archive archive;
  ASSERT_OK(file_read(path, 1 << 20, &archive.bytes, &archive.size));
  assert_int_equal(replace_all(&archive, "inputs/b", "inputs/a", 8), 2);
  write_file(path, archive.bytes, archive.size);
  memory_free(archive.bytes);
  ASSERT_FAILS(read_all(NULL), ASSAY_NPZ_INVALID, "of one name");
}

/* A compressed entry that states 640 MiB in both of its headers. */
static void a_bomb_is_refused_before_it_costs_memory(void **state) {
  (void)state;
  struct text array = zeros(0x12345 - 128);
  assert_int_equal(array.length, 0x12345);
  zip_t *zip = zip_begin();
  zip_put(zip, "bomb.npy", array.data, array.length, ZIP_CM_DEFLATE);
  assert_int_equal(zip_close(zip), 0);
  text_free(&array);
  struct archive archive;
  ASSERT_OK(file_read(path, 1 << 20, &archive.bytes, &archive.size));
  assert_int_equal(replace_all(&archive, "\x45\x23\x01\x00", "\x00\x00\x00\x28", 4), 2);
  write_file(path, archive.bytes, archive.size);
  memory_free(archive.bytes);
  ASSERT_FAILS(read_all(NULL), ASSAY_NPZ_INVALID, "512 MiB");
}

static void an_encrypted_entry_is_refused(void **state) {
  (void)state;
  struct archive archive = good_archive();
  /* The version needed (20) and the flags (UTF-8 names), then the same with the encryption bit. */
  assert_int_equal(replace_all(&archive, "\x14\x00\x00\x08", "\x14\x00\x01\x08", 4), 4);
  write_file(path, archive.bytes, archive.size);
  memory_free(archive.bytes);
  ASSERT_FAILS(read_all(NULL), ASSAY_NPZ_INVALID, "encrypted");
}

static void another_method_is_refused(void **state) {
  (void)state;
  struct archive archive = good_archive();
  assert_int_equal(replace_all(&archive, "\x00\x08\x00\x00\x00\x00\x21\x00", "\x00\x08\x0e\x00\x00\x00\x21\x00", 8), 4);
  write_file(path, archive.bytes, archive.size);
  memory_free(archive.bytes);
  ASSERT_FAILS(read_all(NULL), ASSAY_NPZ_INVALID, "another method");
}

static void a_changed_value_does_not_match_its_checksum(void **state) {
  (void)state;
  struct archive archive = good_archive();
  assert_int_equal(replace_all(&archive, "\x00\x00\xc0\x40", "\x00\x00\xc1\x40", 4), 1); /* 6.0 */
  write_file(path, archive.bytes, archive.size);
  memory_free(archive.bytes);
  ASSERT_FAILS(read_all(NULL), ASSAY_NPZ_INVALID, "checksum");
}

static void no_cut_and_no_flipped_bit_does_harm(void **state) {
  (void)state;
  struct archive archive = good_archive();
  for (size_t size = 0; size < archive.size; size += 3) {
    write_file(path, archive.bytes, size);
    assay_status status = read_all(NULL);
    assert_int_equal(status.code, ASSAY_NPZ_INVALID);
    assay_status_clear(&status);
  }
  int refused = 0, flips = 0;
  for (size_t bit = 0; bit < 8 * archive.size; bit += 5) {
    archive.bytes[bit / 8] ^= (char)(1U << bit % 8);
    write_file(path, archive.bytes, archive.size);
    archive.bytes[bit / 8] ^= (char)(1U << bit % 8);
    assay_status status = read_all(NULL);
    flips++;
    if (!assay_status_ok(status)) {
      refused++;
      assert_int_equal(assay_code_kind_of(status.code), ASSAY_KIND_INPUT);
    }
    assay_status_clear(&status);
  }
  /* Dates, attributes and the like may change; everything of the arrays is caught. */
  print_message("%d of %d flipped bits refused\n", refused, flips);
  assert_true(refused > flips * 3 / 4);
  memory_free(archive.bytes);
}

static void too_many_entries_are_refused(void **state) {
  (void)state;
  size_t size = (size_t)4 * 65536 + 100;
  char *bytes = malloc(size);
  assert_non_null(bytes);
  for (size_t i = 0; i < size; i++) {
    bytes[i] = "PK\1\2"[i % 4];
  }
  write_file(path, bytes, size);
  free(bytes);
  ASSERT_FAILS(read_all(NULL), ASSAY_LIMIT_EXCEEDED, "65535 entries");
}

static void what_is_no_archive_is_refused(void **state) {
  (void)state;
  struct npz *npz;
  write_file(path, "", 0);
  ASSERT_FAILS(read_all(NULL), ASSAY_NPZ_INVALID, "zip");
  write_file(path, "PK\5\6", 4);
  ASSERT_FAILS(read_all(NULL), ASSAY_NPZ_INVALID, "zip");
  ASSERT_FAILS(npz_open("/nowhere.npz", &npz), ASSAY_FILE_MISSING, "does not exist");
  ASSERT_FAILS(npz_open("/dev/zero", &npz), ASSAY_FILE_UNREADABLE, "plain file");
  assert_null(npz);
  npz_close(NULL);
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  write_good_archive();
  fail_every_allocation(read_all, NULL);
}

static assay_status write_again(void *tensor) {
  const struct npz_entry entries[] = {{"a", tensor}, {"b", tensor}};
  return npz_write(path, entries, 2);
}

static void every_allocation_of_writing_may_fail(void **state) {
  (void)state;
  assay_tensor tensor;
  make(&tensor, 0);
  fail_every_allocation(write_again, &tensor);
  tensor_free(&tensor);
  ASSERT_OK(read_all(NULL));
}

int main(void) {
  snprintf(path, sizeof path, "%s/x.npz", scratch_folder("test_npz"));
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_written_reads_back_sorted),
      cmocka_unit_test(the_same_arrays_give_the_same_bytes_in_any_zone),
      cmocka_unit_test(an_empty_archive_is_one),
      cmocka_unit_test(compressed_archives_are_read),
      cmocka_unit_test(odd_names_are_refused),
      cmocka_unit_test(a_bomb_is_refused_before_it_costs_memory),
      cmocka_unit_test(an_array_that_is_none_is_refused),
      cmocka_unit_test(two_entries_of_one_name_are_refused),
      cmocka_unit_test(an_encrypted_entry_is_refused),
      cmocka_unit_test(another_method_is_refused),
      cmocka_unit_test(a_changed_value_does_not_match_its_checksum),
      cmocka_unit_test(no_cut_and_no_flipped_bit_does_harm),
      cmocka_unit_test(too_many_entries_are_refused),
      cmocka_unit_test(what_is_no_archive_is_refused),
      cmocka_unit_test(every_allocation_may_fail),
      cmocka_unit_test(every_allocation_of_writing_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
