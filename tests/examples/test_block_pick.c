/* block_pick and the folders whose model is wrong in one way: the whole verdict of each. Structure alone cannot
 * tell them apart: all models pass the binding to the contract. */
#include <string.h>

#include "expected_verdict.h"
#include "policy_builder.h"
#include "support.h"

static const char *folder(const char *name) {
  static char path[1024];
  snprintf(path, sizeof path, ASSAY_SOURCE_DIR "/examples/%s", name);
  return path;
}

/* The rung "fp32" is rejected with this code on this component (NULL: on any). */
static void expect_reason(const struct gate_result *result, assay_code code, const char *component) {
  const struct rung_result *rung = result_rung(result, "fp32");
  bool found = false;
  for (int32_t i = 0; i < rung->reasons.count; i++) {
    const char *of = rung->reasons.items[i].component;
    found |= rung->reasons.items[i].code == code && (component == NULL || (of != NULL && strcmp(of, component) == 0));
  }
  if (!found) {
    print_error("expected the reason %s on %s\n", assay_code_name(code),
                component != NULL ? component : "any component");
    fail();
  }
}

static void rejected(const char *name, assay_code code, const char *component) {
  struct gate_result *result = policy_verify(folder(name));
  expect_verdict(result, VERDICT_REJECT, 1);
  expect_reason(result, code, component);
  expect_whole_verdict(result, name);
  gate_result_free(result);
}

static void block_pick_passes(void **state) {
  (void)state;
  struct gate_result *result = policy_verify(folder("block_pick"));
  expect_verdict(result, VERDICT_PASS, 0);
  expect_whole_verdict(result, "block_pick");
  gate_result_free(result);
}

static void swapped_cameras_are_rejected(void **state) {
  (void)state;
  rejected("swapped_cameras", ASSAY_DECISION_FLIP, "gripper");
}

static void colour_order_is_rejected(void **state) {
  (void)state;
  rejected("colour_order", ASSAY_DRIFT_MAX, "wrist");
}

static void missing_normalisation_is_rejected(void **state) {
  (void)state;
  rejected("missing_normalisation", ASSAY_DRIFT_MAX, "shoulder");
}

static void joint_order_is_rejected_by_name(void **state) {
  (void)state;
  rejected("joint_order", ASSAY_DRIFT_MAX, "shoulder");
  rejected("joint_order", ASSAY_DRIFT_MAX, "elbow");
}

/* The first step is right in every case, so that only sequences can tell. */
static void state_not_carried_is_rejected(void **state) {
  (void)state;
  rejected("state_not_carried", ASSAY_DRIFT_MAX, "forward");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(block_pick_passes),
      cmocka_unit_test(swapped_cameras_are_rejected),
      cmocka_unit_test(colour_order_is_rejected),
      cmocka_unit_test(missing_normalisation_is_rejected),
      cmocka_unit_test(joint_order_is_rejected_by_name),
      cmocka_unit_test(state_not_carried_is_rejected),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
