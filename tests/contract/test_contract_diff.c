/* What changed in meaning between two contracts: every key's change is told, with what it makes of the gate; what means
 * the same is no difference. */
#include <math.h>
#include <string.h>

#include "contract/contract_diff.h"
#include "core/memory.h"
#include "core/text.h"
#include "support.h"

/* Every key that a contract may have, at least once. Each has a row below. */
static const char base[] =
    "assay: 1\n"
    "policy: block_pick\n"
    "model: policy.onnx\n"
    "inputs:\n"
    "  - name: front\n"
    "    dtype: float32\n"
    "    shape: [1, 3, 96, 96]\n"
    "    layout: NCHW\n"
    "    color: RGB\n"
    "    legal: [0, 1]\n"
    "    typical: [0.1, 0.9]\n"
    "    preprocess: [{resize: {height: 96, width: 96, filter: bilinear}}, {layout: {from: HWC, to: CHW}},\n"
    "      {scale: 0.25}]\n"
    "    max_age_ms: 100\n"
    "    on_invalid: refuse\n"
    "  - {name: qpos, dtype: float32, shape: [1, {min: 1, opt: 3, max: 5}, 4], unit: rad, raw: joints,\n"
    "     history: {axis: 1, max: 4}}\n"
    "  - {name: h_in, dtype: float32, shape: [1, 8]}\n"
    "state:\n"
    "  - {input: h_in, output: h_out, initial: zeros, reset: episode}\n"
    "  - {input: c_in, output: c_out, initial: 0.5, reset: never, dtype: float32, shape: [2],\n"
    "     tolerance: {max: 0.01}}\n"
    "outputs:\n"
    "  - name: action\n"
    "    dtype: float32\n"
    "    shape: [1, 20, 4]\n"
    "    axes: [batch, horizon, component]\n"
    "    execute: {steps: 8}\n"
    "    decode: [{clip: [-10, 10]}, {scale: [0.5, 0.25, 2, 1]}]\n"
    "    tolerance: {max: 0.002, mean: 0.0005, p99: 0.001}\n"
    "    limits: {min: -1.6, max: 1.6}\n"
    "    components:\n"
    "      - {names: [shoulder, elbow], unit: rad, decode: [{offset: [0.1, 0.2]}], pd: {kp: [40, 30], kd: 1}}\n"
    "      - {name: wrist, unit: rad, raw_unit: turn, compare: difference,\n"
    "         limits: {min: [-1], max: 1, rate: 2.0}, tolerance: {max: 0.004, rms: 0.1, space: raw, sign_flips: 1,\n"
    "         saturation: 2}}\n"
    "      - {name: gripper, unit: score, allow_inf: false,\n"
    "         decision: {threshold: 0.5, at_or_above: close, below: open, hysteresis: 0.1, consecutive: 2}}\n"
    "    decisions: [{argmax: {axis: component}}, {topk: {k: 2, axis: -1}}, {order: {by: ascending, axis: 1}}]\n"
    "  - {name: h_out, dtype: float32, shape: [1, 8]}\n"
    "timing: {period_ms: 20, p99_ms: 10, deadline_misses: 0}\n"
    "budget: {ram_mb: 500, engine_mb: 100}\n";

struct both {
  struct arena arena;
  struct contract *a, *b;
  struct statements left, right;
  struct contract_changes changes;
};

/* The text with the first `find` replaced. */
static char *mutated(const char *text, const char *find, const char *replace) {
  const char *at = strstr(text, find);
  struct text out = {0};
  if (at == NULL) {
    fail_msg("the contract of this test does not hold \"%s\"", find);
    return NULL;
  }
  text_add_bytes(&out, text, (size_t)(at - text));
  text_add(&out, replace);
  text_add(&out, at + strlen(find));
  return out.data;
}

