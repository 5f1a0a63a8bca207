/* Decoding relative to what was measured, and per step of a chunk: hand-made values; what is not there is NaN first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contract/apply.h"
#include "scratch_folder.h"
#include "support.h"

static const char inputs[] =
    "[{name: qpos, dtype: float32, shape: [1, {min: 1, opt: 3, max: 5}, 2], history: {axis: 1, max: 5}},\n"
    " {name: pose, dtype: float32, shape: [1, 3]}, {name: h, dtype: float32, shape: [1, 2]},\n"
    " {name: obs, dtype: float32, shape: [1, 2], terms: [{name: joint_pos, elements: [hip, knee], unit: rad}]}]";

static assay_status parse(const char *outputs, struct contract **out) {
  char text[4000];
  snprintf(text, sizeof text, "assay: 1\npolicy: p\nmodel: m.onnx\ninputs: %s\noutputs: %s\n", inputs, outputs);
  return contract_parse(text, strlen(text), "c.yaml", ASSAY_BINARY_DIR "/scratch/decode_add", out);
}

/* An output [1, 3, 2] of components a and b with this decoding. */
static struct contract *chunk(const char *decode) {
  char text[2000];
  struct contract *contract = NULL;
  snprintf(text, sizeof text,
           "[{name: y, dtype: float32, shape: [1, 3, 2], axes: [batch, horizon, component], decode: %s,\n"
           " components: [{names: [a, b], unit: rad}]}]",
           decode);
  ASSERT_OK(parse(text, &contract));
  return contract;
}

static void refuses(const char *decode, const char *part) {
  char text[2000];
  struct contract *contract = NULL;
  snprintf(text, sizeof text,
           "[{name: y, dtype: float32, shape: [1, 3, 2], axes: [batch, horizon, component], decode: %s,\n"
           " components: [{names: [a, b], unit: rad}]}]",
           decode);
  ASSERT_FAILS(parse(text, &contract), ASSAY_CONTRACT_INVALID, part);
}

static float raw_values[6] = {1, 2, 3, 4, 5, 6};
static float history[6] = {10, 20, 30, 40, 50, 60}; /* three frames of qpos */
static const assay_tensor raw = {
    .dtype = ASSAY_FLOAT32, .rank = 3, .dims = {1, 3, 2}, .data = raw_values, .bytes = sizeof raw_values};
static assay_tensor qpos = {
    .dtype = ASSAY_FLOAT32, .rank = 3, .dims = {1, 3, 2}, .data = history, .bytes = sizeof history};
static const struct fed_input item = {"qpos", &qpos, (double)NAN};
static const struct fed_inputs fed = {&item, 1};

/* The whole tensor, and each element alone, which must agree. */
static void decodes_to(const struct contract *contract, const struct fed_inputs *with, const double expected[6]) {
  double out[6];
  contract_decode(&contract->outputs[0], &raw, with, out);
  for (int i = 0; i < 6; i++) {
    double alone = contract_decode_at(&contract->outputs[0], &raw, i, with);
    bool same = out[i] == expected[i] || (isnan(out[i]) && isnan(expected[i]));
    bool agrees = alone == out[i] || (isnan(alone) && isnan(out[i]));
    if (!same || !agrees) {
      print_error("element %d: expected %.17g, got %.17g, alone %.17g\n", i, expected[i], out[i], alone);
    }
    assert_true(same && agrees);
  }
}

static void what_is_not_fed_makes_nan(void **state) {
  (void)state;
  const double none[6] = {NAN, NAN, NAN, NAN, NAN, NAN};
  struct contract *c = chunk("[{add: {input: qpos, frame: last}}]");
  decodes_to(c, NULL, none);
  const struct fed_inputs nothing = {NULL, 0};
  decodes_to(c, &nothing, none);
  assay_tensor empty = {.dtype = ASSAY_FLOAT32, .rank = 3, .dims = {1, 0, 2}};
  const struct fed_input of_empty = {"qpos", &empty, (double)NAN};
  decodes_to(c, &(struct fed_inputs){&of_empty, 1}, none);
  assay_tensor words = {.dtype = ASSAY_STRING, .rank = 3, .dims = {1, 3, 2}};
  const struct fed_input of_words = {"qpos", &words, (double)NAN};
  decodes_to(c, &(struct fed_inputs){&of_words, 1}, none);
  contract_free(c);
}

