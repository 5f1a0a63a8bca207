/* What the compiled parts call: no function of libm where numbers are computed, no allocation
 * past core/memory.h, no printing and no exit from the library. */
#include <stdlib.h>

#include "source_tree.h"

/* One undefined symbol of one object file. */
typedef void visitor(const char *object, const char *symbol, int *wrong);

/* Calls `visit` with every undefined symbol of the objects below `folder` of the build. */
static int visit_undefined(const char *folder, visitor *visit) {
  char command[2048], line[1024], object[1024] = "";
  snprintf(command, sizeof command,
           "find '" ASSAY_BINARY_DIR "/CMakeFiles/%s' -name '*.o' -exec nm -A -u --format=posix {} + 2>/dev/null",
           folder);
  FILE *listing = popen(command, "r");
  assert_non_null(listing);
  int wrong = 0, seen = 0;
  while (fgets(line, sizeof line, listing) != NULL) {
    char symbol[512];
    if (sscanf(line, "%1023s %511s", object, symbol) == 2) {
      seen++;
      symbol[strcspn(symbol, "@")] = '\0';
      visit(object, symbol, &wrong);
    }
  }
  assert_int_equal(pclose(listing), 0);
  assert_true(seen > 0);
  return wrong;
}

/* Functions whose last bit differs between libraries. fma does not, but its library form is slow
 * and the house has its own. */
static bool is_inexact(const char *symbol) {
  static const char *const names[] = {"exp",   "exp2", "exp10", "expm1",  "log",    "log2",  "log10", "log1p",
                                      "pow",   "sin",  "cos",   "sincos", "tan",    "asin",  "acos",  "atan",
                                      "atan2", "sinh", "cosh",  "tanh",   "asinh",  "acosh", "atanh", "erf",
                                      "erfc",  "cbrt", "hypot", "tgamma", "lgamma", "fma"};
  size_t length = strlen(symbol);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    size_t n = strlen(names[i]);
    if (strncmp(symbol, names[i], n) == 0 &&
        (length == n || (length == n + 1 && (symbol[n] == 'f' || symbol[n] == 'l')))) {
      return true;
    }
  }
  return false;
}

static void refuse_libm(const char *object, const char *symbol, int *wrong) {
  if (is_inexact(symbol)) {
    print_error("%s calls %s of libm\n", object, symbol);
    (*wrong)++;
  }
}

static void numeric_paths_call_nothing_of_libm(void **state) {
  (void)state;
  static const char *const folders[] = {"assay_kernels_base.dir",    "assay_kernels_avx2.dir",
                                        "assay_kernels_avx512.dir",  "assay_objects.dir/src/kernels",
                                        "assay_objects.dir/src/ops", "assay_objects.dir/src/engine"};
  int wrong = 0;
  for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
    char path[1024];
    snprintf(path, sizeof path, ASSAY_BINARY_DIR "/CMakeFiles/%s", folders[i]);
    if (file_is_folder(path)) { /* other processors have other levels */
      wrong += visit_undefined(folders[i], refuse_libm);
    }
  }
  assert_int_equal(wrong, 0);
  assert_true(is_inexact("expf") && is_inexact("tanh") && is_inexact("fmal"));
  assert_false(is_inexact("floorf") || is_inexact("sqrt") || is_inexact("explicit_bzero") || is_inexact("logger"));
}

static void refuse_calls_of_the_library(const char *object, const char *symbol, int *wrong) {
  static const char *const allocation[] = {"malloc", "calloc",        "realloc",        "free",
                                           "strdup", "aligned_alloc", "posix_memalign", "asprintf"};
  static const char *const behaviour[] = {"printf", "__printf_chk", "puts",          "putchar", "abort",
                                          "exit",   "getenv",       "secure_getenv", "setenv",  "setlocale"};
  bool memory = strstr(object, "/core/memory.c.o") != NULL;
  for (size_t i = 0; !memory && i < sizeof allocation / sizeof allocation[0]; i++) {
    if (strcmp(symbol, allocation[i]) == 0) {
      print_error("%s calls %s; use core/memory.h\n", object, symbol);
      (*wrong)++;
    }
  }
  for (size_t i = 0; i < sizeof behaviour / sizeof behaviour[0]; i++) {
    if (strcmp(symbol, behaviour[i]) == 0) {
      print_error("%s calls %s; the library never prints, exits or reads the environment\n", object, symbol);
      (*wrong)++;
    }
  }
}

static void the_library_neither_prints_nor_exits(void **state) {
  (void)state;
  assert_int_equal(visit_undefined("assay_objects.dir/src", refuse_calls_of_the_library), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numeric_paths_call_nothing_of_libm),
      cmocka_unit_test(the_library_neither_prints_nor_exits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
