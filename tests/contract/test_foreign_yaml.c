/* Other people's YAML: read leniently, with lines, and within bounds whatever it holds. */
#include <locale.h>
#include <string.h>

#include "contract/foreign_yaml.h"
#include "failing_memory.h"
#include "support.h"

static struct arena arena;

static assay_status parse(const char *text, struct foreign_file *out) {
  return foreign_parse(text, strlen(text), "f.yaml", &arena, out);
}

static int end(void **state) {
  (void)state;
  arena_free(&arena);
  return 0;
}

static void knows_lines(void **state) {
  (void)state;
  struct foreign_file file;
  ASSERT_OK(parse("a: 1\nb:\n  - x\n  - {c: 2.50}\n", &file));
  const struct foreign *b = foreign_get(file.documents, "b");
  assert_int_equal(b->items[0].mark.line, 3);
  const struct foreign *c = foreign_get(&b->items[1], "c");
  assert_int_equal(c->mark.line, 4);
  assert_int_equal(c->mark.column, 9);
  assert_string_equal(foreign_text(c), "2.50");
  assert_null(foreign_at(file.documents, "b/c"));
  assert_null(foreign_get(NULL, "a"));
}

static void reads_json(void **state) {
  (void)state;
  struct foreign_file file;
  ASSERT_OK(parse("{\n\t\"a\": [1, 2.5e-3, true, null, \"x\\/\\u00e9\"],\n\t\"b\":{\"c\":-1}\n}", &file));
  const struct foreign *a = foreign_get(file.documents, "a");
  double number;
  bool flag;
  assert_true(foreign_number(&a->items[1], &number) && number == 2.5e-3);
  assert_true(foreign_flag(&a->items[2], &flag) && flag);
  assert_int_equal(a->items[3].kind, FOREIGN_NULL);
  assert_string_equal(foreign_text(&a->items[4]), "x/é");
  assert_int_equal(foreign_at(file.documents, "b/c")->mark.line, 3);
}

static void keeps_tags_as_text(void **state) {
  (void)state;
  struct foreign_file file;
  ASSERT_OK(
      parse("ids: !!python/object/apply:builtins.slice [null, null, null]\n"
            "run: !!python/object/apply:os.system ['touch /tmp/assay_was_here']\n"
            "pair: !!python/tuple\n- 1\n- 2\nown: !mine x\n",
            &file));
  const struct foreign *ids = foreign_get(file.documents, "ids");
  assert_true(foreign_has_tag(ids, "python/object/apply:builtins.slice"));
  assert_int_equal(ids->count, 3);
  assert_true(foreign_has_tag(foreign_get(file.documents, "run"), "python/object/apply:os.system"));
  assert_true(foreign_has_tag(foreign_get(file.documents, "pair"), "python/tuple"));
  assert_string_equal(foreign_get(file.documents, "own")->tag, "!mine");
  assert_false(foreign_has_tag(foreign_get(file.documents, "own"), "mine"));
}

static void resolves_aliases(void **state) {
  (void)state;
  struct foreign_file file;
  ASSERT_OK(parse("base: &b {x: 1, y: 2}\nuse: *b\nover: {<<: *b, y: 3}\nmany: {<<: [*b, {x: 9, z: 4}]}\n", &file));
  assert_string_equal(foreign_text(foreign_at(file.documents, "use/y")), "2");
  assert_int_equal(foreign_at(file.documents, "use/y")->mark.line, 1); /* where it really stands */
  assert_string_equal(foreign_text(foreign_at(file.documents, "over/y")), "3");
  assert_string_equal(foreign_text(foreign_at(file.documents, "over/x")), "1");
  assert_string_equal(foreign_text(foreign_at(file.documents, "many/x")), "1");
  assert_string_equal(foreign_text(foreign_at(file.documents, "many/z")), "4");
  ASSERT_FAILS(parse("a: *nothing\n", &file), ASSAY_IMPORT_INVALID, "*nothing stands for nothing");
  ASSERT_FAILS(parse("a: &a [*a]\n", &file), ASSAY_IMPORT_INVALID, "*a stands for nothing");
  ASSERT_FAILS(parse("a: {<<: 3}\n", &file), ASSAY_IMPORT_INVALID, "a merge key (<<) takes a map");
}

