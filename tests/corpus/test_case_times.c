/* Times, monitors and the guard's answer of a case: what is written reads back, what is wrong is refused where it
 * stands, and all of it is part of the corpus' version. */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "corpus/case_times.h"
#include "corpus_builder.h"
#include "support.h"

static const char digest[] = "sha256:0000000000000000000000000000000000000000000000000000000000000000";

/* A corpus whose one case has these further keys, each on a line from line 9 on. */
static assay_status parse(const char *more, struct corpus **out) {
  char *folder = temp_folder();
  char text[2048];
  snprintf(text, sizeof text,
           "assay: 1\nrole: golden\npolicy: p\ncases:\n  - id: a\n    file: a.npz\n    digest: \"%s\"\n    expect: "
           "answer\n%s",
           digest, more);
  temp_write(folder, "a.npz", "x");
  temp_write(folder, "corpus.yaml", text);
  assay_status status = corpus_open(folder, out);
  temp_free(folder);
  return status;
}

static void what_is_stated_is_read(void **state) {
  (void)state;
  struct corpus *corpus;
  ASSERT_OK(
      parse("    sequence: true\n    times_ms: {qpos: [1003, 1023.5], front: 1000}\n    now_ms: [1010, 1030]\n"
            "    ages_ms: {wrist: 4}\n    result_age_ms: 12\n"
            "    monitors: {bumper: [{answer: clear, age_ms: 5}, missing], laser: {answer: tripped, age_ms: 0}}\n"
            "    guard: {1: MONITOR_MISSING}\n",
            &corpus));
  const struct corpus_case *entry = &corpus->cases[0];
  assert_true(case_time_at(entry, "front", 1) == 1000);
  assert_true(case_time_at(entry, "qpos", 1) == 1023.5);
  assert_true(case_age_at(entry, "qpos", 0) == 7);
  assert_true(case_age_at(entry, "front", 1) == 30);
  assert_true(case_age_at(entry, "wrist", 1) == 4);
  assert_true(isnan(case_age_at(entry, "other", 0)));
  assert_true(case_series_at(&entry->result_age_ms, 1) == 12);
  struct monitor_reading readings[2];
  case_monitors_at(entry, 1, readings);
  assert_string_equal(readings[0].name, "bumper");
  assert_int_equal(readings[0].answer, MONITOR_SILENT);
  assert_int_equal(readings[1].answer, MONITOR_TRIPPED);
  assert_int_equal(entry->n_guard, 1);
  assert_int_equal(entry->guard[0].step, 1);
  assert_int_equal(entry->guard[0].answer, ASSAY_MONITOR_MISSING);
  corpus_close(corpus);
  ASSERT_OK(parse("    monitors: {}\n", &corpus)); /* all were asked, none answered */
  assert_true(corpus->cases[0].has_monitors);
  corpus_close(corpus);
}

static void what_is_wrong_is_refused_where_it_stands(void **state) {
  (void)state;
  static const struct {
    const char *more, *place, *sentence;
  } faults[] = {
      {"    times_ms: {x: 1}\n", "9:15", "needs now_ms"},
      {"    now_ms: [1, 2]\n", "9:13", "the case is no sequence"},
      {"    now_ms: soon\n", "9:13", "number"},
      {"    now_ms: .nan\n", "9:13", "finite"},
      {"    sequence: true\n    now_ms: []\n", "10:13", "an empty list"},
      {"    now_ms: 5\n    times_ms: [1]\n", "10:15", "a mapping of inputs"},
      {"    now_ms: 5\n    ages_ms: {x: 1}\n    times_ms: {x: 1}\n", "11:16", "say it once"},
      {"    monitors: [m]\n", "9:15", "a mapping such as"},
      {"    monitors: {m: clear}\n", "9:19", "monitor 'm' is 'clear'; it must be"},
      {"    monitors: {m: {answer: clear}}\n", "9:19", "needs the key 'age_ms'"},
      {"    monitors: {m: {answer: fine, age_ms: 1}}\n", "9:28", "clear or tripped"},
      {"    monitors: {m: {answer: clear, age: 1}}\n", "9:35", "no key 'age'"},
      {"    monitors: {m: [missing, missing]}\n", "9:19", "no sequence"},
      {"    guard: ok\n", "9:12", "accept, or a refusal"},
      {"    guard: INPUT_NAN\n", "9:12", "accept, or a refusal"},
      {"    guard: [accept]\n", "9:12", "a list of 1 answers, one for each step, but the case is no sequence"},
      {"    sequence: true\n    guard: {}\n", "10:12", "empty"},
      {"    sequence: true\n    guard: {-1: accept}\n", "10:13", "from 0"},
      {"    sequence: true\n    guard: {first: accept}\n", "10:13", "from 0"},
      {"    sequence: true\n    guard: [accept, maybe]\n", "10:21", "'maybe'"},
  };
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    struct corpus *corpus;
    assay_status status = parse(faults[i].more, &corpus);
    bool right = status.code == ASSAY_CORPUS_INVALID && strstr(assay_status_where(status), faults[i].place) != NULL &&
                 strstr(assay_status_sentence(status), faults[i].sentence) != NULL;
    if (!right) {
      print_error("fault %zu: expected %s with \"%s\", got %s: %s: %s\n", i, faults[i].place, faults[i].sentence,
                  assay_code_name(status.code), assay_status_where(status), assay_status_sentence(status));
    }
    assay_status_clear(&status);
    assert_true(right);
  }
}

