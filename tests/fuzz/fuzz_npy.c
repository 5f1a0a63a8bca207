/* Fuzzes the reader of .npy. What it accepts must be writable and come back the same. */
#include "fuzz.h"

#include <string.h>

#include "tensor/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  assay_tensor tensor, again;
  if (!fuzz_outcome(npy_parse(data, size, "input.npy", &tensor))) {
    return 0;
  }
  struct text text = {0};
  if (fuzz_outcome(npy_format(&tensor, &text)) &&
      fuzz_outcome(npy_parse(text.data, text.length, "again.npy", &again))) {
    fuzz_require(shape_equal(&tensor, &again) && tensor.dtype == again.dtype && tensor.bytes == again.bytes);
    fuzz_require(tensor.dtype == ASSAY_STRING || tensor.bytes == 0 ||
                 memcmp(tensor.data, again.data, tensor.bytes) == 0);
    tensor_free(&again);
  }
  text_free(&text);
  tensor_free(&tensor);
  return 0;
}
