/* Fuzzes the reader of safetensors files: opening, and reading every entry. */
#include "fuzz.h"
#include "tensor/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct safetensors *file;
  if (!fuzz_outcome(safetensors_open(fuzz_file(data, size), &file))) {
    return 0;
  }
  for (size_t i = 0; i < safetensors_count(file); i++) {
    assay_tensor tensor;
    const struct safetensors_entry *entry = safetensors_entry_at(file, i);
    fuzz_require(safetensors_find(file, entry->name) == i);
    fuzz_require(entry->bytes <= size);
    if (fuzz_outcome(safetensors_read(file, i, &tensor))) {
      fuzz_require(tensor.bytes == entry->bytes);
      tensor_free(&tensor);
    }
  }
  (void)safetensors_metadata(file, "format");
  safetensors_close(file);
  return 0;
}
