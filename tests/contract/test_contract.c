/* Reading contracts: what a whole one means, and for every kind of fault the place and the sentence. */
#include <math.h>
#include <string.h>

#include "contract/contract.h"
#include "core/memory.h"
#include "core/text.h"
#include "support.h"

/* The lines are numbered for the refusals below. */
static const char base[] =
    /* 1 */
    "assay: 1\n"
    /* 2 */
    "policy: block_pick\n"
    /* 3 */
    "model: policy.onnx\n"
    /* 4 */
    "inputs:\n"
    /* 5 */
    "  - name: front\n"
    /* 6 */
    "    dtype: float32\n"
    /* 7 */
    "    shape: [1, 3, 96, 96]\n"
    /* 8 */
    "    layout: NCHW\n"
    /* 9 */
    "    color: RGB\n"
    /* 10 */
    "    legal: [0, 1]\n"
    /* 11 */
    "    typical: [0.1, 0.9]\n"
    /* 12 */
    "    preprocess: [{resize: {height: 96, width: 96, filter: bilinear}}, {layout: {from: HWC, to: CHW}}, "
    "{scale: 0.00392156862745098}]\n"
    /* 13 */
    "    max_age_ms: 100\n"
    /* 14 */
    "    on_invalid: refuse\n"
    /* 15 */
    "  - {name: qpos, dtype: float32, shape: [1, {min: 1, opt: 3, max: 5}, 4], unit: rad, raw: joints,\n"
    /* 16 */
    "     history: {axis: 1, max: 4}}\n"
    /* 17 */
    "  - {name: h_in, dtype: float32, shape: [1, 8]}\n"
    /* 18 */
    "state:\n"
    /* 19 */
    "  - {input: h_in, output: h_out, initial: zeros, reset: episode}\n"
    /* 20 */
    "  - {input: c_in, output: c_out, initial: 0.5, reset: never, dtype: float32, shape: [2],\n"
    /* 21 */
    "     tolerance: {max: 0.01}}\n"
    /* 22 */
    "outputs:\n"
    /* 23 */
    "  - name: action\n"
    /* 24 */
    "    dtype: float32\n"
    /* 25 */
    "    shape: [1, 20, 4]\n"
    /* 26 */
    "    axes: [batch, horizon, component]\n"
    /* 27 */
    "    execute: {steps: 8}\n"
    /* 28 */
    "    decode: [{clip: [-10, 10]}, {scale: [0.5, 0.25, 2, 1]}]\n"
    /* 29 */
    "    tolerance: {max: 0.002, mean: 0.0005, p99: 0.001}\n"
    /* 30 */
    "    limits: {min: -1.6, max: 1.6}\n"
    /* 31 */
    "    components:\n"
    /* 32 */
    "      - {names: [shoulder, elbow], unit: rad, decode: [{offset: [0.1, 0.2]}], pd: {kp: [40, 30], kd: 1}}\n"
    /* 33 */
    "      - {name: wrist, unit: rad, raw_unit: turn, compare: difference,\n"
    /* 34 */
    "         limits: {min: [-1], max: 1, rate: 2.0}, tolerance: {max: 0.004, space: raw}}\n"
    /* 35 */
    "      - {name: gripper, unit: score, allow_inf: true,\n"
    /* 36 */
    "         decision: {threshold: 0.5, at_or_above: close, below: open}}\n"
    /* 37 */
    "    decisions: [{argmax: {axis: component}}, {topk: {k: 2, axis: -1}}, {order: {by: ascending, axis: 1}}]\n"
    /* 38 */
    "  - {name: h_out, dtype: float32, shape: [1, 8]}\n"
    /* 39 */
    "timing: {period_ms: 20, p99_ms: 10, deadline_misses: 0}\n"
    /* 40 */ "budget: {ram_mb: 500, engine_mb: 100}\n";

static assay_status parse(const char *text, struct contract **out) {
  return contract_parse(text, strlen(text), "contract.yaml", "/nonexistent", out);
}

