/* The public functions, as a program outside would use them. */
#include "assay/assay.h"

#include <string.h>

#include "core/hash.h"
#include "failing_memory.h"
#include "model_builder.h"
#include "scratch_folder.h"
#include "tensor/npz.h"

static char path[2048];

/* y = (x + w) * x, with w listed among the inputs too, and a symbolic batch. */
static void write_model(void) {
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_metadata(model, "trained_by", "somebody");
  onnx_input(graph, "x", ASSAY_FLOAT32, "batch,3");
  onnx_input(graph, "w", ASSAY_FLOAT32, "3");
  onnx_f32(graph, "w", "3", (const float[]){1, 2, 3});
  onnx_node(graph, "Add", "x,w", "s");
  onnx_node(graph, "Mul", "s,x", "y");
  onnx_output(graph, "y", ASSAY_FLOAT32, "batch,3");
  onnx_write(model, path);
  proto_free(model);
}

static void a_model_says_what_it_takes_and_gives(void **state) {
  (void)state;
  assay_model *model;
  ASSERT_OK(assay_model_open(path, &model));
  assert_int_equal(assay_model_input_count(model), 1); /* w has its value already */
  assert_int_equal(assay_model_output_count(model), 1);
  assay_port x = assay_model_input(model, 0), y = assay_model_output(model, 0);
  assert_string_equal(x.name, "x");
  assert_string_equal(y.name, "y");
  assert_int_equal(x.dtype, ASSAY_FLOAT32);
  assert_int_equal(x.rank, 2);
  assert_int_equal(x.dims[0], -1);
  assert_int_equal(x.dims[1], 3);
  assert_string_equal(assay_model_input(model, 1).name, "");
  assert_string_equal(assay_model_output(model, 1).name, "");
  assert_int_equal(assay_model_opset(model, ""), 17);
  assert_int_equal(assay_model_opset(model, "com.microsoft"), 0);
  assert_string_equal(assay_model_metadata(model, "trained_by"), "somebody");
  assert_null(assay_model_metadata(model, "none"));
  assay_model_close(model);
  assay_model_close(NULL);
}

static void a_file_that_is_missing_is_named(void **state) {
  (void)state;
  assay_model *model;
  assay_status status = assay_model_open("/nowhere/policy.onnx", &model);
  assert_int_equal(status.code, ASSAY_FILE_MISSING);
  assert_string_equal(assay_status_where(status), "/nowhere/policy.onnx");
  assert_null(model);
  assay_status_clear(&status);
  assert_true(assay_status_ok(status));
  assert_string_equal(assay_version(), ASSAY_VERSION);
}

static float values[] = {1, 2, 3, -1, 0, 4};
static const float expected[] = {2, 8, 18, -0.0F, 0, 28};
static const assay_tensor x_tensor = {
    .dtype = ASSAY_FLOAT32, .rank = 2, .dims = {2, 3}, .data = values, .bytes = sizeof values};
static const assay_named_tensor feed[] = {{"x", &x_tensor}};

static assay_status run(assay_session *session) {
  const assay_named_tensor *outputs;
  size_t n_outputs;
  TRY(assay_session_run(session, feed, 1, &outputs, &n_outputs));
  assert_int_equal(n_outputs, 1);
  assert_string_equal(outputs[0].name, "y");
  assert_int_equal(outputs[0].tensor->bytes, sizeof expected);
  assert_memory_equal(outputs[0].tensor->data, expected, sizeof expected);
  return status_ok();
}

static void a_session_runs_and_then_allocates_nothing(void **state) {
  (void)state;
  assay_model *model;
  assay_session *session;
  ASSERT_OK(assay_model_open(path, &model));
  ASSERT_OK(assay_session_open(model, &(assay_session_options){.threads = 2}, &session));
  ASSERT_OK(run(session));
  memory_fail_at(-1);
  ASSERT_OK(run(session));
  assert_int_equal(memory_fail_at(-1), 0);
  assay_session_close(session);
  assay_session_close(NULL);
  assay_model_close(model);
}

static void wrong_options_and_feeds_are_refused(void **state) {
  (void)state;
  assay_model *model;
  assay_session *session;
  const assay_named_tensor *outputs;
  size_t n;
  ASSERT_OK(assay_model_open(path, &model));
  ASSERT_FAILS(assay_session_open(model, &(assay_session_options){.precision = (assay_precision)9}, &session),
               ASSAY_USAGE, "precision 9");
  assert_null(session);
  ASSERT_OK(assay_session_open(model, NULL, &session));
  assay_status status = assay_session_run(session, NULL, 0, &outputs, &n);
  assert_int_equal(assay_code_kind_of(status.code), ASSAY_KIND_INPUT);
  assert_non_null(strstr(assay_status_sentence(status), "x"));
  assay_status_clear(&status);
  const assay_named_tensor twice[] = {{"x", &x_tensor}, {"x", &x_tensor}};
  status = assay_session_run(session, twice, 2, &outputs, &n);
  assert_int_equal(assay_code_kind_of(status.code), ASSAY_KIND_INPUT);
  assay_status_clear(&status);
  ASSERT_OK(run(session));
  assay_session_close(session);
  assay_model_close(model);
}

