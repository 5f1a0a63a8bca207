/* Stages: a policy of several files, or one that loops within a call. What the contract says of them, and
 * how the tensors of their files are wired once the files are known. Wiring is by name, never by
 * position, and whatever is not wired, or wired twice, is refused. */
#ifndef CONTRACT_STAGES_H
#define CONTRACT_STAGES_H

#include "contract/contract.h"

/* A tensor of the stage's file and the name that the contract has for it. */
struct stage_link {
  const char *tensor, *value;
  struct mark mark;
};
/* How the answers of `for_each` are put together. */
enum stage_join {
  STAGE_APART,  /* one value each: <value>_<item> */
  STAGE_CONCAT, /* along an axis there is, in the order of for_each */
  STAGE_STACK   /* along a new axis */
};
/* The time of each turn of a loop, fed to an input of the file. */
struct stage_time {
  const char *input; /* tensor of the file; NULL: none */
  struct mark mark;
  int32_t n_values; /* 0: from + turn * step */
  const double *values;
  double from, step;
  int32_t rank; /* -1: as the file declares it */
  struct dim_range dims[ASSAY_RANK_MAX];
};

struct contract_stage {
  const char *name;
  struct mark mark;
  const char *model; /* relative to the contract's folder */
  int32_t n_inputs, n_outputs, n_each, n_carry;
  const struct stage_link *inputs, *outputs; /* what is left out has the same name on both sides */
  const struct stage_link *each;             /* for_each: values that its free input takes in turn; tensor NULL */
  const struct stage_link *carry;            /* tensor: input; value: the output of the file that feeds it next */
  enum stage_join join;
  int32_t join_axis;
  int32_t repeat; /* 0: once */
  struct stage_time time;
};
struct contract_stages {
  int32_t count;
  const struct contract_stage *items;
};
enum { STAGES_MAX = 64, STAGE_TURNS_MAX = 1000, STAGE_EACH_MAX = 64 };

/* --- wired to files ----------------------------------------------------------------- */

/* What an input of a stage's file is fed. */
enum stage_source {
  STAGE_FROM_INPUT, /* index: an input of the contract */
  STAGE_FROM_VALUE, /* index: what an earlier stage gave */
  STAGE_FROM_EACH,  /* the items of for_each in turn */
  STAGE_FROM_TIME
};
struct stage_feed {
  const char *tensor;
  assay_dtype dtype; /* as the file declares them */
  int32_t rank;
  const int64_t *dims;
  enum stage_source source;
  int32_t index;
  int32_t carry; /* from the second turn on: the output of this stage that feeds it; -1: none */
};
struct stage_item { /* one of for_each */
  const char *name;
  bool is_input;
  int32_t index; /* an input of the contract, or a value */
};
/* An input of the contract that this stage takes and that has a term which an earlier stage answers in the same step.
 */
struct stage_late {
  int32_t input, value;
};
/* One output of a stage's file. */
struct stage_gift {
  const char *tensor;
  assay_dtype dtype;
  int32_t rank;
  const int64_t *dims;
  int32_t value; /* its first value; for_each without a join has one for each item */
  bool carried;
};
/* Something that a stage gives under a name of the contract. */
struct stage_value {
  const char *name;
  int32_t stage, item; /* item: of for_each; -1 */
  int32_t output;      /* of the contract; -1: inner, and not listed */
  bool taken;          /* by a later stage */
  assay_dtype dtype;
  int32_t rank; /* RANK_UNKNOWN where the file does not say */
  const int64_t *dims;
};
struct bound_stage {
  const struct contract_stage *stage;
  int32_t n_feeds, n_items, n_gifts, n_late;
  const struct stage_feed *feeds;
  const struct stage_item *items;
  const struct stage_gift *gifts;
  const struct stage_late *late;
};
struct bound_stages {
  const struct contract *contract;
  int32_t n_stages, n_values;
  const struct bound_stage *stages; /* in order */
  const struct stage_value *values; /* in the order in which they come to be */
  const bool *inner;                /* per output of the contract: a later stage takes it */
};

/* Wires the contract's stages to their files, one signature and one path (for messages) a stage. Every
 * input of every file is fed once, every input of the contract is used, every output of the contract is given, and
 * dtypes and shapes agree; otherwise CONTRACT_MISMATCH, placed in the contract. The result lies in `arena` and views
 * contract and signatures' names. */
ASSAY_MUST_CHECK assay_status stages_bind(const struct contract *contract, const struct signature *signatures,
                                          const char *const *paths, struct arena *arena, struct bound_stages **out);
/* The same, opening the files. The result views nothing of them. */
ASSAY_MUST_CHECK assay_status stages_bind_files(const struct contract *contract, const char *const *paths,
                                                struct arena *arena, struct bound_stages **out);
/* Holds another file for stage `s` against a wiring: its inputs are those that are wired. What it gives, a
 * comparison finds. */
ASSAY_MUST_CHECK assay_status stages_bind_other(const struct bound_stages *bound, int32_t s,
                                                const struct signature *signature, const char *path);
/* The stage of that name; -1 when there is none. */
int32_t stage_find(const struct contract_stages *stages, const char *name);
/* The time fed at `turn`, from 0. */
double stage_time_at(const struct stage_time *time, int32_t turn);
/* The path of each stage's own model, joined to the contract's folder. */
ASSAY_MUST_CHECK assay_status stages_paths(const struct contract *contract, struct arena *arena,
                                           const char *const **out);

#endif