static void a_frame_of_the_history_is_added(void **state) {
  (void)state;
  struct contract *c = chunk("[{add: {input: qpos, frame: last}}]");
  decodes_to(c, &fed, (const double[]){51, 62, 53, 64, 55, 66});
  qpos.dims[1] = 2; /* a shorter history: its last frame is another */
  decodes_to(c, &fed, (const double[]){31, 42, 33, 44, 35, 46});
  qpos.dims[1] = 3;
  contract_free(c);
  c = chunk("[{scale: 2}, {add: {input: qpos, frame: first}}, {offset: 0.5}]");
  decodes_to(c, &fed, (const double[]){12.5, 24.5, 16.5, 28.5, 20.5, 32.5});
  contract_free(c);
  c = chunk("[{add: {input: qpos, frame: 0, elements: [1, 0]}}]");
  decodes_to(c, &fed, (const double[]){21, 12, 23, 14, 25, 16});
  contract_free(c);
}

static void each_step_may_build_on_the_one_before(void **state) {
  (void)state;
  struct contract *c = chunk("[{scale: 2}, {add: {input: qpos, frame: last, cumulative: true}}, {offset: 0.5}]");
  /* 50 + 2, + 6, + 10; 60 + 4, + 8, + 12; each 0.5 more */
  decodes_to(c, &fed, (const double[]){52.5, 64.5, 58.5, 72.5, 68.5, 84.5});
  decodes_to(c, NULL, (const double[]){NAN, NAN, NAN, NAN, NAN, NAN});
  contract_free(c);
}

static void numbers_may_differ_from_step_to_step(void **state) {
  (void)state;
  struct contract *c = chunk("[{scale: {per_step: [1, [2, 3], -1]}}, {offset: {per_step: [[0, 1], 10, [100, 200]]}}]");
  decodes_to(c, NULL, (const double[]){1, 3, 16, 22, 95, 194});
  contract_free(c);
  const char *folder = scratch_folder("decode_add");
  static const char json[] =
      "{\"delta\": {\"mean\": [[1, 2], [3, 4], [5, 6]], \"std\": [[1, 1], [2, 2], [3, 3]]},"
      " \"one\": {\"mean\": [1, 2], \"std\": [1, 1]}}";
  write_file(in_folder(folder, "stats.json"), json, strlen(json));
  c = chunk("[{statistics: {file: stats.json, key: delta}}]");
  decodes_to(c, NULL, (const double[]){2, 4, 9, 12, 20, 24});
  assert_string_equal(c->outputs[0].components[0].decode[0].origin->a, "delta.mean");
  contract_free(c);
  c = chunk("[{statistics: {file: stats.json, mean: delta.mean, std: delta.std}}, {clip: [3, 10]}]");
  decodes_to(c, NULL, (const double[]){3, 4, 9, 10, 10, 10});
  contract_free(c);
  struct contract *none = NULL;
  ASSERT_FAILS(
      parse("[{name: y, dtype: float32, shape: [1, 2, 2], axes: [batch, horizon, component],\n"
            " decode: [{statistics: {file: stats.json, key: delta}}], components: [{names: [a, b], unit: rad}]}]",
            &none),
      ASSAY_STATISTICS_INVALID, "float64[3,2]; it must be one row of numbers, or one for each step");
  ASSERT_FAILS(
      parse("[{name: y, dtype: float32, shape: [1, 3, 2], axes: [batch, horizon, component], decode: [{statistics: "
            "{file: stats.json, mean: delta.mean, std: one.std}}], components: [{names: [a, b], unit: rad}]}]",
            &none),
      ASSAY_STATISTICS_INVALID, "'delta.mean' has 6 numbers, 'one.std' has 2");
}

static void statistics_come_from_safetensors(void **state) {
  (void)state;
  const char *folder = scratch_folder("decode_add");
  unsigned char file[256] = {0};
  static const char header[] =
      "{\"action.mean\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
      "\"action.std\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,16]}}";
  const float values[] = {1, 2, 10, 100};
  size_t length = strlen(header);
  file[0] = (unsigned char)length;
  memcpy(file + 8, header, length);
  memcpy(file + 8 + length, values, sizeof values);
  write_file(in_folder(folder, "stats.safetensors"), file, 8 + length + sizeof values);
  struct contract *c = chunk("[{statistics: {file: stats.safetensors, key: action}}]");
  decodes_to(c, NULL, (const double[]){11, 202, 31, 402, 51, 602});
  assert_int_equal(c->n_files, 1);
  contract_free(c);
  struct contract *none = NULL;
  ASSERT_FAILS(parse("[{name: y, dtype: float32, shape: [2], decode: [{statistics: {file: stats.safetensors, key: "
                     "actions}}], components: [{names: [a, b], unit: rad}]}]",
                     &none),
               ASSAY_STATISTICS_INVALID, "has no tensor 'actions.mean'; it has action.mean, action.std");
  ASSERT_FAILS(parse("[{name: y, dtype: float32, shape: [2], decode: [{statistics: {file: stats.safetensors, key: "
                     "action, digest: \"sha256:0000000000000000000000000000000000000000000000000000000000000000\"}}], "
                     "components: [{names: [a, b], unit: rad}]}]",
                     &none),
               ASSAY_STATISTICS_INVALID, "the digest of stats.safetensors is sha256:");
}

