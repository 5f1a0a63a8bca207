/* `assay init MODEL... [--from FILE]... [-o DIR]`: drafts contract.yaml and gate.yaml from models and from what
 * deployment files say, and names the questions that are open. It replaces no file. */
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "contract/draft.h"
#include "contract/importer.h"
#include "contract/model_signature.h"
#include "contract/yaml.h"
#include "core/file.h"
#include "core/memory.h"
#include "model/model.h"

/* What one call of the command holds; ended by job_free. */
enum { MODELS_MAX = 16, FILES_MAX = 64 };
struct job {
  struct arena arena;
  const char *folder, *format; /* format NULL: told from the content */
  char *const *model_paths;
  int n_models, n_files;
  const char *files[FILES_MAX];
  char *contract_path, *gate_path;
  struct model *models[MODELS_MAX];
  struct facts *facts;
  struct text contract, gate;
};

static void job_free(struct job *job) {
  for (int i = 0; i < job->n_models; i++) {
    model_close(job->models[i]);
  }
  text_free(&job->contract);
  text_free(&job->gate);
  arena_free(&job->arena);
}

/* The model's path as seen from the folder of the contract; its real path when the two share nothing. */
static assay_status relative_path(struct job *job, const char *model_path, const char **out) {
  char model[PATH_MAX], folder[PATH_MAX];
  if (realpath(model_path, model) == NULL || realpath(job->folder, folder) == NULL) {
    return status_make(ASSAY_FILE_MISSING, model_path, "the path to the model could not be followed from %s",
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
  const char *name = path_name(job->model_paths[0]);
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

/* What the models' metadata and the files of --from say. */
static assay_status gather_facts(struct job *job, const struct signature *signatures, struct facts **out) {
  const char *names[MODELS_MAX];
  const struct signature *each[MODELS_MAX];
  for (int i = 0; i < job->n_models; i++) {
    names[i] = path_name(job->model_paths[i]);
    each[i] = &signatures[i];
  }
  const struct import_models models = {job->n_models, names, each};
  return import_all(&models, job->files, job->n_files, job->format, &job->arena, out);
}

static assay_status make_drafts(struct job *job) {
  job->contract_path = path_join(&job->arena, job->folder, "contract.yaml");
  job->gate_path = path_join(&job->arena, job->folder, "gate.yaml");
  if (job->contract_path == NULL || job->gate_path == NULL) {
    return status_no_memory(strlen(job->folder));
  }
  TRY(refuse_existing(job->contract_path));
  TRY(refuse_existing(job->gate_path));
  struct signature signatures[MODELS_MAX];
  for (int i = 0; i < job->n_models; i++) {
    TRY(model_open(job->model_paths[i], NULL, &job->models[i]));
    TRY(model_signature(job->models[i], &job->arena, &signatures[i]));
  }
  TRY(gather_facts(job, signatures, &job->facts));
  TRY(folder_make(job->folder));
  struct draft_model models[MODELS_MAX];
  for (int i = 0; i < job->n_models; i++) {
    models[i].signature = &signatures[i];
    TRY(relative_path(job, job->model_paths[i], &models[i].path));
  }
  struct draft draft = {.n_models = job->n_models, .models = models, .facts = job->facts};
  TRY(policy_name(job, &draft.policy));
  TRY(draft_contract(&draft, &job->contract));
  return draft_gate(draft.policy, &job->gate);
}

/* A file that the contract names, such as one of statistics, comes beside it; another one of that name stays. */
static assay_status copy_beside(struct job *job, const struct fact_file *file) {
  enum { FILE_BYTES_MAX = 256 << 20 };
  const char *target = path_join(&job->arena, job->folder, file->name);
  if (target == NULL) {
    return status_no_memory(strlen(file->name));
  }
  char *bytes = NULL, *there = NULL;
  size_t size = 0, size_there = 0;
  bool exists = file_exists(target);
  TRY(file_read(file->path, FILE_BYTES_MAX, &bytes, &size));
  assay_status status = exists ? file_read(target, FILE_BYTES_MAX, &there, &size_there) : status_ok();
  if (assay_status_ok(status) && !exists) {
    status = file_replace(target, bytes, size);
  } else if (assay_status_ok(status) && (size != size_there || memcmp(bytes, there, size) != 0)) {
    status = status_make(ASSAY_USAGE, target,
                         "the file exists and differs from %s, which the contract would name; move "
                         "it away or give another -o",
                         file->path);
  }
  memory_free(bytes);
  memory_free(there);
  return status;
}

static assay_status print_json(const struct job *job, const struct open_question *questions, int32_t count) {
  json_t *list = json_array();
  for (int32_t i = 0; i < count; i++) {
    json_array_append_new(list, json_pack("{s:i, s:i, s:s, s:s?, s:s?}", "line", (int)questions[i].mark.line, "column",
                                          (int)questions[i].mark.column, "path", questions[i].path, "hint",
                                          questions[i].hint, "reason", questions[i].reason));
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
  for (int32_t i = 0; i < job->facts->n_files; i++) {
    printf("beside them lies %s, which the contract names\n", job->facts->files[i].name);
  }
  printf(count == 0 ? "no question is open\n"
                    : "open questions (%d), which `assay verify` refuses until they are answered:\n",
         (int)count);
  for (int32_t i = 0; i < count; i++) {
    struct text line = {0};
    text_add_shown(&line, questions[i].path);
    if (questions[i].hint != NULL) {
      text_format(&line, ": %s", questions[i].hint);
    }
    if (questions[i].reason != NULL) {
      text_add(&line, questions[i].hint != NULL ? "; " : ": ");
      text_add_shown(&line, questions[i].reason);
    }
    printf("  %s:%d:%d  %s\n", job->contract_path, (int)questions[i].mark.line, (int)questions[i].mark.column,
           text_string(&line));
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
  for (int32_t i = 0; i < job->facts->n_files; i++) {
    TRY(copy_beside(job, &job->facts->files[i]));
  }
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
  struct job job = {0};
  const struct cli_option options[] = {
      {.name = "from",
       .letter = 'f',
       .argument = "FILE",
       .help = "a deployment file to draft from; may be repeated",
       .many = job.files,
       .count = &job.n_files,
       .capacity = FILES_MAX},
      {.name = "format",
       .argument = "NAME",
       .help = "the format of those files, where the content does not tell",
       .value = &job.format},
      {.name = "output",
       .letter = 'o',
       .argument = "DIR",
       .help = "the policy folder to draft into (here)",
       .value = &folder},
  };
  struct text about = {0};
  text_add(&about,
           "Drafts contract.yaml and gate.yaml from a model (or from several that work as one policy) and\n"
           "from what deployment files say. What neither tells is drafted as TODO, which `assay verify`\n"
           "refuses with its line. Formats, told from the content:\n");
  for (int32_t i = 0; i < n_importers; i++) {
    text_format(&about, "  %-14s %s\n", importers[i].name, importers[i].about);
  }
  about.length -= about.length > 0;
  int n = 0;
  bool done = false;
  assay_status status = text_status(&about);
  if (assay_status_ok(status)) {
    about.data[about.length] = '\0';
    status = cli_options(cli, argc, argv, options, 3, "init MODEL... [--from FILE]... [-o DIR]", text_string(&about),
                         &n, &done);
  }
  text_free(&about);
  if (done || !assay_status_ok(status)) {
    return cli_finish(status);
  }
  if (n < 1 || n > MODELS_MAX) {
    return cli_finish(status_make(ASSAY_USAGE, NULL,
                                  "init takes one model, such as policy.onnx, or up to %d that work "
                                  "as one policy",
                                  (int)MODELS_MAX));
  }
  job.folder = folder;
  job.model_paths = argv;
  job.n_models = n;
  status = init(cli, &job);
  job_free(&job);
  return cli_finish(status);
}
