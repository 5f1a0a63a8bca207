/* The YAML reader: what it takes, what it refuses, and that every refusal names its line and column. */
#include <math.h>
#include <string.h>

#include "contract/yaml.h"
#include "core/memory.h"
#include "support.h"

static struct arena arena;

static int arena_begin(void **state) {
  (void)state;
  arena = (struct arena){0};
  return 0;
}
static int arena_end(void **state) {
  (void)state;
  arena_free(&arena);
  return 0;
}

static assay_status parse(const char *text, struct yaml_file *file) {
  return yaml_parse(text, strlen(text), "f.yaml", ASSAY_CONTRACT_INVALID, &arena, file);
}

/* A text that must be refused at a place with a code and a sentence. */
struct refusal {
  const char *text, *where;
  assay_code code;
  const char *part;
};

static void assert_refused(assay_status status, const struct refusal *row) {
  if (status.code != row->code || strcmp(assay_status_where(status), row->where) != 0 ||
      strstr(assay_status_sentence(status), row->part) == NULL) {
    print_error("%s\nexpected %s at %s with \"%s\", got %s at %s: %s\n", row->text, assay_code_name(row->code),
                row->where, row->part, assay_code_name(status.code), assay_status_where(status),
                assay_status_sentence(status));
    assay_status_clear(&status);
    fail();
  }
  assay_status_clear(&status);
}

