/* The ledger: what was loosened or dropped since a REJECT is told for good; what was tampered with is noticed. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"
#include "core/memory.h"
#include "core/text.h"
#include "policy_builder.h"
#include "report/report.h"
#include "support.h"

static const float rows[3][3] = {{0.1F, 0.2F, 0.9F}, {0.3F, 0.4F, 0.1F}, {0.5F, 0.6F, 0.8F}};

/* A policy whose rung is off by 0.003 rad: rejected at 0.002, passed at 0.004. */
static char *drifting_policy(void) {
  char *folder = policy_folder();
  policy_golden(folder, rows, 3);
  policy_model(folder, "policy.onnx", (const float[]){1, 1, 1}, (const float[]){0.003F, 0, 0});
  return folder;
}

static struct gate_result *keep_run(const char *folder) {
  struct gate_result *result = NULL;
  ASSERT_OK(gate_run(&(struct gate_options){.folder = folder, .ledger = LEDGER_KEEP}, &result));
  return result;
}

static enum verdict run_once(const char *folder) {
  struct gate_result *result = keep_run(folder);
  enum verdict verdict = result->verdict;
  gate_result_free(result);
  return verdict;
}

/* contract.yaml or gate.yaml with the first `find` replaced. */
static void rewrite(const char *folder, const char *file, const char *base, const char *find, const char *put) {
  const char *at = strstr(base, find);
  struct text text = {0};
  assert_non_null(at);
  text_add_bytes(&text, base, (size_t)(at - base));
  text_add(&text, put);
  text_add(&text, at + strlen(find));
  temp_write(folder, file, text_string(&text));
  text_free(&text);
}

static bool says(const struct gate_result *result, const char *start, const char *part) {
  for (int32_t i = 0; i < result->ledger.n_changes; i++) {
    const char *sentence = result->ledger.changes[i].sentence;
    if (strncmp(sentence, start, strlen(start)) == 0 && strstr(sentence, part) != NULL) {
      return true;
    }
  }
  return false;
}

static void expect_says(const struct gate_result *result, int32_t count, const char *start, const char *part) {
  if (result->ledger.n_changes == count && (count == 0 || says(result, start, part))) {
    return;
  }
  print_error("expected %d changes, one of them \"%s...%s\"; got %d\n", (int)count, start, part,
              (int)result->ledger.n_changes);
  for (int32_t i = 0; i < result->ledger.n_changes; i++) {
    print_error("  %s\n", result->ledger.changes[i].sentence);
  }
  fail();
}

/* Runs, and expects so many changes, one of which begins and goes on like that. */
static void expect_run(const char *folder, enum verdict verdict, int32_t count, const char *start, const char *part) {
  struct gate_result *result = keep_run(folder);
  assert_int_equal(result->verdict, verdict);
  assert_true(result->ledger.kept);
  expect_says(result, count, start, part);
  gate_result_free(result);
}

static const char first_max[] = "shoulder, unit: rad, tolerance: {max: 0.002}";

static void a_loosened_tolerance_is_told_for_good(void **state) {
  (void)state;
  char *folder = drifting_policy();
  expect_run(folder, VERDICT_REJECT, 0, "", "");
  rewrite(folder, "contract.yaml", policy_contract, first_max, "shoulder, unit: rad, tolerance: {max: 0.004}");
  expect_run(folder, VERDICT_PASS, 1, "shoulder 0.002 to 0.004 since the REJECT of 20", "tolerance max; output action");
  expect_run(folder, VERDICT_PASS, 1, "shoulder 0.002 to 0.004 since the REJECT of 20", "");
  rewrite(folder, "contract.yaml", policy_contract, first_max, "shoulder, unit: rad, tolerance: {max: 0.0035}");
  expect_run(folder, VERDICT_PASS, 1, "shoulder 0.002 to 0.004 since", "; now 0.0035 rad");
  temp_write(folder, "contract.yaml", policy_contract);
  expect_run(folder, VERDICT_REJECT, 1, "shoulder 0.002 to 0.004 since", "; tightened again: 0.002 rad");
  temp_free(folder);
}

