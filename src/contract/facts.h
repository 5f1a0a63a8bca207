/* What configuration files say about a policy, before it is written as a contract. Every value knows the
 * place it came from; a value that two places give differently is a failure that names both. Nothing in
 * here is a default: what no file says stays absent, and becomes an open question of the draft. */
#ifndef CONTRACT_FACTS_H
#define CONTRACT_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/status.h"
#include "core/text.h"

enum { FACT_ITEMS_MAX = 4096, FACT_TERMS_MAX = 1024, FACT_TENSORS_MAX = 64 };

/* Where a value stands: "deploy.yaml:12"; where a format has no lines, "policy.onnx:joint_names". */
struct place {
  const char *file;
  int32_t line;    /* 0: none */
  const char *key; /* instead of a line; may be NULL */
};
/* "deploy.yaml:12", as messages and `source:` give it. */
void place_add(struct text *out, struct place place);
/* IMPORT_INVALID there. */
ASSAY_MUST_CHECK assay_status import_invalid(struct place place, const char *format, ...) PRINTF_LIKE(2, 3);

/* How far the writer of a format rounded. Two files may differ by as much as the coarser of them. */
enum fact_precision { FACT_EXACT, FACT_THREE_DIGITS, FACT_THREE_DECIMALS };

struct fact_text {
  struct place place;
  const char *value; /* NULL: not said */
};
struct fact_number {
  struct place place;
  bool given;
  double value;
  enum fact_precision precision;
};
/* One number for all (count 1), or one each, in the order of the joints, elements or components. */
struct fact_numbers {
  struct place place;
  int32_t count; /* 0: not said */
  const double *values;
  enum fact_precision precision;
  bool weak; /* its file's own program lets another file overrule it: what comes later takes its place */
};
struct fact_words {
  struct place place;
  int32_t count; /* 0: not said */
  const char *const *values;
};

/* Keys that a file leaves open although the contract wants them, with the reason. */
enum { FACT_OPEN_MAX = 8 };
struct fact_open {
  int32_t count;
  const char *keys[FACT_OPEN_MAX], *reasons[FACT_OPEN_MAX];
};

/* What a term, or a whole input, is fed from. */
enum fact_origin { FACT_SENSOR, FACT_OUTPUT, FACT_CLOCK };

/* One term of an observation. Elements are named one by one, or are the joints (`of_joints`), or are as
 * many as `width` says and have no names yet. */
struct fact_term {
  struct place place;
  const char *name;
  const char *function; /* what computes it, where its framework gives terms names of their own; NULL */
  const char *raw;      /* the sensor's name where it is another; NULL */
  struct fact_words elements;
  bool of_joints;
  struct fact_words of_some; /* of these joints alone, in this order */
  int64_t width;             /* 0: as many as its elements, or not known */
  struct fact_text unit;
  bool unitless;                                          /* mixed, or none: no `unit` is asked for */
  struct fact_numbers offset, scale, clip_low, clip_high; /* (x + offset) * scale, then clip ... */
  bool clip_first;                                        /* ... or clip, then scale */
  struct fact_number history;                             /* steps; not given: the input's */
  enum fact_origin origin;
  const char *output;             /* FACT_OUTPUT: NULL is the only one */
  bool decoded;                   /* after decoding; otherwise the model's own number */
  int32_t lag;                    /* steps back, 1 for the last action; 0 for an earlier stage of the same step */
  struct fact_number clock_start; /* FACT_CLOCK: steps of the policy that it has turned at the first one */
  bool minus_default;             /* without an offset of its own: the joints' default positions are taken off */
  struct fact_number period_s;    /* FACT_CLOCK: sin, cos */
  struct fact_text clock_as;      /* "[sin, cos]", as the contract writes it */
  struct fact_open open;
};

