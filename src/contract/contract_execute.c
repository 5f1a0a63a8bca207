/* `execute` of an output: how much of a chunk the robot executes, and in which way.
 * It reads what is said; executed.h does it. */
#include "contract/contract_reader.h"

struct execute {
  int64_t steps, queue;
  const struct yaml *ensemble;
};
struct blend {
  double m;
  int64_t steps;
};

assay_status output_execute(struct reader *reader, const struct yaml *node, const char *what, void *member) {
  static const struct field fields[] = {
      {"steps", read_size, offsetof(struct execute, steps), FIELD_OPTIONAL},
      {"queue", read_size, offsetof(struct execute, queue), FIELD_OPTIONAL},
      {"ensemble", keep_node, offsetof(struct execute, ensemble), FIELD_OPTIONAL},
  };
  static const struct field blend_fields[] = {
      {"m", read_not_negative, offsetof(struct blend, m), FIELD_REQUIRED},
      {"steps", read_size, offsetof(struct blend, steps), FIELD_REQUIRED},
  };
  struct contract_output *output = member;
  struct execute execute = {0};
  struct blend blend = {0};
  TRY(FIELDS_READ(reader, node, fields, what, &execute));
  if ((execute.steps > 0) + (execute.queue > 0) + (execute.ensemble != NULL) != 1) {
    return yaml_error(&reader->file, node->mark, "%s needs one of 'steps', 'queue' and 'ensemble'", what);
  }
  if (output->horizon_axis < 0) {
    return yaml_error(&reader->file, node->mark, "%s counts steps, but 'axes' names no horizon", what);
  }
  if (execute.ensemble != NULL) {
    char item[WHAT_SIZE];
    what_format(item, "'ensemble' of %s", what);
    TRY(FIELDS_READ(reader, execute.ensemble, blend_fields, item, &blend));
  }
  output->queue = execute.queue;
  output->ensemble = execute.ensemble != NULL;
  output->ensemble_m = blend.m;
  output->execute_steps = execute.steps + execute.queue + blend.steps; /* one of them */
  if (output->execute_steps > output->dims[output->horizon_axis].min) {
    return yaml_error(&reader->file, node->mark, "%s uses %lld steps, but the horizon has %lld", what,
                      (long long)output->execute_steps, (long long)output->dims[output->horizon_axis].min);
  }
  return status_ok();
}
