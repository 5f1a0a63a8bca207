/* Fuzzes the reader of HDF5 episodes, which runs in a child process: whatever happens there must
 * become a sentence here. */
#include "corpus/hdf5_read.h"
#include "fuzz.h"

static assay_status take(void *user, int64_t frame, int32_t dataset, const assay_tensor *tensor) {
  (void)user;
  fuzz_require(frame >= 0 && dataset >= 0 && dataset < 2);
  fuzz_require(tensor->rank >= 0 && tensor->rank <= ASSAY_RANK_MAX);
  return status_ok();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const datasets[] = {"observations/qpos", "action"};
  const struct hdf5_request request = {.path = fuzz_file(data, size),
                                       .n_datasets = 2,
                                       .datasets = datasets,
                                       .to = 8,
                                       .stride = 1,
                                       .bytes_max = 1 << 20,
                                       .seconds = 5};
  fuzz_outcome(hdf5_read(&request, take, NULL));
  return 0;
}
