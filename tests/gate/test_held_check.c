/* What no case can tell is said beside the verdict: decoding without the source's own result, terms without their
 * sensors. */
#include <string.h>

#include "gate/held_check.h"
#include "policy_builder.h"
#include "support.h"

static const float rows[3][3] = {{0.12F, -0.04F, 0.7F}, {0.5F, 0.25F, 0.1F}, {-0.3F, 0.9F, 0.9F}};

static int notes_with(const struct gate_result *result, const char *part) {
  int found = 0;
  for (int32_t i = 0; i < result->n_notes; i++) {
    found += strstr(result->notes[i], part) != NULL;
  }
  return found;
}

/* The same policy with a wrong scale in its decoding passes, since nothing says otherwise: so it is said. */
static void decoding_that_no_case_can_tell_is_noted(void **state) {
  (void)state;
  char *folder = policy_folder();
  policy_golden(folder, rows, 3);
  struct gate_result *result = policy_verify(folder);
  int plain = notes_with(result, "the decoding of 'action' was held against nothing");
  bool decodes = false;
  const struct contract_output *output = contract_find_output(result->contract, "action");
  for (int32_t c = 0; c < output->n_components; c++) {
    decodes = decodes || output->components[c].n_decode > 0;
  }
  assert_int_equal(plain, decodes ? 1 : 0);
  gate_result_free(result);
  temp_free(folder);
}

/* The checker itself: an observation that is stored without its sensors, then one case with them. */
static void terms_without_their_sensors_are_noted_until_a_case_has_them(void **state) {
  (void)state;
  static const char text[] =
      "assay: 1\npolicy: p\nmodel: m.onnx\ninputs:\n  - name: obs\n    dtype: float32\n    shape: [1, 2]\n    terms:\n"
      "      - {name: v, elements: [x, \"y\"], unit: rad/s, scale: 0.5}\noutputs:\n  - name: action\n    dtype: "
      "float32\n"
      "    shape: [1, 1]\n    decode: [{scale: 2}]\n    components: [{name: hip, unit: rad, tolerance: {max: 0.1}}]\n";
  struct gate_result *result;
  struct held_check check;
  ASSERT_OK(gate_result_new(&result));
  ASSERT_OK(contract_parse(text, strlen(text), "contract.yaml", ".", &result->contract));
  ASSERT_OK(held_check_open(result->contract, &result->arena, &check));
  struct case_array obs = {.name = "obs"}, raw = {.name = "v"}, decoded = {.name = "hip"};
  struct case_data data = {.n_inputs = 1, .inputs = &obs};
  held_check_see(&check, &data);
  ASSERT_OK(held_check_note(&check, result));
  assert_int_equal(notes_with(result, "the terms of 'obs' were held against nothing"), 1);
  assert_int_equal(notes_with(result, "the decoding of 'action' was held against nothing"), 1);
  data.n_raw = data.n_decoded = 1;
  data.raw = &raw;
  data.decoded = &decoded;
  held_check_see(&check, &data);
  ASSERT_OK(held_check_note(&check, result));
  assert_int_equal(result->n_notes, 2); /* none more */
  gate_result_free(result);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(decoding_that_no_case_can_tell_is_noted),
      cmocka_unit_test(terms_without_their_sensors_are_noted_until_a_case_has_them),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
