/* A run folder: run.yaml and one .npz per case with outputs/<tensor> (and
 * taps/<tensor>). What `assay run -o`, a recorded rung and `assay compare` share.
 * Same answers and facts, same bytes. */
#ifndef CORPUS_RUN_FOLDER_H
#define CORPUS_RUN_FOLDER_H

#include "corpus/corpus.h"
#include "tensor/npz.h"

/* Facts that a run states of itself: key and value in the order written. */
struct run_fact {
  const char *key, *value;
};

struct run_writer;
/* Stages a new folder; nothing stands at `folder` until run_writer_commit. A folder that is there
 * already is replaced only when it is a run folder or empty. */
ASSAY_MUST_CHECK assay_status run_writer_open(const char *folder, struct run_writer **out);
ASSAY_MUST_CHECK assay_status run_writer_fact(struct run_writer *writer, const char *key, const char *value);
/* entries are named outputs/..., taps/... */
ASSAY_MUST_CHECK assay_status run_writer_case(struct run_writer *writer, const char *id,
                                              const struct npz_entry *entries, size_t count);
/* Commits and frees, also when it fails. */
ASSAY_MUST_CHECK assay_status run_writer_commit(struct run_writer *writer);
void run_writer_abandon(struct run_writer *writer); /* NULL is harmless */

struct run_folder {
  struct arena arena;
  const char *folder;
  int32_t n_facts, n_cases, n_dtypes;
  const struct run_fact *facts;
  const struct corpus_dtype *dtypes; /* arrays stored as unsigned bits, as in a corpus */
  const char **ids;                  /* sorted by bytes */
  const char **files;                /* relative, inside the folder */
  const char **digests;
};
ASSAY_MUST_CHECK assay_status run_folder_open(const char *folder, struct run_folder **out);
void run_folder_close(struct run_folder *run);
int32_t run_folder_find(const struct run_folder *run, const char *id);      /* -1 when absent */
const char *run_folder_fact(const struct run_folder *run, const char *key); /* NULL when absent */
/* The outputs and taps of case i (names without prefix); ended with case_data_free. steps is 1:
 * whether the arrays carry steps, the corpus says. */
ASSAY_MUST_CHECK assay_status run_folder_load(const struct run_folder *run, int32_t i, struct case_data **out);

#endif
