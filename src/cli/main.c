/* `assay COMMAND ...`: finds the command in the table and runs it. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "rung/runtime_search.h"

struct command {
  const char *name;
  int (*run)(struct cli *cli, int argc, char **argv);
  const char *summary;
};

static const struct command commands[] = {
#define COMMAND(name, function, summary) {name, function, summary},
#include "cli/commands.inc"
#undef COMMAND
};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static void print_help(FILE *out) {
  fputs("assay: the gate between a trained robot policy and its motors\n\n", out);
  fputs("usage: assay COMMAND [options] FILE...\n\ncommands:\n", out);
  for (int i = 0; i < COMMAND_COUNT; i++) {
    fprintf(out, "  %-14s %s\n", commands[i].name, commands[i].summary);
  }
  fputs("\n`assay COMMAND --help` tells each command's options.\n", out);
}

static void show_progress(void *user, const char *what, size_t done, size_t total) {
  (void)user;
  fprintf(stderr, "\r\033[K%s %zu/%zu%s", what, done, total, done == total ? "\r\033[K" : "");
  fflush(stderr);
}

static int run(int argc, char **argv) {
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
    print_help(stdout);
    return EXIT_PASS;
  }
  const char *name = strcmp(argv[1], "--version") == 0 ? "version" : argv[1];
  for (int i = 0; i < COMMAND_COUNT; i++) {
    if (strcmp(commands[i].name, name) == 0) {
      struct cli cli = {.command = name};
      cli.color = isatty(STDOUT_FILENO) && getenv("NO_COLOR") == NULL;
      if (isatty(STDERR_FILENO)) {
        cli.progress.step = show_progress;
      }
      return commands[i].run(&cli, argc - 1, argv + 1);
    }
  }
  return cli_finish(status_make(ASSAY_USAGE, NULL, "there is no command '%s'; `assay --help` lists them", argv[1]));
}

/* A file that is opened later must not become a standard stream that was closed: what is printed would go into
 * it. The stand-ins refuse what the stream is for, so that a closed output stays an error. */
static void reserve_standard_streams(void) {
  static const int modes[] = {O_WRONLY, O_RDONLY, O_RDONLY};
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
    if (fcntl(stream, F_GETFD) == -1 && open("/dev/null", modes[stream]) != stream) {
      _exit(EXIT_INTERNAL);
    }
  }
}

/* Where Python wheels of runtimes may be installed: the active environment first. */
static void add_runtime_roots(void) {
  const char *environment = getenv("VIRTUAL_ENV"), *home = getenv("HOME");
  char local[4096];
  if (environment != NULL) {
    runtime_search_add(environment);
  }
  if (home != NULL && snprintf(local, sizeof local, "%s/.local", home) < (int)sizeof local) {
    runtime_search_add(local);
  }
  runtime_search_add("/usr/local");
  runtime_search_add("/usr");
}

int main(int argc, char **argv) {
  reserve_standard_streams();
  add_runtime_roots();
  if (argc < 2) {
    print_help(stderr);
    return EXIT_INPUT;
  }
  signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes is then an error of write, like a full disk */
  int code = run(argc, argv);
  bool lost = fflush(stdout) != 0 || ferror(stdout);
  if (lost && code != EXIT_INTERNAL) {
    return cli_finish(status_make(ASSAY_FILE_UNWRITABLE, "standard output",
                                  "what was to be printed could not be written; check the free space"));
  }
  return code;
}
