/* A corpus: a folder with corpus.yaml and one .npz per case. Golden corpora are
 * compared, calibration corpora may be learned from, sealed ones may only be
 * looked at by the final evaluation. Opening reads corpus.yaml and checks that
 * every file is there; arrays are read case by case. */
#ifndef CORPUS_CORPUS_H
#define CORPUS_CORPUS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/hash.h"
#include "tensor/tensor.h"

enum corpus_role { CORPUS_GOLDEN, CORPUS_CALIBRATION, CORPUS_SEALED };

struct case_tag {
  const char *key, *value;
};
struct case_age {
  const char *input;
  double ms;
};

/* One case as corpus.yaml describes it. */
struct corpus_case {
  const char *id;     /* unique in the corpus */
  const char *file;   /* relative to the corpus folder, inside it */
  const char *digest; /* "sha256:..." of the file's bytes; checked when the case is loaded */
  bool refuse;        /* expect: refuse: CODE */
  assay_code refusal; /* the code an invalid case must get */
  bool sequence;      /* arrays carry steps along a leading axis */
  bool forced;        /* state is fed from the recorded values, not carried */
  int32_t n_tags, n_ages;
  const struct case_tag *tags;
  const struct case_age *ages;
  const char *origin_file, *origin_digest; /* lineage; NULL when not given */
  int64_t origin_episode, origin_frame;    /* -1 when not given */
};

struct corpus {
  struct arena arena;
  const char *folder;
  enum corpus_role role;
  const char *policy, *framework, *framework_version, *weights_digest; /* NULL when not given */
  int32_t n_cases;
  const struct corpus_case *cases;
  char digest[HASH_TEXT_SIZE]; /* the version of the corpus: over corpus.yaml's meaning and the cases' digests */
};

ASSAY_MUST_CHECK assay_status corpus_open(const char *folder, struct corpus **out);
void corpus_close(struct corpus *corpus);

/* The arrays of one case. Names are without prefix. */
struct case_array {
  const char *name;
  assay_tensor tensor;
};
struct case_data {
  struct arena arena;
  int32_t n_inputs, n_outputs, n_raw, n_decoded, n_repeats;
  struct case_array *inputs, *outputs, *raw, *decoded;
  /* repeats[r] has n_outputs tensors in the order of outputs; data NULL when that repeat lacks it */
  struct case_array **repeats;
  int64_t steps; /* of a sequence; 1 otherwise */
};
/* Reads and checks one case. The caller ends it with case_data_free. */
ASSAY_MUST_CHECK assay_status case_load(const struct corpus *corpus, int32_t index, struct case_data **out);
void case_data_free(struct case_data *data);
const assay_tensor *case_input(const struct case_data *data, const char *name); /* NULL when absent */
const assay_tensor *case_output(const struct case_data *data, const char *name);
const assay_tensor *case_raw(const struct case_data *data, const char *name);
/* View of step s of a sequence tensor (the leading axis taken off); the tensor itself otherwise. */
assay_tensor case_step(const struct case_data *data, const struct corpus_case *entry, const assay_tensor *tensor,
                       int64_t step);

#endif
