/* Runs ONNX's backend tests: backend_runner FOLDER [filter] [--expected FILE] [--write FILE] [--passes | --quiet]
 * [--threads N] [--precision P].
 *
 * FOLDER holds sets (node/, simple/, ...) of tests, each a folder with model.onnx and
 * test_data_set_N/{input,output}_M.pb. A test passes when the model loads and every output has the expected dtype
 * and shape, floats within rtol 1e-3 and atol 1e-7 (NaN equal to NaN, infinities equal), and everything
 * else exactly. Prints one line for each that does not pass, unless --quiet, and the sums. With --expected, fails
 * unless every test named in FILE passes; --write writes the names of those that pass. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/text.h"
#include "engine/engine.h"
#include "model/tensor_file.h"

enum outcome { PASS, FAIL, UNSUPPORTED, OUTCOMES };
static const char *const outcome_names[OUTCOMES] = {"pass", "FAIL", "unsupported"};

struct runner {
  const char *filter, *expected;
  FILE *passes;
  bool show_passes, quiet;
  int threads;
  enum precision_kind precision;
  long counts[OUTCOMES];
  struct text missing; /* expected to pass, and did not */
};

/* Everything that one test holds. */
struct trial {
  struct arena arena;
  struct model *model;
  struct session *session;
  struct text why;
};

static bool is_close(double found, double expected) {
  if (isnan(found) || isnan(expected)) {
    return isnan(found) && isnan(expected);
  }
  if (isinf(found) || isinf(expected)) {
    return found == expected;
  }
  return fabs(found - expected) <= 1e-7 + 1e-3 * fabs(expected);
}

static bool compare_texts(const assay_tensor *found, const assay_tensor *expected, struct text *why) {
  const assay_text *a = found->data, *b = expected->data;
  for (int64_t i = 0; i < tensor_count(expected); i++) {
    if (a[i].length != b[i].length || memcmp(a[i].data, b[i].data, a[i].length) != 0) {
      text_format(why, "string %lld differs", (long long)i);
      return false;
    }
  }
  return true;
}

static bool compare(const char *name, const assay_tensor *found, const assay_tensor *expected, struct text *why) {
  if (found->dtype != expected->dtype || !shape_equal(found, expected)) {
    text_format(why, "output '%s' is ", name);
    tensor_describe(found, why);
    text_add(why, ", expected ");
    tensor_describe(expected, why);
    return false;
  }
  if (expected->dtype == ASSAY_STRING) {
    return compare_texts(found, expected, why);
  }
  if (!dtype_is_float(expected->dtype)) {
    bool equal = expected->bytes == 0 || memcmp(found->data, expected->data, expected->bytes) == 0;
    for (int64_t i = 0; !equal && i < tensor_count(expected); i++) {
      if (dtype_is_integer(expected->dtype) && tensor_get_int(found, i) != tensor_get_int(expected, i)) {
        text_format(why, "output '%s'[%lld] is %lld, expected %lld", name, (long long)i,
                    (long long)tensor_get_int(found, i), (long long)tensor_get_int(expected, i));
        return false;
      }
    }
    if (!equal) {
      text_format(why, "output '%s' differs", name);
    }
    return equal;
  }
  for (int64_t i = 0; i < tensor_count(expected); i++) {
    double a = tensor_get(found, i), b = tensor_get(expected, i);
    if (!is_close(a, b)) {
      text_format(why, "output '%s'[%lld] is %.9g, expected %.9g", name, (long long)i, a, b);
      return false;
    }
  }
  return true;
}

/* Reads PREFIX_0.pb, PREFIX_1.pb, ... of a data set. */
static assay_status read_tensors(struct trial *trial, const char *folder, const char *prefix, assay_tensor **out,
                                 size_t *count) {
  size_t n = 0;
  while (file_exists(arena_format(&trial->arena, "%s/%s_%zu.pb", folder, prefix, n))) {
    n++;
  }
  ARENA_NEW(&trial->arena, *out, n);
  *count = 0;
  for (size_t i = 0; i < n; i++) {
    char *path = arena_format(&trial->arena, "%s/%s_%zu.pb", folder, prefix, i);
    TRY(tensor_proto_read(path, &trial->arena, &(*out)[i], NULL));
    (*count)++;
  }
  return status_ok();
}

