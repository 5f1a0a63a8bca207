/* `assay explain-code CODE`: what a code means and what to do about it. */
#include "cli/cli.h"
#include "core/text.h"

static const char *kind_words(assay_code_kind kind) {
  static const char *const words[] = {"success", "the input is wrong", "REJECT", "BLOCKED", "a note", "internal error"};
  return words[kind];
}

int command_explain_code(struct cli *cli, int argc, char **argv) {
  int n = 0;
  bool done = false;
  assay_status status = cli_options(cli, argc, argv, NULL, 0, "explain-code CODE",
                                    "Prints what a code means and what to do about it.", &n, &done);
  if (done || !assay_status_ok(status)) {
    return cli_finish(status);
  }
  if (n != 1) {
    return cli_finish(status_make(ASSAY_USAGE, NULL, "explain-code takes one code, such as DRIFT_MAX"));
  }
  assay_code code = assay_code_find(argv[0]);
  if (code == ASSAY_CODE_COUNT) {
    const char *names[ASSAY_CODE_COUNT];
    for (int i = 0; i < ASSAY_CODE_COUNT; i++) {
      names[i] = assay_code_name((assay_code)i);
    }
    const char *near = text_nearest(argv[0], names, ASSAY_CODE_COUNT);
    return cli_finish(status_make(ASSAY_USAGE, NULL, "there is no code '%s'%s%s; docs/codes.md lists them", argv[0],
                                  near != NULL ? "; did you mean " : "", near != NULL ? near : ""));
  }
  printf("%s (%s)\n%s\nWhat to do: %s\n", assay_code_name(code), kind_words(assay_code_kind_of(code)),
         assay_code_meaning(code), assay_code_remedy(code));
  return EXIT_PASS;
}
