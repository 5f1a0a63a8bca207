/* See shared_files.h. */
#include "shared_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *shared_path(const char *relative) {
  static char path[4096];
  const char *given = getenv("ASSAY_SHARED");
  if (given != NULL) {
    snprintf(path, sizeof path, "%s/%s", given, relative);
  } else {
    snprintf(path, sizeof path, "%s/../shared/%s", ASSAY_SOURCE_DIR, relative);
  }
  if (access(path, R_OK) == 0) {
    return path;
  }
  printf("skipped: there is no %s\n", path);
  return NULL;
}
