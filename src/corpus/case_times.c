/* Times, monitors and the guard's answer of a case: see case_times.h. What is not stated stays unknown; no time is made
 * up, and a monitor of which nothing is said is not taken for one that is content. */
#include "corpus/case_times.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/checks.h"
#include "core/memory.h"

/* --- reading --------------------------------------------------------------- */

static assay_status parse_series(const struct yaml_file *file, const struct yaml *node, const char *what, bool sequence,
                                 struct arena *arena, struct case_series *out) {
  bool list = node->kind == YAML_SEQUENCE;
  int32_t n = list ? node->count : 1;
  double *values;
  if (list && !sequence) {
    return yaml_error(file, node->mark, "%s is a list, but the case is no sequence; write one number", what);
  }
  if (n == 0) {
    return yaml_error(file, node->mark, "%s is an empty list; write a number, or one a step", what);
  }
  ARENA_NEW(arena, values, n);
  for (int32_t i = 0; i < n; i++) {
    TRY(yaml_double(file, list ? &node->items[i] : node, what, true, &values[i]));
  }
  *out = (struct case_series){n, values, list};
  return status_ok();
}

static assay_status parse_one_series(const struct yaml_file *file, const struct yaml *node, const char *key,
                                     const struct corpus_case *entry, struct arena *arena, struct case_series *out) {
  const struct yaml *value = yaml_get(node, key);
  return value == NULL ? status_ok() : parse_series(file, value, key, entry->sequence, arena, out);
}

static int compare_times(const void *a, const void *b) {
  return strcmp(((const struct case_time *)a)->input, ((const struct case_time *)b)->input);
}

static bool has_age(const struct corpus_case *entry, const char *input) { return !isnan(case_age(entry, input)); }

static assay_status parse_times(const struct yaml_file *file, const struct yaml *node, struct arena *arena,
                                struct corpus_case *entry) {
  if (node == NULL) {
    return status_ok();
  }
  if (node->kind != YAML_MAPPING) {
    return yaml_error(file, node->mark, "times_ms must be a mapping of inputs to milliseconds, such as {front: 1000}");
  }
  if (entry->now_ms.n == 0 && node->count > 0) {
    return yaml_error(file, node->mark, "times_ms needs now_ms, the time of the step on the same clock");
  }
  struct case_time *times;
  ARENA_NEW(arena, times, node->count);
  for (int32_t i = 0; i < node->count; i++) {
    times[i].input = node->keys[i];
    TRY(parse_series(file, &node->items[i], "a time", entry->sequence, arena, &times[i].ms));
    if (has_age(entry, times[i].input)) {
      return yaml_error(file, node->key_marks[i], "input '%s' has an age in ages_ms and a time here; say it once",
                        times[i].input);
    }
  }
  if (node->count > 1) {
    qsort(times, (size_t)node->count, sizeof *times, compare_times);
  }
  entry->times = times;
  entry->n_times = node->count;
  return status_ok();
}

/* {answer: clear, age_ms: 5}, or the word `missing`. */
static assay_status parse_reading(const struct yaml_file *file, const struct yaml *node, const char *name,
                                  struct monitor_reading *out) {
  static const char *const keys[] = {"answer", "age_ms"};
  static const char *const words[] = {"clear", "tripped"};
  const struct yaml *answer, *age;
  int32_t which = 0;
  bool scalar = node->kind == YAML_SCALAR;
  *out = (struct monitor_reading){name, MONITOR_SILENT, (double)NAN};
  if (node->kind == YAML_SCALAR && !node->quoted && strcmp(node->text, monitor_answer_names[MONITOR_SILENT]) == 0) {
    return status_ok();
  }
  if (node->kind != YAML_MAPPING) {
    return yaml_error(file, node->mark,
                      "the reading of monitor '%s' is %s%.60s%s; it must be {answer: clear, age_ms: 5}, {answer: "
                      "tripped, age_ms: 5} or missing",
                      name, scalar ? "'" : "",
                      scalar                    ? node->text
                      : node->kind == YAML_NULL ? "empty"
                                                : "a list",
                      scalar ? "'" : "");
  }
  TRY(yaml_keys(file, node, keys, 2, "a monitor's reading"));
  TRY(yaml_require(file, node, "answer", "a monitor's reading", &answer));
  TRY(yaml_choice(file, answer, "answer", words, 2, &which));
  TRY(yaml_require(file, node, "age_ms", "a monitor's reading", &age));
  TRY(yaml_double(file, age, "age_ms", true, &out->age_ms));
  out->answer = which == 0 ? MONITOR_CLEAR : MONITOR_TRIPPED;
  return status_ok();
}

