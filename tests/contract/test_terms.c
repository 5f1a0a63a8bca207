/* Reading the terms of an observation: what they mean, a whole robot's in few lines, and for every fault the place and
 * the sentence. */
#include <string.h>

#include "contract/terms.h"
#include "core/text.h"
#include "corpus_builder.h"
#include "support.h"

/* A walking policy of 29 joints and 5 steps of history: 480 elements. */
static const char humanoid[] =
    "assay: 1\n"
    "policy: g1_velocity\n"
    "model: policy.onnx\n"
    "timing: {period_ms: 20}\n"
    "groups:\n"
    "  joints: [left_hip_pitch, right_hip_pitch, waist_yaw, left_hip_roll, right_hip_roll, waist_roll, left_hip_yaw,\n"
    "           right_hip_yaw, waist_pitch, left_knee, right_knee, left_shoulder_pitch, right_shoulder_pitch,\n"
    "           left_ankle_pitch, right_ankle_pitch, left_shoulder_roll, right_shoulder_roll, left_ankle_roll,\n"
    "           right_ankle_roll, left_shoulder_yaw, right_shoulder_yaw, left_elbow, right_elbow, left_wrist_roll,\n"
    "           right_wrist_roll, left_wrist_pitch, right_wrist_pitch, left_wrist_yaw, right_wrist_yaw]\n"
    "  xyz: [x, y, z]\n"
    "inputs:\n"
    "  - name: obs\n"
    "    dtype: float32\n"
    "    shape: [1, 480]\n"
    "    clip: [-100, 100]\n"
    "    history: {layout: term_major, order: oldest_first, initial: repeat_first}\n"
    "    terms:\n"
    "      - {name: base_ang_vel, elements: xyz, unit: rad/s, scale: 0.2, history: 5}\n"
    "      - {name: projected_gravity, elements: xyz, history: 5}\n"
    "      - {name: velocity_commands, elements: [forward, left, turn], history: 5}\n"
    "      - {name: joint_pos_rel, elements: joints, unit: rad, raw: joint_pos, history: 5,\n"
    "         offset: [0.1, 0.1, 0, 0, 0, 0, 0, 0, 0, -0.3, -0.3, -0.3, -0.3, 0.2, 0.2, -0.25, 0.25, 0, 0, 0, 0,\n"
    "                  -0.97, -0.97, -0.15, 0.15, 0, 0, 0, 0]}\n"
    "      - {name: joint_vel_rel, elements: joints, unit: rad/s, raw: joint_vel, scale: 0.05, history: 5}\n"
    "      - {name: last_action, from: {output: action, space: raw, lag: 1}, history: 5}\n"
    "outputs:\n"
    "  - name: action\n"
    "    dtype: float32\n"
    "    shape: [1, 29]\n"
    "    unit: rad\n"
    "    decode: [{scale: 0.25}]\n"
    "    tolerance: {max: 0.002}\n"
    "    components: [{names: joints}]\n";

static assay_status parse(const char *text, struct contract **out) {
  return contract_parse(text, strlen(text), "contract.yaml", "/nonexistent", out);
}

static void a_humanoid_takes_few_lines(void **state) {
  (void)state;
  int lines = 0;
  for (const char *c = humanoid; *c != '\0'; c++) {
    lines += *c == '\n';
  }
  assert_true(lines < 60);
  struct contract *c;
  ASSERT_OK(parse(humanoid, &c));
  const struct contract_terms *terms = c->inputs[0].terms;
  assert_non_null(terms);
  assert_int_equal(terms->size, 480);
  assert_int_equal(terms->n_terms, 6);
  assert_true(terms->has_clip && terms->clip_max == 100 && terms->has_history);
  const struct contract_term *position = &terms->terms[3], *last = &terms->terms[5];
  assert_string_equal(position->name, "joint_pos_rel");
  assert_string_equal(last->name, "last_action");
  assert_string_equal(position->raw, "joint_pos");
  assert_string_equal(position->elements[28], "right_wrist_yaw");
  assert_int_equal(position->n_steps, 1);
  assert_true(position->steps[0].kind == TERM_OFFSET && position->steps[0].n == 29);
  assert_true(last->source == TERM_OUTPUT && last->lag == 1 && !last->decoded && last->raw == NULL);
  assert_string_equal(last->elements[28], "right_wrist_yaw");
  assert_int_equal(terms_position(terms, 5, 0), 480 - 29);
  assert_int_equal(terms_position(terms, 5, 4), 480 - 5 * 29);
  assert_true(terms_close_loop(terms) && terms_have_past(terms));
  contract_free(c);
}

