/* Runs a fuzz target over files and folders of files: the seeds, or what a fuzzer found. Works with
 * every compiler, so that each build replays the seeds. */
#include <stdio.h>

#include "core/file.h"
#include "core/memory.h"
#include "fuzz.h"

static int failures;

static void replay_file(const char *path) {
  char *bytes;
  size_t size;
  assay_status status = file_read(path, 1 << 24, &bytes, &size);
  if (!assay_status_ok(status)) {
    fprintf(stderr, "%s: %s\n", path, assay_status_sentence(status));
    assay_status_clear(&status);
    failures++;
    return;
  }
  /* Once more with its end cut off and once with a byte changed, which is what damaged files are. */
  LLVMFuzzerTestOneInput((const uint8_t *)bytes, size);
  LLVMFuzzerTestOneInput((const uint8_t *)bytes, size / 2);
  if (size > 0) {
    bytes[size / 3] = (char)~bytes[size / 3];
    LLVMFuzzerTestOneInput((const uint8_t *)bytes, size);
  }
  printf("%s\n", path);
  memory_free(bytes);
}

int main(int argc, char **argv) {
  struct arena arena = {0};
  int replayed = 0;
  for (int i = 1; i < argc; i++) {
    if (!file_is_folder(argv[i])) {
      replay_file(argv[i]);
      replayed++;
      continue;
    }
    char **names;
    size_t count;
    assay_status status = folder_list(argv[i], &arena, &names, &count);
    if (!assay_status_ok(status)) {
      assay_status_clear(&status);
      failures++;
      continue;
    }
    for (size_t k = 0; k < count; k++, replayed++) {
      replay_file(path_join(&arena, argv[i], names[k]));
    }
  }
  arena_free(&arena);
  if (replayed == 0) {
    fprintf(stderr, "there was nothing to replay\n");
    return 1;
  }
  return failures != 0;
}
