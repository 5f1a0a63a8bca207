/* Policies that others deploy, against what ONNX Runtime answered (fp32) and a float64 evaluation (fp64);
 * and the promise of one answer: the same bits for every kernel level and number of threads, which
 * tests/golden/policies.tsv pins. ASSAY_GOLDEN_WRITE=1 in the environment writes that file anew. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/file.h"
#include "core/hash.h"
#include "core/text.h"
#include "engine/engine.h"
#include "kernels/kernels.h"
#include "policy_reference.h"
#include "shared_files.h"
#include "support.h"

enum { INPUTS_MAX = 16 };

/* One model of the reference, opened, with its feeds. */
struct policy {
  const char *folder;
  json_t *entry;
  struct model *model;
  struct session *session;
  enum precision_kind precision;
  struct named_tensor feeds[INPUTS_MAX];
  assay_tensor tensors[INPUTS_MAX];
  size_t n_feeds;
};

static const char *policy_file(const struct policy *policy) {
  return json_string_value(json_object_get(policy->entry, "file"));
}

static void policy_open(struct policy *policy, const char *folder, json_t *entry, struct session_options options) {
  char path[4096];
  *policy = (struct policy){.folder = folder, .entry = entry, .precision = options.precision};
  snprintf(path, sizeof path, "%s/%s", folder, policy_file(policy));
  ASSERT_OK(model_open(path, NULL, &policy->model));
  ASSERT_OK(session_open(policy->model, &options, &policy->session));
}

static void drop_feeds(struct policy *policy) {
  for (size_t i = 0; i < policy->n_feeds; i++) {
    tensor_free(&policy->tensors[i]);
  }
  policy->n_feeds = 0;
}

static void policy_close(struct policy *policy) {
  drop_feeds(policy);
  session_close(policy->session);
  model_close(policy->model);
}

/* The state input that the reference carries along, or NULL. */
static const char *state_output_of(const struct policy *policy, const char *input) {
  json_t *map = json_object_get(policy->entry, "state_map");
  return json_is_object(map) ? json_string_value(json_object_get(map, input)) : NULL;
}

/* Fills the feeds of one run. State of steps after the first is what the last run handed out. */
static void make_feeds(struct policy *policy, json_t *run, const struct named_tensor *last, size_t n_last) {
  const char *mode = json_string_value(json_object_get(run, "mode"));
  json_t *inputs = json_object_get(run, "inputs");
  const struct graph *graph = policy->model->graph;
  bool stepped = text_starts_with(mode, "ramp_state0");
  assay_tensor old[INPUTS_MAX];
  size_t n_old = policy->n_feeds;
  memcpy(old, policy->tensors, sizeof old);
  policy->n_feeds = 0;
  for (int32_t i = 0; i < graph->n_inputs; i++) {
    const struct value *value = &graph->values[graph->inputs[i]];
    if (value->initializer >= 0) {
      continue;
    }
    size_t k = policy->n_feeds++;
    assert_true(k < INPUTS_MAX);
    json_t *dims_json = json_object_get(json_object_get(inputs, value->name), "dims");
    int64_t dims[ASSAY_RANK_MAX];
    for (size_t j = 0; j < json_array_size(dims_json); j++) {
      dims[j] = json_integer_value(json_array_get(dims_json, j));
    }
    assay_tensor *tensor = &policy->tensors[k];
    const char *state = stepped ? state_output_of(policy, value->name) : NULL;
    ASSERT_OK(tensor_new(value->declared.dtype, dims, (int)json_array_size(dims_json), tensor));
    policy_reference_fill(tensor, state != NULL || text_equal(mode, "zeros"), (int64_t)k);
    for (size_t j = 0; state != NULL && !text_equal(mode, "ramp_state0_step1") && j < n_last; j++) {
      if (text_equal(last[j].name, state)) {
        tensor_free(tensor);
        ASSERT_OK(tensor_copy(last[j].tensor, tensor));
      }
    }
    policy->feeds[k] = (struct named_tensor){value->name, tensor};
  }
  for (size_t i = 0; i < n_old; i++) {
    tensor_free(&old[i]);
  }
}

/* Runs the i-th run of the reference; runs must be taken in order, since state is carried. */
static void policy_run(struct policy *policy, json_t *run, const struct named_tensor **outputs, size_t *n_outputs) {
  make_feeds(policy, run, *outputs, *n_outputs);
  struct session_run call = {.inputs = policy->feeds, .n_inputs = policy->n_feeds};
  ASSERT_OK(session_run(policy->session, &call, outputs, n_outputs));
}