/* Lines are numbered for the refusals below. */
static const char base[] =
    /* 1 */
    "assay: 1\n"
    /* 2 */
    "policy: p\n"
    /* 3 */
    "model: m.onnx\n"
    /* 4 */
    "groups: {joints: [hip, knee]}\n"
    /* 5 */
    "timing: {period_ms: 20}\n"
    /* 6 */
    "inputs:\n"
    /* 7 */
    "  - name: obs\n"
    /* 8 */
    "    dtype: float32\n"
    /* 9 */
    "    shape: [1, 12]\n"
    /* 10 */
    "    clip: [-5, 5]\n"
    /* 11 */
    "    history: {layout: term_major, order: newest_first, initial: zeros}\n"
    /* 12 */
    "    terms:\n"
    /* 13 */
    "      - {name: pos, elements: joints, unit: rad, offset: [1, 2], scale: 3, clip: [[-1, 1], [-2, 2]], history: 2}\n"
    /* 14 */
    "      - {name: imu, count: 3, raw: gyro, apply: [{clip: [-1, 1]}, {divide: 2}, {offset: 1}]}\n"
    /* 15 */
    "      - {name: last, from: {output: action, space: decoded, lag: 2, step: 1, initial: [7, 8],\n"
    /* 16 */
    "         elements: [knee, hip]}}\n"
    /* 17 */
    "      - {name: phase, from: {clock: {period_s: 0.7, as: [sin, cos, phase], start: 0.25}}}\n"
    /* 18 */
    "  - {name: prev, dtype: float16, shape: [1, 2, 2], from: {output: pair, lag: 1}}\n"
    /* 19 */
    "outputs:\n"
    /* 20 */
    "  - {name: action, dtype: float32, shape: [1, 3, 2], axes: [batch, horizon, component], unit: rad,\n"
    /* 21 */
    "     components: [{names: joints}]}\n"
    /* 22 */
    "  - {name: pair, dtype: float32, shape: [1, 2, 2], axes: [batch, row, component], unit: m,\n"
    /* 23 */ "     components: [{names: joints}]}\n";

