/* Between the files of coverage: watching one input, one output or one decision over all samples, and
 * saying at the end what was seen. */
#ifndef CORPUS_COVERAGE_WATCH_H
#define CORPUS_COVERAGE_WATCH_H

#include "contract/apply.h"
#include "corpus/coverage.h"

/* Largest difference of every pair of n things; NULL where there are too many to look at. */
struct pair_watch {
  int32_t n;
  double *largest; /* n * n, used above the diagonal */
};
static inline double pair_watch_difference(const struct pair_watch *watch, int32_t a, int32_t b) {
  return watch->largest[(size_t)a * (size_t)watch->n + (size_t)b];
}

struct input_watch {
  struct coverage_input input;
  const struct contract_input *contract; /* NULL: none */
  int32_t rank;
  int64_t dims[ASSAY_RANK_MAX]; /* of the first sample */
  double *first, *values;
  bool *varies;
  struct pair_watch pairs;
  bool image; /* elements of an image have no names */
};
ASSAY_MUST_CHECK assay_status input_watch_see(struct input_watch *watch, struct arena *arena,
                                              const assay_tensor *sample);
void input_watch_end(struct input_watch *watch);

struct output_watch {
  const char *name;
  const struct contract_output *contract;
  int32_t axis; /* of the components; -1: the whole output is one */
  int32_t n;
  struct coverage_component *components;
  struct pair_watch pairs;
  double *values; /* decoded */
  int64_t n_values;
  int32_t n_decisions; /* those of components first */
  struct decision_watch *decisions;
};
/* A sample that does not fit the contract is not looked at, and *fits says so. `inputs` are what it answers. */
ASSAY_MUST_CHECK assay_status output_watch_see(struct output_watch *watch, struct arena *arena,
                                               const assay_tensor *sample, const struct fed_inputs *inputs, bool *fits);
void output_watch_end(struct output_watch *watch);

struct decision_watch {
  struct coverage_decision seen;
  int32_t component; /* -1: over the whole output */
  uint64_t *answers; /* keys of the answers seen; COVERAGE_ANSWERS_MAX of them */
};
ASSAY_MUST_CHECK assay_status decision_watch_begin(struct decision_watch *watch, struct arena *arena);
void decision_watch_threshold(struct decision_watch *watch, double value, assay_dtype dtype);
/* A slice of n values, `stride` apart, that an argmax, top-k or order decides over. */
ASSAY_MUST_CHECK assay_status decision_watch_slice(struct decision_watch *watch, const double *values, int64_t n,
                                                   int64_t stride);

/* What corpus.yaml alone tells: coverage_index.c. */
ASSAY_MUST_CHECK assay_status coverage_count_tags(struct coverage *coverage);
ASSAY_MUST_CHECK assay_status coverage_count_refusals(struct coverage *coverage);
ASSAY_MUST_CHECK assay_status coverage_count_lineage(struct coverage *coverage);

#endif