/* The gate file is the same: its contract under another name is still held against the one that was rejected. */
static void a_contract_of_another_name_is_compared(void **state) {
  (void)state;
  char *folder = drifting_policy(), *gate = NULL, *path = NULL;
  size_t size = 0;
  assert_int_equal(run_once(folder), VERDICT_REJECT);
  struct arena arena = {0};
  path = path_join(&arena, folder, "gate.yaml");
  ASSERT_OK(file_read(path, 1 << 20, &gate, &size));
  rewrite(folder, "contract2.yaml", policy_contract, first_max, "shoulder, unit: rad, tolerance: {max: 0.2}");
  rewrite(folder, "gate.yaml", gate, "contract.yaml", "contract2.yaml");
  expect_run(folder, VERDICT_PASS, 1, "shoulder 0.002 to 0.2 since the REJECT of 20", "tolerance max");
  temp_write(folder, "gate.yaml", gate);
  expect_run(folder, VERDICT_REJECT, 1, "shoulder 0.002 to 0.2 since", "; tightened again: 0.002 rad");
  memory_free(gate);
  arena_free(&arena);
  temp_free(folder);
}

static bool notes_hold(const struct gate_result *result, const char *part) {
  bool found = false;
  for (int32_t i = 0; i < result->n_notes && !found; i++) {
    found = strstr(result->notes[i], part) != NULL;
  }
  return found;
}

static void expect_notes(const char *folder, bool first, bool two) {
  struct gate_result *result = keep_run(folder);
  assert_int_equal(notes_hold(result, "the first run in a new ledger"), first);
  assert_int_equal(notes_hold(result, "has entries too"), two);
  gate_result_free(result);
}

/* A ledger that was left for another, or taken away, is not left without a word. */
static void a_ledger_that_begins_says_so(void **state) {
  (void)state;
  char *folder = drifting_policy(), *gate = NULL;
  size_t size = 0;
  struct arena arena = {0};
  expect_notes(folder, true, false);
  expect_notes(folder, false, false);
  ASSERT_OK(file_read(path_join(&arena, folder, "gate.yaml"), 1 << 20, &gate, &size));
  rewrite(folder, "gate.yaml", gate, "contract:", "ledger: ./ledger\ncontract:");
  expect_notes(folder, false, false);
  rewrite(folder, "gate.yaml", gate, "contract:", "ledger: ledger2\ncontract:");
  expect_notes(folder, true, true);
  expect_notes(folder, false, true);
  memory_free(gate);
  arena_free(&arena);
  temp_free(folder);
}

/* Before any REJECT a tolerance may be found; nothing is told of that. */
static void what_was_never_rejected_may_change(void **state) {
  (void)state;
  char *folder = policy_folder();
  policy_golden(folder, rows, 3);
  expect_run(folder, VERDICT_PASS, 0, "", "");
  rewrite(folder, "contract.yaml", policy_contract, first_max, "shoulder, unit: rad, tolerance: {max: 0.1}");
  expect_run(folder, VERDICT_PASS, 0, "", "");
  temp_free(folder);
}

/* What is stricter, added, or only written otherwise is not listed. */
static void what_asks_no_less_is_not_listed(void **state) {
  (void)state;
  char *folder = drifting_policy();
  assert_int_equal(run_once(folder), VERDICT_REJECT);
  rewrite(folder, "contract.yaml", policy_contract, first_max,
          "shoulder, unit: rad, tolerance: {max: 1.0e-3, mean: 0.001, sign_flips: 0}, limits: {max: 3}");
  expect_run(folder, VERDICT_REJECT, 0, "", "");
  temp_free(folder);
}

struct loosening {
  const char *find, *put, *start, *part;
};

