/* gate.yaml: the ladder, what it is compared with, and what each rung must keep
 * to. Parsed strictly; constant afterwards; lives in one arena. */
#ifndef GATE_GATE_FILE_H
#define GATE_GATE_FILE_H

#include "contract/contract.h"
#include "rung/rung.h"

/* How a runtime is compared with itself. */
struct gate_noise {
  bool given;        /* false: few cases and few repeats, so that a gate stays quick; the report says so */
  int32_t cases;     /* how many of the first cases; 0: few */
  int32_t repeats;   /* answers of the first case again at once */
  int32_t processes; /* runs in fresh processes */
  int32_t rebuild;   /* fresh sessions in this process */
  int32_t n_threads;
  const int32_t *threads; /* thread counts that must not change the answer */
};

/* A rung's own tolerance for a component, or for all of them. Fields that the gate does
 * not give are NAN, or -1 for counts: the contract's stand. */
struct gate_tolerance {
  const char *component; /* "wrist" or "action/wrist"; NULL: every component */
  struct mark mark;
  double max, mean, p99, rms;
  int64_t sign_flips, saturation;
  int32_t space;      /* 0: physical, 1: raw, -1: not given */
  const char *reason; /* needed when anything is looser than in the contract */
};

/* The file that one stage of a policy has on a rung. */
struct gate_stage_model {
  const char *stage, *path; /* joined to the gate's folder */
  struct mark mark;
};

struct gate_rung {
  struct mark mark;
  struct rung_request request; /* paths relative to the gate's folder already joined */
  bool own_model;              /* the gate names a model; otherwise it is the contract's */
  bool required;
  int32_t n_models; /* files of stages that differ from the contract's */
  const struct gate_stage_model *models;
  int32_t n_tolerances;
  const struct gate_tolerance *tolerances;
};

struct gate_file {
  struct arena arena;
  const char *path, *folder;
  const char *contract_path, *corpus_path; /* joined to the folder */
  const char *contract_name, *corpus_name; /* as written */
  struct mark contract_mark, corpus_mark;  /* and where */
  const char *ledger_path;                 /* joined; NULL: the folder `ledger` of the policy folder */
  const char *sealed_path, *sealed_name;   /* the sealed corpus, joined and as written; NULL: not given */
  const char *reference;                   /* "recorded" or a rung's name */
  int32_t reference_rung;                  /* its index; -1 for recorded */
  struct gate_noise noise;
  bool constrain; /* a control group is asked for */
  int32_t n_rungs;
  const struct gate_rung *rungs;
};

ASSAY_MUST_CHECK assay_status gate_file_read(const char *path, struct gate_file **out);
/* The same from text; relative paths are joined to `folder`. */
ASSAY_MUST_CHECK assay_status gate_file_parse(const char *text, size_t size, const char *path, const char *folder,
                                              struct gate_file **out);
void gate_file_free(struct gate_file *gate); /* NULL is harmless */

/* Holds the rungs against the contract: every tolerance names a component, and what is looser gives a
 * reason; models are named as the policy has them, one file or stages. GATE_INVALID otherwise. */
ASSAY_MUST_CHECK assay_status gate_file_bind(const struct gate_file *gate, const struct contract *contract);
/* The tolerance in force for a component on a rung; *reason is that of a looser one, or NULL. */
struct tolerance gate_tolerance_of(const struct gate_rung *rung, const struct contract_output *output,
                                   const struct contract_component *component, const char **reason);

#endif
