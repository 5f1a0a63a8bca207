/* Fuzzes the importers as a whole: any bytes as a file of `--from`, told by its content or forced upon each format in
 * turn (the first byte chooses; 255 is the content), and the draft that follows. A draft that was made is YAML. */
#include <string.h>

#include "contract/draft.h"
#include "contract/importer.h"
#include "contract/yaml.h"
#include "fuzz.h"

static const int64_t obs_dims[] = {1, 48}, act_dims[] = {1, 12};
static const struct signature_tensor input = {"obs", ASSAY_FLOAT32, 2, obs_dims, false};
static const struct signature_tensor output = {"actions", ASSAY_FLOAT32, 2, act_dims, false};

static void try_draft(const struct signature *signature, const struct facts *facts, struct arena *arena) {
  const struct draft_model model = {"policy.onnx", signature};
  const struct draft wanted = {"policy", 1, &model, facts};
  struct text text = {0};
  if (fuzz_outcome(draft_contract(&wanted, &text))) {
    struct yaml_file file;
    fuzz_require(fuzz_outcome(
        yaml_parse(text_string(&text), text.length, "contract.yaml", ASSAY_CONTRACT_INVALID, arena, &file)));
  }
  text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 1) {
    return 0;
  }
  int32_t which = data[0] < n_importers ? data[0] : n_importers;
  const struct signature signature = {1, 1, 0, &input, &output, NULL};
  const struct signature *each = &signature;
  static const char *const name = "policy.onnx";
  const struct import_models models = {1, &name, &each};
  struct arena arena = {.limit = (size_t)256 << 20};
  struct facts *facts;
  char *text = arena_copy(&arena, (const char *)data + 1, size - 1);
  if (text != NULL && fuzz_outcome(facts_new(&arena, &facts))) {
    const char *format = which < n_importers ? importers[which].name : NULL;
    if (fuzz_outcome(import_bytes(text, size - 1, "given", format, &models, facts)) &&
        fuzz_outcome(import_finish(&models, facts)) && fuzz_outcome(facts_finish(facts))) {
      try_draft(&signature, facts, &arena);
    }
  }
  arena_free(&arena);
  return 0;
}
