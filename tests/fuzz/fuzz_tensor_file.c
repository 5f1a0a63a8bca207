/* Fuzzes the reader of single tensors as ONNX's test data store them. */
#include "fuzz.h"
#include "model/tensor_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct arena arena = {0};
  assay_tensor tensor;
  const char *name;
  if (fuzz_outcome(tensor_proto_parse(data, size, "input_0.pb", &arena, &tensor, &name))) {
    fuzz_require(name != NULL);
    tensor_free(&tensor);
  }
  arena_free(&arena);
  return 0;
}