static void every_kind_of_loosening_is_told(void **state) {
  (void)state;
  static const char contract[] =
      "assay: 1\n"
      "policy: toy\n"
      "model: policy.onnx\n"
      "inputs:\n"
      "  - {name: obs, dtype: float32, shape: [1, 3], legal: [-100, 100], max_age_ms: 50}\n"
      "outputs:\n"
      "  - name: action\n"
      "    dtype: float32\n"
      "    shape: [1, 3]\n"
      "    axes: [batch, component]\n"
      "    components:\n"
      "      - {name: shoulder, unit: rad, tolerance: {max: 0.002, p99: 0.002, mean: 0.002, rms: 0.002},\n"
      "         limits: {min: -10, max: 10}}\n"
      "      - {name: wrist, unit: rad, tolerance: {max: 0.002}}\n"
      "      - {name: gripper, unit: score, decision: {threshold: 0.5, at_or_above: close, below: open}}\n";
  static const struct loosening rows_of_contract[] = {
      {"max: 0.002, p99", "max: 0.004, p99", "shoulder 0.002 to 0.004 since", ""},
      {"p99: 0.002", "p99: 0.003", "shoulder tolerance p99 0.002 rad to 0.003 rad since", "output action"},
      {"mean: 0.002", "mean: 0.003", "shoulder tolerance mean 0.002 rad to 0.003 rad since", ""},
      {", rms: 0.002", "", "shoulder tolerance rms 0.002 rad taken out since", ""},
      {"mean: 0.002", "mean: 0.002, sign_flips: 2", "shoulder tolerance sign_flips 0 to 2 since", ""},
      {"mean: 0.002", "mean: 0.002, saturation: 2", "shoulder tolerance saturation 0 to 2 since", ""},
      {"mean: 0.002", "mean: 0.002, space: raw", "shoulder tolerance space physical to raw since", ""},
      {"threshold: 0.5", "threshold: 0.4", "gripper decision threshold 0.5 score to 0.4 score since", ""},
      {"at_or_above: close, below: open", "above: close, at_or_below: open", "gripper decision sides", "since"},
      {"min: -10, max: 10", "min: -10, max: 20", "shoulder limit max 10 rad to 20 rad since", ""},
      {"min: -10, max: 10", "max: 10", "shoulder limit min -10 rad taken out since", ""},
      {"legal: [-100, 100]", "legal: [-100, 200]", "input obs legal max 100 to 200 since", ""},
      {", max_age_ms: 50", "", "input obs max age 50 ms taken out since", ""},
      {"name: gripper, unit: score", "name: gripper, allow_inf: true, unit: score", "gripper allow_inf no to yes since",
       ""},
      {"name: wrist, unit: rad", "name: wrist, unit: turn", "wrist unit rad to turn since", ""},
      {"name: wrist, unit: rad", "name: wrist, decode: [{scale: 0.5}], unit: rad", "wrist decode", ""},
  };
  for (size_t i = 0; i < sizeof rows_of_contract / sizeof rows_of_contract[0]; i++) {
    const struct loosening *row = &rows_of_contract[i];
    char *folder = drifting_policy();
    temp_write(folder, "contract.yaml", contract);
    assert_int_equal(run_once(folder), VERDICT_REJECT);
    rewrite(folder, "contract.yaml", contract, row->find, row->put);
    struct gate_result *result = keep_run(folder);
    bool added = strncmp(row->start, "wrist decode", 12) == 0; /* it had none: added, so nothing was loosened */
    expect_says(result, added ? 0 : 1, row->start, row->part);
    gate_result_free(result);
    temp_free(folder);
  }
}