static void a_sensor_of_a_term_may_be_added(void **state) {
  (void)state;
  float measured[] = {7, 8};
  const assay_tensor sensor = {
      .dtype = ASSAY_FLOAT32, .rank = 1, .dims = {2}, .data = measured, .bytes = sizeof measured};
  const struct fed_input of_sensor = {"joint_pos", &sensor, (double)NAN};
  struct contract *c = chunk("[{add: {input: joint_pos, elements: [knee, hip]}}]");
  decodes_to(c, &(struct fed_inputs){&of_sensor, 1}, (const double[]){9, 9, 11, 11, 13, 13});
  contract_free(c);
  refuses("[{add: {input: joint_pos, elements: [knee, hop]}}]",
          "names 'hop', which is no element of 'joint_pos'; did you mean 'hip'");
}

static void what_cannot_be_added_is_refused(void **state) {
  (void)state;
  refuses("[{add: {input: qpso, frame: last}}]", "neither an input nor a sensor of a term; did you mean 'qpos'");
  refuses("[{add: {input: qpos}}]", "needs 'frame'");
  refuses("[{add: {input: qpos, frame: 1}}]", "'frame' of 'add' in 'decode' of output 'y'");
  refuses("[{add: {input: qpos, frame: newest}}]",
          "must be first, last or a whole number from 0 to 0; 'newest' stands here");
  refuses("[{add: {input: pose}}]", "adds 'pose', which has 3 elements, to 2 components; say in 'elements'");
  refuses("[{add: {input: pose, frame: last, elements: [0, 1]}}]", "has no 'history'");
  refuses("[{add: {input: pose, elements: [0]}}]", "has 1 elements for 2 components");
  refuses("[{add: {input: pose, elements: 1}}]", "one element for 2 components");
  refuses("[{add: {input: pose, elements: [0, 3]}}]", "'elements' of 'add'");
  refuses("[{add: {input: pose, elements: [2, 2]}}]", "gives element 2 to two components");
  refuses("[{add: {input: obs}}]", "name the sensor of a term instead");
  refuses("[{add: {inputs: qpos}}]", "inputs");
  refuses("[{add: {input: qpos, frame: last, cumulative: true}}, {add: {input: qpos, frame: last, cumulative: true}}]",
          "adds cumulatively 2 times");
  refuses("[{scale: {per_step: [1, 2]}}]", "has 2 rows; it must have one for each of the 3 steps");
  refuses("[{scale: {per_step: [1, [2, 3, 4], 1]}}]", "row 2 of 'scale' in 'decode' of output 'y' has 3 numbers");
  refuses("[{scale: {per_step: [1, 0, 1]}}]", "is 0, behind which no difference shows");
  refuses("[{offset: {steps: [1, 0, 1]}}]", "steps");
  struct contract *contract = NULL;
  ASSERT_FAILS(
      parse("[{name: y, dtype: float32, shape: [1, 2], components: [{names: [a, b], unit: rad, decode: [{add: "
            "{input: h}}]}]}, {name: h_out, dtype: float32, shape: [1, 2]}]\nstate: [{input: h, output: h_out, "
            "initial: zeros}]",
            &contract),
      ASSAY_CONTRACT_INVALID, "adds 'h', which is the policy's own state");
  ASSERT_FAILS(parse("[{name: y, dtype: float32, shape: [1, 2], components: [{names: [a, b], unit: rad, decode: [{add: "
                     "{input: qpos, frame: last, cumulative: true}}]}]}]",
                     &contract),
               ASSAY_CONTRACT_INVALID, "names no horizon");
}

int main(void) {
  scratch_folder("decode_add");
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_not_fed_makes_nan),
      cmocka_unit_test(a_frame_of_the_history_is_added),
      cmocka_unit_test(each_step_may_build_on_the_one_before),
      cmocka_unit_test(numbers_may_differ_from_step_to_step),
      cmocka_unit_test(statistics_come_from_safetensors),
      cmocka_unit_test(a_sensor_of_a_term_may_be_added),
      cmocka_unit_test(what_cannot_be_added_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
