/* Reports: the same result, the same bytes; text that no reader chokes on; and files that appear whole or
 * not at all. */
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/file.h"
#include "core/memory.h"
#include "policy_builder.h"
#include "report/json_writer.h"
#include "report/report.h"
#include "support.h"

static const char example[] = ASSAY_SOURCE_DIR "/examples/worked_drift";

static void numbers_are_printed_by_their_type(void **state) {
  (void)state;
  struct text out = {0};
  struct json json = {.out = &out};
  json_open(&json, NULL, '[', true);
  json_number(&json, NULL, (double)0.1F, true);
  json_number(&json, NULL, 0.1, false);
  json_number(&json, NULL, NAN, true);
  json_number(&json, NULL, INFINITY, false);
  json_number(&json, NULL, -INFINITY, false);
  json_number(&json, NULL, -0.0, false);
  json_number_or_null(&json, NULL, NAN, false);
  json_close(&json, ']');
  assert_string_equal(text_string(&out),
                      "[0.100000001, 0.10000000000000001, \"NaN\", \"Infinity\", \"-Infinity\", -0, null]");
  text_free(&out);
}

static void strings_are_valid_whatever_comes_in(void **state) {
  (void)state;
  struct text out = {0};
  struct json json = {.out = &out};
  json_text(&json, NULL, "a\"b\\c\n\x01\x7f\xC3\xA4 \xC0\x80 \xED\xA0\x80 \xF5 \xE2\x82");
  json_t *parsed = json_loads(text_string(&out), JSON_DECODE_ANY, NULL);
  assert_non_null(parsed);
  assert_non_null(strstr(json_string_value(parsed), "\xC3\xA4"));
  assert_non_null(strstr(json_string_value(parsed), "\xEF\xBF\xBD"));
  json_decref(parsed);
  text_free(&out);
}

static void a_report_is_json_and_the_same_bytes_again(void **state) {
  (void)state;
  struct text first = {0}, second = {0};
  for (int i = 0; i < 2; i++) {
    struct gate_result *result = policy_verify(example);
    ASSERT_OK(report_json(result, i == 0 ? &first : &second));
    gate_result_free(result);
  }
  json_error_t error;
  json_t *parsed = json_loads(text_string(&first), JSON_REJECT_DUPLICATES, &error);
  if (parsed == NULL) {
    fail_msg("line %d: %s", error.line, error.text);
  }
  assert_string_equal(json_string_value(json_object_get(parsed, "verdict")), "REJECT");
  json_decref(parsed);
  const char *end = strstr(text_string(&first), "\"environment\"");
  assert_non_null(end);
  assert_memory_equal(text_string(&first), text_string(&second), (size_t)(end - text_string(&first)));
  text_free(&first);
  text_free(&second);
}

/* Ids and names that would be markup, and bytes that XML cannot hold. */
static void junit_is_escaped(void **state) {
  (void)state;
  struct gate_result *result = policy_verify(example);
  struct gate_reason reason = gate_reason_of(ASSAY_RUNG_FAILED);
  reason.sentence = "<b attr=\"1\"> & \x01 \xff \xEF\xBF\xBF";
  ASSERT_OK(gate_reason_add(&result->arena, &result->rungs[0].reasons, &reason));
  result->rungs[0].name = "a<b>&\"c\"";
  struct text out = {0};
  ASSERT_OK(report_junit(result, &out));
  assert_non_null(strstr(text_string(&out), "a&lt;b&gt;&amp;&quot;c&quot;"));
  assert_non_null(
      strstr(text_string(&out), "&lt;b attr=&quot;1&quot;&gt; &amp; \xEF\xBF\xBD \xEF\xBF\xBD \xEF\xBF\xBD"));
  assert_non_null(strstr(text_string(&out), "<failure type=\"DRIFT_MAX\""));
  assert_non_null(strstr(text_string(&out), "<failure type=\"DECISION_FLIP\""));
  assert_non_null(strstr(text_string(&out), "<error type=\"RUNG_FAILED\""));
  assert_non_null(strstr(text_string(&out), "failures=\"2\" errors=\"1\" skipped=\"0\""));
  text_clear(&out);
  result->rungs[0].required = false;
  ASSERT_OK(report_junit(result, &out));
  assert_null(strstr(text_string(&out), "<failure"));
  assert_non_null(strstr(text_string(&out), "<skipped message=\"not required: DRIFT_MAX"));
  text_free(&out);
  gate_result_free(result);
}

