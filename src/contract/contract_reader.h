/* Private to contract/: how contract.yaml is read. A mapping is a table of
 * fields, one row a key; a new key is one row. */
#ifndef CONTRACT_CONTRACT_READER_H
#define CONTRACT_CONTRACT_READER_H

#include "contract/contract.h"
#include "contract/yaml.h"

/* One reading in progress. */
struct reader {
  struct yaml_file file;
  struct contract *contract;
  const char *folder; /* where statistics files are looked for */
  struct arena *arena;
};

/* "'max' of the tolerance of component 'hip'": what a message speaks of. */
enum { WHAT_SIZE = 256 };
void what_format(char out[WHAT_SIZE], const char *format, ...) PRINTF_LIKE(2, 3);

/* Reads one value into the member at the field's offset. */
typedef assay_status field_read(struct reader *reader, const struct yaml *node, const char *what, void *member);
struct field {
  const char *key;
  field_read *read; /* NULL: whoever called fields_read looks at it */
  size_t offset;
  enum { FIELD_OPTIONAL, FIELD_REQUIRED } presence;
};
/* Reads a mapping by its table, in the table's order. Unknown keys and missing ones are failures.
 * `what` names the mapping. */
ASSAY_MUST_CHECK assay_status fields_read(struct reader *reader, const struct yaml *node, const struct field *fields,
                                          size_t count, const char *what, void *object);
#define FIELDS_READ(reader, node, fields, what, object) \
  fields_read((reader), (node), (fields), sizeof(fields) / sizeof *(fields), (what), (object))

/* Readers of single values. The member is: */
field_read read_text;         /* const char * */
field_read read_number;       /* double, finite */
field_read read_positive;     /* double > 0 */
field_read read_not_negative; /* double >= 0 */
field_read read_whole;        /* int64_t from 0 to 2^31 - 1 */
field_read read_size;         /* int64_t from 1 to 65536 */
field_read read_steps;        /* int32_t from 1 to 65536 */
field_read read_flag;         /* bool */
field_read read_dtype;        /* assay_dtype: bool, an integer or a float */
field_read keep_node;         /* const struct yaml *: looked at later */

/* A list of numbers, or one number, into the arena. */
ASSAY_MUST_CHECK assay_status read_numbers(struct reader *reader, const struct yaml *node, const char *what,
                                           const double **out, int32_t *count);
/* Two finite numbers, the first below the second. */
ASSAY_MUST_CHECK assay_status read_range(struct reader *reader, const struct yaml *node, const char *what, double *low,
                                         double *high);
/* A shape: sizes, and {min, opt, max} for dynamic ones. */
struct shape_member {
  int32_t rank;
  struct dim_range dims[ASSAY_RANK_MAX];
};
ASSAY_MUST_CHECK assay_status read_shape(struct reader *reader, const struct yaml *node, const char *what,
                                         int32_t *rank, struct dim_range *dims);
/* Fails with CONTRACT_UNSUPPORTED at a mark: "<thing> is part of the contract but ...". */
ASSAY_MUST_CHECK assay_status not_read_yet(const struct reader *reader, struct mark mark, const char *thing);
/* The name of item i of a list of mappings, for messages: "component 'hip'" or "component 3". */
void what_item(char out[WHAT_SIZE], const struct yaml *item, const char *noun, int32_t i);
/* One-key mappings, as in [{scale: 2}, {clip: [0, 1]}]. */
ASSAY_MUST_CHECK assay_status read_step_key(struct reader *reader, const struct yaml *node, const char *what,
                                            const char *const *keys, size_t count, int32_t *which,
                                            const struct yaml **value);

/* A list of names, or the name of a group of the contract. Names are not empty and none stands twice. */
ASSAY_MUST_CHECK assay_status read_names(struct reader *reader, const struct yaml *node, const char *what,
                                         const char *const **names, int32_t *count);
field_read read_groups; /* the top-level `groups`; before anything that may name one */

field_read output_execute; /* how much of a chunk is executed, into the contract_output */

