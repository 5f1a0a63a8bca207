/* The options that all commands share, and the help made from the tables of options. */
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "core/text.h"

enum { OPTION_MAX = 48, SHARED_BASE = 256, OWN_BASE = 512 };
enum { SHARED_HELP = SHARED_BASE, SHARED_JSON, SHARED_QUIET, SHARED_VERBOSE, SHARED_THREADS };

static const struct option shared_options[] = {
    {"help", no_argument, NULL, SHARED_HELP},
    {"json", no_argument, NULL, SHARED_JSON},
    {"quiet", no_argument, NULL, SHARED_QUIET},
    {"verbose", no_argument, NULL, SHARED_VERBOSE},
    {"threads", required_argument, NULL, SHARED_THREADS},
};
enum { SHARED_COUNT = sizeof shared_options / sizeof shared_options[0] };

static void print_help(const struct cli_option *options, int n_options, const char *usage, const char *about) {
  printf("usage: assay %s\n\n%s\n\noptions:\n", usage, about);
  for (int i = 0; i < n_options; i++) {
    struct text left = {0};
    if (options[i].letter != 0) {
      text_format(&left, "-%c, ", options[i].letter);
    }
    text_format(&left, "--%s%s%s", options[i].name, options[i].argument != NULL ? " " : "",
                options[i].argument != NULL ? options[i].argument : "");
    printf("  %-28s %s\n", text_string(&left), options[i].help);
    text_free(&left);
  }
  printf("  %-28s %s\n", "--json", "print for a machine to read, where the command has something to tell");
  printf("  %-28s %s\n", "--threads N", "threads to compute with");
  printf("  %-28s %s\n", "-q, --quiet / -v, --verbose", "say less / more");
  printf("  %-28s %s\n", "-h, --help", "this help");
}

static assay_status parse_threads(const char *text, int *out) {
  char *end;
  long value = strtol(text, &end, 10);
  if (*text < '0' || *text > '9' || *end != '\0' || value < 1 || value > 1024) {
    return status_make(ASSAY_USAGE, NULL, "--threads is '%s'; it must be a whole number from 1 to 1024", text);
  }
  *out = (int)value;
  return status_ok();
}

static assay_status take_own(const struct cli_option *option, const char *argument) {
  if (option->flag != NULL) {
    *option->flag = true;
  } else if (option->many != NULL) {
    if (*option->count == option->capacity) {
      return status_make(ASSAY_USAGE, NULL, "--%s is given more than %d times", option->name, option->capacity);
    }
    option->many[(*option->count)++] = argument;
  } else {
    *option->value = argument;
  }
  return status_ok();
}

/* The getopt tables of one command: the shared options, then its own. */
static void make_tables(const struct cli_option *options, int n_options, struct option *table, char *letters) {
  char *letter = letters;
  memcpy(letter, ":hqv", 4);
  letter += 4;
  memcpy(table, shared_options, sizeof shared_options);
  for (int i = 0; i < n_options; i++) {
    bool argument = options[i].flag == NULL;
    table[SHARED_COUNT + i] =
        (struct option){options[i].name, argument ? required_argument : no_argument, NULL, OWN_BASE + i};
    if (options[i].letter != 0) {
      *letter++ = options[i].letter;
      if (argument) {
        *letter++ = ':';
      }
    }
  }
  *letter = '\0';
  table[SHARED_COUNT + n_options] = (struct option){0};
}

static int own_index(const struct cli_option *options, int n_options, int got) {
  for (int i = 0; i < n_options; i++) {
    if (got == OWN_BASE + i || (options[i].letter != 0 && got == options[i].letter)) {
      return i;
    }
  }
  return -1;
}

assay_status cli_options(struct cli *cli, int argc, char **argv, const struct cli_option *options, int n_options,
                         const char *usage, const char *about, int *n_arguments, bool *done) {
  struct option table[OPTION_MAX + SHARED_COUNT + 1];
  char letters[8 + 2 * OPTION_MAX];
  if (n_options > OPTION_MAX) {
    return status_make(ASSAY_INTERNAL, NULL, "command '%s' has more than %d options", cli->command, OPTION_MAX);
  }
  make_tables(options, n_options, table, letters);
  *done = false;
  opterr = 0;
  optind = 1;
  int got;
  while ((got = getopt_long(argc, argv, letters, table, NULL)) != -1) {
    int own = own_index(options, n_options, got);
    if (own >= 0) {
      TRY(take_own(&options[own], optarg));
    } else if (got == 'h' || got == SHARED_HELP) {
      print_help(options, n_options, usage, about);
      *done = true;
      return status_ok();
    } else if (got == 'q' || got == SHARED_QUIET) {
      cli->quiet = true;
      cli->progress.step = NULL;
    } else if (got == 'v' || got == SHARED_VERBOSE) {
      cli->verbose = true;
    } else if (got == SHARED_JSON) {
      cli->json = true;
    } else if (got == SHARED_THREADS) {
      TRY(parse_threads(optarg, &cli->threads));
    } else {
      return status_make(ASSAY_USAGE, NULL, "%s '%s'; see `assay %s --help`",
                         got == ':' ? "an argument is missing after" : "there is no option", argv[optind - 1],
                         cli->command);
    }
  }
  *n_arguments = argc - optind;
  memmove(argv, argv + optind, (size_t)(argc - optind) * sizeof *argv);
  return status_ok();
}

int cli_exit_code(assay_code code) {
  switch (assay_code_kind_of(code)) {
    case ASSAY_KIND_OK:
    case ASSAY_KIND_NOTE:
      return EXIT_PASS;
    case ASSAY_KIND_REJECT:
      return EXIT_REJECTED;
    case ASSAY_KIND_INPUT:
      return EXIT_INPUT;
    case ASSAY_KIND_BLOCKED:
      return EXIT_BLOCKED;
    case ASSAY_KIND_INTERNAL:
      break;
  }
  return EXIT_INTERNAL;
}

int cli_finish(assay_status status) {
  if (assay_status_ok(status)) {
    return EXIT_PASS;
  }
  int code = cli_exit_code(status.code);
  const char *where = assay_status_where(status);
  struct text line = {0};
  text_add_shown(&line, where);
  text_add(&line, *where != '\0' ? ": " : "");
  text_add_shown(&line, assay_status_sentence(status));
  fflush(stdout);
  fprintf(stderr, "assay: %s [%s]\n", text_string(&line), assay_code_name(status.code));
  text_free(&line);
  assay_status_clear(&status);
  return code;
}