static void the_table_is_narrow_and_plain(void **state) {
  (void)state;
  struct gate_result *result = policy_verify(example);
  struct text out = {0};
  ASSERT_OK(report_terminal(result, &(struct terminal_options){.verbose = true}, &out));
  assert_null(strchr(text_string(&out), '\033'));
  for (const char *line = text_string(&out); *line != '\0';) {
    size_t length = strcspn(line, "\n");
    if (length > 100) {
      fail_msg("%zu columns: %.*s", length, (int)length, line);
    }
    line += length + (line[length] != '\0');
  }
  const char *wrist = strstr(text_string(&out), "REJECT  wrist"),
             *shoulder = strstr(text_string(&out), "PASS    shoulder");
  assert_true(wrist != NULL && shoulder != NULL && wrist < shoulder);
  text_clear(&out);
  ASSERT_OK(report_terminal(result, &(struct terminal_options){.color = true}, &out));
  assert_non_null(strstr(text_string(&out), "\033[31mREJECT\033[0m"));
  text_free(&out);
  gate_result_free(result);
}

/* A tolerance that a rung loosens is never silent. */
static void a_looser_tolerance_is_told(void **state) {
  (void)state;
  struct gate_result *result = policy_verify(example);
  struct text out = {0};
  const struct terminal_options plain = {0};
  ASSERT_OK(report_terminal(result, &plain, &out));
  assert_null(strstr(text_string(&out), "looser"));
  text_clear(&out);
  result->rungs[0].components[0].tolerance_reason = "eight bits";
  ASSERT_OK(report_terminal(result, &plain, &out));
  assert_non_null(strstr(text_string(&out), "than the contract: eight bits\n"));
  text_free(&out);
  gate_result_free(result);
}

static char *content(const char *folder, const char *name) {
  char *bytes;
  size_t size;
  ASSERT_OK(file_read(temp_path(folder, name), 1 << 24, &bytes, &size));
  return bytes;
}

static void reports_replace_reports_and_nothing_else(void **state) {
  (void)state;
  char *folder = temp_folder();
  struct gate_result *result = policy_verify(example);
  ASSERT_OK(report_write(result, temp_path(folder, "report")));
  ASSERT_OK(report_write(result, temp_path(folder, "report")));
  char *junit = content(folder, "report/junit.xml");
  assert_non_null(strstr(junit, "<testsuites"));
  memory_free(junit);
  temp_write(folder, "mine/thesis.txt", "years of work");
  ASSERT_FAILS(report_write(result, temp_path(folder, "mine")), ASSAY_FILE_UNWRITABLE, "");
  char *thesis = content(folder, "mine/thesis.txt");
  assert_string_equal(thesis, "years of work");
  memory_free(thesis);
  gate_result_free(result);
  temp_free(folder);
}

/* A file system that takes no more than 2000 bytes a file, as a full disk does. */
static void a_full_disk_leaves_the_old_report_whole(void **state) {
  (void)state;
  char *folder = temp_folder();
  struct gate_result *result = policy_verify(example);
  ASSERT_OK(report_write(result, temp_path(folder, "report")));
  char *before = content(folder, "report/verdict.json");
  pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){2000, 2000});
    assay_status status = report_write(result, temp_path(folder, "report"));
    _exit(status.code == ASSAY_FILE_UNWRITABLE ? 0 : 1);
  }
  int ended;
  assert_int_equal(waitpid(child, &ended, 0), child);
  assert_true(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
  char *after = content(folder, "report/verdict.json");
  assert_string_equal(before, after);
  memory_free(before);
  memory_free(after);
  struct arena arena = {0};
  char **names;
  size_t count;
  ASSERT_OK(folder_list(folder, &arena, &names, &count));
  assert_int_equal(count, 1); /* nothing is left beside it */
  arena_free(&arena);
  gate_result_free(result);
  temp_free(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_are_printed_by_their_type),
      cmocka_unit_test(strings_are_valid_whatever_comes_in),
      cmocka_unit_test(a_report_is_json_and_the_same_bytes_again),
      cmocka_unit_test(junit_is_escaped),
      cmocka_unit_test(the_table_is_narrow_and_plain),
      cmocka_unit_test(a_looser_tolerance_is_told),
      cmocka_unit_test(reports_replace_reports_and_nothing_else),
      cmocka_unit_test(a_full_disk_leaves_the_old_report_whole),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
