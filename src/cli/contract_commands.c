/* `assay contract check | diff`: what a contract says, and what changed in meaning between two. Reads contracts and the
 * statistics beside them alone: no model, no corpus. */
#include <string.h>

#include "cli/cli.h"
#include "contract/contract_diff.h"
#include "core/file.h"
#include "core/text.h"
#include "report/json_writer.h"

static int contract_check_command(struct cli *cli, int argc, char **argv);
static int contract_diff_command(struct cli *cli, int argc, char **argv);

static const struct cli_subcommand subcommands[] = {
    {"check", "contract check", "read a contract and show what it says", contract_check_command},
    {"diff", "contract diff", "show what changed in meaning between two contracts", contract_diff_command},
};

int command_contract(struct cli *cli, int argc, char **argv) {
  return cli_subcommand(cli, argc, argv, subcommands, sizeof subcommands / sizeof subcommands[0],
                        "usage: assay contract check|diff FILE... [options]\n\nReads contracts.\n");
}

/* --- reading ------------------------------------------------------------------- */

/* A contract with what it says. */
struct described {
  struct arena arena;
  struct contract *contract;
  struct statements statements;
};

/* A file, or the policy folder that it lies in. */
static assay_status read_described(const char *path, struct described *out) {
  const char *file = file_is_folder(path) ? path_join(&out->arena, path, "contract.yaml") : path;
  if (file == NULL) {
    return status_no_memory(strlen(path));
  }
  out->statements.arena = &out->arena;
  TRY(contract_read(file, &out->contract));
  return contract_describe(out->contract, &out->statements);
}

static void described_free(struct described *described) {
  contract_free(described->contract);
  arena_free(&described->arena);
}

static void put_value(struct json *json, const char *key, const struct statement *statement) {
  struct text value = {0};
  if (statement != NULL) {
    text_format(&value, "%s%s%s", statement->value, statement->unit != NULL ? " " : "",
                statement->unit != NULL ? statement->unit : "");
  }
  json_text(json, key, statement != NULL ? text_string(&value) : NULL);
  text_free(&value);
}

static assay_status print(struct text *out, assay_status status) {
  if (assay_status_ok(status)) {
    status = text_status(out);
  }
  if (assay_status_ok(status)) {
    fputs(text_string(out), stdout);
  }
  text_free(out);
  return status;
}

/* --- check ------------------------------------------------------------------------ */

static void check_text(const struct cli *cli, const char *path, const struct described *described, struct text *out) {
  const struct contract *contract = described->contract;
  int32_t components = 0;
  for (int32_t i = 0; i < contract->n_outputs; i++) {
    components += contract->outputs[i].n_components;
  }
  text_add_shown(out, path);
  text_add(out, ": policy ");
  text_add_shown(out, contract->policy);
  text_format(out, ": %d inputs, %d outputs with %d components, %d states; %d statements\n", (int)contract->n_inputs,
              (int)contract->n_outputs, (int)components, (int)contract->n_states, (int)described->statements.count);
  const char *root = "", *part = "";
  for (int32_t i = 0; i < described->statements.count && !cli->quiet; i++) {
    const struct statement *statement = &described->statements.items[i];
    const char *own = statement->part != NULL ? statement->part : "";
    if (strcmp(root, statement->root) != 0) {
      text_add(out, "\n");
      text_add_shown(out, statement->root);
      text_add(out, "\n");
      part = "";
    }
    if (strcmp(part, own) != 0) {
      text_add(out, "  ");
      text_add_shown(out, own);
      text_add(out, "\n");
    }
    root = statement->root, part = own;
    text_add(out, *own != '\0' ? "    " : "  ");
    text_add_padded(out, statement->what, 22);
    text_add(out, " ");
    text_add_shown(out, statement->value);
    if (statement->unit != NULL) {
      text_add(out, " ");
      text_add_shown(out, statement->unit);
    }
    text_add(out, "\n");
  }
}

static void check_json(const char *path, const struct described *described, struct text *out) {
  struct json json = {.out = out};
  json_open(&json, NULL, '{', false);
  json_text(&json, "schema", "assay-contract-check-1");
  json_text(&json, "contract", path);
  json_text(&json, "policy", described->contract->policy);
  json_open(&json, "statements", '[', false);
  for (int32_t i = 0; i < described->statements.count; i++) {
    const struct statement *statement = &described->statements.items[i];
    json_open(&json, NULL, '{', true);
    json_text(&json, "of", statement->root);
    json_text(&json, "part", statement->part);
    json_text(&json, "what", statement->what);
    put_value(&json, "value", statement);
    json_close(&json, '}');
  }
  json_close(&json, ']');
  json_close(&json, '}');
  text_add_char(out, '\n');
}

