/* `assay run MODEL --input NAME=F.npy ... -o DIR`: runs a model once by assay's own engine and writes a
 * run folder: outputs, tapped values, and what ran. It judges nothing. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/run_job.h"
#include "contract/contract.h"
#include "contract/sealed_path.h"
#include "core/file.h"
#include "core/hash.h"
#include "core/text.h"
#include "corpus/run_folder.h"
#include "engine/engine.h"
#include "tensor/npy.h"
#include "tensor/npz.h"

enum { INPUTS_MAX = 1024, TAPS_MAX = 4096, KEEP_MAX = 4096 };

static void job_free(struct job *job) {
  for (int i = 0; i < job->n_feeds; i++) {
    tensor_free(&job->tensors[i]);
  }
  for (struct kept *kept = job->first; kept != NULL; kept = kept->next) {
    if (kept->owned) {
      tensor_free(&kept->tensor);
    }
  }
  assay_status_clear(&job->tap_status);
  stages_run_close(job->stages);
  session_close(job->session);
  model_close(job->model);
  arena_free(&job->arena);
}

/* --- inputs -------------------------------------------------------------- */

static assay_status read_input(struct job *job, const char *argument) {
  const char *equals = strrchr(argument, '=');
  if (equals == NULL || equals == argument || equals[1] == '\0') {
    return status_make(ASSAY_USAGE, NULL, "--input is '%s'; it must be NAME=FILE.npy", argument);
  }
  char *name = arena_copy(&job->arena, argument, (size_t)(equals - argument));
  char *digest = arena_alloc(&job->arena, HASH_TEXT_SIZE, 1);
  if (name == NULL || digest == NULL) {
    return status_no_memory(strlen(argument));
  }
  TRY(sealed_path_check(equals + 1));
  TRY(npy_read(equals + 1, &job->tensors[job->n_feeds]));
  job->feeds[job->n_feeds] = (struct named_tensor){name, &job->tensors[job->n_feeds]};
  job->digests[job->n_feeds++] = digest;
  return hash_file(equals + 1, digest);
}

bool job_is_given(const struct job *job, const char *name) {
  for (int i = 0; i < job->n_feeds; i++) {
    if (text_equal(job->feeds[i].name, name)) {
      return true;
    }
  }
  return false;
}

static void describe_declared(const struct value_type *type, struct text *out) {
  text_format(out, "%s", assay_dtype_name(type->dtype));
  text_add(out, type->rank == RANK_UNKNOWN ? " of any shape" : "[");
  for (int32_t i = 0; i < type->rank; i++) {
    text_add(out, i > 0 ? "," : "");
    if (type->dims[i].value >= 0) {
      text_format(out, "%lld", (long long)type->dims[i].value);
    } else {
      text_add(out, type->dims[i].symbol != NULL ? type->dims[i].symbol : "?");
    }
  }
  text_add(out, type->rank == RANK_UNKNOWN ? "" : "]");
}

/* A misspelt name is told as that, and not as a missing input. */
static assay_status check_names(const struct job *job) {
  const struct graph *graph = job->model->graph;
  for (int i = 0; i < job->n_feeds; i++) {
    const char *name = job->feeds[i].name;
    struct text names = {0};
    bool known = false;
    for (int32_t j = 0; j < graph->n_inputs; j++) {
      const char *there = graph->values[graph->inputs[j]].name;
      known = known || text_equal(there, name);
      text_format(&names, "%s'%s'", j > 0 ? ", " : "", there);
    }
    assay_status status = text_status(&names);
    if (assay_status_ok(status) && !known) {
      status =
          status_make(ASSAY_INPUT_EXTRA, job->model_path, "'%s' is given, and the model has no such input; it has %s",
                      name, names.length == 0 ? "none" : text_string(&names));
    }
    text_free(&names);
    TRY(status);
  }
  return status_ok();
}