static assay_status parse_monitor(const struct yaml_file *file, const struct yaml *node, const char *name,
                                  bool sequence, struct arena *arena, struct case_monitor *out) {
  bool list = node->kind == YAML_SEQUENCE;
  struct monitor_reading *readings;
  if (list && (!sequence || node->count == 0)) {
    return yaml_error(file, node->mark, "monitor '%s' has a list of %d readings; %s", name, (int)node->count,
                      sequence ? "write one, or one a step" : "the case is no sequence, so write one");
  }
  *out = (struct case_monitor){.name = name, .n = list ? node->count : 1, .each = list};
  ARENA_NEW(arena, readings, out->n);
  for (int32_t i = 0; i < out->n; i++) {
    TRY(parse_reading(file, list ? &node->items[i] : node, name, &readings[i]));
  }
  out->readings = readings;
  return status_ok();
}

static assay_status parse_monitors(const struct yaml_file *file, const struct yaml *node, struct arena *arena,
                                   struct corpus_case *entry) {
  if (node == NULL) {
    return status_ok();
  }
  if (node->kind != YAML_MAPPING) {
    return yaml_error(file, node->mark,
                      "monitors must be a mapping such as {collision_monitor: {answer: clear, age_ms: 5}}");
  }
  struct case_monitor *monitors;
  ARENA_NEW(arena, monitors, node->count);
  for (int32_t i = 0; i < node->count; i++) {
    TRY(parse_monitor(file, &node->items[i], node->keys[i], entry->sequence, arena, &monitors[i]));
  }
  entry->monitors = monitors;
  entry->n_monitors = node->count;
  entry->has_monitors = true;
  return status_ok();
}

static assay_status parse_answer(const struct yaml_file *file, const struct yaml *node, assay_code *out) {
  const char *name;
  TRY(yaml_string(file, node, "guard", &name));
  if (guard_answer_find(name, out)) {
    return status_ok();
  }
  return yaml_error(file, node->mark,
                    "guard is '%s'; it must be accept, or a refusal of the guard such as ACTION_LIMIT or "
                    "MONITOR_TRIPPED (docs/contract.md lists them)",
                    name);
}

/* "3" as a step. */
static assay_status parse_step(const struct yaml_file *file, const char *key, struct mark mark, int64_t *out) {
  size_t length = strlen(key);
  if (length == 0 || length > 9 || strspn(key, "0123456789") != length || (key[0] == '0' && length > 1)) {
    return yaml_error(file, mark, "guard names the step '%s'; a step is a whole number from 0", key);
  }
  *out = strtoll(key, NULL, 10);
  return status_ok();
}

static int compare_guards(const void *a, const void *b) {
  int64_t left = ((const struct case_guard *)a)->step, right = ((const struct case_guard *)b)->step;
  return (left > right) - (left < right);
}

void case_guards_sort(struct case_guard *guard, int32_t count) {
  qsort(guard, (size_t)count, sizeof *guard, compare_guards);
}

static assay_status parse_guard(const struct yaml_file *file, const struct yaml *node, struct arena *arena,
                                struct corpus_case *entry) {
  if (node == NULL) {
    return status_ok();
  }
  bool single = node->kind == YAML_SCALAR || node->kind == YAML_NULL;
  int32_t n = single ? 1 : node->count;
  if (!single && (!entry->sequence || n == 0)) {
    return yaml_error(file, node->mark, "guard is %s of %d answers%s; write one answer, such as accept",
                      node->kind == YAML_MAPPING ? "a mapping" : "a list", (int)n,
                      n == 0 ? ", which is empty" : ", one for each step, but the case is no sequence");
  }
  struct case_guard *guard;
  ARENA_NEW(arena, guard, n);
  for (int32_t i = 0; i < n; i++) {
    guard[i].step = single ? -1 : i;
    TRY(parse_answer(file, single ? node : &node->items[i], &guard[i].answer));
    if (node->kind == YAML_MAPPING) {
      TRY(parse_step(file, node->keys[i], node->key_marks[i], &guard[i].step));
    }
  }
  if (n > 1) {
    case_guards_sort(guard, n);
  }
  entry->guard = guard;
  entry->n_guard = n;
  entry->guard_each = node->kind == YAML_SEQUENCE;
  return status_ok();
}

