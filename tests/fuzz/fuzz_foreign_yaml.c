/* Fuzzes the reader of other people's YAML. Whatever it takes can be walked in bounded time. */
#include "contract/foreign_yaml.h"
#include "fuzz.h"

static int64_t walk(const struct foreign *node) {
  int64_t nodes = 1;
  for (int32_t i = 0; i < node->count; i++) {
    nodes += walk(&node->items[i]);
  }
  return nodes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct arena arena = {.limit = (size_t)256 << 20};
  struct foreign_file file;
  if (fuzz_outcome(foreign_parse((const char *)data, size, "given", &arena, &file))) {
    int64_t nodes = 0;
    for (int32_t i = 0; i < file.n_documents; i++) {
      fuzz_require(walk(&file.documents[i]) == file.documents[i].weight);
      nodes += file.documents[i].weight;
    }
    fuzz_require(nodes <= FOREIGN_NODES_MAX);
  }
  arena_free(&arena);
  return 0;
}
