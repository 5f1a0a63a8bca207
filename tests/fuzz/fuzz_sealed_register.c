/* Fuzzes the reader of the sealed register. */
#include "corpus/sealed_register.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct sealed_register *sealed;
  if (fuzz_outcome(sealed_register_parse((const char *)data, size, "sealed.json", &sealed))) {
    fuzz_require(sealed_register_size(sealed) >= 0);
    sealed_register_free(sealed);
  }
  return 0;
}
