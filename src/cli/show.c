/* The result of a gate on standard output, for the commands that run one: see show.h. */
#include "cli/show.h"

#include "core/text.h"
#include "report/report.h"

assay_status cli_show(const struct cli *cli, const struct gate_result *result, const char *report) {
  struct text out = {0};
  const struct terminal_options options = {.color = cli->color, .verbose = cli->verbose, .quiet = cli->quiet};
  assay_status status = cli->json ? report_json(result, &out) : report_terminal(result, &options, &out);
  if (assay_status_ok(status)) {
    fputs(text_string(&out), stdout);
    if (!cli->json && report != NULL) {
      printf("report: %s\n", report);
    }
  }
  text_free(&out);
  return status;
}

assay_status cli_report(const struct cli *cli, const struct gate_result *result, const char *folder, const char *name,
                        const char *given) {
  struct text place = {0};
  if (given != NULL) {
    text_add(&place, given);
  } else {
    text_format(&place, "%s%s%s", folder, text_ends_with(folder, "/") ? "" : "/", name);
  }
  assay_status status = text_status(&place);
  if (assay_status_ok(status)) {
    status = report_write(result, text_string(&place));
  }
  if (assay_status_ok(status)) {
    status = cli_show(cli, result, text_string(&place));
  }
  text_free(&place);
  return status;
}
