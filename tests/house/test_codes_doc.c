/* docs/codes.md is what the table of codes says: made by the script, and complete. */
#include "core/text.h"
#include "source_tree.h"

static char *document;

static void the_document_is_what_the_script_makes(void **state) {
  (void)state;
  FILE *made = popen("sh '" ASSAY_SOURCE_DIR "/scripts/codes-doc.sh'", "r");
  assert_non_null(made);
  struct text text = {0};
  char part[4096];
  size_t got;
  while ((got = fread(part, 1, sizeof part, made)) > 0) {
    text_add_bytes(&text, part, got);
  }
  assert_int_equal(pclose(made), 0);
  if (strcmp(text_string(&text), document) != 0) {
    print_error("docs/codes.md is not what the table says; run: sh scripts/codes-doc.sh >docs/codes.md\n");
  }
  assert_true(strcmp(text_string(&text), document) == 0);
  text_free(&text);
}

static void every_code_is_there_with_what_to_do(void **state) {
  (void)state;
  int wrong = 0;
  for (int code = ASSAY_OK + 1; code < ASSAY_CODE_COUNT; code++) {
    struct text heading = {0};
    text_format(&heading, "\n### `%s`\n", assay_code_name((assay_code)code));
    const char *at = strstr(document, text_string(&heading));
    if (at == NULL || strstr(at, assay_code_meaning((assay_code)code)) == NULL ||
        strstr(at, assay_code_remedy((assay_code)code)) == NULL) {
      print_error("docs/codes.md lacks %s, its meaning or its remedy\n", assay_code_name((assay_code)code));
      wrong++;
    }
    text_free(&heading);
  }
  assert_int_equal(wrong, 0);
}

static void codes_are_found_by_name(void **state) {
  (void)state;
  for (int code = 0; code < ASSAY_CODE_COUNT; code++) {
    assert_int_equal(assay_code_find(assay_code_name((assay_code)code)), code);
  }
}

int main(void) {
  size_t size;
  assay_status status = file_read(ASSAY_SOURCE_DIR "/docs/codes.md", 1 << 24, &document, &size);
  if (!assay_status_ok(status)) {
    print_error("%s\n", assay_status_sentence(status));
    return 1;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_document_is_what_the_script_makes),
      cmocka_unit_test(every_code_is_there_with_what_to_do),
      cmocka_unit_test(codes_are_found_by_name),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  memory_free(document);
  return failed;
}
