/* The policy of observed_policy.h and its source, in plain C. Everything is float32, one rounding an operation, as a
 * robot's program would have it. */
#include "observed_policy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model_builder.h"
#include "support.h"

const char observed_contract[] =
    "assay: 1\npolicy: walker\nmodel: policy.onnx\n"
    "groups: {joints: [hip, knee, ankle]}\n"
    "timing: {period_ms: 20}\n"
    "inputs:\n"
    "  - name: obs\n    dtype: float32\n    shape: [1, 20]\n"
    "    history: {layout: term_major, order: oldest_first, initial: repeat_first}\n"
    "    terms:\n"
    "      - {name: joint_pos, elements: joints, unit: rad, offset: [-0.1, 0.2, 0.3], scale: [0.5, 0.25, 2], "
    "clip: [-0.9, 0.9], history: 2}\n"
    "      - {name: cmd, elements: [forward, turn], unit: m/s, raw: command, history: 2}\n"
    "      - {name: last_action, from: {output: action, space: raw, lag: 1}, history: 2}\n"
    "      - {name: phase, from: {clock: {period_s: 0.2, as: [sin, cos]}}, history: 2}\n"
    "outputs:\n"
    "  - {name: action, dtype: float32, shape: [1, 3], axes: [batch, component], unit: rad, decode: [{scale: 0.5}, "
    "{offset: [0.1, -0.2, -0.3]}],\n     tolerance: {max: 0.0001}, components: [{names: joints}]}\n";

static const float offsets[JOINTS] = {-0.1F, 0.2F, 0.3F}, scales[JOINTS] = {0.5F, 0.25F, 2};
static const float decode_offsets[JOINTS] = {0.1F, -0.2F, -0.3F};

static float weight(int i, int j) { return (float)((i * 7 + j * 5) % 11 - 5) / 24; }

static float joint_sensor(int step, int joint) { return 0.6F * sinf(0.7F * (float)step + (float)joint * 1.3F) - 0.05F; }

/* Elements of one term at one step. */
struct source {
  enum source_fault fault;
  float actions[STEPS_MOST][JOINTS];
};

static void joint_pos(const struct source *source, int step, float out[JOINTS]) {
  for (int j = 0; j < JOINTS; j++) {
    int from = source->fault == SOURCE_PERMUTED ? (j + 1) % JOINTS : j;
    float x = joint_sensor(step, from);
    x = source->fault == SOURCE_DEGREES ? x * 57.29577951308232F : x;
    x = source->fault == SOURCE_OFFSET_LOST ? x : source->fault == SOURCE_OFFSET_SIGN ? x - offsets[j] : x + offsets[j];
    x = source->fault == SOURCE_SCALE_LOST    ? x
        : source->fault == SOURCE_SCALE_TWICE ? x * scales[j] * scales[j]
                                              : x * scales[j];
    out[j] = source->fault == SOURCE_CLIP_LOST ? x : fminf(fmaxf(x, -0.9F), 0.9F);
    out[j] += source->fault == SOURCE_ONE_WRONG && step == 7 && j == 1 ? 0.125F : 0;
  }
}

static void last_action(const struct source *source, int step, float out[JOINTS]) {
  int from = step - (source->fault == SOURCE_LAG_TWO ? 2 : 1);
  for (int j = 0; j < JOINTS; j++) {
    float raw = from < 0 ? 0 : source->actions[from][j];
    bool decoded = source->fault == SOURCE_DECODED_ACTION && from >= 0;
    out[j] = decoded ? raw * 0.5F + decode_offsets[j] : raw;
  }
}

static void phase(const struct source *source, int step, float out[2]) {
  double turn = 6.283185307179586 * (step + (source->fault == SOURCE_CLOCK_AHEAD ? 3 : 0)) / 10;
  bool exchanged = source->fault == SOURCE_SIN_COS;
  out[exchanged] = (float)sin(turn);
  out[!exchanged] = (float)cos(turn);
}

