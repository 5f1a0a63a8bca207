/* What is to be measured: the cases, the outputs with their components, and where
 * each figure belongs. Made once per gate; constant while rungs run. */
#ifndef GATE_PLAN_H
#define GATE_PLAN_H

#include "contract/apply.h"
#include "corpus/corpus.h"
#include "rung/rung.h"

/* One output to be compared. */
struct plan_output {
  const struct contract_output *output;
  bool decides;            /* false: a state or inner value without a tolerance, shown only */
  int32_t first_component; /* index of its first component among all */
};

/* Where a case of the store stands in its corpus: seed `seed` of `n` that case `corpus_index` stores; the first of
 * them is case `first` of the store. n is 0 for a case whose arrays are all shared. */
struct seed_place {
  int32_t corpus_index, seed, first, n;
};

/* Cases, loaded when asked for and kept while they are small. */
struct case_store {
  const struct corpus *corpus; /* NULL: all of `data` is there from the start */
  int32_t n;
  const struct corpus_case *entries;
  const struct seed_place *places; /* [n]; NULL: case i is that of the corpus */
  struct case_data **data;
  size_t kept_bytes;
};

struct plan {
  struct arena arena;
  const struct contract *contract;
  struct case_store cases;
  bool outputs_only; /* cases are fed nothing */
  int32_t n_valid;   /* cases with an answer: indices into the store */
  const int32_t *valid;
  int32_t n_outputs, n_components;
  const struct plan_output *outputs;
  const struct bound_stages *stages; /* of a policy of several files; else NULL */
};

/* `contract` and `cases` must outlive the plan. */
ASSAY_MUST_CHECK assay_status plan_make(const struct contract *contract, struct case_store *cases, struct plan *out);
void plan_free(struct plan *plan); /* frees the cases' data too */
/* The stages are wired to their files: what a later one takes decides only where the contract says how. */
void plan_take_stages(struct plan *plan, const struct bound_stages *stages);

/* Component `index` among all, with its output. */
const struct contract_component *plan_component(const struct plan *plan, int32_t index,
                                                const struct plan_output **output);
const struct plan_output *plan_output_find(const struct plan *plan, const char *name);

/* Loads case i if it is not there; view until case_store_release(i). */
ASSAY_MUST_CHECK assay_status case_store_get(struct case_store *store, int32_t i, const struct case_data **out);
void case_store_release(struct case_store *store, int32_t i);

/* A case made ready to be fed: every input that is not state, step by step. */
struct fed_case {
  struct arena arena;
  const struct corpus_case *entry;
  const struct case_data *data;
  int32_t index; /* in the store */
  int64_t steps;
  int32_t n_inputs;           /* of a step, state left out */
  struct rung_tensor *inputs; /* steps * n_inputs */
  /* What was measured at each step, for decoding that adds from it: the inputs, then the sensors of terms, by name. The
   * same on every rung. */
  struct fed_inputs *measured; /* [steps]; NULL where the cases store no inputs */
};
const struct fed_inputs *fed_case_measured(const struct fed_case *fed, int64_t step); /* NULL: nothing was fed */
/* Takes inputs/ where the case has them; preprocesses raw/, or builds the observation of it, where it has not. */
ASSAY_MUST_CHECK assay_status fed_case_make(struct plan *plan, int32_t index, struct fed_case *out);
void fed_case_free(struct plan *plan, struct fed_case *fed);

/* What a rung, or the recorded source, answered to one case. */
struct answer_step {
  int32_t n_outputs, n_inner;
  const struct rung_tensor *outputs;
  const struct rung_tensor *inner; /* of a policy of stages: see rung_answer */
};
struct answer {
  struct arena arena;
  int64_t steps; /* 0: there is none */
  struct answer_step *step;
};
void answer_free(struct answer *answer);                                                      /* harmless twice */
const assay_tensor *answer_find(const struct answer *answer, int64_t step, const char *name); /* NULL when absent */
/* The same among outputs, then inner values. */
const assay_tensor *answer_find_inner(const struct answer *answer, int64_t step, const char *name);
/* The recorded answer: views of the case's data. `repeat` -1 for the answer, else that repeat. */
ASSAY_MUST_CHECK assay_status answer_recorded(const struct fed_case *fed, int32_t repeat, struct answer *out);
/* Runs the case, carrying state from the rung's own outputs unless it is forced. */
ASSAY_MUST_CHECK assay_status answer_run(const struct plan *plan, const struct fed_case *fed, struct rung *rung,
                                         struct answer *out);
/* The same, but whatever is carried from step to step, from stage to stage and from turn to turn is taken from
 * `reference`: so every stage and every turn answers alone. */
ASSAY_MUST_CHECK assay_status answer_run_alone(const struct plan *plan, const struct fed_case *fed,
                                               const struct answer *reference, struct rung *rung, struct answer *out);

#endif
