/* The floors of the house, from the includes: a part uses the parts above it in the table and
 * never those below, and no header includes itself by a detour. */
#include "source_tree.h"

/* The floors, from the ground up; api/ is where the public functions stand. */
static const char *const floors[] = {"core",   "tensor",  "model", "kernels", "ops",      "engine",   "contract",
                                     "corpus", "rung",    "bench", "gate",    "optimize", "quantize", "explain",
                                     "report", "release", "guard", "api",     "cli"};
enum { FLOORS = sizeof floors / sizeof floors[0] };

/* Parts that run where little else may: what they may use is listed, not everything above. The
 * pure checks are the files of contract/ that guard/ may include. */
static const struct {
  const char *file, *may_include[8];
} narrow[] = {
    {"src/release/verifier", {"core/", "release/", "assay/", NULL}},
    {"src/guard/", {"core/", "contract/checks.h", "guard/", "assay/", NULL}},
};

static struct source_tree tree;

static int floor_of(const char *name, size_t length) {
  for (int i = 0; i < FLOORS; i++) {
    if (strlen(floors[i]) == length && memcmp(floors[i], name, length) == 0) {
      return i;
    }
  }
  return -1;
}

/* The next `#include "..."` after *at; false at the end. */
static bool next_include(const char **at, char out[256]) {
  const char *line = *at;
  while ((line = strstr(line, "#include \"")) != NULL) {
    const char *first = line + 10, *last = strchr(first, '"');
    if (last == NULL || last - first > 255) {
      return false;
    }
    memcpy(out, first, (size_t)(last - first));
    out[last - first] = '\0';
    *at = last;
    return true;
  }
  return false;
}

/* True when a file on floor `own` may include `name`. */
static bool may_include(int own, const char *name) {
  const char *slash = strchr(name, '/');
  if (slash == NULL) {
    return text_ends_with(name, ".pb-c.h") && strcmp(floors[own], "model") == 0; /* made from onnx.proto */
  }
  size_t length = (size_t)(slash - name);
  if (length == 5 && memcmp(name, "assay", 5) == 0) {
    return true;
  }
  int other = floor_of(name, length);
  return other >= 0 && other <= own;
}

static void no_part_includes_a_lower_one(void **state) {
  (void)state;
  int wrong = 0;
  for (size_t i = 0; i < tree.count; i++) {
    const char *part = tree.files[i].path + 4, *at = tree.files[i].text;
    int own = floor_of(part, strcspn(part, "/"));
    if (own < 0) {
      print_error("%s: its folder is not in the table of floors\n", tree.files[i].path);
      wrong++;
      continue;
    }
    char name[256];
    while (next_include(&at, name)) {
      if (!may_include(own, name)) {
        print_error("%s: may not include \"%s\"\n", tree.files[i].path, name);
        wrong++;
      }
    }
  }
  assert_int_equal(wrong, 0);
}

static void narrow_parts_include_what_is_listed(void **state) {
  (void)state;
  int wrong = 0;
  for (size_t i = 0; i < tree.count; i++) {
    for (size_t n = 0; n < sizeof narrow / sizeof narrow[0]; n++) {
      if (!text_starts_with(tree.files[i].path, narrow[n].file)) {
        continue;
      }
      const char *at = tree.files[i].text;
      char name[256];
      while (next_include(&at, name)) {
        bool listed = false;
        for (int k = 0; narrow[n].may_include[k] != NULL; k++) {
          listed = listed || text_starts_with(name, narrow[n].may_include[k]);
        }
        if (!listed) {
          print_error("%s: may not include \"%s\"\n", tree.files[i].path, name);
          wrong++;
        }
      }
    }
  }
  assert_int_equal(wrong, 0);
}

static const struct source *find_header(const char *include) {
  for (size_t i = 0; i < tree.count; i++) {
    if (strcmp(tree.files[i].path + 4, include) == 0) {
      return &tree.files[i];
    }
  }
  return NULL;
}

/* Depth first; a header met again while it is open closes a circle. */
static bool has_circle(const struct source *file, int *marks, int depth) {
  int *mark = &marks[file - tree.files];
  if (*mark != 0) {
    return *mark == 1;
  }
  *mark = 1;
  const char *at = file->text;
  char name[256];
  while (next_include(&at, name)) {
    const struct source *other = find_header(name);
    if (other != NULL && (depth > 200 || has_circle(other, marks, depth + 1))) {
      print_error("%s includes \"%s\", which includes it\n", file->path, name);
      return true;
    }
  }
  *mark = 2;
  return false;
}

static void no_header_includes_itself_by_a_detour(void **state) {
  (void)state;
  int *marks = memory_alloc(tree.count, sizeof *marks);
  assert_non_null(marks);
  for (size_t i = 0; i < tree.count; i++) {
    assert_false(has_circle(&tree.files[i], marks, 0));
  }
  memory_free(marks);
}

/* The rule itself: it must be able to say no. */
static void the_rule_says_no(void **state) {
  (void)state;
  assert_true(may_include(floor_of("gate", 4), "rung/rung.h"));
  assert_true(may_include(floor_of("gate", 4), "gate/plan.h"));
  assert_true(may_include(floor_of("core", 4), "assay/status.h"));
  assert_false(may_include(floor_of("rung", 4), "gate/plan.h"));
  assert_false(may_include(floor_of("core", 4), "tensor/tensor.h"));
  assert_false(may_include(floor_of("gate", 4), "plan.h"));
  assert_false(may_include(floor_of("gate", 4), "nowhere/plan.h"));
}

int main(void) {
  static const char *const endings[] = {".c", ".h", ".inc", NULL};
  source_tree_add(&tree, "src", endings);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_part_includes_a_lower_one),
      cmocka_unit_test(narrow_parts_include_what_is_listed),
      cmocka_unit_test(no_header_includes_itself_by_a_detour),
      cmocka_unit_test(the_rule_says_no),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  source_tree_free(&tree);
  return failed;
}
