/* Fuzzes the importers: any bytes as a file of `--from`, by the format that takes them, and the draft of what they say.
 * The first byte says how many parts the rest has, divided by lines of "%%": formats of several files. */
#include <string.h>

#include "contract/draft.h"
#include "contract/importer.h"
#include "contract/yaml.h"
#include "fuzz.h"

static const int64_t wide[] = {1, 42}, narrow[] = {1, 3}, history[] = {300}, actor[] = {36}, carry[] = {8};
static const struct signature_tensor inputs[] = {{"obs", ASSAY_FLOAT32, 2, wide, false},
                                                 {"carry", ASSAY_FLOAT32, 1, carry, false}};
static const struct signature_tensor outputs[] = {{"action", ASSAY_FLOAT32, 2, narrow, false},
                                                  {"next_carry", ASSAY_FLOAT32, 1, carry, false}};
static const struct signature_tensor first[] = {{"mlp_input", ASSAY_FLOAT32, 1, history, false}};
static const struct signature_tensor second[] = {{"mlp_input", ASSAY_FLOAT32, 1, actor, false}};
static const struct signature policy = {2, 2, 0, inputs, outputs, NULL}, encoder = {1, 1, 0, first, outputs, NULL},
                              head = {1, 1, 0, second, outputs, NULL};

/* A draft is YAML, whatever the files said. */
static void draft_it(const struct draft *draft, struct arena *arena) {
  struct text out = {0};
  if (fuzz_outcome(draft_contract(draft, &out))) {
    struct yaml_file file;
    fuzz_require(
        assay_status_ok(yaml_parse(out.data, out.length, "contract.yaml", ASSAY_CONTRACT_INVALID, arena, &file)));
  }
  text_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *const names[] = {"encoder.onnx", "policy.onnx"};
  const struct signature *const one[] = {&policy}, *const two[] = {&encoder, &head};
  if (size < 2) {
    return 0;
  }
  bool staged = data[0] == '2';
  const struct import_models models = {staged ? 2 : 1, staged ? names : names + 1, staged ? two : one};
  const struct draft_model drafted[] = {{staged ? "encoder.onnx" : "policy.onnx", staged ? &encoder : &policy},
                                        {"policy.onnx", &head}};
  struct arena arena = {0};
  struct facts *facts;
  if (!assay_status_ok(facts_new(&arena, &facts))) {
    return 0;
  }
  bool read = true;
  const char *rest = (const char *)data + 1, *end = (const char *)data + size;
  while (read && rest < end) {
    const char *part = rest;
    while (rest < end && !(end - rest > 3 && memcmp(rest, "\n%%\n", 4) == 0)) {
      rest++;
    }
    char *copy = arena_copy(&arena, part, (size_t)(rest - part));
    read = copy != NULL && fuzz_outcome(import_bytes(copy, (size_t)(rest - part), "f", NULL, &models, facts));
    rest += 4;
  }
  if (read && fuzz_outcome(import_finish(&models, facts))) {
    const struct draft draft = {.policy = "p", .n_models = models.count, .models = drafted, .facts = facts};
    draft_it(&draft, &arena);
  }
  arena_free(&arena);
  return 0;
}