/* Another time, reading or answer is another corpus. */
static void the_version_covers_them(void **state) {
  (void)state;
  static const char *const others[] = {
      "",
      "    now_ms: 5\n",
      "    now_ms: 6\n",
      "    result_age_ms: 5\n",
      "    now_ms: 5\n    times_ms: {x: 1}\n",
      "    now_ms: 5\n    times_ms: {x: 2}\n",
      "    now_ms: 5\n    times_ms: {y: 1}\n",
      "    monitors: {}\n",
      "    monitors: {m: missing}\n",
      "    monitors: {m: {answer: clear, age_ms: 1}}\n",
      "    monitors: {m: {answer: tripped, age_ms: 1}}\n",
      "    monitors: {m: {answer: clear, age_ms: 2}}\n",
      "    guard: accept\n",
      "    guard: ACTION_LIMIT\n",
  };
  enum { COUNT = sizeof others / sizeof *others };
  char digests[COUNT][HASH_TEXT_SIZE];
  for (size_t i = 0; i < COUNT; i++) {
    struct corpus *corpus;
    ASSERT_OK(parse(others[i], &corpus));
    memcpy(digests[i], corpus->digest, sizeof digests[i]);
    corpus_close(corpus);
    for (size_t j = 0; j < i; j++) {
      assert_string_not_equal(digests[i], digests[j]);
    }
  }
  struct corpus *again;
  ASSERT_OK(parse("    times_ms: {x: 1.0e0}\n    now_ms: 5.0\n", &again));
  assert_string_equal(again->digest, digests[4]);
  corpus_close(again);
}

/* What is written as a list of one is no value for all steps. */
static void a_list_of_one_stays_a_list(void **state) {
  (void)state;
  struct corpus *corpus;
  struct text text = {0};
  ASSERT_OK(
      parse("    sequence: true\n    now_ms: [5]\n    result_age_ms: 3\n    monitors: {a: [missing], b: missing}\n",
            &corpus));
  const struct corpus_case *entry = &corpus->cases[0];
  ASSERT_OK(case_times_check(entry, 1, "a.npz"));
  ASSERT_FAILS(case_times_check(entry, 4, "a.npz"), ASSAY_CORPUS_INVALID, "1 value in a list in now_ms, but 4 steps");
  case_times_write(&text, entry);
  assert_non_null(strstr(text_string(&text), "now_ms: [5]"));
  assert_non_null(strstr(text_string(&text), "result_age_ms: 3"));
  assert_non_null(strstr(text_string(&text), "a: [missing], b: missing"));
  text_free(&text);
  corpus_close(corpus);
}

static void lists_have_a_value_for_each_step(void **state) {
  (void)state;
  static const double three[] = {1, 2, 3};
  static const struct case_guard guards[] = {{0, ASSAY_OK}, {1, ASSAY_OK}, {2, ASSAY_OK}};
  static const struct case_time times = {.input = "x", .ms = {.n = 3, .values = three}};
  static const struct monitor_reading reading = {"m", MONITOR_SILENT, 0};
  static const struct case_monitor monitor = {.name = "m", .n = 1, .readings = &reading, .each = true};
  const struct corpus_case bad[] = {
      {.id = "n", .sequence = true, .now_ms = {.n = 3, .values = three}},
      {.id = "r", .sequence = true, .result_age_ms = {.n = 3, .values = three}},
      {.id = "t", .sequence = true, .now_ms = {.n = 1, .values = three}, .n_times = 1, .times = &times},
      {.id = "l", .sequence = true, .now_ms = {.n = 1, .values = three, .each = true}},
      {.id = "m", .sequence = true, .n_monitors = 1, .monitors = &monitor},
      {.id = "g", .sequence = true, .n_guard = 3, .guard = guards, .guard_each = true},
      {.id = "h", .sequence = true, .n_guard = 1, .guard = &guards[2]},
      {.id = "i", .sequence = true, .n_guard = 1, .guard = &guards[0], .guard_each = true},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    ASSERT_FAILS(case_times_check(&bad[i], 2, "a.npz"), ASSAY_CORPUS_INVALID, "2 steps");
  }
  ASSERT_OK(case_times_check(&bad[0], 3, "a.npz"));
  ASSERT_OK(case_times_check(&bad[3], 1, "a.npz")); /* one value for one step */
  ASSERT_OK(case_times_check(&bad[6], 3, "a.npz"));
  struct corpus_case flat = {.id = "flat", .now_ms = {.n = 3, .values = three}};
  ASSERT_FAILS(case_times_valid(&flat), ASSAY_USAGE, "no sequence");
  struct corpus_case timeless = {.id = "timeless", .sequence = true, .n_times = 1, .times = &times};
  ASSERT_FAILS(case_times_valid(&timeless), ASSAY_USAGE, "now_ms");
  static const struct case_guard none = {-1, ASSAY_INPUT_NAN};
  struct corpus_case guarded = {.id = "guarded", .n_guard = 1, .guard = &none};
  ASSERT_FAILS(case_times_valid(&guarded), ASSAY_USAGE, "INPUT_NAN");
}