/* The sections of a contract. */
ASSAY_MUST_CHECK assay_status read_inputs(struct reader *reader, const struct yaml *node);
ASSAY_MUST_CHECK assay_status read_outputs(struct reader *reader, const struct yaml *node);
ASSAY_MUST_CHECK assay_status read_external(struct reader *reader, const struct yaml *node);
ASSAY_MUST_CHECK assay_status read_states(struct reader *reader, const struct yaml *node);
/* After inputs, outputs and states. */
ASSAY_MUST_CHECK assay_status read_stages(struct reader *reader, const struct yaml *node);
/* After the terms: those of the same step take what a stage gives. */
void stages_meet_terms(struct reader *reader);
/* Of an input's terms, what sensors measure: outputs may add it. read_terms puts all terms in their place. */
ASSAY_MUST_CHECK assay_status read_sensor_terms(struct reader *reader, const struct yaml *node,
                                                struct contract_input *input);
/* The terms of all inputs, when outputs, state, stages and timing are read. */
ASSAY_MUST_CHECK assay_status read_terms(struct reader *reader);
bool history_is_of_terms(const struct yaml *input); /* its `history` is read with its terms */
ASSAY_MUST_CHECK assay_status read_preprocess(struct reader *reader, const struct yaml *node,
                                              struct contract_input *input);
ASSAY_MUST_CHECK assay_status read_components(struct reader *reader, const struct yaml *node, const struct yaml *output,
                                              struct contract_output *out);
ASSAY_MUST_CHECK assay_status read_tolerance(struct reader *reader, const struct yaml *node, const char *what,
                                             struct tolerance *out);
ASSAY_MUST_CHECK assay_status read_threshold(struct reader *reader, const struct yaml *node, const char *what,
                                             struct decision *out);
/* An axis of an output, by number (from the end when negative) or by its name in `axes`. */
ASSAY_MUST_CHECK assay_status read_axis(struct reader *reader, const struct yaml *node, const char *what,
                                        const struct contract_output *output, int32_t *out);
ASSAY_MUST_CHECK assay_status read_output_decision(struct reader *reader, const struct yaml *node, const char *what,
                                                   const struct contract_output *output, struct decision *out);

/* Steps of decoding for `count` components: row c has *n_steps steps. A list among the numbers
 * gives one to each component. NULL nodes add nothing. */
struct decode_rows {
  int32_t count, n_steps;
  struct decode_step **steps; /* [count] arrays of n_steps */
};
ASSAY_MUST_CHECK assay_status read_decode(struct reader *reader, const struct yaml *node, const char *what,
                                          const struct contract_output *output, int32_t count, struct decode_rows *out);
/* {input, frame, elements, cumulative} to step `at` of every row: what was measured is added. */
ASSAY_MUST_CHECK assay_status read_add(struct reader *reader, const struct yaml *node, const char *what,
                                       const struct contract_output *output, struct decode_rows *rows, int32_t at);
/* No decode step adds what the policy feeds itself. Once the state pairs are known. */
ASSAY_MUST_CHECK assay_status check_added(const struct reader *reader);

/* Numbers from a statistics file. Mean and std, or min and max. */
struct statistics {
  bool min_max;
  int32_t count;       /* numbers in a row */
  int32_t rows;        /* 1, or one for each step of the horizon */
  const double *a, *b; /* [rows * count] mean and std, or min and max */
  double low, high;    /* min_max: what min and max were mapped to */
  const struct decode_origin *origin;
};
/* `horizon` and `components`: an array of just that shape has a row for each step; 0 where there is no horizon. */
ASSAY_MUST_CHECK assay_status read_statistics(struct reader *reader, const struct yaml *node, const char *what,
                                              int64_t horizon, int32_t components, struct statistics *out);

/* One array of a statistics file beside the contract (.safetensors, .npz, .npy or .json), as it was stored; JSON
 * arrays are float64. `key` may be NULL for a .npy. digest and provenance are NULL when not given.
 * The caller ends it with tensor_free. */
ASSAY_MUST_CHECK assay_status statistics_array(struct reader *reader, struct mark mark, const char *what,
                                               const char *file, const char *key, const char *digest,
                                               const char *provenance, assay_tensor *out);

/* A file beside the contract that is not read as numbers, such as a tokenizer: it must be there and have the digest.
 * Kept among the contract's files under `role`; *path is where it lies. */
ASSAY_MUST_CHECK assay_status contract_file_take(struct reader *reader, struct mark mark, const char *what,
                                                 const char *role, const char *file, const char *digest, char **path);

/* Takes every `source:` out of the tree and {value: V, source: S} down to V, keeping the sources. */
ASSAY_MUST_CHECK assay_status take_sources(struct reader *reader);

#endif