static void what_the_gate_asks_for_is_watched(void **state) {
  (void)state;
  static const char gate[] =
      "assay: 1\n"
      "contract: contract.yaml\n"
      "corpus: golden\n"
      "reference: {rung: recorded}\n"
      "noise: {repeats: 3, rebuild: 2, threads: [1, 2]}\n"
      "rungs:\n"
      "  - {name: fp32, engine: assay, tolerance: {shoulder: {max: 0.001}}}\n"
      "  - {name: other, engine: assay, device: cpu}\n";
  static const struct loosening changes[] = {
      {"engine: assay, device: cpu", "engine: assay, device: cpu, required: false",
       "rung other required yes to no since", ""},
      {"  - {name: other, engine: assay, device: cpu}\n", "", "rung other dropped since the REJECT of 20", ""},
      {", device: cpu", "", "rung other setting device cpu taken out since", ""},
      {"{shoulder: {max: 0.001}}", "{shoulder: {max: 0.01, reason: the arm is slow}}",
       "rung fp32: shoulder 0.001 to 0.01 since", "reason: the arm is slow"},
      {", tolerance: {shoulder: {max: 0.001}}", "", "rung fp32: shoulder 0.001 to 0.002 since", ""},
      {"repeats: 3", "repeats: 1", "noise repeats 3 to 1 since", ""},
      {"rebuild: 2, ", "rebuild: 0, ", "noise rebuild 2 to 0 since", ""},
      {", threads: [1, 2]", "", "noise thread counts 2 to 0 since", ""},
      {"{rung: recorded}", "{rung: other}", "gate reference recorded to other since", ""},
  };
  for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
    char *folder = drifting_policy();
    temp_write(folder, "gate.yaml", gate);
    assert_int_equal(run_once(folder), VERDICT_REJECT);
    rewrite(folder, "gate.yaml", gate, changes[i].find, changes[i].put);
    struct gate_result *result = keep_run(folder);
    expect_says(result, 1, changes[i].start, changes[i].part);
    gate_result_free(result);
    temp_free(folder);
  }
}

/* Both are told, and told again when the cases are back. */
static void dropped_and_changed_cases_are_told(void **state) {
  (void)state;
  static const float other[3][3] = {{0.1F, 0.2F, 0.9F}, {0.31F, 0.4F, 0.1F}, {0.5F, 0.6F, 0.8F}};
  char *folder = drifting_policy();
  assert_int_equal(run_once(folder), VERDICT_REJECT);
  ASSERT_OK(folder_remove(temp_path(folder, "golden")));
  policy_golden(folder, other, 2);
  struct gate_result *result = keep_run(folder);
  expect_says(result, 2, "case c2 dropped since the REJECT of 20", "");
  expect_says(result, 2, "case c1 has other bytes since", "");
  gate_result_free(result);
  ASSERT_OK(folder_remove(temp_path(folder, "golden")));
  policy_golden(folder, rows, 3);
  result = keep_run(folder);
  expect_says(result, 2, "case c2 dropped since the REJECT of 20", "; it is back");
  expect_says(result, 2, "case c1 has other bytes since", "as it was again");
  gate_result_free(result);
  temp_free(folder);
}

static void a_dropped_component_is_one_line(void **state) {
  (void)state;
  char *folder = drifting_policy();
  assert_int_equal(run_once(folder), VERDICT_REJECT);
  rewrite(folder, "contract.yaml", policy_contract, "name: wrist", "name: hand");
  struct gate_result *result = keep_run(folder);
  expect_says(result, 1, "wrist dropped since the REJECT of 20", "output action");
  gate_result_free(result);
  temp_free(folder);
}

/* A rung that is not required is rejected while the gate passes: what is loosened then is told, and of which rung. */
static void the_reject_of_an_optional_rung_counts(void **state) {
  (void)state;
  static const char gate[] =
      "assay: 1\n"
      "contract: contract.yaml\n"
      "corpus: golden\n"
      "rungs:\n"
      "  - {name: fp32, engine: assay}\n"
      "  - {name: loose, engine: assay, model: off.onnx, required: false}\n";
  char *folder = policy_folder();
  policy_golden(folder, rows, 3);
  policy_model(folder, "off.onnx", (const float[]){1, 1, 1}, (const float[]){0.003F, 0, 0});
  temp_write(folder, "gate.yaml", gate);
  assert_int_equal(run_once(folder), VERDICT_PASS);
  rewrite(folder, "contract.yaml", policy_contract, first_max, "shoulder, unit: rad, tolerance: {max: 0.004}");
  expect_run(folder, VERDICT_PASS, 1, "shoulder 0.002 to 0.004 since", "of rung loose, which was not required");
  temp_free(folder);
}