assay_status case_times_parse(const struct yaml_file *file, const struct yaml *node, struct arena *arena,
                              struct corpus_case *entry) {
  TRY(parse_one_series(file, node, "now_ms", entry, arena, &entry->now_ms));
  TRY(parse_one_series(file, node, "result_age_ms", entry, arena, &entry->result_age_ms));
  TRY(parse_times(file, yaml_get(node, "times_ms"), arena, entry));
  TRY(parse_monitors(file, yaml_get(node, "monitors"), arena, entry));
  return parse_guard(file, yaml_get(node, "guard"), arena, entry);
}

/* --- checking -------------------------------------------------------------- */

static assay_status check_length(const struct corpus_case *entry, const char *key, const char *of, int64_t n, bool each,
                                 int64_t steps, const char *path) {
  if ((n <= 1 && !each) || n == steps) {
    return status_ok();
  }
  return status_make(ASSAY_CORPUS_INVALID, path,
                     "case '%s' has %lld value%s in %s%s%s, but %lld steps; write one without a list, or one a step",
                     entry->id, (long long)n, n == 1 ? " in a list" : "s", key, of != NULL ? " of " : "",
                     of != NULL ? of : "", (long long)steps);
}

assay_status case_times_check(const struct corpus_case *entry, int64_t steps, const char *path) {
  TRY(check_length(entry, "now_ms", NULL, entry->now_ms.n, entry->now_ms.each, steps, path));
  TRY(check_length(entry, "result_age_ms", NULL, entry->result_age_ms.n, entry->result_age_ms.each, steps, path));
  for (int32_t i = 0; i < entry->n_times; i++) {
    TRY(check_length(entry, "times_ms", entry->times[i].input, entry->times[i].ms.n, entry->times[i].ms.each, steps,
                     path));
  }
  for (int32_t i = 0; i < entry->n_monitors; i++) {
    TRY(check_length(entry, "monitors", entry->monitors[i].name, entry->monitors[i].n, entry->monitors[i].each, steps,
                     path));
  }
  int64_t last = entry->n_guard > 0 ? entry->guard[entry->n_guard - 1].step : -1;
  if (last >= steps || (entry->guard_each && entry->n_guard != steps)) {
    return status_make(ASSAY_CORPUS_INVALID, path,
                       "case '%s' states the guard's answer to step %lld%s, but has %lld steps", entry->id,
                       (long long)last, entry->guard_each ? " as its last" : "", (long long)steps);
  }
  return status_ok();
}

assay_status case_times_valid(const struct corpus_case *entry) {
  bool lists = entry->now_ms.n > 1 || entry->result_age_ms.n > 1 || entry->n_guard > 1 ||
               (entry->n_guard == 1 && entry->guard[0].step >= 0);
  for (int32_t i = 0; i < entry->n_times; i++) {
    lists |= entry->times[i].ms.n > 1;
    if (has_age(entry, entry->times[i].input)) {
      return status_make(ASSAY_USAGE, NULL, "case '%s' has an age and a time of '%s'; say it once", entry->id,
                         entry->times[i].input);
    }
    for (int32_t before = 0; before < i; before++) {
      if (text_equal(entry->times[before].input, entry->times[i].input)) {
        return status_make(ASSAY_USAGE, NULL, "case '%s' has two times of '%s'", entry->id, entry->times[i].input);
      }
    }
  }
  for (int32_t i = 0; i < entry->n_monitors; i++) {
    lists |= entry->monitors[i].n > 1;
    for (int32_t before = 0; before < i; before++) {
      if (text_equal(entry->monitors[before].name, entry->monitors[i].name)) {
        return status_make(ASSAY_USAGE, NULL, "case '%s' has the monitor '%s' twice", entry->id,
                           entry->monitors[i].name);
      }
    }
  }
  for (int32_t i = 0; i < entry->n_guard; i++) {
    assay_code known;
    if (!guard_answer_find(guard_answer_name(entry->guard[i].answer), &known)) {
      return status_make(ASSAY_USAGE, NULL, "case '%s' expects %s of the guard, which is no answer of it", entry->id,
                         guard_answer_name(entry->guard[i].answer));
    }
  }
  if (entry->n_times > 0 && entry->now_ms.n == 0) {
    return status_make(ASSAY_USAGE, NULL, "case '%s' has times of inputs; say the time of the step too (now_ms)",
                       entry->id);
  }
  return lists && !entry->sequence
             ? status_make(ASSAY_USAGE, NULL, "case '%s' has a value for each step, but is no sequence", entry->id)
             : status_ok();
}

/* --- copying --------------------------------------------------------------- */

