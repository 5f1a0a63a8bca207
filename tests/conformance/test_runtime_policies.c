/* The policies that others deploy through ONNX Runtime as a rung: the runtime that is installed against what another
 * version of it answered, and against assay's own engine. */
#include <math.h>
#include <string.h>

#include "core/text.h"
#include "model/model.h"
#include "model/typed_precision.h"
#include "policy_reference.h"
#include "rung/rung.h"
#include "runtime_files.h"
#include "support.h"
#include "tensor/tensor.h"

enum { INPUTS_MAX = 16 };
static const double tolerance = 1e-5; /* of scale */

struct policy {
  json_t *entry;
  struct model *model;
  struct rung *rung;
  struct rung_tensor feeds[INPUTS_MAX];
  int32_t n_feeds;
};

static void drop_feeds(struct policy *policy) {
  for (int32_t i = 0; i < policy->n_feeds; i++) {
    tensor_free(&policy->feeds[i].tensor);
  }
  policy->n_feeds = 0;
}

static const char *state_output_of(const struct policy *policy, const char *input) {
  json_t *map = json_object_get(policy->entry, "state_map");
  return json_is_object(map) ? json_string_value(json_object_get(map, input)) : NULL;
}

/* Feeds of one run; the state of later steps is what the last answer gave. */
static void make_feeds(struct policy *policy, json_t *run, const struct rung_answer *last) {
  const char *mode = json_string_value(json_object_get(run, "mode"));
  const struct graph *graph = policy->model->graph;
  bool stepped = text_starts_with(mode, "ramp_state0");
  struct rung_tensor made[INPUTS_MAX];
  int32_t n = 0;
  for (int32_t i = 0; i < graph->n_inputs; i++) {
    const struct value *value = &graph->values[graph->inputs[i]];
    if (value->initializer >= 0) {
      continue;
    }
    json_t *dims_json = json_object_get(json_object_get(json_object_get(run, "inputs"), value->name), "dims");
    int64_t dims[ASSAY_RANK_MAX];
    for (size_t j = 0; j < json_array_size(dims_json); j++) {
      dims[j] = json_integer_value(json_array_get(dims_json, j));
    }
    const char *state = stepped ? state_output_of(policy, value->name) : NULL;
    assert_true(n < INPUTS_MAX);
    made[n].name = value->name;
    ASSERT_OK(tensor_new(value->declared.dtype, dims, (int)json_array_size(dims_json), &made[n].tensor));
    policy_reference_fill(&made[n].tensor, state != NULL || text_equal(mode, "zeros"), n);
    for (int32_t j = 0; state != NULL && !text_equal(mode, "ramp_state0_step1") && j < last->n_outputs; j++) {
      if (text_equal(last->outputs[j].name, state)) {
        tensor_free(&made[n].tensor);
        ASSERT_OK(tensor_copy(&last->outputs[j].tensor, &made[n].tensor));
      }
    }
    n++;
  }
  drop_feeds(policy);
  memcpy(policy->feeds, made, sizeof made);
  policy->n_feeds = n;
}

static double compare(const struct policy *policy, json_t *run, const struct rung_answer *answer, double at_most) {
  json_t *expected = json_object_get(run, "outputs");
  double worst = 0;
  assert_int_equal(json_object_size(expected), answer->n_outputs);
  for (int32_t i = 0; i < answer->n_outputs; i++) {
    const struct rung_tensor *output = &answer->outputs[i];
    json_t *values = json_object_get(json_object_get(expected, output->name), "values");
    double scale = json_number_value(json_object_get(json_object_get(expected, output->name), "scale"));
    assert_int_equal(json_array_size(values), tensor_count(&output->tensor));
    double far = policy_reference_distance(&output->tensor, values, scale);
    if (!(far <= at_most)) {
      print_error("%s, output '%s': off by %.3g of scale\n", json_string_value(json_object_get(policy->entry, "file")),
                  output->name, far);
      fail();
    }
    worst = far > worst ? far : worst;
  }
  return worst;
}

/* A runtime as it is asked for. */
struct runtime {
  const char *engine;
  const struct rung_setting *settings;
  int32_t n_settings;
};

/* What a runtime cannot read, and its own words for it. */
static const struct {
  const char *engine, *file, *says;
} refused[] = {
    {"openvino", "silero_vad", "input data tensor's rank has to be known"},  /* a Conv inside an If */
    {"openvino", "20250410_121925_model_14000", "No conversion rule found"}, /* functions of the model's own */
};

