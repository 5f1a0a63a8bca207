/* Any program as a rung: a shell script that answers, and every way in which a program can go wrong. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rung/rung.h"
#include "scratch_folder.h"
#include "support.h"

/* The script of the documentation: it gives back its first input as `y`. */
static const char echo[] =
    "#!/bin/sh\n"
    "set -e\n"
    "grep -q '\"case\": \"a\"' \"$1/call.json\"\n"
    "cp \"$1/input_0.npy\" \"$2/y.npy\"\n"
    "echo '{\"outputs\": [{\"name\": \"y\", \"file\": \"y.npy\"}],"
    " \"ran\": {\"version\": \"7\", \"precision\": \"int8\", \"device\": \"board\", \"threads\": 2}}' "
    ">\"$2/answer.json\"\n";

static const char *write_script(const char *folder, const char *text) {
  static char path[2048];
  snprintf(path, sizeof path, "%s", in_folder(folder, "run.sh"));
  write_file(path, text, strlen(text));
  assert_int_equal(chmod(path, 0755), 0);
  return path;
}

static struct rung_request request_for(const char *const *command, int32_t n) {
  return (struct rung_request){.name = "p", .engine = "process", .command = command, .n_command = n, .time_limit_s = 5};
}

static assay_status run_case(struct rung *rung, struct rung_answer *answer) {
  static float x[] = {1, 2, 3};
  struct rung_tensor input = {"x", {ASSAY_FLOAT32, 2, {1, 3}, x, sizeof x}};
  struct rung_call call = {.case_id = "a", .inputs = &input, .n_inputs = 1};
  return rung_run(rung, &call, answer);
}

static void a_script_answers(void **state) {
  (void)state;
  const char *const command[] = {write_script(scratch_folder("process"), echo)};
  struct rung_request request = request_for(command, 1);
  struct rung *rung;
  struct rung_answer answer;
  struct rung_actual actual;
  ASSERT_OK(rung_open(&request, &rung));
  for (int i = 0; i < 2; i++) {
    ASSERT_OK(run_case(rung, &answer));
    assert_int_equal(answer.n_outputs, 1);
    assert_string_equal(answer.outputs[0].name, "y");
    assert_int_equal(answer.outputs[0].tensor.rank, 2);
    assert_true(((const float *)answer.outputs[0].tensor.data)[2] == 3);
  }
  rung_describe(rung, &actual);
  assert_string_equal(actual.engine, "process");
  assert_string_equal(actual.device, "board");
  assert_int_equal(actual.threads, 2);
  ASSERT_FAILS(rung_check_actual(&request, &actual), ASSAY_RUNG_INVALID, "asked for precision fp32, but int8 ran");
  request.precision = "int8";
  ASSERT_OK(rung_check_actual(&request, &actual));
  rung_close(rung);
}

/* A program that computes some cases in another precision is not taken for either. */
static void what_ran_may_not_change(void **state) {
  (void)state;
  const char *folder = scratch_folder("process_varies");
  char script[8192];
  snprintf(
      script, sizeof script,
      "#!/bin/sh\nset -e\ncp \"$1/input_0.npy\" \"$2/y.npy\"\nread was <%s/count || was=\nprintf 'x%%s\\n' \"$was\" "
      ">%s/count\n"
      "p=fp32; if [ -n \"$was\" ]; then p=bf16; fi\n"
      "echo '{\"outputs\": [{\"name\": \"y\", \"file\": \"y.npy\"}], \"ran\": {\"precision\": \"'$p'\"}}' "
      ">\"$2/answer.json\"\n",
      folder, folder);
  write_file(in_folder(folder, "count"), "\n", 1);
  const char *const command[] = {write_script(folder, script)};
  struct rung_request request = request_for(command, 1);
  struct rung *rung;
  struct rung_answer answer;
  ASSERT_OK(rung_open(&request, &rung));
  ASSERT_OK(run_case(rung, &answer));
  ASSERT_FAILS(run_case(rung, &answer), ASSAY_RUNG_INVALID, "precision fp32, then bf16");
  rung_close(rung);
}

/* Nor may its words write lines of their own into a report. */
static void its_words_are_shown_on_one_line(void **state) {
  (void)state;
  struct arena arena = {0};
  char words[1000];
  memset(words, 'v', sizeof words - 1);
  words[sizeof words - 1] = '\0';
  assert_string_equal(rung_word(&arena, "1\nPASS\x1b[8m"), "1\\nPASS\\x1b[8m");
  assert_int_equal(strlen(rung_word(&arena, words)), 200);
  arena_free(&arena);
}