static void compare(struct both *both, const char *a, const char *b) {
  *both = (struct both){.left = {.arena = &both->arena}, .right = {.arena = &both->arena}};
  ASSERT_OK(contract_parse(a, strlen(a), "a.yaml", "/nonexistent", &both->a));
  ASSERT_OK(contract_parse(b, strlen(b), "b.yaml", "/nonexistent", &both->b));
  ASSERT_OK(contract_describe(both->a, &both->left));
  ASSERT_OK(contract_describe(both->b, &both->right));
  ASSERT_OK(contract_diff(&both->left, &both->right, &both->arena, &both->changes));
}

static void both_free(struct both *both) {
  contract_free(both->a);
  contract_free(both->b);
  arena_free(&both->arena);
}

static void print_changes(const struct both *both) {
  for (int32_t i = 0; i < both->changes.count; i++) {
    print_error("  %s\n", both->changes.items[i].sentence);
  }
}

static void expect(const char *a, const char *b, const char *sentence) {
  struct both both;
  bool found = false;
  compare(&both, a, b);
  for (int32_t i = 0; i < both.changes.count; i++) {
    found |= strcmp(both.changes.items[i].sentence, sentence) == 0;
  }
  if (!found) {
    print_error("expected \"%s\", got %d:\n", sentence, (int)both.changes.count);
    print_changes(&both);
    fail();
  }
  both_free(&both);
}

struct row {
  const char *find, *replace, *sentence;
};