static int contract_check_command(struct cli *cli, int argc, char **argv) {
  int n = 0;
  bool done = false;
  assay_status status = cli_options(cli, argc, argv, NULL, 0, "contract check FILE|FOLDER [options]",
                                    "Reads a contract, or the contract.yaml of a policy folder, and shows every thing "
                                    "that it says.\nA fault is told with its line and column.",
                                    &n, &done);
  if (done || !assay_status_ok(status)) {
    return cli_finish(status);
  }
  if (n != 1) {
    return cli_finish(status_make(ASSAY_USAGE, NULL, "contract check takes one contract or policy folder"));
  }
  struct described described = {.contract = NULL};
  struct text out = {0};
  status = read_described(argv[0], &described);
  if (assay_status_ok(status)) {
    cli->json ? check_json(argv[0], &described, &out) : check_text(cli, argv[0], &described, &out);
  }
  status = print(&out, status);
  described_free(&described);
  return cli_finish(status);
}

/* --- diff -------------------------------------------------------------------------- */

static void diff_text(const struct cli *cli, char **paths, const struct contract_changes *changes, struct text *out) {
  for (int32_t i = 0; i < changes->count; i++) {
    text_add_shown(out, changes->items[i].sentence);
    text_add(out, "\n");
  }
  if (changes->count == 0 && !cli->quiet) {
    text_add_shown(out, paths[0]);
    text_add(out, " and ");
    text_add_shown(out, paths[1]);
    text_add(out, " mean the same\n");
  }
}

static void diff_json(char **paths, const struct contract_changes *changes, struct text *out) {
  struct json json = {.out = out};
  json_open(&json, NULL, '{', false);
  json_text(&json, "schema", "assay-contract-diff-1");
  json_text(&json, "a", paths[0]);
  json_text(&json, "b", paths[1]);
  json_bool(&json, "same", changes->count == 0);
  json_open(&json, "differences", '[', false);
  for (int32_t i = 0; i < changes->count; i++) {
    const struct contract_change *change = &changes->items[i];
    json_open(&json, NULL, '{', true);
    json_text(&json, "of", change->root);
    json_text(&json, "part", change->part);
    json_text(&json, "what", change->what);
    put_value(&json, "from", change->from);
    put_value(&json, "to", change->to);
    json_text(&json, "mark", change_mark_name(change->mark));
    json_text(&json, "sentence", change->sentence);
    json_close(&json, '}');
  }
  json_close(&json, ']');
  json_close(&json, '}');
  text_add_char(out, '\n');
}

static assay_status diff(const struct cli *cli, char **paths, struct text *out, bool *same) {
  struct described a = {.contract = NULL}, b = {.contract = NULL};
  struct contract_changes changes = {0};
  assay_status status = read_described(paths[0], &a);
  if (assay_status_ok(status)) {
    status = read_described(paths[1], &b);
  }
  if (assay_status_ok(status)) {
    status = contract_diff(&a.statements, &b.statements, &a.arena, &changes);
  }
  if (assay_status_ok(status)) {
    *same = changes.count == 0;
    cli->json ? diff_json(paths, &changes, out) : diff_text(cli, paths, &changes, out);
  }
  described_free(&a);
  described_free(&b);
  return status;
}

static int contract_diff_command(struct cli *cli, int argc, char **argv) {
  int n = 0;
  bool done = false, same = false;
  assay_status status = cli_options(
      cli, argc, argv, NULL, 0, "contract diff A B [options]",
      "Shows what changed in meaning from contract A to contract B (files or policy folders): each "
      "difference\nwith what it makes of the gate: looser, tighter, changed, added, removed. Order of keys, "
      "comments,\nsources, spelling and defaults written out are no difference. Exit code 0: they mean the "
      "same; 1: they differ.",
      &n, &done);
  if (done || !assay_status_ok(status)) {
    return cli_finish(status);
  }
  if (n != 2) {
    return cli_finish(status_make(ASSAY_USAGE, NULL, "contract diff takes two contracts or policy folders"));
  }
  struct text out = {0};
  status = print(&out, diff(cli, argv, &out, &same));
  int code = cli_finish(status);
  return code != EXIT_PASS ? code : same ? EXIT_PASS : EXIT_REJECTED;
}
