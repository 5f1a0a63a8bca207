/* Fuzzes the reader of gate.yaml. */
#include "fuzz.h"
#include "gate/gate_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct gate_file *gate;
  if (fuzz_outcome(gate_file_parse((const char *)data, size, "gate.yaml", "/nonexistent", &gate))) {
    fuzz_require(gate->n_rungs > 0);
    gate_file_free(gate);
  }
  return 0;
}
