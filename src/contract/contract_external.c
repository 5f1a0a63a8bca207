/* The section `external`: monitors beside the policy that the guard asks. One whose silence would let an action through
 * is refused: there is no such monitor. */
#include "contract/contract_reader.h"
#include "contract/monitors.h"

static assay_status monitor_on_missing(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  static const char *const words[] = {"refuse"};
  int32_t which = 0;
  (void)member;
  return yaml_choice(&reader->file, node, what, words, 1, &which);
}

static assay_status read_monitor(struct reader *reader, const struct yaml *node, const char *name, struct mark mark,
                                 struct contract_monitor *out) {
  static const struct field fields[] = {
      {"max_age_ms", read_positive, offsetof(struct contract_monitor, max_age_ms), FIELD_REQUIRED},
      {"on_missing", monitor_on_missing, 0, FIELD_OPTIONAL},
  };
  char what[WHAT_SIZE];
  what_format(what, "monitor '%.80s'", name);
  *out = (struct contract_monitor){.name = name, .mark = mark};
  return FIELDS_READ(reader, node, fields, what, out);
}

assay_status read_external(struct reader *reader, const struct yaml *node) {
  struct contract_monitor *monitors;
  TRY(yaml_expect(&reader->file, node, YAML_MAPPING, "'external'"));
  ARENA_NEW(reader->arena, monitors, node->count);
  for (int32_t i = 0; i < node->count; i++) {
    TRY(read_monitor(reader, &node->items[i], node->keys[i], node->key_marks[i], &monitors[i]));
  }
  reader->contract->monitors = monitors;
  reader->contract->n_monitors = node->count;
  return status_ok();
}
