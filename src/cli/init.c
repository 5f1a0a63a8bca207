/* `assay init MODEL [-o DIR]`: drafts contract.yaml and gate.yaml from a model and says which questions
 * are open. It replaces no file. */
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "contract/draft.h"
#include "contract/model_signature.h"
#include "contract/yaml.h"
#include "core/file.h"
#include "model/model.h"

/* What one call of the command holds; ended by job_free. */
struct job {
  struct arena arena;
  const char *model_path, *folder;
  char *contract_path, *gate_path;
  struct model *model;
  struct text contract, gate;
};

static void job_free(struct job *job) {
  model_close(job->model);
  text_free(&job->contract);
  text_free(&job->gate);
  arena_free(&job->arena);
}

/* The model's path as seen from the folder of the contract; its real path when the two share nothing. */
static assay_status relative_path(struct job *job, const char **out) {
  char model[PATH_MAX], folder[PATH_MAX];
  if (realpath(job->model_path, model) == NULL || realpath(job->folder, folder) == NULL) {
    return status_make(ASSAY_FILE_MISSING, job->model_path, "the path to the model could not be followed from %s",
                       job->folder);
  }
  size_t common = 0, i = 0;
  while (folder[i] != '\0' && folder[i] == model[i]) {
    i++;
    bool boundary = (folder[i] == '/' || folder[i] == '\0') && model[i] == '/';
    common = boundary ? i : common;
  }
  struct text path = {0};
  for (const char *rest = folder + common; *rest != '\0'; rest++) {
    bool step = *rest == '/' && rest[1] != '\0';
    text_add(&path, step ? "../" : "");
  }
  text_add(&path, model + common + (model[common] == '/'));
  *out = arena_string(&job->arena, text_string(&path));
  assay_status status = *out == NULL ? status_no_memory(path.length) : text_status(&path);
  text_free(&path);
  return status;
}

/* "reach" for "models/reach.onnx"; the name of the policy folder where the file's own name says nothing. */
static assay_status policy_name(struct job *job, const char **out) {
  const char *name = path_name(job->model_path);
  char folder[PATH_MAX];
  bool says_nothing = text_equal(name, "policy.onnx") || text_equal(name, "model.onnx");
  if (says_nothing && realpath(job->folder, folder) != NULL && path_name(folder)[0] != '\0') {
    *out = arena_string(&job->arena, path_name(folder));
    return *out != NULL ? status_ok() : status_no_memory(strlen(folder));
  }
  const char *dot = strrchr(name, '.');
  *out = arena_copy(&job->arena, name, dot != NULL && dot != name ? (size_t)(dot - name) : strlen(name));
  return *out != NULL ? status_ok() : status_no_memory(strlen(name));
}

static assay_status refuse_existing(const char *path) {
  if (!file_exists(path)) {
    return status_ok();
  }
  return status_make(ASSAY_USAGE, path,
                     "the file exists, and a draft replaces nothing; move it away or give another -o");
}

static assay_status make_drafts(struct job *job) {
  job->contract_path = path_join(&job->arena, job->folder, "contract.yaml");
  job->gate_path = path_join(&job->arena, job->folder, "gate.yaml");
  if (job->contract_path == NULL || job->gate_path == NULL) {
    return status_no_memory(strlen(job->folder));
  }
  TRY(refuse_existing(job->contract_path));
  TRY(refuse_existing(job->gate_path));
  TRY(model_open(job->model_path, NULL, &job->model));
  TRY(folder_make(job->folder));
  struct signature signature;
  const char *policy, *path;
  TRY(model_signature(job->model, &job->arena, &signature));
  TRY(policy_name(job, &policy));
  TRY(relative_path(job, &path));
  TRY(draft_contract(&signature, policy, path, &job->contract));
  return draft_gate(policy, &job->gate);
}

static assay_status print_json(const struct job *job, const struct open_question *questions, int32_t count) {
  json_t *list = json_array();
  for (int32_t i = 0; i < count; i++) {
    json_array_append_new(
        list, json_pack("{s:i, s:i, s:s, s:s?}", "line", (int)questions[i].mark.line, "column",
                        (int)questions[i].mark.column, "path", questions[i].path, "hint", questions[i].hint));
  }
  json_t *root =
      json_pack("{s:s, s:s, s:o}", "contract", job->contract_path, "gate", job->gate_path, "open_questions", list);
  char *text = root != NULL ? json_dumps(root, JSON_INDENT(2) | JSON_ENSURE_ASCII) : NULL;
  json_decref(root);
  if (text == NULL) {
    return status_no_memory((size_t)count * sizeof *questions);
  }
  puts(text);
  free(text);
  return status_ok();
}

static void print_questions(const struct cli *cli, const struct job *job, const struct open_question *questions,
                            int32_t count) {
  if (cli->quiet) {
    return;
  }
  printf("wrote %s and %s\n", job->contract_path, job->gate_path);
  printf(count == 0 ? "no question is open\n"
                    : "open questions (%d), which `assay verify` refuses until they are answered:\n",
         (int)count);
  for (int32_t i = 0; i < count; i++) {
    struct text line = {0};
    text_add_shown(&line, questions[i].path);
    printf("  %s:%d:%d  %s%s%s\n", job->contract_path, (int)questions[i].mark.line, (int)questions[i].mark.column,
           text_string(&line), questions[i].hint != NULL ? ": " : "",
           questions[i].hint != NULL ? questions[i].hint : "");
    text_free(&line);
  }
}

static assay_status init(const struct cli *cli, struct job *job) {
  TRY(make_drafts(job));
  struct yaml_file file;
  struct open_question *questions;
  int32_t count;
  TRY(yaml_parse(job->contract.data, job->contract.length, job->contract_path, ASSAY_CONTRACT_INVALID, &job->arena,
                 &file));
  TRY(yaml_open_questions(&file, &job->arena, &questions, &count));
  TRY(file_replace(job->contract_path, job->contract.data, job->contract.length));
  TRY(file_replace(job->gate_path, job->gate.data, job->gate.length));
  if (cli->json) {
    return print_json(job, questions, count);
  }
  print_questions(cli, job, questions, count);
  return status_ok();
}

int command_init(struct cli *cli, int argc, char **argv) {
  const char *folder = ".";
  const struct cli_option options[] = {
      {.name = "output",
       .letter = 'o',
       .argument = "DIR",
       .help = "the policy folder to draft into (here)",
       .value = &folder},
  };
  int n = 0;
  bool done = false;
  assay_status status = cli_options(cli, argc, argv, options, 1, "init MODEL [-o DIR]",
                                    "Drafts contract.yaml and gate.yaml from a model. What the model cannot tell is\n"
                                    "drafted as TODO, which `assay verify` refuses with its line.",
                                    &n, &done);
  if (done || !assay_status_ok(status)) {
    return cli_finish(status);
  }
  if (n != 1) {
    return cli_finish(status_make(ASSAY_USAGE, NULL, "init takes one model, such as policy.onnx"));
  }
  struct job job = {.model_path = argv[0], .folder = folder};
  status = init(cli, &job);
  job_free(&job);
  return cli_finish(status);
}
