/* Files in memory and verdicts on outcomes, for the fuzz targets. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

const char *fuzz_file(const uint8_t *data, size_t size) {
  static char path[64];
  static int fd = -1;
  if (fd < 0) {
    fd = memfd_create("fuzz", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  }
  fuzz_require(fd >= 0 && ftruncate(fd, 0) == 0 && lseek(fd, 0, SEEK_SET) == 0);
  while (size > 0) {
    ssize_t written = write(fd, data, size);
    fuzz_require(written > 0);
    data += written;
    size -= (size_t)written;
  }
  return path;
}

int fuzz_outcome(assay_status status) {
  if (assay_status_ok(status)) {
    return 1;
  }
  const char *sentence = assay_status_sentence(status);
  if (assay_code_kind_of(status.code) != ASSAY_KIND_INPUT && status.code != ASSAY_OUT_OF_MEMORY) {
    fprintf(stderr, "%s: %s\n", assay_code_name(status.code), sentence);
    abort();
  }
  fuzz_require(strlen(sentence) > 10);
  assay_status_clear(&status);
  return 0;
}

void fuzz_require(int condition) {
  if (!condition) {
    abort();
  }
}
