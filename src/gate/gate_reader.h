/* Private to gate/: how gate.yaml is read, and the part of a rung that is handed to its runtime. */
#ifndef GATE_GATE_READER_H
#define GATE_GATE_READER_H

#include "contract/yaml.h"
#include "gate/gate_file.h"

/* One reading in progress. */
struct gate_reader {
  struct yaml_file file;
  struct gate_file *gate;
};

/* A path as it is meant: relative to the gate's folder. */
ASSAY_MUST_CHECK assay_status gate_joined(struct gate_reader *reader, const char *name, const char **out);
ASSAY_MUST_CHECK assay_status gate_expect_kind(struct gate_reader *reader, const struct yaml *node, enum yaml_kind kind,
                                               const char *what);

/* Settings of the engine stand under `settings`; what must be found running, and what several engines have, may stand
 * beside the name too. */
ASSAY_MUST_CHECK assay_status gate_settings_parse(struct gate_reader *reader, const struct yaml *rung,
                                                  struct rung_request *request);
/* A program, or a list of it and its arguments; NULL: none. */
ASSAY_MUST_CHECK assay_status gate_command_parse(struct gate_reader *reader, const struct yaml *node,
                                                 struct rung_request *request);

#endif