/* All missing inputs in one sentence, so that the next call can be right. */
static assay_status check_missing(const struct job *job) {
  const struct graph *graph = job->model->graph;
  struct text missing = {0};
  for (int32_t i = 0; i < graph->n_inputs; i++) {
    const struct value *value = &graph->values[graph->inputs[i]];
    if (value->initializer < 0 && !job_is_given(job, value->name)) {
      text_format(&missing, "%s'%s' (", missing.length > 0 ? ", " : "", value->name);
      describe_declared(&value->declared, &missing);
      text_add(&missing, ")");
    }
  }
  assay_status status = text_status(&missing);
  if (assay_status_ok(status) && missing.length > 0) {
    status = status_make(ASSAY_INPUT_MISSING, job->model_path, "missing: %s; give each as --input NAME=FILE.npy",
                         text_string(&missing));
  }
  text_free(&missing);
  return status;
}

/* --- taps and outputs ----------------------------------------------------- */

/* Is a value of this name kept already? A value inside a loop is tapped at every turn. */
static bool is_kept(const struct job *job, const char *name) {
  for (const struct kept *kept = job->first; kept != NULL; kept = kept->next) {
    if (text_equal(kept->name, name)) {
      return true;
    }
  }
  return false;
}

assay_status job_keep(struct job *job, const char *group, const char *value, const assay_tensor *tensor, bool copy) {
  struct kept *kept;
  ARENA_NEW(&job->arena, kept, 1);
  kept->name = arena_format(&job->arena, "%s/%s", group, value);
  for (int turn = 2; kept->name != NULL && is_kept(job, kept->name); turn++) {
    kept->name = arena_format(&job->arena, "%s/%s@%d", group, value, turn);
  }
  if (kept->name == NULL) {
    return status_no_memory(strlen(value));
  }
  kept->tensor = *tensor;
  if (copy) {
    TRY(tensor_copy(tensor, &kept->tensor));
    kept->owned = true;
  }
  *job->last = kept;
  job->last = &kept->next;
  job->n_kept++;
  return status_ok();
}

static void keep_tap(void *user, const struct node *node, const char *value, const assay_tensor *tensor) {
  (void)node;
  struct job *job = user;
  if (assay_status_ok(job->tap_status)) {
    job->tap_status = job_keep(job, "taps", value, tensor, true);
  }
}

static assay_status run(struct job *job) {
  struct session_run call = {.inputs = job->feeds,
                             .n_inputs = (size_t)job->n_feeds,
                             .taps = job->taps,
                             .n_taps = (size_t)job->n_taps,
                             .tap = keep_tap,
                             .tap_user = job};
  const struct named_tensor *outputs;
  size_t n;
  TRY(session_run(job->session, &call, &outputs, &n));
  assay_status status = job->tap_status;
  job->tap_status = status_ok();
  for (size_t i = 0; i < n && assay_status_ok(status); i++) {
    status = job_keep(job, "outputs", outputs[i].name, outputs[i].tensor, false);
  }
  return status;
}

/* --- the run folder --------------------------------------------------------- */

static assay_status write_model_facts(struct job *job, struct run_writer *writer) {
  char digest[HASH_TEXT_SIZE], graph[GRAPH_DIGEST_SIZE], threads[16];
  struct session_info info;
  session_describe(job->session, &info);
  snprintf(threads, sizeof threads, "%d", info.threads);
  TRY(hash_file(job->model_path, digest));
  TRY(model_digest(job->model, graph));
  const char *const facts[][2] = {{"engine", "assay"},
                                  {"version", ASSAY_VERSION},
                                  {"model", path_name(job->model_path)},
                                  {"model_digest", digest},
                                  {"graph_digest", graph},
                                  {"precision", precision_name(info.precision)},
                                  {"accumulator", info.accumulator},
                                  {"rounding", info.rounding},
                                  {"kernels", info.kernels},
                                  {"threads", threads}};
  for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
    TRY(run_writer_fact(writer, facts[i][0], facts[i][1]));
  }
  return status_ok();
}

