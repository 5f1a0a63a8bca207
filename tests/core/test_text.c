/* Arenas, growing text and the helpers on strings. */
#include "core/text.h"

#include <string.h>

#include "core/arena.h"
#include "core/memory.h"
#include "failing_memory.h"

static void sizes_that_overflow_are_refused(void **state) {
  (void)state;
  struct arena arena = {0};
  assert_null(arena_alloc(&arena, SIZE_MAX, 2));
  assert_null(arena_alloc(&arena, SIZE_MAX, 1));
  assert_null(arena_alloc(&arena, SIZE_MAX - 8, 1));
  assert_null(memory_resize(NULL, SIZE_MAX, 2));
  assert_null(memory_alloc(SIZE_MAX / 2, 4));
  assert_null(memory_alloc_aligned(SIZE_MAX));
  size_t product;
  assert_false(size_mul(SIZE_MAX, 2, &product));
  assert_false(size_add(SIZE_MAX, 1, &product));
  arena_free(&arena);
}

static void an_arena_keeps_its_limit_and_alignment(void **state) {
  (void)state;
  struct arena arena = {.limit = 4096};
  unsigned char *first = arena_alloc(&arena, 3, 1);
  unsigned char *second = arena_alloc(&arena, 1, 1);
  assert_non_null(first);
  assert_int_equal((uintptr_t)first % 16, 0);
  assert_int_equal((uintptr_t)second % 16, 0);
  assert_true(first != second);
  assert_int_equal(first[0] | first[1] | first[2], 0);
  assert_null(arena_alloc(&arena, 4096, 1));
  assert_non_null(arena_alloc(&arena, 2000, 2));
  assert_null(arena_alloc(&arena, 64, 1));
  arena_free(&arena);
  assert_int_equal(arena.used, 0);
  assert_string_equal(arena_copy(&arena, "abc\0d", 2), "ab");
  assert_string_equal(arena_format(&arena, "%d-%s", 7, "x"), "7-x");
  arena_free(&arena);
}

static void text_grows_and_remembers_failure(void **state) {
  (void)state;
  struct text text = {0};
  assert_string_equal(text_string(&text), "");
  for (int i = 0; i < 1000; i++) {
    text_format(&text, "%d,", i % 10);
  }
  assert_int_equal(text.length, 2000);
  ASSERT_OK(text_status(&text));
  memory_fail_at(0);
  text_add_bytes(&text, text.data, 0);
  for (int i = 0; i < 100; i++) {
    text_add(&text, "0123456789012345678901234567890123456789");
  }
  memory_fail_at(-1);
  text_add(&text, "more");
  ASSERT_FAILS(text_status(&text), ASSAY_OUT_OF_MEMORY, "bytes");
  text_clear(&text);
  ASSERT_OK(text_status(&text));
  assert_string_equal(text_string(&text), "");
  text_free(&text);
}

static void utf8_is_checked_to_the_letter(void **state) {
  (void)state;
  static const char *const good[] = {"",
                                     "a",
                                     "\xc2\x80",
                                     "\xdf\xbf",
                                     "\xe0\xa0\x80",
                                     "\xed\x9f\xbf",
                                     "\xee\x80\x80",
                                     "\xf0\x90\x80\x80",
                                     "\xf4\x8f\xbf\xbf",
                                     "\xe2\x82\xac"};
  static const char *const bad[] = {"\x80",
                                    "\xc0\x80",
                                    "\xc1\xbf",
                                    "\xc2",
                                    "\xc2\x41",
                                    "\xe0\x9f\xbf",
                                    "\xed\xa0\x80",
                                    "\xe2\x82",
                                    "\xf0\x8f\xbf\xbf",
                                    "\xf4\x90\x80\x80",
                                    "\xf5\x80\x80\x80",
                                    "\xff"};
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    assert_true(text_is_utf8(good[i], strlen(good[i])));
  }
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    assert_false(text_is_utf8(bad[i], strlen(bad[i])));
  }
  assert_true(text_is_utf8("\0", 1));
}

static void the_nearest_word_is_found(void **state) {
  (void)state;
  static const char *const words[] = {"DRIFT_MAX", "DRIFT_MEAN", "NONFINITE"};
  assert_string_equal(text_nearest("DRIFT_MAXX", words, 3), "DRIFT_MAX");
  assert_string_equal(text_nearest("NONFINTE", words, 3), "NONFINITE");
  assert_null(text_nearest("banana", words, 3));
  assert_null(text_nearest("x", words, 0));
  assert_true(text_starts_with("abc", "ab") && !text_starts_with("a", "ab"));
  assert_true(text_ends_with("a.npy", ".npy") && !text_ends_with("npy", ".npy"));
}

static void what_a_terminal_may_not_get_is_escaped(void **state) {
  (void)state;
  static const char *const pairs[][2] = {
      {"wrist", "wrist"},
      {"", ""},
      {"a\nb\tc", "a\\nb\\tc"},
      {"\x1b[31mred\x7f", "\\x1b[31mred\\x7f"},
      {"\xc2\x9b"
       "31m",
       "\\u009b31m"},
      {"\xe2\x80\xae"
       "abc",
       "\\u202eabc"},
      {"\xe2\x80\xa8", "\\u2028"},
      {"h\xc3\xb6he \xe2\x82\xac \xf0\x9f\x98\x80", "h\xc3\xb6he \xe2\x82\xac \xf0\x9f\x98\x80"},
      {"\xff\xc3", "\\xff\\xc3"},
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
  };
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    struct text text = {0};
    text_add_shown(&text, pairs[i][0]);
    assert_string_equal(text_string(&text), pairs[i][1]);
    text_free(&text);
  }
  struct text text = {0};
  text_add_padded(&text, "\xc3\xb6\n", 5);
  assert_string_equal(text_string(&text), "\xc3\xb6\\n  ");
  text_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sizes_that_overflow_are_refused),  cmocka_unit_test(an_arena_keeps_its_limit_and_alignment),
      cmocka_unit_test(text_grows_and_remembers_failure), cmocka_unit_test(utf8_is_checked_to_the_letter),
      cmocka_unit_test(the_nearest_word_is_found),        cmocka_unit_test(what_a_terminal_may_not_get_is_escaped),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
