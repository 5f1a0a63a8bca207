/* `assay check MODEL [--contract F] [--target T]`: is the model well-formed, does the target have its operators,
 * do types and shapes fit, and does the contract? All findings are shown, not only the first. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/model_text.h"
#include "contract/model_signature.h"
#include "contract/stages.h"
#include "core/file.h"
#include "engine/fold.h"
#include "engine/random_nodes.h"
#include "ops/ops.h"

enum { UNKNOWN_MAX = 100 }; /* operators that are missing; more would be no news */

struct check {
  struct cli *cli;
  struct arena arena;
  const char *path, *contract_path, *target;
  struct model *model, *flat;
  struct shapes shapes;
  bool has_shapes;
  assay_status findings[UNKNOWN_MAX + 8];
  int n_findings;
};

static void add_finding(struct check *check, assay_status status) {
  if (assay_status_ok(status)) {
    return;
  }
  if (check->n_findings == (int)(sizeof check->findings / sizeof *check->findings)) {
    assay_status_clear(&status);
    return;
  }
  check->findings[check->n_findings++] = status;
}

/* --- the questions ------------------------------------------------------------ */

/* Has an operator of this name and version been reported already? */
static bool reported(const struct node *const *nodes, int n, const struct node *node) {
  for (int i = 0; i < n; i++) {
    if (text_equal(nodes[i]->op_type, node->op_type) && text_equal(nodes[i]->domain, node->domain) &&
        nodes[i]->opset == node->opset) {
      return true;
    }
  }
  return false;
}

static void find_operators(struct check *check, const struct graph *graph, const struct node **missing, int *n) {
  for (int32_t i = 0; i < graph->n_nodes && *n < UNKNOWN_MAX; i++) {
    const struct node *node = &graph->nodes[i];
    const struct op *op;
    assay_status status = node_draws(node) ? status_ok() : op_find(node, &op);   /* what draws is named by itself */
    if (status.code == ASSAY_OPERATOR_UNKNOWN && !reported(missing, *n, node)) { /* the rest is said with the shapes */
      missing[(*n)++] = node;
      add_finding(check, status);
    } else {
      assay_status_clear(&status);
    }
    for (int32_t k = 0; k < node->n_attributes; k++) {
      for (int32_t g = 0; node->attributes[k].graphs != NULL && g < node->attributes[k].count; g++) {
        find_operators(check, node->attributes[k].graphs[g], missing, n);
      }
    }
  }
}

static void check_shapes(struct check *check, bool lenient) {
  const struct shapes_options options = {.lenient = lenient, .defaults = true};
  assay_status status = shapes_infer(check->flat->graph, fold_schemas(), &options, &check->arena, &check->shapes);
  check->has_shapes = assay_status_ok(status);
  add_finding(check, status);
}

/* The whole policy is bound, all of its files; the model that was named must be one of them. */
static assay_status check_stages(struct check *check, const struct contract *contract) {
  const char *const *paths;
  struct bound_stages *bound;
  bool named = false;
  struct text files = {0};
  TRY(stages_paths(contract, &check->arena, &paths));
  for (int32_t s = 0; s < contract->stages->count; s++) {
    named = named || path_same(paths[s], check->path);
    text_format(&files, "%s%s", s > 0 ? ", " : "", paths[s]);
  }
  assay_status status =
      named ? stages_bind_files(contract, paths, &check->arena, &bound)
            : status_make(ASSAY_CONTRACT_MISMATCH, check->contract_path,
                          "%s is the file of none of its stages, which are %s", check->path, text_string(&files));
  text_free(&files);
  return status;
}

static assay_status check_contract(struct check *check) {
  if (check->contract_path == NULL) {
    return status_ok();
  }
  struct contract *contract;
  struct signature signature;
  TRY(contract_read(check->contract_path, &contract));
  if (contract->stages != NULL) {
    assay_status bound = check_stages(check, contract);
    contract_free(contract);
    return bound;
  }
  assay_status status = model_signature(check->model, &check->arena, &signature);
  if (assay_status_ok(status)) {
    status = contract_bind(contract, &signature, check->path);
  }
  contract_free(contract);
  return status;
}

static assay_status find_random(struct check *check) {
  const struct random_node *nodes;
  int32_t count;
  TRY(random_nodes_find(check->model, &check->arena, &nodes, &count));
  for (int32_t i = 0; i < count; i++) {
    add_finding(check, status_make(ASSAY_OPERATOR_RANDOM, nodes[i].label, "%s", nodes[i].sentence));
  }
  return status_ok();
}

static assay_status ask_all(struct check *check) {
  TRY(model_open(check->path, NULL, &check->model));
  TRY(model_inline(check->model, &check->flat));
  const struct node *missing[UNKNOWN_MAX];
  int n_missing = 0;
  find_operators(check, check->flat->graph, missing, &n_missing);
  int before = check->n_findings;
  TRY(find_random(check));
  check_shapes(check, n_missing > 0 || check->n_findings > before);
  return check_contract(check);
}

/* --- the answer ------------------------------------------------------------------ */