static assay_status run_inputs(struct trial *trial, const assay_tensor *inputs, size_t n_inputs,
                               const struct named_tensor **outputs, size_t *n_outputs) {
  const struct graph *graph = trial->model->graph;
  struct named_tensor *named;
  ARENA_NEW(&trial->arena, named, n_inputs);
  if (n_inputs > (size_t)graph->n_inputs) {
    return status_make(ASSAY_MODEL_INVALID, NULL, "%zu inputs for a graph of %d", n_inputs, graph->n_inputs);
  }
  for (size_t i = 0; i < n_inputs; i++) {
    named[i] = (struct named_tensor){graph->values[graph->inputs[i]].name, &inputs[i]};
  }
  struct session_run run = {.inputs = named, .n_inputs = n_inputs};
  return session_run(trial->session, &run, outputs, n_outputs);
}

static enum outcome outcome_of(assay_status status, struct text *why) {
  text_format(why, "[%s] %s", assay_code_name(status.code), assay_status_sentence(status));
  enum outcome outcome = status.code == ASSAY_MODEL_UNSUPPORTED || status.code == ASSAY_OPERATOR_UNKNOWN ||
                                 status.code == ASSAY_OPERATOR_DTYPE || status.code == ASSAY_OPERATOR_RANDOM
                             ? UNSUPPORTED
                             : FAIL;
  assay_status_clear(&status);
  return outcome;
}

static enum outcome run_data_set(struct trial *trial, const char *folder) {
  assay_tensor *inputs = NULL, *expected = NULL;
  size_t n_inputs = 0, n_expected = 0, n_outputs = 0;
  const struct named_tensor *outputs = NULL;
  enum outcome outcome = PASS;
  assay_status status = read_tensors(trial, folder, "input", &inputs, &n_inputs);
  if (assay_status_ok(status)) {
    status = read_tensors(trial, folder, "output", &expected, &n_expected);
  }
  if (assay_status_ok(status)) {
    status = run_inputs(trial, inputs, n_inputs, &outputs, &n_outputs);
  }
  if (!assay_status_ok(status)) {
    outcome = outcome_of(status, &trial->why);
  } else if (n_outputs != n_expected) {
    text_format(&trial->why, "%zu outputs, expected %zu", n_outputs, n_expected);
    outcome = FAIL;
  }
  for (size_t i = 0; outcome == PASS && i < n_expected; i++) {
    outcome = compare(outputs[i].name, outputs[i].tensor, &expected[i], &trial->why) ? PASS : FAIL;
  }
  for (size_t i = 0; i < n_inputs; i++) {
    tensor_free(&inputs[i]);
  }
  for (size_t i = 0; i < n_expected; i++) {
    tensor_free(&expected[i]);
  }
  return outcome;
}

static enum outcome run_trial(struct runner *runner, struct trial *trial, const char *folder) {
  struct session_options options = {
      .precision = runner->precision, .kernel_level = -1, .threads = runner->threads, .debug = SESSION_POISON};
  char *model = arena_format(&trial->arena, "%s/model.onnx", folder);
  assay_status status = model_open(model, NULL, &trial->model);
  if (assay_status_ok(status)) {
    status = session_open(trial->model, &options, &trial->session);
  }
  if (!assay_status_ok(status)) {
    return outcome_of(status, &trial->why);
  }
  enum outcome outcome = PASS;
  for (int i = 0; outcome == PASS; i++) {
    char *data = arena_format(&trial->arena, "%s/test_data_set_%d", folder, i);
    if (!file_is_folder(data)) {
      break;
    }
    outcome = run_data_set(trial, data);
  }
  return outcome;
}

/* Is NAME a line of the text of expected names? */
static bool is_expected(const char *expected, const char *name) {
  size_t length = strlen(name);
  for (const char *at = expected; at != NULL && *at != '\0';) {
    if (strncmp(at, name, length) == 0 && (at[length] == '\n' || at[length] == '\0')) {
      return true;
    }
    at = strchr(at, '\n');
    at = at != NULL ? at + 1 : NULL;
  }
  return false;
}

