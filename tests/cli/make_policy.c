/* Makes small policy folders for the tests of the program:
 *   make_policy FOLDER pass|reject|blocked|nonfinite|unrequired|slow
 * The policy is y = x * w, its corpus has one case a line of a fixed table. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/hash.h"
#include "core/text.h"
#include "model_builder.h"
#include "tensor/npz.h"

enum { JOINTS = 3, SLOW_LAYERS = 24, SLOW_WIDTH = 768 };

static struct arena arena;
static const char *folder;

static const char *in(const char *name) { return path_join(&arena, folder, name); }

static void must(assay_status status) {
  if (!assay_status_ok(status)) {
    fprintf(stderr, "%s\n", assay_status_sentence(status));
    exit(1);
  }
}

static void put(const char *name, const char *text) { must(file_replace(in(name), text, strlen(text))); }

/* y = x * w; with `slow`, plus 0 times a chain of large products. */
static void put_model(bool slow) {
  static float square[SLOW_WIDTH * SLOW_WIDTH], none[SLOW_WIDTH * JOINTS], spread[JOINTS * SLOW_WIDTH];
  struct proto *model = onnx_model(8, 17), *graph = onnx_graph(model);
  onnx_input(graph, "x", ASSAY_FLOAT32, "1,3");
  onnx_f32(graph, "w", "3", (const float[]){1, 2, 0.5F});
  onnx_node(graph, "Mul", "x,w", slow ? "m" : "y");
  if (slow) {
    for (int i = 0; i < JOINTS * SLOW_WIDTH; i++) {
      spread[i] = 0.25F;
    }
    onnx_f32(graph, "square", "768,768", square);
    onnx_f32(graph, "none", "768,3", none);
    onnx_f32(graph, "spread", "3,768", spread);
    onnx_node(graph, "MatMul", "x,spread", "h0");
    char names[64], out[16] = "h0";
    for (int i = 1; i <= SLOW_LAYERS; i++) {
      snprintf(names, sizeof names, "%s,square", out);
      snprintf(out, sizeof out, "h%d", i);
      onnx_node(graph, "MatMul", names, out);
    }
    snprintf(names, sizeof names, "%s,none", out);
    onnx_node(graph, "MatMul", names, "z");
    onnx_node(graph, "Add", "m,z", "y");
  }
  onnx_output(graph, "y", ASSAY_FLOAT32, "1,3");
  onnx_write(model, in("policy.onnx"));
  proto_free(model);
}

/* Case `n`; `off` is added to the recorded answer of its last joint. */
static void put_case(struct text *corpus, int n, float off) {
  float x[JOINTS] = {0.1F * (float)n, 0.2F, -0.3F}, y[JOINTS] = {x[0], 2 * x[1], 0.5F * x[2] + off};
  assay_tensor tx = {.dtype = ASSAY_FLOAT32, .rank = 2, .dims = {1, JOINTS}, .data = x, .bytes = sizeof x}, ty = tx;
  ty.data = y;
  const struct npz_entry entries[] = {{"inputs/x", &tx}, {"outputs/y", &ty}};
  char name[64], digest[HASH_TEXT_SIZE];
  snprintf(name, sizeof name, "golden/case_%d.npz", n);
  must(npz_write(in(name), entries, 2));
  must(hash_file(in(name), digest));
  text_format(corpus, "  - {id: case_%d, file: case_%d.npz, digest: '%s', expect: answer}\n", n, n, digest);
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: make_policy FOLDER KIND\n");
    return 2;
  }
  folder = argv[1];
  const char *kind = argv[2];
  bool slow = strcmp(kind, "slow") == 0;
  must(folder_make(in("golden")));
  put_model(slow);
  put("contract.yaml",
      "assay: 1\n"
      "policy: arm\n"
      "model: policy.onnx\n"
      "inputs:\n"
      "  - {name: x, dtype: float32, shape: [1, 3]}\n"
      "outputs:\n"
      "  - name: y\n"
      "    dtype: float32\n"
      "    shape: [1, 3]\n"
      "    axes: [batch, component]\n"
      "    components:\n"
      "      - {name: shoulder, unit: rad, tolerance: {max: 0.002}}\n"
      "      - {name: elbow, unit: rad, tolerance: {max: 0.002}}\n"
      "      - {name: wrist, unit: rad, tolerance: {max: 0.002}}\n");
  struct text gate = {0}, corpus = {0};
  text_add(&gate, "assay: 1\ncontract: contract.yaml\ncorpus: golden\nreference: {rung: recorded}\nrungs:\n");
  text_format(&gate, "  - {name: fp32, engine: assay%s}\n", strcmp(kind, "unrequired") == 0 ? ", required: false" : "");
  if (strcmp(kind, "blocked") == 0) {
    text_add(&gate, "  - {name: trt, engine: tensorrt}\n");
  }
  put("gate.yaml", text_string(&gate));
  text_add(&corpus, "assay: 1\nrole: golden\ncases:\n");
  for (int n = 0; n < (slow ? 100 : 3); n++) {
    float off = strcmp(kind, "reject") == 0 && n == 1 ? 0.25F : strcmp(kind, "nonfinite") == 0 && n == 2 ? NAN : 0;
    put_case(&corpus, n, off);
  }
  put("golden/corpus.yaml", text_string(&corpus));
  text_free(&gate);
  text_free(&corpus);
  arena_free(&arena);
  return 0;
}
