/* How a command shows what a gate found. It must add nothing to it: reports compute nothing. */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

#include "cli/cli.h"
#include "gate/result.h"

/* The table, or with --json the result, on standard output; below the table where the report lies (NULL: not told). */
ASSAY_MUST_CHECK assay_status cli_show(const struct cli *cli, const struct gate_result *result, const char *report);
/* Writes the report to `given`, or (NULL) to `name` in the policy folder, and shows the result. */
ASSAY_MUST_CHECK assay_status cli_report(const struct cli *cli, const struct gate_result *result, const char *folder,
                                         const char *name, const char *given);

#endif