static void run_test(struct runner *runner, const char *set, const char *folder, const char *test) {
  char name[512];
  snprintf(name, sizeof name, "%s/%s", set, test);
  if (runner->filter != NULL && strstr(name, runner->filter) == NULL) {
    return;
  }
  struct trial trial = {0};
  enum outcome outcome = run_trial(runner, &trial, arena_format(&trial.arena, "%s/%s", folder, test));
  runner->counts[outcome]++;
  if (outcome != PASS ? !runner->quiet : runner->show_passes) {
    printf("%s %s %s\n", outcome_names[outcome], name, text_string(&trial.why));
  }
  if (outcome == PASS && runner->passes != NULL) {
    fprintf(runner->passes, "%s\n", name);
  }
  if (outcome != PASS && is_expected(runner->expected, name)) {
    text_format(&runner->missing, "  %s: %s\n", name, text_string(&trial.why));
  }
  session_close(trial.session);
  model_close(trial.model);
  text_free(&trial.why);
  arena_free(&trial.arena);
}

static assay_status run_set(struct runner *runner, const char *root, const char *set) {
  struct arena arena = {0};
  char *folder = arena_format(&arena, "%s/%s", root, set);
  char **tests;
  size_t count = 0;
  assay_status status = folder_list(folder, &arena, &tests, &count);
  for (size_t i = 0; assay_status_ok(status) && i < count; i++) {
    if (file_exists(arena_format(&arena, "%s/%s/model.onnx", folder, tests[i]))) {
      run_test(runner, set, folder, tests[i]);
    }
  }
  arena_free(&arena);
  return status;
}

static int fail_with(assay_status status) {
  fprintf(stderr, "backend_runner: %s: %s\n", assay_status_where(status), assay_status_sentence(status));
  assay_status_clear(&status);
  return 2;
}

static bool take_options(struct runner *runner, int argc, char **argv, const char **write, const char **expected) {
  for (int i = 2; i < argc; i++) {
    if (text_equal(argv[i], "--passes")) {
      runner->show_passes = true;
    } else if (text_equal(argv[i], "--quiet")) {
      runner->quiet = true;
    } else if (text_equal(argv[i], "--expected") && i + 1 < argc) {
      *expected = argv[++i];
    } else if (text_equal(argv[i], "--write") && i + 1 < argc) {
      *write = argv[++i];
    } else if (text_equal(argv[i], "--threads") && i + 1 < argc) {
      runner->threads = atoi(argv[++i]);
    } else if (text_equal(argv[i], "--precision") && i + 1 < argc) {
      if (!precision_find(argv[++i], &runner->precision)) {
        return false;
      }
    } else if (argv[i][0] != '-') {
      runner->filter = argv[i];
    } else {
      return false;
    }
  }
  return argc >= 2;
}

int main(int argc, char **argv) {
  struct runner runner = {0};
  const char *write = NULL, *expected = NULL;
  if (!take_options(&runner, argc, argv, &write, &expected)) {
    fprintf(stderr,
            "usage: backend_runner FOLDER [filter] [--expected FILE] [--write FILE] [--passes | --quiet] [--threads N] "
            "[--precision P]\n");
    return 2;
  }
  char *names = NULL;
  size_t size = 0;
  if (expected != NULL) {
    assay_status status = file_read(expected, (size_t)1 << 24, &names, &size);
    if (!assay_status_ok(status)) {
      return fail_with(status);
    }
    runner.expected = names;
  }
  runner.passes = write != NULL ? fopen(write, "w") : NULL;
  struct arena arena = {0};
  char **sets;
  size_t count = 0;
  assay_status status = folder_list(argv[1], &arena, &sets, &count);
  for (size_t i = 0; assay_status_ok(status) && i < count; i++) {
    if (file_is_folder(arena_format(&arena, "%s/%s", argv[1], sets[i]))) {
      status = run_set(&runner, argv[1], sets[i]);
    }
  }
  if (!assay_status_ok(status)) {
    return fail_with(status);
  }
  if (runner.passes != NULL) {
    fclose(runner.passes);
  }
  printf("%ld pass, %ld fail, %ld unsupported\n", runner.counts[PASS], runner.counts[FAIL], runner.counts[UNSUPPORTED]);
  if (runner.missing.length > 0) {
    printf("these must pass and do not:\n%s", text_string(&runner.missing));
  }
  int code = runner.missing.length > 0 || runner.counts[PASS] == 0 ? 1 : 0;
  text_free(&runner.missing);
  arena_free(&arena);
  free(names);
  return code;
}