static const struct row changes[] = {
    {"policy: block_pick", "policy: block_push", "policy: name block_pick -> block_push (changed)"},
    {"model: policy.onnx", "model: other.onnx", "policy: model policy.onnx -> other.onnx (changed)"},
    {"name: front", "name: top", "input front: renamed to input top"},
    {"dtype: float32\n    shape: [1, 3", "dtype: float16\n    shape: [1, 3",
     "input front: dtype float32 -> float16 (changed)"},
    {"3, 96, 96]", "3, 96, {min: 96, max: 128, opt: 96}]",
     "input front: shape [1, 3, 96, 96] -> [1, 3, 96, 96 to 128, mostly 96] (changed)"},
    {"color: RGB", "color: BGR", "input front: color RGB -> BGR (changed)"},
    {"legal: [0, 1]", "legal: [0, 1.5]", "input front: legal max 1 -> 1.5 (looser)"},
    {"legal: [0, 1]", "legal: [0.05, 1]", "input front: legal min 0 -> 0.05 (tighter)"},
    {"    legal: [0, 1]\n", "", "input front: legal max 1 removed (looser)"},
    {"typical: [0.1, 0.9]", "typical: [0.2, 0.9]", "input front: typical min 0.1 -> 0.2 (changed)"},
    {"filter: bilinear", "filter: bicubic",
     "input front: preprocess resize to 96 x 96, bilinear, half_pixel, rounding by the type; HWC to CHW; scale 0.25 -> "
     "resize to 96 x 96, bicubic, half_pixel, rounding by the type; HWC to CHW; scale 0.25 (changed)"},
    {"max_age_ms: 100", "max_age_ms: 200", "input front: max age 100 ms -> 200 ms (looser)"},
    {"max_age_ms: 100", "max_age_ms: 100\n    frozen_after: 5", "input front: frozen after 5 steps added (tighter)"},
    {"timing:", "freshness: {max_skew_ms: 30}\ntiming:", "freshness: max skew 30 ms added (tighter)"},
    {"timing:", "freshness: {future_ms: 5}\ntiming:", "freshness: future 0 ms -> 5 ms (looser)"},
    {"timing:", "external: {bumper: {max_age_ms: 20}}\ntiming:", "monitor bumper: added"},
    {"unit: rad, raw", "unit: deg, raw", "input qpos: unit rad -> deg (changed)"},
    {"raw: joints", "raw: encoders", "input qpos: sensor joints -> encoders (changed)"},
    {"{axis: 1, max: 4}", "{axis: 1, max: 3}", "input qpos: history max 4 -> 3 (tighter)"},
    {"{axis: 1, max: 4}", "{axis: 2, max: 4}", "input qpos: history axis 1 -> 2 (changed)"},
    {"initial: zeros", "initial: 1", "state h_in: initial zeros -> 1 at first, sha256:4f05df05f8da in all (changed)"},
    {"reset: episode", "reset: never", "state h_in: reset episode -> never (changed)"},
    {"tolerance: {max: 0.01}", "tolerance: {max: 0.02}",
     "output c_out, component c_out: tolerance max 0.01 -> 0.02 (looser)"},
    {"{steps: 8}", "{steps: 4}", "output action: executed steps 8 -> 4 (looser)"},
    {"    execute: {steps: 8}\n", "", "output action: executed steps 8 -> all (tighter)"},
    {"clip: [-10, 10]", "clip: [-5, 10]",
     "output action, component wrist: decode clip to [-10, 10]; scale 2 -> clip to [-5, 10]; "
     "scale 2 (changed)"},
    {"offset: [0.1, 0.2]", "offset: [0.1, 0.3]",
     "output action, component elbow: decode clip to [-10, 10]; scale 0.25; offset 0.2 -> "
     "clip "
     "to [-10, 10]; scale 0.25; offset 0.3 (changed)"},
    {"max: 0.002", "max: 0.004", "output action, component shoulder: tolerance max 0.002 rad -> 0.004 rad (looser)"},
    {"mean: 0.0005", "mean: 0.0004",
     "output action, component elbow: tolerance mean 0.0005 rad -> 0.0004 rad (tighter)"},
    {", p99: 0.001}", "}", "output action, component gripper: tolerance p99 0.001 score removed (looser)"},
    {"rms: 0.1", "rms: 0.2", "output action, component wrist: tolerance rms 0.1 turn -> 0.2 turn (looser)"},
    {"sign_flips: 1", "sign_flips: 3", "output action, component wrist: tolerance sign_flips 1 -> 3 (looser)"},
    {"saturation: 2", "saturation: 0", "output action, component wrist: tolerance saturation 2 -> 0 (tighter)"},
    {"space: raw", "space: physical", "output action, component wrist: tolerance space raw -> physical (changed)"},
    {"min: -1.6, max: 1.6", "min: -2, max: 1.6",
     "output action, component elbow: limit min -1.6 rad -> -2 rad (looser)"},
    {"max: 1, rate", "max: 0.5, rate", "output action, component wrist: limit max 1 rad -> 0.5 rad (tighter)"},
    {"rate: 2.0", "rate: 3", "output action, component wrist: limit rate 2 rad -> 3 rad (looser)"},
    {"names: [shoulder, elbow]", "names: [elbow, shoulder]",
     "output action: order of components shoulder, elbow, wrist, gripper -> elbow, shoulder, wrist, gripper (changed)"},
    {"names: [shoulder, elbow]", "names: [shoulder, knee]",
     "output action, component elbow: renamed to component knee"},
    {"unit: score", "unit: probability", "output action, component gripper: unit score -> probability (changed)"},
    {"raw_unit: turn", "raw_unit: rev", "output action, component wrist: raw unit turn -> rev (changed)"},
    {"kp: [40, 30]", "kp: [40, 20]", "output action, component elbow: pd kp 30 -> 20 (changed)"},
    {"kd: 1", "kd: 2", "output action, component elbow: pd kd 1 -> 2 (changed)"},
    {"allow_inf: false", "allow_inf: true", "output action, component gripper: allow_inf no -> yes (looser)"},
    {"threshold: 0.5", "threshold: 0.6",
     "output action, component gripper: decision threshold 0.5 score -> 0.6 score (changed)"},
    {"at_or_above: close, below: open", "above: close, at_or_below: open",
     "output action, component gripper: decision sides at or above: close; below: open -> above: close; at or below: "
     "open (changed)"},
    {"hysteresis: 0.1", "hysteresis: 0.2",
     "output action, component gripper: decision hysteresis 0.1 score -> 0.2 score (changed)"},
    {"consecutive: 2", "consecutive: 3", "output action, component gripper: decision consecutive 2 -> 3 (changed)"},
    {"{argmax: {axis: component}}, ", "", "output action: decision argmax over axis 2 yes removed"},
    {"k: 2", "k: 3", "output action: decision topk over axis 2 2 -> 3 (changed)"},
    {"by: ascending", "by: descending", "output action: decision order over axis 1 ascending -> descending (changed)"},
    {"period_ms: 20", "period_ms: 40", "timing: period 20 ms -> 40 ms (changed)"},
    {"p99_ms: 10", "p99_ms: 12", "timing: p99 10 ms -> 12 ms (looser)"},
    {"deadline_misses: 0", "deadline_misses: 1", "timing: deadline misses 0 -> 1 (looser)"},
    {"ram_mb: 500", "ram_mb: 400", "budget: ram 500 MB -> 400 MB (tighter)"},
    {"engine_mb: 100", "engine_mb: 200", "budget: engine 100 MB -> 200 MB (looser)"},
};

