/* SHA-256 against the examples of FIPS 180-4, whole and in pieces; dates. */
#include "core/hash.h"

#include "core/clock.h"
#include "failing_memory.h"
#include "scratch_folder.h"

static void hash_whole(const char *message, char out[HASH_TEXT_SIZE]) {
  struct hash hash;
  hash_begin(&hash);
  hash_add(&hash, message, strlen(message));
  hash_end(&hash, out);
}

static void the_standards_examples(void **state) {
  (void)state;
  char text[HASH_TEXT_SIZE];
  hash_whole("", text);
  assert_string_equal(text, "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  hash_whole("abc", text);
  assert_string_equal(text, "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void pieces_and_files_hash_alike(void **state) {
  (void)state;
  const char *path = in_folder(scratch_folder("test_hash"), "abc");
  char text[HASH_TEXT_SIZE], of_file[HASH_TEXT_SIZE];
  struct hash hash;
  hash_begin(&hash);
  hash_add(&hash, "a", 1);
  hash_add(&hash, NULL, 0);
  hash_add(&hash, "bc", 2);
  hash_end(&hash, text);
  write_file(path, "abc", 3);
  ASSERT_OK(hash_file(path, of_file));
  assert_string_equal(text, of_file);
  assert_string_equal(text, "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  write_file(path, "", 0);
  ASSERT_OK(hash_file(path, of_file));
  assert_string_equal(of_file, "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  ASSERT_FAILS(hash_file("/nowhere/at/all", of_file), ASSAY_FILE_MISSING, "does not exist");
}

static void dates_have_their_form(void **state) {
  (void)state;
  char date[CLOCK_DATE_SIZE];
  clock_date(date);
  int year, month, day, hour, minute, second, length = 0;
  assert_int_equal(sscanf(date, "%4d-%2d-%2dT%2d:%2d:%2dZ%n", &year, &month, &day, &hour, &minute, &second, &length),
                   6);
  assert_int_equal(length, CLOCK_DATE_SIZE - 1);
  int64_t before = clock_now_ns();
  assert_true(clock_now_ns() >= before);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_standards_examples),
                                     cmocka_unit_test(pieces_and_files_hash_alike),
                                     cmocka_unit_test(dates_have_their_form)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
