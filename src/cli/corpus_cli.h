/* Between the subcommands of `assay corpus`: the options that describe a case. */
#ifndef CLI_CORPUS_CLI_H
#define CLI_CORPUS_CLI_H

#include "cli/cli.h"
#include "corpus/corpus_write.h"

int corpus_new_command(struct cli *cli, int argc, char **argv);
int corpus_add_command(struct cli *cli, int argc, char **argv);
int corpus_import_command(struct cli *cli, int argc, char **argv);
int corpus_show_command(struct cli *cli, int argc, char **argv);
int corpus_seal_command(struct cli *cli, int argc, char **argv);

enum { CASE_LABELS_MAX = 64 };

/* What the command line says of every case that it adds. */
struct case_options {
  const char *id, *guard, *refuse, *now, *result_age;
  bool sequence, forced, ask_monitors;
  const char *tags[CASE_LABELS_MAX], *ages[CASE_LABELS_MAX], *dtypes[CASE_LABELS_MAX];
  const char *times[CASE_LABELS_MAX], *monitors[CASE_LABELS_MAX];
  int n_tags, n_ages, n_dtypes, n_times, n_monitors;
};
/* The rows of the table of options; needs `struct case_options` named `name`. */
#define CASE_OPTIONS(name)                                                                                              \
  {"id", 0, "ID", "the case's id; several cases get a number or name behind it", NULL, &(name).id, NULL, NULL, 0},      \
      {"tag", 0, "KEY=VALUE", "a tag, such as light=dark", NULL, NULL, (name).tags, &(name).n_tags, CASE_LABELS_MAX},   \
      {"age",          0, "INPUT=MS", "age of an input in milliseconds", NULL, NULL, (name).ages, &(name).n_ages,       \
       CASE_LABELS_MAX},                                                                                                \
      {"dtype",        0,    "ARRAY=TYPE",  "type of an array stored as bits, such as inputs/x=bfloat16",               \
       NULL,           NULL, (name).dtypes, &(name).n_dtypes,                                                           \
       CASE_LABELS_MAX},                                                                                                \
      {"refuse", 0, "CODE", "the case is invalid and must get this refusal", NULL, &(name).refuse, NULL, NULL, 0},      \
      {"sequence", 0, NULL, "arrays carry steps along their leading axis", &(name).sequence, NULL, NULL, NULL, 0},      \
      {"forced", 0, NULL, "state is fed as recorded, not carried", &(name).forced, NULL, NULL, NULL, 0},                \
      {"time",         0,    "INPUT=MS,...", "when an input was measured; once, or once a step",                        \
       NULL,           NULL, (name).times,   &(name).n_times,                                                           \
       CASE_LABELS_MAX},                                                                                                \
      {"now", 0, "MS,...", "the time of the step on the same clock", NULL, &(name).now, NULL, NULL, 0},                 \
      {"result-age", 0, "MS,...", "age of the answer when it would be sent", NULL, &(name).result_age, NULL, NULL, 0},  \
      {"monitor",      0,    "NAME=ANSWER,...", "clear:MS, tripped:MS or missing; once, or once a step",                \
       NULL,           NULL, (name).monitors,   &(name).n_monitors,                                                     \
       CASE_LABELS_MAX},                                                                                                \
      {"no-monitors", 0, NULL, "every monitor was asked and none answered", &(name).ask_monitors, NULL, NULL, NULL, 0}, \
  {                                                                                                                     \
    "guard", 0, "ANSWER,...", "accept or a code, expected of the guard; STEP=ANSWER for single steps", NULL,            \
        &(name).guard, NULL, NULL, 0                                                                                    \
  }

/* Splits "NAME=VALUE" at the first "=" or, since names of tensors may hold one, at the last; `what` is the option. */
ASSAY_MUST_CHECK assay_status split_pair(struct arena *arena, const char *text, const char *what, bool first,
                                         const char **name, const char **value);
/* The case that the options describe; strings live in the arena or on the command line. */
ASSAY_MUST_CHECK assay_status case_from_options(const struct case_options *options, struct arena *arena,
                                                struct corpus_case *out);
/* The times, monitors and guard of it: --time, --now, --result-age, --monitor, --no-monitors, --guard. */
ASSAY_MUST_CHECK assay_status times_from_options(const struct case_options *options, struct arena *arena,
                                                 struct corpus_case *out);
/* Declares the types given by --dtype. */
ASSAY_MUST_CHECK assay_status declare_dtypes(const struct case_options *options, struct arena *arena,
                                             struct corpus_editor *editor);
/* Commits, or abandons after a failure, and tells what was added. Takes over status and editor. */
int finish_edit(struct cli *cli, assay_status status, struct corpus_editor *editor, const char *folder);

#endif
