/* The whole gate and its reports with memory running out at any point: an error, never a crash, and never a
 * verdict. */
#include <string.h>

#include "core/memory.h"
#include "policy_builder.h"
#include "report/report.h"
#include "support.h"

static assay_status attempt(const char *folder, enum verdict *verdict) {
  struct gate_result *result = NULL;
  struct text json = {0}, junit = {0}, table = {0};
  assay_status status = gate_run(&(struct gate_options){.folder = folder}, &result);
  if (assay_status_ok(status)) {
    *verdict = result->verdict;
    status = report_json(result, &json);
  }
  if (assay_status_ok(status)) {
    status = report_junit(result, &junit);
  }
  if (assay_status_ok(status)) {
    status = report_terminal(result, &(struct terminal_options){.verbose = true}, &table);
  }
  text_free(&json);
  text_free(&junit);
  text_free(&table);
  gate_result_free(result);
  return status;
}

static void no_allocation_that_fails_gives_a_pass(void **state) {
  (void)state;
  const float rows[2][3] = {{0.12F, -0.04F, 0.7F}, {0.5F, 0.25F, 0.1F}};
  char *folder = policy_folder();
  temp_write(folder, "contract.yaml",
             "assay: 1\npolicy: toy\nmodel: policy.onnx\ninputs: [{name: obs, dtype: float32, shape: [1, 3]}]\n"
             "outputs:\n  - {name: action, dtype: float32, shape: [1, 3], axes: [batch, component],\n"
             "     components: [{names: [shoulder, wrist], unit: rad, tolerance: {max: 0.002}, limits: {max: 0.6}},\n"
             "       {name: gripper, unit: score, decision: {threshold: 0.5, at_or_above: close, below: open}}]}\n");
  policy_golden(folder, rows, 2);
  policy_model(folder, "policy.onnx", (const float[]){1, 1, 1}, (const float[]){0, 1, 0}); /* to be rejected */
  int64_t failed = 0;
  for (int64_t n = 0;; n++) {
    enum verdict verdict = VERDICT_REJECT;
    memory_fail_at(n);
    assay_status status = attempt(folder, &verdict);
    int64_t asked = memory_fail_at(-1);
    assert_int_not_equal(verdict, VERDICT_PASS);
    if (asked <= n) {
      ASSERT_OK(status);
      break;
    }
    failed += status.code == ASSAY_OUT_OF_MEMORY;
    assay_status_clear(&status);
  }
  assert_true(failed > 10);
  temp_free(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(no_allocation_that_fails_gives_a_pass)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
