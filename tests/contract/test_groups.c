/* Groups of names: written once, meant everywhere a list of names may stand; every fault is named with its place. */
#include <string.h>

#include "contract/contract.h"
#include "core/text.h"
#include "support.h"

static assay_status parse(const char *groups, const char *names, struct contract **out) {
  struct text text = {0};
  text_format(&text,
              "assay: 1\npolicy: p\n%s\nmodel: m.onnx\n"
              "inputs: [{name: x, dtype: float32, shape: [1, 2]}]\n"
              "outputs: [{name: y, dtype: float32, shape: [1, 3], unit: rad,\n"
              "  components: [{names: %s}]}]\n",
              groups, names);
  assay_status status =
      contract_parse(text_string(&text), strlen(text_string(&text)), "contract.yaml", "/nonexistent", out);
  text_free(&text);
  return status;
}

static void a_group_stands_for_its_names(void **state) {
  (void)state;
  struct contract *c;
  ASSERT_OK(parse("groups: {joints: [hip, knee, ankle]}", "joints", &c));
  assert_int_equal(c->n_groups, 1);
  assert_string_equal(c->groups[0].name, "joints");
  assert_int_equal(c->outputs[0].n_components, 3);
  assert_string_equal(c->outputs[0].components[2].name, "ankle");
  assert_int_equal(c->outputs[0].components[2].mark.line, 7);
  contract_free(c);
}

/* The order of the keys in the file does not matter: a group may stand below what names it. */
static void a_group_may_stand_below(void **state) {
  (void)state;
  static const char text[] =
      "assay: 1\npolicy: p\nmodel: m.onnx\ninputs: [{name: x, dtype: float32, shape: [1]}]\n"
      "outputs: [{name: y, dtype: float32, shape: [2], unit: m, components: [{names: arm}]}]\n"
      "groups: {arm: [a, b]}\n";
  struct contract *c;
  ASSERT_OK(contract_parse(text, sizeof text - 1, "contract.yaml", "/nonexistent", &c));
  assert_string_equal(c->outputs[0].components[1].name, "b");
  contract_free(c);
}

static void every_fault_is_named(void **state) {
  (void)state;
  static const struct {
    const char *groups, *names;
    int line, column;
    const char *part;
  } faults[] = {
      {"groups: {joints: [a, b, c]}", "joint", 7, 24, "is 'joint', which is no group; did you mean 'joints'"},
      {"groups: {legs: [a, b, c], arms: [a]}", "head", 7, 24, "the contract's groups are legs, arms"},
      {"", "joints", 7, 24, "but the contract has no 'groups'"},
      {"", "{a: 1}", 7, 24, "must be a list of names, or the name of a group; a mapping stands here"},
      {"groups: {joints: [a, b, a]}", "joints", 3, 25, "group 'joints' has 'a' twice; it was given at line 3"},
      {"groups: {joints: []}", "joints", 3, 18, "group 'joints' is empty"},
      {"groups: {joints: [a, \"\"]}", "joints", 3, 22, "name 2 of group 'joints' is empty"},
      {"groups: {joints: [a, 5]}", "joints", 3, 22, "name 2 of group 'joints'"},
      {"groups: {joints: arms, arms: [a]}", "joints", 3, 18, "group 'joints' must be a list"},
      {"groups: {}", "joints", 3, 9, "names 0 groups"},
      {"groups: [joints]", "joints", 3, 9, "must be a mapping"},
      {"", "[a, b, a]", 7, 31, "has 'a' twice"},
      {"", "[]", 7, 24, "is empty"},
      {"", "{a: 1}", 7, 24, "must be a list"},
      {"groups: {joints: [a, b]}", "joints", 7, 15, "has 2 components"},
  };
  int wrong = 0;
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    struct contract *c = NULL;
    assay_status status = parse(faults[i].groups, faults[i].names, &c);
    char where[64];
    snprintf(where, sizeof where, "contract.yaml:%d:%d", faults[i].line, faults[i].column);
    bool right = status.code == ASSAY_CONTRACT_INVALID && strstr(assay_status_sentence(status), faults[i].part) &&
                 strcmp(assay_status_where(status), where) == 0;
    if (!right) {
      print_error("'%s' with '%s'\nexpected %s with \"%s\"\ngot %s: %s\n", faults[i].groups, faults[i].names, where,
                  faults[i].part, assay_status_where(status), assay_status_sentence(status));
      wrong++;
    }
    assay_status_clear(&status);
    contract_free(c);
  }
  assert_int_equal(wrong, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_group_stands_for_its_names),
      cmocka_unit_test(a_group_may_stand_below),
      cmocka_unit_test(every_fault_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
