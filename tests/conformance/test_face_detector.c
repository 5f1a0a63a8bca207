/* A real face detector on drawn faces: half precision finds the same faces, and the other export of the same
 * network, which leaves the decoding of boxes out, is rejected for its boxes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contract/detections.h"
#include "core/file.h"
#include "core/memory.h"
#include "engine/engine.h"
#include "policy_builder.h"
#include "shared_files.h"
#include "support.h"

#define DETECTOR "policies/Linzaer__Ultra-Light-Fast-Generic-Face-Detector-1MB__version-RFB-320"
enum { H = 240, W = 320, CASES = 5 };

static float image[3][H][W];

static void ellipse(double x, double y, double a, double b, double red, double green, double blue) {
  const double color[3] = {red, green, blue};
  for (int i = 0; i < H; i++) {
    for (int j = 0; j < W; j++) {
      double u = (j - x) / a, v = (i - y) / b;
      for (int c = 0; c < 3 && u * u + v * v <= 1; c++) {
        image[c][i][j] = (float)color[c];
      }
    }
  }
}

static void face(double x, double y, double r) {
  ellipse(x, y - 0.15 * r, 0.95 * r, 1.25 * r, 0.15, 0.1, 0.08);
  ellipse(x, y, 0.8 * r, 1.05 * r, 0.85, 0.65, 0.55);
  for (int side = -1; side <= 1; side += 2) {
    ellipse(x + side * 0.33 * r, y - 0.35 * r, 0.2 * r, 0.07 * r, 0.2, 0.12, 0.1);
    ellipse(x + side * 0.33 * r, y - 0.15 * r, 0.17 * r, 0.1 * r, 0.95, 0.95, 0.95);
    ellipse(x + side * 0.33 * r, y - 0.15 * r, 0.08 * r, 0.09 * r, 0.1, 0.08, 0.08);
  }
  ellipse(x, y + 0.1 * r, 0.08 * r, 0.22 * r, 0.72, 0.55, 0.47);
  ellipse(x, y + 0.28 * r, 0.15 * r, 0.05 * r, 0.51, 0.39, 0.33);
  ellipse(x, y + 0.55 * r, 0.3 * r, 0.09 * r, 0.7, 0.25, 0.25);
}

/* A grey wall, faces of these radii, softened a little, as the detector takes it. */
static void draw(const double (*faces)[3]) {
  static float soft[3][H][W];
  for (float *p = &image[0][0][0]; p < &image[0][0][0] + sizeof image / sizeof *p; p++) {
    *p = 0.45F;
  }
  for (int f = 0; f < 3 && faces[f][2] > 0; f++) {
    face(faces[f][0], faces[f][1], faces[f][2]);
  }
  for (int c = 0; c < 3; c++) {
    for (int i = 0; i < H; i++) {
      for (int j = 0; j < W; j++) {
        int up = i > 0 ? i - 1 : i, down = i < H - 1 ? i + 1 : i, left = j > 0 ? j - 1 : j,
            right = j < W - 1 ? j + 1 : j;
        soft[c][i][j] =
            (image[c][i][j] * 4 + image[c][up][j] + image[c][down][j] + image[c][i][left] + image[c][i][right]) / 8;
      }
    }
  }
  for (int c = 0; c < 3; c++) {
    for (int i = 0; i < H; i++) {
      for (int j = 0; j < W; j++) {
        image[c][i][j] = (soft[c][i][j] * 255 - 127) / 128;
      }
    }
  }
}

static void copy(const char *from, const char *folder, const char *name) {
  char *bytes = NULL;
  size_t size = 0;
  ASSERT_OK(file_read(from, 64 << 20, &bytes, &size));
  temp_write_bytes(folder, name, bytes, size);
  memory_free(bytes);
}

