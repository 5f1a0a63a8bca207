/* What the commands of the program share. Only cli/ prints and exits.
 *
 * Adding a command: one file with `int command_<name>(struct cli *, int, char **)`
 * and one row in commands.inc. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>
#include <stdio.h>

#include "core/progress.h"
#include "core/status.h"

/* Exit codes of the program. Where several hold, the first of INTERNAL, INPUT, REJECTED, BLOCKED, PASS. */
enum { EXIT_PASS = 0, EXIT_REJECTED = 1, EXIT_INPUT = 2, EXIT_BLOCKED = 3, EXIT_INTERNAL = 4 };

/* Options that every command takes; filled by cli_options. */
struct cli {
  const char *command;
  bool json, quiet, verbose, color; /* color: standard output is a terminal and NO_COLOR is not set */
  int threads;                      /* 0: not given */
  struct progress progress;         /* shows on standard error, when that is a terminal and not --quiet */
};

/* One option of a command. `value` NULL makes a flag, whose *flag is set. An option that may be
 * given more than once has `many`: an array that cli_options fills, with its *count and capacity. */
struct cli_option {
  const char *name;     /* without "--" */
  char letter;          /* 0: none */
  const char *argument; /* name of the argument in the help; NULL for a flag */
  const char *help;
  bool *flag;
  const char **value;
  const char **many;
  int *count;
  int capacity;
};

/* Parses argv after the command's name: the shared options, the command's own, then positional
 * arguments, which are moved to the front of argv (*n_arguments of them). On `--help` prints
 * `usage` (one line: "check MODEL [options]"), `about` and the options, and sets *done. */
ASSAY_MUST_CHECK assay_status cli_options(struct cli *cli, int argc, char **argv, const struct cli_option *options,
                                          int n_options, const char *usage, const char *about, int *n_arguments,
                                          bool *done);

/* A row of a command that has subcommands: "new", "corpus new", what it does. */
struct cli_subcommand {
  const char *name, *command, *summary;
  int (*run)(struct cli *cli, int argc, char **argv);
};

/* Runs the one that argv[1] names, and answers its exit code. Without a name, or with --help, shows `usage` (complete
 * lines) and the rows. */
int cli_subcommand(struct cli *cli, int argc, char **argv, const struct cli_subcommand *rows, int n_rows,
                   const char *usage);

/* Prints "assay: where: sentence [CODE]" to standard error, clears the status and answers the exit
 * code of its kind. EXIT_PASS for success. */
int cli_finish(assay_status status);

/* Exit code of a code's kind. */
int cli_exit_code(assay_code code);

#define COMMAND(name, function, summary) int function(struct cli *cli, int argc, char **argv);
#include "cli/commands.inc"
#undef COMMAND

#endif