static void every_key_is_read(void **state) {
  (void)state;
  struct contract *c;
  ASSERT_OK(parse(base, &c));
  const struct contract_terms *terms = c->inputs[0].terms;
  assert_int_equal(terms->size, 12);
  assert_true(terms->order == HISTORY_NEWEST_FIRST && terms->initial == HISTORY_ZEROS);
  const struct contract_term *pos = &terms->terms[0], *imu = &terms->terms[1], *last = &terms->terms[2];
  const struct contract_term *phase = &terms->terms[3];
  assert_string_equal(pos->unit, "rad");
  assert_int_equal(pos->history, 2);
  assert_int_equal(pos->n_steps, 3);
  assert_true(pos->steps[0].kind == TERM_OFFSET && pos->steps[0].a[1] == 2);
  assert_true(pos->steps[1].kind == TERM_SCALE && pos->steps[1].n == 1 && pos->steps[1].a[0] == 3);
  assert_true(pos->steps[2].kind == TERM_CLIP && pos->steps[2].a[1] == -2 && pos->steps[2].b[1] == 2);
  assert_string_equal(imu->elements[2], "imu[2]");
  assert_string_equal(imu->raw, "gyro");
  assert_true(imu->n_steps == 3 && imu->steps[0].kind == TERM_CLIP && imu->steps[1].kind == TERM_DIVIDE &&
              imu->steps[2].kind == TERM_OFFSET);
  assert_true(last->decoded && last->lag == 2 && last->n_elements == 2);
  assert_string_equal(last->elements[0], "knee");
  assert_true(last->picks[0] == 3 && last->picks[1] == 2); /* of the chunk's step 1 */
  assert_true(last->initial[0] == 7 && last->initial[1] == 8);
  assert_true(phase->n_forms == 3 && phase->forms[1] == CLOCK_COS && phase->forms[2] == CLOCK_PHASE);
  assert_true(phase->period_steps == 35 && phase->period_s == 0.7 && phase->start == 0.25);
  const struct contract_terms *whole = c->inputs[1].terms;
  assert_true(whole->whole && whole->n_terms == 1 && whole->size == 4);
  assert_string_equal(whole->terms[0].name, "prev");
  assert_string_equal(whole->terms[0].elements[3], "pair[3]");
  const struct contract_term *found;
  assert_ptr_equal(terms_find_sensor(c, "gyro", &found), &c->inputs[0]);
  assert_ptr_equal(found, imu);
  assert_null(terms_find_sensor(c, "action", &found));
  contract_free(c);
}