static assay_status write_facts(struct job *job, struct run_writer *writer) {
  TRY(job->stages != NULL ? stages_run_facts(job->stages, job, writer) : write_model_facts(job, writer));
  for (int i = 0; i < job->n_keep; i++) {
    char *key = arena_format(&job->arena, "keep/%d", i);
    TRY(key == NULL ? status_no_memory(8) : run_writer_fact(writer, key, job->keep[i]));
  }
  for (int i = 0; i < job->n_feeds; i++) {
    char *key = arena_format(&job->arena, "input/%s", job->feeds[i].name);
    TRY(key == NULL ? status_no_memory(8) : run_writer_fact(writer, key, job->digests[i]));
  }
  return status_ok();
}

static assay_status write_case(struct job *job, struct run_writer *writer) {
  struct npz_entry *entries;
  ARENA_NEW(&job->arena, entries, job->n_kept);
  size_t n = 0;
  for (const struct kept *kept = job->first; kept != NULL; kept = kept->next) {
    entries[n++] = (struct npz_entry){kept->name, &kept->tensor};
  }
  return run_writer_case(writer, "run", entries, n);
}

static assay_status write_folder(struct job *job) {
  struct run_writer *writer;
  TRY(run_writer_open(job->folder, &writer));
  assay_status status = write_facts(job, writer);
  if (assay_status_ok(status)) {
    status = write_case(job, writer);
  }
  if (!assay_status_ok(status)) {
    run_writer_abandon(writer);
    return status;
  }
  return run_writer_commit(writer);
}

/* One line an output: name, type, and the range of its values. */
static assay_status show_outputs(const struct cli *cli, const struct job *job) {
  for (const struct kept *kept = job->first; !cli->quiet && kept != NULL; kept = kept->next) {
    struct text line = {0};
    text_add_shown(&line, kept->name);
    text_add(&line, "  ");
    tensor_describe(&kept->tensor, &line);
    double low = INFINITY, high = -INFINITY;
    int64_t nan = 0, count = kept->tensor.dtype == ASSAY_STRING ? 0 : tensor_count(&kept->tensor);
    bool complex = kept->tensor.dtype == ASSAY_COMPLEX64 || kept->tensor.dtype == ASSAY_COMPLEX128;
    for (int64_t i = 0; i < count && !complex; i++) {
      double value = tensor_get(&kept->tensor, i);
      nan += isnan(value) ? 1 : 0;
      low = value < low ? value : low;
      high = value > high ? value : high;
    }
    if (low <= high) {
      text_format(&line, "  %.9g to %.9g", low, high);
    }
    if (nan > 0) {
      text_format(&line, "  %lld NaN", (long long)nan);
    }
    assay_status status = text_status(&line);
    if (assay_status_ok(status)) {
      puts(text_string(&line));
    }
    text_free(&line);
    TRY(status);
  }
  return status_ok();
}

/* --- the command -------------------------------------------------------------- */

static assay_status read_inputs(struct job *job) {
  ARENA_NEW(&job->arena, job->tensors, job->n_inputs + 1);
  ARENA_NEW(&job->arena, job->feeds, job->n_inputs + 1);
  ARENA_NEW(&job->arena, job->digests, job->n_inputs + 1);
  for (int i = 0; i < job->n_inputs; i++) {
    TRY(read_input(job, job->inputs[i]));
  }
  return status_ok();
}