static void another_gate_file_is_told(void **state) {
  (void)state;
  char *folder = drifting_policy();
  assert_int_equal(run_once(folder), VERDICT_REJECT);
  rewrite(folder, "easy.yaml", policy_gate, "engine: assay}",
          "engine: assay, tolerance: {shoulder: {max: 1, reason: none}}}");
  struct gate_result *result = NULL;
  char easy[2048];
  snprintf(easy, sizeof easy, "%s", temp_path(folder, "easy.yaml"));
  ASSERT_OK(gate_run(&(struct gate_options){.folder = folder, .gate_path = easy, .ledger = LEDGER_KEEP}, &result));
  assert_int_equal(result->verdict, VERDICT_PASS);
  expect_says(result, 2, "gate file easy.yaml used since the REJECT of 20", "which was of gate.yaml");
  expect_says(result, 2, "rung fp32: shoulder 0.002 to 1 since the REJECT of 20", "reason: none");
  gate_result_free(result);
  temp_free(folder);
}

/* --- the file -------------------------------------------------------------------------- */

static char *slurp(const char *path, size_t *size) {
  char *text = NULL;
  ASSERT_OK(file_read(path, 64 << 20, &text, size));
  return text;
}

static void write_bytes(const char *path, const char *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  fclose(file);
}

static void expect_broken(const char *folder, const char *part) {
  struct gate_result *result = keep_run(folder);
  assert_int_equal(result->verdict, VERDICT_BLOCKED);
  assert_int_equal(gate_reasons(result, ASSAY_LEDGER_BROKEN), 1);
  assert_true(result->ledger.broken && !result->ledger.kept);
  if (strstr(result->ledger.why, part) == NULL) {
    print_error("expected \"%s\" in: %s\n", part, result->ledger.why);
    fail();
  }
  gate_result_free(result);
}

/* A good policy with two runs in its ledger: four lines. */
static char *policy_with_ledger(void) {
  char *folder = policy_folder();
  policy_golden(folder, rows, 3);
  assert_int_equal(run_once(folder), VERDICT_PASS);
  assert_int_equal(run_once(folder), VERDICT_PASS);
  return folder;
}

static void every_changed_byte_is_noticed(void **state) {
  (void)state;
  char *folder = policy_with_ledger();
  char runs[2048];
  snprintf(runs, sizeof runs, "%s", temp_path(folder, "ledger/runs.jsonl"));
  size_t size;
  char *text = slurp(runs, &size);
  for (size_t i = 0; i < size; i += 1 + i % 7) {
    struct arena arena = {0};
    struct ledger_lines lines;
    char kept = text[i];
    text[i] = (char)(kept ^ 1);
    assay_status status = ledger_parse(text, size, "runs.jsonl", &arena, &lines);
    bool last_end = i == size - 1; /* then the last line has no end, and the head misses it */
    assert_int_equal(status.code, last_end ? ASSAY_OK : ASSAY_LEDGER_BROKEN);
    assay_status_clear(&status);
    arena_free(&arena);
    text[i] = kept;
  }
  text[size / 2] ^= 1;
  write_bytes(runs, text, size);
  expect_broken(folder, "was changed after it was written");
  memory_free(text);
  temp_free(folder);
}

static void cut_lines_are_noticed(void **state) {
  (void)state;
  char *folder = policy_with_ledger();
  char runs[2048], head[2048];
  snprintf(runs, sizeof runs, "%s", temp_path(folder, "ledger/runs.jsonl"));
  snprintf(head, sizeof head, "%s", temp_path(folder, "ledger/head"));
  size_t size, head_size;
  char *text = slurp(runs, &size), *head_text = slurp(head, &head_size);
  char *second = strchr(text, '\n') + 1, *third = strchr(second, '\n') + 1, *fourth = strchr(third, '\n') + 1;
  write_bytes(runs, text, (size_t)(fourth - text)); /* the last one */
  expect_broken(folder, "cut from the end");
  write_bytes(runs, second, size - (size_t)(second - text)); /* the first one */
  expect_broken(folder, "does not follow");
  write_bytes(runs, text, 0);
  expect_broken(folder, "cut from the end");
  assert_int_equal(unlink(runs), 0);
  expect_broken(folder, "cut from the end");
  write_bytes(runs, text, (size_t)(fourth - text) + 40); /* in the middle of a line */
  expect_broken(folder, "cut from the end");
  write_bytes(runs, text, size);
  assert_int_equal(unlink(head), 0);
  expect_broken(folder, "more lines than its head");
  write_bytes(head, "garbage", 7);
  expect_broken(folder, "no head");
  write_bytes(head, head_text, head_size);
  assert_int_equal(run_once(folder), VERDICT_PASS); /* whole again */
  memory_free(text);
  memory_free(head_text);
  temp_free(folder);
}

