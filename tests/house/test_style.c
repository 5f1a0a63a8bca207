/* The style of the house, as far as a program can see it: names, openings, lengths, and no note
 * of work left undone. */
#include <stdlib.h>

#include "source_tree.h"

static struct source_tree tree;

static int by_name(const void *a, const void *b) {
  return strcmp(((const struct source *)a)->name, ((const struct source *)b)->name);
}

/* Public headers are left out: "assay/tensor.h" is the public side of "tensor/tensor.h". */
static void file_names_are_unique(void **state) {
  (void)state;
  struct source *sorted = memory_alloc(tree.count, sizeof *sorted);
  assert_non_null(sorted);
  size_t count = 0;
  for (size_t i = 0; i < tree.count; i++) {
    if (!text_starts_with(tree.files[i].path, "include/")) {
      sorted[count++] = tree.files[i];
    }
  }
  qsort(sorted, count, sizeof *sorted, by_name);
  int wrong = 0;
  for (size_t i = 1; i < count; i++) {
    if (strcmp(sorted[i - 1].name, sorted[i].name) == 0) {
      print_error("%s and %s have one name\n", sorted[i - 1].path, sorted[i].path);
      wrong++;
    }
  }
  memory_free(sorted);
  assert_int_equal(wrong, 0);
}

/* A comment of at least a sentence before anything else. */
static bool opens_with_a_comment(const char *text) {
  const char *end = text_starts_with(text, "/*") ? strstr(text, "*/") : NULL;
  return end != NULL && end - text >= 10 && memchr(text, '.', (size_t)(end - text)) != NULL;
}

static void every_file_opens_by_saying_what_it_is_for(void **state) {
  (void)state;
  int wrong = 0;
  for (size_t i = 0; i < tree.count; i++) {
    if (!opens_with_a_comment(tree.files[i].text)) {
      print_error("%s does not open by saying what it is for\n", tree.files[i].path);
      wrong++;
    }
  }
  assert_int_equal(wrong, 0);
  assert_false(opens_with_a_comment("#include \"x.h\" /* A comment that comes too late to say it. */"));
  assert_false(opens_with_a_comment("/* x */"));
}

static int count_lines(const char *text) {
  int lines = 0;
  for (; *text != '\0'; text++) {
    lines += *text == '\n';
  }
  return lines;
}

static void long_files_have_a_reason(void **state) {
  (void)state;
  char *reasons;
  size_t size;
  ASSERT_OK(file_read(ASSAY_SOURCE_DIR "/tests/house/long-files.txt", 1 << 16, &reasons, &size));
  int wrong = 0;
  for (size_t i = 0; i < tree.count; i++) {
    int lines = count_lines(tree.files[i].text);
    if (lines > 600 && strstr(reasons, tree.files[i].path) == NULL) {
      print_error("%s has %d lines and no reason in tests/house/long-files.txt\n", tree.files[i].path, lines);
      wrong++;
    }
  }
  memory_free(reasons);
  assert_int_equal(wrong, 0);
}

/* A mark of work left undone at `c`, in a comment: one of two words, or a third that is addressed to
 * somebody or opens the comment. (To write about the mark that a draft holds is none.) */
static bool is_note(const char *c, bool first_word) {
  if (text_starts_with(c,
                       "FIX"
                       "ME") ||
      text_starts_with(c,
                       "XX"
                       "X")) {
    return true;
  }
  return text_starts_with(c,
                          "TO"
                          "DO") &&
         (first_word || c[4] == ':' || c[4] == '(');
}

static bool comment_holds_a_note(const char *text) {
  enum { CODE, STRING, CHARACTER, COMMENT, LINE } in = CODE;
  const char *opened = text;
  for (const char *c = text; *c != '\0'; c++) {
    if ((in == STRING || in == CHARACTER) && *c == '\\' && c[1] != '\0') {
      c++;
    } else if (in == STRING || in == CHARACTER) {
      in = *c == (in == STRING ? '"' : '\'') || *c == '\n' ? CODE : in;
    } else if (in == CODE) {
      bool comment = *c == '/' && c[1] == '*', line = *c == '/' && c[1] == '/';
      in = comment ? COMMENT : line ? LINE : *c == '"' ? STRING : *c == '\'' ? CHARACTER : CODE;
      opened = c;
    } else if ((in == COMMENT && *c == '*' && c[1] == '/') || (in == LINE && *c == '\n')) {
      in = CODE;
    } else if (is_note(c, c - opened <= 3)) {
      return true;
    }
  }
  return false;
}

static void no_comment_notes_work_left_undone(void **state) {
  (void)state;
  int wrong = 0;
  for (size_t i = 0; i < tree.count; i++) {
    if (comment_holds_a_note(tree.files[i].text)) {
      print_error("%s has a comment about work left undone\n", tree.files[i].path);
      wrong++;
    }
  }
  assert_int_equal(wrong, 0);
  assert_true(
      comment_holds_a_note("int a; /* TO"
                           "DO: b */"));
  assert_true(
      comment_holds_a_note("int a; // FIX"
                           "ME\n"));
  assert_false(
      comment_holds_a_note("const char *a = \"TO"
                           "DO\";"));
}

int main(void) {
  static const char *const endings[] = {".c", ".h", ".inc", NULL};
  source_tree_add(&tree, "src", endings);
  source_tree_add(&tree, "include", endings);
  source_tree_add(&tree, "tests", endings);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(file_names_are_unique),
      cmocka_unit_test(every_file_opens_by_saying_what_it_is_for),
      cmocka_unit_test(long_files_have_a_reason),
      cmocka_unit_test(no_comment_notes_work_left_undone),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  source_tree_free(&tree);
  return failed;
}