static void reads_every_part(void **state) {
  (void)state;
  struct contract *c;
  ASSERT_OK(parse(base, &c));
  assert_string_equal(c->policy, "block_pick");
  assert_string_equal(c->model, "policy.onnx");
  assert_int_equal(c->n_inputs, 4);
  const struct contract_input *front = contract_find_input(c, "front");
  assert_non_null(front);
  assert_int_equal(front->dtype, ASSAY_FLOAT32);
  assert_int_equal(front->rank, 4);
  assert_int_equal(front->dims[2].min, 96);
  assert_int_equal(front->dims[2].max, 96);
  assert_string_equal(front->layout, "NCHW");
  assert_string_equal(front->color, "RGB");
  assert_string_equal(front->raw, "front");
  assert_true(front->has_legal && front->legal_min == 0 && front->legal_max == 1);
  assert_true(front->has_typical && front->typical_min == 0.1 && front->typical_max == 0.9);
  assert_true(front->max_age_ms == 100 && front->refuse && !front->is_state);
  assert_int_equal(front->mark.line, 5);
  assert_int_equal(front->n_preprocess, 3);
  assert_int_equal(front->preprocess[0].kind, PREPROCESS_RESIZE);
  assert_int_equal(front->preprocess[0].filter, RESIZE_BILINEAR);
  assert_int_equal(front->preprocess[2].kind, PREPROCESS_SCALE);
  assert_true(front->preprocess[2].a[0] == 0.00392156862745098);
  const struct contract_input *qpos = contract_find_input(c, "qpos");
  assert_true(qpos->dims[1].min == 1 && qpos->dims[1].opt == 3 && qpos->dims[1].max == 5);
  assert_string_equal(qpos->raw, "joints");
  assert_true(qpos->history_axis == 1 && qpos->history_max == 4);

  assert_int_equal(c->n_states, 2);
  assert_true(contract_find_input(c, "h_in")->is_state && contract_find_output(c, "h_out")->is_state);
  const struct contract_state *hidden = &c->states[0], *carry = &c->states[1];
  assert_string_equal(hidden->input, "h_in");
  assert_null(hidden->initial);
  assert_true(hidden->reset_episode);
  assert_string_equal(carry->output, "c_out");
  assert_false(carry->reset_episode);
  assert_true(carry->has_tolerance && carry->tolerance_max == 0.01);
  assert_true(tensor_get(carry->initial, 0) == 0.5 && tensor_get(carry->initial, 1) == 0.5);
  const struct contract_output *c_out = contract_find_output(c, "c_out");
  assert_int_equal(c_out->n_components, 1);
  assert_string_equal(c_out->components[0].name, "c_out");
  assert_true(c_out->components[0].tolerance.given && c_out->components[0].tolerance.max == 0.01);
  assert_false(contract_find_output(c, "h_out")->components[0].tolerance.given);

  assert_int_equal(c->n_outputs, 3);
  const struct contract_output *action = contract_find_output(c, "action");
  assert_true(action->component_axis == 2 && action->horizon_axis == 1 && action->execute_steps == 8);
  assert_int_equal(action->n_components, 4);
  const struct contract_component *elbow = &action->components[1], *wrist = &action->components[2],
                                  *gripper = &action->components[3];
  assert_string_equal(elbow->name, "elbow");
  assert_string_equal(elbow->unit, "rad");
  assert_int_equal(elbow->n_decode, 3);
  assert_true(elbow->decode[0].kind == DECODE_CLIP && elbow->decode[0].a == -10 && elbow->decode[0].b == 10);
  assert_true(elbow->decode[1].kind == DECODE_SCALE && elbow->decode[1].a == 0.25);
  assert_true(elbow->decode[2].kind == DECODE_OFFSET && elbow->decode[2].a == 0.2);
  assert_true(elbow->has_pd && elbow->kp == 30 && elbow->kd == 1);
  assert_true(elbow->tolerance.max == 0.002 && elbow->tolerance.p99 == 0.001 && isnan(elbow->tolerance.rms));
  assert_false(elbow->tolerance.raw);
  assert_true(elbow->has_limits && elbow->limit_max == 1.6 && isnan(elbow->limit_rate));
  assert_string_equal(wrist->raw_unit, "turn");
  assert_int_equal(wrist->n_decode, 2);
  assert_true(wrist->tolerance.raw && wrist->tolerance.max == 0.004 && isnan(wrist->tolerance.mean));
  assert_true(wrist->limit_min == -1 && wrist->limit_rate == 2);
  assert_true(gripper->has_decision && gripper->allow_inf && gripper->decision.at_or_above);
  assert_true(gripper->decision.threshold == 0.5);
  assert_string_equal(gripper->decision.label_positive, "close");
  assert_string_equal(gripper->decision.label_negative, "open");
  assert_int_equal(action->n_decisions, 3);
  assert_true(action->decisions[0].kind == DECISION_ARGMAX && action->decisions[0].axis == 2);
  assert_true(action->decisions[1].kind == DECISION_TOPK && action->decisions[1].k == 2 &&
              action->decisions[1].axis == 2);
  assert_true(action->decisions[2].kind == DECISION_ORDER && action->decisions[2].ascending);

  assert_true(c->period_ms == 20 && c->p99_ms == 10 && c->deadline_misses == 0);
  assert_true(c->budget_ram_mb == 500 && c->budget_engine_mb == 100);
  contract_free(c);
}