/* --- agreement with the reference ------------------------------------------ */

static double compare_run(const struct policy *policy, json_t *run, const struct named_tensor *outputs, size_t n,
                          double tolerance) {
  bool wide = policy->precision == PRECISION_FP64;
  const char *mode = json_string_value(json_object_get(run, "mode"));
  json_t *expected = json_object_get(run, "outputs");
  double worst = 0;
  assert_int_equal(json_object_size(expected), n);
  for (size_t i = 0; i < n; i++) {
    json_t *output = json_object_get(expected, outputs[i].name);
    json_t *values = json_object_get(output, wide ? "values64" : "values");
    json_t *dims = json_object_get(output, "dims");
    assert_non_null(output);
    assert_int_equal(outputs[i].tensor->dtype, wide ? ASSAY_FLOAT64 : ASSAY_FLOAT32);
    assert_int_equal(outputs[i].tensor->rank, json_array_size(dims));
    for (size_t j = 0; j < json_array_size(dims); j++) {
      assert_int_equal(outputs[i].tensor->dims[j], json_integer_value(json_array_get(dims, j)));
    }
    if (values == NULL) {
      assert_non_null(json_object_get(output, "no_values64")); /* the reference says why */
      continue;
    }
    assert_int_equal(json_array_size(values), tensor_count(outputs[i].tensor));
    double far =
        policy_reference_distance(outputs[i].tensor, values, json_number_value(json_object_get(output, "scale")));
    if (!(far <= tolerance)) {
      print_error("%s, %s, output '%s': off by %.3g of scale, allowed %.3g\n", policy_file(policy), mode,
                  outputs[i].name, far, tolerance);
      fail();
    }
    worst = far > worst ? far : worst;
  }
  return worst;
}

static bool has_float64(json_t *entry) { return json_is_string(json_object_get(entry, "float64")); }

static void agree(enum precision_kind precision, double tolerance) {
  const char *folder;
  json_t *all = policy_reference_load(&folder);
  size_t index, count = 0;
  json_t *entry;
  double worst = 0;
  json_array_foreach(all, index, entry) {
    if (precision == PRECISION_FP64 && !has_float64(entry)) {
      continue; /* mnist_quantized: no_values64 says why */
    }
    struct policy policy;
    policy_open(&policy, folder, entry, (struct session_options){.precision = precision, .kernel_level = -1});
    const struct named_tensor *outputs = NULL;
    size_t n_outputs = 0, i;
    json_t *run;
    json_array_foreach(json_object_get(entry, "runs"), i, run) {
      policy_run(&policy, run, &outputs, &n_outputs);
      double far = compare_run(&policy, run, outputs, n_outputs, tolerance);
      worst = far > worst ? far : worst;
      count++;
    }
    policy_close(&policy);
  }
  print_message("%zu runs in %s: at most %.2g of scale from the reference\n", count, precision_name(precision), worst);
  assert_true(count >= 55);
  json_decref(all);
}

static void test_fp32_agrees_with_onnxruntime(void **state) {
  (void)state;
  agree(PRECISION_FP32, 1e-5);
}

static void test_fp64_agrees_with_float64(void **state) {
  (void)state;
  agree(PRECISION_FP64, 1e-9);
}

/* --- one answer -------------------------------------------------------------- */

/* One hash over all outputs of all runs of a policy. */
static void hash_policy(const char *folder, json_t *entry, struct session_options options, char out[HASH_TEXT_SIZE]) {
  struct policy policy;
  struct hash hash;
  policy_open(&policy, folder, entry, options);
  hash_begin(&hash);
  const struct named_tensor *outputs = NULL;
  size_t n_outputs = 0, i;
  json_t *run;
  json_array_foreach(json_object_get(entry, "runs"), i, run) {
    policy_run(&policy, run, &outputs, &n_outputs);
    for (size_t j = 0; j < n_outputs; j++) {
      hash_add(&hash, outputs[j].tensor->data, outputs[j].tensor->bytes);
    }
  }
  hash_end(&hash, out);
  policy_close(&policy);
}

/* Without instructions for a fused multiply-add the baseline is some hundred times slower: the image models are left
 * to the other levels there. */