/* An input. `name` NULL: the only one of the model, or the one that no other facts are about. */
struct fact_input {
  struct place place;
  const char *name;
  struct fact_number clip_low, clip_high; /* of the whole observation, after the terms */
  struct fact_text layout;                /* "term_major" or "time_major" */
  struct fact_text order;                 /* "oldest_first" or "newest_first" */
  struct fact_text initial;               /* "repeat_first" or "zeros" */
  struct fact_number history;             /* steps of every term that has none of its own */
  struct fact_number size;                /* elements, as a file states them */
  struct fact_words terms_listed;         /* the names, and the place of the list */
  int32_t n_terms;
  struct fact_term *terms;
  struct fact_text unit, color, image_layout;
  struct fact_words preprocess; /* steps as the contract writes them: "divide: 255" */
  enum fact_origin origin;      /* FACT_OUTPUT: the whole input is fed from an output */
  const char *output;
  bool decoded;
  int32_t lag;
  struct fact_open open;
};

/* An output. The model's numbers go: clip_raw, scale, offset, clip. Columns are in the order of its
 * components. `name` NULL as for inputs. */
struct fact_output {
  struct place place;
  const char *name;
  struct fact_words components; /* names; not said: the joints, if the sizes agree */
  struct fact_words units;      /* one for all, or one each; after decoding */
  struct fact_numbers clip_raw_low, clip_raw_high, scale, offset, clip_low, clip_high;
  struct fact_words decode; /* steps as the contract writes them, before all others: "statistics: {...}" */
  bool plus_default;        /* without an offset of its own: the joints' default positions are added */
  struct fact_words axes;
  struct fact_number execute_steps;
  struct fact_number ensemble; /* m of temporal ensembling over the whole chunk; [batch, horizon, component] */
  struct fact_numbers limit_min, limit_max, limit_rate;
  struct fact_numbers joint_index;  /* component i is joint index[i]; not said: the joints themselves */
  struct fact_words hardware_order; /* the components' names in the order of the motors */
  struct fact_numbers hardware_map; /* the same where a file has no names: component i is motor map[i] */
  struct fact_open open;
};

/* A pair of input and output that is carried to the next step. */
struct fact_state {
  struct place place;
  const char *input, *output;
  const char *initial; /* "zeros"; NULL is an open question */
};

/* One of a policy's several files, in their order. A link says which of the file's tensors is which of the
 * contract's; `tensor` NULL is the only one. */
struct fact_link {
  const char *tensor, *value;
};
enum fact_link_side { FACT_LINK_INPUT, FACT_LINK_OUTPUT };
struct fact_stage {
  struct place place;
  const char *name;
  const char *model; /* the file's name, or a part of it that no other file's name has */
  int32_t n_links[2];
  struct fact_link *links[2]; /* by side */
};

/* A file that the contract will name, such as one of statistics: where it lies, and its name beside the contract. */
struct fact_file {
  struct place place;
  const char *path, *name;
};

/* A file's answer that the contract has no key for; the draft shows it as a remark. */
struct fact_remark {
  struct place place;
  const char *text;
};

struct import_file; /* contract/importer.h */

struct facts {
  struct arena *arena;
  struct fact_text policy;
  struct fact_number period_ms;
  struct fact_words joints;                        /* in the order of the model's output */
  struct fact_number n_joints;                     /* where they have no names */
  struct fact_numbers kp, kd, default_pos, effort; /* of the joints, in their order */
  struct fact_words motor_names;                   /* in the order of the motors */
  struct fact_numbers motor_map;                   /* joint i is motor map[i] */
  int32_t n_inputs, n_outputs, n_states, n_remarks;
  int32_t n_stages, n_files; /* 0 stages: the policy is one file */
  int32_t n_kept;            /* files that are read together when all are there, see importer.h */
  struct fact_input *inputs;
  struct fact_output *outputs;
  struct fact_state *states;
  struct fact_remark *remarks;
  struct fact_stage *stages;
  struct fact_file *files;
  const struct import_file **kept;
  struct fact_open open; /* keys of the contract itself */
};

ASSAY_MUST_CHECK assay_status facts_new(struct arena *arena, struct facts **out);

/* Giving a value to a slot. `what` names it in messages ("the control period"). A slot that has a value
 * keeps it when the two agree (the more exact one), and fails with IMPORT_CONFLICT when they don't.
 * Values are copied. */