static void refuses_a_billion_laughs(void **state) {
  (void)state;
  struct text text = {0};
  text_add(&text, "l0: &l0 [ha, ha, ha, ha, ha, ha, ha, ha, ha, ha]\n");
  for (int i = 1; i < 12; i++) {
    text_format(&text, "l%d: &l%d [*l%d, *l%d, *l%d, *l%d, *l%d, *l%d, *l%d, *l%d, *l%d, *l%d]\n", i, i, i - 1, i - 1,
                i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
  }
  struct foreign_file file;
  ASSERT_FAILS(parse(text_string(&text), &file), ASSAY_LIMIT_EXCEEDED, "counting what its aliases stand for");
  text_free(&text);
}

static void refuses_many_merges(void **state) {
  (void)state;
  struct text text = {0};
  text_add(&text, "b: &b {");
  for (int i = 0; i < 3000; i++) {
    text_format(&text, "k%d: 0, ", i);
  }
  text_add(&text, "}\nall: {<<: [");
  for (int i = 0; i < 100; i++) {
    text_add(&text, "*b, ");
  }
  text_add(&text, "]}\n");
  struct foreign_file file;
  ASSERT_FAILS(parse(text_string(&text), &file), ASSAY_LIMIT_EXCEEDED, "merge keys");
  text_free(&text);
}

static void refuses_depth(void **state) {
  (void)state;
  struct text text = {0};
  for (int i = 0; i < 70; i++) {
    text_add_char(&text, '[');
  }
  struct foreign_file file;
  ASSERT_FAILS(parse(text_string(&text), &file), ASSAY_LIMIT_EXCEEDED, "nested deeper");
  text_free(&text);
}

static void notices_repeated_keys(void **state) {
  (void)state;
  struct foreign_file file;
  const struct foreign *node;
  ASSERT_OK(parse("kp: 1\nkd: 2\nkp: 3\n", &file)); /* no harm while nobody asks for it */
  ASSERT_OK(foreign_take("f.yaml", file.documents, "kd", &node));
  assert_string_equal(foreign_text(node), "2");
  assay_status status = foreign_take("f.yaml", file.documents, "kp", &node);
  assert_string_equal(assay_status_where(status), "f.yaml:3:1");
  ASSERT_FAILS(status, ASSAY_IMPORT_INVALID, "'kp' stands here again, after line 1");
}

static void reads_several_documents(void **state) {
  (void)state;
  struct foreign_file file;
  ASSERT_OK(parse("---\na: &x 1\n---\nb: 2\n", &file));
  assert_int_equal(file.n_documents, 2);
  assert_string_equal(foreign_text(foreign_get(&file.documents[1], "b")), "2");
  ASSERT_FAILS(parse("a: &x 1\n---\nb: *x\n", &file), ASSAY_IMPORT_INVALID, "*x stands for nothing");
  ASSERT_OK(parse("", &file));
  assert_int_equal(file.n_documents, 0);
}

static void tells_numbers(void **state) {
  (void)state;
  static const struct {
    const char *text;
    bool number;
    double value;
  } cases[] = {{"1", true, 1},       {"-0.5", true, -0.5}, {"100.", true, 100}, {".5", true, 0.5},    {"+2", true, 2},
               {"1e-3", true, 1e-3}, {"1.e3", true, 1000}, {".inf", false, 0},  {"1e999", false, 0},  {"nan", false, 0},
               {"0x10", false, 0},   {"1_000", false, 0},  {"\"1\"", false, 0}, {"1:30", false, 0},   {".", false, 0},
               {"1.2.3", false, 0},  {"--", false, 0},     {"e5", false, 0},    {"[1, 2]", false, 0}, {"", false, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct text text = {0};
    text_format(&text, "a: %s\n", cases[i].text);
    struct foreign_file file;
    ASSERT_OK(parse(text_string(&text), &file));
    double value = 0;
    bool number = foreign_number(foreign_get(file.documents, "a"), &value);
    if (number != cases[i].number || (number && value != cases[i].value)) {
      fail_msg("'%s': expected %s %g, got %s %g", cases[i].text, cases[i].number ? "the number" : "no number",
               cases[i].value, number ? "the number" : "no number", value);
    }
    text_free(&text);
  }
}

static void refuses_what_is_no_text(void **state) {
  (void)state;
  struct foreign_file file;
  ASSERT_FAILS(parse("a: [1, 2\nb: }", &file), ASSAY_IMPORT_INVALID, "neither YAML nor JSON");
  ASSERT_FAILS(parse("a: \"\\0\"\n", &file), ASSAY_IMPORT_INVALID, "zero byte");
  ASSERT_FAILS(parse("a: \xff\xfe\n", &file), ASSAY_IMPORT_INVALID, "neither YAML nor JSON");
}

static assay_status attempt(void *argument) {
  (void)argument;
  struct arena own = {0};
  struct foreign_file file;
  static const char text[] = "a: &a {x: [1, 2, 3], y: !t z}\nb: {<<: *a, k: *a}\n";
  assay_status status = foreign_parse(text, sizeof text - 1, "f.yaml", &own, &file);
  arena_free(&own);
  return status;
}

static void survives_failing_memory(void **state) {
  (void)state;
  fail_every_allocation(attempt, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(knows_lines, end),
      cmocka_unit_test_teardown(reads_json, end),
      cmocka_unit_test_teardown(keeps_tags_as_text, end),
      cmocka_unit_test_teardown(resolves_aliases, end),
      cmocka_unit_test_teardown(refuses_a_billion_laughs, end),
      cmocka_unit_test_teardown(refuses_many_merges, end),
      cmocka_unit_test_teardown(refuses_depth, end),
      cmocka_unit_test_teardown(notices_repeated_keys, end),
      cmocka_unit_test_teardown(reads_several_documents, end),
      cmocka_unit_test_teardown(tells_numbers, end),
      cmocka_unit_test_teardown(refuses_what_is_no_text, end),
      cmocka_unit_test(survives_failing_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