/* A policy folder around that model: one case, whose recorded answer is right or not. */
static void write_policy(const char *folder, float last) {
  static const char contract[] =
      "assay: 1\npolicy: test\nmodel: policy.onnx\n"
      "inputs:\n  - {name: x, dtype: float32, shape: [{min: 1, opt: 2, max: 2}, 3]}\n"
      "outputs:\n  - name: y\n    dtype: float32\n    shape: [{min: 1, opt: 2, max: 2}, 3]\n"
      "    axes: [batch, component]\n    components:\n"
      "      - {name: a, unit: rad, tolerance: {max: 0.001}}\n"
      "      - {name: b, unit: rad, tolerance: {max: 0.001}}\n"
      "      - {name: c, unit: rad, tolerance: {max: 0.001}}\n";
  static const char gate[] =
      "assay: 1\ncontract: contract.yaml\ncorpus: golden\nreference: {rung: recorded}\n"
      "rungs:\n  - {name: fp32, engine: assay}\n";
  ASSERT_OK(folder_make(in_folder(folder, "golden")));
  write_file(in_folder(folder, "contract.yaml"), contract, sizeof contract - 1);
  write_file(in_folder(folder, "gate.yaml"), gate, sizeof gate - 1);
  float answer[6];
  memcpy(answer, expected, sizeof answer);
  answer[5] = last;
  const assay_tensor y = {.dtype = ASSAY_FLOAT32, .rank = 2, .dims = {2, 3}, .data = answer, .bytes = sizeof answer};
  const struct npz_entry entries[] = {{"inputs/x", &x_tensor}, {"outputs/y", &y}};
  ASSERT_OK(npz_write(in_folder(folder, "golden/one.npz"), entries, 2));
  char digest[HASH_TEXT_SIZE], corpus[256];
  ASSERT_OK(hash_file(in_folder(folder, "golden/one.npz"), digest));
  int length =
      snprintf(corpus, sizeof corpus,
               "assay: 1\nrole: golden\ncases:\n  - {id: one, file: one.npz, digest: '%s', expect: answer}\n", digest);
  write_file(in_folder(folder, "golden/corpus.yaml"), corpus, (size_t)length);
}

static void the_gate_gives_its_verdict_and_reasons(void **state) {
  (void)state;
  struct arena arena = {0};
  char *folder = path_folder(&arena, path);
  assay_report *report;
  write_policy(folder, 28);
  ASSERT_OK(assay_verify(folder, NULL, &report));
  assert_int_equal(assay_report_verdict(report), ASSAY_VERDICT_PASS);
  assert_int_equal(assay_report_exit_code(report), 0);
  assay_report_free(report);

  write_policy(folder, 28.5F);
  ASSERT_OK(assay_verify(folder, &(assay_verify_options){.threads = 1}, &report));
  assert_int_equal(assay_report_verdict(report), ASSAY_VERDICT_REJECT);
  assert_int_equal(assay_report_exit_code(report), 1);
  bool found = false;
  for (size_t i = 0; i < assay_report_reason_count(report); i++) {
    assay_reason reason = assay_report_reason(report, i);
    if (reason.code == ASSAY_DRIFT_MAX) {
      found = true;
      assert_string_equal(reason.rung, "fp32");
      assert_string_equal(reason.component, "c");
      assert_string_equal(reason.case_id, "one");
      assert_true(reason.expected == 28.5 && reason.actual == 28);
    }
  }
  assert_true(found);
  assert_int_equal(assay_report_reason(report, 1000).code, ASSAY_OK);
  assert_non_null(strstr(assay_report_json(report), "DRIFT_MAX"));
  assert_false(file_exists(in_folder(folder, "report")));
  ASSERT_OK(assay_report_write(report, in_folder(folder, "report")));
  assert_true(file_exists(in_folder(folder, "report/verdict.json")));
  assay_report_free(report);
  assay_report_free(NULL);
  ASSERT_FAILS(assay_verify("/nowhere", NULL, &report), ASSAY_FILE_MISSING, "");
  assert_null(report);
  arena_free(&arena);
}

static assay_status open_and_run(void *argument) {
  (void)argument;
  assay_model *model;
  assay_session *session;
  TRY(assay_model_open(path, &model));
  assay_status status = assay_session_open(model, NULL, &session);
  if (assay_status_ok(status)) {
    status = run(session);
    assay_session_close(session);
  }
  assay_model_close(model);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  fail_every_allocation(open_and_run, NULL);
}

int main(void) {
  snprintf(path, sizeof path, "%s", in_folder(scratch_folder("test_api"), "policy.onnx"));
  write_model();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_model_says_what_it_takes_and_gives),
      cmocka_unit_test(a_file_that_is_missing_is_named),
      cmocka_unit_test(a_session_runs_and_then_allocates_nothing),
      cmocka_unit_test(wrong_options_and_feeds_are_refused),
      cmocka_unit_test(the_gate_gives_its_verdict_and_reasons),
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
