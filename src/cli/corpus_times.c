/* The options of a case that speak of time, monitors and the guard: --time, --now, --result-age, --monitor, --guard.
 * Lists are separated by commas, one value for each step. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/corpus_cli.h"
#include "contract/checks.h"
#include "core/text.h"
#include "corpus/case_times.h"

/* The parts of `text` between commas, as strings of their own; at least one. */
static assay_status split_list(struct arena *arena, const char *text, const char ***out, int32_t *count) {
  const char **parts;
  int32_t n = 1;
  for (const char *at = text; *at != '\0'; at++) {
    n += *at == ',';
  }
  ARENA_NEW(arena, parts, n);
  for (int32_t i = 0; i < n; i++) {
    size_t length = strcspn(text, ",");
    parts[i] = arena_copy(arena, text, length);
    if (parts[i] == NULL) {
      return status_no_memory(length);
    }
    text += length + (text[length] == ',');
  }
  *out = parts;
  *count = n;
  return status_ok();
}

static assay_status parse_ms(const char *text, const char *what, double *out) {
  char *end;
  *out = strtod(text, &end);
  if (end == text || *end != '\0' || !isfinite(*out)) {
    return status_make(ASSAY_USAGE, NULL, "--%s has '%s', which is no number of milliseconds", what, text);
  }
  return status_ok();
}

static assay_status parse_series(const char *text, const char *what, struct arena *arena, struct case_series *out) {
  const char **parts;
  double *values;
  if (text == NULL) {
    return status_ok();
  }
  TRY(split_list(arena, text, &parts, &out->n));
  ARENA_NEW(arena, values, out->n);
  for (int32_t i = 0; i < out->n; i++) {
    TRY(parse_ms(parts[i], what, &values[i]));
  }
  out->values = values;
  return status_ok();
}

static assay_status parse_times(const struct case_options *options, struct arena *arena, struct corpus_case *out) {
  struct case_time *times;
  ARENA_NEW(arena, times, options->n_times);
  for (int i = 0; i < options->n_times; i++) {
    const char *numbers;
    TRY(split_pair(arena, options->times[i], "time", false, &times[i].input, &numbers));
    TRY(parse_series(numbers, "time", arena, &times[i].ms));
  }
  out->times = times;
  out->n_times = options->n_times;
  return status_ok();
}

/* "clear:5", "tripped:5" or "missing". */
static assay_status parse_reading(const char *text, const char *name, struct monitor_reading *out) {
  *out = (struct monitor_reading){name, MONITOR_SILENT, (double)NAN};
  if (text_equal(text, monitor_answer_names[MONITOR_SILENT])) {
    return status_ok();
  }
  const char *colon = strchr(text, ':');
  for (int a = MONITOR_CLEAR; a < MONITOR_ANSWERS && colon != NULL; a++) {
    size_t length = strlen(monitor_answer_names[a]);
    if ((size_t)(colon - text) == length && strncmp(text, monitor_answer_names[a], length) == 0) {
      out->answer = (enum monitor_answer)a;
      return parse_ms(colon + 1, "monitor", &out->age_ms);
    }
  }
  return status_make(ASSAY_USAGE, NULL,
                     "--monitor of '%s' has '%s'; a reading is clear:MS or tripped:MS with its age, or missing", name,
                     text);
}

static assay_status parse_monitors(const struct case_options *options, struct arena *arena, struct corpus_case *out) {
  struct case_monitor *monitors;
  ARENA_NEW(arena, monitors, options->n_monitors);
  for (int i = 0; i < options->n_monitors; i++) {
    const char *list, **parts;
    struct monitor_reading *readings;
    TRY(split_pair(arena, options->monitors[i], "monitor", false, &monitors[i].name, &list));
    TRY(split_list(arena, list, &parts, &monitors[i].n));
    ARENA_NEW(arena, readings, monitors[i].n);
    for (int32_t r = 0; r < monitors[i].n; r++) {
      TRY(parse_reading(parts[r], monitors[i].name, &readings[r]));
    }
    monitors[i].readings = readings;
  }
  out->monitors = monitors;
  out->n_monitors = options->n_monitors;
  out->has_monitors = options->n_monitors > 0 || options->ask_monitors;
  return status_ok();
}

/* "accept", or "3=ACTION_LIMIT", which sets the step. */
static assay_status parse_answer(const char *text, struct case_guard *out) {
  const char *equals = strchr(text, '='), *name = text;
  if (equals != NULL) {
    char *end;
    out->step = strtoll(text, &end, 10);
    name = equals + 1;
    if (end != equals || out->step < 0 || text[0] < '0' || text[0] > '9') {
      return status_make(ASSAY_USAGE, NULL, "--guard has '%s'; a step is a whole number from 0", text);
    }
  }
  if (guard_answer_find(name, &out->answer)) {
    return status_ok();
  }
  return status_make(ASSAY_USAGE, NULL,
                     "--guard has '%s', which is neither accept nor a refusal of the guard such as ACTION_LIMIT", name);
}

static assay_status parse_guard(const struct case_options *options, struct arena *arena, struct corpus_case *out) {
  const char **parts;
  struct case_guard *guard;
  if (options->guard == NULL) {
    return status_ok();
  }
  bool steps = strchr(options->guard, '=') != NULL;
  TRY(split_list(arena, options->guard, &parts, &out->n_guard));
  ARENA_NEW(arena, guard, out->n_guard);
  for (int32_t i = 0; i < out->n_guard; i++) {
    if ((strchr(parts[i], '=') != NULL) != steps) {
      return status_make(ASSAY_USAGE, NULL, "--guard is '%s'; give one answer for every step, or STEP=ANSWER alone",
                         options->guard);
    }
    guard[i].step = out->n_guard == 1 ? -1 : i;
    TRY(parse_answer(parts[i], &guard[i]));
  }
  case_guards_sort(guard, out->n_guard);
  for (int32_t i = 1; i < out->n_guard; i++) {
    if (guard[i].step == guard[i - 1].step) {
      return status_make(ASSAY_USAGE, NULL, "--guard has two answers to step %lld", (long long)guard[i].step);
    }
  }
  out->guard = guard;
  out->guard_each = out->n_guard > 1 && !steps;
  return status_ok();
}

assay_status times_from_options(const struct case_options *options, struct arena *arena, struct corpus_case *out) {
  TRY(parse_series(options->now, "now", arena, &out->now_ms));
  TRY(parse_series(options->result_age, "result-age", arena, &out->result_age_ms));
  TRY(parse_times(options, arena, out));
  TRY(parse_monitors(options, arena, out));
  return parse_guard(options, arena, out);
}
