/* What a corpus covers, and what it cannot tell apart: the figures that `assay corpus show` prints. A
 * judge of the corpus, not of a policy: nothing here compares a rung. Every step of a sequence and every
 * single case is one sample; invalid cases count among refusals alone. */
#ifndef CORPUS_COVERAGE_H
#define CORPUS_COVERAGE_H

#include "contract/contract.h"
#include "core/progress.h"
#include "corpus/corpus.h"

struct coverage_tag {
  const char *key, *value;
  int32_t n_cases;
};

/* A code that an invalid input can get. */
struct coverage_refusal {
  assay_code code;
  int32_t n_cases;
  bool applies; /* the contract asks for what the code is about; true without a contract */
};

/* Values seen. min and max are of the finite ones, NAN when there is none. */
struct coverage_range {
  int64_t n, nan, inf;
  double min, max;
};

/* One input tensor over all samples. */
struct coverage_input {
  const char *name, *unit; /* unit: NULL when not given */
  bool is_state;           /* carried from step to step; it need not be fed */
  int64_t n_samples;
  struct coverage_range seen;
  bool has_legal, has_typical;
  double legal_min, legal_max, typical_min, typical_max;
  int64_t outside_legal, outside_typical; /* elements */
  double share;                           /* of the legal (else typical) range, from smallest to largest; NAN: none */
  int64_t n_elements, n_constant; /* elements of a sample, and those with one value in all samples; -1: shapes vary */
  int32_t n_ages;                 /* cases that give an age */
  double age_min, age_max, max_age_ms; /* max_age_ms: 0 when not limited */
};

/* One component of an output, decoded, over the executed steps of all samples. */
struct coverage_component {
  const char *output, *name, *unit;
  struct coverage_range seen;
  bool has_limits;
  double limit_min, limit_max; /* NAN where not given */
  double tolerance;            /* the largest difference that is let pass; 0: not declared in this space */
  bool constant;               /* smallest and largest are no further apart than the tolerance */
};

/* Two things that no sample tells apart, so that swapping them would go unseen. */
enum coverage_pair_kind { PAIR_INPUTS, PAIR_INPUT_ELEMENTS, PAIR_COMPONENTS };
struct coverage_pair {
  enum coverage_pair_kind kind;
  const char *tensor; /* NULL for PAIR_INPUTS */
  const char *a, *b;
  double difference; /* the largest seen; at most the tolerance */
};

struct coverage_decision {
  const char *output, *component; /* component: NULL for a decision over the whole output */
  const struct decision *decision;
  int64_t n, n_positive; /* times decided; times on the positive side of a threshold */
  int64_t n_answers;     /* different answers seen: 2 is both sides of a threshold; at most ANSWERS_MAX are counted */
  double nearest;        /* of a threshold: the smallest distance seen; NAN otherwise */
};
enum { COVERAGE_ANSWERS_MAX = 1024, COVERAGE_ELEMENTS_MAX = 256, COVERAGE_NOTES_MAX = 32 };

struct coverage {
  struct arena arena;
  const struct corpus *corpus;     /* both must outlive the coverage */
  const struct contract *contract; /* NULL: none given */
  int32_t n_answered, n_refused, n_forced;
  int32_t n_sequences;
  int64_t steps_min, steps_max, n_samples; /* steps: of sequences; -1 without one */
  int32_t n_with_origin, n_origins;        /* cases with lineage, and different origin files */
  int32_t n_with_repeats, n_with_guard, n_with_seeds;
  int32_t n_duplicates; /* cases whose file has the bytes of an earlier one */
  int32_t n_tags, n_refusals, n_inputs, n_components, n_pairs, n_decisions, n_notes;
  const struct coverage_tag *tags; /* sorted by key, then value */
  const struct coverage_refusal *refusals;
  const struct coverage_input *inputs;
  const struct coverage_component *components;
  const struct coverage_pair *pairs;
  const struct coverage_decision *decisions;
  const char **notes; /* sentences on what does not fit the contract; at most COVERAGE_NOTES_MAX */
};

/* Loads every case. With a contract, ranges, components and decisions are the contract's; without, the
 * elements of the last axis of an output are its components. A case that cannot be loaded is the error. */
ASSAY_MUST_CHECK assay_status coverage_make(const struct corpus *corpus, const struct contract *contract,
                                            const struct progress *progress, struct coverage **out);
void coverage_free(struct coverage *coverage); /* NULL is harmless */

#endif