/* In a fresh process too; and the folder that was handed over is gone afterwards. */
static void nothing_stays_behind(void **state) {
  (void)state;
  const char *folder = scratch_folder("process_tidy");
  char script[4096], kept[2100], handed[4096] = "";
  snprintf(kept, sizeof kept, "%s", in_folder(folder, "kept"));
  snprintf(script, sizeof script, "#!/bin/sh\necho \"$1\" >%s\n%s", kept, echo + strlen("#!/bin/sh\n"));
  const char *const command[] = {write_script(folder, script)};
  struct rung_request request = request_for(command, 1);
  struct rung *rung;
  struct rung_answer answer;
  ASSERT_OK(rung_open_isolated(&request, &rung));
  ASSERT_OK(run_case(rung, &answer));
  rung_close(rung);
  FILE *file = fopen(kept, "r");
  assert_non_null(file);
  assert_non_null(fgets(handed, sizeof handed, file));
  fclose(file);
  handed[strcspn(handed, "\n")] = '\0';
  assert_int_equal(strncmp(handed, "/tmp/assay-process-", 19), 0);
  assert_int_not_equal(access(handed, F_OK), 0);
}

static void a_program_that_goes_wrong_is_said(void **state) {
  (void)state;
  static const struct {
    const char *script, *says;
    assay_code code;
  } bad[] = {
      {"echo cannot reach the board >&2; exit 3", "exit code 3; its last words: cannot reach the board",
       ASSAY_RUNG_FAILED},
      {"kill -SEGV $$", "signal 11", ASSAY_RUNG_CRASHED},
      {"true", "wrote no answer.json", ASSAY_RUNG_FAILED},
      {"echo '{' >$2/answer.json", "is not what JSON allows", ASSAY_RUNG_FAILED},
      {"echo '[]' >$2/answer.json", "is not what JSON allows", ASSAY_RUNG_FAILED},
      {"echo '{}' >$2/answer.json", "needs a list 'outputs'", ASSAY_RUNG_FAILED},
      {"echo '{\"outputs\": [{\"name\": \"y\"}]}' >$2/answer.json", "lacks 'name' or 'file'", ASSAY_RUNG_FAILED},
      {"echo '{\"outputs\": [{\"name\": \"y\", \"file\": \"../in/input_0.npy\"}]}' >$2/answer.json", "..",
       ASSAY_RUNG_FAILED},
      {"echo '{\"outputs\": [{\"name\": \"y\", \"file\": \"/etc/passwd\"}]}' >$2/answer.json", "", ASSAY_RUNG_FAILED},
      {"ln -s /etc/passwd $2/y.npy; echo '{\"outputs\": [{\"name\": \"y\", \"file\": \"y.npy\"}]}' >$2/answer.json", "",
       ASSAY_RUNG_FAILED},
      {"cp $1/input_0.npy $2/y; echo '{\"outputs\": [{\"name\": \"y\", \"file\": \"y\", \"dtype\": \"float64\"}]}' "
       ">$2/answer.json",
       "says 'float64'", ASSAY_RUNG_FAILED},
      {"echo '{\"outputs\": [], \"ran\": {\"threads\": -1}}' >$2/answer.json", "'threads'", ASSAY_RUNG_FAILED},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    char script[1024];
    snprintf(script, sizeof script, "#!/bin/sh\n%s\n", bad[i].script);
    const char *const command[] = {write_script(scratch_folder("process_bad"), script)};
    struct rung_request request = request_for(command, 1);
    struct rung *rung;
    struct rung_answer answer;
    ASSERT_OK(rung_open(&request, &rung));
    ASSERT_FAILS(run_case(rung, &answer), bad[i].code, bad[i].says);
    rung_close(rung);
  }
}

/* With everything that it started: the sleep would hold the test's output open. */
static void one_that_hangs_is_stopped(void **state) {
  (void)state;
  const char *const command[] = {write_script(scratch_folder("process_hang"), "#!/bin/sh\nsleep 1000 & sleep 1000\n")};
  struct rung_request request = request_for(command, 1);
  struct rung *rung;
  struct rung_answer answer;
  request.time_limit_s = 0.2;
  ASSERT_OK(rung_open(&request, &rung));
  ASSERT_FAILS(run_case(rung, &answer), ASSAY_RUNG_TIMEOUT, "within 0.2 s");
  rung_close(rung);
}

static void a_program_must_be_there(void **state) {
  (void)state;
  const char *const nowhere[] = {"/nowhere/run.sh"};
  struct rung_request request = request_for(nowhere, 1);
  struct rung *rung;
  ASSERT_FAILS(rung_open(&request, &rung), ASSAY_RUNTIME_MISSING, "no program");
  request = request_for(NULL, 0);
  ASSERT_FAILS(rung_open(&request, &rung), ASSAY_RUNG_SETTING, "command");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_script_answers),
      cmocka_unit_test(what_ran_may_not_change),
      cmocka_unit_test(its_words_are_shown_on_one_line),
      cmocka_unit_test(nothing_stays_behind),
      cmocka_unit_test(a_program_that_goes_wrong_is_said),
      cmocka_unit_test(one_that_hangs_is_stopped),
      cmocka_unit_test(a_program_must_be_there),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
