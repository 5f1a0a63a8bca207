/* A corpus: a folder with corpus.yaml and one .npz per case. Golden corpora are
 * compared, calibration corpora may be learned from, sealed ones may only be
 * looked at by the final evaluation. Opening reads corpus.yaml and checks that
 * every file is there; arrays are read case by case. docs/corpus.md is the
 * format. A corpus is constant once opened: any number of threads may read it. */
#ifndef CORPUS_CORPUS_H
#define CORPUS_CORPUS_H

#include <stdbool.h>
#include <stdint.h>

#include "contract/monitors.h"
#include "core/arena.h"
#include "core/hash.h"
#include "tensor/tensor.h"

enum corpus_role { CORPUS_GOLDEN, CORPUS_CALIBRATION, CORPUS_SEALED, CORPUS_ROLE_COUNT };

struct case_tag {
  const char *key, *value;
};
struct case_age {
  const char *input;
  double ms;
};

/* Numbers that a case states: one for all of its steps, or one a step; n 0: not given. */
struct case_series {
  int32_t n;
  const double *values;
  bool each; /* written as a list: one a step, also where it is one */
};
struct case_time {
  const char *input;
  struct case_series ms; /* when it was measured, on the clock of now_ms */
};
/* What a monitor answered: once for all steps, or once a step. */
struct case_monitor {
  const char *name;
  int32_t n;
  const struct monitor_reading *readings;
  bool each; /* as of case_series */
};
/* The answer expected of the guard: to the whole case (step -1: its first refusal, or accept), or to one step. */
struct case_guard {
  int64_t step;
  assay_code answer;
};

/* Where a case comes from. Strings are NULL and numbers -1 when not given. */
struct case_origin {
  const char *file, *digest;
  const char *decoder;    /* what made pixels of a video, with its version: decoders disagree */
  int64_t episode, frame; /* frame: the first one, of a sequence */
  int64_t frames, stride; /* a sequence: how many steps, and how many frames apart */
};

#define CASE_ORIGIN_NONE \
  { .episode = -1, .frame = -1, .frames = -1, .stride = -1 }

/* One case as corpus.yaml describes it. */
struct corpus_case {
  const char *id;     /* unique in the corpus */
  const char *file;   /* relative to the corpus folder, inside it */
  const char *digest; /* "sha256:..." of the file's bytes; checked when the case is loaded */
  bool refuse;        /* expect: {refuse: CODE} */
  assay_code refusal; /* the code an invalid case must get */
  bool sequence;      /* arrays carry steps along a leading axis */
  bool forced;        /* state is fed from the recorded values, not carried */
  int32_t n_tags, n_ages;
  const struct case_tag *tags;
  const struct case_age *ages;
  struct case_origin origin;
  /* When things were, and what stood beside the policy (case_times.h). */
  struct case_series now_ms, result_age_ms;
  int32_t n_times, n_monitors, n_guard;
  const struct case_time *times; /* sorted by input */
  bool has_monitors;             /* monitors were asked; false: nothing is known of them */
  const struct case_monitor *monitors;
  bool guard_each;                /* a list: every step has its answer */
  const struct case_guard *guard; /* by step; n_guard 0: not given */
};

/* An array whose values are stored as unsigned bits because NumPy lacks the type. */
struct corpus_dtype {
  const char *array; /* with its prefix: "inputs/x" */
  assay_dtype dtype;
};

struct corpus {
  struct arena arena;
  const char *folder;
  enum corpus_role role;
  const char *policy; /* NULL when not given, as the three below */
  const char *framework, *framework_version, *weights_digest;
  int32_t n_dtypes, n_cases;
  const struct corpus_dtype *dtypes;
  const struct corpus_case *cases; /* in the order of corpus.yaml */
  /* The version of the corpus: over the meaning of corpus.yaml and the digests of its cases. The
   * same whatever the order of keys, comments and spelling; other when anything said is other. */
  char digest[HASH_TEXT_SIZE];
};

/* A corpus without cases opens: whoever compares says NOTHING_COMPARED. A sealed one does not:
 * CORPUS_SEALED. The caller ends it with corpus_close. */
ASSAY_MUST_CHECK assay_status corpus_open(const char *folder, struct corpus **out);
/* The same for those who add cases to a corpus of any role; never to compare or learn. */
ASSAY_MUST_CHECK assay_status corpus_open_to_write(const char *folder, struct corpus **out);
/* A sealed one, for the final evaluation and for sealing, and for nothing else; CORPUS_ROLE when it has another role.
 */
ASSAY_MUST_CHECK assay_status corpus_open_sealed(const char *folder, struct corpus **out);
void corpus_close(struct corpus *corpus); /* NULL is harmless */
const char *corpus_role_name(enum corpus_role role);
/* CORPUS_GOLDEN... of that name; CORPUS_ROLE_COUNT when there is none. */
enum corpus_role corpus_role_find(const char *name);
/* Age of that input in the case; NAN when not given. */
double case_age(const struct corpus_case *entry, const char *input);

/* The arrays of one case. Names are without prefix. */
struct case_array {
  const char *name;
  assay_tensor tensor;
  bool seeded; /* it belongs to one seed, not to all of them */
};
struct case_data {
  struct arena arena;
  int32_t n_inputs, n_outputs, n_outputs64, n_raw, n_decoded, n_taps, n_repeats;
  /* Each sorted by name, bytewise. outputs64 is a source's answer in fp64, for tests of the
   * reference; taps are inner values, of a run or of the source: what stands between stages, for one. */
  struct case_array *inputs, *outputs, *outputs64, *raw, *decoded, *taps;
  /* repeats[r] has n_outputs tensors in the order of outputs; data NULL when that repeat lacks it.
   * Those that are there have dtype and shape of the output. */
  struct case_array **repeats;
  int64_t steps;   /* of a sequence, may be 0; 1 otherwise */
  int32_t n_seeds; /* draws of noise that the case stores apart; 0: none, all arrays are shared */
};
/* Reads and checks one case: of one that stores several seeds, the first. The caller ends it with case_data_free. */
ASSAY_MUST_CHECK assay_status case_load(const struct corpus *corpus, int32_t index, struct case_data **out);
/* How many seeds a case stores, from the names of its arrays alone; 0: none, all arrays are shared. */
ASSAY_MUST_CHECK assay_status corpus_case_seeds(const struct corpus *corpus, int32_t index, int32_t *out);
/* The same of another seed, below n_seeds. */
ASSAY_MUST_CHECK assay_status case_load_seed(const struct corpus *corpus, int32_t index, int32_t seed,
                                             struct case_data **out);
void case_data_free(struct case_data *data);                                    /* NULL is harmless */
const assay_tensor *case_input(const struct case_data *data, const char *name); /* NULL when absent */
const assay_tensor *case_output(const struct case_data *data, const char *name);
const assay_tensor *case_raw(const struct case_data *data, const char *name);
const assay_tensor *case_decoded(const struct case_data *data, const char *name);
const assay_tensor *case_tap(const struct case_data *data, const char *name);
/* View of step s of a sequence tensor (the leading axis taken off); the tensor itself otherwise. */
assay_tensor case_step(const struct case_data *data, const struct corpus_case *entry, const assay_tensor *tensor,
                       int64_t step);

#endif