/* Through the editor, which writes corpus.yaml, and back. */
static void what_is_written_reads_back_the_same(void **state) {
  (void)state;
  char *folder = temp_folder();
  struct corpus_builder *builder = build_corpus(folder, CORPUS_GOLDEN);
  static const double now[] = {1000.25, 1020}, front[] = {999.9, 1019};
  static const struct case_time times = {.input = "x: y", .ms = {.n = 2, .values = front}};
  static const struct monitor_reading readings[] = {{"#m", MONITOR_CLEAR, 0.1}, {"#m", MONITOR_SILENT, 0}};
  static const struct case_monitor monitor = {.name = "#m", .n = 2, .readings = readings};
  static const struct case_guard guard[] = {{0, ASSAY_OK}, {1, ASSAY_MONITOR_MISSING}};
  build_f32(builder, "inputs/x", "2,1", (const float[]){1, 2});
  build_f32(builder, "outputs/y", "2,1", (const float[]){1, 2});
  build_case(builder, &(struct corpus_case){.id = "a",
                                            .sequence = true,
                                            .now_ms = {.n = 2, .values = now},
                                            .result_age_ms = {.n = 1, .values = now},
                                            .n_times = 1,
                                            .times = &times,
                                            .has_monitors = true,
                                            .n_monitors = 1,
                                            .monitors = &monitor,
                                            .n_guard = 2,
                                            .guard = guard,
                                            .guard_each = true});
  build_done(builder);
  struct corpus *corpus;
  ASSERT_OK(corpus_open(folder, &corpus));
  const struct corpus_case *entry = &corpus->cases[0];
  assert_true(case_series_at(&entry->now_ms, 0) == 1000.25);
  assert_true(case_series_at(&entry->result_age_ms, 1) == 1000.25);
  assert_true(case_time_at(entry, "x: y", 0) == 999.9);
  struct monitor_reading got;
  case_monitors_at(entry, 0, &got);
  assert_true(got.answer == MONITOR_CLEAR && got.age_ms == 0.1);
  case_monitors_at(entry, 1, &got);
  assert_int_equal(got.answer, MONITOR_SILENT);
  assert_true(entry->guard_each && entry->n_guard == 2);
  assert_int_equal(entry->guard[1].answer, ASSAY_MONITOR_MISSING);
  corpus_close(corpus);
  temp_free(folder);
}

static assay_status open_whole(const char *folder) {
  struct corpus *corpus;
  assay_status status = corpus_open(folder, &corpus);
  if (assay_status_ok(status)) {
    corpus_close(corpus);
  }
  return status;
}

static void running_out_of_memory_is_an_error(void **state) {
  (void)state;
  char *folder = temp_folder(), text[1024];
  snprintf(text, sizeof text,
           "assay: 1\nrole: golden\ncases:\n  - {id: a, file: a.npz, digest: \"%s\", expect: answer, sequence: true,\n"
           "     times_ms: {x: [1, 2]}, now_ms: [3, 4], monitors: {m: [missing, {answer: clear, age_ms: 5}]},\n"
           "     guard: {1: ACTION_LIMIT}}\n",
           digest);
  temp_write(folder, "a.npz", "x");
  temp_write(folder, "corpus.yaml", text);
  int64_t failed = 0;
  for (int64_t n = 0, asked = 1; n < asked; n++) { /* words for a message that is not needed may be missing */
    memory_fail_at(n);
    assay_status status = open_whole(folder);
    asked = memory_fail_at(-1);
    assert_true(assay_status_ok(status) || status.code == ASSAY_OUT_OF_MEMORY);
    failed += status.code == ASSAY_OUT_OF_MEMORY;
    assay_status_clear(&status);
  }
  assert_true(failed > 20);
  temp_free(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_stated_is_read),
      cmocka_unit_test(what_is_wrong_is_refused_where_it_stands),
      cmocka_unit_test(the_version_covers_them),
      cmocka_unit_test(a_list_of_one_stays_a_list),
      cmocka_unit_test(lists_have_a_value_for_each_step),
      cmocka_unit_test(what_is_written_reads_back_the_same),
      cmocka_unit_test(running_out_of_memory_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