/* The base with its first `find` replaced, and the refusal that it must get. */
struct fault {
  const char *find, *replace;
  int line, column;
  assay_code code;
  const char *part;
};

/* False, and said, when the base with the fault in it is not refused as it should be. */
static bool is_refused(const struct fault *fault) {
  const char *at = strstr(base, fault->find);
  assert_non_null(at);
  struct text text = {0};
  text_add_bytes(&text, base, (size_t)(at - base));
  text_add(&text, fault->replace);
  text_add(&text, at + strlen(fault->find));
  char where[64];
  snprintf(where, sizeof where, "contract.yaml:%d:%d", fault->line, fault->column);
  struct contract *contract = NULL;
  assay_status status = parse(text_string(&text), &contract);
  bool right = status.code == fault->code && strcmp(assay_status_where(status), where) == 0 &&
               strstr(assay_status_sentence(status), fault->part) != NULL;
  if (!right) {
    print_error("'%s' -> '%s'\nexpected %s at %s with \"%s\"\ngot %s at %s: %s\n", fault->find, fault->replace,
                assay_code_name(fault->code), where, fault->part, assay_code_name(status.code),
                assay_status_where(status), assay_status_sentence(status));
  }
  assay_status_clear(&status);
  text_free(&text);
  return right;
}

#define BAD ASSAY_CONTRACT_INVALID
#define LATER ASSAY_CONTRACT_UNSUPPORTED
static const struct fault faults[] = {
    /* the whole */
    {"assay: 1\n", "assay: 2\n", 1, 8, BAD, "from 1 to 1"},
    {"assay: 1\n", "\n", 2, 1, BAD, "the contract needs the key 'assay'"},
    {"policy: block_pick", "polcy: block_pick", 2, 1, BAD, "no key 'polcy'; did you mean 'policy'"},
    {"model: policy.onnx", "model: [a]", 3, 8, BAD, "'model' of the contract must be a word"},
    {"model: policy.onnx", "model: TODO", 3, 8, ASSAY_OPEN_QUESTION, "'model' is still TODO"},
    {"model: policy.onnx", "stages: [{name: vision}]", 3, 10, BAD, "stage 'vision' needs the key 'model'"},
    {"timing:", "external: []\ntiming:", 39, 11, BAD, "'external'"},
    {"timing:", "external: {m: {}}\ntiming:", 39, 15, BAD, "monitor 'm' needs the key 'max_age_ms'"},
    {"timing:", "external: {m: {max_age_ms: 0}}\ntiming:", 39, 28, BAD, "must be above 0"},
    {"timing:", "external: {m: {max_age: 1}}\ntiming:", 39, 16, BAD, "did you mean 'max_age_ms'"},
    {"timing:", "external: {m: {max_age_ms: 5, on_missing: accept}}\ntiming:", 39, 43, BAD, "must be refuse"},
    {"timing:", "freshness: {max_skew_ms: 0}\ntiming:", 39, 26, BAD, "must be above 0"},
    {"timing:", "freshness: {future_ms: -1}\ntiming:", 39, 24, BAD, "must be 0 or more"},
    {"timing:", "freshness: {skew_ms: 1}\ntiming:", 39, 13, BAD, "no key 'skew_ms'"},
    {"max_age_ms: 100", "frozen_after: 0", 13, 19, BAD, "from 1"},
    {"max_age_ms: 100", "frozen_after: 2.5", 13, 19, BAD, "whole number"},
    {"p99_ms: 10", "p99_ms: 30", 39, 33, BAD, "longer than the period"},
    {"period_ms: 20", "period_ms: 0", 39, 21, BAD, "must be above 0"},
    {"deadline_misses: 0", "deadline_misses: -1", 39, 54, BAD, "from 0"},
    {"engine_mb: 100", "engine_mb: .inf", 40, 34, BAD, "finite"},
    /* inputs */
    {"name: front", "nme: front", 5, 5, BAD, "did you mean 'name'"},
    {"    dtype: float32\n    shape: [1, 3, 96, 96]", "    shape: [1, 3, 96, 96]", 5, 5, BAD,
     "input 'front' needs the key 'dtype'"},
    {"dtype: float32", "dtype: flaot32", 6, 12, BAD, "which is no dtype; write float32"},
    {"dtype: float32", "dtype: string", 6, 12, BAD, "may not be"},
    {"shape: [1, 3, 96, 96]", "shape: [1, 3, 96, 0]", 7, 23, BAD, "from 1"},
    {"shape: [1, 3, 96, 96]", "shape: [1, 3, 96, -1]", 7, 23, BAD, "from 1"},
    {"shape: [1, 3, 96, 96]", "shape: [1, 3, 96, 9.5]", 7, 23, BAD, "whole number"},
    {"shape: [1, 3, 96, 96]", "shape: 96", 7, 12, BAD, "a list"},
    {"shape: [1, 3, 96, 96]", "shape: [1099511627776, 3, 96, 96]", 7, 12, BAD, "more elements"},
    {"{min: 1, opt: 3, max: 5}", "{min: 4, opt: 3, max: 5}", 15, 45, BAD, "min 4, opt 3, max 5"},
    {"{min: 1, opt: 3, max: 5}", "{min: 1, max: 5}", 15, 45, BAD, "needs the key 'opt'"},
    {"layout: NCHW", "layout: NHCW", 8, 13, BAD, "NCHW, NHWC, CHW or HWC"},
    {"layout: NCHW", "layout: CHW", 8, 13, BAD, "has 4 dimensions"},
    {"layout: NCHW", "layout: NHWC", 9, 12, BAD, "has 96 at C in NHWC"},
    {"color: RGB", "color: GRAY", 9, 12, BAD, "GRAY, which has 1 channels"},
    {"    layout: NCHW\n", "\n", 9, 12, BAD, "without a 'layout'"},
    {"legal: [0, 1]", "legal: [1, 0]", 10, 12, BAD, "the first must be below the second"},
    {"legal: [0, 1]", "legal: [0, .nan]", 10, 16, BAD, "finite"},
    {"legal: [0, 1]", "legal: [0]", 10, 12, BAD, "two"},
    {"typical: [0.1, 0.9]", "typical: [0.1, 1.9]", 11, 14, BAD, "outside the legal"},
    {"max_age_ms: 100", "max_age_ms: -1", 13, 17, BAD, "above 0"},
    {"on_invalid: refuse", "on_invalid: clamp", 14, 17, BAD, "must be refuse"},
    {"name: qpos", "name: front", 15, 5, BAD, "input 'front' stands here again; it was given at line 5"},
    {"history: {axis: 1, max: 4}", "history: {axis: 3, max: 4}", 16, 15, BAD, "names axis 3"},
    {"history: {axis: 1, max: 4}", "history: {axis: 1, max: 6}", 16, 15, BAD, "allows 1 to 5"},
    {"history: {axis: 1, max: 4}", "history: {axis: 1, max: 4, order: oldest_first}", 16, 33, BAD,
     "which says how the history of terms lies"},
    {"unit: rad, raw: joints", "role: noise", 16, 6, BAD, "but noise is drawn, not measured"},
    {"unit: rad, raw: joints", "terms: []", 15, 82, BAD, "'terms' of input 'qpos' lists 0 terms"},
    /* preprocessing */
    {"filter: bilinear", "filter: lanczos", 12, 59, BAD, "nearest, bilinear, bicubic or area"},
    {"filter: bilinear", "filter: area, antialias: true", 12, 27, BAD, "antialias"},
    {"filter: bilinear", "filter: bilinear, rounding: pillow", 12, 27, BAD, "antialias: true"},
    {"height: 96, width: 96", "height: 96", 12, 27, BAD, "needs the key 'width'"},
    {"height: 96, width: 96", "height: 0, width: 96", 12, 36, BAD, "from 1 to 65536"},
    {"{resize: {height", "{resize: {}, crop: {height", 12, 18, BAD, "has 2 keys"},
    {"{scale: 0.00392156862745098}", "{scale: 0}", 12, 111, BAD, "must not be 0"},
    {"{scale: 0.00392156862745098}", "{scale: [1, 2]}", 12, 103, BAD,
     "has 2 numbers, but dimension 1 of input 'front' has 3"},
    {"{scale: 0.00392156862745098}", "{normalize: {mean: [0, 0, 0], std: [1, 1]}}", 12, 138, BAD, "but 'mean' has 3"},
    {"{scale: 0.00392156862745098}", "{normalize: {mean: 0, std: -1}}", 12, 130, BAD, "must be above 0"},
    {"{scale: 0.00392156862745098}", "{normalize: {mean: 0}}", 12, 115, BAD, "needs the key 'std'"},
    {"{scale: 0.00392156862745098}", "{cast: int64}", 12, 110, BAD, "a cast goes to"},
    {"{scale: 0.00392156862745098}", "{color: {from: RGB, to: BGR}}", 12, 103, BAD, "ends at BGR"},
    {"{scale: 0.00392156862745098}", "{color: {from: RGB, to: RGB}}", 12, 111, BAD, "changes nothing"},
    {"{scale: 0.00392156862745098}", "{crop: {height: 9, width: 9, top: 1}}", 12, 110, BAD, "'top' and 'left'"},
    {"{scale: 0.00392156862745098}", "{pad: {height: 9, fill: 0}}", 12, 109, BAD, "'height' and 'width'"},
    {"{scale: 0.00392156862745098}", "{pad: {top: 9}}", 12, 109, BAD, "needs the key 'fill'"},
    {"{layout: {from: HWC, to: CHW}}", "{layout: {from: CHW, to: HWC}}", 12, 71, BAD, "ends at HWC"},
    {"{layout: {from: HWC, to: CHW}}", "{layout: {from: NHWC, to: CHW}}", 12, 80, BAD, "takes no dimension away"},
    /* state */
    {"input: h_in, output: h_out", "input: h_ni, output: h_out", 19, 5, BAD, "input 'h_ni' is not listed"},
    {"input: h_in, output: h_out", "input: h_in, output: h_uot", 19, 5, BAD, "output 'h_uot' is not listed"},
    {"input: h_in, output: h_out", "input: h_in", 19, 5, BAD, "needs the key 'output'"},
    {"initial: zeros, reset", "reset", 19, 5, BAD, "needs the key 'initial'"},
    {"initial: zeros", "initial: 1e39", 19, 43, BAD, "which float32 cannot hold"},
    {"initial: zeros", "initial: ones", 19, 43, BAD, "must be a number"},
    {"reset: episode", "reset: sometimes", 19, 57, BAD, "episode or never"},
    {"name: h_in, dtype: float32, shape: [1, 8]", "name: h_in, dtype: float16, shape: [1, 8]", 19, 5, BAD,
     "input 'h_in' is float16, output 'h_out' is float32"},
    {"name: h_in, dtype: float32, shape: [1, 8]", "name: h_in, dtype: float32, shape: [1, 9]", 19, 5, BAD,
     "different shapes"},
    {"input: c_in", "input: h_in", 20, 5, BAD, "in a state pair already, at line 19"},
    {", dtype: float32, shape: [2]", ", dtype: float32", 20, 5, BAD, "give both"},
    {"input: c_in, output: c_out", "input: qpos, output: c_out", 20, 5, BAD, "say it in one place"},
    {"  - {input: h_in, output: h_out, initial: zeros, reset: episode}\n", "", 37, 5, BAD,
     "output 'h_out' needs the key 'components'"},
    {"tolerance: {max: 0.01}", "tolerance: {max: -0.01}", 21, 23, BAD, "0 or more"},
    /* outputs */
    {"axes: [batch, horizon, component]", "axes: [batch, horizon]", 26, 11, BAD, "names 2 axes"},
    {"axes: [batch, horizon, component]", "axes: [batch, batch, component]", 26, 19, BAD, "twice"},
    {"axes: [batch, horizon, component]", "axes: [batch, horizon, joint]", 37, 33, BAD,
     "is 'component', which 'axes' of output 'action' does not name"},
    {"axes: [batch, horizon, component]", "axes: [batch, component, horizon]", 27, 14, BAD,
     "uses 8 steps, but the horizon has 4"},
    {"execute: {steps: 8}", "execute: {steps: 21}", 27, 14, BAD, "uses 21 steps, but the horizon has 20"},
    {"execute: {steps: 8}", "execute: {steps: 0}", 27, 22, BAD, "from 1"},
    {"{scale: [0.5, 0.25, 2, 1]}", "{scale: [0.5, 0.25, 2]}", 28, 41, BAD, "3 numbers for 4 components"},
    {"{scale: [0.5, 0.25, 2, 1]}", "{scale: 0}", 28, 41, BAD, "no difference shows"},
    {"{scale: [0.5, 0.25, 2, 1]}", "{scale: .inf}", 28, 41, BAD, "finite"},
    {"{scale: [0.5, 0.25, 2, 1]}", "{scael: 1}", 28, 34, BAD, "did you mean 'scale'"},
    {"{scale: [0.5, 0.25, 2, 1]}", "{add: {input: qpos}}", 28, 39, ASSAY_CONTRACT_INVALID, "needs 'frame'"},
    {"{clip: [-10, 10]}", "{clip: [10, -10]}", 28, 21, BAD, "the first must be below"},
    {"{clip: [-10, 10]}", "{statistics: {file: gone.json, key: a}}", 28, 27, ASSAY_STATISTICS_INVALID,
     "not beside the contract"},
    {"{clip: [-10, 10]}", "{statistics: {file: ../x.json, key: a}}", 28, 27, ASSAY_STATISTICS_INVALID, "'..'"},
    {"max: 0.002, mean", "max: -0.002, mean", 29, 22, BAD, "must be 0 or more"},
    {"max: 0.002, mean", "max: .inf, mean", 29, 22, BAD, "finite"},
    {"max: 0.002, mean", "max: .nan, mean", 29, 22, BAD, "finite"},
    {"max: 0.002, mean: 0.0005, p99: 0.001", "mean: 0.0005", 29, 16, BAD, "averages never decide alone"},
    {"min: -1.6, max: 1.6}", "min: 1.6, max: 1.6}", 30, 13, BAD, "min must be below max"},
    {"min: -1.6, max: 1.6}", "min: [1, 2], max: 1.6}", 30, 19, BAD, "2 numbers for 4 components"},
    {"min: -1.6, max: 1.6}", "}", 30, 13, BAD, "says nothing"},
    {"names: [shoulder, elbow], unit: rad,", "names: [shoulder, elbow],", 32, 9, BAD, "needs the key 'unit'"},
    {"names: [shoulder, elbow]", "names: [shoulder, wrist]", 33, 9, BAD,
     "'wrist' of output 'action' stands here again"},
    {"names: [shoulder, elbow]", "names: [shoulder]", 32, 7, BAD, "has 3 components, but dimension 2 of its shape"},
    {"names: [shoulder, elbow]", "names: []", 32, 17, BAD, "is empty"},
    {"names: [shoulder, elbow]", "names: [shoulder, elbow], name: x", 32, 9, BAD, "either 'name'"},
    {"names: [shoulder, elbow]", "names: [shoulder, on]", 32, 28, BAD, "write \"on\""},
    {"{offset: [0.1, 0.2]}", "{offset: [0.1, 0.2, 0.3]}", 32, 65, BAD, "3 numbers for 2 components"},
    {"kd: 1", "kd: 0", 32, 102, BAD, "a damping must be above 0"},
    {"kd: 1", "kd: -0", 32, 102, BAD, "a damping must be above 0"},
    {"kp: [40, 30]", "kp: [40, -30]", 32, 88, BAD, "'kp' of 'pd' of component 1 of output 'action' is -30 for 'elbow'"},
    {"kp: [40, 30], kd: 1", "kp: [40, 30]", 32, 83, BAD, "needs the key 'kd'"},
    {"compare: difference", "compare: angle", 34, 61, BAD, "leave 'space' out"},
    {"compare: difference", "compare: ratio", 33, 59, BAD, "difference, angle, quaternion, rot6d or pose"},
    {"rate: 2.0", "rate: 0", 34, 18, BAD, "must be above 0"},
    {"space: raw", "space: roh", 34, 81, BAD, "physical or raw"},
    {"at_or_above: close, below: open", "at_or_above: close", 36, 20, BAD, "needs two labels"},
    {"at_or_above: close, below: open", "above: close, below: open", 36, 20, BAD, "needs two labels"},
    {"at_or_above: close, below: open", "at_or_above: open, below: open", 36, 20, BAD, "calls both sides 'open'"},
    {"threshold: 0.5", "threshold: .nan", 36, 32, BAD, "finite"},
    {"threshold: 0.5,", "argmax: {axis: 0},", 36, 20, BAD, "'decision' of the output"},
    {"{argmax: {axis: component}}", "{argmax: {axis: 3}}", 37, 33, BAD, "from -3 to 2"},
    {"{argmax: {axis: component}}", "{argmax: {axis: joint}}", 37, 33, BAD, "is 'joint', which 'axes'"},
    {"{argmax: {axis: component}}", "{argmax: {axis: 0}}", 37, 33, BAD, "nothing to decide"},
    {"{argmax: {axis: component}}", "{threshold: 1}", 37, 17, BAD, "belongs to a component"},
    {"{argmax: {axis: component}}", "{detections: {}}", 37, 30, BAD, "needs the key 'layout'"},
    {"topk: {k: 2", "topk: {k: 5", 37, 57, BAD, "from 1 to 4"},
    {"by: ascending", "by: distance", 37, 85, BAD, "ascending or descending"},
    {"name: h_out", "name: action", 38, 5, BAD, "output 'action' stands here again"},
    {"    decisions:", "    hardware_order: [elbow]\n    decisions:", 37, 21, BAD, "has 1 names for 4 components"},
    {"    decisions:", "    hardware_order: [elbow, wrist, gripper, shoulders]\n    decisions:", 37, 45, BAD,
     "names 'shoulders', which is no component"},
    {"execute: {steps: 8}", "execute: {}", 27, 14, BAD, "needs one of 'steps', 'queue' and 'ensemble'"},
    {"execute: {steps: 8}", "execute: {steps: 8, queue: 8}", 27, 14, BAD, "needs one of"},
    {"execute: {steps: 8}", "execute: {queue: 21}", 27, 14, BAD, "uses 21 steps, but the horizon has 20"},
    {"execute: {steps: 8}", "execute: {ensemble: {m: 0.01}}", 27, 25, BAD, "needs the key 'steps'"},
    {"execute: {steps: 8}", "execute: {ensemble: {m: -1, steps: 2}}", 27, 29, BAD, "must be 0 or more"},
};

