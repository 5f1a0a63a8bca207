/* The status object and the table of codes. */
#include <string.h>

#include "core/memory.h"
#include "support.h"

static void sentence_and_place_are_kept(void **state) {
  (void)state;
  assay_status status = status_make(ASSAY_FILE_MISSING, "a.onnx", "no file %d", 7);
  assert_int_equal(status.code, ASSAY_FILE_MISSING);
  assert_string_equal(assay_status_where(status), "a.onnx");
  assert_string_equal(assay_status_sentence(status), "no file 7");
  status = status_prefix(status, "case %s", "c1");
  assert_string_equal(assay_status_sentence(status), "case c1: no file 7");
  assert_string_equal(assay_status_where(status), "a.onnx");
  assay_status_clear(&status);
  assert_true(assay_status_ok(status));
}

static void without_memory_the_code_is_kept(void **state) {
  (void)state;
  memory_fail_at(0);
  assay_status status = status_make(ASSAY_FILE_MISSING, "a.onnx", "no file");
  memory_fail_at(-1);
  assert_int_equal(status.code, ASSAY_FILE_MISSING);
  assert_string_equal(assay_status_sentence(status), assay_code_meaning(ASSAY_FILE_MISSING));
  assay_status_clear(&status);
}

static void every_code_has_a_name_and_words(void **state) {
  (void)state;
  for (int i = 0; i < ASSAY_CODE_COUNT; i++) {
    assay_code code = (assay_code)i;
    assert_int_equal(assay_code_find(assay_code_name(code)), code);
    assert_true(strlen(assay_code_meaning(code)) > 10 && strlen(assay_code_remedy(code)) > 10);
  }
  assert_int_equal(assay_code_find("NO_SUCH_CODE"), ASSAY_CODE_COUNT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sentence_and_place_are_kept),
      cmocka_unit_test(without_memory_the_code_is_kept),
      cmocka_unit_test(every_code_has_a_name_and_words),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
