/* Between the files of corpus/: reading one .npz of a case or of a run into its groups of arrays,
 * and the types that NumPy lacks. Nothing here knows corpus.yaml or run.yaml. */
#ifndef CORPUS_CASE_ARRAYS_H
#define CORPUS_CASE_ARRAYS_H

#include "contract/yaml.h"
#include "corpus/corpus.h"

/* The first part of an array's name. */
enum array_group {
  GROUP_INPUTS,
  GROUP_OUTPUTS,
  GROUP_OUTPUTS64,
  GROUP_RAW,
  GROUP_DECODED,
  GROUP_TAPS,
  GROUP_REPEATS,
  GROUP_COUNT
};
/* The group of "inputs/x", and where its name begins; GROUP_COUNT when there is none. */
enum array_group array_group_of(const char *name, const char **rest);
const char *array_group_name(enum array_group group); /* "inputs" */

struct array_rules {
  assay_code code; /* what a fault fails with: CORPUS_INVALID, RUN_INVALID */
  unsigned groups; /* bit g is set: arrays of group g may be there */
  int32_t n_dtypes;
  const struct corpus_dtype *dtypes;
  /* A case that must be refused may hold any type: one that is not the bits of the declared type stays as it is. */
  bool any_dtype;
  bool seeds;   /* arrays may belong to seeds (case_seeds.h); */
  int32_t seed; /* then this one is read: its arrays under their own names, with those that all seeds share */
};
/* Fills the groups of `data` from the archive. On failure the caller still frees `data`. */
ASSAY_MUST_CHECK assay_status case_arrays_read(const char *path, const struct array_rules *rules,
                                               struct case_data *data);

/* Gives the bits of `array` (with its prefix) the type that the rules declare for it, if they do. */
ASSAY_MUST_CHECK assay_status case_arrays_retype(const char *path, const char *array, const struct array_rules *rules,
                                                 assay_tensor *tensor);

/* True for types that .npy cannot name and assay stores as unsigned bits. */
bool dtype_is_stored_as_bits(assay_dtype dtype);
/* Reads the mapping `dtypes: {inputs/x: bfloat16}`, sorted by name; node may be NULL. */
ASSAY_MUST_CHECK assay_status dtypes_parse(const struct yaml_file *file, const struct yaml *node, struct arena *arena,
                                           const struct corpus_dtype **dtypes, int32_t *count);
/* Sorts by name and appends that mapping as one line: those that are stored as bits; nothing when none is. */
void dtypes_write(struct text *out, struct corpus_dtype *dtypes, int32_t count);

#endif
