/* Between the files of `assay run`: one call of the command. */
#ifndef CLI_RUN_JOB_H
#define CLI_RUN_JOB_H

#include "cli/cli.h"
#include "corpus/run_folder.h"
#include "engine/engine.h"

/* An array of the run folder, in the order written. */
struct kept {
  struct kept *next;
  const char *name;
  assay_tensor tensor;
  bool owned; /* a copy, ended with the job */
};

struct contract;
struct stages_run;
/* What one call of the command holds; ended by job_free. */
struct job {
  struct arena arena;
  const char *model_path, *folder, *precision;
  const char *contract_path;           /* NULL: a model was named */
  const char **inputs, **taps, **keep; /* as given */
  int n_inputs, n_taps, n_keep;
  struct model *model;
  struct session *session;
  struct stages_run *stages; /* instead of model and session */
  struct named_tensor *feeds;
  assay_tensor *tensors;
  const char **digests; /* of the input files */
  int n_feeds;
  struct kept *first, **last;
  size_t n_kept;
  assay_status tap_status; /* of the first tapped value that could not be kept */
};

/* Keeps an array for the run folder as "group/value"; `copy`: it does not live until the folder is written. */
ASSAY_MUST_CHECK assay_status job_keep(struct job *job, const char *group, const char *value,
                                       const assay_tensor *tensor, bool copy);
bool job_is_given(const struct job *job, const char *name);
/* A policy of stages: runs it once and writes its facts; see run_stages.c. The contract is taken over. */
ASSAY_MUST_CHECK assay_status stages_run_open(const struct cli *cli, struct job *job, struct contract *contract,
                                              struct stages_run **out);
ASSAY_MUST_CHECK assay_status stages_run_once(struct stages_run *run, struct job *job);
ASSAY_MUST_CHECK assay_status stages_run_facts(struct stages_run *run, struct job *job, struct run_writer *writer);
void stages_run_close(struct stages_run *run); /* NULL is harmless */

#endif