static void refuses_what_readers_disagree_about(void **state) {
  (void)state;
  static const struct refusal rows[] = {
      {"", "f.yaml:1:1", ASSAY_YAML_SYNTAX, "nothing but white space"},
      {"# only a remark\n", "f.yaml:2:1", ASSAY_YAML_SYNTAX, "nothing but white space"},
      {"a: &x 1\nb: 2\n", "f.yaml:1:4", ASSAY_YAML_SYNTAX, "anchors"},
      {"a: &x [1]\n", "f.yaml:1:4", ASSAY_YAML_SYNTAX, "anchors"},
      {"a: 1\nb: *x\n", "f.yaml:2:4", ASSAY_YAML_SYNTAX, "aliases"},
      {"a: !!int 1\n", "f.yaml:1:4", ASSAY_YAML_SYNTAX, "tags"},
      {"a: !local {b: 1}\n", "f.yaml:1:4", ASSAY_YAML_SYNTAX, "tags"},
      {"a: ! x\n", "f.yaml:1:4", ASSAY_YAML_SYNTAX, "tags"},
      {"a:\n  <<: {b: 1}\n", "f.yaml:2:3", ASSAY_YAML_SYNTAX, "merge keys"},
      {"a: 1\nb: 2\na: 3\n", "f.yaml:3:1", ASSAY_YAML_SYNTAX, "'a' stands here again; it was given at line 1"},
      {"x: {a: 1, \"a\": 2}\n", "f.yaml:1:11", ASSAY_YAML_SYNTAX, "'a' stands here again"},
      {"a: 1\n---\nb: 2\n", "f.yaml:2:1", ASSAY_YAML_SYNTAX, "second document"},
      {"? [a]\n: 1\n", "f.yaml:1:3", ASSAY_YAML_SYNTAX, "key must be a word"},
      {"~: 1\n", "f.yaml:1:1", ASSAY_YAML_SYNTAX, "key is missing"},
      {"a: \"x\\0y\"\n", "f.yaml:1:4", ASSAY_YAML_SYNTAX, "zero byte"},
      {"a:\n\tb: 1\n", "f.yaml:2:1", ASSAY_YAML_SYNTAX, "not well-formed"},
      {"a: [1, 2\n", "f.yaml:2:1", ASSAY_YAML_SYNTAX, "not well-formed"},
      {"a: \xff\xfe\n", "f.yaml:1:4", ASSAY_YAML_SYNTAX, "UTF-8"},
      {"a: \x01\n", "f.yaml:1:4", ASSAY_YAML_SYNTAX, "UTF-8"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct yaml_file file;
    assert_refused(parse(rows[i].text, &file), &rows[i]);
    assert_null(file.root);
  }
  struct yaml_file file;
  struct refusal zero = {"a: 1\n\\0", "f.yaml:2:3", ASSAY_YAML_SYNTAX, "zero byte"};
  assert_refused(yaml_parse("a: 1\nb:\0 2\n", 11, "f.yaml", ASSAY_CONTRACT_INVALID, &arena, &file), &zero);
}

static void bounds_depth_and_size(void **state) {
  (void)state;
  char text[600];
  struct yaml_file file;
  memset(text, '[', 64);
  memset(text + 64, ']', 64);
  ASSERT_OK(yaml_parse(text, 128, "f.yaml", ASSAY_CONTRACT_INVALID, &arena, &file));
  memset(text, '[', 65);
  memset(text + 65, ']', 65);
  struct refusal deep = {"[ x 65", "f.yaml:1:65", ASSAY_LIMIT_EXCEEDED, "deeper than 64"};
  assert_refused(yaml_parse(text, 130, "f.yaml", ASSAY_CONTRACT_INVALID, &arena, &file), &deep);
  char *large = memory_alloc(YAML_BYTES_MAX + 1, 1);
  assert_non_null(large);
  memset(large, ' ', YAML_BYTES_MAX + 1);
  ASSERT_FAILS(yaml_parse(large, YAML_BYTES_MAX + 1, "f.yaml", ASSAY_CONTRACT_INVALID, &arena, &file),
               ASSAY_LIMIT_EXCEEDED, "16 MiB");
  for (size_t i = 0; i < YAML_BYTES_MAX; i += 2) {
    large[i] = ',', large[i + 1] = '1';
  }
  large[0] = '[';
  ASSERT_FAILS(yaml_parse(large, YAML_BYTES_MAX, "f.yaml", ASSAY_CONTRACT_INVALID, &arena, &file), ASSAY_LIMIT_EXCEEDED,
               "2000000 values");
  memory_free(large);
}

static void keeps_tree_and_marks(void **state) {
  (void)state;
  struct yaml_file file;
  ASSERT_OK(parse("\xef\xbb\xbf# head\na: [1, 'two', {c: ~}]\nd:\n  e: |\n    text\n  f:\n", &file));
  const struct yaml *a = yaml_get(file.root, "a"), *d = yaml_get(file.root, "d");
  assert_int_equal(a->kind, YAML_SEQUENCE);
  assert_int_equal(a->count, 3);
  assert_int_equal(a->items[1].mark.line, 2);
  assert_int_equal(a->items[1].mark.column, 8);
  assert_true(a->items[1].quoted);
  assert_int_equal(yaml_get(&a->items[2], "c")->kind, YAML_NULL);
  assert_string_equal(yaml_get(d, "e")->text, "text\n");
  assert_true(yaml_get(d, "e")->quoted);
  assert_int_equal(yaml_get(d, "f")->kind, YAML_NULL);
  assert_null(yaml_get(d, "g"));
  assert_null(yaml_get(a, "g"));
}

enum wanted { STRING, INTEGER, NUMBER, BOOL, CHOICE };

static assay_status read_as(enum wanted wanted, const char *text) {
  static const char *const words[] = {"nearest", "bilinear", "area"};
  struct yaml_file file;
  TRY(parse(text, &file));
  const struct yaml *node = yaml_get(file.root, "x");
  const char *string;
  int64_t integer;
  double number;
  bool flag;
  int32_t choice;
  switch (wanted) {
    case STRING:
      return yaml_string(&file, node, "x", &string);
    case INTEGER:
      return yaml_int(&file, node, "x", -5, 100, &integer);
    case NUMBER:
      return yaml_double(&file, node, "x", true, &number);
    case BOOL:
      return yaml_bool(&file, node, "x", &flag);
    default:
      return yaml_choice(&file, node, "x", words, 3, &choice);
  }
}

static void refuses_wrong_scalars(void **state) {
  (void)state;
  static const struct {
    enum wanted wanted;
    const char *value, *part;
  } rows[] = {
      {STRING, "yes", "write \"yes\""},
      {STRING, "off", "write \"off\""},
      {STRING, "true", "write \"true\""},
      {STRING, "010", "write \"010\""},
      {STRING, "1.10", "write \"1.10\""},
      {STRING, "0x1F", "write \"0x1F\""},
      {STRING, "1_000", "\"1_000\""},
      {STRING, "12:30:45", "12:30:45"},
      {STRING, "+1", "\"+1\""},
      {STRING, ".5", "\".5\""},
      {STRING, "-.inf", "\"-.inf\""},
      {STRING, "1e5", "\"1e5\""},
      {STRING, "\"\"", "empty"},
      {STRING, "~", "nothing stands here"},
      {STRING, "[a]", "a list of 1"},
      {STRING, "{a: 1}", "1 keys"},
      {STRING, "", "nothing stands here"},
      {INTEGER, "010", "plain digits"},
      {INTEGER, "1_0", "plain digits"},
      {INTEGER, "+1", "plain digits"},
      {INTEGER, "0x10", "plain digits"},
      {INTEGER, "1.0", "plain digits"},
      {INTEGER, "1e1", "plain digits"},
      {INTEGER, "'1'", "without quotes"},
      {INTEGER, "101", "from -5 to 100"},
      {INTEGER, "-6", "from -5 to 100"},
      {INTEGER, "99999999999999999999", "from"},
      {INTEGER, "true", "plain digits"},
      {NUMBER, "yes", "a number such as"},
      {NUMBER, "1_000.5", "as JSON"},
      {NUMBER, "190:20:30", "as JSON"},
      {NUMBER, "+0.5", "as JSON"},
      {NUMBER, ".5", "as JSON"},
      {NUMBER, "5.", "as JSON"},
      {NUMBER, "0x1p3", "a number such"},
      {NUMBER, "0o17", "as JSON"},
      {NUMBER, "1e999", "double"},
      {NUMBER, "1e-999", "double"},
      {NUMBER, ".inf", "finite"},
      {NUMBER, "-.inf", "finite"},
      {NUMBER, ".nan", "finite"},
      {NUMBER, "nan", "a number such as"},
      {NUMBER, "\"1\"", "without quotes"},
      {NUMBER, "1,5", "a number such as"},
      {NUMBER, "", "nothing stands here"},
      {BOOL, "yes", "true or false"},
      {BOOL, "True", "true or false"},
      {BOOL, "1", "true or false"},
      {BOOL, "'true'", "true or false"},
      {CHOICE, "cubic", "nearest, bilinear or area; 'cubic'"},
      {CHOICE, "[area]", "nearest, bilinear or area"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[80];
    snprintf(text, sizeof text, "a: 1\nx: %s\n", rows[i].value);
    struct refusal row = {text, rows[i].value[0] == '\0' ? "f.yaml:2:3" : "f.yaml:2:4", ASSAY_CONTRACT_INVALID,
                          rows[i].part};
    assert_refused(read_as(rows[i].wanted, text), &row);
  }
  for (int wanted = STRING; wanted <= CHOICE; wanted++) {
    struct refusal row = {"TODO", "f.yaml:1:4", ASSAY_OPEN_QUESTION, "x is still TODO"};
    assert_refused(read_as((enum wanted)wanted, "x: TODO\n"), &row);
    assert_refused(read_as((enum wanted)wanted, "x: TODO which one?\n"), &row);
  }
  ASSERT_OK(read_as(STRING, "x: \"TODO\""));
  ASSERT_OK(read_as(STRING, "x: TODOS"));
}

static void reads_scalars(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double value;
  } numbers[] = {{"0", 0},       {"-0.5", -0.5},  {"1e-4", 1e-4},
                 {"1E+3", 1000}, {"12.50", 12.5}, {"0.00392156862745098", 0.00392156862745098}};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    char text[64];
    snprintf(text, sizeof text, "x: %s", numbers[i].text);
    struct yaml_file file;
    double value;
    ASSERT_OK(parse(text, &file));
    ASSERT_OK(yaml_double(&file, yaml_get(file.root, "x"), "x", true, &value));
    assert_true(value == numbers[i].value);
  }
  struct yaml_file file;
  double value;
  ASSERT_OK(parse("[.inf, -.inf, .nan, y, 1.13.1, 2026-12-01, 'on', -3, true]", &file));
  const struct yaml *list = file.root->items;
  ASSERT_OK(yaml_double(&file, &list[0], "x", false, &value));
  assert_true(isinf(value) && value > 0);
  ASSERT_OK(yaml_double(&file, &list[1], "x", false, &value));
  assert_true(isinf(value) && value < 0);
  ASSERT_OK(yaml_double(&file, &list[2], "x", false, &value));
  assert_true(isnan(value));
  const char *string;
  for (int i = 3; i < 7; i++) {
    ASSERT_OK(yaml_string(&file, &list[i], "x", &string));
    assert_string_equal(string, list[i].text);
  }
  int64_t integer;
  bool flag;
  ASSERT_OK(yaml_int(&file, &list[7], "x", -3, -3, &integer));
  assert_int_equal(integer, -3);
  ASSERT_OK(yaml_bool(&file, &list[8], "x", &flag));
  assert_true(flag);
}