static void tells_every_change(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
    if (changes[i].sentence != NULL) {
      char *text = mutated(base, changes[i].find, changes[i].replace);
      expect(base, text, changes[i].sentence);
      memory_free(text);
    }
  }
}

static const struct row equals[] = {
    {"policy: block_pick\nmodel: policy.onnx\n", "model: policy.onnx\npolicy: block_pick\n", NULL},
    {"model: policy.onnx", "model: ./policy.onnx   # the file", NULL},
    {"policy: block_pick", "policy: {value: block_pick, source: 'train.py:3'}", NULL},
    {"max: 0.002", "max: 2.0e-3", NULL},
    {"max: 0.002", "max: 0.002, sign_flips: 0, saturation: 0, space: physical", NULL},
    {"unit: score, allow_inf: false", "unit: score", NULL},
    {"raw_unit: turn, compare: difference", "raw_unit: turn", NULL},
    {"name: front\n", "name: front\n    raw: front\n", NULL},
    {"    on_invalid: refuse\n", "", NULL},
    {"filter: bilinear}", "filter: bilinear, coordinates: half_pixel, antialias: false}", NULL},
    {"{scale: 0.25}", "{scale: [0.25, 0.25, 0.25]}", NULL},
    {"initial: zeros", "initial: 0", NULL},
    {"      - {names: [shoulder, elbow], unit: rad, decode: [{offset: [0.1, 0.2]}], pd: {kp: [40, 30], kd: 1}}\n",
     "      - {name: shoulder, unit: rad, decode: [{offset: 0.1}], pd: {kp: 40, kd: 1}}\n"
     "      - {name: elbow, unit: rad, decode: [{offset: 0.2}], pd: {kp: 30, kd: 1}}\n",
     NULL},
    {"{argmax: {axis: component}}, {topk: {k: 2, axis: -1}}", "{topk: {k: 2, axis: 2}}, {argmax: {axis: 2}}", NULL},
    {"  - {input: h_in, output: h_out, initial: zeros, reset: episode}\n",
     "  - {output: h_out, initial: zeros, input: h_in}\n", NULL},
    {"  - {name: h_in, dtype: float32, shape: [1, 8]}\n", "  - {shape: [1, 8], dtype: float32, name: h_in}\n", NULL},
};

static void the_same_meaning_is_no_difference(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof equals / sizeof equals[0]; i++) {
    char *text = mutated(base, equals[i].find, equals[i].replace);
    struct both both;
    compare(&both, base, text);
    if (both.changes.count != 0) {
      print_error("\"%s\" for \"%s\": expected no difference, got\n", equals[i].replace, equals[i].find);
      print_changes(&both);
      fail();
    }
    both_free(&both);
    memory_free(text);
  }
}

/* A flat observation of terms: what each change makes of it. */
static const char observation[] =
    "assay: 1\n"
    "policy: walk\n"
    "model: policy.onnx\n"
    "inputs:\n"
    "  - name: obs\n"
    "    dtype: float32\n"
    "    shape: [1, 22]\n"
    "    clip: [-100, 100]\n"
    "    history: {layout: term_major, order: oldest_first, initial: repeat_first}\n"
    "    terms:\n"
    "      - {name: gyro, elements: [x, y, z], unit: rad/s, scale: 0.2, history: 5}\n"
    "      - {name: gravity, elements: [x, y, z], unit: one, offset: 0.5, clip: [-1, 1]}\n"
    "      - {name: last, from: {output: action, space: raw, lag: 1}}\n"
    "      - {name: phase, from: {clock: {period_steps: 40, as: [sin, cos]}}}\n"
    "outputs:\n"
    "  - name: action\n"
    "    dtype: float32\n"
    "    shape: [1, 2]\n"
    "    components: [{names: [hip, knee], unit: rad, tolerance: {max: 0.001}}]\n";

