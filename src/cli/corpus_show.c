/* `assay corpus show FOLDER`: what a corpus covers, and what it cannot tell apart. */
#include <string.h>

#include "cli/corpus_cli.h"
#include "core/file.h"
#include "report/coverage_report.h"

/* contract.yaml of the policy folder that the corpus lies in, by a path that reads well. */
static char *contract_beside(struct arena *arena, const char *folder) {
  size_t length = strlen(folder);
  bool plain = length > 0 && folder[length - 1] != '/' && folder[length - 1] != '.'; /* as "a/golden", unlike ".." */
  char *parent = plain ? path_folder(arena, folder) : NULL;
  if (plain && parent == NULL) {
    return NULL;
  }
  return plain ? path_join(arena, parent, "contract.yaml") : path_join(arena, folder, "../contract.yaml");
}

/* The contract that was named, or the one of the policy folder that the corpus lies in; NULL when there is none. */
static assay_status find_contract(const char *folder, const char *given, struct contract **out) {
  *out = NULL;
  if (given != NULL) {
    return contract_read(given, out);
  }
  struct arena arena = {0};
  char *path = contract_beside(&arena, folder);
  assay_status status = path == NULL ? status_no_memory(1) : file_exists(path) ? contract_read(path, out) : status_ok();
  arena_free(&arena);
  return status;
}

/* Loads, surveys, prints. A sealed corpus is not even looked at. */
static assay_status show(const struct cli *cli, const char *folder, const char *given, bool alone, struct text *out) {
  struct corpus *corpus = NULL;
  struct contract *contract = NULL;
  struct coverage *coverage = NULL;
  assay_status status = corpus_open(folder, &corpus);
  if (assay_status_ok(status) && !alone) {
    status = find_contract(folder, given, &contract);
  }
  if (assay_status_ok(status)) {
    status = coverage_make(corpus, contract, &cli->progress, &coverage);
  }
  if (assay_status_ok(status)) {
    status = cli->json ? coverage_report_json(coverage, out) : coverage_report_text(coverage, out);
  }
  coverage_free(coverage);
  contract_free(contract);
  corpus_close(corpus);
  return status;
}

int corpus_show_command(struct cli *cli, int argc, char **argv) {
  const char *contract = NULL;
  bool alone = false;
  const struct cli_option options[] = {
      {"contract", 0, "FILE", "for ranges, units and decisions; FOLDER/../contract.yaml when there is one", NULL,
       &contract, NULL, NULL, 0},
      {"no-contract", 0, NULL, "look for no contract", &alone, NULL, NULL, NULL, 0},
  };
  int n = 0;
  bool done = false;
  assay_status status =
      cli_options(cli, argc, argv, options, sizeof options / sizeof *options, "corpus show FOLDER [--contract FILE]",
                  "Shows what a corpus covers: cases by tag, ranges used, what no case tells apart, decisions and\n"
                  "refusals that no case exercises. Lines that begin with \"!\" ask for more cases.",
                  &n, &done);
  if (done || !assay_status_ok(status)) {
    return cli_finish(status);
  }
  if (n != 1) {
    return cli_finish(status_make(ASSAY_USAGE, NULL, "corpus show takes the folder of a corpus"));
  }
  struct text out = {0};
  status = show(cli, argv[0], contract, alone, &out);
  if (assay_status_ok(status)) {
    fputs(text_string(&out), stdout);
  }
  text_free(&out);
  return cli_finish(status);
}
