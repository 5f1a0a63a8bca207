/* `assay compare A B`: drift between two recorded runs, matched by name. */
#include "cli/cli.h"
#include "cli/show.h"
#include "contract/sealed_path.h"
#include "core/text.h"
#include "gate/gate.h"
#include "report/report.h"

int command_compare(struct cli *cli, int argc, char **argv) {
  const char *contract = NULL, *report = NULL;
  const struct cli_option options[] = {
      {.name = "contract",
       .argument = "FILE",
       .help = "a contract, for physical units, tolerances and decisions",
       .value = &contract},
      {.name = "report", .argument = "DIR", .help = "write verdict.json and junit.xml there", .value = &report},
  };
  int n = 0, exit_code = EXIT_INTERNAL;
  bool done = false;
  assay_status status =
      cli_options(cli, argc, argv, options, 2, "compare REFERENCE CANDIDATE [options]",
                  "Compares two run folders, output by output. Exit code 0: the same bits, or within the contract's "
                  "tolerances;\n1: not; 2: a run folder or the contract is wrong; 3: nothing could be compared.",
                  &n, &done);
  if (done || !assay_status_ok(status)) {
    return cli_finish(status);
  }
  if (n != 2) {
    return cli_finish(status_make(ASSAY_USAGE, NULL, "compare takes two run folders; see `assay compare --help`"));
  }
  struct gate_result *result = NULL;
  for (int i = 0; i < 2 && assay_status_ok(status); i++) {
    status = sealed_path_check(argv[i]);
  }
  if (assay_status_ok(status)) {
    status = gate_compare(argv[0], argv[1], contract, &result);
  }
  if (assay_status_ok(status) && report != NULL) {
    status = report_write(result, report);
  }
  if (assay_status_ok(status)) {
    status = cli_show(cli, result, NULL);
    exit_code = result->exit_code;
  }
  gate_result_free(result);
  return assay_status_ok(status) ? exit_code : cli_finish(status);
}