static void names_every_fault(void **state) {
  (void)state;
  int wrong = 0;
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    wrong += !is_refused(&faults[i]);
  }
  assert_int_equal(wrong, 0);
}

/* `source:` may stand anywhere and changes nothing else. */
static void keeps_sources(void **state) {
  (void)state;
  static const char text[] =
      "assay: 1\npolicy: {value: p, source: deploy.yaml:3}\nmodel: m.onnx\n"
      "inputs: [{name: x, dtype: float32, shape: {value: [1, 2], source: 'a:1'}, source: b.yaml:2}]\n"
      "outputs: [{name: y, dtype: float32, shape: [1, 2], tolerance: {max: {value: 0.5, source: c:9}}, unit: rad,\n"
      "  decode: [{scale: {value: 2, source: d:1}}], components: [{names: [a, b], source: e:5}]}]\n";
  struct contract *c;
  ASSERT_OK(parse(text, &c));
  assert_string_equal(c->policy, "p");
  assert_int_equal(c->inputs[0].dims[1].max, 2);
  assert_true(c->outputs[0].components[1].tolerance.max == 0.5);
  assert_true(c->outputs[0].components[1].decode[0].a == 2);
  assert_int_equal(c->outputs[0].component_axis, 1);
  assert_int_equal(c->n_sources, 6);
  assert_string_equal(c->sources[0].source, "deploy.yaml:3");
  assert_int_equal(c->sources[0].mark.line, 2);
  contract_free(c);
  ASSERT_FAILS(parse("assay: 1\npolicy: {value: p, source: [1]}\n", &c), ASSAY_CONTRACT_INVALID, "'source' must be");
}