struct fault {
  const char *find, *replace;
  int line;
  const char *part;
};
static const struct fault faults[] = {
    {"[1, 12]", "[1, 14]", 13,
     "hold 12 elements (elements x history: pos 2 x 2, imu 3 x 1, last 2 x 1, phase 3 x 1), but its shape holds 14"},
    {"[1, 12]", "[1, {min: 1, opt: 2, max: 3}]", 13, "a dynamic dimension"},
    {"dtype: float32\n", "dtype: int32\n", 7, "what is built is a float"},
    {"elements: joints, unit", "elements: joint, unit", 13, "is 'joint', which is no group; did you mean 'joints'"},
    {"elements: joints, unit", "elements: [hip, hip], unit", 13, "has 'hip' twice"},
    {"elements: joints, unit", "unit", 13, "needs either 'elements', a list of names or a group, or 'count'"},
    {"count: 3", "count: 3, elements: joints", 14, "needs either 'elements'"},
    {"count: 3", "count: 0", 14, "from 1 to 65536"},
    {"name: imu", "name: pos", 14, "term 'pos' of input 'obs' stands here again; it was given at line 13"},
    {"name: imu", "nam: imu", 14, "did you mean 'name'"},
    {"offset: [1, 2]", "offset: [1, 2, 3]", 13, "'offset' of term 'pos' of input 'obs' has 3 numbers for 2 elements"},
    {"scale: 3", "scale: 0", 13, "'scale' of term 'pos' of input 'obs' is 0"},
    {"scale: 3", "scale: three", 13, "must be"},
    {"[[-1, 1], [-2, 2]]", "[[-1, 1]]", 13, "has 1 pairs for 2 elements"},
    {"[[-1, 1], [-2, 2]]", "[1, -1]", 13, "the first must be below the second"},
    {"scale: 3", "statistics: {file: s.json, key: x}", 13, "'statistics' beside 'offset'"},
    {"raw: gyro", "raw: gyro, scale: 2", 14, "has 'apply' beside other keys"},
    {"{divide: 2}", "{divide: 0}", 14, "nothing is divided by 0"},
    {"{divide: 2}", "{times: 2}", 14, "has no key 'times'"},
    {"{divide: 2}", "{divide: 2, scale: 3}", 14, "a step is one key"},
    {"apply: [{clip: [-1, 1]}, {divide: 2}, {offset: 1}]", "apply: []", 14, "has 0 steps"},
    {"history: 2}", "history: 0}", 13, "from 1 to 65536"},
    {"    history: {layout: term_major, order: newest_first, initial: zeros}\n", "\n", 13,
     "does not say how history lies; add history"},
    {"order: newest_first, ", "", 11, "needs the key 'order'"},
    {"newest_first", "newest", 11, "oldest_first or newest_first"},
    {"term_major", "time_major", 14, "'imu' has a history of 1, but 'pos' has 2; time_major needs the same"},
    {"initial: zeros}\n", "initial: zeros, axis: 1}\n", 11, "has no key 'axis'"},
    {"output: action", "output: actions", 15, "which 'outputs' does not list; did you mean 'action'"},
    {"lag: 2, ", "", 15, "needs the key 'lag'"},
    {"lag: 2, ", "lag: 0, ", 15, "but the contract has no 'stages'"},
    {"lag: 2, ", "lag: -1, ", 15, "from 0 to"},
    {"step: 1, ", "", 15, "is a chunk of 3 steps; say which one"},
    {"step: 1, ", "step: 3, ", 15, "'step' is 3, but output 'action' has 3 steps, from 0"},
    {"space: decoded", "space: physical", 15, "raw or decoded"},
    {"initial: [7, 8]", "initial: [7]", 15, "has 1 numbers for 2 elements"},
    {"[knee, hip]", "[kne, hip]", 16, "'kne', which is no component of output 'action'; did you mean 'knee'"},
    {"{name: last, from", "{name: last, elements: joints, from", 16, "has them too; say it once"},
    {"{name: last, from", "{name: last, raw: x, from", 15, "has both 'from' and 'raw'"},
    {"{name: last, from", "{name: last, count: 2, from", 15, "has both 'from' and 'count'"},
    {"period_s: 0.7", "period_s: 0.7, period_steps: 35", 17, "needs either 'period_s'"},
    {"period_s: 0.7", "period_s: -1", 17, "above 0"},
    {"timing: {period_ms: 20}\n", "\n", 17, "does not say how long a step takes"},
    {"start: 0.25", "start: 1", 17, "0 to below 1"},
    {"[sin, cos, phase]", "[sine]", 17, "sin, cos or phase"},
    {"[sin, cos, phase]", "[]", 17, "lists 0 forms"},
    {"[sin, cos, phase]", "[sin, cos, sin]", 17, "has 'sin' twice"},
    {"period_ms: 20", "period_ms: 1e8", 17, "a turn must take 2 steps at least"},
    {"period_s: 0.7", "period_s: 0.039", 17, "is 1.95 steps of 20 ms"},
    {"period_s: 0.7", "period_s: 1e-320", 17, "a turn must take 2 steps at least"},
    {"period_s: 0.7", "period_s: 1e308", 17, "a turn must take 2 steps at least"},
    {"period_s: 0.7", "period_steps: 1.5", 17, "turns once in 1.5 steps"},
    {"{clock: {", "{lag: 1, clock: {", 17, "has 'lag', which goes with 'output'"},
    {"from: {clock: {period_s: 0.7, as: [sin, cos, phase], start: 0.25}}", "from: {}", 17,
     "needs either 'output' or 'clock'"},
    {"from: {output: pair, lag: 1}", "from: {output: pair, lag: 1, elements: [hip]}", 18,
     "has 4 elements for 2 components, so none can be named"},
    {"shape: [1, 2, 2], from", "shape: [1, 2], from", 18, "hold 4 elements"},
    {"    clip: [-5, 5]\n", "    clip: [5, -5]\n", 10, "the first must be below"},
    {"    clip: [-5, 5]\n", "    raw: x\n", 10, "has both 'terms' and 'raw'"},
    {"    clip: [-5, 5]\n", "    from: {output: action, lag: 1}\n", 10, "has both 'terms' and 'from'"},
    {"from: {output: pair, lag: 1}", "clip: [0, 1]", 18, "has 'clip' but no 'terms'"},
};

