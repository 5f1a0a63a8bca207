/* Commands that have subcommands: finds the one that is named. */
#include <string.h>

#include "cli/cli.h"
#include "core/text.h"

static void print_rows(FILE *out, const char *command, const struct cli_subcommand *rows, int n_rows,
                       const char *usage) {
  fputs(usage, out);
  fputc('\n', out);
  for (int i = 0; i < n_rows; i++) {
    fprintf(out, "  %-8s %s\n", rows[i].name, rows[i].summary);
  }
  fprintf(out, "\n`assay %s SUBCOMMAND --help` tells each one's options; all take --json and --quiet.\n", command);
}

static int refuse(const char *command, const char *name, const struct cli_subcommand *rows, int n_rows) {
  struct text names = {0};
  for (int i = 0; i < n_rows; i++) {
    text_format(&names, "%s%s", i == 0 ? "" : i + 1 < n_rows ? ", " : " and ", rows[i].name);
  }
  assay_status status =
      status_make(ASSAY_USAGE, NULL, "%s has no subcommand '%s'; there are %s", command, name, text_string(&names));
  text_free(&names);
  return cli_finish(status);
}

int cli_subcommand(struct cli *cli, int argc, char **argv, const struct cli_subcommand *rows, int n_rows,
                   const char *usage) {
  const char *command = argv[0];
  if (argc < 2) {
    print_rows(stderr, command, rows, n_rows, usage);
    return EXIT_INPUT;
  }
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
    print_rows(stdout, command, rows, n_rows, usage);
    return EXIT_PASS;
  }
  for (int i = 0; i < n_rows; i++) {
    if (strcmp(argv[1], rows[i].name) == 0) {
      cli->command = rows[i].command;
      return rows[i].run(cli, argc - 1, argv + 1);
    }
  }
  return refuse(command, argv[1], rows, n_rows);
}