static void numbers_a_row(void **state) {
  (void)state;
  struct contract *c;
  ASSERT_OK(
      parse("assay: 1\npolicy: p\nmodel: m.onnx\ninputs: [{name: x, dtype: float32, shape: []}]\n"
            "outputs: [{name: y, dtype: float32, shape: [3], components: [{name: class, count: 3, unit: logit}]}]\n",
            &c));
  assert_int_equal(c->outputs[0].n_components, 3);
  assert_string_equal(c->outputs[0].components[2].name, "class[2]");
  assert_false(c->outputs[0].components[2].tolerance.given);
  assert_int_equal(c->inputs[0].rank, 0);
  contract_free(c);
}

static void survives_damage(void **state) {
  (void)state;
  size_t size = sizeof base - 1;
  char copy[sizeof base];
  for (size_t i = 0; i < size; i++) {
    memcpy(copy, base, sizeof base);
    struct contract *c = NULL;
    assay_status status = contract_parse(copy, i, "contract.yaml", "/nonexistent", &c);
    assert_true(assay_status_ok(status) == (c != NULL));
    assay_status_clear(&status);
    contract_free(c);
    for (int bit = 0; bit < 7; bit += 3) {
      memcpy(copy, base, sizeof base);
      copy[i] = (char)((unsigned char)copy[i] ^ (1u << bit));
      c = NULL;
      status = contract_parse(copy, size, "contract.yaml", "/nonexistent", &c);
      assert_true(assay_status_ok(status) == (c != NULL));
      assay_status_clear(&status);
      contract_free(c);
    }
  }
}

static void survives_every_failure_of_memory(void **state) {
  (void)state;
  for (int64_t n = 0;; n++) {
    struct contract *c = NULL;
    memory_fail_at(n);
    assay_status status = parse(base, &c);
    memory_fail_at(-1);
    bool done = assay_status_ok(status);
    if (!done) {
      assert_int_equal(status.code, ASSAY_OUT_OF_MEMORY);
    }
    assay_status_clear(&status);
    contract_free(c);
    if (done) {
      assert_true(n > 10);
      return;
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_every_part), cmocka_unit_test(names_every_fault),
      cmocka_unit_test(keeps_sources),    cmocka_unit_test(numbers_a_row),
      cmocka_unit_test(survives_damage),  cmocka_unit_test(survives_every_failure_of_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
