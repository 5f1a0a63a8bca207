/* What the fuzz targets share. A target takes any bytes and must neither crash, nor hang, nor
 * take memory without bound; libFuzzer feeds it, or replay.c with the seeds. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A file in memory with these bytes, by a path that readers can open; valid until the next call. */
const char *fuzz_file(const uint8_t *data, size_t size);

/* Ends the program, for libFuzzer to see, when the failure has no sentence or says that assay itself
 * failed; clears the status. Answers whether it was a success. */
int fuzz_outcome(assay_status status);

/* Ends the program unless `condition` holds. */
void fuzz_require(int condition);

#endif
