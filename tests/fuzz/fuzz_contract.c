/* Fuzzes the reader of contract.yaml. No statistics file is there to be found. */
#include "contract/contract.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct contract *contract;
  if (fuzz_outcome(contract_parse((const char *)data, size, "contract.yaml", "/nonexistent", &contract))) {
    fuzz_require(contract->n_outputs > 0);
    contract_free(contract);
  }
  return 0;
}
