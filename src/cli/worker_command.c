/* `assay worker`: the other side of a rung with `engine: remote`. Speaks over standard input and output, opens no port,
 * and ends when the other side does. */
#include <signal.h>
#include <unistd.h>

#include "cli/cli.h"
#include "rung/serve.h"

int command_worker(struct cli *cli, int argc, char **argv) {
  int n = 0;
  bool done = false;
  assay_status status =
      cli_options(cli, argc, argv, NULL, 0, "worker",
                  "Runs models for a gate on another machine: `command: [ssh, robot, assay, worker]` in\n"
                  "its gate.yaml starts this. It is not for people to talk to.",
                  &n, &done);
  if (done || !assay_status_ok(status)) {
    return cli_finish(status);
  }
  if (n != 0) {
    return cli_finish(status_make(ASSAY_USAGE, NULL, "worker takes no arguments"));
  }
  signal(SIGPIPE, SIG_IGN); /* the other side may be gone: that ends the loop, not the program */
  int out = dup(STDOUT_FILENO);
  if (out < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    return cli_finish(status_make(ASSAY_FILE_UNWRITABLE, "standard output", "it is not open"));
  }
  return cli_finish(rung_worker(STDIN_FILENO, out));
}