static void names_keys(void **state) {
  (void)state;
  static const char *const allowed[] = {"name", "dtype", "shape"};
  struct yaml_file file;
  const struct yaml *node;
  ASSERT_OK(parse("name: a\ndtpye: b\n", &file));
  struct refusal row = {"dtpye", "f.yaml:2:1", ASSAY_CONTRACT_INVALID,
                        "input has no key 'dtpye'; did you mean 'dtype'; its keys are name, dtype, shape"};
  assert_refused(yaml_keys(&file, file.root, allowed, 3, "input"), &row);
  struct refusal missing = {"shape", "f.yaml:1:1", ASSAY_CONTRACT_INVALID, "input needs the key 'shape'"};
  assert_refused(yaml_require(&file, file.root, "shape", "input", &node), &missing);
  ASSERT_OK(parse("[1]", &file));
  struct refusal list = {"[1]", "f.yaml:1:1", ASSAY_CONTRACT_INVALID, "input must be a mapping (key: value)"};
  assert_refused(yaml_keys(&file, file.root, allowed, 3, "input"), &list);
  ASSERT_OK(parse("TODO", &file));
  struct refusal open = {"TODO", "f.yaml:1:1", ASSAY_OPEN_QUESTION, "input is still TODO"};
  assert_refused(yaml_keys(&file, file.root, allowed, 3, "input"), &open);
}

