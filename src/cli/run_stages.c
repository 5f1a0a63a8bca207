/* `assay run --contract F` for a policy of stages: all of its files as one, by assay's own engine. What stood between
 * the stages is written under taps/, so that the run can serve a gate as a recorded rung. It judges nothing. */
#include <stdio.h>
#include <string.h>

#include "cli/run_job.h"
#include "contract/apply.h"
#include "contract/stages.h"
#include "core/hash.h"
#include "core/memory.h"
#include "rung/rung.h"

struct stages_run {
  struct arena arena;
  struct contract *contract;
  struct bound_stages *bound;
  const char *const *paths;
  struct rung *rung;
  struct rung_tensor *inputs;
};

void stages_run_close(struct stages_run *run) {
  if (run != NULL) {
    rung_close(run->rung);
    contract_free(run->contract);
    arena_free(&run->arena);
    memory_free(run);
  }
}

/* The names first, since a misspelt one is often the reason why another is missing. */
static assay_status check_feeds(const struct stages_run *run, const struct job *job) {
  const struct contract *contract = run->contract;
  struct text names = {0};
  assay_status status = status_ok();
  for (int32_t i = 0; i < contract->n_inputs; i++) {
    text_format(&names, "%s'%s'", i > 0 ? ", " : "", contract->inputs[i].name);
  }
  for (int i = 0; i < job->n_feeds && assay_status_ok(status); i++) {
    if (contract_find_input(contract, job->feeds[i].name) == NULL) {
      status =
          status_make(ASSAY_INPUT_EXTRA, contract->path, "'%s' is given, and the policy has no such input; it has %s",
                      job->feeds[i].name, text_string(&names));
    }
  }
  text_clear(&names);
  for (int32_t i = 0; i < contract->n_inputs; i++) {
    const struct contract_input *input = &contract->inputs[i];
    if (!job_is_given(job, input->name)) {
      text_format(&names, "%s'%s' (%s", names.length > 0 ? ", " : "", input->name, assay_dtype_name(input->dtype));
      contract_describe_dims(input->dims, input->rank, &names);
      text_add(&names, ")");
    }
  }
  if (assay_status_ok(status) && names.length > 0) {
    status = status_make(ASSAY_INPUT_MISSING, contract->path, "missing: %s; give each as --input NAME=FILE.npy",
                         text_string(&names));
  }
  text_free(&names);
  return status;
}

static assay_status open_into(const struct cli *cli, struct job *job, struct stages_run *run) {
  struct rung_request request = {.name = run->contract->policy,
                                 .engine = "assay",
                                 .precision = job->precision,
                                 .threads = cli->threads,
                                 .n_keep = job->n_keep,
                                 .keep = job->keep};
  TRY(stages_paths(run->contract, &run->arena, &run->paths));
  TRY(stages_bind_files(run->contract, run->paths, &run->arena, &run->bound));
  TRY(check_feeds(run, job));
  request.stages = run->bound;
  request.stage_models = run->paths;
  ARENA_NEW(&run->arena, run->inputs, job->n_feeds + 1);
  for (int i = 0; i < job->n_feeds; i++) {
    run->inputs[i] = (struct rung_tensor){job->feeds[i].name, *job->feeds[i].tensor};
  }
  return rung_open(&request, &run->rung);
}

assay_status stages_run_open(const struct cli *cli, struct job *job, struct contract *contract,
                             struct stages_run **out) {
  struct stages_run *run = memory_alloc(1, sizeof *run);
  *out = run; /* the job ends it, whatever comes of it */
  if (run == NULL) {
    contract_free(contract);
    return status_no_memory(sizeof *run);
  }
  run->contract = contract;
  return open_into(cli, job, run);
}

static void keep_tap(void *user, const char *value, const assay_tensor *tensor) {
  struct job *job = user;
  if (assay_status_ok(job->tap_status)) {
    job->tap_status = job_keep(job, "taps", value, tensor, true);
  }
}

assay_status stages_run_once(struct stages_run *run, struct job *job) {
  struct rung_call call = {.case_id = "run",
                           .inputs = run->inputs,
                           .n_inputs = job->n_feeds,
                           .taps = job->taps,
                           .n_taps = job->n_taps,
                           .tap = keep_tap,
                           .tap_user = job};
  struct rung_answer answer;
  TRY(rung_run(run->rung, &call, &answer));
  assay_status status = job->tap_status;
  job->tap_status = status_ok();
  for (int32_t i = 0; i < answer.n_outputs && assay_status_ok(status); i++) {
    status = job_keep(job, "outputs", answer.outputs[i].name, &answer.outputs[i].tensor, false);
  }
  for (int32_t i = 0; i < answer.n_inner && assay_status_ok(status); i++) {
    bool output = contract_find_output(run->contract, answer.inner[i].name) != NULL;
    status = output ? status_ok() : job_keep(job, "taps", answer.inner[i].name, &answer.inner[i].tensor, false);
  }
  return status;
}

static assay_status add_fact(struct run_writer *writer, const char *key, const char *value) {
  return value != NULL ? run_writer_fact(writer, key, value) : status_ok();
}

assay_status stages_run_facts(struct stages_run *run, struct job *job, struct run_writer *writer) {
  struct rung_actual actual;
  char threads[16];
  rung_describe(run->rung, &actual);
  snprintf(threads, sizeof threads, "%d", actual.threads);
  TRY(add_fact(writer, "engine", actual.engine));
  TRY(add_fact(writer, "version", actual.version));
  TRY(add_fact(writer, "precision", actual.precision));
  TRY(add_fact(writer, "accumulator", actual.accumulator));
  TRY(run_writer_fact(writer, "emulated", actual.emulated ? "true" : "false"));
  TRY(run_writer_fact(writer, "threads", threads));
  for (int32_t s = 0; s < run->bound->n_stages; s++) {
    const char *stage = run->bound->stages[s].stage->name;
    char digest[HASH_TEXT_SIZE];
    char *model = arena_format(&job->arena, "%s/model", stage),
         *key = arena_format(&job->arena, "%s/model_digest", stage);
    TRY(model == NULL || key == NULL ? status_no_memory(strlen(stage)) : hash_file(run->paths[s], digest));
    TRY(run_writer_fact(writer, model, run->bound->stages[s].stage->model));
    TRY(run_writer_fact(writer, key, digest));
  }
  return status_ok();
}