static void command(int step, float out[2]) {
  out[0] = 0.5F + 0.01F * (float)step;
  out[1] = -0.25F * (float)(step % 3);
}

/* Term t of step s, which may lie before the first. */
static int term_at(const struct source *source, int t, int step, float *out) {
  static const int sizes[] = {JOINTS, 2, JOINTS, 2};
  int at = step < 0 ? 0 : step;
  switch (t) {
    case 0:
      joint_pos(source, at, out);
      break;
    case 1:
      command(at, out);
      break;
    case 2:
      last_action(source, at, out);
      break;
    default:
      phase(source, at, out);
  }
  if (step < 0 && source->fault == SOURCE_ZERO_HISTORY) {
    memset(out, 0, (size_t)sizes[t] * sizeof *out);
  }
  return sizes[t];
}

static void observe(const struct source *source, int step, float out[OBS]) {
  static const int straight[] = {0, 1, 2, 3}, exchanged[] = {2, 1, 0, 3};
  const int *order = source->fault == SOURCE_TERMS_EXCHANGED ? exchanged : straight;
  int at = 0;
  bool newest = source->fault == SOURCE_ORDER_REVERSED, time_major = source->fault == SOURCE_TIME_MAJOR;
  for (int outer = 0; outer < (time_major ? 2 : 4); outer++) {
    for (int inner = 0; inner < (time_major ? 4 : 2); inner++) {
      int age = time_major ? outer : inner, t = time_major ? inner : outer;
      at += term_at(source, order[t], newest ? step - age : step - 1 + age, out + at);
    }
  }
}

static void write_model(const char *folder, float factor) {
  float weights[OBS][JOINTS];
  for (int i = 0; i < OBS; i++) {
    for (int j = 0; j < JOINTS; j++) {
      weights[i][j] = weight(i, j) * factor;
    }
  }
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "obs", ASSAY_FLOAT32, "1,20");
  onnx_f32(graph, "w", "20,3", &weights[0][0]);
  onnx_node(graph, "MatMul", "obs,w", "action");
  onnx_output(graph, "action", ASSAY_FLOAT32, "1,3");
  onnx_write(model, temp_path(folder, "policy.onnx"));
  proto_free(model);
}

char *observed_folder(enum source_fault fault, enum case_form form, int steps, float model_factor, bool forced) {
  char *folder = temp_folder(), shape[4][24];
  static float observations[STEPS_MOST][OBS], positions[STEPS_MOST][JOINTS], commands[STEPS_MOST][2];
  struct source source = {.fault = fault};
  assert_true(steps <= STEPS_MOST);
  for (int step = 0; step < steps; step++) {
    observe(&source, step, observations[step]);
    command(step, commands[step]);
    for (int j = 0; j < JOINTS; j++) {
      positions[step][j] = joint_sensor(step, j);
      float sum = 0;
      for (int i = 0; i < OBS; i++) {
        sum = fmaf(observations[step][i], weight(i, j), sum);
      }
      source.actions[step][j] = sum;
    }
  }
  temp_write(folder, "contract.yaml", observed_contract);
  temp_write(folder, "gate.yaml", policy_gate);
  write_model(folder, model_factor);
  snprintf(shape[0], sizeof shape[0], "%d,1,20", steps);
  snprintf(shape[1], sizeof shape[1], "%d,1,3", steps);
  snprintf(shape[2], sizeof shape[2], "%d,3", steps);
  snprintf(shape[3], sizeof shape[3], "%d,2", steps);
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  if (form != CASE_STORES_SENSORS) {
    build_f32(builder, "inputs/obs", shape[0], &observations[0][0]);
  }
  if (form != CASE_STORES_OBSERVATION) {
    build_f32(builder, "raw/joint_pos", shape[2], &positions[0][0]);
    build_f32(builder, "raw/command", shape[3], &commands[0][0]);
  }
  build_f32(builder, "outputs/action", shape[1], &source.actions[0][0]);
  build_case(builder, &(struct corpus_case){.id = "walk", .sequence = true, .forced = forced});
  build_done(builder);
  return folder;
}