ASSAY_MUST_CHECK assay_status facts_text(struct facts *facts, struct fact_text *slot, const char *what,
                                         struct place place, const char *value);
ASSAY_MUST_CHECK assay_status facts_number(struct facts *facts, struct fact_number *slot, const char *what,
                                           struct place place, double value);
ASSAY_MUST_CHECK assay_status facts_numbers(struct facts *facts, struct fact_numbers *slot, const char *what,
                                            struct place place, const double *values, int32_t count,
                                            enum fact_precision precision);
ASSAY_MUST_CHECK assay_status facts_words(struct facts *facts, struct fact_words *slot, const char *what,
                                          struct place place, const char *const *values, int32_t count);
/* The joints in the order of the model's output. The same names in another order are a conflict that
 * names the first joint that moved, with both places. */
ASSAY_MUST_CHECK assay_status facts_joints(struct facts *facts, struct place place, const char *const *names,
                                           int32_t count);
/* A failure with IMPORT_CONFLICT: `joint` is one of the joints, and the file at `place` doesn't know it. */
ASSAY_MUST_CHECK assay_status facts_unknown_joint(const struct fact_words *joints, struct place place,
                                                  const char *joint);
/* A column of the joints: like facts_numbers, but a conflict names the joint, and says so when the two
 * columns hold the same numbers in another order. */
ASSAY_MUST_CHECK assay_status facts_column(struct facts *facts, struct fact_numbers *slot, const char *what,
                                           struct place place, const double *values, int32_t count,
                                           enum fact_precision precision);

/* What follows from all files together: the joints' names from the motors' names and the map, and each joint's
 * motor. Called once, when every file has been read. */
ASSAY_MUST_CHECK assay_status facts_finish(struct facts *facts);

/* The input or output of that name (NULL: the only one), made when it is new. */
ASSAY_MUST_CHECK assay_status facts_input(struct facts *facts, struct place place, const char *name,
                                          struct fact_input **out);
ASSAY_MUST_CHECK assay_status facts_output(struct facts *facts, struct place place, const char *name,
                                           struct fact_output **out);
/* The terms of an input, in order; made with their names alone when they are new. Other names, or another
 * order, than an earlier file gave are a conflict. `places` has one for each. */
ASSAY_MUST_CHECK assay_status facts_terms(struct facts *facts, struct fact_input *input, struct place place,
                                          const char *const *names, const struct place *places, int32_t count);
/* The same where terms are named apart from the functions that compute them: they agree when either does. */
ASSAY_MUST_CHECK assay_status facts_terms_of(struct facts *facts, struct fact_input *input, struct place place,
                                             const char *const *names, const char *const *functions,
                                             const struct place *places, int32_t count);
ASSAY_MUST_CHECK assay_status facts_state(struct facts *facts, struct place place, const char *input,
                                          const char *output, const char *initial);
/* The stage of that name, made when it is new, and what its file's tensors are. */
ASSAY_MUST_CHECK assay_status facts_stage(struct facts *facts, struct place place, const char *name, const char *model,
                                          struct fact_stage **out);
ASSAY_MUST_CHECK assay_status facts_link(struct facts *facts, struct fact_stage *stage, enum fact_link_side side,
                                         const char *tensor, const char *value);
/* A file that belongs beside the contract under `name`. Two of that name are a conflict. */
ASSAY_MUST_CHECK assay_status facts_file(struct facts *facts, struct place place, const char *path, const char *name);
/* Leaves a key open, with the reason, unless some file answers it. A key of the contract: "offset" of a
 * term, "decode" of an output, "period_ms". */
ASSAY_MUST_CHECK assay_status facts_ask(struct facts *facts, struct fact_open *open, const char *key,
                                        const char *format, ...) PRINTF_LIKE(4, 5);
/* The reason why a key is open; NULL when it isn't. */
const char *facts_asked(const struct fact_open *open, const char *key);
ASSAY_MUST_CHECK assay_status facts_remark(struct facts *facts, struct place place, const char *format, ...)
    PRINTF_LIKE(3, 4);

#endif
