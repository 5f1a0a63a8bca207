/* Fuzzes the reader of corpora: the bytes are corpus.yaml of a folder that holds one good case. */
#include "corpus/corpus.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/file.h"
#include "fuzz.h"
#include "tensor/npz.h"

static char folder[] = "/tmp/assay-fuzz-XXXXXX";
static struct arena paths;

static void remove_folder(void) {
  folder_abandon(folder);
  arena_free(&paths);
}

static void make_folder(void) {
  fuzz_require(mkdtemp(folder) != NULL);
  atexit(remove_folder);
  float values[3] = {1, 2, 3};
  const assay_tensor tensor = {
      .dtype = ASSAY_FLOAT32, .rank = 2, .dims = {1, 3}, .data = values, .bytes = sizeof values};
  const struct npz_entry entries[] = {
      {"inputs/obs", &tensor}, {"outputs/action", &tensor}, {"repeats/0/action", &tensor}};
  fuzz_require(fuzz_outcome(npz_write(path_join(&paths, folder, "a.npz"), entries, 3)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *yaml;
  if (yaml == NULL) {
    make_folder();
    yaml = path_join(&paths, folder, "corpus.yaml");
  }
  FILE *file = fopen(yaml, "wb");
  fuzz_require(file != NULL && fwrite(data, 1, size, file) == size && fclose(file) == 0);
  struct corpus *corpus;
  if (!fuzz_outcome(corpus_open(folder, &corpus))) {
    return 0;
  }
  for (int32_t i = 0; i < corpus->n_cases && i < 16; i++) {
    struct case_data *loaded;
    if (fuzz_outcome(case_load(corpus, i, &loaded))) {
      case_data_free(loaded);
    }
  }
  corpus_close(corpus);
  return 0;
}
