/* Drafts: valid YAML whatever the model's names are, every unknown meaning a TODO that reading refuses with its
 * line, and a contract once the questions are answered. */
#include <string.h>

#include "contract/contract.h"
#include "contract/draft.h"
#include "contract/importer.h"
#include "contract/yaml.h"
#include "support.h"

static const int64_t image[] = {1, 3, 96, 96}, dynamic[] = {-1, 4}, two[] = {1, 2}, chunk[] = {1, 20, 4}, one[] = {1};

static struct text draft(const struct signature *signature) {
  struct text out = {0};
  struct arena arena = {0};
  struct facts *facts;
  static const char *const name = "policy.onnx";
  const struct import_models models = {1, &name, &signature};
  ASSERT_OK(facts_new(&arena, &facts));
  ASSERT_OK(import_metadata(&models, facts));
  const struct draft_model model = {"policy.onnx", signature};
  const struct draft wanted = {"policy", 1, &model, facts};
  ASSERT_OK(draft_contract(&wanted, &out));
  arena_free(&arena);
  return out;
}

static void drafts_questions(void **state) {
  (void)state;
  const struct signature_tensor inputs[] = {{"front", ASSAY_FLOAT32, 4, image, false},
                                            {"obs", ASSAY_FLOAT32, 2, dynamic, false},
                                            {"h", ASSAY_FLOAT32, 2, two, false},
                                            {"w", ASSAY_FLOAT32, 1, one, true},
                                            {"ids", ASSAY_INT64, 1, one, false}};
  const struct signature_tensor outputs[] = {{"action", ASSAY_FLOAT32, 3, chunk, false},
                                             {"h2", ASSAY_FLOAT32, 2, two, false}};
  struct signature signature = {5, 2, 0, inputs, outputs, NULL};
  struct text text = draft(&signature);
  struct contract *contract = NULL;
  assay_status status = contract_parse(text.data, text.length, "contract.yaml", ".", &contract);
  assert_string_equal(assay_status_where(status), "contract.yaml:10:13");
  ASSERT_FAILS(status, ASSAY_OPEN_QUESTION,
               "'inputs[front].layout' is still TODO: write NCHW, NHWC, CHW or HWC; 15 more");
  assert_null(strstr(text_string(&text), "name: w\n")); /* an initializer that may be fed need not be */
  assert_non_null(strstr(text_string(&text), "shape: [TODO, 4]"));
  assert_non_null(strstr(text_string(&text), "{input: h, output: h2, initial: zeros, reset: episode}"));
  assert_non_null(strstr(text_string(&text), "the 4 of the last dimension"));
  text_free(&text);
}

static void uses_metadata(void **state) {
  (void)state;
  const struct signature_tensor inputs[] = {{"obs", ASSAY_FLOAT32, 2, dynamic, false}};
  const struct signature_tensor outputs[] = {{"action", ASSAY_FLOAT32, 2, two, false}};
  const struct signature_metadata metadata[] = {{"joint_names", "left hip,knee"},
                                                {"joint_stiffness", "15.0,40.0"},
                                                {"joint_damping", "1.5"},
                                                {"action_scale", "0.25,0.5"},
                                                {"remark", "two\nlines: [*&!"}};
  struct signature signature = {1, 1, 5, inputs, outputs, metadata};
  struct text text = draft(&signature);
  assert_non_null(strstr(text_string(&text), "joints: {value: [\"left hip\", knee], source: policy.onnx:joint_names}"));
  assert_non_null(strstr(text_string(&text),
                         "pd: {kp: {value: [15, 40], source: policy.onnx:joint_stiffness}, "
                         "kd: {value: 1.5, source: policy.onnx:joint_damping}}"));
  assert_non_null(strstr(text_string(&text), "scale: {value: [0.25, 0.5], source: policy.onnx:action_scale}"));
  assert_non_null(strstr(text_string(&text), "#   remark: two lines: [*&!\n"));

  /* with its questions answered the draft is a contract */
  struct text answered = {0};
  static const char *const answers[] = {"4", "rad", "[-9, 9]", "0.01"};
  const char *rest = strstr(text_string(&text), "assay: 1");
  for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
    const char *todo = rest;
    do { /* those in remarks are no questions */
      todo = strstr(todo + 1, "TODO");
      assert_non_null(todo);
    } while (todo[-2] == '#');
    text_add_bytes(&answered, rest, (size_t)(todo - rest));
    text_add(&answered, answers[i]);
    rest = todo + 4;
  }
  text_add(&answered, rest);
  struct contract *contract = NULL;
  ASSERT_OK(contract_parse(answered.data, answered.length, "contract.yaml", ".", &contract));
  assert_string_equal(contract->outputs[0].components[0].name, "left hip");
  assert_true(contract->outputs[0].components[1].kp == 40 && contract->outputs[0].components[1].kd == 1.5);
  ASSERT_OK(contract_bind(contract, &signature, "policy.onnx"));
  contract_free(contract);
  text_free(&answered);
  text_free(&text);
}

static void survives_hostile_names(void **state) {
  (void)state;
  static const char *const names[] = {"a: b", "\n- x", "\"", "", "TODO", "{", "é\x7f", "#", "*x", "yes"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const struct signature_tensor inputs[] = {{names[i], ASSAY_UNDEFINED, -1, one, false}};
    const struct signature_tensor outputs[] = {{names[i], ASSAY_UNDEFINED, -1, one, false}};
    const struct signature_metadata metadata[] = {
        {names[i], names[i]}, {"joint_names", names[i]}, {"joint_stiffness", "1]\n"}};
    struct signature signature = {1, 1, 3, inputs, outputs, metadata};
    struct text out = {0};
    const struct draft_model model = {names[i], &signature};
    const struct draft wanted = {names[i], 1, &model, NULL};
    ASSERT_OK(draft_contract(&wanted, &out));
    struct arena arena = {0};
    struct yaml_file file;
    ASSERT_OK(yaml_parse(out.data, out.length, "c.yaml", ASSAY_CONTRACT_INVALID, &arena, &file));
    assert_string_equal(yaml_get(yaml_get(file.root, "inputs")->items, "name")->text, names[i]);
    assert_string_equal(yaml_get(file.root, "policy")->text, names[i]);
    arena_free(&arena);
    text_free(&out);
    ASSERT_OK(draft_gate(names[i], &out));
    ASSERT_OK(yaml_parse(out.data, out.length, "g.yaml", ASSAY_CONTRACT_INVALID, &arena, &file));
    arena_free(&arena);
    text_free(&out);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(drafts_questions),
      cmocka_unit_test(uses_metadata),
      cmocka_unit_test(survives_hostile_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