/* Where a runtime's answer is another, by how much at most, and why. */
static const struct {
  const char *engine, *file, *why;
  double at_most;
} other[] = {
    {"openvino", "mnist_quantized",
     "it multiplies by the reciprocal of the scale where the first QuantizeLinear has ties", 0.25},
};

static double allowed(const char *engine, const char *file) {
  for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
    if (strcmp(other[i].engine, engine) == 0 && strstr(file, other[i].file) != NULL) {
      print_message("%s differs on %s: %s\n", engine, other[i].file, other[i].why);
      return other[i].at_most;
    }
  }
  return tolerance;
}

/* Does the runtime refuse this file, as it is known to? Whatever else goes wrong fails the test. */
static bool is_refused(const struct rung_request *request) {
  struct rung *rung = NULL;
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    if (strcmp(refused[i].engine, request->engine) == 0 && strstr(request->model_path, refused[i].file) != NULL) {
      ASSERT_FAILS(rung_open(request, &rung), ASSAY_RUNG_FAILED, refused[i].says);
      print_message("%s does not take %s: %s\n", request->engine, refused[i].file, refused[i].says);
      return true;
    }
  }
  return false;
}

static double check_policy(const char *folder, json_t *entry, const struct runtime *runtime) {
  struct policy policy = {.entry = entry};
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, json_string_value(json_object_get(entry, "file")));
  struct rung_request request = {.name = runtime->engine,
                                 .engine = runtime->engine,
                                 .provider = "cpu",
                                 .model_path = path,
                                 .threads = 1,
                                 .settings = runtime->settings,
                                 .n_settings = runtime->n_settings};
  struct rung_answer answer = {0};
  double worst = 0;
  size_t i;
  json_t *run;
  if (is_refused(&request)) {
    return 0;
  }
  double at_most = allowed(runtime->engine, path);
  ASSERT_OK(model_open(path, NULL, &policy.model));
  request.precision = model_typed_precision(policy.model); /* fp32, and int8 once */
  ASSERT_OK(rung_open(&request, &policy.rung));
  json_array_foreach(json_object_get(entry, "runs"), i, run) {
    make_feeds(&policy, run, &answer);
    struct rung_call call = {.case_id = "reference", .inputs = policy.feeds, .n_inputs = policy.n_feeds};
    ASSERT_OK(rung_run(policy.rung, &call, &answer));
    double far = compare(&policy, run, &answer, at_most);
    worst = far > worst ? far : worst;
  }
  struct rung_actual actual;
  rung_describe(policy.rung, &actual);
  ASSERT_OK(rung_check_actual(&request, &actual));
  assert_true(actual.n_placement > 0);
  rung_close(policy.rung);
  drop_feeds(&policy);
  model_close(policy.model);
  return worst;
}

static void check_all(const struct runtime *runtime) {
  const char *folder;
  json_t *all = policy_reference_load(&folder), *entry;
  size_t index, count = 0;
  double worst = 0;
  json_array_foreach(all, index, entry) {
    double far = check_policy(folder, entry, runtime);
    worst = far > worst && far <= tolerance ? far : worst;
    count++;
  }
  print_message("%zu policies by %s: at most %.2g of scale\n", count, runtime->engine, worst);
  assert_int_equal(count, 23);
  json_decref(all);
}

static void onnxruntime_agrees(const char *library, const char *optimization) {
  const struct rung_setting settings[] = {{"library", library}, {"optimization", optimization}};
  const struct runtime runtime = {.engine = "onnxruntime", .settings = settings, .n_settings = 2};
  check_all(&runtime);
}

static void the_newest_onnxruntime_agrees(void **state) {
  (void)state;
  const char *library = onnxruntime_library();
  if (library == NULL) {
    skip();
  }
  onnxruntime_agrees(library, "all");
  onnxruntime_agrees(library, "disable");
}

static void the_oldest_onnxruntime_agrees(void **state) {
  (void)state;
  const char *library = onnxruntime_oldest_library();
  if (library == NULL) {
    skip();
  }
  onnxruntime_agrees(library, "all");
}

static void openvino_agrees_in_fp32(void **state) {
  (void)state;
  const char *library = openvino_library();
  if (library == NULL) {
    skip();
  }
  const struct rung_setting setting = {"library", library};
  const struct runtime runtime = {.engine = "openvino", .settings = &setting, .n_settings = 1};
  check_all(&runtime);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_newest_onnxruntime_agrees),
      cmocka_unit_test(the_oldest_onnxruntime_agrees),
      cmocka_unit_test(openvino_agrees_in_fp32),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