static json_t *json_finding(assay_code code, const char *where, const char *sentence) {
  return json_pack("{s:s, s:s, s:s, s:s}", "code", assay_code_name(code), "kind",
                   assay_code_kind_of(code) == ASSAY_KIND_NOTE ? "note" : "error", "where", where, "sentence",
                   sentence);
}

static assay_status show_json(const struct check *check) {
  json_t *findings = json_array();
  for (int i = 0; i < check->n_findings; i++) {
    json_array_append_new(findings, json_finding(check->findings[i].code, assay_status_where(check->findings[i]),
                                                 assay_status_sentence(check->findings[i])));
  }
  for (int32_t i = 0; check->model != NULL && i < model_warning_count(check->model); i++) {
    const struct model_warning *warning = model_warning_at(check->model, i);
    json_array_append_new(findings, json_finding(warning->code, warning->where, warning->sentence));
  }
  json_t *report = json_pack("{s:s, s:s, s:s, s:b, s:o}", "schema", "assay-check-1", "model", check->path, "target",
                             check->target, "ok", check->n_findings == 0, "findings", findings);
  if (report != NULL && check->model != NULL) {
    const struct graph *graph = check->flat != NULL ? check->flat->graph : check->model->graph;
    const struct shapes *shapes = check->has_shapes ? &check->shapes : NULL;
    json_object_set_new(report, "ir_version", json_integer(check->model->ir_version));
    json_object_set_new(report, "opsets", model_json_opsets(check->model->opsets, check->model->n_opsets));
    json_object_set_new(report, "inputs", model_json_ends(graph, shapes, graph->inputs, graph->n_inputs));
    json_object_set_new(report, "outputs", model_json_ends(graph, shapes, graph->outputs, graph->n_outputs));
  }
  return json_print(report);
}

static void add_summary(const struct check *check, struct text *out) {
  const struct graph *graph = check->model->graph;
  text_add_shown(out, check->path);
  text_format(out, ": IR version %lld, opsets ", (long long)check->model->ir_version);
  model_text_opsets(check->model->opsets, check->model->n_opsets, out);
  text_format(out, ", %d nodes, %d weights", graph->n_nodes, graph->n_initializers);
  if (check->model->n_functions > 0) {
    text_format(out, ", %d functions", check->model->n_functions);
  }
  text_add_char(out, '\n');
  model_text_ends(check->flat != NULL ? check->flat->graph : graph, check->has_shapes ? &check->shapes : NULL, out);
}

/* What was learned goes to standard output, what is wrong to standard error. */
static assay_status show_text(const struct check *check) {
  struct text text = {0};
  if (check->model != NULL && !check->cli->quiet) {
    add_summary(check, &text);
  }
  for (int32_t i = 0; check->model != NULL && i < model_warning_count(check->model); i++) {
    const struct model_warning *warning = model_warning_at(check->model, i);
    text_add(&text, "note: ");
    text_add_shown(&text, warning->sentence);
    text_format(&text, " [%s]\n", assay_code_name(warning->code));
  }
  if (check->n_findings == 0 && !check->cli->quiet) {
    text_add_shown(&text, check->path);
    text_format(&text, ": no fault found (target %s%s)\n", check->target,
                check->contract_path != NULL ? ", contract binds" : "");
  }
  fputs(text_string(&text), stdout);
  assay_status status = text_status(&text);
  text_free(&text);
  return status;
}

/* Prints each finding and answers the exit code of the gravest: a fault of assay itself, then the first. */
static int finish(struct check *check) {
  int code = EXIT_PASS;
  for (int i = 0; i < check->n_findings; i++) {
    int exit_code = cli_exit_code(check->findings[i].code);
    code = code == EXIT_PASS || exit_code == EXIT_INTERNAL ? exit_code : code;
    if (check->cli->json) {
      assay_status_clear(&check->findings[i]);
    } else {
      cli_finish(check->findings[i]);
    }
  }
  model_close(check->flat);
  model_close(check->model);
  arena_free(&check->arena);
  return code;
}

int command_check(struct cli *cli, int argc, char **argv) {
  struct check check = {.cli = cli, .target = "assay"};
  const struct cli_option options[] = {
      {.name = "contract",
       .argument = "FILE",
       .help = "check that the contract binds, too",
       .value = &check.contract_path},
      {.name = "target", .argument = "T", .help = "runtime whose operators count: assay", .value = &check.target},
  };
  int n = 0;
  bool done = false;
  assay_status status = cli_options(
      cli, argc, argv, options, sizeof options / sizeof *options, "check MODEL [options]",
      "Checks a model's structure, operators, types and shapes, and shows every finding with its code.", &n, &done);
  if (done || !assay_status_ok(status)) {
    return cli_finish(status);
  }
  if (n != 1) {
    return cli_finish(status_make(ASSAY_USAGE, NULL, "check takes one model; see `assay check --help`"));
  }
  if (!text_equal(check.target, "assay")) {
    return cli_finish(status_make(ASSAY_USAGE, NULL, "--target is '%s'; assay knows the target 'assay'", check.target));
  }
  check.path = argv[0];
  add_finding(&check, ask_all(&check));
  status = cli->json ? show_json(&check) : show_text(&check);
  int code = finish(&check);
  int shown = cli_finish(status);
  return shown != EXIT_PASS ? shown : code;
}
