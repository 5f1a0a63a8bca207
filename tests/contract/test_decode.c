/* Decoding to physical units and the exact comparison of thresholds: hand-made values, NaN first. */
#include <math.h>
#include <string.h>

#include "contract/apply.h"
#include "support.h"

static struct contract *parse(const char *outputs) {
  char text[2000];
  snprintf(text, sizeof text,
           "assay: 1\npolicy: p\nmodel: m.onnx\ninputs: [{name: x, dtype: float32, shape: [1]}]\noutputs: %s\n",
           outputs);
  struct contract *contract = NULL;
  ASSERT_OK(contract_parse(text, strlen(text), "c.yaml", ASSAY_BINARY_DIR, &contract));
  return contract;
}

static void write_file(const char *name, const char *text) {
  char path[500];
  snprintf(path, sizeof path, "%s/%s", ASSAY_BINARY_DIR, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static double decoded(const struct contract *contract, float raw) {
  int64_t dims[1] = {1};
  assay_tensor tensor = {.dtype = ASSAY_FLOAT32, .rank = 1, .dims = {dims[0]}, .data = &raw, .bytes = sizeof raw};
  double out;
  contract_decode(&contract->outputs[0], &tensor, NULL, &out);
  return out;
}

static void keeps_nan_and_infinity(void **state) {
  (void)state;
  struct contract *c = parse(
      "[{name: y, dtype: float32, shape: [1], components: [{name: a, unit: rad, decode: [{clip: [-10, 10]}, {scale: "
      "2}]}]}]");
  assert_true(isnan(decoded(c, NAN)));
  assert_true(decoded(c, INFINITY) == 20); /* a clip bounds an infinity; the gate looks at the raw value first */
  assert_true(decoded(c, -INFINITY) == -20);
  contract_free(c);
  c = parse("[{name: y, dtype: float32, shape: [1], components: [{name: a, unit: rad, decode: [{scale: -2}]}]}]");
  assert_true(decoded(c, INFINITY) == -(double)INFINITY);
  assert_true(isnan(decoded(c, NAN)));
  contract_free(c);
  assay_tensor empty = {.dtype = ASSAY_FLOAT32, .rank = 1, .dims = {0}};
  c = parse("[{name: y, dtype: float32, shape: [1], components: [{name: a, unit: rad}]}]");
  contract_decode(&c->outputs[0], &empty, NULL, NULL);
  contract_free(c);
}

/* z = (x - 10) / 2, y = 3z + 1, action = 5 + 26.4 y: the numbers of a normaliser that is right, missing,
 * doubled, or inert. */
static void unnormalises_by_statistics(void **state) {
  (void)state;
  write_file("stats.json",
             "{\"action\": {\"mean\": [5], \"std\": [26.4], \"min\": [-100.0], \"max\": [100]}, \"flat.mean\": 5, "
             "\"flat\": {\"std\": 26.4}, \"zero\": {\"mean\": [1], \"std\": [0]}, \"two\": {\"mean\": [1, 2], \"std\": "
             "[1, 2]}, \"text\": {\"mean\": [\"a\"], \"std\": [1]}, \"empty\": {\"mean\": [], \"std\": []}}");
  struct contract *c = parse(
      "[{name: y, dtype: float32, shape: [1], components: [{name: a, unit: deg}],"
      " decode: [{statistics: {file: stats.json, key: action, provenance: original}}]}]");
  assert_true(fabs(decoded(c, 1) - 31.4) < 1e-12);
  assert_true(decoded(c, 0) == 5);
  assert_int_equal(c->n_files, 1);
  assert_string_equal(c->files[0].path, "stats.json");
  assert_string_equal(c->files[0].provenance, "original");
  assert_int_equal(strncmp(c->files[0].digest, "sha256:", 7), 0);
  contract_free(c);
  c = parse(
      "[{name: y, dtype: float32, shape: [1], components: [{name: a, unit: deg,"
      " decode: {statistics: {file: stats.json, mean: flat.mean, std: flat.std}}}]}]");
  assert_true(decoded(c, 1) == 26.4 + 5);
  contract_free(c);
  c = parse(
      "[{name: y, dtype: float32, shape: [1], components: [{name: a, unit: deg}],"
      " decode: [{statistics: {file: stats.json, key: action, mode: min_max, range: [-1, 1]}}]}]");
  assert_true(decoded(c, -1) == -100 && decoded(c, 0) == 0 && decoded(c, 1) == 100);
  contract_free(c);
}

static void clips_as_the_contract_says(void **state) {
  (void)state;
  struct contract *c =
      parse("[{name: y, dtype: float32, shape: [1], components: [{name: a, unit: rad, decode: [{clip: [-10, 10]}]}]}]");
  assert_true(decoded(c, 12.5f) == 10 && decoded(c, -12.5f) == -10 && decoded(c, 9.5f) == 9.5);
  contract_free(c);
}

/* Statistics that are not what the contract says are an error, never identity. */
static void refuses_absent_statistics(void **state) {
  (void)state;
  static const struct {
    const char *statistics;
    assay_code code;
    const char *part;
  } rows[] = {
      {"{file: stats.json, key: actoin}", ASSAY_STATISTICS_INVALID, "no key 'actoin.mean'; it has action"},
      {"{file: stats.json, key: action.mean}", ASSAY_STATISTICS_INVALID, "no key 'action.mean.mean'"},
      {"{file: stats.json, key: zero}", ASSAY_STATISTICS_INVALID, "std of element 0 is 0"},
      {"{file: stats.json, key: two}", ASSAY_CONTRACT_INVALID, "2 numbers for 1 components"},
      {"{file: stats.json, mean: two.mean, std: action.std}", ASSAY_STATISTICS_INVALID, "'two.mean' has 2 numbers"},
      {"{file: stats.json, key: text}", ASSAY_STATISTICS_INVALID, "not a list of numbers"},
      {"{file: stats.json, key: empty}", ASSAY_STATISTICS_INVALID, "not a list of numbers"},
      {"{file: stats.json, mean: action, std: action.std}", ASSAY_STATISTICS_INVALID, "not a list of numbers"},
      {"{file: stats.json}", ASSAY_CONTRACT_INVALID, "needs 'mean'"},
      {"{file: stats.json, key: action, mean: action.mean}", ASSAY_CONTRACT_INVALID, "both 'key' and 'mean'"},
      {"{file: stats.json, key: action, mode: min_max}", ASSAY_CONTRACT_INVALID, "needs 'range'"},
      {"{file: stats.json, min: a, std: b}", ASSAY_CONTRACT_INVALID, "mixes"},
      {"{file: stats.json, key: action, digest: sha256:00}", ASSAY_STATISTICS_INVALID, "the digest of stats.json is"},
      {"{file: stats.txt, key: action}", ASSAY_STATISTICS_INVALID, "not beside the contract"},
      {"{file: /etc/passwd, key: action}", ASSAY_STATISTICS_INVALID, "refused"},
      {"{file: both.json, key: action}", ASSAY_STATISTICS_INVALID, "'action.std' in both.json is ambiguous"},
      {"{file: broken.json, key: action}", ASSAY_STATISTICS_INVALID, "not well-formed JSON at line 1"},
      {"{file: broken.npz, key: action}", ASSAY_NPZ_INVALID, ""},
  };
  write_file("broken.json", "{\"action\": ");
  write_file("both.json", "{\"action\": {\"mean\": [0], \"std\": [1]}, \"action.std\": [2]}");
  write_file("broken.npz", "PK nothing");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[1000];
    snprintf(text, sizeof text,
             "assay: 1\npolicy: p\nmodel: m.onnx\ninputs: [{name: x, dtype: float32, shape: [1]}]\n"
             "outputs: [{name: y, dtype: float32, shape: [1], components: [{name: a, unit: deg}],\n"
             " decode: [{statistics: %s}]}]\n",
             rows[i].statistics);
    struct contract *contract = NULL;
    ASSERT_FAILS(contract_parse(text, strlen(text), "c.yaml", ASSAY_BINARY_DIR, &contract), rows[i].code, rows[i].part);
  }
}

static void finds_component_and_step(void **state) {
  (void)state;
  struct contract *c = parse(
      "[{name: y, dtype: float32, shape: [2, 3, 2], axes: [batch, horizon, component],"
      " components: [{name: a, unit: rad, decode: {scale: 2}}, {name: b, unit: rad, decode: {offset: 100}}]}]");
  float values[12];
  double out[12];
  assay_tensor tensor = {.dtype = ASSAY_FLOAT32, .rank = 3, .dims = {2, 3, 2}, .data = values, .bytes = sizeof values};
  for (int i = 0; i < 12; i++) {
    values[i] = (float)i;
    int64_t step;
    assert_int_equal(contract_component_of(&c->outputs[0], &tensor, i, &step), i % 2);
    assert_int_equal(step, i / 2 % 3);
  }
  contract_decode(&c->outputs[0], &tensor, NULL, out);
  for (int i = 0; i < 12; i++) {
    assert_true(out[i] == (i % 2 == 0 ? 2 * i : 100 + i));
  }
  contract_free(c);
}

static struct decision threshold(double at, bool at_or_above) {
  return (struct decision){.kind = DECISION_THRESHOLD, .threshold = at, .at_or_above = at_or_above};
}

static void compares_exactly(void **state) {
  (void)state;
  struct decision inclusive = threshold(0.5, true), strict = threshold(0.5, false);
  assert_false(decision_is_positive(&inclusive, (double)NAN, ASSAY_FLOAT32));
  assert_false(decision_is_positive(&strict, (double)NAN, ASSAY_FLOAT32));
  assert_true(decision_is_positive(&strict, (double)INFINITY, ASSAY_FLOAT32));
  assert_true(decision_is_positive(&inclusive, 0.5, ASSAY_FLOAT32));
  assert_false(decision_is_positive(&strict, 0.5, ASSAY_FLOAT32));
  assert_true(decision_is_positive(&inclusive, 0.5001, ASSAY_FLOAT32));
  assert_false(decision_is_positive(&inclusive, 0.4999, ASSAY_FLOAT32));
  /* float32 0.1 is above the double 0.1, yet at the threshold of a float32 tensor */
  struct decision tenth = threshold(0.1, false), tenth_inclusive = threshold(0.1, true);
  assert_false(decision_is_positive(&tenth, (double)0.1f, ASSAY_FLOAT32));
  assert_true(decision_is_positive(&tenth_inclusive, (double)0.1f, ASSAY_FLOAT32));
  assert_true(decision_is_positive(&tenth, (double)0.1f, ASSAY_FLOAT64));
  /* fp16 holds 0.0999755859375 nearest to 0.1 */
  assert_true(decision_is_positive(&tenth_inclusive, 0.0999755859375, ASSAY_FLOAT16));
  assert_false(decision_is_positive(&tenth_inclusive, 0.0999755859375, ASSAY_FLOAT32));
  /* bfloat16 steps are 1/128 near 1: 1.003 is 1 there */
  struct decision one = threshold(1, false);
  assert_false(decision_is_positive(&one, 1.003, ASSAY_BFLOAT16));
  assert_true(decision_is_positive(&one, 1.003, ASSAY_FLOAT16));
  assert_true(decision_is_positive(&one, 2, ASSAY_INT64));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(keeps_nan_and_infinity),     cmocka_unit_test(unnormalises_by_statistics),
      cmocka_unit_test(clips_as_the_contract_says), cmocka_unit_test(refuses_absent_statistics),
      cmocka_unit_test(finds_component_and_step),   cmocka_unit_test(compares_exactly),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