static assay_status open_session(const struct cli *cli, struct job *job) {
  struct session_options options = {.threads = cli->threads,
                                    .kernel_level = -1,
                                    .keep_dead = job->n_taps > 0,
                                    .keep = job->keep,
                                    .n_keep = job->n_keep};
  if (job->precision != NULL && !precision_find(job->precision, &options.precision)) {
    return status_make(ASSAY_USAGE, NULL, "--precision is '%s'; it must be fp32, fp64, tf32, bf16 or fp16",
                       job->precision);
  }
  TRY(model_open(job->model_path, NULL, &job->model));
  TRY(read_inputs(job));
  TRY(check_names(job));
  TRY(check_missing(job));
  return status_prefix(session_open(job->model, &options, &job->session), "%s", job->model_path);
}

/* What the contract names is run: its one file, or all of its stages. */
static assay_status open_contract(const struct cli *cli, struct job *job) {
  struct contract *contract;
  const char *path = job->contract_path;
  if (file_is_folder(path)) {
    path = path_join(&job->arena, path, "contract.yaml");
  }
  TRY(path != NULL ? contract_read(path, &contract) : status_no_memory(strlen(job->contract_path)));
  if (contract->stages != NULL) {
    assay_status status = read_inputs(job);
    if (!assay_status_ok(status)) {
      contract_free(contract);
      return status;
    }
    return stages_run_open(cli, job, contract, &job->stages);
  }
  const char *folder = path_folder(&job->arena, path);
  job->model_path = folder != NULL ? path_join(&job->arena, folder, contract->model) : NULL;
  contract_free(contract);
  return job->model_path != NULL ? open_session(cli, job) : status_no_memory(strlen(path));
}

static assay_status do_job(const struct cli *cli, struct job *job) {
  TRY(job->contract_path != NULL ? open_contract(cli, job) : open_session(cli, job));
  TRY(job->stages != NULL ? stages_run_once(job->stages, job) : run(job));
  TRY(write_folder(job));
  return show_outputs(cli, job);
}

static assay_status parse(struct cli *cli, struct job *job, int argc, char **argv, bool *done) {
  ARENA_NEW(&job->arena, job->inputs, INPUTS_MAX);
  ARENA_NEW(&job->arena, job->taps, TAPS_MAX);
  ARENA_NEW(&job->arena, job->keep, KEEP_MAX);
  const struct cli_option options[] = {
      {"input", 'i', "NAME=FILE", "the array for an input, a .npy file; once for each input", .many = job->inputs,
       .count = &job->n_inputs, .capacity = INPUTS_MAX},
      {"output", 'o', "DIR", "the run folder to write", .value = &job->folder},
      {"precision", 'p', "P", "fp32 (default), fp64, or emulated tf32, bf16, fp16", .value = &job->precision},
      {"keep", 0, "NODE", "leave this node in fp32 under an emulated precision", .many = job->keep,
       .count = &job->n_keep, .capacity = KEEP_MAX},
      {"contract", 0, "F", "run the policy of this contract or folder instead of MODEL: all of its stages",
       .value = &job->contract_path},
      {"tap", 't', "NAME", "write this inner value, too (STAGE/NAME of a policy of stages); '*' for all",
       .many = job->taps, .count = &job->n_taps, .capacity = TAPS_MAX},
  };
  int n = 0;
  TRY(cli_options(
      cli, argc, argv, options, sizeof options / sizeof *options, "run MODEL --input NAME=F.npy... -o DIR",
      "Runs a model, or with --contract a policy of several, once by assay's own engine and writes a run folder.", &n,
      done));
  if (*done) {
    return status_ok();
  }
  if (n != (job->contract_path != NULL ? 0 : 1) || job->folder == NULL) {
    return status_make(ASSAY_USAGE, NULL,
                       "run takes one MODEL, or --contract F instead, and -o DIR; see `assay run --help`");
  }
  job->model_path = argv[0];
  return status_ok();
}

int command_run(struct cli *cli, int argc, char **argv) {
  struct job job = {.last = &job.first};
  bool done = false;
  assay_status status = parse(cli, &job, argc, argv, &done);
  if (assay_status_ok(status) && !done) {
    status = do_job(cli, &job);
  }
  job_free(&job);
  return cli_finish(status);
}
