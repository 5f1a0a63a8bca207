/* Fuzzes the reader of .npz archives: opening, and reading every entry. */
#include "fuzz.h"
#include "tensor/npz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct npz *npz;
  if (!fuzz_outcome(npz_open(fuzz_file(data, size), &npz))) {
    return 0;
  }
  for (size_t i = 0; i < npz_count(npz); i++) {
    assay_tensor tensor;
    fuzz_require(npz_find(npz, npz_name(npz, i)) == i);
    if (fuzz_outcome(npz_read(npz, i, &tensor))) {
      tensor_free(&tensor);
    }
  }
  npz_close(npz);
  return 0;
}