static bool is_heavy(json_t *entry) {
  const char *file = json_string_value(json_object_get(entry, "file"));
  return strstr(file, "RFB-320") != NULL || strstr(file, "dronet") != NULL;
}

/* The line of tests/golden/policies.tsv for a model and a precision, or NULL. */
static const char *golden_hash(const char *golden, const char *file, const char *precision, char out[HASH_TEXT_SIZE]) {
  char key[512];
  snprintf(key, sizeof key, "\n%s\t%s\t", file, precision);
  const char *at = strstr(golden, key);
  if (at == NULL) {
    return NULL;
  }
  at += strlen(key);
  snprintf(out, HASH_TEXT_SIZE, "%.*s", (int)strcspn(at, "\n"), at);
  return out;
}

static const enum precision_kind precisions[] = {PRECISION_FP32, PRECISION_FP64, PRECISION_TF32, PRECISION_BF16,
                                                 PRECISION_FP16};

/* The wide precision has no kernels for quantised operators. */
static bool is_run_at(json_t *entry, enum precision_kind precision) {
  return precision != PRECISION_FP64 || has_float64(entry);
}

static void test_golden_hashes(void **state) {
  (void)state;
  const char *folder;
  json_t *all = policy_reference_load(&folder), *entry;
  struct text made = {0};
  char *golden = NULL;
  size_t index, size, wrong = 0;
  const char *path = ASSAY_SOURCE_DIR "/tests/golden/policies.tsv";
  bool write = getenv("ASSAY_GOLDEN_WRITE") != NULL;
  text_add(&made, "file\tprecision\tsha256 of the outputs of all runs, in order\n");
  if (!write) {
    ASSERT_OK(file_read(path, 1 << 20, &golden, &size));
  }
  json_array_foreach(all, index, entry) {
    const char *file = json_string_value(json_object_get(entry, "file"));
    for (size_t i = 0; i < sizeof precisions / sizeof *precisions; i++) {
      if (!is_run_at(entry, precisions[i])) {
        continue;
      }
      char found[HASH_TEXT_SIZE], expected[HASH_TEXT_SIZE];
      hash_policy(folder, entry, (struct session_options){.precision = precisions[i], .kernel_level = -1}, found);
      const char *name = precision_name(precisions[i]);
      text_format(&made, "%s\t%s\t%s\n", file, name, found);
      if (!write && (golden_hash(golden, file, name, expected) == NULL || strcmp(found, expected) != 0)) {
        print_error("%s in %s: other bits than tests/golden/policies.tsv\n", file, name);
        wrong++;
      }
    }
  }
  if (write) {
    ASSERT_OK(file_replace(path, made.data, made.length));
  }
  assert_int_equal(wrong, 0);
  text_free(&made);
  free(golden);
  json_decref(all);
}

static void test_same_bits_at_every_level_and_thread_count(void **state) {
  (void)state;
  static const int threads[] = {1, 2, 3, 7};
  const char *folder;
  json_t *all = policy_reference_load(&folder), *entry;
  size_t index, wrong = 0, compared = 0;
  json_array_foreach(all, index, entry) {
    char first[HASH_TEXT_SIZE] = "";
    for (int level = KERNEL_LEVEL_COUNT - 1; level >= 0; level--) {
      if (kernels_at((enum kernel_level)level) == NULL || (level == KERNEL_LEVEL_BASE && is_heavy(entry))) {
        continue;
      }
      for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        char found[HASH_TEXT_SIZE];
        hash_policy(folder, entry, (struct session_options){.kernel_level = level, .threads = threads[t]}, found);
        if (first[0] == '\0') {
          memcpy(first, found, sizeof first);
        }
        compared++;
        if (strcmp(first, found) != 0) {
          print_error("%s: level %s with %d threads gives other bits\n",
                      json_string_value(json_object_get(entry, "file")), kernel_level_name((enum kernel_level)level),
                      threads[t]);
          wrong++;
        }
      }
    }
  }
  assert_int_equal(wrong, 0);
  assert_true(compared >= 23 * 4);
  json_decref(all);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fp32_agrees_with_onnxruntime),
      cmocka_unit_test(test_fp64_agrees_with_float64),
      cmocka_unit_test(test_golden_hashes),
      cmocka_unit_test(test_same_bits_at_every_level_and_thread_count),
  };
  return cmocka_run_group_tests_name("policies", tests, NULL, NULL);
}
