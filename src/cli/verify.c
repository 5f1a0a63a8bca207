/* `assay verify`: the main job. A policy folder gets a verdict; a bare model gets drift and no verdict. */
#include <string.h>

#include "cli/cli.h"
#include "cli/show.h"
#include "core/file.h"
#include "gate/gate.h"
#include "report/report.h"

struct verify_options {
  const char *gate, *report;
  bool no_ledger;
};

static assay_status run_folder(const struct cli *cli, const char *folder, const struct verify_options *own,
                               int *exit_code) {
  struct gate_result *result = NULL;
  struct gate_options options = {.folder = folder,
                                 .gate_path = own->gate,
                                 .threads = cli->threads,
                                 .progress = &cli->progress,
                                 .ledger = own->no_ledger ? LEDGER_READ : LEDGER_KEEP,
                                 .no_ledger = "--no-ledger was given"};
  TRY(gate_run(&options, &result));
  assay_status status = cli_report(cli, result, folder, "report", own->report);
  *exit_code = result->exit_code;
  gate_result_free(result);
  return status;
}

static assay_status run_bare(const struct cli *cli, const char *model, const struct verify_options *own,
                             int *exit_code) {
  struct gate_result *result = NULL;
  TRY(gate_run_bare(model, cli->threads, &cli->progress, &result));
  assay_status status = own->report != NULL ? report_write(result, own->report) : status_ok();
  if (assay_status_ok(status)) {
    status = cli_show(cli, result, own->report);
  }
  *exit_code = result->exit_code;
  gate_result_free(result);
  return status;
}

int command_verify(struct cli *cli, int argc, char **argv) {
  struct verify_options own = {0};
  const struct cli_option options[] = {
      {.name = "gate", .argument = "FILE", .help = "another gate file than FOLDER/gate.yaml", .value = &own.gate},
      {.name = "report",
       .argument = "DIR",
       .help = "where the report goes; FOLDER/report otherwise",
       .value = &own.report},
      {.name = "no-ledger", .help = "read the ledger, add nothing to it; the report says so", .flag = &own.no_ledger},
  };
  int n = 0, exit_code = EXIT_INTERNAL;
  bool done = false;
  assay_status status = cli_options(cli, argc, argv, options, 3, "verify FOLDER | MODEL.onnx [options]",
                                    "Runs the gate of a policy folder and gives its verdict. For a bare model, shows "
                                    "drift between precisions\non synthetic inputs, without a verdict.",
                                    &n, &done);
  if (done || !assay_status_ok(status)) {
    return cli_finish(status);
  }
  if (own.report != NULL && *own.report == '\0') {
    return cli_finish(status_make(ASSAY_USAGE, NULL, "--report is empty; it must name a folder"));
  }
  if (n != 1) {
    return cli_finish(
        status_make(ASSAY_USAGE, NULL, "verify takes one policy folder or one model; see `assay verify --help`"));
  }
  if (own.no_ledger && file_exists(argv[0]) && !file_is_folder(argv[0])) {
    return cli_finish(
        status_make(ASSAY_USAGE, NULL, "--no-ledger belongs to a policy folder, and '%s' is a file", argv[0]));
  }
  bool bare = !file_is_folder(argv[0]) && file_exists(argv[0]);
  if (bare && own.gate != NULL) {
    return cli_finish(status_make(ASSAY_USAGE, NULL, "--gate belongs to a policy folder, and '%s' is a file", argv[0]));
  }
  status = bare ? run_bare(cli, argv[0], &own, &exit_code) : run_folder(cli, argv[0], &own, &exit_code);
  return assay_status_ok(status) ? exit_code : cli_finish(status);
}