/* The golden corpus: what the engine answers in fp32. */
static void answer(const char *folder) {
  static const double cases[CASES][3][3] = {{{160, 120, 60}},
                                            {{90, 110, 40}, {230, 130, 30}},
                                            {{160, 120, 90}},
                                            {{60, 60, 20}, {150, 150, 35}, {260, 100, 55}},
                                            {{0, 0, 0}}};
  static const char *const ids[CASES] = {"one", "two", "near", "three", "nobody"};
  struct model *model;
  struct session *session;
  struct corpus_builder *builder = build_corpus(temp_path(folder, "golden"), CORPUS_GOLDEN);
  ASSERT_OK(model_open(temp_path(folder, "policy.onnx"), NULL, &model));
  ASSERT_OK(session_open(model, &(struct session_options){.kernel_level = -1}, &session));
  for (int i = 0; i < CASES; i++) {
    draw(cases[i]);
    assay_tensor tensor = test_tensor(ASSAY_FLOAT32, "1,3,240,320", image);
    struct named_tensor feed = {"input", &tensor};
    const struct named_tensor *outputs;
    size_t n;
    ASSERT_OK(session_run(session, &(struct session_run){.inputs = &feed, .n_inputs = 1}, &outputs, &n));
    build_f32(builder, "inputs/input", "1,3,240,320", &image[0][0][0]);
    for (size_t o = 0; o < n; o++) {
      bool scores = strcmp(outputs[o].name, "scores") == 0;
      build_f32(builder, scores ? "outputs/scores" : "outputs/boxes", scores ? "1,4420,2" : "1,4420,4",
                outputs[o].tensor->data);
    }
    build_case(builder, &(struct corpus_case){.id = ids[i]});
    tensor_free(&tensor);
  }
  build_done(builder);
  session_close(session);
  model_close(model);
}

static const struct gate_reason *find_reason(const struct rung_result *rung, assay_code code) {
  for (int32_t i = 0; i < rung->reasons.count; i++) {
    if (rung->reasons.items[i].code == code) {
      return &rung->reasons.items[i];
    }
  }
  return NULL;
}

static void faces_are_found_and_raw_boxes_are_rejected(void **state) {
  (void)state;
  const char *found = shared_path(DETECTOR ".onnx");
  if (found == NULL || shared_path(DETECTOR "_simplified.onnx") == NULL) {
    skip();
  }
  char *folder = temp_folder();
  copy(shared_path(DETECTOR ".onnx"), folder, "policy.onnx");
  copy(shared_path(DETECTOR "_simplified.onnx"), folder, "raw.onnx");
  copy(ASSAY_SOURCE_DIR "/tests/policies/face_detector/contract.yaml", folder, "contract.yaml");
  copy(ASSAY_SOURCE_DIR "/tests/policies/face_detector/gate.yaml", folder, "gate.yaml");
  answer(folder);
  struct gate_result *result = policy_verify(folder);
  expect_verdict(result, VERDICT_PASS, 0);
  const struct detection_result *same = &result_rung(result, "fp32")->detections[0];
  assert_int_equal(same->images, CASES);
  assert_int_equal(same->figures.expected, 7);
  assert_int_equal(same->figures.found, 7);
  assert_int_equal(same->figures.extra, 0);
  assert_int_equal(same->abstained, 1);
  assert_int_equal(same->targets, 4);
  assert_true(same->figures.center_max == 0 && same->figures.iou_min == 1 && same->figures.recall == 1);
  assert_int_equal(same->n_groups, 3); /* small, middling and large faces */
  const struct rung_result *half = result_rung(result, "fp16-emulated");
  assert_int_equal(half->detections[0].figures.found, 7);
  assert_int_equal(half->verdict, VERDICT_PASS);
  assert_true(half->detections[0].figures.center_max > 0 && half->detections[0].figures.center_max < 3);
  const struct rung_result *raw = result_rung(result, "raw-boxes");
  assert_int_equal(raw->verdict, VERDICT_REJECT);
  const struct gate_reason *missed = find_reason(raw, ASSAY_DETECTION_MISSED),
                           *box = find_reason(raw, ASSAY_DETECTION_BOX);
  assert_non_null(missed);
  assert_non_null(box);
  assert_non_null(strstr(box->sentence, "box deviation"));
  assert_non_null(strstr(box->sentence, "in case '"));
  assert_true(box->measured > 100);
  gate_result_free(result);
  temp_free(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(faces_are_found_and_raw_boxes_are_rejected)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