/* A run that was interrupted while it wrote leaves a piece of a line, which the next one takes away. */
static void an_unfinished_line_is_no_fault(void **state) {
  (void)state;
  char *folder = policy_with_ledger();
  char runs[2048];
  snprintf(runs, sizeof runs, "%s", temp_path(folder, "ledger/runs.jsonl"));
  FILE *file = fopen(runs, "ab");
  assert_non_null(file);
  fputs("{\"line\":5,\"before\":\"sha", file);
  fclose(file);
  struct gate_result *result = keep_run(folder);
  assert_int_equal(result->verdict, VERDICT_PASS);
  assert_int_equal(result->ledger.runs, 3);
  gate_result_free(result);
  temp_free(folder);
}

static void hostile_ledgers_are_refused(void **state) {
  (void)state;
  char *folder = policy_folder();
  policy_golden(folder, rows, 3);
  char runs[2048], ledger[2048], elsewhere[2048];
  snprintf(runs, sizeof runs, "%s", temp_path(folder, "ledger/runs.jsonl"));
  snprintf(ledger, sizeof ledger, "%s", temp_path(folder, "ledger"));
  snprintf(elsewhere, sizeof elsewhere, "%s", temp_path(folder, "elsewhere"));
  temp_write(folder, "ledger", "a file");
  expect_broken(folder, "something other than a folder");
  assert_int_equal(unlink(ledger), 0);
  ASSERT_OK(folder_make(elsewhere));
  assert_int_equal(symlink(elsewhere, ledger), 0);
  expect_broken(folder, "something other than a folder");
  assert_int_equal(unlink(ledger), 0);
  ASSERT_OK(folder_make(ledger));
  assert_int_equal(symlink(temp_path(folder, "contract.yaml"), runs), 0);
  expect_broken(folder, "something other than a plain file");
  assert_int_equal(unlink(runs), 0);
  assert_int_equal(mkfifo(runs, 0666), 0);
  expect_broken(folder, "something other than a plain file");
  assert_int_equal(unlink(runs), 0);
  write_bytes(runs, "\xff\xfe\n\n{}\n", 7);
  expect_broken(folder, "no line of a ledger");
  int fd = open(runs, O_RDWR | O_TRUNC);
  assert_true(fd >= 0 && ftruncate(fd, (off_t)LEDGER_BYTES_MAX + 1) == 0);
  close(fd);
  expect_broken(folder, "larger than");
  temp_free(folder);
}

/* Nothing is kept, and the report says so; the verdict is the same. */
static void without_a_ledger_the_report_says_so(void **state) {
  (void)state;
  char *folder = drifting_policy();
  rewrite(folder, "gate.yaml", policy_gate, "rungs:", "ledger: no/such/place\nrungs:");
  struct gate_result *result = keep_run(folder);
  assert_int_equal(result->verdict, VERDICT_REJECT);
  assert_false(result->ledger.kept);
  assert_int_equal(gate_reasons(result, ASSAY_LEDGER_ABSENT), 1);
  gate_result_free(result);
  temp_write(folder, "gate.yaml", policy_gate);
  ASSERT_OK(gate_run(
      &(struct gate_options){.folder = folder, .ledger = LEDGER_READ, .no_ledger = "--no-ledger was given"}, &result));
  assert_int_equal(result->verdict, VERDICT_REJECT);
  assert_string_equal(result->ledger.why, "--no-ledger was given");
  assert_false(file_exists(temp_path(folder, "ledger")));
  gate_result_free(result);
  /* One that is only read still tells what it remembers. */
  assert_int_equal(run_once(folder), VERDICT_REJECT);
  rewrite(folder, "contract.yaml", policy_contract, first_max, "shoulder, unit: rad, tolerance: {max: 0.004}");
  ASSERT_OK(gate_run(
      &(struct gate_options){.folder = folder, .ledger = LEDGER_READ, .no_ledger = "--no-ledger was given"}, &result));
  expect_says(result, 1, "shoulder 0.002 to 0.004 since", "");
  gate_result_free(result);
  temp_free(folder);
}