static void finds_open_questions(void **state) {
  (void)state;
  struct yaml_file file;
  ASSERT_OK(parse("a: 1\nb: \"TODO\"\n", &file));
  ASSERT_OK(yaml_no_open_questions(&file));
  ASSERT_OK(
      parse("outputs:\n  - name: action\n    components:\n      - {name: hip, unit: TODO}\n      - unit: TODO\n"
            "    axes: [batch, TODO]\n",
            &file));
  struct refusal row = {
      "TODO", "f.yaml:4:27", ASSAY_OPEN_QUESTION,
      "'outputs[action].components[hip].unit' is still TODO: write the physical unit (of an output after "
      "decoding), such as rad, m/s or score; 2 more open questions at lines 5, 6"};
  assert_refused(yaml_no_open_questions(&file), &row);
}

/* What is written reads back as the same string, whatever it holds. */
static void writes_what_it_reads(void **state) {
  (void)state;
  static const char *const texts[] = {"hip",  "yes",   "010", "a b", "",       "TODO", "null", "~",    "a: b", "\"",
                                      "\\",   "x\ny",  "- a", "#x",  "1e5",    "y",    "é",    "a#b",  "'",    "{",
                                      "true", "a\x7f", "<<",  "@x",  "1.13.1", "-",    ".",    "../x", "a,b",  "\t"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    struct text out = {0};
    text_add(&out, "x: ");
    yaml_write_scalar(&out, texts[i]);
    struct yaml_file file;
    ASSERT_OK(parse(text_string(&out), &file));
    assert_string_equal(yaml_get(file.root, "x")->text, texts[i]);
    const char *string;
    if (texts[i][0] != '\0') {
      ASSERT_OK(yaml_string(&file, yaml_get(file.root, "x"), "x", &string));
    }
    text_free(&out);
  }
}

static const char sample[] =
    "assay: 1\ninputs:\n  - {name: front, shape: [1, {min: 2, opt: 4, max: 8}], legal: [0, 1]}\n"
    "outputs:\n  - name: \"act\\u0069on\"\n    text: |\n      a\n      b\n    list: ['x', ~, 1.5e3]\n";

static void survives_truncation_and_bit_flips(void **state) {
  (void)state;
  size_t size = sizeof sample - 1;
  for (size_t cut = 0; cut <= size; cut++) {
    struct yaml_file file;
    assay_status status = yaml_parse(sample, cut, "f.yaml", ASSAY_CONTRACT_INVALID, &arena, &file);
    assay_status_clear(&status);
  }
  char copy[sizeof sample];
  for (size_t bit = 0; bit < size * 8; bit++) {
    memcpy(copy, sample, sizeof sample);
    copy[bit / 8] = (char)((unsigned char)copy[bit / 8] ^ (1u << bit % 8));
    struct yaml_file file;
    assay_status status = yaml_parse(copy, size, "f.yaml", ASSAY_CONTRACT_INVALID, &arena, &file);
    if (assay_status_ok(status)) {
      status = yaml_no_open_questions(&file);
    }
    assay_status_clear(&status);
  }
}

static void survives_every_failure_of_memory(void **state) {
  (void)state;
  for (int64_t n = 0;; n++) {
    struct arena own = {0};
    struct yaml_file file;
    memory_fail_at(n);
    assay_status status = yaml_parse(sample, sizeof sample - 1, "f.yaml", ASSAY_CONTRACT_INVALID, &own, &file);
    memory_fail_at(-1);
    bool done = assay_status_ok(status);
    if (!done) {
      assert_int_equal(status.code, ASSAY_OUT_OF_MEMORY);
    }
    assay_status_clear(&status);
    arena_free(&own);
    if (done) {
      assert_true(n > 5);
      return;
    }
  }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, arena_begin, arena_end)
int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(refuses_what_readers_disagree_about),
      TEST(bounds_depth_and_size),
      TEST(keeps_tree_and_marks),
      TEST(refuses_wrong_scalars),
      TEST(reads_scalars),
      TEST(names_keys),
      TEST(finds_open_questions),
      TEST(writes_what_it_reads),
      TEST(survives_truncation_and_bit_flips),
      TEST(survives_every_failure_of_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
