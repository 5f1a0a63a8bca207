/* Safetensors files: what is stored reads back, and the ways in which a header can lie. */
#include "tensor/safetensors.h"

#include <math.h>
#include <string.h>

#include "failing_memory.h"
#include "scratch_folder.h"

static char path[2048];

/* A file of this header and these values. */
static void write_with(const char *header, const void *values, size_t size) {
  unsigned char bytes[4096] = {0};
  size_t length = strlen(header);
  assert_true(length + size + 8 <= sizeof bytes);
  bytes[0] = (unsigned char)(length & 0xff);
  bytes[1] = (unsigned char)(length >> 8);
  memcpy(bytes + 8, header, length);
  if (size > 0) {
    memcpy(bytes + 8 + length, values, size);
  }
  write_file(path, bytes, 8 + length + size);
}

static assay_status open_and_close(void *argument) {
  (void)argument;
  struct safetensors *file;
  TRY(safetensors_open(path, &file));
  assay_status status = status_ok();
  for (size_t i = 0; i < safetensors_count(file) && assay_status_ok(status); i++) {
    assay_tensor tensor = {0};
    status = safetensors_read(file, i, &tensor);
    tensor_free(&tensor);
  }
  safetensors_close(file);
  return status;
}

static void refused(const char *header, size_t size, const char *part) {
  static const unsigned char zeros[64];
  write_with(header, zeros, size);
  ASSERT_FAILS(open_and_close(NULL), ASSAY_SAFETENSORS_INVALID, part);
}

static const char good[] =
    "{\"__metadata__\":{\"format\":\"pt\"},"
    "\"action.std\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
    "\"action.mean\":{\"dtype\":\"F64\",\"shape\":[1,2],\"data_offsets\":[8,24]},"
    "\"mask\":{\"dtype\":\"BOOL\",\"shape\":[2],\"data_offsets\":[24,26]},"
    "\"half\":{\"dtype\":\"F16\",\"shape\":[],\"data_offsets\":[26,28]},"
    "\"brain\":{\"dtype\":\"BF16\",\"shape\":[1],\"data_offsets\":[28,30]},"
    "\"count\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[30,38]},"
    "\"none\":{\"dtype\":\"U8\",\"shape\":[0,3],\"data_offsets\":[38,38]}}  ";

static void write_good(void) {
  unsigned char values[38];
  const float std[] = {0.5F, 4.0F};
  const double mean[] = {1.5, -2.0};
  const int64_t count = -7;
  memcpy(values, std, 8);
  memcpy(values + 8, mean, 16);
  memcpy(values + 24, "\x01\x00", 2);
  memcpy(values + 26, "\x00\x3e", 2); /* 1.5 in half precision */
  memcpy(values + 28, "\x80\xbf", 2); /* -1 in bfloat16 */
  memcpy(values + 30, &count, 8);
  write_with(good, values, sizeof values);
}

static double value_of(struct safetensors *file, const char *name, int64_t i) {
  assay_tensor tensor;
  size_t at = safetensors_find(file, name);
  assert_true(at < safetensors_count(file));
  ASSERT_OK(safetensors_read(file, at, &tensor));
  double value = tensor_get(&tensor, i);
  tensor_free(&tensor);
  return value;
}

static void what_is_stored_reads_back_by_name(void **state) {
  (void)state;
  write_good();
  struct safetensors *file;
  ASSERT_OK(safetensors_open(path, &file));
  assert_int_equal(safetensors_count(file), 7);
  assert_string_equal(safetensors_entry_at(file, 0)->name, "action.mean");
  assert_int_equal(safetensors_entry_at(file, 0)->rank, 2);
  assert_true(value_of(file, "action.mean", 0) == 1.5 && value_of(file, "action.mean", 1) == -2.0);
  assert_true(value_of(file, "action.std", 0) == 0.5 && value_of(file, "action.std", 1) == 4.0);
  assert_true(value_of(file, "mask", 0) == 1.0 && value_of(file, "mask", 1) == 0.0);
  assert_true(value_of(file, "half", 0) == 1.5);
  assert_true(value_of(file, "brain", 0) == -1.0);
  assert_true(value_of(file, "count", 0) == -7.0);
  assert_int_equal(safetensors_entry_at(file, safetensors_find(file, "none"))->bytes, 0);
  assert_int_equal(safetensors_find(file, "action"), 7);
  assert_string_equal(safetensors_metadata(file, "format"), "pt");
  assert_null(safetensors_metadata(file, "version"));
  safetensors_close(file);
}

static void a_file_without_tensors_is_one(void **state) {
  (void)state;
  write_with("{}", NULL, 0);
  struct safetensors *file;
  ASSERT_OK(safetensors_open(path, &file));
  assert_int_equal(safetensors_count(file), 0);
  assert_int_equal(safetensors_find(file, "a"), 0);
  assert_null(safetensors_metadata(file, "format"));
  safetensors_close(file);
}