static const struct row observed[] = {
    {"scale: 0.2", "scale: 0.25", "input obs, term gyro: steps scale 0.2 -> scale 0.25 (changed)"},
    {"scale: 0.2, ", "", "input obs, term gyro: steps scale 0.2 removed"},
    {"[-100, 100]", "[-50, 100]", "input obs: clip min -100 -> -50 (changed)"},
    {"order: oldest_first", "order: newest_first", "input obs: history order oldest_first -> newest_first (changed)"},
    {"initial: repeat_first", "initial: zeros", "input obs: history initial repeat_first -> zeros (changed)"},
    {"unit: rad/s", "unit: deg/s", "input obs, term gyro: unit rad/s -> deg/s (changed)"},
    {"offset: 0.5, clip: [-1, 1]", "offset: 0.5, clip: [-2, 1]",
     "input obs, term gravity: steps offset 0.5; clip to -1 and 1 -> offset 0.5; clip to -2 and 1 (changed)"},
    {"space: raw", "space: decoded",
     "input obs, term last: from output action, raw, lag 1 -> output action, decoded, lag 1 (changed)"},
    {"period_steps: 40", "period_steps: 50", "input obs, term phase: clock period 40 steps -> 50 steps (changed)"},
    {"[sin, cos]", "[cos, sin]", "input obs, term phase: clock as sin, cos -> cos, sin (changed)"},
    {"unit: one, offset", "unit: one, raw: acc, offset", "input obs, term gravity: sensor acc added"},
    {"offset: 0.5", "offset: 0.75",
     "input obs, term gravity: steps offset 0.5; clip to -1 and 1 -> offset 0.75; clip to -1 and 1 (changed)"},
    {"offset: 0.5, clip: [-1, 1]", "apply: [{clip: [-1, 1]}, {offset: 0.5}]",
     "input obs, term gravity: steps offset 0.5; clip to -1 and 1 -> clip to -1 and 1; offset 0.5 (changed)"},
    {"elements: [x, y, z], unit: rad/s", "elements: [y, x, z], unit: rad/s",
     "input obs, term gyro: elements x, y, z -> y, x, z (changed)"},
    {"lag: 1", "lag: 2", "input obs, term last: from output action, raw, lag 1 -> output action, raw, lag 2 (changed)"},
    {"period_steps: 40,", "period_steps: 40, start: 0.25,", "input obs, term phase: clock start 0 -> 0.25 (changed)"},
    {"name: gravity", "name: down", "input obs, term gravity: renamed to term down"},
};

static void tells_changes_of_terms(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof observed / sizeof observed[0]; i++) {
    char *text = mutated(observation, observed[i].find, observed[i].replace);
    expect(observation, text, observed[i].sentence);
    memory_free(text);
  }
}

/* What the ledger keeps: all that is said of terms. */
static void what_is_said_of_terms_judges(void **state) {
  (void)state;
  struct contract *contract = NULL;
  struct arena arena = {0};
  struct statements says = {.arena = &arena};
  int count = 0;
  ASSERT_OK(contract_parse(observation, strlen(observation), "c.yaml", "/nonexistent", &contract));
  ASSERT_OK(contract_describe(contract, &says));
  for (int32_t i = 0; i < says.count; i++) {
    bool term = says.items[i].part != NULL && strncmp(says.items[i].part, "term ", 5) == 0;
    count += term;
    assert_true(!term || says.items[i].judges);
  }
  assert_in_range(count, 12, 100);
  arena_free(&arena);
  contract_free(contract);
}