static assay_status copy_text(struct arena *arena, const char **string) {
  char *copy = arena_string(arena, *string);
  *string = copy != NULL ? copy : *string;
  return copy != NULL ? status_ok() : status_no_memory(strlen(*string));
}

static assay_status copy_series(struct arena *arena, struct case_series *series) {
  double *values;
  if (series->n == 0) {
    return status_ok();
  }
  ARENA_NEW(arena, values, series->n);
  memcpy(values, series->values, (size_t)series->n * sizeof *values);
  series->values = values;
  return status_ok();
}

static assay_status copy_monitors(struct arena *arena, struct corpus_case *entry) {
  struct case_monitor *monitors;
  ARENA_NEW(arena, monitors, entry->n_monitors);
  for (int32_t i = 0; i < entry->n_monitors; i++) {
    struct monitor_reading *readings;
    monitors[i] = entry->monitors[i];
    TRY(copy_text(arena, &monitors[i].name));
    ARENA_NEW(arena, readings, monitors[i].n);
    for (int32_t r = 0; r < monitors[i].n; r++) {
      readings[r] = monitors[i].readings[r];
      readings[r].name = monitors[i].name;
    }
    monitors[i].readings = readings;
  }
  entry->monitors = monitors;
  return status_ok();
}

assay_status case_times_copy(struct arena *arena, struct corpus_case *entry) {
  struct case_time *times;
  struct case_guard *guard;
  TRY(copy_series(arena, &entry->now_ms));
  TRY(copy_series(arena, &entry->result_age_ms));
  ARENA_NEW(arena, times, entry->n_times);
  for (int32_t i = 0; i < entry->n_times; i++) {
    times[i] = entry->times[i];
    TRY(copy_text(arena, &times[i].input));
    TRY(copy_series(arena, &times[i].ms));
  }
  entry->times = times;
  ARENA_NEW(arena, guard, entry->n_guard);
  for (int32_t i = 0; i < entry->n_guard; i++) {
    guard[i] = entry->guard[i];
  }
  entry->guard = guard;
  return copy_monitors(arena, entry);
}

/* --- writing --------------------------------------------------------------- */

/* The shortest form that reads back as the same number. */
static void write_double(struct text *out, double value) {
  char digits[32];
  snprintf(digits, sizeof digits, "%.15g", value);
  if (strtod(digits, NULL) != value) {
    snprintf(digits, sizeof digits, "%.17g", value);
  }
  text_add(out, digits);
}

static void write_series(struct text *out, const struct case_series *series) {
  text_add(out, series->each || series->n > 1 ? "[" : "");
  for (int32_t i = 0; i < series->n; i++) {
    text_add(out, i == 0 ? "" : ", ");
    write_double(out, series->values[i]);
  }
  text_add(out, series->each || series->n > 1 ? "]" : "");
}

static void write_named_series(struct text *out, const char *key, const struct case_series *series) {
  if (series->n > 0) {
    text_format(out, "    %s: ", key);
    write_series(out, series);
    text_add_char(out, '\n');
  }
}

static void write_reading(struct text *out, const struct monitor_reading *reading) {
  if (reading->answer == MONITOR_SILENT) {
    text_add(out, monitor_answer_names[MONITOR_SILENT]);
    return;
  }
  text_format(out, "{answer: %s, age_ms: ", monitor_answer_names[reading->answer]);
  write_double(out, reading->age_ms);
  text_add_char(out, '}');
}

static void write_monitors(struct text *out, const struct corpus_case *entry) {
  text_add(out, "    monitors: {");
  for (int32_t i = 0; i < entry->n_monitors; i++) {
    const struct case_monitor *monitor = &entry->monitors[i];
    bool list = monitor->each || monitor->n > 1;
    text_add(out, i == 0 ? "" : ", ");
    yaml_write_scalar(out, monitor->name);
    text_add(out, list ? ": [" : ": ");
    for (int32_t r = 0; r < monitor->n; r++) {
      text_add(out, r == 0 ? "" : ", ");
      write_reading(out, &monitor->readings[r]);
    }
    text_add(out, list ? "]" : "");
  }
  text_add(out, "}\n");
}

static void write_guard(struct text *out, const struct corpus_case *entry) {
  bool single = entry->guard[0].step < 0;
  text_add(out, "    guard: ");
  text_add(out, single ? "" : entry->guard_each ? "[" : "{");
  for (int32_t i = 0; i < entry->n_guard; i++) {
    text_add(out, i == 0 ? "" : ", ");
    if (!single && !entry->guard_each) {
      text_format(out, "%lld: ", (long long)entry->guard[i].step);
    }
    text_add(out, guard_answer_name(entry->guard[i].answer));
  }
  text_add(out, single ? "\n" : entry->guard_each ? "]\n" : "}\n");
}

