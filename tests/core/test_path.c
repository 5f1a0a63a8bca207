/* Paths: a name from a file's content never leads out of its folder. */
#include <unistd.h>

#include "scratch_folder.h"

static const char *folder;

static void joining_and_splitting(void **state) {
  (void)state;
  struct arena arena = {0};
  assert_string_equal(path_join(&arena, "a", "b"), "a/b");
  assert_string_equal(path_join(&arena, "a/", "b"), "a/b");
  assert_string_equal(path_join(&arena, "a", "/b"), "/b");
  assert_string_equal(path_join(&arena, "", "b"), "b");
  assert_string_equal(path_folder(&arena, "a/b/c"), "a/b");
  assert_string_equal(path_folder(&arena, "c"), ".");
  assert_string_equal(path_folder(&arena, "/c"), "/");
  assert_string_equal(path_name("a/b"), "b");
  assert_string_equal(path_name("b"), "b");
  assert_true(path_same(folder, in_folder(folder, ".")));
  assert_false(path_same(folder, in_folder(folder, "none")));
  arena_free(&arena);
}

static void refused(const char *name, const char *part) {
  struct arena arena = {0};
  char *out;
  ASSERT_FAILS(path_join_inside(&arena, folder, name, ASSAY_MODEL_INVALID, &out), ASSAY_MODEL_INVALID, part);
  assert_null(out);
  arena_free(&arena);
}

static void accepted(const char *name) {
  struct arena arena = {0};
  char *out;
  ASSERT_OK(path_join_inside(&arena, folder, name, ASSAY_MODEL_INVALID, &out));
  assert_string_equal(out, in_folder(folder, name));
  arena_free(&arena);
}

static void names_that_lead_out_are_refused(void **state) {
  (void)state;
  refused("", "empty");
  refused("/etc/passwd", "absolute");
  refused("..", "'..'");
  refused("../x", "'..'");
  refused("a/../../x", "'..'");
  refused("a/..", "'..'");
  refused("a//../x", "'..'");
  refused("a\nb", "control");
  refused("a\x7f", "control");
  refused("\x01", "control");
  char longest[6000];
  memset(longest, 'a', sizeof longest - 1);
  longest[sizeof longest - 1] = '\0';
  refused(longest, "too long");
}

static void plain_names_are_accepted(void **state) {
  (void)state;
  accepted("weights.bin");
  accepted("sub/weights.bin");
  accepted("not/there/yet");
  accepted("..a");
  accepted("a..b/c..");
  accepted("...");
  accepted("./x");
  accepted("\xc3\xa9t\xc3\xa9");
}

static void links_are_followed_only_inside(void **state) {
  (void)state;
  ASSERT_OK(folder_make(in_folder(folder, "real")));
  write_file(in_folder(folder, "real/file"), "x", 1);
  assert_int_equal(symlink("real", in_folder(folder, "in")), 0);
  assert_int_equal(symlink("/etc", in_folder(folder, "out")), 0);
  assert_int_equal(symlink("/etc/passwd", in_folder(folder, "secret")), 0);
  assert_int_equal(symlink("..", in_folder(folder, "up")), 0);
  assert_int_equal(symlink("nowhere", in_folder(folder, "dangling")), 0);
  assert_int_equal(symlink("circle", in_folder(folder, "circle")), 0);
  accepted("in/file");
  accepted("in/new");
  refused("out/passwd", "link");
  refused("out/none", "link");
  refused("out/none/deeper", "link");
  refused("secret", "link");
  refused("up", "link");
  refused("up/x", "link");
  refused("dangling", "link");
  refused("circle", "link");
  refused("real/file/below", "link");
}

static void a_sibling_of_a_like_name_is_outside(void **state) {
  (void)state;
  char sibling[1024];
  snprintf(sibling, sizeof sibling, "%s-sibling", folder);
  ASSERT_OK(folder_make(sibling));
  assert_int_equal(symlink(sibling, in_folder(folder, "near")), 0);
  refused("near", "link");
  ASSERT_OK(folder_remove(sibling));
}

static void encoding_and_back(void **state) {
  (void)state;
  struct arena arena = {0};
  static const char *const pairs[][2] = {
      {"obs", "obs"}, {"A-z_0.9", "A-z_0.9"}, {"a/b", "a%2Fb"}, {"..", "%2E%2E"},
      {".", "%2E"},   {"...", "..."},         {"50%", "50%25"}, {"\xc3\xa9", "%C3%A9"},
      {"", "%"},      {"a b", "a%20b"},       {"\n", "%0A"},    {"/m/x:0", "%2Fm%2Fx%3A0"},
  };
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    assert_string_equal(path_encode(&arena, pairs[i][0]), pairs[i][1]);
    assert_string_equal(path_decode(&arena, pairs[i][1]), pairs[i][0]);
  }
  static const char *const malformed[] = {"",    "%4",  "%zz", "a%", "%00",       "%2f", "%41",
                                          "a/b", "a b", ".",   "..", "%2E%2E%2E", "%%",  "\xc3"};
  for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
    if (path_decode(&arena, malformed[i]) != NULL) {
      print_error("'%s' was decoded\n", malformed[i]);
    }
    assert_null(path_decode(&arena, malformed[i]));
  }
  arena_free(&arena);
}

int main(void) {
  folder = scratch_folder("test_path");
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(joining_and_splitting),
      cmocka_unit_test(names_that_lead_out_are_refused),
      cmocka_unit_test(plain_names_are_accepted),
      cmocka_unit_test(links_are_followed_only_inside),
      cmocka_unit_test(a_sibling_of_a_like_name_is_outside),
      cmocka_unit_test(encoding_and_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
