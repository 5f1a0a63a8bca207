/* `assay final`: the last evaluation before a release, on the sealed corpus that nothing else may read. Every look is
 * put on record before it is taken. */
#include <string.h>

#include "cli/cli.h"
#include "cli/show.h"
#include "gate/gate.h"

struct final_options {
  const char *gate, *report;
  struct gate_final final;
};

static assay_status run(const struct cli *cli, const char *folder, const struct final_options *own, int *exit_code) {
  const struct gate_options options = {.folder = folder,
                                       .gate_path = own->gate,
                                       .threads = cli->threads,
                                       .progress = &cli->progress,
                                       .final = &own->final};
  struct gate_result *result = NULL;
  TRY(gate_run(&options, &result));
  assay_status status = cli_report(cli, result, folder, "final", own->report);
  *exit_code = result->exit_code;
  gate_result_free(result);
  return status;
}

int command_final(struct cli *cli, int argc, char **argv) {
  struct final_options own = {0};
  const struct cli_option options[] = {
      {.name = "gate", .argument = "FILE", .help = "another gate file than FOLDER/gate.yaml", .value = &own.gate},
      {.name = "report",
       .argument = "DIR",
       .help = "where the report goes; FOLDER/final otherwise",
       .value = &own.report},
      {.name = "again", .help = "look once more at a sealed set; every later report tells", .flag = &own.final.again},
      {.name = "reason", .argument = "TEXT", .help = "why, with --again", .value = &own.final.reason},
  };
  int n = 0, exit_code = EXIT_INTERNAL;
  bool done = false;
  assay_status status = cli_options(
      cli, argc, argv, options, sizeof options / sizeof *options, "final FOLDER [--again --reason TEXT]",
      "Freezes a digest of everything, puts the look on record in the ledger, runs the sealed corpus (`sealed:` "
      "in\ngate.yaml) through the gate, once, and gives its verdict. A second look must be asked for.",
      &n, &done);
  if (done || !assay_status_ok(status)) {
    return cli_finish(status);
  }
  if (n != 1) {
    return cli_finish(status_make(ASSAY_USAGE, NULL, "final takes one policy folder; see `assay final --help`"));
  }
  if (own.report != NULL && *own.report == '\0') {
    return cli_finish(status_make(ASSAY_USAGE, NULL, "--report is empty; it must name a folder"));
  }
  bool told = own.final.reason != NULL && own.final.reason[strspn(own.final.reason, " \t\n")] != '\0';
  if (own.final.again != told) {
    return cli_finish(
        status_make(ASSAY_USAGE, NULL, "--again and --reason go together: say why the sealed set is looked at again"));
  }
  status = run(cli, argv[0], &own, &exit_code);
  return assay_status_ok(status) ? exit_code : cli_finish(status);
}