static int count_changes(const char *a, const char *b) {
  struct both both;
  compare(&both, a, b);
  int count = both.changes.count;
  both_free(&both);
  return count;
}

/* A whole input that went is one difference, and so is a renamed one; a rename does not change the order too. */
static void a_whole_is_one_difference(void **state) {
  (void)state;
  char *renamed = mutated(base, "name: front", "name: top");
  char *component = mutated(base, "elbow]", "knee]");
  char *swapped = mutated(base, "[shoulder, elbow]", "[elbow, shoulder]");
  assert_int_equal(count_changes(base, renamed), 1);
  assert_int_equal(count_changes(base, component), 1);
  assert_int_equal(count_changes(base, base), 0);
  assert_true(count_changes(base, swapped) > 1); /* the order, and what stands at each name */
  memory_free(renamed);
  memory_free(component);
  memory_free(swapped);
}

/* One way and back: looser becomes tighter, added becomes removed. */
static void both_directions_mirror(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
    if (changes[i].sentence == NULL) {
      continue;
    }
    char *text = mutated(base, changes[i].find, changes[i].replace);
    struct both there, back;
    compare(&there, base, text);
    compare(&back, text, base);
    assert_int_equal(there.changes.count, back.changes.count);
    int marks[2][6] = {{0}};
    for (int32_t k = 0; k < there.changes.count; k++) {
      marks[0][there.changes.items[k].mark]++;
      marks[1][back.changes.items[k].mark]++;
    }
    assert_int_equal(marks[0][CHANGE_LOOSER], marks[1][CHANGE_TIGHTER]);
    assert_int_equal(marks[0][CHANGE_TIGHTER], marks[1][CHANGE_LOOSER]);
    assert_int_equal(marks[0][CHANGE_ADDED], marks[1][CHANGE_REMOVED]);
    assert_int_equal(marks[0][CHANGE_OTHER], marks[1][CHANGE_OTHER]);
    both_free(&there);
    both_free(&back);
    memory_free(text);
  }
}

/* A number that is not one is never the same, and absence is compared as what it asks: nothing. */
static void statements_compare(void **state) {
  (void)state;
  const struct statement two = {.root = "r", .what = "w", .value = "2", .kind = STATEMENT_CEILING, .number = 2};
  struct statement other = two;
  assert_int_equal(statement_compare(&two, &other), CHANGE_NONE);
  other.number = 3;
  assert_int_equal(statement_compare(&two, &other), CHANGE_LOOSER);
  assert_int_equal(statement_compare(&other, &two), CHANGE_TIGHTER);
  other.number = (double)NAN;
  assert_int_equal(statement_compare(&two, &other), CHANGE_OTHER);
  assert_int_equal(statement_compare(&other, &other), CHANGE_OTHER);
  assert_int_equal(statement_compare(&two, NULL), CHANGE_LOOSER);
  assert_int_equal(statement_compare(NULL, &two), CHANGE_TIGHTER);
  assert_int_equal(statement_compare(NULL, NULL), CHANGE_NONE);
  other = (struct statement){.root = "r", .what = "w", .value = "2", .kind = STATEMENT_FLOOR, .number = 3};
  assert_int_equal(statement_compare(&two, &other), CHANGE_OTHER); /* not the same kind of thing */
  struct statement floor = other;
  floor.number = 1;
  assert_int_equal(statement_compare(&other, &floor), CHANGE_LOOSER);
  floor.kind = other.kind = STATEMENT_FACT;
  floor.value = "open";
  assert_int_equal(statement_compare(&other, &floor), CHANGE_OTHER);
  assert_int_equal(statement_compare(&other, NULL), CHANGE_REMOVED);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tells_every_change),           cmocka_unit_test(tells_changes_of_terms),
      cmocka_unit_test(what_is_said_of_terms_judges), cmocka_unit_test(the_same_meaning_is_no_difference),
      cmocka_unit_test(a_whole_is_one_difference),    cmocka_unit_test(both_directions_mirror),
      cmocka_unit_test(statements_compare),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
