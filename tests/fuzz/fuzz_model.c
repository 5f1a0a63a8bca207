/* Fuzzes the reader of ONNX models: scan, checks, inlining, digest, and the planning of a session. Nothing
 * is run, since a model may ask for any amount of computing. */
#include "engine/engine.h"
#include "fuzz.h"
#include "model/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const struct model_options options = {.max_bytes = 64 << 20};
  struct model *model, *inlined;
  struct session *session;
  if (!fuzz_outcome(model_parse(data, size, NULL, &options, &model))) {
    return 0;
  }
  char digest[GRAPH_DIGEST_SIZE];
  fuzz_outcome(model_digest(model, digest));
  if (fuzz_outcome(model_inline(model, &inlined))) {
    model_close(inlined);
  }
  const struct session_options planned = {.threads = 1, .kernel_level = -1, .max_bytes = 64 << 20};
  if (fuzz_outcome(session_open(model, &planned, &session))) {
    session_close(session);
  }
  model_close(model);
  return 0;
}
