/* Where values were imported from. `source:` may stand in every mapping, and every value may be
 * written {value: V, source: file:line}; both are taken out of the tree before anything else reads
 * it, so that no other reader has to know of them. */
#include "contract/contract_reader.h"

/* Sources while they are counted, then while they are kept. */
struct sources {
  struct contract_source *list; /* NULL while counting */
  int32_t count;
};

static assay_status keep_source(struct reader *reader, const struct yaml *node, struct sources *sources) {
  const char *source = NULL;
  TRY(yaml_string(&reader->file, node, "'source'", &source));
  if (sources->list != NULL) {
    sources->list[sources->count] = (struct contract_source){node->mark, source};
  }
  sources->count++;
  return status_ok();
}

static void remove_pair(struct yaml *mapping, int32_t at) {
  for (int32_t i = at + 1; i < mapping->count; i++) {
    mapping->items[i - 1] = mapping->items[i];
    mapping->keys[i - 1] = mapping->keys[i];
    mapping->key_marks[i - 1] = mapping->key_marks[i];
  }
  mapping->count--;
}

/* Depth is bounded by the YAML reader. */
static assay_status visit(struct reader *reader, struct yaml *node, struct sources *sources) {
  if (node->kind == YAML_MAPPING) {
    for (int32_t i = 0; i < node->count; i++) {
      if (text_equal(node->keys[i], "source")) {
        TRY(keep_source(reader, &node->items[i], sources));
        if (sources->list != NULL) {
          remove_pair(node, i);
        }
        break;
      }
    }
    if (sources->list != NULL && node->count == 1 && text_equal(node->keys[0], "value")) {
      struct yaml inner = node->items[0];
      *node = inner;
      return visit(reader, node, sources);
    }
  }
  for (int32_t i = 0; i < node->count; i++) {
    bool is_source = node->kind == YAML_MAPPING && text_equal(node->keys[i], "source");
    if (!is_source) {
      TRY(visit(reader, &node->items[i], sources));
    }
  }
  return status_ok();
}

assay_status take_sources(struct reader *reader) {
  struct sources sources = {0};
  TRY(visit(reader, reader->file.root, &sources));
  int32_t count = sources.count;
  ARENA_NEW(reader->arena, sources.list, count);
  sources.count = 0;
  TRY(visit(reader, reader->file.root, &sources));
  reader->contract->sources = sources.list;
  reader->contract->n_sources = sources.count;
  return sources.count == count ? status_ok()
                                : status_make(ASSAY_INTERNAL, reader->file.path, "sources were counted wrongly");
}