/* A run that ended without a verdict has declared all the same. */
static void an_interrupted_run_leaves_its_declaration(void **state) {
  (void)state;
  char *folder = drifting_policy();
  assert_int_equal(run_once(folder), VERDICT_REJECT);
  rewrite(folder, "contract.yaml", policy_contract, first_max, "shoulder, unit: rad, tolerance: {max: 0.004}");
  struct gate_result *result = keep_run(folder);
  gate_result_free(result);
  char runs[2048], head[2048];
  snprintf(runs, sizeof runs, "%s", temp_path(folder, "ledger/runs.jsonl"));
  snprintf(head, sizeof head, "%s", temp_path(folder, "ledger/head"));
  size_t size;
  char *text = slurp(runs, &size);
  char *last = text + size - 1;
  while (last > text && last[-1] != '\n') {
    last--;
  }
  write_bytes(runs, text, (size_t)(last - text));
  char line[256];
  const char *self = last - HASH_TEXT_SIZE - 2;
  snprintf(line, sizeof line, "line 3 %.71s\n", self);
  write_bytes(head, line, strlen(line));
  temp_write(folder, "contract.yaml", policy_contract);
  result = keep_run(folder);
  assert_int_equal(result->ledger.unfinished, 1);
  expect_says(result, 1, "shoulder 0.002 to 0.004 since", "; tightened again");
  gate_result_free(result);
  memory_free(text);
  temp_free(folder);
}

/* It stands in all three reports, in the quiet one too. */
static void every_report_shows_it(void **state) {
  (void)state;
  char *folder = drifting_policy();
  assert_int_equal(run_once(folder), VERDICT_REJECT);
  rewrite(folder, "contract.yaml", policy_contract, first_max, "shoulder, unit: rad, tolerance: {max: 0.004}");
  struct gate_result *result = keep_run(folder);
  struct text terminal = {0}, json = {0}, junit = {0};
  ASSERT_OK(report_terminal(result, &(struct terminal_options){.quiet = true}, &terminal));
  ASSERT_OK(report_json(result, &json));
  ASSERT_OK(report_junit(result, &junit));
  assert_non_null(strstr(text_string(&terminal), "shoulder 0.002 to 0.004 since the REJECT of 20"));
  assert_non_null(strstr(text_string(&json), "shoulder 0.002 to 0.004 since the REJECT of 20"));
  assert_non_null(strstr(text_string(&junit), "shoulder 0.002 to 0.004 since the REJECT of 20"));
  text_free(&terminal);
  text_free(&json);
  text_free(&junit);
  gate_result_free(result);
  temp_free(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_loosened_tolerance_is_told_for_good),
      cmocka_unit_test(a_contract_of_another_name_is_compared),
      cmocka_unit_test(a_ledger_that_begins_says_so),
      cmocka_unit_test(what_was_never_rejected_may_change),
      cmocka_unit_test(what_asks_no_less_is_not_listed),
      cmocka_unit_test(every_kind_of_loosening_is_told),
      cmocka_unit_test(what_the_gate_asks_for_is_watched),
      cmocka_unit_test(dropped_and_changed_cases_are_told),
      cmocka_unit_test(a_dropped_component_is_one_line),
      cmocka_unit_test(the_reject_of_an_optional_rung_counts),
      cmocka_unit_test(another_gate_file_is_told),
      cmocka_unit_test(every_changed_byte_is_noticed),
      cmocka_unit_test(cut_lines_are_noticed),
      cmocka_unit_test(an_unfinished_line_is_no_fault),
      cmocka_unit_test(hostile_ledgers_are_refused),
      cmocka_unit_test(without_a_ledger_the_report_says_so),
      cmocka_unit_test(an_interrupted_run_leaves_its_declaration),
      cmocka_unit_test(every_report_shows_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