void case_times_write(struct text *out, const struct corpus_case *entry) {
  if (entry->n_times > 0) {
    text_add(out, "    times_ms: {");
    for (int32_t i = 0; i < entry->n_times; i++) {
      text_add(out, i == 0 ? "" : ", ");
      yaml_write_scalar(out, entry->times[i].input);
      text_add(out, ": ");
      write_series(out, &entry->times[i].ms);
    }
    text_add(out, "}\n");
  }
  write_named_series(out, "now_ms", &entry->now_ms);
  write_named_series(out, "result_age_ms", &entry->result_age_ms);
  if (entry->has_monitors) {
    write_monitors(out, entry);
  }
  if (entry->n_guard > 0) {
    write_guard(out, entry);
  }
}

/* --- the version of a corpus ------------------------------------------------- */

bool case_times_given(const struct corpus_case *entry) {
  return entry->now_ms.n > 0 || entry->result_age_ms.n > 0 || entry->n_times > 0 || entry->has_monitors ||
         (entry->n_guard > 0 && entry->guard[0].step >= 0);
}

struct adder {
  struct hash *hash;
  void (*add)(struct hash *hash, const char *text);
};

static void add_double(const struct adder *adder, double value) {
  char digits[32];
  snprintf(digits, sizeof digits, "%.17g", value);
  adder->add(adder->hash, digits);
}

static void add_count(const struct adder *adder, int64_t value) {
  char digits[24];
  snprintf(digits, sizeof digits, "%lld", (long long)value);
  adder->add(adder->hash, digits);
}

static void add_series(const struct adder *adder, const struct case_series *series) {
  add_count(adder, series->n);
  for (int32_t i = 0; i < series->n; i++) {
    add_double(adder, series->values[i]);
  }
}

void case_times_hash(struct hash *hash, const struct corpus_case *entry,
                     void (*add)(struct hash *hash, const char *text)) {
  const struct adder adder = {hash, add};
  add_series(&adder, &entry->now_ms);
  add_series(&adder, &entry->result_age_ms);
  add_count(&adder, entry->n_times);
  for (int32_t i = 0; i < entry->n_times; i++) {
    add(hash, entry->times[i].input);
    add_series(&adder, &entry->times[i].ms);
  }
  add_count(&adder, entry->has_monitors ? entry->n_monitors : -1);
  for (int32_t i = 0; i < entry->n_monitors; i++) {
    const struct case_monitor *monitor = &entry->monitors[i];
    add(hash, monitor->name);
    add_count(&adder, monitor->n);
    for (int32_t r = 0; r < monitor->n; r++) {
      add(hash, monitor_answer_names[monitor->readings[r].answer]);
      add_double(&adder, monitor->readings[r].answer == MONITOR_SILENT ? 0 : monitor->readings[r].age_ms);
    }
  }
  add_count(&adder, entry->guard_each);
  add_count(&adder, entry->n_guard);
  for (int32_t i = 0; i < entry->n_guard; i++) {
    add_count(&adder, entry->guard[i].step);
    add(hash, guard_answer_name(entry->guard[i].answer));
  }
}

/* --- asking ---------------------------------------------------------------- */

double case_series_at(const struct case_series *series, int64_t step) {
  return series->n == 0     ? (double)NAN
         : series->n == 1   ? series->values[0]
         : step < series->n ? series->values[step]
                            : (double)NAN;
}

double case_time_at(const struct corpus_case *entry, const char *input, int64_t step) {
  for (int32_t i = 0; i < entry->n_times; i++) {
    if (text_equal(entry->times[i].input, input)) {
      return case_series_at(&entry->times[i].ms, step);
    }
  }
  return (double)NAN;
}

double case_age_at(const struct corpus_case *entry, const char *input, int64_t step) {
  double age = case_age(entry, input);
  return isnan(age) ? case_series_at(&entry->now_ms, step) - case_time_at(entry, input, step) : age;
}

void case_monitors_at(const struct corpus_case *entry, int64_t step, struct monitor_reading *out) {
  for (int32_t i = 0; i < entry->n_monitors; i++) {
    const struct case_monitor *monitor = &entry->monitors[i];
    out[i] = monitor->readings[monitor->n > 1 && step < monitor->n ? step : 0];
  }
}