static void what_is_no_safetensors_file_is_refused(void **state) {
  (void)state;
  write_file(path, "", 0);
  ASSERT_FAILS(open_and_close(NULL), ASSAY_SAFETENSORS_INVALID, "too few");
  write_file(path, "PK\3\4 a zip archive", 18);
  ASSERT_FAILS(open_and_close(NULL), ASSAY_SAFETENSORS_INVALID, "cut short, or no safetensors file");
  refused("[]", 0, "does not begin with '{'");
  refused("", 0, "does not begin with '{'");
  refused("{\"a\":", 0, "not well-formed JSON");
  ASSERT_FAILS(safetensors_open("nowhere/at/all", &(struct safetensors *){NULL}), ASSAY_FILE_MISSING, "");
}

static void a_header_that_lies_is_refused(void **state) {
  (void)state;
  refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 7, "cut short");
  refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 9, "belong to no tensor");
  refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,8]}}", 8, "not what its dtype and shape need");
  refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[9223372036854775807,9],\"data_offsets\":[0,8]}}", 8,
          "not what its dtype");
  refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[-2],\"data_offsets\":[0,8]}}", 8, "not a whole number");
  refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[2.0],\"data_offsets\":[0,8]}}", 8, "not a whole number");
  refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,0]}}", 8, "lies at bytes 8 to 0");
  refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[-8,0]}}", 8, "two whole numbers");
  refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0]}}", 8, "two whole numbers");
  refused("{\"a\":{\"dtype\":\"F33\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8, "has the dtype 'F33'");
  refused("{\"a\":{\"dtype\":4,\"shape\":[2],\"data_offsets\":[0,8]}}", 8, "has no 'dtype'");
  refused("{\"a\":{\"dtype\":\"F32\",\"shape\":2,\"data_offsets\":[0,8]}}", 8, "has no 'shape'");
  refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[2]}}", 8, "something else");
  refused("{\"a\":7}", 0, "something else");
  refused("{\"\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8, "name of a tensor is empty");
  refused("{\"__metadata__\":{\"format\":3}}", 0, "not a text");
  refused("{\"__metadata__\":[]}", 0, "not a mapping of texts");
}

static void tensors_that_share_bytes_or_leave_gaps_are_refused(void **state) {
  (void)state;
  refused(
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
      "\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[2,6]}}",
      6, "'b' shares bytes with another tensor");
  refused(
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
      "\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[6,10]}}",
      10, "'b' stands behind bytes that no tensor describes");
  refused(
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
      "\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[4,8]}}",
      8, "not well-formed JSON");
}

static void a_header_beyond_reason_is_refused(void **state) {
  (void)state;
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  const unsigned char length[8] = {0, 0, 0, 2}; /* 32 MiB */
  assert_int_equal(fwrite(length, 1, 8, file), 8);
  assert_int_equal(fseek(file, (32 << 20) + 16, SEEK_SET), 0);
  assert_int_equal(fputc(0, file), 0);
  assert_int_equal(fclose(file), 0);
  ASSERT_FAILS(open_and_close(NULL), ASSAY_LIMIT_EXCEEDED, "33554432 bytes");
}

static void no_cut_and_no_flipped_bit_does_harm(void **state) {
  (void)state;
  char *whole;
  size_t size;
  write_good();
  ASSERT_OK(file_read(path, 1 << 16, &whole, &size));
  for (size_t cut = 0; cut < size; cut += 7) {
    write_file(path, whole, cut);
    assay_status status = open_and_close(NULL);
    assert_false(assay_status_ok(status)); /* every byte is accounted for */
    assay_status_clear(&status);
  }
  for (size_t at = 0; at < size; at += 3) {
    whole[at] = (char)(whole[at] ^ 0x20);
    write_file(path, whole, size);
    assay_status status = open_and_close(NULL);
    assert_true(assay_status_ok(status) || assay_code_kind_of(status.code) == ASSAY_KIND_INPUT);
    assay_status_clear(&status);
    whole[at] = (char)(whole[at] ^ 0x20);
  }
  memory_free(whole);
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  write_good();
  fail_every_allocation(open_and_close, NULL);
}

int main(void) {
  snprintf(path, sizeof path, "%s", in_folder(scratch_folder("safetensors"), "file.safetensors"));
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_stored_reads_back_by_name),
      cmocka_unit_test(a_file_without_tensors_is_one),
      cmocka_unit_test(what_is_no_safetensors_file_is_refused),
      cmocka_unit_test(a_header_that_lies_is_refused),
      cmocka_unit_test(tensors_that_share_bytes_or_leave_gaps_are_refused),
      cmocka_unit_test(a_header_beyond_reason_is_refused),
      cmocka_unit_test(no_cut_and_no_flipped_bit_does_harm),
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
