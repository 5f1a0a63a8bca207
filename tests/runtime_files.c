/* See runtime_files.h. */
#include "runtime_files.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

static const char *find(const char *pattern) {
  static char path[4096];
  char full[4096];
  const char *extras = getenv("ASSAY_EXTRAS");
  glob_t found = {0};
  snprintf(full, sizeof full, "%s/%s", extras != NULL ? extras : ASSAY_BINARY_DIR "/extras", pattern);
  int failed = glob(full, 0, NULL, &found);
  if (failed == 0) {
    snprintf(path, sizeof path, "%s", found.gl_pathv[0]);
  } else {
    printf("skipped: there is no %s\n", full);
  }
  globfree(&found);
  return failed == 0 ? path : NULL;
}

const char *onnxruntime_library(void) {
  return find("lib/python3*/site-packages/onnxruntime/capi/libonnxruntime.so.*");
}

const char *onnxruntime_oldest_library(void) { return find("oldest/onnxruntime/capi/libonnxruntime.so.*"); }

#if defined(__SANITIZE_ADDRESS__)
#define UNDER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNDER_ASAN 1
#endif
#endif

const char *openvino_library(void) {
#ifdef UNDER_ASAN
  printf("skipped: OpenVINO loads a library in a way that AddressSanitizer forbids\n");
  return NULL;
#else
  return find("lib/python3*/site-packages/openvino/libs/libopenvino_c.so*");
#endif
}