static void every_fault_has_its_place(void **state) {
  (void)state;
  int wrong = 0;
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
    const char *at = strstr(base, faults[i].find);
    assert_non_null(at);
    struct text text = {0};
    text_add_bytes(&text, base, (size_t)(at - base));
    text_add(&text, faults[i].replace);
    text_add(&text, at + strlen(faults[i].find));
    struct contract *c = NULL;
    assay_status status = parse(text_string(&text), &c);
    char where[64];
    snprintf(where, sizeof where, "contract.yaml:%d:", faults[i].line);
    bool right = status.code == ASSAY_CONTRACT_INVALID && strstr(assay_status_where(status), where) != NULL &&
                 strstr(assay_status_sentence(status), faults[i].part) != NULL;
    if (!right) {
      print_error("'%s' -> '%s'\nexpected %s \"%s\"\ngot %s at %s: %s\n", faults[i].find, faults[i].replace, where,
                  faults[i].part, assay_code_name(status.code), assay_status_where(status),
                  assay_status_sentence(status));
      wrong++;
    }
    assay_status_clear(&status);
    contract_free(c);
    text_free(&text);
  }
  assert_int_equal(wrong, 0);
}

/* An input of a state pair is fed by it and by nothing else. */
static void a_state_has_no_terms(void **state) {
  (void)state;
  static const char text[] =
      "assay: 1\npolicy: p\nmodel: m.onnx\n"
      "inputs: [{name: h, dtype: float32, shape: [2], from: {output: y, lag: 1}}]\n"
      "state: [{input: h, output: y, initial: zeros}]\n"
      "outputs: [{name: y, dtype: float32, shape: [2], unit: m, components: [{names: [a, b]}]}]\n";
  struct contract *c = NULL;
  ASSERT_FAILS(parse(text, &c), ASSAY_CONTRACT_INVALID, "a state pair feeds it too");
}

/* Mean and std, and min and max, of a file; a key that is absent is an error, never identity. */
static void statistics_normalise_a_term(void **state) {
  (void)state;
  char *folder = temp_folder();
  temp_write(folder, "s.json", "{\"q\": {\"mean\": [1, 2], \"std\": [0.5, 4], \"min\": [0, 1], \"max\": [2, 5]}}");
  static const char *const forms[] = {"{file: s.json, key: q}", "{file: s.json, key: q, mode: min_max, range: [-1, 1]}",
                                      "{file: s.json, key: p}"};
  for (int i = 0; i < 3; i++) {
    struct text text = {0};
    text_format(
        &text,
        "assay: 1\npolicy: p\nmodel: m.onnx\ninputs:\n  - {name: x, dtype: float32, shape: [2], terms: [{name: q, "
        "count: 2, statistics: %s}]}\n"
        "outputs: [{name: y, dtype: float32, shape: [1], unit: m, components: [{name: a}]}]\n",
        forms[i]);
    struct contract *c = NULL;
    assay_status status = contract_parse(text_string(&text), strlen(text_string(&text)), "contract.yaml", folder, &c);
    text_free(&text);
    if (i == 2) {
      ASSERT_FAILS(status, ASSAY_STATISTICS_INVALID, "'p.mean'");
      continue;
    }
    ASSERT_OK(status);
    const struct term_step *steps = c->inputs[0].terms->terms[0].steps;
    assert_int_equal(c->inputs[0].terms->terms[0].n_steps, i == 0 ? 2 : 3);
    assert_true(steps[0].a[1] == (i == 0 ? -2 : -1));
    assert_true(steps[1].kind == (i == 0 ? TERM_DIVIDE : TERM_SCALE) && steps[1].a[1] == (i == 0 ? 4 : 0.5));
    contract_free(c);
  }
  temp_free(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_humanoid_takes_few_lines),  cmocka_unit_test(every_key_is_read),
      cmocka_unit_test(every_fault_has_its_place),   cmocka_unit_test(a_state_has_no_terms),
      cmocka_unit_test(statistics_normalise_a_term),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
